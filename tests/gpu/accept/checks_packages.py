"""AOTInductor packages: illegal access, contract, doctor, values, packages out of a file, streams."""
import glob
import json
import lzma
import os
import re
import shutil
import tarfile

from aside import together
from harness import check

SM_90 = ("linear", "linear_embedded", "linear_fatbin", "dynamic", "user")


def package(c, name):
    """The package that packages.py runs, and the folder where it keeps inputs."""
    folder = os.path.join(os.path.dirname(c.place.environment["TORCHINDUCTOR_CACHE_DIR"]), "packages")
    made = os.path.join(folder, name + ".made.pt2")
    return made if os.path.exists(made) else recorded(c, name), folder


def recorded(c, name):
    """A recorded package for sm_90: of the kit, else of the source tree; on the fake driver with its PTX in a folder NAME beside it."""
    kept = os.path.join(c.kit, "packages", name + ".pt2")
    if os.path.exists(kept):
        return kept
    at, to = os.path.join(c.root, "tests/data/aoti/cuda", name), c.path(name + ".pt2")
    if not os.path.exists(to):
        with lzma.open(at + ".pt2.xz") as f, open(to + ".tmp", "wb") as g:
            shutil.copyfileobj(f, g)
        if os.path.exists(at + ".triton.tar.xz"):
            with tarfile.open(at + ".triton.tar.xz") as tar:
                tar.extractall(c.folder)
        os.rename(to + ".tmp", to)
    return to


def values(c):
    """The folder with inputs of the recorded packages and what eager torch computes of them."""
    kept = os.path.join(c.kit, "packages/values")
    if not os.path.isdir(kept):
        kept = c.path("values")
        if not os.path.isdir(kept):
            with lzma.open(os.path.join(c.root, "tests/data/aoti/cuda/values.npz.xz")) as f, open(c.path("values.npz"), "wb") as g:
                shutil.copyfileobj(f, g)
            shutil.unpack_archive(c.path("values.npz"), kept, "zip")
    return kept


def libtorch(c):
    """The folder of an installed libtorch for CUDA."""
    if c.fake:
        at = c.path("torch")
        if not os.path.isdir(at):
            os.makedirs(at)
            libraries = os.path.join(c.kit, "tests-lib")
            os.symlink(os.path.join(libraries, "faketorch.so"), os.path.join(at, "libtorch_cpu.so"))
            for path in glob.glob(os.path.join(libraries, "cuda/lib*")):
                os.symlink(path, os.path.join(at, os.path.basename(path)))
        return at
    got = c.run(c.place.python, "-c", "import importlib.util as i, os; print(os.path.join(os.path.dirname(i.find_spec('torch').origin), 'lib'))")
    return got.out.strip()


@check(17, "illegal access in an AOTI package: kernel, grid, what it may be; --ima=alloc; nothing when all is well", limit=90)
def ima_package(c):
    bad, good = c.py("packages.py", "run:user:bad"), c.py("packages.py", "run:user:good")
    got = together(
        alone=lambda: c.run(*bad),
        ima=lambda: c.tool("aoti-printer", "--ima", "--log=ima.txt", "--", *bad),
        alloc=lambda: c.tool("aoti-printer", "--ima=alloc", "--log=alloc.txt", "--", *bad),
        json=lambda: c.tool("aoti-printer", "--ima", "--json", "--log=ima.json", "--", *bad),
        fine=lambda: c.tool("aoti-printer", "--ima", "--log=fine.txt", "--", *good),
        plain=lambda: c.run(*good),
    )
    c.like("the planted access is illegal", got["alone"].out + got["alone"].err, "illegal memory access")
    c.equal("--ima: status", got["ima"].status, 1)
    c.like("the kernel, in one run", c.read("ima.txt"), r"\Afar_copy\w*: illegal memory access \(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)")
    c.like("its grid", c.read("ima.txt"), r"grid \(63, 1, 1\), block \(\d+, 1, 1\)")
    c.like("its number of elements", c.read("ima.txt"), r"^ *2 +16000\b")
    c.like("its tensors", c.read("ima.txt"), r"buf0 +0x[0-9a-f]+ +64000 +64000")
    c.like("where in the text", c.read("ima.txt"), r"from +wrapper\.cpp:\d+|from +\S+\.cpp:\d+")
    c.like("--ima=alloc: the same kernel", c.read("alloc.txt"), r"\Afar_copy\w*: illegal memory access")
    report = c.json("ima.json") or {"faults": []}
    fault = (report["faults"] or [{}])[0]
    c.equal("as JSON", [fault.get(k) for k in ("code", "error", "when", "device")], [700, "CUDA_ERROR_ILLEGAL_ADDRESS", "after", 0])
    c.equal("one fault, told once", len(report["faults"]), 1)
    c.equal("with a size that is right: as alone", (got["fine"].status, got["fine"].out), (got["plain"].status, got["plain"].out))
    c.equal("... and nothing is found", (got["fine"].status, c.read("fine.txt")), (0, ""))


def in_python(c):
    """Contract, doctor, values and NaN of packages that a Python loads."""
    names = ("dynamic", "linear", "nan")
    all_good = c.py("packages.py", *[f"run:{n}:good" for n in names])
    plain = c.program("packages.py", "run:dynamic:good", "run:linear:good", "run:nan:good")  # keeps inputs, too
    c.equal("runs alone", plain.status, 0) or c.ok("... what it said", False, plain)
    jobs = dict(
        watched=lambda: c.tool("aoti-printer", "-q", "--json", "--log=watched.json", "--", *all_good),
        nanassert=lambda: c.tool("aoti-nanassert", "--log=none.txt", "--", *all_good),
        bad=lambda: c.tool("aoti-nanassert", "--log=nan.txt", "--", *c.py("packages.py", "run:nan:bad")),
    )
    for n in names:
        at, folder = package(c, n)
        jobs["probe_" + n] = lambda at=at: c.tool("aoti-checkinputs", "--probe", at)
        jobs["contract_" + n] = lambda at=at: c.tool("aoti-checkinputs", "--json", at)
        jobs["doctor_" + n] = lambda at=at: c.tool("aoti-checkinputs", "--doctor", at)
        jobs["inputs_" + n] = lambda at=at, given=os.path.join(folder, n + ".good.pt"): c.tool("aoti-checkinputs", "--json", at, given)
    got = together(**jobs)
    c.equal("watched: as alone", (got["watched"].status, got["watched"].out), (0, plain.out))
    c.equal("no NaN with good inputs", (got["nanassert"].status, got["nanassert"].out), (0, plain.out))
    c.like("the planted NaN: kernel", c.read("nan.txt"), r"NaN produced by triton_\w*log")
    c.like("... and why", c.read("nan.txt"), "log of a negative number")
    c.equal("... status", got["bad"].status, 1)
    seen = {call["kernel"] for call in (c.json("watched.json") or {"calls": []})["calls"]}
    for n in names:
        c.equal(f"{n}: text and binary agree", got["probe_" + n].status, 0)
        c.like(f"{n}: it is for cuda", got["probe_" + n].out, "compiled for cuda")
        c.like(f"{n}: the doctor finds the GPU fit", got["doctor_" + n].out, r"ok +GPU code for sm_")
        calls = {call["name"] for call in json_of(got["contract_" + n].out).get("calls", [])}
        c.ok(f"{n}: there are kernels in its contract", any(k.startswith("triton_") for k in calls), calls)
        c.equal(f"{n}: each is seen", sorted(calls - seen), [])
        findings = [f for f in json_of(got["inputs_" + n].out).get("findings", []) if f.get("what") != "device"]
        c.equal(f"{n}: the tensors of its inputs fit", findings, [])


def json_of(text):
    try:
        return json.loads(text)
    except ValueError:
        return {}


@check(18, "AOTI: contract by text and binary, doctor, values, NaN; recorded packages out of a file", limit=150)
def packages(c):
    if not c.fake:
        in_python(c)
    at, torch = values(c), libtorch(c)

    def gpu(name, *arguments):
        recorded(c, name)
        env = {"FAKECUDA_PTX": c.path(name), "LD_LIBRARY_PATH": torch} if c.fake else None
        if c.plant and name == "linear":
            env["FAKECUDA_PTX"] = spoiled(c, name)
        return c.tool(*arguments, env=env)

    def saved(name):
        inputs = sorted(glob.glob(os.path.join(at, name.split("_")[0] + ".in*.npy")))
        return gpu(name, "aoti-printer", "-q", f"--torch={torch}", "-i", "-o", c.path("saved." + name), recorded(c, name), *inputs)

    for name in (*SM_90, "nan", "linear_cpu"):
        recorded(c, name)
    jobs = {name: lambda name=name: saved(name) for name in SM_90}
    jobs.update(
        # Its Sleef is libtorch's where the system has none.
        cpu=lambda: c.tool("aoti-printer", "-q", *([] if c.fake else [f"--torch={torch}"]), "-i", "-o", c.path("cpu"), recorded(c, "linear_cpu"),
                           os.path.join(at, "linear.in0.npy")),
        found_nan=lambda: gpu("nan", "aoti-nanassert", f"--torch={torch}", recorded(c, "nan"), "f32[32,64]"),
        found_ima=lambda: gpu("user", "aoti-printer", "--ima", f"--torch={torch}", recorded(c, "user"), "f32[1000,16]"),
        doctor=lambda: c.tool("aoti-checkinputs", "--doctor", recorded(c, "linear")),
        probe=lambda: c.tool("aoti-checkinputs", "--probe", recorded(c, "linear")),
    )
    got = together(**jobs)
    for name in SM_90:
        if not c.equal(f"{name} runs out of its file", got[name].status, 0):
            c.ok(f"{name}: what it said", False, got[name])
            continue
        out = output(c, "saved." + name)
        near = c.run(c.place.python, os.path.join(c.root, "tests/lib/npyclose.py"), out, os.path.join(at, name.split("_")[0] + ".out0.npy"), "1e-4", "1e-5")
        c.equal(f"{name}: computes what eager torch does on the CPU", (near.status, near.err), (0, ""))
    c.equal("the CPU's package", got["cpu"].status, 0)
    diff = c.tool("aoti-printer", "--diff", c.path("cpu"), c.path("saved.linear"))
    c.equal("--diff: the CPU's package and the GPU's agree", diff.status, 0)
    c.equal("NaN out of a file", got["found_nan"].status, 1)
    c.like("... at the logarithm", got["found_nan"].out, r"\ANaN produced by triton_per_fused_add_log_mul_sub_sum_2")
    c.equal("--ima on a file", got["found_ima"].status, 1)
    c.like("... names the kernel", got["found_ima"].out, r"\Afar_copy_0: illegal memory access")
    c.like("recorded: for cuda, by text and binary", got["probe"].out, "compiled for cuda")
    c.equal("... which agree", got["probe"].status, 0)
    if not c.fake:
        c.like("recorded: the doctor", got["doctor"].out, r"ok +GPU code for sm_90")


def output(c, dump):
    """The file of the model's last output."""
    last = ""
    for line in c.read(os.path.join(dump, "calls.jsonl")).splitlines():
        for v in json.loads(line).get("values", []):
            if v.get("role") == "model-output" and v.get("file"):
                last = c.path(os.path.join(dump, v["file"]))
    return last


def spoiled(c, name):
    """Its PTX with one wrong instruction, in which the interpreter and nothing else believes."""
    at = c.path(name + ".spoiled")
    os.makedirs(at, exist_ok=True)
    for path in glob.glob(os.path.join(c.path(name), "*.ptx")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        with open(os.path.join(at, os.path.basename(path)), "w", encoding="utf-8") as f:
            f.write(re.sub(r"\bmul\.f32\b|\bmul\.rn\.f32\b", "add.f32", text))
    return at


@check(19, "AOTI: a package on a side stream; two streams in a package; launches by cuLaunchKernelEx", limit=90)
def streams(c):
    alone = c.program("packages.py", "run:linear:good")
    made = {"streams": c.program("packages.py", "run:streams:good"), "pdl": c.program("packages.py", "run:pdl:good")}
    side, bad = c.py("packages.py", "side:linear:good"), c.py("packages.py", "side:user:bad")
    jobs = dict(
        values=lambda: c.tool("aoti-printer", "-q", "-i", "--json", "--log=side.json", "--", *side),
        nan=lambda: c.tool("aoti-nanassert", "-q", "--", *side),
        ima=lambda: c.tool("aoti-printer", "--ima", "--log=ima.txt", "--", *bad),
    )
    there = [n for n in ("streams", "pdl") if made[n].status == 0 and "not of torch" not in made[n].out]
    for n in there:
        jobs["ima_" + n] = lambda n=n: c.tool("aoti-printer", "--ima", f"--log=ima.{n}.json", "--json", "--", *c.py("packages.py", f"run:{n}:good"))
        jobs["twice_" + n] = lambda n=n: twice(c, n)
    got = together(**jobs)
    c.equal("on a side stream: what it computes", (got["values"].status, got["values"].out), (0, alone.out))
    c.equal("no NaN of memory that was not written yet", (got["nan"].status, got["nan"].out), (0, alone.out))
    calls = (c.json("side.json") or {"calls": []})["calls"]
    read = [v for call in calls for v in call["values"] if v["when"] == "before" and v["role"] in ("in", "inout", "model-input")]
    c.ok("what kernels read is there when it is looked at", read and not any(v.get("nan") for v in read), read)
    launched = {call["launch"]["stream"] for call in calls if "launch" in call}
    c.ok("its launches are on that stream", launched and 0 not in launched, launched)
    kernel = "triton_per_fused_relu_sum_1" if c.fake else r"far_copy\w*"
    c.like("--ima on a side stream: the kernel", c.read("ima.txt"), rf"\A{kernel}: illegal memory access")
    c.unlike("... which this call made", c.read("ima.txt"), "existed before this call")
    for n in ("streams", "pdl"):
        if n not in there:
            c.figure(n, (made[n].out.strip().splitlines() or ["nothing said"])[-1])
            c.like(f"{n}: runs, or is not of this torch", made[n].out, "not of torch")
            continue
        report = c.json(f"ima.{n}.json") or {}
        c.equal(f"{n}: --ima finds nothing", (got["ima_" + n].status, report.get("faults"), report.get("findings")), (0, [], []))
        c.ok(f"{n}: calls are waited for", report.get("calls", 0) > 1, report.get("calls"))
        c.equal(f"{n}: watched twice, the same numbers", got["twice_" + n].status, 0)


def twice(c, name):
    command = c.py("packages.py", f"run:{name}:good")
    c.tool("aoti-printer", "-q", "-i", "-o", c.path(name + ".dump"), "--", *command)
    return c.tool("aoti-printer", "--diff", c.path(name + ".dump"), "--", *command)
