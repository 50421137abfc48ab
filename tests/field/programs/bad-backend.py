# app.py | 213
import torch

model = torch.compile(torch.nn.Linear(4, 4), backend="inducter")
print(model(torch.ones(2, 4)))
