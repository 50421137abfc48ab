#!/bin/bash
# aoti-nanassert: which call made it, on recorded packages that make a NaN; inputs, weights, saved tensors, commands, statuses.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models are x86-64-v3 code"
nan=aoti-nanassert
mkdir tmp
export OMP_NUM_THREADS=1 TMPDIR=$TMP/tmp
lib=$BUILD/lib/pt2utils
for p in "$ROOT"/tests/data/aoti/nan/*.pt2.xz; do xz -dc "$p" >"$(basename "${p%.xz}")"; done
IO=$ROOT/tests/data/aoti/nan/io
P=$DATA/aoti
# inputs of a package's NAME.npz, as operands
given() { unzip -Z1 "$IO/$1.npz" | sed -n "s|^\(in[0-9]*\)\.npy$|$IO/$1.npz:\1|p"; }
# tells MODEL INPUTS OPTION... : kernel, kind and first guess of what is found
tells() {
	local m=$1 i=$2
	shift 2
	# shellcheck disable=SC2046 # operands
	$nan --json "$@" "$m.pt2" $(given "$i") 2>err | jq -r '.findings[] | "\(.kernel) \(.kind) \(.what): \(.guesses[0].text)"'
}

# ---- limits ----
# shellcheck disable=SC2046 # operands
run $nan -N 1000000 --timeout 1 "$P/mlp.pt2" 'f32[64,8]'
like "--timeout: status 3, or 1 if it ended inside a kernel" "$status" '^[13]$'
like "the message says that it timed out" "$(cat err)" "the model's process: timed out"
exits "--timeout with a command is rejected" 2 $nan --timeout 1 -- true
like "the message names --timeout" "$(cat err)" '-- COMMAND cannot be combined with .*--timeout'
# shellcheck disable=SC2046 # operands
exits "JSON with --max-text" 1 $nan --json -a --max-text=200 log.pt2 $(given log)
is "cut JSON stays valid" "$(jq -c '[.schema, .cut]' out)" '["pt2utils.nanassert/1",true]'

# ---- whose it is ----
X=$ROOT/tests/data/aoti/nan
# whose MODEL OPTION...: what the exported program says of it
whose() {
	local m=$1 program=$2
	shift 2
	# shellcheck disable=SC2046 # operands
	$nan --json --against "$X/$program.exported.pt2" "$@" "$m.pt2" $(given "$m") 2>err | jq -r '.against | "\(.whose) \(.op) \(.same_counts)"'
}
is "--against: a NaN from the model" "$(whose log log)" "model aten.log.default true"
is "--against: from a fully masked row" "$(whose softmax_masked softmax_masked)" "model aten.softmax.int true"
is "--against: from the mean of an empty tensor" "$(whose mean_empty mean_empty)" "model aten.mean.default true"
is "--against: an infinity from the model" "$(whose product product --inf)" "model aten.mm.default true"
is "--against: a NaN from the compiler" "$(whose miscompiled log)" "compiler null false"
# shellcheck disable=SC2046
exits "--against as text" 1 $nan --against "$X/log.exported.pt2" log.pt2 $(given log)
like "the cause is evaluated" "$(cat out)" 'cause +log\(-[0-9.]+\) = nan at \[[0-9, ]+\]'
like "the text says that the model produced it" "$(cat out)" "origin *the model itself: the exported program has its first NaN in log .aten.log.default"
# shellcheck disable=SC2046
exits "without a graph" 1 $nan log.pt2 $(given log)
like "... the next command is that which evaluates the cause" "$(cat out)" 'next +aoti-nanassert --against EXPORTED'
# shellcheck disable=SC2046
exits "--against as text: the compiler" 1 $nan --against "$X/log.exported.pt2" miscompiled.pt2 $(given miscompiled)
like "the text says that the compiler produced it" "$(cat out)" "the compiler: the exported program, run node by node with these inputs, has no NaN"
# shellcheck disable=SC2046
exits "--against with another program" 1 $nan --against "$X/product.exported.pt2" log.pt2 $(given log)
like "the origin is unknown then" "$(cat out)" "origin *unknown: "
# shellcheck disable=SC2046
run aoti-printer -q -i -o saved log.pt2 $(given log)
# shellcheck disable=SC2046
run aoti-printer -q -o without log.pt2 $(given log)
exits "--against with saved tensors" 1 $nan --against "$X/log.exported.pt2" saved
like "... evaluates the cause" "$(cat out)" 'cause +log\(-[0-9.]+\) = nan at \[[0-9, ]+\]'
like "... and the origin" "$(cat out)" 'origin *the model itself: the exported program has its first NaN in log .aten.log.default'
run $nan --against "$X/log.exported.pt2" without
like "... which need the inputs" "$(cat out)" 'origin *unknown: .*save them with aoti-printer -i -o'
exits "a view that an op gives is not looked at before" 0 $nan "$P/v215/complex.pt2" 'c64[4,4]' 'c64[4,4]'
exits "--against with a command is rejected" 2 $nan --against "$X/log.exported.pt2" -- true

# ---- the kernel that holds the operator, and why ----
is "log of a negative number" "$(tells log log)" "cpp_fused_log_sub_tanh_1 produced nan: log of a negative number"
is "softmax of a fully masked row" "$(tells softmax_masked softmax_masked)" \
	"cpp_fused__softmax_bitwise_not_div_masked_fill_2 produced nan: softmax of a row that is all -inf (fully masked)"
is "mean of an empty tensor" "$(tells mean_empty mean_empty)" "cpp_fused_addmm_mean_t_tanh_unsqueeze_view_1 produced nan: the mean of no elements: 0 / 0"
is "float16 overflow" "$(tells half_overflow half_overflow --inf)" \
	"cpp_fused__to_copy_add_mul_sin_0 produced inf: a product beyond the largest float16 (65504)"
is "overflow in a matrix product" "$(tells product product --inf)" \
	"aoti_torch_cpu_mm_out produced inf: a sum of products beyond the largest float32 (3.40282e+38)"
is "--no-inf overrides TORCHINDUCTOR_NAN_ASSERTS" "$(TORCHINDUCTOR_NAN_ASSERTS=1 tells product product --no-inf)" ""
exits "--inf with --no-inf is rejected" 2 $nan --inf --no-inf product.pt2
for m in log softmax_masked mean_empty half_overflow product; do
	is "$m: no false positive" "$(tells $m ${m}_good --all --inf)" ""
done
is "infinities are ignored by default" "$(tells product product)" ""
is "TORCHINDUCTOR_NAN_ASSERTS=1 reports infinities" "$(TORCHINDUCTOR_NAN_ASSERTS=1 tells product product)" "$(tells product product --inf)"
# shellcheck disable=SC2046
{
	exits "status 1 for a NaN" 1 $nan log.pt2 $(given log)
	like "the call and its line are reported" "$(cat out)" 'NaN produced by cpp_fused_log_sub_tanh_1 \(call 3 of run 0, wrapper\.cpp line [0-9]+\)'
	like "the output and its first NaN are reported" "$(cat out)" 'wrote +buf4 f32\[4,8\]: 8 NaN of 32 elements; min .* the first at \[1, 0\] = nan'
	like "the input and its value at that position are reported" "$(cat out)" 'buf3 f32\[4,8\]: min 0, max .*; there \[1, 0\] = 3\.82'
	like "calls that propagated it are counted" "$(cat out)" '1 call propagated it'
	is "standard error stays empty" "$(cat err)" ""
	exits "status 0 without a NaN" 0 $nan log.pt2 $(given log_good)
	like "the number of calls checked is reported" "$(cat out)" '^no NaN in 5 calls'
	exits "--error-exitcode" 42 $nan --error-exitcode=42 log.pt2 $(given log)
	exits "-q" 1 $nan -q log.pt2 $(given log)
	is "-q prints nothing" "$(cat out err)" ""
	exits "--fail" 1 $nan --fail log.pt2 $(given log)
	like "--fail: no later call ran" "$(cat out)" 'cpp_fused_log_sub_tanh_1'
	unlike "--fail: no call propagated it" "$(cat out)" 'propagated it'
	exits "--fail ignores infinities" 0 $nan --fail product.pt2 $(given product)
	exits "--fail --inf stops at an infinity" 1 $nan --fail --inf --json product.pt2 $(given product)
	like "--fail --inf: the model's error gives the reason" "$(jq -r .failure out)" 'aoti_torch_cpu_mm_out \(call 5.*16 infinities'
	exits "--log" 1 $nan --log log.txt log.pt2 $(given log)
	like "--log has the finding" "$(cat log.txt)" '^NaN produced by'
	is "--log leaves standard output empty" "$(cat out)" ""
	exits "--ignore a kernel" 0 $nan --ignore '*log*' log.pt2 $(given log)
	exits "--ignore a buffer" 0 $nan --ignore buf4 log.pt2 $(given log)
	exits "--ignore another buffer" 1 $nan --ignore buf99 log.pt2 $(given log)
	exits "-N runs the model several times" 1 $nan --json -N 3 log.pt2 $(given log)
	is "-N counts findings of every run" "$(jq -c '[.calls, .findings[0].times, .findings[0].run]' out)" '[15,3,0]'
	exits "--range" 1 $nan --json --range=,0.5 log.pt2 $(given log_good)
	is "--range reports a value outside" "$(jq -r '.findings[0].what' out)" range
	exits "--range with all values inside" 0 $nan --range=-1000,1000 log.pt2 $(given log_good)
}

# ---- what was there before ----
python3 - <<'END'
import struct
def npy(path, values, shape):
    head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s}" % (shape,)).encode()
    head += b" " * (117 - len(head)) + b"\n"
    open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<%df" % len(values), *values))
v = [i / 40 for i in range(40)]
npy("x.npy", v, (5, 8))
v[19] = float("nan")
npy("xnan.npy", v, (5, 8))
npy("p.npy", v[8:32], (3, 8))
END
exits "a NaN in the caller's input" 1 $nan --json "$P/mlp.pt2" xnan.npy
is "it is reported as an input's" "$(jq -c '.findings[0] | [.kind, .values[.cause].path, .kernel, .passed_on]' out)" '["input","args[0]","aoti_torch_cpu_addmm_out",3]'
run $nan "$P/mlp.pt2" xnan.npy
like "the text says that the input was already NaN" "$(cat out)" 'NaN in the input args\[0\] \(arg4_1\).*likely +the input args\[0\] was already NaN'
like "the text says where in the input" "$(cat out)" 'args\[0\] .*1 NaN of 40 elements.*the first at \[2, 3\] = nan'
mkdir newer && (cd newer && unzip -qo "$P/mlp.pt2")
sed -i 's/^    cpp_fused_relu_0(.*/    surely(*not)(a, statement);/' "$(find newer -name '*.wrapper.cpp')"
exits "a model whose code is not fully understood: status 5" 5 $nan newer x.npy
like "the summary says as far as known" "$(tail -1 out)" 'no NaN in .* as far as known: 1 statement of the generated code was not understood$'
exits "the same in JSON" 5 $nan --json newer x.npy
is "JSON counts what was not understood" "$(jq .unread out)" 1
exits "a NaN in such a model: status 1" 1 $nan newer xnan.npy
exits "--constants with good weights" 0 $nan --constants "$P/mlp.pt2" x.npy
exits "--constants --range" 1 $nan --constants --json --all --range=-0.3,0.3 "$P/mlp.pt2" x.npy
is "weights have their module paths" "$(jq -c '[.findings[] | select(.kind == "constant") | .values[.cause].path] | unique' out)" '["up.bias","up.weight"]'
exits "a package with provenance" 1 $nan --json "$P/mlp_provenance.pt2" p.npy
is "its nodes are reported" "$(jq -c '.findings[0] | [.pre_grad_nodes, .post_grad_nodes]' out)" '[["linear"],["addmm"]]'
like "its Python lines are reported" "$(jq -r '.findings[0].python[0]' out)" 'packages\.py:[0-9]+ in forward: return torch\.softmax'
unzip -p "$P/mlp_provenance.pt2" '*kernel_information.json' >kernels.json
exits "--trace for a package without provenance" 1 $nan --json --trace kernels.json "$P/mlp.pt2" xnan.npy
is "--trace adds nodes" "$(jq -c '.findings[0].post_grad_nodes' out)" '["addmm"]'
exits "--trace rejects another file" 3 $nan --trace x.npy "$P/mlp.pt2" x.npy

# ---- what cannot be run ----
exits "--no-exec with a model is rejected" 2 $nan --no-exec "$P/mlp.pt2" x.npy
like "the message says why" "$(cat err)" 'known only by running'
exits "a missing input" 2 $nan "$P/mlp.pt2"
exits "an input of the wrong dtype" 3 $nan "$P/mlp.pt2" 'f64[5,8]'
like "the message has both dtypes" "$(cat err)" 'dtype: expected float32, given float64'
exits "an invalid --range" 2 $nan --range=3 "$P/mlp.pt2" x.npy
exits "generated inputs" 0 $nan "$P/mlp.pt2" 'f32[5,8]'
exits "a package of several models" 2 $nan "$P/multi.pt2" x.npy

# ---- --torch: which Python is asked ----
printf '#!/bin/sh\necho\n' >notorch
chmod +x notorch
PT2_PYTHON=$PWD/notorch exits "a Python without torch" 4 $nan --torch "$P/mlp.pt2" x.npy
like "the message names the Python without torch" "$(cat err)" "'$PWD/notorch', which has no torch"
PT2_PYTHON=$PWD/nothing exits "--torch with a missing Python" 4 $nan --torch "$P/mlp.pt2" x.npy
like "the message names the missing Python" "$(cat err)" "$PWD/nothing"
mkdir -p site/torch/lib && cp "$lib/libpt2shim.so" site/torch/lib/libtorch_cpu.so
printf '#!/bin/sh\necho "%s/site/torch"\n' "$PWD" >hastorch
chmod +x hastorch
PT2_PYTHON=$PWD/hastorch exits "--torch with a Python that has torch" 0 $nan --torch "$P/mlp.pt2" x.npy
exits "--torch with a directory without libtorch" 4 $nan --torch=tmp "$P/mlp.pt2" x.npy
like "the message names that directory" "$(cat err)" "no libtorch_cpu.so in 'tmp'"

# ---- saved tensors ----
# shellcheck disable=SC2046
run aoti-printer -o dump log.pt2 $(given log)
exits "a dump" 1 $nan --json dump
is "a dump gives the same call and reason" "$(jq -r '.findings[0] | "\(.kernel) \(.kind): \(.guesses[0].text)"' out)" \
	"cpp_fused_log_sub_tanh_1 produced: log of a negative number"
is "a dump gives the elements" "$(jq -c '[.findings[0].values[] | select(.position) | .element | tostring[:4]] | unique' out)" '["0","3.82","nan"]'
exits "a dump with inputs is rejected" 2 $nan dump x.npy
head -c -10 dump/calls.jsonl >half && cp half dump/calls.jsonl
exits "an incomplete dump" 1 $nan dump
like "a message says that it is incomplete" "$(cat err)" 'is incomplete'

# ---- commands ----
mkdir log && (cd log && unzip -q ../log.pt2)
so=$(find "$PWD/log" -name '*.so')
unzip -q "$IO/log.npz" in0.npy && mv in0.npy bad.npy
unzip -q "$IO/log_good.npz" in0.npy && mv in0.npy good.npy
runs() { echo "$lib/pt2-runner --torch $lib/libpt2shim.so --model $so --outputs o --watched --unconfined --inputs $*"; }
# shellcheck disable=SC2046
{
	exits "a command whose model produces a NaN" 1 $nan -- $(runs bad.npy --runs 20)
	like "the NaN is reported" "$(cat err)" 'aoti-nanassert: NaN produced by cpp_fused_log_sub_tanh_1'
	is "it is reported once" "$(grep -c 'produced by' err)" 1
	like "with the value that it was produced from" "$(cat err)" 'wrote +buf4 .* the first at \[1, 0\] = nan.*buf3 f32\[4,8\]: min 0, max .*; there \[1, 0\] = 3\.82'
	unlike "buffers written in place are reported as before the call" "$(cat err)" "read +buf4 f32\[4,8\]: no NaN, no infinity;"
	like "the summary counts calls and findings" "$(tail -n 1 err)" '1 model, 100 calls of kernels and operators, found 20 times in 1 place, propagated by 20 calls'
	exits "a command whose model produces no NaN" 0 $nan -- $(runs good.npy)
	like "the summary says that nothing was found" "$(cat err)" 'nothing found'
	exits "--fail keeps the command's status" 3 $nan --fail -- $(runs bad.npy)
	like "--fail: torch's caller sees the reason" "$(cat err)" 'cpp_fused_log_sub_tanh_1 \(call 3, wrapper.cpp:[0-9]+\) wrote 8 NaN'
	exits "--error-exitcode overrides the command's status" 9 $nan --error-exitcode=9 --fail -- $(runs bad.npy)
	exits "--json with a command" 1 $nan --json --log live.json -- $(runs bad.npy)
	is "--json with a command has the finding" "$(jq -r '.findings[0].kernel' live.json)" cpp_fused_log_sub_tanh_1
	exits "a model and a command together are rejected" 2 $nan log.pt2 -- $(runs bad.npy)
}
exits "a command without a model" 4 $nan -- true
exits "a command that fails keeps its status" 7 $nan -- sh -c 'exit 7'
run bash -c "$nan -- sh -c 'kill -TERM \$\$'; exit \$((\$? == 143 ? 50 : 51))"
is "a command killed by a signal: the tool dies of the same signal" "$status" 50
# ---- a kernel that crashes: its first instruction is made an invalid one ----
cat >crash.py <<'END'
import subprocess, sys

def table(option):
    return [l.split() for l in subprocess.run(["readelf", option, so], capture_output=True, text=True, check=True).stdout.splitlines()]

so, kernel = sys.argv[1:]
at = next(int(f[1], 16) for f in table("-sW") if len(f) == 8 and kernel in f[7] and f[3] == "FUNC")
segments = [[int(x, 16) for x in f[1:6] if x.startswith("0x")] for f in table("-lW") if f and f[0] == "LOAD"]
offset = next(o + at - v for o, v, _, size, *_ in segments if v <= at < v + size)
with open(so, "r+b") as f:
    f.seek(offset)
    f.write(b"\x0f\x0b")
END
cp -r log crash
broken=$(find "$PWD/crash" -name '*.so')
if python3 crash.py "$broken" cpp_fused_log_sub_tanh_1 2>err; then
	exits "a kernel that crashes" 1 $nan crash bad.npy
	like "the kernel and the signal are reported" "$(cat out)" 'cpp_fused_log_sub_tanh_1 did not return: the process was killed by SIGILL.*call 3 of run 0, wrapper\.cpp line'
	run $nan --json crash bad.npy
	is "the crash in JSON" "$(jq -c '.findings[0] | [.kind, .kernel, .what]' out)" '["crashed","cpp_fused_log_sub_tanh_1",null]'
	so=$broken
	# shellcheck disable=SC2046
	run bash -c "$nan -- $(runs bad.npy); exit \$((\$? == 132 ? 50 : 51))"
	is "a crash in a command: the tool dies of the same signal" "$status" 50
	like "the crashed kernel of a command is reported" "$(cat err)" 'cpp_fused_log_sub_tanh_1 did not return: the process was killed by SIGILL'
	run bash -c "aoti-printer --ima --json -o ima.json -- $(runs bad.npy); exit \$((\$? == 132 ? 50 : 51))"
	is "aoti-printer --ima reports the crash, too" "$status $(jq -r '.deaths[]' ima.json | sed 's/[0-9][0-9]*/N/')" \
		"50 process N was killed by SIGILL (Illegal instruction) in cpp_fused_log_sub_tanh_1, call 3 of run 0"
	exits "a crash in a worker of a command that succeeds" 1 $nan -- sh -c "$(runs bad.npy); exit 0"
	like "the worker's kernel is reported" "$(cat err)" 'cpp_fused_log_sub_tanh_1 did not return: the process (was killed by SIGILL|ended in it)'
	like "the worker's process is reported" "$(cat err)" ' in +process [0-9]+, /.*\.so'
	exits "a worker's crash with --json" 1 $nan --json --log worker.json -- sh -c "$(runs bad.npy); exit 0"
	is "the worker's kernel in JSON" "$(jq -c '.findings[0] | [.kind, .kernel]' worker.json)" '["crashed","cpp_fused_log_sub_tanh_1"]'
else
	skip "a kernel that crashes" "no readelf"
fi

# ---- the user ends it: that is no finding ----
so=$(find "$PWD/log" -name '*.so')
cat >end.py <<'EOS'
import os, signal, subprocess, sys, time
how, args = sys.argv[1], sys.argv[2:]
p = subprocess.Popen(args, stdout=open("out", "wb"), stderr=open("err", "wb"), start_new_session=True)
end = time.time() + 20
while time.time() < end and not any(c.startswith("pt2live") for c in os.listdir("tmp")):
    time.sleep(0.01)
def spent(): # processor time of all that it started, in ticks: the model is called again and again
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                rest = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += int(rest[11]) + int(rest[12]) if int(rest[3]) == p.pid else 0
    return total
while time.time() < end and spent() < 0.6 * os.sysconf("SC_CLK_TCK"):
    time.sleep(0.02)
sig = getattr(signal, how.split("-")[0])
os.killpg(p.pid, sig) if how.endswith("-all") else p.send_signal(sig)
try:
    print(p.wait(20))
except subprocess.TimeoutExpired:
    p.kill()
    print("it goes on")
EOS
# shellcheck disable=SC2046
for how in SIGINT:-2 SIGINT-all:-2 SIGTERM:-15; do
	is "$how sent while a model runs" "$(python3 end.py "${how%:*}" $nan -N 1000000 log.pt2 $(given log_good))" "${how#*:}"
	like "$how: no kernel is blamed" "$(cat out)" '^no NaN in [0-9]+ calls?'
	like "$how: the message says by what it was stopped" "$(cat err)" "stopped by ${how%%[-:]*}( in .*)?, after [0-9]+ calls?"
	is "$how sent while a command runs" "$(python3 end.py "${how%:*}" $nan -- $(runs good.npy --runs 100000000))" "${how#*:}"
	unlike "$how, command: no kernel is blamed" "$(cat err)" 'did not return'
	like "$how, command: the summary covers what ran" "$(tail -n 1 err)" 'nothing found'
done
is "a NaN found before the signal is reported" "$(python3 end.py SIGINT $nan -N 1000000 log.pt2 "$(given log)") $(grep -c '^NaN produced by' out)" "-2 1"
is "no process is left" "$(pgrep -f "$TMP/tmp")" ""
is "no directory is left" "$(ls tmp)" ""
# ---- memory that a call has not written ----
# scan writes its result row by row; the other rows hold what malloc gave: old bytes, or those of MALLOC_PERTURB_.
xz -dc "$ROOT/tests/data/aoti/verify/scan.pt2.xz" >scan.pt2
scan=$ROOT/tests/data/aoti/verify/scan.pt
for fill in 0 128 129; do
	MALLOC_PERTURB_=$fill exits "what a loop has not written yet is not its result ($fill)" 0 aoti-nanassert --range=-1000,1000 scan.pt2 "$scan:in[0]" "$scan:in[1]"
done
MALLOC_PERTURB_=128 exits "what it has written is" 1 aoti-nanassert --range=-2.3,2.3 scan.pt2 "$scan:in[0]" "$scan:in[1]"
like "with the range of that" "$(cat out)" "number out of range produced by cpp_fused_add_copy__mul_select_sin_tanh_2"
done_testing
