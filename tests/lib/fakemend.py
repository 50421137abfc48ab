"""A Python without torch for `fxexplain mend` (tests/cli/mend.t): it plays share/mend/server.py. Runs are recorded logs; a text that holds "GOOD" has none of
the breaks, "FAST" half of the time, "WORSE" less operations in graphs, "WRONG" other results, "LATE" other results with aot_eager only.
"""
import json, os, shutil, sys

DATA = os.environ["DATA"]
start = json.loads(sys.stdin.readline())
runs = 0


def say(**m):
    print(json.dumps(m), flush=True)


def run(r):
    global runs
    runs += 1
    d = os.path.join(start["folder"], "try-%d" % runs, "trace")
    os.makedirs(d)
    text = "".join(r.get("texts", {}).values())
    good = "GOOD" in text
    if r["op"] == "run":
        shutil.copy(os.path.join(DATA, "simple.log" if good else "graph_breaks.log"), os.path.join(d, "dedicated_log_torch_trace_1.log"))
    differs = "parameters differ at step 2" if "WRONG" in text or "LATE" in text and r.get("backend") == "aot_eager" else ""
    if os.environ.get("FAKE_WRONG") and r.get("backend") == "as-is" and "RIGHT" not in text:
        differs = "result of call 1 differs"
    end = os.environ.get("FAKE_CRASH") if r["op"] == "run" and "GOOD" not in text else ""  # how only the compiled program ends
    if end:
        differs = "ends differently: %s, eager exit 0" % end
    if "HANG" in text:
        import time
        time.sleep(1000)
    if "DIE" in text:
        os._exit(3)
    return dict(status=end or "exit 0", counts=dict(calls=4 if good else 9, ops=10 if "WORSE" in text else 100, outer=2, graphs=3, steps=2), seconds=0.01, cpu=0.01,
                clock=dict(compile=1.0, step=0.0004) if "FAST" in text else dict(compile=2.0, step=0.001), trace=d, stderr="", differs=differs, error="Traceback (most recent call last):\n  File \"app.py\", line 1\nTypeError: only 0-dimensional \x1b[31m\n" if end and "raised" in end else "", tail="", volatile=["seconds"], runs=runs, sites=1)


if os.environ.get("FAKE_HELLO"):
    say(re="hello", error=os.environ["FAKE_HELLO"])
    sys.exit(0)
print("a line of the program's own")
say(re="hello", python="3.11", torch="2.13.0", cuda=False, prefix="/", main=start["main"], read_only=[], seconds=0.1)
for line in sys.stdin:
    r = json.loads(line)
    if r["op"] in ("run", "eager"):
        say(re=r["op"], id=0, **run(r))
    elif r["op"] == "candidates":
        base = open(start["main"]).read()
        print(r["finding"], file=open("asked", "w"))
        say(re="candidates", id=0, runs=runs, why="how often this loop runs \x1b[31m", candidates=[dict(kind="operator", title="%s \x1b[31m" % w, price="its price" if w == "GOOD" else "", region=False,
                                                              texts={start["main"]: base + "# " + w + "\n"}) for w in os.environ["FAKE_WORDS"].split()])
    elif r["op"] == "without":
        say(re="without", id=0, texts=None)
