"""Candidates for the other two questions (candidates.py): what makes it faster, and what makes its numbers right. Settings by how much they turn
off, those first that keep the most; a name that this torch lacks is left out.
"""
import importlib, re

RIGHT = {
    "inductor": """_inductor.config.emulate_precision_casts = True, _inductor.config.pattern_matcher = False, _inductor.config.joint_graph_constant_folding = False,
        _inductor.config.epilogue_fusion = False, _inductor.config.split_reductions = False, _inductor.config.allow_buffer_reuse = False,
        _inductor.config.inplace_buffers = False, _inductor.config.loop_ordering_after_fusion = False, _inductor.config.reorder_for_locality = False,
        _inductor.config.cpp.enable_floating_point_contract_flag = "off", _inductor.config.cpp.enable_tiling_heuristics = False,
        _inductor.config.layout_optimization = False, _inductor.config.comprehensive_padding = False, _inductor.config.max_fusion_size = 1,
        _inductor.config.cpp.simdlen = 1""",
    "aotautograd": "_functorch.config.cse = False, _functorch.config.recompute_views = True, _functorch.config.view_replay_for_aliased_outputs = True",
    "dynamo": "_dynamo.config.automatic_dynamic_shapes = False, _dynamo.config.specialize_int = True, _dynamo.config.inline_inbuilt_nn_modules = False",
}
FAST = """_dynamo.config.automatic_dynamic_shapes = False, _dynamo.config.allow_unspec_int_on_nn_module = True, _inductor.config.freezing = True,
    _inductor.config.cpp_wrapper = True, _inductor.config.max_autotune = True, _inductor.config.coordinate_descent_tuning = True,
    _inductor.config.triton.cudagraphs = True"""


def has_setting(name):
    """Is torch.NAME a setting of this torch?"""
    module, _, path = name.partition(".config.")
    try:
        at = importlib.import_module("torch.%s.config" % module)
        for part in path.split("."):
            at = getattr(at, part)
    except (ImportError, AttributeError):
        return False
    return True


def operators_of(kernel):
    """Those that a kernel's name has: cpp_fused_native_layer_norm_relu_0."""
    import torch
    fused = re.search(r"fused_(.*?)(_\d+)?$", kernel)
    words, out = fused[1].split("_") if fused else [], []
    while words:
        n = next((n for n in range(len(words), 0, -1) if hasattr(torch.ops.aten, "_".join(words[:n]))), 0)
        out += ["_".join(words[:n])] * bool(n)
        words = words[n or 1:]
    return out


class Goals:
    def one_setting(self, text, price=""):
        name = text.partition(" = ")[0]
        if has_setting(name) and "torch.%s =" % name not in self.server.text_of(self.server.main, self.texts):
            module = "torch.%s.config" % name.partition(".config.")[0]
            self.add("setting", text, self.config(["import %s\n" % module, "torch.%s\n" % text]), price=price)

    def goal(self, f):
        self.spots = []
        if f["kind"] == "slow":
            if f.get("compiling"):  # less to compile, before each further try compiles it all
                self.compiled("")
                if not f.get("recompiles"):  # a block that the model repeats is compiled once; sizes that change need dynamic=True first
                    self.out.sort(key=lambda c: c["kind"] != "region")
            for text in FAST.split(","):
                if "triton" not in text or accelerated():
                    self.one_setting(text.strip())
            self.compiled("")
            return self.out
        part, node = f.get("part") or "", f.get("node") or ""
        name, _, value = part.partition("=")
        if name and has_setting("_inductor.config." + name):
            self.one_setting("_inductor.config.%s = %s" % (name, value), "slower: what it turns off")
        for op in dict.fromkeys([node.rstrip("0123456789").rstrip("_")] + operators_of(f.get("kernel") or "")):
            self.fallback(op)
        component = f.get("component") or "inductor"
        for text in self.in_order([text.strip() for text in RIGHT.get(component, RIGHT["inductor"]).split(",")]):
            self.one_setting(text, "slower: what it turns off")
        self.without_inductor()
        return self.out

    def in_order(self, settings):
        """Those without which all before them do not make it right come first; none, if not even all together do."""
        settings = [s for s in settings if has_setting(s.partition(" = ")[0])]
        def right(n):
            lines = ["import torch.%s.config\n" % m for m in dict.fromkeys(s.partition(".config.")[0] for s in settings[:n])] + ["torch.%s\n" % s for s in settings[:n]]
            run = self.server.run({"backend": "as-is", "texts": {**self.texts, **self.config(lines)}, "timeout": 1800})
            why = compare(self.server.ref["steps"], run, self.server.volatile, self.server.rounds)
            self.server.remove(run["folder"])
            return not why
        if not settings or not right(len(settings)):
            return []
        least, enough = 0, len(settings)  # of the first so many, least are too few
        while enough - least > 1:
            half = (least + enough) // 2
            least, enough = (least, half) if right(half) else (half, enough)
        return [settings[enough - 1]] + settings[:enough - 1] + settings[enough:]

    def fallback(self, op):
        """The operator whose kernel is wrong, as eager has it."""
        import torch
        if not op or not hasattr(torch.ops.aten, op) or not hasattr(torch.compiler.config, "cache_key_tag"):
            return
        lines = ["import torch._inductor.lowering\n", "torch._inductor.lowering.make_fallback(torch.ops.aten.%s, override_decomp=True, warn=False)\n" % op,
                 'torch.compiler.config.cache_key_tag = "%s as eager has it"  # else its kernel is taken from the cache\n' % op]
        self.add("fallback", "aten.%s as eager has it" % op, self.config(lines), price="%s is not fused" % op)

    def without_inductor(self):
        """What is compiled, without Inductor."""
        for path in self.files():
            s, changes = self.source(path), []
            for n in ast.walk(s.tree):
                if isinstance(n, ast.Call) and s.seg(n.func) == "torch.compile" and not any(k.arg == "backend" for k in n.keywords):
                    changes.append((n, s.seg(n)[:-1].rstrip(", ") + (", " if n.args or n.keywords else "") + 'backend="aot_eager")'))
                elif isinstance(n, ast.FunctionDef):
                    changes += [(d, 'torch.compile(backend="aot_eager")') for d in n.decorator_list if s.seg(d) == "torch.compile"]
            if changes:
                self.add("setting", 'backend="aot_eager"', {path: s.edit(changes)}, price="Inductor is not used")
