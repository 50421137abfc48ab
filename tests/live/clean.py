"""A hundred small models that compute no NaN, for clean.t: each compiled and run in one process, with a backward where there is one. Infinities
in masks, memory that nobody wrote, divisions by what is never 0, and operators that are easily mistaken are among them.

    python3 clean.py [FIRST [LAST]]    # prints each name before it runs, so that a finding has one"""
import sys

import torch
import torch.utils.checkpoint

nn, F = torch.nn, torch.nn.functional
MODELS = []


def add(name, f, *shapes, grad=True):
    MODELS.append((name, f, shapes, grad))


class Lambda(nn.Module):
    def __init__(self, f, **parts):
        super().__init__()
        self.f = f
        for k, v in parts.items():
            setattr(self, k, v)

    def forward(self, *x):
        return self.f(self, *x)


# ---- activations and losses ----

for a in ("ReLU", "ELU", "SELU", "GELU", "SiLU", "Mish", "Softplus", "Hardswish", "LogSigmoid", "Softsign", "Tanhshrink", "CELU"):
    add(a, nn.Sequential(nn.Linear(8, 8), getattr(nn, a)(), nn.Linear(8, 4)), (4, 8))
for a, f in (("mse", F.mse_loss), ("l1", F.l1_loss), ("huber", F.huber_loss), ("smooth_l1", F.smooth_l1_loss)):
    add("loss " + a, lambda x, y, f=f: f(x, y), (4, 8), (4, 8))
add("bce", lambda x, y: F.binary_cross_entropy_with_logits(x * 30, (y > 0).float()), (4, 8), (4, 8))
add("cross entropy", lambda x: F.cross_entropy(x * 50, torch.arange(4) % 3), (4, 8))
add("kl", lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"), (4, 8), (4, 8))
add("cosine", lambda x, y: F.cosine_embedding_loss(x, y, torch.ones(4)), (4, 8), (4, 8))
add("triplet", lambda x, y: F.triplet_margin_loss(x, y, y.flip(0)), (4, 8), (4, 8))
add("ctc", lambda x: F.ctc_loss(x.log_softmax(-1), torch.ones(2, 3, dtype=torch.long), torch.tensor([9, 9]), torch.tensor([3, 3])), (9, 2, 5), grad=False)
add("nll ignored", lambda x: F.nll_loss(x.log_softmax(-1), torch.tensor([1, -100, 2, 0]), ignore_index=-100), (4, 8))

# ---- layers ----

for norm in (nn.LayerNorm(8), nn.BatchNorm1d(8), nn.GroupNorm(2, 8), nn.RMSNorm(8)):
    add(type(norm).__name__, nn.Sequential(nn.Linear(8, 8), norm, nn.Linear(8, 2)), (6, 8))
add("InstanceNorm", nn.InstanceNorm2d(3, affine=True), (2, 3, 6, 6))
add("norm of zeros", lambda x: F.layer_norm(x * 0, (8,)).sum() + F.normalize(x * 0).sum(), (4, 8))
for c in (nn.Conv1d(3, 4, 3), nn.ConvTranspose1d(3, 4, 3)):
    add(type(c).__name__, nn.Sequential(c, nn.ReLU()), (2, 3, 9))
for c in (nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(3, 6, 3, groups=3), nn.Conv2d(3, 4, 3, dilation=2, stride=2), nn.ConvTranspose2d(3, 4, 2, stride=2)):
    add("%s %s" % (type(c).__name__, c.extra_repr()[:30]), nn.Sequential(c, nn.SiLU()), (2, 3, 8, 8))
for p in (nn.MaxPool2d(2), nn.AvgPool2d(3, padding=1), nn.AdaptiveAvgPool2d(3), nn.AdaptiveMaxPool2d(2), nn.LPPool2d(2, 2), nn.Upsample(scale_factor=2, mode="bilinear")):
    add(type(p).__name__, Lambda(lambda m, x: m.p(x).sum(1), p=p), (2, 3, 8, 8))
add("MaxPool padded", lambda x: F.max_pool2d(x, 3, 2, 1), (2, 3, 7, 7))
add("Embedding", Lambda(lambda m, x: m.e((x.abs() * 3).long() % 10) * x[..., None], e=nn.Embedding(10, 4, padding_idx=0)), (4, 8))
add("EmbeddingBag", Lambda(lambda m, x: m.e((x.abs() * 3).long() % 10), e=nn.EmbeddingBag(10, 4, mode="mean")), (4, 8), grad=False)
add("GRUCell", Lambda(lambda m, x: m.c(m.c(x)), c=nn.GRUCell(8, 8)), (4, 8))
add("LSTMCell", Lambda(lambda m, x: m.c(x)[0], c=nn.LSTMCell(8, 8)), (4, 8))
add("dropout", nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 8)), (4, 8))
add("Bilinear", Lambda(lambda m, x, y: m.b(x, y), b=nn.Bilinear(8, 8, 3)), (4, 8), (4, 8))
add("TransformerEncoderLayer", nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), (2, 5, 16))
add("MultiheadAttention", Lambda(lambda m, x: m.a(x, x, x, need_weights=False)[0], a=nn.MultiheadAttention(16, 2, batch_first=True)), (2, 5, 16))

# ---- masks and infinities that are meant ----


def causal(x):
    s = x @ x.transpose(-1, -2)
    return s.masked_fill(torch.triu(torch.ones(5, 5, dtype=torch.bool), 1), float("-inf")).softmax(-1) @ x


add("causal", causal, (2, 5, 16))
add("sdpa", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), (2, 2, 5, 8))
add("sdpa masked", lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=torch.tril(torch.ones(5, 5)).log()), (2, 2, 5, 8), grad=False)
add("max of -inf", lambda x: torch.full((4, 8), float("-inf")).maximum(x).sum(), (4, 8))
add("log of zeros kept apart", lambda x: torch.where(x > 0, torch.log(x.clamp_min(1e-6)), 0.0), (4, 8))
add("exp to inf and back", lambda x: 1 / (1 + torch.exp(x.abs() * 1000)), (4, 8), grad=False)
add("logsumexp", lambda x: torch.logsumexp(x * 300, -1), (4, 8))
add("logaddexp", lambda x, y: torch.logaddexp(x * 300, y), (4, 8), (4, 8))
add("topk to -inf", lambda x: torch.full_like(x, float("-inf")).scatter(1, x.topk(3).indices, 0.0).softmax(-1) * x, (4, 8))
add("nan_to_num", lambda x: torch.nan_to_num(x / x.abs().max(), 0.0), (4, 8), grad=False)
add("cummax", lambda x: torch.cummax(x, 1).values, (4, 8))
add("searching", lambda x: torch.bucketize(x, torch.tensor([-1.0, 0, 1])).float() * x, (4, 8))

# ---- memory ----


def slots(x):
    y = x.new_empty(6, 8)
    y[1:5] = x
    y[0] = 0
    y[5] = x[0]
    return y.sum(0)


def ring(m, x):
    m.seen[m.at : m.at + 2] = x[:2].detach()
    return m.seen[: m.at + 2].sum() + x.sum()


add("slots", slots, (4, 8), grad=False)
r = Lambda(ring)
r.register_buffer("seen", torch.full((6, 8), float("nan")))
r.at = 0
r.seen[:2] = 0
add("ring", r, (4, 8), grad=False)
add("padded", lambda x: F.pad(x, (1, 2, 0, 1)).cumsum(0), (4, 8))
add("cat of views", lambda x: torch.cat([x[:, ::2], x[:, 1::2] * 2], 1).t().contiguous(), (4, 8))
add("as_strided", lambda x: torch.as_strided(x.contiguous(), (3, 4), (8, 1), 2) * 2, (4, 8), grad=False)
add("split outputs", lambda x: [a * i for i, a in enumerate(x.split(3, 1))], (4, 8))
add("index_put", lambda x: torch.zeros(4, 8).index_put((torch.tensor([0, 2]),), x[:2]), (4, 8))
add("scatter_reduce", lambda x: torch.zeros(4, 3).scatter_reduce(1, (x.abs() * 9).long() % 3, x, "amax", include_self=False), (4, 8), grad=False)
add("in place", lambda x: x.clone().mul_(2).add_(1).relu_(), (4, 8))
add("map", lambda x: torch.stack([row.sin() + i for i, row in enumerate(x)]), (4, 8))
add("complex", lambda x: torch.view_as_real(torch.fft.rfft(x)).abs().sum(-1), (4, 8), grad=False)
add("fft twice", lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, n=8), (4, 8), grad=False)
add("unused output", lambda x: x.max(1).values + x.sort(1).values[:, 0], (4, 8))
add("integers", lambda x: (x * 10).int() // 3 % 7, (4, 8), grad=False)
add("bools", lambda x: (x > 0) & ~(x > 1), (4, 8), grad=False)

# ---- numbers ----

for d in (torch.bfloat16, torch.float16, torch.float64):
    add("mlp %s" % d, nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).to(d), (4, 8, d))
add("autocast", lambda x, l=nn.Linear(8, 8): torch.autocast("cpu", torch.bfloat16).__enter__() and 0 or l(x).float().softmax(-1), (4, 8), grad=False)
for name, f in (("var", lambda x: x.var(1, correction=0)), ("std", lambda x: x.std(1)), ("norm", lambda x: x.norm(dim=1)), ("prod", lambda x: x.prod(1)),
                ("mean of one", lambda x: x[:, :1].mean(1)), ("quantile", lambda x: x.quantile(0.5, 1)), ("median", lambda x: x.median(1).values),
                ("atan2", lambda x: torch.atan2(x, x.flip(0))), ("rsqrt", lambda x: torch.rsqrt(x * x + 1e-5)), ("pow", lambda x: (x * x + 1) ** 0.5),
                ("lerp", lambda x: torch.lerp(x, x.flip(0), 0.3)), ("erf", lambda x: torch.erf(x) + torch.erfinv(torch.tanh(x) * 0.9)),
                ("lgamma", lambda x: torch.lgamma(x.abs() + 1)), ("einsum", lambda x: torch.einsum("ij,kj->ik", x, x)),
                ("solve", lambda x: torch.linalg.solve(x[:, :4] + 9 * torch.eye(4), x)), ("remainder", lambda x: torch.remainder(x, 2.5)),
                ("where", lambda x: torch.where(x > 0, x, x.exp() - 1)), ("clamp", lambda x: x.clamp(-1, 1).acos())):
    add(name, f, (4, 8))

# ---- graphs within graphs ----


def looped(x):
    from torch._higher_order_ops import while_loop

    return while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y / (1 + y.abs().sum())), (torch.tensor(0), x * 1.0))[1]


def flexible(x):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(lambda b, h, q, k: (q >= k) & (k >= 2), None, None, 16, 16, device="cpu")  # two rows without keys
    return flex_attention(x, x, x, block_mask=mask)


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.abs().sqrt()

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.sign() / (2 * x.abs().sqrt() + 1e-3)


add("cond", lambda x: torch.cond(x.sum() > 1e9, lambda x: torch.log(x), lambda x: x.tanh(), (x,)) * 2, (4, 8), grad=False)
add("while_loop", looped, (4, 8), grad=False)
add("flex_attention with empty rows", flexible, (1, 2, 16, 16), grad=False)
add("autograd.Function at 0", lambda x: Double.apply(x * 0), (4, 8))
add("checkpoint", lambda x: torch.utils.checkpoint.checkpoint(lambda y: torch.sqrt(y.square() + 1e-6), x, use_reentrant=False), (4, 8))
add("weight_norm", nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)), nn.Tanh()), (4, 8))
add("an empty bag", Lambda(lambda m, x: m.e(torch.tensor([1, 2, 3]), torch.tensor([0, 2, 2])) / x[:3, :4].abs().clamp_min(0.1),
                           e=nn.EmbeddingBag(10, 4, mode="mean")), (4, 8), grad=False)


def one(f, shapes, grad):
    given = [torch.randn(*s[:-1], dtype=s[-1]) if isinstance(s[-1], torch.dtype) else torch.randn(*s) for s in shapes]
    for x in given:
        x.requires_grad_(grad)
    c = torch.compile(f)
    for _ in range(2):
        out = c(*given)
        out = out if isinstance(out, (list, tuple)) else [out]
        if grad:
            sum(o.float().square().sum() for o in out).backward()
    return all(bool(torch.isfinite(o).all()) for o in out if o.is_floating_point())


def main(first=0, last=None):
    torch.set_num_threads(1)
    ran = 0
    for name, f, shapes, grad in MODELS[int(first) : int(last) if last else None]:
        torch.manual_seed(0)
        torch._dynamo.reset()
        print("#", name, flush=True)
        try:
            if one(f, shapes, grad):
                ran += 1
            else:
                print("# its result is not finite", flush=True)
        except Exception as e:
            print("# did not run: %s: %s" % (type(e).__name__, str(e).split("\n")[0][:150]), flush=True)
    print("ran", ran, "of", len(MODELS))


if __name__ == "__main__":
    main(*sys.argv[1:])
