import os, torch, torch.distributed as dist

os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29517", RANK="0", WORLD_SIZE="1")
dist.init_process_group("gloo")

@torch.compile(backend="aot_eager")
def reduce(x):
    y = x * 2
    work = dist.all_reduce(y, async_op=True)
    work.wait()
    return y + 1

reduce(torch.ones(4))
dist.destroy_process_group()
