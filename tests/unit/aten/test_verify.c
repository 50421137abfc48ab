/* verify/: are two tensors the same value, and which write does a read belong to? */
#include "../../lib/test.h"

#include "aten/verify/numbers.h"
#include "aten/verify/observed.h"
#include "aten/verify/verify.h"

#include <math.h>

static struct numbers numbers(int dtype, int n_dim, const int64_t *size, const float *v)
{
	struct numbers x;
	struct err err;
	int64_t stride[ATEN_DIMS];
	struct aten_tensor *t = NULL;
	aten_contiguous_strides(n_dim, size, stride);
	ATEN_TRY("test")
	{
		t = aten_new(dtype, n_dim, size, NULL);
		aten_copy(t, aten_of_blob((void *)(uintptr_t)v, DTYPE_F32, n_dim, size, stride, 0));
		aten_keep(t);
	}
	assert_false(ATEN_END);
	assert_int_equal(numbers_of(&x, t, &err), 0);
	aten_release(t);
	return x;
}

#define SIZE(...) ((const int64_t[]){__VA_ARGS__})
enum { N = 24 };

static void fill(float *v)
{
	for (int i = 0; i < N; i++)
		v[i] = sinf((float)i * 1.7f) * 3;
}

static void matches_in_any_order_of_dims(void **state)
{
	float v[N], turned[N], back[N];
	struct layout l;
	(void)state;
	fill(v);
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 4; k++)
				turned[(k * 2 + i) * 3 + j] = v[(i * 3 + j) * 4 + k];
	struct numbers node = numbers(DTYPE_F32, 3, SIZE(2, 3, 4), v), b = numbers(DTYPE_F32, 2, SIZE(8, 3), turned);
	assert_true(numbers_match(&b, &node, 0, &l));
	assert_false(l.identity);
	double out[N];
	numbers_lay(&b, &node, &l, out);
	for (int i = 0; i < N; i++)
		assert_true(out[i] == (double)v[i]);
	assert_true(numbers_off(&b, &node, &l) == 0);
	numbers_release(&b);
	/* The same elements in an order that no dims explain. */
	memcpy(back, v, sizeof(back));
	back[3] = v[5], back[5] = v[3];
	b = numbers(DTYPE_F32, 3, SIZE(2, 3, 4), back);
	assert_false(numbers_match(&b, &node, 0, &l));
	numbers_release(&b);
	numbers_release(&node);
}

/* In blocks and the rest, with what is not finite in one of them. */
static void signatures_are_those_of_the_elements(void **state)
{
	enum { MANY = 2500 };
	(void)state;
	for (int n = 1; n <= MANY; n += n < 20 ? 1 : 827) {
		float v[MANY];
		double sum = 0, squares = 0, lo = INFINITY, hi = -INFINITY;
		for (int i = 0; i < n; i++) {
			v[i] = i == n / 2 ? NAN : i == n / 3 ? INFINITY : sinf((float)i * 1.7f) * 3;
			if (!isfinite(v[i]))
				continue;
			sum += (double)v[i];
			squares += (double)v[i] * (double)v[i];
			lo = fmin(lo, (double)v[i]);
			hi = fmax(hi, (double)v[i]);
		}
		struct numbers x = numbers(DTYPE_F32, 1, SIZE(n), v), same = numbers(DTYPE_F32, 1, SIZE(n), v);
		struct layout l;
		assert_int_equal(x.nan, 1);
		assert_int_equal(x.inf, n / 3 != n / 2);
		assert_true(fabs(x.sum - sum) < 1e-9 && fabs(x.squares - squares) < 1e-9);
		assert_true(lo > hi ? x.max == 0 : x.lo == lo && x.hi == hi && x.max == fmax(fabs(lo), fabs(hi)));
		assert_true(numbers_match(&same, &x, 0, &l));
		const int last = n - 1;
		if (isfinite(v[last]) && n > 2) {
			v[last] += 1;
			struct numbers other = numbers(DTYPE_F32, 1, SIZE(n), v);
			assert_false(numbers_match(&other, &x, 0, &l));
			assert_true(numbers_off(&other, &x, &(struct layout){.identity = true}) > 0.99);
			numbers_release(&other);
		}
		numbers_release(&x);
		numbers_release(&same);
	}
}

/* One copy of the elements, which outlives either of the two. */
static void views_share_numbers(void **state)
{
	float v[N];
	(void)state;
	fill(v);
	struct numbers x = numbers(DTYPE_F32, 2, SIZE(4, 6), v), view;
	struct aten_tensor like = {.n_dim = 1, .size = {N}};
	numbers_share(&view, &x, &like);
	assert_ptr_equal(view.v, x.v);
	assert_true(view.n_dim == 1 && view.size[0] == N && view.max == x.max);
	numbers_release(&x);
	assert_true(view.v[N - 1] == (double)v[N - 1]);
	numbers_release(&view);
}

static void rounding_is_the_same_and_more_is_not(void **state)
{
	static const struct {
		int dtype;
		float off; /* of the greatest number, at one element */
		bool same;
	} rows[] = {{DTYPE_F32, 1e-6f, true},  {DTYPE_F32, 1e-4f, false}, {DTYPE_BF16, 8e-3f, true},
		    {DTYPE_BF16, 0.1f, false}, {DTYPE_I32, 0, true},      {DTYPE_I32, 0.4f, false}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		float v[N], w[N];
		struct layout l;
		fill(v);
		memcpy(w, v, sizeof(w));
		w[7] += rows[i].off * 3;
		struct numbers n = numbers(rows[i].dtype, 1, SIZE(N), v), b = numbers(rows[i].dtype, 2, SIZE(4, 6), w);
		assert_int_equal(numbers_match(&b, &n, 0, &l), rows[i].same);
		numbers_release(&n);
		numbers_release(&b);
	}
}

static void what_is_not_finite_stands_at_the_same_places(void **state)
{
	float v[4] = {1, NAN, INFINITY, 2}, w[4] = {1, INFINITY, NAN, 2}, x[4] = {1, NAN, -INFINITY, 2};
	struct layout l;
	(void)state;
	struct numbers n = numbers(DTYPE_F32, 1, SIZE(4), v), a = numbers(DTYPE_F32, 1, SIZE(4), v), b = numbers(DTYPE_F32, 1, SIZE(4), w),
		       c = numbers(DTYPE_F32, 1, SIZE(4), x);
	assert_true(numbers_match(&a, &n, 0, &l));
	assert_false(numbers_match(&b, &n, 0, &l));
	assert_false(numbers_match(&c, &n, 0, &l));
	numbers_release(&n);
	numbers_release(&a);
	numbers_release(&b);
	numbers_release(&c);
}

/* The error of a value in its own dtype widens what is the same; a mask of the lowest number does not make everything so. */
static void errors_widen(void **state)
{
	float v[4] = {1, 2, 3, 4}, w[4] = {1, 2.01f, 3, 4}, mask[4] = {2, -3.4e38f, 3, 1}, other[4] = {2, -3.4e38f, 1, 1};
	struct layout l;
	(void)state;
	struct numbers n = numbers(DTYPE_F32, 1, SIZE(4), v), b = numbers(DTYPE_F32, 1, SIZE(4), w);
	assert_false(numbers_match(&b, &n, 0, &l));
	assert_true(numbers_match(&b, &n, 0.002, &l));
	numbers_release(&n);
	numbers_release(&b);
	n = numbers(DTYPE_F32, 1, SIZE(4), mask), b = numbers(DTYPE_F32, 1, SIZE(4), other);
	assert_false(numbers_match(&b, &n, 1e30, &l));
	numbers_release(&n);
	numbers_release(&b);
}

/* A tensor that is not the same has an element that differs, or the text says why it is not the same. */
static void differences_are_counted(void **state)
{
	static const struct {
		int dtype;
		float off;
		uint64_t wrong;
		const char *text;
	} rows[] = {
	    {DTYPE_BF16, 0.25f, 2, "2 of 4 elements differ"},
	    {DTYPE_BF16, 0.0078125f, 0, "no single element differs by more than rounding, but all 4 together do"},
	    {DTYPE_F32, 1e-3f, 2, "2 of 4 elements differ"},
	    {DTYPE_I64, 1, 2, "2 of 4 elements differ"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		float v[4] = {1, 1, 2, 2}, w[4] = {1 + rows[i].off, 1, 2 + rows[i].off, 2};
		struct numbers n = numbers(rows[i].dtype, 1, SIZE(4), v), b = numbers(rows[i].dtype, 1, SIZE(4), w);
		struct verify_finding f = {.at = -1};
		LOCAL_BUF text = {0};
		verify_compare(&f, b.v, &n, verify_slack(&n, 0));
		verify_add_count(&text, &f);
		assert_int_equal(f.n, 4);
		assert_int_equal(f.wrong, rows[i].wrong);
		assert_string_equal(buf_str(&text), rows[i].text);
		numbers_release(&n);
		numbers_release(&b);
	}
}

/* ---- which write a read belongs to ---- */

#define HEAD "{\"dump\": 1}\n"
#define VALUE(buffer, role, when, address, n) \
	"{\"buffer\": \"" buffer "\", \"arg\": 0, \"role\": \"" role "\", \"when\": \"" when "\", \"dtype\": \"float32\", \"sizes\": [" #n \
	"], \"strides\": [1], \"address\": " #address "}"
#define CALL(seq, name, values) \
	"{\"seq\": " #seq ", \"run\": 0, \"call\": " #seq ", \"kernel\": \"" name "\", \"kind\": \"kernel\", \"values\": [" values "]}\n"

static void reads_come_from_the_last_writes_there(void **state)
{
	static const char text[] = HEAD
	    /* Two slices of one buffer, then the whole; then the buffer is used again for another. */
	    CALL(1, "cpp_a", VALUE("x", "in", "before", 9000, 4) "," VALUE("buf0", "out", "after", 1000, 4))
		CALL(2, "cpp_b", VALUE("buf1", "out", "after", 1016, 4)) CALL(
		    3, "cpp_c", VALUE("buf2", "in", "before", 1000, 8) "," VALUE("buf3", "out", "after", 2000, 8))
		    CALL(4, "cpp_d", VALUE("buf3", "in", "before", 2000, 8) "," VALUE("buf4", "out", "after", 1000, 8)) CALL(
			5, "cpp_e",
			VALUE("buf4", "in", "before", 1016, 4) "," VALUE(
			    "buf5", "out", "after",
			    3000,
			    4)) "{\"seq\": 9, \"run\": 0, \"kind\": \"run\", \"values\": [" VALUE("x", "model-input", "before", 9000,
												  4) "," VALUE("output0", "model-output",
													       "after",
													       3000,
													       4) "]}\n{\"ended\": true, "
														  "\"calls\": 6}\n";
	static const struct {
		uint32_t read, n;
		const char *from[2];
	} rows[] = {{0, 1, {"x"}}, {1, 2, {"buf1", "buf0"}}, {2, 1, {"buf3"}}, {3, 1, {"buf4"}}, {4, 1, {"buf5"}}};
	struct dump d;
	struct observed o;
	struct err err;
	(void)state;
	assert_int_equal(dump_read(&d, SLICE(text), "dump", &err), 0);
	assert_int_equal(observed_read(&o, &d, d.call[0].model_id, 0, &err), 0);
	assert_int_equal(o.n_calls, 5);
	assert_int_equal(o.n_inputs, 1);
	assert_int_equal(o.n_outputs, 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct observed_tensor *r = &o.read[rows[i].read];
		assert_int_equal(r->n_links, rows[i].n);
		for (uint32_t k = 0; k < r->n_links; k++)
			assert_true(slice_is(o.write[o.link[r->link + k]].v->buffer, rows[i].from[k]));
	}
	observed_release(&o);
	assert_int_equal(observed_read(&o, &d, d.call[0].model_id, 7, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	dump_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(matches_in_any_order_of_dims),
	    cmocka_unit_test(signatures_are_those_of_the_elements),
	    cmocka_unit_test(views_share_numbers),
	    cmocka_unit_test(rounding_is_the_same_and_more_is_not),
	    cmocka_unit_test(what_is_not_finite_stands_at_the_same_places),
	    cmocka_unit_test(errors_widen),
	    cmocka_unit_test(differences_are_counted),
	    cmocka_unit_test(reads_come_from_the_last_writes_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
