#!/bin/bash
# Which compilation a record is of, when compile ids come again: after torch._dynamo.reset(), in a log that was appended to another, and with two
# processes in one file (tests/data/traces/identity). Both tools against a counter that shares no code with them, and that against what torch knew.
# shellcheck source=tests/lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"

for truth in "$ROOT"/tests/data/traces/identity/*.truth.json; do
	name=$(basename "$truth" .truth.json)
	is "$name: the counter finds what torch knew of each record, and what is known by hand" \
		"$(python3 "$ROOT/tests/lib/count_trace.py" --truth "$DATA/identity/$name.log" "$truth")" true
done
# In containers every process has the same pid; and a log whose beginning is lost has no reset because of that.
pid() { jq ".[$1].pid" "$ROOT/tests/data/traces/identity/twice.truth.json"; }
sed "s/^\(V[^ ]* [^ ]*\) $(pid 1) /\1 $(pid 0) /" "$DATA/identity/twice.log" >container.log
sed -n '/"frame_id": 2, /,$p' "$DATA/graph_breaks.log" >cut.log
python3 "$ROOT/tests/lib/count_trace.py" "$DATA"/*.log "$DATA"/ranks*/*.log "$DATA"/identity/*.log "$PWD"/*.log >counted.jsonl
# rows LOG JQ
rows() { jq -r "select(.path | endswith(\"/$1.log\")) | .rows | $2" counted.jsonl; }
is "one pid for both: two processes all the same" "$(rows container 'map(.[0]) | unique | length'; rows container length)" "2
16"
is "the beginning is lost: no reset" "$(rows cut 'map(.[1]) | unique | length')" 1
is "a test suite: 8 compilations of 6 models" "$(rows identity/suite 'map(.[3]) | "\(length) of \(unique | length)"')" "8 of 6"

numbers='.summary as $s | ($s | {compiles, frames, restarts, recompiles, graph_breaks, failures, graphs, cache: (.cache | {fx_graph, aotautograd} | map_values({hit, miss}))})
	+ {symbols: (.symbols | length), specializations: ($s.specializations // (.specializations | length))}'
# Of which function each break is: of that which the compilation is of.
breaks='. as $d | [$d.graph_breaks[] | select(.inferred | not) | [$d.compiles[.compile].location.function, .location.line]] | sort'
# What is held against what, in pairs: of a document, of what was counted ($c).
pairs="($numbers), \$c.numbers,
	([.compiles[] | select(.frame_id != null) | [.process, .generation, .id]] | sort), ([\$c.rows[] | .[:3] | select(.[2] | test(\"/\"))] | sort),
	($breaks), ([\$c.rows[] | .[3] as \$f | .[5][] | [\$f, .]] | sort),
	([.symbols[].location | values | [.file, .line]] | sort), (\$c.symbols // [] | sort)"
while read -r counted && read -r log; do
	name=${log#"$DATA/"} name=${name#"$PWD/"} name=${name%.log}
	for tool in tlparse fxexplain; do
		$tool -q --json "$log" >out.json 2>err
		mapfile -t p < <(jq -n -c --argjson c "$counted" "input | $pairs" out.json 2>&1)
		[ ${#p[@]} = 8 ] || p=("${p[*]}" '' none '' none '' none '')
		is "$name: $tool counts what is there" "${p[0]}" "${p[1]}"
		is "$name: $tool has the same compilations" "${p[2]}" "${p[3]}"
		is "$name: $tool: each break is its own function's" "${p[4]}" "${p[5]}"
		[[ $name != identity/* ]] || is "$name: $tool: symbols are in the files that their process named" "${p[6]}" "${p[7]}"
	done
done < <(jq -r 'tojson, .path' counted.jsonl)

# What is exported has metrics without an id: after those it takes no late backward that has the same id.
at() { echo "V1121 10:00:00.$1 77 torch/x.py:1] {$2, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0}"; }
{
	at 000001 '"dynamo_start": {"stack": [{"line": 3, "name": "f", "filename": 0}]}'
	at 000002 '"aot_backward_graph": {}'
	at 000003 '"compilation_metrics": {"co_name": "f", "compile_id": "0/0"}'
	at 000004 '"dynamo_output_graph": {"sizes": {}}'
	echo 'V1121 10:00:00.000005 77 torch/x.py:1] {"compilation_metrics": {"compile_id": null}}'
	at 000006 '"bwd_compilation_metrics": {"compile_id": "0/0", "inductor_compile_time_s": 0.5, "is_forward": false}'
} >exported.log
is "a backward that comes after an export is its forward's" "$(tlparse -q --json exported.log | jq -c '[.compiles[] | [.generation, .id, .backward_seconds]]')" \
	'[[0,"0/0",0.5],[1,"0/0",null]]'

# A text: tracings that begin anew; where only recompilations are logged, those.
xz -dc "$ROOT/tests/data/logs/logs.log.xz" >text.log
is "a text, too" "$(fxexplain -q --json text.log | jq -c '[.compiles[] | select(.id == "0/0" or .id == "1/0") | [.generation, .label, .location.function]]')" \
	'[[0,"0/0","chatty"],[0,"1/0","shout"],[1,"0/0 (2nd)","positive"],[1,"1/0 (2nd)","fixed"]]'
like "and says so" "$(fxexplain text.log)" "dynamo was reset at least once"
said() { echo "V1121 10:00:0$1.000000 $2 torch/_dynamo/guards.py:5396] [$3] [__recompiles] Recompiling function $4 in /app/m.py:$5"; }
{ said 1 77 0/1 f 3 && said 2 77 0/2 f 3 && said 3 78 0/1 g 9 && said 4 77 0/1 h 12; } >recompiles.txt
is "a text of recompilations, of two processes" "$(fxexplain -q --json recompiles.txt | jq -c '[.compiles[] | [.process, .generation, .id, .location.function]]')" \
	'[[0,0,"0/1","f"],[0,0,"0/2","f"],[1,0,"0/1","g"],[0,1,"0/1","h"]]'
done_testing
