"""Graphs in which an operator of torch._foreach computes for many tensors at once, as torch's optimizers do on a GPU: the same graph with one node for each
tensor, for the cause of a NaN. Loaded after rewrite.py, into the same names.

    torch/_inductor: _foreach_add = torch.ops.aten._foreach_add_.Scalar([arg0_1, arg1_1], 1); getitem = _foreach_add[0]     (2.6 to 2.15)

What is in place (reinplace.py) becomes a node of its own, and a pair of (what is written, the node)."""

_OVERLOADS = {  # of the operator for one tensor, the first that there is
    "List": ("Tensor", "default"), "Scalar": ("Scalar", "Tensor_Scalar", "default"), "ScalarList": ("Scalar", "Tensor_Scalar", "default"),
    "Tensor": ("Tensor",), "ScalarAndTensor": ("Scalar",), "default": ("default",)}
_OTHERS = {("clamp_min", "List"): "maximum", ("clamp_max", "List"): "minimum", ("copy", "default"): "clone", ("norm", "Scalar"): "linalg_vector_norm",
           ("zero", "default"): "zeros_like", ("maximum", "Scalar"): "clamp_min", ("minimum", "Scalar"): "clamp_max", ("maximum", "ScalarList"): "clamp_min",
           ("minimum", "ScalarList"): "clamp_max"}
_WITH_VALUE = ("addcmul", "addcdiv")  # the number is the argument `value` there


def _foreach_name(node):
    """("add", "Scalar", in place) of torch.ops.aten._foreach_add_.Scalar; None."""
    packet = getattr(getattr(node.target, "overloadpacket", None), "__name__", "")
    if not packet.startswith("_foreach_") or node.op != "call_function":
        return None
    name = packet[len("_foreach_"):]
    return name.rstrip("_"), node.target._overloadname, name.endswith("_")


def _for_one(name, overload, args, kwargs, i):
    """The operator for item i, its arguments, and named ones; None."""
    import torch

    args = [a[i] if isinstance(a, (list, tuple)) else a for a in args]
    kwargs = {k: v for k, v in kwargs.items() if k in ("alpha", "value", "non_blocking")}
    if name in _WITH_VALUE and len(args) == 4:
        kwargs["value"] = args.pop()
        overload = "default"
    if name == "copy":
        args, kwargs = args[1:2], {}
    packet = getattr(torch.ops.aten, _OTHERS.get((name, overload), name), None)
    for o in _OVERLOADS.get(overload, ()):
        if packet is not None and o in packet.overloads():
            return getattr(packet, o), tuple(args), kwargs
    return None


def _one_by_one(module):
    """(its text, a module, {what is written in place: its node}) with a node for each tensor; None if nothing is for many, or something is not known."""
    if not any(_foreach_name(n) for n in module.graph.nodes):
        return None
    import operator

    import torch.fx

    graph, written = torch.fx.Graph(), {}
    graph.output(graph.graph_copy(module.graph, {}))
    for node in list(graph.nodes):
        what = _foreach_name(node)
        if not what:
            continue
        lists = [a for a in node.args if isinstance(a, (list, tuple))]
        made, values = [], node.meta.get("val")
        for i in range(len(lists[0])):
            one = _for_one(*what[:2], node.args, node.kwargs, i)
            if one is None:
                return None
            with graph.inserting_before(node):
                made.append(graph.create_node("call_function", *one, name="%s_item_%d" % (node.name, i)))
            made[i].meta = {k: v for k, v in node.meta.items() if k != "val"}
            if isinstance(values, (list, tuple)) and i < len(values):
                made[i].meta["val"] = values[i]
        for user in list(node.users):
            if user.target is not operator.getitem:
                return None
            user.replace_all_uses_with(made[user.args[1]])
            graph.erase_node(user)
        for tensor, new in zip(lists[0], made) if what[2] else ():
            written[tensor.name] = new.name
        graph.erase_node(node)
    copied = torch.fx.GraphModule(module, graph)
    return copied.print_readable(print_output=False, include_stride=True, include_device=True), copied, written
