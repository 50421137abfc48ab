/* compare_texts.c - diffs texts line by line, on all processors. */
#include "compare/compare_part.h"
#include "base/pool.h"

struct diffing {
	struct compare *c;
	uint32_t next;
};
struct diff_slot {
	struct normal normal;
	struct buf text[2], unfolded[2], out;
	struct compare_graphs graphs;
	uint32_t row;
	bool failed, same;
};

static int diff_next(void *ctx, void *slot)
{
	struct diffing *d = ctx;
	struct diff_slot *x = slot;
	struct compare *c = d->c;
	while (d->next < c->n_text && (c->text[d->next].same_as != NONE || !c->text[d->next].shown))
		d->next++;
	if (d->next == c->n_text)
		return 0;
	x->row = d->next++;
	return 1;
}

/* Lines [k, e) of the diff, all different: removed ones, then added ones. */
static void put_changed(const struct normal *n, struct buf *out, struct compare_text *t, uint32_t k, uint32_t e)
{
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t q = k; q < e; q++) {
			uint32_t l = s ? n->diff.row[q].b : n->diff.row[q].a;
			if (l == NONE)
				continue;
			if (out->len > 2 * COMPARE_TEXT_BYTES) {
				t->left_out++;
				continue;
			}
			struct slice text = n->side[s].line[l];
			if (text.n > 20000)
				text.n = 20000;
			buf_addc(out, s ? '+' : '-');
			buf_add_slice(out, text);
			buf_addc(out, '\n');
		}
}

static void put_hunk(const struct normal *n, struct buf *out, struct compare_text *t, uint32_t first, uint32_t stop)
{
	const struct linediff *d = &n->diff;
	for (uint32_t k = first, e; k < stop; k = e) {
		e = k + 1;
		if (d->row[k].same) {
			struct slice x = n->side[0].line[d->row[k].a], y = n->side[1].line[d->row[k].b];
			buf_addc(out, slice_eq(x, y) ? ' ' : '~');
			buf_add_slice(out, y);
			buf_addc(out, '\n');
			continue;
		}
		while (e < stop && !d->row[e].same)
			e++;
		put_changed(n, out, t, k, e);
	}
}

static void put_hunks(const struct normal *n, struct buf *out, struct compare_text *t)
{
	enum { CONTEXT = 3 };
	const struct linediff *d = &n->diff;
	uint32_t at[2] = {0, 0}; /* lines before row i */
	for (uint32_t i = 0; i < d->n;) {
		uint32_t from = i;
		while (i < d->n && d->row[i].same)
			i++;
		if (i == d->n)
			break;
		uint32_t first = i - from > CONTEXT ? i - CONTEXT : from, end = i;
		/* Continue to where more than two contexts are equal. */
		for (uint32_t k = i, same = 0; k < d->n && same <= 2 * CONTEXT; k++) {
			same = d->row[k].same ? same + 1 : 0;
			if (!same)
				end = k + 1;
		}
		uint32_t stop = d->n - end > CONTEXT ? end + CONTEXT : d->n;
		at[0] += first - from;
		at[1] += first - from;
		uint32_t na = 0, nb = 0;
		for (uint32_t k = first; k < stop; k++) {
			na += d->row[k].a != NONE;
			nb += d->row[k].b != NONE;
		}
		if (out->len < COMPARE_TEXT_BYTES) {
			buf_addf(out, "@@ -%u,%u +%u,%u @@\n", at[0] + 1, na, at[1] + 1, nb);
			put_hunk(n, out, t, first, stop);
		} else {
			t->left_out += na + nb;
		}
		at[0] += na;
		at[1] += nb;
		i = stop;
	}
	for (uint32_t i = 0; i < d->n; i++)
		if (!d->row[i].same) {
			t->removed += d->row[i].a != NONE;
			t->added += d->row[i].b != NONE;
		}
	t->coarse = d->coarse;
}

static int diff_work(void *ctx, void *slot)
{
	struct diffing *d = ctx;
	struct diff_slot *x = slot;
	struct compare *c = d->c;
	struct compare_text *t = &c->text[x->row];
	buf_reset(&x->out);
	x->same = false;
	x->failed = !compare_payload(c->a, t->a, &x->text[0]) || !compare_payload(c->b, t->b, &x->text[1]);
	if (x->failed)
		return 0;
	struct slice text[2] = {buf_slice(&x->text[0]), buf_slice(&x->text[1])};
	bool unfolded = true;
	compare_graphs_make(&x->graphs, text[0], text[1]);
	if (compare_graphs_alike(&x->graphs)) {
		x->same = true;
		return 0;
	}
	for (unsigned s = 0; s < 2; s++) {
		buf_reset(&x->unfolded[s]);
		unfolded = unfolded && normal_unfold(text[s], &x->unfolded[s]);
	}
	if (unfolded)
		for (unsigned s = 0; s < 2; s++)
			text[s] = buf_slice(&x->unfolded[s]);
	if (normal_diff(&x->normal, text[0], text[1]))
		put_hunks(&x->normal, &x->out, t);
	else
		x->same = true;
	return 0;
}

static int diff_keep(void *ctx, void *slot)
{
	struct diffing *d = ctx;
	struct diff_slot *x = slot;
	struct compare *c = d->c;
	struct compare_text *t = &c->text[x->row];
	if (x->failed)
		c->unread++;
	else if (c->shown + x->out.len <= COMPARE_BYTES)
		t->diff = arena_slice(&c->arena, buf_slice(&x->out));
	c->shown += x->out.len;
	t->shown = t->diff.n > 0;
	if (x->same)
		t->pair = NONE; /* dropped below */
	if (!x->failed && compare_graphs_alike(&x->graphs))
		c->graphs_alike++;
	else if (!x->failed && !x->same && x->graphs.both)
		compare_graphs_keep(c, &x->graphs, x->row);
	compare_graphs_release(&x->graphs);
	return 0;
}

void compare_texts(struct compare *c)
{
	OWNED(intern_release) struct intern seen = {0};
	uint32_t *first = NULL, cap = 0, shown = 0;
	/* A change repeated in twenty compilations is shown once. */
	for (uint32_t i = 0; i < c->n_text; i++) {
		struct compare_text *t = &c->text[i];
		bool again;
		uint32_t k = compare_seen(&seen, c->a->artifact[t->a].hash, c->b->artifact[t->b].hash, &again);
		if (again) {
			t->same_as = first[k];
			continue;
		}
		GROW(first, k, cap, 1);
		first[k] = i;
		uint64_t size = (uint64_t)c->a->t.artifact[t->a].size + c->b->t.artifact[t->b].size;
		if (shown < COMPARE_TEXTS && c->read + size <= COMPARE_READ) {
			t->shown = true;
			c->read += size;
			shown++;
		}
	}
	free(first);
	struct diffing d = {c, 0};
	unsigned threads = cpu_count();
	void *slots[16];
	threads = threads > ARRAY_LEN(slots) ? ARRAY_LEN(slots) : threads > shown ? shown + !shown : threads;
	for (unsigned i = 0; i < threads; i++)
		slots[i] = xcalloc(1, sizeof(struct diff_slot));
	const struct pipeline p = {&d, diff_next, diff_work, NULL, NULL, diff_keep};
	pipeline_run(&p, slots, threads, threads);
	for (unsigned i = 0; i < threads; i++) {
		struct diff_slot *x = slots[i];
		normal_release(&x->normal);
		for (unsigned s = 0; s < 2; s++) {
			buf_release(&x->text[s]);
			buf_release(&x->unfolded[s]);
		}
		buf_release(&x->out);
		free(x);
	}
	/* Drops rows that turned out equal, and references to them. */
	uint32_t *to = xcalloc(c->n_text + 1u, sizeof(*to)), n = 0;
	for (uint32_t i = 0; i < c->n_text; i++) {
		struct compare_text t = c->text[i];
		to[i] = NONE;
		if (t.same_as != NONE) {
			t.same_as = to[t.same_as];
			if (t.same_as == NONE)
				continue;
			t.added = c->text[t.same_as].added;
			t.removed = c->text[t.same_as].removed;
			t.shown = c->text[t.same_as].shown;
		} else if (t.pair == NONE) {
			continue;
		}
		to[i] = n;
		c->text[n++] = t;
		c->pair[t.pair].texts++;
		c->texts_left += !t.shown;
	}
	c->n_text = n;
	for (uint32_t i = 0; i < c->n_graph; i++)
		c->graph[i].text = to[c->graph[i].text];
	free(to);
}
