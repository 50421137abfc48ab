"""The third set: twenty, written without looking at the tool's rules and scored before any of them had been run."""
from plant import planted


@planted(r"0 / 0")
def bucket_means(torch):
    """Means by group, where a group is empty."""
    lin = torch.nn.Linear(4, 4)

    def f(x, group):
        h = torch.tanh(lin(x))
        total = torch.zeros(5, 4).index_add(0, group, h)
        count = torch.zeros(5).index_add(0, group, torch.ones(group.shape[0]))
        means = total / count[:, None]  # HERE
        return means.relu().sum()

    torch.compile(f)(torch.randn(6, 4), torch.tensor([0, 1, 1, 2, 4, 4])).backward()


@planted(r"0 / 0|0 \* inf|inf \* 0")
def unit_vectors(torch):
    """A padding row is normalised."""
    emb = torch.nn.Embedding(8, 6, padding_idx=0)

    def f(i):
        rows = emb(i)
        unit = rows / rows.norm(dim=-1, keepdim=True)  # HERE
        return (unit @ unit.transpose(-1, -2)).mean()

    torch.compile(f)(torch.tensor([[1, 2, 3], [4, 5, 0]]))


@planted(r"atanh of a number outside|atanh")
def rapidity(torch):
    def f(v, c):
        beta = v / c
        scaled = beta * 1.5
        return torch.atanh(scaled).sum() + beta.mean()  # HERE

    torch.compile(f)(torch.tensor([0.1, 0.5, 0.9]), torch.tensor(1.0))


@planted(r"log1p of a number below -1|log of a negative number|log1p")
def returns(torch):
    def f(price):
        change = price[1:] / price[:-1] - 1
        logs = torch.log1p(change)  # HERE
        return logs.cumsum(0)

    torch.compile(f)(torch.tensor([100.0, 101.0, -3.0, 50.0, 60.0]))


@planted(r"inf - inf")
def two_rooms(torch):
    """A difference of two exponentials that both overflow."""
    lin = torch.nn.Linear(4, 4)

    def f(x, t):
        h = lin(x) * 0.1 + 1
        up, down = torch.exp(h * t), torch.exp(-h * t)
        both = up + down
        return ((up - both) / 2).mean()  # HERE

    torch.compile(f)(torch.randn(3, 4), torch.tensor(200.0))


@planted(r"inf / inf")
def tanh_by_hand(torch):
    def f(x):
        a = torch.exp(2 * x)
        y = (a - 1) / (a + 1)  # HERE
        return y

    torch.compile(f)(torch.tensor([[0.1, 2.0], [60.0, 3.0]]))


@planted(r"0 \* -?inf|-?inf \* 0")
def dice(torch):
    """A mask that is multiplied instead of selected."""
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.ReLU())

    def f(img, keep):
        h = net(img).sum(1)
        depth = 1 / h
        return (depth * keep).sum()  # HERE

    with torch.no_grad():
        net[0].bias[:] = torch.tensor([-5.0, -5.0])
    torch.compile(f)(torch.rand(1, 1, 4, 4), torch.zeros(1, 4, 4))


@planted(r"0 \* -?inf|-?inf \* 0|0 / 0")
def length_gradient(torch):
    """The gradient of a vector's length at 0, in a module of its own."""

    class Edge(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.move = torch.nn.Linear(3, 3, bias=False)

        def forward(self, a, b):
            gap = self.move(a) - self.move(b)
            return (gap * gap).sum(-1).sqrt()  # HERE

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.edge = Edge()
            self.out = torch.nn.Linear(5, 1)

        def forward(self, a, b):
            return self.out(torch.tanh(self.edge(a, b))).sum()

    a = torch.randn(5, 3)
    b = torch.randn(5, 3)
    b[2] = a[2]
    torch.compile(Net())(a, b).backward()


@planted(r"softmax|inf - inf|-inf - -inf")
def empty_sequence(torch):
    """An attention over a sequence of which nothing is left."""
    mha = torch.nn.MultiheadAttention(8, 2, batch_first=True)

    def f(x, pad):
        y, _ = mha(x, x, x, key_padding_mask=pad, need_weights=True)  # HERE
        return y.square().mean()

    pad = torch.zeros(3, 4, dtype=torch.bool)
    pad[1] = True
    torch.compile(f)(torch.randn(3, 4, 8), pad)


@planted(r"0 / 0")
def rescale(torch):
    """Min-max normalisation of a constant channel."""

    def f(img):
        low, high = img.amin((1, 2), keepdim=True), img.amax((1, 2), keepdim=True)
        scaled = (img - low) / (high - low)  # HERE
        return (scaled * 255).round()

    x = torch.rand(3, 4, 4)
    x[1] = 0.25
    torch.compile(f)(x)


@planted(r"a negative number to a power")
def tone(torch):
    conv = torch.nn.Conv1d(1, 1, 3, padding=1)

    def f(x):
        h = conv(x) - 2
        curve = torch.pow(h, 0.75)  # HERE
        return curve.mean(), h

    torch.compile(f)(torch.randn(2, 1, 8))


@planted(r"inf - inf")
def late_step(torch):
    """The fourth step is the first to overflow."""

    @torch.compile
    def step(x):
        y = x * x
        return y, (y - y.mean()).abs()  # HERE

    x = torch.full((4,), 1e3)
    for _ in range(5):
        x, _ = step(x)


@planted(r"asin of a number outside|asin")
def latitude(torch):
    def f(p):
        r = p.square().sum(-1).sqrt() * 0.9
        z = p[:, 2] / r
        return torch.asin(z) * 57.3  # HERE

    torch.compile(f)(torch.tensor([[1.0, 0.0, 0.2], [0.0, 0.0, 2.0]]))


@planted(r"0 / 0|0 \* inf|inf \* 0")
def coefficient(torch):
    """The variation of a feature that is always 0, backward."""
    w = torch.nn.Parameter(torch.ones(4))

    def f(x):
        h = x * w
        spread = (h - h.mean(0)).square().mean(0)
        return (spread / h.mean(0)).sum()  # HERE

    x = torch.randn(6, 4).abs()
    x[:, 2] = 0
    torch.compile(f)(x).backward()


@planted(r"0 / 0|remainder|division by 0")
def wheel(torch):
    def f(t, period):
        return torch.remainder(t + 0.5, period) * 2  # HERE

    torch.compile(f)(torch.arange(4.0), torch.tensor([2.0, 3.0, 0.0, 5.0]))


@planted(r"scale", "input")
def dead_scale(torch):
    def f(x, scale):
        return torch.nn.functional.gelu(x * scale).sum()

    torch.compile(f)(torch.randn(3, 4), torch.tensor([1.0, float("nan"), 1.0, 1.0]))


@planted(r"running_var|norm", "constant")
def statistics(torch):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).eval()
    net[1].running_var[1] = float("nan")
    with torch.no_grad():
        torch.compile(net)(torch.rand(1, 3, 6, 6))


@planted(kind="none")
def chosen(torch):
    """A division by 0 that torch.where leaves out, forward only."""

    def f(x, y):
        return torch.where(y != 0, x / y, 0.0).sum()

    torch.compile(f)(torch.zeros(4), torch.tensor([1.0, 0.0, 2.0, 0.0]))


@planted(kind="none")
def replaced(torch):
    def f(x):
        return torch.nan_to_num(torch.log(x), nan=0.0, neginf=-30.0).sum()

    torch.compile(f)(torch.tensor([1.0, -1.0, 0.0]))


@planted(kind="none")
def clipped_training(torch):
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.AdamW(net.parameters(), 1e-2)
    loss_of = torch.compile(lambda x, y: torch.nn.functional.huber_loss(net(x), y))
    for _ in range(4):
        x = torch.randn(16, 8) * 50
        loss_of(x, x[:, :1]).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
