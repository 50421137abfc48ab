/* Operators by name: finding them, filling in their arguments, returning their results. */
#include "call.h"

#include "base/buf.h"
#include "elem.h"

#include <math.h>

static const char *const schemas[] = {
#include "schemas.h"
};

/* ---- the tables ---- */

/* Each in the file of its kind. */
/* clang-format off */
#define FAMILIES(X) \
	X(view) X(copy) X(unary) X(binary) X(pointwise) X(factory) X(reduce) X(norm) X(turn) X(product) X(recurrent) X(pool) \
	X(fft) X(spectral) X(resample) X(grid) X(random) X(einsum) X(patches) X(search) X(bag) X(linalg) X(index) X(scatter) \
	X(scan) X(sort) X(named) X(quantized) X(fakequant) X(derived) X(margin) X(vision) X(torchao) X(edge) X(onednn) X(prims) X(composite) \
	X(loss)
/* clang-format on */
#define DECLARE(name) extern const struct aten_entry aten_##name##_entries[];
FAMILIES(DECLARE)
#define FAMILY(name) aten_##name##_entries,
static const struct aten_entry *const families[] = {FAMILIES(FAMILY)};

static const struct aten_entry *entry_at(size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(families); k++)
		for (const struct aten_entry *e = families[k]; e->name; e++)
			if (!i--)
				return e;
	return NULL;
}

const char *aten_overload(size_t i)
{
	const struct aten_entry *e = entry_at(i);
	return e ? e->name : NULL;
}

static const struct aten_entry *entry_of(struct slice name)
{
	for (size_t k = 0; k < ARRAY_LEN(families); k++)
		for (const struct aten_entry *e = families[k]; e->name; e++)
			if (slice_is(name, e->name))
				return e;
	return NULL;
}

/* They are sorted. */
static const char *schema_of(const char *name)
{
	size_t low = 0, high = ARRAY_LEN(schemas), n = strlen(name);
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		struct slice have = slice_of(schemas[mid], strcspn(schemas[mid], "("));
		int order = slice_cmp(have, slice_of(name, n));
		if (!order)
			return schemas[mid];
		*(order < 0 ? &low : &high) = order < 0 ? mid + 1 : mid;
	}
	return NULL;
}

static struct slice bare_name(struct slice name)
{
	static const char *const before[] = {"torch.ops.aten.", "aten.", "aten::", "torch.ops."};
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (slice_starts(name, before[i])) {
			name = slice_of(name.p + strlen(before[i]), name.n - strlen(before[i]));
			break;
		}
	if (slice_ends(name, ".default"))
		name.n -= strlen(".default");
	return name;
}

/* "add_.Tensor" -> "add.Tensor"; false if it is not in place. */
static bool functional_name(struct slice name, char *to, size_t room)
{
	const char *dot = slice_chr(name, '.');
	size_t n = dot ? (size_t)(dot - name.p) : name.n;
	if (n < 2 || name.p[n - 1] != '_' || name.p[n - 2] == '_' || name.n >= room)
		return false;
	memcpy(to, name.p, n - 1);
	memcpy(to + n - 1, name.p + n, name.n - n);
	to[name.n - 1] = '\0';
	return true;
}

/* Of some, the functional form has another overload name. "pow.Scalar" exists, too: a number to the power of a tensor. */
static const char *renamed(const char *functional)
{
	static const char *const names[][2] = {
	    {"bernoulli.float", "bernoulli.p"},
	    {"float_power.Scalar", "float_power.Tensor_Scalar"},
	    {"float_power.Tensor", "float_power.Tensor_Tensor"},
	    {"floor_divide.Tensor", "floor_divide"},
	    {"ldexp", "ldexp.Tensor"},
	    {"pow.Scalar", "pow.Tensor_Scalar"},
	    {"pow.Tensor", "pow.Tensor_Tensor"},
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(functional, names[i][0]))
			return names[i][1];
	return functional;
}

/* A graph also calls operators from namespaces other than ATen's: "quantized_decomposed.quantize_per_tensor". */
static const struct aten_entry *entry_of_namespace(struct slice name)
{
	LOCAL_BUF qualified = {0};
	const char *dot = slice_chr(name, '.');
	if (!dot)
		return NULL;
	buf_addf(&qualified, "%.*s::%.*s", (int)(dot - name.p), name.p, SL(slice_of(dot + 1, name.n - (size_t)(dot + 1 - name.p))));
	return entry_of(buf_slice(&qualified));
}

int aten_find(struct aten_op *op, struct slice name, struct err *err)
{
	char functional[160];
	struct slice bare = bare_name(name);
	*op = (struct aten_op){0};
	op->entry = entry_of(bare);
	if (!op->entry)
		op->entry = entry_of_namespace(bare);
	if (!op->entry && functional_name(bare, functional, sizeof(functional))) {
		op->entry = entry_of(slice_str(renamed(functional)));
		op->in_place = true;
	}
	op->schema = op->entry ? schema_of(op->entry->name) : NULL;
	if (!op->schema)
		return err_set(err, EXIT_PARTIAL, "unsupported operator %.*s", SLN(name, 200));
	if (op_schema_read(&op->parsed, slice_str(op->schema), err) < 0)
		return -1;
	op->n_results = op->parsed.n_result;
	return 0;
}

const char *aten_op_name(const struct aten_op *op) { return op->entry->name; }

static bool has_entry(const struct aten_entry *family, const struct aten_entry *entry)
{
	for (; family->name; family++)
		if (family == entry)
			return true;
	return false;
}

bool aten_is_elementwise(const struct aten_op *op)
{
	static const char *const others[] = {"atan2.out", "glu", "prelu"}; /* a dim has a meaning, or something is written to */
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (!strcmp(op->entry->name, others[i]))
			return false;
	return has_entry(aten_unary_entries, op->entry) || has_entry(aten_binary_entries, op->entry) ||
	       has_entry(aten_pointwise_entries, op->entry);
}

void aten_op_release(struct aten_op *op) { op_schema_release(&op->parsed); }

/* ---- arguments ---- */

static _Noreturn void refuse_argument(const struct aten_call *c, uint32_t i, const char *wanted)
{
	(void)c;
	aten_fail("argument %u is not %s", i + 1, wanted);
}

static const struct aten_value *argument(const struct aten_call *c, uint32_t i)
{
	if (i >= c->n)
		aten_fail("missing argument %u of %u", i + 1, c->n);
	return &c->arg[i];
}

bool call_is_none(const struct aten_call *c, uint32_t i) { return argument(c, i)->kind == ATEN_NONE; }

struct aten_tensor *call_tensor_or_none(const struct aten_call *c, uint32_t i)
{
	const struct aten_value *v = argument(c, i);
	if (v->kind == ATEN_NONE)
		return NULL;
	if (v->kind != ATEN_TENSOR || !v->tensor->storage)
		refuse_argument(c, i, "a tensor");
	return v->tensor;
}

struct aten_tensor *call_tensor(const struct aten_call *c, uint32_t i)
{
	struct aten_tensor *t = call_tensor_or_none(c, i);
	if (!t)
		refuse_argument(c, i, "a tensor");
	return t;
}

/* c10/core/ScalarType.h and TypeProperties.cpp: a Python number has the lowest priority, and counts as the default dtype if it is a
 * float. */
struct aten_tensor *call_operand(const struct aten_call *c, uint32_t i)
{
	const struct aten_value *v = argument(c, i);
	int dtype = v->kind == ATEN_BOOL      ? DTYPE_BOOL
		    : v->kind == ATEN_INT     ? DTYPE_I64
		    : v->kind == ATEN_FLOAT   ? DTYPE_F64
		    : v->kind == ATEN_COMPLEX ? DTYPE_C128
					      : DTYPE_NONE;
	if (dtype == DTYPE_NONE)
		return call_tensor(c, i);
	struct aten_tensor *t = aten_new_anyway(dtype, 0, NULL);
	t->wrapped = true;
	if (dtype == DTYPE_C128)
		elem_set_c128(dtype, aten_data(t), v->z);
	else if (dtype == DTYPE_F64)
		elem_set_f64(dtype, aten_data(t), v->f);
	else
		elem_set_i64(dtype, aten_data(t), v->i);
	return t;
}

int64_t call_int(const struct aten_call *c, uint32_t i)
{
	const struct aten_value *v = argument(c, i);
	if (v->kind != ATEN_INT && v->kind != ATEN_BOOL)
		refuse_argument(c, i, "an integer");
	return v->i;
}

int64_t call_int_or(const struct aten_call *c, uint32_t i, int64_t otherwise) { return call_is_none(c, i) ? otherwise : call_int(c, i); }

double call_float(const struct aten_call *c, uint32_t i)
{
	const struct aten_value *v = argument(c, i);
	return v->kind == ATEN_FLOAT ? v->f : (double)call_int(c, i);
}

double call_float_or(const struct aten_call *c, uint32_t i, double otherwise) { return call_is_none(c, i) ? otherwise : call_float(c, i); }

bool call_bool(const struct aten_call *c, uint32_t i) { return call_int(c, i) != 0; }

int call_dtype_or(const struct aten_call *c, uint32_t i, int otherwise)
{
	const struct aten_value *v = argument(c, i);
	if (v->kind == ATEN_NONE)
		return otherwise;
	if ((v->kind != ATEN_DTYPE && v->kind != ATEN_INT) || !dtype_info((int)v->i))
		refuse_argument(c, i, "a known dtype");
	return (int)v->i;
}

const char *call_string_or(const struct aten_call *c, uint32_t i, const char *otherwise)
{
	const struct aten_value *v = argument(c, i);
	if (v->kind == ATEN_NONE)
		return otherwise;
	if (v->kind != ATEN_STRING)
		refuse_argument(c, i, "a string");
	char *text = aten_scratch(v->text.n + 1, 1);
	memcpy(text, v->text.p, v->text.n);
	text[v->text.n] = '\0';
	return text;
}

struct ints call_ints(const struct aten_call *c, uint32_t i)
{
	const struct aten_value *v = argument(c, i), *item = v->kind == ATEN_LIST ? v->item : v;
	const int64_t n = v->kind == ATEN_LIST ? v->n : 1;
	if (v->kind == ATEN_NONE)
		return (struct ints){0};
	int64_t *list = aten_scratch((uint64_t)n, sizeof(*list));
	for (int64_t k = 0; k < n; k++) {
		if (item[k].kind != ATEN_INT && item[k].kind != ATEN_BOOL)
			refuse_argument(c, i, "a list of integers");
		list[k] = item[k].i;
	}
	return (struct ints){list, n};
}

struct doubles call_floats(const struct aten_call *c, uint32_t i)
{
	const struct aten_value *v = argument(c, i);
	const int64_t n = v->kind == ATEN_LIST ? v->n : 0;
	if (v->kind == ATEN_NONE)
		return (struct doubles){0};
	double *list = aten_scratch((uint64_t)n, sizeof(*list));
	for (int64_t k = 0; k < n; k++) {
		if (v->item[k].kind != ATEN_FLOAT && v->item[k].kind != ATEN_INT)
			refuse_argument(c, i, "a list of numbers");
		list[k] = v->item[k].kind == ATEN_FLOAT ? v->item[k].f : (double)v->item[k].i;
	}
	return (struct doubles){list, n};
}

static struct tensors tensors(const struct aten_call *c, uint32_t i, bool none)
{
	const struct aten_value *v = argument(c, i);
	if (v->kind != ATEN_LIST)
		refuse_argument(c, i, "a list of tensors");
	struct tensors list = {aten_scratch(v->n, sizeof(*list.v)), v->n};
	for (uint32_t k = 0; k < v->n; k++) {
		if (v->item[k].kind != ATEN_TENSOR && !(none && v->item[k].kind == ATEN_NONE))
			refuse_argument(c, i, "a list of tensors");
		list.v[k] = v->item[k].kind == ATEN_TENSOR ? v->item[k].tensor : NULL;
	}
	return list;
}

struct tensors call_tensors(const struct aten_call *c, uint32_t i) { return tensors(c, i, false); }
struct tensors call_tensors_or_none(const struct aten_call *c, uint32_t i) { return tensors(c, i, true); }

/* ---- defaults, as written in a schema ---- */

static struct aten_value value_of_text(struct slice text);

static struct aten_value list_of_text(struct slice text)
{
	struct aten_value list = {.kind = ATEN_LIST};
	list.item = aten_scratch(text.n + 1, sizeof(*list.item));
	text = slice_trim(text);
	while (text.n) {
		const char *comma = slice_chr(text, ',');
		size_t n = comma ? (size_t)(comma - text.p) : text.n;
		list.item[list.n++] = value_of_text(slice_trim(slice_of(text.p, n)));
		text = slice_trim(slice_of(text.p + n + (comma != NULL), text.n - n - (comma != NULL)));
	}
	return list;
}

static struct aten_value value_of_text(struct slice text)
{
	char number[64], *end;
	if (!text.n || slice_is(text, "None"))
		return (struct aten_value){.kind = ATEN_NONE};
	if (slice_is(text, "True") || slice_is(text, "False"))
		return aten_bool(slice_is(text, "True"));
	if (text.p[0] == '[')
		return list_of_text(slice_of(text.p + 1, text.n - 2));
	if (text.p[0] == '"' || text.p[0] == '\'')
		return (struct aten_value){.kind = ATEN_STRING, .text = slice_of(text.p + 1, text.n - 2)};
	if (slice_is(text, "contiguous_format"))
		return aten_int(0);
	snprintf(number, sizeof(number), "%.*s", SLN(text, sizeof(number) - 1));
	long long i = strtoll(number, &end, 10);
	if (!*end)
		return aten_int(i);
	double f = strtod(number, &end);
	if (*end)
		aten_fail("invalid default '%s'", number);
	return aten_float(f);
}

static struct aten_value as_parameter(const struct op_param *p, struct aten_value v)
{
	if (slice_is(p->type, "float") && !p->list && v.kind == ATEN_INT)
		return aten_float((double)v.i);
	return v;
}

/* Arguments for all parameters, in order. */
static struct aten_value *filled(const struct aten_op *op, const struct aten_value *args, size_t n, const struct aten_named *named,
				 size_t n_named)
{
	const struct op_schema *s = &op->parsed;
	struct aten_value *all = aten_scratch(s->n, sizeof(*all));
	size_t used = 0;
	if (n > s->n)
		aten_fail("%zu arguments given, but the operator has %u parameters", n, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct op_param *p = &s->param[i];
		const struct aten_named *by_name = NULL;
		for (size_t k = 0; k < n_named && !by_name; k++)
			by_name = slice_eq(named[k].name, p->name) ? &named[k] : NULL;
		used += by_name != NULL;
		if (by_name && i < n)
			aten_fail("duplicate argument %.*s", SL(p->name));
		if (i >= n && !by_name && !p->has_default)
			aten_fail("missing argument %.*s", SL(p->name));
		all[i] = as_parameter(p, i < n ? args[i] : by_name ? by_name->value : value_of_text(p->value));
	}
	for (size_t k = 0; used < n_named && k < n_named; k++) {
		bool known = false;
		for (uint32_t i = 0; i < s->n; i++)
			known = known || slice_eq(named[k].name, s->param[i].name);
		if (!known)
			aten_fail("no parameter %.*s", SLN(named[k].name, 60));
	}
	return all;
}

static struct aten_value list_of(int64_t n)
{
	struct aten_value list = {.kind = ATEN_LIST, .n = (uint32_t)n};
	list.item = aten_scratch((uint64_t)n, sizeof(*list.item));
	return list;
}

struct aten_value aten_ints(const int64_t *v, int64_t n)
{
	struct aten_value list = list_of(n);
	for (int64_t i = 0; i < n; i++)
		list.item[i] = aten_int(v[i]);
	return list;
}

/* ---- results ---- */

void call_give_int(const struct aten_call *c, uint32_t k, int64_t i) { c->ret[k] = aten_int(i); }

void call_give(const struct aten_call *c, uint32_t k, struct aten_tensor *t) { c->ret[k] = aten_of(t); }

void call_give_two(const struct aten_call *c, struct two two)
{
	call_give(c, 0, two.first);
	call_give(c, 1, two.second);
}

void call_give_list(const struct aten_call *c, uint32_t k, struct tensors t)
{
	struct aten_value list = list_of(t.n);
	for (int64_t i = 0; i < t.n; i++)
		list.item[i] = aten_of(t.v[i]);
	c->ret[k] = list;
}

void call_give_all(const struct aten_call *c, const struct aten_value *ret, uint32_t n) { memcpy(c->ret, ret, n * sizeof(*ret)); }

void aten_value_release(struct aten_value *v)
{
	if (v->kind == ATEN_TENSOR)
		aten_release(v->tensor);
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		aten_value_release(&v->item[i]);
	if (v->kind == ATEN_LIST)
		free(v->item);
	*v = (struct aten_value){.kind = ATEN_NONE};
}

/* Moves results from the frame to the caller. */
static struct aten_value given_away(struct aten_value v)
{
	if (v.kind == ATEN_TENSOR)
		v.tensor = aten_keep(v.tensor);
	if (v.kind == ATEN_LIST) {
		struct aten_value *item = xcalloc(v.n, sizeof(*item));
		for (uint32_t i = 0; i < v.n; i++)
			item[i] = given_away(v.item[i]);
		v.item = item;
	}
	return v;
}

/* ---- calling ---- */

/* c10/core/ScalarType.h, canCast: what an in-place operator may write into self. */
static bool can_cast(int from, int to)
{
	if (aten_is_complex(from) && !aten_is_complex(to))
		return false;
	if (aten_is_float(from) && elem_integral(to))
		return false;
	return from == DTYPE_BOOL || to != DTYPE_BOOL;
}

static void into_self(struct aten_tensor *self, struct aten_value *ret)
{
	const struct aten_tensor *made = ret->kind == ATEN_TENSOR ? ret->tensor : NULL;
	if (made && made->storage == self->storage && made->dtype == self->dtype) { /* squeeze_: self becomes this view of itself */
		struct aten_tensor view = *made;
		self->n_dim = view.n_dim;
		self->offset = view.offset;
		memcpy(self->size, view.size, sizeof(self->size));
		memcpy(self->stride, view.stride, sizeof(self->stride));
		*ret = aten_of(self);
		return;
	}
	if (!made || !aten_same_sizes(made, self))
		aten_fail("the result does not have the sizes of self, into which it should be written");
	if (!can_cast(made->dtype, self->dtype))
		aten_fail("result type %s can't be cast to the desired output type %s", dtype_name(made->dtype), dtype_name(self->dtype));
	aten_copy(self, made);
	*ret = aten_of(self);
}

void aten_run(const struct aten_op *op, const struct aten_value *args, size_t n, const struct aten_named *named, size_t n_named,
	      struct aten_value *ret)
{
	struct aten_call c = {.entry = op->entry, .schema = &op->parsed, .n = op->parsed.n, .ret = ret};
	c.arg = filled(op, args, n, named, n_named);
	op->entry->run(&c);
	if (op->in_place)
		into_self(call_tensor(&c, 0), &ret[0]);
}

/* The frame takes over the schema's parameters: the operator may fail. */
static void found_in_frame(struct aten_op *op, const char *overload)
{
	struct err err;
	if (aten_find(op, slice_str(overload), &err) < 0)
		aten_fail("%s", err.text);
	struct op_schema parsed = op->parsed;
	parsed.param = memcpy(aten_scratch(parsed.n, sizeof(*parsed.param)), parsed.param, parsed.n * sizeof(*parsed.param));
	parsed.result = NULL;
	aten_op_release(op);
	op->parsed = parsed;
}

const struct aten_value *aten_apply(const char *overload, const struct aten_value *args, size_t n)
{
	struct aten_value *ret = aten_scratch(ATEN_RESULTS, sizeof(*ret));
	struct aten_op op;
	found_in_frame(&op, overload);
	aten_run(&op, args, n, NULL, 0, ret);
	return ret;
}

int aten_call(const struct aten_op *op, const struct aten_mode *mode, const struct aten_value *args, size_t n,
	      const struct aten_named *named, size_t n_named, struct aten_value *results, struct err *err)
{
	struct aten_value ret[ATEN_RESULTS] = {{0}};
	ATEN_TRY(op->entry->name)
	{
		aten_frame_.mode = mode ? *mode : aten_frame_.mode;
		aten_run(op, args, n, named, n_named, ret);
		for (uint32_t i = 0; i < op->n_results; i++)
			results[i] = given_away(ret[i]);
	}
	if (ATEN_END)
		return err_set(err, EXIT_INPUT, "%s", aten_last_error());
	return 0;
}
