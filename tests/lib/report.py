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


DIGIT = {c: i for i, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def numbers(text, n):
    """A column's numbers (libcommon/core/run/columns.h): differences as base64 VLQ, trailing zeros left out."""
    out, last, at = [], 0, 0
    for _ in range(n):
        bits, shift, more = 0, 0, at < len(text)
        while more:
            d = DIGIT[text[at]]
            at += 1
            bits |= (d & 31) << shift
            shift += 5
            more = d & 32
        last += -(bits >> 1) if bits & 1 else bits >> 1
        out.append(last)
    assert at == len(text), "more numbers than rows"
    return out


def column(c, n, texts):
    kind = c[0]
    word = lambda v: texts[v - 1] if v else None
    number = lambda v: v - 1 if v else None
    value = {"n": lambda v: v, "i": number, "s": lambda v: (v - 1) / 1e6 if v else None, "b": lambda v: v == 1, "t": word,
             "l": lambda v: texts[v - 1].split("\n") if v and texts[v - 1] else [], "g": lambda v: "GB%04d" % (v - 1) if v else None}
    if kind == "x":
        assert len(c[1]) == n
        return c[1]
    if kind == "w":
        return [c[2][v] for v in numbers(c[1], n)]
    if kind == "o":
        return [{"file": word(a), "line": number(b), "function": word(f), "code": word(code)} if a else None
                for a, b, f, code in zip(*(numbers(x, n) for x in c[1:]))]
    return [value[kind](v) for v in numbers(c[1], n)]


def unpack(model):
    """The model of a page with its rows as objects, like --json, and artifacts as arrays."""
    texts = model.get("texts", [])
    columns = lambda t: {k: column(c, t["rows"], texts) for k, c in t["columns"].items()}
    for k, t in model.items():
        if isinstance(t, dict) and "columns" in t:
            by = columns(t)
            model[k] = [dict(zip(by, r)) for r in zip(*by.values())]
    for log in model.get("logs", []):
        if "artifacts" in log:
            log["artifacts"] = columns(log["artifacts"])
            mine = sum(a["input"] == log["input"] for a in model["attempts"])
            log["compile_stacks"] = column(log["compile_stacks"], mine, texts)
    return model


class Page:
    """The single HTML file: .model, and .stream['p'] and so on, the inflated blocks in order."""

    def __init__(self, data):
        text = data.decode("utf-8")  # a report is always UTF-8
        models = re.findall(r'<script type="application/json" id="model">(.*?)</script>', text, re.S)
        assert len(models) == 1, "%d models" % len(models)
        self.model = unpack(strict(models[0]))
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
