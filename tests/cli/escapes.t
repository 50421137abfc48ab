#!/bin/bash
# No byte of a name drives a terminal, turns text around or forges a line: ESC, BEL, C1, bidi controls and line ends in every kind of name,
# through every emitter of every tool, to standard output, standard error and files (tests/lib/escapes.py says what may not come out).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONPATH=$ROOT/tests/lib PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 TMPDIR=$TMP/tmp
evil() { python3 "$ROOT/tests/lib/escapes.py" "$@"; }
mkdir tmp runs in
name=$(printf 'evil\e[31m\a\u009b1m\u202e\u2066\u061c\nFORGED')

# look COMMAND... (with LOOK=REGEX only those that match): in a folder of its own, from which `evil check` reads; @ before it: such a name need not be seen
n=0
look() {
	local want=seen
	[ "$1" = @ ] && { want=-; shift; }
	[[ $* = *hostile.log* ]] && want=- # names of its own
	[[ -z ${LOOK-} || $* =~ $LOOK ]] || return 0
	n=$((n + 1))
	mkdir -p "$TMP/runs/$n/made"
	{
		printf '%s' "$*" | LC_ALL=C tr -c '[:print:]' '?' | sed "s:$TMP/::g; s:$DATA/::g"
		printf '\t%s' "$want"
		for a in "$@"; do [ -e "$a" ] && [[ $a != *$'\n'* ]] && printf '\t%s' "$a"; done
		echo
	} >"$TMP/runs/$n/cmd"
	look_at "$TMP/runs/$n" "$@" &
	[ $((n % 4)) != 0 ] || wait
}
look_at() {
	local at=$1 end
	shift
	(cd "$at/made" && exec timeout 120 "$@") >"$at/out" 2>"$at/err" </dev/null
	end=$?
	[ $end -lt 124 ] || printf 'ended by %s\e\n' $end >>"$at/err" # which is one of the bytes that may not be there
}

# ---- logs: names of files, functions, operators, artifacts, keys, messages ----
I=$TMP/in
python3 "$ROOT/tests/lib/hostile.py" "$TMP/target" >in/hostile.log
for log in graph_breaks recompiles dynamic compile_error training provenance_jit; do
	evil log "$DATA/$log.log" text >"in/$log.log"
done
evil log "$DATA/draft_export.log" text >in/draft_export.log
evil log "$DATA/graph_breaks.log" names >in/named.log
mkdir in/ranks
for f in "$DATA"/ranks2/*.log; do evil log "$f" text >"in/ranks/${f##*/}"; done
for log in graph_breaks recompiles compile_error training named hostile; do
	l=$I/$log.log
	look tlparse --json -v "$l"
	look tlparse -v "$l" --html=page.html
	look tlparse -o dir "$l"
	look fxexplain --all "$l"
	look fxexplain --all -o text "$l"
	look fxexplain --json --show metrics,graphs,guards "$l"
	look fxexplain --sarif "$l"
	look env GITHUB_STEP_SUMMARY=summary.md fxexplain --github "$l"
	look fxexplain --html=page.html "$l"
	look fxexplain report "$l"
	look fxexplain report --redact "$l"
	fxexplain report -q --bundle "$I/$n.pt2b" "$l" 2>/dev/null
	look @ fxexplain replay "$I/$n.pt2b"
	look @ fxexplain fix "$l"
	look @ fxexplain --max graph-breaks=0 --max recompiles=0 --max failures=0 --max compile-seconds=0 "$l"
	look @ tlparse --json --max graph-breaks=0 --max recompiles=0 --max failures=0 "$l"
done
look tlparse -p -o dir "$I/training.log"
look tlparse -i -o dir "$I/provenance_jit.log"
look tlparse -e -o dir "$I/draft_export.log"
look tlparse -o dir "$I/graph_breaks.log" "$I/recompiles.log"
look tlparse --all-ranks-html -v -o dir "$I/ranks"
for log in graph_breaks training hostile; do
	look tlparse --diff "$I/$log.log" "$DATA/recompiles.log"
	look tlparse --diff -v -o page.html "$DATA/$log.log" "$I/named.log"
	look tlparse --diff --json "$I/$log.log" "$I/dynamic.log"
done
fxexplain -q --json "$DATA/graph_breaks.log" >in/base.json 2>/dev/null
look fxexplain --baseline="$I/base.json" "$I/graph_breaks.log"
look fxexplain kernel "$I/training.log"
look fxexplain kernel --json "$I/training.log"
for l in provenance_jit training; do
	k=$(fxexplain kernel --json "$I/$l.log" 2>/dev/null | jq -r '.kernels[0].name // empty')
	look fxexplain kernel "${k:-cpp_fused}" "$I/$l.log"
	look fxexplain kernel "${k:-cpp_fused}" -o text "$I/$l.log"
done

# ---- texts, debug folders, backtraces, profiles ----
for log in "$ROOT"/tests/data/logs/*.log; do
	l=$I/text_${log##*/}
	evil text "$log" >"$l"
	look @ fxexplain --all "$l"
	look @ fxexplain --json "$l"
	look @ fxexplain report "$l"
	look @ fxexplain --github "$l"
	look @ fxexplain --html=page.html "$l"
done
mkdir in/debug && xz -dc "$ROOT/tests/data/debug/torch_compile_debug.tar.xz" | tar -x -C in/debug
find in/debug -type f | while read -r f; do evil text "$f" >x && mv x "$f"; done
look @ fxexplain --all "$I/debug"
look @ fxexplain kernel "$I/debug"
look @ fxexplain kernel --json "$I/debug"
for t in checked expand; do
	sed "s|model\.so|model${name%%$'\n'*}.so|g; s|wrapper\.cpp|wrapper${name%%$'\n'*}.cpp|g; s|in \([a-z_]*\)|in \1${name%%$'\n'*}|" "$ROOT/tests/data/crash/$t.txt" >in/$t.txt
	look fxexplain crash "$I/$t.txt"
	look fxexplain crash -o text "$I/$t.txt"
	look fxexplain crash --json "$I/$t.txt"
done
for p in eager compiled; do xz -dc "$ROOT/tests/data/profiles/$p.json.xz" >x.json && evil json x.json name "Call stack" >in/$p.json; done
look fxexplain profile "$I/eager.json" "$I/compiled.json"
look fxexplain profile --json "$I/compiled.json"
cached="$I/${name%%$'\n'*}.cache"
mkdir "$cached" && tar -C "$cached" -xJf "$ROOT/tests/data/cachemiss.tar.xz"
for f in "$cached"/cache/*/*/*/* "$cached"/cache/aotautograd/*/*; do
	[ ! -f "$f" ] || sed -i "s|GraphModule|G\x1b[31m\xe2\x80\xaele|g" "$f"
done
for c in "" --json; do
	# shellcheck disable=SC2086
	look fxexplain cache $c "$cached/cache" --trace "$cached/changed.log" --prune
done
look fxexplain cache -o text "$cached/cache"
look fxexplain profile -o text "$I/compiled.json" "$I/training.log"
look fxexplain slow --all "$I/training.log"
look fxexplain slow --json "$I/training.log"

# ---- packages: names of inputs, constants, kernels, members, nodes; the library is as it was ----
evil zip "$DATA/aoti/mlp_provenance.pt2" in/mlp.pt2 cpp
evil zip "$DATA/aoti/mlp_provenance.pt2" in/traced.pt2 json
evil zip "$DATA/aoti/mlp_provenance.pt2" in/members.pt2 members
evil zip "$DATA/aoti/custom_op.pt2" in/custom.pt2 cpp json
evil zip "$ROOT/tests/data/export/mlp.pt2" in/exported.pt2 nodes
for p in mlp traced members custom exported; do
	m=$I/$p.pt2
	for o in "--all" "--json" "--doctor --torch=none" "--doctor --torch=none --json" "--against=$ROOT/tests/data/export/mlp.pt2" "--against=$I/exported.pt2" "--probe"; do
		# shellcheck disable=SC2086
		look @ aoti-checkinputs $o "$m"
	done
	look @ aoti-checkinputs "$m" 'f64[100,8]'
	look @ aoti-checkinputs --json "$m" 'f64[100,8]'
	look @ aoti-printer -i "$m" 'f32[3,8]'
	look @ aoti-printer -i --constants --json "$m" 'f32[3,8]'
	look @ aoti-printer -q -i -o dump "$m" 'f32[3,8]'
	look @ aoti-printer --profile --chrome-trace=trace.json -N 2 "$m" 'f32[3,8]'
	look @ aoti-printer --memory --html=memory.html "$m" 'f32[3,8]'
	look @ aoti-nanassert -a --range=-0.001,0.001 "$m" 'f32[3,8]'
	look @ aoti-nanassert -a --range=-0.001,0.001 --json "$m" 'f32[3,8]'
	look @ pt2-run "$m" 'f32[3,8]'
	look @ pt2-run --json -v "$m" 'f32[3,8]'
	look @ fxexplain kernel "$m"
done
look aoti-checkinputs --all "$I/mlp.pt2"
look aoti-printer -i "$I/mlp.pt2" 'f32[3,8]'
aoti-printer -q -i -o in/plain "$DATA/aoti/mlp_provenance.pt2" 'f32[3,8]' 2>/dev/null
evil_dump() { sed 's|"kernel":"\([^"]*\)"|"kernel":"\1evil\\u001b[1m\\u009b\\n\\u202eFORGED"|; s|"nodes":"|&evil\\u001b\\n\\u202eFORGED|; s|"buffer":"|&evil\\u001b\\u202e|' "$1/calls.jsonl" >"$2/calls.jsonl"; }
cp -r in/plain in/evildump && evil_dump in/plain in/evildump
for o in "" "--all" "--json" "--html=page.html"; do
	# shellcheck disable=SC2086
	look aoti-printer $o --diff "$I/plain" "$I/evildump"
done
look aoti-nanassert -a --range=-0.001,0.001 "$I/evildump"
for o in "" "--all" "--json" "--html=page.html"; do
	# shellcheck disable=SC2086
	look @ aoti-verify $o "$ROOT/tests/data/export/mlp.pt2" "$I/evildump"
	[[ $o == --html* ]] || look @ aoti-printer $o --diff "$ROOT/tests/data/export/mlp.pt2" "$I/evildump"
done
look aoti-nanassert -a --range=-0.001,0.001 --json "$I/evildump"
look @ aoti-nanassert -a --range=-0.001,0.001 --trace="$I/provenance_jit.log" "$DATA/aoti/mlp_provenance.pt2" 'f32[3,8]'

# ---- tensors ----
pt2-run -q -o in/out.npz "$DATA/aoti/mlp.pt2" 'f32[3,8]'
pt2-run -q -o in/out.safetensors "$DATA/aoti/mlp.pt2" 'f32[3,8]'
for f in npz safetensors; do
	evil $f in/out.$f "in/evil.$f"
	look @ aoti-checkinputs "$DATA/aoti/mlp.pt2" "$I/evil.$f"
	look @ aoti-checkinputs --json "$DATA/aoti/mlp.pt2" "$I/evil.$f"
	look @ pt2-run "$DATA/aoti/mlp.pt2" "$I/evil.$f"
	look pt2-run "$DATA/aoti/mlp.pt2" "$I/evil.$f:$name"
	look @ pt2-run --weights="$I/evil.$f" "$DATA/aoti/mlp.pt2" 'f32[3,8]'
done

# ---- graphs ----
{
	printf 'import torch\n\nclass Repro(torch.nn.Module):\n    def forward(self, x: "f32[8, 16]"):\n'
	printf '        # File: /%s.py:3 in f, code: x = %s\n' "${name%%$'\n'*}" "${name%%$'\n'*}"
	printf '        relu = torch.ops.aten.relu.default(x)\n        odd = torch.ops.aten.norm(relu, "%s")\n        return (odd,)\n' 'e\x1b\u202e\n'"${name%%$'\n'*}"
} >in/graph.py
fxminify -q --no-journal --test true --max-tests=1 in/graph.py -o in/graph.json 2>/dev/null
[ -e in/graph.json ] && evil json in/graph.json name stack stack_trace >in/evil.json
for g in "$I/graph.py" "$I/evil.json" "$I/exported.pt2"; do
	for o in repro.py graph.json graph.dot graph.txt -; do
		look @ fxminify --test 'test 1 = 1' --max-tests=4 -o "$o" "$g"
	done
	look @ fxminify --test 'cat' --max-tests=3 -o x.py "$g"
	look @ fxminify --test 'cat nothing' -o x.py "$g"
	look @ fxminify --locate --test 'grep -q norm' "$g"
done
look @ fxminify --graph 0/0:aot_forward_graph --test true --max-tests=4 "$I/training.log"
(cd in && fxminify -q --test true --max-tests=4 --journal=j.journal graph.py -o small.py 2>/dev/null && sed -i "s|graph.py|graph\\\\u001b\\\\u202e\\\\nFORGEDevil.py|g" j.journal)
look fxminify --stats="$I/j.journal"
look @ fxminify --resume="$I/j.journal"

# ---- names of files: of what is there, of what is not, of what is none ----
mkdir "in/$name"
cp "$DATA/simple.log" "in/$name/t.log"
cp "$DATA/simple.log" "in/$name.log"
cp "$DATA/aoti/mlp.pt2" "in/$name.pt2"
cp in/graph.py "in/$name.py"
cp in/out.npz "in/$name.npz"
cp "$BUILD/tests-lib/fakemodel.so" "in/$name.so"
for t in "tlparse --json" tlparse "tlparse -v -o dir" "tlparse --diff $DATA/simple.log" "tlparse --diff --json $DATA/simple.log" fxexplain "fxexplain --json" \
	"fxexplain report" "fxexplain --sarif" "fxexplain --github" "fxexplain --html" "fxexplain kernel" "fxexplain crash" "fxexplain profile" "fxminify --test true" \
	"aoti-checkinputs" "aoti-checkinputs --json" "aoti-checkinputs --doctor --torch=none" "aoti-checkinputs --against" "aoti-printer" "aoti-printer --diff" \
	"aoti-nanassert" "aoti-nanassert --json" pt2-run "pt2-run --json"; do
	for f in "$I/$name.log" "$I/$name.pt2" "$I/missing$name"; do
		# shellcheck disable=SC2086
		look @ $t "$f"
	done
done
for t in aoti-checkinputs aoti-printer aoti-nanassert pt2-run; do
	look $t "$DATA/aoti/mlp.pt2" "$I/missing$name"
	look $t -m "$name" "$DATA/aoti/mlp.pt2" 'f32[3,8]'
	look @ $t "$DATA/aoti/mlp.pt2" "$name=f32[3,8]"
	look @ $t "--$name"
	look @ $t --log="$I/missing$name/x" "$DATA/aoti/mlp.pt2" 'f32[3,8]'
done
look pt2-run -o "$I/no$name/out.npz" "$DATA/aoti/mlp.pt2" 'f32[3,8]'
look aoti-printer -o "$I/none$name" "$DATA/aoti/mlp.pt2" 'f32[3,8]'
look @ tlparse -o "$I/dir$name" "$DATA/simple.log"
look fxminify --test true -o "$I/no$name/x.py" "$I/graph.py"
look fxexplain -o "$I/no$name/x" "$DATA/simple.log"
look tlparse --max "$name=1" "$DATA/simple.log"
look fxexplain --show "$name" "$DATA/simple.log"
look fxexplain --function "$name" "$DATA/simple.log"

# ---- processes that are watched ----
host=$BUILD/tests-lib/livehost fake=$BUILD/tests-lib/faketorch.so
for t in "aoti-checkinputs --log=log" aoti-checkinputs "aoti-printer --log=log" "aoti-printer -i" "aoti-printer --json" "aoti-nanassert -a --log=log" "aoti-nanassert --json"; do
	# shellcheck disable=SC2086
	look @ $t -- "$host" "$fake" "$I/$name.so"
	# shellcheck disable=SC2086
	look @ $t -- "$I/no such command $name"
done
look fxexplain run -- "$I/no such command $name"
wait
# shellcheck disable=SC2046
evil check $(seq -f "$TMP/runs/%g" $n)
