#!/bin/bash
# make check-gpu where there is no GPU: one line and status 77, never a failure; its measuring on the fake driver (tests/lib/fakecuda.h).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cuda=$BUILD/tests-lib/cuda
[ -x "$BUILD/tests-lib/cudahost" ] || skip_all "no cudahost"
unset LD_LIBRARY_PATH GPU_PYTHON OUT
cat >python-without-torch <<'S'
#!/bin/sh
exit 1
S
cat >python-for-cpu <<'S'
#!/bin/sh
cat >/dev/null
S
chmod +x python-*
without() { # without WHAT REASON ENVIRONMENT...
	local what=$1 why=$2
	shift 2
	exits "$what: skipped" 77 env "$@" "$ROOT/scripts/check-gpu" "$BUILD"
	like "$what: why" "$(cat out)" "^check-gpu: skipped: .*$why"
	is "$what: in one line" "$(wc -l <out)" 1
	is "$what: standard error stays empty" "$(cat err)" ""
}
if python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then
	skip "without a driver" "there is one"
else
	without "no driver" 'libcuda\.so\.1' PT2_PYTHON=python3
fi
without "no Python" 'PT2_PYTHON' PT2_PYTHON=./nosuch
without "no torch" 'cannot import torch' PT2_PYTHON="$TMP/python-without-torch" LD_LIBRARY_PATH="$cuda"
without "torch without CUDA" 'not for CUDA' PT2_PYTHON="$TMP/python-for-cpu" LD_LIBRARY_PATH="$cuda"
for t in "$ROOT"/tests/gpu/*.t; do
	like "$(basename "$t") alone is skipped" "$(bash "$t" 2>&1)" '^1\.\.0 # SKIP'
done
for f in "$ROOT"/tests/gpu/*.py; do
	ok "$(basename "$f") is Python" python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$f"
done

# The measuring, with a model on the fake driver in the place of a GPU's: the ratios say nothing, that there are some does.
model=$(echo "$cuda"/model/*.so)
exits "overhead.py" 0 python3 "$ROOT/tests/gpu/overhead.py" cost.json --repeat 1 -- "$BUILD/tests-lib/cudahost" load="$model" call=4 bench=50:64
is "every way has a ratio" "$(jq -c '[.ways[] | .ratio > 0] | all' cost.json) $(jq -c '.ways | keys' cost.json)" 'true ["alone","hooks","ima","names","scan"]'
is "the aims" "$(jq -c '[.ways.hooks.aim, .ways.scan.aim]' cost.json)" '[1.05,1.5]'
exits "a command that says nothing" 1 python3 "$ROOT/tests/gpu/overhead.py" none.json --repeat 1 -- true
like "is said for each way" "$(jq -c '.failures | keys' none.json)" 'alone.*hooks.*scan'
done_testing
