#!/bin/bash
# Private folders (base/tool/tempfolder.h): what a killed tool left goes with the next, and folders that are not as they should be: read-only,
# noexec, full, missing. Every tool works there or says which folder it needs and which variable names another.
# shellcheck source=tests/lib/tap.sh
export TMPDIR=/tmp # not in /dev/shm, which is taken away here
. "$(dirname "$0")/../lib/tap.sh"
P=$DATA/aoti
export TMPDIR=$TMP/tmp OMP_NUM_THREADS=1
mkdir tmp left
mlp=("$P/mlp.pt2" 'f32[3,8]')
{
	printf 'import torch\n\nclass Repro(torch.nn.Module):\n    def forward(self, relu: "f32[8, 16]"):\n'
	for _ in $(seq 20); do echo '        relu = torch.ops.aten.relu.default(relu)'; done
	echo '        return (relu,)'
} >graph.py

# ---- kill -9 ----
# kill_in FOLDER-PREFIX COMMAND... : killed as soon as it has a folder of that name, which is kept from the next one's eyes, and its broker
# with it, which would remove it. A command that was forked and not yet executed holds the lock for a moment more than the tool does: flock
# waits for it.
kill_in() {
	local prefix=$1 pid mark
	shift
	"$@" >/dev/null 2>&1 &
	pid=$!
	for _ in $(seq 500); do
		mark=$(echo "tmp/$prefix."??????/.pt2utils)
		[ -e "$mark" ] && break
		sleep 0.02
	done
	kill -STOP $pid
	kill -KILL $(pgrep -P $pid) $pid
	wait $pid 2>/dev/null
	flock "$mark" true
	mv "tmp/$prefix."* left/
}
kill_in pt2run pt2-run -n 1000000 "${mlp[@]}" -o out.npz
kill_in pt2live aoti-checkinputs -- sleep 5
kill_in fxminify fxminify --test 'sleep 5; true' graph.py -o out.py
kill_in fxexplain fxexplain run --no-keep -- sleep 5
kill_in aoti-printer aoti-printer -N 1000000 "${mlp[@]}"
aoti-printer -N 1000000 "${mlp[@]}" >/dev/null 2>&1 &
for _ in $(seq 500); do compgen -G "tmp/aoti-printer.??????" >/dev/null && break; sleep 0.02; done
like "a running tool has a directory" "$(ls tmp)" "aoti-printer"
kill -KILL $!
wait $! 2>/dev/null
for _ in $(seq 500); do [ -z "$(ls tmp)" ] && break; sleep 0.02; done
is "a tool killed with its broker alive leaves nothing" "$(ls tmp)" ""
mv left/* tmp
like "kill -9 of both leaves directories" "$(find tmp -mindepth 1 -maxdepth 1 -printf '%f\n' | sed 's/\..*//' | sort -u | tr '\n' ' ')" "aoti-printer fxexplain fxminify pt2live pt2run "
mkdir tmp/fxminify.backup
exits "the next tool that makes a directory" 4 fxexplain run -q --no-keep -- true
is "it removes those and nothing else" "$(ls tmp)" fxminify.backup
rmdir tmp/fxminify.backup
aoti-checkinputs -- sh -c 'until [ -e stop ]; do sleep 0.05; done' >/dev/null 2>&1 &
for _ in $(seq 500); do compgen -G "tmp/pt2live.??????/counters*" >/dev/null && break; sleep 0.02; done
lives=$(echo tmp/pt2live.*)
touch -d '3 years ago' "$lives" "$lives/.pt2utils"
fxexplain run -q --no-keep -- true
ok "the directory of a running tool is kept, whatever its age" test -d "$lives"
touch stop
wait
is "it is removed when the tool ends" "$(ls tmp)" ""

# ---- where ----
mkdir rel
TMPDIR=rel exits "a relative TMPDIR" 0 fxminify -q --test 'grep -q aten.relu' graph.py -o small.py
TMPDIR=rel exits "pt2-run with a relative TMPDIR" 0 pt2-run -q "${mlp[@]}" -o rel.npz
TMPDIR=rel exits "aoti-printer with a relative TMPDIR" 0 aoti-printer -q "${mlp[@]}"
is "nothing is left in it" "$(ls rel)" ""

# ---- two into one new folder ----
aoti-printer -q -o both -N 20 "${mlp[@]}" 2>one &
aoti-printer -q -o both -N 20 "${mlp[@]}" 2>two
wait
like "of two tools with one -o, one fails with a reason" "$(cat one two)" "^aoti-printer: cannot write 'both': created by another process in the meantime$"
is "the other's result is complete" "$(ls -d both*)" both

# ---- folders that are not as they should be ----
# Each tool works (0), or says what it needs and by which variable: 4, one line that names the folder and TMPDIR.
cat >tools <<EOS
pt2-run -q ${mlp[*]}
aoti-printer -q ${mlp[*]}
aoti-nanassert -q ${mlp[*]}
aoti-verify -q --no-more $ROOT/tests/data/export/mlp.pt2 ${mlp[*]}
aoti-checkinputs --probe -q $P/mlp.pt2
tlparse --html $DATA/simple.log
fxexplain $DATA/simple.log
fxminify -q --test true $TMP/graph.py -o -
EOS
# each WHAT FOLDER TOOLS-THAT-MAY-REFUSE COMMAND... : all tools, in a mount namespace of their own in which COMMAND was run
each() {
	local what=$1 folder=$2 may=$3 wrong='' line
	shift 3
	while read -r line; do
		# shellcheck disable=SC2086,SC2016
		unshare -m sh -c "$* || exit 99"'; "$@"' sh $line >out 2>err </dev/null
		status=$?
		[ "$status" = 0 ] && continue
		[[ $status = 4 && " $may " = *" ${line%% *} "* && $(wc -l <err) = 1 && $(cat err) = *"$folder"*TMPDIR* ]] || wrong+=" [${line%% *}: $status $(head -2 err)]"
	done <tools
	is "$what" "$wrong" ""
}
watchers="aoti-printer aoti-nanassert aoti-verify"
mkdir mnt
if unshare -m mount -t tmpfs none mnt 2>/dev/null; then
	export TMPDIR=$TMP/mnt
	runners="pt2-run $watchers"
	cp tools all
	host="$BUILD/lib/pt2utils/pt2-runner --torch $BUILD/lib/pt2utils/libpt2shim.so --model $TMP/mlp/model.so --inputs $TMP/mlp/in.npy --outputs /dev/null --watched --unconfined"
	mkdir mlp
	unzip -qp "$P/mlp.pt2" '*.so' >mlp/model.so
	unzip -qp "$P/mlp.pt2" '*.wrapper.cpp' >mlp/model.wrapper.cpp
	python3 "$ROOT/tests/lib/npy.py" mlp/in.npy '<f4' 3 8
	for tool in aoti-printer aoti-nanassert aoti-checkinputs; do echo "$tool -q -- $host"; done >>tools
	echo "aoti-printer -q -i -o $TMP/dumped --overwrite ${mlp[*]}" >>tools
	each "noexec" "$TMPDIR" "" "mount -t tmpfs -o noexec none mnt"
	unshare -m sh -c 'mount -t tmpfs -o noexec none mnt && exec "$@"' - aoti-printer -l 3 "${mlp[@]}" >out 2>err
	is "TMPDIR mounted noexec: kernels are seen" "$(cat out)" "$(TMPDIR=$TMP/tmp aoti-printer -l 3 "${mlp[@]}")"
	mv all tools
	each "read-only" "$TMPDIR" "$runners tlparse fxminify" "mount -t tmpfs -o ro none mnt"
	each "full" "$TMPDIR" "$runners tlparse fxminify" "mount -t tmpfs -o size=4k none mnt"
	each "64 KiB" "$TMPDIR" "$runners tlparse fxminify" "mount -t tmpfs -o size=64k none mnt"
	each "1 MiB" "$TMPDIR" "$runners" "mount -t tmpfs -o size=1m none mnt"
	export TMPDIR=$TMP/tmp
	HOME=$TMP/mnt each "a read-only home" "" "" "mount -t tmpfs -o ro none mnt"
	HOME=$TMP/missing each "no home" "" "" true
	[ -d /dev/shm ] && each "no /dev/shm" "" "" "mount -t tmpfs -o ro none /dev/shm"
	is "nothing is left at the end" "$(ls tmp)" ""
else
	skip "noexec, read-only, full and missing folders" "no mount namespace for this user"
fi
done_testing
