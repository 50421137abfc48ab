"""Graphs of many kinds for graph_roundtrip.py: each as torch makes it (make_fx, AOTAutograd, export, Dynamo, symbolic_trace, by hand).

A case is (name, GraphModule, inputs or None): with inputs the written module is also run and traced again.
"""
import torch
import torch.nn.functional as F
from torch import fx, nn
from torch._dynamo.backends.common import aot_autograd
from torch.fx.experimental.proxy_tensor import make_fx

torch.manual_seed(0)


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.n = nn.BatchNorm2d(8)
        self.b = nn.Conv2d(8, 8, 3, padding=1)
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        y = F.relu(self.n(self.a(x)))
        y = F.relu(self.b(y) + y)
        return self.head(F.adaptive_avg_pool2d(y, 1).flatten(1))


class Block(nn.Module):
    def __init__(self, d=16, heads=2):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.n1, self.n2, self.up, self.down = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, d // self.heads).transpose(1, 2) for y in self.qkv(self.n1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.n2(x)), approximate="tanh"))


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.fc = nn.LSTMCell(4, 8), nn.Linear(8, 2)

    def forward(self, xs):
        h, c = torch.zeros(xs.shape[1], 8), torch.zeros(xs.shape[1], 8)
        for x in xs.unbind(0):
            h, c = self.cell(x, (h, c))
        return {"out": self.fc(h), "state": (h, c)}


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.table = nn.EmbeddingBag(20, 4, mode="sum"), nn.Embedding(20, 4, padding_idx=0)

    def forward(self, tokens, offsets):
        return self.bag(tokens, offsets), self.table(tokens)


@torch.library.custom_op("pt2rt::scale", mutates_args=())
def scale(x: torch.Tensor, by: float, mode: str = "up", sizes: list[int] | None = None) -> torch.Tensor:
    return x * by


@scale.register_fake
def _(x, by, mode="up", sizes=None):
    return torch.empty_like(x)


@torch.library.custom_op("pt2rt::fill_", mutates_args={"x"})
def fill_(x: torch.Tensor, value: float) -> None:
    x.fill_(value)


def x(*shape, **kw):
    return torch.randn(*shape, **kw)


def literals(a):
    b = torch.ops.aten.full.default([2, 3], float("-inf"), dtype=torch.float32, layout=torch.strided, device=torch.device("cpu"))
    c = torch.ops.aten.where.ScalarOther(a > 0.25, b, float("nan"))
    d = torch.ops.aten.clamp.default(a, None, 1e-07)
    e = torch.ops.aten.add.Tensor(a.long(), 9223372036854775807)
    f = torch.ops.aten.to.dtype(a, torch.bfloat16, False, True, torch.contiguous_format)
    g = torch.ops.aten.mul.Tensor(a.to(torch.complex64), 1.5 - 2j)
    h = torch.ops.aten.div.Tensor_mode(a, 3.0, rounding_mode="floor")
    i = torch.ops.aten.empty_strided.default([2, 3], [3, 1], dtype=torch.int8, device=torch.device("cpu"))
    return c, d, e, f, g, h, torch.ops.aten.zeros_like.default(i), None, [d, (f,)]


def indexing(a, i):
    b = a[:, 1:3, None]
    c = a[..., ::2]
    d = a[i, i]
    a = a.clone()
    a[0] = 1.5
    a[:, 1] += 2
    return b, c, d, a, torch.cat([a, a.T], -1), a.unbind(1)[0], torch.ops.aten.index.Tensor(a, [None, i])


def eager_only(n):
    y = n.sin_().add_(2)
    z = torch.randint(0, 5, (3,))
    return y * torch.rand_like(n), torch.dropout(y, 0.5, True), z, torch.bernoulli(torch.sigmoid(n))


def branches(p, a, b):
    def outer(u, v):
        return torch.cond(u.sum() > 0, lambda s, t: s @ t, lambda s, t: s + t, (u, v))

    return torch.cond(p, outer, lambda u, v: u - v, (a, b))


def loop(n, a):
    return torch.while_loop(lambda i, v: i > 0, lambda i, v: (i - 1, v * 2 + i), (n, a))


def scanned(a):
    from torch._higher_order_ops.scan import scan

    return scan(lambda c, v: (c + v, c * v), torch.zeros(3), a, dim=0)


def associative(a):
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(lambda p, q: p * q, a, dim=0, combine_mode="generic")


def flex(q, k, v):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 32, 32, device="cpu")
    return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + 0.5 * (i - j), block_mask=mask)


@torch.compiler.nested_compile_region
def region(a, w):
    return torch.tanh(a @ w)


def regions(a, w):
    return region(region(a, w), w) + 1


def checkpointed(a, w):
    from torch.utils.checkpoint import checkpoint

    return checkpoint(lambda u: torch.sin(u @ w).relu(), a, use_reentrant=False).sum()


def modes(a):
    with torch.no_grad():
        b = a * 2
    with torch.autocast("cpu", dtype=torch.bfloat16):
        b = b @ b
    return b.float() + a


def shapes(a, b):
    n = a.shape[0]
    torch._check(n > 1)
    y = a.view(n // 2, -1) if n % 2 == 0 else a
    return y.repeat(2, 1), torch.arange(2 * n + 1), b[: n - 1].sum(), n * 3, torch.sym_max(n, 4)


def nonzero(a):
    i = a.nonzero()
    torch._check(i.shape[0] >= 1)
    return i.sum(0), i.shape[0]


def real(example):
    """Inputs like these; None where a size is symbolic."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily():
        return real_inputs(example)


def real_inputs(example):
    out = []
    for t in example:
        if not isinstance(t, torch.Tensor) or any(not isinstance(n, int) for n in t.shape):
            return None
        value = torch.randn(t.shape, dtype=t.dtype) if t.is_floating_point() else torch.ones(t.shape, dtype=t.dtype)
        out.append(torch.empty_strided(t.shape, t.stride(), dtype=t.dtype).copy_(value))
    return tuple(out)


def capture(fn, *args, dynamic=False, stage="forward", grad=False):
    """The graphs that Dynamo, and AOTAutograd behind it, hand to a backend."""
    torch._dynamo.reset()
    taken = {}

    def keep(key):
        def compiler(gm, example):
            taken.setdefault(key, (gm, real(example)))
            return gm.forward
        return compiler

    if stage == "dynamo":
        def backend(gm, example):
            taken.setdefault("dynamo", (gm, None))
            return gm.forward
    else:
        backend = aot_autograd(fw_compiler=keep("forward"), bw_compiler=keep("backward"))
    out = torch.compile(fn, backend=backend, dynamic=dynamic, fullgraph=True)(*args)
    if grad:
        leaves = [t for t in torch.utils._pytree.tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad]
        sum(t.sum() for t in leaves).backward()
    return taken[stage]


def joint(model, args):
    from torch._functorch.aot_autograd import aot_export_module

    return aot_export_module(model, args, trace_joint=True, output_loss_index=0)[0]


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = Block()

    def forward(self, a):
        return (self.m(a).square().mean(),)


def by_hand():
    """What tracing does not make, but a graph may hold."""
    g = fx.Graph()
    b = g.create_node("placeholder", "L_b_", name="l_b_", type_expr=torch.Tensor)
    a = g.placeholder("a", default_value=3)
    g.placeholder("*rest")
    import math
    import operator as op

    n = [g.call_function(f, (b, a)) for f in (op.add, op.sub, op.mul, op.truediv, op.floordiv, op.mod, op.pow, op.matmul, op.and_,
                                              op.or_, op.xor, op.lshift, op.rshift, op.eq, op.ne, op.lt, op.le, op.gt, op.ge)]
    n += [g.call_function(f, (b,)) for f in (op.neg, op.pos, op.invert, op.not_, op.truth, op.index, math.floor, abs, round)]
    n += [g.call_function(f, (b, a)) for f in (op.iadd, op.isub, op.imul, op.ior, op.ipow, op.imatmul, op.ifloordiv, op.ilshift)]
    n.append(g.call_function(op.pow, (2, b)))
    n.append(g.call_function(op.contains, (b, 3)))
    n.append(g.call_function(op.getitem, (b, (slice(None, a, 2), Ellipsis, None, -1))))
    n.append(g.call_function(op.getitem, ({"k": b, 3: [a]}, "k")))
    n.append(g.call_function(op.setitem, (b, (Ellipsis, 0), 5)))
    n.append(g.call_function(getattr, (b, "shape")))
    n.append(g.call_function(getattr, (b, "nothing", None)))
    n.append(g.call_method("permute", (b, 1, 0)))
    n.append(g.call_method("__getitem__", (b, "a'b\"c\n\\é\x01")))
    n.append(g.call_module("layers.0.fc", (b,), {"scale": a}))
    n.append(g.get_attr("layers.0.weight"))
    n.append(g.get_attr("layers.deep.2.table"))
    n.append(g.call_function(torch.ops.aten.uniform.default, (b, 0.5), {"to": 1e22}))
    n.append(g.call_function(torch.sym_sum, ((a, b, 3),)))
    n.append(g.call_function(torch.nn.functional.pad, (b, (1, -2)), {"mode": "constant", "value": -0.0}))
    n.append(g.call_function(dict, (), {"x": [], "y": (), "z": {}, "w": ((b,),), "v": [{"q": (a, [b])}]}))
    n.append(g.call_function(torch.add, (b, -(2**70)), {"alpha": 2**64}))
    n.append(g.call_function(torch.full, ((2,), complex(1, -2)), {"dtype": torch.complex128, "device": torch.device("cuda", 1)}))
    n.append(g.call_function(torch.full, ((2,), complex(0, 0.5)), {"memory_format": torch.channels_last, "x": torch.sparse_coo}))
    n.append(g.call_function(torch.Tensor.add_, (b, 1.7976931348623157e308, 5e-324, 1e16, 123456789.125, 0.1)))
    n.append(g.create_node("call_function", torch.neg, (b,), {}, name="lambda_1"))
    n.append(g.create_node("call_function", torch.neg, (b,), {}, name="tensor"))
    g.output({"all": n, "one": (b,), "none": None, "s": slice(a, None, b)})
    root = nn.Module()
    root.layers = nn.Module()
    root.layers.add_module("0", nn.Module())
    root.layers.get_submodule("0").fc = nn.Linear(2, 2)
    root.layers.get_submodule("0").weight = nn.Parameter(torch.ones(2))
    root.layers.deep = nn.Module()
    root.layers.deep.add_module("2", nn.Module())
    root.layers.deep.get_submodule("2").register_buffer("table", torch.tensor([1, 2]))
    return fx.GraphModule(root, g)


def hop_by_hand():
    """A user's Triton kernel: its text needs no triton."""
    from torch._higher_order_ops.triton_kernel_wrap import triton_kernel_wrapper_functional, triton_kernel_wrapper_mutation

    g = fx.Graph()
    a, n = g.placeholder("arg0_1"), g.placeholder("arg1_1")
    kw = {"kernel_idx": 0, "constant_args_idx": 1, "grid": [(n, 1, 1), (4, 1, 1)], "tma_descriptor_metadata": {}, "kwargs":
          {"in_ptr": a, "n_elements": n, "BLOCK": 16, "eps": 1e-05}}
    f = g.call_function(triton_kernel_wrapper_functional, (), {**kw, "tensors_to_clone": ["in_ptr"]})
    o = g.call_function(__import__("operator").getitem, (f, "in_ptr"))
    g.call_function(triton_kernel_wrapper_mutation, (), kw)
    g.output((o, [None, o]))
    return fx.GraphModule(nn.Module(), g)


def all_cases():
    """Yields (name, function that makes (GraphModule, inputs or None))."""
    def made(fn, *args, **kw):
        return lambda: (make_fx(fn, **kw)(*args), args)

    def exported(model, args, **kw):
        return lambda: (torch.export.export(model, args, **kw).graph_module, None)

    i = torch.tensor([0, 1])
    yes = torch.tensor(True)
    d = torch.export.Dim("n", min=2, max=64)
    yield "literals", made(literals, x(2, 3))
    yield "indexing", made(indexing, x(3, 3), i)
    yield "random", made(eager_only, x(3))
    yield "conv", made(Conv().eval(), x(2, 3, 8, 8))
    yield "lstm", made(Cell(), x(3, 2, 4))
    yield "bag", made(Bag(), torch.tensor([1, 2, 3, 4]), i)
    yield "custom", made(lambda a: scale(a, 1.5, "down", [2, 3]), x(3))
    yield "complex", made(lambda a: torch.view_as_real(torch.fft.fft(a) * 2j), x(4))
    yield "int8", made(lambda a: (a * a).sum(dtype=torch.int64) // 3, torch.randint(-9, 9, (5,), dtype=torch.int8))
    yield "symbolic", made(shapes, x(4, 6), x(9), tracing_mode="symbolic")
    yield "cond_make_fx", made(branches, yes, x(3, 3), x(3, 3))
    yield "while_make_fx", made(loop, torch.tensor(3), x(2))
    yield "pre_dispatch", made(modes, x(3, 3), pre_dispatch=True)
    yield "symbolic_trace", lambda: (fx.symbolic_trace(Conv().eval()), (x(2, 3, 8, 8),))
    yield "sequential_trace", lambda: (fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))), (x(2, 4),))
    yield "joint", lambda: (joint(Loss(), (x(2, 4, 16),)), None)
    yield "export_conv", exported(Conv().eval(), (x(2, 3, 8, 8),))
    yield "export_dynamic", exported(Block().eval(), (x(4, 6, 16),), dynamic_shapes=({0: d},))
    yield "export_dict", exported(Cell(), (x(3, 2, 4),))
    yield "export_unlifted", lambda: (torch.export.export(Block().eval(), (x(4, 6, 16),)).module(), None)
    yield "dynamo_block", lambda: capture(Block(), x(2, 4, 16), stage="dynamo")
    yield "dynamo_dynamic", lambda: capture(shapes, x(6, 4), x(9), stage="dynamo", dynamic=True)
    yield "dynamo_modes", lambda: capture(modes, x(3, 3), stage="dynamo")
    yield "dynamo_index", lambda: capture(indexing, x(3, 3), i, stage="dynamo")
    yield "dynamo_cond", lambda: capture(branches, yes, x(3, 3), x(3, 3), stage="dynamo")
    yield "dynamo_scan", lambda: capture(scanned, x(5, 3), stage="dynamo")
    yield "dynamo_flex", lambda: capture(flex, x(1, 2, 32, 8), x(1, 2, 32, 8), x(1, 2, 32, 8), stage="dynamo")
    yield "dynamo_region", lambda: capture(regions, x(3, 3), x(3, 3), stage="dynamo")
    yield "dynamo_checkpoint", lambda: capture(checkpointed, x(3, 3, requires_grad=True), x(3, 3), stage="dynamo")
    yield "aot_conv", lambda: capture(Conv().eval(), x(2, 3, 8, 8))
    yield "aot_train", lambda: capture(Block(), x(2, 4, 16, requires_grad=True), grad=True)
    yield "aot_backward", lambda: capture(Conv(), x(2, 3, 8, 8), stage="backward", grad=True)
    yield "aot_dynamic", lambda: capture(Block(), x(2, 4, 16), dynamic=True)
    yield "aot_cond", lambda: capture(branches, yes, x(3, 3), x(3, 3))
    yield "aot_while", lambda: capture(loop, torch.tensor(3), x(2))
    yield "aot_scan", lambda: capture(scanned, x(5, 3))
    yield "aot_associative", lambda: capture(associative, x(5, 3))
    yield "aot_region", lambda: capture(regions, x(3, 3), x(3, 3))
    yield "aot_mutation", lambda: capture(lambda a: (fill_(a, 2.5), a.add_(1).mul(2))[1], x(3))
    yield "aot_random", lambda: capture(lambda a: F.dropout(a, 0.25), x(3))
    yield "by_hand", lambda: (by_hand(), None)
    yield "triton", lambda: (hop_by_hand(), None)
