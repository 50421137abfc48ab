// The chromium events of one log on a canvas. Events lie in typed arrays, lane by lane (a lane is one depth of one thread) in
// order of time, so what a pixel covers is found by bisection: drawing costs lanes × pixels, not events.
"use strict";
(function () {
  const pt2 = window.pt2, h = pt2.h;
  const LANE = 19, HEAD = 22, AXIS = 24;

  // Numbers that grow; plain arrays of 200,000 objects would cost ten times as much.
  function Column(Type) {
    let a = new Type(1024), n = 0;
    return { push(v) { if (n === a.length) { const b = new Type(n * 2); b.set(a); a = b; } a[n++] = v; }, at: i => a[i], set(i, v) { a[i] = v; }, get n() { return n; } };
  }

  // Reads the events: {names, start, end, name, compile, kind, lanes…}. Begin and end are paired by a stack per thread.
  async function read(log, progress, stopped) {
    const names = [], nameOf = new Map(), threads = new Map();
    const ev = { start: Column(Float64Array), end: Column(Float64Array), name: Column(Uint32Array), compile: Column(Int32Array), kind: Column(Uint8Array),
      depth: Column(Uint16Array), thread: Column(Uint32Array), block: Column(Uint32Array), offset: Column(Uint32Array), endBlock: Column(Int32Array), endOffset: Column(Uint32Array) };
    let lost = 0, t0 = Infinity, t1 = -Infinity;
    function intern(s) {
      s = String(s);
      let i = nameOf.get(s);
      if (i === undefined) { i = names.length; names.push(s); nameOf.set(s, i); }
      return i;
    }
    function add(T, t, e, name, compile, kind, depth, b, o) {
      ev.start.push(t); ev.end.push(e); ev.name.push(name); ev.compile.push(compile); ev.kind.push(kind); ev.depth.push(depth);
      ev.thread.push(T.index); ev.block.push(b); ev.offset.push(o); ev.endBlock.push(-1); ev.endOffset.push(0);
      if (t < t0) t0 = t;
      if (e > t1) t1 = e;
      return ev.start.n - 1;
    }
    const done = await pt2.eachLine("e", (bytes, b, o) => {
      const tab = bytes.indexOf(9), head = pt2.decode(bytes.subarray(0, tab)).split(",");
      if (+head[0] !== log) return;
      let j;
      try { j = JSON.parse(pt2.decode(bytes.subarray(tab + 1))); } catch (e) { lost++; return; }
      const t = j ? +j.ts : NaN;
      if (!isFinite(t)) { lost++; return; }
      const key = j.pid + "/" + j.tid;
      let T = threads.get(key);
      if (!T) threads.set(key, T = { key, pid: j.pid, tid: j.tid, index: threads.size, open: [], whole: [] });
      const name = intern(j.name == null ? "?" : j.name), compile = +head[1] < 0 ? -1 : +head[1] - pt2.doc.logs[log].first;
      if (j.ph === "B") T.open.push(add(T, t, t, name, compile, 2, T.open.length, b, o));
      else if (j.ph === "E") {
        let k = T.open.length - 1;
        while (k >= 0 && ev.name.at(T.open[k]) !== name) k--;
        if (k < 0) { lost++; return; }
        // Started inside and never ended: it cannot outlast what held it.
        for (let q = k + 1; q < T.open.length; q++) ev.end.set(T.open[q], Math.max(t, ev.start.at(T.open[q])));
        const i = T.open[k];
        T.open.length = k;
        ev.end.set(i, Math.max(t, ev.start.at(i)));
        ev.kind.set(i, 0);
        ev.endBlock.set(i, b);
        ev.endOffset.set(i, o);
        if (t > t1) t1 = t;
      } else if (j.ph === "X") T.whole.push(add(T, t, t + (+j.dur || 0), name, compile, 3, 0, b, o));
      else if (j.ph !== "M") add(T, t, t, name, compile, 1, 0, b, o);
    }, progress, stopped);
    if (!done) return null;
    const n = ev.start.n;
    if (!n) return { n: 0, lost };
    // What never ended ends with the log. Whole (X) events nest by time, below what begins and ends on their thread.
    const list = [...threads.values()];
    for (const T of list) {
      for (const i of T.open) ev.end.set(i, t1);
      T.deep = 0;
    }
    for (let i = 0; i < n; i++) if (ev.kind.at(i) === 0 || ev.kind.at(i) === 2) { const T = list[ev.thread.at(i)]; T.deep = Math.max(T.deep, ev.depth.at(i) + 1); }
    for (const T of list) {
      const base = T.deep;
      T.whole.sort((a, b) => ev.start.at(a) - ev.start.at(b) || ev.end.at(b) - ev.end.at(a));
      const ends = [];
      for (const i of T.whole) {
        let d = 0;
        while (d < ends.length && ends[d] > ev.start.at(i)) d++;
        ends[d] = ev.end.at(i);
        ev.depth.set(i, base + d);
      }
    }
    // Lanes: each thread's instants first, when it has any, then its depths.
    const lanes = [];
    for (const T of list) {
      T.marks = { items: [], marks: true, T };
      T.lanes = [];
    }
    for (let i = 0; i < n; i++) {
      const T = list[ev.thread.at(i)];
      if (ev.kind.at(i) === 1) T.marks.items.push(i);
      else { const d = ev.depth.at(i); (T.lanes[d] = T.lanes[d] || { items: [], T, depth: d }).items.push(i); }
    }
    let y = 0;
    list.sort((a, b) => a.pid - b.pid || a.tid - b.tid || 0);
    const order = (a, b) => ev.start.at(a) - ev.start.at(b) || a - b;
    for (const T of list) {
      T.y = y;
      y += HEAD;
      for (const lane of [T.marks, ...T.lanes]) {
        if (!lane || !lane.items.length) continue;
        lane.items = Uint32Array.from(lane.items.sort(order));
        lane.y = y;
        y += LANE;
        lanes.push(lane);
      }
      y += 8;
    }
    // Time of each name: all of it, and without what runs inside it.
    const total = new Float64Array(names.length), self = new Float64Array(names.length), count = new Uint32Array(names.length);
    for (const T of list) {
      for (let d = 0; d < T.lanes.length; d++) {
        if (!T.lanes[d] || !T.lanes[d].items.length) continue;
        const below = T.lanes[d + 1] && T.lanes[d + 1].items.length ? T.lanes[d + 1].items : null;
        let k = 0;
        for (const i of T.lanes[d].items) {
          const dur = ev.end.at(i) - ev.start.at(i);
          let inner = 0;
          if (below) {
            while (k < below.length && ev.start.at(below[k]) < ev.start.at(i)) k++;
            for (; k < below.length && ev.start.at(below[k]) < ev.end.at(i); k++) inner += Math.min(ev.end.at(below[k]), ev.end.at(i)) - ev.start.at(below[k]);
          }
          total[ev.name.at(i)] += dur;
          self[ev.name.at(i)] += Math.max(0, dur - inner);
          count[ev.name.at(i)]++;
        }
      }
    }
    return { n, ev, names, lanes, threads: list, height: y, t0, t1: t1 > t0 ? t1 : t0 + 1, lost, total, self, count };
  }

  // A colour per name, the same in every report: the hue is a hash of the name.
  function hue(s) {
    let x = 2166136261;
    for (let i = 0; i < s.length; i++) x = Math.imul(x ^ s.charCodeAt(i), 16777619);
    x = Math.imul(x ^ (x >>> 15), 2246822507);
    return ((x ^ (x >>> 13)) >>> 0) % 360;
  }

  pt2.timeline = function (log, place) {
    let dead = false;
    const p = pt2.progress("Reading events… ", () => { dead = true; place.replaceChildren(h("p.empty", null, "Cancelled.")); });
    place.append(p.el);
    return read(log, p.progress, () => dead).then(data => {
      p.el.remove();
      if (!data) return null;
      if (!data.n) { place.append(h("p.empty", null, "No chromium events in this log.")); return null; }
      return show(log, data, place);
    }, e => { p.el.remove(); place.append(h("p.problem", null, e.message)); });
  };

  function show(log, D, place) {
    const { ev, names, lanes, t0 } = D, C = pt2.doc.logs[log].compile_ids;
    const hues = names.map(hue), widths = [];
    let lo = D.t0, hi = D.t1, oy = 0, W = 0, H = 0, frame = 0, hover = -1, picked = -1, filter = "", only = null, theme = null;
    const whole = D.t1 - D.t0;
    const canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Timeline of " + D.n + " events. Arrow keys move, plus and minus zoom, F fits all, comma and full stop go from event to event, Enter zooms to it. The table below has the same events by name." });
    const tip = h("div.tltip", { hidden: true });
    const box = h("div.tlbox", null, canvas, tip);
    const detail = h("div.tldetail");
    const ctx = canvas.getContext("2d");

    const x = t => (t - lo) / (hi - lo) * W;
    const time = px => lo + px / W * (hi - lo);
    const redraw = () => { if (!frame) frame = requestAnimationFrame(draw); };
    const first = (items, t) => {           // first event of a lane that ends after t (lanes never overlap themselves)
      let a = 0, b = items.length;
      while (a < b) { const m = (a + b) >> 1; if (ev.end.at(items[m]) < t) a = m + 1; else b = m; }
      return a;
    };
    function colours() {
      const s = getComputedStyle(document.documentElement), v = k => s.getPropertyValue(k).trim();
      theme = { ink: v("--ink"), dim: v("--dim"), line: v("--line"), bg: v("--panel"), accent: v("--accent"), dark: v("--dark") === "1" };
    }
    const fill = (i, strong) => "hsl(" + hues[ev.name.at(i)] + (theme.dark ? " 38% " : " 58% ") + (theme.dark ? (strong ? 44 : 34) : (strong ? 70 : 82)) + "%)";

    function draw() {
      frame = 0;
      const ratio = window.devicePixelRatio || 1, w = box.clientWidth;
      if (!w) return;
      if (!theme) colours();
      const high = Math.max(160, Math.min(D.height + AXIS, Math.round(window.innerHeight * 0.62)));
      if (w !== W || high !== H || canvas.width !== Math.round(w * ratio)) {
        W = w;
        H = high;
        canvas.width = Math.round(W * ratio);
        canvas.height = Math.round(H * ratio);
        canvas.style.height = H + "px";
      }
      oy = Math.max(0, Math.min(oy, D.height + AXIS - H));
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.fillStyle = theme.bg;
      ctx.fillRect(0, 0, W, H);
      ctx.textBaseline = "middle";
      ctx.font = "11px system-ui, sans-serif";
      axis();
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, AXIS, W, H - AXIS);
      ctx.clip();
      for (const T of D.threads) {
        const y = T.y + AXIS - oy;
        if (y > H || y < -HEAD) continue;
        ctx.fillStyle = theme.dim;
        ctx.fillText("process " + T.pid + ", thread " + T.tid, 6, y + HEAD / 2);
      }
      for (const lane of lanes) {
        const y = lane.y + AXIS - oy;
        if (y > H || y + LANE < AXIS) continue;
        lane.marks ? drawMarks(lane, y) : drawLane(lane, y);
      }
      ctx.restore();
      if (D.height + AXIS > H) {                // how far down: a thin bar
        const track = H - AXIS;
        ctx.fillStyle = theme.line;
        ctx.fillRect(W - 5, AXIS + oy / D.height * track, 4, track * track / D.height);
      }
    }
    function axis() {
      const span = hi - lo, raw = span / Math.max(2, W / 110), mag = Math.pow(10, Math.floor(Math.log10(raw)));
      const step = [1, 2, 5, 10].map(k => k * mag).find(k => k >= raw);
      ctx.strokeStyle = theme.line;
      ctx.fillStyle = theme.dim;
      ctx.beginPath();
      for (let t = Math.ceil((lo - t0) / step) * step; t <= hi - t0; t += step) {
        const px = Math.round(x(t + t0)) + 0.5;
        ctx.moveTo(px, AXIS - 5);
        ctx.lineTo(px, H);
        ctx.fillText(Math.abs(t) < step / 2 ? "0" : tick(t, step), px + 4, AXIS / 2);
      }
      ctx.stroke();
    }
    function tick(us, step) {
      const [k, unit] = step >= 1e5 ? [1e6, " s"] : step >= 100 ? [1e3, " ms"] : [1, " µs"];
      const digits = Math.max(0, Math.min(3, -Math.floor(Math.log10(step / k) + 1e-9)));
      return (us / k).toFixed(digits) + unit;
    }
    const faint = i => only && !only[ev.name.at(i)];
    function drawLane(lane, y) {
      const items = lane.items, n = items.length, px = (hi - lo) / W;
      for (let k = first(items, lo); k < n;) {
        const i = items[k], s = ev.start.at(i), e = ev.end.at(i);
        if (s > hi) break;
        const a = Math.max(0, x(s));
        if (e - s < px) {                       // under a pixel: one bar for all that begin in it
          let lit = only ? !faint(i) : true, next = k + 1;
          const edge = s + px;
          if (only) for (; next < n && ev.start.at(items[next]) < edge; next++) lit = lit || !faint(items[next]);
          else { next = first(items, edge); if (next <= k) next = k + 1; }
          ctx.globalAlpha = lit ? 1 : 0.15;
          ctx.fillStyle = fill(i, true);
          ctx.fillRect(a, y, 1, LANE - 2);
          k = next;
          continue;
        }
        const b = Math.min(W, x(e)), w = Math.max(1, b - a - (b - a > 3 ? 1 : 0));
        ctx.globalAlpha = faint(i) ? 0.15 : 1;
        ctx.fillStyle = fill(i, i === hover || i === picked);
        ctx.fillRect(a, y, w, LANE - 2);
        if (ev.kind.at(i) === 2) { ctx.fillStyle = theme.dim; ctx.fillRect(a + w - 2, y, 2, LANE - 2); }
        if (i === picked) { ctx.strokeStyle = theme.accent; ctx.lineWidth = 2; ctx.strokeRect(a + 1, y + 1, w - 2, LANE - 4); ctx.lineWidth = 1; }
        if (w > 34) {
          const k = ev.name.at(i), name = names[k], wide = widths[k] || (widths[k] = ctx.measureText(name).width), room = w - 7;
          ctx.fillStyle = theme.ink;
          ctx.fillText(wide <= room ? name : name.slice(0, Math.max(1, Math.floor(name.length * (room - 9) / wide))) + "…", a + 4, y + LANE / 2 - 0.5);
        }
        k++;
      }
      ctx.globalAlpha = 1;
    }
    function drawMarks(lane, y) {
      let last = -9;
      for (let k = first(lane.items, lo); k < lane.items.length; k++) {
        const i = lane.items[k], px = x(ev.start.at(i));
        if (px > W) break;
        if (px - last < 2) continue;
        last = px;
        ctx.globalAlpha = faint(i) ? 0.2 : 1;
        ctx.fillStyle = i === hover || i === picked ? theme.accent : "hsl(" + hues[ev.name.at(i)] + " 55% 50%)";
        ctx.beginPath();
        ctx.moveTo(px, y + 2); ctx.lineTo(px + 5, y + LANE / 2 - 1); ctx.lineTo(px, y + LANE - 4); ctx.lineTo(px - 5, y + LANE / 2 - 1);
        ctx.fill();
      }
      ctx.globalAlpha = 1;
    }
    function hit(px, py) {
      const y = py - AXIS + oy, lane = lanes.find(l => y >= l.y && y < l.y + LANE);
      if (!lane || py < AXIS) return -1;
      const near = (lane.marks ? 6 : 1.5) * (hi - lo) / W, t = time(px);
      let best = -1, far = Infinity;
      for (let k = first(lane.items, t - near); k < lane.items.length && ev.start.at(lane.items[k]) <= t + near; k++) {
        const i = lane.items[k], d = t < ev.start.at(i) ? ev.start.at(i) - t : t > ev.end.at(i) ? t - ev.end.at(i) : -(ev.end.at(i) - ev.start.at(i));
        if (d < far) { far = d; best = i; }
      }
      return best;
    }

    // ---- moving about
    function clamp() {
      const least = Math.max(0.5, whole * 1e-9), most = whole * 1.1;
      let span = Math.max(least, Math.min(most, hi - lo));
      const mid = (lo + hi) / 2;
      if (span !== hi - lo) { lo = mid - span / 2; hi = mid + span / 2; }
      const edge = span * 0.5;
      if (lo < D.t0 - edge) { lo = D.t0 - edge; hi = lo + span; }
      if (hi > D.t1 + edge) { hi = D.t1 + edge; lo = hi - span; }
    }
    function zoom(k, at) { const t = at == null ? (lo + hi) / 2 : at; lo = t - (t - lo) * k; hi = t + (hi - t) * k; clamp(); redraw(); }
    function pan(px) { const d = px / W * (hi - lo); lo += d; hi += d; clamp(); redraw(); }
    function fit() { const e = whole * 0.01; lo = D.t0 - e; hi = D.t1 + e; oy = 0; redraw(); }
    function frameEvent(i) {
      const d = Math.max(ev.end.at(i) - ev.start.at(i), whole * 1e-7);
      lo = ev.start.at(i) - d * 0.1;
      hi = ev.start.at(i) + d * 1.1;
      clamp();
      const lane = lanes.find(l => l.T.index === ev.thread.at(i) && (ev.kind.at(i) === 1 ? l.marks : l.depth === ev.depth.at(i)));
      if (lane && (lane.y < oy || lane.y + LANE > oy + H - AXIS)) oy = Math.max(0, lane.y - (H - AXIS) / 2);
      redraw();
    }
    const spot = e => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
    canvas.addEventListener("wheel", e => {
      e.preventDefault();
      const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 200 : 1, dx = e.deltaX * unit, dy = e.deltaY * unit;
      if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) pan(dx || dy);
      else if (e.altKey) { oy += dy; redraw(); }
      else zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * 0.003), time(spot(e)[0]));
    }, { passive: false });
    // Pointers: one drags, two pinch.
    const down = new Map();
    let moved = 0;
    canvas.addEventListener("pointerdown", e => { down.set(e.pointerId, [e.clientX, e.clientY]); moved = 0; canvas.setPointerCapture(e.pointerId); tip.hidden = true; });
    const lift = e => { down.delete(e.pointerId); };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointermove", e => {
      const was = down.get(e.pointerId);
      if (!was) { point(e); return; }
      const now = [e.clientX, e.clientY];
      if (down.size === 2) {
        const other = [...down].find(([id]) => id !== e.pointerId)[1];
        const a = Math.abs(was[0] - other[0]), b = Math.abs(now[0] - other[0]);
        if (a > 8 && b > 8) zoom(a / b, time(other[0] - canvas.getBoundingClientRect().left));
      } else {
        pan(was[0] - now[0]);
        oy += was[1] - now[1];
      }
      moved += Math.abs(now[0] - was[0]) + Math.abs(now[1] - was[1]);
      down.set(e.pointerId, now);
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; hover = -1; redraw(); });
    canvas.addEventListener("click", e => { if (moved < 5) pick(hit(...spot(e))); });
    canvas.addEventListener("dblclick", e => { const i = hit(...spot(e)); if (i >= 0) frameEvent(i); else zoom(0.5, time(spot(e)[0])); });
    canvas.addEventListener("keydown", e => {
      const k = e.key;
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      if (k === "ArrowLeft") pan(-W / 8);
      else if (k === "ArrowRight") pan(W / 8);
      else if (k === "ArrowUp") { oy -= LANE * 2; redraw(); }
      else if (k === "ArrowDown") { oy += LANE * 2; redraw(); }
      else if (k === "+" || k === "=" || k === "w") zoom(0.7);
      else if (k === "-" || k === "s") zoom(1 / 0.7);
      else if (k === "0" || k === "f" || k === "F" || k === "Home") fit();
      else if (k === "Enter" && picked >= 0) frameEvent(picked);
      else if (k === "Escape") pick(-1);
      else if (k === "," || k === ".") {
        const mid = (lo + hi) / 2;
        let i = picked < 0 ? 0 : picked + (k === "." ? 1 : -1);
        if (picked < 0) while (i < D.n - 1 && ev.start.at(i) < mid) i++;
        while (i > 0 && i < D.n && faint(i)) i += k === "." ? 1 : -1;
        if (i >= 0 && i < D.n) { pick(i); if (ev.start.at(i) < lo || ev.start.at(i) > hi) frameEvent(i); }
      } else return;
      e.preventDefault();
    });

    const label = i => { const c = C[ev.compile.at(i)]; return c ? pt2.compileLabel(c) : ""; };
    const span = i => ev.kind.at(i) === 1 ? "instant" : pt2.secs((ev.end.at(i) - ev.start.at(i)) / 1e6) + (ev.kind.at(i) === 2 ? " (no end in the log)" : "");
    // The arguments as logged, the begin's and the end's.
    async function argsOf(i) {
      const raw = [], get = async (b, o) => { const s = await pt2.lineAt("e", b, o); return new Map(pt2.members(s.slice(s.indexOf("\t") + 1))).get("args"); };
      raw.push(await get(ev.block.at(i), ev.offset.at(i)));
      if (ev.endBlock.at(i) >= 0) raw.push(await get(ev.endBlock.at(i), ev.endOffset.at(i)));
      const all = new Map();
      for (const r of raw) if (r) for (const [k, v] of pt2.members(r)) all.set(k, v);
      return all;
    }
    let waiting = 0;
    function point(e) {
      const [px, py] = spot(e), i = hit(px, py);
      if (i !== hover) {
        hover = i;
        redraw();
        canvas.style.cursor = i >= 0 ? "pointer" : "grab";
        const mine = ++waiting;
        if (i >= 0) {
          tip.replaceChildren(h("b", null, names[ev.name.at(i)]), h("div", null, span(i), label(i) && " · " + label(i)));
          setTimeout(async () => {
            if (mine !== waiting) return;
            const args = await argsOf(i);
            if (mine !== waiting) return;
            const rows = [...args].filter(([k]) => k !== "compile_id").slice(0, 8);
            if (rows.length) tip.append(h("dl", null, rows.map(([k, v]) => [h("dt", null, k), h("dd", null, pt2.unquote(v).slice(0, 160))])));
          }, 60);
        }
      }
      tip.hidden = i < 0;
      if (i >= 0) {
        const left = Math.min(px + 14, W - tip.offsetWidth - 8);
        tip.style.left = Math.max(4, left) + "px";
        tip.style.top = Math.max(2, Math.min(py + 18, H - tip.offsetHeight - 4)) + "px";
      }
    }
    async function pick(i) {
      picked = i;
      redraw();
      if (i < 0) { detail.replaceChildren(); return; }
      const c = C[ev.compile.at(i)], args = h("dl.facts");
      detail.replaceChildren(h("div.card", null, h("div.bar", null, h("b", null, names[ev.name.at(i)]), h("span", null, span(i)),
        h("span.dim", null, "at " + pt2.secs((ev.start.at(i) - t0) / 1e6)), c && pt2.compileLink(log, c), h("span.grow"),
        h("button", { type: "button", onclick: () => frameEvent(i) }, "Zoom in")), args));
      const all = await argsOf(i);
      for (const [k, v] of all) {
        const text = pt2.unquote(v);
        args.append(h("dt", null, k), h("dd", null, text.length > 300 ? h("button.link", { type: "button", onclick: () => pt2.dialog(k, text) }, pt2.bytes(text.length) + " …") : text));
      }
    }

    function setFilter(s) {
      filter = s.trim().toLowerCase();
      only = filter ? names.map(n => n.toLowerCase().includes(filter)) : null;
      redraw();
    }
    const search = pt2.searchBox("Highlight names", e => setFilter(e.target.value));
    const button = (text, title, f) => h("button", { type: "button", title, onclick: f }, text);
    const bar = h("div.bar", null, search, button("−", "Zoom out (−)", () => zoom(1 / 0.6)), button("+", "Zoom in (+)", () => zoom(0.6)), button("Fit", "Show all (F)", fit),
      h("span.dim.hint", null, "Wheel to zoom, drag to move, double-click to zoom to an event"), h("span.grow"),
      h("span.dim", null, pt2.plural(D.n, "event"), D.lost ? ", " + pt2.num(D.lost) + " unmatched or unreadable" : ""));
    const rows = names.map((name, i) => ({ name, i, total: D.total[i], self: D.self[i], count: D.count[i] })).filter(r => r.count);
    const most = Math.max(1, ...rows.map(r => r.self));
    const table = pt2.table({
      label: "Time by name", rows, order: 2, desc: true, height: 28,
      open: r => { search.value = r.name; setFilter(r.name); },
      columns: [
        { title: "Name", width: "minmax(220px, 2fr)", cell: r => h("span", null, h("i.swatch", { style: "background:hsl(" + hues[r.i] + " 50% 60%)" }), r.name), sort: r => r.name },
        { title: "Count", width: "80px", num: true, cell: r => pt2.num(r.count), sort: r => r.count },
        { title: "Self", width: "110px", num: true, cell: r => pt2.secs(r.self / 1e6), sort: r => r.self, tip: "Time not spent in nested events" },
        { title: "", width: "minmax(80px, 1fr)", cell: r => h("span.meter", null, h("i", { style: "width:" + (r.self / most * 100).toFixed(2) + "%" })) },
        { title: "Total", width: "110px", num: true, cell: r => pt2.secs(r.total / 1e6), sort: r => r.total },
      ],
    });
    place.append(bar, box, detail, h("h2", null, "Time by name"), table.el);
    fit();
    new ResizeObserver(redraw).observe(box);
    window.addEventListener("pt2theme", () => { theme = null; redraw(); });
    return { data: D, draw, zoom, fit, pan, pick };       // for tests
  }
})();
