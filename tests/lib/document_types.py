"""document_types.py CLASS FILE... : documents whose members are not of the type that pt2utils.documents says, a line each. Reads - from standard input."""
import json
import keyword
import sys
import typing

from pt2utils import documents

bad = set()


def check(value, kind, path):
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if kind is typing.Any:
        return
    if origin is typing.Union:
        if not any(fits(value, k) for k in args):
            bad.add("%s: %r is not %s" % (path, value, kind))
        for k in args:
            if fits(value, k):
                check(value, k, path)
                return
    elif not fits(value, kind):
        bad.add("%s: %s is not %s" % (path, repr(value)[:60], kind))
    elif origin is list:
        for v in value:
            check(v, args[0], path + "[]")
    elif origin is dict:
        for v in value.values():
            check(v, args[1], path + "{}")
    elif isinstance(value, documents.Row):
        for name, inner in typing.get_type_hints(type(value)).items():
            if not name.startswith("_"):
                check(getattr(value, name), inner, "%s.%s" % (path, name))


def fits(value, kind):
    kind = typing.get_origin(kind) or kind
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def members(row, path):
    """Members of the document that no class has."""
    known = {f[:-1] if f.endswith("_") and keyword.iskeyword(f[:-1]) else f for f in row.__dataclass_fields__}
    out = {"%s.%s" % (path, key) for key in row.raw if key not in known}
    for name in row.__dataclass_fields__:
        value = getattr(row, name)
        for v in value if isinstance(value, list) else [value]:
            if isinstance(v, documents.Row):
                out |= members(v, "%s.%s" % (path, name))
    return out


for file in sys.argv[2:]:
    with (sys.stdin if file == "-" else open(file)) as f:
        document = getattr(documents, sys.argv[1]).of(json.load(f))
    check(document, type(document), "")
    if "Explain" in sys.argv[1] or "Contract" in sys.argv[1]:
        bad |= {"no member for %s" % m for m in members(document, "")}
print("\n".join(sorted(bad)))
