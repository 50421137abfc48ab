"""Layers with what follows them, LSTM: onednn.c and rnn_layer.c of aten."""
import torch

UNARY = [("none", [], None), ("relu", [], None), ("sigmoid", [], None), ("tanh", [], None), ("hardswish", [], None),
         ("leaky_relu", [0.2], None), ("hardtanh", [-0.5, 0.75], None), ("gelu", [], "none"), ("gelu", [], "tanh"), ("swish", [], None),
         ("hardsigmoid", [], None)]
F = torch.nn.functional
EXACT = {"none": lambda x, s, a: x, "relu": lambda x, s, a: x.relu(), "sigmoid": lambda x, s, a: x.sigmoid(), "tanh": lambda x, s, a: x.tanh(),
         "hardswish": lambda x, s, a: F.hardswish(x), "leaky_relu": lambda x, s, a: F.leaky_relu(x, *s), "hardtanh": lambda x, s, a: F.hardtanh(x, *s),
         "gelu": lambda x, s, a: F.gelu(x, approximate=a), "swish": lambda x, s, a: F.silu(x), "hardsigmoid": lambda x, s, a: F.hardsigmoid(x)}
BINARY = {"add": torch.add, "sub": torch.sub, "mul": torch.mul}
mk = torch.ops.mkldnn


def last(x):
    return x.contiguous(memory_format=torch.channels_last if x.dim() == 4 else torch.channels_last_3d)


def convolutions(t, dtype):
    conv = torch.ops.aten.convolution
    for name, scalars, algorithm in UNARY:
        for dims in (2, 3):
            g = t.pick([1, 2])
            x, w = last(t.rand(t.int(1, 3), 4 * g, *[t.int(5, 9)] * dims, dtype=dtype)), t.rand(6 * g, 4, *[t.int(1, 3)] * dims, dtype=dtype)
            b, p, s, d = t.pick([None, t.rand(6 * g, dtype=dtype)]), [t.int(0, 1)] * dims, [t.int(1, 2)] * dims, [1] * dims
            exact = lambda x, w, b, p, s, d, g, n, sc, al: EXACT[n](conv(x, w, b, s, p, d, False, [0] * dims, g), sc, al)  # noqa: E731
            t.check("mkldnn__convolution_pointwise", x, w, b, p, s, d, g, name, scalars, algorithm, exact=exact,
                    torch=lambda x, w, b, p, s, d, g, n, sc, al: mk._convolution_pointwise(x, w, b, p, s, d, g, n, sc, al))
            # torch's takes packed weights alone
            x, w = last(t.rand(2, 4 * g, *[5] * dims, dtype=dtype)), t.rand(4 * g, 6, *[t.int(1, 3)] * dims, dtype=dtype)
            plain = lambda x, w, b, p, op, s, d, g, n, sc, al: last(EXACT[n](  # noqa: E731
                conv(x.float(), w.float(), None if b is None else b.float(), s, p, d, True, op, g), sc, al).to(dtype))
            t.check("mkldnn__convolution_transpose_pointwise", x, w, b, p, [s[0] - 1] * dims, s, d, g, name, scalars, algorithm, torch=plain,
                    exact=lambda x, w, b, p, op, s, d, g, n, sc, al: EXACT[n](conv(x, w, b, s, p, d, True, op, g), sc, al))
    for name in ("add", "sub", "mul"):
        for unary in (None, "relu"):
            x, w, b = last(t.rand(2, 4, 7, 7, dtype=dtype)), t.rand(6, 4, 3, 3, dtype=dtype), t.rand(6, dtype=dtype)
            o = last(t.rand(2, 6, 7, 7, dtype=dtype))
            post = (lambda y: y.relu()) if unary else (lambda y: y)
            exact = lambda x, o, w, b, p, s, d, g, n, a, u, us, ua: post(BINARY[n](conv(x, w, b, s, p, d, False, [0, 0], g), o))  # noqa: E731
            t.check("mkldnn__convolution_pointwise_binary", x, o, w, b, [1, 1], [1, 1], [1, 1], 1, name, None, unary, [], None, exact=exact,
                    torch=lambda x, o, w, b, p, s, d, g, n, a, u, us, ua: mk._convolution_pointwise(x, o, w, b, p, s, d, g, n, a, u, us, ua))
    x, w, b, o = last(t.rand(2, 4, 7, 7, dtype=dtype)), t.rand(6, 4, 3, 3, dtype=dtype), t.rand(6, dtype=dtype), last(t.rand(2, 6, 7, 7, dtype=dtype))
    got = t.shim.call("mkldnn__convolution_pointwise_binary", x, o, w, b, [1, 1], [1, 1], [1, 1], 1, "add", None, "relu", [], None)[0]
    here = o.clone(memory_format=torch.preserve_format)
    here.is_out = True
    in_place, ret = t.shim.call("mkldnn__convolution_pointwise_binary_", here, x, w, b, [1, 1], [1, 1], [1, 1], 1, "add", None, "relu", [], None)
    t.same(in_place, got, "in place")
    t.same(ret, got, "in place: what it returns")


def linears(t, dtype):
    for name, scalars, algorithm in UNARY:
        x, w = t.strided(t.rand(*t.pick([(5,), (3, 4), (2, 3, 1)]), 24, dtype=dtype)), t.strided(t.rand(17, 24, dtype=dtype))
        b = t.pick([None, t.rand(17, dtype=dtype)])
        t.check("_linear_pointwise", x, w, b, name, scalars, algorithm, torch=mk._linear_pointwise,
                exact=lambda x, w, b, n, s, a: EXACT[n](F.linear(x, w, b), s, a))
    for name in ("add", "sub", "mul"):
        x, w, b, o = t.rand(6, 24, dtype=dtype), t.rand(17, 24, dtype=dtype), t.rand(17, dtype=dtype), t.rand(6, 17, dtype=dtype)
        t.check("_linear_pointwise_binary", x, o, w, b, name, torch=lambda x, o, w, b, n: mk._linear_pointwise(x, o, w, b, n),
                exact=lambda x, o, w, b, n: BINARY[n](F.linear(x, w, b), o))


def lstm(t, dtype):
    layer = torch.ops.aten.mkldnn_rnn_layer

    def exact(x, w0, w1, w2, w3, h, c, reverse, sizes, mode, hidden, n, biases, bi, first, train):
        h, c, out = h[0], c[0], [None] * len(x)
        for i in reversed(range(len(x))) if reverse else range(len(x)):
            g = x[i] @ w0.t() + h @ w1.t() + (w2 + w3 if biases else 0)
            i_, f, a, o = g.chunk(4, 1)
            c = f.sigmoid() * c + i_.sigmoid() * a.tanh()
            out[i] = h = o.sigmoid() * c.tanh()
        return torch.stack(out), h[None], c[None], torch.empty(0)

    for _ in range(12):
        steps, n, width, hidden, reverse = t.int(1, 9), t.int(1, 4), t.int(1, 12), t.int(1, 20), t.int(0, 1)
        biases = 1
        args = [t.rand(steps, n, width, dtype=dtype)]
        args += [t.rand(*s, dtype=dtype) / 2 for s in ((4 * hidden, width), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,))]
        args += [t.rand(1, n, hidden, dtype=dtype), t.rand(1, n, hidden, dtype=dtype), reverse, [], 2, hidden, 1, biases, 0, 0, 0]
        t.check("mkldnn_rnn_layer", *args, exact=exact, torch=lambda *a: layer(*a[:7], bool(a[7]), a[8], a[9], a[10], a[11], bool(a[12]),
                False, False, False)[:3])


def cases(t):
    for dtype in (torch.float32, torch.bfloat16):
        t.group(f"convolution_pointwise, binary, transpose: {str(dtype)[6:]}")
        convolutions(t, dtype)
        t.group(f"linear_pointwise {str(dtype)[6:]}")
        linears(t, dtype)
        t.group(f"mkldnn_rnn_layer {str(dtype)[6:]}")
        lstm(t, dtype)
    t.group("_mkl_linear")
    x, w, b = t.rand(4, 5, 12), t.rand(7, 12), t.rand(7)
    t.check("_mkl_linear", x, w, w, b, 4, torch=lambda x, p, w, b, n: F.linear(x, w, b))
