"""on_ray.py - runs a piece of shell once on every node of a Ray cluster: pt2 gather --ray (cmd/pt2/gather).

    python on_ray.py FOLDER ADDRESS < SHELL

ADDRESS: as ray.init() takes it; "" is the cluster of RAY_ADDRESS, or one that was started here. What the shell prints on a node becomes a
file in FOLDER; a line of JSON on standard output says for each node how it went: {"name": ..., "file": ..., "why": ...}, why being "" if it
went well. Ray's own words go to standard error. Tried with Ray 2.49 to 2.56; needed are ray.nodes() and NodeAffinitySchedulingStrategy
(since 2.0). A node needs room for a task of no processor.
"""

import json
import os
import subprocess
import sys


def on_node(shell):
    done = subprocess.run(["sh"], input=shell, capture_output=True)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return done.returncode, done.stdout, said[-1] if said else ""


def main(folder, address):
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    shell = sys.stdin.buffer.read()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    ray.init(address=address or "auto", log_to_driver=False, logging_level="error")
    task = ray.remote(num_cpus=0, max_retries=0)(on_node)
    asked = {}
    for node in ray.nodes():
        if node["Alive"]:
            where = NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False)
            name = node.get("NodeName") or node["NodeManagerHostname"]
            asked[task.options(scheduling_strategy=where).remote(shell)] = name
    waiting = list(asked)
    while waiting:
        done, waiting = ray.wait(waiting)
        name, file, why = asked[done[0]], "", ""
        try:
            status, out, said = ray.get(done[0])
            if status:
                why = f"exited with status {status}: {said}"
            else:
                file = os.path.join(folder, f"ray{len(waiting)}")
                with open(file, "xb") as f:
                    f.write(out)
        except Exception as e:
            why = f"{type(e).__name__}: {e}".splitlines()[0]
        print(json.dumps({"name": name, "file": file, "why": why}), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
