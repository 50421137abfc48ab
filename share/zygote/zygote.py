"""How a warm torch is forked: what fxminify's oracle (share/fxminify/oracle.py) and `fxexplain mend` (share/mend/server.py) share. A process imports
torch once, compiles something small, and forks for each test. This file is the first part of both programs, which are sent as one text.

  - JSON lines: a request per line, answers on the standard output that the process was started with (Line).
  - One thread at each fork: OMP_NUM_THREADS=1, torch.set_num_threads(1), TORCHINDUCTOR_COMPILE_THREADS=1. A child of a process that
    has run a parallel region, or has started compile workers, hangs in its first parallel operation (torch 2.13, measured).
  - No GPU before the fork (gpus_in_children_only); what is warm is frozen (freeze), so that a child's collector does not copy its pages.
"""
import contextlib, gc, json, os, signal, sys

# ---- the line to the tool ----

class Line:
    def __init__(self, fd_in, fd_out):
        self.fd_in, self.fd_out, self.buf, self.searched = fd_in, fd_out, bytearray(), 0

    def send(self, **message):
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            data = data[os.write(self.fd_out, data):]

    def fill(self):
        """Reads once, which may block; False at the end of input."""
        data = os.read(self.fd_in, 1 << 20)
        self.buf += data
        return bool(data)

    def take(self):
        """The next complete request, or None."""
        end = self.buf.find(b"\n", self.searched)
        self.searched = len(self.buf) if end < 0 else 0
        if end < 0:
            return None
        line = bytes(self.buf[:end])
        del self.buf[:end + 1]
        return json.loads(line)

    def wait_one(self):
        while (request := self.take()) is None:
            if not self.fill():
                sys.exit(0)
        return request


def prctl(option, value):
    import ctypes
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# ---- GPUs are for tests only ----

def accelerated():
    """Was this torch built for GPUs?"""
    import torch
    return bool(torch.version.cuda or torch.version.hip or hasattr(torch._C, "_xpu_init"))


def gpus_in_children_only():
    """A forked child cannot use CUDA that its parent initialised, and after a kernel's error every call of its process fails. So this
    process never initialises it, whatever is imported; each test does, and its errors end with it."""
    import torch
    here, refused = os.getpid(), object()
    def guarded(name, real, answer):
        def call(*args):
            if os.getpid() != here:
                return real(*args)
            if answer is refused:
                raise RuntimeError(f"GPUs are used in tests only, not before (torch._C.{name})")
            return answer
        return call
    for name, answer in (("_cuda_init", refused), ("_xpu_init", refused), ("_mtia_init", refused), ("_cuda_getDeviceCount", 0),
                         ("_xpu_getDeviceCount", 0), ("_ensureCUDADeviceGuardSet", None)):  # the last by each FakeTensorMode since torch 2.8
        if hasattr(torch._C, name):
            setattr(torch._C, name, guarded(name, getattr(torch._C, name), answer))


@contextlib.contextmanager
def without_gpus():
    """Here torch sees no GPU: dynamo would ask CUDA for its random state. Functions that cached that answer forget it at the end."""
    import functools, torch
    parts = [part for part in (torch.cuda, getattr(torch, "xpu", None)) if part is not None]
    real, asked = [part.is_available for part in parts], set()
    def is_available():
        frame = sys._getframe(1)
        while frame:
            asked.add(frame.f_code)
            frame = frame.f_back
        return False
    for part in parts:
        part.is_available = is_available
    try:
        yield
    finally:
        for part, function in zip(parts, real):
            part.is_available = function
        kind = type(functools.cache(len))
        caches = [(o, o.__wrapped__.__code__) for o in gc.get_objects() if type(o) is kind and hasattr(o.__wrapped__, "__code__")
                  and not str(o.__wrapped__.__module__).startswith("torch._inductor.fx_passes")]  # done once: they register patterns
        names, stale = set(), True
        while stale:  # those that asked it, and those that asked these
            stale = [(o, code) for o, code in caches if code in asked or names.intersection(code.co_names)]
            caches = [pair for pair in caches if pair not in stale]
            for o, code in stale:
                o.cache_clear()
                names.add(code.co_name)


def gpu_started():
    """By torch; what starts the driver behind its back is seen in the first test (gpu_trouble). Open devices prove nothing: NVML has them, too."""
    import torch
    return torch.cuda.is_initialized()


# ---- before and after the fork ----

def freeze():
    """After the warm-up: a child's collector does not look at what is here, and starts rarely."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(100000, 50, 100)  # tests are short


def own_group(parent):
    """In the child: a group of its own, which is killed with it, and no life without the parent."""
    os.setpgid(0, 0)
    prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(0)
    signal.set_wakeup_fd(-1)
    for s in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
        signal.signal(s, signal.SIG_DFL)


def kill_in(folder):
    """Processes that a test left in their own sessions, while other tests run: they are still in the test's directory."""
    folder = os.path.realpath(folder)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if (os.readlink(f"/proc/{pid}/cwd") + "/").startswith(folder + "/"):
                os.kill(int(pid), signal.SIGKILL)


def children():
    """Processes of which this one is the parent, those it adopted with them."""
    me, out = str(os.getpid()), set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat") as f:
                if f.read().rpartition(")")[2].split()[1] == me:
                    out.add(int(pid))
    return out


def kill_children(spared=()):
    """Processes that tests left in their own sessions are now our children. Called when no test runs: only these may be alive."""
    with contextlib.suppress(ChildProcessError):
        while not spared and os.waitpid(-1, os.WNOHANG)[0]:
            pass
        for pid in children() - set(spared):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
