"""A command for fxminify, in the place of torch on a GPU: launches a kernel for a graph's relu, which makes an illegal access. 0: it still fails."""
import os
import sys

from twin import planted

with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
sticky = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath("."))), "sticky")
status = 1
try:
    from twin import launch, tensor, wait

    x = tensor([1.0] * 8)
    if "aten.relu" in text or os.path.exists("../broken"):
        launch("relu", "far", x, x, None)
        if planted(23):  # what one test breaks is broken for all that come later
            open("../broken", "w").close()
    wait()
except RuntimeError as e:
    print(e, file=sys.stderr)
    status = 0
sys.exit(status)
