#!/bin/bash
# aoti-checkinputs -- COMMAND: statuses, streams, signals, where its words go, and what it leaves behind. The command uses
# models without torch (tests/lib/livehost.c); what the probe sees is in tests/unit/watch/test_live.c, with torch in tests/live.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
host=$BUILD/tests-lib/livehost fake=$BUILD/tests-lib/faketorch.so
[ -x "$host" ] || skip_all "$host is not built"
mkdir tmp
export TMPDIR=$TMP/tmp OMP_NUM_THREADS=1
last() { tail -n 1 err; }

exits "the command's status is returned" 7 aoti-checkinputs -- sh -c 'exit 7'
exits "a command that uses no model: 4" 4 aoti-checkinputs -- true
like "and it is said" "$(last)" 'no compiled model was seen'
exits "a command that does not exist: 4" 4 aoti-checkinputs -- ./nothing
like "and it is said" "$(last)" 'nothing'
run aoti-checkinputs -- sh -c 'cat; echo there >&2' <<<"here"
is "standard input and output are the command's" "$(cat out)" "here"
like "and so is standard error" "$(cat err)" '^there'
run bash -c 'aoti-checkinputs -- sh -c "kill -TERM \$\$"; exit $(($? == 143 ? 50 : 51))'
is "a command that a signal ends: the tool ends likewise" "$status" 50

# A signal to the tool reaches the command; what it made is removed.
aoti-checkinputs -- sh -c 'trap "exit 9" TERM; echo up >up; while :; do sleep 0.05; done' 2>err &
tool=$!
until [ -s up ]; do sleep 0.05; done
kill -TERM $tool
wait $tool
is "SIGTERM is passed on" $? 9
is "no folder is left behind" "$(ls tmp)" ""

if echo 'int main(void) { return 0; }' | cc -static -x c - -o static 2>/dev/null; then
	exits "a static program: 4" 4 aoti-checkinputs -- ./static
	like "and the reason" "$(last)" 'static program'
else
	skip "a static program" "no static libc"
fi

# Nothing was looked at: never a quiet 0.
fakes=$BUILD/tests-lib
# shellcheck disable=SC2086 # a tool and its options
for tool in aoti-checkinputs aoti-printer "aoti-printer --profile" "aoti-printer --record=kept" "aoti-printer --ima" aoti-nanassert "aoti-nanassert --json"; do
	exits "$tool: a model that is not called: 4" 4 $tool -- "$host" "torch=$fake" "load=$fakes/quietmodel.so"
	like "$tool: is said" "$(cat err)" '1 model was seen but never called: nothing was checked'
	exits "$tool: a Run that is not seen: 4" 4 $tool -- "$host" "torch=$fake" "load=$fakes/latemodel.so" 'call=f32[4]'
	like "$tool: is said, too" "$(cat err)" '1 Run was called through a pointer obtained before the model was known'
done
exits "one that calls nothing while it is loaded is seen" 4 aoti-checkinputs --no-exec -- "$host" "torch=$fake" "load=$fakes/quietmodel.so" 'call=f32[4]'
like "and its calls, too" "$(last)" '1 model, 1 call, 0 did not fit, 1 not checked'

if ! grep -qw avx2 /proc/cpuinfo; then
	skip "models" "the recorded models are x86-64-v3 code"
	done_testing
	exit
fi
xz -dc "$ROOT/tests/data/aoti/mixed.pt2.xz" >mixed.pt2
unzip -q mixed.pt2 'mixed/data/aotinductor/*'
so=$(echo mixed/data/aotinductor/model/*.so)
good='f32[2,3,12];b8[2,3];i32[];bf16[2,3,12]/(12,24,1)' bad='f32[2,3,12];b8[2,3];i64[];bf16[2,3,12]/(12,24,1)'
uses() { echo "$host" "torch=$fake" "load=$so" "$@"; }

# shellcheck disable=SC2046 # the words are separate on purpose
{
	exits "good calls: 0" 0 aoti-checkinputs -- $(uses "call=$good")
	like "the last line" "$(last)" '1 model, 1 call, 0 did not fit'
	exits "a bad call: 1" 1 aoti-checkinputs -- $(uses "call=$good" "call=$bad")
	like "it ran all the same" "$(cat out)" 'rc 0 .*rc 0 '
	like "what was wrong" "$(cat err)" 'input 2 arg2_1, args\[2\]: dtype: expected int32, given int64'
	exits "--error-exitcode" 33 aoti-checkinputs --error-exitcode=33 -- $(uses "call=$bad")
	exits "--error-exitcode without a finding" 0 aoti-checkinputs --error-exitcode=33 -- $(uses "call=$good")
	exits "--fail" 1 aoti-checkinputs --fail -- $(uses "call=$bad" alive)
	like "--fail: the call returned an error" "$(cat out)" '^rc 1 input_handles\[2\]: unmatched dtype'
	exits "--log" 1 aoti-checkinputs --log log -- $(uses "call=$bad")
	like "--log: the finding is there" "$(cat log)" 'expected int32, given int64'
	unlike "--log: and not on standard error" "$(cat err)" 'int64'
	exits "-q" 1 aoti-checkinputs -q -- $(uses "call=$bad")
	is "-q: nothing is said" "$(cat err)" ""
	exits "many wrong calls are not told one by one" 1 aoti-checkinputs -- $(uses "threads=1x1000:$bad")
	ok "but in a few lines" test "$(wc -l <err)" -lt 40
	like "and counted" "$(last)" '100[01] calls, 100[01] did not fit'
	# The command's own status is not hidden by a finding, and is by --error-exitcode.
	exits "a finding and a failing command" 99 aoti-checkinputs -- $(uses "call=$bad" nonsense)
	exits "--error-exitcode hides it" 33 aoti-checkinputs --error-exitcode=33 -- $(uses "call=$bad" nonsense)
	# A text of which bounds are not understood.
	mkdir -p newer && cp -r mixed/data/aotinductor/model/* newer
	sed -i -E 's/^    if \((arg0_1_size\[0\]) > ([0-9]+)\) \{/    if (above(\1, \2)) {/' newer/*.wrapper.cpp
	exits "as far as understood: 5" 5 aoti-checkinputs -- "$host" "torch=$fake" "load=$(echo newer/*.wrapper.so)" "call=$good"
	like "of which model, and what" "$(last)" '1 call, 0 did not fit; in .*newer/.*\.so 1 check was not understood$'
	# Without the text beside it the library is run on nothing, in the sandbox.
	cp "$so" bare.so
	if aoti-checkinputs -q bare.so 2>err; then
		exits "a library without its text" 1 aoti-checkinputs -- "$host" "torch=$fake" load=./bare.so "call=$good" "call=$bad"
		like "is probed" "$(cat err)" 'expected int32, given int64'
	else
		skip "a library without its text" "$(last)"
	fi
	exits "--no-exec: nothing is checked, and that is no 0" 4 aoti-checkinputs --no-exec -- "$host" "torch=$fake" load=./bare.so "call=$good"
	like "--no-exec: it is said" "$(cat err)" 'not checked'
}
# A file name with a colon cannot stand in LD_PRELOAD.
mkdir -p 'a:b'/{bin,lib/pt2utils}
cp "$BUILD/bin/aoti-checkinputs" 'a:b/bin'
cp "$BUILD/lib/pt2utils/libpt2probe.so" 'a:b/lib/pt2utils'
# shellcheck disable=SC2046
exits "a folder with a colon" 1 './a:b/bin/aoti-checkinputs' -- $(uses "call=$bad")
is "no folder is left behind at the end" "$(ls tmp)" ""
done_testing
