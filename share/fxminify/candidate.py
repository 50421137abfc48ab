"""Candidates: their inputs, their modules, the ways to compile them, and how two runs differ. Sent before oracle.py."""
import ast, base64, contextlib, errno, io, linecache, os, re, traceback, zlib

HEAD = """import torch, math, operator, sys
from torch import tensor, device
import torch.fx as fx
from math import inf, nan
import torch._inductor.inductor_prims, torch._dynamo.config, torch._inductor.config, torch._functorch.config, torch.fx.experimental._config
from torch._dynamo.testing import rand_strided
from torch._dynamo.debug_utils import run_fwd_maybe_bwd
from torch.nn import *
"""

# ---- values ----

def needed_elements(size, stride):
    return 0 if 0 in size else sum((n - 1) * s for n, s in zip(size, stride)) + 1


def copy_of(t, device=None):
    """The same values in its own memory with the same strides, overlaps included."""
    import torch
    if not isinstance(t, torch.Tensor):
        return t
    if t.layout != torch.strided or any(s < 0 for s in t.stride()):
        return t.detach().clone().requires_grad_(t.requires_grad)
    d = t.detach()
    flat = torch.as_strided(d, (needed_elements(t.shape, t.stride()),), (1,), t.storage_offset()).clone()
    if device is not None:
        flat = flat.to(device)
    return torch.as_strided(flat, t.shape, t.stride(), 0).requires_grad_(t.requires_grad)


def placed(dtype, storage, offset, size, stride):
    """A tensor in a storage."""
    import torch
    with torch.no_grad():
        return torch.empty(0, dtype=dtype, device=storage.device).set_(storage, offset, size, stride)


def as_leaf(t, requires_grad, leaf=True):
    """A non-leaf without a real history, as torch's InputReader creates it (debug_utils.py)."""
    import torch
    if not requires_grad:
        return t
    t.requires_grad_(True)
    if leaf:
        return t
    with torch.enable_grad():
        other = t.clone(memory_format=torch.preserve_format)
    with torch.no_grad():
        return other.set_(t.untyped_storage(), t.storage_offset(), t.shape, t.stride())


def by_storage(args):
    """{storage: indices} of the tensors that are only a view of it."""
    import torch
    groups = {}
    for i, t in enumerate(args):
        if type(t) in (torch.Tensor, torch.nn.Parameter) and t.layout == torch.strided and not (t.is_conj() or t.is_neg()):
            groups.setdefault(t.untyped_storage()._cdata, []).append(i)
    return groups


def copies_of(args, wide=False):
    """Copies of a program's inputs: tensors that share memory share it again, with their offsets; leaves are leaves. wide: floats in
    double precision, except those whose memory also has another dtype."""
    import torch
    out = list(args)
    groups = by_storage(args)
    for i in set(range(len(args))) - {i for members in groups.values() for i in members}:
        out[i] = copy_of(args[i])
    for members in groups.values():
        first, dtypes = args[members[0]], {args[i].dtype for i in members}
        storage = first.untyped_storage()
        widen = wide and len(dtypes) == 1 and first.is_floating_point()
        if widen:
            storage = placed(first.dtype, storage, 0, (storage.nbytes() // first.element_size(),), (1,)).double().untyped_storage()
        storage = storage.clone() if storage._cdata == first.untyped_storage()._cdata else storage
        for i in members:
            t = args[i]
            out[i] = placed(torch.float64 if widen else t.dtype, storage, t.storage_offset(), t.shape, t.stride())
            out[i] = as_leaf(out[i], t.requires_grad, t.is_leaf)
    return out


def meta_of(v):
    import torch
    if isinstance(v, torch.Tensor):
        m = {"kind": "tensor", "dtype": str(v.dtype).removeprefix("torch."), "size": list(v.shape), "device": str(v.device)}
        if v.layout == torch.strided:
            m["stride"] = list(v.stride())
        if v.requires_grad:
            m["requires_grad"] = True
        return m
    if isinstance(v, bool) or v is None:
        return {"kind": "other", "value": v}
    if isinstance(v, (int, float)):
        return {"kind": type(v).__name__, "value": v if v == v and abs(v) != float("inf") else str(v)}
    if isinstance(v, (list, tuple)):
        return {"kind": "tuple", "parts": [meta_of(p) for p in v]}
    return {"kind": "other"}


def sizes(setup, dims):
    """Integers, or an expression in the original's symbols as text."""
    import torch
    names = {"Max": max, "Min": min, "Mod": lambda a, b: a % b, "FloorDiv": lambda a, b: a // b, "Abs": abs, **setup["symbols"]}
    return [d if isinstance(d, int) else int(eval(d, {"__builtins__": {}}, names)) for d in dims]


def made(setup, meta, name):
    """A tensor for this metadata. Floats are random, with a seed that depends only on the name; integers are 0, a valid index into
    everything that is not empty (as in torch's rand_strided)."""
    import torch
    size = sizes(setup, meta["size"])
    stride = sizes(setup, meta["stride"]) if meta.get("stride") is not None else None
    if stride is None:
        stride = list(torch.empty(size, device="meta").stride())
    dtype = getattr(torch, meta["dtype"])
    g = torch.Generator().manual_seed((setup["seed"] + zlib.crc32(name.encode())) & 0xffffffff)
    n = needed_elements(size, stride)
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex64 if dtype.is_complex else torch.float32
        flat = torch.randn(n, generator=g, dtype=wide).to(dtype)
    else:
        flat = torch.zeros(n, dtype=dtype)
    t = torch.as_strided(flat.to(meta.get("device") or "cpu"), size, stride, 0)
    return t


def corner(value, setup, meta, name):
    """A recorded value in another size and dtype: as much of it as fits, the rest from made()."""
    t = made(setup, meta, name)
    if t.dim() != value.dim():
        return t
    at = tuple(slice(0, min(a, b)) for a, b in zip(t.shape, value.shape))
    if not any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape)):
        t[at] = value[at].to(t.dtype).to(t.device)
    return t


class Missing(Exception):
    """An input that cannot be provided: the test is inconclusive."""


def feed_value(state, feed):
    """In its own memory, without gradients."""
    import torch
    setup, name, meta = state["setup"], feed.get("name", ""), feed.get("meta")
    if feed["kind"] == "int":
        return feed["value"]
    value = state["values"].get(name)
    known = state["metas"].get(name)
    if feed["kind"] == "recorded":
        if value is None and known and known["kind"] == "tensor":
            return made(setup, known, name)  # too large to be kept
        if value is None and name not in state["values"]:
            raise Missing(f"no value was recorded for {name!r}")
        if isinstance(value, torch.Tensor):
            return copy_of(value, known["device"] if known and known["device"] != "cpu" else None)
        return value
    if not meta:
        raise Missing(f"no metadata for the input {name!r}")
    return corner(value, setup, meta, name) if isinstance(value, torch.Tensor) else made(setup, meta, name or "input")


def feed_values(state, feeds):
    """The inputs of a test. Those that shared memory in the original, or were part of it, do so again: the original contents,
    overwritten by their current values."""
    import torch
    setup, values, shared = state["setup"], [feed_value(state, f) for f in feeds], {}
    for i, feed in enumerate(feeds):
        if isinstance(values[i], torch.Tensor) and feed.get("memory") is not None and values[i].layout == torch.strided:
            at = setup["inputs"][feed["memory"]]
            shared.setdefault(at["storage"], []).append((values[i], sizes(setup, [at.get("offset", 0)])[0], i))
    for storage, members in shared.items():
        need = [(offset + needed_elements(v.shape, v.stride())) * v.element_size() for v, offset, _ in members]
        need += sizes(setup, [setup["storages"][storage]["nbytes"]])
        memory = torch.zeros(max(need), dtype=torch.uint8, device=members[0][0].device)
        there = state["memories"].get(storage)
        if there is not None and any(feeds[i]["kind"] == "recorded" for _, _, i in members):
            memory[:len(there)] = there
        for v, offset, i in members:
            n = needed_elements(v.shape, v.stride())
            placed(v.dtype, memory.untyped_storage(), offset, (n,), (1,)).copy_(torch.as_strided(v, (n,), (1,), 0))
            values[i] = placed(v.dtype, memory.untyped_storage(), offset, v.shape, v.stride())
    return [as_leaf(v, wants_gradients(state, f), f.get("leaf", True)) if isinstance(v, torch.Tensor) else v
            for v, f in zip(values, feeds)]


def memories_of(setup, inputs):
    """{index in setup's storages: all its bytes} of those that inputs share, or are part of."""
    import torch
    groups = by_storage(inputs)
    place = {i: at.get("storage") for i, at in enumerate(setup["inputs"])}
    out = {}
    for members in groups.values():
        t = inputs[members[0]]
        storage, needed = t.untyped_storage(), needed_elements(t.shape, t.stride()) * t.element_size()
        if place.get(members[0]) is not None and (len(members) > 1 or storage.nbytes() > needed):
            out[place[members[0]]] = placed(torch.uint8, storage, 0, (storage.nbytes(),), (1,)).cpu().clone()
    return out


def wants_gradients(state, feed):
    meta = state["metas"].get(feed.get("name")) if feed["kind"] == "recorded" else feed.get("meta")
    return bool(meta and meta.get("requires_grad"))


def original_inputs(setup):
    """What load_args returns: [(name, value)]. Storages that were not saved are random, with the seed."""
    import torch
    from torch._dynamo.debug_utils import InputReader
    class Reader(InputReader):
        def __init__(self):
            super().__init__(None)
        def storage(self, s, nbytes, **kw):
            device = kw.get("device") or "cpu"  # the program's: torch's own reader uses the device that the file was saved from
            if s.get("data") is not None:
                raw = base64.b64decode(s["data"])
                on_host = torch.frombuffer(bytearray(raw), dtype=torch.uint8).untyped_storage() if raw else torch.UntypedStorage(0)
                return on_host if device == "cpu" else on_host.to(device=device)
            with contextlib.suppress(FileNotFoundError):
                if s.get("path"):
                    return torch.load(s["path"], weights_only=True, map_location=device)._untyped_storage
            setup.setdefault("random", []).append(s.get("hash") or "")
            return super().storage(None, nbytes, **kw)
    if setup.get("exported") and not setup["inputs"]:
        return exported_inputs(setup)
    torch.manual_seed(setup["seed"])
    reader, out, storages, is_random = Reader(), [], [], []
    for s in setup["storages"]:
        kw = {"device": s.get("device")}
        if s.get("dtype_hint"):
            kw["dtype_hint"] = getattr(torch, s["dtype_hint"])
        before = len(setup.get("random", []))
        storages.append(reader.storage(s, sizes(setup, [s["nbytes"]])[0], **kw))
        is_random.append(len(setup.get("random", [])) > before and [i.get("storage") for i in setup["inputs"]].count(len(is_random)) == 1)
    for i in setup["inputs"]:
        m = i.get("meta")
        if i["kind"] == "tensor" and i.get("storage") is not None:
            stride = sizes(setup, m["stride"]) if m.get("stride") is not None else None
            v = reader.tensor(storages[i["storage"]], sizes(setup, m["size"]), stride,
                              dtype=getattr(torch, m["dtype"]), storage_offset=sizes(setup, [i.get("offset", 0)])[0],
                              requires_grad=i.get("requires_grad"), is_leaf=i.get("is_leaf"), **eval(f"dict({i.get('extra') or ''})"))
        elif i["kind"] == "tensor":
            v = as_leaf(made(setup, m, i["name"]), m.get("requires_grad"))
            setup.setdefault("random", []).append(i["name"])
        elif i["kind"] == "symint":
            v = sizes(setup, [i["value"]])[0]
        elif i["kind"] == "generator":
            v = torch.Generator()
        else:
            v = None
        if i["kind"] == "tensor" and (i.get("storage") is None or is_random[i["storage"]]):
            setup.setdefault("generated", []).append(len(out))
            if isinstance(v, torch.Tensor) and not (v.is_floating_point() or v.is_complex()):
                v.zero_()  # valid as an index, whatever torch made of a storage without a dtype; see fill_integers
        out.append((i["name"], v))
    for repeats, size in setup.get("fixups", []):  # as torch's launcher does for repeat_interleave
        t, n = out[repeats][1], out[size][1]
        if isinstance(t, torch.Tensor) and t.dtype == torch.int64 and t.numel():
            t.fill_(n // t.numel())
            t[:n % t.numel()] += 1
    return out


def exported_program(setup):
    import torch
    e = setup["exported"]
    return torch.export.load(io.BytesIO(base64.b64decode(e["data"])) if e.get("data") else e["path"])


def exported_inputs(setup):
    """The lifted parameters, buffers and constants of a torch.export package, and its example inputs, by the names of its graph."""
    import torch
    program = exported_program(setup)
    args, kwargs = program.example_inputs or ((), {})
    examples = iter(torch.utils._pytree.tree_leaves((args, kwargs)))
    out = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            value = next(examples, None)
        else:
            value = program.state_dict.get(spec.target, program.constants.get(spec.target))
        out.append((spec.arg.name, value))
    return out


# ---- candidates ----

def forward_of(tree):
    """The graph's class and its forward(): Repro, or the first class that has one."""
    pairs = [(c, f) for c in tree.body if isinstance(c, ast.ClassDef)
             for f in c.body if isinstance(f, ast.FunctionDef) and f.name == "forward"]
    if not pairs:
        raise SyntaxError("the candidate has no class with a forward()")
    return next((p for p in pairs if p[0].name == "Repro"), pairs[0])


def definitions(function):
    """(statement, name) of each node; not `x = None`, not the alias lines after dynamo."""
    for s in function.body:
        if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and not isinstance(s.value, ast.Name):
            if not (isinstance(s.value, ast.Constant) and s.value.value is None):
                yield s, s.targets[0].id
        elif isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.value is not None:
            yield s, s.target.id


def written_inputs(forward):
    """Indices of the inputs that an operator writes: aten.copy_(arg0_1, ...)."""
    names, found = [a.arg for a in forward.args.args[1:]], set()
    for s in ast.walk(forward):
        if isinstance(s, ast.Call) and s.args and isinstance(s.args[0], ast.Name) and s.args[0].id in names:
            parts = ast.unparse(s.func).split(".")
            if any(p.endswith("_") and not p.endswith("__") for p in parts[-2:]):
                found.add(names.index(s.args[0].id))
    return sorted(found)


def head_names(state, head=None):
    """What a candidate's code may use: the usual imports, the launcher's head, the values of symbols."""
    names = {"__name__": "fxminify_candidate", "__file__": "candidate.py"}
    for source, what in ((HEAD, "head"), (state["setup"]["head"] if head is None else head, "launcher")):
        file = os.path.abspath(f"{what}.py")
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # Triton looks its kernels' source up
        names["__compile_source__"] = source
        exec(compile(source, file, "exec"), names)
    names.update(state["setup"]["symbols"])
    return names


def module_of(tree, text, state, names):
    """The candidate as a module. Its code is a file, so that tracebacks and traced nodes name its lines."""
    import torch
    with open("candidate.py", "w") as f:
        f.write(text)
    torch.manual_seed(state["setup"]["seed"])
    exec(compile(tree, os.path.abspath("candidate.py"), "exec"), names)
    exec(state["setup"].get("before") or "", names)  # process groups
    mod = names[forward_of(tree)[0].name]()
    with torch.no_grad():
        for name, t in mod.state_dict().items():
            kept = state["state"].get(name)
            if kept is not None and kept.shape == t.shape:
                t.copy_(kept)
    return mod


def idle_lines(head):
    """Names of configuration lines that change nothing."""
    names, idle = {}, []
    exec(HEAD, names)
    for line in head.splitlines():
        if m := re.match(r"(torch\.[\w.]*config[\w.]*) = ", line):
            with contextlib.suppress(Exception):
                before = eval(m[1], names)
                exec(line, names)
                after = eval(m[1], names)
                if type(before) is type(after) and before == after:
                    idle.append(m[1])
    return idle


# ---- integers that nobody kept ----

SAME_VALUES = {"view", "reshape", "unsqueeze", "squeeze", "expand", "permute", "slice", "select", "clone", "alias", "_to_copy", "t",
               "transpose", "_unsafe_view", "convert_element_type", "contiguous", "to", "remainder", "where", "add", "cat", "flatten"}
SMALL = 10  # an integer that nothing bounds


def index_bound(call, name, metas):
    """What an index at this place of a call must be less than; None if it is not an index."""
    parts = ast.unparse(call.func).split(".")
    op = parts[-2] if parts[-1] in ("default", "Tensor", "int", "dim", "out", "src", "value") and len(parts) > 2 else parts[-1]
    def size_of(arg):
        return metas.get(arg.id, {}).get("size") if isinstance(arg, ast.Name) else None
    def is_it(arg):
        return isinstance(arg, ast.Name) and arg.id == name
    args = call.args
    if op == "embedding" and len(args) > 1:
        table, index = (args[0], args[1]) if parts[0] != "torch" or "ops" in parts else (args[1], args[0])
        size = size_of(table)
        return size[0] if size and is_it(index) else None
    if op in ("index", "_unsafe_index", "index_put", "_unsafe_index_put", "index_put_") and len(args) > 1 and isinstance(args[1], (ast.List, ast.Tuple)):
        size = size_of(args[0])
        dims = [d for d, a in enumerate(args[1].elts) if is_it(a)]
        return min(size[d] for d in dims) if size and dims and max(dims) < len(size) else None
    if op in ("gather", "scatter", "scatter_add", "scatter_reduce", "index_select", "index_add", "index_copy", "index_fill") and len(args) > 2:
        size = size_of(args[0])
        if size and is_it(args[2]) and isinstance(args[1], ast.Constant) and -len(size) <= args[1].value < len(size):
            return size[args[1].value]
    return None


def bounds_of(forward, metas, name):
    """(bound, is it used as an index?) of an integer input: the least of its uses, also of views and casts of it."""
    names, found = {name}, []
    for s, target in definitions(forward):
        for call in (c for c in ast.walk(s.value) if isinstance(c, ast.Call)):
            used = names & {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)}
            for one in used:
                bound = index_bound(call, one, metas)
                if bound is not None:
                    found.append(bound)
            if used and SAME_VALUES & set(ast.unparse(call.func).split(".")):
                names.add(target)
    return (min(found), True) if found else (SMALL, False)


def fill_integers(setup, forward, inputs, metas):
    """Integers of inputs whose values were not kept: not all zero, and within what their uses allow. Returns copies; None: there is none."""
    import torch
    unknown = [i for i, (name, v) in enumerate(inputs) if i in setup.get("generated", ()) and isinstance(v, torch.Tensor) and v.numel() and
               not (v.is_floating_point() or v.is_complex())]
    if not unknown:
        return None
    out = list(inputs)
    for i in unknown:
        name, v = inputs[i]
        g = torch.Generator().manual_seed((setup["seed"] + zlib.crc32(name.encode())) & 0xffffffff)
        bound, is_index = bounds_of(forward, metas, name)
        if v.device.type != "cpu" and not is_index:  # an index out of bounds would be the end of this process
            continue
        bound = 2 if v.dtype == torch.bool else max(1, bound)
        flat = torch.randint(0, min(bound, 100), (needed_elements(v.shape, v.stride()),), generator=g).to(v.dtype)
        out[i] = (name, torch.as_strided(flat.to(v.device), v.shape, v.stride(), 0))
    return out


def record(state, say):
    """Runs the original once and keeps every node's value, copied as it is computed, so that later mutations do not show."""
    import torch
    setup = state["setup"]
    tree = ast.parse(setup["code"])
    _, forward = forward_of(tree)
    nodes = list(definitions(forward))
    uses = {name: {n.id for n in ast.walk(s.value) if isinstance(n, ast.Name)} for s, name in nodes}
    at = {id(s): name for s, name in nodes}
    body = []
    for s in forward.body:
        body.append(s)
        if id(s) in at:
            name = at[id(s)]
            call = ast.Call(ast.Name("fxminify_keep_", ast.Load()), [ast.Constant(name), ast.Name(name, ast.Load())], [])
            body.append(ast.copy_location(ast.Expr(call), s))
    forward.body = body
    ast.fix_missing_locations(tree)
    values, metas, left, bad = {}, {}, setup.get("record_limit", 1 << 62), set()
    limit = left

    def keep(name, v):
        nonlocal left
        metas[name] = meta_of(v)
        if isinstance(v, torch.Tensor):
            if v.is_floating_point() and not torch.isfinite(v).all():
                bad.add(name)
                metas[name]["nan"], metas[name]["inf"] = bool(v.isnan().any()), bool(v.isinf().any())
            metas[name]["makes"] = name in bad and not (uses.get(name, set()) & bad)
            left -= v.numel() * v.element_size()
            values[name] = copy_of(v, "cpu").requires_grad_(False) if left >= 0 else None
        elif v is None or isinstance(v, (int, float, bool)):
            values[name] = v
    say(phase="inputs")
    inputs = original_inputs(setup)
    say(phase="head")
    idle = idle_lines(setup["head"])
    names = head_names(state)
    say(phase="eager")
    mod = module_of(tree, setup["code"], state, names)
    mod.forward.__func__.__globals__["fxminify_keep_"] = keep
    weights = {n: t.detach().cpu().clone() for n, t in mod.state_dict().items()}
    names = [a.arg for a in forward.args.args[1:]]
    if len(names) != len(inputs):
        raise TypeError(f"forward() takes {len(names)} inputs, load_args gives {len(inputs)}")
    aliases = {s.targets[0].id: s.value.id for s in forward.body if isinstance(s, ast.Assign) and isinstance(s.value, ast.Name)
               and isinstance(s.targets[0], ast.Name)}
    def once(inputs):
        nonlocal left
        left = limit
        for kept in (values, metas, bad):
            kept.clear()
        for name, (own, v) in zip(names, inputs):
            keep(name, v)
            if own != name:  # "input", which the text cannot have as a name
                keep(own, v)
        args = copies_of([v for _, v in inputs])
        seed(state)
        with contextlib.nullcontext() if setup["form"] == "dynamo" else torch.no_grad():
            with autocast(setup, args):
                mod(*args)
        synchronise(args)
    once(inputs)
    better = fill_integers(setup, forward_of(ast.parse(setup["code"]))[1], inputs, dict(metas))
    if better is not None:
        try:
            once(better)
            inputs = better
        except Exception:  # an index after all, or a length
            traceback.print_exc()
            once(inputs)
    inputs = [v for _, v in inputs]
    memories = memories_of(setup, inputs)
    for name, other in aliases.items():
        if other in values:
            values[name], metas[name] = values[other], metas[other]
    kept = {n: v for n, v in values.items() if v is not None or metas[n]["kind"] != "tensor"}
    torch.save({"values": kept, "state": weights, "memories": memories}, state["file"])
    say(kind="passes", nodes=metas, inputs=names, random=setup.get("random", []), idle=idle,
        dropped=[n for n, v in values.items() if v is None and metas[n]["kind"] == "tensor"])


def seed(state):
    import torch
    torch.manual_seed(state["setup"]["seed"])


def autocast(setup, args):
    import torch
    kind = next((a.device.type for a in args if isinstance(a, torch.Tensor) and a.device.type != "cpu"), "cpu")
    return torch.amp.autocast(kind, enabled=bool(setup.get("autocast")))


def synchronise(args=()):
    """A GPU kernel's error is reported by a later call: nothing has passed until every device was synchronised that may have been
    used, also by tensors that the candidate creates itself."""
    import torch
    for device in {a.device for a in args if isinstance(a, torch.Tensor)}:
        if device.type not in ("cpu", "meta"):
            getattr(torch, device.type).synchronize(device)
    for kind in ("cuda", "xpu"):
        part = getattr(torch, kind, None)
        if part is not None and part.is_initialized():
            part.synchronize()


# ---- the three ways to compile ----

class Way:
    """compile(mod, args) -> a callable for fresh inputs; eager(mod, args) -> the result to compare with."""
    def __init__(self, state, say):
        self.state, self.setup, self.say = state, state["setup"], say
        self.names = None  # if locating needs them: see Where
        self.writes = ()   # indices of inputs that the graph writes: they are compared like its results
        self.code = None   # of the original, whose operators are compared with those that are compiled

    def eager(self, mod, args):
        import torch
        seed(self.state)
        args = copies_of(args)
        with torch.no_grad():
            out = mod(*args)
        synchronise(args)
        if not isinstance(out, (tuple, list)):
            raise TypeError(f"forward() returns {type(out).__name__}, not a tuple")
        return (*out, *(args[i] for i in self.writes))

    def run(self, compiled, args):
        seed(self.state)
        self.say(phase="run")
        args = copies_of(args)
        out = compiled(list(args))  # which may be emptied
        synchronise(args)
        return (*out, *(args[i] for i in self.writes)) if self.writes else out


def drop_unused_parts(gm):
    """make_fx unpacks all results of flex_attention; the original unpacks those that it uses, and Inductor's lowering for the CPU
    returns fewer (torch 2.15: IndexError). Our own output does the same (repro_write.c)."""
    import operator
    for node in reversed(gm.graph.nodes):
        if node.target is operator.getitem and not node.users:
            gm.graph.erase_node(node)
    gm.recompile()


def replayed(code, gm):
    """Operators of the code that tracing it again turned into others: "new_empty_strided becomes zeros"; "" if none."""
    there = set(re.findall(r"torch\.ops\.(\w+\.\w+)\.\w+\(", code))
    import torch
    parts = [m for m in gm.modules() if isinstance(m, torch.fx.GraphModule)]
    now = {".".join(str(n.target).split(".")[:2]) for m in parts for n in m.graph.nodes if n.op == "call_function" and "." in str(n.target)}
    gone, new = sorted(there - now), sorted(n for n in now - there if n.split(".")[0] in ("aten", "prims"))
    gone = [g for g in gone if not g.startswith("higher_order.")]
    return f"{', '.join(gone[:4])} {'become' if len(gone) > 1 else 'becomes'} {', '.join(new[:4]) or 'nothing'}" if gone else ""


class AfterAot(Way):
    def compile(self, mod, args):
        import torch
        from torch._dynamo.repro import after_aot
        from torch._inductor.compile_fx import compile_fx_inner
        from torch.fx.experimental.proxy_tensor import make_fx
        self.say(phase="trace")
        with torch.no_grad():
            seed(self.state)
            gm = make_fx(mod, tracing_mode=self.setup.get("tracing_mode") or "real", record_stack_traces=self.names is not None)(
                *copies_of(args))
            drop_unused_parts(gm)
            if self.code:
                self.say(replayed=replayed(self.code, gm))
            if self.names is not None:
                self.names.of_graph(gm)
            self.say(phase="compile")
            fake = getattr(after_aot, "_get_compile_args", lambda _, real: real)  # torch 2.13 has it: symbols stay symbols
            compiled = compile_fx_inner(gm, fake(gm, args), is_inference=bool(self.setup.get("is_inference")))
        def call(inputs):
            with torch.no_grad():
                return compiled(inputs)
        return call


class Plain(Way):
    """As a plain result does (repro_plain.c): torch.compile, which begins at Dynamo."""
    def compile(self, mod, args):
        import torch
        from torch._inductor.compile_fx import compile_fx
        def backend(gm, inputs):
            self.say(phase="compile")
            compiled = compile_fx(gm, inputs)
            self.say(phase="run")
            return compiled
        compiled = torch.compile(mod, backend=backend)
        def call(inputs):
            self.say(phase="compile")
            with torch.no_grad():
                return compiled(*inputs)
        return call


class AfterDynamo(Way):
    def eager(self, mod, args):
        out = self.forward_backward(mod, args)
        synchronise(args)
        return out

    def forward_backward(self, mod, args):
        from torch._dynamo.debug_utils import run_fwd_maybe_bwd
        import torch._dynamo.config as config
        seed(self.state)
        args = copies_of(args)
        with autocast(self.setup, args):
            return run_fwd_maybe_bwd(mod, args, only_fwd=bool(self.setup.get("only_fwd")) or config.repro_forward_only, disable_clone=True)

    def backend(self, names):
        import functools
        from torch._dynamo.backends.registry import lookup_backend
        name = self.setup.get("backend") or "inductor"
        if self.setup.get("backend_text"):
            real = eval(name, names)
            real = lookup_backend(real) if isinstance(real, str) else real
        elif ":" in name:
            import importlib
            module, _, attr = name.partition(":")
            real = functools.reduce(getattr, attr.split("."), importlib.import_module(module))
        else:
            try:
                real = lookup_backend(name)
            except Exception as e:
                raise Missing(f"torch has no backend {name!r}: its module must be imported; pass --backend MODULE:NAME") from e

        @functools.wraps(real)
        def backend(gm, inputs, **kw):
            self.say(phase="compile")
            compiled = real(gm, inputs, **kw)
            self.say(phase="run")
            return compiled
        return backend

    def compile(self, mod, args):
        import torch
        self.say(phase="trace")
        self.optimised = torch._dynamo.optimize(self.backend(mod.forward.__func__.__globals__))(mod)
        return self.optimised

    def run(self, compiled, args):
        self.say(phase="compile")
        out = self.forward_backward(compiled, args)
        synchronise(args)
        return out


def config_patches(setup):
    """The launcher cannot leave out what aoti_compile_and_package sets itself."""
    return {**(eval(setup.get("config_patches") or "None") or {}), "aot_inductor.package": True}


class AotInductor(Way):
    def compile(self, mod, args):
        import torch
        from torch._inductor import aoti_load_package, _aoti_compile_and_package_inner
        self.say(phase="trace")
        gm = torch.export.export(mod, tuple(copies_of(args)), strict=False).module(check_guards=False)
        self.say(phase="compile")
        package = _aoti_compile_and_package_inner(gm, tuple(copies_of(args)), package_path=os.path.abspath("candidate.pt2"),
                                                  inductor_configs=config_patches(self.setup))
        self.say(phase="run")
        model = aoti_load_package(package)
        return lambda inputs: model(*inputs)


def users_call(state, say):
    """Only what the user of an exported program does: compile and package it, load it, run it on its example
    inputs. What fails here is not caused by fxminify. Returns what differs."""
    import torch
    setup = state["setup"]
    say(phase="inputs")
    program = exported_program(setup)
    if program.example_inputs is None:
        raise Missing("the exported program has no example inputs, which AOTInductor needs")
    def example_inputs():
        leaves, spec = torch.utils._pytree.tree_flatten(program.example_inputs)
        return torch.utils._pytree.tree_unflatten(copies_of(leaves), spec)
    say(phase="head")
    head_names(state)
    say(phase="eager")
    seed(state)
    args, kwargs = example_inputs()
    with torch.no_grad():
        ref = program.module()(*args, **kwargs)
    say(phase="compile")
    package = torch._inductor.aoti_compile_and_package(program, package_path=os.path.abspath("own.pt2"),
                                                       inductor_configs=eval(setup.get("config_patches") or "None"))
    say(phase="run")
    args, kwargs = example_inputs()
    seed(state)
    res = torch._inductor.aoti_load_package(package)(*args, **kwargs)
    synchronise(torch.utils._pytree.tree_leaves(args))
    return differences(ref, res, None, True) if setup.get("accuracy") else []


WAYS = {"aot": AfterAot, "dynamo": AfterDynamo, "aot_inductor": AotInductor, "graph": AfterAot}

# ---- accuracy ----

def in_float64(state, way, tree, text, args, names):
    """The candidate in double precision, or None if that is impossible: torch's reference for rounding."""
    import copy, torch
    from torch._dynamo import config, debug_utils
    if not config.same_two_models_use_fp64:
        return None
    try:
        mod = module_of(tree, text, state, names)
        wide = copies_of(args, wide=True)
        if isinstance(way, AfterDynamo):
            return way.eager(mod.to(torch.float64), wide)
        from torch.fx.experimental.proxy_tensor import make_fx
        with torch.no_grad():
            gm = make_fx(mod)(*copies_of(args))
            gm, _ = debug_utils.cast_to_fp64(copy.deepcopy(gm), [])
        return way.eager(gm, wide)
    except Exception:
        traceback.print_exc()
        return None


# ---- what a failure is known by ----

def frames_of(e):
    """torch's innermost frames, without those by which torch.compile (but not torch._dynamo.optimize) calls a backend."""
    import torch
    root = os.path.dirname(torch.__file__) + os.sep
    frames = [f"{f.filename[len(root):]}:{f.name}" for f in traceback.extract_tb(e.__traceback__) if f.filename.startswith(root)]
    return ";".join(reversed([f for f in frames if f != "__init__.py:__call__"][-3:]))


def innermost(e):
    """InductorError and BackendCompilerFailed wrap the real exception."""
    for _ in range(8):
        inner = getattr(e, "inner_exception", None)
        if not isinstance(inner, BaseException):
            break
        if inner.__traceback__ is None:
            inner = inner.with_traceback(e.__traceback__)
        e = inner
    return e


def compiler_line(text):
    for line in text.splitlines():
        if re.search(r"\berror:|undefined reference|internal compiler error", line):
            return line.strip()
    return ""


def gpu_trouble(text):
    """Failures that are not the candidate's: the machine's, or of how tests are run here."""
    for what, words in (("the GPU ran out of memory (try fewer parallel tests, -j1)", r"(CUDA|HIP) out of memory|"
                                                                               r"(CUDA error|CUDA driver error|Triton Error \[CUDA\]): out of memory"),
                        ("the GPU is faulty", r"uncorrectable (ECC|NVLink) error"),
                        ("the GPU cannot be used", r"no CUDA-capable device is detected|CUDA-capable device\(s\) is/are busy|"
                                                   r"CUDA driver version is insufficient|Found no NVIDIA driver"),
                        ("CUDA was initialised before the tests were forked", r"Cannot re-initialize CUDA in forked|CUDA error: initialization error|"
                                                                      r"autograd's threading in combination with fork")):
        if re.search(words, text):
            return what
    return None


def whole_lines(text, most):
    """At most so many characters, but at least the first line."""
    end = text.rfind("\n", 0, most)
    return text if len(text) <= most else text[:end] if end > 0 else text.partition("\n")[0]


def describe(e, phase):
    e = innermost(e)
    t = type(e)
    message = str(e)
    detail = message
    if hasattr(e, "cmd") and hasattr(e, "output"):
        line = compiler_line(str(e.output))
        if line:
            at = message.find(line)
            end = message.find("\n", at + 600)  # whole lines
            message, detail = line, message[at:end if end >= 0 else None]
    name = t.__qualname__ if t.__module__ == "builtins" else f"{t.__module__}.{t.__qualname__}"
    out = {"kind": "raised", "type": name, "message": message[:4000], "frames": frames_of(e), "detail": whole_lines(detail, 2000), "phase": phase}
    full = str(getattr(e, "output", message))
    torn = isinstance(e, (ImportError, OSError)) and re.search(r"(/\S+): (file too short|invalid ELF header|cannot read file data)", full)
    gpu = gpu_trouble(full)
    if isinstance(e, OSError) and e.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or "No space left on device" in full:
        out.update(kind="infra", detail="no space left on the device: " + message[:300])
    elif torn:  # a compiler was killed while it wrote this: the next test writes it again
        with contextlib.suppress(OSError):
            os.unlink(torn[1])
        out.update(kind="infra", detail="a library in the cache is not whole: " + message[:300])
    elif isinstance(e, MemoryError) or NO_MEMORY.search(full):
        stack = stack_of(e)
        compiler = re.search(r"(\w+): out of memory allocating", full)
        out.update(no_memory(phase, compiler[1] if compiler else stack_words(stack), named(stack)[:3], full))
        if phase not in ("compile", "run", "accuracy"):
            out.update(kind="invalid" if phase in ("eager", "trace") else "infra")
    elif gpu:
        out.update(kind="infra", detail=f"{gpu}: {message[:300]}")
    elif isinstance(e, Missing):
        out.update(kind="infra")
    elif phase in ("inputs", "head"):
        out.update(kind="infra", detail=f"while preparing the test ({phase}): {name}: {message[:1000]}")
    elif phase in ("eager", "trace"):
        out.update(kind="invalid", detail=f"{'eager fails' if phase == 'eager' else 'cannot be traced'}: {name}: {message[:1000]}")
    return out


