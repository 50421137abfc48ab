#!/bin/bash
# Drawn graphs in a browser (tests/browser/graph_test.py looks at them): of a trace, of two compared, of 5,000 nodes.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
tlparse --html=report.html "$DATA/fusion/after.log" 2>/dev/null
cp "$DATA/fusion/after.log" . && mkdir before after && cp "$DATA/fusion/before.log" before && mv after.log after
tlparse --diff --html=diff.html before after 2>/dev/null
python3 "$ROOT/tests/lib/large_graph.py" 5000 >large.log
tlparse --html=large.html large.log 2>/dev/null
tlparse --html=none.html "$ROOT/tests/data/broken/noise.log" 2>/dev/null
run timeout 600 /usr/bin/python3 "$ROOT/tests/browser/graph_test.py" report.html diff.html large.html
first=$(head -1 out)
[[ $first != "1..0 # SKIP "* ]] || skip_all "${first#* SKIP }"
is "nothing fails" "$(grep -A3 '^not ok' out)" ""
is "everything is looked at" "$(grep -c '^ok' out)" 12
ok "the page of 5,000 nodes is below 1 MB" test "$(wc -c <large.html)" -lt 1000000
done_testing
