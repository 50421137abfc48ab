"""What torch asks a compiler in every new process, remembered per user: precompiled headers, instruction sets. oracle.py and trial.py use
it."""
import contextlib, fcntl, hashlib, json, os, shlex, shutil, sys, tempfile, time

TURN = 600  # seconds that one process waits for another to precompile a header


def user_folder(session, key):
    """Precompiled headers and what the compiler can do, for this torch, compiler and processor."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    try:
        path = os.path.join(base, "pt2utils", "inductor-" + hashlib.sha256(key.encode()).hexdigest()[:16])
        os.makedirs(path, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path):
            return path
    except OSError:
        return os.path.join(session, "warm")


WAITS = [lambda: None]  # called repeatedly while waiting for another process


@contextlib.contextmanager
def turn(path):
    """One process at a time; without a lock if none is available."""
    until = time.monotonic() + TURN
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(path, "w"))
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        break
                    WAITS[0]()
                    time.sleep(0.05)
        yield


def remembered(path, key, make, valid=lambda value: True):
    """A small result that took long to compute, in its own file. Waits if another process is computing it."""
    name = os.path.join(path, "answer-" + hashlib.sha256(key.encode()).hexdigest()[:24])
    def known():
        with contextlib.suppress(OSError, ValueError), open(name) as f:
            value = json.load(f)
            return [value] if valid(value) else []
        return []
    if not known():
        with turn(name + ".lock"):
            if not known():
                value = make()
                with contextlib.suppress(OSError):
                    with tempfile.NamedTemporaryFile("w", dir=path, delete=False) as f:
                        json.dump(value, f)
                    os.replace(f.name, name)
                return value
    return known()[0]


def keep_warm_up(folder):
    """torch asks the compiler the same things in every process: preprocess a header to hash it (2 s), compile it, try each
    instruction set (5 s). The answers are kept per user, with the precompiled headers. Returns the instruction sets that work; if
    one works, the smaller ones are assumed to."""
    from torch._inductor import codecache, cpu_vec_isa
    os.makedirs(folder, exist_ok=True)
    codecache._HEADER_DIR = os.path.join(folder, "precompiled_headers")
    codecache._HEADER_LOCK_DIR = os.path.join(codecache._HEADER_DIR, "locks")
    real_header, real_check = codecache._precompile_header, cpu_vec_isa.VecISA.check_build

    def header(name, command, **options):
        options_key = {k: v for k, v in options.items() if k != "extra_flags"}
        return remembered(folder, f"header {name} {command} {options_key!r}", lambda: real_header(name, command, **options),
                          lambda path: any(os.path.exists(path + end) for end in (".gch", ".pch")))

    def check(isa, code):
        """Tries the widest first. A compiler with AVX-512 VNNI also has AVX-512 and AVX2; each costs a compile and an import."""
        if wider and type(isa).__name__.startswith("VecAVX"):
            return True
        if built(isa, code):
            wider.append(isa)
            return True
        return False

    def built(isa, code):
        return bool(remembered(folder, f"isa {isa} {isa.build_arch_flags()} {code}", lambda: asked(real_check, isa, code),
                               lambda works: works is not None))

    compile_whole()
    wider = []
    import functools
    codecache._precompile_header = functools.cache(header)
    cpu_vec_isa.VecISA.check_build = check
    return wider


def asked(check, isa, code):
    """None: a busy machine may have been the reason, for torch waits a minute for the answer; it is asked again next time."""
    began = time.monotonic()
    works = check(isa, code)
    return works if works or time.monotonic() - began < 60 else None


def compile_whole():
    """A compiler that is killed leaves half a library, which torch, in every later test with that kernel, takes for the whole one
    (codecache.py: _worker_compile_cpp skips what exists). So each writes under a name of its own, which is renamed once it ended well."""
    from torch._inductor import cpp_builder
    real = getattr(cpp_builder, "run_compile_cmd", None)
    if real is None:
        return
    def run_compile_cmd(cmd_line, cwd):
        words = shlex.split(cmd_line)
        at = words.index("-o") + 1 if "-o" in words[:-1] else 0
        if not at or os.path.exists(os.path.join(cwd, words[at])) and not os.path.isfile(os.path.join(cwd, words[at])):
            return real(cmd_line, cwd)
        whole = os.path.join(cwd, words[at])
        part = f"{whole}.{os.getpid()}.part"
        try:
            real(shlex.join([*words[:at], part, *words[at + 1:]]), cwd)
            os.replace(part, whole)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(part)
    cpp_builder.run_compile_cmd = run_compile_cmd


def compiler_key():
    from torch._inductor.cpp_builder import get_cpp_compiler
    import torch
    cpu = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as f:
        cpu = next((line for line in f if line.startswith(("flags", "Features"))), "")
    cxx = get_cpp_compiler()
    real = os.path.realpath(shutil.which(cxx) or cxx)
    stat = os.stat(real) if os.path.exists(real) else None
    prefix = os.path.join(os.path.dirname(torch.__file__), "include/torch/csrc/inductor/cpp_prefix.h")
    header = os.stat(prefix).st_mtime_ns if os.path.exists(prefix) else 0
    parts = (sys.version, torch.__version__, torch.version.git_version, torch.__file__, header, real,
             stat and (stat.st_mtime_ns, stat.st_size), cpu, os.environ.get("LD_LIBRARY_PATH"))
    return cxx, "\n".join(map(str, parts))
