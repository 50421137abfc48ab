#!/usr/bin/env python3
"""peak.py COMMAND... : run it, with its output into the files out and err; prints its status and its peak memory in MB."""
import resource
import subprocess
import sys

with open("out", "wb") as out, open("err", "wb") as err:
    status = subprocess.run(sys.argv[1:], stdout=out, stderr=err).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
