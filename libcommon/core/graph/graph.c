#include "graph/graph.h"

const char *graph_op_name(enum graph_op op)
{
	static const char *const name[] = {"placeholder", "call_function", "call_method", "call_module", "get_attr", "output"};
	return (size_t)op < ARRAY_LEN(name) ? name[op] : "?";
}

/* ---- memory ---- */

static void drop_index(struct graph *g)
{
	if (!g->user_of && !g->by_name)
		return;
	free(g->user_of);
	free(g->user);
	free(g->by_name);
	g->user_of = g->user = g->by_name = NULL;
	g->n_by_name = 0;
}

void graph_release(struct graph *g)
{
	drop_index(g);
	intern_release(&g->text);
	symtab_release(&g->tab);
	free(g->module);
	free(g->node);
	free(g->value);
	free(g->meta);
	free(g->attr);
	free(g->dim);
	*g = (struct graph){0};
}

/* Empty it, keeping the memory for the next one. */
static void graph_reset(struct graph *g)
{
	drop_index(g);
	intern_release(&g->text);
	symtab_release(&g->tab);
	g->n_modules = g->n_nodes = g->n_values = g->n_meta = g->n_attrs = g->n_dims = 0;
	g->lender = NULL;
	g->lent_texts = g->lent_exprs = 0;
}

void graph_borrow(struct graph *g, const struct graph *from)
{
	struct intern text = g->text, names = g->tab.names, nodes = g->tab.nodes;
	g->text = g->tab.names = g->tab.nodes = (struct intern){0};
	graph_reset(g);
	g->text = text;
	g->tab = (struct symtab){names, nodes};
	intern_copy(&g->text, &from->text);
	intern_copy(&g->tab.names, &from->tab.names);
	intern_copy(&g->tab.nodes, &from->tab.nodes);
	g->lender = from;
	g->lent_texts = from->text.n;
	g->lent_exprs = from->tab.nodes.n;
}

/* ---- build ---- */

uint32_t graph_intern(struct graph *g, struct slice text) { return intern_add(&g->text, text); }

uint32_t graph_add_module(struct graph *g, uint32_t parent, struct slice name, struct slice class_name)
{
	drop_index(g);
	GROW(g->module, g->n_modules, g->cap_modules, 1);
	g->module[g->n_modules] = (struct gmodule){.name = graph_intern(g, name),
						   .class_name = graph_intern(g, class_name),
						   .parent = parent,
						   .first = (uint32_t)g->n_nodes,
						   .output = NONE,
						   .first_attr = (uint32_t)g->n_attrs};
	return (uint32_t)g->n_modules++;
}

uint32_t graph_add_node(struct graph *g, uint32_t module, enum graph_op op, struct slice name, struct slice target)
{
	uint32_t id = graph_intern(g, name);
	return graph_add_node_ids(g, module, op, id, graph_intern(g, target));
}

uint32_t graph_add_node_ids(struct graph *g, uint32_t module, enum graph_op op, uint32_t name, uint32_t target)
{
	struct gmodule *m = &g->module[module];
	drop_index(g);
	GROW(g->node, g->n_nodes, g->cap_nodes, 1);
	uint32_t id = (uint32_t)g->n_nodes++;
	g->node[id] =
	    (struct gnode){.name = name, .target = target, .op = (uint8_t)op, .module = module, .meta = NONE, .type = NONE, .stack = NONE};
	if (!m->n++)
		m->first = id;
	if (op == GRAPH_OUTPUT && m->output == NONE)
		m->output = id;
	return id;
}

/* `from` may point into value[] itself. */
static uint32_t put_values(struct graph *g, const struct gvalue *from, size_t n)
{
	size_t at = g->n_values, own = SIZE_MAX;
	if (g->value && from >= g->value && from < g->value + g->n_values)
		own = (size_t)(from - g->value);
	GROW(g->value, g->n_values, g->cap_values, n + 1); /* never NULL: NULL + 0 is not a pointer */
	if (n)
		memcpy(g->value + at, own == SIZE_MAX ? from : g->value + own, n * sizeof(*from));
	g->n_values += n;
	return (uint32_t)at;
}

void graph_set_args(struct graph *g, uint32_t node, const struct gvalue *args, size_t n)
{
	uint32_t first = put_values(g, args, n);
	g->node[node].args = first;
	g->node[node].n_args = (uint32_t)n;
}

void graph_set_kwargs(struct graph *g, uint32_t node, const struct gvalue *name_value, size_t n)
{
	uint32_t first = put_values(g, name_value, 2 * n);
	g->node[node].kwargs = first;
	g->node[node].n_kwargs = (uint32_t)n;
}

/* A module's attributes are contiguous, even if those of two modules are added alternately. */
uint32_t graph_add_attr(struct graph *g, uint32_t module, enum gattr_kind kind, struct slice name, struct slice expr)
{
	struct gmodule *m = &g->module[module];
	drop_index(g);
	GROW(g->attr, g->n_attrs, g->cap_attrs, 1);
	uint32_t at = m->n_attr ? m->first_attr + m->n_attr : (uint32_t)g->n_attrs;
	if (at < g->n_attrs) {
		memmove(g->attr + at + 1, g->attr + at, (g->n_attrs - at) * sizeof(*g->attr));
		for (size_t i = 0; i < g->n_modules; i++)
			g->module[i].first_attr += g->module[i].first_attr >= at && i != module;
	}
	g->attr[at] = (struct gattr){.name = graph_intern(g, name),
				     .kind = (uint8_t)kind,
				     .expr = expr.p ? graph_intern(g, expr) : NONE,
				     .meta = NONE,
				     .module = module};
	if (!m->n_attr++)
		m->first_attr = at;
	g->n_attrs++;
	return at;
}

struct gvalue graph_none_value(void) { return (struct gvalue){.kind = GV_NONE}; }
struct gvalue graph_bool_value(bool v) { return (struct gvalue){.kind = GV_BOOL, .i = v}; }
struct gvalue graph_int_value(int64_t v) { return (struct gvalue){.kind = GV_INT, .i = v}; }
struct gvalue graph_float_value(double v) { return (struct gvalue){.kind = GV_FLOAT, .f = v}; }
struct gvalue graph_node_value(uint32_t node) { return (struct gvalue){.kind = GV_NODE, .node = node}; }

struct gvalue graph_text_value(struct graph *g, enum gvalue_kind kind, struct slice text)
{
	return (struct gvalue){.kind = (uint8_t)kind, .text = graph_intern(g, text)};
}

struct gvalue graph_sequence(struct graph *g, enum gvalue_kind kind, const struct gvalue *child, size_t n)
{
	uint32_t first = put_values(g, child, n);
	return (struct gvalue){.kind = (uint8_t)kind, .n = (uint32_t)n, .first = first};
}

static uint32_t put_meta(struct graph *g, struct gmeta m)
{
	GROW(g->meta, g->n_meta, g->cap_meta, 1);
	g->meta[g->n_meta] = m;
	return (uint32_t)g->n_meta++;
}

uint32_t graph_add_tensor(struct graph *g, int dtype, size_t n_dim, const struct symsize *size, const struct symsize *stride,
			  struct slice device)
{
	struct gmeta m = {.kind = GMETA_TENSOR,
			  .has_stride = stride != NULL,
			  .dtype = (int8_t)dtype,
			  .n_dim = (uint8_t)(n_dim < GRAPH_MAX_DIMS ? n_dim : GRAPH_MAX_DIMS),
			  .dim = (uint32_t)g->n_dims,
			  .device = device.n ? graph_intern(g, device) : NONE,
			  .subclass = NONE};
	GROW(g->dim, g->n_dims, g->cap_dims, 2u * m.n_dim + 1);
	for (unsigned i = 0; i < m.n_dim; i++)
		g->dim[g->n_dims++] = size[i];
	for (unsigned i = 0; stride && i < m.n_dim; i++)
		g->dim[g->n_dims++] = stride[i];
	return put_meta(g, m);
}

uint32_t graph_add_sym(struct graph *g, struct symsize expr)
{
	return put_meta(g, (struct gmeta){.kind = GMETA_SYM, .dtype = DTYPE_NONE, .device = NONE, .subclass = NONE, .expr = expr});
}

uint32_t graph_add_tuple_meta(struct graph *g, const struct gmeta *part, size_t n)
{
	uint32_t first = (uint32_t)g->n_meta;
	for (size_t i = 0; i < n; i++)
		put_meta(g, part[i].kind == GMETA_TUPLE ? (struct gmeta){.kind = GMETA_NONE} : part[i]);
	return put_meta(
	    g, (struct gmeta){
		   .kind = GMETA_TUPLE, .dtype = DTYPE_NONE, .device = NONE, .subclass = NONE, .first = first, .n_parts = (uint32_t)n});
}

/* ---- look ---- */

/* One table for nodes, child modules and attributes, with consecutive numbers. */
enum index_kind { INDEX_NODE, INDEX_MODULE, INDEX_ATTR };

static void index_key(const struct graph *g, uint32_t at, enum index_kind *kind, uint32_t *module, uint32_t *name)
{
	if (at < g->n_nodes) {
		*kind = INDEX_NODE, *module = g->node[at].module, *name = g->node[at].name;
	} else if ((at -= (uint32_t)g->n_nodes) < g->n_modules) {
		*kind = INDEX_MODULE, *module = g->module[at].parent, *name = g->module[at].name;
	} else {
		at -= (uint32_t)g->n_modules;
		*kind = INDEX_ATTR, *module = g->attr[at].module, *name = g->attr[at].name;
	}
}

static uint32_t index_slot(const struct graph *g, enum index_kind kind, uint32_t module, uint32_t name)
{
	uint64_t h = ((uint64_t)module << 32 ^ name) * 3 + kind;
	uint32_t mask = g->n_by_name - 1, i;
	h ^= h >> 29;
	h *= 0x9e3779b97f4a7c15ull;
	for (i = (uint32_t)(h >> 32) & mask; g->by_name[i]; i = (i + 1) & mask) {
		enum index_kind k;
		uint32_t m, n;
		index_key(g, g->by_name[i] - 1, &k, &m, &n);
		if (k == kind && m == module && n == name)
			break;
	}
	return i;
}

static uint32_t look_up(const struct graph *g, enum index_kind kind, uint32_t module, struct slice name)
{
	uint32_t id = intern_find(&g->text, name), base;
	if (id == NONE || module >= g->n_modules)
		return NONE;
	base = kind == INDEX_NODE ? 0 : (uint32_t)(g->n_nodes + (kind == INDEX_ATTR ? g->n_modules : 0));
	if (g->by_name) {
		uint32_t at = g->by_name[index_slot(g, kind, module, id)];
		return at ? at - 1 - base : NONE;
	}
	/* While it is built. */
	const struct gmodule *m = &g->module[module];
	if (kind == INDEX_NODE) {
		for (uint32_t i = m->first; i < m->first + m->n; i++)
			if (g->node[i].name == id)
				return i;
	} else if (kind == INDEX_MODULE) {
		for (uint32_t i = module + 1; i < g->n_modules; i++)
			if (g->module[i].parent == module && g->module[i].name == id)
				return i;
	} else {
		for (uint32_t i = m->first_attr + m->n_attr; i-- > m->first_attr;)
			if (g->attr[i].name == id)
				return i;
	}
	return NONE;
}

uint32_t graph_find(const struct graph *g, uint32_t module, struct slice name) { return look_up(g, INDEX_NODE, module, name); }

uint32_t graph_child(const struct graph *g, uint32_t module, struct slice name) { return look_up(g, INDEX_MODULE, module, name); }

const struct gattr *graph_attr(const struct graph *g, uint32_t module, struct slice name)
{
	uint32_t i = look_up(g, INDEX_ATTR, module, name);
	return i == NONE ? NULL : &g->attr[i];
}

const struct gvalue *graph_kwarg(const struct graph *g, uint32_t node, const char *name)
{
	const struct gnode *n = &g->node[node];
	for (uint32_t i = 0; i < n->n_kwargs; i++) {
		const struct gvalue *v = &g->value[n->kwargs + 2 * i];
		if (slice_is(graph_text(g, v->text), name))
			return v + 1;
	}
	return NULL;
}

struct slice graph_op_text(const struct graph *g, uint32_t node)
{
	struct slice s = graph_text(g, g->node[node].target);
	size_t n = sizeof("torch.ops.") - 1;
	return slice_starts(s, "torch.ops.") ? slice_of(s.p + n, s.n - n) : s;
}

bool graph_is_getitem(const struct graph *g, uint32_t node)
{
	return g->node[node].op == GRAPH_CALL_FUNCTION && slice_is(graph_text(g, g->node[node].target), "_operator.getitem");
}

bool graph_same_meta(const struct graph *g, const struct gmeta *x, const struct gmeta *y)
{
	if (x->kind != y->kind || x->kind != GMETA_TENSOR)
		return x->kind == y->kind;
	if (x->dtype != y->dtype || x->n_dim != y->n_dim)
		return false;
	for (size_t d = 0; d < x->n_dim; d++)
		if (!symsize_eq(g->dim[x->dim + d], g->dim[y->dim + d]))
			return false;
	return true;
}

size_t graph_n_ops(const struct graph *g)
{
	size_t n = 0;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		n += graph_computes(&g->node[i]) && !graph_is_getitem(g, i);
	return n;
}

bool graph_value_nodes(const struct graph *g, struct gvalue v, bool (*fn)(void *user, uint32_t operand), void *user)
{
	uint32_t at[GRAPH_MAX_DEPTH], end[GRAPH_MAX_DEPTH];
	for (unsigned depth = 0;;) {
		if (v.kind == GV_NODE && !fn(user, v.node))
			return false;
		if (gvalue_has_children(v) && depth < GRAPH_MAX_DEPTH) {
			at[depth] = v.first;
			end[depth++] = v.first + v.n;
		}
		while (depth && at[depth - 1] == end[depth - 1])
			depth--;
		if (!depth)
			return true;
		v = g->value[at[depth - 1]++];
	}
}

/* Most operands are nodes or plain constants. */
static inline bool one_operand(const struct graph *g, const struct gvalue *v, bool (*fn)(void *, uint32_t), void *user)
{
	if (v->kind == GV_NODE)
		return fn(user, v->node);
	return !gvalue_has_children(*v) || graph_value_nodes(g, *v, fn, user);
}

bool graph_operands(const struct graph *g, uint32_t node, bool (*fn)(void *user, uint32_t operand), void *user)
{
	const struct gnode *n = &g->node[node];
	for (uint32_t i = 0; i < n->n_args; i++)
		if (!one_operand(g, &g->value[n->args + i], fn, user))
			return false;
	for (uint32_t i = 0; i < n->n_kwargs; i++)
		if (!one_operand(g, &g->value[n->kwargs + 2 * i + 1], fn, user))
			return false;
	return true;
}

/* ---- finish ---- */

static int bad_node(const struct graph *g, uint32_t node, struct err *err, const char *fmt, ...) PRINTF_LIKE(4, 5);

static int bad_node(const struct graph *g, uint32_t node, struct err *err, const char *fmt, ...)
{
	struct slice name = graph_name(g, node);
	char what[512], where[32] = "";
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (g->node[node].line)
		snprintf(where, sizeof(where), "line %u: ", g->node[node].line);
	return err_set(err, EXIT_INPUT, "%snode '%.*s' %s", where, SLN(name, 200), what);
}

static bool text_ok(const struct graph *g, uint32_t id) { return id < g->text.n; }
static bool text_or_none(const struct graph *g, uint32_t id) { return id == NONE || id < g->text.n; }

/* The tree of one operand: every index precedes the one that refers to it, so that walks end. */
static const char *bad_value(const struct graph *g, struct gvalue v)
{
	struct {
		uint32_t at, end;
	} stack[GRAPH_MAX_DEPTH];
	size_t limit = g->n_values;
	for (unsigned depth = 0;;) {
		if (v.kind > GV_TEXT)
			return "has an operand of an invalid kind";
		if (gvalue_has_text(v) && !text_ok(g, v.text))
			return "has an operand without its text";
		if (gvalue_has_children(v)) {
			if (v.first > limit || v.n > limit - v.first)
				return "has an operand whose children are out of range";
			if ((v.kind == GV_DICT && v.n % 2) || (v.kind == GV_SLICE && v.n != 3))
				return "has a dict or slice with the wrong number of elements";
			if (depth == GRAPH_MAX_DEPTH)
				return "has an operand that is nested too deeply";
			stack[depth].at = v.first;
			stack[depth++].end = v.first + v.n;
		}
		while (depth && stack[depth - 1].at == stack[depth - 1].end)
			depth--;
		if (!depth)
			return NULL;
		limit = stack[depth - 1].at;
		v = g->value[stack[depth - 1].at++];
	}
}

static int check_operands(const struct graph *g, uint32_t i, struct err *err)
{
	const struct gnode *n = &g->node[i];
	const char *why = NULL;
	if (n->args > g->n_values || n->n_args > g->n_values - n->args || n->kwargs > g->n_values ||
	    n->n_kwargs > (g->n_values - n->kwargs) / 2)
		return bad_node(g, i, err, "has operands that are out of range");
	for (uint32_t k = 0; k < n->n_args && !why; k++)
		why = g->value[n->args + k].kind <= GV_FLOAT ? NULL : bad_value(g, g->value[n->args + k]);
	for (uint32_t k = 0; k < 2 * n->n_kwargs && !why; k++)
		why = !(k & 1) && g->value[n->kwargs + k].kind != GV_STR ? "has a keyword that is not a name"
									 : bad_value(g, g->value[n->kwargs + k]);
	return why ? bad_node(g, i, err, "%s", why) : 0;
}

static int check_node(const struct graph *g, uint32_t i, struct err *err)
{
	const struct gnode *n = &g->node[i];
	if (!text_ok(g, n->name) || !text_ok(g, n->target) || !text_or_none(g, n->type) || !text_or_none(g, n->stack) ||
	    (n->meta != NONE && n->meta >= g->n_meta) || n->op > GRAPH_OUTPUT)
		return bad_node(g, i, err, "is incomplete");
	return check_operands(g, i, err);
}

static int check_meta(const struct graph *g, uint32_t i, struct err *err)
{
	const struct gmeta *m = &g->meta[i];
	size_t n = m->kind == GMETA_TENSOR ? (size_t)m->n_dim << m->has_stride : 0;
	if (m->kind > GMETA_TUPLE || (n && (m->dim > g->n_dims || n > g->n_dims - m->dim)) ||
	    (m->kind == GMETA_TENSOR && (!text_or_none(g, m->device) || !text_or_none(g, m->subclass))) ||
	    (m->kind == GMETA_TUPLE && (m->first > i || m->n_parts > i - m->first)))
		return err_set(err, EXIT_INPUT, "metadata %u is out of range", i);
	return 0;
}

static int check_module(const struct graph *g, uint32_t i, uint16_t *depth, struct err *err)
{
	const struct gmodule *m = &g->module[i];
	struct slice name = i ? graph_text(g, m->name) : SLICE("the root");
	if (i ? m->parent >= i : m->parent != NONE)
		return err_set(err, EXIT_INPUT, "module '%.*s' comes before its parent, or has none", SLN(name, 200));
	depth[i] = i ? (uint16_t)(depth[m->parent] + 1) : 0;
	if (depth[i] >= GRAPH_MAX_DEPTH)
		return err_set(err, EXIT_INPUT, "modules are nested deeper than %d", GRAPH_MAX_DEPTH);
	if (!m->n || m->output == NONE)
		return err_set(err, EXIT_INPUT, "module '%.*s' returns nothing (it has no output)", SLN(name, 200));
	if (!text_ok(g, m->name) || !text_ok(g, m->class_name) || m->first > g->n_nodes || m->n > g->n_nodes - m->first ||
	    m->first_attr > g->n_attrs || m->n_attr > g->n_attrs - m->first_attr)
		return err_set(err, EXIT_INPUT, "module '%.*s' is incomplete", SLN(name, 200));
	for (uint32_t k = m->first; k < m->first + m->n; k++)
		if (g->node[k].module != i)
			return bad_node(g, k, err, "is among the nodes of another module");
	if (m->output != m->first + m->n - 1) {
		struct slice next = graph_name(g, m->output + 1);
		return bad_node(g, m->output, err, "returns, but '%.*s' follows it", SLN(next, 200));
	}
	return 0;
}

/* The modules and their nodes. */
static int check_modules(const struct graph *g, struct err *err)
{
	size_t n = 0, n_attr = 0;
	FREED uint16_t *depth = xcalloc(g->n_modules + 1, sizeof(*depth));
	int rc = g->n_modules ? 0 : err_set(err, EXIT_INPUT, "the graph has no modules");
	for (uint32_t i = 0; i < g->n_modules && rc == 0; i++) {
		rc = check_module(g, i, depth, err);
		n += g->module[i].n;
		n_attr += g->module[i].n_attr;
	}
	if (rc == 0 && (n != g->n_nodes || n_attr != g->n_attrs))
		rc = err_set(err, EXIT_INPUT, "the graph has nodes outside any module");
	return rc;
}

/* Gather users: counted first, then put in their places. */
struct gather {
	struct graph *g;
	uint32_t *seen; /* operand -> the last node that used it, + 1 */
	uint32_t *count;
	uint32_t node, bad;
	bool fill;
};

static bool gather_operand(void *user, uint32_t operand)
{
	struct gather *t = user;
	const struct graph *g = t->g;
	uint8_t op = g->node[t->node].op;
	if (operand >= t->node || op == GRAPH_PLACEHOLDER || op == GRAPH_GET_ATTR || g->node[operand].module != g->node[t->node].module ||
	    g->node[operand].op == GRAPH_OUTPUT) {
		t->bad = operand;
		return false;
	}
	if (t->seen[operand] != t->node + 1) {
		t->seen[operand] = t->node + 1;
		if (t->fill)
			t->g->user[t->count[operand]] = t->node;
		t->count[operand]++;
	}
	return true;
}

static int bad_operand(const struct graph *g, uint32_t node, uint32_t operand, struct err *err)
{
	if (operand >= g->n_nodes)
		return bad_node(g, node, err, "uses a node that does not exist");
	struct slice name = graph_name(g, operand);
	if (g->node[node].op == GRAPH_PLACEHOLDER || g->node[node].op == GRAPH_GET_ATTR)
		return bad_node(g, node, err, "uses '%.*s', but is a %s", SLN(name, 200), graph_op_name(g->node[node].op));
	if (operand == node)
		return bad_node(g, node, err, "uses itself");
	if (g->node[operand].module != g->node[node].module)
		return bad_node(g, node, err, "uses '%.*s', which is in another module", SLN(name, 200));
	return bad_node(g, node, err, "uses '%.*s', which comes after it", SLN(name, 200));
}

static int find_users(struct graph *g, struct err *err)
{
	struct gather t = {.g = g, .seen = xcalloc(g->n_nodes + 1, sizeof(uint32_t))};
	int rc = 0;
	t.count = xcalloc(g->n_nodes + 1, sizeof(uint32_t));
	for (t.node = 0; t.node < g->n_nodes && rc == 0; t.node++)
		if (!graph_operands(g, t.node, gather_operand, &t))
			rc = bad_operand(g, t.node, t.bad, err);
	if (rc == 0) {
		uint32_t at = 0;
		g->user_of = xreallocarray(NULL, g->n_nodes + 1, sizeof(*g->user_of));
		for (size_t i = 0; i < g->n_nodes; i++) {
			g->user_of[i] = at;
			at += t.count[i];
			t.count[i] = g->user_of[i];
		}
		g->user_of[g->n_nodes] = at;
		g->user = xreallocarray(NULL, (size_t)at + 1, sizeof(*g->user));
		memset(t.seen, 0, g->n_nodes * sizeof(*t.seen));
		t.fill = true;
		for (t.node = 0; t.node < g->n_nodes; t.node++)
			graph_operands(g, t.node, gather_operand, &t);
	}
	free(t.seen);
	free(t.count);
	return rc;
}

static int make_index(struct graph *g, struct err *err)
{
	size_t n = g->n_nodes + g->n_modules + g->n_attrs, size = 16;
	while (size < 2 * n)
		size *= 2;
	g->by_name = xcalloc(size, sizeof(*g->by_name));
	g->n_by_name = (uint32_t)size;
	for (uint32_t i = 0; i < n; i++) {
		enum index_kind kind;
		uint32_t module, name, slot;
		index_key(g, i, &kind, &module, &name);
		slot = index_slot(g, kind, module, name);
		if (g->by_name[slot] && kind == INDEX_NODE)
			return bad_node(g, i, err, "has the name of an earlier node");
		if (g->by_name[slot] && kind == INDEX_MODULE)
			return err_set(err, EXIT_INPUT, "two modules are named '%.*s'", SLN(graph_text(g, name), 200));
		g->by_name[slot] = i + 1; /* if an attribute is set twice, the last one counts, as in Python */
	}
	return 0;
}

int graph_finish(struct graph *g, struct err *err)
{
	int rc = 0;
	drop_index(g);
	if (g->n_nodes > GRAPH_MAX_NODES || g->n_modules > GRAPH_MAX_NODES || g->n_attrs > GRAPH_MAX_NODES || g->n_values >= NONE ||
	    g->n_meta >= NONE || g->n_dims >= NONE)
		return err_set(err, EXIT_INPUT, "the graph has more than %u nodes", GRAPH_MAX_NODES);
	if (check_modules(g, err) < 0)
		return -1;
	for (uint32_t i = 0; i < g->n_nodes && rc == 0; i++)
		rc = check_node(g, i, err);
	for (uint32_t i = 0; i < g->n_meta && rc == 0; i++)
		rc = check_meta(g, i, err);
	for (uint32_t i = 0; i < g->n_attrs && rc == 0; i++)
		if (!text_ok(g, g->attr[i].name) || !text_or_none(g, g->attr[i].expr) ||
		    (g->attr[i].meta != NONE && g->attr[i].meta >= g->n_meta))
			rc = err_set(err, EXIT_INPUT, "attribute %u is out of range", i);
	if (rc == 0)
		rc = find_users(g, err);
	if (rc == 0)
		rc = make_index(g, err);
	if (rc < 0)
		drop_index(g);
	return rc;
}
