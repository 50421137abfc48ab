"""signals.py COUNT [KILL] < LINES : COUNT runs of the commands in LINES (in turn, in box/), each ended by SIGINT or SIGTERM at a random moment.

A line: OUTPUT COMMAND..., OUTPUT is what it writes in box/ ("-": nothing). Each run must end of the signal, or as it does without one; with the output
that was there before or the new one, whole; with no .tmp, no folder in $TMPDIR, no process left. With KILL each is ended by SIGKILL, and then run again to its end: that one must write the new
output and leave nothing of the killed one. One TAP line a command. What the output
is compared without: times and process ids. PT2_SEED=N: other moments."""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

VARIES = re.compile(rb'"(at|seconds|pid|tid|time_ns|took_ns|address|[a-z_]*_time)":[0-9.]*|\d+(\.\d+)? (ms|s)\b')
TMP = os.environ["TMPDIR"]
mark = f"PT2_TEST_MARK={os.getpid()}"
killed = sys.argv[2:] == ["KILL"]
environ = dict(os.environ, PT2_TEST_MARK=str(os.getpid()))


def content(path):
    """Everything under it, or None."""
    if os.path.isdir(path):
        return sorted((os.path.relpath(os.path.join(d, f), path), content(os.path.join(d, f))) for d, _, fs in os.walk(path) for f in fs)
    try:
        with open(path, "rb") as f:
            return VARIES.sub(b"", f.read())
    except FileNotFoundError:
        return None


def children():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark.encode() in f.read().split(b"\0"):
                    found.append(pid)
        except OSError:
            pass
    return found


def start(command):
    def as_from_a_shell():
        for s in (signal.SIGINT, signal.SIGTERM):
            signal.signal(s, signal.SIG_DFL)

    with open("out", "wb") as out, open("err", "wb") as err:
        return subprocess.Popen(command, cwd="box", stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environ, preexec_fn=as_from_a_shell)


def fresh():
    shutil.rmtree("box", ignore_errors=True)
    shutil.copytree("start", "box")


class Case:
    def __init__(self, line):
        self.output, *self.command = line.split()
        self.line, self.wrong = " ".join(self.command), []
        self.seconds, self.runs = 0, 0
        fresh()
        for _ in range(2):  # the second has the files in memory, and an output to replace
            begin = time.monotonic()
            self.status = start(self.command).wait()
            self.seconds = time.monotonic() - begin
        self.new = content(f"box/{self.output}")
        self.old = content(f"start/{self.output}")

    def kept(self, now):
        """fxminify has its best so far there at once; a whole program ends so."""
        return now in (self.old, self.new) or (self.command[0] == "fxminify" and now and now.rstrip().endswith(b")"))

    def once(self, rng):
        fresh()
        sig = signal.SIGKILL if killed else rng.choice((signal.SIGINT, signal.SIGTERM))
        wait = rng.uniform(0, 1.1 * self.seconds)
        p = start(self.command)
        time.sleep(wait)
        p.send_signal(sig)
        try:
            status = p.wait(300)
        except subprocess.TimeoutExpired:
            p.kill()
            status = f"{p.wait()}, a hang"
        end = time.monotonic() + 120
        while (left := children()) and time.monotonic() < end:
            time.sleep(0.01)
        wrong = []
        if status not in (self.status, -sig, 128 + sig):
            with open("err") as f:
                wrong.append(f"status {status}: {f.read(200)}")
        if self.output != "-" and not self.kept(content(f"box/{self.output}")):
            wrong.append(f"{self.output} is neither the old nor the new one")
        if killed and start(self.command).wait() != self.status:
            wrong.append("it does not run again")
        wrong += [f"left: {f}" for f in os.listdir("box") if ".tmp" in f] + [f"left: {f}" for f in os.listdir(TMP)]
        wrong += [f"process {pid} is left" for pid in left]
        self.runs += 1
        if wrong:
            self.wrong.append(f"{signal.Signals(sig).name} after {wait:.4f} of {self.seconds:.4f} s: " + "; ".join(wrong))
            for f in os.listdir(TMP):
                shutil.rmtree(f"{TMP}/{f}", ignore_errors=True)


seed = os.environ.get("PT2_SEED", "1")
rng = random.Random(seed)
cases = [Case(line) for line in sys.stdin.read().splitlines() if line]
for n in range(int(sys.argv[1])):
    cases[n % len(cases)].once(rng)
for n, c in enumerate(cases, 1):
    print(f"{'not ' if c.wrong else ''}ok {n} - {c.runs} signals: {c.line}")
    for w in c.wrong[:5]:
        print("#  ", w.replace("\n", " "))
