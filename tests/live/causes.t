#!/bin/bash
# tests/live/causes.tsv with a real torch: each program is run, and what fxexplain says of it held against its lines. The last line is the score.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export TORCHINDUCTOR_CACHE_DIR=$TMP/cache TORCH_TRACE=$TMP/none
mkdir none
programs=()
for p in "$ROOT"/tests/live/causes/*.py; do
	# transformers is not in everybody's environment
	case $p in */hf_*) "$python" -c 'import transformers' 2>/dev/null || continue ;; esac
	programs+=("$p")
done
ok "the programs are run" "$python" "$ROOT/tests/live/record_programs.py" runs "${programs[@]}"
while read -r line; do
	case $line in
	ok*) pass "${line#* - }" ;;
	"not ok"*"# TODO") line=${line#* - }; skip "${line%% # TODO}" "not yet" ;;
	"not ok"*) fail "${line#* - }" ;;
	"#"*) echo "$line" ;;
	esac
done < <(python3 "$ROOT/tests/lib/causes.py" runs "$ROOT/tests/live/causes.tsv" || echo "not ok 0 - causes.py ran to its end")
done_testing
