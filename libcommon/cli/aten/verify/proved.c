/* What another Run proved of a tensor: there it was a node, so here it is that node, too, or wrong. */
#include "aten/verify/cut.h"

#include <math.h>

/* The same node in both graphs: unrolled ones may have other numbers. NONE: it has none. */
static uint32_t same_node(const struct verify *v, const struct verify *other, uint32_t node)
{
	if (v->ref->g == other->ref->g)
		return node;
	const uint32_t at = graph_find(v->ref->g, 0, graph_name(other->ref->g, other->ref->first + node));
	return at == NONE ? NONE : at - v->ref->first;
}

/* The same call in the other Run: the same number, kernel and tensors. NONE: there is none. */
static uint32_t same_call(const struct verify *v, const struct verify *other, uint32_t call)
{
	const struct observed_call *c = &v->o->call[call];
	for (uint32_t i = 0; i < other->o->n_calls; i++) {
		const struct observed_call *x = &other->o->call[i];
		if (x->d->call == c->d->call)
			return slice_eq(x->d->name, c->d->name) && x->n_reads == c->n_reads && x->n_writes == c->n_writes ? i : NONE;
	}
	return NONE;
}

/* The nodes of what the call read: as here, else as in the other Run. False: not known of all. room: for layouts, one per read. */
static bool cut_here(struct cut *k, struct verify *v, const struct verify *other, uint32_t call, uint32_t there, struct layout *room)
{
	const struct observed_call *c = &v->o->call[call], *x = &other->o->call[there];
	for (uint32_t r = 0; r < c->n_reads; r++) {
		const struct verify_tensor *t = &v->read[c->read + r], *proved = &other->read[x->read + r];
		const struct observed_tensor *from = &v->o->read[c->read + r];
		const struct numbers *b = observed_numbers(v->o, from);
		const double near = cut_nearest(v, t, from);
		for (uint32_t i = 0; i < t->n; i++)
			if (!k->by_node[t->m[i].node] && t->m[i].off <= near)
				cut_put(k, t->m[i].node, from, &t->m[i].l);
		if (t->n || t->empty)
			continue;
		const uint32_t node = proved->n == 1 ? same_node(v, other, proved->m[0].node) : NONE;
		const struct numbers *n = node == NONE ? NULL : reference_numbers(v->ref, node);
		if (!n || !b->v || n->n != b->n || n->class != b->class || k->by_node[node])
			return false;
		numbers_nearest(b, n, &room[r]);
		cut_put(k, node, from, &room[r]);
	}
	return true;
}

/* From here on the graph continues from what the kernel wrote. */
static void take_as(struct verify *v, uint32_t node, const double *c)
{
	struct what_if w;
	struct err ignored;
	struct aten_tensor *t = reference_tensor(v->ref, node, c, &ignored);
	if (!t)
		return;
	what_if_begin(&w, v->ref, node, t);
	what_if_keep(&w);
}

/* Is the write that node of what the call read? False: not known. */
static bool prove_as(struct verify *v, struct cut *k, uint32_t call, uint32_t write, uint32_t node)
{
	struct verify_tensor *t = &v->write[write];
	const struct numbers *b = &v->o->write[write].x, *like = reference_numbers(v->ref, node);
	struct verify_match m = {.node = node};
	if (!like || like->n != b->n || like->class != b->class)
		return false;
	numbers_nearest(b, like, &m.l);
	t->n = 0;
	PUSH_TO(t->m, t->n, t->cap) = m;
	const enum verify_what was = t->what;
	if (!verify_check(v, k, call, write, &m)) {
		t->n = 0;
		t->what = was;
		return false;
	}
	return true;
}

/* It is wrong if it is not one of the nodes that it was there. */
static bool prove_write(struct verify *v, const struct verify *other, struct cut *k, uint32_t call, uint32_t write, uint32_t there)
{
	const struct verify_tensor *proved = &other->write[there];
	const struct verify_match *m = verify_written_as(other, there);
	const struct verify_row was = v->row[call];
	const uint32_t findings = v->n_findings;
	uint32_t wrong = NONE;
	for (uint32_t i = 0; m && i <= proved->n; i++) { /* the most likely one last */
		const uint32_t node = same_node(v, other, i < proved->n ? proved->m[i].node : m->node);
		if ((i < proved->n && &proved->m[i] == m) || node == NONE || !prove_as(v, k, call, write, node))
			continue;
		if (v->write[write].what != VERIFY_WRONG)
			return true;
		wrong = i == proved->n ? node : wrong;
		if (i < proved->n) {
			v->n_findings = findings;
			v->row[call] = was;
		}
	}
	if (wrong == NONE) {
		v->n_findings = findings;
		v->row[call] = was;
		v->write[write].n = 0;
		return false;
	}
	const struct numbers *b = &v->o->write[write].x;
	double *c = xcalloc((size_t)b->n * 2 + 1, sizeof(*c));
	numbers_lay(b, reference_numbers(v->ref, wrong), &v->write[write].m[0].l, c);
	take_as(v, wrong, c);
	free(c);
	return true;
}

static bool prove_call(struct verify *v, const struct verify *other, uint32_t call)
{
	const uint32_t there = same_call(v, other, call);
	const struct observed_call *c = &v->o->call[call];
	struct verify_row *row = &v->row[call];
	bool any = false, all = true;
	if (there == NONE || other->row[there].what > VERIFY_ROUNDING)
		return false;
	struct cut k;
	struct layout *room = xcalloc(c->n_reads + 1, sizeof(*room));
	cut_begin(&k, v, call);
	const bool known = cut_here(&k, v, other, call, there, room);
	const struct verify_row was = *row;
	row->what = VERIFY_EQUAL;
	row->why = NULL;
	for (uint32_t w = 0; known && w < c->n_writes; w++) {
		struct verify_tensor *t = &v->write[c->write + w];
		if (t->n || t->empty || t->accused || t->counter || !verify_varies(&v->o->write[c->write + w].x))
			continue;
		const bool proved = prove_write(v, other, &k, call, c->write + w, other->o->call[there].write + w);
		any |= proved;
		all &= proved || t->what == VERIFY_EFFECT;
	}
	if (!any || (!all && row->what != VERIFY_WRONG)) {
		free(row->why);
		*row = was;
	} else {
		free(was.why);
	}
	cut_end(&k);
	free(room);
	return any;
}

void verify_proved(struct verify *v, const struct verify *other)
{
	bool any = false;
	for (uint32_t c = 0; c < v->o->n_calls; c++)
		if (v->o->call[c].compiled && (v->row[c].what == VERIFY_OPEN || v->row[c].what == VERIFY_EFFECT))
			any |= prove_call(v, other, c);
	if (!any)
		return;
	v->n_suspects = 0;
	verify_suspects(v);
}
