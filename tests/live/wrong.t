#!/bin/bash
# fxexplain run --wrong on real programs: a wrong kernel, state that was lost, a check that is wrong itself.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
command -v g++ >/dev/null || skip_all "no g++"
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$TMP/cache
wrong() { run fxexplain run --wrong --json -o wrong.json -q -- "$python" "$ROOT/tests/live/wrong/$1.py"; }
json() { jq -r "$1" wrong.json; }

wrong kernel
is "a wrong kernel: status, component, stage, eager" "$status $(json '[.component, .stage, .eager, .basis] | join(", ")')" "1 inductor, inductor, passes, seen"
is "the graph at fault" "$(json '.fault | [.compile_id, .graph, .model, .node, (.location.file | split("/") | last), .location.line] | join(" ")')" \
	"0/0 aot_inference_graph 0_inference sum_1 kernel.py 11"
is "its inputs are files" "$(json '.fault.inputs[].file' | while read -r f; do test -s "$f" && echo there; done | xargs)" "there there"
trace=$(json .fault.trace) dump=$(json .fault.dump)
exits "the printed command finds it again" 1 aoti-verify --graph 0/0:aot_inference_graph --model 0_inference "$trace" "$dump"
wrong lost
is "lost state: status, component, stage, eager" "$status $(json '[.component, .stage, .eager, .basis] | join(", ")')" "1 dynamo, eager, passes, seen"
is "which" "$(json '.lost[] | [.what, .eager, .compiled, .call] | join(" ")')" "'counter.calls' 1 0 1"
is "no graph is accused" "$(json .fault)" null
wrong own
is "a check that is wrong: eager fails it, too" "$status $(json '[.component, .stage, .eager] | map(. // "-") | join(", ")')" "1 eager, -, same failure"
done_testing
