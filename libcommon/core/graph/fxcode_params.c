#include "graph/fxcode_part.h"

/* From the current token to a comma, bracket, "=" or colon outside brackets (stops at it). */
struct slice fx_raw_until(struct fxparse *p, const char *ends)
{
	struct fxlex *x = &p->lex;
	/* An opening bracket that is the current token has already raised the depth, as closing ones lower it. */
	const bool opened = x->kind == FXT_OP && (x->op == '(' || x->op == '[' || x->op == '{');
	const uint32_t depth = x->depth - opened;
	const char *from = x->text.p, *to = from;
	while (x->kind != FXT_END && x->kind != FXT_BAD && !(x->kind == FXT_NEWLINE && depth == 0)) {
		if (x->kind == FXT_OP && x->text.n == 1 && strchr(ends, *x->text.p) && x->depth == depth - (depth && (*x->text.p == ')')))
			break;
		to = x->text.p + x->text.n;
		fxlex_next(x);
	}
	return slice_of(from, (size_t)(to - from));
}

void fx_add_param(struct fxparse *p, struct slice name, struct slice target, const char *at)
{
	GROW(p->param, p->n_param, p->cap_param, 1);
	p->param[p->n_param++] =
	    (struct fxparam){.name = graph_intern(p->g, name), .target = graph_intern(p->g, target), .at = at, .line = p->lex.tok_line};
}

/* Reads a parameter: "*args", "x: "f32[2]" = 1", "self". The current token is its first. */
static int parameter(struct fxparse *p)
{
	struct fxlex *x = &p->lex;
	const char *at = x->text.p;
	struct slice name, target;
	if (fx_op_is(p, '/')) {
		fxlex_next(x);
		return 0;
	}
	const bool star = fx_op_is(p, '*') || fx_op_is(p, FXOP2('*', '*'));
	if (star)
		fxlex_next(x);
	if (star && (fx_op_is(p, ',') || fx_op_is(p, ')')))
		return 0;
	if (x->kind != FXT_NAME)
		return fx_unexpected(p, "a parameter");
	name = x->text;
	target = slice_of(at, (size_t)(name.p + name.n - at));
	if (star && slice_find(target, " "))
		target = name;
	fxlex_next(x);
	const bool is_self = !p->n_param && slice_is(name, "self");
	if (!is_self)
		fx_add_param(p, name, target, at);
	struct fxparam *param = is_self ? NULL : &p->param[p->n_param - 1];
	if (fx_op_is(p, ':')) {
		fxlex_next(x);
		struct slice a = fx_raw_until(p, ",=)");
		if (param)
			param->annotation = a;
	}
	if (fx_op_is(p, '=')) {
		fxlex_next(x);
		struct slice d = fx_raw_until(p, ",)");
		if (param)
			param->fallback = d;
	}
	return 0;
}

/* "def forward(self, x, ...) -> T:"; the lexer is at "def". */
int fx_signature(struct fxparse *p, uint32_t *returns)
{
	struct fxlex *x = &p->lex;
	fxlex_next(x);
	fxlex_next(x);
	fxlex_next(x);
	if (!fx_op_is(p, '('))
		return fx_unexpected(p, "(");
	fxlex_next(x);
	while (!fx_op_is(p, ')')) {
		if (parameter(p) < 0)
			return -1;
		if (fx_op_is(p, ','))
			fxlex_next(x);
		else if (!fx_op_is(p, ')'))
			return fx_unexpected(p, "a comma or the end of the parameters");
	}
	fxlex_next(x);
	if (fx_op_is(p, FXOP2('-', '>'))) {
		fxlex_next(x);
		struct slice t = fx_raw_until(p, ":");
		*returns = t.n ? graph_intern(p->g, t) : NONE;
	}
	return fx_op_is(p, ':') ? 0 : fx_unexpected(p, "a colon");
}

static int placeholder(struct fxparse *p, const struct fxparam *q)
{
	struct graph *g = p->g;
	uint32_t name = fx_unique(p, q->name), node = graph_add_node_ids(g, p->module, GRAPH_PLACEHOLDER, name, q->target);
	struct fxenv *e = fx_env(p, q->name);
	if (e->state == FXENV_VALUE)
		return fx_error_at(p, q->at, "duplicate parameter '%.*s'", SLN(graph_text(g, q->name), 60));
	e->state = FXENV_VALUE;
	e->v = graph_node_value(node);
	e->node = true;
	e->weight = 0;
	g->node[node].line = q->line;
	fx_annotate(p, node, q->annotation.n ? q->annotation : e->annotation);
	if (!q->fallback.n)
		return 0;
	struct fxlex keep = p->lex;
	struct gvalue v;
	p->lex.p = q->fallback.p;
	p->lex.depth = 1;
	fxlex_next(&p->lex);
	p->first_node = (uint32_t)g->n_nodes;
	int rc = fx_expr(p, false, false, &v);
	if (rc == 0 && g->n_nodes > p->first_node)
		rc = fx_error_at(p, q->at, "a computed default is not allowed in a graph");
	if (rc == 0)
		graph_set_args(g, node, &v, 1);
	p->lex = keep;
	return rc;
}

/* At the end of the prologue, turns the parameters into nodes. */
int fx_placeholders(struct fxparse *p)
{
	p->prologue = false;
	for (size_t i = 0; i < p->n_param; i++)
		if (placeholder(p, &p->param[i]) < 0)
			return -1;
	return 0;
}
