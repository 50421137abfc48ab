import torch

@torch.compile(backend="aot_eager")
def model(frame):
    return frame.sum(0) * 2

img = torch.rand(4, 4, 3)
for view in (img, img.transpose(0, 1), img.permute(2, 0, 1)):
    model(view)
