#!/usr/bin/env python3
"""check_pages.py DIR : every HTML page of a directory report holds no markup of the log's, and each of its links leads somewhere."""
import html.parser
import json
import os
import re
import sys
import urllib.parse

TAGS = set("html head meta title link body main h1 h2 h3 p a ul ol li details summary table thead tbody tr th td div span pre code b i em strong small input label nav header section br hr".split())
VOID = {"meta", "link", "input", "br", "hr"}
bad = 0


def complain(*what):
    global bad
    bad += 1
    if bad < 25:
        print(*(str(w)[:300] for w in what))


class Reader(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.open = path, set(), [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "script":
            if not attributes.get("src", "").endswith("assets/tlparse.js"):
                complain(self.path, "a script", attributes)
        elif tag not in TAGS:
            complain(self.path, "element", tag, attributes)
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attributes.items():
            if key.startswith("on") or key == "style":
                complain(self.path, "attribute", key, value)
        if "id" in attributes:
            self.ids.add(attributes["id"])
        for key in ("href", "src"):
            if key in attributes:
                self.links.append(attributes[key])

    def handle_endtag(self, tag):
        if tag == "p" and tag not in self.open:
            complain(self.path, "an end of p without a start")
        while self.open and self.open.pop() != tag:
            pass

    def handle_comment(self, data):
        complain(self.path, "a comment", data)

    def unknown_decl(self, data):
        complain(self.path, "a declaration", data)


top = os.fsencode(sys.argv[1])
pages = {}
for folder, _, files in os.walk(top):
    for name in files:
        if name.endswith(b".html"):
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                try:
                    text = f.read().decode("utf-8")
                except UnicodeDecodeError as e:
                    complain(path, e)
                    continue
            pages[path] = reader = Reader(path)
            reader.feed(text)
            reader.close()
            if "</html>" not in text[-20:]:
                complain(path, "has no end")
links = 0
for path, reader in pages.items():
    for link in reader.links:
        links += 1
        to, _, anchor = link.partition("#")
        if link.startswith(("https://", "http://")):
            continue
        if ":" in to.split("/")[0]:
            complain(path, "a link with a scheme:", link)
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote_to_bytes(to))) if to else path
        if not target.startswith(os.path.normpath(top) + b"/"):
            complain(path, "a link out of the report:", link)
        elif not os.path.exists(target):
            complain(path, "a dead link:", link)
        elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].ids and anchor not in pages[target].ids:
            complain(path, "a dead anchor:", link)
for folder, _, files in os.walk(top):
    if b"compile_directory.json" in files:
        with open(os.path.join(folder, b"compile_directory.json"), "rb") as f:
            for cid, entry in json.loads(f.read().decode("utf-8")).items():
                for a in entry["artifacts"]:
                    to = os.path.join(folder, a["url"].encode("utf-8", "surrogatepass"))
                    if re.match(r"(-|\d+)_|unknown_\d|dump_file/", a["url"]) and "\ufffd" not in a["url"] and not os.path.exists(to):
                        complain("compile_directory.json names a file that is not there:", a["url"])
if bad > 25:
    print("and", bad - 25, "more")
print(len(pages), "pages", links, "links")
sys.exit(bad > 0)
