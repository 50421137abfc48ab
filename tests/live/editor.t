#!/bin/bash
# A program of real torch in a headless neovim under fxexplain serve: its findings' actions are applied, the program runs again, and no break is left.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v nvim >/dev/null || skip_all "there is no nvim"
for program in prints loggers fullgraph_branch; do
	rm -rf app traces editor.out
	mkdir app traces
	cp "$ROOT/tests/live/causes/$program.py" app/
	TORCH_TRACE=traces "$python" "app/$program.py" >out 2>err
	FILE=app/$program.py COMMAND="TORCH_TRACE=traces '$python' app/$program.py >out 2>err" HOME=$PWD XDG_STATE_HOME=$PWD timeout 300 \
		nvim --headless -u NONE -i NONE -n -c "luafile $ROOT/tests/lib/editor.lua" >nvim.out 2>&1
	like "$program: an action" "$(cat editor.out)" 'action '
	is "$program: nothing is left after it" "$(tail -n 1 editor.out)" "left 0"
	is "$program: and no graph break or failure in the last trace" "$(tlparse --latest --json traces | jq -c '[.graph_breaks, .failures, .recompiles] | map(length)')" "[0,0,0]"
done
done_testing
