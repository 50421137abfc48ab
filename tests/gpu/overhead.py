"""What watching a model on a GPU costs: overhead.py OUT.json [--repeat N] [--sanitizer] -- COMMAND [ARG...]

COMMAND runs a model many times and prints "N ns per call". It runs alone and under the tools, by turns, so that a machine that gets slower
meets all alike; the best of N (5) counts, as ratios to alone. Ends with 1 when a run failed. Aims (not a condition): hooks 1.05, scan 1.5.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys

AIMS = {"hooks": 1.05, "scan": 1.5}
WAYS = {
    "alone": [],
    "hooks": ["aoti-printer", "-q", "--level", "3", "--kernels", "none_of_them", "--log=/dev/null", "--"],
    "names": ["aoti-printer", "-q", "--level", "3", "--log=/dev/null", "--"],
    "scan": ["aoti-nanassert", "-q", "--"],
    "ima": ["aoti-printer", "-q", "--ima", "--log=/dev/null", "--"],
    "compute-sanitizer": ["compute-sanitizer", "--tool", "memcheck", "--print-limit", "1"],
}


def nanoseconds(way, command):
    child = subprocess.run(WAYS[way] + command, capture_output=True, text=True, timeout=900)
    found = re.search(r"^(\d+) ns per call", child.stdout, re.M)
    if not found or child.returncode not in (0, 1):
        raise RuntimeError(f"{way}: status {child.returncode}: {(child.stderr or child.stdout)[-300:]}")
    return int(found[1])


def main():
    split = sys.argv.index("--")
    options = argparse.ArgumentParser()
    options.add_argument("out")
    options.add_argument("--repeat", type=int, default=5)
    options.add_argument("--sanitizer", action="store_true")
    o, command = options.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    ways = [w for w in WAYS if w != "compute-sanitizer"]
    best, failures = {}, {}
    for _ in range(o.repeat):
        for way in ways:
            try:
                best[way] = min(best.get(way, 1 << 62), nanoseconds(way, command))
            except (RuntimeError, subprocess.TimeoutExpired, OSError) as e:
                failures[way] = str(e)
    if o.sanitizer and shutil.which("compute-sanitizer"):
        try:
            best["compute-sanitizer"] = nanoseconds("compute-sanitizer", command)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            failures["compute-sanitizer"] = str(e)
    base = best.get("alone")
    rows = {w: {"ns": n, "ratio": round(n / base, 3) if base else None, "aim": AIMS.get(w)} for w, n in best.items()}
    with open(o.out, "w") as f:
        json.dump({"ways": rows, "failures": failures, "command": [a.rsplit("/", 1)[-1] for a in command]}, f, indent=1)
    for way, row in rows.items():
        print(f"{way:18} {row['ns'] / 1000:10.1f} us {row['ratio'] or 0:8.2f}x" + (f"   (aim: {row['aim']}x)" if row["aim"] else ""))
    for why in failures.values():
        print(why)
    sys.exit(bool(failures))


main()
