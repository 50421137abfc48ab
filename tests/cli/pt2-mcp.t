#!/bin/bash
# pt2 mcp: what it says to a client, what it refuses, and that nothing outside of its folders is read.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"
mkdir in outside
cp "$DATA/graph_breaks.log" in/breaks.log
cp "$DATA/aoti/mlp.pt2" in/
cp "$ROOT/tests/data/export/mlp.pt2" in/exported.pt2
cp "$ROOT/tests/data/minifier/aot_compile_error/repro.py" in/
printf 'import torch\nprint(torch.compile(lambda x: x + 1)(torch.ones(3)))\n' >in/app.py
cp "$DATA/simple.log" outside/secret.log
ln -s ../outside/secret.log in/link.log
# a program outside, and a trace that names it: its fix is a line of that program
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" --wildcards '*prints/trace/*'
cp "$ROOT/tests/live/causes/prints.py" outside/
named=$(sed -n 's/.*"\([^"]*\/prints\.py\)".*/\1/p' prints/trace/* | head -1)
sed "s|$named|$PWD/outside/prints.py|g" prints/trace/* >in/names_out.log
fxexplain fix in/names_out.log >direct 2>&1
like "outside of the server the program that the trace names is read" "$(cat direct)" 'reorderable_logging_functions'
export XDG_STATE_HOME=$PWD/state
run pt2 mcp in </dev/null
is "no questions: status 0" "$status:$(cat out)" "0:"
grep -q Landlock err && walls=no || walls=yes
tap_of "" timeout 550 env PYTHONPATH="$ROOT/tests/lib" PYTHONDONTWRITEBYTECODE=1 python3 "$ROOT/tests/lib/mcp_session.py" "$walls"

# ---- without a client ----
run pt2 mcp none </dev/null
is "no such folder: status 3" "$status" 3
printf '{"id":1,"method":"pi' >half
run pt2 mcp in <half
is "half a message: status 3" "$status" 3

# ---- pt2 --no-exec, which it is made of ----
run pt2 --no-exec in/mlp.pt2 'f32[5,8]'
is "--no-exec: what reads is done" "$status" 0
like "--no-exec: what was left out is said" "$(cat err)" 'not run, because of --no-exec: pt2-run'
run pt2 nan --no-exec in/mlp.pt2
is "--no-exec: nothing to do" "$status" 2
run pt2 --no-exec -- touch made
is "--no-exec: no program" "$status:$(ls made 2>/dev/null)" "2:"
done_testing
