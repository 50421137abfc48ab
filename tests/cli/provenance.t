#!/bin/bash
# -i: the line links of the pages against those of the Rust tlparse 0.4.3; and what it has not.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

# ---- what the links of a page say, against the texts beside it ----
cat >check.py <<'PY'
"""check.py DIR [RUST-DIR] : links of our pages point at lines that exist; with RUST-DIR, they hold those of its pages."""
import glob, json, os, re, sys

def element(path, id):
    return re.search(r'<script[^>]*id="%s"[^>]*>(.*?)</script>' % id, open(path, encoding="utf-8").read(), re.S).group(1)

def lines(text):
    return text.split("\n")

bad = links = same = 0
def check(good, *what):
    global bad
    if not good:
        bad += 1
        print(*what)

SIDES = {"preToPost": ("pre", "post"), "postToPre": ("post", "pre"), "codeToPost": ("code", "post"), "postToCode": ("post", "code"),
         "aotToPost": ("aot", "post"), "postToAot": ("post", "aot")}
for page in sorted(glob.glob(sys.argv[1] + "/provenance_tracking_*.html")):
    name = os.path.basename(page)
    model = json.loads(element(page, "model"))
    check(model["sets"], name, "has no sets")
    for s in model["sets"]:
        text = {k: lines(model["texts"][s[k]]["text"]) if s[k] is not None else [] for k in ("pre", "post", "code", "aot")}
        for k in ("pre", "post", "code", "aot"):
            if s[k] is None:
                continue
            file = os.path.join(sys.argv[1], model["texts"][s[k]]["path"])
            check(os.path.exists(file), name, file, "is not there")
            if file.endswith(".txt"):
                check(open(file, newline="").read() == model["texts"][s[k]]["text"], name, file, "differs")
        for way, (a, b) in SIDES.items():
            for n, to in s["links"][way].items():
                links += len(to)
                check(1 <= int(n) <= len(text[a]) and all(1 <= m <= len(text[b]) for m in to), name, way, n, to)
        # A call names its kernel, and its handle stands in a comment above it.
        for which, key in (("code", "codeCalls"), ("aot", "aotCalls")):
            for kernel, first, last in s["links"][key]:
                full = s["links"]["kernels"][kernel][0]
                check(full.rsplit(":", 1)[0] in text[which][first - 1], name, full, "is not in line", first)
                above = "\n".join(text[which][max(0, first - 12):first - 1])
                check("handles] " + full in above, name, full, "has no handle above line", first)
                check(text[which][last - 1].rstrip()[-1:] in ");", name, full, "does not end in line", last)
    if len(sys.argv) < 3:
        continue
    # The Rust tool shows one compilation of a compile id: the last text of each sort. It counts lines of the generated code
    # from the first that is not empty.
    theirs = json.loads(element(os.path.join(sys.argv[2], name), "lineMappings"))
    last = model["sets"][-1]
    skip = {k: next((i for i, l in enumerate(lines(model["texts"][last[k]]["text"])) if l), 0) if last[k] is not None else 0 for k in ("code", "aot")}
    for way, rust in (("preToPost", "preToPost"), ("postToPre", "postToPre"), ("codeToPost", "pyCodeToPost"), ("postToCode", "postToPyCode"),
                      ("aotToPost", "cppCodeToPost"), ("postToAot", "postToCppCode")):
        a, b = (skip.get(k, 0) for k in SIDES[way])
        want = {int(n) + a: sorted({m + b for m in to}) for n, to in theirs.get(rust, {}).items()}
        got = {int(n): to for n, to in last["links"][way].items()}
        same += sum(len(v) for v in want.values())
        check(want == got, name, way, "is", got, "there", want)
print("%d links" % links + (", %d of them the Rust tool's" % same if len(sys.argv) > 2 else ""))
sys.exit(bool(bad))
PY

for name in provenance_jit aoti hop models caches_cold caches_warm; do
	rm -rf report
	exits "$name: exit 0" 0 tlparse "$DATA/$name.log" -o report -i
	run python3 check.py report
	if [ "$status" -eq 0 ]; then pass "$name: links are lines, $(cat out)"; else fail "$name: links" "$(cat out)"; fi
done

# The forward of provenance_jit alone: the log without the compilation of the backward.
awk '/"fx_graph_runnable"/ && ++n == 2 {exit} {print}' "$DATA/provenance_jit.log" >forward.log

if rust=$("$ROOT/scripts/rust-tlparse" "$BUILD" 2>err); then
	for log in "$DATA/aoti.log" forward.log "$DATA/hop.log" "$DATA/models.log"; do
		name=$(basename "$log" .log)
		rm -rf ours theirs
		"$rust" "$log" -o theirs -i -p --no-browser >rust.out 2>&1
		tlparse "$log" -o ours -i -p 2>err
		run python3 check.py ours theirs
		if [ "$status" -eq 0 ]; then pass "$name: the same links as the Rust tool's, $(cat out)"; else fail "$name: links as the Rust tool's" "$(cat out)"; fi
	done

	# Where the Rust tool is wrong: it takes the last mapping of a compile id, so that the forward's links are lost when the
	# backward has none. Ours are two sets, see below.
	"$rust" "$DATA/provenance_jit.log" -o lost -i -p --no-browser >rust.out 2>&1
	is "the Rust tool loses links of the forward" "$(grep -c '"preToPost": {}' lost/provenance_tracking_-_0_0_0.html)" 1
else
	skip "the Rust tool's links" "$(cat err)"
fi
model() { python3 -c 'import re,sys; print(re.search(r"id=\"model\">(.*?)</script>", open(sys.argv[1]).read(), re.S).group(1))' "$1"; }
tlparse "$DATA/provenance_jit.log" -o both -i
model both/provenance_tracking_-_0_0_0.html >model.json
is "forward and backward are two sets" "$(jq -c '[.sets[]|[(.links.preToPost|length),(.links.codeCalls|length)]]' model.json)" '[[4,3],[0,4]]'
is "-p makes no difference to links" "$(tlparse "$DATA/provenance_jit.log" -o both_p -i -p && model both_p/provenance_tracking_-_0_0_0.html | jq -c '.sets[].links')" \
	"$(jq -c '.sets[].links' model.json)"
is "lines have their sources" "$(jq -c '.sets[0].links|[.sources[0][:3],.preSource,.postSource]' model.json)" \
	'[["/home/user/app/provenance_jit.py",12,"forward"],[[9,0]],[[3,0]]]'
tlparse --json "$DATA/provenance_jit.log" >document.json
is "--json has equal links" "$(jq -c '.logs[0].provenance[].links' document.json)" "$(jq -c '.sets[].links' model.json)"
is "--json has artifact numbers" "$(jq -c '.logs[0].provenance[]|[.pre,.post,.code,.aot,.map,.stacks]' document.json)" $'[3,12,13,null,14,15]\n[3,28,29,null,30,31]'
is "without mappings there is no provenance" "$(tlparse --json "$DATA/models.log" | jq -c '.logs[].provenance')" '[]'
is "one page per compile id" "$(cd both && echo provenance_*)" "provenance_tracking_-_-_-_-.html provenance_tracking_-_0_0_0.html"
like "the index links to the pages" "$(cat both/index.html)" 'href="provenance_tracking_-_0_0_0.html"'

# ---- hostile ----
cat >hostile.py <<'PY'
import hashlib, json, sys
def record(members, payload=None):
    head = dict(members)
    if payload is not None:
        head["has_payload"] = hashlib.md5(payload.encode()).hexdigest()
    print("V1121 07:59:23.043000 1234 torch/x.py:915] " + json.dumps(head))
    for line in (payload.split("\n") if payload is not None else []):
        print("\t" + line)
evil = '</script><script>alert(1)</script><!-- &"\' ]]>'
cid = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
art = lambda name, enc="string": {"artifact": {"name": name, "encoding": enc}, **cid}
record(art("before_pre_grad_graph"), "# File: %s:3 in f, code: %s\n%s = 1\nx = 2\n" % (evil, evil, evil))
record(art("inductor_post_grad_graph"), "x = 1 # %s\n" % evil)
record({"inductor_output_code": {"filename": evil}, **cid}, "def call(args):\n    # [Provenance debug handles] %s:1\n    %s(x)\n" % (evil, evil))
record(art("inductor_provenance_tracking_node_mappings", "json"),
       json.dumps({"preToPost": {"x": ["x", evil], evil: [evil]}, "cppCodeToPost": {evil + ":1": ["x"]}}))
record(art("inductor_provenance_tracking_kernel_stack_traces", "json"), json.dumps({evil + ":1": [evil], "__proto__": [evil]}))
PY
python3 hostile.py >hostile.log
exits "hostile texts: exit 0" 0 tlparse hostile.log -o hostile -i
page=hostile/provenance_tracking_-_0_0_0.html
is "hostile text does not end the script" "$(grep -c '<script>alert' "$page")" 0
is "... the model is complete" "$(model "$page" | jq -c '[.sets[0].links.preToPost,.sets[0].links.codeToPost]')" '[{"3":[1]},{"3":[1]}]'
like "... the text is unchanged" "$(model "$page" | jq -r '.texts[0].text')" '</script><script>alert\(1\)'
done_testing
