"""Training runs for explode.t: six in which something is planted to drift at step AT, six that train well. All in one process, a fork each,
so that torch is imported once.

    python3 explode.py [NAME...]       # trains them; prints "NAME PID" of each, before it starts
    python3 explode.py --judge FILE    # FILE: what aoti-nanassert --explode --all --json wrote of that, "PID NAME" lines on standard input"""
import json
import os
import sys

STEPS, AT, WITHIN = 24, 14, 2
RUNS = {}


def run(drifts):
    def add(f):
        RUNS[f.__name__] = (f, drifts)
        return f

    return add


def train(net, loss_of, batch, opt, before=None, after=None, steps=STEPS):
    """before(step, x) may change the batch, after(step) the model."""
    import torch

    f = torch.compile(lambda x, y: loss_of(net(x), y), dynamic=False)
    for step in range(steps):
        x, y = batch()
        if before:
            x = before(step, x)
        opt.zero_grad()
        loss = f(x, y)
        loss.backward()
        opt.step()
        if after:
            after(step)
    return loss.item()


def regression(width=16):
    import torch

    nn = torch.nn
    w = torch.randn(width, 4)
    net = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 4))

    def batch():
        x = torch.randn(32, width)
        return x, torch.tanh(x @ w)

    return net, nn.functional.mse_loss, batch


def images():
    import torch

    nn = torch.nn
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 5))
    return net, nn.functional.cross_entropy, lambda: (torch.rand(16, 3, 8, 8), torch.randint(0, 5, (16,)))


def transformer():
    import torch

    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
            self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 10)

        def forward(self, x):
            q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
            a = torch.softmax(q @ k.transpose(-1, -2) / 4, -1)
            return self.head(x + self.out(a @ v)).mean(1)

    return Block(), nn.functional.cross_entropy, lambda: (torch.randn(8, 6, 16), torch.randint(0, 10, (8,)))


# ---- drifts ----


@run(True)
def rate():
    """A schedule that multiplies the learning rate by 300."""
    import torch

    net, loss, batch = regression()
    opt = torch.optim.SGD(net.parameters(), 0.05)

    def after(step):
        if step == AT - 1:
            opt.param_groups[0]["lr"] *= 300

    train(net, loss, batch, opt, after=after)


@run(True)
def data():
    """From one batch on, images are not divided by 255."""
    import torch

    net, loss, batch = images()
    train(net, loss, batch, torch.optim.SGD(net.parameters(), 0.01), before=lambda step, x: x * 255 if step >= AT else x)


@run(True)
def scale():
    """The loss is multiplied by 1000."""
    import torch

    net, loss, batch = regression()
    factor = torch.ones(())

    def after(step):
        if step == AT - 1:
            factor.fill_(1000)

    train(net, lambda a, b: loss(a, b) * factor, batch, torch.optim.SGD(net.parameters(), 1e-4), after=after)


@run(True)
def dead():
    """An update that is far too large leaves all units of a layer negative."""
    import torch

    net, loss, batch = regression()

    def after(step):
        if step == AT - 1:
            with torch.no_grad():
                net[0].bias.fill_(-100)

    train(net, loss, batch, torch.optim.SGD(net.parameters(), 0.05), after=after)


@run(True)
def nearly_dead():
    """... or all but one."""
    import torch

    net, loss, batch = regression()

    def after(step):
        if step == AT - 1:
            with torch.no_grad():
                net[0].bias[1:].fill_(-100)

    train(net, loss, batch, torch.optim.SGD(net.parameters(), 0.05), after=after)


@run(True)
def attention():
    """The projection of queries and keys grows."""
    import torch

    net, loss, batch = transformer()

    def after(step):
        if step >= AT - 1:
            with torch.no_grad():
                net.qkv.weight[:32] *= 6

    train(net, loss, batch, torch.optim.AdamW(net.parameters(), 1e-3), after=after)


# ---- clean ----


@run(False)
def warmup():
    import torch

    net, loss, batch = regression()
    opt = torch.optim.Adam(net.parameters(), 1e-4)

    def after(step):
        opt.param_groups[0]["lr"] = 1e-2 * min(1, (step + 1) / 10)

    train(net, loss, batch, opt, after=after, steps=40)


@run(False)
def convolution():
    """With a rate of 0.05 the units of its last ReLU do die, in eager, too: 95 % of them give 0 from step 33 on."""
    import torch

    net, loss, batch = images()
    train(net, loss, batch, torch.optim.SGD(net.parameters(), 0.01, momentum=0.9), steps=40)


@run(False)
def cosine():
    import torch

    net, loss, batch = transformer()
    opt = torch.optim.AdamW(net.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 40)
    train(net, loss, batch, opt, after=lambda step: schedule.step(), steps=40)


@run(False)
def dropout():
    import torch

    nn = torch.nn
    net = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.3), nn.LayerNorm(32), nn.Linear(32, 16))
    train(net, nn.functional.l1_loss, lambda: (torch.randn(32, 16),) * 2, torch.optim.RMSprop(net.parameters(), 1e-3), steps=40)


@run(False)
def from_zero():
    """Biases of norms, a layer's scale and a low-rank update begin at 0 or nearly, and grow for a hundred steps."""
    import torch

    nn = torch.nn

    class Adapted(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.base, self.out = nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 4)
            self.a, self.b = nn.Parameter(torch.randn(16, 2) / 4), nn.Parameter(torch.zeros(2, 16))
            self.scale = nn.Parameter(torch.full((16,), 1e-6))

        def forward(self, x):
            h = self.norm(x)
            return self.out(x + self.scale * torch.tanh(self.base(h) + h @ self.a @ self.b))

    net, loss, batch = regression()
    net = Adapted()
    train(net, loss, batch, torch.optim.AdamW(net.parameters(), 1e-3), steps=100)


@run(False)
def scaler():
    """float16 with a GradScaler that tries a larger factor every 4 steps, and has to take it back."""
    import torch

    net, loss, batch = regression()
    opt = torch.optim.SGD(net.parameters(), 0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18, growth_interval=4)

    def both(x, y):
        with torch.autocast("cpu", torch.float16):
            return loss(net(x).float(), y)

    f = torch.compile(both, dynamic=False)
    for _ in range(40):
        opt.zero_grad()
        scaler.scale(f(*batch())).backward()
        scaler.step(opt)
        scaler.update()


def judge(document, names):
    with open(document, encoding="utf-8") as f:
        d = json.load(f)
    first = {}
    for x in d["explosions"]:
        first.setdefault(x["pid"], x)
    right = 0
    for line in names:
        name, pid = line.split()
        drifts, x = RUNS[name][1], first.get(int(pid))
        good = drifts == bool(x) and (not x or AT <= x["run"] <= AT + WITHIN)
        right += good
        said = "nothing" if not x else "%s %s %s run %d of %s" % (x["kind"], x["tensor"], "is 0 to %.3g %% from" % (100 * x["zeros"]) if x["zero"] else "in", x["run"], x["model"])
        print("%s - %s: %s" % ("ok" if good else "not ok", name, said))
        if not good:
            print("# expected %s" % ("run %d to %d" % (AT, AT + WITHIN) if drifts else "nothing"))
    print("# %d of %d" % (right, len(RUNS)))


def main(names):
    import torch

    torch.set_num_threads(1)
    for name in names or RUNS:
        pid = os.fork()
        if not pid:
            torch.manual_seed(0)
            print(name, os.getpid(), flush=True)
            RUNS[name][0]()
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--judge"]:
        judge(sys.argv[2], sys.stdin)
    else:
        main(sys.argv[1:])
