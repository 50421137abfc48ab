#!/bin/bash
# What watching costs on a GPU, as ratios (overhead.py). The aims are printed beside them; a machine's mood is no failure. Run by make check-gpu.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -n "${GPU_PYTHON-}" ] || skip_all "is run by make check-gpu"
for name in launches dynamic; do
	[ -f "$GPU_MODELS/$name.json" ] || { skip "$name" "it was not compiled"; continue; }
	run "$GPU_PYTHON" "$ROOT/tests/gpu/overhead.py" "$GPU_OUT/overhead-$name.json" --sanitizer -- \
		"$GPU_PYTHON" "$ROOT/tests/gpu/host.py" "$GPU_MODELS/$name.pt2" "$GPU_MODELS/$name.in.pt" "${GPU_CALLS:-2000}"
	cp out "$GPU_OUT/overhead-$name.txt"
	sed 's/^/# /' out
	is "$name: measured in all ways" "$status" 0
done
done_testing
