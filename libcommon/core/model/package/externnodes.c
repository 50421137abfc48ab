#include "model/package/externnodes.h"

#include "base/json.h"
#include "tensor/dtype.h"

#include <math.h>

struct reader {
	struct extern_nodes *x;
	const struct json_tape *t;
};

static char *keep_text(struct extern_nodes *x, struct slice s) { return arena_strndup(&x->arena, s.p ? s.p : "", s.n); }

/* Numbers of torch/_export/serde/schema.py (2.13), to torch's own. 0: unknown; -1: it is 0 there (uint8, strided, contiguous). */
static const int16_t dtypes[] = {
    [1] = -1,
    [2] = DTYPE_I8,
    [3] = DTYPE_I16,
    [4] = DTYPE_I32,
    [5] = DTYPE_I64,
    [6] = DTYPE_F16,
    [7] = DTYPE_F32,
    [8] = DTYPE_F64,
    [9] = DTYPE_C32,
    [10] = DTYPE_C64,
    [11] = DTYPE_C128,
    [12] = DTYPE_BOOL,
    [13] = DTYPE_BF16,
    [28] = DTYPE_U16,
    [29] = DTYPE_F8E4M3FN,
    [30] = DTYPE_F8E5M2,
    [31] = DTYPE_F8E4M3FNUZ,
    [32] = DTYPE_F8E5M2FNUZ,
    [33] = DTYPE_F8E8M0FNU,
    [34] = DTYPE_U32,
    [35] = DTYPE_U64,
};
static const int16_t layouts[] = {[1] = 1, [2] = 2, [3] = 4, [4] = 5, [5] = 6, [6] = 3, [7] = -1};
static const int16_t formats[] = {[1] = -1, [2] = 2, [3] = 3, [4] = 1};

static bool enum_number(const struct reader *r, uint32_t k, const int16_t *table, size_t n, int64_t *out)
{
	uint64_t v;
	if (!json_u64(r->t, k, &v) || v >= n || !table[v])
		return false;
	*out = table[v] == -1 ? 0 : table[v];
	return true;
}

/* torch writes infinities and NaN as strings. */
static bool read_real(struct reader *r, uint32_t k, double *out)
{
	if (json_is(r->t, k, JSON_NUMBER))
		return json_double(r->t, k, out);
	struct slice s = json_dup_at(r->t, k, &r->x->arena);
	*out = slice_is(s, "Infinity") ? HUGE_VAL : slice_is(s, "-Infinity") ? -HUGE_VAL : (double)NAN;
	return !isnan(*out) || slice_is(s, "NaN");
}

static bool read_boolean(const struct json_tape *t, uint32_t k, int64_t *out)
{
	*out = json_is(t, k, JSON_TRUE);
	return *out || json_is(t, k, JSON_FALSE);
}

/* {"as_int": 3} or {"as_name": "s17"} for a symbol */
static bool read_symbol(struct reader *r, uint32_t k, struct extern_item *i)
{
	if (!json_is(r->t, k, JSON_OBJECT))
		return false;
	uint32_t v = json_get(r->t, k, "as_int");
	return v != NONE ? json_i64(r->t, v, &i->i) : json_is(r->t, json_get(r->t, k, "as_name"), JSON_STRING);
}

static bool read_device(struct reader *r, uint32_t k, struct extern_item *i)
{
	i->text = json_dup(r->t, k, "type", &r->x->arena);
	uint32_t index = json_get(r->t, k, "index");
	i->i = -1;
	if (json_is(r->t, index, JSON_NUMBER))
		return json_i64(r->t, index, &i->i) && i->text.n;
	return i->text.n != 0;
}

/* {"as_tensor": {...}} or {"as_none": true} */
static bool optional_tensor(struct reader *r, uint32_t k, struct extern_item *i)
{
	i->given = json_get(r->t, k, "as_tensor") != NONE;
	return i->given || json_get(r->t, k, "as_none") != NONE;
}

enum form { PLAIN, SYMBOL, MAYBE };
static const struct known {
	const char *name;
	enum extern_kind kind;
	bool list;
	enum form form;
} known[] = {
    {"as_tensor", EXTERN_TENSOR, false, PLAIN},
    {"as_tensors", EXTERN_TENSOR, true, PLAIN},
    {"as_int", EXTERN_INT, false, PLAIN},
    {"as_ints", EXTERN_INT, true, PLAIN},
    {"as_sym_int", EXTERN_INT, false, SYMBOL},
    {"as_sym_ints", EXTERN_INT, true, SYMBOL},
    {"as_float", EXTERN_FLOAT, false, PLAIN},
    {"as_floats", EXTERN_FLOAT, true, PLAIN},
    {"as_complex", EXTERN_COMPLEX, false, PLAIN},
    {"as_bool", EXTERN_BOOL, false, PLAIN},
    {"as_bools", EXTERN_BOOL, true, PLAIN},
    {"as_string", EXTERN_STRING, false, PLAIN},
    {"as_strings", EXTERN_STRING, true, PLAIN},
    {"as_scalar_type", EXTERN_DTYPE, false, PLAIN},
    {"as_layout", EXTERN_LAYOUT, false, PLAIN},
    {"as_memory_format", EXTERN_FORMAT, false, PLAIN},
    {"as_device", EXTERN_DEVICE, false, PLAIN},
    {"as_optional_tensors", EXTERN_TENSOR, true, MAYBE},
    {"as_optional_tensor", EXTERN_TENSOR, false, MAYBE},
};

static bool read_item(struct reader *r, uint32_t k, const struct known *how, struct extern_item *i)
{
	i->given = true;
	if (how->form == SYMBOL)
		return read_symbol(r, k, i);
	if (how->form == MAYBE)
		return optional_tensor(r, k, i);
	switch (how->kind) {
	case EXTERN_TENSOR: return json_is(r->t, k, JSON_OBJECT);
	case EXTERN_INT: return json_i64(r->t, k, &i->i);
	case EXTERN_FLOAT: return read_real(r, k, &i->f);
	case EXTERN_COMPLEX:
		return json_is(r->t, k, JSON_OBJECT) && read_real(r, json_get(r->t, k, "real"), &i->f) &&
		       read_real(r, json_get(r->t, k, "imag"), &i->imag);
	case EXTERN_BOOL: return read_boolean(r->t, k, &i->i);
	case EXTERN_STRING: i->text = json_dup_at(r->t, k, &r->x->arena); return json_is(r->t, k, JSON_STRING);
	case EXTERN_DTYPE: return enum_number(r, k, dtypes, ARRAY_LEN(dtypes), &i->i);
	case EXTERN_LAYOUT: return enum_number(r, k, layouts, ARRAY_LEN(layouts), &i->i);
	case EXTERN_FORMAT: return enum_number(r, k, formats, ARRAY_LEN(formats), &i->i);
	case EXTERN_DEVICE: return read_device(r, k, i);
	default: return false;
	}
}

static bool add_item(struct reader *r, struct extern_value *v, uint32_t k, const struct known *how)
{
	struct extern_nodes *x = r->x;
	struct extern_item i = {0};
	if (!read_item(r, k, how, &i))
		return false;
	PUSH_TO(x->item, x->n_item, x->cap_item) = i;
	v->n++;
	return true;
}

static bool read_known(struct reader *r, struct extern_value *v, uint32_t k, const struct known *how)
{
	const struct json_tape *t = r->t;
	v->kind = how->kind;
	v->list = how->list;
	if (!how->list) {
		if (!add_item(r, v, k, how))
			return false;
		if (how->form == MAYBE && !r->x->item[v->item].given)
			v->kind = EXTERN_NONE;
		return true;
	}
	if (!json_is(t, k, JSON_ARRAY))
		return false;
	json_each(t, k, e)
		if (!add_item(r, v, e, how))
			return false;
	return true;
}

/* {"as_ints": [1, 2]}: an object with one member */
static void add_value(struct reader *r, struct slice name, uint32_t arg)
{
	struct extern_nodes *x = r->x;
	const struct json_tape *t = r->t;
	struct extern_value v = {.name = name, .kind = EXTERN_OTHER, .item = x->n_item};
	if (json_is(t, arg, JSON_OBJECT) && json_first(t, arg) < json_end(t, arg)) {
		uint32_t key = json_first(t, arg);
		v.as_name = json_dup_at(r->t, key, &r->x->arena);
		if (slice_is(v.as_name, "as_none"))
			v.kind = EXTERN_NONE;
		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			if (slice_is(v.as_name, known[i].name) && !read_known(r, &v, key + 1, &known[i])) {
				v.kind = EXTERN_OTHER;
				v.n = 0;
			}
	}
	PUSH_TO(x->value, x->n_value, x->cap_value) = v;
}

static void split_target(struct extern_nodes *x, struct extern_node *n, struct slice target)
{
	const char *dot = slice_chr(target, '.');
	size_t op = dot ? (size_t)(dot - target.p) : target.n;
	if (target.n && slice_chr(target, 0))
		target.n = op = 0;
	n->target = keep_text(x, target);
	n->op = keep_text(x, slice_of(target.p, op));
	n->overload = dot && op < target.n ? keep_text(x, slice_of(dot + 1, target.n - op - 1)) : "";
}

static void add_node(struct reader *r, uint32_t k)
{
	struct extern_nodes *x = r->x;
	const struct json_tape *t = r->t;
	struct extern_node n = {.in = x->n_value};
	uint32_t node = json_get(t, k, "node"), in = json_get_as(t, node, "inputs", JSON_ARRAY),
		 out = json_get_as(t, node, "outputs", JSON_ARRAY);
	split_target(x, &n, json_dup(r->t, node, "target", &r->x->arena));
	n.python = slice_is(json_word(t, json_get(t, node, "metadata"), "torch_library_custom_op"), "1");
	json_each(t, in, e)
		add_value(r, json_dup(r->t, e, "name", &r->x->arena), json_get(t, e, "arg"));
	n.n_in = x->n_value - n.in;
	n.out = x->n_value;
	json_each(t, out, e)
		add_value(r, (struct slice){0}, e);
	n.n_out = x->n_value - n.out;
	PUSH_TO(x->node, x->n, x->cap) = n;
}

int extern_nodes_read(struct extern_nodes *x, struct slice json, struct err *err)
{
	OWNED(json_tape_release) struct json_tape t = {0};
	uint32_t root, nodes = NONE;
	int rc = 0;
	*x = (struct extern_nodes){0};
	if (json.n > UINT32_MAX / 2)
		return err_set(err, EXIT_INPUT, "extern nodes: the file is too long");
	json_tape_text(&t, json.p, json.n);
	if (json_parse(&t, 0, json.n, &root) < 0)
		rc = err_set(err, EXIT_INPUT, "extern nodes: %s at offset %zu", t.error, t.error_at);
	else if ((nodes = json_get_as(&t, root, "nodes", JSON_ARRAY)) == NONE)
		rc = err_set(err, EXIT_INPUT, "extern nodes: no list of nodes");
	struct reader r = {.x = x, .t = &t};
	if (!rc)
		json_each(&t, nodes, k)
			add_node(&r, k);
	return rc;
}

void extern_nodes_release(struct extern_nodes *x)
{
	free(x->node);
	free(x->value);
	free(x->item);
	arena_release(&x->arena);
	*x = (struct extern_nodes){0};
}

const struct extern_value *extern_input(const struct extern_nodes *x, const struct extern_node *node, const char *name)
{
	for (uint32_t i = 0; i < node->n_in; i++)
		if (slice_is(x->value[node->in + i].name, name))
			return &x->value[node->in + i];
	return NULL;
}

static bool is_of(const struct extern_node *n, enum extern_which which)
{
	const struct slice s = slice_str(n->target);
	if (which == EXTERN_FOREIGN && (slice_starts(s, "aten::") || slice_starts(s, "prim::") || slice_starts(s, "torch.ops.aten.")))
		return false;
	return s.n && (which != EXTERN_PYTHON || n->python);
}

static bool is_first(const struct extern_nodes *x, uint32_t k, enum extern_which which)
{
	for (uint32_t i = 0; i < k; i++)
		if (is_of(&x->node[i], which) && !strcmp(x->node[i].target, x->node[k].target))
			return false;
	return true;
}

const char *extern_targets(struct extern_nodes *x, enum extern_which which)
{
	enum { LONGEST = 400 };
	LOCAL_BUF b = {0};
	for (uint32_t k = 0; k < x->n && b.len < LONGEST; k++) {
		const struct extern_node *n = &x->node[k];
		if (is_of(n, which) && is_first(x, k, which))
			buf_addf(&b, "%s%.100s", b.len ? ", " : "", n->target);
	}
	return b.len ? keep_text(x, buf_slice(&b)) : NULL;
}
