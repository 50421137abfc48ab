#!/usr/bin/env python3
"""check_ima.py DOCUMENT.json : is it what docs/formats/DUMP.md says of aoti-printer --ima --json? Prints what is not."""
import json
import sys

S, I, B = str, int, bool
THREE = [I, I, I]
LAUNCH = {"grid": THREE, "block": THREE, "shared": I}
ARGUMENT = {
    "index": I, "name": (S, None), "kind": (S, None), "role": (S, None), "bytes": (I, None), "value": (I, None), "dtype": (S, None),
    "device": (S, None), "sizes": ([I], None), "strides": ([I], None), "address": (I, None), "extent": (I, None), "storage": (I, None),
    "room": (I, None), "allocation": ({"base": I, "bytes": I}, None), "could_leave": B,
}  # fmt: skip
SUSPECT = {"argument": I, "why": S, "certain": B, "text": S}
CASE = {
    "text": (S, None), "kernel": S, "model": (S, None), "model_id": I, "pid": I, "tid": I, "run": (I, None), "call": I, "device": (I, None),
    "stream": (I, None), "line": (I, None), "source_nodes": (S, None), "original_aten": (S, None), "pre_grad_nodes": [S],
    "post_grad_nodes": [S], "python": [S], "sizes": dict, "arguments": [ARGUMENT], "suspects": [SUSPECT],
}  # fmt: skip
PAST = {
    "run": (I, None), "call": I, "tid": I, "kernel": S, "line": (I, None), "returned": B,
    "launch": (LAUNCH | {"stream": I, "captured": B}, None),
}  # fmt: skip
FAULT = CASE | {"code": I, "error": (S, None), "when": S, "seen": S, "launch": (LAUNCH, None), "last_calls": [PAST]} | {
    "function": (S, None), "replay": ({"graph": I, "times": I, "captured": I, "kernels": [S]}, None),
}
ACCESS = {
    "text": S, "what": S, "kernel": (S, None), "writes": B, "misaligned": B, "bytes": I, "address": (I, None), "thread": THREE, "block": THREE,
    "threads": I, "offset": I, "file": (S, None), "file_line": (I, None), "argument": (I, None), "buffer": (S, None), "beyond": I,
    "line": (I, None), "source_nodes": (S, None), "original_aten": (S, None), "pre_grad_nodes": [S], "post_grad_nodes": [S], "python": [S],
}  # fmt: skip
DOCUMENT = {
    "schema": S, "command": [S], "ended": {"status": (I, None), "signal": (S, None), "text": S}, "alloc": B, "calls": I, "captured": I, "lost": I,
    "faults": [FAULT], "findings": [CASE | {"what": S}], "deaths": [S],
    "models": [{"id": I, "path": S, "device": (S, None), "why": (S, None)}], "asides": [S], "note": (S, None),
    "next": [{"text": S, "command": (S, None)}],
}  # fmt: skip
bad = []


def check(value, want, where):
    if isinstance(want, tuple):
        if value is not None or want[-1] is not None:
            check(value, want[0], where)
    elif isinstance(want, dict):
        if not isinstance(value, dict) or set(value) != set(want):
            bad.append(f"{where}: {sorted(set(want) ^ set(value)) if isinstance(value, dict) else value!r}")
            return
        for key, inner in want.items():
            check(value[key], inner, f"{where}.{key}")
    elif isinstance(want, list):
        if not isinstance(value, list) or (want == THREE and len(value) != 3):
            bad.append(f"{where}: {value!r}")
            return
        for i, v in enumerate(value):
            check(v, want[0], f"{where}[{i}]")
    elif type(value) is not want:
        bad.append(f"{where}: {value!r}, not {want.__name__}")


with open(sys.argv[1], encoding="utf-8") as f:
    document = json.load(f)
check(document, DOCUMENT | ({"accesses": [ACCESS]} if "accesses" in document else {}), "")
print("\n".join(bad))
sys.exit(bool(bad))
