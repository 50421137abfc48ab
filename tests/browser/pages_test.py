#!/usr/bin/python3
"""pages_test.py PAGE.html... : each page opens in headless Chromium without a console error, a failed request or an alert.

Prints what is wrong, a line each; ends in 1 when something is, in 77 where the browser is missing.
"""
import pathlib
import sys

import chromium
from selenium.common.exceptions import NoAlertPresentException, WebDriverException

TELEPHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
d = chromium.start(60)


def faults(page):
    """What is wrong with a page, a line each."""
    wrong = []
    d.get(pathlib.Path(page).resolve().as_uri())
    try:
        wrong.append("%s: an alert: %s" % (page, d.switch_to.alert.text))
        d.switch_to.alert.dismiss()
    except NoAlertPresentException:
        pass
    # A diff of two runs: every text opens, unified and side by side.
    empty = d.execute_async_script("""
        const done = arguments[arguments.length - 1];
        (async () => {
          if (!window.pt2diff) return [];
          const bad = [], texts = pt2diff.doc.logs.map((l) => (l.texts || []).length);
          for (const split of [false, true]) {
            pt2diff.setSplit(split);
            for (let log = 0; log < texts.length; log++) {
              pt2diff.setLog(log);
              for (let i = 0; i < texts[log]; i++) if (!(await pt2diff.open(i))) bad.push([split, log, i]);
            }
          }
          return bad;
        })().then(done, (e) => done([String(e)]));""")
    wrong += ["%s: shows no lines: %s" % (page, e) for e in empty]
    # A comparison kernel by kernel: every call opens under every measure, light and dark, wide and narrow.
    wrong += ["%s: %s" % (page, e) for e in d.execute_script("""
        if (!window.pt2printer) return [];
        const p = pt2printer, bad = [], points = () => document.querySelectorAll("#plot circle").length;
        const both = p.doc.calls.filter((c) => c.in === "both").length, values = p.doc.calls.flatMap((c) => c.values);
        if (document.querySelector(".verdict.bad") === null === p.doc.different) bad.push("the verdict is another one than the document's");
        if (document.querySelectorAll("#plot .hit").length !== p.doc.calls.length) bad.push("the plot lacks calls");
        if (both && values.some((v) => v.when === "after" && typeof v.times_allowed === "number") && !points()) bad.push("the plot has no points");
        for (const m of p.metrics) {
          p.setMetric(m);
          for (const e of document.querySelectorAll("#plot circle, #plot text, #plot path"))
            if (/NaN|undefined/.test(e.outerHTML)) { bad.push(m + ": a mark without a place"); break; }
        }
        p.setMetric(p.metrics[0]);
        for (let i = 0; i < p.doc.calls.length && i < 200; i++) {
          p.choose(i);
          const c = p.doc.calls[i], rows = document.querySelectorAll("#detail tbody tr").length;
          if (c.in === "both" && rows !== c.values.length) bad.push("call " + i + ": " + rows + " rows of " + c.values.length);
          if (/undefined|\\[object/.test(document.getElementById("detail").textContent)) bad.push("call " + i + ": a hole");
        }
        for (const on of [true, false]) {
          p.setOnlyBad(on);
          const rows = document.querySelectorAll("#list tbody tr").length, want = on ? p.doc.calls.filter(p.badCall).length : p.doc.calls.length;
          if (rows !== Math.min(want, 2000)) bad.push("the list has " + rows + " rows of " + want);
        }
        const was = document.documentElement.dataset.theme;
        document.getElementById("theme").click();
        if (document.documentElement.dataset.theme === was) bad.push("the theme does not change");
        document.getElementById("theme").click();
        return bad;""")]
    # Kernels against their graph: each call of each run opens, every node has its row, the verdict is the document's.
    wrong += ["%s: %s" % (page, e) for e in d.execute_script("""
        if (!window.pt2verify) return [];
        const p = pt2verify, bad = [], main = document.getElementById("main"), counting = p.doc.runs.filter((r) => r.counts);
        const want = counting.some((r) => r.findings.length) ? "bad" : counting.some((r) => r.open) ? "open" : "ok";
        if (!document.querySelector(".verdict." + want)) bad.push("the verdict is another one than the document's: " + want);
        for (let r = 0; r < p.doc.runs.length; r++) {
          p.setRun(r);
          const calls = p.calls(), named = new Set(calls.flatMap((c) => c.writes.flatMap((w) => w.nodes)));
          if (document.querySelectorAll("#plot .hit").length !== calls.length) bad.push("the plot lacks calls");
          if (document.querySelectorAll("#plot path.wrong").length !== calls.filter((c) => c.verdict === "wrong").length) bad.push("the plot lacks wrong ones");
          if (document.querySelectorAll("#map tr[tabindex]").length < p.doc.nodes.filter((n) => named.has(n.name)).length) bad.push("nodes without their kernel");
          if (document.querySelectorAll("#map tbody tr").length < p.doc.nodes.length) bad.push("the graph lacks nodes");
          if (/NaN/.test(document.querySelector("#plot svg").innerHTML)) bad.push("a mark without a place");
          for (let i = 0; i < calls.length && i < 200; i++) {
            p.choose(i);
            if (document.querySelector("#detail h3").textContent !== calls[i].kernel) bad.push("call " + i + " does not open");
          }
          if (/undefined|\\[object/.test(main.textContent)) bad.push("a hole");
        }
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft", bubbles: true }));
        return bad;""")]
    # One input, a log or a text: every finding with its fix, the verdict, and no empty view.
    wrong += ["%s: %s" % (page, e) for e in d.execute_script("""
        if (!window.pt2 || !pt2.doc || pt2.doc.logs.length !== 1) return [];
        const bad = [], doc = pt2.doc, main = document.getElementById("main"), texts = (q) => [...main.querySelectorAll(q)].map((e) => e.textContent);
        for (let b; (b = main.querySelector("section:has(details.item) button.more"));) b.click();
        const titles = texts("details.item > summary > b"), want = doc.findings.map((f) => f.title);
        if (JSON.stringify(titles) !== JSON.stringify(want)) bad.push("findings: " + titles + ", and not " + want);
        const fixes = new Set(texts("dl.cure pre"));
        for (const f of doc.findings) for (const t of f.fix) if (!fixes.has(t)) bad.push("a fix is missing: " + t);
        if (!!main.querySelector("section.banner[role=status]") !== !!(doc.verdict && (doc.verdict.component || doc.verdict.title))) bad.push("the verdict is another one than the document's");
        if (/undefined|\\[object|NaN/.test(main.textContent) && !/undefined|NaN/.test(document.getElementById("model").textContent)) bad.push("a hole");
        for (const a of document.querySelectorAll("#nav a")) {
          pt2.go(a.hash);
          if (!/\\S/.test(main.textContent) || /could not be displayed|Page not found/.test(main.textContent)) bad.push(a.hash + ": " + main.textContent.slice(0, 200));
        }
        pt2.go("#/");
        return bad;""")]
    d.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", TELEPHONE)
    # The browser takes a size over late, and one that was taken back may stand for a while: what the page settles at counts.
    wide = d.execute_async_script("""
        const [width, done] = arguments, until = performance.now() + 30000;
        (function wait() {
          const wide = document.documentElement.scrollWidth;
          innerWidth === width && wide <= width || performance.now() > until ? done(wide) : setTimeout(wait, 20);
        })();""", TELEPHONE["width"])
    if wide > TELEPHONE["width"]:
        wrong.append("%s: is %d pixels wide on a telephone of %d" % (page, wide, TELEPHONE["width"]))
    d.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    wrong += ["%s: %s" % (page, e["message"]) for e in d.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
    if not d.execute_script("return document.body.innerText.trim().length"):
        wrong.append(page + ": is empty")
    if d.execute_script("return document.styleSheets.length") < 1:
        wrong.append(page + ": has no style")
    unread = d.execute_script(
        "return [...document.querySelectorAll('pre.code[data-lang]')].filter(p => p.textContent.trim() && !p.querySelector('span')).length")
    if unread:
        wrong.append("%s: %d pieces of code are not coloured" % (page, unread))
    return wrong


wrong = []
try:
    for page in sys.argv[1:]:
        # A fault of the page is there each time that it is opened; one that is not was the browser's own.
        try:
            first = faults(page)
        except WebDriverException as e:
            first = [page + ": " + str(e)]
        if first:
            d.quit()
            d = chromium.start(60)
            wrong += (again := faults(page))
            sys.stderr.writelines("only once: %s\n" % f for f in first if f not in again)
finally:
    d.quit()
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
