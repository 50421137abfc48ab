"""The first set: twenty-four, most of them from what people ask about."""
from plant import planted


def model(torch, *sizes):
    nn = torch.nn
    return nn.Sequential(*[layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.ReLU())])


@planted(r"0 \* -inf")
def entropy(torch):
    net = model(torch, 8, 8)

    def f(x):
        p = net(x)
        return (p * torch.log(p)).sum()  # HERE

    torch.compile(f)(torch.randn(4, 8))


@planted(r"0 \* -inf")
def saturated(torch):
    def f(x, y):
        p = torch.sigmoid(x)
        a = y * torch.log(p)
        b = (1 - y) * torch.log(1 - p)  # HERE
        return -(a + b).mean()

    torch.compile(f)(torch.tensor([0.0, 1.0, 200.0]), torch.tensor([0.0, 1.0, 1.0]))


@planted(r"softmax of a row that is entirely -inf|-inf - -inf|inf - inf")
def masked(torch):
    def f(q, m):
        s = q @ q.t()
        s = s.masked_fill(m, float("-inf"))
        a = torch.softmax(s, -1)  # HERE
        return a @ q

    m = torch.zeros(6, 6, dtype=torch.bool)
    m[2] = True
    torch.compile(f)(torch.randn(6, 8), m)


@planted(r"inf - inf")
def logsumexp_minus(torch):
    def f(x, m):
        x = torch.where(m, float("-inf"), x)
        top = x.amax(-1)
        return (torch.logsumexp(x, -1) - top).exp()  # HERE

    m = torch.zeros(4, 8, dtype=torch.bool)
    m[1] = True
    torch.compile(f)(torch.randn(4, 8), m)


@planted(r"inf \* 0|0 \* inf")
def pole(torch):
    def f(x, c):
        w = 1 / (x - c)
        return (w * (x - x.round())).sum()  # HERE

    torch.compile(f)(torch.tensor([1.0, 2.5, 3.25]), torch.tensor([1.0, 1.0, 1.0]))


@planted(r"inf \* 0|0 \* inf")
def power_backward(torch):
    w = torch.nn.Parameter(torch.randn(8))

    def f(x):
        return (x * w).abs().pow(0.5).sum()  # HERE

    x = torch.randn(4, 8)
    x[1, 3] = 0
    torch.compile(f)(x).backward()


@planted(r"0 / 0|0 \* inf|inf \* 0")
def norm_backward(torch):
    lin = torch.nn.Linear(8, 8, bias=False)

    def f(x):
        h = lin(x)
        return torch.sqrt((h * h).sum(-1)).sum()  # HERE

    x = torch.randn(4, 8)
    x[2] = 0
    torch.compile(f)(x).backward()


@planted(r"0 / 0")
def adam(torch):
    w = torch.nn.Parameter(torch.ones(8))
    opt = torch.optim.Adam([w], eps=0.0)
    step = torch.compile(lambda: opt.step())  # HERE
    w.grad = torch.ones(8)
    w.grad[3] = 0
    step()


@planted(r"inf / inf")
def naive_softmax(torch):
    def f(x):
        e = torch.exp(x)
        return e / e.sum(-1, keepdim=True)  # HERE

    torch.compile(f)(torch.randn(4, 8) * 60)


@planted(r"of one element: 0 / 0|0 / 0")
def variance(torch):
    def f(x):
        y = x * 2
        return x / (1 + y.var(0))  # HERE

    torch.compile(f)(torch.randn(1, 8))


@planted(r"log of a negative number")
def logarithm(torch):
    def f(x):
        y = x * 2
        z = torch.log(y)  # HERE
        return z.sum() + y.sum()

    torch.compile(f)(torch.randn(4, 8))


@planted(r"acos of a number outside")
def angle(torch):
    def f(a, b):
        c = (a * b).sum(-1)
        return torch.acos(c)  # HERE

    x = torch.nn.functional.normalize(torch.randn(64, 3), dim=-1) * 1.001
    torch.compile(f)(x, x)


@planted(r"0 / 0|0 \* inf|inf \* 0")
def where_gradient(torch):
    w = torch.nn.Parameter(torch.ones(8))

    def f(x):
        y = x * w
        safe = torch.where(y > 0, torch.log(y), torch.zeros_like(y))  # HERE
        return safe.sum()

    x = torch.rand(4, 8)
    x[0, 0] = 0
    torch.compile(f)(x).backward()


@planted(r"inf - inf")
def half_overflow(torch):
    def f(a, b):
        s = a @ b
        return s - s.amax(-1, keepdim=True)  # HERE

    torch.compile(f)(torch.full((4, 64), 60.0, dtype=torch.float16), torch.full((64, 4), 60.0, dtype=torch.float16))


@planted(r"inf - inf")
def running_sum(torch):
    def f(x):
        y = torch.exp(x.abs() * 100) * torch.sign(x)
        return torch.cumsum(y, 0)  # HERE

    torch.compile(f)(torch.tensor([0.5, 2.0, -1.5, 0.25]))


@planted(r"mean of no elements|0 / 0")
def empty_mean(torch):
    def f(x, n):
        y = torch.relu(x)[:0]
        return y.mean() + n  # HERE

    torch.compile(f)(torch.randn(4, 8), torch.zeros(()))


@planted(r"0 \* inf|inf \* 0|0 / 0")
def layer_norm(torch):
    def f(x):
        y = x * 3
        return torch.nn.functional.layer_norm(y, (8,), eps=0.0)  # HERE

    x = torch.randn(4, 8)
    x[1] = 2.0
    torch.compile(f)(x)


@planted(r"emb", "constant")
def embedding(torch):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = torch.nn.Embedding(10, 4)

        def forward(self, i):
            return self.emb(i).sum(-1) * 2

    m = M()
    with torch.no_grad():
        m.emb.weight[7] = float("nan")
    torch.compile(m)(torch.tensor([1, 7, 3]))


@planted(r"0 / 0")
def cosine(torch):
    def f(a, b):
        dot = (a * b).sum(-1)
        return dot / (a.norm(dim=-1) * b.norm(dim=-1))  # HERE

    a = torch.randn(4, 8)
    a[3] = 0
    torch.compile(f)(a, torch.randn(4, 8))


# planted as 0 / 0, but torch masks it (derivatives.yaml, std_backward), in eager, too
@planted(kind="none")
def std_backward(torch):
    w = torch.nn.Parameter(torch.ones(8))

    def f(x):
        y = x * w
        return y.std(-1).sum()  # HERE

    x = torch.randn(4, 8)
    x[1] = 5.0
    torch.compile(f)(x).backward()


# planted as 0 / 0, but torch masks it (derivatives.yaml, atan2_backward), in eager, too
@planted(kind="none")
def arctangent_backward(torch):
    w = torch.nn.Parameter(torch.ones(8))

    def f(x, y):
        a = x * w
        return torch.atan2(a, y).sum()  # HERE

    x, y = torch.randn(8), torch.randn(8)
    x[2] = y[2] = 0
    torch.compile(f)(x, y).backward()


@planted(r"a negative number to a power")
def cube_root(torch):
    def f(x):
        y = x - 0.5
        return y ** (1 / 3)  # HERE

    torch.compile(f)(torch.rand(16))


@planted(r"remainder of a division by 0|division by 0")
def modulo(torch):
    def f(x, n):
        k = n - 2
        return torch.fmod(x, k)  # HERE

    torch.compile(f)(torch.randn(4), torch.tensor([1.0, 2.0, 3.0, 4.0]))


@planted(r"0 \* -?inf|-?inf \* 0")
def smoothing(torch):
    def f(x, y):
        logp = torch.log_softmax(x, -1)
        smooth = torch.zeros_like(logp).scatter(1, y[:, None], 1.0)
        return -(smooth * logp).sum(-1).mean()  # HERE

    x = torch.randn(4, 8)
    x[:, 5] = float("-inf")
    torch.compile(f)(x, torch.tensor([0, 1, 2, 3]))
