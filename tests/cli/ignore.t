#!/bin/bash
# Findings that a comment silences (# pt2: ignore GB0124): by the line in the log, by the file on this machine; they count nowhere, and
# every output says that they are there.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cp "$DATA"/{graph_breaks,recompiles}.log .
ids() { jq -r '[.findings[].id] | join(" ")' out; }
ignored() { jq -r '[.ignored[] | "\(.id) \(.location.line) \(.ignored_by)"] | join(", ")' out; }
comment() { # comment FILE LINE TEXT : appends it to that line
	sed -i "$2s/\$/  # $3/" "$1"
}

run fxexplain --json graph_breaks.log
all=$(ids)
is "without the program nothing is ignored" "$(jq -c '[.summary.ignored, .ignored]' out)" '[0,[]]'
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
run fxexplain --json graph_breaks.log
is "without a comment neither" "$(ids)" "$all"

# ---- the file ----
comment graph_breaks.py 9 "pt2: ignore GB0124"
run fxexplain --json graph_breaks.log
is "an id: this finding only, not the other of the line" "$(ids)" "${all/ GB0124/}"
is "what silenced it" "$(ignored)" "GB0124 9 # pt2: ignore"
is "it is counted" "$(jq -c '[.summary.ignored, .summary.findings]' out)" "[1,$(wc -w <<<"${all/ GB0124/}")]"
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
comment graph_breaks.py 9 "pt2: ignore"
run fxexplain --json graph_breaks.log
is "without an id: all of the line" "$(ids)" "${all/ GB0124 GB0059/}"
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
comment graph_breaks.py 27 "pt2: ignore graph-break -- it is asked for"
run fxexplain --json graph_breaks.log
is "a kind" "$(ignored)" "GB0025 27 # pt2: ignore"
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
sed -i '20s/.*/    # pt2: ignore GB0007/' graph_breaks.py
run fxexplain --json graph_breaks.log
is "the line above" "$(ignored)" "GB0007 21 # pt2: ignore"
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
sed -i '9s/.*/    print("another line")  # pt2: ignore/' graph_breaks.py
run fxexplain --json graph_breaks.log
is "a line that is no longer what ran silences nothing" "$(ids)" "$all"
cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" .
comment graph_breaks.py 50 "pt2: ignore"
run fxexplain --json graph_breaks.log
is "a failure cannot be ignored" "$(ids)" "$all"
mkfifo pipe && mv graph_breaks.py kept.py && ln -s pipe graph_breaks.py
exits "a pipe of that name is not read" 0 timeout 20 fxexplain graph_breaks.log
rm graph_breaks.py

# A recompile is found at the head of its function.
cp "$ROOT/scripts/fixtures/traces/recompiles.py" .
comment recompiles.py 19 "pt2: ignore recompile-limit"
run fxexplain --json recompiles.log
is "a recompile limit" "$(ignored)" "recompile-limit 19 # pt2: ignore"
cp "$ROOT/scripts/fixtures/traces/recompiles.py" .
comment recompiles.py 30 "pt2: ignore recompile"
run fxexplain --json recompiles.log
is "at its def, though a guard's line is its place" "$(ignored)" "recompile 31 # pt2: ignore"

# ---- the line in the log ----
sed 's/# Tensor.item() and print/# pt2: ignore GB0124  &/' graph_breaks.log >quoted.log
run fxexplain --json quoted.log
is "the log's own line, without the program" "$(ignored)" "GB0124 9 # pt2: ignore"

{ yes '' | head -211 && echo '    boom()  # pt2: ignore'; } >textlogs.py
run fxexplain --json "$ROOT/tests/data/logs/crash.log"
is "what ended the program cannot be ignored" "$(ignored)" ""

# ---- every output ----
run fxexplain quoted.log
like "text" "$(grep ignored out)" '^1 finding ignored: GB0124 at graph_breaks.py:9 \(# pt2: ignore\)$'
run fxexplain --sarif quoted.log
is "SARIF: suppressed in the source" "$(jq -c '[.runs[0].results[] | select(.suppressions) | [.ruleId, .suppressions]]' out)" \
	'[["GB0124",[{"kind":"inSource","justification":"# pt2: ignore"}]]]'
is "SARIF: its rule is there" "$(jq -r '.runs[0].results[] | select(.suppressions).ruleIndex as $i | .ruleId' out)" "GB0124"
GITHUB_STEP_SUMMARY=$PWD/summary run fxexplain --github quoted.log
is "GitHub: no annotation" "$(grep -c GB0124 out)" 0
like "GitHub: the summary" "$(cat summary)" '1 finding ignored: GB0124 at graph'
run fxexplain --html=page.html quoted.log
ok "page" grep -q '"ignored_by":"# pt2: ignore"' page.html
run tlparse --html=page.html quoted.log
ok "tlparse's page" grep -q '"ignored_by":"# pt2: ignore"' page.html

# ---- limits and baselines ----
breaks=$(jq .summary.graph_breaks <(fxexplain --json graph_breaks.log))
count=$(jq '[.findings[] | select(.id == "GB0124").count] | add' <(fxexplain --json graph_breaks.log))
exits "--max without the comment" 1 fxexplain --max "graph-breaks=$((breaks - 1))" graph_breaks.log
exits "--max does not count what is ignored" 0 fxexplain --max "graph-breaks=$((breaks - count))" quoted.log
exits "nor more than that" 1 fxexplain --max "graph-breaks=$((breaks - count - 1))" quoted.log
is "nor names its place" "$(grep -c graph_breaks.py:9 err)" 0
exits "tlparse --max does the same" 0 tlparse -q --json --max "graph-breaks=$((breaks - count))" quoted.log
fxexplain --json quoted.log >old.json
exits "an ignored finding is no regression" 0 fxexplain --baseline old.json quoted.log
exits "without the comment it is" 1 fxexplain --baseline old.json graph_breaks.log
done_testing
