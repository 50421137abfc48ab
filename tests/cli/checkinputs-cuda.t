#!/bin/bash
# aoti-checkinputs on a package for CUDA: text and binary, the words of its checks, the doctor before the fake driver (tests/lib/fakecuda.h).
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cuda=$BUILD/tests-lib/cuda
model=$cuda/cudamodel.pt2
check=aoti-checkinputs
[ -f "$model" ] || skip_all "no $model"
unset LD_LIBRARY_PATH

# ---- contract: no driver is here, nothing of CUDA is loaded ----
is "the contract from the text" "$($check --json "$model" | jq -c '[.source, .device, ([.inputs[] | [.dtype, .device, [.dims[].size]]]), [.outputs[].device], [.constants[].device]]')" \
	'["text","cuda",[["float32","cuda",["s0",8]],["float32","cuda",["s0",8]]],["cuda"],["cuda"]]'
exits "--probe" 0 $check --probe "$model"
like "binary and text agree" "$(cat out)" 'The binary agrees with its code'
is "standard error stays empty" "$(cat err)" ""
cp "$cuda"/model/*.so model.so
exits "a library alone is probed" 0 $check --json model.so
is "its contract" "$(jq -c '[.source, .device, [.inputs[] | [.dtype, .device, .dims[0].min, .dims[0].max, .dims[1].size, [.dims[].stride]]]]' out)" \
	'["probe","cuda",[["float32","cuda",2,65536,8,[8,1]],["float32","cuda",2,65536,8,[8,1]]]]'
calls='[.calls[].name]'
is "its launches have the names requested from the driver" "$(jq -c "$calls" out)" "$($check --json "$model" | jq -c "$calls")"
like "three kernels and an operator" "$(jq -c "$calls" out)" 'triton_poi_fused_add_0","aoti_torch_cuda_addmm_out","triton_per_fused_relu_sum_1","triton_poi_fused_mul_2'
same() { jq -c '[[.outputs[] | [.dtype, .device, .sizes, .strides]], [.constants[] | [.fqn, .dtype, .device, .sizes, .bytes]]]' "$1" | sed 's/s[0-9]*/s/g'; }
$check --json "$model" >text.json
is "its outputs and constants" "$(same out)" "$(same text.json)"
mkdir stale && (cd stale && unzip -qo "$model")
sed -i 's/> 65536/> 4096/; s/<= 65536/<= 4096/' "$(find stale -name '*.wrapper.cpp')"
exits "--probe with another model's text" 1 $check --probe stale
like "the difference is reported" "$(cat out)" '4096 in the text, 65536 in the binary|65536.*4096|4096.*65536'

# ---- inputs: torch's words ----
exits "inputs that fit" 0 $check "$model" 'f32[4,8]@cuda:0' 'f32[4,8]@cuda:0'
exits "cuda without an index is any device" 0 $check "$model" 'f32[4,8]@cuda' 'f32[4,8]@cuda:1'
exits "all on the second device" 0 $check "$model" 'f32[4,8]@cuda:1' 'f32[4,8]@cuda:1'
run $check "$model" 'f32[4,8]' 'f32[4,8]@cuda:0'
is "inputs on the CPU: status 1" "$status" 1
is "inputs on the CPU: PyTorch's message and the fix" "$(sed -n '2p;4p' out | sed 's/^ *//')" 'input_handles[0]: unmatched device type, expected: 11(cuda), but got: 0
fix: args[0].to("cuda")'
like "a wrong dtype" "$($check "$model" 'f32[4,8]@cuda' 'f64[4,8]@cuda')" 'input_handles\[1\]: unmatched dtype, expected: 6\(at::kFloat\), but got: 7'
like "a wrong size" "$($check "$model" 'f32[4,9]@cuda' 'f32[4,8]@cuda')" 'input_handles\[0\]: unmatched dim value at 1, expected: 8, but got: 9'
like "too many rows" "$($check "$model" 'f32[65537,8]@cuda' 'f32[65537,8]@cuda')" 'dim value is too large at 0, expected to be <= 65536, but got: 65537'
like "different numbers of rows" "$($check "$model" 'f32[4,8]@cuda' 'f32[5,8]@cuda')" 'expected s0 = 4'
run $check "$model" 'f32[4,8]@cuda:0' 'f32[4,8]@cuda:1'
is "inputs on two devices" "$status" 1
like "the message says which and where to move it" "$(tr '\n' ' ' <out)" 'args\[1\].*expected cuda:0 \(device of args\[0\]\), given cuda:1 .*args\[1\]\.to\("cuda:0"\)'
is "as JSON" "$($check --json "$model" 'f32[4,8]' 'f32[4,8]@cuda:0' | jq -c '[.fits, [.findings[] | [.input, .what, .expected, .given]]]')" '[false,[[0,"device","cuda","cpu"]]]'

# ---- the doctor ----
gpu() { env LD_LIBRARY_PATH="$cuda" "$@" $check --doctor --torch=none "$model"; }
exits "--doctor without a driver" 1 $check --doctor --torch=none "$model"
like "the missing driver is reported" "$(cat out)" 'fatal +compiled for CUDA, but no NVIDIA driver \(libcuda\.so\.1\) is installed'
is "it is reported once" "$(grep -c '^fatal .*libcuda\.so\.1' out)" 1
like "--doctor with the right GPU" "$(gpu FAKECUDA_SM=90)" 'ok +GPU code for sm_90 runs on this machine.s GPU \(sm_90\)'
like "the driver is new enough" "$(gpu FAKECUDA_SM=90)" 'ok +compiled with CUDA 12; the driver supports CUDA 12\.8'
unlike "no fatal finding" "$(gpu FAKECUDA_SM=90)" 'fatal'
like "the libtorch matches by its exports" "$(gpu FAKECUDA_SM=90)" 'ok +compiled by torch 2\.13 or newer'
unlike "no entry point is missing" "$(gpu FAKECUDA_SM=90)" 'does not export'
run gpu FAKECUDA_SM=80
is "--doctor with an older GPU" "$status" 1
like "an older GPU: code and GPU are named" "$(cat out)" 'fatal +has code for sm_90 \(.*\.cubin\), but this machine.s GPU is sm_80'
like "a newer GPU generation" "$(gpu FAKECUDA_SM=120)" 'has code for sm_90 .* but this machine.s GPU is sm_120'
like "no GPU" "$(gpu FAKECUDA_FAIL=nodevice)" 'fatal +compiled for CUDA, but the driver finds no GPU'
like "two GPUs" "$(gpu FAKECUDA_DEVICES=2)" 'runs on this machine.s GPU \(sm_90, sm_90\)'
like "constants on the model's device are not a finding" "$(gpu FAKECUDA_SM=90 | grep -c 'constant .* is for')" '^0$'
mkdir host && (cd host && unzip -qo "$model")
sed -i 's/constants_info_\[0\].device_type = cached_torch_device_type_cuda/constants_info_[0].device_type = cached_torch_device_type_cpu/' \
	"$(find host -name '*.wrapper.cpp')"
like "a constant on another device" "$(LD_LIBRARY_PATH=$cuda $check --doctor --torch=none host)" 'fatal +constant proj(_|\.)weight is for cpu, the code for cuda'
done_testing
