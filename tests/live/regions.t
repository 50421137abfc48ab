#!/bin/bash
# Regions of exported programs (torch.autocast, torch.vmap ...) against eager; the lists of autocast.c against torch's own registrations.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
run "$python" "$ROOT/tests/live/regions.py" "$BUILD"
sed '/^1\.\./d' out
tests=$(grep -cE '^(not )?ok ' out)
is "each of them agrees" "$status" 0
done_testing
