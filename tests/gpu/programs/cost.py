"""What a step of a compiled model takes: cost.py WAY. Prints for each model "NAME: N ns a step" and "NAME: result HASH", which is of what it computed
after three steps and must not depend on who watches.

    launches   48 small kernels in a row: time goes into launching
    gpt        a training step of GPT-2's 124M parameters in bfloat16: forward, backward, AdamW

WAY: plain; blocking (CUDA_LAUNCH_BLOCKING=1); asserts (TORCHINDUCTOR_NAN_ASSERTS=1); few (as few steps as will do, for compute-sanitizer).
PT2_COST_TURNS=FOLDER:N: N processes measure by turns, once all of them are warm."""
import fcntl
import hashlib
import os
import statistics
import sys
import time

WAY = sys.argv[1]
if WAY == "blocking":
    os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
if WAY == "asserts":
    os.environ["TORCHINDUCTOR_NAN_ASSERTS"] = "1"
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

DEVICE = os.environ.get("PT2_GPU_DEVICE", "cuda")
SMALL = DEVICE == "cpu"
LAYERS, WIDTH, HEADS, WORDS, BATCH, LENGTH = (2, 64, 4, 512, 2, 32) if SMALL else (12, 768, 12, 50304, 4, 1024)
ROUNDS = 1 if WAY == "few" else 3
WARM = 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, HEADS, c // HEADS).transpose(1, 2) for y in self.c_attn(self.ln_1(x)).split(c, 2))
        x = x + self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe, self.ln_f = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH), nn.LayerNorm(WIDTH)
        self.h = nn.ModuleList(Block() for _ in range(LAYERS))
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, words, wanted):
        x = self.wte(words) + self.wpe.weight
        for block in self.h:
            x = block(x)
        return F.cross_entropy(F.linear(self.ln_f(x), self.wte.weight).flatten(0, 1).float(), wanted.flatten())


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def digest(tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(t.detach().reshape(-1).view(torch.uint8).cpu().numpy().tobytes())
    return h.hexdigest()[:16]


def launches():
    def model(x):
        for i in range(48):
            x = x - x.sum(i % 2, keepdim=True) / 64  # over another dimension than the one before: no two become one kernel
        return x

    x = torch.rand(64, 64, device=DEVICE)
    compiled = torch.compile(model)
    kept = []

    def step():
        with torch.no_grad():
            kept[:] = [compiled(x)]
    return step, lambda: digest(kept), 5 if WAY == "few" or SMALL else 200


def gpt():
    model = GPT().to(DEVICE, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    words, wanted = torch.randint(WORDS, (2, BATCH, LENGTH), device=DEVICE)
    compiled = torch.compile(model)
    kept = []

    def step():
        loss = compiled(words, wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        kept[:] = [loss]
    return step, lambda: digest(kept + list(model.parameters())), 1 if WAY == "few" else 3 if SMALL else 20


class Turns:
    """A file that one process has at a time."""

    def __init__(self):
        self.folder, _, n = os.environ.get("PT2_COST_TURNS", "").partition(":")
        self.n = int(n or 0)

    def all_warm(self):
        if self.folder:
            open(os.path.join(self.folder, f"warm.{os.getpid()}"), "w").close()
            end = time.monotonic() + 60  # one that has failed is not waited for
            while sum(f.startswith("warm.") for f in os.listdir(self.folder)) < self.n and time.monotonic() < end:
                time.sleep(0.05)

    def __enter__(self):
        self.file = open(os.path.join(self.folder, "turn"), "w") if self.folder else open(os.devnull)
        if self.folder:
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        wait()
        self.file.close()


def measured(step, n):
    step()  # after another's turn
    wait()
    took = []
    for _ in range(n):
        began = time.perf_counter_ns()
        step()
        wait()
        took.append(time.perf_counter_ns() - began)
    return statistics.median(took)


def main():
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    turns = Turns()
    ready = []
    for make in launches, gpt:
        torch.manual_seed(0)
        step, result, n = make()
        for _ in range(WARM):
            step()
        wait()
        print(f"{make.__name__}: result {result()}", flush=True)
        if WAY == "few":
            print(f"{make.__name__}: {measured(step, n):.0f} ns a step", flush=True)
        else:
            ready.append((make.__name__, step, n, []))
    turns.all_warm()
    for _ in range(ROUNDS):
        for name, step, n, took in ready:
            with turns:
                took.append(measured(step, n))
    for name, _, _, took in ready:
        print(f"{name}: {min(took):.0f} ns a step")


main()
