"""What watching costs, as ratios to a run alone: the last check, for it has the machine to itself."""
import concurrent.futures
import os
import re
import shutil

from harness import Limit, check

AIMS = {"hooks": 1.05, "scan": 1.5}
SANITIZER = 40  # seconds


def measured(text):
    """({model: ns}, {model: hash}) of what cost.py printed: the best of its rounds."""
    times = {}
    for model, ns in re.findall(r"^(\w+): (\d+) ns a step", text, re.M):
        times[model] = min(int(ns), times.get(model, int(ns)))
    return times, dict(re.findall(r"^(\w+): result (\w+)", text, re.M))


@check(25, "overhead: hooks, scan, --ima, beside what torch and CUDA have; results bit-equal", limit=115, exclusive=True)
def overhead(c):
    turns = c.path("turns")
    os.makedirs(turns, exist_ok=True)
    ways = {"alone": "plain", "alone again": "plain", "hooks": ("aoti-printer", "-q", "--level", "3", "--kernels", "none_of_them", "--log=/dev/null"),
            "names": ("aoti-printer", "-q", "--level", "3", "--log=/dev/null"), "scan": ("aoti-nanassert", "-q", "--log=/dev/null"),
            "ima": ("aoti-printer", "-q", "--ima", "--log=/dev/null"), "CUDA_LAUNCH_BLOCKING": "blocking", "NAN_ASSERTS": "asserts"}
    limited = []

    def one(way):
        how = ways.get(way, way)
        env = {"PT2_COST_TURNS": f"{turns}:{len(ways)}:{int(way == 'alone')}"} if way in ways else {}
        env["TORCHINDUCTOR_COMPILE_THREADS"] = {"alone": 12, "NAN_ASSERTS": 4}.get(way, 1)
        try:
            if isinstance(how, tuple):
                return c.tool(*how, "--", *c.py("cost.py", "plain"), env=env)
            return c.run(*c.py("cost.py", how), env=env)
        except Limit as e:  # what it had measured counts
            limited.append(way)
            return e.result

    # All begin at once, and measure by turns when all are warm: most of a process's time is its start. One compiles for all.
    names = (*ways, "tiny")
    with concurrent.futures.ThreadPoolExecutor(len(names)) as side_by_side:
        got = dict(zip(names, side_by_side.map(one, names)))
    tiny = measured(got.pop("tiny").out)[0].get("launches")
    times, results = {}, {}
    for way, run in got.items():
        if way not in limited:
            c.equal(f"{way}: status", run.status, 0) or c.ok("... what it said", False, run)
        times[way], results[way] = measured(run.out)
    models = list(times["alone"])
    for way in times:
        if way != "NAN_ASSERTS":  # which is other code
            c.equal(f"{way}: computes the same, bit for bit", results[way], results["alone"])
    for model in models:
        c.figure(f"{model}, alone", times["alone"][model] / 1e6, "ms a step")
        for way in times:
            if way != "alone" and model in times[way]:
                aim = f" (aim {AIMS[way]})" if way in AIMS else ""
                c.figure(f"{model}, {way}", round(times[way][model] / times["alone"][model], 3), "x" + aim)
    c.equal("models measured", models, ["launches", "gpt"])
    c.equal("all in time", limited, [])
    sanitizer = None if c.fake else shutil.which("compute-sanitizer")
    if not c.fake and not sanitizer:
        c.figure("compute-sanitizer", "not on this machine")
    if sanitizer and tiny and c.left() > 15:
        run = c.run("timeout", "-k", "1", int(min(SANITIZER, c.left() - 3)), sanitizer, "--tool", "memcheck", "--print-limit", "1", *c.py("cost.py", "tiny"))
        ns = measured(run.out)[0].get("launches")
        c.figure("8 launches, compute-sanitizer" if ns else "compute-sanitizer, given up after", round(ns / tiny, 1) if ns else round(run.seconds), "x" if ns else "s")
