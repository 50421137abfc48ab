#!/usr/bin/env python3
"""bad_aoti.py PACKAGE.pt2 : damaged and hostile models in models/, damaged tensor files in tensors/, from a good package.
In either/ are models that may be read or refused."""
import io
import json
import os
import pickle
import struct
import sys
import zipfile
import zlib

good = open(sys.argv[1], "rb").read()
members = {i.filename: zipfile.ZipFile(io.BytesIO(good)).read(i) for i in zipfile.ZipFile(io.BytesIO(good)).infolist()}
so_name, so = next((n, d) for n, d in members.items() if n.endswith(".so"))
cpp_name, cpp = next((n, d) for n, d in members.items() if n.endswith(".wrapper.cpp"))
u16, u32, u64 = (lambda n: struct.pack("<H", n)), (lambda n: struct.pack("<I", n)), (lambda n: struct.pack("<Q", n))
MAX16, MAX32, MAX64 = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def put(data, at, new):
    return data[:at] + new + data[at + len(new):]


def write(name, data):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        f.write(data)


def model(name, data):
    write(f"models/{name}", data)


def archive(entries, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in entries.items():
            z.writestr(name, data)
    return out.getvalue()


def truncated():
    end = good.rindex(b"PK\5\6")
    directory = struct.unpack_from("<I", good, end + 16)[0]
    if directory == MAX32:  # zip64
        directory = struct.unpack_from("<Q", good, good.rindex(b"PK\6\6") + 48)[0]
    for n in (1, 4, 29, 30, 31, 1000, len(good) // 2, directory, directory + 1, directory + 50, end - 1, end, end + 4, end + 21):
        model(f"truncated_{n}.pt2", good[:n])
    return directory, end


def lies(directory, end):
    """One lie each: in the end record, and in the entry and the header of the text."""
    plain = archive(members)
    plain_end = plain.rindex(b"PK\5\6")
    start = struct.unpack_from("<I", plain, plain_end + 16)[0]
    for field, at, sizes in (("entries", 10, (0, 1, 3, MAX16 - 1)), ("size", 12, (0, 1, MAX32 - 1)), ("offset", 16, (0, 1, len(plain), MAX32 - 1))):
        for n in sizes:
            model(f"end_{field}_{n}.pt2", put(plain, plain_end + at, u16(n) if at == 10 else u32(n)))
    model("disk.pt2", put(plain, plain_end + 4, u16(1)))
    entry = plain.index(cpp_name.encode(), start) - 46  # the text is always read
    fields = {"flags_encrypted": (8, u16(1)), "method_lzma": (10, u16(14)), "method_99": (10, u16(99)), "crc": (16, u32(1)), "packed_huge": (20, u32(MAX32 - 1)),
              "size_huge": (24, u32(MAX32 - 1)), "sizes_differ": (24, u32(1)), "name_long": (28, u16(MAX16)), "extra_long": (30, u16(MAX16)),
              "comment_long": (32, u16(MAX16)), "header_far": (42, u32(len(plain))), "header_wrong": (42, u32(1)), "zip64_missing": (24, u32(MAX32))}
    for name, (at, new) in fields.items():
        model(f"entry_{name}.pt2", put(plain, entry + at, new))
    header = struct.unpack_from("<I", plain, entry + 42)[0]
    model("local_signature.pt2", put(plain, header, b"XX"))
    model("local_name.pt2", put(plain, header + 30, b"zzzz"))
    model("local_name_long.pt2", put(plain, header + 26, u16(MAX16)))
    # All members are one and the same bytes: a small file that is large when unpacked.
    twin = plain
    for i in range(start, plain_end):
        if plain[i:i + 4] == b"PK\1\2":
            twin = put(twin, i + 42, plain[start + 42:start + 46])
    model("overlap.pt2", twin)
    locator = good.rfind(b"PK\6\7")
    if locator >= 0:
        record = struct.unpack_from("<Q", good, locator + 8)[0]
        wide = put(good, end + 8, u16(MAX16) * 2 + u32(MAX32) * 2)
        for n in (1, len(good), 1 << 40, MAX64):
            for name, at in (("entries", record + 32), ("size", record + 40), ("offset", record + 48)):
                model(f"zip64_{name}_{n}.pt2", put(wide, at, u64(n)))
            write(f"either/zip64_locator_{n}.pt2", put(wide, locator + 8, u64(n)))  # the record may be found all the same


def bombs():
    zeros = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(zeros.compress(bytes(1 << 20)) for _ in range(600)) + zeros.flush()
    for name, size in (("lies", 100), ("true", 600 << 20), ("more", 3 << 30)):  # it becomes 600 MB; the directory says `size`
        file = b"bomb/data/aotinductor/model/x.wrapper.cpp"
        common = u16(20) + u16(0) + u16(8) + u32(0) + u32(0) + u32(len(packed)) + u32(size)
        local = b"PK\3\4" + common + u16(len(file)) + u16(0) + file + packed
        entry = b"PK\1\2" + u16(20) + common + u16(len(file)) + u16(0) + u16(0) + u16(0) + u16(0) + u32(0) + u32(0) + file
        model(f"bomb_{name}.pt2", local + entry + b"PK\5\6" + u16(0) * 2 + u16(1) * 2 + u32(len(entry)) + u32(len(local)) + u16(0))
    model("bomb_so.pt2", archive({so_name: bytes(100 << 20)}, zipfile.ZIP_DEFLATED))


def elf():
    """Bare libraries without any text: the file itself must be read."""
    shoff = struct.unpack_from("<Q", so, 40)[0]
    shnum, shstrndx = struct.unpack_from("<HH", so, 60)
    phoff = struct.unpack_from("<Q", so, 32)[0]
    header = {"magic": (1, b"ELG"), "class32": (4, b"\1"), "class9": (4, b"\11"), "executable": (16, u16(0)), "aarch64": (18, u16(183)),
              "riscv": (18, u16(243)), "phoff": (32, u64(MAX64 - 7)), "phnum": (56, u16(MAX16)), "phentsize": (54, u16(1))}
    for name, (at, new) in header.items():
        model(f"elf_{name}.so", put(so, at, new))
    for i in range(struct.unpack_from("<H", so, 56)[0]):
        if struct.unpack_from("<I", so, phoff + 56 * i)[0] in (1, 2):  # PT_LOAD, PT_DYNAMIC
            folder = "models" if struct.unpack_from("<I", so, phoff + 56 * i)[0] == 1 else "either"
            write(f"{folder}/elf_segment{i}_offset.so", put(so, phoff + 56 * i + 8, u64(MAX64 - 4095)))
            write(f"{folder}/elf_segment{i}_filesz.so", put(so, phoff + 56 * i + 32, u64(1 << 60)))
    # Nothing of these is needed to run a library.
    write("either/elf_big_endian.so", put(so, 5, b"\2"))
    write("either/elf_sections_end.so", put(put(so, 40, u64(len(so) - 10)), 60, u16(MAX16)))
    model("elf_segments_none.so", put(so, 56, u16(0)))
    sections = so
    for i in range(shnum):  # tables that all lie, and with them the segments
        sections = put(sections, shoff + 64 * i + 24, u64(MAX64 - 15) + u64(MAX64))
    model("elf_sections_lie.so", put(sections, phoff, bytes(struct.unpack_from("<H", so, 56)[0] * 56)))
    for n in (0, 1, 16, 63, 64, 1000, len(so) // 2):
        model(f"elf_truncated_{n}.so", so[:n])
    model("windows.so", b"MZ" + bytes(58) + u32(64) + b"PE\0\0" + u16(0x8664) + bytes(200))
    model("zeros.so", bytes(5000))
    model("text.so", b"INPUT(libfoo.so)\n")
    # A library that is one, but no model.
    model("no_model.so", so.replace(b"AOTInductorModel", b"AOTInductorMadel"))
    model("machine_aarch64.pt2", archive({so_name: put(so, 18, u16(183))}))
    model("windows.pt2", archive({so_name[:-3] + ".pyd": b"MZ" + bytes(500)}))
    model("windows_so.pt2", archive({so_name: b"MZ" + bytes(58) + u32(64) + b"PE\0\0" + u16(0x8664) + bytes(200)}))


def packages():
    stem = so_name.rsplit("/", 1)[0]
    model("empty.pt2", b"")
    model("empty_zip.pt2", b"PK\5\6" + bytes(18))
    model("noise.pt2", bytes((i * i * 31 + i // 7) % 256 for i in range(5000)))
    model("text.pt2", b"not a package\n")
    model("no_model.pt2", archive({n: d for n, d in members.items() if "aotinductor" not in n}))
    model("only_metadata.pt2", archive({n: d for n, d in members.items() if n.endswith("_metadata.json")}))
    model("only_kernel.pt2", archive({n: d for n, d in members.items() if n.endswith(".kernel.cpp")}))
    model("weights.npz", archive({"a.npy": npy("<f4", "(2,)", bytes(8))}))
    model("python.zip", archive({"__main__.py": b"print(1)\n"}))
    for name, text in {"noise": bytes(range(256)) * 50, "nul": b"\0" * 5000, "empty": b"", "cut": cpp[: len(cpp) // 4], "prose": b"hello { ( [ \" ' /* " * 500,
                       "deep": b"{" * 100000, "long_line": b"x" * 3000000, "open_raw_string": b'in_spec_ = R"(' + b"[" * 100000}.items():
        model(f"text_{name}.pt2", archive({f"{stem}/x.wrapper.cpp": text}))
    for name, spec in {"deep": b"[1, " + b'{"type": null, "context": null, "children_spec": [' * 20000, "wide": b"[" + b"1," * 200000}.items():
        begin = cpp.index(b'in_spec_ = R"(') + len(b'in_spec_ = R"(')
        write(f"either/spec_{name}.pt2", archive(members | {cpp_name: cpp[:begin] + spec + cpp[cpp.index(b')";', begin):]}))
    os.makedirs("models/empty_folder")
    write("models/odd_folder/notes.txt", b"nothing here\n")
    os.makedirs("models/odd_folder/x.wrapper.so")
    write("models/cut_folder/x.wrapper.so", so[:3000])
    os.symlink("/dev/null", "models/null.pt2")
    os.symlink("loop.pt2", "models/loop.pt2")
    os.symlink("missing", "models/dangling.pt2")


def npy(descr, shape, data=b"", version=1, order="False", length=None):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + (u16 if version == 1 else u32)(len(header) if length is None else length) + header + data


def tensor(name, data):
    write(f"tensors/{name}", data)


def npys():
    shapes = {"huge": "(1099511627776, 1099511627776)", "overflow": "(9223372036854775807, 2)", "beyond": "(99999999999999999999999,)", "negative": "(-3, -8)",
              "short": "(3, 8)", "nested": "((3,), 8)", "none": "None", "text": "'3'", "deep": "(" * 3000, "many": "(" + "1," * 3000 + ")", "float": "(3.5,)"}
    for name, shape in shapes.items():
        tensor(f"shape_{name}.npy", npy("<f4", shape, bytes(60)))
    for name, descr in {"object": "|O", "unicode": "<U8", "unknown": "<q9", "big_endian": ">f4", "empty": ""}.items():
        tensor(f"descr_{name}.npy", npy(descr, "(3, 8)", bytes(400)))
    tensor("record.npy", npy("<f4", "(3, 8)", bytes(96)).replace(b"'<f4'", b"[('a', '<f4')]"))
    tensor("length.npy", npy("<f4", "(3, 8)", bytes(96), length=MAX16))
    tensor("length_v2.npy", npy("<f4", "(3, 8)", bytes(96), version=2, length=MAX32))
    tensor("version.npy", npy("<f4", "(3, 8)", bytes(96), version=9))
    tensor("call.npy", npy("<f4", "__import__('os').system('touch pwned')", bytes(96)))
    for n in (1, 6, 8, 10, 40):
        tensor(f"cut_{n}.npy", npy("<f4", "(3, 8)", bytes(96))[:n])
    tensor("member_cut.npz", archive({"x.npy": npy("<f4", "(3, 8)", bytes(60))}))
    tensor("no_arrays.npz", archive({"x.txt": b"hello"}))
    tensor("cut.npz", archive({"x.npy": npy("<f4", "(3, 8)", bytes(96))})[:-30])


def safetensors():
    def file(header, data=bytes(96), length=None):
        return u64(len(header) if length is None else length) + header + data

    def entry(dtype="F32", shape=(3, 8), offsets=(0, 96)):
        return json.dumps({"x": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}}).encode()

    tensor("length_huge.safetensors", file(entry(), length=MAX64))
    tensor("length_2_62.safetensors", file(entry(), length=1 << 62))
    tensor("length_more.safetensors", file(entry(), length=5000))
    tensor("no_json.safetensors", file(b"hello, world"))
    tensor("deep.safetensors", file(b'{"x":' + b"[" * 100000))
    tensor("list.safetensors", file(b"[1, 2, 3]"))
    tensor("beyond.safetensors", file(entry(offsets=(0, 1 << 40))))
    tensor("backwards.safetensors", file(entry(offsets=(96, 0))))
    tensor("small.safetensors", file(entry(shape=(3, 9))))
    tensor("overflow.safetensors", file(entry(shape=(1 << 62, 1 << 62))))
    tensor("negative.safetensors", file(entry(shape=(-3, -8))))
    tensor("dtype.safetensors", file(entry(dtype="F33")))
    tensor("cut.safetensors", file(entry())[:40])


class Call:
    def __init__(self, function, *arguments):
        self.reduced = function, arguments

    def __reduce__(self):
        return self.reduced


def pt(data, extra=None):
    return archive({"x/data.pkl": data, "x/byteorder": b"little", "x/version": b"3\n", "x/data/0": bytes(96)} | (extra or {}))


def pickles():
    import os as module

    rebuild = b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(("
    storage = b"X\x07\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0%cX\3\0\0\0cpuK\x18tQ"
    whole = lambda rest, key=b"0": rebuild + storage % key + rest + b"tR."
    fine = b"K\0K\3K\x08\x86K\x08K\1\x86\x89ccollections\nOrderedDict\n)R"
    tensor("storage_missing.pt", pt(whole(fine, b"7")))
    tensor("size_huge.pt", pt(whole(b"K\0\x8a\x07" + b"\xff" * 6 + b"\x7f" + b"\x8a\x07" + b"\xff" * 6 + b"\x7f\x86K\x08K\1\x86\x89ccollections\nOrderedDict\n)R")))
    tensor("size_beyond.pt", pt(whole(b"K\0M\xe8\x03K\x08\x86K\x08K\1\x86\x89ccollections\nOrderedDict\n)R")))
    tensor("offset_beyond.pt", pt(whole(b"M\xe8\x03K\3K\x08\x86K\x08K\1\x86\x89ccollections\nOrderedDict\n)R")))
    tensor("stride_negative.pt", pt(whole(b"K\0K\3K\x08\x86J\xf8\xff\xff\xffK\1\x86\x89ccollections\nOrderedDict\n)R")))
    for protocol in (0, 1, 2, 4, 5):
        tensor(f"system_{protocol}.pt", pt(pickle.dumps(Call(module.system, "touch pwned"), protocol)))
    tensor("eval.pt", pt(pickle.dumps([Call(eval, "open('pwned', 'w')")], 2)))
    tensor("getattr.pt", pt(pickle.dumps(Call(getattr, "x", "join"), 2)))
    tensor("inst.pt", pt(b"(S'touch pwned'\nios\nsystem\n."))
    tensor("build.pt", pt(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}b."))
    tensor("persistent.pt", pt(b"\x80\x02K\1Q."))
    tensor("persistent_text.pt", pt(b"Phello\n."))
    tensor("empty_stack.pt", pt(b"\x80\x020000."))
    tensor("no_mark.pt", pt(b"\x80\x02t."))
    tensor("no_stop.pt", pt(b"\x80\x02]"))
    tensor("memo.pt", pt(b"\x80\x02j\xff\xff\xff\x7f."))
    tensor("put_far.pt", pt(b"\x80\x02Kr\xff\xff\xff\xff."))
    tensor("long_string.pt", pt(b"\x80\x02X\xff\xff\xff\xff."))
    tensor("long8_string.pt", pt(b"\x80\x04\x8d" + u64(1 << 62) + b"."))
    tensor("nested.pt", pt(b"\x80\x02" + b"(" * 200000 + b"t" * 200000 + b"."))
    tensor("laughs.pt", pt(b"\x80\x02](K\1K\1eq\0" + b"".join(b"0](h%ch%ceq%c" % (i, i, i + 1) for i in range(60)) + b"."))
    tensor("itself.pt", pt(b"\x80\x02]q\0h\0a."))
    tensor("opcode.pt", pt(b"\x80\x02\xfe."))
    tensor("nothing.pt", pt(b""))
    tensor("number.pt", pt(b"\x80\x02K\1."))
    tensor("big_endian.pt", pt(whole(fine), {"x/byteorder": b"big"}))
    tensor("no_pickle.pt", archive({"x/version": b"3\n"}))
    tensor("legacy_cut.pt", pickle.dumps(0x1950A86A20F9469CFC6C, 2))
    tensor("cut.pt", pt(whole(fine))[:60])


def files():
    tensor("empty.pt", b"")
    tensor("noise.npy", bytes((i * i * 31 + i // 7) % 256 for i in range(5000)))
    os.makedirs("tensors/folder.npy")
    os.symlink("/dev/null", "tensors/null.npy")


lies(*truncated())
bombs()
elf()
packages()
npys()
safetensors()
pickles()
files()
