"""The plain spellings of tests/unit/graph/test_plain.c, called: do both come to the same operators with the same arguments? And the table.

    python spellings.py ROOT      prints TAP
"""
import importlib.machinery, importlib.util, os, re, sys

root = sys.argv[1]
loader = importlib.machinery.SourceFileLoader("spellings", os.path.join(root, "scripts/gen-spellings"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("spellings", loader))
loader.exec_module(tool)
import torch
from torch import device

with open(os.path.join(root, "tests/unit/graph/test_plain.c")) as f:
    text = f.read()
text = text[text.index("} calls[] = {"):text.index("static void plain_of")]
pairs = re.findall(r'\{"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\}', text)


def calls(expression, names):
    return tool.calls_of(lambda: eval(expression, {"torch": torch, "device": device}, names), None, (), {})


def inputs():
    x, y, i = torch.rand(8, 16), torch.rand(8, 16), torch.tensor([0, 1, 2, 3])
    for n, t in enumerate((x, y, i)):
        t.made = n
    return x, y, i


n = 0
print("TAP version 13")
for call, plain in pairs:
    if "mylib" in call:
        continue
    n += 1
    x, y, i = inputs()
    mine, error = calls(call, {"x": x, "y": y, "i": i})
    theirs, their_error = calls(plain, {"x": x, "y": y, "z": i})
    same = error is their_error and len(mine) == len(theirs) and all(a[0] is b[0] and tool.alike(a[1], b[1]) for a, b in zip(mine, theirs))
    if ".prims." in call and not same:  # what _to_copy is lowered to: the same values
        a, b = eval(call), eval(plain, {"torch": torch, "x": x})
        same = torch.equal(a, b) and a.dtype is b.dtype and a.stride() == b.stride()
    symbolic = "sym_size" in call  # a number, no operator
    print("ok" if same and (mine or symbolic) else "not ok", n, "-", call, "is", plain)
    if not same:
        print("#", error, their_error, [c[0] for c in mine], [c[0] for c in theirs])
sys.argv = ["gen-spellings", "--check", os.path.join(root, "share/fxminify/spellings.txt")]
bad = tool.main()
print("not ok" if bad else "ok", n + 1, "- every row of the table")
print("1..%d" % (n + 1))
sys.exit(0)
