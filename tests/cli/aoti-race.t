#!/bin/bash
# A model that writes into what it shares with the tool while the tool reads it (tests/lib/racemodel.c): the call log, names, events, files of
# tensors. Nothing of the user's is touched, no tool dies, nothing is left. One run for each attack and tool; PT2_LONG=1 (make check-long): 200.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the model is for x86-64"
runs=1
[ -z "${PT2_LONG-}" ] || runs=200
model=$BUILD/tests-lib/racemodel.so
python3 - "$DATA/aoti/mlp.pt2" "$model" race.pt2 <<'E2' || exit 4
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, zipfile.ZipFile(sys.argv[3], "w") as w:
    for name in z.namelist():
        w.writestr(name, open(sys.argv[2], "rb").read() if name.endswith(".so") else z.read(name))
E2
mkdir -p run/victim run/tmp
folder=$TMP/run
cp race.pt2 run
whole() { (cd "$folder" && find . -mindepth 1 -printf '%p %s %m\n' | sort && cat victim/precious.txt); }
# race WHO ATTACK TOOL... : all of its runs
race() {
	local who=$1 attack=$2 i bad='' before after
	shift 2
	for ((i = 0; i < runs; i++)); do
		echo precious >run/victim/precious.txt
		chmod 666 run/victim/precious.txt
		before=$(whole)
		(cd "$folder" && env TMPDIR="$folder/tmp" RACE="$attack" RACE_VICTIM="$folder/victim/precious.txt" RACE_MS="${RACE_MS-120}" \
			timeout 60 "${prefix[@]}" "$@" race.pt2 'f32[8,8]') >out 2>err </dev/null
		status=$?
		rm -rf run/dump
		after=$(whole)
		[ "$status" -lt 124 ] && [ "$before" = "$after" ] || bad+="run $i: status $status $(tail -n 3 err) $(diff <(echo "$before") <(echo "$after") | head -n 5)"
	done
	is "$who: $attack: $*: nothing outside changes ($runs of $runs)" "$bad" ""
}
attacks=(slash nul dims state grow head event file)
tools=("aoti-printer" "aoti-printer -o dump --format=pt" "aoti-nanassert" "aoti-printer --profile")
prefix=(env)
for attack in "${attacks[@]}"; do
	for tool in "${tools[@]}"; do
		# shellcheck disable=SC2086 # a command and its options
		race "as $(id -un)" "$attack" $tool
	done
done
prefix=("$BUILD/tests-lib/without" landlock)
for attack in slash dims file; do
	race "without Landlock" "$attack" aoti-printer
	race "without Landlock" "$attack" aoti-printer -o dump
done
normal=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
chmod 755 "$TMP"
if [ "$(id -u)" = 0 ] && "${normal[@]}" test -x "$BUILD/bin/aoti-printer" -a -r "$folder/race.pt2" 2>/dev/null; then
	chmod 777 run run/tmp run/victim
	prefix=("${normal[@]}")
	for attack in slash dims file; do
		race "as a normal user" "$attack" aoti-printer
		race "as a normal user" "$attack" aoti-printer -o dump
	done
else
	skip "as a normal user" "this one is, or the build is not readable"
fi
# The tests above mean something only if the attack reaches the tool.
prefix=(env)
RACE_MS=400 race "shown" slash aoti-printer --level=3
like "the generated calls are read by the tool" "$(head -n 1 out)" "^\[ before_launch: "
done_testing
