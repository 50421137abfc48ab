# app.py | 211
import torch

model = torch.compile(torch.nn.Linear(4, 4), mode="max-autotun")
print(model(torch.ones(2, 4)))
