"""float16 training with a GradScaler whose first steps overflow and are skipped: these are its own and no finding; what is wrong besides is one."""
from plant import planted


def training(torch, change=None, measure=None, steps=14):
    """change(step, x) spoils a batch; measure(out) is computed of what each step gives, outside of the gradient."""
    nn = torch.nn
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
    opt = torch.optim.SGD(net.parameters(), 1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**23, growth_interval=4)

    @torch.compile
    def loss_of(x, y):
        share = x / x.sum(-1, keepdim=True)  # HERE
        with torch.autocast("cpu", torch.float16):
            out = net(share)
        return (out.float() - y).square().mean(), out.detach()

    skipped = 0
    for step in range(steps):
        x = torch.rand(16, 8) + 0.1
        opt.zero_grad()
        loss, out = loss_of(x if change is None else change(step, x), torch.randn(16, 4))
        scaler.scale(loss).backward()
        scaler.step(opt)
        before = scaler.get_scale()
        scaler.update()
        skipped += scaler.get_scale() < before
        if measure:
            measure(step, out.float())
    assert skipped, "no step was skipped"
    return net


@planted(kind="none")
def skipped_steps(torch):
    training(torch)


@planted(r"0 / 0")
def row_of_zeros(torch):
    """From step 9 on, long after the scale has settled, each batch has a row of zeros: the scaler skips these steps, too."""

    def change(step, x):
        if step >= 9:
            x[3] = 0
        return x

    training(torch, change)


@planted(r"log of a negative number")
def metric(torch):
    """What is NaN is not a gradient: no step is skipped for it."""

    @torch.compile
    def score(out):
        return torch.log(out.mean(-1) - 9.0).mean()  # HERE

    training(torch, measure=lambda step, out: score(out) if step == 11 else None)


@planted(r"0 / 0")
def evaluation(torch):
    """After the training."""
    net = training(torch)

    @torch.compile
    def accuracy(x, y):
        with torch.no_grad():
            hits = (net(x).argmax(-1) == y).float()
            return hits[:, None].mul(0).sum(0) / (y < 0).sum()  # HERE

    accuracy(torch.randn(5, 8), torch.tensor([0, 1, 2, 3, 0]))


row_of_zeros.marked = training
