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


def kill_children(spared=()):
    """Processes that tests left in their own sessions are now our children. Called when no test runs: only these may be alive."""
    me = str(os.getpid())
    with contextlib.suppress(ChildProcessError):
        while not spared and os.waitpid(-1, os.WNOHANG)[0]:
            pass
        for pid in filter(lambda p: p.isdigit() and int(p) not in spared, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/stat") as f:
                    parent = f.read().rpartition(")")[2].split()[1]
                if parent == me:
                    os.kill(int(pid), signal.SIGKILL)
"""What torch asks a compiler in every new process, remembered per user: precompiled headers, instruction sets. oracle.py and trial.py use
it."""
import contextlib, fcntl, hashlib, json, os, shlex, shutil, sys, tempfile, time

TURN = 600  # seconds that one process waits for another to precompile a header


def user_folder(session, key):
    """Precompiled headers and what the compiler can do, for this torch, compiler and processor."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    try:
        path = os.path.join(base, "pt2utils", "inductor-" + hashlib.sha256(key.encode()).hexdigest()[:16])
        os.makedirs(path, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path):
            return path
    except OSError:
        return os.path.join(session, "warm")


WAITS = [lambda: None]  # called repeatedly while waiting for another process


@contextlib.contextmanager
def turn(path):
    """One process at a time; without a lock if none is available."""
    until = time.monotonic() + TURN
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(path, "w"))
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        break
                    WAITS[0]()
                    time.sleep(0.05)
        yield


def remembered(path, key, make, valid=lambda value: True):
    """A small result that took long to compute, in its own file. Waits if another process is computing it."""
    name = os.path.join(path, "answer-" + hashlib.sha256(key.encode()).hexdigest()[:24])
    def known():
        with contextlib.suppress(OSError, ValueError), open(name) as f:
            value = json.load(f)
            return [value] if valid(value) else []
        return []
    if not known():
        with turn(name + ".lock"):
            if not known():
                value = make()
                with contextlib.suppress(OSError):
                    with tempfile.NamedTemporaryFile("w", dir=path, delete=False) as f:
                        json.dump(value, f)
                    os.replace(f.name, name)
                return value
    return known()[0]


def keep_warm_up(folder):
    """torch asks the compiler the same things in every process: preprocess a header to hash it (2 s), compile it, try each
    instruction set (5 s). The answers are kept per user, with the precompiled headers. Returns the instruction sets that work; if
    one works, the smaller ones are assumed to."""
    from torch._inductor import codecache, cpu_vec_isa
    os.makedirs(folder, exist_ok=True)
    codecache._HEADER_DIR = os.path.join(folder, "precompiled_headers")
    codecache._HEADER_LOCK_DIR = os.path.join(codecache._HEADER_DIR, "locks")
    real_header, real_check = codecache._precompile_header, cpu_vec_isa.VecISA.check_build

    def header(name, command, **options):
        options_key = {k: v for k, v in options.items() if k != "extra_flags"}
        return remembered(folder, f"header {name} {command} {options_key!r}", lambda: real_header(name, command, **options),
                          lambda path: any(os.path.exists(path + end) for end in (".gch", ".pch")))

    def check(isa, code):
        """Tries the widest first. A compiler with AVX-512 VNNI also has AVX-512 and AVX2; each costs a compile and an import."""
        if wider and type(isa).__name__.startswith("VecAVX"):
            return True
        if built(isa, code):
            wider.append(isa)
            return True
        return False

    def built(isa, code):
        return remembered(folder, f"isa {isa} {isa.build_arch_flags()} {code}", lambda: real_check(isa, code))

    compile_whole()
    wider = []
    import functools
    codecache._precompile_header = functools.cache(header)
    cpu_vec_isa.VecISA.check_build = check
    return wider


def compile_whole():
    """A compiler that is killed leaves half a library, which torch, in every later test with that kernel, takes for the whole one
    (codecache.py: _worker_compile_cpp skips what exists). So each writes under a name of its own, which is renamed once it ended well."""
    from torch._inductor import cpp_builder
    real = getattr(cpp_builder, "run_compile_cmd", None)
    if real is None:
        return
    def run_compile_cmd(cmd_line, cwd):
        words = shlex.split(cmd_line)
        at = words.index("-o") + 1 if "-o" in words[:-1] else 0
        if not at or os.path.exists(os.path.join(cwd, words[at])) and not os.path.isfile(os.path.join(cwd, words[at])):
            return real(cmd_line, cwd)
        whole = os.path.join(cwd, words[at])
        part = f"{whole}.{os.getpid()}.part"
        try:
            real(shlex.join([*words[:at], part, *words[at + 1:]]), cwd)
            os.replace(part, whole)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(part)
    cpp_builder.run_compile_cmd = run_compile_cmd


def compiler_key():
    from torch._inductor.cpp_builder import get_cpp_compiler
    import torch
    cpu = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as f:
        cpu = next((line for line in f if line.startswith(("flags", "Features"))), "")
    cxx = get_cpp_compiler()
    real = os.path.realpath(shutil.which(cxx) or cxx)
    stat = os.stat(real) if os.path.exists(real) else None
    prefix = os.path.join(os.path.dirname(torch.__file__), "include/torch/csrc/inductor/cpp_prefix.h")
    header = os.stat(prefix).st_mtime_ns if os.path.exists(prefix) else 0
    parts = (sys.version, torch.__version__, torch.version.git_version, torch.__file__, header, real,
             stat and (stat.st_mtime_ns, stat.st_size), cpu, os.environ.get("LD_LIBRARY_PATH"))
    return cxx, "\n".join(map(str, parts))
"""A program, run in a process of its own: what it showed, and whether another run showed the same. source.py and evidence.py follow it;
../zygote/zygote.py and warm.py precede it. `SCRIPT --one PROGRAM RESULT ARG...` runs one in a Python that has imported nothing.

A failure is {kind, type, message, key, frame}: the type of the error, its message, that without numbers and names, and the innermost frame of
torch. No failure is {}."""
import contextlib, json, os, re, select, shutil, signal, subprocess, sys, tempfile, time, traceback, types


def message_key(text):
    """The first line without what varies between candidates."""
    line = next((part for part in str(text).splitlines() if part.strip()), "")
    return re.sub(r"\d+|0x[0-9a-f]+|'[^']*'|\"[^\"]*\"|/\S+|\bc[a-z2-7]{40,}\b", "N", line).strip()[:200]


def message_of(e):
    """Of a compiler's error, the line that says what is wrong, without the folder of the file."""
    text = str(getattr(e, "output", "")) if hasattr(e, "cmd") else str(e) if "CppCompile" in type(e).__name__ else ""
    found = re.search(r"^(?:\S*/)?(\S+: (?:fatal )?error: .*)$", text, re.M)
    return found[1].strip() if found else str(e)


def describe(e):
    import torch
    for _ in range(8):
        inner = getattr(e, "inner_exception", None)
        if not isinstance(inner, BaseException):
            break
        e = inner
    t = type(e)
    root = os.path.dirname(torch.__file__) + os.sep
    frames = [f"{f.filename[len(root):]}:{f.name}" for f in traceback.extract_tb(e.__traceback__) if f.filename.startswith(root)]
    message = message_of(e)
    return {"kind": "raised", "type": t.__qualname__ if t.__module__ == "builtins" else f"{t.__module__}.{t.__qualname__}",
            "message": message[:4000], "key": message_key(message), "frame": frames[-1] if frames else ""}


def change_setting(name, value):
    """Of torch._inductor.config: "cpp.simdlen". False: this torch does not have it, or it has this value."""
    import torch._inductor.config as of
    *parents, last = name.split(".")
    for parent in parents:
        of = getattr(of, parent, None)
    if not hasattr(of, last) or getattr(of, last) == value:
        return False
    setattr(of, last, value)
    return True


class Compiles(BaseException):
    pass


@contextlib.contextmanager
def no_compiles():
    """Whatever is compiled here ends what is run."""
    import torch._dynamo.output_graph, torch._inductor.compile_fx
    def stop(*args, **kwargs):
        raise Compiles
    fx, graph = torch._inductor.compile_fx, torch._dynamo.output_graph.OutputGraph
    real = [(of, name, getattr(of, name)) for of, name in [(graph, "call_user_compiler"), *((fx, n) for n in (
        "compile_fx", "compile_fx_inner", "_compile_fx_inner", "compile_fx_aot"))] if hasattr(of, name)]
    for of, name, _ in real:
        setattr(of, name, stop)
    try:
        yield
    finally:
        for of, name, was in real:
            if getattr(of, name) is stop:
                setattr(of, name, was)


def run_here(text, path, args, eager=False, setting=None, before=""):
    """Runs the program that is in the file `path`; before: statements that go first, up to their first compile or error."""
    import torch
    import torch._dynamo
    if eager:
        torch.compile = lambda model=None, **kwargs: model if model is not None else lambda f: f
        torch._dynamo.config.disable = True
    if setting and not change_setting(*setting):
        return {"kind": "no setting"}
    sys.argv = [path, *args]
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    main.__file__ = path
    main.__builtins__ = __builtins__
    if before:
        with contextlib.suppress(BaseException), no_compiles():
            exec(compile(before, path, "exec", dont_inherit=True), main.__dict__)
        torch._dynamo.reset()
    try:
        exec(compile(text, path, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as e:
        return {} if e.code in (0, None) else {"kind": "raised", "type": "SystemExit", "message": str(e.code), "key": "", "frame": ""}
    except BaseException as e:
        traceback.print_exc()
        return describe(e)
    return {}


def import_torch(folder):
    """And what a compile of it needs, with what earlier ones asked the compiler."""
    import torch, torch._dynamo, torch._inductor.compile_fx, torch._inductor.codecache
    with contextlib.suppress(ImportError, AttributeError):
        keep_warm_up(user_folder(folder, compiler_key()[1]))
    return torch


def died(how):
    return {"kind": "crashed", "type": how, "message": "", "key": "", "frame": ""}


def ended(status):
    return died(signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}")


def run(text, config, eager=False, setting=None, path=None, before=""):
    """The same in a process forked from this one, in an empty directory; path: the program's file, otherwise it is written there."""
    folder = tempfile.mkdtemp(prefix="fxminify-trial-", dir=config["folder"])
    if path is None:
        path = os.path.join(folder, os.path.basename(config["file"]))
        with open(path, "w") as f:
            f.write(text)
    read, write = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if not pid:
        try:
            own_group(parent)
            os.close(read)
            os.chdir(folder)
            out = os.open("output", os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            sys.path.insert(0, os.path.dirname(os.path.abspath(config["file"])))
            os.write(write, json.dumps(run_here(text, path, config["args"], eager, setting, before)).encode()[:60000])
        finally:
            os._exit(0)
    os.close(write)
    data, until = b"", time.monotonic() + config["timeout"]
    while (left := until - time.monotonic()) > 0:
        if select.select([read], [], [], left)[0]:
            part = os.read(read, 1 << 16)
            if not part:
                break
            data += part
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    os.close(read)
    kill_in(folder)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return json.loads(data)
    except ValueError:
        return died("timeout") if left <= 0 else ended(status)


def run_fresh(python, config, path, timeout):
    """The same in a new process of this Python; it shares only precompiled headers with other runs. Its torch is in "torch"."""
    folder = tempfile.mkdtemp(prefix="fxminify-fresh-", dir=config["folder"])
    result = os.path.join(folder, "result")
    env = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache"), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "TMPDIR": folder}
    found = {}
    try:
        done = subprocess.Popen([python, os.path.abspath(sys.argv[0]), "--one", path, result, *config["args"]], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, env=env, start_new_session=True)
        try:
            status = done.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(done.pid, signal.SIGKILL)
            done.wait()
        with contextlib.suppress(OSError), open(result) as f:
            lines = [json.loads(line) for line in f]
            found = {k: v for line in lines for k, v in line.items()}
        if "ended" not in found:
            found["ended"] = died("timeout") if status is None else died(signal.Signals(-status).name if status < 0 else f"exit status {status}")
    except OSError as e:
        found["ended"] = {"kind": "infra", "type": "infra", "message": str(e), "key": "", "frame": ""}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {**found["ended"], "torch": found.get("torch", "")}


def one(path, result, *args):
    def tell(**what):
        with open(result, "a") as f:
            f.write(json.dumps(what) + "\n")
    with open(path) as f:
        text = f.read()
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    try:
        torch = import_torch(os.path.dirname(result))
    except ImportError as e:
        tell(ended={"kind": "infra", "type": "infra", "message": str(e), "key": "", "frame": ""})
        return
    tell(torch=torch.__version__)
    tell(ended=run_here(text, path, list(args)))


def same(a, b, places=True):
    """places: also the frame of torch, which differs between releases, as do the modules of its errors."""
    def last(of):
        return of.get("type", "") if places else of.get("type", "").rpartition(".")[2]
    return a.get("kind") == b.get("kind") and last(a) == last(b) and a.get("key") == b.get("key") and (not places or a.get("frame") == b.get("frame"))


def words(failure):
    """In one line."""
    line = next(iter(failure.get("message", "").splitlines()), "")
    return f"{failure['type'].rpartition('.')[2]}{': ' if line else ''}{line}"[:200] if failure else "passes"
"""A program and the modules of its own folder that it imports, as one file. trial.py precedes this and source.py follows it.

Each module's statements take the place of its first import; "module.name" becomes "name". What cannot be said that way (two meanings of one
name, a module as a value, an import inside of a function) leaves everything as it was: Tangled. Whether the one file still fails is for the caller to test."""
import ast


class Tangled(Exception):
    pass


class Modules:
    def __init__(self, folder):
        self.folder, self.trees, self.meaning = folder, {}, {}  # meaning: name -> what it is bound to

    def file_of(self, name):
        path = os.path.join(self.folder, *name.split("."))
        for file in (path + ".py", os.path.join(path, "__init__.py")):
            if os.path.isfile(file):
                return file
        return None

    def tree_of(self, name):
        with open(self.file_of(name)) as f:
            return ast.parse(f.read())

    def is_package(self, name):
        return self.file_of(name).endswith("__init__.py")

    def mean(self, name, what):
        if self.meaning.setdefault(name, what) != what:
            raise Tangled(f"{name} means two things")

    def absolute(self, node, module):
        """The module that a "from" names."""
        if not node.level:
            return node.module
        parts = module.split(".") if self.is_package(module) else module.split(".")[:-1]
        parts = parts[:len(parts) - node.level + 1]
        return ".".join(parts + ([node.module] if node.module else []))


def bound_names(tree):
    """What a module's own statements bind, without imports."""
    names = set()
    for node in tree.body:
        for part in [node] if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) else ast.walk(node):
            if isinstance(part, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                names.add(part.name)
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
    return names


def is_main_block(node):
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


class Unqualified(ast.NodeTransformer):
    """module.name -> name, for modules that were put in."""
    def __init__(self, modules, aliases):
        self.modules, self.aliases = modules, aliases

    def module_of(self, node):
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self.module_of(node.value)
            inner = f"{outer}.{node.attr}" if outer else None
            return inner if inner in self.modules.trees else None
        return None

    def visit_Attribute(self, node):
        if self.module_of(node):
            raise Tangled("a module is a value")
        if self.module_of(node.value):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id in self.aliases:
            raise Tangled(f"the module {node.id} is a value")
        return node


def put_in(modules, module, tree, main=False):
    """The statements of a module, with those of its modules where they are first imported."""
    out, aliases = [], {}
    modules.trees[module] = tree
    for node in tree.body:
        if isinstance(node, ast.Import):
            rest = []
            for name in node.names:
                if modules.file_of(name.name):
                    out += needed(modules, name.name)
                    aliases[name.asname or name.name.split(".")[0]] = name.name if name.asname else name.name.split(".")[0]
                else:
                    modules.mean(name.asname or name.name.split(".")[0], ("import", name.name if name.asname else name.name.split(".")[0]))
                    rest.append(name)
            out += [ast.Import(rest)] if rest else []
        elif isinstance(node, ast.ImportFrom) and (node.level or modules.file_of(node.module)):
            of = modules.absolute(node, module)
            if not modules.file_of(of):
                raise Tangled(f"no module {of}")
            for name in node.names:
                inner = f"{of}.{name.name}"
                if name.name != "*" and modules.is_package(of) and modules.file_of(inner):
                    out += needed(modules, of) + needed(modules, inner)
                    aliases[name.asname or name.name] = inner
                    continue
                out += needed(modules, of)
                if name.asname and name.asname != name.name:
                    modules.mean(name.asname, ("name", of, name.name))
                    out.append(ast.parse(f"{name.asname} = {name.name}").body[0])
        else:
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    modules.mean(name.asname or name.name, ("from", node.module, name.name))
            for part in ast.walk(node) if not isinstance(node, (ast.Import, ast.ImportFrom)) else ():
                if isinstance(part, (ast.Import, ast.ImportFrom)) and (getattr(part, "level", 0) or any(
                        modules.file_of(n) for n in ([part.module] if isinstance(part, ast.ImportFrom) else [a.name for a in part.names]))):
                    raise Tangled("an import that is not at the top")
            if main or not is_main_block(node) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                out.append(node)
    for name in bound_names(tree):
        modules.mean(name, ("of", module, name))
    mine = [n for n in out if n in tree.body]
    change = Unqualified(modules, aliases)
    return [change.visit(n) if n in mine else n for n in out]


def needed(modules, name):
    """A module that is not there yet, after the packages that hold it."""
    out, parts = [], name.split(".")
    for i in range(1, len(parts) + 1):
        whole = ".".join(parts[:i])
        if whole not in modules.trees and modules.file_of(whole):
            out += put_in(modules, whole, modules.tree_of(whole))
    return out


def inlined(text, folder):
    """The text of one file; None if it imports no module of its folder, or if they cannot be one."""
    modules = Modules(folder)
    try:
        tree = ast.parse(text)
        tree.body = put_in(modules, "__main__", tree, main=True)
    except (Tangled, SyntaxError, OSError, UnicodeDecodeError, RecursionError):
        return None
    future = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    body, seen = future[:1] + [n for n in tree.body if n not in future], set()
    tree.body = [n for n in body if not isinstance(n, (ast.Import, ast.ImportFrom)) or ast.dump(n) not in seen and not seen.add(ast.dump(n))]
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n" if len(modules.trees) > 1 else None
"""A failure in capture itself: no graph was made, so the program's source is reduced, by statements and branches. ../zygote/zygote.py,
trial.py and inline.py come before this file, fold.py after it; the one argument is a JSON document: file, args, type, message, output, timeout (s), max_tests, max_time (s), quiet, command.

Each candidate is run twice, in processes forked from one that has imported torch: compiled, it must fail as the program did (the type of the
error, its message without numbers and names, and the innermost frame of torch), and in eager it must not. A test has an empty directory; the
program's own is searched for modules. The result is run once more in a fresh Python. Exit status: as fxminify's.
"""
import ast

BLOCKS = ("body", "orelse", "finalbody")


# ---- a test ----

class Oracle:
    def __init__(self, config):
        self.config, self.known, self.tests, self.began = config, {}, 0, time.monotonic()
        self.want = self.eager = None

    def over(self):
        return 0 < self.config["max_tests"] <= self.tests or 0 < self.config["max_time"] <= time.monotonic() - self.began

    def attempt(self, text, eager=False):
        return run(text, self.config, eager=eager)

    def baseline(self, text):
        self.want, self.eager = self.attempt(text), self.attempt(text, eager=True)
        return self.want

    def fails(self, text):
        if text not in self.known:
            if self.over():
                return False
            self.tests += 1
            ok = False
            with contextlib.suppress(SyntaxError, ValueError):
                compile(text, "candidate", "exec", dont_inherit=True)
                ok = same(self.attempt(text), self.want)
                if ok:
                    eager = self.attempt(text, eager=True)
                    ok = not eager if not self.eager else not same(eager, self.want)
            self.known[text] = ok
        return self.known[text]


# ---- the reduction ----

def blocks_of(tree):
    """Lists of statements, outermost first."""
    found, level = [], [tree]
    while level:
        deeper = []
        for node in level:
            for name in BLOCKS:
                if isinstance(getattr(node, name, None), list) and getattr(node, name) and isinstance(getattr(node, name)[0], ast.stmt):
                    found.append((node, name))
                    deeper += getattr(node, name)
            deeper += getattr(node, "handlers", [])
        level = deeper
    return found


def text_of(tree):
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def without(text, block, first, last):
    """The program without these statements of its block-th list; None if there are none."""
    tree = ast.parse(text)
    blocks = blocks_of(tree)
    if block >= len(blocks):
        return None
    node, name = blocks[block]
    items = getattr(node, name)
    if first >= len(items) or all(isinstance(s, ast.Pass) for s in items[first:last]):
        return None
    kept = items[:first] + items[last:]
    setattr(node, name, kept or ([ast.Pass()] if name == "body" and not isinstance(node, ast.Module) else []))
    if isinstance(node, ast.Try) and not node.handlers and not node.finalbody:
        return None
    return text_of(tree)


def drop_statements(text, oracle):
    """Halves of each list of statements, then quarters, ... as delta debugging does; outer lists first."""
    block = 0
    while block < len(blocks_of(ast.parse(text))):
        node, name = blocks_of(ast.parse(text))[block]
        size = len(getattr(node, name))
        while size:
            first = 0
            while True:
                node, name = (blocks_of(ast.parse(text)) + [(None, "")] * (block + 1))[block]
                if node is None or first >= len(getattr(node, name)):
                    break
                smaller = without(text, block, first, first + size)
                if smaller is not None and smaller != text and oracle.fails(smaller):
                    text = smaller
                else:
                    first += size
            size //= 2
        block += 1
    return text


def simpler(node):
    """Statements that may take the place of this one."""
    if isinstance(node, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.AsyncWith)):
        yield node.body
        if getattr(node, "orelse", None):
            yield node.orelse
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)) and node.value is not None:
        yield [ast.Expr(node.value)]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.decorator_list:
        for i in range(len(node.decorator_list)):
            kept = node.decorator_list[:i] + node.decorator_list[i + 1:]
            yield [type(node)(**{**{f: getattr(node, f, None) for f in node._fields}, "decorator_list": kept})]


def unwrap(text, oracle):
    """Branches, loops and with blocks become their bodies."""
    at = 0
    while True:
        tree = ast.parse(text)
        places = [(node, name, i) for node, name in blocks_of(tree) for i in range(len(getattr(node, name)))]
        if at >= len(places):
            return text
        node, name, i = places[at]
        items = getattr(node, name)
        for body in simpler(items[i]):
            setattr(node, name, items[:i] + list(body) + items[i + 1:])
            smaller = text_of(tree)
            if smaller != text and oracle.fails(smaller):
                text = smaller
                break
        else:
            at += 1


class Expressions(ast.NodeTransformer):
    """Replaces the n-th expression that can be simpler by one of its operands, or by a smaller literal."""
    def __init__(self, n):
        self.n, self.seen, self.done = n, 0, False

    def options(self, node):
        if isinstance(node, ast.BinOp):
            return [node.left, node.right]
        if isinstance(node, ast.UnaryOp):
            return [node.operand]
        if isinstance(node, ast.IfExp):
            return [node.body, node.orelse]
        if isinstance(node, ast.Call):
            own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            return own + [a for a in node.args if not isinstance(a, (ast.Starred, ast.Constant))]
        return []

    def generic_visit(self, node):
        for option in self.options(node) if isinstance(node, ast.expr) else []:
            if self.seen == self.n:
                self.seen, self.done = self.seen + 1, True
                return option
            self.seen += 1
        return super().generic_visit(node)


def simplify_expressions(text, oracle):
    n = 0
    while not oracle.over():
        change = Expressions(n)
        smaller = text_of(change.visit(ast.parse(text)))
        if not change.done:
            return text
        if smaller != text and len(smaller) < len(text) and oracle.fails(smaller):
            text = smaller
        else:
            n += 1
    return text


PASSES = (("statements", drop_statements), ("branches", unwrap), ("expressions", simplify_expressions))


def reduce_source(text, oracle, say, passes=PASSES):
    before = None
    while before != text and not oracle.over():
        before = text
        for name, step in passes:
            lines, tests, began = len(text.splitlines()), oracle.tests, time.monotonic()
            text = step(text, oracle)
            if oracle.tests > tests:
                say(name, f"{lines - len(text.splitlines())} lines dropped, {len(text.splitlines())} left; "
                          f"{oracle.tests - tests} test{'s' * (oracle.tests - tests != 1)}, {time.monotonic() - began:.1f} s")
    return text


# ---- the result ----

def fresh(path, config, **env):
    """In a new Python: its status, and the end of what it printed."""
    done = subprocess.run([sys.executable, path, *config["args"]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=config["folder"], timeout=config["timeout"],
                          env={**os.environ, "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
                               "PYTHONPATH": os.pathsep.join(filter(None, (os.path.dirname(os.path.abspath(config["file"])),
                                                                           os.environ.get("PYTHONPATH")))), **env})
    return done.returncode, done.stderr.decode(errors="replace")


def verified(path, config, want):
    """"" if it fails the same way, and eager does not; else why not."""
    try:
        status, text = fresh(path, config)
        if status == 0:
            return "it ends with status 0"
        if want["type"].rpartition(".")[2] not in text:
            return "it fails with another error"
        return ""
    except subprocess.TimeoutExpired:
        return "it takes too long"


def with_note(text, config, oracle, how):
    import torch
    message = re.sub(re.escape(config["folder"]) + r"/\S*?/(?=[^/\s\"]+\.py)", "", oracle.want["message"])
    note = [f"{oracle.want['type']}: {line}" if i == 0 else line for i, line in enumerate(message.splitlines()[:8])]
    note += ["", f"failure: {oracle.want['type']} while Dynamo captures the program"
                 + ("; eager does not fail" if not oracle.eager else ""),
             f"versions: torch {torch.__version__}, Python {sys.version.split()[0]}", f"made by {config['tool']}: {config['command']}",
             f"verified: {how}"]
    return text + "\n" + "".join(f"# {line}".rstrip() + "\n" for line in note)


def reduce_program(config):
    import_torch(config["folder"]).set_num_threads(1)
    freeze()
    def say(label, what):
        if not config["quiet"]:
            print(f"{label:<12}{what}", file=sys.stderr, flush=True)
    with open(config["file"]) as f:
        original = f.read()
    text = text_of(ast.parse(original))
    oracle = Oracle(config)
    say("source", f"{config['file']}: {len(text.splitlines())} lines")
    found = oracle.baseline(text)
    whole = inlined(text, os.path.dirname(config["file"])) if found.get("type") == config["type"] else None
    if whole is not None:
        oracle.tests += 1
        if same(oracle.attempt(whole), found):
            text = whole
            say("modules", f"{len(text.splitlines())} lines with those of the modules beside it")
    if not found:
        say("failure", "in an empty directory the program does not fail: it needs its own files")
        return 5
    say("failure", f"{found['type']}: {next(iter(found['message'].splitlines()), '')}"[:300])
    if found["type"] != config["type"]:
        say("failure", f"that is not what the program showed ({config['type']})")
        return 5
    if oracle.eager and same(oracle.eager, found):
        say("failure", "eager fails the same way: not a failure of torch.compile")
        return 1
    text = reduce_source(text, oracle, say)
    output, status = config["output"], 0
    trial = os.path.join(config["folder"], os.path.basename(output))
    with open(trial, "w") as f:
        f.write(text)
    why = verified(trial, config, found)
    if why:
        text, status = original, 5
    say("verified", f"no: {why}: the result is the original" if why else "it fails the same way in a fresh process, and not in eager"
        if not oracle.eager else "it fails the same way in a fresh process")
    with open(output + ".new", "w") as f:
        f.write(with_note(text, config, oracle, f"NOT: {why}" if why else "fails the same way in a fresh process with all caches off"))
    os.replace(output + ".new", output)
    say("result", f"{len(text.splitlines())} of {len(original.splitlines())} lines, in {output}; {oracle.tests} tests, "
                  f"{time.monotonic() - oracle.began:.1f} s")
    return status
