"""Small models of many kinds: ZOO, name: function -> (module, inputs[, dynamic shapes[, options]]).

A module that works in low precision takes the dtype from its weights, so that module.double() is its reference.
"""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.ao.quantization.fx import _decomposed  # noqa: F401 - defines quantized_decomposed
from torch.export import Dim

D = 16
batch, time = Dim("batch", min=2, max=32), Dim("time", min=2, max=64)


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Conv2d(8, 8, 3, stride=2)
        self.out = nn.Linear(8, 5)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.norm(self.a(x))), 2)
        return F.log_softmax(self.out(F.adaptive_avg_pool2d(F.relu(self.b(y)), 1).flatten(1)), -1)


class ResBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(4, 8, 3, stride=2, padding=1, bias=False), nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.na, self.nb, self.nskip = nn.BatchNorm2d(8), nn.BatchNorm2d(8), nn.BatchNorm2d(8)
        self.skip = nn.Conv2d(4, 8, 1, stride=2, bias=False)
        for norm in (self.na, self.nb, self.nskip):
            norm.running_mean.normal_()
            norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return F.relu(self.nb(self.b(F.relu(self.na(self.a(x))))) + self.nskip(self.skip(x)))


class Heads(nn.Module):
    """Attention of x over y; mask as torch takes it."""

    def __init__(self, d=D, heads=2):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, y, mask=None, causal=False):
        split = lambda t: t.view(t.shape[0], t.shape[1], self.heads, -1).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(y)), split(self.v(y))
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return self.out(z.transpose(1, 2).reshape(x.shape))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.na, self.nb = Heads(), nn.LayerNorm(D), nn.LayerNorm(D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

    def forward(self, x):
        y = self.na(x)
        x = x + self.attn(y, y)
        return x + self.down(F.gelu(self.up(self.nb(x))))


class Padded(Encoder):
    """A padding mask of bools; no row is masked from end to end."""

    def forward(self, x, lengths):
        keep = (torch.arange(x.shape[1]) < lengths[:, None])[:, None, None, :]
        y = self.na(x)
        return x + self.attn(y, y, keep.expand(-1, 1, x.shape[1], -1))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.cross = Heads(), Heads()
        self.na, self.nb, self.nc = nn.LayerNorm(D), nn.LayerNorm(D), nn.LayerNorm(D)
        self.up, self.down = nn.Linear(D, 2 * D), nn.Linear(2 * D, D)

    def forward(self, x, memory, mask):
        y = self.na(x)
        x = x + self.own(y, y, causal=True)
        x = x + self.cross(self.nb(x), memory, mask)
        return x + self.down(F.silu(self.up(self.nc(x))))


class PostNormEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(D, 2, 32, batch_first=True, activation="gelu")

    def forward(self, x, mask):
        return self.layer(x, src_mask=mask)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.LSTMCell(6, 10), nn.Linear(10, 3)

    def forward(self, x):
        h, c = x.new_zeros(x.shape[1], 10), x.new_zeros(x.shape[1], 10)
        outs = []
        for step in x:
            h, c = self.cell(step, (h, c))
            outs.append(self.out(h))
        return torch.stack(outs), h, c


class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 10)

    def forward(self, x, h):
        for step in x:
            h = self.cell(step, h)
        return h


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.down = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 12, 3, stride=2, padding=1)
        self.up, self.b, self.out = nn.ConvTranspose2d(12, 6, 2, stride=2), nn.Conv2d(24, 6, 3, padding=1), nn.Conv2d(6, 1, 1)

    def forward(self, x):
        a = F.relu(self.a(x))
        low = F.relu(self.down(a))
        smooth = F.interpolate(low, scale_factor=2, mode="bilinear", align_corners=False)
        return torch.sigmoid(self.out(F.relu(self.b(torch.cat([a, smooth, self.up(low)], 1)))))


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.sum, self.mean, self.max = (nn.EmbeddingBag(12, 6, mode=m) for m in ("sum", "mean", "max"))

    def forward(self, tokens, offsets, weights):
        return self.sum(tokens, offsets, per_sample_weights=weights), self.mean(tokens, offsets), self.max(tokens, offsets)


class Sorting(nn.Module):
    def forward(self, x, n):
        return (*torch.sort(x, dim=0, descending=True), *torch.topk(x, 3, dim=1, largest=False), torch.argsort(n, dim=1, stable=True),
                *torch.kthvalue(x, 2, dim=1), torch.searchsorted(torch.sort(x, 1)[0], x.flip(1)), torch.bucketize(x, torch.linspace(-1, 1, 5, dtype=x.dtype)))


class Ties(nn.Module):
    """Many equal keys: which of the equal ones an index names is open."""

    def forward(self, n):
        return (*torch.sort(n, dim=1), *torch.topk(n, 4, dim=1))


class Indexing(nn.Module):
    def forward(self, x, rows, columns, source):
        return (x.index_select(0, rows), x.gather(1, columns), x.scatter(1, columns, source), x.scatter_add(1, columns, source),
                x.scatter_reduce(1, columns, source, "amax"), x.scatter_reduce(1, columns, source, "mean", include_self=False),
                x[rows, columns[rows, 0]], x.index_put((rows,), source[: rows.shape[0], :1]), x.index_add(0, rows, source.new_ones(rows.shape[0], x.shape[1])),
                x.roll(1, 0).flip(1), x.masked_fill(x > 0, 7), torch.take(x, columns), x.masked_scatter(x > 0, source.repeat(2, 4)))


class DataSizes(nn.Module):
    """Outputs whose sizes the data decides."""

    def forward(self, x, n):
        return torch.nonzero(x > 0), torch.masked_select(x, x < 0) * 2, torch.repeat_interleave(x[:, 0], n), x[n > 1]


class Scans(nn.Module):
    def forward(self, x):
        most, where = torch.cummax(x, 1)
        return torch.cumsum(x, 1), torch.cumprod(x, 0), torch.logcumsumexp(x, 1), most, where, torch.cumsum(x > 0, 0), x.diff(dim=1)


class ConvKinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.grouped, self.depth = nn.Conv2d(6, 12, 3, groups=3, padding=1), nn.Conv2d(12, 12, 3, groups=12)
        self.dilated, self.one = nn.Conv2d(12, 4, 3, dilation=2, padding="same"), nn.Conv1d(4, 6, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        y = self.dilated(F.relu(self.depth(F.relu(self.grouped(x)))))
        return y, self.one(y.mean(3))


class ConvTransposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.b = nn.ConvTranspose1d(6, 3, 4, stride=2, dilation=2)

    def forward(self, x):
        y = torch.relu(self.a(x))
        return y, self.b(y.amax(2))


class Conv3d(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv3d(2, 4, 3, padding=1), nn.ConvTranspose3d(4, 2, 2, stride=2)

    def forward(self, x):
        return self.b(F.max_pool3d(F.relu(self.a(x)), 2)), F.avg_pool3d(x, 2)


class ChannelsLast(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(4, 8, 3, padding=1), nn.Conv2d(8, 8, 1), nn.Conv2d(8, 8, 3, groups=8)
        self.to(memory_format=torch.channels_last)

    def forward(self, x):
        y = F.hardswish(self.a(x))
        return self.c(y + torch.sigmoid(self.b(y))), F.avg_pool2d(y, 3, 2, 1), F.max_pool2d(y, 2)


class LowMlp(nn.Module):
    def __init__(self, low):
        super().__init__()
        self.a, self.b, self.norm = nn.Linear(D, 32), nn.Linear(32, D), nn.LayerNorm(D)
        self.to(low)

    def forward(self, x):
        return self.norm(x + self.b(F.gelu(self.a(x), approximate="tanh")))


class LowAttention(nn.Module):
    def __init__(self, low):
        super().__init__()
        self.attn = Heads().to(low)

    def forward(self, x):
        return self.attn(x, x, causal=True), torch.softmax(x @ x.transpose(1, 2), -1)


class MixedPrecision(nn.Module):
    """A float residual, products in bfloat16, statistics in float."""

    def __init__(self):
        super().__init__()
        self.norm, self.a, self.b = nn.LayerNorm(D), nn.Linear(D, 32).bfloat16(), nn.Linear(32, D).bfloat16()
        self.conv = nn.Conv2d(2, 4, 3, padding=1).bfloat16()

    def forward(self, x, image):
        low = self.a.weight.dtype
        return x + self.b(F.silu(self.a(self.norm(x).to(low)))).to(x.dtype), self.conv(image.to(low)).amax((2, 3))


class Int8Tables(nn.Module):
    """Weights and a table in eight bits with a scale for each row."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randint(-128, 128, (20, D), dtype=torch.int8))
        self.register_buffer("scale", torch.rand(20, 1) * 0.02 + 0.01)
        self.register_buffer("weight", torch.randint(-128, 128, (8, D), dtype=torch.int8))
        self.register_buffer("weight_scale", torch.rand(8) * 0.02 + 0.01)
        self.register_buffer("points", torch.randint(0, 256, (20,), dtype=torch.uint8))

    def forward(self, tokens):
        x = self.table[tokens].to(self.scale.dtype) * self.scale[tokens]
        y = F.linear(x, self.weight.to(self.scale.dtype)) * self.weight_scale
        low = torch.clamp(torch.round(y / y.abs().amax(-1, keepdim=True) * 63), -128, 127).to(torch.int8)
        return y, low, self.points[tokens] // 3, low.sum(-1)


class Masks(nn.Module):
    """Causal, in a window, with padding, and with a slope for the distance; added as -inf."""

    def __init__(self):
        super().__init__()
        self.q, self.k = nn.Linear(D, D), nn.Linear(D, D)
        self.register_buffer("causal", torch.full((7, 7), -math.inf).triu(1))
        self.register_buffer("slope", torch.tensor([0.5, 0.25]).view(2, 1, 1))

    def forward(self, x, lengths):
        t = torch.arange(7)
        away = t[:, None] - t
        mask = self.causal - self.slope * away.clamp(min=0)
        mask = mask.masked_fill(away > 3, -math.inf)[None]
        mask = torch.where((t < lengths[:, None])[:, None, None, :] | (away == 0), mask, -math.inf)
        split = lambda y: y.view(2, 7, 2, 8).transpose(1, 2)
        scores = split(self.q(x)) @ split(self.k(x)).transpose(2, 3) * 0.3 + mask
        return torch.softmax(scores, -1), mask, torch.logsumexp(scores, -1)


class InfMask(nn.Module):
    """The mask is made, stored, and used by two products: a kernel that gives -inf on purpose."""

    def __init__(self):
        super().__init__()
        self.attn = Heads()

    def forward(self, x):
        mask = torch.full((x.shape[1], x.shape[1]), -math.inf, dtype=x.dtype).triu(1)
        return self.attn(x, x, mask), mask


class Pools(nn.Module):
    def forward(self, x):
        values, where = F.max_pool2d(x, 3, 2, 1, return_indices=True)
        return (values, where, F.max_pool2d(x, 2, dilation=2), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False, ceil_mode=True),
                F.adaptive_avg_pool2d(x, (3, 5)), *F.adaptive_max_pool2d(x, (3, 2), return_indices=True), F.lp_pool2d(x.abs(), 2, 2),
                F.avg_pool1d(x.flatten(1, 2), 4), F.adaptive_avg_pool1d(x.flatten(1, 2), 3))


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.group, self.rms = nn.LayerNorm((6, 6)), nn.GroupNorm(2, 4), nn.RMSNorm(6)
        self.instance, self.batch = nn.InstanceNorm2d(4, affine=True), nn.BatchNorm2d(4)

    def forward(self, x):
        return self.layer(x), self.group(x), self.rms(x), self.instance(x), self.batch(x), F.normalize(x, dim=1), F.local_response_norm(x, 2)


class GatedMlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up, self.down = nn.Linear(D, 32, bias=False), nn.Linear(D, 32, bias=False), nn.Linear(32, D, bias=False)

    def forward(self, x):
        y = self.down(F.silu(self.gate(x)) * self.up(x))
        return y, F.gelu(y), F.mish(y), F.softplus(y), F.elu(y), F.selu(y), F.leaky_relu(y), F.hardtanh(y), F.glu(y), torch.erf(y)


class Doubles(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(D, 12, dtype=torch.float64), nn.Linear(12, 4, dtype=torch.float64)

    def forward(self, x):
        y = self.b(torch.sigmoid(self.a(x)))
        return y, torch.einsum("bi,bj->bij", y, y), torch.log1p(y.abs()), torch.atan2(y, x[:, :4]), torch.var_mean(y, 0)[0]


class DynamicAttention(Encoder):
    pass


class Matmuls(nn.Module):
    def forward(self, a, b, c, v):
        return (torch.bmm(a, b), torch.baddbmm(c, a, b, beta=0.5, alpha=2), torch.addmm(c[0], a[0], b[0]), torch.mv(a[0], v), torch.addmv(c[0, :, 0], a[0], v),
                torch.einsum("bij,bkj->bik", a, a), torch.matmul(a, v), torch.dot(v, v), torch.outer(v, v), torch.tensordot(a, b, ([2], [1])), a.mT @ a)


class Reductions(nn.Module):
    def forward(self, x):
        return (x.var(1), x.std(), x.argmax(1), x.argmin(), x.prod(0), x.amin(1), torch.logsumexp(x, 1), (x > 2).any(1), (x > -9).all(), x.norm(dim=1),
                x.mean((0, 1)), *torch.aminmax(x, dim=0), torch.count_nonzero(x > 0, 1), *x.max(1))


class Resample(nn.Module):
    def forward(self, x, grid):
        return (F.grid_sample(x, grid, align_corners=False), F.interpolate(x, size=(9, 7), mode="bicubic"), F.interpolate(x, scale_factor=2, mode="nearest"),
                F.pixel_shuffle(x, 2), F.unfold(x, 3, padding=1), F.pad(x, (1, 2, 0, 1), mode="reflect"), F.pad(x, (1, 1), value=3.0), F.interpolate(x, size=(3, 4), mode="area"))


class Fft(nn.Module):
    def forward(self, x):
        y = torch.fft.rfft(x, dim=-1)
        return torch.view_as_real(y), torch.view_as_real(torch.fft.fft(x, dim=0)), y.abs()


class Proxied(nn.Module):
    """Operators that Inductor has no C interface for, and calls through the proxy executor."""

    def forward(self, x, n):
        return *x.median(1), torch.unique(n), torch.fft.irfft(torch.fft.rfft(x), n=x.shape[-1])


class Integers(nn.Module):
    def forward(self, a, b):
        return (a // b, a % b, a & b, a | 7, a ^ b, a << 2, a >> 1, torch.fmod(a, b), torch.pow(b, 2), a.clamp(-3, 3), (a.sum(1), a.to(torch.int32).cumsum(0)), a.abs().to(torch.uint8), a.bool())


class Vit(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.cls, self.pos = nn.Conv2d(3, D, 4, stride=4), nn.Parameter(torch.randn(1, 1, D)), nn.Parameter(torch.randn(1, 5, D))
        self.block, self.head = Encoder(), nn.Linear(D, 3)

    def forward(self, x):
        y = self.patch(x).flatten(2).transpose(1, 2)
        y = torch.cat([self.cls.expand(x.shape[0], -1, -1), y], 1) + self.pos
        return self.head(self.block(y)[:, 0])


class Rotary(nn.Module):
    """Rotated keys and a cache of earlier ones, grouped heads."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, 8), nn.Linear(D, 8)
        angle = torch.arange(9)[:, None] * 100.0 ** (-torch.arange(0, 8, 2) / 8)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def rotate(self, x, at):
        a, b = x[..., ::2], x[..., 1::2]
        c, s = self.cos[at : at + x.shape[-2]], self.sin[at : at + x.shape[-2]]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def forward(self, x, keys, values):
        n = keys.shape[2]
        q = self.rotate(self.q(x).view(2, 3, 2, 8).transpose(1, 2), n)
        k = torch.cat([keys, self.rotate(self.k(x).view(2, 3, 1, 8).transpose(1, 2), n)], 2)
        v = torch.cat([values, self.v(x).view(2, 3, 1, 8).transpose(1, 2)], 2)
        z = F.scaled_dot_product_attention(q, k.expand(-1, 2, -1, -1), v.expand(-1, 2, -1, -1))
        return z.transpose(1, 2).reshape(2, 3, D), k, v


class Int8Layers(nn.Module):
    """As PT2E quantization leaves a model: with freezing, Inductor makes int8 layers with packed weights of it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.randint(-100, 100, (24, 32), dtype=torch.int8))
        self.register_buffer("w_scales", torch.rand(24) * 0.02 + 0.001)
        self.register_buffer("w_zeros", torch.zeros(24, dtype=torch.int64))
        self.register_buffer("k", torch.randint(-100, 100, (8, 4, 3, 3), dtype=torch.int8))
        self.register_buffer("k_scales", torch.rand(8) * 0.02 + 0.001)
        self.register_buffer("k_zeros", torch.zeros(8, dtype=torch.int64))
        self.bias = nn.Parameter(torch.randn(24))

    def rounded(self, x):
        q = torch.ops.quantized_decomposed
        x = q.quantize_per_tensor(x.float(), 0.03, 7, 0, 255, torch.uint8)
        return q.dequantize_per_tensor(x, 0.03, 7, 0, 255, torch.uint8).to(self.bias.dtype)

    def weight(self, w, scales, zeros):
        return torch.ops.quantized_decomposed.dequantize_per_channel(w, scales.float(), zeros, 0, -128, 127, torch.int8).to(self.bias.dtype)

    def forward(self, x, y):
        a = F.relu(F.linear(self.rounded(x), self.weight(self.w, self.w_scales, self.w_zeros), self.bias))
        b = F.conv2d(self.rounded(y), self.weight(self.k, self.k_scales, self.k_zeros), None, 2, 1)
        return a, F.relu(b) * 2


def r(*size):
    return torch.randn(*size)


def causal(n):
    return torch.full((n, n), -math.inf).triu(1)


ZOO = {
    "gated_mlp": lambda: (GatedMlp(), (r(5, D),)),
    "resnet_block": lambda: (ResBlock(), (r(2, 4, 8, 8),)),
    "encoder": lambda: (Encoder(), (r(2, 6, D),)),
    "sorting": lambda: (Sorting(), (r(5, 8), torch.randint(4, (5, 8)))),
    "indexing": lambda: (Indexing(), (r(6, 8), torch.tensor([0, 2, 5]), torch.stack([torch.randperm(8)[:3] for _ in range(6)]), r(6, 3))),
    "scans": lambda: (Scans(), (r(5, 7),)),
    "conv_kinds": lambda: (ConvKinds(), (r(2, 6, 9, 9),)),
    "bf16_mlp": lambda: (LowMlp(torch.bfloat16), (r(4, D).bfloat16(),)),
    "inf_mask": lambda: (InfMask(), (r(2, 5, D),)),
    "matmuls": lambda: (Matmuls(), (r(2, 3, 4), r(2, 4, 5), r(2, 3, 5), r(4))),
    "cnn": lambda: (Cnn(), (r(3, 3, 16, 16),), ({0: batch},)),
    "decoder": lambda: (Decoder(), (r(2, 5, D), r(2, 7, D), torch.zeros(5, 7).masked_fill(torch.rand(5, 7) > 0.7, -math.inf).index_fill(1, torch.tensor(0), 0.0))),
    "padded": lambda: (Padded(), (r(3, 6, D), torch.tensor([6, 2, 4]))),
    "lstm": lambda: (Lstm(), (r(4, 2, 6),)),
    "unet": lambda: (Unet(), (r(1, 3, 8, 8),)),
    "embedding_bags": lambda: (Bags(), (torch.randint(12, (9,)), torch.tensor([0, 3, 3, 7]), torch.rand(9))),
    "channels_last": lambda: (ChannelsLast(), (r(2, 4, 8, 8).to(memory_format=torch.channels_last),)),
    "conv_transposed": lambda: (ConvTransposed(), (r(2, 4, 5, 6),)),
    "conv3d": lambda: (Conv3d(), (r(1, 2, 4, 6, 6),)),
    "f16_attention": lambda: (LowAttention(torch.float16), (r(2, 6, D).half(),)),
    "mixed_precision": lambda: (MixedPrecision(), (r(4, D), r(2, 2, 5, 5))),
    "int8_tables": lambda: (Int8Tables(), (torch.randint(20, (3, 4)),)),
    "int8_layers": lambda: (Int8Layers(), (r(5, 32), r(2, 4, 9, 9)), None, {"freezing": True}),
    "masks": lambda: (Masks(), (r(2, 7, D), torch.tensor([7, 4]))),
    "pools": lambda: (Pools(), (r(2, 3, 9, 10),)),
    "norms": lambda: (Norms(), (r(2, 4, 6, 6),)),
    "doubles": lambda: (Doubles(), (r(5, D).double(),)),
    "dynamic_attention": lambda: (DynamicAttention(), (r(3, 5, D),), ({0: batch, 1: time},)),
    "reductions": lambda: (Reductions(), (r(5, 7),)),
    "data_sizes": lambda: (DataSizes(), (r(4, 6), torch.tensor([2, 0, 3, 1]))),
    "integers": lambda: (Integers(), (torch.randint(-50, 50, (4, 6)), torch.randint(1, 9, (4, 6)))),
    "ties": lambda: (Ties(), (torch.randint(3, (4, 20)),)),
    "resample": lambda: (Resample(), (r(2, 4, 5, 6), torch.rand(2, 3, 4, 2) * 2 - 1)),
    "rotary": lambda: (Rotary(), (r(2, 3, D), r(2, 1, 4, 8), r(2, 1, 4, 8))),
    "vit": lambda: (Vit(), (r(2, 3, 8, 8),)),
    "gru": lambda: (Gru(), (r(3, 2, 6), r(2, 10))),
    "post_norm": lambda: (PostNormEncoder(), (r(2, 5, D), causal(5))),
    "fft": lambda: (Fft(), (r(3, 8),)),
    "big": lambda: (nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 8)), (r(4, 1024),)),  # 4 MB of weights, for scripts/bench-calls
    "proxied": lambda: (Proxied(), (r(3, 8), torch.randint(5, (9,)))),
    "bf16_attention": lambda: (LowAttention(torch.bfloat16), (r(2, 6, D).bfloat16(),)),
}

# Outputs that are indices into input 0 along a dimension, any of the equal keys' being right: {name: [[output, output of the keys, dim]]}
TIED = {"ties": [[1, 0, 1], [3, 2, 1]]}
