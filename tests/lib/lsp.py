"""A client of the Language Server Protocol for tests: `with Server(["fxexplain", "serve", "traces"]) as s: ...`."""
import json, os, pathlib, queue, subprocess, threading


def uri(path):
    return pathlib.Path(os.path.abspath(path)).as_uri()


class Server:
    def __init__(self, argv, encodings=None):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.got, self.n, self.diagnostics, self.published = queue.Queue(), 0, {}, 0
        threading.Thread(target=self.read, daemon=True).start()
        general = {"positionEncodings": encodings} if encodings else {}
        self.capabilities = self.ask("initialize", {"processId": os.getpid(), "capabilities": {"general": general}})["capabilities"]
        self.tell("initialized", {})

    def read(self):
        while head := self.p.stdout.readline():
            n = int(head.split(b":")[1])
            self.p.stdout.readline()
            self.got.put(json.loads(self.p.stdout.read(n)))
        self.got.put(None)

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.p.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.p.stdin.flush()

    def tell(self, method, params):
        self.send({"method": method, "params": params})

    def next(self):
        m = self.got.get(timeout=120)
        assert m is not None, "the server has ended"
        if m.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[m["params"]["uri"]] = m["params"]["diagnostics"]
            self.published += 1
        return m

    def ask(self, method, params):
        self.n += 1
        self.send({"id": self.n, "method": method, "params": params})
        while (m := self.next()).get("id") != self.n:
            pass
        return m.get("result", m.get("error"))

    def wait(self, path, what):
        """Until the diagnostics of a file are so."""
        while not what(self.diagnostics.get(uri(path), [])):
            self.next()
        return self.diagnostics.get(uri(path), [])

    def open(self, path):
        with open(path) as f:
            self.tell("textDocument/didOpen", {"textDocument": {"uri": uri(path), "languageId": "python", "version": 1, "text": f.read()}})

    def change(self, path, text):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri(path), "version": 2}, "contentChanges": [{"text": text}]})

    def at(self, method, path, line):
        here = {"line": line, "character": 0}
        return self.ask(method, {"textDocument": {"uri": uri(path)}, "position": here, "range": {"start": here, "end": here}, "context": {"diagnostics": []}})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.status = self.p.wait()
