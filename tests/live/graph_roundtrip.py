"""graph_roundtrip.py BUILD : graphs of torch, written by torch, read and written by us, and compared node by node. Prints TAP.

Each graph goes out in both of torch's forms (the class of repro.py; print_readable with strides and devices). What comes back in
both of ours is parsed by Python itself: a statement is a node, its function is what its name evaluates to, its operands are what
they evaluate to with the original's nodes under their names. Where there are inputs, the module is also run and traced again.
"""
import ast
import contextlib
import io
import math
import operator
import os
import random
import subprocess
import sys
import tempfile
import warnings

import torch
from torch import fx
from torch._dynamo.debug_utils import NNModuleToString
from torch.fx.experimental.proxy_tensor import make_fx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from graph_models import all_cases  # noqa: E402

warnings.simplefilter("ignore")
HEADER = {"torch": torch, "tensor": torch.tensor, "device": torch.device, "fx": fx, "inf": math.inf, "nan": math.nan, "math": math,
          "_operator": operator, "NoneType": type(None)}
BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv:
          operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.BitAnd: operator.and_,
          ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift}
COMPARE = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
           ast.GtE: operator.ge}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}
INPLACE = {k: getattr(operator, "i" + v.__name__.rstrip("_")) for k, v in BINARY.items()}


class Differs(Exception):
    pass


def same(a, b):
    if isinstance(a, fx.Node) or isinstance(b, fx.Node):
        return a is b
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return isinstance(a, tuple) == isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, slice) and isinstance(b, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return type(a) is type(b) and a == b


class Forward:
    """A forward() against the graph it should be."""

    def __init__(self, node, gm, names):
        self.args, self.body = node.args, node.body
        # Text has parameters first, wherever the graph has them.
        self.nodes = iter(sorted(gm.graph.nodes, key=lambda n: n.op != "placeholder"))
        self.env = {}
        self.globals = names

    def value(self, tree):
        if isinstance(getattr(tree, "ctx", None), ast.Store):
            tree.ctx = ast.Load()
        return eval(compile(ast.Expression(tree), "graph", "eval"), self.globals, self.env)

    def want(self, op, target, args, kwargs, name):
        n = next(self.nodes)
        if n.op != op or n.target != target or not same(tuple(n.args), tuple(args)) or not same(dict(n.kwargs), dict(kwargs)):
            raise Differs(f"{n.format_node()}: {op} {target} {args} {kwargs}")
        if name is not None:
            if n.name != name:
                raise Differs(f"{n.name} is called {name}")
            self.env[name] = n
        return n

    def root(self, tree):
        """("self", path), (a value, None) or (None, None)."""
        path = []
        while True:
            if isinstance(tree, ast.Attribute):
                path.append(tree.attr)
                tree = tree.value
            elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "getattr" and len(tree.args) == 2:
                path.append(tree.args[1].value)
                tree = tree.args[0]
            else:
                break
        if isinstance(tree, ast.Name) and tree.id == "self":
            return "self", ".".join(reversed(path))
        return (tree, path) if isinstance(tree, ast.Name) and tree.id in self.env else (None, None)

    def call(self, tree, name):
        base, path = self.root(tree.func)
        args = [self.value(a) for a in tree.args]
        kwargs = {}
        for k in tree.keywords:
            kwargs.update({k.arg: self.value(k.value)} if k.arg else self.value(k.value))
        if base == "self":
            self.want("call_module", path, args, kwargs, name)
        elif base is not None or isinstance(tree.func, ast.Attribute) and isinstance(tree.func.value, (ast.Constant, ast.List, ast.Tuple, ast.Dict)):
            receiver = self.value(base if base is not None else tree.func.value)
            self.want("call_method", path[0] if base is not None else tree.func.attr, [receiver, *args], kwargs, name)
        else:
            self.want("call_function", self.value(tree.func), args, kwargs, name)

    def expression(self, tree, name):
        if isinstance(tree, ast.Call) and not (isinstance(tree.func, ast.Name) and tree.func.id == "getattr" and self.root(tree)[0] == "self"):
            return self.call(tree, name)
        if isinstance(tree, ast.BinOp):
            return self.want("call_function", BINARY[type(tree.op)], [self.value(tree.left), self.value(tree.right)], {}, name)
        if isinstance(tree, ast.Compare):
            return self.want("call_function", COMPARE[type(tree.ops[0])], [self.value(tree.left), self.value(tree.comparators[0])], {}, name)
        if isinstance(tree, ast.UnaryOp):
            return self.want("call_function", UNARY[type(tree.op)], [self.value(tree.operand)], {}, name)
        if isinstance(tree, ast.Subscript):
            return self.want("call_function", operator.getitem, [self.value(tree.value), self.value(tree.slice)], {}, name)
        base, path = self.root(tree)
        if base == "self":
            return self.want("get_attr", path, [], {}, name)
        if isinstance(tree, ast.Attribute):
            return self.want("call_function", getattr, [self.value(tree.value), tree.attr], {}, name)
        raise Differs(f"what is this: {ast.unparse(tree)}")

    def parameters(self):
        a = self.args
        names = [(p.arg, p.arg) for p in a.args[1:]] + ([(a.vararg.arg, "*" + a.vararg.arg)] if a.vararg else [])
        defaults = [None] * (len(a.args) - len(a.defaults)) + list(a.defaults)
        for (name, target), d in zip(names, defaults[1:] + [None]):
            n = next(self.nodes)
            if n.op != "placeholder" or n.target != target or not same(tuple(n.args), (self.value(d),) if d else ()):
                raise Differs(f"{n.format_node()}: parameter {target}")
            self.env[name] = n

    def statement(self, s, after):
        """1 when the next statement belongs to this one: "x += y; z = x"."""
        if isinstance(s, ast.AugAssign):
            self.want("call_function", INPLACE[type(s.op)], [self.value(s.target), self.value(s.value)], {}, None).name
            self.env[self.target(after)] = self.last(after)
            return 1
        if isinstance(s, ast.Return):
            self.want("output", "output", [self.value(s.value)], {}, None)
            return 0
        target = s.targets[0] if isinstance(s, ast.Assign) else s.target
        if isinstance(target, ast.Subscript):
            self.want("call_function", operator.setitem, [self.value(target.value), self.value(target.slice), self.value(s.value)], {}, None)
            self.env[self.target(after)] = self.last(after)
            return 1
        if isinstance(s.value, ast.Constant) and s.value.value is None:
            for t in s.targets:
                if t.id not in self.env:
                    raise Differs(f"{t.id} is freed but was never made")
                del self.env[t.id]
            return 0
        if isinstance(s.value, ast.Name) and self.env[s.value.id].op == "placeholder":
            n = self.env.pop(s.value.id)
            if n.name != target.id:
                raise Differs(f"{n.name} is called {target.id}")
            self.env[target.id] = n
            return 0
        self.expression(s.value, target.id)
        return 0

    def target(self, s):
        return (s.targets[0] if isinstance(s, ast.Assign) else s.target).id

    def last(self, s):
        n = self.made
        if n.name != self.target(s):
            raise Differs(f"{n.name} is called {self.target(s)}")
        return n

    def check(self):
        self.parameters()
        inner = self.want

        def want(*a):
            self.made = inner(*a)
            return self.made
        self.want = want
        skip = 0
        for s, after in zip(self.body, self.body[1:] + [None]):
            skip = skip - 1 if skip else self.statement(s, after)
        if next(self.nodes, None) is not None:
            raise Differs("nodes are missing")


def classes(body):
    return [s for s in body if isinstance(s, ast.ClassDef)]


def check_class(tree, gm, names, seen):
    functions = {s.name: s for s in tree.body if isinstance(s, ast.FunctionDef)}
    Forward(functions["forward"], gm, names).check()
    seen.append(gm)
    children = {c.name: c for c in classes(tree.body)}
    init = functions.get("__init__")
    if init:
        local = {c.name: c for c in classes(init.body)}
        for s in init.body:
            if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and getattr(s.value.func, "id", None) in local:
                children[s.targets[0].attr] = local[s.value.func.id]
    wanted = {n: m for n, m in gm.named_children() if isinstance(m, fx.GraphModule)}
    if set(wanted) != set(children):
        raise Differs(f"submodules {sorted(children)} instead of {sorted(wanted)}")
    for n, m in wanted.items():
        check_class(children[n], m, names, seen)


def torch_names(gm):
    """What torch's text may name besides its header: the functions that it calls by a name of its own."""
    names = dict(HEADER)
    for m in gm.modules():
        if isinstance(m, fx.GraphModule):
            names.update({k: v for k, v in m.graph.python_code("self").globals.items() if k.isidentifier()})
    names.update(HEADER)
    return names


def runnable(gm, indent=0, name="Repro"):
    """As NNModuleToString.convert, with the submodules that it leaves out."""
    tab = " " * indent
    lines = [f"class {name}(torch.nn.Module):", "    def __init__(self) -> None:", "        super().__init__()"]
    out = [tab + line for line in lines]
    for n, m in gm.named_children():
        if isinstance(m, fx.GraphModule):
            out += [runnable(m, indent + 8, n), f"{tab}        self.{n} = {n}()"]
    out += [tab + "    " + line for line in gm.code.split("\n")]
    return "\n".join(out) + "\n"


def launcher(gm):
    """The class as torch writes it into repro.py, where it can."""
    try:
        return {"repro": NNModuleToString.convert(gm)}
    except Exception:
        return {}


def logged():
    """(GraphModule, TORCH_LOGS=graph_code text of it)."""
    taken = []

    def backend(gm, example):
        taken.append(gm)
        return gm.forward

    def fn(a, b):
        return torch.cond(a.sum() > 0, lambda u, v: u @ v, lambda u, v: u - v, (a, b)) * 2

    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        torch._logging.set_logs(graph_code=True)
        try:
            torch._dynamo.reset()
            torch.compile(fn, backend=backend)(torch.ones(3, 3), torch.ones(3, 3))
        finally:
            torch._logging.set_logs()
    return taken[0], err.getvalue()


class Text:
    """Says what was done to it, with all brackets."""

    def __init__(self, text):
        self.text = text

    def __neg__(self):
        return Text(f"(-{self.text})")

    def __invert__(self):
        return Text(f"(~{self.text})")

    def __getitem__(self, i):
        return Text(f"{self.text}[{getattr(i, 'text', i)}]")


for _op in BINARY.values():
    _sign = {v: k for k, v in BINARY.items()}[_op].__name__
    _name = _op.__name__.strip("_")
    setattr(Text, f"__{_name}__", lambda a, b, s=_sign: Text(f"({a.text} {s} {getattr(b, 'text', b)})"))
    setattr(Text, f"__r{_name}__", lambda a, b, s=_sign: Text(f"({b} {s} {a.text})"))


def expressions(build, d):
    """Nested expressions as a person writes them mean what Python reads. Returns (how many, the first that does not)."""
    rng = random.Random(1)

    def make(depth):
        r = rng.random()
        if depth == 0 or r < 0.2:
            return rng.choice("xyxy23")
        if r < 0.75:
            sign = rng.choice(["+", "-", "*", "/", "//", "%", "**", "<<", ">>", "&", "|", "^", "@"])
            return f"{make(depth - 1)} {sign} {make(depth - 1)}"
        return rng.choice(["-{}", "~{}", "({})", "x[{}]"]).format(make(depth - 1))

    good = {}
    while len(good) < 1000:
        e = make(4)
        try:
            good[e] = eval(e, {"x": Text("x"), "y": Text("y")}).text
        except Exception:  # 2 @ 3, or no x and no y in it
            continue
    lines = [f"    r{i} = {e}\n" for i, e in enumerate(good)]
    os.mkdir(f"{d}/e")
    with open(f"{d}/e/text", "w") as f:
        f.write("def forward(self, x, y):\n" + "".join(lines) + f"    return [{', '.join(f'r{i}' for i in range(len(good)))}]\n")
    subprocess.run([f"{build}/tests/test_fxcode", f"{d}/e"], check=True)
    with open(f"{d}/e/text.run") as f:
        body = f.read().replace("torch.nn.Module", "object")
    names = {"_operator": operator}
    exec(body, names)
    got = names["Repro"]().forward(Text("x"), Text("y"))
    return len(good), [(e, w, g.text) for (e, w), g in zip(good.items(), got) if g.text != w][:1]


def give(mod, gm):
    """The values that the text has no room for."""
    for n, v in list(gm.named_parameters(recurse=False)) + list(gm.named_buffers(recurse=False)):
        if n.isidentifier():
            setattr(mod, n, v)
    for n, m in gm.named_children():
        if not isinstance(m, fx.GraphModule):
            mod.add_module(n, m)
        else:
            give(mod.get_submodule(n), m)


def outcome(mod, inputs):
    torch.manual_seed(1)
    return mod(*torch.utils._pytree.tree_map_only(torch.Tensor, torch.clone, inputs))


def equal(a, b):
    fa, sa = torch.utils._pytree.tree_flatten(a)
    fb, sb = torch.utils._pytree.tree_flatten(b)
    return sa == sb and all(torch.equal(torch.nan_to_num(torch.view_as_real(p) if p.is_complex() else p),
                                        torch.nan_to_num(torch.view_as_real(q) if q.is_complex() else q))
                            if isinstance(p, torch.Tensor) else p == q for p, q in zip(fa, fb))


def retrace(mod, inputs):
    return make_fx(mod)(*inputs).code


def check_run(text, gm, inputs):
    names = torch_names(gm)
    exec(compile(text, "repro", "exec"), names)
    mod = names["Repro"]()
    give(mod, gm)
    mod.train(gm.training)
    if not equal(outcome(mod, inputs), outcome(gm, inputs)):
        raise Differs("the module computes something else")
    if retrace(mod, inputs) != retrace(gm, inputs):
        raise Differs("torch traces it to another graph")


def check(text, gm, inputs, form):
    seen = []
    tree = ast.parse(text.replace("class <lambda>(", "class Lambda(")).body
    check_class(classes(tree)[0], gm, torch_names(gm), seen)
    if inputs is not None and form == "run":
        check_run(text, gm, inputs)
    return sum(len(m.graph.nodes) for m in seen)


def main():
    only = os.environ.get("ONLY")
    build = sys.argv[1]
    number, nodes, cases = 0, 0, []
    with tempfile.TemporaryDirectory() as d:
        for name, make in all_cases():
            if only and only not in name:
                continue
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    gm, inputs = make()
                texts = {"runnable": runnable(gm), "code": gm.code, "stride": gm.print_readable(print_output=False, include_stride=True, include_device=True),
                         "plain": gm.print_readable(print_output=False), "colour": gm.print_readable(print_output=False, colored=True),
                         "expanded": gm.print_readable(print_output=False, expanded_def=True)}
            except Exception as e:  # what torch itself cannot do is no finding about us
                print(f"# {name}: torch: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
                number += 1
                print(f"not ok {number} - {name}: made")
                continue
            if any(isinstance(m, fx.GraphModule) for m in gm.children()):
                del texts["code"]  # one module alone
            else:
                texts.update(launcher(gm))
            cases.append((name, gm, inputs, texts))
            for form, text in texts.items():
                with open(f"{d}/{name}.{form}", "w") as f:
                    f.write(text)
        if not only:
            gm, text = logged()
            cases.append(("logs", gm, None, {"text": text}))
            with open(f"{d}/logs.text", "w") as f:
                f.write(text)
        tool = subprocess.run([f"{build}/tests/test_fxcode", d], capture_output=True, text=True)
        print("".join(f"# {line}\n" for line in (tool.stdout + tool.stderr).splitlines()), end="")
        for name, gm, inputs, texts in cases:
            bad = []
            for form in texts:
                for ours in ("run", "read"):
                    path = f"{d}/{name}.{form}.{ours}"
                    if not os.path.exists(path):
                        bad.append(f"{form}: was not read")
                        continue
                    with open(path) as f:
                        text = f.read()
                    try:
                        nodes += check(text, gm, inputs, ours)
                    except Differs as e:
                        bad.append(f"{form} -> {ours}: {e}")
                    except Exception as e:
                        bad.append(f"{form} -> {ours}: {type(e).__name__}: {e}")
            number += 1
            print(f"{'not ok' if bad else 'ok'} {number} - {name}: {len(list(gm.graph.nodes))} nodes, {len(texts)} texts")
            for b in bad:
                print("# " + str(b)[:600].replace("\n", "\n# "))
        n, wrong = expressions(build, d)
        number += 1
        print(f"{'not ok' if wrong else 'ok'} {number} - {n} nested expressions")
        print("".join(f"# {w}\n" for w in wrong), end="")
    print(f"1..{number}")
    print(f"# {nodes} nodes compared")


main()
