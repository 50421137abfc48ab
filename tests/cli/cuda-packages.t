#!/bin/bash
# aoti-checkinputs on real packages for CUDA (tests/data/aoti/cuda): text and binary, every form of kernels, the doctor before the fake driver.
# shellcheck disable=SC2016 # jq has variables
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
cuda=$BUILD/tests-lib/cuda
pt2=$DATA/aoti/cuda
check=aoti-checkinputs
[ -f "$pt2/linear.pt2" ] || skip_all "no packages for CUDA"
unset LD_LIBRARY_PATH
gpu="dynamic linear linear_embedded linear_fatbin linear_profiled user nan launches launches_sm80"

# ---- the text, and the binary in the sandbox: no driver, no torch ----
for name in $gpu linear_cpu launches_cpu; do
	exits "$name: binary and text agree" 0 $check --probe "$pt2/$name.pt2"
	like "$name: the message says so" "$(cat out)" 'The binary agrees with its code'
	is "$name: standard error stays empty" "$(cat err)" ""
done
contract() { $check --json "$1" | jq -c "$2"; }
is "dynamic: the contract from the text" "$(contract "$pt2/dynamic.pt2" '[.source, .device, ([.inputs[] | [.dtype, .device, [.dims[].size]]]), .symbols[0].min, .symbols[0].max]')" \
	'["text","cuda",[["float32","cuda",["s17",64]],["float32","cuda",["s17",64]]],2,4096]'
is "linear: weights are on the GPU" "$(contract "$pt2/linear.pt2" '[.constants[] | [.fqn, .device, .bytes]]')" \
	'[["up.weight","cuda",2048],["up.bias","cuda",128],["down.weight","cuda",1536],["down.bias","cuda",48]]'
calls='[.calls[] | .name]'
is "linear: kernels and operators" "$(contract "$pt2/linear.pt2" "$calls")" \
	'["aoti_torch_cuda_mm_out","triton_poi_fused_addmm_relu_0","aoti_torch_cuda_addmm_out","triton_per_fused__softmax_prepare_softmax_online_1"]'
for name in linear_embedded linear_fatbin linear_profiled; do
	is "$name: the same calls" "$(contract "$pt2/$name.pt2" "$calls")" "$(contract "$pt2/linear.pt2" "$calls")"
done
is "launches: ten calls, one kernel twice" "$(contract "$pt2/launches.pt2" '[.calls[].name] | [length, (unique | length)]')" '[10,9]'
is "launches: dtypes" "$(contract "$pt2/launches.pt2" '[.inputs[].dtype]')" '["float32","float16","bfloat16"]'
is "a kernel's inputs and outputs" "$(contract "$pt2/launches.pt2" '. as $c | .calls[1].args | map(select(.value != null) | [.role, $c.values[.value].name])')" \
	'[["in","arg0_1"],["in","buf0"],["out","buf1"]]'
is "a kernel's nodes" "$(contract "$pt2/user.pt2" '[.calls[].source_nodes]')" '["cos, far_copy","cos, far_copy","add"]'
is "a user's kernel has two names" "$(contract "$pt2/user.pt2" '[.calls[] | [.name, .function]]')" \
	'[["triton_poi_fused_cos_0",null],["far_copy_0","far_copy"],["triton_poi_fused_add_1",null]]'

# ---- the library alone ----
for name in dynamic linear linear_embedded linear_profiled user nan launches; do
	unzip -p "$pt2/$name.pt2" '*.so' >model.so
	$check --json model.so >"$name.so.json" 2>err
	like "$name: probed without text" "$(cat err)" 'no generated text'
	is "$name: the library's calls" "$(jq -c "$calls" "$name.so.json")" "$(contract "$pt2/$name.pt2" '[.calls[] | .function // .name]')"
	is "$name: the library's outputs" "$(jq -c '[.outputs[] | [.dtype, .device, (.sizes | map(numbers))]]' "$name.so.json")" \
		"$(contract "$pt2/$name.pt2" '[.outputs[] | [.dtype, .device, (.sizes | map(numbers))]]')"
done
is "a constant read by a kernel" "$(jq -c '. as $c | .calls[1].args | map($c.values[.value].name)' linear.so.json)" '["buf0","up_bias"]'

# What a kernel does with each tensor, by the library alone against its text: as the text has it; written though not before (an in_out_ptr of a new
# buffer, which is an output); not known; wrong.
cat >roles.jq <<'END'
def roles: [.calls[] | [.args[] | select(.value != null) | (.role // "unknown")]];
($text[0] | roles) as $a | ($so[0] | roles) as $b | [range(0; $a | length) as $i | range(0; $a[$i] | length) as $k | [$a[$i][$k], $b[$i][$k]]] |
[(map(select(.[0] == .[1])), map(select(. == ["inout", "out"])), map(select(.[1] == "unknown"))) | length] | . + [($a | flatten | length) - add]
END
roles() { # roles NAME: of NAME.pt2 and NAME.so.json
	$check --json "$1.pt2" >text.json 2>err
	jq -nc --slurpfile text text.json --slurpfile so "$2" -f roles.jq
}
for known in dynamic:8,1,0 linear:10,0,0 linear_embedded:10,0,0 linear_fatbin:10,0,0 linear_profiled:10,0,0 user:5,0,1 nan:7,0,1 launches:28,0,0 launches_sm80:28,0,0; do
	name=${known%%:*}
	unzip -p "$pt2/$name.pt2" '*.so' >model.so
	$check --json model.so >alone.json 2>err
	is "$name: roles known from the library alone" "$(roles "$pt2/$name" alone.json)" "[${known#*:},0]"
done
for name in mlp attn misc conv halves strided; do # and C++ kernels
	unzip -p "$DATA/aoti/$name.pt2" '*.so' >model.so
	$check --json model.so >alone.json 2>err
	is "$name: no role is wrong" "$(roles "$DATA/aoti/$name" alone.json | jq -c '[.[0] > 9, .[3]]')" '[true,0]'
done
is "a kernel's role is known from an earlier call" \
	"$(jq -c '. as $c | [.calls[] | select(.name == "triton_per_fused_sum_0") | [.args[] | [.role, $c.values[.value].name]]]' launches.so.json)" \
	'[[["in","arg0_1"],["out","buf0"]],[["in","buf3"],["out","buf2"]]]'
is "a user's kernel may write any buffer" "$(jq -c '. as $c | .calls[1].args | map([.role, $c.values[.value].name])' user.so.json)" \
	'[[null,"buf1"],["out","buf0"]]'
unzip -p "$pt2/user.pt2" '*.so' >model.so
like "the table says so" "$($check model.so 2>err)" 'far_copy +buf0 +buf1 \(or writes\)'

# ---- torch 2.11: the launchers of kernels are static inline ----
exits "2.11: the binary is the text's" 0 $check --probe "$pt2/v211/dynamic.pt2"
like "2.11: and that is said" "$(cat out)" 'The binary agrees with its code.* 2 of 2 calls'
unlike "2.11: all is understood" "$(cat out)" 'Not understood'
each='[.calls[] | [.args[] | .role] - ["scalar"]]'
is "2.11: what each kernel reads and writes" "$(contract "$pt2/v211/dynamic.pt2" "$each")" "$(contract "$pt2/dynamic.pt2" "$each")"
unzip -p "$pt2/v211/dynamic.pt2" '*.so' >model.so
$check --json model.so >alone.json 2>err
is "2.11: by the library alone" "$(roles "$pt2/v211/dynamic" alone.json)" '[8,1,0,0]'

# ---- torch 2.15: its streams and events, and launches with programmatic dependences (cuLaunchKernelEx) ----
for name in linear streams pdl; do
	exits "2.15, $name: binary and text agree" 0 $check --probe "$pt2/v215/$name.pt2"
	like "2.15, $name: the message says so" "$(cat out)" 'The binary agrees with its code'
	unlike "2.15, $name: everything is understood" "$(cat out)" 'Not understood'
done
is "2.15, linear: the same calls" "$(contract "$pt2/v215/linear.pt2" "$calls")" "$(contract "$pt2/linear.pt2" "$calls")"
on='[.calls[] | [.name, .stream]]'
is "a call's stream, if not the caller's" "$(contract "$pt2/v215/streams.pt2" "$on | map(select(.[1] != null))")" '[["aoti_torch_cuda_mm_out",1]]'
unzip -p "$pt2/v215/streams.pt2" '*.so' >model.so
is "the stream is known from the library, too" "$($check --json model.so 2>err | jq -c "$on")" "$(contract "$pt2/v215/streams.pt2" "$on")"
run $check "$pt2/v215/streams.pt2"
like "the table has the stream" "$(cat out)" 'aoti_torch_cuda_mm_out +1 +buf6 +buf5, buf0 '
like "the table has the caller's stream" "$(cat out)" "triton_poi_fused_sigmoid_0 +caller's +buf0 "
is "calls on different streams without synchronisation" \
	"$(contract "$pt2/v215/streams.pt2" '. as $c | [.calls | to_entries[] | select(.value.race != null) | [.key, .value.race, $c.values[.value.race_value].name]]')" \
	'[[2,1,"buf5"],[3,2,"buf6"]]'
like "the race is reported" "$(cat out)" 'call 1 \(triton_poi_fused_cos_t_1\) and call 2 \(aoti_torch_cuda_mm_out\) use buf5 on different streams, and no event orders'
unlike "synchronised calls are not reported" "$(cat out)" 'use buf0'
unlike "no stream column for a single stream" "$($check "$pt2/v215/linear.pt2")" "caller's"
run env LD_LIBRARY_PATH="$cuda" $check --doctor --torch=none "$pt2/v215/linear.pt2"
like "2.15: --doctor knows the GPU" "$(cat out)" 'ok +GPU code for sm_90 runs on this machine.s GPU \(sm_90\)'
like "2.15: --doctor warns of a ptxas newer than the driver" "$(cat out)" 'warning its kernels \(.*\.cubin\) are compiled by CUDA 13\.[0-9]+, but the driver supports only CUDA 12\.8'

# ---- inputs ----
exits "inputs that fit" 0 $check "$pt2/linear.pt2" 'f32[4,16]@cuda:0'
run $check "$pt2/linear.pt2" 'f32[4,16]'
is "an input on the CPU: PyTorch's message and a fix" "$status $(sed -n '2p;4p' out | sed 's/^ *//')" '1 input_handles[0]: unmatched device type, expected: 11(cuda), but got: 0
fix: args[0].to("cuda")'
like "too many rows" "$($check "$pt2/linear.pt2" 'f32[4097,16]@cuda')" 'dim value is too large at 0, expected to be <= 4096, but got: 4097'

# ---- the doctor ----
[ -f "$cuda/libcuda.so.1" ] || { done_testing; exit; }
gpu() { # SM PACKAGE
	LD_LIBRARY_PATH=$cuda FAKECUDA_SM=$1 $check --doctor --torch=none "$pt2/$2.pt2"
}
for name in linear linear_embedded linear_fatbin; do
	like "$name on its GPU" "$(gpu 90 $name)" 'ok +GPU code for sm_90a( and PTX)? runs on this machine.s GPU \(sm_90\)'
	unlike "$name: no fatal finding" "$(gpu 90 $name)" fatal
	run gpu 100 $name
	is "$name on a newer GPU: status 1" "$status" 1
	like "$name on a newer GPU: sm_90a code does not run there" "$(grep -A2 '^fatal' out)" 'has code for sm_90a( and PTX)? \(.*\), but this machine.s GPU is sm_100'
	like "$name on a newer GPU: the fix" "$(grep -A2 '^fatal' out)" 'fix: compile on this GPU$'
done
like "an embedded cubin is named by its kernel" "$(gpu 80 linear_embedded)" 'sm_90a \(triton_poi_fused_addmm_relu_0\)'
like "a file is named" "$(gpu 80 linear_fatbin)" 'sm_90a and PTX \(.*\.fatbin\)'
like "sm_80 code runs on sm_86" "$(gpu 86 launches_sm80)" 'ok +GPU code for sm_80 runs on this machine.s GPU \(sm_86\)'
like "sm_80 code does not run on sm_90" "$(gpu 90 launches_sm80)" 'fatal +has code for sm_80 \(.*\.cubin\), but this machine.s GPU is sm_90'
like "the fix suggests PTX" "$(gpu 90 launches_sm80)" 'fix: compile on this GPU, or on the older one with .*emit_multi_arch_kernel'
is "a missing driver is reported once" "$($check --doctor --torch=none "$pt2/linear.pt2" | grep '^fatal')" \
	'fatal   compiled for CUDA, but no NVIDIA driver (libcuda.so.1) is installed'
mkdir torch && cp "$BUILD/tests-lib/faketorch.so" torch/libtorch_cpu.so
of_torch() { # what is said of a torch
	LD_LIBRARY_PATH=$cuda $check --doctor --torch=torch "$pt2/linear.pt2" | grep -E "$1"
}
is "a libtorch for the CPU" "$(of_torch 'CUDA,.*for the cpu|needs libtorch_cuda|needs aoti_torch_cuda')" \
	"fatal   compiled for CUDA, but this torch (torch) is for the cpu: it has no libtorch_cuda.so"
cp "$cuda/libtorch_cuda.so" torch
is "a libtorch for CUDA: its runtime and the driver" "$(of_torch 'this torch')" 'ok      this torch is for CUDA 12; the driver supports CUDA 12.8 and older'
done_testing
