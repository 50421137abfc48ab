#!/bin/bash
# aoti-nanassert on a hundred small models that compute no NaN (clean.py): no alarm. A quarter of an hour from a cold cache.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=${CLEAN_CACHE-$TMP/cache}
run aoti-nanassert --all --json --log found.json -- "$python" "$ROOT/tests/live/clean.py"
is "no alarm" "$status $(jq -c '[.findings[] | [.model, .kernel, .kind]]' found.json)" "0 []"
is "nothing is in the way" "$(jq -c .asides found.json)" '[]'
echo "# $(tail -n 1 out)"
like "they ran" "$(tail -n 1 out)" '^ran 1[0-9]{2} of'
done_testing
