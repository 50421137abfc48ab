"""Candidates for recompiles (candidates.py): what a guard names is no longer changed, is a tensor, or may change."""
import ast, re


class Guards:
    # ---- guards: what changes from call to call ----

    def of_guards(self, words):
        names = []
        def add(n):
            if n and n not in names:
                names.append(n)
        for base, rest in re.findall(r"L\['(\w+)'\]((?:\._modules\['\w+'\]|\.\w+|\['\w+'\])*)", words):
            attrs = re.findall(r"\._modules\['(\w+)'\]|\.(\w+)|\['(\w+)'\]", rest)
            add(".".join([base] + [next(filter(None, a)) for a in attrs]) if attrs else base)
        for n in re.findall(r"G\['(\w+)'\]", words):
            add(n)
        for n in re.findall(r"\b(?:size of|value of|of|type of|dtype of) ([A-Za-z_][\w.]*)", words) + re.findall(r"([A-Za-z_][\w.]*)(?:\[[^]]*\])*(?: at dim|: \S+ ->| is now| changed| ==)", words):
            add(n)
        self.names = names
        attrs = {n.split(".")[-1] for n in names}
        for path in self.files():
            s = self.source(path)
            for n in ast.walk(s.tree):
                if isinstance(n, (ast.AugAssign, ast.Assign)):
                    targets = [n.target] if isinstance(n, ast.AugAssign) else n.targets
                    for t in targets:
                        base = t.value if isinstance(t, ast.Subscript) else t
                        word = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else None
                        if word in attrs and (isinstance(t, (ast.Attribute, ast.Subscript)) or word in {x for g in ast.walk(s.tree) if isinstance(g, ast.Global) for x in g.names}):
                            f = s.function(n.lineno)
                            if f is not None and f.name != "__init__":
                                for st in s.statements(n.lineno)[0][:2]:
                                    if not isinstance(st, (ast.For, ast.While)):
                                        self.operators(s, f, st)
                                self.counted_outside(s, n, t)
                                if isinstance(t, ast.Attribute):
                                    self.buffer(s, n, t)
            self.passed(s, names, words)

    def buffer(self, s, n, target):
        """The attribute as a tensor: in its place, changed in place."""
        owner = s.up(n, ast.ClassDef)
        init = [x for x in owner.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"] if owner is not None else []
        for a in (x for i in init for x in ast.walk(i)):
            if isinstance(a, ast.Assign) and isinstance(a.targets[0], ast.Attribute) and a.targets[0].attr == target.attr and isinstance(a.value, ast.Constant) \
                    and isinstance(a.value.value, (int, float)) and not isinstance(a.value.value, bool):
                me = s.seg(a.targets[0].value)
                self.add("buffer", "%s is a tensor" % target.attr, {s.path: s.edit([(a.value, "torch.tensor(%s)" % s.seg(a.value))])}, price="reading it outside gives a tensor")
                self.add("buffer", "%s is a buffer" % target.attr,
                         {s.path: s.edit([(a, '%s.register_buffer("%s", torch.tensor(%s), persistent=False)' % (me, target.attr, s.seg(a.value)))])}, price="reading it outside gives a tensor")

    def counted_outside(self, s, n, target):
        """The caller counts, after each call of what is compiled."""
        if not isinstance(n, ast.AugAssign) or not isinstance(n.value, ast.Constant) or not s.alone(n):
            return
        if not isinstance(target, ast.Attribute):
            return
        compiled = self.compiled_names(s)
        changes = [(s.rows(n), "" if len(s.block(n)) > 1 else s.indent(n) + "pass\n")]
        for c in ast.walk(s.tree):
            if isinstance(c, ast.Call) and isinstance(c.func, ast.Name) and c.func.id in compiled:
                t = s.statement(c)
                if s.alone(t) and not isinstance(t, (ast.For, ast.While, ast.With, ast.If)):
                    end = s.offset[t.end_lineno]
                    changes.append(((end, end), "%s%s.%s += %s\n" % (s.indent(t), c.func.id, target.attr, s.seg(n.value))))
        if len(changes) > 1:
            self.add("move", "%s is counted by the caller" % target.attr, {s.path: s.edit(changes)})

    def compiled_names(self, s):
        """Names of what is compiled: x = torch.compile(...), @torch.compile def x."""
        out = {}
        for n in ast.walk(s.tree):
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call) and s.seg(n.value.func) in ("torch.compile", "compile") and isinstance(n.targets[0], ast.Name):
                out[n.targets[0].id] = n.value
            if isinstance(n, ast.FunctionDef):
                for d in n.decorator_list:
                    if s.seg(d).startswith("torch.compile"):
                        out[n.name] = d
        return out

    def parameters(self, names):
        """The parameter lists that a call of a compiled object may mean, from all files."""
        for path in self.files():
            s = self.source(path)
            for d in ast.walk(s.tree):
                if isinstance(d, ast.FunctionDef) and (d.name in names or d.name in ("forward", self.finding.get("function", ""))):
                    a = [x.arg for x in d.args.args]
                    yield a[1:] if s.up(d, ast.ClassDef) is not None and d.up is s.up(d, ast.ClassDef) else a

    def passed(self, s, names, words):
        """A number that a compiled call is given, as a tensor; a size that changes, as a dynamic one."""
        compiled = self.compiled_names(s)
        if not compiled:
            return
        dims = {(n, int(d)) for n, d in re.findall(r"(?:size of )?([A-Za-z_]\w*)(?:'s size)? at dim (\d+)", words)} | {(n, int(d)) for n, d in re.findall(r"L\['(\w+)'\]\.size\(\)\[(\d+)\]", words)} \
            | {(n, int(d)) for n, d in re.findall(r"tensor 'L\['(\w+)'\]' size mismatch at index (\d+)", words)} | {(n, int(d)) for n, d in re.findall(r"tensor '(\w+)' size mismatch at index (\d+)", words)}
        orders = list(self.parameters(compiled))
        marks = {}
        for n in ast.walk(s.tree):
            if not isinstance(n, ast.Call) or not isinstance(n.func, ast.Name) or n.func.id not in compiled:
                continue
            given = {k.arg: k.value for k in n.keywords}
            for order in orders:
                for name, value in zip(order, n.args):
                    given.setdefault(name, value)
            for name in names:
                v = given.get(name.partition(".")[0])
                if v is not None and "." not in name and not isinstance(v, ast.Constant) or v is not None and isinstance(v, ast.Constant) and type(v.value) in (int, float):
                    self.add("tensor", "%s is passed as a tensor" % name, {s.path: s.edit([(v, "torch.tensor(%s)" % s.seg(v))])})
            for name in {x.partition(".")[0] for x in names if "." in x}:  # numbers in a dict
                v = given.get(name)
                if v is not None and not isinstance(v, ast.Constant):
                    self.add("tensor", "the numbers in %s are passed as tensors" % name,
                             {s.path: s.edit([(v, "{k: torch.tensor(v) for k, v in (%s).items()}" % s.seg(v))])})
            t = s.statement(n)
            for name, dim in sorted(dims):
                v = given.get(name)
                if v is not None and s.alone(t):
                    marks.setdefault(t, (n, []))[1].append((name, dim, v))
        changes, shown = [], []
        for t, (n, rows) in marks.items():
            pad, before = s.indent(t), ""
            for name, dim, v in rows:
                text = s.seg(v)
                if not isinstance(v, ast.Name):
                    text = "_" + name
                    before += "%s%s = %s\n" % (pad, text, s.seg(v))
                    changes.append((v, text))
                before += "%storch._dynamo.mark_dynamic(%s, %d)\n" % (pad, text, dim)
                shown.append("%s, %d" % (text, dim))
            if not isinstance(t, (ast.While, ast.FunctionDef)):
                changes.append(((s.rows(t)[0],) * 2, before))
        if changes:
            self.add("dynamic", "mark_dynamic(%s)" % "; ".join(sorted(set(shown)))[:60], {s.path: s.edit(changes)})
