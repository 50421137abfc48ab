#!/bin/bash
# aoti-checkinputs against what torch itself said to the same calls, as recorded. (tests/live/ asks torch anew.)
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
every=1
[ "${FULL-1}" = 0 ] && every=7
python3 "$ROOT/tests/lib/compare_verdicts.py" "$DATA/aoti/verdicts.jsonl" "$DATA/aoti" "$every"
