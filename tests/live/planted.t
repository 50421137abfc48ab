#!/bin/bash
# aoti-nanassert on programs in which a NaN is planted (planted/): the cause and the line of each, against a truth that was written before.
# PLANTED="first fresh packages": these sets (packages: by --against). Ten minutes a set from a cold cache; with torch 2.15 by PT2_PYTHON.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
export TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=${PLANTED_CACHE-$TMP/cache}
for set in ${PLANTED-first fresh third fourth many scaler packages}; do
	if [ "$set" = packages ]; then
		run "$python" "$ROOT/tests/live/planted/packages.py" .
		is "packages: they are made" "$status" 0
		mapfile -t names <out
		for name in "${names[@]}"; do
			run aoti-nanassert --json --log "$name.json" --against "$name.exported.pt2" "$name.pt2" "$name".[0-9].npy
		done
		tap_of "" "$python" "$ROOT/tests/live/planted/packages.py" . --judge
		continue
	fi
	run aoti-nanassert --all --json --log "$set.json" -- "$python" "$ROOT/tests/live/planted/plant.py" "$set"
	is "$set: NaN were found" "$status" 1
	tap_of "" bash -c "'$python' '$ROOT/tests/live/planted/plant.py' $set --judge $set.json <out"
done
done_testing
