#!/bin/bash
# What fxexplain counts, against what tlparse counts and what was counted by hand (tests/data/README.md), on every recorded log.
# shellcheck source=tests/lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"
readme=$ROOT/tests/data/README.md

# Numbers of the run, in one order for both. tlparse's "recompiles" and "restarts" of the summary are ids and attempts; the records are
# in its lists. No compile time at all is 0 there and not known here.
tl='[.summary | .torch_version, .logs, .ranks, .bytes, .lines, .records, .frames, .compiles, .graph_breaks, .failures, .graphs, .cache,
	.cudagraph_skips, .compile_seconds, .damaged] + [[.logs[].recompiles[]] | length] + [[.logs[].restarts[]] | length]'
fx='.summary | [.torch_version, .logs, .ranks, .bytes, .lines, .records, .frames, .compiles, .graph_breaks, .failures, .graphs, .cache,
	.cudagraph_skips, (.compile_seconds // 0), .damaged, .recompiles, .restarts]'
# Rows, too: where and what. A row of fxexplain names its compile id by the text.
tl_rows='.logs[0] | . as $l | def id(r): $l.compile_ids[r.compile_id].id;
	[.graph_breaks[] | [id(.), .line, .location.line, .gb, .reason]],
	[.recompiles[] | [id(.), .line, .guard, .old, .new]],
	[.symbols[] | [.line, .symbol, .value, .range, .source]],
	[.specializations[] | [.line, .symbol, .value]]'
fx_rows='. as $d | def id(r): if r.compile == null then "-/-" else $d.compiles[r.compile].id end;
	[.graph_breaks[] | select(.inferred | not) | [id(.), .log_line, .location.line, .gb, .reason]],
	[.recompiles[] | [id(.), .log_line, .guard, .old, .new]],
	[.symbols[] | select(.log_line != null) | [.log_line, .symbol, .value, .range_at_first, .source]],
	[[.symbols[].bounds[] | select(.kind == "specialized") | [.log_line, .symbol, .value]] | unique[]]'

compare() { # NAME LOG
	tlparse --json "$2" >tl.json 2>/dev/null
	fxexplain -q --json "$2" >fx.json 2>fx.err
	is "$1: the numbers of tlparse" "$(jq -c "$fx" fx.json 2>&1)" "$(jq -c "$tl" tl.json 2>&1)"
}

for log in "$DATA"/*.log "$DATA"/ranks*/*.log; do
	name=$(realpath --relative-to "$DATA" "$log")
	name=${name%.log}
	name=${name/dedicated_log_torch_trace_/}
	name=${name%_fixture*}
	compare "$name" "$log"
	is "$name: breaks and recompiles, row by row" "$(jq -c "$fx_rows" fx.json 2>&1 | head -2)" "$(jq -c "$tl_rows" tl.json 2>&1 | head -2)"
	is "$name: specializations" "$(jq -c "$fx_rows" fx.json 2>&1 | tail -1)" "$(jq -c "$tl_rows" tl.json 2>&1 | tail -1)"
	# | log | records | ids | attempts | graphs | breaks | recompiles | restarts | code |
	hand=$(awk -F'|' -v name="$name" '{gsub(/ /, "")} $2 == name && NF == 11 {print $6, $7, $8, $9}' "$readme")
	is "$name: graphs, breaks, recompiles, restarts by hand" "$(jq -r '.summary | "\(.graphs) \(.graph_breaks) \(.recompiles) \(.restarts)"' fx.json)" "$hand"
	is "$name: the parts of a time add up to it" \
		"$(jq -c '[.times[] | select((.seconds - ([.parts[].seconds] | add) | fabs) > 0.002)]' fx.json)" '[]'
done
for log in "$ROOT"/tests/data/broken/*.log; do
	[ -s "$log" ] || continue
	compare "broken/$(basename "$log")" "$log"
done
compare "several logs" "$DATA/graph_breaks.log"
logs=("$DATA/graph_breaks.log" "$DATA/recompiles.log" "$DATA/training.log")
tlparse --json "${logs[@]}" >tl.json
fxexplain --json "${logs[@]}" >fx.json
is "three logs: the numbers of tlparse" "$(jq -c "$fx" fx.json)" "$(jq -c "$tl" tl.json)"

# ---- what README.md says of some logs ----
says() { # LOG WHAT JQ WANT
	is "$1: $2" "$(fxexplain --json "$DATA/$1.log" 2>&1 | jq -c ". as \$d | def id(r): if r.compile == null then null else \$d.compiles[r.compile].id end; $3" 2>&1)" "$4"
}
says graph_breaks "kinds" '[.graph_breaks[] | [id(.), .kind]]' \
	'[["0/0","call"],["1/0","call"],["2/0","call"],["4/0","jump"],["5/0","jump"],["8/0","call"],["10/0","asked"],["12/0","skipped"]]'
says graph_breaks "failures, the frame that was skipped is caught" '[.failures[] | select(.restart | not) | [id(.), .caught]]' '[["12/0",true],["13/0",false]]'
says graph_breaks "restarted" '[.compiles[] | select(.restarts > 0) | .id]' '["0/0","1/0","2/0","4/0","8/0","10/0"]'
says graph_breaks "empty" '[.compiles[] | select(.status == "empty") | .id]' '["0/0","2/0","4/0"]'
says graph_breaks "resume functions" '[.compiles[] | select(.resume_of) | [.id, .resume_of, .resume_line]] | .[0]' '["2/0","shout",9]'
says recompiles "the limit" '[.recompile_limits[] | [id(.), .limit, .accumulated, .location.function]]' '[["0/8",8,false,"step"]]'
says recompiles "types by name" '[.recompiles[] | select(.type_old) | [id(.), .type_old, .type_new]]' '[["0/5","__main__.Slow","__main__.Fast"]]'
says compile_error "what failed, in full" '[.failures[] | .type]' \
	'["torch._inductor.exc.InductorError","torch._dynamo.exc.BackendCompilerFailed","torch._dynamo.exc.TorchRuntimeError","torch._dynamo.exc.Unsupported"]'
says compile_error "the users lines" '[.failures[] | .location.line]' '[13,19,29,34]'
says compile_error "the backend" '[.compiles[] | select(.backend) | [.id, .backend]]' '[["1/0","bad_backend"]]'
says dynamic "the size that became a constant" '[.symbols[] | select(.specialized) | [id(.), .symbol, .range, .location.line]]' '[["2/2","s77","[6, 6]",20]]'
says dynamic "one takes the place of another" '[.symbols[] | select(.range | startswith("= ")) | [id(.), .symbol, .range]]' '[["1/1","s17","= s77"]]'
says dynamic "ranges that guards leave" '[.symbols[] | select(id(.) == "3/0" and .symbol == "s33") | .range]' '["[2, 8]"]'
says dynamic "data" '[.findings[] | select(.id == "shape-real-tensors") | .location.line]' '[41]'
says export "data that is not there" '[.findings[] | select(.id == "shape-data-dependent") | [.level, .location.line]]' '[["error",16]]'
says draft_export "fake kernels" '[.findings[] | select(.id | startswith("fake-kernel")) | .title] | length' 2
says caches_cold "why the caches were bypassed" '[.caches[] | select(.what == "bypass") | .reason | split(".")[0]]' \
	'["Unsupported call_function target cond","Can'"'"'t cache HigherOrderOperator: cond"]'
says caches_cold "cold, and bypassed" '[.findings[] | select(.kind == "cache") | .id] | sort' '["cache-bypass","cache-cold"]'
says caches_warm "warm" '[.findings[] | select(.id == "cache-cold")]' '[]'
says mix "off" '[.findings[] | select(.kind == "cache") | [.id, .count]]' '[["cache-off",15]]'
says simple "nothing to find in a small one but the time of its compiler" '[.findings[] | select(.id != "time-compiler" and .id != "cache-off")]' '[]'
is "mix: a value for each metric of 0/0 that is not null" "$(fxexplain --json --show metrics "$DATA/mix.log" | jq '[.metrics[] | select(.compile == 0)] | length')" 61

# ---- a text: a known message is told with the failure that it is in, a constraint once ----
xzcat "$ROOT/tests/data/logs/quiet.log.xz" >quiet.log
is "quiet: what is known beside the failures" "$(fxexplain --json quiet.log | jq -c '[.findings[] | select(.kind == "known") | .id]')" '["eager-suppressed"]'
is "quiet: the failures that are known" "$(fxexplain --json quiet.log | jq -c '[.findings[] | select(.kind == "failure" and (.id | startswith("failure") | not)) | [.id, .location.line]]')" \
	'[["backend-failed",99],["cpp-compile-failed",93],["constraints-violated",93],["dynamic-dim-out-of-range",93],["matmul-shapes",93],["matmul-shapes",null]]'
is "quiet: violated constraints, an export each" "$(fxexplain --json quiet.log | jq -c '[.findings[] | select(.id == "shape-constraint") | [.title, (.evidence | length), .location.line]]')" \
	'[["constraints on dynamic sizes do not hold: batch, other",2,93],["constraints on dynamic sizes do not hold: batch",4,93]]'

# ---- operands ----
is "a file that is given twice is counted once" "$(fxexplain -q --json "$DATA/graph_breaks.log" "$DATA/./graph_breaks.log" | jq .summary.graph_breaks)" 8
is "a pipe for kernel" "$(fxexplain kernel <(cat "$DATA/simple.log") | grep -c cpp_fused)" "$(fxexplain kernel "$DATA/simple.log" | grep -c cpp_fused)"
# ---- a trace and a text: of one run what both say counts once, of two runs all of it ----
cat >stderr.txt <<'EOF'
V1121 10:02:33.277000 6895 torch/_dynamo/guards.py:5400] [0/1] [__recompiles] Recompiling function step in /home/user/app/recompiles.py:19
V1121 10:02:33.277000 6895 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     triggered by the following guard failure(s):
V1121 10:02:33.277000 6895 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 5
EOF
recompiles() { fxexplain --json "$@" | jq .summary.recompiles; }
is "the text alone" "$(recompiles stderr.txt)" 1
is "with the trace of its run" "$(recompiles "$DATA/recompiles.log" stderr.txt)" "$(recompiles "$DATA/recompiles.log")"
sed -i 's/function step in/function other in/' stderr.txt
is "with the trace of another" "$(recompiles "$DATA/recompiles.log" stderr.txt)" $(($(recompiles "$DATA/recompiles.log") + 1))
done_testing
