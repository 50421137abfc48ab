"""Programs of plain torch.compile for tests/live/jit.t, each with what aoti-nanassert is to say of it.

    python3 jit_programs.py NAME         # runs it, prints a digest of all that it computed
    python3 jit_programs.py --list       # NAME<TAB>KIND<TAB>WHO, a line each

KIND is "made" (by the kernel or operator WHO, a pattern of the shell), "input", "weight" (WHO: its name) or "none"."""
import hashlib
import os
import sys

PROGRAMS = {}


def program(kind, who=""):
    def add(f):
        PROGRAMS[f.__name__] = (f, kind, who)
        return f

    return add


def T():
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)
    return torch


# ---- one graph ----


@program("made", "cpp_fused*log*")
def pointwise():
    torch = T()
    return torch.compile(lambda x: torch.log(torch.relu(x) - 1.0).sum(1))(torch.randn(8, 16))


@program("made", "cpp_fused*div*")
def zero_by_zero():
    torch = T()
    return torch.compile(lambda x, y: (x * 2) / (y - y))(torch.zeros(4, 8), torch.randn(4, 8))


@program("made", "extern_kernels.mm")
def product_of_infinities():
    torch = T()
    x = torch.full((4, 8), 3e38)
    w = torch.randn(8, 4)
    w[:4] = 10.0
    w[4:] = -10.0
    return torch.compile(lambda x, w: torch.relu(x * 10) @ w)(x, w)


@program("made", "cpp_fused*sqrt*")
def root_of_negative():
    torch = T()
    lin = torch.nn.Linear(16, 16)
    return torch.compile(lambda x: torch.sqrt(lin(x)).mean())(torch.randn(4, 16))


@program("made", "cpp_fused*softmax*")
def masked_row():
    torch = T()

    def f(q, k, m):
        s = q @ k.t()
        return torch.softmax(s.masked_fill(m, float("-inf")), -1)

    m = torch.zeros(8, 8, dtype=torch.bool)
    m[3] = True
    return torch.compile(f)(torch.randn(8, 16), torch.randn(8, 16), m)


@program("made", "cpp_fused*acos*")
def half_precision():
    torch = T()
    return torch.compile(lambda x: torch.acos(x * 3).sum(-1))(torch.randn(8, 32, dtype=torch.bfloat16))


@program("made", "cpp_fused*log*")
def float16_overflow():
    torch = T()
    return torch.compile(lambda x: torch.log(-x - 1).float())(torch.ones(16, 16, dtype=torch.float16))


@program("made", "*")
def complex_numbers():
    torch = T()

    def f(x):
        y = torch.view_as_complex(x)
        return torch.log(y * 0.0) * y.imag

    return torch.view_as_real(torch.compile(f)(torch.randn(8, 2)))


@program("made", "*sort*")
def through_sort():
    torch = T()

    def f(x):
        v, i = torch.sort(torch.relu(x), dim=1, stable=True)
        return torch.log(v - 5), i

    # The operator gives clean values: the kernel after it is named.
    return torch.compile(f)(torch.randn(4, 64))


PROGRAMS["through_sort"] = (PROGRAMS["through_sort"][0], "made", "cpp_fused*log*")


@program("made", "cpp_fused*var*")
def layer_norm_of_one():
    torch = T()

    def f(x):
        return (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)

    return torch.compile(f)(torch.randn(4, 1))


PROGRAMS["layer_norm_of_one"] = (PROGRAMS["layer_norm_of_one"][0], "made", "cpp_fused*")


@program("made", "cpp_fused*")
def convolution():
    torch = T()
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU())
    return torch.compile(lambda x: torch.log(net(x) - 10).mean())(torch.randn(2, 3, 16, 16))


@program("made", "cpp_fused*")
def integers_between():
    torch = T()

    def f(x, i):
        y = x[i] * 2
        return torch.rsqrt(y - 100) + i.float()

    return torch.compile(f)(torch.randn(32), torch.randint(0, 32, (16,)))


@program("made", "cpp_fused*")
def reused_memory():
    torch = T()

    def f(x, w):
        a = torch.relu(x @ w)
        b = torch.sigmoid(a @ w)
        c = torch.tanh(b @ w)
        return torch.log(c - 2) @ w

    return torch.compile(f)(torch.randn(16, 16), torch.randn(16, 16))


@program("made", "cpp_fused*")
def buffer_in_place():
    torch = T()

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(8))

        def forward(self, x):
            self.seen.mul_(0.9).add_(torch.log(x.mean(0) - 10))
            return x + self.seen

    m = M()
    f = torch.compile(m)
    out = [f(torch.randn(4, 8)) for _ in range(3)]
    return [*out, m.seen]


@program("none")
def batch_norm():
    torch = T()
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU())
    f = torch.compile(net)
    for _ in range(3):
        f(torch.randn(16, 8)).sum().backward()
    return [p.grad for p in net.parameters()] + [net[1].running_mean]


@program("made", "cpp_fused*")
def batch_norm_bad():
    torch = T()
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU())
    f = torch.compile(lambda x: torch.log(net(x) - 9).sum())
    f(torch.randn(16, 8)).backward()
    return [p.grad for p in net.parameters()]


# ---- backward ----


@program("made", "cpp_fused*")
def backward_of_norm():
    torch = T()
    x = torch.zeros(4, 8, requires_grad=True)
    torch.compile(lambda x: torch.sqrt((x * x).sum(1)).sum())(x).backward()
    return x.grad


@program("made", "cpp_fused*")
def backward_where():
    torch = T()
    x = torch.zeros(16, requires_grad=True)
    torch.compile(lambda x: torch.where(x > 0, x.sqrt(), x * 0).sum())(x).backward()
    return x.grad


@program("made", "cpp_fused*")
def training():
    torch = T()
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    step = torch.compile(lambda x, y: torch.sqrt(((net(x) - y) ** 2).mean() - 50))
    losses = []
    for i in range(6):
        x = torch.randn(32, 8)
        loss = step(x, x[:, :1] * 2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.detach())
    return losses + [p for p in net.parameters()]


@program("none")
def training_well():
    torch = T()
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    step = torch.compile(lambda x, y: ((net(x) - y) ** 2).mean())
    for _ in range(5):
        x = torch.randn(32, 8)
        opt.zero_grad()
        step(x, x[:, :1] * 2).backward()
        opt.step()
    return [p for p in net.parameters()]


@program("none")
def transformer():
    torch = T()
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
    f = torch.compile(layer)
    f(torch.randn(2, 8, 32)).sum().backward()
    return [p.grad for p in layer.parameters()]


@program("made", "*")
def attention():
    torch = T()

    def f(q, k, v, m):
        a = torch.softmax((q @ k.transpose(-1, -2)).masked_fill(m, float("-inf")), -1)
        return (a @ v).sum()

    m = torch.zeros(8, 8, dtype=torch.bool)
    m[0] = True
    q = torch.randn(2, 4, 8, 16, requires_grad=True)
    torch.compile(f)(q, torch.randn(2, 4, 8, 16), torch.randn(2, 4, 8, 16), m).backward()
    return q.grad


@program("none")
def dropout():
    torch = T()
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5))
    f = torch.compile(net)
    out = f(torch.randn(4, 8))
    out.sum().backward()
    return [out] + [p.grad for p in net.parameters()]


# ---- what comes in ----


@program("weight", "lin.weight")
def bad_weight():
    torch = T()

    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = torch.nn.Linear(8, 8)

        def forward(self, x):
            return torch.relu(self.lin(x))

    m = M()
    with torch.no_grad():
        m.lin.weight[3, 4] = float("nan")
        return torch.compile(m)(torch.randn(4, 8))


@program("input", "x")
def bad_input():
    torch = T()

    def f(x, y):
        return torch.sin(x) + y

    x = torch.randn(4, 8)
    x[2, 3] = float("nan")
    return torch.compile(f)(x, torch.randn(4, 8))


@program("input", "the gradient of output 0")
def bad_gradient():
    torch = T()
    x = torch.randn(4, requires_grad=True)
    y = torch.compile(lambda x: torch.sin(x) * 2)(x)
    y.backward(torch.full((4,), float("nan")))
    return x.grad


@program("input", "x")
def between_graphs():
    torch = T()

    def f(x):
        x = x * 2
        torch._dynamo.graph_break()
        return x.cos()

    x = torch.randn(4)
    x[1] = float("nan")
    return torch.compile(f)(x)


# ---- more than one graph ----


@program("made", "cpp_fused*")
def graph_break():
    torch = T()

    def f(x):
        y = torch.sin(x)
        torch._dynamo.graph_break()
        return torch.log(y - 3)

    return torch.compile(f)(torch.randn(8, 8))


@program("made", "cpp_fused*")
def dynamic_shapes():
    torch = T()
    f = torch.compile(lambda x: torch.log(x.abs().sum(0) - x.shape[0] * 0.85), dynamic=True)
    return [f(torch.randn(n, 8)) for n in (3, 5, 9, 17)]


@program("made", "cpp_fused*")
def recompiles():
    torch = T()
    f = torch.compile(lambda x, k: torch.sqrt(x + k))
    return [f(torch.rand(4, n), k) for n, k in ((3, 1), (4, 2), (5, 0), (6, -2))]


@program("made", "*addmm*")
def generating():
    torch = T()
    emb, lin = torch.nn.Embedding(32, 16), torch.nn.Linear(16, 32)

    def f(t):
        return lin(torch.tanh(emb(t)).mean(0))

    g, tokens = torch.compile(f, dynamic=True), [1, 2]
    with torch.no_grad():
        for i in range(6):
            if i == 4:
                lin.weight[:, ::2] = float("inf")
                lin.weight[:, 1::2] = float("-inf")
            tokens.append(int(torch.nan_to_num(g(torch.tensor(tokens))).argmax()))
    return torch.tensor(tokens)


PROGRAMS["generating"] = (PROGRAMS["generating"][0], "made", "*")


@program("made", "cpp_fused*log*")
def threads():
    torch = T()
    import threading

    f = torch.compile(lambda x: torch.log(x))
    f(torch.ones(8))
    out = {}

    def run(i):
        for _ in range(20):
            out[i] = f(torch.full((8,), -1.0 if i == 2 else 1.0))

    ts = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    return [out[i] for i in range(4)]


@program("made", "cpp_fused*log*")
def forked():
    torch = T()
    import os

    f = torch.compile(lambda x: torch.log(x))
    good = f(torch.ones(8))
    pid = os.fork()
    if not pid:
        f(-torch.ones(8))
        os._exit(0)
    os.waitpid(pid, 0)
    return good


# ---- operators ----


@program("made", "*pt2test*bad*")
def custom_operator():
    torch = T()

    @torch.library.custom_op("pt2test::bad", mutates_args=())
    def bad(x: torch.Tensor) -> torch.Tensor:
        return x.log()

    bad.register_fake(lambda x: torch.empty_like(x))
    return torch.compile(lambda x: torch.ops.pt2test.bad(torch.sin(x) - 2) * 2)(torch.randn(8))


@program("made", "*pt2test*spoil*")
def custom_in_place():
    torch = T()

    @torch.library.custom_op("pt2test::spoil", mutates_args=("x",))
    def spoil(x: torch.Tensor, y: torch.Tensor) -> None:
        x.copy_(torch.log(y - 100))

    spoil.register_fake(lambda x, y: None)

    def f(x):
        y = torch.sin(x)
        z = torch.cos(x)
        torch.ops.pt2test.spoil(y, z)
        return y * 2

    return torch.compile(f)(torch.randn(8))


@program("made", "*pt2test*two*")
def custom_two_results():
    torch = T()

    @torch.library.custom_op("pt2test::two", mutates_args=())
    def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.clone(), x.log()

    two.register_fake(lambda x: (torch.empty_like(x), torch.empty_like(x)))

    def f(x):
        a, b = torch.ops.pt2test.two(x - 3)
        return a + b

    return torch.compile(f)(torch.rand(8))


@program("made", "*")
def conditional():
    torch = T()

    def f(p, x):
        return torch.cond(p, lambda x: torch.log(x.sin() - 2), lambda x: x.cos(), (x,))

    g = torch.compile(f)
    return [g(torch.tensor(False), torch.randn(8)), g(torch.tensor(True), torch.randn(8))]


@program("made", "*")
def while_loop():
    torch = T()
    from torch._higher_order_ops.while_loop import while_loop as loop

    def f(i, x):
        return loop(lambda i, x: i < 4, lambda i, x: (i + 1, torch.sqrt(x) - 1), (i, x))

    return list(torch.compile(f)(torch.tensor(0), torch.rand(8)))


@program("none")
def mutated_input():
    torch = T()

    def f(x, y):
        x.add_(y)
        return x * 2

    x = torch.randn(8)
    return [torch.compile(f)(x, torch.randn(8)), x]


@program("none")
def infinities_in_a_mask():
    torch = T()

    def f(x):
        m = torch.full((8, 8), float("-inf")).triu(1)
        return torch.softmax(x @ x.t() + m, -1)

    return torch.compile(f)(torch.randn(8, 8))


@program("none")
def no_kernels():
    torch = T()
    return torch.compile(lambda x: x.view(4, 2).t())(torch.randn(8))


@program("none")
def garbage_memory():
    torch = T()
    return torch.compile(lambda x: x.new_empty(1 << 12).copy_(x.sum().expand(1 << 12)).sum())(torch.randn(64))


@program("made", "*")
def scatter():
    torch = T()

    def f(x, i, v):
        y = torch.sin(x)
        return y.index_put((i,), torch.log(v - 50), accumulate=True)

    return torch.compile(f)(torch.randn(16), torch.tensor([1, 1, 3]), torch.randn(3))


@program("made", "*")
def grouped():
    torch = T()

    def f(xs):
        ys = torch._foreach_mul(xs, 2.0)
        return torch._foreach_sqrt(ys)

    return torch.compile(f)([torch.rand(4), torch.rand(8) - 2, torch.rand(3)])


@program("made", "*")
def optimizer():
    torch = T()
    p = torch.nn.Parameter(torch.randn(8))
    opt = torch.optim.Adam([p], lr=0.1)
    step = torch.compile(lambda: opt.step())
    for i in range(3):
        p.grad = torch.randn(8) * (1e30 if i == 2 else 1)
        step()
    return p


PROGRAMS["optimizer"] = (PROGRAMS["optimizer"][0], "none", "")


@program("made", "cpp_fused*log*")
def cpp_wrapper():
    torch = T()
    import torch._inductor.config

    with torch._inductor.config.patch(cpp_wrapper=True):
        return torch.compile(lambda x, w: torch.log(torch.relu(x @ w) - 1.0).sum(1))(torch.randn(8, 16), torch.randn(16, 16))


@program("made", "cpp_fused*")
def views_and_cat():
    torch = T()

    def f(x, y):
        z = torch.cat([x.sin(), torch.log(y - 9), x.cos()], 0)
        return z.view(3, -1) @ torch.ones(z.numel() // 3, 2)

    return torch.compile(f)(torch.randn(4, 8), torch.randn(4, 8))


# ---- Triton, by its own interpreter, where it is installed ----


def I():  # noqa: E743
    """torch, its CPU kernels written in Triton and run by Triton's interpreter: for that no driver is needed but this one."""
    torch = T()
    from triton.backends.compiler import GPUTarget
    from triton.runtime.driver import driver

    class Driver:
        def get_current_target(self):
            return GPUTarget("cuda", 80, 32)

        def get_current_device(self):
            return 0

        def get_current_stream(self, device=None):
            return 0

        def get_active_torch_device(self):
            return torch.device("cpu")

    driver.set_active(Driver())
    import torch._inductor.config

    return torch, torch._inductor.config.patch(cpu_backend="triton")


def triton_program(kind, who=""):
    import importlib.util

    return program(kind, who) if importlib.util.find_spec("triton") else lambda f: f


@triton_program("made", "triton_*log*")
def triton_kernel():
    torch, interpreted = I()
    with interpreted:
        return torch.compile(lambda x, w: torch.log(torch.relu(x @ w) - 1.0).sum(1))(torch.randn(8, 16), torch.randn(16, 16))


@triton_program("made", "triton_*")
def triton_backward():
    torch, interpreted = I()
    x = torch.zeros(4, 8, requires_grad=True)
    with interpreted:
        torch.compile(lambda x: torch.sqrt((x * x).sum(1)).sum())(x).backward()
    return x.grad


def digest(torch, value, h):
    if isinstance(value, (list, tuple)):
        for v in value:
            digest(torch, v, h)
    elif value is not None:
        t = value.detach().contiguous()
        t = torch.view_as_real(t) if t.is_complex() else t
        h.update(str((t.dtype, tuple(t.shape))).encode())
        h.update(bytes(t.reshape(-1).view(torch.uint8).tolist()) if t.numel() else b"")


def main(name):
    value = PROGRAMS[name][0]()
    import torch

    h = hashlib.sha1()
    digest(torch, value, h)
    print(name, h.hexdigest())


if __name__ == "__main__":
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported, and by nothing else
    if sys.argv[1] == "--list":
        for n, (_, k, w) in PROGRAMS.items():
            print(n, k, w, sep="\t")
    else:
        for n in sys.argv[1:]:
            main(n)
