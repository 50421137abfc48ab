(function (e) {
  var t;
  try { t = localStorage.getItem("pt2theme"); } catch (x) { /* storage may be shut for files */ }
  e.dataset.theme = t === "dark" || t === "light" ? t : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
})(document.documentElement);
