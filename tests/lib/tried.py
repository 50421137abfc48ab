"""Fixes that no test has tried: `tried.py ROOT`. What share/patterns and share/breaks call a fix, and the texts in the diagnoses that are given to one, are
each what some program of tests/live/fixes has as FIX (an expression); a format of C is so with some of NAMES. And FIXes that are nobody's."""
import glob, itertools, re, sys

NAMES = "x", "0", "1", "3", "8", "9", "lr", "n", "scale", "STEP", "SEEN", "self.history", "Output", "fixes::double", "fixes::scale"


def fixes(root):
    for path in sorted(glob.glob(root + "/share/patterns/*.pattern")) + [root + "/share/breaks/fixes.txt"]:
        with open(path) as f:
            yield from ((path, re.sub(r"\{\w+\}", "%s", line.split(": ", 1)[1].strip())) for line in f if line.startswith(("fix: ", "here: ")))
    for path in sorted(glob.glob(root + "/libcommon/cli/run/diagnose/*.c")):
        with open(path) as f:
            for given in re.findall(r"(?:->|\.)fix =([^;]*?(?:\"(?:[^\"\\]|\\.)*\"[^;\"]*)+);", f.read()):
                text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', given))
                text = re.sub(r"%(\.\*)?s|%u", "%s", text.replace('\\"', '"')).replace("%%", "%")
                yield from ((path, line) for line in text.split("\\n") if line.replace("%s", ""))


def filled(line):
    """A text, or a format with each name at each place."""
    for names in itertools.product(NAMES, repeat=min(line.count("%s"), 3)):
        rest = iter(names)
        yield re.sub("%s", lambda _: next(rest, "x"), line)


tried = {}
for p in glob.glob(sys.argv[1] + "/tests/live/fixes/*.py"):
    with open(p) as f:
        tried[re.compile(re.search(r'^FIX = r"(.*)"$', f.read(), re.M)[1].replace('\\"', '"'))] = p
unused = set(tried)
for path, line in fixes(sys.argv[1]):
    by = {t for one in filled(line) for t in tried if t.search(one)}
    unused -= by
    if not by:
        print(f"{path}: {line}")
for t in unused:
    print(f"{tried[t]}: nothing has this fix: {t.pattern}")
