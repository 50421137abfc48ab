#!/bin/bash
# 40 planted failures, each bundled and replayed with a real torch where its sources are not (bundle.py). The last lines are figures.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export TORCH_TRACE=$TMP/none
mkdir none
tap_of "" "$python" "$ROOT/tests/live/bundle.py" "$TMP/out"
done_testing
