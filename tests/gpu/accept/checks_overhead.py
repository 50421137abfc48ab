"""What watching costs, as ratios to a run alone: the last check, for it has the machine to itself."""
import concurrent.futures
import os
import re
import shutil

from harness import check

AIMS = {"hooks": 1.05, "scan": 1.5}
SANITIZER = 70  # seconds


def measured(text):
    """({model: ns}, {model: hash}) of what cost.py printed."""
    return {m: int(n) for m, n in re.findall(r"^(\w+): (\d+) ns a step", text, re.M)}, dict(re.findall(r"^(\w+): result (\w+)", text, re.M))


@check(25, "overhead: hooks, scan, --ima, beside what torch and CUDA have; results bit-equal", limit=150, exclusive=True)
def overhead(c):
    if c.left() < 0:  # never: named for the plain runs, which fill the caches for those below
        c.program("cost.py", "plain")
        c.program("cost.py", "asserts")
    turns = c.path("turns")
    os.makedirs(turns, exist_ok=True)
    ways = {"alone": None, "hooks": ("aoti-printer", "-q", "--level", "3", "--kernels", "none_of_them", "--log=/dev/null"),
            "names": ("aoti-printer", "-q", "--level", "3", "--log=/dev/null"), "scan": ("aoti-nanassert", "-q", "--log=/dev/null"),
            "ima": ("aoti-printer", "-q", "--ima", "--log=/dev/null"), "CUDA_LAUNCH_BLOCKING": "blocking", "NAN_ASSERTS": "asserts"}
    env = {"PT2_COST_TURNS": f"{turns}:{len(ways)}"}

    def one(way):
        how = ways[way]
        if isinstance(how, tuple):
            return c.tool(*how, "--", *c.py("cost.py", "plain"), env=env)
        return c.run(*c.py("cost.py", how or "plain"), env=env)

    # All begin at once, and measure by turns when all are warm: most of a process's time is its start.
    with concurrent.futures.ThreadPoolExecutor(len(ways)) as side_by_side:
        got = dict(zip(ways, side_by_side.map(one, ways)))
    times, results = {}, {}
    for way, run in got.items():
        if c.equal(f"{way}: status", run.status, 0) or run.out:
            times[way], results[way] = measured(run.out)
    models = list(times.get("alone", ()))
    c.equal("models measured", models, ["launches", "gpt"])
    for way in times:
        if way != "NAN_ASSERTS":  # which is other code
            c.equal(f"{way}: computes the same, bit for bit", results[way], results["alone"])
    sanitizer = None if c.fake else shutil.which("compute-sanitizer")
    if sanitizer and c.left() > 20:
        # A line is printed as soon as it is known: it may not come to the end.
        run = c.run("timeout", "-k", "1", int(min(SANITIZER, c.left() - 8)), sanitizer, "--tool", "memcheck", "--print-limit", "1", *c.py("cost.py", "few"))
        times["compute-sanitizer"], found = measured(run.out)
        for model in found:
            c.equal(f"compute-sanitizer: {model}: the same", found[model], results["alone"].get(model))
        if len(times["compute-sanitizer"]) < len(models):
            c.figure("compute-sanitizer, given up after", run.seconds, "s")
    for model in models:
        c.figure(f"{model}, alone", times["alone"][model] / 1e6, "ms a step")
        for way in times:
            if way != "alone" and model in times[way]:
                aim = f" (aim {AIMS[way]})" if way in AIMS else ""
                c.figure(f"{model}, {way}", round(times[way][model] / times["alone"][model], 3), "x" + aim)
