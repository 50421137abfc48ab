"""Optimizers that compute for all parameters at once (torch._foreach), as they do on a GPU by default."""
from plant import planted


def stepped(torch, make):
    a, b = torch.nn.Parameter(torch.ones(8)), torch.nn.Parameter(torch.ones(3, 2))
    opt = make([a, b])
    a.grad, b.grad = torch.tensor([1.0] * 7 + [0.0]), torch.ones(3, 2)
    return opt


@planted(r"0 / 0")
def adam(torch):
    opt = stepped(torch, lambda p: torch.optim.Adam(p, eps=0.0, foreach=True))
    torch.compile(lambda: opt.step())()  # HERE


@planted(r"0 / 0")
def adamw_amsgrad(torch):
    opt = stepped(torch, lambda p: torch.optim.AdamW(p, eps=0.0, foreach=True, amsgrad=True))
    torch.compile(lambda: opt.step())()  # HERE


@planted(r"0 / 0")
def rmsprop(torch):
    opt = stepped(torch, lambda p: torch.optim.RMSprop(p, eps=0.0, momentum=0.9, foreach=True))

    @torch.compile
    def update():
        opt.step()  # HERE

    update()


@planted(r"0 / 0")
def adagrad(torch):
    opt = stepped(torch, lambda p: torch.optim.Adagrad(p, eps=0.0, foreach=True))
    torch.compile(lambda: opt.step())()  # HERE


@planted(r"0 / 0")
def adadelta(torch):
    opt = stepped(torch, lambda p: torch.optim.Adadelta(p, eps=0.0, foreach=True))
    torch.compile(lambda: opt.step())()  # HERE


@planted(r"inf \* 0|0 \* inf|0 / 0|inf")
def clipped(torch):
    """Gradients of which one is infinite are clipped: inf / inf."""
    lin = torch.nn.Linear(4, 4)
    lin.weight.grad, lin.bias.grad = torch.ones(4, 4), torch.ones(4)
    lin.weight.grad[1, 1] = float("inf")

    @torch.compile
    def clip():
        torch.nn.utils.clip_grad_norm_(lin.parameters(), 1.0, foreach=True)  # HERE

    clip()


@planted(r"inf - inf|-inf")
def momentum(torch):
    """A buffer of infinities meets one of the other sign."""
    opt = stepped(torch, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True))
    step = torch.compile(lambda: opt.step())  # HERE
    for sign in (1.0, -1.0):
        for p in opt.param_groups[0]["params"]:
            p.grad = torch.full_like(p, sign * float("inf"))
        step()
