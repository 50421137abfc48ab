/* Fixes as changes of a file: templates, statements, every rule of share/breaks/edits.txt, what is refused, and the diff of it. */
#include "fix/edit.h"
#include "fix/template.h"
#include "base/unified.h"
#include "base/html/html.h"
#include "../../lib/test.h"

static void test_templates(void **state)
{
	(void)state;
	static const struct {
		const char *from, *code, *to, *want; /* want NULL: no match */
	} rows[] = {
	    {"copy.deepcopy({e})", "copy . deepcopy( a+b )", "{e}.clone()", "(a+b).clone()"},
	    {"copy.deepcopy({e})", "copy.deepcopy(a.b(1)[2])", "{e}.clone()", "a.b(1)[2].clone()"},
	    {"copy.deepcopy({e})", "copy.deepcopy(a, memo)", "", NULL},
	    {"f({a*})", "f()", "g({a})", "g()"},
	    {"f({a*})", "f(1, k=[2, (3)])", "g({a})", "g(1, k=[2, (3)])"},
	    {"f({a*})", "f(1) + g(2)", "", NULL},
	    {"{x.} = {e}", "self.y [0] = 'a=b'", "{x}|{e}", "self.y [0]|'a=b'"},
	    {"{x.} = {e}", "x == y", "", NULL},
	    {"{x.} = {e}", "a = b = c", "", NULL},
	    {"{x=} += {e}", "self.x += 1", "", NULL},
	    {"{x=} += {e}", "x += lambda: 1", "", NULL},
	    {"if {c+}:", "if x > 0 :", "{c}", "x > 0"},
	    {"if {c+}:", "if x > 0 and y:", "", NULL},
	    {"if {c+}:", "if 1 > 0:", "", NULL},
	    {"if {c}:", "if (a and\n    b[1:2]):", "{c}", "(a and\n    b[1:2])"},
	    {"lambda {x.}: {x.},", "lambda x: x,", "{x}", "x"},
	    {"lambda {x.}: {x.},", "lambda x: y,", "", NULL},
	    {"g[\"lr\"] = {v}", "g['lr'] = 1", "{v}", "1"},
	    {"f({e})", "f(a))", "", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct captures c = {0};
		struct buf b = {0};
		bool yes = template_match(slice_str(rows[i].from), slice_str(rows[i].code), &c);
		if (yes != (rows[i].want != NULL))
			fail_msg("%s on %s: %d", rows[i].from, rows[i].code, yes);
		template_put(&b, slice_str(rows[i].to), &c);
		if (yes)
			assert_text(buf_slice(&b), rows[i].want);
		buf_release(&b);
	}
}

/* fix | line it is at | source | as it is then; "!why" where it is refused, "-" where there is no rule */
#define HEAD "import torch\n"
#define MODULE "class N:\n    def __init__(self):\n        self.n = 2\n    def forward(self, x):\n        "
static const struct {
	const char *fix, *function;
	uint32_t line;
	const char *source, *want;
} rows[] = {
    {"torch._dynamo.config.allow_rnn = True    # GRU", "f", 4, "'''doc'''\n" HEAD "\ndef f(x): pass\n",
     "'''doc'''\n" HEAD "torch._dynamo.config.allow_rnn = True\n\ndef f(x): pass\n"},
    {"torch._dynamo.config.allow_rnn = True", "f", 2, "from torch import nn\nx = 1\n",
     "from torch import nn\nimport torch\ntorch._dynamo.config.allow_rnn = True\nx = 1\n"},
    {"torch._dynamo.config.allow_rnn = True", "f", 2, "import os, torch.nn as nn\nx = 1\n",
     "import os, torch.nn as nn\nimport torch\ntorch._dynamo.config.allow_rnn = True\nx = 1\n"},
    {"torch._dynamo.config.allow_rnn = True", "f", 1, "x = 1\n", "!the file has no imports"},
    {"torch._dynamo.config.allow_rnn = True", "f", 1, "import torch", "!the file has no imports"},
    {"torch._dynamo.config.allow_rnn = True", "f", 1, HEAD "if True:\n    torch._dynamo.config.allow_rnn=True\n",
     "!already there, in line 3"},
    {"torch._dynamo.config.reorderable_logging_functions.add(print)    # later", "f", 2, HEAD "print(1)\n",
     HEAD "torch._dynamo.config.reorderable_logging_functions.add(print)\nprint(1)\n"},
    {"torch._dynamo.config.ignore_logging_functions.add(logger.info)", "f", 4, HEAD "LOG = get(\n    'x')\nLOG.debug('%s', 1)\n",
     HEAD "LOG = get(\n    'x')\ntorch._dynamo.config.ignore_logging_functions.add(LOG.debug)\nLOG.debug('%s', 1)\n"},
    {"remove the print, or", "f", 3, HEAD "def f(x):\n    print(x,\n        1)  # why\n    return x\n", HEAD "def f(x):\n    return x\n"},
    {"remove the print, or", "f", 3, HEAD "def f(x):\n    print(x)", HEAD "def f(x):\n    pass"},
    {"remove the print, or", "f", 3, HEAD "def f(x):\n    print(x); y = 1\n", "!the line does not have the form"},
    {"remove the print, or", "f", 2, HEAD "if x: print(x)\n", "!the line does not have the form"},
    {"y = torch.where(cond, a, b)", "f", 3, HEAD "def f(x):\n\tif x.sum() > 0:  # up\n\t\treturn x\n\treturn -x\n",
     HEAD "def f(x):\n\t# up\n\treturn torch.where(x.sum() > 0, x, -x)\n"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  y = x\nelse:\n  y = -x\nz = y\n",
     "y = torch.where(x.sum() > 0, x, -x)\nz = y\n"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  y = x\n  z = 1\nelse:\n  y = -x\n", "!the line does not have the form"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  return None\nreturn x\n", "!the line does not have the form"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  return x.sum()\nreturn x\n", "!the two may differ in size"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  return x * w\nreturn x\n", "!the two may differ in size"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  return x / 2\nreturn x\n", "!the two may differ in size"},
    {"y = torch.where(cond, a, b)", "f", 1, "if x.sum() > 0:\n  return torch.sin(x) * 2\nreturn x.cos()\n",
     "return torch.where(x.sum() > 0, torch.sin(x) * 2, x.cos())\n"},
    {"torch._higher_order_ops.while_loop(x)", "f", 1, "while x.sum() < 9:\n  x = x * 2\nelse:\n  y = 1\n",
     "!the line does not have the form"},
    {"remove the call", "f", 2, "for i in r:\n    torch._dynamo.graph_break()\n", "for i in r:\n    pass\n"},
    {"remove the torch.compiler.disable of it", "f", 4, "@torch.compiler.disable\ndef g(x):\n    pass\ny = g(x)\n",
     "def g(x):\n    pass\ny = g(x)\n"},
    {"x.clone() instead of copy.deepcopy(x)", "f", 1, "y = g(copy.deepcopy(x), copy.deepcopy(-x))\n", "y = g(x.clone(), (-x).clone())\n"},
    {"with torch.no_grad(): x.copy_(value)", "f", 2, "def f(y):\n    y.data = x + 1\n",
     "def f(y):\n    with torch.no_grad():\n        y.copy_(x + 1)\n"},
    {"Write it out of place: x = x + 1", "f", 1, "self.w.add_(1)\n", "!the line does not have the form"},
    {"State what always holds before the line that tests it: torch._check(n > 2)", "f", 3, "if a:\n    b = 1\nelif n > 2:\n    b = 2\n",
     "!"},
    {"State what always holds before the line that tests it: torch._check(n > 2)", "f", 2, "n = 1\nif n > 2:\n    b = 2\n",
     "n = 1\ntorch._check(n > 2)\nif n > 2:\n    b = 2\n"},
    {"Dim.AUTO", "f", 3, "a = Dim('a')\nb = Dim('b', max=2)\nf(a, b)\n", "!2 statements match"},
    {"Dim.AUTO", "f", 1, "f({0: torch.export.Dim('b', min=1)})\n", "f({0: torch.export.Dim.AUTO})\n"},
    {"torch.compile(f, dynamic=True)", "f", 2, "@torch.compile\ndef f(x):\n    pass\n",
     "@torch.compile(dynamic=True)\ndef f(x):\n    pass\n"},
    {"torch.compile(f, dynamic=True)", "f", 1, "def f(x):\n    pass\ng = torch.compile(f, fullgraph=True,)\nh = torch.compile(k)\n",
     "def f(x):\n    pass\ng = torch.compile(f, fullgraph=True, dynamic=True)\nh = torch.compile(k)\n"},
    {"torch.compile(f, dynamic=True)", "f", 1, "def f(x):\n    pass\ng = torch.compile(f, dynamic=False)\n",
     "!torch.compile already has dynamic"},
    {"torch.compile(f, dynamic=True)", "f", 1, "def f(x):\n    pass\n", "!no torch.compile of f"},
    {"torch._dynamo.mark_dynamic(x, 1)    # before", "f", 1, "def f(y, x=0):\n    pass\ng = torch.compile(f)\nif a:\n    g(b, x=c)\n",
     "def f(y, x=0):\n    pass\ng = torch.compile(f)\nif a:\n    torch._dynamo.mark_dynamic(c, 1)\n    g(b, x=c)\n"},
    {"torch._dynamo.mark_dynamic(x, 1)", "f", 1, "def f(y, x):\n    pass\ng = torch.compile(f)\ng(b, c + 1)\n",
     "!line 4 calls it with an expression"},
    {"torch._dynamo.mark_dynamic(x, 1)", "f", 1, "def f(y, x):\n    pass\ng = torch.compile(f)\nz = [g(b, c) for c in d]\n", "!line 4"},
    {"x = x.contiguous()", "f", 2, "@torch.compile\ndef f(x):\n    pass\nf(*a)\nf(b.t())\n",
     "@torch.compile\ndef f(x):\n    pass\nf(*a)\nf(b.t().contiguous())\n"},
    {"n = torch.tensor(2)", "f", 2, "@torch.compile\ndef f(x, n):\n    return x * n\nf(a, 2)\n",
     "@torch.compile\ndef f(x, n):\n    return x * n\nf(a, torch.tensor(2))\n"},
    {"n = torch.tensor(2)", "f", 2, "@torch.compile\ndef f(x, n):\n    return x.reshape(n, 2)\nf(a, 2)\n", "!line 3 needs a number"},
    {"n = torch.tensor(2)", "f", 2, "@torch.compile\ndef f(x, n):\n    if n * 2 > 3:\n        return x\nf(a, 2)\n",
     "!line 3 needs a number"},
    {"N = torch.tensor(1): an int", "f", 2,
     "N = 1\ndef f(x):\n    return x * N\ndef g():\n    global N\n    N = k + 1\ndef h():\n    N = 3\n",
     "N = torch.tensor(1)\ndef f(x):\n    return x * N\ndef g():\n    global N\n    N = torch.tensor(k + 1)\ndef h():\n    N = 3\n"},
    {"self.n counts or changes in the module: x", "forward", 5, MODULE "return x * self.n\n",
     "class N:\n    def __init__(self):\n        self.register_buffer(\"n\", torch.tensor(2))\n    def forward(self, x):\n        return x "
     "* self.n\n"},
    {"self.n counts or changes in the module: x", "forward", 5, MODULE "return x[self.n]\n", "!line 5 needs a number"},
    {"lr=torch.tensor(0.1) where", "f", 3, "o = torch.optim.SGD(p, lr=0.1 * k)\nfor g in o.param_groups:\n    g['lr'] = 3\n",
     "o = torch.optim.SGD(p, lr=torch.tensor(0.1 * k))\nfor g in o.param_groups:\n    g[\"lr\"].fill_(3)\n"},
    {"call it outside", "f", 1, "x = 1\n", "-"},
};

static void test_rules(void **state)
{
	(void)state;
	struct edit_rules r;
	struct err err = {.text = ""};
	assert_int_equal(edit_rules_read(&r, share_file("breaks/edits.txt"), &err), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct source s;
		struct buf b = {0};
		const char *want = rows[i].want;
		assert_int_equal(source_read(&s, slice_str(rows[i].source), "it", &err), 0);
		enum edit_result got = edit_make(&r, &s, rows[i].line, slice_str(rows[i].function), slice_str(rows[i].fix), &err);
		assert_int_equal(got, *want == '!' ? EDIT_REFUSED : *want == '-' ? EDIT_NO_RULE : EDIT_MADE);
		if (got == EDIT_REFUSED && !slice_starts(slice_str(err.text), want + 1))
			fail_msg("%s: '%s' instead of '%s'", rows[i].fix, err.text, want + 1);
		source_text(&s, &b);
		assert_text(buf_slice(&b), got == EDIT_MADE ? want : rows[i].source); /* all of it or nothing */
		uint32_t n = s.n_change;
		edit_make(&r, &s, rows[i].line, slice_str(rows[i].function), slice_str(rows[i].fix), &err);
		assert_int_equal(s.n_change, n); /* the same again is one */
		buf_release(&b);
		source_release(&s);
	}
	edit_rules_release(&r);
}

/* Two fixes in one block: the second would leave nothing. */
static void test_together(void **state)
{
	(void)state;
	struct edit_rules r;
	struct source s;
	struct err err;
	struct buf b = {0};
	assert_int_equal(edit_rules_read(&r, share_file("breaks/edits.txt"), &err), 0);
	assert_int_equal(source_read(&s, SLICE("def f(x):\n    print(1)\n    print(2)\n"), "it", &err), 0);
	assert_int_equal(edit_make(&r, &s, 2, SLICE("f"), SLICE("remove the print"), &err), EDIT_MADE);
	assert_int_equal(edit_make(&r, &s, 3, SLICE("f"), SLICE("remove the print"), &err), EDIT_REFUSED);
	assert_non_null(strstr(err.text, "the block of line 1 would be left empty"));
	source_text(&s, &b);
	assert_text(buf_slice(&b), "def f(x):\n    print(2)\n");
	source_release(&s);
	edit_rules_release(&r);
	buf_release(&b);
}

static void test_refused_files(void **state)
{
	(void)state;
	static const struct {
		struct slice text;
		const char *why;
	} bad[] = {
	    {SLICE("x = '\xff'\n"), "is not UTF-8"},    {SLICE("x = 1\r\ny = 2\r\n"), "CR LF"},   {SLICE("x = 1\0\n"), "NUL"},
	    {SLICE("# nothing\n"), "has no statement"}, {SLICE("x = (1,\n"), "unclosed bracket"}, {SLICE(""), "has no statement"},
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct source s;
		struct err err = {.text = ""};
		assert_int_equal(source_read(&s, bad[i].text, "it", &err), -1);
		assert_non_null(strstr(err.text, bad[i].why));
	}
}

static void test_bad_rules(void **state)
{
	(void)state;
	static const char *const bad[] = {"fix: a\n", "fix: a\nat: nowhere\n", "at: line\n", "fix: a\nat: line\nto: b\n",
					  "fix: a\nat: top\nwhat: b\n"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct edit_rules r;
		struct err err = {.text = ""};
		assert_int_equal(edit_rules_read(&r, slice_str(bad[i]), &err), -1);
		assert_true(err.text[0] != 0);
	}
}

static void test_diff(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b, *want;
	} diffs[] = {
	    {"a\nb\n", "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
	    {"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
	    {"a\nb", "a\n", "@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n"},
	    {"a\nb", "x\na\nb", "@@ -1,2 +1,3 @@\n+x\n a\n b\n\\ No newline at end of file\n"},
	    {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
	    {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n6\n7\n8\n9\n", "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(diffs); i++) {
		struct buf b = {0};
		unified_diff(&b, "my m.py", slice_str(diffs[i].a), slice_str(diffs[i].b));
		assert_true(slice_starts(buf_slice(&b), "--- a/my m.py\t\n+++ b/my m.py\t\n"));
		assert_text(slice_of(b.p + 30, b.len - 30), diffs[i].want);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_templates),     cmocka_unit_test(test_rules),     cmocka_unit_test(test_together),
	    cmocka_unit_test(test_refused_files), cmocka_unit_test(test_bad_rules), cmocka_unit_test(test_diff),
	};
	return RUN(tests);
}
