"""What a step of compiled code takes: cost.py WAY. Prints for each model "NAME: result HASH", which is of what it computed after three steps and must not
depend on who watches, and "NAME: N ns a step" as often as it is measured.

    launches   48 small kernels in a row: time goes into launching
    gpt        a training step of GPT-2's 124M parameters in bfloat16, its blocks and its loss compiled: forward, backward, AdamW

WAY: plain; blocking (CUDA_LAUNCH_BLOCKING=1); asserts (TORCHINDUCTOR_NAN_ASSERTS=1); tiny (two steps of 8 small kernels, for compute-sanitizer).
PT2_COST_TURNS=FOLDER:N:FIRST: N processes measure by turns, once all of them are warm. That with FIRST=1 compiles; what the others compile is in the cache then."""
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
ROUNDS, WARM = 3, 3
KERNELS = 8 if WAY == "tiny" else 48


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.c_fc, self.c_out = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    @torch.compile  # once for all blocks
    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (y.view(b, t, HEADS, c // HEADS).transpose(1, 2) for y in self.c_attn(self.ln_1(x)).split(c, 2))
        x = x + self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))
        return x + self.c_out(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


@torch.compile
def loss_of(x, scale, shift, weight, wanted):
    x = F.layer_norm(x, (WIDTH,), scale, shift)
    return F.cross_entropy(F.linear(x, weight).flatten(0, 1).float(), wanted.flatten())


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
        return loss_of(x, self.ln_f.weight, self.ln_f.bias, self.wte.weight, wanted)


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
        for i in range(KERNELS):
            x = x - x.sum(i % 2, keepdim=True) / 64  # over another dimension than the one before: no two become one kernel
        return x

    x = torch.rand(64, 64, device=DEVICE)
    compiled = torch.compile(model)
    kept = []

    def step():
        with torch.no_grad():
            kept[:] = [compiled(x)]
    return step, lambda: digest(kept), 2 if WAY == "tiny" else 5 if SMALL else 50


def gpt():
    model = GPT().to(DEVICE, torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    words, wanted = torch.randint(WORDS, (2, BATCH, LENGTH), device=DEVICE)
    kept = []

    def step():
        loss = model(words, wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        kept[:] = [loss]
    return step, lambda: digest(kept + list(model.parameters())), 3 if SMALL else 8


class Turns:
    """A file that one process has at a time."""

    def __init__(self):
        self.folder, n, first = (os.environ.get("PT2_COST_TURNS") or ":0:1").split(":")
        self.n, self.first = int(n), first == "1" or WAY in ("asserts", "tiny")  # which is other code

    def tell(self, what):
        if self.folder:
            open(os.path.join(self.folder, f"{what}.{os.getpid()}"), "w").close()

    def wait_for(self, what, n, seconds):
        end = time.monotonic() + seconds  # one that has failed is not waited for
        while self.folder and sum(f.startswith(what + ".") for f in os.listdir(self.folder)) < n and time.monotonic() < end:
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
    # Of the kinds of attention, only the plain one computes the same each time.
    for other in (torch.backends.cuda.enable_cudnn_sdp, torch.backends.cuda.enable_flash_sdp, torch.backends.cuda.enable_mem_efficient_sdp):
        other(False)
    turns = Turns()
    ready = []
    for make in (launches,) if WAY == "tiny" else (launches, gpt):
        torch.manual_seed(0)
        step, result, n = make()
        if not turns.first:
            turns.wait_for("compiled." + make.__name__, 1, 60)
        for i in range(WARM):
            step()
            if i == 0 and turns.first and WAY == "plain":
                turns.tell("compiled." + make.__name__)
        wait()
        print(f"{make.__name__}: result {result()}", flush=True)
        ready.append((make.__name__, step, n))
    turns.tell("warm")
    turns.wait_for("warm", turns.n, 60)
    for _ in range(ROUNDS):
        for name, step, n in ready:
            with turns:
                print(f"{name}: {measured(step, n):.0f} ns a step", flush=True)


main()
