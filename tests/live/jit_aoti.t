#!/bin/bash
# The models of nan.t that make a NaN or an infinity, as plain torch.compile (jit_aoti.py): the same kernel is named in at least 95 %.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
tap_of "" "$python" "$ROOT/tests/live/jit_aoti.py" "$BUILD/bin/aoti-nanassert" "$TMP"
done_testing
