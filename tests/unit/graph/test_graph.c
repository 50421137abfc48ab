/* graph/graph: building, what graph_finish finds wrong, users, look-ups, copies. */
#include "graph/graph.h"
#include "../../lib/test.h"

static struct graph g;
static struct err err;

static int teardown(void **state)
{
	(void)state;
	graph_release(&g);
	return 0;
}

static uint32_t call(struct graph *to, uint32_t m, const char *name, const struct gvalue *args, size_t n)
{
	uint32_t i = graph_add_node(to, m, GRAPH_CALL_FUNCTION, slice_str(name), SLICE("torch.ops.aten.add.Tensor"));
	graph_set_args(to, i, args, n);
	return i;
}

static uint32_t placeholder(struct graph *to, uint32_t m, const char *name)
{
	return graph_add_node(to, m, GRAPH_PLACEHOLDER, slice_str(name), slice_str(name));
}

static void returns(struct graph *to, uint32_t m, uint32_t node)
{
	uint32_t o = graph_add_node(to, m, GRAPH_OUTPUT, SLICE("output"), SLICE("output"));
	struct gvalue v = graph_node_value(node);
	v = graph_sequence(to, GV_TUPLE, &v, 1);
	graph_set_args(to, o, &v, 1);
}

static void finish(struct graph *to)
{
	if (graph_finish(to, &err) < 0)
		fail_msg("%s", err.text);
}

static void refused(const char *why)
{
	assert_int_equal(graph_finish(&g, &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_string_equal(err.text, why);
	assert_null(g.by_name);
}

/* x, y; a = add(x, [y, x], alpha=y); b = add(a, slice(a, None, 2)); return (b,) */
static void build_small(void)
{
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	uint32_t x = placeholder(&g, m, "x"), y = placeholder(&g, m, "y");
	struct gvalue list[] = {graph_node_value(y), graph_node_value(x)};
	struct gvalue args[] = {graph_node_value(x), graph_sequence(&g, GV_LIST, list, 2)};
	uint32_t a = call(&g, m, "a", args, 2);
	struct gvalue kw[] = {graph_text_value(&g, GV_STR, SLICE("alpha")), graph_node_value(y)};
	graph_set_kwargs(&g, a, kw, 1);
	struct gvalue part[] = {graph_node_value(a), graph_none_value(), graph_int_value(2)};
	struct gvalue more[] = {graph_node_value(a), graph_sequence(&g, GV_SLICE, part, 3)};
	uint32_t b = call(&g, m, "b", more, 2);
	struct symsize size[2] = {symsize_symbol(&g.tab, SLICE("s77")), symsize_int(8)};
	g.node[b].meta = graph_add_tensor(&g, DTYPE_F32, 2, size, NULL, SLICE("cpu"));
	returns(&g, m, b);
}

static bool note(void *user, uint32_t operand)
{
	buf_addf(user, "%u ", operand);
	return true;
}

static bool stop_at_second(void *user, uint32_t operand)
{
	(void)operand;
	return ++*(int *)user < 2;
}

static void test_users_and_operands(void **state)
{
	(void)state;
	struct buf b = {0};
	int n = 0;
	build_small();
	finish(&g);
	graph_operands(&g, 2, note, &b);
	assert_string_equal(buf_str(&b), "0 1 0 1 ");
	assert_false(graph_operands(&g, 2, stop_at_second, &n));
	assert_int_equal(n, 2);
	assert_int_equal(g.user_of[1] - g.user_of[0], 1); /* x: a, once */
	assert_int_equal(g.user_of[2] - g.user_of[1], 1);
	assert_int_equal(g.user[g.user_of[2]], 3); /* a: b */
	assert_int_equal(g.user[g.user_of[3]], 4); /* b: output */
	assert_int_equal(g.user_of[5] - g.user_of[4], 0);
	assert_int_equal(graph_n_ops(&g), 2);
	buf_release(&b);
}

static void test_look_ups(void **state)
{
	(void)state;
	build_small();
	assert_int_equal(graph_find(&g, 0, SLICE("b")), 3); /* also while it is built */
	graph_add_attr(&g, 0, GATTR_BUFFER, SLICE("w"), SLICE("tensor(1)"));
	graph_add_attr(&g, 0, GATTR_OTHER, SLICE("w"), (struct slice){0});
	finish(&g);
	assert_int_equal(graph_find(&g, 0, SLICE("b")), 3);
	assert_int_equal(graph_find(&g, 0, SLICE("nothing")), NONE);
	assert_int_equal(graph_find(&g, 0, SLICE("alpha")), NONE);
	assert_int_equal(graph_find(&g, 7, SLICE("b")), NONE);
	assert_int_equal(graph_attr(&g, 0, SLICE("w"))->kind, GATTR_OTHER);
	assert_null(graph_attr(&g, 0, SLICE("b")));
	assert_int_equal(graph_kwarg(&g, 2, "alpha")->node, 1);
	assert_null(graph_kwarg(&g, 2, "beta"));
	assert_text(graph_op_text(&g, 2), "aten.add.Tensor");
	assert_text(graph_op_text(&g, 0), "x");
	assert_string_equal(graph_op_name(GRAPH_CALL_FUNCTION), "call_function");
}

static void test_getitem(void **state)
{
	(void)state;
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	uint32_t x = placeholder(&g, m, "x");
	uint32_t i = graph_add_node(&g, m, GRAPH_CALL_FUNCTION, SLICE("i"), SLICE("_operator.getitem"));
	struct gvalue args[] = {graph_node_value(x), graph_int_value(0)};
	graph_set_args(&g, i, args, 2);
	returns(&g, m, i);
	finish(&g);
	assert_true(graph_is_getitem(&g, i) && !graph_is_getitem(&g, x));
	assert_int_equal(graph_n_ops(&g), 0);
}

/* ---- what is refused ---- */

static void test_order(void **state)
{
	(void)state;
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	struct gvalue later = graph_node_value(1), self = graph_node_value(0), none = graph_node_value(99);
	call(&g, m, "add", &later, 1);
	call(&g, m, "mul", NULL, 0);
	returns(&g, m, 1);
	refused("node 'add' uses 'mul', which comes after it");
	g.node[0].line = 12;
	graph_set_args(&g, 0, &self, 1);
	refused("line 12: node 'add' uses itself");
	graph_set_args(&g, 0, &none, 1);
	refused("line 12: node 'add' uses a node that does not exist");
}

static void test_two_of_a_name(void **state)
{
	(void)state;
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	placeholder(&g, m, "x");
	returns(&g, m, placeholder(&g, m, "x"));
	refused("node 'x' has the name of an earlier node");
}

static void test_output(void **state)
{
	(void)state;
	refused("the graph has no modules");
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	refused("module 'the root' returns nothing (it has no output)");
	uint32_t x = placeholder(&g, m, "x");
	returns(&g, m, x);
	placeholder(&g, m, "y");
	refused("node 'output' returns, but 'y' follows it");
}

static void test_modules(void **state)
{
	(void)state;
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	uint32_t x = placeholder(&g, m, "x");
	returns(&g, m, x);
	uint32_t child = graph_add_module(&g, m, SLICE("true_graph_0"), SLICE("true_graph_0"));
	returns(&g, child, x);
	refused("node 'output' uses 'x', which is in another module");
	struct gvalue v = graph_none_value();
	graph_set_args(&g, g.module[child].output, &v, 1);
	finish(&g);
	assert_int_equal(graph_child(&g, 0, SLICE("true_graph_0")), child);
	assert_int_equal(graph_child(&g, 0, SLICE("x")), NONE);
	placeholder(&g, m, "late");
	refused("node 'output' is among the nodes of another module");
}

static void test_deep_operand(void **state)
{
	(void)state;
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	struct gvalue v = graph_int_value(1);
	for (int i = 0; i < GRAPH_MAX_DEPTH; i++)
		v = graph_sequence(&g, GV_LIST, &v, 1);
	uint32_t a = call(&g, m, "a", &v, 1);
	returns(&g, m, a);
	finish(&g);
	v = graph_sequence(&g, GV_LIST, &v, 1);
	graph_set_args(&g, a, &v, 1);
	refused("node 'a' has an operand that is nested too deeply");
	v = (struct gvalue){.kind = GV_LIST, .n = 1, .first = (uint32_t)g.n_values};
	graph_set_args(&g, a, &v, 1); /* a list that holds itself */
	refused("node 'a' has an operand whose children are out of range");
}

/* ---- attributes, metadata ---- */

static void test_attributes_stay_together(void **state)
{
	(void)state;
	uint32_t m = graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	returns(&g, m, placeholder(&g, m, "x"));
	uint32_t c = graph_add_module(&g, m, SLICE("c"), SLICE("C"));
	returns(&g, c, placeholder(&g, c, "x"));
	graph_add_attr(&g, m, GATTR_BUFFER, SLICE("a"), SLICE("1"));
	graph_add_attr(&g, c, GATTR_BUFFER, SLICE("b"), SLICE("2"));
	graph_add_attr(&g, m, GATTR_BUFFER, SLICE("d"), SLICE("3"));
	graph_add_attr(&g, c, GATTR_BUFFER, SLICE("e"), SLICE("4"));
	finish(&g);
	assert_int_equal(g.module[m].n_attr, 2);
	assert_text(graph_text(&g, g.attr[g.module[m].first_attr + 1].name), "d");
	assert_text(graph_text(&g, g.attr[g.module[c].first_attr].name), "b");
	assert_text(graph_text(&g, graph_attr(&g, c, SLICE("e"))->expr), "4");
}

static void test_tuple_meta(void **state)
{
	(void)state;
	struct symsize two = symsize_int(2);
	uint32_t t = graph_add_tensor(&g, DTYPE_BF16, 1, &two, &two, SLICE("cuda:0"));
	uint32_t s = graph_add_sym(&g, symsize_symbol(&g.tab, SLICE("s0")));
	struct gmeta part[] = {g.meta[t], {.kind = GMETA_NONE}, g.meta[s], {.kind = GMETA_TUPLE}};
	uint32_t k = graph_add_tuple_meta(&g, part, 4);
	assert_int_equal(g.meta[k].n_parts, 4);
	assert_int_equal(g.meta[g.meta[k].first].dtype, DTYPE_BF16);
	assert_int_equal(g.meta[g.meta[k].first + 3].kind, GMETA_NONE);
	assert_true(g.meta[t].has_stride && g.dim[g.meta[t].dim + 1].k == 2);
}

/* ---- copies ---- */

static void assert_copy(const struct graph *h)
{
	struct buf b = {0};
	assert_int_equal(h->n_nodes, g.n_nodes);
	for (uint32_t i = 0; i < g.n_nodes; i++) {
		struct slice name = graph_name(&g, i);
		assert_true(slice_eq(graph_name(h, i), name));
		assert_int_equal(h->node[i].n_args, g.node[i].n_args);
	}
	const struct gmeta *m = &h->meta[h->node[3].meta];
	assert_int_equal(m->dtype, DTYPE_F32);
	symsize_print(&h->tab, h->dim[m->dim], &b);
	assert_string_equal(buf_str(&b), "s77");
	assert_text(graph_text(h, m->device), "cpu");
	assert_int_equal(h->value[h->value[h->node[3].args + 1].first + 2].i, 2);
	buf_release(&b);
}

static void test_copy_of_a_module(void **state)
{
	(void)state;
	struct graph h = {0};
	build_small();
	graph_add_attr(&g, 0, GATTR_BUFFER, SLICE("w"), SLICE("tensor(1)"));
	uint32_t c = graph_add_module(&g, 0, SLICE("c"), SLICE("C"));
	returns(&g, c, placeholder(&g, c, "x"));
	finish(&g);
	graph_intern(&h, SLICE("another order of texts"));
	graph_copy_module(&h, NONE, &g, 0);
	finish(&h);
	assert_copy(&h);
	assert_text(graph_text(&h, graph_attr(&h, 0, SLICE("w"))->expr), "tensor(1)");
	assert_int_equal(graph_child(&h, 0, SLICE("c")), 1);
	graph_release(&h);
}

/* A borrowing graph has the lender's ids, and its own beyond. */
static void test_borrow(void **state)
{
	(void)state;
	struct graph h = {0};
	build_small();
	finish(&g);
	graph_borrow(&h, &g);
	graph_copy_module(&h, NONE, &g, 0);
	graph_intern(&g, SLICE("only the lender"));
	assert_int_equal(graph_intern(&h, SLICE("only the borrower")), h.lent_texts);
	finish(&h);
	assert_int_equal(h.node[2].name, g.node[2].name);
	assert_copy(&h);
	assert_int_equal(graph_find(&h, 0, SLICE("b")), 3);
	graph_release(&h);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_users_and_operands),
	    T(test_look_ups),
	    T(test_getitem),
	    T(test_order),
	    T(test_two_of_a_name),
	    T(test_output),
	    T(test_modules),
	    T(test_deep_operand),
	    T(test_attributes_stay_together),
	    T(test_tuple_meta),
	    T(test_copy_of_a_module),
	    T(test_borrow),
	};
	return RUN(tests);
}
