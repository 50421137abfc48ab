#include "aten/verify/alone.h"
#include "aten/verify/around.h"
#include "aten/verify/cut.h"
#include "base/clock.h"
#include "graph/graph_forms.h"
#include "watch/given.h"

#include <math.h>

/* ---- which nodes a read is ---- */

enum { MOST_CANDIDATES = 16, MOST_AMBIGUOUS = 3 };
struct candidates {
	const struct verify_match *m[MOST_CANDIDATES];
	uint32_t n;   /* the earliest first */
	bool decided; /* all of them are it: its kernel was called alone, or it is the only one */
	bool fewer;   /* some were ruled out */
};

/* all: also those that were ruled out. */
static struct candidates candidates(const struct alone *a, uint32_t read, bool all)
{
	const struct observed *o = a->v->o;
	const uint32_t w = o->read[read].same;
	const struct verify_tensor *t = &a->v->read[read];
	const double near = cut_nearest(a->v, t, &o->read[read]);
	struct candidates c = {0};
	for (uint32_t i = 0; i < t->n && c.n < MOST_CANDIDATES; i++) {
		const bool out = w != NONE && i < a->v->write[w].n && a->write[w].out[i];
		/* A dump does not show reads of weights, but of buffers that the model changes, by their path. */
		if (t->m[i].off > near || (reference_is_weight(a->v->ref, t->m[i].node) && !o->read[read].v->path.n))
			continue;
		c.fewer |= out;
		if (all || !out)
			c.m[c.n++] = &t->m[i];
	}
	c.decided = c.n < 2 || (w != NONE && a->write[w].tested);
	return c;
}

/* ---- which calls ---- */

static const struct observed_call *call_of(const struct alone *a, uint32_t call) { return &a->v->o->call[call]; }

/* Can it get other numbers? One number, or the same throughout, equals too many nodes to know which it is. */
static bool is_varied(const struct alone *a, uint32_t call, uint32_t read)
{
	const struct observed *o = a->v->o;
	const struct observed_call *c = call_of(a, call);
	const struct observed_tensor *r = &o->read[read];
	const struct numbers *x = observed_numbers(o, r);
	if (!x->v || x->n < 2 || x->class == NUMBERS_COMPLEX || !candidates(a, read, true).n || !r->v->file.n || !verify_varies(x))
		return false;
	for (uint32_t i = c->read; i < c->read + c->n_reads; i++)
		if (i != read && around_overlap(r, &o->read[i]) && !around_same(r, &o->read[i]))
			return false;
	for (uint32_t i = c->write; i < c->write + c->n_writes; i++)
		if (around_overlap(r, &o->write[i]) && !around_same(r, &o->write[i]))
			return false;
	return true;
}

static bool can_be_tried(const struct alone *a, uint32_t call)
{
	const struct verify *v = a->v;
	const struct observed_call *c = call_of(a, call);
	bool varied = false, known = false;
	if (!c->compiled || !c->d->returned || (v->row[call].what != VERIFY_EQUAL && v->row[call].what != VERIFY_ROUNDING))
		return false;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++) {
		if (v->o->read[r].v->arg >= 255 || (!v->read[r].n && !v->read[r].empty))
			return false;
		varied |= is_varied(a, call, r);
	}
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++) {
		if (v->o->write[w].v->meta.device != DEVICE_CPU || v->o->write[w].v->arg >= 255 ||
		    (!v->o->write[w].v->file.n && !v->write[w].empty))
			return false;
		known |= v->write[w].n > 0;
	}
	return varied && known;
}

static uint64_t size_of_call(const struct alone *a, uint32_t call)
{
	const struct observed_call *c = call_of(a, call);
	uint64_t bytes = 0;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		bytes += around_bytes(&a->v->o->read[r]);
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		bytes += around_bytes(&a->v->o->write[w]);
	return bytes;
}

struct kernel_call {
	struct slice name;
	uint32_t call;
};

static int by_name(const void *x, const void *y)
{
	const struct kernel_call *a = x, *b = y;
	const int d = memcmp(a->name.p, b->name.p, a->name.n < b->name.n ? a->name.n : b->name.n);
	return d                        ? d
	       : a->name.n != b->name.n ? (a->name.n > b->name.n) - (a->name.n < b->name.n)
					: (a->call > b->call) - (a->call < b->call);
}

static int by_call(const void *x, const void *y)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	return (a > b) - (a < b);
}

void alone_plan(struct alone *a, struct held *h, struct alone_options o)
{
	struct verify *v = &h->verify;
	const uint32_t n = v->o->n_calls;
	struct kernel_call *k = xcalloc(n + 1, sizeof(*k));
	uint32_t n_k = 0;
	uint64_t bytes = 0;
	*a = (struct alone){
	    .v = v, .o = o, .call = xcalloc(n + 1, sizeof(*a->call)), .write = xcalloc(v->o->n_writes + 1, sizeof(*a->write))};
	for (uint32_t w = 0; w < v->o->n_writes; w++)
		a->write[w].out = xcalloc(v->write[w].n + 1, sizeof(bool));
	for (uint32_t c = 0; c < n; c++)
		if (call_of(a, c)->compiled)
			k[n_k++] = (struct kernel_call){call_of(a, c)->d->name, c};
	if (n_k)
		qsort(k, n_k, sizeof(*k), by_name);
	for (uint32_t i = 0, to; i < n_k; i = to) {
		uint32_t first = NONE;
		for (to = i; to < n_k && slice_eq(k[to].name, k[i].name); to++)
			first = first == NONE && can_be_tried(a, k[to].call) ? k[to].call : first;
		a->n_kernels++;
		if (first == NONE)
			continue;
		const uint64_t own = size_of_call(a, first);
		if (o.most_bytes && own > o.most_bytes - bytes) {
			a->n_too_large++;
			continue;
		}
		bytes += own;
		a->call[a->n_calls++] = first;
	}
	if (a->n_calls)
		qsort(a->call, a->n_calls, sizeof(*a->call), by_call);
	free(k);
	reference_wide(v->ref);
}

void alone_release(struct alone *a)
{
	for (uint32_t w = 0; a->write && w < a->v->o->n_writes; w++)
		free(a->write[w].out);
	free(a->write);
	free(a->call);
	free(a->doubt);
	*a = (struct alone){0};
}

/* ---- numbers ---- */

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static double unit(uint64_t *state) { return ((double)(next_random(state) >> 11) + 0.5) * 0x1p-53; }
static double normal(uint64_t *state) { return sqrt(-2 * log(unit(state))) * cos(6.283185307179586 * unit(state)); }

struct range {
	double lo, hi;
};

static struct range ends(int dtype)
{
	switch (dtype) {
	case DTYPE_BOOL: return (struct range){0, 1};
	case DTYPE_U8: return (struct range){0, 255};
	case DTYPE_I8: return (struct range){-128, 127};
	case DTYPE_I16: return (struct range){-32768, 32767};
	case DTYPE_I32: return (struct range){-2147483648.0, 2147483647};
	default: return (struct range){-0x1p40, 0x1p40}; /* sums of them have no overflow, which C++ leaves undefined */
	}
}

/* Set 0: ties, zeros, signs; 1: extremes; 2: positive numbers. */
static double next_number(uint64_t *state, uint32_t set, int dtype, const struct range *was)
{
	static const double ties[] = {0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 3, 6, -3, 1};
	const uint64_t r = next_random(state);
	if (!aten_is_float(dtype)) {
		const struct range type = ends(dtype), of = set == 2 ? (struct range){0, fmin(15, type.hi)} : *was;
		if (set == 1 && r % 2)
			return r % 8 < 3 ? type.lo : r % 8 < 6 ? type.hi : (double)(r / 8 % 3) - (type.lo < 0);
		if (set == 1 && type.hi < 256)
			return floor(type.lo + (type.hi - type.lo + 1) * unit(state));
		return floor(of.lo + (of.hi - of.lo + 1) * unit(state));
	}
	if (set == 1) {
		const double size = pow(10, 4 * unit(state) - 2); /* 0.01 to 100: also within what 16 bits hold */
		return r % 8 == 0 ? ties[r / 8 % ARRAY_LEN(ties)] : r % 2 ? size : -size;
	}
	const double x = r % 3 == 0 ? ties[r / 3 % ARRAY_LEN(ties)] : normal(state) * (r % 5 ? 1 : 4);
	return set == 2 ? fabs(x) + (r % 4 ? 0.01 : 0) : x;
}

/* Numbers for a read, in its own order. Tensors of the same node get the same ones. */
static double *make_numbers(const struct alone *a, uint32_t read, uint32_t set)
{
	const struct numbers *x = observed_numbers(a->v->o, &a->v->o->read[read]);
	const struct candidates c = candidates(a, read, true);
	const struct verify_match *m = c.m[0];
	struct range was = {INFINITY, -INFINITY};
	uint64_t state = (a->o.seed * ALONE_SETS + set) * 1000003 + m->node;
	for (int64_t i = 0; i < x->n; i++)
		was = (struct range){fmin(was.lo, x->v[i]), fmax(was.hi, x->v[i])};
	struct numbers place = *x, *node = reference_numbers(a->v->ref, m->node);
	place.v = xcalloc((size_t)x->n + 1, sizeof(double));
	double *at = xcalloc((size_t)x->n + 1, sizeof(double)), *out = place.v;
	for (int64_t i = 0; i < x->n; i++)
		place.v[i] = (double)i;
	numbers_lay(&place, node, &m->l, at); /* at[i]: where the node's i-th element is */
	for (int64_t i = 0; i < x->n; i++)
		out[(int64_t)at[i]] = next_number(&state, set, x->dtype, &was);
	free(at);
	return out;
}

/* ---- what integers are used for ---- */

/* Is one of its operands an index, a divisor, a shift? first: that may be the first operand, too. */
static bool uses_places(struct slice op, bool *first)
{
	static const struct {
		const char *op;
		bool first;
	} ops[] = {{"index", false},   {"gather", false},       {"embedding", false},     {"scatter", false},     {"masked_scatter", false},
		   {"put", false},     {"take", false},         {"floor_divide", false},  {"remainder", false},   {"fmod", false},
		   {"div", false},     {"bitwise_left", false}, {"bitwise_right", false}, {"__lshift__", false},  {"__rshift__", false},
		   {"pow", true},      {"one_hot", true},       {"repeat", true},         {"item", true},         {"_assert", true},
		   {"nll_loss", true}, {"cross_entropy", true}, {"bucketize", true},      {"searchsorted", true}, {"gcd", true},
		   {"floordiv", true}, {"mod", true},           {"truediv", true}};
	op = slice_behind(op, slice_starts(op, "_operator.") ? "_operator." : "aten.");
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (slice_starts(op, ops[i].op)) {
			*first = ops[i].first;
			return true;
		}
	return false;
}

struct staying {
	const struct alone *a;
	const struct cut *k;
	uint32_t call, but; /* but: an operand that does not count; NONE */
	bool *stay;         /* by read of the call */
};

static bool keep_integers(void *user, uint32_t operand)
{
	const struct staying *s = user;
	const struct verify *v = s->a->v;
	const struct reference *ref = v->ref;
	const struct observed_call *c = call_of(s->a, s->call);
	const uint32_t node = operand - ref->first;
	if (operand == s->but || ref->v[node].kind != ATEN_TENSOR || aten_is_float(ref->v[node].tensor->dtype))
		return true;
	for (uint32_t r = 0; r < c->n_reads; r++)
		for (uint32_t i = 0; i < v->read[c->read + r].n; i++) {
			const uint32_t from = v->read[c->read + r].m[i].node;
			s->stay[r] |= from == node || reference_below(ref, node, from);
		}
	return true;
}

/* Behind the cut, as just computed: operands that must be in range come from which reads? */
static void keep_places(struct staying *s, uint32_t node)
{
	const struct reference *ref = s->a->v->ref;
	for (uint32_t i = 0; i <= node; i++) {
		const struct gnode *g = &ref->g->node[ref->first + i];
		bool first;
		if (s->k->state[i] != 2 || (i != node && s->k->by_node[i]) || !uses_places(graph_op_text(ref->g, ref->first + i), &first))
			continue;
		s->but = !first && g->n_args && ref->g->value[g->args].kind == GV_NODE ? ref->g->value[g->args].node : NONE;
		graph_operands(ref->g, ref->first + i, keep_integers, s);
	}
}

/* choice: bit k: of the k-th undecided read all candidates, else the earliest. Returns how many undecided ones there are. */
static uint32_t set_cut(const struct alone *a, struct cut *k, uint32_t call, const struct observed *o, uint32_t own, uint32_t choice,
			bool all)
{
	const struct observed_call *c = call_of(a, call);
	uint32_t undecided = 0;
	cut_clear(k);
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++) {
		const struct candidates found = candidates(a, r, all);
		const bool whole = all || found.decided || choice >> (undecided < MOST_AMBIGUOUS ? undecided : MOST_AMBIGUOUS - 1) & 1;
		for (uint32_t i = 0; i < found.n && (i == 0 || whole); i++)
			if (!k->by_node[found.m[i]->node])
				cut_put(k, found.m[i]->node, &o->read[own + r - c->read], &found.m[i]->l);
		undecided += !found.decided;
	}
	return undecided < MOST_AMBIGUOUS ? undecided : MOST_AMBIGUOUS;
}

/* Which of the call's integers keep what they were? */
static void find_stays(const struct alone *a, uint32_t call, bool *stay)
{
	const struct observed_call *c = call_of(a, call);
	struct cut k;
	struct staying s = {.a = a, .k = &k, .call = call, .stay = stay};
	cut_begin(&k, a->v, call);
	set_cut(a, &k, call, a->v->o, c->read, 0, false);
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		for (uint32_t i = 0; i < a->v->write[w].n; i++) {
			struct numbers x;
			if (cut_compute(&k, a->v->write[w].m[i].node, AS_TYPED, &x) == 0)
				keep_places(&s, a->v->write[w].m[i].node);
			numbers_release(&x);
		}
	cut_end(&k);
}

/* ---- what the probe puts there ---- */

/* Before the call: numbers of that set for the reads among these (bits) that can be varied, for the others what was recorded: the model may
 * have changed its buffers since. After it: what was recorded. */
static int give_call(const struct alone *a, const struct dump *d, uint32_t run, uint32_t set, uint32_t call, const bool *stay,
		     uint64_t reads, struct buf *file, struct err *err)
{
	const struct observed *o = a->v->o;
	const struct observed_call *c = call_of(a, call);
	int r = 0;
	for (uint32_t i = c->read; i < c->read + c->n_reads && !r; i++) {
		const struct given_entry before = {run, c->d->call, o->read[i].v->arg, GIVEN_BEFORE, 0, 0, 0};
		const uint32_t at = i - c->read;
		if (!(at < 64 ? reads >> at & 1 : reads == UINT64_MAX) || !is_varied(a, call, i) ||
		    (stay[at] && !aten_is_float(o->read[i].v->meta.dtype))) {
			r = around_add_recorded(file, before, d, o->read[i].v, err);
			continue;
		}
		double *v = make_numbers(a, i, set);
		r = around_add(file, before, &o->read[i], v, err);
		free(v);
	}
	return r ? r : around_take_and_restore(file, run, o, call, d, err);
}

int alone_give(const struct alone *a, const struct dump *d, struct buf *file, struct err *err)
{
	uint64_t n = 0;
	int r = 0;
	for (uint32_t i = 0; i < a->n_calls; i++)
		n += 2 * (call_of(a, a->call[i])->n_reads + call_of(a, a->call[i])->n_writes);
	bool *stay = xcalloc(n + 1, sizeof(*stay)), *at = stay; /* by call, then by read */
	for (uint32_t i = 0; i < a->n_calls; at += call_of(a, a->call[i++])->n_reads)
		find_stays(a, a->call[i], at);
	given_begin(file, n * ALONE_SETS);
	for (uint32_t set = 0; set < ALONE_SETS && !r; set++) {
		at = stay;
		for (uint32_t i = 0; i < a->n_calls && !r; at += call_of(a, a->call[i++])->n_reads)
			r = give_call(a, d, set, set, a->call[i], at, UINT64_MAX, file, err);
	}
	free(stay);
	return r;
}

/* ---- what it took ---- */

/* The call-th of o: call `index` of the given run, as it was in this one. False: something is missing. */
static bool take_call(const struct alone *a, struct observed *o, uint32_t index, uint32_t run, struct slice given, struct slice taken)
{
	const struct observed_call *c = call_of(a, index);
	const uint32_t call = o->n_calls++;
	bool all = true;
	o->call[call] = *c;
	o->call[call].read = o->n_reads;
	o->call[call].write = o->n_writes;
	for (uint32_t r = 0; r < c->n_reads; r++)
		all &= around_take(&o->read[o->n_reads++], &a->v->o->read[c->read + r], call, run, c->d->call, GIVEN_BEFORE, given, taken);
	for (uint32_t w = 0; w < c->n_writes; w++)
		all &=
		    around_take(&o->write[o->n_writes++], &a->v->o->write[c->write + w], call, run, c->d->call, GIVEN_TAKE, given, taken);
	return all;
}

static void room_for(struct observed *o, const struct observed *base)
{
	*o = (struct observed){.dump = base->dump,
			       .call = xcalloc(base->n_calls + 1, sizeof(*o->call)),
			       .read = xcalloc(base->n_reads + 1, sizeof(*o->read)),
			       .write = xcalloc(base->n_writes + 1, sizeof(*o->write))};
}

/* ---- are they right? ---- */

enum answer { ANSWER_NONE, ANSWER_AGREES, ANSWER_DIFFERS };

enum { ROUNDINGS = 3 };

/* The samples of rounding on the way: how far they are from d, at most; for integers, which elements they change. */
static double noise_of(struct cut *k, uint32_t node, const struct numbers *e, const struct numbers *d, bool *unstable)
{
	double noise = 0;
	for (int s = 0; s < ROUNDINGS + 1; s++) {
		struct numbers x = {0};
		k->seed = (uint64_t)s + 1;
		if (cut_compute(k, node, s < ROUNDINGS ? ROUNDED : PERTURBED, &x) == 0 && x.n == d->n && x.class == d->class)
			for (int64_t i = 0; i < d->n; i++) {
				const double off = fabs(x.v[i] - d->v[i]);
				unstable[i] |= x.v[i] != d->v[i];
				if (isfinite(d->v[i]) && isfinite(e->v[i]))
					noise = isfinite(off) ? fmax(noise, off) : INFINITY;
			}
		numbers_release(&x);
	}
	k->seed = 0;
	return noise;
}

struct compared {
	enum answer answer;
	struct verify_finding at;
	double compiled_ulp, eager_ulp;
	bool exact;
	uint64_t used; /* reads of the call that the node was computed from, as bits */
};

static double most_of(const struct numbers *e, const struct numbers *d)
{
	double most = 0;
	for (int64_t i = 0; i < d->n; i++)
		if (isfinite(d->v[i]) && isfinite(e->v[i]))
			most = fmax(most, fabs(d->v[i]));
	return most;
}

/* c, in the node's order, against e (in its type) and d (in float64), where both are finite. */
static void compare(struct compared *r, struct cut *k, uint32_t node, const double *c, const struct numbers *e, const struct numbers *d,
		    double eps)
{
	const double most = most_of(e, d);
	bool *unstable = xcalloc((size_t)d->n + 1, sizeof(*unstable));
	double off = 0, own = 0, worst = -1;
	uint64_t finite = 0;
	r->exact = true;
	for (int64_t i = 0; i < d->n; i++) {
		r->exact &= c[i] == e->v[i] || (isnan(c[i]) && isnan(e->v[i]));
		if (!isfinite(d->v[i]) || !isfinite(e->v[i]))
			continue;
		finite++;
		own = fmax(own, fabs(e->v[i] - d->v[i]));
		off = isfinite(c[i]) ? fmax(off, fabs(c[i] - d->v[i])) : INFINITY;
	}
	r->answer = finite ? ANSWER_AGREES : ANSWER_NONE;
	r->compiled_ulp = eps > 0 && most > 0 ? off / (eps * most) : 0;
	r->eager_ulp = eps > 0 && most > 0 ? own / (eps * most) : 0;
	const double small = 64 * eps * most;
	if (off > small && finite) {
		const double noise = noise_of(k, node, e, d, unstable), allowed = fmax(small, 16 * fmax(noise, own));
		r->at = (struct verify_finding){.n = (uint64_t)d->n, .at = -1};
		for (int64_t i = 0; i < d->n; i++) {
			const double x = isfinite(c[i]) ? fabs(c[i] - d->v[i]) : INFINITY;
			if (!isfinite(d->v[i]) || !isfinite(e->v[i]) ||
			    (eps > 0 ? x <= allowed : c[i] == e->v[i] || e->v[i] != d->v[i] || unstable[i]))
				continue;
			r->at.wrong++;
			if (x > worst)
				worst = x, r->at.at = i, r->at.got = c[i], r->at.want = d->v[i];
		}
		r->answer = r->at.wrong ? ANSWER_DIFFERS : ANSWER_AGREES;
	}
	free(unstable);
}

/* Which reads of the call the last computation began at. */
static uint64_t used_reads(const struct verify *v, const struct cut *k, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	uint64_t used = 0;
	for (uint32_t i = 0; i < v->ref->n; i++)
		if (k->by_node[i] && k->state[i] == 2)
			for (uint32_t r = 0; r < c->n_reads && r < 64; r++)
				used |= (uint64_t)(k->by_node[i] == &v->o->read[c->read + r]) << r;
	return used;
}

/* A tensor that was written, as this node. */
static struct compared as_node(struct verify *v, struct cut *k, uint32_t write, const struct verify_match *m)
{
	const struct numbers *b = &v->o->write[write].x;
	struct compared r = {0};
	struct numbers e = {0}, d = {0}, *like = reference_numbers(v->ref, m->node);
	const double eps = numbers_eps(v->o->write[write].v->meta.dtype);
	if (!like || !b->v || v->taken[m->node] || b->class == NUMBERS_COMPLEX)
		return r;
	double *c = xcalloc((size_t)b->n + 1, sizeof(*c));
	numbers_lay(b, like, &m->l, c);
	const struct observed_tensor *read = k->by_node[m->node];
	if (read && read->x.n == b->n) { /* copied? */
		double *x = xcalloc((size_t)b->n + 1, sizeof(*x));
		numbers_lay(&read->x, like, k->layout[m->node], x);
		if (!memcmp(x, c, (size_t)b->n * sizeof(*x)))
			r.answer = ANSWER_AGREES, r.exact = true;
		free(x);
	}
	if (r.answer == ANSWER_NONE && cut_compute(k, m->node, AS_TYPED, &e) == 0 && !k->inputs && e.n == b->n && e.class == b->class &&
	    cut_compute(k, m->node, WIDE, &d) == 0 && d.n == b->n && d.class == e.class) {
		compare(&r, k, m->node, c, &e, &d, eps);
		r.used = used_reads(v, k, v->o->write[write].call);
	}
	free(c);
	numbers_release(&e);
	numbers_release(&d);
	return r;
}

struct judging {
	struct alone *a;
	struct verify *v; /* of the calls tried */
	struct cut k;
};

/* The best of all ways to choose nodes for the reads. */
static struct compared in_any_way(struct judging *j, uint32_t i, uint32_t write, const struct verify_match *m, bool all)
{
	const uint32_t call = j->a->call[i];
	struct compared best = {0};
	for (uint32_t choice = 0, n = 1; choice < n; choice++) {
		n = 1u << set_cut(j->a, &j->k, call, j->v->o, j->v->o->call[i].read, choice, all);
		const struct compared r = as_node(j->v, &j->k, write, m);
		if (r.answer == ANSWER_AGREES)
			return r;
		if (best.answer == ANSWER_NONE)
			best = r;
	}
	return best;
}

static bool op_in_name(const struct alone *a, uint32_t call, uint32_t node)
{
	const struct reference *ref = a->v->ref;
	char op[64];
	const struct slice s = slice_until(slice_behind(graph_op_text(ref->g, ref->first + node), "aten."), ".");
	snprintf(op, sizeof(op), "_%.*s_", SLN(s, 60));
	return s.n && slice_find(call_of(a, call)->d->name, op);
}

/* The reader is right if a tensor that it read is a node that its producer does not write: then the producer left something out. Which
 * call of those tried; NONE. *node: what it should have written. */
static uint32_t left_out_by(struct judging *j, uint32_t i, uint32_t write, const struct verify_match *m, uint32_t *node, uint32_t *at)
{
	const struct observed *o = j->a->v->o;
	const struct observed_call *c = call_of(j->a, j->a->call[i]);
	if (in_any_way(j, i, write, m, true).answer != ANSWER_AGREES)
		return NONE;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++) {
		const uint32_t w = o->read[r].same;
		if (w == NONE || o->write[w].call == NONE || !candidates(j->a, r, false).fewer)
			continue;
		for (uint32_t k = 0; k < j->a->v->write[w].n; k++)
			if (j->a->write[w].out[k] && op_in_name(j->a, o->write[w].call, j->a->v->write[w].m[k].node)) {
				*node = j->a->v->write[w].m[k].node;
				*at = w;
				for (uint32_t t = 0; t < j->a->n_calls; t++)
					if (j->a->call[t] == o->write[w].call)
						return t;
			}
	}
	return NONE;
}

static void report(struct judging *j, uint32_t i, uint32_t write, uint32_t node, const struct compared *r)
{
	struct alone *a = j->a;
	PUSH_TO(a->doubt, a->n_doubts, a->cap_doubts) = (struct alone_doubt){i, write - j->v->o->call[i].write, r->used};
	struct verify_finding *f = verify_add(j->v, i, write, node);
	f->n = r->at.n, f->wrong = r->at.wrong, f->at = r->at.at, f->got = r->at.got, f->want = r->at.want;
	j->v->row[i].what = VERIFY_WRONG;
	j->v->row[i].node = node;
}

/* How the producer's tensor differs from the node that it should be. */
static void report_left_out(struct judging *j, uint32_t producer, uint32_t node, uint32_t base_write, struct alone_doubt doubt)
{
	const struct observed_call *c = call_of(j->a, j->a->call[producer]);
	const uint32_t write = j->v->o->call[producer].write + base_write - c->write;
	const struct verify_tensor *t = &j->a->v->write[base_write];
	for (uint32_t k = 0; k < t->n; k++)
		if (t->m[k].node == node) {
			const struct compared r = in_any_way(j, producer, write, &t->m[k], false);
			if (r.answer == ANSWER_DIFFERS && j->v->row[producer].what != VERIFY_WRONG)
				report(j, producer, write, node, &r), j->a->doubt[j->a->n_doubts - 1] = doubt;
		}
}

static void judge_write(struct judging *j, uint32_t i, uint32_t base_write, uint32_t write)
{
	struct alone *a = j->a;
	const struct verify_tensor *t = &a->v->write[base_write];
	struct verify_row *row = &j->v->row[i];
	struct compared wrong = {0};
	const struct verify_match *as = NULL;
	bool agrees = false, exact = false, *out = xcalloc(t->n + 1, sizeof(*out));
	for (uint32_t k = 0; k < t->n; k++) {
		if (a->write[base_write].out[k] || (t->expect != NONE && verify_holds(t, t->expect) && t->m[k].node != t->expect))
			continue;
		const struct compared r = in_any_way(j, i, write, &t->m[k], false);
		out[k] = r.answer == ANSWER_DIFFERS;
		if (r.answer == ANSWER_AGREES) {
			agrees = true, exact |= r.exact;
			row->node = row->node == NONE ? t->m[k].node : row->node;
			row->compiled_ulp = fmax(row->compiled_ulp, r.compiled_ulp);
			row->eager_ulp = fmax(row->eager_ulp, r.eager_ulp);
		} else if (r.answer == ANSWER_DIFFERS && (!as || t->m[k].off < as->off || op_in_name(a, a->call[i], t->m[k].node))) {
			wrong = r, as = &t->m[k];
		}
	}
	if (agrees) {
		for (uint32_t k = 0; k < t->n; k++)
			a->write[base_write].out[k] |= out[k];
		a->write[base_write].tested = true;
		row->what = row->what == VERIFY_OPEN              ? (exact ? VERIFY_EQUAL : VERIFY_ROUNDING)
			    : row->what == VERIFY_EQUAL && !exact ? VERIFY_ROUNDING
								  : row->what;
	} else if (as) {
		uint32_t node = NONE, at = NONE;
		const uint32_t producer = left_out_by(j, i, write, as, &node, &at);
		if (producer != NONE)
			report_left_out(j, producer, node, at, (struct alone_doubt){i, write - j->v->o->call[i].write, wrong.used});
		else if (row->what != VERIFY_WRONG)
			report(j, i, write, as->node, &wrong);
	}
	free(out);
}

void alone_judge(struct alone *a, struct held *h, struct slice given, struct slice taken, uint32_t set, int64_t deadline)
{
	struct verify *v = &h->verify;
	struct judging j = {.a = a, .v = v};
	bool *whole = xcalloc(a->n_calls + 1, sizeof(*whole));
	*h = (struct held){.borrows = true, .ref = *a->v->ref};
	a->n_doubts = 0;
	room_for(&h->observed, a->v->o);
	for (uint32_t i = 0; i < a->n_calls; i++)
		whole[i] = take_call(a, &h->observed, a->call[i], set, given, taken);
	verify_borrow(v, &h->observed, &h->ref);
	v->taken = a->v->taken;
	cut_begin(&j.k, v, 0);
	for (uint32_t i = 0; i < a->n_calls && (!deadline || clock_ns() < deadline); i++) {
		const struct observed_call *c = call_of(a, a->call[i]);
		for (uint32_t w = 0; w < c->n_writes && whole[i]; w++)
			if (a->v->write[c->write + w].n)
				judge_write(&j, i, c->write + w, h->observed.call[i].write + w);
	}
	cut_end(&j.k);
	v->taken = NULL;
	free(whole);
}

/* ---- does the kernel use what its node does not? ---- */

int alone_doubts(const struct alone *a, const struct dump *d, uint32_t set, struct buf *file, struct err *err)
{
	uint64_t n = 0;
	int r = 0;
	for (uint32_t i = 0; i < a->n_doubts; i++)
		n += 2 * (call_of(a, a->call[a->doubt[i].call])->n_reads + call_of(a, a->call[a->doubt[i].call])->n_writes);
	given_begin(file, n);
	for (uint32_t i = 0; i < a->n_doubts && !r; i++) {
		const uint32_t call = a->call[a->doubt[i].call];
		bool *stay = xcalloc(call_of(a, call)->n_reads + 1, sizeof(*stay));
		find_stays(a, call, stay);
		r = give_call(a, d, i, set, call, stay, ~a->doubt[i].used, file, err);
		free(stay);
	}
	return r;
}

/* Did the tensor stay what it was in the given run? */
static bool stayed(const struct alone *a, const struct alone_doubt *doubt, uint32_t run, struct slice given, struct slice taken)
{
	const uint32_t index = a->call[doubt->call];
	const struct numbers *was = &a->v->o->write[call_of(a, index)->write + doubt->write].x;
	struct observed o;
	room_for(&o, a->v->o);
	const bool whole = take_call(a, &o, index, run, given, taken);
	const struct numbers *is = &o.write[doubt->write].x;
	const bool same = whole && is->n == was->n && was->v && is->v && !memcmp(is->v, was->v, (size_t)was->n * sizeof(*was->v));
	observed_release(&o);
	return same;
}

void alone_settle(struct alone *a, struct held *h, struct slice given, struct slice taken)
{
	struct verify *v = &h->verify;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < a->n_doubts; i++)
		if (stayed(a, &a->doubt[i], i, given, taken))
			v->finding[kept++] = v->finding[i];
		else
			v->row[v->finding[i].call].what = VERIFY_OPEN;
	v->n_findings = kept;
	for (uint32_t i = 0; i < kept; i++)
		v->row[v->finding[i].call].what = VERIFY_WRONG;
}
