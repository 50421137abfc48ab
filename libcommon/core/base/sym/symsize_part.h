/* symsize_part.h - shared by the files of symsize.h; nothing else includes it.
 *
 *     symsize.c        the table's nodes, what occurs in an expression, and how it is written
 *     symsize_poly.c   sums of products while in use: order, + - *, common divisors
 *     symsize_calls.c  the normal form of calls (// % Max floor Eq ...), and symsize_add() etc. on both
 *     symsize_parse.c  text -> expression
 *     symsize_eval.c   expression and values of its symbols -> number
 *     symrange.c       ranges (uses only the number writer)
 *
 * Two forms of one thing. At rest an expression is a node, interned in symtab.nodes: equal expressions are the same node, and its
 * address moves when another is made. In use it is a struct poly, which its user releases: poly_load() -> arithmetic -> poly_store().
 * Arithmetic reuses its first operand for the result; after a failure that operand may hold anything and must still be released.
 *
 * A node is an array of words:
 *   SYM, OPAQUE   kind depth weight name
 *   FN            kind depth weight op n  { k low, k high, expr } * n
 *   POLY          kind depth weight n     { c low, c high, factors, { atom, power } * factors } * n
 * An atom is a SYM, OPAQUE or FN. depth counts nested calls; weight is the size when written out, which sharing would hide: both are
 * bounded, so that walks over a node may recurse and end soon.
 */
#ifndef PT2_SYMSIZE_PART_H
#define PT2_SYMSIZE_PART_H
#include "base/sym/symsize.h"

enum node_kind { SYM, FN, OPAQUE, POLY };
enum { W_KIND, W_DEPTH, W_WEIGHT, W_BODY };

enum sym_op {
	OP_ADD,
	OP_SUB,
	OP_MUL, /* never in a node: converted to a POLY */
	OP_FLOORDIV,
	OP_MOD,
	OP_TRUEDIV,
	OP_POW,
	OP_LSHIFT,
	OP_RSHIFT,
	OP_MAX,
	OP_MIN,
	OP_ABS,
	OP_FLOOR,
	OP_CEIL,
	OP_TRUNC,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_AND,
	OP_OR,
	OP_NOT,
	OP_IDENTITY,
	OP_CEILDIV,
	OP_MODULAR, /* written as other operators */
};

static inline int sym_overflow(struct err *err) { return err_set(err, EXIT_INPUT, "symbolic size: a number does not fit 64 bits"); }
static inline int sym_too_large(struct err *err) { return err_set(err, EXIT_INPUT, "symbolic size: the expression is too large"); }

/* ---- nodes ---- */

/* Valid until the next node is created. */
static inline const uint32_t *sym_node(const struct symtab *t, uint32_t expr) { return (const void *)intern_get(&t->nodes, expr - 1).p; }
static inline uint32_t sym_node_add(struct symtab *t, const uint32_t *w, size_t n)
{
	return intern_add(&t->nodes, slice_of((const char *)w, n * sizeof(*w))) + 1;
}
static inline int64_t node_i64(uint32_t low, uint32_t high) { return (int64_t)((uint64_t)high << 32 | low); }

/* The parts of an FN: its operator, number of arguments, and arguments. */
static inline uint32_t fn_op(const uint32_t *w) { return w[W_BODY]; }
static inline uint32_t fn_n(const uint32_t *w) { return w[W_BODY + 1]; }
static inline struct symsize fn_arg(const uint32_t *w, uint32_t i)
{
	const uint32_t *a = w + W_BODY + 2 + 3 * i;
	return (struct symsize){node_i64(a[0], a[1]), a[2], 0};
}

/* ---- symsize_poly.c ---- */

struct term {
	int64_t c;
	uint32_t n;
	struct factor {
		uint32_t atom, power;
	} f[SYMSIZE_MAX_FACTORS];
};
struct poly { /* no term: 0 */
	struct term *t;
	size_t n, cap;
};
void poly_release(struct poly *p);
struct term *poly_push(struct poly *p);
/* Reuses p and replaces its terms. */
void poly_load(const struct symtab *t, struct symsize s, struct poly *p);
/* The node of a sum. */
int poly_store(struct symtab *t, const struct poly *p, struct symsize *out, struct err *err);
bool poly_is_int(const struct poly *p, int64_t *k);
/* *a += *b, or -= */
int poly_add(const struct symtab *t, struct poly *a, const struct poly *b, bool minus, struct err *err);
int poly_mul(const struct symtab *t, struct poly *a, const struct poly *b, struct err *err);
int poly_negate(struct poly *p, struct err *err);
/* Divide numerator and denominator by their common factors: a number and powers of atoms. */
void poly_cancel(struct poly *a, struct poly *b);
/* Split off the terms that d divides: moves them to *whole, p keeps the others. */
void poly_split_off(struct poly *p, int64_t d, struct poly *whole);

/* ---- symsize_calls.c ---- */

/* op on two sums; the result is in *a, *b is consumed. */
int sym_binary(struct symtab *t, enum sym_op op, struct poly *a, struct poly *b, struct err *err);
/* A call by name, with as many arguments as op takes. */
int sym_call(struct symtab *t, enum sym_op op, const struct symsize *v, uint32_t n, struct symsize *out, struct err *err);
/* Does OP_EQ .. OP_GE hold, where d is < 0, 0 or > 0 as the left side is less, equal or greater? */
bool sym_relation_holds(enum sym_op op, int d);

/* ---- numbers ---- */

static inline uint64_t sym_magnitude(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }
static inline void sym_print_i64(int64_t v, struct buf *b)
{
	if (v < 0)
		buf_addc(b, '-');
	buf_add_u64(b, sym_magnitude(v));
}

#endif
