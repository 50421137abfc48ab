#!/bin/bash
# The known bugs of torch (share/known): the form of the tables, and each bug's own text and near miss (tests/data/known) through fxexplain.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python3 -c 'import concurrent.futures' 2>/dev/null || skip_all "no python3"

run python3 "$ROOT/tests/lib/known.py" "$BUILD/bin/fxexplain" "$ROOT"
is "each bug is found in its own text, no other is, and not in its near miss" "$(grep -v ' right$' out)" ""
ok "there are at least 140 texts" test "$(sed -n 's/ right$//p' out)" -ge 140

printf '%s\n' 'Traceback (most recent call last):' '  File "/home/user/app.py", line 3, in <module>' '    f(x)' \
	'torch._dynamo.exc.Unsupported: missing: MATCH_CLASS' >known.txt
run fxexplain known.txt
like "the text of a terminal" "$(cat out)" 'known +fixed by 2.11 \(pytorch#171274\): .*Until then: '
run fxexplain report known.txt
like "an issue's text" "$(tr '\n' ' ' <out)" 'known bug:.*171274'
run fxexplain --html=page.html known.txt
ok "a page has it" grep -q '"url":"https://github.com/pytorch/pytorch/issues/171274"' page.html
done_testing
