/* aoti/probe: its arithmetic and its reading of complaints, by themselves. */
#include "../../lib/test.h"

#include "model/contract/opsig.h"
#include "model/binprobe/binprobe_child.h"

/* ---- formulas ---- */

#define POINTS 14
static int64_t row[POINTS][3] = {
    {7, 11, 13}, {17, 11, 13}, {20, 11, 13}, {23, 11, 13}, {7, 19, 13}, {7, 22, 13},  {7, 29, 13},
    {7, 11, 31}, {7, 11, 34},  {7, 11, 37},  {17, 19, 13}, {7, 19, 31}, {17, 11, 31}, {20, 22, 34},
};

static void formula_is(int64_t (*f)(int64_t, int64_t, int64_t), const char *want)
{
	struct symtab tab = {0};
	const int64_t *at[POINTS];
	int64_t v[POINTS];
	struct symsize symbol[3] = {symsize_symbol(&tab, SLICE("s0")), symsize_symbol(&tab, SLICE("s1")),
				    symsize_symbol(&tab, SLICE("s2"))};
	bool whole[3] = {false};
	struct fit_points p = {POINTS, 3, at, symbol, whole};
	for (int i = 0; i < POINTS; i++) {
		at[i] = row[i];
		v[i] = f(row[i][0], row[i][1], row[i][2]);
	}
	struct symsize got;
	struct buf b = {0};
	if (fit_formula(&tab, &p, v, &got))
		symsize_print(&tab, got, &b);
	else
		buf_adds(&b, "?");
	/* Equal as expressions, however they are written. */
	struct symsize as = symsize_parse_any(&tab, slice_str(want));
	if (strcmp(want, "?") ? !symsize_eq(got, as) : strcmp(buf_str(&b), "?") != 0)
		fail_msg("'%s' instead of '%s'", buf_str(&b), want);
	buf_release(&b);
	symtab_release(&tab);
}

static int64_t f_const(int64_t a, int64_t b, int64_t c)
{
	(void)a, (void)b, (void)c;
	return 12;
}
static int64_t f_product(int64_t a, int64_t b, int64_t c) { return 4 * a * b * c; }
static int64_t f_square(int64_t a, int64_t b, int64_t c)
{
	(void)c;
	return 3 * a * a * b;
}
static int64_t f_linear(int64_t a, int64_t b, int64_t c)
{
	(void)a, (void)c;
	return 2 * b - 3;
}
static int64_t f_sum(int64_t a, int64_t b, int64_t c) { return a + b + 2 * c + 1; }
static int64_t f_mixed(int64_t a, int64_t b, int64_t c) { return b * (a + c); }
static int64_t f_shifted(int64_t a, int64_t b, int64_t c)
{
	(void)b;
	return (a + 1) * c * 12;
}
static int64_t f_extent(int64_t a, int64_t b, int64_t c) { return 4 * (1 + (a - 1) * b * c + (b - 1) * c + (c - 1)); }
static int64_t f_noise(int64_t a, int64_t b, int64_t c) { return (a * 7919) % 13 + b * b * b * 5 + c; }
static int64_t f_max(int64_t a, int64_t b, int64_t c)
{
	(void)c;
	return a > b ? a : b;
}

static void test_formulas(void **state)
{
	(void)state;
	formula_is(f_const, "12");
	formula_is(f_product, "4*s0*s1*s2");
	formula_is(f_square, "3*s0**2*s1");
	formula_is(f_linear, "2*s1 - 3");
	formula_is(f_sum, "s0 + s1 + 2*s2 + 1");
	formula_is(f_mixed, "s0*s1 + s1*s2");
	formula_is(f_shifted, "12*s0*s2 + 12*s2");
	formula_is(f_extent, "4*s0*s1*s2");
	formula_is(f_noise, "?");
	formula_is(f_max, "?");
}

static void floor_is(int64_t (*f)(int64_t), const char *want)
{
	struct symtab tab = {0};
	enum { N = 301 };
	int64_t at_value[N], v[N];
	const int64_t *at[N];
	struct symsize symbol = symsize_symbol(&tab, SLICE("s0")), got;
	bool whole = false;
	struct fit_points p = {N, 1, at, &symbol, &whole};
	for (int i = 0; i < N; i++) {
		at_value[i] = 5 + i;
		at[i] = &at_value[i];
		v[i] = f(at_value[i]);
	}
	assert_true(fit_formula(&tab, &p, v, &got));
	if (!symsize_eq(got, symsize_parse_any(&tab, slice_str(want)))) {
		struct buf b = {0};
		symsize_print(&tab, got, &b);
		fail_msg("'%s' instead of '%s'", buf_str(&b), want);
	}
	symtab_release(&tab);
}

static int64_t f_half(int64_t s) { return s / 2; }
static int64_t f_half_up(int64_t s) { return (s - 1) / 2 + 1; }
static int64_t f_pool(int64_t s) { return 48 * ((s - 3) / 2 + 1); }
static int64_t f_hundred(int64_t s) { return 3 * (s / 100); }
static int64_t f_third(int64_t s) { return (2 * s + 1) / 3; }

static void test_floors(void **state)
{
	(void)state;
	floor_is(f_half, "s0//2");
	floor_is(f_half_up, "(s0 + 1)//2");
	floor_is(f_pool, "48*((s0 - 1)//2)");
	floor_is(f_third, "(2*s0 + 1)//3");
	floor_is(f_hundred, "3*(s0//100)");
}

/* Two values only: a line goes through them, and is right if there are no others; else it is a guess, and none is made. */
static void test_small_ranges(void **state)
{
	(void)state;
	struct symtab tab = {0};
	int64_t two = 2, three = 3, v[2] = {16, 24}, w[2] = {5, 11};
	const int64_t *at[2] = {&two, &three};
	struct symsize symbol = symsize_symbol(&tab, SLICE("s0")), got;
	bool whole = true;
	struct fit_points p = {2, 1, at, &symbol, &whole};
	assert_true(fit_formula(&tab, &p, v, &got));
	assert_true(symsize_eq(got, symsize_parse_any(&tab, SLICE("8*s0"))));
	assert_true(fit_formula(&tab, &p, w, &got));
	assert_true(symsize_eq(got, symsize_parse_any(&tab, SLICE("6*s0 - 7"))));
	whole = false;
	assert_false(fit_formula(&tab, &p, w, &got));
	symtab_release(&tab);
}

/* ---- complaints ---- */

static void said(const char *text, enum complaint_kind kind, uint32_t input, int dim, int64_t expected)
{
	struct complaint c;
	struct guard g = {0};
	complaint_parse(slice_of(guard_put(&g, text, strlen(text)), strlen(text)), &c);
	if (c.kind != kind || c.input != input || c.dim != dim || c.expected != expected)
		fail_msg("'%s': kind %d, input %u, dim %d, expected %lld", text, c.kind, c.input, c.dim, (long long)c.expected);
	guard_release(&g);
}

static void test_complaints(void **state)
{
	(void)state;
	struct world w = {.n_inputs = 3};
	world = &w;
	said("input_handles[1]: unmatched dim value at 2, expected: 8, but got: -7\n", SAID_SIZE, 1, 2, 8);
	said("input_handles[0]: dim value is too small at 0, expected it to be >= 2, but got: -7\n", SAID_SMALL, 0, 0, 2);
	said("input_handles[0]: dim value is too large at 63, expected to be <= 64, but got: 100\n", SAID_LARGE, 0, 63, 64);
	said("input_handles[2]: unmatched stride value at 0, expected: 12, but got: -9\n", SAID_STRIDE, 2, 0, 12);
	said("input_handles[0]: unmatched dtype, expected: 6(at::kFloat), but got: 7\n", SAID_DTYPE, 0, 0, 6);
	said("input_handles[0]: unmatched device type, expected: 00(cpu), but got: 1\n", SAID_DEVICE, 0, 0, 0);
	said("input_handles[0]: unmatched device type, expected: 11(cuda), but got: 0\n", SAID_DEVICE, 0, 0, 1);
	said("expected dtype torch.complex64 but got dtype code 6\nError in op: torch.ops.aten._fft_r2c.default", SAID_TYPE, 0, 0,
	     DTYPE_C64);
	said("expected dtype 4 but got dtype code 6", SAID_TYPE, 0, 0, 4);
	said("expected dtype torch.nothing but got dtype code 6", SAID_OTHER, 0, 0, 0);
	said("expected dtype torch.int64", SAID_OTHER, 0, 0, 0);
	said("expected ndim 2 but got -1\nError in op: input", SAID_RANK, 0, 0, 2);
	said("Expected u0 <= 48 but received 97", SAID_BOUND, 0, 0, 48);
	said("Expected u0 >= 0 to be True but received -7", SAID_BOUND, 0, 0, 0);
	said("input_handles[3]: unmatched dtype, expected: 6", SAID_OTHER, 0, 0, 0);
	said("input_handles[0]: unmatched dim value at 64, expected: 8", SAID_OTHER, 0, 0, 0);
	said("input_handles[0]: unmatched dim value at 1, expected: 99999999999999999999", SAID_OTHER, 0, 0, 0);
	said("input_handles[0", SAID_OTHER, 0, 0, 0);
	said("", SAID_OTHER, 0, 0, 0);
	struct complaint c;
	struct slice rest;
	int dim;
	int64_t size, stride;
	complaint_parse(SLICE("expected size 7==8, stride -9223372036854775808==4 at dim=0; expected size 5==6, stride 1==1 at dim=3\n"),
			&c);
	assert_int_equal(c.kind, SAID_SHAPE);
	rest = slice_str(c.text);
	assert_true(complaint_next_dim(&rest, &dim, &size, &stride) && dim == 0 && size == 8 && stride == 4);
	assert_true(complaint_next_dim(&rest, &dim, &size, &stride) && dim == 3 && size == 6 && stride == 1);
	assert_false(complaint_next_dim(&rest, &dim, &size, &stride));
	world = NULL;
}

static void test_signatures(void **state)
{
	(void)state;
	assert_string_equal(opsig("aoti_torch_cpu_addmm_out"), "OTTTdd");
	assert_string_equal(opsig("aoti_torch_cuda_addmm_out"), "OTTTdd");
	assert_string_equal(opsig("aoti_torch_cpu_sort_stable"), "TpiiRR");
	assert_string_equal(opsig("aoti_torch_copy_"), "MTi");
	assert_string_equal(opsig("aoti_torch_cpu_cat"), "LiiR");
	assert_null(opsig("aoti_torch_cpu_no_such_thing"));
	assert_null(opsig("aoti_torch_"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_formulas),   cmocka_unit_test(test_floors),     cmocka_unit_test(test_small_ranges),
	    cmocka_unit_test(test_complaints), cmocka_unit_test(test_signatures),
	};
	return RUN(tests);
}
