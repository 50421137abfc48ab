"""One try, in a forked child: the user's program with other texts in place of its files, and a compiler that only goes as far as asked.

  - Texts are replaced in memory under their real paths: __main__ by compile(text, path), imports by SourceFileLoader.get_code, and linecache
    shows them (mtime None: never read again), so that __file__, relative imports, data and Dynamo's stacks stay as they are.
  - The backend: "off" (torch.compile returns what it gets), "eager" and "aot_eager" (counted), "as-is" (the program's own).
  - A step is a visit of a statement that made an outermost compiled call in the first eager run. The counter is put in front of it in the
    syntax tree, so lines stay the same, and the end after N steps is at the same place whatever is compiled.
"""
import ast, builtins, contextlib, importlib.machinery, io, linecache, os, sys, time, traceback, types, weakref


class Stop(BaseException):
    """N steps are done."""


class Both(io.TextIOBase):
    """A standard stream: to its file, and line by line to the list that has both in order."""
    def __init__(self, letter, out, order, real):
        self.letter, self.out, self.order, self.rest, self.real = letter, out, order, "", real

    encoding, errors = "utf-8", "replace"
    closed = False

    @property
    def buffer(self):
        return self.real.buffer

    def fileno(self):
        return self.real.fileno()

    def isatty(self):
        return False

    def writable(self):
        return True

    def write(self, text):
        self.real.write(text)
        *lines, self.rest = (self.rest + text).split("\n")
        if len(self.order) < 100000:
            self.order.extend(self.letter + l for l in lines)
        return len(text)

    def flush(self):
        self.real.flush()

    def finish(self):
        if self.rest:
            self.order.append(self.letter + self.rest)
            self.rest = ""


class Program:
    """request: main (path), module (of -m; or None), args, texts, backend, limit (steps; 0: the whole program), sites {path: [lines]}, probes
    {path: [(line, [expression])]}, own_limit (the program's own recompile limit)."""

    def __init__(self, request, folder):
        self.r, self.folder = request, folder
        self.backend, self.limit = request["backend"], request.get("limit", 0)
        self.calls = self.ops = self.outer_calls = self.depth = self.graphs = 0
        self.hits, self.steps, self.outer, self.where, self.times = 0, [], [], [], []
        self.order, self.types = [], {}
        self.compiled, self.optimizers = [], []
        self.cuda = False

    # ---- texts ----

    def instrument(self, path, text):
        """The code of a file, with a counter before each step, and probes for the types of expressions."""
        tree = ast.parse(text, path)
        lines = set(self.r.get("sites", {}).get(path, ()))
        probes = {}
        for line, exprs in self.r.get("probes", {}).get(path, ()):
            probes.setdefault(line, []).extend(exprs)
        if lines or probes:
            for node in ast.walk(tree):
                for field in ("body", "orelse", "finalbody"):
                    body = getattr(node, field, None)
                    if not isinstance(body, list):
                        continue
                    new = []
                    for statement in body:
                        if statement.lineno in probes:
                            new += self.probe(path, statement, probes.pop(statement.lineno))
                        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef, ast.For, ast.While, ast.With, ast.If,
                                                      ast.Try)):
                            found = [l for l in lines if statement.lineno <= l <= statement.end_lineno]
                        else:  # only its head: "for y in fast(x):", "if fast(x) > 0:"
                            found = [l for l in lines if statement.lineno <= l < statement.body[0].lineno]
                            if isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                                found = []
                        if found:
                            lines.difference_update(found)
                            call = ast.Expr(ast.Call(ast.Name("__pt2_step__", ast.Load()), [], []))
                            new.append(ast.fix_missing_locations(ast.copy_location(call, statement)))
                        new.append(statement)
                    body[:] = new
        return compile(tree, path, "exec", dont_inherit=True)

    @staticmethod
    def probe(path, statement, exprs):
        out = []
        for e in exprs:
            text = "__pt2_probe__(%r, lambda: (%s))" % ("%s:%d:%s" % (path, statement.lineno, e), e)
            node = ast.parse(text).body[0]
            for n in ast.walk(node):
                if hasattr(n, "lineno"):
                    n.lineno = n.end_lineno = statement.lineno
            out.append(node)
        return out

    def replace_texts(self):
        texts = self.r["texts"]
        for path, text in texts.items():
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        real = importlib.machinery.SourceFileLoader.get_code
        others = set(self.r.get("sites", {})) | set(self.r.get("probes", {}))

        def get_code(loader, fullname):
            path = os.path.abspath(loader.get_filename(fullname))
            if path in texts:
                return self.instrument(path, texts[path])
            if path in others:
                with open(path) as f:
                    return self.instrument(path, f.read())
            return real(loader, fullname)
        importlib.machinery.SourceFileLoader.get_code = get_code
        sys.dont_write_bytecode = True

    # ---- steps and values ----

    def step(self):
        if self.depth:
            return
        if self.limit and self.hits >= self.limit:
            raise Stop
        self.hits += 1
        self.times.append(self.now())
        self.note_parameters()
        self.times.append(self.now())  # what was noted is not the program's time

    def now(self):
        """Processor time, with that of compilers; with a GPU the clock's."""
        torch = sys.modules["torch"]
        if self.cuda or torch.cuda.is_initialized():
            torch.cuda.synchronize()
            return time.perf_counter()
        children = os.times()
        return time.process_time() + children.children_user + children.children_system

    def clock(self):
        """Seconds of a step once all is compiled (the median of the last half), and what the steps before took more than that."""
        self.times.append(self.now())
        steps = [b - a for a, b in zip(self.times[1::2], self.times[2::2])]
        if len(steps) < 2:
            return {"step": 0.0, "compile": sum(steps)}
        sorted_ = sorted(steps[len(steps) // 2:])
        step = sorted_[len(sorted_) // 2]
        return {"step": step, "compile": sum(max(0.0, t - step) for t in steps if t > 3 * step)}

    def note_parameters(self):
        import torch
        sums = []
        with torch.no_grad():
            for o in self.optimizers:
                o = o()
                if o is not None:
                    sums.append([of_tensor(p)[:2] for g in o.param_groups for p in g["params"]])
        self.steps.append(sums)

    def probed(self, key, get):
        if key not in self.types:
            try:
                value = get()
                self.types[key] = describe_type(value)
            except Exception:
                self.types[key] = ""

    def note_outer(self, result):
        self.outer_calls += 1
        if len(self.outer) < 400:
            self.outer.append(flat(result))

    def caller(self):
        """The user's statement that made this call: the innermost frame that is not torch's or ours."""
        f = sys._getframe(2)
        mine = (os.path.abspath(__file__), os.path.dirname(os.path.abspath(__import__("torch").__file__)))
        while f is not None and f.f_code.co_filename.startswith(mine):
            f = f.f_back
        return (f.f_code.co_filename, f.f_lineno) if f is not None else None

    def wrap(self, call):
        """An outermost compiled call."""
        program = self
        import torch

        def outermost(*args, **kwargs):
            if program.depth or torch.compiler.is_compiling():
                return call(*args, **kwargs)
            if not program.r.get("sites"):
                if program.limit and program.outer_calls >= program.limit:
                    raise Stop
                program.note_parameters()
                program.where.append(program.caller())
            program.depth += 1
            try:
                result = call(*args, **kwargs)
            finally:
                program.depth -= 1
            program.note_outer(result)
            return result
        try:
            from torch._dynamo.eval_frame import skip_code
            skip_code(outermost.__code__)  # this frame is not the program's: Dynamo leaves it and compiles what it calls
        except ImportError:
            pass
        try:
            outermost.__dict__.update(call.__dict__)
            outermost.__name__, outermost.__qualname__, outermost.__doc__ = call.__name__, call.__qualname__, call.__doc__
            outermost.__wrapped__ = call
        except AttributeError:
            pass
        return outermost

    # ---- the compiler ----

    def counting(self):
        from torch._dynamo.backends.registry import lookup_backend
        inner = lookup_backend("aot_eager") if self.backend == "aot_eager" else None

        def backend(gm, example_inputs, **kwargs):
            n = sum(node.op.startswith("call") for node in gm.graph.nodes)
            forward = inner(gm, example_inputs) if inner else gm.forward
            self.graphs += 1

            def run(*args):
                self.calls += 1
                self.ops += n
                return forward(*args)
            return run
        return backend

    def replace_compile(self):
        import torch
        real, backend = torch.compile, "eager" if self.backend == "off" else self.counting() if self.backend != "as-is" else None

        def arguments(kwargs):
            if self.backend != "as-is":
                if not (callable(kwargs.get("backend")) and getattr(kwargs["backend"], "__module__", "").partition(".")[0] != "torch"):
                    kwargs["backend"] = backend
                kwargs.pop("mode", None)
                kwargs.pop("options", None)
            return kwargs

        def compile(model=None, *args, **kwargs):
            if model is None:
                return lambda m: compile(m, *args, **kwargs)
            self.compiled.append(model)
            out = real(model, *args, **arguments(kwargs))
            return out if isinstance(out, torch.nn.Module) else self.wrap(out)
        torch.compile = compile

        def module_compile(module, *args, **kwargs):
            self.compiled.append(module)
            module._compiled_call_impl = self.wrap(real(module._call_impl, *args, **arguments(kwargs)))
        torch.nn.Module.compile = module_compile
        optimized = torch._dynamo.eval_frame.OptimizedModule
        call = optimized.__call__

        def module_call(module, *args, **kwargs):
            return self.wrap(lambda *a, **k: call(module, *a, **k))(*args, **kwargs)
        optimized.__call__ = module_call

        init = torch.optim.Optimizer.__init__

        def noted(optimizer, *args, **kwargs):
            init(optimizer, *args, **kwargs)
            self.optimizers.append(weakref.ref(optimizer))
        torch.optim.Optimizer.__init__ = noted

    def settings(self):
        import torch._dynamo.config as config
        if self.backend in ("eager", "aot_eager") and not self.r.get("own_limit"):
            for name in ("recompile_limit", "cache_size_limit"):  # else the limit hides breaks: frames are no longer compiled
                if hasattr(config, name):
                    setattr(config, name, 64)
                    break
            for name in ("accumulated_recompile_limit", "accumulated_cache_size_limit"):
                if hasattr(config, name):
                    setattr(config, name, 512)
                    break
        if self.backend == "off":  # what is compiled is the same kind of object as ever, and runs as it was written
            import torch
            if hasattr(torch.compiler, "set_stance"):
                torch.compiler.set_stance("force_eager")
            else:  # before torch 2.6
                config.disable = True
        if self.backend == "as-is":
            import torch._inductor.config as inductor
            inductor.fallback_random = True  # the same random numbers as eager
            import torch._inductor.codecache as codecache
            if hasattr(codecache, "_HEADER_DIR"):  # precompiled headers, else in /tmp, of which each try has a copy: made once, not by each
                codecache._HEADER_DIR = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "precompiled_headers")
                codecache._HEADER_LOCK_DIR = os.path.join(codecache._HEADER_DIR, "locks")
            if self.r.get("cold"):  # what an earlier try compiled is compiled again
                os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(self.folder, "cold")
        try:
            import torch._dynamo.guards as guards
            guards.profile_guard_manager = lambda *a, **k: 0.0  # it times each guard: half a second a compilation
        except (ImportError, AttributeError):
            pass

    # ---- all of it ----

    def run(self):
        """A dict as values.py compares it, and counts."""
        import torch
        began = time.monotonic()
        self.replace_texts()
        self.seed()
        self.settings()
        self.replace_compile()
        builtins.__pt2_step__ = self.step
        builtins.__pt2_probe__ = self.probed
        out = Both("o", 1, self.order, io.TextIOWrapper(io.FileIO(1, "w", closefd=False), line_buffering=True, errors="replace"))
        err = Both("e", 2, self.order, io.TextIOWrapper(io.FileIO(2, "w", closefd=False), line_buffering=True, errors="replace"))
        sys.stdout, sys.stderr = out, err
        main = self.r["main"]
        module = types.ModuleType("__main__")
        module.__file__, module.__builtins__ = main, builtins
        if self.r.get("module"):
            package = self.r["module"].rpartition(".")[0] if os.path.basename(main) != "__main__.py" else self.r["module"].removesuffix(".__main__")
            module.__package__ = package
            sys.path.insert(0, os.getcwd())
        else:
            sys.path.insert(0, os.path.dirname(main))
        sys.modules["__main__"] = module
        sys.argv = [main] + self.r["args"]
        frames, error = {}, ""
        try:
            if self.r.get("module") and module.__package__:
                __import__(module.__package__)
            with wide_mode() if self.r.get("wide") else contextlib.nullcontext():
                exec(self.instrument(main, self.r["texts"][main]), module.__dict__)
            status = "exit 0"
        except Stop as e:
            status = "stopped"
            t = e.__traceback__
            while t is not None:  # locals of main(): what is not at the top level of a module
                if t.tb_frame.f_code.co_filename in self.r["texts"] and t.tb_frame.f_code.co_name != "<module>":
                    frames.update({t.tb_frame.f_code.co_name + "." + k: v for k, v in t.tb_frame.f_locals.items() if not k.startswith("_")})
                t = t.tb_next
        except SystemExit as e:
            status = "exit %s" % (0 if e.code is None else e.code if isinstance(e.code, int) else 1)
        except BaseException as e:
            status = "raised " + type(e).__name__
            error = "".join(traceback.format_exception(type(e), e, e.__traceback__))
        clock = self.clock()
        out.finish()
        err.finish()
        if error:
            err.real.write(error)
        state = self.state(module, frames)
        for s in (out, err):
            try:
                s.flush()
            except Exception:
                pass
        handler = getattr(torch._logging._internal, "LOG_TRACE_HANDLER", None)
        if handler is not None and getattr(handler, "stream", None):
            handler.flush()
        return {"status": status, "steps": self.steps, "outer": self.outer, "state": state, "text": self.order, "types": self.types,
                "where": self.where, "error": error[-4000:], "clock": clock,
                "counts": {"calls": self.calls, "ops": self.ops, "outer": self.outer_calls, "graphs": self.graphs, "steps": self.hits},
                "seconds": time.monotonic() - began, "cpu": sum(os.times()[:2])}

    def seed(self):
        import random
        import torch
        torch.manual_seed(0)
        random.seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)

    def state(self, main, frames):
        """Variables of the user's modules, what was compiled, and the locals of the functions that were left at the end."""
        import torch
        out = {}
        def keep(name, value):
            if isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)):
                return
            try:
                f = scalars(value)
            except Exception:
                f = []
            if f:
                out[name] = f
        for name, value in list(main.__dict__.items()):
            if not name.startswith("_"):
                keep(name, value)
        for m in list(sys.modules.values()):
            path = getattr(m, "__file__", None)
            if path in self.r["texts"] and m is not main:
                for name, value in list(vars(m).items()):
                    if not name.startswith("_"):
                        keep(m.__name__ + "." + name, value)
        for name, value in frames.items():
            keep(name, value)
        for i, c in enumerate(self.compiled[:50]):
            if isinstance(c, torch.nn.Module) and not self.r.get("region"):
                keep("compiled module %d (%s)" % (i + 1, type(c).__name__), c)
        return out


def wide_mode():
    """Each operation in float64, its result as narrow as it was: an eager run that only rounds once an operation."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_flatten, tree_map
    narrow = (torch.float16, torch.bfloat16, torch.float32)
    is_narrow = lambda t: isinstance(t, torch.Tensor) and t.dtype in narrow

    class Wide(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            schema = func._schema
            given = [t.dtype for t in tree_flatten((args, kwargs))[0] if is_narrow(t)]
            if not given or schema.is_mutable or "dtype" in kwargs or any(r.alias_info for r in schema.returns) or torch.Tag.nondeterministic_seeded in func.tags:
                return func(*args, **kwargs)
            wider = lambda t: t.double() if is_narrow(t) else t
            dtype = max(given, key=lambda d: torch.finfo(d).bits)
            try:
                out = func(*tree_map(wider, args), **tree_map(wider, kwargs))
            except Exception:
                return func(*args, **kwargs)
            return tree_map(lambda t: t.to(dtype) if isinstance(t, torch.Tensor) and t.dtype == torch.float64 else t, out)
    return Wide()


def describe_type(value):
    """"Tensor:float", "int", ..."""
    import torch
    if isinstance(value, torch.Tensor):
        return "Tensor:float" if value.dtype.is_floating_point or value.dtype.is_complex else "Tensor:bool" if value.dtype == torch.bool else "Tensor:int"
    if isinstance(value, torch.nn.Module):
        return "Module"
    if isinstance(value, (list, tuple)) and value and all(type(v) is int for v in value):
        return "List[int]"
    return type(value).__name__
