"""Candidates that change a setting, or what is compiled (candidates.py): its boundary moves inward, to what the compiled function calls."""
import re


class Regions:
    # ---- settings and what is compiled ----

    def config(self, lines):
        s = self.source(self.server.main)
        at = s.after_imports()
        return {s.path: s.edit([((at, at), s.imports() + ("" if not s.imports() else "") + "".join(lines))])}

    def settings(self, words, recompile):
        have = self.server.text_of(self.server.main, self.texts)
        def add(*pairs):
            lines = ["torch._dynamo.config.%s = %s\n" % p for p in pairs if p[0] not in have]
            if lines:
                self.add("setting", "; ".join("%s = %s" % p for p in pairs), self.config(lines))
        for name, value in re.findall(r"torch\._dynamo\.config\.(\w+) = (\w+)", words):
            if "limit" not in name:
                add((name, value))
        scalar, shape = ("capture_scalar_outputs", "True"), ("capture_dynamic_output_shape_ops", "True")
        if recompile:
            if any("." in n for n in getattr(self, "names", [])):
                add(("allow_unspec_int_on_nn_module", "True"))
            if re.search(r"float|\d\.\d", words):
                add(("specialize_float", "False"))
            if re.search(r"size|shape", words):
                add(("force_parameter_static_shapes", "False"))
        else:
            if re.search(r"item|tolist|int\(|scalar|capture_scalar|float\(|data-dependent|SymInt|unbacked", words, re.I):
                add(scalar)
            if re.search(r"nonzero|masked|unique|dynamic|index|output_shape|shape", words, re.I):
                add(shape)
                add(scalar, shape)

    def compiled(self, function):
        """The boundary of what is compiled, moved inward; and dynamic=True."""
        function = re.sub(r"^torch_dynamo_resume_in_(\w+)_at_\d+$", r"\1", function)
        files = [self.source(p) for p in self.files()]
        lists = {n.targets[0].attr: s.seg(n.value) for s in files for n in ast.walk(s.tree) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Attribute)
                 and isinstance(n.value, ast.Call) and re.search(r"ModuleList|ModuleDict", s.seg(n.value.func))}
        for s in files:
            for n in ast.walk(s.tree):
                if isinstance(n, ast.Call) and s.seg(n.func) == "torch.compile":
                    words = ", ".join(s.seg(k) for k in n.keywords)
                    decorates = isinstance(n.up, ast.FunctionDef) and n in n.up.decorator_list
                    if "dynamic" not in words:
                        self.add("dynamic", "dynamic=True", {s.path: s.edit([(n, s.seg(n)[:-1].rstrip(", ") + (", " if n.args or n.keywords else "") + "dynamic=True)")])})
                    if not decorates and n.args and isinstance(n.up, ast.Assign) and n.up.value is n and lists and s.alone(n.up):
                        self.blocks(s, n, words, any("Sequential(" in t for t in lists.values()))
                    self.children(s, n, words)
                    if n.args and isinstance(n.args[0], ast.Lambda):
                        self.of_lambda(s, n, words)
                elif isinstance(n, ast.FunctionDef):
                    for d in n.decorator_list:
                        if s.seg(d) == "torch.compile":
                            self.add("dynamic", "dynamic=True", {s.path: s.edit([(d, "torch.compile(dynamic=True)")])})
            self.inward(s, function)

    def blocks(self, s, n, words, sequential):
        # nn.Sequential().compile() compiles nothing (torch 2.13): the frame of a module of torch's own is skipped
        compiled = "_layer.forward = torch.compile(_layer.forward%s)" % (words and ", " + words) if sequential else "_layer.compile(%s)" % words
        target, pad, end = s.seg(n.up.targets[0]), s.indent(n.up), s.offset[n.up.end_lineno]
        loop = ("%sfor _layers in %s.modules():\n%s    if isinstance(_layers, (torch.nn.ModuleList, torch.nn.ModuleDict)):\n"
                "%s        for _layer in _layers.children():\n%s            %s\n") % (pad, target, pad, pad, pad, compiled)
        self.add("region", "each block of the lists of modules is compiled, not the whole", {s.path: s.edit([(n, s.seg(n.args[0])), ((end, end), loop)])}, region=True)

    def children(self, s, n, words):
        """model = torch.compile(model), run = torch.compile(model.generate): what it breaks at is often the outermost code; its parts are compiled instead."""
        whole = n.args[0] if n.args else None
        st = s.statement(n) if whole is not None else None
        if not isinstance(whole, (ast.Name, ast.Attribute)) or not isinstance(st, ast.Assign) or st.value is not n or not s.alone(st):
            return
        if isinstance(whole, ast.Name) and any(isinstance(d, ast.FunctionDef) and d.name == whole.id for d in ast.walk(s.tree)):
            return
        if isinstance(whole, ast.Attribute) and s.seg(st.targets[0]) == s.seg(whole) and root_name(whole) != "self":
            return  # field.f = torch.compile(field.f): a part already
        for owner in ([s.seg(whole.value)] if isinstance(whole, ast.Attribute) else []) + [s.seg(whole)]:
            if owner in ("self", "torch"):
                continue
            pad, end = s.indent(st), s.offset[st.end_lineno]
            # not .compile(): the frame of a module of torch's own is skipped (torch 2.13)
            loop = ("%sfor _child in %s.children():\n%s    for _part in _child if isinstance(_child, torch.nn.ModuleList) else [_child]:\n"
                    "%s        _part.forward = torch.compile(_part.forward%s)\n") % (pad, owner, pad, pad, words and ", " + words)
            title = "the parts of %s are compiled, not %s" % (owner, "the whole" if owner == s.seg(whole) else s.seg(whole) + "()")
            self.add("region", title, {s.path: s.edit([(n, s.seg(whole)), ((end, end), loop)])}, region=True)

    def inward(self, s, function):
        """What a compiled function calls, instead of itself."""
        compiled = self.compiled_names(s)
        for n in ast.walk(s.tree):
            if not isinstance(n, ast.FunctionDef) or n.name not in set(compiled) | {getattr(a, "id", "") for c in compiled.values() if isinstance(c, ast.Call) for a in c.args}:
                continue
            remove, words = [], ""
            for d in n.decorator_list:
                if s.seg(d).startswith("torch.compile"):
                    remove.append(((s.offset[d.lineno - 1], s.offset[d.end_lineno]), ""))
                    words = ", ".join(s.seg(k) for k in getattr(d, "keywords", []))
            for c in compiled.values():
                if isinstance(c, ast.Call) and c.args and getattr(c.args[0], "id", "") == n.name:
                    remove.append((c, n.name))
                    words = ", ".join(s.seg(k) for k in c.keywords)
            if not remove:
                continue
            # The backward pass and the optimizer are most of what such a step has in graphs; outside of it they run as torch's own code.
            steps = any(isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr == "backward" for x in ast.walk(n))
            outside = {"price": "the backward pass and the optimizer are outside of what is compiled", "least": 0.02} if steps else {}
            called = {(x.func.attr if isinstance(x.func, ast.Attribute) else getattr(x.func, "id", "")) for x in ast.walk(n) if isinstance(x, ast.Call)}
            for a in s.tree.body:
                if isinstance(a, ast.Assign) and isinstance(a.targets[0], ast.Name) and a.targets[0].id in loads(n) & called:
                    self.add("region", "%s is compiled, not %s()" % (a.targets[0].id, n.name), {s.path: s.edit([self.compiles(s, a, n, words)] + remove)}, region=True, **outside)
            self.held(s, n, remove, words, outside)
            for g in ast.walk(s.tree):
                if isinstance(g, ast.FunctionDef) and g.name in called and g is not n and not g.name.startswith("__"):
                    at = s.offset[g.lineno - 1] if not g.decorator_list else s.offset[g.decorator_list[0].lineno - 1]
                    mark = s.indent(g) + ("@torch.compile(%s)\n" % words if words else "@torch.compile\n")
                    self.add("region", "%s() is compiled, not %s()" % (g.name, n.name), {s.path: s.edit(remove + [((at, at), mark)])}, region=True)

    def compiles(self, s, a, before, words):
        """An edit that compiles what the assignment a made, at the top of a module. One that others are given (EMA(net)) stays the object that it is, until
        they have it: they copy it, or ask for its names; before: the statement that was compiled instead."""
        name, end = a.targets[0].id, s.offset[a.end_lineno]
        given = any(isinstance(c, ast.Call) and not s.seg(c.func).startswith("torch.compile") and any(isinstance(x, ast.Name) and x.id == name for x in c.args) for c in ast.walk(s.tree))
        if given:
            name += ".forward"
            end = max(end, s.top(before)) if isinstance(before.up, ast.Module) else end
        return (end, end), "%s = torch.compile(%s%s)\n" % (name, name, words and ", " + words)

    def of_lambda(self, s, n, words):
        """torch.compile(lambda y: solve(lambda t, y: field(y), y)): what is called in it and made at the top, compiled there."""
        whole = n.args[0]
        # A library's function around it has most of the operations, and loops that no graph can hold: the way that its authors compile it.
        given = {a.asname or a.name for i in s.tree.body if isinstance(i, (ast.Import, ast.ImportFrom)) for a in i.names}
        outside = isinstance(whole.body, ast.Call) and root_name(whole.body.func) in given
        about = {"price": "%s() itself is not compiled" % s.seg(whole.body.func), "least": 0.05} if outside else {}
        called = {x.func.id for x in ast.walk(whole) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)}
        for a in s.tree.body:
            if isinstance(a, ast.Assign) and isinstance(a.targets[0], ast.Name) and a.targets[0].id in called and isinstance(a.value, ast.Call):
                self.add("region", "%s is compiled, not the lambda around it" % a.targets[0].id,
                         {s.path: s.edit([(n, s.seg(whole)), self.compiles(s, a, s.statement(n), words)])}, region=True, **about)

        if outside:
            self.given_methods(s, n, whole, words, about)

    def given_methods(self, s, n, whole, words, about):
        """solve(field, y) of a library, which calls field.f() and field.g(): the methods of the user's own class, on that object."""
        classes = {c.name: c for p in self.files() for c in ast.walk(self.source(p).tree) if isinstance(c, ast.ClassDef)}
        given = {x.id for x in whole.body.args + [k.value for k in whole.body.keywords] if isinstance(x, ast.Name)}
        for a in s.tree.body:
            if not isinstance(a, ast.Assign) or not isinstance(a.targets[0], ast.Name) or a.targets[0].id not in given or not isinstance(a.value, ast.Call):
                continue
            of = classes.get(getattr(a.value.func, "id", ""))
            names = [m.name for m in of.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("__") and not m.decorator_list] if of is not None else []
            name, end = a.targets[0].id, s.offset[a.end_lineno]
            lines = "".join("%s.%s = torch.compile(%s.%s%s)\n" % (name, m, name, m, words and ", " + words) for m in names)
            if names:
                self.add("region", "%s of %s %s compiled, not the lambda around it" % (", ".join(names)[:40], name, "is" if len(names) == 1 else "are"),
                         {s.path: s.edit([(n, s.seg(whole)), ((end, end), lines)])}, region=True, **about)

    def held(self, s, n, remove, words, outside):
        """Of a compiled method: the modules that it calls, compiled where they are made."""
        owner = n.up if isinstance(n.up, ast.ClassDef) else None
        init = next((x for x in owner.body if isinstance(x, ast.FunctionDef) and x.name == "__init__"), None) if owner is not None else None
        if init is None or not init.args.args or not n.args.args:
            return
        me, here = n.args.args[0].arg, init.args.args[0].arg
        called = {x.func.attr for x in ast.walk(n) if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and getattr(x.func.value, "id", "") == me}
        made = [a for a in init.body if isinstance(a, ast.Assign) and len(a.targets) == 1 and isinstance(a.targets[0], ast.Attribute)
                and a.targets[0].attr in called and getattr(a.targets[0].value, "id", "") == here and isinstance(a.value, ast.Call) and s.alone(a)]
        if not made:
            return
        end, pad = s.offset[init.end_lineno], s.indent(init.body[0])
        # not .compile(): the frame of a module of torch's own is skipped (torch 2.13)
        lines = "".join("%s%s.forward = torch.compile(%s.forward%s)\n" % (pad, s.seg(a.targets[0]), s.seg(a.targets[0]), ", " + words if words else "") for a in made)
        names = ", ".join(a.targets[0].attr for a in made)
        self.add("region", "%s %s compiled, not %s()" % (names[:40], "is" if len(made) == 1 else "are", n.name), {s.path: s.edit(remove + [((end, end), lines)])}, region=True, **outside)
