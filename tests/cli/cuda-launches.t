#!/bin/bash
# All ways to load and launch a kernel (tests/lib/cudamodel/forms.h): its name, its launch, its tensors and its faults.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

host=$BUILD/tests-lib/cudahost
so=$(echo "$BUILD"/tests-lib/cuda/model/*.so)
[ -f "$so" ] || skip_all "the model is not built"
facts='[.calls[] | [.kernel, .line, (.launch | if . then [.grid, .block, .shared, .stream] else null end),
	(.values | map([.buffer, .role, .when, .elements, .nan, .min, .max, .mean]))]]'
run aoti-printer --json --log=log -- "$host" "load=$so" call=40
plain=$(jq -c "$facts" log)
like "a launch by the module API" "$plain" 'triton_poi_fused_add_0.*arg1_1.*buf0'

# ---- by the driver's newest functions, and without these ----
same() { # NAME FORM STREAM [FAIL]
	CUDAMODEL_FORM=$2 FAKECUDA_FAIL=${4-} run aoti-printer --json --log=log -- "$host" "load=$so" call=40
	is "$1: the program's output is unchanged" "$status $(cat out)" "0 rc 0 as computed"
	is "$1: names, launches, tensors and values are equal" "$(jq -c "$facts" log)" \
		"$(jq -c "map(if .[2] then .[2][3] = $3 else . end)" <<<"$plain")"
}
for form in data fatbin library function unseen ex cooperative runtime runtime-ex runtime-cooperative kernel; do
	same "$form" $form 0
done
for form in ptsz runtime-ptsz; do
	same "$form (the thread's own stream)" $form 2
done
for form in data library function ex cooperative runtime runtime-ex kernel; do
	same "$form, before CUDA 12.3" $form 0 old
done
CUDAMODEL_FORM=unseen FAKECUDA_FAIL=old run aoti-printer -l3 --log=log -- "$host" "load=$so" call=4
like "a kernel without a name" "$(cat log)" '^\[ before_launch: \(unnamed kernel\) \] grid \(1, 1, 1\)'
CUDAMODEL_FORM=runtime FAKECUDA_FAIL=old run aoti-printer -l3 --log=log -- "$host" "load=$so" call=4 call=4
is "the program's last CUDA error is unchanged" "$(sort -u out)" "rc 0 as computed"

# ---- inside of a function of the model ----
inside() { CUDAMODEL_FORM=inside run "$@"; }
inside aoti-printer --json --log=log -- "$host" "load=$so" call=40
is "a launch inside a function: the output is unchanged" "$status $(cat out)" "0 rc 0 as computed"
is "the call has the function's name, the launch the kernel's" "$(jq -c '[.calls[] | [.kernel, .launch.function]]' log)" \
	'[["triton_launches_inside","triton_poi_fused_add_0"],["aoti_torch_cuda_addmm_out",null],["triton_launches_inside","triton_per_fused_relu_sum_1"],["triton_launches_inside","triton_poi_fused_mul_2"]]'
is "its tensors are on the GPU" "$(jq -c '.calls[0].values | map([.device, .elements]) | unique' log)" '[["cuda:0",320]]'
is "its tensors have the same values" "$(jq -c '.calls[0].values[:3] | map([.min, .max, .mean])[:2]' log)" "$(jq -c '.[0][3][:2] | map(.[5:8])' <<<"$plain")"
CUDAMODEL_TWICE=1 inside aoti-printer -l3 --log=log -- "$host" "load=$so" call=4
like "several launches in one call" "$(head -1 log)" 'triton_launches_inside \] kernel triton_poi_fused_add_0, grid \(1, 1, 1\), .*, the first of 2$'
FAKECUDA_FAIL=illegal@1 inside aoti-printer --ima --log=log -- "$host" "load=$so" call=4
like "--ima names the function" "$(head -1 log)" '^triton_launches_inside: illegal memory access'
like "--ima names the kernel in it" "$(cat log)" 'launch +triton_poi_fused_add_0, grid \(1, 1, 1\), block \(128, 1, 1\)'
inside aoti-nanassert --json --log=log -- "$host" "load=$so" nan=40
is "aoti-nanassert names the function" "$status $(jq -r '.findings[0].kernel' log)" "1 triton_launches_inside"
inside aoti-printer --json --log=log -- "$host" "load=$so" graph=2:4
is "a CUDA graph has the function's call" "$(jq -c '.graphs[0] | [.captured, .launches, .replays, .kernels[0]]' log)" '[4,3,2,"triton_launches_inside"]'

# ---- faults ----
for form in runtime library kernel; do
	CUDAMODEL_FORM=$form FAKECUDA_FAIL=illegal@2 run aoti-printer --ima --log=log -- "$host" "load=$so" call=4
	like "--ima, $form: the kernel is named" "$(head -1 log)" '^triton_per_fused_relu_sum_1: illegal memory access'
	like "--ima, $form: its arguments" "$(cat log)" '0 +buf1 +in +float32\[4, 8\] strides \(8, 1\)'
done
CUDAMODEL_FORM=runtime FAKECUDA_FAIL=launch@3 run aoti-printer --ima --log=log -- "$host" "load=$so" call=4
like "--ima, runtime API: a failing launch" "$(tr -s '\n ' ' ' <log)" '^triton_poi_fused_mul_2: .*the driver rejected the launch'

# ---- two GPUs at once ----
FAKECUDA_DEVICES=2 run aoti-printer --json --log=log -- "$host" "load=$so" both=5:40
is "two threads with a GPU each" "$(cat out)" "both: 0 failed, 0 wrong"
is "every call is recorded" "$(jq '.calls | length' log)" 40
is "each thread's tensors are on its own GPU" \
	"$(jq -c '[.calls | group_by(.tid)[] | [.[].values[].device] | unique] | sort' log)" '[["cuda:0"],["cuda:1"]]'
is "values belong to their call" "$(jq '[.calls[] | select(.kernel == "triton_poi_fused_add_0") | .values | (.[2].mean - .[0].mean - .[1].mean) |
	. < 1e-6 and . > -1e-6] | [length, all]' log | tr -d ' \n')" '[10,true]'
is "every call has its own number" "$(jq '[.calls[] | select(.kernel == "triton_poi_fused_add_0") | .values[0].mean] | unique | length' log)" 10
FAKECUDA_DEVICES=2 FAKECUDA_FAIL=illegal@3 run aoti-printer --ima --json -o report -- "$host" "load=$so" both=3:4
is "--ima: a fault on one of two GPUs" "$status $(jq -c '.faults | [length, (.[0].arguments | map(.device // empty) | unique | length)]' report)" '1 [1,1]'
done_testing
