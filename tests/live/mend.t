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
cat >stuck.py <<'EOS'
import os, subprocess, time, torch
torch.compile(lambda x: x * 2)(torch.ones(3))
subprocess.Popen(["sleep", os.environ["FOR"]], start_new_session=True)
time.sleep(600)
EOS
mkdir tmp
export FOR=5$RANDOM
(
	trap '' INT
	TMPDIR=$TMP/tmp exec fxexplain mend -- "$python" stuck.py >out 2>err
) &
job=$!
for _ in {1..600}; do
	if pgrep -f "sleep $FOR" >/dev/null || ! kill -0 $job 2>/dev/null; then break; fi
	sleep 0.2
done
if pgrep -f "sleep $FOR" >/dev/null; then
	kill -TERM $job
	timeout 30 tail --pid=$job -f /dev/null || kill -KILL $job
	wait $job
	is "SIGTERM ends a job that ignores SIGINT" "$?" 143
	is "... and what its program has started" "$(pgrep -f "sleep $FOR"; find tmp -mindepth 1 | head -3)" ""
else
	skip "SIGTERM" "$(tail -n 2 err | head -1)"
fi
cp -r "$ROOT/tests/live/mend" programs
programs=(programs/hooks.py)
[ "${PT2_LONG-}" != 1 ] || mapfile -t programs < <(find programs -maxdepth 1 -mindepth 1 | sort)
tap_of "" "$python" "$ROOT/tests/live/mend.py" "$(command -v fxexplain)" "$python" "${programs[@]}"
done_testing
