"""CompiledFxGraph, as much as is needed."""


class BoxedBool:
    def __init__(self, value):
        self.value = value

    @staticmethod
    def disable(o):
        o.value = False
        return o


# As torch 2.13 keeps it with graph.py (after AOT, without values).
RUNNABLE = """import torch
from torch import tensor, device
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, primals_1, tangents_1):
        log = torch.ops.aten.log.default(primals_1);  primals_1 = None
        mul = torch.ops.aten.mul.Tensor(log, tangents_1);  log = tangents_1 = None
        return (mul,)

def load_args(reader):
    buf0 = reader.storage(None, 12)
    reader.tensor(buf0, (3,), is_leaf=True)  # primals_1
    buf1 = reader.storage(None, 12)
    reader.tensor(buf1, (3,), is_leaf=True)  # tangents_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real', check_str=None)
"""


class CompiledFxGraph:
    runnable_graph_str = RUNNABLE

    def __init__(self, current_callable, *graph_and_gm):
        self.current_callable = current_callable

    def after_deserialization(self, current_callable):
        self.current_callable = current_callable

    def __call__(self, inputs):
        return self.current_callable(inputs)


def cudagraph_post_compile(inputs, graph, cudagraphs):
    raise AssertionError("a CUDA graph was made")
