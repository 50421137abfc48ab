/* fakecuda.h - a CUDA driver without a GPU, for tests: what its libraries and its kernels agree on.
 *
 *     tests-lib/cuda/libcuda.so.1         the sources of fakecuda/ and ptx/: the driver's C interface (names and numbers of CUDA 12's cuda.h)
 *     tests-lib/cuda/libcudart.so.12      fakecudart.c: as much of the runtime as models and hosts use, over the driver
 *     tests-lib/cuda/libtorch_cuda.so     faketorchcuda.c: operators, guards, streams and the caching allocator of torch
 *     tests-lib/cuda/libtorch.so          nothing: models of torch 2.15's default wheel name it
 *     tests-lib/cuda/model/               a model in the form of torch 2.13 (cudamodel/), unpacked; cudamodel.pt2: packed
 *     tests-lib/cudahost                  a program that runs it
 *     tests-lib/cudarun                   a program that runs any model, on tensors from files (cudarun.c)
 *
 * A program finds them by LD_LIBRARY_PATH=.../tests-lib/cuda (cudahost needs no variable).
 *
 * Device memory cannot be touched by the host: its addresses are reserved without access, as on a machine with a GPU; what is in
 * it lies elsewhere. Kernels get at it through fakecuda_at(), which finds what lies outside of every allocation. Streams are queues:
 * work is done when somebody waits for it (of the default stream and those that wait for it in the order of issue, which is one of the orders
 * that are allowed), so that the error of a kernel is reported by a later call. A stream that does not wait for the default one
 * (CU_STREAM_NON_BLOCKING) is a queue of its own: its work is done when somebody waits for it or for an event behind it, or one by one
 * each time that another stream was waited for. With CUDA_LAUNCH_BLOCKING=1 all is done at once. After an illegal access every call on
 * that device fails with CUDA_ERROR_ILLEGAL_ADDRESS (700) until the process ends.
 *
 * Environment:
 *     FAKECUDA_FAIL     illegal@K: the K-th launch of the process, from 1, makes an illegal access (found when it runs);
 *                       launch@K: the K-th launch fails at once with CUDA_ERROR_LAUNCH_FAILED (719, sticky);
 *                       oom: no memory; oom@BYTES: no more than BYTES of each device; nodevice: cuInit fails (100);
 *                       module: no module can be loaded (209); noscan: no PTX with an entry pt2_scan_few (218); old: what CUDA 12.3 and 12.4 have brought (names of functions,
 *                       sizes of parameters) is not supported (801). Several with commas between them.
 *     FAKECUDA_DEVICES  how many (1)
 *     FAKECUDA_SM       their compute capability (90): a cubin of another generation is refused with 209
 *     FAKECUDA_LOG      a file to which each call adds a line: "cuStreamSynchronize 0x0 = 700", and each kernel that runs:
 *                       "run triton_poi_fused_add_0 = 0"
 *
 *     FAKECUDA_PTX      a folder with the PTX of kernels in cubins (below)
 *
 * Kernels: those of PTX text are interpreted (ptx.h), also the ones that the probe ships. A kernel NAME of a cubin is the C function fake_NAME of
 * any library that is loaded; else the PTX in FAKECUDA_PTX: NAME.ptx, or any *.ptx there with an .entry NAME, as Triton writes it beside its
 * cubin; else cuModuleGetFunction fails with CUDA_ERROR_NOT_FOUND (500). Parameters are those that the module tells: a cubin in its section
 * .nv.info.NAME (EIATTR_KPARAM_INFO, as ptxas writes it), PTX in its .param list. Where a cubin has its PTX beside it the two must agree on
 * parameters, .reqntid and static shared memory, or the function is refused (200). PTX that cannot be read is refused with 218, with a line on
 * standard error. An interpreted kernel finds what a GPU finds: accesses outside of allocations (700) and misaligned ones (716), trap (719),
 * device assertions (710), threads that wait for each other (702).
 */
#ifndef PT2_TEST_FAKECUDA_H
#define PT2_TEST_FAKECUDA_H
#include <stddef.h>
#include <stdint.h>

struct fakecuda_kernel {
	const char *name;
	uint32_t grid[3], block[3], shared;
	void **arg; /* arg[i]: where the i-th parameter is */
	void *inner;
};
typedef void fakecuda_fn(const struct fakecuda_kernel *);

/* Bytes of device memory as the kernel sees them; does not return when they are not all inside one allocation of its device. Good
 * until the kernel ends. */
void *fakecuda_at(const struct fakecuda_kernel *k, uint64_t address, size_t bytes);

#define FAKECUDA_ARG(k, i, type) (*(type *)(k)->arg[i])
#define FAKECUDA_EL(k, i, type, index) \
	(*(type *)fakecuda_at(k, FAKECUDA_ARG(k, i, uint64_t) + (uint64_t)(index) * sizeof(type), sizeof(type)))

/* Work of a library's own on a stream, as cuBLAS launches its kernels: fn gets arg[0..n-1], 8 bytes each, which are copied.
 * Returns a CUresult. Counts as no launch (FAKECUDA_FAIL). */
int fakecuda_enqueue(void *stream, const char *name, fakecuda_fn *fn, const uint64_t *arg, size_t n);

/* ---- statistics of a tensor: the kernels that the probe ships as PTX (libprobe/cuda_reduce.c) ---- */

/* .visible .entry pt2_stats_TYPE(.param .u64 data, .param .u64 n, .param .u64 out, .param .align 8 .b8 layout[96])
 *     TYPE: f32, f64, f16, bf16, f8e5m2, f8e4m3fn, f8e5m2fnuz, f8e4m3fnuz, c64, c128
 *
 * n elements in the order of memory; layout is struct cuda_layout (libprobe/cuda.h), zeros for those that lie one behind the other. Launched with any grid (B, 1, 1) and block (T, 1, 1), T a power of two up to 1024, no
 * dynamic shared memory; thread t of block b looks at elements b*T + t, + B*T, ... Block b writes out[b], nothing is read of
 * it before. What a tensor_stats() of the same elements says (tensor/stats.h), the sum in place of the mean: min, max and sum leave out
 * NaN and count infinities; where there are no numbers min is +infinity, max -infinity, sum 0. first_bad is the lowest index of a NaN or
 * infinity, UINT64_MAX for none. */
struct pt2_stats_part {
	uint64_t nan, pos_inf, neg_inf, zero, first_bad;
	double min, max, sum;
};

#endif
