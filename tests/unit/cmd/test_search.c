/* reduce/search: minimising a set, with predicates whose least sets are known. */
#include "../../lib/test.h"

#include "reduce/search.h"

enum shape { SINGLE, FAR_PAIR, TRIPLE, PATH, SIX_AND_ONE, PARITY, N_SHAPES };
static const char *const shape_name[] = {"single", "far pair", "triple", "path", "six and one", "parity"};

struct world {
	enum shape shape;
	size_t n, asked, stop_after;
	struct intern seen; /* sets that were asked about: the same one again is free */
	uint8_t verdict[200000];
};
static struct world w;

static bool fails(const struct world *x, const uint64_t *set)
{
	size_t n = x->n, sixes = 0;
	switch (x->shape) {
	case SINGLE: return bit_in(set, n * 6 / 10);
	case FAR_PAIR: return bit_in(set, n / 10) && bit_in(set, n * 9 / 10);
	case TRIPLE: return bit_in(set, n / 7) && bit_in(set, n / 2) && bit_in(set, n * 97 / 100);
	case PATH:
		for (size_t i = n / 3; i < n / 3 + 8; i++)
			if (!bit_in(set, i))
				return false;
		return true;
	case SIX_AND_ONE:
		for (size_t i = 0; i < n; i += 5)
			sixes += bit_in(set, i);
		return sixes >= 6 && bit_in(set, n / 2 + 1);
	case PARITY: /* not monotone: more of the others hides it now and then */
		return bit_in(set, n / 4) && bit_in(set, n / 2) && bits_count(set, n) % 7 != 5;
	default: return false;
	}
}

static int ask(void *user, size_t n, search_set_fn *set, void *ctx, size_t *winner)
{
	struct world *x = user;
	size_t words = (x->n + 63) / 64;
	uint64_t *s = xcalloc(words, 8);
	*winner = SEARCH_NONE;
	for (size_t i = 0; i < n && *winner == SEARCH_NONE; i++) {
		memset(s, 0, words * 8);
		set(ctx, i, s);
		uint32_t before = x->seen.n, id = intern_add(&x->seen, slice_of((char *)s, words * 8));
		assert_true(id < sizeof(x->verdict));
		if (id == before) {
			if (x->asked == x->stop_after) {
				free(s);
				return -1;
			}
			x->asked++;
			x->verdict[id] = fails(x, s);
		}
		if (x->verdict[id])
			*winner = i;
	}
	free(s);
	return 0;
}

static int minimise(struct search *s)
{
	if (search_halve(s) < 0 || search_probdd(s, search_until(s)) < 0 || search_quickxplain(s) < 0)
		return -1;
	return search_one_minimal(s);
}

static size_t run(enum shape shape, size_t n, size_t stop_after, struct search *s)
{
	w.shape = shape;
	w.n = n;
	w.asked = 0;
	w.stop_after = stop_after;
	w.seen = (struct intern){0};
	s->n = n;
	s->ask = ask;
	s->user = &w;
	search_start(s);
	int status = minimise(s);
	assert_int_equal(status, stop_after == SIZE_MAX ? 0 : -1);
	assert_true(fails(&w, s->keep));
	assert_int_equal(s->left, bits_count(s->keep, n));
	intern_release(&w.seen);
	return w.asked;
}

/* The least sets, and how often one asks: the aims of docs/dev/BENCHMARKS.md. */
static void test_counts(void **state)
{
	(void)state;
	static const size_t least[] = {1, 2, 3, 8, 7};
	static const size_t most[][4] = {
	    /* 50, 200, 1000, 5000 elements; QuickXplain throughout */
	    {16, 16, 20, 26}, {25, 35, 45, 60}, {40, 45, 60, 75}, {50, 55, 65, 80}, {60, 70, 80, 100},
	};
	static const size_t sizes[] = {50, 200, 1000, 5000};
	for (enum shape shape = SINGLE; shape <= SIX_AND_ONE; shape++)
		for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
			struct search s = {.jobs = 1, .qx_limit = SIZE_MAX};
			size_t asked = run(shape, sizes[k], SIZE_MAX, &s);
			print_message("# %s, %zu: %zu questions, %zu left\n", shape_name[shape], sizes[k], asked, s.left);
			assert_int_equal(s.left, least[shape]);
			assert_true(asked <= most[shape][k]);
			search_release(&s);
		}
}

static void test_probdd(void **state)
{
	(void)state;
	static const size_t least[] = {1, 2, 3, 8, 7};
	for (enum shape shape = SINGLE; shape <= SIX_AND_ONE; shape++)
		for (size_t n = 50; n <= 5000; n *= 10) {
			struct search s = {.jobs = 1, .qx_limit = 64};
			size_t asked = run(shape, n, SIZE_MAX, &s);
			print_message("# ProbDD, %s, %zu: %zu questions\n", shape_name[shape], n, asked);
			assert_int_equal(s.left, least[shape]);
			assert_true(asked <= 130);
			search_release(&s);
		}
}

/* Looking ahead asks about other sets, and ends at the same size. */
static void test_jobs(void **state)
{
	(void)state;
	for (enum shape shape = SINGLE; shape <= SIX_AND_ONE; shape++)
		for (unsigned jobs = 2; jobs <= 8; jobs *= 2)
			for (size_t limit = 16; limit <= 1024; limit *= 64) {
				struct search s = {.jobs = 1, .qx_limit = limit}, t = {.jobs = jobs, .qx_limit = limit};
				run(shape, 700, SIZE_MAX, &s);
				run(shape, 700, SIZE_MAX, &t);
				assert_int_equal(s.left, t.left);
				search_release(&s);
				search_release(&t);
			}
}

/* Nothing can be left out of the result, also where supersets of failing sets pass. */
static void test_not_monotone(void **state)
{
	(void)state;
	for (size_t n = 40; n < 300; n += 13) {
		if (!(n % 7 != 5))
			continue;
		struct search s = {.jobs = 1, .qx_limit = 32};
		run(PARITY, n, SIZE_MAX, &s);
		for (size_t i = 0; i < n; i++)
			if (bit_in(s.keep, i)) {
				bit_del(s.keep, i);
				assert_false(fails(&w, s.keep));
				bit_add(s.keep, i);
			}
		search_release(&s);
	}
}

/* Stopped at any question, what is kept fails. */
static void test_stop(void **state)
{
	(void)state;
	for (size_t stop = 0; stop < 40; stop++) {
		struct search s = {.jobs = 2, .qx_limit = 64};
		run(SIX_AND_ONE, 500, stop, &s);
		search_release(&s);
	}
}

/* ---- elements that cannot stand without others ---- */

/* Each needs its half, down to 0. */
static void close_tree(void *user, uint64_t *set)
{
	const struct world *x = user;
	for (size_t i = x->n; i-- > 1;)
		if (bit_in(set, i))
			bit_add(set, i / 2);
}

/* Each needs all before it. */
static void close_chain(void *user, uint64_t *set)
{
	const struct world *x = user;
	bool in = false;
	for (size_t i = x->n; i-- > 0;) {
		in |= bit_in(set, i);
		if (in)
			bit_add(set, i);
	}
}

static void (*closing)(void *, uint64_t *);
static size_t least_asked; /* the smallest set that was */

/* Only what can stand is asked about, and never what is left itself; an empty set is no question. */
static int ask_closed(void *user, size_t n, search_set_fn *set, void *ctx, size_t *winner)
{
	struct world *x = user;
	size_t words = bits_words(x->n), status = 0;
	uint64_t *s = xcalloc(words, 8), *closed = xcalloc(words, 8);
	*winner = SEARCH_NONE;
	for (size_t i = 0; i < n && *winner == SEARCH_NONE && !status; i++) {
		memset(s, 0, words * 8);
		set(ctx, i, s);
		if (!bits_count(s, x->n))
			continue;
		memcpy(closed, s, words * 8);
		closing(x, closed);
		assert_memory_equal(closed, s, words * 8);
		assert_true(bits_count(s, x->n) < x->n);
		if (bits_count(s, x->n) < least_asked)
			least_asked = bits_count(s, x->n);
		x->asked += intern_find(&x->seen, slice_of((char *)s, words * 8)) == NONE;
		intern_add(&x->seen, slice_of((char *)s, words * 8));
		if (fails(x, s))
			*winner = i;
	}
	free(s);
	free(closed);
	return (int)status;
}

/* What was tested is adopted: the result can stand and fails, and nothing of it can go with what needs it. */
static void test_closed(void **state)
{
	(void)state;
	static const struct {
		void (*close)(void *, uint64_t *);
		enum shape shape;
		size_t n, left, most, limit;
	} want[] = {
	    {close_tree, SINGLE, 500, 10, 60, 64},     {close_tree, FAR_PAIR, 500, 14, 90, 64},
	    {close_tree, TRIPLE, 5000, 30, 250, 64},   {close_chain, SINGLE, 500, 301, 40, 64},
	    {close_chain, FAR_PAIR, 500, 451, 60, 64}, {close_chain, SINGLE, 500, 301, 40, SIZE_MAX},
	};
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		for (unsigned jobs = 1; jobs <= 4; jobs += 3) {
			w = (struct world){.shape = want[i].shape, .n = want[i].n};
			struct search s = {
			    .n = w.n, .jobs = jobs, .qx_limit = want[i].limit, .close = want[i].close, .ask = ask_closed, .user = &w};
			closing = want[i].close;
			least_asked = SIZE_MAX;
			search_start(&s);
			assert_int_equal(minimise(&s), 0);
			print_message("# closed %zu, %u jobs: %zu questions, %zu left\n", i, jobs, w.asked, s.left);
			assert_int_equal(s.left, want[i].left);
			assert_int_equal(s.left, bits_count(s.keep, s.n));
			assert_true(fails(&w, s.keep));
			assert_true(least_asked <= s.left); /* it was tested */
			assert_true(w.asked <= want[i].most * (jobs > 1 ? 2 : 1));
			search_release(&s);
			intern_release(&w.seen);
		}
}

static void two_guesses(void *ctx, size_t i, uint64_t *set)
{
	(void)ctx;
	bit_add(set, i ? 300 : 7);
}

static void test_suspects(void **state)
{
	(void)state;
	w = (struct world){.shape = SINGLE, .n = 500, .stop_after = SIZE_MAX};
	struct search s = {.n = 500, .jobs = 2, .qx_limit = 64, .ask = ask, .user = &w};
	search_start(&s);
	assert_int_equal(search_suspects(&s, two_guesses, NULL, 2), 0);
	assert_int_equal(s.left, 1);
	assert_int_equal(minimise(&s), 0);
	assert_int_equal(w.asked, 2);
	search_release(&s);
	intern_release(&w.seen);
	/* Wrong guesses cost their questions and nothing else. */
	w = (struct world){.shape = FAR_PAIR, .n = 500, .stop_after = SIZE_MAX};
	s = (struct search){.n = 500, .jobs = 2, .qx_limit = 64, .ask = ask, .user = &w};
	search_start(&s);
	assert_int_equal(search_suspects(&s, two_guesses, NULL, 2), 0);
	assert_int_equal(s.left, 500);
	assert_int_equal(minimise(&s), 0);
	assert_int_equal(s.left, 2);
	search_release(&s);
	intern_release(&w.seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_counts),       cmocka_unit_test(test_probdd), cmocka_unit_test(test_jobs),
	    cmocka_unit_test(test_not_monotone), cmocka_unit_test(test_stop),   cmocka_unit_test(test_suspects),
	    cmocka_unit_test(test_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
