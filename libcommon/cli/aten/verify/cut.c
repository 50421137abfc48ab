/* A part of the graph, from the tensors that a call read to a node: in its own types, in float64, and as rounding could have done it. */
#include "aten/verify/cut.h"

#include <math.h>

static size_t words_of(const struct cut *k) { return k->v->ref->n / 64 + 1; }

static void make_tables(struct cut *k)
{
	const uint32_t n = k->v->ref->n;
	k->by_node = xcalloc(n + 1, sizeof(*k->by_node));
	k->layout = xcalloc(n + 1, sizeof(*k->layout));
	k->value = xcalloc(n + 1, sizeof(*k->value));
	k->state = xcalloc(n + 1, 1);
	k->touched = xcalloc(words_of(k), sizeof(*k->touched));
	k->put = xcalloc(words_of(k), sizeof(*k->put));
}

static void free_tables(struct cut *k)
{
	free(k->by_node);
	free(k->layout);
	free(k->value);
	free(k->state);
	free(k->touched);
	free(k->put);
}

/* Tables as long as the graph, for every call: of a large graph they would be fresh pages each time. */
void cut_begin(struct cut *k, struct verify *v, uint32_t call)
{
	struct cut *room = v->room;
	*k = (struct cut){.v = v, .first = call};
	if (room && !room->lent) {
		*k = *room;
		k->first = call;
		k->lent = room->lent = true;
		return;
	}
	make_tables(k);
	if (room)
		return;
	v->room = xcalloc(1, sizeof(*v->room));
	*v->room = *k;
	k->lent = v->room->lent = true;
}

/* The next one after `at` (-1: the first) that is set; NONE. */
static uint32_t next_bit(const uint64_t *set, size_t words, int64_t at)
{
	size_t w = (size_t)(at + 1) / 64;
	uint64_t bits = w < words ? set[w] & ~UINT64_C(0) << (at + 1) % 64 : 0;
	while (!bits && ++w < words)
		bits = set[w];
	return bits ? (uint32_t)(w * 64 + (size_t)__builtin_ctzll(bits)) : NONE;
}

static uint32_t next_touched(const struct cut *k, int64_t at) { return next_bit(k->touched, words_of(k), at); }

void cut_put(struct cut *k, uint32_t node, const struct observed_tensor *x, const struct layout *l)
{
	k->by_node[node] = x;
	k->layout[node] = l;
	k->put[node / 64] |= UINT64_C(1) << node % 64;
}

void cut_clear(struct cut *k)
{
	const size_t words = words_of(k);
	for (uint32_t i = next_bit(k->put, words, -1); i != NONE; i = next_bit(k->put, words, i)) {
		k->by_node[i] = NULL;
		k->layout[i] = NULL;
	}
	memset(k->put, 0, words * sizeof(*k->put));
}

static void touch(struct cut *k, uint32_t node)
{
	k->state[node] = 1;
	k->touched[node / 64] |= UINT64_C(1) << node % 64;
}

static void forget_values(struct cut *k)
{
	for (uint32_t i = next_touched(k, -1); i != NONE; i = next_touched(k, i)) {
		if (k->state[i] == 2)
			aten_value_release(&k->value[i]);
		k->state[i] = 0;
		k->touched[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

void cut_end(struct cut *k)
{
	forget_values(k);
	if (!k->lent) {
		free_tables(k);
		return;
	}
	cut_clear(k);
	k->v->room->lent = false;
}

void cut_room_release(struct verify *v)
{
	if (v->room)
		free_tables(v->room);
	free(v->room);
	v->room = NULL;
}

double cut_nearest(const struct verify *v, const struct verify_tensor *t, const struct observed_tensor *x)
{
	const struct numbers *b = observed_numbers(v->o, x);
	double least = INFINITY;
	for (uint32_t i = 0; i < t->n; i++)
		least = t->m[i].off < least ? t->m[i].off : least;
	return 4 * least + 2 * numbers_eps(b->dtype) * b->max;
}

void cut_read(struct cut *k, uint32_t read)
{
	const struct observed_tensor *x = &k->v->o->read[read];
	const struct verify_tensor *t = &k->v->read[read];
	const double near = cut_nearest(k->v, t, x);
	for (uint32_t i = 0; i < t->n; i++)
		if (!k->by_node[t->m[i].node] && t->m[i].off <= near)
			cut_put(k, t->m[i].node, x, &t->m[i].l);
}

/* ---- a run starting at the cut ---- */

/* Where values lie, after something in place (functionalize.h: "view_layout"): computed from what it is a view of, never by itself. */
static bool is_layout(const struct reference *ref, uint32_t node)
{
	const struct graph *g = ref->g;
	return ref->program->functional.node && (slice_is(graph_text(g, g->node[ref->first + node].target), "pt2.after") ||
						 slice_find(graph_name(g, ref->first + node), "_layout"));
}

static bool is_leaf(const struct cut *k, uint32_t node)
{
	const struct reference *ref = k->v->ref;
	if (is_layout(ref, node))
		return false;
	return k->by_node[node] || k->v->taken[node] || node < ref->program->n_inputs ||
	       (ref->v[node].kind != ATEN_TENSOR && ref->v[node].kind != ATEN_LIST);
}

static bool want_operand(void *user, uint32_t operand)
{
	struct cut *k = user;
	touch(k, operand - k->v->ref->first);
	return true;
}

/* The last node before `at` that is touched; NONE. */
static uint32_t last_touched(const struct cut *k, uint32_t at)
{
	size_t w = at / 64;
	uint64_t bits = k->touched[w] & ((UINT64_C(1) << at % 64) - 1);
	while (!bits && w-- > 0)
		bits = k->touched[w];
	return bits ? (uint32_t)(w * 64 + 63 - (size_t)__builtin_clzll(bits)) : NONE;
}

/* Marks what a node needs. False: part of that is unknown. */
static bool mark(struct cut *k, uint32_t node)
{
	const struct reference *ref = k->v->ref;
	touch(k, node);
	k->inputs = false;
	for (uint32_t i = node; i != NONE; i = last_touched(k, i)) { /* operands come before it */
		if (!ref->known[i])
			return false;
		if (i != node && i < ref->program->n_inputs && ref->program->input[i].from == PROGRAM_INPUT && !k->by_node[i] &&
		    ref->v[i].kind == ATEN_TENSOR)
			k->inputs = true;
		if (i == node || !is_leaf(k, i))
			graph_operands(ref->g, ref->first + i, want_operand, k);
	}
	return true;
}

/* Numbers in float64 as rounding could have produced them. */
static double next_unit(uint64_t *seed) /* -1 to 1 */
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(*seed >> 11) * 0x1p-52 - 1;
}

static void perturb(struct aten_tensor *t, double eps, uint64_t seed)
{
	double *v = (double *)(void *)aten_data(t);
	const int64_t n = t->dtype == DTYPE_F64 && aten_is_contiguous(t) ? aten_numel(t) : 0;
	for (int64_t i = 0; i < n; i++)
		v[i] *= 1 + eps * next_unit(&seed);
}

static int to_wide(struct cut *k, uint32_t node, const struct aten_value *v, enum precision p, struct aten_value *out, struct err *err)
{
	struct aten_value own = *v;
	if (p == PERTURBED && v->kind == ATEN_TENSOR && v->tensor->dtype == DTYPE_F64) { /* a copy: it would be the reference's own */
		const struct numbers *x = k->by_node[node] ? NULL : reference_numbers(k->v->ref, node);
		struct aten_tensor *t = x ? reference_tensor(k->v->ref, node, x->v, err) : NULL;
		own = t ? aten_of(t) : own;
	}
	if (interp_to_double(&own, NULL, out, err) < 0)
		return -1;
	if (own.kind == ATEN_TENSOR && own.tensor != v->tensor)
		aten_release(own.tensor);
	if (p == PERTURBED && out->kind == ATEN_TENSOR && v->kind == ATEN_TENSOR && aten_is_float(v->tensor->dtype))
		perturb(out->tensor, v->tensor->dtype == DTYPE_F64 ? 0x1p-52 : 0x1p-23, node + 1);
	return 0;
}

/* The numbers themselves, as a tensor of the node's form: no copy. NULL: they have another form. */
static struct aten_tensor *wide_view(const struct numbers *x, const struct layout *l, const struct aten_tensor *like)
{
	struct aten_tensor *t = NULL;
	if (!l->identity || x->dtype != like->dtype || !aten_is_float(like->dtype) || !aten_is_contiguous(like))
		return NULL;
	ATEN_TRY("tensor") { t = aten_keep(aten_of_blob(x->v, DTYPE_F64, like->n_dim, like->size, like->stride, 0)); }
	return ATEN_END ? NULL : t;
}

/* A tensor that was read, in the form of its node. */
static int leaf(struct cut *k, uint32_t node, enum precision p, struct aten_value *out, struct err *err)
{
	struct reference *ref = k->v->ref;
	struct aten_value as_is = ref->v[node];
	struct aten_tensor *t = NULL;
	if (k->by_node[node]) {
		const struct numbers *x = observed_numbers(k->v->o, k->by_node[node]);
		const struct layout *l = k->layout[node];
		FREED double *v = NULL;
		if ((p == WIDE || p == ROUNDED) && (t = wide_view(x, l, as_is.tensor))) {
			*out = aten_of(t);
			k->state[node] = 2;
			return 0;
		}
		if (!l->identity) {
			v = xmalloc(((size_t)x->n * 2 + 1) * sizeof(*v));
			numbers_lay(x, reference_numbers(ref, node), l, v);
		}
		t = reference_tensor(ref, node, v ? v : x->v, err);
		if (!t)
			return -1;
		as_is = aten_of(t);
	}
	if (p != AS_TYPED) {
		const int r = to_wide(k, node, &as_is, p, out, err);
		aten_release(t);
		k->state[node] = 2;
		return r;
	}
	*out = as_is;
	k->state[node] = t ? 2 : 3;
	return 0;
}

/* ---- rounding on the way ---- */

/* A sum of n terms added one after the other, as generated code does it, is off by about sqrt(n) times the rounding of one addition;
 * eager's cascade of partial sums is not. Of 300 sums each of 144 to 10,000 float32 numbers, in units of 2^-23 sqrt(n) of the sum of their
 * absolute values: uniform ones and squares 0.09 in the median, 0.34 in 99 of 100, 0.46 at most; normal ones, which cancel, 0.1 at most. */
static const double per_term = 0.3;

enum sum_kind { SUM_NONE, SUM_LINEAR, SUM_PRODUCT, SUM_CONV, SUM_NORM, SUM_ALONG };

/* The operators that add many numbers, by the first letters of their names. */
static enum sum_kind sum_kind(struct slice op)
{
	static const struct {
		const char *op;
		enum sum_kind kind;
	} all[] = {{"sum", SUM_LINEAR},
		   {"mean", SUM_LINEAR},
		   {"avg_pool", SUM_LINEAR},
		   {"adaptive_avg_pool", SUM_LINEAR},
		   {"mm", SUM_PRODUCT},
		   {"bmm", SUM_PRODUCT},
		   {"addmm", SUM_PRODUCT},
		   {"baddbmm", SUM_PRODUCT},
		   {"addmv", SUM_PRODUCT},
		   {"mv", SUM_PRODUCT},
		   {"dot", SUM_PRODUCT},
		   {"matmul", SUM_PRODUCT},
		   {"linear", SUM_PRODUCT},
		   {"conv", SUM_CONV},
		   {"cumsum", SUM_ALONG},
		   {"softmax", SUM_ALONG},
		   {"_softmax", SUM_ALONG},
		   {"log_softmax", SUM_ALONG},
		   {"_log_softmax", SUM_ALONG},
		   {"batch_norm", SUM_NORM},
		   {"_batch_norm", SUM_NORM},
		   {"native_batch_norm", SUM_NORM},
		   {"_native_batch_norm", SUM_NORM},
		   {"layer_norm", SUM_NORM},
		   {"native_layer_norm", SUM_NORM},
		   {"group_norm", SUM_NORM},
		   {"native_group_norm", SUM_NORM},
		   {"instance_norm", SUM_NORM},
		   {"rms_norm", SUM_NORM},
		   {"_fused_rms_norm", SUM_NORM}};
	op = slice_behind(op, "aten.");
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (slice_starts(op, all[i].op))
			return all[i].kind;
	return SUM_NONE;
}

struct operands {
	struct cut *k;
	const struct aten_tensor *first, *second, *largest; /* floats */
};

static bool look_at_operand(void *user, uint32_t operand)
{
	struct operands *o = user;
	const struct aten_value *v = &o->k->value[operand - o->k->v->ref->first];
	if (v->kind != ATEN_TENSOR || !aten_is_float(v->tensor->dtype))
		return true;
	o->second = o->first && !o->second ? v->tensor : o->second;
	o->first = o->first ? o->first : v->tensor;
	o->largest = !o->largest || aten_numel(v->tensor) > aten_numel(o->largest) ? v->tensor : o->largest;
	return true;
}

/* How many numbers are added up for an element of a result: about, and not fewer. */
static double terms(const struct operands *o, enum sum_kind kind, const struct aten_tensor *result)
{
	const struct aten_tensor *x = o->first, *w = o->second;
	const double all = o->largest ? (double)aten_numel(o->largest) : 0, n = (double)aten_numel(result);
	int64_t most = 1;
	for (int d = 0; x && d < x->n_dim; d++)
		most = x->size[d] > most ? x->size[d] : most;
	switch (kind) {
	case SUM_PRODUCT:
	case SUM_ALONG: return (double)most;
	case SUM_CONV: return w && w->n_dim && w->size[0] ? (double)aten_numel(w) / (double)w->size[0] : 1;
	case SUM_NORM:
		return x && x->n_dim > 1 && x->size[1] ? (double)aten_numel(x) / (double)(x->size[0] < x->size[1] ? x->size[0] : x->size[1])
						       : all;
	case SUM_LINEAR:
	case SUM_NONE: break;
	}
	return n > 0 && all > n ? all / n : 1;
}

static struct aten_tensor *copy_of(const struct aten_tensor *x)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("copy")
	{
		t = aten_new(x->dtype, x->n_dim, x->size, NULL);
		aten_copy(t, x);
		aten_keep(t);
	}
	return ATEN_END ? NULL : t;
}

struct absolute {
	struct cut *k;
	struct {
		uint32_t node;
		struct aten_value was;
	} v[8];
	uint32_t n;
};

static bool make_absolute(void *user, uint32_t operand)
{
	struct absolute *a = user;
	const uint32_t node = operand - a->k->v->ref->first;
	struct aten_value *v = &a->k->value[node];
	struct aten_tensor *t =
	    v->kind == ATEN_TENSOR && v->tensor->dtype == DTYPE_F64 && a->n < ARRAY_LEN(a->v) ? copy_of(v->tensor) : NULL;
	for (uint32_t i = 0; t && i < a->n; i++)
		if (a->v[i].node == node)
			return aten_release(t), true;
	if (!t)
		return true;
	double *x = (double *)(void *)aten_data(t);
	for (int64_t i = 0; i < aten_numel(t); i++)
		x[i] = fabs(x[i]);
	a->v[a->n].node = node;
	a->v[a->n++].was = *v;
	*v = aten_of(t);
	return true;
}

/* What a sum is of the absolute values of its terms: that is what its rounding is relative to. NULL: unknown. */
static struct aten_tensor *sum_of_sizes(struct cut *k, uint32_t node)
{
	const struct reference *ref = k->v->ref;
	struct absolute a = {.k = k};
	struct aten_value was = k->value[node];
	struct aten_tensor *sum = NULL;
	struct err ignored;
	graph_operands(ref->g, ref->first + node, make_absolute, &a);
	if (interp_eval(ref->run_wide, ref->first + node, k->value, &ignored) == 0) {
		if (k->value[node].kind == ATEN_TENSOR)
			sum = copy_of(k->value[node].tensor);
		aten_value_release(&k->value[node]);
	}
	k->value[node] = was;
	while (a.n--) {
		aten_value_release(&k->value[a.v[a.n].node]);
		k->value[a.v[a.n].node] = a.v[a.n].was;
	}
	return sum;
}

/* Rounds a node's result otherwise. What float32 holds exactly was not rounded: a view, a maximum, a half. */
static struct aten_tensor *rounded(struct cut *k, uint32_t node, const struct aten_tensor *x, int dtype)
{
	const struct reference *ref = k->v->ref;
	struct operands o = {.k = k};
	uint64_t seed = node + 1 + k->seed * 7919;
	graph_operands(ref->g, ref->first + node, look_at_operand, &o);
	const enum sum_kind kind = sum_kind(graph_op_text(ref->g, ref->first + node));
	const double n = terms(&o, kind, x), eps = dtype == DTYPE_F64 ? 0x1p-52 : 0x1p-23;
	struct aten_tensor *sizes = kind == SUM_LINEAR || kind == SUM_PRODUCT || kind == SUM_CONV ? sum_of_sizes(k, node) : NULL;
	struct aten_tensor *t = copy_of(x);
	const int64_t numel = t ? aten_numel(t) : 0;
	double *v = t ? (double *)(void *)aten_data(t) : NULL, most = 0;
	const double *size = sizes && t && aten_numel(sizes) == numel ? (const double *)(const void *)aten_data(sizes) : NULL;
	for (int64_t i = 0; kind == SUM_NORM && i < numel; i++)
		most = fmax(most, isfinite(v[i]) ? fabs(v[i]) : 0);
	for (int64_t i = 0; i < numel; i++) {
		double off = n > 1 ? per_term * sqrt(n) * (size ? fabs(size[i]) : fabs(v[i]) + most) : 0;
		if (dtype == DTYPE_F64 || (double)(float)v[i] != v[i])
			off += fabs(v[i]);
		if (isfinite(v[i]))
			v[i] += eps * off * next_unit(&seed);
	}
	aten_release(sizes);
	return t;
}

static void round_value(struct cut *k, uint32_t node, struct aten_value *v, const struct aten_value *typed)
{
	if (v->kind == ATEN_LIST && typed->kind == ATEN_LIST) {
		for (uint32_t i = 0; i < v->n && i < typed->n; i++)
			if (v->item[i].kind == ATEN_TENSOR)
				round_value(k, node, &v->item[i], &typed->item[i]);
		return;
	}
	if (v->kind != ATEN_TENSOR || typed->kind != ATEN_TENSOR || v->tensor->dtype != DTYPE_F64 || !aten_is_float(typed->tensor->dtype))
		return;
	struct aten_tensor *t = rounded(k, node, v->tensor, typed->tensor->dtype);
	if (!t)
		return;
	aten_value_release(v);
	*v = aten_of(t);
}

int cut_compute(struct cut *k, uint32_t node, enum precision p, struct numbers *out)
{
	struct reference *ref = k->v->ref;
	struct err err;
	*out = (struct numbers){0};
	forget_values(k);
	if (!mark(k, node))
		return -1;
	for (uint32_t i = next_touched(k, -1); i != NONE; i = next_touched(k, i)) {
		if (i != node && is_leaf(k, i)) {
			if (leaf(k, i, p, &k->value[i], &err) < 0)
				return k->state[i] = 0, -1;
			continue;
		}
		if (interp_eval(p == AS_TYPED ? ref->run : ref->run_wide, ref->first + i, k->value, &err) < 0)
			return k->state[i] = 0, -1;
		k->state[i] = 2;
		if (p >= ROUNDED && !is_layout(ref, i))
			round_value(k, i, &k->value[i], &ref->v[i]);
	}
	return k->value[node].kind == ATEN_TENSOR ? numbers_of(out, k->value[node].tensor, &err) : -1;
}
