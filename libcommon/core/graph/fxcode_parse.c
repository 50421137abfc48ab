#include "graph/fxcode_part.h"

/* "File: a.py:3 in f, code: x" without "File: "; anything else torch writes in such a comment is kept. */
static void take_comment(void *user, struct slice s)
{
	struct fxparse *p = user;
	if (slice_starts(s, "File: "))
		p->stack = graph_intern(p->g, slice_of(s.p + 6, s.n - 6));
	else if (slice_starts(s, "No stacktrace found"))
		p->stack = NONE;
	else if (slice_find(s, "File: ") || slice_find(s, "No stacktrace found"))
		p->stack = graph_intern(p->g, s);
}

/* ---- statements ---- */

static void push_name(struct fxparse *p, uint32_t id) { PUSH_TO(p->names, p->n_names, p->cap_names) = id; }

static bool at_end(const struct fxparse *p) { return p->lex.kind == FXT_NEWLINE || p->lex.kind == FXT_END || fx_op_is(p, ';'); }

struct weigh {
	uint32_t values;
	bool node;
};

/* How many values are in v (a list's may be shared with others, so that a few lines can make very many), and is one a
 * node? */
static struct weigh weigh(struct fxparse *p, struct gvalue v)
{
	uint32_t at[GRAPH_MAX_DEPTH], end[GRAPH_MAX_DEPTH];
	struct weigh w = {0};
	for (unsigned depth = 0; w.values < UINT32_MAX;) {
		w.values++;
		w.node |= v.kind == GV_NODE;
		if ((v.kind == GV_LIST || v.kind == GV_TUPLE || v.kind == GV_DICT || v.kind == GV_SLICE) && depth < GRAPH_MAX_DEPTH) {
			at[depth] = v.first;
			end[depth++] = v.first + v.n;
		}
		while (depth && at[depth - 1] == end[depth - 1])
			depth--;
		if (!depth)
			break;
		v = p->g->value[at[depth - 1]++];
	}
	p->spent += w.values - 1;
	return w;
}

/* Binds `name` to v. A placeholder that has not been used yet and has its parameter's name takes the alias's name:
 * "l_x_ = L_x_", as torch writes a placeholder whose name is not its target. */
static int assign(struct fxparse *p, uint32_t name, struct gvalue v)
{
	struct graph *g = p->g;
	struct fxenv *e = fx_env(p, name);
	if (v.kind == GV_NODE && v.node < p->first_node && g->node[v.node].op == GRAPH_PLACEHOLDER &&
	    g->node[v.node].name == g->node[v.node].target && name != g->node[v.node].target && e->used_stamp != p->module + 1 &&
	    g->n_nodes && g->node[g->n_nodes - 1].op == GRAPH_PLACEHOLDER) {
		g->node[v.node].name = name;
		e->used_stamp = p->module + 1;
	}
	if (e->state == FXENV_OUTSIDE) {
		struct slice s = graph_text(g, name);
		return fx_error_at(p, p->statement, "'%.*s' is defined here, but line %u uses it", SLN(s, 60), e->line);
	}
	const struct weigh w = v.kind == GV_NODE ? (struct weigh){0, true} : weigh(p, v);
	e->state = FXENV_VALUE;
	e->v = v;
	e->node = w.node;
	e->weight = w.values;
	return 0;
}

/* "x = None": x is freed. If the name was never set, it is the constant. */
static void free_name(struct fxparse *p, uint32_t name)
{
	struct fxenv *e = fx_env(p, name);
	if (e->state == FXENV_VALUE && e->v.kind == GV_NODE) {
		e->state = FXENV_FREED;
		e->line = p->lex.tok_line;
	} else {
		e->state = FXENV_VALUE;
		e->v = graph_none_value();
		e->node = false;
		e->weight = 0;
	}
}

/* Names and annotation for the nodes of a statement, then its targets. */
static int finish_assign(struct fxparse *p, struct gvalue v, struct slice annotation)
{
	const bool made = v.kind == GV_NODE && v.node >= p->first_node;
	if (made && !annotation.n)
		annotation = fx_env(p, p->names[0])->annotation;
	fx_name_nodes(p, made ? v.node : NONE, p->names[0]);
	if (made)
		fx_annotate(p, v.node, annotation);
	for (size_t i = 0; i < p->n_names; i++)
		if (assign(p, p->names[i], v) < 0)
			return -1;
	return 0;
}

/* "a, b = value": getitems, or the elements of a literal sequence. */
static int unpack(struct fxparse *p, const char *at)
{
	struct gvalue v;
	struct graph *g = p->g;
	if (fx_expr(p, true, false, &v) < 0)
		return -1;
	const size_t n = p->n_names;
	if (v.kind == GV_TUPLE || v.kind == GV_LIST) {
		if (v.n != n)
			return fx_error_at(p, at, "%zu names for %u values", n, v.n);
		fx_name_nodes(p, NONE, 0);
		for (uint32_t i = 0; i < v.n; i++)
			if (assign(p, p->names[i], g->value[v.first + i]) < 0)
				return -1;
		return 0;
	}
	if (v.kind != GV_NODE)
		return fx_error_at(p, at, "this value cannot be unpacked");
	fx_name_nodes(p, NONE, 0);
	for (size_t i = 0; i < n; i++) {
		struct gvalue args[2] = {v, graph_int_value((int64_t)i)};
		p->first_node = (uint32_t)g->n_nodes;
		uint32_t node = fx_function(p, "getitem", args, 2);
		fx_name_nodes(p, node, p->names[i]);
		fx_annotate(p, node, fx_env(p, p->names[i])->annotation);
		if (assign(p, p->names[i], graph_node_value(node)) < 0)
			return -1;
	}
	return 0;
}

static bool next_is(struct fxparse *p, const char *text)
{
	const char *at = p->lex.text.p;
	return (size_t)(p->lex.end - at) >= strlen(text) && !memcmp(at, text, strlen(text));
}

static void skip_statement(struct fxparse *p)
{
	while (p->lex.kind != FXT_END && !(p->lex.depth == 0 && at_end(p)))
		fxlex_next(&p->lex);
}

/* Reads the lines that torch.export's and AOTAutograd's code generators put before the nodes (torch/fx/graph.py, _PyTreeCodeGen,
 * _ExportCodeGen, _BoxedCodeGen): the names are the placeholders. The current token is the value's first. 1: it was such a line. */
static int prologue_value(struct fxparse *p, bool many)
{
	p->boxed |= !many && next_is(p, "iter(");
	const bool flatten = next_is(p, "fx_pytree.tree_flatten_spec("), shuffle = next_is(p, "self._in_shuffle_graph("),
		   leaves = next_is(p, "pytree.tree_leaves("), iter = next_is(p, "iter("), next = next_is(p, "next(");
	if (!(many ? flatten || shuffle || leaves : iter || next))
		return 0;
	if (leaves)
		p->n_leaves = p->n_names;
	if (flatten || shuffle || iter)
		p->n_param = 0;
	for (size_t i = 0; i < p->n_names; i++) {
		if (leaves)
			fx_env(p, p->names[i])->state = FXENV_VALUE, fx_env(p, p->names[i])->v = graph_none_value();
		else if (!iter)
			fx_add_param(p, graph_text(p->g, p->names[i]), graph_text(p->g, p->names[i]), p->lex.text.p);
	}
	skip_statement(p);
	return 1;
}

/* Names before "=" (with commas: many); the current token is after it. */
static int assignment(struct fxparse *p, bool many, struct slice annotation, const char *at)
{
	struct gvalue v;
	if (p->prologue) {
		int r = prologue_value(p, many);
		if (r || (fx_placeholders(p) < 0))
			return r ? 0 : -1;
		p->first_node = (uint32_t)p->g->n_nodes;
	}
	if (many)
		return unpack(p, at);
	while (p->lex.kind == FXT_NAME) { /* a = b = None */
		struct slice name = p->lex.text;
		if (fxlex_peek(&p->lex) != '=' || (p->lex.end - p->lex.p >= 2 && p->lex.p[1] == '='))
			break;
		push_name(p, graph_intern(p->g, name));
		fxlex_next(&p->lex);
		fxlex_next(&p->lex);
	}
	if (p->lex.kind == FXT_NAME && slice_is(p->lex.text, "None")) {
		char c = fxlex_peek(&p->lex);
		if (!c || c == ';' || c == '\n') {
			for (size_t i = 0; i < p->n_names; i++)
				free_name(p, p->names[i]);
			fxlex_next(&p->lex);
			return 0;
		}
	}
	return fx_expr(p, true, false, &v) < 0 ? -1 : finish_assign(p, v, annotation);
}

/* "; z = x" after "x += y" or "x[i] = y" on the same line: the node's name is z and x is unchanged (torch/fx/graph.py, inplace_methods).
 * Consumes it. */
static bool named_after(struct fxparse *p, struct slice target, uint32_t *name, struct slice *annotation)
{
	struct fxlex keep = p->lex;
	*annotation = slice_of(NULL, 0);
	if (fx_op_is(p, ';')) {
		fxlex_next(&p->lex);
		struct slice id = p->lex.text;
		if (p->lex.kind == FXT_NAME) {
			fxlex_next(&p->lex);
			if (fx_op_is(p, ':')) {
				fxlex_next(&p->lex);
				*annotation = fx_raw_until(p, "=");
			}
			if (fx_op_is(p, '=')) {
				fxlex_next(&p->lex);
				struct slice same = p->lex.text;
				fxlex_next(&p->lex);
				if (slice_eq(same, target) && at_end(p)) {
					*name = graph_intern(p->g, id);
					return true;
				}
			}
		}
	}
	p->lex = keep;
	return false;
}

/* "x += y"; the current token is the operator. */
static int inplace(struct fxparse *p, struct slice target)
{
	const char *fn = fxop_by_text(p->lex.op, FXOP_INPLACE);
	struct fxitem x;
	struct gvalue args[2];
	struct slice annotation;
	uint32_t name;
	if (fx_name(p, target, false, &x) < 0 || fx_resolve(p, &x) < 0)
		return -1;
	fxlex_next(&p->lex);
	if (fx_expr(p, true, false, &args[1]) < 0)
		return -1;
	args[0] = x.v;
	uint32_t node = fx_function(p, fn, args, 2);
	const bool torchs = named_after(p, target, &name, &annotation);
	if (!torchs)
		name = graph_intern(p->g, target);
	fx_name_nodes(p, node, name);
	fx_annotate(p, node, annotation);
	return assign(p, name, graph_node_value(node));
}

/* "x[i] = y"; what fx_expr left in p->target, the current token "=". */
static int setitem(struct fxparse *p, struct slice target)
{
	struct gvalue args[3];
	struct slice annotation;
	uint32_t name = NONE;
	args[0] = p->val[p->n_val - 2];
	args[1] = p->val[p->n_val - 1];
	p->n_val -= 2;
	p->target.kind = FXI_VALUE;
	if (!fx_op_is(p, '='))
		return fx_error_at(p, p->lex.text.p, "'%.*s' on an element is not allowed in a graph", SLN(p->lex.text, 60));
	fxlex_next(&p->lex);
	if (fx_expr(p, true, false, &args[2]) < 0)
		return -1;
	uint32_t node = fx_function(p, "setitem", args, 3);
	if (named_after(p, target, &name, &annotation)) {
		fx_name_nodes(p, node, name);
		if (assign(p, name, graph_node_value(node)) < 0)
			return -1;
	} else {
		fx_name_nodes(p, NONE, 0);
	}
	fx_annotate(p, node, annotation);
	return 0;
}

static int returns(struct fxparse *p)
{
	struct gvalue v = graph_none_value();
	fxlex_next(&p->lex);
	if (!at_end(p) && fx_expr(p, true, false, &v) < 0)
		return -1;
	fx_name_nodes(p, NONE, 0);
	p->first_node = (uint32_t)p->g->n_nodes;
	uint32_t out = fx_new_node(p, GRAPH_OUTPUT, graph_intern(p->g, SLICE("output")), &v, 1);
	fx_name_nodes(p, out, graph_intern(p->g, SLICE("output")));
	p->done = true;
	return 0;
}

static int deletion(struct fxparse *p)
{
	do {
		fxlex_next(&p->lex);
		if (p->lex.kind != FXT_NAME)
			return fx_unexpected(p, "a name");
		free_name(p, graph_intern(p->g, p->lex.text));
		fxlex_next(&p->lex);
	} while (fx_op_is(p, ','));
	return 0;
}

/* A statement that begins with a keyword. 1: it is not one of those. */
static int keyword(struct fxparse *p)
{
	static const char *const values[] = {"None", "True", "False", "not", "lambda", "await", "yield"};
	struct slice s = p->lex.text;
	if (slice_is(s, "return"))
		return returns(p);
	if (slice_is(s, "pass")) {
		fxlex_next(&p->lex);
		return 0;
	}
	if (slice_is(s, "del"))
		return deletion(p);
	for (unsigned i = 0; i < ARRAY_LEN(values); i++)
		if (slice_is(s, values[i]))
			return 1;
	return fx_error_at(p, s.p, "'%.*s' is not allowed in a graph", SLN(s, 60));
}

/* Names with commas up to "=": "a, b, = ...". False, with nothing consumed: it is something else. The current token is the
 * first name. */
static bool name_list(struct fxparse *p)
{
	struct fxlex keep = p->lex;
	const size_t n = p->n_names;
	bool comma = false;
	while (p->lex.kind == FXT_NAME && !fx_keyword(p->lex.text)) {
		push_name(p, graph_intern(p->g, p->lex.text));
		fxlex_next(&p->lex);
		if (!fx_op_is(p, ','))
			break;
		comma = true;
		fxlex_next(&p->lex);
	}
	if (comma && fx_op_is(p, '='))
		return true;
	p->n_names = n;
	p->lex = keep;
	return false;
}

/* The profiler's lines (torch/fx/graph.py, record_func): "_rf_add = torch._C._profiler...", "_rf_add.__enter__()". */
static bool is_record(struct fxparse *p)
{
	if (!slice_starts(p->lex.text, "_rf"))
		return false;
	const char *q = p->lex.p, *end = p->lex.end;
	return (end - q >= 9 && !memcmp(q, ".__enter_", 9)) || (end - q >= 8 && !memcmp(q, ".__exit_", 8)) ||
	       (end - q >= 40 && !memcmp(q, " = torch._C._profiler._RecordFunctionFast", 40));
}

/* "x: ANNOTATION" or "x: ANNOTATION = value"; the current token is the colon. */
static int annotated(struct fxparse *p, uint32_t name, const char *at)
{
	fxlex_next(&p->lex);
	struct slice a = fx_raw_until(p, "=;");
	if (!fx_op_is(p, '=')) {
		fx_env(p, name)->annotation = a;
		return 0;
	}
	fxlex_next(&p->lex);
	push_name(p, name);
	return assignment(p, false, a, at);
}

/* A name, and what is done to it. 1: an expression begins here. */
static int named(struct fxparse *p)
{
	struct fxlex keep = p->lex;
	struct slice name = p->lex.text;
	const char c = fxlex_peek(&p->lex), d = p->lex.end - p->lex.p >= 2 ? p->lex.p[1] : 0;
	if (c == ',' && name_list(p)) {
		fxlex_next(&p->lex);
		return assignment(p, true, slice_of(NULL, 0), name.p);
	}
	if (c == ':' || (c == '=' && d != '=')) {
		uint32_t id = graph_intern(p->g, name);
		fxlex_next(&p->lex);
		if (c == ':')
			return annotated(p, id, name.p);
		fxlex_next(&p->lex);
		push_name(p, id);
		return assignment(p, false, slice_of(NULL, 0), name.p);
	}
	if (p->prologue && p->boxed && c == '.' && slice_starts(slice_of(p->lex.p, (size_t)(p->lex.end - p->lex.p)), ".clear()")) {
		skip_statement(p); /* args_list.clear() of the boxed convention */
		return 0;
	}
	if (c && strchr("+-*/%&|^@<>", c)) {
		fxlex_next(&p->lex);
		if (fxop_by_text(p->lex.op, FXOP_INPLACE)) {
			if (p->prologue && fx_placeholders(p) < 0)
				return -1;
			p->first_node = (uint32_t)p->g->n_nodes;
			return inplace(p, name);
		}
		p->lex = keep;
	}
	return 1;
}

/* An expression for its effect: a call, or "x[i] = y". */
static int effect(struct fxparse *p)
{
	struct gvalue v;
	const char *at = p->lex.text.p;
	if (p->lex.kind == FXT_STRING) { /* a docstring, or the output of FX_GRAPH_SHOW_META */
		fxlex_next(&p->lex);
		if (at_end(p))
			return 0;
		return fx_unexpected(p, "the end of the line");
	}
	if (p->prologue && fx_placeholders(p) < 0)
		return -1;
	p->first_node = (uint32_t)p->g->n_nodes;
	if (fx_expr(p, true, true, &v) < 0)
		return -1;
	if (p->target.kind == FXI_TARGET)
		return setitem(p, slice_trim(slice_of(at, (size_t)(p->target.at - at))));
	if (fx_op_is(p, '='))
		return fx_error_at(p, at, "cannot assign to this in a graph");
	fx_name_nodes(p, NONE, 0);
	return 0;
}

static int statement(struct fxparse *p)
{
	int r = 1;
	p->statement = p->lex.text.p;
	if (p->g->n_nodes >= GRAPH_MAX_NODES - GRAPH_MAX_DEPTH)
		return fx_error_at(p, p->lex.text.p, "the graph has more than %u nodes", GRAPH_MAX_NODES - GRAPH_MAX_DEPTH);
	p->n_names = 0;
	p->n_val = p->n_kw = p->n_ops = p->n_frame = 0;
	p->target.kind = FXI_VALUE;
	p->first_node = (uint32_t)p->g->n_nodes;
	if (p->lex.kind == FXT_NAME) {
		if (is_record(p)) {
			skip_statement(p);
			return 0;
		}
		if (fx_keyword(p->lex.text)) {
			if (p->prologue && !slice_is(p->lex.text, "pass") && fx_placeholders(p) < 0)
				return -1;
			p->first_node = (uint32_t)p->g->n_nodes;
			r = keyword(p);
		} else {
			r = named(p);
		}
	} else if (fx_op_is(p, '@')) {
		return fx_error_at(p, p->lex.text.p, "a decorator is not allowed in a graph");
	}
	if (r == 1)
		r = effect(p);
	if (r < 0)
		return -1;
	return at_end(p) ? 0 : fx_unexpected(p, "the end of the line");
}

/* The statements of a logical line; the current token is the first. */
static int statements(struct fxparse *p)
{
	while (!p->done) {
		if (p->lex.kind == FXT_NEWLINE || p->lex.kind == FXT_END)
			return 0;
		if (!fx_op_is(p, ';') && statement(p) < 0)
			return -1;
		if (fx_op_is(p, ';'))
			fxlex_next(&p->lex);
	}
	return 0;
}

static int body(struct fxparse *p, int def_indent)
{
	int indent = -1;
	while (!p->done) {
		int column = fxlex_line_start(&p->lex, take_comment, p);
		if (column <= def_indent)
			return 0;
		if (indent < 0)
			indent = column;
		if (column != indent)
			return fx_error_at(p, p->lex.p, "the line is not indented like the previous ones");
		fxlex_next(&p->lex);
		if (statements(p) < 0)
			return -1;
	}
	return 0;
}

int fx_parse_forward(struct fxparse *p, uint32_t cls)
{
	const struct fxclass *c = &p->scan->cls[cls];
	uint32_t type = NONE;
	p->cls = cls;
	p->lex.p = c->fwd;
	p->lex.line = c->fwd_line;
	p->lex.depth = 0;
	p->n_param = p->n_leaves = p->n_frame = 0;
	p->prologue = true;
	p->boxed = false;
	p->done = false;
	p->stack = NONE;
	if (fx_signature(p, &type) < 0)
		return -1;
	fxlex_next(&p->lex);
	if (p->lex.kind == FXT_NEWLINE ? body(p, c->fwd_indent) < 0 : statements(p) < 0)
		return -1;
	if (p->prologue && fx_placeholders(p) < 0)
		return -1;
	if (!p->done) { /* Python's: a function without return returns None */
		p->lex.kind = FXT_END;
		p->first_node = (uint32_t)p->g->n_nodes;
		if (returns(p) < 0)
			return -1;
	}
	p->g->node[p->g->n_nodes - 1].type = type;
	return 0;
}
