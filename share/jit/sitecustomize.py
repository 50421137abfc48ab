"""What the live tools (aoti-nanassert, aoti-printer, aoti-checkinputs) put in front of a Python program, as sitecustomize: graphs of
torch.compile are seen, their calls of kernels and operators are looked at (rewrite.py, beside this file).

Nothing is imported before the program imports it, nothing is written but into the tool's folder, no setting of torch is changed, and a
sitecustomize of the user's own runs as it would. Where anything fails the program is left as it is, and the tool is told so.

    torch._inductor.runtime.compile_tasks   its compile() becomes ours: between a generated text on disk and the interpreter
    torch._inductor.output_code             which modules the program runs (autotuning runs modules, too); CUDA graphs are taken out
    torch._inductor.compile_fx              the program's own names of a graph's inputs
    torch.optim.optimizer                   with --step: when a step has ended
    torch.fx.graph_module, torch._dynamo.backends.debugging    graphs that run node by node (nodes.py, beside this file)

torch 2.6 and newer: in older ones compile() is called elsewhere. Python 3.9 and newer."""
import os
import sys


def _next_sitecustomize():
    import importlib.machinery
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class _Rewrite:
    """rewrite.py and nodes.py, when they are needed for the first time; they are no module that anybody could import by its name."""

    module = None

    def __getattr__(self, name):
        if _Rewrite.module is None:
            import types

            module = types.ModuleType("_pt2_rewrite")
            for part in ("rewrite.py", "nodes.py"):
                path = os.path.join(os.path.dirname(os.path.abspath(__file__)), part)
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                exec(compile(text, path, "exec"), module.__dict__)
            _Rewrite.module = module
        return getattr(_Rewrite.module, name)


_rewrite = _Rewrite()


class _AfterImport:
    """Looks for the modules of `wanted` as all others do, and has its function called when one has been run."""

    wanted = {
        "torch._inductor.runtime.compile_tasks": lambda m: _rewrite.after_compile_tasks(m),
        "torch._inductor.output_code": lambda m: _rewrite.after_output_code(m),
        "torch._inductor.compile_fx": lambda m: _rewrite.after_compile_fx(m),
        "torch.optim.optimizer": lambda m: _rewrite.after_optimizer(m),
        "torch.fx.graph_module": lambda m: _rewrite.after_graph_module(m),
        "torch._dynamo.backends.debugging": lambda m: _rewrite.after_backends(m),
    }

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        after, run = self.wanted.pop(name), getattr(spec.loader, "exec_module", None)
        if run is not None:

            def exec_module(module):
                run(module)
                try:
                    after(module)
                except Exception as e:  # the program is not to notice
                    _aside("graphs of torch.compile are not watched: %s: %s" % (type(e).__name__, e))

            spec.loader.exec_module = exec_module
        return spec


def _aside(text):
    try:
        import ctypes

        ctypes.PyDLL(None).pt2_jit_aside(text.encode()[:900])
    except Exception:
        pass


if os.environ.get("PT2_PROBE_DIR"):
    sys.meta_path.insert(0, _AfterImport())
_next_sitecustomize()
