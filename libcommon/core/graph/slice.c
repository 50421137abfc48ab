#include "graph/slice.h"

/* The role of a node of g in the candidate. */
enum { KEPT = 1, INPUT = 2, ATTR = 4, USED = 8 /* by a kept node, or returned by g */, RETURNED = 16 };

struct build {
	const struct graph *g;
	const struct units *u;
	const uint32_t *replace;
	struct graph *out;
	struct cut *cut;
	uint8_t *is;   /* node of the root -> the bits above */
	bool *used;    /* unit -> used by a node of another unit */
	uint32_t *map; /* node of g -> node of out */
	uint32_t user, bad;
	struct err *err;
};

/* The node that replaces another as an operand; the node itself if a chain returns to it. */
static uint32_t resolve(const struct graph *g, const uint32_t *replace, uint32_t node)
{
	uint32_t at = node;
	for (size_t steps = 0; replace && replace[at] != NONE; steps++) {
		if (steps > g->n_nodes)
			return node;
		at = replace[at];
	}
	return at;
}

/* A tuple, or no value at all: cannot be an input or output of a candidate. */
static bool no_single_value(const struct build *b, uint32_t node)
{
	return b->u->is[node] & (NODE_TUPLE | NODE_NO_VALUE) && b->g->node[node].op != GRAPH_PLACEHOLDER;
}

static bool mark_operand(void *user, uint32_t operand)
{
	struct build *b = user;
	uint32_t r = resolve(b->g, b->replace, operand), unit = b->u->of[r];
	if (b->g->node[r].op == GRAPH_GET_ATTR) {
		b->is[r] |= ATTR;
	} else if (b->is[r] & KEPT) {
		b->is[r] |= USED;
		b->used[unit] |= unit != b->u->of[b->user];
	} else if (no_single_value(b, r)) {
		b->bad = r;
		return false;
	} else {
		b->is[r] |= INPUT;
	}
	if (r >= b->user)
		b->bad = r;
	return b->bad == NONE;
}

/* Lists the outputs of g that are in the candidate: inputs always, since returning one may be what fails; not replacements. */
static bool mark_returned(void *user, uint32_t r)
{
	struct build *b = user;
	if (b->g->node[r].op == GRAPH_PLACEHOLDER)
		b->is[r] |= INPUT | RETURNED;
	else if (b->g->node[r].op == GRAPH_GET_ATTR)
		b->is[r] |= ATTR | RETURNED;
	else if (b->is[r] & KEPT && !no_single_value(b, r)) {
		b->is[r] |= USED | RETURNED;
		b->used[b->u->of[r]] = true;
	}
	return true;
}

static int no_input(const struct build *b)
{
	struct slice user = graph_name(b->g, b->user), node = graph_name(b->g, b->bad);
	return err_set(b->err, EXIT_INPUT, "node '%.*s' needs '%.*s', %s", SLN(user, 200), SLN(node, 200),
		       b->bad >= b->user                  ? "which does not come before it"
		       : b->u->is[b->bad] & NODE_NO_VALUE ? "whose value cannot be supplied"
							  : "whose value is a tuple");
}

static int mark(struct build *b, const uint64_t *keep)
{
	const struct units *u = b->u;
	for (size_t i = 0; i < u->n; i++)
		for (uint32_t k = u->first[i]; bit_in(keep, i) && k < u->first[i + 1]; k++)
			b->is[u->node[k]] |= KEPT;
	for (size_t i = 0; i < u->n; i++)
		for (uint32_t k = u->first[i]; bit_in(keep, i) && k < u->first[i + 1]; k++) {
			b->user = u->node[k];
			if (!graph_operands(b->g, b->user, mark_operand, b))
				return no_input(b);
		}
	graph_operands(b->g, b->g->module[0].output, mark_returned, b);
	return 0;
}

static void placed(struct build *b, uint32_t node, uint32_t id)
{
	b->map[node] = id;
	b->cut->from[b->cut->n_nodes++] = node;
}

static void add_input(struct build *b, uint32_t node)
{
	const struct gnode *n = &b->g->node[node];
	uint32_t id;
	if (n->op == GRAPH_PLACEHOLDER) {
		id = graph_copy_node(b->out, 0, b->g, node, b->map);
	} else {
		uint32_t name = graph_copy_text(b->out, b->g, n->name);
		id = graph_add_node_ids(b->out, 0, GRAPH_PLACEHOLDER, name, name);
		b->out->node[id].meta = graph_copy_meta(b->out, b->g, n->meta);
		b->out->node[id].type = graph_copy_text(b->out, b->g, n->type);
		b->out->node[id].stack = graph_copy_text(b->out, b->g, n->stack);
	}
	placed(b, node, id);
	b->cut->input[b->cut->n_inputs++] = node;
}

static void add_inputs(struct build *b, const struct gmodule *root)
{
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (b->is[i] & INPUT && b->g->node[i].op == GRAPH_PLACEHOLDER)
			add_input(b, i);
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if (b->is[i] & INPUT && b->g->node[i].op != GRAPH_PLACEHOLDER)
			add_input(b, i);
}

static bool map_operand(void *user, uint32_t operand)
{
	struct build *b = user;
	b->map[operand] = b->map[resolve(b->g, b->replace, operand)];
	return true;
}

/* Nodes in g's order. Unused getitems are left out. */
static void add_nodes(struct build *b, const struct gmodule *root)
{
	for (uint32_t i = root->first; i < root->first + root->n; i++) {
		if (!(b->is[i] & (KEPT | ATTR)) || (b->u->is[i] & NODE_GETITEM && !(b->is[i] & USED) && b->used[b->u->of[i]]))
			continue;
		if (b->replace)
			graph_operands(b->g, i, map_operand, b);
		placed(b, i, graph_copy_node(b->out, 0, b->g, i, b->map));
	}
}

struct returns {
	struct build *b;
	struct gvalue *v;
	size_t n, cap;
};

static void add_return(struct returns *r, uint32_t node, struct gvalue v)
{
	GROW(r->v, r->n, r->cap, 1);
	r->b->cut->output = xreallocarray(r->b->cut->output, r->cap, sizeof(*r->b->cut->output));
	r->b->cut->output[r->n] = node;
	r->v[r->n++] = v;
}

/* The original's return values, flattened: those in the candidate, and constants. */
static void add_returned(struct returns *r, struct gvalue v)
{
	const struct build *b = r->b;
	if (v.kind == GV_NODE) {
		if (b->is[v.node] & RETURNED)
			add_return(r, v.node, graph_node_value(b->map[v.node]));
	} else if (gvalue_has_children(v)) {
		for (uint32_t k = 0; k < v.n; k++)
			add_returned(r, b->g->value[v.first + k]);
	} else {
		add_return(r, NONE, graph_copy_value(b->out, b->g, v, b->map));
	}
}

/* The output of the candidate: the original's outputs, then values unused in K. */
static void add_output(struct build *b, const struct gmodule *root)
{
	const struct graph *g = b->g;
	const struct gnode *old = &g->node[root->output];
	struct returns r = {.b = b};
	for (uint32_t k = 0; k < old->n_args; k++)
		add_returned(&r, g->value[old->args + k]);
	for (size_t k = b->cut->n_inputs; k < b->cut->n_nodes; k++) {
		uint32_t i = b->cut->from[k];
		if (b->is[i] & KEPT && !(b->is[i] & USED) && !no_single_value(b, i) && !b->used[b->u->of[i]])
			add_return(&r, i, graph_node_value((uint32_t)k));
	}
	b->cut->n_outputs = r.n;
	bool list = old->n_args && g->value[old->args].kind == GV_LIST;
	uint32_t id =
	    graph_add_node_ids(b->out, 0, GRAPH_OUTPUT, graph_copy_text(b->out, g, old->name), graph_copy_text(b->out, g, old->target));
	struct gvalue all = graph_sequence(b->out, list ? GV_LIST : GV_TUPLE, r.v, r.n);
	graph_set_args(b->out, id, &all, 1);
	b->cut->from[b->cut->n_nodes++] = NONE;
	free(r.v);
}

/* The attribute that get_attr or call_module refers to: "layers.0", or the "layers" that holds it. */
static void add_attr(struct build *b, struct slice target)
{
	const struct gattr *a = graph_attr(b->g, 0, target);
	while (!a && target.n) {
		const char *dot = slice_rchr(target, '.');
		target.n = dot ? (size_t)(dot - target.p) : 0;
		a = target.n ? graph_attr(b->g, 0, target) : NULL;
	}
	if (!a || graph_attr(b->out, 0, target))
		return;
	uint32_t id = graph_add_attr(b->out, 0, a->kind, target, a->expr == NONE ? (struct slice){0} : graph_text(b->g, a->expr));
	b->out->attr[id].meta = graph_copy_meta(b->out, b->g, a->meta);
}

/* Attributes and child modules in use. */
static void add_parts(struct build *b)
{
	if (!b->g->n_attrs && b->g->n_modules == 1)
		return;
	for (size_t k = 0; k < b->cut->n_nodes - 1; k++) {
		const struct gnode *n = &b->g->node[b->cut->from[k]];
		if (k < b->cut->n_inputs || (n->op != GRAPH_GET_ATTR && n->op != GRAPH_CALL_MODULE))
			continue;
		struct slice target = graph_text(b->g, n->target);
		uint32_t child = graph_child(b->g, 0, target);
		add_attr(b, target);
		if (child != NONE && graph_child(b->out, 0, target) == NONE)
			graph_copy_module(b->out, 0, b->g, child);
	}
}

/* Reserves room at once: growing would copy everything several times. Returns the number of nodes. */
static size_t room(const struct build *b)
{
	const struct gmodule *root = &b->g->module[0];
	struct graph *o = b->out;
	size_t n = 1, share;
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		n += (b->is[i] & (KEPT | INPUT | ATTR)) != 0;
	share = root->n / n + 1;
	GROW(o->node, 0, o->cap_nodes, n);
	GROW(o->value, 0, o->cap_values, b->g->n_values / share + n);
	GROW(o->meta, 0, o->cap_meta, b->g->n_meta / share + n);
	GROW(o->dim, 0, o->cap_dims, b->g->n_dims / share + n);
	return n;
}

static int build(struct build *b, const uint64_t *keep)
{
	const struct gmodule *root = &b->g->module[0];
	size_t n;
	if (mark(b, keep) < 0)
		return -1;
	n = room(b);
	b->cut->input = xreallocarray(NULL, n, sizeof(*b->cut->input));
	b->cut->from = xreallocarray(NULL, n, sizeof(*b->cut->from));
	graph_add_module(b->out, NONE, SLICE(""), graph_text(b->g, root->class_name));
	add_inputs(b, root);
	add_nodes(b, root);
	add_output(b, root);
	add_parts(b);
	return graph_finish(b->out, b->err);
}

int slice_build(const struct graph *g, const struct units *u, const uint64_t *keep, const uint32_t *replace, struct graph *out,
		struct cut *cut, struct err *err)
{
	struct build b = {.g = g, .u = u, .replace = replace, .out = out, .cut = cut, .bad = NONE, .err = err};
	b.is = xcalloc(g->n_nodes + 1, 1);
	b.used = xcalloc(u->n + 1, sizeof(*b.used));
	b.map = xreallocarray(NULL, g->n_nodes + 1, sizeof(*b.map));
	cut_release(cut);
	graph_borrow(out, g);
	int rc = build(&b, keep);
	if (rc < 0) {
		graph_release(out);
		cut_release(cut);
	}
	free(b.is);
	free(b.used);
	free(b.map);
	return rc;
}

void cut_release(struct cut *cut)
{
	free(cut->input);
	free(cut->output);
	free(cut->from);
	*cut = (struct cut){0};
}

/* ---- what metadata can supply ---- */

struct closing {
	const struct graph *g;
	const struct units *u;
	const uint32_t *replace;
	bool guess;
	uint64_t *keep;
	size_t next; /* units from here on were processed; those added after it are processed again */
};

static bool can_be_made(const struct closing *c, uint32_t node)
{
	const struct gnode *n = &c->g->node[node];
	if (n->op == GRAPH_PLACEHOLDER || n->op == GRAPH_GET_ATTR)
		return true;
	if (n->meta == NONE)
		return c->guess && !(c->u->is[node] & (NODE_TUPLE | NODE_NO_VALUE | NODE_NO_TENSOR));
	const struct gmeta *m = &c->g->meta[n->meta];
	return m->kind == GMETA_SYM || (m->kind == GMETA_TENSOR && m->dtype != DTYPE_NONE);
}

static bool close_operand(void *user, uint32_t operand)
{
	struct closing *c = user;
	uint32_t node = resolve(c->g, c->replace, operand), unit = c->u->of[node];
	if (unit == NONE || bit_in(c->keep, unit) || can_be_made(c, node))
		return true;
	bit_add(c->keep, unit);
	if (unit >= c->next)
		c->next = unit + 1;
	return true;
}

/* Operands precede their users, so one backward pass is nearly always enough; a unit of several nodes may begin before what its
 * last one uses. */
void slice_close(const struct graph *g, const struct units *u, const uint32_t *replace, bool guess, uint64_t *keep)
{
	struct closing c = {g, u, replace, guess, keep, u->n};
	while (c.next) {
		size_t i = --c.next;
		for (uint32_t k = u->first[i]; bit_in(keep, i) && k < u->first[i + 1]; k++)
			graph_operands(g, u->node[k], close_operand, &c);
	}
}
