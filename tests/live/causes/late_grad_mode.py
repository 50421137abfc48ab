import torch

net = torch.nn.Linear(4, 4)

@torch.compile(backend="aot_eager")
def predict(x):
    return net(x).relu()

x = torch.ones(2, 4)
predict(x)
with torch.no_grad():
    predict(x)
with torch.inference_mode():
    predict(x)
