"""The torch oracle of fxminify: a process that imports torch and Inductor once, compiles something small, and forks for each test.

It speaks JSON lines: one request per line on standard input, answers on the standard output it was started with (cmd/fxminify/reduce/
oracle_torch.h lists them). The machine needs only Python with torch: ../zygote/zygote.py (the fork itself), warm.py, compare.py, candidate.py, where.py, watch.py,
stages.py and this file are sent over standard input as one program. What tests print goes to a file per test; what this process prints goes to standard error.

  - A test has a process group, an empty directory, limits, and a pipe on which it reports its phase, so the phase of a crash is known.
  - When standard input ends, everything is killed and removed, and the process ends.
"""
import ast, base64, contextlib, fcntl, gc, json, os, re, select, shutil, signal, sys, tempfile, time, traceback

ALLOWED = ("PATH HOME USER LOGNAME SHELL LANG LC_* TZ TMPDIR LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH PYTHONHOME PYTHONHASHSEED "
           "VIRTUAL_ENV CONDA_PREFIX XDG_CACHE_HOME XDG_RUNTIME_DIR CC CXX CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_HOME CUDA_PATH "
           "NVIDIA_* HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ROCM_HOME ROCM_PATH ZE_AFFINITY_MASK ONEAPI_DEVICE_SELECTOR SLURM_* "
           "LSAN_OPTIONS PYTHONDONTWRITEBYTECODE").split()
# What a launcher must not set, because the oracle controls it (or it would write more launchers).
REFUSED = re.compile(r"TORCHINDUCTOR_(CACHE_DIR|COMPILE_THREADS|WORKER_START|FX_GRAPH\w*CACHE|AUTOGRAD\w*CACHE|FORCE_DISABLE_CACHES)|"
                     r"(TORCHDYNAMO|AOTINDUCTOR)_REPRO_\w+|TORCH_COMPILE_DEBUG\w*|TORCH_TRACE|TORCH_LOGS\w*|TRITON_CACHE_DIR|"
                     r"DUMP_AOTI_MINIFIER|OMP_NUM_THREADS|LD_\w+|PATH|PYTHON\w+|HOME")
FIXED = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
         "TORCHINDUCTOR_AUTOGRAD_CACHE": "0", "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
FRESH = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
FRESH_ONES = 2  # the result as a plain program, and as a launcher if the program fails differently
OUTPUT_TAIL = 4096
ALIVE = 5           # seconds between reports to the tool that tests are running
FILE_MAX = 4 << 30  # a test that fills the disk is stopped there

def filter_environment(lines, fixed):
    """Keeps what is allowed, then what the launcher sets, then what the oracle needs. Returns the first two."""
    def allowed(name):
        return any(name == a or (a.endswith("*") and name.startswith(a[:-1])) for a in ALLOWED)
    for name in [n for n in os.environ if not allowed(n)]:
        del os.environ[name]
    kept = dict(os.environ)
    for name, value in lines:
        if not REFUSED.fullmatch(name):
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    os.environ.update(fixed)
    return kept


# ---- folders: one per session, and one per user that stays ----

def session_folder():
    """Removes sessions that were killed along with their tool: nobody holds their lock."""
    where = tempfile.gettempdir()
    for name in os.listdir(where):
        path = os.path.join(where, name)
        if name.startswith("fxminify-oracle-"):
            with contextlib.suppress(OSError), open(os.path.join(path, "lock")) as lock:
                if os.fstat(lock.fileno()).st_uid == os.getuid():
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
    path = tempfile.mkdtemp(prefix=".fxminify-oracle-")
    lock = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    final = os.path.join(where, os.path.basename(path)[1:])
    os.rename(path, final)  # under this name others look for the lock
    return final


def make_headers(folder, wider):
    """What the warm-up compiles for this processor's widest instruction set, while another process queries the compiler."""
    wider.append(None)
    warm_up(folder, "aot")


def ask_compiler():
    from torch._inductor import cpu_vec_isa
    cpu_vec_isa.pick_vec_isa()


def warm_up(folder, form, compiles=True):
    """One compile of what most graphs have: ten times the benefit of forking alone. Its own kernels are removed from the user's directory."""
    import torch
    from torch._inductor.compile_fx import compile_fx_inner
    from torch.fx.experimental.proxy_tensor import make_fx
    import torch._dynamo.debug_utils, torch._dynamo.repro.after_aot, torch._dynamo.repro.after_dynamo
    session = os.environ["TORCHINDUCTOR_CACHE_DIR"]
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "warm-up")
    try:
        def f(x, w):
            return (torch.ops.aten.sum.dim_IntList(torch.ops.aten.relu.default(torch.ops.aten.mm.default(x, w) * 2), [1]),)
        args = [torch.ones(16, 16), torch.ones(16, 16)]
        with torch.no_grad():
            gm = make_fx(f)(*args)
            if not compiles:
                return
            compile_fx_inner(gm, args)(list(args))
        grad = form == "dynamo" and not accelerated()  # autograd starts a thread for each GPU, after which nothing can be forked
        if form in ("aot", "graph", "dynamo"):  # the others' tests do not begin at Dynamo
            out = torch.compile(lambda x: torch.tanh(x) + 1)(torch.ones(4, requires_grad=grad))
        if grad:
            out.sum().backward()
    finally:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = session
        torch._dynamo.reset()


def warm_up_failed(e):
    return f"the warm-up compile failed: {type(e).__name__}: {str(innermost(e))[:300]}"


def renew(folder):
    """In a process forked from the oracle before it compiled anything: settings and directories as in a new process (FRESH)."""
    import torch._inductor.config
    for name in FIXED.keys() - FRESH.keys():
        os.environ.pop(name, None)
    os.environ.update(FRESH, TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache"), TRITON_CACHE_DIR=os.path.join(folder, "cache", "triton"))
    torch._inductor.config.force_disable_caches = True


# ---- a test ----

def test(state, request, say):
    import torch
    setup = state["setup"]
    phase = ["inputs"]
    def tell(**message):
        if "phase" in message:
            phase[0] = message["phase"]
        say(**message)
    where, beside, found, ref, check = None, None, {}, None, False
    WAITS[0] = lambda: say(waits=True)
    def got_past():
        say(result={"kind": "passes", "phase": "compile"})
        os._exit(0)
    end = None if request.get("where") or setup.get("whole") else state.get("end")
    stages = Stages(say if request.get("where") else lambda **m: None, end, state.get("check"), got_past)
    stages.install()
    try:
        strict = setup.get("accuracy") == "strict_accuracy"
        args = feed_values(state, request["feeds"])
        tell(phase="head")
        names = head_names(state, request.get("head"))
        tell(phase="eager")
        text = request["code"]
        tree = ast.parse(text)
        mod = module_of(tree, text, state, names)
        way = (Plain if request.get("plain") else WAYS[setup["form"]])(state, tell)
        way.writes = written_inputs(forward_of(tree)[1]) if setup["form"] != "dynamo" else ()
        way.code = text if request.get("where") else None
        if request.get("where") and setup.get("accuracy") and state.get("jobs", 1) > 1 and not gpu_started():
            beside = Beside(lambda: where_accuracy(state, way, text, args, names, strict))
        if request.get("where"):
            with contextlib.suppress(ImportError, AttributeError):  # another torch may have other parts
                where = Where(tree, say)
                where.install()
                way.names = where
        if setup.get("accuracy") and setup["form"] == "dynamo":
            mod.eval()
        ref = way.eager(mod, args)
        if state.get("as_graph") and not request.get("where") and not fails_as_graph(state, tell, mod, args, ref):
            return say(result={"kind": "passes", "phase": "run"})
        stages.restart()
        compiled = way.compile(mod, args)
        res = where.trace_lines(lambda: way.run(compiled, args)) if where else way.run(compiled, args)
        result = {"kind": "passes", "phase": "run"}
        if setup.get("accuracy") and differences(ref, res, None, True):  # at first sight: double precision may say that it is as good
            tell(phase="accuracy")
            if differences(ref, way.eager(mod, args), None, True):
                result = {"kind": "invalid", "detail": "eager returns different values each time", "phase": "eager"}
            else:
                wide = in_float64(state, way, tree, text, args, names)
                found = differences(ref, res, wide, strict)
                if found and not strict:
                    found = that_count(state, tree, found, ref, res)
                if wide is None and not strict and setup["form"] != "dynamo" and found:
                    result = {"kind": "invalid", "detail": "no double-precision result to compare with", "phase": "accuracy"}
                elif found:
                    result = {"kind": "accuracy", "type": "accuracy", "message": found[0][1], "phase": "accuracy",
                              "detail": "; ".join(f"output {i}: {d}" for i, d in found[:8]), "outputs": [i for i, _ in found]}
                    if where:
                        result["extra"] = beside.answer() if beside else where_accuracy(state, way, text, args, names, strict)
                        if result["extra"]:
                            result["extra"]["through"] = leaves_through(text, result["outputs"])
        say(result=result)
    except BaseException as e:
        lift_memory()
        traceback.print_exc()
        result = describe(e, phase[0])
        if phase[0] == "head" and "head" in request and result["kind"] == "infra":
            result["kind"] = "invalid"  # a line was left out that it needs
        if where and result["kind"] == "raised":
            result["extra"] = where.of_exception(e, phase[0])
            check = front_end_raised(innermost(e), compiler_line)
            say(check=check)
        say(result=result)
    packaged = setup["form"] == "aot_inductor" and request.get("where") and result["kind"] in ("raised", "accuracy")
    if packaged and (phase[0] != "compile" and ref is not None or place_of(stages.passed)[0] == "build" and not check):  # it is what takes long
        stages.restart()
        say(as_graph=as_graph(state, mod, args, ref, stages))


def fails_as_graph(state, say, mod, args, ref):
    """Does a candidate for AOTInductor fail with torch.compile? That takes a fraction of the time; only one that
    does is packaged. state["as_graph"]: the original fails that way, too."""
    way = Plain(state, say)
    try:
        res = way.run(way.compile(mod, args), args)
    except Exception:
        return True
    return bool(state["setup"].get("accuracy") and differences(ref, res, None, True))


def as_graph(state, mod, args, ref, stages):
    """How the original fails that way: (place, type, message); None if it does not."""
    way, found = Plain(state, lambda **m: None), None
    try:
        res = way.run(way.compile(mod, args), args)
        if state["setup"].get("accuracy") and differences(ref, res, None, True):
            found = [None, "accuracy", ""]
    except Exception as e:
        r = describe(e, "compile")
        found = [place_of(stages.passed), r["type"], re.sub(r"\S*/\S*|\d+", "", r["message"])]
    return found


class Beside:
    """work() in its own process, while this one does something else: what it returns, or {}."""
    def __init__(self, work):
        self.fd, out = os.pipe2(os.O_CLOEXEC)
        parent = os.getpid()
        if os.fork():
            os.close(out)
            return
        try:
            prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            if os.getppid() == parent:
                os.mkdir("beside")
                os.chdir("beside")
                data = json.dumps(work()).encode()
                while data:
                    data = data[os.write(out, data):]
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)

    def answer(self):
        with open(self.fd, "rb") as f, contextlib.suppress(ValueError):
            return json.loads(f.read())
        return {}


def users(state, say):
    """The user's own call, as reported for a test."""
    phase = ["inputs"]
    def tell(**message):
        phase[0] = message.get("phase", phase[0])
        say(**message)
    try:
        found = users_call(state, tell)
        say(result={"kind": "accuracy", "type": "accuracy", "message": found[0][1], "phase": "accuracy",
                    "detail": "; ".join(f"output {i}: {d}" for i, d in found[:8])} if found else {"kind": "passes", "phase": "run"})
    except BaseException as e:
        traceback.print_exc()
        say(result=describe(e, phase[0]))


def inputs_of(state, request, say):
    """The values of feeds, to go into a repro.py: their bytes as far as the strides reach."""
    import torch
    try:
        out, first = [], {}
        for feed, v in zip(request["feeds"], feed_values(state, request["feeds"])):
            out.append(meta_of(v))
            if not isinstance(v, torch.Tensor):
                continue
            if feed.get("memory") is not None:  # all of it, once
                out[-1]["offset"] = v.storage_offset()
                same = first.setdefault(v.untyped_storage()._cdata, len(out) - 1)
                if same < len(out) - 1:
                    out[-1]["same"] = same
                    continue
                flat = placed(torch.uint8, v.untyped_storage(), 0, (v.untyped_storage().nbytes(),), (1,)).cpu()
            else:
                flat = torch.as_strided(v.detach().cpu(), (needed_elements(v.shape, v.stride()),), (1,), 0).contiguous()
            raw = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
            out[-1]["data"] = base64.b64encode(raw).decode()
        say(result={"kind": "passes", "values": out})
    except BaseException as e:
        say(result=describe(e, "inputs"))


def own_assertion(e):
    """The program compares values itself: its line, and what they were."""
    last = list(traceback.walk_tb(e.__traceback__))[-1:] if isinstance(e, AssertionError) else []
    if not last or os.path.realpath(last[0][0].f_code.co_filename) != os.path.realpath(sys.argv[0]):
        return ""
    names = last[0][0].f_globals
    values = shown(names["expected"], names["actual"]) if "expected" in names and "actual" in names else []
    return "\n".join(["AssertionError: " + linecache.getline(sys.argv[0], last[0][1]).strip(), *values])


def verify(session, request_fd, say):
    """A repro.py as its reader will run it: in a process that has compiled nothing. Answers of compilers before the first kernel are
    cached here, too; kernels are not."""
    import runpy
    WAITS[0] = lambda: say(waits=True)
    try:
        import torch, torch._inductor.compile_fx, torch._dynamo.repro.after_aot, torch._dynamo.repro.after_dynamo
        import torch._inductor.scheduler, torch._inductor.codegen.cpp
        with contextlib.suppress(ImportError, AttributeError):
            keep_warm_up(user_folder(session, compiler_key()[1]))
        gc.enable()
        say(phase="ready")
        with open(request_fd) as f:
            request = json.loads(f.readline() or "null")
        if request is None:
            return
        os.chdir(request.get("cwd") or ".")
        sys.argv = [request["path"]]
        sys.path.insert(0, os.path.dirname(os.path.abspath(request["path"])))
        say(phase="run")
        runpy.run_path(request["path"], run_name="__main__")
        synchronise()
        say(result={"kind": "passes", "phase": "run"})
    except BaseException as e:
        lift_memory()
        traceback.print_exc()
        result = describe(e, phase_of(stack_of(innermost(e)), "run"))
        if isinstance(e, SystemExit) and e.code in (0, None):
            result = {"kind": "passes", "phase": "run"}
        elif type(e).__name__ == "AccuracyError" or own_assertion(e):
            result.update(kind="accuracy", type="accuracy", message="", detail=result["detail"] or own_assertion(e))
        say(result=result)


# ---- processes ----

class Job:
    def __init__(self, request, folder, timeout):
        self.request, self.folder, self.timeout = request, folder, timeout
        self.result, self.phase, self.at, self.status, self.watch = None, "start", {}, None, None
        self.buf, self.rfd, self.cpu, self.cancelled, self.timed_out, self.kill_at, self.look_at = b"", -1, 0, False, False, None, None
        self.replayed = None  # Way.code
        self.passed, self.failed_after, self.check, self.as_graph = {}, {}, False, None  # of Stages
        self.idle, self.write_to = False, -1  # idle: nobody waits for what it says

    def watch_from(self, now, stall, learned):
        """From now on it has this much CPU time, and counts as hung without progress for `stall`; 0: no limit."""
        self.began, self.watch = now, Watch(self.pid, now, stall, learned, os.path.join(self.folder, "stack"))
        self.look_at = now + LOOK

    def start(self, work, memory, close):
        os.mkdir(self.folder)
        self.rfd, wfd = os.pipe2(os.O_CLOEXEC)
        parent = os.getpid()
        self.began, self.kills = time.monotonic(), kernel_kills()
        self.pid = os.fork()
        if self.pid:
            os.close(wfd)
            with contextlib.suppress(OSError):
                os.setpgid(self.pid, self.pid)
            os.set_blocking(self.rfd, False)
            return
        try:
            own_group(parent)
            close()
            os.chdir(self.folder)
            os.environ["TMPDIR"] = tempfile.tempdir = self.folder
            out = os.open("output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            listen()
            limit(memory)
            def say(**message):
                os.write(wfd, json.dumps(message).encode() + b"\n")
            work(say)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)

    def read(self):
        """Reads the child's messages so far; False at the end."""
        try:
            while data := os.read(self.rfd, 1 << 16):
                self.buf += data
        except BlockingIOError:
            data = None
        *lines, self.buf = self.buf.split(b"\n")
        for line in lines:
            message = json.loads(line)
            phase = message.get("phase", self.phase)
            self.watch.says(self.phase, phase, time.monotonic(), message.get("waits"))
            self.phase = phase
            self.at = message.get("at", self.at)
            self.replayed = message.get("replayed", self.replayed)
            self.passed = message.get("passed", self.passed)
            self.check, self.as_graph = message.get("check", self.check), message.get("as_graph", self.as_graph)
            if not self.result:
                self.failed_after = self.passed
            if "result" in message or "nodes" in message:
                self.result = message.get("result", message)
        return data is None

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def outcome(self):
        r = self.result or {}
        if self.timed_out and not self.result:
            r = self.overdue()
        elif not self.result:
            r = self.death()
        if "extra" not in r and r["kind"] in ("crashed", "timeout", "memory"):
            r["extra"] = self.at
        r.setdefault("phase", self.phase)
        if self.replayed:
            r["replayed"] = self.replayed
        r["seconds"], r["cpu"] = time.monotonic() - self.began, self.cpu  # cpu: with the compilers it waited for
        if not self.result:
            r["output"] = self.output()  # otherwise it is our own traceback
        return r

    def output(self):
        with contextlib.suppress(OSError), open(os.path.join(self.folder, "output"), "rb") as f:
            f.seek(max(0, os.fstat(f.fileno()).st_size - OUTPUT_TAIL))
            return f.read().decode(errors="replace")
        return ""

    def phase_by(self, stack):
        """A program that is being verified does not report that it compiles."""
        return phase_of(stack, self.phase) if self.request["op"] == "verify" and stack else self.phase

    def overdue(self):
        watch, stack = self.watch, self.watch.lately()
        phase = self.phase_by(stack)
        r = {"kind": "timeout", "type": "timeout", "message": f"while in {phase}", "phase": phase, "frames": ";".join(watch.place()),
             "detail": f"no progress for {watch.quiet:.1f} s in phase {phase}" if watch.convicted is not None
                       else f"{watch.age:.0f} s passed in phase {phase}"}
        if watch.place():
            r["detail"] += f", in {stack_words(stack)}"
        if watch.convicted is not None:
            r["detail"] += " (sleeping)" if watch.state == "sleeps" else " (a program it started is running)" if watch.others else ""
        if self.phase in ("inputs", "head", "start", "ready"):
            r["kind"] = "infra"
        elif self.phase in ("eager", "trace"):
            r["kind"] = "invalid"
        return r

    def death(self):
        text = self.watch.text()[1]
        stack = fatal_stack(text)
        phase = self.phase_by(stack)
        unknown = self.request["op"] == "verify" and not stack
        r = {"kind": "crashed", "message": "" if unknown else f"while in {phase}", "phase": phase, "frames": ";".join(named(stack)[:3])}
        where = f" in phase {phase}" + (f", in {stack_words(stack)}" if named(stack) else "")
        if os.WIFSIGNALED(self.status):
            number = os.WTERMSIG(self.status)
            name = signal.Signals(number).name if number in signal.Signals._value2member_map_ else f"signal {number}"
            r.update(type=name, detail=f"died of {name}{where}")
            if number == signal.SIGKILL and kernel_kills() > self.kills:
                r.update(no_memory(phase, stack_words(last_stack(text)), [], ""))
                r["detail"] += "; the kernel killed it"
            elif number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                r.update(kind="infra", detail=f"it was killed by another process: {name}{where}")
        else:
            code = os.WEXITSTATUS(self.status)
            r.update(type=f"exit status {code}", detail=f"the process exited with status {code}{where}")
        if r["kind"] == "crashed" and NO_MEMORY.search(self.output()):
            r.update(no_memory(phase, stack_words(stack), named(stack)[:3], self.output()))
        if r["kind"] in ("crashed", "memory") and self.phase in ("eager", "trace"):
            r["kind"] = "invalid"
            r["detail"] = "eager fails: " + r["detail"]
        elif r["kind"] in ("crashed", "memory") and self.phase in ("start", "inputs", "head", "ready"):
            r["kind"] = "infra"
        return r


def limit(memory):
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX if size < 0 else min(FILE_MAX, size), size))
    limit_memory(memory)


class Zygote:
    def __init__(self, line, start):
        self.line, self.start, self.jobs, self.queue, self.n = line, start, {}, [], 0
        self.learned, self.alive_at = Learned(), 0
        self.verifiers, self.building, self.folder, self.gone = [], set(), None, {"kind": "infra", "detail": "no process for it"}
        self.state = {"values": {}, "metas": {}, "state": {}, "memories": {}, "setup": None, "jobs": start.get("jobs", 1)}
        self.wake_r, self.wake_w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def close_in_child(self):
        os.close(self.line.fd_out)
        os.close(self.wake_r)
        os.close(self.wake_w)
        for job in self.jobs.values():
            if job.rfd >= 0:
                with contextlib.suppress(OSError):
                    os.close(job.rfd)
            if job.write_to >= 0:  # or the end of that pipe is never seen
                with contextlib.suppress(OSError):
                    os.close(job.write_to)

    def run(self, request, work):
        self.n += 1
        job = Job(request, os.path.join(self.session, f"test-{self.n}"), request.get("timeout", self.start.get("timeout", 0)))
        try:
            job.start(work, self.start.get("memory", 0), self.close_in_child)
        except OSError as e:
            shutil.rmtree(job.folder, ignore_errors=True)
            self.line.send(re=request["op"], id=request.get("id", 0), kind="infra", detail=f"cannot start a test: {e}")
            return None
        job.watch_from(job.began, (self.state["setup"] or {}).get("stall", 0) if request["op"] == "test" else 0, self.learned)
        self.jobs[job.pid] = job
        self.line.send(re="started", id=request.get("id", 0), pid=job.pid)
        return job

    def prepare(self):
        began = time.monotonic()
        kept = filter_environment(self.start.get("env", []), FRESH if self.start["mode"] == "verify" else FIXED)
        self.session = session_folder()
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(self.session, "cache")
        os.environ["TRITON_CACHE_DIR"] = os.path.join(self.session, "cache", "triton")
        sys.path[:] = [p for p in sys.path if p not in ("", os.getcwd())] + [p for p in self.start.get("path", []) if p]
        hello = {"pid": os.getpid(), "python": sys.version.split()[0], "session": self.session, "env": kept}
        gc.disable()  # imports make a million objects that stay: a fifth of their time
        if self.start["mode"] == "verify":
            self.keep_fresh()
            return hello
        try:
            import torch
        except ImportError as e:
            self.line.send(re="hello", error=f"{sys.executable} cannot import torch ({e}); "
                                            "pass --python=PATH or set PT2_PYTHON to a Python that has torch")
            sys.exit(0)
        torch.set_num_threads(1)
        gpus_in_children_only()
        if self.start["mode"] == "record":
            gc.enable()
            return {**hello, "torch": torch.__version__}
        import torch._inductor.compile_fx, torch._inductor.codecache, torch._inductor.async_compile
        import torch._inductor.inductor_prims, torch._inductor.scheduler, torch._inductor.codegen.cpp
        imported = time.monotonic()
        cxx, key = compiler_key()
        self.folder = folder = user_folder(self.session, key)
        warm = os.path.isdir(os.path.join(folder, "warm-up"))
        for _ in range(FRESH_ONES if self.start.get("fresh") else 0):
            self.keep_fresh()
        try:
            wider = keep_warm_up(folder)
            with without_gpus():
                warm_up(folder, self.original()["form"], compiles=warm)
            if not warm:
                self.build(lambda: make_headers(folder, wider))
                self.build(ask_compiler)
        except Exception as e:
            hello["warning"] = warm_up_failed(e)
        if gpu_started():
            hello["warning"] = "CUDA was initialised before the tests were forked (by an imported module?): tests cannot use it"
        freeze()
        hello.update(torch=torch.__version__, git=torch.version.git_version, cxx=cxx, cuda=torch.version.cuda, hip=torch.version.hip,
                     fresh=len(self.verifiers), fixed={k: v for k, v in FIXED.items()}, warm=warm, cache=folder,
                     seconds={"import": imported - began, "warm_up": time.monotonic() - imported, "cpu": sum(os.times()[:4])})
        return hello

    def original(self):
        """What is reported for it, once the tool has read it."""
        while self.state["setup"] is None:
            self.handle(self.line.wait_one())
        return self.state["setup"]

    def keep_fresh(self):
        """A process that has at most imported torch, to verify a program."""
        read, write = os.pipe2(os.O_CLOEXEC)
        def work(say):
            os.close(write)
            if self.start["mode"] == "oracle":
                renew(os.getcwd())
            verify(self.session, read, say)
        job = self.run({"op": "verify", "timeout": 0}, work)
        os.close(read)
        if job:
            job.write_to, job.idle = write, True
            self.verifiers.append(job)

    def build(self, make):
        """On a machine's first run, while the original is recorded and traced; tests wait for what they need from it (remembered)."""
        def work(say):
            with without_gpus():
                make()
            say(result={"kind": "passes"})
        job = self.run({"op": "build", "timeout": 0}, work)
        if job:
            job.idle = True
            self.building.add(job)

    def built(self, job):
        """Once everything is available this process warms up itself."""
        self.building.discard(job)
        if self.building:
            return
        try:
            with without_gpus():
                warm_up(self.folder, self.original()["form"])
        except Exception as e:
            self.line.send(re="warning", text=warm_up_failed(e))
        gc.freeze()

    def busy(self):
        return [job for job in self.jobs.values() if not job.idle]

    def begin(self, request):
        op, state = request["op"], self.state
        if op == "test":
            self.run(request, lambda say: test(state, request, say))
        elif op == "users":
            self.run(request, lambda say: users(state, say))
        elif op == "inputs":
            self.run(request, lambda say: inputs_of(state, request, say))
        elif op == "record":
            file = os.path.join(self.session, "recorded")
            def work(say):
                phase = ["inputs"]
                def tell(**m):
                    phase[0] = m.get("phase", phase[0])
                    say(**m)
                try:
                    record({**state, "file": file}, tell)
                except BaseException as e:
                    traceback.print_exc()
                    say(result=describe(e, phase[0]))
            self.run(request, work)

    def finished(self, job):
        """The child is reaped: its group and its directory are removed."""
        job.signal(signal.SIGKILL)
        job.read()
        os.close(job.rfd)
        if job.write_to >= 0:
            os.close(job.write_to)
        del self.jobs[job.pid]
        if job in self.verifiers:
            self.verifiers.remove(job)
        if job.request["op"] == "build":
            self.built(job)
        elif job.idle:
            self.gone = {**job.outcome(), "kind": "infra"}
        elif not job.cancelled:
            r = job.outcome()
            if job.request["op"] == "test" and r["kind"] == "passes":
                self.learned.add(job.watch)
            if job.request["op"] == "test" and job.request.get("where"):
                self.take_place(job, r)
            if job.request["op"] == "record" and r["kind"] == "passes":
                r = self.recorded(r)
            self.line.send(re=job.request["op"], id=job.request.get("id", 0), **r)
        kill_in(job.folder)
        shutil.rmtree(job.folder, ignore_errors=True)
        if not self.busy():
            kill_children(self.jobs)

    def take_place(self, job, r):
        """Where the original fails: later tests end once they got past it."""
        in_compiler = r["kind"] in ("raised", "crashed", "timeout", "memory") and r["phase"] == "compile"
        place = place_of(job.failed_after) if in_compiler else None
        same = [place, r.get("type"), re.sub(r"\S*/\S*|\d+", "", r.get("message") or "")]
        graph = job.as_graph
        if graph and r["kind"] == "accuracy":
            same[0], same[2] = None, ""
        self.state.update(end=place, check=job.check, as_graph=bool(graph) and [graph[0] and tuple(graph[0]), *graph[1:]] == same)

    def recorded(self, r):
        import torch
        file = os.path.join(self.session, "recorded")
        try:
            kept = torch.load(file, mmap=True, weights_only=True)
            os.unlink(file)
            self.state.update(values=kept["values"], state=kept["state"], memories=kept["memories"], metas=r["nodes"])
        except Exception as e:
            return {"kind": "infra", "detail": f"the recorded values cannot be read: {type(e).__name__}: {e}"}
        return r

    def handle(self, request):
        op = request["op"]
        if op == "quit":
            return False
        if op == "setup":
            self.state["setup"] = request
            self.state.update(values={}, metas={}, state={}, memories={})
            for text in request.get("imports", []):
                with contextlib.suppress(Exception):
                    exec(text, {})
            with contextlib.suppress(Exception):
                if ":" in (request.get("backend") or ""):
                    import importlib
                    importlib.import_module(request["backend"].partition(":")[0])
            self.line.send(re="setup")
        elif op == "cancel":
            self.queue = [r for r in self.queue if r.get("id") != request["id"]]
            for job in self.jobs.values():
                if job.request.get("id") == request["id"] and job.request["op"] == "test":
                    job.cancelled = True
                    job.signal(signal.SIGTERM)
                    job.kill_at = time.monotonic() + 0.5
        elif op == "verify":
            if not self.verifiers:  # it died before it was asked
                self.line.send(re="verify", id=request.get("id", 0), **self.gone)
                return True
            job = self.verifiers.pop(0)
            job.idle = False
            if "files" in request:  # from another machine; the program is the first
                folder = os.path.join(job.folder, "program")
                for file in request["files"]:
                    path = os.path.join(folder, file["name"])
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "wb") as f:
                        f.write(base64.b64decode(file["data"]))
                request.update(path=os.path.join(folder, request.pop("files")[0]["name"]), cwd=folder)
            job.request.update(request)
            job.timeout = request.get("timeout", 0)
            job.watch_from(time.monotonic(), request.get("stall", 0), Learned())  # no short cuts: all its patience
            self.line.send(re="started", id=request.get("id", 0), pid=job.pid)
            os.write(job.write_to, json.dumps(request).encode() + b"\n")
        else:
            self.queue.append(request)
        return True

    def due(self, now):
        """Handles timers that expired; returns the time to the next."""
        for job in self.busy():
            if now >= job.look_at and not job.timed_out and not job.cancelled:
                hangs, limit = job.watch.look(now, job.phase), self.learned.limit(job.timeout)
                job.look_at = now + LOOK
                if hangs or limit and job.watch.age >= limit:
                    self.learned.timed_out |= not hangs
                    job.timed_out, job.kill_at = True, now + 1
                    job.read()
                    job.signal(signal.SIGTERM)
                    job.signal(signal.SIGCONT)  # a stopped one would not see it
            if job.kill_at and now >= job.kill_at:
                job.kill_at = None
                job.signal(signal.SIGKILL)
        if self.busy() and now >= self.alive_at:
            self.alive_at = now + ALIVE
            self.line.send(re="alive")
        times = [t for job in self.busy() for t in (None if job.timed_out or job.cancelled else job.look_at, job.kill_at) if t]
        return max(0, min(times) - now) if times else None

    def reap(self):
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if not pid:
                    break
                job = self.jobs.get(pid)
                if job:
                    job.status, job.cpu = status, usage.ru_utime + usage.ru_stime
                    self.finished(job)

    def loop(self):
        signal.set_wakeup_fd(self.wake_w, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what a test leaves behind is ours to reap
        hello = self.prepare()
        self.line.send(re="hello", **hello)
        while True:
            while (request := self.line.take()) is not None:
                if not self.handle(request):
                    return
            while self.queue and len(self.busy()) < max(1, self.start.get("jobs", 1)):
                self.begin(self.queue.pop(0))
            wait = self.due(time.monotonic())
            fds = [self.line.fd_in, self.wake_r] + [job.rfd for job in self.jobs.values()]
            ready, _, _ = select.select(fds, [], [], wait)
            if self.wake_r in ready:
                os.read(self.wake_r, 4096)
            for job in list(self.jobs.values()):
                if job.status is None and job.rfd in ready and not job.read():  # else it was reaped with one before it
                    ready_end = time.monotonic() + 0.01  # closed its pipe: about to end
                    while job.status is None and time.monotonic() < ready_end:
                        time.sleep(0.001)
                        self.reap()
            self.reap()
            if self.line.fd_in in ready and not self.line.fill():
                return

    def end(self):
        for job in self.jobs.values():
            job.signal(signal.SIGTERM if job in self.building else signal.SIGKILL)  # a compiler removes what it has half written
        until = time.monotonic() + 1
        while self.building and time.monotonic() < until:
            self.building = {job for job in self.building if os.waitpid(job.pid, os.WNOHANG)[0] == 0}
            time.sleep(0.01)
        until = time.monotonic() + 3
        with contextlib.suppress(ChildProcessError):
            while time.monotonic() < until:
                kill_children()
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    time.sleep(0.005)
        if hasattr(self, "session"):
            shutil.rmtree(self.session, ignore_errors=True)


def main():
    out = os.dup(1)
    os.set_inheritable(out, False)
    os.dup2(2, 1)
    line = Line(0, out)
    zygote = Zygote(line, line.wait_one())
    def stop(*_):
        sys.exit(0)
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, stop)
    try:
        zygote.loop()
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        zygote.end()
        sys.stderr.flush()
        os._exit(0)  # an interactive interpreter may wait above


main()
