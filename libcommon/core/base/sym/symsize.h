/* symsize.h - sizes that may be symbolic: 8, s77, 2*s0 + 1, (s0//2), Max(1, u0). The one type for them in all tools.
 *
 *     struct symtab tab = {0};
 *     struct symsize n, m;
 *     if (symsize_parse(&tab, SLICE("2*(s0 + 1)"), &n, &err) < 0 ||
 *         symsize_parse(&tab, SLICE("s0*2 + 2"), &m, &err) < 0)
 *         ...
 *     symsize_eq(n, m);                            // true: both are 2*s0 + 2
 *     symsize_print(&tab, n, &b);                  // "2*s0 + 2"
 *     struct symbind env = {0};
 *     symbind_set(&env, symtab_symbol(&tab, SLICE("s0")), 8);
 *     symsize_eval(&tab, n, &env, &value, &err);   // 18
 *     symbind_release(&env);
 *     symtab_release(&tab);
 *
 * It reads what sympy and torch write (str of a SymInt: torch/utils/_sympy/functions.py, 2.0 to 2.13), what
 * graphs hold (floordiv, torch.sym_max) and what Inductor writes in C++ (12L*s77, c10::div_floor_integer(...),
 * static_cast<int64_t>(...)): + - * / // % **, comparisons, & and |, FloorDiv CleanDiv CeilDiv Mod PythonMod
 * ModularIndexing Max Min Abs PowByNatural IntTrueDiv LShift RShift floor ceiling TruncToInt Eq Ne Lt Le Gt Ge And Or
 * Not Identity. A call of anything else (Piecewise, ToFloat, ...), a number with a point, and infinities are opaque:
 * kept as text, equal only to the same text, without a value. A comparison is 0 or 1.
 *
 * Invariants
 *  - A symsize is 16 bytes by value; a plain integer needs no table. Expressions live in the symtab that made them and
 *    are freed with it; do not mix tables. Within one table equal normal forms are equal values, so symsize_eq is cheap.
 *  - Normal form: sums of products with int64 coefficients, multiplied out, over symbols and calls whose arguments are
 *    normal themselves. Division follows Python (floor). Used identities: (4*s0 + s1)//4 = s0 + s1//4,
 *    (a*c)//(b*c) = a//b (a divisor is never 0), (a//b)//c = a//(b*c), Mod(4*s0 + s1, 4) = Mod(s1, 4), nested Max and
 *    Min, ModularIndexing(x, d, m) = Mod(x//d, m). PythonMod and Mod are one, as are CleanDiv and FloorDiv. They hold
 *    for integers only and are left alone beside floats (zf0), quotients and opaque parts. Values that are always equal
 *    but need more than that (Max(2, s0) where s0 >= 2) are different here.
 *  - Printing a symsize and parsing the text gives the same symsize (unless symsize_opaque was given text that does not
 *    parse); the order of terms is sympy's in the common cases and does not depend on what else the table holds.
 *  - No recursion on the input's depth in parsing; expressions are bounded (SYMSIZE_MAX_*), and so is all work on them.
 *
 * Failure: -1 and err (status EXIT_INPUT) for text that is not an expression (with its offset), numbers beyond int64
 * anywhere, an expression beyond the bounds, and in evaluation an unbound symbol, an opaque part, division by zero or with a remainder.
 */
#ifndef PT2_SYMSIZE_H
#define PT2_SYMSIZE_H
#include "base/buf.h"
#include "base/hash.h"

#define SYMSIZE_MAX_TEXT 65536 /* bytes of one expression */
#define SYMSIZE_MAX_DEPTH 64   /* nested calls and brackets */
#define SYMSIZE_MAX_TERMS 512  /* of one sum */
#define SYMSIZE_MAX_FACTORS 12 /* different ones in one product */
#define SYMSIZE_MAX_POWER 64
#define SYMSIZE_MAX_ARGS 64
#define SYMSIZE_MAX_WEIGHT 16384 /* symbols and calls when written out */

struct symtab {
	struct intern names; /* of symbols, and opaque texts */
	struct intern nodes;
};

struct symsize {
	int64_t k;     /* the integer, when expr is 0 */
	uint32_t expr; /* node + 1 */
	uint32_t zero; /* no padding: arrays of symsize can be hashed and compared as bytes */
};

void symtab_release(struct symtab *t);
/* A symbol's id (also its index in a symbind), created if needed; its name. */
uint32_t symtab_symbol(struct symtab *t, struct slice name);
struct slice symtab_name(const struct symtab *t, uint32_t symbol);

/* Python's a // b; b is not 0, and not INT64_MIN by -1. */
static inline int64_t sym_floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static inline struct symsize symsize_int(int64_t k) { return (struct symsize){k, 0, 0}; }
struct symsize symsize_symbol(struct symtab *t, struct slice name);
/* Any text at all, as one opaque atom: for text that does not parse. */
struct symsize symsize_opaque(struct symtab *t, struct slice text);
int symsize_parse(struct symtab *t, struct slice text, struct symsize *out, struct err *err);
/* The same, but text that does not parse becomes opaque. */
struct symsize symsize_parse_any(struct symtab *t, struct slice text);
void symsize_print(const struct symtab *t, struct symsize s, struct buf *b);

static inline bool symsize_is_int(struct symsize s) { return !s.expr; }
static inline bool symsize_eq(struct symsize a, struct symsize b) { return a.k == b.k && a.expr == b.expr; }
/* A total order, by structure and names (not by value): for qsort. Integers come first. */
int symsize_cmp(const struct symtab *t, struct symsize a, struct symsize b);

int symsize_add(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err);
int symsize_sub(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err);
int symsize_mul(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err);
int symsize_floordiv(struct symtab *t, struct symsize a, struct symsize b, struct symsize *out, struct err *err);

/* The ids of the symbols in s, each once, sorted by name; at most cap are written. Returns how many there are. */
size_t symsize_symbols(const struct symtab *t, struct symsize s, uint32_t *ids, size_t cap);
/* Is any part opaque? If so, it has no value. */
bool symsize_has_opaque(const struct symtab *t, struct symsize s);
/* Is it mul*symbol + add (mul not 0)? Then an observed size gives the symbol: (seen - add) / mul. */
bool symsize_linear(const struct symtab *t, struct symsize s, uint32_t *symbol, int64_t *mul, int64_t *add);

/* Values of symbols. */
struct symbind {
	int64_t *value;
	bool *bound;
	size_t n;
};
void symbind_set(struct symbind *env, uint32_t symbol, int64_t value);
bool symbind_get(const struct symbind *env, uint32_t symbol, int64_t *value);
void symbind_release(struct symbind *env);
int symsize_eval(const struct symtab *t, struct symsize s, const struct symbind *env, int64_t *out, struct err *err);

/* Kinds of symbols, by torch's naming (torch/utils/_sympy/symbol.py): s backed size, u unbacked, zf and zuf their floats. */
enum sym_kind { SYM_OTHER, SYM_BACKED, SYM_UNBACKED, SYM_FLOAT, SYM_UNBACKED_FLOAT };
enum sym_kind sym_kind(struct slice name);

/* A range of integers, both ends included; an infinite end has value 0. */
struct symrange {
	int64_t lo, hi;
	bool lo_inf, hi_inf;
};
#define SYMRANGE_ALL ((struct symrange){0, 0, true, true})
/* VR[2, int_oo], [2, 64], [-int_oo, int_oo], VR[2, inf], ValueRanges(lower=2, upper=64, is_bool=False); True is 1. Non-integer ends
 * (VR[0.5, 1.0]) and an empty range are failures. */
int symrange_parse(struct slice text, struct symrange *out, struct err *err);
void symrange_print(struct symrange r, struct buf *b); /* "[2, int_oo]" */
static inline bool symrange_contains(struct symrange r, int64_t v) { return (r.lo_inf || v >= r.lo) && (r.hi_inf || v <= r.hi); }
bool symrange_eq(struct symrange a, struct symrange b);
/* False if they have nothing in common; *out is then unchanged. */
bool symrange_intersect(struct symrange a, struct symrange b, struct symrange *out);

#endif
