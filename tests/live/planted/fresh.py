"""The second set: twenty, written after the first had been scored and before any of them ran."""
from plant import planted


@planted(r"log of a negative number|log2 of a negative")
def information(torch):
    lin = torch.nn.Linear(8, 8)

    def f(x):
        h = torch.tanh(lin(x))
        gain = 1 - 2 * h
        bits = torch.log2(gain)  # HERE
        return bits.mean() + h.sum()

    with torch.no_grad():
        lin.bias[:] = 2.0
    torch.compile(f)(torch.randn(4, 8))


@planted(r"square root of a negative number")
def distance(torch):
    def f(a, b):
        sq = (a * a).sum(-1)[:, None] + (b * b).sum(-1)[None] - 2 * (a @ b.t()) - 1.0
        d = sq.sqrt()  # HERE
        return d.min(-1).values

    x = torch.randn(6, 4)
    torch.compile(f)(x, x.clone())


@planted(r"0 / 0")
def weighted_mean(torch):
    def f(x, m):
        w = m.float()
        total = (x * w).sum(-1)
        return (total / w.sum(-1)).square().mean()  # HERE

    m = torch.ones(5, 7, dtype=torch.bool)
    m[4] = False
    torch.compile(f)(torch.randn(5, 7), m)


@planted(r"inf - inf|entirely -inf")
def two_masks(torch):
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

        def forward(self, x, pad):
            s = self.q(x) @ self.k(x).transpose(-1, -2) / 8**0.5
            causal = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
            s = s.masked_fill(causal, float("-inf"))
            s = s.masked_fill(pad[:, None, :], float("-inf"))
            p = s.softmax(-1)  # HERE
            return p @ x

    pad = torch.zeros(2, 5, dtype=torch.bool)
    pad[1, 0] = True
    torch.compile(Attention())(torch.randn(2, 5, 8), pad)


@planted(r"inf \* 0|0 \* inf|0 / 0|0 \* -?inf|-inf \* 0")
def norm_gradient(torch):
    w = torch.nn.Parameter(torch.randn(6, 4))

    def f(x):
        d = (x[:, None] - w[None]).pow(2).sum(-1)
        return d.sqrt().mean()  # HERE

    x = w.detach()[:3].clone()
    torch.compile(f)(x).backward()


@planted(r"var of one element: 0 / 0|std of one element: 0 / 0|0 / 0")
def normalise_one(torch):
    def f(x):
        y = torch.relu(x) + 1
        return (y - y.mean(0)) / (y.std(0) + 1e-5)  # HERE

    torch.compile(f)(torch.randn(1, 6))


@planted(r"inf / inf|inf \* 0|0 \* inf")
def softplus_by_hand(torch):
    def f(x):
        e = torch.exp(x)
        s = e / (1 + e)  # HERE
        return (s * x).sum()

    torch.compile(f)(torch.linspace(-120, 120, 16))


@planted(r"inf - inf")
def half_logits(torch):
    emb = torch.nn.Linear(64, 16, bias=False).half()
    with torch.no_grad():
        emb.weight.fill_(40.0)

    def f(x):
        logits = emb(x)
        shifted = logits - logits.max(-1, keepdim=True).values  # HERE
        return shifted.float().exp().sum(-1).log()

    torch.compile(f)(torch.full((2, 64), 30.0, dtype=torch.float16))


@planted(r"a negative number to a power")
def gamma(torch):
    def f(img, g):
        img = img - img.mean()
        return (img ** g).clamp(0, 1)  # HERE

    torch.compile(f)(torch.rand(3, 4, 4), torch.full((3, 1, 1), 2.2))


@planted(r"acosh? of a number outside|acos of a number outside")
def hyperbolic(torch):
    def f(u, v):
        inner = u[:, 0] * v[:, 0] - (u[:, 1:] * v[:, 1:]).sum(-1)
        return torch.acosh(inner).mean()  # HERE

    u = torch.randn(8, 4)
    torch.compile(f)(u, u * 0.1)


@planted(r"inf \* 0|0 \* inf|0 / 0")
def inverse_gradient(torch):
    w = torch.nn.Parameter(torch.tensor([0.0, 1.0, 2.0]))

    def f(x):
        scale = torch.rsqrt(w * w)  # HERE
        return (torch.where(w > 0, scale, 0.0) * x).sum()

    torch.compile(f)(torch.randn(3)).backward()


@planted(r"inf - inf")
def prefix(torch):
    def f(x):
        logs = torch.log(x)
        total = logs.cumsum(0)
        return (total - total[-1]).exp()  # HERE

    torch.compile(f)(torch.tensor([0.5, 0.0, 2.0, 3.0]))


@planted(r"inf - inf")
def log_partition(torch):
    def f(x, dead):
        e = x.masked_fill(dead, float("-inf"))
        z = torch.logsumexp(e, 1, keepdim=True)
        return (e - z).exp().sum()  # HERE

    dead = torch.zeros(3, 4, dtype=torch.bool)
    dead[1] = True
    torch.compile(f)(torch.randn(3, 4), dead)


@planted(r"batch\['labels'\]|labels|weights", "input")
def loss_weights(torch):
    def f(x, weights):
        return (torch.nn.functional.softplus(x) * weights).mean()

    w = torch.ones(8)
    w[5] = float("nan")
    torch.compile(f)(torch.randn(4, 8), w)


@planted(r"0 / 0")
def sgd_with_norm(torch):
    lin = torch.nn.Linear(4, 4, bias=False)

    @torch.compile
    def update():
        with torch.no_grad():
            for p in lin.parameters():
                g = p.grad
                p.sub_(0.1 * g / g.norm())  # HERE

    lin.weight.grad = torch.zeros(4, 4)
    update()


@planted(r"0 / 0")
def rms(torch):
    w = torch.nn.Parameter(torch.ones(6))
    opt = torch.optim.RMSprop([w], eps=0.0)

    @torch.compile
    def update():
        opt.step()  # HERE

    w.grad = torch.tensor([1.0, 0.0, 2.0, 3.0, 4.0, 5.0])
    update()


@planted(r"gru\.weight_ih|weight_ih", "constant")
def recurrent(torch):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gru = torch.nn.GRUCell(4, 4)

        def forward(self, x, h):
            return self.gru(x, h)

    m = M()
    with torch.no_grad():
        m.gru.weight_ih[2, 2] = float("nan")
    torch.compile(m)(torch.randn(2, 4), torch.zeros(2, 4))


@planted(r"0 \* -inf|-inf \* 0")
def kl(torch):
    def f(p, q):
        ratio = torch.log(p) - torch.log(q)
        return (p * ratio).sum(-1).mean()  # HERE

    p = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    torch.compile(f)(p, torch.tensor([[0.3, 0.3, 0.4], [0.3, 0.3, 0.4]]))


@planted(r"0 / 0|0 \* inf|inf \* 0|-?inf \* 0|0 \* -inf")
def gathered(torch):
    table = torch.nn.Parameter(torch.tensor([[1.0], [0.0], [3.0]]))

    def f(i):
        rows = table[i]
        ent = rows * rows.log()  # HERE
        return torch.where(rows > 0, ent, torch.zeros_like(ent)).sum()

    torch.compile(f)(torch.tensor([0, 1, 2, 1])).backward()


@planted(r"of infinity|inf - inf|inf \* 0")
def phase(torch):
    def f(t, w):
        angle = t * torch.exp(w)
        return torch.sin(angle).sum()  # HERE

    torch.compile(f)(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 100.0]))
