import os, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29513", RANK="0", WORLD_SIZE="1")
dist.init_process_group("gloo")

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.a(x)
        print("step")
        return y.relu()

model = torch.compile(DDP(Net()), backend="aot_eager")
for i in range(2):
    model(torch.ones(2, 8)).sum().backward()
dist.destroy_process_group()
