#!/usr/bin/env python3
"""Count a structured trace, by what its records say and nothing else: no code is shared with the tools that are held against it.

    count_trace.py LOG...            a JSON object a line: {"path", "numbers": {ten numbers}, "rows": its compilations:
                                     [[process, generation, id, function, line, breaks, recompiles, restarts, fail type], ...],
                                     "symbols": [[file, line], ...]: where the user's code made them}
    count_trace.py --truth LOG FILE  hold the identity of every record against what torch said when it was recorded (scripts/fixtures/site/truth.py)

A compilation is (process, generation, compile id). A process is the pid of the prefix, and a new one of the same pid where its table of strings
begins anew. torch._dynamo.reset() makes ids begin at 0/0 again and writes nothing of it; what is seen is that frames come in growing order in
one generation: dynamo_start of a frame that is not new, or of a compilation of it that is not, begins the next. (torch 2.13.0 and 2.15.0:
_dynamo/__init__.py reset, _dynamo/convert_frame.py get_compile_id and log_dynamo_start, _dynamo/compiled_autograd.py.)
"""
import json
import lzma
import re
import sys

PREFIX = re.compile(rb"[VIWEC](?:\d{4})?\d{4} \d\d:\d\d:\d\d\.\d{6} (\d+) .*?:\d+\] (\{.*)", re.S)
# What can stand before the record that tells that a compilation is a new one, and says nothing that is counted.
BEFORE = {"chromium_event", "describe_storage", "describe_tensor", "describe_source"}
CACHES = {"fx_graph_cache": "fx_graph", "aotautograd_cache": "aotautograd"}


def records(path):
    """(pid, envelope, payload) of each record."""
    with (lzma.open if path.endswith(".xz") else open)(path, "rb") as f:
        lines = f.read().split(b"\n")
    at = 0
    while at < len(lines):
        head, payload = lines[at], []
        at += 1
        while at < len(lines) and lines[at].startswith(b"\t"):
            payload.append(lines[at][1:])
            at += 1
        found = PREFIX.search(head)
        if found:
            yield int(found[1]), json.loads(found[2]), b"\n".join(payload).decode()


class Row:
    """One compilation."""

    def __init__(self, process, generation, key):
        self.process, self.generation, self.key = process, generation, key
        self.started = self.closed = False
        self.graph_attempt, self.backwards = -1, 0
        self.function = self.line = self.fail = None
        self.breaks, self.recompiles, self.restarts, self.graphs = [], 0, 0, 0

    @property
    def id(self):
        autograd, frame, compile = self.key
        of_frame = f"{frame}/{compile}" if frame is not None else ""
        return f"!{autograd}" + (of_frame and "/" + of_frame) if autograd is not None else of_frame


class Process:
    def __init__(self, pid, number, strings):
        self.pid, self.number, self.generation = pid, number, -1
        self.strings = strings  # a forked child goes on with its parent's
        self.string_0, self.rows = False, {}  # rows: key -> newest last
        self.capture = None  # row of the last "!N" without a frame, until something of it is compiled
        self.exported = None  # row without dynamo_start: its metrics come without an id
        self.begin()

    def begin(self):
        self.generation += 1
        self.max_frame, self.last, self.captured = -1, {}, -1

    def anew(self, kind, key, attempt):
        """Do compile ids begin anew with this record?"""
        autograd, frame, compile = key
        if frame is None:
            return autograd <= self.captured
        old = frame <= self.max_frame if compile == 0 else compile <= self.last.get(frame, -1)
        if kind == "dynamo_output_graph":  # of what has no dynamo_start: export, aot_compile
            row = self.rows.get(key, [None])[-1]
            return old and not (row and row.generation == self.generation and not row.closed and (row.started or attempt > row.graph_attempt))
        return kind == "dynamo_start" and old

    def row(self, kind, key, attempt):
        """The compilation that a record is of."""
        if kind in BEFORE:
            return None
        if self.anew(kind, key, attempt):
            self.begin()
            if self.capture and self.capture.key[0] == key[0]:  # "!0" and then "!0/0/0", which told
                self.capture.generation, self.captured = self.generation, key[0]
        autograd, frame, compile = key
        rows = self.rows.setdefault(key, [])
        here = rows and rows[-1].generation == self.generation
        starts = kind in ("dynamo_start", "dynamo_output_graph", "recompile_reasons") or frame is None
        closed = rows and all(r.closed for r in rows)
        if not rows or (not here and (starts or (kind == "compilation_metrics" and closed))):
            rows.append(Row(self, self.generation, key))
        row = next((r for r in reversed(rows) if not r.closed), None)
        row = row or next((r for r in reversed(rows) if r.backwards > 0), rows[-1])
        if frame is None:
            self.capture = row = rows[-1]
            if kind == "compiled_autograd_graph":
                self.captured = autograd
        elif kind in ("dynamo_start", "dynamo_output_graph", "compilation_metrics"):
            self.capture = None
            self.max_frame = max(self.max_frame, frame)
            self.last[frame] = max(self.last.get(frame, -1), compile)
        return row


class Trace:
    def __init__(self, path):
        self.processes, self.rows, self.of_record = [], [], []  # of_record: (process, row or None)
        self.graphs = self.breaks = self.symbols = self.specializations = 0
        self.symbol_places, strings = [], {}
        self.cache = {name: {"hit": 0, "miss": 0} for name in CACHES.values()}
        current = {}
        for pid, envelope, payload in records(path):
            process = current.get(pid)
            kind = next(iter(envelope), None)
            table = kind == "str" and envelope["str"][1] == 0
            if process is None or (table and process.string_0):
                process = current[pid] = Process(pid, len(self.processes), dict(strings))
                self.processes.append(process)
            process.string_0 |= table
            if kind == "str":
                text, number = envelope["str"]
                process.strings[number] = strings[number] = text
            elif kind in ("create_symbol", "create_unbacked_symbol") and envelope[kind].get("user_stack"):
                frame = envelope[kind]["user_stack"][-1]
                self.symbol_places.append([process.strings.get(frame["filename"]), frame["line"]])
            key = tuple(envelope.get(k) for k in ("compiled_autograd_id", "frame_id", "frame_compile_id"))
            row = None
            if any(k is not None for k in key):
                attempt = envelope.get("attempt", 0)
                row = process.row("recompile_reasons" if kind == "artifact" and envelope[kind].get("name") == "recompile_reasons" else kind, key, attempt)
                if row and row not in self.rows:
                    self.rows.append(row)
            self.of_record.append((process, row))
            if kind == "compilation_metrics" and row is None and process.exported:
                process.exported.closed = True
            self.count(kind, envelope, payload, row)

    def count(self, kind, envelope, payload, row):
        value = envelope.get(kind)
        name = value.get("name", "") if kind == "artifact" else ""
        self.graphs += kind == "dynamo_output_graph"
        self.breaks += name == "dynamo_graph_break_reason"
        self.symbols += kind in ("create_symbol", "create_unbacked_symbol")
        self.specializations += kind == "symbolic_shape_specialization"
        for start, cache in CACHES.items():
            if name in (start + "_hit", start + "_miss"):
                self.cache[cache][name[len(start) + 1 :]] += 1
        if row is None:
            return
        if kind == "dynamo_start":
            row.started, row.closed = True, False
            row.function, row.line = value["stack"][-1]["name"], value["stack"][-1]["line"]
        elif kind == "dynamo_output_graph":
            row.graphs += 1
            row.process.exported = None if row.started else row
            row.graph_attempt = envelope.get("attempt", 0)
        elif kind == "aot_backward_graph":
            row.backwards += 1
        elif kind == "bwd_compilation_metrics":
            row.backwards -= 1
        elif kind == "compilation_metrics":
            row.closed = True
            row.restarts += len(value.get("restart_reasons") or [])
            row.fail = value.get("fail_type")
            row.function = row.function or value.get("co_name")
        elif name == "dynamo_graph_break_reason":
            place = re.search(r"Graph break in user code at (.+):(\d+)", payload)
            row.breaks.append(int(place[2]) if place else None)
        elif name == "recompile_reasons":
            row.recompiles += 1

    def numbers(self):
        frames = [r for r in self.rows if r.key[1] is not None]
        return {
            "compiles": len(frames),
            "frames": len({(r.process.number, r.generation, r.key[1]) for r in frames}),
            "restarts": sum(r.restarts for r in self.rows),
            "recompiles": sum(r.recompiles for r in self.rows),
            "graph_breaks": self.breaks,
            "failures": sum(r.fail is not None for r in self.rows),
            "graphs": self.graphs,
            "cache": self.cache,
            "symbols": self.symbols,
            "specializations": self.specializations,
        }


def check(trace, path):
    """Problems of the identity of trace against the truth at path."""
    truth = {p["pid"]: p for p in json.load(open(path))}
    if sorted(truth) != sorted(p.pid for p in trace.processes):
        yield f"processes {[p.pid for p in trace.processes]}, true are {list(truth)}"
        return
    for process in trace.processes:
        true = truth[process.pid]
        # Generations in which nothing was compiled cannot be seen: those that can are numbered anew.
        seen = {g: n for n, g in enumerate(sorted({c["generation"] for c in true["compiles"]}))}
        ids = [(seen[c["generation"]], c["id"], c["function"]) for c in true["compiles"]]
        found = [(r.generation, r.id, r.function) for r in trace.rows if r.process is process]
        if ids != found:
            yield f"process {process.pid}: only true: {[i for i in ids if i not in found]}, only found: {[i for i in found if i not in ids]}"
        said = [g for g, n in true["records"] for _ in range(n)]
        rows = [row for p, row in trace.of_record if p is process]
        if len(said) != len(rows):
            yield f"process {process.pid}: {len(rows)} records, {len(said)} were written"
        wrong = [n for n, (g, r) in enumerate(zip(said, rows)) if g is not None and r and r.generation != seen.get(g)]
        yield from (f"process {process.pid}: record {n} is of generation {said[n]}, found {rows[n] and rows[n].generation}" for n in wrong)
        mine = [r for r in trace.rows if r.process is process]
        found = {
            "breaks": [[r.generation, r.id, line] for r in mine for line in r.breaks],
            "recompiles": [[r.generation, r.id] for r in mine if r.recompiles],
            "restarts": [[r.generation, r.id] for r in mine for _ in range(r.restarts)],
            "failures": [[r.generation, r.id, r.fail] for r in mine if r.fail],
            "graphs": sum(r.graphs for r in mine),
            "cache": trace.cache,
        }
        for what, by_hand in true["by_hand"].items():
            if isinstance(by_hand, list):
                by_hand = [[seen[g], *of] for g, *of in by_hand]
            if by_hand != found[what]:
                yield f"process {process.pid}: {what} {found[what]}, by hand {by_hand}"


def main(argv):
    if argv[:1] == ["--truth"]:
        problems = list(check(Trace(argv[1]), argv[2]))
        print("\n".join(problems[:6]) or "true")
        return 1 if problems else 0
    for path in argv:
        t = Trace(path)
        rows = [[r.process.number, r.generation, r.id, r.function, r.line, r.breaks, r.recompiles, r.restarts, r.fail] for r in t.rows]
        print(json.dumps({"path": path, "numbers": t.numbers(), "rows": rows, "symbols": t.symbol_places}))
    return 0 if argv else sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
