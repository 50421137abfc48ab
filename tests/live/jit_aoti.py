"""jit_aoti.py NANASSERT FOLDER [NAME...] : the models of the AOTInductor tests that make a NaN or infinity at a known operator
(scripts/fixtures/planted.py, which nan.py tries as packages) as plain torch.compile, and held against the same oracle. TAP (jit_aoti.t).

Each is compiled once, in one process under the tool: with its good inputs, then with the bad ones. The kernel named must hold the
operator that made the first in eager; at least 95 % of them. (Of infinities, as in nan.py: or the NaN that the same kernel made of them.)"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "fixtures")]
# What Inductor makes of operators that the exported program has, where it calls them (zoo.py has these, too).
CALLED_AS = {"linear": "addmm|mm", "conv2d": "convolution", "matmul": "bmm|mm", "mm": "mm|addmm", "baddbmm": "baddbmm|bmm"}


def program(names):
    """For each a line of JSON: its name, the numbers of its graphs, and the operators that are to blame."""
    import copy

    import planted
    import torch
    from torch._functorch import aot_autograd

    torch.set_num_threads(1)
    for name in names or planted.PLANTED:
        torch.manual_seed(0)
        torch._dynamo.reset()
        module, bad, good = planted.PLANTED[name]()
        module.eval()
        line = {"name": name, "first": next(copy.copy(aot_autograd.AOT_COUNTER))}
        try:
            with torch.no_grad():
                exported = torch.export.export(module, bad)
                line["made"] = {kind: n.target.__name__.split(".")[0] for kind, n in planted.first_bad(exported, bad, good).items()}
                line["first"] = next(copy.copy(aot_autograd.AOT_COUNTER))
                compiled = torch.compile(module)
                compiled(*good)
                line["calls"] = "good"
                compiled(*bad)
        except Exception as e:
            line["error"] = "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:200])
        line["last"] = next(copy.copy(aot_autograd.AOT_COUNTER))
        print(json.dumps(line), flush=True)


def holds(kernel, op):
    if kernel.startswith("cpp_"):
        return bool(re.search(r"_%s(_|$)" % re.escape(op), kernel))
    called = kernel.replace("extern_kernels.", "").replace("torch.ops.", "").replace("aten.", "").split(".")[0]
    return re.fullmatch("_?(%s)(_out)?" % CALLED_AS.get(op, re.escape(op)), called) is not None


def main(nanassert, folder, *names):
    document = os.path.join(folder, "found.json")
    r = subprocess.run([nanassert, "--inf", "--all", "--json", "--log", document, "--", sys.executable, os.path.abspath(__file__), "--run", *names],
                       capture_output=True, text=True, errors="replace")
    lines = [json.loads(x) for x in r.stdout.splitlines() if x.startswith("{")]
    with open(document, encoding="utf-8") as f:
        d = json.load(f)
    graph = {m["model_id"]: int(m["path"].split("_")[0]) for m in d["models"] if re.match(r"\d+_", m["path"])}
    right = asked = bad = 0
    for x in lines:
        if "error" in x:
            bad += 1
            print("not ok - %s: %s" % (x["name"], x["error"]))
            continue
        for kind, op in x["made"].items():
            mine = [f for f in d["findings"] if x["first"] <= graph.get(f["model_id"], -1) < x["last"] and f["what"] in (kind, "nan")]
            said = mine[0]["kernel"] if mine else "nothing"
            asked += 1
            right += holds(said, op)
            print("# %-28s %-4s of %-22s %s%s" % (x["name"], kind, op, "" if holds(said, op) else "NOT: ", said))
    print("%s - %d of %d kernels named as the oracle has them" % ("ok" if asked and right >= 0.95 * asked else "not ok", right, asked), flush=True)
    if bad or not lines:
        print("#", "\n# ".join(r.stderr.splitlines()[-5:]))
    return bad > 0 or right < 0.95 * asked


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        program(sys.argv[2:])
    else:
        sys.exit(main(*sys.argv[1:]))
