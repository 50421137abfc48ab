import torch, torch.distributed as dist

@torch.compile(backend="aot_eager")
def mean(x):
    dist.all_reduce(x)
    return x / dist.get_world_size()

mean(torch.ones(4))
