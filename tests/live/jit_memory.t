#!/bin/bash
# aoti-printer --memory of graphs of torch.compile against torch's own allocations (jit_memory.py): within 5 % in five programs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
tap_of "" "$python" "$ROOT/tests/live/jit_memory.py" "$BUILD/bin/aoti-printer" "$TMP"
done_testing
