/* trace/text: graph breaks and recompile reasons taken apart. */
#include "../../lib/test.h"

#include "base/json.h"
#include "run/text.h"

static struct guard guard;
static struct break_text gbreak;
static struct recompile_text recomp;

static void break_of(struct slice text) { break_text_parse(slice_of(guard_put(&guard, text.p, text.n), text.n), &gbreak); }
static void recompile_of(struct slice text) { recompile_text_parse(slice_of(guard_put(&guard, text.p, text.n), text.n), &recomp); }

static const char user_break[] =
    "Graph break in user code at app/m.py:5\n"
    "Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):\n"
    "\n"
    "Call to `torch._dynamo.graph_break()`\n"
    "  Explanation: User-inserted graph break. Message: None\n"
    "  Hint: Remove the `torch._dynamo.graph_break()` call.\n"
    "\n"
    "  Developer debug context: Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`\n"
    "\n"
    " For more details about this graph break, please visit: https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0025.html\n"
    "\n"
    "User code traceback:\n"
    "  File \"app/main.py\", line 20, in <module>\n"
    "    f(x)\n"
    "  File \"app/m.py\", line 5, in f\n"
    "    torch._dynamo.graph_break()\n"
    "Traceback (most recent call last):\n"
    "  File \"torch/_dynamo/x.py\", line 1, in g\n"
    "    raise\n";

static void user_inserted(void **state)
{
	(void)state;
	break_of(SLICE(user_break));
	assert_text(gbreak.at.file, "app/m.py");
	assert_int_equal(gbreak.at.line, 5);
	assert_text(gbreak.at.func, "f");
	assert_text(gbreak.at.code, "torch._dynamo.graph_break()");
	assert_text(gbreak.reason, "Call to `torch._dynamo.graph_break()`");
	assert_text(gbreak.explanation, "User-inserted graph break. Message: None");
	assert_text(gbreak.context, "Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`");
	assert_text(gbreak.url, "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0025.html");
	assert_int_equal(gbreak.gb, 25);
	assert_int_equal(gbreak.hints, 1);
	assert_text(gbreak.hint[0], "Remove the `torch._dynamo.graph_break()` call.");
	assert_true(break_text_is_break(&gbreak));
}

static void several_hints(void **state)
{
	(void)state;
	break_of(SLICE(
	    "Reason: Unsupported x\n  Explanation: one\nline and another\n  Hint: first\n    goes on\n  Hint: second\n  Hint: third\n"));
	assert_text(gbreak.reason, "Unsupported x");
	assert_text(gbreak.explanation, "one\nline and another");
	assert_int_equal(gbreak.hints, 3);
	assert_text(gbreak.hint[0], "first\n    goes on");
	assert_text(gbreak.hint[2], "third");
	assert_int_equal(gbreak.gb, -1);
	assert_true(break_text_is_break(&gbreak));
	struct buf b = {0};
	for (int i = 0; i < 40; i++)
		buf_addf(&b, "  Hint: %d\n", i);
	break_of(buf_slice(&b));
	assert_int_equal(gbreak.hints, ARRAY_LEN(gbreak.hint));
	assert_text(gbreak.hint[15], "15");
	buf_release(&b);
}

static void jump(void **state)
{
	(void)state;
	break_of(SLICE(
	    "Graph break in user code at /home/my name/a:b.py:14\nGraph Break Reason: generic_jump TensorVariable()\nUser code traceback:\n"
	    "  File \"/home/my name/a:b.py\", line 14, in g\n    if x.sum() > 0:\n"));
	assert_text(gbreak.at.file, "/home/my name/a:b.py");
	assert_int_equal(gbreak.at.line, 14);
	assert_text(gbreak.at.func, "g");
	assert_text(gbreak.at.code, "if x.sum() > 0:");
	assert_text(gbreak.reason, "generic_jump TensorVariable()");
	assert_false(break_text_is_break(&gbreak));
}

static void restart_reason(void **state)
{
	(void)state;
	break_of(SLICE("Call to y\n  Explanation: z"));
	assert_text(gbreak.reason, "Call to y");
	assert_text(gbreak.explanation, "z");
	assert_int_equal(gbreak.at.file.n, 0);
}

static void breaks_with_little_in_them(void **state)
{
	(void)state;
	static const char *const v[] = {"",
					"\n",
					" ",
					"Graph break in user code at ",
					"Graph break in user code at x",
					"Graph break in user code at :5",
					"Graph break in user code at a.py:99999999999",
					"Reason: ",
					"Graph Break Reason:",
					"  Hint: ",
					"please visit: ",
					"please visit: /gb/gb.html",
					"please visit: https://x/gb/gb99999999999999999999.html",
					"User code traceback:",
					"User code traceback:\n  File \"",
					"User code traceback:\n  File \"a.py\", line"};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		break_of(slice_str(v[i]));
		assert_int_equal(gbreak.gb, -1);
		assert_int_equal(gbreak.at.line == 5 ? 0 : gbreak.at.line, 0);
	}
	break_text_parse(slice_of(NULL, 0), &gbreak);
	assert_int_equal(gbreak.reason.n, 0);
}

static void inside(struct slice s, struct slice text)
{
	if (s.n)
		assert_true(s.p >= text.p && s.p + s.n <= text.p + text.n);
}

/* Cut anywhere: nothing is read past the end, every slice is inside. */
static void breaks_cut_short(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(user_break); n++) {
		struct slice t = slice_of(guard_put(&guard, user_break, n), n);
		break_text_parse(t, &gbreak);
		inside(gbreak.at.file, t);
		inside(gbreak.at.func, t);
		inside(gbreak.at.code, t);
		inside(gbreak.reason, t);
		inside(gbreak.explanation, t);
		inside(gbreak.context, t);
		inside(gbreak.url, t);
		for (unsigned i = 0; i < gbreak.hints; i++)
			inside(gbreak.hint[i], t);
	}
}

static void size_mismatch(void **state)
{
	(void)state;
	recompile_of(SLICE("2/0: tensor 'x' size mismatch at index 0. expected 3, actual 5"));
	assert_text(recomp.rejected_by, "2/0");
	assert_text(recomp.guard, "tensor 'x' size mismatch at index 0. expected 3, actual 5");
	assert_text(recomp.old, "3");
	assert_text(recomp.new, "5");
	assert_int_equal(recomp.at.file.n, 0);
	recompile_of(SLICE("0/0: tensor 'x' rank mismatch. expected 2, actual 3."));
	assert_text(recomp.new, "3");
	recompile_of(SLICE("0/0: x, actual 5 expected 3"));
	assert_int_equal(recomp.old.n + recomp.new.n, 0);
}

static void value_of_a_local(void **state)
{
	(void)state;
	recompile_of(SLICE("4/0: i == 0.0                      # def g(x,i): return x*i  # app/m.py:19 in g"));
	assert_text(recomp.rejected_by, "4/0");
	assert_text(recomp.guard, "i == 0.0");
	assert_text(recomp.old, "0.0");
	assert_int_equal(recomp.new.n, 0);
	assert_text(recomp.at.file, "app/m.py");
	assert_int_equal(recomp.at.line, 19);
	assert_text(recomp.at.func, "g");
	assert_text(recomp.at.code, "def g(x,i): return x*i");
}

static void the_stack_names_the_place(void **state)
{
	(void)state;
	recompile_of(SLICE("0/1: n == 2    # y = x * n  # m.py:21 in step (HINT: type int)\nUser stack trace:\n"
			   "  File \"/home/user/app/main.py\", line 3, in <module>\n    step(x)\n  File \"/home/user/app/m.py\", line 21, "
			   "in step\n    y = x * n\n"));
	assert_text(recomp.guard, "n == 2");
	assert_text(recomp.at.file, "/home/user/app/m.py");
	assert_int_equal(recomp.at.line, 21);
	assert_text(recomp.at.func, "step");
	assert_text(recomp.at.code, "y = x * n");
}

static void ids_of_compiled_autograd(void **state)
{
	(void)state;
	recompile_of(SLICE("!1/0/2: a == 1"));
	assert_text(recomp.rejected_by, "!1/0/2");
	assert_text(recomp.guard, "a == 1");
	recompile_of(SLICE("a == 1"));
	assert_int_equal(recomp.rejected_by.n, 0);
	assert_text(recomp.guard, "a == 1");
	recompile_of(SLICE("12: a"));
	assert_int_equal(recomp.rejected_by.n, 0);
	recompile_of(SLICE("0/0: ")); /* pytorch#154707 */
	assert_text(recomp.rejected_by, "0/0");
	assert_int_equal(recomp.guard.n, 0);
}

static void values_only(void **state)
{
	(void)state;
	static const char *const v[][2] = {
	    {"0/0: len(x) == 3", "3"},
	    {"0/0: s == 'a b'", "'a b'"},
	    {"0/0: f == True", "True"},
	    {"0/0: x == y", ""},
	    {"0/0: a == b == 3", ""},
	    {"0/0: Eq(s0, 3)", ""},
	    {"0/0: ___check_type_id(m, 1), type=<class 'm.Fast'>", "m.Fast"},
	    {"0/0: type=<class 'm.Fast", ""},
	    {"0/0: x ==  ", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		recompile_of(slice_str(v[i][0]));
		assert_text(recomp.old, v[i][1]);
	}
}

static void recompiles_with_little_in_them(void **state)
{
	(void)state;
	static const char *const v[] = {"",   "\n",   "0",         "0/0",      "0/0:",      "0/0: ", ":",
					"/:", "  # ", "0/0:   # ", "  #   # ", "expected ", " == "};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		recompile_of(slice_str(v[i]));
		assert_int_equal(recomp.old.n + recomp.new.n, 0);
		assert_int_equal(recomp.at.line, 0);
	}
	recompile_text_parse(slice_of(NULL, 0), &recomp);
	assert_int_equal(recomp.guard.n, 0);
}

/* ---- the recorded logs ---- */

struct found {
	unsigned n, gb, placed, with_code;
};

/* Payloads of a log's artifacts of one name. */
static bool each_payload(const char *log, const char *name, void (*use)(struct slice text, struct found *f), struct found *f)
{
	struct buf in = {0}, text = {0};
	char *want = xasprintf("\"name\": \"%s\"", name);
	*f = (struct found){0};
	bool ok = data_load(log, &in), in_payload = false;
	struct slice rest = buf_slice(&in), line;
	while (ok && slice_line(&rest, &line)) {
		if (line.n && line.p[0] == '\t') {
			if (in_payload) {
				if (text.len)
					buf_addc(&text, '\n');
				buf_add(&text, line.p + 1, line.n - 1);
			}
			continue;
		}
		if (in_payload)
			use(buf_slice(&text), f);
		buf_reset(&text);
		in_payload = slice_find(line, want) != NULL;
	}
	if (ok && in_payload)
		use(buf_slice(&text), f);
	free(want);
	buf_release(&in);
	buf_release(&text);
	return ok;
}

static void one_break(struct slice text, struct found *f)
{
	break_of(text);
	f->n++;
	f->gb += gbreak.gb >= 0;
	f->placed += gbreak.at.file.n && gbreak.at.line && gbreak.at.func.n;
	f->with_code += gbreak.at.code.n > 0;
	assert_true(gbreak.reason.n > 0);
}

static void recorded_breaks(void **state)
{
	(void)state;
	struct found f;
	if (!each_payload("traces/graph_breaks.log.xz", "dynamo_graph_break_reason", one_break, &f)) {
		print_message("# tests/data is not here\n");
		skip();
	}
	assert_int_equal(f.n, 8);
	assert_int_equal(f.gb, 8);
	assert_int_equal(f.placed, 8);
	assert_int_equal(f.with_code, 8);
}

static void one_recompile(struct slice text, struct found *f)
{
	struct json_tape t = {0};
	struct buf b = {0};
	uint32_t root;
	json_tape_text(&t, text.p, text.n);
	if (text.n && text.p[0] == '[' && !json_parse(&t, 0, text.n, &root)) {
		json_unescape(&t, root + 1, &b);
		text = buf_slice(&b);
	}
	recompile_of(text);
	f->n++;
	f->placed += recomp.rejected_by.n && recomp.guard.n;
	f->gb += recomp.old.n > 0;
	json_tape_release(&t);
	buf_release(&b);
}

static void recorded_recompiles(void **state)
{
	(void)state;
	struct found f;
	if (!each_payload("traces/recompiles.log.xz", "recompile_reasons", one_recompile, &f)) {
		print_message("# tests/data is not here\n");
		skip();
	}
	assert_int_equal(f.n, 9);
	assert_int_equal(f.placed, 9);
	assert_true(f.gb >= 5);
}

static int clean(void **state)
{
	(void)state;
	guard_release(&guard);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(user_inserted),
	    cmocka_unit_test(several_hints),
	    cmocka_unit_test(jump),
	    cmocka_unit_test(restart_reason),
	    cmocka_unit_test(breaks_with_little_in_them),
	    cmocka_unit_test(breaks_cut_short),
	    cmocka_unit_test(size_mismatch),
	    cmocka_unit_test(value_of_a_local),
	    cmocka_unit_test(the_stack_names_the_place),
	    cmocka_unit_test(ids_of_compiled_autograd),
	    cmocka_unit_test(values_only),
	    cmocka_unit_test(recompiles_with_little_in_them),
	    cmocka_unit_test(recorded_breaks),
	    cmocka_unit_test_teardown(recorded_recompiles, clean),
	};
	return RUN(tests);
}
