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
like "its time is over: 3, or 1 where that was inside of a kernel, which may hang" "$status" '^[13]$'
like "which is said" "$(cat err)" "the model's process: timed out"
exits "no model, no --timeout" 2 $nan --timeout 1 -- true
like "which is said" "$(cat err)" '-- COMMAND cannot be combined with .*--timeout'
# shellcheck disable=SC2046 # operands
exits "a document of more findings than --max-text" 1 $nan --json -a --max-text=200 log.pt2 $(given log)
is "stays one" "$(jq -c '[.schema, .cut]' out)" '["pt2utils.nanassert/1",true]'

# ---- whose it is ----
X=$ROOT/tests/data/aoti/nan
# whose MODEL OPTION...: what the exported program says of it
whose() {
	local m=$1 program=$2
	shift 2
	# shellcheck disable=SC2046 # operands
	$nan --json --against "$X/$program.exported.pt2" "$@" "$m.pt2" $(given "$m") 2>err | jq -r '.against | "\(.whose) \(.op) \(.same_counts)"'
}
is "a NaN of the model's own" "$(whose log log)" "model aten.log.default true"
is "of a mask" "$(whose softmax_masked softmax_masked)" "model aten.softmax.int true"
is "of nothing" "$(whose mean_empty mean_empty)" "model aten.mean.default true"
is "an infinity" "$(whose product product --inf)" "model aten.mm.default true"
is "one that the compiler made" "$(whose miscompiled log)" "compiler null false"
# shellcheck disable=SC2046
exits "in words" 1 $nan --against "$X/log.exported.pt2" log.pt2 $(given log)
like "the model's" "$(cat out)" "origin *the model itself: the exported program has its first NaN in log .aten.log.default"
# shellcheck disable=SC2046
exits "the compiler's" 1 $nan --against "$X/log.exported.pt2" miscompiled.pt2 $(given miscompiled)
like "is said" "$(cat out)" "the compiler: the exported program, run node by node with these inputs, has no NaN"
# shellcheck disable=SC2046
exits "another program" 1 $nan --against "$X/product.exported.pt2" log.pt2 $(given log)
like "does not tell" "$(cat out)" "origin *unknown: "
exits "of a command" 2 $nan --against "$X/log.exported.pt2" -- true

# ---- the kernel that holds the operator, and why ----
is "log" "$(tells log log)" "cpp_fused_log_sub_tanh_1 produced nan: log of a negative number"
is "softmax of a masked row" "$(tells softmax_masked softmax_masked)" \
	"cpp_fused__softmax_bitwise_not_div_masked_fill_2 produced nan: softmax of a row that is all -inf (fully masked)"
is "the mean of nothing" "$(tells mean_empty mean_empty)" "cpp_fused_addmm_mean_t_tanh_unsqueeze_view_1 produced nan: the mean of no elements: 0 / 0"
is "overflow of float16" "$(tells half_overflow half_overflow --inf)" \
	"cpp_fused__to_copy_add_mul_sin_0 produced inf: a product beyond the largest float16 (65504)"
is "overflow of a product of matrices" "$(tells product product --inf)" \
	"aoti_torch_cpu_mm_out produced inf: a sum of products beyond the largest float32 (3.40282e+38)"
is "--no-inf goes before it" "$(TORCHINDUCTOR_NAN_ASSERTS=1 tells product product --no-inf)" ""
exits "--inf and --no-inf" 2 $nan --inf --no-inf product.pt2
for m in log softmax_masked mean_empty half_overflow product; do
	is "$m: no false alarm" "$(tells $m ${m}_good --all --inf)" ""
done
is "without --inf infinities are no finding" "$(tells product product)" ""
is "PyTorch's variable counts them" "$(TORCHINDUCTOR_NAN_ASSERTS=1 tells product product)" "$(tells product product --inf)"
# shellcheck disable=SC2046
{
	exits "found: 1" 1 $nan log.pt2 $(given log)
	like "the call and its line" "$(cat out)" 'NaN produced by cpp_fused_log_sub_tanh_1 \(call 3 of run 0, wrapper\.cpp line [0-9]+\)'
	like "what it wrote, and where it is bad first" "$(cat out)" 'wrote +buf4 f32\[4,8\]: 8 NaN of 32 elements; min .* the first at \[1, 0\] = nan'
	like "what it read, and the number at that place" "$(cat out)" 'buf3 f32\[4,8\]: min 0, max .*; there \[1, 0\] = 3\.82'
	like "later calls are counted" "$(cat out)" '1 call propagated it'
	is "nothing else is said" "$(cat err)" ""
	exits "clean: 0" 0 $nan log.pt2 $(given log_good)
	like "and how much was looked at" "$(cat out)" '^no NaN in 5 calls'
	exits "--error-exitcode" 42 $nan --error-exitcode=42 log.pt2 $(given log)
	exits "-q" 1 $nan -q log.pt2 $(given log)
	is "-q says nothing" "$(cat out err)" ""
	exits "--fail" 1 $nan --fail log.pt2 $(given log)
	like "--fail: later calls did not run" "$(cat out)" 'cpp_fused_log_sub_tanh_1'
	unlike "--fail: so none propagated it" "$(cat out)" 'propagated it'
	exits "--fail: infinities are no failure" 0 $nan --fail product.pt2 $(given product)
	exits "--fail --inf: they are" 1 $nan --fail --inf --json product.pt2 $(given product)
	like "--fail --inf: the Run returned why" "$(jq -r .failure out)" 'aoti_torch_cpu_mm_out \(call 5.*16 infinities'
	exits "--log" 1 $nan --log log.txt log.pt2 $(given log)
	like "--log: it is there" "$(cat log.txt)" '^NaN produced by'
	is "--log: and not on standard output" "$(cat out)" ""
	exits "--ignore a kernel" 0 $nan --ignore '*log*' log.pt2 $(given log)
	exits "--ignore a buffer" 0 $nan --ignore buf4 log.pt2 $(given log)
	exits "--ignore another" 1 $nan --ignore buf99 log.pt2 $(given log)
	exits "more than one Run" 1 $nan --json -N 3 log.pt2 $(given log)
	is "more than one Run: each counts" "$(jq -c '[.calls, .findings[0].times, .findings[0].run]' out)" '[15,3,0]'
	exits "--range" 1 $nan --json --range=,0.5 log.pt2 $(given log_good)
	is "--range: what is found" "$(jq -r '.findings[0].what' out)" range
	exits "not with --range that all are in" 0 $nan --range=-1000,1000 log.pt2 $(given log_good)
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
exits "a NaN of the caller's" 1 $nan --json "$P/mlp.pt2" xnan.npy
is "is no kernel's" "$(jq -c '.findings[0] | [.kind, .values[.cause].path, .kernel, .passed_on]' out)" '["input","args[0]","aoti_torch_cpu_addmm_out",3]'
run $nan "$P/mlp.pt2" xnan.npy
like "in words" "$(cat out)" 'NaN in the input args\[0\] \(arg4_1\).*likely +the input args\[0\] was already NaN'
like "where in it" "$(cat out)" 'args\[0\] .*1 NaN of 40 elements.*the first at \[2, 3\] = nan'
mkdir newer && (cd newer && unzip -qo "$P/mlp.pt2")
sed -i 's/^    cpp_fused_relu_0(.*/    surely(*not)(a, statement);/' "$(find newer -name '*.wrapper.cpp')"
exits "nothing found in a program that is not understood everywhere" 5 $nan newer x.npy
like "is said with that reserve" "$(tail -1 out)" 'no NaN in .* as far as known: 1 statement of the generated code was not understood$'
exits "and so in JSON" 5 $nan --json newer x.npy
is "in number" "$(jq .unread out)" 1
exits "what is found is found" 1 $nan newer xnan.npy
exits "clean weights" 0 $nan --constants "$P/mlp.pt2" x.npy
exits "weights out of range" 1 $nan --constants --json --all --range=-0.3,0.3 "$P/mlp.pt2" x.npy
is "by their module paths" "$(jq -c '[.findings[] | select(.kind == "constant") | .values[.cause].path] | unique' out)" '["up.bias","up.weight"]'
exits "nodes and lines of Python from the package" 1 $nan --json "$P/mlp_provenance.pt2" p.npy
is "nodes" "$(jq -c '.findings[0] | [.pre_grad_nodes, .post_grad_nodes]' out)" '[["linear"],["addmm"]]'
like "lines" "$(jq -r '.findings[0].python[0]' out)" 'packages\.py:[0-9]+ in forward: return torch\.softmax'
unzip -p "$P/mlp_provenance.pt2" '*kernel_information.json' >kernels.json
exits "--trace for a package without" 1 $nan --json --trace kernels.json "$P/mlp.pt2" xnan.npy
is "--trace: nodes" "$(jq -c '.findings[0].post_grad_nodes' out)" '["addmm"]'
exits "--trace with what is none" 3 $nan --trace x.npy "$P/mlp.pt2" x.npy

# ---- what cannot be run ----
exits "--no-exec is refused" 2 $nan --no-exec "$P/mlp.pt2" x.npy
like "with the reason" "$(cat err)" 'known only by running'
exits "an input is missing" 2 $nan "$P/mlp.pt2"
exits "a wrong type" 3 $nan "$P/mlp.pt2" 'f64[5,8]'
like "what is wrong" "$(cat err)" 'dtype: expected float32, given float64'
exits "a bad range" 2 $nan --range=3 "$P/mlp.pt2" x.npy
exits "numbers that are made up" 0 $nan "$P/mlp.pt2" 'f32[5,8]'
exits "which of several models?" 2 $nan "$P/multi.pt2" x.npy

# ---- --torch: which Python is asked ----
printf '#!/bin/sh\necho\n' >notorch
chmod +x notorch
PT2_PYTHON=$PWD/notorch exits "a Python without torch" 4 $nan --torch "$P/mlp.pt2" x.npy
like "is named" "$(cat err)" "'$PWD/notorch', which has no torch"
PT2_PYTHON=$PWD/nothing exits "one that is none" 4 $nan --torch "$P/mlp.pt2" x.npy
like "is named, too" "$(cat err)" "$PWD/nothing"
mkdir -p site/torch/lib && cp "$lib/libpt2shim.so" site/torch/lib/libtorch_cpu.so
printf '#!/bin/sh\necho "%s/site/torch"\n' "$PWD" >hastorch
chmod +x hastorch
PT2_PYTHON=$PWD/hastorch exits "one that has it: what it has is used" 0 $nan --torch "$P/mlp.pt2" x.npy
exits "a folder without" 4 $nan --torch=tmp "$P/mlp.pt2" x.npy
like "is named as well" "$(cat err)" "no libtorch_cpu.so in 'tmp'"

# ---- saved tensors ----
# shellcheck disable=SC2046
run aoti-printer -o dump log.pt2 $(given log)
exits "a folder of saved tensors" 1 $nan --json dump
is "the same call, the same reason" "$(jq -r '.findings[0] | "\(.kernel) \(.kind): \(.guesses[0].text)"' out)" \
	"cpp_fused_log_sub_tanh_1 produced: log of a negative number"
is "and the elements" "$(jq -c '[.findings[0].values[] | select(.position) | .element | tostring[:4]] | unique' out)" '["0","3.82","nan"]'
exits "which takes no inputs" 2 $nan dump x.npy
head -c -10 dump/calls.jsonl >half && cp half dump/calls.jsonl
exits "one that was cut" 1 $nan dump
like "is said to be" "$(cat err)" 'is incomplete'

# ---- commands ----
mkdir log && (cd log && unzip -q ../log.pt2)
so=$(find "$PWD/log" -name '*.so')
unzip -q "$IO/log.npz" in0.npy && mv in0.npy bad.npy
unzip -q "$IO/log_good.npz" in0.npy && mv in0.npy good.npy
runs() { echo "$lib/pt2-runner --torch $lib/libpt2shim.so --model $so --outputs o --watched --unconfined --inputs $*"; }
# shellcheck disable=SC2046
{
	exits "a command that makes a NaN" 1 $nan -- $(runs bad.npy --runs 20)
	like "is told of it" "$(cat err)" 'aoti-nanassert: NaN produced by cpp_fused_log_sub_tanh_1'
	is "once" "$(grep -c 'produced by' err)" 1
	like "with the number that it was made of" "$(cat err)" 'wrote +buf4 .* the first at \[1, 0\] = nan.*buf3 f32\[4,8\]: min 0, max .*; there \[1, 0\] = 3\.82'
	unlike "but not with what was written over" "$(cat err)" "read +buf4 f32\[4,8\]: no NaN, no infinity;"
	like "and how often" "$(tail -n 1 err)" '1 model, 100 calls of kernels and operators, found 20 times in 1 place, propagated by 20 calls'
	exits "a command that makes none" 0 $nan -- $(runs good.npy)
	like "is told so" "$(cat err)" 'nothing found'
	exits "--fail: the model's own status is the command's" 3 $nan --fail -- $(runs bad.npy)
	like "--fail: torch's caller reads why" "$(cat err)" 'cpp_fused_log_sub_tanh_1 \(call 3, wrapper.cpp:[0-9]+\) wrote 8 NaN'
	exits "--error-exitcode goes before it" 9 $nan --error-exitcode=9 --fail -- $(runs bad.npy)
	exits "--json of a command" 1 $nan --json --log live.json -- $(runs bad.npy)
	is "--json of a command: what is in it" "$(jq -r '.findings[0].kernel' live.json)" cpp_fused_log_sub_tanh_1
	exits "a model beside a command" 2 $nan log.pt2 -- $(runs bad.npy)
}
exits "a command that uses no model" 4 $nan -- true
exits "a command that fails" 7 $nan -- sh -c 'exit 7'
run bash -c "$nan -- sh -c 'kill -TERM \$\$'; exit \$((\$? == 143 ? 50 : 51))"
is "a command that a signal ends: the tool ends likewise" "$status" 50
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
	like "is named, with the signal" "$(cat out)" 'cpp_fused_log_sub_tanh_1 did not return: the process was killed by SIGILL.*call 3 of run 0, wrapper\.cpp line'
	run $nan --json crash bad.npy
	is "and in JSON" "$(jq -c '.findings[0] | [.kind, .kernel, .what]' out)" '["crashed","cpp_fused_log_sub_tanh_1",null]'
	so=$broken
	# shellcheck disable=SC2046
	run bash -c "$nan -- $(runs bad.npy); exit \$((\$? == 132 ? 50 : 51))"
	is "in a command: the tool ends by the same signal" "$status" 50
	like "and names it" "$(cat err)" 'cpp_fused_log_sub_tanh_1 did not return: the process was killed by SIGILL'
	run bash -c "aoti-printer --ima --json -o ima.json -- $(runs bad.npy); exit \$((\$? == 132 ? 50 : 51))"
	is "aoti-printer --ima says so, too" "$status $(jq -r '.deaths[]' ima.json | sed 's/[0-9][0-9]*/N/')" \
		"50 process N was killed by SIGILL (Illegal instruction) in cpp_fused_log_sub_tanh_1, call 3 of run 0"
	exits "in a worker of a command that ends well: 1" 1 $nan -- sh -c "$(runs bad.npy); exit 0"
	like "the kernel is named" "$(cat err)" 'cpp_fused_log_sub_tanh_1 did not return: the process (was killed by SIGILL|ended in it)'
	like "and the process" "$(cat err)" ' in +process [0-9]+, /.*\.so'
	exits "in JSON" 1 $nan --json --log worker.json -- sh -c "$(runs bad.npy); exit 0"
	is "in JSON: which" "$(jq -c '.findings[0] | [.kind, .kernel]' worker.json)" '["crashed","cpp_fused_log_sub_tanh_1"]'
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
	is "$how to a model that runs here" "$(python3 end.py "${how%:*}" $nan -N 1000000 log.pt2 $(given log_good))" "${how#*:}"
	like "$how: no kernel is blamed" "$(cat out)" '^no NaN in [0-9]+ calls?'
	like "$how: it is said" "$(cat err)" "stopped by ${how%%[-:]*}( in .*)?, after [0-9]+ calls?"
	is "$how to a command" "$(python3 end.py "${how%:*}" $nan -- $(runs good.npy --runs 100000000))" "${how#*:}"
	unlike "$how to a command: no kernel is blamed" "$(cat err)" 'did not return'
	like "$how to a command: what was found so far" "$(tail -n 1 err)" 'nothing found'
done
is "what was found so far, too" "$(python3 end.py SIGINT $nan -N 1000000 log.pt2 "$(given log)") $(grep -c '^NaN produced by' out)" "-2 1"
is "no process is left behind" "$(pgrep -f "$TMP/tmp")" ""
is "no folder is left behind" "$(ls tmp)" ""
done_testing
