"""The twin of programs/driver.py."""
import ctypes
import json
import sys

import twin

driver = ctypes.CDLL("libcuda.so.1")
if twin.planted(1):
    print("ERROR: ld.so: object 'libpt2probe.so' from LD_PRELOAD cannot be preloaded: ignored.", file=sys.stderr)
print(json.dumps({"found": [n for n in sys.argv[1:] if hasattr(driver, n)], "missing": [n for n in sys.argv[1:] if not hasattr(driver, n)],
                  "driver": 12000, "sum": twin.total(twin.tensor([0.0, 1.0, 2.0, 3.0]))}))
