#!/bin/bash
# aoti-verify on the models of track_zoo.py, compiled once ($PT2_TRACK_ZOO, else BUILD/track_zoo): no false alarm on the clean ones, and of the packages in
# which one instruction or one token of one kernel is another, those that show are named (verify.py says how the truth is told).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
[ "$(uname -m)" = x86_64 ] || skip_all "mutants are of x86-64 code"
for command in g++ objdump; do command -v $command >/dev/null || skip_all "no $command"; done
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
zoo=${PT2_TRACK_ZOO:-$BUILD/track_zoo}
texts=$zoo/texts # mutants by text
[ -n "${PT2_TRACK_ZOO-}" ] || "$python" "$ROOT/tests/live/track_zoo.py" compile "$zoo" >compiled 2>&1
[ -w "$zoo" ] || texts=$BUILD/verify_texts
"$python" "$ROOT/tests/live/verify.py" texts "$zoo" "$texts" 2>&1 | sed 's/^/# /'

run "$python" "$ROOT/tests/live/verify.py" clean "$zoo"
is "clean models: it ran" "$status" 0
sed 's/^/# /' out
# transformers is not in every environment: without it there are fewer.
least=30 models=12 mutants=50
"$python" -c 'import transformers' 2>/dev/null && least=36 models=15 mutants=100
ok "clean models: $(wc -l <out), $(awk '$2 == 0' out | wc -l) verified, $(awk '$2 == 5' out | wc -l) in part" test "$(awk '$2 == 0' out | wc -l)" -ge $((least - 4)) -a "$(wc -l <out)" -ge $least
is "clean models: no false alarm" "$(awk '$2 == 1' out)" ""

run "$python" "$ROOT/tests/live/verify.py" mutants "$zoo" "$texts" "${SEEDS:-4}"
is "mutants: it ran" "$status" 0
sed 's/^/# /' out
counts=$(sed -n 's/^counts //p' out)
of() { jq "$1" <<<"$counts"; }
ok "mutants: $(of .mutants) of $(of .models) models, $(of .by_text) by text" test "$(of .mutants)" -ge $mutants -a "$(of .models)" -ge $models -a "$(of .by_text)" -ge 8
ok "of $(of .visible) that are visible $(of .named) are named first" test "$(($(of .named) * 100))" -ge "$(($(of .visible) * 95))"
is "none is accused of which the kernel gives the same" "$(of .invisible_blamed)" 0
done_testing
