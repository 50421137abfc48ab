/* diffnodes.c - a torch.compile program compared with itself under backend="aot_eager_decomp_partition" (share/jit/nodes.py): there a graph
 * runs node by node, here one kernel does many nodes at once. What a kernel writes is compared with the node that computed the same: the
 * first one after the end of the previous kernel with the same sizes and numbers; if there is none, the closest one among the kernel's
 * operators. What a kernel reads is compared with what matched it when it was written.
 *
 * Not everything a kernel writes belongs to a node (partial sums, a maximum that is not kept): if such a tensor resembles no node, and
 * everything that reads it agrees, it is not a difference. */
#include "diff.h"

#include <math.h>

enum { GOES_ON = 8 }; /* if the error is that much smaller after a call, it did not come from its input */

struct pairing {
	struct diff *d;
	const struct diff_calls *kernels, *nodes;
	bool first; /* the first dump has the nodes */
};

struct found {
	uint32_t node, value;
	bool same;
};

static struct tensor_close compare_values(const struct diff *d, const struct dump_value *a, const struct dump_value *b)
{
	struct diff_value v = {.a = a, .b = b};
	struct err err;
	if (!a->file.n || !b->file.n || diff_compare((struct diff *)(uintptr_t)d, &v, d->how, &err) < 0)
		v.close = (struct tensor_close){.sizes_differ = true};
	return v.close;
}

static bool reads_buffer(const struct dump_call *c, struct slice buffer)
{
	for (uint32_t i = 0; i < c->n_values; i++)
		if (c->value[i].before && slice_eq(c->value[i].buffer, buffer))
			return true;
	return false;
}

/* Is a node's `x` similar to `w`, which a kernel wrote? */
static bool like(const struct pairing *p, const struct dump_value *x, const struct dump_value *w, struct tensor_close *c)
{
	if (!dump_written(x) || x->meta.dtype != w->meta.dtype || !diff_same_sizes(x, w))
		return false;
	*c = p->first ? compare_values(p->d, x, w) : compare_values(p->d, w, x);
	return !c->sizes_differ;
}

/* Moves on to the last of the kernel's next nodes that still has the same numbers (times 1, plus 0). */
static void go_on(const struct pairing *p, const struct dump_call *kernel, const struct dump_value *w, struct found *f)
{
	struct tensor_close c;
	for (uint32_t i = f->node + 1; i < p->nodes->n; i++) {
		const struct dump_call *node = p->nodes->v[i];
		if (!diff_covers(node, kernel) || !reads_buffer(node, p->nodes->v[f->node]->value[f->value].buffer))
			continue;
		for (uint32_t k = 0; k < node->n_values; k++)
			if (like(p, &node->value[k], w, &c) && !c.bad) {
				*f = (struct found){i, k, true};
				break;
			}
	}
}

/* The node whose result is `w`: false if none has its sizes. `at`: where to start. */
static bool find_node(const struct pairing *p, const struct dump_call *kernel, const struct dump_value *w, uint32_t at, struct found *f)
{
	const uint32_t n = (uint32_t)p->nodes->n;
	double nearest = 0;
	bool any = false, best_named = false;
	struct tensor_close c;
	*f = (struct found){0};
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t j = (at + i) % n;
		const struct dump_call *node = p->nodes->v[j];
		const bool named = diff_covers(node, kernel);
		for (uint32_t k = 0; k < node->n_values && node->kind != DUMP_RUN; k++) {
			if (!like(p, &node->value[k], w, &c))
				continue;
			const double far = c.bad && c.n ? (double)c.bad / (double)c.n + c.rms : 0;
			if (any && (c.bad || f->same) && (named < best_named || (named == best_named && (f->same || far > nearest))))
				continue;
			any = true;
			best_named = named;
			nearest = far;
			*f = (struct found){j, k, !c.bad};
			if (!c.bad && named) {
				go_on(p, kernel, w, f);
				return true;
			}
		}
	}
	return any;
}

static void add_pair(struct pairing *p, const struct dump_call *kernel, uint32_t value, const struct found *f)
{
	const struct dump_call *node = f ? p->nodes->v[f->node] : NULL;
	struct diff_row *r = diff_add_row(p->d, p->first ? node : kernel, p->first ? kernel : node);
	r->nodes = true;
	r->elsewhere = !f;
	r->pair[p->first] = value;
	r->pair[!p->first] = f ? f->value : 0;
}

/* ---- a kernel whose result is that of an earlier node than its last ---- */

/* Which nodes went into `node`, and itself. */
static void mark_sources(const struct diff_calls *nodes, uint32_t node, bool *marked)
{
	marked[node] = true;
	for (uint32_t i = node + 1; i-- > 0;)
		for (uint32_t k = 0; marked[i] && k < nodes->v[i]->n_values; k++)
			for (uint32_t j = i; nodes->v[i]->value[k].before && j-- > 0;)
				for (uint32_t v = 0; v < nodes->v[j]->n_values && !marked[j]; v++)
					marked[j] = dump_written(&nodes->v[j]->value[v]) &&
						    slice_eq(nodes->v[j]->value[v].buffer, nodes->v[i]->value[k].buffer);
}

/* From a node on, as long as one of the kernel's nodes reads it. */
static uint32_t last_of_kernel(const struct pairing *p, const struct dump_call *kernel, uint32_t node)
{
	for (uint32_t i = node + 1; i < p->nodes->n; i++)
		if (diff_covers(p->nodes->v[i], kernel) && p->nodes->v[node]->n_values &&
		    reads_buffer(p->nodes->v[i], p->nodes->v[node]->value[p->nodes->v[node]->n_values - 1].buffer))
			node = i;
	return node;
}

static bool written_by_any(const struct pairing *p, const struct dump_value *x)
{
	for (size_t i = 0; i < p->kernels->n; i++)
		for (uint32_t k = 0; k < p->kernels->v[i]->n_values; k++) {
			const struct dump_value *w = &p->kernels->v[i]->value[k];
			struct tensor_close c;
			if (dump_written(w) && like(p, x, w, &c) && !c.bad)
				return true;
		}
	return false;
}

/* A kernel is named after its operators. If one of them is not among the inputs of what its results match, and its node's result is
 * nowhere, the match is too early: what the kernel left out is the difference. */
static void find_left_out(struct pairing *p, size_t from, size_t to)
{
	const struct diff_row *first = &p->d->row[from];
	const struct dump_call *kernel = p->first ? first->b : first->a;
	bool *marked = xcalloc(p->nodes->n + 1, sizeof(*marked));
	for (size_t i = from; i < to; i++)
		for (uint32_t k = 0; k < p->nodes->n; k++)
			if (p->nodes->v[k] == (p->first ? p->d->row[i].a : p->d->row[i].b))
				mark_sources(p->nodes, k, marked);
	for (uint32_t x = 0; x < p->nodes->n; x++) {
		const struct dump_call *node = p->nodes->v[x];
		bool present = marked[x] || node->kind == DUMP_RUN || !diff_covers(node, kernel), after = false;
		for (uint32_t k = 0; k < p->nodes->n && !present; k++) {
			present = marked[k] && diff_covers(p->nodes->v[k], node);
			for (uint32_t v = 0; marked[k] && v < p->nodes->v[k]->n_values; v++)
				after |= dump_written(&p->nodes->v[k]->value[v]) && reads_buffer(node, p->nodes->v[k]->value[v].buffer);
		}
		if (present || !after)
			continue;
		const uint32_t last = last_of_kernel(p, kernel, x);
		node = p->nodes->v[last];
		for (uint32_t v = 0; v < node->n_values; v++)
			for (size_t i = from; i < to && dump_written(&node->value[v]); i++) {
				struct diff_row *r = &p->d->row[i];
				const struct dump_value *w = &kernel->value[r->pair[p->first]];
				if (node->value[v].meta.dtype != w->meta.dtype || !diff_same_sizes(&node->value[v], w) ||
				    written_by_any(p, &node->value[v]))
					continue;
				*(p->first ? &r->a : &r->b) = node;
				r->pair[!p->first] = v;
				free(marked);
				return;
			}
	}
	free(marked);
}

void diff_pair_nodes(struct diff *d, const struct diff_calls *a, const struct diff_calls *b)
{
	const bool first = a->n && diff_is_nodes(a->v[a->n - 1]);
	struct pairing p = {.d = d, .kernels = first ? b : a, .nodes = first ? a : b, .first = first};
	uint32_t at = 0;
	bool *taken = xcalloc(p.nodes->n + 1, sizeof(*taken));
	for (size_t i = 0; i < p.kernels->n; i++) {
		const struct dump_call *k = p.kernels->v[i];
		struct found f = {0};
		size_t rows = d->n_rows;
		if (k->kind == DUMP_RUN)
			continue;
		for (uint32_t v = 0; v < k->n_values; v++)
			if (dump_written(&k->value[v]) && find_node(&p, k, &k->value[v], at, &f)) {
				add_pair(&p, k, v, &f);
				taken[f.node] = true;
				at = f.same && f.node >= at ? f.node : at;
			}
		if (rows == d->n_rows)
			add_pair(&p, k, 0, NULL);
		else if (k->kind == DUMP_KERNEL)
			find_left_out(&p, rows, d->n_rows);
	}
	for (uint32_t i = 0; i < p.nodes->n; i++) {
		const struct dump_call *node = p.nodes->v[i];
		if (taken[i] || node->kind == DUMP_RUN)
			continue;
		struct diff_row *r = diff_add_row(d, p.first ? node : NULL, p.first ? NULL : node);
		r->nodes = r->elsewhere = true;
	}
	free(taken);
}

static bool same_group(const struct diff_row *r, const struct diff_row *s)
{
	const struct dump_call *x = diff_call(r), *y = diff_call(s);
	return slice_eq(x->model, y->model) && x->run == y->run;
}

static const struct dump_call *kernel_of(const struct diff_row *r, int kernel) { return kernel ? r->b : r->a; }

/* The node's value that matched a buffer when it was last written before row i; else the nodes' input of this name. */
static const struct dump_value *stood_for(const struct diff *d, size_t i, const struct dump_value *read, int kernel)
{
	for (size_t k = i; k-- > 0 && same_group(&d->row[k], &d->row[i]);) {
		const struct diff_row *r = &d->row[k];
		const struct dump_call *c = kernel_of(r, kernel), *node = kernel_of(r, !kernel);
		if (c && node && c != kernel_of(&d->row[i], kernel) && slice_eq(c->value[r->pair[kernel]].buffer, read->buffer))
			return &node->value[r->pair[!kernel]];
	}
	for (size_t k = i + 1; k-- > 0 && same_group(&d->row[k], &d->row[i]);)
		i = k;
	for (size_t k = i; k < d->n_rows && same_group(&d->row[k], &d->row[i]); k++) {
		const struct dump_call *node = kernel_of(&d->row[k], !kernel);
		for (uint32_t v = 0; node && v < node->n_values; v++)
			if (node->value[v].before && slice_eq(node->value[v].buffer, read->buffer))
				return &node->value[v];
	}
	return NULL;
}

void diff_match_nodes(struct diff *d, size_t i)
{
	const struct diff_row r = d->row[i];
	const int kernel = diff_is_nodes(r.a);
	const struct dump_call *c = kernel_of(&r, kernel), *node = kernel_of(&r, !kernel);
	for (uint32_t k = 0; k < c->n_values; k++) {
		const struct dump_value *v = &c->value[k], *with = v->before && v->buffer.n ? stood_for(d, i, v, kernel) : NULL;
		if (!with || !diff_same_sizes(with, v))
			continue;
		struct dump_value *read = arena_alloc(&d->a.arena, sizeof(*read));
		*read = *with; /* written by a node, and read here */
		read->before = true;
		read->role = v->role;
		diff_add_value(d, &d->row[i], kernel ? read : v, kernel ? v : read);
	}
	const struct dump_value *x = &c->value[r.pair[kernel]], *y = &node->value[r.pair[!kernel]];
	diff_add_value(d, &d->row[i], kernel ? y : x, kernel ? x : y);
}

/* How large is the error of what the row's kernel wrote? */
static double far_off(const struct diff *d, const struct diff_row *r)
{
	const struct tensor_close *c = &d->value[r->value + r->n_values - 1].close;
	return !r->n_values ? 0 : c->not_finite ? INFINITY : fmin(c->rms, 1); /* 1: compared with zeros, all of it */
}

/* Is what row i wrote read by a call, and does its error reach none of them? */
static bool ends_here(const struct diff *d, size_t i, int kernel)
{
	const struct diff_row *r = &d->row[i];
	const struct dump_call *c = kernel_of(r, kernel);
	const struct slice buffer = c->value[r->pair[kernel]].buffer;
	bool any = false;
	for (size_t k = i + 1; k < d->n_rows && same_group(&d->row[k], r); k++) {
		const struct diff_row *s = &d->row[k];
		const struct dump_call *other = kernel_of(s, kernel);
		if (!s->nodes || !s->a || !s->b || other == c)
			continue;
		if (reads_buffer(other, buffer) && !s->elsewhere) {
			any = true;
			if (far_off(d, s) > far_off(d, r) / GOES_ON)
				return false;
		}
		if (slice_eq(other->value[s->pair[kernel]].buffer, buffer))
			break; /* overwritten */
	}
	return any;
}

void diff_settle_nodes(struct diff *d)
{
	for (size_t i = d->n_rows; i-- > 0;) {
		struct diff_row *r = &d->row[i];
		if (!r->nodes || !r->a || !r->b || !r->out_differs || !ends_here(d, i, diff_is_nodes(r->a)))
			continue;
		for (uint32_t k = 0; k < r->n_values; k++)
			d->differing -= d->value[r->value + k].what != DIFF_SAME;
		d->origins -= r->origin;
		r->elsewhere = true;
		r->origin = false;
		r->n_values = 0;
	}
}
