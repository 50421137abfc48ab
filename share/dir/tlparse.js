// The pages of the directory report: colours for code, sorting for tables. Everything reads well without.
(function () {
  "use strict";
  const KEYWORDS = new Set(("and as assert async await break class continue def del elif else except False finally for from global " +
    "if import in is lambda None nonlocal not or pass raise return True try while with yield").split(" "));
  const TOKEN = /(#[^\n]*)|('''[\s\S]*?'''|"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

  // One pass over the text; nothing from the log is ever parsed as HTML.
  function colour(pre) {
    const text = pre.textContent, out = document.createDocumentFragment();
    if (text.length > 4e6) return;
    let at = 0, m;
    while ((m = TOKEN.exec(text))) {
      const kind = m[1] ? "com" : m[2] ? "str" : m[3] ? "num" : KEYWORDS.has(m[4]) ? "kw" : "";
      if (!kind) continue;
      out.append(text.slice(at, m.index));
      const span = document.createElement("span");
      span.className = kind;
      span.textContent = m[0];
      out.append(span);
      at = m.index + m[0].length;
    }
    out.append(text.slice(at));
    pre.replaceChildren(out);
  }

  function sortable(table) {
    const body = table.tBodies[0];
    Array.from(table.tHead.rows[0].cells).forEach((th, i) => {
      let up = false;
      th.tabIndex = 0;
      const sort = () => {
        up = !up;
        const key = (row) => (row.cells[i] ? row.cells[i].textContent : "");
        const rows = Array.from(body.rows).sort((a, b) => key(a).localeCompare(key(b), undefined, { numeric: true }) * (up ? 1 : -1));
        body.append(...rows);
      };
      th.addEventListener("click", sort);
      th.addEventListener("keydown", (e) => { if (e.key === "Enter") sort(); });
    });
  }

  document.querySelectorAll("pre.code").forEach(colour);
  document.querySelectorAll("table.sortable").forEach(sortable);
})();
