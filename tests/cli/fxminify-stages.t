#!/bin/bash
# Where the test of a candidate may end (share/fxminify/stages.py), with an Inductor that only pretends.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cat >stages.py <<'PY'
import sys, types
def module(name, **has):
    m = sys.modules[name] = types.ModuleType(name)
    m.__dict__.update(has)
    return m
class GraphLowering:
    """Lowering and codegen have subgraphs; compile_to_module generates code first."""
    def __init__(self, subgraphs=()): self.subgraphs = subgraphs
    def run(self): [g.run() for g in self.subgraphs]
    def codegen(self): [(g.run(), g.codegen()) for g in self.subgraphs]
    def codegen_with_cpp_wrapper(self): self.codegen()
    def compile_to_module(self, sources=()):
        self.codegen()
        for s in sources:
            cpp_builder.run_compile_cmd(f"g++ {s}.cpp -o {s}.so", ".")
            assert codecache.CppPythonBindingsCodeCache._load_library(s, s).kernel(1) is None
class AotCodeCompiler:
    @classmethod
    def compile(cls, *a):
        cpp_builder.run_compile_cmd("g++ -c a.cpp -o a.o", ".")
        cpp_builder.run_compile_cmd("g++ -c b.S -o b.o", ".")
        cpp_builder.run_compile_cmd("g++ a.o b.o -o a.so", ".")
class Cache:
    pass
ran = []
cpp_builder = module("torch._inductor.cpp_builder", run_compile_cmd=lambda line, cwd: ran.append(line))
codecache = module("torch._inductor.codecache", AotCodeCompiler=AotCodeCompiler, CppCodeCache=Cache, CppPythonBindingsCodeCache=type("P", (Cache,), {}))
graph = module("torch._inductor.graph", GraphLowering=GraphLowering)
module("torch"), module("torch._inductor", codecache=codecache, cpp_builder=cpp_builder, graph=graph)
exec(open(sys.argv[1]).read())
class End(Exception): pass
def done(): raise End
def whole(g):
    g.run()
    g.compile_to_module()
what = sys.argv[2]
said = {}
end = {"lowering": ("lowering", 0), "second": ("lowering", 1), "codegen": ("codegen", 0), "build": ("build", 0), "check": ("build", 0),
       "package": ("build", 0)}.get(what)
stages = Stages(said.update, end, what in ("check", "package"), done)
stages.install()
g = GraphLowering([GraphLowering(), GraphLowering()])
try:
    if what == "check":
        g.run(), g.compile_to_module(["x", "y"])
    elif what == "package":
        g.run(), g.codegen_with_cpp_wrapper(), AotCodeCompiler.compile()
    else:
        whole(g)
        print("after one", place_of(said["passed"]))
        g.run()
        print("after lowering two", place_of(said["passed"]))
        g.codegen()
        print("after codegen of two", place_of(said["passed"]))
except End:
    print("ended after", said["passed"], ran)
PY
stages() { python3 stages.py "$ROOT/share/fxminify/stages.py" "$1" 2>&1; }
is "where a compile ended" "$(stages none)" "after one ('lowering', 1)
after lowering two ('codegen', 1)
after codegen of two ('build', 1)"
is "past lowering; subgraphs are not counted" "$(stages lowering)" "ended after {'lowering': 1} []"
is "past the lowering of the second graph" "$(stages second | tail -n 1)" "ended after {'lowering': 2, 'codegen': 1, 'build': 1} []"
is "past codegen" "$(stages codegen)" "ended after {'lowering': 1, 'codegen': 1} []"
is "past building" "$(stages build)" "ended after {'lowering': 1, 'codegen': 1, 'build': 1} []"
is "sources are only checked, all of them" "$(stages check)" \
	"ended after {'lowering': 1, 'codegen': 1, 'build': 1} ['g++ x.cpp -fsyntax-only', 'g++ y.cpp -fsyntax-only']"
is "nothing is linked for a package" "$(stages package)" \
	"ended after {'lowering': 1, 'codegen': 1} ['g++ -c a.cpp -fsyntax-only', 'g++ -c b.S -o b.o']"

cat >front.py <<'PY'
import sys, subprocess
exec(open(sys.argv[1]).read())
line_of = lambda text: next((l for l in text.splitlines() if "error" in l or "undefined" in l), "")
for text in ("int f() { return nothing; }", "int f(); int main() { return f(); }"):
    open("front.cpp", "w").write(text)
    cmd = ["c++", "front.cpp", "-o", "front"]
    e = RuntimeError()
    e.cmd, e.output = cmd, subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    print(front_end_raised(e, line_of))
PY
is "an error of the front end, and one of the linker" "$(python3 front.py "$ROOT/share/fxminify/stages.py" | tr '\n' ' ')" "True False "

# Three processes ask for an instruction set; torch gives up on the first answer after a minute.
cat >asked.py <<'PY'
import sys
names = {}
exec(open(sys.argv[1]).read(), names)
clock = [0]
names["time"].monotonic = lambda: clock[0]
def check(isa, code):
    clock[0] += 61 if not clock[0] else 1
    print(isa, clock[0])
    return clock[0] > 61
for _ in range(3):
    print(names["remembered"](".", "avx2", lambda: names["asked"](check, "avx2", ""), lambda works: works is not None))
PY
is "what a busy machine did not answer is asked again" "$(python3 asked.py "$ROOT/share/fxminify/warm.py" | tr '\n' ' ')" \
	"avx2 61 None avx2 62 True True "
done_testing
