"""bundle.py OUT : the planted failures below, recorded, bundled by `fxexplain report --bundle`, and replayed where their sources are not. TAP lines;
the last line is the score. OUT/NAME.pt2b stays. Programs start in processes that have imported torch already (warm.py)."""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CAUSES = """op_no_fake op_no_fake_break op_no_fake_dispatch mark_dynamic hook_returns hook_shape two_failures key_error fstring_len attribute_error cpp_error
lowering_error matmul_shapes dtype_mismatch leaf_inplace backward_twice limit_error fullgraph_branch optimizer_lr moe prints while_tensor global_int
self_append many_recompiles break_then_recompiles unbacked_view export_data export_dim cond_mutates cond_shapes suppressed backend_fails late_aoti_dtype
new_aoti_batch aoti_segv module_counter""".split()
OWN = ["wrong_result", "nan_out", "with_module"]
MOST = 10 << 20


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


def pack(out, name):
    runs = os.path.join(out, "runs", name)
    inputs = [runs + "/trace"] if os.listdir(runs + "/trace") else []
    if os.path.getsize(runs + "/stderr"):
        inputs.append(runs + "/stderr")
    bundle = os.path.join(out, name + ".pt2b")
    start = time.monotonic()
    r = run("fxexplain", "-q", "report", "--bundle", bundle, *inputs)
    return r.returncode, os.path.getsize(bundle) if r.returncode == 0 else 0, time.monotonic() - start, r.stderr


def warm(out):
    """The server, and a program that is Python for `fxexplain replay`."""
    path, python = os.path.join(out, "socket"), os.path.join(out, "python")
    env = dict(os.environ, TORCH_TRACE=os.path.join(out, "none"))
    server = subprocess.Popen([sys.executable, os.path.join(HERE, "warm.py"), "--serve", path], env=env, stdout=subprocess.PIPE)
    server.stdout.readline()
    with open(python, "w") as f:
        f.write(f"#!/bin/sh\nexec {sys.executable} -S {HERE}/warm.py --client {path} \"$@\"\n")
    os.chmod(python, 0o700)
    return server


def replay(out, name):
    start = time.monotonic()
    empty = os.path.join(out, "clean", name)
    os.makedirs(empty)
    r = run("fxexplain", "replay", "-q", "--run", "--tool=program", "--python", os.path.join(out, "python"), "--timeout=500", os.path.join(out, name + ".pt2b"),
            cwd=empty, stdin=subprocess.DEVNULL)
    said = [line for line in r.stderr.splitlines() if line.startswith("fxexplain: ")]
    return r.returncode, time.monotonic() - start, said[-6:]


def main(out, *only):
    names = only or [*CAUSES, *OWN]
    sources = os.path.join(out, "src")  # a copy, which is gone when the bundles are replayed
    shutil.copytree(os.path.join(HERE, "causes"), sources)
    shutil.copytree(os.path.join(HERE, "bundle"), sources, dirs_exist_ok=True)
    env = dict(os.environ, TORCHINDUCTOR_CACHE_DIR=os.path.join(out, "cache"))
    run(sys.executable, os.path.join(HERE, "record_programs.py"), os.path.join(out, "runs"), *(f"{sources}/{n}.py" for n in names), env=env)
    largest = slowest = 0
    for name in names:
        status, size, seconds, err = pack(out, name)
        largest, slowest = max(largest, size), max(slowest, seconds)
        print("%s - %s: a bundle of %.0f KB in %.2f s" % ("ok" if status == 0 and size < MOST else "not ok", name, size / 1e3, seconds), flush=True)
        for line in err.splitlines() if status else ():
            print("#", line)
    shutil.rmtree(sources)
    shutil.rmtree(os.path.join(out, "cache"), ignore_errors=True)
    alike, total = 0, 0.0
    server = warm(out)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, (status, seconds, said) in zip(names, pool.map(lambda n: replay(out, n), names)):
            alike += status == 0
            total += seconds
            print("%s - %s: replayed, %s (%.0f s)" % ("ok" if status == 0 else "# not alike", name, "alike" if status == 0 else "status %d" % status, seconds), flush=True)
            for line in said if status else ():
                print("#  ", line)
    server.kill()
    print("%s - at least 19 of 20 fail alike" % ("ok" if alike * 20 >= len(names) * 19 else "not ok"))
    print("# %d of %d fail alike; the largest bundle is %.0f KB, the slowest took %.2f s; a replay takes %.0f s" %
          (alike, len(names), largest / 1e3, slowest, total / len(names)))


if __name__ == "__main__":
    main(*sys.argv[1:])
