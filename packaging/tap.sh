# tap.sh - what check-* share: TAP, what a command takes, inputs for a root's user, every tool on a real one.
# shellcheck shell=bash disable=SC2034,SC2016
n=0 bad=0
ok() { # ok WHAT STATUS COMMAND... : ends with this status; what it printed is in $out_text
	local what=$1 want=$2 got
	shift 2
	out_text=$("$@" 2>&1)
	got=$?
	n=$((n + 1))
	if [ $got = "$want" ]; then echo "ok $n - $what"; else
		bad=1
		echo "not ok $n - $what: status $got, not $want"
		printf '%s\n' "$out_text" | tail -5 | sed 's/^/#   /'
	fi
}
says() { # says WHAT REGEX : of the last command
	n=$((n + 1))
	if [[ $out_text =~ $2 ]]; then echo "ok $n - $1"; else
		bad=1
		echo "not ok $n - $1"
		printf '%s\n' "$out_text" | head -5 | sed 's/^/#   /'
	fi
}
# Seconds by the clock, and of processor time of what has run here.
look() {
	local spent
	spent=$(mktemp)
	times >"$spent"
	now="$EPOCHREALTIME $(awk -F'[ms ]' 'NR == 2 {print $1 * 60 + $2 + $4 * 60 + $5}' "$spent")"
	rm "$spent"
}
since_start() { awk '{printf "%.1f s (%.1f of processor time)", $3 - $1, $4 - $2}' <<<"$start $1"; }
done_trying() { echo "1..$n"; exit $bad; }

tools=(cmd/*/main.c) # as the Makefile has them
tools=("${tools[@]%/main.c}")
tools=("${tools[@]##*/}")
give_inputs() { # give_inputs ROOT : in/ of its user
	local in=$1/home/guest/in f
	mkdir -p "$in"
	for f in traces/graph_breaks.log aoti/mlp.pt2 aoti/nan/log.pt2 aoti/verify/norm.pt2 aoti/verify/state.pt2; do xz -dc "tests/data/$f.xz" >"$in/${f##*/}"; done
	unzip -p tests/data/aoti/nan/io/log.npz in0.npy >"$in/log.npy"
	cp tests/data/export/mlp.pt2 "$in/exported.pt2"
	cp tests/data/aoti/verify/{norm,state}{.exported.pt2,.pt} "$in"
	printf '#!/bin/sh\ngrep -q relu "$1"\n' >"$in/has-relu"
	chmod +x "$in/has-relu"
	python3 tests/minify/synthetic.py graph 50 >"$in/graph.py"
	inside "$1" chown -R guest:guest /home/guest
}
# What was compiled for glibc 2.34, as the packages here are, is refused by name (3) in Debian 11.
runs() { if [ "$1" = bullseye ]; then echo 3; else echo "${2-0}"; fi; } # runs SUITE [STATUS]
# The manual page and the completions of a tool, below a folder.
pages() { find "$1/share" \( -name "$2.1" -o -name "$2.1.gz" -o -path "*bash-completion*/$2" -o -name "_$2" -o -name "$2.fish" \) -size +0 | wc -l; }
try_tools() { # try_tools SUITE TLPARSE PREFIX : user() runs a command as the user
	local t
	for t in "${tools[@]/#tlparse/$2}"; do
		ok "$1: $t is there" 0 user "$t" --version
		says "$1: of this version" "^$t .*$version"
		ok "$1: its manual page, its completions for three shells" 0 test "$(pages "$3" "$t")" = 4
	done
	ok "$1: $2" 0 user "$2" --html=report.html in/graph_breaks.log
	ok "$1: pt2-run" "$(runs "$1")" user pt2-run in/mlp.pt2 'f32[5,8]'
	ok "$1: fxexplain" 0 user fxexplain in/graph_breaks.log
	says "$1: says what broke" 'graph break'
	ok "$1: fxminify" 0 user fxminify -q --test ./in/has-relu -o small.py in/graph.py
	ok "$1: aoti-checkinputs" 1 user aoti-checkinputs in/mlp.pt2 'f32[5,9]'
	ok "$1: its doctor" "$([ "$1" != bullseye ]; echo $?)" user aoti-checkinputs --doctor --torch=none in/mlp.pt2
	[ "$1" != bullseye ] || says "$1: says why" 'GLIBC_2.34.*will not run on this machine'
	ok "$1: aoti-checkinputs --against" 0 user aoti-checkinputs --against in/exported.pt2 in/mlp.pt2
	[ "$1" = bullseye ] || ok "$1: asks a model's binary" 1 user sh -c 'aoti-checkinputs --probe in/mlp.pt2 2>&1 | grep "probe failed"'
	ok "$1: aoti-printer" "$(runs "$1")" user aoti-printer in/mlp.pt2 'f32[5,8]'
	ok "$1: aoti-nanassert (a model that calls SLEEF)" "$(runs "$1" 1)" user aoti-nanassert in/log.pt2 in/log.npy
	ok "$1: pt2-run -o" "$(runs "$1")" user pt2-run in/log.pt2 in/log.npy -o out.npz
	ok "$1: aoti-verify" "$(runs "$1")" user aoti-verify in/norm.exported.pt2 in/norm.pt2 'in/norm.pt:in[0]'
	[ "$1" = bullseye ] || says "$1: says so" '^in/norm.pt2: [0-9]+ kernels verified, nothing wrong'
	ok "$1: aoti-verify (a model that is wrong from its second call on)" "$(runs "$1" 1)" user aoti-verify --json in/state.exported.pt2 in/state.pt2 'in/state.pt:in[0]'
	[ "$1" = bullseye ] || says "$1: names what is wrong" 'norm_num_batches_tracked'
	ok "$1: what watches a process" 4 user aoti-checkinputs -q -- /bin/true
}
