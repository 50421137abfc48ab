#include "precheck.h"

static uint32_t add_expr(struct precheck *p, struct symsize s)
{
	GROW(p->expr, p->n_exprs, p->cap_exprs, 1);
	p->expr[p->n_exprs] = s;
	return ++p->n_exprs;
}

static void narrow(struct symrange r, int64_t *lo, int64_t *hi)
{
	if (!r.lo_inf && r.lo > *lo)
		*lo = r.lo;
	if (!r.hi_inf && r.hi < *hi)
		*hi = r.hi;
}

static void build_dim(struct precheck *p, const struct contract *c, const struct contract_dim *d, struct precheck_dim *to)
{
	*to = (struct precheck_dim){.lo = INT64_MIN, .hi = INT64_MAX, .stride_of_one = d->stride_checked};
	narrow(d->range, &to->lo, &to->hi);
	if (contract_known(c, d->size)) {
		if (symsize_is_int(d->size))
			narrow((struct symrange){d->size.k, d->size.k, false, false}, &to->lo, &to->hi);
		else
			to->size_expr = add_expr(p, d->size);
	}
	if (contract_known(c, d->stride)) {
		to->stride_known = symsize_is_int(d->stride);
		to->stride = d->stride.k;
		if (!to->stride_known)
			to->stride_expr = add_expr(p, d->stride);
	}
}

/* Which size determines the symbol, and how. False if there is none: then nothing that needs it passes. */
static bool build_symbol(const struct contract *c, const struct contract_symbol *s, struct precheck_symbol *to)
{
	uint32_t id;
	int64_t mul, add;
	if (s->input >= c->n_inputs || s->dim >= (uint32_t)c->input[s->input].n_dim)
		return false;
	struct symsize size = c->input[s->input].dim[s->dim].size;
	if (!symsize_linear(&c->tab, size, &id, &mul, &add) || id != s->symbol || !mul)
		return false;
	*to = (struct precheck_symbol){id, s->input, s->dim, mul, add, INT64_MIN, INT64_MAX};
	narrow(s->range, &to->lo, &to->hi);
	return true;
}

void precheck_build(struct precheck *p, const struct contract *c)
{
	*p = (struct precheck){.contract = c, .n_inputs = c->n_inputs};
	size_t dims = 0;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		dims += (size_t)c->input[i].n_dim;
	p->input = xcalloc(c->n_inputs, sizeof(*p->input));
	p->dim = xcalloc(dims, sizeof(*p->dim));
	p->symbol = xcalloc(c->n_symbols, sizeof(*p->symbol));
	uint32_t at = 0;
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		const struct contract_input *in = &c->input[i];
		p->input[i] = (struct precheck_input){in->dtype, in->device, in->n_dim, in->alignment, in->rank_known, at};
		p->aligned |= in->alignment > 1;
		for (int d = 0; d < in->n_dim; d++)
			build_dim(p, c, &in->dim[d], &p->dim[at++]);
	}
	for (uint32_t k = 0; k < c->n_symbols; k++)
		p->n_symbols += build_symbol(c, &c->symbol[k], &p->symbol[p->n_symbols]);
	p->usable = c->tab.names.n <= PRECHECK_MAX_SYMBOLS;
}

void precheck_release(struct precheck *p)
{
	free(p->input);
	free(p->dim);
	free(p->symbol);
	free(p->expr);
	*p = (struct precheck){0};
}

static bool bind_symbols(const struct precheck *p, const struct input_view *in, struct symbind *env)
{
	for (uint32_t k = 0; k < p->n_symbols; k++) {
		const struct precheck_symbol *s = &p->symbol[k];
		if (s->dim >= (uint64_t)in[s->input].n_dim)
			return false;
		int64_t v;
		if (__builtin_sub_overflow(in[s->input].size[s->dim], s->add, &v))
			return false;
		if (s->mul != 1) {
			if ((s->mul == -1 && v == INT64_MIN) || v % s->mul)
				return false;
			v /= s->mul;
		}
		if (v < s->lo || v > s->hi)
			return false;
		env->value[s->symbol] = v;
		env->bound[s->symbol] = true;
	}
	return true;
}

static bool size_is(const struct precheck *p, uint32_t expr, const struct symbind *env, int64_t given)
{
	int64_t v;
	return !symsize_eval(&p->contract->tab, p->expr[expr - 1], env, &v, NULL) && v == given;
}

static bool input_passes(const struct precheck *p, const struct precheck_input *want, const struct input_view *in,
			 const struct symbind *env)
{
	if ((want->dtype != DTYPE_NONE && in->dtype != want->dtype) || (want->device != DEVICE_NONE && in->device != want->device) ||
	    in->n_dim < want->n_dim || (want->rank_known && in->n_dim != want->n_dim))
		return false;
	const struct precheck_dim *d = &p->dim[want->dim];
	for (int32_t k = 0; k < want->n_dim; k++, d++) {
		if (in->size[k] < d->lo || in->size[k] > d->hi)
			return false;
		if (d->size_expr && !size_is(p, d->size_expr, env, in->size[k]))
			return false;
		if (in->size[k] == 1 && !d->stride_of_one)
			continue;
		if (d->stride_known && in->stride[k] != d->stride)
			return false;
		if (d->stride_expr && !size_is(p, d->stride_expr, env, in->stride[k]))
			return false;
	}
	return true;
}

bool precheck_passes(const struct precheck *p, const struct input_view *in, size_t n, bool check_alignment)
{
	if (!p->usable || n != p->n_inputs)
		return false;
	int64_t value[PRECHECK_MAX_SYMBOLS];
	bool bound[PRECHECK_MAX_SYMBOLS];
	struct symbind env = {value, bound, p->contract->tab.names.n};
	memset(bound, 0, env.n);
	if (!bind_symbols(p, in, &env))
		return false;
	for (uint32_t i = 0; i < p->n_inputs; i++)
		if (!input_passes(p, &p->input[i], &in[i], &env))
			return false;
	if (UNLIKELY(check_alignment && p->aligned))
		for (uint32_t i = 0; i < p->n_inputs; i++)
			if (p->input[i].alignment > 1 && in[i].address % (uint64_t)p->input[i].alignment)
				return false;
	return true;
}
