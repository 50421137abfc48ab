#!/usr/bin/env python3
"""rezip.py ARCHIVE OUT -END : the archive, stored, without the members that end so;
rezip.py ARCHIVE OUT END OLD NEW : with NEW for OLD in the members that end so."""
import sys
import zipfile

source, out, end, *change = sys.argv[1:]
with zipfile.ZipFile(source) as z, zipfile.ZipFile(out, "w") as w:
    for m in z.infolist():
        data = z.read(m)
        if change and m.filename.endswith(end):
            data = data.replace(*(text.encode() for text in change))
        if change or not m.filename.endswith(end[1:]):
            w.writestr(m.filename, data)
