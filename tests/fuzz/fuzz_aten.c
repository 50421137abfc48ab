/* Operators of libcommon/core/aten with arguments of their schemas' types and odd values: sizes, strides, numbers, lists, dtypes.
 *
 * An operator refuses them or computes; shapes that it tells without values are those that it gives with them, and what it gives lies
 * within its memory. The bytes choose everything; where they end, zeros follow.
 */
#include "aten/aten.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* A size that no memory holds is refused, and no run takes all of a machine's. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=64"; }

enum { ARGS = 24, TENSORS = 48, DIMS = 5, ITEMS = 6 };

struct maker {
	const uint8_t *p, *end;
	bool shapes;
	struct aten_tensor *made[TENSORS];
	void *memory[TENSORS];
	int n;
	struct aten_value item[TENSORS * ITEMS];
	int n_items;
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

static unsigned byte_of(struct maker *m) { return m->p < m->end ? *m->p++ : 0; }
static unsigned choose(struct maker *m, unsigned n) { return byte_of(m) % n; }

static int dtype_of(struct maker *m)
{
	static const int common[] = {DTYPE_F32, DTYPE_I64, DTYPE_F64, DTYPE_BOOL, DTYPE_F16, DTYPE_C64, DTYPE_BF16, DTYPE_I32,
				     DTYPE_U8,  DTYPE_I8,  DTYPE_I16, DTYPE_C128, DTYPE_U64, DTYPE_U16, DTYPE_U32};
	unsigned b = byte_of(m);
	return common[b < 128 ? b % 3 : b % ARRAY_LEN(common)];
}

static int64_t int_of(struct maker *m)
{
	static const int64_t odd[] = {INT64_MIN,        INT64_MAX,        INT64_MAX - 1,       INT64_MIN + 1,
				      INT64_C(1) << 62, INT64_C(1) << 47, -(INT64_C(1) << 47), INT32_MIN};
	unsigned b = byte_of(m);
	return b >= 248 ? odd[b - 248] : b >= 128 ? (int64_t)(b % 12) - 4 : (int64_t)(b % 4);
}

static double float_of(struct maker *m)
{
	static const double odd[] = {0, 1, -1, 0.5, 2, 1e-5, (double)INFINITY, -(double)INFINITY, (double)NAN, 1e300, -1e300, 3.7, 1e-320};
	return odd[choose(m, ARRAY_LEN(odd))];
}

static int64_t extent_of(int n, const int64_t *size, const int64_t *stride)
{
	int64_t last = 0;
	for (int i = 0; i < n; i++) {
		if (!size[i])
			return 0;
		last += (size[i] - 1) * stride[i];
	}
	return last + 1;
}

/* Strides: contiguous, in another order, with gaps, broadcast. */
static void strides_of(struct maker *m, int n, const int64_t *size, int64_t *stride)
{
	unsigned how = choose(m, 6);
	int64_t step = how == 3 ? 2 : 1;
	for (int k = 0; k < n; k++) {
		int i = how == 1 ? k : how == 2 && n > 2 ? (k == 0 ? 1 : k == n - 1 ? 0 : n - k) : n - 1 - k;
		i = i < 0 ? 0 : i >= n ? n - 1 : i;
		stride[i] = step;
		step *= size[i] > 1 ? size[i] : 1;
	}
	if (how == 4 && n)
		stride[choose(m, (unsigned)n)] = 0;
}

static void fill(uint8_t *to, int dtype, int64_t n, unsigned seed)
{
	int bytes = dtype_info(dtype)->bytes;
	static const double values[] = {0, 1, 2, 0.5, -1, 3, 1e30, -0.25};
	for (int64_t i = 0; i < n; i++, to += bytes) {
		double v = values[(seed + (unsigned)i * 5) % (seed & 128 ? 8 : 3)];
		if (seed == 255) /* any bits */
			for (int k = 0; k < bytes; k++)
				to[k] = (uint8_t)(i * 37 + k * 101 + 13);
		else
			aten_convert(dtype, to, bytes, DTYPE_F64, &v, 8, 1);
		if (dtype == DTYPE_BOOL)
			*to &= 1;
	}
}

static struct aten_value tensor_of(struct maker *m)
{
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	const struct aten_tensor *last = m->n ? m->made[m->n - 1] : NULL;
	unsigned how = byte_of(m);
	int dtype = dtype_of(m), n = (int)(how % (DIMS + 1));
	if (m->n == TENSORS)
		return aten_of(m->made[0]);
	for (int i = 0; i < n; i++)
		size[i] = "\1\2\3\4\5\0\1\6\2\10"[choose(m, 10)];
	if (last && how >= 100) { /* like the one before it */
		n = last->n_dim;
		memcpy(size, last->size, sizeof(size));
		dtype = how >= 200 ? dtype : last->dtype;
	}
	strides_of(m, n, size, stride);
	unsigned seed = byte_of(m);
	struct aten_tensor *t = NULL;
	if (m->shapes) {
		t = aten_fake(dtype, n, size, stride);
	} else {
		int64_t elements = extent_of(n, size, stride);
		m->memory[m->n] = malloc((size_t)(elements * dtype_info(dtype)->bytes) + !elements);
		fill(m->memory[m->n], dtype, elements, seed);
		t = aten_of_blob(m->memory[m->n], dtype, n, size, stride, 0);
	}
	m->made[m->n++] = aten_keep(t);
	return aten_of(t);
}

static struct aten_value text_of(struct maker *m)
{
	static const char *const texts[] = {
	    "none",    "mean",     "sum",  "prod",      "amax",   "amin",  "constant", "reflect",   "replicate", "circular", "ortho",
	    "forward", "backward", "tanh", "trunc",     "floor",  "left",  "right",    "L",         "U",         "fro",      "nuc",
	    "reduced", "complete", "r",    "ij,jk->ik", "...i,i", "ii->i", "ab,ab->",  "i...->...", "gelsd",     "",         "x"};
	return aten_text(texts[choose(m, ARRAY_LEN(texts))]);
}

static struct aten_value scalar_of(struct maker *m)
{
	switch (choose(m, 4)) {
	case 0: return aten_int(int_of(m));
	case 1: return aten_float(float_of(m));
	case 2: return aten_bool(byte_of(m) & 1);
	default: return (struct aten_value){.kind = ATEN_COMPLEX, .z = CMPLX(float_of(m), float_of(m))};
	}
}

static struct aten_value one_of(struct maker *m, const struct op_param *p)
{
	if (slice_is(p->type, "Tensor"))
		return tensor_of(m);
	if (slice_is(p->type, "int") || slice_is(p->type, "SymInt"))
		return aten_int(int_of(m));
	if (slice_is(p->type, "float"))
		return aten_float(float_of(m));
	if (slice_is(p->type, "bool"))
		return aten_bool(byte_of(m) & 1);
	if (slice_is(p->type, "Scalar"))
		return scalar_of(m);
	if (slice_is(p->type, "str"))
		return text_of(m);
	if (slice_is(p->type, "ScalarType"))
		return aten_dtype(dtype_of(m));
	if (slice_is(p->type, "MemoryFormat"))
		return (struct aten_value){.kind = ATEN_FORMAT, .i = choose(m, 5)};
	return (struct aten_value){.kind = ATEN_NONE};
}

static struct aten_value argument_of(struct maker *m, const struct op_param *p)
{
	if (p->optional && byte_of(m) % 3 == 0)
		return (struct aten_value){.kind = ATEN_NONE};
	if (!p->list)
		return one_of(m, p);
	struct aten_value list = {.kind = ATEN_LIST, .n = choose(m, ITEMS), .item = m->item + m->n_items};
	m->n_items += ITEMS;
	for (uint32_t i = 0; i < list.n; i++)
		list.item[i] = p->items_optional && byte_of(m) % 3 == 0 ? (struct aten_value){.kind = ATEN_NONE} : one_of(m, p);
	return list;
}

/* What is given lies within its memory. */
static void look_at(const struct aten_value *v)
{
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		look_at(&v->item[i]);
	if (v->kind != ATEN_TENSOR || !v->tensor->storage)
		return;
	const struct aten_tensor *t = v->tensor;
	int64_t elements = extent_of(t->n_dim, t->size, t->stride), bytes = dtype_info(t->dtype)->bytes;
	require(t->n_dim >= 0 && t->n_dim <= ATEN_DIMS);
	require(!elements || (uint64_t)((t->offset + elements) * bytes) <= t->storage->bytes);
	unsigned sum = 0;
	for (int64_t i = 0; t->storage->data && i < elements * bytes; i++)
		sum += ((unsigned char *)aten_data(t))[i];
	(void)sum;
}

static const char *comparing; /* the operator */

static void same(bool yes)
{
	if (!yes)
		fprintf(stderr, "%s: the shape rule tells something else\n", comparing);
	require(yes);
}

static void compare(const struct aten_value *a, const struct aten_value *b)
{
	if (a->kind == ATEN_NONE) /* it stays open */
		return;
	same(a->kind == b->kind);
	if (a->kind == ATEN_LIST)
		same(a->n == b->n);
	for (uint32_t i = 0; a->kind == ATEN_LIST && i < a->n; i++)
		compare(&a->item[i], &b->item[i]);
	if (a->kind != ATEN_TENSOR || !a->tensor->storage || !b->tensor->storage)
		return;
	same(a->tensor->dtype == b->tensor->dtype && a->tensor->n_dim == b->tensor->n_dim);
	for (int i = 0; i < a->tensor->n_dim; i++)
		same(a->tensor->size[i] == b->tensor->size[i]);
}

/* ret: n_results; false: it refused */
static bool call(const struct aten_op *op, struct slice bytes, bool shapes, struct aten_value *ret)
{
	struct maker m = {.p = (const uint8_t *)bytes.p, .end = (const uint8_t *)bytes.p + bytes.n, .shapes = shapes};
	struct aten_mode mode = {.shapes = shapes};
	struct aten_value args[ARGS];
	struct err err;
	uint32_t n = 0, all = op->parsed.n < ARGS ? op->parsed.n : ARGS;
	ATEN_TRY("fuzz")
	{
		uint32_t skip = choose(&m, 4); /* so many of those at the end that have a default are left out */
		for (; n < all && (!op->parsed.param[n].has_default || n + skip < all); n++)
			args[n] = argument_of(&m, &op->parsed.param[n]);
	}
	bool done = !ATEN_END && aten_call(op, &mode, args, n, NULL, 0, ret, &err) == 0;
	for (uint32_t i = 0; done && i < op->n_results; i++)
		look_at(&ret[i]);
	/* Results may be views of what was given. */
	for (int i = 0; i < m.n; i++)
		aten_release(m.made[i]);
	for (uint32_t i = 0; done && !shapes && i < op->n_results; i++)
		if (ret[i].kind == ATEN_TENSOR && ret[i].tensor->storage && !ret[i].tensor->storage->owned)
			ret[i].tensor->storage->data = NULL;
	for (int i = 0; i < m.n; i++)
		free(m.memory[i]);
	return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static size_t n;
	struct aten_value told[ATEN_RESULTS] = {{0}}, given[ATEN_RESULTS] = {{0}};
	struct aten_op op;
	struct err err;
	while (aten_overload(n))
		n++;
	if (size < 2)
		return 0;
	require(aten_find(&op, slice_str(aten_overload((data[0] << 8 | data[1]) % n)), &err) == 0);
	struct slice bytes = slice_of((const char *)data + 2, size - 2);
	bool shapes = call(&op, bytes, true, told), values = call(&op, bytes, false, given);
	for (uint32_t i = 0; i < op.n_results; i++) {
		if (shapes && values) {
			comparing = aten_overload((data[0] << 8 | data[1]) % n);
			compare(&told[i], &given[i]);
		}
		if (shapes)
			aten_value_release(&told[i]);
		if (values)
			aten_value_release(&given[i]);
	}
	aten_op_release(&op);
	return 0;
}
