import torch

net = torch.nn.Linear(4, 4)
state = torch.compile(net, backend="aot_eager").state_dict()
torch.nn.Linear(4, 4).load_state_dict(state)
