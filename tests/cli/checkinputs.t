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
is "nested: results" "$($check --json "$P/nested.pt2" | jq -c '[.outputs[].path]')" '["[\"sum\"]","[\"parts\"][0]","[\"parts\"][1]"]'
query='[.inputs[] | [.dtype, (.dims | length), .rank, .used]]'
is "mixed: four types" "$(facts "$P/mixed.pt2")" '[["float32",3,3,true],["bool",2,2,true],["int32",0,0,true],["bfloat16",3,3,true]]'
is "derived: an input that nobody reads has no rank" "$(facts "$P/derived.pt2")" '[["float32",2,2,true],["float32",2,null,false],["float32",2,2,true]]'
is "derived: twice the batch" "$($check --json "$P/derived.pt2" | jq -r '.inputs[2].dims[0].size')" '2*s22'
query='.symbols | length'
is "mixed: two sizes vary" "$(facts "$P/mixed.pt2")" 2
is "mixed: bounds" "$($check --json "$P/mixed.pt2" | jq -c '[.symbols[] | [.min, .max]]')" '[[2,64],[3,50]]'
is "mlp: outputs as formulas" "$($check --json "$P/mlp.pt2" | jq -c '[.outputs[] | [.dtype, .sizes, .strides]]')" '[["float32",["s77",4],[4,1]]]'
is "mlp: constants with their module paths" "$($check --json "$P/mlp.pt2" | jq -c '[.constants[].fqn]')" '["up.weight","up.bias","down.weight"]'
is "mlp: weights" "$($check --json "$P/mlp.pt2" | jq .weight_bytes)" 832
is "mlp: kernels and ops in order" "$($check --json "$P/mlp.pt2" | jq -c '[.calls[].name]')" \
	'["aoti_torch_cpu_addmm_out","cpp_fused_relu_0","aoti_torch_cpu_addmm_out","cpp_fused__softmax_1"]'
is "custom ops by name" "$($check --json "$P/custom_op.pt2" | jq -r '[.calls[] | select(.kind == "proxy") | .name] | unique | join(" ")')" \
	"$(unzip -p "$P/custom_op.pt2" '*custom_op*.json' '*extern*.json' 2>/dev/null | grep -o '"[a-z0-9_]*::[a-z_]*' | tr -d '"' | sort -u | tr '\n' ' ' | sed 's/ $//')"
is "nothing is unclear but branches" "$(for f in "$P"/*.pt2; do
	for m in $(unzip -Z1 "$f" | sed -n 's|.*/data/aotinductor/\([^/]*\)/.*|\1|p' | sort -u); do $check --json -m "$m" "$f" 2>&1 | jq -r '.notes[]?'; done
done | grep -v ' a condition or a loop: ')" ""
is "None and numbers are no inputs, and shift nothing" "$($check --json "$P/kwargs.pt2" | jq -c '[.inputs[].path]')" '["args[0]","args[1][0]","args[1][1]","kwargs[\"mask\"]","kwargs[\"options\"].bias","kwargs[\"options\"].gains[0]","kwargs[\"options\"].gains[1]"]'
# ---- torch 2.6: no checks of inputs, so that the prober sees the sizes of one run ----
run $check --probe "$P/v26/mlp.pt2"
is "2.6: a size that may vary is no difference" "$status $(grep -c 'differs' out) $(grep -c '5 dynamic sizes: models of torch before 2.7 do not check their inputs' out)" "5 0 1"
# ---- torch 2.9: a library without weights, to which only C++ can give them ----
run $check --probe "$P/v29/weightless.pt2"
is "2.9: where the prober stops is said" "$status $(grep -c 'for 0 of 3 calls: it has no weights, and models of torch before 2.10 accept them from C++ only$' out)" "5 1"
python3 -c 'import json, struct
sizes, end, head = {"0.weight": [16, 8], "0.bias": [16], "2.weight": [4, 16]}, 0, {}
for name, shape in sizes.items():
    n = 4 * shape[0] * (shape[1:] or [1])[0]
    head[name], end = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + n]}, end + n
text = json.dumps(head).encode()
open("weights.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(end))'
for tool in pt2-run aoti-nanassert "aoti-printer -o dump"; do
	# shellcheck disable=SC2086
	exits "2.9: ${tool% -o*} refuses it" 3 $tool --weights=weights.safetensors "$P/v29/weightless.pt2" 'f32[4,8]'
	like "by name" "$(cat err)" "was compiled by torch before 2.10, whose models only take weights from C"
done
# ---- torch 2.15 ----
is "2.15: nothing is unclear but branches" "$(for f in "$P"/v215/*.pt2; do $check --json "$f" 2>&1 | jq -r '.notes[]?'; done | grep -v ' a condition or a loop: ')" ""
is "2.15: every output has its type, sizes and device, or is None" "$(for f in "$P"/v215/*.pt2; do
	$check --json "$f" | jq -r '.outputs[] | select((.none | not) and (.dtype == null or .sizes == null or .device == null)) | .name'
done)" ""
query='[.outputs[] | [.none, .dtype]]'
is "None is an output of its own" "$(facts "$P/v215/none.pt2")" '[[false,"float32"],[true,null],[false,"float32"]]'
run $check "$P/v215/none.pt2"
like "and is shown" "$(cat out)" '1  [^ ]+ +None'
is "all branches of torch.cond, which torch.switch is now" "$($check --json "$P/v215/switch.pt2" | jq -r '[.calls[].name] | join(" ")')" \
	"cpp_fused_gt_sum_0 aoti_torch_item_int64 aoti_torch_cpu_mm_out cpp_fused_cos_gt_1 cpp_fused_gt_mul_sin_2"
is "and those of torch.switch, else if, too" "$($check --json "$P/v215/switch_of_three.pt2" | jq -r '[.calls[].name] | join(" ")')" \
	"cpp_fused_clamp_0 aoti_torch_item_int64 cpp_fused_clamp_sin_1 aoti_torch_cpu_mm_out cpp_fused_clamp_mul_relu_2"
is "an alignment that is asserted" "$($check --json "$P/v215/proxied.pt2" | jq -c '[.values[].alignment | numbers] | unique')" '[16]'
is "what is recorded for a profile is no call" "$($check --json "$P/v215/kprofile.pt2" | jq -r '[.calls[].name | select(test("ivalue"))] | length')" 0
exits "elements that a floor division leaves out" 0 $check "$P/v215/div.pt2" 'f32[2099]'
like "are said" "$(cat out)" 'output 0 is \[100, s[0-9]*//100 = 20\]: 99 of 2099 elements'
unlike "and it does not simply fit" "$(cat out)" 'the input fits$'
is "in JSON" "$($check --json "$P/v215/div.pt2" 'f32[2099]' | jq -c '[.fits, (.findings[] | .what, .dim, .advice)]')" '[true,"cut",0,true]'
exits "where it divides, all is well" 0 $check "$P/v215/div.pt2" 'f32[2100]'
like "and said so" "$(cat out)" 'the input fits$'

exits "peak memory at a size" 0 $check --json --shape s77=2 "$P/mlp.pt2"
small=$(jq .peak_bytes out)
ok "more at the largest" test "$($check --json "$P/mlp.pt2" | jq .peak_bytes)" -gt "$small"
is "at the inputs' sizes" "$($check --json "$P/mlp.pt2" 'f32[2,8]' | jq .peak_bytes)" "$small"
exits "an unknown symbol" 2 $check --shape nosuch=2 "$P/mlp.pt2"

run $check "$P/mixed.pt2"
like "the table: argument and type" "$(cat out)" 'args\[0\] .*float32 +cpu +\[s[0-9]+, s[0-9]+, 12\]'
like "the table: what must agree" "$(cat out)" '2\.\.64 +dim 0 of args\[0\] = dim 0 of args\[1\] = dim 0 of args\[3\]'
unlike "no colour in a pipe" "$(cat out)" $'\033'
exits "many constants and calls" 0 $check --all "$P/attn.pt2"

# ---- one of several ----
exits "several models: which?" 2 $check "$P/multi.pt2"
like "all are named" "$(cat err)" "first.*second"
exits "one that is not there" 2 $check -m third "$P/multi.pt2"
is "the second has two inputs" "$($check --model second --json "$P/multi.pt2" | jq '.inputs | length')" 2

# ---- other forms of a model ----
exits "a library of something else" 3 $check "$BUILD/lib/pt2utils/libpt2probe.so"
like "is called what it is" "$(cat err)" "libpt2probe.so' is a shared library without AOTInductor's entry points"
if echo '__attribute__((visibility("hidden"))) int x;' | cc -shared -fPIC -s -x c - -o nothing.so 2>/dev/null; then
	exits "one that exports nothing" 3 $check --no-exec nothing.so
	like "as well" "$(cat err)" "nothing.so' is a shared library without AOTInductor's entry points"
else
	skip "a library that exports nothing" "no compiler"
fi
mkdir dir && (cd dir && unzip -qo "$P/mlp.pt2")
is "an unpacked folder" "$($check --json dir | jq -c '.constants | length')" 3
so=$(find dir -name '*.so')
is "a library with its neighbours" "$($check --json "$so" 2>err | jq -r .source)" text
is "without a word" "$(cat err)" ""
mkdir bare && cp "$so" bare/model.so
is "a bare library is probed" "$($check --json bare/model.so 2>err | jq -r .source)" probe
like "and that is said" "$(cat err)" "sandbox"
query='[.inputs[] | [.dtype, .dims[0].min, .dims[0].max, .dims[1].size, .rank]]'
is "the same contract" "$(facts bare/model.so)" '[["float32",2,64,8,2]]'
exits "but not if that is forbidden" 3 $check --no-exec bare/model.so
like "why" "$(cat err)" "no-exec prevents"
exits "a library of the old kind" 0 $check --json "$(find "$P/old" -name '*.so' | head -1)"

# ---- an exported program against what was compiled from it ----
X=$ROOT/tests/data/export
frozen=$ROOT/tests/data/aoti/v215/export/frozen.pt2
exits "frozen weights have no names: no difference" 0 $check --against "$frozen" "$P/v215/frozen.pt2"
like "what that rests on" "$(cat out)" 'note: no weight kept its name.*\(2 of 2 weights'
like "they are not called another model's" "$(grep -v note: out)" 'accepts everything'
exits "the same as data" 0 $check --json --against "$frozen" "$P/v215/frozen.pt2"
is "all of it is advice" "$(jq -c '[.same_model, .unproved, .fits, (.findings | map(.advice) | all)]' out)" '[true,false,true,true]'
exits "another model's export is one" 1 $check --json --against "$frozen" "$P/mlp.pt2"
is "by name" "$(jq -c '[.same_model, .findings[0].what]' out)" '[false,"model"]'
is "whose differences no compiling mends" "$(jq -r '[.findings[].fix] | map(select(. != null and . != "")) | join(";")' out)" "give the exported program that the package was compiled from"
exits "and of a frozen package, too" 1 $check --json --against "$X/mlp.pt2" "$P/v215/frozen.pt2"
is "by inputs" "$(jq -c '[.fits, (.findings | map(select(.advice | not).part) | unique)]' out | grep -c '^.false,.*"input"')" 1

# ---- text against binary ----
exits "they agree" 0 $check --probe "$P/mixed.pt2"
like "and that is said" "$(cat out)" "agrees with its code"
is "nothing on stderr" "$(cat err)" ""
cp -r dir stale
sed -i 's/8 != arg4_1_size\[1\]/9 != arg4_1_size[1]/; s/{s77, 8L}, {8L, 1L}/{s77, 9L}, {9L, 1L}/' "$(find stale -name '*.wrapper.cpp')"
exits "the text of another binary" 1 $check --probe stale
like "what differs" "$(cat out)" "not what this binary was built from.*input 0 \(arg4_1\), dim 1: size 9 in the text, 8 in the binary"
exits "without --probe it is believed" 0 $check stale

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
exits "a checkpoint's tensor" 0 $check "$mlp" "$IO/mlp.pt:inputs[0]"
exits "many at once" 0 $check -m second "$P/multi.pt2" "$IO/multi_second.pt:inputs[0]" "$IO/multi_second.pt:inputs[1]"
like "and says so" "$(cat out)" "all inputs fit"
for bad in x64.npy fortran.npy 'f32[100,8]' 'f32[1,8]' 'f32[8]' 'f32[5,8,1]' 'f32[5,9]' 'f16[5,8]' 'f32[5,8]@cuda:0' x.npy@cuda; do
	exits "does not fit: $bad" 1 $check "$mlp" "$bad"
	like "a fix: $bad" "$(cat out)" "fix: "
done
run $check "$mlp" 'f64[100,8]/(1,100)'
is "everything at once, in torch's words first" "$(sed -n '2p;5p;8p;10p' out | sed 's/^ *//')" \
	'input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7
input_handles[0]: dim value is too large at 0, expected to be <= 64, but got: 100
input_handles[0]: unmatched stride value at 0, expected: 8, but got: 1
input_handles[0]: unmatched stride value at 1, expected: 1, but got: 100'
run $check "$P/mixed.pt2" 'f32[4,5,12]' 'b8[4,6]' 'i32[]' 'bf16[4,5,12]/(12,48,1)'
is "sizes that must agree" "$status" 1
like "with whom" "$(cat out)" "expected s[0-9]+ = 5 \(s[0-9]+ = 5, from dim 1 of args\[0\]\)|expected s[0-9]+ = 5 \(.*args"
exits "an input is missing" 1 $check -m second "$P/multi.pt2" 'f32[4]'
like "which" "$(cat out)" "args\[1\]"
exits "too many" 2 $check "$mlp" x.npy x.npy
exits "an unknown name" 2 $check "$mlp" nosuch=x.npy
like "the names there are" "$(cat err)" 'args\[0\] \(arg4_1\)'
exits "given twice" 2 $check "$mlp" 0=x.npy 'args[0]=x.npy'
exits "a spec that is none" 2 $check "$mlp" 'f99[5,8]'
exits "a file that is not there" 3 $check "$mlp" nosuch.npy
exits "a key that is not there" 2 $check "$mlp" "0=$IO/mlp.npz:nosuch"
exits "quiet" 1 $check -q "$mlp" x64.npy
is "is quiet" "$(cat out err)" ""
exits "a status of one's own" 42 $check --error-exitcode=42 "$mlp" x64.npy
exits "only for findings" 0 $check --error-exitcode=42 "$mlp" x.npy
is "findings as JSON" "$($check --json "$mlp" x64.npy | jq -c '[.fits, .findings[0].what, .findings[0].fix, .given[0].dtype]')" \
	'[false,"dtype",".to(torch.float32)","float64"]'

# ---- a text that is not understood everywhere: no bare "fits" ----
mkdir newer && (cd newer && unzip -qo "$P/mlp.pt2")
text=$(find newer -name '*.wrapper.cpp')
cp "$text" old.cpp
sed -i -E 's/^    if \((arg[0-9_]+_size\[0\]) ([<>]) ([0-9]+)\) \{/    if (out_of_bounds<\2>(\1, \3)) {/' "$text"
is "two bounds in another form" "$(grep -c out_of_bounds "$text")" 2
exits "fits as far as understood" 5 $check newer 'f32[100,8]'
like "and says so" "$(cat out)" 'the input fits as far as known: 2 checks were not understood'
exits "that is no verdict in JSON" 5 $check --json newer 'f32[100,8]'
is "either" "$(jq -c '[.fits, .unread, .unread_checks]' out)" '[null,2,2]'
exits "what does not fit does not" 1 $check newer 'f64[100,8]'
exits "the contract alone" 0 $check newer
like "says what was not understood" "$(cat out)" 'not understood: if \(out_of_bounds<>>\(arg4_1_size\[0\], 64\)\)'
exits "the doctor's word" 5 $check --doctor --torch=none newer
like "has that reserve" "$(tail -1 out)" 'run on this machine as far as known: 2 checks were not understood$'
exits "so has --against" 5 $check --against "$X/mlp.pt2" newer
like "which says of what" "$(cat out)" 'as far as known.*the compiled model: 2 checks were not understood'
is "in JSON" "$($check --json --against "$X/mlp.pt2" newer | jq .fits)" null
exits "a text that is not understood does not differ" 5 $check --probe newer
unlike "from the binary" "$(cat out)" "not what this binary was built from"
exits "the binary, where it is asked, knows" 0 $check --probe newer 'f32[5,8]'
like "that is said" "$(cat err)" "checked against what the binary reads"
like "and the answer is whole" "$(cat out)" 'the input fits$'
exits "what it does not take" 1 $check --probe newer 'f32[100,8]'
like "by its own bounds" "$(cat out)" "expected 2\.\.64, given 100"
sed -i $'s/out_of_bounds</\033]0;x\007\302\233\342\200\256</' "$text"
$check newer >out
is "and drives no terminal" "$(LC_ALL=C grep -cP '\x1b|\x07|\xc2\x9b|\xe2\x80\xae' out)" 0
cp old.cpp "$text"
sed -i 's/^    cpp_fused_relu_0(.*/    surely(*not)(a, statement);/' "$text"
exits "a statement of the program" 5 $check newer 'f32[5,8]'
like "is none of the checks" "$(cat out)" 'as far as known: 1 statement was not understood'

# ---- usage ----
exits "no model" 2 $check
exits "nothing there" 3 $check nosuch.pt2
exits "--probe and --no-exec" 2 $check --probe --no-exec "$mlp"
exits "--fail without a command" 2 $check --fail "$mlp"
exits "a full disk" 4 bash -c "$check --json '$mlp' >/dev/full"
exits "a reader that had enough" 0 bash -c "set -o pipefail; $check --all '$P/attn.pt2' | head -1"
exits "more than --max-text" 0 aoti-checkinputs --max-text=400 "$DATA/aoti/mlp.pt2"
like "is cut" "$(tail -n 1 out) $(cat err)" '^\[cut: more than 400 bytes of text.* aoti-checkinputs: more than 400 bytes'
done_testing
