#!/bin/bash
# The document (docs/formats/COMPILATION.md, docs/formats/REPORT.md): its schema on every log, its numbers against those counted by hand, and the same facts
# whatever way a log is read.
# shellcheck source=tests/lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
readme=$ROOT/tests/data/README.md

# ---- every recorded log: the schema, README's table, the directory report ----
for log in "$DATA"/*.log "$DATA"/ranks*/*.log; do
	name=$(realpath --relative-to "$DATA" "$log")
	name=${name%.log}
	name=${name/dedicated_log_torch_trace_/}
	name=${name%_fixture*}
	rm -rf dir
	run tlparse --json "$log"
	mv out document.json
	tlparse "$log" -o dir 2>/dev/null
	if message=$(python3 "$ROOT/tests/lib/check_document.py" document.json "$readme" "$name" dir 2>&1); then
		pass "$name: schema, table of README, directory"
	else
		fail "$name: schema, table of README, directory" "$message"
	fi
	is "$name: nothing is damaged or unknown" "$status $(jq -c '.summary|[.damaged,.unknown_keys]' document.json) $(cat err)" "0 [0,0] "
done
for log in "$ROOT"/tests/data/broken/*.log; do
	[ -s "$log" ] || continue
	tlparse --json "$log" >document.json 2>/dev/null
	message=$(python3 "$ROOT/tests/lib/check_document.py" document.json 2>&1)
	is "broken/$(basename "$log"): schema" "$? $message" "0 "
done

# ---- what README.md says of some logs ----
# facts LOG WHAT JQ WANT : of the log's object $l, with id(row) its compile id
facts() {
	local got
	got=$(tlparse --json "$DATA/$1.log" 2>&1 | jq -L "$ROOT/tests/lib" -c "include \"logs\"; def id(r): .compile_ids[r.compile_id].id; logs[0] | $3" 2>&1)
	is "$1: $2" "$got" "$4"
}
facts graph_breaks "the breaks" '[. as $l | .graph_breaks[] | [(. as $r | $l | id($r)), .location.line, .gb]]' \
	'[["0/0",9,"GB0124"],["1/0",9,"GB0124"],["2/0",9,"GB0059"],["4/0",14,"GB0170"],["5/0",14,"GB0170"],["8/0",21,"GB0007"],["10/0",27,"GB0025"],["12/0",43,"GB7000"]]'
facts graph_breaks "their file" '[.graph_breaks[].location.file]|unique' '["/home/user/app/graph_breaks.py"]'
facts graph_breaks "one in full" '.graph_breaks[6]|[.reason,.explanation,.hints,.context,.url]' \
	'["Call to `torch._dynamo.graph_break()`","User-inserted graph break. Message: None",["Remove the `torch._dynamo.graph_break()` call."],"Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`","https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0025.html"]'
facts graph_breaks "restarted" '[.compile_ids[]|select(.restarts != [])|.id]' '["0/0","1/0","2/0","4/0","8/0","10/0"]'
facts graph_breaks "failures" '[. as $l | .failures[] | [(. as $r | $l | id($r)), .type, .location.line]]' '[["12/0","torch._dynamo.exc.Unsupported",43],["13/0","torch._dynamo.exc.Unsupported",50]]'
facts graph_breaks "metrics but no graph" '[.compile_ids[]|select(.status == "empty")|.id]' '["0/0","2/0","4/0"]'
facts graph_breaks "status of failed ids" '[.compile_ids[]|select(.status == "error")|[.id,.fail_type]]' '[["12/0","Unsupported"],["13/0","Unsupported"]]'
facts recompiles "which, rejected by which guard" '[. as $l | .recompiles[] | [(. as $r | $l | id($r)), (.reason|split(":")[0]), .guard[:21], .old, .new]]' \
	'[["0/1","0/0","tensor '\''x'\'' size misma","3","5"],["0/2","0/1","n == 2","2",null],["0/3","0/2","tensor '\''x'\'' dtype mism","Float","Double"],["0/4","0/3","tensor '\''x'\'' dtype mism","Double","Float"],["0/5","0/4","___check_type_id(mode","__main__.Slow",null],["0/6","0/5","not extra",null,null],["0/7","0/6","tensor '\''x'\'' rank misma","1","2"],["0/8","0/7","tensor '\''x'\'' requires_g","requires_grad=0",null],["1/1","1/0","scale == 0.5","0.5",null]]'
facts recompiles "0/4: the reason against 0/2 is there, too" '.recompiles[3].all | any(test("0/2: .*type"))' true
facts recompiles "where, else the frame" '[.recompiles[]|.location.line]' '[19,21,19,19,22,24,19,19,31]'
facts recompiles "the limit" '[. as $l | .failures[] | [(. as $r | $l | id($r)), .type, (.reason|split("\n")[0])]]' '[["0/8","Unsupported","Dynamo recompile limit exceeded"]]'
facts recompiles "a float becomes dynamic" '[. as $l | .symbols[] | select((. as $r | $l | id($r)) == "1/1") | [.symbol,.value,.source]]' '[["zf69","1.5","L['\''scale'\'']"]]'
facts compile_error "failures" '[. as $l | .failures[] | [(. as $r | $l | id($r)), .type]]' '[["0/0","torch._inductor.exc.InductorError"],["1/0","torch._dynamo.exc.BackendCompilerFailed"],["2/0","torch._dynamo.exc.TorchRuntimeError"],["3/0","torch._dynamo.exc.Unsupported"]]'
facts compile_error "where" '[.failures[]|.location.line]' '[13,19,29,34]'
facts compile_error "a reason" '.failures[0].reason|split("\n")[0]' '"CppCompileError: C++ compile error"'
facts dynamic "symbols" '[.symbols[]|select(.unbacked|not)]|length' 7
facts dynamic "unbacked symbols" '[.symbols[]|select(.unbacked)]|length' 8
facts dynamic "a marked size" '[.symbols[0]|.symbol,.value,.range,.source,.location]' '["s77","8","[2, 64]","L['\''x'\''].size()[0]",{"file":"/home/user/app/dynamic.py","line":10,"function":"marked","code":"return x.reshape(-1, 2).sum(1)"}]'
facts dynamic "specialization" '[. as $l | .specializations[] | [(. as $r | $l | id($r)), .symbol, .value, .sources]]' '[["2/2","s77","6",["L['\''x'\''].size()[0]"]]]'
facts dynamic "a symbol's place is a file's" '[.symbols[].location|select(. and (.file|startswith("<")))]' '[]'
facts dynamic "recompiles" '[. as $l | .recompiles[] | (. as $r | $l | id($r))]' '["0/1","1/1","1/2","2/1","2/2"]'
facts training "caches" '.summary.cache|[.fx_graph,.aotautograd]' '[{"hit":0,"miss":4,"bypass":0},{"hit":0,"miss":2,"bypass":1}]'
facts training "empty ids" '[.compile_ids[]|select(.status == "empty")|.id]' '["1/0","2/0","4/0"]'
facts training "the recompile" '[. as $l | .recompiles[] | (. as $r | $l | id($r))]' '["3/1"]'
facts caches_cold "caches" '.summary.cache|[.fx_graph,.aotautograd]' '[{"hit":1,"miss":1,"bypass":1},{"hit":1,"miss":1,"bypass":1}]'
facts caches_warm "caches" '.summary.cache|[.fx_graph,.aotautograd]' '[{"hit":2,"miss":0,"bypass":1},{"hit":2,"miss":0,"bypass":1}]'
facts compiled_autograd "ids of compiled autograd" '[.compile_ids[]|select(.compiled_autograd_id != null)|.id]' '["!0/-/-","!0/1/0","!1/-/-","!1/3/0","!2/-/-","!2/4/0"]'
facts simple "the graph" '.compile_ids[0]|[.id,.dir,.status,.graph_ops,.location.line]' '["0/0","-_0_0_0","ok",2,5]'
facts big "the break, met twice" '[.graph_breaks[]|[.location.line,.gb]]|unique' '[[35,"GB0170"]]'
facts models "the breaks" '[.graph_breaks[].location.line]|unique' '[28,61]'
facts models "the recompiles" '[. as $l | .recompiles[] | (. as $r | $l | id($r))]|sort' '["2/1","2/2","3/1","4/1"]'
facts models "no graph break: a restart to make scalars tensors" '[. as $l | .restarts[]|select(.reason|test("TensorifyScalar"))|(. as $r | $l | id($r))]' '["2/2"]'
is "out_of_order: the facts of the log it was made of" \
	"$(tlparse --json "$ROOT/tests/data/broken/out_of_order.log" | jq -c '.summary|[.graph_breaks,.failures,.graphs]')" "[4,0,1]"

# ---- several logs ----
logs=("$DATA"/simple.log "$DATA"/graph_breaks.log "$DATA"/ranks4/*.log)
run tlparse --json "${logs[@]}"
mv out document.json
message=$(python3 "$ROOT/tests/lib/check_document.py" document.json 2>&1)
is "several logs: the summary is their sum" "$? $message" "0 "
is "several logs: ranks" "$(jq -c '[.summary.ranks,[.inputs[].rank]]' document.json)" "[[0,1,2,3],[null,null,0,1,2,3]]"
# Each as it is alone: indices are counted from the log's own rows on.
each='include "logs"; . as $d | logs[] | . as $l | ([$d.compiles[].input] | index($l.input) // 0) as $c | ([$d.attempts[].input] | index($l.input) // 0) as $a
	| del(.input) | walk(if type == "object" then del(.input) | (if .compile != null then .compile -= $c else . end)
		| (if .attempt != null and has("dir") == false then .attempt -= $a else . end) else . end)'
for log in "${logs[@]}"; do tlparse --json "$log" | jq -L "$ROOT/tests/lib" -c "$each"; done >alone
is "several logs: each as it is alone" "$(jq -L "$ROOT/tests/lib" -c "$each" document.json | cmp - alone 2>&1)" ""

# ---- the same bytes whatever way ----
path='s/"path":"[^"]*"//g'
for name in models training ranks4/dedicated_log_torch_trace_rank_1_fixture1; do
	log=$DATA/$name.log
	tlparse --json "$log" | sed "$path" >want
	gzip -1c "$log" >log.gz
	tlparse --json log.gz | sed "$path" >got
	is "$name: .gz gives the same bytes" "$(cmp got want 2>&1)" ""
	tlparse --json - <"$log" | sed "$path" >got
	is "$name: standard input gives the same bytes" "$(cmp got want 2>&1)" ""
	for cpus in 0 0,1; do
		taskset -c $cpus true 2>/dev/null || { skip "$name: CPUs $cpus" "not there"; continue; }
		taskset -c $cpus tlparse --json "$log" | sed "$path" >got
		is "$name: CPUs $cpus give the same bytes" "$(cmp got want 2>&1)" ""
	done
	# A pipe in single bytes and lines: windows end elsewhere.
	tlparse --json - < <(head -c 70001 "$log"; sleep 0.02; tail -c +70002 "$log") | sed "$path" >got
	is "$name: pieces give the same bytes" "$(cmp got want 2>&1)" ""
done
for _ in 1 2 3; do taskset -c 0,1 tlparse "$DATA/models.log" 2>/dev/null | md5sum; done | uniq >sums
is "the page is the same bytes each time" "$(wc -l <sums)" 1

# ---- the page says the same ----
for name in graph_breaks models ranks4 compile_error; do
	log=$DATA/$name
	[ -d "$log" ] || log=$log.log
	tlparse --json "$log" >document.json
	tlparse "$log" >page.html
	fxexplain --json "$log" >explained.json
	is "$name: the page's document is the same and fxexplain's findings, but for its own arrays" "$(PYTHONPATH=$ROOT/tests/lib python3 -c '
import json, report
doc, page = json.load(open("document.json")), report.Page(open("page.html", "rb").read())
model = page.model
del model["blocks"], model["texts"]
explained = json.load(open("explained.json"))
for key in ("headline", "verdict", "other_verdicts", "findings", "ignored"):  # fxexplain says the same
    assert model.pop(key) == explained[key], key
for sums in model.pop("time_sums"):  # its times, added up
    parts = {}
    for t in explained["times"]:
        if sums["input"] == (None if t["compile"] is None else doc["compiles"][t["compile"]]["input"]):
            for p in t["parts"]:
                s = parts.setdefault(p["name"], [0, 0])
                s[0] += p["seconds"] or 0
                s[1] += p["calls"]
    assert [(p["name"], p["calls"]) for p in sums["parts"]] == [(n, s[1]) for n, s in parts.items()], sums
    assert all(abs(p["seconds"] - parts[p["name"]][0]) < 1e-4 for p in sums["parts"]), sums
events = sum(1 for _ in page.lines("e"))
assert events == doc["summary"]["chromium_events"], events
for a, b in zip(doc["logs"], model["logs"], strict=True):
    arrays = b["artifacts"]
    assert len(arrays["line"]) == a["summary"]["artifacts"]
    for i, row in enumerate(doc["attempts"]):
        assert row["input"] != a["input"] or arrays["attempt"].count(i) == row["artifacts"]
    for key in set(b) - set(a):
        del b[key]
for key in ("steps", "spans", "lists", "parities"):  # by which ranks are compared; the page has the comparison
    del doc[key]
assert doc == model
print("same")' 2>&1 | tail -n 1)" same
done

# ---- vLLM's records ----
run tlparse --json "$DATA/vllm.log"
is "vLLM: calls, parts by range, passes with what they changed" "$(jq -r '(.vllm_calls[] | "\(.prefix) \(.ranges) \(.sizes)"),
	(.vllm_pieces[] | "\(.name) \(.start)-\(.end)"), ([.vllm_passes[] | select(.added > 0) | "\(.index) \(.name) +\(.added) -\(.removed)"] | unique[])' out | paste -sd,)" \
	"backbone 8192 8,submod_0 1-8192,submod_2 1-8192,submod_0 8-8,submod_2 8-8,1 NoOpEliminationPass +1 -2"
is "a part and its call, a pass and its part, by their lines" "$(jq -c '[(.vllm_calls[0].line as $c | all(.vllm_pieces[]; .call == $c)),
	([.vllm_pieces[].line] as $p | all(.vllm_passes[]; .piece as $l | $p | index($l) != null))]' out)" "[true,true]"
is "the graph after a pass against the one before" "$(jq -r '[.vllm_passes[].diff | select(.)][0]' out | grep '^[-+@]' | cut -c1-22 | paste -sd,)" \
	"@@ -3,5 +3,4 @@,-        mul: \"f32[8, ,-        return mul,+        return silu"
is "and nothing where it changed nothing" "$(jq -c '[.vllm_passes[] | select(.added == 0) | .diff] | unique' out)" "[null]"
is "fresh or out of the cache; what else a call has" "$(jq -r '.vllm_calls[0].event, (.vllm_calls[0].line as $c | .vllm_texts[] | select(.call == $c) | .name)' out | paste -sd,)" \
	"fresh_compile,split graph,patterns of RMSNormQuantFusionPass,execution code"
cp out doc
run tlparse "$DATA/vllm.log" -o vllm
python3 "$ROOT/tests/lib/page_text.py" vllm/vllm.html >text
like "vLLM in the directory: by range, part and pass" "$(paste -sd' ' text)" "sizes 1 to 8192 submod_0 .*NoOpEliminationPass \+1 −2 .*submod_2 .*size 8 submod_0"
ok "the index leads there, and a pass to its graph" test "$(grep -c 'href="vllm.html"' vllm/index.html)" = 1 -a -e "vllm/$(grep -o 'href="[^"]*PostCleanupPass[^"]*' vllm/vllm.html | head -1 | cut -c7-)"
ok "and to the code that calls the parts" test -s "vllm/$(grep -o 'href="[^"]*vllm_execution_code[^"]*' vllm/vllm.html | cut -c7-)"
run tlparse "$DATA/simple.log" -o without
ok "no page where vLLM wrote nothing" test ! -e without/vllm.html
run fxexplain --json "$DATA/vllm.log"
is "and the same of fxexplain" "$(jq -c '[.vllm_calls, .vllm_pieces, .vllm_passes, .vllm_texts]' out)" "$(jq -c '[.vllm_calls, .vllm_pieces, .vllm_passes, .vllm_texts]' doc)"
sed 's/"piecewise_index": 0/"piecewise_index": "x", "compile_range_end": [/; s/vllm_post_grad\.1\./vllm_post_grad.99999999999999999999./' "$DATA/vllm.log" >odd.log
run tlparse --json odd.log
is "what is odd is no part, and a pass without a number" "$(jq -c '[(.vllm_pieces | length), ([.vllm_passes[].index] | unique)]' out)" "[2,[null,0]]"

# Two processes that compile at the same time write into one log: every other record is the other's, and each pass keeps its part.
python3 - "$DATA/vllm.log" >two.log <<'EOF'
import sys
records = []
for line in open(sys.argv[1]):
    if line.startswith("\t"):
        records[-1] += line
    else:
        records.append(line)
for record in records:
    head = record.split(" ", 3)
    sys.stdout.write(record + " ".join(head[:2] + ["1" + head[2]] + head[3:]))
EOF
run tlparse --json two.log
is "two processes at once: as many parts and passes for each, compared with their own" "$(jq -c '[(.vllm_calls | length), (.vllm_pieces | length), ([.vllm_passes[] | [.added, .removed]] | group_by(.) | map([.[0], length]))]' out)" \
	"$(jq -c '[(.vllm_calls | length * 2), (.vllm_pieces | length * 2), ([.vllm_passes[] | [.added, .removed]] | group_by(.) | map([.[0], length * 2]))]' doc)"
is "and the parts of a call are its own process's" "$(jq -c '(.vllm_calls | map(.line)) as $c | [.vllm_pieces[] | .call == $c[0]]' out)" "[true,false,true,false,true,false,true,false]"
# A model out of the cache has an event, and no configuration after it.
sed -n '1,/vllm_compile_event/p' "$DATA/vllm.log" | sed 's/"has_payload": "[0-9a-f]*"/"has_payload": "'"$(printf '{"type": "aot_cache_hit"}' | md5sum | cut -c1-32)"'"/' >hit.log
printf '\t{"type": "aot_cache_hit"}\n' >>hit.log
run tlparse --json hit.log
is "a model out of the cache is a call, too" "$(jq -c '[.vllm_calls[] | .event, .model]' out)" '["aot_cache_hit",null]'

# ---- regions that Inductor compiles by themselves ----
run tlparse "$DATA/v215_regions.log" -o regions
is "a level between compile id and artifact" "$(cd regions/-_0_0_0 && for d in */; do echo "$d $(find "$d" -name 'fx_graph_runnable_*' | wc -l)"; done | paste -sd,)" \
	"__marked_inductor_submod0/ 1,__marked_inductor_submod1/ 1"
sed 's/"subgraph_name": "[^"]*", //' "$DATA/v215_regions.log" >flat.log
run tlparse flat.log -o flat
is "the same artifacts without it" "$(cd flat/-_0_0_0 && find . -type f -printf '%f\n' | sort)" "$(cd regions/-_0_0_0 && find . -type f -printf '%f\n' | sort)"
ok "links lead there" test -s "regions/$(grep -o 'href="[^"]*submod1/fx_graph_runnable[^"]*' regions/index.html | head -1 | cut -c7-)"
sed 's#"subgraph_name": "[^"]*submod1"#"subgraph_name": "../../../up"#; s#"subgraph_name": "[^"]*submod0"#"subgraph_name": 7#' "$DATA/v215_regions.log" >hostile.log
run tlparse hostile.log -o hostile
ok "a region's name does not lead out of the folder" test ! -e ../up -a ! -e up -a -d hostile/-_0_0_0/_/_/_/up
done_testing
