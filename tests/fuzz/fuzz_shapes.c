/* Any operator of libcommon/core/aten on any operands, asked for shapes without values: bounded, no look at memory that is not there, and
 * what it tells are sizes and strides of a known dtype. The first bytes choose the operator, the others its arguments. */
#include "aten/aten.h"
#include "base/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
	const uint8_t *p;
	size_t n;
	struct aten_tensor *made[32];
	size_t n_made;
	struct arena arena;
};

static unsigned next(struct bytes *b) { return b->n ? b->n--, *b->p++ : 0; }

static void require(bool ok)
{
	if (!ok)
		abort();
}

static struct aten_value tensor_of(struct bytes *b)
{
	static const int dtypes[] = {DTYPE_F32, DTYPE_F32, DTYPE_I64, DTYPE_BOOL, DTYPE_F64, DTYPE_BF16, DTYPE_C64, DTYPE_I32, DTYPE_U8};
	int64_t dim[6], step[6];
	const unsigned how = next(b), n = how % 5;
	for (unsigned i = 0; i < n; i++) {
		const unsigned v = next(b);
		dim[i] = v > 250 ? (int64_t)1 << (v - 220) : v % 9; /* sizes that the prober tries are large, too */
		step[i] = next(b) % 40;
	}
	struct aten_tensor *t = NULL;
	ATEN_TRY("fuzz") { t = aten_keep(aten_fake(dtypes[next(b) % ARRAY_LEN(dtypes)], (int)n, dim, how & 128 ? step : NULL)); }
	if (ATEN_END || b->n_made == ARRAY_LEN(b->made)) {
		aten_release(t);
		return (struct aten_value){.kind = ATEN_NONE};
	}
	b->made[b->n_made++] = t;
	return aten_of(t);
}

static struct aten_value value_of(struct bytes *b, const struct op_param *p)
{
	static const char *const words[] = {"mean",     "sum", "prod", "amax",     "reflect", "constant",
					    "circular", "fro", "nuc",  "complete", "L"};
	static const int dtypes[] = {DTYPE_F32, DTYPE_I64, DTYPE_C64, DTYPE_BOOL, DTYPE_F16, 99};
	const unsigned how = next(b);
	if (slice_is(p->type, "Tensor"))
		return tensor_of(b);
	if (slice_is(p->type, "str"))
		return (struct aten_value){.kind = ATEN_STRING, .text = slice_str(words[how % ARRAY_LEN(words)])};
	if (slice_is(p->type, "ScalarType"))
		return aten_dtype(dtypes[how % ARRAY_LEN(dtypes)]);
	if (slice_is(p->type, "float") || (slice_is(p->type, "Scalar") && how & 1))
		return aten_float((int)how / 4.0 - 20);
	if (slice_is(p->type, "bool"))
		return aten_bool(how & 1);
	if (slice_is(p->type, "MemoryFormat"))
		return (struct aten_value){.kind = ATEN_FORMAT, .i = how % 4};
	return aten_int(how > 250 ? INT64_C(1) << (how - 200) : (int64_t)(how % 12) - 3);
}

static struct aten_value argument_of(struct bytes *b, const struct op_param *p)
{
	const unsigned how = next(b);
	struct aten_value list = {.kind = ATEN_LIST, .n = how % 5};
	if (p->optional && how > 100)
		return (struct aten_value){.kind = ATEN_NONE};
	if (!p->list)
		return value_of(b, p);
	list.item = arena_alloc(&b->arena, 5 * sizeof(*list.item));
	for (uint32_t i = 0; i < list.n; i++)
		list.item[i] = value_of(b, p);
	return list;
}

static void look_at(const struct aten_value *v)
{
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		look_at(&v->item[i]);
	if (v->kind != ATEN_TENSOR)
		return;
	require(dtype_info(v->tensor->dtype) && v->tensor->n_dim >= 0 && v->tensor->n_dim <= ATEN_DIMS);
	for (int i = 0; i < v->tensor->n_dim; i++)
		require(v->tensor->size[i] >= 0 && v->tensor->stride[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct aten_mode shapes = {.shapes = true};
	struct bytes b = {.p = data, .n = size};
	struct aten_value arg[32], out[ATEN_RESULTS];
	struct aten_op op;
	static size_t n;
	struct err err;
	while (aten_overload(n))
		n++;
	const unsigned which = next(&b) << 8;
	if (aten_find(&op, slice_str(aten_overload((which | next(&b)) % n)), &err) < 0)
		return 0;
	require(op.parsed.n <= ARRAY_LEN(arg));
	for (uint32_t i = 0; i < op.parsed.n; i++)
		arg[i] = argument_of(&b, &op.parsed.param[i]);
	if (aten_call(&op, &shapes, arg, op.parsed.n, NULL, 0, out, &err) == 0)
		for (uint32_t i = 0; i < op.n_results; i++) {
			look_at(&out[i]);
			aten_value_release(&out[i]);
		}
	while (b.n_made)
		aten_release(b.made[--b.n_made]);
	arena_release(&b.arena);
	aten_op_release(&op);
	return 0;
}
