"""jit_bench.py mlp|transformer: processor time of one call of a compiled module, as its user calls it; the least of many rounds. Run it
alone, under `aoti-printer -q --level 3 --kernels none` (hooks only) and under `aoti-nanassert -q` (NaN scan)."""
import sys
import time

import torch

torch.set_num_threads(1)
torch.manual_seed(0)
nn = torch.nn
with torch.no_grad():
    if sys.argv[1] == "mlp":
        net = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 8))
        x, calls, rounds = torch.randn(8, 32), 2000, 40
    else:
        net = nn.Sequential(*[nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0) for _ in range(6)]).eval()
        x, calls, rounds = torch.randn(2, 128, 256), 3, 15
    f = torch.compile(net)
    f(x)
    best = 1e9
    for _ in range(rounds):
        begun = time.process_time()
        for _ in range(calls):
            f(x)
        best = min(best, (time.process_time() - begun) / calls)
print(sys.argv[1], "%.2f us" % (best * 1e6))
