"""Graphs of backend="aot_eager_decomp_partition" (and "aot_eager"): the same graphs that Inductor compiles, run node by node. Their
code is watched like Inductor's, so that aoti-printer --diff shows at which node the compiled program diverges from this one. Loaded after
rewrite.py, into the same names.

    torch/_dynamo/backends/debugging.py boxed_nop(gm, inputs): what runs such a graph. gm.forward is made of a text that
    torch/fx/graph_module.py _exec_with_source(src, globals, co_fields) runs (2.6 to 2.15):

        def forward(self, args_list):
            args_iter = iter(args_list)
            primals_1 = next(args_iter)
            args_list.clear()
            exp = torch.ops.aten.exp.default(sub);  sub = None
            return (exp,)

Its name ("0_forward") is that of the same graph under Inductor: TracingContext.aot_graph_name. A call's source nodes are its own node and
those of the program that it comes of, its Python line is the node's."""


class NodesTable(Table):  # noqa: F821
    def __init__(self, text, path, graph, nodes):
        self.graph_name, self.of = graph, nodes
        super().__init__(text, path)
        self.graph = graph
        devices = (getattr(getattr(n.meta.get("val"), "device", None), "type", None) for n in nodes.values())
        self.device = "cuda" if "cuda" in devices else None

    def _functions(self):
        for s in self.tree.body:
            if isinstance(s, ast.FunctionDef) and s.name == "forward":  # noqa: F821
                self._block(s.body, True)
        self._results()

    def _assign(self, target, value, main):
        name = target.id if isinstance(target, ast.Name) else None  # noqa: F821
        if isinstance(value, ast.Call) and dotted(value.func) == "next":  # noqa: F821
            self._take_inputs([name], main)
        elif name != "args_iter" and not isinstance(value, ast.Constant):  # noqa: F821
            super()._assign(target, value, main)
            if self.sites and getattr(self.sites[-1], "gives", None) == name:
                self.sites[-1].node = name

    def _uses(self, node):
        if not isinstance(node, (ast.Assign, ast.Expr)):  # noqa: F821
            super()._uses(node)  # `a = b = None` reads nothing

    def _comments(self):
        for site in self.sites:
            node = self.of.get(getattr(site, "node", None))
            site.nodes = getattr(site, "node", None) or ""
            if node is None:
                continue
            stack = node.meta.get("source_fn_stack")
            if stack and str(stack[-1][0]) != site.nodes:
                site.nodes += ", %s" % (stack[-1][0],)
            site.aten = str(node.meta.get("original_aten") or node.target)

    def compile(self, first, graph):
        return compile(self._through(first), self.path, "exec", dont_inherit=True)

    def kernels(self, linemap, caller=""):
        stacks = {}
        for i, s in enumerate(self.sites):
            node = self.of.get(getattr(s, "node", None))
            text = node.meta.get("stack_trace") if node is not None else None
            stacks["%s:%d" % (s.name, i + 1)] = {"stack_traces": [text] if isinstance(text, str) else [], "post_grad_nodes": [],
                                                 "pre_grad_nodes": []}
        return stacks


class _Nodes:
    graphs = None  # WeakKeyDictionary: a graph module -> [its name, the number of the graph]


def _graph_name():
    import torch

    context = torch._guards.TracingContext.try_get()
    name = getattr(context, "aot_graph_name", None)
    return name[0] if isinstance(name, list) and name else name if isinstance(name, str) else None


def _module_being_made():
    """The graph module whose text is being run: recompile() is a frame above."""
    import sys

    frame = sys._getframe(2)
    for _ in range(8):
        if frame is None:
            return None
        if frame.f_code.co_name == "recompile":
            return frame.f_locals.get("self")
        frame = frame.f_back
    return None


def _watch_nodes(src, key):
    """The code of this text with its calls watched; None: it is another's."""
    import builtins

    module = _module_being_made() if "def forward(self, args_list" in src else None
    entry = _Nodes.graphs.get(module) if module is not None else None
    if entry is None or entry[1] is not None or _start():  # noqa: F821
        return None
    table = NodesTable(src, key, entry[0], {n.name: n for n in module.graph.nodes})
    first, number = _State.first, len(_State.tables)  # noqa: F821
    code = table.compile(first, number)
    if not hasattr(builtins, "_pt2_call"):
        builtins._pt2_call = _library().pt2_jit_call()  # noqa: F821
        builtins._pt2_graph = _graph  # noqa: F821
    _take_names(table)  # noqa: F821
    _State.first += len(table.sites)  # noqa: F821
    _State.tables[number] = None  # noqa: F821
    entry[1] = number
    _arm_table(table, first, number)  # noqa: F821
    return code


def after_graph_module(module):
    import weakref

    if not (_library() and _State.wants & CALLS):  # noqa: F821
        return
    _Nodes.graphs = weakref.WeakKeyDictionary()
    original = module._exec_with_source

    def _exec_with_source(src, globals, *args, **kwargs):
        code = None
        if _Nodes.graphs:
            try:
                key = module._loader.cache(src, globals, *args, **kwargs)
                code = _watch_nodes(src, key)
            except Exception as e:
                _failed("a graph run node by node", e)  # noqa: F821
        if code is None:
            return original(src, globals, *args, **kwargs)
        exec(code, globals)

    module._exec_with_source = _exec_with_source


def after_backends(module):
    if not (_library() and _State.wants & CALLS) or _Nodes.graphs is None:  # noqa: F821
        return
    original, autograd = module.boxed_nop, module.aot_autograd

    def boxed_nop(gm, inputs):
        name = None
        try:
            name = _graph_name()
            if name:
                _Nodes.graphs[gm] = [name, None]
        except Exception as e:
            _failed("a graph run node by node", e)  # noqa: F821
        run = original(gm, inputs)
        if not name:
            return run
        try:
            from torch.fx._lazy_graph_module import _LazyGraphModule

            _LazyGraphModule.force_recompile(gm)  # else its text is made in its first run
            number = _Nodes.graphs[gm][1]
            if number is None:
                return run
            made = _library().pt2_jit_graph(number, run)  # noqa: F821

            def watched(args):
                return made(args)

            watched.__dict__.update(run.__dict__)
            return watched
        except Exception as e:
            _failed("a graph run node by node", e)  # noqa: F821
            return run

    def aot_autograd(*args, **kwargs):
        compiler = autograd(*args, **kwargs)

        def compile_graph(gm, *more, **names):
            _keep_names(gm)  # noqa: F821
            return compiler(gm, *more, **names)

        return compile_graph

    module.boxed_nop, module.aot_autograd = boxed_nop, aot_autograd
