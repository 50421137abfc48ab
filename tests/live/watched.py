"""watched.py PROGRAM... : each program twice, under TORCH_TRACE and inside `with pt2utils.watch()`; a line of TAP each: is the answer the same?"""
import json
import os
import subprocess
import sys
import tempfile

INSIDE = """
import json, runpy, sys
import pt2utils
sys.argv = sys.argv[1:]
w = pt2utils.watch()
try:
    with w:
        runpy.run_path(sys.argv[0], run_name="__main__")
except BaseException:
    pass
json.dump(pt2utils.run("fxexplain", w.trace + "/" + next(n for n in sorted(__import__("os").listdir(w.trace)) if n.endswith(".log"))), open(OUT, "w"))
"""
COUNTS = "compiles", "graphs", "graph_breaks", "recompiles", "failures", "restarts", "graph_ops", "guards", "damaged", "torch_version"


def answer(document):
    return ([(n, document["summary"][n]) for n in COUNTS], sorted((f["kind"], f["title"], json.dumps(f["location"]), f["count"]) for f in document["findings"]
                                                                 if f["kind"] != "compile-time"))


def run(args, **env):
    return subprocess.run([sys.executable, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **env}, timeout=600)


for n, program in enumerate(map(os.path.abspath, sys.argv[1:]), 1):
    with tempfile.TemporaryDirectory() as folder:
        trace, out = os.path.join(folder, "trace"), os.path.join(folder, "out.json")
        run([program], TORCH_TRACE=trace, TORCHINDUCTOR_CACHE_DIR=folder + "/a")
        done = subprocess.run(["fxexplain", "-q", "--json", trace], stdout=subprocess.PIPE)
        want = answer(json.loads(done.stdout)) if done.stdout else None
        run(["-c", INSIDE.replace("OUT", repr(out)), program], TORCHINDUCTOR_CACHE_DIR=folder + "/b")
        got = answer(json.load(open(out))) if os.path.exists(out) else None
        if want is None and got and got[0][0][1] == 0:  # no record at all: torch makes no log then
            want = got
    print("%sok %d - %s: %d compilations, %d findings" % ("" if got == want else "not ", n, os.path.basename(program), got[0][0][1] if got else 0, len(got[1]) if got else 0), flush=True)
    if got != want:
        print("# trace: %s\n# watch: %s" % (want, got), flush=True)
