"""Numbers and names: aoti-verify of what a GPU computed, every call of every kind of kernel, cpp_wrapper."""
import glob
import json
import os
import re

import checks_packages
from aside import together
from harness import check, rounded

SCENES = ("float32", "tf32", "bfloat16", "wrong")


@check(22, "a GPU's dump against its graph and against the CPU's: float32, TF32, bfloat16; a wrong kernel is found", limit=140)
def verify(c):
    want = c.program("precisions.py", "float32", "tf32", "bfloat16", "wrong")
    if c.fake:
        return recorded(c)
    dump = c.path("gpu")
    got = together(
        gpu=lambda: c.tool("aoti-printer", "-q", "-i", "-o", dump, "--", *c.py("precisions.py", *SCENES), env={"TORCH_TRACE": c.path("trace")}),
        first=lambda: c.tool("aoti-printer", "-q", "-i", "-o", c.path("first"), "--", *c.py("precisions.py", *SCENES[:2])),
        # Without bfloat16, which is other C++: compiling it is what takes the time.
        cpu=lambda: c.tool("aoti-printer", "-q", "-i", "-o", c.path("cpu"), "--", *c.py("precisions.py", *SCENES[:2]),
                           env={"PT2_GPU_DEVICE": "cpu", "TORCHINDUCTOR_COMPILE_THREADS": 6}),
    )
    c.equal("watched: as alone", (got["gpu"].status, rounded(got["gpu"].out)), (want.status, rounded(want.out)))
    c.equal("and the same again, in part", rounded(got["first"].out), rounded("".join(want.out.splitlines(True)[:2])))
    c.equal("on the CPU it runs", got["cpu"].status, 0) or c.ok("... what it said", False, got["cpu"])
    trace = (sorted(glob.glob(os.path.join(c.path("trace"), "*.log"))) or [c.path("trace")])[0]
    verdicts(c, together(**{s: lambda i=i: c.tool("aoti-verify", "--json", "--graph", f"{i}/0", "-m", f"{i}_inference", trace, dump)
                            for i, s in enumerate(SCENES)}))
    compared(c, c.path("cpu"), c.path("first"), ("0_inference", "1_inference"))


def verdicts(c, verified):
    for s, run in verified.items():
        try:
            report = json.loads(run.out)
        except ValueError:
            c.ok(f"{s}: verified", False, run)
            continue
        counts = {k: sum(r[k] for r in report["runs"]) for k in ("equal", "rounding", "effect", "wrong", "open")}
        blamed = [(f["kernel"], f.get("node", {}).get("name"), f["what"]) for r in report["runs"] for f in r["findings"]]
        c.figure(f"{s}: kernels equal, rounding only, indirect, wrong, open", " ".join(str(n) for n in counts.values()))
        if s == "tf32" and not c.cpu:
            c.ok("tf32: products are recognised", any(k.get("tf32") for r in report["runs"] for k in r["calls"]), "none is")
        if s.startswith("wrong"):
            c.equal(f"{s}: a finding", run.status, 1)
            c.like("... the kernel of relu", str(blamed[:1]), r"\('(triton|cpp)_\w*relu\w*', 'relu\w*', 'value'\)" if not c.fake else "relu")
        else:
            c.equal(f"{s}: nothing is called wrong", blamed, [])
            c.ok(f"{s}: kernels are verified", counts["equal"] + counts["rounding"] + counts["effect"] > 0, counts)


def compared(c, a, b, models):
    diff = c.tool("aoti-printer", "--json", "--diff", a, b)
    try:
        calls = json.loads(diff.out)["calls"]
    except (ValueError, KeyError) as e:
        c.ok("--diff with the CPU's", False, (e, diff))
        return
    for model in models:
        ours = [k for k in calls if k.get("model") == model]
        c.ok(f"{model}: calls are compared with the CPU's", any(k["in"] == "both" for k in ours), ours[:3])
    c.equal("no call differs from the CPU's by more than its precision explains", [(k.get("model"), k["kernel"]) for k in calls if k.get("origin")], [])
    c.equal("... status", diff.status, 0)


def recorded(c):
    """On the fake driver: a package whose trace is recorded."""
    jobs = {s: lambda s=s: c.tool("aoti-printer", "-q", "-i", "--constants", "-o", c.path("gpu." + s), "--", *c.py("precisions.py", s))
            for s in ("float32", "wrong")}
    jobs["tf32"] = lambda: c.tool("aoti-printer", "-q", "-i", "--constants", "-o", c.path("gpu.tf32"), "--", *c.py("precisions.py", "float32"),
                                  env={"FAKETORCH_TF32": "1"})
    jobs["wrong in TF32"] = lambda: c.tool("aoti-printer", "-q", "-i", "--constants", "-o", c.path("gpu.wrong in TF32"), "--",
                                           *c.py("precisions.py", "wrong"), env={"FAKETORCH_TF32": "1"})
    cpu = checks_packages.recorded(c, "linear_cpu"), os.path.join(checks_packages.values(c), "linear.in0.npy")
    jobs["cpu"] = lambda: c.tool("aoti-printer", "-q", "-i", "-o", c.path("cpu"), *cpu)
    got = together(**jobs)
    for s, run in got.items():
        c.equal(f"{s}: runs", run.status, 0)
    c.run(*c.py("precisions.py", "weights:" + c.path("gpu.float32")))
    verdicts(c, {s: c.tool("aoti-verify", "--json", "--weights", c.path("weights.npz"), c.path("trace.log"), c.path("gpu." + s))
                 for s in ("float32", "tf32", "wrong", "wrong in TF32")})
    compared(c, c.path("cpu"), c.path("gpu.float32"), ())
    compared(c, c.path("cpu"), c.path("gpu.tf32"), ())
    wrong = c.tool("aoti-printer", "--json", "--diff", c.path("cpu"), c.path("gpu.wrong in TF32"))
    c.equal("--diff: a wrong kernel behind a product in TF32", wrong.status, 1)


# ---- every call a site ----

CALL = re.compile(r"^ +(?:[\w, ()]+ = )?(?:(triton_\w+|multi_kernel_\w+)\.run\(|(cpp_fused_\w+)\(|extern_kernels\.(\w+)\(|torch\.ops\.([\w.]+)\(|(\w+\.zero_)\(\))", re.M)
NO_CALLS = re.compile(r"empty|_alloc_from_pool|inductor\.|reinterpret|prims\.device_put|\.seed")


def calls_of_text(path):
    """Names of kernels that the generated text calls, in its order, without what is in a function of its own for measuring."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    at = text.find("def call(")
    if at < 0:
        return []
    text = text[at:].split("\ndef get_args(")[0].split("\ndef benchmark_compiled_module(")[0]
    names = []
    for triton, cpp, extern, op, method in CALL.findall(text):
        name = triton or cpp or method or ("extern_kernels." + extern if extern else "torch.ops." + op)
        if not (op and NO_CALLS.search(op)):
            names.append(name)
    return names


def sites(c, dump, what):
    """Each call of each text is seen in the first run of its graph, in its order; each has names for what it reads and writes, and nothing read is unknown."""
    runs, source, known = {}, {}, {}
    for line in c.read(os.path.join(dump, "calls.jsonl")).splitlines():
        call = json.loads(line)
        if "kernel" not in call and call.get("kind") != "run":
            continue
        key = call.get("pid"), call.get("model_id"), call.get("run", 0)
        source.setdefault(key, call.get("source"))
        runs.setdefault(key, []).append(call)
        known.setdefault(key, set())
    c.ok(f"{what}: graphs are seen", runs, c.read(os.path.join(dump, "calls.jsonl"))[:300])
    for key, calls in runs.items():
        if key[2]:
            continue
        text = source[key]
        inputs = {v["buffer"] for k in calls if k.get("kind") == "run" for v in k["values"] if "buffer" in v}
        kernels = [k for k in calls if k.get("kind") != "run"]
        if text and os.path.exists(text):
            c.equal(f"{what}: {kernels[0].get('model') if kernels else text}: calls", [short(k["kernel"]) for k in kernels], [short(k) for k in calls_of_text(text)])
        written = set(inputs)
        for k in kernels:
            values = k.get("values", [])
            c.ok(f"{what}: {k['kernel']} writes something", any(v["when"] == "after" for v in values), values)
            c.ok(f"{what}: {k['kernel']}: names", all(v.get("buffer") for v in values), values)
            unknown = [v.get("buffer") for v in values if v["when"] == "before" and v["role"] == "in" and v.get("buffer") not in written and not v.get("path")]
            c.equal(f"{what}: {k['kernel']} reads what is known", unknown, [])
            bad = [v.get("buffer") for v in values if v.get("nan") and v["when"] == "after"]
            c.equal(f"{what}: {k['kernel']}: no NaN", bad, [])
            written |= {v["buffer"] for v in values if v.get("buffer") and v["when"] == "after"}


def short(name):
    return re.sub(r"^torch\.ops\.|^extern_kernels\.", "", name)


@check(20, "templates of max-autotune, flex_attention, combo, multi-kernel, cooperative: every call a site with names and roles", limit=150)
def kinds(c):
    names = ("template", "flex", "combo", "multi", "cooperative")
    want = {"template": c.program("kinds.py", "template"), "flex": c.program("kinds.py", "flex"), "combo": c.program("kinds.py", "combo"),
            "multi": c.program("kinds.py", "multi"), "cooperative": c.program("kinds.py", "cooperative")}
    jobs = {n: lambda n=n: c.tool("aoti-printer", "-i", "-o", c.path("dump." + n), "--", *c.py("kinds.py", n)) for n in names}
    jobs.update({"nan_" + n: lambda n=n: c.tool("aoti-nanassert", f"--log={n}.txt", "--", *c.py("kinds.py", n)) for n in names})
    got = together(**jobs)
    for n in names:
        c.equal(f"{n}: runs alone", want[n].status, 0) or c.ok(f"{n}: what it said", False, want[n])
        c.equal(f"{n}: watched, as alone", (got[n].status, got[n].out), (0, want[n].out))
        c.unlike(f"{n}: no call is not understood", got[n].err, "not understood|no call")
        c.equal(f"{n}: no NaN", (got["nan_" + n].status, got["nan_" + n].out), (0, want[n].out))
        sites(c, "dump." + n, n)


@check(21, "cpp_wrapper: its kernels in the first call and in the second; a NaN in the first", limit=120)
def cpp_wrapper(c):
    want, bad = c.program("kinds.py", "wrapper"), c.program("kinds.py", "wrapper:bad")
    got = together(
        names=lambda: c.tool("aoti-printer", "-q", "--json", "--log=calls.json", "--", *c.py("kinds.py", "wrapper")),
        nan=lambda: c.tool("aoti-nanassert", "--json", "--log=nan.json", "--", *c.py("kinds.py", "wrapper:bad")),
        none=lambda: c.tool("aoti-nanassert", "--log=none.txt", "--", *c.py("kinds.py", "wrapper")),
    )
    c.equal("watched: as alone", (got["names"].status, got["names"].out), (want.status, want.out))
    runs = {}
    for call in (c.json("calls.json") or {"calls": []})["calls"]:
        if call.get("kind") != "run":
            runs.setdefault(call.get("run"), []).append(call["kernel"])
    c.equal("three runs", sorted(runs), [0, 1, 2])
    c.ok("kernels of Triton in the first", any(k.startswith("triton_") for k in runs.get(0, [])), runs)
    c.equal("the first run calls what the second calls", runs.get(0), runs.get(1))
    c.equal("no NaN: nothing is found", (got["none"].status, got["none"].out), (0, want.out))
    c.equal("a NaN: status, and the same result", (got["nan"].status, got["nan"].out), (1, bad.out))
    finding = ((c.json("nan.json") or {}).get("findings") or [{}])[0]
    c.like("... its kernel", str(finding.get("kernel")), r"^triton_\w*log")
    c.equal("... in the first run", finding.get("run"), 0)
