/* Step 3 of verify.h: a kernel's tensors compared with their nodes, computed from what it read. */
#include "aten/verify/cut.h"

#include <math.h>

enum { MOST_TOGETHER = 8 }; /* calls whose tensors are not nodes, before giving up on a reader */

/* A tensor that is not a node: its kernel and this one are compared with the graph together, from what that kernel read. */
static void add_reads(struct cut *k, uint32_t call)
{
	const struct observed *o = k->v->o;
	const struct observed_call *c = &o->call[call];
	k->first = call < k->first ? call : k->first;
	k->open |= ++k->n_calls > MOST_TOGETHER;
	for (uint32_t r = c->read; r < c->read + c->n_reads && !k->open; r++) {
		const struct verify_tensor *t = &k->v->read[r];
		cut_read(k, r);
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
	if (cut_compute(k, node, p, &off) == 0 && off.n == d->n && off.class == d->class) {
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
		/* As is_wrong() does. */
		const double least = eps > 1e-4 ? 1 : fmax(ee.max, 1);
		verify_compare(f, c, d, (struct numbers_slack){.absolute = e->class == NUMBERS_INT ? 0 : least * eps * d->max});
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

/* Of the tensor's nodes the one that the call computed: the closest one that it did not read, rather none that a wrong kernel's tensor is
 * treated as: that may be as this one by accident. NULL: it is a copy, for example of the
 * graph's inputs; a dump does not show reads of weights. */
static const struct verify_match *computed(const struct cut *k, const struct verify_tensor *t)
{
	const struct verify_match *m = NULL;
	for (uint32_t i = 0; i < t->n; i++) {
		const bool given = k->by_node[t->m[i].node] || t->m[i].node < k->v->ref->program->n_inputs;
		if (given && t->m[i].off == 0)
			return NULL;
		const bool replaced = k->v->replaced[t->m[i].node], was = m && k->v->replaced[m->node];
		if (!given && (!m || replaced < was || (replaced == was && t->m[i].off < m->off)))
			m = &t->m[i];
	}
	return m;
}

bool verify_check(struct verify *v, struct cut *k, uint32_t call, uint32_t write, const struct verify_match *m)
{
	const struct numbers *b = &v->o->write[write].x;
	struct numbers e, d = {0};
	bool could = true;
	v->write[write].what = VERIFY_EQUAL;
	const bool typed = cut_compute(k, m->node, AS_TYPED, &e) == 0 && e.n == b->n && e.class == b->class;
	FREED double *laid = typed && !m->l.identity ? xmalloc(((size_t)b->n * 2 + 1) * sizeof(*laid)) : NULL;
	const double *c = laid ? laid : b->v;
	if (laid)
		numbers_lay(b, &e, &m->l, laid);
	if (typed && cut_compute(k, m->node, WIDE, &d) == 0 && d.n == b->n && d.class == e.class)
		tell_row(v, call, write, m->node, k, c, &e, &d);
	else /* an operator that refuses float64 (quantized ones) has no rounding to allow for */
		could = typed && same_bits(c, &e);
	numbers_release(&e);
	numbers_release(&d);
	return could;
}

static void check_write(struct verify *v, uint32_t call, uint32_t write, struct cut *k)
{
	struct verify_tensor *t = &v->write[write];
	const struct verify_match *m = computed(k, t);
	t->what = VERIFY_EQUAL;
	if (t->adopted)
		return write_open(v, write, "its node cannot be computed; what depends on it is verified from the recorded value on");
	if (!m || (t->counter && v->replaced[m->node])) /* the compiler's counter, by chance the number that an accused kernel wrote */
		return;
	if (v->taken[m->node]) { /* as exact as TF32 */
		t->what = VERIFY_ROUNDING;
		v->row[call].node = m->node;
	} else if (!verify_check(v, k, call, write, m)) {
		write_open(v, write, "its node cannot be computed from what it read");
	}
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
	if (t->adopted) /* not because it is right */
		return EFFECT_UNKNOWN;
	if (t->empty)
		return w->x.v ? EFFECT_RIGHT : EFFECT_UNKNOWN;
	if (t->derived != NONE || t->accused || t->counter)
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
			e = worse(e, v->n_differ || v->n_unknown || v->ref->adopted ? EFFECT_UNKNOWN : EFFECT_RIGHT);
		for (uint32_t i = v->o->call[c].write; i < v->o->call[c].write + v->o->call[c].n_writes; i++)
			e = worse(e, v->write[i].accused || v->write[i].adopted ? EFFECT_UNKNOWN
				     : v->write[i].n                            ? EFFECT_RIGHT
										: effect_of(v, i, known));
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
