"""Candidates that take a statement apart (candidates.py): a value that Python makes, not a tensor, becomes an operator that returns it; a
branch that chooses values and has effects becomes two.
"""
import ast, re

VALUE = '''
@torch.library.custom_op("%(ns)s::%(op)s", mutates_args=("_order",))
def %(name)s(_order: torch.Tensor%(parameters)s) -> torch.Tensor:
    return torch.tensor(%(value)s, dtype=%(dtype)s)


%(name)s.register_fake(lambda _order, *args: torch.empty((), dtype=%(dtype)s))


'''


class Parts:
    # ---- a value of Python's: random numbers, times, what a library computes ----

    def draws(self, s, f, st):
        """random.random() in an expression: each call makes a value, so that it can be no constant."""
        here = self.locals_of(s, f)
        for x in ast.walk(st):
            if not isinstance(x, ast.Call) or not CLOCKS.search(s.seg(x.func)) or s.seg(x.func).startswith(("torch.", "self.")) or root_name(x.func) in here:
                continue
            names = sorted(loads(x) & here)
            for text in [s.seg(x)] + names:
                self.probe(s.path, st.lineno, text)
            self.pending.append(lambda x=x, names=names: self.make_draw(s, f, st, x, names))

    def make_draw(self, s, f, st, x, names):
        kinds = [passable(self.type_of(s.path, st.lineno, n)) for n in names]
        dtype = {"int": "torch.int64", "float": "torch.float64", "bool": "torch.bool"}.get(self.type_of(s.path, st.lineno, s.seg(x)))
        if dtype is None or any(k in (None, "torch.Tensor") for k in kinds):
            return
        name = "_" + (x.func.attr if isinstance(x.func, ast.Attribute) else x.func.id).strip("_")
        ns = re.sub(r"\W", "_", os.path.basename(s.path).removesuffix(".py"))
        text = VALUE % {"ns": ns, "op": name.strip("_"), "name": name, "value": s.seg(x), "dtype": dtype,
                        "parameters": "".join(", %s: %s" % p for p in zip(names, kinds))}
        head = "" if "\n_order = " in s.whole else s.imports() + "\n_order = torch.zeros(1)\n\n"
        top, after = s.top(f), s.after_imports()
        places = [((top, top), head + text.lstrip("\n"))] if after >= top else [((after, after), head)] * bool(head) + [((top, top), text.lstrip("\n"))]
        call = (x, "%s(%s)" % (name, ", ".join(["_order"] + names)))
        self.add("operator", "an operator that returns %s" % s.seg(x)[:40], {s.path: s.edit(places + [(x, "%s(%s)" % (name, ", ".join(["_order"] + names)))])})

    def fills(self, s, st):
        """torch.full(size, value) and full_like need a number: torch.ones() * value takes a tensor, too."""
        changes = []
        for c in ast.walk(st):
            if isinstance(c, ast.Call) and s.seg(c.func) in ("torch.full", "torch.full_like") and len(c.args) > 1 and not isinstance(c.args[1], ast.Constant):
                ones = "torch.ones" + s.seg(c.func).removeprefix("torch.full")
                changes.append((c, "%s(%s) * (%s)" % (ones, ", ".join([s.seg(c.args[0])] + [s.seg(k) for k in c.keywords]), s.seg(c.args[1]))))
        if changes:
            self.add("tensor", "torch.ones() * value instead of torch.full()", {s.path: s.edit(changes)})

    def one_hots(self, s, st):
        """F.one_hot(x, n)[..., :m]: a size that data decides, cut to one that they do not: compared with 0 to m - 1."""
        changes = []
        for c in ast.walk(st):
            cut = c.slice if isinstance(c, ast.Subscript) else None
            last = cut.elts[-1] if isinstance(cut, ast.Tuple) and len(cut.elts) == 2 and s.seg(cut.elts[0]) == "..." else None
            if not isinstance(last, ast.Slice) or last.lower or last.step or not last.upper or not isinstance(c.value, ast.Call):
                continue
            if s.seg(c.value.func).rpartition(".")[2] == "one_hot" and c.value.args and isinstance(c.value.args[0], (ast.Name, ast.Attribute)):
                x = s.seg(c.value.args[0])
                changes.append((c, "(%s.unsqueeze(-1) == torch.arange(%s, device=%s.device)).long()" % (x, s.seg(last.upper), x)))
        if changes:
            self.add("tensor", "compared with torch.arange() instead of one_hot()", {s.path: s.edit(changes)})

    # ---- a branch that leaves out the rest of a loop's body ----

    def skips(self, s, f, st):
        """if c: continue; total = total + g(x)   becomes   total = torch.where(c, total, total + g(x))."""
        if st.orelse or not s.alone(st) or len(st.body) != 1 or not isinstance(st.body[0], ast.Continue) or not isinstance(st.up, ast.For):
            return
        block = s.block(st)
        rest = block[block.index(st) + 1:]
        python, c = self.condition(s, st.test)
        rows = self.assignments(s, rest)
        if python or not rows or len(rows) != len(rest) or not all(s.alone(x) for x in rest):
            return
        inside = lambda x: any(y.lineno <= x.lineno <= y.end_lineno for y in rest)
        lines = ["_skipped = " + c]
        for x, (name, value) in zip(rest, rows):
            own = isinstance(x, ast.Assign) and isinstance(x.targets[0], ast.Name) and all(inside(y) for y in ast.walk(f) if isinstance(y, ast.Name) and y.id == name)
            lines.append("%s = %s" % (name, value) if own else "%s = torch.where(_skipped, %s, %s)" % (name, name, value))
        self.add("where", "torch.where: what is skipped is computed, and not taken", {s.path: s.edit([(st, ("\n" + s.indent(st)).join(lines))] + [(s.rows(x), "") for x in rest])})

    # ---- a branch that chooses values and has effects ----

    def split(self, s, f, st):
        """if c: count += 1; x = g(x)   becomes   the effect, then x = torch.where(c, g(x), x)."""
        if st.orelse or not s.alone(st) or len(st.body) < 2 or any(isinstance(x, (ast.Return, ast.Break, ast.Continue, ast.Raise)) for x in ast.walk(st)):
            return
        targets = {}
        for x in st.body:
            t = x.targets[0] if isinstance(x, ast.Assign) and len(x.targets) == 1 else x.target if isinstance(x, ast.AugAssign) else None
            if isinstance(t, (ast.Name, ast.Attribute)):
                targets[x] = s.seg(t)
                self.probe(s.path, st.lineno, s.seg(t))
        if targets and len(targets) <= len(st.body):
            self.pending.append(lambda: self.make_split(s, f, st, targets))

    def make_split(self, s, f, st, targets):
        values = [x for x in st.body if passable(self.type_of(s.path, st.lineno, targets.get(x, ""))) == "torch.Tensor"]
        effects = [x for x in st.body if x not in values]
        python, c = self.condition(s, st.test)
        rows = self.assignments(s, values)
        if not values or not effects or python or not rows:
            return
        pad = s.indent(st)
        text = "_chosen = %s\n%sif _chosen:\n" % (c, pad)
        text += "".join(s.whole[s.rows(x)[0]:s.rows(x)[1]] for x in effects)
        text += "\n".join("%s%s = torch.where(_chosen, %s, %s)" % (pad, k, v, k) for k, v in rows)
        whole = s.edit([(st, text)])
        try:
            other = type(self)(self.server, {"texts": {**self.texts, s.path: whole}, "finding": self.finding})
        except SyntaxError:
            return
        other.spots = []
        t = other.source(s.path)
        found, g = t.statements(st.lineno + 1)
        if g is None or not found:
            return
        head = next((x for x in found if isinstance(x, ast.If)), found[0])
        other.operators(t, g, head)
        if other.probes:
            other.types = self.server.probe_types(other.texts, {p: sorted(lines.items()) for p, lines in other.probes.items()})
        for make in other.pending:
            make()
        for o in other.out[:2]:
            self.add("where", "torch.where for the values, an operator for the rest", {s.path: o["texts"][s.path]})
