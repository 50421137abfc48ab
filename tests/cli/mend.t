#!/bin/bash
# fxexplain mend without torch: what it asks for, accepts, refuses, writes and leaves (tests/lib/fakemend.py plays the server), and the edits that share/mend
# makes of texts (tests/lib/mend_edits.py). tests/live/mend.t has real programs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir tmp
export TMPDIR=$TMP/tmp FAKE_WORDS="WRONG STAYS WORSE-GOOD LATE-GOOD GOOD"
printf '#!/bin/sh\nexec python3 "%s/tests/lib/fakemend.py"\n' "$ROOT" >python3-fake
chmod +x python3-fake
echo 'print("hello")' >app.py
cp app.py app.py.was
mend() { timeout 60 fxexplain mend --unconfined "$@"; }
value() { python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print($2, sep=', ')" "$1"; }

# ---- the search ----
mend -o p.patch -- ./python3-fake app.py x y >out 2>err
like "it says before the first run what will be run" "$(cat err)" 'runs app.py up to 60 times.*--unconfined: what it writes and sends is real'
like "eager, and what is not compared" "$(cat out)" 'eager .*exit 0, 2 steps.*not compared, since two eager runs differ: seconds'
like "an edit with other results is refused" "$(cat out)" 'no +operator +WRONG.*parameters differ at step 2'
like "an edit that leaves the finding is refused" "$(cat out)" 'no +operator +STAYS.*the break stays'
like "an edit that compiles less is refused" "$(cat out)" 'WORSE-GOOD.*less is compiled: 10 of 100 operations in graphs'
like "an edit that differs with aot_eager is refused" "$(cat out)" 'LATE-GOOD.*with aot_eager: parameters differ at step 2'
like "what is accepted shows its price" "$(cat out)" 'ok +operator +GOOD.*its price: its price'
like "the end has the figures" "$(cat out)" '[0-9]+ breaks? -> 0, .*9 graph calls -> 4.*proven with aot_eager and as it is; [0-9]+ runs'
mend -- ./python3-fake app.py x y >out 2>err
like "what comes next can be pasted" "$(cat out)" 'fxexplain mend -o mend.patch -- ./python3-fake app.py x y
  patch -p1 < mend.patch'
mend -- ./python3-fake app.py 'x y' >out 2>err
like "... where it has no blanks or signs of the shell's" "$(cat out)" 'fxexplain mend -o mend.patch -- \.\.\.'
unlike "no escape sequence reaches the terminal" "$(cat out)" $'\x1b'
is "the program is not changed" "$(cat app.py)" "$(cat app.py.was)"
ok "the patch applies" sh -c 'mkdir p && cp app.py p && cd p && patch -p1 <../p.patch && grep -q "# GOOD" app.py'
is "nothing is left" "$(find tmp -mindepth 1 | head -3)" ""
exits "--json" 0 mend --json -- ./python3-fake app.py
is "the tries are in it" "$(value out '[t["accepted"] for t in d["tries"]][:5], d["edits"][0]["price"], d["after"]["graph_breaks"]')" "[False, False, False, False, True], its price, 0"
exits "--apply" 0 mend --apply -- ./python3-fake app.py
like "the file has the edit" "$(cat app.py)" '# GOOD'
is "the original is kept" "$(cat app.py.orig)" "$(cat app.py.was)"
exits "--apply does not overwrite a kept original" 4 mend --apply -- ./python3-fake app.py
like "it says so" "$(cat err)" 'app.py.orig. exists'
rm app.py.orig && cp app.py.was app.py
FAKE_WORDS="STAYS WRONG" exits "nothing helps" 1 mend -- ./python3-fake app.py
like "it says what the edits did, and why it is hard" "$(cat out)" "Left.*2 edits were tried: 1 leaves it, 1 changes results; how often this loop runs"
like "it says so" "$(cat out)" 'Nothing that was tried helps'
exits "--runs ends the search" 5 mend --runs=5 -- ./python3-fake app.py
like "it says why" "$(cat out)" 'stopped early: the runs'

# ---- a program that only crashes when it is compiled ----
FAKE_CRASH="raised TypeError" exits "compiled crashes, eager does not" 0 mend --no-as-is -- ./python3-fake app.py
like "the first run says so, with the error" "$(cat out)" 'compiled .*graph calls?; compiled crashes, eager does not: TypeError: only 0-dimensional'
like "it is the verdict, and the edits mend it" "$(cat out)" 'Verdict: compiled crashes, eager does not: TypeError: only 0-dimensional.*; not with these edits'
unlike "no escape sequence reaches the terminal" "$(cat out)" $'\x1b'
FAKE_CRASH="killed by SIGSEGV" FAKE_WORDS=STAYS exits "no edit mends it" 1 mend -- ./python3-fake app.py
like "the verdict has how it ends" "$(cat out)" 'Verdict: compiled crashes, eager does not: killed by SIGSEGV[[:space:]]'
FAKE_CRASH="killed by SIGSEGV" FAKE_WORDS=STAYS run mend --json -- ./python3-fake app.py
is "in --json" "$(value out 'd["compiled_crashes"], d["crash"]')" "True, killed by SIGSEGV"
FAKE_CRASH="took longer than 600 s" FAKE_WORDS=STAYS run mend -- ./python3-fake app.py
like "one that takes long does not crash" "$(cat out)" 'differs from eager: ends differently: took longer'
unlike "nor is it called so" "$(cat out)" Verdict

# ---- the journal ----
exits "a journal is written" 0 mend --journal=j -- ./python3-fake app.py
is "a line for each try" "$(grep -c verdict j)" "$(grep -cE '^    (no|ok) ' out)"
exits "--resume" 0 mend --journal=j --resume -- ./python3-fake app.py
like "refused ones are not tried again" "$(cat out)" 'WRONG.*parameters differ at step 2 \(from the journal\)'
exits "--resume needs a journal" 2 mend --resume -- ./python3-fake app.py
echo 'print("other")' >other.py
exits "another program's lines are not used" 0 mend --journal=j --resume -- ./python3-fake other.py
unlike "they are not" "$(cat out)" 'from the journal'

# ---- what is faster, what is right ----
FAKE_WORDS="WORSE WRONG-FAST FAST" exits "--slow" 0 mend --slow -o slow.patch -- ./python3-fake app.py
like "the time decides, with equal results" "$(cat out)" 'no +operator +WORSE.*not faster.*no +operator +WRONG-FAST.*parameters differ.*ok +operator +FAST'
like "both times are shown, as is" "$(cat out)" '2\.00 s -> 1\.00 s until compiled, 1\.00 ms -> 0\.40 ms a step; proven on the whole program'
like "the patch has it" "$(cat slow.patch)" '# FAST'
FAKE_WORDS=WORSE exits "nothing is faster" 1 mend --slow -- ./python3-fake app.py
like "it says so" "$(cat out)" 'Nothing that was tried makes it faster'
exits "numbers that are right" 0 mend --wrong -- ./python3-fake app.py
like "it says so" "$(cat out)" 'The numbers are right'
echo '{"schema": "pt2utils.wrong/1", "component": "inductor", "part": "max_fusion_size=1", "fault": {"node": "relu_1", "kernel": "cpp_fused_relu_0"}}' >wrong.json
FAKE_WRONG=1 FAKE_WORDS="STAYS RIGHT RIGHT-TOO" exits "--wrong" 0 mend --wrong --verdict=wrong.json --json -- ./python3-fake app.py
is "the first that makes them right" "$(value out 'd["goal"], [t["accepted"] for t in d["tries"]], d["edits"][0]["title"].split()[0], d["as_is"]["equal"]')" "wrong, [False, True], RIGHT, True"
like "the candidates are told what run --wrong found" "$(cat asked)" "'kind': 'wrong', 'compiling': True, 'recompiles': [0-9]+, 'component': 'inductor', 'part': 'max_fusion_size=1', 'node': 'relu_1', 'kernel': 'cpp_fused_relu_0'"
FAKE_WRONG=1 FAKE_WORDS=STAYS exits "nothing makes them right" 1 mend --wrong -- ./python3-fake app.py
exits "a document of another kind" 3 mend --wrong --verdict=app.py -- ./python3-fake app.py
exits "a document that is missing" 3 mend --wrong --verdict=nosuch.json -- ./python3-fake app.py
exits "--verdict needs --wrong" 2 mend --verdict=wrong.json -- ./python3-fake app.py
exits "both questions at once" 2 mend --slow --wrong -- ./python3-fake app.py

# ---- what cannot be ----
FAKE_HELLO="python3 cannot import torch (no)" exits "no torch" 4 mend -- ./python3-fake app.py
like "the message" "$(cat err)" 'cannot import torch'
FAKE_HELLO="the program cannot get its own view of the files here (mount: EPERM)" run fxexplain mend -- ./python3-fake app.py
[ "$status" != 4 ] || like "without its own view it asks for --unconfined" "$(cat err)" '\-\-unconfined'
printf '#!/bin/sh\necho broken >&2; exit 3\n' >python3-bad && chmod +x python3-bad
exits "a Python that does not start" 4 timeout 20 fxexplain mend --unconfined -- ./python3-bad app.py
like "its own message is shown" "$(cat err)" 'did not start: broken'
exits "several processes" 2 mend -- torchrun app.py
exits "no Python program" 2 mend -- sh -c true
exits "no file" 2 mend -- ./python3-fake -c pass
exits "a missing file" 3 mend -- ./python3-fake nosuch.py
exits "a missing Python" 4 mend -- ./nosuch app.py
FAKE_WORDS=DIE exits "a server that dies" 4 mend -- ./python3-fake app.py
like "the message" "$(cat err)" 'ended without an answer'
is "nothing is left" "$(find tmp -mindepth 1 | head -3)" ""
FAKE_WORDS=HANG timeout --preserve-status -s INT 3 fxexplain mend --unconfined -- ./python3-fake app.py >out 2>err
is "Ctrl-C ends it" "$?" 130
is "nothing is left then" "$(find tmp -mindepth 1 | head -3; pgrep -f "$TMP/tmp" | head -3)" ""
# As a shell script's job in the background is: SIGINT is ignored, and stays it; SIGTERM ends all.
(
	trap '' INT
	FAKE_WORDS=HANG exec fxexplain mend --unconfined -- ./python3-fake app.py >out 2>err # timeout(1) would no longer ignore it
) &
job=$!
wait_for() { for _ in {1..100}; do "$@" && return; sleep 0.1; done; return 1; }
hangs() { [ -n "$(find tmp -path '*/try-3' 2>/dev/null)" ]; }
ok "a job in the background is running" wait_for hangs
kill -INT $job
sleep 0.5
ok "SIGINT stays ignored in it" grep -q '^State:[[:space:]][^Z]' /proc/$job/status
kill -TERM $job
timeout 30 tail --pid=$job -f /dev/null || kill -KILL $job
wait $job
is "SIGTERM ends it" "$?" 143
is "nothing is left then, either" "$(find tmp -mindepth 1 | head -3; pgrep -f "$TMP/tmp" | head -3)" ""

# ---- edits ----
while IFS= read -r line; do
	case $line in ok*) pass "${line#ok - }" ;; *) fail "${line#not ok - }" "see tests/lib/mend_edits.py" ;; esac
done < <(PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/lib/mend_edits.py" "$ROOT/share" 2>edits.err)
is "all of them were tried" "$(cat edits.err)" ""
done_testing
