#!/bin/bash
# aoti-checkinputs -- COMMAND: what is said and what the status is. (tests/unit/test_live.c has the library's side.)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
grep -qw avx2 /proc/cpuinfo || skip_all "the recorded models need AVX2"

check=aoti-checkinputs
mkdir mixed && (cd mixed && unzip -qo "$DATA/aoti/mixed.pt2")
so=$(find "$PWD/mixed" -name '*.so')
host() { echo "$BUILD/tests-lib/livehost" "torch=$BUILD/tests-lib/faketorch.so" "load=${so2-$so}"; }
good='f32[4,5,12];b8[4,5];i32[];bf16[4,5,12]/(12,48,1)'
bad='f32[4,5,12];b8[4,6];i64[];bf16[4,5,12]/(12,48,1)'

read -ra h <<<"$(host)"
exits "a good call" 0 $check -- "${h[@]}" "call=$good"
cp out with
like "what was seen" "$(cat err)" "1 model, 1 call, 0 did not fit"
run "${h[@]}" "call=$good"
ok "the command's own output is as without" cmp out with
exits "a wrong call" 1 $check -- "${h[@]}" "call=$bad"
like "the argument by name" "$(cat err)" 'args\[2\]|arg2_1'
like "torch's words" "$(cat err)" 'input_handles\[2\]: unmatched dtype, expected: 3\(at::kInt\), but got: 4'
like "the fix" "$(cat err)" 'to\(torch.int32\)'
exits "a status of one's own" 42 $check --error-exitcode=42 -- "${h[@]}" "call=$bad"
exits "not for a good call" 0 $check --error-exitcode=42 -- "${h[@]}" "call=$good"
exits "quiet" 1 $check -q -- "${h[@]}" "call=$bad"
is "is quiet" "$(cat err)" ""
exits "to a file" 1 $check --log wrong.txt -- "${h[@]}" "call=$bad"
is "not to standard error" "$(cat err)" ""
like "but there" "$(cat wrong.txt)" "unmatched dtype"
exits "a file that cannot be written" 4 $check --log /nosuch/file -- true
exits "stopped calls" 1 $check --fail -- "${h[@]}" "call=$bad" "call=$good"
like "the program sees an error with our text" "$(head -2 out)" "^rc 1 input_handles.2.: .*input 2 .arg2_1.: expected int32"
like "the next call runs" "$(tail -1 out)" "^rc 0"
like "and it is counted" "$(cat err)" "1 were stopped"
exits "many wrong calls are not told one by one" 1 $check -- "${h[@]}" "threads=1x1000:$bad"
ok "a few lines" test "$(wc -l <err)" -lt 100
like "all are counted" "$(tail -1 err)" "100[01] calls, 100[01] did not fit"

# The library without its text: the tool probes it while the program waits.
mkdir bare && cp "$so" bare/model.so
so2=$PWD/bare/model.so
read -ra b <<<"$(host)"
exits "a library without text" 1 $check -- "${b[@]}" "call=$bad"
exits "and good calls" 0 $check -- "${b[@]}" "call=$good"
exits "not if that is forbidden: nothing was checked" 4 $check --no-exec -- "${b[@]}" "call=$good"
like "and why" "$(cat err)" "no-exec forbids"

# What the command does is what the tool returns.
exits "no model at all" 4 $check -- true
like "is said" "$(cat err)" "no compiled model was seen"
exits "no model, and the command failed" 7 $check -- sh -c 'exit 7'
exits "the command's status" 7 $check -- sh -c "'${h[0]}' '${h[1]}' '${h[2]}' 'call=$good'; exit 7"
exits "goes before a finding" 7 $check -- sh -c "'${h[0]}' '${h[1]}' '${h[2]}' 'call=$bad'; exit 7"
# shellcheck disable=SC2016
run bash -c '"$@"; echo "status $?"' - $check -- "${h[@]}" "call=$good" kill
like "the command's signal" "$(tail -1 out)" "status 137"
exits "a command that is not there" 4 $check -- ./nosuch
exits "a command that is missing" 2 $check --
printf 'int main(void) { return 0; }\n' >static.c
if cc -static static.c -o static 2>/dev/null; then
	exits "a static program" 4 $check -- ./static
	like "is named as the reason" "$(cat err)" "static"
else
	skip "a static program" "no static libc"
fi
exits "a model and a command" 2 $check "$DATA/aoti/mixed.pt2" -- true
is "no folder is left" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name '*pt2*probe*' -newer static.c 2>/dev/null)" ""
done_testing
