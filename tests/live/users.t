#!/bin/bash
# Eight kinds of users, one verb of pt2 each: the first useful answer within two commands, and the next commands work as printed.
# shellcheck disable=SC2016 # words for another shell
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>venv.err) || skip_all "$(tail -n 1 venv.err)"
command -v g++ >/dev/null || skip_all "there is no C++ compiler"
export PT2_PYTHON=$python TORCHINDUCTOR_CACHE_DIR=$PWD/cache XDG_STATE_HOME=$PWD/state OMP_NUM_THREADS=1
unset TORCH_TRACE TORCH_LOGS
cp "$ROOT"/tests/live/users/*.py "$ROOT/scripts/fixtures/slow.py" .
said() { cat out err; }
# next WHAT: the first of the next commands that begins so, run as printed; its output goes into out
next() {
	local line
	line=$(sed -n 's/^next  //p; s/^      \(pt2 .*\)/\1/p' out | grep -m 1 "^$1") || line=false
	run bash -c "$line"
	if [ "$status" -le 1 ]; then pass "... next: $line"; else fail "... next: $line" "status $status" "$(cat err)"; fi
}

exits "a: it breaks the graph" 0 pt2 breaks.py
like "... which line, and what to write instead" "$(said)" "breaks.py:17.*torch.where"
like "... the one whose cause torch hides" "$(said)" "breaks.py:2[01]"
next "pt2 fix"
like "... as a patch" "$(said)" '[+].*(torch.where|capture_scalar_outputs|ignore_logging)'

exits "b: it recompiles in every step" 0 pt2 recompiles.py
like "... the value, and what to do" "$(said)" 's.lr is no longer 0.1.*s.lr = torch.tensor\(0.1\)'

exits "c: NaN" 1 pt2 nan nan.py
like "... the operation, the numbers, the line" "$(said)" 'nan.py:14.*softmax|amax\(6 numbers, all -inf\)'

xz -dc "$ROOT/tests/data/aoti/mlp.pt2.xz" >mlp.pt2
"$python" -c 'import numpy; numpy.save("batch.npy", numpy.zeros((3, 8)))'
exits "d: wrong numbers of a model: is the call right?" 1 pt2 mlp.pt2 batch.npy
like "... what does not fit, and the fix" "$(said)" "expected float32, given float64.*to\(torch.float32\).*next  pt2 check mlp.pt2"
next "pt2 check"
like "... what it expects" "$(said)" "f32|float32"

exits "e: it compiles for minutes" 0 pt2 slow -- "$python" slow.py train
like "... the block that repeats, and what it costs" "$(said)" "Compile the repeated block once: layers.0 ... layers.3.*saves about"
next "pt2 last"

run pt2 fake.py
is "f: an internal error" "$status" 1
like "... whose it is" "$(said)" "the fake kernel of app::scale"

xz -dc "$ROOT/tests/data/aoti/v215/mlp.pt2.xz" >new.pt2
exits "g: will it load here?" 0 env PATH="$(dirname "$python"):$PATH" pt2 crash new.pt2
like "... with this torch" "$(said)" "torch 2.[0-9.]+\S* has all [0-9]+ functions it calls.*OK: should load and run"
next "pt2 run"

run pt2 repro bug.py
is "h: a bug to report" "$status" 1
like "... the component, and the command that reduces it" "$(said)" "compiler: the C.. or Triton compiler.*fxminify --graph 0/0 "
done_testing
