/* elem.h - elements of any dtype one at a time, and walks over tensors: shared by sort.c, scan.c, index.c, pool.c ....
 *
 * A walk goes over positions in row-major order and keeps a pointer into each operand:
 *
 *     struct walk w = WALK(out, self);         // out, operand 0, has the sizes; fewer dims of others, or dims of 1, are broadcast
 *     for (bool more = walk_first(&w); more; more = walk_next(&w))
 *         memcpy(w.p[0], w.p[1], bytes);
 *
 * WALK_LINES() leaves one dim out, so that the pointers are at the starts of the lines along it.
 *
 * Values: real dtypes go through double (floats) or int64_t (integers, bool; uint64 keeps its bits). elem_key() gives
 * all of them one order in which NaN is the largest and -0 equals 0, as in torch's sort, topk and max.
 */
#ifndef PT2_ATEN_ELEM_H
#define PT2_ATEN_ELEM_H
#include "aten.h"

enum { WALK_OPERANDS = 6 };

struct walk {
	int n_dim, n_op, line;                                                   /* line: the dim left out, or -1 */
	int64_t size[ATEN_DIMS], pos[ATEN_DIMS], step[WALK_OPERANDS][ATEN_DIMS]; /* steps in bytes */
	char *p[WALK_OPERANDS], *base[WALK_OPERANDS];
};

void walk_begin(struct walk *w, int n_dim, const int64_t *size);
/* Leaves the op unless t's sizes are those of the walk, or 1; along a line it may have any. */
void walk_add(struct walk *w, const void *base, const struct aten_tensor *t);
/* An operand given by its steps in bytes. */
void walk_add_steps(struct walk *w, const void *base, const int64_t *step);
/* Over the sizes of the first; line: the dim left out, or -1. */
struct walk walk_over(int line, const struct aten_tensor *const *t, size_t n);
#define WALK_LINES(dim, ...) \
	walk_over(dim, (const struct aten_tensor *const[]){__VA_ARGS__}, \
		  sizeof((const struct aten_tensor *const[]){__VA_ARGS__}) / sizeof(struct aten_tensor *))
#define WALK(...) WALK_LINES(-1, __VA_ARGS__)
bool walk_first(struct walk *w); /* false: nothing to walk over */
bool walk_next(struct walk *w);

bool elem_floating(int dtype); /* float64, float32, float16, bfloat16 */
bool elem_complex(int dtype);  /* complex64, complex128 */
bool elem_integral(int dtype); /* integers and bool */
static inline int elem_bytes(int dtype) { return dtype_info(dtype)->bytes; }
double elem_f64(int dtype, const void *p);
int64_t elem_i64(int dtype, const void *p);
double complex elem_c128(int dtype, const void *p);
int64_t elem_to_i64(double v); /* like torch's casts: INT64_MIN if there is no such integer */
void elem_set_f64(int dtype, void *p, double v);
void elem_set_i64(int dtype, void *p, int64_t v);
void elem_set_c128(int dtype, void *p, double complex v);
/* Not C's own product, which handles infinities separately. */
static inline double complex complex_times(double complex a, double complex b)
{
	return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
/* v rounded to that dtype: a float, or an integer. */
static inline double elem_rounded(int dtype, double v)
{
	char p[16];
	elem_set_f64(dtype, p, v);
	return elem_f64(dtype, p);
}
/* *p += *q in that dtype; integers wrap. */
void elem_add(int dtype, void *p, const void *q);
bool elem_nan(int dtype, const void *p);
bool elem_true(int dtype, const void *p); /* not zero */
uint64_t elem_key(int dtype, const void *p);
static inline uint64_t elem_key_f64(double v)
{
	const uint64_t top = UINT64_C(1) << 63;
	uint64_t bits;

	if (v != v)
		return UINT64_MAX;
	v += 0.0; /* -0 becomes 0 */
	memcpy(&bits, &v, sizeof(bits));
	return bits & top ? ~bits : bits | top;
}
static inline void elem_copy(void *dst, const void *src, int bytes)
{
	switch (bytes) {
	case 1: *(char *)dst = *(const char *)src; break;
	case 2: memcpy(dst, src, 2); break;
	case 4: memcpy(dst, src, 4); break;
	case 8: memcpy(dst, src, 8); break;
	default: memcpy(dst, src, (size_t)bytes);
	}
}

/* Leaves the op unless the dtype is real (floats, integers, bool). */
void elem_need_real(const struct aten_tensor *t);
/* Size along dim, bytes between its elements; a tensor without dims is a line of one. */
static inline int64_t line_size(const struct aten_tensor *t, int dim) { return t->n_dim ? t->size[dim] : 1; }
static inline int64_t line_step(const struct aten_tensor *t, int dim) { return t->n_dim ? t->stride[dim] * elem_bytes(t->dtype) : 0; }

/* A tensor that has memory even if only shapes are needed: numbers, lists. */
struct aten_tensor *aten_new_anyway(int dtype, int n_dim, const int64_t *size);
/* Scratch memory that is freed with the frame: an op may fail while holding it. */
void *aten_scratch(uint64_t n, uint64_t bytes_each);
/* The same for intermediate values: none if only shapes are needed. */
static inline void *aten_scratch_values(uint64_t n, uint64_t bytes_each) { return aten_scratch(aten_computes() ? n : 0, bytes_each); }
/* A new tensor with the values of t, row-major. */
struct aten_tensor *aten_clone_contiguous(const struct aten_tensor *t);
/* The same, keeping the order of dims. */
struct aten_tensor *aten_clone(const struct aten_tensor *t);
void aten_fill_zero(struct aten_tensor *t);
/* sort.c: positions of a line's elements in ascending order, stable; scratch memory. */
const int64_t *aten_argsort(const struct aten_tensor *line);
/* scan.c: indices where t is not zero, [n, dims] of int64 with strides (1, n). */
struct aten_tensor *aten_nonzero(struct aten_tensor *t);
/* Tensor::suggest_memory_format (torch 2.13, c10/core/MemoryFormat.h): strides of 4 or 5 dims that look like
 * channels_last. */
bool aten_channels_last(const struct aten_tensor *t);
/* c10/core/MemoryFormat.h */
enum { ATEN_CONTIGUOUS, ATEN_PRESERVE, ATEN_CHANNELS_LAST, ATEN_CHANNELS_LAST_3D };
/* Strides of these sizes, channels_last or contiguous (fewer than 4 dims always), and a new tensor with them. */
void aten_format_strides(int n_dim, const int64_t *size, int64_t *stride, bool channels_last);
struct aten_tensor *aten_new_format(int dtype, int n_dim, const int64_t *size, bool channels_last);

#endif
