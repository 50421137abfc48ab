"""comments.py FOLDER [STATUS] : what GitHub's and GitLab's API have for the comment of a request, for one test. Comments (list, post, edit) are kept in
FOLDER/comments.json, open requests are FOLDER/pulls.json, GitLab's jobs FOLDER/jobs.json; artifacts are FOLDER/artifacts/NAME.zip for GitHub, which
redirects to a server that must not see the token, and files of FOLDER/artifacts for GitLab. Each call is a line of FOLDER/calls; the port is in FOLDER/port.
With STATUS every call that writes is answered by it."""
import http.server
import json
import os
import sys
import urllib.parse

folder, refused = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
path = os.path.join(folder, "comments.json")


def rows(name="comments.json"):
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return json.load(f)
    except OSError:
        return []


def artifacts():
    at = os.path.join(folder, "artifacts")
    return [{"id": i + 1, "name": n[:-4], "size_in_bytes": os.path.getsize(os.path.join(at, n)), "expired": False, "file": os.path.join(at, n)}
            for i, n in enumerate(sorted(os.listdir(at) if os.path.isdir(at) else [])) if n.endswith(".zip")]


class Api(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, value, **headers):
        with open(os.path.join(folder, "calls"), "a", encoding="utf-8") as f:
            f.write("%s %s %s\n" % (self.command, self.path, self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")))
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in dict(headers, **{"Content-Length": str(len(body))}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(body)

    def file(self, name):
        try:
            with open(name, "rb") as f:
                self.answer(200, f.read())
        except OSError:
            self.answer(404, {})

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        asked = urllib.parse.parse_qs(url.query)
        parts = url.path.strip("/").split("/")
        page = int(asked.get("page", ["1"])[0])

        def listed(all_rows):
            return all_rows[(page - 1) * 100:page * 100]
        if parts[-1] == "artifacts":
            found = [a for a in artifacts() if a["name"] == asked["name"][0]]
            self.answer(200, {"total_count": len(found), "artifacts": listed(found)})
        elif parts[-1] == "zip":
            self.answer(302, {}, Location="/blob/" + parts[-2])
        elif parts[0] == "blob":
            self.file(artifacts()[int(parts[1]) - 1]["file"])
        elif parts[-1] == "pulls":
            self.answer(200, listed([p for p in rows("pulls.json") if p["head"]["label"] == asked["head"][0]]))
        elif parts[-1] == "user":
            self.answer(200, {"id": 1})
        elif parts[-1] == "jobs":
            self.answer(200, listed(rows("jobs.json")))
        elif "artifacts" in parts:
            self.file(os.path.join(folder, "artifacts", *parts[parts.index("artifacts") + 1:]))
        else:
            self.answer(200, listed(rows()))

    def write(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        if refused:
            self.answer(refused, {"message": "Resource not accessible by integration"})
            return
        now = rows()
        if self.command == "POST":
            now.append({"id": len(now) + 1, "body": body, "user": {"type": "Bot"}, "author": {"id": 1}})
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
