"""fxminify on failures that only a GPU has."""
import os
import re

from aside import together
from harness import check

# What torch's minifier writes. The setting is Inductor's own fault for tests: relu(x) becomes x + 1, or an assertion that fails in the kernel.
LAUNCHER = """import torch
from torch import device
from torch._dynamo.testing import rand_strided
import torch._inductor.config
%(settings)s
class Repro(torch.nn.Module):
    def forward(self, x):
%(body)s
def load_args(reader):
    buf0 = reader.storage(None, 4096, device=device(type='%(device)s'%(index)s))
    reader.tensor(buf0, (32, 32), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=%(accuracy)s, command='minify', save_dir=None, tracing_mode='real', check_str=None)
"""
RELU = """
cos = torch.ops.aten.cos.default(x)
neg = torch.ops.aten.neg.default(cos);  cos = None
relu = torch.ops.aten.relu.default(neg);  neg = None
sum_1 = torch.ops.aten.sum.dim_IntList(relu, [1]);  relu = None
mul = torch.ops.aten.mul.Tensor(sum_1, 2);  sum_1 = None
sin = torch.ops.aten.sin.default(x);  x = None
return (mul, sin)
"""
# An index that is 0 in eager, and far outside when relu(x) is x + 1: an illegal access by settings alone.
INDEX = """
abs_1 = torch.ops.aten.abs.default(x)
neg = torch.ops.aten.neg.default(abs_1);  abs_1 = None
relu = torch.ops.aten.relu.default(neg);  neg = None
mul = torch.ops.aten.mul.Tensor(relu, 1000000000000.0);  relu = None
convert = torch.ops.prims.convert_element_type.default(mul, torch.int64);  mul = None
cos = torch.ops.aten.cos.default(x);  x = None
index = torch.ops.aten.index.Tensor(cos, [convert]);  convert = None
sum_1 = torch.ops.aten.sum.dim_IntList(index, [2]);  index = None
sin = torch.ops.aten.sin.default(cos);  cos = None
return (sum_1, sin)
"""
FULL = """
full = torch.ops.aten.full.default([274877906944], 1.0, dtype = torch.float32, layout = torch.strided, device = %(where)s, pin_memory = False)
sum_1 = torch.ops.aten.sum.default(full);  full = None
add = torch.ops.aten.add.Tensor(x, sum_1);  x = sum_1 = None
return (add,)
"""


def launcher(c, name, body, settings, accuracy=False):
    device = "cpu" if os.environ.get("PT2_GPU_DEVICE") == "cpu" else "cuda"
    index = "" if device == "cpu" else ", index=0"
    body = body.replace("%(where)s", f"device(type='{device}'{index})")
    settings = settings.replace("triton.inject", "cpp.inject") if device == "cpu" else settings
    with open(c.path(name), "w", encoding="utf-8") as f:
        f.write(LAUNCHER % {"body": "".join(f"        {line}\n" for line in body.strip().splitlines()), "settings": settings, "device": device,
                            "index": index, "accuracy": accuracy})
    return c.path(name)


def operators(text):
    """Of a program's function, in either form: torch.ops.aten.relu.default(x), or torch.relu(x) and x.to(torch.int64)."""
    body = re.search(r"^( *)def (?:f|forward)\(.*\n((?:\1 +.*\n)+)", text, re.M)
    found = re.findall(r"torch\.ops\.(?:aten|prims)\.(\w+)|(?:torch|F|torch\.nn\.functional)\.(\w+)\(", body[2] if body else "")
    return sorted(a or b for a, b in found)


@check(23, "fxminify: device assert, illegal access, wrong numbers, no memory: each test in a process that it alone can poison", limit=200)
def minify(c):
    if c.fake:
        return by_command(c)
    bug = "torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY = '%s'"
    launcher(c, "assert.py", RELU, bug % "runtime_error")
    launcher(c, "illegal.py", INDEX, bug % "accuracy" + "\ntorch._inductor.config.assert_indirect_indexing = False")
    launcher(c, "wrong.py", RELU, bug % "accuracy", True)
    launcher(c, "memory.py", FULL, "")

    def reduced(name, *options):
        return c.tool("fxminify", "--python", c.place.python, "--no-journal", "-j", "3", "--passes", "nodes", "--max-time", "60",
                      *options, "-o", c.path("min." + name), c.path(name))

    got = together(
        failed=lambda: reduced("assert.py"),
        illegal=lambda: reduced("illegal.py"),
        wrong=lambda: reduced("wrong.py", "--level", "4"),
        memory=lambda: reduced("memory.py"),
    )
    for name, what in (("failed", "assert.py"), ("illegal", "illegal.py"), ("wrong", "wrong.py")):
        c.equal(f"{what}: reduced", got[name].status, 0) or c.ok(f"{what}: what it said", False, got[name])
        c.unlike(f"{what}: CUDA was not started before tests were forked", got[name].err, "before the tests were forked|Cannot re-initialize")
        c.figure(f"{what}", round(got[name].seconds, 1), "s")
    c.equal("a device assert: the operator whose kernel fails", operators(c.read("min.assert.py")), ["relu"])
    c.like("... known by what it is", c.read("min.assert.py"), r"(?i)^#:? .*(device-side assert|assert)")
    illegal = operators(c.read("min.illegal.py"))
    indexed = re.search(r"aten\.index|return \w+\[\w+\]", c.read("min.illegal.py"))
    c.ok("an illegal access: relu and index are left", "relu" in illegal and indexed and len(illegal) <= 5, illegal)
    c.like("... known by what it is", c.read("min.illegal.py"), r"(?i)^#:? .*illegal memory access|^#:? .*crash|SIG")
    c.equal("wrong numbers: the operator", operators(c.read("min.wrong.py")), ["relu"])
    c.ok("no memory: not taken for the compiler's failure", got["memory"].status not in (0, None), got["memory"])
    c.like("... and said", got["memory"].err + got["memory"].out, r"(?i)memory")


# On the fake driver: a command in place of torch. It launches a kernel for the graph's relu; what one test breaks, a device of its own, no other sees.
def by_command(c):
    launcher(c, "assert.py", RELU, "")
    test = " ".join(c.py("minify.py"))
    got = c.tool("fxminify", "--no-journal", "--passes", "nodes", "--test", test, "-o", c.path("min.py"), c.path("assert.py"))
    c.equal("reduced", got.status, 0)
    c.equal("to the operator whose kernel fails", operators(c.read("min.py")), ["relu"])
