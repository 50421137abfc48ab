/* shim.h - libpt2shim.so: what a compiled CPU model imports from libtorch, without libtorch.
 *
 * Its SONAME is libtorch_cpu.so. A runner loads it by path, then the model: the model's DT_NEEDED is satisfied by the SONAME,
 * its aoti_torch_* calls end here. The model's own kernels run natively. The C ABI is that of torch 2.13
 * (torch/csrc/inductor/aoti_torch/c/shim.h and generated/c_shim_cpu.h), which only grows from release to release.
 *
 *     AOTITorchError aoti_torch_cpu_cumsum(AtenTensorHandle self, int64_t dim, int32_t *dtype, AtenTensorHandle *ret0)
 *     {
 *         SHIM_TRY {
 *             struct shim_tensor *out = shim_like(self, dtype ? *dtype : self->dtype);
 *             ...
 *             *ret0 = out;
 *         }
 *         SHIM_END
 *     }
 *
 * Output strides are torch's own, for kernels and checks assume them (each op's file says where that is written).
 * Errors: shim_fail() leaves the op with 1 (AOTI_TORCH_FAILURE) and keeps the text for the runner; what torch prints to
 * stderr is printed too. An op that is not here is not defined: the runner lists missing ones before it runs anything.
 *
 * Threads: tensors may be used from many; reference counts are atomic. No state but the last error (per thread), grad
 * mode (per thread) and the random generator.
 */
#ifndef PT2_SHIM_H
#define PT2_SHIM_H
#include "tensor/dtype.h"

#include <setjmp.h>
#include <stdatomic.h>

/* After a failure an op looks at nothing but its frame. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#define SHIM_DIMS 64

struct shim_storage {
	_Atomic int refs;
	void *data;
	uint64_t bytes;
	bool owned;             /* freed with it; else somebody else's (create_tensor_from_blob) */
	bool packed;            /* a weight that oneDNN had packed: a transposed convolution has it with its output channels first */
	void *_Atomic arranged; /* of such a one, which nothing writes to: as conv.c wants it; freed with it */
};

/* A handle. Two handles of one tensor share its storage, but each has sizes of its own. */
struct shim_tensor {
	struct shim_storage *storage;  /* NULL: not defined (aoti_torch_new_uninitialized_tensor) */
	struct shim_tensor *next_made; /* the frame's */
	int64_t offset;                /* elements from the storage's start */
	int32_t dtype, n_dim;
	int64_t size[SHIM_DIMS], stride[SHIM_DIMS];
};
typedef struct shim_tensor *AtenTensorHandle;
typedef int32_t AOTITorchError;

/* Leave the op with an error. */
_Noreturn void shim_fail(const char *fmt, ...) PRINTF_LIKE(1, 2);
const char *shim_last_error(void);
bool shim_starved(void);          /* what failed did so for want of address space: not the model's fault */
void shim_note(const char *text); /* an error's text, kept as shim_fail() keeps it */
/* An op's body stands between these; shim_fail() ends up behind SHIM_END. What was made in it and not given away leaks no
 * memory: new tensors are released by the frame unless shim_keep() was called (ret handles are kept by SHIM_GIVE). */
struct shim_frame {
	struct shim_frame *outer;
	struct shim_tensor *made;
	const char *op;
	jmp_buf jump;
};
void shim_enter(struct shim_frame *f, const char *op);
AOTITorchError shim_leave(struct shim_frame *f, bool failed);
#define SHIM_TRY \
	struct shim_frame shim_frame_; \
	shim_enter(&shim_frame_, __func__); \
	bool shim_failed_ = _setjmp(shim_frame_.jump) != 0; \
	if (!shim_failed_)
#define SHIM_END return shim_leave(&shim_frame_, shim_failed_);
#define SHIM_GIVE(ret, tensor) (*(ret) = shim_keep(tensor))

static inline char *shim_data(const struct shim_tensor *t) { return (char *)t->storage->data + t->offset * dtype_info(t->dtype)->bytes; }
static inline int64_t shim_numel(const struct shim_tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->n_dim; i++)
		n *= t->size[i];
	return n;
}

/* New tensors, owned by the frame until kept. Memory is 64-aligned and not initialised. */
struct shim_tensor *shim_new(int dtype, int n_dim, const int64_t *size, const int64_t *stride); /* stride NULL: contiguous */
struct shim_tensor *shim_like(const struct shim_tensor *t, int dtype); /* torch.empty_like: dense ones keep their order of dims */
/* Of the same storage; offset counts from the storage's start, as t->offset does. Fails when it would reach beyond it. */
struct shim_tensor *shim_view(const struct shim_tensor *t, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
struct shim_tensor *shim_view_dtype(const struct shim_tensor *t, int dtype, int n_dim, const int64_t *size, const int64_t *stride,
				    int64_t offset);
/* Somebody else's memory; a tensor that is not defined. */
struct shim_tensor *shim_of_blob(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
struct shim_tensor *shim_none(void);
/* dst becomes what src is. */
void shim_assign(struct shim_tensor *dst, const struct shim_tensor *src);
void shim_grow(struct shim_tensor *t, uint64_t bytes);      /* its storage, at least; keeps what is in it */
struct shim_tensor *shim_contiguous(struct shim_tensor *t); /* itself (kept alive by the caller), or a copy */
/* No longer the frame's. Of one that is not the frame's (an operand), a handle more. */
struct shim_tensor *shim_keep(struct shim_tensor *t);
void shim_release(struct shim_tensor *t);
bool shim_is_contiguous(const struct shim_tensor *t);
bool shim_is_dense(const struct shim_tensor *t); /* torch's is_non_overlapping_and_dense */
/* What an element-wise op of these operands returns: broadcast sizes, and strides in the order that ATen's TensorIterator
 * chooses (aten/src/ATen/TensorIterator.cpp, reorder_dimensions, allocate_or_resize_outputs). */
struct shim_tensor *shim_elementwise(int dtype, const struct shim_tensor *const *operand, int n);
/* torch.result_type of tensors: dimensions count before scalars (0-dim tensors), then floats before integers. */
int shim_result_type(const struct shim_tensor *a, const struct shim_tensor *b);
int shim_promote(int a, int b); /* torch.promote_types */
bool shim_is_float(int dtype);  /* floating point, not complex */
bool shim_is_complex(int dtype);
int shim_real_of(int dtype);    /* of a complex dtype's parts; others stay */
int shim_complex_of(int dtype); /* of numbers whose parts have that dtype; not float: complex64 */
/* Contiguous strides. */
void shim_contiguous_strides(int n_dim, const int64_t *size, int64_t *stride);
/* Copy with conversion of dtype, broadcasting src to dst as copy_ does. */
void shim_copy(struct shim_tensor *dst, const struct shim_tensor *src);
/* Sizes of broadcasting a and b. */
int shim_broadcast(const struct shim_tensor *a, const struct shim_tensor *b, int64_t *size);
/* A negative dim counts from the end. */
int shim_dim(const struct shim_tensor *t, int64_t dim);
/* Convert n elements, strides in bytes. Between any two dtypes but the quantized ones. */
void shim_convert(int to, void *dst, int64_t dst_stride, int from, const void *src, int64_t src_stride, int64_t n);
float shim_half_to_float(uint16_t h);
uint16_t shim_float_to_half(float f);
static inline float shim_bf16_to_float(uint16_t h)
{
	union {
		uint32_t u;
		float f;
	} x = {.u = (uint32_t)h << 16};
	return x.f;
}
uint16_t shim_float_to_bf16(float f); /* to nearest even */

/* random.c: what torch.manual_seed(seed) is to torch's CPU generator. */
void shim_seed(uint64_t seed);

/* ---- blas.c: OpenBLAS, loaded when it is first needed ---- */

/* c[m,n] = beta*c + alpha * a[m,k] b[k,n], row-major with leading dims, ta/tb: transposed in memory. */
void shim_gemm_f32(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb,
		   float beta, float *c, int64_t ldc);
void shim_gemm_f64(bool ta, bool tb, int64_t m, int64_t n, int64_t k, double alpha, const double *a, int64_t lda, const double *b,
		   int64_t ldb, double beta, double *c, int64_t ldc);

#endif
