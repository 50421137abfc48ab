# boxes by nonzero above a threshold, number of boxes as int, an image size kept on the module, a debug log
import logging

import torch
import torch.nn as nn

logger = logging.getLogger("det")
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, padding=1), nn.ReLU())
        self.cls = nn.Conv2d(8, 1, 1)
        self.box = nn.Conv2d(8, 4, 1)
        self.last_size = None

    def forward(self, img, threshold):
        self.last_size = (img.shape[2], img.shape[3])
        f = self.backbone(img)
        score = self.cls(f).sigmoid().flatten()
        boxes = self.box(f).permute(0, 2, 3, 1).reshape(-1, 4)
        keep = (score > threshold).nonzero().squeeze(-1)
        n = keep.shape[0]
        if n == 0:
            logger.info("nothing found")
        picked = boxes[keep].exp().clamp(max=50.0)
        area = (picked[:, 2] * picked[:, 3]).sum()
        logger.info("%d boxes, area %.2f", n, area.item())
        return area


torch.manual_seed(9)
det = Detector().eval()
run = torch.compile(det)
with torch.no_grad():
    for size, t in ((16, 0.45), (20, 0.5), (24, 0.5), (16, 0.55)):
        print(size, "%.3f" % run(torch.randn(1, 3, size, size), t).item(), det.last_size)
