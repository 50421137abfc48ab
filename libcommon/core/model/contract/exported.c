#include "model/contract/exported.h"
#include "model/contract/bounds.h"
#include "model/contract/pytree.h"
#include "base/sym/srepr.h"
#include "base/jsonskim.h"

enum { MIN_MAJOR = 5, MAX_MAJOR = 8, MAX_CONSTANTS = 1 << 22 };

/* The kinds of arguments of a signature. */
enum arg_kind { ARG_TENSOR, ARG_SYM_INT, ARG_CONSTANT, ARG_OTHER };

/* An entry of the signature used by the contract, and the value it refers to. */
struct entry {
	enum arg_kind kind;
	uint32_t name; /* index into reader.names, NONE for constants */
	uint32_t leaf; /* its index among the call's values */
	struct slice fqn, becomes;
	enum constant_type type;
};

struct list {
	struct entry *v;
	uint32_t n, cap;
	uint32_t leaves;
};

/* The metadata of a name in the graph: text of a TensorMeta or SymInt, p NULL while unknown. */
struct facts {
	struct slice tensor, sym_int;
};

struct reader {
	struct contract *c;
	struct err *err;
	struct slice text;
	struct json_tape t;
	struct buf b;
	struct intern names; /* raw, as between the quotes */
	struct facts *facts; /* of names */
	struct list input, output, constant;
	struct bounds bounds;
};

/* ---- parts of the text ---- */

static int no_program(struct reader *r, const char *at, const char *what)
{
	return err_set(r->err, EXIT_INPUT, "invalid exported program: byte %zu: %s", (size_t)(at - r->text.p), what);
}

static int missing(struct reader *r, const char *key)
{
	return err_set(r->err, EXIT_INPUT, "invalid exported program: '%s' is missing or has the wrong form", key);
}

static int members(struct reader *r, struct slice text, const char *const *keys, struct slice *values, size_t n)
{
	struct json_skim s;
	return json_skim_members(&s, text, keys, values, n) < 0 ? no_program(r, text.p + s.at, s.error) : 0;
}

/* Tokens of one part; those of the previous part are discarded. */
static int parse_part(struct reader *r, struct slice part, uint32_t *root)
{
	json_tape_text(&r->t, part.p, part.n);
	return json_parse(&r->t, 0, part.n, root) < 0 ? no_program(r, part.p + r->t.error_at, r->t.error) : 0;
}

/* ---- the signature ---- */

/* An argument is an object with one member, whose key says what it is: {"as_tensor": {"name": "x"}}. */
static enum arg_kind read_argument(const struct reader *r, uint32_t arg, struct slice *name)
{
	uint32_t tensor = json_get_as(&r->t, arg, "as_tensor", JSON_OBJECT), sym = json_get_as(&r->t, arg, "as_sym_int", JSON_OBJECT);
	uint32_t k = tensor != NONE ? json_get_as(&r->t, tensor, "name", JSON_STRING) : json_get_as(&r->t, sym, "as_name", JSON_STRING);
	if (k != NONE) {
		*name = json_slice(&r->t, k);
		return tensor != NONE ? ARG_TENSOR : ARG_SYM_INT;
	}
	static const char *const constants[] = {"as_none", "as_int", "as_float", "as_bool", "as_string"};
	for (size_t i = 0; i < ARRAY_LEN(constants); i++)
		if (json_is(&r->t, arg, JSON_OBJECT) && json_get(&r->t, arg, constants[i]) != NONE)
			return ARG_CONSTANT;
	return sym != NONE ? ARG_CONSTANT : ARG_OTHER;
}

static int add_entry(struct reader *r, struct list *l, uint32_t max, struct entry e, struct slice name)
{
	if (l->n == max)
		return err_set(r->err, EXIT_INPUT, "unsupported exported program: more than %u inputs, outputs or weights", max);
	e.name = name.p ? intern_add(&r->names, name) : NONE;
	PUSH_TO(l->v, l->n, l->cap) = e;
	return 0;
}

static int take_weight(struct reader *r, uint32_t spec, const char *fqn_key, enum constant_type type)
{
	uint32_t name = json_get_as(&r->t, json_get_as(&r->t, spec, "arg", JSON_OBJECT), "name", JSON_STRING);
	uint32_t fqn = json_get_as(&r->t, spec, fqn_key, JSON_STRING);
	if (name == NONE || fqn == NONE)
		return missing(r, fqn_key);
	struct entry e = {.kind = ARG_TENSOR, .type = type, .fqn = json_dup_at(&r->t, fqn, &r->c->arena)};
	return add_entry(r, &r->constant, MAX_CONSTANTS, e, json_slice(&r->t, name));
}

static int take_input(struct reader *r, uint32_t spec)
{
	uint32_t k;
	if ((k = json_get_as(&r->t, spec, "parameter", JSON_OBJECT)) != NONE)
		return take_weight(r, k, "parameter_name", CONSTANT_PARAMETER);
	if ((k = json_get_as(&r->t, spec, "buffer", JSON_OBJECT)) != NONE)
		return take_weight(r, k, "buffer_name", CONSTANT_BUFFER);
	if ((k = json_get_as(&r->t, spec, "tensor_constant", JSON_OBJECT)) != NONE)
		return take_weight(r, k, "tensor_constant_name", CONSTANT_TENSOR);
	if (json_get_as(&r->t, spec, "constant_input", JSON_OBJECT) != NONE) {
		r->input.leaves++;
		return 0;
	}
	if ((k = json_get_as(&r->t, spec, "user_input", JSON_OBJECT)) == NONE)
		return 0; /* script objects and tokens are not passed by the caller */
	struct slice name = {0};
	struct entry e = {.kind = read_argument(r, json_get_as(&r->t, k, "arg", JSON_OBJECT), &name), .leaf = r->input.leaves++};
	if (e.kind == ARG_OTHER)
		contract_note(r->c, "value %u of the call is neither a tensor nor a number: left out", e.leaf);
	return e.kind == ARG_TENSOR || e.kind == ARG_SYM_INT ? add_entry(r, &r->input, CONTRACT_MAX_INPUTS, e, name) : 0;
}

/* {"buffer_mutation": {"arg": {"name": "add"}, "buffer_name": "steps"}} */
static void take_mutation(struct reader *r, uint32_t spec)
{
	const uint32_t k = json_get_as(&r->t, spec, "buffer_mutation", JSON_OBJECT);
	const struct slice fqn = json_word(&r->t, k, "buffer_name");
	for (uint32_t i = 0; k != NONE && fqn.n && i < r->constant.n; i++)
		if (slice_eq(r->constant.v[i].fqn, fqn))
			r->constant.v[i].becomes = json_dup(&r->t, json_get_as(&r->t, k, "arg", JSON_OBJECT), "name", &r->c->arena);
}

static int take_output(struct reader *r, uint32_t spec)
{
	struct slice name = {0};
	struct entry e = {.kind = ARG_TENSOR, .leaf = r->output.leaves};
	uint32_t k = json_get_as(&r->t, spec, "user_output", JSON_OBJECT), loss = json_get_as(&r->t, spec, "loss_output", JSON_OBJECT);
	if (k != NONE) {
		e.kind = read_argument(r, json_get_as(&r->t, k, "arg", JSON_OBJECT), &name);
	} else if (loss != NONE) {
		uint32_t n = json_get_as(&r->t, json_get_as(&r->t, loss, "arg", JSON_OBJECT), "name", JSON_STRING);
		if (n == NONE)
			return missing(r, "loss_output");
		name = json_slice(&r->t, n);
	} else {
		take_mutation(r, spec); /* gradients are elsewhere */
		return 0;
	}
	r->output.leaves++;
	return add_entry(r, &r->output, CONTRACT_MAX_INPUTS, e, name);
}

static int take_signature(struct reader *r, struct slice part)
{
	uint32_t root;
	if (parse_part(r, part, &root) < 0)
		return -1;
	uint32_t in = json_get_as(&r->t, root, "input_specs", JSON_ARRAY), out = json_get_as(&r->t, root, "output_specs", JSON_ARRAY);
	if (in == NONE || out == NONE)
		return missing(r, "input_specs");
	json_each(&r->t, in, k)
		if (take_input(r, k) < 0)
			return -1;
	json_each(&r->t, out, k)
		if (take_output(r, k) < 0)
			return -1;
	return 0;
}

/* ---- metadata of the names in the graph ---- */

static int find_facts(struct reader *r, struct slice values, bool tensor)
{
	struct json_skim s;
	struct slice key, value;
	if (!values.p)
		return tensor ? missing(r, "tensor_values") : 0;
	int rc = json_skim_open(&s, values);
	while (rc >= 0 && (rc = json_skim_next(&s, &key, &value)) > 0) {
		uint32_t i = intern_find(&r->names, key);
		if (i == NONE)
			continue;
		*(tensor ? &r->facts[i].tensor : &r->facts[i].sym_int) = value;
	}
	return rc < 0 ? no_program(r, values.p + s.at, s.error) : 0;
}

static struct symsize read_expression(struct reader *r, uint32_t k)
{
	struct slice s = json_text_at(&r->t, k, &r->b);
	LOCAL_BUF infix = {0};
	struct err err;
	struct symsize out;
	int rc = 0;
	if (srepr_like(s)) {
		rc = srepr_to_infix(s, &infix, &err);
		s = buf_slice(&infix);
	}
	if (rc == 0)
		rc = symsize_parse(&r->c->tab, s, &out, &err);
	if (rc < 0) {
		contract_unread(r->c, "the size at byte %zu is not understood: %s", (size_t)(json_slice(&r->t, k).p - r->text.p), err.text);
		return contract_unknown(r->c);
	}
	return out;
}

/* A SymInt: {"as_int": 8} or {"as_expr": {"expr_str": "...", "hint": ...}}. */
static struct symsize sym_int(struct reader *r, uint32_t k)
{
	int64_t v;
	uint32_t expr = json_get_as(&r->t, json_get_as(&r->t, k, "as_expr", JSON_OBJECT), "expr_str", JSON_STRING);
	if (json_i64(&r->t, json_get(&r->t, k, "as_int"), &v))
		return symsize_int(v);
	if (expr != NONE)
		return read_expression(r, expr);
	contract_unread(r->c, "the size at byte %zu is neither an integer nor an expression", (size_t)(json_slice(&r->t, k).p - r->text.p));
	return contract_unknown(r->c);
}

enum dtype exported_dtype(int64_t n)
{
	static const signed char torch[] = {DTYPE_NONE, DTYPE_U8,  DTYPE_I8,  DTYPE_I16, DTYPE_I32,  DTYPE_I64,  DTYPE_F16,
					    DTYPE_F32,  DTYPE_F64, DTYPE_C32, DTYPE_C64, DTYPE_C128, DTYPE_BOOL, DTYPE_BF16};
	static const signed char later[] = {DTYPE_U16,        DTYPE_F8E4M3FN,  DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ,
					    DTYPE_F8E5M2FNUZ, DTYPE_F8E8M0FNU, DTYPE_U32,    DTYPE_U64};
	if (n >= 0 && n < (int64_t)ARRAY_LEN(torch))
		return torch[n];
	if (n >= 28 && n < 28 + (int64_t)ARRAY_LEN(later))
		return later[n - 28];
	return DTYPE_NONE;
}

struct meta {
	int dtype, device, n_dim;
	struct contract_dim *dim;
};

static void take_dims(struct reader *r, uint32_t array, struct contract_dim *dim, uint32_t n, bool stride)
{
	uint32_t i = 0;
	for (uint32_t k = json_first(&r->t, array); k < json_end(&r->t, array) && i < n; k = json_next(&r->t, k), i++)
		*(stride ? &dim[i].stride : &dim[i].size) = sym_int(r, k);
}

static int tensor_meta(struct reader *r, struct slice part, struct meta *m)
{
	uint32_t root;
	int64_t number = 0;
	if (parse_part(r, part, &root) < 0)
		return -1;
	uint32_t sizes = json_get_as(&r->t, root, "sizes", JSON_ARRAY), strides = json_get_as(&r->t, root, "strides", JSON_ARRAY);
	uint32_t dtype = json_get_as(&r->t, root, "dtype", JSON_NUMBER), device = json_get_as(&r->t, root, "device", JSON_OBJECT);
	if (sizes == NONE)
		return no_program(r, part.p, "a tensor without sizes");
	uint32_t n = json_length(&r->t, sizes);
	if (n > TENSOR_MAX_DIMS)
		return no_program(r, part.p, "a tensor of more than 64 dims");
	m->n_dim = (int)n;
	m->dim = contract_dims(r->c, (int)n);
	take_dims(r, sizes, m->dim, n, false);
	if (strides != NONE && json_length(&r->t, strides) == n)
		take_dims(r, strides, m->dim, n, true);
	if (!json_i64(&r->t, dtype, &number))
		number = 0;
	m->dtype = exported_dtype(number);
	if (m->dtype == DTYPE_NONE)
		contract_unread(r->c, "unknown dtype %lld at byte %zu", (long long)number, (size_t)(part.p - r->text.p));
	m->device = device_by_name(json_text(&r->t, device, "type", &r->b));
	return 0;
}

/* The tensor that e refers to; an int is a 0-d one. Known: the graph has it. */
static int meta_of(struct reader *r, const struct entry *e, struct meta *m)
{
	*m = (struct meta){DTYPE_NONE, DEVICE_NONE, -1, NULL};
	if (e->kind == ARG_SYM_INT)
		*m = (struct meta){DTYPE_I64, DEVICE_NONE, 0, NULL};
	else if (e->name != NONE && r->facts[e->name].tensor.p)
		return tensor_meta(r, r->facts[e->name].tensor, m);
	return 0;
}

static struct slice name_of(struct reader *r, const struct entry *e)
{
	return e->name == NONE ? (struct slice){0} : arena_slice(&r->c->arena, intern_get(&r->names, e->name));
}

static void *room_for(struct reader *r, size_t n, size_t size)
{
	void *p = arena_alloc(&r->c->arena, (n + 1) * size);
	memset(p, 0, (n + 1) * size);
	return p;
}

static int fill_inputs(struct reader *r)
{
	struct contract *c = r->c;
	c->input = room_for(r, r->input.n, sizeof(*c->input));
	c->n_inputs = r->input.n;
	for (uint32_t i = 0; i < r->input.n; i++) {
		const struct entry *e = &r->input.v[i];
		struct meta m;
		if (meta_of(r, e, &m) < 0)
			return -1;
		struct contract_input *in = &c->input[i];
		in->name = name_of(r, e);
		if (m.n_dim < 0)
			return err_set(r->err, EXIT_INPUT, "invalid exported program: no metadata for input '%.*s'", SLN(in->name, 200));
		in->dtype = m.dtype;
		in->device = m.device;
		in->n_dim = m.n_dim;
		in->dim = m.dim;
		in->rank_known = true;
	}
	return 0;
}

static int fill_outputs(struct reader *r)
{
	struct contract *c = r->c;
	c->output = room_for(r, r->output.n, sizeof(*c->output));
	c->n_outputs = r->output.n;
	for (uint32_t i = 0; i < r->output.n; i++) {
		struct meta m;
		if (meta_of(r, &r->output.v[i], &m) < 0)
			return -1;
		c->output[i] = (struct contract_output){.name = name_of(r, &r->output.v[i]),
							.dtype = m.dtype,
							.device = m.device,
							.n_dim = m.n_dim,
							.dim = m.dim,
							.value = NONE};
	}
	return 0;
}

static uint64_t bytes_of(const struct meta *m)
{
	const struct dtype_info *info = dtype_info(m->dtype);
	uint64_t n = info ? (uint64_t)info->bytes : 0;
	for (int i = 0; i < m->n_dim; i++)
		if (!symsize_is_int(m->dim[i].size) || m->dim[i].size.k < 0 || __builtin_mul_overflow(n, (uint64_t)m->dim[i].size.k, &n))
			return 0;
	return m->n_dim < 0 ? 0 : n;
}

static int fill_constants(struct reader *r)
{
	struct contract *c = r->c;
	c->constant = room_for(r, r->constant.n, sizeof(*c->constant));
	c->n_constants = r->constant.n;
	for (uint32_t i = 0; i < r->constant.n; i++) {
		const struct entry *e = &r->constant.v[i];
		struct meta m;
		if (meta_of(r, e, &m) < 0)
			return -1;
		c->constant[i] = (struct contract_constant){.name = name_of(r, e),
							    .fqn = e->fqn,
							    .dtype = m.dtype,
							    .device = m.device,
							    .n_dim = m.n_dim,
							    .dim = m.dim,
							    .bytes = bytes_of(&m),
							    .type = e->type,
							    .becomes = e->becomes};
	}
	return 0;
}

/* ---- ranges ---- */

/* Before int_oo (2.5), "no bound" was the largest int, or one less. */
static bool no_bound(int64_t v) { return v >= INT64_MAX - 1 || v <= INT64_MIN + 2; }

static struct symrange range_of(struct reader *r, uint32_t k)
{
	struct symrange range = SYMRANGE_ALL;
	int64_t v;
	if (json_i64(&r->t, json_get(&r->t, k, "min_val"), &v) && !no_bound(v))
		range.lo = v, range.lo_inf = false;
	if (json_i64(&r->t, json_get(&r->t, k, "max_val"), &v) && !no_bound(v))
		range.hi = v, range.hi_inf = false;
	if (!range.lo_inf && !range.hi_inf && range.lo > range.hi) {
		contract_unread(r->c, "the bounds at byte %zu contradict each other", (size_t)(json_slice(&r->t, k).p - r->text.p));
		range = SYMRANGE_ALL;
	}
	return range;
}

static int take_ranges(struct reader *r, struct slice part)
{
	uint32_t root;
	if (!part.p)
		return missing(r, "range_constraints");
	if (parse_part(r, part, &root) < 0)
		return -1;
	if (!json_is(&r->t, root, JSON_OBJECT))
		return missing(r, "range_constraints");
	json_each_pair(&r->t, root, k) {
		struct symsize s;
		uint32_t id;
		int64_t mul, plus;
		/* The range of a sum (2*s0) follows from its symbol's. */
		if (symsize_parse(&r->c->tab, json_text_at(&r->t, k, &r->b), &s, NULL) < 0 ||
		    !symsize_linear(&r->c->tab, s, &id, &mul, &plus) || mul != 1 || plus)
			continue;
		bounds_set(&r->bounds, id, range_of(r, k + 1));
	}
	return 0;
}

struct symbols {
	struct contract_symbol *v;
	uint32_t n, cap;
	struct symbind seen;
};

static void take_symbols_of(const struct reader *r, struct symsize s, struct symbols *all)
{
	uint32_t ids[BOUNDS_MAX_SYMBOLS];
	size_t n = symsize_is_int(s) ? 0 : symsize_symbols(&r->c->tab, s, ids, BOUNDS_MAX_SYMBOLS);
	for (size_t i = 0; i < n && i < BOUNDS_MAX_SYMBOLS; i++) {
		int64_t v;
		if (symbind_get(&all->seen, ids[i], &v))
			continue;
		symbind_set(&all->seen, ids[i], 1);
		PUSH_TO(all->v, all->n, all->cap) = (struct contract_symbol){ids[i], bounds_symbol(&r->bounds, ids[i]), NONE, NONE};
	}
}

/* The bounds of dims, and the symbols in order of their first use: contract_finish finds which input gives them. */
static int fill_ranges(struct reader *r)
{
	struct contract *c = r->c;
	struct symbols all = {0};
	for (uint32_t i = 0; i < c->n_inputs; i++) {
		const struct entry *e = &r->input.v[i];
		struct slice value = r->facts[e->name].sym_int;
		uint32_t root;
		for (int d = 0; d < c->input[i].n_dim; d++) {
			c->input[i].dim[d].range = bounds_size(&r->bounds, &c->tab, c->input[i].dim[d].size);
			take_symbols_of(r, c->input[i].dim[d].size, &all);
		}
		if (e->kind == ARG_SYM_INT && value.p) {
			if (parse_part(r, value, &root) < 0) {
				symbind_release(&all.seen);
				free(all.v);
				return -1;
			}
			take_symbols_of(r, sym_int(r, root), &all);
		}
	}
	for (uint32_t i = 0; i < c->n_outputs; i++)
		for (int d = 0; d < c->output[i].n_dim; d++)
			take_symbols_of(r, c->output[i].dim[d].size, &all);
	c->symbol = room_for(r, all.n, sizeof(*c->symbol));
	c->n_symbols = all.n;
	if (all.n)
		memcpy(c->symbol, all.v, all.n * sizeof(*all.v));
	symbind_release(&all.seen);
	free(all.v);
	return 0;
}

/* ---- paths ---- */

static bool plain_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		char ch = s.p[i];
		if (!(is_name_start(ch) || (i && is_digit(ch))))
			return false;
	}
	return s.n > 0;
}

/* args[1]["x"] -> batch["x"], kwargs["mask"] -> mask. */
static struct slice users_path(struct reader *r, struct slice path, const struct slice *names, uint32_t n)
{
	struct slice first = {0}, rest = {0};
	const char *close = slice_chr(path, ']');
	uint64_t k;
	if (close) {
		rest = slice_of(close + 1, path.n - (size_t)(close + 1 - path.p));
		size_t head = (size_t)(close - path.p);
		if (slice_starts(path, "args[") && slice_u64(slice_of(path.p + 5, head - 5), &k) && k < n)
			first = names[k];
		else if (slice_starts(path, "kwargs[\"") && head > 9 && path.p[head - 1] == '"')
			first = slice_of(path.p + 8, head - 9);
	}
	if (!plain_name(first))
		return path;
	buf_reset(&r->b);
	buf_add_slice(&r->b, first);
	buf_add_slice(&r->b, rest);
	return arena_slice(&r->c->arena, buf_slice(&r->b));
}

static void input_paths(struct reader *r, const struct slice *names, uint32_t n_names)
{
	struct contract *c = r->c;
	struct slice *paths;
	uint32_t n;
	struct err err;
	if (!c->in_spec.n)
		return;
	if (pytree_paths(&c->arena, c->in_spec, true, &paths, &n, &err) < 0)
		contract_note(c, "in_spec: %s", err.text);
	else if (n != r->input.leaves)
		contract_note(c, "the call has %u values, but the signature has %u: inputs have no paths", n, r->input.leaves);
	else
		for (uint32_t i = 0; i < c->n_inputs; i++)
			c->input[i].path = users_path(r, paths[r->input.v[i].leaf], names, n_names);
}

static void output_paths(struct reader *r)
{
	struct contract *c = r->c;
	struct slice *paths;
	uint32_t n;
	struct err err;
	if (!c->out_spec.n)
		return;
	if (pytree_paths(&c->arena, c->out_spec, false, &paths, &n, &err) < 0)
		contract_note(c, "out_spec: %s", err.text);
	else if (n == c->n_outputs)
		for (uint32_t i = 0; i < n; i++)
			c->output[i].path = paths[i];
}

/* After contract_finish, which would treat the constants among the values as an error. */
static int take_call(struct reader *r, struct slice graph)
{
	struct json_skim s;
	struct slice key, entry;
	uint32_t root, n = 0, cap = 0;
	if (!graph.p)
		return missing(r, "module_call_graph");
	if (json_skim_open(&s, graph) < 0)
		return no_program(r, graph.p + s.at, s.error);
	int rc = json_skim_next(&s, &key, &entry); /* the whole module's comes first; there can be many others */
	if (rc < 0)
		return no_program(r, graph.p + s.at, s.error);
	if (!rc || parse_part(r, entry, &root) < 0)
		return rc ? -1 : missing(r, "module_call_graph");
	uint32_t signature = json_get_as(&r->t, root, "signature", JSON_OBJECT);
	uint32_t list = json_get_as(&r->t, signature, "forward_arg_names", JSON_ARRAY);
	struct slice *names = NULL;
	r->c->in_spec = json_dup(&r->t, signature, "in_spec", &r->c->arena);
	r->c->out_spec = json_dup(&r->t, signature, "out_spec", &r->c->arena);
	json_each(&r->t, list, k)
		PUSH_TO(names, n, cap) = json_is(&r->t, k, JSON_STRING) ? json_slice(&r->t, k) : (struct slice){0};
	input_paths(r, names, n);
	output_paths(r);
	free(names);
	return 0;
}

/* ---- the whole ---- */

static int check_version(struct reader *r, struct slice part)
{
	uint32_t root;
	uint64_t major, minor = 0;
	if (!part.p)
		return missing(r, "schema_version");
	if (parse_part(r, part, &root) < 0)
		return -1;
	/* A plain number until 2.2, which is refused below by its value. */
	uint32_t k = json_is(&r->t, root, JSON_NUMBER) ? root : json_get_as(&r->t, root, "major", JSON_NUMBER);
	uint32_t m = json_get_as(&r->t, root, "minor", JSON_NUMBER);
	if (!json_u64(&r->t, k, &major))
		return missing(r, "schema_version");
	if (m != NONE)
		(void)json_u64(&r->t, m, &minor);
	if (major < MIN_MAJOR || major > MAX_MAJOR)
		return err_set(r->err, EXIT_INPUT,
			       "the exported program has schema version %llu.%llu, but only %d to %d are supported: export it "
			       "again with PyTorch 2.3 to 2.13",
			       (unsigned long long)major, (unsigned long long)minor, MIN_MAJOR, MAX_MAJOR);
	return 0;
}

static int read_all(struct reader *r)
{
	enum { MODULE, RANGES, VERSION, TOP };
	static const char *const top[] = {"graph_module", "range_constraints", "schema_version"};
	enum { GRAPH, SIGNATURE, CALLS, IN_MODULE };
	static const char *const module[] = {"graph", "signature", "module_call_graph"};
	enum { TENSORS, INTS, IN_GRAPH };
	static const char *const graph[] = {"tensor_values", "sym_int_values"};
	struct slice at[TOP], in[IN_MODULE], of[IN_GRAPH];
	if (members(r, r->text, top, at, TOP) < 0 || check_version(r, at[VERSION]) < 0)
		return -1;
	if (!at[MODULE].p)
		return missing(r, "graph_module");
	if (members(r, at[MODULE], module, in, IN_MODULE) < 0)
		return -1;
	if (!in[GRAPH].p || !in[SIGNATURE].p)
		return missing(r, in[GRAPH].p ? "signature" : "graph");
	if (members(r, in[GRAPH], graph, of, IN_GRAPH) < 0 || take_signature(r, in[SIGNATURE]) < 0)
		return -1;
	r->facts = xcalloc((size_t)r->names.n + 1, sizeof(*r->facts));
	if (find_facts(r, of[TENSORS], true) < 0 || find_facts(r, of[INTS], false) < 0 || take_ranges(r, at[RANGES]) < 0 ||
	    fill_inputs(r) < 0 || fill_outputs(r) < 0 || fill_constants(r) < 0 || fill_ranges(r) < 0 || contract_finish(r->c, r->err) < 0)
		return -1;
	for (uint32_t i = 0; i < r->c->n_inputs; i++)
		r->c->input[i].used = true;
	return take_call(r, in[CALLS]);
}

int exported_read(struct contract *c, struct slice model_json, struct err *err)
{
	*c = (struct contract){.source = CONTRACT_FROM_EXPORT, .device = DEVICE_NONE};
	struct reader r = {.c = c, .err = err, .text = model_json};
	int rc = model_json.n >= UINT32_MAX ? err_set(err, EXIT_INPUT, "the exported program is larger than 4 GiB") : read_all(&r);
	json_tape_release(&r.t);
	buf_release(&r.b);
	intern_release(&r.names);
	bounds_release(&r.bounds);
	free(r.facts);
	free(r.input.v);
	free(r.output.v);
	free(r.constant.v);
	if (rc < 0)
		contract_release(c);
	return rc;
}
