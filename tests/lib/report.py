"""What the tests know of the reports: the single file taken apart, and an envelope reader that shares no code with tlparse."""
import base64
import hashlib
import json
import re
import zlib

HEAD = re.compile(rb"[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d{6} \d+ ?[^:\n]*:\d+\] (.*)", re.S)


def no_constants(name):
    raise ValueError("not JSON: " + name)


def strict(text):
    return json.loads(text, parse_constant=no_constants)


class Page:
    """The single HTML file: .model, and .stream['p'] and so on, the inflated blocks in order."""

    def __init__(self, data):
        text = data.decode("utf-8")  # a report is always UTF-8
        models = re.findall(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
        assert len(models) == 1, "%d models" % len(models)
        self.model = strict(models[0])
        self.text = text
        self.stream = {"p": [], "m": [], "e": [], "r": []}
        for kind, n, body in re.findall(r'<script type="text/plain" id="([pmer])(\d+)">([^<]*)</script>', text):
            assert int(n) == len(self.stream[kind]), "block %s%s is out of order" % (kind, n)
            self.stream[kind].append(zlib.decompress(base64.b64decode(body, validate=True), -15))
        for kind, n in self.model["blocks"].items():
            assert n == len(self.stream[kind]), "%d blocks %s, not %d" % (len(self.stream[kind]), kind, n)
        assert "pt2.loaded()" in text[-400:] and "</html>" in text[-400:], "the page has no end"

    def lines(self, kind):
        whole = b"".join(self.stream[kind])
        assert not whole or whole.endswith(b"\n")
        return whole.split(b"\n")[:-1]

    def payload(self, log, i):
        a = log["artifacts"]
        if not a["size"][i] or a["block"][i] < 0:
            return b""
        return self.stream["p"][a["block"][i]][a["offset"][i] : a["offset"][i] + a["size"][i]]


def records(data):
    """(line, envelope or None, payload or None, MD5 is right) of each record of a log that has no damage but at its end."""
    out = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.startswith(b"\t"):
            if out:
                out[-1][2] = line[1:] if out[-1][2] is None else out[-1][2] + b"\n" + line[1:]
            continue
        m = HEAD.search(line)
        if line and not m:
            out.append([number, None, None, True])
        elif line:
            try:
                envelope = json.loads(m[1])
            except ValueError:
                envelope = None
            out.append([number, envelope if isinstance(envelope, dict) else None, None, True])
    for r in out:
        if r[1] and r[1].get("has_payload"):
            r[3] = hashlib.md5(r[2] or b"").hexdigest() == r[1]["has_payload"]
    return out
