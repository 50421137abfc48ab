#!/bin/bash
# aoti-printer and aoti-nanassert on models for CUDA, on a driver without a GPU (tests/lib/fakecuda.h).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

host=$BUILD/tests-lib/cudahost
so=$(echo "$BUILD"/tests-lib/cuda/model/*.so)
[ -f "$so" ] || skip_all "the model is not built"
model() { "$host" "load=$so" "$@"; }
names='triton_poi_fused_add_0
aoti_torch_cuda_addmm_out
triton_per_fused_relu_sum_1
triton_poi_fused_mul_2'

# ---- names ----
exits "names" 0 aoti-printer -l3 --log=log -- "$host" "load=$so" call=4
is "the model runs as before" "$(cat out)" "rc 0 as computed"
is "launches and ops, in order" "$(sed -n 's/^\[ before_launch: \([^ ]*\) \].*/\1/p' log)" "$names"
like "how a kernel is launched" "$(cat log)" 'triton_poi_fused_add_0 \] grid \(1, 1, 1\), block \(128, 1, 1\), shared 0, stream 0x0'
run aoti-printer -l3 --json --log=log -- "$host" "load=$so" call=4000
is "a grid in JSON" "$(jq -c '.calls[0].launch | [.grid, .block, .shared, .captured]' log)" '[[250,1,1],[128,1,1],0,false]'
is "a line of the wrapper for each" "$(jq '[.calls[] | select(.line > 0)] | length' log)" 4
run aoti-printer -l3 --json -k 'triton_p*' --log=log -- "$host" "load=$so" call=4
is "filters" "$(jq -r '.calls[].kernel' log)" "$(grep '^triton_p' <<<"$names")"
exits "in threads, on streams of their own" 0 aoti-printer -l3 --json --log=log -- "$host" "load=$so" threads=2x5:4
is "all calls" "$(jq '.calls | length' log)" 40
is "three streams or more" "$(jq '[.calls[].launch.stream // empty] | unique | length > 1' log)" true

# ---- values ----
exits "values" 0 aoti-printer --json --log=log -- "$host" "load=$so" call=4
is "each launch's tensors by name" "$(jq -c '.calls[0].values | map([.buffer, .role, .when, .device])' log)" \
	'[["arg1_1","in","before","cuda:0"],["arg2_1","in","before","cuda:0"],["buf0","out","after","cuda:0"]]'
is "an op's" "$(jq -r '.calls[1].values[] | select(.when == "after").buffer' log)" buf1
is "what was counted" "$(jq '.calls[2].values[0] | .elements == 32 and .nan == 0 and .min < 0 and .max > 0' log)" true
exits "a dump" 0 aoti-printer -o dump -- "$host" "load=$so" call=4
exits "is the same again" 0 aoti-printer --diff dump -- "$host" "load=$so" call=4
exits "and another with a NaN" 1 aoti-printer --diff dump -- "$host" "load=$so" nan=4
# As if compiled for the CPU, where kernels and buffers are called otherwise: made of the dump, for no other model computes the same.
cp -r dump cpu
sed -i 's/\("[a-z]*":"\)triton_p[a-z]*_fused/\1cpp_fused/; s/\("[a-z]*":"\)aoti_torch_cuda_/\1aoti_torch_cpu_/; s/"cuda:0"/"cpu"/g' cpu/calls.jsonl
sed -i 's/"buffer":"buf0"/"buffer":"buf9"/g; s/"buffer":"buf1"/"buffer":"buf0"/g' cpu/calls.jsonl
exits "a model for the CPU and for a GPU agree" 0 aoti-printer --json --diff cpu dump
is "call by call" "$(jq -c '[.both, .only_a, .only_b, .differing]' out)" '[4,0,0,0]'
exits "a large tensor, in pieces" 0 aoti-printer --json --log=log -- "$host" "load=$so" call=700000
is "is counted whole" "$(jq -c '.calls[0].values | map([.elements, .nan])' log)" '[[5600000,0],[5600000,0],[5600000,0]]'
run env FAKECUDA_LOG=driver aoti-printer --json --log=log2 -- "$host" "load=$so" call=700000
like "by kernels of ours, on the device" "$(cat driver)" 'run pt2_stats_f32 = 0'
like "its mean is that of all" "$(jq '.calls[0].values | (.[2].mean - .[0].mean - .[1].mean) | . < 1e-6 and . > -1e-6' log)" true

# ---- aoti-nanassert ----
exits "nothing found" 0 aoti-nanassert -- "$host" "load=$so" call=4
exits "a NaN" 1 aoti-nanassert --json --log=log -- "$host" "load=$so" nan=4
is "where" "$(jq -c '.findings[0] | [.kind, .kernel, .call, .values[.cause].buffer, .values[.bad].position]' log)" \
	'["input","triton_poi_fused_add_0",0,"arg1_1",[1,1]]'
is "the host sees what it saw before" "$(cat out)" "rc 0 NaN, as computed"
exits "a large one" 1 aoti-nanassert --json --log=log -- "$host" "load=$so" nan=700000
is "at its place" "$(jq -c '.findings[0] | .values[.bad].position' log)" '[1,1]'
exits "in a graph nothing is copied" 0 aoti-nanassert -- "$host" "load=$so" graph=3:4
is "which is replayed as before" "$(grep -c 'as computed' out)" 3
like "and said" "$(cat err)" '[34] of them were captured into a CUDA graph'

FAKECUDA_FAIL=illegal@2 run aoti-nanassert -- "$host" "load=$so" call=4
like "a fault is no NaN, and said" "$(cat err)" 'triton_[a-z0-9_]+ \(call [0-9]\): an illegal memory access was encountered.*aoti-printer --ima'
FAKECUDA_FAIL=illegal@2 run aoti-printer --log=log -- "$host" "load=$so" call=4
like "by both" "$(cat err)" 'an illegal memory access was encountered.*aoti-printer --ima'

# ---- --ima ----
ima() { FAKECUDA_FAIL=$1 run aoti-printer --ima --log=log -- "$host" "load=$so" "${@:2}"; }
ima "" call=4
is "no fault" "$status" 0
like "is said" "$(cat err)" '4 calls, each waited for: none failed'
ima illegal@2 call=4
is "a fault" "$status" 1
like "what" "$(cat log)" 'illegal memory access \(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)'
like "which kernel" "$(cat log)" 'kernel +triton_per_fused_relu_sum_1, call 2 of run 0'
like "where from" "$(cat log)" 'from +wrapper.cpp:[0-9]+, nodes relu, sum_1'
like "its launch" "$(cat log)" 'grid \(1, 1, 1\), block \([0-9]+, 1, 1\), [0-9]+ bytes of shared memory, stream 0x0, cuda:0'
like "sizes" "$(cat log)" 'sizes +s0 = 4'
like "arguments with their allocations" "$(cat log)" 'buf1 +in +float32\[4, 8\] strides \(8, 1\) +0x[0-9a-f]+ +128 +128 +0x[0-9a-f]+ \+ [0-9]+'
is "the calls before it, and no other" "$(sed -n '/the last calls/,$ p' log | awk 'NR > 1 {print $3}')" "$(head -3 <<<"$names")"
ima illegal@1 call=4 call=4
is "it is told once" "$(grep -c 'illegal memory access (' log)" 1
ima launch@3 call=4
like "a launch that is refused" "$(cat log)" 'kernel +triton_poi_fused_mul_2.*the driver refused the launch'
ima "" host=4
is "a pointer to the host" "$status" 1
like "is found before the launch" "$(cat log)" 'arg2_1 lies in memory of the host that this GPU cannot reach'
FAKECUDA_DEVICES=2 run aoti-printer --ima --log=log -- "$host" "load=$so" other=4
like "a tensor on another GPU" "$(cat log)" 'arg2_1 lies on cuda:1, the kernel runs on cuda:0'
ima "" graph=2:4
is "a capture is not disturbed" "$status $(grep -c 'as computed' out)" "0 2"
ima "" call=5
is "with the caching allocator it is hidden" "$status" 0
run aoti-printer --ima=alloc --log=log -- "$host" "load=$so" call=5
is "without it is not" "$status" 1
like "and has a name" "$(cat log)" 'kernel +triton_poi_fused_mul_2, call 3'
exits "--ima needs a command" 2 aoti-printer --ima "$so"
exits "--ima=what" 2 aoti-printer --ima=what -- true
exits "a program without a model" 4 aoti-printer --ima -- true
done_testing
