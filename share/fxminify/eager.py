"""How a compiled call of a graph, and its gradients, are compared with eager in the user's program. compare.py and packages.py precede this, catch.py
follows it, in one sitecustomize. Python 3.9, torch 2.6 and newer."""


def _differ(gm, inputs, out):
    """How the results differ from eager's on the same inputs, as a test will compare them (compare.py); "" if they do not, or if nothing can be
    compared."""
    import torch

    if _random(gm):
        return ""
    with torch.no_grad():
        ref = gm(*_copies(inputs))  # noqa: F821
    found = differences(ref, out, None, True)  # noqa: F821
    if found:  # perhaps eager is not closer to double precision
        found = differences(ref, out, _in_double(gm, inputs), False)  # noqa: F821
    return "; ".join("output %d differs from eager: %s" % pair for pair in found[:3])


def _random(gm):
    text = "".join(str(n.target) for n in gm.graph.nodes)
    return any(word in text for word in ("rand", "dropout", "inductor_seed", "bernoulli"))


def _leaves(values):
    """Copies that are leaves; one copy of what is given twice."""
    import torch

    made = {}
    for v in values:
        if isinstance(v, torch.Tensor) and id(v) not in made:
            made[id(v)] = v.detach().clone(memory_format=torch.preserve_format).requires_grad_(v.requires_grad)
    return [made.get(id(v), v) for v in values]


def _shares_memory(values):
    import torch

    tensors = {id(v): v for v in values if isinstance(v, torch.Tensor) and v.layout == torch.strided}
    return len({v.untyped_storage().data_ptr() for v in tensors.values() if v.numel()}) < sum(v.numel() > 0 for v in tensors.values())


def _loss(gm, out, tangents):
    """What a test of a graph after Dynamo differentiates (torch._dynamo.testing.reduce_to_scalar_loss), or with these tangents."""
    from torch._dynamo.testing import reduce_to_scalar_loss

    if tangents is None:
        return reduce_to_scalar_loss(out)
    return sum((o * t).sum() for o, t in zip(_differentiable(out), tangents))


def _differentiable(out):
    import torch
    from torch.utils._pytree import tree_leaves

    return [o for o in tree_leaves(out) if isinstance(o, torch.Tensor) and o.requires_grad]


def _gradients(call, gm, inputs, tangents):
    import torch

    args = _leaves(inputs)
    of = [a for a in {id(a): a for a in args if isinstance(a, torch.Tensor) and a.requires_grad}.values()]
    of += [p for p in gm.parameters() if p.requires_grad]
    buffers = [(b, b.clone()) for b in gm.buffers()]  # which a step may change
    try:
        loss = _loss(gm, call(*args), tangents)
        return list(torch.autograd.grad(loss, of, allow_unused=True))
    finally:
        with torch.no_grad():
            for b, was in buffers:
                b.copy_(was)


def _gradients_differ(gm, run, inputs):
    """What is wrong of the gradients that no graph of Inductor's shows: a decomposition, a joint pass, the partitioner. run(tangents): those of
    compiled code; None: a graph of Inductor's is wrong. Returns how they differ, and the graph and inputs that show it: with the gradient that
    a test begins with (of the mean), otherwise with random ones as inputs."""
    import torch

    needed = torch.is_grad_enabled() and any(isinstance(v, torch.Tensor) and v.requires_grad for v in [*inputs, *gm.parameters()])
    if not needed or _random(gm) or _shares_memory(inputs):
        return "", gm, inputs
    out = _differentiable(gm(*_leaves(inputs)))
    generator = torch.Generator().manual_seed(0)
    random = [torch.randn(o.shape, generator=generator, dtype=torch.float64).to(o) for o in out]
    for tangents in [None, random] if out else []:
        try:
            res = run(tangents)
            if res is None:
                break
            ref = _gradients(gm, gm, inputs, tangents)
            found = differences(ref, res, None, True)  # noqa: F821
            wide = _gradients_in_double(gm, inputs, tangents) if found else None
        except NotImplementedError:  # torch cannot reduce these outputs to one number
            continue
        found = differences(ref, res, wide, False) if found else []  # noqa: F821
        if found:
            how = "; ".join("gradient %d differs from eager: %s" % pair for pair in found[:3])
            return (how, gm, inputs) if tangents is None else (how, _with_tangents(gm, inputs), [*inputs, *tangents])
    return "", gm, inputs


def _gradients_in_double(gm, inputs, tangents):
    import copy

    import torch
    from torch._dynamo.debug_utils import cast_to_fp64

    try:
        model, args = cast_to_fp64(copy.deepcopy(gm), _leaves(inputs))
        args = [a.detach().requires_grad_(v.requires_grad) if isinstance(a, torch.Tensor) else a for a, v in zip(args, inputs)]
        return _gradients(model, model, args, tangents and [t.double() if t.is_floating_point() else t for t in tangents])
    except Exception:
        return None


def _with_tangents(gm, inputs):
    """A graph that returns what to differentiate: its differentiable results, each with a new input as its gradient."""
    import operator

    import torch
    from torch.utils._pytree import tree_leaves

    graph = _copy_of(gm).graph  # noqa: F821
    last = [n for n in graph.nodes if n.op == "placeholder"][-1]
    end = next(n for n in graph.nodes if n.op == "output")
    real = tree_leaves(gm(*_leaves(inputs)))
    loss = None
    for k, (node, value) in enumerate(zip(tree_leaves(end.args[0]), real)):
        if isinstance(value, torch.Tensor) and value.requires_grad:
            with graph.inserting_after(last):
                last = graph.placeholder("tangent_%d" % k)
            with graph.inserting_before(end):
                part = graph.call_method("sum", (graph.call_function(operator.mul, (node, last)),))
                loss = part if loss is None else graph.call_function(operator.add, (loss, part))
    end.args = ((loss,),)
    return torch.fx.GraphModule(gm, graph)


def _in_double(gm, inputs):
    import copy

    import torch
    from torch._dynamo.debug_utils import cast_to_fp64

    try:
        model, args = cast_to_fp64(copy.deepcopy(gm), _copies(inputs))  # noqa: F821
        with torch.no_grad():
            return list(model(*args))
    except Exception:
        return None
