/* Operators outside ATen that Inductor's decompositions leave in a torch.compile graph (torch 2.13 and 2.15,
 * torch/_prims/__init__.py, torch/_inductor/inductor_prims.py). Eager computes fma in two steps, too. */
#include "call.h"
#include "elem.h"
#include "ops.h"

static void run_fma(struct aten_call *c)
{
	call_give(c, 0, aten_add(aten_mul(call_operand(c, 0), call_operand(c, 1)), call_operand(c, 2), 1));
}

static void run_convert(struct aten_call *c) /* a, dtype */
{
	struct aten_tensor *a = call_tensor(c, 0);
	call_give(c, 0, aten_to_copy(a, call_dtype_or(c, 1, a->dtype), ATEN_PRESERVE));
}

static void run_device_put(struct aten_call *c) /* a, device, non_blocking */
{
	struct aten_tensor *a = call_tensor(c, 0);
	call_give(c, 0, aten_to_copy(a, a->dtype, ATEN_PRESERVE));
}

static void run_iota(struct aten_call *c) /* length, start, step, dtype, device, requires_grad */
{
	const int64_t n = call_int(c, 0), start = call_int(c, 1), step = call_int(c, 2);
	const int dtype = call_dtype_or(c, 3, DTYPE_I64);
	if (n < 0)
		aten_fail("length must be non-negative, got %lld", (long long)n);
	struct aten_tensor *whole = aten_empty(&n, 1, DTYPE_I64);
	for (int64_t i = 0; i < n && aten_computes(); i++)
		((int64_t *)aten_data(whole))[i] = (int64_t)((uint64_t)start + (uint64_t)i * (uint64_t)step);
	call_give(c, 0, dtype == DTYPE_I64 ? whole : aten_to_copy(whole, dtype, ATEN_PRESERVE));
}

/* ---- positions in a max_pool window, as an index into it: an int8 instead of an int64 ---- */

struct windows {
	int dims;
	struct window_args args;
	const int64_t *in;
};

static struct ints ints_of_window(const struct aten_call *c, uint32_t i, int64_t want)
{
	struct ints list = call_ints(c, i);
	if (list.n != want)
		aten_fail("lists of %lld and %lld numbers do not match the window", (long long)want, (long long)list.n);
	return list;
}

/* Converts a position: `at` is the index in the window. Sizes may be anything: numbers wrap. */
static int64_t other_number(const struct windows *w, const int64_t *at, int64_t number, bool from_window)
{
	const int64_t *kernel = w->args.kernel.v, *of = from_window ? kernel : w->in, *to = from_window ? w->in : kernel;
	const int64_t *dilation = w->args.dilation.v;
	uint64_t result = 0;
	int64_t d[3];
	for (int i = w->dims; i-- > 0; number /= of[i])
		d[i] = number % of[i];
	for (int i = 0; i < w->dims; i++) {
		const uint64_t base = (uint64_t)at[i] * (uint64_t)w->args.stride.v[i] - (uint64_t)w->args.pad.v[i], place = (uint64_t)d[i];
		const uint64_t other =
		    from_window ? base + place * (uint64_t)dilation[i] : (uint64_t)((int64_t)(place - base) / dilation[i]);
		result = result * (uint64_t)to[i] + other;
	}
	return (int64_t)result;
}

static struct aten_tensor *turn(const struct windows *w, const struct aten_tensor *from, bool from_window)
{
	struct aten_tensor *out = aten_like(from, from_window ? DTYPE_I64 : DTYPE_I8);
	int64_t at[ATEN_DIMS] = {0}, n = aten_computes() ? aten_numel(from) : 0;
	for (int i = 0; i < w->dims && n; i++)
		if (w->in[i] < 1)
			aten_fail("the window is empty");
	const int from_bytes = elem_bytes(from->dtype), out_bytes = elem_bytes(out->dtype);
	for (; n-- > 0;) {
		int64_t f = 0, o = 0;
		for (int d = 0; d < from->n_dim; d++) {
			f += at[d] * from->stride[d];
			o += at[d] * out->stride[d];
		}
		const int64_t number = elem_i64(from->dtype, (char *)aten_data(from) + f * from_bytes);
		elem_set_i64(out->dtype, (char *)aten_data(out) + o * out_bytes,
			     other_number(w, at + from->n_dim - w->dims, number, from_window));
		for (int d = from->n_dim; d-- > 0 && ++at[d] == from->size[d];)
			at[d] = 0;
	}
	return out;
}

static struct windows windows_of(const struct aten_call *c, uint32_t stride)
{
	struct ints kernel = call_ints(c, 1);
	if (kernel.n != 2 && kernel.n != 3)
		aten_fail("invalid window of %lld dims", (long long)kernel.n);
	struct window_args a = {kernel, ints_of_window(c, stride, kernel.n), ints_of_window(c, stride + 1, kernel.n),
				ints_of_window(c, stride + 2, kernel.n)};
	for (int64_t i = 0; i < kernel.n; i++)
		if (kernel.v[i] < 1 || a.dilation.v[i] < 1 || kernel.v[i] > INT8_MAX)
			aten_fail("the window is empty");
	return (struct windows){(int)kernel.n, a, NULL};
}

static void run_max_pool_with_offsets(struct aten_call *c) /* self, kernel, stride, padding, dilation, ceil_mode */
{
	struct windows w = windows_of(c, 2);
	struct aten_tensor *self = call_tensor(c, 0);
	struct two r = aten_max_pool(self, w.dims, &w.args, call_bool(c, 5));
	w.in = self->size + self->n_dim - w.dims;
	call_give(c, 0, r.first);
	call_give(c, 1, turn(&w, r.second, false));
}

static void run_offsets_to_indices(struct aten_call *c) /* self, kernel, input_size, stride, padding, dilation */
{
	struct windows w = windows_of(c, 3);
	struct aten_tensor *self = call_tensor(c, 0);
	w.in = ints_of_window(c, 2, w.dims).v;
	if (self->n_dim < w.dims || !elem_integral(self->dtype))
		aten_fail("offsets in windows must be integers with at least %d dims", w.dims);
	call_give(c, 0, turn(&w, self, true));
}

static void
run_prepare_softmax(struct aten_call *c) /* a, dim: the maximum, and the sum of exp(a - maximum); what a GPU's softmax is made of */
{
	int64_t dim = call_int(c, 1);
	const struct aten_value a = GIVEN(c, 0), dims = aten_ints(&dim, 1);
	struct aten_tensor *most = APPLIED("amax", a, dims, aten_bool(true));
	call_give(c, 0, most);
	call_give(
	    c, 1,
	    APPLIED("sum.dim_IntList", aten_of(APPLIED("exp", aten_of(aten_sub(call_tensor(c, 0), most, 1)))), dims, aten_bool(true)));
}

const struct aten_entry aten_prims_entries[] = {
    {"prims::_low_memory_max_pool_offsets_to_indices", run_offsets_to_indices},
    {"prims::_low_memory_max_pool_with_offsets", run_max_pool_with_offsets},
    {"prims::convert_element_type", run_convert},
    {"prims::device_put", run_device_put},
    {"prims::fma", run_fma},
    {"prims::iota", run_iota},
    {"prims::prepare_softmax_online", run_prepare_softmax},
    {0},
};
