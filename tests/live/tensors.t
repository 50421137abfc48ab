#!/bin/bash
# tensor files and texts: torch and numpy read what is written, and print what was recorded.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
mkdir files
# A newer torch has it.
mapfile -t unknown < <("$python" -c 'import torch; print("" if hasattr(torch, "bcomplex32") else "bcomplex32\n", end="")')
run "$BUILD/tests/test_write" files "${unknown[@]}"
is "files are written" "$status" 0
run "$python" "$ROOT/tests/live/tensors.py" files
is "they are read: status" "$status" 0
is "they are read: each tensor as it was" "$(grep differs out)" ""
like "they are read: all" "$(cat out)" '^[2-9][0-9][0-9] tensors'
"$python" "$ROOT/scripts/fixtures/print.py" >print.txt 2>err
is "torch prints what it printed when it was recorded" "$(xz -dc "$ROOT/tests/data/print.txt.xz" | diff - print.txt | head -n 5)" ""
done_testing
