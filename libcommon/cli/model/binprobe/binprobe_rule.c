/* Finds sizes, strides and type of an operator's result, by its rule in libcommon/core/aten, which is evaluated without values.
 *
 * torch's C functions have an operator's name and its parameters in the schema's order (torch 2.13, torchgen/gen_aoti_c_shim.py,
 * convert_arg_type_and_name): "sort.stable" is aoti_torch_cpu_sort_stable. A list is a pointer and a length; an optional parameter is a
 * pointer; a Scalar is a double. No rule: the operator is missing, its parameters are different (an older ABI), an operand's shape
 * is unknown, or it depends on values. */
#include "aten/aten.h"
#include "model/contract/opsig.h"
#include "model/binprobe/binprobe_child.h"

enum { MAX_PARAMETERS = 64, MAX_LIST = 4096 };
#define MAX_SIZE (INT64_C(1) << 40)

/* NULL: not an operator that we have. */
static const char *overload_of(const char *function)
{
	const char *stem = opsig_stem(function), *name;
	stem += strncmp(stem, "aten_", 5) ? 0 : 5;
	const size_t n = strlen(stem);
	for (size_t i = 0; (name = aten_overload(i)); i++) {
		size_t k = 0;
		while (k < n && (name[k] == stem[k] || (name[k] == '.' && stem[k] == '_')))
			k++;
		if (k == n && !name[k])
			return name;
	}
	return NULL;
}

/* Looked up once for each function. */
static const struct aten_op *op_of(struct stub *s)
{
	struct err ignored;
	const char *name = s->looked_up ? NULL : overload_of(s->name);
	s->looked_up = true;
	if (name) {
		struct aten_op *op = arena_alloc(&world->arena, sizeof(*op));
		s->op = aten_find(op, slice_str(name), &ignored) == 0 ? op : NULL;
	}
	return s->op;
}

/* ---- operands ---- */

struct asking {
	const struct op_word *word;
	size_t n, at;
	struct aten_tensor *made[MAX_PARAMETERS]; /* by us */
	size_t n_made;
	struct arena arena; /* of lists */
	bool sure, strided; /* all types, all strides are known */
};

/* The next word, if it is of this kind. */
static bool take_word(struct asking *a, const char *letters, uint64_t *bits)
{
	if (a->at >= a->n || !strchr(letters, a->word[a->at].letter))
		return false;
	*bits = a->word[a->at++].bits;
	return true;
}

/* Constants whose weights are not in the library have unknown sizes. */
static bool is_given(const struct fake *f)
{
	const uint32_t i = f->value - world->n_inputs;
	return f->value >= world->n_inputs && i < world->n_constants && world->constant[i].given;
}

static bool tensor_value(struct asking *a, uint64_t handle, struct aten_value *out)
{
	const struct fake *f = fake_of((const void *)(uintptr_t)handle);
	const int n = f ? fake_rank(f) : -1;
	struct aten_tensor *t = NULL;
	if (n < 0 || !f->defined || f->dtype == DTYPE_NONE || is_given(f) || a->n_made == ARRAY_LEN(a->made))
		return false;
	const int64_t *size = fake_sizes(f), *stride = fake_strides(f);
	bool strided = true;
	for (int d = 0; d < n; d++) {
		if (size[d] < 0 || size[d] > MAX_SIZE)
			return false;
		strided = strided && stride[d] >= 0;
	}
	ATEN_TRY("ask") { t = aten_keep(aten_fake(f->dtype, n, size, strided ? stride : NULL)); }
	if (ATEN_END)
		return false;
	a->made[a->n_made++] = t;
	a->strided = a->strided && strided && f->device == DEVICE_CPU;
	a->sure = a->sure && (f->value >= world->run.n_values || world->run.value[f->value].dtype_sure);
	*out = aten_of(t);
	return true;
}

static bool tensors_value(struct asking *a, bool optional, struct aten_value *out)
{
	uint64_t list, n;
	if (!take_word(a, optional ? "Q" : "L", &list) || !take_word(a, "i", &n) || n > MAX_LIST)
		return false;
	*out = (struct aten_value){.kind = ATEN_LIST, .n = (uint32_t)n, .item = arena_alloc(&a->arena, (n + 1) * sizeof(*out->item))};
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *p = (const uint64_t *)(uintptr_t)((const uint64_t *)(uintptr_t)list)[optional ? i : 0];
		out->item[i] = (struct aten_value){.kind = ATEN_NONE};
		if (optional ? p && !tensor_value(a, *p, &out->item[i])
			     : !tensor_value(a, ((const uint64_t *)(uintptr_t)list)[i], &out->item[i]))
			return false;
	}
	return true;
}

/* How a C function takes numbers of these schema types: 8 bytes, 4 bytes, double. */
static const struct number {
	const char *type;
	char width;
	enum aten_kind kind;
} numbers[] = {
    {"int", 8, ATEN_INT},        {"SymInt", 8, ATEN_INT},       {"bool", 4, ATEN_BOOL},     {"float", 'd', ATEN_FLOAT},
    {"Scalar", 'd', ATEN_FLOAT}, {"ScalarType", 4, ATEN_DTYPE}, {"Layout", 4, ATEN_LAYOUT}, {"MemoryFormat", 4, ATEN_FORMAT},
};

static const struct number *number_type_of(const struct op_param *p)
{
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (slice_is(p->type, numbers[i].type))
			return &numbers[i];
	return NULL;
}

static struct aten_value number_value(const struct number *k, const void *p)
{
	int32_t small;
	struct aten_value v = {.kind = k->kind};
	if (k->width == 4) {
		memcpy(&small, p, sizeof(small));
		v.i = small;
	} else {
		memcpy(&v.i, p, sizeof(v.i)); /* of a double, too */
	}
	return v;
}

static bool numbers_value(struct asking *a, const struct number *k, bool optional, struct aten_value *out)
{
	uint64_t at, n;
	if (!take_word(a, "p", &at) || !take_word(a, "i", &n))
		return false;
	const char *p = (const char *)(uintptr_t)at;
	*out = (struct aten_value){.kind = ATEN_NONE};
	if (optional && p)
		p = *(const char *const *)(const void *)p;
	else if (optional)
		return true;
	if (n > MAX_LIST || (n && !p))
		return false;
	*out = (struct aten_value){.kind = ATEN_LIST, .n = (uint32_t)n, .item = arena_alloc(&a->arena, (n + 1) * sizeof(*out->item))};
	for (uint64_t i = 0; i < n; i++)
		out->item[i] = number_value(k, p + i * (k->width == 4 ? 4 : 8));
	return true;
}

/* Devices (two words) and generators are skipped, since nothing depends on them; a string ends with a NUL. */
static bool other_value(struct asking *a, const struct op_param *p, struct aten_value *out)
{
	uint64_t bits, index;
	*out = (struct aten_value){.kind = ATEN_NONE};
	if (slice_is(p->type, "Device"))
		return !p->list && take_word(a, p->optional ? "p" : "i", &bits) && take_word(a, "i", &index);
	if (p->list || !take_word(a, "p", &bits))
		return false;
	if (slice_is(p->type, "str") && !p->optional && bits)
		*out = (struct aten_value){.kind = ATEN_STRING, .text = slice_str((const char *)(uintptr_t)bits)};
	return slice_is(p->type, "Generator") || (slice_is(p->type, "str") && (p->optional ? !bits : bits != 0));
}

static bool operand_value(struct asking *a, const struct op_param *p, struct aten_value *out)
{
	const struct number *k = number_type_of(p);
	const bool tensor = slice_is(p->type, "Tensor");
	uint64_t bits;
	*out = (struct aten_value){.kind = ATEN_NONE};
	if (tensor && p->list)
		return tensors_value(a, p->items_optional, out);
	if (tensor && p->optional)
		return take_word(a, "P", &bits) && (!bits || tensor_value(a, *(const uint64_t *)(uintptr_t)bits, out));
	if (tensor)
		return take_word(a, "TM", &bits) && tensor_value(a, bits, out);
	if (!k)
		return other_value(a, p, out);
	if (p->list)
		return numbers_value(a, k, p->optional, out);
	if (!take_word(a, p->optional ? "p" : k->width == 'd' ? "d" : "i", &bits))
		return false;
	if (!p->optional)
		*out = number_value(k, &bits);
	else if (bits)
		*out = number_value(k, (const void *)(uintptr_t)bits);
	return true;
}

/* ---- asking ---- */

/* NULL: it depends on values. */
static void take_result(const struct asking *a, const struct aten_tensor *t, struct ruled *r)
{
	if (!t) {
		*r = (struct ruled){.n_dim = -1};
		return;
	}
	*r = (struct ruled){.dtype = t->dtype, .n_dim = t->n_dim, .sure = a->sure, .strided = a->strided};
	memcpy(r->size, t->size, (size_t)t->n_dim * sizeof(*r->size));
	memcpy(r->stride, t->stride, (size_t)t->n_dim * sizeof(*r->stride));
}

static bool results_fit(const struct aten_op *op, const struct aten_value *v, size_t n)
{
	bool fit = op->n_results == n;
	for (size_t i = 0; i < n && fit; i++)
		fit = v[i].kind == ATEN_NONE || (v[i].kind == ATEN_TENSOR && v[i].tensor->n_dim <= TENSOR_MAX_DIMS);
	return fit;
}

static bool probe_op(struct asking *a, const struct aten_op *op, struct ruled *r, size_t n_results)
{
	static const struct aten_mode shapes = {.shapes = true};
	struct aten_value arg[MAX_PARAMETERS], v[ATEN_RESULTS];
	struct err ignored;
	if (op->parsed.n > MAX_PARAMETERS)
		return false;
	for (uint32_t i = 0; i < op->parsed.n; i++)
		if (!operand_value(a, &op->parsed.param[i], &arg[i]))
			return false;
	if (a->at < a->n && a->word[a->at].letter != 'R')
		return false;
	if (aten_call(op, &shapes, arg, op->parsed.n, NULL, 0, v, &ignored) < 0)
		return false;
	const bool fit = results_fit(op, v, n_results);
	for (uint32_t i = 0; i < op->n_results; i++) {
		if (fit)
			take_result(a, v[i].kind == ATEN_TENSOR ? v[i].tensor : NULL, &r[i]);
		aten_value_release(&v[i]);
	}
	return fit;
}

bool rule_ask(struct stub *s, const struct op_word *word, size_t n, struct ruled *r, size_t n_results)
{
	struct asking a = {.word = word, .n = n, .sure = true, .strided = true};
	const struct aten_op *op = n_results && n_results <= ATEN_RESULTS ? op_of(s) : NULL;
	const bool ok = op && probe_op(&a, op, r, n_results);
	while (a.n_made)
		aten_release(a.made[--a.n_made]);
	arena_release(&a.arena);
	return ok;
}
