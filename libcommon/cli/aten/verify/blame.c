/* Step 2 of verify.h: which tensor, treated as which node, explains most? */
#include "aten/verify/verify.h"

#include <math.h>

struct hypothesis {
	uint32_t write, node; /* b and n */
	int64_t gain;
	bool output; /* the model returns b as n: no gain required */
	bool named;  /* n's operator is in the kernel's name */
	bool turn;   /* both are in the same turn of a loop */
	double distance;
	bool only_asked; /* of the best one: is there any that has to be computed? */
};

/* ---- the suspects ---- */

static bool reader_is_bad(const struct verify *v, uint32_t write)
{
	const struct observed *o = v->o;
	for (uint32_t k = 0; k < o->write[write].n_links; k++) {
		const struct observed_tensor *r = &o->read[o->link[o->write[write].link + k]];
		if (r->call == NONE) {
			if (!verify_output_right(v, (uint32_t)(r - o->read)))
				return true;
			continue;
		}
		for (uint32_t w = o->call[r->call].write; w < o->call[r->call].write + o->call[r->call].n_writes; w++)
			if (verify_bad(v, w))
				return true;
	}
	return false;
}

static bool is_suspect(const struct verify *v, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		if (verify_bad(v, w) &&
		    ((v->write[w].expect != NONE && !verify_holds(&v->write[w], v->write[w].expect)) || reader_is_bad(v, w)))
			return true;
	return false;
}

/* ---- what if b were n ---- */

/* Its elements in the node's order. */
static double *laid(const struct verify *v, uint32_t write, uint32_t node)
{
	const struct numbers *b = &v->o->write[write].x, *n = reference_numbers(v->ref, node);
	double *out = xcalloc((size_t)b->n * 2 + 1, sizeof(*out));
	struct layout l;
	numbers_nearest(b, n, &l);
	numbers_lay(b, n, &l, out);
	return out;
}

static bool right_now(struct verify *v, const struct verify_tensor *t, const struct numbers *b, struct what_if *w)
{
	struct layout l;
	uint32_t n;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->m[i].node != w->node && !reference_below(v->ref, t->m[i].node, w->node))
			return true;
	const uint32_t *node = verify_nodes(v, b->n, &n);
	for (uint32_t i = 0; i < n; i++)
		if ((node[i] == w->node || reference_below(v->ref, node[i], w->node)) && verify_is(v, b, node[i], w, &l))
			return true;
	return false;
}

static bool output_right_now(struct verify *v, uint32_t read, struct what_if *w)
{
	const struct verify_tensor *t = &v->read[read];
	struct layout l;
	if (t->empty || t->expect == NONE || (t->expect != w->node && !reference_below(v->ref, t->expect, w->node)))
		return verify_output_right(v, read);
	return verify_is(v, observed_numbers(v->o, &v->o->read[read]), t->expect, w, &l);
}

/* Has a kernel written this output, which should be n, with the numbers of b, which are another node's already? Then it is that kernel that
 * should have computed n. */
static bool is_copy(const struct verify *v, uint32_t write, uint32_t output, uint32_t node)
{
	const struct observed *o = v->o;
	const uint32_t same = o->read[output].same, call = same == NONE ? NONE : o->write[same].call;
	return v->write[write].n && v->read[output].expect == node && call != NONE && o->call[call].compiled;
}

/* Does that output tell whether write is the node? */
static bool output_tells(const struct verify *v, uint32_t read, uint32_t write, uint32_t node)
{
	return v->o->read[read].same != write && !is_copy(v, write, read, node);
}

/* Does that tensor, which depends on b's call? The sum of a node's numbers is right already: that another node has the same proves
 * nothing. */
static bool write_tells(const struct verify *v, uint32_t i, uint32_t write, uint32_t suspect)
{
	const struct verify_tensor *t = &v->write[i];
	const uint32_t c = v->o->write[i].call, from = v->o->write[write].call;
	return i != write && !t->empty && !t->accused && t->derived == NONE && !t->counter &&
	       (verify_down(v, c, from) || verify_down(v, c, suspect) || c == suspect);
}

/* How much more is right now, over everything that depends on b's call. First what can become right, then what can become wrong: less than
 * `need` may be more than it is. */
static int64_t gain(struct verify *v, uint32_t write, uint32_t suspect, struct what_if *w, int64_t need)
{
	const struct observed *o = v->o;
	int64_t sum = 0;
	for (int right = 0; right < 2; right++) {
		for (uint32_t i = o->n_inputs; i < o->n_writes && (!right || sum >= need); i++)
			if ((v->write[i].n > 0) == right && write_tells(v, i, write, suspect))
				sum += right_now(v, &v->write[i], &o->write[i].x, w) - right;
		for (uint32_t r = o->first_output; r < o->n_reads && (!right || sum >= need); r++)
			if (verify_output_right(v, r) == right && output_tells(v, r, write, w->node))
				sum += output_right_now(v, r, w) - right;
	}
	return sum;
}

/* Can i be the node, if b is? By their maxima. Unless it is an input or a weight, the node's own error counts, too. */
static bool may_be_same(const struct verify *v, uint32_t i, uint32_t write, uint32_t node)
{
	const double eps = numbers_eps(v->ref->v[node].tensor->dtype), max = v->o->write[write].x.max;
	const struct numbers_range near = numbers_may_match(&v->o->write[i].x, 0, eps);
	return node >= v->ref->program->n_inputs || (max >= near.from && !(max > near.to));
}

/* Is there anything that can become right? That is known without computing anything: most of what is not a node has no node of its size
 * behind the one in question. */
static bool may_gain(const struct verify *v, uint32_t write, uint32_t suspect, uint32_t node)
{
	const struct observed *o = v->o;
	uint32_t n;
	for (uint32_t i = o->n_inputs; i < o->n_writes; i++) {
		if (v->write[i].n || !write_tells(v, i, write, suspect))
			continue;
		const uint32_t *same = verify_nodes(v, o->write[i].x.n, &n);
		for (uint32_t k = 0; k < n; k++)
			if (same[k] == node ? may_be_same(v, i, write, node) : reference_below(v->ref, same[k], node))
				return true;
	}
	for (uint32_t r = o->first_output; r < o->n_reads; r++)
		if (!verify_output_right(v, r) && output_tells(v, r, write, node))
			return true;
	return false;
}

static bool in_name(const struct verify *v, uint32_t call, uint32_t node)
{
	char op[64];
	struct slice s = slice_behind(graph_op_text(v->ref->g, v->ref->first + node), "aten.");
	s = slice_until(s, ".");
	snprintf(op, sizeof(op), "_%.*s_", SLN(s, 60));
	return s.n && slice_find(v->o->call[call].d->name, op);
}

static double distance(const struct verify *v, const double *got, uint32_t node)
{
	const struct numbers *n = reference_numbers(v->ref, node);
	double d = 0;
	for (int64_t i = 0; i < n->n; i++) {
		const double x = got[i] - n->v[i];
		d += isfinite(x) ? x * x : 1e30;
	}
	return d / (n->squares + 1e-300);
}

/* With equal gain: the kernel before the operator, the earlier call, a node of the same turn, the node whose operator is in its name, the
 * closer one. */
static bool better(const struct verify *v, const struct hypothesis *a, const struct hypothesis *b)
{
	const struct observed_call *x = &v->o->call[v->o->write[a->write].call], *y = &v->o->call[v->o->write[b->write].call];
	if (a->gain != b->gain)
		return a->gain > b->gain;
	if (x->compiled != y->compiled)
		return x->compiled;
	if (x != y)
		return x < y;
	if (a->turn != b->turn)
		return a->turn;
	if (a->named != b->named)
		return a->named;
	return a->distance < b->distance;
}

static void try_one(struct verify *v, uint32_t suspect, struct hypothesis *h, struct hypothesis *best)
{
	const int64_t least = h->output ? 0 : 1, need = best->write != NONE && best->gain > least ? best->gain : least;
	struct what_if w;
	struct err ignored;
	if (best->only_asked) {
		*best = *h;
		return;
	}
	double *got = laid(v, h->write, h->node);
	struct aten_tensor *t = reference_tensor(v->ref, h->node, got, &ignored);
	h->distance = distance(v, got, h->node);
	free(got);
	if (!t)
		return;
	what_if_begin(&w, v->ref, h->node, t);
	h->gain = gain(v, h->write, suspect, &w, need);
	v->hypotheses++;
	v->evaluated += w.evaluated;
	what_if_end(&w);
	if (h->gain >= need && (best->write == NONE || better(v, h, best)))
		*best = *h;
}

/* ---- the hypotheses ---- */

/* Can the call have computed this node? It depends on something that the call read, or the call reads nothing known. If the graph has
 * unknown nodes, that may be one of them, and anything may have been computed from it. */
static bool can_make(const struct verify *v, uint32_t call, uint32_t node)
{
	const struct observed_call *c = &v->o->call[call];
	bool any = false;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++) {
		for (uint32_t i = 0; i < v->read[r].n; i++)
			if (reference_below(v->ref, node, v->read[r].m[i].node))
				return true;
		any |= v->read[r].n || (v->ref->n_unknown && !v->read[r].empty);
	}
	return !any || (reference_is_weight(v->ref, node) && !v->ref->n_unknown);
}

/* NaN and infinities throughout prove nothing: everything computed from them is the same, whichever node they are taken for. */
static bool says_nothing(const struct verify *v, const struct numbers *b)
{
	return v->ref->n_unknown && b->class == NUMBERS_FLOAT && b->nan + b->inf >= (uint64_t)b->n;
}

/* If iterations are not unrolled: what is passed along inside a branch or a loop is not a node, even if it resembles one (a counter). */
static bool stays_inside(const struct verify *v, uint32_t write)
{
	const struct observed *o = v->o;
	bool outside = !verify_inside(&o->write[write]);
	for (uint32_t k = 0; k < o->write[write].n_links && !outside; k++) {
		const uint32_t c = o->read[o->link[o->write[write].link + k]].call;
		outside = c == NONE || (o->call[c].n_writes && !verify_is_inside(v, c));
	}
	return !outside;
}

/* A weight with one number throughout (a norm's ones) matches anything filled with it: that a kernel should have made it proves nothing. */
static bool plain_weight(const struct verify *v, uint32_t node, const struct numbers *x)
{
	return reference_is_weight(v->ref, node) && !verify_varies(x);
}

/* An operator without tensor inputs (rand) cannot have had a wrong input. */
static bool reads_nothing(const struct verify *v, uint32_t call) { return !v->o->call[call].compiled && !v->o->call[call].n_reads; }

static void try_write(struct verify *v, uint32_t suspect, uint32_t write, struct hypothesis *best)
{
	const struct verify_tensor *t = &v->write[write];
	const struct observed_tensor *b = &v->o->write[write];
	uint32_t n;
	if (t->empty || t->accused || t->counter || b->call == NONE || reads_nothing(v, b->call) ||
	    (t->expect == NONE && says_nothing(v, &b->x)) || (!v->ref->unrolled.now && stays_inside(v, write)))
		return;
	const uint32_t *node = verify_nodes(v, b->x.n, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct hypothesis h = {.write = write, .node = node[i], .output = t->expect == node[i], .only_asked = best->only_asked};
		if (best->only_asked && best->write != NONE)
			return;
		if (!h.output && !may_gain(v, write, suspect, h.node))
			continue;
		const struct numbers *x = reference_numbers(v->ref, h.node);
		if (!x || x->class != b->x.class || verify_holds(t, h.node) || verify_reads(v, b->call, h.node) ||
		    (t->expect != NONE && t->expect != h.node) || !can_make(v, b->call, h.node) || plain_weight(v, h.node, x))
			continue;
		h.named = in_name(v, b->call, h.node);
		h.turn = verify_is_inside(v, b->call) && verify_turn_of(v, h.node) == verify_turn(v, b->call);
		try_one(v, suspect, &h, best);
	}
}

/* The writes that the call's reads come from; for operators, and for reads from outside a branch or loop, also what those read. */
static void try_producers(struct verify *v, uint32_t suspect, uint32_t call, bool *tried, struct hypothesis *best)
{
	const struct observed *o = v->o;
	const struct observed_call *c = &o->call[call];
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		for (uint32_t k = 0; k < o->read[r].n_links; k++) {
			const uint32_t w = o->link[o->read[r].link + k], from = o->write[w].call;
			if (tried[w] || from == NONE)
				continue;
			tried[w] = true;
			try_write(v, suspect, w, best);
			if (!o->call[from].compiled || verify_is_inside(v, from))
				try_producers(v, suspect, from, tried, best);
		}
}

static struct hypothesis question(struct verify *v, uint32_t call, bool only_asked)
{
	struct hypothesis best = {.write = NONE, .only_asked = only_asked};
	const struct observed_call *c = &v->o->call[call];
	bool *tried = xcalloc(v->o->n_writes + 1, sizeof(*tried));
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		if (verify_bad(v, w))
			tried[w] = true, try_write(v, call, w, &best);
	try_producers(v, call, call, tried, &best);
	free(tried);
	return best;
}

/* ---- accusation ---- */

/* An operator is not compiled: the kernel that wrote its input is to blame, if that is not a node; else the operator's input is reported.
 * */
static uint32_t culprit(const struct verify *v, uint32_t call, bool *given)
{
	const struct observed *o = v->o;
	const struct observed_call *c = &o->call[call];
	*given = !c->compiled;
	for (uint32_t r = c->read; !c->compiled && r < c->read + c->n_reads; r++)
		for (uint32_t k = 0; k < o->read[r].n_links; k++) {
			const uint32_t w = o->link[o->read[r].link + k];
			if (o->write[w].call != NONE && o->call[o->write[w].call].compiled && verify_bad(v, w))
				return *given = false, o->write[w].call;
		}
	return call;
}

/* The first of the calls before this one that are in the same branch or loop, or control it; NONE: it is the only one. */
static uint32_t inside_from(const struct verify *v, uint32_t call)
{
	const uint32_t first = verify_inside_from(v, call);
	return first == call ? NONE : first;
}

/* Is what it wrote not a node, although everything it read is? */
static bool parts_here(const struct verify *v, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	bool wrong = false;
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (!v->read[r].n && !v->read[r].empty && !v->read[r].counter)
			return false;
	for (uint32_t w = c->write; w < c->write + c->n_writes; w++)
		wrong |= !v->write[w].n && !v->write[w].empty && v->write[w].derived == NONE && !v->write[w].counter;
	return wrong;
}

/* With unrolled iterations: which kernel diverged from the graph? *call: its first call, if only one kernel did. Returns NONE if no other
 * can be it, else the first of the calls among which it is. */
static uint32_t inside_parted(const struct verify *v, uint32_t *call)
{
	const uint32_t from = inside_from(v, *call);
	uint32_t first = NONE;
	bool many = false;
	for (uint32_t c = from; from != NONE && v->ref->unrolled.now && c <= *call; c++) {
		if (!v->o->call[c].compiled || !verify_is_inside(v, c) || !parts_here(v, c))
			continue;
		many |= first != NONE && !slice_eq(v->o->call[c].d->name, v->o->call[first].d->name);
		first = first == NONE ? c : first;
	}
	if (first == NONE || many)
		return from;
	*call = slice_eq(v->o->call[first].d->name, v->o->call[*call].d->name) ? *call : first;
	return NONE;
}

static void accuse(struct verify *v, const struct hypothesis *h)
{
	struct what_if w;
	struct err ignored;
	bool given;
	double *got = laid(v, h->write, h->node);
	struct aten_tensor *t = reference_tensor(v->ref, h->node, got, &ignored);
	uint32_t call = culprit(v, v->o->write[h->write].call, &given);
	const uint32_t others = inside_parted(v, &call);
	struct verify_finding *f = verify_add(v, call, h->write, h->node);
	f->given = given;
	f->others = others;
	f->right = (uint32_t)(h->gain > 0 ? h->gain : 0);
	struct numbers *want = reference_numbers(v->ref, h->node);
	verify_compare(f, got, want, verify_slack(want, reference_error(v->ref, h->node, want)));
	free(got);
	if (call != v->o->write[h->write].call) /* its own results are not nodes to compare */
		f->write = NONE;
	v->row[call].what = VERIFY_WRONG;
	v->row[call].node = h->node;
	struct verify_tensor *b = &v->write[h->write];
	b->n = 0;
	PUSH_TO(b->m, b->n, b->cap) = (struct verify_match){h->node, 0, {.identity = true}};
	b->accused = true;
	numbers_nearest(&v->o->write[h->write].x, reference_numbers(v->ref, h->node), &b->m[0].l);
	if (!t)
		return;
	what_if_begin(&w, v->ref, h->node, t);
	what_if_keep(&w);
	v->replaced[h->node] = true;
	verify_classify(v);
	verify_derive(v);
}

/* A loop's result is wrong: the first call of its iterations that diverged from the graph, if that explains more. */
static struct hypothesis question_turns(struct verify *v, uint32_t suspect)
{
	struct hypothesis best = {.write = NONE};
	for (uint32_t c = 0; v->ref->unrolled.now && c <= suspect && best.write == NONE; c++) {
		if (v->questioned[c] || !v->o->call[c].compiled || !verify_is_inside(v, c) || !parts_here(v, c))
			continue;
		v->questioned[c] = c != suspect;
		for (uint32_t w = v->o->call[c].write; w < v->o->call[c].write + v->o->call[c].n_writes; w++)
			if (!v->write[w].n)
				try_write(v, c, w, &best);
	}
	return best;
}

enum { MOST_TURNS = 64 };

/* The kernel computes this node wrongly in this iteration, so it did in earlier ones. Names are "while_loop.2.add". */
static void accuse_turns(struct verify *v, const struct hypothesis *h)
{
	const uint32_t call = v->o->write[h->write].call, place = h->write - v->o->call[call].write;
	const struct slice name = graph_name(v->ref->g, v->ref->first + h->node), hop = slice_until(name, "."),
			   rest = slice_behind(name, ".");
	uint32_t same = call;
	long long turn = 0;
	if (verify_is_inside(v, call) && rest.n && inside_parted(v, &same) == NONE && same == call)
		for (uint32_t c = 0; c < call && turn < MOST_TURNS; c++) {
			struct buf b = {0};
			if (!slice_eq(v->o->call[c].d->name, v->o->call[call].d->name))
				continue;
			buf_addf(&b, "%.*s.%lld.%.*s", SL(hop), turn++, SL(slice_behind(rest, ".")));
			const uint32_t at = graph_find(v->ref->g, 0, buf_slice(&b)), node = at == NONE ? NONE : at - v->ref->first;
			buf_release(&b);
			const struct hypothesis before = {.write = v->o->call[c].write + place, .node = node};
			const struct numbers *x = node != NONE && place < v->o->call[c].n_writes ? reference_numbers(v->ref, node) : NULL;
			const struct verify_tensor *t = &v->write[before.write];
			if (x && !t->n && !t->empty && x->n == v->o->write[before.write].x.n &&
			    x->class == v->o->write[before.write].x.class)
				accuse(v, &before);
		}
	if (!verify_holds(&v->write[h->write], h->node))
		accuse(v, h);
}

void verify_blame(struct verify *v)
{
	const struct observed *o = v->o;
	bool first = true;
	for (uint32_t c = 0; c < o->n_calls; c++) {
		if (v->questioned[c] || !is_suspect(v, c))
			continue;
		/* What a kernel leaves in a buffer that a later one is given to write in looks like read by that one. */
		if (first && !v->ref->unrolled.now && question(v, c, true).write == NONE) {
			v->questioned[c] = true;
			continue;
		}
		if (first) { /* from here on the nodes' own errors matter: worth a run in float64 */
			first = false;
			memset(v->questioned, 0, o->n_calls * sizeof(*v->questioned));
			reference_errors(v->ref);
			verify_classify(v);
			c = UINT32_MAX;
			continue;
		}
		v->questioned[c] = true;
		struct hypothesis best = question_turns(v, c);
		if (best.write == NONE)
			best = question(v, c, false);
		if (best.write == NONE)
			continue;
		accuse_turns(v, &best);
		memset(v->questioned, 0, o->n_calls * sizeof(*v->questioned));
		c = UINT32_MAX; /* everything may be different now */
	}
}
