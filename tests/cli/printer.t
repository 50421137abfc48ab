#!/bin/bash
# aoti-printer: levels, filters, dumps in all formats, comparisons, times, watched commands, bundles.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

P=$DATA/aoti
IO=$ROOT/tests/data/aoti/io
LIB=$BUILD/lib/pt2utils
printer=aoti-printer
npy() { python3 "$ROOT/tests/lib/npy.py" "$@"; }
inputs() { # the recorded inputs of a model
	local i n
	n=$(aoti-checkinputs --json "$P/$1.pt2" 2>/dev/null | jq '.inputs | length')
	for ((i = 0; i < n; i++)); do echo "$IO/$1.pt:inputs[$i]"; done
}
mapfile -t mlp < <(inputs mlp)
mlp=("$P/mlp.pt2" "${mlp[@]}")
mapfile -t mixed < <(inputs mixed)
mixed=("$P/mixed.pt2" "${mixed[@]}")
kernels=$(aoti-checkinputs --json "$P/mlp.pt2" | jq -r '.calls[].name')

# ---- levels ----
exits "--level 3 prints names" 0 $printer --level 3 "${mlp[@]}"
is "every kernel and op is named, in order" "$(sed -n 's/^\[ before_launch: \(.*\) \]$/\1/p' out)" "$kernels"
is "each is named again when it has ended" "$(sed -n 's/^\[ after_launch: \(.*\) \]$/\1/p' out)" "$kernels"
exits "the default prints values" 0 $printer "${mlp[@]}"
cp out values
is "standard error stays empty" "$(cat err)" ""
is "the fields of PyTorch's printer, in its order" "$(awk '/^\[  after_launch - cpp_fused_relu_0 - buf1/ {on = 1; next} on && /^$/ {exit} on && /^[A-Z].*: / {sub(/: .*/, ""); print}' values)" \
	"$(printf '%s\n' "Number of elements" Dtype "Mean value" "Min value" "Max value" Device Size Stride Layout "Is contiguous" "Requires grad" NaN)"
like "values look like print(tensor)" "$(cat values)" 'buf0  \]:
tensor\(\[\[ *-?[0-9.]+, '
is "each call has a line that shows where it comes from" "$(grep -c '^# model, run 0, call [0-3]: .* (wrapper.cpp:[0-9]*' values)" 4
is "weights are not printed by default" "$(grep -c 'weight' values)" 0
like "--constants prints weights" "$($printer --constants "${mlp[@]}")" 'before_launch - aoti_torch_cpu_addmm_out - up_weight'
run $printer --inputs "${mlp[@]}"
like "--inputs prints the model's inputs" "$(cat out)" '\[  aoti_model_inputs - arg4_1  \]:'
like "--inputs prints the model's outputs" "$(cat out)" '\[  aoti_model_outputs - '
exits "text is cut at --max-text" 0 $printer --max-text=1K "${mlp[@]}"
like "a message says that text was cut" "$(cat err)" '^aoti-printer: more than 1024 bytes of text: the rest is cut \(--max-text=SIZE shows more\)$'
is "the output says so, too, after complete lines" "$(tail -n 1 out) $(test "$(wc -c <out)" -le 1100 && echo short)" \
	"[cut: more than 1024 bytes of text; --max-text=SIZE shows more] short"
exits "JSON with --max-text" 0 $printer --json --max-text=1K "${mlp[@]}"
is "cut JSON stays valid" "$(jq -c '[.cut, (.calls | length > 0 and length < 4), (.models | length)]' out) $(wc -l <err)" "[true,true,0] 1"
exits "--timeout ends a long run" 3 $printer -l 0 -N 1000000 --timeout 1 "${mlp[@]}"
like "the message says that it timed out" "$(cat err)" "aoti-printer: the model's process: timed out"
exits "--level 0" 0 $printer --level 0 "${mlp[@]}"
is "--level 0 prints nothing" "$(cat out err)" ""
blob=(--constants "$P/weights_blob.pt2" "$IO/weights_blob.pt:inputs[0]")
like "large tensors are abbreviated" "$($printer "${blob[@]}")" ',  \.\.\., '
exits "--full" 0 $printer --full "${blob[@]}"
is "--full prints every element" "$(grep -c '\.\.\.' out)" 0

# ---- PyTorch's variables ----
export AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=3
is "PyTorch's variable sets the level" "$($printer "${mlp[@]}" | head -1)" "[ before_launch: $(head -1 <<<"$kernels") ]"
like "--level overrides the variable" "$($printer --level 2 "${mlp[@]}")" "Number of elements"
exits "--level 2 with the variable at 3" 0 $printer --level 2 "${mlp[@]}"
like "--level 2 overrides the variable: values" "$(cat out)" 'Number of elements'
exits "--level 0 with the variable at 3" 0 $printer --level 0 "${mlp[@]}"
is "--level 0 overrides the variable: nothing" "$(cat out)" ""
AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=7 exits "an invalid level in the variable" 2 $printer "${mlp[@]}"
unset AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER
export AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT='CPP_fused__softmax_1, cpp_fused_nosuch'
is "PyTorch's list of kernels, ignoring case" "$($printer "${mlp[@]}" | grep -c '^# ')" 1
is "that list applies to values only" "$($printer --level 3 "${mlp[@]}" | grep -c before)" 4
is "-k overrides the list" "$($printer -k '*relu*' "${mlp[@]}" | sed -n 's/^# .*: \([a-z_0-9]*\) .*/\1/p')" cpp_fused_relu_0
exits "-k '*' with the list" 0 $printer -k '*' "${mlp[@]}"
ok "-k '*' overrides the list: all kernels" test "$(grep -c '^\[  after_launch' out)" -gt 3
unset AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT

# ---- filters ----
names() { $printer --level 3 "$@" "${mlp[@]}" | sed -n 's/^\[ before_launch: \(.*\) \]$/\1/p' | tr '\n' ' '; }
is "-k with several globs" "$(names -k '*relu*,*softmax*')" "cpp_fused_relu_0 cpp_fused__softmax_1 "
is "--calls with a range" "$(names --calls 1-2)" "cpp_fused_relu_0 aoti_torch_cpu_addmm_out "
is "--calls with a number and an open range" "$(names --calls 0,3-)" "aoti_torch_cpu_addmm_out cpp_fused__softmax_1 "
is "--runs" "$($printer --level 3 -N 5 --runs 1,3- -k '*relu*' "${mlp[@]}" | grep -c before)" 3
is "-b with a glob" "$($printer -b 'buf[01]' "${mlp[@]}" | grep -o ' - buf[0-9]*  \]' | sort -u | tr -d '\n')" " - buf0  ] - buf1  ]"
is "-b selects weights by module path" "$($printer --constants -b 'down.*' "${mlp[@]}" | grep -c '^\[  ')" 1
for bad in x 3-1 - '1,,2' 99999999999; do exits "invalid range: $bad" 2 $printer --calls "$bad" "${mlp[@]}"; done
exits "filters that let nothing pass" 0 $printer -k nosuch "${mlp[@]}"
like "a message says that the filters let nothing pass" "$(cat err)" "4 calls were seen, but the filters let none pass"

# ---- JSON ----
exits "--json" 0 $printer --json "${mlp[@]}"
is "JSON: calls" "$(jq -r '.calls[].kernel' out)" "$kernels"
is "JSON: values of a call" "$(jq -c '[.calls[1].values[] | [.buffer, .when, .dtype, .nan]] | unique' out)" \
	'[["buf1","after","float32",0],["buf1","before","float32",0],["buf2","after","float32",0]]'
ok "JSON: line and nodes of a call" jq -e '.calls[0] | .line > 0 and .nodes == "linear"' out
exits "--json --level 3" 0 $printer --json --level 3 "${mlp[@]}"
is "JSON of names has no values" "$(jq '[.calls[].values[]] | length' out)" 0

# ---- dumps ----
exits "-o saves a dump" 0 $printer -o good "${mlp[@]}"
like "a message says how many calls were saved" "$(cat err)" "4 calls are saved in good"
is "the index names every file, and there are no others" "$(jq -r 'select(.values) | .values[].file' good/calls.jsonl | sort)" "$(cd good && ls -I calls.jsonl)"
is "file name: model, run, call, before or after, kernel, argument, buffer" "$(cd good && echo *relu_0*buf2*)" m0.r000000.c0001.after.cpp_fused_relu_0.a1.buf2.npy
is "files begin with NumPy's magic bytes" "$(head -qc 6 good/*c0001*buf2.npy | od -An -c | tr -d ' ')" '223NUMPY'
exits "-o does not replace a dump" 2 $printer -o good "${mlp[@]}"
exits "--overwrite replaces a dump" 0 $printer -q -o good --overwrite "${mlp[@]}"
mkdir other && touch other/mine
exits "--overwrite refuses a folder that is not a dump" 2 $printer -o other --overwrite "${mlp[@]}"
is "that folder stays unchanged" "$(ls other)" mine
exits "--level 1 saves without -o" 0 $printer --level 1 "${mlp[@]}"
ok "it saves to aoti-dump" test -s aoti-dump/calls.jsonl
exits "--level 2 -o" 0 $printer --level 2 -o both "${mlp[@]}"
like "--level 2 -o also prints" "$(cat out)" "Number of elements"
is "a failed -o leaves nothing behind" "$($printer -o fails "$P/mlp.pt2" nosuch.npy 2>/dev/null; find . -name 'fails*')" ""
exits "--max-bytes" 0 $printer -o small --max-bytes 400 "${mlp[@]}"
ok "--max-bytes limits the size of the dump" test "$(cat small/*.npy | wc -c)" -lt 1200
for f in npy pt safetensors; do
	exits "--format $f" 0 $printer -q -i -o "mixed.$f" --format $f "${mixed[@]}"
	exits "--format $f: the same values as npy" 0 $printer --diff mixed.npy "mixed.$f"
	like "--format $f: all tensors compared" "$(cat out)" "10 tensors compared, 0 differ"
done
is "every file of the dump has that format" "$(cd mixed.pt && ls -I '*.pt')" calls.jsonl
like "a type that a format cannot hold is saved in another" "$(ls mixed.npy)" 'arg3_1.safetensors'

# ---- comparisons ----
exits "--diff of equal dumps" 0 $printer --diff good aoti-dump
like "--diff of equal dumps: says that they agree" "$(cat out)" "4 calls in both; 11 tensors compared, 0 differ.*They agree"
exits "--diff of a dump with a new run" 0 $printer --diff good "${mlp[@]}"
npy ones.npy '<f4' 5 8
exits "--diff with another input" 1 $printer --diff good "$P/mlp.pt2" ones.npy
like "--diff shows different sizes" "$(cat out)" "First difference: run 0, call 0: aoti_torch_cpu_addmm_out.*reads  arg4_1.*the second has|the second has"
$printer -q -o ones "$P/mlp.pt2" ones.npy
cp -r ones broken
python3 - broken/*after.cpp_fused_relu_0.a0.buf1.npy broken/*before*buf1.npy <<'PY'
import struct, sys
for name in sys.argv[1:]:
	if "c0001.before" in name:
		continue
	b = bytearray(open(name, "rb").read())
	b[-4:] = struct.pack("<f", 7.5)
	open(name, "wb").write(b)
PY
exits "--diff finds a wrong kernel" 1 $printer --diff ones broken
like "a wrong kernel: its name, line and tensor" "$(cat out)" 'First difference: run 0, call 1: cpp_fused_relu_0 \(wrapper.cpp:[0-9]+\)'
like "a wrong kernel: its input agrees" "$(cat out)" 'reads  buf1, float32 \[5, 16\]: agrees'
like "a wrong kernel: its output differs" "$(cat out)" '1 of 80 elements differ
 +at \[4, 15\] .* vs 7\.5, '
like "a wrong kernel: the difference starts there" "$(cat out)" 'the difference starts here'
is "a wrong kernel: as JSON" "$($printer --diff ones broken --json | jq -c '[.different, .first, .origins, .calls[1].origin, .calls[1].values[1].worst.index, .calls[1].values[1].worst.b]')" \
	'[true,1,1,true,[4,15],7.5]'
exits "--rtol with --atol" 0 $printer --diff ones broken --rtol 0 --atol 10
exits "--rtol without --atol" 2 $printer --diff ones broken --rtol 1e-3
exits "--error-exitcode" 9 $printer --diff ones broken --error-exitcode 9
exits "-q --diff" 1 $printer -q --diff ones broken
is "-q --diff prints nothing" "$(cat out err)" ""
exits "--diff with -k" 0 $printer --diff ones broken -k '*softmax*'
exits "--diff with -b" 0 $printer --diff ones broken -b 'buf[2-9]'
exits "--diff --all" 0 $printer --all --diff ones ones
is "--diff --all lists every tensor" "$(grep -c 'cpp_fused\|aoti_torch' out)" 11
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
for i in log log_good; do run $printer -q -o "nan.$i" log.pt2 "$ROOT/tests/data/aoti/nan/io/$i.npz:in0"; done
exits "--diff finds a number that became NaN" 1 $printer --diff nan.log_good nan.log -k '*log*'
like "NaN is shown without its sign" "$(cat out)" '1 call in both; 3 tensors compared, 3 differ.* [0-9.]+ vs nan \('
exits "--diff --html" 1 $printer --diff ones broken --html page.html
ok "the page contains its data and loads nothing" python3 -c '
import json, re
t = open("page.html").read()
assert not re.search(r"(src|href)=\"(?!data:)", t) and "http://" not in t.replace("http://www.w3.org/2000/svg", "")
d = json.loads(re.search(r"<script type=\"application/json\" id=\"model\">(.*?)</script>", t, re.S).group(1))
assert d["first"] == 1 and len(d["calls"]) == 4'

# One side has another floating-point type: what its rounding explains does not count as a difference. HOW: the call whose output goes wrong, and the factor.
cat >to_bf16.py <<'PY'
import json, os, struct, sys
source, target, call, factor = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
os.mkdir(target)
lines = [json.loads(line) for line in open(source + "/calls.jsonl")]
for c in lines:
	for v in c.get("values", []):
		data = open(f"{source}/{v['file']}", "rb").read()
		n = struct.unpack("<Q", data[:8])[0]
		head, numbers = json.loads(data[8:8 + n]), data[8 + n:]
		for t in head.values():
			if t.get("dtype") != "F32":
				continue
			numbers = list(struct.unpack(f"<{len(numbers) // 4}f", numbers))
			made = v["role"] in ("in", "out", "inout", "model-output")
			later = c["kind"] == "run" or c["call"] > call or (c["call"] == call and v["when"] == "after")
			if call >= 0 and made and later and v["buffer"] != "arg4_1":
				numbers = [x * factor for x in numbers]
			bits = [struct.unpack("<I", struct.pack("<f", x))[0] for x in numbers]
			numbers = b"".join(struct.pack("<H", (b + 0x7fff + (b >> 16 & 1) >> 16) & 0xffff if x == x else 0x7fc0) for b, x in zip(bits, numbers))
			t["dtype"], t["data_offsets"] = "BF16", [0, len(numbers)]
			v["dtype"] = "bfloat16"
		text = json.dumps(head).encode()
		open(f"{target}/{v['file']}", "wb").write(struct.pack("<Q", len(text)) + text + numbers)
open(target + "/calls.jsonl", "w").write("".join(json.dumps(c) + "\n" for c in lines))
PY
$printer -q -i --constants --format safetensors -o f32 "$P/mlp.pt2" ones.npy
python3 to_bf16.py f32 bf16 -1 1
exits "--diff of float32 and bfloat16" 0 $printer --diff f32 bf16
like "both types are shown" "$(cat out)" 'The first uses float32, the second bfloat16: what rounding explains'
like "rounding is not a difference" "$(cat out)" 'compared, 0 differ.*They agree'
exits "--diff of bfloat16 and float32" 0 $printer --diff bf16 f32
exits "with tolerances, rounding is a difference" 1 $printer --diff f32 bf16 --rtol 0 --atol 1e-9
python3 to_bf16.py f32 wrong 2 1.05
exits "another type and a wrong kernel" 1 $printer --diff f32 wrong
like "another type: the first wrong call is named" "$(cat out)" 'First difference: run 0, call 2: aoti_torch_cpu_addmm_out'
like "another type: its relative error is shown" "$(cat out)" 'relative error 0\.0(49|5) \(rms\); rounding explains 0\.0[12]'
is "another type: no other call is reported" "$($printer --diff f32 wrong --json | jq -c '[.differing, .origins, .type_a, .type_b]')" '[1,1,"float32","bfloat16"]'
python3 to_bf16.py f32 nans 1 nan
exits "another type and NaN" 1 $printer --diff f32 nans
like "NaN is never rounding: the first call with NaN is named" "$(cat out)" 'First difference: run 0, call 1: cpp_fused_relu_0'
cp -r broken hostile
sed -i 's|cpp_fused_relu_0","kind|</script><script>alert(1)</script>","kind|; s|"nodes":"linear"|"nodes":"\\u001b[31m<b>"|' hostile/calls.jsonl
exits "--diff --html with hostile names" 1 $printer --diff hostile broken --html page.html
unlike "hostile names cannot add scripts to the page" "$(cat page.html)" '<script>alert'
unlike "hostile names cannot control the terminal" "$(cat out)" $'\033'
cp -r ones cut && head -c -300 ones/calls.jsonl >cut/calls.jsonl
exits "--diff with a truncated index" 1 $printer --diff ones cut
like "a message says that the dump is incomplete" "$(cat err)" "'cut' is incomplete"
cp -r ones outside && sed -i 's|"file":"m0|"file":"../ones/m0|' outside/calls.jsonl
exits "an index that names files outside of its folder" 3 $printer --diff ones outside
exits "a folder that is not a dump" 3 $printer --diff other ones
exits "dumps with no call in common" 3 $printer --diff ones mixed.npy
exits "--repeat conflicts with two dumps" 2 $printer --diff ones broken -N 3

# ---- times ----
exits "--profile" 0 $printer --profile -N 11 "${mlp[@]}"
is "--profile has a row for each call" "$(grep -c 'wrapper.cpp:' out)" 4
like "--profile leaves out the first run" "$(cat out)" '  10  .*first run is left out'
is "--profile sorts rows by time" "$(sed -n 's/^ *\([0-9.]*\)% .*/\1/p' out)" "$(sed -n 's/^ *\([0-9.]*\)% .*/\1/p' out | sort -rn)"
exits "--profile --chrome-trace" 0 $printer --profile -N 3 --chrome-trace trace.json --json "${mlp[@]}"
is "the trace has every call of all runs" "$(jq '.traceEvents | length' trace.json)" 12
is "an event of the trace" "$(jq -c '.traceEvents[1] | [.name, .cat, .ph, .args.run, .args.call]' trace.json)" '["cpp_fused_relu_0","cpu_op","X",0,1]'
is "kernels are ordered by median times calls" "$(jq -c '[.kernels[] | .typical_ns == .median_ns * .calls] + [.typical_ns == ([.kernels[].typical_ns] | add),
	([.kernels[].typical_ns] | . == (sort | reverse))] | all' out)" true
is "--profile --json" "$(jq -c '[.first_run_left_out, (.kernels | length), .kernels[0].calls]' out)" '[true,4,2]'

# ---- watched commands ----
mkdir nested mlp && (cd nested && unzip -qo "$P/nested.pt2") && (cd mlp && unzip -qo "$P/mlp.pt2")
so=$(find "$PWD/nested" -name '*.so')
host=("$BUILD/tests-lib/livehost" torch="$BUILD/tests-lib/faketorch.so" load="$so" "call=f32[2,3];f32[2,3];f32[2,3];f32[]")
run "${host[@]}"
cp out alone
exits "-- COMMAND" 0 $printer -- "${host[@]}"
is "-- COMMAND: the command's results are unchanged" "$(grep '^rc ' out)" "$(grep '^rc ' alone)"
like "-- COMMAND: tensors are printed" "$(cat out)" 'after_launch - cpp_fused_add_mul_sub_sum_0 - buf0  \]:'
exits "--log -- COMMAND" 0 $printer --log shown -- "${host[@]}"
is "with --log, standard output is the command's own" "$(cat out)" "$(cat alone)"
like "with --log, values go to the file" "$(cat shown)" 'after_launch'
exits "the command's exit status is passed on" 5 $printer --level 3 -- sh -c '"$@"; exit 5' sh "${host[@]}"
exits "a command without a model" 4 $printer --level 3 -- true
like "a message says that no model was seen" "$(cat err)" "no compiled model was seen"
exits "-- COMMAND with filters that let nothing pass" 0 $printer --level 3 -k nosuch -- "${host[@]}"
like "a message counts the calls" "$(cat err)" "[1-9] calls were seen, but the filters let none pass"
# livehost calls once before its threads start
exits "a command with four threads" 0 $printer --level 3 -- "${host[@]:0:3}" "threads=4x25:f32[2,3];f32[2,3];f32[2,3];f32[]"
is "every call of every thread is printed" "$(grep -c 'before_launch' out)" 101
is "every call has its end" "$(grep -c 'after_launch' out)" 101
exits "-o -- COMMAND with threads" 0 $printer -q -o live -- "${host[@]:0:3}" "threads=2x5:f32[2,3];f32[2,3];f32[2,3];f32[]"
is "file names do not collide" "$(jq -r 'select(.values) | .values[].file' live/calls.jsonl | sort | uniq -d)" ""
is "every run is saved" "$(jq -s '[.[] | select(.kernel) | .run] | unique | length' live/calls.jsonl)" 11
exits "--profile -- COMMAND" 0 $printer --profile -- "${host[@]:0:3}" "threads=1x20:f32[2,3];f32[2,3];f32[2,3];f32[]"
like "--profile -- COMMAND leaves out the first run" "$(cat out)" ' 20 +[0-9.]+ .*cpp_fused_add_mul_sub_sum_0'

# One call that was interrupted makes no kernel expensive.
fake=("${host[@]:0:2}" load="$BUILD/tests-lib/fakemodel.so" "threads=1x40:f32[100]" "call=f32[104]")
exits "--profile with an interrupted call" 0 $printer --profile --json --log=log -k '*add_0' -- "${fake[@]}"
is "an interrupted call counts in the total, not in the ranking" "$(jq -c '.kernels[0] | [.outliers > 0, .total_ns > 200e6, .typical_ns < 100e6]' log)" '[true,true,true]'
exits "--profile of an interrupted call, as text" 0 $printer --profile -- "${fake[@]}"
like "a note shows how long it took" "$(cat out)" '[0-9]+ of 41 calls of cpp_fused_add_0.* took more than 10 times the median, up to 2[0-9]{5}\.[0-9] us'

# ---- bundles ----
python3 - <<'PY'
import struct
def npy(name, shape, values):
	head = "{'descr': '<f4', 'fortran_order': False, 'shape': %r, }" % (shape,)
	head += " " * (117 - len(head)) + "\n"
	open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(values), *values))
for i in range(3):
	npy("big%d.npy" % i, (2, 3), [1, 1, 1, 1, 3e38, 1])
npy("big3.npy", (), [2.0])
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 5), }".ljust(117) + "\n"
open("index.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.encode() + struct.pack("<10q", *[1] * 9, 99))
PY
exits "a kernel that throws" 3 $printer --level 3 "$P/emb.pt2" index.npy
is "its start is printed, and that an exception ended it" "$(cat out)" "[ before_launch: cpp_fused_embedding_native_layer_norm_0 ]
# cpp_fused_embedding_native_layer_norm_0 was left by a C++ exception"
like "the message has the exception's text" "$(cat err)" "index out of bounds"
runner=("$LIB/pt2-runner" --torch "$LIB/libpt2shim.so" --model "$so" --outputs ran --watched --unconfined)
python3 -c '
import zipfile
with zipfile.ZipFile("big.npz", "w") as z:
	[z.write("big%d.npy" % i) for i in range(4)]'
exits "--record of a correct run" 0 $printer --record calm -- "${host[@]}"
ok "a correct run leaves no bundle" test ! -e calm
exits "--record of a run with infinities" 1 $printer --record bundle -- "${runner[@]}" --inputs big.npz --runs 2
like "the message names the first bad kernel" "$(cat err)" "run 0, call 0: cpp_fused_add_mul_sub_sum_0 .* wrote 0 NaN and 1 infinities"
exits "a bundle runs again" 0 $printer bundle
like "the second run has the same infinities" "$(cat out)" 'buf0  \]:(.|
)*NaN: 0, Inf: 1, -Inf: 0'
exits "--record does not replace a bundle" 2 $printer --record bundle -- "${host[@]}"

# ---- what is refused ----
exits "no model" 2 $printer
exits "--no-exec with a model to run" 2 $printer --no-exec "${mlp[@]}"
like "the message names --no-exec" "$(cat err)" "no-exec"
exits "an input of the wrong type" 3 $printer "$P/mlp.pt2" 'f64[5,8]'
exits "missing inputs" 2 $printer "$P/mlp.pt2"
exits "--profile conflicts with --record" 2 $printer --profile --record x -- true
exits "--rtol needs --diff" 2 $printer --rtol 1 --atol 1 "${mlp[@]}"
exits "a model conflicts with -- COMMAND" 2 $printer "${mlp[@]}" -- true
exits "a file that is not a model" 3 $printer "$ROOT/README.md"
for how in "-o stopped" "--level 2"; do
	mkdir -p scratch
	# shellcheck disable=SC2086
	TMPDIR=$TMP/scratch timeout --preserve-status -s INT 1 $printer -q -N 1000000 $how "${mlp[@]}" >/dev/null 2>&1
	is "interrupted: ends by that signal" $? 130
	is "interrupted: nothing remains of $how" "$(find . -name 'stopped*'; find scratch -name 'aoti-printer*')" ""
done
is "the temporary folder is empty afterwards" "$(TMPDIR=$TMP/tmp; mkdir "$TMPDIR"; export TMPDIR; $printer "${mlp[@]}" >/dev/null; ls "$TMPDIR")" ""
done_testing
