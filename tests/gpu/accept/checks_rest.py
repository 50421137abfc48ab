"""Threads with streams, processes that fork, pinned memory, what --record keeps."""
import os

from aside import together
from harness import check


@check(24, "two models on two streams in two threads; a server's fork; pinned memory; --record and again", limit=120)
def rest(c):
    want = {"streams": c.program("threads.py", "streams"), "forked": c.program("threads.py", "forked"), "pinned": c.program("threads.py", "pinned")}
    fused = c.program("jit.py", "fused")
    jobs = {n: lambda n=n: c.tool("aoti-nanassert", f"--log={n}.txt", "--", *c.py("threads.py", n)) for n in want}
    jobs.update({"values": lambda: c.tool("aoti-printer", "-q", "-i", "--json", "--log=values.json", "--", *c.py("threads.py", "streams")),
                 "ima": lambda: c.tool("aoti-printer", "--ima", "--json", "--log=ima.json", "--", *c.py("threads.py", "streams")),
                 "bad": lambda: c.tool("aoti-nanassert", "--json", "--log=bad.json", "--", *c.py("threads.py", "streams:bad")),
                 "child": lambda: c.tool("aoti-nanassert", "--json", "--log=child.json", "--", *c.py("threads.py", "forked:bad")),
                 "record": lambda: c.tool("aoti-printer", "--record", c.path("kept"), "--", *c.py("jit.py", "fused"))})
    got = together(**jobs)
    for n in want:
        c.equal(f"{n}: runs alone", want[n].status, 0) or c.ok(f"{n}: what it said", False, want[n])
        c.equal(f"{n}: no NaN, the same result", (got[n].status, got[n].out), (0, want[n].out))
    c.equal("streams: values looked at, the same result", (got["values"].status, got["values"].out), (0, want["streams"].out))
    calls = [k for k in (c.json("values.json") or {"calls": []})["calls"]]
    c.equal("streams: nothing was read before it was written", [k["kernel"] for k in calls if any(v.get("nan") for v in k.get("values", []))], [])
    c.ok("streams: of more than one thread", len({k["tid"] for k in calls if "tid" in k}) > 1, calls[:2])
    c.equal("streams: --ima finds nothing", (got["ima"].status, (c.json("ima.json") or {}).get("faults"), (c.json("ima.json") or {}).get("findings")), (0, [], []))
    report = c.json("bad.json") or {}
    finding = (report.get("findings") or [{}])[0]
    # The thread's second. A graph of its own, where something of a thread is in a guard, has no run of the main thread's before.
    c.equal("a NaN in one of two threads: found in its graph's third run", (got["bad"].status, finding.get("run")), (1, 2 if len(report.get("models", [])) == 2 else 1))
    c.like("... the kernel", str(finding.get("kernel")), "cos|log")
    finding = ((c.json("child.json") or {}).get("findings") or [{}])[0]
    c.like("a NaN in a child of a server: found", str(finding.get("kernel")), "cos|log")
    c.equal("... status", got["child"].status, 1)
    kept = [d for d in os.listdir(c.path("kept")) if d.startswith("bundle.")] if os.path.isdir(c.path("kept")) else []
    c.equal("--record: a graph with its inputs, the same result", (got["record"].status, got["record"].out, len(kept)), (1, fused.out, 1))
    if not c.fake:  # it is a program of torch
        again = c.tool("aoti-nanassert", "--log=again.txt", c.path("kept"))
        c.equal("... run again: status", again.status, 1)
        c.like("... the same kernel", c.read("again.txt"), "NaN produced by triton_")
