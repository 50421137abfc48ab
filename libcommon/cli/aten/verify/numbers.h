/* numbers.h - a tensor's elements as doubles in row-major order, with a signature; and whether two of them are the same value.
 *
 *     struct numbers b, n;
 *     numbers_of(&b, buffer, &err); numbers_of(&n, node, &err);
 *     struct layout l;
 *     if (numbers_match(&b, &n, 0, &l)) ...                  // b holds n, possibly with permuted dims: l
 *     numbers_release(&b);
 *
 * Same value: as many elements of the same class, each as close as rounding in two ways of computing it explains:
 *     |b - n| - T eps |n| <= max(T eps S, 8 error)
 * eps is that of the coarser dtype, T 200 (4 for 16 bits and less; integers: equal), S the smaller of max |n| and 10,000 times the median
 * of the nonzero elements, error the maximum difference of the node's value between its own dtypes and float64. Measured on 401 calls of 38
 * real models (docs/user/VERIFY.md). NaN and infinities must be at the same places. Never "equal when sorted": that hides a wrong order.
 */
#ifndef PT2_VERIFY_NUMBERS_H
#define PT2_VERIFY_NUMBERS_H
#include "aten/aten.h"

enum numbers_class { NUMBERS_FLOAT, NUMBERS_COMPLEX, NUMBERS_INT };
struct numbers {
	double *v;        /* pairs for complex numbers; NULL: only the signature is known (numbers_sign) */
	uint32_t *owners; /* how many have .v; NULL: one */
	int64_t n;        /* elements */
	enum numbers_class class;
	int dtype, n_dim;
	int64_t size[ATEN_DIMS];
	/* The signature, over all finite parts; max is that of |x|. */
	bool known;
	uint64_t nan, inf;
	double sum, squares, max, lo, hi;
	double scale; /* S; negative: not computed yet */
};

/* -1: a dtype without numbers. */
int numbers_of(struct numbers *x, const struct aten_tensor *t, struct err *err);
/* The signature alone; and the elements of one that has it. */
int numbers_sign(struct numbers *x, const struct aten_tensor *t, struct err *err);
int numbers_fill(struct numbers *x, const struct aten_tensor *t, struct err *err);
/* x are those of t, whose elements are the same in the same order: one copy of them. In one thread. */
void numbers_share(struct numbers *x, struct numbers *of, const struct aten_tensor *t);
void numbers_release(struct numbers *x);
/* The distance of one unit in the last place from 1; 0 for integers. */
double numbers_eps(int dtype);

/* The dims that are not 1, and their row-major strides. False: there is none, or there are too many. */
enum { NUMBERS_DIMS = 6 };
struct numbers_dims {
	int n_dim;
	int64_t size[NUMBERS_DIMS], step[NUMBERS_DIMS];
};
bool numbers_dims(const struct numbers *x, struct numbers_dims *w);

/* Where b's elements are in n: the dims of n that are not 1, in b's order; identity: same order. */
struct layout {
	bool identity, of_buffer; /* of_buffer: the buffer's dims are permuted */
	int n_dim;
	int order[NUMBERS_DIMS];
};
bool numbers_match(const struct numbers *b, struct numbers *n, double error, struct layout *l);
/* The maxima that those may have which b can match, if no error is greater than this and no eps greater than that: other ones need not be
 * tried. */
struct numbers_range {
	double from, to;
};
struct numbers_range numbers_may_match(const struct numbers *b, double error, double eps);
/* The maximum difference of two finite elements, in that layout. */
double numbers_off(const struct numbers *b, const struct numbers *n, const struct layout *l);
/* Copies b's elements in the order of n: as many doubles. */
void numbers_lay(const struct numbers *b, const struct numbers *n, const struct layout *l, double *out);
/* How far an element that should be x may be off: relative |x| + absolute. numbers_match() with T eps as `relative`. */
struct numbers_slack {
	double relative, absolute;
};
struct numbers_slack numbers_slack(struct numbers *n, double relative, double error);
/* The permutation of b's dims that is closest to n; false: other sizes, so no permutation. */
void numbers_nearest(const struct numbers *b, const struct numbers *n, struct layout *l);

/* How far x is from the float64 result (as many elements, same order): over finite elements, in ulp of the maximum and of the
 * root mean square. */
struct numbers_errors {
	double max, rms;
	bool other; /* NaN or infinity at different places */
};
struct numbers_errors numbers_errors(const double *x, const struct numbers *exact, double eps);

#endif
