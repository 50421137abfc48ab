#!/bin/bash
# What the options of all tools have in common: a name that is nearly right is recognised, and colour is chosen in one way (base/tool/color.h).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
log=$DATA/graph_breaks.log
touch kernel.txt

# ---- did you mean ----
while IFS='|' read -r command said; do
	# shellcheck disable=SC2086 # words
	exits "$command" 2 $command
	is "... the message" "$(head -1 err)" "${command%% *}: $said"
	is "... at most two lines, the second a command" "$(sed 1d err | sed 's/ [a-z]* -h/ -h/')" "$(sed 1d err | grep -q . && echo "Try '${command%% *} -h'")"
	is "... standard output stays empty" "$(cat out)" ""
done <<'EOF'
fxexplain kernle x.log|'kernle' is neither a file nor a command (did you mean 'kernel'?)
fxexplain repot x.log|'repot' is neither a file nor a command (did you mean 'report'?)
fxminify extrct x.py|'extrct' is neither a file nor a command (did you mean 'extract'?)
fxexplain run python app.py --lr 3|missing '--' before the command; type: fxexplain run -- python app.py --lr 3
fxexplain --html=page.html run python app.py|missing '--' before the command; type: fxexplain --html=page.html run -- python app.py
fxexplain run|missing command: put it after '--'
fxexplain run --|missing command after '--'
fxexplain ls -l|'ls' is not a file; to run it as a command, type: fxexplain run -- ls -l
aoti-nanassert --inf ls -l|'ls' is not a file; to run it as a command, type: aoti-nanassert --inf -- ls -l
aoti-printer --ima ls|'ls' is not a file; to run it as a command, type: aoti-printer --ima -- ls
aoti-checkinputs ls|'ls' is not a file; to run it as a command, type: aoti-checkinputs -- ls
fxexplain --redact x.log|option '--redact' belongs after 'fxexplain report'
fxexplain run --bisekt -- true|unknown option '--bisekt' (did you mean '--bisect'?)
tlparse --htm x.log|unknown option '--htm' (did you mean '--html'?)
aoti-printer --format=safetensor x.pt2|option '--format' must be one of npy, pt, safetensors, text, json, sarif, github, md, not 'safetensor' (did you mean 'safetensors'?)
fxexplain replay --tool=fxminfy x|option '--tool' must be one of program, fxminify, aoti-nanassert, aoti-printer, aoti-verify, not 'fxminfy' (did you mean 'fxminify'?)
tlparse --color=allways x.log|option '--color' must be one of auto, always, never, not 'allways' (did you mean 'always'?)
pt2-run --torchh x.pt2|unknown option '--torchh' (did you mean '--torch'?)
EOF
exits "--max with a misspelt name" 2 fxexplain --max=graph_breaks=0 "$log"
like "the message suggests the right name" "$(cat err)" "^fxexplain: --max: unknown name 'graph_breaks' \(did you mean 'graph-breaks'\?\); known: graph-breaks, "
exits "--max of tlparse with a misspelt name" 2 tlparse --max=recompile=0 "$log"
like "the message suggests the right name, too" "$(cat err)" "'recompile' \(did you mean 'recompiles'\?\)"
exits "--show with a misspelt section" 2 fxexplain --show=breaks,cudagraph "$log"
like "the message suggests the right section" "$(head -1 err)" "unknown section 'cudagraph' \(did you mean 'cudagraphs'\?\)"
printf 'def forward(self, x):\n    return (x,)\n' >graph.py
exits "--passes with a misspelt pass" 2 fxminify --test true --passes=nodes,ouputs graph.py
is "the message suggests the right pass" "$(cat err)" "fxminify: --passes: unknown pass 'ouputs' (did you mean 'outputs'?); fxminify --help-all lists them"
exits "an existing file is an operand" 0 fxexplain kernel.txt
touch kernell
exits "even if its name is similar to a subcommand" 0 fxexplain kernell

# ---- colour ----
export TERM=xterm
colours() { grep -c $'\e\[[0-9;]*m' "$1"; } # lines that have any
terminal() { script -q -e -c "$1" /dev/null </dev/null >out 2>err; }
is_coloured() { is "$1: colour" "$([ "$(colours "$2")" -gt 0 ] && echo yes)" yes; }
is_plain() { is "$1: no colour" "$(colours "$2")" 0; }

for tool in "${tools[@]}"; do # what no tool can read
	run "$tool" --color=always nowhere.log nowhere.log
	is "$tool --color=always colours errors" "$(grep -v ^Try err | tail -1 | cut -d' ' -f1)" $'\e[31m'"$tool:"$'\e[m'
	run "$tool" nowhere.log nowhere.log
	is_plain "$tool without a terminal" err
	CLICOLOR_FORCE=1 run "$tool" nowhere.log nowhere.log
	is_coloured "$tool, CLICOLOR_FORCE" err
	CLICOLOR_FORCE=1 run "$tool" --color=never nowhere.log nowhere.log
	is_plain "$tool --color=never" err
	CLICOLOR_FORCE=1 run "$tool" --nosuch
	is "$tool: a usage error is coloured as an error" "$(head -1 err | cut -d' ' -f1)" $'\e[31m'"$tool:"$'\e[m'
	terminal "$tool nowhere.log nowhere.log"
	is_coloured "$tool on a terminal" out
	NO_COLOR=1 terminal "$tool nowhere.log nowhere.log"
	is_plain "$tool, NO_COLOR" out
	ok "$tool: the manual page describes it" bash -c "grep -q 'NO_COLOR , CLICOLOR_FORCE' '$ROOT/man/$tool.1' && grep -q 'Fl -color Ns = Ns Ar WHEN' '$ROOT/man/$tool.1'"
done

fx() { run env "$@" fxexplain "${how[@]}" "$log"; }
how=()
fx A=1
is_plain "not asked for" out
plain=$(cat out)
fx CLICOLOR_FORCE=1
is_coloured "CLICOLOR_FORCE" out
is "without escapes the text is equal" "$(sed 's/\x1b\[[0-9]*m//g' out)" "$plain"
fx CLICOLOR_FORCE=0
is_plain "CLICOLOR_FORCE=0 asks for nothing" out
fx CLICOLOR_FORCE=
is_plain "nor does an empty one" out
fx CLICOLOR_FORCE=1 NO_COLOR=1
is_plain "NO_COLOR comes before CLICOLOR_FORCE" out
fx CLICOLOR_FORCE=1 NO_COLOR=
is_coloured "an empty NO_COLOR is none" out
how=(--color=always)
fx NO_COLOR=1 TERM=dumb
is_coloured "--color=always comes before all" out
how=(--color always --color=never)
fx CLICOLOR_FORCE=1
is_plain "--color=never, too; the last one counts" out
how=(--color=auto)
fx CLICOLOR_FORCE=1
is_coloured "--color=auto is the environment's" out
terminal "fxexplain $log"
is_coloured "a terminal" out
TERM=dumb terminal "fxexplain $log"
is_plain "a dumb terminal" out
terminal "fxexplain --color=never $log"
is_plain "a terminal and --color=never" out

# Each kind of text has its own.
run fxexplain --color=always --all "$log"
like "the user's line" "$(cat out)" $'\e\[36m[a-z_/]*graph_breaks\.py:[0-9]+'
like "warnings" "$(cat out)" $'\e\[33mwarn\e\[m'
like "fixes" "$(cat out)" $'  fix +\e\[32m'
like "headings" "$(cat out)" $'\n\e\[1m'
run fxexplain --color=always "$ROOT/tests/data/logs/crash.log"
like "errors" "$(cat out)" $'\e\[31merror\e\[m'
run aoti-checkinputs --color=always "$DATA/aoti/mlp.pt2" 'f32[5,9]'
like "what is wrong with a call" "$(cat out)" $'given \e\[31m.*\e\[m'
like "how to fix the call" "$(cat out)" $'fix: \e\[32m.*\e\[m'
run fxexplain nowhere.log kernel.txt --color=always
is "a warning on standard error" "$(head -1 err | cut -d' ' -f1)" $'\e[33mfxexplain:\e[m'
run fxexplain --color=always kernel "$DATA/aoti/mlp.pt2"
is_coloured "a subcommand" out

# Where a program reads, there is none.
for o in --json --sarif --github --html; do
	run fxexplain --color=always $o "$log"
	is_plain "fxexplain $o" out
done
for sub in report fix serve; do
	run fxexplain --color=always $sub "$log" </dev/null
	is_plain "fxexplain $sub" out
done
run fxexplain --color=always crash --json "$ROOT/tests/data/crash/expand.txt"
is_plain "fxexplain crash --json" out
run aoti-checkinputs --color=always --json "$DATA/aoti/mlp.pt2" 'f32[5,9]'
is_plain "aoti-checkinputs --json" out
run aoti-checkinputs --color=always --json --doctor "$DATA/aoti/mlp.pt2"
is_plain "aoti-checkinputs --doctor --json" out
run pt2-run --color=always --json "$DATA/aoti/mlp.pt2" 'f32[5,8]'
is_plain "pt2-run --json" out
run aoti-printer --color=always --json "$DATA/aoti/mlp.pt2" 'f32[5,8]'
is_plain "aoti-printer --json" out
run aoti-nanassert --color=always --json "$DATA/aoti/mlp.pt2" 'f32[5,8]'
is_plain "aoti-nanassert --json" out
run fxexplain --color=always -o report.txt "$log"
is_plain "a file" report.txt
run tlparse --color=always --json "$log"
is_plain "tlparse --json" out
done_testing
