#!/usr/bin/env python3
"""deflated.py ARCHIVE OUT [END=MIB[xFILL]...] [-END...] [+NAME...] : the archive with every member deflated, as a zip program would
write it anew. END=MIB: the members that end so have MIB of zeros (or of FILL) behind their bytes, which costs a thousandth of that in the
archive; without a checksum, for nobody wants to wait for it. -END: without them. +NAME: with an empty one, beside the largest member.
END:SECTION=MIB: inside of a library, in that section, which then lies at its end."""
import struct
import sys
import zipfile
import zlib

source, out, *changes = sys.argv[1:]
u16, u32 = (lambda n: struct.pack("<H", n)), (lambda n: struct.pack("<I", n))


def deflate(data, mib, fill):
    """Blocks of deflate are joined at byte boundaries, so that one MiB is packed once. -> bytes, their size when inflated"""

    def block(part, end):
        z = zlib.compressobj(9, zlib.DEFLATED, -15)
        return z.compress(part) + z.flush(end)

    whole = (fill * ((1 << 20) // len(fill) + 1))[: 1 << 20]
    return block(data, zlib.Z_FULL_FLUSH) + block(whole, zlib.Z_FULL_FLUSH) * mib + block(b"", zlib.Z_FINISH), len(data) + (mib << 20)


def grow_section(so, name, mib):
    """The section moves to the end of the file, where it goes on for MIB."""
    so = bytearray(so + bytes(-len(so) % 4096))
    table, (n, names) = struct.unpack_from("<Q", so, 40)[0], struct.unpack_from("<HH", so, 60)
    texts = struct.unpack_from("<Q", so, table + 64 * names + 24)[0]
    for at in range(table, table + 64 * n, 64):
        begin = texts + struct.unpack_from("<I", so, at)[0]
        if so[begin : so.index(0, begin)].decode() == name:
            old, size = struct.unpack_from("<QQ", so, at + 24)
            struct.pack_into("<QQ", so, at + 24, len(so), size + (mib << 20))
            return bytes(so + so[old : old + size])
    sys.exit(f"no section {name}")


with zipfile.ZipFile(source) as z:
    members = {i.filename: z.read(i) for i in z.infolist()}
folder = max(members, key=lambda name: len(members[name])).rsplit("/", 1)[0]
grown = {}
for change in changes:
    if change.startswith("-"):
        members = {name: data for name, data in members.items() if not name.endswith(change[1:])}
    elif change.startswith("+"):
        members[f"{folder}/{change[1:]}"] = b""
    else:
        end, size = change.split("=")
        end, _, section = end.partition(":")
        mib, _, fill = size.partition("x")
        for name in [name for name in members if name.endswith(end)]:
            if section:
                members[name] = grow_section(members[name], section, int(mib))
            grown[name] = int(mib), fill.encode() or b"\0"

body = directory = b""
for name, data in members.items():
    packed, size = deflate(data, *grown.get(name, (0, b"\0")))
    crc = 0 if name in grown else zlib.crc32(data)
    common = u16(20) + u16(0) + u16(8) + u32(0) + u32(crc) + u32(len(packed)) + u32(size) + u16(len(name.encode()))
    directory += b"PK\1\2" + u16(20) + common + u16(0) * 4 + u32(0) + u32(len(body)) + name.encode()
    body += b"PK\3\4" + common + u16(0) + name.encode() + packed
with open(out, "wb") as f:
    f.write(body + directory + b"PK\5\6" + u16(0) * 2 + u16(len(members)) * 2 + u32(len(directory)) + u32(len(body)) + u16(0))
