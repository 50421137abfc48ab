#!/bin/bash
# pt2-run on graphs without a package: of a trace, of launchers, of graph.json and FX code, against what eager gave.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/close.sh
. "$ROOT/tests/lib/close.sh"
G=$ROOT/tests/data/export/graphs
R=$ROOT/tests/data/repro
L=trace.log
xz -dc "$G/trace.log.xz" >$L
# inputs NAME: as operands; eager NAME: what eager gave, as outputs
inputs() { local i; for i in $(tensors "$G/$1.pt" | sed -n 's/^in\[\([0-9]*\)\].*/\1/p'); do echo "$G/$1.pt:in[$i]"; done; }
eager() { tensors "$G/$1.pt" | sed -n 's/^out\[\([0-9]*\)\]/out\1/p' | sort -V; }
# given: the tensors among the outputs, counted anew (a None has no place among what eager gave)
given() { tensors got.pt | sort -V | awk '$2 != "None" { sub(/^out[0-9]+/, "out" n++); print }'; }

while read -r name graph; do
	mapfile -t in < <(inputs "$name")
	eager "$name" >want
	exits "$name runs" 0 pt2-run --graph "$graph" $L "${in[@]}" -o got.pt
	given >got
	ok "$name: outputs equal eager's" close got want
	case $name in halves | waves_back) continue ;; esac # its types are what it is about; the id alone names the forward graph
	exits "$name runs by its compile id" 0 pt2-run --graph "${graph%:*}" --double $L "${in[@]}" -o got.pt
	given | sed 's/F64/F32/' >got
	ok "$name: AOTAutograd's graph is equal up to rounding" close got want
done <"$G/graphs"

mapfile -t in < <(inputs attention)
like "symbolic sizes follow from the inputs" \
	"$(pt2-run --json --graph 2/0 $L 'f32[3,7,8]' "${in[@]:1}" 2>&1 | jq -c '.outputs[0].size')" '^\[3,7,8\]$'
exits "an input of the wrong size" 3 pt2-run --graph 0/0 $L 'f32[9,6]' 'f32[8]' 'f32[8]' 'f32[8]' 'f32[3,8]' 'f32[3]' 'f32[5,6]'
like "the message has the expected size" "$(cat err)" "expected"
exits "an unknown graph" 2 pt2-run --graph 9/9 $L
like "the message lists graphs" "$(cat err)" "0/0:aot_forward_graph .*nodes"
exits "a trace without --graph is rejected" 2 pt2-run $L
exits "Dynamo's own graph is not supported" 4 pt2-run --graph 3/0:dynamo_output_graph $L 'f32[3,4]' 'f32[3,4]'
exits "--graph without a trace is rejected" 2 pt2-run --graph 0/0 "$R/aot_forward/minifier_launcher.py"

exits "a launcher with saved values" 0 pt2-run --json "$R/aot_forward/minifier_launcher.py"
is "its outputs have the same sizes" "$(jq -c '[.outputs[].size]' out)" "$(pt2-run --json "$R/aot_forward/minifier_launcher.py" | jq -c '[.outputs[].size]')"
exits "a launcher without saved values" 2 pt2-run "$ROOT/tests/data/minifier/aot_nan/minifier_launcher.py"
like "the message says which are missing" "$(cat err)" "the values of 'arg0_1' were not kept: pass a file, or a spec"
exits "a launcher of an exported program" 2 pt2-run "$R/aoti/minifier_launcher.py"
like "the message names the program" "$(cat err)" "pass that file, '.*exported_program.pt2'"
printf 'class f(torch.nn.Module):\n    def forward(self, x: "f32[s0, 2]", n: "Sym(s0)", m: "Sym(s1)"):\n        y = torch.ops.aten.mul.Tensor(x, n)\n        z = torch.ops.aten.add.Tensor(y, m)\n        return (z, n)\n' >f.py
python3 -c 'import struct,sys
head=b"{\x27descr\x27: \x27<i8\x27, \x27fortran_order\x27: False, \x27shape\x27: (), }"
head+=b" "*(118-len(head)-1+0)+b"\n"
open("m.npy","wb").write(b"\x93NUMPY\x01\x00"+struct.pack("<H",len(head))+head+struct.pack("<q",7))'
exits "FX code with a symbol that no size determines" 0 pt2-run --json f.py 'f32[3,2]' m.npy
is "its outputs have the right sizes" "$(jq -c '[.outputs[].size]' out)" "[[3,2],[]]"
fxminify -q --no-journal --test true --max-tests=1 f.py -o f.json 2>/dev/null
[ -e f.json ] && exits "graph.json" 0 pt2-run --json f.json 'f32[4,2]' m.npy
done_testing
