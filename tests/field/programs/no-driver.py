# app.py | 215
import torch

model = torch.compile(torch.nn.Linear(4, 4)).cuda()
print(model(torch.ones(2, 4, device="cuda")))
