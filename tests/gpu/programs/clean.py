"""Programs that are right, for --ima: clean.py SCENE... Each prints a sum of what it computed.

    adamw   a compiled AdamW whose step counters are on the CPU: a C++ kernel in a graph for the GPU
    ddp     DistributedDataParallel with one rank, over NCCL
    fsdp    fully_shard with one rank"""
import os
import tempfile

import torch
from torch import nn

import gpu


class Net(nn.Module):
    """With a forward of its own: dynamo compiles no frame of torch.nn itself, which is where a wrapper calls it."""

    def __init__(self):
        super().__init__()
        self.up, self.drop, self.down = nn.Linear(64, 128), nn.Dropout(0.1), nn.Linear(128, 64)

    def forward(self, x):
        return self.down(self.drop(torch.relu(self.up(x))))


def net():
    torch.manual_seed(0)
    return Net().to(gpu.device)


def trained(compiled, model, step):
    x = torch.randn(32, 64, device=gpu.device)
    for _ in range(3):
        compiled(x).square().mean().backward()
        step()
        model.zero_grad()
    return sum(gpu.total(p.full_tensor() if hasattr(p, "full_tensor") else p) for p in model.parameters())


def adamw():
    """Written out: dynamo moves the counters of torch's own optimizers to the GPU (capturable)."""
    model = net()
    states = [[p, torch.zeros_like(p), torch.zeros_like(p), torch.zeros(())] for p in model.parameters()]

    def update(grads, states):
        for g, (p, m, v, n) in zip(grads, states):
            n += 1
            m.lerp_(g, 0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            # Numbers of the counters are computed on the CPU, and go into the kernels as they are.
            size, root = 0.01 / (1 - 0.9 ** n), (1 - 0.999 ** n).sqrt()
            p.mul_(1 - 0.01 * 0.01).sub_(m / (v.sqrt() / root + 1e-8) * size)

    compiled, update = torch.compile(model), torch.compile(update)

    def step():
        with torch.no_grad():
            update([s[0].grad for s in states], states)
    print("adamw", trained(compiled, model, step), {str(s[3].device) for s in states}, flush=True)


def group():
    if not torch.distributed.is_initialized():
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        store = torch.distributed.FileStore(os.path.join(tempfile.mkdtemp(), "store"), 1)
        torch.distributed.init_process_group("nccl" if gpu.cuda else "gloo", store=store, rank=0, world_size=1)


def ddp():
    group()
    model = nn.parallel.DistributedDataParallel(net(), device_ids=[0] if gpu.cuda else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    print("ddp", trained(torch.compile(model), model, optimizer.step), flush=True)


def fsdp():
    group()
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = net()
    fully_shard(model, mesh=init_device_mesh(gpu.device, (1,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    print("fsdp", trained(torch.compile(model), model, optimizer.step), flush=True)


if __name__ == "__main__":
    gpu.play(globals())
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
