"""What `fxexplain serve` says to a client (tests/cli/serve.t): `serve_session.py TRACE_WITH TRACE_WITHOUT`, in a folder with app/prints.py. As TAP lines."""
import json, os, shutil, subprocess, sys

from lsp import Server, uri

FILE = "app/prints.py"
SERVE = ["fxexplain", "serve", "--root", "app", "traces"]
with_breaks, without = sys.argv[1:]


def ok(good, name):
    print(f"{'ok' if good else 'not ok'} 1 - {name}", flush=True)


def lines(diagnostics):
    return sorted(d["range"]["start"]["line"] for d in diagnostics)


def apply(text, edits):
    rows = text.splitlines(keepends=True)
    at = lambda p: sum(map(len, rows[:p["line"]])) + p["character"]
    for e in sorted(edits, key=lambda e: -at(e["range"]["start"])):
        text = text[:at(e["range"]["start"])] + e["newText"] + text[at(e["range"]["end"]):]
    return text


with open(FILE) as f:
    text = f.read()
shutil.rmtree("traces", ignore_errors=True)
with Server(SERVE) as s:
    s.open(FILE)
    ok(s.at("textDocument/hover", FILE, 5) is None, "no folder of traces yet: nothing is said")
    os.mkdir("traces")
    shutil.copy(with_breaks, "traces/dedicated_log_torch_trace_one.log")
    found = s.wait(FILE, lambda d: d)
    ok(lines(found) == [5, 7], "a trace appears: its findings stand at their lines")
    ok(all(d["source"] == "fxexplain" and d["code"] == "GB0059" and d["severity"] == 2 and "print" in d["message"] for d in found), "what they are")
    ok(found[0]["range"] == {"start": {"line": 5, "character": 4}, "end": {"line": 5, "character": 43}}, "the code of the line, without its blanks")
    hover = s.at("textDocument/hover", FILE, 7)["contents"]["value"]
    ok("Cost: 1 more graph" in hover and "Fix: `torch._dynamo.config.reorderable" in hover, "a hover has cause, cost and fix")
    ok(s.at("textDocument/hover", FILE, 0) is None, "a line without findings has none")

    moved = "# more\n# on top\n" + text
    s.change(FILE, moved)
    ok(lines(s.wait(FILE, lambda d: lines(d) != [5, 7])) == [7, 9], "lines that moved are found again")
    actions = s.at("textDocument/codeAction", FILE, 7)
    edits = actions[0]["edit"]["changes"][uri(FILE)]
    want = moved.replace('    print("mean", y.shape, file=sys.stderr)\n', "")
    ok(len(actions) == 1 and apply(moved, edits) == want, "an action changes the text as the editor has it")
    s.change(FILE, want)
    ok(lines(s.wait(FILE, lambda d: len(d) == 1)) == [8], "what was mended is no longer there")
    action = s.at("textDocument/codeAction", FILE, 8)[0]
    fixed = apply(want, action["edit"]["changes"][uri(FILE)])
    ok("reorderable_logging_functions.add(print)\n" in fixed and action["diagnostics"][0]["code"] == "GB0059", "an action may add a line on top")
    s.tell("textDocument/didClose", {"textDocument": {"uri": uri(FILE)}})
    ok(lines(s.wait(FILE, lambda d: len(d) == 2)) == [5, 7], "closed without being saved: the file is as it is on the disk")
    shutil.copy(without, "traces/dedicated_log_torch_trace_two.log")
    ok(s.wait(FILE, lambda d: not d) == [], "the log that was written last counts")
    ok(s.ask("workspace/symbol", {}) == {"code": -32601, "message": "not supported by fxexplain"}, "what it does not do is said")
    s.p.stdin.write(b"Content-Length: 5\r\n\r\n{\"id\"")
    s.p.stdin.flush()
    while "error" not in (m := s.next()):
        pass
    ok(m["error"]["code"] == -32700 and m["id"] is None, "no JSON: said, and it goes on")
ok(s.status == 0, "shutdown and exit: 0")

for encodings in (None, ["utf-8", "utf-16"]):
    with open(FILE, "w") as f:
        f.write(text.replace("y.shape, file", '"é", file'))
    os.remove("traces/dedicated_log_torch_trace_two.log") if os.path.exists("traces/dedicated_log_torch_trace_two.log") else None
    with open("traces/dedicated_log_torch_trace_one.log", "rb") as f:
        log = f.read().replace(b"y.shape, file", '"é", file'.encode())
    with open("traces/dedicated_log_torch_trace_one.log", "wb") as f:
        f.write(log)
    with Server(SERVE, encodings) as s:
        found = s.wait(FILE, lambda d: d)
        end = [d["range"]["end"]["character"] for d in found if d["range"]["start"]["line"] == 5]
        line = '    print("mean", "é", file=sys.stderr)'
        ok(end == [len(line) if encodings is None else len(line.encode())], f"columns in {s.capabilities['positionEncoding']}")


def raw(data):
    p = subprocess.run(SERVE, input=data, capture_output=True)
    return p.returncode, p.stderr.decode().strip()


ok(raw(b"") == (0, ""), "an end between messages is one")
ok(raw(b"GET / HTTP/1.1\r\n\r\n")[0] == 3 and "Content-Length" in raw(b"GET / HTTP/1.1\r\n\r\n")[1], "no client of a language server")
ok(raw(b"x" * 5000)[0] == 3, "a head without an end")
ok(raw(b"Content-Length: 50\r\n\r\n{}")[1].endswith("within a message"), "a message that is cut off")
ok("bytes" in raw(b"Content-Length: 99999999999\r\n\r\n{}")[1], "a message of any size")
ok(raw(b'Content-Length: 33\r\n\r\n{"jsonrpc":"2.0","method":"exit"}')[0] == 1, "exit without shutdown: 1")
