"""The generated Python of a graph of torch.compile: its calls of kernels and operators, and the same text with each going through
_pt2_call (libprobe/jit.h).

    table = Table(text, path)                 # reads it: table.sites, table.contract(), table.kernels()
    code = table.compile(first)               # the module, its calls numbered from `first` on

It reads what torch/_inductor/codegen/wrapper.py of torch 2.11 to 2.15 writes; have such a file open when you read this. Only known
calls are rewritten, inside the functions that run; line numbers do not change. What is not understood stays unchanged: a note in the
contract says so. Used by sitecustomize.py in the program's process, and on its own, without torch:

    python3 rewrite.py TEXT                   # prints the contract and the rewritten code, for the tests
"""
import ast
import re

# Their results are garbage by design, or not a tensor's contents.
UNLOOKED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_alloc_from_pool", "empty_permuted", "resize_"}
NOT_RUN = ("benchmark", "get_args", "__init__", "recursively_apply_fns")
MAKERS = ("empty_strided",)
NUMBERS = ("item", "size", "stride", "numel", "int", "float", "bool")  # their results are not tensors
VIEWS = ("view", "reshape", "unsqueeze", "squeeze", "permute", "t", "detach")
SEEN_AS = ("reinterpret_tensor", "as_strided", "copy_if_misaligned", "aten.view.dtype", "TensorDescriptor.from_tensor")
METHODS = ("copy_", "fill_", "zero_", "set_", "sum", "clone")
# Names of the generated text for a part of torch.ops.
ROOTS = {"aten": "aten", "inductor_ops": "inductor", "_quantized": "_quantized"}

PARAMETER = re.compile(r"(const\s+)?[\w:<>]+\s*(\*?)(?:\s*__restrict__)?\s*(?:const\s+)?(\*?)\s*(\w+)\s*$")
CPP = re.compile(r'extern "C"[^(]*?\b(?:void|int)\s+(\w+)\s*\(([^)]*)\)', re.S)
ON_GPU = re.compile(r"\bempty_strided_cuda\(|torch\.cuda\._DeviceGuard\(")  # torch/_inductor/codegen/wrapper.py, cuda/device_op_overrides.py
COMMENT = re.compile(r"#\s*Topologically Sorted Source Nodes: \[(.*?)\], Original ATen: \[(.*?)\]")


def dotted(node):
    """"extern_kernels.mm" of its AST; None."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id] + parts[::-1])


def roles_of_cpp(source):
    """Of each parameter of a generated C++ kernel: "in", "out", "inout", "scalar". None when it cannot be read."""
    found = CPP.search(source)
    if not found:
        return None
    roles = []
    for text in found.group(2).split(","):
        m = PARAMETER.match(text.strip())
        if not m:
            return None
        const, star, star2, name = m.groups()
        if not (star or star2):
            roles.append("scalar")
        elif const:
            roles.append("in")
        else:
            roles.append("out" if name.startswith("out_ptr") else "inout")
    return roles


class Pointers:
    """Which pointer parameters of a Triton function it reads through, and which it writes through: by following them from the parameters,
    through arithmetic, block pointers and descriptors, to loads and stores, in functions of the same source, too."""

    # tl.load(p), desc.load(...), tl.store_tensor_descriptor(desc, ...); all else in these modules touches no memory.
    READS = re.compile(r"(\w+_)?(load|gather)(_\w+)?$")
    WRITES = re.compile(r"(\w+_)?(store|scatter)(_\w+)?$")
    HARMLESS = ("range", "tl.", "triton.language.", "tl_math.", "libdevice.", "math.")

    def __init__(self, functions):
        self.functions, self.known = functions, {}

    def of(self, name):
        """(read, written) of a function's parameters."""
        if name not in self.known:
            self.known[name] = (set(), set())  # of a function that calls itself
            fn = self.functions[name]
            read, written = set(), set()
            to = {p: {p} for p in parameters(fn)}
            nodes, known = list(ast.walk(fn)), None
            assigned = [n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and n.value is not None]
            while known != to:  # a pointer may be stepped in a loop
                known = dict(to)
                for node in assigned:
                    self._bind(node, to)
            for node in nodes:
                if isinstance(node, ast.Call):
                    self._call(node, to, read, written)
            self.known[name] = (read, written)
        return self.known[name]

    def _bind(self, node, to):
        value = node.value
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                pairs = zip(target.elts, value.elts)
            for t, v in pairs:
                found = self._to(v, to)
                for n in ast.walk(t) if found else ():
                    if isinstance(n, ast.Name):
                        to[n.id] = to.get(n.id, set()) | found

    def _to(self, node, to):
        """The parameters that an expression may point into: what was loaded points nowhere."""
        if isinstance(node, ast.Name):
            return to.get(node.id, set())
        if isinstance(node, ast.Call):
            last = (dotted(node.func) or getattr(node.func, "attr", "")).rsplit(".", 1)[-1]
            if self.READS.match(last) or last.startswith("atomic_"):
                return set()
        if isinstance(node, ast.Attribute) and node.attr in ("dtype", "type", "shape"):
            return set()
        return set().union(*(self._to(n, to) for n in ast.iter_child_nodes(node)))

    def _call(self, node, to, read, written):
        callee = dotted(node.func) or ""
        last = callee.rsplit(".", 1)[-1] or getattr(node.func, "attr", "")
        reads, writes = (bool(m.match(last)) or last.startswith("atomic_") for m in (self.READS, self.WRITES))
        harmless = callee.startswith(self.HARMLESS) and not last.startswith("inline_asm")
        if harmless and not (reads or writes or callee in self.functions):
            return
        keywords = {k.arg: self._to(k.value, to) for k in node.keywords}
        args = [self._to(a, to) for a in node.args]
        base = self._to(node.func.value, to) if isinstance(node.func, ast.Attribute) else set()
        first = base or (args[0] if args else set().union(*(keywords.get(k) or set() for k in ("pointer", "desc"))))
        if callee in self.functions:
            inner_read, inner_written = self.of(callee)
            names = parameters(self.functions[callee])
            for name, found in list(zip(names, args)) + list(keywords.items()):
                read |= found if name in inner_read else set()
                written |= found if name in inner_written else set()
        elif reads or writes:
            read |= first if reads else set()
            written |= first if writes else set()
        elif not base:
            for found in args + list(keywords.values()):
                read |= found
                written |= found


def parameters(fn, fixed=False):
    """Their names; fixed: only of those that are declared as tl.constexpr, which a call does not pass."""
    every = fn.args.posonlyargs + fn.args.args + fn.args.kwonlyargs
    return [a.arg for a in every if not fixed or (a.annotation and "constexpr" in ast.dump(a.annotation))]


def entry(node, key):
    """The value of a key in a dict of the text that is not made of constants alone."""
    for k, v in zip(node.keys, node.values) if isinstance(node, ast.Dict) else ():
        if isinstance(k, ast.Constant) and k.value == key:
            return v
    return None


def constant(node, otherwise):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return otherwise


def roles_of_triton(source, name):
    """The same of a Triton kernel: by its loads and stores, and by what torch says that it mutates. None when it cannot be read."""
    pairs = arguments_of_triton(source, name)
    return pairs and [role for _, role in pairs]


def arguments_of_triton(source, name):
    """(parameter, role) of each argument that a call passes.

    The kernel is the function with a decorator of triton_heuristics: helpers precede it (the function of a scan), and with
    triton.unique_kernel_names=False it has another name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
    kernel, made = functions.get(name), None
    for f in functions.values():
        for d in f.decorator_list:
            if isinstance(d, ast.Call) and (dotted(d.func) or "").startswith("triton_heuristics."):
                kernel, made = f, d
    if kernel is None:
        return None
    meta = {k.arg: k.value for k in made.keywords} if made else {}
    signature = constant(entry(meta.get("triton_meta"), "signature"), {})
    mutated = set(constant(entry(meta.get("inductor_meta"), "mutated_arg_names"), ()))
    for key in ("restore_value", "reset_to_zero"):
        mutated |= set(constant(entry(meta.get("triton_meta"), key), ()))
    # An input of a kernel that also writes to it has a second parameter for that.
    mutated = {p for p in mutated if isinstance(p, str) and not p.startswith("in_ptr")}
    read, written = Pointers(functions).of(kernel.name)
    if not (dotted(made.func) if made else "").endswith(("user_autotune", "template")):
        written = {p for p in written if not p.startswith("in_ptr")}  # also where it goes to a helper that is not in the text
    roles, fixed = [], parameters(kernel, fixed=True)
    for i, p in enumerate(parameters(kernel)):
        if p in fixed:
            continue
        type_ = signature.get(p, signature.get(i))
        if type_ is None and not signature:
            type_ = "*" if "ptr" in p else ""
        if not str(type_).startswith(("*", "tensordesc", "nvTmaDesc")):
            roles.append((p, "scalar"))
        elif p in mutated or (p in written and p in read):
            roles.append((p, "inout"))
        else:
            roles.append((p, "out" if p in written or p == "ws_ptr" else "in"))  # scratch memory is not an input, even if unused
    return roles


def roles_of_several(kernels):
    """Of a kernel that is one of these, with the same arguments: by place."""
    roles = []
    for i in range(max(map(len, kernels), default=0)):
        found = {r[i] for r in kernels if i < len(r)} - {"scalar"}
        roles.append(found.pop() if len(found) == 1 else "inout" if found else "scalar")
    return roles


class Site:
    """A call. args: (role, root name or None, text), results behind `given`."""

    def __init__(self, name, kind, line):
        self.name, self.kind, self.line = name, kind, line
        self.nodes = self.aten = ""
        self.args, self.given, self.self_first = [], 0, False
        self.operator = None  # "aten.sort.stable": its schema is asked for when torch is there


class Table:
    def __init__(self, text, path=""):
        self.path = path
        self.tree = ast.parse(text, path or "<text>")
        self.line = text.split("\n")
        aot = re.match(r"# AOT ID: \['([^']*)'\]", text)
        self.graph = aot.group(1) if aot else re.sub(r"\.py$", "", path.rsplit("/", 1)[-1])
        self.device = "cuda" if ON_GPU.search(text) else None
        self.roles, self.known, self.inner = {}, set(), set()
        self.inputs, self.outputs, self.notes = [], [], []
        self.values, self.storages = {}, []  # name -> [kind, index, storage]; [bytes, born, dies, names of it]
        self.sites, self.call = [], {}
        self.local, self.partitions, self.times, self.ran = {}, [], {}, []  # functions: by name, names, calls of each, those that were read
        self.held, self.returned = {}, {}  # "partition0_args", "partition_0" -> the names in it
        self.looping = 0
        self.untouched = set()  # storages that were allocated and passed to nothing yet
        self.elements = {}  # "buf5" -> {0: "buf6"}: parts of what a call gave
        self.was = {}  # "buf5" -> "buf3", whose memory it took over: buf5 = buf3; del buf3  # reuse
        self.passed = set()  # names that some call was given: others hold what was in their memory before
        self._kernels()
        self._functions()
        self._comments()

    # ---- the module ----

    def _kernels(self):
        for s in self.tree.body:
            if not (isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)):
                continue
            name, made = s.targets[0].id, s.value
            maker = dotted(made.func) if isinstance(made, ast.Call) else None
            if not maker or not maker.startswith("async_compile."):
                continue
            texts = [a.value for a in made.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            source = max(texts, key=len) if texts else ""
            if maker.endswith("multi_kernel"):  # whichever of these is fastest
                names = {n.id for n in ast.walk(made) if isinstance(n, ast.Name)} & self.known
                self.inner |= names
                each = [self.roles[n] for n in names]
                roles = roles_of_several(each) if all(each) else None
            else:
                roles = roles_of_triton(source, name) if "triton" in maker else roles_of_cpp(source)
            self.known.add(name)
            self.roles[name] = roles

    def _functions(self):
        """In the order in which they run: partitions and subgraphs where they are called first, from `call`."""
        found = [n for n in ast.walk(self.tree) if isinstance(n, ast.FunctionDef) and not n.name.startswith(NOT_RUN)]
        self.local = {f.name: f for f in found if f.name != "call"}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and dotted(node.func) == "Runner":
                self.partitions = [n.id for k in node.keywords for n in ast.walk(k.value) if isinstance(n, ast.Name)]
        for node in ast.walk(self.tree):
            name = self._local(node)
            self.times[name] = self.times.get(name, 0) + 1
        for f in [f for f in found if f.name == "call"] + found:
            self._run(f)
        self._results()

    def _run(self, fn):
        if fn not in self.ran:
            self.ran.append(fn)
            self._block(fn.body, fn.name == "call", fn.name)

    def _local(self, call):
        """The name of a function of this text that an expression calls: a subgraph, or self.partitions[0]."""
        f = call.func if isinstance(call, ast.Call) else None
        if isinstance(f, ast.Name) and f.id in self.local:
            return f.id
        if isinstance(f, ast.Subscript) and dotted(f.value) == "self.partitions" and isinstance(f.slice, ast.Constant):
            return dict(enumerate(self.partitions)).get(f.slice.value)
        return None

    def _subgraph(self, target, name, call):
        """buf5 = subgraph_0(args), or (buf4,) = self.partitions[0](args): its names for what it gets, and ours for what it returns."""
        fn = self.local[name]
        held = self.held.pop(getattr(call.args[0], "id", None) if call.args else None, [])
        inner = [t.id for s in fn.body[:1] if isinstance(s, ast.Assign) for n in s.targets for t in ast.walk(n) if isinstance(t, ast.Name)]
        if self.times[name] == 1 and not self.looping and len(held) == len(inner) and all(h in self.values for h in held):
            for i, h in zip(inner, held):
                if i != h:
                    self._alias(i, h)
        elif held:
            self._note(call, "calls %s, whose arguments are not followed" % name)  # it has others each time
        self._run(fn)
        given = self.returned.get(name, [])
        if isinstance(target, ast.Name):
            for was, now in zip(self.elements.get(target.id, {}).values(), given):  # of the other branch
                self._unite(was, now)
            self.elements.setdefault(target.id, dict(enumerate(given)))
            return
        for t, g in zip(target.elts if isinstance(target, ast.Tuple) else [], given):
            if isinstance(t, ast.Name) and g in self.values:
                self._alias(t.id, g)

    def _unite(self, a, b):
        """Two names for what is one buffer outside: the results of the branches of a condition."""
        a, b = (self.values.get(n, (None, None, None))[2] for n in (a, b))
        if a is None or b is None or a == b:
            return
        for v in self.values.values():
            v[2] = a if v[2] == b else v[2]
        self.storages[a][3] |= self.storages[b][3]
        self.storages[b] = [None, self.storages[b][1], self.storages[b][1], set()]

    def _results(self):
        """Parts of results have names of their own: the outputs are called by these."""
        for site in self.sites:
            root = getattr(site, "gives", None)
            if not root:
                continue
            part = self.elements.get(root)
            if part:
                self.values.pop(root, None)  # a tuple, not a tensor
            for i in range(max(part) + 1 if part else 1):
                name = part.get(i) if part else root
                site.args.append(("out", name, name or "%s[%d]" % (root, i)))

    def _block(self, body, main, fn=None):
        for s in body:
            if isinstance(s, (ast.If, ast.While, ast.For)):
                self.looping += isinstance(s, ast.While)
                self._block(s.body, main, fn)
                self._block(s.orelse, main, fn)
                self.looping -= isinstance(s, ast.While)
            elif isinstance(s, ast.With):
                self._block(s.body, main, fn)
            elif isinstance(s, ast.Return):
                self._return(s, main)
                if fn:
                    self.returned[fn] = [n for n, _ in self._handed(s.value)]
            elif isinstance(s, ast.Assign) and len(s.targets) == 1:
                self._assign(s.targets[0], s.value, main)
            elif isinstance(s, ast.Expr):
                self._sites(s.value)
            elif isinstance(s, ast.Delete):
                for t in s.targets:
                    name = getattr(t, "id", None)
                    self.held.pop(name, None)
                    if not any(name in names for names in self.held.values()):
                        self._forget(name)
            elif not isinstance(s, (ast.Pass, ast.Global, ast.Assert, ast.Raise)):  # what only checks and decides reads nothing
                self._uses(s)

    def _value(self, name, kind="buffer", index=None, storage=None):
        if name not in self.values:
            self.values[name] = [kind, index, storage]
        return name

    def _buffer(self, name, born, bytes_=None):
        """A name for memory that is allocated before call `born`; its number, if it is new."""
        if name not in self.values:
            self.values[name] = ["buffer", None, self._storage(name, born, bytes_)]
            return self.values[name][2]
        return None

    def _storage(self, name, born, bytes_=None):
        self.storages.append([bytes_, born, None, {name}])
        return len(self.storages) - 1

    def _forget(self, name):
        """`del buf2`, also where another name has taken over its memory."""
        storage = self.values[name][2] if name in self.values else None
        if storage is None or name not in self.storages[storage][3]:
            return
        self.storages[storage][3].discard(name)
        if not self.storages[storage][3]:
            self.storages[storage][2] = len(self.sites) - 1

    def _assign(self, target, value, main):
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, ast.Name) and value.id == "args":
            self._take_inputs([t.id for t in target.elts if isinstance(t, ast.Name)], main)
            return
        name = target.id if isinstance(target, ast.Name) else None
        if self._local(value):
            self._subgraph(target, self._local(value), value)
        elif name and isinstance(value, (ast.List, ast.Tuple)):
            self.held[name] = [n for n, _ in self._handed(value)]
            self._touch(self.held[name])
        elif name is None:
            self._sites(value)
            self._uses(value)
        elif isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            self._part(name, value, main)
        elif isinstance(value, ast.Name):
            self._alias(name, value.id)
        elif isinstance(value, ast.Call):
            self._called(name, value)
        else:
            self._uses(value)

    def _take_inputs(self, names, main):
        for i, name in enumerate(names):
            if main:
                self.inputs.append(name)
            if main or name not in self.values:
                self.values[name] = ["input", i, None] if main else ["buffer", None, None]

    def _part(self, name, value, main):
        root, index = value.value.id, value.slice
        if root == "args" and isinstance(index, ast.Constant):
            self._take_inputs([name], main)
        elif isinstance(index, ast.Constant) and isinstance(index.value, int) and index.value >= 0:
            of = self.elements.setdefault(root, {})
            if of.get(index.value) in self.values:  # a subgraph's
                self._alias(name, of[index.value])
                return
            of[index.value] = name
            if root in self.values and self.values[root][0] == "buffer":
                self._buffer(name, max(len(self.sites) - 1, 0))
            self._value(name)
        else:
            self._alias(name, root)

    def _note(self, node, text):
        if not self.notes:
            self.notes.append("line %d %s" % (node.lineno, text))

    def _alias(self, name, root):
        if root in self.values:
            if self.values[root][0] == "buffer" and self.values[root][2] is None:
                self.values[root][2] = self._storage(root, max(len(self.sites) - 1, 0))
            self.values[name] = list(self.values[root])
            self.was[name] = root if root in self.passed else self.was.get(root, root)
            if self.values[name][2] is not None:
                self.storages[self.values[name][2]][3].add(name)

    def _called(self, name, call):
        while self._is_view(call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            call = call.func.value  # of a result: buf4 = workspace_0[0:512].view(2, 256).sum(dim=0).view([256])
        callee = dotted(call.func) or ""
        last = callee.rsplit(".", 1)[-1]
        if last.startswith(MAKERS) or last in ("alloc_from_pool", "_alloc_from_pool"):
            storage = self._buffer(name, len(self.sites), self._bytes(call.args))
            if storage is not None:
                self.untouched.add(storage)
        elif self._root(call) and not self._what(call):
            self._alias(name, self._root(call))
        else:
            site = self._sites(call)
            if site:
                site.gives = name
                self._buffer(name, len(self.sites) - 1)
            else:
                if last in NUMBERS:
                    return
                self._uses(call)
                if not any(isinstance(n, ast.Name) and n.id in self.values for n in ast.walk(call)):
                    return
            self._value(name)

    @staticmethod
    def _bytes(args):
        """Of empty_strided(sizes, strides, torch.float32), where the sizes are numbers."""
        try:
            sizes, strides, dtype = ast.literal_eval(args[0]), ast.literal_eval(args[1]), dotted(args[2]).rsplit(".", 1)[-1]
        except (ValueError, IndexError, AttributeError, TypeError, SyntaxError):
            return None
        bits = re.search(r"(\d+)", dtype)
        each = 1 if dtype == "bool" or dtype.startswith("float8") else int(bits.group(1)) // 8 if bits else 0
        if not each or not all(isinstance(n, int) for n in tuple(sizes) + tuple(strides)):
            return None
        return each * (1 + sum((n - 1) * s for n, s in zip(sizes, strides))) if all(sizes) else 0

    def _handed(self, node):
        """(name, it is None) of each tensor in a tuple or list."""
        items = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node] if node else []
        return [(self._root(i), isinstance(i, ast.Constant) and i.value is None) for i in items]

    def _return(self, s, main):
        self._sites(s.value)
        if main:
            self.outputs += [(None if none else name, none) for name, none in self._handed(s.value)]
        elif any(name is None for name, _ in self._handed(s.value)):
            self._uses(s.value)

    # ---- calls ----

    def _root(self, node):
        """The buffer that an argument is, or is a view of."""
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Call) and node.args and (dotted(node.func) or "").endswith(SEEN_AS):
                node = node.args[0]
            elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
                node = node.value
            elif self._is_view(node):
                node = node.func.value
            else:
                return None
        return node.id

    @staticmethod
    def _is_view(node):
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VIEWS

    def _what(self, call):
        """(name, kind, roles, operator, self) of a watched call, or None."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else None
        if method in METHODS and self._root(call.func.value) in self.values:
            return "%s.%s" % (self._root(call.func.value), method), "op", "method", None, True
        callee = dotted(call.func)
        if callee is None:
            return None
        parts = callee.split(".")
        if parts[0] in self.known:
            if len(parts) == 1 or (len(parts) == 2 and parts[1] == "run"):
                return parts[0], "kernel", self.roles[parts[0]], None, False
            return None
        operator = None
        if parts[:2] == ["torch", "ops"]:
            operator = ".".join(parts[2:])
        elif parts[0] in ROOTS:
            operator = ".".join([ROOTS[parts[0]]] + parts[1:])
        if operator:
            words = operator.split(".")
            if len(words) < 2 or words[1] in UNLOOKED or words[0] == "higher_order":
                return None
            return callee, "op", None, operator, False
        if parts[0] == "extern_kernels" and len(parts) == 2:
            return callee, "op", None, None, False
        return None

    def _sites(self, node):
        """All calls in an expression, nested ones first; returns the outermost."""
        if node is None:
            return None
        outer = None
        for call in [n for n in ast.walk(node) if isinstance(n, ast.Call)][::-1]:
            what = self._what(call)
            if not what or any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
                continue
            site = self._site(call, what)
            outer = site if call is node else outer
        return outer

    def _site(self, call, what):
        name, kind, roles, operator, method = what
        site = Site(name, kind, call.lineno)
        site.operator, site.self_first = operator, method
        if method:
            role = "inout" if name.endswith("set_") else "out" if name.endswith("_") else "in"
            site.args.append((role, self._root(call.func.value), ast.unparse(call.func.value)))
        place = 0
        for node in call.args:
            for leaf in self._leaves(node):
                role = roles[place] if kind == "kernel" and roles and place < len(roles) else "in"
                self._argument(site, leaf, role, place, None)
            place += 1
        for keyword in call.keywords:
            for leaf in self._leaves(keyword.value):
                role = "scalar" if kind == "kernel" else "out" if keyword.arg == "out" else "in"  # of a kernel: its stream
                self._argument(site, leaf, role, None, keyword.arg)
        if kind == "kernel" and roles is None:
            site.args = [("inout" if r and k is None else "scalar", r, t, p, k) for _, r, t, p, k in site.args]
        # aten.relu_, and whatever returns nothing: what it is given is changed. Corrected by its schema.
        bare = name.rsplit(".", 1)[-1] if not operator else operator.split(".")[1]
        if kind == "op" and not method and bare.endswith("_") and not bare.endswith("__"):
            first = next((i for i, a in enumerate(site.args) if a[1]), None)
            if first is not None:
                site.args[first] = ("inout",) + tuple(site.args[first][1:])
        # Memory that was allocated and passed to nothing before has no contents to read.
        site.args = [("out",) + tuple(a[1:]) if a[0] == "inout" and self.values[a[1]][2] in self.untouched else a for a in site.args]
        self._touch(a[1] for a in site.args)
        site.given = len(site.args)
        self.sites.append(site)
        self.call[id(call)] = len(self.sites) - 1
        return site

    def _touch(self, names):
        names = set(names)
        self.passed |= names
        self.untouched -= {self.values[n][2] for n in names if n in self.values}

    def _leaves(self, node):
        if isinstance(node, (ast.List, ast.Tuple)):
            for e in node.elts:
                yield from self._leaves(e)
        else:
            yield node

    def _argument(self, site, leaf, role, place, keyword):
        root = self._root(leaf)
        if root in ("None", "True", "False") or (root and root not in self.values and not re.match(r"_frozen_param|constant|_tensor_constant", root)):
            root = None
        elif root and root not in self.values:
            self.values[root] = ["constant", root, None]
        text = ast.unparse(leaf)
        site.args.append((role if root and role != "scalar" else "scalar", root, text, place, keyword))

    def _uses(self, node):
        """A statement that reads buffers outside a call: then it is unknown whether a buffer has other readers."""
        if node is None:
            return
        self._touch(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        if self.notes:
            return
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and n.id in self.values and n.id not in self.inputs:
                self._note(node, "reads %s outside a call of a kernel or operator" % n.id)
                return

    def _comments(self):
        last = 0
        for site in sorted(self.sites, key=lambda s: s.line):
            for i in range(site.line - 1, last, -1):
                m = COMMENT.search(self.line[i - 1])
                if m:
                    site.nodes, site.aten = m.group(1), m.group(2)
                    break
            last = site.line

    # ---- what comes of it ----

    def _through(self, first):
        table = self

        class Through(ast.NodeTransformer):
            def visit_Call(self, node):
                number = table.call.get(id(node))
                self.generic_visit(node)
                if number is None:
                    return node
                new = ast.Call(ast.Name("_pt2_call", ast.Load()), [ast.Constant(first + number), node.func] + node.args, node.keywords)
                return ast.fix_missing_locations(ast.copy_location(new, node))

        return Through().visit(self.tree)

    def compile(self, first, graph):
        tree = self._through(first)
        for i, s in enumerate(tree.body):
            defines = isinstance(s, ast.FunctionDef) and s.name == "call"
            assigns = isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) and s.targets[0].id == "call"
            if defines or assigns:
                wrap = ast.parse("call = _pt2_graph(%d, call)" % graph).body[0]
                for n in ast.walk(wrap):
                    if hasattr(n, "lineno"):
                        n.lineno = n.end_lineno = s.end_lineno
                        n.col_offset = n.end_col_offset = 0
                tree.body.insert(i + 1, wrap)
                return compile(tree, self.path, "exec", dont_inherit=True)
        return None

    def left_out(self):
        """Calls of generated kernels that are not sites: the code has an unknown form."""
        names = {s.name for s in self.sites} | self.inner
        return sorted(k for k in self.known if k not in names)

    def contract(self, names=None, schema=None):
        """contract.h's JSON. names: of inputs, (path, is a weight) by place; schema: of an operator, by argument whether it is written."""
        names = names or {}
        order, number = [], {}
        for name in self.values:
            number[name] = len(order)
            order.append(name)
        constants, values = [], []
        for name in order:
            kind, index, storage = self.values[name]
            if kind == "input" and index in names and names[index][1]:
                kind, index = "constant", self._constant(constants, self.inputs[index], names[index][0])
            elif kind == "constant":
                index = self._constant(constants, name, "")
            values.append({"name": name, "kind": kind, "index": index if kind != "buffer" else None,
                           "storage": storage if kind == "buffer" else None, "dtype": None, "device": None, "sizes": None, "strides": None})
        calls = []
        for s in self.sites:
            args = self._by_schema(s, schema(s.operator)) if schema and s.operator else s.args
            calls.append({"kind": s.kind, "name": s.name, "line": s.line, "source_nodes": s.nodes, "original_aten": s.aten,
                          "args": [{"role": a[0], "value": number.get(a[1]) if a[1] else None, "text": a[2]} for a in args]})
        inputs = [{"index": i, "name": n, "path": names.get(i, ("", 0))[0], "dtype": None, "device": None, "rank": None, "dims": [],
                   "asserted": None, "alignment": None, "used": True} for i, n in enumerate(self.inputs)]
        outputs = [{"index": i, "name": n or "", "path": "", "dtype": None, "device": None, "sizes": None, "strides": None,
                    "value": number.get(n), "none": none} for i, (n, none) in enumerate(self.outputs)]
        return {"schema": "pt2utils.contract/1", "source": "text", "model": self.graph, "device": self.device, "weight_bytes": 0, "inputs": inputs,
                "symbols": [], "outputs": outputs, "constants": constants, "values": values,
                "storages": [{"bytes": b, "born": born, "dies": len(calls) if dies is None else max(dies, 0)} for b, born, dies, _ in
                             self.storages], "calls": calls, "in_spec": "", "out_spec": "", "notes": self.notes, "unread": 0, "unread_checks": 0}

    @staticmethod
    def _constant(constants, name, fqn):
        for i, c in enumerate(constants):
            if c["name"] == name:
                return i
        constants.append({"name": name, "fqn": fqn, "dtype": None, "device": None, "sizes": [], "strides": [], "bytes": 0, "offset": 0,
                          "type": "parameter" if fqn else "unknown", "folded": False})
        return len(constants) - 1

    @staticmethod
    def _by_schema(site, written):
        """Which arguments an operator writes, by its schema: {place or name: it is written}. None: not known."""
        if written is None:
            return site.args
        args = []
        for i, a in enumerate(site.args):
            if i >= site.given or not a[1] or a[0] == "scalar":
                args.append(a)
                continue
            key = a[4] if a[4] is not None else a[3]
            args.append((("out" if a[0] == "out" else "inout") if written.get(key) else "in",) + tuple(a[1:]))
        return args

    def kernels(self, linemap, caller=""):
        """As kernel_information.json: the Python stacks of each call. linemap: (lines, stacks), as PyCodeCache has it. caller: what precedes
        a stack without the program's own lines."""
        lines, stacks = linemap if linemap and len(linemap) == 2 else ((), ())
        of, last = {}, 0
        for s in sorted(self.sites, key=lambda s: s.line):
            known = [(n, t) for n, t in zip(lines, stacks) if n <= s.line and isinstance(t, str)]
            # An entry holds until the next: one without an own has that of the call before it.
            stacks_of = list(dict.fromkeys(t for n, t in known if n > last)) or [t for _, t in known[-1:]]
            of[id(s)] = [_plain_stack(t) for t in stacks_of]
            if caller:
                of[id(s)] = [_with_caller(t, caller) for t in of[id(s)]]
            last = s.line
        return {"%s:%d" % (s.name, i + 1): {"stack_traces": of[id(s)], "post_grad_nodes": [], "pre_grad_nodes": []}
                for i, s in enumerate(self.sites)}


# ---- in the program's process ----


class _State:
    library = None
    wants = 0
    first = 0  # the next number of a call
    tables = {}  # the number of a graph -> (table, first), until it is armed
    built = {}  # id of what _pt2_graph gave -> (that, the number of the graph)
    names = {}  # "0" of "0_forward" -> {place: (path, is a weight)}
    lazy = {}  # (id of a library's kernels, name) -> its Triton kernel, with cpp_wrapper
    pending = None
    frames = set()  # of what Dynamo has traced in this process
    started = None  # None: not yet; "": done; else why not
    said = set()
    own = {}  # a file -> it is the program's own
    seen = False
    optimizer = None  # torch.optim.Optimizer, with --step


ON, CALLS, STEPS = 1 << 31, 1 << 30, 1 << 29
CALLS_ONLY_NAMES, CALLS_BAD, CALLS_RECORD, CALLS_SCAN, CALLS_TIMES, CALLS_KEEP, CALLS_BOUNDS = 1, 2, 64, 1024, 2048, 8192, 1 << 20  # enum calls_want


def _library():
    import ctypes

    if _State.library is None:
        lib = ctypes.PyDLL(None)
        lib.pt2_jit_wants.restype = ctypes.c_uint32
        lib.pt2_jit_start.restype = lib.pt2_jit_arm.restype = ctypes.c_char_p
        lib.pt2_jit_start.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64, ctypes.py_object]
        lib.pt2_jit_call.restype = lib.pt2_jit_graph.restype = ctypes.py_object
        lib.pt2_jit_launches.argtypes, lib.pt2_jit_launches.restype = [ctypes.py_object], None
        lib.pt2_jit_precision.argtypes, lib.pt2_jit_precision.restype = [ctypes.py_object], None
        lib.pt2_jit_graph.argtypes = [ctypes.c_uint32, ctypes.py_object]
        lib.pt2_jit_address.argtypes, lib.pt2_jit_address.restype = [ctypes.c_void_p], ctypes.c_void_p
        _State.library, _State.wants = lib, lib.pt2_jit_wants()
    return _State.library


def _aside(text):
    if text not in _State.said and len(_State.said) < 16:
        _State.said.add(text)
        _library().pt2_jit_aside(text.encode("utf-8", "replace")[:900])


def _failed(what, e):
    _aside("%s is not watched and runs unchanged: %s: %s" % (what, type(e).__name__, e))


def _compile(source, filename, mode="exec", *args, **kwargs):
    """In place of compile() in torch/_inductor/runtime/compile_tasks.py."""
    try:
        if mode == "exec" and isinstance(source, str) and "async_compile" in source:
            code = _watched(source, filename)
            if code is not None:
                return code
    except Exception as e:
        _failed("'%s'" % filename, e)
    return compile(source, filename, mode, *args, **kwargs)


def _watched(source, path):
    import builtins

    lib = _library()
    if not _State.wants & ON:
        return None
    table = Table(source, path)
    if not _State.wants & CALLS:
        if not _State.seen:
            _State.seen = True
            lib.pt2_jit_seen(table.graph.encode(), path.encode())
        return None
    if "cpp_wrapper_src" in source:  # its kernels are called by its library, which libprobe sees
        return None
    graph = len(_State.tables)
    first = _State.first
    code = table.compile(first, graph)
    if code is None:
        return None
    if not hasattr(builtins, "_pt2_call"):
        _guard_addresses()
        builtins._pt2_call = lib.pt2_jit_call()
        builtins._pt2_graph = _graph
    _take_names(table)
    _State.first += len(table.sites)
    _State.tables[graph] = (table, first)
    if table.left_out():
        _aside("'%s': calls of %s are not understood and not watched" % (path, ", ".join(table.left_out()[:4])))
    return code


def _take_names(table):
    id_ = table.graph.split("_")[0]
    if _State.pending is not None and (not table.graph.endswith("backward") or id_ not in _State.names):
        _State.names[id_] = _State.pending


def _keep_names(model):
    try:
        # AOTAutograd passes lifted parameters and buffers first (torch/_functorch/aot_autograd.py, full_args).
        sources = getattr(model, "_param_name_to_source", None) or {}
        names = [_plain_name(getattr(sources.get(k), "name", "") or "self." + k, True)
                 for of in ("named_parameters", "named_buffers") if hasattr(model, of) for k, _ in getattr(model, of)(remove_duplicate=False)]
        names += [_source_name(n) for n in model.graph.nodes if n.op == "placeholder"]
        _State.pending = dict(enumerate(names))
    except Exception:
        _State.pending = None


def _graph(number, call):
    made = _library().pt2_jit_graph(number, call)
    _State.built[id(made)] = (made, number)
    return made


def after_lazy_compile(module):
    """With cpp_wrapper=True, torch 2.13 and newer compile a Triton kernel when it is called first, in Python, and Triton launches that
    call; all further ones are the library's. That first call becomes the only one of a graph of its own, named as the kernel."""
    if not (_library() and _State.wants & CALLS and hasattr(module, "run_triton_kernel_with_autotune")):
        return
    start, run = module.start_kernel_compile, module.run_triton_kernel_with_autotune

    def start_kernel_compile(pending_kernels, kernel_name, kernel_source):
        _State.lazy[id(pending_kernels), kernel_name] = kernel_source
        return start(pending_kernels, kernel_name, kernel_source)

    def run_triton_kernel_with_autotune(pending_kernels, kernel_name, stream, args):
        def original(*_):
            result.append(run(pending_kernels, kernel_name, stream, args))

        result, watched = [], None
        try:
            source = _State.lazy.get((id(pending_kernels), kernel_name))
            watched = _first_call(pending_kernels.get(kernel_name), kernel_name, source, args, original)
        except Exception as e:
            _failed("the first call of %s" % kernel_name, e)
        if watched:
            call, given = watched
            call(given)
        else:
            original()
        return result[0]

    for f, to in ((start, start_kernel_compile), (run, run_triton_kernel_with_autotune)):
        to.__wrapped__, to.__doc__ = f, f.__doc__
        setattr(module, to.__name__, to)


def _first_call(kernel, name, source, args, original):
    """(a function that calls original() as the only call of a graph, what it is given); None if that cannot be watched."""
    pairs = None
    if source and not _start():
        source = source.strip()
        pairs = arguments_of_triton(ast.parse(source, mode="eval").body.args[1].value, name)
    if not pairs:
        return None
    kernel = kernel.result() if hasattr(kernel, "result") else kernel
    path, line = getattr(kernel, "filename", None) or name, 1
    try:
        with open(path, encoding="utf-8") as f:
            line = next((i for i, t in enumerate(f, 1) if t.startswith("def %s(" % name)), 1)
    except OSError:
        pass
    names = [p for p, _ in pairs] + ["more_%d" % i for i in range(len(args) - len(pairs))]
    by_name = dict(zip(names, args))
    taken = [p for p, role in pairs if role in ("in", "inout")]
    given = [p for p, role in pairs if role in ("out", "inout")]
    table = Table("\n".join(["%s = %s" % (name, source), "def call(args):", "    [%s] = args" % ", ".join(taken)] +
                            ["    %s = empty_strided_cuda()" % p for p in given if p not in taken] +
                            ["    %s.run(%s)" % (name, ", ".join(names)), "    return [%s]" % ", ".join(given)]), path)
    table.graph, table.sites[0].line = "%s (first call)" % name, line
    graph, first, library = len(_State.tables), _State.first, _library()
    _State.first += len(table.sites)
    _State.tables[graph] = None

    held = [original, args, [by_name[p] for p in given]]

    def call(_):
        run, with_, written = held
        held.clear()  # the graph stays, the tensors must not
        library.pt2_jit_call()(first, run, *with_)
        return written

    made = library.pt2_jit_graph(graph, call)
    _arm_table(table, first, graph)
    return made, [by_name[p] for p in taken]


def _types():
    import torch

    tensor = torch._C.TensorBase
    plain = (torch.Tensor, torch.nn.Parameter)
    dispatch = torch.Tensor.__torch_dispatch__

    def classify(t):
        if t is list or t is tuple:
            return 2 if t is list else 3
        if not issubclass(t, tensor):
            return 3 if issubclass(t, tuple) else 2 if issubclass(t, list) else 0
        return int(t in plain or t.__torch_dispatch__ is dispatch)

    return classify


def _launch(callee, *args, **kwargs):
    """How torch/_inductor/runtime/triton_heuristics.py launches this call of kernel.run (CachingAutotuner, 2.7 and newer), for a fault:
    b"GRID GRID GRID THREADS SHARED", and a line "NAME VALUE" for each number; None when it cannot be said."""
    try:
        from torch._inductor.runtime.triton_heuristics import GridExpr

        kernel = callee.__self__
        (launcher,) = kernel.launchers
        config = launcher.config
        numbers = {n: v for n, v in zip(kernel.fn.arg_names, args) if type(v) is int}
        meta = dict(config.kwargs, num_warps=config.num_warps)
        grid = GridExpr.from_meta(kernel.inductor_meta, config).eval_slow({**meta, **numbers})
        warp = getattr(kernel.device_props, "warp_size", None) or 32
        shared = getattr(launcher, "shared", None) or 0
        lines = ["%d %d %d %d %d" % (*grid, warp * config.num_warps, shared)]
        lines += ["%s %d" % item for item in numbers.items() if 0 <= item[1] < 1 << 63]
        return "\n".join(lines).encode()
    except Exception:
        return None


PRECISION = (  # torch/backends/__init__.py, torch/backends/cuda/__init__.py: the old settings and the new ones; after one was set, reading the other may raise
    ("float32_matmul", lambda torch: torch.get_float32_matmul_precision()),
    ("cuda.matmul.allow_tf32", lambda torch: torch.backends.cuda.matmul.allow_tf32),
    ("cuda.matmul.fp32", lambda torch: torch.backends.cuda.matmul.fp32_precision),
    ("cudnn.allow_tf32", lambda torch: torch.backends.cudnn.allow_tf32),
    ("cudnn.conv.fp32", lambda torch: torch.backends.cudnn.conv.fp32_precision),
    ("mkldnn.matmul.fp32", lambda torch: torch.backends.mkldnn.matmul.fp32_precision),
    ("mkldnn.conv.fp32", lambda torch: torch.backends.mkldnn.conv.fp32_precision),
    ("fp16_reduction", lambda torch: torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction),
    ("bf16_reduction", lambda torch: torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction),
    ("fp16_accumulation", lambda torch: torch.backends.cuda.matmul.allow_fp16_accumulation),
)


def _precision():
    """torch's settings of precision now, as b"NAME=VALUE ..."; what cannot be read is left out."""
    import torch

    found = []
    for name, read in PRECISION:
        try:
            value = read(torch)
            found.append("%s=%s" % (name, value if isinstance(value, str) else int(value[0] if isinstance(value, tuple) else value)))
        except Exception:  # another release, or set by the other kind of settings
            pass
    return " ".join(found).encode()


def _start():
    import sysconfig

    import torch

    if _State.started is not None:
        return _State.started
    a, b = torch.empty(0), torch.empty(0)
    release = tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2])
    if release < (2, 6):
        why = "torch before 2.6 (this is %s)" % torch.__version__
    elif sysconfig.get_config_var("Py_GIL_DISABLED"):
        why = "free-threaded Python"
    else:
        why = _library().pt2_jit_start(id(a), a._cdata, id(b), b._cdata, _types())
        _library().pt2_jit_launches(_launch)
        _library().pt2_jit_precision(_precision)
        why = why.decode() if why else ""
    _State.started = why
    if why:
        _aside("graphs of torch.compile are not watched: %s" % why)
    return why


def _guard_addresses():
    """With --bounds, kernels that are loaded from now on ask libprobe for their tensors' addresses."""
    if not _State.wants & CALLS_BOUNDS:
        return
    import torch

    of, name = torch._C._dynamo.guards, "_torchinductor_pyobject_tensor_data_ptr"
    ours = _library().pt2_jit_address(getattr(of, name, 0))
    if ours:
        setattr(of, name, ours)


def _schema(operator):
    """{place or name: it is written} of aten.sort.stable; None."""
    import torch

    o = torch.ops
    for part in operator.split("."):
        o = getattr(o, part)
    if not hasattr(o, "_schema"):
        overloads = [getattr(o, n) for n in o.overloads()]
        if len(overloads) != 1:
            o = getattr(o, "default", overloads[0] if overloads else None)
        else:
            o = overloads[0]
    written = {}
    for i, a in enumerate(o._schema.arguments):
        is_written = bool(a.alias_info and a.alias_info.is_write)
        written[a.name] = is_written
        written[i] = is_written
    return written


def _schema_or_none(operator):
    try:
        return _schema(operator)
    except Exception:
        return None


def _arm(graph):
    """What the program runs."""
    callable_ = getattr(graph, "current_callable", None)
    made, number = _State.built.get(id(callable_), (None, None))
    entry = _State.tables.get(number) if made is callable_ and number is not None else None
    if not entry or _start():
        return
    _State.tables[number] = None
    _arm_table(*entry, number, getattr(graph, "runnable_graph_str", None) if _State.wants & CALLS_RECORD else None,
               getattr(graph, "_pt2_fx", None) if _State.wants & (CALLS_KEEP | CALLS_RECORD) else None)


def _plain_stack(text):
    """With the function's own name where Dynamo resumes one after a graph break."""
    return re.sub(r"\btorch_dynamo_resume_in_(\w+?)_at_\d+", r"\1", text)


def _is_own(path):
    """Is it a file of the program, not of torch, of another package, of Python, or ours?"""
    import os
    import sysconfig

    if path not in _State.own:
        paths = sysconfig.get_paths()
        others = [os.path.dirname(_is_own.__code__.co_filename), paths["stdlib"], paths["platstdlib"]]
        _State.own[path] = not (path.startswith(("<", *[p + "/" for p in others])) or re.search(r"/(site|dist)-packages/|/torch/(_|optim|nn)", path))
    return _State.own[path]


def _caller():
    """The program's own line that this process is in, as a frame of a stack; "" if there is none."""
    import linecache
    import sys

    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if _is_own(path):
            line = linecache.getline(path, frame.f_lineno).strip()
            return _plain_stack('  File "%s", line %d, in %s\n%s' % (path, frame.f_lineno, frame.f_code.co_name, "    %s\n" % line if line else ""))
        frame = frame.f_back
    return ""


def _with_caller(stack, caller):
    """An optimizer's step is compiled as torch's function alone, a package's model as its own: their stacks do not have the line that
    called them."""
    own = any(_is_own(path) for path in re.findall(r'^ *File "([^"]+)", line', stack, re.M))
    return stack if own else caller + stack


def _fx_of(graph, gm, text=""):
    """The graph that Inductor generated code from, as text, and which node's value each buffer holds (ir.py, assign_origin_node), or what
    is computed for it; the same of its subgraphs (of cond, while_loop), by the prefix of their buffers' names. Kept with the compiled graph,
    so that it is in the cache, too."""
    import json

    frames = set()
    fx = _one_fx_of(graph, gm, text, frames)
    fx["subgraphs"] = _subgraphs_of(graph, gm, frames, {}, set())
    fx["frames"] = sorted(frames) if frames <= _State.frames else []
    return json.dumps(fx)


def _one_fx_of(graph, gm, text, frames, other_stack=lambda node: None):
    nodes, origins = {}, {}
    for buffer in graph.buffers:
        if getattr(buffer, "name", "") is None:  # of a template's subgraph: it is never in memory
            continue
        node = getattr(buffer, "origin_node", None)
        if node is not None:
            nodes[buffer.get_name()] = node.name
        of = buffer.get_origins() if hasattr(buffer, "get_origins") else getattr(buffer, "origins", ())  # a MutationOutput has none
        origins[buffer.get_name()] = [n.name for n in list(of)[:64]]
    text = text or gm.print_readable(print_output=False, include_stride=True, include_device=True)
    stacks, stack = {}, {}
    for n in gm.graph.nodes:
        trace = n.meta.get("stack_trace") or other_stack(n)
        if isinstance(trace, str):
            stack[n.name] = stacks.setdefault(_plain_stack(trace), len(stacks))
            frames.update(_frames(trace))
    return {"graph": _plain_stack(text), "nodes": nodes, "origins": origins, "stacks": list(stacks), "stack": stack}


def _subgraphs_of(graph, whole, frames, found, seen):
    """torch/_inductor/ir.py, class Subgraph: a member, or in a list, of Conditional, WhileLoop and the like. Its lowering gives its inputs
    and buffers names that begin with its own (graph.py, qualify_name)."""
    for operation in getattr(graph, "operations", ()):
        for member in list(vars(operation).values()):
            for sub in member if isinstance(member, (list, tuple)) else (member,):
                inner = getattr(sub, "graph", None)
                gm = getattr(inner, "module", None)
                if type(sub).__name__ != "Subgraph" or id(sub) in seen or gm is None or not getattr(inner, "name", None):
                    continue
                seen.add(id(sub))
                fx = _one_fx_of(inner, gm, "", frames, _stack_elsewhere(gm, whole, getattr(operation, "origin_node", None)))
                for n in gm.graph.nodes:
                    if n.op == "placeholder":
                        fx["nodes"]["%s_%s" % (inner.name, n.name)] = n.name
                found[inner.name] = fx
                _subgraphs_of(inner, whole, frames, found, seen)
    return found


def _stack_elsewhere(gm, whole, outer):
    """The stack of a node that torch has lost: a scan that becomes a while_loop is traced again (torch/_inductor/fx_passes/post_grad.py), and the
    graph that it was is still there. Else that of the node that runs the subgraph."""
    if any(isinstance(n.meta.get("stack_trace"), str) for n in gm.graph.nodes):
        return lambda node: None
    known = {}
    for other in whole.modules():
        for n in getattr(getattr(other, "graph", None), "nodes", ()) if other is not whole else ():
            trace = n.meta.get("stack_trace")
            if isinstance(trace, str):
                key = n.name, str(n.target)
                known[key] = trace if known.get(key, trace) == trace else None
    last = outer.meta.get("stack_trace") if outer is not None else None
    return lambda node: known.get((node.name, str(node.target))) or last


def _frames(stack):
    """The frames of a stack, each with its place and the text of its line."""
    return re.findall(r'File "[^\n]*", line \d+, in [^\n]*(?:\n(?! *File)[^\n]*)?', stack)


def _take_frames(model):
    """Where the program has what Dynamo now traces. A cache finds a graph also after an edit that only moves its lines, and has those of before
    it (torch/_inductor/codecache.py, FxGraphHashDetails: the graph without its stack traces)."""
    for gm in model.modules():
        for n in getattr(getattr(gm, "graph", None), "nodes", ()):
            if isinstance(n.meta.get("stack_trace"), str):
                _State.frames.update(_frames(n.meta["stack_trace"]))


def _has_moved(graph):
    import json

    fx = json.loads(getattr(graph, "_pt2_fx", None) or "{}")
    # One without subgraphs is of an earlier version of this file.
    return bool(fx) and ("subgraphs" not in fx or not _State.frames.issuperset(fx["frames"]))


def _keep_fx(graph, args, kwargs):
    try:
        by_name = dict(zip(("current_callable", "graph", "gm"), args), **kwargs)
        if "graph" in by_name and "gm" in by_name:  # torch 2.6 and newer
            graph._pt2_fx = _fx_of(by_name["graph"], by_name["gm"], getattr(graph, "inductor_post_grad_graph_str", None))
    except Exception as e:
        graph._pt2_fx = None  # not to be compiled again for it
        _aside("the cause of a NaN in a graph is not evaluated: %s: %s" % (type(e).__name__, e))


def _arm_table(table, first, number, program=None, fx=None):
    import ctypes
    import json

    import torch._inductor.codecache as codecache

    linemap = codecache.PyCodeCache.linemaps.get(table.path)
    document = table.contract(_names_of(table), _schema_or_none)
    caller = _caller()
    document["kernels"] = table.kernels(linemap, caller)
    if fx:
        document["fx"] = dict(json.loads(fx), was=table.was)
        if caller:
            for one in (document["fx"], *document["fx"].get("subgraphs", {}).values()):
                one["stacks"] = [_with_caller(t, caller) for t in one["stacks"]]
    text = json.dumps(document).encode()
    n = len(table.sites)
    given = (ctypes.c_uint32 * (n + 1))(*[s.given | (0x80000000 if s.self_first else 0) for s in table.sites])

    class JitTable(ctypes.Structure):
        _fields_ = [("graph", ctypes.c_char_p), ("path", ctypes.c_char_p), ("text", ctypes.c_char_p), ("size", ctypes.c_size_t),
                    ("given", ctypes.POINTER(ctypes.c_uint32)), ("first", ctypes.c_uint32), ("n", ctypes.c_uint32),
                    ("program", ctypes.c_char_p)]

    if _State.optimizer and _has_optimizer(_State.optimizer):
        _library().pt2_jit_step(0)
    t = JitTable(table.graph.encode(), table.path.encode(), text, len(text), given, first, n,
                 program.encode() if program else None)
    why = _library().pt2_jit_arm(ctypes.c_uint32(number), ctypes.byref(t))
    if why:
        _aside("graph %s is not watched: %s" % (table.graph, why.decode()))


def _arm_quietly(graph):
    try:
        _arm(graph)
    except Exception as e:
        _failed("a graph", e)


def _names_of(table):
    """The program's names for the graph's inputs: by index for the forward graph; a backward graph has the same names."""
    known = _State.names.get(table.graph.split("_")[0]) or {}
    names = {}
    for i, name in enumerate(table.inputs):
        m = re.match(r"(primals|arg)_?(\d+)(_1)?$", name)
        if m and (m.group(1) == "primals" or m.group(3)):
            place = int(m.group(2)) - (m.group(1) == "primals")
            if place in known:
                names[i] = known[place]
        elif re.match(r"tangents_(\d+)$", name):
            names[i] = ("the gradient of output %d" % (int(name.split("_")[1]) - 1), False)
    return names


def _source_name(node):
    """("lin.weight", True) of a placeholder of Dynamo's graph."""
    source = getattr(node, "_dynamo_source", None)
    arg = node.meta.get("grapharg")
    source = source or getattr(arg, "source", None)
    name = getattr(source, "name", "")
    if not name:
        return (node.name, False)
    return _plain_name(name)


def _plain_name(name, weight=False):
    name = name() if callable(name) else name
    if re.match(r"L\['___stack\d+'\]$", name):
        return (_eager_name(), False)
    weight = weight or "_parameters[" in name or "_buffers[" in name
    plain = re.sub(r"\._(?:modules|parameters|buffers)\['([^']*)'\]", r".\1", name)
    plain = re.sub(r"\._modules\[(\d+)\]", r".\1", plain)
    plain = re.sub(r"^[LG]\['([^']*)'\]", r"\1", plain)
    count = 1
    while count:  # the state of an optimizer: by places
        plain, count = re.subn(r"\[list\(dict\.keys\([^()]*\)\)\[(\d+)\]\]", r"[\1]", plain)
    if weight:
        plain = re.sub(r"^(self|fn)\.", "", plain)  # torch.compile(module) is a call of fn
    return (plain, weight)


def _eager_name():
    """What a value is that Dynamo calls ___stack0: the result of the call at which it broke the graph, in the code that it now compiles
    (torch/_dynamo/resume_execution.py: torch_dynamo_resume_in_NAME_at_LINE)."""
    import linecache
    import sys

    frame = sys._getframe(1)
    while frame is not None:
        for code in (frame.f_locals.get("code"), getattr(frame.f_locals.get("self"), "f_code", None)):
            m = re.match(r"torch_dynamo_resume_in_.*_at_(\d+)$", getattr(code, "co_name", ""))
            if m:
                line = linecache.getline(code.co_filename, int(m.group(1))).strip()
                base = code.co_filename.rsplit("/", 1)[-1]
                return "the result of eager code at %s:%s%s" % (base, m.group(1), ": " + line if line else "")
        frame = frame.f_back
    return "the result of eager code"


# ---- hooks ----


def after_compile_tasks(module):
    module.compile = _compile


def _want_program(graph):
    """--record keeps the FX graph, which torch 2.15 keeps in a cache only where a trace is written; the graph in which a NaN is looked for is
    in a cache only if this tool was there. FxGraphCache.cache_hit_post_compile takes this error for a cache that has lost a file: the graph
    is compiled once more, to the same text. So is one whose lines have moved."""
    import sys

    lacks = _State.wants & CALLS_RECORD and getattr(graph, "runnable_graph_str", None) == ""
    lacks = lacks or (_State.wants & (CALLS_KEEP | CALLS_RECORD) and (not hasattr(graph, "_pt2_fx") or _has_moved(graph)))
    if lacks and sys._getframe(2).f_code.co_name == "cache_hit_post_compile":
        raise OSError("its FX graph is not in the cache")


def _after(cls, name):
    original = cls.__dict__[name]

    def run(self, *args, **kwargs):
        if name != "__init__" and _State.wants & (CALLS_RECORD | CALLS_KEEP):
            _want_program(self)
        result = original(self, *args, **kwargs)
        if name == "__init__" and _State.wants & (CALLS_KEEP | CALLS_RECORD):
            _keep_fx(self, args, kwargs)
        _arm_quietly(self)
        return result

    run.__name__, run.__qualname__, run.__doc__, run.__wrapped__ = name, original.__qualname__, original.__doc__, original
    setattr(cls, name, run)


def _end_before_exit():
    """A child of multiprocessing ends by os._exit(): what the last run has found on a GPU is not known yet, and no function of atexit runs."""
    import os

    if not hasattr(os._exit, "__wrapped__"):
        real = os._exit

        def _exit(status):
            _library().pt2_jit_end()
            real(status)
        _exit.__wrapped__ = real
        os._exit = _exit


def after_output_code(module):
    if not (_library() and _State.wants & CALLS):
        return
    for name in ("__init__", "after_deserialization"):
        if name in module.CompiledFxGraph.__dict__:
            _after(module.CompiledFxGraph, name)
        else:
            _aside("graphs of torch.compile may not be watched: CompiledFxGraph has no %s" % name)
    if _State.wants & CALLS_SCAN:
        _end_before_exit()
    if _State.wants & ~(ON | CALLS | STEPS | CALLS_TIMES) == CALLS_ONLY_NAMES or _State.wants & CALLS_SCAN:
        return  # --profile, and a scan that is captured with the calls: with CUDA graphs, as it would run

    def no_graphs(*args, **kwargs):
        """Values between kernels are examined: the same kernels, without CUDA graphs."""
        for a in args:
            if type(a).__name__ == "BoxedBool":
                module.BoxedBool.disable(a)

    for name in ("cudagraph_post_compile", "cudagraph_partition_post_compile"):
        if hasattr(module, name):
            setattr(module, name, no_graphs)


def after_optimizer(module):
    """torch 2.0 and newer have the hook. Dynamo leaves no trace of it in what it compiles of a step: such steps are not counted."""
    if not (_library() and _State.wants & CALLS and _State.wants & STEPS and hasattr(module, "register_optimizer_step_post_hook")):
        return

    def ended(optimizer, args, kwargs):
        import torch.compiler

        if not torch.compiler.is_compiling():
            _State.library.pt2_jit_step(1)

    _State.optimizer = module.Optimizer
    module.register_optimizer_step_post_hook(ended)


def _has_optimizer(cls):
    """An optimizer was created: Optimizer.__init__ marks the step of its class."""
    return getattr(cls.__dict__.get("step"), "hooked", False) or any(map(_has_optimizer, cls.__subclasses__()))


def _with_program(original):
    """torch 2.15 writes a graph as a program only if a trace is written: with --record always."""

    def trace_structured(name, metadata_fn=dict, *, payload_fn=lambda: None, **kwargs):
        try:
            meta = metadata_fn() if name == "artifact" else None
            if isinstance(meta, dict) and meta.get("name") == "fx_graph_runnable":
                text = payload_fn()
                payload_fn = lambda: text  # noqa: E731
        except Exception as e:
            _failed("a graph's program", e)
        return original(name, metadata_fn, payload_fn=payload_fn, **kwargs)

    return trace_structured


def after_compile_fx(module):
    if not (_library() and _State.wants & CALLS):
        return
    if _State.wants & CALLS_RECORD:
        module.trace_structured = _with_program(module.trace_structured)
    original = module.compile_fx

    def compile_fx(model_, *args, **kwargs):
        _keep_names(model_)
        try:
            _take_frames(model_)
        except Exception:
            pass  # graphs in the cache are compiled once more
        return original(model_, *args, **kwargs)

    compile_fx.__wrapped__ = original
    compile_fx.__doc__ = original.__doc__
    module.compile_fx = compile_fx


def main(path):
    import json

    with open(path, encoding="utf-8") as f:
        table = Table(f.read(), path)
    code = table.compile(0, 0)
    document = table.contract()
    document["rewritten"] = ast.unparse(table.tree)
    document["compiles"] = code is not None
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
