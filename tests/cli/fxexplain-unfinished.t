#!/bin/bash
# fxexplain on logs that end while something compiles: unfinished, never "Failed"; whether the program that writes them still runs.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
verdict() { fxexplain --json "$1" 2>/dev/null | jq -r '.verdict | "\(.unfinished), \(.title)"'; }

# simple.log up to a record after which AOTAutograd is at work, whole and cut in a record.
whole=$(grep -nE '^[VI][0-9]{4} ' "$DATA/simple.log" | awk -F: '$1 > 250 {print $1 - 1; exit}')
head -n "$whole" "$DATA/simple.log" >open.log
head -c "$(($(stat -c %s open.log) - 20))" open.log >cut.log
touch -d '3 hours ago' open.log cut.log
open="true, in create_aot_dispatcher_function when the log ends"
is "an old log" "$(verdict open.log)" "$open"
unlike "nothing failed" "$(fxexplain open.log)" "Failed:|Likely cause:"
like "what it may be" "$(fxexplain open.log)" "The log ends inside AOTAutograd \(tracing forward and backward\): error, kill, crash, or still running"
like "one that is cut in a record" "$(verdict cut.log)" "^true, in [a-z_]* when the log ends$"
like "why it may be cut" "$(fxexplain --json cut.log | jq -r '.verdict.evidence[]')" "the log ends inside a record: it is being written, the disk is full, or the copy is incomplete"
touch open.log
is "one that was just written" "$(verdict open.log)" "$open; written within the last minute: perhaps still running"
sleep 300 >>open.log &
writer=$!
is "its writer still runs" "$(verdict open.log)" "$open; still running: process $writer has it open"
like "then it is not called anything else" "$(fxexplain open.log)" "The log ends inside AOTAutograd \(tracing forward and backward\): still running"
touch -d '10 minutes ago' open.log
is "and is silent" "$(verdict open.log)" "$open; still running: process $writer has it open, and has written nothing for 10 min"
mkdir traces
ln open.log traces/dedicated_log_torch_trace_1.log
is "found by its folder" "$(verdict traces)" "$open; still running: process $writer has it open, and has written nothing for 10 min"
kill "$writer"
wait "$writer" 2>/dev/null
exec 5<open.log # a reader is no writer
touch -d '10 minutes ago' open.log
is "a reader is no writer" "$(verdict open.log)" "$open"
exec 5<&-
# A record cut short where nothing is under way.
cp "$DATA/simple.log" done.log
tail -c 200 "$DATA/simple.log" | head -c 120 >>done.log
head -n 1 "$DATA/simple.log" | head -c 90 >>done.log
touch -d '3 hours ago' done.log
like "a log that is whole ends in no phase" "$(fxexplain "$DATA/simple.log")" "0 failures"
is "cut while nothing compiles" "$(verdict done.log)" "true, the log ends inside a record"
done_testing
