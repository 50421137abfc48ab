#!/bin/bash
# Every tool with the n-th write failing for want of space, and with short and interrupted calls (tests/lib/inject.c). A tool says so (4,
# one line of it) and leaves nothing, or what it writes is what it is without. A sample of n; PT2_LONG=1 (make check-long): all.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
so=$BUILD/tests-lib/inject.so
grep -qa __asan_init "$BUILD/bin/tlparse" && skip_all "a sanitizer has its own preload"
[ -e "$so" ] || skip_all "inject.so is not built (make tests)"
export TMPDIR=$TMP/tmp OMP_NUM_THREADS=1 SOURCE_DATE_EPOCH=0
mkdir tmp box
cp "$DATA/simple.log" in.log
P=$DATA/aoti
sample="1 2 3 5 8"
[ -n "${PT2_LONG-}" ] && sample=$(seq 400)
# once SETTING COMMAND... : in box/, which is removed afterwards; status, out and the results (all)
once() {
	local setting=$1
	shift
	(cd box && exec timeout 60 env LD_PRELOAD="$so" "$setting" "$@") >out 2>err </dev/null
	status=$?
	all=$(cat out; cd box && find . -type f | sort | xargs -r cat | tr -d '\0')
	left=$(find box tmp -mindepth 1)
	rm -rf box tmp
	mkdir box tmp
}
while read -r line; do
	wrong='' same=0
	# shellcheck disable=SC2086
	once INJECT_NONE=1 $line
	want=$all was=$status
	for how in INJECT_WRITE=SHORT INJECT_READ=SHORT INJECT_READ=EINTR; do
		# shellcheck disable=SC2086
		once $how $line
		[ "$status $all" = "$was $want" ] || wrong+=" [$how: $status $(head -1 err)]"
	done
	for n in $sample; do
		# shellcheck disable=SC2086
		once "INJECT_WRITE=#$n" $line
		if [ "$status" = "$was" ] && [ "$all" = "$want" ]; then
			same=$((same + 1))
			[ $same -ge 12 ] && break # there is no n-th write any more
			continue
		fi
		same=0
		{ [ "$status" = 4 ] && grep -q "No space left" err && [ -z "$left" ]; } || wrong+=" [write $n: $status $(head -1 err) $left]"
	done
	is "$line" "${wrong:0:600}" ""
done <<EOS
tlparse --json ../in.log
tlparse --html=page.html ../in.log
fxexplain --json ../in.log
pt2-run -q -o out.npz $P/mlp.pt2 f32[3,8]
aoti-checkinputs --json $P/mlp.pt2
aoti-printer --level 3 $P/mlp.pt2 f32[3,8]
aoti-nanassert --json $P/mlp.pt2 f32[3,8]
EOS

# ---- a folder: what could not be written is named with the folder in front (or it is a temporary file: TMPDIR) ----
mkdir many
cp in.log many/dedicated_log_rank_0.log && cp in.log many/dedicated_log_rank_1.log
while read -r line; do
	wrong='' same=0 seen=''
	# shellcheck disable=SC2086
	once INJECT_NONE=1 $line
	was=$status want=$left # what is in the folder may hold times
	for n in $sample 13 21 34; do
		# shellcheck disable=SC2086
		once "INJECT_WRITE=#$n" $line
		[ "$status $left" = "$was $want" ] && { same=$((same + 1)); [ $same -ge 12 ] && break; continue; }
		same=0
		[ "$status" = 0 ] && grep -q "a tensor could not be saved: " err && continue
		[[ "$status $(cat err)" =~ ^4\ [a-z-]+:\ .*(\'made/[^\']+\'|TMPDIR) ]] || wrong+=" [write $n: $status $(head -1 err)]"
		seen+=$(grep -o "'made/[^']*'" err)
	done
	is "$line: the folder stands in front" "${wrong:0:600}" ""
	like "... of a file in it" "$seen" "'made/"
done <<EOS
tlparse -o made ../in.log
tlparse -p -o made ../in.log
tlparse -e -o made $DATA/draft_export.log
tlparse -i -o made $DATA/provenance_jit.log
tlparse -o made ../in.log $DATA/graph_breaks.log
tlparse --all-ranks-html -o made ../many
aoti-printer -i -o made --format=pt $P/mlp.pt2 f32[3,8]
EOS
done_testing
