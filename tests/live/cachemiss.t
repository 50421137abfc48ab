#!/bin/bash
# Planted causes of cache misses, with a real torch: each named by tlparse --diff and by fxexplain cache (cachemiss.py). PT2_OTHER_PYTHON: a Python with
# another release of torch, for the change of release. A quarter of an hour and more. The last line is the score.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
"$python" "$ROOT/tests/live/cachemiss.py" "$(command -v tlparse)" "$(command -v fxexplain)" "$TMP/miss" ${PT2_OTHER_PYTHON:+"$PT2_OTHER_PYTHON"} >said
status=$?
while read -r line; do
	case $line in
	named*) pass "${line#named }" ;;
	MISSED*) skip "${line#MISSED }" "not named" ;;
	*) echo "# ${line#\# }" ;;
	esac
done <said
is "at least 28 are named" "$status" 0
done_testing
