#!/bin/bash
# fxexplain mend on real programs, with the torch of the live tests (PT2_PYTHON: another's): edits are found and proven, and nothing that a program writes is
# left. PT2_LONG=1: all programs of tests/live/mend, scored (an hour); else one of them, and one that writes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
cat >app.py <<'EOS'
import os, socket, torch
@torch.compile
def f(x):
    y = x * 2
    print("sum", y.sum().item())
    return y
for i in range(3):
    f(torch.ones(3))
with open("written", "a") as out:
    out.write("x")
os.remove("data")
try:
    socket.create_connection(("192.0.2.1", 80), 1)
    print("network")
except OSError:
    print("no network")
EOS
echo data >data
run fxexplain mend --json --no-as-is -- "$python" app.py
if [ "$status" = 4 ]; then
	skip "the program's own view of files and network" "$(tail -n 2 err | head -1)"
else
	is "the break goes" "$(jq -c '[.before.graph_breaks, .after.graph_breaks, .after.equal]' out)" "[2,0,true]"
	is "its files are as they were" "$(find . -maxdepth 1 \( -name data -o -name written \))" ./data
fi
cp -r "$ROOT/tests/live/mend" programs
programs=(programs/hooks.py)
[ "${PT2_LONG-}" != 1 ] || mapfile -t programs < <(find programs -maxdepth 1 -mindepth 1 | sort)
tap_of "" "$python" "$ROOT/tests/live/mend.py" "$(command -v fxexplain)" "$python" "${programs[@]}"
done_testing
