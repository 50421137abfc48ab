#!/bin/bash
# Every line that share/breaks/fixes.txt and the recompiles call a fix, tried: tests/live/fixes, with the torch of the live tests
# (PT2_PYTHON: another's).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export TORCH_TRACE=$TMP/none
mkdir none
tap_of "" "$python" "$ROOT/tests/live/fixes.py" out "$ROOT"/tests/live/fixes/*.py
done_testing
