"""driver.py FUNCTION... : which of these the driver has; imports torch and a few modules that need the system's libraries, as a program does."""
import contextlib
import ctypes
import importlib
import json
import sys
import zlib

import torch

import gpu

for name in "bz2", "lzma", "sqlite3", "ssl":
    with contextlib.suppress(ImportError):  # some Pythons are built without one
        importlib.import_module(name)
driver = ctypes.CDLL("libcuda.so.1" if gpu.cuda else None)
version = ctypes.c_int()
if gpu.cuda:
    driver.cuDriverGetVersion(ctypes.byref(version))
x = torch.arange(4.0, device=gpu.device)
print(json.dumps({"found": [n for n in sys.argv[1:] if hasattr(driver, n)], "missing": [n for n in sys.argv[1:] if not hasattr(driver, n)],
                  "driver": version.value, "sum": gpu.total(x), "zlib": zlib.crc32(b"1")}))
