"""`fxexplain mend`'s server: a process that imports torch once and runs the user's program in a fork, as often as it is asked, each time with
other texts. It speaks JSON lines (Line, share/zygote/zygote.py); cmd/fxexplain/mend/server.h lists them. It decides nothing about what is
accepted: it runs, compares with the eager run, and makes candidates (candidates.py).
"""
import difflib, fcntl, select, shutil, tempfile

SETTINGS = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
            "WANDB_MODE": "disabled", "COMET_MODE": "DISABLED", "NEPTUNE_MODE": "debug", "CLEARML_OFFLINE_MODE": "1", "MLFLOW_TRACKING_URI": "",
            "DO_NOT_TRACK": "1", "TOKENIZERS_PARALLELISM": "false"}
LARGEST = 4 << 30  # of what a try may write
LOOK = 0.5


def own(path, roots):
    """Is this file the user's: under one of the folders of the program, and not an installed package's?"""
    return path.endswith(".py") and any(path.startswith(r + os.sep) for r in roots) and "/site-packages/" not in path \
        and "/dist-packages/" not in path and not path.startswith(sys.base_prefix + "/lib/python")


class Server:
    def __init__(self, line, start):
        self.line, self.start = line, start
        self.folder, self.n, self.runs = start["folder"], 0, 0
        self.main, self.module, self.args = start["main"], start.get("module"), start["args"]
        self.rounds, self.view, self.overlays = 1e-3, "", []
        self.sites, self.ref, self.again, self.kept, self.files = {}, {}, {}, {}, {}
        self.volatile = {"parts": set(), "state": set(), "lines": [], "files": set(), "names": []}
        self.helpers = children()  # who keeps the views (cmd/fxexplain/mend/confine.c)
        prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: what a try leaves, in whatever session, is ours to end

    def hello(self):
        began = time.monotonic()
        for name, value in SETTINGS.items():
            os.environ[name] = value
        for name in ("TORCH_LOGS", "TORCH_COMPILE_DEBUG", "TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"):
            os.environ.pop(name, None)
        os.environ["TORCH_TRACE"] = os.path.join(self.folder, "warm")
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(self.folder, "cache")
        os.mkdir(os.environ["TORCHINDUCTOR_CACHE_DIR"])
        sys.path[:] = [p for p in sys.path if os.path.abspath(p) not in (self.folder, os.getcwd())]
        gc.disable()
        try:
            import torch
            import torch._dynamo
            import torch._dynamo.backends.debugging
        except ImportError as e:
            self.line.send(re="hello", error="%s cannot import torch (%s)" % (sys.executable, e))
            sys.exit(0)
        torch.set_num_threads(1)
        gpus_in_children_only()
        why = self.find_main() or self.try_view()
        if why:
            self.line.send(re="hello", error=why)
            sys.exit(0)
        imported = time.monotonic()
        try:
            with without_gpus():
                self.warm_up()
        except Exception as e:
            self.line.send(re="warning", text="the warm-up compile failed: %s: %s" % (type(e).__name__, str(e)[:200]))
        freeze()
        return {"python": sys.version.split()[0], "torch": torch.__version__, "cuda": accelerated(), "prefix": sys.prefix,
                "main": self.main, "read_only": getattr(self, "read_only", []), "seconds": round(time.monotonic() - began, 2), "import": round(imported - began, 2)}

    def find_main(self):
        """The file of -m; "" or why there is none."""
        if not self.main:
            import importlib.util
            sys.path.insert(0, self.start["cwd"])
            try:
                spec = importlib.util.find_spec(self.module)
                if spec is not None and spec.submodule_search_locations:
                    spec = importlib.util.find_spec(self.module + ".__main__")
            except ImportError:
                spec = None
            sys.path.pop(0)
            for name in [m for m in sys.modules if m.partition(".")[0] == self.module.partition(".")[0]]:
                del sys.modules[name]
            if spec is None or not spec.origin or not spec.origin.endswith(".py"):
                return "no module named '%s' with a Python file" % self.module
            self.main = spec.origin
        try:
            compile(self.text_of(self.main, {}), self.main, "exec", dont_inherit=True)
        except (OSError, SyntaxError, UnicodeDecodeError) as e:
            return "'%s' cannot be read as Python: %s" % (self.main, e)
        return ""

    def try_view(self):
        """Can a try have its own copy of the files? Asked once, in a child; "" or why not."""
        if not self.start.get("view"):
            return ""
        self.view, self.overlays = os.path.join(self.folder, "view"), self.start["view"]["overlays"]
        os.set_inheritable(self.start["view"]["fd"], False)
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.setpgid(0, 0)
                enter_view(self.start["view"]["fd"])
                with open(self.main) as f:
                    f.read(1)
                only = read_only(self.overlays)
                answer = {"read_only": only, "why": "" if len(only) < len(self.overlays) else "no overlay can be mounted here"}
            except BaseException as e:
                answer = {"read_only": [], "why": str(e) or type(e).__name__}
            os.write(write, json.dumps(answer).encode())
            os._exit(0)
        os.close(write)
        with open(read, "rb") as f:
            text = f.read()
        os.waitpid(pid, 0)
        self.clear_view()
        answer = json.loads(text) if text else {"read_only": [], "why": "the try ended"}
        self.read_only = answer["read_only"]
        return "the program cannot get its own view of the files here (%s)" % answer["why"] if answer["why"] else ""

    @staticmethod
    def warm_up():
        """What every try would do again: import Dynamo's parts, and AOTAutograd's."""
        import torch
        m = torch.nn.Linear(2, 2)
        f = torch.compile(lambda x: m(x).relu() * x.shape[0], backend="eager")
        g = torch.compile(lambda x: m(x).relu(), backend="aot_eager")
        grad = not accelerated()  # autograd counts the GPUs and starts a thread for each, after which nothing can be forked
        for n in (3, 4):
            with torch.set_grad_enabled(grad):
                out = f(torch.ones(n, 2))
                back = g(torch.ones(n, 2))
            if grad:
                out.sum().backward()
                back.sum().backward()
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()

    # ---- texts ----

    def text_of(self, path, texts):
        if path in texts:
            return texts[path]
        if path not in self.files:
            with open(path, encoding="utf-8") as f:
                self.files[path] = f.read()
        return self.files[path]

    def sites_in(self, texts):
        """The steps' lines, followed through the edits."""
        out = {}
        for path, lines in self.sites.items():
            new = texts.get(path)
            old = self.text_of(path, {})
            out[path] = [m for l in lines for m in map_line(old, new, l)[:1]] if new is not None and new != old else list(lines)
        return out

    # ---- a try ----

    def run(self, request):
        """Forks, waits, and reads what the child left. Returns its result with its folder."""
        self.n += 1
        self.runs += 1
        folder = os.path.join(self.folder, "try-%d" % self.n)
        os.mkdir(folder)
        texts = {self.main: self.text_of(self.main, {}), **request.get("texts", {})}
        work = {"main": self.main, "module": self.module, "args": self.args, "texts": texts, "backend": request["backend"],
                "limit": 0 if request.get("whole") else self.start["steps"], "sites": self.sites_in(texts), "probes": request.get("probes", {}),
                "own_limit": request.get("whole", False), "region": request.get("region", False), "wide": request.get("wide", False), "cold": request.get("cold", False)}
        began, parent = time.monotonic(), os.getpid()
        pid = os.fork()
        if not pid:
            try:
                self.child(parent, folder, work)
            except BaseException:
                with open(os.path.join(folder, "crash"), "w") as f:
                    traceback.print_exc(file=f)
            finally:
                os._exit(70)
        self.line.send(re="started", id=request.get("id", 0), pid=pid)
        end = self.wait(pid, folder, began, request.get("timeout", 600))
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
        self.end_rest()
        result = None
        with contextlib.suppress(OSError, ValueError), open(os.path.join(folder, "result.json")) as f:
            result = json.load(f)
        if result is None or end:
            detail = ""
            with contextlib.suppress(OSError), open(os.path.join(folder, "crash")) as f:
                detail = f.read()[-2000:]
            if detail and end.startswith("exit"):  # not the program's fault
                self.line.send(re="warning", text="a try could not begin: " + detail.strip().rpartition("\n")[2])
            if detail and not end:
                detail = "mend: " + detail
            result = {"status": end or "died", "steps": [], "outer": [], "state": {}, "text": [], "types": {}, "where": [], "files": {}, "error": detail,
                      "clock": {"step": 0, "compile": 0},
                      "counts": {"calls": 0, "ops": 0, "outer": 0, "graphs": 0, "steps": 0}, "seconds": time.monotonic() - began, "cpu": 0.0}
        self.clear_view()
        result["folder"] = folder
        return result

    def end_rest(self):
        """Processes that the last try left, and theirs: their view is removed next."""
        while rest := children() - self.helpers:
            for pid in rest:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)

    def clear_view(self):
        """What the last try wrote."""
        for name in os.listdir(self.view) if self.view else []:
            self.remove(os.path.join(self.view, name))

    @staticmethod
    def remove(path):
        def again(function, p, _):
            with contextlib.suppress(OSError):
                os.chmod(p, 0o700)
                function(p) if function is not os.scandir else shutil.rmtree(p, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
        shutil.rmtree(path, onerror=again)

    def wait(self, pid, folder, began, timeout):
        """"": it ended; else why it was stopped."""
        while True:
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                if os.WIFSIGNALED(status):
                    number = os.WTERMSIG(status)
                    return "killed by " + (signal.Signals(number).name if number in signal.Signals._value2member_map_ else "signal %d" % number)
                return "" if os.path.exists(os.path.join(folder, "result.json")) else "exit %d without a result" % os.WEXITSTATUS(status)
            # Its own processor time: on a busy machine a try is slow, not stuck. Five times as long by the clock, for one that waits.
            late = timeout and (processor_time(pid) > timeout or time.monotonic() - began > 5 * timeout)
            why = "took longer than %d s" % timeout if late else ""
            if not why and time.monotonic() - began > 5 and self.size() > LARGEST:
                why = "wrote more than %d GiB" % (LARGEST >> 30)
            if why:
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return why
            if select.select([self.line.fd_in], [], [], 0.02 if time.monotonic() - began < 5 else 0.2)[0] and not self.line.fill():
                with contextlib.suppress(OSError):
                    os.killpg(pid, signal.SIGKILL)
                sys.exit(0)

    def size(self):
        now = time.monotonic()
        if now < self.__dict__.get("look_at", 0):
            return 0
        self.look_at = now + 5
        total = 0
        for upper in [u for _, u in self.overlays]:
            for where, _, files in os.walk(upper):
                for f in files:
                    with contextlib.suppress(OSError):
                        total += os.stat(os.path.join(where, f)).st_blocks * 512
        return total

    def child(self, parent, folder, work):
        own_group(parent)
        cwd = self.start["cwd"]
        os.chdir(cwd)
        os.mkdir(os.path.join(folder, "trace"))
        out, err = (os.open(os.path.join(folder, n), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) for n in ("stdout", "stderr"))
        if self.view:
            enter_view(self.start["view"]["fd"])
            os.close(self.start["view"]["fd"])
            drop_powers()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(self.line.fd_out)
        import resource
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST, LARGEST))
        if self.start.get("memory"):
            with open("/proc/self/statm") as f:
                now = int(f.read().split()[0]) * 4096
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_AS, (now + self.start["memory"],) * 2)
        import torch._logging._internal as logs
        handler = getattr(logs, "LOG_TRACE_HANDLER", None)
        if handler is not None:
            handler.root_dir = os.path.join(folder, "trace")
            if not hasattr(handler, "_pid"):
                handler.stream = None
        gc.collect()
        result = Program(work, folder).run()
        result["files"] = written(self.overlays)
        name = os.path.join(folder, "result.json")
        with open(name + ".new", "w") as f:
            json.dump(result, f)
        os.rename(name + ".new", name)
        os._exit(0)

    # ---- requests ----

    def eager(self, request):
        """The reference: the first eager run, which finds the steps; a second one, which finds what differs by itself."""
        region = request.get("region", False)
        whole = request.get("whole", False)
        key = "whole" if whole else "steps"
        first = self.run({"backend": "off", "whole": whole, "timeout": request["timeout"], "id": request["id"]})
        if not whole and not self.sites:
            self.found_sites(first)
            if self.sites:  # as all others will run: the end is at the step, not in the call
                first = self.run({"backend": "off", "timeout": request["timeout"], "id": request["id"]})
        self.ref[key] = first
        if not whole:
            again = self.run({"backend": "off", "timeout": request["timeout"], "id": request["id"]})
            self.volatile = find_volatile(first, again)
        if request.get("wide"):
            wide = self.run({"backend": "off", "wide": True, "whole": whole, "timeout": request["timeout"], "id": request["id"]})
            # ten times what eager itself rounds
            self.rounds = next((10 * t for t in (1e-7, 1e-6, 1e-5, 1e-4) if not compare(wide, first, self.volatile, t)), 1e-2)
            if not compare(wide, first, self.volatile, 1e-2):
                self.ref[key] = wide
        return self.answer(first, key, None)

    def found_sites(self, run):
        torch_folder = os.path.dirname(os.path.abspath(__import__("torch").__file__))
        for place in run["where"]:
            if place is None:
                continue
            path, line = place
            if path.startswith(torch_folder) or not os.path.isfile(path):
                return self.sites.clear()
            lines = self.sites.setdefault(path, [])
            if line not in lines:
                lines.append(line)
        return None

    def answer(self, run, key, differs):
        text = "\n".join(l[1:] for l in run["text"][-3:])
        return {"status": run["status"], "counts": run["counts"], "seconds": round(run["seconds"], 3), "cpu": round(run["cpu"], 3), "trace": run["folder"] + "/trace",
                "stderr": run["folder"] + "/stderr", "differs": differs or "", "error": run["error"], "tail": text, "clock": run["clock"], "volatile": self.volatile["names"], "runs": self.runs,
                "sites": sum(map(len, self.sites.values()))}

    def request(self, r):
        op = r["op"]
        if op == "eager":
            answer = self.eager(r)
        elif op == "run":
            run = self.run(r)
            key = "whole" if r.get("whole") else "steps"
            ref = self.ref.get(key)
            tolerance = self.rounds if r.get("wide_tolerance") else r.get("tolerance", 1e-5)
            differs = compare(ref, run, self.volatile, tolerance, outer=not r.get("region")) if ref else None
            answer = self.answer(run, key, differs)
        elif op == "candidates":
            c = Candidates(self, r)
            answer = {"candidates": c.all(), "why": c.why(), "runs": self.runs}
        elif op == "without":
            answer = {"texts": without(self, r["before"], r["after"], r["texts"])}
        elif op == "files":
            answer = {"files": {p: self.text_of(p, {}) for p in r["paths"] if os.path.isfile(p)}}
        else:
            return False
        self.line.send(re=op, id=r.get("id", 0), **answer)
        return True

    def probe_types(self, texts, probes):
        """{path:line:expression: type} of an eager run."""
        run = self.run({"backend": "off", "texts": texts, "probes": probes, "timeout": 300})
        self.remove(run["folder"])
        return run["types"]

    def loop(self):
        self.line.send(re="hello", **self.hello())
        while True:
            r = self.line.wait_one()
            try:
                if not self.request(r):
                    return
            except (SystemExit, KeyboardInterrupt, BrokenPipeError):
                raise
            except Exception as e:
                traceback.print_exc()
                self.line.send(re=r["op"], id=r.get("id", 0), error="%s: %s" % (type(e).__name__, e))


def processor_time(pid):
    """Seconds, with the processes that it waited for."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/%d/stat" % pid) as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    return 0


def without(server, before, after, texts):
    """The texts without the edit that made `after` of `before`; None where later edits are in the same place."""
    out = dict(texts)
    for path in after:
        a, b = server.text_of(path, before).splitlines(True), after[path].splitlines(True)
        if a == b:
            continue
        now = server.text_of(path, texts).splitlines(True)
        where = {}
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, b, now, False).get_opcodes():
            if tag == "equal":
                where.update({i: j1 + i - i1 for i in range(i1, i2)})
        for tag, i1, i2, j1, j2 in reversed(difflib.SequenceMatcher(None, a, b, False).get_opcodes()):
            if tag == "equal":
                continue
            at = [where.get(j) for j in range(j1, j2)]
            if j1 == j2:
                if where.get(j1 - 1) is None:
                    return None
                at = [where[j1 - 1] + 1]
                now[at[0]:at[0]] = a[i1:i2]
            elif None in at or at != list(range(at[0], at[0] + len(at))):
                return None
            else:
                now[at[0]:at[-1] + 1] = a[i1:i2]
        text = "".join(now)
        try:
            compile(text, path, "exec", dont_inherit=True)
        except SyntaxError:
            return None
        out[path] = text
    return out


def map_line(old, new, line):
    """The lines of the new text that a line of the old one became."""
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), False).get_opcodes():
        if i1 <= line - 1 < i2:
            if tag == "equal":
                return [line - i1 + j1]
            at = min(j1 + (line - 1 - i1), max(j1, j2 - 1)) + 1  # a line that was edited: the one in its place, then the others
            return [at] + [l for l in range(j1 + 1, j2 + 1) if l != at] if j2 > j1 else []
    return []


def main():
    out = os.dup(1)
    os.set_inheritable(out, False)
    os.dup2(2, 1)
    line = Line(0, out)
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(s, lambda *_: sys.exit(0))
    try:
        Server(line, line.wait_one()).loop()
    except (BrokenPipeError, KeyboardInterrupt, SystemExit):
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        kill_children()
        sys.stderr.flush()
        os._exit(0)


main()
