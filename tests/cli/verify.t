#!/bin/bash
# aoti-verify on recorded pairs of an exported program and its package (scripts/fixtures/verify.py): clean ones, ones in which one instruction of one
# kernel computes something else (tests/lib/mutate.py), graphs that cannot be followed, dumps, input that is refused.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/close.sh
. "$ROOT/tests/lib/close.sh"
grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models need AVX2"
P=$ROOT/tests/data/aoti/verify
for name in norm attention state noise loop scan sampler returns vision erfinv cosine dropout inplace int8 prefix; do
	cp "$DATA/aoti/verify/$name.pt2" "$P/$name.pt" .
	cp "$P/$name.exported.pt2" .
done
verify() { # verify NAME [PACKAGE [OPTION...]]: with its recorded input
	local name=$1 package=${2-$1.pt2}
	shift $(($# < 2 ? $# : 2))
	aoti-verify "$@" "$name.exported.pt2" "$package" "$name.pt:in[0]"
}

# ---- clean ones ----
for name in norm attention; do
	exits "$name: correct" 0 verify $name $name.pt2 --json
	is "$name: nothing wrong, nothing unverified" \
		"$(jq -c '[.status, (.runs | map(select(.counts)) | map(.wrong + .open) | add)]' out)" "[0,0]"
	ok "$name: each kernel has its node and its errors" \
		jq -e '[.runs[0].calls[] | select(.verdict == "rounding")] | length > 0 and all(.node.name and .compiled_ulp + .eager_ulp > 0)' out
done
exits "views that are written to, also in torch.vmap: correct" 0 verify inplace inplace.pt2 --json
is "... nothing wrong, nothing unverified" "$(jq -c '[.status, (.runs | map(select(.counts)) | map(.wrong + .open) | add)]' out)" "[0,0]"
verify norm norm.pt2 --json >norm.json
exits "--json with --max-text" 0 verify norm norm.pt2 --json --max-text=2K
is "cut JSON stays valid" "$(jq -c '[.schema, .cut]' out)" '["pt2utils.verify/1",true]'
exits "--timeout ends a long run" 3 aoti-verify --runs 1000000 --timeout 1 norm.exported.pt2 norm.pt2 'norm.pt:in[0]'
like "the message says that it timed out" "$(cat err)" "the model's process: timed out"
is "other values and, where sizes are dynamic, other sizes are tested, too" "$(jq -c '[.runs[].inputs] | unique | length >= 3' norm.json)" true
is "--no-more tests only the given inputs" "$(verify norm norm.pt2 --json --no-more | jq '.runs | length')" 1
# Each kernel alone, with numbers of ours.
is "each kernel is called alone, too, and is right" "$(jq -c '[.runs[] | select(.inputs | startswith("kernels alone")) | [(.calls | length), .wrong, .open]]' norm.json)" "[[3,0,0],[3,0,0],[3,0,0]]"
is "--kernels-alone with --no-more" "$(verify norm norm.pt2 --json --no-more --kernels-alone | jq -c '[.runs[].inputs]')" \
	'["as given","kernels alone: ties and zeros","kernels alone: extremes","kernels alone: positive"]'
like "the text counts kernels that cannot be called alone" "$(verify vision)" "alone +1 of 2 kernels were called alone"
# Its vector loads end in the padding behind short rows: shown, and no reason to leave a kernel that rounds unverified.
exits "a kernel that reads padding is verified" 0 aoti-verify prefix.exported.pt2 prefix.pt2 'prefix.pt:in[0]' 'prefix.pt:in[1]'
like "... and the read is shown" "$(cat out)" "1 kernel verified, nothing wrong.*in the padding of its memory"
# Inductor takes a counter of a module for a constant (pytorch#165444): right once, wrong from the second call on.
exits "a model with state: wrong in its second call" 1 verify state state.pt2 --json --no-more
is "the wrong counter is found" "$(jq -c '[.runs[] | [.run, (.findings | map([.buffer, .got, .want]))]]' out)" \
	'[[0,[]],[1,[["norm_num_batches_tracked",1,2]]]]'
is "... and the buffer whose first value the code holds" "$(jq -c '[.runs[1].findings[].first_values]' out)" '[["b_norm_num_batches_tracked"]]'
like "... in the text, too" "$(verify state state.pt2 --no-more)" "buffer +norm.num_batches_tracked: the code holds its first value"
# Steps of gru and turns of a while_loop are nodes.
exits "a recurrent layer and a loop" 0 verify loop loop.pt2 --json
is "kernels of gru are compared with its steps" "$(jq -r '[.runs[0].calls[] | select(.kernel | test("sigmoid")) | .writes[].nodes[]
	| select(test("^gru.[0-3].h$"))] | unique | join(" ")' out)" "gru.0.h gru.1.h gru.2.h gru.3.h"
is "kernels of while_loop are compared with its iterations, none only indirectly" "$(jq -c '.runs[0] | [([.calls[] | select(.kernel | test("native_layer_norm")) | .writes[].nodes[]]
	| map(select(test("^while_loop.[0-2].layer_norm"))) | unique | length), .effect, .open, .wrong]' out)" "[3,0,0,0]"
# A graph whose loop has another number of turns: the condition is named, not the body.
turns() { # turns N: the loop ends after so many
	python3 - "$1" <<'E'
import sys, zipfile
with zipfile.ZipFile("loop.exported.pt2") as z, zipfile.ZipFile("turns.pt2", "w") as w:
    for n in z.namelist():
        data = z.read(n)
        if n.endswith("models/model.json"):
            head, tail = data.split(b"torch.ops.aten.lt.Scalar", 1)
            assert b'"as_int": 3' in tail
            data = head + b"torch.ops.aten.lt.Scalar" + tail.replace(b'"as_int": 3', b'"as_int": ' + sys.argv[1].encode(), 1)
        w.writestr(n, data)
E
	aoti-verify --json --no-more turns.pt2 loop.pt2 'loop.pt:in[0]'
}
exits "a loop that goes on for too long" 1 turns 2
is "its condition is the only finding" "$(jq -c '[.runs[0].findings[] | [.kernel, .what, .node.name, .got, .want]]' out)" \
	'[["cpp_fused_lift_fresh_copy_lt_5","turns","while_loop.2.lt",1,0]]'
exits "a loop that ends too early" 1 turns 5
is "... likewise" "$(jq -c '[.runs[0].findings[] | [.kernel, .what, .node.name, .got, .want]]' out)" \
	'[["cpp_fused_lift_fresh_copy_lt_5","turns","while_loop.3.lt",0,1]]'
# Nodes of large numbers have large errors, those that could replace them have not. No kernel after torch's generator is reported as wrong.
exits "a model that draws random numbers" 5 verify sampler sampler.pt2 --json --no-more
is "no kernel is reported as wrong; random ones stay unverified" "$(jq -c '.runs[0] | [.wrong, .rounding, .open]' out)" "[0,1,1]"
# A quantized model, frozen and not.
cp "$DATA/aoti/verify/int8plain.pt2" .
exits "a quantized model, frozen" 0 verify int8 int8.pt2 --no-more
like "the text says which products ran in int8, and why another did not" "$(cat out)" \
	"int8 +2 of 3 quantized products ran in int8.*not int8 +linear_2 \(call 3, cpp_fused_addmm.*one row"
exits "... in JSON" 0 verify int8 int8.pt2 --no-more --json
is "each product has its call" "$(jq -c '.int8 | [.quantized, .in_int8, .not_quantized, (.products[] | [.node.name, .int8, .call, (.why // "" | test("^one row"))])]' out)" \
	'[3,2,0,["linear",true,1,false],["linear_1",true,2,false],["linear_2",false,3,true]]'
exits "the same model without freezing" 0 verify int8 int8plain.pt2 --no-more --json
is "none is in int8, for two reasons" "$(jq -c '.int8 | [.in_int8, (.products[] | .why | split(":")[0])]' out)" \
	'[0,"compiled without freezing","compiled without freezing","one row, and a small weight or one column"]'
is "a model that is not quantized has no such report" "$(jq -c 'has("int8")' norm.json)" false
# Every way of returning: a handle that is returned twice is owned once.
gives=('returns.pt:in[0]' 'returns.pt:in[1]')
exits "a model that returns the same tensor twice runs" 0 pt2-run -q -n 3 -o returned.npz returns.pt2 "${gives[@]}"
pt2-run -q -o wanted.npz returns.exported.pt2 "${gives[@]}"
tensors returned.npz >returned.txt
tensors wanted.npz >wanted.txt
is "all its outputs are there" "$(wc -l <returned.txt)" "$(wc -l <wanted.txt)"
ok "they equal those of the exported program" close returned.txt wanted.txt
exits "aoti-verify runs it, too" 0 aoti-verify --json returns.exported.pt2 returns.pt2 "${gives[@]}"
is "each of its outputs agrees" "$(jq -c '.runs[0].outputs | [length, (map(select(.verdict == "agrees")) | length)]' out)" "[12,12]"
like "the text says whose operators ran" "$(aoti-verify --no-more returns.exported.pt2 returns.pt2 "${gives[@]}")" "operators addmm, .*: pt2-run's own operators; --torch takes torch's"
is "... in JSON" "$(jq -r .operators out)" "pt2-run"
# A bias of 6 elements is in the package's code only: another one since is not a wrong kernel.
python3 - <<'E'
import struct, zipfile
with zipfile.ZipFile("returns.exported.pt2") as z, zipfile.ZipFile("other.pt2", "w") as w:
    for n in z.namelist():
        data = z.read(n)
        if n.endswith("data/weights/weight_1"):
            data = struct.pack("<f", struct.unpack("<f", data[:4])[0] + 0.5) + data[4:]
        w.writestr(n, data)
E
exits "a weight that the code holds has changed" 1 aoti-verify --no-more other.pt2 returns.pt2 "${gives[@]}"
like "the text says so" "$(cat out)" "weight +linear.bias: the code holds its values: if they have changed since it was compiled, compile it again"
exits "... in JSON" 1 aoti-verify --json --no-more other.pt2 returns.pt2 "${gives[@]}"
is "the finding has the weight" "$(jq -c '[.runs[0].findings[] | .inlined_weights]' out)" '[["p_linear_bias"]]'
exits "aoti-nanassert runs it" 0 aoti-nanassert returns.pt2 "${gives[@]}"
exits "aoti-printer runs it" 0 aoti-printer -q -i -o same returns.pt2 "${gives[@]}"
exits "its binary is what its text says: a view of another dtype is not a call" 0 aoti-checkinputs -q --probe returns.pt2
like "--probe followed it to the end" "$(aoti-checkinputs --probe returns.pt2)" "agrees with its code in everything that was compared"

# Long sums of generated code are less exact than eager's, and other layouts than contiguous are tried.
exits "a batch norm, then means of numbers close to 0" 0 verify vision vision.pt2 --json
is "channels_last: other values are tried, nothing is wrong" "$(jq -c '[(.runs | map(.inputs) | map(select(startswith("kernels") | not)) | unique | length), (.runs | map(.wrong + .open) | add)]' out)" "[3,0]"
is "nothing had to be left out" "$(cat err)" ""
ok "its rounding is beyond what one operation explains" jq -e '.runs[0].calls | map(.compiled_ulp // 0) | max > 4' out

# What a kernel read is exact. That a neighbouring input would explain the result is no excuse, but not an error either.
exits "compiled erfinv is less exact than eager" 0 verify erfinv erfinv.pt2 --json --no-more
is "that is a finding of its own class" "$(jq -c '.runs[0] | [.wrong, .less_exact, (.findings[] | [.what, .node.name, .compiled_ulp > 16, .eager_ulp < 1])]' out)" \
	'[0,1,["less_exact","erfinv",true,true]]'
exits "--strict: less exact is status 1" 1 verify erfinv erfinv.pt2 --strict --no-more
like "the text has a line for it" "$(cat out)" "1 kernel verified, nothing wrong; 1 result less exact than eager.*is less exact than eager: erfinv .*ulp off the float64 result for the same inputs; eager is 0"

exits "-a as text" 0 verify attention attention.pt2 -a
like "the first line is the summary" "$(head -1 out)" "^attention.pt2: 5 kernels verified, nothing wrong"
ok "-a has a row for each call" grep -qE "^ *2 +equal +cpp_fused_clone_split_transpose_view_1" out
exits "-q" 0 verify attention attention.pt2 -q
is "-q prints nothing" "$(cat out err)" ""

# ---- one wrong instruction ----
kinds=
mutant() { # mutant NAME SEED: what aoti-printer sees of it beside the clean one is what aoti-verify has to name
	local name=$1 seed=$2 kernel kind what first
	IFS=$'\t' read -r kernel kind _ what < <(python3 "$ROOT/tests/lib/mutate.py" "$name.pt2" wrong.pt2 "$seed")
	what="$name, seed $seed: $kind in $kernel ($what)"
	aoti-printer -q -o clean "$name.pt2" "$name.pt:in[0]" 2>/dev/null
	aoti-printer --json --diff clean wrong.pt2 "$name.pt:in[0]" >diff.json 2>/dev/null
	rm -rf clean
	first=$(jq -r 'if .first == null then "" else .calls[.first].kernel end' diff.json)
	if [ "$first" != "$kernel" ]; then
		skip "$what" "this objdump leads to a place that changes nothing"
		return
	fi
	kinds="$kinds $kind"
	exits "$what: status 1" 1 verify "$name" wrong.pt2 --no-more --json
	is "$what: only that kernel is named" "$(jq -r '[.runs[].findings[].kernel] | unique | join(" ")' out)" "$kernel"
	verify "$name" wrong.pt2 --no-more >text
	ok "$what: named in the text" grep -q "^$kernel (call [0-9]*, wrapper.cpp:[0-9]*) does not compute " text
}
if command -v objdump >/dev/null; then
	while read -r name seed; do mutant "$name" "$seed"; done <<-END
		norm 5
		norm 7
		attention 5
		attention 6
		attention 14
		state 1
		state 9
		loop 2
		loop 5
	END
	is "mutants of every kind were tested" "$(tr ' ' '\n' <<<"$kinds" | sort -u | xargs)" "bound comparison constant operator"
	python3 "$ROOT/tests/lib/mutate.py" loop.pt2 wrong.pt2 2 >/dev/null
	verify loop wrong.pt2 --no-more --json >out
	if [ "$(jq '.runs[0].findings | length' out)" -gt 0 ]; then
		is "a wrong kernel in a loop is found in each iteration" "$(jq -c '[.runs[0].findings[] | .node.name]' out)" \
			'["while_loop.0.layer_norm","while_loop.1.layer_norm","while_loop.2.layer_norm"]'
		like "the text reports it once, with all its calls" "$(verify loop wrong.pt2 --no-more | grep -c 'does not compute') $(verify loop wrong.pt2 --no-more)" "^1 .*and in calls 17, 21"
		cp wrong.pt2 turns.pt2
	else
		skip "turns" "this objdump leads to a place that changes nothing"
	fi
	# Wrong only for numbers that the model never computes.
	kernel=$(python3 "$ROOT/tests/lib/mutate.py" attention.pt2 wrong.pt2 29 | cut -f1)
	if verify attention wrong.pt2 -q --no-more && ! verify attention wrong.pt2 --json >out; then
		is "a kernel that is right for what the model computes is found alone" "$(jq -r '[.runs[] | select(.findings | length > 0) | .inputs[:13], .findings[].kernel] | unique | join(" ")' out)" \
			"$kernel kernels alone"
		like "the text says so" "$(verify attention wrong.pt2)" "called alone: ties and zeros, instead of what the model computed:.*$kernel \\(call [0-9]+, .* does not compute softmax"
	else
		skip "alone" "this objdump leads to a place that changes nothing"
	fi
	# Behind a kernel whose results are not in the graph, the finding says "or".
	gives=('cosine.pt:in[0]' 'cosine.pt:in[1]')
	kernel=$(python3 "$ROOT/tests/lib/mutate.py" cosine.pt2 wrong.pt2 11 | cut -f1)
	aoti-verify --no-more --json cosine.exported.pt2 wrong.pt2 "${gives[@]}" >out
	if [[ $kernel == *_0 ]] && jq -e '.runs[0].findings | length > 0' out >/dev/null; then
		is "a wrong kernel whose results match nothing is named beside its reader" "$(jq -c '.runs[0] | [.findings[0].or, (.calls[0].verdict), .outputs[0].explained]' out)" \
			'[[0],"open",true]'
		like "the text says or" "$(aoti-verify --no-more cosine.exported.pt2 wrong.pt2 "${gives[@]}")" "which +or cpp_fused_.*_0 \\(call 0, .*: what it wrote is not in the graph"
	else
		skip "or" "this objdump leads to a place that changes nothing"
	fi
	python3 "$ROOT/tests/lib/mutate.py" attention.pt2 wrong.pt2 6 >/dev/null
	exits "--error-exitcode" 42 verify attention wrong.pt2 -q --error-exitcode=42
	verify attention wrong.pt2 >text
	ok "the text has the user's line" grep -q '^ *line .*verify.py:[0-9]* in forward' text
	ok "the text has the worst element" grep -qE '^ *values .* elements differ; at \[[0-9, ]+\] got .*, expected ' text
else
	skip "mutants" "no objdump"
fi

# ---- dropout in training: the masks follow from the seeds that the package drew ----
exits "dropout in training: its masks are the package's" 0 verify dropout dropout.pt2 --json --no-more
is "its kernels are nodes, and nothing is unknown" "$(jq -c '.runs[0] | [(.calls[] | select(.verdict != "operator") | .verdict), (.outputs[] | .verdict), .unknown]' out)" \
	'["equal","equal","agrees",[]]'
python3 "$ROOT/tests/lib/rezip.py" dropout.exported.pt2 other.pt2 /models/model.json '"as_float": 0.3' '"as_float": 0.4'
exits "another probability than the graph's has no mask" 5 aoti-verify --json --no-more other.pt2 dropout.pt2 'dropout.pt:in[0]'
is "that node stays unknown, and why is said" "$(jq -c '.runs[0].unknown[0]' out)" '"dropout: it draws random numbers"'

# ---- a choice of calls is narrowed by running them again ----
gives=('scan.pt:in[0]' 'scan.pt:in[1]')
exits "a loop over rows" 0 aoti-verify --json --no-more scan.exported.pt2 scan.pt2 "${gives[@]}"
is "the compiler's own counter is verified with the others" "$(jq -c '.runs[0] | [.open, .wrong]' out)" "[0,0]"
python3 "$ROOT/tests/lib/rezip.py" scan.exported.pt2 other.pt2 /models/model.json torch.ops.aten.tanh.default torch.ops.aten.sigmoid.default
exits "another operator in its body" 1 aoti-verify --json --no-more other.pt2 scan.pt2 "${gives[@]}"
# Each turn goes on with a state that is no value of the graph. The first one does not: its row is wrong, and so is its kernel. The kernel behind the loop is right with the
# graph's last state in front of it.
is "the call of the first turn is named, alone" "$(jq -c '.runs[0].findings | map([.call, .node.name, .or, .or_from, .narrowed_from, .elements, .differ])' out)" \
	'[[4,"scan.y0",null,null,[4,8,12,16],15,15]]'
is "both outputs are explained by it" "$(jq -c '[.runs[0].outputs[] | [.verdict, .explained]]' out)" '[["differs",true],["differs",true]]'
is "the kernel behind the loop is not accused" "$(jq -c '[.runs[0].calls[] | select(.verdict == "wrong") | .call]' out)" '[4]'
like "the text says how it was found" "$(aoti-verify --no-more other.pt2 scan.pt2 "${gives[@]}")" "1 of 4 kernels wrong.*\(call 4, .* does not compute scan.y0.*narrowed +by running: calls 4, 8, 12 and 16 -> 4"
aoti-printer -q -i -o scanned scan.pt2 "${gives[@]}" 2>/dev/null
aoti-verify --json other.pt2 scanned >out
is "a dump cannot be run again: the choice stays" "$(jq -c '[.status, (.runs[0].findings | map(has("narrowed_from")) | any)]' out)" '[1,false]'
# A loop that ends too early: its rows are right as far as they go.
cat >short.py <<'E'
import re, subprocess, sys, zipfile
z = zipfile.ZipFile("scan.pt2")
(so,) = (n for n in z.namelist() if n.endswith(".so"))
code = bytearray(z.read(so))
open("scan.so", "wb").write(code)
text = subprocess.run(["objdump", "-d", "scan.so"], capture_output=True, text=True, check=True).stdout
m = re.search(r"\s((?:[0-9a-f]{2} )+)\s*\tcmpq\s+\$0x3,\(%r", text[text.index("<cpp_fused_lt_1>:"):])
at = code.find(bytes.fromhex(m[1])) + len(bytes.fromhex(m[1])) - 1
code[at] = 2
with zipfile.ZipFile("short.pt2", "w") as w:
    for n in z.namelist():
        w.writestr(n, bytes(code) if n == so else z.read(n))
E
if python3 short.py 2>/dev/null; then
	exits "a loop of one turn less" 1 aoti-verify --json --no-more scan.exported.pt2 short.pt2 "${gives[@]}"
	is "its condition is named, not its body and not what goes on from there" "$(jq -c '.runs[0].findings | map([.kernel, .narrowed_from])' out)" \
		'[["cpp_fused_lt_1",[4,8,12,13]]]'
	like "the text says what it did" "$(aoti-verify --no-more scan.exported.pt2 short.pt2 "${gives[@]}")" \
		"cpp_fused_lt_1 \(call 13, .* ends the loop before its last turn: scan"
else
	skip "a loop of one turn less" "no objdump"
fi

# ---- outputs, end to end ----
graph() { # graph NAME FROM TO: the exported program with an operator replaced, as other.pt2
	python3 "$ROOT/tests/lib/rezip.py" "$1.exported.pt2" other.pt2 /models/model.json "torch.ops.$2" "torch.ops.$3"
}
outputs() { jq -c '[.runs[0].outputs[] | [.name, .verdict]]' out; }
graph norm aten.clamp.default aten.clamp_not.default
exits "an operator is missing: what depends on it is open" 5 aoti-verify --json --no-more other.pt2 norm.pt2 'norm.pt:in[0]'
is "the other output is compared" "$(outputs)" '[["out0","open"],["out1","agrees"]]'
is "of the kernel that computes both, the other tensor is verified" "$(jq -c '.runs[0].calls[-1] | [.verdict, (.writes | map([.nodes, .verdict]))]' out)" \
	'["open",[[["mean"],"equal"],[[],"open"]]]'
like "the text counts both" "$(aoti-verify --no-more other.pt2 norm.pt2 'norm.pt:in[0]')" \
	"nothing wrong, but 1 of 3 kernels and 1 output could not be verified.*open +out0: its value in the graph is unknown"
exits "--partial" 0 aoti-verify -q --partial --no-more other.pt2 norm.pt2 'norm.pt:in[0]'
graph attention aten.softmax.int aten.softmax_not.int
exits "an unknown node opens only its kernel" 5 aoti-verify --json --no-more other.pt2 attention.pt2 'attention.pt:in[0]'
is "what depends on it is compared from the recorded value on" "$(jq -c '[.runs[0].calls[] | select(.verdict != "operator") | .verdict]' out)" '["equal","equal","open","equal","rounding"]'
like "the text says which" "$(aoti-verify --no-more other.pt2 attention.pt2 'attention.pt:in[0]')" "1 of 5 kernels could not be verified.*open +cpp_fused__softmax_.*its node cannot be computed"
graph attention aten.softmax.int mylib.op.default
exits "a custom operator of the graph" 5 aoti-verify --no-more other.pt2 attention.pt2 'attention.pt:in[0]'
like "the text says that its recorded value was taken" "$(cat out)" "softmax: mylib.op.default: its recorded value was taken"
# The user's own Python computes it. Its torch is a stand-in here; tests/live/ops.t has the real one.
export PYTHONPATH=$ROOT/tests/lib/opstorch PYTHONDONTWRITEBYTECODE=1
cat >ops.py <<'E'
import math
import torch

@torch.operator("mylib::op")
def op(x, dim):
    n, v = x.shape[dim], x.values()
    out = []
    for i in range(0, len(v), n):
        e = [math.exp(a - max(v[i:i + n])) for a in v[i:i + n]]
        out += [a / sum(e) for a in e]
    return torch.of(out, x.shape, x.dtype)
E
own() { aoti-verify --no-more --ops "$1" --python python3 other.pt2 attention.pt2 'attention.pt:in[0]' "${@:2}"; }
exits "--ops: computed by the user's Python, every kernel is compared" 0 own ops.py --json
is "--ops: what it computed" "$(jq -c '[.custom, (.runs[0] | .open, .unknown)]' out)" '[["mylib.op.default"],0,[]]'
like "--ops: the text says who computed it" "$(own ops.py)" "nothing wrong.*graph +mylib.op.default: computed by ops.py"
sed 's/sum(e) for/sum(e) * 1.5 for/' ops.py >more.py
exits "--ops: an operator that computes something else" 1 own more.py -q
unset PYTHONPATH
if command -v objdump >/dev/null && python3 "$ROOT/tests/lib/mutate.py" attention.pt2 unknown.pt2 6 | grep -q '^cpp_fused__softmax'; then
	aoti-verify --json --no-more other.pt2 unknown.pt2 'attention.pt:in[0]' >out 2>/dev/null
	is "if that kernel is wrong, none behind it is named" "$(jq -c '[.status, (.runs[0].findings | length)]' out)" '[5,0]'
fi
python3 "$ROOT/tests/lib/rezip.py" vision.exported.pt2 other.pt2 /models/model.json '"name": "start_dim", "arg": {"as_int": 1}' '"name": "start_dim", "arg": {"as_int": 2}'
exits "outputs of another size than in the graph" 1 aoti-verify --json --no-more other.pt2 vision.pt2 'vision.pt:in[0]'
is "they differ, also where each kernel is right" "$(jq -c '[.status, ([.runs[0].outputs[] | select(.verdict == "differs") | [.name, .explained]])]' out)" '[1,[["out0",false]]]'
like "the text says which output" "$(aoti-verify --no-more other.pt2 vision.pt2 'vision.pt:in[0]')" "1 output differs from the graph.*out0 differs from the graph: flatten .*which +cpp_fused_"
graph norm aten.square.default aten.abs.default
exits "a graph that computes something else" 1 aoti-verify --json --no-more other.pt2 norm.pt2 'norm.pt:in[0]'
is "the output that differs is explained by the kernel" "$(jq -c '[.runs[0].outputs[] | select(.verdict == "differs") | [.name, .explained]]' out)" '[["out1",true]]'
exits "a mutated buffer is an output, too" 1 verify state state.pt2 --json --no-more
is "each buffer is compared, in both calls" "$(jq -c '[.runs[].outputs | map(select(.kind == "buffer")) | map(.verdict) | sort]' out)" \
	'[["agrees","agrees","agrees","agrees"],["agrees","agrees","agrees","differs"]]'

# ---- node by node, with aoti-printer --diff ----
exits "aoti-printer --diff of a graph" 0 aoti-printer --json --diff norm.exported.pt2 norm.pt2 'norm.pt:in[0]'
is "each tensor that a kernel wrote has its node" "$(jq -c '[.nodes[] | select(.kernel) | [.call, .node]]' out)" \
	'[[0,"layer_norm"],[1,"linear"],[2,"gelu"],[3,"linear_1"],[4,"mean"],[4,"clamp"]]'
ok "nearer names the side with the smaller error" jq -e 'def who: if .compiled_ulp < .eager_ulp * 0.99 then "compiled"
	elif .eager_ulp < .compiled_ulp * 0.99 then "eager" else "alike" end; [.nodes[] | select(.kernel)] | all(.nearer == who)' out
is "nearer counts add up" "$(jq -c '.nearer | add' out)" 6
is "nodes inside kernels have eager's error" "$(jq -c '[.nodes[] | select(.kernel | not) | has("eager_ulp")] | [length, all]' out)" "[5,true]"
exits "--diff of a graph, as text" 0 aoti-printer --diff norm.exported.pt2 norm.pt2 'norm.pt:in[0]'
like "the text has a column for it" "$(cat out)" "closer to float64"
ok "the text has a line for each node" grep -qE "^ *3 +aoti_torch_cpu_addmm_out +linear_1 +[0-9.]+ +[0-9.]+ +(eager|compiled|alike)$" out
aoti-printer -a --diff norm.exported.pt2 norm.pt2 'norm.pt:in[0]' >all
is "-a also shows nodes inside kernels" "$(grep -c 'inside a kernel' all)" 5
exits "--diff of a graph with zero tolerance" 1 aoti-printer -q --rtol 0 --atol 0 --diff norm.exported.pt2 norm.pt2 'norm.pt:in[0]'
exits "--diff of a graph with -k" 0 aoti-printer --json -k '*gelu*' --diff norm.exported.pt2 norm.pt2 'norm.pt:in[0]'
is "-k selects kernels" "$(jq -c '[.nodes[] | select(.kernel) | .node]' out)" '["gelu"]'
if [ -e wrong.pt2 ]; then
	exits "--diff of a graph with a wrong kernel" 1 aoti-printer --json --diff attention.exported.pt2 wrong.pt2 'attention.pt:in[0]'
	is "values differ from that node on, and eager is closer to float64" "$(jq -c '[.nodes[] | select(.differs)] | [.[0].node, all(.nearer == "eager")]' out)" '["softmax",true]'
	exits "--error-exitcode with a wrong kernel" 42 aoti-printer -q --error-exitcode=42 --diff attention.exported.pt2 wrong.pt2 'attention.pt:in[0]'
	like "the text names the first node that differs" "$(aoti-printer --diff attention.exported.pt2 wrong.pt2 'attention.pt:in[0]')" "First difference: node softmax"
fi
aoti-printer -q -i -o diffed norm.pt2 'norm.pt:in[0]' 2>/dev/null
exits "--diff of a graph with a dump" 0 aoti-printer --json --diff norm.exported.pt2 diffed
is "a dump has the same nodes" "$(jq -c '[.nodes[] | select(.kernel) | .node]' out)" '["layer_norm","linear","gelu","linear_1","mean","clamp"]'
exits "--diff of the graph in a trace" 0 aoti-printer -q --diff "$DATA/aoti/verify/norm.log" norm.pt2 'norm.pt:in[0]'
exits "--diff of a graph conflicts with -- COMMAND" 2 aoti-printer --diff norm.exported.pt2 -- true
exits "--diff of a graph conflicts with --html" 2 aoti-printer --html=p.html --diff norm.exported.pt2 norm.pt2 'norm.pt:in[0]'
exits "--diff with the graph of another package" 3 aoti-printer --diff norm.exported.pt2 attention.pt2 'attention.pt:in[0]'
exits "--diff of a file that is not a graph" 3 aoti-printer --diff norm.pt norm.pt2 'norm.pt:in[0]'
exits "--diff of a graph with random numbers" 0 aoti-printer --diff noise.exported.pt2 noise.pt2 'noise.pt:in[0]'
like "random nodes are listed as unknown" "$(cat out)" "unknown: .*random numbers"

# ---- no verdict ----
exits "random numbers cannot be verified" 5 verify noise
like "the text says that the node is random" "$(cat out)" "rand_like: it draws random numbers"
exits "--partial: exit 0 although kernels are unverified" 0 verify noise noise.pt2 --partial -q
python3 "$ROOT/tests/lib/rezip.py" norm.exported.pt2 spoilt.pt2 /models/model.json torch.ops.aten.gelu.default torch.ops.aten.gelu_not.default
run aoti-verify spoilt.pt2 norm.pt2 'norm.pt:in[0]'
like "an unknown operator is left unverified or refused by name" "$status $(cat out err)" "^[45] .*gelu_not"

# ---- dumps ----
aoti-printer -q -i -o dump attention.pt2 'attention.pt:in[0]' 2>/dev/null
exits "a dump instead of a model" 0 aoti-verify --json attention.exported.pt2 dump
is "a dump has the same verdicts" "$(jq -c '[.runs[0].calls[].verdict]' out)" "$(verify attention attention.pt2 --json | jq -c '[.runs[0].calls[].verdict]')"
exits "a dump with other inputs" 2 aoti-verify attention.exported.pt2 dump 'attention.pt:in[0]'
like "the message says that a dump has its own inputs" "$(cat err)" "with its own inputs: give no other inputs"
aoti-printer -q -o bare attention.pt2 'attention.pt:in[0]' 2>/dev/null
exits "a dump without inputs" 3 aoti-verify attention.exported.pt2 bare
like "the message says how to save inputs" "$(cat err)" "inputs"
cp -r dump cut && truncate -s 100 "$(find cut -name '*after*.npy' | sort | head -1)"
run aoti-verify attention.exported.pt2 cut
like "a damaged tensor is named" "$status $(cat err)" "^3 .*\.npy"
cp -r dump bent && sed -i '3s/"values":\[/"values":[[/' bent/calls.jsonl
exits "a damaged index" 3 aoti-verify attention.exported.pt2 bent
like "the damaged index is named" "$(cat err)" "calls.jsonl"

# ---- no exported program was kept: the graph of the compilation's trace ----
T=$DATA/aoti/verify
exits "the graph in a trace" 0 aoti-verify --json "$T/norm.log" norm.pt2 'norm.pt:in[0]'
is "a trace: the same inputs are tested" "$(jq -c '[.runs[].inputs]' out)" "$(jq -c '[.runs[].inputs]' norm.json)"
is "a trace: the same verdict for each call" "$(jq -c '[.runs[0].calls[] | [.kernel, .verdict]]' out)" "$(jq -c '[.runs[0].calls[] | [.kernel, .verdict]]' norm.json)"
exits "a trace: a model with state" 1 aoti-verify --json "$T/state.log" state.pt2 'state.pt:in[0]'
is "a trace: changed buffers are checked" "$(jq -c '[.runs[] | select(.findings | length > 0) | [.run, .findings[0].got, .findings[0].want]][0]' out)" "[1,1,2]"
exits "--graph selects another graph of the trace" 0 aoti-verify --graph -/-:inductor_post_grad_graph "$T/norm.log" norm.pt2 'norm.pt:in[0]'
exits "--graph with an unknown name" 2 aoti-verify --graph -/-:no_graph "$T/norm.log" norm.pt2 'norm.pt:in[0]'
like "the message lists the graphs" "$(cat err)" "before_joint_graph"
exits "a graph that takes the weights as inputs" 3 aoti-verify --graph -/-:aot_inference_graph "$T/norm.log" norm.pt2 'norm.pt:in[0]'
aoti-printer -q -i -o taken norm.pt2 'norm.pt:in[0]' 2>/dev/null
exits "a dump and a trace, without weights" 2 aoti-verify "$T/norm.log" taken
like "the message names --weights" "$(cat err)" "--weights"
exits "a dump and a trace, with --weights" 0 aoti-verify --weights norm.exported.pt2 "$T/norm.log" taken
exits "--weights of another model" 3 aoti-verify --weights attention.exported.pt2 "$T/norm.log" taken
exits "pt2-run runs the graph of a trace with --weights" 0 pt2-run -q -o traced.npz --weights norm.exported.pt2 "$T/norm.log" 'norm.pt:in[0]'
pt2-run -q -o exported.npz norm.exported.pt2 'norm.pt:in[0]'
tensors traced.npz >traced.txt
tensors exported.npz >exported.txt
ok "pt2-run: the outputs equal those of the exported program" close traced.txt exported.txt
exits "pt2-run of a trace without --weights" 2 pt2-run "$T/norm.log" 'norm.pt:in[0]'
like "pt2-run: the message names --weights" "$(cat err)" "--weights=FILE"

# ---- plain torch.compile: a training step that aoti-printer saved, and its trace (scripts/fixtures/jit_step.py) ----
tar -xJf "$ROOT/tests/data/jit/step.tar.xz"
for graph in forward backward; do
	exits "the $graph graph of a training step" 0 aoti-verify --json --graph "0/0:aot_${graph}_graph" step.log step
	is "$graph: each kernel of both steps is verified" "$(jq -c '[(.runs | length), (.runs | map(.wrong + .open) | add), (.runs | map(.rounding) | min > 1)]' out)" \
		"[2,0,true]"
done
like "lines are of the generated Python" "$(jq -r '.runs[0].calls[0] | "\(.source):\(.line)"' out)" '\.py:[0-9]+$'
exits "-m selects a graph of the dump" 0 aoti-verify -q -m 0_backward --graph 0/0:aot_backward_graph step.log step
exits "-m selects the wrong graph" 3 aoti-verify -q -m 0_forward --graph 0/0:aot_backward_graph step.log step
exits "-m with a graph that did not run" 2 aoti-verify -q -m 7_forward --graph 0/0:aot_backward_graph step.log step
changed=$(find step -name 'm1.r000001.*.after.cpp_fused_gelu_*buf*.npy' | sort | head -1)
kernel=$(sed -E 's/.*after\.(cpp_[^.]*)\..*/\1/' <<<"$changed")
python3 - "$changed" <<'EOF'
import struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(-4, 2)
    value = struct.unpack("<f", f.read(4))[0]
    f.seek(-4, 2)
    f.write(struct.pack("<f", value + 0.5))
EOF
exits "a changed number in the second backward is found" 1 aoti-verify --json --graph 0/0:aot_backward_graph step.log step
is "it is reported for its kernel only" "$(jq -c '[.runs[] | [.findings[].kernel]]' out)" "[[],[\"$kernel\"]]"

# torch 2.13.0 leaves the sum of the gradients out of the generated code: the weights before the pool get zeros (scripts/fixtures/jit_pool.py).
tar -xJf "$ROOT/tests/data/jit/pool.tar.xz"
exits "a backward graph that torch 2.13.0 miscompiles" 1 aoti-verify --json --graph 0/0:aot_backward_graph pool.log pool
is "its kernel, node and value are reported" "$(jq -c '.runs[0].findings | map([(.kernel | test("max_pool2d_with_indices_backward")), .node.name, .got])' out)" \
	'[[true,"where",0]]'
exits "its forward graph is correct" 0 aoti-verify --json --graph 0/0:aot_forward_graph pool.log pool
is "a kernel that copies weights for others is verified" "$(jq -c '[.runs[0].calls[].verdict]' out)" '["equal","operator","equal","operator"]'

# ---- less than float32, as the program's settings allow (scripts/fixtures/jit_precision.py: products of operands with 10 bits) ----
tar -xJf "$ROOT/tests/data/jit/precision.tar.xz"
like "the dump has torch's settings" "$(jq -r 'select(.kind == "run").precision' precision/calls.jsonl)" \
	'^float32_matmul=medium .*cudnn.allow_tf32=1 .*mkldnn.matmul.fp32=bf16 .*fp16_accumulation=0$'
settings() { # settings FOLDER DEVICE [WORD=VALUE...]: the same dump, as another device and other settings would have made it
	local folder=$1 device=$2 word
	shift 2
	cp -r precision "$folder"
	sed -i "s/\"device\":\"cpu\"/\"device\":\"$device\"/g" "$folder/calls.jsonl"
	for word; do
		case $word in
			none) sed -i 's/"precision":"[^"]*",//' "$folder/calls.jsonl" ;;
			*) sed -i "s/\b${word%%=*}=[a-z0-9]*/$word/" "$folder/calls.jsonl" ;;
		esac
	done
}
reduced() { jq -c '[.status, (.runs[0].calls | map(.precision // empty)), (.runs[0].findings | map(.what))]' out; }
exits "products in bfloat16 on a CPU, after medium" 0 aoti-verify --json --graph 0/0 precision.log precision
is "they are recognised, kernels are compared from there on" "$(reduced)" '[0,["bfloat16","bfloat16"],[]]'
settings highest cpu float32_matmul=highest mkldnn.matmul.fp32=ieee
exits "the same numbers where float32 was set" 1 aoti-verify --json --graph 0/0 precision.log highest
is "nothing is excused" "$(reduced)" '[1,[],["arguments","arguments"]]'
settings norecord cpu none
exits "the same numbers on a CPU, without a record" 1 aoti-verify -q --graph 0/0 precision.log norecord
settings cuda cuda:0
exits "in TF32 on a GPU" 0 aoti-verify --json --graph 0/0 precision.log cuda
is "products in TF32 are recognised" "$(reduced)" '[0,["tf32","tf32"],[]]'
settings ieee cuda:0 cuda.matmul.fp32=ieee
exits "the same numbers on a GPU where TF32 was off" 1 aoti-verify -q --graph 0/0 precision.log ieee
settings unknown cuda:0 none
exits "in TF32 on a GPU, without a record" 0 aoti-verify --graph 0/0 precision.log unknown
like "the text says so" "$(cat out)" "2 matrix products .*in TF32: .*That it was on is not recorded"
like "with a record it does not" "$(aoti-verify --graph 0/0 precision.log cuda)" "which is all that TF32 keeps *$"

# ---- what it found is fxminify's first guess ----
jq '.runs[0].findings = [{node: {name: "gelu"}}]' norm.json >found.json
tests_of() { # tests_of [OPTION...]: how many it took to leave one operation
	exits "fxminify $*" 0 fxminify -l 4 -p nodes -j 1 -t "grep -q gelu" --no-journal -o small.json "$@" norm.exported.pt2
	like "one operation remains" "$(cat err)" "1 of 11 operations"
	n=$(sed -n 's/.*in small.json; \([0-9]*\) tests.*/\1/p' err)
}
tests_of
without=$n
tests_of --verified found.json
like "fxminify names what it suspects" "$(cat err)" "suspects   gelu, .*found by aoti-verify"
ok "--verified needs fewer tests ($n, not $without)" test "$n" -lt "$without"
sed 's/"gelu"/"of_another"/' found.json >other.json
exits "--verified of another graph" 3 fxminify -l 4 -t true --verified other.json norm.exported.pt2
like "the message names the unknown node" "$(cat err)" "at node 'of_another', which this graph does not have"
for text in '{}' '[' ''; do
	printf %s "$text" >bad.json
	exits "--verified of '$text'" 3 fxminify -l 4 -t true --verified bad.json norm.exported.pt2
done

# ---- what is refused ----
run aoti-verify norm.exported.pt2 attention.pt2 'attention.pt:in[0]'
like "the graph of another package gives no verdict" "$status" '^[35]$'
exits "no model" 2 aoti-verify norm.exported.pt2
exits "a file that is not a graph" 3 aoti-verify norm.pt norm.pt2 'norm.pt:in[0]'
exits "a missing file" 3 aoti-verify no.pt2 norm.pt2 'norm.pt:in[0]'
exits "--quiet conflicts with --json" 2 verify norm norm.pt2 --quiet --json
exits "--all conflicts with --json" 2 verify norm norm.pt2 --all --json
exits "--runs 0" 2 verify norm norm.pt2 --runs 0
mkdir private
TMPDIR=$PWD/private run verify norm norm.pt2 -q
is "no private folder remains" "$(ls private)" ""
done_testing
