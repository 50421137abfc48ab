"""What the suite stands on, as an installed torch says it: read from its text; nothing of it is imported or run.

read(SITE) is {section: {item: detail}} of a site-packages folder; compare(old, new) says of two such what is new, gone, or has another detail.
Every section is of a reader or table of ours, which its line in SECTIONS names.
"""
import ast
import functools
import importlib.machinery
import importlib.util
import json
import mmap
import re
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


@functools.lru_cache(None)
def script(name):
    """One of scripts/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def read_text(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def text_of(node):
    """A string of the program, with * for what varies; None where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "*" for v in node.values)
    return None


def strings(tree):
    """All of a program's that are no docstrings."""
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    return [t for n in ast.walk(tree) if id(n) not in docs and (t := text_of(n))]


CALLS = {"trace_structured", "trace_structured_artifact", "dynamo_timed", "log_event_start"}


@functools.lru_cache(None)
def calls(site):
    """(function's last name, call, {constant: text}) of those that write records or phases, in all of torch."""
    found = []
    for path in sorted((site / "torch").rglob("*.py")):
        text = read_text(path)
        if any(name in text for name in CALLS):
            tree = ast.parse(text)
            constants = {n.targets[0].id: text_of(n.value) for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}
            for n in ast.walk(tree):
                name = isinstance(n, ast.Call) and (n.func.attr if isinstance(n.func, ast.Attribute) else getattr(n.func, "id", ""))
                if name in CALLS:
                    found.append((name, n, constants))
    return found


def named(site, *functions):
    """The texts that these functions are called with first."""
    first = [(c.args[0], constants) for f, c, constants in calls(site) if f in functions and c.args]
    texts = (constants.get(a.id) if isinstance(a, ast.Name) else text_of(a) for a, constants in first)
    return {t: "" for t in texts if t}


def record_kinds(site):
    return named(site, "trace_structured")


def artifact_names(site):
    names = list(named(site, "trace_structured_artifact"))
    for f, c, _ in calls(site):
        if f == "trace_structured" and c.args and text_of(c.args[0]) == "artifact":
            dicts = [n for n in ast.walk(c) if isinstance(n, ast.Dict)]
            names += [text_of(v) for d in dicts for k, v in zip(d.keys, d.values) if k and text_of(k) == "name"]
    return {n: "" for n in names if n}


def log_names(site):
    """What TORCH_LOGS takes."""
    return dict.fromkeys(re.findall(r'register_(?:log|artifact)\(\s*"([^"]+)"', read_text(site / "torch/_logging/_registrations.py")), "")


def phases(site):
    return named(site, "dynamo_timed", "log_event_start")


def fields_of(path, wanted=lambda name: True):
    """{CLASS.FIELD: type} of the classes of a file."""
    tree = ast.parse(read_text(path))
    classes = [c for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and wanted(c.name)]
    return {f"{c.name}.{n.target.id}": ast.unparse(n.annotation) for c in classes for n in c.body if isinstance(n, ast.AnnAssign)}


def metrics(site):
    return fields_of(site / "torch/_dynamo/utils.py", "CompilationMetrics".__eq__)


def graph_breaks(site):
    registry = json.loads(read_text(site / "torch/_dynamo/graph_break_registry.json") or "{}")
    return {gb: " | ".join(" ".join(str(t).split()) for t in v[0].values()) for gb, v in registry.items()}


def shim_functions(site):
    """Each with a letter per parameter (gen-opsigs) where the header says them so."""
    versions = script("gen-shimversions")
    return {**dict.fromkeys(versions.names(site, versions.SHIM, versions.CALL), ""), **{f"aoti_torch_{n}": s for n, s in script("gen-opsigs").signatures(str(site / "torch")).items()}}


def entry_points(site):
    versions = script("gen-shimversions")
    return dict.fromkeys(versions.names(site, versions.INTERFACE, versions.ENTRY), "")


def wrapper_words(site):
    """What generated code is made of, that has a name of the C interface, of a check or of the runtime."""
    words = {}
    for path in sorted((site / "torch/_inductor/codegen").glob("*wrapper*.py")):
        for text in strings(ast.parse(read_text(path))):
            words |= dict.fromkeys(re.findall(r"\b(?:_?aoti_\w*\w|AOTI\w*\w|assert_\w+|check_\w+|\w+_handles?|cached_torch_\w+|_\w{6,}|cu[A-Z]\w+)\b", text), "")
    return words


def runtime_texts(site):
    """Macros, checks, variables of the environment, and messages of the runtime that is in every model."""
    found = {}
    for path in sorted((site / "torch/include/torch/csrc/inductor/aoti_runtime").glob("*.h")):
        text = script("gen-shimversions").strip_comments(read_text(path))
        found |= dict.fromkeys(re.findall(r"#\s*define\s+(\w+)", text) + re.findall(r"\bassert_\w+(?=\s*\()", text), "")
        found |= dict.fromkeys((f'"{s}"' for s in re.findall(r'"((?:[^"\\\n]|\\.){8,})"', text)), "")
    return found


def loader_texts(site):
    """Messages of the loader, which is in no header."""
    path, found = site / "torch/lib/libtorch_cpu.so", {}
    if path.is_file():
        with path.open("rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
            for hit in re.finditer(rb"AOTInductor", m):
                begin, end = m.rfind(b"\0", hit.start() - 200, hit.start()) + 1, m.find(b"\0", hit.start())
                text = m[begin or hit.start():end][:400].decode(errors="replace")
                if " " in text and "(" not in text and text.isprintable():
                    found[text] = ""
    return found


def config_defaults(site):
    """As they stand in the text: what a variable of the environment changes is seen, too."""
    found = {}
    for name in ("_dynamo", "_inductor", "_functorch"):
        tree = ast.parse(read_text(site / f"torch/{name}/config.py"))
        for holder in [tree] + [n for n in tree.body if isinstance(n, ast.ClassDef)]:
            prefix = f"{name}." + (f"{holder.name}." if isinstance(holder, ast.ClassDef) else "")
            for n in holder.body:
                target = n.target if isinstance(n, ast.AnnAssign) else n.targets[0] if isinstance(n, ast.Assign) else None
                if isinstance(target, ast.Name) and n.value is not None:
                    found[prefix + target.id] = ast.unparse(n.value)
    return found


def export_schema(site):
    path = site / "torch/_export/serde/schema.py"
    version = re.search(r"^SCHEMA_VERSION\s*=\s*(.*)", read_text(path), re.M)
    return {**fields_of(path), "SCHEMA_VERSION": version[1] if version else ""}


def minifier_lines(site):
    """Lines that launchers are made of."""
    found = {}
    for name in ("debug_utils.py", "repro/after_aot.py", "repro/after_dynamo.py", "repro/aoti.py"):
        for text in strings(ast.parse(read_text(site / "torch/_dynamo" / name))):
            found |= {line.strip(): "" for line in text.splitlines() if re.search(r"\w\(|\bimport\b|\w\s*=", line)}
    return found


# Heading: (who reads it, where it is known to us)
SECTIONS = {
    "Structured record kinds": (record_kinds, "libcommon/core/run/trace/kinds.h"),
    "Artifact names": (artifact_names, "libcommon/core/run/trace"),
    "CompilationMetrics fields": (metrics, "libcommon/core/run/trace/reduce*.c"),
    "Names of TORCH_LOGS": (log_names, "libcommon/core/run/textlog"),
    "Phases": (phases, "libcommon/core/run"),
    "Graph-break registry": (graph_breaks, "share/breaks/fixes.txt"),
    "Functions of the C interface": (shim_functions, "libcommon/core/model/contract/opsigs.h, model/doctor/shimversions.h; libshim"),
    "Functions that models export": (entry_points, "model/doctor/shimversions.h"),
    "Words of wrappers": (wrapper_words, "libcommon/core/model/cppwrapper"),
    "Runtime in every model": (runtime_texts, "libcommon/core/model/cppwrapper, share/patterns"),
    "Messages of the loader": (loader_texts, "share/patterns"),
    "Config defaults": (config_defaults, "share/explain/defaults.txt"),
    "Export schema": (export_schema, "libcommon/core/graph"),
    "Lines of launchers": (minifier_lines, "libcommon/core/graph, share/fxminify"),
}


def read(site):
    site = Path(site)
    return {heading: reader(site) for heading, (reader, _) in SECTIONS.items()}


def compare(old, new):
    """{"new": {item: detail}, "gone": {...}, "changed": {item: [old, new]}}"""
    return {
        "new": {i: d for i, d in new.items() if i not in old},
        "gone": {i: d for i, d in old.items() if i not in new},
        "changed": {i: [old[i], d] for i, d in new.items() if i in old and old[i] != d},
    }


def code(text):
    """In Markdown, on one line."""
    text = " ".join(str(text).split())
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def cut(*texts, most):
    """From where they part, where they do so late."""
    same = next((i for i, letters in enumerate(zip(*texts)) if len(set(letters)) > 1), min(map(len, texts)))
    at = max(same - most // 3, 0) if len(texts) > 1 and same > most // 2 else 0
    return ["…" * (at > 0) + t[at:at + most] + "…" * (len(t) > at + most) for t in texts]


def told(item, detail, width):
    if isinstance(detail, list):
        return "{} ({}, now {})".format(code(item), *map(code, cut(*detail, most=width)))
    return f"{code(item)} ({code(*cut(detail, most=width))})" if detail else code(item)


def lines(changes, most=60, width=90):
    """Of what compare() found, in Markdown; at most so many items of a kind, of so many letters each."""
    for kind, items in changes.items():
        all_ = [told(*i, width) for i in sorted(items.items())]
        if all_:
            yield f"- {kind}, {len(all_)}: " + "; ".join(all_[:most]) + (f"; and {len(all_) - most} more" if len(all_) > most else "")


def page(old, new):
    """Of two answers of read(): a part of a page."""
    for heading in new:
        found = list(lines(compare(old.get(heading, {}), new[heading])))
        where = SECTIONS[heading][1] if heading in SECTIONS else ""
        yield f"\n### {heading}\n"
        yield from found or [f"- nothing new of {len(new[heading])}"]
        if found and where:
            yield f"- known to us in: {where}"
