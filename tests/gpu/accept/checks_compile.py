"""torch.compile programs under the tools: the preload itself, NaN, values of every dtype and layout."""
import json
import os
import re

from harness import COMPILES, check

TOOLS = ("aoti-checkinputs", "aoti-nanassert", "aoti-printer", "aoti-verify", "fxexplain", "fxminify", "pt2-run", "tlparse")


@check(1, "the tools start, the preload is silent, the driver has the functions that the probe asks for", limit=90)
def preload(c):
    for tool in TOOLS:
        got = c.tool(tool, "--version")
        c.ok(f"{tool} starts", got.status == 0 and got.out.startswith(tool) and not got.err, got)
    want = c.program("driver.py")
    probe = os.path.join(c.kit, "lib/pt2utils/libpt2probe.so")
    with open(probe, "rb") as f:
        names = sorted({n.decode() for n in re.findall(rb"(?<=\0)cu[A-Z][A-Za-z0-9]+(?:_[a-z0-9]+)*(?=\0)", f.read())})
    got = c.run(*c.py("driver.py", *names), env={"LD_PRELOAD": probe})
    c.equal("preloaded into a program, it says nothing", got.err, want.err)
    found = json.loads(got.out or "{}")
    c.equal("the same program with it", (got.status, {**found, "found": [], "missing": []}), (0, {**json.loads(want.out), "found": [], "missing": []}))
    needed = {"cuModuleLoadData", "cuModuleGetFunction", "cuLaunchKernel", "cuCtxGetCurrent", "cuCtxSynchronize", "cuStreamSynchronize",
              "cuStreamIsCapturing", "cuMemcpyDtoHAsync_v2", "cuMemGetAddressRange_v2", "cuPointerGetAttribute", "cuGraphLaunch", "cuMemAlloc_v2",
              "cuThreadExchangeStreamCaptureMode", "cuFuncGetName", "cuFuncGetParamInfo"}
    c.equal("functions that it cannot do without", sorted(needed - set(found.get("found", []))), [])
    c.figure("functions of the driver that the probe knows", len(names))
    c.figure("of them not in this driver", ", ".join(found.get("missing", [])) or "none")


@check(2, "NaN in a fused Triton kernel: kernel and line", limit=90)
def nan_forward(c):
    want = c.program("jit.py", "fused")
    got = c.tool("aoti-nanassert", "--log=found.txt", "--", *c.py("jit.py", "fused"), env={"TORCHINDUCTOR_COMPILE_THREADS": 8})  # with the pool that users have
    c.equal("found, and the same result", (got.status, got.out), (1, want.out))
    c.like("the kernel", c.read("found.txt"), r"NaN produced by (triton_[a-z]+|cpp)_fused_[a-z_]*log")
    c.like("the line of the program", c.read("found.txt"), r"jit\.py:\d+ in ")
    c.like("likely cause", c.read("found.txt"), "log of a negative number")


@check(3, "NaN in a backward graph: graph and gradient", limit=90)
def nan_backward(c):
    want = c.program("jit.py", "train")
    got = c.tool("aoti-nanassert", "--log=found.txt", "--", *c.py("jit.py", "train"))
    c.equal("found, and the same result", (got.status, got.out), (1, want.out))
    c.like("in the backward graph", c.read("found.txt"), r"graph \d+_backward")
    c.like("what came in is a gradient", c.read("found.txt"), r"the gradient of output 0")
    c.like("the line of the program", c.read("found.txt"), r"jit\.py:\d+ in ")


@check(4, "NaN in a user's own Triton kernel", limit=90)
def nan_user(c):
    want = c.program("jit.py", "user")
    got = c.tool("aoti-nanassert", "--log=found.txt", "--", *c.py("jit.py", "user"))
    c.equal("found, and the same result", (got.status, got.out), (1, want.out))
    c.like("the user's kernel", c.read("found.txt"), "NaN produced by log_of_all")


@check(5, "NaN inside of cumsum, logcumsumexp, associative_scan: the scan's kernel, not its reader", limit=120)
def scans(c):
    want = c.program("jit.py", "scans")
    got = c.tool("aoti-nanassert", "--json", "--all", "--log=found.json", "--", *c.py("jit.py", "scans"))
    c.equal("found, and the same result", (got.status, got.out), (1, want.out))
    produced = {f.get("model"): f.get("kernel") for f in (c.json("found.json") or {}).get("findings", []) if f.get("kind") == "produced"}
    # Each function is a graph of its own: a kernel with the scan, then a matrix product that reads it.
    for i, name in enumerate(("cumsum", "logcumsumexp", "associative_scan")):
        kernel = next((k for m, k in produced.items() if (m or "").startswith(f"{i}_")), None)
        c.ok(f"{name}: its kernel", kernel and re.match("cpp_" if c.cpu else "triton_", kernel), f"graph {i}: expected triton_*, seen {produced}")
    want = c.program("jit.py", "scans:good")
    got = c.tool("aoti-nanassert", "--log=good.txt", "--", *c.py("jit.py", "scans:good"))
    c.equal("scans of good numbers: the same result", (got.status, got.out), (0, want.out))
    c.like("... nothing, in memory full of NaN", c.read("good.txt"), "nothing found")


NAMES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn"}


def close(a, b, by=1e-6):
    return isinstance(a, (int, float)) and abs(a - b) <= by * max(1, abs(b))


@check(6, "64 MB of each type, NaN at the last element: counts, min, max, mean equal torch's", limit=120)
def big(c):
    plain = c.program("big.py")
    want = json.loads(plain.out or "{}")
    got = c.tool("aoti-printer", "--json", "--log=found.json", "--", *c.py("big.py"))
    c.equal("status, and the same result", (got.status, got.out), (0, plain.out))
    written = {v.get("dtype"): v for call in (c.json("found.json") or {}).get("calls", []) if call.get("kind") == "kernel"
               for v in call.get("values", []) if v["role"] == "out"}
    c.equal("all types are there", sorted(want), sorted(NAMES))
    for name, facts in want.items():
        seen = written.get(NAMES[name], {})
        c.equal(f"{name}: counts", {k: seen.get(k) for k in ("elements", "nan", "inf")}, {k: facts[k] for k in ("elements", "nan", "inf")})
        c.equal(f"{name}: the first NaN is the last element", seen.get("first_bad"), facts["elements"] - 1)
        for what in "min", "max", "mean":
            c.ok(f"{name}: {what}", close(seen.get(what), facts[what]), f"expected {facts[what]!r}, seen {seen.get(what)!r}")
    nan = c.tool("aoti-nanassert", "--log=found.txt", "--", *c.py("big.py"))
    c.equal("nanassert: the NaN came in, and the same result", (nan.status, nan.out), (1, plain.out))
    c.figure("seconds alone, printed, looked at for NaN", f"{plain.seconds:.1f}, {got.seconds:.1f}, {nan.seconds:.1f}")


def milliseconds(text):
    found = re.search(r"([\d.]+) ms per step", text)
    return float(found[1]) if found else None


@check(7, "channels_last ResNet step with masks: NaN found, nothing without one, time per step", limit=150)
def resnet(c):
    want = c.program("resnet.py")
    got = c.tool("aoti-nanassert", "--log=good.txt", "--", *c.py("resnet.py"))
    c.equal("no NaN: status", got.status, 0)
    c.like("no NaN: report", c.read("good.txt"), "nothing found")
    alone, watched = milliseconds(want.out), milliseconds(got.out)
    c.ok("both were timed", alone and watched, f"{want}, {got}")
    if alone and watched:
        losses = [float(w.out.split()[1]) for w in (got, want)]
        c.ok("the same loss, as far as cuDNN repeats itself", close(*losses, 0.02), losses)
        c.figure("a step alone", alone, "ms")
        c.figure("a step looked at for NaN", watched, "ms")
        c.figure("ratio", watched / alone, "x")
    bad = c.tool("aoti-nanassert", "--log=bad.txt", "--", *c.py("resnet.py"), env={"BAD": 1, **COMPILES})
    c.equal("the planted NaN: status", bad.status, 1)
    c.like("the root's kernel", c.read("bad.txt"), r"NaN produced by \w*fused\w*_sqrt")
    c.like("of a tensor in channels_last", c.read("bad.txt"), r"f32\[\d+,256,\d+,\d+\]/\(\d+,1,\d+,256\)(@cuda:\d+)?: \d+ NaN")
    c.unlike("every tensor was looked at", c.read("bad.txt") + c.read("good.txt") + got.err, r"(?i)not looked|too large|unread")
