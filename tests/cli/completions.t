#!/bin/bash
# What bash, zsh and fish offer (unit/base/test_opt has bash in detail), from the option tables of the tools themselves.
# shellcheck source=tests/lib/tap.sh disable=SC2086 # a subcommand or nothing, a line in words
. "$(dirname "$0")/../lib/tap.sh"

mkdir zsh fish here
touch here/trace.log
for tool in "${tools[@]}"; do
	"$tool" --completion=bash >"$tool.bash"
	"$tool" --completion=zsh >"zsh/_$tool"
	"$tool" --completion=fish >"fish/$tool.fish"
	ok "$tool: valid bash" bash -n "$tool.bash"
done
exits "an unknown shell" 2 tlparse --completion=csh
like "the message lists the shells" "$(cat err)" 'one of bash, zsh, fish'
# All tools as one program: what is behind a tool's name is completed by that tool's own.
one=''
if [ -x "$BUILD/one/bin/pt2utils" ]; then # not under sanitizers
	one=pt2utils
	PATH=$PATH:$BUILD/one/bin
	pt2utils --completion=bash >pt2utils.bash
	pt2utils --completion=zsh >zsh/_pt2utils
	pt2utils --completion=fish >fish/pt2utils.fish
	ok "pt2utils: valid bash" bash -n pt2utils.bash
	exits "pt2utils: an unknown shell" 2 pt2utils --completion=csh
	like "pt2utils: the message lists the shells" "$(cat err)" 'one of bash, zsh, fish'
fi
cd here || exit 99

# Each shell's last word is completed; what is wanted, blanks between.
cases='--json|fxexplain --js
--redact --repro|fxexplain report --re
|fxexplain --re
replay report run|fxexplain r
run|fxexplain -o report ru
trace.log|tlparse tr
trace.log|fxexplain run --keep=x tr
npy|aoti-printer --format=np
/bin/false|fxexplain run -- /bin/fals
--color --colour|fxexplain run -- grep --col'
of_one='fxexplain fxminify|pt2utils fx
--redact --repro|pt2utils fxexplain report --re
npy|pt2utils aoti-printer --format=np
trace.log|pt2utils tlparse tr'
zsh_offers() { "$ROOT/tests/lib/zsh-offers" ../zsh "$1" | sed 's|^false$|/bin/false|'; } # zsh has the folder apart
fish_offers() { # of pt2utils, the tool's own, which fish finds by itself where they are installed
	local -a words
	read -ra words <<<"$1"
	fish -N -c "source ../fish/${words[0]}.fish; $([[ $1 == "pt2utils "*" "* ]] && echo "source ../fish/${words[1]}.fish;") complete -C'$1'" | cut -f1 | sed 's/.*=//' # and fish the option with its value
}
bash_offers() { # words as bash splits them; no line editor, so no compopt
	bash -c 'compopt() { :; }; . "../$1.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_${1//-/_}"; printf "%s\n" "${COMPREPLY[@]}"' bash $1
}
# Each tool and subcommand with all options that its table has, as --help-options tells them.
every_option() { # every_option SHELL
	local tool sub subs want
	for tool in "${tools[@]}"; do
		mapfile -t subs < <("$tool" -h | sed -n '/^Commands/,/^$/s/^  \([a-z]\+\) .*/\1/p')
		for sub in "" "${subs[@]}"; do
			want=$("$tool" $sub --help-options | cut -f2 | sed '/./s/^/--/' | sort | xargs)
			is "$1: $tool $sub${sub:+ }--" "$("$1_offers" "$tool $sub${sub:+ }--" | grep -- '^--.' | sed 's/=$//' | sort | xargs)" "$want"
		done
	done
}
each_case() { # each_case SHELL CASES
	local want line
	while IFS='|' read -r want line; do
		[[ $1 == fish && $line == *'-- grep'* ]] && continue # its completions of grep are a package of their own
		is "$1: $line" "$("${1}_offers" "$line" | sed 's/=$//' | sort | xargs)" "$want"
	done <<<"$2"
}
every_option bash
# bash makes three words of --format=np.
[ -z "$one" ] || each_case bash "${of_one/--format=np/--format = np}"
for shell in zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell" "no $shell"
		continue
	fi
	for tool in "${tools[@]}" $one; do
		ok "$tool: valid $shell" $shell -n ../$shell/*"$tool"*
	done
	each_case $shell "$cases"
	[ -z "$one" ] || each_case $shell "$of_one"
	every_option $shell
done
done_testing
