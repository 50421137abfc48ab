"""What `fxminify -- python app.py` puts before a program, as sitecustomize: keeps the graph that fails, with its real inputs, as a launcher
that fxminify reads. share/jit/after_import.py, compare.py, changes.py and packages.py precede this. pt2utils.save_repro uses the same functions.

    PT2_CATCH_DIR      where everything goes
    PT2_CATCH_COMPARE  compare each call of a compiled graph with the same graph in eager
    PT2_CATCH_CALL     "3:17": keep the inputs of the 17th call of graph 3 (else those of the first call)

What it writes there, with the process id in each name:

    state-PID          what is going on now: "compile 3", "run 3:17", "trace app.py:12 step", "idle": what a process that died, or hangs, was doing
    changes-PID        what the program had changed in torch when a graph was compiled (changes.py), one per line; no file: nothing
    graph-PID-N.py     graph N, with the inputs of a call; its storages are in checkpoints/; graph-PID-N.pt2: the program of a package, exported
    failure-PID.json   the first failure: stage (inductor, dynamo, capture), kind, type, message, graph, unknown (inputs without values), and
                       after_dynamo: the graph that Inductor's was made of, in case that one does not fail alone

It changes no setting of torch. If anything in here fails, the program goes on. Python 3.9, torch 2.6 and newer."""
import os
import sys
import threading

_LARGEST = 1 << 30  # bytes of inputs that are kept before a call, in case it kills the process

_here = threading.local()


class _Graph:
    """One that Inductor compiles. gm: a copy, as Inductor changes its own."""

    def __init__(self, number, gm, fake, real):
        self.gm, self.weights = _lifted(_copy_of(gm))
        self.number, self.fake, self.calls, self.kept = number, [*fake, *self.weights], 0, None
        self.real, self.dynamo = real, None

    def save(self, catch, inputs=None, accuracy=False):
        """A launcher with these inputs, else with those that Dynamo saw. Returns its path and how many have no values."""
        args = list(self.fake) if inputs is None else [*inputs, *self.weights]
        if inputs is None:
            args = _matched(self.fake, self.real)
        path = os.path.join(catch.folder, "graph-%d-%d.py" % (os.getpid(), self.number))
        _write_aot(path, self.gm, args, self.fake, accuracy, catch.folder)
        self.kept = path
        return path, sum(_is_fake(a) for a in args)


def _copy_of(gm):
    import copy

    import torch

    try:
        return torch.fx.GraphModule(gm, copy.deepcopy(gm.graph))
    except Exception:
        return gm


def _lifted(gm):
    """What torch.export keeps in modules of the graph (self.conv.weight), as inputs behind the others, and their values: a launcher has only inputs."""
    import torch

    weights, last = [], None
    for node in list(gm.graph.nodes):
        last = node if node.op == "placeholder" else last
    for node in list(gm.graph.nodes):
        value = _attribute(gm, node.target) if node.op == "get_attr" and "." in node.target else None
        if not isinstance(value, torch.Tensor):
            continue
        with gm.graph.inserting_after(last) if last else gm.graph.inserting_before():
            last = gm.graph.placeholder(node.target.replace(".", "_") + "_1")
        last.meta = dict(node.meta)
        node.replace_all_uses_with(last)
        gm.graph.erase_node(node)
        weights.append(value.detach())
    if weights:
        gm.graph.set_codegen(torch.fx.graph.CodeGen())
        gm.recompile()
        gm = torch.fx.GraphModule(gm, gm.graph)
    return gm, weights


def _attribute(gm, target):
    for name in target.split("."):
        gm = getattr(gm, name, None)
    return gm


def _is_fake(value):
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(value, FakeTensor) or isinstance(value, torch.Tensor) and value.device.type == "meta"


def _like(a, b):
    import torch

    if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
        return False
    if not isinstance(a, torch.Tensor):
        return type(b) in (int, float, bool) or a is b
    return a.dtype == b.dtype and a.dim() == b.dim() and a.device.type == b.device.type and all(
        not isinstance(n, int) or n == m for n, m in zip(a.shape, b.shape))


def _matched(fake, real):
    """The values that Dynamo saw, for the inputs of the graph that AOTAutograd made: in order, each that can be it."""
    out, at = [], 0
    if len(real) == len(fake) and all(map(_like, fake, real)):
        return list(real)
    for f in fake:
        k = next((k for k in range(at, len(real)) if _is_fake(f) and _like(f, real[k])), None)
        out.append(f if k is None else real[k])
        at = at if k is None else k + 1
    return out


def _plain_ints(args):
    """Sizes that were symbols, as numbers."""
    import torch

    return [a.node.hint if isinstance(a, torch.SymInt) and a.node.hint is not None else a for a in args]


def _has_symbols(args):
    import torch

    return any(isinstance(a, torch.SymInt) or isinstance(a, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in a.shape)
               for a in args)


def _imports(gm):
    """Lines that import the modules which define the graph's custom operators."""
    spaces = {str(n.target).split(".")[0] for n in gm.graph.nodes if n.op == "call_function" and "." in str(n.target)}
    spaces -= {"aten", "prims", "prim", "higher_order", "inductor", "torch", "<built-in function getitem>"}
    found = set()
    try:
        from torch._library.custom_ops import OPDEFS

        found = {d._init_fn.__module__ for name, d in OPDEFS.items() if name.split("::")[0] in spaces}
    except Exception:
        pass
    for name, module in list(sys.modules.items()) if spaces and not found else []:  # the user's, which name the operators' library
        path = getattr(module, "__file__", None) or ""
        if path.endswith(".py") and "site-packages" not in path and not path.startswith(sys.base_prefix) and "." not in name:
            with open(path, errors="replace") as f:
                text = f.read()
            if "torch.library" in text and any(s in text for s in spaces):
                found.add(name)
    return "".join("import %s\n" % name for name in sorted(found - {"__main__", "sitecustomize"}))


def _is_importable(value):
    """A function of a module of the program's."""
    module, function = getattr(value, "__module__", "") or "", getattr(value, "__qualname__", "")
    return callable(value) and function.isidentifier() and module.split(".")[0] not in ("", "torch", "__main__", "builtins", "typing")


def _passes():
    """The program's own passes, which torch leaves out of a launcher: settings that are functions of its modules."""
    import torch._inductor.config as config

    out = ""
    for name in list(getattr(config, "_config", None) or dir(config)):
        value = getattr(config, name, None) if "pass" in name and "." not in name else None
        if _is_importable(value):
            out += "import %s\ntorch._inductor.config.%s = %s.%s\n" % (value.__module__, name, value.__module__, value.__qualname__)
    return out


def _subgraphs(gm, text, number):
    """text, which makes a module of these subgraphs, with their classes instead of what torch before 2.14 writes: "<lambda>()". Returns it and the
    classes, which go before it."""
    import re
    import textwrap

    import torch

    classes = ""
    for name, child in gm.named_children():
        lost = re.compile(r"^( *self\.%s = )(?:<lambda>|\S*GraphModule)\(.*\)$" % re.escape(name), re.M)
        if not isinstance(child, torch.fx.GraphModule) or not lost.search(text):
            continue
        number[0] += 1
        own = "%s_%d" % (name, number[0])
        body = "".join("        self.%s = <lambda>()\n" % n for n, _ in child.named_children())
        body, inner = _subgraphs(child, body, number)
        classes += inner + "class %s(torch.nn.Module):\n    def __init__(self) -> None:\n        super().__init__()\n%s\n%s\n\n" % (
            own, body, textwrap.indent(child.code.strip(), "    "))
        text = lost.sub(r"\g<1>%s()" % own, text)
    return text, classes


def _with_subgraphs(text, gm):
    head, start, rest = text.partition("class Repro(torch.nn.Module):")
    rest, classes = _subgraphs(gm, rest, [0])
    return head + classes + start + rest


def _with_imports(text, gm):
    text = _with_subgraphs(text, gm)
    lines, passes = _imports(gm), _passes()
    if passes:
        at = "import torch._inductor.config\n"
        text = text.replace(at, at + passes, 1) if at in text else text.replace("import torch\n", "import torch\n" + at + passes, 1)
    return text.replace("import torch\n", "import torch\n" + lines, 1) if lines else text


def _without_ours(text):
    """The settings of this run are not the program's."""
    return "\n".join(line for line in text.split("\n") if "force_disable_caches" not in line and "FORCE_DISABLE_CACHES" not in line
                     and "PT2_CATCH" not in line)


def _write(path, text):
    with open(path + ".new", "w") as f:
        f.write(text)
    os.replace(path + ".new", path)


def _write_aot(path, gm, args, fake, accuracy, folder):
    import inspect
    import io

    import torch._dynamo.repro.after_aot as after_aot

    how = {"save_dir": os.path.join(folder, "checkpoints"), "command": "run", "accuracy": accuracy, "stable_hash": True,
           "tracing_mode": "symbolic" if _has_symbols(fake) else "real"}
    known = inspect.signature(after_aot.save_graph_repro).parameters
    out = io.StringIO()
    after_aot.save_graph_repro(out, gm, _plain_ints(args), "inductor", **{k: v for k, v in how.items() if k in known})
    _write(path, _with_imports(_without_ours(out.getvalue()), gm))


def _write_dynamo(path, gm, args, accuracy, folder, backend="inductor"):
    import torch._dynamo.repro.after_dynamo as after_dynamo

    text = after_dynamo.generate_dynamo_fx_repro_string(gm, _plain_ints(args), backend, check_accuracy=accuracy,
                                                        save_dir=os.path.join(folder, "checkpoints"))
    _write(path, _with_imports(_without_ours(text), gm))


def _innermost(e):
    for _ in range(8):
        inner = getattr(e, "inner_exception", None) or (e.__cause__ if type(e).__name__ in ("BackendCompilerFailed", "InductorError") else None)
        if not isinstance(inner, BaseException):
            break
        e = inner
    return e


def _poisons(e):
    """A kernel's error, which may be noticed by any later call; after it, nothing on the GPU can be read (reduce/signature.c)."""
    import re

    return re.search(r"(CUDA|HIP) (driver )?error: |Triton Error \[(CUDA|HIP)\]: ", str(e)) is not None and "out of memory" not in str(e)


def _is_restart(e):
    """Dynamo compiles again what it began: no failure."""
    exc = sys.modules.get("torch._dynamo.exc")
    for _ in range(8):
        if e is None or isinstance(e, getattr(exc, "RestartAnalysis", ())):
            break
        e = getattr(e, "inner_exception", None) or e.__cause__
    return e is not None


def _name_of(e):
    t = type(e)
    return t.__qualname__ if t.__module__ == "builtins" else "%s.%s" % (t.__module__, t.__qualname__)


def _message_of(e):
    """Of a compiler's error, the line that says what is wrong."""
    text = str(getattr(e, "output", "")) if hasattr(e, "cmd") else ""
    return next((line.strip() for line in text.splitlines() if " error: " in line), str(e))


def _copies(values):
    import torch

    return [v.detach().clone(memory_format=torch.preserve_format) if isinstance(v, torch.Tensor) else v for v in values]


def _bytes_of(values):
    import torch

    return sum(v.untyped_storage().nbytes() for v in values if isinstance(v, torch.Tensor) and v.layout == torch.strided)


def _compile_id():
    """Of what is compiled now; a backward graph has that of its forward."""
    try:
        from torch._guards import CompileContext

        return str(CompileContext.current_compile_id())
    except Exception:
        return "last"


class Catch:
    def __init__(self, folder, compare=False, call=""):
        self.folder, self.compare = folder, compare
        graph, _, number = call.partition(":")
        self.wanted = (int(graph), int(number or 1)) if graph.isdigit() else None
        self.pid, self.graphs, self.failed, self.state_fd, self.tracing = os.getpid(), 0, False, -1, "idle"
        self.dynamo = {}  # compile id -> graph and inputs of what Dynamo compiled: a backward graph is compiled later

    # ---- what it says ----

    def state(self, text):
        if self.pid != os.getpid():  # forked: its own names
            self.pid, self.state_fd, self.failed = os.getpid(), -1, False
        if self.state_fd < 0:
            self.state_fd = os.open(os.path.join(self.folder, "state-%d" % self.pid), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.pwrite(self.state_fd, text.encode().ljust(300)[:300], 0)

    def fail(self, stage, kind, e=None, message="", graph="", unknown=0, of=None, by="Dynamo"):
        import json
        import time

        if self.failed or _is_restart(e):
            return
        self.failed = True
        e = _innermost(e) if e is not None else None
        found = {"stage": stage, "kind": kind, "type": _name_of(e) if e is not None else kind, "message": (message or _message_of(e))[:4000],
                 "graph": graph, "unknown": unknown, "by": by, "at": time.time()}
        try:
            if of is not None and of.dynamo:
                found["after_dynamo"] = self.save_dynamo(*of.dynamo, accuracy=kind == "accuracy")
        except Exception as mine:
            self.aside(mine)
        _write(os.path.join(self.folder, "failure-%d.json" % os.getpid()), json.dumps(found))

    # ---- Inductor ----

    def after_compile_fx(self, module):
        real, catch = module._compile_fx_inner, self

        def _compile_fx_inner(gm, example_inputs, *args, **kw):
            graph = catch.begins(gm, example_inputs)
            try:
                out = real(gm, example_inputs, *args, **kw)
            except Exception as e:
                catch.compile_failed(graph, e)
                raise
            catch.state(catch.tracing)
            try:
                out._fxminify_graph = graph
            except Exception:
                pass
            return out

        module._compile_fx_inner = _compile_fx_inner

    def begins(self, gm, example_inputs):
        try:
            if self.graphs & (self.graphs - 1) == 0:  # 0.3 s each
                self.look_for_changes()
            self.graphs += 1
            graph = _Graph(self.graphs, gm, list(example_inputs), getattr(_here, "real", []))
            graph.dynamo = self.dynamo.get(_compile_id(), self.dynamo.get("last"))
            # Now, as the compiler may kill the process.
            path = graph.save(self)[0] if _bytes_of(a for a in graph.real if not _is_fake(a)) <= _LARGEST else ""
            self.state("compile %d %s" % (graph.number, path))
            return graph
        except Exception as e:
            self.aside(e)
            return None

    def look_for_changes(self):
        changes = _changes(_is_importable)  # noqa: F821
        if changes:
            _write(os.path.join(self.folder, "changes-%d" % os.getpid()), "".join(c + "\n" for c in changes[:20]))

    def compile_failed(self, graph, e):
        try:
            self.state(self.tracing)
            if graph is not None:
                path, unknown = graph.save(self)
                self.fail("inductor", "raised", e, graph=path, unknown=unknown, of=graph)
        except Exception as mine:
            self.aside(mine)

    def after_output_code(self, module):
        real, catch = module.CompiledFxGraph.__call__, self

        def __call__(self, inputs):
            graph = getattr(self, "_fxminify_graph", None)
            if graph is None or getattr(_here, "inside", False):
                return real(self, inputs)
            return catch.called(graph, lambda given: real(self, given), inputs)

        module.CompiledFxGraph.__call__ = __call__

    def called(self, graph, call, inputs):
        kept, before, path = list(inputs), None, ""
        graph.calls += 1
        self.synchronise()  # an error of what ran before is not this graph's
        try:
            wanted = self.wanted == (graph.number, graph.calls) if self.wanted else graph.calls == 1 and _bytes_of(kept) <= _LARGEST
            if wanted and not self.compare:
                path = graph.save(self, kept)[0]
            if self.compare and not self.failed:
                before = _copies(kept)
            self.state("run %d:%d %s" % (graph.number, graph.calls, path))
        except Exception as e:
            self.aside(e)
        try:
            out = call(inputs)
            self.synchronise()
        except Exception as e:
            try:
                self.state(self.tracing)
                if _poisons(e):  # with what was kept before the call; else its number, for another run to keep that
                    self.fail("inductor", "raised", e, message="" if path else "%d:%d" % (graph.number, graph.calls), graph=path)
                else:
                    path, unknown = graph.save(self, kept)
                    self.fail("inductor", "raised", e, graph=path, unknown=unknown, of=graph)
            except Exception as mine:
                self.aside(mine)
            raise
        self.state(self.tracing)
        if before is not None:
            self.look(graph, before, out)
        return out

    def look(self, graph, before, out):
        _here.inside = True
        try:
            how = _differ(graph.gm, [*before, *graph.weights], out)  # noqa: F821
            if how:
                path, unknown = graph.save(self, before, accuracy=True)
                self.fail("inductor", "accuracy", message=how, graph=path, unknown=unknown, of=graph)
        except Exception as e:
            self.aside(e)
        finally:
            _here.inside = False

    @staticmethod
    def synchronise():
        """A kernel's error is reported by a later call."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.synchronize()

    # ---- Dynamo ----

    def after_convert_frame(self, module):
        """A process that dies, or hangs, while a frame is captured."""
        real, catch = module._compile, self

        def _compile(code, *args, **kw):
            before = catch.tracing
            try:
                catch.tracing = "trace %s:%d %s" % (os.path.basename(code.co_filename).replace(" ", "_")[:30], code.co_firstlineno, code.co_name)
                catch.state(catch.tracing)
            except Exception as e:
                catch.aside(e)
            try:
                return real(code, *args, **kw)
            finally:
                catch.tracing = before
                catch.state(before)

        module._compile = _compile

    def after_output_graph(self, module):
        real, catch = module.OutputGraph.call_user_compiler, self

        def call_user_compiler(self, gm, example_inputs, *args, **kw):
            gm_kept = None
            try:
                holders = [n for n in gm.graph.nodes if n.op == "placeholder"]
                _here.real = [n.meta["grapharg"].example for n in holders]
                gm_kept = _copy_of(gm)
                catch.dynamo[_compile_id()] = catch.dynamo["last"] = (gm_kept, list(_here.real))
            except Exception as e:
                catch.aside(e)
                _here.real = []
            mine = list(_here.real)
            try:
                out = real(self, gm, example_inputs, *args, **kw)
            except Exception as e:
                catch.backend_failed(gm_kept, mine, e)
                raise
            finally:
                _here.real = []
            return catch.compared(gm_kept, out) if catch.compare and gm_kept is not None else out

        module.OutputGraph.call_user_compiler = call_user_compiler

    def save_dynamo(self, gm, inputs, accuracy=False):
        self.graphs += 1
        path = os.path.join(self.folder, "graph-%d-%d.py" % (os.getpid(), self.graphs))
        _write_dynamo(path, gm, inputs, accuracy, self.folder)
        return path

    def backend_failed(self, gm, inputs, e):
        """Of what no graph of Inductor's has: AOTAutograd, or another backend."""
        try:
            if not self.failed and gm is not None:
                self.fail("dynamo", "raised", e, graph=self.save_dynamo(gm, inputs))
        except Exception as mine:
            self.aside(mine)

    def compared(self, gm, compiled):
        """Wrong numbers that no graph of Inductor's shows come from AOTAutograd, or its decompositions."""
        def gradients(inputs, tangents):
            _here.inside = False  # the graph of the backward, compiled now, is compared too
            try:
                out = _gradients(compiled, gm, inputs, tangents)  # noqa: F821
            finally:
                _here.inside = True
            return None if self.failed else out

        def call(*args):
            if self.failed or getattr(_here, "inside", False):
                return compiled(*args)
            before = _leaves(args)  # noqa: F821
            out = compiled(*args)
            if not self.failed:
                _here.inside = True
                try:
                    how, graph, inputs = _differ(gm, before, out), gm, before  # noqa: F821
                    if not how:
                        how, graph, inputs = _gradients_differ(gm, lambda tangents: gradients(before, tangents), before)  # noqa: F821
                    if how:
                        self.fail("dynamo", "accuracy", message=how, graph=self.save_dynamo(graph, inputs, True))
                except Exception as e:
                    self.aside(e)
                finally:
                    _here.inside = False
            return out
        return call

    # ---- the end ----

    def uncaught(self, kind, e, tb):
        """The program ends with this. One that passed through Dynamo, and came from no graph, is a failure of capture."""
        import traceback

        try:
            frames = traceback.extract_tb(tb)
            own = [f for f in frames if "torch" not in f.filename.split(os.sep) and not f.filename.startswith("<")]
            dynamo = [f for f in frames if os.sep.join(("torch", "_dynamo", "")) in f.filename]
            export = [f for f in frames if any(os.sep.join(("torch", name, "")) in f.filename for name in ("export", "_export"))]
            if not self.failed:
                at = "%s:%d" % (own[-1].filename, own[-1].lineno) if own else ""
                capture = (bool(dynamo or export) or type(e).__module__.startswith("torch._dynamo")) and not _poisons(e)
                self.fail("capture" if capture else "program", "raised", e, graph=at, by="torch.export" if export else "Dynamo")
        except Exception as mine:
            self.aside(mine)

    def aside(self, e):
        try:
            import traceback

            with open(os.path.join(self.folder, "catch-%d.txt" % os.getpid()), "a") as f:
                traceback.print_exception(type(e), e, e.__traceback__, file=f)
        except Exception:
            pass


def save_repro(fn, args, kwargs, path, accuracy=False):
    """pt2utils.save_repro: the graphs that Dynamo makes of this call, with their real inputs, one launcher each. fn runs once, in eager, on
    copies of its arguments. Returns the paths."""
    import copy

    import torch

    path = os.path.abspath(path)
    folder, (stem, end) = os.path.dirname(path), os.path.splitext(path)
    fn = getattr(fn, "_torchdynamo_orig_callable", None) or getattr(fn, "_orig_mod", None) or fn
    saved = []

    def backend(gm, example_inputs):
        inputs = [n.meta["grapharg"].example for n in gm.graph.nodes if n.op == "placeholder"]
        to = path if not saved else "%s_%d%s" % (stem, len(saved) + 1, end)
        _write_dynamo(to, _copy_of(gm), inputs, accuracy, folder)
        saved.append(to)
        return gm.forward

    def copied(value):
        if isinstance(value, torch.Tensor):
            new = value.detach().clone(memory_format=torch.preserve_format)
            return new.requires_grad_(value.requires_grad)
        return value

    args, kwargs = torch.utils._pytree.tree_map(copied, (args, kwargs))
    state = copy.deepcopy(fn.state_dict()) if isinstance(fn, torch.nn.Module) else None
    try:
        torch.compile(fn, backend=backend)(*args, **kwargs)
    finally:
        if state is not None:  # buffers that a step changes
            fn.load_state_dict(state)
    return saved


def _guarded(function):
    def after(module):
        try:
            function(module)
        except Exception as e:
            _catch.aside(e)
    return after


if os.environ.get("PT2_CATCH_DIR") and __name__ != "pt2utils._catch":
    _catch = Catch(os.environ["PT2_CATCH_DIR"], bool(os.environ.get("PT2_CATCH_COMPARE")), os.environ.get("PT2_CATCH_CALL", ""))
    sys.meta_path.insert(0, _AfterImport({  # noqa: F821
        "torch._inductor.compile_fx": _guarded(_catch.after_compile_fx),
        "torch._inductor.output_code": _guarded(_catch.after_output_code),
        "torch._dynamo.output_graph": _guarded(_catch.after_output_graph),
        "torch._dynamo.convert_frame": _guarded(_catch.after_convert_frame),
        "torch._inductor": _guarded(lambda module: _keep_packages(_catch, module)),  # noqa: F821
    }))
    _hook = sys.excepthook
    def _excepthook(kind, e, tb):
        _catch.uncaught(kind, e, tb)
        _hook(kind, e, tb)
    sys.excepthook = _excepthook
if __name__ != "pt2utils._catch":
    _next_sitecustomize()  # noqa: F821
