/* compare_fusions.c - which nodes Inductor fused before and does not now, and why, as far as anything tells.
 *
 * Kernels are mapped to nodes by graph/inductor/kernelmap.h (torch's node mappings, comments, data flow), nodes of both graphs to each other
 * by graph/graphdiff.h. Kernels that share nodes before and after form a group; a group of one and one is the same kernel.
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
	uint32_t *use[2];  /* of each node: the use that has it, NONE */
	uint32_t *owns[2]; /* of each use: its nodes */
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
	const struct kernelmap_input in = {.graph = buf_slice(&b[0]), .code = buf_slice(&b[1]), .mappings = buf_slice(&b[2]), .stacks = buf_slice(&b[3])};
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
		/* What follows is told by its cause. */
		r = own ? r : &f->d.row[r->cause];
		LOCAL_BUF t = {0};
		const struct graph *g = r->b != NONE ? f->d.b : f->d.a;
		buf_add_slice(&t, graph_name(g, r->b != NONE ? r->b : r->a));
		buf_addf(&t, " %s %s", r->kind == GRAPHDIFF_REMOVED || r->kind == GRAPHDIFF_ADDED ? "was" : "has", graphdiff_kind_words[r->kind]);
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

/* ---- rows ---- */

struct lists {
	struct buf kernels[2], nodes, why;
	uint32_t n[2], n_nodes;
	bool lone; /* a node that only one graph has */
};

static void add_line(struct buf *b, struct slice text, uint32_t nth)
{
	if (nth > NAMED)
		return;
	if (b->len)
		buf_addc(b, '\n');
	buf_add_slice(b, nth == NAMED ? SLICE("...") : text);
}

static void list_group(const struct fusing *f, const uint32_t *group, uint32_t which, struct lists *l)
{
	for (unsigned s = 0; s < 2; s++) {
		const struct kernelmap *m = &f->map[s];
		for (uint32_t u = 0; u < m->n_use; u++)
			if (f->owns[s][u] && group[s ? f->map[0].n_use + u : u] == which)
				add_line(&l->kernels[s], use_name(m, u), l->n[s]++);
	}
	for (unsigned s = 0; s < 2; s++) {
		const struct graph *g = &f->map[s].graph;
		for (uint32_t i = 0; i < g->n_nodes; i++)
			if (in_group(f, s, i, group, which) && (s || f->d.match[0][i] == NONE) && !graph_is_getitem(g, i))
				add_line(&l->nodes, graph_name(g, i), l->n_nodes++);
		for (uint32_t i = 0; i < g->n_nodes; i++)
			l->lone |= f->d.match[s][i] == NONE && in_group(f, s, i, group, which);
	}
}

static void add_row(struct fusing *f, const uint32_t *group, uint32_t which)
{
	struct compare *c = f->c;
	struct lists l = {.n_nodes = 0};
	list_group(f, group, which, &l);
	/* Where the nodes of a kernel are in no kernel of the other side, the map is not complete: nothing is known. */
	bool same = (l.n[0] == 1 && l.n[1] == 1) || ((!l.n[0] || !l.n[1]) && !l.lone);
	if (!same && f->code->n >= COMPARE_FUSION_ROWS) {
		f->code->more++;
	} else if (!same && (l.n[0] || l.n[1])) {
		reasons_of_graph(f, group, which, &l.why);
		if (!l.why.len)
			reasons_of_settings(c, &l.why);
		enum compare_fused how = !l.n[0]                   ? FUSED_NEW
					 : !l.n[1]                 ? FUSED_GONE
					 : l.n[0] == 1             ? FUSED_SPLIT
					 : l.n[1] == 1             ? FUSED_MERGED
								   : FUSED_REGROUPED;
		PUSH(c, fusion) = (struct compare_fusion){.how = how,
							  .kernels = {arena_slice(&c->arena, buf_slice(&l.kernels[0])),
								      arena_slice(&c->arena, buf_slice(&l.kernels[1]))},
							  .nodes = arena_slice(&c->arena, buf_slice(&l.nodes)),
							  .why = arena_slice(&c->arena, buf_slice(&l.why))};
		f->code->n++;
	}
	buf_release(&l.kernels[0]);
	buf_release(&l.kernels[1]);
	buf_release(&l.nodes);
	buf_release(&l.why);
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
		for (uint32_t i = 0; i < n; i++)
			if (group[i] == i)
				add_row(f, group, i);
		if (code.n)
			code.drawing = draw(f);
		PUSH(c, code) = code;
		free(group);
		for (unsigned s = 0; s < 2; s++) {
			free(f->use[s]);
			free(f->owns[s]);
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
