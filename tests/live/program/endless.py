"""A pass over Inductor's graph that finds something to do again and again."""
import torch
import torch._inductor.config
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files


class Merge(CustomGraphPass):
    def __call__(self, graph):
        changed = True
        while changed:
            changed = any(node.target is torch.ops.aten.cumsum.default for node in graph.nodes)

    def uuid(self):
        return get_hash_for_files((__file__,))


def enable():
    torch._inductor.config.post_grad_custom_post_pass = Merge()
