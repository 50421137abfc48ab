#include "model/contract/bounds.h"

void bounds_set(struct bounds *b, uint32_t symbol, struct symrange range)
{
	symbind_set(&b->at, symbol, b->n);
	PUSH_TO(b->v, b->n, b->cap) = range;
}

void bounds_release(struct bounds *b)
{
	symbind_release(&b->at);
	symbind_release(&b->env);
	free(b->v);
	*b = (struct bounds){0};
}

struct symrange bounds_symbol(const struct bounds *b, uint32_t symbol)
{
	int64_t i;
	return symbind_get(&b->at, symbol, &i) ? b->v[i] : SYMRANGE_ALL;
}

/* Is s = add + the sum of mul[i]*ids[i]? Found by subtracting what each symbol contributes at 1 instead of 0. */
static bool affine(struct bounds *b, struct symtab *tab, struct symsize s, const uint32_t *ids, size_t n, int64_t *mul, int64_t *plus)
{
	struct symbind *env = &b->env;
	struct symsize part, rest = s;
	for (size_t i = 0; i < n; i++)
		symbind_set(env, ids[i], 0);
	bool ok = symsize_eval(tab, s, env, plus, NULL) == 0;
	for (size_t i = 0; i < n && ok; i++) {
		int64_t v;
		symbind_set(env, ids[i], 1);
		ok = symsize_eval(tab, s, env, &v, NULL) == 0 && !__builtin_sub_overflow(v, *plus, &mul[i]) &&
		     symsize_mul(tab, symsize_int(mul[i]), symsize_symbol(tab, symtab_name(tab, ids[i])), &part, NULL) == 0 &&
		     symsize_sub(tab, rest, part, &rest, NULL) == 0;
		symbind_set(env, ids[i], 0);
	}
	for (size_t i = 0; i < n; i++)
		env->bound[ids[i]] = false;
	return ok && symsize_is_int(rest) && rest.k == *plus;
}

static void add_end(int64_t *sum, bool *inf, int64_t mul, int64_t end, bool end_inf)
{
	int64_t v;
	if (end_inf || __builtin_mul_overflow(mul, end, &v) || __builtin_add_overflow(*sum, v, sum))
		*inf = true;
}

struct symrange bounds_size(struct bounds *b, struct symtab *tab, struct symsize s)
{
	uint32_t ids[BOUNDS_MAX_SYMBOLS];
	int64_t mul[BOUNDS_MAX_SYMBOLS], plus;
	size_t n = symsize_symbols(tab, s, ids, BOUNDS_MAX_SYMBOLS);
	if (symsize_is_int(s) || !n || n > BOUNDS_MAX_SYMBOLS || symsize_has_opaque(tab, s) || !affine(b, tab, s, ids, n, mul, &plus))
		return SYMRANGE_ALL;
	struct symrange out = {plus, plus, false, false};
	for (size_t i = 0; i < n; i++) {
		struct symrange v = bounds_symbol(b, ids[i]);
		bool up = mul[i] >= 0;
		add_end(&out.lo, &out.lo_inf, mul[i], up ? v.lo : v.hi, up ? v.lo_inf : v.hi_inf);
		add_end(&out.hi, &out.hi_inf, mul[i], up ? v.hi : v.lo, up ? v.hi_inf : v.lo_inf);
	}
	if (out.lo_inf)
		out.lo = 0;
	if (out.hi_inf)
		out.hi = 0;
	return out;
}
