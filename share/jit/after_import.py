"""The first half of each of our sitecustomize files: runs something once a program has imported a module, and the user's sitecustomize.

Nothing is imported before the program imports it, and the user's own sitecustomize runs as usual. Python 3.8 and newer."""
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


class _AfterImport:
    """Finds the modules of `wanted` like any finder, and calls its function once one has run."""

    def __init__(self, wanted):
        self.wanted = wanted

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
                after(module)

            spec.loader.exec_module = exec_module
        return spec


