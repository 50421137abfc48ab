#!/bin/bash
# fxexplain - : the errors of CUDA, as torch, its driver calls, Triton and NCCL say them, have an answer each, and the right one.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../lib/tap.sh"
known() { # known ID MESSAGE
	is "$1: ${2:0:70}" "$(printf '%s\n' "Traceback (most recent call last):" "RuntimeError: $2" | fxexplain --json - 2>err | jq -r '[.findings[].id] | join(" ")')" "$1"
}
for who in "CUDA error:" "CUDA driver error:" "Triton Error [CUDA]:"; do
	known illegal-memory-access "$who an illegal memory access was encountered"
	known device-assert "$who device-side assert triggered"
	known misaligned-address "$who misaligned address"
	known kernel-launch-failure "$who unspecified launch failure"
	known cuda-memory-refused "$who out of memory"
done
for who in "CUDA error:" "CUDA driver error:" "Triton Error [CUDA]:"; do
	known launch-out-of-resources "$who too many resources requested for launch"
	known launch-arguments "$who invalid argument"
	known kernel-not-in-module "$who named symbol not found"
	known no-kernel-image "$who device kernel image is invalid"
done
known launch-arguments "CUDA error: invalid configuration argument"
known no-kernel-image "CUDA error: invalid device function"
for status in NOT_INITIALIZED ALLOC_FAILED; do
	known cublas-not-ready "CUDA error: CUBLAS_STATUS_$status when calling \`cublasCreate(handle)\`"
done
for status in EXECUTION_FAILED INTERNAL_ERROR INVALID_VALUE NOT_SUPPORTED NOT_INITIALIZED; do
	known cublas-failed "CUDA error: CUBLAS_STATUS_$status when calling \`cublasSgemm( handle, opa, opb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc)\`"
done
for status in NOT_INITIALIZED EXECUTION_FAILED INTERNAL_ERROR NOT_SUPPORTED; do
	known cudnn-failed "cuDNN error: CUDNN_STATUS_$status"
done
known capture-not-permitted "CUDA error: operation not permitted when stream is capturing"
known capture-not-permitted "CUDA error: operation failed due to a previous error during capture"
known forward-compatibility "CUDA error: forward compatibility was attempted on non supported HW"
known forward-compatibility "Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW"
known driver-too-old "CUDA error: the provided PTX was compiled with an unsupported toolchain."
known ptx-too-new-for-ptxas "ptxas /tmp/tmpqgu1f9dk.ptx, line 5; fatal   : Unsupported .version 8.6; current version is '8.5'"
known gpu-too-new-for-ptxas "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'"
known triton-pass-failed "PassManager::run failed"
known triton-no-config "No valid triton configs. PassManager::run failed"
known triton-missing "Cannot find a working triton installation. Either the package is not installed or it is too old."
known triton-shared-memory "out of resource: shared memory, Required: 131072, Hardware limit: 101376. Reducing block sizes or \`num_stages\` may help."
known libcuda-not-found "libcuda.so cannot found!"
known gpu-busy "CUDA error: CUDA-capable device(s) is/are busy or unavailable"
known kernel-launch-failure "CUDA error: an illegal instruction was encountered"
known launch-timeout "CUDA error: the launch timed out and was terminated"
known cuda-out-of-memory "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.55 GiB"
known no-kernel-image "CUDA error: no kernel image is available for execution on the device"
known no-kernel-image "CUDA driver error: no kernel image is available for execution on the device"
known kernel-file-missing "CUDA driver error: file not found"
known driver-too-old "CUDA error: CUDA driver version is insufficient for CUDA runtime version"
known driver-missing "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"
known driver-mismatch "Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination"
known ecc-error "CUDA error: uncorrectable ECC error encountered"
known cuda-after-fork "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"
known nccl-error "NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, invalid usage (run with NCCL_WARN for details), NCCL version 2.21.5"
known nccl-error "NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3699, unhandled system error, NCCL version 2.27.3"
done_testing
