"""What a run left behind, as numbers that can be compared, and the comparison itself.

A run is a dict (runner.py): `status`, `outer` (the results of the outermost compiled calls), `steps` (sums of all parameters at each step),
`state` (variables of the user's modules at the end, by name), `text` (lines of both streams in the order they were written: "o..." or
"e..."), `files` (what was written, by path). compare() says what differs first, in words for a person, or None.
"""
import math, re

NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
# What autograd adds to the text of a tensor does not differ in value; addresses change from run to run.
GRAD = re.compile(r",? *(grad_fn=<\w+>|requires_grad=True)|(?<= at )0x[0-9a-f]+")
# Lines that torch and Python themselves write on standard error, and those of a traceback.
NOISE = re.compile(r"[VWEI]\d{4} |.*(site-packages|dist-packages)/|.*Warning: |\s|Traceback|$")
MOST = 2000  # elements of a list or dict


def of_tensor(t):
    import torch
    with torch.no_grad():
        t = t.detach()
        if t.is_sparse or t.numel() == 0 or t.device.type == "meta":
            return [0.0, 0.0, list(t.shape)]
        d = torch.view_as_real(t).double() if t.is_complex() else t.double()
        # the second sum has weights: a permutation is another value
        w = torch.arange(1, d.numel() + 1, dtype=torch.float64, device=d.device).reshape(d.shape).remainder_(97)
        return [float(d.sum()), float((d * w).sum()), list(t.shape)]


def flat(value, depth=0, seen=None):
    """The numbers, texts and tensors in a value; what is of no known type is left out."""
    import torch
    seen = set() if seen is None else seen
    if isinstance(value, torch.Tensor):
        return [of_tensor(value)]
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return [value]
    if isinstance(value, (int, float)):
        return [float(value)]
    if depth > 4 or id(value) in seen or isinstance(value, (type, type(math), type(flat))):
        return []
    if isinstance(value, (list, tuple, set, frozenset)) and len(value) < MOST:
        seen.add(id(value))
        items = value if isinstance(value, (list, tuple)) else sorted(value, key=repr)
        return [x for item in items for x in flat(item, depth + 1, seen)]
    if isinstance(value, dict) and len(value) < MOST:
        seen.add(id(value))
        return [x for key in value for x in [str(key)[:80]] + flat(value[key], depth + 1, seen)]
    if isinstance(value, torch.nn.Module):
        return of_module(value, depth, seen)
    if type(value).__module__ == "numpy":
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        return [float(value.sum()), float(abs(value).sum())] if kind in "iufb" and kind else []
    if hasattr(value, "__dict__") and type(value).__module__.partition(".")[0] not in ("torch", "builtins", "logging", "_io", "threading"):
        seen.add(id(value))
        return [x for key, v in sorted(vars(value).items()) if not key.startswith("_") for x in flat(v, depth + 1, seen)]
    return []


def of_module(module, depth=0, seen=None):
    """Parameters, buffers and plain attributes of all its modules. A number that has become a tensor is still that number."""
    seen = set() if seen is None else seen
    module = module._modules.get("_orig_mod", module)  # what is compiled is the same module
    if id(module) in seen:
        return []
    seen.add(id(module))
    out = [of_tensor(p) for p in module.parameters()]
    named = {}
    for prefix, m in module.named_modules():
        prefix = prefix.replace("._orig_mod", "")
        if prefix.endswith("_orig_mod") or type(m).__name__ == "OptimizedModule":
            continue
        for name, b in m.named_buffers(recurse=False):
            named[prefix + "." + name] = [float(b)] if b.dim() == 0 and not b.is_complex() else [of_tensor(b)]
        for name, v in vars(m).items():
            if not name.startswith("_") and name != "training":
                named[prefix + "." + name] = [float(v)] if is_scalar(v) else flat(v, depth + 1, seen)
    return out + [x for key in sorted(named) if named[key] for x in [key] + named[key]]


def is_scalar(v):
    import torch
    return isinstance(v, torch.Tensor) and v.dim() == 0 and not v.is_complex() and v.device.type != "meta"


def scalars(value):
    """In a plain variable, a tensor of one element counts as its number, too."""
    return [float(value)] if is_scalar(value) else flat(value)


# ---- comparison ----

def close(a, b, tol):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y, tol) for x, y in zip(a, b))
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        if isinstance(a, list) and len(a) == 3 and a[2] == [] and isinstance(b, (int, float)):
            return close(a[0], float(b), tol)  # a number that is a tensor in one of them
        if isinstance(b, list) and len(b) == 3 and b[2] == [] and isinstance(a, (int, float)):
            return close(float(a), b[0], tol)
        return a == b
    return a == b or a != a and b != b or abs(a - b) <= tol * max(1.0, abs(a), abs(b))


def same_line(x, y, tol):
    if x == y:
        return True
    if NUMBER.sub("#", x) != NUMBER.sub("#", y):
        return False
    for p, q in zip(NUMBER.findall(x), NUMBER.findall(y)):
        digits = len(p.partition(".")[2])
        if abs(float(p) - float(q)) > tol * max(1.0, abs(float(p))) + (1.01 * 10.0 ** -digits if digits else 0):
            return False
    return True


def lines_of(run, volatile):
    """The user's own lines of both streams in one order; of standard error only what is not torch's."""
    out = []
    for line in run["text"]:
        text = GRAD.sub("", line[1:])
        if (line[0] == "o" and text or not NOISE.match(text)) and not any(v(line[0] + text) for v in volatile):
            out.append(line[0] + text)
    return out


def texts(ref, run, volatile, tol):
    a, b = lines_of(ref, volatile), lines_of(run, volatile)
    if len(a) == len(b) and all(same_line(x, y, tol) for x, y in zip(a, b)):
        return None
    rest, lost = list(b), []
    for x in a:
        for i, y in enumerate(rest):
            if same_line(x, y, tol):
                del rest[i]
                break
        else:
            lost.append(x)
    where = lambda l: "standard output" if l[0] == "o" else "standard error"
    # Lines that only this run wrote on standard error, where no line of eager is missing: a library's word about compiling.
    if not lost and all(l[0] == "e" for l in rest):
        return None if [l for l in b if l not in rest] and all(map(lambda p: same_line(p[0], p[1], tol), zip(a, [l for l in b if l not in rest]))) or not a else "order of output differs"
    if not lost and not rest:
        return "order of output differs"
    if lost and not rest:
        return "line not printed on %s: '%s'" % (where(lost[0]), lost[0][1:][:60])
    if not lost:
        return "more is printed on %s: '%s'" % (where(rest[0]), rest[0][1:][:60])
    return "%s differs: '%s' instead of '%s'" % (where(rest[0]), rest[0][1:][:50], lost[0][1:][:50])


def compare(ref, run, volatile, tol, outer=True):
    """None: equal. volatile: what differs between two eager runs. outer: are the outermost calls the same ones?"""
    if run["status"] != ref["status"]:
        return "ends differently: %s, eager %s" % (run["status"], ref["status"])
    if "steps" not in volatile["parts"]:
        if len(ref["steps"]) != len(run["steps"]):
            return "%d steps instead of %d" % (len(run["steps"]), len(ref["steps"]))
        for i, (a, b) in enumerate(zip(ref["steps"], run["steps"])):
            if not close(a, b, tol):
                return "parameters differ at step %d" % (i + 1)
    if outer and "outer" not in volatile["parts"]:
        if len(ref["outer"]) != len(run["outer"]):
            return "%d compiled calls instead of %d" % (len(run["outer"]), len(ref["outer"]))
        for i, (a, b) in enumerate(zip(ref["outer"], run["outer"])):
            if not close(a, b, tol):
                return "result of call %d differs" % (i + 1)
    for name in ref["state"]:
        if name not in volatile["state"] and name in run["state"] and not close(ref["state"][name], run["state"][name], tol):
            return "%s differs at the end" % name
    why = texts(ref, run, volatile["lines"], tol)
    if why:
        return why
    for name in ref["files"]:
        if name not in volatile["files"] and run["files"].get(name) != ref["files"][name]:
            return "the file %s differs" % name
    return None


def find_volatile(ref, again):
    """What differs between two eager runs of the same program is not compared."""
    parts, state, shapes, files = set(), set(), [], set()
    if not close(ref["steps"], again["steps"], 1e-9):
        parts.add("steps")
    if not close(ref["outer"], again["outer"], 1e-9):
        parts.add("outer")
    for name in set(ref["state"]) | set(again["state"]):
        if not close(ref["state"].get(name, []), again["state"].get(name, []), 1e-9):
            state.add(name)
    for x, y in zip(ref["text"], again["text"]):
        if x != y and not same_line(GRAD.sub("", x), GRAD.sub("", y), 1e-9):
            shapes.append(NUMBER.sub("#", GRAD.sub("", x)))
    for name in set(ref["files"]) | set(again["files"]):
        if ref["files"].get(name) != again["files"].get(name):
            files.add(name)
    lines = [lambda line, shapes=frozenset(shapes): NUMBER.sub("#", line) in shapes] if shapes else []
    return {"parts": parts, "state": state, "lines": lines, "files": files,
            "names": sorted(parts | state | files) + sorted({s[1:60] for s in shapes})}
