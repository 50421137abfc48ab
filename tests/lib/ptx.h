/* ptx.h - runs kernels given as PTX text, without a GPU: what the fake driver (fakecuda.h) has in place of one.
 *
 *     struct ptx_error e;
 *     struct ptx_module *m = ptx_read(text, n, &e);               // NULL: e.text says which line and why
 *     const struct ptx_kernel *k = ptx_kernel(m, "triton_poi_fused_add_0");
 *     struct ptx_launch l = {.grid = {4, 1, 1}, .block = {128, 1, 1}, .params = block_of_parameters, .find = find, .user = heap};
 *     int rc = ptx_run(k, &l);                                    // 0 or the CUresult of an error; l.fault says where
 *     ptx_free(m);
 *
 * A module is decoded whole when it is read. An instruction, a modifier or a directive that is not known here makes ptx_read fail: nothing
 * is run that is only half understood. Not here: mma, wgmma, tcgen05, textures, TMA (cp.async.bulk), mbarriers, clusters, functions
 * that are called (but __assertfail), fp8, .b128, indirect branches.
 *
 * Semantics are those of the PTX ISA 8.x document ("Parallel Thread Execution ISA", NVIDIA), chapter 9, with what it leaves open:
 *   - .approx and .full results are computed in double and rounded, so they are closer than a GPU's;
 *   - a NaN that arithmetic on f32, f16, bf16 makes is the canonical one (0x7fffffff, 0x7fff); NaN converted to an integer is 0;
 *   - an integer divided by 0 is all ones, its remainder the dividend; registers are 0 before they are written;
 *   - %clock counts instructions of the warp; cp.async copies at once; fences, cache hints and prefetches do nothing.
 *
 * CTAs run one after the other, in the order of their numbers. The threads of a warp that are at the same instruction run together, those with
 * the lowest address in the program first. A warp runs until all of its threads wait at a barrier or have ended. A CTA that waits for
 * another to do something waits forever; so does one whose threads wait for each other at different barriers: both end with
 * CUDA_ERROR_LAUNCH_TIMEOUT (702), the first after .budget instructions.
 *
 * Memory: .find says where bytes of global memory are; what lies in no allocation is CUDA_ERROR_ILLEGAL_ADDRESS (700), as is shared and local
 * memory behind its end; an address that is no multiple of the access's size is CUDA_ERROR_MISALIGNED_ADDRESS (716). trap is
 * CUDA_ERROR_LAUNCH_FAILED (719), a call of __assertfail CUDA_ERROR_ASSERT (710), and .said is the line that CUDA prints on standard error.
 */
#ifndef PT2_TEST_PTX_H
#define PT2_TEST_PTX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;

struct ptx_error {
	char text[256]; /* "line 12: 'mma.sync.aligned' is not interpreted" */
};

enum { PTX_PARAMS = 64 };

struct ptx_kernel {
	char *name;
	uint32_t n_params, param_bytes, offset[PTX_PARAMS], size[PTX_PARAMS];
	uint32_t shared;     /* bytes of static shared memory */
	uint32_t reqntid[3]; /* 0: not said */
	uint32_t maxntid;    /* threads; 0: not said */
	struct ptx_code *code;
};

/* The text is copied where it is needed later. */
struct ptx_module *ptx_read(const char *text, size_t n, struct ptx_error *e);
void ptx_free(struct ptx_module *m);
const struct ptx_kernel *ptx_kernel(const struct ptx_module *m, const char *name);
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *m, size_t i); /* NULL behind the last */
/* sm_NN of .target. */
unsigned ptx_target(const struct ptx_module *m);
/* Variables in .global and .const memory: what is in them at first. Somebody puts them into global memory, 16-aligned (.data_at). */
const void *ptx_data(const struct ptx_module *m, size_t *bytes);

/* An allocation: bytes of global memory from at on, and where these are. */
struct ptx_range {
	uint64_t at, bytes;
	char *data;
};

struct ptx_fault {
	unsigned line;                /* of the text */
	uint32_t block[3], thread[3]; /* the first that did it */
	uint64_t address;             /* 700, 716 */
	uint32_t bytes;
	char text[96]; /* "store of 4 bytes outside of every allocation" */
};

struct ptx_launch {
	uint32_t grid[3], block[3];
	uint32_t shared; /* bytes of dynamic shared memory */
	const void *params;
	uint64_t data_at;
	/* The allocation in which this address lies. */
	bool (*find)(void *user, uint64_t address, struct ptx_range *r);
	void *user;
	uint64_t budget; /* instructions of threads; 0: 20 billion */
	/* filled: */
	struct ptx_fault fault;
	char said[1024];   /* 710: the line that CUDA prints */
	uint64_t executed; /* instructions of threads */
};

int ptx_run(const struct ptx_kernel *k, struct ptx_launch *l);

#endif
