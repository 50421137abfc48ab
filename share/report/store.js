// The report's data: the document in #model, and the deflated blocks behind it, inflated when asked for.
// Everything that came out of a log is hostile text. It reaches the page through text nodes and nothing else.
"use strict";
(function () {
  const pt2 = window.pt2 = {};

  // ---- building elements -------------------------------------------------------------------------------------

  // h("a.link", {href}, "text", child…): strings become text nodes, null and false are left out.
  const h = pt2.h = function (what, attrs, ...children) {
    const [tag, ...classes] = what.split(".");
    const el = document.createElement(tag || "div");
    if (classes.length) el.className = classes.join(" ");
    if (attrs) for (const k in attrs) {
      const v = attrs[k];
      if (v == null || v === false) continue;
      if (k.startsWith("on")) el.addEventListener(k.slice(2), v);
      else if (k === "style") el.style.cssText = v;
      else if (k in el && typeof v !== "string") el[k] = v;
      else el.setAttribute(k, v);
    }
    add(el, children);
    return el;
  };
  function add(el, children) {
    for (const c of children) {
      if (c == null || c === false || c === "") continue;
      if (Array.isArray(c)) add(el, c);
      else el.append(c instanceof Node ? c : String(c));
    }
  }

  // A link out of the report; anything but http and https stays text. GB numbers are such links.
  pt2.external = function (url, text) {
    let ok = false;
    try { ok = /^https?:$/.test(new URL(url).protocol); } catch (e) { /* no URL: text */ }
    return ok ? h("a.out", { href: url, target: "_blank", rel: "noopener noreferrer" }, text || url) : h("span", null, text || url);
  };

  // ---- the document ------------------------------------------------------------------------------------------

  const doc = pt2.doc = JSON.parse(document.getElementById("model").textContent);

  // Rows as columns (columns.h says how): each column to an array, and rows to objects.
  const DIGIT = new Uint8Array(128);
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".split("").forEach((c, i) => { DIGIT[c.charCodeAt(0)] = i; });
  function numbers(text, n) {
    const out = new Array(n);
    let at = 0, last = 0;
    for (let i = 0; i < n; i++) {
      let bits = 0, unit = 1, d = 0;
      if (at < text.length) {
        do {
          d = DIGIT[text.charCodeAt(at++)];
          bits += (d & 31) * unit;
          unit *= 32;
        } while (d & 32);
        last += bits % 2 ? -Math.floor(bits / 2) : bits / 2;
      }
      out[i] = last;
    }
    return out;
  }
  const word = v => v ? doc.texts[v - 1] : null, number = v => v ? v - 1 : null;
  const VALUE = {
    n: v => v, i: number, s: v => v ? (v - 1) / 1e6 : null, b: v => v === 1, t: word,
    l: v => v && doc.texts[v - 1] !== "" ? doc.texts[v - 1].split("\n") : [],
    g: v => v ? "GB" + String(v - 1).padStart(4, "0") : null,
  };
  function column(c, n) {
    const [kind, text, ...more] = c;
    if (kind === "x") return text;
    if (kind === "w") return numbers(text, n).map(v => more[0][v]);
    if (kind !== "o") return kind === "n" ? numbers(text, n) : numbers(text, n).map(VALUE[kind]);
    const [line, name, code] = more.map(x => numbers(x, n));
    return numbers(text, n).map((v, i) => v ? { file: word(v), line: number(line[i]), function: word(name[i]), code: word(code[i]) } : null);
  }
  const columns = table => {
    const out = {};
    for (const k in table.columns) out[k] = column(table.columns[k], table.rows);
    return out;
  };
  function rows(table) {
    const by = columns(table), names = Object.keys(by), lists = Object.values(by), out = new Array(table.rows);
    for (let i = 0; i < table.rows; i++) {
      const r = out[i] = {};
      for (let k = 0; k < names.length; k++) r[names[k]] = lists[k][i];
    }
    return out;
  }
  for (const k in doc) if (doc[k] && doc[k].columns) doc[k] = rows(doc[k]);
  for (const log of doc.logs) {
    if (!log.artifacts) continue;
    log.artifacts = columns(log.artifacts);
    log.compile_stacks = numbers(log.compile_stacks[1], doc.attempts.filter(x => x.input === log.input).length).map(v => v - 1);
  }
  const NONE = { attempt: [], compile_id: [], key: [], name: [], line: [], size: [], nodes: [], t: [], block: [], offset: [], number: [], lang: [] };
  // Rows are of all logs together and name attempts, which follow one another log by log; here each log has its own, and names them by
  // their place among its own: compile_id.
  const ROWS = ["graph_breaks", "recompiles", "failures", "symbols", "cudagraph_skips", "unknown_keys", "damage", "vllm_calls", "vllm_pieces", "vllm_passes", "vllm_texts"];
  for (const log of doc.logs) {
    const input = doc.inputs[log.input], of = rows => (rows || []).filter(r => r.input === log.input);
    const at = new Map();
    const own = r => Object.assign({}, r, { compile_id: r.attempt == null ? null : r.attempt - log.first,
      artifact: r.artifact == null ? null : at.get(r.artifact) });
    log.first = Math.max(0, (doc.attempts || []).findIndex(a => a.input === log.input));
    log.traced = !!log.artifacts; // a text or a debug folder has rows only
    log.artifacts = log.artifacts || Object.assign({}, NONE);
    log.artifacts.compile_id = log.artifacts.attempt.map(a => a - log.first);
    log.artifacts.number.forEach((n, i) => { if (n >= 0) at.set(n, i); });
    for (const k of ["path", "rank", "pid", "start", "seconds", "resets", "processes"]) log[k] = input[k];
    log.compile_ids = of(doc.attempts).map(a => {
      const c = a.compile == null ? null : doc.compiles[a.compile], n = a.dir === "unknown" ? [] : a.dir.split("_").map(x => x === "-" ? null : +x);
      return Object.assign({}, a, { id: c ? c.id : (n[0] == null ? "" : "!" + n[0] + "/") + (n[1] == null ? "-" : n[1]) + "/" + (n[2] == null ? "-" : n[2]),
        nth: c ? c.nth : 1, label: c ? c.label : null, compiled_autograd_id: n[0] == null ? null : n[0], frame_id: n[1] == null ? null : a.process || a.generation ? n[1] + "~" + a.process + "." + a.generation : n[1], frame_compile_id: n[2] == null ? null : n[2], restarts: [] });
    });
    for (const k of ROWS) log[k] = of(doc[k]).map(own);
    for (const b of log.graph_breaks) b.source = b.artifact == null ? "restart" : "artifact";
    for (const r of log.recompiles) r.all = r.all.join("\n");
    log.restarts = log.failures.filter(f => f.restart);
    log.failures = log.failures.filter(f => !f.restart);
    log.specializations = of(doc.bounds).filter(b => b.kind === "specialized").map(own);
    for (const k of ["failures", "expressions"]) for (const x of (log.export && log.export[k]) || []) x.compile_id = x.attempt - log.first;
    for (const p of log.provenance || []) p.compile_id = p.attempt - log.first;
    for (const s of log.stacks || []) s[2] = s[2].map(a => a - log.first);
    for (const k of ["keys", "langs", "frames", "stacks", "compile_stacks", "compile_ids", "graph_breaks", "recompiles",
      "failures", "restarts", "symbols", "specializations", "cudagraph_skips", "unknown_keys", "damage"]) log[k] = log[k] || [];
    log.slugs = new Map();
    // The artifacts of each compile id, and the word that names the compile id in the address bar: 0/1 -> 0-1, 0-1_2 for attempt 2.
    log.compile_ids.forEach((c, i) => {
      let s = String(c.id == null ? "none" : c.id).replace(/[^\w.!+]+/g, "-") + (c.attempt > 0 ? "_" + c.attempt : "") + (c.nth > 1 ? "~" + c.nth : "");
      while (log.slugs.has(s)) s += "~";
      c.slug = s;
      c.index = i;
      c.owns = [];
      // What belongs to no compilation (torch_version…) may have its own entry: "-/-".
      c.none = c.frame_id == null && c.compiled_autograd_id == null;
      log.slugs.set(s, i);
    });
    // Restart reasons are with their compile id, or in a list of the log: one form here.
    for (const c of log.compile_ids) c.restarts = c.restarts || [];
    for (const r of log.restarts) { const c = log.compile_ids[r.compile_id]; if (c && !c.restarts.includes(r.reason)) c.restarts.push(r.reason); }
    log.real = log.compile_ids.filter(c => !c.none);
    // A later attempt logs no stack of its own: it started where the first one did.
    const started = new Map();
    log.compile_ids.forEach((c, i) => {
      const k = c.process + " " + c.generation + " " + c.compiled_autograd_id + " " + c.id, at = log.compile_stacks[i];
      if (at >= 0) { if (!started.has(k)) started.set(k, at); }
      else if (started.has(k) && c.id != null) { log.compile_stacks[i] = started.get(k); log.stacks[started.get(k)][2].push(i); }
    });
    log.artifacts.compile_id.forEach((c, i) => { if (c >= 0 && log.compile_ids[c]) log.compile_ids[c].owns.push(i); });
  }

  pt2.count = (log = pt2.log || 0) => doc.logs[log].artifacts.line.length;

  // One artifact as an object; the columns stay as they are, a row is made only when it is needed.
  pt2.artifact = function (log, i) {
    const L = doc.logs[log], a = L.artifacts;
    const key = L.keys[a.key[i]] || "";
    return {
      i, log, key, name: pt2.artifactName(log, i), compile: a.compile_id[i], line: a.line[i], size: a.size[i],
      nodes: a.nodes[i] == null ? -1 : a.nodes[i], t: a.t[i], block: a.block[i], offset: a.offset[i], number: a.number[i],
      lang: L.langs[a.lang[i]] || "text",
    };
  };
  pt2.artifactName = (log, i) => {
    const L = doc.logs[log], a = L.artifacts, n = a.name[i], region = a.subgraph && a.subgraph[i];
    return (region ? region + "/" : "") + (n == null || n === "" ? L.keys[a.key[i]] || "" : n);
  };
  pt2.cacheMark = function (name) {
    const m = /_cache_(hit|miss|bypass)/.exec(name);
    return m ? m[1] : "";
  };

  // ---- blocks ------------------------------------------------------------------------------------------------

  let allIn;
  const whenLoaded = new Promise(done => { allIn = done; });
  pt2.loaded = function () { allIn(); pt2.complete = true; };
  document.addEventListener("DOMContentLoaded", () => setTimeout(allIn));   // a file cut short has no last script

  pt2.canInflate = typeof DecompressionStream === "function";
  pt2.NO_INFLATE = "This browser has no DecompressionStream, which is needed to unpack the payloads in this file. " +
    "The summary and tables work; for the rest use Chrome or Edge 103, Firefox 113, Safari 16.4 or newer.";

  function unbase64(s) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(s);
    const b = atob(s), u = new Uint8Array(b.length);
    for (let i = 0; i < b.length; i++) u[i] = b.charCodeAt(i);
    return u;
  }

  const CACHE_BYTES = 24 << 20;
  const cache = new Map();          // block id -> promise of bytes, in order of last use
  const held = new Map();           // block id -> bytes held
  let heldBytes = 0;

  async function inflate(id) {
    if (!pt2.canInflate) throw new Error(pt2.NO_INFLATE);
    let el = document.getElementById(id);
    if (!el || !el.nextElementSibling) {      // perhaps still arriving
      await whenLoaded;
      el = document.getElementById(id);
    }
    if (!el) throw new Error("Block " + id + " is missing: this file is truncated.");
    try {
      const stream = new Blob([unbase64(el.textContent)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch (e) { throw new Error("Block " + id + " cannot be unpacked: this file is damaged or truncated."); }
  }

  pt2.block = function (id, keep = true) {
    let p = cache.get(id);
    if (p) { cache.delete(id); cache.set(id, p); return p; }
    p = inflate(id);
    if (!keep) return p;
    cache.set(id, p);
    p.then(bytes => {
      held.set(id, bytes.length);
      heldBytes += bytes.length;
      for (const old of cache.keys()) {
        if (heldBytes <= CACHE_BYTES || old === id) break;
        if (!held.has(old)) continue;
        heldBytes -= held.get(old);
        held.delete(old);
        cache.delete(old);
      }
    }, () => cache.delete(id));
    return p;
  };

  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  pt2.decode = bytes => decoder.decode(bytes);

  pt2.payload = async function (log, i) {
    const a = pt2.artifact(log, i);
    if (!a.size || a.block == null || a.block < 0) return new Uint8Array(0);
    const bytes = await pt2.block("p" + a.block);
    return bytes.subarray(a.offset, a.offset + a.size);
  };
  pt2.payloadText = async (log, i) => decoder.decode(await pt2.payload(log, i));

  // Calls each(line bytes, block, offset) for every line of a stream, block after block, giving the page time to breathe.
  // A line that a block's end cuts is joined with the next block's start (block and offset say where it began).
  pt2.eachLine = async function (stream, each, progress, stopped) {
    const n = (doc.blocks && doc.blocks[stream]) || 0;
    let rest = null, at = null;
    for (let b = 0; b < n; b++) {
      let bytes = await pt2.block(stream + b, false);
      if (stopped && stopped()) return false;
      let base = 0;
      if (rest) {
        const joined = new Uint8Array(rest.length + bytes.length);
        joined.set(rest);
        joined.set(bytes, rest.length);
        base = rest.length;
        bytes = joined;
      }
      let from = 0, to;
      let slice = performance.now();
      while ((to = bytes.indexOf(10, from)) >= 0) {
        if (to > from) each(bytes.subarray(from, to), from < base ? at[0] : b, from < base ? at[1] + from : from - base);
        from = to + 1;
        if (performance.now() - slice > 40) { await pause(); slice = performance.now(); if (stopped && stopped()) return false; }
      }
      at = from < base ? [at[0], at[1] + from] : [b, from - base];
      rest = from < bytes.length ? bytes.slice(from) : null;
      if (progress) progress(b + 1, n);
      await pause();
    }
    if (rest) each(rest, at[0], at[1]);
    return true;
  };
  // The line that begins at (block, offset) again, for what is shown one at a time.
  pt2.lineAt = async function (stream, b, offset) {
    let out = new Uint8Array(0);
    for (; b < doc.blocks[stream]; b++, offset = 0) {
      const bytes = await pt2.block(stream + b), end = bytes.indexOf(10, offset);
      const part = bytes.subarray(offset, end < 0 ? bytes.length : end);
      const both = new Uint8Array(out.length + part.length);
      both.set(out);
      both.set(part, out.length);
      out = both;
      if (end >= 0) break;
    }
    return decoder.decode(out);
  };
  // setTimeout is slowed to a second in hidden tabs; a message is not.
  const channel = new MessageChannel(), waiting = [];
  channel.port1.onmessage = () => waiting.shift()();
  const pause = pt2.pause = () => new Promise(done => { waiting.push(done); channel.port2.postMessage(0); });

  // ---- JSON without numbers losing digits --------------------------------------------------------------------

  // The end of the JSON value at s[i]: strings are skipped by indexOf, so configuration texts cost next to nothing.
  function skipString(s, i) {
    for (let j = i + 1; ;) {
      j = s.indexOf('"', j);
      if (j < 0) return s.length;
      let k = j;
      while (s.charCodeAt(k - 1) === 92) k--;
      if ((j - k) % 2 === 0) return j + 1;
      j++;
    }
  }
  function skipValue(s, i) {
    let depth = 0;
    for (; i < s.length; i++) {
      const c = s.charCodeAt(i);
      if (c === 34) i = skipString(s, i) - 1;
      else if (c === 123 || c === 91) depth++;
      else if (c === 125 || c === 93) { if (--depth < 0) return i; }
      else if (c === 44 && depth === 0) return i;
    }
    return i;
  }
  // The members of a JSON object or array as [key, raw text]: raw text is what the log has, digit for digit.
  pt2.members = function (s) {
    const out = [];
    let i = s.search(/[{[]/);
    if (i < 0) return out;
    const object = s[i++] === "{";
    for (let n = 0; i < s.length; n++) {
      while (i < s.length && /[\s,]/.test(s[i])) i++;
      if (i >= s.length || s[i] === "}" || s[i] === "]") break;
      let key = n;
      if (object) {
        const end = skipString(s, i);
        key = unquote(s.slice(i, end));
        i = s.indexOf(":", end) + 1;
        if (!i) break;
      }
      const end = skipValue(s, i);
      out.push([key, s.slice(i, end).trim()]);
      i = end;
    }
    return out;
  };
  const unquote = pt2.unquote = function (raw) {
    if (raw.charCodeAt(0) !== 34) return raw;
    try { return JSON.parse(raw); } catch (e) { return raw.slice(1, -1); }
  };
  pt2.skipString = skipString;

  // ---- compilation metrics -----------------------------------------------------------------------------------

  // A slice keeps the whole text it was cut from alive; a copy does not. Equal values are kept once.
  const pool = new Map(), encoder = new TextEncoder();
  function intern(s) {
    if (s.length < 13) return s;
    let t = pool.get(s);
    if (t === undefined) { t = decoder.decode(encoder.encode(s)); pool.set(t, t); }
    return t;
  }
  let metrics;
  // Promise of [{log, compile, line, key, m: Map(name -> raw JSON text)}…]
  pt2.metrics = function (progress) {
    if (metrics) return metrics;
    metrics = (async () => {
      const rows = [], longs = new Map();   // line and name -> a long value, which other lines refer to
      await pt2.eachLine("m", bytes => {
        const r = new Map(pt2.members(decoder.decode(bytes))), m = new Map();
        if (!r.has("m")) return;
        const same = new Map(pt2.members(r.get("same") || "")), at = r.get("log") + ":", line = at + r.get("line");
        for (const [k, v] of pt2.members(r.get("m"))) {
          const t = same.has(k) ? longs.get(at + same.get(k) + k) || v : intern(v);
          m.set(intern(k), t);
          if (t.length > 300 && !same.has(k)) longs.set(line + k, t);
        }
        rows.push({ log: +r.get("log") || 0, compile: r.has("attempt") && +r.get("attempt") >= 0 ? +r.get("attempt") - doc.logs[+r.get("log") || 0].first : -1, line: +r.get("line") || 0,
          key: intern(unquote(r.get("key") || '""')), m });
      }, progress);
      return rows;
    })();
    metrics.catch(() => { metrics = null; });
    return metrics;
  };

  // ---- other records -----------------------------------------------------------------------------------------

  let records;
  // Promise of [{log, compile, line, key, size, head, block, offset}…]; the text itself is read again when opened.
  pt2.records = function (progress) {
    if (records) return records;
    records = (async () => {
      const rows = [];
      await pt2.eachLine("r", (bytes, block, offset) => {
        const tab = bytes.indexOf(9), f = decoder.decode(bytes.subarray(0, tab)).split(",");
        const head = decoder.decode(bytes.subarray(tab + 1, tab + 241));
        rows.push({ log: +f[0], compile: +f[1] < 0 ? -1 : +f[1] - doc.logs[+f[0]].first, line: +f[2], key: intern(f.slice(3).join(",")), size: bytes.length - tab - 1, head, block, offset });
      }, progress);
      return rows;
    })();
    records.catch(() => { records = null; });
    return records;
  };
  pt2.recordText = async r => { const s = await pt2.lineAt("r", r.block, r.offset); return s.slice(s.indexOf("\t") + 1); };

  // ---- words and numbers -------------------------------------------------------------------------------------

  const group = n => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  pt2.num = n => n == null ? "–" : Number.isInteger(n) ? group(n) : String(n);
  pt2.bytes = function (n) {
    if (n == null || n < 0) return "–";
    if (n < 1000) return n + " B";
    for (const u of ["kB", "MB", "GB"]) { n /= 1000; if (n < 999.5 || u === "GB") return (n < 10 ? n.toFixed(1) : Math.round(n)) + " " + u; }
  };
  pt2.secs = function (s) {
    if (s == null || Number.isNaN(s)) return "–";
    const a = Math.abs(s);
    if (a === 0) return "0 s";
    if (a < 1e-3) return fix(s * 1e6) + " µs";
    if (a < 1) return fix(s * 1e3) + " ms";
    if (a < 120) return fix(s) + " s";
    if (a < 600) return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
    return a < 7200 ? Math.round(s / 60) + " min" : fix(s / 3600) + " h";
  };
  const fix = x => Math.abs(x) < 9.995 ? x.toFixed(2) : Math.abs(x) < 99.95 ? x.toFixed(1) : x.toFixed(0);
  pt2.plural = (n, one, many) => pt2.num(n) + " " + (n === 1 ? one : many || one + "s");
  // The last part of a path, and the whole of it behind the pointer.
  pt2.shortName = n => /^([/\\]|[A-Za-z]:[/\\])/.test(n) ? pt2.baseName(n) : String(n);
  pt2.baseName = p => String(p == null ? "?" : p).replace(/^.*[/\\](?=.)/, "");
})();
