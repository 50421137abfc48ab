"""serve.py PATH PORT: a report over HTTP, for this machine alone (tlparse --serve). PATH: a page, or a directory with an index.html.

http.server's own handler, with less of it: reading only, no lists of files, nothing that a link leads out to, and only for who asks by this machine's
name: a page of another site whose name was made to lead here (DNS rebinding) gets nothing.
"""
import functools
import http.server
import os
import socket
import sys

REQUESTS_AT_ONCE, IDLE_S = 32, 30
TEXT = "text/plain; charset=utf-8"


class Handler(http.server.SimpleHTTPRequestHandler):
    timeout = IDLE_S  # a connection on which nothing arrives
    server_version, sys_version = "tlparse", ""
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, "": TEXT, ".txt": TEXT, ".log": TEXT, ".py": TEXT, ".cpp": TEXT, ".jsonl": TEXT}

    def __init__(self, *args, root, page, **more):
        self.root, self.page = root, page
        super().__init__(*args, directory=root, **more)

    def translate_path(self, path):
        if self.page:
            return os.path.join(self.root, self.page if path.split("?")[0].split("#")[0] == "/" else "\0")
        found = super().translate_path(path)
        inside = os.path.realpath(found)
        return found if inside == self.root or inside.startswith(self.root + os.sep) else os.path.join(self.root, "\0")

    def send_head(self):
        name = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if name not in ("127.0.0.1", "localhost"):
            self.send_error(403, "Ask for 127.0.0.1 or localhost")
            return None
        try:
            return super().send_head()
        except ValueError:  # a NUL in a name
            self.send_error(404, "File not found")
            return None

    def list_directory(self, path):
        self.send_error(404, "File not found")

    def end_headers(self):
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    open = 0

    def verify_request(self, request, address):
        return self.open < REQUESTS_AT_ONCE

    def process_request(self, request, address):
        self.open += 1
        super().process_request(request, address)

    def process_request_thread(self, request, address):
        try:
            super().process_request_thread(request, address)
        finally:
            self.open -= 1

    def handle_error(self, request, address):  # the reader went away
        pass

    def server_bind(self):  # without asking for this machine's name
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = self.server_address[:2]


def main():
    path, port = os.path.realpath(sys.argv[1]), int(sys.argv[2])
    folder = os.path.isdir(path)
    handler = functools.partial(Handler, root=path if folder else os.path.dirname(path), page=None if folder else os.path.basename(path))
    try:
        server = Server(("127.0.0.1", port), handler)
    except OSError as e:
        sys.exit("tlparse: cannot serve on port %d: %s\nPass --port=0 for a free one." % (port, e.strerror))
    print("tlparse: http://127.0.0.1:%d/ (Ctrl-C ends it; from elsewhere: ssh -L %d:127.0.0.1:%d HOST)" % ((server.server_port,) * 3), file=sys.stderr, flush=True)
    server.serve_forever()


try:
    main()
except KeyboardInterrupt:
    pass
