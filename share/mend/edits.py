"""A file of the user's as text and syntax tree, and edits of it by spans: what is not edited stays as it was written."""
import re


class Source:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.splitlines(True)
        if self.lines and not self.lines[-1].endswith("\n"):
            self.lines[-1] += "\n"
        self.whole = "".join(self.lines)
        self.tree = ast.parse(text)
        self.offset = [0]
        for l in self.lines:
            self.offset.append(self.offset[-1] + len(l))
        self.tree.up = None
        for n in ast.walk(self.tree):
            for c in ast.iter_child_nodes(n):
                c.up = n

    def at(self, line, column):
        return self.offset[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, n):
        return self.at(n.lineno, n.col_offset), self.at(n.end_lineno, n.end_col_offset)

    def seg(self, n):
        a, b = self.span(n)
        return self.whole[a:b]

    def rows(self, n):
        """The span of the whole lines of a statement."""
        return self.offset[n.lineno - 1], self.offset[n.end_lineno]

    def indent(self, n):
        return re.match(r"\s*", self.lines[n.lineno - 1]).group()

    def alone(self, n):
        """Does the statement begin its line, and end it?"""
        a, b = self.span(n)
        return not self.lines[n.lineno - 1][:n.col_offset].strip() and not self.whole[b:self.offset[n.end_lineno]].split("#")[0].strip()

    def edit(self, changes):
        """changes: (node or (from, to), text); None where two of them overlap."""
        spans = sorted(((self.span(n) if isinstance(n, ast.AST) else n) + (text,) for n, text in changes), key=lambda c: (c[0], c[1]))
        out, last = [], 0
        for a, b, text in spans:
            if a < last:
                return None
            out += [self.whole[last:a], text]
            last = b
        return "".join(out) + self.whole[last:]

    def up(self, n, kind):
        n = n.up
        while n is not None and not isinstance(n, kind):
            n = n.up
        return n

    def statement(self, n):
        while not isinstance(n, ast.stmt):
            n = n.up
        return n

    def block(self, statement):
        """The list that holds a statement."""
        for field in ("body", "orelse", "finalbody"):
            b = getattr(statement.up, field, None)
            if isinstance(b, list) and statement in b:
                return b
        return [statement]

    def function(self, line):
        inside = [n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef) and n.lineno <= line <= n.end_lineno]
        return max(inside, key=lambda n: n.lineno) if inside else None

    def statements(self, line):
        """Those that hold the line in its innermost function, innermost first."""
        f = self.function(line)
        if f is None:
            return [], None
        found = [n for n in ast.walk(f) if isinstance(n, ast.stmt) and n is not f and n.lineno <= line <= n.end_lineno
                 and not isinstance(n, (ast.FunctionDef, ast.ClassDef)) and self.up(n, ast.FunctionDef) is f]
        return sorted(found, key=lambda n: (n.end_lineno - n.lineno, -n.col_offset)), f

    def after_imports(self):
        end = 0
        for n in self.tree.body:
            if isinstance(n, (ast.Import, ast.ImportFrom)) or isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant):
                end = n.end_lineno
            elif end:
                break
        return self.offset[end]

    def imports(self):
        """"import torch" if the file lacks it."""
        have = any(isinstance(n, ast.Import) and any((a.asname or a.name) == "torch" for a in n.names) for n in self.tree.body)
        return "" if have else "import torch\n"

    def top(self, n):
        """The offset of the line before the top-level statement that holds n, with its decorators."""
        while not isinstance(n.up, ast.Module):
            n = n.up
        return self.offset[min([n.lineno] + [d.lineno for d in getattr(n, "decorator_list", [])]) - 1]


def loads(n):
    return {x.id for x in ast.walk(n) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}


def stores(n):
    return {x.id for x in ast.walk(n) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}


def written_names(n):
    """Names whose objects a statement changes: x[...] = , x.a = , x += ."""
    out = set()
    for x in ast.walk(n):
        if isinstance(x, (ast.Attribute, ast.Subscript)) and isinstance(x.ctx, ast.Store):
            base = x
            while isinstance(base, (ast.Attribute, ast.Subscript)):
                base = base.value
            if isinstance(base, ast.Name):
                out.add(base.id)
    return out


def root_name(n):
    while isinstance(n, (ast.Attribute, ast.Subscript, ast.Call)):
        n = n.func if isinstance(n, ast.Call) else n.value
    return n.id if isinstance(n, ast.Name) else None
