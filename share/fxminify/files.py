"""The files that a program reads of the folder where it was started, in the empty one of a test. trial.py and prelude.py follow it."""
import os
import sys


def find_files(folder):
    """Files of this folder, where the program was started, are in the empty one, too, once it reads them. Returns their names, as they are found."""
    names = []

    def look(event, args):
        if event not in ("open", "ctypes.dlopen") or not isinstance(args[0], (str, bytes)) or event == "open" and set(args[1] or "r") & set("wax+"):
            return
        name = os.fsdecode(args[0])
        there = os.path.join(folder, name)
        if name and not os.path.isabs(name) and ".." not in name.split(os.sep) and os.path.isfile(there) and not os.path.lexists(name):
            names.append(name)
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            os.symlink(there, name)
    eval_frame = sys.modules.get("torch._dynamo.eval_frame")
    if hasattr(eval_frame, "skip_code"):
        eval_frame.skip_code(look.__code__)  # called in a compiled function, Dynamo would capture it
    sys.addaudithook(look)
    return names
