#!/bin/bash
# What fxminify adds to a result for an issue (share/fxminify/evidence.py), with a torch that only pretends: runs, eager, settings, torch's
# bisector, releases, the machine; and --form issue.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/pretend.sh
. "$ROOT/tests/lib/pretend.sh"
command -v python3 >/dev/null || skip_all "no python3"
unset PYTHONPATH

# ---- a torch: torch.compile(f) raises what FAILS says, unless a setting or torch's bisector turns off what is to blame ----
stub() { # stub DIR VERSION
	mkdir -p "$1/torch/_dynamo" "$1/torch/_inductor" "$1/torch/utils"
	cat >"$1/torch/__init__.py" <<P
import os, types
__version__ = "$2"
cuda = types.SimpleNamespace(is_initialized=lambda: False)
_C = types.SimpleNamespace()
def _of(self, name):
    return lambda *a, **k: self
Tensor = type("Tensor", (), {"__getattr__": _of})
def manual_seed(n): pass
def randn(*size): return Tensor()
def set_num_threads(n): pass
def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    return lambda *a, **k: Tensor()
def compile(f, **kwargs):
    def call(*args):
        from torch._inductor import config, compiler_bisector
        what = os.environ.get("FAILS_${2//./_}", os.environ.get("FAILS", ""))
        if what == "KeyError" and (not config.pattern_matcher or "post_grad_passes" in compiler_bisector.off):
            return f(*args)
        if what == "die":
            os.kill(os.getpid(), 11)
        if what == "flaky":
            n = os.environ["RUNS"]
            with open(n, "a+") as file:
                file.write("x")
            if os.path.getsize(n) % 2 == 0:
                return f(*args)
        if what == "other":
            raise ValueError("another")
        if what:
            raise KeyError("no")
        return f(*args)
    return call
P
	echo 'import types; config = types.SimpleNamespace(disable=False)' >"$1/torch/_dynamo/__init__.py"
	touch "$1/torch/_inductor/__init__.py" "$1/torch/_inductor/compile_fx.py" "$1/torch/utils/__init__.py"
	cat >"$1/torch/_inductor/config.py" <<'P'
import types
pattern_matcher, max_fusion_size, fallback_random, max_autotune = True, 64, False, False
cpp = types.SimpleNamespace(simdlen=None)
P
	cat >"$1/torch/_inductor/compiler_bisector.py" <<'P'
import types
off = []
class CompilerBisector:
    @staticmethod
    def do_bisect(good):
        print("not for the terminal")
        for part in ("lowerings", "post_grad_passes"):
            off[:] = [part]
            if good():
                return types.SimpleNamespace(backend="inductor", subsystem=part, bisect_number=2, debug_info="addmm -> mm")
        return types.SimpleNamespace(backend="inductor", subsystem=None, bisect_number=None, debug_info=None)
P
	# shellcheck disable=SC2028 # \n is Python's
	echo 'import os, socket; print("PyTorch version: '"$2"'\n" + os.path.expanduser("~") + "/lib " + socket.gethostname())' >"$1/torch/utils/collect_env.py"
}
stub new 2.13.0
stub old 2.6.0

# The oracle's Python only pretends; programs run in the real one. An environment has a torch of its own.
pretends pretends "$TMP/new"
mkdir -p venv/bin
printf '#!/bin/sh\nPYTHONPATH=%s exec python3 "$@"\n' "$TMP/old" >venv/bin/python
chmod +x venv/bin/python
chain cos sin
mkdir temp # other tests make folders in the usual one
export PT2_PYTHON=$TMP/pretends TMPDIR=$TMP/temp
issue() { fxminify -j1 --passes nodes -o "$@" chain.py; }
notes() { sed -n '/^# verified/,$p' "$1" | sed 1d; }

FAILS=KeyError FAILS_2_6_0=other exits "a program that fails" 0 issue small.py --form issue --with-torch venv
is "what an issue needs is in the program" "$(notes small.py)" "# fails in 3 of 3 runs, each in a fresh process
# eager passes
# does not fail with torch._inductor.config.pattern_matcher = False (the pattern matcher)
# also fails with torch._inductor.config: fallback_random = True, max_fusion_size = 1, cpp.simdlen = 1
# torch's bisector (torch._inductor.compiler_bisector): does not fail without post_grad_passes of backend='inductor': number 2 of them, addmm -> mm
# releases of torch: fails in 2.13.0, fails in another way in 2.6.0 (ValueError: another)
# torch.utils.collect_env: small.py.env"
like "each is a line of progress" "$(cat err)" "runs +fails in 3 of 3 runs.*settings +4 tried: does not fail with pattern_matcher = False.*release +2.6.0: fails in another way"
is "nothing is printed by what is run" "$(cat out)" ""
is "the machine, without local paths and the host's name" "$(cat small.py.env)" "PyTorch version: 2.13.0
~/lib (host)"
like "the issue has the sections of torch's bug report" "$(cat small.md)" "Describe the bug.*Expected: .*Actual: .*fails in 3 of 3 runs.*### Error logs.*### Versions.*PyTorch version: 2.13.0"
# shellcheck disable=SC2016 # Markdown's fence
sed -n '/^```python/,/^```/p' small.md | sed '1d;$d' >pasted.py
is "its program is the one that was run" "$(cat pasted.py)" "$(sed '/^# /,$d' small.py | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}')"
FAILS=KeyError exits "... and fails by itself" 1 env PYTHONPATH="$TMP/new" python3 pasted.py
# shellcheck disable=SC2016
like "the error's text is in a fence of its own" "$(cat small.md)" 'no `way`'
FAILS=KeyError FAILS_2_6_0='' exits "a release that passes" 0 issue other.py --with-torch venv -q --evidence 0
like "it is said" "$(cat other.py)" "fails in 2.13.0, passes in 2.6.0"
ok "without --form issue there is no text" test ! -e other.md
FAILS=die exits "a program that dies" 0 issue dies.py --with-torch "$TMP/venv/bin/python" -q
like "no setting helps, and the release dies, too" "$(cat dies.py)" "3 of 3 runs.*also fails with .*: fallback_random = True, pattern_matcher = False.*fails from backend='inductor' on.*fails in 2.13.0, fails in 2.6.0"
RUNS=$TMP/runs FAILS=flaky exits "a program that fails in some runs" 0 issue flaky.py
like "how many" "$(cat flaky.py)" "fails in 2 of 3 runs"
exits "a program that passes when it is run" 0 issue passes.py --form issue
like "that is said, and there is no issue" "$(cat passes.py err)" "fails in 0 of 3 runs.*no issue is written: the program was not seen to fail again"
ok "no file is written" test ! -e passes.md
FAILS=KeyError exits "--evidence 0" 0 issue plain.py --evidence 0
is "nothing is run" "$(notes plain.py)$(ls plain.py.env 2>/dev/null)" ""
exits "--with-torch of no environment" 2 issue plain.py --with-torch missing
like "it is named" "$(cat err)" "no Python in 'missing'"
exits "--form issue of a result that is not run" 2 issue plain.py --form issue --no-verify
is "no directory is left" "$(find temp -mindepth 1 | head -3)" ""
done_testing
