#!/usr/bin/env python3
"""hostile.py FOLDER : a log whose names want out of the report's directory (into FOLDER) and into its HTML, on standard output."""
import hashlib
import json
import os
import sys

FOLDER = sys.argv[1]
MARK = "<script>alert(1)</script>"
NAMES = [
    "../up", "../" * 12 + FOLDER + "/up", FOLDER + "/abs", "//" + FOLDER, "sub/x", "a/../../b", "a/b/../../../../c", "..", ".", "", " ", "/", "//",
    "./", "../", "a/", "a//b", "-rf", "a\\..\\b", MARK, '"><img src=x onerror=alert(1)>', "' onmouseover='alert(1)", "</script><script>alert(1)//",
    "</title><script>alert(1)</script>", "<!--", "-->", "]]>", "javascript:alert(1)", "data:text/html," + MARK, "a&lt;b", "100%", "%2e%2e%2fup",
    "%00", "a?b#c", "#", "n" * 300, "\u540d" * 300, "n" * 300 + "/" + "m" * 300, "x/" * 3000 + "y", "new\nline", "cr\rlf\r\n", "tab\there",
    "bell\a\x1b[31m", "nul\0name", "\u202etxt.exe", "\ud800", "\u2028", "index.html", "raw.log", "raw.jsonl", "assets", "assets/tlparse.css",
    "payloads", "dump_file", "compile_directory.json", "chromium_events.json", "failures_and_restarts.html", "../index", "../index.html",
    "../../index.html", "../raw", "../assets/tlparse", "same", "same", "same_1.txt", "same.html/x", "same", "taken", "taken.html/below", "$(id)", "`id`", "~", ".hidden", "con",
]  # fmt: skip
PREFIX = b"V1121 10:00:00.000000 77 torch/made_up.py:1] "
out = sys.stdout.buffer
number = 0


def record(envelope, payload=None, name=None, frame=(0, 0, 0)):
    global number
    number += 1
    if frame:
        envelope = envelope | dict(zip(("frame_id", "frame_compile_id", "attempt"), frame))
    if payload is not None:
        envelope = envelope | {"has_payload": hashlib.md5(payload).hexdigest() if name is None else name}
    text = json.dumps(envelope, ensure_ascii=number % 2 == 0 or "\ud800" in str(envelope)).encode("utf-8", "surrogatepass")
    out.write(PREFIX + text + b"\n")
    if payload is not None:
        out.write(b"".join(b"\t" + line + b"\n" for line in payload.split(b"\n")))


evil = ("</code></pre></textarea></style>" + MARK + "<img src=x onerror=alert(1)>").encode()
for i, name in enumerate(NAMES):
    n = number
    for encoding in ("string", "json"):
        record({"artifact": {"name": name, "encoding": encoding}}, b"payload %d " % n + evil)
    record({"graph_dump": {"name": name, "type": name, "filename": name}}, b"payload %d " % n + evil)
    record({"dump_file": {"name": name}}, b"def f(): pass " + evil)
    record({"optimize_ddp_split_child": {"name": name}}, b"payload " + evil)
    record({"inductor_output_code": {"filename": name, "file_path": name}}, b"def call(args): pass " + evil)
    record({"link": {"name": name, "url": name}})
    record({"never_heard_of": {name: name}}, b"payload %d" % i, name)
    record({"dynamo_guards": {}}, json.dumps([{"code": name + evil.decode()}]).encode())
    record({name: name, "artifact": {"name": "plain", "encoding": "string"}}, b"text")
    record({"artifact": {"name": "taken", "encoding": "string"}, "subgraph_name": name}, b"text")
    if i < 40:
        record({"artifact": {"name": "same_%d.txt/below" % (number - 1), "encoding": "string"}}, b"text")
        record({"never_heard_of": 1}, b"below %d" % i, hashlib.md5(b"payload %d" % i).hexdigest() + ".txt/x")
        record({"never_heard_of": 1}, b"payload %d" % i)
# names that are no UTF-8
out.write(PREFIX + b'{"artifact": {"name": "bad\xff\xfe<b>", "encoding": "string"}}\n')
out.write(PREFIX + b'{"dump_file": {"name": "bad\xc0\xaf..\xc0\xafup"}, "has_payload": "\xff/../\xfe"}\n\ttext\xff\n')
out.write(PREFIX + b'{"\xff<b>": "\xff"}\n')
# text that the pages show
T = evil.decode() + "\"'&`\n\r\0\u2028"
for text in (T, "\ud800" + T, T * 300):
    record({"str": [text, 3]}, frame=None)
    stack = [{"line": 1, "name": text, "filename": 3, "loc": text}, {"line": 2, "name": text, "uninterned_filename": text, "filename": 0}]
    record({"dynamo_start": {"stack": stack}}, frame=(7, 0, 0))
    record({"artifact": {"name": "other", "encoding": "string"}, "stack": stack}, b"x", frame=(8, 0, 0))
    record({"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}},
           ("Graph break in user code at /%s.py:1\nGraph Break Reason: %s\n\n%s\n  Explanation: %s\n  Hint: %s\n\n  Developer debug context: %s\n\n"
            " For more details about this graph break, please visit: javascript:%s/gb/gb0025.html\n" % ((text.replace("\n", ""),) * 7)).encode("utf-8", "replace"))
    record({"artifact": {"name": "recompile_reasons", "encoding": "json"}}, json.dumps(["0/0: %s == 1  # %s  # %s:1 in %s" % ((text,) * 4)]).encode())
    record({"artifact": {"name": "inductor_provenance_tracking_kernel_stack_traces", "encoding": "json"}}, json.dumps({text: [text]}).encode())
    record({"artifact": {"name": "torch_version", "encoding": "json"}}, json.dumps({"pytorch_version": text}).encode())
    metrics = {"co_name": text, "co_filename": text, "fail_type": text, "fail_reason": text, "fail_user_frame_filename": text, "fail_user_frame_lineno": 1,
               "restart_reasons": [text], "compliant_custom_ops": [text], "non_compliant_ops": [text], "cudagraph_skip_reason": text,
               "pytorch_version": text, "recompile_reason": text, text: text, "dynamo_time_before_restart_s": 1.0, text + "_us": 5, "duration_us": 3}  # fmt: skip
    record({"compilation_metrics": metrics}, frame=(7, 0, 0))
    record({"bwd_compilation_metrics": {"fail_type": text, "fail_reason": text}}, frame=(7, 0, 0))
    user = {"user_stack": stack, "stack": stack}
    record({"create_symbol": {"symbol": text, "val": text, "vr": text, "source": text} | user}, frame=(9, 0, 0))
    record({"symbolic_shape_specialization": {"symbol": text, "sources": [text], "value": text, "reason": text} | user}, frame=(9, 0, 0))
    record({"guard_added_fast": {"expr": text} | user}, frame=(9, 0, 0))
    record({"compilation_metrics": {"co_name": "f"}}, frame=(9, 0, 0))
    record({"chromium_event": {}}, json.dumps({"name": text, "ph": "B", "ts": 1, "args": {text: text}}).encode())
    record({text: text}, frame=(10, 0, 0))
