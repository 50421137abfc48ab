#!/bin/bash
# Reports appear whole or not at all; nothing is replaced or removed that is not an earlier report.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cp "$DATA/simple.log" in.log
mkdir box && cd box || exit 4
log=../in.log
if [ "$(id -u)" != 0 ]; then
	plain=(env)
else # root without the right to write anywhere
	plain=(setpriv --bounding-set "-dac_override,-dac_read_search" --inh-caps "-dac_override,-dac_read_search")
fi
run() { # the sandbox holds no files of our own
	"$@" >../out 2>../err
	status=$?
}
listing() { find . -mindepth 1 -printf '%P %s\n' | sort; }
one_line() { # one_line WHAT STATUS REGEX : it failed so, said so in one line, left nothing new
	like "$1: status and one line" "$status $(wc -l <../err) $(cat ../err)" "^$2 1 tlparse: $3"
	same "$1: nothing is left"
}
same() { # same WHAT : the sandbox is as before
	is "$1" "$(diff <(echo "$before") <(listing))" ""
}

# ---- overwriting ----
run tlparse $log -o rep
before=$(listing)
run tlparse $log -o rep
one_line "a report is not replaced unasked" 2 ".*'rep' exists; --overwrite"
touch rep/mine
before=$(listing)
run tlparse $log -o rep --overwrite
one_line "a report with a file of somebody else is not replaced" 2 ".*'rep': it is not a report of this tool, or holds other files"
rm rep/mine
before=$(listing)
touch rep/-_0_0_0/old
run tlparse $log -o rep --overwrite
is "--overwrite: exit 0" "$status $(cat ../err)" "0 "
is "--overwrite: the new report only" "$(listing)" "$before"
run tlparse ../missing.log -o rep --overwrite
one_line "--overwrite with a missing log: the old report stays" 3 ".*missing.log"
run tlparse --overwrite ../in.log ../in.log -o rep
is "--overwrite with several logs" "$status $(test -e rep/in/raw.log && test -e rep/in_1/raw.log && echo both)" "0 both"
run tlparse --overwrite $log -o rep
is "--overwrite of a report of several logs" "$status $(listing)" "0 $before"
ln -s rep link
before=$(listing)
run tlparse $log -o link
one_line "a link to a report is not replaced unasked" 2 ".*'link' exists"
rm link
mkdir empty
run tlparse $log -o empty
is "an empty directory is used" "$status $(test -s empty/index.html && echo yes)" "0 yes"
rm -rf empty

mkdir mine && echo precious >mine/file
before=$(listing)
run tlparse $log -o mine --overwrite
one_line "a folder that is no report is not replaced" 2 "will not overwrite 'mine'"
touch mine/index.html
before=$(listing)
run tlparse $log -o mine --overwrite
one_line "a folder with an index.html of its own is not replaced" 2 "will not overwrite 'mine'"
run tlparse $log -o mine/file
one_line "-o of a file" 2 ".*'mine/file': .*file"
run tlparse $log -o mine/file/x
one_line "-o below a file" "[24]" ".*mine/file/x"
run tlparse --json $log -o mine
one_line "--json -o of a folder" 2 ".*'mine'.*directory"
run tlparse --html=mine $log
one_line "--html= of a folder" 2 ".*'mine'.*directory"
run tlparse --html= $log
is "--html= without a name" "$status" 0

run tlparse $log -o here
cd here && before=$(find . | sort)
"$BUILD/bin/tlparse" ../../in.log -o . --overwrite >../../out 2>../../err
is "the working directory is not replaced" "$? $(wc -l <../../err) $(find . | sort)" "2 1 $before"
mkdir sub && cd sub || exit 4
"$BUILD/bin/tlparse" ../../../in.log -o .. --overwrite >../../../out 2>../../../err
is "a parent of the working directory is not replaced" "$? $(wc -l <../../../err)" "2 1"
cd ../.. && mkdir nothing && cd nothing || exit 4
"$BUILD/bin/tlparse" ../../in.log -o . >../../out 2>../../err
is "an empty working directory is not replaced" "$? $(wc -l <../../err) $(ls)" "2 1 "
cd .. && rm -rf nothing here

run tlparse $log -o holds
cp $log holds/payloads/new.log
before=$(listing)
run tlparse holds/payloads/new.log -o holds --overwrite
one_line "the folder that holds the input is not replaced" 2 "will not overwrite 'holds': it contains the input"
(cd holds && exec "$BUILD/bin/tlparse" raw.log -o ../holds --overwrite) >../out 2>../err
is "... by another path, either" "$? $(wc -l <../err) $(listing)" "2 1 $before"
rm -rf holds
cp $log own.log
ln -s own.log own.link
before=$(listing)
run tlparse --json own.log -o own.log
one_line "--json -o never replaces the input" 2 "will not overwrite 'own.log'"
run tlparse --html=own.link own.log
one_line "--html= never replaces the input" 2 "will not overwrite 'own.link'"
rm own.log own.link

# ---- files that are none ----
before=$(listing)
run tlparse --json $log -o /dev/stdout
is "-o /dev/stdout is standard output" "$status $(jq -r .tool ../out)" "0 tlparse"
run tlparse --html=/dev/stdout $log
is "--html=/dev/stdout is standard output" "$status $(grep -c 'pt2.loaded()' ../out)" "0 1"
mkfifo pipe
cat pipe >../got &
run tlparse --json $log -o pipe
wait
is "a named pipe is written to" "$status $(jq -r .tool ../got) $(stat -c %F pipe)" "0 tlparse fifo"
rm pipe
echo old >target && ln -s target alias
run tlparse --json $log -o alias
is "a symbolic link is followed" "$status $(readlink alias) $(jq -r .tool target)" "0 target tlparse"
rm target alias
umask 027
run tlparse --json $log -o mode.json
is "files have the mode of umask" "$(stat -c %a mode.json)" 640
run tlparse $log -o mode.dir
is "directories have it, too" "$(stat -c %a mode.dir) $(stat -c %a mode.dir/index.html)" "750 640"
rm -r mode.json mode.dir
umask 022

# ---- places where nothing can be written ----
before=$(listing)
run tlparse --html=no/such/page.html $log
one_line "--html= into a missing folder" 4 "cannot write 'no/such/page.html': No such file"
run tlparse --json -o no/such/doc.json $log
one_line "--json -o into a missing folder" 4 "cannot write 'no/such/doc.json': No such file"
for o in "" --html --json; do
	"$BUILD/bin/tlparse" $o $log >/dev/full 2>../err
	status=$?
	one_line "standard output is full, '$o'" 4 "cannot write 'standard output': No space left"
	"$BUILD/bin/tlparse" $o $log >&- 2>../err
	status=$?
	one_line "standard output is closed, '$o'" 4 "cannot write 'standard output': Bad file"
done
while read -r file log_of o; do
	# shellcheck disable=SC2086
	(ulimit -f 8 && exec "$BUILD/bin/tlparse" $o "$log_of") >../out 2>../err
	status=$?
	one_line "files may not be large, $o" 4 "cannot write '$file': File too large"
done <<END
dir/raw.log $DATA/models.log -o dir
/.*/.temporary.file. $DATA/models.log --html=page.html
/.*/.temporary.file. $log --html=page.html
doc.json $DATA/models.log --json -o doc.json
page.html $log --diff --html=page.html $log
page.html $log --diff -o page.html $log
END
TMPDIR=$TMP/missing run tlparse --html $log
one_line "TMPDIR is unusable, --html" 4 "cannot create a temporary file in '$TMP/missing'"
TMPDIR=$TMP/missing run tlparse --html=page.html $log
one_line "TMPDIR is unusable, --html=" 4 "cannot create a temporary file in '$TMP/missing'"
TMPDIR=$TMP/missing run tlparse -o dir $log
one_line "TMPDIR is unusable, -o" 4 "cannot create a temporary file in '$TMP/missing'"
TMPDIR=$TMP/missing run tlparse --json $log
is "an unusable TMPDIR does not matter to --json" "$status $(cat ../err)" "0 "
if mkdir locked && chmod 555 locked && "${plain[@]}" true 2>/dev/null && ! "${plain[@]}" touch locked/x 2>/dev/null; then
	cd locked || exit 4
	for o in "-o dir" "-o a/b/c" "--html=page.html" "--json -o doc.json" "-p"; do
		# shellcheck disable=SC2086
		"${plain[@]}" "$BUILD/bin/tlparse" $o ../../in.log >../../out 2>../../err
		is "an unwritable directory, $o: status and lines" "$? $(wc -l <../../err) $(ls -A)" "4 1 "
	done
	"${plain[@]}" "$BUILD/bin/tlparse" ../../in.log >../../out 2>../../err
	is "an unwritable directory, standard output: fine" "$? $(grep -c 'pt2.loaded()' ../../out)" "0 1"
	cd .. || exit 4
else
	skip "an unwritable folder" "nothing takes root's rights away"
fi
rm -rf locked

# A file system of 600 KB, in a mount namespace of its own.
small='mkdir small && mount -t tmpfs -o size=600k none small && cd small'
if unshare -m sh -c "$small" 2>../err || unshare -rm sh -c "rmdir small; $small" 2>../err; then
	ns=(unshare -m)
	rmdir small
	unshare -m true 2>/dev/null || ns=(unshare -rm)
	for o in "-o dir" "--html=page.html" "--json -o doc.json" "-o two ../../in.log"; do
		[ "$o" = "--json -o doc.json" ] && fill='head -c 598000 /dev/zero >filler; ' || fill=
		"${ns[@]}" sh -c "$small && $fill '$BUILD/bin/tlparse' $o '$DATA/models.log' 2>../../err; echo \$? >../../status; rm -f filler; find . -mindepth 1 >../../left" >../out
		rmdir small
		like "disk full, $o: status and one line" "$(cat ../status) $(wc -l <../err) $(cat ../err)" "^4 1 tlparse: cannot .*: No space left"
		is "disk full, $o: nothing is left" "$(cat ../left)" ""
	done
else
	skip "disk full" "no mount namespace"
	rm -rf small
fi
same "after all of this: nothing is left"

# ---- a reader that has enough ----
for o in "" --json; do
	"$BUILD/bin/tlparse" $o "$DATA/models.log" > >(head -c 10 >/dev/null) 2>../err
	is "'$o' | head -c 10: no message, exit 0" "$? $(cat ../err)" "0 "
done
done_testing
