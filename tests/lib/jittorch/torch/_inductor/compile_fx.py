"""compile_fx: takes the generated text in place of a graph to compile."""
from .codecache import PyCodeCache
from .output_code import BoxedBool, CompiledFxGraph, cudagraph_post_compile  # noqa: F401
from .runtime.compile_tasks import _reload_python_module


def trace_structured(name, metadata_fn=dict, *, payload_fn=lambda: None):
    pass


def compile_fx(model_, path, linemap=()):
    from . import output_code

    mod = _reload_python_module("k" + str(len(PyCodeCache.linemaps)), path)
    PyCodeCache.linemaps[path] = list(zip(*linemap))
    graph = CompiledFxGraph(mod.call, *getattr(model_, "lowered", ()))
    graphs = BoxedBool(True)
    if model_.cudagraphs:
        output_code.cudagraph_post_compile([], graph, graphs)
    return graph
