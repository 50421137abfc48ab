"""How far a compile gets, and where the test of a candidate may end. Sent before oracle.py.

Inductor lowers a graph, generates code for it, and builds that: a failure in one of them is not reached by a candidate that got past it.
What comes after (minutes of a C++ compiler, the run) adds nothing, so the test ends there and passes. Where the original failed,
counted in graphs, is known from its own test (Zygote.finished).
"""
import contextlib, os, re, shlex, types

STAGES = ("lowering", "codegen", "build")


def place_of(passed):
    """Where a compile ended that passed these stages that many times: (stage, how many graphs passed it before)."""
    lowered, generated, built = (passed.get(s, 0) for s in STAGES)
    stage = "codegen" if generated < lowered else "build" if built < generated else "lowering"
    return stage, passed.get(stage, 0)


class Stages:
    """say: reports each stage that was passed. end: a place_of; passing it ends the process with done(). check: C++ is only checked, not compiled."""
    def __init__(self, say, end=None, check=False, done=None):
        self.say, self.end, self.check, self.done = say, end, check and end is not None and end[0] == "build", done
        self.passed, self.inside, self.packaging = {}, [], False

    def restart(self):
        """The same graph is compiled in another way."""
        self.passed, self.packaging = {}, False
        self.say(passed=self.passed)

    def got_past(self, stage):
        self.passed[stage] = self.passed.get(stage, 0) + 1
        self.say(passed=self.passed)
        if self.end and self.end[0] == stage and self.passed[stage] > self.end[1]:
            self.done()

    def wrap(self, owner, name, stage, within=()):
        """Not counted in itself, nor in what belongs to another graph's stage (subgraphs are lowered while their graph is)."""
        real, inside = getattr(owner, name), self.inside
        def wrapped(*args, **kw):
            outermost = all(s in within for s in inside)
            inside.append(stage)
            try:
                out = real(*args, **kw)
            finally:
                inside.pop()
            if outermost:
                self.got_past(stage)
            return out
        setattr(owner, name, classmethod(lambda cls, *a, **kw: wrapped(*a, **kw)) if hasattr(real, "__self__") else wrapped)

    def install(self):
        with contextlib.suppress(ImportError, AttributeError):  # another torch may have other parts
            from torch._inductor import codecache, cpp_builder, graph
            self.wrap(graph.GraphLowering, "run", "lowering")
            self.wrap(graph.GraphLowering, "codegen", "codegen", within=("build",))
            self.wrap(graph.GraphLowering, "codegen_with_cpp_wrapper", "codegen", within=("build",))
            self.wrap(graph.GraphLowering, "compile_to_module", "build")
            self.wrap(codecache.AotCodeCompiler, "compile", "build")
            if self.check:
                self.check_only(codecache, cpp_builder)

    def check_only(self, codecache, cpp_builder):
        """The front end of the compiler raised the original's error: no candidate needs more of it. What is built this way cannot be
        loaded: the module has a function of each name, which nothing calls before the stage is passed."""
        real = cpp_builder.run_compile_cmd
        def run_compile_cmd(cmd_line, cwd):
            if is_link(cmd_line):
                return self.done() if self.packaging else None
            return real(checked(cmd_line) if has_source(cmd_line) else cmd_line, cwd)
        class Checked(types.ModuleType):
            def __getattr__(self, name):
                return lambda *args, **kw: None
        def packages(compile):
            def wrapped(cls, *args, **kw):
                self.packaging = True
                return compile(*args, **kw)
            return classmethod(wrapped)
        cpp_builder.run_compile_cmd = run_compile_cmd
        codecache.CppCodeCache._load_library = classmethod(lambda cls, path, key: Checked("checked"))
        codecache.CppPythonBindingsCodeCache._load_library = classmethod(lambda cls, path, key: Checked("checked"))
        codecache.AotCodeCompiler.compile = packages(codecache.AotCodeCompiler.compile)


def has_source(command):
    return any(re.search(r"\.(cpp|cc|cxx|c)$", word) for word in shlex.split(command))


def is_link(command):
    return not has_source(command) and any(word.endswith(".o") for word in shlex.split(command)[:-1])


def checked(command):
    """Without -o: nothing is written."""
    words = shlex.split(command)
    if "-o" in words[:-1]:
        at = words.index("-o")
        del words[at:at + 2]
    return shlex.join([*words, "-fsyntax-only"])


def front_end_raised(e, line_of):
    """Does the compiler say the same of this source without generating code? What it says later (undefined references, what cannot be
    inlined) only a whole compile shows."""
    import subprocess
    command, output = getattr(e, "cmd", None), str(getattr(e, "output", ""))
    if not isinstance(command, (list, tuple)) or not has_source(shlex.join(command)):
        return False
    line = line_of(output)
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        out = subprocess.run(shlex.split(checked(shlex.join(command))), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return bool(line) and out.returncode != 0 and line_of(out.stdout) == line
    return False
