#!/usr/bin/env python3
"""aoti-verify held against the truth, on the models of track_zoo.py.

    verify.py texts ZOO OUT [MODEL...] with torch: packages in which one token of one kernel's C++ text (and so of its binary) is another:
                                       OUT/MODEL.KIND.pt2, and OUT/MODEL.KIND.json {"kernel", "kind", "what"}; what is there stays
    verify.py clean ZOO                "NAME STATUS" for each clean model, NAME from ZOO
    verify.py mutants ZOO OUT SEEDS [MODEL...]
                                       for each model that many packages made by tests/lib/mutate.py, and those of OUT: a line each, then the counts
    verify.py graphs ZOO MOST [MODEL...]
                                       for each clean model that many graphs in which one operator is another: a line each that is not as it should be, then the counts

The truth of a graph: "visible" if pt2-run computes other outputs from it, by more than rounding. The right kernels are those that have the operator in their names;
if there is none (it was folded or is another one in there), any one kernel counts as named.

The truth of a mutant is told without aoti-verify: values that the clean package and the mutant write, as aoti-printer saves them, compared at the first
call of the changed kernel that shows it. "visible": other by more than rounding; "rounding"; "invisible": the same; "unused": nothing is found, and all outputs
stay the same; "unrunnable": it crashes or never ends.
$BUILD/bin is where the tools are. A line of what was not named has all that makes it again: model, seed or kind.
"""
import collections
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
MUTATE = os.path.join(os.path.dirname(HERE), "lib", "mutate.py")
ROUNDING = 1e-6  # of the greatest number; float32 has 6e-8

# kind: (what is looked for in a kernel's text, what stands there instead)
TEXTS = {
    "operator": (r"(= \w+) \+ (\w+;)", r"\1 - \2"),
    "order": (r"= (\w+) - (\w+);", r"= \2 - \1;"),
    "cast": (r"(auto tmp\d+ = )(tmp\d+ [-+*] tmp\d+)(;)", r"\1(\2).trunc()\3"),  # as through an integer
    "constant": (r"static_cast<float>\((\d+\.\d+)\)", lambda m: "static_cast<float>(%r)" % (float(m[1]) * 1.5)),
    "comparison": (r"(decltype\(\w+\)\()?(tmp\d+) < (tmp\d+)|(tmp\d+) > (tmp\d+)", lambda m: m[0].replace("<", "@").replace(">", "<").replace("@", ">")),
    "initial": (r"(float tmp_acc\d+ = )0;", r"\g<1>1;"),
    "index": (r"(in_ptr\d+ \+ static_cast<int64_t>\(x\d+) \+ \d+L\*x\d+\)", r"\1)"),
    "tail": (r"(x\d+<static_cast<int64_t>\()(\d+)(L\); x\d+\+=static_cast<int64_t>\(1L\))", lambda m: m[1] + str(max(1, int(m[2]) - 1)) + m[3]),
}

# One operator of a graph, and what stands there instead: the same arguments.
OPERATORS = {
    "add.Tensor": "sub.Tensor", "sub.Tensor": "add.Tensor", "mul.Tensor": "add.Tensor", "div.Tensor": "mul.Tensor", "relu.default": "abs.default",
    "sigmoid.default": "tanh.default", "tanh.default": "sigmoid.default", "exp.default": "sin.default", "silu.default": "relu.default",
    "sqrt.default": "neg.default", "rsqrt.default": "neg.default", "amax.default": "amin.default", "sum.dim_IntList": "mean.dim", "mean.dim": "sum.dim_IntList",
    "cos.default": "sin.default", "sin.default": "cos.default", "abs.default": "neg.default", "neg.default": "abs.default", "gt.Scalar": "lt.Scalar",
    "maximum.default": "minimum.default", "minimum.default": "maximum.default", "square.default": "abs.default", "log.default": "sin.default",
    "erf.default": "tanh.default", "le.Tensor": "lt.Tensor", "ge.Tensor": "gt.Tensor",
}

TEXT_MODELS = ("mlp", "embed", "bert", "llama", "convnext")


def bare(name):
    return os.path.basename(name)[: -len(".pt2")]


def tool(name, *arguments, timeout=300):
    program = os.path.join(os.environ["BUILD"], "bin", name)
    try:
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, 124, "", "timeout")


# ---- mutants by text ----


def change(text, kind, rng):
    """The kernels' text with one token changed: (text, kernel, what); None: there is no place."""
    pattern, new = TEXTS[kind]
    starts = [(m.start(), m[1]) for m in re.finditer(r'extern "C"\s+void\s+(cpp_\w+)', text)]
    places = [m for m in re.finditer(pattern, text) if starts and m.start() > starts[0][0]]
    if not places:
        return None
    m = rng.choice(places)
    other = m.expand(new) if isinstance(new, str) else new(m)
    if other == m[0]:
        return None
    kernel = [name for start, name in starts if start < m.start()][-1]
    return text[: m.start()] + other + text[m.end():], kernel, "%s becomes %s" % (m[0], other)


def texts(zoo, out, *wanted):
    import torch
    import torch._inductor.codecache as codecache

    torch._inductor.config.force_disable_caches = True
    compiler = codecache.AotCodeCompiler
    real = compiler.compile.__func__
    os.makedirs(out, exist_ok=True)
    for kind in TEXTS:
        for name in wanted or TEXT_MODELS:
            path = os.path.join(out, "%s.%s" % (name, kind))
            if os.path.exists(path + ".json"):
                continue
            made = []

            def compile(cls, graph, wrapper, kernels, *args, **kw):
                changed = change(kernels, kind, random.Random(name + kind))
                if not changed:
                    raise LookupError("no place")
                made.extend(changed[1:])
                return real(cls, graph, wrapper, changed[0], *args, **kw)

            compiler.compile = classmethod(compile)
            try:
                program = torch.export.load(os.path.join(zoo, name + ".exported.pt2"))
                torch._inductor.aoti_compile_and_package(program, package_path=path + ".pt2")
                with open(path + ".json", "w") as f:
                    json.dump({"kernel": made[0], "kind": kind, "what": made[1]}, f)
            except Exception as e:  # no place in this model, or its compiler refuses the text
                print("%s %s: %s" % (name, kind, str(e).strip().splitlines()[0][:120] if str(e).strip() else type(e).__name__), flush=True)
            finally:
                compiler.compile = classmethod(real)


# ---- the truth ----


def dump(package, inputs, folder):
    shutil.rmtree(folder, ignore_errors=True)
    return tool("aoti-printer", "-q", "-i", "-o", folder, package, inputs, timeout=60).returncode


def load(path):
    """A saved tensor; what numpy lacks (bfloat16, float8) is in a .safetensors file: bfloat16 as float32, others as their bytes."""
    if path.endswith(".npy"):
        return np.load(path)
    with open(path, "rb") as f:
        data = f.read()
    start = 8 + int.from_bytes(data[:8], "little")
    (meta,) = (v for k, v in json.loads(data[8:start]).items() if k != "__metadata__")
    body = data[start:][slice(*meta["data_offsets"])]
    return (np.frombuffer(body, "<u2").astype("<u4") << 16).view("<f4") if meta["dtype"] == "BF16" else np.frombuffer(body, "u1")


def written(folder, kernel):
    """What each call of the kernel wrote, in order."""
    calls = []
    with open(folder + "/calls.jsonl") as f:
        for line in f:
            call = json.loads(line)
            if call.get("kernel") == kernel:
                calls.append([load(folder + "/" + v["file"]) for v in call["values"] if v["when"] == "after" and v["role"] in ("out", "inout") and "file" in v])
    return calls


def apart(a, b):
    """The greatest difference, of the greatest number."""
    most = 0.0
    for x, y in zip(a, b):
        if x.dtype.kind not in "fc":
            most = max(most, 0.0 if np.array_equal(x, y) else np.inf)
            continue
        x, y = x.astype(np.complex128), y.astype(np.complex128)
        finite = np.isfinite(x) & np.isfinite(y)
        if not np.array_equal(np.where(finite, 0, x), np.where(finite, 0, y), equal_nan=True):  # another infinity, too
            return np.inf
        size = np.abs(x[finite]).max(initial=0)
        off = np.abs(x[finite] - y[finite]).max(initial=0)
        most = max(most, off / size if size else np.inf if off else 0.0)
    return most


def truth(clean, package, inputs, kernel, folder):
    if dump(package, inputs, folder):
        return "unrunnable", 0
    # The first call that shows it: those before it gave the same, and so it was given the same.
    off = next(filter(None, map(apart, written(clean, kernel), written(folder, kernel))), 0)
    return ("invisible" if off == 0 else "rounding" if off < ROUNDING else "visible"), off


# ---- the verdict ----


def arguments(zoo, name):
    flat = os.path.join(zoo, name + ".flat.pt")
    inputs = flat if os.path.exists(flat) else os.path.join(zoo, name + ".in.pt")
    weights = os.path.join(zoo, name + ".weights.pt")
    return inputs, (["--weights", weights] if name == "noweights" else [])


def verdict(zoo, name, package, *options):
    inputs, weights = arguments(zoo, name)
    return tool("aoti-verify", "--json", *options, *weights, os.path.join(zoo, name + ".exported.pt2"), package, inputs)


def named(p):
    """The kernels that are found, in order, by what counts."""
    if p.returncode not in (0, 1, 5):
        return None
    return [f["kernel"] for r in json.loads(p.stdout)["runs"] if r["counts"] for f in r["findings"]]


def models(zoo):
    return [bare(p) for p in sorted(glob.glob(zoo + "/*.pt2")) if not p.endswith(".exported.pt2") and os.path.exists(p[:-4] + ".exported.pt2")]


def clean(zoo):
    for name in models(zoo):
        p = verdict(zoo, name, os.path.join(zoo, name + ".pt2"))
        found = named(p)
        print(name, p.returncode, *(found or []), p.stderr.strip().splitlines()[-1][:160] if p.returncode not in (0, 5) and p.stderr.strip() else "", flush=True)


def unused(clean, package, inputs, work):
    """Do all outputs stay the same? Then what differs is memory that nobody reads: a loop's result whose rows are not written yet."""
    a, b = (outputs(p, inputs, work + "/out.npz") for p in (clean, package))
    return a is not None and b is not None and len(a) == len(b) and apart(a, b) < ROUNDING


def judge(zoo, name, package, kernel, how, work, count):
    inputs, _ = arguments(zoo, name)
    size, off = truth(work + "/clean", package, inputs, kernel, work + "/wrong")
    if size == "unrunnable":
        count[size] += 1
        return
    p = verdict(zoo, name, package, "--no-more")
    found = named(p)
    said = "failed" if found is None else "named" if found[:1] == [kernel] else "blamed" if found else "open" if p.returncode == 5 else "silent"
    if said == "silent" and size == "visible" and unused(os.path.join(zoo, name + ".pt2"), package, inputs, work):
        size = "unused"
    count[size, said] += 1
    if (size, said) not in (("visible", "named"), ("invisible", "silent"), ("unused", "silent")):
        print("%s %s: %s by %.2g, %s: %s %s" % (name, how, size, off, said, kernel, found or p.stderr.strip()[-160:]), flush=True)


def mutants(zoo, out, seeds, *wanted):
    count, used = collections.Counter(), set()
    with tempfile.TemporaryDirectory() as work:
        for name in wanted or models(zoo):
            if name == "noweights" or dump(os.path.join(zoo, name + ".pt2"), arguments(zoo, name)[0], work + "/clean"):
                continue
            for seed in range(int(seeds)):
                p = subprocess.run([sys.executable, MUTATE, os.path.join(zoo, name + ".pt2"), work + "/m.pt2", str(seed)], capture_output=True, text=True)
                if p.returncode:
                    break
                kernel, kind, _, what = p.stdout.rstrip("\n").split("\t")
                judge(zoo, name, work + "/m.pt2", kernel, "seed %d, %s (%s)" % (seed, kind, what), work, count)
                used.add(name)
            for made in sorted(glob.glob("%s/%s.*.json" % (out, name))):
                with open(made) as f:
                    m = json.load(f)
                judge(zoo, name, made[: -len("json")] + "pt2", m["kernel"], "text %s (%s)" % (m["kind"], m["what"]), work, count)
                count["by text"] += 1
    visible = sum(n for k, n in count.items() if k[0] == "visible")
    blamed = sum(n for k, n in count.items() if k[0] == "invisible" and k[1] in ("named", "blamed"))
    print("counts", json.dumps({"models": len(used), "mutants": sum(n for k, n in count.items() if k != "by text"), "by_text": count["by text"], "visible": visible,
                                "named": count["visible", "named"], "rounding": sum(n for k, n in count.items() if k[0] == "rounding"),
                                "rounding_named": count["rounding", "named"], "unused": sum(n for k, n in count.items() if k[0] == "unused"), "invisible_blamed": blamed, "unrunnable": count["unrunnable"]}))


# ---- other graphs ----


def subgraphs(o):
    if isinstance(o, dict):
        if isinstance(o.get("nodes"), list):
            yield o["nodes"]
        o = list(o.values())
    for v in o if isinstance(o, list) else ():
        yield from subgraphs(v)


class Exported:
    def __init__(self, path):
        with zipfile.ZipFile(path) as z:
            self.files = {n: z.read(n) for n in z.namelist()}
        (self.model,) = (n for n in self.files if n.endswith("models/model.json"))
        self.text = self.files[self.model]

    def places(self):
        for g, nodes in enumerate(subgraphs(json.loads(self.text))):
            for n, node in enumerate(nodes):
                if node.get("target", "").removeprefix("torch.ops.aten.") in OPERATORS:
                    yield g, n

    def write(self, path, g, n):
        """With another operator at that node: (which it was, what)."""
        model = json.loads(self.text)
        node = list(subgraphs(model))[g][n]
        was = node["target"].removeprefix("torch.ops.aten.")
        node["target"] = "torch.ops.aten." + OPERATORS[was]
        with zipfile.ZipFile(path, "w") as z:
            for name, data in self.files.items():
                z.writestr(name, json.dumps(model) if name == self.model else data)
        return was.split(".")[0], "%s becomes %s" % (was, OPERATORS[was])


def outputs(model, inputs, path):
    p = tool("pt2-run", "-q", "-n", "2", "-o", path, model, inputs, timeout=60)  # what a model keeps shows in the second call
    if p.returncode:
        return None
    with np.load(path) as z:
        return [z[k] for k in z.files]


def kernels_of(folder):
    with open(folder + "/calls.jsonl") as f:
        return {call["kernel"] for call in map(json.loads, f) if call.get("kind") == "kernel"}


def judge_graph(zoo, name, graph, how, right, want, work, count):
    got = outputs(graph, arguments(zoo, name)[0], work + "/got.npz")
    off = None if got is None else np.inf if [x.shape for x in got] != [x.shape for x in want] else apart(want, got)
    size = "unrunnable" if off is None else "invisible" if off == 0 else "rounding" if off < ROUNDING else "visible"
    if size == "unrunnable":
        count[size] += 1
        return
    inputs, weights = arguments(zoo, name)
    p = tool("aoti-verify", "--json", "--no-more", *weights, graph, os.path.join(zoo, name + ".pt2"), inputs)
    runs = [] if named(p) is None else [r for r in json.loads(p.stdout)["runs"] if r["counts"]]
    found = [f for r in runs for f in r["findings"] if f["what"] != "less_exact"]
    unexplained = [o for r in runs for o in r["outputs"] if o["verdict"] == "differs" and not o["explained"]]
    kernels = [f["kernel"] for f in found] or [c["kernel"] for r in runs for o in unexplained for c in r["calls"] if c["call"] in o.get("one_of", ())]
    choice = any("or" in f or "or_from" in f for f in found[:1]) or (not found and len(set(kernels)) > 1)
    said = ("failed" if not runs else "choice" if choice else "named" if kernels[:1] and (not right or kernels[0] in right) else "blamed" if kernels
            else "differs" if unexplained else "open" if p.returncode == 5 else "silent")
    count[size, said] += 1
    count["narrowed"] += any("narrowed_from" in x for x in found + unexplained)
    if (size, said) not in (("visible", "named"), ("invisible", "silent")):
        print("%s %s: %s by %.2g, %s, status %d: %s instead of %s" % (name, how, size, off, said, p.returncode, kernels, sorted(right)), flush=True)


def graphs(zoo, most, *wanted):
    count, used = collections.Counter(), set()
    with tempfile.TemporaryDirectory() as work:
        for name in wanted or models(zoo):
            package, inputs = os.path.join(zoo, name + ".pt2"), arguments(zoo, name)[0]
            exported = Exported(os.path.join(zoo, name + ".exported.pt2"))
            want = outputs(os.path.join(zoo, name + ".exported.pt2"), inputs, work + "/want.npz")
            places = list(exported.places())
            random.Random(name).shuffle(places)
            if want is None or not places or dump(package, inputs, work + "/clean"):
                continue
            kernels = kernels_of(work + "/clean")
            used.add(name)
            for g, n in places[: int(most)]:
                op, what = exported.write(work + "/other.pt2", g, n)
                right = {k for k in kernels if re.search("_%s(_|$)" % op, k)}
                judge_graph(zoo, name, work + "/other.pt2", "graph %d, node %d, %s" % (g, n, what), right, want, work, count)
    print("counts", json.dumps({"models": len(used), "graphs": sum(n for k, n in count.items() if k != "narrowed"), "narrowed": count["narrowed"],
                                **{"%s_%s" % k: n for k, n in sorted((k, n) for k, n in count.items() if isinstance(k, tuple))}}))


if __name__ == "__main__":
    {"texts": texts, "clean": clean, "mutants": mutants, "graphs": graphs}[sys.argv[1]](*sys.argv[2:])
