/* kernelmap_ir.c - kernels and nodes of the IR; rows by name. */
#include "graph/inductor/kernelmap_part.h"
#include "base/rows.h"

/* ---- rows by name ---- */

uint32_t km_add_node(struct kernelmap *m, struct slice name)
{
	uint32_t row = intern_add(&m->node_names, name);
	if (row < m->n_node)
		return row;
	PUSH(m, node) = (struct kmnode){.name = intern_get(&m->node_names, row), .fx = NONE, .source = NONE, .compute = true};
	return row;
}

/* The list under construction is the last one in item[]. */
void km_list_begin(struct kernelmap *m, struct kmlist *l) { *l = (struct kmlist){m->n_item, 0}; }

void km_list_add(struct kernelmap *m, struct kmlist *l, uint32_t row)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (m->item[l->first + i] == row)
			return;
	if (l->n >= 8192)
		return;
	if (l->first + l->n != m->n_item) { /* others follow it: copy it to the end */
		GROW(m->item, m->n_item, m->cap_item, l->n);
		memmove(&m->item[m->n_item], &m->item[l->first], l->n * sizeof(*m->item));
		l->first = m->n_item;
		m->n_item += l->n;
	}
	PUSH(m, item) = row;
	l->n++;
}

uint32_t km_row(struct kernelmap *m, uint32_t fx) { return fx == NONE ? NONE : km_add_node(m, graph_name(&m->graph, fx)); }

void km_rows_add(struct km_rows *r, struct slice name, uint32_t row)
{
	uint32_t i = intern_add(&r->name, name);
	GROW(r->entry, r->n, r->cap, 1);
	r->entry[r->n].row = row;
	r->entry[r->n].next = NONE;
	if (i == r->n_name) {
		GROW(r->first, r->n_name, r->cap_first, 1);
		GROW(r->last, r->n_name, r->cap_last, 1);
		r->first[r->n_name++] = r->n;
	} else {
		r->entry[r->last[i]].next = r->n;
	}
	r->last[i] = r->n++;
}

uint32_t km_rows_first(const struct km_rows *r, struct slice name)
{
	uint32_t i = intern_find(&r->name, name);
	return i == NONE ? NONE : r->first[i];
}

void km_rows_release(struct km_rows *r)
{
	intern_release(&r->name);
	free(r->entry);
	free(r->first);
	free(r->last);
	*r = (struct km_rows){0};
}

void km_index_release(struct km_index *x)
{
	km_rows_release(&x->writers);
	km_rows_release(&x->origins);
	km_rows_release(&x->operations);
	km_rows_release(&x->items);
	free(x->leaf);
	free(x->leaf_next);
	free(x->mark);
	free(x->allowed);
}

/* ---- the index ---- */

static void index_nodes(struct km_index *x, const struct irtext *ir)
{
	x->leaf = xcalloc(ir->n_node + 1, sizeof(*x->leaf));
	x->leaf_next = xcalloc(ir->n_node + 1, sizeof(*x->leaf_next));
	for (uint32_t i = 0; i < ir->n_node; i++)
		x->leaf[i] = NONE;
	for (uint32_t i = ir->n_node; i-- > 0;)
		if (!ir->node[i].members) {
			uint32_t top = irtext_outermost(ir, i);
			x->leaf_next[i] = x->leaf[top];
			x->leaf[top] = i;
		}
	for (uint32_t i = 0; i < ir->n_node; i++) {
		const struct irnode *n = &ir->node[i];
		for (uint32_t k = 0; n->parent == NONE && k < n->n_outs; k++)
			km_rows_add(&x->writers, ir->out[n->out + k].name, i);
		for (uint32_t k = 0; n->parent == NONE && k < n->n_writes; k++)
			km_rows_add(&x->writers, ir->name[n->write + k], i);
	}
}

bool km_row_is_mine(const struct kernelmap *m, const struct fusion *row)
{
	uintptr_t at = (uintptr_t)row->a.p, from = (uintptr_t)m->in.log.p;
	if (m->in.log.n && (at < from || at - from >= m->in.log.n))
		return false;
	if (!m->in.folder.n)
		return true;
	if (slice_chr(m->in.folder, '/')) /* a compile id: from a log or a trace */
		return !row->compile.n || slice_eq(row->compile, m->in.folder);
	return !row->folder.n || slice_eq(row->folder, m->in.folder);
}

void km_index_ir(struct kernelmap *m)
{
	const struct fusionlog *f = m->in.fusion;
	if (m->ir)
		index_nodes(m->index, m->ir);
	for (uint32_t i = 0; f && m->ir && i < f->n; i++)
		if (f->row[i].kind == FUSION_ORIGINS && km_row_is_mine(m, &f->row[i]))
			km_rows_add(&m->index->origins, f->row[i].a, i);
	for (uint32_t i = 0; i < m->code.n_alias; i++)
		if (m->code.alias[i].item)
			km_rows_add(&m->index->items, m->code.alias[i].of, i);
}

/* ---- the nodes of a use ---- */

static bool writes(struct slice param) { return slice_starts(param, "out_ptr") || slice_starts(param, "in_out_ptr"); }

static void mark(struct km_index *x, uint32_t node) { PUSH(x, mark) = node; }

/* Marks the outermost node that writes a buffer, or the one it was made from (buf3 = buf2  # reuse). */
static void mark_writer(struct km_index *x, struct slice buffer)
{
	for (uint32_t e = km_rows_first(&x->writers, buffer); e != NONE; e = x->writers.entry[e].next)
		mark(x, x->writers.entry[e].row);
}

static void mark_call(struct kernelmap *m, const struct outcall *c, const struct outkernel *k)
{
	bool any = false;
	m->index->n_mark = 0;
	for (uint32_t i = 0; k && i < c->arg.n; i++)
		any |= i < k->param.n && writes(m->code.name[k->param.first + i]);
	for (uint32_t i = 0; k && i < c->arg.n; i++) {
		struct slice name = m->code.name[c->arg.first + i];
		struct slice param = i < k->param.n ? m->code.name[k->param.first + i] : SLICE("");
		if (!name.n || (any && !writes(param)))
			continue;
		mark_writer(m->index, name);
		if (!slice_starts(param, "in_out_ptr"))
			continue;
		for (uint32_t a = m->code.n_alias; (a = outcode_alias(&m->code, name, a)) != NONE;) { /* written in place several times */
			name = m->code.alias[a].of;
			mark_writer(m->index, name);
		}
	}
	for (uint32_t i = 0; i < c->made.n; i++)
		mark_writer(m->index, m->code.name[c->made.first + i]);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Leaves in text order, so that stores precede their loads. A kernel is not an external node: it overwrites its
 * buffer in place. */
void km_join_ir(struct kernelmap *m, struct kmuse *u)
{
	const struct irtext *ir = m->ir;
	const struct outcall *c = &m->code.call[u->call];
	const struct outkernel *k = c->kernel == NONE ? NULL : &m->code.kernel[c->kernel];
	struct km_index *x = m->index;
	km_list_begin(m, &u->ir);
	if (!ir || !ir->n_node)
		return;
	mark_call(m, c, k);
	const uint32_t tops = x->n_mark;
	for (uint32_t i = 0; i < tops; i++) {
		if (slice_starts(ir->node[x->mark[i]].kind, "Extern") == (k != NULL))
			continue;
		for (uint32_t leaf = x->leaf[x->mark[i]]; leaf != NONE; leaf = x->leaf_next[leaf])
			if (!m->taken[leaf]) {
				m->taken[leaf] = true;
				mark(x, leaf);
			}
	}
	if (x->n_mark > tops + 1)
		qsort(x->mark + tops, x->n_mark - tops, sizeof(*x->mark), by_number);
	for (uint32_t i = tops; i < x->n_mark; i++)
		km_list_add(m, &u->ir, x->mark[i]);
}

/* Origins that the fusion log names for these nodes. */
void km_from_log(struct kernelmap *m, struct kmuse *u)
{
	const struct km_rows *origins = &m->index->origins;
	for (uint32_t k = 0; origins->n && k < u->ir.n; k++) {
		uint32_t e = km_rows_first(origins, m->ir->node[m->item[u->ir.first + k]].name);
		for (; e != NONE; e = origins->entry[e].next) {
			struct slice rest = m->in.fusion->row[origins->entry[e].row].reason, one;
			while (irop_arg(&rest, &one))
				if (m->has_graph ? graph_find(&m->graph, 0, one) != NONE : one.n > 0) {
					km_list_add(m, &u->fx, km_add_node(m, one));
					u->from |= KM_FROM_LOG;
				}
		}
	}
}
