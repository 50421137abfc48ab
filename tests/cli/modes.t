#!/bin/bash
# Which report is written, and where: the first rule that fits (tlparse.1).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
log=$DATA/simple.log
cp "$log" in.log

is_page() { # is_page WHAT FILE : a single file, whole
	is "$1" "$(head -c 15 "$2" | tr '[:upper:]' '[:lower:]') $(grep -c 'pt2.loaded()' "$2") $(tail -n 3 "$2" | grep -c '</html>')" "<!doctype html> 1 1"
}
is_dir() { # is_dir WHAT DIR : a directory report, whole
	if [ -s "$2/index.html" ] && [ -s "$2/raw.log" ] && [ -s "$2/raw.jsonl" ] && [ -s "$2/compile_directory.json" ]; then
		pass "$1"
	else
		fail "$1" "in $2: $(ls -A "$2" 2>&1)" "here: $(ls -A)"
	fi
}
is_document() { is "$1" "$(jq -r '"\(.tool) \(.schema)"' "$2" 2>&1)" "tlparse 2"; }

# ---- standard output is no terminal ----
run tlparse in.log
is "no option: exit 0" "$status" 0
is_page "no option: one HTML file on standard output" out
is "no option: standard error stays empty" "$(cat err)" ""
is "no option: no other file is written" "$(ls)" "$(printf '%s\n' err in.log out)"

run tlparse --json in.log
is "--json: exit 0" "$status" 0
is_document "--json: the document on standard output" out
is "--json: one line" "$(wc -l <out)" 1
run tlparse --json -o doc.json in.log
is_document "--json -o: -o is a file" doc.json
is "--json -o: standard output stays empty" "$(cat out)" ""
is "--json -o: no other file is written" "$(ls -d doc.json*)" doc.json
run tlparse --json --html=x.html --strict in.log
is_document "--json comes before --html and the directory's options" out
ok "--json: no other report" test ! -e x.html -a ! -e tl_out

run tlparse in.log -o dir
is "-o: exit 0" "$status" 0
is_dir "-o: a directory" dir
is "-o: standard output stays empty" "$(cat out)" ""
run tlparse in.log -o deep/er/dir/
is_dir "-o: folders above are made, a last slash is nothing" deep/er/dir
run tlparse --html=x.html -o dir2 in.log
is_dir "-o comes before --html" dir2
ok "-o with --html: no file" test ! -e x.html

for o in --overwrite --no-browser --strict --strict-compile-id -p --plain-text --custom-header-html=hello "--custom-header-html hello"; do
	rm -rf tl_out
	# shellcheck disable=SC2086 # the last one is two words
	run tlparse in.log $o
	is_dir "$o alone: tl_out" tl_out
done
ok "--custom-header-html is in the index" grep -q hello tl_out/index.html
rm -rf tl_out
for o in -e -i --all-ranks-html; do
	run tlparse -h
	grep -e " $o" out | grep -q "not in this version" || continue
	run tlparse in.log "$o"
	is "$o is not supported yet: a message, no report" "$status $(wc -l <err) $(test -e tl_out && echo there)" "2 1 "
done

run tlparse --html in.log
is_page "--html: standard output" out
run tlparse --html=- in.log
is_page "--html=-: standard output" out
ok "--html=-: no file named -" test ! -e ./-
run tlparse --html=page.html in.log
is_page "--html=FILE" page.html
is "--html=FILE: standard output stays empty" "$(cat out)" ""
run tlparse --html=page.html in.log
is_page "--html=FILE replaces a file" page.html
run tlparse --html=strict.html --strict in.log
is_page "--html=FILE with --strict is still a file" strict.html
ok "--html with --strict: no tl_out" test ! -e tl_out

# ---- a terminal ----
terminal() { # terminal COMMAND : its output in out, its status
	script -q -e -c "$1" /dev/null >out 2>err </dev/null
	status=$?
}
mkdir bin
printf '#!/bin/sh\necho "$@" >>%s/opened\n' "$TMP" >bin/xdg-open
chmod +x bin/xdg-open
PATH=$TMP/bin:$PATH
unset DISPLAY WAYLAND_DISPLAY
terminal "tlparse in.log"
is "terminal: exit 0" "$status" 0
is_dir "terminal: tl_out" tl_out
like "terminal: the summary is printed" "$(cat out)" "torch 2\.13\.0.*, 1 compiles"
like "terminal: the message says where the report is" "$(cat out)" "report: tl_out"
unlike "terminal: no HTML" "$(cat out)" "<html"
ok "terminal: no browser without a display" test ! -e opened
rm -rf tl_out
terminal "tlparse -q in.log"
is "terminal, -q: nothing is printed" "$(cat out)" ""
rm -rf tl_out
DISPLAY=:0 terminal "tlparse in.log"
is "terminal: a browser is started with a display" "$(cat opened 2>&1)" tl_out/index.html
rm -rf tl_out opened
DISPLAY=:0 terminal "tlparse --no-browser in.log"
ok "--no-browser" test ! -e opened -a -e tl_out/index.html
rm -rf tl_out
DISPLAY=:0 terminal "tlparse --html=page2.html in.log"
ok "terminal, --html=FILE: no browser" test ! -e opened
is_page "terminal, --html=FILE: the file" page2.html
DISPLAY=:0 run tlparse in.log -o piped
ok "no terminal: no browser" test ! -e opened
terminal "tlparse in.log 2>/dev/null"
ok "standard error is not a terminal: no browser" test ! -e opened -a -e tl_out/index.html
terminal "tlparse in.log"
is "terminal: an earlier tl_out is not replaced" "$status" 2
like "terminal: ... and the message suggests --overwrite" "$(cat out)" "--overwrite"

# ---- options ----
exits "a missing operand is a usage error" 2 tlparse
is "a missing operand: one line and a hint" "$(wc -l <err) $(tail -n 1 err)" "2 Try 'tlparse -h'"
exits "an unknown option is a usage error" 2 tlparse --nope in.log
is "an unknown option: one line and a hint" "$(wc -l <err) $(tail -n 1 err)" "2 Try 'tlparse -h'"
ok "an unknown option: nothing is printed" test ! -s out
exits "an option without its value is a usage error" 2 tlparse in.log -o
exits "a flag with a value is a usage error" 2 tlparse --json=yes in.log
exits "-h" 0 tlparse -h
like "-h goes to standard output" "$(cat out)" "--html"
exits "-V" 0 tlparse -V
like "-V: name and version" "$(cat out)" "^tlparse.*[0-9]+\.[0-9]+"
exits "-- ends the options" 3 tlparse -- --json
exits "an empty -o is a usage error" 2 tlparse in.log -o ""

# ---- -q, -v ----
run tlparse -v --json in.log
like "-v prints the summary to standard error" "$(cat err)" "1 compiles, 0 graph breaks"
run tlparse -v --json "$ROOT/tests/data/broken/unknown_keys.log"
like "-v names the unknown keys" "$(cat err)" "unknown key 'from_the_future'"
run tlparse -q -v --json in.log
is "-q overrides -v" "$(cat err)" ""
done_testing
