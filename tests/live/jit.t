#!/bin/bash
# Plain torch.compile under aoti-nanassert: the programs of jit_programs.py, from cold and warm caches (jit.py), with the torch of the live
# tests (PT2_PYTHON: another's). A quarter of an hour; JIT_PROGRAMS="pointwise training": those alone.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
read -ra names <<<"${JIT_PROGRAMS-}"
tap_of "" "$python" "$ROOT/tests/live/jit.py" "$BUILD/bin/aoti-nanassert" "$TMP" ${names[@]+"${names[@]}"}
done_testing
