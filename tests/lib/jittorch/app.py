"""app.py TEXT PROGRAM: has TEXT compiled as torch would, and runs PROGRAM, which calls step()."""
import os  # noqa: F401
import sys
import threading  # noqa: F401

import torch
import torch._inductor.compile_fx as cf


class source:
    def __init__(self, name):
        self.name = name


class node:
    op = "placeholder"

    def __init__(self, name):
        self.name, self.meta, self._dynamo_source = name, {}, source(name)


class model:
    cudagraphs = False

    class graph:
        nodes = [node("L['self']._modules['up']._parameters['weight']")]


if os.environ.get("JITTORCH_FX"):
    class fx:  # the graph that graph.py was generated from, its nodes and buffers
        def __init__(self, name, target, *stack):
            self.name, self.target, self.meta, self.origin_node = name, target, dict(zip(("stack_trace",), stack)), self
            self.op = "call_function"

    LOG = fx("log", "buf0", '  File "/home/user/model.py", line 7, in forward\n    y = torch.log(w)\n')
    TWICE = fx("twice", "buf1")
    ADD = fx("add", "buf2", '  File "/home/user/model.py", line 8, in torch_dynamo_resume_in_forward_at_7\n    return y + g\n')

    class buffer:
        def __init__(self, of, name=None):
            self.origin_node, self.get_name, self.get_origins = of, lambda: name or of.target, lambda: [of]

    class Subgraph:  # of a cond: torch has lost the stacks of its nodes
        class graph:
            name = "true_graph_0"
            buffers = [buffer(fx("log", "true_graph_0_buf0"))]

            class module:
                class graph:
                    nodes = [fx("arg0_1", "arg0_1"), fx("log", "aten.log")]

                def print_readable(**_):
                    return '''class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[3][1]cpu"):
        log: "f32[3][1]cpu" = torch.ops.aten.log.default(arg0_1);  arg0_1 = None
        return (log,)
'''

    Subgraph.graph.module.graph.nodes[0].op = "placeholder"

    class conditional:
        origin_node = fx("cond", "cond", '  File "/home/user/model.py", line 5, in forward\n    return torch.cond(p, steep, flat, (w,))\n')

        def __init__(self):
            self.true_subgraph = Subgraph()

    class lowered:
        buffers = [buffer(n) for n in (LOG, TWICE, ADD)] + [buffer(LOG, "buf9")]  # buf9: of a kernel's inside, never in memory
        operations = [conditional()]

        def modules():
            return [lowered]

        class graph:
            nodes = (LOG, TWICE, ADD)

        def print_readable(**_):
            return '''class <lambda>(torch.nn.Module):
    def forward(self, primals_1: "f32[3][1]cpu", tangents_1: "f32[3][1]cpu"):
        log: "f32[3][1]cpu" = torch.ops.aten.log.default(primals_1);  primals_1 = None
        twice: "f32[3][1]cpu" = torch.ops.test.twice.default(tangents_1);  tangents_1 = None
        add: "f32[3][1]cpu" = torch.ops.aten.add.Tensor(twice, log);  twice = log = None
        return (add,)
'''

    model.lowered = (lowered, lowered)
if os.environ.get("JITTORCH_LIFTED"):  # as Dynamo lifts what a compiled optimizer holds
    model.named_parameters = lambda remove_duplicate: [("param", None)]
    model._param_name_to_source = {"param": source("L['self'].param_groups[0]['params'][0]")}

lines = [(50, '  File "/home/user/model.py", line 7, in forward\n    y = torch.log(w)\n')]
run = cf.compile_fx(model, sys.argv[1], lines)


def step(w=(1.0, 2.0, 3.0), g=(1.0, 1.0, 1.0)):
    return [t.tolist() if t is not None else None for t in run([torch.Tensor(*w), torch.Tensor(*g)])]


exec(sys.argv[2])
