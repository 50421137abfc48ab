#!/bin/bash
# The call log under ThreadSanitizer: what a model's process writes and what the tool reads of it (watch/calls.h, base/io/shared.h).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cc=${CC:-cc}
echo 'int main(void) { return 0; }' >empty.c
if ! "$cc" -fsanitize=thread empty.c -o empty 2>/dev/null || ! ./empty 2>/dev/null; then skip_all "$cc has no ThreadSanitizer here"; fi
core=$ROOT/libcommon/core
ticks=$core/watch/ticks_portable.c arch=portable
[ "$(uname -m)" != x86_64 ] || { ticks=$core/watch/ticks_x86_64.c arch=x86_64; }
# Threads order what they write by a fence, which ThreadSanitizer does not know: it only takes more records for lost.
ok "builds" "$cc" -std=gnu17 -D_GNU_SOURCE -DPT2_ARCH_$arch -O1 -g -w -fsanitize=thread -pthread -I"$core" "$ROOT/tests/lib/callsrace.c" \
	"$core/watch/calls.c" "$ticks" "$core/base/arena.c" "$core/base/base.c" "$core/base/buf.c" "$core/base/io/write.c" -lm -o race
run env TSAN_OPTIONS=halt_on_error=0 timeout 120 ./race
is "no race is reported" "$status $(grep -c 'WARNING: ThreadSanitizer' err)" "0 0"
like "and what was read is whole" "$(cat out)" "^whole [0-9]+$"
done_testing
