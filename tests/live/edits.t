#!/bin/bash
# Fixes that are changes of a line, made by `fxexplain fix --apply` in a copy of each program of tests/live/fixes that has EDIT, with the torch of the
# live tests (PT2_PYTHON: another's): the problem is gone, the values are eager's. The last line is the score.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export TORCH_TRACE=$TMP/none
mkdir none
tap_of "" "$python" "$ROOT/tests/live/edits.py" out "$ROOT"/tests/live/fixes/*.py
done_testing
