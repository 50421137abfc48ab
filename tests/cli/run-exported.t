#!/bin/bash
# pt2-run on exported programs: their graphs, node by node, against what eager gave; what is refused, and how.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/close.sh
. "$ROOT/tests/lib/close.sh"
P=$ROOT/tests/data/export/run
# inputs NAME: as operands; eager NAME: what eager gave, as outputs
inputs() { local i; for i in $(tensors "$P/$1.pt" | sed -n 's/^in\[\([0-9]*\)\].*/\1/p'); do echo "$P/$1.pt:in[$i]"; done; }
eager() { tensors "$P/$1.pt" | sed -n 's/^out\[\([0-9]*\)\]/out\1/p' | sort -V; }

for name in "$P"/*.pt2; do
	name=$(basename "$name" .pt2)
	mapfile -t in < <(inputs "$name")
	eager "$name" >want
	exits "$name runs" 0 pt2-run "$P/$name.pt2" "${in[@]}" -o got.pt
	is "$name: nothing is printed" "$(cat out err)" ""
	# A None has no place among what eager gave.
	tensors got.pt | sort -V | awk '$2 != "None" { sub(/^out[0-9]+/, "out" n++); print }' >got
	ok "$name: outputs equal eager's" close got want
	case $name in autocast | halves | whole | int8_*) continue ;; esac # types are what these are about, or roundings to int8
	exits "$name runs in double precision" 0 pt2-run --double "$P/$name.pt2" "${in[@]}" -o got.pt
	tensors got.pt | sort -V | awk '$2 != "None" { sub(/^out[0-9]+/, "out" n++); gsub("F64", "F32"); print }' >got
	ok "$name: double precision is equal up to rounding" close got want
done

python3 -c 'import struct, sys
head = b"{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (4, 8), }".ljust(117) + b"\n"
sys.stdout.buffer.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack("<32f", *[1] * 32))' >ones.npy
exits "a program of torch 2.6" 0 pt2-run -o got.pt "$ROOT/tests/data/export/old_2_6.pt2" ones.npy
tensors got.pt >got
printf 'out0 F32 [4, 4] [%s]\n' "$(for _ in 1 2 3 4; do echo -n "0.2605, 0.1886, 0.3630, 0.1879, "; done | sed 's/, $//')" >want
ok "... has its weights in state dicts" close got want
mapfile -t in < <(inputs transformer)
exits "several calls" 0 pt2-run -n 3 --json "$P/transformer.pt2" "${in[@]}"
is "each call is counted" "$(jq -r '.times.calls, (.outputs | length)' out | xargs)" "3 1"
exits "buffers go on from call to call, as the module's do" 0 pt2-run -n 3 "$P/state.pt2" "$P/state.pt:in[0]" -o got.pt
tensors got.pt >third
exits "one call" 0 pt2-run "$P/state.pt2" "$P/state.pt:in[0]" -o got.pt
tensors got.pt >first
is "the count and its cache are those of the third call" "$(python3 - first third <<'E'
import ast, sys
first, third = (ast.literal_eval(open(f).readline().split(" ", 2)[2].replace("] [", "], ["))[1] for f in sys.argv[1:])
print({round(b - a, 4) for a, b in zip(first, third)})
E
)" "{2.0}"

"$ROOT/scripts/gen-operators" >GRAPHS.md
ok "docs/user/GRAPHS.md is what scripts/gen-operators makes of the code" cmp GRAPHS.md "$ROOT/docs/user/GRAPHS.md"
"$ROOT/scripts/gen-operators" --compared >compared
ok "docs/user/OPERATORS.md names each operator: in a table, or in the section of --compared" \
	cmp compared <(sed -n '/^## Operators without a row/,$p' "$ROOT/docs/user/OPERATORS.md")

# ---- custom operators, computed by the user's Python: torch is a stand-in here ----
export PYTHONPATH=$ROOT/tests/lib/opstorch PYTHONDONTWRITEBYTECODE=1
V=$ROOT/tests/data/aoti/verify
own() { python3 "$ROOT/tests/lib/rezip.py" "$V/attention.exported.pt2" own.pt2 /models/model.json aten.softmax.int "$1"; }
ops() { # ops BODY [MORE]: mylib::op
	printf 'import torch\nprint("not an output")\n@torch.operator("mylib::op"%s)\ndef op(x, dim):\n    %s\n' "${2-}" "$1" >ops.py
}
given() { pt2-run --ops ops.py --python python3 own.pt2 "$V/attention.pt:in[0]" "$@"; }
own mylib.op.default
ops 'return torch.of([1 / (1 + abs(a)) for a in x.values()], x.shape, x.dtype)'
exits "--ops: a custom operator" 0 given -o got.pt
is "--ops: what FILE prints is not an output" "$(cat out)" ""
tensors got.pt >first
exits "--ops --double" 0 given --double -o got.pt
tensors got.pt | sed 's/F64/F32/' >got
ok "--ops: in double precision it is the same up to rounding" close got first
exits "without --ops" 4 pt2-run own.pt2 "$V/attention.pt:in[0]"
is "... it is refused, and the text says what to do" "$(cat err)" \
	"pt2-run: 'own.pt2' calls unsupported operators: mylib.op.default (docs/user/GRAPHS.md lists the supported ones; define your own ones with --ops=FILE.py)"
refuses() { # refuses NAME STATUS TEXT
	exits "--ops: $1" "$2" given
	like "--ops: $1: the text" "$(grep ^pt2-run: err)" "$3"
}
ops 'raise ValueError("not today")'
refuses "an operator that fails" 3 "node 'softmax' \\(mylib.op.default\\): 'ops.py': ValueError: not today"
ops 'return {}'
refuses "a result that is not a value" 3 "mylib.op.default.*TypeError: a result of type dict"
ops 'import os; os._exit(3)'
refuses "a Python that ends" 3 "mylib.op.default.*'ops.py': the Python that computes its operators has ended"
ops 'import time; time.sleep(300)'
exits "--ops: --timeout" 3 given --timeout 3
like "--ops: --timeout: the text" "$(grep ^pt2-run: err)" "did not answer in time"
ops 'return x' ', mutable=True'
refuses "an operator that writes to its operands" 3 "mylib.op.default.*it changes its arguments, which is not supported here"
own aten.from_file.default
ops 'return x'
refuses "an operator of torch's that FILE does not define" 4 "'own.pt2' calls unsupported operators: aten.from_file.default"
own mylib.op.default
echo 'import nothing_of_that_name' >ops.py
refuses "a file that cannot be imported" 4 "^pt2-run: 'ops.py': ModuleNotFoundError: No module named 'nothing_of_that_name'$"
rm ops.py
refuses "no such file" 3 "^pt2-run: cannot read 'ops.py': No such file or directory$"
exits "--ops: no such Python" 4 pt2-run --ops "$V/attention.pt" --python /nowhere/python own.pt2
exits "--ops is for graphs" 2 pt2-run --ops "$V/attention.pt" --python python3 "$BUILD/data/aoti/verify/attention.pt2"
exits "--python without --ops" 2 pt2-run --python python3 own.pt2
python3 "$ROOT/tests/lib/rezip.py" "$P/tokens.pt2" own.pt2 /models/model.json aten._print.default mylib.op.default
exits "an operator with effects" 4 pt2-run own.pt2 "$P/tokens.pt:in[0]"
like "... is named, not with_effects" "$(cat err)" "'own.pt2' calls unsupported operators: mylib.op.default \\("
printf 'import torch\n@torch.operator("mylib::op")\ndef op(text):\n    import sys\n    print(text, file=sys.stderr)\n' >ops.py
exits "--ops: it is called with its operands, in the order of its tokens" 0 \
	pt2-run --ops ops.py --python python3 -o got.pt own.pt2 "$P/tokens.pt:in[0]"
is "... once each" "$(cat err)" "before
behind"
unset PYTHONPATH

# ---- what cannot be run here, and why ----
for op in triton_kernel_wrapper_functional:'a Triton kernel of your own, which only Triton runs' \
	triton_kernel_wrapper_mutation:'a Triton kernel of your own, which only Triton runs' \
	call_torchbind:'a method of a torchbind object, whose code is not in the file' \
	executorch_call_delegate:'a part that executorch lowered, which only its backend runs'; do
	own "higher_order.${op%%:*}"
	exits "${op%%:*} is refused" 4 pt2-run own.pt2 "$V/attention.pt:in[0]"
	is "... with the reason" "$(cat err)" \
		"pt2-run: 'own.pt2' calls unsupported operators: higher_order.${op%%:*} (${op#*:}) (docs/user/GRAPHS.md lists the supported ones)"
done

python3 - "$P/transformer.pt2" text.pt2 <<'E'
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, zipfile.ZipFile(sys.argv[2], "w") as w:
    for name in z.namelist():
        data = z.read(name)
        if name.endswith("models/model.json"):
            program = json.loads(data)
            module = program["graph_module"]
            module["graph"]["outputs"][-1] = {"as_string": "it's\x1b"}
            module["signature"]["output_specs"][-1] = {"user_output": {"arg": {"as_string": "it's\x1b"}}}
            data = json.dumps(program)
        w.writestr(name, data)
E
exits "an output that is a str" 0 pt2-run text.pt2 "${in[@]}"
is "its text is printed" "$(cat out)" "[  out0  ]: \"it's\\x1b\""
exits "... in JSON" 0 pt2-run --json text.pt2 "${in[@]}"
is "its text is a member" "$(jq -r '.outputs[] | [.name, .text, has("dtype")] | @json' out)" "[\"out0\",\"it's\\u001b\",false]"
exits "it is saved as a None" 0 pt2-run -o text.pt text.pt2 "${in[@]}"
is "... in a .pt" "$(tensors text.pt)" "out0 None"

exits "another size for a dynamic dimension" 0 pt2-run --json "$P/transformer.pt2" "i64[3,7]"
is "the output has that size" "$(jq -c '.outputs[0].size' out)" "[3,7,16]"
exits "another size for a static dimension" 3 pt2-run "$P/image.pt2" "f32[2,3,9,8]"
like "the message has the expected size" "$(cat err)" "expected .*8"
exits "a size above its bound" 3 pt2-run "$P/symbols.pt2" "f32[200,4]" "f32[200,4]"
exits "a missing input" 2 pt2-run "$P/image.pt2"
exits "an option for compiled code" 2 pt2-run --torch "$P/image.pt2" "f32[2,3,8,8]"
like "the message says so" "$(cat err)" "^pt2-run: --torch applies to compiled code: '.*image.pt2' is a graph, which is run operator by operator"
exits "--double with compiled code" 2 pt2-run --double "$DATA/aoti/mlp.pt2" "f32[8,10]"
like "the message says that --double applies to graphs" "$(cat err)" "--double applies to a graph"
exits "--max-bytes that is too small" 3 pt2-run --max-bytes=100 "$P/image.pt2" "f32[2,3,8,8]"
like "the message names the node and the size" "$(cat err)" "node '[a-z0-9_]*' .aten.*.: .*: cannot allocate [0-9]* bytes: with the [0-9]* in use, that exceeds the limit of 100"
exits "--max-bytes that is large enough" 0 pt2-run --max-bytes=64K "$P/image.pt2" "f32[2,3,8,8]"
python3 - "$P/maps.pt2" spoilt.pt2 <<'E'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, zipfile.ZipFile(sys.argv[2], "w") as w:
    for name in z.namelist():
        w.writestr(name, z.read(name).replace(b"torch.ops.aten.sin.default", b"torch.ops.aten.sinh_not.default"))
E
exits "an unsupported operator" 4 pt2-run spoilt.pt2 "f32[3,4]" "f32[4]"
like "the message names it" "$(cat err)" "^pt2-run: 'spoilt.pt2' calls unsupported operators: aten.sinh_not.default"
exits "weights of another program" 3 pt2-run --weights "$P/maps.pt" "$P/image.pt2" "f32[2,3,8,8]"
done_testing
