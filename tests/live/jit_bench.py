"""jit_bench.py mlp|step|transformer|large: time of one call of a compiled module, or of one step of training (step: 32x8, forward, backward and
SGD; large: 256x1024), as its user makes it: processor time and wall time, each the least of many rounds. Run it alone, under `aoti-printer -q
--level 3 --kernels none` (hooks only) and under `aoti-nanassert -q` (NaN scan); on a busy machine in pairs, several times, and with
ROUNDS=0.5, so that a pair is short."""
import os
import sys
import time

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
nn = torch.nn


def training(rows, width):
    net = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
    x, y = torch.randn(rows, width), torch.randn(rows, width)
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    loss_of = torch.compile(lambda x, y: nn.functional.mse_loss(net(x), y))

    def step():
        opt.zero_grad()
        loss_of(x, y).backward()
        opt.step()

    return step


def inference(net, x):
    net = torch.compile(net)

    def call():
        with torch.no_grad():
            net(x)

    return call


def made(name):
    """(what is called, calls in a round, rounds)"""
    if name == "mlp":
        return inference(nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 8)), torch.randn(8, 32)), 2000, 40
    if name == "step":
        return training(32, 8), 300, 60
    if name == "large":
        return training(256, 1024), 3, 15
    layers = [nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0) for _ in range(6)]
    return inference(nn.Sequential(*layers).eval(), torch.randn(2, 128, 256)), 3, 15


f, calls, rounds = made(sys.argv[1])
f()
f()
best = [1e9, 1e9]
for _ in range(max(1, int(rounds * float(os.environ.get("ROUNDS", "1"))))):
    begun = time.process_time(), time.perf_counter()
    for _ in range(calls):
        f()
    best = [min(b, (now - since) / calls) for b, now, since in zip(best, (time.process_time(), time.perf_counter()), begun)]
print(sys.argv[1], "%.2f us, wall %.2f us" % (best[0] * 1e6, best[1] * 1e6))
