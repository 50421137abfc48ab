"""What `pt2 mcp` says to a client (tests/cli/pt2-mcp.t): `mcp_session.py WALLS`, "no" on a kernel without Landlock; in the folder `in`, beside which `outside` is. As TAP lines."""
import json, os, re, sys, time

from mcp import Server


def ok(good, name, seen=None):
    print(f"{'ok' if good else 'not ok'} 1 - {name}", flush=True)
    if not good:
        print("#", repr(seen)[:1500], flush=True)


with Server(["pt2", "mcp", "in"]) as s:
    ok(s.about["protocolVersion"] == "2025-06-18" and {"tools", "resources"} <= set(s.about["capabilities"]), "it says what it can", s.about)
    tools = {t["name"]: t for t in s.ask("tools/list")["tools"]}
    ok(list(tools) == ["explain", "check_call", "verify", "nan", "minify", "mend", "runs", "more"], "its tools", list(tools))
    ok(all(t["description"] and t["inputSchema"]["type"] == "object" and t["inputSchema"]["additionalProperties"] is False for t in tools.values()), "each has a schema")
    ok(not any("command" in t["inputSchema"]["properties"] for t in tools.values()), "no tool takes a command")

    text, bad = s.call("explain", things=["breaks.log"], max_tokens=200)
    ok(not bad and "8 graph breaks" in text and len(text) <= 200 * 4 + 200, "a trace is explained, in as many words as were asked for", text)
    id, at = map(int, re.search(r"with id (\d+) and from (\d+)\]\n$", text).groups())
    whole, n = text[:text.rindex("[")], 1
    while True:
        text, bad = s.call("more", id=id, max_tokens=200, **{"from": at})
        n += 1
        m = re.search(r"\[\d+ of \d+ bytes; the rest: .* and from (\d+)\]\n$", text)
        whole += text[:text.rindex("[")] if m else text
        if not m:
            break
        at = int(m[1])
    ok(n > 3 and whole == s.resource(f"pt2://answer/{id}") and "graph_breaks.py:43" in whole, "the rest is read piece by piece", (n, whole))
    ok(s.call("more", id=99) == ("there is no answer 99, or it was dropped to make room", True), "there is no such answer")

    text, bad = s.call("check_call", things=["mlp.pt2", "f32[5,9]"])
    ok(not bad and "expected 8, given 9" in text and "[status 1: found" in text, "a call that does not fit", text)
    text, bad = s.call("explain", things=["breaks.log"], question="slow")
    ok(not bad and "Compile time" in text, "another question", text)
    text, bad = s.call("mend", things=["breaks.log"])
    ok(not bad and "no edit" in text, "edits of a trace", text)
    text, bad = s.call("runs")
    ok(not bad and "no run" in text.lower(), "there are no kept runs", text)

    for arguments, word in [
        ({"things": ["../outside/secret.log"]}, "outside"), ({"things": [os.path.abspath("outside/secret.log")]}, "outside"), ({"things": ["link.log"]}, "outside"),
        ({"things": ["x=../outside/secret.log"]}, "outside"), ({"things": ["../outside/secret.log:key"]}, "outside"), ({"things": ["/etc/passwd"]}, "outside"),
        ({"things": ["none.log"]}, "No such file"), ({"things": ["none/at.log"]}, "No such file"), ({"things": ["--html=x"]}, "not a file"),
        ({"things": [""]}, "not a file"), ({"things": "breaks.log"}, "list of strings"), ({"things": [1]}, "list of strings"), ({"things": ["a\0b"]}, "list of strings"),
        ({"things": []}, "needs 'things'"), ({}, "needs 'things'"), ({"thing": ["breaks.log"]}, "no argument 'thing'"),
        ({"things": ["breaks.log"], "question": "who"}, "'question' is"), ({"things": ["breaks.log"], "max_tokens": "x"}, "not a number"),
        ({"command": ["touch", "in/made"]}, "--allow-run"), ({"things": ["app.py"]}, "is a program"),
    ]:
        text, bad = s.call("explain", **arguments)
        ok(bad and word in text, f"refused: {json.dumps(arguments)}", text)
    for tool, things in [("nan", ["mlp.pt2", "f32[5,8]"]), ("verify", ["exported.pt2", "mlp.pt2"]), ("minify", ["repro.py"])]:
        text, bad = s.call(tool, things=things)
        ok(bad and "--no-exec" in text and "--allow-run" in text, f"{tool} would run something, and does not", text)
    ok(not os.path.exists("in/made"), "nothing was run")
    ok(sorted(os.listdir("in")) == sorted(FILES := ["app.py", "breaks.log", "exported.pt2", "link.log", "mlp.pt2", "names_out.log", "repro.py"]), "nothing was written", os.listdir("in"))

    # a trace that names a file elsewhere: the same tool, outside of the server, reads it
    text, _ = s.call("mend", things=["names_out.log"])
    ok("reorderable" not in text and "cannot open" in text or sys.argv[1] == "no", "a file that a trace names elsewhere is not read", text)

    uris = [r["uri"] for r in s.ask("resources/list")["resources"]]
    here = os.path.abspath("in")
    ok(all(f"pt2://{kind}{here}/breaks.log" in uris for kind in ("page", "graphs", "kernels")) and f"pt2://kernels{here}/mlp.pt2" in uris, "resources of what was asked about", uris)
    ok(s.resource(f"pt2://page{here}/breaks.log").startswith("<!doctype html>"), "a page")
    names = s.resource(f"pt2://graphs{here}/breaks.log").split("\n")
    graph = next(n for n in names if "dynamo_output_graph" in n)
    ok("class GraphModule" in s.resource(graph), "a graph", graph)
    ok("cpp_fused_relu_0" in s.resource(f"pt2://kernels{here}/mlp.pt2"), "kernels")
    ok("cpp_fused_relu_0" in s.resource(f"pt2://kernels{here}/mlp.pt2?name=cpp_fused_relu_0"), "one kernel")
    for uri in ["pt2://page/etc/passwd", "pt2://page" + here + "/../../../etc/passwd", "pt2://graphs" + here + "/breaks.log?name=../../../etc/passwd", "pt2://who/x", "file:///etc/passwd",
                "pt2://kernels" + here + "/mlp.pt2?name=--html=x", "pt2://page" + here + "/link.log", "pt2://answer/0", "pt2://answer/", "", "pt2://page", "pt2://page" + here + "/mlp.pt2"]:
        m = s.whole("resources/read", uri=uri)
        ok(m.get("error", {}).get("code") == -32602 and m["error"]["message"], f"no resource: {uri.replace(here, '...')}", m)
    ok(len(s.ask("resources/templates/list")["resourceTemplates"]) == 4, "the forms of resources")

    ok(s.whole("who/knows")["error"]["code"] == -32601, "an unknown method")
    ok(s.whole("tools/call", name="who")["error"]["code"] == -32602, "an unknown tool")
    ok(s.ask("ping") == {}, "ping")
    for raw, code in [(b"{", -32700), (b"", -32700), (b"[1]", -32600), (b'"x"', -32600)]:
        s.line(raw)
        m = s.next()
        ok(m["error"]["code"] == code and m["id"] is None, f"a line that is no request: {raw!r}", m)
    s.send({"method": "notifications/who"})
    s.send({"id": 500, "result": {}})
    ok(s.ask("ping") == {}, "notices and answers have no answer")
ok(s.status == 0, "it ends with its input", s.status)

with Server(["pt2", "mcp", "--allow-run", "in"]) as s:
    tools = {t["name"]: t for t in s.ask("tools/list")["tools"]}
    ok("command" in tools["nan"]["inputSchema"]["properties"] and not tools["nan"]["annotations"]["readOnlyHint"], "--allow-run: tools take a command")
    text, bad = s.call("nan", things=["mlp.pt2", "f32[5,8]"])
    ok(not bad and "aoti-nanassert" in text, "--allow-run: a model is run", text)
    text, bad = s.call("nan", things=["app.py"])
    ok(bad and "'command'" in text, "--allow-run: a program is a command", text)
    text, bad = s.call("explain", command=["sh", "-c", "echo in $PWD; touch made"])
    ok("in " + here in text and os.path.exists("in/made"), "--allow-run: a program is run, in the first folder", text)
    text, bad = s.call("explain", command=[])
    ok(bad and "empty" in text, "--allow-run: an empty command", text)
    text, bad = s.call("explain", command=["true"], cwd="/")
    ok(bad and "outside" in text, "--allow-run: a folder outside", text)
    text, bad = s.call("explain", command=["sh", "-c", "sleep 600"], timeout_s=1)
    ok(bad and "timed out" in text, "--allow-run: a call has its time", text)

    slow = s.begin("tools/call", name="explain", arguments={"command": ["sh", "-c", "echo $$ >pid; exec sleep 600"]}, _meta={"progressToken": "p1"})
    for _ in range(600):
        if os.path.exists("in/pid") and os.path.getsize("in/pid"):
            break
        time.sleep(0.1)
    ok(s.ask("ping") == {}, "it answers while a call runs")
    for _ in range(100):
        s.ask("ping")
        if s.notices:
            break
        time.sleep(0.2)
    ok(s.notices and s.notices[0]["method"] == "notifications/progress" and s.notices[0]["params"]["progressToken"] == "p1", "and says how far it is", s.notices)
    s.send({"method": "notifications/cancelled", "params": {"requestId": slow}})
    pid = int(open("in/pid").read())
    for _ in range(600):
        try:
            os.kill(pid, 0)
        except OSError:
            break
        time.sleep(0.1)
    else:
        pid = 0
    ok(pid and s.ask("ping") == {} and slow not in s.early, "a call that is cancelled ends, and has no answer")
    os.remove("in/pid")
    s.begin("tools/call", name="explain", arguments={"command": ["sh", "-c", "echo $$ >pid; exec sleep 600"]})
    for _ in range(600):
        if os.path.exists("in/pid") and os.path.getsize("in/pid"):
            break
        time.sleep(0.1)
    pid = int(open("in/pid").read())
try:
    os.kill(pid, 0)
    ok(False, "what runs is stopped with the server")
except OSError:
    ok(s.status == 0, "what runs is stopped with the server")
