/* matches.c - which nodes of the graph a tensor matches, and what follows for the call that wrote it. */
#include "aten/verify/verify.h"
#include <math.h>

static int64_t numel_of(const struct reference *ref, uint32_t node) { return aten_numel(ref->v[node].tensor); }

static int by_numel(const void *a, const void *b, void *arg)
{
	const struct reference *ref = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const int64_t m = numel_of(ref, x), n = numel_of(ref, y);
	return m != n ? (m > n) - (m < n) : (x > y) - (x < y);
}

void verify_index(struct verify *v)
{
	free(v->by_numel);
	v->by_numel = xcalloc(v->ref->n + 1, sizeof(*v->by_numel));
	v->n_by_numel = v->n_groups = 0;
	for (uint32_t i = 0; i < v->ref->n; i++)
		if (reference_is_tensor(v->ref, i))
			v->by_numel[v->n_by_numel++] = i;
	qsort_r(v->by_numel, v->n_by_numel, sizeof(*v->by_numel), by_numel, v->ref);
	for (uint32_t i = 0; i < v->n_by_numel; i++) {
		const int64_t numel = numel_of(v->ref, v->by_numel[i]);
		if (!v->n_groups || v->group[v->n_groups - 1].numel != numel)
			PUSH_TO(v->group, v->n_groups, v->cap_groups) = (struct verify_group){numel, i, 0};
		v->group[v->n_groups - 1].n++;
	}
}

static uint32_t group_of(const struct verify *v, int64_t numel)
{
	uint32_t lo = 0, hi = v->n_groups;
	while (lo < hi) {
		const uint32_t mid = (lo + hi) / 2;
		if (v->group[mid].numel < numel)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < v->n_groups && v->group[lo].numel == numel ? lo : NONE;
}

const uint32_t *verify_nodes(const struct verify *v, int64_t numel, uint32_t *n)
{
	const uint32_t g = group_of(v, numel);
	*n = g == NONE ? 0 : v->group[g].n;
	return v->by_numel + (g == NONE ? 0 : v->group[g].first);
}

bool verify_is(struct verify *v, const struct numbers *b, uint32_t node, struct what_if *w, struct layout *l)
{
	struct numbers *n = w ? what_if_numbers(w, node) : reference_numbers(v->ref, node);
	return n && numbers_match(b, n, v->ref->has_wide ? reference_error(v->ref, node, n) : 0, l);
}

/* The nodes of a group by their maximum, so that a tensor is only compared with those that are near: a graph of a thousand kernels has
 * thousands of nodes of one size. */
struct by_max {
	struct max_of {
		double max;
		uint32_t node;
	} * v;
	uint32_t n;
	bool made;
	double error, eps; /* the greatest ones */
};

static int by_maximum(const void *a, const void *b)
{
	const struct max_of *x = a, *y = b;
	return x->max != y->max ? (x->max > y->max) - (x->max < y->max) : (x->node > y->node) - (x->node < y->node);
}

static void sort_group(struct verify *v, const struct verify_group *g, struct by_max *s)
{
	s->v = xcalloc(g->n + 1, sizeof(*s->v));
	s->made = true;
	for (uint32_t i = 0; i < g->n; i++) {
		const uint32_t node = v->by_numel[g->first + i];
		const struct numbers *x = reference_signature(v->ref, node);
		if (!x)
			continue;
		const double error = v->ref->has_wide ? reference_error(v->ref, node, x) : 0, eps = numbers_eps(x->dtype);
		s->v[s->n++] = (struct max_of){x->max, node};
		s->error = error > s->error || isnan(error) ? error : s->error;
		s->eps = eps > s->eps ? eps : s->eps;
	}
	qsort(s->v, s->n, sizeof(*s->v), by_maximum);
}

static int by_node(const void *a, const void *b)
{
	const struct verify_match *x = a, *y = b;
	return (x->node > y->node) - (x->node < y->node);
}

static void classify(struct verify *v, struct verify_tensor *t, const struct numbers *b, struct by_max *sorted)
{
	struct layout l;
	t->n = 0;
	t->empty = !b->v || !b->n;
	if (t->empty || t->accused)
		return;
	const uint32_t g = group_of(v, b->n);
	if (g == NONE)
		return;
	struct by_max *s = &sorted[g];
	if (!s->made)
		sort_group(v, &v->group[g], s);
	const struct numbers_range near = numbers_may_match(b, s->error, s->eps);
	uint32_t i = 0;
	for (uint32_t hi = s->n; i < hi;) {
		const uint32_t mid = (i + hi) / 2;
		if (s->v[mid].max < near.from)
			i = mid + 1;
		else
			hi = mid;
	}
	for (; i < s->n && !(s->v[i].max > near.to); i++) {
		const uint32_t node = s->v[i].node;
		if (verify_is(v, b, node, NULL, &l))
			PUSH_TO(t->m, t->n, t->cap) = (struct verify_match){node, numbers_off(b, reference_numbers(v->ref, node), &l), l};
	}
	if (t->n)
		qsort(t->m, t->n, sizeof(*t->m), by_node);
}

static void copy_matches(struct verify_tensor *to, const struct verify_tensor *from)
{
	to->n = 0;
	to->empty = from->empty;
	GROW(to->m, to->n, to->cap, from->n + 1);
	if (from->n)
		memcpy(to->m, from->m, from->n * sizeof(*to->m));
	to->n = from->n;
}

void verify_classify(struct verify *v)
{
	const struct observed *o = v->o;
	struct by_max *sorted = xcalloc(v->n_groups + 1, sizeof(*sorted));
	for (uint32_t i = 0; i < o->n_writes; i++)
		if (!v->write[i].accused)
			classify(v, &v->write[i], &o->write[i].x, sorted);
	for (uint32_t i = 0; i < o->n_reads; i++) {
		if (o->read[i].same != NONE)
			copy_matches(&v->read[i], &v->write[o->read[i].same]);
		else
			classify(v, &v->read[i], &o->read[i].x, sorted);
	}
	for (uint32_t i = 0; i < v->n_groups; i++)
		free(sorted[i].v);
	free(sorted);
}

bool verify_holds(const struct verify_tensor *t, uint32_t node)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->m[i].node == node)
			return true;
	return false;
}

/* An output whose node is unknown counts as right. */
bool verify_output_right(const struct verify *v, uint32_t read)
{
	const struct verify_tensor *t = &v->read[read];
	return t->empty || t->expect == NONE || verify_holds(t, t->expect);
}

bool verify_reads(const struct verify *v, uint32_t call, uint32_t node)
{
	const struct observed_call *c = &v->o->call[call];
	for (uint32_t r = c->read; r < c->read + c->n_reads; r++)
		if (verify_holds(&v->read[r], node))
			return true;
	return false;
}

const struct verify_match *verify_written_as(const struct verify *v, uint32_t write)
{
	const struct verify_tensor *t = &v->write[write];
	const uint32_t call = v->o->write[write].call;
	const struct verify_match *m = NULL;
	bool given = false;
	for (uint32_t i = 0; i < t->n && call != NONE; i++) {
		const bool g = t->m[i].node < v->ref->program->n_inputs || verify_reads(v, call, t->m[i].node);
		if (!m || g < given || (g == given && t->m[i].off < m->off))
			m = &t->m[i], given = g;
	}
	return m;
}

bool verify_varies(const struct numbers *x)
{
	int64_t i = 1;
	while (x->v && i < x->n && x->v[i] == x->v[0])
		i++;
	return x->v && i < x->n;
}

bool verify_inside(const struct observed_tensor *w)
{
	const char *at = slice_find(w->v->buffer, "_graph_");
	return at && slice_find(slice_of(at, (size_t)(w->v->buffer.p + w->v->buffer.n - at)), "_buf");
}

bool verify_bad(const struct verify *v, uint32_t write)
{
	const struct verify_tensor *t = &v->write[write];
	const struct observed_tensor *w = &v->o->write[write];
	if (t->empty || t->accused || w->call == NONE)
		return false;
	if (t->expect != NONE && !verify_holds(t, t->expect))
		return true;
	if (verify_inside(w) || t->derived != NONE || !w->n_links)
		return false;
	for (uint32_t k = 0; k < w->n_links; k++) {
		const uint32_t r = v->o->link[w->link + k];
		if (v->o->read[r].call == NONE && !verify_output_right(v, r))
			return true;
	}
	return !t->n;
}

struct verify_finding *verify_add(struct verify *v, uint32_t call, uint32_t write, uint32_t node)
{
	struct verify_finding *f = &PUSH_TO(v->finding, v->n_findings, v->cap_findings);
	*f = (struct verify_finding){.call = call, .write = write, .tensor = write, .node = node, .others = NONE, .at = -1};
	return f;
}

struct numbers_slack verify_slack(struct numbers *want, double error)
{
	const double eps = numbers_eps(want->dtype);
	return numbers_slack(want, (eps < 1e-4 ? 8 : 4) * eps, error);
}

void verify_compare(struct verify_finding *f, const double *got, const struct numbers *want, struct numbers_slack slack)
{
	const int per = want->class == NUMBERS_COMPLEX ? 2 : 1;
	double worst = -1;
	f->n = (uint64_t)want->n;
	for (int64_t i = 0; i < want->n; i++) {
		double d = 0;
		bool wrong = false;
		for (int k = 0; k < per; k++) {
			const double g = got[i * per + k], w = want->v[i * per + k],
				     one = isfinite(g) && isfinite(w)         ? fabs(g - w)
					   : g == w || (isnan(g) && isnan(w)) ? 0
									      : INFINITY;
			d = one > d ? one : d;
			wrong |= one > slack.absolute + slack.relative * fabs(w) || (one > 0 && isinf(one));
		}
		f->wrong += wrong;
		if (d > worst)
			worst = d, f->at = i, f->got = got[i * per], f->want = want->v[i * per];
	}
}

void verify_add_count(struct buf *b, const struct verify_finding *f)
{
	if (f->wrong)
		buf_addf(b, "%llu of %llu elements differ", (unsigned long long)f->wrong, (unsigned long long)f->n);
	else
		buf_addf(b, "no single element differs by more than rounding, but all %llu together do", (unsigned long long)f->n);
}
