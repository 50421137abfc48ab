#!/bin/bash
# Calls that fail on purpose (tests/lib/inject.c): reads, writes, closes, memory.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
so=$BUILD/tests-lib/inject.so
grep -qa __asan_init "$BUILD/bin/tlparse" && skip_all "a sanitizer has its own preload"
[ -e "$so" ] || skip_all "inject.so is not built (make tests)"
cp "$DATA/simple.log" in.log
gzip -c in.log >in.log.gz
cp "$DATA/graph_breaks.log" more.log
mkdir box

inject() { # inject VARIABLE=VALUE... -- ARGUMENT... : in box/
	local set=()
	while [ "$1" != -- ]; do set+=("$1"); shift; done
	shift
	(cd box && exec timeout 60 env LD_PRELOAD="$so" "${set[@]}" "$BUILD/bin/tlparse" "$@") >out 2>err
	status=$?
}
empty() { # empty WHAT : nothing is left in the box
	is "$1" "$(ls -A box)" ""
	rm -rf box
	mkdir box
}
records() { jq -c '[.summary.records,[.damage[].kind]]' out 2>&1; }

# ---- the disk fails under the log ----
inject INJECT_FILE=in.log INJECT_READ=EIO:0 -- --json ../in.log
is "no byte is readable: 3, one line" "$status $(wc -l <err) $(grep -c 'Input/output error' err)" "3 1 1"
for mode in --html "-o dir"; do
	# shellcheck disable=SC2086
	inject INJECT_FILE=in.log INJECT_READ=EIO:0 -- $mode ../in.log
	is "no byte is readable, $mode: 3" "$status $(wc -c <out)" "3 0"
	empty "... nothing is left"
done
inject INJECT_FILE=in.log INJECT_READ=EIO:64096 -- --json ../in.log
head -c 60000 in.log >head.log # the first 4096 are read before, to see what it is
is "an error after 60000 bytes: records before it, and 3" "$status $(wc -l <err) $(jq .summary.records out)" "3 1 $(tlparse --json head.log 2>/dev/null | jq .summary.records)"
is "... damage 'input' at its line" "$(jq -c '[.damage[]|select(.kind == "input")|.line]' out)" "[$(($(wc -l <head.log) + 1))]"
inject INJECT_FILE=in.log INJECT_READ=EIO:64096 -- --json --strict ../in.log
is "... --strict: 1" "$status" 1
inject INJECT_FILE=in.log INJECT_READ=EIO:8000 -- --json ../in.log.gz
is "... in a .gz" "$status $(wc -l <err) $(jq -c '[.damage[].kind]|index("input") != null' out)" "3 1 true"
inject INJECT_READ=EIO:60000 -- --json - <in.log
is "... on standard input" "$status $(jq -c '[.damage[].kind]|index("input") != null' out)" "3 true"
inject INJECT_FILE=in.log INJECT_READ=EIO:64096 -- -o dir ../in.log
is "... as a directory: records before it" "$status $(cmp box/dir/raw.log head.log 2>&1)" "3 "
rm -rf box/dir
inject INJECT_FILE=in.log INJECT_READ=EIO:0 -- --json ../in.log ../more.log
is "one of two logs is unreadable: the other, a warning, and 3" "$status $(wc -l <err) $(records)" "3 1 [430,[]]"

# ---- short and interrupted calls change nothing ----
for file in in.log in.log.gz; do
	(cd box && tlparse --json ../$file) >want.json
	(cd box && tlparse --html ../$file) >want.html
	(cd box && SOURCE_DATE_EPOCH=0 tlparse -o ../want.dir ../$file)
	for how in "INJECT_READ=SHORT INJECT_FILE=in.log" "INJECT_READ=EINTR INJECT_FILE=in.log" "INJECT_WRITE=SHORT INJECT_FILE=in.log"; do
		# shellcheck disable=SC2086
		inject $how -- --json ../$file
		is "$file, $how, --json: equal" "$status $(cmp out want.json 2>&1)" "0 "
		# shellcheck disable=SC2086
		inject $how -- --html ../$file
		is "$file, $how, --html: equal" "$status $(cmp out want.html 2>&1)" "0 "
		# shellcheck disable=SC2086
		inject $how SOURCE_DATE_EPOCH=0 -- -o dir ../$file
		is "$file, $how, -o: equal" "$status $(diff -r box/dir want.dir 2>&1 | head -3)" "0 "
		rm -rf box/dir
	done
	rm -rf want.dir
done

# ---- no space left, at any point ----
for mode in "--json -o doc.json" "--html=page.html" "-o dir" "-p -o dir" "-o dir ../more.log"; do
	wrong=
	for n in 0 1 100 1000 3000; do
		# shellcheck disable=SC2086
		inject INJECT_WRITE=$n -- $mode ../in.log
		[[ "$status $(wc -l <err) $(cat err)" =~ ^"4 1 tlparse: cannot write '".*"': No space left" ]] || wrong+=" $n: $status $(head -2 err);"
		[ -z "$(ls -A box)" ] || wrong+=" $n: left $(ls box);"
		rm -rf box && mkdir box
	done
	is "no space left, $mode: 4, one line, no file" "$wrong" ""
done
for mode in --json --html; do
	inject INJECT_WRITE=3000 -- $mode ../in.log
	is "no space left, $mode to standard output: 4, one line" "$status $(wc -l <err) $(grep -c 'No space left' err)" "4 1 1"
done

# ---- a disk that says so only when the file is closed ----
for mode in "--json -o doc.json" "--html=page.html" "-o dir"; do
	# shellcheck disable=SC2086
	inject INJECT_CLOSE=1 -- $mode ../in.log
	is "close fails, $mode: 4, one line" "$status $(wc -l <err) $(grep -c 'No space left' err)" "4 1 1"
	empty "... nothing is left"
done
for n in 5 20; do
	inject INJECT_CLOSE=$n -- -o dir ../in.log
	is "close $n fails, -o: 4, one line" "$status $(wc -l <err)" "4 1"
	empty "... nothing is left"
done
inject INJECT_CLOSE=1 -- --json ../in.log
is "close of standard output fails: 4, one line" "$status $(wc -l <err) $(grep -c 'No space left' err)" "4 1 1"

# ---- no memory, at any point ----
for mode in --json --html "-o dir"; do
	wrong=
	dead=0
	for n in 1 2 3 5 8 13 21 34 55 89 144 233 377 610 987 1597; do
		# shellcheck disable=SC2086
		inject INJECT_MALLOC=$n -- $mode ../more.log
		case $status in
		0) ;;
		4)
			dead=$((dead + 1))
			grep -qE '^(tlparse: )?(out of memory|cannot .*)$' err || wrong+=" $n: $(head -2 err);"
			[ "$(wc -l <err)" = 1 ] || wrong+=" $n: $(wc -l <err) lines;"
			[ ! -e box/dir ] || wrong+=" $n: a report;"
			;;
		*) wrong+=" $n: status $status;" ;;
		esac
		rm -rf box && mkdir box
	done
	is "out of memory, $mode: 4 and a message" "$wrong" ""
	ok "... at $dead points" test $dead -gt 5
done
inject INJECT_MALLOC=40 -- --json ../more.log
is "out of memory: the message" "$status $(cat err)" "4 out of memory"

# ---- a package that is cut while it is looked at ----
cut() { # cut TOOL ARGUMENT... : with a package that is cut as soon as it is mapped; what is said
	xz -dc "$ROOT/tests/data/aoti/mlp.pt2.xz" >cut.pt2
	LD_PRELOAD=$so INJECT_FILE=cut.pt2 INJECT_CUT=5000 "$@" >out 2>err
	echo "$? $(wc -l <err) $(grep -c "cut.pt2' was truncated" err) $(find . -name '*.tmp.*' | wc -l)"
}
for line in "aoti-checkinputs cut.pt2" "aoti-checkinputs --doctor cut.pt2" "aoti-checkinputs --probe cut.pt2" "aoti-printer cut.pt2 f32[3,8]" \
	"aoti-nanassert cut.pt2 f32[3,8]" "pt2-run -o out.npz cut.pt2 f32[3,8]" "fxexplain kernel cpp_fused_relu_0 cut.pt2"; do
	# shellcheck disable=SC2086
	is "a file truncated while it is read: ${line%% *}${line#*cut.pt2}" "$(cut $line)" "3 1 1 0"
done
done_testing
