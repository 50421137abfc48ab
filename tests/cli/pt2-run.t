#!/bin/bash
# pt2-run: outputs in every format, read back by others than those that wrote them; weights from files; errors, and what is left behind.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
# shellcheck source=tests/lib/close.sh
. "$ROOT/tests/lib/close.sh"
P=$DATA/aoti
IO=$ROOT/tests/data/aoti/io
export TMPDIR=$TMP/tmp
mkdir "$TMPDIR"
# The inputs of a package, as operands; what eager gave for them.
inputs() { local i; for i in $(unzip -Z1 "$IO/$1.npz" 'in*' | sed 's/[^0-9]//g' | sort -n); do echo "$IO/$1.pt:inputs[$i]"; done; } # with strides
eager() { tensors "$IO/$1.npz" | grep '^out'; }

# ---- formats ----
for model in mlp halves strided misc conv nested kwargs; do
	mapfile -t in < <(inputs $model)
	eager $model >want
	for format in npz pt safetensors; do
		exits "$model saved as .$format" 0 pt2-run "$P/$model.pt2" "${in[@]}" -o "got.$format"
		is "-o prints nothing" "$(cat out err)" ""
		tensors "got.$format" | sort >got 2>err
		ok "$model as .$format equals eager's output" close got want
	done
done
mapfile -t in < <(inputs mlp)
mlp=("$P/mlp.pt2" "${in[@]}")
eager mlp >want
exits "one tensor saved as .npy" 0 pt2-run "${mlp[@]}" -o got.npy
tensors got.npy | sed 's/^/out0/' >got
ok "the .npy equals eager's output" close got want
ok "the .npy has NumPy's header" test "$(head -c 6 got.npy | tail -c 5)" = NUMPY
mapfile -t in < <(inputs nested)
exits "several tensors as .npy are rejected" 3 pt2-run "$P/nested.pt2" "${in[@]}" -o several.npy
like "the message suggests .npz" "$(cat err)" "^pt2-run: 'several.npy': a .npy file contains one tensor, not 3: save as .npz"
is "no file is left" "$(echo several*)" 'several*'
exits "an unknown suffix is rejected" 2 pt2-run "${mlp[@]}" -o got.bin
like "the message lists the formats" "$(cat err)" "'got.bin': cannot tell the format from the file name: use .npz, .npy, .pt or .safetensors"
exits "--format" 0 pt2-run "${mlp[@]}" --format npz -o got.bin
ok "--format npz writes a valid archive" unzip -tq got.bin
exits "-o to a pipe" 0 bash -c '"$@" --format safetensors -o /dev/stdout | cat >piped' - pt2-run "${mlp[@]}"
tensors piped >got
ok "the pipe gets all of it" close got want
touch -d '2001-01-01' got.npz
cp -p got.npz before.npz
exits "a failure with -o over an existing file" 3 pt2-run "$P/mlp.pt2" nosuch.npy -o got.npz
ok "the existing file is unchanged" cmp got.npz before.npz
exits "-o in a missing directory" 4 pt2-run "${mlp[@]}" -o nowhere/x.npz

# ---- the screen ----
exits "without -o" 0 pt2-run "${mlp[@]}"
like "outputs look like aoti-printer's tensors" "$(cat out)" '^\[  out0  \]:
tensor\(\[\[0\.[0-9]+, .*
Number of elements: [0-9]+
Dtype: float32
Mean value: 0\.25
Min value: .*
Device: cpu
Size: \[[0-9]+, 4\]
Stride: \[4, 1\]
Layout: Strided
Is contiguous: 1
Requires grad: 0
NaN: 0, Inf: 0, -Inf: 0, zeros: 0'
aoti-printer -i "${mlp[@]}" 2>/dev/null | sed -n '/aoti_model_outputs/,$p' | sed 1d >printed
is "outputs look like print(tensor)" "$(sed '1d;/^$/d' out)" "$(sed '/^$/d' printed)"
exits "generated inputs" 0 pt2-run "$P/mlp.pt2" 'f32[300,8]'
like "large outputs are abbreviated" "$(cat out)" '\.\.\.,'
exits "--full" 0 pt2-run --full "$P/mlp.pt2" 'f32[300,8]'
is "--full prints every row" "$(grep -c '\[0\.' out)" 300
exits "--json" 0 pt2-run --json "${mlp[@]}"
is "--json has the outputs" "$(jq -c '.outputs[0] | [.name, .dtype, .size[1], .nan, .elements == .size[0] * 4]' out)" '["out0","float32",4,0,true]'
is "--json has times" "$(jq -c '.times | [.calls, .first_call_ns > 0, has("median_call_ns")]' out)" '[1,true,false]'
exits "--profile" 0 pt2-run --profile "${mlp[@]}" -o got.npz
like "--profile runs 20 calls" "$(cat out)" 'first call.*later calls, median.*20 calls'
exits "--profile --json -n 50" 0 pt2-run --profile --json -n 50 "${mlp[@]}"
is "-n sets the number of calls" "$(jq -c '.times | [.calls, .median_call_ns > 0, .mean_call_ns > 0]' out)" '[50,true,true]'
exits "-q" 0 pt2-run -q "${mlp[@]}"
is "-q prints nothing" "$(cat out err)" ""

# ---- None ----
gives_none=("$P/v215/none.pt2" "$ROOT/tests/data/aoti/v215/io/none.pt:inputs[0]")
tensors "$ROOT/tests/data/aoti/v215/io/none.npz" | grep '^out' >want
exits "a model that returns None" 0 pt2-run "${gives_none[@]}" -o got.npz
tensors got.npz >got
ok "its other outputs equal eager's" close <(sed 's/^out[0-9]*/out/' got) <(sed 's/^out[0-9]*/out/' want)
is "None leaves its number out of an .npz" "$(cut -d' ' -f1 got | tr '\n' ' ')" "out0 out2 "
exits "None with .safetensors" 0 pt2-run "${gives_none[@]}" -o got.safetensors
is "None leaves its number out there, too" "$(tensors got.safetensors)" "$(cat got)"
exits "None with .pt" 0 pt2-run "${gives_none[@]}" -o got.pt
is ".pt has the None" "$(tensors got.pt | grep None)" "out1 None"
exits "None on the screen" 0 pt2-run "${gives_none[@]}"
like "None is shown" "$(cat out)" '\[  out[0-9]  \]: None'
exits "None with --json" 0 pt2-run --json "${gives_none[@]}"
is "None has only a name in JSON" "$(jq -c '[.outputs[] | select(.dtype == null) | keys]' out)" '[["name"]]'

# ---- which model, which inputs ----
exits "a package of several models" 2 pt2-run "$P/multi.pt2" 'f32[2,4]'
like "the message lists the models" "$(cat err)" "contains 2 models, choose one with --model: first, second"
mapfile -t in < <(inputs multi_second)
exits "-m selects a model" 0 pt2-run -m second "$P/multi.pt2" "${in[@]}" -o got.npz
eager multi_second >want
tensors got.npz >got
ok "that model ran" close got want
exits "missing inputs" 2 pt2-run "$P/mlp.pt2"
like "the message says which is missing" "$(cat err)" "^pt2-run: no input given for"
exits "an input of the wrong shape" 3 pt2-run "$P/mlp.pt2" 'f32[3,9]'
like "the message has both sizes" "$(cat err)" "expected 8, given 9"
exits "a missing model" 3 pt2-run nosuch.pt2
exits "a missing operand" 2 pt2-run
exits "an unknown option" 2 pt2-run --nosuch "${mlp[@]}"
exits "--load without --torch" 2 pt2-run --load x.so "${mlp[@]}"
exits "--quiet with --json" 2 pt2-run --quiet --json "${mlp[@]}"

# ---- weights ----
mapfile -t in < <(inputs mlp)
eager mlp >want
weights() { python3 "$ROOT/tests/lib/tensors.py" --write "$@"; }
# down.bias, four numbers, was compiled into the code.
all=(up.weight F32 '16,8' 0 up.bias F32 16 0 down.weight F32 '4,16' 0)
weights zero.safetensors "${all[@]}"
exits "--weights" 0 pt2-run --weights zero.safetensors "${mlp[@]}" -o got.npz
is "--weights prints nothing" "$(cat err)" ""
is "the model computes with them" "$(tensors got.npz | grep -o '0\.[0-9]*' | sort | uniq -c | awk '{print $1}' | tr '\n' ' ')" "3 3 3 3 "
exits "--weights from an exported program" 0 pt2-run --weights "$ROOT/tests/data/export/mlp.pt2" "${mlp[@]}" -o got.npz
pt2-run "${mlp[@]}" -o own.npz
ok "they equal the model's own" cmp got.npz own.npz
exits "--weights with some of the weights" 0 pt2-run --weights "$(weights down.safetensors "${all[@]:8:4}"; echo down.safetensors)" "${mlp[@]}" -o got.npz
like "a message says which were not replaced" "$(cat err)" "^pt2-run: 'down.safetensors' lacks 2 of the model's weights, which keep their compiled values: up.weight, up.bias"
exits "--weights with one too many" 0 pt2-run --weights "$(weights more.safetensors "${all[@]}" x.y F32 1 0; echo more.safetensors)" "${mlp[@]}" -o got.npz
like "a message names the unused one" "$(cat err)" "'more.safetensors': 1 weight not used by the model .*: x.y"
exits "--weights with -q" 0 pt2-run -q --weights more.safetensors "${mlp[@]}"
is "-q prints no message about weights" "$(cat err)" ""
exits "weights of the wrong shape" 3 pt2-run --weights "$(weights shape.safetensors up.weight F32 8,16 0 up.bias F32 5 0; echo shape.safetensors)" "${mlp[@]}" -o no.npz
like "the message names their shapes" "$(cat err)" "^pt2-run: 'shape.safetensors' has weights that do not fit this model: up.weight is f32\[8,16\] and must be f32\[16,8\], up.bias is f32\[5\] and must be f32\[16\]"
exits "weights of the wrong dtype" 3 pt2-run --weights "$(weights type.safetensors up.weight F64 16,8 0; echo type.safetensors)" "${mlp[@]}" -o no.npz
like "the message names the dtype" "$(cat err)" "up.weight is f64\[16,8\] and must be f32\[16,8\]"
exits "weights of another model" 3 pt2-run --weights "$(weights other.safetensors a F32 1 0; echo other.safetensors)" "${mlp[@]}" -o no.npz
like "the message lists the model's weights" "$(cat err)" "'other.safetensors' has none of the model's weights: the model takes up.weight, up.bias, down.weight"
exits "--weights with a compiled model" 3 pt2-run --weights "$P/mlp.pt2" "${mlp[@]}" -o no.npz
like "the message says what it lacks" "$(cat err)" "contains no exported program"
exits "--weights with a missing file" 3 pt2-run --weights nosuch.pt "${mlp[@]}" -o no.npz
exits "--weights with another file" 3 pt2-run --weights /etc/passwd "${mlp[@]}" -o no.npz
exits "--weights for a model without weights" 3 pt2-run --weights zero.safetensors "$P/nested.pt2" 'f32[2,3]' 'f32[2,3]' 'f32[2,3]' 'f32[]'
like "the message says that it takes none" "$(cat err)" "the model takes no weights"
is "failed runs leave no file" "$(echo no.npz*)" 'no.npz*'
# What is folded when it first runs is folded anew: softmax of zeros is 1/8 everywhere, so that a row is its mean and the bias.
weights folded.safetensors weight F32 8,8 0 bias F32 8 3
python3 "$ROOT/tests/lib/npy.py" zeros.npy '<f4' 2 8
exits "--weights for folded constants" 0 pt2-run --weights folded.safetensors "$P/folded.pt2" "$IO/folded.pt:inputs[0]" -o got.npz
is "they are folded again" "$(tensors got.npz | grep -o '[0-9]\.[0-9]*' | sort | uniq -c | awk '{print $1}' | tr '\n' ' ')" "8 8 "
exits "--weights for a bias" 0 pt2-run --weights folded.safetensors "$P/folded.pt2" zeros.npy -o got.npz
is "the bias is used" "$(tensors got.npz | grep -o '3\.0' | wc -l)" 16
exits "--weights for a package with a weights blob" 0 pt2-run --weights "$(weights blob.safetensors 0.weight F32 128,64 0 0.bias F32 128 0 2.weight F32 64,128 0 2.bias F32 64 7; echo blob.safetensors)" \
	"$P/weights_blob.pt2" 'f32[2,64]' -o got.npz
is "they replace the blob" "$(tensors got.npz | grep -o '[0-9]\.0' | sort | uniq -c | awk '{print $1, $2}')" "128 7.0"
# A package without weights (aot_inductor.package_constants_in_so=False): down.bias, four numbers, is in its code, too.
bare=("$P/v215/noweights.pt2" "$ROOT/tests/data/aoti/v215/io/noweights.pt:inputs[0]")
for tool in pt2-run aoti-printer aoti-nanassert; do
	exits "$tool: a package without weights is rejected" 3 $tool "${bare[@]}"
	like "$tool: the message lists the weights that it needs" "$(cat err)" "^$tool: '.*noweights.pt2' contains no weights .*: pass them with --weights=FILE; it needs up.weight \(float32, 512 bytes\), up.bias"
done
exits "--weights for a package without weights" 0 pt2-run --weights zero.safetensors "${bare[@]}" -o got.npz
is "it runs without a message" "$(cat err)" ""
exits "--weights with a state dict" 0 pt2-run -q --weights "$ROOT/tests/data/aoti/v215/io/noweights.weights.pt" "${bare[@]}" -o got.npz
tensors "$ROOT/tests/data/aoti/v215/io/noweights.npz" | grep '^out' >want
tensors got.npz >got
ok "the state dict gives eager's output" close got want
exits "a state dict with one weight missing" 3 pt2-run --weights "$(weights lacks.safetensors "${all[@]:0:8}" down.wait F32 4,16 0; echo lacks.safetensors)" "${bare[@]}"
like "the message names it and a similar name" "$(cat err)" "^pt2-run: 'lacks.safetensors' lacks weights that the model needs: down.weight \(it has these, which the model does not take: down.wait\)"
for tool in aoti-printer aoti-nanassert; do
	exits "$tool runs a package without weights with --weights" 0 $tool --weights zero.safetensors "${bare[@]}"
	exits "$tool runs a model with --weights" 0 $tool --weights zero.safetensors "${mlp[@]}"
	exits "$tool rejects weights of the wrong shape" 3 $tool --weights shape.safetensors "${mlp[@]}"
	like "$tool names the wrong weight" "$(cat err)" "up.weight is f32\[8,16\]"
	exits "$tool rejects --weights with a command" 2 $tool --weights zero.safetensors -- true
done
exits "aoti-printer prints the replaced weights" 0 aoti-printer --constants -b down.weight --weights zero.safetensors "${mlp[@]}"
like "they have their new values" "$(cat out)" "zeros: 64"

# ---- failures leave nothing ----
is "no directory is left" "$(ls "$TMPDIR")" ""
exits "--max-text" 0 pt2-run -f --max-text 300 "${mlp[@]}"
like "a message says that text was cut" "$(cat err)" "^pt2-run: more than 300 bytes of text: the rest is cut"
like "the output says so, too" "$(tail -n 1 out)" '^\[cut: more than 300 bytes of text'
exits "--json with --max-text" 0 pt2-run --json --max-text 300 "${mlp[@]}"
is "cut JSON stays valid" "$(jq -c '[.schema, .cut]' out)" '["pt2utils.run/1",true]'
printf 'import torch\n\nclass Repro(torch.nn.Module):\n    def forward(self, x: "f64[1]"):\n        y = torch.ops.aten.expand.default(x, [40000000])\n        return (y,)\n' >wide.py
exits "a tensor whose text exceeds 16 MiB" 0 pt2-run -f wide.py 'f64[1]'
is "the default limit is 16 MiB" "$((($(wc -c <out) + 500000) >> 20)) $(wc -l <err)" "16 1"
exits "--timeout" 3 pt2-run --timeout 1 -n 1000000 "$P/conv.pt2" "$IO/conv.npz:in0" -o late.npz
like "the message says what ended the model" "$(cat err)" "^pt2-run: the model's process: "
heeds() { exec python3 -c 'import os, signal, sys; [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGHUP)]; os.execvp(sys.argv[1], sys.argv[1:])' "$@"; }
for signal in TERM INT HUP; do
	heeds pt2-run -n 1000000 "$P/conv.pt2" "$IO/conv.npz:in0" -o killed.npz 2>err &
	pid=$!
	for _ in $(seq 200); do compgen -G 'killed.npz*' >/dev/null && [ -n "$(ls "$TMPDIR")" ] && break; sleep 0.02; done
	kill -$signal $pid
	wait $pid
	is "$signal ends the tool by the same signal" $? $((128 + $(kill -l $signal)))
done
is "no file is left after signals" "$(echo late* killed*)" 'late* killed*'
is "no directory is left after signals" "$(ls "$TMPDIR")" ""

# ---- a narrow address space: OpenBLAS would try for ever to map its buffer ----
if nm "$BUILD/bin/pt2-run" 2>/dev/null | grep -q __asan_init || ! ldconfig -p | grep -q 'libopenblas\.so\.0 '; then
	skip "too little address space" "a sanitizer's build, or no OpenBLAS"
else
	for tool in pt2-run aoti-printer; do
		exits "$tool: small products do not load it" 0 timeout 30 bash -c 'ulimit -v 150000; exec "$@"' - $tool "$P/mlp.pt2" 'f32[8,8]'
		exits "$tool: too little address space" 4 timeout 30 bash -c 'ulimit -v 150000; exec "$@"' - $tool "$P/mlp.pt2" 'f32[2048,8]'
		like "$tool: the message says for what" "$(cat err)" 'not enough address space for OpenBLAS, which needs 128 MB more: raise the limit \(ulimit -v\)'
	done
fi
# ---- instructions that this processor lacks: nothing of the package is executed ----
if [ "$(uname -m)" = x86_64 ] && ! grep -qw apxf /proc/cpuinfo; then
	kernel=$(python3 -c 'import sys, zipfile
print([n for n in zipfile.ZipFile(sys.argv[1]).namelist() if n.endswith(".kernel.cpp")][0].split("/", 1)[1])' "$DATA/aoti/mlp.pt2")
	python3 "$ROOT/tests/lib/rezip.py" "$DATA/aoti/mlp.pt2" apx.pt2 "/$kernel" -march=x86-64-v3 "-march=x86-64-v3 -mapxf"
	for tool in pt2-run aoti-nanassert aoti-printer; do
		exits "$tool: for another processor" 3 $tool apx.pt2 'f32[3,8]'
		like "says what it lacks" "$(cat err)" "^$tool: 'apx.pt2' is compiled for processors with apxf, which this one lacks"
	done
	run aoti-checkinputs --probe apx.pt2
	like "aoti-checkinputs --probe does not run it either" "$(cat err)" "the probe failed, .*compiled for processors with apxf, which this one lacks"
	python3 "$ROOT/tests/lib/rezip.py" "$DATA/aoti/mlp.pt2" wide.pt2 "/$kernel" -march=x86-64-v3 -march=x86-64-v4
	like "the first line of the contract says what it was compiled with" "$(aoti-checkinputs wide.pt2 | head -1)" "compiled for cpu \(AVX2, compiled with AVX-512\)"
	like "not without" "$(aoti-checkinputs "$DATA/aoti/mlp.pt2" | head -1)" "compiled for cpu \(AVX2\)"
else
	skip "instructions" "not x86-64, or it has them all"
fi

ulimit -f 1
weights big.safetensors "${all[@]}" 2>/dev/null
exits "a file size limit" 4 pt2-run "$P/mlp.pt2" 'f32[64,8]' -o large.npz
is "no partial file is left" "$(echo large*)" 'large*'
done_testing
