/* The JSON form of a contract, both ways: docs/CONTRACT.md. */
#include "contract/contract.h"
#include "contract/contract_check.h"

#define SCHEMA "pt2utils.contract/1"

static const char *const sources[] = {"text", "probe", "export"};
static const char *const constant_types[] = {"unknown", "parameter", "buffer", "tensor", "folded"};
static const char *const value_kinds[] = {"input", "constant", "buffer"};
static const char *const call_kinds[] = {"kernel", "op", "proxy"};
static const char *const arg_roles[] = {"in", "out", "inout", "scalar"};

/* ---- out ---- */

/* 8, "2*s77", or null when not known. */
static void out_size(const struct contract *c, struct json_out *o, struct symsize s)
{
	if (symsize_is_int(s)) {
		json_out_i64(o, s.k);
	} else if (!contract_known(c, s)) {
		json_out_null(o);
	} else {
		struct buf b = {0};
		symsize_print(&c->tab, s, &b);
		json_out_str(o, buf_slice(&b));
		buf_release(&b);
	}
}

static void out_type(struct json_out *o, int dtype, int device)
{
	json_key(o, "dtype");
	if (dtype_info(dtype))
		json_out_str(o, slice_str(dtype_info(dtype)->name));
	else if (dtype >= 0)
		json_out_i64(o, dtype);
	else
		json_out_null(o);
	if (device >= 0)
		json_member_str(o, "device", slice_str(device_name(device)));
	else
		json_member_null(o, "device");
}

static void out_shape(const struct contract *c, struct json_out *o, int n, const struct contract_dim *d)
{
	for (int stride = 0; stride < 2; stride++) {
		json_key(o, stride ? "strides" : "sizes");
		if (n < 0) {
			json_out_null(o);
			continue;
		}
		json_arr(o);
		for (int i = 0; i < n; i++)
			out_size(c, o, stride ? d[i].stride : d[i].size);
		json_close(o);
	}
}

static void out_range(struct json_out *o, struct symrange r)
{
	r.lo_inf ? json_member_null(o, "min") : json_member_i64(o, "min", r.lo);
	r.hi_inf ? json_member_null(o, "max") : json_member_i64(o, "max", r.hi);
}

static void out_input(const struct contract *c, struct json_out *o, uint32_t i)
{
	const struct contract_input *in = &c->input[i];
	json_obj(o);
	json_member_u64(o, "index", i);
	json_member(o, "name", in->name);
	json_member(o, "path", in->path);
	out_type(o, in->dtype, in->device);
	in->rank_known ? json_member_i64(o, "rank", in->n_dim) : json_member_null(o, "rank");
	json_member_arr(o, "dims");
	for (int d = 0; d < in->n_dim; d++) {
		const struct contract_dim *dim = &in->dim[d];
		json_obj(o);
		json_key(o, "size");
		out_size(c, o, dim->size);
		out_range(o, dim->range);
		json_key(o, "stride");
		out_size(c, o, dim->stride);
		json_member_bool(o, "size_checked", dim->size_checked);
		json_member_bool(o, "stride_checked", dim->stride_checked);
		json_close(o);
	}
	json_close(o);
	in->asserted ? json_member_u64(o, "asserted", in->asserted) : json_member_null(o, "asserted");
	in->alignment ? json_member_i64(o, "alignment", in->alignment) : json_member_null(o, "alignment");
	json_member_bool(o, "used", in->used);
	json_close(o);
}

static void out_program(const struct contract *c, struct json_out *o)
{
	json_member_arr(o, "values");
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct contract_value *v = &c->value[i];
		json_obj(o);
		json_member_str(o, "name", v->name);
		json_member_str(o, "kind", slice_str(value_kinds[v->kind]));
		json_member_index(o, "index", v->kind == VALUE_BUFFER ? NONE : v->index);
		json_member_index(o, "storage", v->storage);
		out_type(o, v->dtype, v->device);
		out_shape(c, o, v->n_dim, v->dim);
		if (v->alignment)
			json_member_i64(o, "alignment", v->alignment);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "storages");
	for (uint32_t i = 0; i < c->n_storages; i++) {
		json_obj(o);
		json_key(o, "bytes");
		out_size(c, o, c->storage[i].bytes);
		json_member_u64(o, "born", c->storage[i].born);
		json_member_u64(o, "dies", c->storage[i].dies);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "calls");
	for (uint32_t i = 0; i < c->n_calls; i++) {
		const struct contract_call *k = &c->call[i];
		json_obj(o);
		json_member_str(o, "kind", slice_str(call_kinds[k->kind]));
		json_member_str(o, "name", k->name);
		json_member_some(o, "function", k->function);
		k->line ? json_member_u64(o, "line", k->line) : json_member_null(o, "line");
		if (k->stream)
			json_member_u64(o, "stream", k->stream);
		if (k->race) {
			json_member_u64(o, "race", k->race - 1);
			json_member_index(o, "race_value", k->race_value);
		}
		json_member(o, "source_nodes", k->nodes);
		json_member(o, "original_aten", k->aten);
		json_member_arr(o, "args");
		for (uint32_t a = k->arg; a < k->arg + k->n_args; a++) {
			json_obj(o);
			if (c->arg[a].role == ARG_UNKNOWN)
				json_member_null(o, "role");
			else
				json_member_str(o, "role", slice_str(arg_roles[c->arg[a].role]));
			json_member_index(o, "value", c->arg[a].value);
			json_member(o, "text", c->arg[a].text);
			json_close(o);
		}
		json_close(o);
		json_close(o);
	}
	json_close(o);
}

static void out_followed(const struct contract *c, struct json_out *o)
{
	json_member_obj(o, "followed");
	json_member(o, "stopped", c->stopped);
	json_member_bool(o, "rigid", c->rigid);
	json_member_u64(o, "lost_ways", c->n_lost_ways);
	json_member_arr(o, "ways");
	for (uint32_t i = 0; i < c->n_ways; i++) {
		json_arr(o);
		for (uint32_t k = 0; k < c->way[i].n; k++)
			json_out_str(o, c->way[i].call[k]);
		json_close(o);
	}
	json_close(o);
	json_close(o);
}

void contract_members(const struct contract *c, struct json_out *o)
{
	json_member_str(o, "schema", SLICE(SCHEMA));
	json_member_str(o, "source", slice_str(sources[c->source]));
	json_member(o, "model", c->model);
	c->device >= 0 ? json_member_str(o, "device", slice_str(device_name(c->device))) : json_member_null(o, "device");
	json_member_u64(o, "weight_bytes", c->weight_bytes);
	json_member_arr(o, "inputs");
	for (uint32_t i = 0; i < c->n_inputs; i++)
		out_input(c, o, i);
	json_close(o);
	json_member_arr(o, "symbols");
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		json_obj(o);
		json_member_str(o, "name", symtab_name(&c->tab, c->symbol[i].symbol));
		out_range(o, c->symbol[i].range);
		json_member_index(o, "input", c->symbol[i].input);
		json_member_index(o, "dim", c->symbol[i].input == NONE ? NONE : c->symbol[i].dim);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "outputs");
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		const struct contract_output *out = &c->output[i];
		json_obj(o);
		json_member_u64(o, "index", i);
		json_member(o, "name", out->name);
		json_member(o, "path", out->path);
		out_type(o, out->dtype, out->device);
		out_shape(c, o, out->n_dim, out->dim);
		json_member_index(o, "value", out->value);
		json_member_bool(o, "none", out->none);
		json_close(o);
	}
	json_close(o);
	json_member_arr(o, "constants");
	for (uint32_t i = 0; i < c->n_constants; i++) {
		const struct contract_constant *k = &c->constant[i];
		json_obj(o);
		json_member_str(o, "name", k->name);
		json_member(o, "fqn", k->fqn);
		out_type(o, k->dtype, k->device);
		out_shape(c, o, k->n_dim, k->dim);
		json_member_u64(o, "bytes", k->bytes);
		json_member_u64(o, "offset", k->offset);
		json_member_str(o, "type", slice_str(constant_types[k->type]));
		json_member_bool(o, "folded", k->from_folded);
		json_close(o);
	}
	json_close(o);
	out_program(c, o);
	json_member(o, "in_spec", c->in_spec);
	json_member(o, "out_spec", c->out_spec);
	if (c->source == CONTRACT_FROM_PROBE)
		out_followed(c, o);
	json_member_arr(o, "notes");
	for (uint32_t i = 0; i < c->n_notes; i++)
		json_out_str(o, c->note[i]);
	json_close(o);
	json_member_u64(o, "unread", c->n_unread);
	json_member_u64(o, "unread_checks", c->n_unread_checks);
}

void contract_to_json(const struct contract *c, struct json_out *o)
{
	json_obj(o);
	contract_members(c, o);
	json_close(o);
}

/* ---- in ---- */

/* Reading stops at the first thing that is not as it should be: `bad` names it. */
struct reader {
	struct contract *c;
	struct json_tape tape;
	const char *bad;
};

static uint32_t get(struct reader *r, uint32_t obj, const char *key, bool null_ok)
{
	uint32_t k = json_get(&r->tape, obj, key);
	if (k == NONE || (!null_ok && json_is(&r->tape, k, JSON_NULL)))
		r->bad = r->bad ? r->bad : key;
	return json_is(&r->tape, k, JSON_NULL) ? NONE : k;
}

static struct slice in_text_at(struct reader *r, uint32_t k, const char *key)
{
	if (!json_is(&r->tape, k, JSON_STRING)) {
		r->bad = key;
		return (struct slice){0};
	}
	return json_dup_at(&r->tape, k, &r->c->arena);
}

static struct slice in_text(struct reader *r, uint32_t obj, const char *key)
{
	uint32_t k = get(r, obj, key, true);
	return k == NONE ? (struct slice){0} : in_text_at(r, k, key);
}

static uint64_t in_u64(struct reader *r, uint32_t obj, const char *key)
{
	uint64_t v = 0;
	uint32_t k = get(r, obj, key, false);
	if (!json_u64(&r->tape, k, &v))
		r->bad = key;
	return v;
}

static uint32_t in_index(struct reader *r, uint32_t obj, const char *key)
{
	uint64_t v;
	uint32_t k = get(r, obj, key, true);
	if (k == NONE)
		return NONE;
	if (!json_u64(&r->tape, k, &v) || v >= NONE) {
		r->bad = key;
		return NONE;
	}
	return (uint32_t)v;
}

/* 0 where an older document has none. */
static uint32_t in_count(struct reader *r, uint32_t obj, const char *key)
{
	uint32_t n = json_get(&r->tape, obj, key) == NONE ? 0 : in_index(r, obj, key);
	return n == NONE ? 0 : n;
}

static bool in_bool(struct reader *r, uint32_t obj, const char *key)
{
	uint32_t k = get(r, obj, key, false);
	return json_is(&r->tape, k, JSON_TRUE);
}

static int in_choice(struct reader *r, uint32_t obj, const char *key, const char *const *names, size_t n)
{
	struct slice s = in_text(r, obj, key);
	for (size_t i = 0; i < n; i++)
		if (slice_is(s, names[i]))
			return (int)i;
	r->bad = key;
	return 0;
}

static struct symsize in_size_at(struct reader *r, uint32_t k)
{
	int64_t v;
	struct symsize s;
	if (json_is(&r->tape, k, JSON_NULL))
		return contract_unknown(r->c);
	if (json_is(&r->tape, k, JSON_STRING)) {
		if (symsize_parse(&r->c->tab, json_slice(&r->tape, k), &s, NULL) == 0)
			return s;
	} else if (json_i64(&r->tape, k, &v)) {
		return symsize_int(v);
	}
	r->bad = "a size";
	return contract_unknown(r->c);
}

static struct symsize in_size(struct reader *r, uint32_t obj, const char *key)
{
	uint32_t k = json_get(&r->tape, obj, key);
	if (k != NONE)
		return in_size_at(r, k);
	r->bad = key;
	return contract_unknown(r->c);
}

static int in_dtype(struct reader *r, uint32_t obj)
{
	int64_t v;
	uint32_t k = get(r, obj, "dtype", true);
	if (k == NONE)
		return DTYPE_NONE;
	if (json_i64(&r->tape, k, &v) && v >= 0 && v < 256)
		return (int)v;
	int t = dtype_by_name(json_slice(&r->tape, k));
	if (t == DTYPE_NONE)
		r->bad = "dtype";
	return t;
}

static int in_device(struct reader *r, uint32_t obj)
{
	struct slice s = in_text(r, obj, "device");
	uint64_t n;
	if (!s.n)
		return DEVICE_NONE;
	int d = device_by_name(s);
	if (d == DEVICE_NONE && slice_starts(s, "device ") && slice_u64(slice_of(s.p + 7, s.n - 7), &n) && n < 256)
		d = (int)n; /* device_name() of one that is not known */
	if (d == DEVICE_NONE)
		r->bad = "device";
	return d;
}

static struct symrange in_range(struct reader *r, uint32_t obj)
{
	struct symrange range = SYMRANGE_ALL;
	uint32_t lo = get(r, obj, "min", true), hi = get(r, obj, "max", true);
	if (lo != NONE) {
		range.lo_inf = false;
		if (!json_i64(&r->tape, lo, &range.lo))
			r->bad = "min";
	}
	if (hi != NONE) {
		range.hi_inf = false;
		if (!json_i64(&r->tape, hi, &range.hi))
			r->bad = "max";
	}
	return range;
}

/* The items of array k, which is called `key`: their tokens, counted. */
static uint32_t *in_items(struct reader *r, uint32_t k, const char *key, uint32_t max, uint32_t *n)
{
	uint32_t *items = NULL, cap = 0;
	*n = 0;
	if (!json_is(&r->tape, k, JSON_ARRAY)) {
		r->bad = key;
		return NULL;
	}
	json_each(&r->tape, k, i) {
		if (*n == max) {
			r->bad = key;
			break;
		}
		GROW(items, *n, cap, 1);
		items[(*n)++] = i;
	}
	return items;
}

static uint32_t *in_array(struct reader *r, uint32_t obj, const char *key, uint32_t max, uint32_t *n)
{
	return in_items(r, get(r, obj, key, false), key, max, n);
}

static struct contract_dim *in_shape(struct reader *r, uint32_t obj, int *n_dim)
{
	uint32_t n, m;
	if (get(r, obj, "sizes", true) == NONE) {
		*n_dim = -1;
		return NULL;
	}
	uint32_t *sizes = in_array(r, obj, "sizes", TENSOR_MAX_DIMS, &n);
	uint32_t *strides = in_array(r, obj, "strides", TENSOR_MAX_DIMS, &m);
	if (n != m)
		r->bad = "strides";
	struct contract_dim *d = contract_dims(r->c, (int)n);
	for (uint32_t i = 0; i < n && i < m; i++) {
		d[i].size = in_size_at(r, sizes[i]);
		d[i].stride = in_size_at(r, strides[i]);
	}
	free(sizes);
	free(strides);
	*n_dim = (int)n;
	return d;
}

static int in_alignment(struct reader *r, uint32_t obj)
{
	uint32_t bytes = in_index(r, obj, "alignment");
	return bytes > INT32_MAX ? 0 : (int)bytes;
}

static void in_input(struct reader *r, uint32_t k, struct contract_input *in)
{
	uint32_t n;
	in->name = in_text(r, k, "name");
	in->path = in_text(r, k, "path");
	in->dtype = in_dtype(r, k);
	in->device = in_device(r, k);
	in->rank_known = get(r, k, "rank", true) != NONE;
	uint32_t *dims = in_array(r, k, "dims", TENSOR_MAX_DIMS, &n);
	if (in->rank_known && in_index(r, k, "rank") != n)
		r->bad = "rank";
	in->n_dim = (int)n;
	in->dim = contract_dims(r->c, (int)n);
	for (uint32_t d = 0; d < n; d++) {
		in->dim[d].size = in_size(r, dims[d], "size");
		in->dim[d].stride = in_size(r, dims[d], "stride");
		in->dim[d].range = in_range(r, dims[d]);
		in->dim[d].size_checked = in_bool(r, dims[d], "size_checked");
		in->dim[d].stride_checked = in_bool(r, dims[d], "stride_checked");
		if ((in->dim[d].size_checked && !symsize_is_int(in->dim[d].size)) ||
		    (in->dim[d].stride_checked && !symsize_is_int(in->dim[d].stride)))
			r->bad = "size_checked";
	}
	free(dims);
	uint32_t asserted = in_index(r, k, "asserted");
	in->asserted = asserted == NONE ? 0 : asserted;
	in->alignment = in_alignment(r, k);
	in->used = in_bool(r, k, "used");
}

static void in_constant(struct reader *r, uint32_t k, struct contract_constant *out)
{
	out->name = in_text(r, k, "name");
	out->fqn = in_text(r, k, "fqn");
	out->dtype = in_dtype(r, k);
	out->device = in_device(r, k);
	out->dim = in_shape(r, k, &out->n_dim);
	out->bytes = in_u64(r, k, "bytes");
	out->offset = in_u64(r, k, "offset");
	out->type = (enum constant_type)in_choice(r, k, "type", constant_types, ARRAY_LEN(constant_types));
	out->from_folded = in_bool(r, k, "folded");
}

static void in_value(struct reader *r, uint32_t k, struct contract_value *v)
{
	v->name = in_text(r, k, "name");
	v->kind = (enum value_kind)in_choice(r, k, "kind", value_kinds, ARRAY_LEN(value_kinds));
	v->index = in_index(r, k, "index");
	v->storage = in_index(r, k, "storage");
	v->dtype = in_dtype(r, k);
	v->device = in_device(r, k);
	v->dim = in_shape(r, k, &v->n_dim);
	if (json_get(&r->tape, k, "alignment") != NONE)
		v->alignment = in_alignment(r, k);
}

static enum arg_role in_role(struct reader *r, uint32_t k)
{
	if (json_get_as(&r->tape, k, "role", JSON_NULL) != NONE)
		return ARG_UNKNOWN;
	return (enum arg_role)in_choice(r, k, "role", arg_roles, ARRAY_LEN(arg_roles));
}

static void in_call(struct reader *r, uint32_t k, struct contract_call *call)
{
	struct contract *c = r->c;
	uint32_t n;
	call->kind = (enum call_kind)in_choice(r, k, "kind", call_kinds, ARRAY_LEN(call_kinds));
	call->name = in_text(r, k, "name");
	if (json_get(&r->tape, k, "function") != NONE)
		call->function = in_text(r, k, "function");
	call->line = in_index(r, k, "line");
	if (call->line == NONE)
		call->line = 0;
	if (json_get(&r->tape, k, "stream") != NONE)
		call->stream = in_index(r, k, "stream");
	if (json_get(&r->tape, k, "race") != NONE) {
		call->race = in_index(r, k, "race") + 1;
		call->race_value = in_index(r, k, "race_value");
	}
	call->nodes = in_text(r, k, "source_nodes");
	call->aten = in_text(r, k, "original_aten");
	uint32_t *args = in_array(r, k, "args", 1 << 16, &n);
	call->arg = c->n_args;
	call->n_args = n;
	GROW(c->arg, c->n_args, c->cap_args, n);
	for (uint32_t i = 0; i < n; i++)
		c->arg[c->n_args++] = (struct contract_arg){
		    .role = in_role(r, args[i]),
		    .value = in_index(r, args[i], "value"),
		    .text = in_text(r, args[i], "text"),
		};
	free(args);
}

#define IN_ALL(key, max, array, count, read) \
	do { \
		uint32_t n_, *items_ = in_array(r, root, key, max, &n_); \
		c->array = arena_alloc(&c->arena, ((size_t)n_ + 1) * sizeof(*c->array)); \
		memset(c->array, 0, ((size_t)n_ + 1) * sizeof(*c->array)); \
		c->count = n_; \
		for (uint32_t i_ = 0; i_ < n_ && !r->bad; i_++) \
			read(r, items_[i_], &c->array[i_]); \
		free(items_); \
	} while (0)
/* The same for the arrays that are on the heap, because readers grow them. */
#define IN_HEAP(key, max, array, count, cap, read) \
	do { \
		uint32_t n_, *items_ = in_array(r, root, key, max, &n_); \
		c->array = xcalloc((size_t)n_ + 1, sizeof(*c->array)); \
		c->cap = n_ + 1; \
		for (uint32_t i_ = 0; i_ < n_ && !r->bad; i_++) \
			read(r, items_[i_], &c->array[i_]); \
		c->count = n_; \
		free(items_); \
	} while (0)

static void in_symbol(struct reader *r, uint32_t k, struct contract_symbol *s)
{
	struct slice name = in_text(r, k, "name");
	if (!name.n)
		r->bad = "name";
	s->symbol = symtab_symbol(&r->c->tab, name);
	s->range = in_range(r, k);
	s->input = in_index(r, k, "input");
	s->dim = in_index(r, k, "dim");
}

static void in_output(struct reader *r, uint32_t k, struct contract_output *o)
{
	o->name = in_text(r, k, "name");
	o->path = in_text(r, k, "path");
	o->dtype = in_dtype(r, k);
	o->device = in_device(r, k);
	o->dim = in_shape(r, k, &o->n_dim);
	o->value = in_index(r, k, "value");
	o->none = json_flag(&r->tape, k, "none");
}

static void in_storage(struct reader *r, uint32_t k, struct contract_storage *s)
{
	s->bytes = in_size(r, k, "bytes");
	s->born = in_index(r, k, "born");
	s->dies = in_index(r, k, "dies");
}

static void in_way(struct reader *r, uint32_t k, struct contract_way *way)
{
	uint32_t *calls = in_items(r, k, "ways", 1 << 20, &way->n);
	way->call = arena_alloc(&r->c->arena, ((size_t)way->n + 1) * sizeof(*way->call));
	for (uint32_t i = 0; i < way->n; i++)
		way->call[i] = in_text_at(r, calls[i], "ways");
	free(calls);
}

static void in_followed(struct reader *r, uint32_t root)
{
	struct contract *c = r->c;
	if (root == NONE)
		return;
	c->stopped = in_text(r, root, "stopped");
	c->rigid = in_bool(r, root, "rigid");
	c->n_lost_ways = in_index(r, root, "lost_ways");
	IN_ALL("ways", CONTRACT_MAX_WAYS, way, n_ways, in_way);
}

static void in_contract(struct reader *r, uint32_t root)
{
	struct contract *c = r->c;
	uint32_t n;
	if (!slice_is(in_text(r, root, "schema"), SCHEMA)) {
		r->bad = "schema";
		return;
	}
	c->source = (enum contract_source)in_choice(r, root, "source", sources, ARRAY_LEN(sources));
	c->model = in_text(r, root, "model");
	c->device = in_device(r, root);
	c->weight_bytes = in_u64(r, root, "weight_bytes");
	enum { MANY = 1 << 24 };
	IN_ALL("inputs", CONTRACT_MAX_INPUTS, input, n_inputs, in_input);
	IN_ALL("symbols", MANY, symbol, n_symbols, in_symbol);
	IN_ALL("outputs", CONTRACT_MAX_INPUTS, output, n_outputs, in_output);
	IN_ALL("constants", MANY, constant, n_constants, in_constant);
	IN_HEAP("values", MANY, value, n_values, cap_values, in_value);
	IN_HEAP("storages", MANY, storage, n_storages, cap_storages, in_storage);
	IN_HEAP("calls", MANY, call, n_calls, cap_calls, in_call);
	c->in_spec = in_text(r, root, "in_spec");
	c->out_spec = in_text(r, root, "out_spec");
	in_followed(r, json_get(&r->tape, root, "followed"));
	uint32_t *notes = in_array(r, root, "notes", CONTRACT_MAX_NOTES, &n);
	for (uint32_t i = 0; i < n; i++)
		contract_note(c, "%s", json_dup_at(&r->tape, notes[i], &c->arena).p);
	free(notes);
	c->n_unread = in_count(r, root, "unread");
	c->n_unread_checks = in_count(r, root, "unread_checks");
	if (c->n_unread_checks > c->n_unread)
		r->bad = "unread_checks";
}

int contract_from_json(struct contract *c, struct slice text, struct err *err)
{
	struct reader r = {.c = c};
	uint32_t root;
	int rc = -1;
	*c = (struct contract){0};
	json_tape_text(&r.tape, text.p, text.n);
	if (json_parse(&r.tape, 0, text.n, &root) < 0) {
		err_set(err, EXIT_INPUT, "no contract: byte %zu: %s", r.tape.error_at, r.tape.error);
	} else {
		in_contract(&r, root);
		if (r.bad)
			err_set(err, EXIT_INPUT, "no contract: bad or missing '%s'", r.bad);
		else
			rc = contract_validate(c, err);
	}
	json_tape_release(&r.tape);
	if (rc < 0)
		contract_release(c);
	return rc;
}
