#!/bin/bash
# What fxexplain counts, against what tlparse counts and what was counted by hand (tests/data/README.md), on every recorded log.
# shellcheck source=tests/lib/tap.sh disable=SC2016
. "$(dirname "$0")/../lib/tap.sh"
readme=$ROOT/tests/data/README.md

# The rows that both documents have, and the numbers of the run.
rows='[.inputs, (.summary | del(.findings, .ignored, .errors, .warnings, .notes)), .compiles, .attempts, .frames, .graph_breaks, .recompiles, .recompile_limits,
	.failures, .symbols, .bounds, .caches, .cudagraph_skips, .compiler_errors, .paths, .unknown_keys, .damage]'

compare() { # NAME LOG...: what is the same, and of fxexplain's what it counts, and times that do not add up, or are longer than the clock says
	local name=$1
	shift
	tlparse --json "$@" >tl.json 2>/dev/null
	fxexplain -q --json "$@" >fx.json 2>fx.err
	mapfile -t said < <(jq -n -r "input as \$fx | input as \$tl | [(\$fx | $rows), (\$tl | $rows) | tojson] | if .[0] == .[1] then \"same\" else \"\(.[0])  \(.[1])\" end,
		(\$fx | (.summary | \"\(.graphs) \(.graph_breaks) \(.recompiles) \(.restarts)\"),
		([.times[] | select((.seconds - ([.parts[].seconds] | add) | fabs) > 0.002)] | tojson),
		(.inputs[0].seconds as \$span | [.times[] | select(.compile == null and \$span != null and .seconds > \$span * 1.01) | [.seconds, \$span]] | tojson))" fx.json tl.json 2>&1)
	is "$name: rows equal tlparse's" "${said[0]-}" same
}

for log in "$DATA"/*.log "$DATA"/ranks*/*.log; do
	name=${log#"$DATA"/}
	name=${name%.log}
	name=${name/dedicated_log_torch_trace_/}
	name=${name%_fixture*}
	compare "$name" "$log"
	# | log | records | ids | attempts | graphs | breaks | recompiles | restarts | code |
	hand=$(awk -F'|' -v name="$name" '{gsub(/ /, "")} $2 == name && NF == 11 {print $6, $7, $8, $9}' "$readme")
	is "$name: graphs, breaks, recompiles and restarts equal those counted by hand" "${said[1]-}" "$hand"
	is "$name: parts of a time add up" "${said[2]-}" '[]'
	is "$name: times agree with timestamps" "${said[3]-}" '[]'
done
for log in "$ROOT"/tests/data/broken/*.log; do
	[ -s "$log" ] || continue
	compare "broken/$(basename "$log")" "$log"
done
compare "three logs" "$DATA/graph_breaks.log" "$DATA/recompiles.log" "$DATA/training.log"
ok "compilations of different inputs are distinguished" jq -e '(.inputs | length == 3) and ([.compiles[].input] | unique == [0, 1, 2])' fx.json

# ---- one run: its trace, what it wrote to standard error (tests/data/pairs) ----
for archive in "$ROOT"/tests/data/pairs/*.tar.xz; do
	release=$(basename "$archive" .tar.xz)
	mkdir "$release"
	tar -xJf "$archive" -C "$release"
	for one in "$release"/*; do
		counts() { fxexplain -q --json "$@" 2>/dev/null | jq -c ".summary | [$what]"; }
		what=.graph_breaks,.recompiles,.recompile_limits
		is "$one: breaks, recompiles and limits from the text" "$(counts "$one/breaks")" "$(counts "$one/trace.log")"
		what=$what,.compiles
		is "$one: compilations from +dynamo" "$(counts "$one/dynamo")" "$(counts "$one/trace.log")"
		what=$what,.failures,.graphs,.compile_seconds
		is "$one: trace and text are one run" "$(counts "$one/trace.log" "$one/breaks")" "$(counts "$one/trace.log")"
		is "$one: nothing is invented" "$(fxexplain "$one/dynamo" | grep -cE 'suppress_errors|TorchDynamo .*went on in eager')" \
			"$(fxexplain "$one/trace.log" | grep -cE 'suppress_errors|TorchDynamo .*went on in eager')"
	done
done
is "a text without guards says so" "$(fxexplain v213/recompiles/dynamo | grep -c 'The log does not say which guards failed')" 1
is "a frame with one known variant" "$(fxexplain --show recompiles v213/recompiles/breaks | grep -oE 'compiled [0-9]+ times?')" "compiled 9 times
compiled 2 times"

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
says dynamic "the size that became a constant" '[.symbol_views[] | select(.specialized) | $d.symbols[.symbol] as $s | [id($s), .name, .range, $s.location.line]]' '[["2/2","s77","[6, 6]",20]]'
says dynamic "one takes the place of another" '[.symbol_views[] | select(.range | startswith("= ")) | [id($d.symbols[.symbol]), .name, .range]]' '[["1/1","s17","= s77"]]'
says dynamic "ranges that guards leave" '[.symbol_views[] | select(id($d.symbols[.symbol]) == "3/0" and .name == "s33") | .range]' '["[2, 8]"]'
says dynamic "data" '[.findings[] | select(.id == "shape-real-tensors") | .location.line]' '[41]'
says export "data that is not there" '[.findings[] | select(.id == "shape-data-dependent") | [.level, .location.line]]' '[["error",16]]'
says draft_export "fake kernels" '[.findings[] | select(.id | startswith("fake-kernel")) | .title] | length' 2
says caches_cold "why the caches were bypassed" '[.caches[] | select(.what == "bypass") | .reason | split(".")[0]]' \
	'["Unsupported call_function target cond","Can'"'"'t cache HigherOrderOperator: cond"]'
says caches_cold "cold, and bypassed" '[.findings[] | select(.kind == "cache") | .id] | sort' '["cache-bypass","cache-cold"]'
says caches_warm "warm" '[.findings[] | select(.id == "cache-cold")]' '[]'
says mix "off" '[.findings[] | select(.kind == "cache") | [.id, .count]]' '[["cache-off",15]]'
says simple "nothing to find in a small one but the time of its compiler" '[.findings[] | select(.id != "time-compiler" and .id != "cache-off")]' '[]'
is "mix: every metric of 0/0 that is not null has a value" "$(fxexplain --json --show metrics "$DATA/mix.log" | jq '[.metrics[] | select(.compile == 0)] | length')" 61

# ---- a text: a known message is told with the failure that it is in, a constraint once ----
xzcat "$ROOT/tests/data/logs/quiet.log.xz" >quiet.log
is "quiet: what is known beside the failures" "$(fxexplain --json quiet.log | jq -c '[.findings[] | select(.kind == "known") | .id]')" '[]'
is "quiet: the known failures" "$(fxexplain --json quiet.log | jq -c '[.findings[] | select(.kind == "failure" and (.id | startswith("failure") | not)) | [.id, .location.line]]')" \
	'[["backend-failed",99],["matmul-reduction",167],["cpp-compile-failed",93],["constraints-violated",93],["dynamic-dim-out-of-range",93],["matmul-shapes",93]]'
is "quiet: violated constraints belong to their failure" "$(fxexplain --json quiet.log | jq -c '[.findings[] | select(.id == "shape-constraint" or (.title | test("Constraints violated"))) | [.id, (.evidence | length), .location.line]]')" \
	'[["constraints-violated",4,93],["dynamic-dim-out-of-range",6,93]]'

# ---- operands ----
is "a file given twice counts once" "$(fxexplain -q --json "$DATA/graph_breaks.log" "$DATA/./graph_breaks.log" | jq .summary.graph_breaks)" 8
is "fxexplain kernel with a pipe" "$(fxexplain kernel <(cat "$DATA/simple.log") | grep -c cpp_fused)" "$(fxexplain kernel "$DATA/simple.log" | grep -c cpp_fused)"
# ---- a trace and a text: of one run what both say counts once, of two runs all of it ----
cat >stderr.txt <<'EOF'
V1121 10:02:33.277000 6895 torch/_dynamo/guards.py:5400] [0/1] [__recompiles] Recompiling function step in /home/user/app/recompiles.py:19
V1121 10:02:33.277000 6895 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     triggered by the following guard failure(s):
V1121 10:02:33.277000 6895 torch/_dynamo/guards.py:5400] [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 5
EOF
recompiles() { fxexplain --json "$@" | jq .summary.recompiles; }
is "a text alone" "$(recompiles stderr.txt)" 1
is "a text with the trace of its run" "$(recompiles "$DATA/recompiles.log" stderr.txt)" "$(recompiles "$DATA/recompiles.log")"
sed -i 's/function step in/function other in/' stderr.txt
is "a text with another run's trace" "$(recompiles "$DATA/recompiles.log" stderr.txt)" $(($(recompiles "$DATA/recompiles.log") + 1))
# ---- rows that go: those that stay still belong together ----
belong() { fxexplain --json "$@" | jq -c '. as $d | [.attempts[] | select(.compile != null) | select(.dir != ("-_" + ($d.compiles[.compile].id | gsub("/"; "_")) + "_" + (.attempt | tostring)))], ([.attempts[].compile | values] | unique | length) == ($d.compiles | length)'; }
is "attempts of one function" "$(belong --function evaluate "$DATA/models.log")" $'[]\ntrue'
sed -i 's/function other in/function step in/' stderr.txt
is "attempts after a text of the same run" "$(belong stderr.txt "$DATA/recompiles.log")" $'[]\ntrue'
# ---- several ranks: on which a finding is, and what is a sum ----
mkdir ranks
cp "$DATA"/ranks4/*_rank_[01]_* ranks
sed 's/"rank": 1/"rank": 2/' "$DATA"/ranks4/*_rank_1_* >ranks/dedicated_log_torch_trace_rank_2_same.log
fxexplain ranks >out
like "the total time names the slowest rank" "$(cat out)" " s on 3 ranks in total \(longest: rank 0, 36\.13 s\)"
like "the time by phase is a total, too" "$(cat out)" "Compile time .* of 3 ranks in total"
is "two ranks with the same recompile are one finding" \
	"$(fxexplain --json ranks | jq -c '[.findings[] | select(.kind == "recompile") | [.ranks, .count]]') $(grep -c 'ranks.py:38: ranks 1, 2: 1 recompile' out)" "[[[1,2],2]] 1"
is "a single rank is not mentioned" "$(fxexplain --json ranks/*_rank_0_* | jq -c '[.findings[].ranks] | unique')" "[[]]"
done_testing
