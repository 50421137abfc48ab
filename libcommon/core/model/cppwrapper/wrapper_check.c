#include "model/cppwrapper/wrapper_read.h"

bool wrapper_input_dim(struct winput *in, int64_t dim)
{
	if (dim < 0 || dim >= TENSOR_MAX_DIMS)
		return false;
	if (dim >= in->cap) {
		int cap = in->cap;
		in->cap = dim < 4 ? 4 : TENSOR_MAX_DIMS;
		in->dim = xreallocarray(in->dim, (size_t)in->cap, sizeof(*in->dim));
		for (int i = cap; i < in->cap; i++)
			in->dim[i] = (struct contract_dim){.range = SYMRANGE_ALL};
	}
	if (dim >= in->n_dim)
		in->n_dim = (int)dim + 1;
	return true;
}

/* arg0_1_size[2]: true for a size, *stride for a stride; its dim becomes known. */
static struct contract_dim *named_dim(struct wrapper *w, struct slice text, bool *stride)
{
	struct winput *in = &w->in[w->checked];
	struct slice rest = slice_trim(text), name = text_name(&rest);
	int64_t d;
	*stride = slice_ends(name, "_stride");
	if ((!*stride && !slice_ends(name, "_size")) || rest.n < 3 || *rest.p != '[' || !text_i64(slice_of(rest.p + 1, rest.n - 2), &d) ||
	    !wrapper_input_dim(in, d))
		return NULL;
	return &in->dim[d];
}

/* if (12 != arg0_1_size[2]) {, if (arg0_1_size[0] < 2) {, if (1 != arg0_1_stride[2]) { */
static bool take_compare(struct wrapper *w, struct slice cond)
{
	struct slice rest = cond, left, right;
	int64_t v;
	bool stride;
	const char *at;
	struct contract_dim *d;
	if ((at = slice_find(rest, " != "))) {
		left = slice_of(rest.p, (size_t)(at - rest.p));
		right = slice_of(at + 4, (size_t)(rest.p + rest.n - at) - 4);
		if (slice_ends(left, "_expected_dtype") || slice_ends(left, "_expected_device_type"))
			return true;
		if (!text_i64(left, &v) || !(d = named_dim(w, right, &stride)))
			return false;
		if (stride) {
			d->stride = symsize_int(v);
			d->stride_checked = true;
		} else {
			d->size = symsize_int(v);
			d->size_checked = true;
		}
		return true;
	}
	bool low = (at = slice_find(rest, " < "));
	if (!low && !(at = slice_find(rest, " > ")))
		return false;
	left = slice_of(rest.p, (size_t)(at - rest.p));
	right = slice_of(at + 3, (size_t)(rest.p + rest.n - at) - 3);
	if (!text_i64(right, &v) || !(d = named_dim(w, left, &stride)) || stride)
		return false;
	if (low) {
		d->range.lo = v;
		d->range.lo_inf = false;
	} else if (v != INT64_MAX) { /* written by the generator if there is no bound */
		d->range.hi = v;
		d->range.hi_inf = false;
	}
	return true;
}

void wrapper_check_margin(struct wrapper *w, struct slice line)
{
	if (*line.p == '}') {
		w->checked = NONE;
		w->in_check = w->of_output = w->goes_on = false;
	} else if (slice_starts(line, "AOTI_NOINLINE static void ") && slice_find(line, "check_input")) {
		w->in_check = w->checks = true;
	}
}

/* A line of a check that tests nothing itself: fetching values, building and throwing the message, brackets. Any other form may be a check
 * from a newer torch: it is then not understood, and the contract incomplete. */
static bool asks_nothing(struct slice line)
{
	static const char *const starts[] = {"AtenTensorHandle* ",
					     ") {",
					     "}",
					     "//",
					     "check_input_",
					     "if (!_check_aoti_runtime_check_inputs_env())",
					     "return;",
					     "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_get_",
					     "std::stringstream ss;",
					     "ss << ",
					     "<< ",
					     "throw std::runtime_error("};
	if (slice_starts(line, "auto ") && (slice_ends(line, ".sizes();") || slice_ends(line, ".strides();")))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (slice_starts(line, starts[i]))
			return true;
	return false;
}

static void unclear_line(struct wrapper *w, struct slice line)
{
	if (!w->goes_on)
		wrapper_unclear(w, line);
	w->goes_on = w->in_check && !strchr(";{}", line.p[line.n - 1]);
}

/* generate_input_output_runtime_checks of cpp_wrapper_cpu.py; torch up to 2.6 has the checks of all inputs in one
 * function, and with debug_compile also of outputs, which are skipped. */
void wrapper_check_line(struct wrapper *w, struct slice line)
{
	struct contract *c = w->c;
	struct slice s = line;
	int64_t n;
	if (w->goes_on) {
		unclear_line(w, line);
		return;
	}
	if (text_take(&s, "ConstantHandle ")) {
		w->checked = NONE;
		w->of_output = slice_find(s, "ConstantHandle(output_handles[");
		const char *at = slice_find(s, "ConstantHandle(input_handles[");
		if (!at && w->in_check && !w->of_output)
			unclear_line(w, line);
		if (!at)
			return;
		struct slice rest = slice_of(at + 29, (size_t)(s.p + s.n - at) - 29), digits = text_name(&rest);
		if (text_i64(digits, &n) && n >= 0 && n < c->n_inputs)
			w->checked = (uint32_t)n;
		else
			wrapper_unclear(w, line);
		return;
	}
	if (w->of_output || (w->in_check && asks_nothing(line)))
		return;
	if (w->checked == NONE) {
		if (w->in_check)
			unclear_line(w, line);
		return;
	}
	struct contract_input *in = &c->input[w->checked];
	if (text_take(&s, "int32_t ")) {
		struct slice name = text_name(&s);
		s = slice_trim(s);
		if (slice_ends(name, "_expected_dtype")) {
			in->dtype = wrapper_dtype(s);
			if (in->dtype == DTYPE_NONE)
				wrapper_unclear(w, line);
		} else if (slice_ends(name, "_expected_device_type")) {
			text_take(&s, "=");
			if (slice_ends(s, ";"))
				s.n--;
			if (text_i64(s, &n) && n >= 0 && n < 256)
				in->device = (int)n;
			else
				wrapper_unclear(w, line);
		} else if (w->in_check && !slice_is(s, ";")) {
			unclear_line(w, line);
		}
	} else if (text_take(&s, "if (")) {
		if (!slice_ends(s, ") {") || !take_compare(w, slice_of(s.p, s.n - 3)))
			unclear_line(w, line);
	} else if (w->in_check) {
		unclear_line(w, line);
	}
}
