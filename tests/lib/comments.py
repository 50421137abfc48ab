"""comments.py FOLDER [STATUS] : the comments of a request as GitHub's and GitLab's API have them (list, post, edit), for one test: kept in
FOLDER/comments.json, each call a line of FOLDER/calls; its port is in FOLDER/port. With STATUS every call that writes is answered by it."""
import http.server
import json
import os
import sys

folder, refused = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
path = os.path.join(folder, "comments.json")


def rows():
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except OSError:
        return []


class Api(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value):
        with open(os.path.join(folder, "calls"), "a", encoding="utf-8") as f:
            f.write("%s %s %s\n" % (self.command, self.path, self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")))
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        n = int(self.path.rpartition("&page=")[2])
        self.answer(200, rows()[(n - 1) * 100:n * 100])

    def write(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        if refused:
            self.answer(refused, {"message": "Resource not accessible by integration"})
            return
        now = rows()
        if self.command == "POST":
            now.append({"id": len(now) + 1, "body": body})
        else:
            now[int(self.path.rpartition("/")[2]) - 1]["body"] = body
        with open(path, "w", encoding="utf-8") as f:
            json.dump(now, f)
        self.answer(200, {})

    do_POST = do_PATCH = do_PUT = write


server = http.server.HTTPServer(("127.0.0.1", 0), Api)
with open(os.path.join(folder, "port.new"), "w", encoding="utf-8") as f:
    f.write(str(server.server_port))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
