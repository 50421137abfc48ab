/* run/flight/flight: whose a dump is, what of an entry stays, and what is no dump. That ranks are compared: tests/cli/desyncs.t. */
#include "../../lib/test.h"

#include "run/flight/flight.h"

static void test_rank(void **state)
{
	(void)state;
	assert_int_equal(flight_rank_of("/tmp/nccl_trace_rank_12"), 12);
	assert_int_equal(flight_rank_of("a3/fr_trace_0.json"), 0);
	assert_int_equal(flight_rank_of("a3/dump"), -1);
	assert_int_equal(flight_rank_of("x_99999999999999999999"), -1);
}

#define ENTRY(seq, name, in, out, state) \
	"{\"process_group\":[\"1\",\"tp\"],\"pg_id\":4,\"collective_seq_id\":" seq ",\"profiling_name\":\"nccl:" name \
	"\",\"input_sizes\":" in ",\"input_dtypes\":[\"BFloat16\"],\"output_sizes\":" out \
	",\"output_dtypes\":[\"BFloat16\"],\"state\":\"" state "\",\"frames\":[{\"name\":\"f\",\"filename\":\"/x/site-packages/torch/" \
	"a.py\",\"line\":1},{\"name\":\"g\",\"filename\":\"app.py\",\"line\":7}]}"

static void test_entries(void **state)
{
	static const char text[] =
	    "{\"version\":\"2.10\",\"pg_config\":{\"1\":{\"desc\":\"tp\",\"ranks\":\"[8, 1]\"}},\"pg_status\":{\"4\":"
	    "{\"last_completed_collective\":\"1\"}},\"entries\":[" ENTRY("1", "all_reduce", "[[2,3]]", "[[2,3]]", "scheduled") "," ENTRY(
		"2", "all_gather", "[[2,3]]", "[[4,3]]", "started") "," ENTRY("3", "all_to_all", "[[1]]", "[[5]]",
									      "scheduled") "," ENTRY("3", "all_to_all", "[[2]]", "[[5]]",
												     "scheduled") ",7]}";
	struct flight f;
	struct err err;
	(void)state;
	assert_int_equal(flight_read(&f, SLICE(text), "rank_3", &err), 0);
	assert_int_equal(f.rank, 3);
	assert_int_equal(f.n_op, 4);
	assert_int_equal(f.left_out, 1);
	assert_int_equal(f.group[f.op[0].group].n_ranks, 2);
	assert_int_equal(f.member[0], 1);                  /* in order */
	assert_int_equal(f.op[0].state, FLIGHT_COMPLETED); /* pg_status says so */
	assert_int_equal(f.op[1].state, FLIGHT_STARTED);
	assert_int_equal(f.op[0].bytes, 12);
	assert_true(slice_is(flight_text(&f, f.op[1].sizes), "[2, 3] -> [4, 3]"));
	assert_true(slice_is(flight_text(&f, f.op[0].place), "app.py:7 in g"));
	assert_true(slice_is(flight_operator(&f, &f.op[0]), "all_reduce"));
	assert_true(f.op[0].fp != f.op[1].fp);
	assert_true(f.op[2].fp == f.op[3].fp); /* each may send as much as it has */
	flight_release(&f);
	assert_int_equal(flight_read(&f, SLICE(text), "dump", &err), -1);
	assert_non_null(strstr(err.text, "does not record its rank"));
	assert_int_equal(flight_read(&f, SLICE("{\"a\":1}"), "rank_3", &err), -1);
	assert_int_equal(flight_read(&f, SLICE("\x80\2cposix\nsystem\n(X\1\0\0\0atR."), "rank_3", &err), -1);
	assert_non_null(strstr(err.text, "posix.system"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rank), cmocka_unit_test(test_entries)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
