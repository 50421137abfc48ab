#!/usr/bin/python3
"""Opens reports in headless Chromium, one after the other, and looks at all of each.

usage: report_test.py REPORT.html...          SHOTS=FOLDER: with screenshots

Prints TAP, with the report's name in each line, and "# NAME: whole" at its end. What the page shows is held against the file itself: this script
unpacks the blocks on its own. Of a report's artifacts, compile ids and logs a sample is opened; PT2_LONG=1 (make check-long): up to 1,500, 60 and 8.
Says "1..0 # SKIP …" and ends 0 where python3-selenium, chromium or chromium-driver are not installed.
"""
import base64
import json
import os
import pathlib
import re
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import chromium  # noqa: E402
import report as page_file  # noqa: E402
from selenium.common.exceptions import NoAlertPresentException, WebDriverException

# Artifacts and compile ids that are opened: of more, a sample spread evenly. Logs of one report: the first.
MOST, IDS, LOGS = (1500, 60, 8) if os.environ.get("PT2_LONG") else (24, 12, 2)

if len(sys.argv) < 2:
    sys.exit(__doc__)
shots = pathlib.Path(os.environ["SHOTS"]) if "SHOTS" in os.environ else None


def by_log(model, log):
    """What the page makes of the rows of all logs: a log's own, named by their place among them."""
    first = next((i for i, a in enumerate(model["attempts"]) if a["input"] == log["input"]), 0)
    log["rank"] = model["inputs"][log["input"]]["rank"]
    log["compile_ids"] = []
    for a in model["attempts"]:
        if a["input"] == log["input"]:
            n = ["-", "-", "-"] if a["dir"] == "unknown" else a["dir"].split("_")
            name = "/".join((["!" + n[0]] if n[0] != "-" else []) + n[1:3])
            log["compile_ids"].append(a | {"frame_id": None if n[1] == "-" else int(n[1]), "id": name})
    log["artifacts"]["compile_id"] = [a - first for a in log["artifacts"]["attempt"]]
    for p in log.get("provenance", []):
        p["compile_id"] = p["attempt"] - first


report = model = None  # the one that is looked at
blocks, unpacked = {}, {}

number = failed = 0
results = []  # of the report that is looked at: (good, what, detail)


def take(path):
    global report, model, blocks
    report = pathlib.Path(path).resolve()
    source = report.read_text(encoding="utf-8", errors="replace")
    model = page_file.unpack(json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', source, re.S)[1]))
    for log in model["logs"]:
        by_log(model, log)
    blocks = {m[1]: m[2] for m in re.finditer(r'<script type="text/plain" id="([pmer]\d+)">([^<]*)</script>', source)}
    unpacked.clear()
    console.clear()


def ok(good, what, detail=""):
    results.append((bool(good), what.replace("#", "\\#"), detail))


def tell():
    """The results as TAP."""
    global number, failed
    for good, what, detail in results:
        number += 1
        failed += not good
        print("ok" if good else "not ok", number, "-", report.stem + ":", what)
        if not good and detail:
            print("#   " + str(detail)[:2000].replace("\n", "\n#   "))
    print("# %s: whole" % report.stem, flush=True)


def block(name):
    if name not in unpacked:
        if len(unpacked) > 40:
            unpacked.clear()
        unpacked[name] = zlib.decompress(base64.b64decode(blocks[name]), -15)
    return unpacked[name]


def payload(log, i):
    a = log["artifacts"]
    if not a["size"][i] or a["block"][i] < 0:
        return b""
    return block("p%d" % a["block"][i])[a["offset"][i]:a["offset"][i] + a["size"][i]]


def artifact_words(log, i):
    a, ids = log["artifacts"], log["compile_ids"]
    key = log["keys"][a["key"][i]]
    name = a["name"][i] or key
    c = ids[a["compile_id"][i]] if 0 <= a["compile_id"][i] < len(ids) else None
    label = "" if not c else str(c["id"]) + ("_%d" % c["attempt"] if c["attempt"] else "")
    return ("%s %s %s" % (name, key, label)).lower()


d = chromium.start(120)


def js(script, *args):
    return d.execute_script(script, *args)


def promise(body, *args):
    """Runs an async function's body in the page; its value, or its error as text."""
    r = d.execute_async_script(
        "const done = arguments[arguments.length - 1], args = [...arguments].slice(0, -1);"
        "(async () => {" + body + "})().then(v => done([v, null]), e => done([null, String(e && e.message || e)]));", *args)
    return r


console = []


def complaints():
    """Errors and warnings since the last call."""
    for entry in d.get_log("browser"):
        if entry["level"] in ("SEVERE", "WARNING"):
            console.append(entry["level"] + " " + entry["message"])
    try:
        console.append("an alert opened: " + d.switch_to.alert.text)
        d.switch_to.alert.dismiss()
    except NoAlertPresentException:
        pass
    return console


LOOK = """
const bad = [];
for (const e of document.querySelectorAll('#main script, #main img, #main iframe, #main object, #main embed, #main style, #main svg')) bad.push('element ' + e.tagName);
for (const e of document.querySelectorAll('#top *, #body *, dialog *')) for (const a of e.attributes) {
  if (/^on/i.test(a.name)) bad.push('attribute ' + a.name);
  if (a.name === 'href' && !/^(#|https?:)/.test(a.value) && !/^blob:/.test(a.value)) bad.push('href ' + a.value);
  if (a.name === 'href' && /^https?:/.test(a.value) && !/noopener/.test(e.rel)) bad.push('no noopener ' + a.value);
}
const shadow = document.querySelector('.ranks') && document.querySelector('.ranks').shadowRoot;
if (shadow) {
  for (const e of shadow.querySelectorAll('script:not([type="application/json"]), img, iframe, object, embed, svg:not(td.bar > svg), link')) bad.push('compared: element ' + e.tagName);
  for (const e of shadow.querySelectorAll('*')) for (const a of e.attributes) if (/^on/i.test(a.name) || a.name === 'href' && !/^#/.test(a.value)) bad.push('compared: ' + a.name + ' ' + a.value);
}
for (const e of document.querySelectorAll('.problem')) bad.push('problem: ' + e.textContent);
if (/could not be drawn/.test(document.querySelector('#main').textContent)) bad.push(document.querySelector('#main').textContent.slice(0, 600));
return bad;
"""


def visit(address):
    value, error = promise("await pt2.go(args[0]); await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));"
                           "return document.querySelector('#main').textContent.length", address)
    found = js(LOOK)
    if error:
        found.append(error)
    if not error and not value:
        found.append("an empty page")
    return found


def shot(name):
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
        d.save_screenshot(str(shots / (report.stem + "-" + name + ".png")))


def soon(there):
    """What there() is when it is true, or as it is after a minute."""
    end = time.monotonic() + 60
    while not (now := there()) and time.monotonic() < end:
        time.sleep(0.02)
    return now


def look():
    soon(fresh)
    logs = model["logs"]
    ok(js("return typeof pt2 === 'object' && !!document.querySelector('#main h1')"), "the page loads")
    ok(js("return pt2.complete === true"), "every block arrived")
    ok(all("%s%d" % (s, n) in blocks for s, count in model.get("blocks", {}).items() for n in range(count)), "the document's number of blocks is there")
    ok(js("return performance.getEntriesByType('resource').filter(r => !/^data:/.test(r.name)).map(r => r.name)") == [], "nothing is fetched")
    shot("first")

    # views
    prefix = lambda n: "#/L%d/" % n
    wrong = []
    if len(logs) > 1:
        wrong += visit("#/all")
    for n in range(min(len(logs), LOGS)):
        for view in ("", "stacks", "compiles", "failures", "breaks", "recompiles", "symbols", "export", "provenance", "timeline", "metrics", "config", "artifacts", "records"):
            problems = visit(prefix(n) + view)
            shot("%d-%s" % (n, view or "summary"))
            if problems:
                wrong.append("%s: %s" % (prefix(n) + view, problems))
    ok(not wrong, "each view opens", wrong)
    wrong = []
    for n, log in enumerate(logs[:LOGS]):
        slugs = js("return [...pt2.doc.logs[arguments[0]].slugs.keys()]", n)
        if len(slugs) != len(log["compile_ids"]):
            wrong.append("log %d: %d addresses for %d compile ids" % (n, len(slugs), len(log["compile_ids"])))
        for slug in slugs[:: max(1, len(slugs) // IDS)]:
            problems = visit(prefix(n) + "compile/" + js("return encodeURIComponent(arguments[0])", slug))
            if problems:
                wrong.append("%s: %s" % (slug, problems))
    shot("compile")
    ok(not wrong, "compile ids open", wrong)

    # artifacts
    for n, log in enumerate(logs[:LOGS]):
        total = len(log["artifacts"]["line"])
        ok(js("return pt2.count(arguments[0])", n) == total, "log %d: the page counts %d artifacts" % (n, total))
        chosen = list(range(total)) if total <= MOST else sorted({i * (total - 1) // (MOST - 1) for i in range(MOST)})
        wrong, odd = [], []
        for k in range(0, len(chosen), 25):
            part = chosen[k:k + 25]
            values, error = promise(
                "const out = []; for (const i of args[0]) { const t = await pt2.openArtifact(i, args[1]);"
                "out.push([t, !!document.querySelector('.reader .code .ln, .reader .guards, .reader > .empty')]); } return out", part, n)
            if error:
                wrong.append("%d…: %s" % (part[0], error))
                continue
            for i, (text, drawn) in zip(part, values):
                want = payload(log, i).decode("utf-8", "replace")
                if text != want:
                    wrong.append("artifact %d: %d characters, not %d" % (i, len(text), len(want)))
                if not drawn:
                    wrong.append("artifact %d: nothing is shown" % i)
            odd += js(LOOK)
        shot("%d-artifact" % n)
        ok(not wrong, "log %d: %d artifacts open with the payload's text" % (n, len(chosen)), "\n".join(wrong[:10]))
        ok(not odd, "log %d: nothing in them is taken for markup" % n, odd)
        if not total:
            continue

        # search
        hay = [artifact_words(log, i) for i in range(total)]
        words = sorted({w for s in hay for w in s.split() if "/" not in w})
        words = words[:: max(1, len(words) // 12)][:14] + ["graph", "no-such-artifact-anywhere", ""]
        visit(prefix(n) + "artifacts")
        wrong = []
        for w in words:
            got, want = js("return pt2.search(arguments[0])", w), sum(all(p in s for p in w.split()) for s in hay)
            if got != want:
                wrong.append("%r: %d found, not %d" % (w, got, want))
        ok(not wrong, "log %d: search finds what is there" % n, wrong)
        if total <= 1500:
            text = next((t for t in (payload(log, i).decode("utf-8", "replace") for i in range(total)) if re.search(r"[A-Za-z_]{6,}", t)), "")
            word = max(re.findall(r"[A-Za-z_]{6,40}", text)[:200], key=len, default="")
            if word:
                want = sum(word.lower() in payload(log, i).decode("utf-8", "replace").lower() for i in range(total))
                js("pt2.search(arguments[0]); document.querySelector('.finder input[type=search]').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))", word)
                for _ in range(300):
                    note = js("return document.querySelector('.finder .note').textContent")
                    if note.startswith("Found"):
                        break
                    time.sleep(0.1)
                found = re.sub(r"\D", "", note)
                ok(found == str(want), "log %d: a search inside finds %r in %d artifacts" % (n, word, want), note)
            js("pt2.search('')")

    # provenance: a click on a line marks the lines that the document links with it
    def follow(links, way, lines):
        return sorted({t for x in lines for t in links.get(way, {}).get(str(x), [])})

    for n, log in enumerate(logs[:LOGS]):
        sets, seen, wrong, clicks = log.get("provenance", []), {}, [], 0
        for p in sets[:: max(1, len(sets) // 12)]:
            seen[p["compile_id"]] = nth = sum(q["compile_id"] == p["compile_id"] for q in sets[:sets.index(p) + 1])
            slug = js("return pt2.doc.logs[arguments[0]].compile_ids[arguments[1]].slug", n, p["compile_id"])
            problems = visit(prefix(n) + "provenance/%s/%d" % (slug, nth))
            wrong += problems
            parts, links = [k for k in ("pre", "post", "code", "aot") if p[k] is not None], p["links"]
            texts = {k: payload(log, p[k]).decode("utf-8", "replace").split("\n") for k in parts}
            if js("return pt2.currentProvenance.set.index") != sets.index(p) or problems:
                wrong.append("set %d is not shown" % sets.index(p))
                continue
            for part, ways in (("pre", ["preToPost"]), ("post", ["postToPre", "postToCode", "postToAot"]), ("code", ["codeToPost"]), ("aot", ["aotToPost"])):
                lines = sorted({int(x) for w in ways for x in links.get(w, {})} if part in parts else [])
                for line in lines[:: max(1, len(lines) // 5)]:
                    post = [line] if part == "post" else follow(links, part + "ToPost", [line])
                    want = {"pre": follow(links, "postToPre", post), "post": post, "code": follow(links, "postToCode", post), "aot": follow(links, "postToAot", post)}
                    got, error = promise(
                        "const two = () => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));"
                        "const pane = k => document.querySelector('.pp[data-pane=' + k + '] .code'), row = (k, n) => pane(k).querySelector('[data-line=\"' + n + '\"]');"
                        "pane(args[0]).scrollTop = (args[1] - 3) * 19; await two(); getSelection().removeAllRanges();"
                        "const r = row(args[0], args[1]), text = r.querySelector('.src').textContent; r.click(); await two();"
                        "const P = pt2.currentProvenance, m = P.marked(), now = {};"
                        "for (const k in m) if (k !== args[0] && m[k].length) now[k] = row(k, P.current(k)) && row(k, P.current(k)).className;"
                        "return [text, m, now, row(args[0], args[1]).className, document.querySelector('.pdetail').textContent]", part, line)
                    clicks += 1
                    if error:
                        wrong.append("%s %d: %s" % (part, line, error))
                        continue
                    text, marked, now, own, detail = got
                    if text != texts[part][line - 1][:2000].rstrip("\r"):
                        wrong.append("%s %d shows %r" % (part, line, text))
                    own_kind = {"code", "aot"} if part in ("code", "aot") else {part}
                    for k in set(parts) - own_kind:
                        if marked[k] != want[k]:
                            wrong.append("%s %d: %s marks %s, not %s" % (part, line, k, marked[k], want[k]))
                        if want[k] and "now" not in (now.get(k) or "").split():
                            wrong.append("%s %d: %s does not show line %s: %s" % (part, line, k, want[k][0], now.get(k)))
                    if "sel" not in own.split():
                        wrong.append("%s %d: not marked itself: %s" % (part, line, own))
                    if part in ("pre", "post"):
                        rows = [r for r in links[part + "Source"] if r[0] <= line]
                        if rows and rows[-1][1] >= 0 and os.path.basename(links["sources"][rows[-1][1]][0]) not in detail:
                            wrong.append("%s %d: its source is not told: %s" % (part, line, detail[:200]))
        if sets:
            shot("%d-provenance-clicked" % n)
            ok(not wrong, "log %d: provenance: %d sets open, %d clicks mark what is linked" % (n, len(sets), clicks), "\n".join(map(str, wrong[:10])))
            js("document.querySelector('.pp .code').focus(); document.querySelector('.pp .code').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', bubbles: true}));"
               "document.querySelector('.pp .code').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))")
            ok(js("return pt2.currentProvenance.selected().line") == 2, "log %d: arrow keys move from line to line" % n)
        visit(prefix(n))
        there = js("return ['Provenance', 'Export'].map(s => [...document.querySelectorAll('#nav a')].some(a => a.textContent.startsWith(s)))")
        ok(there == [bool(sets), bool(log.get("export"))], "log %d: the navigation names provenance and export where there are any" % n, there)

    # export
    for n, log in enumerate(logs[:LOGS]):
        x = log.get("export")
        if not x:
            continue
        wrong = visit(prefix(n) + "export")
        text = js("return document.querySelector('#main').textContent")
        for f in x["failures"][:40]:
            for part in (f["expr"], f["op"], f["result"], (f["location"] or {}).get("code")):
                if part and part not in text:
                    wrong.append("%r is not told" % part)
        if x["exported_program"] is not None and not js("return !!document.querySelector('.verdict a[href$=\"artifact/%d\"]')" % x["exported_program"]):
            wrong.append("no link to the exported program")
        if ("succeeded" in text) != (not x["failures"] and x["exported_program_line"] is not None):
            wrong.append("success is told wrongly")
        trees = sum(f["expression"] is not None for f in x["failures"][:40])
        if js("return document.querySelectorAll('.xtree').length") < trees:
            wrong.append("histories are missing")
        folded = js("const t = [...document.querySelectorAll('.xtree')].find(t => t.querySelector('button.tri')); if (!t) return null; const n = () => t.children.length, a = n();"
                    "t.querySelector('button.tri').click(); const b = n(); t.querySelector('button.tri').click(); return [a, b, n()]")
        if folded and not (folded[0] > folded[1] == 1 < folded[2]):
            wrong.append("a history does not fold: %s" % folded)
        ok(not wrong, "log %d: export: %d findings are told" % (n, len(x["failures"])), "\n".join(map(str, wrong[:10])))

    # several logs are compared
    if len(logs) > 1:
        wrong = visit("#/all")
        rows = js("return [...document.querySelector('.ranks').shadowRoot.querySelectorAll('#plist tr')].length") - 1
        said = js("const r = document.querySelector('.ranks').shadowRoot; return [...r.querySelectorAll('#checks tr')].map(t => t.innerText || t.textContent)")
        if rows != len(logs):
            wrong.append("%d processes for %d logs" % (rows, len(logs)))
        ids = {}
        for log in logs:
            ids.setdefault(frozenset(c["id"] for c in log["compile_ids"] if c["frame_id"] is not None), []).append(log["rank"])
        row = next((s for s in said if s.startswith("Compile ids")), "")
        named = {int(x) for x in re.findall(r"\d+", row.split("set of compile ids")[-1])[1:]}        # the first number is that of groups
        ranked = len({log["rank"] for log in logs} - {None}) == len(logs)
        if ranked and len(ids) > 1 and ("%d groups" % len(ids) not in row or not {r[0] for r in ids.values() if len(r) == 1} <= named):
            wrong.append("who parts in compile ids: %s, the page says %r" % (sorted(ids.values()), row))
        if js("return pt2.doc.logs.some(l => l.rank != null)") and not js("return !!document.querySelector('#main .verdict')"):
            wrong.append("no verdict")
        anchor = js("const a = document.querySelector('.ranks').shadowRoot.querySelector('nav a'); a.click(); return location.hash")
        if anchor != "#/all":
            wrong.append("a link of the comparison leads away: " + anchor)
        js("document.querySelector('.ranks').shadowRoot.querySelector('#plist a').click()")
        if not soon(lambda: re.match(r"#/L\d+/$", js("return location.hash"))):
            wrong.append("a process does not lead to its log")
        ok(not wrong, "the logs are compared: %d groups of compile ids" % len(ids), "\n".join(map(str, wrong[:10])))

    # address and back
    visit(prefix(0) + "breaks")
    shows = lambda title: soon(lambda: js("return (document.querySelector('#main h1') || {}).textContent") == title)
    js("location.hash = '#/L0/symbols'")
    there = shows("Symbols")
    d.back()
    ok(there and shows("Graph breaks"), "the back button goes back")
    ok(not visit("#/L0/no-such-page") and not visit("#/L0/artifact/999999999") and not visit("#/L0/compile/%3Cb%3E"), "addresses of nothing say so")
    ok(not visit("#/L0/constructor") and not visit("#/__proto__/x/%E0%A4%A"), "odd addresses do no harm")

    # timeline
    if model.get("blocks", {}).get("e"):
        visit(prefix(0) + "timeline")
        colours = js("const c = document.querySelector('canvas'); if (!c) return 0; const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                     "const s = new Set(); for (let i = 0; i < p.length; i += 4 * 7) s.add(p[i] << 16 | p[i + 1] << 8 | p[i + 2]); return s.size")
        events = js("return pt2.currentTimeline ? pt2.currentTimeline.data.n : 0")
        ok(not events or colours > 4, "the timeline of log 0 is drawn (%d events, %d colours)" % (events, colours))

    # light, dark, narrow
    def shade():
        return js("const m = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); return (+m[0] + +m[1] + +m[2]) / 3")
    seen = []
    for scheme in ("light", "dark"):
        d.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        soon(lambda: js("return matchMedia('(prefers-color-scheme: ' + arguments[0] + ')').matches", scheme)) # the page learns of it later
        visit(prefix(0))
        seen.append(shade())
        shot(scheme)
    ok(seen[0] > 200 and seen[1] < 80, "light and dark follow the system", seen)
    js("document.querySelector('#theme').click()")
    ok(shade() > 200, "the button changes to light")
    js("document.querySelector('#theme').click()")
    ok(shade() < 80, "and back to dark")
    d.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True})
    soon(lambda: js("return document.documentElement.clientWidth") == 390)
    wrong = []
    for view in ("", "compiles", "breaks", "artifacts", "artifact/0", "timeline", "metrics", "config", "export", "provenance", "all"):
        visit("#/all" if view == "all" else prefix(0) + view)
        wide = js("return [document.documentElement.scrollWidth, document.querySelector('#main').scrollWidth - document.querySelector('#main').clientWidth, innerWidth]")
        shot("narrow-" + (view.replace("/", "-") or "summary"))
        if wide[0] > wide[2] or wide[1] > 1:
            wrong.append("%s: %s" % (view, wide))
    ok(not wrong, "nothing sticks out on a phone", wrong)
    d.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    ok(not complaints(), "no console error, warning or alert", "\n".join(console[:10]))

    # a browser without DecompressionStream still shows the summary, and says what is missing
    old = d.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.DecompressionStream;"})
    d.get("about:blank")
    d.get(report.as_uri())
    ok(js("return /DecompressionStream/.test((document.querySelector('.problem') || {}).textContent || '') && !!document.querySelector('#main h1')"),
       "an old browser is told what it lacks")
    # the next one finds the browser as it was
    d.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", old)
    d.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    d.get("about:blank")
    complaints()


def fresh():
    """The page, opened without what an earlier one left in the storage of the browser, which forgets it only after a while."""
    d.get(report.as_uri())
    return js("try { const left = localStorage.length; localStorage.clear(); return !left } catch (e) { return true /* shut for files */ }")


def look_again(failures):
    """A fault of the page is there each time that it is opened; one that is not was the browser's own."""
    global d
    print("# %s: looked at again, for %s" % (report.stem, failures))
    d.quit()
    d = chromium.start(120)
    results.clear()
    console.clear()
    look()


try:
    for path in sys.argv[1:]:
        take(path)
        results.clear()
        try:
            look()
            failures = [what for good, what, _ in results if not good]
        except WebDriverException as e:
            failures = str(e).splitlines()[:1] or ["?"]
        if failures:
            look_again(failures)
        tell()
finally:
    d.quit()

print("1..%d" % number)
sys.exit(1 if failed else 0)
