/* diffrows.c - what the files of --diff share: rows, values, names of calls. */
#include "diff.h"
#include <ctype.h>

#define NODES_TEXT "<eval_with_key>" /* torch/fx/graph_module.py, _EvalCacheLoader */

struct slice diff_computes(struct slice name, size_t *device)
{
	static const char *const prefix[] = {"cpp_",           "triton_poi_", "triton_red_",     "triton_per_",      "triton_tem_",
					     "triton_for_",    "triton_",     "aoti_torch_cpu_", "aoti_torch_cuda_", "aoti_torch_xpu_",
					     "aoti_torch_mps_"};
	size_t n = name.n;
	*device = 0;
	for (size_t i = 0; i < ARRAY_LEN(prefix) && !*device; i++)
		*device = slice_starts(name, prefix[i]) ? strlen(prefix[i]) : 0;
	while (n && isdigit((unsigned char)name.p[n - 1]))
		n--;
	if (!n || n == name.n || name.p[n - 1] != '_' || n <= *device)
		n = name.n;
	return slice_of(name.p + *device, n - *device);
}

struct diff_row *diff_add_row(struct diff *d, const struct dump_call *a, const struct dump_call *b)
{
	PUSH_TO(d->row, d->n_rows, d->cap_rows) = (struct diff_row){.a = a, .b = b};
	d->both += a && b;
	d->only[0] += !b;
	d->only[1] += !a;
	return &d->row[d->n_rows - 1];
}

size_t diff_run_rows(const struct diff *d, size_t row)
{
	const struct dump_call *c = diff_call(&d->row[row]);
	size_t n = 1;
	while (row + n < d->n_rows && diff_call(&d->row[row + n])->model_id == c->model_id && diff_call(&d->row[row + n])->run == c->run)
		n++;
	return n;
}

struct diff_value *diff_add_value(struct diff *d, struct diff_row *r, const struct dump_value *a, const struct dump_value *b)
{
	struct diff_value *v = &PUSH_TO(d->value, d->n_values, d->cap_values);
	*v = (struct diff_value){.a = a, .b = b, .what = !b ? DIFF_ONLY_A : !a ? DIFF_ONLY_B : DIFF_SAME};
	r->n_values++;
	return v;
}

int diff_compare(struct diff *d, struct diff_value *v, struct close_options how, struct err *err)
{
	struct dump_tensor a, b;
	if (dump_tensor_open(&a, &d->a, v->a, err) < 0)
		return -1;
	if (dump_tensor_open(&b, &d->b, v->b, err) < 0) {
		dump_tensor_close(&a);
		return -1;
	}
	tensor_close(&a.meta, a.data, &b.meta, b.data, how, &v->close);
	v->what = v->close.sizes_differ ? DIFF_SIZES : v->close.bad ? DIFF_VALUES : v->close.dtype_differs ? DIFF_DTYPE : DIFF_SAME;
	if (v->close.worst_at >= 0) {
		tensor_index(&a.meta, v->close.worst_at, v->index);
		v->n_index = a.meta.n_dim;
	}
	dump_tensor_close(&a);
	dump_tensor_close(&b);
	return 0;
}

bool diff_is_nodes(const struct dump_call *c) { return slice_starts(c->text, NODES_TEXT); }
