"""shapes.py FOLDER: the models of the zoo (zoo_models.py) as exported programs, FOLDER/NAME.pt2. One that torch cannot export goes to
standard error with the reason."""
import os
import sys
import warnings

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "fixtures")]
warnings.simplefilter("ignore")
folder, sys.argv[1:] = sys.argv[1], []  # zoo.py has arguments of its own

import torch
import zoo
import zoo_models

for name in zoo_models.ZOO:
    module, inputs, _, shapes, _ = zoo.make(name)
    try:
        torch.export.save(torch.export.export(module, inputs, dynamic_shapes=shapes), f"{folder}/{name}.pt2")
    except Exception as e:  # noqa: BLE001 - says which and why
        print(f"{name}: {type(e).__name__}: {str(e).splitlines()[0]}", file=sys.stderr)
