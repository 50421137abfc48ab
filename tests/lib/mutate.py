#!/usr/bin/env python3
"""mutate.py PACKAGE OUT SEED: a copy of a compiled package in which one instruction of one kernel computes something else.

Prints "KERNEL<tab>KIND<tab>ADDRESS<tab>WHAT". Only the binary is changed, not its text: an operator (vaddps becomes vsubps), the sign of a fused
multiplication, what a comparison asks, a constant, the bound of a loop. Needs objdump (binutils). Exit status 1: no kernel has a place for it.
"""
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

ARITH = {0x58: "add", 0x59: "mul", 0x5C: "sub", 0x5E: "div", 0x5D: "min", 0x5F: "max"}


def kernels(so):
    """Each kernel's instructions: (address, bytes, text); and how often each address of data is referred to."""
    text = subprocess.run(["objdump", "-d", "--insn-width=16", so], capture_output=True, text=True, check=True).stdout
    found, refs, name = {}, {}, None
    for line in text.splitlines():
        if m := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            name = m[1] if re.match(r"cpp_\w+$", m[1]) else None  # not their .cold parts
        elif m := re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+)\t(.*)$", line):
            if r := re.search(r"# ([0-9a-f]+) ", m[3]):
                refs[int(r[1], 16)] = refs.get(int(r[1], 16), 0) + 1
            if name:
                found.setdefault(name, []).append((int(m[1], 16), bytes.fromhex(m[2]), m[3]))
    return found, refs


def opcode_at(code):
    """Where the opcode stands behind a VEX or EVEX prefix; None: another encoding."""
    return {0xC5: 2, 0xC4: 3, 0x62: 5 if code[:1] == b"\x62" else 4}.get(code[0]) if len(code) > 4 else None


def places(instructions, refs):
    """What may be changed: (kind, address to write at or of data, new bytes or None, words)."""
    for at, code, text in instructions:
        op = text.split()[0]
        k = opcode_at(code)
        if k is not None and k + 1 < len(code) and re.match(r"v(add|mul|sub|div|min|max)[ps][sd]$", op) and code[k] in ARITH:
            for new in ARITH:
                if new != code[k]:
                    yield "operator", at + k, bytes([new]), "%s becomes %s" % (text, ARITH[new])
        elif k is not None and re.match(r"vfmadd(132|213|231)[ps][sd]$", op) and code[k] & 0xF in (8, 9):
            yield "operator", at + k, bytes([code[k] + 2]), text + " becomes a difference"
            yield "operator", at + k, bytes([code[k] + 4]), text + " becomes negative"
        elif k is not None and re.match(r"vcmp\w*[ps][sd]$", op):
            yield "comparison", at + len(code) - 1, bytes([code[-1] ^ 4]), text + " asks the opposite"
            yield "comparison", at + len(code) - 1, bytes([code[-1] ^ 3]), text + " asks another"
        elif re.match(r"cmp\s*\$0x[0-9a-f]+,%[re]", text) and code[0] in (0x48, 0x49, 0x41, 0x83, 0x81) and 1 < code[-1] < 128 and code[-2] >= 0xF8:
            yield "bound", at + len(code) - 1, bytes([code[-1] - 1]), text + " is 1 less"
        elif m := re.search(r"# ([0-9a-f]+) ", text):
            if re.match(r"v(broadcastss|mulss|addss|subss|divss|movss|mulps|addps)$", op) and refs[int(m[1], 16)] == 1:
                yield "constant", int(m[1], 16), None, text


def segments(so):
    out = subprocess.run(["readelf", "-lW", so], capture_output=True, text=True, check=True).stdout
    return [tuple(int(x, 16) for x in re.split(r"\s+", line.strip())[1:5]) for line in out.splitlines() if line.strip().startswith("LOAD")]


def mutate(so, rng):
    found, refs = kernels(so)
    data = bytearray(open(so, "rb").read())
    choices = {}
    for name, instructions in found.items():
        for kind, at, new, words in places(instructions, refs):
            choices.setdefault(kind, {}).setdefault(name, []).append((at, new, words))
    if not choices:
        return None
    kind = rng.choice(sorted(choices))
    name = rng.choice(sorted(choices[kind]))
    at, new, words = rng.choice(choices[kind][name])
    for offset, address, _, size in segments(so):
        if address <= at < address + size:
            place = at - address + offset
    if new is None:
        was = struct.unpack_from("<f", data, place)[0]
        new = struct.pack("<f", was * rng.choice([0.5, 0.9, -1, 1.25]) if was else 1.0)
    data[place:place + len(new)] = new
    return bytes(data), name, kind, at, words


def main():
    package, out, seed = sys.argv[1:4]
    with zipfile.ZipFile(package) as z:
        members = [(i.filename, z.read(i)) for i in z.infolist()]
    name = next(n for n, _ in members if n.endswith(".so"))
    with tempfile.NamedTemporaryFile(suffix=".so") as f:
        f.write(dict(members)[name])
        f.flush()
        changed = mutate(f.name, random.Random(int(seed)))
    if not changed:
        sys.exit(1)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as z:
        for n, b in members:
            z.writestr(zipfile.ZipInfo(n, (1980, 1, 1, 0, 0, 0)), changed[0] if n == name else b)
    print("%s\t%s\t%x\t%s" % changed[1:])


main()
