#!/bin/bash
# The operators of libcommon/core/aten against PyTorch's own operator database (operators.py); $OUT/OPERATORS.md is the release's section for
# docs/user/OPERATORS.md, with PT2_LONG=1 of all samples. Other releases: PT2_PYTHON, LIVE_TORCH=2.15.0.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
"$python" "$ROOT/tests/live/operators.py" "$BUILD" --table OPERATORS.md 2>err >tap
status=$?
sed '/^1\.\./d' tap
tests=$(grep -cE '^(not )?ok ' tap)
is "every operator agrees" "$status" 0
[ -z "${OUT-}" ] || cp OPERATORS.md "$OUT/"
done_testing
