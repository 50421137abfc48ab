"""bigcache.py CACHE NEW [GB]: a cache folder of many keys with the entries of CACHE under other names, and libraries of zeros behind an ELF header,
up to GB gigabytes (0.1). Prints how many files."""
import glob
import os
import random
import shutil
import struct
import sys

cache, new, size = sys.argv[1], sys.argv[2], float(sys.argv[3] or 0.1) * 1e9
draw = random.Random(1)
graphs = glob.glob(cache + "/fxgraph/*/*/*")
made = glob.glob(cache + "/aotautograd/*/*")
LIBRARY = 1200000


def name(n):
    return "".join(draw.choice("abcdefghijklmnopqrstuvwxyz234567") for _ in range(n))


files = total = 0
for i in range(int(size / 5e6)):
    for kind, entries in (("fxgraph", graphs), ("aotautograd", made)):
        key = kind[0] + name(51)
        folder = os.path.join(new, kind, key[1:3] if kind == "fxgraph" else "", key)
        os.makedirs(folder)
        path = os.path.join(folder, name(51))
        shutil.copyfile(entries[i % len(entries)], path)
        total += os.path.getsize(path)
        files += 1
while total < size:
    key = "c" + name(51)
    os.makedirs(os.path.join(new, key[1:3]), exist_ok=True)
    with open(os.path.join(new, key[1:3], key + ".so"), "wb") as f:
        f.write(b"\x7fELF\x02\x01\x01" + bytes(33) + struct.pack("<Q", LIBRARY - 64) + bytes(10) + struct.pack("<HHH", 64, 1, 0))
        f.truncate(LIBRARY)
    total += LIBRARY
    files += 1
print(files)
