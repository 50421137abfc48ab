#include "model/cppwrapper/wrapper.h"
#include "model/cppwrapper/wrapper_read.h"

/* ---- constructor ---- */

/* Rows that grow in the arena by doubling: room for one more after n. */
static void *grow_rows(struct wrapper *w, void *rows, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return rows;
	void *more = arena_alloc(&w->c->arena, (n ? 2 * (size_t)n : 1) * size);
	if (n)
		memcpy(more, rows, n * size);
	return more;
}

static void add_input(struct wrapper *w)
{
	struct contract *c = w->c;
	GROW(w->in, c->n_inputs, w->cap_in, 1);
	w->in[c->n_inputs] = (struct winput){.asserted_rank = -1};
	c->input = grow_rows(w, c->input, c->n_inputs, sizeof(*c->input));
	c->input[c->n_inputs++] = (struct contract_input){.dtype = DTYPE_NONE, .device = DEVICE_NONE};
}

static void add_output(struct wrapper *w)
{
	struct contract *c = w->c;
	c->output = grow_rows(w, c->output, c->n_outputs, sizeof(*c->output));
	c->output[c->n_outputs++] = (struct contract_output){.dtype = DTYPE_NONE, .device = DEVICE_NONE, .n_dim = -1, .value = NONE};
}

static void add_constant(struct wrapper *w)
{
	struct contract *c = w->c;
	c->constant = grow_rows(w, c->constant, c->n_constants, sizeof(*c->constant));
	c->constant[c->n_constants++] = (struct contract_constant){.dtype = DTYPE_NONE, .device = DEVICE_NONE};
}

/* [7].name = VALUE; after inputs_info_: the index, the field and its value. */
static bool info(struct slice s, uint32_t n, uint32_t *index, struct slice *field, struct slice *value)
{
	int64_t k;
	size_t end = text_group(s, 0);
	if (!end || !text_i64(slice_of(s.p + 1, end - 2), &k) || k < 0 || k > n || k >= CONTRACT_MAX_INPUTS)
		return false;
	*index = (uint32_t)k;
	s = slice_of(s.p + end, s.n - end);
	if (!text_take(&s, "."))
		return false;
	*field = text_name(&s);
	s = slice_trim(s);
	if (!text_take(&s, "="))
		return false;
	s = slice_trim(s);
	if (slice_ends(s, ";"))
		s.n--;
	*value = slice_trim(s);
	return field->n > 0;
}

static struct slice quoted(struct wrapper *w, struct slice s)
{
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
		return arena_slice(&w->c->arena, slice_of(s.p + 1, s.n - 2));
	return (struct slice){0};
}

/* The same for a list of *n; adds a row if it refers to the next one. */
static bool take_info(struct wrapper *w, struct slice line, struct slice s, const uint32_t *n, void (*add)(struct wrapper *w), uint32_t *i,
		      struct slice *field, struct slice *value)
{
	if (!info(s, *n, i, field, value)) {
		wrapper_unclear(w, line);
		return false;
	}
	if (*i == *n)
		add(w);
	return true;
}

static void take_input(struct wrapper *w, struct slice line, struct slice s)
{
	uint32_t i;
	struct slice field, value;
	if (take_info(w, line, s, &w->c->n_inputs, add_input, &i, &field, &value) && slice_is(field, "name"))
		w->c->input[i].name = quoted(w, value);
}

static void take_output(struct wrapper *w, struct slice line, struct slice s)
{
	uint32_t i;
	struct slice field, value;
	if (take_info(w, line, s, &w->c->n_outputs, add_output, &i, &field, &value) && slice_is(field, "name"))
		w->c->output[i].name = quoted(w, value);
}

static void constant_dims(struct wrapper *w, struct contract_constant *k, struct slice value, bool stride)
{
	struct wints v = wrapper_ints(w, value);
	if (v.n < 0 || (k->dim && v.n != k->n_dim)) {
		wrapper_unclear(w, value);
		return;
	}
	if (!k->dim) {
		k->n_dim = v.n;
		k->dim = contract_dims(w->c, v.n);
	}
	for (int i = 0; i < v.n; i++)
		*(stride ? &k->dim[i].stride : &k->dim[i].size) = v.v[i];
}

static enum constant_type constant_type(struct slice value)
{
	static const struct {
		const char *name;
		enum constant_type type;
	} types[] = {{"::Parameter)", CONSTANT_PARAMETER},
		     {"::Buffer)", CONSTANT_BUFFER},
		     {"::TensorConstant)", CONSTANT_TENSOR},
		     {"::FoldedConstant)", CONSTANT_FOLDED}};
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (slice_ends(value, types[i].name))
			return types[i].type;
	return CONSTANT_UNKNOWN;
}

static void take_constant(struct wrapper *w, struct slice line, struct slice s)
{
	uint32_t i;
	struct slice field, v;
	int64_t n;
	if (!take_info(w, line, s, &w->c->n_constants, add_constant, &i, &field, &v))
		return;
	struct contract_constant *k = &w->c->constant[i];
	if (slice_is(field, "name"))
		k->name = quoted(w, v);
	else if (slice_is(field, "original_fqn"))
		k->fqn = quoted(w, v);
	else if (slice_is(field, "dtype"))
		k->dtype = wrapper_dtype(v);
	else if (slice_is(field, "device_type"))
		k->device = wrapper_device(v);
	else if (slice_is(field, "data_size") && text_i64(v, &n) && n >= 0)
		k->bytes = (uint64_t)n;
	else if (slice_is(field, "offset") && text_i64(v, &n) && n >= 0)
		k->offset = (uint64_t)n;
	else if (slice_is(field, "from_folded"))
		k->from_folded = slice_is(v, "true");
	else if (slice_is(field, "type"))
		k->type = constant_type(v);
	else if (slice_is(field, "shape") || slice_is(field, "stride"))
		constant_dims(w, k, v, *field.p == 's' && field.p[1] == 't');
}

/* in_spec_ = R"(...)"; or, for MSVC, = and pieces of it on separate lines; up to 2.6 also "..." with escapes. s starts after the =; returns
 * the end. */
static const char *take_spec(struct wrapper *w, const char *p, const char *end, struct slice *spec)
{
	struct buf b = {0};
	while (p < end && *p != ';') {
		if (end - p >= 3 && p[0] == 'R' && p[1] == '"' && p[2] == '(') {
			struct slice rest = slice_of(p + 3, (size_t)(end - p) - 3);
			const char *close = slice_find(rest, ")\"");
			if (!close)
				break;
			buf_add(&b, rest.p, (size_t)(close - rest.p));
			p = close + 2;
		} else if (*p == '"') {
			for (p++; p < end && *p != '"'; p++) {
				if (*p == '\\' && p + 1 < end)
					p++;
				buf_addc(&b, *p);
			}
			p += p < end;
		} else {
			p++;
		}
	}
	*spec = arena_take(&w->c->arena, &b);
	return p;
}

/* ---- declarations of kernels ---- */

/* static __attribute__((noinline)) void call_triton_poi_fused_add_0( ... ){ (cpp_wrapper_gpu.py); up to torch 2.12 static inline void */
static const char *take_triton(struct wrapper *w, const char *p, const char *end)
{
	struct slice s = slice_of(p, (size_t)(end - p));
	if (!text_take(&s, "static __attribute__((noinline)) void call_") && !text_take(&s, "static inline void call_"))
		return p;
	struct slice name = text_name(&s);
	if (!s.n || *s.p != '(')
		return p;
	size_t n = text_group(s, 0);
	if (n)
		wrapper_kernel(w, name, slice_of(s.p + 1, n - 2), true);
	return n ? s.p + n : end;
}

/* kernels_.far_copy_0 = loadKernel("/.../HASH.cubin", "far_copy", 0, cubin_dir_, ...), or (__far_copy_0_start, "far_copy", ...) */
static void take_load(struct wrapper *w, struct slice s)
{
	struct slice name = text_name(&s), arg;
	uint32_t i = intern_find(&w->kernel_names, name);
	s = slice_trim(s);
	if (i == NONE || !text_take(&s, "= loadKernel(") || !text_arg(&s, &arg) || !text_arg(&s, &arg))
		return;
	if (arg.n > 2 && arg.p[0] == '"' && arg.p[arg.n - 1] == '"' && !slice_eq(slice_of(arg.p + 1, arg.n - 2), name))
		w->kernel[i].function = slice_of(arg.p + 1, arg.n - 2);
}

/* ---- the text ---- */

struct scan {
	struct slice text;
	const char *p, *end;
	uint32_t line;
	bool base, run_impl, in_spec, out_spec, arrayref;
};

/* The include of its main device: GPU models include cpu.h, too. */
static void take_include(struct wrapper *w, struct slice line)
{
	if (!text_take(&line, "#include <torch/csrc/inductor/aoti_include/") &&
	    !text_take(&line, "#include <torch/csrc/inductor/cpp_wrapper/"))
		return;
	int device = device_by_name(text_name(&line));
	if (device > DEVICE_CPU || (device == DEVICE_CPU && w->c->device == DEVICE_NONE))
		w->c->device = device;
}

/* : AOTInductorModelBase(4, 1, 0, ...: inputs, outputs, constants */
static void take_base(struct wrapper *w, struct scan *t, struct slice s)
{
	struct slice all = slice_of(s.p, (size_t)(t->end - s.p)), arg;
	int64_t n;
	t->base = true;
	for (int i = 0; i < 2 && text_arg(&all, &arg) && text_i64(arg, &n) && n >= 0 && n < CONTRACT_MAX_INPUTS; i++)
		while (i ? w->c->n_outputs < n : w->c->n_inputs < n)
			i ? add_output(w) : add_input(w);
}

/* Continues at p, which is after the current line. */
static void move_on(struct scan *t, const char *p)
{
	if (p <= t->p)
		return;
	t->line += 1;
	for (const char *q = t->p; (q = memchr(q, '\n', (size_t)(p - q))); q++)
		t->line++;
	t->p = p;
}

static void take_run_impl(struct wrapper *w, struct scan *t, struct slice line)
{
	struct stmts s = {line.p, t->end, t->line};
	if (t->run_impl)
		return;
	struct stmt head = stmt_next(&s);
	if (head.kind != STMT_PLAIN) { /* else a declaration */
		t->run_impl = true;
		if (head.kind == STMT_OPEN)
			wrapper_body(w, &s);
		else
			contract_unread(w->c, "line %u: the text ends within run_impl", s.line);
	}
	if (s.p > t->p) {
		t->p = s.p;
		t->line = s.line;
	}
}

/* inductor_entry_impl of torch.compile with cpp_wrapper: only its body shows the number of inputs and outputs. */
static void take_entry(struct wrapper *w, struct scan *t, struct slice line)
{
	static const char in[] = "steal_from_raw_handles_to_raii_handles(input_handles, ", out[] = "    output_handles[";
	struct slice rest = slice_of(line.p, (size_t)(t->end - line.p)), s;
	int64_t n;
	while (slice_line(&rest, &s) && !slice_starts(s, "}")) {
		const char *at = memmem(s.p, s.n, in, sizeof(in) - 1);
		struct slice number = at ? slice_of(at + sizeof(in) - 1, (size_t)(s.p + s.n - at) - (sizeof(in) - 1)) : s;
		const bool output = !at && text_take(&number, out);
		if (!at && !output)
			continue;
		size_t k = 0;
		while (k < number.n && number.p[k] >= '0' && number.p[k] <= '9')
			k++;
		if (!text_i64(slice_of(number.p, k), &n) || n < 0 || n >= CONTRACT_MAX_INPUTS)
			continue;
		while (output ? w->c->n_outputs <= n : w->c->n_inputs < n)
			output ? add_output(w) : add_input(w);
	}
	t->base = true; /* there is no model around it, so none of its names is missing */
	take_run_impl(w, t, line);
}

static void take_source_line(struct wrapper *w, struct scan *t, struct slice raw)
{
	struct slice line = slice_trim(raw), s = line;
	w->line = t->line;
	if (!line.n)
		return;
	if (raw.p == line.p)
		wrapper_check_margin(w, line);
	else if (w->in_check) {
		wrapper_check_line(w, line);
		return;
	}
	switch (*line.p) {
	case 'i':
		if (text_take(&s, "inputs_info_"))
			take_input(w, line, s);
		else if (!t->in_spec && (t->in_spec = text_take(&s, "in_spec_ =")))
			move_on(t, take_spec(w, s.p, t->end, &w->c->in_spec));
		else
			wrapper_check_line(w, line);
		break;
	case 'o':
		if (text_take(&s, "outputs_info_"))
			take_output(w, line, s);
		else if (!t->out_spec && (t->out_spec = text_take(&s, "out_spec_ =")))
			move_on(t, take_spec(w, s.p, t->end, &w->c->out_spec));
		break;
	case 'c':
		if (text_take(&s, "constants_info_"))
			take_constant(w, line, s);
		break;
	case 'C': wrapper_check_line(w, line); break;
	case 'k':
		if (text_take(&s, "kernels_."))
			take_load(w, s);
		break;
	case ':':
		if (!t->base && text_take(&s, ": AOTInductorModelBase("))
			take_base(w, t, s);
		break;
	case '#': take_include(w, line); break;
	case 'e':
		if (raw.p == line.p && slice_starts(line, "extern \"C\""))
			move_on(t, wrapper_extern(w, line.p, t->end));
		break;
	case 's':
		if (raw.p == line.p)
			move_on(t, take_triton(w, line.p, t->end));
		break;
	case 'v':
		if (raw.p == line.p && slice_starts(line, "void ") && slice_ends(line, "::run_impl("))
			take_run_impl(w, t, line);
		else if (raw.p == line.p && slice_is(line, "void inductor_entry_impl("))
			take_entry(w, t, line);
		break;
	case 'A':
		if (!t->arrayref && (t->arrayref = slice_starts(line, "AOTInductorModelOutputs ")))
			contract_unread(w->c, "line %u: the model has a minimal ArrayRef interface, which is not read", t->line);
		break;
	default: break;
	}
}

static void scan(struct wrapper *w, struct scan *t)
{
	while (t->p < t->end) {
		const char *nl = memchr(t->p, '\n', (size_t)(t->end - t->p));
		struct slice line = slice_of(t->p, (size_t)((nl ? nl : t->end) - t->p));
		t->p = nl ? nl + 1 : t->end;
		const char *next = t->p;
		take_source_line(w, t, line);
		t->line += t->p == next; /* else it read further, up to the middle of a line */
	}
}

/* ---- the end: combining all parts ---- */

static bool known(struct wrapper *w, struct symsize s) { return contract_known(w->c, s); }

static void contradiction(struct wrapper *w, uint32_t i, int d, const char *what)
{
	contract_unread(w->c, "input %u, dim %d: check_input and assert_size_stride disagree about its %s", i, d, what);
}

static void finish_dim(struct wrapper *w, uint32_t i, int d)
{
	struct winput *in = &w->in[i];
	struct contract_dim *dim = &in->dim[d];
	struct symsize size = w->unknown, stride = w->unknown;
	if (d < in->asserted_rank) {
		size = in->size[d];
		stride = in->stride[d];
	}
	for (int k = 0; k < in->n_bound; k++)
		if (in->bound[k].dim == d && !known(w, in->bound[k].stride ? stride : size))
			*(in->bound[k].stride ? &stride : &size) = in->bound[k].symbol;
	if (dim->size_checked && known(w, size) && !symsize_eq(size, dim->size))
		contradiction(w, i, d, "size");
	if (dim->stride_checked && known(w, stride) && !symsize_eq(stride, dim->stride))
		contradiction(w, i, d, "stride");
	if (!dim->size_checked)
		dim->size = size;
	if (!dim->stride_checked)
		dim->stride = stride;
}

static void finish_input(struct wrapper *w, uint32_t i)
{
	struct winput *in = &w->in[i];
	struct contract_input *out = &w->c->input[i];
	int mentioned = in->n_dim;
	for (int k = 0; k < in->n_bound; k++)
		wrapper_input_dim(in, in->bound[k].dim);
	if (in->asserted_rank > 0)
		wrapper_input_dim(in, in->asserted_rank - 1);
	for (int d = 0; d < in->n_dim; d++)
		finish_dim(w, i, d);
	out->rank_known = out->asserted > 0 && in->n_dim == in->asserted_rank;
	if (out->asserted && !out->rank_known)
		contract_unread(w->c, "input %u: check_input has %d dims, assert_size_stride %d", i, mentioned, in->asserted_rank);
	if (w->checks && out->dtype == DTYPE_NONE && out->device == DEVICE_NONE && !mentioned) {
		contract_unread(w->c, "input %u: none of its checks are understood", i);
		w->c->n_unread_checks++;
	}
	out->n_dim = in->n_dim;
	if (in->n_dim) {
		out->dim = arena_alloc(&w->c->arena, (size_t)in->n_dim * sizeof(*out->dim));
		memcpy(out->dim, in->dim, (size_t)in->n_dim * sizeof(*out->dim));
	}
}

/* A kernel's argument may tell the data type of a view or a reuse: then it is also that of the other. */
static void spread_dtypes(struct wrapper *w)
{
	struct contract_value *v = w->c->value;
	for (uint32_t i = w->c->n_values; i-- > 0;)
		if (w->wv[i].from && v[w->wv[i].from - 1].dtype == DTYPE_NONE)
			v[w->wv[i].from - 1].dtype = v[i].dtype;
	for (uint32_t i = 0; i < w->c->n_values; i++)
		if (w->wv[i].from && v[i].dtype == DTYPE_NONE)
			v[i].dtype = v[w->wv[i].from - 1].dtype;
}

static void finish_values(struct wrapper *w, const struct scan *t)
{
	struct contract *c = w->c;
	spread_dtypes(w);
	for (uint32_t i = 0; i < c->n_values; i++) {
		struct contract_value *v = &c->value[i];
		if (v->device == DEVICE_NONE && c->device == DEVICE_CPU) /* there is no other */
			v->device = DEVICE_CPU;
		if (w->wv[i].whole && v->kind == VALUE_INPUT && c->input[v->index].rank_known) {
			v->n_dim = c->input[v->index].n_dim;
			v->dim = c->input[v->index].dim;
		} else if (v->n_dim < 0 && w->wv[i].like) {
			v->n_dim = c->value[w->wv[i].like - 1].n_dim;
			v->dim = c->value[w->wv[i].like - 1].dim;
		}
	}
	for (uint32_t i = 0; i < c->n_storages; i++) {
		struct contract_storage *s = &c->storage[i];
		const struct contract_value *v = &c->value[w->ws[i].owner];
		s->bytes = wrapper_extent(w, v->n_dim, v->dim, v->dtype);
		if (w->ws[i].pinned || s->dies == NONE)
			s->dies = c->n_calls;
	}
	for (uint32_t i = 0; i < c->n_outputs; i++) {
		struct contract_output *o = &c->output[i];
		o->none &= !t->arrayref; /* its outputs are not in output_handles */
		if (o->value == NONE)
			continue;
		const struct contract_value *v = &c->value[o->value];
		o->dtype = v->dtype;
		o->device = v->device;
		o->n_dim = v->n_dim;
		o->dim = v->dim;
	}
}

static void finish_contract(struct wrapper *w, const struct scan *t)
{
	struct contract *c = w->c;
	for (uint32_t i = 0; i < c->n_inputs; i++)
		finish_input(w, i);
	finish_values(w, t);
	c->n_symbols = w->n_sym;
	c->symbol = arena_alloc(&c->arena, ((size_t)w->n_sym + 1) * sizeof(*c->symbol));
	if (w->n_sym)
		memcpy(c->symbol, w->sym, w->n_sym * sizeof(*c->symbol));
	if (!t->run_impl)
		contract_unread(c, "the text has no run_impl: it is truncated, or of an unknown kind of model");
	if (!t->base)
		contract_unread(c, "the text has no constructor: names of inputs and constants are missing");
	if (w->n_unclear > MAX_UNCLEAR)
		contract_note(c, "%u more statements were not understood", w->n_unclear - MAX_UNCLEAR);
}

static void reader_release(struct wrapper *w)
{
	intern_release(&w->names);
	intern_release(&w->kernel_names);
	wrapper_stream_release(w);
	symbind_release(&w->sym_at);
	for (uint32_t i = 0; i < w->c->n_inputs; i++) {
		free(w->in[i].dim);
		free(w->in[i].bound);
	}
	free(w->in);
	free(w->var);
	free(w->declared);
	free(w->assigned);
	free(w->ints);
	free(w->wv);
	free(w->ws);
	free(w->kernel);
	free(w->sym);
	buf_release(&w->tmp);
}

int wrapper_read(struct contract *c, struct slice text, struct slice kernel_text, struct err *err)
{
	*c = (struct contract){.source = CONTRACT_FROM_TEXT, .device = DEVICE_NONE};
	struct wrapper w = {.c = c, .kernel_text = kernel_text, .checked = NONE};
	struct scan t = {.text = text, .p = text.p, .end = text.p + text.n, .line = 1};
	w.unknown = contract_unknown(c);
	scan(&w, &t);
	int r = 0;
	if (!t.base && !t.run_impl)
		r = err_set(err, EXIT_INPUT, "not a wrapper.cpp of AOTInductor: it has no AOTInductorModel and no run_impl");
	else
		finish_contract(&w, &t);
	reader_release(&w);
	if (r == 0)
		r = contract_finish(c, err);
	if (r < 0)
		contract_release(c);
	return r;
}
