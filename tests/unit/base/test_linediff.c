/* The property: rows put each text together again, common lines are equal, and there are as many as there can be. */
#include "base/linediff.h"
#include "../../lib/test.h"

#include <string.h>

static uint32_t lcs(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
	uint32_t *row = xcalloc((size_t)(n + 1) * (m + 1), sizeof(*row));
#define L(i, j) row[(size_t)(i) * (m + 1) + (j)]
	for (uint32_t i = 1; i <= n; i++)
		for (uint32_t j = 1; j <= m; j++)
			L(i, j) = a[i - 1] == b[j - 1] ? L(i - 1, j - 1) + 1 : L(i - 1, j) > L(i, j - 1) ? L(i - 1, j) : L(i, j - 1);
	uint32_t best = L(n, m);
	free(row);
	return best;
}

/* Returns the number of common lines. */
static uint32_t check(const struct linediff *d, const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
	uint32_t i = 0, j = 0, same = 0, added = 0, removed = 0, changed = 0;
	for (uint32_t k = 0; k < d->n; k++) {
		const struct linediff_row *r = &d->row[k];
		if (r->a != NONE)
			assert_int_equal(r->a, i++);
		if (r->b != NONE)
			assert_int_equal(r->b, j++);
		assert_false(r->a == NONE && r->b == NONE);
		if (r->same) {
			assert_true(r->a != NONE && r->b != NONE);
			assert_true(a[r->a] == b[r->b]);
			same++;
		} else {
			added += r->a == NONE;
			removed += r->b == NONE;
			changed += r->a != NONE && r->b != NONE;
		}
	}
	assert_int_equal(i, n);
	assert_int_equal(j, m);
	assert_int_equal(d->added, added);
	assert_int_equal(d->removed, removed);
	assert_int_equal(d->changed, changed);
	return same;
}

static void test_minimal(void **state)
{
	(void)state;
	uint64_t seed = 1, a[64], b[64];
	struct linediff d = {0};
	for (unsigned round = 0; round < 20000; round++) {
		uint32_t n = pick(&seed, 40), m = pick(&seed, 40), letters = 1 + pick(&seed, 8);
		for (uint32_t i = 0; i < n; i++)
			a[i] = pick(&seed, letters);
		for (uint32_t i = 0; i < m; i++)
			b[i] = pick(&seed, letters) + (round % 3 == 0);
		linediff_keys(&d, a, n, b, m);
		assert_false(d.coarse);
		assert_int_equal(check(&d, a, n, b, m), lcs(a, n, b, m));
	}
	linediff_release(&d);
}

/* A long text and a copy with a few edits: the edits are found, and nothing else. */
static void test_edits(void **state)
{
	(void)state;
	enum { N = 20000 };
	uint64_t seed = 7, *a = xcalloc(N, sizeof(*a)), *b = xcalloc(2 * N, sizeof(*b));
	struct linediff d = {0};
	for (unsigned round = 0; round < 10; round++) {
		uint32_t m = 0, gone = 0, come = 0;
		for (uint32_t i = 0; i < N; i++) {
			a[i] = pick(&seed, 300);
			uint32_t what = pick(&seed, 1000);
			if (what == 0) {
				gone++;
				continue;
			}
			if (what == 1) {
				b[m++] = 1000 + i;
				come++;
			}
			b[m++] = a[i];
		}
		linediff_keys(&d, a, N, b, m);
		assert_false(d.coarse);
		assert_true(check(&d, a, N, b, m) >= N - gone);
		assert_true(d.added + d.changed <= gone + come);
	}
	linediff_release(&d);
	free(a);
	free(b);
}

/* Too much work: a rougher answer, but a right one, and soon. */
static void test_bounded(void **state)
{
	(void)state;
	enum { N = 100000 };
	uint64_t seed = 3, *a = xcalloc(N, sizeof(*a)), *b = xcalloc(N, sizeof(*b));
	for (uint32_t i = 0; i < N; i++) {
		a[i] = pick(&seed, 5000);
		b[i] = pick(&seed, 5000);
	}
	a[0] = b[0] = a[N - 1] = b[N - 1] = 9;
	struct linediff d = {0};
	linediff_keys(&d, a, N, b, N);
	assert_true(d.coarse);
	assert_true(check(&d, a, N, b, N) >= 2);
	linediff_release(&d);
	free(a);
	free(b);
}

static uint64_t first_letter(void *ctx, struct slice line)
{
	(void)ctx;
	return line.n ? (uint64_t)line.p[0] : 0;
}

static void test_text(void **state)
{
	(void)state;
	struct linediff d = {0};
	linediff_run(&d, SLICE("a\nb\nc\n"), SLICE("a\nx\nc\nd"), NULL, NULL);
	assert_int_equal(d.n, 4);
	assert_true(d.row[0].same && d.row[2].same && !d.row[1].same);
	assert_int_equal(d.changed, 1);
	assert_int_equal(d.added, 1);
	assert_text(linediff_line(&d, 1, d.row[3].b), "d");
	assert_text(linediff_line(&d, 1, 99), "");
	linediff_run(&d, SLICE(""), SLICE(""), NULL, NULL);
	assert_int_equal(d.n, 0);
	linediff_run(&d, SLICE(""), SLICE("a\n\nb"), NULL, NULL);
	assert_int_equal(d.added, 3);
	linediff_run(&d, SLICE("one\ntwo"), SLICE("only\nthree"), first_letter, NULL);
	assert_int_equal(d.added + d.removed + d.changed, 0);
	linediff_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_minimal),
	    cmocka_unit_test(test_edits),
	    cmocka_unit_test(test_bounded),
	    cmocka_unit_test(test_text),
	};
	return RUN(tests);
}
