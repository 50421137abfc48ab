"""Plants for gradients.py: what makes only gradients wrong, in any process that imports this."""
import torch

aten = torch.ops.aten


def decomposition():
    """AOTAutograd's: Inductor's graph is already wrong."""
    from torch._inductor import decomposition
    def gelu_backward(grad, x, approximate="none"):
        return grad * 0.5 * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    decomposition.decompositions[aten.gelu_backward.default] = gelu_backward


def lowering():
    """Only a backward graph has a sign."""
    import torch._inductor.lowering as lowering
    real, mul = lowering.lowerings[aten.sign.default], lowering.lowerings[aten.mul.Tensor]
    for op in (aten.sign, aten.sign.default, aten.sgn, aten.sgn.default):
        if op in lowering.lowerings:
            lowering.lowerings[op] = lambda x: mul(real(x), 0.5)


def joint(graph):
    """A pass of the user's: sigmoid's gradient."""
    for n in graph.nodes:
        if n.target is aten.sub.Tensor and n.args[0] == 1:
            n.args = (2, n.args[1])
