#!/bin/bash
# Packages for CUDA (tests/data/aoti/cuda) out of a file, with --torch: aoti-printer, aoti-nanassert, --ima, on a libtorch and a driver of the tests
# (tests/lib/fakecuda.h), which run Triton's PTX.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"

at=$ROOT/tests/data/aoti/cuda
[ "$(uname -m)" = x86_64 ] || skip_all "the packages are compiled for x86-64"
grep -qw avx2 /proc/cpuinfo || skip_all "the packages need AVX2"

mkdir torch without v private
ln -s "$BUILD/tests-lib/faketorch.so" torch/libtorch_cpu.so
ln -s "$BUILD/tests-lib/faketorch.so" without/libtorch_cpu.so
ln -s "$BUILD/tests-lib/cuda/"lib* torch
for name in linear nan user linear_cpu; do
	xz -dc "$at/$name.pt2.xz" >"$name.pt2"
	[ ! -f "$at/$name.triton.tar.xz" ] || xz -dc "$at/$name.triton.tar.xz" | tar xf -
done
xz -dc "$at/values.npz.xz" >values.npz
python3 -m zipfile -e values.npz v
# gpu NAME COMMAND... : with a driver that knows the kernels of this package
gpu() {
	local name=$1
	shift
	LD_LIBRARY_PATH=$TMP/torch FAKECUDA_PTX=$TMP/$name "$@"
}

# ---- what is needed ----
exits "a CUDA model without --torch" 3 aoti-printer linear.pt2 'f32[4,16]'
is "the message says what to pass" "$(cat err)" \
	"aoti-printer: 'linear.pt2' is compiled for cuda: run it with an installed libtorch for CUDA (--torch), or watch a program that runs it (-- COMMAND)"
exits "--torch with a libtorch for the CPU" 4 aoti-printer --torch=without linear.pt2 'f32[4,16]'
like "the message says what it lacks" "$(cat err)" "is a libtorch without CUDA: no libtorch_cuda.so beside it"
exits "--torch with a CPU model" 0 aoti-printer --level 3 linear_cpu.pt2 'f32[4,16]'
exits "no GPU" 3 gpu linear env TMPDIR="$TMP/private" FAKECUDA_FAIL=nodevice aoti-printer --torch=torch linear.pt2 'f32[4,16]'
like "torch's error is shown" "$(cat err)" "cannot create the model in 'linear.pt2': CUDA error: no CUDA-capable device is detected"
is "nothing is left" "$(ls private)" ""

# ---- values ----
exits "a CUDA model with a libtorch for CUDA" 0 gpu linear aoti-printer --torch=torch --level 2 --json linear.pt2 v/linear.in0.npy
is "its calls" "$(jq -r '.calls[].kernel' out | paste -sd' ')" \
	"aoti_torch_cuda_mm_out triton_poi_fused_addmm_relu_0 aoti_torch_cuda_addmm_out triton_per_fused__softmax_prepare_softmax_online_1"
is "a message says that it ran unconfined" "$(cat err)" "aoti-printer: linear.pt2 is for a GPU: it ran unconfined, because the driver requires it"
exits "--quiet" 0 gpu linear aoti-printer -q --torch=torch --level 3 linear.pt2 v/linear.in0.npy
is "--quiet prints no message" "$(cat err)" ""
exits "-o saves tensors" 0 gpu linear aoti-printer -q --torch=torch -o saved linear.pt2 v/linear.in0.npy
last=$(find saved -name '*.after.*softmax*.npy' | sort | tail -1)
run python3 "$ROOT/tests/lib/npyclose.py" "$last" v/linear.out0.npy 1e-5
is "the output equals eager's" "$status" 0

# ---- against the package for the CPU ----
exits "a dump of the CPU model" 0 aoti-printer -q -o cpu linear_cpu.pt2 v/linear.in0.npy
exits "--diff of CPU and GPU agrees" 0 aoti-printer --json --diff cpu saved
is "kernels are matched by names and values" \
	"$(jq -c '[.both, .only_a, .only_b, .differing, .different]' out) $(jq -r '.calls[] | select(.in == "both") | .kernel' out | paste -sd,)" \
	"[3,1,1,0,false] cpp_fused_relu_0,aoti_torch_cpu_addmm_out,cpp_fused__softmax_1"
is "kernel names of the other side are given" "$(jq -r '.calls[] | select(.in == "both") | .kernel_b' out | paste -sd,)" \
	"triton_poi_fused_addmm_relu_0,aoti_torch_cuda_addmm_out,triton_per_fused__softmax_prepare_softmax_online_1"
is "calls of one side only are marked" "$(jq -c '[.calls[] | select(.elsewhere) | .kernel]' out)" \
	'["aoti_torch_cpu_addmm_out","aoti_torch_cuda_mm_out"]'
exits "--diff as text" 0 aoti-printer --diff cpu saved
like "a note explains calls of one side only" "$(cat out)" "fused differently: calls on one side only are not differences, since both end with the same result"
cp -r saved wrong
python3 - "$(echo wrong/*.after.*addmm_relu*)" "$(echo wrong/*.after.*softmax*)" <<'PY'
import sys

for path in sys.argv[1:]:
    data = bytearray(open(path, "rb").read())
    data[-2] ^= 0x40
    open(path, "wb").write(data)
PY
exits "--diff finds different values" 1 aoti-printer --diff cpu wrong
like "the first kernel that differs is named" "$(cat out)" "First difference: run 0, call 1: cpp_fused_relu_0"
like "the next kernel is named" "$(cat out)" "cpp_fused__softmax_1 +-> buf[0-9]+ "
exits "--diff --html" 1 aoti-printer --diff cpu wrong --html=page.html
ok "the page is written" test -s page.html

# ---- NaN ----
exits "a NaN in a GPU kernel" 1 gpu nan aoti-nanassert --torch=torch nan.pt2 'f32[32,64]'
like "the kernel of the logarithm is named" "$(head -1 out)" "^NaN produced by triton_per_fused_add_log_mul_sub_sum_2 \(call 2 of run 0, wrapper.cpp line [0-9]+\)"
like "a note says that it ran unconfined" "$(cat err)" "nan.pt2 is for a GPU: it ran unconfined"

# ---- an access outside ----
exits "a kernel that writes out of bounds" 3 gpu user aoti-nanassert --torch=torch user.pt2 'f32[1000,16]'
like "the message says that a GPU error ended the run" "$(cat err)" "a GPU error stopped the run: an illegal memory access .* seen at far_copy_0 .*--ima --torch MODEL"
exits "--ima without --torch" 2 aoti-printer --ima user.pt2 'f32[1000,16]'
exits "--ima on a package" 1 gpu user aoti-printer --ima --torch=torch user.pt2 'f32[1000,16]'
is "the kernel is named" "$(head -1 out)" "far_copy_0: illegal memory access (CUDA_ERROR_ILLEGAL_ADDRESS, 700)"
like "its arguments are shown" "$(cat out)" "1  buf0 +out +float32\[1000, 16\] strides \(16, 1\)"
like "the next command is for the package" "$(cat out)" "aoti-printer --ima=alloc --torch=torch user.pt2 'f32\[1000,16\]'"
like "fxexplain kernel is suggested" "$(cat out)" "fxexplain kernel far_copy_0 user.pt2"
exits "the suggested command works" 0 fxexplain kernel far_copy_0 user.pt2
like "it shows the store" "$(cat out)" "tl.store\(out_ptr \+ at \+ far, x, mask\)"
exits "--ima without a fault" 0 gpu user aoti-printer --ima --torch=torch user.pt2 'f32[100,16]'
like "the summary counts calls" "$(cat err)" "3 calls, each waited for: none failed"
done_testing
