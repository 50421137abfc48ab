"""A program that changes torch, up to its first compile: what a graph of it needs to fail. fxminify writes this file, with the program's
name and arguments, after files.py; importing it runs the program, whose compile never begins."""
import contextlib
import os
import sys
import types

FILE = @FILE@
ARGS = @ARGS@
FOLDER = @FOLDER@  # where it was started


class _FirstCompile(BaseException):
    pass


def _stop(*args, **kwargs):
    raise _FirstCompile


@contextlib.contextmanager
def _without_compiles():
    import torch._dynamo.output_graph
    import torch._inductor.compile_fx as compile_fx

    places = [(torch._dynamo.output_graph.OutputGraph, "call_user_compiler")]
    places += [(compile_fx, n) for n in ("compile_fx", "compile_fx_inner", "_compile_fx_inner", "compile_fx_aot") if hasattr(compile_fx, n)]
    before = [(of, name, getattr(of, name)) for of, name in places]
    for of, name in places:
        setattr(of, name, _stop)
    try:
        yield
    finally:
        for of, name, real in before:
            if getattr(of, name) is _stop:  # else the program's own is there
                setattr(of, name, real)


def _run():
    import torch

    main, threads = types.ModuleType("__main__"), torch.get_num_threads()
    main.__file__, main.__builtins__ = FILE, __builtins__
    was, argv = sys.modules["__main__"], sys.argv
    sys.modules["__main__"], sys.argv = main, [FILE, *ARGS]
    sys.path.insert(0, os.path.dirname(FILE))
    find_files(FOLDER)  # noqa: F821
    try:
        with open(FILE) as f, open(os.devnull, "w") as nowhere, _without_compiles(), contextlib.redirect_stdout(nowhere):
            exec(compile(f.read(), FILE, "exec", dont_inherit=True), main.__dict__)
    except KeyboardInterrupt:
        raise
    except BaseException:  # the first compile, or its own end
        pass
    finally:
        sys.modules["__main__"], sys.argv = was, argv
        torch.set_num_threads(threads)
        torch._dynamo.reset()
    return main


program = _run()
