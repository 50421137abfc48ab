"""The package around the compiled model: its cubins, its metadata, the zip.

    pack.py WRAPPER.cpp WRAPPER.so FOLDER PACKAGE.pt2

Kernels and their parameters are those of the wrapper's text: loadKernel("...cubin", NAME, ...) and the 'signature' of NAME's Triton source,
with the two scratch pointers that Triton adds. A cubin is an ELF file as ptxas of CUDA 12 writes it for sm_90, without code:
.text.NAME, .nv.info.NAME, a symbol table. The last parameters of the attributes: EIATTR_KPARAM_INFO is 0x17 with format 4, ordinals from
last to first; EIATTR_CBANK_PARAM_SIZE is 0x19 with format 3.
"""
import json
import os
import re
import struct
import sys
import zipfile

SIZE = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u32": 4, "u64": 8, "fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8}
EM_CUDA, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_CUDA_INFO = 190, 1, 2, 3, 0x70000000


def nv_info(sizes):
    out, at, offsets = b"", 0, []
    for size in sizes:
        at = (at + size - 1) // size * size
        offsets.append(at)
        at += size
    out += struct.pack("<BBH", 3, 0x19, at)
    for i in reversed(range(len(sizes))):
        out += struct.pack("<BBHIHHI", 4, 0x17, 12, 0, i, offsets[i], sizes[i] << 18 | 0x1F << 12)
    return out


def cubin(name, sizes, sm=90):
    strings, shstrings = b"\0" + name.encode() + b"\0", b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x12, 0x10, 4, 0, 128)
    sections = [  # name, type, flags, link, info, entsize, data
        (".shstrtab", SHT_STRTAB, 0, 0, 0, 0, None),
        (".strtab", SHT_STRTAB, 0, 0, 0, 0, strings),
        (".symtab", SHT_SYMTAB, 0, 2, 1, 24, symbols),
        (".text." + name, SHT_PROGBITS, 6, 3, 2, 0, bytes(128)),
        (".nv.info." + name, SHT_CUDA_INFO, 0, 3, 4, 0, nv_info(sizes)),
    ]
    at = {}
    for s in sections:
        at[s[0]] = len(shstrings)
        shstrings += s[0].encode() + b"\0"
    body, headers, begin = b"", bytes(64), 64
    for sname, kind, flags, link, info, entsize, data in sections:
        data = shstrings if data is None else data
        body += bytes(-len(body) % 8)
        headers += struct.pack("<IIQQQQIIQQ", at[sname], kind, flags, 0, begin + len(body), len(data), link, info, 8, entsize)
        body += data
    body += bytes(-len(body) % 8)
    ident = b"\x7fELF" + bytes([2, 1, 1, 0x33, 7]) + bytes(7)
    flags = 0x500 | sm << 16 | sm
    return ident + struct.pack("<HHIQQQIHHHHHH", 2, EM_CUDA, 124, 0, 0, begin + len(body), flags, 64, 56, 0, 64, len(sections) + 1, 1) + body + headers


def kernels(text):
    for path, name in re.findall(r'loadKernel\("([^"]+)", "([^"]+)"', text):
        source = text[text.index("async_compile.triton('%s'" % name) :]
        signature = re.search(r"'signature': \{([^}]*)\}", source).group(1)
        types = [t for t in re.findall(r"'[^']*': '([^']*)'", signature) if t != "constexpr"]
        yield os.path.basename(path), name, [8 if t.startswith("*") else SIZE[t] for t in types] + [8, 8]


def main():
    cpp, so, folder, package = sys.argv[1:]
    with open(cpp) as f:
        text = f.read()
    stem = os.path.basename(cpp)[: -len(".cpp")]
    metadata = {"AOTI_DEVICE_KEY": "cuda", "AOTI_PLATFORM": "linux", "AOTI_MACHINE": "x86_64", "AOTI_CPU_ISA": "AVX2", "AOTI_COMPUTE_CAPABILITY": "90"}
    files = {stem + ".cpp": text.encode(), stem + "_metadata.json": json.dumps(metadata).encode()}
    for file, name, sizes in kernels(text):
        files[file] = cubin(name, sizes)
    for file, data in files.items():
        with open(os.path.join(folder, file), "wb") as f:
            f.write(data)
    with open(so, "rb") as f:
        files[stem + ".so"] = f.read()
    with zipfile.ZipFile(package + ".new", "w", zipfile.ZIP_STORED) as z:
        for file, data in files.items():
            z.writestr(zipfile.ZipInfo("cudamodel/data/aotinductor/model/" + file), data)
        for file, data in (("archive_format", b"pt2"), ("archive_version", b"0"), (".data/version", b"3\n"), ("byteorder", b"little")):
            z.writestr(zipfile.ZipInfo("cudamodel/" + file), data)
    os.rename(package + ".new", package)


main()
