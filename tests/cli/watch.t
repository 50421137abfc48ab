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
like "a message says that no model was seen" "$(last)" 'no compiled model was seen'
exits "a missing command: 4" 4 aoti-checkinputs -- ./nothing
like "the message names it" "$(last)" 'nothing'
run aoti-checkinputs -- sh -c 'cat; echo there >&2' <<<"here"
is "standard input and output are passed through" "$(cat out)" "here"
like "standard error is passed through" "$(cat err)" '^there'
run bash -c 'aoti-checkinputs -- sh -c "kill -TERM \$\$"; exit $(($? == 143 ? 50 : 51))'
is "a command killed by a signal: the tool dies of it, too" "$status" 50

# A signal to the tool reaches the command; what it made is removed.
aoti-checkinputs -- sh -c 'trap "exit 9" TERM; echo up >up; while :; do sleep 0.05; done' 2>err &
tool=$!
until [ -s up ]; do sleep 0.05; done
kill -TERM $tool
wait $tool
is "SIGTERM is forwarded" $? 9
is "no directory is left" "$(ls tmp)" ""

if echo 'int main(void) { return 0; }' | cc -static -x c - -o static 2>/dev/null; then
	exits "a static program: 4" 4 aoti-checkinputs -- ./static
	like "the message gives the reason" "$(last)" 'static program'
else
	skip "a static program" "no static libc"
fi

# Nothing was looked at: never a quiet 0.
fakes=$BUILD/tests-lib
# shellcheck disable=SC2086 # a tool and its options
for tool in aoti-checkinputs aoti-printer "aoti-printer --profile" "aoti-printer --record=kept" "aoti-printer --ima" aoti-nanassert "aoti-nanassert --json"; do
	exits "$tool: a model that is not called: 4" 4 $tool -- "$host" "torch=$fake" "load=$fakes/quietmodel.so"
	like "$tool: the message says that nothing was checked" "$(cat err)" '1 model was seen but never called: nothing was checked'
	exits "$tool: a Run through an earlier pointer: 4" 4 $tool -- "$host" "torch=$fake" "load=$fakes/latemodel.so" 'call=f32[4]'
	like "$tool: the message counts such Runs" "$(cat err)" '1 Run was called through a pointer obtained before the model was known'
done
exits "a model loaded without a call is seen" 4 aoti-checkinputs --no-exec -- "$host" "torch=$fake" "load=$fakes/quietmodel.so" 'call=f32[4]'
like "its later calls are seen" "$(last)" '1 model, 1 call, 0 did not fit, 1 not checked'

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
	exits "valid calls: 0" 0 aoti-checkinputs -- $(uses "call=$good")
	like "the summary counts calls" "$(last)" '1 model, 1 call, 0 did not fit'
	exits "an invalid call: 1" 1 aoti-checkinputs -- $(uses "call=$good" "call=$bad")
	like "the call ran anyway" "$(cat out)" 'rc 0 .*rc 0 '
	like "the mismatch is reported" "$(cat err)" 'input 2 arg2_1, args\[2\]: dtype: expected int32, given int64'
	exits "--error-exitcode" 33 aoti-checkinputs --error-exitcode=33 -- $(uses "call=$bad")
	exits "--error-exitcode without a finding" 0 aoti-checkinputs --error-exitcode=33 -- $(uses "call=$good")
	exits "--fail" 1 aoti-checkinputs --fail -- $(uses "call=$bad" alive)
	like "--fail makes the call return an error" "$(cat out)" '^rc 1 input_handles\[2\]: unmatched dtype'
	exits "--log" 1 aoti-checkinputs --log log -- $(uses "call=$bad")
	like "--log has the finding" "$(cat log)" 'expected int32, given int64'
	unlike "--log leaves standard error empty" "$(cat err)" 'int64'
	exits "-q" 1 aoti-checkinputs -q -- $(uses "call=$bad")
	is "-q prints nothing" "$(cat err)" ""
	exits "many invalid calls" 1 aoti-checkinputs -- $(uses "threads=1x1000:$bad")
	ok "they are reported in a few lines" test "$(wc -l <err)" -lt 40
	like "they are all counted" "$(last)" '100[01] calls, 100[01] did not fit'
	# The command's own status is not hidden by a finding, and is by --error-exitcode.
	exits "a finding in a failing command: the command's status" 99 aoti-checkinputs -- $(uses "call=$bad" nonsense)
	exits "--error-exitcode overrides that status" 33 aoti-checkinputs --error-exitcode=33 -- $(uses "call=$bad" nonsense)
	# A text of which bounds are not understood.
	mkdir -p newer && cp -r mixed/data/aotinductor/model/* newer
	sed -i -E 's/^    if \((arg0_1_size\[0\]) > ([0-9]+)\) \{/    if (above(\1, \2)) {/' newer/*.wrapper.cpp
	exits "unknown checks: 5" 5 aoti-checkinputs -- "$host" "torch=$fake" "load=$(echo newer/*.wrapper.so)" "call=$good"
	like "the summary names model and check" "$(last)" '1 call, 0 did not fit; in .*newer/.*\.so 1 check was not understood$'
	# Without the text beside it the library is run on nothing, in the sandbox.
	cp "$so" bare.so
	if aoti-checkinputs -q bare.so 2>err; then
		exits "a library without text" 1 aoti-checkinputs -- "$host" "torch=$fake" load=./bare.so "call=$good" "call=$bad"
		like "it is probed" "$(cat err)" 'expected int32, given int64'
	else
		skip "a library without its text" "$(last)"
	fi
	exits "--no-exec: nothing is checked: 4" 4 aoti-checkinputs --no-exec -- "$host" "torch=$fake" load=./bare.so "call=$good"
	like "--no-exec: the message says so" "$(cat err)" 'not checked'
}
# A file name with a colon cannot stand in LD_PRELOAD.
mkdir -p 'a:b'/{bin,lib/pt2utils}
cp "$BUILD/bin/aoti-checkinputs" 'a:b/bin'
cp "$BUILD/lib/pt2utils/libpt2probe.so" 'a:b/lib/pt2utils'
# shellcheck disable=SC2046
exits "an installation path with a colon" 1 './a:b/bin/aoti-checkinputs' -- $(uses "call=$bad")
is "no directory is left at the end" "$(ls tmp)" ""
done_testing
