import os, torch, torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.device_mesh import init_device_mesh

os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29512", RANK="0", WORLD_SIZE="1")
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (1,))
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 8))
for layer in net:
    fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
model = torch.compile(net, backend="aot_eager")
for i in range(2):
    model(torch.ones(2, 8)).sum().backward()
dist.destroy_process_group()
