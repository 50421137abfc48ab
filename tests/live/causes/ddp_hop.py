import os, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(600, 600), torch.nn.Linear(600, 600)

    def forward(self, x):
        x = self.a(x)
        x = torch.utils.checkpoint.checkpoint(self.b, x, use_reentrant=False)
        return x.relu()

def work(rank, world):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29511")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    m = torch.compile(DDP(Net(), bucket_cap_mb=1), backend="aot_eager")
    m(torch.ones(2, 600)).sum().backward()

if __name__ == "__main__":
    mp.spawn(work, (1,), 1)
