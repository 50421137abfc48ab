"""Where a test is while it runs: its Python stack, the CPU time of its processes, when it hangs; and which failures are out-of-memory.
Sent before oracle.py.

Stacks are compared, as py-spy shows them: a thread of the child writes its main thread's stack into a file. If it cannot, because native
code holds the interpreter, faulthandler does so on a signal: only then, as it may crash a running Python (3.11, seen). Time is time
spent: a test that could run but was not scheduled (another has the processor, or it was stopped) does not age.
"""
import contextlib, faulthandler, os, re, resource, signal, sys, threading, time

ASK = signal.SIGUSR1   # faulthandler answers it
LOOK = 0.5             # seconds between two looks
KEPT = 1.5             # seconds of CPU time in which the thread had had its turn, if Python ran
CLOSE = 2.0            # at a place that is known to hang: so much, or 4 times what any test that ended stayed there (none did: a quarter)
STACK_TAIL = 1 << 16
HARNESS = ("fxminify-oracle", "<console>")
COMPILES = {"compile_fx", "compile_fx_inner", "_compile_fx_inner", "compile_fx_aot", "fx_codegen_and_compile", "call_user_compiler",
            "_call_user_compiler", "_compile"}
NO_MEMORY = re.compile(r"can't allocate memory|bad_alloc|virtual memory exhausted|Cannot allocate memory|: out of memory allocating|"
                       r"failed to map segment|Unable to allocate [\d.]+ \w*B")
HOW_MUCH = re.compile(r"(?:allocate|allocating) ([\d.]+ (?:bytes|[KMGT]i?B))")
TITLE = "Stack (most recent call first):\n"  # faulthandler's


# ---- stacks ----

def listen():
    """In the child: writes where Python is to the file `stack`: regularly, when a signal kills it, and on request."""
    fd = os.open("stack.new", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    faulthandler.enable(file=fd, all_threads=False)
    faulthandler.register(ASK, file=fd, all_threads=False)
    os.rename("stack.new", "stack")  # who sees it may ask
    main, last = threading.get_ident(), [None]

    def write():
        frame, lines = sys._current_frames().get(main), [TITLE]
        while frame and len(lines) < 1000:
            lines.append(f'  File "{frame.f_code.co_filename}", line {frame.f_lineno} in {frame.f_code.co_name}\n')
            frame = frame.f_back
        text = "".join(lines)
        os.write(fd, b"=\n" if text == last[0] else text.encode(errors="replace") + b"\n")
        last[0] = text

    def tell():
        with contextlib.suppress(MemoryError, OSError):
            while True:
                time.sleep(LOOK)
                write()
    threading.Thread(target=tell, daemon=True).start()


def frames_in(part):
    return [(f, int(n), name) for f, n, name in re.findall(r'^  File "(.*)", line (\d+) in (.*)$', part, re.M)][::-1]


def last_stack(text):
    """[(file, line, function)], outermost first, of the last complete stack in the text; [] if there is none."""
    for part in reversed(text.split(TITLE)[1:]):
        frames = frames_in(part)
        if "\n\n" in part or frames and frames[0][2] in ("<module>", "_run_module_as_main") or "\n  ...\n" in part:
            return frames
    return []


def fatal_stack(text):
    """Of a process killed by a signal."""
    return frames_in(text.rpartition("Fatal Python error:")[2]) if "Fatal Python error:" in text else []


def of_library(file):
    inside = file.startswith(os.path.dirname(os.__file__) + os.sep) and not re.search(r"/(site|dist)-packages/", file)
    return inside or file.startswith("<frozen")


def short(file):
    """Names like those of exceptions' frames (frames_of): inside torch, or the file alone; Inductor's generated files are named per graph."""
    if "/torch/" in file:
        return file.rpartition("/torch/")[2]
    base = os.path.basename(file)
    return "generated" if re.fullmatch(r"c[a-z2-7]{40,}\.py", base) else re.sub(r">\.\d+$", ">", base)


def named(stack):
    """The frames that identify it, innermost first: "post_grad.py:post_grad_passes"; without Python's library, the oracle, and
    comprehensions, which appear by chance."""
    return [f"{short(f)}:{name}" for f, _, name in reversed(stack)
            if f not in HARNESS and not of_library(f) and name not in ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")]


def stack_words(stack, n=3):
    """"looping_pass (beside.py:12), called by post_grad_passes (post_grad.py:300)"."""
    words = [f"{name} ({os.path.basename(short(f))}" + (f":{line})" if line else ")") for f, line, name in reversed(stack)
             if f not in HARNESS and not of_library(f)]
    return ", called by ".join(words[:n])


def phase_of(stack, otherwise):
    """For a program that does not report its phase."""
    return "compile" if COMPILES.intersection(name for _, _, name in stack) else otherwise


def common(a, b):
    """What both stacks share. The last frame's line may differ: a loop goes from line to line."""
    out = []
    for x, y in zip(a, b):
        if x == y:
            out.append(x)
            continue
        if x[0] == y[0] and x[2] == y[2]:
            out.append((x[0], 0, x[2]))
        break
    return out


# ---- processes ----

def group_state(leader):
    """CPU seconds of a process group, with those of it that ended and were waited for; what it does: "runs" (or would, if it was let),
    "disk", "stopped", "sleeps"; how many of the seconds are the leader's own."""
    ticks, own, states = 0, 0, set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rpartition(")")[2].split()
            if int(fields[2]) != leader:
                continue
            mine = int(fields[11]) + int(fields[12])
            ticks += mine + int(fields[13]) + int(fields[14])
            own += mine if int(pid) == leader else 0
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/stat") as f:
                    states.add(f.read().rpartition(")")[2].split()[0])
    state = "runs" if "R" in states else "disk" if "D" in states else "stopped" if states & {"T", "t"} else "sleeps"
    hz = os.sysconf("SC_CLK_TCK")
    return ticks / hz, state, own / hz


class Learned:
    """What finished tests have shown: how long they stayed at a place without progress; and where tests hang."""
    def __init__(self):
        self.ended, self.quiet, self.hung, self.slowest, self.timed_out = 0, {}, set(), 0.0, False

    def add(self, watch):
        self.ended += 1
        self.slowest = max(self.slowest, watch.age)
        for key, quiet in watch.longest.items():
            self.quiet[key] = max(self.quiet.get(key, 0), quiet)

    def patience(self, place, otherwise):
        """At a place where none has hung: unchanged."""
        if place not in self.hung:
            return otherwise
        return max(CLOSE, 4 * self.quiet.get(place, 0) if self.ended else otherwise / 4)

    def limit(self, timeout):
        """If one used up its time, whatever it did, others need not."""
        return min(timeout, max(10, 10 * self.slowest)) if self.timed_out and self.ended and timeout else timeout


class Watch:
    """One running test. It makes progress when it reports something, or when a function calls one that it did not call before: an
    endless loop soon has no new ones. A place is the innermost function that all recent stacks have in common: those of at least the last
    half of the time since the last progress. (All of that time is too much: four kernels compile before the fifth hangs, in one function.)"""
    def __init__(self, pid, began, patience, learned, file):
        self.pid, self.patience, self.learned, self.file = pid, patience, learned, file
        self.last = began
        self.age = self.quiet = self.cpu = self.own = self.eager = self.entered = 0.0
        self.stack, self.seen, self.longest, self.convicted = None, set(), {}, None
        self.late, self.mark = None, 0.0  # what the stacks of late have in common, and those since mark
        self.state, self.others, self.size, self.heard = "runs", False, 0, 0.0
        self.since = 0.0, 0.0  # CPU time, its own: when it last got on

    def text(self):
        with contextlib.suppress(OSError), open(self.file, "rb") as f:
            size = os.fstat(f.fileno()).st_size
            f.seek(max(0, size - STACK_TAIL))
            return size, f.read().decode(errors="replace")
        return None, ""

    def compare(self):
        size, text = self.text()
        if size in (self.size, None):
            if size is not None and self.age - self.heard >= KEPT:
                with contextlib.suppress(OSError):
                    os.kill(self.pid, ASK)
            return  # it is where it was
        self.size, self.heard = size, self.age
        stack = last_stack(text)
        if not stack:
            return
        if self.stack is None:
            self.stack, self.late, self.mark = stack, [stack, stack], 0.0
            return
        both = common(self.stack, stack)
        self.late = [common(window, stack) for window in self.late]
        edge = both and (both[-1][0], both[-1][2], stack[len(both)][2] if len(stack) > len(both) else None)
        if edge and edge not in self.seen:
            self.seen.add(edge)
            self.gets_on()
            both, self.late, self.mark = stack, [stack, stack], 0.0
        elif self.quiet >= max(4 * KEPT, 2 * self.mark):
            self.late, self.mark = [self.late[1], stack], self.quiet
        self.stack = both

    def lately(self):
        """The stack of the place."""
        return self.late[0] if self.stack and self.late else self.stack or []

    def says(self, before, phase, now, waits=False):
        """A message arrived, which may start a phase. waits: it was waiting for another of our processes, which does not age it."""
        if waits:
            self.last = now
        if phase != before:
            self.spend(now)
            self.eager += self.age - self.entered if before in ("eager", "trace") else 0
            self.entered = self.age
        self.gets_on()
        self.stack, self.size, self.heard = None, self.text()[0], self.age  # what was seen is of before

    def gets_on(self):
        self.quiet, self.since = 0.0, (self.cpu, self.own)

    def spend(self, now):
        cpu, self.state, own = group_state(self.pid)
        wall, used = now - self.last, max(0.0, cpu - self.cpu)
        self.last, self.cpu, self.own = now, max(self.cpu, cpu), own
        spent = self.cpu - self.since[0]
        self.others = own - self.since[1] < spent / 2 if spent > 0.1 else self.others
        old = {"runs": min(wall, used), "stopped": 0}.get(self.state, wall)
        self.age += old
        self.quiet += 0 if self.state == "disk" else old

    def look(self, now, phase):
        """True: it hangs."""
        self.spend(now)
        self.compare()
        places = named(self.lately())
        for place in set(places):
            self.longest[place] = max(self.longest.get(place, 0), self.quiet)
        if not self.patience or phase not in ("compile", "run", "accuracy"):
            return False
        # A compiler is silent for long, and a sleeping process may wait for another. The time eager took shows how much there is to do.
        times = 4 if self.others else 2 if self.state == "sleeps" else 1
        patience = max(self.patience * times, 5 * self.eager) + (0 if places else 2 * KEPT)
        self.convicted = next((p for p in places or [""] if self.quiet >= self.learned.patience(p, patience)), None)
        if self.convicted is not None:
            self.learned.hung.add(self.convicted)
        return self.convicted is not None

    def place(self):
        """Frames of the hang, the place first."""
        places = named(self.lately())
        return places[places.index(self.convicted):][:3] if self.convicted in places else places[:3]


# ---- memory ----

def meminfo(name):
    with contextlib.suppress(OSError, StopIteration, ValueError), open("/proc/meminfo") as f:
        return int(next(line for line in f if line.startswith(name + ":")).split()[1]) << 10
    return 0


def cgroup_file(name):
    """A value of this process's control group (version 2), or None."""
    with contextlib.suppress(OSError, StopIteration):
        with open("/proc/self/cgroup") as f:
            path = next(line for line in f if line.startswith("0::"))[3:].strip()
        with open(f"/sys/fs/cgroup{path}/{name}") as f:
            return f.read()
    return None


def memory_left():
    """Four fifths of what is available: by default a test that takes more is stopped before the machine is."""
    left = meminfo("MemAvailable")
    with contextlib.suppress(TypeError, ValueError):
        left = min(left, int(cgroup_file("memory.max")) - int(cgroup_file("memory.current")))
    return left * 4 // 5


def kernel_kills():
    """How many times the kernel has killed for lack of memory."""
    text = (cgroup_file("memory.events") or "")
    with contextlib.suppress(OSError), open("/proc/vmstat") as f:
        text += f.read()
    return sum(map(int, re.findall(r"^oom_kill (\d+)$", text, re.M)))


def data_in_use():
    with open("/proc/self/status") as f:
        return next((int(line.split()[1]) << 10 for line in f if line.startswith("VmData:")), 0)


MEMORY = {"limit": 0} # of this test, in bytes


def limit_memory(memory):
    """Of private memory, beyond what is in use already: address space would count an accelerator's libraries."""
    MEMORY["limit"] = memory = memory or memory_left()
    if memory > 0:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        want = data_in_use() + memory
        resource.setrlimit(resource.RLIMIT_DATA, (want if hard < 0 else min(want, hard), hard))


def lift_memory():
    """All that is left is to report what happened."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def human(n):
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n < 1024:
            break
        n /= 1024
    else:
        unit = "TiB"
    return f"{n:.0f} {unit}" if unit == "bytes" or n >= 100 else f"{n:.1f} {unit}"


def no_memory(phase, who, frames, text):
    """The failure of one that needed more memory than available. who: in words; text: its message."""
    much = HOW_MUCH.search(text)
    asked = (human(int(much[1][:-6])) if much[1].endswith(" bytes") and much[1][:-6].isdigit() else much[1]) if much else ""
    may = human(MEMORY["limit"]) if MEMORY["limit"] else ""
    line = next((line.strip() for line in text.splitlines() if NO_MEMORY.search(line)), "")
    detail = f"out of memory in phase {phase}: {who or 'it'} requested {asked or 'more' + (' than ' + may if may else '')}"
    detail += f" (limit for a test: {may}, --max-memory)" if may else ""
    return {"kind": "memory", "type": "memory", "message": f"while in {phase}", "frames": ";".join(frames),
            "detail": detail + (f"\n{line[:300]}" if line else ""), "phase": phase}


def stack_of(e):
    """Of an exception, outermost first."""
    out, tb = [], e.__traceback__
    while tb:
        out.append((tb.tb_frame.f_code.co_filename, tb.tb_lineno, tb.tb_frame.f_code.co_name))
        tb = tb.tb_next
    return out
