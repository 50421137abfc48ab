"""A program, run in a process of its own: what it showed, and whether another run showed the same. source.py and evidence.py follow it;
../zygote/zygote.py, warm.py and files.py precede it. `SCRIPT --one PROGRAM RESULT ARG...` runs one in a Python that has imported nothing.

A failure is {kind, type, message, key, frame}: the type of the error, its message, that without numbers and names, and the innermost frame of
torch. No failure is {}."""
import contextlib, json, os, re, select, shutil, signal, subprocess, sys, tempfile, threading, time, traceback, types

STUCK = 3  # seconds of processor time


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
    kernel = re.search(r"(?:CUDA error|CUDA driver error|HIP error|Triton Error \[\w+\]): (.*)", str(e))
    if kernel:  # noticed by any later call
        return {"kind": "raised", "type": "kernel error", "message": str(e)[:4000], "key": kernel[1].strip(), "frame": ""}
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


class Exports(BaseException):
    pass


def export_in_eager(module, export, hangs):
    """torch.export.export where the question is what eager does: the model itself is called where it fails, and the program ends there."""
    def called(mod, args, kwargs=None, **more):
        if not hangs:
            with contextlib.suppress(Exception):
                return export(mod, args, kwargs, **more)
        mod(*args, **(kwargs or {}))
        raise Exports
    module.export = called


def graphs_as_they_are():
    """Where capture fails, nothing is asked of what a graph is compiled to: it is run as it is, which takes no compiler. (Its caller in
    torch/__init__.py, torch 2.13 and 2.15.)"""
    import torch
    with contextlib.suppress(AttributeError):
        torch._TorchCompileInductorWrapper.__call__ = lambda self, graph, inputs: graph


def run_here(text, path, args, eager=False, setting=None, before="", hangs=False, capture=False):
    """Runs the program that is in the file `path`; before: statements that go first, up to their first compile or error; capture: no further."""
    import torch
    import torch._dynamo
    if capture:
        graphs_as_they_are()
    if eager:
        torch.compile = lambda model=None, **kwargs: model if model is not None else lambda f: f
        torch._dynamo.config.disable = True
        with contextlib.suppress(ImportError):
            import torch.export
            export_in_eager(torch.export, torch.export.export, hangs)
    if setting and not change_setting(*setting):
        return {"kind": "no setting"}
    files = find_files(os.environ["FXMINIFY_FILES"]) if os.environ.get("FXMINIFY_FILES") else []
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
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
    except SystemExit as e:
        return {} if e.code in (0, None) else {"kind": "raised", "type": "SystemExit", "message": str(e.code), "key": "", "frame": ""}
    except Exports:
        return {}
    except BaseException as e:
        traceback.print_exc()
        return {**describe(e), "files": files}
    return {}


def import_torch(folder):
    """And what a compile of it needs, with what earlier ones asked the compiler."""
    import torch, torch._dynamo, torch._inductor.compile_fx
    with contextlib.suppress(ImportError, AttributeError):
        keep_warm_up(user_folder(folder, compiler_key()[1]))
    return torch


def warm_torch(folder):
    """To fork from."""
    import torch
    torch.set_num_threads(1)
    gpus_in_children_only()  # before Inductor, which asks how many there are (torch 2.11)
    import_torch(folder)
    freeze()
    return torch


def died(how):
    return {"kind": "crashed", "type": how, "message": "", "key": "", "frame": ""}


def ended(status):
    return died(signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}")


def processor_time(pid):
    """Of a process and of those of its children that ended, in seconds."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return sum(map(int, f.read().rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def patience(config, seconds):
    """Where the failure is a hang: the time of each test, of a program that takes these seconds in eager."""
    return {**config, "timeout": min(config["timeout"], max(20, 10 * seconds)), "works": True}


def end_if_stuck(tell):
    """In the process of a test, where the failure is a hang: calls tell() once the program has worked for STUCK seconds without any function that
    calls one which it did not call before, as in watch.py. Some loops let no other thread run: for those there is the timeout."""
    main, seen = threading.get_ident(), set()

    def look():
        since, looks = time.process_time(), 0
        while time.process_time() - since < STUCK or looks < 8:  # a busy machine may look seldom, and between two functions
            time.sleep(0.2)
            looks += 1
            frame, edges = sys._current_frames().get(main), set()
            while frame and frame.f_back:
                edges.add((frame.f_back.f_code, frame.f_code))
                frame = frame.f_back
            if edges - seen:
                since, looks = time.process_time(), 0
            seen.update(edges)
        tell()
    threading.Thread(target=look, daemon=True).start()


def long_enough(config):
    """The timeout of a fresh process, which imports torch first."""
    return 30 if config.get("hangs") else config["timeout"]


def wait_for(process, timeout, works=False):
    """Its status, or None; works: the timeout is processor time, or four times as long by the clock."""
    until = time.monotonic() + timeout * (4 if works else 1)
    while (left := until - time.monotonic()) > 0 and not (works and processor_time(process.pid) > timeout):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(left, 0.5) if works else left)
    return None


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
            out = os.open(os.devnull, os.O_WRONLY)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            sys.path.insert(0, os.path.dirname(os.path.abspath(config["file"])))
            if config.get("works"):
                end_if_stuck(lambda: (os.write(write, json.dumps(died("timeout")).encode()), os._exit(0)))
            os.write(write, json.dumps(run_here(text, path, config["args"], eager, setting, before, config.get("works"),
                                                   config.get("capture"))).encode()[:60000])
        finally:
            os._exit(0)
    os.close(write)
    # "works": the timeout is processor time, or four times as long by the clock
    data, limit, until = b"", config["timeout"], time.monotonic() + config["timeout"] * (4 if config.get("works") else 1)
    while (left := until - time.monotonic()) > 0:
        if config.get("works") and processor_time(pid) > limit:
            left = 0
            break
        if select.select([read], [], [], min(left, 1) if config.get("works") else left)[0]:
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
            status = wait_for(done, timeout, config.get("hangs"))
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


# ---- what source.py, fold.py and evidence.py have in common ----

def progress(config, width):
    """What says a line of progress."""
    def say(label, what):
        if not config["quiet"]:
            print(f"{label:<{width}} {what}", file=sys.stderr, flush=True)
    return say


def main(name, work, **settings):
    """work(the document that the first argument names), in a folder of its own; settings: of the environment, a folder as one in that. Or a program
    alone: --one."""
    if sys.argv[1] == "--one":
        one(*sys.argv[2:])
        sys.stdout.flush()
        os._exit(0)  # what was found is written
    with open(sys.argv[1]) as document:
        given = json.load(document)
    given["folder"] = tempfile.mkdtemp(prefix=f"fxminify-{name}-", dir=given["folder"])
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["FXMINIFY_FILES"] = given.get("files", "")
    for key, value in settings.items():
        os.environ[key] = os.path.join(given["folder"], value) if key.endswith("_DIR") else value
    try:
        ended = work(given)
    finally:
        shutil.rmtree(given["folder"], ignore_errors=True)
    sys.exit(ended)
