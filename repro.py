#: made by fxminify 0.1.0
#: command: fxminify --test true -q tests/data/broken/hostile_text.log
#: original: tests/data/broken/hostile_text.log
#: failure: the test command exits with status 0
#: seed: 0
#: WARNING: RANDOM VALUES: the original has no values for sin
import os

os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)
os.environ.pop('TORCHDYNAMO_REPRO_LEVEL', None)

import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf, nan
import torch._inductor.inductor_prims
import torch._dynamo.config
import torch._inductor.config
import torch._functorch.config
import torch.fx.experimental._config

# torch version: 2.13.0+cpu
# torch cuda version: None
# torch git version: cf30153c4c131c8164ee7798e5022d810682e2cb
# torch.cuda.is_available()==False, no GPU info collected

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, sin):
        add = torch.ops.aten.add.Tensor(sin, 1);  sin = None
        return (add,)

def load_args(reader):
    torch.manual_seed(0)
    buf0 = reader.storage(None, 16)
    reader.tensor(buf0, (4,), is_leaf=True)  # sin (random values)
load_args._version = 0
torch.manual_seed(0)
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    import sys
    print('repro: WARNING: the values of sin are RANDOM: the original has none', file=sys.stderr)
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
        # To run it separately, do 
        # mod, args = run_repro(mod, load_args, accuracy=False, command='get_args', save_dir=None, tracing_mode='real', check_str=None)
        # mod(*args)
