#!/bin/bash
# The tools on real packages for CUDA (tests/data/aoti/cuda) on a driver without a GPU, which runs Triton's PTX (tests/lib/fakecuda.h): what the
# models compute, and what is seen of it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

host=$BUILD/tests-lib/cudarun
at=$ROOT/tests/data/aoti/cuda
[ "$(uname -m)" = x86_64 ] || skip_all "the packages are compiled for x86-64"
grep -qw avx2 /proc/cpuinfo || skip_all "the packages need AVX2"
command -v xz >/dev/null || skip_all "xz is not installed"

unpack() {
	local name
	for name; do
		mkdir "$name"
		xz -dc "$at/$name.pt2.xz" >"$name.pt2" && python3 -m zipfile -e "$name.pt2" "$name"
		[ ! -f "$at/$name.triton.tar.xz" ] || xz -dc "$at/$name.triton.tar.xz" | tar xf - -C "$name"
		ln -s "$name/$name/data/aotinductor/model" "$name.d"
	done
}
so() { echo "$1".d/*.wrapper.so; }
mkdir v
xz -dc "$at/values.npz.xz" >values.npz
python3 -m zipfile -e values.npz v
# with NAME [ARG...]: its command line
with() { FAKECUDA_PTX=$name/$name FAKECUDA_SM=${sm-90} "$@"; }
close() { run python3 "$ROOT/tests/lib/npyclose.py" "$@"; }

# ---- the kernels compute what eager torch does ----
unpack dynamic linear linear_embedded linear_fatbin linear_profiled user nan launches launches_sm80 linear_cpu launches_cpu
for name in dynamic linear linear_embedded linear_fatbin linear_profiled user nan; do
	base=${name%%_*}
	inputs=()
	for file in v/"$base".in*.npy; do
		inputs+=("in=$file")
	done
	with run "$host" "load=$(so "$name")" "${inputs[@]}" call "out=$name.out"
	like "$name runs" "$status $(cat out)" '^0 rc 0 f32\['
	close "$name.out0.npy" "v/$base.out0.npy" 1e-5
	is "$name equals torch's results" "$status" 0
done
mkdir 2.11 && cd 2.11 || exit
at=$at/v211 unpack dynamic
name=dynamic with run "$host" "load=$(so dynamic)" in=../v/dynamic.in0.npy in=../v/dynamic.in1.npy call out=dynamic.out
close dynamic.out0.npy ../v/dynamic.out0.npy 1e-5
is "2.11, dynamic computes what torch does" "$status" 0
cd ..
# torch 2.15: an operator on a stream of its own; the input is the first one of `dynamic`
cat >streams.py <<'P'
import math
import sys

sys.path.insert(0, sys.argv[1])
import npyclose

x, got = npyclose.load(sys.argv[2])[2], npyclose.load(sys.argv[3])[2]
a = [[1 / (1 + math.exp(-v)) for v in x[64 * i:64 * i + 64]] for i in range(32)]
b = [sum(math.tanh(sum(math.cos(r[i]) * r[j] for r in a)) for i in range(64)) for j in range(64)]
want = [b[j] + sum(r[j] for r in a) for j in range(64)]
sys.exit(len(got) != 64 or max(abs(g - w) for g, w in zip(got, want)) > 1e-4)
P
at=$at/v215 unpack streams pdl
for name in streams pdl; do
	inputs=(in=v/dynamic.in0.npy in=v/dynamic.in1.npy)
	[ $name = pdl ] || unset 'inputs[1]'
	with run env FAKECUDA_LOG="$name.log" "$host" "load=$(so "$name")" "${inputs[@]}" call "out=$name.out"
	like "2.15, $name runs" "$status $(cat out)" '^0 rc 0 f32\['
done
ok "2.15, streams equals torch's results" python3 streams.py "$ROOT/tests/lib" v/dynamic.in0.npy streams.out0.npy
like "two streams synchronise by events" "$(cat streams.log)" 'cuEventRecord.*cuStreamWaitEvent.*'
close pdl.out0.npy v/dynamic.out0.npy 1e-5
is "2.15, pdl equals torch's results" "$status" 0
is "2.15, pdl launches by cuLaunchKernelEx" "$(grep -c '^cuLaunchKernelEx triton' pdl.log) $(grep -c '^cuLaunchKernel triton' pdl.log)" "2 0"
name=streams
with run aoti-printer --level 2 --log=log -- "$host" "load=$(so streams)" in=v/dynamic.in0.npy call
is "2.15, streams: the status is unchanged when watched" "$status" 0
is "every call is recorded" "$(aoti-checkinputs --json streams.pt2 | jq -r '.calls[].name' | while read -r k; do grep -q "$k" log || echo "$k"; done)" ""
with run env FAKECUDA_FAIL=illegal@3 aoti-printer --ima --log=log -- "$host" "load=$(so streams)" in=v/dynamic.in0.npy call
like "--ima finds the failing launch after work on another stream" "$status $(head -1 log)" '^1 triton_per_fused_sum_tanh_2: illegal memory access'
with run aoti-nanassert --log=log -- "$host" "load=$(so streams)" in=v/dynamic.in0.npy call
is "aoti-nanassert finds no NaN" "$status" 0

launches=(in=v/launches.in0.npy in=v/launches.in1.npy in=bf16:v/launches.in2.npy)
for name in launches launches_sm80; do
	sm=90
	[ "$name" = launches ] || sm=80
	with run env FAKECUDA_LOG="$name.log" "$host" "load=$(so "$name")" "${launches[@]}" call "out=$name.out"
	is "$name runs" "$(cat out)" 'rc 0 f32[64, 64] f16[64, 64] bf16[64, 64]'
	is "$name launches ten kernels" "$(grep -c '^run triton_.* = 0' "$name.log")" 10
done
unset sm
run "$host" device=cpu "load=$(so launches_cpu)" "${launches[@]}" call out=cpu.out
for i in 0 1 2; do
	close "launches.out$i.npy" "cpu.out$i.npy" 1e-5
	is "output $i equals the CPU package's" "$status" 0
	ok "sm_80 gives the same bits" cmp "launches.out$i.npy" "launches_sm80.out$i.npy"
done
close launches.out0.npy v/launches.out0.npy 1e-5
is "float32 equals eager" "$status" 0
close launches.out2.npy v/launches.out2.npy 0.016 # the kernels round once where eager rounds each result to bfloat16
is "bfloat16 equals eager" "$status" 0
name=launches
with run env FAKECUDA_SM=80 "$host" "load=$(so launches)" "${launches[@]}" call
like "a cubin for another GPU is rejected" "$(cat out)" '^rc 1 CUDA driver error: no kernel image'
name=dynamic
with run "$host" "load=$(so dynamic)" rows=1000 in=v/dynamic.in0.npy in=v/dynamic.in1.npy call
is "other sizes" "$(cat out)" 'rc 0 f32[64]'

# ---- cubin and PTX are of one kernel ----
mkdir wrong none
sed 's/^\.reqntid .*/.reqntid 64/' user/user/triton_poi_fused_cos_0.ptx >wrong/a.ptx
run env FAKECUDA_PTX=wrong "$host" "load=$(so user)" in=v/user.in0.npy call
like "cubin and PTX with different threads are rejected" "$(cat err)" 'triton_poi_fused_cos_0: cubin and PTX have different threads of a block'
sed 's/\.param \.u32 \(triton_poi_fused_cos_0_param_2\)/.param .u64 \1/; s/ld.param.b32/ld.param.b64/' user/user/triton_poi_fused_cos_0.ptx >wrong/a.ptx
run env FAKECUDA_PTX=wrong "$host" "load=$(so user)" in=v/user.in0.npy call
like "cubin and PTX with different parameters are rejected" "$(cat err)" 'triton_poi_fused_cos_0: cubin and PTX have different parameters'
sed 's/cos\.approx/tan.approx/' user/user/triton_poi_fused_cos_0.ptx | sed '0,/add.s64/s//frob.s64/' >wrong/a.ptx
run env FAKECUDA_PTX=wrong "$host" "load=$(so user)" in=v/user.in0.npy call
like "an unknown instruction is rejected" "$(cat err)" "fakecuda: wrong/a.ptx: line [0-9]+: '[a-z.0-9]+': is not interpreted"
run env FAKECUDA_PTX=none "$host" "load=$(so user)" in=v/user.in0.npy call
like "a module without text has no kernel" "$(cat out)" 'rc 1 CUDA driver error: named symbol not found'

# ---- aoti-printer ----
name=linear
command=("$host" "load=$(so linear)" in=v/linear.in0.npy call)
with run aoti-printer --json --log=log -- "${command[@]}"
is "values of Triton kernels" "$(jq -c '[.calls[] | select(.kernel | startswith("triton")) | .kernel, (.values | map([.buffer, .role, .when])[])]' log)" \
	'["triton_poi_fused_addmm_relu_0",["buf1","inout","before"],["buf1","inout","after"],"triton_per_fused__softmax_prepare_softmax_online_1",["buf5","inout","before"],["buf5","inout","after"]]'
is "the mean of a softmax" "$(jq '.calls[-1].values[-1].mean * 1e5 | round' log)" 8333
name=nan
with run aoti-nanassert --json --log=log -- "$host" "load=$(so nan)" in=v/nan.in0.npy call
is "aoti-nanassert names the logarithm's kernel" "$status $(jq -c '.findings[0] | [.kernel, .call, .source_nodes]' log)" \
	'1 ["triton_per_fused_add_log_mul_sub_sum_2",2,"mul, sum_2, sub, log, add_1"]'
with run aoti-nanassert -- "$host" "load=$(so nan)" in=v/nan.in0.npy call
like "and the cause" "$(cat out err)" 'perhaps +log of a negative number'

# ---- --ima: a kernel of the user's that really writes outside ----
name=user
with run aoti-printer --ima --log=log -- "$host" "load=$(so user)" in=v/user.in0.npy call
is "a valid access: 32 rows" "$status" 0
FAKECUDA_LOG=driver with run aoti-printer --ima --log=log -- "$host" "load=$(so user)" rows=1000 in=v/user.in0.npy call
is "an illegal access: 1000 rows" "$status" 1
like "the kernel is reported" "$(cat log)" 'far_copy_0: illegal memory access \(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)'
like "its line is reported" "$(cat log)" 'from +wrapper.cpp:[0-9]+'
like "its argument and allocation are reported" "$(cat log)" 'buf0 +0x[0-9a-f]+ +64000 +64000 +[0-9]+ +0x[0-9a-f]+ \+ 2097152'
like "its scalar arguments are reported" "$(cat log)" '2 +16000'
like "the fault comes from the simulated store" "$(cat driver)" 'run far_copy: store of [0-9]+ bytes outside of every allocation at 0x[0-9a-f]+, block 0,0,0, thread 0,0,0, line'
with run aoti-printer --ima=alloc --log=log -- "$host" "load=$(so user)" rows=1000 in=v/user.in0.npy call
like "--ima=alloc finds it, too" "$(cat log)" 'far_copy_0: illegal memory access'
with run "$host" "load=$(so user)" rows=1000 in=v/user.in0.npy call wait
is "without a tool the error appears later" "$(cat out)" "rc 0, then 700 an illegal memory access was encountered
wait 700 an illegal memory access was encountered"

# other errors of the same kernel: its text is changed
broken() {
	cp user/user/*.ptx wrong/
	sed "$1" user/user/far_copy_0.ptx >wrong/far_copy_0.ptx
	shift
	run env FAKECUDA_PTX=wrong "$@"
}
rm wrong/a.ptx
broken 's/^.L__func_begin0:/&\n\ttrap;/' aoti-printer --ima --log=log -- "$host" "load=$(so user)" in=v/user.in0.npy call
like "a trap is reported" "$(cat log)" 'far_copy_0: unspecified launch failure \(CUDA_ERROR_LAUNCH_FAILED, 719\)'
like "a trap has no suspect" "$(cat log)" "suspect +no tensor: the error is not about memory"
broken '/st\.global/s/+ 0 \]/+ 2 ]/' aoti-printer --ima --log=log -- "$host" "load=$(so user)" in=v/user.in0.npy call
like "a misaligned address is reported" "$(cat log)" 'far_copy_0: misaligned address \(CUDA_ERROR_MISALIGNED_ADDRESS, 716\)'
broken '/st\.global/s/+ 0 \]/+ 2048 ]/' aoti-printer --ima --log=log -- "$host" "load=$(so user)" in=v/user.in0.npy call
is "the caching allocator hides a small overrun" "$status" 0
broken '/st\.global/s/+ 0 \]/+ 2048 ]/' aoti-printer --ima=alloc --log=log -- "$host" "load=$(so user)" in=v/user.in0.npy call
like "--ima=alloc reveals it" "$status $(cat log)" '1 .*far_copy_0: illegal memory access'
broken 's/^.L__func_begin0:/&\nLOOP: bra LOOP;/' "$host" "load=$(so user)" in=v/user.in0.npy call
is "a kernel that never ends times out" "$(cat out)" 'rc 0, then 702 the launch timed out and was terminated'

# the library alone
mkdir alone
cp user.d/*.wrapper.so user.d/*.cubin alone
with run aoti-printer --ima --log=log -- "$host" "load=$(echo alone/*.so)" rows=1000 in=v/user.in0.npy call
like "without the wrapper's text the kernel's own name is used" "$(cat log)" 'far_copy: illegal memory access'

# ---- a package for the CPU against the one for a GPU ----
name=launches
exits "a dump of a GPU run" 0 with aoti-printer -o gpu -- "$host" "load=$(so launches)" "${launches[@]}" call
is "it has every launch" "$(jq -rs 'map(select(.kernel)) | length' gpu/calls.jsonl)" 10
with run aoti-printer -i -o gpu.all -- "$host" "load=$(so launches)" "${launches[@]}" call
run aoti-printer -i -o cpu.all -- "$host" device=cpu "load=$(so launches_cpu)" "${launches[@]}" call
run aoti-printer --json --diff cpu.all gpu.all
is "a CPU run and a GPU run agree on inputs and outputs" "$(jq -c '[.both, .only_a, .only_b, .compared, .differing]' out)" '[2,0,9,7,0]'
exits "the same GPU run agrees" 0 with aoti-printer --diff gpu -- "$host" "load=$(so launches)" "${launches[@]}" call
done_testing
