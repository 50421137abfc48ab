"""The twin of programs/packages.py: recorded packages, and the one of tests/lib/cudamodel for a stream of the caller's, in programs that run them on the
fake driver."""
import glob
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile

LIBRARIES = os.environ["PT2_GPU_TESTS"]
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/aoti/cuda")
PLANT = os.environ.get("PT2_PLANT")


def unpacked(name):
    """(folder of the model, folder of its kernels' PTX), in a folder of this process."""
    at, to = os.path.join(DATA, "v215" if name in ("streams", "pdl") else "", name), os.path.abspath(f"{name}.{os.getpid()}")
    os.makedirs(to)
    with lzma.open(at + ".pt2.xz") as f, open(to + "/p.pt2", "wb") as g:
        g.write(f.read())
    zipfile.ZipFile(to + "/p.pt2").extractall(to)
    with tarfile.open(at + ".triton.tar.xz") as tar:
        tar.extractall(to)
    return os.path.join(to, name, "data/aotinductor/model"), os.path.join(to, name)


def values(name):
    at = os.path.abspath(f"values.{os.getpid()}")
    if not os.path.isdir(at):
        with lzma.open(os.path.join(DATA, "values.npz.xz")) as f, open(at + ".npz", "wb") as g:
            g.write(f.read())
        zipfile.ZipFile(at + ".npz").extractall(at)
    return ["in=" + path for path in sorted(glob.glob(f"{at}/{name}.in*.npy"))]


def play(*command, **env):
    """Its output and status are this program's."""
    sys.stdout.flush()
    child = subprocess.run(command, env=dict(os.environ, **env), stdout=subprocess.PIPE, text=True, check=False)
    return child.stdout.strip()


def host(*arguments, **env):
    return play(os.path.join(LIBRARIES, "cudahost"), "load=" + glob.glob(os.path.join(LIBRARIES, "cuda/model/*.so"))[0], *arguments, **env)


def recorded(name, *arguments):
    folder, kernels = unpacked(name)
    return play(os.path.join(LIBRARIES, "cudarun"), "load=" + glob.glob(folder + "/*.wrapper.so")[0], *arguments, FAKECUDA_PTX=kernels)


def run(name, which="good"):
    if name == "linear":
        return "as computed" in host("call=4") and "mm: as computed"
    if name == "user":
        rows = ["rows=1000"] if which == "bad" and PLANT != "17" else []
        return recorded("user", *rows, *values("user"), "call", "wait" if which == "bad" else "drop")
    inputs = values("dynamic")[:1 if name == "streams" else None]
    return recorded(name, *inputs, "call")


def side(name, which="good"):
    if which == "bad":
        return host("beside=4" if PLANT == "19" else "threads=1x1:4", FAKECUDA_FAIL="" if PLANT == "19" else "illegal@2")
    return "0 failed, 0 wrong" in host("threads=1x1:4") and "mm: as computed"


if __name__ == "__main__":
    for scene in sys.argv[1:]:
        what, *rest = scene.split(":")
        said = {"run": run, "side": side}[what](*rest)
        print(said, flush=True)
        if "illegal" in str(said):
            sys.exit(1)
