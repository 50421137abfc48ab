/* pointwise.h - element-wise operators: one engine, tables of expressions.
 *
 *     static const struct pointwise sub = {"sub", .loop = {[PW_I64] = sub_i64, [PW_F32] = sub_f32, ...}, .no_bool = true};
 *     struct aten_tensor *out = aten_pointwise(&sub, (struct aten_tensor *[]){a, b}, 2, &(struct pointwise_numbers){...});
 *
 * As in torch's TensorIterator (aten/src/ATen/TensorIterator.cpp): operands are promoted to a common dtype, the result's strides are
 * chosen from theirs, a loop computes and rounds once to the result's dtype. A loop computes in one of four types: integers (all of them
 * in 64 bits, truncated when stored: + - * wrap as they should), float (also for float16 and bfloat16, as eager does), double, complex
 * double. It gets rows of up to PW_CHUNK elements; strided, broadcast or otherwise typed operands are converted row by row.
 */
#ifndef PT2_ATEN_POINTWISE_H
#define PT2_ATEN_POINTWISE_H
#include "call.h"

enum pointwise_class { PW_I64, PW_F32, PW_F64, PW_C128, PW_CLASSES };
enum { PW_CHUNK = 512, PW_OPERANDS = 4, PW_NUMBERS = 4 };
/* Numbers that are the same for all elements. */
struct pointwise_numbers {
	int64_t i[PW_NUMBERS];
	double f[PW_NUMBERS];
	double complex z[PW_NUMBERS];
};
typedef void pointwise_loop(int64_t n, void *out, const void *const *in, const struct pointwise_numbers *k);
enum pointwise_result {
	PW_SAME, /* the result has the common dtype */
	PW_BOOL,
	PW_REAL,    /* for complex numbers, the dtype of their parts */
	PW_COMPLEX, /* loops of PW_F32 and PW_F64 write complex double */
};

struct pointwise {
	const char *name;
	pointwise_loop *loop[PW_CLASSES]; /* NULL: unsupported in torch, too */
	uint8_t result;                   /* enum pointwise_result */
	bool to_float;                    /* integers become the default dtype first */
	bool no_bool;
	bool exact_numbers; /* operands without dims are not rounded to the common float first (opmath_t in BinaryOpsKernel.cpp) */
	bool keeps_strides; /* the result has self's strides, whatever they are */
	bool orders;        /* a comparison: unsigned 64-bit numbers are mapped so that their order is kept */
	uint8_t skip;       /* this many operands do not take part in promotion: a condition */
};

/* Refuses what torch refuses; the frame owns the result. numbers may be NULL. */
struct aten_tensor *aten_pointwise(const struct pointwise *op, struct aten_tensor *const *in, int n, const struct pointwise_numbers *k);
/* The same if the caller knows the common dtype. */
struct aten_tensor *aten_pointwise_as(const struct pointwise *op, int common, struct aten_tensor *const *in, int n,
				      const struct pointwise_numbers *k);
/* Sets number `at` for all classes from an argument. */
void pointwise_number(struct pointwise_numbers *k, int at, const struct aten_value *v);
/* entry.data: the struct pointwise; operands in the schema's order from the first on. */
void run_pointwise1(struct aten_call *c);
void run_pointwise2(struct aten_call *c);

/* A loop over elements x (and y, w) of type T into elements of type R; K(i) is a number in T. */
#define PW_LOOP(id, T, R, EXPRESSION) \
	static void id(int64_t pw_n, void *pw_out, const void *const *pw_in, const struct pointwise_numbers *pw_k) \
	{ \
		R *pw_r = pw_out; \
		(void)pw_k; \
		for (int64_t pw_i = 0; pw_i < pw_n; pw_i++) { \
			const T x = ((const T *)pw_in[0])[pw_i]; \
			pw_r[pw_i] = (R)(EXPRESSION); \
		} \
	}
#define PW_LOOP2(id, T, R, EXPRESSION) \
	static void id(int64_t pw_n, void *pw_out, const void *const *pw_in, const struct pointwise_numbers *pw_k) \
	{ \
		R *pw_r = pw_out; \
		(void)pw_k; \
		for (int64_t pw_i = 0; pw_i < pw_n; pw_i++) { \
			const T x = ((const T *)pw_in[0])[pw_i], y = ((const T *)pw_in[1])[pw_i]; \
			pw_r[pw_i] = (R)(EXPRESSION); \
		} \
	}
#define PW_LOOP3(id, T, R, EXPRESSION) \
	static void id(int64_t pw_n, void *pw_out, const void *const *pw_in, const struct pointwise_numbers *pw_k) \
	{ \
		R *pw_r = pw_out; \
		(void)pw_k; \
		for (int64_t pw_i = 0; pw_i < pw_n; pw_i++) { \
			const T x = ((const T *)pw_in[0])[pw_i], y = ((const T *)pw_in[1])[pw_i], w = ((const T *)pw_in[2])[pw_i]; \
			pw_r[pw_i] = (R)(EXPRESSION); \
		} \
	}
#define K_I64(j) (pw_k->i[j])
#define K_F32(j) ((float)pw_k->f[j])
#define K_F64(j) (pw_k->f[j])
#define K_C128(j) (pw_k->z[j])

#endif
