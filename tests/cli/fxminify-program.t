#!/bin/bash
# fxminify -- COMMAND without torch: what it makes of how the program ends and of what share/fxminify/catch.py left; and that a result which does
# not fail when it is run is not delivered.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/pretend.sh
. "$ROOT/tests/lib/pretend.sh"
export XDG_STATE_HOME=$TMP/state PT2_PYTHON=$TMP/no_python
launcher=$ROOT/tests/data/minifier/aot_deep/minifier_launcher.py

# ---- how the program ends ----
exits "a program that does not fail" 1 fxminify -- true
like "the message says so" "$(cat err)" "the program does not fail: it ended with status 0 .--accuracy"
exits "a program that fails without a graph" 5 fxminify -- sh -c 'exit 3'
like "the message says that no graph fails" "$(cat err)" "the program fails.*no graph of torch.compile does.*fxexplain run --wrong -- sh -c exit 3"
is "it was run once: nothing was compiled" "$(grep -c 'exited with status 3' err)" 1
# shellcheck disable=SC2016 # the program's own
exits "a program that compiles, and whose own check fails" 5 fxminify -- sh -c 'echo idle >$PT2_CATCH_DIR/state-1; echo "compare=$PT2_CATCH_COMPARE"; exit 1'
is "it is run again, with each graph compared" "$(xargs <out)" "compare= compare=1"
exits "a program that cannot be started" 4 fxminify -- ./missing
exits "a command and a file" 2 fxminify graph.py -- true
exits "a command and --test" 2 fxminify --test true -- true
printf 'import torch\nfor i in range(3):\n    print(i)\n' >app.py
exits "a program as the operand" 3 fxminify --test true app.py
like "the message names the command" "$(cat err)" "if it is a program, not a graph: fxminify -- python app.py"

# ---- the graph that failed ----
# found STAGE KIND TYPE GRAPH: what catch.py writes
found() { printf '{"stage": "%s", "kind": "%s", "type": "%s", "message": "a message", "graph": "%s", "unknown": 0, "at": 1}' "$@"; }
found inductor raised KeyError "$launcher" >found.json
# shellcheck disable=SC2016
exits "a graph that failed: torch is needed to reduce it" 4 fxminify -o repro.py -- sh -c 'cp found.json $PT2_CATCH_DIR/failure-1.json; exit 1'
like "the failure and its graph are shown" "$(cat err)" "the failure: KeyError: a message.*its graph is kept in .*minifier_launcher.py"
# shellcheck disable=SC2016
exits "a process that died in a later call" 4 fxminify -o repro.py -- sh -c 'case $PT2_CATCH_CALL in
	2:7) echo "run 2:7 '"$launcher"'" ;; *) echo "run 2:7" ;; esac >$PT2_CATCH_DIR/state-1; kill -SEGV $$'
like "it is run again, to keep the inputs of that call" "$(cat err)" "in a later call of a graph: .*call 2:7.*the failure: SIGSEGV: while it was in run 2:7.*kept in .*minifier_launcher"
# shellcheck disable=SC2016
exits "a graph that takes too long" 4 fxminify --timeout 3 -o repro.py -- sh -c 'echo "compile 1 '"$launcher"'" >$PT2_CATCH_DIR/state-1; sleep 60'
like "that is a hang" "$(cat err)" "has taken more than 3 s: it hangs.*the failure: timeout"
like "half of that time before, it is said" "$(cat err)" "the graph in compile 1 takes long; after 3 s it hangs .--timeout"
# shellcheck disable=SC2016
exits "a capture that takes too long" 5 fxminify --timeout 3 -o repro.py -- sh -c 'echo "trace app.py:12 step" >$PT2_CATCH_DIR/state-1; sleep 60'
like "that is a hang, too" "$(cat err)" "the capture of step .app.py:12. has taken more than 3 s: it hangs.*before there is a graph: timeout: while Dynamo captured step .app.py:12"
found capture raised Unsupported app.py:2 >found.json
# shellcheck disable=SC2016
exits "a failure in capture of a command without a program" 5 fxminify -- sh -c 'cp found.json $PT2_CATCH_DIR/failure-1.json; exit 1'
like "the message says what can be reduced" "$(cat err)" "before there is a graph: Unsupported.*python app.py"

found inductor raised torch.AcceleratorError "$launcher" >found.json
# shellcheck disable=SC2016
again='case $PT2_CATCH_CALL in 2:7) cat found.json ;; *) cat later.json ;; esac >$PT2_CATCH_DIR/failure-1.json; exit 1'
printf '{"stage": "inductor", "kind": "raised", "type": "torch.AcceleratorError", "message": "2:7", "graph": "", "at": 1}' >later.json
exits "a GPU's error in a later call, after which nothing can be read" 4 fxminify -o repro.py -- sh -c "$again"
like "it is run again, too" "$(cat err)" "in a later call of a graph: .*call 2:7.*the failure: torch.AcceleratorError.*kept in .*minifier_launcher"
printf '{"stage": "program", "kind": "raised", "type": "torch.AcceleratorError", "message": "CUDA error: device-side assert triggered\\nSearch", "graph": "app.py:9", "at": 1}' >own.json
# shellcheck disable=SC2016
exits "a GPU's error that was there before a graph ran" 5 fxminify -- sh -c 'echo idle >$PT2_CATCH_DIR/state-1; cp own.json $PT2_CATCH_DIR/failure-1.json; exit 1'
like "it is not run again, and the message says how to find the line" "$(grep -c exited err) $(cat err)" "^1 .*no graph of torch.compile fails: a kernel that ran outside of them did .CUDA error: device-side assert triggered.; .*CUDA_LAUNCH_BLOCKING=1 sh -c"
cat >poisoned.py <<'P'
# A GPU's error: what is kept of the graph that it is seen in, with a torch that has one.
import os, re, sys, types
names = {"__name__": "catch", "_next_sitecustomize": lambda: None}
exec(open(os.environ["CATCH"]).read(), names)
class Gpu:
    broken = False
    is_initialized = staticmethod(lambda: True)
    @classmethod
    def synchronize(cls):
        if cls.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
sys.modules["torch"] = types.SimpleNamespace(cuda=Gpu)
names["_bytes_of"] = lambda values: 0
class Graph:
    number, calls, dynamo = 3, 0, None
    def save(self, catch, inputs=None, accuracy=False):
        Gpu.synchronize()
        return "graph-3.py", 0
def run(*breaks, wanted=""):
    catch, graph, seen = names["Catch"](".", call=wanted), Graph(), []
    catch.fail = lambda stage, kind, e=None, message="", graph="", unknown=0, of=None, by="": seen.append((stage, message, graph))
    Gpu.broken = False
    for how in breaks:
        if how == "before":
            Gpu.broken = True
        try:
            catch.called(graph, lambda inputs: setattr(Gpu, "broken", how == "in it"), [])
        except RuntimeError as e:
            catch.uncaught(type(e), e, e.__traceback__)
    print(*(x or "-" for x in seen[0][:2]), os.path.basename(seen[0][2]) or "-")
run("in it")
run("fine", "in it")
run("fine", "in it", wanted="3:2")
run("fine", "before")
P
is "a GPU's error: with inputs kept before the call, or the call's number; one from before the call is the program's" \
	"$(CATCH=$ROOT/share/fxminify/catch.py python3 poisoned.py)" "inductor - graph-3.py
inductor 3:2 -
inductor - graph-3.py
program - poisoned.py:11"

# ---- the source ----
for part in zygote/zygote fxminify/warm fxminify/files fxminify/trial fxminify/inline fxminify/source fxminify/fold; do cat "$ROOT/share/$part.py"; done |
	sed '/^if __name__ == "__main__"/,$d' >source.py
cat >reduce.py <<'P'
import source

class Oracle:
    tests, known = 0, {}
    def over(self):
        return False
    def fails(self, text):
        self.tests += text not in self.known
        self.known[text] = "bad(" in text and "def f" in text
        return self.known[text]

text = """import os
def g():
    return 1
def f(x):
    y = 0
    for i in range(3):
        if i > 1:
            with open(os.devnull) as h:
                y = 2 + bad(x, i)
        else:
            y = 3
    return y
class C:
    pass
print(f(g()), g())
"""
oracle = Oracle()
print(source.reduce_source(source.text_of(source.ast.parse(text)), oracle, lambda *_: None).strip().replace("\n", "|"))
print(oracle.tests < 120)
P
is "statements, branches and expressions are reduced" "$(python3 reduce.py | xargs)" "def f(x):| bad(x, i) True"

is "the newest state that verifies, if not the last does" "$(python3 -c 'import source
for good in 0, 1, 6, 9: print(source.newest_verified(list(range(10)), lambda n: n < good))
print(source.newest_verified([1], lambda n: True))' | xargs)" "None 0 5 8 None"

mkdir -p tree/net
printf 'import torch\nfrom net.parts import Part as P\nfrom net import data\nif __name__ == "__main__":\n    print(P, data.rows(2))\n' >tree/app.py
printf 'import torch\nfrom . import data\nclass Part:\n    n = data.SIZE\nif __name__ == "__main__":\n    raise SystemExit(1)\n' >tree/net/parts.py
printf '"""Rows."""\nSIZE = 3\ndef rows(n):\n    return n * SIZE\n' >tree/net/data.py
touch tree/net/__init__.py
printf 'import sys, net.data\nprint(vars(sys.modules["net.data"]), net)\n' >tree/value.py
printf 'import net.data\nSIZE = 1\nprint(net.data.rows(SIZE))\n' >tree/twice.py
inline() { python3 -c 'import source, sys; print(source.inlined(open(sys.argv[1]).read(), "tree"))' "$1"; }
is "modules of the program's folder become one file" "$(inline tree/app.py | grep -v '^$')" 'import torch
SIZE = 3
def rows(n):
    return n * SIZE
class Part:
    n = SIZE
P = Part
if __name__ == '\''__main__'\'':
    print(P, rows(2))'
is "not where a module is a value" "$(inline tree/value.py)" None
is "nor where a name has two meanings" "$(inline tree/twice.py)" None
is "nor where there are none" "$(inline tree/net/data.py)" None
printf 'import torch\nimport repro_program\n\nassert 1\n\n# note\n# more\n' >result.py
is "a result without the import of its program" "$(python3 -c 'import source; print(source.split_result(open("result.py").read(), "repro_program"))')" \
	"('import torch\\n\\nassert 1\\n', '\\n# note\\n# more\\n')"

printf 'import torch\nimport net.data\nimport torch._inductor.config\ntorch._inductor.config.post_grad_custom_post_pass = net.data.rows\n\ndef f(x):\n    return x + net\n' >passes.py
is "the modules that a result imports, with the lines that use them" \
	"$(python3 -c 'import source; print(*map(repr, source.split_imports(open("passes.py").read(), "tree")), sep="\n")')" \
	"'import net.data\\ntorch._inductor.config.post_grad_custom_post_pass = net.data.rows\\n'
'import torch\\nimport torch._inductor.config\\n\\ndef f(x):\\n    return x + net\\n'"
cat >future.py <<'P'
"""A program."""
from __future__ import annotations
import os
print(os.sep)
P
is "a program's arguments become a part of it" "$(python3 -c 'import source; print(source.with_args(open("future.py").read(), ["-n", "3"]))' | grep -v '^$')" \
	"\"\"\"A program.\"\"\"
from __future__ import annotations
import sys
sys.argv[1:] = ['-n', '3']
import os
print(os.sep)"
mkdir -p files/data empty
echo 7 >files/data/n.txt
cat >reads.py <<'P'
import os, source
os.chdir("empty")
names = source.find_files(os.path.abspath("../files"))
print(open("data/n.txt").read().strip(), os.path.islink("data/n.txt"))
open("data/new.txt", "w").close()
try:
    open("missing.txt")
except FileNotFoundError:
    print("missing")
print(names)
P
is "a program reads the files of its folder, and writes none there" "$(python3 reads.py | xargs) $(ls files/data)" "7 True missing [data/n.txt] n.txt"
cat >exports.py <<'P'
# What eager does where torch.export.export fails.
import source, types
def export(mod, args, kwargs=None, **more):
    if more.get("bad"):
        raise ValueError("cannot export")
    return "exported"
def bad_model(x):
    raise TypeError("the model's own")
def ends(*calls, hangs=False):
    module = types.SimpleNamespace(export=export)
    source.export_in_eager(module, export, hangs)
    try:
        for model, bad in calls:
            module.export(model, (1,), bad=bad)
    except BaseException as e:
        return type(e).__name__
    return "ends"
print(ends((abs, False)), ends((abs, False), (abs, True)), ends((bad_model, True)), ends((abs, False), hangs=True))
P
is "a failing torch.export: eager is the model itself" "$(python3 exports.py)" "ends Exports TypeError Exports"
cat >interrupted.py <<'P'
import os, signal, source, sys, types
class Interrupted(source.Oracle):
    def baseline(self, text):
        self.eager, self.want = {}, {"kind": "raised", "type": "Bad", "message": "no", "key": "no", "frame": ""}
        return self.want
    def attempt(self, text, eager=False):
        if self.tests == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return {} if eager or "bad" not in text or "x7" not in text else self.want
source.Oracle, source.warm_torch = Interrupted, lambda folder: None
sys.modules["torch"] = types.SimpleNamespace(__version__="2.13.0")
signal.signal(signal.SIGTERM, signal.default_int_handler)
open("long.py", "w").write("".join(f"x{i} = {i}\n" for i in range(40)) + "bad()\n")
print(source.reduce_program({"file": os.path.abspath("long.py"), "args": [], "folder": ".", "files": "", "type": "Bad", "by": "Dynamo", "max_tests": 0,
                             "max_time": 0, "timeout": 9, "quiet": False, "tool": "fxminify", "command": "", "output": "stopped.py"}))
P
is "interrupted, the source that failed last is left: status" "$(python3 interrupted.py 2>err)" 130
like "the message says how to go on" "$(cat err)" "interrupted +the smallest that failed is in stopped.py; to continue: fxminify -- python stopped.py"
ok "it is smaller, and says that it was not verified" test "$(grep -c '^x' stopped.py)" -lt 40 -a "$(grep -c 'verified: NOT: interrupted' stopped.py)" = 1
stuck() {
	printf 'import os, source, sys, time\nsource.STUCK = 0.3\nsource.end_if_stuck(lambda: os._exit(7))\n%s\n' "$1" >stuck.py
	timeout 600 python3 stuck.py
	echo $?
}
is "a loop is a hang" "$(stuck 'while True: pass')" 7
is "one that gets to other functions is not" "$(stuck 'names, until = {}, time.process_time() + 2.5
while time.process_time() < until: # asked seldom: a busy machine stops a program where it calls the kernel
    for _ in range(60):
        name = "f%d" % len(names)
        exec("def %s(): [i for i in range(100000)]" % name, names)
        names[name]()
sys.exit(3)')" 3

# ---- a program that changes torch ----
mkdir -p changed/torch/_inductor
printf 'config = None\n' >changed/torch/__init__.py
printf 'class OpOverload(str):\n    pass\ndef own():\n    pass\nlowerings = {OpOverload("aten.exp.default"): own, OpOverload("mylib.op.default"): own}\nclass Code:\n    tanh = staticmethod(own)\n    exp = own\n' >changed/torch/_inductor/lowering.py
touch changed/torch/_inductor/__init__.py
cat >changed/app.py <<'P'
import functools, json, os, sys
names = {"__file__": "/nowhere/sitecustomize.py", "os": os, "sys": sys}
exec(open(os.environ["CHANGES"]).read(), names)
import torch._inductor.lowering as lowering
print(json.dumps(names["_changes"](lambda value: False)))
def mine(x):
    return x
@functools.wraps(lowering.own)
def wrapped(x):
    return mine(x)
lowering.Code.tanh = staticmethod(mine)
lowering.lowerings[lowering.OpOverload("aten.exp.default")] = functools.partial(wrapped, 1)
lowering.lowerings[lowering.OpOverload("mylib.op.default")] = lambda: 1
generated = type(sys)("torch._inductor.runtime.compile_tasks.c1")
generated.__file__ = "/tmp/torchinductor/c1.py"
exec(compile("def call(): pass", generated.__file__, "exec"), vars(generated))
sys.modules[generated.__name__] = generated
print(json.dumps(names["_changes"](lambda value: False)))
P
is "what a program changes in torch, with its lines; not what it adds, nor generated code" "$(CHANGES=$ROOT/share/fxminify/changes.py python3 changed/app.py)" '[]
["torch._inductor.lowering.lowerings[aten.exp.default] (app.py:8)", "torch._inductor.lowering.Code.tanh (app.py:6)"]'
printf 'a change\nanother\n' >changes
found inductor raised KeyError "$launcher" >found.json
# shellcheck disable=SC2016
printf 'import os, shutil\nd = os.environ.get("PT2_CATCH_DIR")\nshutil.copy("found.json", d + "/failure-1.json")\nshutil.copy("changes", d + "/changes-1")\nraise SystemExit(1)\n' >changes.py
exits "a program that changes torch: torch is needed" 4 fxminify --python "$TMP/no_python" -o repro.py -- python3 changes.py
like "the changes are named" "$(cat err)" "the program changes torch: a change; another.*tested after the program, up to its first compile"
ok "the module that runs it is beside the graphs" test -s "$(find "$TMP/state" -name repro_program.py | head -n 1)"

mkdir -p stub/torch/_dynamo stub/torch/_inductor nothing
printf 'def get_num_threads():\n    return 1\ndef set_num_threads(n):\n    pass\n' >stub/torch/__init__.py
printf 'def reset():\n    pass\n' >stub/torch/_dynamo/__init__.py
printf 'class OutputGraph:\n    call_user_compiler = None\n' >stub/torch/_dynamo/output_graph.py
touch stub/torch/_inductor/__init__.py stub/torch/_inductor/compile_fx.py
cat >configured.py <<'P'
import os, shutil
value = open("changes").read()
folder = os.environ.get("PT2_CATCH_DIR")
if folder:
    shutil.copy("found.json", folder + "/failure-1.json")
    shutil.copy("changes", folder + "/changes-1")
raise SystemExit(1)
P
exits "one that reads a file" 4 fxminify --python "$TMP/no_python" -o configured_repro.py -- python3 configured.py
like "in an empty directory it still does" "$(cd nothing && PYTHONPATH=$TMP/stub:$(dirname "$(find "$TMP/state" -name configured_repro_program.py | head -n 1)") \
	python3 -c 'import configured_repro_program as p; print(p.program.value)')" "a change.*another"

# ---- only what fails is delivered ----
pretends pretends
chain cos sin tan exp
mkdir temp # other tests make folders in the usual one
export PT2_PYTHON=$TMP/pretends TMPDIR=$TMP/temp
# ---- the journal of a program's graph has the program ----
mkdir -p app/sub
found inductor raised KeyError "$TMP/chain.py" >app/found.json
# shellcheck disable=SC2016 # the shell's own
sed 's|^\tstart) |\tstart) printf %s "$line" >'"$TMP"'/started; |' pretends >starts
chmod +x starts
printf 'import os, shutil\nshutil.copy("app/found.json", os.environ["PT2_CATCH_DIR"] + "/failure-1.json")\nraise SystemExit(1)\n' >app/app.py
unset PT2_PYTHON
exits "a program's graph, stopped early" 0 fxminify --python "$TMP/starts" --evidence=0 --max-tests 2 -j1 -o "$TMP/app/out.py" -- python3 app/app.py --n 3
like "the modules beside the program are found" "$(cat started)" "\"path\": ?\[[^]]*$TMP/app\""
like "the journal has the command" "$(head -n 1 app/out.py.journal)" "chain.py\", ?\"--\", ?\"python3\", ?\"$TMP/app/app.py\", ?\"--n\", ?\"3\""
rm started
cd app/sub || exit
exits "it is continued" 0 fxminify -q --max-tests 99 --resume "$TMP/app/out.py.journal"
cd "$TMP" || exit
like "the result names the program's command" "$(cat app/out.py)" "fxminify -- python3 $TMP/app/app.py --n 3"
like "they are found again" "$(cat started)" "\"path\": ?\[[^]]*$TMP/app\""
export PT2_PYTHON=$TMP/pretends
calls() { grep -cE '^ *[a-z_0-9]+ = torch\.ops|return torch' "$1"; }
ENOUGH=0 exits "a result that fails when it is run" 0 fxminify --evidence=0 -j1 -o small.py chain.py
is "it is the smallest" "$(calls small.py)" 1
ENOUGH=99 exits "no state fails when it is run" 5 fxminify --evidence=0 -j1 --passes nodes -o none.py chain.py
is "the result is the original" "$(calls none.py)" 4
like "it says so" "$(cat none.py err)" "NOT verified.*none of [0-9]+ states fails.*the result is not verified: none.py has the original"
ENOUGH=3 exits "only larger states fail when they are run" 0 fxminify --evidence=0 -j1 --passes nodes -o some.py chain.py
ok "the result is one of them" test "$(grep -cE '^ *[a-z_0-9]+ = torch|return torch' some.py)" -ge 3
like "it says which" "$(cat some.py)" "state [0-9]+ of [0-9]+: in what is smaller"
ENOUGH=0 exits "--expect another failure" 5 fxminify --expect SIGSEGV -j1 -o other.py chain.py
like "the message names both" "$(cat err)" "fails differently than --expect says: it raised: KeyError: no .expected: SIGSEGV"
ok "nothing is written" test ! -e other.py
ENOUGH=0 exits "--expect its type" 0 fxminify --evidence=0 --expect KeyError -q -j1 -o same.py chain.py
is "no directory is left" "$(find temp -mindepth 1 | head -3)" ""
done_testing
