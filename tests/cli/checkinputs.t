#!/bin/bash
# aoti-checkinputs: the contract of the recorded packages, inputs from files and specs, what does not fit, exit statuses.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

P=$DATA/aoti
IO=$ROOT/tests/data/aoti/io
check=aoti-checkinputs
npy() { python3 "$ROOT/tests/lib/npy.py" "$@"; }
facts() { $check --json "$@" 2>err | jq -c "$query"; }

# ---- contracts ----
query='[.inputs[] | [.dtype, [.dims[].size], [.dims[].stride], .rank]]'
is "mlp: inputs" "$(facts "$P/mlp.pt2")" '[["float32",["s77",8],[8,1],2]]'
is "nested: paths" "$($check --json "$P/nested.pt2" | jq -c '[.inputs[].path]')" \
	'["args[0][\"pair\"][0]","args[0][\"pair\"][1]","args[0][\"list\"][0]","args[1]"]'
is "nested: output paths" "$($check --json "$P/nested.pt2" | jq -c '[.outputs[].path]')" '["[\"sum\"]","[\"parts\"][0]","[\"parts\"][1]"]'
query='[.inputs[] | [.dtype, (.dims | length), .rank, .used]]'
is "mixed: four dtypes" "$(facts "$P/mixed.pt2")" '[["float32",3,3,true],["bool",2,2,true],["int32",0,0,true],["bfloat16",3,3,true]]'
is "derived: an unused input has no rank" "$(facts "$P/derived.pt2")" '[["float32",2,2,true],["float32",2,null,false],["float32",2,2,true]]'
is "derived: a size is twice the batch" "$($check --json "$P/derived.pt2" | jq -r '.inputs[2].dims[0].size')" '2*s22'
query='.symbols | length'
is "mixed: two sizes vary" "$(facts "$P/mixed.pt2")" 2
is "mixed: bounds" "$($check --json "$P/mixed.pt2" | jq -c '[.symbols[] | [.min, .max]]')" '[[2,64],[3,50]]'
is "mlp: output shapes as formulas" "$($check --json "$P/mlp.pt2" | jq -c '[.outputs[] | [.dtype, .sizes, .strides]]')" '[["float32",["s77",4],[4,1]]]'
is "mlp: constants with their module paths" "$($check --json "$P/mlp.pt2" | jq -c '[.constants[].fqn]')" '["up.weight","up.bias","down.weight"]'
is "mlp: weight bytes" "$($check --json "$P/mlp.pt2" | jq .weight_bytes)" 832
is "mlp: kernels and ops, in order" "$($check --json "$P/mlp.pt2" | jq -c '[.calls[].name]')" \
	'["aoti_torch_cpu_addmm_out","cpp_fused_relu_0","aoti_torch_cpu_addmm_out","cpp_fused__softmax_1"]'
is "custom ops have names" "$($check --json "$P/custom_op.pt2" | jq -r '[.calls[] | select(.kind == "proxy") | .name] | unique | join(" ")')" \
	"$(unzip -p "$P/custom_op.pt2" '*custom_op*.json' '*extern*.json' 2>/dev/null | grep -o '"[a-z0-9_]*::[a-z_]*' | tr -d '"' | sort -u | tr '\n' ' ' | sed 's/ $//')"
is "only branches are not understood" "$(for f in "$P"/*.pt2; do
	for m in $(unzip -Z1 "$f" | sed -n 's|.*/data/aotinductor/\([^/]*\)/.*|\1|p' | sort -u); do $check --json -m "$m" "$f" 2>&1 | jq -r '.notes[]?'; done
done | grep -v ' a condition or a loop: ')" ""
is "None and numbers are not inputs and do not shift indices" "$($check --json "$P/kwargs.pt2" | jq -c '[.inputs[].path]')" '["args[0]","args[1][0]","args[1][1]","kwargs[\"mask\"]","kwargs[\"options\"].bias","kwargs[\"options\"].gains[0]","kwargs[\"options\"].gains[1]"]'
# ---- torch 2.6: no checks of inputs, so that the prober sees the sizes of one run ----
run $check --probe "$P/v26/mlp.pt2"
is "2.6: --probe accepts dynamic sizes" "$status $(grep -c 'differs' out) $(grep -c '5 dynamic sizes: models of torch before 2.7 do not check their inputs' out)" "5 0 1"
# ---- torch 2.9: a library without weights, to which only C++ can give them ----
run $check --probe "$P/v29/weightless.pt2"
is "2.9: --probe says where it stops" "$status $(grep -c 'for 0 of 3 calls: it has no weights, and models of torch before 2.10 accept them from C++ only$' out)" "5 1"
python3 -c 'import json, struct
sizes, end, head = {"0.weight": [16, 8], "0.bias": [16], "2.weight": [4, 16]}, 0, {}
for name, shape in sizes.items():
    n = 4 * shape[0] * (shape[1:] or [1])[0]
    head[name], end = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + n]}, end + n
text = json.dumps(head).encode()
open("weights.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(end))'
for tool in pt2-run aoti-nanassert "aoti-printer -o dump"; do
	# shellcheck disable=SC2086
	exits "2.9: ${tool% -o*} rejects --weights" 3 $tool --weights=weights.safetensors "$P/v29/weightless.pt2" 'f32[4,8]'
	like "2.9: the message says why" "$(cat err)" "was compiled by torch before 2.10, whose models only take weights from C"
done
# ---- torch 2.15 ----
is "2.15: only branches are not understood" "$(for f in "$P"/v215/*.pt2; do $check --json "$f" 2>&1 | jq -r '.notes[]?'; done | grep -v ' a condition or a loop: ')" ""
is "2.15: every output has a type, sizes and a device, or is None" "$(for f in "$P"/v215/*.pt2; do
	$check --json "$f" | jq -r '.outputs[] | select((.none | not) and (.dtype == null or .sizes == null or .device == null)) | .name'
done)" ""
query='[.outputs[] | [.none, .dtype]]'
is "an output may be None" "$(facts "$P/v215/none.pt2")" '[[false,"float32"],[true,null],[false,"float32"]]'
run $check "$P/v215/none.pt2"
like "None is shown as an output" "$(cat out)" '1  [^ ]+ +None'
is "2.15: all branches of torch.cond" "$($check --json "$P/v215/switch.pt2" | jq -r '[.calls[].name] | join(" ")')" \
	"cpp_fused_gt_sum_0 aoti_torch_item_int64 aoti_torch_cpu_mm_out cpp_fused_cos_gt_1 cpp_fused_gt_mul_sin_2"
is "2.15: all branches of torch.switch" "$($check --json "$P/v215/switch_of_three.pt2" | jq -r '[.calls[].name] | join(" ")')" \
	"cpp_fused_clamp_0 aoti_torch_item_int64 cpp_fused_clamp_sin_1 aoti_torch_cpu_mm_out cpp_fused_clamp_mul_relu_2"
is "asserted alignment" "$($check --json "$P/v215/proxied.pt2" | jq -c '[.values[].alignment | numbers] | unique')" '[16]'
is "profiler records are not calls" "$($check --json "$P/v215/kprofile.pt2" | jq -r '[.calls[].name | select(test("ivalue"))] | length')" 0
exits "elements dropped by a floor division" 0 $check "$P/v215/div.pt2" 'f32[2099]'
like "dropped elements are reported" "$(cat out)" 'output 0 is \[100, s[0-9]*//100 = 20\]: 99 of 2099 elements'
unlike "the verdict is not simply that it fits" "$(cat out)" 'the input fits$'
is "dropped elements in JSON" "$($check --json "$P/v215/div.pt2" 'f32[2099]' | jq -c '[.fits, (.findings[] | .what, .dim, .advice)]')" '[true,"cut",0,true]'
exits "a size that divides evenly" 0 $check "$P/v215/div.pt2" 'f32[2100]'
like "the verdict is that it fits" "$(cat out)" 'the input fits$'

exits "--shape: peak memory" 0 $check --json --shape s77=2 "$P/mlp.pt2"
small=$(jq .peak_bytes out)
ok "without --shape, memory at the largest size" test "$($check --json "$P/mlp.pt2" | jq .peak_bytes)" -gt "$small"
is "with inputs, memory at their sizes" "$($check --json "$P/mlp.pt2" 'f32[2,8]' | jq .peak_bytes)" "$small"
exits "--shape with an unknown symbol" 2 $check --shape nosuch=2 "$P/mlp.pt2"

run $check "$P/mixed.pt2"
like "the table has arguments and dtypes" "$(cat out)" 'args\[0\] .*float32 +cpu +\[s[0-9]+, s[0-9]+, 12\]'
like "the table has sizes that must agree" "$(cat out)" '2\.\.64 +dim 0 of args\[0\] = dim 0 of args\[1\] = dim 0 of args\[3\]'
unlike "no colour in a pipe" "$(cat out)" $'\033'
exits "--all" 0 $check --all "$P/attn.pt2"

# ---- one of several ----
exits "a package of several models" 2 $check "$P/multi.pt2"
like "the message names the models" "$(cat err)" "first.*second"
exits "an unknown model" 2 $check -m third "$P/multi.pt2"
is "--model selects a model" "$($check --model second --json "$P/multi.pt2" | jq '.inputs | length')" 2

# ---- other forms of a model ----
exits "another shared library" 3 $check "$BUILD/lib/pt2utils/libpt2probe.so"
like "the message says what it lacks" "$(cat err)" "libpt2probe.so' is a shared library without AOTInductor's entry points"
if echo '__attribute__((visibility("hidden"))) int x;' | cc -shared -fPIC -s -x c - -o nothing.so 2>/dev/null; then
	exits "an empty shared library" 3 $check --no-exec nothing.so
	like "the message says what it lacks, too" "$(cat err)" "nothing.so' is a shared library without AOTInductor's entry points"
else
	skip "a library that exports nothing" "no compiler"
fi
mkdir dir && (cd dir && unzip -qo "$P/mlp.pt2")
is "an unpacked directory" "$($check --json dir | jq -c '.constants | length')" 3
so=$(find dir -name '*.so')
is "a library beside its text" "$($check --json "$so" 2>err | jq -r .source)" text
is "standard error stays empty for it" "$(cat err)" ""
mkdir bare && cp "$so" bare/model.so
is "a library alone is probed" "$($check --json bare/model.so 2>err | jq -r .source)" probe
like "a message says so" "$(cat err)" "sandbox"
query='[.inputs[] | [.dtype, .dims[0].min, .dims[0].max, .dims[1].size, .rank]]'
is "probing gives the same contract" "$(facts bare/model.so)" '[["float32",2,64,8,2]]'
exits "--no-exec prevents probing" 3 $check --no-exec bare/model.so
like "the message says so" "$(cat err)" "no-exec prevents"
exits "a library of an old torch" 0 $check --json "$(find "$P/old" -name '*.so' | head -1)"

# ---- an exported program against what was compiled from it ----
X=$ROOT/tests/data/export
frozen=$ROOT/tests/data/aoti/v215/export/frozen.pt2
exits "--against with frozen weights" 0 $check --against "$frozen" "$P/v215/frozen.pt2"
like "a note says that no weight kept its name" "$(cat out)" 'note: no weight kept its name.*\(2 of 2 weights'
like "frozen weights do not count as another model" "$(grep -v note: out)" 'accepts everything'
exits "--against with frozen weights, as JSON" 0 $check --json --against "$frozen" "$P/v215/frozen.pt2"
is "everything is advice only" "$(jq -c '[.same_model, .unproved, .fits, (.findings | map(.advice) | all)]' out)" '[true,false,true,true]'
exits "--against with another model" 1 $check --json --against "$frozen" "$P/mlp.pt2"
is "the finding is the model" "$(jq -c '[.same_model, .findings[0].what]' out)" '[false,"model"]'
is "no fix is suggested for another model" "$(jq -r '[.findings[].fix] | map(select(. != null and . != "")) | join(";")' out)" "give the exported program that the package was compiled from"
exits "--against a frozen package of another model" 1 $check --json --against "$X/mlp.pt2" "$P/v215/frozen.pt2"
is "its inputs differ" "$(jq -c '[.fits, (.findings | map(select(.advice | not).part) | unique)]' out | grep -c '^.false,.*"input"')" 1

# ---- text against binary ----
exits "--probe of a good package" 0 $check --probe "$P/mixed.pt2"
like "binary and text agree" "$(cat out)" "agrees with its code"
is "standard error stays empty" "$(cat err)" ""
cp -r dir stale
sed -i 's/8 != arg4_1_size\[1\]/9 != arg4_1_size[1]/; s/{s77, 8L}, {8L, 1L}/{s77, 9L}, {9L, 1L}/' "$(find stale -name '*.wrapper.cpp')"
exits "--probe of a package with another model's text" 1 $check --probe stale
like "the difference is reported" "$(cat out)" "not what this binary was built from.*input 0 \(arg4_1\), dim 1: size 9 in the text, 8 in the binary"
exits "without --probe the text is trusted" 0 $check stale

# ---- inputs ----
npy x.npy '<f4' 5 8
npy x64.npy '<f8' 5 8
npy fortran.npy '<f4' 5 8 --fortran
npy x.safetensors '<f4' 5 8
mlp=$P/mlp.pt2
for good in x.npy x.safetensors 'f32[5,8]' 0=x.npy arg4_1=x.npy 'args[0]=x.npy' 'args[0]=f32[64,8]' "$IO/mlp.npz:in0" "0=$IO/mlp.npz:in0" \
	x.npy@cpu 'f32[2, 8]/(8,1)'; do
	exits "fits: ${good##*/}" 0 $check "$mlp" "$good"
done
exits "a tensor of a checkpoint" 0 $check "$mlp" "$IO/mlp.pt:inputs[0]"
exits "several inputs" 0 $check -m second "$P/multi.pt2" "$IO/multi_second.pt:inputs[0]" "$IO/multi_second.pt:inputs[1]"
like "the verdict is that all inputs fit" "$(cat out)" "all inputs fit"
for bad in x64.npy fortran.npy 'f32[100,8]' 'f32[1,8]' 'f32[8]' 'f32[5,8,1]' 'f32[5,9]' 'f16[5,8]' 'f32[5,8]@cuda:0' x.npy@cuda; do
	exits "does not fit: $bad" 1 $check "$mlp" "$bad"
	like "a fix for $bad" "$(cat out)" "fix: "
done
run $check "$mlp" 'f64[100,8]/(1,100)'
is "all errors at once, PyTorch's message first" "$(sed -n '2p;5p;8p;10p' out | sed 's/^ *//')" \
	'input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7
input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 100
input_handles[0]: unmatched stride value at 0, expected: 8, but got: 1
input_handles[0]: unmatched stride value at 1, expected: 1, but got: 100'
run $check "$P/mixed.pt2" 'f32[4,5,12]' 'b8[4,6]' 'i32[]' 'bf16[4,5,12]/(12,48,1)'
is "sizes that must agree but do not" "$status" 1
like "the message says with which" "$(cat out)" "expected s[0-9]+ = 5 \(s[0-9]+ = 5, from dim 1 of args\[0\]\)|expected s[0-9]+ = 5 \(.*args"
exits "a missing input" 1 $check -m second "$P/multi.pt2" 'f32[4]'
like "the message names it" "$(cat out)" "args\[1\]"
exits "too many inputs are a finding, as too few are" 1 $check "$mlp" x.npy x.npy
like "with torch's words" "$(cat out)" "expected inputs vector size to be 1, but got 2"
like "and a verdict that has the numbers" "$(tail -n 1 out)" "expected 1 input, given 2"
exits "a dtype alone is a scalar" 1 $check "$mlp" f32
like "which has no dims" "$(cat out)" "f32\[\].*"
like "... and that is what does not fit" "$(cat out)" "expected 2 dims, given 0 dims"
V=$ROOT/tests/data/aoti/verify
xz -dc "$V/vision.pt2.xz" >vision.pt2
exits "NHWC for NCHW" 1 $check vision.pt2 'f32[2,30,34,3]'
like "the fix is the permutation" "$(cat out)" 'fix: args\[0\]\.permute\(0, 3, 1, 2\)'
exits "an exported program is a subject, too" 0 $check "$V/vision.exported.pt2"
like "it says that nothing is compiled" "$(head -n 1 out)" "an exported program, not compiled"
exits "... and a call is checked against its signature" 1 $check "$V/vision.exported.pt2" 'f32[2,3,30,35]'
like "without words that torch would not print" "$(grep -v input_handles out)" "size of dim 3: expected 34, given 35"
ids=$ROOT/tests/data/export/run/transformer
indices() { # indices FILE LAST: 21 of them, the last one LAST
	python3 - "$@" <<'E'
import struct, sys
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 7), }".ljust(117) + "\n"
with open(sys.argv[1], "wb") as f:
    f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<21q", *[0] * 20, int(sys.argv[2])))
E
}
exits "values of an index within its bound" 0 $check "$ids.pt2" "$ids.pt:in[0]"
indices last.npy 31
exits "... the last one, too" 0 $check "$ids.pt2" last.npy
indices behind.npy 32
exits "an index beyond its bound" 1 $check "$ids.pt2" behind.npy
like "the range and the value are named" "$(cat out)" "value: expected indices of 0\.\.31, given 32"
indices negative.npy -1
exits "a negative index of an embedding" 1 $check --json "$ids.pt2" negative.npy
is "the finding is about its values" "$(jq -c '[.fits, (.findings[] | [.what, .input, .given])]' out)" '[false,["value",0,"-1"]]'
exits "a spec has no values" 0 $check "$ids.pt2" 'i64[3,7]'
# A package has no bounds of its own: they are those of the program that it carries, or was compiled from.
xz -dc "$IO/ids_v4.pt2.xz" >ids.pt2
program=$ROOT/tests/data/export/ids.pt2
indices last.npy 49
exits "--against with an input: values of an index within its bound" 0 $check --no-exec --against "$program" ids.pt2 last.npy
indices behind.npy 50
exits "without it the package accepts any value" 0 $check --no-exec ids.pt2 behind.npy
exits "--against with an input: an index beyond its bound" 1 $check --no-exec --json --against "$program" ids.pt2 behind.npy
is "the finding is about its values, too" "$(jq -c '[.fits, (.findings[] | [.what, .input, .given])]' out)" '[false,["value",0,"50"]]'
exits "--against with an input: a graph of another package" 3 $check --no-exec --against "$ids.pt2" "$mlp" 'f32[5,8]'
like "it is named" "$(cat err)" "has other inputs than"
python3 - ids.pt2 "$program" both.pt2 <<'E'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, zipfile.ZipFile(sys.argv[2]) as e, zipfile.ZipFile(sys.argv[3], "w") as w:
    for name in z.namelist():
        w.writestr(name, z.read(name))
    w.writestr(z.namelist()[0].split("/")[0] + "/models/model.json", next(e.read(n) for n in e.namelist() if n.endswith("models/model.json")))
E
exits "a package that carries its program" 1 $check --no-exec both.pt2 behind.npy
like "its graph has the bound" "$(cat out)" "value: expected indices of 0\.\.49, given 50"
exits "--against: the weights agree" 0 $check --against "$V/vision.exported.pt2" vision.pt2
python3 - "$V/vision.exported.pt2" stale.pt2 <<'E'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z, zipfile.ZipFile(sys.argv[2], "w") as w:
    for name in z.namelist():
        data = z.read(name)
        w.writestr(name, data if not name.endswith("weights/weight_0") else data[:3] + bytes([data[3] ^ 1]) + data[4:])
E
exits "--against: last week's weights" 1 $check --against stale.pt2 vision.pt2
like "the weight is named, with how many of its values differ" "$(cat out)" "constant conv.weight: exported its values, compiled 1 of 216 differ"
exits "an unknown input name" 2 $check "$mlp" nosuch=x.npy
like "the message lists the names" "$(cat err)" 'args\[0\] \(arg4_1\)'
exits "an input given twice" 2 $check "$mlp" 0=x.npy 'args[0]=x.npy'
exits "an invalid spec" 2 $check "$mlp" 'f99[5,8]'
exits "a missing file" 3 $check "$mlp" nosuch.npy
exits "a missing key" 2 $check "$mlp" "0=$IO/mlp.npz:nosuch"
exits "-q" 1 $check -q "$mlp" x64.npy
is "-q prints nothing" "$(cat out err)" ""
exits "--error-exitcode" 42 $check --error-exitcode=42 "$mlp" x64.npy
exits "--error-exitcode applies to findings only" 0 $check --error-exitcode=42 "$mlp" x.npy
is "findings in JSON" "$($check --json "$mlp" x64.npy | jq -c '[.fits, .findings[0].what, .findings[0].fix, .given[0].dtype]')" \
	'[false,"dtype",".to(torch.float32)","float64"]'

# ---- a text that is not understood everywhere: no bare "fits" ----
mkdir newer && (cd newer && unzip -qo "$P/mlp.pt2")
text=$(find newer -name '*.wrapper.cpp')
cp "$text" old.cpp
sed -i -E 's/^    if \((arg[0-9_]+_size\[0\]) ([<>]) ([0-9]+)\) \{/    if (out_of_bounds<\2>(\1, \3)) {/' "$text"
is "the test's text has two unknown bounds" "$(grep -c out_of_bounds "$text")" 2
exits "unknown checks: status 5" 5 $check newer 'f32[100,8]'
like "the verdict is as far as known" "$(cat out)" 'the input fits as far as known: 2 checks were not understood'
exits "unknown checks with --json" 5 $check --json newer 'f32[100,8]'
is "fits is null in JSON" "$(jq -c '[.fits, .unread, .unread_checks]' out)" '[null,2,2]'
exits "an input that does not fit: status 1 as ever" 1 $check newer 'f64[100,8]'
exits "the contract of such a model" 0 $check newer
like "the unknown check is shown" "$(cat out)" 'not understood: if \(out_of_bounds<>>\(arg4_1_size\[0\], 64\)\)'
exits "--doctor of such a model" 5 $check --doctor --torch=none newer
like "its verdict is as far as known" "$(tail -1 out)" 'run on this machine as far as known: 2 checks were not understood$'
exits "--against of such a model" 5 $check --against "$X/mlp.pt2" newer
like "it says what was not understood" "$(cat out)" 'as far as known.*the compiled model: 2 checks were not understood'
is "fits is null in the JSON of --against" "$($check --json --against "$X/mlp.pt2" newer | jq .fits)" null
exits "--probe of such a model" 5 $check --probe newer
unlike "an unknown check is not a difference" "$(cat out)" "not what this binary was built from"
exits "--probe with an input that fits" 0 $check --probe newer 'f32[5,8]'
like "a message says that the binary was used" "$(cat err)" "checked against what the binary reads"
like "the verdict is complete then" "$(cat out)" 'the input fits$'
exits "--probe with an input that does not fit" 1 $check --probe newer 'f32[100,8]'
like "the binary's bound is reported" "$(cat out)" "expected 2\.\.64, given 100"
sed -i $'s/out_of_bounds</\033]0;x\007\302\233\342\200\256</' "$text"
$check newer >out
is "no terminal escapes in the output" "$(LC_ALL=C grep -cP '\x1b|\x07|\xc2\x9b|\xe2\x80\xae' out)" 0
cp old.cpp "$text"
sed -i 's/^    cpp_fused_relu_0(.*/    surely(*not)(a, statement);/' "$text"
exits "an unknown statement: status 5" 5 $check newer 'f32[5,8]'
like "it is counted apart from checks" "$(cat out)" 'as far as known: 1 statement was not understood'

# ---- usage ----
exits "a missing operand" 2 $check
exits "a missing model" 3 $check nosuch.pt2
exits "--probe with --no-exec" 2 $check --probe --no-exec "$mlp"
exits "--fail without a command" 2 $check --fail "$mlp"
exits "a full disk" 4 bash -c "$check --json '$mlp' >/dev/full"
exits "a closed pipe is not an error" 0 bash -c "set -o pipefail; $check --all '$P/attn.pt2' | head -1"
exits "--max-text" 0 aoti-checkinputs --max-text=400 "$DATA/aoti/mlp.pt2"
like "--max-text cuts the output and says so" "$(tail -n 1 out) $(cat err)" '^\[cut: more than 400 bytes of text.* aoti-checkinputs: more than 400 bytes'
done_testing
