#!/bin/bash
# --ops with torch: exported programs that call operators of torch.library, compared with eager.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
python=$("$ROOT/scripts/live-venv" "$BUILD" 2>err) || skip_all "$(tail -n 1 err)"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
cat >mylib.py <<'E2'
import torch
from typing import List, Optional, Tuple

@torch.library.custom_op("mylib::scaled", mutates_args=())
def scaled(x: torch.Tensor, by: float, other: Optional[torch.Tensor] = None) -> torch.Tensor:
    return (x * by + (0 if other is None else other)).softmax(-1)

@scaled.register_fake
def _(x, by, other=None):
    return torch.empty_like(x)

@torch.library.custom_op("mylib::two", mutates_args=())
def two(x: torch.Tensor, dims: List[int], turned: bool) -> Tuple[torch.Tensor, torch.Tensor]:
    s = x.sum(dims)
    return (s.t().contiguous().t() if turned else s), x.amax(dims)

@two.register_fake
def _(x, dims, turned):
    return torch.empty_like(x.sum(dims)), torch.empty_like(x.sum(dims))

torch.library.define("mylib::parts", "(Tensor x, ScalarType dtype, *, int[] sizes) -> Tensor[]")

@torch.library.impl("mylib::parts", "CompositeExplicitAutograd")
def parts(x, dtype, *, sizes):
    return [p.to(dtype).clone() for p in x.split(sizes, 0)]

@torch.library.register_fake("mylib::parts")
def _(x, dtype, *, sizes):
    return [x.new_empty((n, *x.shape[1:]), dtype=dtype) for n in sizes]

@torch.library.custom_op("mylib::bump", mutates_args={"x"})
def bump(x: torch.Tensor) -> None:
    x.add_(1)
E2
cat >make.py <<'E2'
import sys
import torch
import mylib

class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)
    def forward(self, x):
        y = torch.ops.mylib.scaled(self.linear(x), 1.5, x.relu())
        a, b = torch.ops.mylib.two(y.reshape(2, 3, 8), [1], True)
        p, q = torch.ops.mylib.parts(y, torch.float64, sizes=[2, 4])
        return torch.tanh(y), a * b, p.sum() + q, torch.ops.mylib.scaled(y.bfloat16(), 2.0)

class Writes(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        torch.ops.mylib.bump(y)
        return y * 2

torch.manual_seed(0)
x = torch.randn(6, 8)
for name, module in (("m", M()), ("writes", Writes())):
    torch.export.save(torch.export.export(module, (x,)), name + ".pt2")
module = torch.export.load("m.pt2").module()
torch.save([x], "in.pt")
torch.save({"out%d" % i: t.detach().float() for i, t in enumerate(module(x))}, "want.pt")
E2
ok "programs with custom operators are exported" "$python" make.py
exits "an exported program with custom operators" 0 pt2-run --ops mylib.py --python "$python" m.pt2 in.pt -o got.pt
agree() {
	"$python" - <<'E2'
import torch
got, want = torch.load("got.pt"), torch.load("want.pt")
assert len(got) == len(want)
for k in want:
    torch.testing.assert_close(got[k].float(), want[k], atol=1e-2 if got[k].dtype == torch.bfloat16 else 1e-5, rtol=1e-2 if got[k].dtype == torch.bfloat16 else 1e-5)
E2
}
ok "its outputs are eager's" agree
exits "in double precision" 0 pt2-run --double --ops mylib.py --python "$python" m.pt2 in.pt -o got.pt
exits "an operator that changes its arguments" 3 pt2-run --ops mylib.py --python "$python" writes.pt2 in.pt
like "... is refused by name" "$(cat err)" "mylib.bump.default.*it changes its arguments, which is not supported here"
done_testing
