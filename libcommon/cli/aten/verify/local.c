/* Step 3 of verify.h: a kernel's tensors compared with their nodes, computed from what it read. */
#include "aten/verify/verify.h"

#include <math.h>

enum { MOST_TOGETHER = 8 }; /* calls whose tensors are not nodes, before giving up on a reader */

/* In the node's own types; in float64; in float64 from numbers perturbed by the rounding of float32. */
enum precision { AS_TYPED, WIDE, PERTURBED };

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
	return k->by_node[node] || node < ref->program->n_inputs || (ref->v[node].kind != ATEN_TENSOR && ref->v[node].kind != ATEN_LIST);
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
static void perturb(struct aten_tensor *t, double eps, uint64_t seed)
{
	double *v = (double *)(void *)aten_data(t);
	const int64_t n = t->dtype == DTYPE_F64 && aten_is_contiguous(t) ? aten_numel(t) : 0;
	for (int64_t i = 0; i < n; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		v[i] *= 1 + eps * ((double)(seed >> 11) * 0x1p-52 - 1);
	}
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

static bool same_bits(const double *c, const struct numbers *e)
{
	const int64_t n = e->n * (e->class == NUMBERS_COMPLEX ? 2 : 1);
	for (int64_t i = 0; i < n; i++)
		if (c[i] != e->v[i] && !(isnan(c[i]) && isnan(e->v[i])))
			return false;
	return true;
}

/* After cancellation of large numbers rounding errors are larger: eager's small error may have been luck. */
static bool ill_conditioned(struct cut *k, uint32_t node, const struct numbers_errors *c, struct numbers_errors *e, const struct numbers *d,
			    double eps)
{
	struct numbers off = {0};
	bool ill = false;
	if (compute_node(k, node, PERTURBED, &off) == 0 && off.n == d->n && off.class == d->class) {
		const struct numbers_errors noise = numbers_errors(off.v, d, eps);
		e->max = fmax(e->max, noise.max);
		e->rms = fmax(e->rms, noise.rms);
		ill = !is_wrong(c, e, eps);
	}
	numbers_release(&off);
	return ill;
}

static void tell_row(struct verify *v, uint32_t call, uint32_t write, uint32_t node, struct cut *k, const double *c, struct numbers *e,
		     struct numbers *d)
{
	struct verify_row *row = &v->row[call];
	const double eps = numbers_eps(v->o->write[write].v->meta.dtype);
	const struct numbers_errors ce = numbers_errors(c, d, eps);
	struct numbers_errors ee = numbers_errors(e->v, d, eps);
	if (e->class == NUMBERS_INT ? integers_wrong(c, e, d) : is_wrong(&ce, &ee, eps) && !ill_conditioned(k, node, &ce, &ee, d, eps)) {
		struct verify_finding *f = verify_add(v, call, write, node);
		f->subtle = true;
		f->others = k->first < call ? k->first : NONE;
		f->compiled_ulp = ce.max;
		f->eager_ulp = ee.max;
		verify_compare(f, c, d, 0);
		row->what = VERIFY_WRONG;
		row->node = node;
		return;
	}
	if (row->what == VERIFY_OPEN)
		return;
	row->what = same_bits(c, e) && row->what == VERIFY_EQUAL ? VERIFY_EQUAL : VERIFY_ROUNDING;
	row->node = node;
	row->compiled_ulp = fmax(row->compiled_ulp, e->class == NUMBERS_INT ? 0 : ce.max);
	row->eager_ulp = fmax(row->eager_ulp, e->class == NUMBERS_INT ? 0 : ee.max);
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
	const struct verify_tensor *t = &v->write[write];
	const struct verify_match *m = computed(k, t);
	const struct numbers *b = &v->o->write[write].x;
	struct numbers e, d = {0};
	if (!m)
		return;
	if (compute_node(k, m->node, AS_TYPED, &e) == 0 && compute_node(k, m->node, WIDE, &d) == 0 && e.n == b->n && d.n == b->n &&
	    e.class == b->class && d.class == e.class) {
		double *c = xcalloc((size_t)b->n * 2 + 1, sizeof(*c));
		numbers_lay(b, &e, &m->l, c);
		tell_row(v, call, write, m->node, k, c, &e, &d);
		free(c);
	} else {
		row_open(v, call, "its node cannot be computed from what it read");
	}
	numbers_release(&e);
	numbers_release(&d);
}

/* Is everything computed from a tensor right? Each reader's tensors are nodes, or recursively indirectly verified. */
static bool right_by_effect(const struct verify *v, uint32_t write, uint8_t *known)
{
	const struct verify_tensor *t = &v->write[write];
	const struct observed_tensor *w = &v->o->write[write];
	bool right = true;
	if (t->expect != NONE && !t->empty && !t->accused && !verify_holds(t, t->expect))
		return false;
	if (t->empty || t->derived != NONE || t->accused)
		return true;
	if (known[write])
		return known[write] == 1;
	known[write] = 1; /* a cycle does not count */
	for (uint32_t k = 0; k < w->n_links && right; k++) {
		const uint32_t r = v->o->link[w->link + k], c = v->o->read[r].call;
		if (c == NONE) {
			right = v->read[r].empty || (v->read[r].expect != NONE && verify_output_right(v, r));
			continue;
		}
		for (uint32_t i = v->o->call[c].write; right && i < v->o->call[c].write + v->o->call[c].n_writes; i++)
			right = v->write[i].n || right_by_effect(v, i, known);
	}
	known[write] = right ? 1 : 2;
	return right;
}

static void check_call(struct verify *v, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	struct verify_row *row = &v->row[call];
	struct cut k;
	bool any = false, effect = false;
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
		const struct verify_tensor *t = &v->write[w];
		any |= t->n > 0;
		if (!t->n && !right_by_effect(v, w, v->effect))
			row_open(v, call, "what it writes matches no value of the graph, nor does what is computed from it");
		effect |= !t->n && !t->empty && t->derived == NONE;
		if (t->n && k.open)
			effect = true; /* to the precision of step 1 */
		else if (t->n)
			check_write(v, call, w, &k);
	}
	if (row->what <= VERIFY_ROUNDING && ((effect && !any) || (effect && k.open)))
		row->what = VERIFY_EFFECT;
	cut_end(&k);
}

void verify_local(struct verify *v)
{
	if (!v->ref->run_wide)
		reference_wide(v->ref);
	for (uint32_t c = 0; c < v->o->n_calls; c++)
		check_call(v, c);
}
