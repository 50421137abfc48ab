"""Failing programs for fxminify.t and scripts/bench-minify-torch.

    python minify_cases.py DIR [CASE...]     writes DIR/CASE.py (minifier_launcher.py of that case) or DIR/CASE.pt2, and DIR/bugs/

A case that is there is made again only when this file is newer.

What fails is torch's own test bug (torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY), which its launchers carry with them,
or one of DIR/bugs/sitecustomize.py: a torch with bugs, for every Python that has DIR/bugs in PYTHONPATH. It changes what Inductor
generates for a few operators on CPU:

    asinh      C++ that is no C++                 atanh    reads address 8
    acosh      never ends                         expm1    NaN
    cos        a Python error while generating    erf      a Python error in every second process ($FLAKY_COUNTER)
    floor and sign in one kernel: a Python error when it is defined

Others go wrong by a pass in DIR/beside.py, a module beside the launcher, or by a C++ compiler that hangs (CXX=DIR/cxx).
"""
import contextlib, os, shutil, sys, time

BUGS = '''
"""A torch with bugs (tests/live/minify_cases.py): changes Inductor's C++ backend when it is imported."""
import importlib.abc, importlib.machinery, os, sys

COUNTER, DAYS = os.environ.get("FLAKY_COUNTER"), {}  # tests have a short list of variables only

def bad_day():
    """Every second process that asks."""
    if os.getpid() not in DAYS:
        with open(COUNTER, "a") as f:
            f.write("x")
            DAYS[os.getpid()] = f.tell() % 2 == 0
    return DAYS[os.getpid()]

def spoil(cpp):
    scalar, vector = cpp.CppOverrides, cpp.CppVecOverrides
    def both(name, of_scalar, of_vector):
        setattr(scalar, name, staticmethod(of_scalar))
        setattr(vector, name, staticmethod(of_vector))
    def raises(x):
        raise AssertionError("cos is not supported here")
    both("asinh", lambda x: f"no_such_function({x})", lambda x: f"no_such_function({x})")
    both("atanh", lambda x: f"({x} + *(volatile float*)8)", lambda x: f"({x} + decltype({x})(*(volatile float*)8))")
    both("acosh", lambda x: f"([&] {{ for (volatile int i = 1; i;) {{}} return {x}; }}())", lambda x: f"([&] {{ for (volatile int i = 1; i;) {{}} return {x}; }}())")
    both("expm1", lambda x: f"({x} * std::numeric_limits<float>::quiet_NaN())", lambda x: f"({x} * decltype({x})(std::numeric_limits<float>::quiet_NaN()))")
    both("cos", raises, raises)
    if COUNTER:
        def sometimes(real):
            def erf(x):
                if bad_day():
                    raise AssertionError("erf has a bad day")
                return real(x)
            return erf
        both("erf", sometimes(scalar.erf), sometimes(vector.erf))
    real = cpp.CppScheduling.define_kernel
    def define_kernel(self, src_code, nodes, *args, **kw):
        ops = {str(o.target) for n in nodes for o in getattr(n.node, "origins", [])}
        if any("floor" in o for o in ops) and any("sign." in o for o in ops):
            raise AssertionError("floor and sign in one kernel")
        return real(self, src_code, nodes, *args, **kw)
    cpp.CppScheduling.define_kernel = define_kernel

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch._inductor.codegen.cpp":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        real = spec.loader.exec_module
        def exec_module(module):
            real(module)
            spoil(module)
        spec.loader.exec_module = exec_module
        return spec

sys.meta_path.insert(0, Finder())
if os.environ.get("HUNG_IMPORT"):
    import time
    time.sleep(1e6)
'''

TOY = '''
"""The custom backend of PyTorch's troubleshooting guide in spirit: it refuses one operator."""
import torch

def toy_compiler(gm, inputs):
    for node in gm.graph.nodes:
        if node.target in (torch.relu, torch.nn.functional.relu) or node.target == "relu":
            raise RuntimeError("toy_compiler knows no relu")
    return gm.forward

def alias_compiler(gm, inputs):
    storages = [t.untyped_storage()._cdata for t in inputs if isinstance(t, torch.Tensor)]
    if len(set(storages)) < len(storages) and any("sin" in str(node.target) for node in gm.graph.nodes):
        raise RuntimeError("alias_compiler wants memory for each")
    return gm.forward
'''


BESIDE = '''
"""Passes of a user's, beside the launcher that names them: each goes wrong on a graph with a sum."""
import ctypes

def has_sum(graph):
    return any("aten.sum" in str(node.target) for node in graph.nodes)

def hangs(graph):
    while has_sum(graph):
        pass

def eats(graph):
    kept = []
    while has_sum(graph):
        kept.append(bytearray(64 << 20))

def crashes(graph):
    if has_sum(graph):
        print("about to read address 0", flush=True)
        ctypes.string_at(0)
'''

# A C++ compiler that never ends on a program with an erfc.
CXX = '''#!/bin/sh
for f; do
	case $f in *.cpp) grep -q erfc "$f" && while :; do :; done ;; esac
done
exec g++ "$@"
'''


def net(torch, op, n=6, at=3, norm=True):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = torch.nn.ModuleList([torch.nn.Linear(16, 16) for _ in range(n)])
            self.n = torch.nn.LayerNorm(16) if norm else torch.nn.Identity()

        def forward(self, x):
            for i, l in enumerate(self.l):
                y = torch.tanh(l(self.n(x)))
                x = x + torch.sigmoid(y) * y
                if i == at:
                    x = op(x) + x
            return x.sum(-1)
    torch.manual_seed(0)
    return Net()


def settings(torch, folder, after, level):
    import torch._dynamo, torch._inductor.config, torch._inductor.compile_fx
    config = torch._dynamo.config
    config.debug_dir_root, config.repro_after, config.repro_level = folder, after, level
    torch._inductor.config.force_disable_caches = True
    return torch._inductor.config


def compiled(torch, model, *inputs, **options):
    try:
        torch.compile(model, **options)(*inputs)
    except Exception as e:
        print(str(e)[-2000:])


def injected(kind, after="aot", level=2, n=6, dynamic=None):
    def make(torch, folder):
        settings(torch, folder, after, level).cpp.inject_relu_bug_TESTING_ONLY = kind
        x = torch.randn(8, 16)
        with torch.no_grad():
            compiled(torch, net(torch, torch.relu, n=n, at=n * 2 // 3).eval(), x, dynamic=dynamic)
    return make


def broken(op, after="aot", level=2, train=False, n=6):
    """A torch with bugs: an error ends here, anything else is for level 3 and 4 to catch before it."""
    def make(torch, folder):
        settings(torch, folder, after, level)
        model = net(torch, op(torch), n=n, at=n // 2)
        if train:
            with contextlib.suppress(BaseException):
                torch.compile(model)(torch.randn(8, 16)).sum().backward()
            return
        with torch.no_grad():
            compiled(torch, model.eval(), torch.randn(8, 16))
    return make


def beside(name):
    """A launcher that asks for a pass of BESIDE."""
    def make(torch, folder):
        broken(lambda torch: torch.tanh, level=3)(torch, folder)
        path = found_in(folder)[0]
        with open(path) as f:
            text = f.read()
        lines = f"import beside\ntorch._inductor.config.post_grad_custom_post_pass = beside.{name}\n"
        with open(path, "w") as f:
            f.write(text.replace("isolate_fails_code_str = None\n", lines + "isolate_fails_code_str = None\n", 1))
    return make


def fused(torch, folder):
    """Two operators, harmless each, that Inductor makes one kernel of."""
    settings(torch, folder, "aot", 2)
    class Net(torch.nn.Module):
        def forward(self, x, w):
            for i in range(3):
                x = torch.tanh(x @ w) + x
            y = torch.floor(x * 8) + x
            x = torch.sign(y + 1) - torch.sigmoid(x)
            for i in range(3):
                x = torch.tanh(x @ w) + x
            return x
    with torch.no_grad():
        compiled(torch, Net(), torch.randn(8, 16), torch.randn(16, 16))


def bf16(torch, folder):
    """The same two, between layers of a small real model in bfloat16."""
    settings(torch, folder, "aot", 2)
    def op(x):
        y = torch.floor(x * 8) + x
        return torch.sign(y + 1) - torch.sigmoid(x)
    with torch.no_grad():
        compiled(torch, net(torch, op, n=12, at=8).eval().bfloat16(), torch.randn(8, 16, dtype=torch.bfloat16))


def custom(torch, folder):
    settings(torch, folder, "dynamo", 2)
    sys.path.insert(0, os.path.dirname(folder))
    import toys
    from torch._dynamo.backends.registry import register_backend
    register_backend(toys.toy_compiler, name="toy_compiler")
    with torch.no_grad():
        compiled(torch, net(torch, torch.relu).eval(), torch.randn(8, 16), backend="toy_compiler")


def dies(torch, folder):
    """Two wrong operators; what is wrong of log1p ends in the comparison (PyTorch's test_accuracy_vs_strict_accuracy)."""
    c = settings(torch, folder, "aot", 4)
    c.cpp.inject_relu_bug_TESTING_ONLY = c.cpp.inject_log1p_bug_TESTING_ONLY = "accuracy"
    def inner(x, y):
        b = torch.logical_not(torch.log1p(x) > 0)
        x = torch.relu(x)
        return torch.where(b, x, x) * 1.5 + torch.tanh(y)
    torch.manual_seed(0)
    with torch.no_grad():
        compiled(torch, inner, torch.randn(20), torch.randn(20))


def aoti(torch, folder):
    c = settings(torch, folder, None, 2)
    c.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"
    c.aot_inductor.dump_aoti_minifier = True
    torch._inductor.config.aot_inductor.repro_level = 2
    program = torch.export.export(net(torch, torch.relu, n=3, at=1).eval(), (torch.randn(8, 16),))
    with contextlib.suppress(BaseException):
        torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(folder, "never.pt2"))


def exported(torch, folder):
    os.makedirs(folder)
    program = torch.export.export(net(torch, torch.asinh).eval(), (torch.randn(8, 16),))
    torch.export.save(program, os.path.join(folder, "program.pt2"))


def healthy(torch, folder):
    os.makedirs(folder)
    torch.export.save(torch.export.export(net(torch, torch.relu, n=2, at=1).eval(), (torch.randn(8, 16),)), os.path.join(folder, "program.pt2"))


def shared(torch, folder):
    """Two views of one buffer, for a backend that wants memory for each."""
    settings(torch, folder, "dynamo", 2)
    sys.path.insert(0, os.path.dirname(folder))
    import toys
    from torch._dynamo.backends.registry import register_backend
    register_backend(toys.alias_compiler, name="alias_compiler")
    def f(x, y, w):
        for i in range(3):
            x = torch.tanh(x @ w) + x
        x = torch.sin(y) + x
        for i in range(3):
            x = torch.tanh(x @ w) + x
        return x
    memory = torch.randn(300)
    with torch.no_grad():
        compiled(torch, f, memory[3:131].view(8, 16), memory[67:195].view(8, 16), torch.randn(16, 16), backend="alias_compiler")


def non_leaf(torch, folder):
    """As PyTorch's own tests of its minifier have it (test_minifier.py, non_leaf_compile_error)."""
    settings(torch, folder, "dynamo", 2)
    compiled(torch, net(torch, torch.relu), torch.randn(8, 16, requires_grad=True) + 1, backend="non_leaf_compile_error_TESTING_ONLY")


def recorded(name):
    """A launcher of another release, out of tests/data/repro."""
    def make(torch, folder):
        os.makedirs(folder)
        data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/repro")
        shutil.copy(os.path.join(data, name), os.path.join(folder, "minifier_launcher.py"))
    return make


CASES = {
    # The bench's: the size of a small real model.
    "compile": injected("compile_error", n=12),
    "runtime": injected("runtime_error", n=12),
    "accuracy": injected("accuracy", level=4, n=12),
    "bf16": bf16,  # needs bugs/sitecustomize.py
    # Others of the tests.
    "dynamo": injected("compile_error", after="dynamo"),
    "dynamic": injected("compile_error", dynamic=True),
    "segfault": broken(lambda torch: torch.atanh, level=3),
    "hang": broken(lambda torch: torch.acosh, level=3, n=2),
    "nan": broken(lambda torch: torch.expm1, level=4),
    "train": broken(lambda torch: torch.sin, train=True),
    "flaky": broken(lambda torch: torch.erf, level=3),
    "pass_hang": beside("hangs"),
    "pass_memory": beside("eats"),
    "pass_crash": beside("crashes"),
    "cxx_hang": broken(lambda torch: torch.erfc, level=3),
    "fine": broken(lambda torch: torch.tanh, level=3),
    "fused": fused,
    "dies": dies,
    "custom": custom,
    "aoti": aoti,
    "exported": exported,
    "healthy": healthy,
    "shared": shared,
    "nonleaf": non_leaf,
    "cond": recorded("cond_2_15.py"),
}


def found_in(folder):
    return [os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f in ("minifier_launcher.py", "program.pt2")]


def take(folder, target):
    """The one launcher that lies somewhere in the folder, or the program."""
    found = found_in(folder)
    if len(found) != 1:
        sys.exit(f"{os.path.basename(folder)}: {len(found)} launchers: {found}")
    os.symlink(found[0], target + os.path.splitext(found[0])[1])


def is_made(target, source):
    return any(os.path.exists(target + end) and os.stat(target + end).st_mtime > os.stat(source).st_mtime for end in (".py", ".pt2"))


def missing(where, cases, source):
    """Of the command line's, or of all: those that are not there yet."""
    return [name for name in sys.argv[2:] or cases if not is_made(os.path.join(where, name), source)]


def make(where, cases, wanted):
    """Each in a process of its own, two at a time: some of them end it. One that has ended is there for the next run, however this one ends."""
    import torch, torch._inductor.compile_fx, torch._dynamo.repro.after_aot
    import torch._inductor.scheduler, torch._inductor.codegen.cpp
    torch.set_num_threads(1)
    children = {}
    def one_ends():
        target = os.path.join(where, children.pop(os.wait()[0]))
        take(target + ".d", target)
    for name in wanted:
        folder = os.path.join(where, name + ".d")
        shutil.rmtree(folder, ignore_errors=True)
        for end in (".py", ".pt2"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(where, name + end))
        pid = os.fork()
        if not pid:
            log = os.open(os.path.join(where, name + ".log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            import resource, traceback
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            cpu = int(time.process_time()) + 40
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))  # the one that hangs
            try:
                cases[name](torch, folder)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        children[pid] = name
        if len(children) == 2:
            one_ends()
    while children:
        one_ends()


def again(where, **more):
    """As a process that has these variables from its start."""
    os.environ.update(more, OMP_NUM_THREADS="1", TORCHINDUCTOR_COMPILE_THREADS="1", TORCHINDUCTOR_CACHE_DIR=os.path.join(where, "cache"))
    os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    where = os.path.abspath(sys.argv[1])
    wanted = missing(where, CASES, __file__)
    bugs = os.path.join(where, "bugs")
    os.makedirs(bugs, exist_ok=True)
    for path, text in (("bugs/sitecustomize.py", BUGS), ("toys.py", TOY), ("beside.py", BESIDE), ("cxx", CXX)):
        with open(os.path.join(where, path), "w") as f:
            f.write(text)
    os.chmod(os.path.join(where, "cxx"), 0o755)
    if not wanted:
        return
    if bugs not in os.environ.get("PYTHONPATH", "").split(":"):
        again(where, PYTHONPATH=bugs)
    make(where, CASES, wanted)


if __name__ == "__main__":
    main()
