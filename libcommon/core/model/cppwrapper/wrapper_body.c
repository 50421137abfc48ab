#include "model/cppwrapper/wrapper_read.h"

/* ---- blocks ---- */

static struct slice text_inside(struct slice head)
{
	const char *open = slice_chr(head, '(');
	size_t at = open ? (size_t)(open - head.p) : 0, n = open ? text_group(head, at) : 0;
	return n && n == head.n ? slice_trim(slice_of(open + 1, n - at - 2)) : (struct slice){0};
}

/* if ((reinterpret_cast<std::uintptr_t>(arg0_1.data_ptr()) & (16 -1)) != 0) {
 * (cpp_wrapper_gpu.py, codegen_inputs): the block copies the input if it is not aligned. */
static bool take_alignment(struct wrapper *w, struct slice head)
{
	struct slice rest = head, bytes;
	if (!text_take(&rest, "if ((reinterpret_cast<std::uintptr_t>("))
		return false;
	struct slice name = text_name(&rest);
	int64_t n;
	const struct wvar *v = wrapper_var(w, name);
	if (v && v->kind == VAR_TENSOR && v->value != NONE && w->wv[v->value].whole && text_take(&rest, ".data_ptr())") &&
	    text_take(&rest, "&") && text_take(&rest, "(")) {
		bytes = text_name(&rest);
		if (text_i64(bytes, &n) && n > 0 && n <= 1 << 20)
			w->c->input[w->c->value[v->value].index].alignment = (int)n;
	}
	return true;
}

static void note_branch(struct wrapper *w)
{
	if (w->noted_branch)
		return;
	w->noted_branch = true;
	contract_note(w->c,
		      "line %u: a condition or a loop: calls of all its branches are listed one after the other, as if "
		      "each ran once",
		      w->line);
}

static bool is_else(struct slice head) { return slice_is(head, "else") || slice_starts(head, "else if ("); }

static enum block_kind block_kind(struct wrapper *w, struct slice head)
{
	struct slice cond = text_inside(head), name = cond;
	if (!head.n || slice_starts(head, "if (_check_aoti_runtime_check_inputs_env("))
		return BLOCK_SCOPE;
	if (slice_starts(head, "if (!(") && cond.n > 1 && text_group(cond, 1) == cond.n)
		return BLOCK_GUARD;
	if (take_alignment(w, head) || slice_starts(head, "if (kernels."))
		return BLOCK_SKIP;
	if (slice_ends(cond, ".is_non_zero()"))
		return BLOCK_SCOPE;               /* a launch, unless its grid is empty (torch 2.5, 2.6) */
	if (slice_starts(head, "if constexpr (")) /* output of a tensor, or of one on the stack: the former is read */
		return BLOCK_SCOPE;
	name = text_name(&cond);
	if (slice_starts(head, "while (") || is_else(head) || (slice_starts(head, "if (") && name.n) || slice_starts(head, "if (!")) {
		note_branch(w);
		return BLOCK_BRANCH;
	}
	wrapper_unclear(w, head);
	return BLOCK_SKIP;
}

/* Variables assigned in the other branch do not exist in this one. */
static void forget_other_branch(struct wrapper *w)
{
	for (uint32_t i = 0; i < w->n_assigned; i++) {
		struct wvar *v = &w->var[w->assigned[i]];
		if (v->depth <= w->depth)
			wrapper_drop(w, v);
	}
	w->n_assigned = 0;
}

/* False if it is too deep. */
static bool enter(struct wrapper *w, struct slice head, bool skip_else)
{
	if (w->depth == WRAPPER_MAX_DEPTH)
		return false;
	enum block_kind kind = BLOCK_SKIP;
	if ((!w->depth || w->block[w->depth - 1].kind != BLOCK_SKIP) && !(skip_else && slice_is(head, "else")))
		kind = block_kind(w, head);
	if (kind == BLOCK_BRANCH && is_else(head))
		forget_other_branch(w);
	w->branches += kind == BLOCK_BRANCH;
	w->block[w->depth++] = (struct wblock){kind, head};
	return true;
}

static void leave_block(struct wrapper *w)
{
	w->branches -= w->block[--w->depth].kind == BLOCK_BRANCH;
	wrapper_leave(w, w->depth);
}

/* ---- outputs ---- */

/* An input's own dims, as far as its assertion has been read. */
static int dims_of(struct wrapper *w, uint32_t value, struct contract_dim **dim)
{
	const struct contract_value *v = &w->c->value[value];
	const struct winput *in = w->wv[value].whole && v->kind == VALUE_INPUT ? &w->in[v->index] : NULL;
	*dim = v->dim;
	return in && in->asserted_rank >= 0
		   ? wrapper_dims(w, (struct wints){in->asserted_rank, in->size}, (struct wints){in->asserted_rank, in->stride}, dim)
		   : v->n_dim;
}

static bool same_dims(struct wrapper *w, uint32_t a, uint32_t b)
{
	struct contract_dim *x, *y;
	int n = dims_of(w, a, &x), m = dims_of(w, b, &y);
	for (int i = 0; i < n && n == m; i++)
		if (!symsize_eq(x[i].size, y[i].size) || !symsize_eq(x[i].stride, y[i].stride))
			return false;
	return n == m;
}

/* output_handles[2] = buf7.release(); */
static bool give_output(struct wrapper *w, struct slice index, struct slice from)
{
	struct contract *c = w->c;
	struct wtensor t;
	int64_t k, other;
	if (!text_i64(index, &k) || k < 0 || k >= c->n_outputs)
		return false;
	if (slice_starts(from, "output_handles[") && slice_ends(from, "]")) {
		if (!text_i64(slice_of(from.p + 15, from.n - 16), &other) || other < 0 || other >= c->n_outputs)
			return false;
		c->output[k].value = c->output[other].value;
		return true;
	}
	if (!wrapper_tensor(w, from, &t) || t.value == NONE)
		return false;
	c->output[k].value = t.value;
	wrapper_pin(w, t.value);
	return true;
}

/* Nothing is written for a None output (cpp_wrapper_cpu.py, generate_return): outputs without a statement are None. */
static void all_none(struct wrapper *w, bool none)
{
	for (uint32_t k = 0; k < w->c->n_outputs; k++)
		w->c->output[k].none = none;
}

static void not_none(struct wrapper *w, struct slice s)
{
	static const char name[] = "output_handles[";
	for (const char *at; (at = slice_find(s, name));) {
		struct slice rest = slice_of(at + sizeof(name) - 1, (size_t)(s.p + s.n - at) - sizeof(name) + 1), digits = text_name(&rest);
		int64_t k;
		if (!text_i64(digits, &k))
			all_none(w, false);
		else if (k >= 0 && k < w->c->n_outputs)
			w->c->output[k].none = false;
		s = rest;
	}
}

/* ---- declarations and assignments ---- */

/* The number between `before` and `behind`, with nothing else. */
static bool number_in(struct slice text, const char *before, const char *behind, int64_t *k)
{
	return text_take(&text, before) && slice_ends(text, behind) && text_i64(slice_of(text.p, text.n - 1), k) && *k >= 0;
}

static void bind_input(struct wrapper *w, struct slice name, uint32_t index)
{
	const struct contract_input *in = &w->c->input[index];
	uint32_t v = wrapper_value(w, name, VALUE_INPUT);
	struct contract_value *value = &w->c->value[v];
	value->index = index;
	value->dtype = in->dtype;
	value->device = in->device;
	w->wv[v].whole = true;
	wrapper_own(w, wrapper_declare(w, name, VAR_TENSOR), v);
}

static void bind_constant(struct wrapper *w, struct slice name, uint32_t index)
{
	const struct contract_constant *k = &w->c->constant[index];
	uint32_t v = wrapper_value(w, name, VALUE_CONSTANT);
	struct contract_value *value = &w->c->value[v];
	value->index = index;
	value->dtype = k->dtype;
	value->device = k->device;
	value->n_dim = k->n_dim;
	value->dim = k->dim;
	wrapper_declare(w, name, VAR_TENSOR)->value = v;
}

/* A tensor gets a name: a reuse, a view, or the content of an AtenTensorHandle. */
static void bind_tensor(struct wrapper *w, struct slice name, const struct wtensor *t, bool owns)
{
	struct contract *c = w->c;
	uint32_t v = t->value;
	struct wvar *from = wrapper_var(w, t->var);
	bool handle = from->kind == VAR_HANDLE;
	if (t->view || !handle) {
		v = wrapper_same(w, name, v);
		if (t->view) {
			w->wv[v].whole = false;
			c->value[v].n_dim = t->n_dim;
			c->value[v].dim = t->dim;
		}
	} else if (!slice_eq(c->value[v].name, name)) {
		c->value[v].name = arena_slice(&c->arena, name);
	}
	bool takes = owns && (t->view || handle || from->owns || !t->moved);
	struct wvar *var = wrapper_declare(w, name, VAR_TENSOR); /* `from` may move, so look it up again */
	from = wrapper_var(w, t->var);
	if (takes)
		wrapper_own(w, var, v);
	else
		var->value = v;
	if (t->moved && from != var)
		wrapper_drop(w, from);
}

static bool declare_auto(struct wrapper *w, struct slice name, struct slice init)
{
	struct wtensor t;
	int64_t k;
	if (slice_ends(init, "])") && number_in(slice_of(init.p, init.n - 1), "std::move(inputs[", "]", &k)) {
		if (k >= w->c->n_inputs)
			return false;
		bind_input(w, name, (uint32_t)k);
	} else if (number_in(init, "constants_->at(", ")", &k)) {
		if (k >= w->c->n_constants)
			return false;
		bind_constant(w, name, (uint32_t)k);
	} else if (slice_ends(init, ".sizes()") || slice_ends(init, ".strides()")) {
		bool size = slice_ends(init, ".sizes()");
		const struct wvar *v = wrapper_var(w, slice_of(init.p, init.n - (size ? 8 : 10)));
		bool input = v && v->kind == VAR_TENSOR && v->value != NONE && w->wv[v->value].whole;
		uint32_t index = input ? w->c->value[v->value].index : 0;
		wrapper_declare(w, name, !input ? VAR_OTHER : size ? VAR_SIZES : VAR_STRIDES)->value = index;
	} else if (wrapper_tensor(w, init, &t) && t.value != NONE) {
		bind_tensor(w, name, &t, !slice_starts(init, "get_data_ptr_wrapper("));
	} else if (slice_starts(init, "steal_from_raw_handles") || slice_starts(init, "static_cast<AOTInductorModelKernels") ||
		   slice_starts(init, "at::") || slice_starts(init, "cached_torch_")) {
		wrapper_declare(w, name, VAR_OTHER);
	} else {
		wrapper_declare_size(w, name, init);
	}
	return true;
}

static bool declare_raii(struct wrapper *w, struct slice name, struct slice init)
{
	struct wtensor t;
	if (slice_starts(init, "scalar_to_tensor_handle(")) { /* a size as an output */
		struct symsize s = wrapper_size(w, text_inside(init));
		uint32_t v = wrapper_value(w, name, VALUE_BUFFER);
		struct contract_value *value = &w->c->value[v];
		value->n_dim = 0;
		value->dtype = contract_known(w->c, s) ? DTYPE_I64 : DTYPE_NONE;
		value->device = DEVICE_CPU;
		wrapper_storage(w, v, w->c->n_calls);
		wrapper_own(w, wrapper_declare(w, name, VAR_TENSOR), v);
		return true;
	}
	if (!init.n) {
		wrapper_declare(w, name, VAR_TENSOR);
		return true;
	}
	if (!wrapper_tensor(w, init, &t) || t.value == NONE)
		return false;
	bind_tensor(w, name, &t, true);
	return true;
}

/* ArrayRefTensor<float> buf0(buf0_storage, int_array_0, int_array_1, cached_torch_device_type_cpu, ...): a buffer on
 * the stack (cpp_wrapper_cpu_array_ref.py). It uses memory as long as run_impl runs. */
static bool declare_on_stack(struct wrapper *w, struct slice type, struct slice name, struct slice init)
{
	struct slice storage, size, stride, device = {0}, element = type;
	if (!text_arg(&init, &storage) || !text_arg(&init, &size) || !text_arg(&init, &stride))
		return false;
	text_arg(&init, &device);
	uint32_t v = wrapper_value(w, name, VALUE_BUFFER);
	struct contract_value *value = &w->c->value[v];
	value->n_dim = wrapper_dims(w, wrapper_ints(w, size), wrapper_ints(w, stride), &value->dim);
	value->device = wrapper_device(device);
	if (text_take(&element, "ArrayRefTensor<") && slice_ends(element, ">")) {
		char pointer[64];
		int n = snprintf(pointer, sizeof(pointer), "%.*s*", (int)(element.n > 60 ? 60 : element.n - 1), element.p);
		value->dtype = wrapper_cpp_dtype(slice_of(pointer, (size_t)n));
	}
	wrapper_storage(w, v, w->c->n_calls);
	wrapper_pin(w, v);
	wrapper_declare(w, name, VAR_TENSOR)->value = v;
	return true;
}

/* NAME = INIT of a variable outside the branch: buf2 = std::move(true_graph_0_buf1); */
static bool assign(struct wrapper *w, struct slice name, struct slice init)
{
	struct wtensor t;
	struct wvar *v = wrapper_var(w, name);
	if (!v)
		return false;
	if (v->kind == VAR_SYMBOL || v->kind == VAR_OTHER) { /* xnumel = ...; or a flag */
		struct symsize s = wrapper_size(w, init);
		if (v->kind == VAR_SYMBOL && contract_known(w->c, s))
			v->size = s;
		else
			v->kind = VAR_OTHER;
		return true;
	}
	if (v->kind != VAR_TENSOR || !wrapper_tensor(w, init, &t) || t.value == NONE)
		return v->kind == VAR_POINTERS;
	uint32_t before = v->value, now = wrapper_same(w, name, t.value);
	struct contract_value *value = &w->c->value[now];
	/* The branches, or the first and later iterations of the loop, may differ. */
	if (w->branches && before != NONE && !same_dims(w, before, now)) {
		w->wv[now].whole = false;
		value->n_dim = -1;
	}
	if (w->branches && before != NONE && w->c->value[before].dtype != value->dtype) {
		value->dtype = DTYPE_NONE;
		w->wv[now].from = 0;
	}
	if (w->branches && value->kind != VALUE_BUFFER) { /* this branch returns an input or a constant, the other may not */
		w->wv[now].whole = false;
		*value = (struct contract_value){.name = value->name,
						 .kind = VALUE_BUFFER,
						 .storage = NONE,
						 .dtype = value->dtype,
						 .device = value->device,
						 .n_dim = value->n_dim,
						 .dim = value->dim};
	}
	wrapper_drop(w, v);
	wrapper_own(w, v, now);
	if (w->branches)
		PUSH_TO(w->assigned, w->n_assigned, w->cap_assigned) = (uint32_t)(v - w->var);
	if (t.moved)
		wrapper_drop(w, wrapper_var(w, t.var));
	return true;
}

/* ---- assert_size_stride ---- */

/* assert_size_stride(buf1, {6L, 8L}, {8L, 1L}, "torch.ops.aten.topk.default"), and from 2.15 on after an operator's name
 * cached_torch_dtype_float32, "torch.float32" (aoti_runtime/utils.h). */
static bool take_assert(struct wrapper *w, struct slice args)
{
	struct slice name, size, stride, op, dtype = {0};
	struct wtensor t;
	if (!text_arg(&args, &name) || !text_arg(&args, &size) || !text_arg(&args, &stride) || !wrapper_tensor(w, name, &t) ||
	    t.value == NONE)
		return false;
	struct wints sizes = wrapper_ints(w, size), strides = wrapper_ints(w, stride);
	if (sizes.n < 0 || sizes.n != strides.n)
		return false;
	if (text_arg(&args, &op))
		text_arg(&args, &dtype);
	bool clear = !dtype.n || wrapper_dtype(dtype) != DTYPE_NONE;
	for (int i = 0; i < sizes.n; i++)
		clear &= contract_known(w->c, sizes.v[i]) && contract_known(w->c, strides.v[i]);
	struct contract_value *v = &w->c->value[t.value];
	if (w->wv[t.value].whole && v->kind == VALUE_INPUT) {
		struct winput *in = &w->in[v->index];
		if (w->branches || w->c->input[v->index].asserted)
			return clear;
		w->c->input[v->index].asserted = ++w->n_asserted;
		in->asserted_rank = sizes.n;
		in->size = sizes.v;
		in->stride = strides.v;
	} else if (v->n_dim < 0) {
		v->n_dim = wrapper_dims(w, sizes, strides, &v->dim);
	}
	if (v->kind == VALUE_BUFFER && wrapper_dtype(dtype) != DTYPE_NONE)
		v->dtype = wrapper_dtype(dtype);
	return clear;
}

/* assert_alignment(buf2, 16, "torch.ops.aten.sort.default") (2.15): of the offset in its storage, not of its address. */
static bool take_assert_alignment(struct wrapper *w, struct slice args)
{
	struct slice name, bytes;
	struct wtensor t;
	int64_t n;
	if (!text_arg(&args, &name) || !text_arg(&args, &bytes) || !wrapper_tensor(w, name, &t) || t.value == NONE ||
	    !text_i64(bytes, &n) || n < 1 || n > 1 << 20)
		return false;
	w->c->value[t.value].alignment = (int)n;
	return true;
}

/* ---- statements ---- */

static bool ignored_type(struct slice type)
{
	return slice_is(type, "KernelContextGuard") || slice_ends(type, "RecordFunctionHandle") || slice_starts(type, "AOTICuda") ||
	       slice_starts(type, "AOTIXpu") || slice_starts(type, "AOTIMps") || slice_ends(type, "TMADescriptor") ||
	       slice_is(type, "CUtensorMap") || slice_starts(type, "std::") || slice_starts(type, "ThreadLocalCachedOutput") ||
	       slice_starts(type, "C10IValue") || slice_starts(type, "RAIIC10IValue") || slice_starts(type, "AOTInductorModelKernels");
}

/* TYPE NAME, then one of nothing, = INIT, (INIT), {INIT}, [N], [] = {INIT}. */
static bool declaration(struct wrapper *w, struct slice type, struct slice s)
{
	bool pointer = false;
	while (s.n && (*s.p == '*' || *s.p == '&')) {
		pointer |= *s.p == '*';
		s = slice_trim(slice_of(s.p + 1, s.n - 1));
	}
	text_take(&s, "const ");
	struct slice name = text_name(&s), init = {0};
	s = slice_trim(s);
	if (!name.n)
		return false;
	bool array = s.n && *s.p == '[';
	if (array) {
		size_t n = text_group(s, 0);
		if (!n)
			return false;
		s = slice_trim(slice_of(s.p + n, s.n - n));
	}
	if (text_take(&s, "="))
		init = slice_trim(s);
	else if (s.n && (*s.p == '(' || *s.p == '{') && text_group(s, 0) == s.n)
		init = slice_trim(slice_of(s.p + 1, s.n - 2));
	else if (s.n)
		return false;
	if (slice_is(type, "AtenTensorHandle")) {
		struct wtensor t;
		uint32_t v = init.n && wrapper_tensor(w, init, &t) ? t.value : NONE;
		wrapper_declare(w, name, array ? VAR_OTHER : VAR_HANDLE)->value = v;
	} else if (slice_is(type, "RAIIAtenTensorHandle")) {
		return declare_raii(w, name, init);
	} else if (slice_starts(type, "ArrayRefTensor<")) {
		return declare_on_stack(w, type, name, init);
	} else if (slice_is(type, "auto") || slice_starts(type, "decltype(auto)")) {
		return declare_auto(w, name, init);
	} else if (slice_is(type, "int64_t") && (array || pointer)) {
		wrapper_declare_ints(w, name, init);
	} else if (slice_is(type, "void") && array) {
		struct slice inner = {0};
		text_braces(init, &inner);
		wrapper_declare(w, name, VAR_POINTERS)->text = inner;
	} else if (slice_is(type, "CUdeviceptr") || slice_is(type, "hipDeviceptr_t")) {
		struct wtensor t;
		uint32_t v = wrapper_tensor(w, init, &t) ? t.value : NONE;
		wrapper_declare(w, name, VAR_TENSOR)->value = v;
	} else if ((slice_is(type, "int64_t") || slice_is(type, "int") || slice_is(type, "int32_t")) && init.n) {
		wrapper_declare_size(w, name, init);
	} else {
		wrapper_declare(w, name, VAR_OTHER);
	}
	return true;
}

static bool method(struct wrapper *w, struct slice name, struct slice s)
{
	if (slice_is(s, ".reset()")) {
		struct wvar *v = wrapper_var(w, name);
		if (v)
			wrapper_drop(w, v);
		return v && v->kind != VAR_NONE;
	}
	if (slice_is(name, "kernels")) {
		struct slice call = slice_of(s.p + 1, s.n - 1), fn, args;
		return text_call(call, &fn, &args) && wrapper_call(w, fn, args, false);
	}
	const struct wvar *v = wrapper_var(w, name);
	return slice_is(s, ".clear()") || (v && v->kind == VAR_OTHER); /* inputs.clear(); desc.strides[0] = 1; */
}

/* From after the first name; `name` may contain :: */
static bool named_statement(struct wrapper *w, struct slice whole, struct slice name, struct slice s)
{
	struct slice args, fn;
	if (*s.p == '(') {
		if (slice_is(name, "decltype"))
			return text_take(&s, "(auto)") && declaration(w, SLICE("auto"), s);
		if (!text_call(whole, &fn, &args))
			return false;
		if (slice_is(fn, "AOTI_TORCH_ERROR_CODE_CHECK"))
			return text_call(slice_trim(args), &fn, &args) && wrapper_call(w, fn, args, true);
		if (slice_is(fn, "assert_size_stride"))
			return take_assert(w, args);
		if (slice_is(fn, "assert_alignment"))
			return take_assert_alignment(w, args);
		return wrapper_call(w, fn, args, false);
	}
	if (*s.p == '.')
		return method(w, name, s);
	if (*s.p == '[') {
		size_t n = text_group(s, 0);
		struct slice index = n ? slice_of(s.p + 1, n - 2) : (struct slice){0};
		s = slice_trim(slice_of(s.p + n, s.n - n));
		return slice_is(name, "output_handles") && text_take(&s, "=") && give_output(w, index, slice_trim(s));
	}
	if (*s.p == '=')
		return assign(w, name, slice_trim(slice_of(s.p + 1, s.n - 1)));
	struct slice type = name;
	if (*s.p == '<') {
		size_t n = text_group(s, 0);
		type.n += n;
		s = slice_of(s.p + n, s.n - n);
	}
	s = slice_trim(s);
	if (!s.n || (type.n && ignored_type(type)))
		return s.n > 0;
	return declaration(w, type, s);
}

static void read_statement(struct wrapper *w, struct slice s)
{
	static const char *const before[] = {"[[maybe_unused]] ", "static ", "constexpr ", "const ", "thread_local ", "alignas(64) "};
	struct slice whole = s;
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		text_take(&s, before[i]);
	struct slice rest = s, name = text_name(&rest);
	rest = slice_trim(rest);
	if (slice_is(name, "throw") || slice_is(name, "return") || slice_is(name, "break") || slice_is(name, "using"))
		return;
	if (slice_is(name, "if") && slice_ends(s, "break"))
		return; /* the end of a loop */
	if (!name.n || !rest.n || !(wrapper_stream_statement(w, name, rest) || named_statement(w, s, name, rest)))
		wrapper_unclear(w, whole);
}

/* Topologically Sorted Source Nodes: [linear, relu], Original ATen: [aten.t, aten.addmm] */
static void read_comment(struct wrapper *w, struct slice s)
{
	struct slice rest = s;
	if (!text_take(&rest, "Topologically Sorted Source Nodes: [") && !text_take(&rest, "Unsorted Source Nodes: ["))
		return;
	const char *mid = slice_find(rest, "], Original ATen: [");
	if (!mid)
		return;
	w->nodes = slice_of(rest.p, (size_t)(mid - rest.p));
	w->aten = slice_of(mid + 19, (size_t)(rest.p + rest.n - mid) - 19);
	if (slice_ends(w->aten, "]"))
		w->aten.n--;
}

void wrapper_body(struct wrapper *w, struct stmts *s)
{
	bool constexpr_before = false; /* the block that just ended was an if constexpr */
	w->depth = w->branches = 0;
	all_none(w, true);
	for (;;) {
		struct stmt t = stmt_next(s);
		w->line = t.line;
		not_none(w, t.text);
		bool skip = w->depth && w->block[w->depth - 1].kind == BLOCK_SKIP;
		bool guard = w->depth && w->block[w->depth - 1].kind == BLOCK_GUARD;
		if (t.kind == STMT_END) {
			contract_unread(w->c, "line %u: the text ends within run_impl", t.line);
			all_none(w, false);
			break;
		}
		if (t.kind == STMT_CLOSE) {
			if (!w->depth)
				break;
			constexpr_before = slice_starts(w->block[w->depth - 1].head, "if constexpr");
			leave_block(w);
			continue;
		}
		if (t.kind == STMT_OPEN) {
			if (!enter(w, t.text, constexpr_before)) {
				contract_unread(w->c, "line %u: blocks are nested more than %d deep; the rest is not read", t.line,
						WRAPPER_MAX_DEPTH);
				all_none(w, false);
				break;
			}
		} else if (t.kind == STMT_COMMENT) {
			if (!skip)
				read_comment(w, t.text);
		} else if (guard) {
			struct slice cond = text_inside(w->block[w->depth - 1].head);
			if (slice_starts(t.text, "throw ") && cond.n > 3)
				wrapper_bound(w, slice_of(cond.p + 2, cond.n - 3));
			else
				wrapper_unclear(w, t.text);
		} else if (!skip) {
			read_statement(w, t.text);
		}
		constexpr_before = false;
	}
	w->depth = w->branches = 0;
	wrapper_leave(w, 0);
}
