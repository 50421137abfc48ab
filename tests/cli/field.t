#!/bin/bash
# fxexplain on what people paste (tests/field): at least as many right answers and at most as many wrong ones as were recorded, no crash. When
# the score is better, change `least` and `most`, so that it cannot get worse again.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python3 -c 'import csv, concurrent.futures' 2>/dev/null || skip_all "no python3"
least=178 most=0

field=$ROOT/tests/field
run python3 "$field/score.py" "$BUILD" --json
is "every input is scored" "$status" 0
cp out score
figure() { python3 -c 'import json, sys; d = json.load(open("score")); print(eval(sys.argv[1]))' "$1"; }
is "a row for every input" "$(cut -f1 "$field/truth.tsv" | tail -n +2 | sort)" "$(cd "$field" && for f in */input.*; do echo "${f%%/*}"; done | sort)"
is "no crash" "$(figure '[i["name"] for i in d["inputs"] if i["verdict"] == "crash"]')" "[]"
right=$(figure 'd["totals"]["right"]')
ok "$right right answers, at least $least" [ "$right" -ge "$least" ]
wrong=$(figure 'd["totals"]["wrong"]')
ok "$wrong wrong answers, at most $most" [ "$wrong" -le "$most" ]

# The scorer tells apart a right answer, one with another line, one with only the line, one that accuses the program, no finding, and another finding.
python3 - "$field" >verdicts <<'EOS'
import sys
sys.path.insert(0, sys.argv[1])
import score
row = dict(must="(?=.*3)(?=.*size)", must_not="eager fails too", line="a.py:4|a.py:5")
for text in ("sizes 3\n at x/a.py:5", "size 3 at a.py:51", "a.py:4", "a.py:4 size 3: eager fails too", "No known problem found", "other"):
    print(score.judge(row, text))
EOS
is "the verdicts" "$(paste -sd' ' verdicts)" "right part part wrong silent wrong"
done_testing
