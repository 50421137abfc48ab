#!/bin/bash
# Within a document's schema number nothing that docs/formats/JSON.md promises goes away or changes its type: the documents of these inputs held against
# those that tests/data/schemas has of the release in which the number began (RECORD=1 writes what is not there yet), and these against the pages
# that say what each key is.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
promised=$ROOT/tests/data/schemas
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
unzip -qp "$ROOT/tests/data/aoti/nan/io/log.npz" in0.npy >log.npy
for i in eager compiled; do xz -dc "$ROOT/tests/data/profiles/$i.json.xz" >$i.json; done
xz -dc "$ROOT/tests/data/crash/crash.pt2.xz" >crash.pt2
tar -xJf "$ROOT/tests/data/debug/torch_compile_debug.tar.xz"
mlp=$DATA/aoti/mlp.pt2
aoti-printer -q -o dump log.pt2 log.npy 2>/dev/null

seen=()
document() { # document NAME[=NUMBER] COMMAND... : its schema is pt2utils.NAME/1, or the number alone where the document names its tool
	local name=${1%=*} number=${1#"${1%=*}"}
	shift
	seen+=("$name")
	"$@" >doc 2>err
	local schema=pt2utils.$name/1
	[ -z "$number" ] || schema=${number#=}
	is "$name: its schema" "$(jq -r .schema doc)" "$schema"
	[ "${RECORD-}" != 1 ] || [ -e "$promised/$name" ] || python3 "$ROOT/tests/lib/json_keys.py" doc >"$promised/$name"
	is "$name: what is promised is there" "$(python3 "$ROOT/tests/lib/json_keys.py" doc "$promised/$name" 2>&1 | head -5)" ""
	local tool="" page pages=()
	[ -z "$number" ] || tool="; \`tool\` is \`$name\`"
	while read -r page; do pages+=("$ROOT/docs/formats/$page"); done < <(grep -F "| \`$schema\`$tool |" "$ROOT/docs/formats/JSON.md" | grep -oP '\]\(\K[^)]*' | sort -u)
	ok "$name: docs/formats/JSON.md has it" test ${#pages[@]} -gt 0
	is "$name: its page has every key" "$(python3 "$ROOT/tests/lib/json_keys.py" "$promised/$name" "${pages[@]}" 2>&1 | head -20)" ""
}
document tlparse=2 tlparse --json "$DATA/graph_breaks.log"
mkdir before after && cp "$DATA/simple.log" before/1.log && cp "$DATA/fusion/before.log" before/2.log && cp "$DATA/dynamic.log" after/1.log && cp "$DATA/fusion/after.log" after/2.log
document tlparse.diff tlparse --diff --json before after
document fxexplain=2 fxexplain --json "$DATA/graph_breaks.log"
document kernel fxexplain --json kernel mul torch_compile_debug
document profile fxexplain --json profile eager.json compiled.json
document crash fxexplain --json crash "$ROOT/tests/data/crash/expand.txt" crash.pt2
mkdir cached && tar -C cached -xJf "$ROOT/tests/data/cachemiss.tar.xz"
: >"cached/cache/xx.tmp" && truncate -s 9 cached/cache/fxgraph/*/*/* && touch -d '2 days ago' cached/cache/fxgraph/*/*/*
document cache fxexplain cache --json cached/cache --trace cached/changed.log --prune
xz -dc "$ROOT/tests/data/slow/threads.log.xz" >threads.log
document slow fxexplain slow --json threads.log
fxexplain report -q --bundle x.pt2b --with log.npy "$DATA/graph_breaks.log"
document bundle fxexplain --json replay x.pt2b
# shellcheck disable=SC2016 # words for another shell
document wrong fxexplain --json run -q --wrong -- sh -c '[ "$TORCHDYNAMO_DISABLE" = 1 ]'
document bisect fxexplain --json run --bisect -- true
# shellcheck disable=SC2016 # words for another shell
document kept sh -c 'export XDG_STATE_HOME=$PWD/own TORCH_LOGS=x; fxexplain run -q -- sh -c "cp \"\$DATA/simple.log\" \"\$TORCH_TRACE/t.log\"" 2>/dev/null; cat own/pt2utils/runs/*/run.json' -
tar -xJf "$ROOT/tests/data/causes/v215.tar.xz" ./prints
fxexplain run -q -- sh -c "cp '$DATA/graph_breaks.log' \"\$TORCH_TRACE\"" 2>/dev/null
document runs pt2 runs --json
printf 'max.graph-breaks = 5\n' >settled.toml
PT2_SETTINGS=settled.toml document settings pt2 settings --json
document fix fxexplain fix -q --json --root "$ROOT/tests/live/causes" prints/trace
printf '#!/bin/sh\nexec python3 "%s/tests/lib/fakemend.py"\n' "$ROOT" >python3-fake && chmod +x python3-fake && echo pass >app.py
FAKE_WORDS="WRONG GOOD" document mend fxexplain mend -q --unconfined --json -- ./python3-fake app.py
document contract aoti-checkinputs --json "$mlp" 'f32[5,9]'
document doctor aoti-checkinputs --json --doctor --torch=none "$mlp"
document against aoti-checkinputs --json --against "$ROOT/tests/data/export/mlp.pt2" "$mlp"
document nanassert aoti-nanassert --json log.pt2 log.npy
document printer aoti-printer --json log.pt2 log.npy
document printer.diff aoti-printer --json --diff dump log.pt2 log.npy
document printer.memory aoti-printer --json --memory log.pt2 log.npy
document printer.profile aoti-printer --json --profile log.pt2 log.npy
cuda="'$BUILD/tests-lib/cudahost' 'load=$(echo "$BUILD"/tests-lib/cuda/model/*.so)' call=4"
document printer.ima sh -c "FAKECUDA_FAIL=illegal@2 aoti-printer --ima --json --log=ima -- $cuda >/dev/null; cat ima"
# A wrong kernel, so that a finding's keys are there; and a kernel that cannot be verified.
V=$ROOT/tests/data/aoti/verify
python3 "$ROOT/tests/lib/mutate.py" "$DATA/aoti/verify/attention.pt2" wrong.pt2 6 >/dev/null
document verify aoti-verify --json "$V/attention.exported.pt2" wrong.pt2 "$V/attention.pt:in[0]"
document printer.nodes aoti-printer --json --diff "$V/attention.exported.pt2" wrong.pt2 "$V/attention.pt:in[0]"
document run pt2-run --json --profile log.pt2 log.npy
# shellcheck disable=SC2016 # the last line of sed
is "every document is tried" "$(printf '%s\n' "${seen[@]}" | sort)" \
	"$(cd "$ROOT" && grep -rhoE '"pt2utils\.[a-z.]+/[0-9]+"' cmd libcommon --include=*.c | tr -d '"' | sed 's|pt2utils.\(.*\)/.*|\1|; $afxexplain\ntlparse' | grep -v '^fxminify$' | sort -u)" # fxminify's is a journal
# It finds what it is for.
aoti-nanassert --json log.pt2 log.npy | jq -c 'del(.calls) | .found = "yes"' >doc
is "a key that goes or changes is found" "$(python3 "$ROOT/tests/lib/json_keys.py" doc "$promised/nanassert" | xargs)" "gone: .calls .found was bool, is text"
done_testing
