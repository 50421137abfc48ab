/* graph_same.h - are two graphs the same?
 *
 *     if (!graph_same(&g, &r.graph, &why)) ...                     // why: "node 12 'add': operand 1 is 'mul', not 'sub'"
 */
#ifndef PT2_TEST_GRAPH_SAME_H
#define PT2_TEST_GRAPH_SAME_H
#include "graph/graph_forms.h"

struct same {
	const struct graph *a, *b;
	const uint32_t *to; /* module of a -> module of b */
	uint32_t node_a, node_b;
	struct buf *why;
};

static bool differ(struct same *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "node 12 'add': ..."; always false. */
static bool differ(struct same *s, const char *fmt, ...)
{
	va_list ap;
	if (!s->why)
		return false;
	if (s->node_a != NONE) {
		struct slice name = graph_name(s->a, s->node_a);
		const struct gmodule *m = &s->a->module[s->a->node[s->node_a].module];
		buf_addf(s->why, "node %u '%.*s'", s->node_a - m->first, SLN(name, 200));
		if (m->parent != NONE)
			buf_addf(s->why, " of '%.*s'", SLN(graph_text(s->a, m->name), 200));
		buf_adds(s->why, ": ");
	}
	va_start(ap, fmt);
	buf_addvf(s->why, fmt, ap);
	va_end(ap);
	return false;
}

/* "'mul'", "[...]", "3": as much of a value as a line of text can say. */
static void say(const struct graph *g, struct gvalue v, struct buf *b)
{
	static const char *const kind[] = {
	    [GV_NONE] = "None",   [GV_LIST] = "a list",   [GV_TUPLE] = "a tuple",
	    [GV_DICT] = "a dict", [GV_SLICE] = "a slice", [GV_ELLIPSIS] = "...",
	};
	struct slice text = v.kind == GV_NODE ? graph_name(g, v.node) : gvalue_has_text(v) ? graph_text(g, v.text) : SLICE("");
	if (v.kind == GV_NODE)
		buf_addf(b, "'%.*s'", SLN(text, 200));
	else if (gvalue_has_text(v))
		buf_addf(b, v.kind == GV_STR ? "the string '%.*s'" : "%.*s", SLN(text, 200));
	else if (v.kind == GV_BOOL)
		buf_adds(b, v.i ? "True" : "False");
	else if (v.kind == GV_INT)
		buf_addf(b, "%lld", (long long)v.i);
	else if (v.kind == GV_FLOAT)
		buf_addf(b, "%.17g", v.f);
	else
		buf_adds(b, kind[v.kind]);
	if (v.kind == GV_LIST || v.kind == GV_TUPLE || v.kind == GV_DICT)
		buf_addf(b, " of %u", v.kind == GV_DICT ? v.n / 2 : v.n);
}

static bool same_float(double a, double b) { return memcmp(&a, &b, sizeof(a)) == 0 || (a != a && b != b); }

/* Depth is bounded by graph_finish. */
static bool same_value(const struct same *s, struct gvalue a, struct gvalue b)
{
	if (a.kind != b.kind)
		return false;
	if (a.kind == GV_NODE)
		return a.node - s->a->module[s->a->node[a.node].module].first == b.node - s->b->module[s->b->node[b.node].module].first;
	if (gvalue_has_text(a))
		return slice_eq(graph_text(s->a, a.text), graph_text(s->b, b.text));
	if (a.kind == GV_FLOAT)
		return same_float(a.f, b.f);
	if (!gvalue_has_children(a))
		return a.kind == GV_NONE || a.kind == GV_ELLIPSIS || a.i == b.i;
	if (a.n != b.n)
		return false;
	for (uint32_t i = 0; i < a.n; i++)
		if (!same_value(s, s->a->value[a.first + i], s->b->value[b.first + i]))
			return false;
	return true;
}

static bool operand_differs(struct same *s, const char *what, struct gvalue a, struct gvalue b)
{
	struct buf text = {0};
	say(s->a, a, &text);
	buf_adds(&text, ", not ");
	say(s->b, b, &text);
	/* Lists of a length: the first item that differs is what is wanted. */
	for (uint32_t i = 0; gvalue_has_children(a) && a.kind == b.kind && a.n == b.n && i < a.n; i++) {
		struct gvalue x = s->a->value[a.first + i], y = s->b->value[b.first + i];
		if (!same_value(s, x, y) && !(gvalue_has_children(x) && gvalue_has_children(y))) {
			buf_reset(&text);
			buf_addf(&text, "its item %u is ", i);
			say(s->a, x, &text);
			buf_adds(&text, ", not ");
			say(s->b, y, &text);
			break;
		}
	}
	differ(s, "operand %s is %s", what, buf_str(&text));
	buf_release(&text);
	return false;
}

static bool same_operands(struct same *s)
{
	const struct gnode *x = &s->a->node[s->node_a], *y = &s->b->node[s->node_b];
	char number[16];
	if (x->n_args != y->n_args)
		return differ(s, "it has %u operands, not %u", x->n_args, y->n_args);
	if (x->n_kwargs != y->n_kwargs)
		return differ(s, "it has %u keyword operands, not %u", x->n_kwargs, y->n_kwargs);
	for (uint32_t i = 0; i < x->n_args; i++) {
		struct gvalue v = s->a->value[x->args + i], w = s->b->value[y->args + i];
		snprintf(number, sizeof(number), "%u", i);
		if (!same_value(s, v, w))
			return operand_differs(s, number, v, w);
	}
	for (uint32_t i = 0; i < x->n_kwargs; i++) {
		const struct gvalue *kw = &s->a->value[x->kwargs + 2 * i], *other;
		char *name = xstrndup(graph_text(s->a, kw->text).p, graph_text(s->a, kw->text).n);
		bool ok = true;
		if (!(other = graph_kwarg(s->b, s->node_b, name)))
			ok = differ(s, "keyword operand '%.200s' is missing", name);
		else if (!same_value(s, kw[1], *other))
			ok = operand_differs(s, name, kw[1], *other);
		free(name);
		if (!ok)
			return false;
	}
	return true;
}

static bool same_node(struct same *s)
{
	const struct gnode *x = &s->a->node[s->node_a], *y = &s->b->node[s->node_b];
	struct slice t = graph_text(s->a, x->target), u = graph_text(s->b, y->target);
	if (x->op != y->op)
		return differ(s, "it is a %s, not a %s", graph_op_name(x->op), graph_op_name(y->op));
	if (x->op != GRAPH_PLACEHOLDER && x->op != GRAPH_OUTPUT && !slice_eq(t, u))
		return differ(s, "its target is '%.*s', not '%.*s'", SLN(t, 200), SLN(u, 200));
	return same_operands(s);
}

static bool same_attrs(struct same *s, uint32_t module)
{
	const struct gmodule *m = &s->a->module[module];
	if (m->n_attr != s->b->module[s->to[module]].n_attr)
		return differ(s, "a module has %u attributes, not %u", m->n_attr, s->b->module[s->to[module]].n_attr);
	for (uint32_t i = m->first_attr; i < m->first_attr + m->n_attr; i++) {
		const struct gattr *x = &s->a->attr[i];
		struct slice name = graph_text(s->a, x->name);
		const struct gattr *y = graph_attr(s->b, s->to[module], name);
		if (!y)
			return differ(s, "attribute '%.*s' is missing", SLN(name, 200));
		if (x->kind != y->kind || (x->expr == NONE) != (y->expr == NONE) ||
		    (x->expr != NONE && !slice_eq(graph_text(s->a, x->expr), graph_text(s->b, y->expr))))
			return differ(s, "attribute '%.*s' is another", SLN(name, 200));
	}
	return true;
}

static bool same_module(struct same *s, uint32_t module)
{
	const struct gmodule *x = &s->a->module[module], *y = &s->b->module[s->to[module]];
	if (!same_attrs(s, module))
		return false;
	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		s->node_a = x->first + i;
		s->node_b = y->first + i;
		if (!same_node(s))
			return false;
	}
	s->node_a = NONE;
	return x->n == y->n || differ(s, "'%.*s' has %u nodes, not %u", SLN(graph_text(s->a, x->class_name), 200), x->n, y->n);
}

/* Of finished graphs: modules by name, their attributes in any order, nodes in order with op, target and operands (keywords in any
 * order). Names of nodes and placeholders do not count, nor does metadata. *why (may be NULL) gets where they differ: what a has, then
 * what b has. */
static inline bool graph_same(const struct graph *a, const struct graph *b, struct buf *why)
{
	uint32_t *to = xcalloc(a->n_modules + 1, sizeof(*to));
	struct same s = {a, b, to, NONE, NONE, why};
	bool ok = a->n_modules == b->n_modules || differ(&s, "there are %zu modules, not %zu", a->n_modules, b->n_modules);
	for (uint32_t i = 1; i < a->n_modules && ok; i++) {
		struct slice name = graph_text(a, a->module[i].name);
		to[i] = graph_child(b, to[a->module[i].parent], name);
		if (to[i] == NONE)
			ok = differ(&s, "module '%.*s' is missing", SLN(name, 200));
	}
	for (uint32_t i = 0; i < a->n_modules && ok; i++)
		ok = same_module(&s, i);
	free(to);
	return ok;
}

#endif
