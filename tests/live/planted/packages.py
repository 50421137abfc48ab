"""Packages with a planted NaN, for planted.t: each with its exported program and inputs, judged by --against.

    python3 packages.py DIR               # makes NAME.pt2, NAME.exported.pt2 and NAME.0.npy ... of each in DIR; prints the names
    python3 packages.py DIR --judge       # NAME.json there is what aoti-nanassert --json --against wrote

The truth was written before the tool ran: CAUSE is what the finding gives as its reason or expression, the line is the one marked HERE."""
import inspect
import json
import os
import re
import sys

import torch

nn, F = torch.nn, torch.nn.functional
PROGRAMS = {}


def planted(cause, *inputs):
    def add(module):
        PROGRAMS[module.__name__.lower()] = (module, cause, inputs)
        return module

    return add


@planted(r"0 / 0", torch.tensor([[1, 2, 0], [0, 0, 0]]))
class Bags(nn.Module):
    """The mean of a sentence's words, padding left out; the second sentence is empty."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(8, 4, padding_idx=0)

    def forward(self, words):
        real = (words != 0).float()
        h = (torch.tanh(self.emb(words)) * real[..., None]).sum(1)
        mean = h / real.sum(1, keepdim=True)  # HERE
        return F.relu(mean)


@planted(r"inf - inf|inf \+ -inf", torch.tensor([[3.0, 1.0, 2.0, 0.5], [1.0, -1.0, -2.0, -3.0]]))
class Ranks(nn.Module):
    """The margin between the best two, where only one is allowed."""

    def forward(self, x):
        allowed = torch.where(x > 0, x * 2, -float("inf"))
        best = torch.topk(-allowed, 2, dim=-1, largest=True).values
        return (best[:, 0] - best[:, 1]).sigmoid()  # HERE


@planted(r"square root of a negative number", torch.tensor([[0.5, -0.2, 0.1, 0.7], [0.9, 0.9, -0.3, 0.4]]))
class Sphere(nn.Module):
    """The third coordinate of a point of the unit sphere, from two that leave it."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4, bias=False)
        with torch.no_grad():
            self.lin.weight.copy_(torch.eye(4))

    def forward(self, x):
        x = self.lin(x)
        inside = 1 - torch.einsum("bi,bi->b", x[:, :2], x[:, :2])
        z = torch.sqrt(inside)  # HERE
        return torch.cat([x, z[:, None]], 1).cos()


@planted(r"inf - inf", torch.full((2, 3, 16), 250.0, dtype=torch.float16))
class Scores(nn.Module):
    """Scores of float16 overflow; softmax by hand."""

    def forward(self, x):
        s = torch.einsum("bij,bkj->bik", x, x)
        e = torch.exp(s.float() - s.float().amax(-1, keepdim=True))  # HERE
        return e / e.sum(-1, keepdim=True)


@planted(r"0 \* -?inf|-?inf \* 0", torch.tensor([[1.0, 0.0, 3.0], [0.0, 2.0, 2.0]]), torch.tensor([[0, 2, 1], [1, 0, 2]]))
class Scattered(nn.Module):
    """An entropy of counts that were scattered: a class that does not occur."""

    def forward(self, weight, where):
        p = torch.zeros(2, 3).scatter_add(1, where, weight)
        p = p / p.sum(1, keepdim=True)
        return -(p * torch.log(p)).sum(1)  # HERE


def make(folder):
    import numpy

    torch.set_num_threads(1)
    for name, (module, _, inputs) in PROGRAMS.items():
        torch.manual_seed(0)
        with torch.no_grad():
            exported = torch.export.export(module().eval(), inputs)
            torch.export.save(exported, os.path.join(folder, name + ".exported.pt2"))
            torch._inductor.aoti_compile_and_package(exported, package_path=os.path.join(folder, name + ".pt2"))
        for i, x in enumerate(inputs):
            numpy.save(os.path.join(folder, "%s.%d.npy" % (name, i)), x.numpy())
        print(name, flush=True)


def judge(folder):
    causes = lines = 0
    for name, (module, cause, _) in PROGRAMS.items():
        text, first = inspect.getsourcelines(module)
        line = next(first + i for i, t in enumerate(text) if t.rstrip().endswith("# HERE"))
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as f:
            found = json.load(f)["findings"]
        why = (found[0].get("why") if found else None) or {}
        at = re.search(r":(\d+) in ", why.get("python") or "")
        told = "%s | %s" % (why.get("reason", ""), why.get("text", why.get("unknown", "")))
        good, there = why.get("status") == "found" and bool(re.search(cause, told)), bool(at) and int(at.group(1)) == line
        causes, lines = causes + good, lines + there
        print("%s - %s: %s | line %s of %d" % ("ok" if good and there else "not ok", name, told, at and at.group(1), line))
    print("# causes %d of %d, lines %d of %d" % (causes, len(PROGRAMS), lines, len(PROGRAMS)))


if __name__ == "__main__":
    judge(sys.argv[1]) if sys.argv[2:] == ["--judge"] else make(sys.argv[1])
