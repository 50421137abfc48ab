#!/bin/bash
# Kinds of records for which the peer's main branch (0.4.8) has test inputs of its own, and which no run here wrote: such inputs, rebuilt. All of them are
# synthetic. Regions as torch 2.15 names them are in json.t, vLLM's other records too.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

line=0
# record PREFIX FIELDS [PAYLOAD] : of compile id 0/0
record() {
	line=$((line + 1))
	printf 'V0429 16:46:%02d.000000 42 torch/%s:1] {%s, "frame_id": 0, "frame_compile_id": 0, "attempt": 0' "$line" "$1" "$2"
	[ $# -lt 3 ] || printf ', "has_payload": "%s"' "$(printf %s "$3" | md5sum | cut -d' ' -f1)"
	printf '}\n'
	[ $# -lt 3 ] || printf '%s\n' "$3" | sed 's/^/\t/'
}

# Regions with names of the two forms that Inductor gives them, and an artifact of none.
{
	record _dynamo/output_graph.py '"artifact": {"name": "whole", "encoding": "string"}' 'of no region'
	record _inductor/compile_fx.py '"artifact": {"name": "fx_graph_runnable", "encoding": "string"}, "subgraph_name": "repeated_subgraph0"' 'region A'
	record _inductor/compile_fx.py '"artifact": {"name": "fx_graph_runnable", "encoding": "string"}, "subgraph_name": "partitioned_bw_subgraph_1_0"' 'region B'
} >regions.log
exits "regions: the directory" 0 tlparse regions.log -o regions
is "... a folder for each" "$(cd regions/-_0_0_0 && find . -type f | sort | tr '\n' ' ')" \
	"./partitioned_bw_subgraph_1_0/fx_graph_runnable_2.txt ./repeated_subgraph0/fx_graph_runnable_1.txt ./whole_0.txt "
is "... with what was written in it" "$(cat regions/-_0_0_0/*/fx_graph_runnable_[12].txt)" "region Bregion A"
exits "regions: the page" 0 tlparse --html=regions.html regions.log
is "... has their names" "$(python3 -c '
import sys
sys.path.insert(0, "'"$ROOT"'/tests/lib")
import report
p = report.Page(open("regions.html", "rb").read())
print(*("%s:%s" % (n, s) for n, s in zip(p.model["logs"][0]["artifacts"]["name"], p.model["logs"][0]["artifacts"]["subgraph"])))')" \
	"whole:None fx_graph_runnable:repeated_subgraph0 fx_graph_runnable:partitioned_bw_subgraph_1_0"

# What a run remembered for the next one: JSON, or whatever is not.
{
	record _inductor/runtime/caching.py '"memoizer_artifacts": {}' '{"choices": {"mm": 3}}'
	record _inductor/runtime/caching.py '"memoizer_artifacts": {"version": 2}' 'not json'
} >memoizer.log
exits "memoizer: the directory" 0 tlparse memoizer.log -o memoizer
is "... JSON as JSON, a text as a text" "$(cd memoizer/-_0_0_0 && find . -type f | sort | tr '\n' ' ')" "./memoizer_artifacts_0.json ./memoizer_artifacts_1.txt "
is "... in order" "$(jq -r 'if .choices.mm == 3 then "MM" else . end' memoizer/-_0_0_0/memoizer_artifacts_0.json) $(cat memoizer/-_0_0_0/memoizer_artifacts_1.txt)" "MM not json"
exits "memoizer: no unknown key" 0 tlparse --json memoizer.log
is "... is reported" "$(jq -c '[.unknown_keys, .summary.unknown_keys, .summary.artifacts]' out)" "[[],0,2]"

# Passes of vLLM, with what they look for, but without the compilations that they belong to.
{
	record foo.py '"graph_dump": {"name": "vllm_patterns.FusionPass"}' 'def pattern_0(): ...'
	record foo.py '"artifact": {"name": "before_post_grad_graph", "encoding": "string"}' $'def forward(self, x):\n    a = sin(x)\n    b = cos(x)\n    return a + b'
	record foo.py '"graph_dump": {"name": "vllm_post_grad.0.FusionPass"}' $'def forward(self, x):\n    f = sincos(x)\n    return f'
	record foo.py '"graph_dump": {"name": "vllm_post_grad.1.ReshapePass"}' $'def forward(self, x):\n    f = sincos(x)\n    y = f.reshape(-1)\n    return y'
} >passes.log
exits "passes without their compilation" 0 tlparse --json passes.log
is "... each against the graph before it" "$(jq -c '[.vllm_passes[] | [.name, .index, .added, .removed, .piece]]' out)" '[["FusionPass",0,2,3,0],["ReshapePass",1,2,1,0]]'
is "... and the patterns as a text of its own" "$(jq -c '[.vllm_texts[].name]' out)" '["patterns of FusionPass"]'
exits "... in the directory" 0 tlparse passes.log -o passes
is "... a file for each" "$(cd passes/-_0_0_0 && find . -type f | sort | tr '\n' ' ')" \
	"./before_post_grad_graph_1.txt ./vllm_patterns.FusionPass_0.txt ./vllm_post_grad.0.FusionPass_2.txt ./vllm_post_grad.1.ReshapePass_3.txt "
done_testing
