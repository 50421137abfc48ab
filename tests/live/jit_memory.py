"""jit_memory.py PRINTER FOLDER: aoti-printer --memory against torch's own allocations (torch.profiler), TAP lines (jit_memory.t).

Each program runs a graph twice. The second run's allocations are summed up as they come, and the highest sum is the peak."""
import json
import os
import subprocess
import sys

PROGRAMS = ("mlp", "attention", "convolution", "sorted", "norms")


def program(name):
    import torch
    from torch import nn

    torch.manual_seed(0)
    torch.set_num_threads(1)
    if name == "mlp":
        net, x = nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8)), torch.randn(128, 64)
    elif name == "attention":
        net, x = nn.TransformerEncoderLayer(64, 4, 256, batch_first=True, dropout=0.0), torch.randn(4, 64, 64)
    elif name == "convolution":
        net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(6272, 10))
        x = torch.randn(4, 3, 32, 32)
    elif name == "sorted":
        def net(x):
            values, places = torch.sort(torch.softmax(x, -1))
            return (values.cumsum(-1) * places).sum(0), (x @ x.t()).relu()

        x = torch.randn(256, 300)
    else:
        net, x = nn.Sequential(nn.LayerNorm(200), nn.Linear(200, 200), nn.GroupNorm(4, 200), nn.Tanh(), nn.Linear(200, 3)), torch.randn(500, 200)
    with torch.no_grad():
        f = torch.compile(net)
        f(x)
        with torch.profiler.profile(profile_memory=True) as p:
            out = f(x)
    now = most = 0
    events = [e for e in p.profiler.kineto_results.events() if e.name() == "[memory]"]
    for e in sorted(events, key=lambda e: e.start_ns()):
        now += e.nbytes()
        most = max(most, now)
    del out
    print("peak", most)


def main(printer, folder):
    bad = 0
    for name in PROGRAMS:
        document = os.path.join(folder, name + ".json")
        r = subprocess.run([printer, "--memory", "--json", "--log", document, "--", sys.executable, os.path.abspath(__file__), name],
                           capture_output=True, text=True, errors="replace")
        told = [int(line.split()[1]) for line in r.stdout.splitlines() if line.startswith("peak ")]
        try:
            with open(document, encoding="utf-8") as f:
                reached = max(g["reached"] for g in json.load(f)["graphs"])
        except (OSError, ValueError):
            reached = 0
        good = told and abs(reached - told[0]) <= 0.05 * told[0]
        bad += not good
        print("ok" if good else "not ok", "-", "%s: %d bytes at the peak, torch's allocator %d" % (name, reached, told[0] if told else 0), flush=True)
        for line in r.stderr.splitlines()[-4:] if not good else ():
            print("#", line)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 2 else program(sys.argv[1]))
