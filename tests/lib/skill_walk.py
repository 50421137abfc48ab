"""Follows share/skills/pt2utils to the letter, for an input of tests/field: `skill_walk.py BUILD [--live] [all|NAME...]`, else twenty by a fixed rule. As TAP lines.

What a walk does: the row of step 1 for a text; its command; the first row of step 2 of whose words a line of the answer begins; the commands of that section for which
there is what they need (the others are handed on); of the last answer the parts that the section's Report names. The report, not the answer, is what is judged, by
the truth of tests/field. A command whose status the skill does not have, a row that leads nowhere and a report without its parts end a walk. --live: only inputs whose
program is there (tests/field/programs), and the section's commands on app.py are run with it, by PT2_PYTHON; their statuses are judged as well.
"""
import glob, os, re, shlex, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SKILL = os.path.join(HERE, "../../share/skills/pt2utils")
sys.path.insert(0, os.path.join(HERE, "../field"))
import score


class Lost(Exception):
    pass


def read(path):
    with open(os.path.join(SKILL, path)) as f:
        return f.read()


def table(text, heading):
    """Rows of the table under a heading, as lists of cells."""
    part = re.search(rf"^## {re.escape(heading)}.*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    rows = [[c.strip() for c in line.strip("|\n").split("|")] for line in part.splitlines() if line.startswith("|")]
    return rows[2:]


def section(path, anchor):
    for m in re.finditer(r"^## (.*?)\n(.*?)(?=^## |\Z)", read(path), re.M | re.S):
        if m[1].strip().lower().replace(" ", "-") == anchor:
            return m[2]
    raise Lost(f"{path} has no section {anchor}")


def code(cell):
    return re.findall(r"`([^`]*)`", cell)


def run(command, file, cwd, program=None):
    words = {"FILE": file, "app.py": program, "python": os.environ.get("PT2_PYTHON", "python3")}
    line = " ".join(shlex.quote(words[w]) if words.get(w) else w for w in command.split())
    p = subprocess.run(["bash", "-c", line], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}, timeout=500)
    return (p.stdout + p.stderr).decode(errors="replace"), p.returncode


def verdict(answer):
    for words, _, to in table(read("SKILL.md"), "Step 2"):
        pattern = "^" + ".*".join(map(re.escape, code(words)[0].split("...")))
        m = re.search(pattern + ".*", answer, re.M)
        if m:
            return code(words)[0], m[0], re.search(r"\(([^)#]*)#([^)]*)\)", to).groups()
    raise Lost("no row of step 2 fits")


def parts(answer, labels):
    """The lines of those labels, with the lines that go on under them."""
    out, on = [], False
    for line in answer.splitlines():
        m = re.match(r"(?:  )?([a-z]+(?: [a-z]+)?)(?:  | (?=\S))", line)
        label = next((k for k in labels if line.startswith(k + " ") or line.startswith("  " + k + " ")), None)
        if label or (m and not line.startswith("   ")) or not line.strip():
            on = label is not None
        if on:
            out.append(line)
    return "\n".join(out)


def walk(file, cwd, program=None):
    """The report, and the commands that were handed on."""
    first = next(code(row[1])[0] for row in table(read("SKILL.md"), "Step 1") if "an error" in row[0])
    answer, status = run(first, file, cwd)
    if status not in (0, 1, 5):
        raise Lost(f"{first}: status {status}")
    words, head, (path, anchor) = verdict(answer)
    text, handed = section(path, anchor), []
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.splitlines():
            command, _, about = (x.strip() for x in line.partition("#"))
            statuses = about.partition(";")[0].split()
            lacks = re.search(r"\S\.(pt2|npy)\b|\btraces\b|\bpt2 top\b", command) or ("app.py" in command and not program)
            if lacks or not ("FILE" in command or "app.py" in command):
                handed.append(command)
                continue
            got, status = run(command, file, cwd, program)
            if "any" not in statuses and str(status) not in statuses:
                raise Lost(f"{command}: status {status}, not {statuses}")
            if "FILE" in command:
                answer = got
            else:
                handed.append(command)
    report = re.search(r"^\*\*Report\*\*: (.*?)\n\n", text + "\n\n", re.M | re.S)[1]
    got = parts(answer, code(report)) if code(report) else answer
    if not got.strip():
        raise Lost(f"{path}#{anchor}: nothing to report")
    return words, f"{path}#{anchor}", head + "\n" + got, handed


def program_of(row):
    path = os.path.join(HERE, "../field/programs", row["name"] + ".py")
    return os.path.abspath(path) if os.path.exists(path) else None


def one(row, live):
    with tempfile.TemporaryDirectory() as cwd:
        (source,) = glob.glob(os.path.join(HERE, "../field", row["name"], "input.*"))
        file = os.path.join(cwd, "failure.txt")
        with open(file, "wb") as f:
            f.write(subprocess.run(["xz", "-dc", source], capture_output=True, check=True).stdout if source.endswith(".xz") else open(source, "rb").read())
        try:
            words, where, report, handed = walk(file, cwd, program_of(row) if live else None)
        except Lost as e:
            return "lost", str(e), ""
    judged = score.judge(row, report)
    asked = row["next"] == "-" or score.said(row["next"], " ".join((report + " " + " ".join(handed)).split()))
    return judged + ("" if asked else ", no next step"), f"{words} -> {where}", report


def main():
    os.environ["PATH"] = os.path.join(os.path.abspath(sys.argv[1]), "bin") + ":" + os.environ["PATH"]
    live = "--live" in sys.argv
    rows, names = score.rows(), [a for a in sys.argv[2:] if a != "--live"]
    shown = "".join(read(os.path.relpath(p, SKILL)) for p in glob.glob(SKILL + "/**/*.md", recursive=True))
    chosen = rows if names == ["all"] else [r for r in rows if r["name"] in names] if names else rows[4::9][:20]
    chosen = [r for r in chosen if not live or program_of(r)]
    right = 0
    for row in chosen:
        verdict_, way, report = one(row, live)
        known = [line for line in report.splitlines() if len(line.strip()) > 40 and line.strip() in shown]
        good = verdict_.startswith("right") and not known
        right += good
        print(f"{'ok' if good else 'not ok'} 1 - the skill on {row['name']} ({way}): {verdict_}", flush=True)
        if not good:
            print("\n".join("# " + x[:300] for x in report.splitlines()[:30] + known))
    print(f"# {right} of {len(chosen)} walks end right")


main()
