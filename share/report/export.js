// What torch.export and draft_export found, and where the expressions involved come from.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h, doc = pt2.doc, views = pt2.views;
  const { empty, head } = pt2.parts;

  // what there are, one of them, tone, what it means
  const KINDS = {
    data_dependent: ["Data-dependent errors", "data-dependent error", "bad", "Tracing needed a value that only exists when the program runs. The export failed here."],
    specialized: ["Data-dependent values", "data-dependent value", "warn", "The condition depends on data. draft_export continued with the value from the example inputs; a plain export fails here, and other inputs may take the other branch."],
    guard: ["Guards on dynamic sizes", "guard on a dynamic size", "warn", "The code tests a dynamic size, so the exported program is only valid for sizes that give the same result."],
    missing_fake_kernel: ["Operators without a fake kernel", "operator without a fake kernel", "bad", "The operator cannot be traced without running it. Register a fake kernel with torch.library.register_fake."],
    mismatched_fake_kernel: ["Fake kernels that disagree", "fake kernel that disagrees", "bad", "The operator's fake kernel and the operator return different results. One of them is wrong."],
  };
  const kindOf = f => KINDS[f.kind] || [String(f.kind), String(f.kind), "warn", ""];
  for (const L of doc.logs) if (L.export) for (const k of ["failures", "expressions"]) L.export[k] = L.export[k] || [];

  // Both or either: a log may hold several exports.
  const succeeded = X => X.exported_program_line != null, failed = X => X.failures.some(f => f.kind === "data_dependent");
  // {value, note, tone} for the summary's card.
  pt2.exportCard = function (L) {
    const X = L.export, n = X.failures.length;
    return failed(X) && !succeeded(X) ? { value: "failed", note: pt2.plural(n, "finding"), tone: "bad" } : { value: succeeded(X) ? "exported" : pt2.num(n), note: n ? pt2.plural(n, "finding") : succeeded(X) ? "nothing found" : "findings", tone: n ? "warn" : "good" };
  };
  // Where an expression comes from: a row each, its operands below it, unfolded on request. Rows lie flat, so depth costs nothing.
  function history(X, root) {
    const box = h("div.xtree", { role: "tree", "aria-label": "Where the expression comes from" });
    const INDENT = 18, DEEPEST = 40;
    function row(i, depth) {
      const e = X.expressions[i];
      if (!e) return null;
      const kids = (e.made_of || []).filter(k => k < i && X.expressions[k]), args = (e.arguments || []).join(", ");
      const tri = kids.length ? h("button.tri", { type: "button", "aria-label": "Its operands", onclick: () => (el.nextSibling && el.nextSibling.depth > depth ? fold(el) : unfold(el)) }) : h("span.tri0");
      const el = h("div.xrow" + (kids.length ? ".shut" : ""), { role: "treeitem", "aria-level": String(depth + 1), "aria-expanded": kids.length ? "false" : null, style: "margin-left:" + Math.min(depth, DEEPEST) * INDENT + "px" }, tri,
        h("span.xbody", null, h("span.xline", null, pt2.codeSpan(String(e.result == null ? "?" : e.result)), e.method == null ? h("span.dim", null, "unbacked symbol") : h("span.dim", null, e.method + "(" + (args.length > 300 ? args.slice(0, 299) + "…" : args) + ")"),
          e.line ? h("span.dim", null, "log line " + e.line) : null), e.location && pt2.where(e.location, true)));
      el.depth = depth;
      el.kids = kids;
      return el;
    }
    function unfold(el) {
      el.classList.remove("shut");
      el.setAttribute("aria-expanded", "true");
      const fresh = el.kids.map(k => row(k, el.depth + 1)).filter(Boolean);
      el.after(...fresh);
      return fresh;
    }
    function fold(el) {
      el.classList.add("shut");
      el.setAttribute("aria-expanded", "false");
      while (el.nextSibling && el.nextSibling.depth > el.depth) el.nextSibling.remove();
    }
    const first = row(root, 0);
    if (!first) return null;
    box.append(first);
    const open = [first];
    for (let n = 1; open.length && n < 40;) {
      const el = open.shift();
      if (!el.kids.length) continue;
      const fresh = unfold(el);
      n += fresh.length;
      open.push(...fresh);
    }
    return box;
  }

  function finding(log, f) {
    const L = doc.logs[log], X = L.export, tone = kindOf(f)[2], c = L.compile_ids[f.compile_id];
    const list = (name, items) => items && items.length ? h("div.kv", null, h("span.dim", null, name), h("div", null, pt2.some(items, s => h("div", null, pt2.codeSpan(String(s))), 12))) : null;
    const tree = f.expression != null ? history(X, f.expression) : null;
    return h("div.item." + tone, null,
      h("div.bar", null, h("code.expr", null, String(f.expr || f.op || "expression not recorded")), f.result != null && [h("span.dim", null, "→"), h("code.new", null, String(f.result))], h("span.grow"),
        c && !c.none ? pt2.compileLink(log, f.compile_id) : null, f.line ? h("span.dim", null, "log line " + f.line) : null),
      f.location && h("p", null, pt2.where(f.location, true)), f.reason && h("p.reason", null, f.reason.trim()),
      list("symbols", f.symbols), list("locals", f.locals),
      tree && h("details.xhist", { open: true }, h("summary", null, "Where it comes from"), tree));
  }

  views.export = function (log) {
    const L = doc.logs[log], X = L.export;
    if (!X) return h("div.view", null, head("Export"), empty("This log has nothing from torch.export. Also set TORCH_DTRACE=DIR when recording to see expressions and guards."));
    const groups = pt2.groupBy(X.failures, f => f.kind).sort((a, b) => Object.keys(KINDS).indexOf(a[0]) - Object.keys(KINDS).indexOf(b[0]));
    const program = X.exported_program, ok = succeeded(X), bad = failed(X);
    const counts = groups.map(([k, l], i) => [i ? ", " : "", h("b", null, l.length), " " + (l.length === 1 ? kindOf(l[0])[1] : kindOf(l[0])[0].toLowerCase())]);
    return h("div.view", null, head("Export", "What torch.export and draft_export reported for this program."),
      h("div.verdict" + (ok && !bad ? (X.failures.length ? ".warn" : ".ok") : ".bad"), { role: "status" },
        h("b", null, ok && bad ? "One program was exported; another export failed." : ok ? (X.failures.length ? "Exported, with findings." : "Export succeeded.") : bad ? "Export failed." : "No exported program was logged."),
        program != null ? [" ", h("a", { href: pt2.href(log, "artifact", program) }, "The exported program")] : null, ok ? h("span.dim", null, "  log line " + X.exported_program_line) : null,
        h("div", null, X.failures.length ? [counts, "."] : "No guards, data-dependent values or missing kernels were found.")),
      X.expressions_lost ? h("p.tip", null, pt2.plural(X.expressions_lost, "expression") + " more were logged than fit; some histories may be incomplete.") : null,
      groups.map(([k, l]) => h("section", null, h("h2", null, kindOf(l[0])[0], h("span.n", null, pt2.num(l.length))), kindOf(l[0])[3] && h("p.note", null, kindOf(l[0])[3]),
        pt2.some(l, f => finding(log, f), 40))));
  };
})();
