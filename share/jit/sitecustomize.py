"""What the live tools (aoti-nanassert, aoti-printer, aoti-checkinputs) put before a Python program, as sitecustomize: it sees graphs of
torch.compile and watches their calls of kernels and operators (rewrite.py, next to this file; after_import.py precedes this).

It writes only to the tool's directory, and changes no setting of torch. If anything fails, the program is left alone, and the tool is notified.

    torch._inductor.runtime.compile_tasks   its compile() becomes ours: between a generated text on disk and the interpreter
    torch._inductor.output_code             which modules the program runs (autotuning runs modules, too); CUDA graphs are taken out
    torch._inductor.runtime.triton_lazy_compile     with cpp_wrapper: the first call of each Triton kernel
    torch._inductor.compile_fx              the program's own names of a graph's inputs
    torch.optim.optimizer                   with --step: when a step has ended
    torch.amp.grad_scaler                   when a GradScaler skips a step (scaler.py, beside this file)
    torch.fx.graph_module, torch._dynamo.backends.debugging    graphs that run node by node (nodes.py, beside this file)

torch 2.6 and newer: in older ones compile() is called elsewhere. Python 3.9 and newer."""
import os
import sys


class _Rewrite:
    """Loads rewrite.py, nodes.py, scaler.py and foreach.py when first needed; they cannot be imported by name."""

    module = None

    def __getattr__(self, name):
        if _Rewrite.module is None:
            import types

            module = types.ModuleType("_pt2_rewrite")
            for part in ("rewrite.py", "nodes.py", "scaler.py", "foreach.py"):
                path = os.path.join(os.path.dirname(os.path.abspath(__file__)), part)
                with open(path, encoding="utf-8") as f:
                    text = f.read()
                exec(compile(text, path, "exec"), module.__dict__)
            _Rewrite.module = module
        return getattr(_Rewrite.module, name)


_rewrite = _Rewrite()


def _aside(text):
    try:
        import ctypes

        ctypes.PyDLL(None).pt2_jit_aside(text.encode()[:900])
    except Exception:
        pass


def _after(name):
    """rewrite.py's function of that name, hidden from the program."""
    def after(module):
        try:
            getattr(_rewrite, name)(module)
        except Exception as e:
            _aside("graphs of torch.compile are not watched: %s: %s" % (type(e).__name__, e))
    return after


if os.environ.get("PT2_PROBE_DIR"):
    sys.meta_path.insert(0, _AfterImport({  # noqa: F821
        "torch._inductor.runtime.compile_tasks": _after("after_compile_tasks"),
        "torch._inductor.output_code": _after("after_output_code"),
        "torch._inductor.runtime.triton_lazy_compile": _after("after_lazy_compile"),
        "torch._inductor.compile_fx": _after("after_compile_fx"),
        "torch.optim.optimizer": _after("after_optimizer"),
        "torch.amp.grad_scaler": _after("after_grad_scaler"),
        "torch.distributed.fsdp.sharded_grad_scaler": _after("after_grad_scaler"),
        "torch.fx.graph_module": _after("after_graph_module"),
        "torch._dynamo.backends.debugging": _after("after_backends"),
    }))
_next_sitecustomize()  # noqa: F821
