"""driver.py FUNCTION... : which of these the driver has; imports torch and a few modules that need the system's libraries, as a program does."""
import bz2  # noqa: F401
import ctypes
import json
import lzma  # noqa: F401
import sqlite3  # noqa: F401
import ssl  # noqa: F401
import sys
import zlib

import torch

import gpu

driver = ctypes.CDLL("libcuda.so.1" if gpu.cuda else None)
version = ctypes.c_int()
if gpu.cuda:
    driver.cuDriverGetVersion(ctypes.byref(version))
x = torch.arange(4.0, device=gpu.device)
print(json.dumps({"found": [n for n in sys.argv[1:] if hasattr(driver, n)], "missing": [n for n in sys.argv[1:] if not hasattr(driver, n)],
                  "driver": version.value, "sum": gpu.total(x), "zlib": zlib.crc32(b"1")}))
