"""hostile_artifacts.py GOOD.zip FOLDER : artifacts that fxexplain-comment must refuse, each a file of FOLDER/refused named after what is wrong, made from a
good one. FOLDER/injected fits the schemas, and its every text attacks the comment; FOLDER/largest has as much as fits."""
import json
import os
import stat
import sys
import zipfile

INJECTED = ("\n::error::owned ::set-output name=a::b \r\n/merge\n/assign me\n@everyone #1 them/theirs#2 https://evil.example [x](https://evil.example) "
            "![x](https://evil.example) <script>alert(1)</script> <!-- --> `` ` ``` | **bold** \u202eesrever \x1b[31m \x00 $(touch harm) ${{ github.token }}\\")


def entry(name, data, mode=stat.S_IFREG | 0o644):
    info = zipfile.ZipInfo(name)
    info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
    return info, data


def edited(good, **of):
    return [entry("result.json", json.dumps(dict(json.loads(good["result.json"]), **of)))]


def finding(good, **of):
    result = json.loads(good["result.json"])
    return [entry("result.json", json.dumps(dict(result, findings=[dict(result["findings"][0], **of)])))]


def without(good, name):
    result = json.loads(good["result.json"])
    del result[name]
    return [entry("result.json", json.dumps(result))]


CASES = {
    "symlink": lambda g: [entry("result.json", "/proc/self/environ", stat.S_IFLNK | 0o777)],
    "folder": lambda g: [entry("result.json/", "", stat.S_IFDIR | 0o755)],
    "device": lambda g: [entry("result.json", g["result.json"], stat.S_IFCHR | 0o644)],
    "outside": lambda g: edited(g) + [entry("../../../.bash_profile", "touch harm")],
    "absolute": lambda g: edited(g) + [entry("/etc/profile.d/x.sh", "touch harm")],
    "another file": lambda g: edited(g) + [entry("fxexplain-comment", "touch harm")],
    "odd name": lambda g: edited(g) + [entry("x\n::error::owned", "")],
    "twice": lambda g: edited(g) + edited(g),
    "none": lambda g: [entry("report.sarif", g["report.sarif"])],
    "oversized": lambda g: edited(g, changes=["x" * 600000]),
    "bomb": lambda g: [entry("result.json", b" " * (100 << 20))],
    "SARIF bomb": lambda g: edited(g) + [entry("report.sarif", b" " * (100 << 20))],
    "empty": lambda g: [entry("result.json", "")],
    "not JSON": lambda g: [entry("result.json", "BASH_ENV=/tmp/x")],
    "cut": lambda g: [entry("result.json", g["result.json"][:-9])],
    "not UTF-8": lambda g: [entry("result.json", g["result.json"].replace(b"worse", b"wor\xffe"))],
    "deep": lambda g: [entry("result.json", "[" * 100000)],
    "NaN": lambda g: [entry("result.json", g["result.json"].replace(b'"status": 1', b'"status": NaN'))],
    "a member twice": lambda g: [entry("result.json", g["result.json"].replace(b'"status": 1', b'"status": 1, "status": 1'))],
    "long number": lambda g: [entry("result.json", g["result.json"].replace(b'"status": 1', b'"status": ' + b"1" * 100000))],
    "a list": lambda g: [entry("result.json", "[]")],
    "another tool": lambda g: edited(g, tool="x"),
    "a later schema": lambda g: edited(g, schema=2),
    "true for 1": lambda g: edited(g, schema=True),
    "a new member": lambda g: edited(g, body="anything"),
    "a member missing": lambda g: without(g, "left"),
    "an unknown verdict": lambda g: edited(g, verdict="approved"),
    "an unknown reason": lambda g: edited(g, reason="%(token)s"),
    "a status as text": lambda g: edited(g, status="0"),
    "a large status": lambda g: edited(g, status=256),
    "many changes": lambda g: edited(g, changes=["x"] * 41),
    "many findings": lambda g: edited(g, findings=json.loads(g["result.json"])["findings"] * 51),
    "a long text": lambda g: finding(g, title="x" * 2001),
    "a negative line": lambda g: finding(g, line=-1),
    "a text that is an object": lambda g: finding(g, title={"text": "x"}),
    "a finding's new member": lambda g: finding(g, url="https://evil.example"),
    "another SARIF": lambda g: edited(g) + [entry("report.sarif", g["report.sarif"].replace(b'"2.1.0"', b'"2.0.0"'))],
    "SARIF of another tool": lambda g: edited(g) + [entry("report.sarif", g["report.sarif"].replace(b'"fxexplain"', b'"CodeQL"'))],
    "SARIF with odd results": lambda g: edited(g) + [entry("report.sarif", g["report.sarif"].replace(b'"startLine":', b'"startLine":-'))],
}


def injected(good):
    result, log = json.loads(good["result.json"]), json.loads(good["report.sarif"])
    texts = {k: INJECTED for k in ("title", "file", "function", "cost", "fix")}
    for i, uri in enumerate(("../x.py", "/etc/passwd", "file:///etc/passwd", "https://evil.example/x.py", "a/../../x.py", "app/fine.py")):
        log["runs"][0]["results"][i]["locations"][0]["physicalLocation"]["artifactLocation"] = {"uri": uri, "uriBaseId": "%SRCROOT%"}
    log["runs"][0]["conversion"] = {"tool": "x"}
    log["inlineExternalProperties"] = [INJECTED]
    return [entry("result.json", json.dumps(dict(result, name=INJECTED, changes=[INJECTED], findings=[dict(result["findings"][0], **texts)]))),
            entry("report.sarif", json.dumps(log))]


def largest(good):
    result = json.loads(good["result.json"])
    texts = {k: "`@all " * 250 for k in ("title", "file", "function", "cost", "fix")}
    return edited(good, changes=["`@all " * 250] * 40, findings=[dict(result["findings"][0], **texts)] * 50)


def plain(good):
    return edited(good)


good_zip, folder = sys.argv[1:]
with zipfile.ZipFile(good_zip) as z:
    members = {n: z.read(n) for n in z.namelist()}
os.makedirs(os.path.join(folder, "refused"))
for case, of in dict(CASES, **{"not a zip": plain, "a cut zip": plain, "a large zip": plain}, injected=injected, largest=largest).items():
    to = os.path.join(folder, case if case in ("injected", "largest") else "refused/" + case)
    with zipfile.ZipFile(to, "w") as z:
        for info, data in of(members):
            z.writestr(info, data)
    with open(to, "r+b") as f:
        if case == "not a zip":
            f.write(b"BASH_ENV=/tmp/x\n")
            f.truncate()
        if case == "a cut zip":
            f.truncate(200)
        if case == "a large zip":
            f.truncate(9 << 20)
