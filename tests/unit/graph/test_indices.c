/* graph/indices: what bounds an index, and what does not. */
#include "graph/fxcode.h"
#include "graph/indices.h"
#include "../../lib/test.h"

/* The bound of i in "def forward(self, x, i): BODY". */
static struct index_bound bound(const char *dtype, const char *body)
{
	struct graph g = {0};
	struct err err;
	char text[1000];
	snprintf(text, sizeof(text),
		 "class GraphModule(torch.nn.Module):\n"
		 "    def forward(self, x: \"f32[6, 10]\", i: \"%s[3]\"):\n"
		 "        %s\n"
		 "        return (a,)\n",
		 dtype, body);
	if (fxcode_read(&g, slice_str(text), "text", &err) < 0)
		fail_msg("%s", err.text);
	const struct index_bound b = graph_index_bound(&g, graph_find(&g, 0, SLICE("i")));
	graph_release(&g);
	return b;
}

static void is_bound(const char *body, int64_t n, int64_t all, bool wraps)
{
	const struct index_bound b = bound("i64", body);
	assert_int_equal(b.n, n);
	assert_int_equal(b.all, all);
	if (all)
		assert_int_equal(b.wraps, wraps);
}

static void test_uses(void **state)
{
	(void)state;
	is_bound("a = torch.ops.aten.embedding.default(x, i)", 6, 6, false);
	is_bound("a = torch.ops.aten.index_select.default(x, -1, i)", 10, 10, false);
	is_bound("a = torch.ops.aten.gather.default(x, 1, i)", 10, 10, false);
	is_bound("a = torch.ops.aten.index.Tensor(x, [i])", 6, 6, true);
	is_bound("a = torch.ops.aten.index.Tensor(x, [None, i])", 10, 10, true);
	is_bound("b = torch.ops.aten.index.Tensor(x, [None, i]); a = torch.ops.aten.embedding.default(x, i)", 6, 6, false);
}

static void test_ways(void **state)
{
	(void)state;
	is_bound("b: \"i64[3, 1]\" = torch.ops.aten.view.default(i, [3, 1]); a = torch.ops.aten.embedding.default(x, b)", 6, 6, false);
	/* the first of them may be anything */
	is_bound("b: \"i64[2]\" = torch.ops.aten.slice.Tensor(i, 0, 1, 3); a = torch.ops.aten.embedding.default(x, b)", 6, 0, false);
	is_bound("b: \"i64[1]\" = torch.ops.aten.index.Tensor(i, [x]); a = torch.ops.aten.embedding.default(x, b)", 6, 0, false);
	is_bound("b = torch.ops.aten.eq.Scalar(i, 0); a = torch.ops.aten.embedding.default(x, i)", 6, 6, false);
	/* certain, whatever the other use is */
	is_bound("b = torch.ops.mylib.op.default(i); a = torch.ops.aten.embedding.default(x, i)", -1, 6, false);
}

static void test_no_index(void **state)
{
	(void)state;
	is_bound("a = torch.ops.aten.add.Tensor(i, 1)", 0, 0, false);
	is_bound("a = torch.ops.mylib.op.default(i)", -1, 0, false);
	const struct index_bound mask = bound("b8", "a = torch.ops.aten.index.Tensor(x, [i])");
	assert_int_equal(mask.n, -1);
	assert_int_equal(mask.all, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_uses),
	    cmocka_unit_test(test_ways),
	    cmocka_unit_test(test_no_index),
	};
	return RUN(tests);
}
