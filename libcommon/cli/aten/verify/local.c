/* Step 3 of verify.h: a kernel's tensors compared with their nodes, computed from what it read. */
#include "aten/verify/verify.h"

#include <math.h>

enum { MOST_TOGETHER = 8 }; /* calls whose tensors are not nodes, before giving up on a reader */

/* In the node's own types; in float64; in float64 with what is computed on the way perturbed as rounding could have done it, what was read
 * being exact; with what was read perturbed, too. */
enum precision { AS_TYPED, WIDE, ROUNDED, PERTURBED };

/* The nodes known at the start of a kernel, with the values that were read. */
struct cut {
	struct verify *v;
	const struct observed_tensor **by_node; /* NULL: not cut here */
	const struct layout **layout;
	uint32_t first; /* the earliest call whose reads are included */
	uint32_t n_calls;
	bool open; /* something unknown was read */
	/* A run from there: values by node, in the node's types or in float64. */
	struct aten_value *value;
	uint8_t *state; /* 1: needed; 2: computed by this run; 3: the reference's */
};

static void cut_begin(struct cut *k, struct verify *v, uint32_t call)
{
	*k = (struct cut){.v = v, .first = call};
	k->by_node = xcalloc(v->ref->n + 1, sizeof(*k->by_node));
	k->layout = xcalloc(v->ref->n + 1, sizeof(*k->layout));
	k->value = xcalloc(v->ref->n + 1, sizeof(*k->value));
	k->state = xcalloc(v->ref->n + 1, 1);
}

static void forget_values(struct cut *k)
{
	for (uint32_t i = 0; i < k->v->ref->n; i++) {
		if (k->state[i] == 2)
			aten_value_release(&k->value[i]);
		k->state[i] = 0;
	}
}

static void cut_end(struct cut *k)
{
	forget_values(k);
	free(k->by_node);
	free(k->layout);
	free(k->value);
	free(k->state);
}

/* How far off a node may be to count as the tensor's node: a tensor is within tolerance of many, so only those as close as
 * the closest, except for rounding, are used. */
static double nearest(const struct verify *v, const struct verify_tensor *t, const struct observed_tensor *x)
{
	const struct numbers *b = observed_numbers(v->o, x);
	double least = INFINITY;
	for (uint32_t i = 0; i < t->n; i++)
		least = t->m[i].off < least ? t->m[i].off : least;
	return 4 * least + 2 * numbers_eps(b->dtype) * b->max;
}

/* A tensor that is not a node: its kernel and this one are compared with the graph together, from what that kernel read. */
static void add_reads(struct cut *k, uint32_t call)
{
	const struct observed *o = k->v->o;
	const struct observed_call *c = &o->call[call];
	k->first = call < k->first ? call : k->first;
	k->open |= ++k->n_calls > MOST_TOGETHER;
	for (uint32_t r = c->read; r < c->read + c->n_reads && !k->open; r++) {
		const struct verify_tensor *t = &k->v->read[r];
		const double near = nearest(k->v, t, &o->read[r]);
		for (uint32_t i = 0; i < t->n; i++)
			if (!k->by_node[t->m[i].node] && t->m[i].off <= near) {
				k->by_node[t->m[i].node] = &o->read[r];
				k->layout[t->m[i].node] = &t->m[i].l;
			}
		if (t->n || t->empty)
			continue;
		k->open |= !o->read[r].n_links && o->read[r].v->role != CALL_ROLE_INOUT && c->n_writes == 0;
		for (uint32_t i = 0; i < o->read[r].n_links; i++) {
			const uint32_t from = o->write[o->link[o->read[r].link + i]].call;
			if (from != NONE && from < call)
				add_reads(k, from);
			else if (from == NONE)
				k->open = true;
		}
	}
}

/* ---- a run starting at the cut ---- */

static bool is_leaf(const struct cut *k, uint32_t node)
{
	const struct reference *ref = k->v->ref;
	return k->by_node[node] || k->v->taken[node] || node < ref->program->n_inputs ||
	       (ref->v[node].kind != ATEN_TENSOR && ref->v[node].kind != ATEN_LIST);
}

static bool want_operand(void *user, uint32_t operand)
{
	struct cut *k = user;
	k->state[operand - k->v->ref->first] = 1;
	return true;
}

/* Marks what a node needs. False: part of that is unknown. */
static bool mark(struct cut *k, uint32_t node)
{
	const struct reference *ref = k->v->ref;
	k->state[node] = 1;
	for (uint32_t i = node + 1; i-- > 0;) {
		if (k->state[i] != 1)
			continue;
		if (!ref->known[i])
			return false;
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

/* A tensor that was read, in the form of its node. */
static int leaf(struct cut *k, uint32_t node, enum precision p, struct aten_value *out, struct err *err)
{
	struct reference *ref = k->v->ref;
	struct aten_value as_is = ref->v[node];
	struct aten_tensor *t = NULL;
	if (k->by_node[node]) {
		const struct numbers *x = observed_numbers(k->v->o, k->by_node[node]), *n = reference_numbers(ref, node);
		double *v = xcalloc((size_t)x->n * 2 + 1, sizeof(*v));
		numbers_lay(x, n, k->layout[node], v);
		t = reference_tensor(ref, node, v, err);
		free(v);
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
	uint64_t seed = node + 1;
	graph_operands(ref->g, ref->first + node, look_at_operand, &o);
	const enum sum_kind kind = sum_kind(graph_op_text(ref->g, ref->first + node));
	const double n = terms(&o, kind, x), eps = dtype == DTYPE_F64 ? 0x1p-52 : 0x1p-23;
	struct aten_tensor *sizes = kind == SUM_LINEAR || kind == SUM_PRODUCT || kind == SUM_CONV ? sum_of_sizes(k, node) : NULL;
	struct aten_tensor *t = copy_of(x);
	double *v = t ? (double *)(void *)aten_data(t) : NULL, most = 0;
	const double *size = sizes && t && aten_numel(sizes) == aten_numel(t) ? (const double *)(const void *)aten_data(sizes) : NULL;
	for (int64_t i = 0; kind == SUM_NORM && t && i < aten_numel(t); i++)
		most = fmax(most, isfinite(v[i]) ? fabs(v[i]) : 0);
	for (int64_t i = 0; t && i < aten_numel(t); i++) {
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

static int compute_node(struct cut *k, uint32_t node, enum precision p, struct numbers *out)
{
	struct reference *ref = k->v->ref;
	struct err err;
	*out = (struct numbers){0};
	forget_values(k);
	if (!mark(k, node))
		return -1;
	for (uint32_t i = 0; i <= node; i++) {
		if (k->state[i] != 1)
			continue;
		if (i != node && is_leaf(k, i)) {
			if (leaf(k, i, p, &k->value[i], &err) < 0)
				return k->state[i] = 0, -1;
			continue;
		}
		if (interp_eval(p == AS_TYPED ? ref->run : ref->run_wide, ref->first + i, k->value, &err) < 0)
			return k->state[i] = 0, -1;
		k->state[i] = 2;
		if (p >= ROUNDED)
			round_value(k, i, &k->value[i], &ref->v[i]);
	}
	return k->value[node].kind == ATEN_TENSOR ? numbers_of(out, k->value[node].tensor, &err) : -1;
}

/* ---- errors ---- */

static bool is_wrong(const struct numbers_errors *c, const struct numbers_errors *e, double eps)
{
	const double rms = c->rms / fmax(e->rms, 0.3), max = c->max / fmax(e->max, 1);
	if (c->other && !e->other)
		return true;
	return eps > 1e-4 ? rms > 1.25 && c->max > 1 : (max > 4 && c->max > 4) || rms > 8;
}

/* Integers have no rounding: if eager in float64 gives different ones, they are ties. */
static bool integers_wrong(const double *c, const struct numbers *e, const struct numbers *d)
{
	for (int64_t i = 0; i < e->n; i++)
		if (c[i] != e->v[i] && e->v[i] == d->v[i])
			return true;
	return false;
}

/* ---- a call ---- */

static void row_open(struct verify *v, uint32_t call, const char *why)
{
	struct verify_row *row = &v->row[call];
	if (row->what == VERIFY_WRONG || row->why)
		return;
	row->what = VERIFY_OPEN;
	row->why = xstrdup(why);
}

/* Of a call that writes several tensors, the others are still verified. */
static void write_open(struct verify *v, uint32_t write, const char *why)
{
	const struct observed_tensor *w = &v->o->write[write];
	char *text = v->o->call[w->call].n_writes > 1 ? xasprintf("%.*s: %s", SLN(w->v->buffer, 100), why) : xstrdup(why);
	v->write[write].what = VERIFY_OPEN;
	row_open(v, w->call, text);
	free(text);
}

static bool same_bits(const double *c, const struct numbers *e)
{
	const int64_t n = e->n * (e->class == NUMBERS_COMPLEX ? 2 : 1);
	for (int64_t i = 0; i < n; i++)
		if (c[i] != e->v[i] && !(isnan(c[i]) && isnan(e->v[i])))
			return false;
	return true;
}

/* Is the result of numbers that are perturbed in this way as far off as the kernel's? */
static bool explained_by(struct cut *k, uint32_t node, enum precision p, const struct numbers_errors *c, const struct numbers_errors *e,
			 const struct numbers *d, double eps)
{
	struct numbers off = {0};
	bool yes = false;
	if (compute_node(k, node, p, &off) == 0 && off.n == d->n && off.class == d->class) {
		const struct numbers_errors noise = numbers_errors(off.v, d, eps),
					    both = {.max = fmax(e->max, noise.max), .rms = fmax(e->rms, noise.rms), .other = e->other};
		yes = !is_wrong(c, &both, eps);
	}
	numbers_release(&off);
	return yes;
}

/* After cancellation of large numbers and in long sums rounding errors are larger: eager's small error may have been luck. What the kernel
 * read is exact, however: if only an error there would explain the result, then it is that of a neighbouring input, and the kernel is less
 * exact than it could be, as eager shows. */
static enum {
	NOT_WRONG,
	LESS_EXACT,
	WRONG
} judge(struct cut *k, uint32_t node, const struct numbers_errors *c, const struct numbers_errors *e, const struct numbers *d, double eps)
{
	if (!is_wrong(c, e, eps) || explained_by(k, node, ROUNDED, c, e, d, eps))
		return NOT_WRONG;
	return explained_by(k, node, PERTURBED, c, e, d, eps) ? LESS_EXACT : WRONG;
}

static void tell_row(struct verify *v, uint32_t call, uint32_t write, uint32_t node, struct cut *k, const double *c, struct numbers *e,
		     struct numbers *d)
{
	struct verify_row *row = &v->row[call];
	struct verify_tensor *t = &v->write[write];
	const double eps = numbers_eps(v->o->write[write].v->meta.dtype);
	const struct numbers_errors ce = numbers_errors(c, d, eps), ee = numbers_errors(e->v, d, eps);
	const int found = e->class == NUMBERS_INT ? (integers_wrong(c, e, d) ? WRONG : NOT_WRONG) : (int)judge(k, node, &ce, &ee, d, eps);
	t->what = found == WRONG ? VERIFY_WRONG : same_bits(c, e) ? VERIFY_EQUAL : VERIFY_ROUNDING;
	if (found != NOT_WRONG) {
		struct verify_finding *f = verify_add(v, call, write, node);
		f->subtle = true;
		f->less_exact = found == LESS_EXACT;
		f->others = k->first < call ? k->first : NONE;
		f->compiled_ulp = ce.max;
		f->eager_ulp = ee.max;
		verify_compare(f, c, d, 0);
	}
	if (found == WRONG || row->node == NONE || (row->what <= VERIFY_ROUNDING && e->class != NUMBERS_INT && ce.max >= row->compiled_ulp))
		row->node = node;
	row->compiled_ulp = fmax(row->compiled_ulp, e->class == NUMBERS_INT ? 0 : ce.max);
	row->eager_ulp = fmax(row->eager_ulp, e->class == NUMBERS_INT ? 0 : ee.max);
	/* The worst of the call's tensors is the call's verdict. */
	if (found == WRONG)
		row->what = VERIFY_WRONG;
	else if (row->what == VERIFY_EQUAL)
		row->what = t->what;
}

/* Of the tensor's nodes the one that the call computed: the closest one that it did not read. NULL: it is a copy, for example of the
 * graph's inputs; a dump does not show reads of weights. */
static const struct verify_match *computed(const struct cut *k, const struct verify_tensor *t)
{
	const struct verify_match *m = NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		const bool given = k->by_node[t->m[i].node] || t->m[i].node < k->v->ref->program->n_inputs;
		if (given && t->m[i].off == 0)
			return NULL;
		if (!given && (!m || t->m[i].off < m->off))
			m = &t->m[i];
	}
	return m;
}

static void check_write(struct verify *v, uint32_t call, uint32_t write, struct cut *k)
{
	struct verify_tensor *t = &v->write[write];
	const struct verify_match *m = computed(k, t);
	const struct numbers *b = &v->o->write[write].x;
	struct numbers e, d = {0};
	t->what = VERIFY_EQUAL;
	if (!m)
		return;
	if (v->taken[m->node]) { /* as exact as TF32 */
		t->what = VERIFY_ROUNDING;
		v->row[call].node = m->node;
		return;
	}
	const bool typed = compute_node(k, m->node, AS_TYPED, &e) == 0 && e.n == b->n && e.class == b->class;
	double *c = xcalloc((size_t)b->n * 2 + 1, sizeof(*c));
	if (typed)
		numbers_lay(b, &e, &m->l, c);
	if (typed && compute_node(k, m->node, WIDE, &d) == 0 && d.n == b->n && d.class == e.class)
		tell_row(v, call, write, m->node, k, c, &e, &d);
	else if (!typed || !same_bits(c, &e)) /* an operator that refuses float64 (quantized ones) has no rounding to allow for */
		write_open(v, write, "its node cannot be computed from what it read");
	free(c);
	numbers_release(&e);
	numbers_release(&d);
}

/* What is known of a tensor that is not a node, from what is computed from it. The greatest of several counts. */
enum effect { EFFECT_UNREAD = 1, EFFECT_RIGHT, EFFECT_UNKNOWN, EFFECT_WRONG };

static enum effect worse(enum effect a, enum effect b) { return a > b ? a : b; }

/* Each reader's tensors are nodes, or recursively indirectly verified. known: by write, for those done. */
static enum effect effect_of(const struct verify *v, uint32_t write, uint8_t *known)
{
	const struct verify_tensor *t = &v->write[write];
	const struct observed_tensor *w = &v->o->write[write];
	enum effect e = t->unknown ? EFFECT_UNKNOWN : EFFECT_UNREAD;
	if (t->expect != NONE && !t->empty && !t->accused && !verify_holds(t, t->expect))
		return EFFECT_WRONG;
	if (t->empty)
		return w->x.v ? EFFECT_RIGHT : EFFECT_UNKNOWN;
	if (t->derived != NONE || t->accused)
		return EFFECT_RIGHT;
	if (known[write])
		return (enum effect)known[write];
	known[write] = EFFECT_UNREAD; /* a cycle does not count */
	for (uint32_t k = 0; k < w->n_links; k++) {
		const uint32_t r = v->o->link[w->link + k], c = v->o->read[r].call;
		if (c == NONE) {
			e = worse(e, v->read[r].expect == NONE ? EFFECT_UNKNOWN : verify_output_right(v, r) ? EFFECT_RIGHT : EFFECT_WRONG);
			continue;
		}
		if (!v->o->call[c].n_writes) /* a number that chooses what runs (a loop's condition): then the outputs tell */
			e = worse(e, v->n_differ || v->n_unknown ? EFFECT_UNKNOWN : EFFECT_RIGHT);
		for (uint32_t i = v->o->call[c].write; i < v->o->call[c].write + v->o->call[c].n_writes; i++)
			e = worse(e, v->write[i].accused ? EFFECT_UNKNOWN : v->write[i].n ? EFFECT_RIGHT : effect_of(v, i, known));
	}
	known[write] = (uint8_t)e;
	return e;
}

static void check_effect(struct verify *v, uint32_t write)
{
	switch (effect_of(v, write, v->effect)) {
	case EFFECT_WRONG: write_open(v, write, "what it writes matches no value of the graph, nor does what is computed from it"); break;
	case EFFECT_UNKNOWN:
		write_open(v, write, "what it writes matches no value of the graph, and what is computed from it is not known to be right");
		break;
	case EFFECT_RIGHT: v->write[write].what = VERIFY_EFFECT; break;
	case EFFECT_UNREAD: v->write[write].what = VERIFY_OPEN; break; /* does not matter, if the call's other tensors are verified */
	}
}

static void check_call(struct verify *v, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	struct verify_row *row = &v->row[call];
	struct cut k;
	uint32_t nodes = 0, effects = 0, internal = 0;
	if (!c->compiled) {
		row->what = row->what == VERIFY_WRONG ? VERIFY_WRONG : VERIFY_OPERATOR;
		return;
	}
	if (row->what == VERIFY_WRONG)
		return;
	cut_begin(&k, v, call);
	add_reads(&k, call);
	if (k.first < call)
		row->together = k.first;
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++) {
		struct verify_tensor *t = &v->write[w];
		if (t->n && k.open) { /* to the precision of step 1 */
			t->what = VERIFY_EFFECT;
			nodes++, effects++;
		} else if (t->n) {
			nodes++;
			check_write(v, call, w, &k);
		} else {
			check_effect(v, w);
			internal += t->what == VERIFY_EFFECT;
			effects += t->what == VERIFY_EFFECT && !t->empty && t->derived == NONE;
		}
	}
	if (row->what <= VERIFY_ROUNDING && effects && (!nodes || k.open))
		row->what = VERIFY_EFFECT;
	if (row->what <= VERIFY_ROUNDING && !nodes && !internal)
		row_open(v, call,
			 c->n_writes ? "nothing reads what it writes, and it matches no value of the graph"
				     : "no tensor that it writes was recorded");
	cut_end(&k);
}

void verify_local(struct verify *v)
{
	if (!v->ref->run_wide)
		reference_wide(v->ref);
	for (uint32_t c = 0; c < v->o->n_calls; c++)
		check_call(v, c);
}
