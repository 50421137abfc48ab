/* compare_fusions.c - which nodes Inductor fused before and does not now, and why, as far as anything tells.
 *
 * Kernels are mapped to nodes by graph/inductor/kernelmap.h (torch's node mappings, comments, data flow), nodes of both graphs to
 * each other by graph/graphdiff.h. Kernels that share nodes before and after form a group; a group of one and one is the same kernel.
 */
#include "compare/compare_part.h"
#include "graph/inductor/kernelmap.h"

const char *const compare_fused_name[5] = {"split", "merged", "regrouped", "new", "gone"};

enum { NAMED = 60 }; /* nodes or kernels of a row */

struct fusing {
	struct compare *c;
	struct buf text[2][4]; /* of each side: graph, code, mappings, stacks */
	struct kernelmap map[2];
	struct graphdiff d;
	uint32_t *use[2];             /* of each node: the use that has it, NONE */
	uint32_t *owns[2], *first[2]; /* of each use: how many nodes, and its first */
	struct compare_code *code;
};

/* ---- the texts of one piece of code ---- */

/* The graph before the code in the same attempt, and the mappings after it. */
static void find_parts(const struct compare_log *l, uint32_t code, uint32_t part[PROV_TEXTS])
{
	bool after = false;
	memset(part, 0xff, PROV_TEXTS * sizeof(*part));
	for (uint32_t k = l->t.f->attempt[l->t.artifact[code].attempt].first_artifact; k != NONE; k = l->t.artifact[k].next) {
		enum prov_text p = trace_provenance_part(&l->t, &l->t.artifact[k]);
		if (k == code)
			after = true;
		else if (p == PROV_POST && !after)
			part[p] = k;
		else if ((p == PROV_MAP || p == PROV_STACKS) && after && part[p] == NONE)
			part[p] = k;
		else if (p == PROV_CODE && after)
			break;
	}
	part[PROV_CODE] = code;
}

static bool read_side(struct fusing *f, unsigned side, uint32_t code)
{
	static const enum prov_text want[4] = {PROV_POST, PROV_CODE, PROV_MAP, PROV_STACKS};
	struct compare_log *l = compare_side(f->c, side);
	uint32_t part[PROV_TEXTS];
	find_parts(l, code, part);
	if (part[PROV_POST] == NONE)
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		struct buf *b = &f->text[side][i];
		buf_reset(b);
		if (part[want[i]] == NONE)
			continue;
		f->c->read += l->t.artifact[part[want[i]]].size;
		if (f->c->read > 2 * (uint64_t)COMPARE_READ || !compare_payload(l, part[want[i]], b))
			return false;
	}
	const struct buf *b = f->text[side];
	const struct kernelmap_input in = {
	    .graph = buf_slice(&b[0]), .code = buf_slice(&b[1]), .mappings = buf_slice(&b[2]), .stacks = buf_slice(&b[3])};
	kernelmap_build(&f->map[side], &in);
	return f->map[side].has_graph && !f->map[side].fragment;
}

/* ---- kernels that belong together ---- */

static struct slice use_name(const struct kernelmap *m, uint32_t use)
{
	struct slice name = m->use[use].name;
	const char *colon = slice_chr(name, ':');
	return colon ? slice_of(name.p, (size_t)(colon - name.p)) : name;
}

static void take_nodes(struct fusing *f, unsigned side, uint32_t u)
{
	const struct kernelmap *m = &f->map[side];
	for (uint32_t i = 0; i < m->use[u].fx.n; i++) {
		uint32_t node = m->node[m->item[m->use[u].fx.first + i]].fx;
		if (node != NONE && graph_computes(&m->graph.node[node]) && f->use[side][node] == NONE) {
			f->use[side][node] = u;
			f->first[side][u] = f->owns[side][u] && f->first[side][u] < node ? f->first[side][u] : node;
			f->owns[side][u]++;
		}
	}
}

/* The use of each node. What several kernels compute again belongs to the first; to a library's call before any, which computes nothing
 * else: a fused kernel's comment also names what it only reads. */
static void uses_of_nodes(struct fusing *f, unsigned side)
{
	const struct kernelmap *m = &f->map[side];
	f->use[side] = xcalloc(m->graph.n_nodes + 1, sizeof(*f->use[side]));
	f->owns[side] = xcalloc(m->n_use + 1u, sizeof(*f->owns[side]));
	f->first[side] = xcalloc(m->n_use + 1u, sizeof(*f->first[side]));
	memset(f->use[side], 0xff, m->graph.n_nodes * sizeof(*f->use[side]));
	for (unsigned generated = 0; generated < 2; generated++)
		for (uint32_t u = 0; u < m->n_use; u++)
			if ((m->use[u].kernel != NONE) == generated)
				take_nodes(f, side, u);
}

static uint32_t root(uint32_t *group, uint32_t i)
{
	while (group[i] != i)
		i = group[i] = group[group[i]];
	return i;
}

/* Groups: uses before have their own numbers, uses after are counted on. */
static void join_uses(struct fusing *f, uint32_t *group)
{
	const struct graph *a = &f->map[0].graph;
	for (uint32_t i = 0; i < f->map[0].n_use + f->map[1].n_use; i++)
		group[i] = i;
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		uint32_t k = f->d.match[0][i], x = f->use[0][i], y = k == NONE ? NONE : f->use[1][k];
		if (x != NONE && y != NONE)
			group[root(group, x)] = root(group, f->map[0].n_use + y);
	}
}

/* ---- why ---- */

static void add_reason(struct buf *b, struct slice text)
{
	if (b->len > 600)
		return;
	if (b->len)
		buf_adds(b, "; ");
	buf_add_slice(b, text);
}

struct near {
	const struct fusing *f;
	unsigned side;
	const uint32_t *group;
	uint32_t which;
	bool found;
};

static bool in_group(const struct fusing *f, unsigned side, uint32_t node, const uint32_t *group, uint32_t which)
{
	uint32_t u = f->use[side][node];
	return u != NONE && group[side ? f->map[0].n_use + u : u] == which;
}

static bool near_operand(void *user, uint32_t operand)
{
	struct near *n = user;
	n->found |= in_group(n->f, n->side, operand, n->group, n->which);
	return !n->found;
}

/* Is a node in a kernel of the group, or does it read or feed one? */
static bool near_group(const struct fusing *f, unsigned side, uint32_t node, const uint32_t *group, uint32_t which)
{
	const struct graph *g = &f->map[side].graph;
	struct near n = {f, side, group, which, in_group(f, side, node, group, which)};
	if (!n.found)
		graph_operands(g, node, near_operand, &n);
	for (uint32_t i = g->user_of[node]; !n.found && i < g->user_of[node + 1]; i++)
		n.found = in_group(f, side, g->user[i], group, which);
	return n.found;
}

/* Changes of the graph in and beside the kernels. */
static void reasons_of_graph(const struct fusing *f, const uint32_t *group, uint32_t which, struct buf *b)
{
	for (uint32_t i = 0; i < f->d.n_row; i++) {
		const struct graphdiff_row *r = &f->d.row[i];
		bool own = r->cause == NONE, is = r->a != NONE && near_group(f, 0, r->a, group, which);
		is = is || (r->b != NONE && near_group(f, 1, r->b, group, which));
		if (!is)
			continue;
		/* Its cause explains what follows. */
		r = own ? r : &f->d.row[r->cause];
		LOCAL_BUF t = {0};
		const struct graph *g = r->b != NONE ? f->d.b : f->d.a;
		buf_add_slice(&t, graph_name(g, r->b != NONE ? r->b : r->a));
		buf_addf(&t, " %s %s", r->kind == GRAPHDIFF_REMOVED || r->kind == GRAPHDIFF_ADDED ? "was" : "has",
			 graphdiff_kind_words[r->kind]);
		if (r->before.n && r->after.n && r->before.n + r->after.n < 80)
			buf_addf(&t, " (%.*s -> %.*s)", SL(r->before), SL(r->after));
		if (!slice_find(buf_slice(b), buf_str(&t)))
			add_reason(b, buf_slice(&t));
	}
}

/* Settings of Inductor that differ: any may decide what is fused. */
static void reasons_of_settings(const struct compare *c, struct buf *b)
{
	for (uint32_t i = 0; i < c->n_change; i++) {
		const struct compare_change *x = &c->change[i];
		if (x->kind != COMPARE_CONFIG || !slice_starts(x->subject, "inductor."))
			continue;
		LOCAL_BUF t = {0};
		buf_add_slice(&t, x->subject);
		if (x->before.n + x->after.n < 60)
			buf_addf(&t, " %.*s -> %.*s", SL(x->before), SL(x->after));
		add_reason(b, buf_slice(&t));
	}
}

/* Is one of the FX nodes that an IR node comes from in a kernel of the group? The kernel, NONE. */
static uint32_t use_of_ir(const struct fusing *f, const struct fusionlog *log, const struct fusion *row, struct slice name,
			  const uint32_t *group, uint32_t which)
{
	const struct graph *g = &f->map[1].graph;
	for (uint32_t i = 0; i < log->n; i++) {
		const struct fusion *o = &log->row[i];
		if (o->kind != FUSION_ORIGINS || !slice_eq(o->a, name) || !slice_eq(o->compile, row->compile))
			continue;
		struct slice rest = o->reason;
		while (rest.n) {
			const char *comma = slice_chr(rest, ',');
			struct slice node = slice_trim(slice_of(rest.p, comma ? (size_t)(comma - rest.p) : rest.n));
			rest = comma ? slice_of(comma + 1, (size_t)(rest.p + rest.n - comma - 1)) : slice_of(rest.p, 0);
			uint32_t k = graph_find(g, 0, node);
			if (k != NONE && in_group(f, 1, k, group, which))
				return f->use[1][k];
		}
	}
	return NONE;
}

/* The same for "op0_op3", nodes that are fused already. */
static uint32_t use_of_fused(const struct fusing *f, const struct fusionlog *log, const struct fusion *row, struct slice name,
			     const uint32_t *group, uint32_t which)
{
	while (name.n) {
		const char *next = slice_find(slice_of(name.p + 1, name.n - 1), "_op");
		struct slice one = slice_of(name.p, next ? (size_t)(next - name.p) : name.n);
		uint32_t use = use_of_ir(f, log, row, one, group, which);
		if (use != NONE)
			return use;
		name = next ? slice_of(next + 1, (size_t)(name.p + name.n - next - 1)) : slice_of(name.p, 0);
	}
	return NONE;
}

/* What torch said about the kernels that are apart now. */
static bool reasons_of_log(const struct fusing *f, const uint32_t *group, uint32_t which, const char *id, struct buf *b)
{
	const struct fusionlog *log = f->c->b->fusion;
	for (uint32_t i = 0; log && i < log->n; i++) {
		const struct fusion *r = &log->row[i];
		if (r->kind != FUSION_REFUSED || !slice_is(r->compile, id))
			continue;
		uint32_t x = use_of_fused(f, log, r, r->a, group, which),
			 y = x == NONE ? NONE : use_of_fused(f, log, r, r->b, group, which);
		if (y == NONE || x == y)
			continue;
		LOCAL_BUF t = {0};
		buf_addf(&t, "torch did not fuse %.*s with %.*s: ", SL(use_name(&f->map[1], x)), SL(use_name(&f->map[1], y)));
		buf_add_slice(&t, r->reason);
		if (!slice_find(buf_slice(b), buf_str(&t)))
			add_reason(b, buf_slice(&t));
	}
	return b->len > 0;
}

/* ---- rows ---- */

static void add_line(struct buf *b, struct slice text, uint32_t nth)
{
	if (nth > NAMED)
		return;
	if (b->len)
		buf_addc(b, '\n');
	buf_add_slice(b, nth == NAMED ? SLICE("...") : text);
}

/* The kernels of a group on one side, with their nodes. lone: a node among them that the other graph lacks. */
static uint32_t list_kernels(struct fusing *f, unsigned side, const uint32_t *group, uint32_t which, bool *lone)
{
	struct compare *c = f->c;
	const struct kernelmap *m = &f->map[side];
	uint32_t n = 0;
	for (uint32_t u = 0; u < m->n_use; u++) {
		uint32_t count = 0;
		LOCAL_BUF nodes = {0};
		if (!f->owns[side][u] || group[side ? f->map[0].n_use + u : u] != which)
			continue;
		for (uint32_t i = f->first[side][u]; i < m->graph.n_nodes; i++) {
			if (f->use[side][i] != u)
				continue;
			*lone |= f->d.match[side][i] == NONE;
			if (!graph_is_getitem(&m->graph, i))
				add_line(&nodes, graph_name(&m->graph, i), count++);
		}
		if (n++ < NAMED)
			PUSH(c, kernel) =
			    (struct compare_kernel){arena_slice(&c->arena, use_name(m, u)), arena_slice(&c->arena, buf_slice(&nodes))};
	}
	return n;
}

static void add_row(struct fusing *f, const uint32_t *group, uint32_t which, const char *id)
{
	struct compare *c = f->c;
	struct compare_fusion row = {.first = c->n_kernel};
	bool lone = false;
	for (unsigned s = 0; s < 2; s++)
		row.n[s] = list_kernels(f, s, group, which, &lone);
	/* Where the nodes of a kernel are in no kernel of the other side, the map is not complete: nothing is known. */
	bool same = row.n[0] == 1 && row.n[1] == 1, unknown = (!row.n[0] || !row.n[1]) && !lone;
	if (same || unknown || f->code->n >= COMPARE_FUSION_ROWS) {
		f->code->more += !same && !unknown;
		c->n_kernel = row.first;
		return;
	}
	LOCAL_BUF why = {0};
	row.logged = reasons_of_log(f, group, which, id, &why);
	reasons_of_graph(f, group, which, &why);
	if (!why.len)
		reasons_of_settings(c, &why);
	row.how = !row.n[0]       ? FUSED_NEW
		  : !row.n[1]     ? FUSED_GONE
		  : row.n[0] == 1 ? FUSED_SPLIT
		  : row.n[1] == 1 ? FUSED_MERGED
				  : FUSED_REGROUPED;
	row.n[0] = row.n[0] < NAMED ? row.n[0] : NAMED;
	row.n[1] = row.n[1] < NAMED ? row.n[1] : NAMED;
	row.why = arena_slice(&c->arena, buf_slice(&why));
	PUSH(c, fusion) = row;
	f->code->n++;
}

static void count_uses(struct fusing *f, unsigned side)
{
	const struct kernelmap *m = &f->map[side];
	for (uint32_t u = 0; u < m->n_use; u++)
		(m->use[u].kernel == NONE ? f->code->externs : f->code->kernels)[side]++;
}

static struct slice draw(struct fusing *f)
{
	struct compare_boxes boxes = {.kernel = {f->use[0], f->use[1]}, .n = {f->map[0].n_use, f->map[1].n_use}};
	struct slice *name[2];
	for (unsigned s = 0; s < 2; s++) {
		boxes.name[s] = name[s] = xcalloc(f->map[s].n_use + 1u, sizeof(*name[s]));
		for (uint32_t u = 0; u < f->map[s].n_use; u++)
			name[s][u] = use_name(&f->map[s], u);
	}
	struct slice text = compare_draw(f->c, &f->d, &boxes);
	free(name[0]);
	free(name[1]);
	return text;
}

static void compare_code(struct fusing *f, uint32_t text)
{
	struct compare *c = f->c;
	struct compare_code code = {.text = text, .first = c->n_fusion};
	f->code = &code;
	char id[COMPILE_ID_TEXT];
	bool both = read_side(f, 0, c->text[text].a);
	if (both && read_side(f, 1, c->text[text].b)) {
		graphdiff_run(&f->d, &f->map[0].graph, &f->map[1].graph);
		uint32_t n = f->map[0].n_use + f->map[1].n_use;
		uint32_t *group = xcalloc(n + 1u, sizeof(*group));
		for (unsigned s = 0; s < 2; s++) {
			uses_of_nodes(f, s);
			count_uses(f, s);
		}
		join_uses(f, group);
		for (uint32_t i = 0; i < n; i++)
			group[i] = root(group, i);
		compile_id_text(&c->b->t.f->attempt[c->b->t.artifact[c->text[text].b].attempt].id, id);
		for (uint32_t i = 0; i < n; i++)
			if (group[i] == i)
				add_row(f, group, i, id);
		if (code.n)
			code.drawing = draw(f);
		PUSH(c, code) = code;
		free(group);
		for (unsigned s = 0; s < 2; s++) {
			free(f->use[s]);
			free(f->owns[s]);
			free(f->first[s]);
		}
		graphdiff_release(&f->d);
	}
	kernelmap_release(&f->map[0]);
	kernelmap_release(&f->map[1]);
}

void compare_fusions(struct compare *c)
{
	struct fusing f = {.c = c};
	for (uint32_t i = 0; i < c->n_text; i++) {
		const struct compare_text *t = &c->text[i];
		bool code = trace_provenance_part(&c->a->t, &c->a->t.artifact[t->a]) == PROV_CODE &&
			    trace_provenance_part(&c->b->t, &c->b->t.artifact[t->b]) == PROV_CODE;
		if (code && t->same_as == NONE && t->shown)
			compare_code(&f, i);
	}
	for (unsigned s = 0; s < 2; s++)
		for (unsigned k = 0; k < ARRAY_LEN(f.text[s]); k++)
			buf_release(&f.text[s][k]);
}
