#!/usr/bin/env python3
"""compare_ranks.py OURS [RUST] : is our report over all ranks a drop-in for that of the Rust tlparse?

The same files at the top (ours alone: combined_trace.json.gz), the same values in them once lists are sorted, the same
folders, and in each what compare_reports.py asks for. The Rust tool's order is that of its hash tables and of readdir, so
lists are compared sorted, and without the sort index of threads. Without RUST: only links and JSON. Prints what differs.
"""
import gzip
import html.parser
import json
import os
import subprocess
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.ids, self.outside = [], set(), []

    def handle_starttag(self, tag, attrs):
        for k, v in attrs:
            if k == "href" and v:
                self.links.append(v)
            if k == "id" and v:
                self.ids.add(v)
            if k == "src" or tag in ("link", "iframe", "object"):
                self.outside.append(v)


def read(path):
    if path.endswith(".gz"):
        return json.loads(gzip.open(path).read())
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def flat(x):
    """Numbers as floats, threads without their place."""
    if isinstance(x, dict):
        if x.get("name") == "thread_sort_index":
            x = {**x, "args": None}
        return {k: flat(v) for k, v in x.items()}
    if isinstance(x, list):
        return [flat(v) for v in x]
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return float(f"{x:.14e}")  # the Rust tool's parser of floats is one unit off at times
    return x


def sorted_list(x):
    return sorted(json.dumps(flat(v), sort_keys=True) for v in x)


def links(top):
    path = os.path.join(top, "index.html")
    p = Page()
    with open(path, encoding="utf-8") as f:
        p.feed(f.read())
    for o in p.outside:
        yield f"not self-contained: {o}"
    for link in p.links:
        u = urllib.parse.urlsplit(link)
        if u.scheme in ("http", "https"):
            continue
        if not u.path and urllib.parse.unquote(u.fragment) not in p.ids:
            yield f"dead link: {link}"
        if u.path and not os.path.exists(os.path.join(top, urllib.parse.unquote(u.path))):
            yield f"dead link: {link}"


def own_strings(ours, rust):
    """The Rust tool has one string table for all ranks, which shows those of ranks read before: take ours where it is in theirs."""
    with open(os.path.join(ours, "raw.jsonl"), "rb") as f:
        mine = f.readline()
    with open(os.path.join(rust, "raw.jsonl"), "rb") as f:
        theirs, rest = f.readline(), f.read()
    a, b = json.loads(mine)["string_table"], json.loads(theirs)["string_table"]
    if len(a) <= len(b) and all(x is None or x == y for x, y in zip(a, b)):
        with open(os.path.join(rust, "raw.jsonl"), "wb") as f:
            f.write(mine + rest)


def main():
    ours = sys.argv[1]
    problems = list(links(ours))
    for f in sorted(os.listdir(ours)):
        if f.endswith((".json", ".gz")):
            read(os.path.join(ours, f))
        if not f.endswith((".json", ".gz", ".html")) and not f.startswith(("rank_", "proc_")):
            problems.append(f"left over: {f}")
    if len(sys.argv) > 2:
        rust = sys.argv[2]
        a, b = set(os.listdir(ours)), set(os.listdir(rust))
        problems += [f"missing: {f}" for f in sorted(b - a)]
        problems += [f"extra: {f}" for f in sorted(a - b - {"combined_trace.json.gz"})]
        for f in sorted(a & b):
            x, y = os.path.join(ours, f), os.path.join(rust, f)
            if os.path.isdir(x):
                own_strings(x, y)
                script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_reports.py")
                r = subprocess.run([sys.executable, script, x, y], capture_output=True, text=True, check=False)
                if r.returncode:
                    problems.append(f"{f}: {r.stdout}{r.stderr}")
            elif f.endswith(".json"):
                if sorted_list(read(x)) != sorted_list(read(y)):
                    problems.append(f"differs: {f}")
    print("\n".join(problems))
    sys.exit(bool(problems))


main()
