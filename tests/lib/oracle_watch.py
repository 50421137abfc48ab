"""When a test of fxminify's torch oracle is a hang: children that loop, sleep, keep the interpreter, wait for a program, or get on. No torch.

    oracle_watch.py SHARE/fxminify      prints a line for each thing that was looked at: "WHAT: ANSWER"

Nothing here depends on how busy the machine is: a child's time is what it has spent.
"""
import os, signal, subprocess, sys, tempfile, time

share = sys.argv[1]
with open(os.path.join(share, "watch.py")) as f:
    exec(compile(f.read(), "fxminify-oracle", "exec"), globals())
LOOK = 0.05  # in one second, too, a loop is seen in all of its functions
MINE = "/home/me/mine.py"
PASSES = compile("""
def step():
    return sum(range(1000))
def other():
    return max(range(1000))
def loops():
    while True:
        step()
        other()
def sleeps():
    import time
    time.sleep(1e6)
def keeps():
    return 3 ** (10 ** 10)
def waits():
    import subprocess
    subprocess.run(["sh", "-c", "while :; do :; done"])
def gets_on(n=0):
    names = {}
    exec("".join(f"def f{i}():\\n for _ in range(40): step()\\n" for i in range(20000)), globals(), names)
    for f in names.values():
        f()
def eats():
    kept = []
    while True:
        kept.append(bytearray(1 << 20))
def reads_zero():
    import ctypes
    ctypes.string_at(0)
""", MINE, "exec")
exec(PASSES, globals())


def answer(what, value):
    print(f"{what}: {value}", flush=True)


def child(work, memory=0):
    """In a group of its own; what it says in the end is in the file `said`."""
    folder = tempfile.mkdtemp()
    pid = os.fork()
    if pid:
        os.setpgid(pid, pid)
        return pid, folder
    os.setpgid(0, 0)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    listen()
    if memory:
        limit_memory(memory)
    try:
        work()
    except BaseException as e:
        lift_memory()
        with open("said", "w") as f:
            f.write(str(no_memory("compile", stack_words(stack_of(e)), named(stack_of(e))[:3], str(e))) if isinstance(e, MemoryError) else repr(e))
    os._exit(0)


def end(pid):
    os.killpg(pid, signal.SIGCONT)
    os.killpg(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def watched(what, work, patience=1.0, learned=None, until=lambda w: False):
    """The verdict on it."""
    learned = learned or Learned()
    pid, folder = child(work)
    w = Watch(pid, time.monotonic(), patience, learned, os.path.join(folder, "stack"))
    while not (hangs := w.look(time.monotonic(), "compile")) and not until(w):
        time.sleep(LOOK)
    end(pid)
    answer(what, f"hangs in {w.place()[0] if w.place() else '?'}" if hangs else "goes on")
    return w, learned


w, learned = watched("a loop", loops)
answer("where it is said to be", stack_words(w.stack).startswith("loops (mine.py") or stack_words(w.stack))
answer("how long it was silent", w.quiet >= 1)
w, _ = watched("the same loop, when no other test has ended", loops, 4.0, learned)
answer("a quarter is enough", 1 <= w.quiet < 4)
learned.add(Watch(os.getpid(), time.monotonic(), 0, learned, ""))
learned.quiet["mine.py:loops"] = 0.5
w, _ = watched("and when others stay there for half a second", loops, 60.0, learned)
answer("four times that", 2 <= w.quiet < 60)
watched("one that sleeps", sleeps)
w, _ = watched("one that keeps the interpreter", keeps)
w, _ = watched("one that waits for a program", waits, 0.5)
answer("has four times as long", w.quiet >= 2)
watched("one that gets on", gets_on, 1.0, until=lambda w: w.age > 3)

# It is stopped, as on a machine that is too busy for it: however long that takes, it is not older.
pid, folder = child(loops)
os.kill(pid, signal.SIGSTOP)
os.waitpid(pid, os.WUNTRACED)
w = Watch(pid, time.monotonic(), 0.1, Learned(), os.path.join(folder, "stack"))
w.look(time.monotonic(), "compile")
before = w.age
w.last -= 1000  # so much time goes by
answer("one that is kept from running", "hangs" if w.look(time.monotonic(), "compile") else "goes on")
answer("its age", w.age - before < 1)
end(pid)

# Phases in which nothing is compiled are not judged.
w = Watch(os.getpid(), time.monotonic() - 100, 0.1, Learned(), "")
w.quiet = 100
answer("in eager", w.look(time.monotonic(), "eager"))

pid, folder = child(eats, 200 << 20)
os.waitpid(pid, 0)
with open(os.path.join(folder, "said")) as f:
    said = f.read()
answer("one that eats memory", eval(said)["kind"] + " " + eval(said)["frames"])
answer("who, how much", eval(said)["detail"])

pid, folder = child(reads_zero)
status = os.waitpid(pid, 0)[1]
with open(os.path.join(folder, "stack")) as f:
    text = f.read()
answer("one that dies", signal.Signals(os.WTERMSIG(status)).name + " " + named(fatal_stack(text))[0])

# ---- parts ----
answer("how much a compiler wanted", no_memory("compile", "cc1plus", [], "cc1plus: out of memory allocating 65536 bytes after a total of 7 bytes")["detail"])
answer("how much torch wanted", no_memory("run", "", [], "can't allocate memory: you tried to allocate 8589934592 bytes. Error code 12")["detail"])
old = TITLE + '  File "/a/torch/b.py", line 3 in f\n  File "x", line 1 in <module>\n\n'
# Four kernels that one function has compiled before the fifth hangs: the place is the fifth, not the function.
w = Watch(os.getpid(), 0, 1, Learned(), "")
texts = iter([(i, TITLE + f'  File "/me/k.py", line {min(i, 5)} in step{min(i, 5)}\n  File "/me/m.py", line {min(i, 5)} in make\n  File "x", line 1 in <module>\n\n')
              for i in range(1, 60)])
w.text = lambda: next(texts)
w.seen.update(("/me/m.py", "make", f"step{i}") for i in range(6))
for _ in range(59):
    w.quiet += 0.5
    w.compare()
answer("the place of late", " ".join(named(w.lately())) + ", of all: " + " ".join(named(w.stack)))
answer("a stack that is not whole", last_stack(old + "=\n" + TITLE + '  File "/a/torch/b.py", line 9 in g\n') == last_stack(old))
answer("names", " ".join(named([("/p/site-packages/torch/_inductor/x.py", 1, "f"), ("/t/ab/c" + "a2" * 25 + "b.py", 2, "call"),
                                ("<eval_with_key>.12", 3, "forward"), (os.__file__, 4, "fork"), ("fxminify-oracle", 5, "test")])))
answer("in one line or another", common([("a", 1, "f"), ("b", 2, "g")], [("a", 1, "f"), ("b", 3, "g"), ("c", 1, "h")]))
answer("the phase", phase_of([("x", 1, "compile_fx_inner"), ("y", 2, "g")], "run") + " " + phase_of([("x", 1, "f")], "run"))
