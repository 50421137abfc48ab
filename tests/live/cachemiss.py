"""Planted causes of cache misses: each is one change of a program, its environment, its settings, its release or its cache folder.

    cachemiss.py TLPARSE FXEXPLAIN FOLDER [OTHER_PYTHON] [--only NAME,...]

The program is run twice as it is (the second run is served from the cache), then once with each change and a fresh copy of the cache. A change
is named rightly when what is expected is told by `tlparse --diff` of the served run and the changed one, and by `fxexplain cache` of the folder
as it was and the changed run's trace. A line each; the last one says how many. Ends with 1 where fewer than 28 are.
"""
import json
import os
import shutil
import subprocess
import sys

BASE = '''
import torch
import torch._inductor.config as ic
import torch._functorch.config as fc
#SETTINGS

def f(x, w):
    #BODY
    return torch.relu(x @ w).sum(0) * 2.5

torch.manual_seed(0)
x = torch.randn(8, 16)
w = torch.randn(16, 4)
#INPUTS
g = torch.compile(f)
g(x, w)
'''
PASS = '''from torch._inductor.custom_graph_pass import CustomGraphPass
class P(CustomGraphPass):
    def __call__(self, graph): pass
    def uuid(self): return b"my pass 1"
ic.post_grad_custom_post_pass = P()'''
KEY, DIR = "key", "dir"


def settings(text):
    return lambda s: s.replace("#SETTINGS", text)


def inputs(text):
    return lambda s: s.replace("#INPUTS", text)


def instead(old, new):
    return lambda s: s.replace(old, new)


def entries(cache, kind):
    return sorted(os.path.join(d, n) for d, _, names in os.walk(os.path.join(cache, kind)) for n in names)


def cut(kind):
    def do(cache):
        for path in entries(cache, kind):
            os.truncate(path, os.path.getsize(path) // 2)
    return do


def emptied(cache):
    for path in entries(cache, "fxgraph"):
        os.truncate(path, 0)


def garbage(cache):
    for path in entries(cache, "fxgraph"):
        with open(path, "r+b") as f:
            f.write(b"\x80\x05" + b"\xff" * 64)


def removed(kind):
    return lambda cache: shutil.rmtree(os.path.join(cache, kind))


# name, {"env", "source", "cache", "python"}, what tlparse --diff says (kind of row: text of subject or value), what fxexplain cache says
INDUCTOR = "inductor_config[%s]"
CHANGES = [
    ("max-autotune", {"env": {"TORCHINDUCTOR_MAX_AUTOTUNE": "1"}}, INDUCTOR % "max_autotune", None),
    ("coordinate-descent", {"env": {"TORCHINDUCTOR_COORDINATE_DESCENT_TUNING": "1"}}, INDUCTOR % "coordinate_descent_tuning", None),
    ("freezing", {"env": {"TORCHINDUCTOR_FREEZING": "1"}}, INDUCTOR % "freezing", None),
    ("cpp-wrapper", {"env": {"TORCHINDUCTOR_CPP_WRAPPER": "1"}}, INDUCTOR % "cpp_wrapper", None),
    ("threads", {"env": {"OMP_NUM_THREADS": "1"}}, "cpp_runtime_thread_count", None),
    ("nan-asserts", {"env": {"TORCHINDUCTOR_NAN_ASSERTS": "1"}}, INDUCTOR % "nan_asserts", None),
    ("layout", {"env": {"TORCHINDUCTOR_LAYOUT_OPTIMIZATION": "0"}}, INDUCTOR % "layout_optimization", None),
    ("size-asserts", {"env": {"TORCHINDUCTOR_SIZE_ASSERTS": "0"}}, INDUCTOR % "size_asserts", None),
    ("cache-off", {"env": {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}}, "inductor.fx_graph_cache", False),
    ("caches-off", {"env": {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}}, "force_disable_caches", False),
    ("epilogue", {"source": settings("ic.epilogue_fusion = False")}, INDUCTOR % "epilogue_fusion", None),
    ("simdlen", {"source": settings("ic.cpp.simdlen = 0")}, INDUCTOR % "cpp.simdlen", None),
    ("random", {"source": settings("ic.fallback_random = True")}, INDUCTOR % "fallback_random", None),
    ("fusion-size", {"source": instead("torch.compile(f)", "torch.compile(f, options={'max_fusion_size': 8})")},
     INDUCTOR % "max_fusion_size", None),
    ("mode", {"source": instead("torch.compile(f)", "torch.compile(f, mode='reduce-overhead')")}, INDUCTOR % "triton.cudagraphs", None),
    ("budget", {"source": settings("fc.activation_memory_budget = 0.5")}, "functorch.activation_memory_budget", "config"),
    ("bundled", {"source": settings("fc.bundled_autograd_cache = True")}, "functorch.bundled_autograd_cache", "no entry has this key"),
    ("default-dtype", {"source": settings("torch.set_default_dtype(torch.float64)"), }, "default_dtype", None),
    ("deterministic", {"source": settings("torch.use_deterministic_algorithms(True)")}, "deterministic_algorithms_settings", None),
    ("matmul", {"source": settings("torch.set_float32_matmul_precision('high')")}, "cuda_matmul_settings", None),
    ("tag", {"source": settings("torch.compiler.config.cache_key_tag = 'mine'")}, "cache_key_tag", None),
    ("pass", {"source": settings(PASS)}, "post_grad_custom_post_pass", None),
    ("pass-without-uuid", {"source": settings("ic.post_grad_custom_post_pass = lambda graph: None")}, "bypass", "bypass"),
    ("shape", {"source": instead("(8, 16)", "(9, 16)")}, "example_inputs[0]", None),
    ("dtype", {"source": inputs("x, w = x.double(), w.double()")}, "example_inputs[0]", None),
    ("stride", {"source": inputs("x = torch.randn(16, 8).t()")}, "example_inputs[0]", None),
    ("grad", {"source": inputs("w.requires_grad_()")}, "fx_kwargs[is_inference]", None),
    ("dynamic", {"source": instead("torch.compile(f)", "torch.compile(f, dynamic=True)")}, "example_inputs[0]", None),
    ("constant", {"source": instead("2.5", "2.75")}, "gm", None),
    ("operator", {"source": instead("torch.relu", "torch.tanh")}, "gm", None),
    ("one-more", {"source": instead("#BODY", "x = x.cos()")}, "gm", None),
    ("cut-graph", {"cache": cut("fxgraph")}, "entry", "half-written"),
    ("cut-aot", {"cache": cut("aotautograd")}, "entry", "half-written"),
    ("empty-graph", {"cache": emptied}, "entry", "empty"),
    ("garbage", {"cache": garbage}, "entry", "damaged"),
    ("no-graphs", {"cache": removed("fxgraph")}, "entry", "which is not there"),
    ("no-cache", {"cache": lambda cache: [removed(k)(cache) for k in ("fxgraph", "aotautograd")]}, "entry", "no entry has this key"),
    ("release", {"python": True}, "torch_version", None),
]


def run(python, source, folder, cache, env):
    os.makedirs(folder)
    program = os.path.join(os.path.dirname(folder), "program.py")
    with open(program, "w") as f:
        f.write(source)
    full = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "OMP_"))}
    full.update({"TORCH_TRACE": folder, "TORCHINDUCTOR_CACHE_DIR": cache, "OMP_NUM_THREADS": "2",
                 "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0"})
    full.update(env)
    return subprocess.run([python, program], env=full, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def document(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        return json.loads(p.stdout)
    except ValueError:
        return {"error": p.stderr[-500:]}


def told_by_diff(doc):
    rows = []
    for log in doc.get("logs", []):
        for kind in ("cache_keys", "config", "versions", "cache"):
            rows += [(kind, r["subject"] or "", r["before"], r["after"]) for r in log[kind]]
    return rows


def told_by_cache(doc):
    rows = []
    for r in doc.get("asked", []):
        rows.append((r["verdict"], r["cache"], r["why"] or "", None))
        rows += [("component", c["name"], c["before"], c["after"]) for c in r["components"]]
    rows += [("broken", b["kind"], b["state"], b["why"]) for f in doc.get("folders", []) for b in f["broken"]]
    return rows


def has(rows, text):
    return any(text in (x or "") for r in rows for x in r)


def main():
    tlparse, fxexplain, top = sys.argv[1:4]
    rest = sys.argv[4:]
    only = None
    if "--only" in rest:
        only = rest[rest.index("--only") + 1].split(",")
        rest = rest[:rest.index("--only")]
    other = rest[0] if rest else None
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    cache = os.path.join(top, "cache")
    for name in ("cold", "warm"):
        p = run(sys.executable, BASE, os.path.join(top, name), cache, {})
        if p.returncode:
            sys.exit("the program itself fails: " + p.stderr[-500:])
    right = tried = 0
    for name, change, by_diff, by_cache in CHANGES:
        if (only and name not in only) or ("python" in change and not other):
            continue
        own = os.path.join(top, "cache-" + name)
        shutil.copytree(cache, own)
        if "cache" in change:
            change["cache"](own)
        before = os.path.join(top, "before-" + name)
        shutil.copytree(own, before)
        trace = os.path.join(top, "trace-" + name)
        run(other if "python" in change else sys.executable, change.get("source", lambda s: s)(BASE), trace, own, change.get("env", {}))
        diff = told_by_diff(document(tlparse, "--diff", os.path.join(top, "warm"), trace, "--json", "-q"))
        seen = told_by_cache(document(fxexplain, "cache", before, "--trace", trace, "--json", "-q"))
        good = has(diff, by_diff) and (by_cache is False or has(seen, by_cache or by_diff))
        tried += 1
        right += good
        print("%s %s: %s" % ("named" if good else "MISSED", name, by_diff), flush=True)
        if not good:
            for r in diff + [("--", "fxexplain cache", "", "")] + seen:
                print("#   " + " | ".join((str(x) if x is not None else "-")[:120].replace("\n", " ") for x in r), flush=True)
        for folder in (own, before):
            shutil.rmtree(folder, ignore_errors=True)
    print("%d of %d named rightly" % (right, tried))
    sys.exit(0 if right >= (28 if not only else tried) else 1)


main()
