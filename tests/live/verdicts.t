#!/bin/bash
# aoti-checkinputs against torch itself: the same calls, as specs and as files that torch and numpy wrote.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 "$python" "$ROOT/scripts/fixtures/verdicts.py" --files files "$ROOT/tests/data/aoti/io" \
	"$DATA"/aoti/*.pt2 "$DATA"/aoti/old/*.so >verdicts.jsonl
status=$?
is "torch ran them all" "$status" 0
run python3 "$ROOT/tests/lib/compare_verdicts.py" verdicts.jsonl "$DATA/aoti"
cat out
tests=$((tests + $(grep -cE '^(not )?ok ' out)))
is "all were compared" "$status" 0
bare() { grep -v '"loose"' "$1" | sed 's/, "operands": .*/}/'; }
is "torch says what it said when it was recorded" "$(diff <(bare verdicts.jsonl) <(bare "$DATA/aoti/verdicts.jsonl") | head -n 5)" ""
done_testing
