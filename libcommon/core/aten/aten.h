/* aten.h - torch's operators on the CPU, each once, by its ATen schema: shape rule and computation. No torch.
 *
 * Who calls it: libshim (the C interface of compiled models: a veneer of handles over this), the interpreter of exported graphs, and
 * what wants shapes without values. It may be linked into any process.
 *
 *     struct aten_op op;                                              // find it once, call it often
 *     if (aten_find(&op, SLICE("aten.add.Tensor"), &err) < 0) ...     // also "torch.ops.aten.add.Tensor", "aten::add.Tensor"
 *     struct aten_value args[] = {aten_of(x), aten_of(y)}, out[ATEN_RESULTS];
 *     struct aten_named two[] = {{SLICE("alpha"), aten_int(2)}};
 *     if (aten_call(&op, NULL, args, 2, two, 1, out, &err) < 0) ...   // err.text: "add.Tensor: sizes 3 and 4 do not fit at dimension 0"
 *     out[0].tensor ...                                               // op.n_results of them, the caller's
 *     aten_value_release(&out[0]);
 *     aten_op_release(&op);
 *
 * Operators
 *  - An overload is called with its arguments in the schema's order, or by name; what is left out has the schema's default. Schemas are
 *    torch's own, recorded by scripts/gen-aten-schemas (schemas.h); 2.13 and 2.15 agree on them. aten_has() asks without an error's text.
 *  - `name_` of an overload that only its functional form defines computes that and copies the result into self, as torch's own structured
 *    operators do; the result's handle shares self's storage.
 *  - Results have the sizes, strides and dtype that torch gives them (each file says where that is written); a view shares the storage.
 *  - Floats of 16 bits are rounded after every operator, as eager does. Values are torch's within its own rounding error;
 *    docs/user/OPERATORS.md has what was held against torch's operator database, in which dtypes.
 *
 * Shapes without values
 *     struct aten_mode shapes = {.shapes = true};
 *     struct aten_tensor *x = aten_fake(DTYPE_F32, 2, size, NULL);    // no memory
 *     aten_call(&op, &shapes, ...);                                   // results have sizes, strides, dtype, and no memory
 *    The rule is what an operator does before its first value: it makes its result, then aten_computes() tells whether to go on. What
 *    depends on values (nonzero, item) fails; one of several results that does (unique's first) is ATEN_NONE. Symbolic sizes: call it with
 *    several assignments (cli/model/binprobe fits formulas to them).
 *    Who asks so: aten/interp/shapes.h (fxminify), cli/model/binprobe (the prober). model/cppwrapper/optypes.h has dtypes for texts, whose
 *    sizes nobody knows.
 *
 * Tensors, frames, errors
 *  - struct aten_tensor is a handle: sizes and strides of its own over a counted storage, which views share. Of one thread at a time; the
 *    storage's count is atomic.
 *  - Everything that can fail runs in a frame. aten_fail() leaves it with an error's text; what was made in it and not kept is released by
 *    it. aten_call() has one of its own. Around other functions:
 *
 *     struct aten_tensor *t = NULL;
 *     ATEN_TRY("load") {
 *         t = aten_keep(aten_new(DTYPE_F32, 2, size, NULL));          // the caller's: aten_release()
 *     }
 *     if (ATEN_END) ...                                               // it failed: aten_last_error()
 *
 *    Within the frame of an operator, operators call each other as functions and own nothing: elem.h.
 *  - No state but the top frame and the last error, both the thread's, the random generator, and a count of bytes.
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

/* After a failure an operator looks at nothing but its frame. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

#define ATEN_DIMS 64

struct aten_storage {
	_Atomic int refs;
	void *data; /* NULL: no bytes, or of a tensor without values */
	uint64_t bytes;
	bool owned;             /* freed with it; else somebody else's (aten_of_blob) */
	bool packed;            /* a weight that oneDNN had packed: a transposed convolution has it with its output channels first */
	void *_Atomic arranged; /* of such a one, which nothing writes to: as conv.c wants it; freed with it */
};

struct aten_tensor {
	struct aten_storage *storage;  /* NULL: not defined */
	struct aten_tensor *next_made; /* the frame's */
	int64_t offset;                /* elements from the storage's start */
	int32_t dtype, n_dim;
	bool wrapped;                               /* a number of Python (is_wrapped_number): counts least in promotion */
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS]; /* in elements; strides are not negative */
};

/* ---- frames ---- */

/* A frame, and all that is made in it, keep to this. */
struct aten_mode {
	bool shapes;       /* no values */
	int default_dtype; /* torch.get_default_dtype(); 0: float32 */
	/* Memory of all tensors of the process (aten_live_bytes()) stays within this: what would take more fails, and says so. 0: no limit. */
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
const char *aten_last_error(void); /* "op: text", the thread's */
void aten_note(const char *text);  /* an error's text, kept as aten_fail() keeps it */
#define ATEN_TRY(name) \
	struct aten_frame aten_frame_; \
	aten_enter(&aten_frame_, (name)); \
	bool aten_failed_ = _setjmp(aten_frame_.jump) != 0; \
	if (!aten_failed_)
#define ATEN_END aten_leave(&aten_frame_, aten_failed_)
bool aten_computes(void);       /* false: only shapes are asked for */
void aten_needs_values(void);   /* leaves the frame, then: the shape of what follows depends on them */
int aten_default_dtype(void);   /* of this frame's mode */
uint64_t aten_live_bytes(void); /* of all storages that own their memory */

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
	uint64_t n = 1; /* beside a size of 0 the others may be any */
	for (int i = 0; i < t->n_dim; i++)
		n *= (uint64_t)t->size[i];
	return (int64_t)n;
}

/* Sizes, strides, offsets, and numbers that become such: all that is added and multiplied of those that an operator is given goes through
 * these, which leave it where int64 does not hold the result. Of one tensor that is made, products of its sizes, and each size times its
 * stride, in bytes, are within int64 already. */
static inline int64_t size_plus(int64_t a, int64_t b)
{
	int64_t v;
	if (__builtin_add_overflow(a, b, &v))
		aten_fail("a tensor that no memory can hold");
	return v;
}
static inline int64_t size_times(int64_t a, int64_t b)
{
	int64_t v;
	if (__builtin_mul_overflow(a, b, &v))
		aten_fail("a tensor that no memory can hold");
	return v;
}
static inline int64_t size_minus(int64_t a, int64_t b)
{
	int64_t v;
	if (__builtin_sub_overflow(a, b, &v))
		aten_fail("a tensor that no memory can hold");
	return v;
}
static inline int64_t size_of_all(int n, const int64_t *size)
{
	int64_t v = 1;
	for (int i = 0; i < n; i++)
		v = size_times(v, size[i]);
	return v;
}

/* New tensors, owned by the frame until kept. Memory is 64-aligned and not initialised; where only shapes are asked for there is none. */
struct aten_tensor *aten_new(int dtype, int n_dim, const int64_t *size, const int64_t *stride);  /* stride NULL: contiguous */
struct aten_tensor *aten_fake(int dtype, int n_dim, const int64_t *size, const int64_t *stride); /* without memory in any mode */
struct aten_tensor *aten_like(const struct aten_tensor *t, int dtype); /* torch.empty_like: dense ones keep their order of dims */
/* A new tensor over the same storage; offset counts from the storage's start, as t->offset does. Fails when it would reach beyond it. */
struct aten_tensor *aten_view(const struct aten_tensor *t, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
struct aten_tensor *aten_view_dtype(const struct aten_tensor *t, int dtype, int n_dim, const int64_t *size, const int64_t *stride,
				    int64_t offset);
struct aten_tensor *aten_alias(const struct aten_tensor *t); /* a handle more of the same */
/* Somebody else's memory; a tensor that is not defined. */
struct aten_tensor *aten_of_blob(void *data, int dtype, int n_dim, const int64_t *size, const int64_t *stride, int64_t offset);
struct aten_tensor *aten_none(void);
/* dst becomes what src is. */
void aten_assign(struct aten_tensor *dst, const struct aten_tensor *src);
void aten_grow(struct aten_tensor *t, uint64_t bytes);      /* its storage, at least; keeps what is in it */
struct aten_tensor *aten_contiguous(struct aten_tensor *t); /* itself (kept alive by the caller), or a copy */
/* No longer the frame's. Of one that is not the frame's (an operand), a handle more. */
struct aten_tensor *aten_keep(struct aten_tensor *t);
void aten_release(struct aten_tensor *t);
bool aten_is_contiguous(const struct aten_tensor *t);
bool aten_is_dense(const struct aten_tensor *t); /* torch's is_non_overlapping_and_dense */
/* A tensor as an element-wise operator of these operands returns it: broadcast sizes, and strides in the order that ATen's TensorIterator
 * chooses (aten/src/ATen/TensorIterator.cpp, reorder_dimensions, allocate_or_resize_outputs). */
struct aten_tensor *aten_elementwise(int dtype, const struct aten_tensor *const *operand, int n);
/* Contiguous strides. */
void aten_contiguous_strides(int n_dim, const int64_t *size, int64_t *stride);
/* Copy with conversion of dtype, broadcasting src to dst as copy_ does. */
void aten_copy(struct aten_tensor *dst, const struct aten_tensor *src);
/* Sizes of broadcasting a and b. */
int aten_broadcast(const struct aten_tensor *a, const struct aten_tensor *b, int64_t *size);
/* A negative dim counts from the end. */
int aten_dim(const struct aten_tensor *t, int64_t dim);

/* ---- dtypes ---- */

/* torch.result_type of tensors: those with dims count before those without, these before numbers; then kinds: floats before integers. */
int aten_result_type_of(const struct aten_tensor *const *t, int n);
int aten_promote(int a, int b); /* torch.promote_types */
bool aten_is_float(int dtype);  /* floating point, not complex */
bool aten_is_complex(int dtype);
int aten_real_of(int dtype);    /* of a complex dtype's parts; others stay */
int aten_complex_of(int dtype); /* of numbers whose parts have that dtype; not float: complex64 */
/* Convert n elements, strides in bytes. Between any two dtypes but the quantized ones. */
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
uint16_t aten_float_to_bf16(float f); /* to nearest even */

/* ---- values ---- */

/* The kind of an argument or a result (IValue). A list holds values of any kind; items of optional tensors may be none. */
enum aten_kind {
	ATEN_NONE,
	ATEN_TENSOR,
	ATEN_INT,     /* i; also SymInt */
	ATEN_FLOAT,   /* f */
	ATEN_BOOL,    /* i */
	ATEN_COMPLEX, /* z */
	ATEN_STRING,  /* text */
	ATEN_DTYPE,   /* i: torch's number (tensor/dtype.h) */
	ATEN_LAYOUT,  /* i: c10::Layout; 0 is strided, the only one here */
	ATEN_FORMAT,  /* i: c10::MemoryFormat: contiguous, preserve, channels_last, channels_last_3d */
	ATEN_DEVICE,  /* i: its type (tensor/dtype.h); all are computed on the CPU, "meta" too */
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
/* Lists as operators have them; v NULL: None. */
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
struct aten_value aten_ints(const int64_t *list, int64_t n); /* the frame's */
/* A result: its tensors, and the list that they are in. */
void aten_value_release(struct aten_value *v);

/* ---- operators ---- */

enum { ATEN_RESULTS = 8 }; /* most that an operator has; a list of tensors (split) is one */

struct aten_entry;
struct aten_op {
	const struct aten_entry *entry;
	const char *schema;      /* "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" */
	struct op_schema parsed; /* its parameters */
	uint32_t n_results;
	bool in_place; /* `name_`: by way of the functional form */
};
/* The overload of this name, ".default" or nothing for the one without. -1, err: it is not here. On failure there is nothing to release. */
int aten_find(struct aten_op *op, struct slice name, struct err *err);
void aten_op_release(struct aten_op *op);
/* results[0 .. op->n_results) are the caller's. On failure there are none, and err has what and why. mode NULL: torch's defaults. */
int aten_call(const struct aten_op *op, const struct aten_mode *mode, const struct aten_value *args, size_t n,
	      const struct aten_named *named, size_t n_named, struct aten_value *results, struct err *err);
/* The same within a frame: results are the frame's; it fails by aten_fail(). */
void aten_run(const struct aten_op *op, const struct aten_value *args, size_t n, const struct aten_named *named, size_t n_named,
	      struct aten_value *results);
/* random.c: what torch.manual_seed(seed) is to torch's CPU generator, which the whole process has one of. */
void aten_seed(uint64_t seed);
/* By its name within a frame: what operators that are made of others call these by (libcommon/core/aten/call.h). */
const struct aten_value *aten_apply(const char *overload, const struct aten_value *args, size_t n);
/* All overloads that are here, in no order: i from 0 on; NULL behind the last. "add.Tensor", "relu". */
const char *aten_overload(size_t i);

#endif
