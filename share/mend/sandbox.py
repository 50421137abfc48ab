"""A view of the user's files for one try: everything is there, what is written goes to a folder of the try's.

The tool made the user namespace and the network namespace (loopback only) before Python started, with a process beside it that makes a view
for whoever asks (cmd/fxexplain/mend/confine.c, libcommon/cli/base/process/cowview.h). The forked child enters that view.
"""
import ctypes, os, socket

NEWNS = 0x20000


def enter_view(fd):
    """From now on this process sees its own copy of the files."""
    cwd = os.getcwd()
    with socket.socket(fileno=os.dup(fd)) as keeper:
        keeper.send(b"v")
        text, fds, _, _ = socket.recv_fds(keeper, 200, 1)
    if not fds:
        raise OSError(text.decode(errors="replace") or "no answer")
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fds[0], NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "setns: " + os.strerror(ctypes.get_errno()))
    os.close(fds[0])
    os.chdir(cwd)


def read_only(overlays):
    """Those folders where no overlay fits: asked in the view."""
    return [path for path, _ in overlays if os.path.isdir(path) and os.statvfs(path).f_flag & os.ST_RDONLY]


def drop_powers():
    """The program gets none of the powers that the namespace gave."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capset(header, data)


def written(uppers, most=200, largest=16 << 20):
    """The files that a try wrote: their paths and what is in them. Caches of Python and of torch do not count as effects."""
    import hashlib
    out = {}
    for path, upper in uppers:
        for folder, dirs, files in os.walk(upper):
            dirs[:] = [d for d in dirs if d not in ("__pycache__", "torchinductor_" + os.environ.get("USER", ""), ".triton", ".cache")
                       and not d.startswith("torchinductor_")]
            for name in files:
                p = os.path.join(folder, name)
                if name.endswith(".pyc") or not os.path.isfile(p) or len(out) >= most:
                    continue
                size = os.path.getsize(p)
                with open(p, "rb") as f:
                    out[path + p[len(upper):]] = [size, hashlib.sha256(f.read(largest)).hexdigest()]
    return out
