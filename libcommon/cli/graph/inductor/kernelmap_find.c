/* kernelmap_find.c - the meaning of a name, and why nodes were fused or not. */
#include "graph/inductor/kernelmap_part.h"

static bool has(const struct kernelmap *m, struct kmlist l, uint32_t row)
{
	for (uint32_t i = 0; i < l.n; i++)
		if (m->item[l.first + i] == row)
			return true;
	return false;
}

bool kernelmap_use_has(const struct kernelmap *m, uint32_t use, struct kmhit hit)
{
	const struct kmuse *u = &m->use[use];
	switch (hit.what) {
	case KM_KERNEL: return hit.row == use;
	case KM_FX: return has(m, u->fx, hit.row);
	case KM_IR:
		for (uint32_t i = 0; i < u->ir.n; i++) /* a fused node through its members */
			for (uint32_t at = m->item[u->ir.first + i]; at != NONE; at = m->ir->node[at].parent)
				if (at == hit.row)
					return true;
		return false;
	case KM_SOURCE: return has(m, u->source, hit.row);
	}
	return false;
}

/* "m.py:5", "app/m.py:5" */
static bool same_place(const struct srcloc *at, struct slice file, uint64_t line)
{
	if (at->line != line || at->file.n < file.n || memcmp(at->file.p + at->file.n - file.n, file.p, file.n))
		return false;
	return at->file.n == file.n || at->file.p[at->file.n - file.n - 1] == '/' || *file.p == '/';
}

uint32_t kernelmap_find(const struct kernelmap *m, struct slice name, struct kmhit *hit, uint32_t max)
{
	uint32_t n = 0;
	const char *colon = slice_rchr(name, ':');
	struct slice before = colon ? slice_of(name.p, (size_t)(colon - name.p)) : SLICE("");
	uint64_t number = 0;
	bool place = colon && before.n && slice_u64(slice_of(colon + 1, (size_t)(name.p + name.n - colon - 1)), &number);
	for (uint32_t i = 0; i < m->n_use && n < max; i++)
		if (slice_eq(m->use[i].name, name) || (place && slice_eq(m->code.call[m->use[i].call].notes.handle, name)))
			hit[n++] = (struct kmhit){KM_KERNEL, i};
	uint32_t row = intern_find(&m->node_names, name);
	if (row != NONE && n < max)
		hit[n++] = (struct kmhit){KM_FX, row};
	for (uint32_t i = 0; m->ir && i < m->ir->n_node && n < max; i++) {
		const struct irnode *x = &m->ir->node[i];
		bool writes = slice_eq(x->name, name);
		for (uint32_t k = 0; k < x->n_outs && !x->members; k++)
			writes |= slice_eq(m->ir->out[x->out + k].name, name);
		if (writes)
			hit[n++] = (struct kmhit){KM_IR, i};
	}
	for (uint32_t i = 0; place && i < m->n_source && n < max; i++)
		if (same_place(&m->source[i], before, number))
			hit[n++] = (struct kmhit){KM_SOURCE, i};
	return n;
}

/* ---- fusion ---- */

struct fusing {
	struct kernelmap *m;
	const struct kmuse *u;
	struct kmfusion *row;
	uint32_t n, max;
};

static void put(struct fusing *f, struct kmfusion row)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (slice_eq(f->row[i].a, row.a) && slice_eq(f->row[i].b, row.b) && slice_eq(f->row[i].reason, row.reason))
			return;
	if (f->n < f->max)
		f->row[f->n++] = row;
}

/* Is it the name of one of these nodes, or of a node fused from them ("op0_op2")? */
static bool mine(const struct fusing *f, struct slice name)
{
	const struct kernelmap *m = f->m;
	for (uint32_t i = 0; i < f->u->ir.n; i++) {
		struct slice node = m->ir->node[m->item[f->u->ir.first + i]].name, rest = name;
		for (const char *at; (at = slice_find(rest, "_")) || rest.n;) {
			struct slice part = at ? slice_of(rest.p, (size_t)(at - rest.p)) : rest;
			if (slice_eq(part, node))
				return true;
			rest = at ? slice_of(at + 1, rest.n - part.n - 1) : SLICE("");
		}
	}
	return false;
}

static bool reads(const struct irtext *ir, const struct irnode *n, const struct irnode *writer)
{
	for (uint32_t i = 0; i < n->n_unmet; i++)
		for (uint32_t k = 0; k < writer->n_writes; k++)
			if (slice_eq(ir->name[n->unmet + i], ir->name[writer->write + k]))
				return true;
	return false;
}

/* Do both loop over the same sizes? The group of a node is (sizes, reduced sizes); a pointwise node fits a reduction if it
 * has all of them: only clear mismatches are reported. */
static void derive(struct fusing *f, uint32_t a, uint32_t b)
{
	struct kernelmap *m = f->m;
	const struct irnode *x = &m->ir->node[a], *y = &m->ir->node[b];
	LOCAL_BUF text = {0};
	if (slice_starts(x->kind, "Extern") || slice_starts(y->kind, "Extern"))
		buf_addf(&text, "%.*s is an operator of torch, not generated code", SL((slice_starts(x->kind, "Extern") ? x : y)->name));
	else if (x->device.n && y->device.n && !slice_eq(x->device, y->device))
		buf_addf(&text, "different devices: %.*s and %.*s", SL(x->device), SL(y->device));
	else if (x->group.n && y->group.n && !slice_eq(x->group, y->group))
		buf_addf(&text, "different loops: %.*s and %.*s", SL(x->group), SL(y->group));
	if (text.len)
		put(f, (struct kmfusion){.a = x->name, .b = y->name, .reason = arena_slice(&m->arena, buf_slice(&text)), .derived = true});
}

uint32_t kernelmap_fusion(struct kernelmap *m, uint32_t use, struct kmfusion *row, uint32_t max)
{
	struct fusing f = {.m = m, .u = &m->use[use], .row = row, .max = max};
	const struct fusionlog *log = m->in.fusion;
	bool said = false;
	if (!m->ir || !f.u->ir.n)
		return 0;
	for (uint32_t i = 0; log && i < log->n; i++) {
		const struct fusion *r = &log->row[i];
		if (r->kind == FUSION_ORIGINS || !km_row_is_mine(m, r))
			continue;
		if (!mine(&f, r->a) && !mine(&f, r->b))
			continue;
		put(&f, (struct kmfusion){.a = r->a, .b = r->b, .reason = r->reason, .done = r->kind == FUSION_DONE});
		said |= r->kind == FUSION_REFUSED;
	}
	FREED bool *seen = xcalloc(m->ir->n_node, sizeof(*seen));
	for (uint32_t i = 0; i < f.u->ir.n && !said; i++) {
		uint32_t a = irtext_outermost(m->ir, m->item[f.u->ir.first + i]);
		for (uint32_t b = 0; b < m->ir->n_node && !seen[a]; b++)
			if (b != a && m->ir->node[b].parent == NONE) {
				if (reads(m->ir, &m->ir->node[b], &m->ir->node[a]))
					derive(&f, a, b);
				else if (reads(m->ir, &m->ir->node[a], &m->ir->node[b]))
					derive(&f, b, a);
			}
		seen[a] = true;
	}
	return f.n;
}
