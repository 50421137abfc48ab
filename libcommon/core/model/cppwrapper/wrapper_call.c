#include "model/cppwrapper/optypes.h"
#include "model/cppwrapper/wrapper_read.h"

/* ---- calls and arguments ---- */

static void begin_call(struct wrapper *w, enum call_kind kind, struct slice name)
{
	struct contract *c = w->c;
	GROW(c->call, c->n_calls, c->cap_calls, 1);
	struct contract_call *k = &c->call[c->n_calls];
	*k = (struct contract_call){
	    .kind = kind, .name = arena_slice(&c->arena, name), .line = w->line, .stream = w->stream, .arg = c->n_args};
	/* The C++ kernels of the CPU have no such comment; one above them belongs to an operator that became a view. */
	if (kind != CALL_KERNEL || !slice_starts(name, "cpp_")) {
		k->nodes = arena_slice(&c->arena, w->nodes);
		k->aten = arena_slice(&c->arena, w->aten);
	}
	w->nodes = w->aten = (struct slice){0};
}

static void end_call(struct wrapper *w)
{
	struct contract_call *k = &w->c->call[w->c->n_calls++];
	k->n_args = w->c->n_args - k->arg;
	wrapper_stream_call(w, k);
}

static void add_arg(struct wrapper *w, enum arg_role role, uint32_t value, struct slice text)
{
	struct contract *c = w->c;
	PUSH_TO(c->arg, c->n_args, c->cap_args) =
	    (struct contract_arg){value == NONE ? ARG_SCALAR : role, value, arena_slice(&c->arena, text)};
}

static void add_scalar(struct wrapper *w, struct slice text)
{
	struct slice rest = text, name = text_name(&rest);
	if (!rest.n && (slice_starts(name, "buf") || slice_starts(name, "arg")) && !wrapper_var(w, name))
		contract_unread(w->c, "line %u: the text does not show where %.*s comes from", w->line, SL(name));
	add_arg(w, ARG_SCALAR, NONE, text);
}

/* ---- handles ---- */

/* &buf0_handle, and its future content is called buf0. */
static struct wvar *out_handle(struct wrapper *w, struct slice arg, struct slice *name)
{
	struct slice var = slice_trim(arg);
	if (!text_take(&var, "&"))
		return NULL;
	struct slice rest = var, id = text_name(&rest);
	if (!id.n || rest.n)
		return NULL;
	struct wvar *v = wrapper_var(w, id);
	if (!v || v->kind != VAR_HANDLE)
		v = wrapper_declare(w, id, VAR_HANDLE);
	*name = id;
	static const char *const tails[] = {"_handle_restrided", "_handle", "_aligned"};
	for (size_t i = 0; i < ARRAY_LEN(tails); i++)
		if (slice_ends(id, tails[i]) && id.n > strlen(tails[i])) {
			name->n -= strlen(tails[i]);
			break;
		}
	return v;
}

static void put_handle(struct wrapper *w, struct slice arg, uint32_t value)
{
	struct slice name;
	struct wvar *v = out_handle(w, arg, &name);
	if (v)
		v->value = value;
}

/* A handle that shares the memory of `of`. */
static bool share(struct wrapper *w, struct slice of, struct slice handle, uint32_t *value)
{
	struct wtensor t;
	struct slice name;
	if (!wrapper_tensor(w, of, &t) || t.value == NONE || !out_handle(w, handle, &name))
		return false;
	*value = wrapper_same(w, name, t.value);
	if (t.view) {
		w->wv[*value].whole = false;
		w->c->value[*value].n_dim = t.n_dim;
		w->c->value[*value].dim = t.dim;
	}
	put_handle(w, handle, *value);
	return true;
}

static void set_dims(struct wrapper *w, uint32_t value, struct slice size, struct slice stride)
{
	struct contract_value *v = &w->c->value[value];
	struct contract_dim *dim;
	int n = wrapper_dims(w, wrapper_ints(w, size), wrapper_ints(w, stride), &dim);
	w->wv[value].whole = false;
	v->n_dim = n;
	v->dim = dim;
}

#define MAX_ARGS 10

static size_t split_args(struct slice args, struct slice *v)
{
	size_t n = 0;
	while (n < MAX_ARGS && text_arg(&args, &v[n]))
		n++;
	return n;
}

/* aoti_torch_empty_strided(n_dim, sizes, strides, dtype, device type, index, &handle) */
static bool alloc(struct wrapper *w, const struct slice *a)
{
	struct slice name;
	struct wvar *h = out_handle(w, a[6], &name);
	if (!h)
		return false;
	uint32_t v = wrapper_value(w, name, VALUE_BUFFER);
	set_dims(w, v, a[1], a[2]);
	w->c->value[v].dtype = wrapper_dtype(a[3]);
	w->c->value[v].device = wrapper_device(a[4]);
	wrapper_storage(w, v, w->c->n_calls);
	put_handle(w, a[6], v);
	return true;
}

/* Most bit casts keep the element size, and thus the dims; a complex number seen as two real ones has twice the last dim. */
static void cast_dims(struct wrapper *w, uint32_t value, int dtype)
{
	struct contract_value *v = &w->c->value[value];
	const struct dtype_info *was = dtype_info(v->dtype), *now = dtype_info(dtype);
	const int n = v->n_dim;
	if (n <= 0 || (was && now && was->bytes == now->bytes))
		return;
	struct contract_dim *dim = arena_alloc(&w->c->arena, (size_t)n * sizeof(*dim));
	bool known = was && now;
	memcpy(dim, v->dim, (size_t)n * sizeof(*dim));
	for (int d = 0; d < n && known; d++) {
		struct symsize *s = d == n - 1 ? &dim[d].size : &dim[d].stride;
		known = symsize_is_int(*s) && s->k * was->bytes % now->bytes == 0;
		if (known)
			*s = symsize_int(s->k * was->bytes / now->bytes);
	}
	v->dim = known ? dim : NULL;
	v->n_dim = known ? n : -1;
}

/* Calls that do not use torch's allocator: handles that are new names for existing memory. */
static bool handle_maker(struct wrapper *w, struct slice fn, struct slice args)
{
	struct slice a[MAX_ARGS], name;
	size_t n = split_args(args, a);
	uint32_t v;
	if ((slice_is(fn, "empty_strided") || slice_is(fn, "empty_strided_pinned")) && n == 7)
		return alloc(w, a);
	if ((slice_is(fn, "new_tensor_handle") || slice_is(fn, "assign_tensors_out")) && n == 2)
		return share(w, a[0], a[1], &v);
	if (slice_ends(fn, "_view_dtype") && n == 3) {
		if (!share(w, a[0], a[2], &v))
			return false;
		cast_dims(w, v, wrapper_dtype(a[1]));
		w->c->value[v].dtype = wrapper_dtype(a[1]);
		w->wv[v].from = 0;
		return true;
	}
	if (slice_is(fn, "as_strided") && n == 4 && share(w, a[0], a[3], &v)) {
		set_dims(w, v, a[1], a[2]);
		return true;
	}
	if (slice_is(fn, "_reinterpret_tensor") && n == 6 && share(w, a[0], a[5], &v)) {
		set_dims(w, v, a[2], a[3]);
		return true;
	}
	if (slice_is(fn, "_alloc_from_pool") && n == 7 && share(w, a[0], a[6], &v)) {
		set_dims(w, v, a[4], a[5]);
		w->c->value[v].dtype = wrapper_dtype(a[2]);
		w->wv[v].from = 0;
		return true;
	}
	if (slice_is(fn, "new_uninitialized_tensor") && n == 1 && out_handle(w, a[0], &name)) {
		v = wrapper_value(w, name, VALUE_BUFFER);
		w->wv[v].fresh = true;
		put_handle(w, a[0], v);
		return true;
	}
	return false;
}

/* ---- operators ---- */

/* Operators whose result shares memory with their first tensor. */
static bool is_view_op(struct slice op)
{
	static const char *const views[] = {
	    "view",   "view_as_real", "view_as_complex", "slice_Tensor", "select_int", "permute",     "transpose_int",
	    "narrow", "expand",       "alias",           "detach",       "squeeze",    "squeeze_dim", "unsqueeze",
	    "t",      "as_strided",   "_reshape_alias",  "diagonal",     "unfold",     "real",        "_conj",
	};
	for (size_t i = 0; i < ARRAY_LEN(views); i++)
		if (slice_is(op, views[i]))
			return true;
	return slice_ends(op, "wait_tensor");
}

/* aten's convention: a trailing underscore, before the overload's name if there is one (fill__Scalar). */
static bool is_in_place(struct slice op)
{
	if (slice_ends(op, "_"))
		return true;
	for (size_t i = 1; i + 2 < op.n; i++)
		if (op.p[i] == '_' && op.p[i + 1] == '_' && op.p[i + 2] >= 'A' && op.p[i + 2] <= 'Z')
			return true;
	return false;
}

/* aoti_torch_cpu_addmm_out -> addmm_out, and the device. */
static struct slice op_name(struct slice name, int *device)
{
	static const char *const devices[] = {"cpu_", "cuda_", "xpu_", "mps_"};
	*device = DEVICE_NONE;
	text_take(&name, "aoti_torch_");
	for (size_t i = 0; i < ARRAY_LEN(devices); i++)
		if (slice_starts(name, devices[i])) {
			size_t n = strlen(devices[i]);
			*device = device_by_name(slice_of(name.p, n - 1));
			return slice_of(name.p + n, name.n - n);
		}
	return name;
}

struct op {
	struct slice name;
	int device;
	bool out, in_place, view;
	uint32_t first, second;           /* tensors that are read */
	uint32_t made, n_made, n_tensors; /* the last one created */
	const char *dtypes;
};

static int dtype_of(const struct wrapper *w, uint32_t value) { return value == NONE ? DTYPE_NONE : w->c->value[value].dtype; }

static void op_makes(struct wrapper *w, struct op *op, struct slice name, struct slice text)
{
	struct contract *c = w->c;
	uint32_t v;
	if (op->view && op->first != NONE) {
		v = wrapper_same(w, name, op->first);
		w->wv[v].whole = false;
		c->value[v].n_dim = -1;
		c->value[v].dtype = DTYPE_NONE;
		w->wv[v].from = 0;
	} else {
		v = wrapper_value(w, name, VALUE_BUFFER);
		wrapper_storage(w, v, c->n_calls);
	}
	char what = op->dtypes[op->n_made];
	op->n_made += what != 0;
	if (what == 'i')
		w->wv[v].like = op->made + 1;
	if (op->in_place && op->first != NONE) /* returns what it changed */
		w->wv[v].like = op->first + 1;
	if (what == 's' && op->first != NONE)
		w->wv[v].from = op->first + 1;
	op->made = v;
	c->value[v].dtype = op_result_type(what, dtype_of(w, op->first), dtype_of(w, op->second));
	c->value[v].device = op->device;
	put_handle(w, text, v);
	add_arg(w, ARG_OUT, v, text);
}

static void op_arg(struct wrapper *w, struct op *op, struct slice arg)
{
	struct wtensor t;
	struct slice name;
	if (!wrapper_tensor(w, arg, &t)) {
		add_scalar(w, arg);
		return;
	}
	if (t.value == NONE) { /* &buf1_handle */
		if (out_handle(w, arg, &name))
			op_makes(w, op, name, arg);
		else
			add_scalar(w, arg);
		return;
	}
	bool first = !op->n_tensors++;
	enum arg_role role = first && op->out ? ARG_OUT : first && op->in_place ? ARG_INOUT : ARG_IN;
	if (role != ARG_OUT && op->second == NONE)
		*(op->first == NONE ? &op->first : &op->second) = t.value;
	add_arg(w, role, t.value, arg);
}

/* std::array<AtenTensorHandle, 2>{buf1, buf2}.cbegin(): the content of the braces. */
static bool tensor_list(struct slice arg, struct slice *inner)
{
	const char *at = slice_find(arg, "std::array<");
	if (!at)
		return false;
	struct slice rest = slice_of(at + 10, (size_t)(arg.p + arg.n - at) - 10);
	size_t n = text_group(rest, 0);
	if (!n || !slice_find(slice_of(rest.p, n), "AtenTensorHandle"))
		return false;
	rest = slice_of(rest.p + n, rest.n - n);
	size_t braces = text_group(rest, 0);
	if (!braces || rest.p[0] != '{')
		return false;
	*inner = slice_of(rest.p + 1, braces - 2);
	return true;
}

static void call_op(struct wrapper *w, struct slice name, struct slice args)
{
	struct op op = {.first = NONE, .second = NONE};
	op.name = op_name(name, &op.device);
	op.out = slice_ends(op.name, "_out");
	op.in_place = !op.out && is_in_place(op.name);
	op.view = is_view_op(op.name);
	begin_call(w, CALL_OP, name);
	op.dtypes = op_result_types(w->c->call[w->c->n_calls].name.p);
	if (*op.dtypes == 'd' && !slice_find(args, "nullptr")) /* cumsum(self, dim, dtype, ...) */
		op.dtypes = "";
	for (struct slice arg, inner, one; text_arg(&args, &arg);) {
		if (!tensor_list(arg, &inner)) {
			op_arg(w, &op, arg);
			continue;
		}
		while (text_arg(&inner, &one))
			op_arg(w, &op, one);
	}
	end_call(w);
}

/* aoti_torch_clone(X, &output_handles[2]): an output that must not be handed over, such as a constant. */
static bool call_clone(struct wrapper *w, struct slice name, struct slice args)
{
	struct slice a[MAX_ARGS], out;
	struct wtensor t;
	int64_t k;
	if (split_args(args, a) != 2 || !wrapper_tensor(w, a[0], &t))
		return false;
	out = a[1];
	if (!text_take(&out, "&output_handles[") || !slice_ends(out, "]") || !text_i64(slice_of(out.p, out.n - 1), &k) || k < 0 ||
	    k >= w->c->n_outputs)
		return false;
	begin_call(w, CALL_OP, name);
	uint32_t v = wrapper_same(w, w->c->output[k].name, t.value);
	struct contract_value *value = &w->c->value[v];
	if (t.view) {
		w->wv[v].whole = false;
		value->n_dim = t.n_dim;
		value->dim = t.dim;
	} else if (w->wv[v].whole) { /* its dims are the input's, known at the end */
		w->wv[v].whole = false;
		value->n_dim = -1;
	}
	value->kind = VALUE_BUFFER;
	value->index = 0;
	wrapper_storage(w, v, w->c->n_calls);
	wrapper_pin(w, v);
	add_arg(w, ARG_IN, t.value, a[0]);
	add_arg(w, ARG_OUT, v, a[1]);
	end_call(w);
	w->c->output[k].value = v;
	return true;
}

/* aoti_torch_proxy_executor_call_function(proxy_executor, K, n_ints, ints, n_tensors, tensors). The text has neither the operator nor which
 * of its tensors it changes; the tensors it creates come last and are still empty. */
static bool call_proxy(struct wrapper *w, struct slice args)
{
	struct slice a[MAX_ARGS], inner, one;
	int64_t k;
	if (split_args(args, a) != 6 || !text_i64(a[1], &k) || k < 0)
		return false;
	char name[48];
	snprintf(name, sizeof(name), "proxy_executor[%lld]", (long long)k);
	begin_call(w, CALL_PROXY, slice_str(name));
	const char *ints = slice_find(a[3], ">{");
	size_t n = ints ? text_group(a[3], (size_t)(ints - a[3].p) + 1) : 0;
	if (n) {
		inner = slice_of(ints + 2, n - (size_t)(ints - a[3].p) - 3);
		while (text_arg(&inner, &one))
			add_arg(w, ARG_SCALAR, NONE, one);
	}
	if (!tensor_list(a[5], &inner))
		inner = (struct slice){0};
	while (text_arg(&inner, &one)) {
		struct wtensor t;
		if (!wrapper_tensor(w, one, &t) || t.value == NONE) {
			add_scalar(w, one);
			continue;
		}
		bool made = w->wv[t.value].fresh;
		if (made) {
			w->wv[t.value].fresh = false;
			wrapper_storage(w, t.value, w->c->n_calls);
			struct wvar *v = wrapper_var(w, t.var);
			if (v->owns)
				wrapper_own(w, v, t.value);
		}
		add_arg(w, made ? ARG_OUT : ARG_IN, t.value, one);
	}
	end_call(w);
	return true;
}

/* ---- kernels ---- */

/* From Inductor's parameter names (torch/_inductor/codegen/common.py, KernelArgs; templates name their inputs arg_A). False if the
 * parameter's name does not show it. */
static bool param_role(struct slice param, enum arg_role *role)
{
	struct slice name = text_last_name(param);
	if (slice_starts(name, "in_out_ptr"))
		*role = ARG_INOUT;
	else if (slice_starts(name, "out_ptr"))
		*role = ARG_OUT;
	else if (slice_starts(name, "in_ptr") || slice_starts(name, "arg_"))
		*role = ARG_IN;
	else
		return false;
	return true;
}

void wrapper_kernel(struct wrapper *w, struct slice name, struct slice params, bool triton)
{
	uint32_t i = intern_add(&w->kernel_names, name), n = 0, cap = 0;
	if (i == w->n_kernel) {
		PUSH_TO(w->kernel, w->n_kernel, w->cap_kernel) = (struct wkernel){0};
	} else if (w->kernel[i].param) {
		return; /* a declaration, then its definition */
	}
	uint8_t *v = NULL;
	for (struct slice param; text_arg(&params, &param); n++) {
		enum arg_role role = ARG_IN;
		GROW(v, n, cap, 1);
		v[n] = param_role(param, &role) ? PARAM_NAMED : 0;
		v[n] |= (uint8_t)role;
		/* const in_ptr0_type_& means nothing: the handle is constant. */
		if (!triton && slice_starts(param, "const "))
			v[n] |= PARAM_CONST;
	}
	w->kernel[i] = (struct wkernel){.n = n, .triton = triton};
	if (n) {
		w->kernel[i].param = arena_alloc(&w->c->arena, n);
		memcpy(w->kernel[i].param, v, n);
	}
	free(v);
}

const char *wrapper_extern(struct wrapper *w, const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));
	struct slice s = slice_of(p, (size_t)((nl ? nl : end) - p)), name;
	if (!text_take(&s, "extern \"C\""))
		return p;
	if (!s.n && nl) {
		const char *next = memchr(nl + 1, '\n', (size_t)(end - nl) - 1);
		s = slice_trim(slice_of(nl + 1, (size_t)((next ? next : end) - nl) - 1));
	}
	if (!s.n || *s.p == '{')
		return p;
	for (;;) { /* the name is the one before the bracket */
		name = text_name(&s);
		if (!name.n)
			return p;
		while (s.n && (*s.p == '*' || *s.p == ' '))
			s = slice_of(s.p + 1, s.n - 1);
		if (s.n && *s.p == '(')
			break;
	}
	s.n = (size_t)(end - s.p);
	size_t n = text_group(s, 0);
	if (n)
		wrapper_kernel(w, name, slice_of(s.p + 1, n - 2), false);
	return n ? s.p + n : end;
}

static void read_declarations(struct wrapper *w, struct slice text)
{
	const char *end = text.p + text.n;
	for (struct slice line; slice_line(&text, &line);) {
		const char *p = slice_starts(line, "extern \"C\"") ? wrapper_extern(w, line.p, end) : line.p;
		if (p > text.p)
			text = slice_of(p, (size_t)(end - p));
	}
}

static struct wkernel *find_kernel(struct wrapper *w, struct slice name)
{
	uint32_t i = intern_find(&w->kernel_names, name);
	if (i == NONE && !w->kernel_text_read) {
		w->kernel_text_read = true;
		read_declarations(w, w->kernel_text);
		i = intern_find(&w->kernel_names, name);
	}
	return i == NONE ? NULL : &w->kernel[i];
}

static void kernel_arg(struct wrapper *w, struct wkernel *k, uint32_t index, struct slice arg, struct slice name)
{
	struct wtensor t;
	if (!wrapper_tensor(w, arg, &t) || t.value == NONE) {
		add_scalar(w, arg);
		return;
	}
	uint8_t param = k && index < k->n ? k->param[index] : 0;
	enum arg_role role = ARG_INOUT;
	if ((param & PARAM_CONST) || slice_starts(t.cast, "const ")) {
		role = ARG_IN;
	} else if (param & PARAM_NAMED) {
		role = (enum arg_role)(param & PARAM_ROLE);
	} else if ((!k || k->triton) && !(k && k->noted)) {
		contract_note(w->c, "line %u: %.*s: the text does not show which arguments it writes; they are shown as in and out",
			      w->line, SLN(name, 80));
		if (k)
			k->noted = true;
	}
	struct contract_value *v = &w->c->value[t.value];
	if (v->dtype == DTYPE_NONE && v->kind == VALUE_BUFFER)
		v->dtype = t.dtype;
	add_arg(w, role, t.value, arg);
}

static bool is_launch_arg(struct slice arg)
{
	return slice_is(arg, "this->device_idx_") || slice_is(arg, "kernels") || slice_is(arg, "this->cubin_dir_");
}

static void call_kernel(struct wrapper *w, struct slice name, struct slice args)
{
	struct wkernel *k = find_kernel(w, name);
	struct slice arg;
	uint32_t stream;
	begin_call(w, CALL_KERNEL, name);
	if (k)
		w->c->call[w->c->n_calls].function = arena_slice(&w->c->arena, k->function);
	struct contract_call *call = &w->c->call[w->c->n_calls];
	for (uint32_t i = 0; text_arg(&args, &arg); i++)
		if (wrapper_stream(w, arg, &stream))
			call->stream = stream;
		else if (!is_launch_arg(arg))
			kernel_arg(w, k, i, arg, name);
	end_call(w);
}

/* launchKernel(kernels.triton_poi_fused_0, grid..., kernel_args_var_0, stream), as torch 2.5 and 2.6 had it in
 * run_impl; later ones have it in call_triton_poi_fused_0(). */
static bool call_launch(struct wrapper *w, struct slice args)
{
	struct slice arg, name, list = {0}, one;
	if (!text_arg(&args, &arg))
		return false;
	name = text_last_name(arg);
	while (text_arg(&args, &arg)) {
		const struct wvar *v = wrapper_var(w, arg);
		if (v && v->kind == VAR_POINTERS)
			list = v->text;
	}
	if (!name.n || !list.n)
		return false;
	begin_call(w, CALL_KERNEL, name);
	struct wkernel *k = find_kernel(w, name);
	if (!k) {
		wrapper_kernel(w, name, (struct slice){0}, true);
		k = find_kernel(w, name);
	}
	while (text_arg(&list, &one))
		kernel_arg(w, k, UINT32_MAX, one, name);
	end_call(w);
	return true;
}

/* ---- called functions ---- */

/* Calls that compute nothing: queries, checks, debugging, profiling. */
static bool is_silent(struct slice name)
{
	/* Arguments recorded before each operator under cpp.enable_kernel_profile (2.15, _profiling_ivalue_lines). */
	if (slice_starts(name, "aoti_torch_") && slice_ends(name, "_to_ivalue"))
		return true;
	static const char *const prefixes[] = {
	    "aoti_torch_get_",
	    "aoti_torch_print_",
	    "aoti_torch_save_",
	    "aoti_torch_check",
	    "AOTI_TORCH_",
	    "AOTI_RUNTIME_",
	    "init",
	    "wrap_with_raii_",
	    "aoti_torch_delete_",
	    "aoti_torch_grad_",
	    "assert_numel",
	    "printf",
	    "__check_inputs_outputs",
	    "aoti_torch_warn",
	    "aoti_record_",
	    "convert_", /* of the minimal ArrayRef interface: handles_to_inputs, outputs_to_handles */
	};
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (slice_starts(name, prefixes[i]))
			return true;
	return false;
}

bool wrapper_call(struct wrapper *w, struct slice name, struct slice args, bool checked)
{
	struct slice fn = name;
	if (slice_is(name, "aoti_torch_delete_tensor_object")) {
		struct wtensor t;
		if (wrapper_tensor(w, args, &t) && t.value != NONE) {
			struct wvar *v = wrapper_var(w, t.var);
			if (!v->owns)
				wrapper_own(w, v, t.value);
			wrapper_drop(w, v);
		}
		return true;
	}
	if (is_silent(name))
		return true;
	if (slice_is(name, "launchKernel"))
		return call_launch(w, args);
	if (slice_is(name, "aoti_torch_proxy_executor_call_function"))
		return call_proxy(w, args);
	if (text_take(&fn, "aoti_torch_")) {
		if (handle_maker(w, fn, args) || (slice_is(fn, "clone") && call_clone(w, name, args)))
			return true;
		call_op(w, name, args);
		return true;
	}
	if (text_take(&fn, "call_") && (find_kernel(w, fn) || slice_starts(fn, "triton_"))) {
		call_kernel(w, fn, args);
		return true;
	}
	text_take(&name, "kernels.");
	if (slice_starts(name, "cpp_") || slice_starts(name, "triton_") || find_kernel(w, name)) {
		call_kernel(w, name, args);
		return true;
	}
	if (checked)
		call_op(w, name, args); /* a custom operator with its own C shim */
	return checked;
}
