#!/bin/bash
# fxexplain mend --slow and --wrong on real programs: what the clock, and eager in float64, prove. five minutes of processor time, most of it compilers'.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
command -v g++ >/dev/null || skip_all "no g++"
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_CACHE_DIR=$TMP/cache
cp "$ROOT"/tests/live/goals/*.py .
json() { jq -r "$1" out; }
view=
run fxexplain mend --runs=4 -q -- "$python" wrong.py
[ "$status" != 4 ] || view=--unconfined # no namespaces here

# ---- slow: sizes that change at different calls ----
exits "--slow: something is faster" 0 fxexplain mend --slow $view --json --budget=1500 -o slow.patch -- "$python" sizes.py
is "what changes is dynamic from the first call; equal values, to the end of the program" "$(json '[.edits[0].kind, .edits[0].title, .as_is.equal] | join("; ")')" \
	"dynamic; dynamic=True; true"
ok "compiling takes less than 90 % of the processor time" jq -e '.after.compile_seconds < .before.compile_seconds * 0.9' out
before=$("$python" sizes.py)
patch -s -p1 <slow.patch
is "the patched program prints the same" "$("$python" sizes.py)" "$before"
echo "# $(json '"\(.before.compile_seconds) s -> \(.after.compile_seconds) s until compiled, \(.before.step_seconds) s -> \(.after.step_seconds) s a step, \(.runs) runs"')"

# ---- slow: a model that repeats a block ----
exits "--slow: a block is compiled once" 0 fxexplain mend --slow $view --json --budget=1500 -o blocks.patch -- "$python" blocks.py
is "the blocks are compiled, not the whole; equal values, to the end of the program" "$(json '[.edits[0].kind, .edits[0].title, .as_is.equal] | join("; ")')" \
	"region; each block of the lists of modules is compiled, not the whole; true"
ok "compiling takes less than 90 % of the processor time" jq -e ".after.compile_seconds < .before.compile_seconds * 0.9" out
before=$("$python" blocks.py)
patch -s -p1 <blocks.patch
is "the patched program prints the same" "$("$python" blocks.py)" "$before"
echo "# $(json '"\(.before.compile_seconds) s -> \(.after.compile_seconds) s until compiled, \(.before.step_seconds) s -> \(.after.step_seconds) s a step, \(.runs) runs"')"

# ---- wrong: the document of run --wrong, then what makes the numbers right ----
exits "run --wrong: a part is wrong" 1 fxexplain run --wrong --json -o wrong.json -q -- "$python" wrong.py
is "it accuses a kernel of Inductor's" "$(jq -r '[.schema, .component, (.fault.kernel | test("tanh"))] | join(" ")' wrong.json)" "pt2utils.wrong/1 inductor true"
exits "mend --wrong: right again" 0 fxexplain mend --wrong --verdict=wrong.json $view --json --budget=1200 -o right.patch -- "$python" wrong.py
is "by the one operator whose kernel is wrong" "$(json '[.goal, .edits[0].kind, .edits[0].title, .after.equal, .as_is.equal] | join("; ")')" \
	"wrong; fallback; aten.tanh as eager has it; true; true"
ok "the program fails without it" sh -c "! '$python' wrong.py 2>/dev/null"
patch -s -p1 <right.patch
is "and not with it" "$("$python" wrong.py)" checked
done_testing
