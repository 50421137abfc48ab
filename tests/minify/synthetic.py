"""Synthetic graphs with known bugs, and torch's own minifier on them.

    synthetic.py graph N [SEED]                    the graph, as torch writes readable ones
    synthetic.py path N                            A and B of the shape path:A:B
    synthetic.py torch N SHAPE [SECONDS]           how torch's fx_minifier does: one JSON line (needs torch)
    synthetic.py record FILE                       all shapes and sizes of the table in docs/dev/BENCHMARKS.md, a JSON line each

The bugs are those of tests/lib/predicate.c; node names are n0, n1, ...
"""
import json, random, sys, time

UNARY = ("relu", "sigmoid", "tanh", "exp", "cos", "neg", "abs", "sin")
BINARY = ("add.Tensor", "mul.Tensor", "sub.Tensor", "maximum.default")


def edges(n, seed=0):
    """Operands of each node: itself a chain with side branches, as models have it. -1, -2, -3 are the inputs."""
    rng = random.Random(seed)
    out = []
    for i in range(n):
        near = i - 1 if i and rng.random() < 0.9 else rng.randrange(-3, max(i, 1)) if i else -1
        if rng.random() < 0.4:
            far = rng.randrange(max(-3, i - 30), i) if i else -2
            out.append((BINARY[rng.randrange(len(BINARY))], (near, far)))
        else:
            out.append((UNARY[rng.randrange(len(UNARY))] + ".default", (near,)))
    return out


def name(k):
    return f"n{k}" if k >= 0 else f"x{-k}"


def graph(n, seed=0):
    nodes = edges(n, seed)
    last = {}
    for i, (_, operands) in enumerate(nodes):
        for k in operands:
            last[k] = i
    used = {k for _, operands in nodes for k in operands}
    out = ["class GraphModule(torch.nn.Module):",
           "    def forward(self, " + ", ".join(f'{name(k)}: "f32[8, 8]"' for k in (-1, -2, -3)) + "):"]
    for i, (op, operands) in enumerate(nodes):
        text = f'        n{i}: "f32[8, 8]" = torch.ops.aten.{op}({", ".join(name(k) for k in operands)})'
        gone = [name(k) for k in dict.fromkeys(operands) if last[k] == i]
        out.append(text + (";  " + " = ".join(gone) + " = None" if gone else ""))
    out.append("        return (" + ", ".join(f"n{i}" for i in range(n) if i not in used) + ",)")
    return "\n".join(out) + "\n"


def path(n, steps=12):
    """From the first node behind n[N/3] that so many steps lead on from, always to the user with the longest way ahead."""
    users, ahead = {}, [0] * n
    for i, (_, operands) in enumerate(edges(n)):
        for k in operands:
            users.setdefault(k, []).append(i)
    for i in reversed(range(n)):
        ahead[i] = max((ahead[u] + 1 for u in users.get(i, ())), default=0)
    start = at = next(i for i in range(n // 3, n) if ahead[i] >= steps or i > n * 2 // 3)
    for _ in range(steps):
        at = max(users.get(at, [at]), key=lambda u: ahead[u])
    return start, at


def has_bug(shape, n, fx):
    live = {node.name: node for node in fx.graph.nodes if node.op == "call_function"}
    has = lambda k: f"n{k}" in live
    if shape == "single":
        return has(n * 6 // 10)
    if shape == "adjacent":
        return has(n * 6 // 10) and has(n * 6 // 10 + 1)
    if shape == "far":
        return has(n // 10) and has(n * 9 // 10)
    if shape == "triple":
        return has(n // 7) and has(n // 2) and has(n * 97 // 100)
    if shape == "six":
        return sum(has(k) for k in range(0, n, 5)) >= 6 and has(n // 2 + 1)
    a, b = map(int, shape.split(":")[1:])
    if not has(a) or not has(b):
        return False
    stack, seen, goal = [live[f"n{b}"]], set(), live[f"n{a}"]
    while stack:
        node = stack.pop()
        if node is goal:
            return True
        if node in seen or node.op != "call_function":
            continue
        seen.add(node)
        stack += node.all_input_nodes
    return False


def torch_graph(torch, n):
    """The graph of graph(n), built node by node so that the names are those."""
    fx = torch.fx.Graph()
    node = {k: fx.create_node("placeholder", name(k), name=name(k)) for k in (-1, -2, -3)}
    nodes = edges(n)
    used = {k for _, operands in nodes for k in operands}
    for i, (op, operands) in enumerate(nodes):
        packet, overload = op.split(".")
        target = getattr(getattr(torch.ops.aten, packet), overload)
        node[i] = fx.create_node("call_function", target, tuple(node[k] for k in operands), name=name(i))
    fx.output(tuple(node[i] for i in range(n) if i not in used))
    return torch.fx.GraphModule(torch.nn.Module(), fx)


class Late(Exception):
    pass


def torch_minifier(n, shape, seconds):
    import contextlib, io
    import torch
    from torch._functorch import fx_minifier
    module = torch_graph(torch, n)
    inputs = [torch.randn(8, 8) for _ in range(3)]
    start, asked, smallest = time.time(), 0, n
    result = {"n": n, "shape": shape, "torch": torch.__version__}

    def fails(fx, inps):
        nonlocal asked, smallest
        asked += 1
        if time.time() - start > seconds:
            raise Late
        bad = has_bug(shape, n, fx)
        if bad:
            smallest = min(smallest, sum(node.op == "call_function" for node in fx.graph.nodes))
        return bad

    try:
        with contextlib.redirect_stdout(io.StringIO()):
            small, _ = fx_minifier.minifier(module, inputs, fails, dump_state=lambda *a, **k: None)
        result["nodes"] = sum(node.op == "call_function" for node in small.graph.nodes)
    except Late:
        result["stopped_at"] = smallest
    return {**result, "tests": asked, "seconds": round(time.time() - start, 1)}


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "graph":
        sys.stdout.write(graph(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    elif what == "path":
        print(*path(int(sys.argv[2])))
    elif what == "torch":
        print(json.dumps(torch_minifier(int(sys.argv[2]), sys.argv[3], float(sys.argv[4]) if len(sys.argv) > 4 else 90)))
    elif what == "record":
        with open(sys.argv[2], "w") as out:
            for n in (50, 200, 1000, 5000):
                for shape in ("single", "adjacent", "far", "triple", "path:%d:%d" % path(n), "six"):
                    print(json.dumps(torch_minifier(n, shape, 90)), file=out, flush=True)
    else:
        sys.exit(__doc__)


main()
