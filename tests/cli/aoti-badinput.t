#!/bin/bash
# aoti-checkinputs and files that are damaged, hostile, or something else: one clear line, exit 3, nothing written.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
mkdir made box
(cd made && python3 "$ROOT/tests/lib/bad_aoti.py" "$DATA/aoti/mlp_provenance.pt2") || exit 4
good=$DATA/aoti/mlp_provenance.pt2
sum=$(sha256sum "$good")

# refused WHAT FILE ARGS... : in a folder of its own, with two seconds of processor time and little memory
refused() {
	local what=$1 file=$2 text
	shift 2
	(cd "$TMP/box" && ulimit -t 20 && { [ -n "$no_limit" ] || ulimit -v 2000000; } && exec timeout 20 aoti-checkinputs "$@") >out 2>err </dev/null
	status=$?
	text=$(cat err)
	if [ "$status" != 3 ]; then
		fail "$what" "status $status, not 3"
	elif [ -s out ]; then
		fail "$what" "something on standard output:" "$(head -n 3 out)"
	elif [ "$(wc -l <err)" != 1 ] || [ -z "$text" ]; then
		fail "$what" "not one line on standard error"
	elif [ -n "$(LC_ALL=C tr -d '[:print:]\n' <err)" ]; then
		fail "$what" "control bytes on standard error"
	elif [[ $text != "aoti-checkinputs: "*"$(basename "$file")"* ]]; then
		fail "$what" "the message does not name the file"
	elif [ -n "$(ls -A "$TMP/box")" ]; then
		fail "$what" "it wrote $(ls -A "$TMP/box")"
		rm -rf "$TMP"/box/*
	else
		pass "$what: ${text##*"$(basename "$file")"}"
	fi
}
no_limit=
nm "$BUILD/bin/aoti-checkinputs" 2>/dev/null | grep -q __asan_init && no_limit=1 # it maps terabytes

for file in made/models/*; do
	refused "${file#made/}" "$file" "$TMP/$file"
done
# A compressed text that becomes 600 MB is not inflated: by name, and without its memory.
for tool in "aoti-checkinputs" "pt2-run" "aoti-printer" "fxexplain kernel k"; do
	# shellcheck disable=SC2086
	read -r status peak < <(python3 "$ROOT/tests/lib/peak.py" $tool made/models/bomb_true.pt2)
	is "$tool: a text of 600 MB is refused" "$status $(grep -c "x.wrapper.cpp' inflates to 600 MiB: at most 64 MiB of compressed text are read" err)" "3 1"
	if [ -n "$no_limit" ]; then skip "... is not inflated" "a sanitizer's memory"; else ok "... is not inflated ($peak MB)" test "$peak" -lt 100; fi
done
refused "no such file" nothing.pt2 "$TMP/nothing.pt2"
if [ "$(id -u)" != 0 ]; then
	cp "$good" secret.pt2
	chmod 0 secret.pt2
	refused "no permission" secret.pt2 "$TMP/secret.pt2"
fi

for file in made/tensors/*; do
	refused "${file#made/}" "$file" "$good" "$TMP/$file"
done
refused "a tensor file for an input by name" shape_huge.npy "$good" "x=$TMP/made/tensors/shape_huge.npy"

# A pipe is read whole, and then it is a file like others.
mkfifo fifo.pt2 fifo.npy
head -c 5000 "$good" >fifo.pt2 &
refused "a pipe" fifo.pt2 "$TMP/fifo.pt2"
echo "not an array" >fifo.npy &
refused "a pipe for an input" fifo.npy "$good" "$TMP/fifo.npy"
wait

for file in made/either/*; do
	run timeout 20 aoti-checkinputs --json "$file"
	like "${file#made/}: read or refused" "$status" '^[03]$'
done

# The other modes on the same files.
for file in made/models/{truncated_1000.pt2,overlap.pt2,elf_magic.so,no_model.pt2,empty_folder}; do
	refused "--doctor ${file#made/}" "$file" --doctor "$TMP/$file"
	refused "--against ${file#made/}" "$file" --against "$TMP/$file" "$good"
done
refused "--against a package that has no program" mlp_provenance.pt2 --against "$good" "$good"
is "the good package is unchanged" "$(sha256sum "$good")" "$sum"
done_testing
