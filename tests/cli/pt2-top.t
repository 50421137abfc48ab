#!/bin/bash
# pt2 top: a trace that grows, as lines, as one look, and as a screen with keys; pt2 runs: what was kept, by name.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "no python3"

# A program that "compiles": its pid is the one in the log, which it holds open, and it writes as the test says.
cat >grow.py <<'P'
import os, re, sys, time
lines = open(sys.argv[1], "rb").read().splitlines(True)
out = open(sys.argv[2], "ab")
for n in (150, 1500, len(lines)):
    while not os.path.exists(f"go{n if n < len(lines) else 'all'}"):
        time.sleep(0.02)
    out.write(b"".join(re.sub(rb"^([A-Z]\d{4} \S+) \d+ ", rb"\1 %d " % os.getpid(), line) for line in lines[:n]))
    out.flush()
    del lines[:n]
while not os.path.exists("end"):
    time.sleep(0.02)
P
mkdir traces
TORCH_TRACE=$PWD/traces python3 grow.py "$DATA/graph_breaks.log" traces/one.log &
pid=$!
pt2 top traces -n 0.05 >lines 2>err2 &
top=$!
waits() { for _ in $(seq 600); do "$@" && return; sleep 0.05; done; echo "# waited in vain: $*"; }
seen() { grep -qE "$1" lines; }
: >go150
waits seen "^$pid  compiling 0/0"
like "a compilation has begun: process, frame, phase" "$(tail -1 lines)" "^$pid  compiling 0/0 graph_breaks.py:[0-9]+ in outer(, [0-9.]+ s)?: .*; 0 compilations, "
exits "one look at a process by its number" 0 pt2 top --once $pid
like "... is the same" "$(cat out)" "^$pid  compiling 0/0"
: >go1500
waits seen ' [1-9] graph break'
: >goall
waits seen "^$pid  not compiling"
like "nothing compiles any more" "$(tail -1 lines)" "14 compilations in 836 ms \(1 failed\), 8 graph breaks, 0 recompiles"
exits "attach: a process that traces" 0 pt2 attach $pid
like "... what it is, what it compiles, what was found, what next" "$(cat out)" "^Process $pid, for .*: .*python3 grow.py .*It traces into .*traces.*$pid  not compiling.*What to look at, worst first.*next  pt2 top $pid"
exits "... as one document" 0 pt2 attach --json $pid
is "... its findings" "$(jq -r .tool out)" fxexplain
exits "one look" 0 pt2 top --once traces
like "... has what happened, latest first" "$(cat out)" 'slowest: .*What happened, latest first \(10\).*failed graph_breaks.py:50.*graph break graph_breaks.py:9: '
PT2=$BUILD/bin/pt2 python3 - <<'P' >screen 2>&1
import fcntl, os, pty, select, struct, sys, termios, time
pid, fd = pty.fork()
if not pid:
    os.execv(os.environ["PT2"], ["pt2", "top", "-n", "0.1", "traces"])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))

def until(what, text=b""):
    end = time.monotonic() + 60
    while what not in text and time.monotonic() < end and select.select([fd], [], [], 1)[0] is not None:
        try:
            text += os.read(fd, 65536)
        except OSError:
            break
    return text

text = until(b"latest first")
os.write(fd, b"\x1b[B\x1b[B")
text = until(b"latest first", b"")
os.write(fd, b"q")
rest = until(b"\x1b[?1049l", b"")
_, status = os.waitpid(pid, 0)
rows = [r for r in text.decode().replace("\x1b[K", "").replace("\x1b[H", "").replace("\x1b[J", "").split("\r\n") if r]
print("status", status, "gives the terminal back", b"\x1b[?25h\x1b[?1049l" in rest, "widest", max(map(len, rows)))
P
is "a screen: q ends it, the terminal is as before, no line is too wide" "$(sed 's/widest.*/widest/' screen) $(sed -n 's/.*widest //p' screen | awk '{print ($1 <= 80)}')" \
	"status 0 gives the terminal back True widest 1"
: >end
wait $top
is "ends when the processes have: status" "$?" 0
like "... which is said" "$(tail -1 lines)" "^$pid  ended; 14 compilations"
is "... and nothing else" "$(cat err2)" ""

env -u TORCH_TRACE sleep 100 &
exits "attach: a process without torch" 5 pt2 attach $!
like "... why" "$(cat err)" "has not loaded torch"
kill $!
env -u TORCH_TRACE sh -c 'TORCH_TRACE=traces sleep 100 & echo $! >child; wait' &
parent=$!
waits test -s child
waits grep -qs TORCH_TRACE= "/proc/$(cat child)/environ" # until then it is the shell that becomes it
exits "attach: what it started traces" 0 pt2 attach $parent
like "... that is shown" "$(cat err)" "process $parent does not trace; $(cat child), which it started, does"
kill "$(cat child)" $parent
# A probe's folder as its tool makes it: counters of two models.
mkdir probe
python3 -c 'import struct; open("probe/counters", "wb").write((b"PT2LIVE1" + struct.pack("<I", 2)).ljust(64, b"\0") + (struct.pack("<4Q", 7, 2, 0, 0).ljust(64, b"\0") + struct.pack("<Q", 5)).ljust((64 << 10) - 64, b"\0"))'
env -u TORCH_TRACE LD_PRELOAD="$BUILD/lib/pt2utils/libpt2probe.so" PT2_PROBE_DIR="$PWD/probe" PT2_PROBE_FAIL=1 sleep 100 &
probed=$!
waits grep -q libpt2probe /proc/$probed/maps
exits "attach: a process with the probe" 0 pt2 attach $probed
like "... its models and calls, its switches" "$(cat out)" "The probe is loaded: 2 models and graphs, 12 calls, 2 with inputs that do not fit.*Its switches, fixed since the start: .*checked, and a call that does not fit fails; kernels are not watched"
kill $probed
env -u TORCH_TRACE sleep 100 &
exits "a process without a trace" 5 pt2 top $!
like "... what to do" "$(cat err)" "was started without TORCH_TRACE: .*pt2 run"
# With py-spy: here one that prints a recorded dump.
mkdir -p bin
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$1 $2" = "dump --pid" ] && cat "%s"\n' "$ROOT/tests/data/pasted/pyspy_lowering.txt" >bin/py-spy
chmod +x bin/py-spy
exits "... with py-spy" 0 env PATH="$PWD/bin:$PATH" pt2 top $!
like "... its stack tells the phase" "$(cat out err)" 'py-spy dump --pid [0-9]+ \| fxexplain -.*([Ii]nductor|lowering)|Inductor lowers a graph'
mkdir -p alone
cp "$BUILD/bin/pt2" alone/pt2
exits "... without fxexplain" 4 env PATH="$PWD/bin:/usr/bin:/bin" alone/pt2 top $!
like "... the message says what is missing" "$(cat err)" "cannot find 'fxexplain', a tool of pt2utils"
kill $!
exits "no such process" 3 pt2 top 999999999
exits "attach: no such process" 3 pt2 attach 999999999
exits "attach: no number" 2 pt2 attach me
exits "a file" 2 pt2 top grow.py
mkdir none
exits "a folder without traces" 0 pt2 top --once none
like "... said" "$(cat out)" 'no trace in none yet'
printf 'V1121 07:59:23.043000 1 torch/x.py:1] {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0}\n\tx\n\377\0garbage' >none/bad.log
exits "a damaged trace" 0 pt2 top --once none

# ---- runs that were kept ----
cat >app.py <<P
import os, shutil
shutil.copy("$DATA/" + open("which").read().strip() + ".log", os.environ["TORCH_TRACE"])
P
exits "no run yet" 0 pt2 runs
like "... said" "$(cat out)" 'no runs in .* yet: pt2 -- python app.py'
exits "last, without one" 3 pt2 last
like "... said" "$(cat err)" "^pt2: no run 'last': 0 are kept"
echo recompiles >which
PT2_PYTHON=python3 pt2 -q app.py >/dev/null 2>&1
echo graph_breaks >which
PT2_PYTHON=python3 pt2 -q app.py >/dev/null 2>&1
exits "two runs" 0 pt2 runs
like "... newest first" "$(cat out)" 'last +[0-9-]+app.py[-0-9]* +0 +.* 8 +0 +python3 app.py.*last~1 +[0-9-]+app.py'
exits "the last one" 0 pt2 last
like "... by its trace" "$(cat err)" 'graph_breaks.log is a trace of torch.compile'
exits "the one before" 0 pt2 slow last~1
like "... by its trace" "$(cat err)" 'recompiles.log is a trace of torch.compile'
exits "the two compared" 1 pt2 diff last~1 last
like "... as traces" "$(cat err)" 'tlparse --diff .*recompiles.log .*graph_breaks.log'
exits "their frames" 0 pt2 runs --frames
like "... in both" "$(cat out)" 'frame +last~1 +last.*graph_breaks.py in outer +- +97 ms 1b'
exits "a run by the beginning of its name" 3 pt2 runs --frames 1999
exits "all but one removed" 0 pt2 runs --prune --keep=1
like "... said" "$(cat out)" '^removed 1 run, '
exits "... the other is gone" 3 pt2 last~1
touch last
exits "a file of that name wins" 3 pt2 last
done_testing
