#!/bin/bash
# Exported programs: the graph that we read out of the file is the one that torch makes of it.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
[ -x "$BUILD/tests/test_exported_graph" ] || skip_all "test_exported_graph is not built"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
mkdir programs
run "$python" "$ROOT/tests/live/exported_graph.py" programs
is "torch exports and loads most: status" "$status" 0
sort out >names
is "torch exports and loads most" "$([ "$(wc -l <names)" -ge 20 ] && echo yes)" yes
mapfile -t names <names
run "$BUILD/tests/test_exported_graph" "${names[@]/#/programs/}"
is "they are the same" "$(cat out)" "$(sed 's/.*/programs\/&: the same/' names)"
done_testing
