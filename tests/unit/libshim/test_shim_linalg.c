/* LAPACK and complex numbers of libpt2shim.so, through its proxy executor as a model calls them: results that are known, torch's
 * strides, empty and damaged operands. Again in a child without OpenBLAS, where linear algebra says what it needs.
 * tests/live/cases_proxy.py and cases_complex.py have them against torch. */
#include "../../lib/shimtensor.h"

#include <math.h>
#include <sys/wait.h>

/* clang-format off */
#define OPS(X)                                                                                                         \
	X(aoti_torch_new_uninitialized_tensor, (handle *))                                                             \
	X(aoti_torch_cpu_convolution, (handle, handle, handle *, const int64_t *, int64_t, const int64_t *, int64_t, const int64_t *, int64_t, \
		int32_t, const int64_t *, int64_t, int64_t, handle *))                                                 \
	X(aoti_torch_proxy_executor_call_function, (void *, int, int, int64_t *, int, handle *))
/* clang-format on */

OPS(SHIM_POINTER)

static void *(*shim_proxy_open)(const char *json, size_t n, char *why, size_t room);
static void (*shim_proxy_close)(void *executor);

static int load(void **state)
{
	void *lib = shim_tensor_open();

	(void)state;
#define OP_LOAD(name, params) shim_take(lib, #name, &name);
	OPS(OP_LOAD)
	shim_take(lib, "shim_proxy_open", &shim_proxy_open);
	shim_take(lib, "shim_proxy_close", &shim_proxy_close);
	return 0;
}

static double *doubles(handle h)
{
	void *p;
	assert_int_equal(aoti_torch_get_data_ptr(h, &p), 0);
	return p;
}

static void want_doubles(const double *got, const double *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(fabs(got[i] - want[i]) <= 1e-12 * (1 + fabs(want[i]))))
			fail_msg("element %zu is %g instead of %g", i, got[i], want[i]);
}
#define WANT(h, ...) \
	do { \
		const double want_[] = {__VA_ARGS__}; \
		want_doubles(doubles(h), want_, sizeof(want_) / sizeof(want_[0])); \
	} while (0)

#define T(name) "{\"name\":\"" name "\",\"arg\":{\"as_tensor\":{\"name\":\"a\"}}}"
#define BOOL(name, v) "{\"name\":\"" name "\",\"arg\":{\"as_bool\":" #v "}}"

/* One call; in: n of them, out: filled. Returns torch's status. */
static int call(const char *op, const char *inputs, int n_in, handle *in, int n_out, handle *out)
{
	char why[600], *outputs = xasprintf("%s", "");
	handle all[12];
	for (int i = 0; i < n_out; i++) {
		char *longer = xasprintf("%s%s{\"as_tensor\":{\"name\":\"o%d\"}}", outputs, i ? "," : "", i);
		free(outputs);
		outputs = longer;
	}
	char *json =
	    xasprintf("{\"nodes\":[{\"name\":\"o\",\"node\":{\"target\":\"%s\",\"inputs\":[%s],\"outputs\":[%s]}}]}", op, inputs, outputs);
	void *executor = shim_proxy_open(json, strlen(json), why, sizeof(why));
	if (!executor)
		fail_msg("%s: %s", op, why);
	memcpy(all, in, (size_t)n_in * sizeof(*in));
	for (int i = 0; i < n_out; i++) {
		assert_int_equal(aoti_torch_new_uninitialized_tensor(&out[i]), 0);
		all[n_in + i] = out[i];
	}
	int status = aoti_torch_proxy_executor_call_function(executor, 0, 0, NULL, n_in + n_out, all);
	shim_proxy_close(executor);
	free(json);
	free(outputs);
	return status;
}

static void drop_all(handle *h, int n)
{
	for (int i = 0; i < n; i++)
		drop(h[i]);
}

static bool without_lapack(void)
{
	const char *want = getenv("PT2_SHIM_BLAS");
	return want && !strcmp(want, "none");
}

/* ---- linear algebra ---- */

static void test_svd(void **state)
{
	double a[] = {3, 0, 0, 4, 0, 0};
	handle in = tensor(DTYPE_F64, a, 2, INTS(3, 2)), out[3];

	(void)state;
	int status = call("aten::_linalg_svd", T("A") "," BOOL("full_matrices", true), 1, &in, 3, out);
	if (without_lapack()) {
		assert_int_equal(status, 1);
		assert_non_null(strstr(shim_last_error(), "LAPACK's dgesdd: install OpenBLAS (Debian: libopenblas0-serial)"));
	} else {
		assert_int_equal(status, 0);
		want_layout(out[0], 2, INTS(3, 3), INTS(1, 3)); /* by columns */
		want_layout(out[2], 2, INTS(2, 2), INTS(1, 2));
		WANT(out[1], 4, 3);
		const double *u = doubles(out[0]), *v = doubles(out[2]);
		for (int i = 0; i < 3; i++)
			for (int j = 0; j < 2; j++) { /* U S V^H, whatever the signs */
				double sum = u[i] * 4 * v[2 * j] + u[3 + i] * 3 * v[1 + 2 * j];
				assert_true(fabs(sum - a[2 * i + j]) < 1e-12);
			}
	}
	drop_all(out, 3);
	drop(in);
}

static void test_nothing(void **state)
{
	handle empty = tensor(DTYPE_F64, NULL, 3, INTS(0, 2, 2)), none = tensor(DTYPE_F64, NULL, 2, INTS(0, 0)),
	       wide = tensor(DTYPE_F64, NULL, 2, INTS(2, 0));
	handle out[4];

	(void)state;
	assert_int_equal(call("aten::_linalg_svd", T("A"), 1, &empty, 3, out), 0);
	want_layout(out[1], 2, INTS(0, 2), INTS(2, 1));
	drop_all(out, 3);
	assert_int_equal(call("aten::_linalg_det", T("A"), 1, &none, 3, out), 0);
	WANT(out[0], 1);
	drop_all(out, 3);
	assert_int_equal(call("aten::linalg_qr", T("A") ",{\"name\":\"mode\",\"arg\":{\"as_string\":\"complete\"}}", 1, &wide, 2, out),
			 without_lapack());
	if (!without_lapack())
		WANT(out[0], 1, 0, 0, 1);
	drop_all(out, 2);
	drop(empty), drop(none), drop(wide);
}

static void test_solve(void **state)
{
	double a[] = {0, 2, 4, 1}, b[] = {2, 5};
	handle in[2], out[4];

	(void)state;
	if (without_lapack())
		skip();
	in[0] = tensor(DTYPE_F64, a, 2, INTS(2, 2));
	in[1] = tensor(DTYPE_F64, b, 1, INTS(2));
	assert_int_equal(call("aten::_linalg_solve_ex", T("A") "," T("B"), 2, in, 4, out), 0);
	WANT(out[0], 1, 1);
	const int32_t *pivots = (const int32_t *)doubles(out[2]);
	assert_true(pivots[0] == 2 && pivots[1] == 2); /* int32, from 1, as LAPACK's of 32 bits and of 64 */
	drop_all(out, 4);
	assert_int_equal(call("aten::linalg_lu_factor_ex", T("A"), 1, in, 3, out), 0);
	WANT(out[0], 4, 0, 1, 2);
	drop_all(out, 3);
	a[0] = a[1] = 0;
	assert_int_equal(call("aten::linalg_inv_ex", T("A") "," BOOL("check_errors", true), 1, in, 2, out), 1);
	assert_non_null(strstr(shim_last_error(), "the input matrix is singular"));
	drop_all(out, 2);
	a[0] = NAN;
	assert_int_equal(call("aten::_linalg_svd", T("A"), 1, in, 3, out), 1);
	assert_non_null(strstr(shim_last_error(), "non-finite"));
	drop_all(out, 3);
	drop_all(in, 2);
}

static void test_eigenvalues(void **state)
{
	double h[] = {2, 0, 0, 1, 0, -1, 2, 0}, r[] = {0, -1, 1, 0}; /* [[2, i], [-i, 2]]; a quarter turn */
	handle in, turn, out[2];

	(void)state;
	if (without_lapack())
		skip();
	in = tensor(DTYPE_C128, h, 2, INTS(2, 2));
	turn = tensor(DTYPE_F64, r, 2, INTS(2, 2));
	assert_int_equal(call("aten::_linalg_eigh", T("A"), 1, &in, 2, out), 0);
	WANT(out[0], 1, 3);
	want_layout(out[1], 2, INTS(2, 2), INTS(1, 2));
	drop_all(out, 2);
	assert_int_equal(call("aten::_linalg_eigvals", T("self"), 1, &turn, 1, out), 0);
	const double *v = doubles(out[0]);
	assert_true(fabs(v[0]) < 1e-12 && fabs(v[1] - 1) < 1e-12 && fabs(v[3] + 1) < 1e-12); /* i and -i */
	drop(out[0]);
	drop(in), drop(turn);
}

/* ---- complex numbers ---- */

static void test_complex(void **state)
{
	double a[] = {1, 2, 3, -4}, b[] = {0, 1, 2, 0};
	handle in[2] = {tensor(DTYPE_C128, a, 1, INTS(2)), tensor(DTYPE_C128, b, 1, INTS(2))}, out[1];
	handle row[2] = {tensor(DTYPE_C128, a, 2, INTS(1, 2)), tensor(DTYPE_C128, b, 2, INTS(2, 1))};

	(void)state;
	assert_int_equal(call("aten::_conj", T("self"), 1, in, 1, out), 0);
	WANT(out[0], 1, -2, 3, 4);
	drop(out[0]);
	assert_int_equal(call("aten::div.Tensor", T("self") "," T("other"), 2, in, 1, out), 0);
	WANT(out[0], 2, -1, 1.5, -2);
	drop(out[0]);
	assert_int_equal(
	    call("aten::add.Scalar", T("self") ",{\"name\":\"other\",\"arg\":{\"as_complex\":{\"real\":1,\"imag\":-1}}}", 1, in, 1, out),
	    0);
	WANT(out[0], 2, 1, 4, -5);
	drop(out[0]);
	assert_int_equal(call("aten::sum", T("self"), 1, in, 1, out), 0);
	WANT(out[0], 4, -2);
	drop(out[0]);
	assert_int_equal(call("aten::mm", T("self") "," T("mat2"), 2, row, 1, out), 0);
	WANT(out[0], 4, -7);
	drop(out[0]);
	drop_all(in, 2);
	drop_all(row, 2);
}

/* ---- convolutions whose input has its channels last: pixels and channels that fill no register ---- */

enum { N = 2, G = 2, IN = 5, OUT = 19, H = 9, W = 11, K = 3 };

static float number(int i) { return (float)(i * 37 % 23 - 11) / 8; }

static void test_conv_channels_last(void **state)
{
	static float x[N * H * W * G * IN], w[G * OUT * IN * K * K], bias[G * OUT];
	const int64_t size[] = {N, G * IN, H, W}, stride[] = {H * W * G * IN, 1, W * G * IN, G * IN}, two[] = {2, 1}, pad[] = {1, 2},
		      none[] = {0, 0};
	const int64_t ones[] = {1, 1};
	const int oh = (H + 2 - K) / 2 + 1, ow = W + 4 - K + 1;
	handle hx = NULL, hw = tensor(DTYPE_F32, w, 4, INTS(G * OUT, IN, K, K)), hb = tensor(DTYPE_F32, bias, 1, INTS(G * OUT)), y = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(x) / 4; i++)
		x[i] = number((int)i);
	for (size_t i = 0; i < sizeof(w) / 4; i++)
		w[i] = number((int)i + 5);
	for (int i = 0; i < G * OUT; i++)
		bias[i] = number(i + 9);
	assert_int_equal(aoti_torch_create_tensor_from_blob_v2(x, 4, size, stride, 0, DTYPE_F32, 0, -1, &hx, 0, NULL, 0), 0);
	assert_int_equal(aoti_torch_cpu_convolution(hx, hw, &hb, two, 2, pad, 2, ones, 2, 0, none, 2, G, &y), 0);
	want_layout(y, 4, INTS(N, G * OUT, oh, ow), INTS(oh * ow * G * OUT, 1, ow * G * OUT, G * OUT));
	const float *got = (const float *)doubles(y);
	for (int i = 0; i < N * oh * ow * G * OUT; i++) {
		int o = i % (G * OUT), px = i / (G * OUT) % ow, py = i / (G * OUT) / ow % oh, n = i / (G * OUT) / ow / oh;
		double want = bias[o];
		for (int c = 0; c < IN * K * K; c++) {
			int iy = py * 2 - 1 + c / K % K, ix = px - 2 + c % K, ch = c / K / K;
			if (iy >= 0 && iy < H && ix >= 0 && ix < W)
				want += (double)x[((n * H + iy) * W + ix) * G * IN + o / OUT * IN + ch] *
					w[(o * IN + ch) * K * K + c % (K * K)];
		}
		if (!(fabs(got[i] - want) < 1e-4))
			fail_msg("element %d is %g instead of %g", i, (double)got[i], want);
	}
	drop(hx), drop(hw), drop(hb), drop(y);
}

static void test_without(void **state)
{
	int status = -1;

	(void)state;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv("PT2_SHIM_BLAS", "none", 1);
		setenv("CMOCKA_MESSAGE_OUTPUT", "STDOUT", 1); /* a test prints one plan, and what is skipped here is no failure */
		dup2(2, 1);
		execl("/proc/self/exe", "test_shim_linalg", "again", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
#define TESTS \
	cmocka_unit_test(test_svd), cmocka_unit_test(test_nothing), cmocka_unit_test(test_solve), cmocka_unit_test(test_eigenvalues), \
	    cmocka_unit_test(test_complex), cmocka_unit_test(test_conv_channels_last)
	const struct CMUnitTest all[] = {TESTS, cmocka_unit_test(test_without)}, again[] = {TESTS};

	(void)argv;
	return argc > 1 ? cmocka_run_group_tests(again, load, NULL) : cmocka_run_group_tests(all, load, NULL);
}
