/* What small pages have in common (tlparse --diff, aoti-printer --diff, fxexplain --html). All text goes through textContent. */
"use strict";
const pt2 = (function () {
  function el(tag, cls, ...children) {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    for (const c of children)
      if (c !== null && c !== undefined) e.append(c instanceof Node ? c : String(c));
    return e;
  }
  const count = (n, one, many) => n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");
  document.getElementById("theme").addEventListener("click", () => {
    const t = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = t;
    try { localStorage.setItem("pt2theme", t); } catch (x) { /* storage may be shut for files */ }
  });
  return { el, count, doc: JSON.parse(document.getElementById("model").textContent), main: document.getElementById("main") };
})();
