#!/bin/bash
# fxexplain mend on packages of PyPI, unchanged, each with a program of its own (mend-packages/; the second line names what is installed, in a folder of the
# build): values stay equal, and the package itself can be edited, as in an editable install. PT2_LONG=1: all of them; else two.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
"$python" -m pip --version >/dev/null 2>&1 || skip_all "no pip"
export PYTHONDONTWRITEBYTECODE=1
programs=("$ROOT"/tests/live/mend-packages/{st_moe,xtransformers}.py)
[ "${PT2_LONG-}" != 1 ] || programs=("$ROOT"/tests/live/mend-packages/*.py)
tap_of "" "$python" "$ROOT/tests/live/mend.py" "$(command -v fxexplain)" "$python" --packages="$BUILD/mend-packages" "${programs[@]}"
done_testing
