#!/bin/bash
# aoti-printer --memory of graphs of torch.compile against torch's own allocations (jit_memory.py): within 5 % in five programs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
while read -r line; do
	case $line in
	ok*) pass "${line#* - }" ;;
	"not ok"*) fail "${line#* - }" ;;
	"#"*) echo "$line" ;;
	esac
done < <("$python" "$ROOT/tests/live/jit_memory.py" "$BUILD/bin/aoti-printer" "$TMP" || echo "not ok 0 - jit_memory.py ran to its end")
done_testing
