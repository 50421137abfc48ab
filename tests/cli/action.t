#!/bin/bash
# action.yml and scripts/ci/fxexplain-ci: the steps as GitHub's runner has them (tests/lib/run_action.py), on programs that leave recorded
# traces; comments go to a stand-in for the API. tests/live/action.t has real programs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
ci=$ROOT/scripts/ci/fxexplain-ci
unset TORCH_TRACE "${!GITHUB_@}" "${!CI_@}" "${!BUILDKITE_@}" "${!PT2_@}"

mkdir -p checkout/app job
cd checkout || exit 4
: >app/graph_breaks.py
: >app/simple.py
# A program as torch's: its log, and its name in the command line is all that a change changes.
cat >prog <<'EOS'
#!/bin/sh
[ -z "$PT2_TOKEN" ] || touch token-seen
[ "$1" = none ] || cp "$DATA/$1.log" "$TORCH_TRACE/dedicated_log_torch_trace_$$.log"
echo "its own output"
echo "its own words" >&2
exit "${2:-0}"
EOS
chmod +x prog
# In a package's build there is no network, not even the loopback: then nothing of comments is tried.
net=true
python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname())' 2>/dev/null || net=false
heard() { if $net; then "$@"; else skip "$2" "no loopback here"; fi; }
serve() { # serve [STATUS] : the API anew, with what was said before
	[ -z "${api-}" ] || { kill "$api"; wait "$api"; } 2>/dev/null
	rm -f ../job/port ../job/calls
	api_at=http://127.0.0.1:9 api=
	export GITHUB_API_URL=$api_at
	$net || return 0
	python3 "$ROOT/tests/lib/comments.py" ../job "$@" &
	api=$!
	while [ ! -e ../job/port ]; do sleep 0.02; done
	api_at=http://127.0.0.1:$(cat ../job/port)
	export GITHUB_API_URL=$api_at
}
trap '[ -z "$api" ] || kill "$api" 2>/dev/null; cd /; rm -rf "$TMP"' EXIT
export GITHUB_REPOSITORY=them/theirs GITHUB_SERVER_URL=https://github.example GITHUB_RUN_ID=7 GITHUB_RUN_ATTEMPT=1 GITHUB_TOKEN=t0k3n
echo '{"pull_request": {"number": 12}}' >../job/event
export GITHUB_EVENT_PATH=$TMP/job/event
action() { # action EVENT INPUT=VALUE... : the job's status in $status
	rm -f ../job/summary ../job/uses
	GITHUB_EVENT_NAME=$1 run python3 "$ROOT/tests/lib/run_action.py" "$ROOT/action.yml" ../job package= "${@:2}"
}
output() { sed -n "s/^$1=//p" ../job/outputs; }
breaks() { jq .summary.graph_breaks .fxexplain/baseline.json; } # of the baseline
said() { jq -r '.[].body' ../job/comments.json 2>/dev/null; }
uses() { jq -r .uses ../job/uses | tr '\n' ' '; }
serve

# ---- no baseline, then one ----
action pull_request run='./prog simple'
is "a request without a baseline" "$status $(output verdict) $(output status)" "0 new 0"
is "makes one, for itself alone" "$(breaks) $(output baseline-written) $(ls ../job/cache)" "0 true "
is "and no comment" "$(said)" ""
rm -r .fxexplain
action push run='./prog simple'
is "a push" "$status $(output verdict)" "0 new"
like "its baseline goes into the cache, by name, machine, release" "$(ls ../job/cache)" '^fxexplain-ci-fxexplain-[a-z0-9_]+-[0-9.]+-7-1$'
like "the program's output is its own" "$(cat out)" '(^|
)its own output'
artifact() { jq -r 'select(.uses == "actions/upload-artifact").with.name' ../job/uses; }
is "page, documents and baseline are uploaded" "$(artifact) $(uses)" \
	"fxexplain actions/cache/restore actions/cache/save actions/upload-artifact "
for kind in html json sarif; do ok "the output $kind" test -s "$(output $kind)"; done
is "a baseline says nothing of time or machine" "$(grep -cE 'seconds|/|time' .fxexplain/baseline.json)" 0
rm -r .fxexplain

# ---- a regression ----
export GITHUB_RUN_ID=8
action pull_request run='./prog graph_breaks' sarif=true
is "a new graph break" "$status $(output verdict) $(output status)" "1 worse 1"
is "against the cache's baseline, which stays" "$(breaks) $(find ../job/cache -type f | wc -l)" "0 1"
like "is annotated at its line" "$(cat out)" \
	'::warning file=app/graph_breaks.py,line=14,title=graph-break [A-Z0-9]+::Data-dependent branching'
like "the job's summary has it" "$(cat ../job/summary)" \
	'worse than before.*more: graph breaks.*\| warning \| Data-[^|]*\| .app/graph_breaks.py:14 in sign. \|.*them/theirs/actions/runs/8'
is "SARIF is uploaded" "$(uses)" "actions/cache/restore github/codeql-action/upload-sarif actions/upload-artifact "
is "with what is new" "$(jq -r '[.runs[0].results[].baselineState] | unique[]' "$(output sarif)")" new
is "at the right places" "$(jq -r '.runs[0].results[].locations[].physicalLocation.artifactLocation.uri' "$(output sarif)" | sort -u)" \
	app/graph_breaks.py
heard like "a comment" "$(said)" '^<!-- pt2utils fxexplain-ci: fxexplain -->.*worse than before.*more: graph breaks: 8, 0 before'
heard like "by the token of the job" "$(cat ../job/calls)" 'POST /repos/them/theirs/issues/12/comments Bearer t0k3n'
ok "which the program did not see" test ! -e token-seen
cp "$(output html)" page.html
like "the page" "$(tail -c 8 page.html)" "</html>"
# The change is mended: the comment is made right, not repeated; others' are left alone.
jq '[{id: 1, body: "what <!-- pt2utils fxexplain-ci: fxexplain --> is"}] + [.[] | .id = 2]' ../job/comments.json >c
mv c ../job/comments.json
action pull_request run='./prog simple'
is "mended" "$status $(output verdict)" "0 same"
heard is "the comment says so" "$(said | grep -c '^###') $(said | grep '^###')" "1 ### fxexplain: as before"
heard like "and no other was touched" "$(jq -r '.[0].body' ../job/comments.json)" '^what'
is "nothing is annotated" "$(grep -cE '^::(warning|error)' out)" 0
action pull_request run='./prog graph_breaks' name='big, one' fail-on=never
heard is "another job has another comment" "$status $(said | grep -c '^<!--')" "0 2"
is "and other names" "$(artifact)" big--one
# Its annotations are those of what is worse, not the ten that were always there.
cp "$(output json)" .fxexplain/baseline.json
action pull_request run='./prog graph_breaks'
is "nothing is new: nothing annotated" "$status $(output verdict) $(grep -cE '^::(warning|error)' out)" "0 same 0"
action pull_request run='./prog simple'
is "less of it" "$status $(output verdict)" "0 better"
action push run='./prog simple'
is "a push moves the baseline" "$(output baseline-written) $(breaks)" "true 0"

# ---- limits, the program, what is wrong ----
action pull_request run='./prog graph_breaks' update=always max='graph-breaks=7 recompiles=0' fail-on=never
is "fail-on: never" "$status $(output verdict) $(output status)" "0 worse 0"
action pull_request run='./prog graph_breaks' max='graph-breaks=7 recompiles=0'
like "limits" "$status $(output verdict) $(cat err)" '^1 worse .*graph breaks: 8, at most 7 allowed'
action pull_request run='./prog graph_breaks' max=nosuch=1
is "a limit that there is not" "$status $(output verdict)" "2 broken"
action pull_request run='./prog graph_breaks 6'
is "a program that fails: its status" "$status $(output verdict) $(output status)" "6 failed 6"
action pull_request run='./prog graph_breaks 1' fail-on=program
is "also with fail-on: program" "$status $(output verdict)" "1 failed"
action pull_request run='./prog none'
is "a program that compiles nothing" "$status $(output verdict)" "4 broken"
action pull_request run='sleep 60' timeout=1
is "a timeout" "$status $(output verdict)" "143 failed"
echo '{"tool": "tlparse"}' >.fxexplain/baseline.json
action pull_request run='./prog simple'
is "a baseline that is none" "$status $(output verdict) $(cat .fxexplain/baseline.json)" '3 broken {"tool": "tlparse"}'
action push run='./prog simple'
is "is made anew by a push" "$status $(output verdict) $(jq -r .tool .fxexplain/baseline.json)" "0 new fxexplain"
action push run='./prog simple' fail-on=nosuch
is "a word that there is not" "$status" 2
action push nosuch=1
is "an input that there is not" "$status" 9
# shellcheck disable=SC2016 # as somebody would write it there
action push run='./prog simple' name='$(touch harm)`touch harm`"; touch harm; "' baseline='a $(touch harm).json'
is "names are no commands" "$status $(find . -name harm | wc -l) $(find . -name 'a *.json' | wc -l)" "0 0 1"

# ---- without permission ----
serve 403
action pull_request run='./prog graph_breaks'
heard like "a fork may not comment: a notice, and the verdict stands" "$status $(grep ::notice out)" \
	'^1 .*no comment was written: HTTP Error 403'
action pull_request run='./prog simple' comment=always token=
like "no token" "$status $(grep ::notice out)" '^0 .*there is no token'
[ -z "$api" ] || { kill "$api"; wait "$api"; } 2>/dev/null
api=
action pull_request run='./prog simple' comment=always
heard like "no API" "$status $(grep ::notice out)" '^0 .*no comment was written: .*refused'
rm ../job/comments.json
serve
jq -n '[range(250) | {id: (. + 1), body: "x"}]' >../job/comments.json
action pull_request run='./prog graph_breaks'
heard is "among many comments" "$(jq length ../job/comments.json)" 251
action pull_request run='./prog simple'
heard is "it is found again" "$(jq length ../job/comments.json) $(jq -r '.[250].body' ../job/comments.json | grep -c 'as before')" "251 1"

# ---- by itself, as GitLab has it ----
unset "${!GITHUB_@}"
rm ../job/comments.json
mkdir sub && cd sub || exit 4
job() {
	run env CI_PROJECT_DIR="$TMP/checkout" CI_MERGE_REQUEST_IID=3 CI_PROJECT_ID=9 CI_API_V4_URL="$api_at" CI_JOB_URL=https://gl/j \
		PT2_TOKEN=g PT2_PACKAGE='' "$ci" "$@"
}
job job ../prog simple
is "a job" "$status $(cat fxexplain-ci/verdict)" "0 new"
job job ../prog graph_breaks
is "a regression" "$status $(cat fxexplain-ci/verdict)" "1 worse"
is "for GitLab: lines" "$(jq -c '[.[] | [.location.path, .severity]] | unique' fxexplain-ci/codequality.json)" \
	'[["app/graph_breaks.py","critical"],["app/graph_breaks.py","major"]]'
job job ../prog simple
heard is "one note, edited" "$status $(jq -r '.[].body' ../../job/comments.json | grep '^###') $(grep -c PUT ../../job/calls)" \
	"0 ### fxexplain: as before 1"
like "with its page" "$(cat fxexplain-ci/summary.md)" 'https://gl/j/artifacts/file/sub/fxexplain-ci/report.html'
unset -f job
exits "without a command" 2 env PT2_PACKAGE= "$ci" run
exits "nothing run yet" 4 env PT2_OUT=elsewhere "$ci" verdict
exits "no words: what there is" 2 "$ci"
done_testing
