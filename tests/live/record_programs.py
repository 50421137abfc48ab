"""Run programs as a user would, many in little time: `record_programs.py OUT PROGRAM.py...`, with the Python whose torch is asked.

torch is imported once; each program runs in a child that is forked from there, as __main__ in a folder OUT/NAME/ of its own, which then
holds `trace` (its structured traces, a file a process), `stderr` and `status` (Python's: negative for a signal)."""
import os, resource, signal, sys, traceback

import torch
import torch._dynamo
import torch._inductor.compile_fx  # noqa: F401  what every program would import again
import torch._logging._internal as torch_logging

LIMIT = 900  # seconds that a program may take; then it alone is killed


def child(path, out):
    """Never returns."""
    os.chdir(out)
    with open("stderr", "wb") as f:
        os.dup2(f.fileno(), 2)
    os.dup2(os.open("stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.update(TORCH_TRACE=out + "/trace", OUT=out)  # for processes that it starts
    execute(path, [])


def execute(path, arguments):
    """As `python PATH ARGUMENTS` does, with what is imported already. Never returns."""
    torch_logging.LOG_TRACE_HANDLER.root_dir = os.environ["TORCH_TRACE"]
    sys.argv = [path, *arguments]
    sys.path.insert(0, os.path.dirname(path))
    main = type(sys)("__main__")
    main.__file__ = path
    sys.modules["__main__"] = main
    status = 0
    try:
        with open(path) as f:
            exec(compile(f.read(), path, "exec"), main.__dict__)
    except SystemExit as e:
        status = e.code or 0
    except BaseException as e:
        traceback.print_exception(type(e), e, e.__traceback__.tb_next)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def run(path, out):
    os.makedirs(out + "/trace", exist_ok=True)
    pid = os.fork()
    if pid == 0:
        child(os.path.abspath(path), os.path.abspath(out))
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.alarm(LIMIT)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    signal.alarm(0)
    with open(out + "/status", "w") as f:
        print(code, file=f)
    return code


def main():
    folder, programs = sys.argv[1], sys.argv[2:]
    for p in programs:
        name = os.path.splitext(os.path.basename(p))[0]
        print(f"{name} {run(p, os.path.join(folder, name))}", flush=True)


if __name__ == "__main__":
    main()
