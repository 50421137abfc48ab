"""What the programs of the acceptance run share. PT2_GPU_DEVICE=cpu: on the CPU, where a scene makes sense there, to find slips without a GPU."""
import contextlib
import json
import os
import sys
import time
import traceback

import torch

device = os.environ.get("PT2_GPU_DEVICE", "cuda")
cuda = device == "cuda"


def wait():
    if cuda:
        torch.cuda.synchronize()


def total(t):
    """One number of all elements, exact enough to tell two results apart."""
    wait()
    return t.detach().double().sum().item()


def side_stream():
    """(stream, what makes it the current one)"""
    if not cuda:
        return None, contextlib.nullcontext()
    s = torch.cuda.Stream()
    return s, torch.cuda.stream(s)


def sleep(ms=50):
    """The current stream does nothing for about that long."""
    if cuda:
        torch.cuda._sleep(int(ms * 1.7e6))


def steps(function, n):
    """Milliseconds of each of n calls, after two to get warm."""
    for _ in range(2):
        function()
    wait()
    began = time.perf_counter()
    for _ in range(n):
        function()
    wait()
    return (time.perf_counter() - began) * 1000 / n


def play(scenes):
    """Plays the scenes named on the command line: those may have arguments behind a colon. An error ends with its first line and status 1; where it comes from is on
    standard error."""
    torch.manual_seed(0)
    for name in sys.argv[1:]:
        name, *arguments = name.split(":")
        try:
            scenes[name](*arguments)
            wait()
        except Exception as e:
            print(type(e).__name__ + ":", str(e).splitlines()[0] if str(e) else "", flush=True)
            traceback.print_exc()
            sys.exit(1)


def tell(**facts):
    print(json.dumps(facts), flush=True)
