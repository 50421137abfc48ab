# train.py | 213
import os, torch, torch.distributed as dist

os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29655", RANK="0", WORLD_SIZE="1")
dist.init_process_group("gloo")
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
ddp = torch.nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.01)
fast = torch.compile(ddp, backend="aot_eager")
fast(torch.randn(2, 64)).sum().backward()
