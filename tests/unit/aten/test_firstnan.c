/* firstnan: the node that turns NaN first, its operands, its line; what is not known. */
#include "aten/firstnan/firstnan.h"
#include "base/text.h"
#include "graph/fxcode.h"

#include "../../lib/test.h"

#include <math.h>

static struct graph g;
static struct firstnan f;
static struct buf text, reason;

static void begin(const char *code)
{
	struct err err;
	if (fxcode_read(&g, slice_str(code), "graph", &err) < 0)
		fail_msg("%s", err.text);
	firstnan_open(&f, &g, false);
}

static void know(const char *name, int n_dim, const int64_t *size, const int64_t *stride, const float *v)
{
	struct tensor_meta m = {.dtype = DTYPE_F32, .n_dim = n_dim};
	int64_t contiguous = 1;
	for (int d = n_dim; d-- > 0; contiguous *= size[d]) {
		m.size[d] = size[d];
		m.stride[d] = stride ? stride[d] : contiguous;
	}
	assert_true(firstnan_know(&f, graph_find(&g, 0, slice_str(name)), &m, v));
}

static int find(const char *target, uint32_t *node)
{
	const uint32_t t = graph_find(&g, 0, slice_str(target));
	return firstnan_find(&f, &t, 1, node);
}

static void end(void)
{
	firstnan_close(&f);
	graph_release(&g);
	buf_reset(&text);
	buf_reset(&reason);
}

/* target turns NaN in `node`, for this reason and from these numbers, at this line. */
static void want(const char *target, const char *node, const char *why, const char *numbers, uint64_t line)
{
	uint32_t found;
	struct srcloc at = {0};
	if (find(target, &found) != 1)
		fail_msg("not found: %s", buf_str(&f.why));
	assert_true(slice_is(graph_name(&g, found), node));
	firstnan_explain(&f, found, &text, &reason);
	assert_string_equal(buf_str(&reason), why);
	assert_string_equal(buf_str(&text), numbers);
	assert_int_equal(firstnan_line(&f, found, &at) ? at.line : 0, line);
	end();
}

#define D(...) ((const int64_t[]){__VA_ARGS__})
#define V(...) ((const float[]){__VA_ARGS__})
#define INF ((float)INFINITY)

static void test_elements(void **state)
{
	(void)state;
	begin("def forward(self, x):\n"
	      "    # File: m.py:3 in f, code: p = x.relu()\n"
	      "    relu = torch.ops.aten.relu.default(x)\n"
	      "    # File: m.py:4 in f, code: return p * p.log()\n"
	      "    log = torch.ops.aten.log.default(relu)\n"
	      "    mul = torch.ops.aten.mul.Tensor(relu, log)\n"
	      "    neg = torch.ops.aten.neg.default(mul)\n"
	      "    return (neg,)\n");
	know("x", 2, D(2, 2), NULL, V(1, 2, -3, 4));
	want("neg", "mul", "0 * -inf", "mul(relu(-3) = 0, log(relu(-3) = 0) = -inf) = nan at [1, 0]", 4);

	begin("def forward(self, x, y):\n"
	      "    view = torch.ops.aten.view.default(x, [3, 1])\n"
	      "    expand = torch.ops.aten.expand.default(view, [3, 2])\n"
	      "    div = torch.ops.aten.div.Tensor(y, expand)\n"
	      "    return (div,)\n");
	know("x", 1, D(3), NULL, V(1, 0, 2));
	know("y", 1, D(2), NULL, V(5, 0));
	want("div", "div", "0 / 0", "div(0, 0) = nan at [1, 1]", 0);
}

/* The element that brought it in. */
static void test_sums(void **state)
{
	(void)state;
	begin("def forward(self, x):\n"
	      "    r = torch.ops.aten.reciprocal.default(x)\n"
	      "    sum_1 = torch.ops.aten.sum.dim_IntList(r, [-1])\n"
	      "    return (sum_1,)\n");
	know("x", 2, D(2, 3), NULL, V(1, 2, 3, 0, -0.f, 1));
	want("sum_1", "sum_1", "inf - inf in a sum", "sum(3 numbers, 1 inf at [1, 0], 1 -inf at [1, 1]) = nan at [1]", 0);

	begin("def forward(self, a, b):\n"
	      "    mm = torch.ops.aten.mm.default(a, b)\n"
	      "    return (mm,)\n");
	know("a", 2, D(2, 2), NULL, V(1, 2, 3, INF));
	know("b", 2, D(2, 1), NULL, V(1, 0));
	want("mm", "mm", "inf * 0 in a product of matrices", "mm: inf * 0 = nan, term 1 of 2 = nan at [1, 0]", 0);

	begin("def forward(self, s):\n"
	      "    _softmax = torch.ops.aten._softmax.default(s, -1, False)\n"
	      "    return (_softmax,)\n");
	know("s", 2, D(2, 2), NULL, V(1, 2, -INF, -INF));
	want("_softmax", "_softmax", "softmax of a row that is entirely -inf", "_softmax(2 numbers, all -inf) = nan at [1, 0]", 0);
}

/* What Inductor makes of a softmax on a GPU has no line of its own: it is that of the nodes that read its results. */
static void test_passes(void **state)
{
	(void)state;
	const struct slice fill = SLICE("File \"m.py\", line 4, in f\n    s = s.masked_fill(m, -inf)\n");
	const struct slice softmax = SLICE("File \"m.py\", line 5, in f\n    p = s.softmax(-1)\n");
	begin("def forward(self, s):\n"
	      "    # File: m.py:4 in f, code: s = s.masked_fill(m, -inf)\n"
	      "    neg = torch.ops.aten.neg.default(s)\n"
	      "    both = torch.ops.prims.prepare_softmax_online.default(neg, -1)\n"
	      "    getitem = both[0]\n"
	      "    getitem_1 = both[1]\n"
	      "    # File: m.py:5 in f, code: p = s.softmax(-1)\n"
	      "    sub = torch.ops.aten.sub.Tensor(neg, getitem)\n"
	      "    div = torch.ops.aten.div.Tensor(sub, getitem_1)\n"
	      "    return (div,)\n");
	struct slice by_node[8] = {{0}, fill, {0}, {0}, {0}, softmax, softmax, {0}};
	f.stack = by_node;
	know("s", 2, D(2, 2), NULL, V(1, 2, INF, INF));
	want("div", "both", "softmax of a row that is entirely -inf", "prepare_softmax_online(2 numbers, all -inf) = nan at [1, 0]", 5);
}

/* Nothing is computed that is known, and known values may be views of the node's memory. */
static void test_between(void **state)
{
	(void)state;
	uint32_t node;
	const char *code = "def forward(self, w, s: \"Sym(s7)\", x: \"f32[s7, 2][2, 1]cpu\"):\n"
			   "    mm: \"f32[2, s7][s7, 1]cpu\" = torch.ops.aten.mm.default(w, x)\n"
			   "    view = torch.ops.aten.view.default(x, [s, 2, 1])\n"
			   "    sqrt = torch.ops.aten.sqrt.default(view)\n"
			   "    mul = torch.ops.aten.mul.Tensor(sqrt, s)\n"
			   "    return (mul, mm)\n";
	begin(code);
	struct tensor_meta flat = {.dtype = DTYPE_F32, .n_dim = 1, .size = {4}, .stride = {1}};
	assert_false(firstnan_know(&f, graph_find(&g, 0, SLICE("x")), &flat, V(1, 4, 9, 16))); /* s7 is not known */
	assert_int_equal(find("mul", &node), -1);
	end();

	begin(code);
	know("x", 2, D(2, 2), NULL, V(1, 4, 9, 16));
	assert_int_equal(find("mul", &node), 0); /* clean; w was not needed */
	assert_int_equal(find("mm", &node), -1);
	assert_true(slice_has(buf_slice(&f.why), "w: its value was not among"));
	end();

	begin(code);
	know("x", 2, D(2, 2), NULL, V(1, 4, -9, 16));
	want("mul", "sqrt", "square root of a negative number", "sqrt(-9) = nan at [1, 0, 0]", 0);

	begin("def forward(self, x: \"f32[2, 2][2, 1]cpu\"):\n"
	      "    log = torch.ops.aten.log.default(x)\n"
	      "    return (log,)\n");
	know("x", 2, D(2, 2), D(1, 2), V(1, -3, 2, 4)); /* its transpose has the same sizes: it is taken as it is */
	want("log", "log", "log of a negative number", "log(-3) = nan at [0, 1]", 0);
}

/* Where the infinities began, but not those of a mask. */
static void test_infinities(void **state)
{
	(void)state;
	uint32_t node, inf;
	begin("def forward(self, x):\n"
	      "    full = torch.ops.aten.full.default([], -inf)\n"
	      "    m = torch.ops.aten.gt.Scalar(x, 50)\n"
	      "    where = torch.ops.aten.where.self(m, full, x)\n"
	      "    # File: m.py:7 in f, code: e = x.exp()\n"
	      "    exp = torch.ops.aten.exp.default(x)\n"
	      "    add = torch.ops.aten.add.Tensor(exp, where)\n"
	      "    return (add,)\n");
	know("x", 1, D(2), NULL, V(1, 100));
	assert_int_equal(find("add", &node), 1);
	assert_true(slice_is(graph_name(&g, node), "add"));
	inf = firstnan_infinity(&f, node);
	assert_true(inf != NONE && slice_is(graph_name(&g, inf), "exp"));
	firstnan_explain_infinity(&f, inf, &text);
	assert_string_equal(buf_str(&text), "exp(100) = inf at [1]");
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_elements), cmocka_unit_test(test_sums),       cmocka_unit_test(test_passes),
	    cmocka_unit_test(test_between),  cmocka_unit_test(test_infinities),
	};
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	buf_release(&text);
	buf_release(&reason);
	return failed;
}
