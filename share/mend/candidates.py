"""Edits that may make a finding go, made from the finding and the program's own syntax tree. None is for a case of its own, and none is believed:
the program decides (cmd/fxexplain/mend/search.h). Each is kind, title, texts {path: text}, price (what the user gives up; ""), region (are
other calls the compiled ones?). The order is that of trying: what keeps the program as it is comes first.
"""
PURE = set("""abs max min mean sum any all isnan isinf isfinite std var norm float double long int bool detach argmax argmin amax amin cpu numel size dim
    eq ne lt le gt ge square sqrt exp log softmax log_softmax flatten reshape view squeeze unsqueeze transpose permute t contiguous to item count_nonzero
    nonzero unique topk sort clone prod median quantile nanmean logical_and logical_or logical_not new_zeros clamp sigmoid tanh relu round floor ceil
    values indices""".split())
IMPURE_TORCH = re.compile(r"torch\.(rand|manual_seed|compile|save|load|set_|bernoulli|multinomial|normal|cuda|distributed|no_grad|library|_dynamo)")
COMPUTES = re.compile(r"backward|step|zero_grad|grad|clip_grad_\w+|[a-z]\w*[a-z0-9]_")
CLOCKS = re.compile(r"\b(time|random|datetime|uuid|secrets|perf_counter|randint|choice|shuffle|sample)\b")
PASSABLE = {"Tensor": "torch.Tensor", "Parameter": "torch.Tensor", "int": "int", "float": "float", "bool": "bool", "str": "str", "List[int]": "list[int]",
            "NoneType": None}
ORDER = ["operator", "constant", "where", "branchless", "assert", "tensor", "setting", "buffer", "dynamic", "move", "region", "always", "guard"]
HELPER = '''
_order = torch.zeros(1)


def _outside(fn):
    """fn only has effects: a call in the graph, not a graph break. It "changes"
    _order, so that no call is dropped, nor moved before another."""
    op = torch.library.custom_op("%s::" + fn.__name__.strip("_"), fn, mutates_args=("_order",))
    op.register_fake(lambda *args: None)
    return op

'''
OBJECTS = '''
_objects = []  # of the operators below: those that made themselves known in __init__

'''
KEPT = '''
_kept = {}  # what one of the operators below leaves for another

'''


def passable(kind):
    return PASSABLE.get(kind.partition(":")[0])


class Candidates(Guards, Regions, Parts, Goals):
    def __init__(self, server, request):
        self.server, self.texts, self.finding = server, dict(request["texts"]), request["finding"]
        self.out, self.seen, self.sources, self.types = [], set(), {}, {}
        self.probes, self.pending = {}, []
        self.roots = [os.path.dirname(server.main), server.start["cwd"]] + server.start.get("roots", [])

    # ---- texts ----

    def source(self, path):
        if path not in self.sources:
            self.sources[path] = Source(path, self.server.text_of(path, self.texts))
        return self.sources[path]

    def own(self, path):
        return bool(path) and os.path.isfile(path) and (own(path, self.roots) or path in self.texts)

    def files(self):
        """Files of the user's that this program has: main, those in the texts, and imports of it below its folder."""
        out = [self.server.main] + [p for p in self.texts if p != self.server.main]
        for path, _ in self.spots:
            if path not in out:
                out.append(path)
        for path in list(out):
            for n in ast.walk(self.source(path).tree):
                names = [a.name for a in n.names] if isinstance(n, ast.Import) else [n.module or ""] if isinstance(n, ast.ImportFrom) else []
                for name in names:
                    for end in (".py", "/__init__.py"):
                        p = os.path.join(os.path.dirname(path), name.replace(".", "/") + end)
                        if self.own(p) and p not in out:
                            out.append(p)
                            if len(out) > 30:
                                return out
        return out

    def add(self, kind, title, edited, price="", region=False, size=0, least=0.0):
        """edited: {path: text or None}; None where an edit was not possible."""
        if not edited or any(t is None for t in edited.values()):
            return
        for path, text in edited.items():
            try:
                compile(text, path, "exec", dont_inherit=True)
            except SyntaxError:
                return
        texts = {**self.texts, **edited}
        key = repr(sorted(texts.items()))
        if key in self.seen or all(self.server.text_of(p, self.texts) == t for p, t in edited.items()):
            return
        self.seen.add(key)
        self.out.append({"kind": kind, "title": title, "texts": texts, "price": price, "region": region, "size": size, "least": least})

    def probe(self, path, line, expr):
        self.probes.setdefault(path, {}).setdefault(line, [])
        if expr not in self.probes[path][line]:
            self.probes[path][line].append(expr)

    def type_of(self, path, line, expr):
        return self.types.get("%s:%d:%s" % (path, line, expr), "")

    # ---- all of them ----

    def all(self):
        f = self.finding
        if f["kind"] in ("slow", "wrong"):
            return self.goal(f)
        self.spots = []
        for path, line in [(f.get("file"), f.get("line", 0))] + [tuple(x) for x in reversed(f.get("stack", []))]:
            if self.own(path) and (path, line) not in self.spots:
                self.spots.append((path, line))
        words = " ".join(str(f.get(k, "")) for k in ("title", "cause", "fix", "hint", "evidence", "why"))
        recompile = f["kind"] in ("recompile", "limit", "shape")
        if recompile:
            self.of_guards(words)
        else:
            for path, line in self.spots[:4]:
                self.of_statement(path, line)
        if self.probes:  # one eager run says what the names are
            self.types = self.server.probe_types(self.texts, {p: sorted(lines.items()) for p, lines in self.probes.items()})
        for make in self.pending:
            make()
        self.settings(words, recompile)
        self.compiled(f.get("function", ""))
        if recompile and f.get("count") == 1:  # to compile something else for it would be too much
            self.out = [c for c in self.out if c["kind"] != "region"]
        rank = {k: i for i, k in enumerate(ORDER)}
        self.out.sort(key=lambda c: (rank[c["kind"]], -c["size"]))  # statements that belong together, together
        return self.out

    def why(self):
        """Why an edit is unlikely to be found, in words for a person; ""."""
        f = self.finding
        if f["kind"] in ("slow", "wrong", "recompile", "limit", "shape") or not f.get("file"):
            return ""
        if not self.own(f["file"]):
            return "the line is in a package, and mend edits only your own files" if "-packages/" in f["file"] else ""
        statements, g = self.source(f["file"]).statements(f.get("line", 0))
        st = statements[0] if statements else None
        if isinstance(st, (ast.While, ast.For)):
            return "how often this loop runs depends on a tensor: compile what it calls, not the loop"
        if isinstance(st, ast.If) and any(isinstance(x, (ast.Return, ast.Break, ast.Continue, ast.Raise)) for x in ast.walk(st)):
            return "which code runs next depends on a tensor"
        return ""

    # ---- at a statement ----

    def of_statement(self, path, line):
        s = self.source(path)
        statements, f = s.statements(line)
        if f is None:
            return
        for i, st in enumerate(statements[:3]):
            if isinstance(st, (ast.For, ast.While, ast.With)) and i and not isinstance(st, ast.With):
                break
            self.operators(s, f, st)
            if isinstance(st, ast.If):
                self.branches(s, f, st)
                self.skips(s, f, st)
                self.split(s, f, st)
            self.choices(s, st)
            if isinstance(st, ast.Assert):
                self.asserts(s, f, st, st.test, s.seg(st.msg) if st.msg else None)
        if statements:
            self.numbers(s, f, statements[0])
            self.constants(s, f, statements[0])
            self.draws(s, f, statements[0])
            self.fills(s, statements[0])
            self.one_hots(s, statements[0])
            self.guards(s, f, statements)

    # ---- an operator around statements that only have effects ----

    def locals_of(self, s, f):
        names = set()
        while f is not None:
            a = f.args
            names |= {x.arg for x in a.posonlyargs + a.args + a.kwonlyargs + [y for y in (a.vararg, a.kwarg) if y]} | stores(f)
            names |= {x.name for x in ast.walk(f) if isinstance(x, (ast.FunctionDef, ast.ClassDef)) and x is not f}
            f = s.up(f, ast.FunctionDef)
        return names

    def effects(self, s, f, st):
        """The statement and those that use what it sets, if no value leaves them; sorted. None: one does. What computes (a backward pass, a
        step of an optimizer, a tensor changed in place) is not an effect in this sense: it belongs into a graph. Nor is what makes an object
        what it is, in its __init__."""
        if f.name in ("__init__", "__new__", "__post_init__") and (written_names(st) or "super" in loads(st)):
            return None
        group, grown = [st], True
        inside = lambda x: any(y.lineno <= x.lineno <= y.end_lineno for y in group)
        while grown:
            grown = False
            if any(isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and COMPUTES.fullmatch(x.func.attr) for y in group for x in ast.walk(y)):
                return None
            if any(isinstance(x, (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Await))
                   for y in group for x in ast.walk(y)):
                return None
            names = set().union(*[stores(x) for x in group])
            for x in ast.walk(f):
                if isinstance(x, ast.Name) and x.id in names and not inside(x):
                    t = s.statement(x)
                    while t.up is not st.up and isinstance(t.up, (ast.If, ast.With, ast.For, ast.Try)):
                        t = t.up  # the whole of a statement that holds it
                    if isinstance(t, (ast.Return, ast.While, ast.FunctionDef, ast.ClassDef)) or len(group) > 6:
                        return None
                    group.append(t)
                    grown = True
                    break
        names = set().union(*[stores(x) for x in group])
        if names & {a.arg for a in f.args.args} or any(isinstance(x, ast.Name) and x.id in names and not inside(x) for x in ast.walk(f)):
            return None
        return sorted(group, key=lambda x: x.lineno)

    def producers(self, s, f, group):
        """With the statements that make what only these use."""
        group = list(group)
        for _ in range(4):
            for name in set().union(*[loads(x) for x in group]):
                made = [x for x in ast.walk(f) if isinstance(x, (ast.Assign, ast.AugAssign)) and name in stores(x)]
                if len(made) > 1 and made[0].up is group[0].up:  # set and used in turn: a clock
                    whole = self.effects(s, f, made[0])
                    if whole and all(x in whole for x in group):
                        group = whole
                    continue
                if len(made) != 1 or made[0] in group or made[0].up is not group[-1].up or not isinstance(made[0], ast.Assign):
                    continue
                if len(made[0].targets) != 1 or not isinstance(made[0].targets[0], ast.Name):
                    continue
                if any(isinstance(x, ast.Name) and x.id == name and isinstance(x.ctx, ast.Load)
                       and not any(y.lineno <= x.lineno <= y.end_lineno for y in group) for x in ast.walk(f)):
                    continue
                group.append(made[0])
        return sorted(group, key=lambda x: x.lineno)

    def beside(self, s, f, group):
        """With neighbours that only have effects and use the same objects: a counter, and what is printed by it."""
        block, out = s.block(group[0]), list(group)
        if not all(x in block for x in group):
            return out
        for step in (1, -1):
            at = block.index(out[-1] if step > 0 else out[0])
            while 0 <= at + step < len(block):
                n = block[at + step]
                if n in out or stores(n) or self.effects(s, f, n) != [n] or not changed_paths(s, [n]) & used_paths(s, out) and not changed_paths(s, out) & used_paths(s, [n]):
                    break
                out.append(n)
                out.sort(key=lambda x: x.lineno)
                at += step
        return out

    def operators(self, s, f, st):
        group = self.effects(s, f, st)
        if not group:
            return
        made = self.producers(s, f, group)
        for g in {tuple(x): x for x in (group, made, self.beside(s, f, group), self.beside(s, f, made))}.values():
            if all(x.up is g[0].up and s.alone(x) for x in g) and not any(isinstance(x, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)) for x in g):
                self.operator(s, f, g)

    def runs_of(self, s, group):
        """The group as runs of neighbours."""
        block, runs = s.block(group[0]), []
        for x in group:
            if runs and block.index(x) == block.index(runs[-1][-1]) + 1:
                runs[-1].append(x)
            else:
                runs.append([x])
        return runs

    def operator(self, s, f, group):
        """Asks for the types of what it would need; make() is called once they are known."""
        here, me = self.locals_of(s, f), None
        owner = s.up(f, ast.ClassDef)
        if owner is not None and f.up is owner and f.args.args:
            me = f.args.args[0].arg
        inner = set().union(*[stores(x) for x in group])
        line = group[0].lineno
        runs = self.runs_of(s, group)

        def heads(st):
            """Expressions of a statement that are evaluated whenever it is."""
            if isinstance(st, (ast.If, ast.While)):
                return [st.test]
            if isinstance(st, (ast.For, ast.With, ast.Try)):
                return []
            return [c for c in ast.iter_child_nodes(st) if isinstance(c, ast.expr)]

        def pure(e):
            for x in ast.walk(e):
                if isinstance(x, (ast.Name, ast.Constant, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Slice, ast.Tuple,
                                  ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.BoolOp, ast.boolop)):
                    continue
                if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and (x.func.attr in PURE or s.seg(x.func).startswith(("torch.", "F."))
                                                                                      and not IMPURE_TORCH.match(s.seg(x.func))):
                    continue
                return False
            return not (loads(e) & inner) and bool(loads(e) & here)

        wanted = []  # (statement, expression node, text, in a head)
        for st in group:
            for e in heads(st):
                for x in ast.walk(e):
                    if isinstance(x, (ast.Name, ast.Attribute, ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp, ast.Subscript)) and isinstance(getattr(x, "ctx", ast.Load()), ast.Load) and pure(x):
                        self.probe(s.path, st.lineno, s.seg(x))
            for x in ast.walk(st):
                if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load) and x.id in here - inner:
                    self.probe(s.path, st.lineno, x.id)
                if isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name) and x.value.id == me and isinstance(x.ctx, ast.Load):
                    self.probe(s.path, st.lineno, s.seg(x))
        self.pending.append(lambda: self.make_operator(s, f, group, runs, me, owner, here, inner, heads, pure))

    def make_operator(self, s, f, group, runs, me, owner, here, inner, heads, pure):
        changes, definitions, extra = [], [], ""
        crossing = set()  # set in one run, used in another
        for r in runs:
            own_names = set().union(*[stores(x) for x in r])
            for q in runs:
                if q is not r:
                    crossing |= own_names & set().union(*[loads(x) for x in q])
        written = {x.attr for c in ast.walk(owner) if owner is not None and isinstance(c, ast.FunctionDef) and c.name != "__init__" for x in ast.walk(c)
                   if isinstance(x, ast.Attribute) and isinstance(x.ctx, ast.Store)} if owner is not None else set()
        registered = False
        taken = {n.name for n in ast.walk(s.tree) if isinstance(n, ast.FunctionDef)}
        for r in runs:
            parameters, body_changes, lifted = {}, [], {}  # parameter -> (type, argument); of which text which parameter

            def parameter(name, kind, argument):
                base, n = name, 2
                while base in parameters and parameters[base][1] != argument:
                    base, n = "%s%d" % (name, n), n + 1
                parameters[base] = (kind, argument)
                return base

            def lift(st, x):
                """True: the expression, or all in it, has its parameter."""
                text = s.seg(x)
                kind = self.type_of(s.path, st.lineno, text)
                annotation = passable(kind)
                if annotation == "torch.Tensor" and not (isinstance(x, ast.Name) and x.id == me) and isinstance(getattr(x, "ctx", ast.Load()), ast.Load) and pure(x):
                    name = name_for(x)
                    argument = text if not isinstance(x, (ast.BinOp, ast.Compare, ast.UnaryOp)) else "(" + text + ")"
                    argument += ".detach()" if kind.endswith(":float") and not re.search(r"\.detach\(\)$", text) else ""
                    lifted[text] = parameter(name, annotation, argument)
                    body_changes.append((s.span(x), lifted[text]))
                    return True
                return all([walk(st, c) for c in ast.iter_child_nodes(x)]) if not isinstance(x, (ast.Name, ast.Attribute)) else leaf(st, x)

            def leaf(st, x):
                nonlocal registered
                if isinstance(x, ast.Attribute):
                    if isinstance(x.value, ast.Name) and x.value.id == me and isinstance(x.ctx, ast.Load):
                        kind = self.type_of(s.path, st.lineno, s.seg(x))
                        if passable(kind) and (passable(kind) == "torch.Tensor" or x.attr not in written):
                            argument = s.seg(x) + (".detach()" if kind.endswith(":float") else "")
                            body_changes.append((s.span(x), parameter(x.attr, passable(kind), argument)))
                            return True
                    return walk(st, x.value)
                if x.id in inner or x.id not in here:
                    if x.id in crossing:
                        body_changes.append((s.span(x), '_kept["%s"]' % x.id))
                    return True
                if x.id == me:
                    registered = True
                    parameters["_at"] = ("int", me + "._at")
                    body_changes.append((s.span(x), "_objects[_at]"))
                    return True
                kind = self.type_of(s.path, st.lineno, x.id)
                if not passable(kind):
                    return False
                parameters[x.id] = (passable(kind), x.id + (".detach()" if kind.endswith(":float") else ""))
                return True

            def walk(st, x):
                if any(x is h for h in heads(st)) or getattr(x, "in_head", False):
                    for c in ast.iter_child_nodes(x):
                        c.in_head = True
                    if isinstance(x, ast.expr):
                        return lift(st, x)
                if isinstance(x, ast.expr) and s.seg(x) in lifted and isinstance(getattr(x, "ctx", ast.Load()), ast.Load):
                    body_changes.append((s.span(x), lifted[s.seg(x)]))
                    return True
                if isinstance(x, (ast.Name, ast.Attribute)):
                    return leaf(st, x)
                return all([walk(st, c) for c in ast.iter_child_nodes(x)])

            for x in ast.walk(ast.Module(r, [])):
                x.in_head = False
            if not all([walk(st, st) for st in r]):
                return
            name = "_%s_%s" % (verb_for(s, r), f.name.strip("_"))
            n = 2
            while name in taken:
                name, n = re.sub(r"_?\d*$", "", name) + "_%d" % n, n + 1
            taken.add(name)
            body = ""
            a, b = s.rows(r[0])[0], s.rows(r[-1])[1]
            text, last = "", a
            for (x, y), new in sorted(set(body_changes)):
                if x < last:
                    return
                text, last = text + s.whole[last:x] + new, y
            text += s.whole[last:b]
            cut = len(s.indent(r[0]))
            body = "".join(("    " + l[cut:] if l[:cut].strip() == "" and l.strip() else l) for l in text.splitlines(True))
            if not body.endswith("\n"):
                body += "\n"
            signature = ", ".join(["_order: torch.Tensor"] + ["%s: %s" % (p, k) for p, (k, _) in parameters.items()])
            definitions.append("@_outside\ndef %s(%s) -> None:\n%s\n\n" % (name, signature, body))
            call = "%s%s(%s)\n" % (s.indent(r[0]), name, ", ".join(["_order"] + [v for _, v in parameters.values()]))
            changes.append(((a, b), call))
        if registered:
            entry = self.register(s, owner)
            if entry is None:
                return
            changes.append(entry)
            extra += OBJECTS if "_objects = []" not in s.whole else ""
        if crossing:
            extra += KEPT if "_kept = {}" not in s.whole else ""
        helper = "" if "def _outside(fn):" in s.whole else s.imports() + HELPER % re.sub(r"\W", "_", os.path.basename(s.path).removesuffix(".py"))
        top, after = s.top(f), s.after_imports()
        head = helper + extra
        if after >= top:
            changes.append(((top, top), head + "\n" * bool(head) + "".join(definitions)))
        else:
            if head:
                changes.append(((after, after), head))
            changes.append(((top, top), "".join(definitions)))
        title = "%s become%s one operator of the graph" % (("this statement", "s") if len(group) == 1 else ("these %d statements" % len(group), ""))
        self.add("operator", title, {s.path: s.edit(changes)}, size=len(group))

    def register(self, s, owner):
        """In __init__: self._at, its place in _objects."""
        if owner is None:
            return None
        if "._at = len(_objects)" in "".join(s.lines[owner.lineno - 1:owner.end_lineno]):
            return ((s.offset[0],) * 2, "")
        init = [x for x in owner.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"]
        if not init or not init[0].args.args:
            return None
        first = next((x for x in init[0].body if "super" in s.seg(x) or ".__init__(" in s.seg(x)), None)
        me = init[0].args.args[0].arg
        block = init[0].body
        if first is not None and not s.alone(first):
            return None
        at = s.offset[first.end_lineno] if first is not None else s.rows(block[0])[0]
        pad = s.indent(block[0])
        return (at, at), "%s%s._at = len(_objects)\n%s_objects.append(%s)\n" % (pad, me, pad, me)

    # ---- a value that decides ----

    def condition(self, s, test):
        """(conditions of Python, a tensor's text) of "a and t.item() > 3"."""
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        tensor = [p for p in parts if any(isinstance(x, ast.Call) for x in ast.walk(p))] or parts
        python = [p for p in parts if p not in tensor]
        text = " & ".join(("(%s)" if len(tensor) > 1 else "%s") % stripped(s, p, "") for p in tensor)
        return python, text

    def assignments(self, s, block):
        out = []
        for x in block:
            if isinstance(x, ast.Assign) and len(x.targets) == 1 and isinstance(x.targets[0], (ast.Name, ast.Attribute)):
                out.append((s.seg(x.targets[0]), s.seg(x.value)))
            elif isinstance(x, ast.AugAssign):
                op = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(x.op))
                if op is None:
                    return None
                out.append((s.seg(x.target), "%s %s (%s)" % (s.seg(x.target), op, s.seg(x.value))))
            elif not isinstance(x, ast.Pass):
                return None
        return out

    def branches(self, s, f, st):
        python, c = self.condition(s, st.test)
        pad = s.indent(st)
        if len(st.body) == 1 and isinstance(st.body[0], ast.Raise) and not st.orelse:
            e = st.body[0].exc
            message = s.seg(e.args[0]) if isinstance(e, ast.Call) and e.args and isinstance(e.args[0], ast.Constant) else None
            self.asserts(s, f, st, st.test, message, negated=True, kind=s.seg(e.func) if isinstance(e, ast.Call) else "")
        a, b = self.assignments(s, st.body), self.assignments(s, st.orelse)
        if a and b is not None and len({k for k, _ in a}) == len(a) and (not b or [k for k, _ in a] == [k for k, _ in b]) and s.alone(st):
            rows = ["%s = torch.where(%s, %s, %s)" % (k, c if len(a) == 1 else "_chosen", v, b[i][1] if b else k) for i, (k, v) in enumerate(a)]
            if len(a) > 1:
                rows.insert(0, "_chosen = " + c)
            text = ("\n" + pad).join(rows)
            if python and not b:
                text = "if %s:\n%s    " % (" and ".join(s.seg(p) for p in python), pad) + text.replace("\n", "\n    ")
            if not python or not b:
                self.add("where", "torch.where: both sides are computed", {s.path: s.edit([(st, text)])})
            if len(a) == 1 and not python:
                other = b[0][1] if b else a[0][0] + ".clone()"
                self.add("where", "torch.cond: the branch is part of the graph",
                         {s.path: s.edit([(st, "%s = torch.cond(%s, lambda: %s, lambda: %s)" % (a[0][0], c, a[0][1], other))])})
        if a and not st.orelse and len(a) == 1 and a[0][1] == "None":  # "if mask.all(): mask = None": without it the numbers are the same
            self.add("branchless", "without the shortcut: the general case is computed always", {s.path: s.edit([(s.rows(st), "")]) if len(s.block(st)) > 1 else None},
                     price="the shortcut is not taken any more")
        if len(st.body) == 1 and not st.orelse and isinstance(st.body[0], (ast.Continue, ast.Return)) and st is not s.block(st)[-1] and s.alone(st):
            self.add("branchless", "without the shortcut: the general case is computed always", {s.path: s.edit([(s.rows(st), "")])},
                     price="the shortcut is not taken any more; equal as far as it was tried")
        if len(st.body) == 1 and isinstance(st.body[0], ast.Return) and st.body[0].value is not None:
            block = s.block(st)
            i = block.index(st)
            other = st.orelse[0] if len(st.orelse) == 1 else block[i + 1] if not st.orelse and i + 1 < len(block) else None
            if isinstance(other, ast.Return) and other.value is not None and s.alone(st):
                changes = [(st, "return torch.where(%s, %s, %s)" % (c, s.seg(st.body[0].value), s.seg(other.value)))]
                if not st.orelse:
                    changes.append((s.rows(other), ""))
                self.add("where", "torch.where: one return", {s.path: s.edit(changes)})
        if not st.orelse and not any(isinstance(x, (ast.Return, ast.Break, ast.Continue, ast.Raise)) for y in st.body for x in ast.walk(y)) and s.alone(st):
            text = s.whole[s.rows(st.body[0])[0]:s.rows(st.body[-1])[1]]
            cut = len(s.indent(st.body[0])) - len(pad)
            if st.body[0].lineno > st.lineno and cut > 0 and any(stores(x) for x in st.body):
                body = "".join(l[cut:] if l[:cut].strip() == "" else l for l in text.splitlines(True))
                head = "%sif %s:\n" % (pad, " and ".join(s.seg(p) for p in python)) if python else ""
                self.add("always", "the branch is always taken", {s.path: s.edit([(s.rows(st), head + (text if python else body))])},
                         price="computed for every call; equal as far as it was tried")

    def choices(self, s, st):
        """"a if t.max() > 3 else b" in a simple statement."""
        if isinstance(st, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.ClassDef)):
            return
        for x in ast.walk(st):
            if isinstance(x, ast.IfExp):
                python, c = self.condition(s, x.test)
                if not python:
                    self.add("where", "torch.where: both values are computed",
                             {s.path: s.edit([(x, "torch.where(%s, %s, %s)" % (c, s.seg(x.body), s.seg(x.orelse)))])})

    def asserts(self, s, f, st, test, message, negated=False, kind=""):
        python, c = self.condition(s, test)
        if python or not s.alone(st):
            return
        text = "torch._assert_async(%s, %s)" % ("torch.logical_not(%s)" % c if negated else c, message or '"check failed"')
        self.add("assert", "torch._assert_async: the check is part of the graph", {s.path: s.edit([(st, text)])},
                 price="raises RuntimeError instead of %s" % (kind or "AssertionError"))

    # ---- numbers ----

    def numbers(self, s, f, st):
        if isinstance(st, (ast.For, ast.While, ast.With, ast.If, ast.Try)):
            return
        for how in (".detach()", ""):
            t = stripped(s, st, how)
            if t != s.seg(st):
                self.add("tensor", "the number stays a tensor: no .item()", {s.path: s.edit([(st, t)])})
        t = s.seg(st)
        if re.search(r"\.numpy\(\)", t) or re.search(r"\bnp\.", t):
            t = re.sub(r"(\.detach\(\))?(\.cpu\(\))?\.numpy\(\)", ".detach()", t)
            t = re.sub(r"\b(np|numpy)\.", "torch.", t)
            self.add("tensor", "torch instead of NumPy", {s.path: s.edit([(st, t)])})

    def constants(self, s, f, st):
        """A call on numbers and texts of Python only: its result is a constant of the graph, guarded by its arguments."""
        here = self.locals_of(s, f)
        for x in ast.walk(st):
            if not isinstance(x, ast.Call) or isinstance(x.up, ast.Call) and x in x.up.args or CLOCKS.search(s.seg(x)):
                continue
            names = sorted(loads(x) & here)
            self.probe(s.path, st.lineno, s.seg(x)) if not CLOCKS.search(s.seg(x)) and root_name(x.func) not in here | {"print", "open", "input", "exec", "eval"} else None
            for n in names:
                self.probe(s.path, st.lineno, n)
            self.pending.append(lambda x=x, names=names: self.make_constant(s, f, st, x, names))

    def make_constant(self, s, f, st, x, names):
        kinds = [passable(self.type_of(s.path, st.lineno, n)) for n in names]
        if self.type_of(s.path, st.lineno, s.seg(x)) not in ("int", "float", "bool", "str") or any(k in (None, "torch.Tensor") for k in kinds):
            return
        name = "_" + (x.func.attr if isinstance(x.func, ast.Attribute) else getattr(x.func, "id", "value")).strip("_")
        top = s.top(f)
        definition = "%s@torch.compiler.assume_constant_result\ndef %s(%s):\n    return %s\n\n\n" % (s.imports(), name, ", ".join(names), s.seg(x))
        self.add("constant", "a constant of the graph: %s" % s.seg(x)[:40], {s.path: s.edit([((top, top), definition), (x, "%s(%s)" % (name, ", ".join(names)))])})

    def guards(self, s, f, statements):
        """The last resort: the statement only where nothing is compiled."""
        for st in statements[:2]:
            group = self.effects(s, f, st)
            if not group or not all(s.alone(x) and x.up is group[0].up for x in group) or any(stores(x) for x in group):
                continue
            changes = []
            for x in group:
                pad = s.indent(x)
                text = s.whole[s.rows(x)[0]:s.rows(x)[1]]
                changes.append((s.rows(x), pad + "if not torch.compiler.is_compiling():\n" + "".join("    " + l if l.strip() else l for l in text.splitlines(True))))
            self.add("guard", "only in eager mode", {s.path: s.edit(changes)}, price="not done any more in compiled code")


def stripped(s, n, how):
    """The text of a node without .item(), .tolist(), float(), int(), bool() around tensors."""
    t = re.sub(r"\.item\(\)", how, s.seg(n))
    for k in ("float", "int", "bool"):
        t = re.sub(r"\b%s\((?=[a-z_(])" % k, "(", t)
    return t


def used_paths(s, statements):
    """"self.calls", "stats": attributes and objects that statements use, as far as their names say."""
    out = set()
    for st in statements:
        for x in ast.walk(st):
            if isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name):
                out.add(s.seg(x))
            elif isinstance(x, ast.Name) and not isinstance(x.up, ast.Attribute):
                out.add(x.id)
    return out


def changed_paths(s, statements):
    """Those of them that are set: self.calls += 1, stats["n"] = 3."""
    out = set()
    for st in statements:
        for x in ast.walk(st):
            if isinstance(x, (ast.Attribute, ast.Subscript)) and isinstance(x.ctx, ast.Store):
                while isinstance(x, ast.Subscript):
                    x = x.value
                out.add(s.seg(x))
    return out


def name_for(x):
    """A name for the parameter that an expression becomes: h.abs().max() -> h_max."""
    if isinstance(x, ast.Name):
        return x.id
    if isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name):
        return x.attr.strip("_") or "value"
    base = root_name(x) or next((n.id for n in ast.walk(x) if isinstance(n, ast.Name) and n.id not in ("torch", "F", "self")), "value")
    last = x.func.attr if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) else "value"
    base = base if base not in ("torch", "F", "self", "s") else "value"
    return re.sub(r"\W", "_", "%s_%s" % (base, last) if last != base else base)


def verb_for(s, statements):
    """What the statements do, for the operator's name."""
    text = "".join(s.seg(x) for x in statements)
    for pattern, word in ((r"\bprint\(", "print"), (r"\braise\b|\bassert\b", "check"), (r"\blog\w*\.|\.(info|warning|error|debug)\(|\bwarn\(", "log"), (r"\bopen\(|\.write", "write"),
                          (r"\.append\(|\.update\(|\.add\(", "record"), (r"\+=", "count")):
        if re.search(pattern, text):
            return word
    return "do"
