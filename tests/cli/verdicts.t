#!/bin/bash
# aoti-checkinputs against what torch itself said to the same calls, as recorded. (tests/live/ asks torch anew.)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
compare() { # compare WHAT BARE EVERY
	run env BARE="$2" python3 "$ROOT/tests/lib/compare_verdicts.py" "$DATA/aoti/verdicts.jsonl" "$DATA/aoti" "$3"
	cat out
	tests=$((tests + $(grep -cE '^(not )?ok ' out)))
	is "$1" "$status" 0
}
every=1
[ "${FULL-1}" = 0 ] && every=10
compare "with the text of the packages" "" $every
compare "with the prober" 1 $((every * 3))
done_testing
