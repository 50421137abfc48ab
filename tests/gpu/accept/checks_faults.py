"""--ima: errors of other kinds, other allocators, programs that are right."""
from aside import together
from harness import check, rounded


@check(14, "a device-side assert and a misaligned address: named as what they are", limit=100)
def other_errors(c):
    alone_assert, alone_odd = c.program("faults.py", "assert"), c.program("faults.py", "misaligned")
    got = together(
        assertion=lambda: c.tool("aoti-printer", "--ima", "--log=assert.txt", "--", *c.py("faults.py", "assert")),
        odd=lambda: c.tool("aoti-printer", "--ima", "--log=odd.txt", "--", *c.py("faults.py", "misaligned")),
        cut=lambda: c.tool("aoti-nanassert", "--log=cut.txt", "--", *c.py("faults.py", "assert")),
    )
    c.like("the planted assert fails", alone_assert.out + alone_assert.err, "device-side assert")
    c.like("the planted address is misaligned", alone_odd.out + alone_odd.err, "misaligned address")
    c.equal("statuses", (got["assertion"].status, got["odd"].status), (1, 1))
    c.like("assert: its kernel, its error", c.read("assert.txt"), r"\Atriton_\w*embedding\w*: .*\(CUDA_ERROR_ASSERT, 710\)")
    c.like("... the second run", c.read("assert.txt"), r"call \d+ of run 1 of ")
    c.unlike("... no tensor is suspected", c.read("assert.txt"), r"^ *suspect +(?!no tensor)")
    c.like("misaligned: its kernel, its error", c.read("odd.txt"), r"\Aodd_store\w*: misaligned address \(CUDA_ERROR_MISALIGNED_ADDRESS, 716\)")
    c.like("aoti-nanassert: a run that was cut short says so", c.read("cut.txt") + got["cut"].err, r"a GPU error stopped the run: .*CUDA_ERROR_ASSERT")
    c.unlike("... and not that all is well", c.read("cut.txt") + got["cut"].err, r"nothing found(?! before| as far)")
    c.ok("... and is no success", got["cut"].status not in (0, None), got["cut"].status)


@check(15, "illegal access with expandable segments and with cudaMallocAsync: no false suspect; a true one", limit=100)
def allocators(c):
    alone = c.program("faults.py", "expandable"), c.program("faults.py", "pool"), c.program("faults.py", "shrunk")
    got = together(**{s: lambda s=s: c.tool("aoti-printer", "--ima", "--json", f"--log={s}.json", "--", *c.py("faults.py", s))
                      for s in ("expandable", "pool", "shrunk")})
    for run, scene in zip(alone[:2], ("expandable", "pool")):
        c.like(f"{scene}: the planted access is illegal", run.out + run.err, "illegal memory access")
        report = c.json(scene + ".json") or {}
        fault = (report.get("faults") or [{}])[0]
        c.ok(f"{scene}: status", got[scene].status in (1, run.status), got[scene])  # torch may abort when the process ends
        c.like(f"{scene}: the kernel", str(fault.get("kernel")), r"^far_store")
        c.equal(f"{scene}: the second run", fault.get("run"), 1)
        certain = [s for s in fault.get("suspects") or [] if s.get("certain")]
        c.equal(f"{scene}: no tensor is accused, for all are whole", certain, [])
        c.equal(f"{scene}: nothing before the error", report.get("findings"), [])
    report = c.json("shrunk.json") or {}
    finding = (report.get("findings") or [{}])[0]
    c.equal("shrunk: as alone", got["shrunk"].out, alone[2].out)
    c.equal("shrunk: a tensor larger than its storage is found, though nothing fails", (got["shrunk"].status, finding.get("what")), (1, "walks-outside"))
    c.equal("... that one, certainly", [s.get("why") for s in finding.get("suspects", []) if s.get("certain")], ["beyond-storage"])
    c.equal("... in the run where it is", finding.get("run"), 1)


@check(16, "--ima on programs that are right: compiled AdamW with counters on the CPU, DDP, FSDP", limit=120)
def clean(c):
    want = {"adamw": c.program("clean.py", "adamw"), "dist": c.program("clean.py", "ddp", "fsdp")}
    scenes = {"adamw": ("adamw",), "dist": ("ddp", "fsdp")}
    jobs = {n: lambda n=n: c.tool("aoti-printer", "--ima", "--json", f"--log={n}.json", "--", *c.py("clean.py", *scenes[n])) for n in scenes}
    jobs.update({"nan_" + n: lambda n=n: c.tool("aoti-nanassert", f"--log=nan.{n}.txt", "--", *c.py("clean.py", *scenes[n])) for n in scenes})
    got = together(**jobs)
    for n in scenes:
        report = c.json(n + ".json") or {}
        c.equal(f"{n}: runs alone", want[n].status, 0) or c.ok(f"{n}: what it said", False, want[n])
        c.equal(f"{n}: status, and the same result", (got[n].status, rounded(got[n].out)), (0, rounded(want[n].out)))
        c.equal(f"{n}: no fault, no finding", (report.get("faults"), report.get("findings")), ([], []))
        c.ok(f"{n}: calls are waited for", report.get("calls", 0) >= 4, report.get("calls"))
        c.equal(f"{n}: no NaN", (got["nan_" + n].status, rounded(got["nan_" + n].out)), (0, rounded(want[n].out)))
    if not c.fake:
        c.like("adamw: its counters are on the CPU", want["adamw"].out, r"\{'cpu'\}")
