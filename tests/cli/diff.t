#!/bin/bash
# tlparse --diff: what is the same in spite of its numbers, and what is not.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"

edit() { python3 "$ROOT/tests/lib/edit_log.py" "$@"; }
diff_json() { run tlparse --diff --json "$@"; }
ask() { jq -r "$1" out; }
counts() { ask '[.counts | to_entries[] | select(.value > 0) | "\(.key)=\(.value)"] | join(" ")'; }

# ---- nothing ----
for log in "$DATA"/*.log; do
	name=$(basename "$log" .log)
	diff_json "$log" "$log"
	is "$name compared with itself: status 0" "$status" 0
	is "$name compared with itself: no difference" "$(ask .differs) $(counts)" "false "
done
gzip -c "$DATA/simple.log" >simple.log.gz
exits "a compressed log compared with the plain one" 0 tlparse --diff --json simple.log.gz "$DATA/simple.log"
run bash -c "tlparse --diff --json - '$DATA/simple.log' < simple.log.gz"
is "standard input compared with a file" "$status $(ask .before.name)" "0 -"

# Other numbers: frames, buffers, addresses, hashes, folders. Time a little.
edit "$DATA/training.log" '
for k in ("frame_id", "compiled_autograd_id"):
    if k in env: env[k] += 7
if "compilation_metrics" in env:
    env["compilation_metrics"]["entire_frame_compile_time_s"] *= 1.1
if text and "chromium_event" not in env:
    text = re.sub(r"\bbuf(\d+)", lambda m: "buf%d" % (int(m[1]) + 3), text)
    text = re.sub(r"\b1[34]\d{13}\b", lambda m: str(int(m[0]) + 64), text)
    text = re.sub(r"\bc[a-z2-7]{51}\b", lambda m: m[0][::-1], text)
    text = re.sub(r"/tmp/torchinductor_user/[a-z0-9]*", "/tmp/torchinductor_user/other", text)
    text = re.sub(r"training\.py:(\d+)", lambda m: "training.py:%d" % (int(m[1]) + 2), text)
' >renumbered.log
diff_json "$DATA/training.log" renumbered.log
is "a renumbered copy has no difference" "$status $(counts)" "0 "
is "compile ids are matched, not compared" "$(ask '.logs[0].compile_ids[] | select(.location.function == "forward") | "\(.before) \(.after)"' | head -1)" "0/0 7/0"

# ---- one frame more in front ----
edit "$DATA/graph_breaks.log" '
if env.get("frame_id") == 0: drop = True
elif "frame_id" in env: env["frame_id"] -= 1
' >without.log
diff_json without.log "$DATA/graph_breaks.log"
is "an additional frame is new; the others are matched" "$status $(ask '.logs[0].frames | "\(.matched) \(.gone) \(.new)"')" "1 13 0 1"
is "an additional frame: no text differs" "$(ask '.counts.texts')" 0
is "an additional frame: one compilation and its break" "$(counts)" "graph_breaks=1 compiles=1"
diff_json "$DATA/graph_breaks.log" without.log
is "a missing frame is gone" "$(ask '.logs[0].compiles[0].how') $(counts)" "gone graph_breaks=1 compiles=1"

# ---- what differs ----
edit "$DATA/training.log" '
m = env.get("compilation_metrics")
if m and m["compile_id"] == "0/0":
    m["entire_frame_compile_time_s"] *= 3
if m:
    m["inductor_config"] = m["inductor_config"].replace("\"deterministic\": false", "\"deterministic\": true")
    m["pytorch_version"] = "2.14.0"
if env.get("artifact", {}).get("name") == "torch_version":
    text = text.replace("2.13.0+cpu", "2.14.0")
if "aot_forward_graph" in env:
    text = text.replace("torch.ops.aten.relu.default", "torch.ops.aten.gelu.default")
if "dynamo_cpp_guards_str" in env:
    text = text.replace("size=[2, 8]", "size=[4, 8]")
' >after.log
diff_json "$DATA/training.log" after.log
is "status 1 for a difference" "$status" 1
is "versions differ" "$(ask '.logs[0].versions[] | "\(.subject) \(.before) \(.after)"')" "pytorch_version 2.13.0+cpu 2.14.0"
is "configuration differs" "$(ask '.logs[0].config[] | "\(.subject) \(.before) \(.after) \(.count)"')" "inductor.deterministic false true 6"
is "times differ" "$(ask '.logs[0].times[] | "\(.how) \(.seconds > 20)"')" "slower true"
is "guards differ" "$(ask '.logs[0].guards[0] | "\(.how) \(.before | test("size=.2, 8")) \(.after | test("size=.4, 8"))"')" "changed true true"
is "a graph differs in one line" "$(ask '.logs[0].texts[] | "\(.name) -\(.removed) +\(.added)"')" "aot_forward_graph -1 +1"
like "the differing line is shown" "$(ask '.logs[0].texts[0].diff')" '-[^'$'\n'']*aten\.relu.*\+[^'$'\n'']*aten\.gelu'
is "nothing else differs" "$(counts)" "versions=1 config=1 times=1 guards=1 texts=1 graphs=1"

# A node more shifts all numbers behind it: still only its line.
edit "$DATA/big.log" '
if "aot_joint_graph" in env and env["frame_id"] == 0:
    lines = text.split("\n")
    k = next(i for i, l in enumerate(lines) if l.strip().startswith("add_1:"))
    new = []
    for i, l in enumerate(lines):
        l = re.sub(r"(?<![.\w])add_(\d+)\b", lambda m: "add_%d" % (int(m[1]) + 1), l) if i >= k else l
        if i == k:
            new.append("        add_1: \"f32[7]\" = torch.ops.aten.add.Tensor(primals_1, 5)")
        new.append(l)
    text = "\n".join(new)
' >more.log
diff_json "$DATA/big.log" more.log
is "an additional node is one line" "$(ask '.logs[0].texts[] | "\(.name) -\(.removed) +\(.added)"')" "aot_joint_graph -0 +1"

# Operands that change places are a difference, although every line looks alike without numbers.
edit "$DATA/big.log" '
if "aot_joint_graph" in env and env["frame_id"] == 0:
    text = text.replace("aten.sub.Tensor(embedding, getitem_1)", "aten.sub.Tensor(getitem_1, embedding)", 1)
' >swapped.log
diff_json "$DATA/big.log" swapped.log
is "swapped operands are a difference" "$(ask '.logs[0].texts[] | "-\(.removed) +\(.added)"')" "-1 +1"

edit "$DATA/recompiles.log" '
if env.get("artifact", {}).get("name") == "recompile_reasons" and env["frame_compile_id"] == 1 and env["frame_id"] == 0:
    text = text.replace("tensor '"'x'"' size mismatch at index 0", "tensor '"'x'"' stride mismatch at index 0")
' >reason.log
diff_json "$DATA/recompiles.log" reason.log
is "a recompile for another reason" "$(ask '.logs[0].recompiles[] | "\(.how) \(.before | .[0:24]) \(.after | .[0:26])"')" \
	"changed tensor 'x' size mismatch tensor 'x' stride mismatch"
edit "$DATA/recompiles.log" 'drop = env.get("frame_id") == 0 and env.get("frame_compile_id") == 2' >fewer.log
diff_json fewer.log "$DATA/recompiles.log"
is "an additional recompile is new; the others are matched" "$(ask '.logs[0].recompiles[] | "\(.how) \(.after)"')" "new n == 2"
is "nothing else differs after that" "$(counts)" "recompiles=1"

diff_json "$DATA/caches_cold.log" "$DATA/caches_warm.log"
is "caches differ" "$(ask '.logs[0].cache[] | "\(.before) | \(.after)"')" \
	"aotautograd miss, fx_graph miss | fx_graph hit, aotautograd hit"
edit "$DATA/dynamic.log" '
s = env.get("create_symbol")
if s and env["frame_id"] == 0: s["vr"] = "[2, 48]"' >range.log
diff_json "$DATA/dynamic.log" range.log
like "symbols differ" "$(ask '.logs[0].symbols[0] | "\(.how) \(.subject) \(.before) \(.after)"')" "^changed L\['x'\].*64\] .*48\]$"
edit "$DATA/compile_error.log" '
m = env.get("compilation_metrics")
if m and m.get("fail_type") == "InductorError": m["fail_type"] = m["fail_reason"] = None' >fixed.log
diff_json "$DATA/compile_error.log" fixed.log
is "failures differ" "$(ask '.logs[0].failures[] | "\(.how) \(.subject)"')" "gone torch._inductor.exc.InductorError"

# ---- directories ----
exits "a directory compared with itself" 0 tlparse --diff --json "$DATA/ranks4" "$DATA/ranks4"
diff_json "$DATA/ranks4" "$DATA/ranks2"
is "logs are matched by rank" "$(ask '[.logs[] | "\(.before.rank)-\(.after.rank)"] | join(" ")')" "0-0 1-1 2-null 3-null"
R=$DATA/ranks4/dedicated_log_torch_trace_rank_
diff_json "${R}0_fixture0.log" "${R}3_fixture3.log"
is "two single logs are matched whatever their ranks" "$(ask '.logs | length') $(ask '.logs[0].compiles[] | "\(.how) \(.subject)"')" "1 new lonely"

# ---- outputs ----
exits "without -o the page goes to standard output" 1 tlparse --diff "$DATA/training.log" after.log
like "the output is a page" "$(head -1 out)" '^<!doctype html>'
cp out page
exits "-o FILE" 1 tlparse --diff "$DATA/training.log" after.log -o out.html
ok "-o has the same page" cmp page out.html
is "-o leaves standard output empty" "$(wc -c <out)" 0
exits "--html=FILE" 1 tlparse --diff --html=other.html "$DATA/training.log" after.log
ok "--html=FILE has the same page" cmp page other.html
exits "--html without a file: standard output" 1 tlparse --diff --html "$DATA/training.log" after.log
exits "-o with --json" 1 tlparse --diff --json -o out.json "$DATA/training.log" after.log
ok "-o has valid JSON" jq -e .differs out.json
if command -v script >/dev/null; then
	script -qec "tlparse --diff $DATA/training.log after.log" /dev/null >out </dev/null
	like "a summary on a terminal" "$(tr -d '\r' <out)" "Configuration \(1\).*inductor.deterministic: false -> true"
	script -qec "tlparse --diff $DATA/simple.log $DATA/simple.log" /dev/null >out </dev/null
	like "no difference on a terminal" "$(tr -d '\r' <out)" "no difference"
else
	skip "on a terminal: a summary" "script is not installed"
fi

# ---- usage and bad input ----
exits "one operand is a usage error" 2 tlparse --diff "$DATA/simple.log"
exits "three operands are a usage error" 2 tlparse --diff "$DATA/simple.log" "$DATA/simple.log" "$DATA/simple.log"
exits "standard input twice is a usage error" 2 tlparse --diff - -
cp "$DATA/simple.log" keep.log
exits "-o rejects an input file" 2 tlparse --diff --json keep.log "$DATA/big.log" -o keep.log
ok "the input is unchanged" cmp keep.log "$DATA/simple.log"
exits "a missing file" 3 tlparse --diff "$DATA/simple.log" nosuch.log
: >empty.log
exits "an empty file" 3 tlparse --diff empty.log "$DATA/simple.log"
head -c 100000 /dev/urandom >binary.log
exits "a binary file" 3 tlparse --diff "$DATA/simple.log" binary.log
mkdir none
exits "a directory without logs" 3 tlparse --diff none "$DATA/ranks2"
exits "a full disk" 4 bash -c "tlparse --diff --json '$DATA/simple.log' '$DATA/simple.log' >/dev/full"
exits "--max is rejected" 2 tlparse --diff --max graphs=1 "$DATA/simple.log" "$DATA/simple.log"

head -c 60000 "$DATA/simple.log" >cut.log
diff_json "$DATA/simple.log" cut.log
is "a truncated log is compared up to its end" "$status" 1
like "a message says that it is damaged" "$(cat err)" "cut.log: damaged"
bad=
for log in "$ROOT"/tests/data/broken/*.log; do
	for mode in --json --html; do
		run timeout 60 tlparse --diff "$mode" "$log" "$DATA/simple.log"
		[ "$status" -le 1 ] || [ "$(basename "$log") $status" = "empty.log 3" ] || bad="$bad $(basename "$log"):$status"
	done
	run timeout 60 tlparse --diff --json "$log" "$log"
	[ "$status" -eq 0 ] || [ "$(basename "$log") $status" = "empty.log 3" ] || bad="$bad $(basename "$log")=itself:$status"
done
is "damaged and hostile logs" "$bad" ""
for kind in scheduler_prefix crlf blank_lines; do
	exits "$kind: compared with itself" 0 tlparse --diff --json "$ROOT/tests/data/broken/$kind.log" "$DATA/simple.log"
	sed 's/aten\.sin/aten.cos/' "$ROOT/tests/data/broken/$kind.log" >cos.log
	exits "$kind: texts are read again" 1 tlparse --diff --json cos.log "$DATA/simple.log"
	is "$kind: all texts are read" "$(ask '[.logs[].unread] | add') $(ask '[.logs[0].texts[] | select(.name == "aot_inference_graph") | .added] | add')" "0 1"
done

edit "$DATA/training.log" '
if "aot_forward_graph" in env: text += "\n</script><script>alert(1)</script>"
m = env.get("compilation_metrics")
if m and m["compile_id"] == "0/0": m["fail_type"] = "</script><img src=x onerror=alert(1)>"' >hostile.log
run tlparse --diff "$DATA/training.log" hostile.log
is "hostile text does not become markup" "$(grep -c -e 'alert(1)</script>' -e '<img src=x' out)" 0

# ---- bounds ----
python3 - <<'PY'
import hashlib
for name, word in (("many_a.log", "one"), ("many_b.log", "two")):
    with open(name, "w") as f:
        for i in range(3000):
            text = f"line {i} {word}"
            f.write(f'V1121 07:59:23.{i:06} 1 a.py:1] {{"artifact": {{"name": "x{chr(97 + i % 26)}_{i}", "encoding": "string"}}, "frame_id": 0, '
                    f'"frame_compile_id": 0, "attempt": 0, "has_payload": "{hashlib.md5(text.encode()).hexdigest()}"}}\n\t{text}\n')
PY
diff_json many_a.log many_b.log
is "too many texts: the rest is counted" "$(ask '.logs[0] | "\(.texts | length) \(.texts_left) \([.texts[] | select(.shown)] | length)"')" "3000 2500 500"
python3 - <<'PY'
import hashlib, random
random.seed(1)
for name in ("wild_a.log", "wild_b.log"):
    text = "\n".join(random.choice("abcdefghij") * random.randint(1, 9) for _ in range(60000))
    with open(name, "w") as f:
        f.write(f'V1121 07:59:23.000000 1 a.py:1] {{"artifact": {{"name": "x", "encoding": "string"}}, "frame_id": 0, "frame_compile_id": 0, '
                f'"attempt": 0, "has_payload": "{hashlib.md5(text.encode()).hexdigest()}"}}\n')
        f.writelines(f"\t{line}\n" for line in text.split("\n"))
PY
diff_json wild_a.log wild_b.log
is "texts with nothing in common: a coarse, shortened diff" "$status $(ask '.logs[0].texts[0] | "\(.coarse) \(.left_out > 0)"')" "1 true true"
# ---- documents of --json ----
tlparse --json "$DATA/graph_breaks.log" >one.json
fxexplain --json "$DATA/graph_breaks.log" >other.json
tlparse --json "$DATA/recompiles.log" >third.json
exits "a document compared with itself" 0 tlparse --diff --json one.json one.json
exits "a document of tlparse compared with fxexplain's" 0 tlparse --diff --json one.json other.json
exits "a log compared with its document" 0 tlparse --diff --json "$DATA/graph_breaks.log" one.json
tlparse --json "$DATA/mix.log" >mix.json
diff_json "$DATA/mix.log" mix.json
is "seconds of a backward are those of its compilation" "$(ask '[.logs[].compile_ids[] | select(.before_seconds != .after_seconds)] | length')" 0
exits "two documents that differ" 1 tlparse --diff --json one.json third.json
rows=$(jq -c '[.counts | .graph_breaks, .recompiles, .failures]' out)
tlparse --diff --json "$DATA/graph_breaks.log" "$DATA/recompiles.log" >logs.json
is "documents differ as their logs do" "$rows" "$(jq -c '[.counts | .graph_breaks, .recompiles, .failures]' logs.json)"
exits "a page of two documents" 1 tlparse --diff one.json third.json -o documents.html
tlparse --json "$DATA/ranks4" >ranks.json
diff_json "$DATA/ranks4" ranks.json
is "documents of several inputs are compared input by input" "$status $(ask '[.logs[] | .before == (.after + {pid: .before.pid})] | unique | tojson') $(ask '.logs | length')" "0 [true] 4"
tlparse --json "$DATA/recompiles.log" "$DATA/graph_breaks.log" >two.json
diff_json one.json two.json
tlparse --diff --json one.json third.json >want.json
is "an input that one side lacks is compared with nothing" "$(ask '.logs[0].graph_breaks, (.logs[1].graph_breaks | length) | tojson')" "$(jq -c '.logs[0].graph_breaks, 6' want.json)"
exits "a document without inputs" 3 tlparse --diff one.json <(jq -c '.inputs = []' one.json) -o x
sed 's/"attempt":[0-9]*/"attempt":99999/' one.json >astray.json
exits "rows with invalid references" 3 tlparse --diff one.json astray.json -o x
# ---- another machine, another name ----
tlparse --diff --json "$DATA/v215_hop.log" "$DATA/hop.log" >faster.json 2>err
is "a faster machine is one finding" "$(jq -c '[.logs[0].times[] | [.how, .subject]]' faster.json)" '[["faster","everything 5.8 times faster"]]'
sed 's/recompiles\.py/renamed.py/g' "$DATA/recompiles.log" >renamed.log
tlparse --diff --json "$DATA/recompiles.log" renamed.log >renamed.json 2>err
is "a renamed script: frames are matched by function and graph" "$(jq -c '.counts | [.compiles, .recompiles, .failures, .texts, .artifacts]' renamed.json)" '[0,0,0,0,0]'
sed 's#/home/user/app/#/srv/checkout/#g; s#torchinductor_user#torchinductor_other#g' "$DATA/hop.log" >elsewhere.log
exits "other directories, users and caches are not differences" 0 tlparse --diff --json "$DATA/hop.log" elsewhere.log
done_testing
