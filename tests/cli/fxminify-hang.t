#!/bin/bash
# fxminify: what is a hang, and what only slow; memory that runs out; what a child said before it died. Children of a made-up oracle
# (tests/lib/oracle_watch.py) and commands. No torch.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir tmp
export TMPDIR=$TMP/tmp
launcher=$ROOT/tests/data/repro/aot_forward/minifier_launcher.py

# ---- the torch oracle's children ----
exits "child processes of the oracle" 0 timeout 500 python3 "$ROOT/tests/lib/oracle_watch.py" "$ROOT/share/fxminify"
said() { is "$1" "$(sed -n "s/^$1: //p" out)" "$2"; }
said "a loop" "hangs in mine.py:loops"
said "where it is said to be" True
said "how long it was silent" True
said "the same loop, when no other test has ended" "hangs in mine.py:loops"
said "a quarter is enough" True
said "and when others stay there for half a second" "hangs in mine.py:loops"
said "four times that" True
said "one that sleeps" "hangs in mine.py:sleeps"
said "one that keeps the interpreter" "hangs in mine.py:keeps"
said "one that waits for a program" "hangs in mine.py:waits"
said "has four times as long" True
said "one that gets on" "goes on"
said "one that is kept from running" "goes on"
said "its age" True
said "in eager" False
said "one that eats memory" "memory mine.py:eats;oracle_watch.py:child"
like "a process that runs out of memory is named with its size" "$(grep '^who, how much' out)" 'out of memory in phase compile: eats \(mine.py:[0-9]+\).* requested more than 200 MiB \(limit for a test: 200 MiB, --max-memory\)'
said "one that dies" "SIGSEGV mine.py:reads_zero"
said "how much a compiler wanted" "out of memory in phase compile: cc1plus requested 64.0 KiB"
said "how much torch wanted" "out of memory in phase run: it requested 8.0 GiB"
said "the place of late" "k.py:step5 m.py:make x:<module>, of all: m.py:make x:<module>"
said "a stack that is not whole" True
said "names" "<eval_with_key>:forward generated:call _inductor/x.py:f"
said "in one line or another" "[('a', 1, 'f'), ('b', 0, 'g')]"
said "the phase" "compile run"

# ---- commands ----
python3 "$ROOT/tests/minify/synthetic.py" graph 50 >g.py
bug=$BUILD/tests-lib/predicate
outcomes() { grep -o '"outcome":"[a-z]*"' "$1.journal" | sort | uniq -c | tr -s ' \n' ' '; }
# The original takes all of --timeout; those after it as long as others of their size need, and some more. Never 300 s each.
exits "a command that hangs" 0 timeout 250 fxminify --test "'$bug' single 50 \"\$1\" && sleep 77.3 #" --timeout 20 -j4 --passes nodes -q g.py -o hang.txt
is "the hang is reduced" "$(grep -c ' = torch' hang.txt) $(grep -cE ' n30[: ]' hang.txt)" "1 1"
ok "in less than --timeout for each test" python3 - <<'S'
import json
tests = [json.loads(line) for line in open("hang.txt.journal") if '"test"' in line]
hung = [t["seconds"] for t in tests if t["outcome"] == "timeout"]
assert len(hung) > 4 and hung[0] >= 20 and sorted(hung)[len(hung) // 2] < 20, hung
S
# One that is stopped for longer than its --timeout is not one that hangs.
cat >stopped.py <<'S'
import os, signal, sys, time
if os.fork() == 0:
    os.setpgid(0, 0)  # not of the test's group
    time.sleep(10)
    os.kill(int(sys.argv[1]), signal.SIGCONT)
    os._exit(0)
S
cat >stopped <<'S'
#!/bin/sh
python3 "$HERE/stopped.py" $$
kill -STOP $$
exit 1
S
chmod +x stopped
HERE=$TMP exits "a test that is stopped" 1 fxminify --test ./stopped --timeout 4 g.py -o p.txt
like "it is slow, not hanging" "$(tail -1 err)" 'the original does not fail: it passed the test'
eater="python3 -c 'x = bytearray(1 << 30)'"
exits "a command that exceeds --max-memory" 0 fxminify --test "'$bug' single 50 \"\$1\" && $eater; exit 1 #" --max-memory 600M -j2 --passes nodes g.py -o mem.txt
is "that is the failure" "$(grep -cE ' n30[: ]' mem.txt) $(grep -c '"verdict":"fails-same","outcome":"memory"' mem.txt.journal | sed 's/^[1-9].*/some/')" "1 some"
like "its last output is shown" "$(cat err)" 'printed +last output before it ended:.*MemoryError'
like "its last output is in the journal" "$(cat mem.txt.journal)" '"printed":".*MemoryError'
exits "with enough memory it does not fail" 1 fxminify --test "'$bug' single 50 \"\$1\" && $eater; exit 1 #" -q --max-memory 4G --passes nodes g.py -o mem2.txt

# ---- messages ----
exits "--graph with a missing file" 3 fxminify --graph 0/0 none.log
like "the message names it" "$(cat err)" "^fxminify: cannot (open|read) 'none.log': No such file or directory"
mkdir notorch
echo 'raise ImportError("No module named torch")' >notorch/torch.py
exits "a Python without torch" 4 env PYTHONPATH="$TMP/notorch" fxminify -q --python python3 -o a.py "$launcher"
like "the message says what to do" "$(cat err)" 'cannot import torch .*; pass --python=PATH or set PT2_PYTHON to a Python that has torch$'
sed "s/reader.storage([^,]*,/reader.storage('0123456789abcdef0123456789abcdef01234567',/; s#save_dir=[^,]*,#save_dir='$TMP/missing/checkpoints',#" "$launcher" >gone.py
exits "stored inputs that are missing" 4 env PYTHONPATH="$TMP/notorch" fxminify --python python3 -o a.py gone.py
like "a note at the start counts them" "$(cat err)" "note +[0-9]+ of [0-9]+ stored inputs are missing from '$TMP/missing/checkpoints' \(--save-dir\): using random values.*cannot import torch"
is "no directory is left" "$(find "$TMPDIR" -mindepth 1 -maxdepth 1 -name 'pt2*')" ""
done_testing
