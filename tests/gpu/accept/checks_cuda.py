"""What only a GPU has: side streams, CUDA graphs, illegal memory accesses."""
import json
import os
import re

from harness import check

IMA = r"illegal memory access"


def calls_of(c, dump):
    """The lines of a dump's calls.jsonl."""
    return [json.loads(line) for line in c.read(os.path.join(dump, "calls.jsonl")).splitlines() if line.startswith("{")]


def file_of(c, dump, run, role):
    """The file of the first tensor with that role at that run's start or end."""
    for call in calls_of(c, dump):
        if call.get("kind") == "run" and call.get("run") == run:
            for v in call["values"]:
                if v["role"] == role and v.get("file"):
                    return c.path(os.path.join(dump, v["file"]))
    return None


def numbers_of(path):
    """The bytes behind a .npy file's head; b"" without a file."""
    try:
        with open(path, "rb") as f:
            data = f.read()
    except (OSError, TypeError):
        return b""
    return data[10 + int.from_bytes(data[8:10], "little"):]


@check(8, "side stream: dump equals torch's tensors, no false NaN", limit=90)
def side_stream(c):
    want = c.program("streams.py", "side")
    plain = want.out.split()
    c.ok("torch itself: the same on both streams", len(plain) == 2 and plain[0] == plain[1], want)
    got = c.tool("aoti-printer", "-q", "-i", "-o", "dump", "--", *c.py("streams.py", "side:" + c.path("torch.npy")))
    c.equal("watched: status and result", (got.status, got.out), (0, want.out))
    # Run 0 is on the default stream, Run 1 on the other one, where the input is NaN until the copy behind the sleep is done.
    torch, dumped = numbers_of(c.path("torch.npy")), numbers_of(file_of(c, "dump", 1, "model-output"))
    c.ok("the result on the side stream is in the dump as torch has it", torch and torch == dumped, f"{len(torch)} and {len(dumped)} bytes: {torch[:32].hex()}, "
         f"{dumped[:32].hex()}")
    nan = [f"{v['buffer']}: {v['nan']} NaN" for call in calls_of(c, "dump") if call.get("run") == 1 for v in call.get("values", []) if v.get("nan")]
    c.equal("no value was read before it was there", nan, [])
    got = c.tool("aoti-nanassert", "--log=found.txt", "--", *c.py("streams.py", "side"))
    c.equal("nanassert: the same result", (got.status, got.out), (0, want.out))
    c.like("nanassert: nothing", c.read("found.txt"), "9 calls of .*nothing found")


@check(9, "torch.cuda.graph around a compiled function: capture survives, same result, no alarm", limit=120)
def captured(c):
    want = c.program("streams.py", "captured")
    for tool, *options in ("aoti-nanassert",), ("aoti-printer", "-q", "--ima"), ("aoti-printer", "-l3"):
        name = " ".join([tool, *options])
        got = c.tool(tool, *options, "--log=log.txt", "--", *c.py("streams.py", "captured"))
        c.equal(f"{name}: same status and result", (got.status, got.out), (want.status, want.out))
        c.unlike(f"{name}: no alarm", c.read("log.txt") + got.err, IMA + "|NaN produced|invalidated|capture.*(fail|error)")
    c.like("replays are counted", got.err, r"CUDA graph 1: .*replayed 3 times")


@check(10, "reduce-overhead: no false NaN; one that is made in a replay is found; the same result", limit=90)
def reduce_overhead(c):
    want = c.program("jit.py", "graphs")
    got = c.tool("aoti-nanassert", "--log=good.txt", "--", *c.py("jit.py", "graphs"))
    c.equal("the same result", (got.status, got.out), (0, want.out))
    c.like("calls were looked at, no NaN", c.read("good.txt"), r"\b(4|1[0-9]) calls of kernels.*nothing found")
    want = c.program("jit.py", "late")
    got = c.tool("aoti-nanassert", "--log=late.txt", "--", *c.py("jit.py", "late"))
    c.equal("in the fifth call: found, and the same result", (got.status, got.out), (1, want.out))
    c.like("its kernel", c.read("late.txt"), r"NaN produced by (triton_[a-z]+|cpp)_fused_[a-z_]*log")
    c.like("the graph and which replay it was", c.read("late.txt"), r"in replay [3-5] of CUDA graph [1-9]\b")


@check(11, "reduce-overhead under --profile: graphs stay, replays counted and named", limit=90)
def profiled(c):
    want = c.program("jit.py", "graphs")
    got = c.tool("aoti-printer", "--profile", "--log=profile.txt", "--", *c.py("jit.py", "graphs"))
    c.equal("the same result", (got.status, got.out), (0, want.out))
    text = c.read("profile.txt") + got.err
    c.like("kernels by name", text, r"extern_kernels\.mm" if not c.fake else "triton_poi_fused_log_0")
    c.like("the graph's replays by name, counted", c.read("profile.txt"), r"\b[3-6] .*cuda_graph\[\d+\]")
    c.like("what it holds", got.err, r"CUDA graph \d+: \d+ (calls|kernels) captured.*replayed [3-6] times")


def fault(c, scene, stream):
    plain = c.program("jit.py", scene)
    c.like("the planted access is illegal", plain.out + plain.err, IMA)
    c.tool("aoti-printer", "--ima", "--log=found.txt", "--", *c.py("jit.py", scene))
    text = c.read("found.txt")
    first = (text.splitlines() or [""])[0]
    c.like("the kernel, in one run", first, r"^log_of_all\w*: " + IMA)
    c.unlike("no other kernel is accused", text, r"^(?!log_of_all)[\w.\[\]]+: " + IMA)
    c.like("its graph", text, r"call \d+ of run 0 of \d+_inference")
    c.unlike("this call made it: it was not there before", text, r"(?i)before (the|this) call|was there before|present before")
    if stream:
        c.unlike("the stream is named as another than the default one", text, r"stream 0x0\b")


@check(12, "illegal access in a user's Triton kernel, default stream: the kernel", limit=130)
def far(c):
    fault(c, "far", False)
    got = c.tool("aoti-printer", "--ima", "--log=fine.txt", "--", *c.py("jit.py", "fused"))
    c.unlike("nothing with a program that stays inside", c.read("fine.txt") + got.err, IMA)


@check(13, "illegal access on a side stream: the right kernel, this call made it", limit=90)
def far_side(c):
    fault(c, "farside", True)
