#!/bin/bash
# aoti-checkinputs and model libraries that crash, hang, write, fork or kill while they are probed. One that hangs takes ten seconds of a processor:
# PT2_LONG=1 (make check-long); test_binprobe.c has it with a shorter limit.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ "$(uname -m)" = x86_64 ] || skip_all "the libraries are for x86-64"
mkdir made box
(cd made && python3 "$ROOT/tests/lib/hostile_so.py" "$DATA/aoti/mlp_provenance.pt2") || exit 4

# tool ARGS... : in a folder of its own; what it leaves behind is a failure
tool() {
	(cd box && exec env PT2_TEST_MARK="$TMP" timeout 60 aoti-checkinputs "$@") >out 2>err </dev/null
	status=$?
}
one_line() { [ "$(wc -l <err)" = 1 ] && [ -z "$(LC_ALL=C tr -d '[:print:]\n' <err)" ]; }

aoti-checkinputs "$DATA/aoti/mlp_provenance.pt2" >want 2>/dev/null
for so in made/*.so; do
	name=$(basename "$so" .so)
	[ "$name" != init_hangs ] || [ -n "${PT2_LONG-}" ] || continue
	[ "$name" = init_hangs ] || tool "$TMP/$so" # with the text is enough
	if [ "$name" = init_hangs ]; then
		:
	elif [[ $name = *_writes ]]; then # models may print; it goes nowhere
		if { [ "$status" -le 3 ] || [ "$status" = 5 ]; } && ! grep -q pwned out err; then pass "$name: its output is hidden"; else fail "$name: its output is hidden" "status $status"; fi
		tool --probe "$TMP/made/$name.pt2"
		unlike "$name, with its text: its output is hidden" "$(cat out err)" "pwned"
		continue
	elif [ "$status" = 3 ] && [ ! -s out ] && one_line; then
		pass "$name: refused: $(sed 's/.*\.so//' err)"
	else
		fail "$name: refused" "status $status" "$(head -n 3 out)"
	fi
	tool --probe "$TMP/made/$name.pt2"
	if [ "$status" = 5 ] && one_line && cmp -s <(grep -v "$name" out) <(grep -v mlp_provenance want); then
		pass "$name, with its text: falls back to the text, with a message"
	else
		fail "$name, with its text: falls back to the text, with a message" "status $status" "$(diff <(grep -v "$name" out) <(grep -v mlp_provenance want) | head -n 5)"
	fi
	tool "$TMP/made/$name.pt2"
	is "$name: without --probe none of it runs" "$status $(cat err)" "0 "
	tool --no-exec "$TMP/$so"
	like "$name: --no-exec does not run it" "$status $(cat err)" '^[34] aoti-checkinputs: .*no-exec'
done
is "nothing was written" "$(ls -A box)" ""

# ---- one list of attempts, for all who run foreign code (docs/user/RUN.md, Confinement) ----
# The model of a good package, replaced; its text stays, so that it is run without being asked first.
model=$BUILD/tests-lib/hostilemodel.so
python3 - "$DATA/aoti/mlp.pt2" "$model" hostile.pt2 <<'E2' || exit 4
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, zipfile.ZipFile(sys.argv[3], "w") as w:
    for name in z.namelist():
        w.writestr(name, open(sys.argv[2], "rb").read() if name.endswith(".so") else z.read(name))
E2
mapfile -t attempts < <(sed -n 's/^\tX(\([a-z_0-9]*\), .*/\1/p' "$ROOT/tests/lib/hostilemodel.c")
# shellcheck disable=SC2016 # backquotes of Markdown
is "the table in RUN.md lists all attempts" "$(sed -n 's/^| `\([a-z_0-9]*\)` |.*/\1/p' "$ROOT/docs/user/RUN.md")" "$(printf '%s\n' "${attempts[@]:1}")"
# What is done without a namespace: files are read. Landlock hides processes.
open_files="read user_file accounts$([ -d /home ] && echo ' homes')"
# all_refused WHO WHAT PREFIX... : under every tool that runs it, nothing but WHAT
all_refused() {
	local who=$1 what=$2 c
	shift 2
	for c in "pt2-run" "pt2-run -v" "aoti-printer" "aoti-printer -i -o $folder/dump" "aoti-nanassert"; do
		echo precious >"$folder/victim"
		chmod 666 "$folder/victim"
		cp "$folder/victim" "$folder/stderr"
		# shellcheck disable=SC2086 # a command and its options
		echo typed | (cd "$folder" && env TMPDIR="$folder/tmp" HOSTILE_VICTIM="$folder/victim" HOSTILE_SECRET="$TMP/home/.ssh/id" HOSTILE_INPUTS=1 \
			timeout 60 "$@" $c "$folder/hostile.pt2" "f32[8,8]") 2>>"$folder/stderr" >out
		rm -rf "$folder/dump"
		is "$who: $c: only these succeed: $what" "$(grep -o 'could: .*' "$folder/stderr")" "could: $what; and: $what."
		is "$who: $c: the file and standard error are unchanged" "$(cat "$folder/victim") $(head -n 1 "$folder/stderr")" "precious precious"
		is "$who: $c: nothing remains" "$(ls -A "$folder/tmp"; ls "$folder")" "$(printf 'hostile.pt2\nstderr\ntmp\nvictim')"
	done
}
# sees PREFIX... : what the model may do where that has, or has not, mount namespaces
sees() { if "$@" unshare -m mount -t tmpfs none /mnt 2>/dev/null || "$@" unshare -Urm mount -t tmpfs none /mnt 2>/dev/null; then echo read; else echo "$open_files"; fi; }
folder=$TMP/run
mkdir -p "$folder/tmp" home/.ssh
echo secret >home/.ssh/id
cp hostile.pt2 "$folder"
without=$BUILD/tests-lib/without
seen=$(sees env)
hidden=$([ "$seen" = read ] && echo read || echo "$open_files processes")
all_refused "as $(id -un)" "$seen" env
all_refused "without Landlock" "$hidden" "$without" landlock
all_refused "without namespaces" "$open_files" "$without" namespaces
all_refused "without either" "$open_files processes" "$without" namespaces "$without" landlock
normal=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)
chmod 755 "$TMP"
if [ "$(id -u)" = 0 ] && "${normal[@]}" test -x "$BUILD/bin/pt2-run" -a -r "$folder/hostile.pt2" 2>/dev/null; then
	chmod 777 "$folder" "$folder/tmp"
	seen=$(sees "${normal[@]}")
	hidden=$([ "$seen" = read ] && echo read || echo "$open_files processes")
	all_refused "as a normal user" "$seen" "${normal[@]}"
	all_refused "as a normal user, without Landlock" "$hidden" "${normal[@]}" "$without" landlock
	all_refused "as a normal user, without namespaces" "$open_files" "${normal[@]}" "$without" namespaces
else
	skip "as a normal user" "this one is, or the build is not readable"
fi
# shellcheck disable=SC2016 # of that shell
spent=(unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && echo 0 >/proc/sys/user/max_mnt_namespaces && exec "$@"' -)
if "${spent[@]}" true 2>/dev/null; then
	all_refused "where namespaces are used up" "$open_files" "${spent[@]}"
	run "${spent[@]}" pt2-run -v "$DATA/aoti/mlp.pt2" 'f32[3,8]'
	like "-v reports a missing mount namespace" "$status $(cat err)" "^0 .*pt2-runner: no mount namespace for '[^']*mlp.pt2' \\(No space left on device\\): it can read all that you can"
else
	skip "where namespaces are used up" "no user namespace for this user"
fi
run pt2-run -v "$DATA/aoti/mlp.pt2" 'f32[3,8]'
like "-v reports which files the model sees" "$status $(cat err)" "^0 .*pt2-runner: ('[^']*mlp.pt2' sees its own files|no mount namespace)"
# ---- libraries that it may need are there to be seen ----
site=$TMP/env/lib/python3.11/site-packages
mkdir -p "$site/torch/lib" "$site/numpy.libs" "$site/nvidia" blas search
cp "$BUILD/lib/pt2utils/libpt2shim.so" "$site/torch/lib/libtorch_cpu.so"
for f in env/lib/libmkl.so "$site/nvidia/x.so" "$site/numpy.libs/libopenblas.so" blas/lib.so search/lib.so env/secret; do echo x >"$f"; done
# seen WHAT FILE WANT COMMAND...
seen() {
	local what=$1 file=$2 want=$3
	shift 3
	run env HOSTILE_INPUTS=1 HOSTILE_ONLY=user_file HOSTILE_SECRET="$file" "$@" hostile.pt2 "f32[8,8]"
	is "$what" "$(grep -o 'could:[^.]*' err)" "could:$want; and:$want"
}
seen "what lies beside an installed torch" "$site/nvidia/x.so" " user_file" pt2-run --torch="$site/torch/lib"
seen "and in its environment" "$TMP/env/lib/libmkl.so" " user_file" pt2-run --torch="$site/torch/lib"
seen "the OpenBLAS of a virtual environment" "$site/numpy.libs/libopenblas.so" " user_file" env VIRTUAL_ENV="$TMP/env" pt2-run
seen "that which PT2_SHIM_BLAS names" "$TMP/blas/lib.so" " user_file" env PT2_SHIM_BLAS="$TMP/blas/lib.so" pt2-run
seen "what LD_LIBRARY_PATH names" "$TMP/search/lib.so" " user_file" env LD_LIBRARY_PATH="$TMP/search" pt2-run
[ "$(sees env)" = read ] && seen "and no more of the environment" "$TMP/env/secret" "" pt2-run --torch="$site/torch/lib"

for a in "${attempts[@]}"; do
	(cd box && env HOSTILE_ONLY="$a" HOSTILE_VICTIM="$folder/victim" timeout 60 aoti-checkinputs "$model") >out 2>err </dev/null
	status=$?
	like "the prober: $a" "$status $(cat err)" '^3 .*the sandbox blocked'
done
is "the prober: the file is unchanged" "$(cat "$folder/victim")" precious
run env HOSTILE_INPUTS=1 "$BUILD/tests-lib/without" seccomp pt2-run hostile.pt2 "f32[8,8]"
like "without seccomp no model runs" "$status $(cat err)" '^4 pt2-run: cannot install the filter of system calls: .*--unconfined'
run env HOSTILE_INPUTS=1 HOSTILE_ONLY=read HOSTILE_PRINT=$'a\033]0;b\a\nc' pt2-run -v hostile.pt2 "f32[8,8]"
is "a model's output cannot control the terminal" "$(grep -c $'\033' err; grep -o 'a?.*' err | head -n 1)" "$(printf '0\na?]0;b?')"
run env HOSTILE_INPUTS=1 HOSTILE_ONLY=read HOSTILE_PRINT="$(printf 'line %s\n' $(seq 3000))" pt2-run -v --max-text=9K hostile.pt2 "f32[8,8]"
is "a model's output is cut at --max-text" "$(grep -c '^line' err) $(grep -c 'cut' err) $(test "$(wc -c <err)" -lt 11000 && echo short)" "$(grep -c '^line' err) 2 short"
run env HOSTILE_ONLY=read HOSTILE_INPUTS=1 "$BUILD/tests-lib/without" landlock pt2-run -v hostile.pt2 "f32[8,8]"
like "-v reports missing Landlock" "$(cat err)" 'this kernel has no Landlock'
is "no process remains" "$(grep -lz "^PT2_TEST_MARK=$TMP\$" /proc/[0-9]*/environ 2>/dev/null)" ""
done_testing
