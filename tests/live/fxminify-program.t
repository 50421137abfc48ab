#!/bin/bash
# fxminify -- python app.py on real programs, and graphs whose plain program is another thing than the graph. What is written fails when it is run.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
command -v g++ >/dev/null || skip_all "no g++"
export PYTHONDONTWRITEBYTECODE=1 XDG_STATE_HOME=$TMP/state XDG_CACHE_HOME=$TMP/cache PYTHONPATH=$ROOT/tests/live/program TORCHINDUCTOR_CACHE_DIR=$TMP/inductor
unset PT2_PYTHON
mkdir cache
called() { sed -nE '/def (f|forward)\(/,/return/p' "$1" | grep -oE 'torch\.(nn\.functional\.|ops\.)?[a-z_]+[.a-z_]*' | sed -E 's/.*functional\.//; s/^torch\.//' | sort -u | xargs; }
# FXMINIFY_CASES="own package": only these.
made() { [ -z "${FXMINIFY_CASES-}" ] || [[ " $FXMINIFY_CASES " == *" $1 "* ]]; }
# fails FILE TEXT: run by itself it fails, with that text.
fails() { ! "$python" "$1" >said 2>&1 && grep -q "$2" said; }

if made own; then
	exits "numbers: the program's own check fails" 0 fxminify -j1 --evidence=0 -o own.py -- "$python" "$ROOT/tests/live/program/own_check.py"
	is "numbers: what is left" "$(called own.py)" relu
	like "numbers: expected and actual" "$(cat own.py)" "# expected = .*# actual = "
	ok "numbers: it fails by itself" fails own.py AssertionError
fi

if made later; then
	exits "later: the second call kills the process" 0 fxminify -j1 --evidence=0 -o later.py -- "$python" "$ROOT/tests/live/program/later.py"
	is "later: what is left" "$(called later.py)" "ops.planted.boom.default"
	like "later: the value that decides" "$(cat later.py)" "= torch.tensor\(1\)"
	"$python" later.py >said 2>&1
	is "later: it dies by itself" $? 139
fi

if made capture; then
	exits "capture: Dynamo fails" 0 fxminify --evidence=0 -o capture.py -- "$python" "$ROOT/tests/live/program/capture.py"
	ok "capture: at most 20 lines are left" test "$(grep -vc '^#\|^$' capture.py)" -le 20
	ok "capture: it fails by itself" fails capture.py "Data-dependent branching"
	# With TORCH_COMPILE_DISABLE=1 fullgraph=True fails for another reason: no frame is compiled.
	ok "capture: eager does not" "$python" -c 'import runpy, torch
torch.compile = lambda f, **kwargs: f
runpy.run_path("capture.py")'
fi

if made changes; then
	exits "changes: the program changes torch" 0 fxminify -j1 --evidence=0 -o changes.py -- "$python" "$ROOT/tests/live/program/changes_torch.py"
	like "changes: they are named" "$(cat err)" "the program changes torch: .*CppOverrides.tanh .fasttanh.py:"
	is "changes: what is left" "$(called changes.py)" tanh
	ok "changes: what the result needs of the program is in it" test ! -e changes_program.py -a "$(grep -c 'fast_tanh' changes.py)" = 2
	# shellcheck disable=SC2016 # the shell's own
	ok "changes: it fails by itself" env PYTHONPATH= bash -c '! "$0" changes.py >said 2>&1 && grep -q AssertionError said' "$python"
fi

if made package; then
	exits "package: AOTInductor fails" 0 fxminify -j1 --evidence=0 -o package.py -- "$python" "$ROOT/tests/live/program/package.py" "$TMP/head.pt2"
	is "package: what is left of a graph with weights" "$(called package.py)" relu
	ok "package: it fails by itself" fails package.py "was not declared in this scope"
fi

if made wrong_package; then
	exits "package: what it computes is wrong" 0 fxminify -j1 --evidence=0 -o wrong_package.py -- "$python" "$ROOT/tests/live/program/wrong_package.py" "$TMP/gate.pt2"
	like "package: the exported program is kept" "$(cat err)" "its graph is kept in .*graph-[0-9]+-[0-9]+.pt2"
	is "package: what is left" "$(called wrong_package.py | grep -o hardsigmoid)" hardsigmoid
	ok "package: it is one again, and wrong by itself" test "$(grep -c aoti_compile_and_package wrong_package.py)" = 1
	ok "package: it fails by itself" fails wrong_package.py AssertionError
fi

if made operator; then
	mkdir elsewhere
	exits "operator: the program's own is wrong" 0 fxminify -j1 --evidence=0 -o elsewhere/gate.py -- "$python" "$ROOT/tests/live/program/own_operator.py"
	like "operator: what is left" "$(called elsewhere/gate.py)" "scaled.gate"
	ok "operator: its definition is in the result" grep -q 'def gate_backward' elsewhere/gate.py
	ok "operator: what the module has besides is not" test "$(grep -c 'def norm_of' elsewhere/gate.py)" = 0
	# shellcheck disable=SC2016 # the shell's own
	ok "operator: it fails by itself" env PYTHONPATH= bash -c '! "$0" elsewhere/gate.py >said 2>&1 && grep -q "invalid gradient" said' "$python"
fi

if made hang; then
	exits "hang: a pass of the program's never ends" 0 fxminify -j1 --evidence=0 --timeout 15 -o hang.py -- "$python" "$ROOT/tests/live/program/hanging_pass.py"
	like "hang: it is one" "$(cat err)" "the graph in compile [0-9]+ takes long; after 15 s it hangs.*has taken more than 15 s: it hangs"
	is "hang: what is left" "$(called hang.py)" cumsum
	# shellcheck disable=SC2016 # the shell's own
	ok "hang: by itself it does not end, too" env PYTHONPATH= bash -c 'timeout 90 "$0" hang.py; test $? = 124' "$python"
fi

if made hanging_capture; then
	exits "hang: Dynamo never ends" 0 fxminify -j1 --evidence=0 --timeout 15 -o hanging_capture.py -- "$python" "$ROOT/tests/live/program/hanging_capture.py"
	like "hang: the frame is named" "$(cat err)" "the capture of step .hanging_capture.py:[0-9]+. has taken more than 15 s: it hangs"
	like "hang: how it was verified" "$(cat hanging_capture.py)" "verified: does not end within [0-9]+ s in a fresh process with all caches off, twice"
	like "hang: what is left" "$(cat hanging_capture.py)" "divmod"
	# shellcheck disable=SC2016 # the shell's own
	ok "hang: by itself it does not end, too" bash -c 'timeout 90 "$0" hanging_capture.py; test $? = 124' "$python"
fi

# Forward results are right, gradients are not: a decomposition and a joint pass, which no graph of Inductor's shows, and a lowering that only the
# backward graph has.
export TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 # its keys know nothing of what is planted
path=$PYTHONPATH
while read -r what left; do
	made "$what" || continue
	mkdir "site-$what"
	[ "$what" = joint ] || echo "import wronggrad; wronggrad.$what()" >"site-$what/sitecustomize.py"
	export PYTHONPATH=$TMP/site-$what:$path
	exits "gradients, $what: reduced" 0 fxminify -j1 --evidence=0 -o "$what.py" -- "$python" "$ROOT/tests/live/program/gradients.py" "$what"
	like "gradients, $what: that is the failure" "$(cat err)" "the failure: accuracy: (gradient|output) [0-9]+ differs from eager"
	like "gradients, $what: what is left" "$(sed -n '/^def f/,/return/p' "$what.py")" "$left"
	like "gradients, $what: of so many operations" "$(grep '^result' err)" "result +[123] of "
	ok "gradients, $what: it fails by itself" fails "$what.py" AssertionError
	export PYTHONPATH=$path
	grep -v wronggrad "$what.py" >right.py
	ok "gradients, $what: without what was planted it does not" "$python" right.py
done <<'T'
decomposition gelu
lowering abs|sign|sgn
joint sigmoid
T
unset TORCHINDUCTOR_FORCE_DISABLE_CACHES

# graph PASS OP END: a launcher whose graph has that operator
graph() {
	cat <<P
import torch
import boom
import torch._inductor.config
torch._inductor.config.post_grad_custom_post_pass = boom.$1
class Repro(torch.nn.Module):
    def forward(self, arg0_1, arg1_1):
        one = torch.ops.aten.$2.default(arg0_1)
        mul = torch.ops.aten.mul.Tensor(one, arg1_1)
        sin = torch.ops.aten.sin.default(mul)
        $3
def load_args(reader):
    buf0 = reader.storage(None, 512)
    reader.tensor(buf0, (8, 16), is_leaf=True)
    buf1 = reader.storage(None, 512)
    reader.tensor(buf1, (8, 16), is_leaf=True)
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=$4, command='run', save_dir=None, tracing_mode='real', check_str=None)
P
}
export PT2_PYTHON=$python
if made graphs; then
	graph silu silu 'return (sin,)' False >launcher.py
	exits "only Inductor alone fails" 0 fxminify -j1 --evidence=0 -o inner.py launcher.py
	like "that is the form" "$(cat inner.py)" "compile_fx_inner\(gm, copies\(\)\)"
	ok "it fails by itself" fails inner.py "cannot silu"
	graph exp silu 'return (sin,)' False >launcher.py
	exits "--expect: what only torch.compile(f) shows" 0 fxminify -j1 --evidence=0 --expect "cannot exp" -o plain.py launcher.py
	ok "it fails by itself in that way" fails plain.py "cannot exp"
	graph writes cos 'copy_ = torch.ops.aten.copy_.default(arg0_1, sin); return (copy_,)' True >launcher.py
	exits "a graph that writes its input" 0 fxminify -j1 --evidence=0 -o writes.py launcher.py
	ok "it fails by itself" fails writes.py AssertionError
fi

# A real document of fxexplain run --wrong.
if made document; then
	mkdir site-tanh
	cat >site-tanh/sitecustomize.py <<'P'
import torch
import torch._inductor.lowering as lowering
tanh = lowering.lowerings[torch.ops.aten.tanh.default]
lowering.lowerings[torch.ops.aten.tanh.default] = lambda x: lowering.lowerings[torch.ops.aten.mul.Tensor](tanh(x), 1.25)
P
	sed /lowering/d "$ROOT/tests/live/wrong/kernel.py" >fine.py
	exits "a wrong kernel: fxexplain run --wrong finds it" 1 env PYTHONPATH="$TMP/site-tanh" fxexplain run --wrong --json -q -o wrong.json -- "$python" fine.py
	exits "a wrong kernel: its document is reduced" 0 env PYTHONPATH="$TMP/site-tanh" fxminify -j1 --evidence=0 -o document.py wrong.json
	is "a wrong kernel: what is left" "$(called document.py)" tanh
	# shellcheck disable=SC2016 # the shell's own
	ok "a wrong kernel: it fails by itself" env PYTHONPATH="$TMP/site-tanh" bash -c '! "$0" document.py >said 2>&1 && grep -q AssertionError said' "$python"
	# Inductor's cache has the wrong kernel of the run before, under a key that does not know what is planted.
	ok "a wrong kernel: where the kernel is right it does not" env PYTHONPATH= TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 "$python" document.py
fi

# From inside.
if made inside; then
	cat >step.py <<P
import sys
sys.path.insert(0, "$ROOT/packaging/wheel")
import pt2utils, torch
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU())
step = torch.compile(lambda x: model(x).sum())
before = {k: v.clone() for k, v in model.state_dict().items()}
print(pt2utils.save_repro(step, torch.randn(3, 4), path="saved/launcher.py"))
P
	mkdir saved
	like "pt2utils.save_repro writes a launcher" "$("$python" step.py 2>err)" "saved/launcher.py"
	exits "which fxminify reads" 0 fxminify --level 1 -q -o whole.py saved/launcher.py
fi

# How a long result is shown.
if made shown; then
	like "results that differ in one element" "$(PYTHONPATH=$ROOT/share/fxminify "$python" -c 'import compare, torch
a = torch.zeros(3, 40)
b = a.clone()
b[1, 7] = 2
print(*compare.shown((a, [a]), (a, [b])), sep="\n")')" '^expected\[1\]\[0\] = tensor\(.*actual\[1\]\[0\] = .*actual\[1\]\[0\] differs: mismatched elements: 1 / 120 \(0.8%\), greatest absolute difference: 2.0 at index \(1, 7\)$'
	is "short ones are whole" "$(PYTHONPATH=$ROOT/share/fxminify "$python" -c 'import compare, torch
print(*compare.shown(torch.zeros(2), torch.ones(2)), sep="|")')" "expected = tensor([0., 0.])|actual = tensor([1., 1.])"
fi
done_testing
