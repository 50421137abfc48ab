#!/bin/bash
# aoti-nanassert --explode on twelve training runs (explode.py): six in which something drifts from one step on, six that train well. The
# first step is named within 2, and nothing is reported of the others. Three minutes from a cold cache.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=${EXPLODE_CACHE-$TMP/cache}
run aoti-nanassert --explode --all --json --log found.json -- "$python" "$ROOT/tests/live/explode.py"
is "drifts were found" "$status" 1
tap_of "" bash -c "'$python' '$ROOT/tests/live/explode.py' --judge found.json <out"
done_testing
