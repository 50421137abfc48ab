#!/bin/bash
# tlparse --diff: graphs compared as graphs, and what Inductor made of them.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"

edit() { PYTHONPATH=$ROOT/tests/lib python3 "$ROOT/tests/lib/edit_log.py" "$@"; }
diff_json() { run tlparse --diff --json "$@"; }
ask() { jq -r "$1" out; }

# ---- renamed and reordered copies ----
copies=0
for name in models big mix training dynamic compiled_autograd custom_op; do
	edit "$DATA/$name.log" '
import sys, mangle_graph
new = mangle_graph.mangle(text, n) if text and "def forward(" in text else None
if new is not None:
    text = new
    print("copied", file=sys.stderr)
' >copy.log 2>copied
	n=$(wc -l <copied)
	copies=$((copies + n))
	diff_json "$DATA/$name.log" copy.log
	is "$name: $n graphs renamed and reordered are no difference" "$status $(ask '.counts | "\(.texts) \(.graphs) \(.fusions)"')" "0 0 0 0"
	is "$name: they are counted" "$(ask '[.logs[].graphs_alike] | add > 0')" true
done
ok "copies of at least 20 graphs" test "$copies" -ge 20

# ---- one change in a renamed and reordered copy ----
# planted LOG RECORD ARGUMENTS: of the first graph of that kind.
planted() {
	edit "$DATA/$1.log" "
import mangle_graph
if '$2' in env and env.get('frame_id') == 0 and env.get('frame_compile_id') == 0:
    text = mangle_graph.mangle(text, 7, $3)
" >planted.log
	diff_json "$DATA/$1.log" planted.log
}
own='.logs[0].graphs[] | "\(.own) \([.changes[] | select(.follows == null) | "\(.how) \(.before_node) \(.before) \(.after)"] | join(", "))"'
planted training aot_forward_graph 'remove="relu"'
like "a node that is gone" "$(ask "$own")" '^1 removed relu aten.relu.default\(addmm\) null$'
is "what reads its input now follows from it" "$(ask '[.logs[0].graphs[0].changes[] | select(.follows == 0) | .how] | unique | join(" ")')" "inputs"
planted training aot_forward_graph 'edit={"relu": (r"aten\.relu\.default", "aten.gelu.default")}'
is "another operator" "$(ask "$own")" "1 target relu aten.relu.default aten.gelu.default"
is "its place in the program" "$(ask '.logs[0].graphs[0].changes[0].location.line > 0')" false
planted training aot_forward_graph 'edit={"relu": (r"f32\[", "f16[")}'
is "another dtype" "$(ask "$own")" "1 dtype relu float32 float16"
planted training aot_forward_graph 'edit={"relu": (r"(\]\[)\d+, 1\]", r"\g<1>1, 2]")}'
like "other strides" "$(ask "$own")" '^1 stride relu \[[0-9]+, 1\] \[1, 2\]$'
planted training aot_forward_graph 'edit={"relu": (r"f32\[2, ", "f32[64, ")}'
like "another shape" "$(ask "$own")" '^1 shape relu \[2, 16\] \[64, 16\]$'
planted models aot_forward_graph 'edit={"var_mean": (r"correction = 0", "correction = 1")}'
is "another argument" "$(ask "$own")" "1 constants var_mean correction=0 correction=1"
planted models aot_forward_graph 'remove="relu"'
is "many nodes, one change" "$(ask '.logs[0].graphs[0] | "\(.own) \(.before_nodes - .after_nodes) \(.reordered) \(.renamed > 10)"')" "1 1 true true"

# ---- kernels ----
mkdir before after
cp "$DATA/fusion/before.log" before
cp "$DATA/fusion/after.log" "$ROOT/tests/data/traces/fusion/after.txt" after
diff_json before after
is "kernels before and after" "$(ask '.logs[0].fusions[0] | "\(.before_kernels) \(.after_kernels) \(.before_operators) \(.after_operators)"')" "2 3 1 2"
is "a kernel that is new" "$(ask '.logs[0].fusions[0].changes[0] | "\(.how) \(.after[0].kernel) \(.reason)"')" "new torch.ops.my.opaque.default opaque was added"
is "what was fused, and is not" "$(ask '.logs[0].fusions[0].changes[1] | .how, ((.before, .after)[] | .nodes | join(" "))')" \
	"$(printf '%s\n' regrouped mean "sin mul cos add relu sub exp sum_1 tanh sum_2 add_1" "sin mul mean" "cos add relu sub" "exp sum_1 tanh sum_2 add_1")"
like "why: torch's fusion log beside the trace" "$(ask '.logs[0].fusions[0].changes[1] | "\(.logged) \(.reason)"')" \
	'^true torch did not fuse cpp_fused_mean_mul_opaque_sin_0 with cpp_fused_add_cos_mean_relu_sub_1: intermediate nodes between node1 & node2; opaque was added$'
diff_json before after/after.log
is "without the log: what changed there" "$(ask '.logs[0].fusions[0].changes[1] | "\(.logged) \(.reason)"')" "false opaque was added"
if command -v script >/dev/null; then
	script -qec "tlparse --diff before after" /dev/null >out </dev/null
	like "on a terminal: nodes" "$(tr -d '\r' <out)" 'dynamo_output_graph: 16 -> 17 nodes: 1 added; 1 follows'
	like "on a terminal: kernels" "$(tr -d '\r' <out)" '\[0/0\] 2 -> 3 kernels, 1 -> 2 calls of operators'
else
	skip "on a terminal: nodes and kernels" "script is not installed"
fi
run tlparse --diff before after --html=page.html
like "the page has the drawings" "$(cat page.html)" '"drawing":\{"block":[0-9]+'
run tlparse --diff "$DATA/recompiles.log" "$DATA/recompiles.log" --html=small.html
unlike "a page without graphs has no script for them" "$(cat small.html)" 'pt2graph'
done_testing
