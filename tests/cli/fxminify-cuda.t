#!/bin/bash
# fxminify and GPUs: a test's sticky error stays with it, CUDA is started in tests only, errors of kernels are waited for. Made-up CUDA and torch
# (tests/lib/oracle_gpu.py); a command that fails as CUDA does.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir tmp
export TMPDIR=$TMP/tmp

# ---- the torch oracle's processes ----
exits "the oracle with a simulated GPU" 0 timeout 60 python3 "$ROOT/tests/lib/oracle_gpu.py" "$ROOT/share/fxminify"
said() { sed -n "s/^$1: //p" out; }
is "imports that would start CUDA are prevented" "$(said 'an import that starts CUDA before the fork')" RuntimeError
is "imports do not ask the driver" "$(said 'an import that counts devices')" 0
is "the warm-up sees no GPU" "$(said 'in the warm-up')" False
is "what the warm-up remembered is forgotten" "$(said 'after it')" True
is "and nothing else is" "$(said 'what does not depend on it is still known')" True
is "patterns are registered once" "$(said 'what is done once is done once')" 1
is "the warm-up of dynamo" "$(said 'the warm-up of dynamo')" "done"
is "the warm-up of a graph" "$(said 'the warm-up of aot')" "done"
is "no warm-up starts CUDA or autograd threads" "$(said 'what has started CUDA then')" "(None, 0)"
is "a working candidate passes" "$(said 'a candidate that works')" "passes in run"
is "asynchronous kernel errors are waited for" "$(said 'one whose compiled kernel is wrong')" \
	"raised in run (CUDA error: an illegal memory access was encountered)"
is "the next test is not affected" "$(said 'the next one')" "passes in run"
is "an error in eager is not a compiler bug" "$(said 'one whose eager kernel is wrong')" "invalid in eager"
is "running out of GPU memory is not a verdict" "$(said 'one for which memory does not do')" "infra in eager"
for error in 'misaligned address' 'device-side assert triggered' 'unspecified launch failure' 'the launch timed out and was terminated'; do
	is "$error is the failure" "$(said "CUDA error: $error")" "raised in run (CUDA error: $error)"
	is "$error affects this test only" "$(said "after CUDA error: $error")" "passes in run"
done
for error in 'CUDA error: out of memory' 'Triton Error \[CUDA\]: out of memory' 'CUDA error: uncorrectable ECC error encountered'; do
	is "$error is not a verdict" "$(said "$error")" "infra in run"
done
is "the last test is not affected" "$(said 'the last one')" "passes in run"
is "a fork after CUDA was started would be noticed" "$(said 'had CUDA been started')" "infra in eager"

# ---- what the oracle says of itself: a torch of which nothing can be compiled ----
mkdir -p made/torch
cat >made/torch/__init__.py <<'S'
import importlib.abc, importlib.machinery, sys, types


class Anything:
    def __getattr__(self, name):
        return Anything()
    def __call__(self, *args):
        raise RuntimeError("nothing works")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.startswith("torch.") else None
    def create_module(self, spec):
        return types.ModuleType(spec.name)
    def exec_module(self, module):
        module.get_cpp_compiler = lambda: "cc"


sys.meta_path.insert(0, Finder())
__version__ = "2.13.0"
_C = types.SimpleNamespace()
cuda = types.SimpleNamespace(is_initialized=lambda: False, is_available=lambda: True)
version = types.SimpleNamespace(cuda="12.8", hip=None, git_version="0")
def set_num_threads(n): pass
def __getattr__(name): return Anything()
S
exits "a torch that cannot compile" 4 env PYTHONPATH="$PWD/made" XDG_CACHE_HOME="$PWD/cache" fxminify --python python3 "$ROOT/tests/data/repro/aot_forward/minifier_launcher.py"
is "its warning is printed once" "$(grep -c '^note *the warm-up compile failed: ' err)" 1

# ---- a command: each test is a process ----
python3 "$ROOT/tests/minify/synthetic.py" graph 50 >g.py
cat >buggy <<'S'
#!/bin/sh
# Device memory is a file of the process: what it broke is broken for all that comes later in it.
grep -Eq ' n30(: [^=]*)? = torch' "$1" && echo 'RuntimeError: CUDA error: an illegal memory access was encountered' >sticky
[ -e sticky ] && { cat sticky >&2; exit 0; }
exit 1
S
chmod +x buggy
exits "--test with a GPU" 0 fxminify --test "'$TMP/buggy'" --passes nodes -q g.py -o repro.py
is "the failing node is left" "$(grep -c " = torch" repro.py) $(grep -cE " n30(: [^=]*)? = torch" repro.py)" "1 1"
is "no directory is left" "$(find "$TMPDIR" -mindepth 1)" ""
done_testing
