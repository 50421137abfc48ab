/* The document that tlparse and fxexplain share: docs/formats/COMPILATION.md has its tables as they are; rows are whole; it is read back. */
#include "../../lib/test.h"

#include "base/io/mapfile.h"
#include "run/document.h"

/* Where the two differ, what the document should be is in build/COMPILATION.md. */
static void manual(void **state)
{
	(void)state;
	struct mapfile m;
	struct err err;
	struct buf want = {0};
	document_manual(&want);
	assert_int_equal(mapfile_open(&m, "docs/formats/COMPILATION.md", &err), 0);
	bool there = m.bytes.n >= want.len && memmem(m.bytes.p, m.bytes.n, want.p, want.len);
	if (!there) {
		FILE *f = fopen("build/COMPILATION.md", "w");
		assert_non_null(f);
		fwrite(want.p, 1, want.len, f);
		fclose(f);
		fail_msg("docs/formats/COMPILATION.md has other tables than build/COMPILATION.md");
	}
	mapfile_close(&m);
	buf_release(&want);
}

static void round_trip(void **state)
{
	(void)state;
	struct facts f;
	struct json_tape t = {0};
	struct err err;
	struct buf b = {0};
	uint32_t root;
	facts_init(&f);
	uint32_t in = facts_input(&f, FACT_TRACE, "t.log");
	uint32_t c = facts_compile_anew(&f, in, 0, 0, SLICE("0/0"), 3, 0.5), again = facts_compile_anew(&f, in, 0, 1, SLICE("0/0"), 9, 1.5);
	struct fact_break *x = facts_new_brk(&f, fact_src(in, 7));
	x->compile = c;
	x->gb = 25;
	x->hints = facts_intern(&f, SLICE("one\ntwo"));
	facts_frames(&f);
	struct json_out o = {.b = &b};
	json_obj(&o);
	document_head(&o, "fxexplain", &f);
	document_summary(&o, &f, NONE);
	json_close(&o);
	document_rows(&o, &f);
	json_close(&o);
	assert_int_equal(document_open(&t, buf_slice(&b), "b.json", "fxexplain", &root, &err), 0);
	uint32_t brk = json_get(&t, root, "graph_breaks") + 1, compiles = json_get(&t, root, "compiles");
	assert_text(json_word(&t, brk, "gb"), "GB0025");
	assert_int_equal(json_length(&t, json_get(&t, brk, "hints")), 2);
	assert_int_equal(json_count(&t, brk, "line", 0), 7);
	assert_true(json_is(&t, json_get(&t, brk, "offset"), JSON_NULL));
	assert_int_equal(json_length(&t, compiles), 2);
	assert_text(facts_label(&f, again), "0/0 (2nd)");
	assert_int_equal(json_length(&t, json_get(&t, root, "frames")), 2);
	assert_int_equal(json_count(&t, json_get(&t, root, "summary"), "compiles", 0), 2);
	assert_int_equal(document_open(&t, buf_slice(&b), "b.json", NULL, &root, &err), 0);
	assert_int_equal(document_open(&t, buf_slice(&b), "b.json", "tlparse", &root, &err), -1);
	assert_int_equal(document_open(&t, SLICE("{\"tool\":\"tlparse\",\"schema\":1}"), "b.json", NULL, &root, &err), -1);
	assert_int_equal(document_open(&t, SLICE("[1]"), "b.json", NULL, &root, &err), -1);
	assert_int_equal(document_open(&t, SLICE("{"), "b.json", NULL, &root, &err), -1);
	json_tape_release(&t);
	buf_release(&b);
	facts_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(manual), cmocka_unit_test(round_trip)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
