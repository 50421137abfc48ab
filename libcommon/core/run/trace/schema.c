/* schema.c - the types that the fields of a record may have.
 *
 * Source: the declarations of the Rust tlparse 0.4.3, which rejects a whole record if one declared field has another type; the numbering of
 * artifacts depends on it. Fields that are not listed may hold anything.
 */
#include "run/trace/trace.h"

enum ftype {
	T_STR,
	T_U32,
	T_I32,
	T_U64,
	T_F64,
	T_BOOL,
	T_STRS,
	T_U64S,
	T_STACK,
	T_MAP_STR,
	T_MAP_U64,
	T_MAP_SYMINTS,
	T_LOCALS,
	T_SYMINT,
	T_SYMINTS,
};

struct field {
	const char *name;
	uint8_t len, type;
	bool required; /* else it may be missing or null */
	bool plain;    /* optional, but not null */
};

#define REQ(n, t) \
	{ \
#n, sizeof(#n) - 1, t, true, false \
	}
#define OPT(n, t) \
	{ \
#n, sizeof(#n) - 1, t, false, false \
	}
#define DEF(n, t) \
	{ \
#n, sizeof(#n) - 1, t, false, true \
	}
#define END \
	{ \
		NULL, 0, 0, false, false \
	}

static const struct field f_empty[] = {END};
static const struct field f_named[] = {REQ(name, T_STR), END};
static const struct field f_link[] = {REQ(name, T_STR), REQ(url, T_STR), END};
static const struct field f_artifact[] = {REQ(name, T_STR), REQ(encoding, T_STR), END};
static const struct field f_output_graph[] = {OPT(_sizes, T_MAP_SYMINTS), END};
static const struct field f_output_code[] = {OPT(filename, T_STR), END};
static const struct field f_dynamo_start[] = {OPT(stack, T_STACK), END};
static const struct field f_bwd_metrics[] = {
    OPT(inductor_compile_time_s, T_F64), OPT(code_gen_time_s, T_F64), OPT(fail_type, T_STR), OPT(fail_reason, T_STR), END,
};
static const struct field f_aot_bwd_metrics[] = {
    OPT(start_time, T_F64), OPT(elapsed_time, T_F64), OPT(fail_type, T_STR), OPT(fail_reason, T_STR), END,
};
static const struct field f_metrics[] = {
    OPT(co_name, T_STR),
    OPT(co_filename, T_STR),
    OPT(co_firstlineno, T_I32),
    OPT(cache_size, T_U64),
    OPT(accumulated_cache_size, T_U64),
    OPT(guard_count, T_U64),
    OPT(shape_env_guard_count, T_U64),
    OPT(graph_op_count, T_U64),
    OPT(graph_node_count, T_U64),
    OPT(graph_input_count, T_U64),
    OPT(start_time, T_F64),
    OPT(entire_frame_compile_time_s, T_F64),
    OPT(backend_compile_time_s, T_F64),
    OPT(inductor_compile_time_s, T_F64),
    OPT(code_gen_time_s, T_F64),
    OPT(fail_type, T_STR),
    OPT(fail_reason, T_STR),
    OPT(fail_user_frame_filename, T_STR),
    OPT(fail_user_frame_lineno, T_U32),
    OPT(non_compliant_ops, T_STRS),
    OPT(compliant_custom_ops, T_STRS),
    OPT(restart_reasons, T_STRS),
    OPT(dynamo_time_before_restart_s, T_F64),
    END,
};
static const struct field f_specialization[] = {
    OPT(symbol, T_STR), OPT(sources, T_STRS), OPT(value, T_STR), OPT(reason, T_STR), OPT(stack, T_STACK), OPT(user_stack, T_STACK), END,
};
static const struct field f_guard_fast[] = {OPT(expr, T_STR), OPT(stack, T_STACK), OPT(user_stack, T_STACK), END};
static const struct field f_real_tensors[] = {
    OPT(expr, T_STR),
    OPT(result, T_STR),
    OPT(user_stack, T_STACK),
    OPT(stack, T_STACK),
    OPT(expr_node_id, T_U64),
    OPT(symbol_to_sources, T_MAP_STR),
    OPT(frame_locals, T_LOCALS),
    OPT(prefix, T_STR),
    END,
};
static const struct field f_unbacked[] = {
    OPT(symbol, T_STR), OPT(node_id, T_U64), OPT(user_stack, T_STACK), OPT(stack, T_STACK), OPT(vr, T_STR), END,
};
static const struct field f_sym_expr[] = {
    OPT(method, T_STR),        OPT(result, T_STR),       OPT(result_id, T_U64), OPT(arguments, T_STRS),
    OPT(argument_ids, T_U64S), OPT(user_stack, T_STACK), OPT(stack, T_STACK),   END,
};
static const struct field f_fake_kernel[] = {OPT(op, T_STR), OPT(reason, T_STR), END};
static const struct field f_storage[] = {REQ(id, T_U64), REQ(describer_id, T_U64), REQ(size, T_U64), END};
static const struct field f_source[] = {REQ(describer_id, T_U64), REQ(id, T_U64), REQ(source, T_STR), END};
static const struct field f_tensor[] = {
    REQ(id, T_U64),
    REQ(describer_id, T_U64),
    REQ(ndim, T_U64),
    REQ(dtype, T_STR),
    REQ(device, T_STR),
    REQ(size, T_SYMINTS),
    OPT(dynamo_dynamic_indices, T_U64S),
    DEF(layout, T_STR),
    DEF(is_inference, T_BOOL),
    DEF(is_leaf, T_BOOL),
    DEF(requires_grad, T_BOOL),
    DEF(is_sparse, T_BOOL),
    DEF(is_mkldnn, T_BOOL),
    DEF(is_functorch_wrapped, T_BOOL),
    DEF(is_batchedtensor, T_BOOL),
    DEF(is_legacy_batchedtensor, T_BOOL),
    DEF(is_gradtrackingtensor, T_BOOL),
    DEF(is_view, T_BOOL),
    DEF(is_nested, T_BOOL),
    DEF(is_traceable_wrapper_subclass, T_BOOL),
    DEF(is_functional, T_BOOL),
    DEF(is_conj, T_BOOL),
    DEF(is_neg, T_BOOL),
    DEF(is_parameter, T_BOOL),
    OPT(stride, T_SYMINTS),
    DEF(storage_offset, T_SYMINT),
    OPT(storage, T_U64),
    OPT(sparse_dim, T_U64),
    OPT(dense_dim, T_U64),
    OPT(is_coalesced, T_BOOL),
    OPT(crow_indices, T_U64),
    OPT(col_indices, T_U64),
    OPT(ccol_indices, T_U64),
    OPT(row_indices, T_U64),
    OPT(values, T_U64),
    OPT(unwrapped, T_U64),
    OPT(bdim, T_U64),
    OPT(base, T_U64),
    OPT(attrs, T_MAP_U64),
    OPT(creation_meta, T_STR),
    OPT(grad, T_U64),
    END,
};
static const struct field f_frame[] = {
    REQ(filename, T_U32), REQ(line, T_I32), REQ(name, T_STR), OPT(loc, T_STR), OPT(uninterned_filename, T_STR), END,
};
static const struct field f_guard[] = {REQ(code, T_STR), OPT(stack, T_STACK), OPT(user_stack, T_STACK), END};
#define f_any NULL

static const struct field *const kind_fields[KIND_COUNT] = {
#define X(name, form, fields, flags) f_##fields,
    TRACE_KINDS(X)
#undef X
};

static bool fits_fields(const struct json_tape *t, const struct field *f, uint32_t k);

static bool fits_u(const struct json_tape *t, uint32_t k, uint64_t max)
{
	uint64_t v;
	return json_u64(t, k, &v) && v <= max;
}

static bool fits_i(const struct json_tape *t, uint32_t k, int64_t min, int64_t max)
{
	int64_t v;
	return json_i64(t, k, &v) && v >= min && v <= max;
}

/* All items of a list (of one level: no recursion here). */
static bool fits_list(const struct json_tape *t, uint32_t k, enum ftype item)
{
	if (t->tok[k].type != JSON_ARRAY)
		return false;
	json_each(t, k, i) {
		bool ok = item == T_STR      ? json_is(t, i, JSON_STRING)
			  : item == T_U64    ? fits_u(t, i, UINT64_MAX)
			  : item == T_SYMINT ? json_is(t, i, JSON_STRING) || fits_i(t, i, INT64_MIN, INT64_MAX)
					     : fits_fields(t, f_frame, i);
		if (!ok)
			return false;
	}
	return true;
}

static bool fits_map(const struct json_tape *t, uint32_t k, enum ftype item)
{
	if (t->tok[k].type != JSON_OBJECT)
		return false;
	json_each_pair(t, k, i) {
		bool ok = item == T_STR   ? json_is(t, i + 1, JSON_STRING)
			  : item == T_U64 ? fits_u(t, i + 1, UINT64_MAX)
					  : fits_list(t, i + 1, T_SYMINT);
		if (!ok)
			return false;
	}
	return true;
}

/* A text, null, or (torch 2.13) a list of these, one per leaf of the local. */
static bool fits_local(const struct json_tape *t, uint32_t k)
{
	if (!json_is(t, k, JSON_ARRAY))
		return json_is(t, k, JSON_STRING) || json_is(t, k, JSON_NULL);
	json_each(t, k, i)
		if (!json_is(t, i, JSON_STRING) && !json_is(t, i, JSON_NULL))
			return false;
	return true;
}

static bool fits_locals(const struct json_tape *t, uint32_t k)
{
	if (t->tok[k].type != JSON_OBJECT)
		return false;
	json_each_pair(t, k, i) {
		struct slice key = json_slice(t, i);
		if (!(slice_is(key, "locals") || slice_is(key, "symbols")) || json_is(t, i + 1, JSON_NULL))
			continue;
		if (!json_is(t, i + 1, JSON_OBJECT))
			return false;
		json_each_pair(t, i + 1, j)
			if (!fits_local(t, j + 1))
				return false;
	}
	return true;
}

static bool fits(const struct json_tape *t, enum ftype type, uint32_t k)
{
	switch (type) {
	case T_STR: return json_is(t, k, JSON_STRING);
	case T_U32: return fits_u(t, k, UINT32_MAX);
	case T_I32: return fits_i(t, k, INT32_MIN, INT32_MAX);
	case T_U64: return fits_u(t, k, UINT64_MAX);
	case T_F64: return json_is(t, k, JSON_NUMBER);
	case T_BOOL: return json_is(t, k, JSON_TRUE) || json_is(t, k, JSON_FALSE);
	case T_STRS: return fits_list(t, k, T_STR);
	case T_U64S: return fits_list(t, k, T_U64);
	case T_STACK: return fits_list(t, k, T_STACK);
	case T_MAP_STR: return fits_map(t, k, T_STR);
	case T_MAP_U64: return fits_map(t, k, T_U64);
	case T_MAP_SYMINTS: return fits_map(t, k, T_SYMINTS);
	case T_LOCALS: return fits_locals(t, k);
	case T_SYMINT: return json_is(t, k, JSON_STRING) || fits_i(t, k, INT64_MIN, INT64_MAX);
	case T_SYMINTS: return fits_list(t, k, T_SYMINT);
	}
	return false;
}

/* Maps a key's length and letters to one of 64 bits. */
static uint64_t key_bit(const char *key, size_t n) { return UINT64_C(1) << ((n * 7 + (uint8_t)key[0] * 3u + (uint8_t)key[n / 2]) & 63); }

static bool is_named(const struct field *f, struct slice key) { return f->len == key.n && !memcmp(f->name, key.p, key.n); }

static bool fits_fields(const struct json_tape *t, const struct field *f, uint32_t k)
{
	uint64_t seen = 0, there = 0;
	if (t->tok[k].type != JSON_OBJECT)
		return t->tok[k].type == JSON_ARRAY && json_end(t, k) == k + 1 && !f[0].name; /* [] is accepted if nothing is required */
	if (json_end(t, k) - k > 64)                                                          /* many keys, few of them typed */
		for (unsigned j = 0; f[j].name; j++)
			there |= key_bit(f[j].name, f[j].len);
	else
		there = UINT64_MAX;
	const struct field *next = f; /* usually in this order */
	json_each_pair(t, k, i) {
		struct slice key = json_slice(t, i);
		if (!(key.n && there & key_bit(key.p, key.n)))
			continue;
		if (!is_named(next, key))
			for (next = f; next->name && !is_named(next, key); next++)
				;
		if (!next->name)
			continue;
		const uint64_t bit = 1ull << (next - f);
		if (seen & bit)
			return false;
		seen |= bit;
		bool null_will_do = !next->required && !next->plain && json_is(t, i + 1, JSON_NULL);
		if (!null_will_do && !fits(t, next->type, i + 1))
			return false;
		next++;
	}
	for (unsigned j = 0; f[j].name; j++)
		if (f[j].required && !(seen >> j & 1))
			return false;
	return true;
}

bool schema_fits(const struct json_tape *t, enum trace_kind kind, uint32_t k)
{
	if (kind == KIND_str) {
		uint32_t s = k + 1, n = k + 2;
		return json_is(t, k, JSON_ARRAY) && json_end(t, k) == k + 3 && json_is(t, s, JSON_STRING) && fits_u(t, n, UINT32_MAX);
	}
	return !kind_fields[kind] || fits_fields(t, kind_fields[kind], k);
}

bool schema_stack(const struct json_tape *t, uint32_t k) { return fits_list(t, k, T_STACK); }

bool trace_guards_valid(const struct json_tape *t, uint32_t root)
{
	if (t->tok[root].type != JSON_ARRAY)
		return false;
	json_each(t, root, i)
		if (!fits_fields(t, f_guard, i))
			return false;
	return true;
}
