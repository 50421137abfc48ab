/* aten.h - torch's operators on the CPU, each implemented once, by ATen schema: shape rule and computation. Without torch.
 *
 * Callers: libshim (the C interface of compiled models: a thin layer of handles over this), the interpreter of exported graphs, and code
 * that needs shapes without values. It may be linked into any process.
 *
 *     struct aten_op op;                                              // find it once, call it often
 *     if (aten_find(&op, SLICE("aten.add.Tensor"), &err) < 0) ...     // also "torch.ops.aten.add.Tensor", "aten::add.Tensor"
 *     struct aten_value args[] = {aten_of(x), aten_of(y)}, out[ATEN_RESULTS];
 *     struct aten_named two[] = {{SLICE("alpha"), aten_int(2)}};
 *     if (aten_call(&op, NULL, args, 2, two, 1, out, &err) < 0) ...   // err.text: "add.Tensor: sizes 3 and 4 do not match at dimension 0"
 *     out[0].tensor ...                                               // op.n_results of them, owned by the caller
 *     aten_value_release(&out[0]);
 *     aten_op_release(&op);
 *
 * Operators
 *  - An overload is called with its arguments in the schema's order, or by name; omitted ones get the schema's default. Schemas are
 *    torch's own, recorded by scripts/gen-aten-schemas (schemas.h); 2.13 and 2.15 agree on them. aten_has() checks without an error text.
 *  - `name_` of an overload that is defined only in its functional form computes that and copies the result into self, like torch's own
 *    structured operators; the result's handle shares self's storage.
 *  - Results have the same sizes, strides and dtype as in torch (each file cites the source); a view shares the storage.
 *  - Floats of 16 bits are rounded after every operator, as eager does. Values are torch's within its own rounding error;
 *    docs/user/OPERATORS.md lists what was compared with torch's operator database, and in which dtypes.
 *
 * Shapes without values
 *     struct aten_mode shapes = {.shapes = true};
 *     struct aten_tensor *x = aten_fake(DTYPE_F32, 2, size, NULL);    // no memory
 *     aten_call(&op, &shapes, ...);                                   // results have sizes, strides, dtype, and no memory
 *    The shape rule is what an operator does before its first value: it creates its result, then aten_computes() tells whether to continue.
 *    Operators whose shape depends on values (nonzero, item) fail; if only one of several results does (unique's first), it is ATEN_NONE.
 *    Symbolic sizes: call it with several assignments (cli/model/binprobe fits formulas to them). Users: aten/interp/shapes.h (fxminify),
 *    cli/model/binprobe (the prober). model/cppwrapper/optypes.h has dtypes for texts, whose sizes are unknown.
 *
 * Tensors, frames, errors
 *  - struct aten_tensor is a handle: it has its own sizes and strides over a counted storage, which views share. Used by one thread at a
 *    time; the storage's count is atomic.
 *  - Everything that can fail runs in a frame. aten_fail() leaves it with an error text; anything created in it and not kept is released.
 *    aten_call() has its own frame. Around other functions:
 *
 *     struct aten_tensor *t = NULL;
 *     ATEN_TRY("load") {
 *         t = aten_keep(aten_new(DTYPE_F32, 2, size, NULL));          // owned by the caller: aten_release()
 *     }
 *     if (ATEN_END) ...                                               // it failed: aten_last_error()
 *
 *    Within the frame of an operator, operators call each other as functions and own nothing: elem.h.
 *  - The only state: the top frame and the last error, both per thread, the random generator, and a count of bytes.
 */
#ifndef PT2_ATEN_H
#define PT2_ATEN_H
#include "model/cppwrapper/opschema.h"
#include "tensor/dtype.h"

#include <complex.h>
#ifndef CMPLX /* clang with glibc's header */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif
#include <setjmp.h>
#include <stdatomic.h>

/* After a failure an operator reads only its frame. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#define ATEN_DIMS 64

struct aten_storage {
	_Atomic int refs;
	void *data; /* NULL: no bytes, or a tensor without values */
	uint64_t bytes;
	bool owned;             /* freed with it; else owned elsewhere (aten_of_blob) */
	bool packed;            /* a weight that oneDNN had packed: for a transposed convolution, with its output channels first */
	void *_Atomic arranged; /* of a packed weight, which is never written to: rearranged for conv.c; freed with it */
};

struct aten_tensor {
	struct aten_storage *storage;  /* NULL: not defined */
	struct aten_tensor *next_made; /* in the frame's list */
	int64_t offset;                /* elements from the storage's start */
	int32_t dtype, n_dim;
	bool wrapped;                               /* a Python number (is_wrapped_number): has the lowest priority in promotion */
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS]; /* in elements; strides are not negative */
};

/* ---- frames ---- */

/* Applies to a frame and everything created in it. */
struct aten_mode {
	bool shapes;       /* no values */
	int default_dtype; /* torch.get_default_dtype(); 0: float32 */
	/* Memory of all tensors of the process (aten_live_bytes()) stays within this limit: exceeding it is an error. 0: no limit. */
	uint64_t max_bytes;
};

struct aten_frame {
	struct aten_frame *outer;
	struct aten_tensor *made;
	const char *op;
	struct aten_mode mode;
	jmp_buf jump;
};
void aten_enter(struct aten_frame *f, const char *op); /* mode: the outer frame's */
bool aten_leave(struct aten_frame *f, bool failed);    /* returns failed */
_Noreturn void aten_fail(const char *fmt, ...) PRINTF_LIKE(1, 2);
const char *aten_last_error(void); /* "op: text", per thread */
void aten_note(const char *text);  /* stores an error text like aten_fail() */
#define ATEN_TRY(name) \
	struct aten_frame aten_frame_; \
	aten_enter(&aten_frame_, (name)); \
	bool aten_failed_ = _setjmp(aten_frame_.jump) != 0; \
	if (!aten_failed_)
#define ATEN_END aten_leave(&aten_frame_, aten_failed_)
bool aten_computes(void);       /* false: only shapes are needed */
void aten_needs_values(void);   /* then leaves the frame: the shape of the result depends on values */
int aten_default_dtype(void);   /* of this frame's mode */
uint64_t aten_live_bytes(void); /* of all storages that own their memory */
/* Where storages get their memory, of pages of their own; before there are any tensors. Without it: aligned_alloc(). */
struct aten_memory {
	void *(*take)(uint64_t bytes); /* NULL: there is none */
	void (*give)(void *p, uint64_t bytes);
};
void aten_set_memory(const struct aten_memory *m);

/* ---- tensors ---- */

static inline char *aten_data(const struct aten_tensor *t)
{
	return t->storage->data ? (char *)t->storage->data + t->offset * dtype_info(t->dtype)->bytes : NULL;
}
static inline bool aten_same_sizes(const struct aten_tensor *a, const struct aten_tensor *b)
{
	return a->n_dim == b->n_dim && !memcmp(a->size, b->size, (size_t)a->n_dim * sizeof(*a->size));
}
static inline int64_t aten_numel(const struct aten_tensor *t)
{
	uint64_t n = 1; /* if one size is 0, the others may be anything */
	for (int i = 0; i < t->n_dim; i++)
		n *= (uint64_t)t->size[i];
	return (int64_t)n;
}

/* Arithmetic on sizes, strides, offsets, and numbers that become such: all additions and multiplications of an operator's arguments go
 * through these, which leave the operator if the result does not fit int64. For a tensor once created, products of its sizes, and each size
 * times its stride, in bytes, already fit int64. */
static inline int64_t size_plus(int64_t a, int64_t b)
{
	int64_t v;
	if (__builtin_add_overflow(a, b, &v))
		aten_fail("the tensor is too large for memory");
	return v;
}
static inline int64_t size_times(int64_t a, int64_t b)
{
	int64_t v;
	if (__builtin_mul_overflow(a, b, &v))
		aten_fail("the tensor is too large for memory");
	return v;
}
static inline int64_t size_minus(int64_t a, int64_t b)
{
	int64_t v;
	if (__builtin_sub_overflow(a, b, &v))
		aten_fail("the tensor is too large for memory");
	return v;
}
static inline int64_t size_of_all(int n, const int64_t *size)
{
	int64_t v = 1;
	for (int i = 0; i < n; i++)
		v = size_times(v, size[i]);
	return v;
}

/* New tensors, owned by the frame until kept. Memory is 64-byte aligned and uninitialized; there is none if only shapes are needed. */
struct aten_tensor *aten_new(int dtype, int n_dim, const int64_t *size, const int64_t *stride);  /* stride NULL: contiguous */
struct aten_tensor *aten_fake(int dtype, int n_dim, const int64_t *size, const int64_t *stride); /* without memory in any mode */
struct aten_tensor *aten_like(const struct aten_tensor *t, int dtype); /* torch.empty_like: dense ones keep their order of dims */
/* A new tensor over the same storage; offset counts from the storage's start, as t->offset does. Fails if it would exceed the storage. */
struct aten_tensor *aten_view(const struct aten_tensor *t, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
struct aten_tensor *aten_view_dtype(const struct aten_tensor *t, int dtype, int n_dim, const int64_t *size, const int64_t *stride,
				    int64_t offset);
struct aten_tensor *aten_alias(const struct aten_tensor *t); /* another handle to the same tensor */
/* A tensor over external memory; an undefined tensor. */
struct aten_tensor *aten_of_blob(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
struct aten_tensor *aten_none(void);
/* Makes dst the same tensor as src. */
void aten_assign(struct aten_tensor *dst, const struct aten_tensor *src);
void aten_grow(struct aten_tensor *t, uint64_t bytes);      /* grows its storage to at least this; keeps the contents */
struct aten_tensor *aten_contiguous(struct aten_tensor *t); /* t itself (kept alive by the caller), or a copy */
/* Takes t from the frame. If it is not the frame's (an operand), returns another handle. */
struct aten_tensor *aten_keep(struct aten_tensor *t);
void aten_release(struct aten_tensor *t);
bool aten_is_contiguous(const struct aten_tensor *t);
bool aten_is_dense(const struct aten_tensor *t); /* torch's is_non_overlapping_and_dense */
/* The result tensor of an element-wise operator on these operands: broadcast sizes, and strides in the order that ATen's TensorIterator
 * chooses (aten/src/ATen/TensorIterator.cpp, reorder_dimensions, allocate_or_resize_outputs). */
struct aten_tensor *aten_elementwise(int dtype, const struct aten_tensor *const *operand, int n);
/* Contiguous strides. */
void aten_contiguous_strides(int n_dim, const int64_t *size, int64_t *stride);
/* Copy with conversion of dtype, broadcasting src to dst as copy_ does. */
void aten_copy(struct aten_tensor *dst, const struct aten_tensor *src);
/* Sizes of broadcasting a and b. */
int aten_broadcast(const struct aten_tensor *a, const struct aten_tensor *b, int64_t *size);
/* Resolves a dim; a negative one counts from the end. */
int aten_dim(const struct aten_tensor *t, int64_t dim);

/* ---- dtypes ---- */

/* torch.result_type of tensors: those with dims take priority over those without, and these over numbers; then by kind: floats over
 * integers. */
int aten_result_type_of(const struct aten_tensor *const *t, int n);
int aten_promote(int a, int b); /* torch.promote_types */
bool aten_is_float(int dtype);  /* floating point, not complex */
bool aten_is_complex(int dtype);
int aten_real_of(int dtype);    /* the dtype of a complex dtype's parts; others unchanged */
int aten_complex_of(int dtype); /* the complex dtype with parts of that dtype; if not float: complex64 */
/* Convert n elements, strides in bytes. Between any two dtypes except the quantized ones. */
void aten_convert(int to, void *dst, int64_t dst_stride, int from, const void *src, int64_t src_stride, int64_t n);
float aten_half_to_float(uint16_t h);
uint16_t aten_float_to_half(float f);
static inline float aten_bf16_to_float(uint16_t h)
{
	union {
		uint32_t u;
		float f;
	} x = {.u = (uint32_t)h << 16};
	return x.f;
}
uint16_t aten_float_to_bf16(float f); /* rounds to nearest even */

/* ---- values ---- */

/* The kind of an argument or a result (IValue). A list holds values of any kind; items of optional tensors may be None. */
enum aten_kind {
	ATEN_NONE,
	ATEN_TENSOR,
	ATEN_INT,     /* i; also SymInt */
	ATEN_FLOAT,   /* f */
	ATEN_BOOL,    /* i */
	ATEN_COMPLEX, /* z */
	ATEN_STRING,  /* text */
	ATEN_DTYPE,   /* i: torch's number (tensor/dtype.h) */
	ATEN_LAYOUT,  /* i: c10::Layout; 0 is strided, the only one supported */
	ATEN_FORMAT,  /* i: c10::MemoryFormat: contiguous, preserve, channels_last, channels_last_3d */
	ATEN_DEVICE,  /* i: its type (tensor/dtype.h); everything is computed on the CPU, even for "meta" */
	ATEN_LIST,    /* n of item */
};
struct aten_value {
	enum aten_kind kind;
	uint32_t n;
	union {
		struct aten_tensor *tensor;
		int64_t i;
		double f;
		double complex z;
		struct slice text;
		struct aten_value *item;
	};
};
/* Lists as passed to operators; v NULL: None. */
struct ints {
	const int64_t *v;
	int64_t n;
};
struct doubles {
	const double *v;
	int64_t n;
};
struct tensors {
	struct aten_tensor **v;
	int64_t n;
};
#define INT_LIST(...) ((struct ints){(const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})
/* Two results. */
struct two {
	struct aten_tensor *first, *second;
};
struct aten_named {
	struct slice name;
	struct aten_value value;
};
static inline struct aten_value aten_of(struct aten_tensor *t)
{
	return (struct aten_value){.kind = t ? ATEN_TENSOR : ATEN_NONE, .tensor = t};
}
static inline struct aten_value aten_int(int64_t i) { return (struct aten_value){.kind = ATEN_INT, .i = i}; }
static inline struct aten_value aten_float(double f) { return (struct aten_value){.kind = ATEN_FLOAT, .f = f}; }
static inline struct aten_value aten_bool(bool b) { return (struct aten_value){.kind = ATEN_BOOL, .i = b}; }
static inline struct aten_value aten_dtype(int dtype) { return (struct aten_value){.kind = ATEN_DTYPE, .i = dtype}; }
static inline struct aten_value aten_text(const char *text) { return (struct aten_value){.kind = ATEN_STRING, .text = slice_str(text)}; }
struct aten_value aten_ints(const int64_t *list, int64_t n); /* owned by the frame */
/* Releases a result: its tensors, and the list they are in. */
void aten_value_release(struct aten_value *v);

/* ---- operators ---- */

enum { ATEN_RESULTS = 8 }; /* the most that an operator has; a list of tensors (split) is one */

struct aten_entry;
struct aten_op {
	const struct aten_entry *entry;
	const char *schema;      /* "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
	struct op_schema parsed; /* its parameters */
	uint32_t n_results;
	bool in_place; /* `name_`: via the functional form */
};
/* Finds the overload with this name; ".default" or nothing for the unnamed one. -1 and err: unsupported. On failure there is nothing to
 * release. */
int aten_find(struct aten_op *op, struct slice name, struct err *err);
void aten_op_release(struct aten_op *op);
const char *aten_op_name(const struct aten_op *op); /* of its overload, without ".default": "add.Tensor" */
/* Does each element of the result follow from the elements at its place in the operands, which are broadcast? */
bool aten_is_elementwise(const struct aten_op *op);
/* The caller owns results[0 .. op->n_results). On failure there are none, and err says what failed and why. mode NULL: torch's defaults. */
int aten_call(const struct aten_op *op, const struct aten_mode *mode, const struct aten_value *args, size_t n,
	      const struct aten_named *named, size_t n_named, struct aten_value *results, struct err *err);
/* The same within a frame: the frame owns the results; fails with aten_fail(). */
void aten_run(const struct aten_op *op, const struct aten_value *args, size_t n, const struct aten_named *named, size_t n_named,
	      struct aten_value *results);
/* random.c: like torch.manual_seed(seed) for torch's CPU generator, of which the process has one. */
void aten_seed(uint64_t seed);
/* Calls an operator by name within a frame: for operators composed of others (libcommon/core/aten/call.h). */
const struct aten_value *aten_apply(const char *overload, const struct aten_value *args, size_t n);
/* All supported overloads, in no particular order: i from 0 on; NULL after the last. "add.Tensor", "relu". */
const char *aten_overload(size_t i);

#endif
