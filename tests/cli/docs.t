#!/bin/bash
# Options, manual page and README say the same, and their examples run.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

flat() { tr -s ' \n' ' ' | sed 's/^ //; s/ $//'; }
page() { mandoc -Tascii -O width=1000 "$ROOT/man/$1.1" 2>/dev/null | sed 's/.\x08//g' >page; } # as one reads it
# -h: a question, three examples, a line for each option that begins with a verb; a screen in all.
help_is_short() { # help_is_short TOOL-AND-SUBCOMMAND
	local words text nouns='the|a|an|what|which|where|whether|how|only|every|one|no|not|all|any|this|these|of|in|with|without|for|from|to|and'
	read -ra words <<<"$1"
	COLUMNS=80 run "${words[@]}" -h
	is "$1 -h: status, standard error" "$status $(cat err)" "0 "
	like "$1 -h begins with a question" "$(head -1 out)" '^[A-Z].*\?$'
	is "$1 -h has three examples" "$(sed -n '/^Examples:/,/^$/p' out | grep -cE "^  $1 .*  # [a-z]")" 3
	is "$1 -h has at most 50 lines" "$(sed 1,50d out)" ""
	is "$1 -h has at most 79 columns" "$(grep -E '.{80}' out)" ""
	is "$1 -h: no line is broken" "$(COLUMNS=1000 "${words[@]}" -h)" "$(cat out)"
	text=$(sed -nE 's/^ +(-., )?--[^ ]+ +//p' out)
	is "$1 -h: options begin with a verb" "$(grep -E "^(($nouns) |[A-Z0-9-])" <<<"$text")" ""
	COLUMNS=80 run "${words[@]}" --help-all
	is "$1 --help-all fits 80 columns" "$status $(grep -E '.{81}' out)" "0 "
	is "$1 --help-all has every option" "$("${words[@]}" --help-options | cut -f2 | grep . | while read -r long; do grep -qE -- "--$long( |=|\[|\$)" out || echo "$long"; done)" ""
}
for tool in "${tools[@]}"; do
	page "$tool"
	sed -n '/^SYNOPSIS/,/^DESCRIPTION/p' page | sed '1d;$d' | flat >synopsis
	run "$tool" --help-synopsis
	is "$tool: the synopsis of the manual page is the option table's" "$(cat synopsis)" "$(flat <out)"
	subs=$(sed -nE "s/^$tool ([a-z]+) .*/\1/p" out)
	{ "$tool" --help-options; for sub in $subs; do "$tool" "$sub" --help-options; done; } >out
	missing=
	while IFS='|' read -r short long arg _; do
		grep -q -- "--$long" page || missing="$missing --$long"
		[ -z "$short" ] || grep -qE -- "(^| )-$short, " page || missing="$missing -$short"
		name=${arg%%\[:*} # ID[:NAME]
		name=${name//[^A-Z=]/}
		grep -q -- "--$long.*$name" page || missing="$missing $long:$name"
	done < <(tr '\t' '|' <out)
	is "$tool: every option is in the manual page" "$missing" ""
	rules() { sed -n "/^ *Conflicting options:*\$/,/^\$/p" | sed 1d; }
	for sub in "" $subs; do
		COLUMNS=1000 "$tool" ${sub:+"$sub"} --help-all
		echo
	done | rules | grep -v '^Conflicting' | flat >want
	is "$tool: conflicting options are in the manual page as in --help-all" "$(rules <page | sed 's/^ *o   //' | flat)" "$(cat want)"
	for sub in "" $subs; do help_is_short "$tool${sub:+ $sub}"; done
	run "$tool" --completion=bash
	ok "$tool: the completion is valid bash" bash -n out
	ok "$tool: and in the manual page" grep -qE -- "--completion=SHELL" page
done

# Examples run in a folder that holds what they name: made once, for each a copy by hard links, which no example may write through.
fill() {
	mkdir -p work/traces
	cp "$DATA/graph_breaks.log" work/trace.log
	cp "$ROOT/scripts/fixtures/traces/graph_breaks.py" work/
	cp "$DATA/simple.log" "$DATA/dynamic.log" work/traces/
	gzip -k work/trace.log && xz -k work/trace.log
	fxexplain report -q --bundle work/x.pt2b work/trace.log
	tar -C work -xJf "$ROOT/tests/data/cachemiss.tar.xz" ./cache ./cold.log
	cp work/trace.log work/before.log
	cp work/trace.log work/after.log
	cp "$DATA/aoti/mlp.pt2" work/model.pt2
	cp "$DATA/aoti/multi.pt2" work/pkg.pt2
	cp "$ROOT/tests/data/export/mlp.pt2" work/exported.pt2
	python3 -c 'import sys, zipfile; zipfile.ZipFile("work/good.npz", "w").writestr("x.npy", zipfile.ZipFile(sys.argv[1]).read("in0.npy"))' \
		"$ROOT/tests/data/aoti/io/mlp.npz"
	python3 "$ROOT/tests/lib/npy.py" work/batch.npy '<f4' 5 8
	python3 "$ROOT/tests/lib/npy.py" work/x.npy '<f4' 4
	cp work/x.npy work/y.npy
	xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >work/log.pt2
	unzip -p "$ROOT/tests/data/aoti/nan/io/log.npz" in0.npy >work/log.npy
	cp server gpu-server train.py app.py work/
	cp step.log work/train.log
	cp "$cuda/cudamodel.pt2" work/cuda.pt2
	cp "$ROOT/tests/data/repro/aot_forward/minifier_launcher.py" work/
	cp work/minifier_launcher.py work/launcher.py
	cp work/minifier_launcher.py work/repro.py
	mkdir -p work/torch_compile_debug/run_1/minifier
	cp work/minifier_launcher.py work/torch_compile_debug/run_1/minifier/
	cp -r debug/torch_compile_debug work/
	cp "$ROOT/tests/data/logs/crash.log" work/stderr.txt
	cp "$ROOT/tests/data/crash/expand.txt" work/crash.txt
	cp crash.pt2 eager.json compiled.json before.json app work/
	python3 "$ROOT/tests/minify/synthetic.py" graph 50 >work/graph.py
	cp "$ROOT/tests/fuzz/corpus/journal/small" work/repro.txt.journal
}
# A server with a compiled model, as far as is needed: no torch, one call.
mkdir models && (cd models && unzip -qo "$DATA/aoti/nested.pt2")
cat >server <<EOF
#!/bin/sh
exec '$BUILD/tests-lib/livehost' torch='$BUILD/tests-lib/faketorch.so' load='$(find "$PWD/models" -name '*.so')' 'call=f32[2,3];f32[2,3];f32[2,3];f32[]'
EOF
chmod +x server
# The same on a GPU, by the fake driver: its third kernel makes an illegal access.
cuda=$BUILD/tests-lib/cuda
cat >gpu-server <<EOF
#!/bin/sh
FAKECUDA_FAIL=illegal@3 exec '$BUILD/tests-lib/cudahost' 'load=$(echo "$cuda"/model/*.so)' call=8 call=8
EOF
chmod +x gpu-server
# Examples say python, as whoever has torch does; Debian has none of that name.
mkdir bin && ln -s "$(command -v python3)" bin/python
export PATH=$PWD/bin:$PATH
# A program of torch.compile, as far as is needed: tests/lib/jittorch.
cat >train.py <<EOF
import os, sys
os.environ["JITTORCH_LIBRARY"] = "$BUILD/tests-lib/jittorch.so"
sys.path.insert(0, "$ROOT/tests/lib/jittorch")
sys.dont_write_bytecode = True
sys.argv[1:] = ["$ROOT/tests/lib/jittorch/graph.py", "for i in range(12): step()"]
exec(open("$ROOT/tests/lib/jittorch/app.py").read())
EOF
# For fxexplain: a debug folder, profiles, a crashed model, and a program that leaves a trace.
mkdir debug && tar -C debug -xJf "$ROOT/tests/data/debug/torch_compile_debug.tar.xz"
xz -dc "$ROOT/tests/data/crash/crash.pt2.xz" >crash.pt2
for i in eager compiled; do xz -dc "$ROOT/tests/data/profiles/$i.json.xz" >$i.json; done
fxexplain --json "$DATA/graph_breaks.log" >before.json
cat >app <<EOF
#!/bin/sh
cp '$DATA/graph_breaks.log' "\$TORCH_TRACE/"
EOF
chmod +x app
cat >app.py <<EOF
import os, shutil, sys
if "PT2_CATCH_DIR" in os.environ:  # fxminify -- python app.py: a graph that failed
    with open(os.environ["PT2_CATCH_DIR"] + "/failure-1.json", "w") as f:
        f.write('{"stage": "inductor", "kind": "raised", "type": "KeyError", "message": "x", "graph": "minifier_launcher.py", "at": 1}')
    sys.exit(1)
shutil.copy("$DATA/graph_breaks.log", os.environ["TORCH_TRACE"])
EOF
# What asks torch ends where torch would be started, with status 4: its command line and files are good. tests/live runs it to its end.
cat >no-torch <<'EOF'
#!/bin/sh
echo 'no torch here' >&2
exit 1
EOF
chmod +x no-torch
tar -xJf "$ROOT/tests/data/jit/step.tar.xz"
fill
mv work whole
sums() { find whole -type f -exec md5sum {} + | sort; }
sums >filled
asks_torch() { [[ $1 =~ ^(fxminify|pt2\ repro.*launcher|\{?\ ?pt2\ repro\ --) && ! $1 =~ --(test|stats|resume|no-values) || $1 =~ (fxexplain\ mend|pt2\ fix\ --\ ) ]]; }
example() { # example SOURCE COMMAND
	rm -rf work
	cp -al whole work
	[[ $2 != *fxminify* ]] || cp --remove-destination whole/repro.txt.journal work/ # its own to write
	[[ $2 != *train.log* ]] || cp -r step work/dump # saved of the run that left this trace
	if asks_torch "$2"; then
		cp --remove-destination "$DATA/simple.log" work/trace.log # one with a graph 0/0
		(cd work && PT2_PYTHON=$TMP/no-torch bash -euo pipefail -c "$2") >out 2>err
		status=$?
		want=4
		[[ $2 != "{ "* ]] || want=1               # "{ fxexplain mend ...; } || test $? = 1"
		[[ $2 != "fxminify extract"* ]] || want=5 # written, without the values of its inputs
		is "$1: $(head -1 <<<"$2") (as far as torch)" "$status $(grep -c 'torch' err | sed 's/[1-9].*/some/')" "$want some"
		return
	fi
	if (cd work && bash -euo pipefail -c "$2") >out 2>err; then pass "$1: $(head -1 <<<"$2")"; else fail "$1: $2" "$(cat out)"; fi
}

# Other machines are for make check-cluster and pt2-gather.t.
asks_others() { [[ $1 =~ --launcher|pt2\ gather ]]; }

# Indented lines under EXAMPLES; a line that starts deeper goes on with the one before.
for tool in "${tools[@]}"; do
	page "$tool"
	sed -n '/^EXAMPLES/,/^\(DIFFERENCES\|SEE ALSO\)/p' page | grep -E '^ {11}' | sed 's/^ \{11\}//' |
		awk '/^ / {printf "\n%s", $0; next} {if (NR > 1) printf "%c", 0; printf "%s", $0} END {printf "%c", 0}' >examples
	while IFS= read -r -d '' line; do
		# A repro.py is for torch.
		[[ $line =~ ^python\  ]] || asks_others "$line" || example "$tool.1" "$line"
	done <examples
done

# The examples of -h; 1 is an answer, too.
help_examples() { # help_examples TOOL-AND-SUBCOMMAND
	local words line
	read -ra words <<<"$1"
	while IFS= read -r line; do
		case $line in "aoti-printer --diff dump "*) line="aoti-printer -o dump model.pt2 batch.npy && $line" ;; esac
		case $line in "pt2 attach "*) line="{ TORCH_TRACE=\$PWD/traces sleep 60 & } && ${line/4711/\$!} && kill \$!" ;; esac
		asks_others "$line" && continue
		if asks_torch "$line"; then example "$1 -h" "$line"; else example "$1 -h" "{ $line; } || test \$? = 1"; fi
	done < <(COLUMNS=80 "${words[@]}" -h | sed -n '/^Examples:/,/^$/s/^  //p' | sed 's/  *# .*//')
}
for tool in "${tools[@]}"; do
	for sub in "" $("$tool" --help-synopsis | sed -nE "s/^$tool ([a-z]+) .*/\1/p"); do help_examples "$tool${sub:+ $sub}"; done
done

# Shell blocks of README and the tour of the tools, but for what needs PyTorch, builds or installs; and the commands in README's tables, where
# 1 is an answer, too.
for page in README.md docs/user/USING.md; do
	awk '/^```sh/ {on = 1; next} /^```/ {on = 0} on' "$ROOT/$page" | grep -vE '^(git|make|pip|TORCH_TRACE)' | sed 's/  *#.*//' >examples
	while read -r line; do
		asks_others "$line" || example "$page" "$line"
	done <examples
done
table() { sed -n '/^## The tools/,/^## Install/p' "$ROOT/README.md" | grep '^|' | grep -oE "\`($(IFS='|'; echo "${tools[*]}")) ([^\`])*\`" | tr -d '\`' | sed 's/\\|/|/g'; }
is "README names each tool in a table" "$(table | cut -d' ' -f1 | sort)" "$(printf '%s\n' "${tools[@]}" | sort)"
while read -r line; do
	if asks_torch "$line"; then example README "$line"; else example README "{ $line; } || test \$? = 1"; fi
done < <(table)

# The symptoms: each row's commands, as a user types them, on files that have that symptom. A name in the table may stand for another file here.
PATH=$PATH:$ROOT/scripts/ci
export PT2_PACKAGE=
unset "${!GITHUB_@}" "${!CI_@}" BUILDKITE
mkdir flight && tar -C flight -xJf "$ROOT/tests/data/flight.tar.xz"
symptom() { # symptom ROW COMMAND
	local before='' command=$2
	case $2 in
	"fxexplain run"*) ;;
	"aoti-printer --diff dump.good "*) before='aoti-printer -q -o dump.good model.pt2 batch.npy' ;;
	"aoti-nanassert model.pt2 "*) before='cp --remove-destination log.pt2 model.pt2; cp --remove-destination log.npy batch.npy' ;;
	"fxexplain crash "*) before='cp --remove-destination crash.pt2 model.pt2' ;;
	"TORCH_TRACE=traces aoti-printer "*) # what it leaves with real torch is recorded
		before='rm -rf dump'
		command="${2%%; *} && test -s dump/calls.jsonl && rm -r dump traces && mkdir traces && cp -r ../step dump && cp train.log traces && ${2#*; }" ;;
	"the same, "*) before='rm -r traces; cp -r ../flight/v213 traces'; command='tlparse --all-ranks-html traces/ -o ranks && grep -q missed ranks/index.html' ;;
	esac
	if asks_torch "$2"; then example "README: $1" "$2"; else example "README: $1" "$before${before:+$'\n'}{ $command; } || test \$? = 1"; fi
}
awk '/^## What is wrong/ {on = 1} /^Where the files come from/ {on = 0} on' "$ROOT/README.md" | grep '^| ' | sed 1d >rows
rows=0
while IFS='|' read -r _ what cell _; do
	rows=$((rows + 1))
	if [[ $cell == *" the same, with "* ]]; then symptom "$what" "the same, with dumps"; continue; fi
	mapfile -t commands < <(tr '\140' '\n' <<<"$cell" | sed -n 'n;p' | grep -v '^uses:') # what stands between backquotes
	ok "README: a command for:$what" test ${#commands[@]} -gt 0
	for line in "${commands[@]}"; do symptom "$what" "$line"; done
done <rows
ok "README has the symptoms" test $rows -ge 20
# Each file that a symptom names is in the table below, which says where it comes from, or made by the command.
from=$(awk '/^Where the files come from/ {on = 1} /^## The tools/ {on = 0} on' "$ROOT/README.md" | cut -d'|' -f2)
is "README says where each file of a symptom comes from" "$(grep -oE '[a-z_.]+\.(log|npy|npz|pt2|json|txt|good)|minifier_launcher\.py|traces/' rows | sort -u | grep -vx 'out.npz' |
	while read -r f; do grep -qF "\`$f\`" <<<"$from" || echo "$f"; done)" ""
# Until there is a release pt2utils is on no index: its name there may be anybody's.
is "no text installs pt2utils from an index" "$(cd "$ROOT" && grep -rnE 'pip3? install( -[^ ]+)* .?pt2utils(\[|=|[^-A-Za-z0-9_/]|$)' README.md NEWS action.yml .github docs man scripts packaging cmd libcommon |
	grep -vE -- '--no-index|docs/dev/RELEASE.md')" ""
is "README, the documents for users and install-deps name no index" "$(cd "$ROOT" && grep -rniE 'pypi|twine' README.md docs/user docs/formats scripts/install-deps)" ""
is "no example writes into a file that is there" "$(sums | diff - filled)" ""
# The places that the documents for developers name are there.
git -C "$ROOT" ls-files -co --exclude-standard >files 2>/dev/null || (cd "$ROOT" && find . -type f) >files
gone=''
for place in $(grep -ohE "\`[a-zA-Z_/.]+\\.(h|c|py|t)\`" "$ROOT"/docs/*/[A-EG-Z]*.md "$ROOT/CONTRIBUTING.md" | tr -d '\140' | sort -u); do # FACTS names torch's
	case $place in torch/* | generated/* | cpp_wrapper_gpu.py | train.py | *NAME* | *NUMBER* | *TOOL*) continue ;; esac # torch's own, and those to be written
	grep -qE "(^|/)$place\$" files || gone+=" $place"
done
is "files that documents name" "$gone" ""
ok "README is short" test "$(wc -l <"$ROOT/README.md")" -lt 150
done_testing
