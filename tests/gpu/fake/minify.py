"""A command for fxminify, in the place of torch on a GPU: launches a kernel for a graph's relu, which makes an illegal access. 0: it still fails."""
import sys

from twin import planted

with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
status = 1
try:
    from twin import launch, tensor, wait

    x = tensor([1.0] * 8)
    if ("aten.cos" if planted(23) else "aten.relu") in text:  # planted: what fails is another's kernel
        launch("relu", "far", x, x, None)
    wait()
except RuntimeError as e:
    print(e, file=sys.stderr)
    status = 0
sys.exit(status)
