#!/bin/bash
# aoti-checkinputs and model libraries that crash, hang, write, fork or kill while they are probed.
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
	[ "$name" = init_hangs ] || tool "$TMP/$so" # ten seconds each time: with the text is enough
	if [ "$name" = init_hangs ]; then
		:
	elif [[ $name = *_writes ]]; then # models may print; it goes nowhere
		if { [ "$status" -le 3 ] || [ "$status" = 5 ]; } && ! grep -q pwned out err; then pass "$name: is not seen"; else fail "$name: is not seen" "status $status"; fi
		tool --probe "$TMP/made/$name.pt2"
		unlike "$name, with its text: is not seen" "$(cat out err)" "pwned"
		continue
	elif [ "$status" = 3 ] && [ ! -s out ] && one_line; then
		pass "$name: refused: $(sed 's/.*\.so//' err)"
	else
		fail "$name: refused" "status $status" "$(head -n 3 out)"
	fi
	tool --probe "$TMP/made/$name.pt2"
	if [ "$status" = 5 ] && one_line && cmp -s <(grep -v "$name" out) <(grep -v mlp_provenance want); then
		pass "$name, with its text: falls back to that, and says so"
	else
		fail "$name, with its text: falls back to that, and says so" "status $status" "$(diff <(grep -v "$name" out) <(grep -v mlp_provenance want) | head -n 5)"
	fi
	tool "$TMP/made/$name.pt2"
	is "$name: without --probe nothing of it runs" "$status $(cat err)" "0 "
	tool --no-exec "$TMP/$so"
	like "$name: --no-exec does not run it" "$status $(cat err)" '^[34] aoti-checkinputs: .*no-exec'
done
is "nothing was written" "$(ls -A box)" ""
is "no process is left" "$(grep -lz "^PT2_TEST_MARK=$TMP\$" /proc/[0-9]*/environ 2>/dev/null)" ""
done_testing
