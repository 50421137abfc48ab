#!/usr/bin/env python3
"""Names that drive a terminal, turn text around or forge a line, in every input of every tool, and whether they came out again.

escapes.py log LOG WHAT > new.log        a structured trace whose texts hold them: WHAT is text (all but what is dispatched on), or names
escapes.py text FILE > new               any text: behind words that look like names (no line ends)
escapes.py json FILE KEY... > new.json   the strings under these keys, and wherever they occur again
escapes.py zip OLD NEW KIND...           a package: KIND is cpp, json (strings that are no format's), nodes (names of torch.export's), members
escapes.py npz|safetensors OLD NEW       tensors of such names
escapes.py check FOLDER...               each is what one command wrote (out, err, made/, and its line in cmd): TAP
"""
import gzip
import hashlib
import json
import os
import re
import struct
import sys
import zipfile

SOFT = "evil\x1b[31m\x07\x9b1m\u202e\u2066\u061c\x7f"  # within a line
NAME = SOFT + "\nFORGED by a name\r\x1b]0;t\x07"
KEPT = {"has_payload", "encoding", "ph", "cat", "dtype", "as_device", "type", "kind", "str", "stride", "size", "pid", "tid", "rank", "version"}


def poison(v, keep=KEPT, key=None):
    if isinstance(v, dict):
        return {k: poison(x, keep, k) for k, x in v.items()}
    if isinstance(v, list):
        return [poison(x, keep, key) for x in v]
    return v + NAME if isinstance(v, str) and key not in keep else v


def soft(text):
    """Behind what looks like the name of a file, a kernel, an operator or a node."""
    return re.sub(r"\.py\b|\b(cpp|triton)_fused_\w+|\baten\.\w+|\b(buf|arg|primals_)\d+\w*|(?<=: )(?=[A-Z]\w+ \w+)|\b(relu|linear|add|mul)\w*", lambda m: m[0] + SOFT, text)


def log(path, what):
    with open(path, encoding="utf-8") as f:
        lines = f.read().rstrip("\n").split("\n")
    i = 0
    while i < len(lines):
        head, body = lines[i], []
        i += 1
        while i < len(lines) and lines[i].startswith("\t"):
            body.append(lines[i][1:])
            i += 1
        at = head.find("] {") + 2
        if at < 2:
            print(head)
            continue
        env, text = json.loads(head[at:]), "\n".join(body)
        if "str" in env:
            env["str"][0] += NAME
        elif what == "names":
            env = poison(env)
        else:  # the artifacts keep the names by which they are known
            env = poison(env, KEPT | ({"name"} if "artifact" in env else set()))
        if "has_payload" in env:
            try:
                text = json.dumps(poison(json.loads(text)), ensure_ascii=i % 2 == 0)
            except ValueError:
                text = soft(text)
            env["has_payload"] = hashlib.md5(text.encode()).hexdigest()
        print(head[:at] + json.dumps(env, ensure_ascii=i % 2 == 0))
        for line in text.split("\n") if "has_payload" in env else []:
            print("\t" + line)


def renamed(doc, keys):
    found = set()

    def look(v, key=None):
        for k, x in v.items() if isinstance(v, dict) else ((key, x) for x in v) if isinstance(v, list) else ():
            if isinstance(x, str) and k in keys and x:
                found.add(x)
            look(x, k)

    def change(v):
        if isinstance(v, dict):
            return {k: change(x) for k, x in v.items()}
        if isinstance(v, list):
            return [change(x) for x in v]
        return v + NAME if isinstance(v, str) and v in found else v

    look(doc)
    return change(doc)


def package(old, new, kinds):
    with zipfile.ZipFile(old) as z, zipfile.ZipFile(new, "w") as w:
        for name in z.namelist():
            data = z.read(name)
            if name.endswith(".cpp") and "cpp" in kinds:
                data = re.sub(r'(name = "|R"\(|"aten::|// \S+|\.loadKernel\(")(\w*)', lambda m: m[0] + SOFT + (r"\nFORGED" if m[0].startswith("name") else ""), data.decode())
                data = re.sub(r'kernel_name|"[a-z_]+\.py', lambda m: m[0] + SOFT, data).encode()
            elif name.endswith(".json") and "json" in kinds:
                data = json.dumps(poison(json.loads(data)), ensure_ascii=False).encode()
            elif name.endswith(".json") and "nodes" in kinds:
                data = json.dumps(renamed(json.loads(data), {"name", "stack_trace", "nn_module_stack", "target_fqn"}), ensure_ascii=False).encode()
            if "members" in kinds and not name.endswith((".so", "version", "byteorder", "archive_format")):
                w.writestr(re.sub(r"(\.[a-z_.]+)$", SOFT.replace("\x1b", "\x1b") + r"\nFORGED" + r"\1", name), data)
            w.writestr(name, data)


def npz(old, new):
    with zipfile.ZipFile(old) as z, zipfile.ZipFile(new, "w") as w:
        for name in z.namelist():
            w.writestr(name.replace(".npy", NAME + ".npy"), z.read(name))


def safetensors(old, new):
    with open(old, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        head = {k + NAME: v for k, v in json.loads(f.read(n)).items()}
        text = json.dumps(head, ensure_ascii=False).encode()
        with open(new, "wb") as w:
            w.write(struct.pack("<Q", len(text)) + text + f.read())


# ---- what came out ----

SAFE = bytes(set(range(0x20, 0x100)) - {0x7f, 0xc2, 0xd8, 0xe2}) + b"\t\n"
RAW = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]")
DATA = (".npy", ".npz", ".pt", ".safetensors", ".bin", ".so", ".pt2")  # tensors and copies of packages: no text


def wrong(path, name, logs):
    """What is wrong with a file, or ""; logs: the bytes of which copies may be made."""
    if RAW.search(os.fsencode(name)) or b"\n" in os.fsencode(name):
        return "its name: %r" % name
    if name.endswith(DATA):
        return ""
    with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as f:
        data = f.read()
    raw = data.translate(None, SAFE) and RAW.search(data)
    copies = raw and (data in logs or data.replace(b"\n", b"\n\t") in logs)  # raw.log, and payloads as they are
    if raw and not copies:
        return "%r" % data[max(0, raw.start() - 60):raw.end() + 20]
    # Not deeper within (a message of several lines stands under its word), nor in a block of an issue's text.
    forged = b"FORGED" in data and re.search(rb"^ {0,4}FORGED", re.sub(rb"^```.*?^```", b"", data, flags=re.M | re.S), re.M)
    if forged and not name.endswith(".html") and not copies:
        return "a forged line: %r" % data[max(0, forged.start() - 60):forged.end() + 20]
    return ""


def check(folders):
    for i, folder in enumerate(folders):
        with open(folder + "/cmd") as f:
            what, want, *given = f.read().rstrip("\n").split("\t")
        logs = b""
        for path in given:
            for path in [os.path.join(path, name) for name in os.listdir(path)] if os.path.isdir(path) else [path]:
                if os.path.isfile(path) and not path.endswith(DATA):
                    with open(path, "rb") as f:
                        logs += f.read()
        bad, marked, n = [], False, 0
        for top, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(top, name)
                if path == folder + "/cmd":
                    continue
                n += 1
                said = wrong(path, os.path.relpath(path, folder), logs)
                if said:
                    bad.append("%s: %s" % (os.path.relpath(path, folder), said))
                with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as f:
                    marked |= b"evil" in f.read()
        if want == "seen" and not marked:
            bad.append("no such name was shown at all: nothing was tried")
        print("%s %d - %s" % ("not ok" if bad else "ok", i + 1, what.replace("#", "")))
        for line in bad[:6]:
            print("#   " + line[:300])
    print("1..%d" % len(folders))


command, args = sys.argv[1], sys.argv[2:]
if command == "log":
    log(args[0], args[1])
elif command == "text":
    with open(args[0], encoding="utf-8", errors="replace") as file:
        print(soft(file.read()), end="")
elif command == "json":
    with open(args[0], encoding="utf-8") as file:
        print(json.dumps(renamed(json.load(file), set(args[1:])), ensure_ascii=False))
elif command == "zip":
    package(args[0], args[1], args[2:])
elif command == "npz":
    npz(args[0], args[1])
elif command == "safetensors":
    safetensors(args[0], args[1])
else:
    check(args)
