#!/bin/bash
# The operators of libpt2shim.so against torch's: results, strides, errors against float64 (shim_driver.py, cases_*.py).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
"$python" "$ROOT/tests/live/shim_driver.py" "$BUILD/lib/pt2utils/libpt2shim.so" 2>err >tap
status=$?
sed '/^1\.\./d' tap
tests=$(grep -cE '^(not )?ok ' tap)
is "every operator agrees" "$status" 0
done_testing
