#!/bin/bash
# aoti-nanassert on programs of other people's libraries (torchvision, timm, transformers and its Trainer, diffusers, torch_geometric), tiny: no
# alarm in those that compute no NaN (clean_libraries.py); the cause and the line of what is planted in some (planted/libraries.py). Skips what a
# library is missing for. PLANTED_MORE: folders that have the libraries, where the Python of the live tests lacks them. LIBRARIES="geometric_gcn":
# those alone. Half an hour from a cold cache.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
has() { PYTHONPATH=${PLANTED_MORE-} "$python" -c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))' "$@"; }
found=()
for library in torchvision timm transformers diffusers torch_geometric; do has "$library" && found+=("$library"); done
[ ${#found[@]} -gt 0 ] || skip_all "none of torchvision, timm, transformers, diffusers and torch_geometric: name a folder in PLANTED_MORE"
echo "# with ${found[*]}"
export TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=${LIBRARIES_CACHE-$TMP/cache}
read -ra names <<<"${LIBRARIES-}"
run aoti-nanassert --all --json --log found.json -- "$python" "$ROOT/tests/live/clean_libraries.py" ${names[@]+"${names[@]}"}
is "clean: no alarm" "$status $(jq -c '[.findings[] | [.pid, .model, .kernel, .kind]]' found.json)" "0 []"
is "clean: nothing is in the way" "$(jq -c .asides found.json)" '[]'
is "clean: none failed" "$(grep -E '^# .* failed: ' out)" ""
like "clean: they ran" "$(grep -cE '^# [a-z0-9_]+ ran$' out)" '^[1-9]'
while read -r _ name _ _ library; do skip "$name" "no $library"; done < <(grep -E '^# [a-z0-9_]+ has no ' out)
planted=()
has transformers accelerate && planted+=(hf_trainer hf_trainer_clean)
has torchvision && planted+=(torchvision_step torchvision_step_clean)
has diffusers && planted+=(diffusers_step diffusers_step_clean)
if [ ${#planted[@]} -gt 0 ] && [ ${#names[@]} = 0 ]; then
	run aoti-nanassert --all --json --log planted.json -- "$python" "$ROOT/tests/live/planted/plant.py" libraries "${planted[@]}"
	is "planted: NaN were found" "$status" 1
	tap_of "" bash -c "'$python' '$ROOT/tests/live/planted/plant.py' libraries --judge planted.json <out"
fi
done_testing
