"""The fourth set: mixed precision, bags, scatters, complex numbers, sorts, Functions of the user's own, checkpoints, higher-order operators,
parametrizations, optimizers, packages. Written without looking at the tool's rules and scored before any of them had been run."""
import os
import tempfile

from plant import planted


@planted(r"inf - inf")
def half_scores(torch):
    """Scores overflow in float16 under autocast, and the usual subtraction of the largest meets them."""
    q, k = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)

    def f(x):
        with torch.autocast("cpu", torch.float16):
            s = q(x) @ k(x).transpose(-1, -2)
        top = s.amax(-1, keepdim=True)
        e = torch.exp(s - top)  # HERE
        return e / e.sum(-1, keepdim=True)

    torch.compile(f)(torch.randn(2, 4, 8) * 3000)


@planted(r"0 / 0")
def empty_bag(torch):
    """A mean over a bag's words, where one bag is empty."""
    bag = torch.nn.EmbeddingBag(10, 4, mode="sum")

    def f(words, starts):
        total = bag(words, starts)
        ends = torch.cat([starts[1:], torch.tensor([words.shape[0]])])
        many = (ends - starts).float()
        mean = total / many[:, None]  # HERE
        return torch.tanh(mean).sum(1)

    torch.compile(f)(torch.tensor([1, 2, 4, 5, 4]), torch.tensor([0, 2, 2]))


@planted(r"inf - -?inf|inf \+ -?inf")
def edge_softmax(torch):
    """Attention over a node's edges, where all of one node's edges are masked."""
    score = torch.nn.Linear(6, 1)

    def f(x, to, alive):
        s = score(x).squeeze(-1).masked_fill(~alive, float("-inf"))
        top = torch.full((4,), float("-inf")).scatter_reduce(0, to, s, "amax")
        e = torch.exp(s - top[to])  # HERE
        total = torch.zeros(4).index_put((to,), e, accumulate=True)
        return e / total[to]

    to = torch.tensor([0, 0, 1, 1, 2, 2])
    torch.compile(f)(torch.randn(6, 6), to, torch.tensor([1, 1, 1, 1, 0, 0], dtype=torch.bool))


@planted(r"0 \* -?inf|-?inf \* 0")
def half_einsum(torch):
    """A product in float16 that overflows is masked by a multiplication."""

    def f(a, b, keep):
        c = torch.einsum("bij,bkj->bik", a, b)
        c = c * keep  # HERE
        return c.relu().float()

    keep = torch.tril(torch.ones(4, 4, dtype=torch.float16))
    torch.compile(f)(torch.full((2, 4, 16), 200.0, dtype=torch.float16), torch.full((2, 4, 16), 200.0, dtype=torch.float16), keep)


@planted(r"0 / 0")
def phasor(torch):
    """A spectrum's phases as unit numbers; a silent bin has none."""

    def f(x):
        z = torch.fft.rfft(x)
        unit = z / z.abs()  # HERE
        return torch.view_as_real(unit).sum(-1)

    torch.compile(f)(torch.stack([torch.randn(8), torch.zeros(8)]))


@planted(r"inf - inf|inf \+ -inf")
def gaps(torch):
    """Padding sorts to the end as infinity, and neighbours are subtracted."""

    def f(x, pad):
        s = (x * 2).masked_fill(pad, float("inf")).sort(-1).values
        gap = s[:, 1:] - s[:, :-1]  # HERE
        return gap.clamp(max=5.0).mean(-1)

    pad = torch.zeros(3, 6, dtype=torch.bool)
    pad[1, 4:] = True
    torch.compile(f)(torch.randn(3, 6), pad)


@planted(r"0 \* -?inf|-?inf \* 0")
def focal_gradient(torch):
    """A focal loss with an exponent below 1: its derivative is infinite for what is entirely right."""
    lin = torch.nn.Linear(4, 1)
    with torch.no_grad():
        lin.weight.fill_(20.0)
        lin.bias.fill_(0.0)

    def f(x):
        p = torch.sigmoid(lin(x))
        hard = (1 - p) ** 0.5  # HERE
        return -(hard * torch.log(p)).mean()

    torch.compile(f)(torch.tensor([[0.1, 0.0, -0.1, 0.02], [1.0, 1.0, 1.0, 1.0]])).backward()


@planted(r"0 / 0")
def own_function(torch):
    """An autograd.Function of the user's own, whose backward divides by a length that is 0."""

    class Length(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            n = x.square().sum(-1).sqrt()
            ctx.save_for_backward(x, n)
            return n

        @staticmethod
        def backward(ctx, g):
            x, n = ctx.saved_tensors
            direction = x / n[:, None]  # HERE
            return g[:, None] * direction

    w = torch.nn.Parameter(torch.randn(5, 3))

    def f(x):
        return Length.apply(x * w).sum()

    torch.compile(f)(torch.cat([torch.randn(4, 3), torch.zeros(1, 3)])).backward()


own_function.marked = own_function


@planted(r"0 \* -?inf|-?inf \* 0")
def checkpointed(torch):
    """The gradient of a square root at 0, in a block that is computed again for the backward."""
    from torch.utils.checkpoint import checkpoint

    first, last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)

    def block(x, keep):
        h = torch.tanh(first(x))
        root = torch.sqrt(h.square() * keep)  # HERE
        return last(root)

    def f(x, keep):
        return checkpoint(block, x, keep, use_reentrant=False).sum()

    keep = torch.ones(6, 4)
    keep[2, 1] = 0
    torch.compile(f)(torch.randn(6, 4), keep).backward()


@planted(r"0 / 0")
def newton(torch):
    """Newton's method in a while_loop, which comes to a double root and divides 0 by 0."""
    from torch._higher_order_ops import while_loop

    def f(x):
        def more(i, x):
            return i < 5

        def step(i, x):
            value, slope = x * x, 2 * x
            return i + 1, x - value / slope  # HERE

        return while_loop(more, step, (torch.tensor(0), x * 1.0))

    torch.compile(f)(torch.tensor([1.0, -2.0, 0.0]))


@planted(r"0 / 0")
def filtered(torch):
    """A normalised recurrence by scan, whose state becomes 0 in its third step."""
    from torch._higher_order_ops.scan import scan

    torch._dynamo.config.capture_scalar_outputs = True  # else torch cannot compile it

    def f(state, xs):
        def step(state, x):
            state = state * x
            state = state / state.sum()  # HERE
            return state, state.clone()

        return scan(step, state, xs, dim=0)[1].sum(0)

    xs = torch.rand(5, 4) + 0.5
    xs[2] = 0
    torch.compile(f)(torch.ones(4), xs)


@planted(r"log of a negative number|log")
def branch(torch):
    """The branch of a cond that is taken."""

    def f(x):
        def steep(x):
            y = x * 3
            return torch.log(y - 1)  # HERE

        def flat(x):
            return x.tanh() + 1

        return torch.cond(x.sum() > 0, steep, flat, (x,))

    torch.compile(f)(torch.tensor([5.0, 0.1, 2.0]))


@planted(kind="none")
def other_branch(torch):
    """The branch of a cond that is not taken would compute NaN, and does not run."""

    def f(x):
        def steep(x):
            return torch.log(x * 3 - 1)

        def flat(x):
            return x.tanh() + 1

        return torch.cond(x.sum() > 100, steep, flat, (x,)) * 2

    c = torch.compile(f)
    for _ in range(2):
        c(torch.tensor([5.0, 0.1, 2.0]))


@planted(r"0 / 0")
def flexible(torch):
    """Rows that a block mask leaves without keys are zero after flex_attention, and are normalised. (At first its score_mod took the logarithm
    of a negative number; torch's template makes zeros of that, so that no tensor holds a NaN.)"""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def late(b, h, q, k):
        return (q >= k) & (k >= 2)

    mask = create_block_mask(late, None, None, 16, 16, device="cpu")

    def f(x):
        y = flex_attention(x, x * 0.5, x, block_mask=mask)
        return y / y.norm(dim=-1, keepdim=True)  # HERE

    torch.compile(f)(torch.randn(1, 2, 16, 16))


@planted(r"0 / 0|0 \* inf|inf \* 0")
def weight_norm(torch):
    """A parametrized layer, one row of which was pruned to zero."""
    lin = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(4, 3))
    with torch.no_grad():
        lin.parametrizations.weight.original1[1] = 0

    def f(x):
        h = torch.tanh(x)
        y = lin(h)  # HERE
        return y.relu().sum()

    torch.compile(f)(torch.randn(5, 4))


@planted(r"0 / 0")
def adafactor(torch):
    """A factored second moment, of a matrix that has had no gradient yet."""
    first, last = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
    torch.nn.init.zeros_(last.weight)
    params = [first.weight, last.weight]
    rows = [torch.zeros(p.shape[0]) for p in params]
    columns = [torch.zeros(p.shape[1]) for p in params]

    @torch.compile
    def update(params, grads, rows, columns):
        for p, g, r, c in zip(params, grads, rows, columns):
            g2 = g.square()
            r.lerp_(g2.mean(1), 0.1)
            c.lerp_(g2.mean(0), 0.1)
            shape = r / r.mean()  # HERE
            p.sub_(0.01 * g * torch.rsqrt(shape[:, None] * c[None, :] + 1e-30))

    last(torch.tanh(first(torch.randn(8, 4)))).sum().backward()
    with torch.no_grad():
        update(params, [p.grad for p in params], rows, columns)


@planted(r"a negative number to a power|negative number")
def lion(torch):
    """Lion with a polynomial schedule that runs on after its last step."""
    lin = torch.nn.Linear(4, 1)
    state = [torch.zeros_like(p) for p in lin.parameters()]

    @torch.compile
    def update(params, grads, state, step):
        left = 1 - step / 3
        rate = 0.01 * left**0.9  # HERE
        for p, g, m in zip(params, grads, state):
            p.sub_(rate * (m * 0.9 + g * 0.1).sign())
            m.lerp_(g, 0.01)

    x = torch.randn(8, 4)
    for i in range(6):
        lin.zero_grad()
        lin(x).square().mean().backward()
        with torch.no_grad():
            params = list(lin.parameters())
            update(params, [p.grad for p in params], state, torch.tensor(float(i)))


@planted(r"square root of a negative number")
def packaged(torch):
    """A package, made and run by the same program: a variance by the difference of two means, a little below 0."""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(4, 4)

        def forward(self, x):
            h = self.lin(x)
            spread = h.square().mean(-1) - h.mean(-1).square() - 0.05
            return h / torch.sqrt(spread)[:, None]  # HERE

    with tempfile.TemporaryDirectory() as folder:
        model = Model()
        with torch.no_grad():
            model.lin.bias.zero_()
        path = os.path.join(folder, "m.pt2")
        with torch.no_grad():
            torch._inductor.aoti_compile_and_package(torch.export.export(model, (torch.randn(3, 4),)), package_path=path)
        run = torch._inductor.aoti_load_package(path)
        run(torch.tensor([[5.0, 1.0, -4.0, 2.0], [0.01, 0.0, 0.01, 0.0], [3.0, -7.0, 2.0, 1.0]]))
