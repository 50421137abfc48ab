#!/bin/bash
# The acceptance run for a machine with a GPU (scripts/gpu-accept) on the fake driver (tests/lib/fakecuda.h), without torch: all checks pass, and each fails
# when what it looks for is planted.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
python3 -c 'import ast, sys; sys.exit(not hasattr(ast, "unparse"))' || skip_all "python3 before 3.9"
[ -x "$BUILD/tests-lib/cudahost" ] || skip_all "the fake driver is not built"
unset OUT PT2_PLANT PT2_GPU_DEVICE
accept=("$ROOT/scripts/gpu-accept" "$BUILD")
listed=$("${accept[@]}" --list | awk '{ print $1 }')

exits "everything is well: status" 0 "${accept[@]}" all --fake --budget=900
is "a line for each check, as it ends" "$(sed -nE 's/^ok ([0-9]+)  .* [0-9.]+ s$/\1/p' out | sort -n)" "$listed"
is "nothing on standard error" "$(cat err)" ""
like "the last line counts them" "$(tail -1 out)" "^$(wc -w <<<"$listed") passed, 0 failed, 0 not run, [0-9]+ s$"
grep -E '^not ok' out | sed 's/^/# /' | cut -c1-500
is "the table has them" "$(grep -cE '^ok ' all/table.txt)" "$(wc -w <<<"$listed")"
is "... as JSON, too" "$(python3 -c 'import json; print(*(c["number"] for c in json.load(open("all/table.json"))["checks"]), sep="\n")')" "$listed"
like "the archive has what was printed" "$(tar tzf all/gpu-accept.tar.gz)" 'gpu-accept/02/found.txt.*gpu-accept/left-out.txt'

PT2_PLANT=all exits "with a fault for each check: status" 1 "${accept[@]}" planted --fake --budget=900
is "each check fails" "$(sed -nE 's/^not ok ([0-9]+)  .*/\1/p' out | sort -n)" "$listed"
grep -E '^ok' out | sed 's/^/# not found: /'

OUT=$TMP/given exits "--only, into \$OUT" 0 "${accept[@]}" --fake --only 2-3,4
is "... only those" "$(sed -nE 's/^ok ([0-9]+)  .*/\1/p' out | sort -n | xargs)" "2 3 4"
is "... three files come back" "$(find given -type f | wc -l)" 3
exits "a check that there is none of" 2 "${accept[@]}" --fake --only 99
exits "no time at all: nothing is run" 1 "${accept[@]}" late --fake --only 2 --budget=5
like "... and said" "$(cat out)" "^.*not run 2  .*0 passed, 0 failed, 1 not run"

# A check that takes too long is killed with all that it started.
export SLEEPER=$TMP/sleeper
cp "$(command -v sleep)" "$SLEEPER"
mkdir -p slow/scripts slow/tests/gpu
cp "$ROOT/scripts/gpu-accept" slow/scripts/
cp -r "$ROOT/tests/gpu/accept" slow/tests/gpu/
rm slow/tests/gpu/accept/checks_*.py
cat >slow/tests/gpu/accept/checks_slow.py <<'P'
from harness import check


@check(1, "sleeps", limit=1)
def sleeps(c):
    c.run("sh", "-c", "setsid $SLEEPER 987 & echo half; $SLEEPER 986")


@check(2, "raises")
def raises(c):
    c.ok("one thing", False, "seen before it")
    raise ValueError("oops")


@check(3, "expects nothing")
def nothing(c):
    pass
P
exits "checks that hang or raise" 1 slow/scripts/gpu-accept "$BUILD" slow.out --fake
like "at its limit, which is longer without a GPU" "$(cat out)" 'not ok 1  sleeps: in time: 5 s were over in step 1: sh -c .*'
is "... with all that it started" "$(pgrep -f "$SLEEPER" || echo none)" none
like "an exception" "$(cat out)" 'not ok 2  raises: one thing: seen before it \(and 1 more\)'
like "... is in the table" "$(cat slow.out/table.txt)" 'ValueError: oops'
like "a check that expects nothing" "$(cat out)" 'not ok 3  expects nothing'
sed -i 's/limit=1)/limit=900)/' slow/tests/gpu/accept/checks_slow.py
slow/scripts/gpu-accept "$BUILD" stopped.out --fake >out 2>&1 &
for _ in $(seq 600); do grep -q '^half' stopped.out/work/01/01.out 2>/dev/null && grep -q '^not ok 2 ' out && break; sleep 0.05; done
kill -TERM $!
wait $!
is "stopped by a signal: status" "$?" 1
for _ in $(seq 200); do pgrep -f "$SLEEPER" >/dev/null || break; sleep 0.05; done # a killed process takes its time to end where all are busy
is "... with all that it started" "$(pgrep -f "$SLEEPER" || echo none)" none
like "... with the table so far" "$(cat stopped.out/table.txt)" 'ValueError: oops'
done_testing
