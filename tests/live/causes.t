#!/bin/bash
# tests/live/causes.tsv with a real torch: each program is run, and what fxexplain says of it held against its lines. The last line is the score.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export TORCHINDUCTOR_CACHE_DIR=$TMP/cache TORCH_TRACE=$TMP/none
mkdir none
# Not in everybody's environment.
missing=$("$python" -c 'import importlib.util as u; print("|".join(m for m in ("tqdm", "transformers") if not u.find_spec(m)))')
programs=()
for p in "$ROOT"/tests/live/causes/*.py; do
	[ "$missing" ] && grep -qE "^ *(import|from) .*\b($missing)\b" "$p" || programs+=("$p")
done
ok "the programs are run" "$python" "$ROOT/tests/live/record_programs.py" runs "${programs[@]}"
tap_of "" python3 "$ROOT/tests/lib/causes.py" runs "$ROOT/tests/live/causes.tsv"
done_testing
