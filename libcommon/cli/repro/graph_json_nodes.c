#include "repro/graph_json_part.h"

/* ---- operands ---- */

static void push(struct gjson *rd, struct gvalue v) { PUSH_TO(rd->stack, rd->n_stack, rd->cap_stack) = v; }

static uint32_t find_node(const struct gjson *rd, struct slice name)
{
	uint32_t id = intern_find(&rd->g->text, name);
	return id < rd->cap_node_of && rd->node_of[id] ? rd->node_of[id] - 1 : NONE;
}

static int read_reference(struct gjson *rd, uint32_t k, struct gvalue *v)
{
	struct slice s;
	if (gj_text(rd, k, "an operand", &s) < 0)
		return -1;
	uint32_t node = find_node(rd, s);
	if (node == NONE)
		return gj_bad(rd, k, "there is no node '%.*s' before it (a string as such is {\"str\": ...})", SLN(s, 100));
	*v = graph_node_value(node);
	return 0;
}

static int read_number(struct gjson *rd, uint32_t k, struct gvalue *v)
{
	struct slice s = json_slice(&rd->t, k);
	int64_t i;
	double f = 0;
	if (json_i64(&rd->t, k, &i)) {
		*v = graph_int_value(i);
	} else if (slice_ends(s, "NaN") || slice_ends(s, "Infinity")) {
		*v = graph_float_value(slice_ends(s, "NaN") ? __builtin_nan("") : s.p[0] == '-' ? -__builtin_inf() : __builtin_inf());
	} else if (slice_chr(s, '.') || slice_chr(s, 'e') || slice_chr(s, 'E')) {
		json_double(&rd->t, k, &f);
		*v = graph_float_value(f);
	} else {
		*v = graph_text_value(rd->g, GV_TEXT, s); /* beyond 64 bits */
	}
	return 0;
}

static int read_float(struct gjson *rd, uint32_t k, struct gvalue *v)
{
	static const char *const word[] = {"nan", "inf", "-inf"};
	unsigned i = 0;
	if (json_is(&rd->t, k, JSON_NUMBER)) {
		double f = 0;
		json_double(&rd->t, k, &f);
		*v = graph_float_value(f);
		return 0;
	}
	if (gj_word(rd, k, "\"float\"", word, ARRAY_LEN(word), &i) < 0)
		return -1;
	*v = graph_float_value(i == 0 ? __builtin_nan("") : i == 1 ? __builtin_inf() : -__builtin_inf());
	return 0;
}

static int read_value(struct gjson *rd, uint32_t k, unsigned depth, struct gvalue *v);

static int read_children(struct gjson *rd, uint32_t array, enum gvalue_kind kind, unsigned depth, struct gvalue *v)
{
	const struct json_tape *t = &rd->t;
	size_t base = rd->n_stack;
	if (!json_is(t, array, JSON_ARRAY))
		return gj_bad(rd, array, "the parts of an operand are to be an array");
	if (depth == GRAPH_MAX_DEPTH)
		return gj_bad(rd, array, "operands are nested deeper than %d", GRAPH_MAX_DEPTH);
	json_each(t, array, k) {
		struct gvalue part;
		uint32_t first = k;
		if (kind == GV_DICT) { /* [key, value] */
			first = json_is(t, k, JSON_ARRAY) ? json_first(t, k) : k;
			if (first == k || first >= json_end(t, k) || json_next(t, first) >= json_end(t, k) ||
			    json_next(t, json_next(t, first)) < json_end(t, k))
				return gj_bad(rd, k, "an item of a dict is to be [key, value]");
			if (read_value(rd, first, depth + 1, &part) < 0)
				return -1;
			push(rd, part);
			first = json_next(t, first);
		}
		if (read_value(rd, first, depth + 1, &part) < 0)
			return -1;
		push(rd, part);
	}
	if (kind == GV_SLICE && rd->n_stack - base != 3)
		return gj_bad(rd, array, "a slice has three parts: start, stop, step");
	*v = graph_sequence(rd->g, kind, rd->stack + base, rd->n_stack - base);
	rd->n_stack = base;
	return 0;
}

/* {"tuple": [...]}, {"str": "mean"}: what JSON has no form for. */
static int read_tagged(struct gjson *rd, uint32_t k, unsigned depth, struct gvalue *v)
{
	static const struct {
		const char *key;
		enum gvalue_kind kind;
	} form[] = {
	    {"tuple", GV_TUPLE},       {"str", GV_STR},   {"name", GV_NAME},   {"device", GV_DEVICE},
	    {"slice", GV_SLICE},       {"dict", GV_DICT}, {"float", GV_FLOAT}, {"complex", GV_COMPLEX},
	    {"ellipsis", GV_ELLIPSIS}, {"text", GV_TEXT}, {"list", GV_LIST},
	};
	const struct json_tape *t = &rd->t;
	uint32_t key = json_first(t, k);
	size_t i = 0;
	struct slice s;
	if (key >= json_end(t, k) || json_next_pair(t, key) < json_end(t, k))
		return gj_bad(rd, k, "an operand that is an object has one member");
	while (i < ARRAY_LEN(form) && !slice_is(json_slice(t, key), form[i].key))
		i++;
	if (i == ARRAY_LEN(form))
		return gj_bad(rd, key, "an operand is no \"%.*s\"", SLN(json_slice(t, key), 80));
	*v = (struct gvalue){.kind = (uint8_t)form[i].kind};
	if (gvalue_has_children(*v))
		return read_children(rd, key + 1, form[i].kind, depth, v);
	if (form[i].kind == GV_FLOAT)
		return read_float(rd, key + 1, v);
	if (form[i].kind == GV_ELLIPSIS)
		return 0;
	if (gj_text(rd, key + 1, "the text of an operand", &s) < 0)
		return -1;
	*v = graph_text_value(rd->g, form[i].kind, s);
	return 0;
}

/* Depth is bounded: see read_children. */
static int read_value(struct gjson *rd, uint32_t k, unsigned depth, struct gvalue *v)
{
	switch (rd->t.tok[k].type) {
	case JSON_NULL: *v = graph_none_value(); return 0;
	case JSON_TRUE: *v = graph_bool_value(true); return 0;
	case JSON_FALSE: *v = graph_bool_value(false); return 0;
	case JSON_NUMBER: return read_number(rd, k, v);
	case JSON_STRING: return read_reference(rd, k, v);
	case JSON_ARRAY: return read_children(rd, k, GV_LIST, depth, v);
	default: return read_tagged(rd, k, depth, v);
	}
}

/* ---- metadata ---- */

static int read_dims(struct gjson *rd, uint32_t array, const char *what, struct symsize *dim, size_t *n)
{
	*n = 0;
	if (gj_array(rd, array, what) < 0)
		return -1;
	json_each(&rd->t, array, k) {
		if (*n == GRAPH_MAX_DIMS)
			return gj_bad(rd, array, "a tensor has at most %d dims", GRAPH_MAX_DIMS);
		if (gj_size(rd, k, what, &dim[(*n)++]) < 0)
			return -1;
	}
	return 0;
}

static int read_dtype(struct gjson *rd, uint32_t k, enum dtype *dtype)
{
	struct slice s;
	*dtype = DTYPE_NONE;
	if (k == NONE)
		return 0;
	if (gj_text(rd, k, "dtype", &s) < 0)
		return -1;
	if ((*dtype = dtype_by_name(s)) == DTYPE_NONE && (*dtype = dtype_by_short(s)) == DTYPE_NONE)
		return gj_bad(rd, k, "dtype '%.*s' is not known", SLN(s, 80));
	return 0;
}

enum { META_DTYPE, META_SIZE, META_STRIDE, META_DEVICE, META_GRAD, META_PARAM, META_SUBCLASS, META_SYM, META_MEMBERS };

static int read_one_meta(struct gjson *rd, uint32_t obj, uint32_t *meta)
{
	static const char *const key[] = {"dtype", "size", "stride", "device", "requires_grad", "param", "subclass", "sym"};
	uint32_t at[META_MEMBERS];
	struct symsize size[GRAPH_MAX_DIMS], stride[GRAPH_MAX_DIMS], expr;
	size_t n = 0, n_stride = 0;
	struct slice device, subclass;
	enum dtype dtype;
	bool grad, param;
	*meta = NONE;
	if (gj_members(rd, obj, "\"meta\"", key, at, META_MEMBERS) < 0)
		return -1;
	if (at[META_SYM] != NONE) {
		if (gj_size(rd, at[META_SYM], "\"sym\"", &expr) < 0)
			return -1;
		*meta = graph_add_sym(rd->g, expr);
		return 0;
	}
	if (at[META_SIZE] == NONE) {
		*meta = graph_add_sym(rd->g, symsize_int(0));
		rd->g->meta[*meta].kind = GMETA_NONE;
		return json_first(&rd->t, obj) < json_end(&rd->t, obj) ? gj_bad(rd, obj, "a tensor's \"size\" is missing") : 0;
	}
	if (read_dims(rd, at[META_SIZE], "\"size\"", size, &n) < 0 || read_dtype(rd, at[META_DTYPE], &dtype) < 0 ||
	    gj_bool(rd, at[META_GRAD], "\"requires_grad\"", &grad) < 0 || gj_bool(rd, at[META_PARAM], "\"param\"", &param) < 0)
		return -1;
	if (at[META_STRIDE] != NONE && read_dims(rd, at[META_STRIDE], "\"stride\"", stride, &n_stride) < 0)
		return -1;
	if (at[META_STRIDE] != NONE && n_stride != n)
		return gj_bad(rd, at[META_STRIDE], "a tensor of %zu dims has %zu strides", n, n_stride);
	if (gj_text(rd, at[META_DEVICE], "\"device\"", &device) < 0)
		return -1;
	*meta = graph_add_tensor(rd->g, dtype, n, size, at[META_STRIDE] == NONE ? NULL : stride, device);
	if (gj_text(rd, at[META_SUBCLASS], "\"subclass\"", &subclass) < 0)
		return -1;
	rd->g->meta[*meta].requires_grad = grad;
	rd->g->meta[*meta].is_param = param;
	if (at[META_SUBCLASS] != NONE)
		rd->g->meta[*meta].subclass = graph_intern(rd->g, subclass);
	return 0;
}

int gj_meta(struct gjson *rd, uint32_t k, uint32_t *meta)
{
	struct gmeta *part = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;
	*meta = NONE;
	if (k == NONE || json_is(&rd->t, k, JSON_NULL))
		return 0;
	if (!json_is(&rd->t, k, JSON_ARRAY))
		return read_one_meta(rd, k, meta);
	for (uint32_t i = json_first(&rd->t, k); i < json_end(&rd->t, k) && rc == 0; i = json_next(&rd->t, i)) {
		uint32_t one = NONE;
		if (!json_is(&rd->t, i, JSON_NULL))
			rc = read_one_meta(rd, i, &one);
		PUSH_TO(part, n, cap) = one == NONE ? (struct gmeta){.device = NONE, .subclass = NONE} : rd->g->meta[one];
	}
	if (rc == 0)
		*meta = graph_add_tuple_meta(rd->g, part, n);
	free(part);
	return rc;
}

/* ---- nodes ---- */

enum { NODE_NAME, NODE_OP, NODE_TARGET, NODE_ARGS, NODE_KWARGS, NODE_META, NODE_TYPE, NODE_STACK, NODE_LINE, NODE_MEMBERS };

static int read_args(struct gjson *rd, uint32_t node, uint32_t args, uint32_t kwargs)
{
	const struct json_tape *t = &rd->t;
	struct gvalue v;
	size_t base = rd->n_stack;
	if (gj_array(rd, args, "\"args\"") < 0)
		return -1;
	json_each(t, args, k) {
		if (read_value(rd, k, 0, &v) < 0)
			return -1;
		push(rd, v);
	}
	graph_set_args(rd->g, node, rd->stack + base, rd->n_stack - base);
	rd->n_stack = base;
	if (kwargs == NONE)
		return 0;
	if (!json_is(t, kwargs, JSON_OBJECT))
		return gj_bad(rd, kwargs, "\"kwargs\" is to be an object");
	json_each_pair(t, kwargs, k) {
		struct slice s;
		if (gj_text(rd, k, "a keyword", &s) < 0)
			return -1;
		push(rd, graph_text_value(rd->g, GV_STR, s));
		if (read_value(rd, k + 1, 0, &v) < 0)
			return -1;
		push(rd, v);
	}
	graph_set_kwargs(rd->g, node, rd->stack + base, (rd->n_stack - base) / 2);
	rd->n_stack = base;
	return 0;
}

/* An optional text of the graph; NONE when it is not given. */
static int intern_text(struct gjson *rd, uint32_t k, const char *what, uint32_t *id)
{
	struct slice s;
	*id = NONE;
	if (k == NONE)
		return 0;
	if (gj_text(rd, k, what, &s) < 0)
		return -1;
	*id = graph_intern(rd->g, s);
	return 0;
}

static int name_node(struct gjson *rd, uint32_t obj, uint32_t name, uint32_t node)
{
	if (name >= rd->cap_node_of) {
		uint32_t old = rd->cap_node_of;
		GROW(rd->node_of, name, rd->cap_node_of, 1);
		memset(rd->node_of + old, 0, (rd->cap_node_of - old) * sizeof(*rd->node_of));
	}
	if (rd->node_of[name])
		return gj_bad(rd, obj, "an earlier node has that name");
	rd->node_of[name] = node + 1;
	return 0;
}

static int read_node(struct gjson *rd, uint32_t obj)
{
	static const char *const key[] = {"name", "op", "target", "args", "kwargs", "meta", "type", "stack", "line"};
	static const char *const op_name[] = {"placeholder", "call_function", "call_method", "call_module", "get_attr", "output"};
	uint32_t at[NODE_MEMBERS], name, target, node, meta, type, stack, line;
	unsigned op = GRAPH_CALL_FUNCTION;
	rd->in = NULL;
	if (gj_members(rd, obj, "a node", key, at, NODE_MEMBERS) < 0 || intern_text(rd, at[NODE_NAME], "\"name\"", &name) < 0)
		return -1;
	if (name != NONE) {
		rd->in = "node";
		rd->in_name = graph_text(rd->g, name);
	}
	if (gj_word(rd, at[NODE_OP], "\"op\"", op_name, ARRAY_LEN(op_name), &op) < 0 ||
	    intern_text(rd, at[NODE_TARGET], "\"target\"", &target) < 0)
		return -1;
	if (name == NONE && op != GRAPH_OUTPUT)
		return gj_bad(rd, obj, "a node without a name");
	if (name == NONE)
		name = graph_intern(rd->g, SLICE("output"));
	if (target == NONE && op != GRAPH_PLACEHOLDER && op != GRAPH_OUTPUT && op != GRAPH_GET_ATTR)
		return gj_bad(rd, obj, "its target is missing");
	node = graph_add_node_ids(rd->g, rd->module, op, name, target == NONE ? name : target);
	/* Its own name is known only to those after it. */
	if (read_args(rd, node, at[NODE_ARGS], at[NODE_KWARGS]) < 0 || name_node(rd, obj, name, node) < 0 ||
	    gj_meta(rd, at[NODE_META], &meta) < 0 || intern_text(rd, at[NODE_TYPE], "\"type\"", &type) < 0 ||
	    intern_text(rd, at[NODE_STACK], "\"stack\"", &stack) < 0 || gj_u32(rd, at[NODE_LINE], "\"line\"", 0, &line) < 0)
		return -1;
	struct gnode *n = &rd->g->node[node];
	n->meta = meta, n->type = type, n->stack = stack, n->line = line;
	return 0;
}

static int read_attr(struct gjson *rd, uint32_t obj)
{
	static const char *const key[] = {"name", "kind", "expr", "meta"};
	static const char *const kinds[] = {"buffer", "parameter", "module", "other"};
	uint32_t at[ARRAY_LEN(key)], name, expr, meta;
	unsigned kind = GATTR_OTHER;
	if (gj_members(rd, obj, "an attribute", key, at, ARRAY_LEN(key)) < 0 || intern_text(rd, at[0], "\"name\"", &name) < 0 ||
	    gj_word(rd, at[1], "\"kind\"", kinds, ARRAY_LEN(kinds), &kind) < 0 || intern_text(rd, at[2], "\"expr\"", &expr) < 0 ||
	    gj_meta(rd, at[3], &meta) < 0)
		return -1;
	if (name == NONE)
		return gj_bad(rd, obj, "an attribute without a name");
	uint32_t id = graph_add_attr(rd->g, rd->module, kind, graph_text(rd->g, name), (struct slice){0});
	rd->g->attr[id].expr = expr;
	rd->g->attr[id].meta = meta;
	return 0;
}

int gj_body(struct gjson *rd, uint32_t attributes, uint32_t nodes)
{
	const struct json_tape *t = &rd->t;
	if (gj_array(rd, attributes, "\"attributes\"") < 0 || gj_array(rd, nodes, "\"nodes\"") < 0)
		return -1;
	json_each(t, attributes, k)
		if (read_attr(rd, k) < 0)
			return -1;
	json_each(t, nodes, k)
		if (read_node(rd, k) < 0)
			return -1;
	rd->in = NULL;
	const struct gmodule *m = &rd->g->module[rd->module];
	for (uint32_t i = m->first; i < m->first + m->n; i++)
		rd->node_of[rd->g->node[i].name] = 0;
	return 0;
}

int gj_module(struct gjson *rd, uint32_t parent, uint32_t name, uint32_t class_name)
{
	struct slice s, class_text;
	if (gj_keep(rd, class_name, "\"class\"", &class_text) < 0 || gj_text(rd, name, "\"name\"", &s) < 0)
		return -1;
	rd->module = graph_add_module(rd->g, parent, s, class_name == NONE ? SLICE("GraphModule") : class_text);
	return 0;
}

int gj_modules(struct gjson *rd, uint32_t array)
{
	static const char *const key[] = {"name", "parent", "class", "attributes", "nodes"};
	const struct json_tape *t = &rd->t;
	if (gj_array(rd, array, "\"modules\"") < 0)
		return -1;
	json_each(t, array, k) {
		uint32_t at[ARRAY_LEN(key)], parent;
		if (gj_members(rd, k, "a module", key, at, ARRAY_LEN(key)) < 0 || gj_u32(rd, at[1], "\"parent\"", 0, &parent) < 0)
			return -1;
		if (parent >= rd->g->n_modules)
			return gj_bad(rd, k, "parent %u is not there (0 is the root, 1 the first of \"modules\")", parent);
		if (at[0] == NONE)
			return gj_bad(rd, k, "a module without a name");
		if (gj_module(rd, parent, at[0], at[2]) < 0 || gj_body(rd, at[3], at[4]) < 0)
			return -1;
	}
	return 0;
}
