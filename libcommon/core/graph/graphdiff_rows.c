/* graphdiff_rows.c - what changed between matched graphs, and what follows from what. */
#include "graph/graphdiff_part.h"
#include "graph/fxcode.h"

enum { TEXT = 400, REACH = 512 }; /* REACH: nodes of one graph only that are followed from an operand */

struct telling {
	struct graphdiff *d;
	struct gd_symbols symbols;
	uint32_t *cause[2]; /* of each node: the row that what it computes differs for, NONE */
	struct buf before, after;
	uint32_t why;          /* the row that explains the operands that differ; NONE */
	bool nodes, constants; /* operands that differ: nodes without an explanation, constants */
	bool explained;
};

static uint32_t add_row(struct telling *t, enum graphdiff_kind kind, uint32_t a, uint32_t b, uint32_t cause, struct slice before,
			struct slice after)
{
	struct graphdiff *d = t->d;
	if (d->n_row >= GRAPHDIFF_ROWS) {
		d->more++;
		return cause;
	}
	before.n = before.n > TEXT ? TEXT : before.n;
	after.n = after.n > TEXT ? TEXT : after.n;
	PUSH(d, row) = (struct graphdiff_row){kind, a, b, cause, arena_slice(&d->arena, before), arena_slice(&d->arena, after)};
	d->own += cause == NONE;
	return d->n_row - 1;
}

/* The change that a row is part of. */
static uint32_t root_of(const struct graphdiff *d, uint32_t row)
{
	return row != NONE && d->row[row].cause != NONE ? d->row[row].cause : row;
}

/* ---- nodes that only one graph has ---- */

static void call_text(const struct graph *g, uint32_t node, struct buf *b)
{
	const struct gnode *n = &g->node[node];
	buf_reset(b);
	if (!graph_computes(n)) {
		buf_adds(b, n->op == GRAPH_PLACEHOLDER ? "an input" : n->op == GRAPH_GET_ATTR ? "an attribute" : "the output");
		return;
	}
	buf_add_slice(b, graph_op_text(g, node));
	buf_addc(b, '(');
	for (uint32_t i = 0; i < n->n_args && b->len < TEXT; i++) {
		buf_adds(b, i ? ", " : "");
		fxcode_value(g, g->value[n->args + i], b);
	}
	for (uint32_t i = 0; i < n->n_kwargs && b->len < TEXT; i++) {
		const struct gvalue *kw = &g->value[n->kwargs + 2 * i];
		buf_adds(b, i || n->n_args ? ", " : "");
		buf_add_slice(b, graph_text(g, kw->text));
		buf_addc(b, '=');
		fxcode_value(g, kw[1], b);
	}
	buf_addc(b, ')');
}

static void lone_nodes(struct telling *t, unsigned side)
{
	const struct graph *g = side ? t->d->b : t->d->a;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (t->d->match[side][i] != NONE)
			continue;
		call_text(g, i, &t->before);
		struct slice text = buf_slice(&t->before), none = slice_of("", 0);
		t->cause[side][i] = side ? add_row(t, GRAPHDIFF_ADDED, NONE, i, NONE, none, text)
					 : add_row(t, GRAPHDIFF_REMOVED, i, NONE, NONE, text, none);
	}
}

/* ---- operands ---- */

struct reach {
	const struct graphdiff *d;
	unsigned side;
	uint32_t *seen; /* nodes of graph b that are reached */
	uint32_t n, cap;
	uint32_t *todo;
	uint32_t n_todo, cap_todo;
};

static void reach_operand(void *ctx, uint32_t operand, uint64_t place)
{
	struct reach *r = ctx;
	(void)place;
	if (r->n_todo < REACH)
		PUSH_TO(r->todo, r->n_todo, r->cap_todo) = operand;
}

/* The nodes of graph b from which `node` of a side is computed through nodes that only this side has: itself, if both have it. */
static void reach_through(struct reach *r, const struct graphdiff *d, unsigned side, uint32_t node)
{
	r->d = d;
	r->side = side;
	r->n = r->n_todo = 0;
	PUSH_TO(r->todo, r->n_todo, r->cap_todo) = node;
	for (unsigned steps = 0; r->n_todo && steps < REACH; steps++) {
		uint32_t i = r->todo[--r->n_todo], match = d->match[side][i];
		if (match != NONE)
			PUSH_TO(r->seen, r->n, r->cap) = side ? i : match;
		else
			gd_operands(side ? d->b : d->a, i, reach_operand, r);
	}
}

/* A row that explains why operand a became operand b: a node between them is gone or new. */
static uint32_t explains(struct telling *t, uint32_t a, uint32_t b)
{
	struct graphdiff *d = t->d;
	bool gone = d->match[0][a] == NONE, added = d->match[1][b] == NONE;
	struct reach r[2] = {{0}};
	uint32_t why = NONE;
	if (!gone && !added)
		return NONE;
	reach_through(&r[0], d, 0, a);
	reach_through(&r[1], d, 1, b);
	for (uint32_t i = 0; i < r[0].n && why == NONE; i++)
		for (uint32_t k = 0; k < r[1].n && why == NONE; k++)
			if (r[0].seen[i] == r[1].seen[k])
				why = gone ? t->cause[0][a] : t->cause[1][b];
	if (gone && added) /* replaced */
		why = t->cause[1][b];
	for (unsigned k = 0; k < 2; k++) {
		free(r[k].seen);
		free(r[k].todo);
	}
	return why;
}

static void add_both(struct telling *t, struct slice name, const struct gvalue *a, const struct gvalue *b)
{
	for (unsigned k = 0; k < 2; k++) {
		struct buf *out = k ? &t->after : &t->before;
		const struct gvalue *v = k ? b : a;
		if (out->len > TEXT || !v)
			continue;
		buf_adds(out, out->len ? ", " : "");
		if (name.n) {
			buf_add_slice(out, name);
			buf_addc(out, '=');
		}
		fxcode_value(k ? t->d->b : t->d->a, *v, out);
	}
}

static bool same_constant(const struct graph *g, struct gvalue x, const struct graph *h, struct gvalue y)
{
	if (x.kind != y.kind)
		return false;
	if (gvalue_has_text(x))
		return slice_eq(graph_text(g, x.text), graph_text(h, y.text));
	return x.kind == GV_NONE || x.kind == GV_ELLIPSIS || (x.kind == GV_BOOL ? !x.i == !y.i : x.i == y.i);
}

static void compare_nodes(struct telling *t, struct slice name, const struct gvalue *a, const struct gvalue *b)
{
	if (t->d->match[0][a->node] == b->node)
		return;
	uint32_t why = explains(t, a->node, b->node);
	if (why == NONE)
		t->nodes = true;
	else
		t->why = why;
	t->explained |= why != NONE;
	add_both(t, name, a, b);
}

static bool has_node(const struct graph *g, struct gvalue v, unsigned depth)
{
	if (v.kind == GV_NODE)
		return true;
	for (uint32_t i = 0; gvalue_has_children(v) && i < v.n && depth < GRAPH_MAX_DEPTH; i++)
		if (has_node(g, g->value[v.first + i], depth + 1))
			return true;
	return false;
}

/* An element that only the list of one side has: because its node is new or gone, or else a change of this node. */
static void lone_element(struct telling *t, struct slice name, unsigned side, const struct gvalue *v)
{
	uint32_t why = v->kind == GV_NODE && t->d->match[side][v->node] == NONE ? t->cause[side][v->node] : NONE;
	if (why == NONE)
		t->nodes = true;
	else
		t->why = why;
	t->explained |= why != NONE;
	add_both(t, name, side ? NULL : v, side ? v : NULL);
}

/* Lists of different lengths, in turn. */
static void compare_lists(struct telling *t, struct slice name, const struct gvalue *a, const struct gvalue *b)
{
	enum { AHEAD = 64 };
	const struct graphdiff *d = t->d;
	const struct gvalue *x = &d->a->value[a->first], *y = &d->b->value[b->first];
	uint32_t i = 0, k = 0;
	while (i < a->n && k < b->n && x[i].kind == GV_NODE && y[k].kind == GV_NODE) {
		uint32_t match = d->match[0][x[i].node], n = k;
		while (n < b->n && n < k + AHEAD && (y[n].kind != GV_NODE || y[n].node != match))
			n++;
		bool later = n < b->n && n < k + AHEAD;
		if (later && n == k) {
			i++;
			k++;
		} else if (later) {
			lone_element(t, name, 1, &y[k++]);
		} else {
			lone_element(t, name, 0, &x[i++]);
		}
	}
	while (i < a->n)
		lone_element(t, name, 0, &x[i++]);
	while (k < b->n)
		lone_element(t, name, 1, &y[k++]);
}

static void compare_values(struct telling *t, struct slice name, const struct gvalue *a, const struct gvalue *b, unsigned depth)
{
	const struct graph *g = t->d->a, *h = t->d->b;
	if (a->kind == GV_NODE && b->kind == GV_NODE) {
		compare_nodes(t, name, a, b);
	} else if (gvalue_has_children(*a) && a->kind == b->kind && depth < GRAPH_MAX_DEPTH) {
		bool nodes = a->n != b->n && (has_node(g, *a, 0) || has_node(h, *b, 0));
		if (nodes) {
			compare_lists(t, name, a, b);
		} else if (a->n != b->n) {
			t->constants = true;
			add_both(t, name, a, b);
		}
		for (uint32_t i = 0; a->n == b->n && i < a->n; i++)
			compare_values(t, name, &g->value[a->first + i], &h->value[b->first + i], depth + 1);
	} else if (!same_constant(g, *a, h, *b)) {
		bool nodes = has_node(g, *a, 0) || has_node(h, *b, 0);
		*(nodes ? &t->nodes : &t->constants) = true;
		add_both(t, name, a, b);
	}
}

static void compare_operands(struct telling *t, uint32_t a, uint32_t b)
{
	const struct graph *g = t->d->a, *h = t->d->b;
	const struct gnode *x = &g->node[a], *y = &h->node[b];
	const struct slice none = slice_of("", 0);
	t->nodes = t->constants = t->explained = false;
	t->why = NONE;
	buf_reset(&t->before);
	buf_reset(&t->after);
	for (uint32_t i = 0; i < x->n_args || i < y->n_args; i++) {
		const struct gvalue *u = i < x->n_args ? &g->value[x->args + i] : NULL, *v = i < y->n_args ? &h->value[y->args + i] : NULL;
		if (u && v) {
			compare_values(t, none, u, v, 0);
			continue;
		}
		*(has_node(u ? g : h, u ? *u : *v, 0) ? &t->nodes : &t->constants) = true;
		add_both(t, none, u, v);
	}
	for (unsigned side = 0; side < 2; side++) {
		const struct gnode *own = side ? y : x;
		const struct graph *of = side ? h : g;
		for (uint32_t i = 0; i < own->n_kwargs; i++) {
			const struct gvalue *kw = &of->value[own->kwargs + 2 * i];
			struct slice name = graph_text(of, kw->text);
			FREED char *text = xstrndup(name.p, name.n);
			const struct gvalue *other = graph_kwarg(side ? g : h, side ? a : b, text);
			if (other && !side) {
				compare_values(t, name, &kw[1], other, 0);
			} else if (!other) {
				*(has_node(of, kw[1], 0) ? &t->nodes : &t->constants) = true;
				add_both(t, name, side ? NULL : &kw[1], side ? &kw[1] : NULL);
			}
		}
	}
}

/* Values of constants: get_attr of "tensor([1, 2])". */
static uint32_t compare_attributes(struct telling *t, uint32_t a, uint32_t b)
{
	const struct graph *g = t->d->a, *h = t->d->b;
	const struct gattr *x = graph_attr(g, g->node[a].module, graph_text(g, g->node[a].target)),
			   *y = graph_attr(h, h->node[b].module, graph_text(h, h->node[b].target));
	if (!x || !y || x->expr == NONE || y->expr == NONE || slice_eq(graph_text(g, x->expr), graph_text(h, y->expr)))
		return NONE;
	return add_row(t, GRAPHDIFF_CONSTANTS, a, b, NONE, graph_text(g, x->expr), graph_text(h, y->expr));
}

/* ---- matched nodes ---- */

struct tainted {
	const struct telling *t;
	unsigned side;
	uint32_t row;
};
static void taint_of(void *ctx, uint32_t operand, uint64_t place)
{
	struct tainted *x = ctx;
	(void)place;
	if (x->row == NONE)
		x->row = x->t->cause[x->side][operand];
}

/* The row for which what this node reads differs. */
static uint32_t inherited(const struct telling *t, uint32_t a, uint32_t b)
{
	struct tainted x = {t, 1, NONE};
	gd_operands(t->d->b, b, taint_of, &x);
	if (x.row == NONE) {
		x.side = 0;
		gd_operands(t->d->a, a, taint_of, &x);
	}
	return root_of(t->d, x.row);
}

static void compare_pair(struct telling *t, uint32_t a, uint32_t b)
{
	struct graphdiff *d = t->d;
	uint32_t own = NONE;
	if (!gd_alike(d->a, a, d->b, b))
		own = add_row(t, GRAPHDIFF_TARGET, a, b, NONE, graph_op_text(d->a, a), graph_op_text(d->b, b));
	if (d->a->node[a].op == GRAPH_GET_ATTR && own == NONE)
		own = compare_attributes(t, a, b);
	compare_operands(t, a, b);
	uint32_t why = NONE;
	if (t->nodes || t->constants || t->explained) {
		bool follows = !t->nodes && (!t->constants || own != NONE);
		uint32_t row = add_row(t, t->nodes || (t->explained && !t->constants) ? GRAPHDIFF_INPUTS : GRAPHDIFF_CONSTANTS, a, b,
				       own != NONE ? own
				       : follows   ? root_of(d, t->why)
						   : NONE,
				       buf_slice(&t->before), buf_slice(&t->after));
		own = own == NONE && !follows ? row : own;
		why = follows ? root_of(d, t->why) : NONE;
	}
	unsigned differs = gd_meta_differs(&t->symbols, d, a, b);
	uint32_t cause = own != NONE ? own : why != NONE || !differs ? why : inherited(t, a, b), first = NONE;
	for (unsigned kind = GRAPHDIFF_SHAPE; kind <= GRAPHDIFF_TYPE; kind++) {
		if (!(differs & 1u << kind))
			continue;
		buf_reset(&t->before);
		buf_reset(&t->after);
		gd_meta_text(d->a, d->a->node[a].meta, kind, &t->before);
		gd_meta_text(d->b, d->b->node[b].meta, kind, &t->after);
		uint32_t row = add_row(t, kind, a, b, cause, buf_slice(&t->before), buf_slice(&t->after));
		first = first == NONE ? row : first;
	}
	/* What computes something else of the same shape is not a reason for other shapes below it. */
	bool unknown = d->a->node[a].meta == NONE || d->b->node[b].meta == NONE;
	if (first != NONE)
		t->cause[1][b] = cause != NONE ? cause : first;
	else if (unknown)
		t->cause[1][b] = own != NONE ? own : inherited(t, a, b);
}

void gd_rows(struct graphdiff *d)
{
	struct telling t = {.d = d};
	const struct graph *g[2] = {d->a, d->b};
	for (unsigned k = 0; k < 2; k++) {
		t.cause[k] = xcalloc(g[k]->n_nodes + 1, sizeof(*t.cause[k]));
		for (uint32_t i = 0; i < g[k]->n_nodes; i++)
			t.cause[k][i] = NONE;
	}
	gd_symbols_match(&t.symbols, d);
	lone_nodes(&t, 0);
	lone_nodes(&t, 1);
	for (uint32_t i = 0; i < d->b->n_nodes; i++)
		if (d->match[1][i] != NONE)
			compare_pair(&t, d->match[1][i], i);
	gd_symbols_release(&t.symbols);
	buf_release(&t.before);
	buf_release(&t.after);
	free(t.cause[0]);
	free(t.cause[1]);
}
