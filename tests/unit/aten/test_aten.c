/* aten: calls by name, promotion as torch has it, shapes without values, views, errors. No torch; what was recorded from it is said. */
#include "aten/aten.h"

#include "../../lib/test.h"

#include <math.h>

#define SIZES(...) ((const int64_t[]){__VA_ARGS__})

static struct aten_tensor *made(int dtype, int n_dim, const int64_t *size, const int64_t *stride, void *data)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("made")
	{
		int64_t contiguous[ATEN_DIMS];
		aten_contiguous_strides(n_dim, size, contiguous);
		t = aten_keep(data ? aten_of_blob(data, dtype, n_dim, size, stride ? stride : contiguous, 0)
				   : aten_fake(dtype, n_dim, size, stride));
	}
	assert_false(ATEN_END);
	return t;
}

/* The first result, or NULL and the error's text. */
static struct err err;
static struct aten_tensor *call(const char *name, bool shapes, const struct aten_value *args, size_t n, const struct aten_named *named,
				size_t n_named)
{
	struct aten_op op;
	struct aten_mode mode = {.shapes = shapes};
	struct aten_value out[ATEN_RESULTS];
	if (aten_find(&op, slice_str(name), &err) < 0)
		return NULL;
	int failed = aten_call(&op, &mode, args, n, named, n_named, out, &err);
	uint32_t n_results = op.n_results;
	aten_op_release(&op);
	for (uint32_t i = 1; !failed && i < n_results; i++)
		aten_value_release(&out[i]);
	return failed ? NULL : out[0].tensor;
}

static void want(struct aten_tensor *t, int dtype, int n_dim, const int64_t *size, const int64_t *stride)
{
	assert_non_null(t);
	assert_int_equal(t->dtype, dtype);
	assert_int_equal(t->n_dim, n_dim);
	assert_memory_equal(t->size, size, (size_t)n_dim * sizeof(*size));
	assert_memory_equal(t->stride, stride, (size_t)n_dim * sizeof(*stride));
	aten_release(t);
}

/* torch takes only weights that oneDNN has packed: (12 - 10, 14 - 10) (3, 4) scaled by 0.5 and 0.25 is 2.75. */
static void test_int8_layers(void **state)
{
	uint8_t bytes[] = {12, 14};
	int8_t weight[] = {3, 4};
	float scale[] = {0.25f}, bias[] = {-3.25f}, other[] = {1};
	int64_t zero[] = {0};
	struct aten_tensor *x = made(DTYPE_U8, 2, SIZES(1, 2), NULL, bytes), *w = made(DTYPE_I8, 2, SIZES(2, 1), NULL, weight),
			   *image = made(DTYPE_U8, 4, SIZES(1, 2, 1, 1), NULL, bytes),
			   *kernel = made(DTYPE_I8, 4, SIZES(1, 2, 1, 1), NULL, weight), *s = made(DTYPE_F32, 1, SIZES(1), NULL, scale),
			   *z = made(DTYPE_I64, 1, SIZES(1), NULL, zero), *b = made(DTYPE_F32, 1, SIZES(1), NULL, bias),
			   *o = made(DTYPE_F32, 2, SIZES(1, 1), NULL, other), *y;
	struct aten_value none = {.kind = ATEN_NONE}, list = {.kind = ATEN_LIST}, one = aten_int(1), nil = aten_int(0);
	struct aten_value linear[] = {aten_of(x),   aten_float(0.5), aten_int(10),  aten_of(w),           aten_of(s),        aten_of(z),
				      aten_of(b),   aten_float(0.5), aten_int(100), aten_dtype(DTYPE_I8), aten_text("none"), list,
				      aten_text("")};
	struct aten_value with[] = {aten_of(x),
				    aten_float(0.5),
				    aten_int(10),
				    aten_of(w),
				    aten_of(s),
				    aten_of(z),
				    aten_of(o),
				    aten_of(b),
				    aten_float(1),
				    aten_int(0),
				    aten_dtype(DTYPE_F32),
				    aten_float(4),
				    aten_int(0),
				    aten_text("add"),
				    aten_float(1),
				    aten_text("relu"),
				    list,
				    aten_text("")};
	struct aten_value conv[] = {
	    aten_of(image), aten_float(0.5), aten_int(10),          aten_of(kernel),       aten_of(s), aten_of(z), none, one, nil, one, one,
	    aten_float(1),  aten_int(0),     aten_dtype(DTYPE_F32), aten_text("hardtanh"), list,       none};
	struct aten_value ends[] = {aten_float(-1), aten_float(2.5)};
	(void)state;
	for (int shapes = 0; shapes < 2; shapes++) {
		y = call("onednn.qlinear_pointwise.default", shapes, linear, ARRAY_LEN(linear), NULL, 0);
		assert_true(y && (shapes || *(int8_t *)aten_data(y) == 99)); /* -0.5 / 0.5 + 100 */
		want(y, DTYPE_I8, 2, SIZES(1, 1), SIZES(1, 1));
		y = call("onednn.qlinear_pointwise.binary", shapes, with, ARRAY_LEN(with), NULL, 0);
		assert_true(y && (shapes || *(float *)aten_data(y) == 3.5f)); /* -0.5 + 4 */
		want(y, DTYPE_F32, 2, SIZES(1, 1), SIZES(1, 1));
	}
	assert_null(call("onednn.qconv_pointwise", false, conv, ARRAY_LEN(conv), NULL, 0));
	assert_string_equal(err.text, "onednn::qconv_pointwise: fused 'hardtanh': got 0 of its 2 parameters");
	conv[15].item = ends;
	conv[15].n = 2;
	y = call("onednn.qconv_pointwise", false, conv, ARRAY_LEN(conv), NULL, 0);
	assert_true(y && *(float *)aten_data(y) == 2.5f);
	aten_release(y);
	for (size_t i = 0; i < 8; i++)
		aten_release((struct aten_tensor *[]){x, w, image, kernel, s, z, b, o}[i]);
}

/* Every pair of dtypes: add says what they become. */
static void test_promotion(void **state)
{
	static const int8_t pairs[][4] = {
#include "../../lib/aten_promote.h"
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		int kind = pairs[i][1];
		struct aten_tensor *a = made(pairs[i][0], 1, SIZES(1), NULL, NULL), *b = made(kind, pairs[i][3] > 0, SIZES(1), NULL, NULL);
		struct aten_value number = kind == DTYPE_BOOL  ? aten_bool(true)
					   : kind == DTYPE_I64 ? aten_int(1)
					   : kind == DTYPE_F64 ? aten_float(1)
							       : (struct aten_value){.kind = ATEN_COMPLEX, .z = 1};
		struct aten_value args[] = {aten_of(a), pairs[i][3] < 0 ? number : aten_of(b)};
		struct aten_tensor *out = call("aten.add.Tensor", true, args, 2, NULL, 0);
		assert_non_null(out);
		assert_int_equal(out->dtype, pairs[i][2]);
		aten_release(out);
		aten_release(a);
		aten_release(b);
	}
}

static void test_call(void **state)
{
	float x[] = {1, 2, 3, 4, 5, 6}, y[] = {10, 20, 30};
	struct aten_tensor *a = made(DTYPE_F32, 2, SIZES(2, 3), NULL, x), *b = made(DTYPE_F32, 1, SIZES(3), NULL, y);
	struct aten_value args[] = {aten_of(a), aten_of(b)};
	struct aten_named two[] = {{SLICE("alpha"), aten_int(2)}};
	(void)state;
	struct aten_tensor *out = call("torch.ops.aten.add.Tensor", false, args, 2, two, 1);
	assert_non_null(out);
	for (int i = 0; i < 6; i++)
		assert_true(((float *)aten_data(out))[i] == x[i] + 2 * y[i % 3]);
	aten_release(out);
	/* in place by way of the functional form: self's own memory */
	out = call("add_.Tensor", false, args, 2, NULL, 0);
	assert_non_null(out);
	assert_ptr_equal(out->storage, a->storage);
	assert_true(x[5] == 36);
	aten_release(out);
	/* a view shares it, too */
	struct aten_value turn[] = {aten_of(a), aten_int(0), aten_int(1)};
	out = call("aten.transpose.int", false, turn, 3, NULL, 0);
	assert_ptr_equal(out->storage, a->storage);
	want(out, DTYPE_F32, 2, SIZES(3, 2), SIZES(1, 3));
	aten_release(a);
	aten_release(b);
}

/* torch 2.13: hinge_embedding_loss(tensor([0.25, 0.25, 0.25]), target, reduction="none") is [0.25, 0.75, 1.0]: a target that is
 * neither 1 nor -1 takes both. */
static void test_hinge(void **state)
{
	float x[] = {0.25f, 0.25f, 0.25f}, t[] = {1, -1, 3};
	const float loss[] = {0.25f, 0.75f, 1};
	struct aten_tensor *a = made(DTYPE_F32, 1, SIZES(3), NULL, x), *b = made(DTYPE_F32, 1, SIZES(3), NULL, t);
	struct aten_value args[] = {aten_of(a), aten_of(b), aten_float(1), aten_int(0)};
	(void)state;
	struct aten_tensor *out = call("hinge_embedding_loss", false, args, 4, NULL, 0);
	assert_non_null(out);
	for (int i = 0; i < 3; i++)
		assert_true(((float *)aten_data(out))[i] == loss[i]);
	aten_release(out);
	aten_release(a);
	aten_release(b);
}

/* Recorded from torch 2.13: x = torch.empty(2, 3, 4).permute(2, 0, 1), (4, 2, 3) with strides (1, 12, 4). */
static void test_shapes(void **state)
{
	struct aten_tensor *x = made(DTYPE_BF16, 3, SIZES(4, 2, 3), SIZES(1, 12, 4), NULL);
	struct aten_value self[] = {aten_of(x), aten_int(1)}, dims[] = {aten_int(1)};
	struct aten_value over[] = {aten_of(x), {.kind = ATEN_LIST, .n = 1, .item = dims}};
	(void)state;
	want(call("relu", true, self, 1, NULL, 0), DTYPE_BF16, 3, SIZES(4, 2, 3), SIZES(1, 12, 4));
	want(call("isnan", true, self, 1, NULL, 0), DTYPE_BOOL, 3, SIZES(4, 2, 3), SIZES(1, 12, 4));
	want(call("sum.dim_IntList", true, over, 2, NULL, 0), DTYPE_BF16, 2, SIZES(4, 3), SIZES(3, 1));
	want(call("softmax.int", true, self, 2, NULL, 0), DTYPE_BF16, 3, SIZES(4, 2, 3), SIZES(6, 3, 1));
	want(call("unsqueeze", true, self, 2, NULL, 0), DTYPE_BF16, 4, SIZES(4, 1, 2, 3), SIZES(1, 24, 12, 4));
	want(call("max.dim", true, self, 2, NULL, 0), DTYPE_BF16, 2, SIZES(4, 3), SIZES(3, 1));
	aten_release(x);
}

static void test_refused(void **state)
{
	struct aten_tensor *x = made(DTYPE_F32, 1, SIZES(3), NULL, NULL), *y = made(DTYPE_I64, 1, SIZES(4), NULL, NULL);
	struct aten_value args[] = {aten_of(x), aten_of(y)}, back[] = {aten_of(y), aten_float(0.5)};
	struct aten_named other[] = {{SLICE("beta"), aten_int(2)}};
	(void)state;
	assert_null(call("aten.nothing.default", true, args, 1, NULL, 0));
	assert_string_equal(err.text, "unsupported operator aten.nothing.default");
	assert_null(call("add.Tensor", true, args, 2, NULL, 0));
	assert_string_equal(err.text, "add.Tensor: sizes 3 and 4 do not match at dimension 0");
	assert_null(call("add.Tensor", true, args, 1, NULL, 0));
	assert_string_equal(err.text, "add.Tensor: missing argument other");
	assert_null(call("add.Tensor", true, args, 2, other, 1));
	assert_string_equal(err.text, "add.Tensor: no parameter beta");
	assert_null(call("add_.Tensor", true, back, 2, NULL, 0));
	assert_string_equal(err.text, "add.Tensor: result type float32 can't be cast to the desired output type int64");
	assert_null(call("nonzero", true, args, 1, NULL, 0));
	assert_string_equal(err.text, "nonzero: its shape depends on values");
	aten_release(x);
	aten_release(y);
}

/* What no int64 holds is refused wherever it is computed, also beside a size of 0. */
static void test_large(void **state)
{
	struct aten_tensor *x = made(DTYPE_F32, 1, SIZES(4), NULL, NULL), *none = made(DTYPE_F32, 2, SIZES(0, 3), NULL, NULL);
	struct aten_value half[] = {aten_int(INT64_C(1) << 40), aten_int(INT64_C(1) << 40)}, three[] = {aten_int(0), half[0], half[1]};
	struct aten_value list = {.kind = ATEN_LIST, .n = 2, .item = half}, with_none = {.kind = ATEN_LIST, .n = 3, .item = three};
	struct aten_value times[] = {aten_of(none), list}, cut[] = {aten_of(x), aten_int(0), aten_int(0), aten_int(4), aten_int(INT64_MAX)};
	(void)state;
	assert_null(call("zeros", true, &list, 1, NULL, 0));
	assert_string_equal(err.text, "zeros: the tensor is too large for memory");
	assert_null(call("zeros", true, &with_none, 1, NULL, 0));
	assert_null(call("repeat", true, times, 2, NULL, 0));
	assert_string_equal(err.text, "repeat: the tensor is too large for memory");
	assert_null(call("slice.Tensor", true, cut, 5, NULL, 0));
	assert_string_equal(err.text, "slice.Tensor: the tensor is too large for memory");
	aten_release(x);
	aten_release(none);
}

/* Shapes of what has no memory take none, and no time for each batch or step. */
static void test_large_shapes(void **state)
{
	const int64_t n = INT64_C(1) << 34;
	struct aten_tensor *a = made(DTYPE_F32, 3, SIZES(n, 2, 3), NULL, NULL), *b = made(DTYPE_F32, 3, SIZES(n, 3, 4), NULL, NULL);
	struct aten_tensor *w = made(DTYPE_F32, 2, SIZES(12, 3), NULL, NULL), *u = made(DTYPE_F32, 2, SIZES(12, 4), NULL, NULL);
	struct aten_tensor *h = made(DTYPE_F32, 3, SIZES(1, 2, 4), NULL, NULL);
	struct aten_value args[] = {aten_of(a), aten_of(b)}, weight[] = {aten_of(w), aten_of(u)};
	struct aten_value gru[] = {aten_of(a),       aten_of(h),       {.kind = ATEN_LIST, .n = 2, .item = weight},
				   aten_bool(false), aten_int(1),      aten_float(0),
				   aten_bool(false), aten_bool(false), aten_bool(false)};
	(void)state;
	want(call("bmm", true, args, 2, NULL, 0), DTYPE_F32, 3, SIZES(n, 2, 4), SIZES(8, 4, 1));
	want(call("gru.input", true, gru, 9, NULL, 0), DTYPE_F32, 3, SIZES(n, 2, 4), SIZES(8, 4, 1));
	aten_release(a);
	aten_release(b);
	aten_release(w);
	aten_release(u);
	aten_release(h);
}

static void want_places(const char *name, struct aten_value *args, size_t n, const int64_t *places, size_t count)
{
	struct aten_op op;
	struct aten_value out[ATEN_RESULTS];
	assert_return_code(aten_find(&op, slice_str(name), &err), 0);
	assert_return_code(aten_call(&op, NULL, args, n, NULL, 0, out, &err), 0);
	assert_memory_equal(aten_data(out[1].tensor), places, count * sizeof(*places));
	aten_value_release(&out[0]);
	aten_value_release(&out[1]);
	aten_op_release(&op);
}

/* Recorded from torch 2.13: which of equal elements are taken, and where they stand. */
static void test_ties(void **state)
{
	float x[] = {1, 3, 3, 2, 3, 1, 2, 3}, many[200];
	for (int i = 0; i < 200; i++)
		many[i] = (float)(i % 4);
	struct aten_tensor *few = made(DTYPE_F32, 1, SIZES(8), NULL, x), *lots = made(DTYPE_F32, 1, SIZES(200), NULL, many);
	struct aten_value top[] = {aten_of(few), aten_int(3)}, heap[] = {aten_of(lots), aten_int(3)}, least[] = {aten_of(few), aten_int(6)};
	struct aten_value unordered[] = {aten_of(few), aten_int(5), aten_int(-1), aten_bool(false), aten_bool(false)};
	(void)state;
	want_places("topk", top, 2, SIZES(4, 7, 2), 3);
	want_places("topk", unordered, 5, SIZES(3, 5, 0, 6, 4), 5);
	want_places("topk", heap, 2, SIZES(11, 3, 7), 3);
	want_places("kthvalue", least, 2, SIZES(4), 1);
	want_places("mode", top, 1, SIZES(7), 1);
	aten_release(few);
	aten_release(lots);
}

static void want_floats(const char *name, const struct aten_value *args, size_t n_args, const float *values, int n)
{
	struct aten_tensor *out = call(name, false, args, n_args, NULL, 0);
	if (!out)
		fail_msg("%s", err.text);
	assert_int_equal(aten_numel(out), n);
	for (int i = 0; i < n; i++)
		assert_float_equal(((float *)aten_data(out))[i], values[i], 1e-6);
	aten_release(out);
}
#define WANT_FLOATS(name, args, ...) \
	want_floats(name, args, ARRAY_LEN(args), (const float[]){__VA_ARGS__}, (int)ARRAY_LEN(((const float[]){__VA_ARGS__})))

/* Operators that torch makes of others: what torch 2.13 gives. */
static void test_composites(void **state)
{
	float scores[] = {1, 2, 3, 1, 2, 3}, some[] = {4, 1, NAN, 3, 2}, sides[] = {3, 4}, ten[] = {10}, experts[] = {1, 10, 100};
	int64_t classes[] = {2, 0}, ignored[] = {2, -100}, last[] = {-1};
	int32_t ends[] = {1, 1, 3};
	struct aten_tensor *s = made(DTYPE_F32, 2, SIZES(2, 3), NULL, scores), *t = made(DTYPE_I64, 1, SIZES(2), NULL, classes),
			   *u = made(DTYPE_I64, 1, SIZES(2), NULL, ignored), *x = made(DTYPE_F32, 1, SIZES(5), NULL, some),
			   *v = made(DTYPE_F32, 2, SIZES(1, 2), NULL, sides), *g = made(DTYPE_F32, 2, SIZES(1, 1), NULL, ten),
			   *e = made(DTYPE_F32, 3, SIZES(3, 1, 1), NULL, experts), *of = made(DTYPE_I32, 1, SIZES(3), NULL, ends),
			   *rows = made(DTYPE_F32, 2, SIZES(3, 1), NULL, scores), *end = made(DTYPE_I64, 1, SIZES(1), NULL, last);
	struct aten_value none = {.kind = ATEN_NONE};
	(void)state;
	WANT_FLOATS("cross_entropy_loss", ((struct aten_value[]){aten_of(s), aten_of(t)}), 1.4076059F);
	WANT_FLOATS("cross_entropy_loss", ((struct aten_value[]){aten_of(s), aten_of(u), none, aten_int(2)}), 0.40760595F);
	WANT_FLOATS("aten.nanquantile.scalar", ((struct aten_value[]){aten_of(x), aten_float(0.3)}), 1.9F);
	WANT_FLOATS("take_along_dim", ((struct aten_value[]){aten_of(x), aten_of(end)}), 2);
	WANT_FLOATS("_weight_norm", ((struct aten_value[]){aten_of(v), aten_of(g)}), 6, 8);
	struct aten_value twice[] = {aten_int(2)}, times = {.kind = ATEN_LIST, .n = 1, .item = twice};
	WANT_FLOATS("tile", ((struct aten_value[]){aten_of(v), times}), 3, 4, 3, 4);
	/* The second expert has no rows. */
	WANT_FLOATS("torch.ops.transformers.grouped_mm_fallback.default", ((struct aten_value[]){aten_of(rows), aten_of(e), aten_of(of)}),
		    1, 200, 300);
	want(call("transformers::grouped_mm_fallback", true, (struct aten_value[]){aten_of(rows), aten_of(e), aten_of(of)}, 3, NULL, 0),
	     DTYPE_F32, 2, SIZES(3, 1), SIZES(1, 1));
	struct aten_tensor *const all[] = {s, t, u, x, v, g, e, of, rows, end};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		aten_release(all[i]);
}

/* Operands of no dims, where one of a dim is asked for; an output without elements, however large its other dims. */
static void test_no_dims(void **state)
{
	float number[] = {2}, scores[] = {1, 2, 3, 4};
	const int64_t huge = INT64_C(1) << 40;
	struct aten_tensor *s = made(DTYPE_F32, 0, NULL, NULL, number), *v = made(DTYPE_F32, 1, SIZES(2), NULL, scores),
			   *m = made(DTYPE_F32, 2, SIZES(2, 2), NULL, scores), *image = made(DTYPE_F32, 3, SIZES(1, 2, 2), NULL, scores),
			   *nothing = made(DTYPE_I64, 1, SIZES(0), NULL, NULL);
	struct aten_value first[] = {aten_int(0)}, large[] = {aten_int(huge), aten_int(0)};
	struct aten_value zero = {.kind = ATEN_LIST, .n = 1, .item = first}, size = {.kind = ATEN_LIST, .n = 2, .item = large};
	(void)state;
	assert_null(call("cross_entropy_loss", false, (struct aten_value[]){aten_of(m), aten_of(m), aten_of(s)}, 3, NULL, 0));
	assert_string_equal(err.text, "cross_entropy_loss: weight tensor should be defined either for all 2 classes or no classes");
	assert_null(call("tensordot", false, (struct aten_value[]){aten_of(v), aten_of(s), zero, zero}, 4, NULL, 0));
	assert_string_equal(err.text, "tensordot: both dimension lists should have same length");
	assert_null(call("index_select", false, (struct aten_value[]){aten_of(s), aten_int(0), aten_of(nothing)}, 3, NULL, 0));
	assert_string_equal(err.text, "index_select: index_select(): Index to scalar can have only 1 value, got 0 value(s)");
	struct aten_tensor *out = call("adaptive_avg_pool2d", false, (struct aten_value[]){aten_of(image), size}, 2, NULL, 0);
	want(out, DTYPE_F32, 3, SIZES(1, huge, 0), SIZES(huge, 1, 1));
	struct aten_tensor *const all[] = {s, v, m, image, nothing};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		aten_release(all[i]);
}

/* As a graph names it, as torch's dispatcher does. */
static void test_namespaces(void **state)
{
	float x[] = {-1, 0.26F, 3};
	struct aten_tensor *t = made(DTYPE_F32, 1, SIZES(3), NULL, x);
	struct aten_value args[] = {aten_of(t), aten_float(0.5), aten_int(1), aten_int(0), aten_int(5), aten_dtype(DTYPE_U8)};
	(void)state;
	struct aten_tensor *q = call("torch.ops.quantized_decomposed.quantize_per_tensor.default", false, args, 6, NULL, 0);
	assert_non_null(q);
	assert_memory_equal(aten_data(q), ((const uint8_t[]){0, 2, 5}), 3);
	aten_release(q);
	q = call("quantized_decomposed::quantize_per_tensor", true, args, 6, NULL, 0);
	want(q, DTYPE_U8, 1, SIZES(3), SIZES(1));
	aten_release(t);
}

/* Every overload has torch's schema. */
static void test_schemas(void **state)
{
	(void)state;
	for (size_t i = 0; aten_overload(i); i++) {
		struct aten_op op;
		if (aten_find(&op, slice_str(aten_overload(i)), &err) < 0)
			fail_msg("%s: %s (scripts/gen-aten-schemas)", aten_overload(i), err.text);
		aten_op_release(&op);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_int8_layers), cmocka_unit_test(test_promotion),    cmocka_unit_test(test_call),
	    cmocka_unit_test(test_hinge),       cmocka_unit_test(test_shapes),       cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_large),       cmocka_unit_test(test_large_shapes), cmocka_unit_test(test_ties),
	    cmocka_unit_test(test_namespaces),  cmocka_unit_test(test_composites),   cmocka_unit_test(test_no_dims),
	    cmocka_unit_test(test_schemas),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
