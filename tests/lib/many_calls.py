#!/usr/bin/env python3
"""many_calls.py debug FOLDER N [--no-handles] | package PACKAGE.pt2 OUT.pt2 N [--no-handles] : N calls, as Inductor writes them.

debug: the first compilation of torch_compile_debug (tests/data/inductor/models.tar.xz, unpacked in FOLDER) becomes a chain of N kernels,
in its code, its graph, its IR and its node mappings. package: mlp_provenance's text calls a kernel N times. --no-handles: without the comments
that say which call is which, as older releases write it."""
import glob
import json
import re
import sys
import zipfile

kind, path, *rest = [a for a in sys.argv[1:] if not a.startswith("--")]
n, handles = int(rest[-1]), "--no-handles" not in sys.argv


def read(name):
    with open(name) as f:
        return f.read()


def write(name, text):
    with open(name, "w") as f:
        f.write(text)


def debug():
    folder = sorted(glob.glob(path + "/*/run*/torchinductor/model__0_*"))[0]
    before = lambda i: f"buf{i - 1}" if i else "arg1_1"
    node = lambda i: f"maximum_{i - 1}" if i else "arg1_1"

    code = read(folder + "/output_code.py")
    begin, end = code.index("        buf0 = empty"), code.index("        del arg0_1")
    one = code[begin:end]
    if not handles:
        one = re.sub(r".*Provenance debug handles.*\n", "", one)
    call = lambda i: one.replace("(arg1_1, arg0_1, buf0)", f"({before(i)}, arg0_1, buf{i})").replace("buf0 =", f"buf{i} =").replace("_0:1\n", f"_0:{i + 1}\n")
    write(folder + "/output_code.py", code[:begin] + "".join(map(call, range(n))) + code[end:].replace("(buf0, )", f"(buf{n - 1}, )"))

    for name in ("fx_graph_transformed.py", "fx_graph_readable.py"):
        graph = read(f"{folder}/{name}")
        begin, end = graph.index("        # File"), graph.index("        return (maximum,)")
        one = graph[begin:end].replace(";  arg0_1 = None", "").replace(";  arg1_1 = neg = None", "")
        nodes = lambda i: one.replace("neg:", f"neg_{i}:").replace("maximum:", f"maximum_{i}:").replace("(arg1_1, neg)", f"({node(i)}, neg_{i})")
        write(f"{folder}/{name}", graph[:begin] + "".join(map(nodes, range(n))) + f"        return (maximum_{n - 1},)\n")

    for name in ("ir_pre_fusion.txt", "ir_post_fusion.txt"):
        one = read(f"{folder}/{name}")
        write(f"{folder}/{name}", "".join(one.replace("arg1_1", before(i)).replace("op0", f"op{i}").replace("buf0", f"buf{i}") for i in range(n)))

    mapping = {f"cpp_fused_maximum_neg_0:{i + 1}": [f"maximum_{i}", f"neg_{i}"] for i in range(n)}
    write(folder + "/inductor_provenance_tracking_node_mappings.json", json.dumps({"cppCodeToPost": mapping}))


def package():
    with zipfile.ZipFile(path) as z:
        members = {i.filename: z.read(i) for i in z.infolist()}
    cpp, info = (next(name for name in members if name.endswith(end)) for end in (".wrapper.cpp", "kernel_information.json"))
    text = members[cpp].decode()
    begin, end = text.index("    // [Provenance debug handles] cpp_fused_relu_0:2"), text.index("    static constexpr int64_t int_array_6[]")
    one = text[begin:end] if handles else text[text.index("\n", begin) + 1 : end]
    members[cpp] = (text[:begin] + "".join(one.replace(":2\n", f":{i + 2}\n") for i in range(n)) + text[end:]).encode()
    about = json.loads(members[info])["cpp_fused_relu_0:2"]
    members[info] = json.dumps({f"cpp_fused_relu_0:{i + 2}": about | {"post_grad_nodes": [f"relu_{i}"]} for i in range(n)}).encode()
    with zipfile.ZipFile(rest[0], "w") as z:
        for name, data in members.items():
            z.writestr(name, data)


debug() if kind == "debug" else package()
