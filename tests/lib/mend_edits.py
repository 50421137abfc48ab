"""mend_edits.py SHARE: candidates and comparisons of share/mend, which need no torch but for the types of values: given here. Prints ok and not ok lines."""
import os, sys, tempfile

share = sys.argv[1]
program = ""
for part in ("zygote/zygote.py", "mend/values.py", "mend/edits.py", "mend/regions.py", "mend/parts.py", "mend/goals.py", "mend/guards.py", "mend/candidates.py", "mend/sandbox.py", "mend/runner.py", "mend/server.py"):
    with open(os.path.join(share, part)) as f:
        program += f.read() + "\n"
exec(compile(program.rstrip().removesuffix("main()"), "mend", "exec"), globals())
folder = tempfile.mkdtemp()


class Fake:
    """The server, for candidates: what a probe finds is told."""
    def __init__(self, text, types):
        self.main, self.start, self.types = os.path.join(folder, "app.py"), {"cwd": folder}, types
        with open(self.main, "w") as f:
            f.write(text)

    def text_of(self, path, texts):
        if path in texts:
            return texts[path]
        with open(path) as f:
            return f.read()

    def probe_types(self, texts, probes):
        return {"%s:%d:%s" % (p, line, e): self.types.get(e, "") for p, rows in probes.items() for line, exprs in rows for e in exprs}


def candidates(text, line, types, **finding):
    server = Fake(text, types)
    f = {"kind": "graph-break", "file": server.main, "line": line, "function": "forward", "title": "", "stack": [], **finding}
    return [(c["kind"], c["texts"][server.main], c["price"]) for c in Candidates(server, {"texts": {}, "finding": f}).all()]


def check(what, good):
    print("ok - " + what if good else "not ok - " + what)


HEAD = "import torch\nimport logging\nlog = logging.getLogger()\nstats = {'n': 0}\n\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.calls = 0\n        self.every = 2\n    def forward(self, x):\n"
LINE = HEAD.count("\n") + 1
c = candidates(HEAD + "        h = x * 2\n        if h.max().item() > 3:\n            log.warning('%f', h.max().item())\n        return h\n", LINE + 1,
               {"h": "Tensor:float", "h.max()": "Tensor:float", "h.max().item()": "float"})
op = [t for k, t, _ in c if k == "operator"]
check("a log under a condition becomes an operator", len(op) == 1 and "def _log_forward(_order: torch.Tensor, h_max: torch.Tensor) -> None:\n    if h_max.item() > 3:" in op[0])
check("what was in the graph stays there", op and "_log_forward(_order, h.max().detach())" in op[0] and "log.warning('%f', h_max.item())" in op[0])
check("the last resort has a price", [p for k, _, p in c if k == "guard"] == ["not done any more in compiled code"])
c = candidates(HEAD + "        self.calls += 1\n        if self.calls % self.every == 0:\n            log.info('%d', self.calls)\n        return x\n", LINE + 2,
               {"self": "M", "self.calls": "int", "self.every": "int", "self.calls % self.every": "int"})
op = [t for k, t, _ in c if k == "operator"]
check("a counter and what it prints become one operator", any("_objects[_at].calls += 1\n    if _objects[_at].calls % every == 0:" in t for t in op))
check("the module makes itself known", any("self._at = len(_objects)\n        _objects.append(self)" in t for t in op))
c = candidates(HEAD + "        y = x\n        if x.max().item() > 3:\n            y = x / 3\n        return y\n", LINE + 1, {"x": "Tensor:float", "x.max()": "Tensor:float"})
check("a branch that chooses a value", any(k == "where" and "y = torch.where(x.max() > 3, x / 3, y)" in t for k, t, _ in c))
d = candidates(HEAD + "        return x * (2.0 if x.max().item() > 3 else 1.0)\n", LINE, {"x": "Tensor:float", "x.max()": "Tensor:float"})
check("a conditional expression", any(k == "where" and "return x * (torch.where(x.max() > 3, 2.0, 1.0))" in t for k, t, _ in d))
check("a value that is returned is no operator", not any(k == "operator" for k, _, _ in c))
c = candidates(HEAD + "        if x.isnan().any():\n            raise ValueError('NaN')\n        return x\n", LINE, {"x": "Tensor:float", "x.isnan().any()": "Tensor:bool"})
check("a check that raises", any(k == "assert" and "torch._assert_async(torch.logical_not(x.isnan().any()), 'NaN')" in t for k, t, _ in c)
      and any(k == "operator" and "raise ValueError('NaN')" in t for k, t, _ in c))
c = candidates(HEAD + "        for i in range(3):\n            if x.sum() > i:\n                break\n        return x\n", LINE + 1, {"x": "Tensor:float", "x.sum()": "Tensor:float", "i": "int"})
check("a statement that leaves the loop is no operator", not any(k == "operator" for k, _, _ in c))
c = candidates(HEAD + "        out = []\n        out.append(x.mean().item())\n        return x, out\n", LINE + 1, {"x": "Tensor:float", "x.mean()": "Tensor:float", "out": "list"})
check("a list of the function cannot go into an operator", not any(k == "operator" for k, _, _ in c))
c = candidates(HEAD + "        total, n = 0.0, 0\n        for i in range(3):\n            if x[i].sum() == 0:\n                continue\n            y = x[i].mean()\n            total = total + y\n            n += 1\n        return total / max(1, n)\n", LINE + 2, {"x": "Tensor:float"})
check("what a loop skips leaves its sums as they are", any(k == "where" and "            _skipped = x[i].sum() == 0\n            y = x[i].mean()\n            total = torch.where(_skipped, total, total + y)\n"
                                                           "            n = torch.where(_skipped, n, n + (1))\n        return" in t for k, t, _ in c))
c = candidates("import random\n" + HEAD + "        y = x * (0.9 + random.random())\n        return y\n", LINE + 1, {"random.random()": "float", "x": "Tensor:float"})
check("a random number is the value of an operator", any(k == "operator" and "return torch.tensor(random.random(), dtype=torch.float64)" in t and "y = x * (0.9 + _random(_order))" in t
                                                         for k, t, _ in c))
c = candidates(HEAD + "        y = torch.full_like(x, x.mean())\n        return y\n", LINE, {"x": "Tensor:float"})
check("a tensor of a value that is a tensor", any(k == "tensor" and "y = torch.ones_like(x) * (x.mean())" in t for k, t, _ in c))
c = candidates(HEAD + "        y = F.one_hot(x, max(x.max() + 1, 4))[..., :4]\n        return y\n", LINE, {"x": "Tensor:int"})
check("one_hot() of a size that data decides, cut to one that they do not", any(k == "tensor" and "y = (x.unsqueeze(-1) == torch.arange(4, device=x.device)).long()" in t for k, t, _ in c))
c = candidates("import torch\nfrom solver import solve\nfield = torch.nn.Linear(2, 2)\nrun = torch.compile(lambda y: solve(lambda t, y: field(y), y))\nprint(run(3))\n", 5, {})
check("what a compiled lambda calls", any(k == "region" and "field = torch.compile(field)\nrun = lambda y: solve(lambda t, y: field(y), y)\n" in t and p == "solve() itself is not compiled" for k, t, p in c))
c = candidates("import torch\nfrom solver import solve\nclass Field:\n    def f(self, y):\n        return y\n    def g(self, y):\n        return y\nfield = Field()\nrun = torch.compile(lambda y: solve(field, y))\n", 9, {})
check("methods that a library calls", any(k == "region" and "field = Field()\nfield.f = torch.compile(field.f)\nfield.g = torch.compile(field.g)\nrun = lambda y: solve(field, y)\n" in t
                                          and p == "solve() itself is not compiled" for k, t, p in c))
text = "import torch\nmodel = Model()\nmodel = torch.compile(model)\nhead = Head()\nhead.f = torch.compile(head.f)\n"
c = candidates(text, 3, {}, kind="recompile", function="forward", count=3)
check("parts are compiled where it recompiles often", [k for k, _, _ in c if k == "region"] == ["region"])
c = candidates(text, 3, {}, kind="recompile", function="forward", count=1)
check("... and not for once", not any(k == "region" for k, _, _ in c))
c = candidates("import torch\nclass M(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n        self.n = n\n", 5, {"self": "M", "n": "int", "self.n": "int"}, function="__init__")
check("what makes an object what it is stays", not any(k in ("guard", "operator") for k, _, _ in c))
c = candidates("import torch\nfrom library import EMA\nnet = torch.nn.Linear(2, 2)\nema = EMA(net)\n@torch.compile\ndef train(x):\n    net(x).sum().backward()\n    ema.update()\n", 8, {}, function="train")
check("what others are given stays the object that it is", any(k == "region" and "ema = EMA(net)\nnet.forward = torch.compile(net.forward)\ndef train" in t for k, t, _ in c))


def why(text, line):
    server = Fake(text, {})
    return Candidates(server, {"texts": {}, "finding": {"kind": "graph-break", "file": server.main, "line": line, "function": "forward", "stack": []}}).why()


check("a loop that a tensor ends is said to be hard", why(HEAD + "        while x.sum() > 0:\n            x = x - 1\n        return x\n", LINE).startswith("how often this loop runs depends on a tensor"))
check("so is a branch that leaves", why(HEAD + "        if x.sum() > 0:\n            return x\n        return x + 1\n", LINE) == "which code runs next depends on a tensor")
check("a statement is not", why(HEAD + "        y = x.item()\n        return y\n", LINE) == "")
c = candidates(HEAD + "        y = x\n        if x.max() > 3:\n            stats['n'] += 1\n            y = x / 3\n        return y\n", LINE + 1,
               {"x": "Tensor:float", "x.max()": "Tensor:float", "y": "Tensor:float", "_chosen": "Tensor:bool"})
check("a branch with a value and an effect becomes two", any(k == "where" and "y = torch.where(_chosen, x / 3, y)" in t and "stats['n'] += 1" in t and "@_outside" in t for k, t, _ in c))
c = candidates(HEAD + "        for i in range(3):\n            if x.numel() == 0:\n                continue\n            x = x + 1\n        return x\n", LINE + 1, {"x": "Tensor:float"})
check("a shortcut is left out, at its price", [(t.count("continue"), bool(p)) for k, t, p in c if k == "branchless"] == [(0, True)])
c = candidates("import torch\n\nclass A:\n    def __init__(self):\n        self.q = torch.nn.Linear(2, 2)\n    @torch.compile\n    def act(self, x):\n        if x.sum() > 0:\n            return 1\n"
               "        return self.q(x)\n", 8, {"x": "Tensor:float"}, function="act")
check("the module that a compiled method calls", any(k == "region" and "self.q.forward = torch.compile(self.q.forward)" in t and "@torch.compile" not in t for k, t, _ in c))
PARTS = "import torch\nfrom library import Net\nnet = Net()\n%s\nprint(run(3))\n"
c = candidates(PARTS % "run = torch.compile(net.generate, dynamic=True)", 5, {}, function="generate")
check("the parts of a model whose method breaks", any(k == "region" and "run = net.generate\nfor _child in net.children():\n" in t and "        _part.forward = torch.compile(_part.forward, dynamic=True)\n" in t for k, t, _ in c))
c = candidates(PARTS % "run = torch.compile(net)", 5, {})
check("the parts of a model that breaks itself", any(k == "region" and "run = net\nfor _child in net.children():\n" in t for k, t, _ in c))
c = candidates("import torch\ndef f(x):\n    return x\nrun = torch.compile(f)\n", 3, {"x": "Tensor:float"}, function="f")
check("a function has no parts", not any("children" in t for _, t, _ in c))

eager = {"status": "exit 0", "steps": [[[1.0, 2.0]]], "outer": [[1.0]], "state": {"n": [3.0]}, "text": ["oloss 0.5", "ea"], "files": {"f": [1, "x"]}}
none = {"parts": set(), "state": set(), "lines": [], "files": set()}
check("equal runs", compare(eager, eager, none, 1e-5) is None)
for what, change in (("parameters differ at step 1", {"steps": [[[1.1, 2.0]]]}), ("result of call 1 differs", {"outer": [[2.0]]}), ("n differs at the end", {"state": {"n": [4.0]}}),
                     ("line not printed on standard output: 'loss 0.5'", {"text": ["ea"]}), ("order of output differs", {"text": ["ea", "oloss 0.5"]}),
                     ("the file f differs", {"files": {}}), ("ends differently: raised X, eager exit 0", {"status": "raised X"})):
    check("it says which differs: " + what, compare(eager, {**eager, **change}, none, 1e-5) == what)
check("what differs by itself is not compared", compare(eager, {**eager, "state": {"n": [4.0]}}, find_volatile(eager, {**eager, "state": {"n": [5.0]}}), 1e-5) is None)
check("a tensor of one element is its number", compare(eager, {**eager, "state": {"n": [[3.0, 3.0, []]]}}, none, 1e-5) is None)
check("lines are followed through an edit", map_line("a\nb\nc\n", "a\nx\nb\nc\n", 2) == [3])
a, b = "one\ntwo\nthree\n", "one\nextra\ntwo\nthree\n"
path = os.path.join(folder, "app.py")
a, b = "x = 1\ny = 2\nz = 3\n", "x = 1\nextra = 0\ny = 2\nz = 3\n"
check("an edit is taken out again", without(Fake(a, {}), {path: a}, {path: b}, {path: b + "w = 4\n"}) == {path: a + "w = 4\n"})
