"""Where a candidate fails: from kernels and lines of generated code back to the nodes of its graph. Sent before oracle.py."""
import ast, contextlib, linecache, os, re, sys, traceback

# ---- where it fails ----

class Where:
    """Finds the candidate's nodes behind kernels and lines of generated code. Inductor's nodes have their own names; they are traced back by
    the line of the candidate that they came from, or otherwise by the order of operators."""
    def __init__(self, tree, say):
        _, forward = forward_of(tree)
        self.say, self.line, self.order, self.by_name, self.graphs = say, {}, {}, {}, set()
        self.file = os.path.abspath("candidate.py")
        self.calls = []
        for i, (s, name) in enumerate(definitions(forward)):
            self.order[name] = i
            for line in range(s.lineno, s.end_lineno + 1):
                self.line.setdefault(line, name)
            if isinstance(s.value, ast.Call):
                self.calls.append((ast.unparse(s.value.func).removeprefix("torch.ops."), name))
        self.uses, self.ops, self.text, self.found = [], [], {}, {}

    def of_graph(self, gm):
        import difflib
        nodes = [(str(n.target), n.name) for n in gm.graph.nodes if n.op == "call_function" and hasattr(n.target, "overloadpacket")]
        mine = [c for c in self.calls if c[0].count(".") >= 2]
        m = difflib.SequenceMatcher(None, [t for t, _ in nodes], [t for t, _ in mine], autojunk=False)
        for a, b, n in m.get_matching_blocks():
            for i in range(n):
                self.by_name[nodes[a + i][1]] = mine[b + i][1]

    def name_of(self, node):
        trace = node.meta.get("stack_trace") or ""
        lines = re.findall(r'File "%s", line (\d+), in forward' % re.escape(self.file), trace)
        if lines and int(lines[-1]) in self.line:
            return self.line[int(lines[-1])]
        return self.by_name.get(node.name)

    def names_of(self, nodes):
        return sorted({n for n in map(self.name_of, nodes) if n}, key=lambda n: self.order.get(n, 1 << 30))

    @staticmethod
    def origins(s):
        """fx nodes behind a scheduler node, an IR node, or several of them."""
        out = []
        for one in s.get_nodes() if hasattr(s, "get_nodes") else s if isinstance(s, (list, tuple)) else [s]:
            ir = getattr(one, "node", None)
            for holder in (ir, one):
                found = getattr(holder, "origins", None)
                if found:
                    out += list(found)
                    break
        return out

    def at(self, how, names, **more):
        if names:
            self.found = {"suspects": names, "how": how, **more}
            self.say(at=self.found)

    def install(self):
        """Wraps lowering of nodes and definition of kernels: torch 2.13 keeps no names in C++ kernels."""
        from torch._inductor import graph, scheduler
        from torch._inductor.codegen import common, cpp
        where = self

        def wrap(owner, name, before=None, after=None):
            real = getattr(owner, name)
            def wrapped(self, *args, **kw):
                if before:
                    before(self, *args, **kw)
                out = real(self, *args, **kw)
                if after:
                    after(out, self, *args, **kw)
                return out
            setattr(owner, name, wrapped)

        def lowering(self, n, *_):
            where.graphs.add(id(n.graph))
            if n.op not in ("placeholder", "output"):
                where.at("last node lowered", where.names_of([n]))

        def kernel(name, self, src, nodes, *_, **kw):
            names = where.names_of(where.origins(nodes))
            where.uses.append((name, src, names, where.ops))
            where.ops = []
            where.at("last kernel generated", names, kernel=name)

        def written(out, cse, buffer=None, expr=None, **_):
            where.text[str(out)] = expr if isinstance(expr, str) else ""

        def generated(out, proxy, op, *_):
            from torch._inductor.virtualized import V
            node = getattr(V.kernel, "current_node", None)
            for v in out if isinstance(out, (list, tuple)) else [out]:
                where.ops.append((str(v), op, where.origins(node) if node is not None else [], where.text.get(str(v), "")))

        def extern(self, node):
            where.uses.append((node.node.get_name(), None, where.names_of(where.origins(node)), []))

        wrap(graph.GraphLowering, "run_node", before=lowering)
        wrap(scheduler.Scheduler, "codegen_extern_call", before=extern)
        wrap(common.CSE, "generate", after=written)
        wrap(common.CSEProxy, "_default", after=generated)
        owners = [cpp.CppScheduling]
        with contextlib.suppress(ImportError):
            from torch._inductor.codegen import triton
            owners.append(triton.TritonScheduling)
        for owner in owners:
            wrap(owner, "define_kernel", after=kernel)

    @staticmethod
    def made_of(op, origins):
        """The nodes whose operator is, or has in it, the one of generated code: "rsqrt" of aten.rsqrt.default."""
        return [n for n in origins if op in re.split(r"\W|_", str(n.target)) or op in str(n.target).split(".")]

    def of_operator(self, kernel, source):
        """The nodes of a line that defines tmpN: those whose operator made it, then the rest of its buffer, then of its kernel. Each
        loop of a kernel has a tmpN; what was written for it tells which is meant."""
        first, second = [], []
        tmp = re.search(r"\b(tmp\d+)\s*=", source)
        made = [o for o in kernel[3] if tmp and o[0] == tmp.group(1)]
        for var, op, origins, text in [o for o in made if o[3] and o[3] in source] or made:
            second += origins
            first += self.made_of(op, origins)
        names = list(dict.fromkeys(self.names_of(first) + self.names_of(second) + kernel[2]))
        return {"suspects": names, "likely": len(self.names_of(first))}

    def of_compiler(self, e):
        """file.cpp:12:3: error: ... -> line 12 -> the kernel that has it."""
        where = re.search(r"([^\s:]+):(\d+):\d+: (?:fatal )?error:", str(e.output))
        if not where:
            return None
        try:
            with open(where.group(1)) as f:
                source = f.read().splitlines()[int(where.group(2)) - 1].strip()
        except (OSError, IndexError):
            return None
        for kernel in self.uses:
            if kernel[1] and source and source in kernel[1]:
                return {**self.of_operator(kernel, source), "kernel": kernel[0], "how": "compiler message", "line": source[:200]}
        return None

    def of_traceback(self, e):
        """The innermost frame that works on a node of the graph, or on a part of the schedule."""
        import torch
        from torch._inductor import ir, scheduler
        tb, frames = e.__traceback__, []
        while tb:
            frames.append(tb.tb_frame)
            tb = tb.tb_next
        op = None
        for frame in reversed(frames):
            if frame.f_code.co_name == "_default" and isinstance(frame.f_locals.get("name"), str):
                op = op or frame.f_locals["name"]  # ops.NAME in a kernel
            for v in list(frame.f_locals.values()) + [getattr(frame.f_locals.get("self"), "current_node", None)]:
                nodes = []
                if isinstance(v, torch.fx.Node) and id(v.graph) in self.graphs:
                    nodes = [v]
                elif isinstance(v, (scheduler.BaseSchedulerNode, ir.IRNode)) or \
                        isinstance(v, (list, tuple)) and v and all(isinstance(n, scheduler.BaseSchedulerNode) for n in v):
                    nodes = self.origins(v)
                names, likely = self.names_of(nodes), self.names_of(self.made_of(op, nodes)) if op else []
                if names:
                    found = {"suspects": list(dict.fromkeys(likely + names)), "how": "exception in " + frame.f_code.co_name}
                    return {**found, "likely": len(likely)} if likely else found
        return None

    def trace_lines(self, compiled_call):
        """Reports every line of generated code before it runs."""
        folder = os.environ["TORCHINDUCTOR_CACHE_DIR"]
        calls = [0]

        def line(frame, event, arg):
            if event == "line":
                text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
                called = re.match(r"(?:\w+\.)*?(\w+?)(?:\.run)?\(", text)
                kernels = [u for u in self.uses if u[1] is not None]
                if called and any(u[0] == called.group(1) for u in kernels):
                    k, calls[0] = calls[0], calls[0] + 1
                    names = kernels[k][2] if k < len(kernels) and kernels[k][0] == called.group(1) else \
                        list(dict.fromkeys(n for u in kernels if u[0] == called.group(1) for n in u[2]))
                    self.at("last kernel called", names, kernel=called.group(1))
                else:
                    bufs = re.findall(r"^\s*(buf\d+)\s*=|out=(buf\d+)", text)
                    names = [n for a, b in bufs for u in self.uses if u[1] is None and u[0] == (a or b) for n in u[2]]
                    self.at("last operator called", list(dict.fromkeys(names)), kernel=text[:80])
            return line

        def call(frame, event, arg):
            return line if frame.f_code.co_filename.startswith(folder) else None
        sys.settrace(call)
        try:
            return compiled_call()
        finally:
            sys.settrace(None)

    def of_exception(self, e, phase):
        e = innermost(e)
        found = None
        with contextlib.suppress(Exception):
            if hasattr(e, "output"):
                found = self.of_compiler(e)
            elif phase == "compile":
                found = self.of_traceback(e)
        return found or self.found


def all_values(tree, metas):
    """The candidate with every tensor it computes as an output."""
    _, forward = forward_of(tree)
    names = [n for _, n in definitions(forward) if metas.get(n, {}).get("kind") == "tensor"]
    def dropped(s):
        return isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) and s.value.value is None
    forward.body = [s for s in forward.body if not dropped(s) and not isinstance(s, ast.Return)]
    forward.body.append(ast.Return(ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load())))
    ast.fix_missing_locations(tree)
    return names


def first_wrong(forward, wrong):
    """Those that differ although their operands do not."""
    roots, tainted = [], set()
    for s, name in definitions(forward):
        if {n.id for n in ast.walk(s.value) if isinstance(n, ast.Name)} & tainted:
            tainted.add(name)
        elif name in wrong:
            roots.append(name)
            tainted.add(name)
    return roots


# ---- which differences count ----

def returned_names(forward):
    """What it returns: names, None for anything else."""
    value = next((s.value for s in reversed(forward.body) if isinstance(s, ast.Return)), None)
    return [v.id if isinstance(v, ast.Name) else None for v in (value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value])]


def run_original(state, other):
    """The original in eager; nodes named in `other` have that value instead of their own."""
    import torch
    setup = state["setup"]
    tree = ast.parse(setup["code"])
    _, forward = forward_of(tree)
    for s, name in list(definitions(forward)):
        if name in other:
            take = ast.parse(f"{name} = fxminify_other_[{name!r}]").body[0]
            forward.body.insert(forward.body.index(s) + 1, ast.copy_location(take, s))
    ast.fix_missing_locations(tree)
    mod = module_of(tree, setup["code"], state, head_names(state))
    mod.forward.__func__.__globals__["fxminify_other_"] = {name: copy_of(v) for name, v in other.items()}
    args = feed_values(state, [{"kind": "recorded", "name": a.arg} for a in forward.args.args[1:]])
    seed(state)
    with torch.no_grad(), autocast(setup, args):
        out = mod(*args)
    synchronise(args)
    return out


def reaches(state, other):
    """Does an output of the original differ when these of its values do? If unknown, it counts."""
    try:
        return bool(differences(run_original(state, {}), run_original(state, other), None, False))
    except Exception:
        traceback.print_exc()
        return True


def that_count(state, tree, found, ref, res):
    """The differences that make an output of the original differ. A candidate also returns intermediate values of the original: a
    difference there may vanish in what follows (a comparison, a selection), and is then not a failure of the whole."""
    from torch.utils._pytree import tree_leaves
    ref, res, names = tree_leaves(ref), tree_leaves(res), returned_names(forward_of(tree)[1])
    if len(names) != len(ref):  # gradients, too
        return found
    outputs = returned_names(forward_of(ast.parse(state["setup"]["code"]))[1])
    if outer := [(i, d) for i, d in found if names[i] in outputs]:
        return outer
    for i, _ in found:  # the value must be the one it is made of there: nothing bypassed, no other inputs
        recorded = state["values"].get(names[i])
        if recorded is None or difference(recorded.to(ref[i].device), ref[i], None, True):
            return found
    return found if reaches(state, {names[i]: res[i] for i, _ in found}) else []


ROOTS_MAX = 16

def leaves_through(text, outputs):
    """The nodes whose outputs (indices of the returned values) carry a difference."""
    returned = returned_names(forward_of(ast.parse(text))[1])
    return list(dict.fromkeys(returned[i] for i in outputs if i < len(returned) and returned[i]))[:8]


def one_of_each(tree, state):
    """The candidate with one call of each kind (operator, constants, dtypes, sizes and strides of its tensors), each of recorded values,
    all results as outputs. Most wrong values come from one operator, and a net's layers repeat: a small part of the graph is enough to
    see it. Returns the names of inputs and outputs; () if that would not be much less than the whole."""
    _, forward = forward_of(tree)
    metas, values, calls, kinds, inputs, outputs, body, parts = state["metas"], state["values"], 0, {}, {}, [], [], set()

    def kind_of(call):
        class Values(ast.NodeTransformer):
            def visit_Name(self, node):
                m = metas.get(node.id)
                return ast.Constant(repr([m.get(k) for k in ("kind", "dtype", "size", "stride", "value")])) if m else node
        return ast.unparse(Values().visit(ast.parse(ast.unparse(call), mode="eval")))

    for s, name in definitions(forward):
        if not isinstance(s.value, ast.Call):
            continue
        calls += 1
        words = ast.unparse(s.value.func)
        used = [n.id for n in ast.walk(s.value) if isinstance(n, ast.Name) and (n.id in metas or n.id in parts)]
        if re.search(r"rand|rng|dropout|bernoulli|empty|higher_order|_\.|_$", words):  # by chance; has a graph; writes an operand
            continue
        if not used or any(n not in parts and (n not in values or isinstance(values[n], (list, tuple))) for n in used) or \
                not parts.intersection(used) and kinds.setdefault(kind_of(s.value), name) != name:
            continue
        inputs.update(dict.fromkeys(n for n in used if n not in parts))
        if metas.get(name, {}).get("kind") == "tensor":
            outputs.append(name)
            body.append(ast.Assign([ast.Name(name + "_alone", ast.Store())], s.value))  # others get the recorded value
        else:
            parts.add(name)  # several results: operator.getitem takes one
            body.append(s)
    if not outputs or 3 * len(body) > calls:
        return ()
    forward.body = [*body, ast.Return(ast.Tuple([ast.Name(n + "_alone", ast.Load()) for n in outputs], ast.Load()))]
    forward.args.args[1:] = [ast.arg(n) for n in inputs]
    ast.fix_missing_locations(tree)
    return list(inputs), outputs


def differing(state, way, tree, names, args, head_names, strict):
    """{name: value} of the outputs, so named, that differ from eager's once this is compiled."""
    text = ast.unparse(tree)
    way = type(way)({**state, "setup": {**state["setup"], "only_fwd": True}}, lambda **k: None)
    mod = module_of(tree, text, state, head_names)
    ref = way.eager(mod, args)
    res = way.run(way.compile(mod, args), args)
    if not differences(tuple(ref), tuple(res), None, True):  # double precision may say that it is as good
        return {}
    wide = in_float64(state, way, tree, text, args, head_names)
    return {names[i]: res[i] for i, _ in differences(tuple(ref), tuple(res), wide and tuple(wide), strict)}


def where_accuracy(state, way, text, args, head_names, strict):
    """The nodes that differ, in order, starting with those that make an output differ. First from a few calls alone: one that is wrong and
    makes an output of the original differ is the answer. Otherwise one more run of the whole with all values, which takes longer than the
    original. Returning the values changes fusion, so it may find nothing."""
    tree = ast.parse(text)
    small = one_of_each(tree, state)
    if small:
        with contextlib.suppress(Exception):
            inputs, names = small
            feeds = feed_values(state, [{"kind": "recorded", "name": n} for n in inputs])
            wrong = differing(state, way, tree, names, feeds, head_names, strict)
            roots = [n for n in list(wrong)[:ROOTS_MAX] if strict or reaches(state, {n: wrong[n]})]
            if roots:
                return {"suspects": roots, "likely": len(roots), "how": "one call of each kind compared"}
    tree = ast.parse(text)
    returned = returned_names(forward_of(tree)[1])
    names = all_values(tree, state["metas"])
    wrong = differing(state, way, tree, names, args, head_names, strict)
    if not wrong:
        return {}
    roots = first_wrong(forward_of(tree)[1], set(wrong))
    ends = [] if strict else [n for n in roots[:ROOTS_MAX] if n not in returned and not reaches(state, {n: wrong[n]})]
    roots = [n for n in roots if n not in ends] or roots
    suspects = list(dict.fromkeys(roots + [n for n in wrong if n not in ends]))[:64]
    return {"suspects": suspects, "likely": min(len(roots), 64), "how": "all values compared"}
