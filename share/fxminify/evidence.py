"""What an issue says about a program that fails, beside the program: how many runs of it fail, whether eager does, which settings of Inductor
matter, what torch's own bisector finds, what other releases do, and torch's description of this machine. ../zygote/zygote.py and trial.py
come before this file; the one argument is a JSON document: file (the program), args, folder, timeout (s), runs, seconds (of processor time,
for what is not a release), settings ([name, value, what]), bisect, releases (Pythons), machine (the file for the description, or ""), answer (the file for
what was found), hidden ([text, what takes its place]), quiet.

The answer is written after each step, so that whoever ends this has what was found: {runs, failed, others, eager, settings: [{name, value,
how, what}], bisector: {backend, part, number, info, why}, releases: [{python, torch, how, failure}], failure}. how: "passes", "same", "other".
"""
import ast, io

BUSY = 10  # times slower than a quiet machine


def verdict(found, want, places=True):
    return "passes" if not found else "same" if same(found, want, places) else "other"


class Evidence:
    def __init__(self, config):
        self.config, self.found, self.began = config, {}, time.monotonic()
        with open(config["file"]) as f:
            self.text = f.read()
        self.want = {}

    def keep(self, **what):
        self.found.update(what)
        with open(self.config["answer"] + ".new", "w") as f:
            json.dump(self.found, f)
        os.replace(self.config["answer"] + ".new", self.config["answer"])

    def say(self, label, text):
        if not self.config["quiet"]:
            print(f"{label:<10} {text}", file=sys.stderr, flush=True)

    def left(self):
        """Processor time, as the machine may be busy; what sleeps ends by the clock."""
        return min(self.config["seconds"] - sum(os.times()[:4]), BUSY * self.config["seconds"] - (time.monotonic() - self.began))

    def limit(self):
        return max(1, min(self.config["timeout"], BUSY * self.left()))

    # ---- runs ----

    def runs(self):
        """In fresh processes, with all caches off."""
        n, failed, others = 0, 0, []
        while n < self.config["runs"] and (n == 0 or self.left() > 0):
            r = run_fresh(sys.executable, self.config, self.config["file"], self.config["timeout"])
            if r["kind" if "kind" in r else "torch"] == "infra":
                break
            torch = r.pop("torch")
            n += 1
            if r and not self.want:
                self.want = r
            failed += bool(r) and same(r, self.want)
            if r and not same(r, self.want) and words(r) not in others:
                others.append(words(r))
            self.keep(runs=n, failed=failed, others=others, failure=self.want, torch=torch)
        if n:
            self.say("runs", f"fails in {failed} of {n} runs" + (f"; otherwise in some: {'; '.join(others)}" if others else ""))

    # ---- experiments, in processes forked from this one ----

    def warm(self):
        warm_torch(self.config["folder"])

    def cache(self):
        """One for all experiments: most kernels are the same. A new one after a compiler was killed, which may leave half a library."""
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp(prefix="cache-", dir=self.config["folder"])

    def experiment(self, text, **how):
        limit = self.limit()
        r = run(text, {**self.config, "timeout": limit}, path=self.config["file"], **how)
        if r.get("type") == "timeout":
            self.cache()
            if limit < self.config["timeout"]:  # that run was cut short
                raise TimeoutError
        return r

    def eager(self):
        r = self.experiment(self.text, eager=True)
        self.keep(eager=verdict(r, self.want), eager_says=words(r))
        self.say("eager", "passes" if not r else f"fails{' the same way' if same(r, self.want) else ''}: {words(r)}")

    def without_lines_about(self, name):
        """The program's own line for a setting comes after ours."""
        lines = self.text.split("\n")
        return "\n".join("pass" if line.startswith(f"torch._inductor.config.{name} =") else line for line in lines)

    def settings(self):
        tried = []
        base = self.experiment(self.text)
        if not same(base, self.want):
            self.say("settings", "not tried: in a process forked from one that has imported torch it does not fail the same way")
            return False
        for name, value, what in self.config["settings"]:
            if self.left() <= 0:
                break
            r = self.experiment(self.without_lines_about(name), setting=(name, ast.literal_eval(value)))
            if r.get("kind") == "no setting":
                continue
            tried.append({"name": name, "value": value, "how": verdict(r, self.want), "what": what, "failure": words(r)})
            self.keep(settings=tried)
        helps = [f"{t['name']} = {t['value']}" for t in tried if t["how"] == "passes"]
        late = "" if len(tried) == len(self.config["settings"]) or self.left() > 0 else f" of {len(self.config['settings'])}, the time was up"
        how = f"does not fail with {' or '.join(helps)}" if helps else "none of them helps"
        self.say("settings", f"{len(tried)} tried{late}: {how}" if tried else "not tried: the time was up (--evidence=SECONDS)")
        return True

    # ---- torch's bisector ----

    def bisector(self):
        try:
            from torch._inductor.compiler_bisector import CompilerBisector
        except ImportError:
            return
        said, before, tests = io.StringIO(), tempfile.tempdir, [0]
        tempfile.tempdir = self.config["folder"]

        def good():
            if self.left() <= 0:
                raise TimeoutError
            tests[0] += 1
            r = self.experiment(self.text)
            return not same(r, self.want)
        found = {"backend": "", "part": "", "number": None, "info": "", "why": ""}
        try:
            with contextlib.redirect_stdout(said):
                r = CompilerBisector.do_bisect(good)
            if r is None:
                found["why"] = "under it the program does not fail"
            else:
                found.update(backend=r.backend, part=r.subsystem or "", number=r.bisect_number, info=(r.debug_info or "").strip()[:300])
        except TimeoutError:
            found["why"] = f"it did not end within the time ({tests[0]} runs)"
        except Exception as e:
            found["why"] = f"it failed: {type(e).__name__}: {str(e)[:200]}"
        finally:
            tempfile.tempdir = before
        self.keep(bisector=found)
        self.say("bisector", found["why"] or bisector_words(found) + f"; {tests[0]} runs")

    # ---- the machine, and other releases ----

    def hide(self, text):
        for what, place in sorted(self.config["hidden"], key=lambda pair: -len(pair[0])):
            text = text.replace(what, place)
        return re.sub(r"file://\S+", "file:...", text)

    def machine(self):
        """torch.utils.collect_env, without local paths and the host's name."""
        import socket
        try:
            done = subprocess.run([sys.executable, "-m", "torch.utils.collect_env"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, cwd=self.config["folder"], timeout=120)
        except (OSError, subprocess.TimeoutExpired):
            return
        text = self.hide(done.stdout.decode(errors="replace").replace(sys.prefix, "(environment)"))
        for name in {socket.gethostname(), socket.gethostname().split(".")[0]}:
            text = re.sub(r"\b%s\b" % re.escape(name), "(host)", text) if len(name) > 1 else text
        if done.returncode or "PyTorch version" not in text:
            return
        with open(self.config["machine"] + ".new", "w") as f:
            f.write(text.strip() + "\n")
        os.replace(self.config["machine"] + ".new", self.config["machine"])
        self.keep(machine=True)
        self.say("machine", f"torch.utils.collect_env, in {self.config['machine']}")

    def releases(self):
        found = []
        for python in self.config["releases"]:
            r = run_fresh(python, self.config, self.config["file"], self.config["timeout"])
            torch = r.pop("torch")
            how = "infra" if r.get("kind") == "infra" else verdict(r, self.want, places=False)
            found.append({"python": python, "torch": torch, "how": how, "failure": words(r)})
            self.keep(releases=found)
            said = {"passes": "passes", "same": "fails the same way", "other": f"fails in another way: {words(r)}", "infra": f"not run: {words(r)}"}
            self.say("release", f"{torch or python}: {said[how]}")

    def gather(self):
        self.runs()
        if not self.want:
            self.say("evidence", "none: the program passes")
            return
        if self.config["seconds"] > 0:
            os.environ.update(TORCHINDUCTOR_FX_GRAPH_CACHE="0", TORCHINDUCTOR_AUTOGRAD_CACHE="0")
            self.cache()
            self.warm()
            with contextlib.suppress(TimeoutError):
                self.eager()
                if self.config["settings"] and not self.settings():
                    self.config["bisect"] = False
                if self.config["bisect"]:
                    self.bisector()
        if self.config["machine"]:
            self.machine()
        self.releases()


def bisector_words(found):
    """"without the lowerings of inductor it does not fail; it is number 2 of them: relu"."""
    if not found["part"]:
        return f"fails from backend='{found['backend']}' on" + (", whatever part of it is off" if found["backend"] == "inductor" else "")
    text = f"does not fail without {found['part']} of backend='{found['backend']}'"
    if found["info"] and found["info"] != found["part"]:
        text += f"; the one that matters is number {found['number']}: {' '.join(found['info'].split())}"
    return text


if __name__ == "__main__":
    main("evidence", lambda given: Evidence(given).gather())
