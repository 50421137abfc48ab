#!/bin/bash
# tlparse --max NAME=N: limits on what the summary counts.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

log=$DATA/graph_breaks.log
names=$(tlparse --max nosuch=1 "$log" 2>&1 | sed 's/.*known: //; s/,//g')
like "-h lists the names" "$names" "^graph-breaks inferred-graph-breaks recompiles recompile-limits restarts failures compile-seconds "

# Each name counts what --json reports.
tlparse --json "$log" "$DATA/caches_cold.log" "$ROOT/tests/data/broken/unknown_keys.log" "$ROOT/tests/data/broken/bad_md5.log" >all.json 2>/dev/null
set -- "$log" "$DATA/caches_cold.log" "$ROOT/tests/data/broken/unknown_keys.log" "$ROOT/tests/data/broken/bad_md5.log"
for name in $names; do
	case $name in
	findings | errors | warnings) continue ;; # fxexplain --json has these
	cache-misses) path='[.summary.cache[].miss] | add' ;;
	unknown-keys) path=.summary.unknown_keys ;;
	damage) path=.summary.damaged ;;
	compile-seconds) path='.summary.compile_seconds | ceil' ;;
	*) path=.summary.${name//-/_} ;;
	esac
	n=$(jq "$path" all.json)
	ok "$name is a number of the summary" test "$n" -ge 0
	exits "$name=$n holds" 0 tlparse --json --max "$name=$n" "$@"
	if [ "$n" -eq 0 ] || [ "$name" = compile-seconds ]; then continue; fi
	exits "$name=$((n - 1)) is exceeded" 1 tlparse --json --max "$name=$((n - 1))" "$@"
	like "$name: the message has count and limit" "$(grep -v -e bad_md5.log -e unknown_keys.log err | head -1; grep 'at most' err)" ": $n, at most $((n - 1)) allowed"
done
exits "seconds may have a fraction" 1 tlparse --json --max compile-seconds=0.001 "$log"
exits "a limit of seconds that holds" 0 tlparse --json --max compile-seconds=1e6 "$log"

# One line per limit, with places; the output is written all the same.
exits "several limits" 1 tlparse --json --max graph-breaks=0 --max failures=0 --max recompiles=0 --max graphs=100 "$log"
is "each exceeded limit has its own line" "$(wc -l <err)" 2
like "the line has the first locations" "$(cat err)" "^tlparse: graph breaks: 8, at most 0 allowed: [^ ]*graph_breaks.py:9 in shout \(3 times\), .* more"
is "the output is complete" "$(jq .summary.graph_breaks out)" 8
exits "--max with the page on standard output" 1 tlparse --max graph-breaks=0 "$log"
like "the page is complete" "$(tail -c 8 out)" '</html>'
exits "--max with --html=FILE" 1 tlparse --max graph-breaks=0 --html=r.html "$log"
ok "the page is written" test -s r.html
exits "--max with -o" 1 tlparse --max graph-breaks=0 -o dir "$log"
ok "the directory is written" test -s dir/index.html
exits "limits apply to all logs together" 1 tlparse --json --max compiles=3 "$DATA/simple.log" "$DATA/caches_cold.log"
exits "all logs together: a limit that holds" 0 tlparse --json --max compiles=4 "$DATA/simple.log" "$DATA/caches_cold.log"

for bad in nosuch=1 graphs=-1 graphs=x graphs=1.5 graphs= graphs=99999999999999999999999 compile-seconds=nan compile-seconds=1x; do
	exits "--max $bad is a usage error" 2 tlparse --json --max "$bad" "$log"
	is "--max $bad prints nothing" "$(wc -c <out)" 0
done
exits "--max without a number is a usage error" 2 tlparse --max graphs "$log"
exits "an unreadable log is still status 3" 3 tlparse --json --max graphs=0 nosuch.log
: >nothing.log
echo "epoch 1: loss 0.3" >program.log
for log in nothing program; do
	exits "fxexplain: $log.log has nothing from torch: no verdict" 5 fxexplain --max graph-breaks=0 $log.log
	like "... the message says so" "$(cat err)" 'no verdict'
done
printf '%s\n' 'V1122 19:18:12.643000 7 torch/_subclasses/meta_utils.py:298] {"describe_storage": {"id": 0, "describer_id": 0, "size": 48}}' >started.log
for tool in tlparse fxexplain; do
	exits "$tool: a trace without compilations: no verdict" 5 $tool --json --max graph-breaks=0 started.log
	like "... the message says so" "$(cat err)" 'no verdict'
done
exits "... a trace with compilations has one" 0 fxexplain --max graph-breaks=0 "$DATA/simple.log"
exits "... a text without breaks has one, too" 0 fxexplain --max graph-breaks=9 "$ROOT/tests/data/logs/explain.log"
done_testing
