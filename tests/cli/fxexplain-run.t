#!/bin/bash
# fxexplain run: the command is as it would be without it, its logs are explained, nothing is left. Programs that only look like
# torch's stand in for it; tests/live/fxexplain.t has the real ones.
# shellcheck disable=SC2016 # words for another shell
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir tmp
export TMPDIR=$TMP/tmp
unset TORCH_TRACE
leftovers() { find tmp -mindepth 1 | head -5; }

# A program as torch's: a log in $TORCH_TRACE, words on standard error.
cat >traced <<'EOS'
#!/bin/sh
cp "$DATA/${1:-graph_breaks}.log" "$TORCH_TRACE/dedicated_log_torch_trace_$$.log"
echo "RuntimeWarning: nothing" >&2
exit "${2:-0}"
EOS
chmod +x traced
count() { # count FILE PYTHON : of a document of --json
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print($2, sep=', ')" "$1"
}

# ---- output, status ----

cat >bytes.py <<'EOS'
import os, sys
every = bytes(range(256)) * 300 + b"no newline at the end"
os.write(1, every) and os.write(2, every[::-1])
sys.exit(int(sys.argv[1]))
EOS
python3 bytes.py 3 >want.out 2>want.err
run fxexplain run -q -- python3 bytes.py 3
is "the status is the command's" "$status" 3
ok "standard output is the command's, byte for byte" cmp out want.out
ok "standard error is the command's, then the explanation" cmp -n "$(stat -c %s want.err)" err want.err
is "long output on both streams passes through" "$(fxexplain run -q -- sh -c 'seq 200000; seq 300000 >&2' 2>err | md5sum) $(grep -cE '^[0-9]+$' err)" "$(seq 200000 | md5sum) 300000"
is "standard input is the command's" "$(seq 5 | fxexplain run -q -- sh -c 'read -r a; echo "$a"; cat' 2>/dev/null | tr '\n' ' ')" "1 2 3 4 5 "
is "unread input is left for the next process" "$(printf 'a\nb\n' | { fxexplain run -q -- true 2>/dev/null; cat; } | tr '\n' ' ')" "a b "
exits "a missing command" 4 fxexplain run -- ./nosuch
like "the message names it" "$(cat err)" "cannot run './nosuch'"
exits "no command given" 2 fxexplain run
is "no directory is left" "$(leftovers)" ""

died() { # died COMMAND... : how it ended, as Python has it (-9: of signal 9)
	python3 -c 'import subprocess, sys; print(subprocess.run(sys.argv[1:], stdout=2, stderr=open("err", "w")).returncode)' "$@" 2>/dev/null
}
for sig in KILL SEGV ABRT TERM INT; do
	is "a command killed by SIG$sig: the tool dies of it, too" "$(died fxexplain run -- sh -c "./traced; kill -$sig \$\$")" "-$(kill -l $sig)"
	like "its trace is explained" "$(cat err)" "graph break"
done
is "SIGPIPE acts on the command as usual" "$(died fxexplain run -q -- python3 -c 'import signal, os; signal.signal(signal.SIGPIPE, signal.SIG_DFL); r, w = os.pipe(); os.close(r); os.write(w, b"x")')" -13
is "the command's signal dispositions are unchanged" "$(fxexplain run -q -- sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status' 2>/dev/null)" "$(sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status')"
is "the command's open files are unchanged" "$(fxexplain run -q -- ls /proc/self/fd 2>/dev/null | tr '\n' ' ')" "0 1 2 3 "
for closed in '<&-' '>&-' '2>&-'; do
	is "standard streams closed: $closed" "$(bash -c "fxexplain run -q -- sh -c 'exit 7' $closed" 2>/dev/null; echo $?)" 7
done

# ---- what is explained ----

exits "a command that succeeds" 0 fxexplain run -- ./traced
is "standard output stays clean" "$(cat out)" ""
like "graph breaks are reported on standard error" "$(cat err)" "graph break"
like "the message says where the run is kept" "$(cat err)" "1 trace, kept in $TMP/.state/pt2utils/runs/[0-9]*-[0-9]*-traced \(newest 50 runs, at most 2 GB\)"
like "the command's status is reported" "$(cat err)" "'./traced' exited with status 0"
exits "-o" 0 fxexplain run -o text -- ./traced
like "-o has the explanation" "$(cat text)" "graph break"
unlike "standard error has none then" "$(cat err)" "graph break"
exits "--json without -o is rejected" 2 fxexplain run --json -- ./traced
exits "--html without a file is rejected" 2 fxexplain run --html -- ./traced
printf '#!/bin/sh\necho "$@" >>%s/opened\n' "$TMP" >browser && chmod +x browser
DISPLAY='' WAYLAND_DISPLAY='' BROWSER=$TMP/browser script -q -e -c "fxexplain run --html=seen.html -- ./traced" /dev/null >out 2>err </dev/null
is "--html on a terminal opens the page" "$(cat opened 2>&1)" seen.html
rm opened
exits "--html without a terminal" 0 env BROWSER="$TMP/browser" fxexplain run --html=said.html -- ./traced
ok "--html without a terminal opens nothing" test ! -e opened -a -s said.html
like "the message says where the page is" "$(cat err)" "report: said.html"
exits "--json -o FILE" 0 fxexplain run --json -o run.json -- ./traced
fxexplain --json "$DATA/graph_breaks.log" >alone.json
is "counts equal those of the log alone" "$(count run.json 'd["summary"]["graph_breaks"]')" "$(count alone.json 'd["summary"]["graph_breaks"]')"
exits "several processes" 0 fxexplain run --json -o run.json -- sh -c './traced graph_breaks & ./traced simple & wait'
is "all their logs are read" "$(count run.json 'sum(i["kind"] == "trace" for i in d["inputs"])')" 2
exits "--max" 1 fxexplain run -q --max graph-breaks=0 -- ./traced
like "the message has the count and its limit" "$(cat err)" "graph breaks: 8, at most 0 allowed"
exits "--max keeps the status of a failed command" 5 fxexplain run -q --max graph-breaks=0 -- ./traced graph_breaks 5
exits "--max with a limit that holds" 0 fxexplain run -q --max graph-breaks=1000 -- ./traced
exits "a command that writes no trace" 4 fxexplain run -- true
like "the message says why that may be" "$(cat err)" "no trace was written: .*torch"
exits "a failed command that writes no trace keeps its status" 6 fxexplain run -- sh -c 'exit 6'
cat >fails.py <<'EOS'
import sys
sys.stderr.write(open(sys.argv[1]).read())
sys.exit(1)
EOS
cat >said.txt <<'EOS'
Traceback (most recent call last):
  File "/home/user/app/m.py", line 7, in <module>
    f(x)
torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function add
EOS
exits "a traceback on standard error" 1 fxexplain run --json -o run.json -- python3 fails.py said.txt
is "it counts as a failure" "$(count run.json 'd["summary"]["failures"]')" 1
fxexplain run -- python3 fails.py said.txt '' 2>err
like "the check to run includes the command" "$(cat err)" "next +TORCH_[A-Z_]*=[^ ]* python3 fails\.py said\.txt ''  |fxexplain run --recheck -- python3 fails\.py said\.txt ''  "
# What the log and standard error both say is one thing.
cat >both.txt <<'EOS'
V1121 07:59:23.043000 1234 torch/_dynamo/symbolic_convert.py:915] [0/0] [__graph_breaks] Graph break in user code at /home/user/app/graph_breaks.py:9
Traceback (most recent call last):
  File "/home/user/app/graph_breaks.py", line 50, in strict
    torch._dynamo.graph_break()
torch._dynamo.exc.Unsupported: Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break. Message: None
EOS
both() { # both FILE : breaks, failures, compilations
	count "$1" '[d["summary"][k] for k in ("graph_breaks", "inferred_graph_breaks", "failures", "compiles")]'
}
exits "a failure in both trace and standard error" 1 fxexplain run --json -o run.json -- sh -c './traced; python3 fails.py both.txt'
is "it counts once" "$(both run.json)" "$(both alone.json)"
exits "a second failure on standard error" 1 fxexplain run --json -o run.json -- sh -c './traced; python3 fails.py said.txt'
is "it counts, too" "$(count run.json 'd["summary"]["failures"] - 1')" "$(count alone.json 'd["summary"]["failures"]')"
is "no directory is left after failures" "$(leftovers)" ""

# ---- folders ----

mkdir mine
cp "$DATA/simple.log" mine/dedicated_log_torch_trace_old.log
TORCH_TRACE=$TMP/mine exits "TORCH_TRACE of the user's own" 0 fxexplain run --json -o run.json -- ./traced
is "the user's TORCH_TRACE is used and kept" "$(find mine -name '*.log' | wc -l) $(find mine -type f | wc -l)" "2 2"
is "only new logs are explained" "$(count run.json 'sum(i["kind"] == "trace" for i in d["inputs"])')" 1
is "the log directory is private" "$(fxexplain run -q -- sh -c 'stat -c %a "$TORCH_TRACE"' 2>/dev/null)" 700
exits "--keep" 0 fxexplain run --keep kept -- ./traced
is "--keep keeps the log and standard error" "$(find kept -type f | sed 's/_[0-9]*\././' | sort | tr '\n' ' ')" "kept/dedicated_log_torch_trace.log kept/stderr.txt "
is "the kept standard error is complete" "$(cat kept/stderr.txt)" "RuntimeWarning: nothing"
exits "--keep rejects a directory that is not empty" 2 fxexplain run --keep kept -- ./traced
is "no directory is left after --keep" "$(leftovers)" ""
TMPDIR=$TMP/missing exits "no place for a folder" 4 fxexplain run --no-keep -- ./traced

# ---- kept runs ----

rm -rf .state
fxexplain run -q -- ./traced graph_breaks 3 2>err
kept=$(echo .state/pt2utils/runs/*)
is "a run is kept with its trace, standard error and document" "$(find "$kept" -type f -printf '%f\n' | sed 's/_[0-9]*\././' | sort | tr '\n' ' ')" ".pt2utils dedicated_log_torch_trace.log explained.json run.json stderr.txt "
is "run.json says what was run" "$(jq -c '[.schema, .command, .status, .signal, (.seconds > 0), (.traces | length)]' "$kept/run.json")" '["pt2utils.kept/1",["./traced","graph_breaks","3"],3,null,true,1]'
is "the document is that of --json" "$(count "$kept/explained.json" 'd["summary"]["graph_breaks"]')" "$(count alone.json 'd["summary"]["graph_breaks"]')"
TORCH_LOGS=+dynamo SECRET_TOKEN=x fxexplain run -q -- ./traced 2>err
is "torch's variables are kept, no others" "$(cat .state/pt2utils/runs/*/run.json | jq -c '.environment[] | select(.name | test("TORCH_LOGS|TOKEN"))')" '{"name":"TORCH_LOGS","value":"+dynamo"}'
touch t.log
rm -rf .state
exits "--no-keep" 0 fxexplain run --no-keep -- ./traced
is "--no-keep keeps nothing" "$(find .state 2>/dev/null | head -3)" ""
is "nor leaves anything" "$(leftovers)" ""
fxexplain run -q -- true
is "a command without a trace and without a word is not kept" "$(find .state -name run.json)" ""
for i in $(seq 52); do
	old=.state/pt2utils/runs/20200101-0000$(printf %02d "$i")-x
	mkdir -p "$old" && echo '{"started": '"$i"'}' >"$old/run.json"
done
mkdir .state/pt2utils/runs/mine
fxexplain run -q -- ./traced 2>err
is "the newest 50 are kept" "$(find .state -name run.json | wc -l) $(find .state/pt2utils/runs -name '20200101*' | sort | head -1 | tail -c 8)" "50 00004-x"
ok "what is not a run is left alone" test -d .state/pt2utils/runs/mine
HOME='' XDG_STATE_HOME='' exits "no place for runs" 0 fxexplain run -- ./traced
like "the message says so" "$(cat err)" "this run is not kept: neither XDG_STATE_HOME nor HOME is set"
is "the trace is not kept then" "$(leftovers)" ""
exits "--keep and the folder of runs" 0 fxexplain run --keep kept2 -- ./traced
is "a run of --keep is listed with its traces" "$(find .state -name run.json -newer t.log -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2 | xargs jq -r '.traces[0]' | sed 's/_[0-9]*\././')" "$TMP/kept2/dedicated_log_torch_trace.log"
exits "--keep and --no-keep" 2 fxexplain run --keep kept3 --no-keep -- true

# ---- signals ----

cat >signals.py <<'EOS'
"""signals.py HOW COMMAND... : in a session of its own, send what HOW says once "ready" is on its standard output; print how it ended
and what was left. HOW: terminal KEY (^C typed there: from a process the tool would pass it on a second time), tool SIG,
each again after 0.3 seconds for each further one."""
import fcntl, os, signal, subprocess, sys, termios, time
who, sigs, command = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
terminal, tty = os.openpty()
p = subprocess.Popen(command, stdin=tty, stdout=subprocess.PIPE, stderr=open("err", "wb"), start_new_session=True,
                     preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
assert p.stdout.readline() == b"ready\n"
for s in sigs:
    if who == "terminal":
        os.write(terminal, bytes([ord(s[1]) - 64]))
    else:
        os.kill(p.pid, getattr(signal, s))
    time.sleep(0.3)
try:
    p.wait(20)
except subprocess.TimeoutExpired:
    print("it goes on", end=" ")
    os.killpg(p.pid, 9)
def remaining():
    for d in os.listdir("/proc"):
        try:
            if d.isdigit() and os.getsid(int(d)) == p.pid and open(f"/proc/{d}/stat").read().rpartition(") ")[2][0] != "Z":
                yield open(f"/proc/{d}/cmdline").read().replace("\0", " ")
        except OSError:
            pass
end = time.time() + 10 # what was sent a signal may be late on a busy machine
while (left := list(remaining())) and time.time() < end:
    time.sleep(0.05)
if left:
    os.killpg(p.pid, 9)
print(p.returncode, *left)
EOS
cat >sleeper <<'EOS'
#!/bin/sh
./traced
echo ready
exec sleep 60
EOS
cat >stubborn <<'EOS'
#!/bin/sh
./traced
trap 'n=$((n + 1)); [ $n = 2 ] && exit 9' INT
echo ready
while :; do sleep 0.05; done
EOS
cat >parent <<'EOS'
#!/bin/sh
./traced
sleep 61 &
echo ready
wait
EOS
chmod +x sleeper stubborn parent
is "Ctrl-C ends command and tool" "$(python3 signals.py terminal ^C fxexplain run -- ./sleeper)" -2
like "the trace is explained after Ctrl-C" "$(cat err)" "graph break"
is "SIGTERM sent to the tool alone" "$(python3 signals.py tool SIGTERM fxexplain run -- ./sleeper)" -15
like "the trace is explained after SIGTERM" "$(cat err)" "graph break"
is "SIGTERM ends the command's child processes" "$(python3 signals.py tool SIGTERM fxexplain run -- ./parent)" -15
is "a second Ctrl-C ends the tool at once" "$(python3 signals.py terminal ^C,^C fxexplain run -- ./stubborn)" 9
unlike "no explanation after the second Ctrl-C" "$(cat err)" "graph break"
is "SIGKILL of the tool ends the command" "$(python3 signals.py tool SIGKILL fxexplain run --no-keep -- ./sleeper)" -9
is "a killed tool leaves its directory" "$(find tmp -mindepth 1 -maxdepth 1 | wc -l)" 1
rm -rf tmp/*
is "--timeout" "$(python3 signals.py tool SIGCONT fxexplain run --timeout 1 -- ./parent)" -15
like "the message says timed out; the trace is explained" "$(cat err)" "timed out.*graph break"
exits "--timeout fails a command that then exits 0" 1 fxexplain run --timeout 8 -- sh -c 'trap "exit 0" TERM; ./traced; while :; do sleep 0.05; done'
is "no directory is left after signals" "$(leftovers)" ""

# What was left running on purpose goes on, and its standard error with it.
fxexplain run -q -- sh -c './traced; (sleep 1; echo late >&2) & exit 0' 2>err
for _ in $(seq 400); do grep -q late err && break; sleep 0.05; done
like "output of background processes is still read" "$(cat err)" "late"

# ---- a terminal ----

cat >terminal.py <<'EOS'
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
try:
    while chunk := os.read(fd, 4096):
        text += chunk
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode().replace("\r\n", "\n"))
EOS
cat >isatty.py <<'EOS'
import os, sys
print(*[os.isatty(i) for i in range(3)], os.tcgetpgrp(0) == os.getpgrp(), file=sys.stderr)
EOS
is "a terminal is passed through" "$(python3 terminal.py fxexplain run -q -- python3 isatty.py | head -1)" "4 True True True True"

# ---- --bisect ----

# A torch whose parts fail where FAIL says: its name is that of a backend, "program" or "inductor".
mkdir -p fake/torch/_dynamo fake/torch/_inductor
cat >fake/torch/__init__.py <<'EOS'
import os
__version__ = os.environ.get("VERSION", "9.8.7")
def compile(f, backend="inductor", mode=None):
    import torch._dynamo
    return torch._dynamo.optimize(backend=backend, nopython=False)(f)
EOS
echo "from standin import optimize" >fake/torch/_dynamo/__init__.py
cat >fake/standin.py <<'EOS'
import os, sys
CHAIN = ["program", "eager", "aot_eager", "aot_eager_decomp_partition", "inductor"]
def fails(backend):
    at = os.environ["FAIL"]
    return at in CHAIN and CHAIN.index(backend) >= CHAIN.index(at)
def optimize(backend="inductor", nopython=False):
    def wrap(f):
        def call(*args):
            import torch._inductor.config as config
            here = "program" if os.environ.get("TORCHDYNAMO_DISABLE") == "1" else backend
            if here == "program" and os.environ["FAIL"] == "two":
                raise ValueError("its own")
            if here == "inductor" and os.environ["FAIL"] in ("two", "cache") and not os.environ.get("TORCHINDUCTOR_FORCE_DISABLE_CACHES"):
                raise RuntimeError("stale 17")
            if here == "inductor" and os.environ["FAIL"] == "two":
                raise RuntimeError("stale 18")
            if here == "inductor" and os.environ["FAIL"] == "fusion" and config.max_fusion_size > 1:
                raise AssertionError("wrong by 0.%d" % (os.getpid() % 10))
            if here == "inductor" and os.environ["FAIL"] == "order" and config.numerics != "strict_reduction":
                raise AssertionError("wrong in the last digit")
            if here == "inductor" and os.environ["FAIL"] == "flaky" and not os.path.exists("failed-once"):
                open("failed-once", "w").close()
                os.kill(os.getpid(), 11)
            if fails(here):
                raise RuntimeError("it fails at 0x%x in /tmp/%s" % (id(f), os.getpid()))
            return f(*args)
        return call
    return wrap
EOS
cat >fake/torch/_inductor/__init__.py </dev/null
cat >fake/torch/_inductor/config.py <<'EOS'
emulate_precision_casts = fallback_random = strict_signed_zero = False
numerics = "default"
max_fusion_size = 64
class cpp:
    simdlen = None
EOS
cat >app.py <<'EOS'
import sys
if "--no-torch" not in sys.argv:
    import torch
    f = (lambda x: x) if "--no-compile" in sys.argv else torch.compile(lambda x: x)
    print(f(1))
    import sitehello
    sitehello.hello()
else:
    sys.exit(1)
EOS
# A sitecustomize of the user's own is run as ever.
cat >fake/sitecustomize.py <<'EOS'
import sys, types
m = sys.modules["sitehello"] = types.ModuleType("sitehello")
m.hello = lambda: None
EOS
export PYTHONPATH=$TMP/fake

# ---- --recheck ----

cat >again.py <<'EOS'
import os, signal, sys
eager = os.environ.get("TORCH_COMPILE_DISABLE") == "1"
print("eager" if eager else "compiled", sys.stdin.read())
def fail(how):
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "other":
        raise RuntimeError("fullgraph=True found nothing")
    raise ValueError("size %d does not fit" % os.getpid())
def elsewhere():
    raise ValueError("size %d does not fit" % os.getpid())
how = sys.argv[2 if eager else 1]
if how == "place":
    elsewhere()
if how != "pass":
    fail(how)
EOS
recheck() { # recheck FIRST EAGER -> status, component, basis, title
	run fxexplain run -q --recheck --json -o again.json -- python3 again.py "$@" <<<input
	echo "$status $(jq -r '.verdict | [.component, .basis, .title] | map(. // "-") | join(", ")' again.json)"
}
is "the same failure in eager mode" "$(recheck same same)" "1 eager, seen, the program itself (eager fails too)"
is "its evidence" "$(jq -r '.verdict.evidence[-1]' again.json | sed 's/[0-9][0-9]*/N/g')" "TORCH_COMPILE_DISABLE=N: the same failure: ValueError: size N does not fit"
is "nothing more to run" "$(jq -c '[.verdict.next, .findings[0].next]' again.json)" '[[],[]]'
is "eager passes" "$(recheck same pass)" "1 -, not known, which part of torch.compile failed (eager passes)"
like "then --bisect is next" "$(jq -r '.verdict.next[0]' again.json)" "run --bisect"
is "another message" "$(recheck same other)" "1 -, not known, which part failed (eager fails in another way)"
is "another line" "$(recheck same place)" "1 -, not known, which part failed (eager fails in another way)"
is "without --recheck eager is not run" "$(fxexplain run -q --json -o again.json -- python3 again.py same same </dev/null >/dev/null 2>&1; jq -r '.verdict | [.component, .basis, .next[0]] | map(. // "-") | join(", ")' again.json)" \
	"-, not known, TORCH_COMPILE_DISABLE=1 python app.py    # does it fail the same way in eager mode?"
run fxexplain run --recheck -- python3 again.py same same <<<input
is "only the first run's output is shown" "$(tr '\n' ' ' <out)" "compiled input  "
like "it says so" "$(cat err)" "running it again with TORCH_COMPILE_DISABLE=1.*without torch.compile: 'python3' exited with status 1.*Failed: the program itself \(eager fails too\)"
run fxexplain run --recheck -- python3 again.py pass same <<<input
is "a command that works is run once" "$(grep -c 'running it again' err)" "0"
# An operator says it in other words of fake tensors, at the same line.
cat >rejects.py <<'EOS'
import os, sys
eager = os.environ.get("TORCH_COMPILE_DISABLE") == "1"
def fail(text):
    sys.stderr.write('Traceback (most recent call last):\n  File "/home/user/app/m.py", line 3, in f\n    return x @ w\n%s\n' % text)
    sys.exit(1)
fake = """torch._dynamo.exc.TorchRuntimeError: RuntimeError when making fake tensor call
  Explanation: Dynamo failed to run FX node with fake tensors: call_function <built-in function matmul>(*(FakeTensor(..., size=(3, 4)), FakeTensor(..., size=(5, 2))), **{}): got RuntimeError('a and b must have same reduction dim, but got [3, 4] X [5, 2].')
  Hint: Your code may result in an error when running in eager. Please double check that your code doesn't contain a similar error when actually running eager/uncompiled. You can do this by removing the `torch.compile` call, or by using `torch.compiler.set_stance("force_eager")`.

  Developer debug context:

 For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb4315.html

from user code:
   File "/home/user/app/m.py", line 3, in f
    def f(x, w): return x @ w
                        ^^^^^
"""
fail("RuntimeError: mat1 and mat2 shapes cannot be multiplied (%sx4 and 5x2)" % sys.argv[1] if eager else fake)
EOS
operator() { fxexplain run -q --recheck --json -o again.json -- python3 rejects.py "$1" >/dev/null 2>&1; jq -r '.verdict | [.component, .basis] | map(. // "-") | join(", ")' again.json; }
is "an operator's other words with the same numbers" "$(operator 3)" "eager, seen"
is "with other numbers" "$(operator 7)" "-, not known"
is "a second run that dies" "$(recheck same signal)" "1 -, not known, which part failed (eager fails in another way)"
# By itself: only on a copy of the files, where that can be had.
cat >alone.py <<'EOS'
import os, shutil, sys
eager = os.environ.get("TORCH_COMPILE_DISABLE") == "1"
if not eager:
    shutil.copy(os.environ["DATA"] + "/simple.log", os.environ["TORCH_TRACE"] + "/dedicated_log_torch_trace_%s1.log" % sys.argv[2])
open("ran-eager" if eager else "ran-compiled", "w").close()
if "read" in sys.argv:
    sys.stdin.read()
if sys.argv[1] == "same" or not eager:
    raise ValueError("it does not fit")
EOS
alone() { # alone ARG... -> status, component, basis; what ran
	rm -f ran-*
	run fxexplain run ${options:+"$options"} --json -o again.json -- python3 alone.py "$@"
	echo "$status $(jq -r '.verdict | [.component, .basis, .title] | map(. // "-") | join(", ")' again.json), $(echo ran-*), $(grep -c 'running it again' err)"
	jq -r '.verdict | select((.title // "") | endswith("another way)")) | .evidence' again.json # in which
}
not_known="1 -, not known, which part failed: eager was not run, ran-compiled, 0"
alone same "" </dev/null >alone.out
if grep -q "copy-on-write view of the files and without network" err; then
	is "an open question is answered by itself, and the files stay as they were" "$(cat alone.out)" "1 eager, seen, the program itself (eager fails too), ran-compiled, 1"
	is "the same where eager passes" "$(alone pass "" </dev/null)" "1 -, not known, which part of torch.compile failed (eager passes), ran-compiled, 1"
	echo input >input
	is "input that was not read does not matter" "$(alone same "" <input | cut -c1-13)" "1 eager, seen"
	is "input that was read prevents it" "$(alone same "" read <input)" "$not_known"
	is "so does a pipe" "$(echo input | alone same "")" "$not_known"
	is "so does a rank" "$(RANK=0 alone same "" </dev/null)" "$not_known"
	is "so does a trace of a rank" "$(alone same rank_0_ </dev/null)" "$not_known"
	is "so does --no-recheck" "$(options=--no-recheck alone same "" </dev/null)" "$not_known"
	like "then it is the first next command" "$(jq -r '.verdict.next[0]' again.json)" "^TORCH_COMPILE_DISABLE=1 "
else
	is "without a copy of the files nothing runs by itself" "$(cat alone.out)" "$not_known"
	skip "what runs by itself" "no copy-on-write view here, or a GPU"
fi
cat >asked.py <<'EOS'
"""asked.py ANSWER COMMAND...: on a terminal of its own; answers the question."""
import os, pty, sys
pid, fd = pty.fork()
if not pid:
    os.execvp(sys.argv[2], sys.argv[2:])
text, answer = b"", sys.argv[1].encode() + b"\n"
try:
    while chunk := os.read(fd, 4096):
        text += chunk
        if b"[y/N] " in text and answer:
            os.write(fd, answer)
            answer = b""
except OSError:
    pass
os.waitpid(pid, 0)
print(text.decode().replace("\r\n", "\n"))
EOS
if [ ! -e /dev/nvidia0 ] && [ ! -e /dev/kfd ]; then
	rm -f ran-*
	like "on a terminal it asks" "$(NO_COLOR=1 python3 asked.py n fxexplain run -- python3 alone.py same "")" "does eager fail, too\? Run 'python3' again with TORCH_COMPILE_DISABLE=1 \(it took [0-9.]* s\)\? \[y/N\] .*Not known yet: which part failed"
	is "no is no" "$(echo ran-*)" ran-compiled
	like "yes is yes" "$(NO_COLOR=1 python3 asked.py y fxexplain run -- python3 alone.py same "")" "Failed: the program itself \(eager fails too\)"
	is "and runs it as it is" "$(echo ran-*)" "ran-compiled ran-eager"
	unlike "with -q nobody is asked" "$(python3 asked.py y fxexplain run -q -- python3 alone.py same "")" "y/N"
fi
exits "--recheck with --no-recheck" 2 fxexplain run --recheck --no-recheck -- true
exits "--recheck with --bisect" 2 fxexplain run --recheck --bisect -- true
is "no directory is left by --recheck" "$(leftovers)" ""

bisect() { # bisect FAIL COMMAND... -> component, runs
	FAIL=$1 run fxexplain run --bisect --json -o bisect.json -q -- "${@:2}"
	echo "$status $(count bisect.json 'd["component"], [r["name"] + (", " + r["setting"] if r["setting"] else "") for r in d["runs"]], d["flaky"]')"
}
is "--bisect: a command that does not fail" "$(bisect none python3 app.py)" "0 None, ['as it is'], False"
is "--bisect blames the program" "$(bisect program python3 app.py)" "1 eager, ['as it is', 'compilation disabled'], False"
is "--bisect blames Dynamo" "$(bisect eager python3 app.py)" "1 dynamo, ['as it is', 'compilation disabled', 'aot_eager', 'eager'], False"
is "--bisect blames AOTAutograd" "$(bisect aot_eager python3 app.py)" "1 aotautograd, ['as it is', 'compilation disabled', 'aot_eager', 'eager'], False"
is "--bisect blames decompositions" "$(bisect aot_eager_decomp_partition python3 app.py)" \
	"1 aotautograd, ['as it is', 'compilation disabled', 'aot_eager', 'aot_eager_decomp_partition'], False"
like "the verdict names decompositions" "$(count bisect.json 'd["verdict"]')" "decompositions"
FAIL=inductor run fxexplain run --bisect -- python3 app.py
is "--bisect blames Inductor" "$status" 1
like "the table has each backend's result" "$(cat out)" "inductor:.*backend +result +seconds.*as it is +RuntimeError: it fails.*aot_eager_decomp_partition +exited with status 0"
like "the next command is suggested" "$(cat out)" "TORCHDYNAMO_REPRO_AFTER=aot TORCHDYNAMO_REPRO_LEVEL=4 python3 app.py.*fxminify"
like "progress goes to standard error" "$(cat err)" "aot_eager: exited with status 0"
is "results that differ by the order of a reduction" "$(bisect order python3 app.py | cut -c-11)" "1 inductor,"
is "the setting is named" "$(count bisect.json 'd["part"]')" "numerics='strict_reduction'"
is "results that differ by fusion, in an older torch" "$(VERSION=2.13.0 bisect fusion python3 app.py)" "1 inductor, ['as it is', 'compilation disabled', 'aot_eager', 'aot_eager_decomp_partition', 'as it is, without caches', 'as it is, emulate_precision_casts=True', 'as it is, fallback_random=True', 'as it is, pattern_matcher=False', 'as it is, max_fusion_size=1'], False"
is "its setting is named" "$(count bisect.json 'd["part"]')" "max_fusion_size=1"
is "--bisect blames a stale cache" "$(bisect cache python3 app.py | cut -d, -f1)" "1 environment"
is "--bisect detects a flaky command" "$(bisect flaky python3 app.py | sed 's/.*\]//')" ", True"
is "--bisect with two failures" "$(bisect two python3 app.py | cut -d, -f1)" "1 inductor"
like "the program's own failure is reported" "$(count bisect.json 'd["verdict"]')" "the program also fails, but differently"
is "--bisect without torch.compile" "$(bisect none python3 app.py --no-torch | cut -d, -f1)" "1 eager"
# ---- --wrong ----

# What state.py asks of torch; and a compiler that forgets what a function appends to the list "hits".
cat >>fake/torch/__init__.py <<'EOS'
import contextlib, types
class Tensor:
    pass
nn = types.SimpleNamespace(Module=type("Module", (), {}))
no_grad = contextlib.nullcontext
compiler = types.SimpleNamespace(is_compiling=lambda: False)
EOS
cat >lost.py <<'EOS'
import os, random
import torch
def make():
    hits = []
    def step(x):
        hits.append(x)
        noise.append(random.random())
        return x + 1
    noise = []
    return step, hits
step, hits = make()
def forgets(x):
    out = step(x)
    if os.environ.get("TORCHDYNAMO_DISABLE") != "1":
        hits.pop()
    return out
forgets = torch.compile(forgets)
forgets(1), forgets(2)
assert [1, 2] == hits, "the values differ"
EOS
wrong() { # wrong FAIL COMMAND... -> status, component, stage, part
	FAIL=$1 run fxexplain run --wrong --json -o wrong.json -q -- "${@:2}"
	echo "$status $(jq -r '[.component, .stage, .part, .eager] | map(. // "-") | join(", ")' wrong.json)"
}
is "--wrong: a program that passes" "$(wrong none python3 app.py)" "0 -, -, -, -"
is "--wrong: a setting of Inductor, where no graph can be kept" "$(wrong fusion python3 app.py)" "1 inductor, inductor, max_fusion_size=1, passes"
like "the reason is in the evidence" "$(jq -r '.evidence[]' wrong.json)" "no graph could be kept: AOTAutograd wrote none into the trace"
is "--wrong: the state that Dynamo lost" "$(wrong none python3 lost.py)" "1 dynamo, eager, -, passes"
is "which, where, and what eager has" "$(jq -c '.lost | map([.what, .eager, .compiled, .call, .location.function, (.location.file | split("/") | last)])' wrong.json)" \
	'[["'"'hits'"'","[1]","[]",1,"forgets","lost.py"]]'
is "what differs between two eager runs is not lost state" "$(jq '.lost | map(select(.what | test("noise"))) | length' wrong.json)" 0
folder=$(jq -r .folder wrong.json)
is "the document is kept" "$(jq -c .lost "$folder/wrong.json")" "$(jq -c .lost wrong.json)"
FAIL=none run fxexplain run --wrong -q -- python3 lost.py
like "as text" "$(cat out)" "dynamo: after call 1 of forgets 'hits' is not what eager leaves.*backend +result.*Evidence:.*lost\.py:[0-9]+ in forgets, call 1: 'hits' is \[\], eager: \[1\].*Next:.*Kept in "
exits "--wrong with --no-keep" 2 fxexplain run --wrong --no-keep -- true
exits "--wrong with --bisect" 2 fxexplain run --wrong --bisect -- true
cat >late.py <<'EOS'
import os, sys
import torch
sys.exit(os.environ.get("TORCHDYNAMO_DISABLE") != "1")
EOS
is "a failure before anything is compiled" "$(bisect none python3 late.py | cut -d, -f1)" "4 None"
like "the verdict says that torch.compile was not called" "$(count bisect.json 'd["verdict"]')" "torch.compile was not called"
is "python -I ignores what --bisect sets" "$(bisect none python3 -I -c 'import os; os._exit(os.environ.get("TORCHDYNAMO_DISABLE") != "1")' | cut -d, -f1)" "4 None"
like "the verdict names python -I" "$(count bisect.json 'd["verdict"]')" "python -I"
is "the suggested command is quoted for the shell" "$(FAIL=program fxexplain run --bisect -q -- python3 app.py "it's 1" | tail -1)" "  TORCHDYNAMO_DISABLE=1 python3 app.py 'it'\\''s 1'"
FAIL=none run fxexplain run --bisect --json --timeout 1 -q -- sh -c 'sleep 50 & sleep 60'
is "--timeout ends each run" "$status $(count out '[r["timed_out"] for r in d["runs"]]')" "1 [True, True]"
exits "--bisect with --html is rejected" 2 fxexplain run --bisect --html=x.html -- true
cat >waits <<'EOS'
#!/bin/sh
echo ready >"$FIFO"
sleep 62 &
wait
EOS
chmod +x waits
mkfifo fifo
export FIFO=$TMP/fifo
cat >bisectint.sh <<'EOS'
#!/bin/sh
cat "$FIFO" &
exec fxexplain run --bisect -q -- ./waits
EOS
chmod +x bisectint.sh
is "Ctrl-C during --bisect" "$(python3 signals.py terminal ^C ./bisectint.sh)" -2
cat >third <<'EOS'
#!/bin/sh
echo run >>runs
[ "$(wc -l <runs)" = 1 ] && exit 3
[ "$(wc -l <runs)" = 2 ] && exit 0
echo ready >"$FIFO"
sleep 62 &
wait
EOS
chmod +x third
known() { # ARGUMENT...: the third run of a bisection is ended
	rm -f runs
	fxexplain run --bisect -q "$@" -- ./third >out 2>err &
	local pid=$!
	read -r <"$FIFO"
	kill -TERM $pid
	wait $pid
	echo $?
}
is "SIGTERM during --bisect" "$(known)" 143
like "the verdict covers what was tried" "$(cat out)" 'Verdict: interrupted by SIGTERM before every stage was tried; so far, one of: TorchDynamo; AOTAutograd; the decompositions or the partitioner; TorchInductor.*as it is +exited with status 3.*compilation disabled +exited with status 0'
known --json >/dev/null
is "the same in JSON" "$(jq -c '[.component, .ended_by, (.runs|length), (.evidence|length)]' out)" '[null,15,2,2]'
is "no directory is left after --bisect" "$(leftovers)" ""
done_testing
