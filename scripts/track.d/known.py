"""Known bugs of torch (share/known): which rows a release fixes, by the table and by the programs of tests/live/known."""
import json
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rows():
    """{number: {key: value}} of all tables; of keys that are there several times the last."""
    found = {}
    for path in sorted((ROOT / "share/known").glob("*.txt")):
        for part in re.split(r"\n\s*\n", path.read_text()):
            row = dict(l.split(": ", 1) for l in part.splitlines() if ": " in l and not l.startswith("#"))
            if "bug" in row:
                found[row["bug"]] = row
    return found


def tried(python):
    """{number: "ok" or how it failed} of the programs, in this release."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "known.json")
        subprocess.run([ROOT / "tests/live/known/run.py", "--json", path, "--python", python], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        of = json.loads(path.read_text()) if path.exists() else {}
    return {number: next(iter(outcomes.values())) for number, outcomes in of.items()}


def minor(release):
    return ".".join(release.split("+")[0].split(".")[:2])


def page(new, last=None):
    """What a page of track says of them: the table's rows of this release, and the programs that changed."""
    table, now, before = rows(), new.get("known", {}), (last or {}).get("known", {})
    say = lambda n: f"pytorch#{n}" + (f": {table[n]['what']}" if n in table else "")
    by_table = [n for n, row in table.items() if minor(row.get("fixed", "")) == minor(new["torch"])]
    gone = [n for n, outcome in now.items() if outcome == "ok" and before.get(n, "ok") != "ok"]
    back = [n for n, outcome in now.items() if outcome != "ok" and before.get(n) == "ok"]
    stale = [n for n, outcome in now.items() if outcome == "ok" and n in table and "fixed" not in table[n]]
    yield "\n## Known bugs of torch\n"
    yield from (f"- fixed by it, as the table says: {say(n)}" for n in by_table)
    yield from (f"- the program does not fail any more: {say(n)}" for n in gone)
    yield from (f"- the program fails, with {minor(last['torch'])} it did not: {say(n)}: {now[n][:120]}" for n in back)
    yield from (f"- the program does not fail, and the row has no `fixed`: {say(n)}" for n in stale if n not in gone)
    yield f"- {sum(o != 'ok' for o in now.values())} of {len(now)} programs fail with it"
