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
exits "names" 0 $printer --level 3 "${mlp[@]}"
is "every kernel and op, in order" "$(sed -n 's/^\[ before_launch: \(.*\) \]$/\1/p' out)" "$kernels"
is "and when each had ended" "$(sed -n 's/^\[ after_launch: \(.*\) \]$/\1/p' out)" "$kernels"
exits "values" 0 $printer "${mlp[@]}"
cp out values
is "nothing on standard error" "$(cat err)" ""
is "the fields of PyTorch's printer, in its order" "$(awk '/^\[  after_launch - cpp_fused_relu_0 - buf1/ {on = 1; next} on && /^$/ {exit} on && /^[A-Z].*: / {sub(/: .*/, ""); print}' values)" \
	"$(printf '%s\n' "Number of elements" Dtype "Mean value" "Min value" "Max value" Device Size Stride Layout "Is contiguous" "Requires grad" NaN)"
like "values as print(tensor) has them" "$(cat values)" 'buf0  \]:
tensor\(\[\[ *-?[0-9.]+, '
is "a line per call: where it comes from" "$(grep -c '^# model, run 0, call [0-3]: .* (wrapper.cpp:[0-9]*' values)" 4
is "no weights unless asked for" "$(grep -c 'weight' values)" 0
like "weights" "$($printer --constants "${mlp[@]}")" 'before_launch - aoti_torch_cpu_addmm_out - up_weight'
run $printer --inputs "${mlp[@]}"
like "the model's inputs" "$(cat out)" '\[  aoti_model_inputs - arg4_1  \]:'
like "and outputs" "$(cat out)" '\[  aoti_model_outputs - '
exits "no more text than --max-text" 0 $printer --max-text=1K "${mlp[@]}"
like "which it says" "$(cat err)" '^aoti-printer: more than 1024 bytes of text: the rest is cut \(--max-text=SIZE shows more\)$'
is "there, too, behind whole lines" "$(tail -n 1 out) $(test "$(wc -c <out)" -le 1100 && echo short)" \
	"[cut: more than 1024 bytes of text; --max-text=SIZE shows more] short"
exits "a document" 0 $printer --json --max-text=1K "${mlp[@]}"
is "stays one" "$(jq -c '[.cut, (.calls | length > 0 and length < 4), (.models | length)]' out) $(wc -l <err)" "[true,true,0] 1"
exits "its time is over" 3 $printer -l 0 -N 1000000 --timeout 1 "${mlp[@]}"
like "which is said" "$(cat err)" "aoti-printer: the model's process: timed out"
exits "nothing" 0 $printer --level 0 "${mlp[@]}"
is "nothing" "$(cat out err)" ""
blob=(--constants "$P/weights_blob.pt2" "$IO/weights_blob.pt:inputs[0]")
like "abbreviated" "$($printer "${blob[@]}")" ',  \.\.\., '
exits "in full" 0 $printer --full "${blob[@]}"
is "in full" "$(grep -c '\.\.\.' out)" 0

# ---- PyTorch's variables ----
export AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=3
is "the level of the environment" "$($printer "${mlp[@]}" | head -1)" "[ before_launch: $(head -1 <<<"$kernels") ]"
like "an option wins" "$($printer --level 2 "${mlp[@]}")" "Number of elements"
exits "the option goes before it" 0 $printer --level 2 "${mlp[@]}"
like "the option goes before it: values" "$(cat out)" 'Number of elements'
exits "and switches it off" 0 $printer --level 0 "${mlp[@]}"
is "and switches it off: nothing" "$(cat out)" ""
AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER=7 exits "no such level" 2 $printer "${mlp[@]}"
unset AOT_INDUCTOR_DEBUG_INTERMEDIATE_VALUE_PRINTER
export AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT='CPP_fused__softmax_1, cpp_fused_nosuch'
is "its list of kernels, case aside" "$($printer "${mlp[@]}" | grep -c '^# ')" 1
is "is for values only" "$($printer --level 3 "${mlp[@]}" | grep -c before)" 4
is "an option wins, too" "$($printer -k '*relu*' "${mlp[@]}" | sed -n 's/^# .*: \([a-z_0-9]*\) .*/\1/p')" cpp_fused_relu_0
exits "-k goes before it" 0 $printer -k '*' "${mlp[@]}"
ok "-k goes before it: all kernels" test "$(grep -c '^\[  after_launch' out)" -gt 3
unset AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT

# ---- filters ----
names() { $printer --level 3 "$@" "${mlp[@]}" | sed -n 's/^\[ before_launch: \(.*\) \]$/\1/p' | tr '\n' ' '; }
is "kernels by glob, several" "$(names -k '*relu*,*softmax*')" "cpp_fused_relu_0 cpp_fused__softmax_1 "
is "calls" "$(names --calls 1-2)" "cpp_fused_relu_0 aoti_torch_cpu_addmm_out "
is "calls, from one on, and one" "$(names --calls 0,3-)" "aoti_torch_cpu_addmm_out cpp_fused__softmax_1 "
is "runs" "$($printer --level 3 -N 5 --runs 1,3- -k '*relu*' "${mlp[@]}" | grep -c before)" 3
is "buffers" "$($printer -b 'buf[01]' "${mlp[@]}" | grep -o ' - buf[0-9]*  \]' | sort -u | tr -d '\n')" " - buf0  ] - buf1  ]"
is "weights by module path" "$($printer --constants -b 'down.*' "${mlp[@]}" | grep -c '^\[  ')" 1
for bad in x 3-1 - '1,,2' 99999999999; do exits "no range: $bad" 2 $printer --calls "$bad" "${mlp[@]}"; done
exits "nothing passes" 0 $printer -k nosuch "${mlp[@]}"
like "and that is said" "$(cat err)" "4 calls were seen, but the filters let none pass"

# ---- JSON ----
exits "JSON" 0 $printer --json "${mlp[@]}"
is "calls" "$(jq -r '.calls[].kernel' out)" "$kernels"
is "what is in them" "$(jq -c '[.calls[1].values[] | [.buffer, .when, .dtype, .nan]] | unique' out)" \
	'[["buf1","after","float32",0],["buf1","before","float32",0],["buf2","after","float32",0]]'
ok "where they come from" jq -e '.calls[0] | .line > 0 and .nodes == "linear"' out
exits "names as JSON" 0 $printer --json --level 3 "${mlp[@]}"
is "without values" "$(jq '[.calls[].values[]] | length' out)" 0

# ---- dumps ----
exits "save" 0 $printer -o good "${mlp[@]}"
like "and says so" "$(cat err)" "4 calls are saved in good"
is "the index names every file, and no other is there" "$(jq -r 'select(.values) | .values[].file' good/calls.jsonl | sort)" "$(cd good && ls -I calls.jsonl)"
is "model, run, call, before or after, kernel, argument, buffer" "$(cd good && echo *relu_0*buf2*)" m0.r000000.c0001.after.cpp_fused_relu_0.a1.buf2.npy
is "numpy's own header" "$(head -qc 6 good/*c0001*buf2.npy | od -An -c | tr -d ' ')" '223NUMPY'
exits "never over another" 2 $printer -o good "${mlp[@]}"
exits "unless told" 0 $printer -q -o good --overwrite "${mlp[@]}"
mkdir other && touch other/mine
exits "but only over a dump" 2 $printer -o other --overwrite "${mlp[@]}"
is "what is there stays" "$(ls other)" mine
exits "level 1 has a folder of its own" 0 $printer --level 1 "${mlp[@]}"
ok "it is a dump" test -s aoti-dump/calls.jsonl
exits "saved and printed" 0 $printer --level 2 -o both "${mlp[@]}"
like "printed" "$(cat out)" "Number of elements"
is "leaves nothing behind when it fails" "$($printer -o fails "$P/mlp.pt2" nosuch.npy 2>/dev/null; find . -name 'fails*')" ""
exits "the room is limited" 0 $printer -o small --max-bytes 400 "${mlp[@]}"
ok "and kept to" test "$(cat small/*.npy | wc -c)" -lt 1200
for f in npy pt safetensors; do
	exits "$f" 0 $printer -q -i -o "mixed.$f" --format $f "${mixed[@]}"
	exits "$f: the same numbers" 0 $printer --diff mixed.npy "mixed.$f"
	like "$f: all compared" "$(cat out)" "10 tensors compared, 0 differ"
done
is "every file has the format" "$(cd mixed.pt && ls -I '*.pt')" calls.jsonl
like "what a format cannot hold is in another" "$(ls mixed.npy)" 'arg3_1.safetensors'

# ---- comparisons ----
exits "the same" 0 $printer --diff good aoti-dump
like "in words" "$(cat out)" "4 calls in both; 11 tensors compared, 0 differ.*They agree"
exits "with what is run now" 0 $printer --diff good "${mlp[@]}"
npy ones.npy '<f4' 5 8
exits "another input" 1 $printer --diff good "$P/mlp.pt2" ones.npy
like "sizes" "$(cat out)" "First difference: run 0, call 0: aoti_torch_cpu_addmm_out.*reads  arg4_1.*the second has|the second has"
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
exits "a kernel that went wrong" 1 $printer --diff ones broken
like "its name, place, tensor" "$(cat out)" 'First difference: run 0, call 1: cpp_fused_relu_0 \(wrapper.cpp:[0-9]+\)'
like "what it reads agrees" "$(cat out)" 'reads  buf1, float32 \[5, 16\]: agrees'
like "what it writes does not" "$(cat out)" '1 of 80 elements differ
 +at \[4, 15\] .* vs 7\.5, '
like "so it was made there" "$(cat out)" 'the difference starts here'
is "as JSON" "$($printer --diff ones broken --json | jq -c '[.different, .first, .origins, .calls[1].origin, .calls[1].values[1].worst.index, .calls[1].values[1].worst.b]')" \
	'[true,1,1,true,[4,15],7.5]'
exits "within a tolerance of its own" 0 $printer --diff ones broken --rtol 0 --atol 10
exits "half a tolerance" 2 $printer --diff ones broken --rtol 1e-3
exits "another status" 9 $printer --diff ones broken --error-exitcode 9
exits "quietly" 1 $printer -q --diff ones broken
is "quietly" "$(cat out err)" ""
exits "the kernels that were asked for" 0 $printer --diff ones broken -k '*softmax*'
exits "the buffers that were asked for" 0 $printer --diff ones broken -b 'buf[2-9]'
exits "all" 0 $printer --all --diff ones ones
is "every tensor" "$(grep -c 'cpp_fused\|aoti_torch' out)" 11
xz -dc "$ROOT/tests/data/aoti/nan/log.pt2.xz" >log.pt2
for i in log log_good; do run $printer -q -o "nan.$i" log.pt2 "$ROOT/tests/data/aoti/nan/io/$i.npz:in0"; done
exits "a number that became NaN" 1 $printer --diff nan.log_good nan.log -k '*log*'
like "whose sign says nothing" "$(cat out)" '1 call in both; 3 tensors compared, 3 differ.* [0-9.]+ vs nan \('
exits "a page" 1 $printer --diff ones broken --html page.html
ok "with its data" python3 -c '
import json, re
t = open("page.html").read()
assert not re.search(r"(src|href)=\"(?!data:)", t) and "http://" not in t.replace("http://www.w3.org/2000/svg", "")
d = json.loads(re.search(r"<script type=\"application/json\" id=\"model\">(.*?)</script>", t, re.S).group(1))
assert d["first"] == 1 and len(d["calls"]) == 4'

# One side is of another floating-point type: what its rounding explains is no difference. HOW: the call whose output goes wrong, and by what.
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
exits "another type" 0 $printer --diff f32 bf16
like "is said" "$(cat out)" 'The first uses float32, the second bfloat16: what rounding explains'
like "and that they agree" "$(cat out)" 'compared, 0 differ.*They agree'
exits "the other way round" 0 $printer --diff bf16 f32
exits "unless tolerances are given" 1 $printer --diff f32 bf16 --rtol 0 --atol 1e-9
python3 to_bf16.py f32 wrong 2 1.05
exits "another type, and a fault" 1 $printer --diff f32 wrong
like "the call that made it" "$(cat out)" 'First difference: run 0, call 2: aoti_torch_cpu_addmm_out'
like "by how much" "$(cat out)" 'relative error 0\.0(49|5) \(rms\); rounding explains 0\.0[12]'
is "and no other" "$($printer --diff f32 wrong --json | jq -c '[.differing, .origins, .type_a, .type_b]')" '[1,1,"float32","bfloat16"]'
python3 to_bf16.py f32 nans 1 nan
exits "NaN is never rounding" 1 $printer --diff f32 nans
like "NaN: the call that made it" "$(cat out)" 'First difference: run 0, call 1: cpp_fused_relu_0'
cp -r broken hostile
sed -i 's|cpp_fused_relu_0","kind|</script><script>alert(1)</script>","kind|; s|"nodes":"linear"|"nodes":"\\u001b[31m<b>"|' hostile/calls.jsonl
exits "hostile names" 1 $printer --diff hostile broken --html page.html
unlike "stay data" "$(cat page.html)" '<script>alert'
unlike "and do not drive the terminal" "$(cat out)" $'\033'
cp -r ones cut && head -c -300 ones/calls.jsonl >cut/calls.jsonl
exits "a writer that was killed" 1 $printer --diff ones cut
like "is said" "$(cat err)" "'cut' is incomplete"
cp -r ones outside && sed -i 's|"file":"m0|"file":"../ones/m0|' outside/calls.jsonl
exits "files outside of the folder" 3 $printer --diff ones outside
exits "no dump" 3 $printer --diff other ones
exits "nothing in common" 3 $printer --diff ones mixed.npy
exits "dumps take no options of a run" 2 $printer --diff ones broken -N 3

# ---- times ----
exits "profile" 0 $printer --profile -N 11 "${mlp[@]}"
is "a row for each call" "$(grep -c 'wrapper.cpp:' out)" 4
like "the first run is left out" "$(cat out)" '  10  .*first run is left out'
is "sorted" "$(sed -n 's/^ *\([0-9.]*\)% .*/\1/p' out)" "$(sed -n 's/^ *\([0-9.]*\)% .*/\1/p' out | sort -rn)"
exits "a trace" 0 $printer --profile -N 3 --chrome-trace trace.json --json "${mlp[@]}"
is "every call, of all runs" "$(jq '.traceEvents | length' trace.json)" 12
is "what is in one" "$(jq -c '.traceEvents[1] | [.name, .cat, .ph, .args.run, .args.call]' trace.json)" '["cpp_fused_relu_0","kernel","X",0,1]'
is "ordered by the median" "$(jq -c '[.kernels[] | .typical_ns == .median_ns * .calls] + [.typical_ns == ([.kernels[].typical_ns] | add),
	([.kernels[].typical_ns] | . == (sort | reverse))] | all' out)" true
is "JSON" "$(jq -c '[.first_run_left_out, (.kernels | length), .kernels[0].calls]' out)" '[true,4,2]'

# ---- watched commands ----
mkdir nested mlp && (cd nested && unzip -qo "$P/nested.pt2") && (cd mlp && unzip -qo "$P/mlp.pt2")
so=$(find "$PWD/nested" -name '*.so')
host=("$BUILD/tests-lib/livehost" torch="$BUILD/tests-lib/faketorch.so" load="$so" "call=f32[2,3];f32[2,3];f32[2,3];f32[]")
run "${host[@]}"
cp out alone
exits "a command" 0 $printer -- "${host[@]}"
is "its results are what they were" "$(grep '^rc ' out)" "$(grep '^rc ' alone)"
like "its tensors" "$(cat out)" 'after_launch - cpp_fused_add_mul_sub_sum_0 - buf0  \]:'
exits "into a file" 0 $printer --log shown -- "${host[@]}"
is "and only there" "$(cat out)" "$(cat alone)"
like "there" "$(cat shown)" 'after_launch'
exits "its own status" 5 $printer --level 3 -- sh -c '"$@"; exit 5' sh "${host[@]}"
exits "no model in it" 4 $printer --level 3 -- true
like "is said" "$(cat err)" "no compiled model was seen"
exits "nothing of a command passes" 0 $printer --level 3 -k nosuch -- "${host[@]}"
like "its calls are counted" "$(cat err)" "[1-9] calls were seen, but the filters let none pass"
# livehost calls once before its threads start
exits "threads" 0 $printer --level 3 -- "${host[@]:0:3}" "threads=4x25:f32[2,3];f32[2,3];f32[2,3];f32[]"
is "every call of every thread" "$(grep -c 'before_launch' out)" 101
is "none was lost" "$(grep -c 'after_launch' out)" 101
exits "save" 0 $printer -q -o live -- "${host[@]:0:3}" "threads=2x5:f32[2,3];f32[2,3];f32[2,3];f32[]"
is "names do not collide" "$(jq -r 'select(.values) | .values[].file' live/calls.jsonl | sort | uniq -d)" ""
is "every run" "$(jq -s '[.[] | select(.kernel) | .run] | unique | length' live/calls.jsonl)" 11
exits "times" 0 $printer --profile -- "${host[@]:0:3}" "threads=1x20:f32[2,3];f32[2,3];f32[2,3];f32[]"
like "of all but the first run" "$(cat out)" ' 20 +[0-9.]+ .*cpp_fused_add_mul_sub_sum_0'

# One call that was interrupted makes no kernel expensive.
fake=("${host[@]:0:2}" load="$BUILD/tests-lib/fakemodel.so" "threads=1x40:f32[100]" "call=f32[104]")
exits "an outlier" 0 $printer --profile --json --log=log -k '*add_0' -- "${fake[@]}"
is "is in the total, not in what it is ranked by" "$(jq -c '.kernels[0] | [.outliers > 0, .total_ns > 200e6, .typical_ns < 100e6]' log)" '[true,true,true]'
exits "is said" 0 $printer --profile -- "${fake[@]}"
like "with how long it took" "$(cat out)" '[0-9]+ of 41 calls of cpp_fused_add_0.* took more than 10 times the median, up to 2[0-9]{5}\.[0-9] us'

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
is "has begun, and has not ended" "$(cat out)" "[ before_launch: cpp_fused_embedding_native_layer_norm_0 ]
# cpp_fused_embedding_native_layer_norm_0 was left by a C++ exception"
like "why" "$(cat err)" "index out of bounds"
runner=("$LIB/pt2-runner" --torch "$LIB/libpt2shim.so" --model "$so" --outputs ran --watched --unconfined)
python3 -c '
import zipfile
with zipfile.ZipFile("big.npz", "w") as z:
	[z.write("big%d.npy" % i) for i in range(4)]'
exits "nothing goes wrong" 0 $printer --record calm -- "${host[@]}"
ok "nothing is kept" test ! -e calm
exits "a run goes wrong" 1 $printer --record bundle -- "${runner[@]}" --inputs big.npz --runs 2
like "which" "$(cat err)" "run 0, call 0: cpp_fused_add_mul_sub_sum_0 .* wrote 0 NaN and 1 infinities"
exits "it is run again" 0 $printer bundle
like "with the same result" "$(cat out)" 'buf0  \]:(.|
)*NaN: 0, Inf: 1, -Inf: 0'
exits "not over another" 2 $printer --record bundle -- "${host[@]}"

# ---- what is refused ----
exits "no model" 2 $printer
exits "not to be run" 2 $printer --no-exec "${mlp[@]}"
like "why" "$(cat err)" "no-exec"
exits "inputs that do not fit" 3 $printer "$P/mlp.pt2" 'f64[5,8]'
exits "no input" 2 $printer "$P/mlp.pt2"
exits "two questions" 2 $printer --profile --record x -- true
exits "tolerances without a comparison" 2 $printer --rtol 1 --atol 1 "${mlp[@]}"
exits "a model and a command" 2 $printer "${mlp[@]}" -- true
exits "a file that is no model" 3 $printer "$ROOT/README.md"
for how in "-o stopped" "--level 2"; do
	mkdir -p scratch
	# shellcheck disable=SC2086
	TMPDIR=$TMP/scratch timeout --preserve-status -s INT 1 $printer -q -N 1000000 $how "${mlp[@]}" >/dev/null 2>&1
	is "interrupted: it ends by that signal" $? 130
	is "interrupted: nothing is left of $how" "$(find . -name 'stopped*'; find scratch -name 'aoti-printer*')" ""
done
is "nothing is left in the temporary folder" "$(TMPDIR=$TMP/tmp; mkdir "$TMPDIR"; export TMPDIR; $printer "${mlp[@]}" >/dev/null; ls "$TMPDIR")" ""
done_testing
