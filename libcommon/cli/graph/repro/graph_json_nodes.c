/* The graph of graph.json: operands, metadata, nodes, modules. */
#include "graph/repro/graph_json_part.h"

/* ---- operands ---- */

/* {"tuple": [...]}, {"str": "mean"}: JSON has no form for these. */
static const char *const tag[] = {
    [GV_FLOAT] = "float",       [GV_COMPLEX] = "complex", [GV_STR] = "str",       [GV_LIST] = "list",
    [GV_TUPLE] = "tuple",       [GV_DICT] = "dict",       [GV_SLICE] = "slice",   [GV_NAME] = "name",
    [GV_ELLIPSIS] = "ellipsis", [GV_TEXT] = "text",       [GV_DEVICE] = "device",
};

static void push(struct gjson *d, struct gvalue v) { PUSH_TO(d->stack, d->n_stack, d->cap_stack) = v; }

static uint32_t find_node(const struct gjson *d, struct slice name)
{
	uint32_t id = intern_find(&d->g->text, name);
	return id < d->cap_node_of && d->node_of[id] ? d->node_of[id] - 1 : NONE;
}

static int read_reference(struct gjson *d, uint32_t k, struct gvalue *v)
{
	struct slice s;
	if (gj_text(d, k, "an operand", &s) < 0)
		return -1;
	uint32_t node = find_node(d, s);
	if (node == NONE)
		return gj_bad(d, k, "no earlier node '%.*s' (write a string as {\"str\": ...})", SLN(s, 100));
	*v = graph_node_value(node);
	return 0;
}

static int read_number(struct gjson *d, uint32_t k, struct gvalue *v)
{
	struct slice s = json_slice(&d->t, k);
	int64_t i;
	double f = 0;
	if (json_i64(&d->t, k, &i)) {
		*v = graph_int_value(i);
	} else if (slice_ends(s, "NaN") || slice_ends(s, "Infinity")) {
		*v = graph_float_value(slice_ends(s, "NaN") ? __builtin_nan("") : s.p[0] == '-' ? -__builtin_inf() : __builtin_inf());
	} else if (slice_chr(s, '.') || slice_chr(s, 'e') || slice_chr(s, 'E')) {
		json_double(&d->t, k, &f);
		*v = graph_float_value(f);
	} else {
		*v = graph_text_value(d->g, GV_TEXT, s); /* beyond 64 bits */
	}
	return 0;
}

static int read_float(struct gjson *d, uint32_t k, struct gvalue *v)
{
	static const char *const word[] = {"nan", "inf", "-inf"};
	unsigned i = 0;
	if (json_is(&d->t, k, JSON_NUMBER)) {
		double f = 0;
		json_double(&d->t, k, &f);
		*v = graph_float_value(f);
		return 0;
	}
	if (gj_read_word(d, k, "\"float\"", word, ARRAY_LEN(word), &i) < 0)
		return -1;
	*v = graph_float_value(i == 0 ? __builtin_nan("") : i == 1 ? __builtin_inf() : -__builtin_inf());
	return 0;
}

static int read_value(struct gjson *d, uint32_t k, unsigned depth, struct gvalue *v);

static int read_children(struct gjson *d, uint32_t array, enum gvalue_kind kind, unsigned depth, struct gvalue *v)
{
	const struct json_tape *t = &d->t;
	size_t base = d->n_stack;
	if (!json_is(t, array, JSON_ARRAY))
		return gj_bad(d, array, "the parts of an operand must be an array");
	if (depth == GRAPH_MAX_DEPTH)
		return gj_bad(d, array, "operands are nested deeper than %d", GRAPH_MAX_DEPTH);
	json_each(t, array, k) {
		struct gvalue part;
		uint32_t first = k;
		if (kind == GV_DICT) { /* [key, value] */
			first = json_is(t, k, JSON_ARRAY) ? json_first(t, k) : k;
			if (first == k || first >= json_end(t, k) || json_next(t, first) >= json_end(t, k) ||
			    json_next(t, json_next(t, first)) < json_end(t, k))
				return gj_bad(d, k, "an item of a dict must be [key, value]");
			if (read_value(d, first, depth + 1, &part) < 0)
				return -1;
			push(d, part);
			first = json_next(t, first);
		}
		if (read_value(d, first, depth + 1, &part) < 0)
			return -1;
		push(d, part);
	}
	if (kind == GV_SLICE && d->n_stack - base != 3)
		return gj_bad(d, array, "a slice must have three parts: start, stop, step");
	*v = graph_sequence(d->g, kind, d->stack + base, d->n_stack - base);
	d->n_stack = base;
	return 0;
}

static int read_tagged(struct gjson *d, uint32_t k, unsigned depth, struct gvalue *v)
{
	const struct json_tape *t = &d->t;
	uint32_t key = json_first(t, k);
	uint8_t kind = 0;
	struct slice s;
	if (key >= json_end(t, k) || json_next_pair(t, key) < json_end(t, k))
		return gj_bad(d, k, "an operand that is an object must have one member");
	while (kind < ARRAY_LEN(tag) && !(tag[kind] && slice_is(json_slice(t, key), tag[kind])))
		kind++;
	if (kind == ARRAY_LEN(tag))
		return gj_bad(d, key, "unknown kind of operand \"%.*s\"", SLN(json_slice(t, key), 80));
	*v = (struct gvalue){.kind = kind};
	if (gvalue_has_children(*v))
		return read_children(d, key + 1, kind, depth, v);
	if (kind == GV_FLOAT)
		return read_float(d, key + 1, v);
	if (kind == GV_ELLIPSIS)
		return 0;
	if (gj_text(d, key + 1, "the text of an operand", &s) < 0)
		return -1;
	*v = graph_text_value(d->g, kind, s);
	return 0;
}

/* Depth is bounded: see read_children. */
static int read_value(struct gjson *d, uint32_t k, unsigned depth, struct gvalue *v)
{
	switch (d->t.tok[k].type) {
	case JSON_NULL: *v = graph_none_value(); return 0;
	case JSON_TRUE: *v = graph_bool_value(true); return 0;
	case JSON_FALSE: *v = graph_bool_value(false); return 0;
	case JSON_NUMBER: return read_number(d, k, v);
	case JSON_STRING: return read_reference(d, k, v);
	case JSON_ARRAY: return read_children(d, k, GV_LIST, depth, v);
	default: return read_tagged(d, k, depth, v);
	}
}

static void put_float(struct buf *b, double v)
{
	if (v != v || v - v != 0) {
		buf_addf(b, "{\"float\": \"%s\"}", v != v ? "nan" : v < 0 ? "-inf" : "inf");
		return;
	}
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_addf(b, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_value(struct gjson *d, struct gvalue v);

static void put_children(struct gjson *d, struct gvalue v)
{
	const struct graph *g = d->g;
	buf_addc(d->out, '[');
	for (uint32_t i = 0; i < v.n; i++) {
		if (i)
			buf_adds(d->out, ", ");
		if (v.kind == GV_DICT)
			buf_addc(d->out, '[');
		put_value(d, g->value[v.first + i]);
		if (v.kind == GV_DICT) {
			buf_adds(d->out, ", ");
			put_value(d, g->value[v.first + ++i]);
			buf_addc(d->out, ']');
		}
	}
	buf_addc(d->out, ']');
}

/* Depth is bounded by graph_finish. */
static void put_value(struct gjson *d, struct gvalue v)
{
	if (v.kind == GV_NONE)
		buf_adds(d->out, "null");
	else if (v.kind == GV_BOOL)
		buf_adds(d->out, v.i ? "true" : "false");
	else if (v.kind == GV_INT)
		buf_addf(d->out, "%lld", (long long)v.i);
	else if (v.kind == GV_FLOAT)
		put_float(d->out, v.f);
	else if (v.kind == GV_NODE)
		gj_put_str(d, graph_name(d->g, v.node));
	else if (v.kind == GV_LIST)
		put_children(d, v);
	else if (v.kind == GV_ELLIPSIS)
		buf_adds(d->out, "{\"ellipsis\": true}");
	else {
		buf_addf(d->out, "{\"%s\": ", tag[v.kind]);
		if (gvalue_has_children(v))
			put_children(d, v);
		else
			gj_put_str(d, graph_text(d->g, v.text));
		buf_addc(d->out, '}');
	}
}

/* ---- metadata ---- */

struct dims {
	struct symsize *v;
	size_t n;
	bool there;
};
struct meta_row {
	struct gmeta m;
	struct dims size, stride;
	struct slice device;
};

static void dims_member(struct gjson *d, const char *key, struct dims *dims)
{
	if (!gj_member(d, key, dims->there))
		return;
	if (d->out) {
		buf_addc(d->out, '[');
		for (size_t i = 0; i < dims->n; i++) {
			buf_adds(d->out, i ? ", " : "");
			gj_put_size(d, dims->v[i]);
		}
		buf_addc(d->out, ']');
		return;
	}
	const uint32_t array = d->k;
	dims->there = array != NONE;
	gj_array(d, array, d->what);
	json_each(&d->t, array, k) {
		if (dims->n == GRAPH_MAX_DIMS)
			gj_bad(d, array, "a tensor can have at most %d dims", GRAPH_MAX_DIMS);
		if (d->bad || gj_read_size(d, k, d->what, &dims->v[dims->n++]) < 0)
			return;
	}
}

static void dtype_member(struct gjson *d, int8_t *dtype)
{
	struct slice s;
	if (!gj_member(d, "dtype", *dtype != DTYPE_NONE))
		return;
	if (d->out)
		gj_put_str(d, slice_str(dtype_name(*dtype)));
	else if (d->k != NONE && gj_text(d, d->k, "dtype", &s) == 0 && (*dtype = (int8_t)dtype_by_name(s)) == DTYPE_NONE &&
		 (*dtype = (int8_t)dtype_by_short(s)) == DTYPE_NONE)
		gj_bad(d, d->k, "unknown dtype '%.*s'", SLN(s, 80));
}

static void meta_row(struct gjson *d, void *of)
{
	struct meta_row *row = of;
	struct gmeta *m = &row->m;
	gj_size(d, "sym", &m->expr, m->kind == GMETA_SYM);
	if (d->k != NONE)
		m->kind = GMETA_SYM;
	if (m->kind == GMETA_SYM || (d->out && m->kind != GMETA_TENSOR))
		return;
	dtype_member(d, &m->dtype);
	dims_member(d, "size", &row->size);
	dims_member(d, "stride", &row->stride);
	gj_some(d, "device", &row->device);
	gj_flag(d, "requires_grad", &m->requires_grad);
	gj_flag(d, "param", &m->is_param);
	gj_name(d, "subclass", &m->subclass, graph_text(d->g, m->subclass).n > 0);
}

static int read_one_meta(struct gjson *d, uint32_t obj, uint32_t *meta)
{
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS];
	struct meta_row row = {.m = {.dtype = DTYPE_NONE, .subclass = NONE}, .size = {.v = size}, .stride = {.v = stride}};
	*meta = NONE;
	if (gj_read_row(d, obj, "\"meta\"", meta_row, &row) < 0)
		return -1;
	if (row.m.kind == GMETA_SYM || !row.size.there) {
		*meta = graph_add_sym(d->g, row.m.expr);
		d->g->meta[*meta].kind = row.m.kind;
		return row.m.kind == GMETA_NONE && json_first(&d->t, obj) < json_end(&d->t, obj)
			   ? gj_bad(d, obj, "a tensor's \"size\" is missing")
			   : 0;
	}
	if (row.stride.there && row.stride.n != row.size.n)
		return gj_bad(d, json_get(&d->t, obj, "stride"), "a tensor of %zu dims has %zu strides", row.size.n, row.stride.n);
	*meta = graph_add_tensor(d->g, row.m.dtype, row.size.n, size, row.stride.there ? stride : NULL, row.device);
	struct gmeta *m = &d->g->meta[*meta];
	m->requires_grad = row.m.requires_grad;
	m->is_param = row.m.is_param;
	m->subclass = row.m.subclass;
	return 0;
}

static int read_meta(struct gjson *d, uint32_t k, uint32_t *meta)
{
	struct gmeta *part = NULL;
	size_t n = 0, cap = 0;
	if (json_is(&d->t, k, JSON_NULL))
		return 0;
	if (!json_is(&d->t, k, JSON_ARRAY))
		return read_one_meta(d, k, meta);
	json_each(&d->t, k, i) {
		uint32_t one = NONE;
		if (!json_is(&d->t, i, JSON_NULL) && read_one_meta(d, i, &one) < 0)
			break;
		PUSH_TO(part, n, cap) = one == NONE ? (struct gmeta){.device = NONE, .subclass = NONE} : d->g->meta[one];
	}
	if (!d->bad)
		*meta = graph_add_tuple_meta(d->g, part, n);
	free(part);
	return d->bad ? -1 : 0;
}

static void write_one_meta(struct gjson *d, const struct gmeta *m)
{
	static struct symsize none; /* of a graph without any */
	struct symsize *dim = d->g->dim ? d->g->dim + m->dim : &none;
	struct meta_row row = {.m = *m, .size = {dim, m->n_dim, true}, .stride = {dim + m->n_dim, m->n_dim, m->has_stride}};
	row.device = graph_text(d->g, m->device);
	gj_write_row(d, meta_row, &row);
}

void gj_meta(struct gjson *d, uint32_t *meta)
{
	if (!gj_member(d, "meta", *meta != NONE))
		return;
	if (!d->out) {
		if (d->k != NONE)
			read_meta(d, d->k, meta);
		return;
	}
	const struct gmeta *m = &d->g->meta[*meta];
	if (m->kind != GMETA_TUPLE) {
		write_one_meta(d, m);
		return;
	}
	buf_addc(d->out, '[');
	for (uint32_t i = 0; i < m->n_parts; i++) {
		buf_adds(d->out, i ? ", " : "");
		write_one_meta(d, &d->g->meta[m->first + i]);
	}
	buf_addc(d->out, ']');
}

/* ---- nodes ---- */

static int read_args(struct gjson *d, uint32_t node, uint32_t args)
{
	struct gvalue v;
	size_t base = d->n_stack;
	if (gj_array(d, args, "\"args\"") < 0)
		return -1;
	json_each(&d->t, args, k) {
		if (read_value(d, k, 0, &v) < 0)
			return -1;
		push(d, v);
	}
	graph_set_args(d->g, node, d->stack + base, d->n_stack - base);
	d->n_stack = base;
	return 0;
}

static int read_kwargs(struct gjson *d, uint32_t node, uint32_t kwargs)
{
	struct gvalue v;
	struct slice s;
	size_t base = d->n_stack;
	if (kwargs == NONE)
		return 0;
	if (!json_is(&d->t, kwargs, JSON_OBJECT))
		return gj_bad(d, kwargs, "\"kwargs\" must be an object");
	json_each_pair(&d->t, kwargs, k) {
		if (gj_text(d, k, "a keyword", &s) < 0)
			return -1;
		push(d, graph_text_value(d->g, GV_STR, s));
		if (read_value(d, k + 1, 0, &v) < 0)
			return -1;
		push(d, v);
	}
	graph_set_kwargs(d->g, node, d->stack + base, (d->n_stack - base) / 2);
	d->n_stack = base;
	return 0;
}

static void put_kwargs(struct gjson *d, const struct gvalue *v, uint32_t n)
{
	buf_addc(d->out, '{');
	for (uint32_t i = 0; i < n; i++) {
		buf_adds(d->out, i ? ", " : "");
		gj_put_str(d, graph_text(d->g, v[2 * i].text));
		buf_adds(d->out, ": ");
		put_value(d, v[2 * i + 1]);
	}
	buf_addc(d->out, '}');
}

/* The node of a row whose name, op and target have been read. */
static int add_node(struct gjson *d, struct gnode *n)
{
	if (n->name == NONE && n->op != GRAPH_OUTPUT)
		return gj_bad(d, d->at, "a node without a name");
	if (n->name == NONE)
		n->name = graph_intern(d->g, SLICE("output"));
	if (n->target == NONE && n->op != GRAPH_PLACEHOLDER && n->op != GRAPH_OUTPUT && n->op != GRAPH_GET_ATTR)
		return gj_bad(d, d->at, "its target is missing");
	graph_add_node_ids(d->g, d->module, n->op, n->name, n->target == NONE ? n->name : n->target);
	return 0;
}

/* Registers the last node's name, for use by later ones. */
static void name_node(struct gjson *d, uint32_t name)
{
	if (name >= d->cap_node_of) {
		uint32_t old = d->cap_node_of;
		GROW(d->node_of, name, d->cap_node_of, 1);
		memset(d->node_of + old, 0, (d->cap_node_of - old) * sizeof(*d->node_of));
	}
	if (d->node_of[name])
		gj_bad(d, d->at, "an earlier node has the same name");
	d->node_of[name] = d->g->n_nodes;
}

static void node_row(struct gjson *d, void *of)
{
	static const char *const ops[] = {"placeholder", "call_function", "call_method", "call_module", "get_attr", "output"};
	struct gnode *n = of;
	gj_name(d, "name", &n->name, true);
	if (gj_reads(d) && n->name != NONE) {
		d->in = "node";
		d->in_name = graph_text(d->g, n->name);
	}
	n->op = (uint8_t)gj_word(d, "op", n->op, ops, ARRAY_LEN(ops));
	gj_name(d, "target", &n->target, n->target != n->name || (n->op >= GRAPH_CALL_FUNCTION && n->op <= GRAPH_CALL_MODULE));
	if (gj_reads(d))
		add_node(d, n);
	if (gj_member(d, "args", n->n_args))
		d->out ? put_children(d, (struct gvalue){.kind = GV_LIST, .n = n->n_args, .first = n->args})
		       : (void)read_args(d, d->g->n_nodes - 1, d->k);
	if (gj_member(d, "kwargs", n->n_kwargs))
		d->out ? put_kwargs(d, d->g->value + n->kwargs, n->n_kwargs) : (void)read_kwargs(d, d->g->n_nodes - 1, d->k);
	if (gj_reads(d))
		name_node(d, n->name);
	gj_meta(d, &n->meta);
	gj_name(d, "type", &n->type, n->type != NONE);
	gj_name(d, "stack", &n->stack, n->stack != NONE);
	gj_number(d, "line", &n->line, 0);
}

static int read_node(struct gjson *d, uint32_t obj)
{
	struct gnode n = {.op = GRAPH_CALL_FUNCTION, .name = NONE, .target = NONE, .meta = NONE, .type = NONE, .stack = NONE};
	d->in = NULL;
	if (gj_read_row(d, obj, "a node", node_row, &n) < 0)
		return -1;
	struct gnode *to = &d->g->node[d->g->n_nodes - 1];
	to->meta = n.meta, to->type = n.type, to->stack = n.stack, to->line = n.line;
	return 0;
}

static void attr_row(struct gjson *d, void *of)
{
	static const char *const kinds[] = {"buffer", "parameter", "module", "other"};
	struct gattr *a = of;
	gj_name(d, "name", &a->name, true);
	a->kind = (uint8_t)gj_word(d, "kind", a->kind, kinds, ARRAY_LEN(kinds));
	gj_name(d, "expr", &a->expr, a->expr != NONE);
	gj_meta(d, &a->meta);
}

static int read_attr(struct gjson *d, uint32_t obj)
{
	struct gattr a = {.name = NONE, .kind = GATTR_OTHER, .expr = NONE, .meta = NONE};
	if (gj_read_row(d, obj, "an attribute", attr_row, &a) < 0)
		return -1;
	if (a.name == NONE)
		return gj_bad(d, obj, "an attribute without a name");
	const uint32_t id = graph_add_attr(d->g, d->module, a.kind, graph_text(d->g, a.name), (struct slice){0});
	d->g->attr[id].expr = a.expr;
	d->g->attr[id].meta = a.meta;
	return 0;
}

/* ---- modules ---- */

int gj_read_module(struct gjson *d, uint32_t obj, uint32_t parent)
{
	const struct json_tape *t = &d->t;
	const uint32_t class_name = json_get(t, obj, "class"), attributes = json_get(t, obj, "attributes"),
		       nodes = json_get(t, obj, "nodes");
	struct slice name, class_text;
	if (gj_keep(d, class_name, "\"class\"", &class_text) < 0 ||
	    gj_text(d, parent == NONE ? NONE : json_get(t, obj, "name"), "\"name\"", &name) < 0)
		return -1;
	d->module = graph_add_module(d->g, parent, name, class_name == NONE ? SLICE("GraphModule") : class_text);
	if (gj_array(d, attributes, "\"attributes\"") < 0 || gj_array(d, nodes, "\"nodes\"") < 0 ||
	    gj_list(d, attributes, "", read_attr) < 0 || gj_list(d, nodes, "", read_node) < 0)
		return -1;
	d->in = NULL;
	const struct gmodule *m = &d->g->module[d->module];
	for (uint32_t i = m->first; i < m->first + m->n; i++)
		d->node_of[d->g->node[i].name] = 0;
	return 0;
}

static int read_submodule(struct gjson *d, uint32_t obj)
{
	static const char *const key[] = {"name", "parent", "class", "attributes", "nodes"};
	const uint32_t k = json_get(&d->t, obj, "parent");
	uint32_t parent;
	if (gj_members(d, obj, "a module", key, ARRAY_LEN(key)) < 0 || gj_read_u32(d, k, "\"parent\"", 0, &parent) < 0)
		return -1;
	if (parent >= d->g->n_modules)
		return gj_bad(d, obj, "no parent %u (0 is the root, 1 the first of \"modules\")", parent);
	if (json_get(&d->t, obj, "name") == NONE)
		return gj_bad(d, obj, "a module without a name");
	return gj_read_module(d, obj, parent);
}

int gj_read_modules(struct gjson *d, uint32_t array) { return gj_list(d, array, "\"modules\"", read_submodule); }

void gj_write_module(struct gjson *d, uint32_t module, const char *indent)
{
	const struct gmodule *m = &d->g->module[module];
	buf_addf(d->out, "%s\"class\": ", indent);
	gj_put_str(d, graph_text(d->g, m->class_name));
	if (m->n_attr)
		gj_write_list(d, indent, "attributes", attr_row, d->g->attr + m->first_attr, sizeof(struct gattr), m->n_attr);
	gj_write_list(d, indent, "nodes", node_row, d->g->node + m->first, sizeof(struct gnode), m->n);
}

void gj_write_modules(struct gjson *d)
{
	if (d->g->n_modules < 2)
		return;
	buf_adds(d->out, ",\n \"modules\": [");
	for (uint32_t i = 1; i < d->g->n_modules; i++) {
		buf_addf(d->out, "%s\n  {\"name\": ", i > 1 ? "," : "");
		gj_put_str(d, graph_text(d->g, d->g->module[i].name));
		buf_addf(d->out, ", \"parent\": %u,\n", d->g->module[i].parent);
		gj_write_module(d, i, "   ");
		buf_addc(d->out, '}');
	}
	buf_addc(d->out, ']');
}
