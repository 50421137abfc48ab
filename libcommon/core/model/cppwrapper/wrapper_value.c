#include "model/cppwrapper/wrapper_read.h"

void wrapper_leave(struct wrapper *w, uint32_t depth)
{
	while (w->n_declared) {
		struct wvar *v = &w->var[w->declared[w->n_declared - 1]];
		if (v->depth <= depth)
			break;
		wrapper_drop(w, v);
		v->kind = VAR_NONE;
		w->n_declared--;
	}
}

/* ---- values and memory ---- */

uint32_t wrapper_value(struct wrapper *w, struct slice name, enum value_kind kind)
{
	struct contract *c = w->c;
	uint32_t i = c->n_values;
	GROW(c->value, c->n_values, c->cap_values, 1);
	GROW(w->wv, i, w->cap_wv, 1);
	w->wv[i] = (struct wvalue){0};
	c->value[i] = (struct contract_value){
	    .name = arena_slice(&c->arena, name), .kind = kind, .storage = NONE, .dtype = DTYPE_NONE, .device = DEVICE_NONE, .n_dim = -1};
	return c->n_values++;
}

uint32_t wrapper_same(struct wrapper *w, struct slice name, uint32_t of)
{
	uint32_t i = wrapper_value(w, name, VALUE_BUFFER);
	struct slice own = w->c->value[i].name;
	w->c->value[i] = w->c->value[of];
	w->c->value[i].name = own;
	w->wv[i] = w->wv[of];
	w->wv[i].from = of + 1;
	return i;
}

void wrapper_storage(struct wrapper *w, uint32_t value, uint32_t born)
{
	struct contract *c = w->c;
	uint32_t i = c->n_storages;
	struct contract_value *v = &c->value[value];
	GROW(c->storage, c->n_storages, c->cap_storages, 1);
	GROW(w->ws, i, w->cap_ws, 1);
	c->storage[i] = (struct contract_storage){w->unknown, born, UINT32_MAX};
	w->ws[i] = (struct wstorage){.owner = value};
	v->storage = c->n_storages++;
}

void wrapper_pin(struct wrapper *w, uint32_t value)
{
	uint32_t s = w->c->value[value].storage;
	if (s != NONE)
		w->ws[s].pinned = true;
}

void wrapper_own(struct wrapper *w, struct wvar *v, uint32_t value)
{
	v->value = value;
	v->owns = true;
	uint32_t s = w->c->value[value].storage;
	if (s != NONE) {
		w->ws[s].refs++;
		w->c->storage[s].dies = NONE;
	}
}

/* ---- names of types ---- */

int wrapper_dtype(struct slice text)
{
	const char *at = slice_find(text, "dtype_");
	if (at) {
		struct slice rest = slice_of(at + 6, (size_t)(text.p + text.n - at) - 6);
		return dtype_by_name(text_name(&rest));
	}
	if ((at = slice_find(text, "at::k"))) {
		struct slice rest = slice_of(at, (size_t)(text.p + text.n - at)), name = text_name(&rest);
		for (int i = 0; i < 64; i++) {
			const struct dtype_info *d = dtype_info(i);
			if (d && slice_is(name, d->aten))
				return i;
		}
	}
	return DTYPE_NONE;
}

int wrapper_device(struct slice text)
{
	const char *at = slice_find(text, "device_type_");
	if (!at)
		return DEVICE_NONE;
	struct slice rest = slice_of(at + 12, (size_t)(text.p + text.n - at) - 12);
	return device_by_name(text_name(&rest));
}

/* DTYPE_TO_CPP of torch/_inductor/codegen/cpp_utils.py, and the names of older versions. */
int wrapper_cpp_dtype(struct slice type)
{
	static const struct {
		const char *name;
		int dtype;
	} types[] = {
	    {"float", DTYPE_F32},
	    {"double", DTYPE_F64},
	    {"at::Half", DTYPE_F16},
	    {"half", DTYPE_F16},
	    {"int64_t", DTYPE_I64},
	    {"long", DTYPE_I64},
	    {"int32_t", DTYPE_I32},
	    {"int", DTYPE_I32},
	    {"int16_t", DTYPE_I16},
	    {"short", DTYPE_I16},
	    {"int8_t", DTYPE_I8},
	    {"signed char", DTYPE_I8},
	    {"uint8_t", DTYPE_U8},
	    {"unsigned char", DTYPE_U8},
	    {"uint16_t", DTYPE_U16},
	    {"uint32_t", DTYPE_U32},
	    {"uint64_t", DTYPE_U64},
	    {"bool", DTYPE_BOOL},
	    {"at::BFloat16", DTYPE_BF16},
	    {"bfloat16", DTYPE_BF16},
	    {"at::complex<at::Half>", DTYPE_C32},
	    {"at::complex<at::BFloat16>", DTYPE_BC32},
	    {"at::complex<float>", DTYPE_C64},
	    {"c10::complex<float>", DTYPE_C64},
	    {"at::complex<double>", DTYPE_C128},
	    {"c10::complex<double>", DTYPE_C128},
	    {"at::Float8_e4m3fn", DTYPE_F8E4M3FN},
	    {"at::Float8_e5m2", DTYPE_F8E5M2},
	    {"at::Float8_e4m3fnuz", DTYPE_F8E4M3FNUZ},
	    {"at::Float8_e5m2fnuz", DTYPE_F8E5M2FNUZ},
	    {"at::Float8_e8m0fnu", DTYPE_F8E8M0FNU},
	};
	type = slice_trim(type);
	text_take(&type, "const ");
	if (!slice_ends(type, "*"))
		return DTYPE_NONE;
	type = slice_trim(slice_of(type.p, type.n - 1));
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_is(type, types[i].name))
			return types[i].dtype;
	return DTYPE_NONE;
}

/* ---- expressions of tensors ---- */

/* Functions that return their argument (torch/csrc/inductor/aoti_runtime/{utils,scalar_to_tensor,
 * arrayref_tensor}.h). copy_ and expensive_copy_ copy a tensor on the stack: the same contents. */
static bool passes_handle(struct slice name)
{
	static const char *const names[] = {
	    "wrap_with_raii_handle_if_needed",
	    "RAIIAtenTensorHandle",
	    "std::move",
	    "temporary_reference",
	    "borrow_arrayref_tensor_as_tensor",
	    "copy_arrayref_tensor_to_tensor",
	    "expensive_copy_to_tensor_if_needed",
	    "convert_arrayref_tensor_to_tensor",
	    "get_data_ptr_wrapper",
	    "unwrap_raii_handle_if_needed",
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (slice_is(name, names[i]))
			return true;
	return false;
}

static bool cut_method(struct slice *e)
{
	static const char *const methods[] = {".get()", ".data_ptr()", ".release()", ".tensor()"};
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (slice_ends(*e, methods[i])) {
			e->n -= strlen(methods[i]);
			return true;
		}
	return false;
}

static void take_cast(struct wtensor *t, struct slice type)
{
	if (slice_ends(type, "*") && !t->cast.n) {
		t->cast = type;
		t->dtype = wrapper_cpp_dtype(type);
	}
}

/* reinterpret_tensor_wrapper(X, n_dim, sizes, strides, offset): leaves X. */
static bool take_view(struct wrapper *w, struct slice args, struct wtensor *t, struct slice *e)
{
	struct slice n, size, stride, offset;
	if (!text_arg(&args, e) || !text_arg(&args, &n) || !text_arg(&args, &size) || !text_arg(&args, &stride) ||
	    !text_arg(&args, &offset))
		return false;
	if (!t->view)
		t->n_dim = wrapper_dims(w, wrapper_ints(w, size), wrapper_ints(w, stride), &t->dim);
	t->view = true;
	return true;
}

/* Removes a layer from *e. False if it is not a known one. */
static bool unwrap(struct wrapper *w, struct slice *e, struct wtensor *t)
{
	if (cut_method(e))
		return true;
	if (text_take(e, "&")) {
		t->address = true;
		return true;
	}
	struct slice rest = *e, inner;
	if (rest.n && *rest.p == '(') { /* (const float*)(x) or (x) */
		size_t n = text_group(rest, 0);
		if (!n)
			return false;
		inner = slice_trim(slice_of(rest.p + 1, n - 2));
		if (n == rest.n) {
			*e = inner;
		} else {
			take_cast(t, inner);
			*e = slice_trim(slice_of(rest.p + n, rest.n - n));
		}
		return true;
	}
	struct slice name = text_name(&rest);
	if (!name.n || !rest.n)
		return false;
	if (*rest.p == '<' && slice_ends(name, "_cast")) { /* reinterpret_cast<CUdeviceptr>(x) */
		size_t n = text_group(rest, 0);
		if (!n)
			return false;
		take_cast(t, slice_trim(slice_of(rest.p + 1, n - 2)));
		*e = slice_trim(slice_of(rest.p + n, rest.n - n));
		return e->n && *e->p == '(';
	}
	if (*rest.p != '(' || text_group(rest, 0) != rest.n)
		return false;
	inner = slice_trim(slice_of(rest.p + 1, rest.n - 2));
	if (slice_is(name, "reinterpret_tensor_wrapper") || slice_is(name, "reinterpret_tensor"))
		return take_view(w, inner, t, e);
	if (!passes_handle(name))
		return false;
	t->moved |= slice_is(name, "std::move");
	*e = inner;
	return true;
}

bool wrapper_tensor(struct wrapper *w, struct slice expr, struct wtensor *t)
{
	*t = (struct wtensor){.value = NONE, .n_dim = -1, .dtype = DTYPE_NONE};
	struct slice e = slice_trim(expr);
	for (int i = 0; i < 16; i++) {
		struct slice rest = e, name = text_name(&rest);
		if (name.n && !rest.n) {
			const struct wvar *v = wrapper_var(w, name);
			if (!v || (v->kind != VAR_TENSOR && v->kind != VAR_HANDLE))
				return false;
			t->var = name;
			t->value = v->value;
			return v->value != NONE || t->address;
		}
		if (!unwrap(w, &e, t))
			return false;
	}
	return false;
}
