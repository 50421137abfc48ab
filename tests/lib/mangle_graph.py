"""Rewrites an FX graph as text: other names, another order of what is independent; with one planted change.

    text = mangle(text, seed)                      # None: not a graph that this can rewrite (nested classes)
    text = mangle(text, seed, remove="relu")       # what reads relu reads its first operand
    text = mangle(text, seed, edit={"relu": (r"aten\\.relu", "aten.gelu")})    # of the statement that defines it
"""
import random
import re

STATEMENT = re.compile(r'^        (\w+)((?:: "[^"]*")?) = (.*)$')


def parse(text):
    lines = text.split("\n")
    heads = [i for i, line in enumerate(lines) if line.lstrip().startswith("def forward(")]
    if not text.startswith("class ") or len(heads) != 1:
        return None
    first = end = heads[0]
    while not lines[end].rstrip().endswith(":"):
        end += 1
    # Each parameter on a line of its own has a comment.
    signature = " ".join(re.sub(r",  #.*$", ",", line).strip() for line in lines[first:end + 1])
    head = re.match(r"^def forward\(\s*self(?:, )?(.*)\):$", signature)
    if not head:
        return None
    params = re.findall(r'(\w+)((?:: "[^"]*"| : [\w.]+)?)(?:,? +|,?$)', head[1].strip())
    # So has each result.
    rest = re.sub(r"return \(\n.*\n        \)", lambda m: " ".join(re.sub(r",  #.*$", ",", x).strip() for x in m[0].split("\n")), "\n".join(lines[end + 1:]), flags=re.S)
    body, tail = [], None
    for line in rest.split("\n"):
        line = re.sub(r";  (?:\w+ = )+None$", "", line)
        m = STATEMENT.match(line)
        if m:
            body.append(list(m.groups()))
        elif line.startswith("        return "):
            tail = line
        elif line.strip() and not line.strip().startswith("#"):
            return None
    return (lines[:first], params, body, tail) if tail and len(body) > 2 else None


def mangle(text, seed, remove=None, edit=None):
    graph = parse(text)
    if graph is None:
        return None
    before, params, body, tail = graph
    rng = random.Random(seed)
    names = [p[0] for p in params] + [s[0] for s in body]
    other = {name: f"n{i}" for i, name in enumerate(rng.sample(names, len(names)))}
    for s in body:
        if edit and s[0] in edit:
            line = re.sub(*edit[s[0]], f"{s[1]} = {s[2]}", count=1)
            s[1], s[2] = line.split(" = ", 1)
    word = re.compile(r"(?<![.\w])(" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + r")\b(?!=)")
    if remove:
        gone = next(s for s in body if s[0] == remove)
        other[remove] = other[word.search(gone[2].split("(", 1)[1])[1]]
        body.remove(gone)

    def rename(code):
        return '"'.join(part if i % 2 else word.sub(lambda m: other[m[1]], part) for i, part in enumerate(code.split('"')))

    rng.shuffle(params)
    statements = [(other[n], f"        {other[n]}{note} = {rename(code)}", set(re.findall(r"(?<![.\w])n\d+\b", rename(code)))) for n, note, code in body]
    done = {other[p[0]] for p in params}
    out = []
    while statements:
        ready = [s for s in statements if s[2] <= done]
        s = rng.choice(ready)
        statements.remove(s)
        done.add(s[0])
        out.append(s[1])
    first = "    def forward(self, " + ", ".join(other[n] + note for n, note in params) + "):"
    return "\n".join(before + [first] + out + [rename(tail)])
