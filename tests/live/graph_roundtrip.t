#!/bin/bash
# Graphs of many kinds of models: read and written back they are graphs that torch finds equal.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
[ -x "$BUILD/tests/test_fxcode" ] || skip_all "test_fxcode is not built"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
exec "$python" "$ROOT/tests/live/graph_roundtrip.py" "$BUILD"
