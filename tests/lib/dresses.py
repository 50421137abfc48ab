"""Recorded failures in the dresses that people paste them in, as TAP: `dresses.py RUNS NAME...` takes RUNS/NAME/stderr of each and tests that fxexplain answers the
same for it in every dress: title, component and the user's line. A test is a dress; the last line is the score. `dresses.py --write TEXT DRESS` prints one.

What a dress leaves out (the frames of a bare message, the head of a cut one) is not asked for: a line counts where the dressed text has it."""
import json, os, re, subprocess, sys, tempfile

TITLE = "Traceback (most recent call last):"
FRAME = re.compile(r'^  File "(.*)", line (\d+), in (.*)$')
CHAIN = ("The above exception was the direct cause", "During handling of the above exception")
TYPE = re.compile(r"^([A-Za-z_][\w.]*)(:|$)")


def tracebacks(lines):
    """The text in pieces: ("text", lines) and ("tb", frames, message lines), frames being (file, line, function, code lines)."""
    out, i = [], 0
    while i < len(lines):
        if lines[i] != TITLE:
            if not out or out[-1][0] != "text":
                out.append(("text", []))
            out[-1][1].append(lines[i])
            i += 1
            continue
        i += 1
        frames = []
        while i < len(lines) and lines[i].startswith("  "):
            m = FRAME.match(lines[i])
            if m:
                frames.append((m[1], int(m[2]), m[3], []))
            elif frames:
                frames[-1][3].append(lines[i])
            i += 1
        message = []
        while i < len(lines) and lines[i] != TITLE and not lines[i].startswith(CHAIN):
            message.append(lines[i])
            i += 1
        while message and not message[-1]:
            message.pop()
        out.append(("tb", frames, message))
    return out


# ---- a text before each line ----
def each(prefix, bare=None):
    """prefix: of line i; bare: of a blank one, where that differs."""
    return lambda lines: [((bare or prefix)(i) if not s else prefix(i) + s) for i, s in enumerate(lines)]


def first_line(lines):
    return [f"2026-03-0{1 + i % 9} 09:14:{i % 60:02},{i % 1000:03} - root - ERROR - {s}" if s == TITLE else s for i, s in enumerate(lines)]


# ---- another layout ----
def pytest(lines):
    out = ["=================================== FAILURES ===================================", "__________________________________ test_model __________________________________", ""]
    captured = []
    for kind, *rest in tracebacks(lines):
        if kind == "text":
            (out if any(s.startswith(CHAIN) for s in rest[0]) else captured).extend(rest[0])
            continue
        frames, message = rest
        for k, (file, line, func, code) in enumerate(frames):
            out += [f"    def {func}(*args, **kwargs):".replace("<module>", "test_model")] + [f"        x = {j}" for j in range(2)]
            out += [">       " + code[0].strip()] if code else []
            if k + 1 < len(frames):
                out += ["", f"{file}:{line}: " if k == 0 else f"{file}:{line}: in {func}", "_ " * 40]
        out += [("E   " + s).rstrip() for s in message]
        if frames:
            name = TYPE.match(message[0]) if message else None
            out += ["", f"{frames[-1][0]}:{frames[-1][1]}: {name[1].rsplit('.', 1)[-1] if name else 'Exception'}"]
        out += [""]
    return out + ["----------------------------- Captured stderr call -----------------------------", *captured, "=========================== short test summary info ============================", "FAILED test_model.py::test_model", "1 failed in 3.21s"]


def notebook(frame, colour=False):
    def dress(lines):
        out = []
        for kind, *rest in tracebacks(lines):
            if kind == "text":
                out += rest[0]
                continue
            frames, message = rest
            name = TYPE.match(message[0]) if message else None
            short = name[1].rsplit(".", 1)[-1] if name else "Exception"
            red, off = ("\x1b[31m", "\x1b[39m") if colour else ("", "")
            if not out or not any(s.startswith(CHAIN) for s in out[-3:]):
                out += ["-" * 75]
            out += [f"{red}{short}{off}{' ' * max(1, 75 - len(short) - 33)}Traceback (most recent call last)"]
            for file, line, func, code in frames:
                out += [frame(file, line, func)]
                out += [f"{line - 1:>7} y = 1" if line > 1 else "", f"{red}----> {line}{off} " + (code[0].strip() if code else "pass"), f"{line + 1:>7} z = 2", ""]
            head = [short + message[0][len(name[1]):]] if name else message[:1]
            out += head + message[1:] + [""]
        return out
    return dress


def rich(lines):
    width, out = 96, []
    side = lambda s: "\u2502 " + s.ljust(width) + " \u2502"
    for kind, *rest in tracebacks(lines):
        if kind == "text":
            out += rest[0]
            continue
        frames, message = rest
        name = TYPE.match(message[0]) if message else None
        out += ["\u256d" + " Traceback (most recent call last) ".center(width + 2, "\u2500") + "\u256e"]
        for file, line, func, code in frames:
            place = f"{file}:{line} in {func}"
            if len(place) > width and len(f"{file}:{line}") <= width:
                out += [side(f"{file}:{line}"), side(f"in {func}")]
            else:
                out += [side(place[i:i + width]) for i in range(0, len(place), width)]
            out += [side(""), side(f"  {line - 1:>4} \u2502   y = 1"), side(f"\u2771 {line:>4} \u2502   " + (code[0].strip() if code else "pass")[:80]), side("")]
        out += ["\u2570" + "\u2500" * (width + 2) + "\u256f"]
        out += ([name[1].rsplit(".", 1)[-1] + message[0][len(name[1]):]] if name else message[:1]) + message[1:]
    return out


def jupyter(file, line, func):
    return f"Cell In[3], line {line}" if func == "<module>" and "site-packages" not in file else f"File {file.replace('/root/', '~/')}:{line}, in {func}(*args, **kwargs)"


def ipython(file, line, func):
    return f"File {file}:{line}" if func == "<module>" else f"File \x1b[32m{file}:{line}\x1b[39m, in {func}(\x1b[34m*args\x1b[39m)"


def colab(file, line, func):
    return f"[/tmp/ipython-input-{line}-12.py](https://localhost:8080/#) in <cell line: 0>()" if func == "<module>" and "site-packages" not in file else \
        f"[{file}](https://localhost:8080/#) in {func}(*args, **kwargs)"


def cut(lines):
    """From the middle of the frames on, as a screen that scrolled."""
    at = max((i for i, s in enumerate(lines) if s == TITLE), default=0)
    frames = [i for i in range(at, len(lines)) if FRAME.match(lines[i])]
    stop = next((i for i in range(at + 1, len(lines)) if not lines[i].startswith("  ")), len(lines))
    frames = [i for i in frames if i < stop]
    return lines[frames[len(frames) // 2]:] if frames else lines


def message(lines):
    """From the exception's own line on."""
    at = max((i for i, s in enumerate(lines) if s == TITLE), default=0)
    stop = next((i for i in range(at + 1, len(lines)) if not lines[i].startswith("  ")), at)
    return lines[stop:]


clock = lambda i: f"09:{14 + i // 60 % 40:02}:{i % 60:02}"
DRESSES = {
    "quoted mail": each(lambda i: "> ", lambda i: ">"),
    "mail quoted twice": each(lambda i: "> > ", lambda i: "> >"),
    "torchrun": each(lambda i: "[rank0]: ", lambda i: "[rank0]:"),
    "mpirun": each(lambda i: "[1,0]<stderr>:"),
    "srun": each(lambda i: "0: "),
    "docker": each(lambda i: f"2026-03-01T{clock(i)}.{i * 7919 % 10**9:09}Z "),
    "compose": each(lambda i: "trainer-1  | "),
    "docker's log file": lambda lines: [json.dumps({"log": s + "\n", "stream": "stderr", "time": f"2026-03-01T{clock(i)}Z"}, separators=(",", ":")) for i, s in enumerate(lines)],
    "journald": each(lambda i: f"Mar 01 {clock(i)} node7 python[4711]: "),
    "Actions": each(lambda i: f"2026-03-01T{clock(i)}.{i * 7919 % 10**7:07}Z "),
    "Buildkite": each(lambda i: f"[2026-03-01T{clock(i)}Z] "),
    "Buildkite's file": each(lambda i: f"\x1b_bk;t={1772356440000 + i}\x07"),
    "logging, each line": each(lambda i: f"2026-03-01 {clock(i)},{i % 1000:03} - root - ERROR - "),
    "logging, first line": first_line,
    "loguru": each(lambda i: f"2026-03-01 {clock(i)}.{i % 1000:03} | ERROR    | __main__:main:{12} - "),
    "kubernetes": each(lambda i: f"2026-03-01T{clock(i)}.{i * 7919 % 10**9:09}Z stderr F "),
    "pdsh": each(lambda i: "node17: "),
    "vLLM": each(lambda i: "(EngineCore_0 pid=4711) ERROR 03-01 09:14:07 [core.py:520] "),
    "Ray": each(lambda i: "(RayWorker pid=4711, ip=10.0.0.7) "),
    "GitLab": each(lambda i: f"2026-03-01T{clock(i)}.{i * 7919 % 10**6:06}Z 01E "),
    "pytest": pytest,
    "pytest, in a method": lambda lines: [re.sub("^E   ", "E           ", s) for s in pytest(lines)],
    "Jupyter": notebook(jupyter),
    "IPython": notebook(ipython, True),
    "Colab": notebook(colab),
    "rich": rich,
    "cut head": cut,
    "message only": message,
}


# What the text no longer has, so that nobody can know it.
LOST = {
    ("cut head", "late_broadcast"): "the operands are in a record above",
    ("cut head", "more_export_strict"): "the frames that say that torch.export was called are gone",
    ("pytest", "late_broadcast"): "the record is below the exception",
    ("pytest, in a method", "late_broadcast"): "the record is below the exception",
    ("vLLM", "late_broadcast"): "one record inside another",
    ("message only", "late_broadcast"): "the operands are in a record above",
    ("message only", "late_export_branch"): "the frames say that torch.export was called",
    ("message only", "new_export_groups"): "the frames say that torch.export was called",
}
# Without frames, nothing shows which part raised an exception of Python's own: none is named.
NO_FRAMES = ("message only", "cut head")


def explain(text):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write(text)
        f.flush()
        run = subprocess.run(["fxexplain", "-q", "--json", f.name], capture_output=True, text=True, timeout=60)
    if run.returncode < 0:
        return ("died of a signal", None, None)
    doc = json.loads(run.stdout or "{}")
    if not doc.get("findings"):
        return (None, None, None)
    top, verdict = doc["findings"][0], doc["verdict"]
    at = top["location"] or {}
    return top["title"], verdict and verdict["component"], at.get("line") and (os.path.basename(at["file"] or ""), at["line"])


def same(got, want, text):
    if got[0] != want[0]:
        return f"title {got[0]!r}"
    if got[1] != want[1]:
        return f"component {got[1]}"
    if want[2] and re.search(rf"\b{want[2][1]}\b", text) and got[2] != want[2] and not (got[2] and got[2][1] == want[2][1] and ("Cell" in got[2][0] or "ipython" in got[2][0])):
        if re.search(rf"{re.escape(want[2][0])}\"?(:|, line ){want[2][1]}\b|Cell In\[3\], line {want[2][1]}\b|\b{re.escape(want[2][0])}\]", text):
            return f"line {got[2]} for {want[2]}"
    return None


def main():
    if sys.argv[1] == "--write":
        with open(sys.argv[2]) as f:
            print("\n".join(DRESSES[sys.argv[3]](f.read().splitlines())))
        return
    runs, names = sys.argv[1], sys.argv[2:]
    texts = {}
    for name in names:
        with open(f"{runs}/{name}/stderr", errors="replace") as f:
            texts[name] = f.read().splitlines()
    plain = {name: explain("\n".join(lines) + "\n") for name, lines in texts.items()}
    right = total = 0
    for number, (dress, put) in enumerate(DRESSES.items(), 1):
        bad = []
        for name, lines in texts.items():
            text = "\n".join(put(lines)) + "\n"
            got = explain(text)
            why = same(got, plain[name], text)
            total += 1
            right += not why
            if why and dress in NO_FRAMES and got[0] == plain[name][0] and got[1] is None:
                continue
            if why and (dress, name) in LOST:
                print(f"# {name} in the dress {dress}: {LOST[dress, name]}")
                continue
            if why:
                bad.append(f"#   {name}: {why}; plain: {plain[name]}")
        print(f"{'not ok' if bad else 'ok'} {number} - {len(texts) - len(bad)} of {len(texts)} in the dress: {dress}", *bad, sep="\n")
    print(f"# {right} of {total} answers are the same as without a dress")


if __name__ == "__main__":
    main()
