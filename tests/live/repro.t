#!/bin/bash
# Programs that run one graph, as libcommon writes them (graph/repro/repro.h): torch gets the same graph and the same inputs, and they run alone.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore OMP_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$TMP/cache
export PYTHONPATH=$TMP PT2_SOURCE=$ROOT
cat >toys.py <<'END'
def toy_compiler(gm, inputs):
    if any("relu" in str(node.target) for node in gm.graph.nodes):
        raise AssertionError("relu is not for toys")
    return gm
END
mapfile -t names < <(cd "$ROOT/tests/data" && find minifier repro -name '*.py' ! -name '*_2_1[4-9].py' | sort) # not of a newer torch
run "$BUILD/tests/test_reprofile" files "${names[@]}"
is "programs are written" "$status" 0
run "$python" "$ROOT/tests/live/repro.py" "$ROOT/tests/data" files "${names[@]}"
is "torch runs them: status" "$status" 0
is "torch runs them: as the recorded ones" "$(grep '^differs' out | head -n 20)" ""
is "torch runs them: all" "$(tail -n 1 out)" "${#names[@]} programs"
done_testing
