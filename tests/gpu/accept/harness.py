"""What the checks of scripts/gpu-accept are written with: a registry, and a check's hands. Python's standard library alone.

    from harness import check

    @check(8, "side stream: dump equals torch's tensors", limit=60)
    def side_stream(c):
        want = c.program("streams.py", "side")                   # a plain run: .status .out .err .seconds
        got = c.tool("aoti-printer", "-q", "-o", c.path("dump"), "--", *c.py("streams.py", "side"))
        c.equal("same result", got.out, want.out)
        c.like("the kernel", c.read("found.txt"), r"triton_\\w+")
        c.figure("slower by", got.seconds / want.seconds, "x")

Every expectation of a check is looked at, also after one that failed; its line shows the first that did. An exception fails a check.

Plain runs are made before the checks begin, twelve at a time, which fills the caches of Inductor and Triton for the runs that are watched: c.program()
with constant arguments is found in the text of the check (planned()), run once, and answered out of memory to every check that asks for the same. A check that measures
time is exclusive: it runs alone, at the end, and its own plain runs are made again (fresh=True), warm.

Fake (gpu-accept --fake): c.py("streams.py", ...) is the program of that name in tests/gpu/fake, in a Python with tests/lib/jittorch, on the fake driver;
c.fake says so. PT2_PLANT=N in the environment of the check's own runs is the fault that check N must find; the program (or the check itself, c.plant) makes it. The
plain runs that are made before the checks have none.
"""
import ast
import inspect
import json
import os
import re
import signal
import subprocess
import textwrap
import threading
import time

CHECKS = {}
COMPILES = {"TORCHINDUCTOR_COMPILE_THREADS": 4}  # for many kernels that are not in the cache yet: a pool of processes, with a torch each
MANY = ("resnet.py",)  # programs that have so many


class Check:
    def __init__(self, number, title, limit, exclusive, function):
        self.number, self.title, self.limit, self.exclusive, self.function = number, title, limit, exclusive, function

    def planned(self):
        """Its calls of c.program() with constant arguments: tuples of them."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.function)))
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "program"]
        return [tuple(a.value for a in n.args) for n in calls if not n.keywords and all(isinstance(a, ast.Constant) for a in n.args)]


def check(number, title, limit=60, exclusive=False):
    def add(function):
        assert number not in CHECKS, number
        CHECKS[number] = Check(number, title, limit, exclusive, function)
        return function
    return add


def kill_marked(mark):
    """Kills all processes with that in their environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if mark in f.read() + b"\0" and int(pid) != os.getpid():
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


class Limit(Exception):
    """A check's time is over; result: of the command that was running, with what it had printed."""
    result = None


class Result:
    def __init__(self, command, status, out, err, seconds):
        self.command, self.status, self.out, self.err, self.seconds = command, status, out, err, seconds

    def __repr__(self):
        return f"status {self.status}, out {self.out[-300:]!r}, err {self.err[-300:]!r}"


class Place:
    """Where all checks run: the kit, its Python, the folder for what they write, and what they share."""

    def __init__(self, kit, python, out, fake=False, plant=None):
        self.kit, self.python, self.out, self.fake, self.plant = kit, python, out, fake, plant
        self.tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # tests/gpu
        self.root = os.path.dirname(os.path.dirname(self.tests))
        self.runs, self.lock, self.end = {}, threading.Lock(), None  # end: when everything has to be over
        self.environment = dict(os.environ, PATH=os.path.join(kit, "bin") + os.pathsep + os.environ.get("PATH", ""), PT2_PYTHON=python,
                                PYTHONDONTWRITEBYTECODE="1", PYTHONFAULTHANDLER="1", LC_ALL="C.UTF-8")
        if fake:
            libraries = os.path.join(kit, "tests-lib")
            self.environment.update(PYTHONPATH=os.path.join(self.root, "tests/lib/jittorch"), JITTORCH_CUDA="1", PT2_GPU_TESTS=libraries,
                                    JITTORCH_LIBRARY=os.path.join(libraries, "jittorch.so"), LD_LIBRARY_PATH=os.path.join(libraries, "cuda"))
        else:
            for name, folder in ("TORCHINDUCTOR_CACHE_DIR", "inductor"), ("TRITON_CACHE_DIR", "triton"):
                self.environment.setdefault(name, os.path.join(kit + "-cache", folder))  # what was compiled is there for the next run
            # What is compiled in parallel is: the plain runs, side by side. A watched run takes it from the cache, and needs no pool of processes with a torch each.
            self.environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
            self.environment.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")  # else each process compiles a test for each instruction set, a minute in all
        self.environment.pop("PT2_PLANT", None)

    def planned(self, arguments):
        """The plain run of these arguments: made by whoever asks first, waited for by all others."""
        with self.lock:
            first = arguments not in self.runs
            if first:
                self.runs[arguments] = [threading.Event(), None]
            done, _ = entry = self.runs[arguments]
        if first:
            try:
                name = "-".join(re.sub(r"\W+", "_", a) for a in arguments)
                hands = Hands(self, Check(0, name, 180, False, None), os.path.join(self.out, "plain", name), self.end)
                try:
                    entry[1] = hands.run(*hands.py(*arguments), env=COMPILES if arguments[0] in MANY else None)
                except Limit as e:
                    entry[1] = Result(arguments, None, "", str(e), 0)
                hands.end()
            finally:
                done.set()
        return done, entry


def rounded(text):
    """With its numbers to four places: what is watched was compiled once more, and torch may have tuned a reduction otherwise."""
    return re.sub(r"\d+\.\d+", lambda m: f"{float(m[0]):.4f}", text)


class Hands:
    """`c` of a check."""

    def __init__(self, place, what, folder, deadline=None):
        self.place, self.check, self.folder = place, what, folder
        self.cpu = os.environ.get("PT2_GPU_DEVICE") == "cpu"
        self.fake, self.kit, self.root = place.fake, place.kit, place.root
        self.plant = what.number > 0 and place.plant in ("all", str(what.number))
        # Nobody knows how slow the machine is that has no GPU, and what else runs there.
        self.deadline = min(time.monotonic() + what.limit * (5 if self.fake or self.cpu else 1), deadline or 1e18)
        self.expected, self.figures, self.steps, self.token = [], [], [], f"{os.getpid()}.{what.number}.{what.title[:40] if not what.number else ''}"
        self.lock = threading.Lock()
        os.makedirs(folder, exist_ok=True)

    # ---- running ----

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        """A file of this check's folder, "" if there is none."""
        try:
            with open(self.path(name), encoding="utf-8", errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def json(self, name):
        """The same as JSON; None if it is none."""
        try:
            return json.loads(self.read(name))
        except ValueError:
            return None

    def py(self, name, *scene):
        """The command that plays a scene of tests/gpu/programs/NAME."""
        return [self.place.python, os.path.join(self.place.tests, "fake" if self.fake else "programs", name), *map(str, scene)]

    def program(self, name, *scene, env=None, fresh=False):
        """A plain run of it. fresh: now and for this check alone."""
        if env or fresh or self.check.exclusive:
            return self.run(*self.py(name, *scene), env=env)
        done, entry = self.place.planned((name, *map(str, scene)))
        if not done.wait(self.left()):
            raise Limit(f"{self.check.limit} s were over before '{name} {' '.join(map(str, scene))}' had run alone")
        return entry[1]

    def tool(self, name, *args, env=None):
        return self.run(os.path.join(self.kit, "bin", name), *args, env=env)

    def left(self):
        return max(self.deadline - time.monotonic(), 0)

    def run(self, *command, env=None):
        """Runs a command in this check's folder, to its end or the check's, when it is killed with all that it started. Its output is in NN.out, NN.err."""
        command = [str(a) for a in command]
        environment = dict(self.place.environment, PT2_ACCEPT=self.token, **{k: str(v) for k, v in (env or {}).items()})
        if self.plant:
            environment["PT2_PLANT"] = str(self.check.number)
        with self.lock:
            n = len(self.steps) + 1
            step = {"n": n, "command": command, "env": env or {}}
            self.steps.append(step)
        out, err = self.path(f"{n:02}.out"), self.path(f"{n:02}.err")
        began = time.monotonic()
        if self.left() <= 0:
            raise Limit(f"{self.check.limit} s were over before step {n}: {self.short(command)}")
        with open(out, "wb") as o, open(err, "wb") as e:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=o, stderr=e, env=environment, cwd=self.folder, start_new_session=True)
            try:
                status = child.wait(self.left())
            except subprocess.TimeoutExpired:
                status = None
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except OSError:
                    pass
                child.wait()
        seconds = time.monotonic() - began
        step.update(status=status, seconds=round(seconds, 2))
        result = Result(command, status, self.read(f"{n:02}.out"), self.read(f"{n:02}.err"), seconds)
        if status is None:
            e = Limit(f"{seconds:.0f} s were over in step {n}: {self.short(command)}; its last words: {result.err[-300:]!r}")
            e.result = result
            raise e
        return result

    @staticmethod
    def short(command):
        return " ".join(os.path.basename(a) if "/" in a else a for a in command)

    def end(self):
        """Kills what its commands left running in sessions of their own, and keeps its story."""
        kill_marked(b"PT2_ACCEPT=" + self.token.encode() + b"\0")
        with open(self.path("check.json"), "w", encoding="utf-8") as f:
            json.dump({"number": self.check.number, "title": self.check.title, "expected": self.expected, "figures": self.figures,
                       "steps": self.steps}, f, indent=1)

    # ---- expecting ----

    def ok(self, what, condition, detail=""):
        self.expected.append({"what": what, "ok": bool(condition), "detail": "" if condition else str(detail)[-1500:]})
        return bool(condition)

    def equal(self, what, got, want):
        return self.ok(what, got == want, f"expected {want!r}, seen {got!r}")

    def like(self, what, text, regex):
        return self.ok(what, re.search(regex, text, re.M), f"expected /{regex}/, seen {text[:1200]!r}")

    def unlike(self, what, text, regex):
        found = re.search(regex, text, re.M)
        return self.ok(what, not found, f"not expected /{regex}/, seen {text[max(found.start() - 100, 0):found.end() + 300]!r}" if found else "")

    def figure(self, name, value, unit=""):
        self.figures.append({"name": name, "value": value, "unit": unit})
