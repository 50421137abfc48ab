"""A client of the Model Context Protocol for tests: `with Server(["pt2", "mcp", "."]) as s: s.call("explain", things=["trace.log"])`."""
import json, queue, subprocess, threading


class Server:
    def __init__(self, argv, **how):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        self.got, self.n, self.early, self.notices = queue.Queue(), 0, {}, []
        threading.Thread(target=self.read, daemon=True).start()
        self.about = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
        self.send({"method": "notifications/initialized"})

    def read(self):
        for line in self.p.stdout:
            self.got.put(json.loads(line))
        self.got.put(None)

    def line(self, raw):
        self.p.stdin.write(raw + b"\n")
        self.p.stdin.flush()

    def send(self, message):
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def begin(self, method, **params):
        self.n += 1
        self.send({"id": self.n, "method": method, "params": params})
        return self.n

    def next(self):
        m = self.got.get(timeout=200)
        assert m is not None, "the server has ended"
        return m

    def wait(self, id):
        while id not in self.early:
            m = self.next()
            if "id" in m:
                self.early[m["id"]] = m
            else:
                self.notices.append(m)
        return self.early.pop(id)

    def whole(self, method, **params):
        return self.wait(self.begin(method, **params))

    def ask(self, method, **params):
        return self.whole(method, **params)["result"]

    def call(self, tool, **arguments):
        """Its text, and whether it is an error."""
        r = self.ask("tools/call", name=tool, arguments=arguments)
        assert [c["type"] for c in r["content"]] == ["text"]
        return r["content"][0]["text"], r["isError"]

    def resource(self, uri):
        r = self.ask("resources/read", uri=uri)["contents"]
        assert len(r) == 1
        return r[0]["text"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.stdin.close()
        self.status = self.p.wait(timeout=200)
