import contextlib, torch

@contextlib.contextmanager
def quiet():
    yield

net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU()).eval()
model = torch.compile(net, backend="aot_eager")
with torch.inference_mode(), quiet():
    for i in range(3):
        model(torch.ones(1, 3, 16, 16))
