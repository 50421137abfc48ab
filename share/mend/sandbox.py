"""A view of the user's files for one try: everything is there, what is written goes to a folder of the try.

The user namespace and the network namespace (loopback only) were made by the tool before Python started (cmd/fxexplain/mend/confine.c): a
process with threads cannot make one. The forked child makes only a mount namespace, and in it another root: a tmpfs with an overlay
for each directory of the root. The overlay's lower layer must hold no other mount (in a user namespace the kernel refuses to copy those),
and its upper layer must not be inside the lower one, so directories that hold mounts, or the try's folder, are taken apart. /proc, /sys and
/dev are what they are, /dev/shm is a new one, in which only what the program is in is shown.
"""
import ctypes, os

NEWNS, MS_RDONLY, MS_BIND, MS_REC, MS_PRIVATE, MS_REMOUNT = 0x20000, 1, 4096, 16384, 1 << 18, 32
APART = 200  # entries of a directory that is taken apart; of more only those that lead to the program


def libc_call(name, *args):
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*args) != 0:
        e = ctypes.get_errno()
        raise OSError(e, "%s: %s" % (name, os.strerror(e)))


def mount(source, target, kind, flags, data=""):
    libc_call("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def mount_points():
    with open("/proc/self/mountinfo") as f:
        return {line.split()[4].encode().decode("unicode_escape") for line in f}


class View:
    def __init__(self, folder, needed):
        self.folder, self.needed = folder, [os.path.realpath(n) for n in needed]
        self.root, self.uppers, self.read_only = os.path.join(folder, "root"), [], []
        self.points = mount_points()

    def holds(self, path, paths):
        return any(p == path or p.startswith(path.rstrip("/") + "/") for p in paths)

    def overlay(self, path):
        n = len(self.uppers)
        upper, work, target = os.path.join(self.folder, "up%d" % n), os.path.join(self.folder, "work%d" % n), self.root + path
        os.mkdir(upper)
        os.mkdir(work)
        os.makedirs(target, exist_ok=True)
        st = os.stat(path)
        os.chmod(upper, st.st_mode & 0o7777)
        try:
            data = "lowerdir=%s,upperdir=%s,workdir=%s,userxattr" % tuple(p.replace("\\", "\\\\").replace(",", "\\,").replace(":", "\\:")
                                                                      for p in (path, upper, work))
            mount("overlay", target, "overlay", 0, data)
            self.uppers.append((path, upper))
        except OSError:
            self.bind(path, target)
            self.read_only.append(path)

    def bind(self, path, target):
        mount(path, target, "", MS_BIND | MS_REC)
        mount("", target, "", MS_BIND | MS_REMOUNT | MS_RDONLY)

    def apart(self, path):
        """A directory whose entries are shown one by one."""
        os.makedirs(self.root + path, exist_ok=True)
        names = sorted(os.listdir(path or "/"))
        for name in names:
            p = path + "/" + name
            if p in ("/proc", "/sys", "/dev") or p == self.folder:
                continue
            leads = self.holds(p, self.needed) or self.holds(p, self.points) or self.holds(p, [self.folder])
            if len(names) > APART and not leads:
                continue
            try:
                self.show(p)
            except OSError:
                if leads:
                    raise
        if path:
            os.chmod(self.root + path, os.stat(path).st_mode & 0o7777)

    def show(self, p):
        if os.path.islink(p):
            os.symlink(os.readlink(p), self.root + p)
        elif os.path.isdir(p):
            if not os.access(p, os.R_OK | os.X_OK):
                os.mkdir(self.root + p, 0)
            elif self.holds(p, [self.folder]) or self.holds(p, self.points - {p}):
                self.apart(p)
            else:
                self.overlay(p)
        elif os.path.isfile(p):
            open(self.root + p, "w").close()
            self.bind(p, self.root + p)

    def enter(self):
        """From now on this process sees its own copy."""
        cwd = os.getcwd()
        libc_call("unshare", NEWNS)
        mount("", "/", "", MS_REC | MS_PRIVATE)
        os.mkdir(self.root)
        mount("tmpfs", self.root, "tmpfs", 0, "size=50%,mode=755")
        self.apart("")
        for name in ("/proc", "/sys", "/dev"):
            os.mkdir(self.root + name)
            mount(name, self.root + name, "", MS_BIND | MS_REC)
        if os.path.isdir("/dev/shm"):
            mount("tmpfs", self.root + "/dev/shm", "tmpfs", 0, "size=50%,mode=1777")
            for name in sorted(os.listdir("/dev/shm")):
                if self.holds("/dev/shm/" + name, self.needed):
                    self.show("/dev/shm/" + name)
        inside = self.root + self.folder  # what the try reports: its own folder, not a copy
        os.makedirs(inside, exist_ok=True)
        mount(self.folder, inside, "", MS_BIND)
        cache = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")
        if cache.startswith(os.path.dirname(self.folder) + "/") and os.path.isdir(cache):  # one for all tries
            os.makedirs(self.root + cache, exist_ok=True)
            mount(cache, self.root + cache, "", MS_BIND)
        for p in ("/tmp", "/var/tmp"):
            if not os.path.isdir(self.root + p):
                os.makedirs(self.root + p, exist_ok=True)
                os.chmod(self.root + p, 0o1777)
        os.chroot(self.root)
        os.chdir(cwd)


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
