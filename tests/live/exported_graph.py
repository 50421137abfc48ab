"""exported_graph.py FOLDER : exported programs of many kinds as FOLDER/NAME.pt2, and as FOLDER/NAME.json the graph (docs/formats/GRAPH.md) that
torch makes when it loads each. Prints the names; one that torch cannot export or load goes to standard error."""
import json
import math
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import fx
from torch.export import Dim

warnings.simplefilter("ignore")
torch.manual_seed(0)
folder = sys.argv[1]


class Cond(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)
        self.register_buffer("b", torch.ones(8))

    def forward(self, x, n):
        y = torch.cond(x.sum() > 0, lambda x: x.sin() + self.b, lambda x: x.cos(), (x,))
        a, b = torch.split(self.lin(y), [3, 5], dim=1)
        v, i = torch.topk(b, 2)
        z = torch.clamp(a, min=float("-inf"), max=float("inf"))
        w = torch.full((x.shape[0], 2), math.nan, dtype=torch.float64, device="cpu")
        idx = x[:, torch.tensor([0, 2])]
        u = x.to(torch.bfloat16).contiguous(memory_format=torch.contiguous_format)
        return {"z": z, "r": (v, i, w, idx, u, torch.cat([v, a.repeat(1, 1)], 1), None, 3)}, x.shape[0] * 2 + n.shape[0]


class Nested(torch.nn.Module):
    def forward(self, x):
        def inner(x):
            return torch.cond(x.mean() > 1, lambda x: (x + 1, x.sum()), lambda x: (x - 1, x.amax()), (x,))

        return torch.cond(x.sum() > 0, inner, lambda x: (x * 2, x.amin()), (x,))


class Mutation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))
        self.norm = torch.nn.BatchNorm1d(8)

    def forward(self, x, flag: bool, k: int):
        self.count.add_(1)
        q = torch.einsum("ij,kj->ik", x, x)
        return self.norm(x) * self.count, x.max(dim=1).values, F.scaled_dot_product_attention(x[None], x[None], x[None]), q * k


class Loop(torch.nn.Module):
    def forward(self, x, it):
        return torch._higher_order_ops.while_loop(lambda i, x: i.sum() > 0, lambda i, x: (i - 1, x * 2), (it, x))


class Unbacked(torch.nn.Module):
    def forward(self, x, i):
        n = i.item()
        torch._check(n >= 2)
        torch._check(n < 5)
        gru = torch.gru(x[None], torch.zeros(1, 1, 8), [torch.ones(24, 8), torch.ones(24, 8), torch.ones(24), torch.ones(24)],
                        True, 1, 0.0, False, False, True)
        grid = torch.meshgrid(x[0], x[1], indexing="ij")
        return x.new_zeros(n), torch.nonzero(x), x[None, ..., 1:, ::2], torch.unbind(x)[0], grid[0], gru[0]


class Numbers(torch.nn.Module):
    def forward(self, x, n: int, f: float):
        m = (n + 1) // 2 + n % 3
        return x * (1 + 2j), x[: n - 1] * f, torch.zeros(m, 2).round(decimals=1), x.std(dim=[0], correction=0, keepdim=True)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.GroupNorm(2, 4)
        self.rnn, self.table = torch.nn.LSTM(4, 5, batch_first=True), torch.nn.Embedding(7, 4, padding_idx=0)

    def forward(self, x, tokens, *, scale=None):
        y = F.max_pool2d(F.gelu(self.norm(self.conv(x)), approximate="tanh"), 2)
        out, (h, c) = self.rnn(self.table(tokens))
        up = F.interpolate(y, scale_factor=2, mode="bilinear")
        return up, out, h, c, F.pad(y, (1, 2), value=-math.inf) if scale is None else y * scale


def value(a):
    if isinstance(a, fx.Node):
        return a.name
    if a is None or isinstance(a, (bool, int)):
        return a
    if isinstance(a, float):
        return a if math.isfinite(a) else {"float": "nan" if math.isnan(a) else "inf" if a > 0 else "-inf"}
    if isinstance(a, complex):
        return {"complex": f"({a.real:.17g}{a.imag:+.17g}j)"}
    if isinstance(a, str):
        return {"str": a}
    if isinstance(a, list):
        return [value(i) for i in a]
    if isinstance(a, tuple):
        return {"tuple": [value(i) for i in a]}
    if isinstance(a, (torch.dtype, torch.layout, torch.memory_format)):
        return {"name": str(a)}
    if isinstance(a, torch.device):
        return {"device": str(a)}
    raise TypeError(repr(a))


def target(n):
    t = n.target
    if n.op != "call_function":
        return t
    if isinstance(t, torch._ops.OpOverload):
        return f"torch.ops.{t}"
    if isinstance(t, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{t.__name__}"
    return f"{t.__module__}.{t.__name__}"


def nodes(gm):
    meta = {"dtype": "f32", "size": []}  # does not count, but inputs need some
    return [{"name": n.name, "op": n.op, "target": target(n), "args": [value(a) for a in n.args],
             "kwargs": {k: value(v) for k, v in n.kwargs.items()}, **({"meta": meta} if n.op == "placeholder" else {})}
            for n in gm.graph.nodes]


def children(gm, parent, out):
    for name, m in gm.named_children():
        if isinstance(m, fx.GraphModule):
            out.append({"name": name, "parent": parent, "nodes": nodes(m)})
            children(m, len(out), out)
    return out


def save(name, ep):
    torch.export.save(ep, f"{folder}/{name}.pt2")
    gm = torch.export.load(f"{folder}/{name}.pt2").graph_module
    with open(f"{folder}/{name}.json", "w") as f:
        json.dump({"graph_json": 1, "nodes": nodes(gm), "modules": children(gm, 0, [])}, f)
    print(name)


x = torch.randn(4, 8)
d = Dim("d", min=3, max=64)
cases = {
    "cond": (Cond(), (x, torch.randn(5)), {}, {"x": {0: d}, "n": {0: Dim.AUTO}}),
    "nested": (Nested(), (x,), {}, None),
    "mutation": (Mutation().eval(), (x, True, 3), {}, None),
    "training": (Mutation(), (x, True, 3), {}, None),
    "loop": (Loop(), (x, torch.tensor([3])), {}, None),
    "unbacked": (Unbacked(), (x, torch.tensor(3)), {}, None),
    "numbers": (Numbers(), (x, 3, 0.5), {}, {"x": None, "n": Dim.DYNAMIC, "f": None}),
    "net": (Net(), (torch.randn(2, 3, 8, 8), torch.zeros(2, 3, dtype=torch.int64)), {}, None),
    "keyword": (Net(), (torch.randn(2, 3, 8, 8), torch.zeros(2, 3, dtype=torch.int64)), {"scale": torch.tensor(2.0)}, None),
}
for name, (model, args, kwargs, dims) in cases.items():
    for strict in (False, True):
        label = f"{name}_strict" if strict else name
        try:
            ep = torch.export.export(model, args, kwargs, dynamic_shapes=dims, strict=strict)
            save(label, ep)
            save(label + "_core", ep.run_decompositions())
        except Exception as e:
            print(f"{label}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}", file=sys.stderr)
