#!/bin/bash
# fxminify on a GPU: a kernel's sticky error is found in one test and not in the next. Run by make check-gpu.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -n "${GPU_PYTHON-}" ] || skip_all "is run by make check-gpu"
cat >repro.py <<'P'
import torch
from torch import device
from torch._dynamo.testing import rand_strided
import torch._inductor.config
torch._inductor.config.triton.inject_relu_bug_TESTING_ONLY = 'runtime_error'
class Repro(torch.nn.Module):
    def forward(self, x):
        cos = torch.ops.aten.cos.default(x)
        neg = torch.ops.aten.neg.default(cos);  cos = None
        relu = torch.ops.aten.relu.default(neg);  neg = None
        sum_1 = torch.ops.aten.sum.dim_IntList(relu, [1]);  relu = None
        mul = torch.ops.aten.mul.Tensor(sum_1, 2);  sum_1 = None
        sin = torch.ops.aten.sin.default(x);  x = None
        return (mul, sin)
def load_args(reader):
    buf0 = reader.storage(None, 4096, device=device(type='cuda', index=0))
    reader.tensor(buf0, (32, 32), is_leaf=True)  # x
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='minify', save_dir=None, tracing_mode='real', check_str=None)
P
# The planted bug is an assertion in the kernel of relu, an error that poisons its process.
run timeout 500 fxminify --python "$GPU_PYTHON" repro.py -o min.py
cat out err >"$GPU_OUT/minify.txt"
[ -f min.py ] && cp min.py "$GPU_OUT/minify.py.txt"
is "reduced" "$status" 0
unlike "CUDA was not started before tests were forked" "$(cat err)" 'was started before|Cannot re-initialize'
is "to the operator whose kernel fails" "$(grep -c 'torch\.ops\.aten\.' min.py) $(grep -c 'aten\.relu' min.py)" "1 1"
like "known by what it is" "$(grep -iE '^#:? failure' min.py)" 'device-side assert'
done_testing
