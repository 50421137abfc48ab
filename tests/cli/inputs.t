#!/bin/bash
# What can be read: files, .gz, standard input, directories, several of them; and the exit status when it cannot.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
log=$DATA/simple.log
broken=$ROOT/tests/data/broken
cp "$log" in.log

count() { jq -r "$1" out 2>&1; }
facts() { jq -S 'del(.inputs[].path, .logs[].ranks.path)' "$1" 2>&1; }
# Root may read anything; without these capabilities it is as anybody.
if [ "$(id -u)" != 0 ]; then
	plain=(env)
else
	plain=(setpriv --bounding-set "-dac_override,-dac_read_search" --inh-caps "-dac_override,-dac_read_search")
fi
touch secret && chmod 0 secret
"${plain[@]}" cat secret >/dev/null 2>&1 && plain=()

# ---- one log, each way ----
run tlparse --json in.log
is "a file" "$status $(count .inputs[0].path)" "0 in.log"
facts out >want
run tlparse --json - <in.log
is "-: standard input" "$status $(count .inputs[0].path)" "0 -"
is "-: the same facts" "$(facts out)" "$(cat want)"
gzip -c in.log >in.log.gz
run tlparse --json in.log.gz
is ".gz: the same facts" "$status $(facts out)" "0 $(cat want)"
run tlparse --json - <in.log.gz
is ".gz on standard input: the same facts" "$status $(facts out)" "0 $(cat want)"
cp in.log.gz misnamed.log
run tlparse --json misnamed.log
is "gzip under another name: the same facts" "$status $(facts out)" "0 $(cat want)"
cp in.log plain.log.gz
run tlparse --json plain.log.gz
is "a plain log named .gz: the same facts" "$status $(facts out)" "0 $(cat want)"
{ head -n 40 in.log | gzip -c; tail -n +41 in.log | gzip -9c; } >two.gz
run tlparse --json two.gz
is "two gzip members: the same facts" "$status $(facts out)" "0 $(cat want)"
{ cat in.log.gz; head -c 600 /dev/zero; } >padded.gz
run tlparse --json padded.gz
is "gzip with padding: the same facts" "$status $(facts out) $(cat err)" "0 $(cat want) "
slowly() { # slowly FILE : with pauses in the middle of lines
	head -c 1 "$1"
	sleep 0.05
	for at in 2 1000 40000; do
		tail -c +$at "$1" | head -c $((at == 2 ? 998 : at == 1000 ? 39000 : 1000000))
		sleep 0.05
	done
}
slowly in.log | cmp - in.log || exit 4
tlparse --json - >out 2>err < <(slowly in.log)
is "a slow pipe: the same facts" "$(facts out)" "$(cat want)"
tlparse --json - >out 2>err < <(slowly in.log.gz)
is "a slow pipe of gzip: the same facts" "$(facts out)" "$(cat want)"
mkfifo fifo
cat in.log >fifo &
run tlparse --json fifo
is "a named pipe" "$status $(facts out)" "0 $(cat want)"
wait
for mode in "" "-o d"; do
	# shellcheck disable=SC2086
	run tlparse $mode - < <(slowly in.log)
	is "standard input, '$mode': exit 0" "$status" 0
done
cmp -s d/raw.log in.log
is "standard input: raw.log equals the input" $? 0
exits "closed standard input" 3 tlparse --json - <&-
exits "empty standard input" 3 tlparse --json - </dev/null
is "... one line" "$(wc -l <err)" 1
exits "standard input that is a directory" 3 tlparse --json - <.

# ---- directories ----
mkdir logs
cp "$DATA/simple.log" logs/dedicated_log_torch_trace_rank_0_aaaa.log
gzip -c "$DATA/recompiles.log" >logs/dedicated_log_torch_trace_rank_10_bbbb.log.gz
cp "$DATA/graph_breaks.log" logs/mine
cp "$DATA/dynamic.log" logs/dedicated_log_torch_trace_rank_2_cccc.log
echo "notes" >logs/README
head -c 1000 /dev/urandom >logs/binary
cp "$log" logs/.hidden.log
: >logs/empty.log
mkdir logs/sub
cp "$log" logs/sub/other.log
mkfifo logs/fifo
ln -s nowhere logs/dangling
chmod 0 logs/empty.log
run timeout 20 tlparse --json logs
is "a directory: its traces, in order" "$status $(count '[.inputs[].path|split("/")[-1]|split("_")[-1]]|join(" ")')" "0 aaaa.log cccc.log bbbb.log.gz mine"
is "a directory: other files cause no warning" "$(cat err)" ""
run tlparse --json logs/
is "a directory with a slash" "$status $(count '.logs|length')" "0 4"
touch -d '2001-01-01' logs/* 2>/dev/null
touch -h logs/dangling
touch -d '2021-01-01' logs/dedicated_log_torch_trace_rank_2_cccc.log
run tlparse --json --latest logs
is "--latest: the last one written" "$status $(count '[.inputs[].path|split("/")[-1]]|join(" ")')" "0 dedicated_log_torch_trace_rank_2_cccc.log"
exits "--latest needs a directory" 2 tlparse --json --latest in.log
mkdir none
exits "an empty directory: nothing to read" 3 tlparse --json none
is "... one line" "$(wc -l <err)" 1
echo "text" >none/file.txt
exits "a directory without traces" 3 tlparse --json none
like "... names it" "$(cat err)" "none"
run tlparse logs -o many
is "a directory as a directory: exit 0" "$status" 0
is "... one directory for each log" "$(find many -mindepth 2 -maxdepth 2 -name raw.log -printf . )" "...."
is "... all in the index" "$(grep -c 'href="[^"]*/index.html"' many/index.html | grep -c '[1-9]')" 1
run tlparse logs
is "a directory as a page" "$status $(grep -c 'id="model"' out)" "0 1"
if [ ${#plain[@]} -gt 0 ]; then
	mkdir locked && cp in.log locked && chmod 0 locked
	exits "an unreadable directory" 3 "${plain[@]}" tlparse --json locked
	like "... says so in one line" "$(wc -l <err) $(cat err)" "^1 .*locked.*[Pp]ermission denied"
	exits "an unreadable file" 3 "${plain[@]}" tlparse --json secret
	like "... says so in one line" "$(wc -l <err) $(cat err)" "^1 .*secret.*[Pp]ermission denied"
	chmod 700 locked && cp "$log" locked/second.log && chmod 0 locked/second.log && mv locked/second.log locked/dedicated_log_torch_trace_x.log
	run "${plain[@]}" tlparse --json locked
	is "an unreadable log among others: the rest, and a warning" "$status $(count '.logs|length') $(wc -l <err)" "0 1 1"
else
	skip "files that may not be read" "nothing takes root's rights away"
fi

# ---- several ----
run tlparse --json in.log "$DATA/recompiles.log" in.log
is "several operands, in order, even repeated" "$(count '[.inputs[].path|split("/")[-1]]|join(" ")')" "in.log recompiles.log in.log"
run tlparse in.log "$DATA/recompiles.log" in.log -o three
is "several operands: one directory each" "$status $(find three -name raw.log | wc -l)" "0 3"
run tlparse --json in.log missing.log
is "one of two is missing: the other, one warning" "$status $(count '.logs|length') $(wc -l <err)" "0 1 1"
run tlparse --json missing.log in.log none
is "a missing file and a directory without traces: the rest, two warnings" "$status $(count '.logs|length') $(wc -l <err)" "0 1 2"
run tlparse missing.log in.log
is "... as a page" "$status $(grep -c 'id="model"' out) $(wc -l <err)" "0 1 1"
run tlparse missing.log in.log "$broken/empty.log" "$DATA/recompiles.log" -o some
is "... as a directory: exit 0, a warning each" "$status $(wc -l <err)" "0 2"
is "... no directory for unreadable logs" "$(cd some && echo */)" "assets/ in/ recompiles/"
is "... unreadable logs are not in the index" "$(grep -c missing some/index.html)" 0
for mode in --json --html "-o bad"; do
	# shellcheck disable=SC2086
	exits "all missing, $mode: 3" 3 tlparse $mode missing.log missing2.log
	# shellcheck disable=SC2086
	exits "missing, $mode: 3" 3 tlparse $mode missing.log
	like "missing, $mode: one line" "$(wc -l <err) $(cat err)" "^1 tlparse: .*'missing.log': No such file"
	is "missing, $mode: no output" "$(wc -c <out)" 0
	# shellcheck disable=SC2086
	exits "not a trace, $mode: 3" 3 tlparse $mode "$ROOT/README.md" "$ROOT/Makefile"
	# shellcheck disable=SC2086
	exits "an empty file, $mode: 3" 3 tlparse $mode "$broken/empty.log"
	like "an empty file, $mode: one line" "$(wc -l <err) $(cat err)" "^1 tlparse: .*empty"
done
ok "nothing readable: no directory is left" test ! -e bad
is "nothing readable: no temporary file is left" "$(find . -name '*.tmp.*')" ""
exits "--strict: an unreadable log is a finding" 1 tlparse --json --strict in.log missing.log

# ---- damage ----
for mode in --json --html "-o partial"; do
	# shellcheck disable=SC2086
	run tlparse $mode "$broken/truncated_payload.log"
	is "partly read, $mode: exit 0 and one warning" "$status $(wc -l <err)" "0 1"
	like "... that names file and line" "$(cat err)" "tlparse: .*truncated_payload.log: line [0-9]+: "
	rm -rf partial
	# shellcheck disable=SC2086
	run tlparse $mode --strict "$broken/truncated_payload.log"
	is "partly read, $mode --strict: exit 1" "$status $(wc -l <err)" "1 1"
	rm -rf partial
	# shellcheck disable=SC2086
	exits "completely read, $mode --strict: exit 0" 0 tlparse $mode --strict in.log
	rm -rf partial
done
exits "-q keeps the warning" 0 tlparse -q --json "$broken/truncated_payload.log"
is "-q keeps the warning: one line" "$(wc -l <err)" 1
exits "--strict-compile-id: 0" 0 tlparse --json --strict-compile-id in.log
exits "--strict-compile-id: 1 for invalid ids" 1 tlparse --json --strict-compile-id "$broken/frame_ids.log"
head -c -20 in.log.gz >cut.gz
run tlparse --json cut.gz
is "a truncated .gz: partly read" "$status $(wc -l <err)" "0 1"
is "... damage 'input'" "$(count '[.damage[].kind]|index("input") != null')" true
like "... most records are read" "$(count .summary.records)" "^1[0-9][0-9]$"
head -c 5 in.log.gz >stub.gz
exits "a .gz without data: 3" 3 tlparse --json stub.gz
{ head -c 3000 in.log.gz; head -c 500 /dev/urandom; tail -c +3500 in.log.gz; } >bent.gz
run timeout 20 tlparse --json bent.gz
is "a corrupt .gz: partly read" "$status $(wc -l <err) $(count '[.damage[].kind]|index("input") != null')" "0 1 true"
{ cat in.log.gz; echo "garbage"; } >junk.gz
run tlparse --json junk.gz
is "trailing garbage after a .gz: all records are read" "$status $(count .summary.records)" "0 139"
done_testing
