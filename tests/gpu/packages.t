#!/bin/bash
# Real Triton packages on a real GPU: contract, doctor, values, the planted NaN, the planted illegal access. Run by make check-gpu.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
[ -n "${GPU_PYTHON-}" ] || skip_all "is run by make check-gpu"
host() { "$GPU_PYTHON" "$ROOT/tests/gpu/host.py" "$@"; }
export -f host
keep() { cp out "$GPU_OUT/$1.txt" 2>/dev/null; [ -s err ] && cp err "$GPU_OUT/$1.err.txt"; return 0; }
have() { [ -f "$GPU_MODELS/$1.json" ] || { skip "$1" "it was not compiled"; return 1; }; }
fact() { jq -r "$2" "$GPU_MODELS/$1.json"; }
py=("$GPU_PYTHON" "$ROOT/tests/gpu/host.py")

for name in dynamic mm user nan launches streams pdl; do
	have $name || continue
	model=$GPU_MODELS/$name.pt2
	exits "$name: text and binary agree" 0 aoti-checkinputs --probe "$model"
	keep "$name.contract"
	like "$name: it is for cuda" "$(cat out)" 'compiled for cuda'
	like "$name: the doctor finds the GPU fit" "$(aoti-checkinputs --doctor "$model" 2>&1)" 'ok +GPU code for sm_'
	is "$name: the tensors of its inputs fit" "$(aoti-checkinputs --json "$model" "$GPU_MODELS/$name.in.pt" 2>/dev/null | jq '[.findings[]? | select(.what != "device")] | length')" 0
	run aoti-printer --log=log --level 2 -- "${py[@]}" "$model" "$GPU_MODELS/$name.in.pt"
	cp log out 2>/dev/null
	keep "$name.printer"
	is "$name: watched, it ends as alone" "$status" 0
	is "$name: kernels are seen with the names of its text" \
		"$(aoti-checkinputs --json "$model" | jq -r '.calls[] | select(.kind == "kernel") | .name' | sort -u | while read -r k; do grep -q "$k" log || echo "$k"; done)" ""
	run aoti-nanassert --log=log -- "${py[@]}" "$model" "$GPU_MODELS/$name.in.pt"
	is "$name: no NaN with good inputs" "$status" 0
done
if have nan; then
	run aoti-nanassert --log=log -- "${py[@]}" "$GPU_MODELS/nan.pt2" "$GPU_MODELS/nan.bad.pt"
	cp log out
	keep nan.found
	is "the planted NaN: status" "$status" 1
	like "the planted NaN: its kernel" "$(cat log)" "NaN.*$(fact nan .kernel)"
fi
if have user; then
	run host "$GPU_MODELS/user.pt2" "$GPU_MODELS/user.bad.pt"
	like "the planted access is illegal" "$(cat out err)" 'illegal memory access'
	run aoti-printer --ima --log=log -- "${py[@]}" "$GPU_MODELS/user.pt2" "$GPU_MODELS/user.bad.pt"
	cp log out
	keep user.ima
	like "--ima names the kernel in one run" "$(head -1 log)" "$(fact user .kernel)"
	like "and its grid" "$(cat log)" 'grid \([0-9]+, 1, 1\)'
	run aoti-printer --ima --log=log -- "${py[@]}" "$GPU_MODELS/user.pt2" "$GPU_MODELS/user.in.pt"
	unlike "nothing with a size that is right" "$(cat log)" 'illegal memory access'
	run aoti-printer --ima=alloc --log=log -- "${py[@]}" "$GPU_MODELS/user.pt2" "$GPU_MODELS/user.bad.pt"
	like "the same without the caching allocator" "$(head -1 log)" "$(fact user .kernel)"
fi

# ---- torch 2.15: several streams ----
if have streams; then
	model=$GPU_MODELS/streams.pt2
	like "streams: the operator's is not the caller's" "$(aoti-checkinputs --json "$model" | jq -c '[.calls[] | select(.stream == 1) | .name]')" '"aoti_torch_cuda_mm_out"'
	run aoti-printer --ima --log=log -- "${py[@]}" "$model" "$GPU_MODELS/streams.in.pt"
	cp log out
	keep streams.ima
	is "streams: --ima waits for each and finds nothing" "$status" 0
	run aoti-printer -q -i -o streams.dump -- "${py[@]}" "$model" "$GPU_MODELS/streams.in.pt"
	run aoti-printer --diff streams.dump -- "${py[@]}" "$model" "$GPU_MODELS/streams.in.pt"
	keep streams.diff
	is "streams: watched twice, the same numbers" "$status" 0
fi

# ---- packages out of a file (--torch): those that were made without a GPU, for sm_90 ----
lib=$("$GPU_PYTHON" -c 'import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib"))')
if [ "$("$GPU_PYTHON" -c 'import torch; print(torch.cuda.get_device_capability()[0])')" = 9 ]; then
	at=$ROOT/tests/data/aoti/cuda
	mkdir v
	xz -dc "$at/values.npz.xz" >values.npz && python3 -m zipfile -e values.npz v
	for name in linear linear_embedded linear_fatbin dynamic nan user linear_cpu; do xz -dc "$at/$name.pt2.xz" >$name.pt2; done
	for name in linear linear_embedded linear_fatbin dynamic user; do
		base=${name%%_*}
		exits "$name: runs out of its file" 0 aoti-printer -q --torch="$lib" -i -o saved.$name $name.pt2 v/"$base".in*.npy
		keep "file.$name"
		last=$(jq -r 'select(.kind == "run") | .values[] | select(.role == "model-output") | .file' saved.$name/calls.jsonl | tail -1)
		run python3 "$ROOT/tests/lib/npyclose.py" "saved.$name/$last" "v/$base.out0.npy" 1e-4 1e-5
		is "$name: computes what eager torch does on the CPU" "$status $(cat err)" "0 "
	done
	exits "a dump of the CPU's" 0 aoti-printer -q -i -o cpu linear_cpu.pt2 v/linear.in0.npy
	run aoti-printer --diff cpu saved.linear
	keep file.diff
	is "--diff: the CPU's package and the GPU's agree" "$status" 0
	exits "NaN out of a file" 1 aoti-nanassert --torch="$lib" nan.pt2 'f32[32,64]'
	keep file.nan
	like "at the logarithm" "$(head -1 out)" '^NaN produced by triton_per_fused_add_log_mul_sub_sum_2'
	exits "--ima on a file" 1 aoti-printer --ima --torch="$lib" user.pt2 'f32[1000,16]'
	keep file.ima
	like "names the kernel" "$(head -1 out)" '^far_copy_0: illegal memory access'
else
	skip "recorded packages" "they are for sm_90"
fi
done_testing
