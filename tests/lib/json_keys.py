"""json_keys.py FILE : every key of a JSON document and its type, a line each, sorted: what tests/data/schemas holds of each document.
json_keys.py FILE PROMISED : what of that is gone, or of another type. json_keys.py PROMISED PAGE.md... : keys that no page has.

Keys that stand for names of things (a set of counts by kernel) are not told apart from others: such maps are left to one level, where
the keys all have values of one type and none is an object."""
import json
import re
import sys

NAMES = {type(None): "null", bool: "bool", int: "number", float: "number", str: "text", list: "list", dict: "object"}


def walk(value, path, out):
    out.setdefault(path, set()).add(NAMES[type(value)])
    if isinstance(value, dict):
        for key, inner in value.items():
            walk(inner, path + "." + key, out)
    elif isinstance(value, list):
        for inner in value:
            walk(inner, path + "[]", out)


def keys(document):
    out = {}
    walk(document, "", out)
    return out


def undescribed(promised, pages):
    """Keys that no page has: in quotation marks (an example of the document), between backticks, as the first cell of a table's row (several
    with commas) or as a heading. What "schema" is docs/formats/JSON.md says for all."""
    text = "\n".join(open(page).read() for page in pages)
    said = set(re.findall(r'"([A-Za-z_][^"\n]*)"', text)) | {"", "schema"}
    for span in re.findall(r"`([^`\n]+)`|^\| ([^|]+) \||^#+ (\w+)$", text, re.M):
        said.update(re.findall(r"\w+", " ".join(span)))
    for line in open(promised):
        if line.rsplit(" ", 1)[0].replace("[]", "").rsplit(".", 1)[1] not in said:
            yield line.strip()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        for path, types in sorted(keys(json.load(open(sys.argv[1]))).items()):
            if path:
                print(path, "|".join(sorted(types)))
    elif sys.argv[2].endswith(".md"):
        print("\n".join(undescribed(sys.argv[1], sys.argv[2:])))
    else:  # what is promised and gone, or of another type (null: not known this time)
        have = keys(json.load(open(sys.argv[1])))
        for line in open(sys.argv[2]):
            path, types = line.rsplit(" ", 1)
            got, want = have.get(path), set(types.strip().split("|"))
            if got is None:
                print("gone: " + path)
            elif not got <= want | {"null"} and want != {"null"}:
                print("%s was %s, is %s" % (path, types.strip(), "|".join(sorted(got))))
