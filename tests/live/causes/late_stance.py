import torch

@torch.compile(backend="aot_eager")
def serve(x):
    return x.softmax(-1)

serve(torch.ones(4, 8))
torch.compiler.set_stance("fail_on_recompile")
serve(torch.ones(5, 8))
