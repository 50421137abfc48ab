#!/usr/bin/env python3
"""Records tests/field/NAME/input.txt from the programs in tests/field/programs.

    for v in 211 213 215; do /path/to/torch$v/bin/python tests/field/record.py $v [NAME...]; done
    tests/field/record.py dress

The first line of a program is "# FILE | RELEASE | SETTINGS": the name it runs under, the torch release it needs, and the environment that its
user had set (TORCH_LOGS=..., TRACE=1 for a structured trace, TRACE=cut for one that ends too early, WRAP=python.h for a C++ compiler without
Python's headers). torch is imported once; every program runs in a child of its own, its standard output and error are kept as a terminal shows them.
Paths of the recording machine become /home/user/...
"""
import getpass
import glob
import hashlib
import lzma
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))


def settings_of(path):
    with open(path) as f:
        head = f.readline().lstrip("# ").rstrip("\n").split(" | ")
    env = dict(x.split("=", 1) for x in head[2].split(";")) if len(head) > 2 else {}
    return head[0], head[1], env


def clean(text, room):
    text = text.replace(os.path.realpath(sys.prefix), "/home/user/venv").replace(sys.prefix, "/home/user/venv")
    text = text.replace(room + "/app", "/home/user/app").replace(room, "/tmp")
    text = re.sub(r"/[^\s\"']*/lib/python3\.(\d+)/(?!site-packages)", r"/usr/lib/python3.\1/", text.replace("/home/user/venv/lib", "@V@"))
    text = text.replace("@V@", "/home/user/venv/lib").replace("torchinductor_" + getpass.getuser(), "torchinductor_user")
    text = text.replace(HERE, "/home/user")
    text = text.replace(os.path.realpath(sys.base_prefix), "/usr")
    text = re.sub(r'  File "/home/user/record.py".*\n    .*\n( *\^*\n)?', "", text)
    text = re.sub(r"(?<![\w/])(\w*)/field-\w+/app/", "ome/user/app/", text)
    return text.replace("/tmp/field-ep.pt2", "/home/user/app/model.pt2")


def rehash(log):
    """A payload's lines begin with a tab; its MD5 is in the line before. The last of a cut log is as it is."""
    def head(m):
        payload = m[4][1:-1].replace("\n\t", "\n")
        return m[1] + hashlib.md5(payload.encode(errors="surrogateescape")).hexdigest() + m[3] + m[4]
    return re.sub(r'^([^\t\n].*"has_payload": ?")([0-9a-f]{32})(".*\n)((?:\t.*\n)+)', head, log, flags=re.M)


def notebook(text):
    """The same traceback as IPython prints it in a cell."""
    out, lines = ["-" * 75], text[text.rindex("Traceback (most recent call last):"):].splitlines()[1:]
    kind = next(x for x in lines if re.match(r"[\w.]+: ", x)).split(":")[0].split(".")[-1]
    out.append(f"{kind:42}Traceback (most recent call last)")
    for x in lines:
        frame = re.match(r'  File "(.*)", line (\d+), in (.*)', x)
        if frame:
            path, n, f = frame.groups()
            own = path.startswith("/home/user/app/")
            out += ["" if len(out) > 2 else None, f"Cell In[3], line {n}" + (f", in {f}" if f != "<module>" else "") if own else f"File {path.replace('/home/user', '~')}:{n}, in {f}(*args, **kwargs)"]
        elif re.match(r"    [^ ]", x):
            out.append(f"---> {n} {x.strip()}")
        elif not re.fullmatch(r" +[\^~]+ *", x):
            last = re.match(r"(?:[\w]+\.)*(" + kind + ":.*)", x)
            out += ["", last.group(1)] if last else [x]
    return "\n".join(x for x in out if x is not None) + "\n"


def prefixed(prefix):
    return lambda text: "".join(prefix + x + "\n" for x in text.splitlines())


# The same failures in what people paste them from: input, the recorded one, what is done to it.
DRESSES = {
    "nb-exp-slice": ("exp-slice", notebook),
    "nb-no-python-h": ("no-python-h", notebook),
    "mail-shapes-mm": ("shapes-mm", prefixed("> > ")),
    "kite-no-python-h": ("no-python-h", prefixed("[2026-11-05T07:11:02Z] ")),
    "docker-op-badfake": ("op-badfake", prefixed("trainer-1  | ")),
    "root-own-backend": ("own-backend", prefixed("2026-11-05 07:11:02,112 - root - ERROR - ")),
    "mpirun-ddp-bucket": ("ddp-bucket", prefixed("[1,0]<stderr>:")),
    "cut-op-stride": ("op-stride", lambda text: "".join(text.splitlines(True)[-6:])),
    "cut-shapes-mm": ("shapes-mm", lambda text: text[text.index("  Explanation: "):]),
}


def dress():
    for name, (source, change) in DRESSES.items():
        with open(f"{HERE}/{source}/input.txt") as f:
            text = change(f.read())
        os.makedirs(f"{HERE}/{name}", exist_ok=True)
        with open(f"{HERE}/{name}/input.txt", "w") as f:
            f.write(text)


def child(program, file, env, room, out):
    """Runs the program as `python FILE` does: its traceback begins with its own frame."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    app = room + "/app"
    os.makedirs(app)
    with open(program) as f:
        source = f.read().split("\n", 1)[1]
    with open(f"{app}/{file}", "w") as f:
        f.write(source)
    fd = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.chdir(app)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = room + "/torchinductor_user"
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    if "TRACE" in env:
        os.environ["TORCH_TRACE"] = room + "/trace"
    if "WRAP" in env:
        cxx = room + "/g++"
        with open(cxx, "w") as f:
            f.write('#!/bin/bash\na=(); for x; do case $x in -I*/include/python3*) ;; *) a+=("$x");; esac; done\nexec g++ "${a[@]}"\n')
        os.chmod(cxx, 0o755)
        os.environ["CXX"] = cxx
    os.environ.update({k: v for k, v in env.items() if k not in ("TRACE", "WRAP")})
    import torch._logging
    torch._logging._internal.LOG_TRACE_HANDLER = None
    torch._logging._internal._init_logs()
    import torch._inductor.config
    torch._inductor.config.compile_threads = 1
    if "WRAP" in env:
        torch._inductor.config.cpp.cxx = (None, os.environ["CXX"])
    if "PATH" in env:
        torch._inductor.config.cpp.cxx = (None, "g++")
    status = 0
    names = {"__name__": "__main__", "__file__": f"{app}/{file}", "__builtins__": __builtins__}
    import types
    main = types.ModuleType("__main__")
    main.__dict__.update(names)
    sys.modules["__main__"] = main
    code = compile(source, f"{app}/{file}", "exec")
    if "TRACE" in env or "TORCH_LOGS" in env:
        # torch records whole stacks: one that has only the program's frames is a thread's whose function is exec itself.
        failed = []
        sys.unraisablehook = lambda u: (failed.append(1), traceback.print_exception(u.exc_type, u.exc_value, u.exc_traceback))
        import _thread
        done = _thread._count()
        _thread.start_new_thread(exec, (code, main.__dict__))
        time.sleep(0.5)
        while _thread._count() > done:
            time.sleep(0.1)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(len(failed))
    try:
        exec(code, main.__dict__)
    except BaseException as e:
        if not isinstance(e, SystemExit):
            traceback.print_exception(type(e), e, e.__traceback__.tb_next)
            status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main():
    release, only = sys.argv[1], sys.argv[2:]
    if release == "dress":
        return dress()
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx
    import torch.export
    import torch.distributed
    import torch._higher_order_ops
    for program in sorted(glob.glob(HERE + "/programs/*.py"), key=lambda p: ("save-ep" not in p, p)):
        name = os.path.basename(program)[:-3]
        file, needs, env = settings_of(program)
        if needs != release or (only and name not in only):
            continue
        room = tempfile.mkdtemp(prefix="field-")
        out = room + "/out"
        pid = os.fork()
        if pid == 0:
            try:
                child(program, file, env, room, out)
            finally:
                os._exit(99)
        end = time.time() + 150
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            if time.time() > end:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                break
            time.sleep(0.1)
        with open(out, errors="replace") as f:
            text = f.read()
        if name == "save-ep":
            continue
        ext = "txt"
        if "TRACE" in env:
            ext = "log"
            logs = glob.glob(room + "/trace/*.log")
            if not logs:
                print(name, "wrote no trace:", text, file=sys.stderr)
                continue
            with open(logs[0], errors="replace") as f:
                text = f.read()
            if env["TRACE"] == "cut":
                text = text[: int(len(text) * 0.6)]
        os.makedirs(f"{HERE}/{name}", exist_ok=True)
        text = clean(text, room)
        text = rehash(text) if ext == "log" else text
        if len(text) > 20000:
            with lzma.open(f"{HERE}/{name}/input.{ext}.xz", "wt") as f:
                f.write(text)
        else:
            with open(f"{HERE}/{name}/input.{ext}", "w") as f:
                f.write(text)
        shutil.rmtree(room, ignore_errors=True)
        print(name, len(text), file=sys.stderr)


if __name__ == "__main__":
    main()
