"""What is said of releases, in Markdown: page(...) of one or two, changes(...) since a run before, table(...) of all that were tried.

A release here is what scripts/track examine() gives, and VERSION.json holds.
"""
import collections

import installed
import known


def made_of_both(release, other):
    """What a release makes, {heading: {item: ""}}, of the models and programs that the other has, too."""
    return {h: dict.fromkeys(sorted({i for name, items in of.items() if name in other["made"][h] for i in items}), "") for h, of in release["made"].items()}


def failing(release):
    for check, subjects in release["checks"].items():
        wrong = {s: p for s, p in subjects.items() if p}
        if wrong:
            yield check, wrong


def not_made(release):
    """What torch itself, or a package that it wants, fails at."""
    yield from (f"torch itself does not compile the model {n}: {installed.code(why)}" for n, why in release["not_compiled"].items())
    yield from (f"the program {n} leaves no trace: {installed.code(why)}" for n, why in release["not_traced"].items())


def page(new, last=None):
    of, before = (short(r) for r in (new, last or new))
    both = [new] + [last] * bool(last)
    yield f"# torch {of}" + (f" against {before}" if last else "") + "\n\n" + "; ".join(f"{r['torch']}: {r['date']}, commit {r['commit']}" for r in both) + ".\n"
    yield "## What fails\n"
    told = 0
    for r in both:
        for check, wrong in failing(r):
            told += 1
            yield f"- {short(r)}, {check}: " + "; ".join(f"{s}: {installed.code(p[:300])}" for s, p in wrong.items())
    if last:
        ends = {p: s for p, s in new["programs"].items() if last["programs"].get(p, s) != s}
        yield from (f"- {of}: program {p} ends with {s}, with {before} it did with {last['programs'][p]}" for p, s in ends.items())
    yield from (f"- {short(r)}: {what}" for r in both for what in not_made(r))
    yield from [] if told else ["- no check"]
    yield "\n## Checks\n\n| check | " + " | ".join(map(short, both)) + " |\n|---|" + "---|" * len(both)
    for check in {c: 0 for r in both for c in r["checks"]}:
        cells = [r["checks"].get(check, {}) for r in both]
        yield f"| {check} | " + " | ".join(f"{sum(not p for p in c.values())} of {len(c)}" for c in cells) + " |"
    groups = ", ".join(f"{n} {g}" for g, n in collections.Counter(new["models"].values()).items())
    yield f"\n{len(new['models'])} models ({groups}), {len(new['programs'])} programs."
    yield from known.page(new, last)
    if last:
        yield "\n## What is new in what it makes (of models and programs that both have)"
        yield from installed.page(made_of_both(last, new), made_of_both(new, last))
        yield "\n## What is new in it, where we stand on it"
        yield from installed.page(last["installed"], new["installed"])


def short(release):
    return release["torch"].split("+")[0]


def flat(release, other):
    """Of a page's data: what it says, item by item, where both tried the same model or program."""
    for check, subjects in release["checks"].items():
        tried = other["checks"].get(check, subjects)
        yield check, {s: p or "ok" for s, p in subjects.items() if s in tried}
    yield "Models that it does not compile, programs that leave no trace", release["not_compiled"] | release["not_traced"]
    yield from release["installed"].items()
    yield from ((f"{h} that it makes", items) for h, items in made_of_both(release, other).items())


def changes(old, new):
    """Lines: what another run says otherwise."""
    yield "# torch " + " and ".join(f"{short(r)} ({r['date']}, commit {r['commit']})" for r in (old, new))
    before = dict(flat(old, new))
    found = {heading: "\n".join(installed.lines(installed.compare(before.get(heading, {}), items), width=300)) for heading, items in flat(new, old)}
    yield from [f"\n{heading}:\n{lines}" for heading, lines in found.items() if lines] or ["\nnothing changed"]


TOOLS = ("pt2-run", "aoti-checkinputs", "aoti-nanassert", "aoti-printer", "aoti-verify", "fxexplain", "fxminify", "tlparse")


# Looked into, and no fault of ours: (release, check, model or program).
TORCHS_OWN = {
    ("2.12", "aoti-checkinputs: it takes what was exported", "lstm"): "the exported program of 2.12 says [2, 1, 2, 16] of h_n, eager gives [2, 2, 16]",
}


def own(release, check, subject):
    return TORCHS_OWN.get((short(release).rpartition(".")[0], check, subject))


def too_old(problem):
    """A tool has refused it by the name of the release."""
    return "torch before 2." in problem


def cell(release, tool):
    """"all 40" or "38 of 40" of the subjects that one tool was tried on; "-": on none."""
    subjects, old = {}, set()
    for check, found in release["checks"].items():
        kind = set(found) <= set(release["models"])  # a model may have the name of a program
        if check.startswith(f"{tool}: "):
            for s, p in found.items():
                old |= {(kind, s)} if too_old(p) else set()
                subjects[kind, s] = subjects.get((kind, s)) or ("" if own(release, check, s) else p)
    good = sum(not p for p in subjects.values())
    return "-" if not subjects else (f"all {good}" if good == len(subjects) else f"{good} of {len(subjects)}") + (f", {len(old)} too old" if old else "")


def table(releases):
    """docs/user/VERSIONS.md"""
    rows = sorted(releases, key=lambda r: [int(n) for n in short(r).split(".")])
    yield "# Tested releases of torch\n\nMade by `scripts/track --table` from the pages of `make track` (CONTRIBUTING.md). It lists only what was run: packages and traced"
    yield "programs that pass every check of a tool, of those it was tried on.\n"
    yield "| torch | models | programs | " + " | ".join(TOOLS) + " | when, commit |\n|---|" + "---|" * (len(TOOLS) + 3)
    for r in rows:
        yield f"| {r['torch']} | {len(r['models'])} | {len(r['programs'])} | " + " | ".join(cell(r, t) for t in TOOLS) + f" | {r['date']}, {r['commit']} |"
    yield "\n## What fails"
    for r in rows:
        yield f"\n### {short(r)}\n"
        told = [f"- {check}: {s}: {installed.code(p[:400])}" + (f": torch's own: {why}" if (why := own(r, check, s)) else "") for check, wrong in failing(r) for s, p in wrong.items()]
        told += [f"- {what}" for what in not_made(r)]
        yield from told or ["- nothing"]
