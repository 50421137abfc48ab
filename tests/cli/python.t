#!/bin/bash
# import pt2utils, and its pytest plugin, without torch: tests/lib/tracetorch replays recorded traces. With torch: tests/live/python.t.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
package=$ROOT/packaging/wheel/pt2utils
py() { PYTHONPATH=$ROOT/packaging/wheel:$ROOT/tests/lib/tracetorch python3 "$@"; }

# ---- documents.py: made from the pages, and what tools write is of these types ----
"$ROOT/scripts/gen-python-documents" >made.py 2>err
ok "documents.py is current (scripts/gen-python-documents makes it)" cmp made.py "$package/documents.py"
n=0
for log in "$DATA"/*.log "$DATA"/old/*.log "$ROOT"/tests/data/broken/*.log; do
	n=$((n + 1))
	fxexplain -q --json --show=metrics --show=graphs --show=guards "$log" >"explain$n.json" 2>/dev/null
done
find . -name 'explain*.json' -size 0 -delete
documents=(explain*.json)
ok "50 documents" test ${#documents[@]} -ge 50
is "what fxexplain writes of each log is of the types described" "$(py "$ROOT/tests/lib/document_types.py" ExplainDocument explain*.json 2>&1 | cut -c1-200 | head)" ""
for model in "$DATA"/aoti/*.pt2; do
	n=$((n + 1))
	aoti-checkinputs --json "$model" >"contract$n.json" 2>/dev/null || rm -f "contract$n.json"
done
aoti-checkinputs --json --probe "$DATA/aoti/mlp.pt2" 'f32[5,9]' >contract-given.json
is "what aoti-checkinputs writes, too" "$(py "$ROOT/tests/lib/document_types.py" ContractDocument contract*.json 2>&1 | head)" ""
V=$ROOT/tests/data/aoti/verify
python3 "$ROOT/tests/lib/mutate.py" "$DATA/aoti/verify/attention.pt2" wrong.pt2 6 >/dev/null
aoti-verify --json "$V/attention.exported.pt2" wrong.pt2 "$V/attention.pt:in[0]" >verify.json
is "and aoti-verify" "$(py "$ROOT/tests/lib/document_types.py" VerifyDocument verify.json 2>&1 | head)" ""
pt2-run --json --profile "$DATA/aoti/mlp.pt2" 'f32[5,8]' >run.json
is "and pt2-run" "$(py "$ROOT/tests/lib/document_types.py" RunDocument run.json 2>&1 | head)" ""
jq -c '.findings[0].line = "x" | .summary.graphs = null' explain1.json >bad.json
is "another type is found" "$(py "$ROOT/tests/lib/document_types.py" ExplainDocument bad.json | wc -l)" 2

# ---- the modules ----
is "Python 3.8 can read all modules" "$(python3 - "$package"/*.py <<'P'
import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path).read(), path, feature_version=(3, 8))
P
)" ""
is "importing it imports neither torch nor numpy, nor the documents" "$(py -c 'import sys, pt2utils
print(*{"torch", "numpy", "pt2utils.documents"} & set(sys.modules))')" ""
is "all that it promises is there" "$(py -c 'import pt2utils
print(*[n for n in pt2utils.__all__ if not hasattr(pt2utils, n) or n not in dir(pt2utils)])')" ""
modules=("$package"/*.py)
if mypy=$(command -v mypy); then
	is "mypy --strict" "$(cd "$ROOT/packaging/wheel" && "$mypy" --strict --cache-dir=/dev/null -p pt2utils 2>&1 | tail -n 5)" "Success: no issues found in ${#modules[@]} source files"
	printf 'import pt2utils\nwith pt2utils.watch() as w:\n    pass\nn: int = w.summary.graph_breaks\nw.nosuch\npt2utils.nosuch\nw.findings[0].location.line\n' >typed.py
	is "a program's mistakes are found" "$(MYPYPATH=$ROOT/packaging/wheel "$mypy" --strict --cache-dir=/dev/null typed.py | cut -d: -f1-2 | xargs)" "typed.py:5 typed.py:6 typed.py:7 Found 3 errors in 1 file (checked 1 source file)"
else
	skip "mypy --strict" "no mypy"
fi

# ---- logs and models ----
cat >use.py <<'P'
import os, sys
import pt2utils
data = os.environ["DATA"]
e = pt2utils.load(data + "/graph_breaks.log")
print(e.summary.graph_breaks, e.findings[0].location.function, e.verdict.component, e.raw["tool"], type(e).__name__)
print(str(e).splitlines()[0])
c = pt2utils.contract(data + "/aoti/mlp.pt2")
print(c.model, c.inputs[0].dtype, c.inputs[0].dims[1].size, c.fits)
c = pt2utils.check(data + "/aoti/mlp.pt2", "f32[5,9]")
print(c.fits, [(f.input, f.what, f.expected, f.given) for f in c.findings])
print(c)
print(pt2utils.check(data + "/aoti/mlp.pt2", ["f32[5,8]"]).fits)
for call in (lambda: pt2utils.load("nosuch.log"), lambda: pt2utils.contract("nosuch.pt2"), lambda: pt2utils.run("nosuch"), lambda: pt2utils.check(data + "/aoti/mlp.pt2", "x[")):
    try:
        print("no error", call())
    except pt2utils.Error as error:
        print(error.status, error.message.splitlines()[0])
try:
    pt2utils.check("m.pt2", [object()])
except TypeError as error:
    print(error)
P
run py use.py
is "load, contract, check, errors" "$(cat out err)" "8 strict dynamo fxexplain Explanation
skipped permanently falls back to eager: 14 compilations, 9 graphs, 8 graph breaks, 0 recompiles, 2 failures, 0.84 s of compile time
model float32 8 None
False [(0, 'size', '8', '9')]
model: the inputs do not fit
  input 0: size: expected 8, got 9; fix: $(aoti-checkinputs --json "$DATA/aoti/mlp.pt2" 'f32[5,9]' | jq -r '.findings[0].fix')
True
3 $(fxexplain nosuch.log 2>&1 | head -n 1)
3 $(aoti-checkinputs nosuch.pt2 2>&1 | head -n 1)
4 $(py -c 'import pt2utils
print("pt2utils has no tool \x27nosuch\x27 here: " + ", ".join(sorted(pt2utils.tools())))')
3 $(aoti-checkinputs "$DATA/aoti/mlp.pt2" 'x[' 2>&1 | head -n 1)
an input is a tensor, an array, a file or a spec, not object"
like "verify" "$(py -c 'import pt2utils, sys
v = pt2utils.verify(*sys.argv[1:])
print(v.status, v.runs[0].findings[0].kernel)' "$V/attention.exported.pt2" wrong.pt2 "$V/attention.pt:in[0]")" "^1 cpp_"
if python3 -c 'import numpy' 2>/dev/null; then
	is "run_model: arrays in, arrays out; by name, too" "$(py -c 'import os, numpy, pt2utils
x = numpy.ones((5, 8), numpy.float32)
r = pt2utils.run_model(os.environ["DATA"] + "/aoti/mlp.pt2", x)
print([v.shape for v in r.values] == [tuple(o.size) for o in r.outputs], abs(float(r.values[0].mean()) - r.outputs[0].mean) < 1e-4)')" "True True"
else
	skip "run_model: arrays in, arrays out" "no numpy"
fi

# ---- what a notebook shows: names of a log come from anywhere ----
cat >show.py <<'P'
import html.parser, json, re, sys
import pt2utils

class Look(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [a for a in attrs if a[0] not in ("style", "open")], attrs
        self.open += [tag] if tag != "br" else []
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.text += data

raw = json.load(open(sys.argv[1]))
evil = '<script>alert(1)</script>"\'`*[x](http://e)\x1b[31m'
def spoil(v):
    return {k: spoil(x) for k, x in v.items()} if isinstance(v, dict) else [spoil(x) for x in v] if isinstance(v, list) else evil if isinstance(v, str) else v
for document in (raw, {**spoil({k: raw[k] for k in ("findings", "verdict", "headline")}), "summary": raw["summary"]}):
    e = pt2utils.Explanation.of(document)
    look = Look()
    look.feed(e._repr_html_())
    look.close()
    assert not look.open and look.tags <= {"div", "p", "b", "br", "small", "details", "summary", "dl", "dt", "dd", "code", "span"}, look.tags
    assert all(f.title in look.text for f in e.findings)
    md = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", e._repr_markdown_().replace(r"\`", ""))  # without code spans
    print(document is raw, bool(re.search(r"(?<!\\)[<\[*]", md.replace("**", ""))), "\x1b" in str(e))
P
is "HTML is whole and escaped, text has no escape sequences" "$(py show.py explain1.json 2>&1)" "True False False
False False False"
is "20 findings, and how many more" "$(py -c 'import pt2utils, json, sys
raw = json.load(open(sys.argv[1])); raw["findings"] = raw["findings"][:1] * 25
e = pt2utils.Explanation.of(raw)
print(e._repr_html_().count("<details"), e._repr_markdown_().count("\n- "), "and 5 more findings" in e._repr_html_(), "and 5 more findings" in e._repr_markdown_())' "$(grep -L '"findings":\[\]' explain*.json | head -1)")" "20 20 True True"

# ---- watch: a trace of a block ----
cat >watch.py <<'P'
import os, sys
import pt2utils
data = os.environ["DATA"]
os.environ["TRACE"] = data + "/graph_breaks.log"
with pt2utils.watch() as w:
    import torch
    torch.compile(lambda: 1)()
    inside = w.summary.graph_breaks
alone = pt2utils.load(data + "/graph_breaks.log")
print("the same as the log", inside == w.summary.graph_breaks == alone.summary.graph_breaks, [f.title for f in w.findings] == [f.title for f in alone.findings],
      [f.location for f in w.findings] == [f.location for f in alone.findings], w.summary.damaged)
with pt2utils.watch() as outer:
    torch.compile(lambda: 1)()
    with pt2utils.watch() as w:
        pass
print("another block", outer.summary.graph_breaks, [f.location and f.location.file for f in outer.findings] == [f.location and f.location.file for f in alone.findings])
print("nothing", w.summary.compiles, w, w.summary.torch_version)
os.environ["TRACE"] = data + "/recompiles.log"
try:
    with pt2utils.watch() as w:
        torch.compile(lambda: 1)()
        raise ValueError("mine")
except ValueError as e:
    print("exception", e is w.exception, w.explanation.exception is e, w.summary.recompiles, len(torch._logging._internal.trace_log.handlers))
print("saved", pt2utils.load(w.save("saved")).summary.recompiles, sorted(n.split("_")[0] for n in os.listdir("saved")))
folder = w.trace
del w, outer
import gc; gc.collect()
print("removed", not os.path.exists(folder))
def fails():
    raise KeyError("k")
e = pt2utils.explain(fails)
print("explain", type(e.exception).__name__, e.summary.recompiles, torch._dynamo.resets)
w = pt2utils.watch()
for call in (lambda: w.summary, lambda: w.__enter__() and w.__enter__()):
    try:
        call()
    except (pt2utils.Error, RuntimeError) as e:
        print(type(e).__name__, e)
w.__exit__(None, None, None)
import logging
logging.disable(logging.CRITICAL)
try:
    pt2utils.watch().__enter__()
except pt2utils.Error as e:
    print(e.status, e)
P
run py watch.py
is "watch and explain" "$(cat out err)" "the same as the log True True True 0
another block 8 True
nothing 0 Nothing was compiled here 2.13.0
exception True True 9 0
saved 9 ['dedicated', 'exception.txt']
removed True
explain KeyError 9 2
Error watch() saw nothing yet: its block has not started
RuntimeError this watch has started already
4 watch() cannot trace: logging.disable() is in effect; call logging.disable(logging.NOTSET) before"
run env TRACETORCH_OLD=1 TRACETORCH_VERSION=1.13.1 PYTHONPATH="$ROOT/packaging/wheel:$ROOT/tests/lib/tracetorch" python3 -c 'import pt2utils
with pt2utils.watch(): pass'
is "a torch without a trace handler" "$(tail -n 1 err)" "pt2utils._tools.Error: watch() cannot trace torch 1.13.1: it has no LazyTraceHandler, TorchLogsFormatter; set TORCH_TRACE=DIR before the program starts, and pt2utils.load(DIR)"

# ---- a wheel, and make python ----
mkdir -p stage/bin && printf '#!/bin/sh\nexit 0\n' >stage/bin/fxexplain && chmod +x stage/bin/fxexplain && cp stage/bin/fxexplain program && mkdir wheels
if python3 "$ROOT/packaging/wheel/pack" stage program 0.1.0 manylinux_2_28_x86_64 wheels >/dev/null 2>err; then
	unzip -q wheels/pt2utils-*.whl -d wheel
	is "the wheel has every module and its types" "$(cd wheel/pt2utils && printf '%s\n' * | LC_ALL=C sort | xargs)" \
		"$(cd "$package" && printf '%s\n' *.py *.typed _catch.py | LC_ALL=C sort | xargs)"
	is "pytest finds the plugin" "$(PYTHONPATH=wheel python3 -c 'from importlib.metadata import distribution
print(*[(e.group, e.name, e.value) for e in distribution("pt2utils").entry_points])')" "('pytest11', 'pt2utils', 'pt2utils._pytest')"
else
	skip "a wheel" "libdeflate's library is missing"
fi
mkdir built && ln -s "$BUILD/bin" built/bin
ok "make python" "$ROOT/packaging/wheel/checkout" built
is "its folder has the package, the plugin and the tools" "$(PATH=/usr/bin:/bin PYTHONPATH=built/python python3 -c 'import pt2utils
from importlib.metadata import distribution
print(pt2utils.load("'"$DATA"'/simple.log").summary.graphs, [e.name for e in distribution("pt2utils").entry_points], len(pt2utils.tools()))')" "1 ['pt2utils'] ${#tools[@]}"
done_testing
