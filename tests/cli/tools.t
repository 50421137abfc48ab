#!/bin/bash
# Every tool on a real input, with nothing but a shell: what `make check-core` can try anywhere.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

mlp=$DATA/aoti/mlp.pt2
for t in "${tools[@]}"; do
	[ "$t" != aoti-verify ] || set -- nowhere.pt2
	exits "$t --version" 0 "$t" --version
	exits "$t: an unknown option" 2 "$t" --nosuch
	exits "$t: a missing file" 3 "$t" nowhere.log "$@"
	shift $#
done
exits "tlparse --html" 0 tlparse --html=report.html "$DATA/graph_breaks.log"
like "the page is about the program" "$(grep -c graph_breaks.py report.html)" '^[1-9]'
exits "tlparse -o" 0 tlparse -o folder "$DATA/simple.log"
ok "the directory has an index" test -s folder/index.html
exits "fxexplain" 0 fxexplain "$DATA/graph_breaks.log"
like "it shows the line of the graph break" "$(cat out)" 'graph_breaks\.py:[0-9]+'
# shellcheck disable=SC2016 # the script's own
printf '#!/bin/sh\ngrep -q relu "$1"\n' >has-relu && chmod +x has-relu
exits "fxminify" 0 fxminify -q --test ./has-relu -o small.py "$ROOT/tests/data/repro/aot_forward/minifier_launcher.py"
ok "its result has the operation" grep -q relu small.py
exits "aoti-checkinputs: valid inputs" 0 aoti-checkinputs "$mlp" 'f32[5,8]'
exits "aoti-checkinputs: a wrong shape" 1 aoti-checkinputs "$mlp" 'f32[5,9]'
exits "aoti-checkinputs --against" 0 aoti-checkinputs --against "$ROOT/tests/data/export/mlp.pt2" "$mlp"
exits "pt2-run" 0 pt2-run "$mlp" 'f32[5,8]' -o y.npz
ok "its output is written" test -s y.npz
exits "aoti-printer" 0 aoti-printer "$mlp" 'f32[5,8]'
exits "aoti-nanassert" 0 aoti-nanassert "$mlp" 'f32[5,8]'
exits "aoti-verify" 0 aoti-verify "$ROOT/tests/data/export/mlp.pt2" "$mlp" 'f32[5,8]'
done_testing
