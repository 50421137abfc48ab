#!/usr/bin/env python3
"""compare_reports.py OURS RUST : is our directory report a drop-in for the Rust tlparse's?

The same files in the same folders (what is ours alone must be outside the sequence: assets/, payloads/unlisted_*,
symbolic_guard_information_line_*), the
same bytes in text files, the same values in JSON files, and links of every HTML page lead somewhere. Prints what differs.
Without arguments: of the pairs of folders that are asked for on standard input, a line each; an empty line ends each answer.
"""
import html.parser
import json
import os
import sys
import urllib.parse


def tree(top):
    return {os.path.relpath(os.path.join(d, f), top) for d, _, fs in os.walk(top) for f in fs}


def same(x, y):
    if isinstance(x, bool) or isinstance(y, bool):
        return x is y
    if isinstance(x, (int, float)) and isinstance(y, (int, float)):
        return x == y or abs(x - y) <= abs(x) * 4e-16  # the Rust tool's parser of floats is one unit off at times
    if type(x) is not type(y):
        return False
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, list):
        return len(x) == len(y) and all(map(same, x, y))
    return x == y


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []
        self.ids = set()

    def handle_starttag(self, tag, attrs):
        for k, v in attrs:
            if k in ("href", "src") and v:
                self.links.append(v)
            if k == "id" and v:
                self.ids.add(v)


def page(path):
    p = Links()
    p.feed(open(path, encoding="utf-8").read())
    return p


def dead_links(top, files):
    for f in sorted(f for f in files if f.endswith(".html")):
        p = page(os.path.join(top, f))
        for link in p.links:
            u = urllib.parse.urlsplit(link)
            if u.scheme in ("http", "https"):
                continue
            if not u.path:
                if urllib.parse.unquote(u.fragment) not in p.ids:
                    yield f, link
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(f), urllib.parse.unquote(u.path)))
            if target.startswith("..") or target not in files:
                yield f, link


def differences(ours, rust):
    a, b = tree(ours), tree(rust)
    problems = [f"missing: {f}" for f in sorted(b - a)]
    problems += [f"extra: {f}" for f in sorted(a - b) if not f.startswith(("assets/", "payloads/unlisted_", "vllm.html")) and "/symbolic_guard_information_line_" not in f]
    for f in sorted(a & b):
        if f.endswith(".html"):
            continue
        x, y = (open(os.path.join(d, f), "rb").read() for d in (ours, rust))
        if x == y:
            continue
        if f.endswith(".jsonl"):
            xs, ys = ([json.loads(line) for line in t.splitlines()] for t in (x, y))
            if same(xs, ys):
                continue
            bad = [i for i, (p, q) in enumerate(zip(xs, ys)) if not same(p, q)][:1]
            problems.append(f"differs: {f}: {len(xs)} and {len(ys)} lines, first at {bad}")
        elif f.endswith(".json"):
            try:
                if same(json.loads(x), json.loads(y)):
                    continue
                problems.append(f"differs as JSON: {f}")
            except ValueError as e:
                problems.append(f"differs: {f}: {e}")
        else:
            problems.append(f"differs: {f}: {len(x)} and {len(y)} bytes")
    problems += [f"dead link: {f}: {link}" for f, link in dead_links(ours, a)]
    return problems


if len(sys.argv) > 1:
    found = differences(*sys.argv[1:])
    print("\n".join(found))
    sys.exit(bool(found))
for pair in sys.stdin:
    print(*differences(*pair.split()), "", sep="\n", flush=True)
