/* run/trace/export: findings of torch.export, and how expressions came about. */
#include "../../lib/log.h"

static struct reader r;

static void feed(struct buf *b)
{
	reader_init(&r);
	reader_window(&r, buf_slice(b), true);
	buf_release(b);
}

static struct slice text(uint32_t n) { return n == NONE ? SLICE("(none)") : facts_text(r.t.f, n); }

static void expression(struct buf *b, unsigned long long id, const char *result, const char *ids)
{
	struct buf m = {0};
	buf_addf(&m,
		 "\"expression_created\": {\"method\": \"add\", \"result\": \"%s\", \"result_id\": %llu, \"arguments\": [\"a\", \"b\"],"
		 " \"argument_ids\": [%s], \"user_stack\": [], \"stack\": []}",
		 result, id, ids);
	add_record(b, "", buf_str(&m), NULL);
	buf_release(&m);
}

static void history(void **state)
{
	(void)state;
	struct buf b = {0};
	struct trace_expr_step step[8];
	add_record(&b, "", "\"create_unbacked_symbol\": {\"symbol\": \"u0\", \"node_id\": 1, \"vr\": \"[0, 1]\"}", NULL);
	expression(&b, 2, "u0 + 1", "1");
	expression(&b, 3, "(u0 + 1)*u0", "2, 1, 77");
	add_record(
	    &b, "",
	    "\"guard_added\": {\"expr\": \"Eq(s77, 6)\", \"prefix\": \"eval\", \"expr_node_id\": 3, \"symbol_to_sources\": {\"s77\": "
	    "\"L['x']\"},"
	    " \"user_stack\": [{\"line\": 7, \"name\": \"f\", \"filename\": 0, \"uninterned_filename\": \"m.py\", \"loc\": \"x\"}],"
	    " \"frame_locals\": {\"loc\": null, \"locals\": {\"x\": [\"s77\", null], \"y\": \"text\", \"z\": null}, \"symbols\": {}}}",
	    NULL);
	feed(&b);
	assert_false(trace_damaged(&r.t));
	assert_int_equal(r.t.n_expr, 3);
	assert_int_equal(r.t.n_export, 1);
	const struct trace_export *x = r.t.export;
	assert_text(text(x->expr), "Eq(s77, 6)");
	assert_text(text(x->locals), "x: s77, ?\ny: text");
	assert_text(text(x->sources), "s77 = L['x']");
	assert_text(text(x->loc.file), "m.py");
	assert_int_equal(x->loc.line, 7);
	assert_int_equal(x->page, UINT32_MAX);
	assert_int_equal(r.t.n_artifact, 0);
	assert_int_equal(trace_expr_history(&r.t, x->node, step, 8), 3);
	assert_int_equal(step[0].row, 2);
	assert_int_equal(step[1].row, 1);
	assert_int_equal(step[1].depth, 1);
	assert_int_equal(step[2].row, 0);
	assert_int_equal(step[2].depth, 2);
	assert_int_equal(trace_expr_history(&r.t, x->node, step, 2), 2);
	assert_int_equal(trace_expr_history(&r.t, UINT32_MAX, step, 8), 0);
	reader_release(&r);
}

/* Ids come again; an expression's arguments are what they were when it was made. */
static void ids_again(void **state)
{
	(void)state;
	struct buf b = {0};
	struct trace_expr_step step[8];
	expression(&b, 5, "itself", "5");
	expression(&b, 6, "a", "5, 7");
	expression(&b, 7, "b", "6");
	expression(&b, 6, "a again", "7");
	feed(&b);
	assert_int_equal(r.t.n_expr, 4);
	for (uint32_t i = 0; i < r.t.n_expr; i++)
		for (uint32_t k = 0; k < r.t.expr[i].n_arg; k++)
			assert_true(r.t.expr_arg[r.t.expr[i].first_arg + k] < i);
	assert_int_equal(trace_expr_history(&r.t, 3, step, 8), 4);
	reader_release(&r);
}

static void deep(void **state)
{
	(void)state;
	enum { DEPTH = 100000 };
	struct buf b = {0};
	char arg[32];
	struct trace_expr_step *step = xcalloc(DEPTH, sizeof(*step));
	for (unsigned i = 1; i <= DEPTH; i++) {
		snprintf(arg, sizeof(arg), "%u, %u", i - 1, i - 1);
		expression(&b, i, "x", arg);
	}
	add_record(&b, "", "\"guard_on_data_dependent_error\": {\"expr\": \"x\", \"expr_id\": 100000}", NULL);
	feed(&b);
	assert_int_equal(r.t.n_export, 1);
	assert_int_equal(r.t.export[0].kind, EXPORT_DATA_DEPENDENT);
	assert_int_equal(trace_expr_history(&r.t, r.t.export[0].node, step, DEPTH), DEPTH);
	assert_int_equal(step[DEPTH - 1].depth, DEPTH - 1);
	free(step);
	reader_release(&r);
}

static void missing_fields(void **state)
{
	(void)state;
	static const char *const keys[] = {"guard_added\": {\"prefix\": \"eval\"}",
					   "guard_added\": {}",
					   "guard_added\": {\"prefix\": null}",
					   "propagate_real_tensors_provenance\": {}",
					   "guard_on_data_dependent_error\": {}",
					   "guard_on_data_dependent_error\": null",
					   "guard_on_data_dependent_error\": 3",
					   "missing_fake_kernel\": {}",
					   "mismatched_fake_kernel\": {\"op\": null}",
					   "expression_created\": {}",
					   "create_unbacked_symbol\": {}"};
	struct buf b = {0}, m = {0};
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++) {
		buf_reset(&m);
		buf_addf(&m, "\"%s", keys[i]);
		add_record(&b, "", buf_str(&m), NULL);
	}
	buf_release(&m);
	feed(&b);
	assert_int_equal(r.t.n_export, 5);
	assert_int_equal(r.t.n_expr, 0);
	assert_int_equal(r.t.export[0].node, UINT32_MAX);
	reader_release(&r);
}

/* -e numbers what the Rust tool numbers; the rest is named outside of the sequence. */
static void numbers(void **state)
{
	(void)state;
	struct buf b = {0}, name = {0};
	add_record(&b, "", "\"artifact\": {\"name\": \"x\", \"encoding\": \"string\"}", "text");
#define GUARD(x) "\"guard_added\": {\"prefix\": \"eval\", \"expr\": \"a\", \"frame_locals\": {\"locals\": {\"x\": " x "}}}"
	add_record(&b, "", GUARD("\"y\""), NULL);
	add_record(&b, "", GUARD("[\"y\"]"), NULL);
	add_record(&b, "", "\"exported_program\": {}", "program");
	reader_init(&r);
	r.t.export_only = true;
	reader_window(&r, buf_slice(&b), true);
	buf_release(&b);
	static const char *const want[] = {"-_-_-_-/symbolic_guard_information_0.html", "-_-_-_-/symbolic_guard_information_line_4.html",
					   "-_-_-_-/exported_program_1.txt"};
	assert_int_equal(r.t.n_artifact, 3);
	for (unsigned i = 0; i < 3; i++) {
		buf_reset(&name);
		trace_artifact_path(&r.t, &r.t.artifact[i], false, &name);
		assert_text(buf_slice(&name), want[i]);
	}
	assert_int_equal(r.t.exported, 2);
	buf_release(&name);
	reader_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(history),        cmocka_unit_test(ids_again), cmocka_unit_test(deep),
	    cmocka_unit_test(missing_fields), cmocka_unit_test(numbers),
	};
	return RUN(tests);
}
