"""torch.compile programs under the tools: the preload itself, NaN, values of every dtype and layout."""
import json
import os
import re

from harness import check

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
    got = c.tool("aoti-nanassert", "--log=found.txt", "--", *c.py("jit.py", "fused"))
    c.equal("found, and the same result", (got.status, got.out), (1, want.out))
    c.like("the kernel", c.read("found.txt"), r"NaN produced by triton_[a-z]+_fused_[a-z_]*log" if not c.fake else "NaN produced by triton_poi_fused_log_0")
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
