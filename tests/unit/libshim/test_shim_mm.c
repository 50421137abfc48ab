/* Matrix products, convolutions, attention, packed weights and LSTM of libpt2shim.so: small results that are known, and torch's
 * strides. Twice: with OpenBLAS where it is installed, and in a child without it. tests/live/cases_mm.py and others have them
 * against torch. */
#include "../../lib/shimtensor.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
#define OPS(X)                                                                                                         \
	X(aoti_torch_cpu_mm_out, (handle, handle, handle))                                                             \
	X(aoti_torch_cpu_addmm_out, (handle, handle, handle, handle, double, double))                                  \
	X(aoti_torch_cpu_bmm_out, (handle, handle, handle))                                                            \
	X(aoti_torch_cpu_convolution, (handle, handle, handle *, const int64_t *, int64_t, const int64_t *, int64_t, const int64_t *, int64_t, \
		int32_t, const int64_t *, int64_t, int64_t, handle *))                                                 \
	X(aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu, (handle, handle, handle, double, int32_t, handle *, double *, handle *, \
		handle *))                                                                                             \
	X(aoti_torch_cpu__qlinear_pointwise_tensor, (handle, handle, handle, handle, handle, handle, handle *, double, int64_t, const int32_t *, \
		const char *, const double **, int64_t, const char *, handle *))                                       \
	X(aoti_torch_cpu__grouped_mm, (handle, handle, handle *, handle *, int32_t *, handle *))                       \
	X(aoti_torch_cpu__linear_pointwise, (handle, handle, handle *, const char *, const double **, int64_t, const char **, handle *)) \
	X(aoti_torch_cpu_mkldnn_rnn_layer, (handle, handle, handle, handle, handle, handle, handle, int32_t, const int64_t *, int64_t, int64_t, \
		int64_t, int64_t, int32_t, int32_t, int32_t, int32_t, handle *, handle *, handle *, handle *))
/* clang-format on */

OPS(SHIM_POINTER)

static int load(void **state)
{
	void *lib = shim_tensor_open();

	(void)state;
#define OP_LOAD(name, params) shim_take(lib, #name, &name);
	OPS(OP_LOAD)
	return 0;
}

static float *floats(handle h)
{
	void *p;
	assert_int_equal(aoti_torch_get_data_ptr(h, &p), 0);
	return p;
}

static void want_floats(const float *got, const float *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(fabsf(got[i] - want[i]) <= 1e-5f * (1 + fabsf(want[i]))))
			fail_msg("element %zu is %g instead of %g", i, (double)got[i], (double)want[i]);
}
#define WANT(got, ...) \
	do { \
		const float want_[] = {__VA_ARGS__}; \
		want_floats(got, want_, sizeof(want_) / sizeof(want_[0])); \
	} while (0)

/* ---- products ---- */

static void test_mm(void **state)
{
	float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 2, 1, 0, 3}, c[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
	handle x = tensor(DTYPE_F32, a, 2, INTS(2, 3)), y = tensor(DTYPE_F32, b, 2, INTS(3, 2));
	/* the same numbers read as their transposes */
	handle xt = strided(DTYPE_F32, a, 2, INTS(3, 2), INTS(1, 3)), yt = strided(DTYPE_F32, b, 2, INTS(2, 3), INTS(1, 2));
	handle out = tensor(DTYPE_F32, c, 2, INTS(2, 2)), by_columns = strided(DTYPE_F32, c, 2, INTS(2, 2), INTS(1, 3));

	(void)state;
	assert_int_equal(aoti_torch_cpu_mm_out(out, x, y), 0);
	WANT(c, 5, 11, 14, 23);
	assert_int_equal(aoti_torch_cpu_mm_out(out, yt, xt), 0);
	WANT(c, 5, 14, 11, 23);
	c[2] = 77; /* between its columns */
	assert_int_equal(aoti_torch_cpu_mm_out(by_columns, x, y), 0);
	WANT(c, 5, 14, 77, 11, 23);
	assert_int_equal(aoti_torch_cpu_mm_out(out, x, x), 1);
	assert_non_null(strstr(shim_last_error(), "shapes cannot be multiplied (2x3 and 2x3"));
	drop(x), drop(y), drop(xt), drop(yt), drop(out), drop(by_columns);
}

static void test_mm_integers(void **state)
{
	int8_t a[] = {100, 100}, b[] = {1, 2}, c[] = {0};
	int64_t d[] = {INT64_MAX, 2}, e[] = {2, 3}, f[] = {0};
	handle x = tensor(DTYPE_I8, a, 2, INTS(1, 2)), y = tensor(DTYPE_I8, b, 2, INTS(2, 1)), z = tensor(DTYPE_I8, c, 2, INTS(1, 1));
	handle u = tensor(DTYPE_I64, d, 2, INTS(1, 2)), v = tensor(DTYPE_I64, e, 2, INTS(2, 1)), w = tensor(DTYPE_I64, f, 2, INTS(1, 1));

	(void)state;
	assert_int_equal(aoti_torch_cpu_mm_out(z, x, y), 0);
	assert_int_equal(c[0], 300 - 256);
	assert_int_equal(aoti_torch_cpu_mm_out(w, u, v), 0);
	assert_int_equal(f[0], 4);
	drop(x), drop(y), drop(z), drop(u), drop(v), drop(w);
}

/* 16 bits are rounded once: 256 + 1 + ... is not stuck at 256, where bfloat16 has steps of 2. */
static void test_mm_bfloat16(void **state)
{
	uint16_t a[9], b[9], c[1];
	handle x = tensor(DTYPE_BF16, a, 2, INTS(1, 9)), y = tensor(DTYPE_BF16, b, 2, INTS(9, 1)), z = tensor(DTYPE_BF16, c, 2, INTS(1, 1));

	(void)state;
	for (int i = 0; i < 9; i++) {
		a[i] = 0x3f80; /* 1 */
		b[i] = 0x3f80;
	}
	a[0] = 0x4380; /* 256 */
	assert_int_equal(aoti_torch_cpu_mm_out(z, x, y), 0);
	assert_int_equal(c[0], 0x4384); /* 264 */
	drop(x), drop(y), drop(z);
}

static void test_addmm(void **state)
{
	float a[] = {1, 2}, b[] = {3, 4, 5, 6}, c[2], bias[] = {10, 20}, nan[] = {NAN}, one[] = {7};
	handle x = tensor(DTYPE_F32, a, 2, INTS(1, 2)), y = tensor(DTYPE_F32, b, 2, INTS(2, 2)), out = tensor(DTYPE_F32, c, 2, INTS(1, 2));
	handle row = tensor(DTYPE_F32, bias, 1, INTS(2)), none = tensor(DTYPE_F32, nan, 0, NULL);
	handle spread = strided(DTYPE_F32, one, 2, INTS(1, 2), INTS(0, 0));

	(void)state;
	assert_int_equal(aoti_torch_cpu_addmm_out(out, row, x, y, 1, 1), 0);
	WANT(c, 23, 36);
	assert_int_equal(aoti_torch_cpu_addmm_out(out, row, x, y, 0.5, 2), 0);
	WANT(c, 31, 42);
	assert_int_equal(aoti_torch_cpu_addmm_out(out, spread, x, y, 1, 1), 0);
	WANT(c, 20, 23);
	assert_int_equal(aoti_torch_cpu_addmm_out(out, none, x, y, 0, 1), 0); /* beta 0: whatever it holds */
	WANT(c, 13, 16);
	drop(x), drop(y), drop(out), drop(row), drop(none), drop(spread);
}

static void test_bmm(void **state)
{
	float a[] = {1, 2, 3, 4}, b[] = {1, 10, 100, 1000}, c[2];
	handle x = tensor(DTYPE_F32, a, 3, INTS(2, 1, 2)), y = tensor(DTYPE_F32, b, 3, INTS(2, 2, 1)),
	       out = tensor(DTYPE_F32, c, 3, INTS(2, 1, 1));

	(void)state;
	assert_int_equal(aoti_torch_cpu_bmm_out(out, x, y), 0);
	WANT(c, 21, 4300);
	drop(x), drop(y), drop(out);
}

/* Larger than any block, against sums in double. */
static void test_mm_large(void **state)
{
	enum { M = 131, K = 300, N = 67 };
	float *a = xcalloc(M * K, sizeof(*a)), *b = xcalloc(K * N, sizeof(*b)), *c = xcalloc(M * N, sizeof(*c));
	handle x = tensor(DTYPE_F32, a, 2, INTS(M, K)), y = strided(DTYPE_F32, b, 2, INTS(K, N), INTS(1, K));
	handle out = tensor(DTYPE_F32, c, 2, INTS(M, N));

	(void)state;
	for (int i = 0; i < M * K; i++)
		a[i] = (float)(i * 7919 % 201 - 100) / 64;
	for (int i = 0; i < K * N; i++)
		b[i] = (float)(i * 104729 % 97 - 48) / 32;
	assert_int_equal(aoti_torch_cpu_mm_out(out, x, y), 0);
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;
			for (int k = 0; k < K; k++)
				sum += (double)a[i * K + k] * (double)b[j * K + k];
			if (!(fabs((double)c[i * N + j] - sum) < 1e-3))
				fail_msg("%d, %d is %g instead of %g", i, j, (double)c[i * N + j], sum);
		}
	drop(x), drop(y), drop(out);
	free(a), free(b), free(c);
}

/* ---- convolutions ---- */

static handle conv(handle x, handle w, handle *bias, int dims, const int64_t *stride, const int64_t *pad, int transposed, int64_t groups)
{
	handle out = NULL;
	const int64_t *one = INTS(1, 1, 1), *none = INTS(0, 0, 0);
	if (aoti_torch_cpu_convolution(x, w, bias, stride, dims, pad, dims, one, dims, transposed, none, dims, groups, &out))
		fail_msg("%s", shim_last_error());
	return out;
}

static void test_conv(void **state)
{
	float in[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, weight[] = {1, 0, 0, -1}, add[] = {0.5};
	handle x = tensor(DTYPE_F32, in, 4, INTS(1, 1, 3, 3)), w = tensor(DTYPE_F32, weight, 4, INTS(1, 1, 2, 2)),
	       b = tensor(DTYPE_F32, add, 1, INTS(1));

	(void)state;
	handle y = conv(x, w, &b, 2, INTS(1, 1), INTS(0, 0), 0, 1);
	want_layout(y, 4, INTS(1, 1, 2, 2), INTS(4, 4, 2, 1));
	WANT(floats(y), -3.5, -3.5, -3.5, -3.5);
	drop(y);
	y = conv(x, w, NULL, 2, INTS(2, 2), INTS(1, 1), 0, 1);
	want_layout(y, 4, INTS(1, 1, 2, 2), INTS(4, 4, 2, 1));
	WANT(floats(y), -1, -3, -7, -4);
	drop(y);
	y = conv(x, w, NULL, 2, INTS(2, 2), INTS(0, 0), 1, 1); /* transposed: every element spreads its kernel */
	want_layout(y, 4, INTS(1, 1, 6, 6), INTS(36, 36, 6, 1));
	WANT(floats(y), 1, 0, 2, 0, 3, 0, 0, -1, 0, -2, 0, -3, 4);
	drop(y), drop(x), drop(w), drop(b);
}

/* The output is channels_last when the input or the weight is. */
static void test_conv_layout(void **state)
{
	float in[16], weight[] = {1, 1, 1, -1}, back[16];
	handle x = tensor(DTYPE_F32, in, 4, INTS(1, 2, 2, 4)), w = tensor(DTYPE_F32, weight, 4, INTS(2, 2, 1, 1));
	handle last = strided(DTYPE_F32, back, 4, INTS(1, 2, 2, 4), INTS(16, 1, 8, 2));

	(void)state;
	for (int i = 0; i < 16; i++) {
		in[i] = (float)i;
		back[i % 8 * 2 + i / 8] = (float)i;
	}
	handle y = conv(x, w, NULL, 2, INTS(1, 1), INTS(0, 0), 0, 1);
	want_layout(y, 4, INTS(1, 2, 2, 4), INTS(16, 8, 4, 1));
	WANT(floats(y), 8, 10, 12, 14, 16, 18, 20, 22, -8, -8);
	drop(y);
	y = conv(last, w, NULL, 2, INTS(1, 1), INTS(0, 0), 0, 1);
	want_layout(y, 4, INTS(1, 2, 2, 4), INTS(16, 1, 8, 2));
	WANT(floats(y), 8, -8, 10, -8, 12, -8);
	drop(y), drop(x), drop(w), drop(last);
}

static void test_conv_depthwise(void **state)
{
	float in[] = {1, 2, 3, 4, 5, 6}, weight[] = {1, 2, 1, 10};
	handle x = tensor(DTYPE_F32, in, 3, INTS(1, 2, 3)), w = tensor(DTYPE_F32, weight, 3, INTS(2, 1, 2));

	(void)state;
	handle y = conv(x, w, NULL, 1, INTS(1), INTS(1), 0, 2);
	want_layout(y, 3, INTS(1, 2, 4), INTS(8, 4, 1));
	WANT(floats(y), 2, 5, 8, 3, 40, 54, 65, 6);
	drop(y), drop(x), drop(w);
}

/* ---- attention ---- */

static void test_attention(void **state)
{
	/* Two queries, three keys, one head; softmax of ln(1), ln(2), ln(5) */
	float q[] = {1, 0, 1, 0}, k[] = {0, 9, 0.69314718f, 9, 1.6094379f, 9}, v[] = {8, 0, 16, 0, 0, 80},
	      mask[] = {0, 0, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
	double scale = 1;
	handle hq = tensor(DTYPE_F32, q, 4, INTS(1, 1, 2, 2)), hk = tensor(DTYPE_F32, k, 4, INTS(1, 1, 3, 2)),
	       hv = tensor(DTYPE_F32, v, 4, INTS(1, 1, 3, 2));
	handle m = tensor(DTYPE_F32, mask, 2, INTS(2, 3)), out, lse;

	(void)state;
	assert_int_equal(aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(hq, hk, hv, 0, 0, NULL, &scale, &out, &lse), 0);
	want_layout(out, 4, INTS(1, 1, 2, 2), INTS(4, 4, 2, 1));
	WANT(floats(out), 5, 50, 5, 50);
	WANT(floats(lse), logf(8), logf(8));
	drop(out), drop(lse);
	assert_int_equal(aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(hq, hk, hv, 0, 1, NULL, &scale, &out, &lse),
			 0); /* causal */
	WANT(floats(out), 8, 0, 40.0f / 3, 0);
	drop(out), drop(lse);
	assert_int_equal(aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(hq, hk, hv, 0, 0, &m, &scale, &out, &lse), 0);
	WANT(floats(out), 40.0f / 3, 0, 0, 0); /* a row that is masked throughout gives zeros */
	WANT(floats(lse), logf(3), 0);
	drop(out), drop(lse), drop(hq), drop(hk), drop(hv), drop(m);
}

/* ---- layers of frozen models ---- */

static void put(uint8_t *at, int64_t v, int bytes) { memcpy(at, &v, (size_t)bytes); }

/* A weight [2, 3] packed as oneDNN's "BA2a": blocks of two rows. */
static void test_packed(void **state)
{
	float packed[] = {1, 4, 2, 5, 3, 6}, in[] = {1, 10, 100}, add[] = {-1000, 0};
	uint8_t d[772] = {0};
	handle w = NULL, x = tensor(DTYPE_F32, in, 2, INTS(1, 3)), b = tensor(DTYPE_F32, add, 1, INTS(2)), y;

	(void)state;
	put(d, 1, 4), put(d + 4, 2, 4), put(d + 8, 2, 8), put(d + 16, 3, 8), put(d + 104, 3, 4), put(d + 112, 2, 8), put(d + 120, 3, 8);
	put(d + 312, 2, 4), put(d + 320, 6, 8), put(d + 328, 2, 8), put(d + 416, 1, 4), put(d + 424, 2, 8), put(d + 520, 0, 8),
	    put(d + 768, 1, 4);
	assert_int_equal(aoti_torch_create_tensor_from_blob_v2(packed, 2, INTS(2, 3), INTS(1, 0), 0, DTYPE_F32, 0, -1, &w, 3, d, sizeof(d)),
			 0);
	want_layout(w, 2, INTS(2, 3), INTS(3, 1));
	WANT(floats(w), 1, 2, 3, 4, 5, 6);
	assert_int_equal(aoti_torch_cpu__linear_pointwise(x, w, &b, "relu", NULL, 0, NULL, &y), 0);
	WANT(floats(y), 0, 654);
	drop(y);
	assert_int_equal(aoti_torch_cpu__linear_pointwise(x, w, &b, "cubed", NULL, 0, NULL, &y), 1);
	assert_non_null(strstr(shim_last_error(), "'cubed'"));
	assert_int_equal(aoti_torch_create_tensor_from_blob_v2(packed, 2, INTS(3, 2), INTS(1, 0), 0, DTYPE_F32, 0, -1, &y, 3, d, sizeof(d)),
			 1);
	assert_int_equal(aoti_torch_create_tensor_from_blob_v2(packed, 2, INTS(2, 3), INTS(1, 0), 0, DTYPE_F32, 0, -1, &y, 3, d, 700), 1);
	put(d + 520, 9, 8); /* blocks of a dim that is none */
	assert_int_equal(aoti_torch_create_tensor_from_blob_v2(packed, 2, INTS(2, 3), INTS(1, 0), 0, DTYPE_F32, 0, -1, &y, 3, d, sizeof(d)),
			 1);
	drop(w), drop(x), drop(b);
}

/* Gates that are all zero: i = f = o = 1/2, g = 0, so that c is halved at each step. */
/* 0.5 * 0.5 * sum of (x - 10) * w + bias, then rounded to integers of 2 around 100 */
static void test_quantized(void **state)
{
	uint8_t x[] = {10, 12, 0, 255}, *got;
	int8_t w[] = {4, -128, 2, 127};
	float act = 0.5f, scales[] = {0.5f, 0.5f}, bias[] = {1, 0};
	int32_t act_zero = 10, zeros[] = {0, 3}, dtype = DTYPE_F32;
	handle in = tensor(DTYPE_U8, x, 2, INTS(2, 2)), weight = tensor(DTYPE_I8, w, 2, INTS(2, 2));
	handle b = tensor(DTYPE_F32, bias, 1, INTS(2)), y;
	handle s = tensor(DTYPE_F32, &act, 0, NULL), z = tensor(DTYPE_I32, &act_zero, 0, NULL);
	handle ws = tensor(DTYPE_F32, scales, 1, INTS(2)), wz = tensor(DTYPE_I32, zeros, 1, INTS(1));
	handle bad = tensor(DTYPE_I32, zeros, 1, INTS(2));

	(void)state;
	assert_int_equal(aoti_torch_cpu__qlinear_pointwise_tensor(in, s, z, weight, ws, wz, &b, 1, 0, &dtype, "none", NULL, 0, "", &y), 0);
	WANT(floats(y), 2, 63.5f, 113.5f, 8098.75f);
	drop(y);
	dtype = DTYPE_U8;
	assert_int_equal(aoti_torch_cpu__qlinear_pointwise_tensor(in, s, z, weight, ws, wz, &b, 2, 100, &dtype, "none", NULL, 0, "", &y),
			 0);
	got = (uint8_t *)floats(y);
	assert_true(got[0] == 101 && got[1] == 132 && got[2] == 157 && got[3] == 255);
	drop(y);
	assert_int_equal(aoti_torch_cpu__qlinear_pointwise_tensor(in, s, z, weight, ws, bad, &b, 1, 0, &dtype, "none", NULL, 0, "", &y), 1);
	assert_non_null(strstr(shim_last_error(), "nonzero zero point"));
	handle all[] = {in, weight, b, s, z, ws, wz, bad};
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		drop(all[i]);
}

/* Two groups of rows, each by a matrix of its own; the last row is nobody's. */
static void test_grouped(void **state)
{
	float a[] = {1, 2, 3, 4}, b[] = {1, 2, 3, 4, 10, 20, 30, 40};
	int32_t ends[] = {1, 3};
	handle x = tensor(DTYPE_F32, a, 2, INTS(4, 1)), y = tensor(DTYPE_F32, b, 3, INTS(2, 1, 4));
	handle offs = tensor(DTYPE_I32, ends, 1, INTS(2)), out;

	(void)state;
	assert_int_equal(aoti_torch_cpu__grouped_mm(x, y, &offs, NULL, NULL, &out), 0);
	WANT(floats(out), 1, 2, 3, 4, 20, 40, 60, 80, 30, 60, 90, 120, 0, 0, 0, 0);
	drop(out);
	ends[0] = 5;
	assert_int_equal(aoti_torch_cpu__grouped_mm(x, y, &offs, NULL, NULL, &out), 1);
	assert_non_null(strstr(shim_last_error(), "invalid offset 5"));
	drop(x);
	drop(y);
	drop(offs);
}

static void test_lstm(void **state)
{
	float in[] = {1, 2}, w[4] = {0}, zero[4] = {0}, h0[] = {5}, c0[] = {8};
	handle x = tensor(DTYPE_F32, in, 3, INTS(2, 1, 1)), wi = tensor(DTYPE_F32, w, 2, INTS(4, 1)),
	       b = tensor(DTYPE_F32, zero, 1, INTS(4));
	handle h = tensor(DTYPE_F32, h0, 3, INTS(1, 1, 1)), c = tensor(DTYPE_F32, c0, 3, INTS(1, 1, 1)), y, hy, cy, ws;

	(void)state;
	assert_int_equal(aoti_torch_cpu_mkldnn_rnn_layer(x, wi, wi, b, b, h, c, 0, NULL, 0, 2, 1, 1, 1, 0, 0, 0, &y, &hy, &cy, &ws), 0);
	want_layout(y, 3, INTS(2, 1, 1), INTS(1, 1, 1));
	WANT(floats(y), 0.5f * tanhf(4), 0.5f * tanhf(2));
	WANT(floats(hy), 0.5f * tanhf(2));
	WANT(floats(cy), 2);
	drop(y), drop(hy), drop(cy), drop(ws);
	assert_int_equal(aoti_torch_cpu_mkldnn_rnn_layer(x, wi, wi, b, b, h, c, 0, NULL, 0, 3, 1, 1, 1, 0, 0, 0, &y, &hy, &cy, &ws),
			 1); /* a GRU */
	drop(x), drop(wi), drop(b), drop(h), drop(c);
}

/* All of it again in a process that has no OpenBLAS. */
static void test_plain_c(void **state)
{
	int status = -1;

	(void)state;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv("PT2_SHIM_BLAS", "none", 1);
		dup2(2, 1); /* a test prints one plan */
		execl("/proc/self/exe", "test_shim_mm", "again", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
#define TESTS \
	cmocka_unit_test(test_mm), cmocka_unit_test(test_mm_integers), cmocka_unit_test(test_mm_bfloat16), cmocka_unit_test(test_addmm), \
	    cmocka_unit_test(test_bmm), cmocka_unit_test(test_mm_large), cmocka_unit_test(test_conv), cmocka_unit_test(test_conv_layout), \
	    cmocka_unit_test(test_conv_depthwise), cmocka_unit_test(test_attention), cmocka_unit_test(test_packed), \
	    cmocka_unit_test(test_quantized), cmocka_unit_test(test_grouped), cmocka_unit_test(test_lstm)
	const struct CMUnitTest again[] = {TESTS}, tests[] = {TESTS, cmocka_unit_test(test_plain_c)};
	(void)argv;
	return argc > 1 ? cmocka_run_group_tests(again, load, NULL) : cmocka_run_group_tests(tests, load, NULL);
}
