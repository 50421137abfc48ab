"""What a program changes in torch: functions, methods and tables of torch's compiler that lead to the program's own code. A graph that is
replayed elsewhere lacks them. jit/after_import.py precedes this and catch.py follows it, in one sitecustomize. Python 3.9, torch 2.6 and newer."""

_COMPILER = ("torch._inductor", "torch._dynamo", "torch._functorch", "torch._decomp", "torch._refs", "torch._prims", "torch._meta_registrations",
             "torch._higher_order_ops", "torch._subclasses", "torch.fx", "torch.nn.functional", "torch._tensor")


def _is_programs(path):
    path = os.path.abspath(path or "<")
    outside = (sys.base_prefix, sys.prefix, os.path.dirname(os.path.abspath(__file__)))
    return path.endswith(".py") and not any(path.startswith(p + os.sep) for p in outside) and not any(
        p in ("site-packages", "dist-packages", "torch") for p in path.split(os.sep))


def _place_in_program(value):
    """"bench.py:7" of a function of the program's, also if torch wrapped it; "" of any other value."""
    import functools
    import types

    for _ in range(8):
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            value = value.__func__
        code = vars(value).get("__code__") if isinstance(value, type) else getattr(value, "__code__", None)
        if isinstance(code, types.CodeType) and _is_programs(code.co_filename):
            return "%s:%d" % (os.path.basename(code.co_filename), code.co_firstlineno)
        value = None if isinstance(value, type) else getattr(value, "__wrapped__", None)
        if value is None:
            break
    return ""


def _of_torch(key):
    return type(key).__name__ in ("OpOverload", "OpOverloadPacket") and str(key).split(".")[0] in ("aten", "prims", "inductor", "quantized")


def _members(name, module):
    """(name, value) of what can be replaced."""
    for attr, value in list(vars(module).items()):
        if isinstance(value, dict):
            for key, entry in list(value.items()):
                if _of_torch(key):
                    yield "%s.%s[%s]" % (name, attr, key), entry
        elif isinstance(value, type):
            if getattr(value, "__module__", "") == name:
                for key, entry in list(vars(value).items()):
                    yield "%s.%s.%s" % (name, attr, key), entry
        elif callable(value):
            yield "%s.%s" % (name, attr), value


def _passes_of_objects(own):
    """Settings of Inductor that are objects of the program's, or functions that no import finds: (name, value). own: such are kept as a line."""
    config = sys.modules.get("torch._inductor.config")
    for name in list(getattr(config, "_config", None) or ()):
        value = getattr(config, name, None) if "." not in name else None
        if callable(value) and not isinstance(value, type) and not own(value):
            yield "torch._inductor.config." + name, value if hasattr(value, "__code__") else type(value).__call__


def _changes(own):
    """["torch._inductor.lowering.lowerings[aten.exp.default] (app.py:9)"]: each function of the program's once."""
    found = {}

    def add(name, value):
        place = _place_in_program(value)
        if place and place not in found:
            found[place] = "%s (%s)" % (name, place)

    for name, module in sorted(sys.modules.items(), key=lambda pair: len(pair[0])):
        if module is not None and name.startswith(_COMPILER) and name != "torch._inductor.config" and getattr(module, "__name__", "") == name:
            if _is_programs(getattr(module, "__file__", None)):  # generated code: torch._inductor.runtime.compile_tasks.*
                continue
            for member, value in _members(name, module):
                add(member, value)
    for member, value in _passes_of_objects(own):
        add(member, value)
    return list(found.values())
