/* exportdiff_values.c - values for symbols and what follows from them: how expressions of two contracts are compared. */
#include "exportdiff/exportdiff_part.h"

static uint64_t mix_hash(uint64_t x)
{
	x ^= x >> 31;
	x *= 0x9e3779b97f4a7c15ull;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 32;
}

/* Picks a value in a range; if possible not 0 or 1, for which many expressions agree. */
static int64_t value_in(struct symrange r, uint64_t seed)
{
	int64_t lo = r.lo_inf || r.lo < 0 ? 0 : r.lo, hi = r.hi_inf ? INT64_MAX : r.hi;
	if (lo < 2 && hi > 2)
		lo = 2;
	if (hi < lo)
		return lo;
	uint64_t width = (uint64_t)(hi - lo);
	return lo + (int64_t)(mix_hash(seed) % (width < 1000 ? width + 1 : 1000));
}

static bool eval(const struct contract *c, struct symsize s, const struct symbind *env, int64_t *v)
{
	if (symsize_is_int(s)) {
		*v = s.k;
		return true;
	}
	return symsize_eval(&c->tab, s, env, v, NULL) == 0;
}

static void choose_values(const struct contract *c, struct symbind *env, int t)
{
	for (uint32_t i = 0; i < c->n_symbols; i++)
		symbind_set(env, c->symbol[i].symbol, value_in(c->symbol[i].range, (uint64_t)t << 32 | (i + 1)));
}

static void forward(struct compare *k, struct tensor_meta *in, int t)
{
	const struct contract *e = k->e;
	choose_values(e, &k->fe[t], t);
	for (uint32_t i = 0; i < e->n_inputs; i++) {
		in[i].n_dim = e->input[i].n_dim;
		for (int d = 0; d < in[i].n_dim; d++)
			if (!eval(e, e->input[i].dim[d].size, &k->fe[t], &in[i].size[d])) {
				/* Sizes that depend on this dim, or on a later one, have no value then. */
				in[i].n_dim = d;
				break;
			}
	}
	contract_bind(k->c, in, e->n_inputs, &k->fc[t]);
}

/* A compiled size that nothing asserts is free within its bounds. */
static int64_t compiled_size(struct compare *k, const struct symbind *env, int t, uint32_t i, int d)
{
	const struct contract_input *in = &k->c->input[i];
	int64_t v;
	struct symrange r = SYMRANGE_ALL;
	if (d < in->n_dim && contract_known(k->c, in->dim[d].size))
		return eval(k->c, in->dim[d].size, env, &v) && v >= 0 ? v : -1;
	if (in->asserted || (in->rank_known && d >= in->n_dim))
		return -1;
	if (d < in->n_dim)
		r = in->dim[d].range;
	return value_in(r, (uint64_t)t << 32 | 1ull << 63 | (uint64_t)i << 6 | (uint64_t)d);
}

/* The size of the compiled input in trial t, -1 if it has none. */
static int64_t exportdiff_size_at(const struct compare *k, int t, uint32_t input, int dim)
{
	return k->size[t][k->first[input] + (size_t)dim];
}

static void take_source(struct compare *k, uint32_t i, int d, uint32_t id, int64_t mul, int64_t add)
{
	symbind_set(&k->source, id, (int64_t)i * 256 + d);
	for (int t = 0; t < EXPORTDIFF_TRIALS; t++) {
		int64_t v = exportdiff_size_at(k, t, i, d), rest;
		if (v < 0 || __builtin_sub_overflow(v, add, &rest))
			continue;
		symbind_set(&k->be[t], id, rest / mul);
	}
}

/* The export's symbols from compiled sizes: from a dim that the compiled code knows, if any, so that the unchecked dim is the one
 * that stands out; from a dim that is the symbol alone rather than a sum. */
static void back(struct compare *k)
{
	const struct contract *e = k->e;
	for (int pass = 0; pass < 4; pass++)
		for (uint32_t i = 0; i < e->n_inputs && i < k->c->n_inputs; i++)
			for (int d = 0; d < e->input[i].n_dim; d++) {
				uint32_t id;
				int64_t mul, add, at;
				struct symsize s = e->input[i].dim[d].size;
				const struct contract_input *in = &k->c->input[i];
				if (symsize_is_int(s) || !symsize_linear(&e->tab, s, &id, &mul, &add) || mul <= 0 ||
				    symbind_get(&k->source, id, &at))
					continue;
				bool known = d < in->n_dim && contract_known(k->c, in->dim[d].size);
				if (known != (pass < 2) || (mul == 1 && !add) != !(pass & 1))
					continue;
				take_source(k, i, d, id, mul, add);
			}
}

void exportdiff_bind(struct compare *k)
{
	struct tensor_meta *in = xcalloc((size_t)k->e->n_inputs + 1, sizeof(*in));
	size_t n = 0;
	k->first = xcalloc((size_t)k->e->n_inputs + 1, sizeof(*k->first));
	for (uint32_t i = 0; i < k->e->n_inputs; i++) {
		k->first[i] = n;
		n += (size_t)k->e->input[i].n_dim;
	}
	for (int t = 0; t < EXPORTDIFF_TRIALS; t++) {
		struct symbind env = {0};
		forward(k, in, t);
		choose_values(k->c, &env, t + EXPORTDIFF_TRIALS);
		k->size[t] = xcalloc(n + 1, sizeof(*k->size[t]));
		for (uint32_t i = 0; i < k->e->n_inputs; i++)
			for (int d = 0; d < k->e->input[i].n_dim; d++)
				k->size[t][k->first[i] + (size_t)d] = i < k->c->n_inputs ? compiled_size(k, &env, t, i, d) : -1;
		symbind_release(&env);
	}
	free(in);
	back(k);
	for (uint32_t i = 0; i < k->c->n_symbols; i++) {
		const struct contract_symbol *s = &k->c->symbol[i];
		if (s->input != NONE)
			symbind_set(&k->compiled_source, s->symbol, (int64_t)s->input * 256 + s->dim);
	}
}

void exportdiff_unbind(struct compare *k)
{
	for (int t = 0; t < EXPORTDIFF_TRIALS; t++) {
		symbind_release(&k->fe[t]);
		symbind_release(&k->fc[t]);
		symbind_release(&k->be[t]);
		free(k->size[t]);
	}
	symbind_release(&k->source);
	symbind_release(&k->compiled_source);
	free(k->first);
}

bool exportdiff_differs(const struct compare *k, struct symsize a, struct symsize b)
{
	if (symsize_is_int(a) && symsize_is_int(b))
		return a.k != b.k;
	for (int t = 0; t < EXPORTDIFF_TRIALS; t++) {
		int64_t x, y;
		if (eval(k->e, a, &k->fe[t], &x) && eval(k->c, b, &k->fc[t], &y) && x != y)
			return true;
	}
	return false;
}

bool exportdiff_unchecked(const struct compare *k, uint32_t input, int dim)
{
	for (int t = 0; t < EXPORTDIFF_TRIALS; t++) {
		int64_t x, y = exportdiff_size_at(k, t, input, dim);
		if (y >= 0 && eval(k->e, k->e->input[input].dim[dim].size, &k->be[t], &x) && x != y)
			return true;
	}
	return false;
}

bool exportdiff_contiguous(const struct compare *k, const struct contract_dim *d, int n)
{
	for (int t = 0; t < EXPORTDIFF_TRIALS; t++) {
		int64_t want = 1, size, stride;
		for (int i = n - 1; i >= 0; i--) {
			if (!eval(k->c, d[i].size, &k->fc[t], &size))
				break;
			if (size > 1 && eval(k->c, d[i].stride, &k->fc[t], &stride) && stride != want)
				return false;
			if (__builtin_mul_overflow(want, size, &want))
				break;
		}
	}
	return true;
}
