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
# fails FILE TEXT: run by itself it fails, with that text.
fails() { ! "$python" "$1" >said 2>&1 && grep -q "$2" said; }

exits "numbers: the program's own check fails" 0 fxminify -j1 --evidence=0 -o own.py -- "$python" "$ROOT/tests/live/program/own_check.py"
is "numbers: what is left" "$(called own.py)" relu
like "numbers: expected and actual" "$(cat own.py)" "# expected = .*# actual = "
ok "numbers: it fails by itself" fails own.py AssertionError

exits "later: the second call kills the process" 0 fxminify -j1 --evidence=0 -o later.py -- "$python" "$ROOT/tests/live/program/later.py"
is "later: what is left" "$(called later.py)" "ops.planted.boom.default"
like "later: the value that decides" "$(cat later.py)" "= torch.tensor\(1\)"
"$python" later.py >said 2>&1
is "later: it dies by itself" $? 139

exits "capture: Dynamo fails" 0 fxminify --evidence=0 -o capture.py -- "$python" "$ROOT/tests/live/program/capture.py"
ok "capture: at most 20 lines are left" test "$(grep -vc '^#\|^$' capture.py)" -le 20
ok "capture: it fails by itself" fails capture.py "Data-dependent branching"
# With TORCH_COMPILE_DISABLE=1 fullgraph=True fails for another reason: no frame is compiled.
ok "capture: eager does not" "$python" -c 'import runpy, torch
torch.compile = lambda f, **kwargs: f
runpy.run_path("capture.py")'

exits "changes: the program changes torch" 0 fxminify -j1 --evidence=0 -o changes.py -- "$python" "$ROOT/tests/live/program/changes_torch.py"
like "changes: they are named" "$(cat err)" "the program changes torch: .*CppOverrides.tanh .fasttanh.py:"
is "changes: what is left" "$(called changes.py)" tanh
ok "changes: what the result needs of the program is in it" test ! -e changes_program.py -a "$(grep -c 'fast_tanh' changes.py)" = 2
# shellcheck disable=SC2016 # the shell's own
ok "changes: it fails by itself" env PYTHONPATH= bash -c '! "$0" changes.py >said 2>&1 && grep -q AssertionError said' "$python"

exits "package: AOTInductor fails" 0 fxminify -j1 --evidence=0 -o package.py -- "$python" "$ROOT/tests/live/program/package.py" "$TMP/head.pt2"
is "package: what is left of a graph with weights" "$(called package.py)" relu
ok "package: it fails by itself" fails package.py "was not declared in this scope"

# Forward results are right, gradients are not: a decomposition and a joint pass, which no graph of Inductor's shows, and a lowering that only the
# backward graph has.
export TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 # its keys know nothing of what is planted
path=$PYTHONPATH
while read -r what left; do
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

# From inside.
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
done_testing
