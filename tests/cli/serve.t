#!/bin/bash
# fxexplain serve: what it says to a client, what it does with what is none; a session of neovim in which the findings' actions are applied.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir app v215
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" -C v215 --wildcards '*prints*' '*hook_returns*'
cp "$ROOT/tests/live/causes/prints.py" app/
breaks=$(echo v215/prints/trace/*)
fxexplain --json "$breaks" >doc
ok "the trace has findings" test "$(jq '.findings|length' doc)" -ge 2
unxz -c "$DATA/simple.log.xz" >none.log 2>err || cp "$DATA/simple.log" none.log
tap_of "" timeout 300 env PYTHONPATH="$ROOT/tests/lib" PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/lib/serve_session.py" "$breaks" none.log
run fxexplain serve traces </dev/null
is "no trace: status 0" "$status" 0

# ---- an editor ----
if command -v nvim >/dev/null; then
	rm -rf traces && mkdir traces
	cp "$ROOT/tests/live/causes/prints.py" app/
	cp "$breaks" traces/
	FILE=app/prints.py COMMAND="cp none.log traces/later.log; touch traces/later.log" HOME=$PWD XDG_STATE_HOME=$PWD timeout 200 \
		nvim --headless -u NONE -i NONE -n -c "luafile $ROOT/tests/lib/editor.lua" >nvim.out 2>&1
	is "neovim: two findings with an action each, then none" "$(sed 's/ [A-Z(.].*//; s/ print(.*//; s/ torch\..*//' editor.out)" \
		"$(printf '%s\n' 'found 6' 'found 8' action action written 'left 0')"
	is "the file is fixed" "$(cat app/prints.py)" "$(grep -v 'mean' "$ROOT/tests/live/causes/prints.py" | sed '1a torch._dynamo.config.reorderable_logging_functions.add(print)')"
else
	skip "a session of neovim" "there is no nvim"
fi
done_testing
