"""Writes a log with one graph of so many nodes, and code with a graph fragment above each kernel: large_graph.py NODES > large.log"""
import hashlib
import sys

body, params, runs, run = [], ['x: "f32[8, 512]"'], [], []


def node(op, *args):
    global run
    name = f"{op}_{len(body)}"
    body.append(f'        {name}: "f32[8, 512][512, 1]cpu" = torch.ops.aten.{op}.default({", ".join(args)})')
    if op == "mm":
        runs.append(run)
        run = []
    else:
        run.append(name)
    return name


def layer(x, number):
    weights = [f"w_{number}_{k}" for k in range(6)]
    params.extend(f'{w}: "f32[512, 512]"' for w in weights)
    q, k, v = (node("mm", x, w) for w in weights[:3])
    a = node("add", x, node("mm", node("mm", node("softmax", node("mm", q, k)), v), weights[3]))
    norm = node("mul", node("sub", a, node("mean", a)), node("rsqrt", node("var", a)))
    h = node("relu", node("mm", norm, weights[4]))
    return node("add", a, node("mm", node("mul", node("tanh", h), node("erf", h)), weights[5]))


def record(envelope, payload):
    digest = hashlib.md5(payload.encode()).hexdigest()
    print(f'V1121 07:59:23.000001 1 a.py:1] {{{envelope}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "{digest}"}}')
    print("\n".join("\t" + line for line in payload.split("\n")))


last, number = "x", 0
while len(body) < int(sys.argv[1]):
    last = layer(last, number)
    number += 1
head = ["class GraphModule(torch.nn.Module):", "    def forward(self, " + ", ".join(params) + "):"]
code = ["# AOT ID: ['0_inference']"]
for i, names in enumerate(r for r in runs if len(r) > 1):
    code += ["# Graph fragment:", *(f"#   %{n} : Tensor = call_function[target=torch.ops.aten.x](args = ())" for n in names)]
    code += [f"triton_fused_{i} = async_compile.triton('triton_fused_{i}', '''", "def kernel(): pass", "'''", ""]
print('V1121 07:59:23.000000 1 a.py:1] {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}')
record('"aot_inference_graph": {}', "\n".join(head + body + [f"        return ({last},)"]))
record('"inductor_post_grad_graph": {}', "\n".join(head + body + [f"        return ({last},)"]))
record('"inductor_output_code": {"filename": "/tmp/x.py"}', "\n".join(code))
