#include "graph/fxcode_part.h"
#include "graph/pytext.h"

#include <math.h>

static struct slice name_of(const struct fxwriter *w, uint32_t node) { return w->names ? w->names[node] : graph_name(w->g, node); }

static const struct gvalue *values(const struct fxwriter *w, uint32_t first) { return w->g->n_values ? w->g->value + first : NULL; }

static void add_node(struct fxwriter *w, uint32_t node) { buf_add_slice(w->b, name_of(w, node)); }

void fx_indent(struct fxwriter *w, unsigned columns)
{
	memset(buf_room(w->b, columns), ' ', columns);
	buf_wrote(w->b, columns);
}

static void write_value(struct fxwriter *w, struct gvalue v)
{
	if (v.kind == GV_NODE)
		add_node(w, v.node);
	else if (v.kind == GV_INT && v.i >= 0)
		buf_add_u64(w->b, (uint64_t)v.i);
	else
		fx_add_value(w->g, w->names, v, w->b);
}

/* ---- names ---- */

bool fx_good_name(struct slice s)
{
	if (!s.n || !fx_name_start((unsigned char)*s.p))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!fx_name_part((unsigned char)s.p[i]))
			return false;
	const char last = s.p[s.n - 1];
	return is_digit(last) || !fx_reserved(s);
}

/* ".a.b" after base, with getattr if a component is not a name: getattr(self.layers, "0"). */
static void add_path(struct fxwriter *w, const char *base, struct slice path)
{
	const char *p = path.p, *end = p + path.n;
	const size_t from = w->b->len;
	buf_adds(w->b, base);
	while (p < end) {
		const char *dot = memchr(p, '.', (size_t)(end - p));
		struct slice one = slice_of(p, (size_t)((dot ? dot : end) - p));
		if (fx_identifier(one)) {
			buf_addc(w->b, '.');
			buf_add_slice(w->b, one);
		} else {
			static const char open[] = "getattr(";
			buf_room(w->b, sizeof(open) - 1);
			memmove(w->b->p + from + sizeof(open) - 1, w->b->p + from, w->b->len - from);
			memcpy(w->b->p + from, open, sizeof(open) - 1);
			buf_wrote(w->b, sizeof(open) - 1);
			buf_adds(w->b, ", ");
			pytext_quote(w->b, one);
			buf_addc(w->b, ')');
		}
		p = dot ? dot + 1 : end;
	}
}

static bool all_identifiers(struct slice s)
{
	const char *p = s.p, *end = p + s.n;
	while (p < end) {
		const char *dot = memchr(p, '.', (size_t)(end - p));
		if (!fx_identifier(slice_of(p, (size_t)((dot ? dot : end) - p))))
			return false;
		p = dot ? dot + 1 : end;
	}
	return s.n > 0;
}

/* Is the text a dotted name that can be written unchanged? */
static bool plain(struct fxwriter *w, uint32_t text)
{
	const unsigned slot = text % ARRAY_LEN(w->seen);
	if (w->seen[slot].text != text + 1) {
		w->seen[slot].text = text + 1;
		w->seen[slot].plain = all_identifiers(graph_text(w->g, text));
	}
	return w->seen[slot].plain;
}

/* A function's name; torch.ops.aten.random.from cannot be written unchanged. */
static void add_function(struct fxwriter *w, uint32_t target)
{
	struct slice s = graph_text(w->g, target);
	if (plain(w, target)) {
		buf_add_slice(w->b, s);
		return;
	}
	const char *dot = slice_chr(s, '.');
	if (!dot) {
		buf_add_slice(w->b, s);
		return;
	}
	LOCAL_BUF root = {0};
	buf_add(&root, s.p, (size_t)(dot - s.p));
	add_path(w, buf_str(&root), slice_of(dot + 1, (size_t)(s.p + s.n - dot - 1)));
}

/* ---- expressions ---- */

static void add_args(struct fxwriter *w, const struct gnode *n, uint32_t skip)
{
	const struct gvalue *v = values(w, n->args), *kw = values(w, n->kwargs);
	bool any = false, odd = false;
	buf_addc(w->b, '(');
	for (uint32_t i = skip; i < n->n_args; i++, any = true) {
		if (any)
			buf_add(w->b, ", ", 2);
		write_value(w, v[i]);
	}
	for (uint32_t i = 0; i < n->n_kwargs; i++) {
		struct slice name = graph_text(w->g, kw[2 * i].text);
		if (!plain(w, kw[2 * i].text)) {
			odd = true;
			continue;
		}
		if (any)
			buf_add(w->b, ", ", 2);
		any = true;
		buf_add_slice(w->b, name);
		if (w->form == FXCODE_PLAIN)
			buf_addc(w->b, '=');
		else
			buf_add(w->b, " = ", 3);
		write_value(w, kw[2 * i + 1]);
	}
	for (uint32_t i = 0; odd && i < n->n_kwargs; i++) { /* random.from has a parameter "from" */
		if (plain(w, kw[2 * i].text))
			continue;
		buf_adds(w->b, any ? ", **{" : "**{");
		any = true;
		write_value(w, kw[2 * i]);
		buf_adds(w->b, ": ");
		write_value(w, kw[2 * i + 1]);
		buf_addc(w->b, '}');
	}
	buf_addc(w->b, ')');
}

/* Writes an operand before "[", "." or "**": with brackets around what is not a name, list or string. */
static void receiver(struct fxwriter *w, struct gvalue v)
{
	const bool simple = v.kind == GV_NODE || v.kind == GV_LIST || v.kind == GV_TUPLE || v.kind == GV_DICT || v.kind == GV_STR ||
			    v.kind == GV_NAME || v.kind == GV_DEVICE || v.kind == GV_SLICE;
	if (!simple)
		buf_addc(w->b, '(');
	write_value(w, v);
	if (!simple)
		buf_addc(w->b, ')');
}

static void operand(struct fxwriter *w, struct gvalue v)
{
	if (v.kind == GV_TEXT)
		receiver(w, v);
	else
		write_value(w, v);
}

static bool negative(struct gvalue v)
{
	return (v.kind == GV_INT && v.i < 0) || (v.kind == GV_FLOAT && signbit(v.f)) || v.kind == GV_COMPLEX;
}

static bool any_node(const struct gvalue *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].kind == GV_NODE)
			return true;
	return false;
}

static void annotation(struct fxwriter *w, const struct gnode *n)
{
	if (w->form != FXCODE_READABLE)
		return;
	const size_t from = w->b->len;
	buf_add(w->b, ": \"", 3);
	fxcode_meta(w->g, n->meta, w->b);
	if (w->b->len > from + 3) {
		buf_addc(w->b, '"');
		return;
	}
	buf_cut(w->b, from);
	if (n->type != NONE) {
		struct slice t = graph_text(w->g, n->type);
		const bool quoted = t.n && (*t.p == '"' || *t.p == '\'');
		buf_adds(w->b, quoted ? ": " : " : ");
		buf_add_slice(w->b, t);
	}
}

static void left_side(struct fxwriter *w, uint32_t node)
{
	add_node(w, node);
	annotation(w, &w->g->node[node]);
	buf_add(w->b, " = ", 3);
}

/* The operator to write the node as; NULL: it must be a call. */
static const struct fxop *operator_of(const struct fxwriter *w, const struct gnode *n)
{
	const struct slice target = graph_text(w->g, n->target);
	if (!slice_starts(target, "_operator.") || n->n_kwargs || !n->n_args)
		return NULL;
	const struct fxop *op = fxop_by_name(slice_of(target.p + 10, target.n - 10));
	return op && any_node(values(w, n->args), n->n_args) ? op : NULL; /* only constants: would be read as one */
}

/* "x += y;  z = x" and "x[i] = y;  z = x". False: it must be written as a call. */
static bool in_place(struct fxwriter *w, uint32_t node)
{
	const struct gnode *call = &w->g->node[node];
	const struct gvalue *v = values(w, call->args);
	const uint32_t n = call->n_args;
	const struct fxop *op = call->op == GRAPH_CALL_FUNCTION ? operator_of(w, call) : NULL;
	if (!op || (op->kind != FXOP_SETITEM && op->kind != FXOP_INPLACE))
		return false;
	if (v[0].kind != GV_NODE || n != (op->kind == FXOP_SETITEM ? 3u : 2u))
		return false;
	add_node(w, v[0].node);
	if (op->kind == FXOP_SETITEM) {
		buf_addc(w->b, '[');
		write_value(w, v[1]);
		buf_adds(w->b, "] = ");
	} else {
		buf_addf(w->b, " %s ", op->text);
	}
	write_value(w, v[n - 1]);
	buf_adds(w->b, ";  ");
	left_side(w, node);
	add_node(w, v[0].node);
	return true;
}

/* "x[:, 1:3]" for readability. */
static void add_index(struct fxwriter *w, struct gvalue v)
{
	const struct gvalue *part = gvalue_has_children(v) ? values(w, v.first) : NULL;
	if (w->form != FXCODE_PLAIN || (v.kind != GV_TUPLE && v.kind != GV_SLICE) || !v.n) {
		write_value(w, v);
		return;
	}
	for (uint32_t i = 0; i < v.n; i++) {
		if (v.kind == GV_TUPLE) {
			buf_adds(w->b, i ? ", " : "");
			part[i].kind == GV_TUPLE ? write_value(w, part[i]) : add_index(w, part[i]);
		} else if (i < 2 || part[i].kind != GV_NONE) {
			buf_adds(w->b, i ? ":" : "");
			if (part[i].kind != GV_NONE)
				write_value(w, part[i]);
		}
	}
}

/* Writes a call of one of Python's operators as torch.fx does. False: it must be written as a call. */
static bool by_operator(struct fxwriter *w, const struct gnode *n)
{
	const struct gvalue *v = values(w, n->args);
	const struct fxop *op = operator_of(w, n);
	if (!op)
		return false;
	switch ((enum fxop_kind)op->kind) {
	case FXOP_UNARY:
		if (n->n_args != 1)
			return false;
		buf_adds(w->b, op->text[0] == 'n' ? "not " : op->text);
		operand(w, v[0]);
		return true;
	case FXOP_BINARY:
		if (n->n_args != 2)
			return false;
		if (op->text[0] == '*' && op->text[1] == '*' && negative(v[0]))
			receiver(w, v[0]); /* -1 ** x is -(1 ** x) */
		else
			operand(w, v[0]);
		buf_addc(w->b, ' ');
		buf_adds(w->b, op->text);
		buf_addc(w->b, ' ');
		operand(w, v[1]);
		return true;
	case FXOP_GETITEM:
		if (n->n_args != 2)
			return false;
		receiver(w, v[0]);
		buf_addc(w->b, '[');
		add_index(w, v[1]);
		buf_addc(w->b, ']');
		return true;
	default: return false; /* a statement: in_place */
	}
}

static bool attribute(const struct fxwriter *w, const struct gnode *n)
{
	const struct gvalue *v = values(w, n->args);
	return n->n_args == 2 && !n->n_kwargs && v[0].kind == GV_NODE && v[1].kind == GV_STR && fx_identifier(graph_text(w->g, v[1].text));
}

static void call_function(struct fxwriter *w, const struct gnode *n)
{
	struct slice target = graph_text(w->g, n->target);
	const char first = target.n ? *target.p : 0;
	if (first == '_' && by_operator(w, n))
		return;
	if (first == 'g' && slice_is(target, "getattr") && attribute(w, n)) {
		add_node(w, w->g->value[n->args].node);
		buf_addc(w->b, '.');
		buf_add_slice(w->b, graph_text(w->g, w->g->value[n->args + 1].text));
		return;
	}
	add_function(w, n->target);
	add_args(w, n, 0);
}

static void call_method(struct fxwriter *w, const struct gnode *n)
{
	struct slice target = graph_text(w->g, n->target);
	struct gvalue self = n->n_args ? w->g->value[n->args] : graph_none_value();
	if (fx_identifier(target)) {
		receiver(w, self);
		buf_addc(w->b, '.');
		buf_add_slice(w->b, target);
	} else {
		buf_adds(w->b, "getattr(");
		write_value(w, self);
		buf_adds(w->b, ", ");
		pytext_quote(w->b, target);
		buf_addc(w->b, ')');
	}
	add_args(w, n, 1);
}

/* ---- statements ---- */

struct freeing {
	struct fxwriter *w;
	uint32_t node;
	bool any;
};

static void free_one(struct freeing *f, uint32_t node)
{
	buf_add(f->w->b, f->any ? " = " : ";  ", 3);
	add_node(f->w, node);
	f->any = true;
}

static bool free_operand(void *user, uint32_t operand_node)
{
	struct freeing *f = user;
	const struct graph *g = f->w->g;
	const uint32_t end = g->user_of[operand_node + 1];
	if (end > g->user_of[operand_node] && g->user[end - 1] == f->node && f->w->freed[operand_node] != f->node + 1) {
		f->w->freed[operand_node] = f->node + 1;
		free_one(f, operand_node);
	}
	return true;
}

/* ";  x = y = None" for values no longer needed. */
static void free_unused(struct fxwriter *w, uint32_t node)
{
	const struct graph *g = w->g;
	const struct gnode *n = &g->node[node];
	struct freeing f = {w, node, false};
	if (!g->user_of)
		return;
	for (uint32_t i = 0; i < n->n_args; i++) {
		const struct gvalue *v = &g->value[n->args + i];
		if (v->kind == GV_NODE)
			free_operand(&f, v->node);
		else if (v->kind >= GV_LIST && v->n)
			graph_value_nodes(g, *v, free_operand, &f);
	}
	for (uint32_t i = 0; i < n->n_kwargs; i++)
		graph_value_nodes(g, g->value[n->kwargs + 2 * i + 1], free_operand, &f);
	if (g->user_of[node] == g->user_of[node + 1])
		free_one(&f, node);
	if (f.any)
		buf_adds(w->b, " = None");
}

/* "# File: ..." before the first node that comes from there. */
static void comment(struct fxwriter *w, uint32_t stack, unsigned columns, bool first)
{
	if (w->form != FXCODE_READABLE || (w->any_said && w->said == stack))
		return;
	w->any_said = true;
	w->said = stack;
	if (!first)
		buf_addc(w->b, '\n');
	fx_indent(w, columns);
	if (stack == NONE) {
		buf_adds(w->b, "# No stacktrace found for following nodes\n");
		return;
	}
	struct slice s = graph_text(w->g, stack);
	const char *code = slice_find(s, ", code:"), *file = slice_find(s, "File: ");
	const bool whole = (file && (!code || file < code)) || slice_find(s, "No stacktrace found");
	buf_adds(w->b, whole ? "# " : "# File: ");
	buf_add_slice(w->b, s);
	buf_addc(w->b, '\n');
}

static void expression(struct fxwriter *w, const struct gnode *n)
{
	switch ((enum graph_op)n->op) {
	case GRAPH_CALL_FUNCTION: call_function(w, n); break;
	case GRAPH_CALL_METHOD: call_method(w, n); break;
	case GRAPH_CALL_MODULE:
		add_path(w, "self", graph_text(w->g, n->target));
		add_args(w, n, 0);
		break;
	default: add_path(w, "self", graph_text(w->g, n->target)); break;
	}
}

/* The node whose expression follows "return": the last one, if only the output uses it; or NONE. */
static uint32_t returned_at_once(const struct fxwriter *w, const struct gmodule *m)
{
	const struct graph *g = w->g;
	if (w->form != FXCODE_PLAIN || m->n < 2 || !g->user_of || !g->node[m->output].n_args)
		return NONE;
	const struct gvalue v = g->value[g->node[m->output].args], *one = gvalue_has_children(v) && v.n == 1 ? values(w, v.first) : &v;
	const uint32_t last = m->first + m->n - 2;
	const struct fxop *op = g->node[last].op == GRAPH_CALL_FUNCTION ? operator_of(w, &g->node[last]) : NULL;
	const bool statement = op && (op->kind == FXOP_SETITEM || op->kind == FXOP_INPLACE);
	return one->kind == GV_NODE && one->node == last && graph_computes(&g->node[last]) && !statement &&
		       g->user_of[last + 1] - g->user_of[last] == 1
		   ? last
		   : NONE;
}

/* Writes the return; hand-written code returns a single value alone, several without brackets. */
static void add_return(struct fxwriter *w, const struct gnode *n)
{
	const struct gvalue v = n->n_args ? w->g->value[n->args] : graph_none_value(),
			    *part = gvalue_has_children(v) ? values(w, v.first) : NULL;
	const uint32_t inlined = returned_at_once(w, &w->g->module[n->module]);
	buf_adds(w->b, "return ");
	if (inlined != NONE)
		expression(w, &w->g->node[inlined]);
	else if (w->form != FXCODE_PLAIN || (v.kind != GV_TUPLE && v.kind != GV_LIST) || !v.n)
		write_value(w, v);
	else
		for (uint32_t i = 0; i < v.n; i++) {
			buf_adds(w->b, i ? ", " : "");
			write_value(w, part[i]);
		}
}

static void statement(struct fxwriter *w, uint32_t node, unsigned columns)
{
	const struct gnode *n = &w->g->node[node];
	fx_indent(w, columns);
	if (n->op == GRAPH_OUTPUT) {
		add_return(w, n);
	} else if (!in_place(w, node)) {
		left_side(w, node);
		expression(w, n);
	}
	if (n->op != GRAPH_OUTPUT && w->form != FXCODE_PLAIN)
		free_unused(w, node);
	buf_addc(w->b, '\n');
}

/* The parameter's name without stars; the node's own if the target cannot be one. */
static struct slice parameter(const struct fxwriter *w, uint32_t node, struct slice *stars)
{
	struct slice t = graph_text(w->g, w->g->node[node].target);
	*stars = slice_of(t.p, 0);
	while (t.n && *t.p == '*' && stars->n < 2) {
		stars->n++;
		t = slice_of(t.p + 1, t.n - 1);
	}
	if (slice_eq(t, graph_name(w->g, node)))
		return name_of(w, node);
	uint32_t other = graph_find(w->g, w->g->node[node].module, t);
	return fx_identifier(t) && !fx_hides(t) && other == NONE ? t : name_of(w, node);
}

static void signature(struct fxwriter *w, const struct gmodule *m, unsigned columns)
{
	bool first = w->form == FXCODE_PLAIN && !columns; /* a function of its own */
	fx_indent(w, columns);
	buf_adds(w->b, first ? "def f(" : "def forward(self");
	for (uint32_t i = m->first; i < m->first + m->n; i++) {
		const struct gnode *n = &w->g->node[i];
		struct slice stars, name;
		if (n->op != GRAPH_PLACEHOLDER)
			continue;
		name = parameter(w, i, &stars);
		buf_adds(w->b, first ? "" : ", ");
		first = false;
		buf_add_slice(w->b, stars);
		buf_add_slice(w->b, name);
		annotation(w, n);
		if (n->n_args) {
			buf_add(w->b, " = ", 3);
			write_value(w, w->g->value[n->args]);
		}
	}
	buf_addc(w->b, ')');
	const struct gnode *out = m->output == NONE ? NULL : &w->g->node[m->output];
	if (out && out->type != NONE && w->form == FXCODE_READABLE) {
		buf_adds(w->b, " -> ");
		buf_add_slice(w->b, graph_text(w->g, out->type));
	}
	buf_adds(w->b, ":\n");
}

void fx_write_forward(struct fxwriter *w, const struct gmodule *m, unsigned columns)
{
	bool first = true;
	const uint32_t inlined = returned_at_once(w, m);
	signature(w, m, columns);
	w->any_said = false;
	for (uint32_t i = m->first; i < m->first + m->n; i++) {
		const struct gnode *n = &w->g->node[i];
		if (i == inlined)
			continue;
		if (n->op == GRAPH_PLACEHOLDER) {
			struct slice stars, name = parameter(w, i, &stars);
			if (slice_eq(name, name_of(w, i)))
				continue;
			fx_indent(w, columns + 4);
			add_node(w, i);
			buf_add(w->b, " = ", 3);
			buf_add_slice(w->b, name);
			buf_addc(w->b, '\n');
		} else {
			if (n->op != GRAPH_OUTPUT)
				comment(w, n->stack, columns + 4, first);
			statement(w, i, columns + 4);
		}
		first = false;
	}
}

bool fxcode_is_function(const struct graph *g)
{
	bool self = g->n_modules > 1 || g->n_attrs;
	for (uint32_t i = 0; i < g->n_nodes && !self; i++)
		self = g->node[i].op == GRAPH_GET_ATTR || g->node[i].op == GRAPH_CALL_MODULE;
	return !self;
}
