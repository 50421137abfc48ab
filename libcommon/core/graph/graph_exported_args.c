#include "graph/graph_exported_part.h"
#include "model/contract/exported.h"

int gx_bad(struct exported *x, uint32_t tok, const char *fmt, ...)
{
	char what[400], where[256] = "";
	struct slice name = x->node == NONE ? SLICE("") : graph_text(x->g, x->node);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (name.n)
		snprintf(where, sizeof(where), "node '%.*s': ", SLN(name, 200));
	return err_set(x->err, EXIT_INPUT, "'%s': exported program, byte %u: %s%s", x->name, x->t.tok[tok].off, where, what);
}

/* ---- names ---- */

static struct known *known(struct exported *x, uint32_t text)
{
	if (text >= x->cap_known) {
		uint32_t old = x->cap_known;
		GROW(x->known, text, x->cap_known, 1);
		memset(x->known + old, 0, (x->cap_known - old) * sizeof(*x->known));
	}
	return &x->known[text];
}

uint32_t gx_value_named(const struct exported *x, struct slice name)
{
	uint32_t id = intern_find(&x->g->text, name);
	return id < x->cap_known && x->known[id].value_of == x->module + 1 ? x->known[id].value : NONE;
}

static uint32_t node_named(const struct exported *x, uint32_t id)
{
	return id < x->cap_known && x->known[id].node_of == x->module + 1 ? x->known[id].node : NONE;
}

void gx_name_value(struct exported *x, uint32_t id, uint32_t node)
{
	struct known *k = known(x, id);
	k->value_of = x->module + 1;
	k->value = node;
}

/* A name unused in the module, generated as by torch.fx. */
static uint32_t free_name(struct exported *x, struct slice wanted)
{
	uint32_t id = graph_intern(x->g, wanted);
	wanted = graph_text(x->g, id);
	for (unsigned n = 1; node_named(x, id) != NONE; n++) {
		FREED char *name = xasprintf("%.*s_%u", SL(wanted), n);
		id = graph_intern(x->g, slice_str(name));
	}
	return id;
}

uint32_t gx_add_node(struct exported *x, enum graph_op op, struct slice name, struct slice target)
{
	uint32_t target_id = graph_intern(x->g, target), id = free_name(x, name);
	uint32_t node = graph_add_node_ids(x->g, x->module, op, id, target_id);
	struct known *k = known(x, id);
	k->node_of = x->module + 1;
	k->node = node;
	return node;
}

/* ---- arguments ---- */

void gx_push(struct exported *x, struct gvalue v) { PUSH_TO(x->stack, x->n_stack, x->cap_stack) = v; }

static int named_node(struct exported *x, uint32_t tok, struct gvalue *v)
{
	struct slice name = json_text_at(&x->t, tok, &x->b);
	uint32_t node = tok == NONE ? NONE : gx_value_named(x, name);
	if (node == NONE)
		return gx_bad(x, tok == NONE ? 0 : tok, "value '%.*s' is not defined before it", SLN(name, 100));
	*v = graph_node_value(node);
	return 0;
}

/* Python's json has no infinities: torch writes them as strings (_dataclass_to_dict). */
static int gx_float(struct exported *x, uint32_t k, double *v)
{
	struct slice s = json_is(&x->t, k, JSON_STRING) ? json_slice(&x->t, k) : json_raw(&x->t, k);
	if (slice_is(s, "Infinity") || slice_is(s, "-Infinity"))
		*v = s.p[0] == '-' ? -__builtin_inf() : __builtin_inf();
	else if (slice_is(s, "NaN"))
		*v = __builtin_nan("");
	else if (!json_double(&x->t, k, v))
		return gx_bad(x, k, "expected a number");
	return 0;
}

static int read_number(struct exported *x, uint32_t k, bool is_float, struct gvalue *v)
{
	int64_t i;
	double f;
	if (!is_float && json_i64(&x->t, k, &i)) {
		*v = graph_int_value(i);
		return 0;
	}
	if (!is_float)
		return gx_bad(x, k, "expected a 64-bit integer");
	if (gx_float(x, k, &f) < 0)
		return -1;
	*v = graph_float_value(f);
	return 0;
}

void gx_device(struct exported *x, uint32_t obj, struct buf *b)
{
	int64_t index;
	uint32_t k = json_get_as(&x->t, obj, "index", JSON_NUMBER);
	buf_add_slice(b, json_text(&x->t, obj, "type", &x->b));
	if (json_i64(&x->t, k, &index))
		buf_addf(b, ":%lld", (long long)index);
}

/* An enum of the schema as its name in torch's code. */
static int read_enum(struct exported *x, uint32_t k, const char *const *name, size_t n, struct gvalue *v)
{
	uint64_t i;
	if (!json_u64(&x->t, k, &i) || i >= n || !name[i])
		return gx_bad(x, k, "unexpected number");
	*v = graph_text_value(x->g, GV_NAME, slice_str(name[i]));
	return 0;
}

static int read_dtype_value(struct exported *x, uint32_t k, struct gvalue *v)
{
	int64_t n;
	enum dtype t = json_i64(&x->t, k, &n) ? exported_dtype(n) : DTYPE_NONE;
	char name[64];
	if (t == DTYPE_NONE)
		return gx_bad(x, k, "unknown dtype");
	snprintf(name, sizeof(name), "torch.%s", dtype_name(t));
	*v = graph_text_value(x->g, GV_NAME, slice_str(name));
	return 0;
}

/* {"as_name": "n"}, {"as_int": 3}, {"as_float": 0.5}, {"as_bool": true} */
static int read_sym(struct exported *x, uint32_t obj, struct gvalue *v)
{
	uint32_t k;
	if ((k = json_get(&x->t, obj, "as_name")) != NONE)
		return named_node(x, k, v);
	if ((k = json_get(&x->t, obj, "as_int")) != NONE)
		return read_number(x, k, false, v);
	if ((k = json_get(&x->t, obj, "as_float")) != NONE)
		return read_number(x, k, true, v);
	if ((k = json_get(&x->t, obj, "as_bool")) == NONE)
		return gx_bad(x, obj, "missing name of a symbol");
	*v = graph_bool_value(json_is(&x->t, k, JSON_TRUE));
	return 0;
}

static int read_tensor(struct exported *x, uint32_t obj, struct gvalue *v)
{
	return named_node(x, json_get_as(&x->t, obj, "name", JSON_STRING), v);
}

/* {"as_tensor": {"name": "x"}} or {"as_none": true} */
static int read_optional(struct exported *x, uint32_t obj, struct gvalue *v)
{
	uint32_t k = json_get(&x->t, obj, "as_tensor");
	*v = graph_none_value();
	return k == NONE ? 0 : read_tensor(x, k, v);
}

static int read_int(struct exported *x, uint32_t k, struct gvalue *v) { return read_number(x, k, false, v); }
static int read_real(struct exported *x, uint32_t k, struct gvalue *v) { return read_number(x, k, true, v); }

static int read_bool(struct exported *x, uint32_t k, struct gvalue *v)
{
	*v = graph_bool_value(json_is(&x->t, k, JSON_TRUE));
	return 0;
}

static int read_string(struct exported *x, uint32_t k, struct gvalue *v)
{
	*v = graph_text_value(x->g, GV_STR, json_text_at(&x->t, k, &x->b));
	return 0;
}

static int read_none(struct exported *x, uint32_t k, struct gvalue *v)
{
	(void)x, (void)k;
	*v = graph_none_value();
	return 0;
}

static int read_device_value(struct exported *x, uint32_t k, struct gvalue *v)
{
	LOCAL_BUF b = {0};
	gx_device(x, k, &b);
	*v = graph_text_value(x->g, GV_DEVICE, buf_slice(&b));
	return 0;
}

static int read_layout(struct exported *x, uint32_t k, struct gvalue *v)
{
	static const char *const name[] = {NULL,
					   "torch.sparse_coo",
					   "torch.sparse_csr",
					   "torch.sparse_csc",
					   "torch.sparse_bsr",
					   "torch.sparse_bsc",
					   "torch._mkldnn",
					   "torch.strided"};
	return read_enum(x, k, name, ARRAY_LEN(name), v);
}

static int read_memory_format(struct exported *x, uint32_t k, struct gvalue *v)
{
	static const char *const name[] = {NULL, "torch.contiguous_format", "torch.channels_last", "torch.channels_last_3d",
					   "torch.preserve_format"};
	return read_enum(x, k, name, ARRAY_LEN(name), v);
}

static int read_operator(struct exported *x, uint32_t k, struct gvalue *v)
{
	*v = graph_text_value(x->g, GV_NAME, json_text_at(&x->t, k, &x->b));
	return 0;
}

static int read_complex(struct exported *x, uint32_t k, struct gvalue *v)
{
	double re = 0, im = 0;
	uint32_t r = json_get(&x->t, k, "real"), i = json_get(&x->t, k, "imag");
	char text[80];
	if (r == NONE || i == NONE || gx_float(x, r, &re) < 0 || gx_float(x, i, &im) < 0)
		return gx_bad(x, k, "expected real and imag of a complex number");
	snprintf(text, sizeof(text), "(%.17g%+.17gj)", re, im);
	*v = graph_text_value(x->g, GV_COMPLEX, slice_str(text));
	return 0;
}

/* A get_attr of something in the module: one node for all uses. *made: it is new. */
static struct gvalue attribute(struct exported *x, struct slice name, bool *made)
{
	uint32_t id = graph_intern(x->g, name), node = node_named(x, id);
	*made = node == NONE || x->g->node[node].op != GRAPH_GET_ATTR;
	if (*made)
		node = gx_add_node(x, GRAPH_GET_ATTR, graph_text(x->g, id), graph_text(x->g, id));
	return graph_node_value(node);
}

static int read_graph(struct exported *x, uint32_t k, struct gvalue *v)
{
	uint32_t graph = json_get_as(&x->t, k, "graph", JSON_OBJECT), name = json_get_as(&x->t, k, "name", JSON_STRING);
	bool made;
	if (graph == NONE || name == NONE)
		return gx_bad(x, k, "missing name or graph of a subgraph");
	*v = attribute(x, json_text_at(&x->t, name, &x->b), &made);
	if (made) {
		PUSH_TO(x->waiting, x->n_waiting, x->cap_waiting) = (struct waiting){x->module, x->g->node[v->node].target, graph};
	}
	return 0;
}

/* A lifted object is an input; else it is in the module. */
static int read_custom_obj(struct exported *x, uint32_t k, struct gvalue *v)
{
	struct slice name = json_text(&x->t, k, "name", &x->b);
	uint32_t node = gx_value_named(x, name);
	bool made;
	*v = node == NONE ? attribute(x, name, &made) : graph_node_value(node);
	if (node == NONE && made)
		graph_add_attr(x->g, x->module, GATTR_OTHER, graph_text(x->g, x->g->node[v->node].target), (struct slice){0});
	return 0;
}

static int read_dict(struct exported *x, uint32_t k, unsigned depth, struct gvalue *v)
{
	size_t base = x->n_stack;
	if (!json_is(&x->t, k, JSON_OBJECT) || depth == GRAPH_MAX_DEPTH)
		return gx_bad(x, k, "invalid or too deeply nested dict");
	json_each_pair(&x->t, k, i) {
		struct gvalue item;
		gx_push(x, graph_text_value(x->g, GV_STR, json_text_at(&x->t, i, &x->b)));
		if (gx_argument(x, i + 1, depth + 1, &item) < 0)
			return -1;
		gx_push(x, item);
	}
	*v = graph_sequence(x->g, GV_DICT, x->stack + base, x->n_stack - base);
	x->n_stack = base;
	return 0;
}

typedef int reader(struct exported *x, uint32_t k, struct gvalue *v);

static int read_list(struct exported *x, uint32_t k, reader *one, reader *inner, enum gvalue_kind inner_kind, struct gvalue *v)
{
	size_t base = x->n_stack;
	if (!json_is(&x->t, k, JSON_ARRAY))
		return gx_bad(x, k, "expected a list");
	json_each(&x->t, k, i) {
		struct gvalue item;
		if (inner ? read_list(x, i, inner, NULL, GV_LIST, &item) < 0 : one(x, i, &item) < 0)
			return -1;
		if (inner)
			item.kind = (uint8_t)inner_kind;
		gx_push(x, item);
	}
	*v = graph_sequence(x->g, GV_LIST, x->stack + base, x->n_stack - base);
	x->n_stack = base;
	return 0;
}

/* Schema 8.20: Argument. A list is a list of `one`; inner: a list of such lists. */
static const struct form {
	const char *key;
	reader *one;
	bool list;
	reader *inner;
	enum gvalue_kind inner_kind;
} forms[] = {
    {"as_tensor", read_tensor, false, NULL, 0},
    {"as_tensors", read_tensor, true, NULL, 0},
    {"as_int", read_int, false, NULL, 0},
    {"as_ints", read_int, true, NULL, 0},
    {"as_float", read_real, false, NULL, 0},
    {"as_floats", read_real, true, NULL, 0},
    {"as_bool", read_bool, false, NULL, 0},
    {"as_bools", read_bool, true, NULL, 0},
    {"as_string", read_string, false, NULL, 0},
    {"as_strings", read_string, true, NULL, 0},
    {"as_none", read_none, false, NULL, 0},
    {"as_sym_int", read_sym, false, NULL, 0},
    {"as_sym_ints", read_sym, true, NULL, 0},
    {"as_sym_bool", read_sym, false, NULL, 0},
    {"as_sym_bools", read_sym, true, NULL, 0},
    {"as_sym_float", read_sym, false, NULL, 0},
    {"as_sym_floats", read_sym, true, NULL, 0},
    {"as_scalar_type", read_dtype_value, false, NULL, 0},
    {"as_device", read_device_value, false, NULL, 0},
    {"as_layout", read_layout, false, NULL, 0},
    {"as_memory_format", read_memory_format, false, NULL, 0},
    {"as_optional_tensor", read_optional, false, NULL, 0},
    {"as_optional_tensors", read_optional, true, NULL, 0},
    {"as_nested_tensors", NULL, true, read_tensor, GV_LIST},
    {"as_int_lists", NULL, true, read_int, GV_TUPLE}, /* Triton's grids */
    {"as_float_lists", NULL, true, read_real, GV_LIST},
    {"as_graph", read_graph, false, NULL, 0},
    {"as_custom_obj", read_custom_obj, false, NULL, 0},
    {"as_operator", read_operator, false, NULL, 0},
    {"as_complex", read_complex, false, NULL, 0},
};

/* An object with one member, whose key says what it is. Null members, as in older files, do not count. */
uint32_t gx_union(const struct exported *x, uint32_t obj)
{
	uint32_t found = NONE;
	if (!json_is(&x->t, obj, JSON_OBJECT))
		return NONE;
	json_each_pair(&x->t, obj, k)
		if (!json_is(&x->t, k + 1, JSON_NULL))
			found = k;
	return found;
}

int gx_argument(struct exported *x, uint32_t arg, unsigned depth, struct gvalue *v)
{
	uint32_t k = gx_union(x, arg);
	if (k == NONE)
		return gx_bad(x, arg, "empty argument");
	struct slice key = json_slice(&x->t, k);
	if (slice_is(key, "as_string_to_argument"))
		return read_dict(x, k + 1, depth, v);
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		const struct form *f = &forms[i];
		if (slice_is(key, f->key))
			return f->list ? read_list(x, k + 1, f->one, f->inner, f->inner_kind, v) : f->one(x, k + 1, v);
	}
	return gx_bad(x, k, "unsupported kind of argument '%.*s'", SLN(key, 80));
}
