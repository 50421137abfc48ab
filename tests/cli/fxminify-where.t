#!/bin/bash
# Where wrong values are looked for first: one call of each kind of the graph (share/fxminify/where.py).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

cat >where.py <<'PY'
import ast, sys
names = {}
for path in sys.argv[1:]:
    exec(open(path).read(), names)
T = {"kind": "tensor", "dtype": "float32", "size": [8, 16], "stride": [16, 1]}
body, metas, values, last = [], {"x": T, "w": T}, {"x": 1, "w": 1}, "x"
def call(name, text, meta=T):
    body.append(f"        {name} = {text}")
    metas[name] = meta
    if meta is T:
        values[name] = 1
for i in range(4):
    call(f"ln_{i}", f"torch.ops.aten.native_layer_norm.default({last}, [16], None, None, 1e-05)", {"kind": "tuple"})
    call(f"first_{i}", f"operator.getitem(ln_{i}, 0)")
    call(f"mm_{i}", f"torch.ops.aten.mm.default(first_{i}, w)")
    call(f"add_{i}", f"torch.ops.aten.add.Tensor(mm_{i}, {last})")
    last = f"add_{i}"
call("rand", "torch.ops.aten.rand_like.default(x)")
call("put", "torch.ops.aten.copy_.default(x, rand)")
call("mul", "torch.ops.aten.mul.Tensor(put, 2)")
call("mul_1", "torch.ops.aten.mul.Tensor(mul, 2)")
call("triple", "torch.ops.aten.mul.Tensor(mul, 3)")
def few(body, returned):
    tree = ast.parse("class Repro:\n    def forward(self, x, w):\n" + "\n".join(body) + f"\n        return ({returned},)\n")
    print(*(" ".join(names) for names in names["one_of_each"](tree, {"metas": metas, "values": values})), sep="; ")
    return tree
print(ast.unparse(few(body, "add_3, triple").body[0].body[0]))
few(body[:4], "add_0")
PY
ok "it runs" python3 where.py "$ROOT"/share/fxminify/{candidate,where}.py
is "one call of each kind, of recorded values; not by chance, not what writes; nothing where that is all of them" \
	"$(python3 where.py "$ROOT"/share/fxminify/{candidate,where}.py)" \
	'x first_0 w mm_0 put mul; first_0 mm_0 add_0 mul triple
def forward(self, x, first_0, w, mm_0, put, mul):
    ln_0 = torch.ops.aten.native_layer_norm.default(x, [16], None, None, 1e-05)
    first_0_alone = operator.getitem(ln_0, 0)
    mm_0_alone = torch.ops.aten.mm.default(first_0, w)
    add_0_alone = torch.ops.aten.add.Tensor(mm_0, x)
    mul_alone = torch.ops.aten.mul.Tensor(put, 2)
    triple_alone = torch.ops.aten.mul.Tensor(mul, 3)
    return (first_0_alone, mm_0_alone, add_0_alone, mul_alone, triple_alone)'
done_testing
