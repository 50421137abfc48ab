"""kernelroles.py TEXT...: what is wrong with how share/jit/rewrite.py reads generated wrappers, a line each; nothing: all is well.

An independent reading of the same text, by regular expressions where rewrite.py has a syntax tree:
- every call of a kernel or operator is a call of the contract, at its line;
- every pointer of a Triton kernel's signature has the role that its stores, atomics and loads show, and nothing else has a role;
- nothing is read that no call wrote and that is no input: neither a stream nor a number has become a buffer;
- nothing is noted as not understood, and the rewritten text compiles.
"""
import importlib.util
import os
import re
import sys

spec = importlib.util.spec_from_file_location("rewrite", os.path.join(os.path.dirname(__file__), "../../share/jit/rewrite.py"))
rewrite = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rewrite)

KERNEL = re.compile(r"^(\w+) = async_compile\.triton\('(\w+)', '''\n(.*?)^'''", re.S | re.M)
CALL = re.compile(r"^ +(?:\S.* = )?((?:triton_|multi_kernel_|cpp_fused)\w*|extern_kernels\.\w+|(?:torch\.ops|aten|inductor_ops|_quantized)\.[\w.]+)(\.run)?\(")
UNLOOKED = re.compile(r"\.(empty|empty_like|empty_strided|new_empty|_alloc_from_pool|alloc_from_pool|resize_)\b")


# Programs with a subgraph that runs more than once, with other tensors: what it is given is not followed, and a note says so.
NOTED = ("while_loop", "invoke_subgraph")
# Kernels that are more than one function with one name for a pointer: read by a person.
ROLES = {
    "add_one_0": "in out",
    "in_steps_0": "inout out inout",
    "by_descriptor_0": "in out",
    "by_block_pointer_0": "in out",
    "copy_block_0": "in out",
    "triton_tem_fused_mm_0": "in in out out",  # the last: memory that is not used
    "triton_tem_fused_bmm_exp_0": "in in out",
    "triton_tem_fused_add_mm_relu_0": "in in in out",
    "triton_tem_fused_convolution_1": "in in out",
    "triton_tem_fused_flex_attention_5": "in in in out out in in in in out",  # Q, K, V, LSE, MAX, blocks, result
    "triton_tem_fused_flex_attention_backward_1": "in in in in in in out out in in in in in in in in out",  # ..., DQ, DV, blocks, DK
    "triton_tem_fused__to_copy_flex_attention_ones_slice_sum_transpose_zeros_2": "in in in out out in in in in out",
}


def whole_lines(source):
    """Calls over several lines as one."""
    line = ""
    for part in source.split("\n"):
        line += part
        if line.count("(") <= line.count(")"):
            yield line
            line = ""


def pointers(source):
    """{parameter: (read, written)}: a name for a pointer is any that is assigned an expression with a pointer's name outside a load."""
    signature = re.search(r"'signature': \{([^}]*)\}", source).group(1)
    names = re.findall(r"'(\w+)': '(?:\*|tensordesc|nvTmaDesc)", signature)
    lines, found = list(whole_lines(source)), {}
    for name in names:
        same = {name}
        for line in lines:
            m = re.match(r"\s+(\w+)(?:\s*:\s*[\w.]+)?\s*\+?= (.*)", line)
            if m and not re.search(r"load\(|atomic_|_lookback\(", m.group(2)) and any(re.search(r"\b%s\b" % n, m.group(2)) for n in same):
                same.add(m.group(1))
        of = r"(?:%s)\b" % "|".join(sorted(same))
        body = "\n".join(lines)
        described = r"make_tensor_descriptor\(%s.*\)\." % of
        read = re.search(described + r"load\(|" r"(?:load|atomic_\w+)\(\s*(?:tl.make_block_ptr)?\(?%s|\b%s\.load\(|triton_helpers\.\w+\(\s*%s" % (of, of, of), body)
        written = re.search(described + r"store\(|" r"(?:store|atomic_\w+)\(\s*(?:tl.make_block_ptr)?\(?%s|\b%s\.store\(|triton_helpers\.\w+\(\s*%s" % (of, of, of), body)
        found[name] = (bool(read), bool(written) and not name.startswith("in_ptr"))  # torch writes through no in_ptr
    return names, found


def wrong(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    table = rewrite.Table(text, path)
    table.compile(0, 0)
    contract = table.contract()
    noted = os.path.basename(path).startswith(NOTED)
    if noted and not any("not followed" in note for note in contract["notes"]):
        yield "no note"
    for note in contract["notes"]:
        if not noted or "not followed" not in note:
            yield "note: " + note
    for name in table.left_out():
        yield "no call of %s is seen" % name
    # Calls.
    lines = {c["line"]: c for c in contract["calls"]}
    inside = False
    for i, line in enumerate(text.split("\n"), 1):
        inside = bool(re.match(r"(    )?def ", line)) and not re.match(r" *def (get_args|benchmark|__init__|recursively)", line) or inside and not re.match(r"\S", line)
        inside = inside and not re.match(r" *def (get_args|benchmark|__init__|recursively)", line)
        m = CALL.match(line)
        if inside and m and not UNLOOKED.search(m.group(1)) and i not in lines:
            yield "line %d: the call of %s is not seen" % (i, m.group(1))
        if inside and ".run(" in line and i not in lines:
            yield "line %d: a kernel runs unseen" % i
    # Roles.
    kernels = {name: source for name, _, source in KERNEL.findall(text)}
    for call in contract["calls"]:
        source = kernels.get(call["name"])
        roles = [a["role"] for a in call["args"] if a["role"] != "scalar"]
        if call["name"] in ROLES:
            if " ".join(roles) != ROLES[call["name"]]:
                yield "%s: %s, not %s" % (call["name"], " ".join(roles), ROLES[call["name"]])
        elif call["kind"] == "kernel" and source:
            names, found = pointers(source)
            signature = re.findall(r"'(\w+)': '([^']*)'", re.search(r"'signature': \{([^}]*)\}", source).group(1))
            declared = re.search(r"^def \w+\(([^)]*)\)", source[source.index("@triton_heuristics."):], re.M).group(1)
            signature = [(n, t) for n, t in signature if not re.search(r"\b%s ?: ?tl.constexpr" % n, declared)]  # those are not passed
            for (name, type_), arg in zip(signature, call["args"]):
                role = arg["role"]
                if name not in found:
                    if role != "scalar":
                        yield "%s: %s is %s, and no pointer" % (call["name"], name, role)
                    continue
                read, written = found[name]
                mutated = re.search(r"'mutated_arg_names': \[[^\]]*'%s'" % name, source)
                fits = {"in": not written, "out": written, "inout": written and (read or bool(mutated)), "scalar": False}[role]
                if not fits or (role == "in" and mutated and not name.startswith("in_ptr")):
                    yield "%s: %s (%s) is %s; read: %s, written: %s, mutated: %s" % (call["name"], name, arg["text"], role, read, written, bool(mutated))
            for arg in call["args"][len(signature):]:
                if arg["role"] != "scalar":
                    yield "%s: %s is %s, and no argument of the kernel" % (call["name"], arg["text"], arg["role"])
        for arg in call["args"]:
            if arg["value"] is None and re.match(r"(buf|arg|primals_|tangents_)\d+(_1)?$", arg["text"]) and arg["text"] not in ("s", ):
                yield "%s: %s has no role" % (call["name"], arg["text"])
    for o in contract["outputs"]:
        if not o["none"] and o["value"] is None:
            yield "output %s is unknown" % o["name"]
    if noted:
        return
    # What is read was written.
    have = set()
    values = contract["values"]

    def keys(v):
        at = values[v]["storage"]
        if at is not None and contract["storages"][at]["bytes"] == 0:
            return have  # of no elements
        return {("name", values[v]["name"])} | ({("storage", at)} if at is not None else set())

    for call in contract["calls"]:
        for arg in call["args"]:
            v = arg["value"]
            if v is not None and values[v]["kind"] == "buffer" and arg["role"] in ("in", "inout") and not keys(v) & have:
                yield "%s reads %s, which nothing wrote" % (call["name"], arg["text"])
        for arg in call["args"]:
            if arg["value"] is not None and arg["role"] in ("out", "inout"):
                have |= keys(arg["value"])
    for v in values:
        if v["kind"] == "buffer" and not keys(values.index(v)) & have and not re.match(r"pool\d", v["name"]):
            yield "%s is a buffer that nothing wrote" % v["name"]


bad = 0
for path in sys.argv[1:]:
    for line in wrong(path):
        bad = 1
        print("%s: %s" % (os.path.basename(path), line))
sys.exit(bad)
