#!/bin/bash
# fxexplain --json, --sarif, --github, --html, --max, --baseline and report, on recorded logs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
logs=(graph_breaks recompiles dynamic compile_error training export caches_warm ddp_split custom_op mix compiled_autograd)

# ---- --json: counts are tlparse's, and agree with the lists ----
for log in "${logs[@]}"; do
	run fxexplain --json "$DATA/$log.log"
	is "$log: --json" "$status" 0
	cp out "$log.json"
	keys='{torch_version, logs, ranks, bytes, lines, records, frames, compiles, recompiles, restarts, graph_breaks, failures, graphs, cudagraph_skips, compile_seconds}'
	is "$log: the summary equals tlparse's" "$(jq -c ".summary | $keys" "$log.json")" "$(tlparse --json "$DATA/$log.log" 2>err | jq -c ".summary | $keys")"
	is "$log: counts match lists" "$(jq -c '.summary as $s | [
		($s.graph_breaks == ([.graph_breaks[] | select(.inferred | not)] | length)),
		($s.graph_breaks + $s.inferred_graph_breaks == ([.breaks[] | .count + .inferred] | add // 0)),
		($s.recompiles == ([.frames[].recompiles] | add // 0)), ($s.recompiles == (.recompiles | length)),
		($s.failures == ([.failures[] | select(.restart | not)] | length)), ($s.restarts == ([.failures[] | select(.restart)] | length)),
		($s.findings == (.findings | length)), ($s.errors + $s.warnings + $s.notes == $s.findings)] | all' "$log.json")" true
	is "$log: indices are valid" "$(jq -c '(.compiles | length) as $c | (.inputs | length) as $i | (.findings | length) as $f |
		([.. | objects | .compile? // empty | select(type == "number")] | all(. < $c)) and ([.. | objects | .input? // empty] | all(. < $i)) and
		([.. | objects | .finding? // empty] | all(. < $f))' "$log.json")" true
done
run fxexplain --json "$DATA/graph_breaks.log"
ok "--json is deterministic" cmp -s out graph_breaks.json
is "docs/formats/EXPLAIN.md has every top-level key" "$(jq -r 'keys_unsorted[]' graph_breaks.json | while read -r k; do grep -qE "\"$k\"|^### $k\$" "$ROOT"/docs/formats/{EXPLAIN,COMPILATION}.md || echo "$k"; done)" ""
is "docs/formats/EXPLAIN.md has every nested key" "$(jq -r '[.. | objects | keys[]] | unique[]' ./*.json | sort -u | while read -r k; do grep -qE "\"$k\"|^### $k\$|^\| $k \||[|,] $k(,| \|)" "$ROOT"/docs/formats/{EXPLAIN,COMPILATION}.md || echo "$k"; done)" ""
run fxexplain --json --show metrics,graphs,guards "$DATA/dynamic.log"
is "--show adds metrics, graphs and guards" "$(jq -c '[(.metrics | length > 50), (.graphs[0].text | length > 20), (.guards[0].text | length > 20)] | all' out)" true
is "without --show there are none" "$(jq -c '[has("metrics"), has("graphs"), has("guards")]' dynamic.json)" '[false,false,false]'
run fxexplain --json -o written.json "$DATA/graph_breaks.log"
ok "-o FILE" cmp -s written.json graph_breaks.json
is "two logs are counted together" "$(fxexplain --json "$DATA/graph_breaks.log" "$DATA/recompiles.log" | jq -c '[.summary | .logs, .graph_breaks, .recompiles]')" '[2,8,9]'

# ---- --sarif: what the schema demands (structure; the schema itself is 100 KB and not here) ----
for log in "${logs[@]}"; do
	run fxexplain --sarif "$DATA/$log.log"
	is "$log: valid SARIF 2.1.0" "$status $(jq -c '.version == "2.1.0" and (.["$schema"] | test("sarif-2.1.0")) and (.runs | length == 1) and (.runs[0] |
		(.tool.driver.name == "fxexplain") and
		([.tool.driver.rules[].id] | length == (unique | length)) and
		(.tool.driver.rules | all((.shortDescription.text | length > 0) and (.help.text | length > 0) and (.helpUri | test("^https?://")) and
			(.defaultConfiguration.level | IN("note", "warning", "error")))) and
		(.tool.driver.rules as $r | .results | all(.ruleIndex as $i | ($r[$i].id == .ruleId) and (.level | IN("note", "warning", "error")) and
			(.message.text | length > 0) and (.partialFingerprints | length == 1) and
			(.locations | all(.physicalLocation | (.artifactLocation.uri | test("[ <>\"]") | not) and
				((.artifactLocation.uriBaseId == "%SRCROOT%") == (.artifactLocation.uri | test("^file:") | not)) and
				((has("region") | not) or (.region.startLine >= 1)))))) and
		([.results[].partialFingerprints["fxexplain/v1"]] | length == (unique | length))) and
		([paths(. == null)] | all(any(. == "properties")))' out)" "0 true"
	is "$log: SARIF has every finding" "$(jq '.runs[0].results | length' out)" "$(jq '.findings | length' "$log.json")"
done
fxexplain --sarif "$DATA/graph_breaks.log" >one.sarif
fxexplain --sarif "$DATA/graph_breaks.log" >two.sarif
ok "--sarif is deterministic" cmp -s one.sarif two.sarif
mkdir -p checkout/app && touch checkout/app/graph_breaks.py
is "SARIF paths are relative to the checkout" "$(cd checkout && fxexplain --sarif "$DATA/graph_breaks.log" | jq -c '[.runs[0].results[].locations[].physicalLocation.artifactLocation] | unique')" \
	'[{"uri":"app/graph_breaks.py","uriBaseId":"%SRCROOT%"}]'
# The same program with a line more on top: its findings are the same ones.
sed 's|"lineno": \([0-9]*\)|"lineno": 1\1|g; s|"line": \([0-9]*\)|"line": 1\1|g' "$DATA/graph_breaks.log" >moved.log
marks() { jq -c '[.runs[0].results[].partialFingerprints[]] | sort' "$1"; }
fxexplain -q --sarif moved.log >moved.sarif
is "SARIF fingerprints do not depend on line numbers" "$(marks moved.sarif)" "$(marks one.sarif)"

# ---- --github ----
touch step.md
run env -C checkout GITHUB_STEP_SUMMARY="$TMP/step.md" fxexplain --github "$DATA/graph_breaks.log"
is "--github" "$status" 0
is "--github has one line per finding" "$(grep -cE '^::(error|warning|notice) ' out)" "$(jq '.findings | length' graph_breaks.json)"
is "--github has no other lines" "$(grep -cvE '^::(error|warning|notice) ' out)" 0
like "--github lines have file, line, title and message" "$(grep GB0124 out)" '^::warning file=app/graph_breaks.py,line=9,title=graph-break GB0124::Unsupported Tensor.item\(\) call with capture_scalar_outputs=False: print\(.*%0ACost: '
like "--github writes the job summary" "$(cat step.md)" "\| warning \| Unsupported Tensor.item\(\) call"
is "--github appends to the job summary" "$(fxexplain --github "$DATA/simple.log" >out; GITHUB_STEP_SUMMARY=$TMP/step.md fxexplain --github "$DATA/graph_breaks.log" >out; grep -c '^### fxexplain' step.md)" 2
run env GITHUB_STEP_SUMMARY="$TMP/missing/x" fxexplain --github "$DATA/graph_breaks.log"
like "a job summary that cannot be written is a warning" "$status $(cat err)" "^0 .*cannot write the job summary"

# ---- --html ----
for log in "${logs[@]}"; do
	fxexplain --html "$DATA/$log.log" >out
	is "$log: --html equals tlparse's page" "$(tlparse "$DATA/$log.log" | cmp - out 2>&1)" ""
	is "$log: the page loads nothing" "$(grep -cE '(src|href)="(https?:)?//' out)" 0
done
fxexplain --html "$DATA/ranks4" >out
is "the page of several logs equals tlparse's, too" "$(tlparse "$DATA/ranks4" | cmp - out 2>&1)" ""
page() { fxexplain -q --html "$@" | PYTHONPATH=$ROOT/tests/lib python3 -c 'import json, report, sys; print(json.dumps(report.Page(sys.stdin.buffer.read()).model))'; }
findings() { jq -cS '[.findings, .verdict, .compiles, .graph_breaks]' | md5sum; }
for of in "$ROOT/tests/data/logs/explain.log" "--function f $DATA/graph_breaks.log" "$DATA/graph_breaks.log $ROOT/tests/data/logs/crash.log"; do
	# shellcheck disable=SC2086 # words
	is "${of//*\//}: the page has the findings of --json" "$(page $of | findings)" "$(fxexplain -q --json $of | findings)"
done
printf '%s\n' 'Traceback (most recent call last):' '  File "/app/<img>.py", line 3, in f' '    raise E' 'ValueError: </script><img src=x onerror=alert(1)>' >evil.txt
fxexplain -q --html evil.txt >out
is "the page of a text log escapes names" "$(grep -c '<img' out) $(page evil.txt | jq -r '.failures[0].reason')" "0 </script><img src=x onerror=alert(1)>"
run fxexplain --html=page.html "$DATA/graph_breaks.log"
is "--html=FILE" "$status $(wc -c <out) $(tail -c 8 page.html)" "0 0 </html>"

# ---- --max ----
names=$(fxexplain --max nosuch=1 "$DATA/simple.log" 2>&1 | sed 's/.*known: //; s/,//g')
like "-h lists the names for --max" "$names" "^graph-breaks .* recompiles .* compile-seconds .* findings errors warnings damage$"
page=$(man -l "$ROOT/man/fxexplain.1" 2>/dev/null || cat "$ROOT/man/fxexplain.1")
set -- "$DATA/graph_breaks.log" "$DATA/recompiles.log" "$DATA/dynamic.log" "$DATA/compile_error.log"
fxexplain --json "$@" >all.json
for name in $names; do
	case $name in
	cache-misses) path='[.summary.cache[].miss] | add' ;;
	compile-seconds) path='.summary.compile_seconds | ceil' ;;
	inferred-graph-breaks) path=.summary.inferred_graph_breaks ;;
	damage) path=.summary.damaged ;;
	*) path=.summary.${name//-/_} ;;
	esac
	n=$(jq "$path" all.json)
	like "$name is in the manual page" "$page" "$name"
	exits "--max=$name=$n holds" 0 fxexplain --json --max "$name=$n" "$@"
	if [ "$n" -eq 0 ] || [ "$name" = compile-seconds ]; then continue; fi
	exits "--max=$name=$((n - 1)) is exceeded" 1 fxexplain --json --max "$name=$((n - 1))" "$@"
	like "--max=$name: the message has count and limit" "$(cat err)" ": $n, at most $((n - 1)) allowed"
done
exits "several --max" 1 fxexplain --json --max graph-breaks=0 --max failures=0 --max recompiles=0 "$DATA/graph_breaks.log"
is "each exceeded limit has its own line" "$(wc -l <err)" 2
like "the line has the first locations" "$(head -1 err)" "^fxexplain: graph breaks: 8, at most 0 allowed: [^ ]*graph_breaks.py:9 in shout \(3 times\), .* more$"
ok "the output is complete" jq -e .summary out
exits "seconds may have a fraction" 1 fxexplain --json --max compile-seconds=0.001 "$DATA/graph_breaks.log"
for bad in nosuch=1 graphs=-1 graphs=x graphs=1.5 graphs= compile-seconds=nan; do
	exits "--max $bad is a usage error" 2 fxexplain --json --max "$bad" "$DATA/simple.log"
done

# ---- --baseline ----
exits "--baseline with the same log" 0 fxexplain --json --baseline graph_breaks.json "$DATA/graph_breaks.log"
is "it prints nothing" "$(cat err)" ""
exits "--baseline with the same program on other lines" 0 fxexplain -q --json --baseline graph_breaks.json moved.log
is "it prints nothing, either" "$(cat err)" ""
fxexplain --json "$DATA/simple.log" >simple.json
exits "--baseline: a regression" 1 fxexplain --json --baseline simple.json "$DATA/graph_breaks.log"
like "new findings are listed" "$(cat err)" "fxexplain: new: Unsupported Tensor.item\(\) call .* at [^ ]*graph_breaks.py:9 in shout"
like "counts that grew are listed" "$(cat err)" "fxexplain: more: graph breaks: 8, 0 before"
run env -C checkout GITHUB_STEP_SUMMARY="$TMP/worse.md" fxexplain -q --github --baseline ../graph_breaks.json "$DATA/graph_breaks.log"
is "--baseline --github prints nothing without a regression" "$status $(cat out) $(grep -c '^|' "$TMP/worse.md")" "0  0"
jq 'del(.findings[] | select(.title | contains("zlib.crc32")))' graph_breaks.json >less.json
run env -C checkout fxexplain -q --github --baseline ../less.json "$DATA/graph_breaks.log"
is "--baseline --github prints new findings only" "$status $(wc -l <out) $(grep -c 'line=21,.*zlib.crc32' out)" "1 1 1"
run fxexplain -q --sarif --baseline less.json "$DATA/graph_breaks.log"
is "--baseline --sarif marks new findings" "$(jq -r '.runs[0].results[] | select(.baselineState == "new").message.text' out | head -1 | grep -o 'zlib.crc32') $(
	jq -c '[.runs[0].results[].baselineState] | unique' out)" 'zlib.crc32 ["new","unchanged"]'
exits "--baseline: an improvement" 0 fxexplain --json --baseline graph_breaks.json "$DATA/simple.log"
like "counts that fell are listed" "$(cat err)" "fxexplain: fewer: graph breaks: 0, 8 before"
like "findings that are gone are listed" "$(cat err)" "fxexplain: gone: Unsupported Tensor.item"
exits "--baseline -q: an improvement" 0 fxexplain -q --json --baseline graph_breaks.json "$DATA/simple.log"
is "-q prints nothing" "$(cat err)" ""
# Another program wrote it again: the same texts, each first letter as its number.
sed -E 's/("(tool|kind|fingerprint|title)":")f/\1\\u0066/g; s/("(fingerprint|kind)":")([0-9])/\1\\u003\3/g; s/("(kind|fingerprint)":")b/\1\\u0062/g' graph_breaks.json >escaped.json
ok "the test's baseline has escaped fingerprints" grep -q '"fingerprint":"\\u' escaped.json
exits "--baseline with escaped fingerprints" 0 fxexplain --json --baseline escaped.json "$DATA/graph_breaks.log"
is "escapes make no difference" "$(cat err)" ""
cp graph_breaks.json old.json
exits "-o may replace the baseline" 0 fxexplain -q --json --baseline old.json -o old.json "$DATA/simple.log"
ok "the replaced baseline is the new document" cmp -s old.json simple.json
tlparse --json "$DATA/simple.log" >tlparse.json 2>err
echo '{"tool": "fxexplain", "schema": 99}' >newer.json
for bad in tlparse.json newer.json "$DATA/simple.log" nosuch.json; do
	exits "a baseline that is none: $(basename "$bad")" 3 fxexplain --json --baseline "$bad" "$DATA/simple.log"
	like "an invalid baseline: the message names it" "$(cat err)" "^fxexplain: .*$(basename "$bad")"
	is "an invalid baseline: nothing is printed" "$(wc -c <out)" 0
done

# ---- report ----
for log in "${logs[@]}"; do
	run fxexplain report "$DATA/$log.log"
	is "$log: report has its sections and is short enough" "$status $(grep -c '^### ' out) $([ "$(wc -m <out)" -lt 60000 ] && echo fits)" "0 4 fits"
	is "$log: report closes its code fences" "$(($(grep -c '^```' out) % 2))" 0
done
run fxexplain report "$DATA/graph_breaks.log"
like "report links GB numbers" "$(cat out)" '\[GB0124\]\(https://[^ ]*gb0124.html\)'
like "report has versions" "$(cat out)" '- torch .2\.13\.0\+cpu'
like "report asks for collect_env" "$(cat out)" 'python -m torch.utils.collect_env'
run fxexplain report "$DATA/compile_error.log"
like "report has the size of the graph that failed" "$(cat out)" 'The graph that failed, .aot_inference_graph. of .0/0., has 2 operations\.'
like "its operations count, though it has no metrics" "$(cat out)" '2 graphs with 3 operations'
like "report has the compiler's error" "$(cat out)" "error: .compile. was not declared in this scope"
like "report leaves out the compiler's warnings" "$(cat out)" "\[\.\.\. 3[0-9]+ warnings and notes of the compiler \.\.\.\]"
like "report says how to minify" "$(cat out)" "fxminify --graph 0/0"
like "report has non-default settings" "$(cat out)" 'torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"'
run fxexplain report "$DATA/recompiles.log"
like "report has recompiles" "$(cat out)" 'tensor .x. size mismatch at index 0\. expected 3, actual 5., .3. became .5.'
cat >env.txt <<'EOF'
Collecting environment information...
PyTorch version: 2.13.0+cpu
OS: Debian GNU/Linux 12 (bookworm) (x86_64)
Python version: 3.11.2 (64-bit runtime)

Versions of relevant libraries:
[pip3] numpy==2.4.6
this line is the program's own
EOF
echo 'import torch # the repro' >repro.py
run fxexplain report --repro repro.py "$DATA/simple.log" env.txt
is "report --repro --collect-env" "$status $(grep -c 'the repro' out) $(grep -c 'Debian GNU/Linux 12' out) $(grep -c "program's own" out)" "0 1 1 0"
sed "s|/home/user/app|/home/winifred/secret-project|g; s|/tmp/torchinductor_user|/tmp/torchinductor_winifred|g" "$DATA/compile_error.log" >private.log
run fxexplain report private.log
like "without --redact names are shown" "$(cat out)" "winifred"
run fxexplain report --redact private.log
is "--redact removes names and paths" "$status $(grep -cE "winifred|secret-project|$(hostname)" out)" "0 0"
like "--redact keeps file names" "$(cat out)" '<path1>/compile_error.py:13 in relu'
run fxexplain report -o issue.md "$DATA/simple.log"
ok "report -o" grep -q '^### Versions' issue.md
# Settings are held against the defaults of the log's own torch: what 2.13 had is a setting in a log of 2.15, and the other way round.
settings() { fxexplain report "$1" | sed -n '/^Settings that/,/^$/p; /^- `torch/p' | grep -c '^- `torch._'; }
sed 's/"pytorch_version": "2[^"]*"/"pytorch_version": "2.15.0+cu132"/' "$DATA/simple.log" >of215.log
like "report names the release whose defaults apply" "$(fxexplain report "$DATA/simple.log")" 'not the defaults of torch 2.13:'
is "the defaults of 2.15 do not count as settings of 2.13" "$(settings "$DATA/simple.log")" 0
like "a log of 2.15 is compared with the defaults of 2.15" "$(fxexplain report of215.log)" 'not the defaults of torch 2.15:'
is "six settings differ from the defaults of 2.15" "$(settings of215.log)" 6
# A log that does not say whose it is (before 2.10): its settings tell.
for release in 6 9; do
	old=$DATA/old/v2${release}_simple.log
	is "the log of 2.$release does not name its release" "$(fxexplain --json "$old" | jq .summary.torch_version)" null
	is "defaults of 2.$release do not count as settings" "$(settings "$old")" 0
	sed 's/\\"recompile_limit\\": 8/\\"recompile_limit\\": 9/; s/\\"cache_size_limit\\": 8/\\"cache_size_limit\\": 9/' "$old" >set.log
	like "a setting of 2.$release is reported" "$(fxexplain report set.log)" "not the defaults of torch 2.$release:.*(recompile|cache_size)_limit = 9"
done
# A recompile with an empty reason (torch before 2.13; pytorch#154707).
other=$DATA/old/v29_other_backend.log
is "an unknown reason for a recompile is empty" "$(fxexplain --json "$other" | jq -c '.recompiles[0] | [.against, .guard]')" '["0/0",null]'
like "an unknown reason is shown as unknown" "$(fxexplain "$other")" "changed +0/1  the log does not say which guard failed.*another backend=.*pytorch#144787"
like "an unknown reason is shown as unknown in a report, too" "$(fxexplain report "$other")" '0/1. at ./home/user/app/other_backend.py:5 in f.: the log gives no reason'
# A fix that names what the log's torch does not have is none.
tar -xJf "$ROOT/tests/data/causes/v213.tar.xz" ./loggers
cat loggers/trace/*.log >loggers.log
fixes() { sed "s/\"pytorch_version\": \"2[^\"]*\"/\"pytorch_version\": \"$1\"/; s/^\t\"2.13.0[^\"]*\"/\t\"$1\"/" loggers.log >of.log; fxexplain --json of.log 2>&1 | jq '[.findings[].fix | strings, arrays | tostring | select(test("ignore_logging_functions"))] | length'; }
is "a fix by a setting of 2.12 is suggested since 2.12" "$(fixes 2.13.0) $(fixes 2.12.1) $(fixes 2.9.1) $(fixes 2.6.0)" "1 1 0 0"
# torch.export compiles with settings of its own.
is "settings of torch.export do not count as the user's" "$(settings "$DATA/export.log")" 0
exits "report with a missing log" 3 fxexplain report nosuch.log
exits "report --max" 1 fxexplain report --max graph-breaks=0 "$DATA/graph_breaks.log"
for o in --json --sarif --github --html; do
	exits "report with $o is rejected" 2 fxexplain report $o "$DATA/simple.log"
done
cat >plain.py <<'EOS'
import torch
# a comment of the program
def f(x):
    return torch.relu(x)

torch.compile(f)(torch.ones(2))

# RuntimeError: relu is broken
#   in <two> lines
#
# versions: torch 2.13.0+cpu, Python 3.11.7
# made by fxminify 0.1.0: fxminify launcher.py
# verified: fails the same way in a fresh process with all caches off
EOS
exits "report with a program from fxminify alone" 0 fxexplain report --repro plain.py
# shellcheck disable=SC2016 # those are Markdown's
like "the report has its error, program, state and versions" "$(cat out)" 'Describe the bug.*`RuntimeError: relu is broken`.*Error logs.*
RuntimeError: relu is broken
  in <two> lines
.*Minified repro.*def f\(x\):.*It fails the same way in a fresh process.*Versions.*- torch 2\.13\.0\+cpu'
run fxexplain report --repro plain.py "$DATA/simple.log"
is "with a log the versions are the log's" "$(grep -c '^- torch' out) $(grep -c '^- torch 2.13.0+cpu, Python' out)" "1 0"
printf '#: made by fxminify 0.1.0\n#: failure: crashed: SIGSEGV\n#: verified: crashes\nimport torch\n' >launcher.py
exits "report with a launcher from fxminify" 0 fxexplain report --repro launcher.py
like "the report has its error and state" "$(cat out)" 'crashed: SIGSEGV.*It crashes\.'
exits "report without a log or a program" 2 fxexplain report
exits "report with a missing --repro" 3 fxexplain report --repro nosuch.py "$DATA/simple.log"

# ---- hostile names ----
for log in "$ROOT"/tests/data/broken/hostile_{names,text}.log; do
	name=$(basename "$log")
	for form in --json --sarif; do
		run fxexplain -q $form "$log"
		is "hostile names, $name: $form is valid" "$status $(jq -e . out >parsed 2>&1 && echo valid)" "0 valid"
	done
	run fxexplain -q --github "$log"
	is "hostile names, $name: --github has one line per finding" "$(grep -cvE '^::(error|warning|notice) ' out)" 0
	run fxexplain -q --html "$log"
	is "hostile names, $name: --html has no additional scripts" "$(grep -c '<script' out)" "$(fxexplain --html "$DATA/simple.log" | grep -c '<script')"
	run fxexplain -q report "$log"
	# shellcheck disable=SC2016 # code in backquotes, not a command
	is "hostile names, $name: report has no markup" "$status $(sed '/^```/,/^```/d; s/`[^`]*`//g' out | grep -c '<script')" "0 0"
done
# ---- text that would drive a terminal, or turn a name round ----
printf 'Traceback (most recent call last):\n  File "/x/\xe2\x80\xae\xc2\x9b31m.py", line 3, in \xe2\x81\xa6f\n    g()\nRuntimeError: \xc2\x9b31m a \xe2\x80\xae b\n' >bidi.log
for o in report --github --text; do
	[ $o = --text ] && o=
	fxexplain $o bidi.log >out 2>&1
	is "no terminal escapes with '$o'" "$(LC_ALL=C grep -cP '\x1b|\x07|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]' out)" 0
done
done_testing
