#!/bin/bash
# To which compilation a record belongs, of programs that this torch runs now: the programs of tests/data/traces/identity, and five that do what chance
# wants. $PT2_PYTHON with LIVE_TORCH: another release.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export PYTHONPATH=$ROOT/scripts/fixtures/site PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$TMP/cache

# recorded NAME PROGRAM [ARG]: the records of its log are where torch had them
recorded() {
	local name=$1
	shift
	mkdir "$name"
	run env TORCH_TRACE="$name/trace" PT2FIX_TRUTH="$TMP/$name" "$python" "$@"
	is "$name: it runs" "$status" 0
	"$python" "$PYTHONPATH/truth.py" "$name/truth.json" "$name"/[0-9]*.json
	is "$name: every record is of the compilation that torch had" \
		"$("$python" "$ROOT/tests/lib/count_trace.py" --truth "$name"/trace/*.log "$name/truth.json" 2>&1)" true
}

for name in suite again resets; do recorded $name "$ROOT/scripts/fixtures/traces/$name.py"; done
recorded forked "$ROOT/scripts/fixtures/traces/processes.py" forked
for seed in 1 2 3 4 5; do recorded "chance_$seed" "$ROOT/tests/live/identity.py" $seed; done
done_testing
