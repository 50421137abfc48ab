/* customop.so - a library of operators for torch, by its stable C interface (torch 2.10 and later, torch/csrc/stable/c/shim.h): what
 * pt2-runner --load takes. The package tests/data/aoti/custom_cpp calls them.
 *
 *     pt2fix::mix     x * limit and a sum of all that is given, so that a value in the wrong place is seen
 *     pt2fix::halves  the tensors of a list, halved
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct opaque *tensor;
typedef struct library *library;
typedef uint64_t value;

int32_t aoti_torch_library_init_def(const char *ns, const char *file, uint32_t line, library *ret);
int32_t aoti_torch_library_init_impl(const char *ns, const char *key, const char *file, uint32_t line, library *ret);
int32_t aoti_torch_library_def(library self, const char *schema);
int32_t aoti_torch_library_impl(library self, const char *name, void (*fn)(value *stack, uint64_t n, uint64_t n_out));
int32_t aoti_torch_clone(tensor self, tensor *ret);
int32_t aoti_torch_delete_tensor_object(tensor t);
int32_t aoti_torch_get_numel(tensor t, int64_t *ret);
int32_t aoti_torch_get_data_ptr(tensor t, void **ret);
int32_t torch_list_size(void *list, size_t *ret);
int32_t torch_list_get_item(void *list, size_t i, value *ret);
int32_t torch_list_push_back(void *list, value v);
int32_t torch_new_list_reserve_size(size_t n, void **ret);
int32_t torch_delete_list(void *list);
int32_t torch_string_length(void *s, size_t *ret);
int32_t torch_string_c_str(void *s, const char **ret);
int32_t torch_delete_string(void *s);
int32_t torch_delete_stable_ivalue(value *v);

static void need(int32_t status)
{
	if (status)
		abort();
}

static double real(value v)
{
	double d;
	memcpy(&d, &v, sizeof(d));
	return d;
}

static double sum_of_tensor(value v)
{
	tensor t = (tensor)(uintptr_t)v;
	void *data;
	int64_t n;
	double sum = 0;
	need(aoti_torch_get_numel(t, &n));
	need(aoti_torch_get_data_ptr(t, &data));
	for (int64_t i = 0; i < n; i++)
		sum += (double)((float *)data)[i];
	need(aoti_torch_delete_tensor_object(t));
	return sum;
}

static double length(value v)
{
	void *s = (void *)(uintptr_t)v;
	size_t n;
	const char *text;
	need(torch_string_length(s, &n));
	need(torch_string_c_str(s, &text));
	double sum = (double)n + (n ? text[n - 1] : 0);
	need(torch_delete_string(s));
	return sum;
}

static double whole(value v) { return (double)(int64_t)v; }
static double low_byte(value v) { return (double)(uint8_t)v; }
static double dtype(value v) { return (double)(int32_t)v; }
static double device(value v) { return (double)(int32_t)v + 10 * (double)(int32_t)(v >> 32); }

static double maybe(value v, double (*of)(value v))
{
	value *box = (value *)(uintptr_t)v;
	if (!box)
		return -1;
	double sum = of(*box);
	need(torch_delete_stable_ivalue(box));
	return sum;
}

static double maybe_tensor(value v) { return maybe(v, sum_of_tensor); }

/* Earlier items count more. */
static double list(value v, double (*of)(value v))
{
	void *l = (void *)(uintptr_t)v;
	size_t n;
	double sum = 0;
	need(torch_list_size(l, &n));
	for (size_t i = 0; i < n; i++) {
		value item;
		need(torch_list_get_item(l, i, &item));
		sum += of(item) * (double)(n - i);
	}
	need(torch_delete_list(l));
	return sum;
}

static double maybe_list(value v) { return list(v, whole); }

static const char mix_schema[] =
    "mix(Tensor x, Tensor? bias, Tensor? none, float limit, int n, SymInt m, bool flag, str mode, str? name, int[] sizes, SymInt[] dims, "
    "float[] scales, Tensor[] list, Tensor?[] maybe, ScalarType dtype, Device device, int? k=None, int[]? pads=None, *, "
    "float kw=0.5, bool[2] flags=[True, False], int[2] pad=[3, 4], str word=\"mean\", Generator? generator=None) -> Tensor";

static void mix(value *v, uint64_t n, uint64_t n_out)
{
	tensor made;
	void *data;
	int64_t numel;
	(void)n, (void)n_out;
	need(aoti_torch_clone((tensor)(uintptr_t)v[0], &made));
	need(aoti_torch_delete_tensor_object((tensor)(uintptr_t)v[0]));
	double limit = real(v[3]);
	double sum = 1 * maybe(v[1], sum_of_tensor) + 2 * maybe(v[2], sum_of_tensor) + 3 * whole(v[4]) + 4 * whole(v[5]) +
		     5 * low_byte(v[6]) + 6 * length(v[7]) + 7 * maybe(v[8], length) + 8 * list(v[9], whole) + 9 * list(v[10], whole) +
		     10 * list(v[11], real) + 11 * list(v[12], sum_of_tensor) + 12 * list(v[13], maybe_tensor) + 13 * dtype(v[14]) +
		     14 * device(v[15]) + 15 * maybe(v[16], whole) + 16 * maybe(v[17], maybe_list) + 17 * real(v[18]) +
		     18 * list(v[19], low_byte) + 19 * list(v[20], whole) + 20 * length(v[21]) + (v[22] ? 1e6 : 0);
	need(aoti_torch_get_numel(made, &numel));
	need(aoti_torch_get_data_ptr(made, &data));
	for (int64_t i = 0; i < numel; i++)
		((float *)data)[i] = (float)((double)((float *)data)[i] * limit + sum);
	v[0] = (value)(uintptr_t)made;
}

static void halves(value *v, uint64_t n, uint64_t n_out)
{
	void *from = (void *)(uintptr_t)v[0], *to, *data;
	size_t count;
	(void)n, (void)n_out;
	need(torch_list_size(from, &count));
	need(torch_new_list_reserve_size(count, &to));
	for (size_t i = 0; i < count; i++) {
		value item;
		tensor made;
		int64_t numel;
		need(torch_list_get_item(from, i, &item));
		need(aoti_torch_clone((tensor)(uintptr_t)item, &made));
		need(aoti_torch_get_numel(made, &numel));
		need(aoti_torch_get_data_ptr(made, &data));
		for (int64_t k = 0; k < numel; k++)
			((float *)data)[k] *= 0.5f;
		need(aoti_torch_delete_tensor_object((tensor)(uintptr_t)item));
		need(torch_list_push_back(to, (value)(uintptr_t)made));
	}
	need(torch_delete_list(from));
	v[0] = (value)(uintptr_t)to;
}

__attribute__((constructor)) static void define(void)
{
	library l, cpu;
	need(aoti_torch_library_init_def("pt2fix", __FILE__, __LINE__, &l));
	need(aoti_torch_library_def(l, mix_schema));
	need(aoti_torch_library_def(l, "halves(Tensor[] list) -> Tensor[]"));
	need(aoti_torch_library_init_impl("pt2fix", "CPU", __FILE__, __LINE__, &cpu));
	need(aoti_torch_library_impl(cpu, "mix", mix));
	need(aoti_torch_library_impl(cpu, "halves", halves));
}
