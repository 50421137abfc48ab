import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)

    def forward(self, img):
        img = img / 255
        return self.conv(img).relu()

torch.compile(Net(), backend="aot_eager")(torch.ones(2, 1, 16, 16))
