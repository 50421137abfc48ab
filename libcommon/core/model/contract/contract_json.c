/* The JSON form of a contract, both ways: docs/formats/CONTRACT.md. */
#include "model/contract/contract.h"
#include "base/jsonrow.h"
#include "model/contract/contract_check.h"

#define SCHEMA "pt2utils.contract/1"

static const char *const sources[] = {"text", "probe", "export"};
static const char *const constant_types[] = {"unknown", "parameter", "buffer", "tensor", "folded"};
static const char *const value_kinds[] = {"input", "constant", "buffer"};
static const char *const call_kinds[] = {"kernel", "op", "proxy"};
static const char *const arg_roles[] = {"in", "out", "inout", "scalar"};

/* 8, "2*s77", or null if unknown. */
static void out_size(const struct contract *c, struct json_out *o, struct symsize s)
{
	if (symsize_is_int(s)) {
		json_out_i64(o, s.k);
	} else if (!contract_known(c, s)) {
		json_out_null(o);
	} else {
		LOCAL_BUF b = {0};
		symsize_print(&c->tab, s, &b);
		json_out_str(o, buf_slice(&b));
	}
}

/* ---- both ways ---- */

/* Each function describes the members of a row once, for writing and for reading (base/jsonrow.h). */
struct form {
	struct json_row r;
	struct contract *c;
};

static bool writes(const struct form *f) { return f->r.o != NULL; }

static struct symsize in_size_at(struct form *f, uint32_t k)
{
	int64_t v;
	struct symsize s;
	if (json_is(f->r.t, k, JSON_NULL))
		return contract_unknown(f->c);
	if (json_is(f->r.t, k, JSON_STRING)) {
		if (symsize_parse(&f->c->tab, json_slice(f->r.t, k), &s, NULL) == 0)
			return s;
	} else if (json_i64(f->r.t, k, &v)) {
		return symsize_int(v);
	}
	row_is_bad(&f->r, "a size");
	return contract_unknown(f->c);
}

static void size_form(struct form *f, const char *key, struct symsize *s)
{
	if (writes(f)) {
		json_key(f->r.o, key);
		out_size(f->c, f->r.o, *s);
		return;
	}
	if (!row_has(&f->r, key))
		row_is_bad(&f->r, key);
	*s = in_size_at(f, json_get(f->r.t, f->r.at, key));
}

static void bound_form(struct form *f, const char *key, bool *infinite, int64_t *v)
{
	if (writes(f)) {
		*infinite ? json_member_null(f->r.o, key) : json_member_i64(f->r.o, key, *v);
		return;
	}
	uint32_t k = row_get(&f->r, key, true);
	*infinite = k == NONE;
	if (k != NONE && !json_i64(f->r.t, k, v))
		row_is_bad(&f->r, key);
}

static void range_form(struct form *f, struct symrange *range)
{
	if (!writes(f))
		*range = SYMRANGE_ALL;
	bound_form(f, "min", &range->lo_inf, &range->lo);
	bound_form(f, "max", &range->hi_inf, &range->hi);
}

static int in_dtype(struct form *f)
{
	int64_t v;
	uint32_t k = row_get(&f->r, "dtype", true);
	if (k == NONE)
		return DTYPE_NONE;
	if (json_i64(f->r.t, k, &v) && v >= 0 && v < 256)
		return (int)v;
	int t = dtype_by_name(json_slice(f->r.t, k));
	if (t == DTYPE_NONE)
		row_is_bad(&f->r, "dtype");
	return t;
}

static void device_form(struct form *f, int *device)
{
	struct slice s = writes(f) && *device >= 0 ? slice_str(device_name(*device)) : SLICE("");
	uint64_t n;
	row_text(&f->r, "device", &s);
	if (writes(f))
		return;
	*device = s.n ? device_by_name(s) : DEVICE_NONE;
	if (*device == DEVICE_NONE && slice_starts(s, "device ") && slice_u64(slice_of(s.p + 7, s.n - 7), &n) && n < 256)
		*device = (int)n; /* device_name() of an unknown one */
	if (*device == DEVICE_NONE && s.n)
		row_is_bad(&f->r, "device");
}

static void type_form(struct form *f, int *dtype, int *device)
{
	if (!writes(f))
		*dtype = in_dtype(f);
	else if (dtype_info(*dtype))
		json_member_str(f->r.o, "dtype", slice_str(dtype_info(*dtype)->name));
	else
		json_member_count(f->r.o, "dtype", *dtype);
	device_form(f, device);
}

/* The items of array k, named `key`: their tokens and number. */
static uint32_t *in_items(struct form *f, uint32_t k, const char *key, uint32_t max, uint32_t *n)
{
	*n = json_length(f->r.t, k);
	if (!json_is(f->r.t, k, JSON_ARRAY) || *n > max) {
		row_is_bad(&f->r, key);
		*n = 0;
	}
	uint32_t *items = xcalloc(*n + 1u, sizeof(*items)), i = 0;
	json_each(f->r.t, *n ? k : NONE, item)
		items[i++] = item;
	return items;
}

static struct slice *in_texts(struct form *f, uint32_t k, const char *key, uint32_t max, uint32_t *n)
{
	uint32_t *items = in_items(f, k, key, max, n);
	struct slice *text = arena_alloc(&f->c->arena, ((size_t)*n + 1) * sizeof(*text));
	for (uint32_t i = 0; i < *n; i++) {
		if (!json_is(f->r.t, items[i], JSON_STRING))
			row_is_bad(&f->r, key);
		text[i] = json_dup_at(f->r.t, items[i], &f->c->arena);
	}
	free(items);
	return text;
}

/* Sizes and strides; n_dim -1, and null, if they are unknown. */
static void shape_form(struct form *f, int *n_dim, struct contract_dim **dim)
{
	for (int stride = 0; stride < 2 && writes(f); stride++) {
		json_key(f->r.o, stride ? "strides" : "sizes");
		if (*n_dim < 0) {
			json_out_null(f->r.o);
			continue;
		}
		json_arr(f->r.o);
		for (int i = 0; i < *n_dim; i++)
			out_size(f->c, f->r.o, stride ? (*dim)[i].stride : (*dim)[i].size);
		json_close(f->r.o);
	}
	if (writes(f))
		return;
	uint32_t n, m, k = row_get(&f->r, "sizes", true);
	*n_dim = -1;
	*dim = NULL;
	if (k == NONE)
		return;
	uint32_t *sizes = in_items(f, k, "sizes", TENSOR_MAX_DIMS, &n);
	uint32_t *strides = in_items(f, row_get(&f->r, "strides", false), "strides", TENSOR_MAX_DIMS, &m);
	if (n != m)
		row_is_bad(&f->r, "strides");
	*n_dim = (int)n;
	*dim = contract_dims(f->c, *n_dim);
	for (uint32_t i = 0; i < n && i < m; i++) {
		(*dim)[i].size = in_size_at(f, sizes[i]);
		(*dim)[i].stride = in_size_at(f, strides[i]);
	}
	free(sizes);
	free(strides);
}

/* A list of rows of this many bytes: the same one when writing; when reading, a new zeroed one of n rows with room for one more, in the
 * arena, or (heap) on the heap for lists that readers grow. */
typedef void row_form(struct form *f, void *row, uint32_t i);
static void *rows_form(struct form *f, const char *key, uint32_t max, row_form *form, void *rows, uint32_t *n, size_t size, bool heap)
{
	char *row = rows;
	if (writes(f)) {
		json_member_arr(f->r.o, key);
		for (uint32_t i = 0; i < *n; i++, row += size) {
			json_obj(f->r.o);
			form(f, row, i);
			json_close(f->r.o);
		}
		json_close(f->r.o);
		return rows;
	}
	const uint32_t at = f->r.at;
	uint32_t *items = in_items(f, row_get(&f->r, key, false), key, max, n);
	rows = row =
	    heap ? xcalloc((size_t)*n + 1, size) : memset(arena_alloc(&f->c->arena, ((size_t)*n + 1) * size), 0, ((size_t)*n + 1) * size);
	for (uint32_t i = 0; i < *n && !f->r.bad; i++, row += size) {
		f->r.at = items[i];
		form(f, row, i);
	}
	f->r.at = at;
	free(items);
	return rows;
}
#define ROWS(key, max, array, count, form, heap) (array) = rows_form(f, key, max, form, array, &(count), sizeof(*(array)), heap)

/* Its index, for people; a reader counts itself. */
static void place_form(struct form *f, uint32_t i)
{
	if (writes(f))
		json_member_u64(f->r.o, "index", i);
}

static void alignment_form(struct form *f, int *bytes)
{
	uint32_t v = writes(f) ? (uint32_t)*bytes : 0;
	row_positive(&f->r, "alignment", &v);
	if (!writes(f))
		*bytes = v > INT32_MAX ? 0 : (int)v;
}

static void dim_form(struct form *f, void *row, uint32_t i)
{
	struct contract_dim *d = row;
	(void)i;
	size_form(f, "size", &d->size);
	range_form(f, &d->range);
	size_form(f, "stride", &d->stride);
	row_bool(&f->r, "size_checked", &d->size_checked);
	row_bool(&f->r, "stride_checked", &d->stride_checked);
	if ((d->size_checked && !symsize_is_int(d->size)) || (d->stride_checked && !symsize_is_int(d->stride)))
		row_is_bad(&f->r, "size_checked");
}

static void input_form(struct form *f, void *row, uint32_t i)
{
	struct contract_input *in = row;
	uint32_t rank = in->rank_known ? (uint32_t)in->n_dim : NONE, n = (uint32_t)in->n_dim;
	place_form(f, i);
	row_text(&f->r, "name", &in->name);
	row_text(&f->r, "path", &in->path);
	type_form(f, &in->dtype, &in->device);
	row_index(&f->r, "rank", &rank);
	ROWS("dims", TENSOR_MAX_DIMS, in->dim, n, dim_form, false);
	row_positive(&f->r, "asserted", &in->asserted);
	alignment_form(f, &in->alignment);
	row_bool(&f->r, "used", &in->used);
	if (writes(f))
		return;
	in->rank_known = rank != NONE;
	in->n_dim = (int)n;
	if (in->rank_known && rank != n)
		row_is_bad(&f->r, "rank");
}

static void symbol_form(struct form *f, void *row, uint32_t i)
{
	struct contract_symbol *s = row;
	struct slice name = writes(f) ? symtab_name(&f->c->tab, s->symbol) : SLICE("");
	uint32_t dim = s->input == NONE ? NONE : s->dim;
	(void)i;
	row_str(&f->r, "name", &name);
	range_form(f, &s->range);
	row_index(&f->r, "input", &s->input);
	row_index(&f->r, "dim", &dim);
	if (writes(f))
		return;
	if (!name.n)
		row_is_bad(&f->r, "name");
	s->symbol = symtab_symbol(&f->c->tab, name);
	s->dim = dim;
}

static void output_form(struct form *f, void *row, uint32_t i)
{
	struct contract_output *out = row;
	place_form(f, i);
	row_text(&f->r, "name", &out->name);
	row_text(&f->r, "path", &out->path);
	type_form(f, &out->dtype, &out->device);
	shape_form(f, &out->n_dim, &out->dim);
	row_index(&f->r, "value", &out->value);
	if (row_has(&f->r, "none"))
		row_bool(&f->r, "none", &out->none);
}

static void constant_form(struct form *f, void *row, uint32_t i)
{
	struct contract_constant *k = row;
	(void)i;
	row_str(&f->r, "name", &k->name);
	row_text(&f->r, "fqn", &k->fqn);
	type_form(f, &k->dtype, &k->device);
	shape_form(f, &k->n_dim, &k->dim);
	row_u64(&f->r, "bytes", &k->bytes);
	row_u64(&f->r, "offset", &k->offset);
	row_word(&f->r, "type", (int *)&k->type, constant_types, ARRAY_LEN(constant_types));
	row_bool(&f->r, "folded", &k->from_folded);
}

static void value_form(struct form *f, void *row, uint32_t i)
{
	struct contract_value *v = row;
	(void)i;
	row_str(&f->r, "name", &v->name);
	row_word(&f->r, "kind", (int *)&v->kind, value_kinds, ARRAY_LEN(value_kinds));
	uint32_t index = v->kind == VALUE_BUFFER ? NONE : v->index;
	row_index(&f->r, "index", &index);
	row_index(&f->r, "storage", &v->storage);
	type_form(f, &v->dtype, &v->device);
	shape_form(f, &v->n_dim, &v->dim);
	if (writes(f) ? v->alignment != 0 : row_has(&f->r, "alignment"))
		alignment_form(f, &v->alignment);
	if (!writes(f))
		v->index = index;
}

static void storage_form(struct form *f, void *row, uint32_t i)
{
	struct contract_storage *s = row;
	(void)i;
	size_form(f, "bytes", &s->bytes);
	row_u32(&f->r, "born", &s->born);
	row_u32(&f->r, "dies", &s->dies);
}

static void arg_form(struct form *f, void *row, uint32_t i)
{
	struct contract_arg *a = row;
	(void)i;
	if (!writes(f) && json_get_as(f->r.t, f->r.at, "role", JSON_NULL) != NONE)
		a->role = ARG_UNKNOWN;
	else if (writes(f) && a->role == ARG_UNKNOWN)
		json_member_null(f->r.o, "role");
	else
		row_word(&f->r, "role", (int *)&a->role, arg_roles, ARRAY_LEN(arg_roles));
	row_index(&f->r, "value", &a->value);
	row_text(&f->r, "text", &a->text);
}

static void call_form(struct form *f, void *row, uint32_t i)
{
	struct contract_call *k = row;
	struct contract *c = f->c;
	uint32_t race = k->race - 1;
	(void)i;
	row_word(&f->r, "kind", (int *)&k->kind, call_kinds, ARRAY_LEN(call_kinds));
	row_str(&f->r, "name", &k->name);
	row_some(&f->r, "function", &k->function);
	row_positive(&f->r, "line", &k->line);
	row_some_u32(&f->r, "stream", &k->stream);
	if (writes(f) ? k->race != 0 : row_has(&f->r, "race")) {
		row_u32(&f->r, "race", &race);
		row_index(&f->r, "race_value", &k->race_value);
		if (!writes(f))
			k->race = race + 1;
	}
	row_text(&f->r, "source_nodes", &k->nodes);
	row_text(&f->r, "original_aten", &k->aten);
	struct contract_arg *args = k->n_args && writes(f) ? c->arg + k->arg : NULL;
	ROWS("args", 1 << 16, args, k->n_args, arg_form, true);
	if (writes(f))
		return;
	k->arg = c->n_args;
	GROW(c->arg, c->n_args, c->cap_args, k->n_args);
	for (uint32_t a = 0; a < k->n_args; a++)
		c->arg[c->n_args++] = args[a];
	free(args);
}

static void ways_form(struct form *f)
{
	struct contract *c = f->c;
	if (writes(f)) {
		json_member_arr(f->r.o, "ways");
		for (uint32_t i = 0; i < c->n_ways; i++) {
			json_arr(f->r.o);
			for (uint32_t k = 0; k < c->way[i].n; k++)
				json_out_str(f->r.o, c->way[i].call[k]);
			json_close(f->r.o);
		}
		json_close(f->r.o);
		return;
	}
	uint32_t *items = in_items(f, row_get(&f->r, "ways", false), "ways", CONTRACT_MAX_WAYS, &c->n_ways);
	c->way = arena_alloc(&c->arena, ((size_t)c->n_ways + 1) * sizeof(*c->way));
	for (uint32_t i = 0; i < c->n_ways; i++)
		c->way[i].call = in_texts(f, items[i], "ways", 1 << 20, &c->way[i].n);
	free(items);
}

/* Only present for a program that the probe ran. */
static void followed_form(struct form *f)
{
	struct contract *c = f->c;
	const uint32_t at = f->r.at;
	if (writes(f) ? c->source != CONTRACT_FROM_PROBE : !json_is(f->r.t, json_get(f->r.t, at, "followed"), JSON_OBJECT))
		return;
	if (writes(f))
		json_member_obj(f->r.o, "followed");
	else
		f->r.at = json_get(f->r.t, at, "followed");
	row_text(&f->r, "stopped", &c->stopped);
	row_bool(&f->r, "rigid", &c->rigid);
	row_u32(&f->r, "lost_ways", &c->n_lost_ways);
	ways_form(f);
	if (writes(f))
		json_close(f->r.o);
	f->r.at = at;
}

static void notes_form(struct form *f)
{
	struct contract *c = f->c;
	uint32_t n;
	if (writes(f)) {
		json_member_texts(f->r.o, "notes", c->note, c->n_notes);
		return;
	}
	struct slice *note = in_texts(f, row_get(&f->r, "notes", false), "notes", CONTRACT_MAX_NOTES, &n);
	for (uint32_t i = 0; i < n; i++)
		contract_note(c, "%s", note[i].p);
}

static void contract_form(struct form *f)
{
	enum { MANY = 1 << 24 };
	struct contract *c = f->c;
	struct slice schema = SLICE(SCHEMA);
	row_str(&f->r, "schema", &schema);
	if (!slice_is(schema, SCHEMA)) {
		row_is_bad(&f->r, "schema");
		return;
	}
	row_word(&f->r, "source", (int *)&c->source, sources, ARRAY_LEN(sources));
	row_text(&f->r, "model", &c->model);
	device_form(f, &c->device);
	row_u64(&f->r, "weight_bytes", &c->weight_bytes);
	ROWS("inputs", CONTRACT_MAX_INPUTS, c->input, c->n_inputs, input_form, false);
	ROWS("symbols", MANY, c->symbol, c->n_symbols, symbol_form, false);
	ROWS("outputs", CONTRACT_MAX_INPUTS, c->output, c->n_outputs, output_form, false);
	ROWS("constants", MANY, c->constant, c->n_constants, constant_form, false);
	ROWS("values", MANY, c->value, c->n_values, value_form, true);
	ROWS("storages", MANY, c->storage, c->n_storages, storage_form, true);
	ROWS("calls", MANY, c->call, c->n_calls, call_form, true);
	c->cap_values = c->n_values + 1;
	c->cap_storages = c->n_storages + 1;
	c->cap_calls = c->n_calls + 1;
	row_text(&f->r, "in_spec", &c->in_spec);
	row_text(&f->r, "out_spec", &c->out_spec);
	followed_form(f);
	notes_form(f);
	/* Missing in older documents. */
	if (row_has(&f->r, "unread"))
		row_u32(&f->r, "unread", &c->n_unread);
	if (row_has(&f->r, "unread_checks"))
		row_u32(&f->r, "unread_checks", &c->n_unread_checks);
	if (c->n_unread_checks > c->n_unread)
		row_is_bad(&f->r, "unread_checks");
}

void contract_members(const struct contract *c, struct json_out *o)
{
	struct contract as_it_is = *c;
	contract_form(&(struct form){.r = {.o = o}, .c = &as_it_is});
}

void contract_to_json(const struct contract *c, struct json_out *o)
{
	json_obj(o);
	contract_members(c, o);
	json_close(o);
}

int contract_from_json(struct contract *c, struct slice text, struct err *err)
{
	OWNED(json_tape_release) struct json_tape tape = {0};
	struct form f = {.r = {.t = &tape, .arena = &c->arena, .strict = true}, .c = c};
	int rc = -1;
	*c = (struct contract){0};
	json_tape_text(&tape, text.p, text.n);
	if (json_parse(&tape, 0, text.n, &f.r.at) < 0) {
		err_set(err, EXIT_INPUT, "invalid contract: byte %zu: %s", tape.error_at, tape.error);
	} else {
		contract_form(&f);
		if (f.r.bad)
			err_set(err, EXIT_INPUT, "invalid contract: invalid or missing '%s'", f.r.bad);
		else
			rc = contract_validate(c, err);
	}
	if (rc < 0)
		contract_release(c);
	return rc;
}
