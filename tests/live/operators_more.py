"""Samples of operators that PyTorch's database has none of: what is only decomposed to, gradients, cells, quantized_decomposed.

    for op in MORE: op.name, op.dtypes; op.fixed is (our name, torch's overload); op.sample_inputs(...) as an OpInfo's

operators.py holds them as it holds the database's: values, strides, not contiguous, shapes without values.
"""
import itertools

import torch
import torch._inductor.inductor_prims  # makes torch.ops.prims.fma
import torch.ao.quantization.fx._decomposed  # makes torch.ops.quantized_decomposed
from cases_onednn import BINARY, EXACT, UNARY
from torch.testing._internal.opinfo.core import SampleInput

aten = torch.ops.aten
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
BYTES = (torch.uint8, torch.int8, torch.int16, torch.int32)


class Sample(SampleInput):
    """kept: arguments that torch itself reads as if they were contiguous: what another operator saved for it."""

    def noncontiguous(self):
        other = super().noncontiguous()
        other.input = self.input if 0 in self.kept else other.input
        other.args = tuple(self.args[i] if i + 1 in self.kept else a for i, a in enumerate(other.args))
        return other


class More:
    variant_test_name = ""
    aten_name = None

    def __init__(self, overload, dtypes, samples, kept=()):
        name = str(overload).removesuffix(".default")
        self.name = name.removeprefix("aten.")
        self.fixed = self.name, overload
        self.op, self.dtypes, self.samples, self.kept = overload, set(dtypes), samples, kept

    def sample_inputs(self, _device, dtype, **_kwargs):
        for args, kwargs in self.samples(dtype):
            sample = Sample(args[0], args=tuple(args[1:]), kwargs=kwargs)
            sample.kept = self.kept
            yield sample


def values(*size, dtype=torch.float32):
    return (torch.rand(size) * 4 - 2).to(dtype)


def layouts(t):
    yield t
    if t.dim() == 4:
        yield t.to(memory_format=torch.channels_last)


def pools(forward, backward):
    """The arguments of a forward operator, and of its gradient those before and behind."""
    def samples(dtype):
        for size in ((2, 3, 7, 6), (3, 6, 8), (1, 1, 5, 5), (0, 2, 6, 6)):
            for x in layouts(values(*size, dtype=dtype)):
                yield from forward(x, backward)
    return samples


def avg_pool(x, _):
    for kernel, stride, pad, up, inside, by in (((2, 3), (), (0, 1), False, True, None), ((3, 3), (2, 2), (1, 1), True, False, None),
                                                ((2, 2), (1, 2), (0, 0), False, True, 3)):
        y = aten.avg_pool2d(x, kernel, stride, pad, up, inside, by)
        yield (values(*y.shape, dtype=x.dtype), x, kernel, stride or kernel, pad, up, inside, by), {}


def max_pool(x, _):
    for kernel, stride, pad, dilation, up in (((2, 2), (2, 2), (0, 0), (1, 1), False), ((3, 2), (1, 2), (1, 1), (1, 2), True)):
        y, at = aten.max_pool2d_with_indices(x, kernel, stride, pad, dilation, up)
        yield (values(*y.shape, dtype=x.dtype), x, kernel, stride, pad, dilation, up, at), {}


def adaptive_pool(x, _):
    for size in ((1, 1), (3, 4), (6, 6), (9, 7)):
        yield (values(*aten._adaptive_avg_pool2d(x, size).shape, dtype=x.dtype), x), {}


def convolutions(dtype):
    for dims, groups, stride, pad, dilation, transposed in itertools.product((1, 2, 3), (1, 2), (1, 2), (0, 1), (1, 2), (False, True)):
        extra = [1 if transposed and stride == 2 else 0] * dims
        x, w = values(2, 4, *(6,) * dims, dtype=dtype), values(4, 4 // groups, *(3, 2, 2)[:dims], dtype=dtype)
        rest = [stride] * dims, [pad] * dims, [dilation] * dims, transposed, extra, groups
        y = aten.convolution(x, w, None, *rest)
        wanted = [True, True, True] if stride == 1 else [dims != 2, True, pad == 1]
        for x, w in ((x, w),) if dims != 2 else zip(layouts(x), layouts(w)):
            yield (values(*y.shape, dtype=dtype), x, w, [4], *rest, wanted), {}


def layer_norms(dtype):
    for size, n in (((4, 6), 1), ((2, 3, 5), 2), ((7,), 1), ((0, 5), 1)):
        x, shape = values(*size, dtype=dtype), size[len(size) - n:]
        for w, b in ((values(*shape, dtype=dtype), values(*shape, dtype=dtype)), (None, None)):
            _, mean, rstd = aten.native_layer_norm(x, shape, w, b, 1e-5)
            yield (values(*size, dtype=dtype), x, shape, mean, rstd, w, b, [True, w is not None, b is not None]), {}
            yield (values(*size, dtype=dtype), x, shape, mean, rstd, w, b, [w is None, w is not None, False]), {}


def group_norms(dtype):
    for size, groups in (((2, 6, 4, 3), 3), ((3, 4, 5), 2), ((1, 4), 4)):
        for x in layouts(values(*size, dtype=dtype)):
            n, c, rest = size[0], size[1], torch.Size(size[2:]).numel()
            for w in (values(c, dtype=dtype), None):
                _, mean, rstd = aten.native_group_norm(x, w, None, n, c, rest, groups, 1e-5)
                wanted = [True, w is not None, w is not None]
                yield (torch.empty_like(x).copy_(values(*size)), x, mean, rstd, w, n, c, rest, groups, wanted), {}


def thresholds(dtype):
    for size, at in itertools.product(((), (5,), (3, 4), (0, 3)), (0, 1)):
        x = values(*size, dtype=dtype)
        yield (values(*size, dtype=dtype), x, at), {}
    yield (values(4, 1, dtype=dtype), values(4, 3, dtype=dtype).t().contiguous().t(), 0), {}


def arctangents(dtype):
    for size in ((), (4,), (3, 2)):
        out = torch.empty(size, dtype=dtype if dtype.is_floating_point else torch.float32)
        yield (values(*size, dtype=dtype), values(*size, dtype=dtype)), {"out": out}


def cells(gates, two):
    def samples(dtype):
        for n, wide, hidden in ((3, 4, 5), (1, 1, 1), (0, 2, 3)):
            def of(*size):
                return values(*size, dtype=dtype)
            state = [of(n, hidden), of(n, hidden)] if two else of(n, hidden)
            weights = of(gates * hidden, wide), of(gates * hidden, hidden)
            yield (of(n, wide), state, *weights), {}
            yield (of(n, wide), state, *weights, of(gates * hidden), of(gates * hidden)), {}
    return samples


def layers(gates, two):
    def samples(dtype):
        for steps, n, wide, hidden, deep, biases, ways, first in ((4, 2, 3, 5, 1, True, 1, False), (3, 1, 2, 2, 2, True, 2, True),
                                                                  (1, 3, 2, 4, 2, False, 1, False)):
            def of(*size):
                return values(*size, dtype=dtype) / 2
            state = [of(deep * ways, n, hidden), of(deep * ways, n, hidden)] if two else of(deep * ways, n, hidden)
            weights = []
            for k in range(deep):
                for _ in range(ways):
                    weights += [of(gates * hidden, wide if not k else hidden * ways), of(gates * hidden, hidden)]
                    weights += [of(gates * hidden), of(gates * hidden)] if biases else []
            x = of(n, steps, wide) if first else of(steps, n, wide)
            yield (x, state, weights, biases, deep, 0.0, False, ways == 2, first), {}
    return samples


def distances(dtype):
    for a, b in (((3, 4), (5, 4)), ((2, 3, 4), (2, 5, 4)), ((2, 1, 3, 4), (3, 5, 4)), ((0, 4), (5, 4)), ((3, 0), (5, 0))):
        for p, mode in itertools.product((0.0, 1.0, 2.0, 3.0, float("inf")), (None, 2)):
            yield (values(*a, dtype=dtype), values(*b, dtype=dtype), p, mode), {}


def bags(dtype):
    for mode, last, padding, at in itertools.product((0, 1, 2), (False, True), (-1, 1), (torch.int64, torch.int32)):
        indices, offsets = torch.tensor([1, 3, 0, 2, 1, 3], dtype=at), torch.tensor([0, 2, 2, 5, 6][: 5 if last else 4], dtype=at)
        weights = [None, values(6, dtype=dtype)] if mode == 0 else [None]
        for w in weights:
            yield (values(4, 5, dtype=dtype), indices, offsets, False, mode, False, w, last, padding), {}


INTEGERS = ((torch.uint8, 0, 255), (torch.int8, -128, 127), (torch.int8, -127, 127), (torch.int16, -32768, 32767),
            (torch.int32, -2**31, 2**31 - 1))
CHANNELS = (((3, 4), 0), ((3, 4), 1), ((2, 3, 4, 5), 1))  # a size, its axis


def quantize(kind):
    def samples(dtype):
        for (to, low, high), size in itertools.product(INTEGERS, ((), (7,), (3, 4), (0, 2), (2, 3, 4, 5))):
            numbers = 0.031, 3 if to == torch.uint8 else 0
            if kind != "number":
                numbers = torch.tensor(numbers[0]), torch.tensor(numbers[1])
            ends = (torch.tensor(low), torch.tensor(high)) if kind == "tensor2" else (low, high)
            yield (values(*size, dtype=dtype), *numbers, *ends, to), {}
    return samples


def integers(size, dtype, low, high):
    return torch.randint(max(low, -300), min(high, 300) + 1, size, dtype=dtype)


def dequantize(kind):
    def samples(dtype):
        of_dtype = [t for t in INTEGERS if t[0] == dtype]
        for (_, low, high), size, out in itertools.product(of_dtype, ((), (7,), (3, 4), (0, 2)), FLOATS[1:3] + (None,)):
            numbers = 0.031, 3
            if kind != "number":
                numbers = torch.tensor(numbers[0]), torch.tensor(numbers[1])
            ends = (torch.tensor(low), torch.tensor(high)) if kind == "tensor2" else (low, high)
            yield (integers(size, dtype, low, high), *numbers, *ends, dtype), {"out_dtype": out} if out else {}
    return samples


def quantize_channels(dtype):
    for (to, low, high), (size, axis), wide in itertools.product(INTEGERS[:3], CHANNELS, (torch.float32, torch.float64)):
        n = size[axis]
        yield (values(*size, dtype=dtype), torch.rand(n, dtype=wide) / 10 + 0.01, torch.arange(n), axis, low, high, to), {}


def dequantize_channels(dtype):
    of_dtype = [t for t in INTEGERS if t[0] == dtype]
    for (_, low, high), (size, axis), zeros in itertools.product(of_dtype, CHANNELS, (True, False)):
        n = size[axis]
        yield (integers(size, dtype, low, high), torch.rand(n) / 10 + 0.01, torch.arange(n) if zeros else None, axis, low, high, dtype), {}


def choices(dtype):
    for (to, low, high), size in itertools.product(INTEGERS[:3], ((7,), (3, 4), (1,))):
        yield (values(*size, dtype=dtype), low, high, 1.1920928955078125e-07, to), {}


TOKENS = ((3, 4), (2, 3, 5), (1, 7), (6,))


def choices_of_tokens(dtype):
    for size in TOKENS:
        yield (values(*size, dtype=dtype), torch.int8), {}
    yield (torch.zeros(2, 3, dtype=dtype), torch.int8), {}
    yield (values(4, 3, dtype=dtype).abs(), torch.int8), {}


def quantize_tokens(dtype):
    for size, (to, low, high) in itertools.product(TOKENS, INTEGERS[:3]):
        of = *size[:-1], 1
        yield (values(*size, dtype=dtype), torch.rand(of) / 10 + 0.01, torch.randint(-5, 5, of), low, high, to), {}


def dequantize_tokens(dtype):
    for size, out in itertools.product(TOKENS, (torch.float32, torch.bfloat16)):
        of = *size[:-1], 1
        yield (integers(size, dtype, 0, 100), torch.rand(of, dtype=torch.float64), torch.randint(-5, 5, of), -128, 127, dtype, out), {}


def quantize_groups(dtype):
    for (rows, wide, group), (to, low, high) in itertools.product(((3, 8, 4), (2, 6, 2), (4, 6, 6)), INTEGERS[:3]):
        of = rows, wide // group
        yield (values(rows, wide, dtype=dtype), torch.rand(of) / 10 + 0.01, torch.randint(-5, 5, of, dtype=torch.int32), low, high, to, group), {}
    yield (values(3, 1, dtype=dtype), torch.rand(3, 1) + 0.1, torch.zeros(3, 1, dtype=torch.int32), -8, 7, torch.int8, 128), {}


def dequantize_groups(dtype):
    for (rows, wide, group), zeros in itertools.product(((3, 8, 4), (2, 6, 2), (4, 6, 6)), (True, False)):
        of = rows, wide // group
        yield (integers((rows, wide), dtype, 0, 100), torch.rand(of), torch.randint(-5, 5, of) if zeros else None, -128, 127, dtype, group,
               torch.float32), {}


# ---- what Inductor leaves in a graph ----

def three(dtype):
    for size in ((3, 4), (0, 2), ()):
        yield tuple(values(*size, dtype=dtype) for _ in range(3)), {}


def conversions(dtype):
    for to in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool):
        for x in layouts(values(2, 3, 4, 5, dtype=dtype)):
            yield (x, to), {}


WINDOWS = (((2, 2), (2, 2), (0, 0), (1, 1)), ((3, 2), (2, 1), (1, 0), (1, 2)), ((3, 3), (1, 2), (1, 1), (2, 1)))


def windows(dtype):
    for window, up in itertools.product(WINDOWS, (False, True)):
        for x in layouts(values(2, 3, 8, 9, dtype=dtype)):
            yield (x, *window, up), {}
    yield (values(1, 2, 5, 6, 7, dtype=dtype), (2, 2, 2), (2, 1, 2), (1, 0, 1), (1, 1, 1), False), {}


def offsets(_dtype):
    for kernel, stride, pad, dilation in WINDOWS:
        for x in layouts(values(2, 3, 8, 9)):
            found = torch.ops.prims._low_memory_max_pool_with_offsets(x, kernel, stride, pad, dilation, False)[1]
            yield (found, kernel, (8, 9), stride, pad, dilation), {}


# ---- layers with what follows them ----

def linear_layers(dtype):
    for (n, k), post in itertools.product(((5, 8), (3, 24)), UNARY):
        yield (values(2, 3, k, dtype=dtype), values(n, k, dtype=dtype), values(n, dtype=dtype) if n == 5 else None, *post), {}


def linear_binary(dtype):
    for how in ("add", "sub", "mul"):
        yield (values(6, 24, dtype=dtype), values(6, 17, dtype=dtype), values(17, 24, dtype=dtype), values(17, dtype=dtype), how), {}


def conv_layers(dtype):
    for dims, g, post in itertools.product((2, 3), (1, 2), UNARY):
        w = values(6, 4 // g, *(3, 2, 1)[:dims], dtype=dtype)
        yield (values(2, 4, *(6,) * dims, dtype=dtype), w, values(6, dtype=dtype), [1] * dims, [2] * dims, [1] * dims, g, *post), {}


def conv_binary(dtype):
    for how, post in itertools.product(("add", "sub", "mul"), ((None, [], None), ("relu", [], None))):
        other = values(2, 6, 7, 7, dtype=dtype).to(memory_format=torch.channels_last)
        yield (values(2, 4, 7, 7, dtype=dtype), other, values(6, 4, 3, 3, dtype=dtype), values(6, dtype=dtype), [1, 1], [1, 1], [1, 1], 1, how,
               None, *post), {}


def rnn_layers(dtype):
    for (steps, n, wide, hidden), reverse in itertools.product(((4, 2, 3, 5), (1, 1, 2, 4), (7, 3, 8, 2)), (False, True)):
        def of(*size):
            return values(*size, dtype=dtype) / 2
        yield (of(steps, n, wide), of(4 * hidden, wide), of(4 * hidden, hidden), of(4 * hidden), of(4 * hidden), of(1, n, hidden),
               of(1, n, hidden), reverse, [], 2, hidden, 1, True, False, False, False), {}


def rnn_layer(x, w_ih, w_hh, b_ih, b_hh, h, c, reverse, *_):
    h, c, out = h[0], c[0], [None] * len(x)
    for i in reversed(range(len(x))) if reverse else range(len(x)):
        h, c = aten.lstm_cell(x[i], [h, c], w_ih, w_hh, b_ih, b_hh)
        out[i] = h
    return torch.stack(out), h[None], c[None], torch.empty(0, dtype=torch.uint8)


mkldnn = torch.ops.mkldnn
F = torch.nn.functional


def convolved(x, w, b, pad, stride, dilation, groups):
    return aten.convolution(x, w, b, stride, pad, dilation, False, [0] * len(pad), groups)


def weight_norms(dtype):
    for size in ((4, 3, 5), (4, 3), (6,), (1, 2, 3, 4)):
        v = values(*size, dtype=dtype)
        for dim in range(v.dim()):
            g = values(*[s if d == dim else 1 for d, s in enumerate(size)], dtype=dtype)
            yield (v, g, dim), {}


def norms_but_one(dtype):
    for v, _, dim in (args for args, _ in weight_norms(dtype)):
        for power in (1, 2):
            yield (v, power, dim), {}


def groups(dtype):
    """Rows of 16 bytes, and where each group of them ends; one is empty."""
    each = 16 // torch.empty(0, dtype=dtype).element_size()
    a, b = values(12, each, dtype=dtype), values(3, each, 2 * each, dtype=dtype)
    ends = torch.tensor([5, 5, 12], dtype=torch.int32)
    yield (a, b, ends), {}
    yield (values(3, 4, each, dtype=dtype), b), {}


def columns(dtype):
    for size in ((3, 4), (5,), (), (2, 0)):
        yield ((values(*size) > 0).to(dtype),), {}


def slopes(dtype):
    yield (values(3, 4, dtype=dtype),), {}
    yield (values(5, dtype=dtype), 0.25, 0.5), {}


def numbers(*operands):
    """Samples for a second name of an operator: tensors ("t"), or numbers."""
    def samples(dtype):
        for size in ((3, 4), (), (2, 0)):
            yield tuple(values(*size, dtype=dtype) if o == "t" else o for o in operands), {}
    return samples


# Second names: torch's own table has none of them.
ONE = ("absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "fix", "negative", "special_digamma", "special_erf", "special_erfc", "special_erfinv",
       "special_exp2", "special_expit", "special_expm1", "special_gammaln", "special_i0", "special_log1p", "special_psi", "special_round", "special_sinc",
       "selu")
TWO = ("divide", "greater", "greater_equal", "less", "less_equal", "multiply", "not_equal", "subtract", "true_divide")
# Numbers in place of a tensor: torch's own table has tensors only.
NUMBERS = ("bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor")
POLYNOMIALS = [f"special_{kind}" for kind in ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
               "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p", "shifted_chebyshev_polynomial_t",
               "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w")]
WINDOW_FUNCTIONS = {"bartlett_window": [()], "blackman_window": [()], "hann_window": [()], "hamming_window": [(), (0.5,), (0.5, 0.4)],
                    "kaiser_window": [(), (8.5,)]}


def small_counts(first):
    """(x, n), n the degree of a polynomial: a tensor, or one of the two a number."""
    def samples(dtype):
        x = values(4, 1, dtype=dtype) / 2
        n = torch.arange(-1, 9).to(dtype)
        yield {"x": (0.25, n), "n": (x, 5.0), "": (x, n)}[first], {}
        yield {"x": (-1.5, n), "n": (x * 2, 3.0), "": (x * 2, n)}[first], {}
    return samples


def window_functions(which, extra):
    def samples(dtype):
        for n, periodic in itertools.product((0, 1, 2, 7, 10), (True, False)):
            if which is not None or periodic:
                yield (n, *([periodic] if which is not None else []), *extra), {"dtype": dtype}
    return samples


def triangles(dtype):
    for rows, columns_, offset in itertools.product((0, 1, 4), (1, 3, 6), (-2, 0, 1)):
        yield (rows, columns_, offset), {"dtype": dtype}


def copies_of_views(which):
    def samples(dtype):
        for size in ((3, 4), (2,), ()):
            yield (values(*size, 2, dtype=dtype) if which == "complex" else torch.complex(values(*size, dtype=dtype), values(*size, dtype=dtype)),), {}
    return samples


def whole_numbers(tensor_first):
    def samples(dtype):
        x = torch.randint(0, 5, (3, 4)).to(dtype)
        yield (x, 2) if tensor_first else (2, x), {}
    return samples


def new_overloads():
    floats = (torch.float32, torch.float64)
    for name in POLYNOMIALS:
        op = getattr(aten, name)
        yield More(op.x_scalar, floats, small_counts("x"))
        yield More(op.n_scalar, floats, small_counts("n"))
    for name, extras in WINDOW_FUNCTIONS.items():
        op = getattr(aten, name)
        yield More(op.default, floats, window_functions(None, ()))
        for extra, overload in zip(extras, ("periodic", *{"hamming_window": ("periodic_alpha", "periodic_alpha_beta"), "kaiser_window": ("beta",)}.get(name, ()))):
            yield More(getattr(op, overload), floats, window_functions(True, extra))
    for op in (aten.tril_indices.default, aten.triu_indices.default):
        yield More(op, (torch.int32, torch.int64), triangles)
    yield More(aten.view_as_complex_copy.default, floats, copies_of_views("complex"))
    yield More(aten.view_as_real_copy.default, floats, copies_of_views("real"))
    for name in NUMBERS:
        op = getattr(aten, name)
        yield More(op.Scalar_Tensor, BYTES + (torch.int64,), whole_numbers(False))
        yield More(op.Tensor_Scalar if "shift" in name else op.Scalar, BYTES + (torch.int64,), whole_numbers(True))
    for name in ("remainder", "floor_divide", "fmod", "copysign", "ge", "gt", "xlogy"):
        op = getattr(aten, name)
        yield More(op.Scalar_Other if name == "xlogy" else op.Scalar, floats, numbers("t", 0.75))
    yield More(aten.remainder.Scalar_Tensor, floats, numbers(2.5, "t"))
    yield More(aten.xlogy.Scalar_Self, floats, numbers(2.5, "t"))
    yield More(aten.pow.Scalar, floats, numbers(2.5, "t"))
    yield More(aten.rsub.Scalar, floats, numbers("t", 0.75))
    yield More(aten.special_xlog1py.other_scalar, floats, numbers("t", 0.75))
    yield More(aten.special_xlog1py.self_scalar, floats, numbers(0.75, "t"))
    yield More(aten.special_zeta.other_scalar, floats, numbers("t", 0.75))
    yield More(aten.special_zeta.self_scalar, floats, numbers(1.75, "t"))


def synonyms():
    floats = (torch.float32, torch.float64)
    for name in ONE:
        yield More(getattr(aten, name).default, floats, numbers("t"))
    for name in TWO:
        yield More(getattr(aten, name).Tensor, floats, numbers("t", "t"))
        yield More(getattr(aten, name).Scalar, floats, numbers("t", 0.5))
    yield More(aten.arctan2.default, floats, numbers("t", "t"))
    yield More(aten.special_xlogy.other_scalar, floats, numbers("t", 2.5))
    yield More(aten.special_xlogy.self_scalar, floats, numbers(2.5, "t"))
    yield More(aten.special_logit.default, floats, numbers("t", 0.25))
    yield More(aten.special_logsumexp.default, floats, numbers("t", [0]))


# What torch has no float64 of, from what has.
IN_DOUBLE = {
    mkldnn._linear_pointwise.default: lambda x, w, b, *post: EXACT[post[0]](F.linear(x, w, b), *post[1:]),
    mkldnn._linear_pointwise.binary: lambda x, o, w, b, how: BINARY[how](F.linear(x, w, b), o),
    mkldnn._convolution_pointwise.default: lambda x, w, b, p, s, d, g, *post: EXACT[post[0]](convolved(x, w, b, p, s, d, g), *post[1:]),
    mkldnn._convolution_pointwise.binary: lambda x, o, w, b, p, s, d, g, how, _, *post: EXACT[post[0] or "none"](
        BINARY[how](convolved(x, w, b, p, s, d, g), o), *post[1:]),
    aten.mkldnn_rnn_layer.default: rnn_layer,
}
prims = torch.ops.prims
quantized = torch.ops.quantized_decomposed
REALS = FLOATS + BYTES + (torch.int64,)
MORE = [
    More(aten._cdist_forward.default, FLOATS[2:], distances),
    More(aten._embedding_bag.default, FLOATS, bags),
    More(aten._embedding_bag_forward_only.default, FLOATS, bags),
    More(aten._adaptive_avg_pool2d_backward.default, FLOATS, pools(adaptive_pool, None)),
    More(aten.avg_pool2d_backward.default, FLOATS, pools(avg_pool, None)),
    More(aten.max_pool2d_with_indices_backward.default, FLOATS, pools(max_pool, None)),
    More(aten.convolution_backward.default, FLOATS, convolutions),
    More(aten.native_layer_norm_backward.default, FLOATS, layer_norms, kept=(3, 4)),
    More(aten.native_group_norm_backward.default, FLOATS, group_norms, kept=range(5)),
    More(aten.threshold_backward.default, REALS, thresholds),
    More(aten.atan2.out, REALS, arctangents),
    More(aten.gru_cell.default, FLOATS, cells(3, False)),
    More(aten.lstm_cell.default, FLOATS, cells(4, True)),
    More(aten.rnn_tanh_cell.default, FLOATS, cells(1, False)),
    More(aten.rnn_relu_cell.default, FLOATS, cells(1, False)),
    More(aten.gru.input, FLOATS, layers(3, False)),
    More(aten.lstm.input, FLOATS, layers(4, True)),
    More(aten.rnn_tanh.input, FLOATS, layers(1, False)),
    More(aten.rnn_relu.input, FLOATS, layers(1, False)),
    More(quantized.quantize_per_tensor.default, FLOATS[:3], quantize("number")),
    More(quantized.quantize_per_tensor.tensor, FLOATS[:3], quantize("tensor")),
    More(quantized.quantize_per_tensor.tensor2, FLOATS[:3], quantize("tensor2")),
    More(quantized.dequantize_per_tensor.default, BYTES, dequantize("number")),
    More(quantized.dequantize_per_tensor.tensor, BYTES, dequantize("tensor")),
    More(quantized.dequantize_per_tensor.tensor2, BYTES, dequantize("tensor2")),
    More(quantized.quantize_per_channel.default, FLOATS[:3], quantize_channels),
    More(quantized.dequantize_per_channel.default, BYTES[:2], dequantize_channels),
    More(quantized.choose_qparams.tensor, FLOATS[:3], choices),
    More(quantized.choose_qparams_symmetric.tensor, FLOATS[:3], choices),
    More(quantized.choose_qparams_per_token.default, FLOATS[:3], choices_of_tokens),
    More(quantized.choose_qparams_per_token_asymmetric.default, FLOATS[:3], choices_of_tokens),
    More(quantized._choose_qparams_per_token_asymmetric_impl.default, FLOATS[:3], choices_of_tokens),
    More(quantized.quantize_per_token.default, FLOATS[:3], quantize_tokens),
    More(quantized.dequantize_per_token.default, BYTES, dequantize_tokens),
    More(quantized.quantize_per_channel_group.default, FLOATS[:3], quantize_groups),
    More(quantized.dequantize_per_channel_group.default, BYTES, dequantize_groups),
    More(mkldnn._linear_pointwise.default, (torch.bfloat16, torch.float32), linear_layers),
    More(mkldnn._linear_pointwise.binary, (torch.bfloat16, torch.float32), linear_binary, kept=(1,)),
    More(mkldnn._convolution_pointwise.default, (torch.bfloat16, torch.float32), conv_layers, kept=(2,)),
    More(mkldnn._convolution_pointwise.binary, (torch.bfloat16, torch.float32), conv_binary, kept=(1, 3)),
    More(aten.mkldnn_rnn_layer.default, (torch.bfloat16, torch.float32), rnn_layers, kept=range(7)),
    More(aten._weight_norm.default, FLOATS[2:], weight_norms),
    More(aten.norm_except_dim.default, FLOATS[2:], norms_but_one),
    More(aten._grouped_mm.default, (torch.bfloat16, torch.float32), groups),
    More(aten.nonzero_numpy.default, REALS, columns),
    More(aten.where.default, REALS, columns),
    More(aten.rrelu.default, FLOATS, slopes),
    *synonyms(),
    *new_overloads(),
    More(prims.fma.default, FLOATS, three),
    More(prims.convert_element_type.default, FLOATS, conversions),
    More(prims._low_memory_max_pool_with_offsets.default, FLOATS[2:], windows),
    More(prims._low_memory_max_pool_offsets_to_indices.default, (torch.int8,), offsets),
]
