"""What fxexplain says of runs, against tests/live/causes.tsv, as TAP: `causes.py RUNS TSV [PROGRAM...]`. RUNS/NAME/ holds trace/, stderr and status, as
tests/live/record_programs.py leaves them. The last line is the score: how many lines of the table are named rightly,
and how many of those that were written blind. What is found of a program beside its lines, and is no note, is noise: none is to be there."""
import json, os, re, subprocess, sys


def rows(path):
    """And whether the line is of the blind ones, which stand behind "# blind"."""
    blind = False
    with open(path) as f:
        for line in f:
            blind = blind or line.startswith("# blind")
            if line.strip() and not line.startswith("#"):
                program, number, *rest = line.split()
                yield program, number, [None if c == "-" else c.replace("~", " ") for c in rest], blind


def explain(folder):
    inputs = [folder + "/trace"] if os.listdir(folder + "/trace") else []
    if os.path.getsize(folder + "/stderr"):
        inputs.append(folder + "/stderr")
    out = subprocess.run(["fxexplain", "-q", "--json", *inputs], capture_output=True, text=True)
    return json.loads(out.stdout or '{"verdict": null, "findings": []}')


def words(f):
    """A text of each: what it is, what to do, what the log says."""
    parts = [f["id"], f["title"], f["why"], f["cost"]], [*f["fix"], *f.get("hints", []), *f.get("torch_hints", []), *f["next"]], f["evidence"]
    return [" ".join(w for w in p if w) for p in parts]


def stands_at(f, program, number):
    at = f["location"]
    return number == "-" or (at and os.path.basename(at["file"] or "") == program + ".py" and at["line"] == int(number))


def wrong(doc, program, number, verdict, cause, fix, never, n):
    """Why the line of the table does not hold; None: it does."""
    said = doc["verdict"] and (doc["verdict"]["component"] or ("unknown" if doc["verdict"]["title"] and doc["verdict"]["next"] else None))
    if verdict != said:
        return f"the verdict is {said}"
    # What torch itself proposes is not ours.
    whole = [" ".join(words({**f, "torch_hints": []})[:2]) for f in doc["findings"] if f["level"] != "note" or cause]
    title = doc["verdict"]["title"] if doc["verdict"] else ""
    for text in [title, *whole] if never else []:
        if re.search(never, text):
            return f"says '{re.search(never, text)[0]}': {text[:200]}"
    grave = sum(f["level"] != "note" for f in doc["findings"])
    if n is not None and grave != int(n):
        return f"{grave} findings: " + "; ".join(f["title"] for f in doc["findings"])[:300]
    if not cause:
        return None
    there = [f for f in doc["findings"] if stands_at(f, program, number)]
    named = [f for f in there if re.search(cause, words(f)[0] + " " + words(f)[2])]
    if not named:
        return "there: " + ("; ".join(words(f)[0] + " " + words(f)[2] for f in there) or "; ".join(f"{f['location'] and f['location']['line']}: {f['title']}" for f in doc["findings"]))[:300]
    if fix and not re.search(fix, words(named[0])[1]):
        return f"fix: {words(named[0])[1][:300]}"
    return None


def noise(doc, program, table):
    """Findings that are no notes and that no line of the table is about (a line is about one), and warnings with nothing to do about them."""
    named = set()
    for number, rest in table:
        for i, f in enumerate(doc["findings"]) if rest[1] else ():
            if i not in named and stands_at(f, program, number) and re.search(rest[1], words(f)[0] + " " + words(f)[2]):
                named.add(i)
                break
    for i, f in enumerate(doc["findings"]):
        to_do = words(f)[1]
        if f["level"] != "note" and i not in named:
            yield f"noise: {f['level']} {f['id']}: {f['title'][:200]}"
        elif f["level"] == "warning" and not (to_do or f["url"] or f["why"]):
            yield f"nothing to do about it: {f['id']}: {f['title'][:200]}"


def main():
    runs, table, only = sys.argv[1], sys.argv[2], sys.argv[3:]
    good = total = unseen = unseen_good = 0
    docs, lines = {}, {}
    for program, number, rest, blind in rows(table):
        lines.setdefault(program, []).append((number, rest))
        if rest[5:] == ["beside"]:
            continue
        if (only and program not in only) or not os.path.isdir(f"{runs}/{program}"):
            continue
        if program not in docs:
            docs[program] = explain(f"{runs}/{program}")
        gap = rest[5:] == ["gap"]
        why = wrong(docs[program], program, number, *rest[:5])
        total += 1
        good += not why
        unseen += blind
        unseen_good += blind and not why
        print(f"{'not ok' if why else 'ok'} {total} - {program}:{number} {rest[1] or ''}{' # TODO' if gap else ''}")
        if why:
            print(f"#   {why}")
    loud = 0
    for program, doc in docs.items():
        for what in () if any(rest[5:] == ["gap"] for _, rest in lines[program]) else noise(doc, program, lines[program]):
            loud += 1
            print(f"#   {program}: {what}")
    print(f"{'not ok' if loud else 'ok'} {total + 1} - no finding that nobody asked for in {len(docs)} programs")
    print(f"# {good} of {total} named rightly, {unseen_good} of {unseen} blind ones")


if __name__ == "__main__":
    main()
