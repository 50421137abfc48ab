"""known.py FXEXPLAIN ROOT : each text of ROOT/tests/data/known through fxexplain: a bug's own text finds it and no other; the near text does not find it.

Prints what is wrong, a line each; at the end how many texts were right."""
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def texts(path):
    """("like", "149307", text) and ("near", ...) of a file of tests/data/known."""
    kind = number = None
    lines = []
    for line in [*path.read_text().splitlines(), "end: "]:
        m = re.match(r"(like|near|end): (\d*)", line)
        if m:
            if kind:
                yield kind, number, "\n".join(lines).rstrip("\n") + "\n"
            kind, number, lines = m[1], m[2], []
        elif not line.startswith("#"):
            lines.append(line[4:])


def entries(path):
    """The keys and values of each entry of a file of share/known."""
    for part in re.split(r"\n\s*\n", path.read_text()):
        rows = [l.split(": ", 1) for l in part.splitlines() if l and not l.startswith("#")]
        if rows:
            yield rows


def found(tool, text):
    p = subprocess.run([tool, "--json", "-"], input=text, capture_output=True, text=True)
    doc = json.loads(p.stdout)
    return [b["url"].rsplit("/", 1)[1] for f in doc["findings"] for b in f["known_bugs"]], doc


def form(root):
    """What is wrong with the form of the tables."""
    seen = {}
    single = {"bug", "first", "last", "fixed", "what", "until"}
    for path in sorted((root / "share/known").iterdir()):
        have = [(k, n) for k, n, _ in texts(root / "tests/data/known" / path.name)]
        for rows in entries(path):
            keys = [k for k, *_ in rows]
            number = dict((r[0], r[-1]) for r in rows).get("bug", "?")
            where = f"{path.name}: {number}"
            if seen.setdefault(number, path.name) != path.name or sum(n == number and k == "like" for k, n in have) != 1:
                yield f"{where}: is there twice, or has not one text that is like it"
            if ("near", number) not in have:
                yield f"{where}: has no near text"
            if keys[0] != "bug" or not re.fullmatch(r"\d{5,6}", number):
                yield f"{where}: does not begin with a number"
            if any(len(r) != 2 or not r[1].strip() for r in rows) or set(keys) - single - {"match", "not"} or any(keys.count(k) > 1 for k in single):
                yield f"{where}: a key that is unknown, empty or there twice"
            if "what" not in keys or "match" not in keys or any(keys.count(k) > 6 for k in ("match", "not")):
                yield f"{where}: has no `what`, no `match`, or more than six of them"
            v = dict(r for r in rows if len(r) == 2)
            order = [tuple(map(int, v[k].split("."))) for k in ("first", "last", "fixed") if re.fullmatch(r"2\.\d+(\.\d+)?", v.get(k, ""))]
            if len(order) != sum(k in v for k in ("first", "last", "fixed")) or order != sorted(order):
                yield f"{where}: a release is not one, or they are not in order"
            if not v.get("what", ".").endswith(".") or v.get("until", "").endswith("."):
                yield f"{where}: `what` is a sentence with its full stop, `until` has none"


def main():
    tool, root = sys.argv[1], Path(sys.argv[2])
    wrong = list(form(root))
    rows = [row for path in sorted((root / "tests/data/known").iterdir()) for row in texts(path)]

    def check(row):
        kind, number, text = row
        bugs, _ = found(tool, text)
        if kind == "like":
            return None if bugs == [number] else f"{number}: its own text finds {bugs}"
        return f"{number}: is found in its near text" if number in bugs else None

    with ThreadPoolExecutor(4) as pool:
        wrong += [w for w in pool.map(check, rows) if w]
    print("\n".join(wrong + [f"{len(rows) - len(wrong)} right"]))


if __name__ == "__main__":
    main()
