# load.py | 211
import torch

program = torch.export.load("/tmp/field-ep.pt2")
print(program.module()(torch.ones(2)))
