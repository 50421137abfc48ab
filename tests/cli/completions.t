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
exits "another shell" 2 tlparse --completion=csh
like "is told which there are" "$(cat err)" 'one of bash, zsh, fish'
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
zsh_offers() { "$ROOT/tests/lib/zsh-offers" ../zsh "$1" | sed 's|^false$|/bin/false|'; } # zsh has the folder apart
fish_offers() { fish -N -c "source ../fish/${1%% *}.fish; complete -C'$1'" | cut -f1 | sed 's/.*=//'; } # and fish the option with its value
bash_offers() { # words as bash splits them; no line editor, so no compopt
	bash -c 'compopt() { :; }; . "../$1.bash"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_${1//-/_}"; printf "%s\n" "${COMPREPLY[@]}"' bash $1
}
# Each tool and subcommand with all options that its table has, as --help-options tells them.
every_option() { # every_option SHELL
	local tool sub subs want
	for tool in "${tools[@]}"; do
		mapfile -t subs < <("$tool" -h | sed -n '/^Commands:/,/^$/s/^  \([a-z]\+\) .*/\1/p')
		for sub in "" "${subs[@]}"; do
			want=$("$tool" $sub --help-options | cut -f2 | sed '/./s/^/--/' | sort | xargs)
			is "$1: $tool $sub${sub:+ }--" "$("$1_offers" "$tool $sub${sub:+ }--" | grep -- '^--.' | sed 's/=$//' | sort | xargs)" "$want"
		done
	done
}
every_option bash
for shell in zsh fish; do
	if ! command -v $shell >/dev/null; then
		skip "$shell" "no $shell"
		continue
	fi
	for tool in "${tools[@]}"; do
		ok "$tool: valid $shell" $shell -n ../$shell/*"$tool"*
	done
	while IFS='|' read -r want line; do
		[[ $shell == fish && $line == *'-- grep'* ]] && continue # its completions of grep are a package of their own
		is "$shell: $line" "$(${shell}_offers "$line" | sort | xargs)" "$want"
	done <<<"$cases"
	every_option $shell
done
done_testing
