/* shim.h - libpt2shim.so: everything that a compiled CPU model imports from libtorch, without libtorch.
 *
 * Its SONAME is libtorch_cpu.so. A runner loads it by path, then the model: the model's DT_NEEDED is satisfied by the SONAME,
 * its aoti_torch_* calls arrive here. The model's own kernels run natively. The C ABI is that of torch 2.13
 * (torch/csrc/inductor/aoti_torch/c/shim.h and generated/c_shim_cpu.h), which only grows from release to release.
 *
 * It is a thin layer: a handle is a struct aten_tensor, the operators are in libcommon/core/aten.
 *
 *     AOTITorchError aoti_torch_cpu_cumsum(AtenTensorHandle self, int64_t dim, int32_t *dtype, AtenTensorHandle *ret0)
 *     {
 *         SHIM_TRY {
 *             struct aten_tensor *out = aten_like(self, dtype ? *dtype : self->dtype);
 *             ...
 *             SHIM_GIVE(ret0, out);
 *         }
 *         SHIM_END
 *     }
 *
 * Output strides match torch's, since kernels and checks assume them (each op's file says where they are defined).
 * Errors: aten_fail() leaves the op with 1 (AOTI_TORCH_FAILURE) and keeps the text for the runner; what torch prints to
 * stderr is printed too. An unsupported op is not defined: the runner lists missing ones before it runs anything.
 *
 * Threads: tensors may be used from several; reference counts are atomic. No state but the last error (per thread), grad
 * mode (per thread) and the random generator.
 */
#ifndef PT2_SHIM_H
#define PT2_SHIM_H
#include "aten/aten.h"

typedef struct aten_tensor *AtenTensorHandle;
typedef int32_t AOTITorchError;

const char *shim_last_error(void);
bool shim_starved(void); /* the failure was due to lack of address space: not the model's fault */
/* An op's body is between these; aten_fail() jumps past SHIM_END. What was created in it and not handed out is not leaked:
 * new tensors are released by the frame unless aten_keep() was called (ret handles are kept by SHIM_GIVE). */
AOTITorchError shim_leave(struct aten_frame *f, bool failed); /* prints the error in torch's log format */
#define SHIM_TRY SHIM_TRY_AS(__func__)
/* SHIM_TRY for a function shared by several ops: messages name the op. */
#define SHIM_TRY_AS(op) ATEN_TRY(op)
#define SHIM_END return shim_leave(&aten_frame_, aten_failed_);
/* An op that is a single call, or returns one tensor:
 *     SHIM_OP(aoti_torch_cpu_mul_Tensor(AtenTensorHandle self, ...), SHIM_GIVE(ret0, binary(MUL, ...)))
 */
#define SHIM_OP(signature, ...) \
	AOTITorchError signature \
	{ \
		SHIM_TRY { \
			__VA_ARGS__; \
		} \
		SHIM_END \
	}
#define SHIM_GIVE(ret, tensor) (*(ret) = aten_keep(tensor))
#define SHIM_GIVE_TWO(ret0, ret1, two_tensors) \
	do { \
		struct two two_ = (two_tensors); \
		SHIM_GIVE(ret0, two_.first); \
		SHIM_GIVE(ret1, two_.second); \
	} while (0)
/* An optional argument: a pointer to its value. */
static inline AtenTensorHandle shim_optional(const AtenTensorHandle *t) { return t ? *t : NULL; }

/* guard.c: from now on, freed tensors' memory stays unmapped, when a kernel is called (shim_guard_settle; watched: that of tensors that are
 * made from now on, too); was this address such memory? In a signal handler, too. */
void shim_guard_freed(void);
void shim_guard_settle(bool watched);
bool shim_freed_at(uintptr_t address, uintptr_t *low, uint64_t *bytes);

/* random.c: like torch.manual_seed(seed) for torch's CPU generator. */
void shim_seed(uint64_t seed);

#endif
