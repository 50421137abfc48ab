#!/usr/bin/env python3
"""Rewrite a structured trace: edit_log.py LOG CODE > new.log

CODE is Python, run for each record with `env` (the envelope, a dict), `text` (the payload, or None), `re` and `n` (the record's
number); it changes env and text, or sets drop = True. Hashes of payloads are made anew.
"""
import hashlib
import json
import re
import sys


def records(lines):
    head, payload = None, []
    for line in lines:
        if line.startswith("\t"):
            payload.append(line[1:])
            continue
        if head is not None:
            yield head, payload
        head, payload = line, []
    if head is not None:
        yield head, payload


def main():
    code = compile(sys.argv[2], "edit", "exec")
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = f.read().rstrip("\n").split("\n")
    for n, (head, payload) in enumerate(records(lines)):
        at = head.index("] {") + 2
        env = json.loads(head[at:])
        has = "has_payload" in env
        scope = {"env": env, "text": "\n".join(payload) if has else None, "re": re, "n": n, "drop": False}
        exec(code, scope)  # pylint: disable=exec-used
        if scope["drop"]:
            continue
        env, text = scope["env"], scope["text"]
        if has:
            env["has_payload"] = hashlib.md5(text.encode()).hexdigest()
        print(head[:at] + json.dumps(env))
        if has:
            for line in text.split("\n"):
                print("\t" + line)


main()
