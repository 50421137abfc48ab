/* reduce/journal: what is written is read; lines that were cut; files that are something else; going on in one. */
#include "../../lib/folder.h"

#include <signal.h>
#include <sys/resource.h>

#include "base/json.h"
#include "reduce/journal.h"

static char *path_of(const char *name) { return xasprintf("%s/%s", folder_path, name); }

static void write_some(const char *path, size_t tests)
{
	struct err err;
	const char *argv[] = {"--test", "grep -q \"relu\"\n", "gr\303\244ph.py", NULL},
		   *env[] = {"OMP_NUM_THREADS=1", "A=b=c", "NOTHING", NULL};
	struct journal_head head = {
	    .input = SLICE("gr\303\244ph.py"), .hash = 0x93c1000000000001ull, .argv = argv, .env = env, .torch = SLICE("2.13.0+cpu")};
	struct journal *j = journal_create(path, &head, &err);
	struct buf printed = {0}; /* its end is kept, not from the middle of a character */
	for (int i = 0; i < JOURNAL_PRINTED; i++)
		buf_adds(&printed, "\342\202\254");
	assert_non_null(j);
	for (size_t i = 0; i < tests; i++)
		journal_test(j, &(struct journal_test){.key = 0xfedcba9876543210ull + i,
						       .verdict = (enum verdict)(i % (VERDICT_FLAKY + 1)),
						       .outcome = (enum outcome_kind)(i % (OUTCOME_INFRA + 1)),
						       .signature = {.type = SLICE("CppCompileError"),
								     .message = SLICE("'x' \"y\"\n\001"),
								     .frames = SLICE("a.py:f;b.py:g")},
						       .test = i + 1,
						       .ops = 147 - i,
						       .seconds = 6.91,
						       .at = 0.2 + (double)i,
						       .phase = SLICE("Truncate suffix"),
						       .printed = i % 2 ? SLICE("")
								  : i   ? buf_slice(&printed)
									: SLICE("free(): invalid pointer\n\377")});
	buf_release(&printed);
	journal_best(j, 9, "repro.py", 12.5);
	journal_end(j, "reduced", tests, 20.1);
	assert_null(journal_failed(j));
	journal_close(j);
}

static void test_round_trip(void **state)
{
	(void)state;
	char *path = path_of("j");
	struct journal_record r;
	struct err err;
	write_some(path, 20);
	assert_int_equal(journal_read(&r, path, &err), 0);
	assert_text(r.head.input, "gr\303\244ph.py");
	assert_text(r.head.torch, "2.13.0+cpu");
	assert_true(r.head.hash == 0x93c1000000000001ull);
	assert_int_equal(r.n_argv, 3);
	assert_string_equal(r.argv[1], "grep -q \"relu\"\n");
	assert_null(r.argv[3]);
	assert_int_equal(r.n_tests, 20);
	for (size_t i = 0; i < 20; i++) {
		const struct journal_test *t = &r.test[i];
		assert_true(t->key == 0xfedcba9876543210ull + i);
		assert_int_equal(t->verdict, i % (VERDICT_FLAKY + 1));
		assert_int_equal(t->outcome, i % (OUTCOME_INFRA + 1));
		assert_int_equal(t->signature.kind, t->outcome);
		assert_text(t->signature.type, "CppCompileError");
		assert_text(t->signature.message, "'x' \"y\"\n\001");
		assert_text(t->signature.frames, "a.py:f;b.py:g");
		assert_int_equal(t->test, i + 1);
		assert_int_equal(t->ops, 147 - i);
		assert_true(t->seconds > 6.9 && t->seconds < 6.92 && t->at > 0.1 + (double)i);
		assert_text(t->phase, "Truncate suffix");
		assert_int_equal(t->printed.n, i % 2 ? 0 : i ? JOURNAL_PRINTED / 3 * 3 : 27);
		assert_true(utf8_valid(t->printed));
	}
	assert_int_equal(r.n_best, 1);
	assert_int_equal(r.best[0].ops, 9);
	assert_text(r.best[0].file, "repro.py");
	assert_text(r.end, "reduced");
	assert_int_equal(r.bad_lines, 0);
	journal_record_release(&r);
	free(path);
}

/* Wherever it was cut: whole lines count, one is bad at most, and what is appended is read. */
static void test_cut(void **state)
{
	(void)state;
	char *path = path_of("j"), *cut = path_of("cut");
	struct buf b = {0};
	struct err err;
	write_some(path, 3);
	FILE *f = fopen(path, "r");
	buf_cut(&b, fread(buf_room(&b, 1 << 16), 1, 1 << 16, f));
	fclose(f);
	size_t head = (size_t)((char *)memchr(b.p, '\n', b.len) - b.p) + 1;
	struct guard g = {0};
	for (size_t n = 0; n <= b.len; n++) {
		struct journal_record r;
		int status = journal_read_text(&r, slice_of(guard_put(&g, b.p, n), n), "cut", &err);
		assert_int_equal(status, n >= head - 1 ? 0 : -1);
		if (status < 0)
			continue;
		assert_true(r.bad_lines <= 1 && r.n_tests <= 3);
		size_t tests = r.n_tests, bad = r.bad_lines;
		journal_record_release(&r);
		if (n % 7)
			continue;
		folder_put("cut", slice_of(b.p, n));
		struct journal *j = journal_append(cut, &err);
		assert_non_null(j);
		journal_test(j, &(struct journal_test){.key = 5, .verdict = VERDICT_PASSES});
		journal_close(j);
		assert_int_equal(journal_read(&r, cut, &err), 0);
		assert_int_equal(r.n_tests, tests + 1);
		assert_int_equal(r.bad_lines, bad);
		assert_int_equal(r.resumed, 1);
		assert_int_equal(r.end.n, 0);
		journal_record_release(&r);
	}
	guard_release(&g);
	buf_release(&b);
	free(path);
	free(cut);
}

static void test_foreign(void **state)
{
	(void)state;
	static const char *const text[] = {"",      "\n", "hello\n", "{}\n", "[1]\n", "{\"journal\":\"other/1\"}\n", "{\"journal\":7}\n",
					   "\0\0\0"};
	char *path = path_of("foreign");
	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct journal_record r;
		struct err err = {0};
		assert_int_equal(journal_read_text(&r, slice_str(text[i]), "x", &err), -1);
		assert_int_equal(err.status, EXIT_INPUT);
		if (!text[i][0])
			continue;
		folder_put("foreign", slice_str(text[i]));
		assert_null(journal_create(path, &(struct journal_head){0}, &err));
		assert_int_equal(err.status, EXIT_USAGE);
		assert_null(journal_append(path, &err));
		struct buf b = {0};
		FILE *f = fopen(path, "r");
		buf_cut(&b, fread(buf_room(&b, 100), 1, 100, f));
		fclose(f);
		assert_text(buf_slice(&b), text[i]);
		buf_release(&b);
	}
	struct err err = {0};
	char *none = path_of("none/j");
	assert_null(journal_create(none, &(struct journal_head){0}, &err));
	assert_int_equal(err.status, EXIT_ENVIRON);
	assert_null(journal_append(none, &err));
	free(none);
	free(path);
}

/* Bad lines are passed over. */
static void test_odd_lines(void **state)
{
	(void)state;
	static const char text[] =
	    "{\"journal\":\"pt2utils.fxminify/1\",\"argv\":[1,\"--test\"]}\n"
	    "{\"test\":1,\"key\":\"0\",\"verdict\":\"passes\"}\n{\"test\":1,\"key\":\"7\",\"verdict\":\"maybe\"}\n"
	    "{\"test\":1,\"key\":\"7\",\"verdict\":\"passes\"}\nnonsense\n\n{\"other\":1}\n{\"test\":1,\"key\":7,\"verdict\":\"passes\"}\n";
	struct journal_record r;
	struct err err;
	assert_int_equal(journal_read_text(&r, SLICE(text), "x", &err), 0);
	assert_int_equal(r.n_tests, 1);
	assert_int_equal(r.bad_lines, 5);
	assert_int_equal(r.n_argv, 2);
	assert_string_equal(r.argv[1], "--test");
	journal_record_release(&r);
}

/* No room is said once, and nobody dies of it. */
static void test_full(void **state)
{
	(void)state;
	struct err err;
	struct rlimit old, small = {0};
	char *path = path_of("full");
	struct journal *j = journal_create(path, &(struct journal_head){0}, &err);
	assert_non_null(j);
	assert_null(journal_failed(j));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){10, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	journal_best(j, 1, "x", 0);
	setrlimit(RLIMIT_FSIZE, &old);
	const char *why = journal_failed(j);
	assert_non_null(why);
	assert_non_null(strstr(why, "the journal"));
	journal_best(j, 1, "x", 0);
	assert_null(journal_failed(j));
	journal_close(j);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_cut),  cmocka_unit_test(test_foreign),
	    cmocka_unit_test(test_odd_lines),  cmocka_unit_test(test_full),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name(__FILE__, tests, folder_make, folder_remove);
}
