/* executorch's edge dialect (executorch 1.5.1, exir/dialects/edge): views are copies there, and a memory format is an order of dims
 * (exir/passes/dim_order_ops_registry.py). Its other operators are torch's. */
#include "call.h"
#include "elem.h"

static struct aten_value format(int64_t which) { return (struct aten_value){.kind = ATEN_FORMAT, .i = which}; }

static struct aten_tensor *copy_of(struct aten_tensor *t) { return APPLIED("clone", aten_of(t), format(ATEN_CONTIGUOUS)); }

/* entry.data: the view, with the same parameters. */
static void run_copy(struct aten_call *c)
{
	const struct aten_value v = aten_apply(c->entry->data, c->arg, c->n)[0];
	if (v.kind == ATEN_TENSOR)
		return call_give(c, 0, copy_of(v.tensor));
	struct tensors t = {.v = aten_scratch(v.n, sizeof(*t.v)), .n = v.n};
	for (uint32_t i = 0; i < v.n; i++)
		t.v[i] = copy_of(v.item[i].tensor);
	call_give_list(c, 0, t);
}

/* exir/dim_order_utils.py, get_memory_format */
static struct aten_value format_of(const struct aten_call *c, uint32_t i)
{
	if (call_is_none(c, i))
		return format(ATEN_PRESERVE);
	const struct ints order = call_ints(c, i);
	bool contiguous = true, last = order.n == 4 || order.n == 5;
	for (int64_t d = 0; d < order.n; d++) {
		contiguous &= order.v[d] == d;
		last &= order.v[d] == (!d ? 0 : d == order.n - 1 ? 1 : d + 1);
	}
	if (!contiguous && !last)
		aten_fail("dim_order: neither contiguous nor channels_last");
	return format(contiguous ? ATEN_CONTIGUOUS : order.n == 4 ? ATEN_CHANNELS_LAST : ATEN_CHANNELS_LAST_3D);
}

/* entry.data: the operator of torch whose last parameter is a memory format. */
static void run_dim_order(struct aten_call *c)
{
	struct aten_value arg[8];
	if (c->n > ARRAY_LEN(arg))
		aten_fail("too many arguments");
	memcpy(arg, c->arg, c->n * sizeof(*arg));
	arg[c->n - 1] = format_of(c, c->n - 1);
	call_give_all(c, aten_apply(c->entry->data, arg, c->n), 1);
}

/* clone() has no non_blocking. */
static void run_clone_dim_order(struct aten_call *c) { call_give(c, 0, APPLIED("clone", GIVEN(c, 0), format_of(c, 2))); }

const struct aten_entry aten_edge_entries[] = {
    {"alias_copy", run_copy, "alias"},
    {"as_strided_copy", run_copy, "as_strided"},
    {"detach_copy", run_copy, "detach"},
    {"diagonal_copy", run_copy, "diagonal"},
    {"dim_order_ops::_clone_dim_order", run_clone_dim_order},
    {"dim_order_ops::_empty_dim_order", run_dim_order, "empty.memory_format"},
    {"dim_order_ops::_to_dim_order_copy", run_dim_order, "_to_copy"},
    {"expand_copy", run_copy, "expand"},
    {"narrow_copy", run_copy, "narrow"},
    {"permute_copy", run_copy, "permute"},
    {"select_copy.int", run_copy, "select.int"},
    {"slice_copy.Tensor", run_copy, "slice.Tensor"},
    {"split_copy.Tensor", run_copy, "split.Tensor"},
    {"split_with_sizes_copy", run_copy, "split_with_sizes"},
    {"squeeze_copy", run_copy, "squeeze"},
    {"squeeze_copy.dim", run_copy, "squeeze.dim"},
    {"squeeze_copy.dims", run_copy, "squeeze.dims"},
    {"t_copy", run_copy, "t"},
    {"view_as_complex_copy", run_copy, "view_as_complex"},
    {"view_as_real_copy", run_copy, "view_as_real"},
    {"transpose_copy.int", run_copy, "transpose.int"},
    {"unbind_copy.int", run_copy, "unbind.int"},
    {"unfold_copy", run_copy, "unfold"},
    {"unsqueeze_copy", run_copy, "unsqueeze"},
    {"view_copy", run_copy, "view"},
    {"view_copy.dtype", run_copy, "view.dtype"},
    {0},
};
