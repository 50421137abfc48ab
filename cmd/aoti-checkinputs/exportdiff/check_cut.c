/* check_cut.c - sizes truncated by a floor division: an input has 2099 elements, and what is computed from it elementwise has
 * 100*(n//100), 2000. */
#include "model/check/check_part.h"

#include <inttypes.h>

#define MAX_DIVISORS 8
#define MAX_SYMBOLS 8
#define MAX_DIVISOR (1 << 20)
#define MAX_WORK (1u << 24) /* arguments examined, for all inputs together */

/* A value whose sizes contain divisions: the divisors, and the symbols they may divide. */
struct divided {
	uint32_t value;
	int64_t by[MAX_DIVISORS];
	size_t n_by;
};

struct cut {
	const struct contract *c;
	const struct symbind *env;
	struct symbind at; /* a copy of env, with another value for the symbol being examined */
	struct divided *v;
	uint32_t n, cap;
	uint32_t *divided_at; /* value -> index into v + 1 */
};

static bool numel_at(const struct contract *c, int n_dim, const struct contract_dim *dim, const struct symbind *env, int64_t *numel)
{
	int64_t all = 1, size;
	if (n_dim < 0)
		return false;
	for (int d = 0; d < n_dim; d++)
		if (symsize_eval(&c->tab, dim[d].size, env, &size, NULL) < 0 || size < 0 || __builtin_mul_overflow(all, size, &all))
			return false;
	*numel = all;
	return true;
}

static bool value_at(struct cut *k, uint32_t value, int64_t *numel)
{
	const struct contract_value *v = &k->c->value[value];
	return numel_at(k->c, v->n_dim, v->dim, &k->at, numel);
}

static bool input_at(struct cut *k, uint32_t input, int64_t *numel)
{
	const struct contract_input *in = &k->c->input[input];
	return in->rank_known && numel_at(k->c, in->n_dim, in->dim, &k->at, numel);
}

/* ---- which values have sizes with divisions ---- */

static void take_divisors(struct divided *d, struct slice text)
{
	for (const char *at; (at = slice_find(text, "//"));) {
		size_t n = 0, left = (size_t)(text.p + text.n - at) - 2;
		uint64_t by;
		text = slice_of(at + 2, left);
		while (n < left && is_digit(text.p[n]))
			n++;
		if (!slice_u64(slice_of(text.p, n), &by) || by < 2 || by > MAX_DIVISOR)
			continue;
		size_t i = 0;
		while (i < d->n_by && d->by[i] != (int64_t)by)
			i++;
		if (i == d->n_by && d->n_by < MAX_DIVISORS)
			d->by[d->n_by++] = (int64_t)by;
	}
}

static void find_divided(struct cut *k)
{
	LOCAL_BUF b = {0};
	k->divided_at = xcalloc((size_t)k->c->n_values + 1, sizeof(*k->divided_at));
	for (uint32_t i = 0; i < k->c->n_values; i++) {
		const struct contract_value *v = &k->c->value[i];
		struct divided d = {.value = i};
		for (int n = 0; n < v->n_dim; n++) {
			if (symsize_is_int(v->dim[n].size))
				continue;
			buf_reset(&b);
			symsize_print(&k->c->tab, v->dim[n].size, &b);
			take_divisors(&d, buf_slice(&b));
		}
		if (!d.n_by)
			continue;
		PUSH_TO(k->v, k->n, k->cap) = d;
		k->divided_at[i] = k->n;
	}
}

/* ---- does it leave out elements of this input? ---- */

struct place {
	uint32_t symbol;
	int64_t now, below, above; /* its value, and the closest ones at which nothing is left out */
	int64_t elements, kept;
};

/* If the division has no remainder, the value has as many elements as the input, below and above this size; here it has fewer. */
static bool cut_by(struct cut *k, uint32_t input, uint32_t value, int64_t by, struct place *p)
{
	int64_t low = p->now - by < 0 ? 0 : p->now - by, high = p->now, in, out;
	while (low < high) { /* the largest size at which the input has at most as many elements as the value has now */
		int64_t mid = low + (high - low + 1) / 2;
		symbind_set(&k->at, p->symbol, mid);
		if (!input_at(k, input, &in))
			return false;
		if (in <= p->kept)
			low = mid;
		else
			high = mid - 1;
	}
	for (int turn = 0; turn < 3; turn++) {
		symbind_set(&k->at, p->symbol, low + turn * by);
		if (!input_at(k, input, &in) || !value_at(k, value, &out) || in != out || (!turn && in != p->kept))
			return false;
	}
	p->below = low;
	p->above = low + by;
	return low < p->now && p->now < p->above;
}

static bool is_cut(struct cut *k, uint32_t input, const struct divided *d, struct place *p)
{
	uint32_t ids[MAX_SYMBOLS];
	const struct contract_value *v = &k->c->value[d->value];
	bool found = false;
	if (!input_at(k, input, &p->elements) || !value_at(k, d->value, &p->kept) || p->kept < 1 || p->kept >= p->elements)
		return false;
	for (int n = 0; n < v->n_dim && !found; n++) {
		size_t n_ids = symsize_symbols(&k->c->tab, v->dim[n].size, ids, MAX_SYMBOLS);
		for (size_t i = 0; i < n_ids && i < MAX_SYMBOLS && !found; i++) {
			p->symbol = ids[i];
			if (!symbind_get(k->env, ids[i], &p->now))
				continue;
			for (size_t j = 0; j < d->n_by && !found; j++)
				found = cut_by(k, input, d->value, d->by[j], p);
			symbind_set(&k->at, ids[i], p->now);
		}
	}
	return found;
}

/* ---- the path from an input ---- */

static bool same_count(const struct contract *c, uint32_t input, uint32_t value)
{
	struct symsize a = symsize_int(1), b = a;
	struct symtab *tab = (struct symtab *)&c->tab; /* multiplying adds new expressions; existing ones are not changed */
	const struct contract_value *v = &c->value[value];
	const struct contract_input *in = &c->input[input];
	for (int d = 0; d < in->n_dim; d++)
		if (symsize_mul(tab, a, in->dim[d].size, &a, NULL) < 0)
			return false;
	for (int d = 0; d < v->n_dim; d++)
		if (symsize_mul(tab, b, v->dim[d].size, &b, NULL) < 0)
			return false;
	return v->n_dim >= 0 && symsize_eq(a, b);
}

/* A kernel's name lists its operators (config.cpp.descriptive_names): these use some elements and drop others. */
static bool drops_on_purpose(struct slice kernel)
{
	static const char *const names[] = {"_unfold", "_slice", "_pool", "_narrow", "_select", "_split", "_chunk"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_find(kernel, names[i]))
			return true;
	return false;
}

/* Follows views of the input, and what generated kernels compute from it or from an image that has all its elements. Operators are
 * different: a convolution that drops the last column works as intended. */
static uint32_t follow(struct cut *k, uint32_t input, bool *whole, struct place *p)
{
	const struct contract *c = k->c;
	memset(whole, 0, (size_t)c->n_storages + 1);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct contract_value *v = &c->value[k->v[i].value];
		if (v->kind == VALUE_INPUT && v->index == input && is_cut(k, input, &k->v[i], p))
			return k->v[i].value;
	}
	for (uint32_t i = 0; i < c->n_calls; i++) {
		const struct contract_arg *a = &c->arg[c->call[i].arg];
		bool reads = false;
		for (uint32_t j = 0; j < c->call[i].n_args && c->call[i].kind == CALL_KERNEL; j++) {
			const struct contract_value *v = a[j].value == NONE || a[j].role == ARG_OUT ? NULL : &c->value[a[j].value];
			reads |= v && ((v->kind == VALUE_INPUT && v->index == input) || (v->storage != NONE && whole[v->storage]));
		}
		for (uint32_t j = 0; j < c->call[i].n_args; j++) {
			if (a[j].value == NONE || (a[j].role != ARG_OUT && a[j].role != ARG_INOUT))
				continue;
			uint32_t at = k->divided_at[a[j].value], storage = c->value[a[j].value].storage;
			if (reads && at && !drops_on_purpose(c->call[i].name) && is_cut(k, input, &k->v[at - 1], p))
				return a[j].value;
			if (storage != NONE)
				whole[storage] = reads && same_count(c, input, a[j].value);
		}
	}
	return NONE;
}

/* ---- as text ---- */

/* "output 0 is [100, s77//100 = 20]" */
static struct slice value_text(struct check *k, const struct cut *cut, uint32_t value)
{
	const struct contract *c = cut->c;
	const struct contract_value *v = &c->value[value];
	LOCAL_BUF b = {0};
	uint32_t o = 0;
	while (o < c->n_outputs && c->output[o].value != value)
		o++;
	if (o < c->n_outputs)
		buf_addf(&b, "output %u is [", o);
	else
		buf_addf(&b, "%.*s, which is computed from it, is [", SL(v->name));
	for (int d = 0; d < v->n_dim; d++) {
		int64_t size = 0;
		buf_adds(&b, d ? ", " : "");
		size_t from = b.len;
		symsize_print(&c->tab, v->dim[d].size, &b);
		if (b.p[from] == '(' && !memchr(b.p + from + 1, '(', b.len - from - 1) && b.p[b.len - 1] == ')') { /* (s77//100) */
			memmove(b.p + from, b.p + from + 1, b.len - from - 1);
			buf_cut(&b, b.len - 2);
		}
		if (!symsize_is_int(v->dim[d].size) && symsize_eval(&c->tab, v->dim[d].size, cut->env, &size, NULL) == 0)
			buf_addf(&b, " = %" PRId64, size);
	}
	buf_addc(&b, ']');
	return check_keep(k, "%s", buf_str(&b));
}

static void say_cut(struct check *k, struct cut *cut, uint32_t input, uint32_t value, const struct place *p, const struct tensor_meta *m)
{
	const struct contract *c = cut->c;
	int dim = -1;
	for (int d = 0; d < c->input[input].n_dim; d++) {
		uint32_t id;
		int64_t mul, add;
		const struct contract_dim *of = &c->input[input].dim[d];
		if (dim < 0 && !symsize_is_int(of->size) && symsize_linear(&c->tab, of->size, &id, &mul, &add) && id == p->symbol)
			dim = d;
	}
	struct check_finding *f = check_found(k, CHECK_CUT, input, dim);
	struct slice is = value_text(k, cut, value), name = symtab_name(&c->tab, p->symbol);
	f->expected = check_keep(k, "%.*s = %" PRId64 " or %" PRId64 ", so that no element is dropped", SL(name), p->below, p->above);
	f->given = dim < 0 ? check_keep(k, "%.*s = %" PRId64, SL(name), p->now) : check_keep(k, "%" PRId64, m->size[dim]);
	f->fix = check_keep(
	    k, "%.*s: %" PRId64 " of %" PRId64 " elements are silently dropped; correct only if the model drops the remainder on purpose",
	    SL(is), p->elements - p->kept, p->elements);
}

void check_cuts(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n)
{
	OWNED(symbind_release) struct symbind env = {0};
	struct cut cut = {.c = c, .env = &env};
	size_t both = n < c->n_inputs ? n : c->n_inputs;
	contract_bind(c, in, both, &env);
	for (uint32_t i = 0; i < env.n; i++)
		if (env.bound[i])
			symbind_set(&cut.at, i, env.value[i]);
	find_divided(&cut);
	FREED bool *whole = xcalloc((size_t)c->n_storages + 1, sizeof(*whole));
	uint64_t work = (uint64_t)c->n_args + c->n_calls + cut.n + 1;
	for (uint32_t i = 0; cut.n && i < both && i * work < MAX_WORK; i++) {
		struct place p;
		uint32_t value = in[i].n_dim > 0 && in[i].n_dim == c->input[i].n_dim ? follow(&cut, i, whole, &p) : NONE;
		if (value != NONE)
			say_cut(k, &cut, i, value, &p, &in[i]);
	}
	free(cut.v);
	free(cut.divided_at);
	symbind_release(&cut.at);
}
