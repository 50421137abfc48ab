#!/bin/bash
# aoti-printer --diff of a CPU's dump and a GPU's (tests/lib/two_devices.py): a convolution whose bias the GPU adds in another kernel is no difference, as long as
# both end with the same result.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null || skip_all "python3 is not installed"
command -v jq >/dev/null || skip_all "jq is not installed"
python3 "$ROOT/tests/lib/two_devices.py" cpu gpu
python3 "$ROOT/tests/lib/two_devices.py" other wrong wrong

exits "the same result: status" 0 aoti-printer --json --diff cpu gpu
is "... nothing begins to differ" "$(jq -c '[.calls[] | select(.origin)]' out)" "[]"
is "... the convolutions' results are something else" "$(jq -r '.calls[] | select(.kernel == "extern_kernels.convolution") | [.elsewhere, .values[-1].what] | @csv' out)" \
	'true,"other"'
is "... a tensor that two kernels write is found by its numbers" \
	"$(jq -r '.calls[] | select(.kernel == "cpp_fused_convolution_0") | .values[] | select(.when == "after") | "\(.buffer) \(.what)"' out | xargs)" "buf0 same buf1 only-a"
is "... the model's outputs agree" "$(jq -r '.calls[] | select(.kind == "run") | [.values[].what] | unique | join(" ")' out)" same
is "the other way round" "$(aoti-printer -q --diff gpu cpu; echo $?)" 0
run aoti-printer --diff cpu gpu
like "as text" "$(cat out)" "fused differently"
unlike "... nothing is accused" "$(cat out)" "First difference"
run aoti-printer --diff --all cpu gpu
exits "without a tolerance for two devices: status" 1 aoti-printer -q --rtol 1e-6 --atol 1e-6 --diff cpu gpu

exits "another result: status" 1 aoti-printer --json --diff cpu wrong
is "... nothing is set aside" "$(jq -c '[.calls[].values[] | select(.what == "other")]' out)" "[]"
is "... the model's output differs" "$(jq -r '.calls[] | select(.kind == "run") | .values[-1].what' out)" values
done_testing
