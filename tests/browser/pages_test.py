#!/usr/bin/python3
"""pages_test.py PAGE.html... : each page opens in headless Chromium without a console error, a failed request or an alert.

Prints what is wrong, a line each; ends in 1 when something is, in 77 where the browser is missing.
"""
import os
import pathlib
import shutil
import sys

try:
    from selenium import webdriver
    from selenium.common.exceptions import NoAlertPresentException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    sys.exit(77)
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not chromium or not shutil.which("chromedriver"):
    sys.exit(77)

options = Options()
options.binary_location = chromium
for flag in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,800", "--no-first-run"):
    options.add_argument(flag)
if os.geteuid() == 0:
    options.add_argument("--no-sandbox")
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
try:
    d = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
except Exception:
    sys.exit(77)
wrong = []
try:
    d.set_page_load_timeout(60)
    d.set_script_timeout(60)
    for page in sys.argv[1:]:
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
        # An explanation: everything in the document is on the page, once all is opened.
        wrong += ["%s: %s" % (page, e) for e in d.execute_script("""
            if (!window.pt2explain) return [];
            const bad = [], doc = pt2explain.doc, all = (q) => document.querySelectorAll(q);
            pt2explain.openAll();
            const counts = [["details.finding", doc.findings.length], ["#findings", doc.findings.length ? 1 : 0], ["#breaks", doc.breaks.length ? 1 : 0],
              [".frame", doc.frames.filter((f) => f.recompiles > 0 || f.limited).length], ["#failures", doc.failures.some((f) => !f.restart) ? 1 : 0],
              ["#times", doc.times.some((t) => t.parts.length) ? 1 : 0], ["#shapes", doc.symbols.length ? 1 : 0], ["#compiles", doc.compiles.length ? 1 : 0]];
            for (const [q, n] of counts) if (all(q).length !== n) bad.push(q + ": " + all(q).length + " of " + n);
            const rows = (id) => { const h = document.getElementById(id); return h ? h.nextElementSibling.querySelectorAll("tbody tr").length : 0; };
            if (rows("breaks") !== doc.breaks.length) bad.push("breaks: " + rows("breaks") + " rows of " + doc.breaks.length);
            if (rows("compiles") !== doc.compiles.length) bad.push("compile ids: " + rows("compiles") + " rows of " + doc.compiles.length);
            for (const e of all(".plot svg *")) if (/NaN|undefined/.test(e.outerHTML)) { bad.push("a mark without a place"); break; }
            if (/undefined|\\[object|NaN/.test(document.getElementById("main").textContent) && !/undefined|NaN/.test(document.getElementById("model").textContent)) bad.push("a hole");
            const failed = !!(doc.verdict && doc.verdict.component) || doc.failures.some((f) => !f.restart && !f.caught);
            if (!!document.querySelector(".verdict.bad") !== failed) bad.push("the verdict is another one than the document's");
            for (const a of all("#main a")) if (!/^https?:/.test(a.href)) bad.push("a link to " + a.href);
            for (const a of all("#jump a")) if (!document.getElementById(a.hash.slice(1))) bad.push("a section is missing: " + a.hash);
            return bad;""")]
        if d.execute_script("return !!window.pt2printer || !!window.pt2explain"):
            d.set_window_size(500, 800)
            if d.execute_script("return document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                wrong.append(page + ": is wider than a narrow window")
            d.set_window_size(1200, 800)
        wrong += ["%s: %s" % (page, e["message"]) for e in d.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
        if not d.execute_script("return document.body.innerText.trim().length"):
            wrong.append(page + ": is empty")
        if d.execute_script("return document.styleSheets.length") < 1:
            wrong.append(page + ": has no style")
        unread = d.execute_script(
            "return [...document.querySelectorAll('pre.code[data-lang]')].filter(p => p.textContent.trim() && !p.querySelector('span')).length")
        if unread:
            wrong.append("%s: %d pieces of code are not coloured" % (page, unread))
finally:
    d.quit()
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
