// Colouring, line by line: a line is tokenized when it is shown, from the state the line before it ended in. A state is a
// small number (inside a triple-quoted string, inside a comment…), so a text of megabytes needs a byte a line and no tree.
"use strict";
(function () {
  const pt2 = window.pt2;
  const words = s => new Set(s.split(" "));

  const PY_KEY = words("and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield match case");
  const PY_CONST = words("None True False self cls inf nan");
  const PY = /#.*|([rbfuRBFU]{0,2})("""|'''|"|')|@[\w.]+|%[A-Za-z_][\w.]*|(?:0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?)\b|[A-Za-z_]\w*/g;
  const PY_END = { '"': /(?:[^"\\]|\\.)*"/y, "'": /(?:[^'\\]|\\.)*'/y };
  // "f32[8, 16][16, 1]cpu": what FX writes beside a value
  const FX_TYPE = /^["'](?:Sym\(|[a-z]+\d+\w*\[)/;

  const C_KEY = words("alignas auto break case catch class const constexpr continue default delete do else enum explicit export extern final " +
    "for friend goto if inline namespace new noexcept operator override private protected public register return sizeof static " +
    "static_assert static_cast struct switch template this throw try typedef typename union using virtual volatile while reinterpret_cast");
  const C_TYPE = words("bool char double float int long short signed unsigned void size_t int8_t int16_t int32_t int64_t uint8_t uint16_t " +
    "uint32_t uint64_t half bfloat16 std at");
  const C = /\/\/.*|\/\*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|^\s*#\s*\w+|(?:0[xX][\da-fA-F']+|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?)[uUlLfF]*|[A-Za-z_]\w*/g;

  // States of Python: 0 code, 1 in ''', 2 in """; a kernel's source in ''' is coloured too: 3 and 4 Triton (4 in its """),
  // 5 and 6 C++ (6 in a comment). C++ on its own: 0 and 1.
  function python(text, from, end, state, emit) {
    PY.lastIndex = from;
    let m;
    while ((m = PY.exec(text)) && m.index < end) {
      const at = m.index, tok = m[0], c = tok[0];
      let to = at + tok.length;
      if (m[2]) {
        const q = m[2];
        if (q.length === 3) {
          const inner = state === 3;
          const kernel = !inner && q === "'''" && /async_compile\.(triton|cpp|metal)/.exec(text.slice(0, at));
          if (kernel) { emit(at, to, "s"); return [to, kernel[1] === "triton" ? 3 : 5]; }
          const close = text.indexOf(q, to);
          if (close < 0 || close >= end) { emit(at, end, "s"); return [end, inner ? 4 : q === "'''" ? 1 : 2]; }
          to = close + 3;
        } else {
          const re = PY_END[q];
          re.lastIndex = to;
          to = re.test(text) ? Math.min(re.lastIndex, end) : end;
        }
        emit(at, to, FX_TYPE.test(text.slice(at, at + 12)) ? "t" : "s");
      } else if (c === "#") { to = end; emit(at, end, "c"); }
      else if (c === "@") emit(at, to, "d");
      else if (c === "%") emit(at, to, "v");
      else if (c >= "0" && c <= "9") emit(at, to, "n");
      else if (PY_KEY.has(tok)) emit(at, to, "k");
      else if (PY_CONST.has(tok)) emit(at, to, "b");
      else if (text[to] === "(") emit(at, to, "f");
      PY.lastIndex = to;
    }
    return [end, state];
  }
  function cpp(text, from, end, emit) {
    C.lastIndex = from;
    let m;
    while ((m = C.exec(text)) && m.index < end) {
      const at = m.index, tok = m[0], c = tok.trimStart()[0];
      let to = Math.min(at + tok.length, end);
      if (tok === "/*") {
        const close = text.indexOf("*/", to);
        if (close < 0 || close >= end) { emit(at, end, "c"); return 1; }
        to = close + 2;
        emit(at, to, "c");
      } else if (c === "/") emit(at, to, "c");
      else if (c === '"' || c === "'") emit(at, to, "s");
      else if (c === "#") emit(at, to, "d");
      else if (c >= "0" && c <= "9") emit(at, to, "n");
      else if (C_KEY.has(tok)) emit(at, to, "k");
      else if (C_TYPE.has(tok)) emit(at, to, "b");
      else if (text[to] === "(") emit(at, to, "f");
      C.lastIndex = to;
    }
    return 0;
  }
  // From a state inside a string or comment to its end on this line, or the whole line.
  function until(text, pos, end, mark, cls, emit) {
    const close = text.indexOf(mark, pos), to = close < 0 || close >= end ? end : close + mark.length;
    emit(pos, to, cls);
    return close < 0 || close >= end ? -1 : to;
  }
  function pyLine(text, state, emit) {
    let pos = 0, end = text.length;
    while (pos < end) {
      if (state === 0) [pos, state] = python(text, pos, end, 0, emit);
      else if (state === 1 || state === 2) {
        const to = until(text, pos, end, state === 1 ? "'''" : '"""', "s", emit);
        if (to < 0) return state;
        pos = to;
        state = 0;
      } else {
        const close = text.indexOf("'''", pos), stop = close < 0 ? end : close;
        if (state === 4) {
          const to = until(text, pos, stop, '"""', "s", emit);
          if (to >= 0) { pos = to; state = 3; } else pos = stop;
        } else if (state === 6) {
          const to = until(text, pos, stop, "*/", "c", emit);
          if (to >= 0) { pos = to; state = 5; } else pos = stop;
        } else if (state === 3) [pos, state] = python(text, pos, stop, 3, emit);
        else { state = cpp(text, pos, stop, emit) ? 6 : 5; pos = stop; }
        if (pos === close && close >= 0) { emit(close, close + 3, "s"); pos = close + 3; state = 0; }
      }
    }
    return state;
  }
  function cppLine(text, state, emit) {
    let pos = 0;
    if (state) {
      pos = until(text, 0, text.length, "*/", "c", emit);
      if (pos < 0) return 1;
    }
    return cpp(text, pos, text.length, emit);
  }

  // Languages of one regular expression: the class is that of the first group that matched.
  function simple(re, classes) {
    return function (text, state, emit) {
      re.lastIndex = 0;
      let m;
      while ((m = re.exec(text))) {
        for (let g = 1; g < m.length; g++) if (m[g] !== undefined) { emit(m.index, m.index + m[0].length, classes[g - 1]); break; }
        if (!m[0]) re.lastIndex++;
      }
      return 0;
    };
  }
  const LANGS = pt2.langs = {
    py: pyLine,
    cpp: cppLine,
    json: simple(/("(?:[^"\\]|\\.)*"(?=\s*:))|("(?:[^"\\]|\\.)*"?)|(-?\d[\d.eE+-]*)|\b(true|false|null|NaN|Infinity)\b/g, ["v", "s", "n", "b"]),
    dis: simple(/^(\s*\d+)?\s*(?:-->)?\s*(?:>>)?|\b([A-Z][A-Z_]{2,})\b|(\(.*\))|(\b\d+\b)/g, ["c", "k", "s", "n"]),
    log: simple(/(File "[^"]*", line \d+)|(^[\w.]*(?:Error|Exception|Interrupt)\b)|(https?:\/\/\S+)|(^\s*(?:Explanation|Hint|Developer debug context|Graph Break Reason|User code traceback|Traceback)\b)|(^\s*[\^~]+$)/g,
      ["s", "e", "v", "k", "c"]),
    guards: simple(/(^(?:\| )*\+- |^(?:\| )*)|(\b[A-Z][A-Z_]{4,}(?=:))|(\b\w*Guard\w*(?=[:(]))|(\s+#.*$)|("[^"]*"|'[^']*')|(\b\d+\b)/g,
      ["c", "k", "f", "c", "s", "n"]),
  };

  // What a payload is written in: the log's own word for it, then its first few thousand characters.
  pt2.guessLang = function (a, text) {
    const head = text.slice(0, 4000);
    if (a.key === "dynamo_cpp_guards_str") return "guards";
    if (/_BYTECODE$/.test(a.name)) return "dis";
    if (a.lang === "cpp" || a.lang === "py") return a.lang;
    if (/^\s*[[{]\s*(["\]}[{]|-?\d|true|false|null)/.test(head) && /[\]}]\s*$/.test(text.slice(-200))) return "json";
    if (/^\s*#include\b/m.test(head)) return "cpp";
    if (/^\s*Traceback \(|^\s*File "[^"]+", line \d+|^Graph break in user code|^\d+\/\d+: /m.test(head)) return "log";
    if (/^\s*(class \w+\(|def \w+\(|import \w+|from \w+[\w.]* import|graph\(\):|@triton|async_compile)|^\s+%\w+ .*= (call_|place|get_)|^[A-Z]\w+\(\w+=/m.test(head)) return "py";
    return "text";
  };

  // ---- JSON set out over lines, its numbers and strings copied unchanged ------------------------------------

  // null when the text's brackets do not close: then it is shown as it came.
  pt2.pretty = function (s) {
    const out = [], open = [];
    let i = 0, pad = "\n", from;
    const n = s.length;
    const space = c => c === 32 || c === 10 || c === 13 || c === 9;
    while (i < n) {
      const c = s.charCodeAt(i);
      if (space(c)) { i++; continue; }
      if (c === 34) { const e = pt2.skipString(s, i); out.push(s.slice(i, e)); i = e; }
      else if (c === 123 || c === 91) {
        const flat = open.length || /^..\s*$/.test(s.slice(i, i + 60)) ? oneLine(s, i) : null;
        if (flat) { out.push(flat[0]); i = flat[1]; }
        else { open.push(c + 2); pad += "  "; out.push(s[i], pad); i++; }
      } else if (c === 125 || c === 93) {
        if (open.pop() !== c) return null;
        pad = pad.slice(0, -2);
        out.push(pad, s[i++]);
      } else if (c === 44) { out.push(",", pad); i++; }
      else if (c === 58) { out.push(": "); i++; }
      else {
        from = i;
        while (i < n && !/[\s,:\[\]{}"]/.test(s[i])) i++;
        out.push(s.slice(from, i));
      }
      if (!open.length && i < n && out.length && /[}\]]$/.test(out[out.length - 1])) out.push("\n");
    }
    return open.length ? null : out.join("").trimEnd();
  };
  // [1, 2, 3] and {} stay on one line when they hold no more brackets and are short.
  function oneLine(s, i) {
    let text = s[i];
    const close = s[i] === "[" ? "]" : "}";
    for (let j = i + 1; j < s.length && text.length < 100; j++) {
      const c = s[j];
      if (c === close) return [text + c, j + 1];
      if (c === "[" || c === "{" || c === "]" || c === "}") return null;
      if (c === '"') { const e = pt2.skipString(s, j); if (e - j > 100) return null; text += s.slice(j, e); j = e - 1; }
      else if (c === ",") text += ", ";
      else if (c === ":") text += ": ";
      else if (c > " ") text += c;
    }
    return null;
  }
})();
