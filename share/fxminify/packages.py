"""Packages of AOTInductor that a program makes and runs: each call is one of a graph (catch.py, which follows this), kept as the exported program with
the inputs of that call. compare.py and changes.py precede it, in one sitecustomize. Python 3.9, torch 2.6 and newer."""


class _Package:
    """What catch.py asks of a graph. module: the exported program, in eager."""

    def __init__(self, number, program):
        self.number, self.program, self.calls, self.dynamo, self.weights = number, program, 0, None, []
        self.spec, self.given, self.graph = None, None, program.graph

    @property
    def gm(self):
        return self

    def __call__(self, *leaves):
        from torch.utils._pytree import tree_unflatten

        args, kwargs = tree_unflatten(list(leaves), self.spec)
        return self.program.module()(*args, **kwargs)

    def save(self, catch, inputs=None, accuracy=False):
        import copy
        import warnings

        import torch

        program = copy.copy(self.program)
        if inputs is not None:
            program._example_inputs = torch.utils._pytree.tree_unflatten(list(inputs), self.spec)
        path = os.path.join(catch.folder, "graph-%d-%d.pt2" % (os.getpid(), self.number))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.export.save(program, path)
        return path, 0


def _keep_packages(catch, module):
    """torch._inductor: the program of each package that is made, and its calls once it is loaded."""
    make, load = module.aoti_compile_and_package, module.aoti_load_package
    made = {}

    def aoti_compile_and_package(exported_program, *args, **kw):
        path = make(exported_program, *args, **kw)
        try:
            catch.graphs += 1
            made[os.path.realpath(path)] = _Package(catch.graphs, exported_program)
        except Exception as e:
            catch.aside(e)
        return path

    def aoti_load_package(path, *args, **kw):
        model = load(path, *args, **kw)
        try:
            package = made.get(os.path.realpath(path))
            if package is not None:
                _watch_calls(catch, type(model))
                model._fxminify_package = package
        except Exception as e:
            catch.aside(e)
        return model

    module.aoti_compile_and_package, module.aoti_load_package = aoti_compile_and_package, aoti_load_package


def _watch_calls(catch, kind):
    real = kind.__call__
    if getattr(real, "_fxminify", False):
        return

    def __call__(self, *args, **kwargs):
        package = getattr(self, "_fxminify_package", None)
        if package is None:
            return real(self, *args, **kwargs)
        from torch.utils._pytree import tree_flatten

        leaves, package.spec = tree_flatten((args, kwargs))
        return catch.called(package, lambda _: real(self, *args, **kwargs), leaves)

    __call__._fxminify = True
    kind.__call__ = __call__
