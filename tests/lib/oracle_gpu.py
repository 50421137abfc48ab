"""The processes of fxminify's torch oracle on a machine with a GPU, of which there is none here, nor a torch: both are made up.

    oracle_gpu.py SHARE/fxminify      prints a line for each thing that was looked at: "WHAT: ANSWER"

CUDA as it is: a process that was forked from one that had started it cannot start it again; a kernel's error is reported by a later call,
and by every later call. What torch's parts do with it on the way (dynamo saves the random state, autograd counts the devices) they do here.
"""
import functools, importlib.abc, importlib.machinery, json, os, select, sys, tempfile, types

ILLEGAL = "CUDA error: an illegal memory access was encountered"
# What a kernel does to the address that it is given: errors that stay (cudaError_t 700, 716, 710, 719, 702), and what is no fault of it (2, 214).
STAYS = {13: ILLEGAL, 30: "CUDA error: misaligned address", 31: "CUDA error: device-side assert triggered",
         32: "CUDA error: unspecified launch failure", 33: "CUDA error: the launch timed out and was terminated"}
OTHER = {14: "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.55 GiB", 40: "CUDA error: out of memory",
         41: "Triton Error [CUDA]: out of memory", 42: "CUDA error: uncorrectable ECC error encountered"}


class Anything:
    """Whatever else is imported from torch or called in it."""
    def __call__(self, *args, **kw):
        return self
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self
    def __enter__(self):
        return self
    def __exit__(self, *exc):
        return False
    def __mul__(self, other):
        return self


class Made(types.ModuleType):
    __all__ = ["Module"]
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] == "torch" else None
    def create_module(self, spec):
        return Made(spec.name)
    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
import torch, torch.nn, torch.cuda, torch._C, torch.version

# ---- the GPU ----

gpu = {"started": None, "error": None, "asked": 0}


def start():
    if gpu["started"] not in (None, os.getpid()):
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method")
    gpu["started"] = os.getpid()


def count():
    gpu["asked"] += 1
    start()
    return 1


def late():
    if gpu["error"]:
        raise RuntimeError(gpu["error"])


def kernel(x):
    """Launches, and is over before the kernel is."""
    torch.cuda._lazy_init()
    late()
    gpu["error"] = STAYS.get(x)
    if x in OTHER:
        raise RuntimeError(OTHER[x])
    return x


class Module:
    def __call__(self, *args):
        return self.forward(*args)
    def state_dict(self):
        return {}


class Tensor:
    def __init__(self, grad=False):
        self.grad = grad
    def sum(self):
        return self
    def backward(self):
        torch._C._cuda_getDeviceCount()  # a thread for each


def dynamo(f):
    def call(x):
        if torch.cuda.is_available():
            torch.cuda._lazy_init()  # get_rng_state()
        if x.grad:
            torch._C._cuda_getDeviceCount()  # the joint graph is made by autograd
        return x
    return call


torch.Tensor, torch.nn.Module, torch.kernel, torch.compile = Tensor, Module, kernel, dynamo
torch.__file__ = os.path.join(os.sep, "made", "up", "torch", "__init__.py")
torch.ones = lambda *size, requires_grad=False: Tensor(requires_grad)
torch.xpu = None
torch.version.cuda, torch.version.hip = "12.8", None
torch._C._cuda_init, torch._C._cuda_getDeviceCount = start, count
torch._C._ensureCUDADeviceGuardSet = lambda: [count()] and None
torch.cuda.is_available = lambda: True  # NVML says so without starting anything
torch.cuda.is_initialized = lambda: gpu["started"] == os.getpid()
torch.cuda._lazy_init = lambda: None if torch.cuda.is_initialized() else torch._C._cuda_init()
torch.cuda.synchronize = lambda device=None: late()

# ---- the oracle ----

share = sys.argv[1]
program = ""
for part in ("../zygote/zygote.py", "warm.py", "compare.py", "candidate.py", "where.py", "watch.py", "stages.py", "oracle.py"):
    with open(os.path.join(share, part)) as f:
        program += f.read() + "\n"
assert program.rstrip().endswith("\nmain()")
exec(compile(program.rstrip().removesuffix("main()"), "oracle", "exec"), globals())


def answer(what, value):
    print(f"{what}: {value}")


def trial(f):
    try:
        return f()
    except Exception as e:
        return f"{type(e).__name__}"


gpus_in_children_only()
answer("an import that starts CUDA before the fork", trial(torch.cuda._lazy_init))
answer("an import that counts devices", trial(torch._C._cuda_getDeviceCount))
answer("fake tensors, which count them inside of torch", trial(torch._C._ensureCUDADeviceGuardSet))


@functools.cache
def has_triton():
    return torch.cuda.is_available()


@functools.cache
def through_another():
    return has_triton()


@functools.cache
def unrelated():
    return object()


@functools.cache
def register_patterns():
    registered.append(torch.cuda.is_available())


registered, register_patterns.__wrapped__.__module__ = [], "torch._inductor.fx_passes.pad_mm"
kept = unrelated()
with without_gpus():
    answer("in the warm-up", has_triton() or through_another())
    register_patterns()
register_patterns()
answer("what is done once is done once", len(registered))
answer("after it", has_triton() and through_another())
answer("what does not depend on it is still known", unrelated() is kept)

folder = tempfile.mkdtemp()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
for form in ("dynamo", "aot"):
    with without_gpus():
        answer(f"the warm-up of {form}", trial(lambda: warm_up(folder, form)) or "done")
answer("what has started CUDA then", (gpu["started"], gpu["asked"]))


class Compiled(AfterAot):
    """Compiles to itself, but for addresses that only its code gets wrong."""
    def compile(self, mod, args):
        self.say(phase="compile")
        return lambda inputs: mod(*[13 if i == 12 else i - 100 if i > 100 else i for i in inputs])


WAYS["graph"] = Compiled
CODE = "import torch\nclass Repro(torch.nn.Module):\n    def forward(self, x):\n        y = torch.kernel(x)\n        return (y,)\n"
read_end, write_end = os.pipe()
zygote = Zygote(Line(0, write_end), {"mode": "test", "jobs": 1})
zygote.session = folder
zygote.state["setup"] = {"form": "graph", "head": "", "symbols": {}, "seed": 0, "accuracy": "", "before": ""}


def ask(value):
    """The answer of one test, which is a process of its own, forked from this one."""
    zygote.begin({"op": "test", "id": value, "code": CODE, "feeds": [{"kind": "int", "value": value}], "timeout": 20})
    job = next(iter(zygote.jobs.values()))
    while zygote.jobs:
        select.select([job.rfd] if job.rfd >= 0 else [], [], [], 0.05)
        zygote.reap()
    text = b""
    while b'"re": "test"' not in text or not text.endswith(b"\n"):
        text += os.read(read_end, 1 << 16)
    r = json.loads(text.splitlines()[-1])
    return f"{r['kind']} in {r['phase']}" + (f" ({r['message']})" if r["kind"] == "raised" else "")


answer("a candidate that works", ask(1))
answer("one whose compiled kernel is wrong", ask(12))
answer("the next one", ask(1))
answer("one whose eager kernel is wrong", ask(13))
answer("one for which memory does not do", ask(14))
for stays in list(STAYS)[1:]:
    answer(STAYS[stays], ask(100 + stays))
    answer("after " + STAYS[stays], ask(1))
for other in list(OTHER)[1:]:
    answer(OTHER[other], ask(100 + other))
answer("the last one", ask(2))
gpu["started"] = os.getpid()
answer("had CUDA been started", ask(1))
shutil.rmtree(folder)
