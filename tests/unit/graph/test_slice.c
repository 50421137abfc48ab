/* graph/slice: units, effects, candidates (also random ones), what is dead, needed, symbolic. */
#include "graph/slice.h"
#include "../../lib/test.h"

static struct graph g, out;
static struct units u;
static struct cut cut;
static struct err err;
static uint64_t keep[64];

static int teardown(void **state)
{
	(void)state;
	cut_release(&cut);
	units_release(&u);
	graph_release(&out);
	graph_release(&g);
	memset(keep, 0, sizeof(keep));
	return 0;
}

/* A node of the root from a line "name target operand operand": an operand that is no node's name is an int. */
static uint32_t add(const char *line)
{
	struct slice word[16], rest = slice_str(line);
	size_t n = 0;
	while (rest.n && n < ARRAY_LEN(word)) {
		const char *end = slice_chr(rest, ' ');
		size_t len = end ? (size_t)(end - rest.p) : rest.n;
		word[n++] = slice_of(rest.p, len);
		rest = slice_of(rest.p + len + (end != NULL), rest.n - len - (end != NULL));
	}
	enum graph_op op = slice_is(word[1], "input")         ? GRAPH_PLACEHOLDER
			   : slice_is(word[1], "return")      ? GRAPH_OUTPUT
			   : slice_starts(word[1], "self.")   ? GRAPH_GET_ATTR
			   : slice_starts(word[1], "method.") ? GRAPH_CALL_METHOD
			   : slice_starts(word[1], "module.") ? GRAPH_CALL_MODULE
							      : GRAPH_CALL_FUNCTION;
	struct slice target = op == GRAPH_PLACEHOLDER ? word[0] : word[1];
	size_t cut_off = op == GRAPH_GET_ATTR ? 5 : op == GRAPH_CALL_METHOD || op == GRAPH_CALL_MODULE ? 7 : 0;
	uint32_t m = (uint32_t)g.n_modules - 1;
	uint32_t id = graph_add_node(&g, m, op, word[0], slice_of(target.p + cut_off, target.n - cut_off));
	struct gvalue v[16];
	for (size_t i = 2; i < n; i++) {
		uint32_t node = graph_find(&g, m, word[i]);
		v[i - 2] = node == NONE ? graph_int_value(word[i].p[0] - '0') : graph_node_value(node);
	}
	if (op == GRAPH_OUTPUT) {
		v[0] = graph_sequence(&g, GV_TUPLE, v, n - 2);
		n = 3;
	}
	graph_set_args(&g, id, v, n - 2);
	return id;
}

static void make(const char *const *line, size_t n)
{
	graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	for (size_t i = 0; i < n; i++)
		add(line[i]);
}
#define MAKE(...) make((const char *const[]){__VA_ARGS__}, ARRAY_LEN(((const char *const[]){__VA_ARGS__})))

static void finish(void)
{
	if (graph_finish(&g, &err) < 0)
		fail_msg("%s", err.text);
	units_find(&g, &u);
}

static void keep_node(const char *name) { bit_add(keep, u.of[graph_find(&g, 0, slice_str(name))]); }

/* "x;y;add = x y;return add" */
static char *drawn(const struct graph *of)
{
	static struct buf b;
	buf_reset(&b);
	for (uint32_t i = 0; i < of->module[0].n; i++) {
		const struct gnode *n = &of->node[i];
		struct slice name = graph_name(of, i);
		struct gvalue list = n->n_args ? of->value[n->args] : graph_none_value();
		bool ret = n->op == GRAPH_OUTPUT;
		buf_addf(&b, "%s%.*s", i ? ";" : "", ret ? 6 : (int)name.n, ret ? "return" : name.p);
		if (n->op != GRAPH_PLACEHOLDER && n->op != GRAPH_GET_ATTR && !ret)
			buf_adds(&b, " =");
		for (uint32_t k = 0; k < (ret ? list.n : n->n_args); k++) {
			struct gvalue v = of->value[(ret ? list.first : n->args) + k];
			if (v.kind == GV_NODE)
				buf_addf(&b, " %.*s", SL(graph_name(of, v.node)));
			else
				buf_addf(&b, " %d", (int)v.i);
		}
	}
	return b.p;
}

static void assert_built(const char *want)
{
	if (slice_build(&g, &u, keep, NULL, &out, &cut, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(drawn(&out), want);
}

#define ADD "torch.ops.aten.add.Tensor"
#define MUL "torch.ops.aten.mul.Tensor"
#define GETITEM "_operator.getitem"

static void test_any_subset(void **state)
{
	(void)state;
	MAKE("x input", "y input", "a " ADD " x y", "b " MUL " a a", "c " ADD " b y", "d " MUL " a c", "o return d");
	struct symsize n = symsize_symbol(&g.tab, SLICE("s0"));
	g.node[3].meta = graph_add_tensor(&g, DTYPE_F32, 1, &n, NULL, SLICE("cpu"));
	finish();
	assert_int_equal(u.n, 4);
	keep_node("c");
	keep_node("a");
	assert_built("x;y;b;a = x y;c = b y;return a c");
	assert_int_equal(cut.n_inputs, 3);
	assert_int_equal(cut.input[2], 3);
	assert_int_equal(cut.n_outputs, 2);
	assert_int_equal(cut.output[1], 4);
	assert_int_equal(cut.from[2], 3);
	assert_int_equal(cut.from[cut.n_nodes - 1], NONE);
	const struct gmeta *m = &out.meta[out.node[2].meta];
	assert_int_equal(m->dtype, DTYPE_F32);
	assert_true(symsize_eq(out.dim[m->dim], n));
}

static void test_nothing_and_all(void **state)
{
	(void)state;
	MAKE("x input", "a " ADD " x x", "b " MUL " a 2", "o return b");
	finish();
	assert_built("return");
	cut_release(&cut);
	graph_release(&out);
	keep_node("a");
	keep_node("b");
	assert_built("x;a = x x;b = a 2;return b");
}

static void test_tuple_is_one_unit(void **state)
{
	(void)state;
	MAKE("x input", "s torch.ops.aten.split.Tensor x 2", "g0 " GETITEM " s 0", "a " ADD " g0 g0", "g1 " GETITEM " s 1",
	     "b " MUL " g1 a", "o return b");
	finish();
	assert_int_equal(u.n, 3);
	assert_int_equal(u.of[4], u.of[1]);
	assert_true(u.is[1] & NODE_TUPLE && u.is[4] & NODE_GETITEM);
	keep_node("b");
	assert_built("a;g1;b = g1 a;return b"); /* a part of a tuple can be given */
	cut_release(&cut);
	graph_release(&out);
	keep_node("s");
	assert_built("x;a;s = x 2;g1 = s 1;b = g1 a;return b"); /* g0 is for nobody */
	cut_release(&cut);
	graph_release(&out);
	memset(keep, 0, sizeof(keep));
	keep_node("s");
	assert_built("x;s = x 2;g0 = s 0;g1 = s 1;return g0 g1");
}

static void test_tuple_cannot_be_given(void **state)
{
	(void)state;
	MAKE("x input", "s torch.ops.aten.split.Tensor x 2", "g0 " GETITEM " s 0", "f torch.ops.my.sum.default s", "o return f");
	finish();
	keep_node("f");
	assert_int_equal(slice_build(&g, &u, keep, NULL, &out, &cut, &err), -1);
	assert_string_equal(err.text, "node 'f' needs 's', whose value is a tuple");
	assert_null(cut.input);
	slice_close(&g, &u, NULL, false, keep);
	assert_true(bit_in(keep, u.of[1]));
	assert_built("x;s = x 2;f = s;return f");
}

/* What cannot be given is computed, and what that needs, back to what can: a chain without metadata, its last node alone kept. */
static void test_closing_goes_all_the_way_back(void **state)
{
	(void)state;
	MAKE("x input", "a " ADD " x x", "b " ADD " a a", "c " ADD " b b", "d " ADD " c x", "o return d");
	struct symsize n = symsize_int(4);
	g.node[2].meta = graph_add_tensor(&g, DTYPE_F32, 1, &n, NULL, SLICE("cpu"));
	finish();
	keep_node("d");
	slice_close(&g, &u, NULL, false, keep);
	assert_built("x;b;c = b b;d = c x;return d");
}

/* What is not known can be given as a guess, but not what is no tensor by its name. */
static void test_closing_with_guesses(void **state)
{
	(void)state;
	MAKE("x input", "a " ADD " x x", "n torch.ops.aten.sym_size.int a 0", "m _operator.mul n 2", "v torch.ops.aten.view.default a m",
	     "s torch.chunk v 2", "c torch.cat s", "d " ADD " c v", "o return d");
	finish();
	keep_node("d");
	slice_close(&g, &u, NULL, true, keep);
	assert_built("v;c;d = c v;return d");
	keep_node("v");
	slice_close(&g, &u, NULL, true, keep);
	assert_built("a;c;n = a 0;m = n 2;v = a m;d = c v;return d");
	cut_release(&cut);
	graph_release(&out);
	memset(keep, 0, sizeof(keep));
	keep_node("c");
	slice_close(&g, &u, NULL, true, keep);
	assert_built("v;s = v 2;c = s;return c");
}

/* With a way round what is not known, nothing is closed over. */
static void test_closing_goes_the_other_way(void **state)
{
	(void)state;
	uint32_t replace[6];
	MAKE("x input", "a " ADD " x x", "b " ADD " a a", "c " ADD " b x", "o return c");
	finish();
	memset(replace, 0xff, sizeof(replace));
	replace[2] = 0;
	keep_node("c");
	slice_close(&g, &u, replace, false, keep);
	assert_int_equal(bits_count(keep, u.n), 1);
}

/* With metadata that says tensor, an int takes a row, and the node before it can be given. */
static void test_getitem_of_a_tensor(void **state)
{
	(void)state;
	MAKE("x input", "a " ADD " x x", "r " GETITEM " a 0", "o return r");
	struct symsize n = symsize_int(4);
	g.node[1].meta = graph_add_tensor(&g, DTYPE_F32, 1, &n, NULL, SLICE("cpu"));
	finish();
	assert_int_equal(u.n, 2);
	keep_node("r");
	assert_built("a;r = a 0;return r");
	slice_close(&g, &u, NULL, false, keep);
	assert_int_equal(bits_count(keep, u.n), 1);
}

static void test_subgraphs_and_attributes_come_along(void **state)
{
	(void)state;
	MAKE("x input", "t self.true_graph_0", "w self._tensor_constant0", "a " ADD " x w", "c torch.ops.higher_order.cond x t t",
	     "l module.layers.0 c", "o return a l");
	graph_add_attr(&g, 0, GATTR_BUFFER, SLICE("_tensor_constant0"), SLICE("tensor(1)"));
	graph_add_attr(&g, 0, GATTR_MODULE, SLICE("layers"), SLICE("ModuleList()"));
	uint32_t child = graph_add_module(&g, 0, SLICE("true_graph_0"), SLICE("true_graph_0"));
	assert_int_equal(child, 1);
	add("x input");
	add("y " ADD " x x");
	add("o return y");
	finish();
	assert_int_equal(u.n, 3);
	keep_node("c");
	assert_built("x;t;c = x t t;return c");
	assert_int_equal(out.n_modules, 2);
	assert_int_equal(out.n_attrs, 0);
	assert_int_equal(graph_child(&out, 0, SLICE("true_graph_0")), 1);
	assert_int_equal(out.module[1].n, 3);
	cut_release(&cut);
	graph_release(&out);
	memset(keep, 0, sizeof(keep));
	keep_node("a");
	keep_node("l");
	assert_built("x;c;w;a = x w;l = c;return a l");
	assert_int_equal(out.n_modules, 1);
	assert_text(graph_text(&out, graph_attr(&out, 0, SLICE("layers"))->expr), "ModuleList()");
	assert_text(graph_text(&out, graph_attr(&out, 0, SLICE("_tensor_constant0"))->expr), "tensor(1)");
}

static void test_replace(void **state)
{
	(void)state;
	uint32_t replace[7];
	MAKE("x input", "a " ADD " x x", "b " MUL " a a", "c " ADD " b x", "d " MUL " c b", "o return d");
	finish();
	memset(replace, 0xff, sizeof(replace));
	replace[3] = 2;
	replace[2] = 1; /* c -> b -> a */
	keep_node("a");
	keep_node("d");
	assert_int_equal(slice_build(&g, &u, keep, replace, &out, &cut, &err), 0);
	assert_string_equal(drawn(&out), "x;a = x x;d = a a;return d");
	cut_release(&cut);
	graph_release(&out);
	replace[1] = 3; /* in a circle: each is itself */
	assert_int_equal(slice_build(&g, &u, keep, replace, &out, &cut, &err), 0);
	assert_string_equal(drawn(&out), "x;b;c;a = x x;d = c b;return d a");
	cut_release(&cut);
	graph_release(&out);
	memset(replace, 0xff, sizeof(replace));
	replace[1] = 4;
	keep_node("b");
	assert_int_equal(slice_build(&g, &u, keep, replace, &out, &cut, &err), -1);
	assert_string_equal(err.text, "node 'b' needs 'd', which does not come before it");
}

/* The original's outputs stay, in their order, as far as their nodes do: used ones, inputs, one twice; of a tuple only what it returns. */
static void test_outputs_stay(void **state)
{
	(void)state;
	MAKE("x input", "y input", "a " ADD " x x", "b " MUL " a a", "c " ADD " b b", "s torch.ops.aten.split.Tensor c 2",
	     "g0 " GETITEM " s 0", "g1 " GETITEM " s 1", "d " ADD " g0 g1", "o return b y a 7 g0 b");
	finish();
	keep_node("a");
	assert_built("x;y;a = x x;return y a 7");
	assert_int_equal(cut.n_outputs, 3);
	assert_int_equal(cut.output[0], 1);
	assert_int_equal(cut.output[2], NONE);
	keep_node("b");
	assert_built("x;y;a = x x;b = a a;return b y a 7 b");
	memset(keep, 0, sizeof(keep));
	keep_node("c");
	keep_node("s");
	assert_built("y;b;c = b b;s = c 2;g0 = s 0;return y 7 g0");
}

static void test_effects(void **state)
{
	(void)state;
	static const struct {
		const char *target;
		bool effect, mutates;
	} want[] = {
	    {ADD, false, false},
	    {"torch.ops.aten.add_.Tensor", true, true},
	    {"torch.ops.aten.copy_.default", true, true},
	    {"torch.ops.aten._assert_async.msg", true, false},
	    {"torch.ops.aten.rand_like.default", true, false},
	    {"torch.ops.mylib.relu_.default", true, true},
	    {"torch.relu_", true, true},
	    {"torch.relu", false, false},
	    {"_operator.setitem", true, true},
	    {"_operator.iadd", true, true},
	    {"_operator.add", false, false},
	    {"method.add_", true, true},
	    {"method.__iadd__", true, true},
	    {"method.__add__", false, false},
	    {"method.add", false, false},
	    {"torch.ops.higher_order.auto_functionalized_v2", true, false},
	    {"torch.ops.higher_order.triton_kernel_wrapper_mutation", true, false},
	    {"torch._C._set_grad_enabled", true, false},
	};
	graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	add("x input");
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		char *line = xasprintf("n%zu %s x x", i, want[i].target);
		add(line);
		free(line);
	}
	uint32_t inplace = add("inplace torch.nn.functional.relu x");
	struct gvalue kw[] = {graph_text_value(&g, GV_STR, SLICE("inplace")), graph_bool_value(true)};
	graph_set_kwargs(&g, inplace, kw, 1);
	add("o return x");
	finish();
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		uint32_t mutates;
		if (node_has_effect(&g, (uint32_t)i + 1, &mutates) != want[i].effect || (mutates == 0) != want[i].mutates)
			fail_msg("%s", want[i].target);
		assert_int_equal((u.is[i + 1] & NODE_EFFECT) != 0, want[i].effect);
	}
	assert_true(node_has_effect(&g, inplace, NULL));
}

/* What a subgraph does, its operator does. */
static void test_effect_in_a_subgraph(void **state)
{
	(void)state;
	MAKE("x input", "t self.t", "f self.f", "c torch.ops.higher_order.cond x t f", "d torch.ops.higher_order.cond x f f", "o return x");
	graph_add_module(&g, 0, SLICE("t"), SLICE("t"));
	add("x input");
	add("y torch.ops.aten.add_.Tensor x x");
	add("o return y");
	graph_add_module(&g, 0, SLICE("f"), SLICE("f"));
	add("x input");
	add("o return x");
	finish();
	assert_true(node_has_effect(&g, 3, NULL));
	assert_false(node_has_effect(&g, 4, NULL));
}

static void test_no_value_is_no_output(void **state)
{
	(void)state;
	MAKE("x input", "e torch.amp.autocast_mode._enter_autocast 1", "a " ADD " x x", "q torch.amp.autocast_mode._exit_autocast e",
	     "v torch._assert x 1", "m torch.ops.aten.copy_.default x a", "o return a");
	finish();
	assert_int_equal(u.of[3], u.of[1]);
	keep_node("e");
	keep_node("v");
	keep_node("m");
	assert_built("x;a;e = 1;q = e;v = x 1;m = x a;return m");
}

static void test_dead(void **state)
{
	(void)state;
	MAKE("x input", "a " ADD " x x", "b " MUL " a a", "v torch.ops.aten.view.default a 4", "c " ADD " x 1",
	     "w torch.ops.aten.add_.Tensor v c", "d " MUL " b b", "o return a");
	finish();
	uint64_t dead[1] = {0};
	assert_int_equal(slice_dead(&g, &u, dead), 2);
	assert_true(bit_in(dead, u.of[2]) && bit_in(dead, u.of[6]));
	assert_int_equal(bits_count(dead, u.n), 2);
}

/* ---- random graphs, random sets ---- */

static void random_graph(uint64_t *seed, uint32_t n)
{
	static const char *const target[] = {ADD,
					     MUL,
					     "torch.ops.aten.split.Tensor",
					     "torch.ops.aten.add_.Tensor",
					     "torch.ops.aten._assert_async.default",
					     "torch.ops.aten.view.default"};
	char *line, tensors[256][16];
	uint32_t n_tensors = 0, inputs = 1 + pick(seed, 4);
	graph_add_module(&g, NONE, SLICE(""), SLICE("Repro"));
	for (uint32_t i = 0; i < inputs; i++) {
		snprintf(tensors[n_tensors++], 16, "x%u", i);
		line = xasprintf("x%u input", i);
		add(line);
		free(line);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = pick(seed, 8) < 5 ? pick(seed, 2) : 2 + pick(seed, 4), from = n_tensors < 6 ? 0 : n_tensors - 6;
		const char *a = tensors[from + pick(seed, n_tensors - from)], *b = tensors[pick(seed, n_tensors)];
		line = xasprintf("n%u %s %s %s", i, target[kind], a, b);
		add(line);
		free(line);
		for (uint32_t k = 0; kind == 2 && k < 1 + pick(seed, 3); k++) {
			line = xasprintf("n%u_%u " GETITEM " n%u %u", i, k, i, k);
			add(line);
			free(line);
			snprintf(tensors[n_tensors++], 16, "n%u_%u", i, k);
		}
		if (kind != 2 && kind != 4)
			snprintf(tensors[n_tensors++], 16, "n%u", i);
	}
	line = xasprintf("o return %s %s x0 %s", tensors[n_tensors - 1], tensors[pick(seed, n_tensors)], tensors[pick(seed, n_tensors)]);
	add(line);
	free(line);
	finish();
}

static bool kept(uint32_t node) { return u.of[node] != NONE && bit_in(keep, u.of[node]); }

/* Does anybody in K use a node of this unit, besides the unit itself? */
static bool unit_used(uint32_t unit)
{
	for (uint32_t k = u.first[unit]; k < u.first[unit + 1]; k++)
		for (uint32_t at = g.user_of[u.node[k]]; at < g.user_of[u.node[k] + 1]; at++)
			if (kept(g.user[at]) && u.of[g.user[at]] != unit)
				return true;
	return false;
}

static bool is_returned(uint32_t node)
{
	return g.user_of[node + 1] > g.user_of[node] && g.user[g.user_of[node + 1] - 1] == g.module[0].output;
}

static bool unit_returned(uint32_t unit)
{
	for (uint32_t k = u.first[unit]; k < u.first[unit + 1]; k++)
		if (is_returned(u.node[k]))
			return true;
	return false;
}

static bool is_output(uint32_t node)
{
	for (uint32_t k = 0; k < cut.n_outputs; k++)
		if (cut.output[k] == node)
			return true;
	return false;
}

static void check_candidate(void)
{
	uint32_t n_kept = 0, seen_kept = 0;
	struct gvalue ret = out.value[out.node[out.module[0].output].args];
	assert_int_equal(out.module[0].n, cut.n_nodes);
	assert_int_equal(ret.n, cut.n_outputs);
	for (uint32_t i = 0; i < cut.n_nodes - 1; i++) {
		uint32_t from = cut.from[i];
		assert_true(slice_eq(graph_name(&out, i), graph_name(&g, from)));
		assert_int_equal(out.node[i].op == GRAPH_PLACEHOLDER, i < cut.n_inputs);
		if (i < cut.n_inputs) {
			assert_int_equal(cut.input[i], from);
			assert_false(kept(from));
			assert_true(out.user_of[i + 1] > out.user_of[i]); /* no input for nothing */
		} else {
			assert_true(kept(from));
			assert_int_equal(out.node[i].n_args, g.node[from].n_args);
			seen_kept++;
		}
	}
	for (uint32_t i = 0; i < cut.n_outputs; i++) {
		uint32_t node = out.value[ret.first + i].node;
		assert_int_equal(cut.from[node], cut.output[i]);
		assert_true(is_returned(cut.output[i]) || !unit_used(u.of[cut.output[i]]));
		assert_false(u.is[cut.output[i]] & (NODE_TUPLE | NODE_NO_VALUE));
	}
	for (uint32_t i = 0; i < g.n_nodes; i++) {
		bool part_for_nobody = u.is[i] & NODE_GETITEM && g.user_of[i] == g.user_of[i + 1];
		n_kept += kept(i);
		if (is_returned(i) && (kept(i) || g.node[i].op == GRAPH_PLACEHOLDER))
			assert_true(is_output(i));
		if (kept(i) && !unit_used(u.of[i]) && !unit_returned(u.of[i]) && !(u.is[i] & (NODE_TUPLE | NODE_NO_VALUE)) &&
		    !part_for_nobody)
			assert_true(is_output(i)); /* every sink is an output */
	}
	assert_true(seen_kept <= n_kept);
}

static void test_random(void **state)
{
	(void)state;
	uint64_t seed = 20;
	int built = 0;
	for (int round = 0; round < 60; round++) {
		random_graph(&seed, 1 + pick(&seed, 60));
		for (int sets = 0; sets < 20; sets++) {
			memset(keep, 0, sizeof(keep));
			uint32_t density = 1 + pick(&seed, 4);
			for (size_t i = 0; i < u.n; i++)
				if (pick(&seed, 4) < density)
					bit_add(keep, i);
			if (slice_build(&g, &u, keep, NULL, &out, &cut, &err) < 0)
				fail_msg("%s", err.text);
			check_candidate();
			built++;
			cut_release(&cut);
			graph_release(&out);
		}
		units_release(&u);
		graph_release(&g);
	}
	assert_int_equal(built, 1200);
}

/* A candidate of a candidate. */
static void test_candidate_of_a_candidate(void **state)
{
	(void)state;
	MAKE("x input", "a " ADD " x x", "b " MUL " a a", "c " ADD " b x", "o return c");
	finish();
	keep_node("b");
	keep_node("c");
	assert_built("x;a;b = a a;c = b x;return c");
	struct graph copy = {0};
	graph_copy_module(&copy, NONE, &out, 0);
	graph_release(&g);
	g = copy;
	cut_release(&cut);
	units_release(&u);
	finish();
	memset(keep, 0, sizeof(keep));
	keep_node("c");
	assert_built("x;b;c = b x;return c");
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_any_subset),
	    T(test_nothing_and_all),
	    T(test_tuple_is_one_unit),
	    T(test_tuple_cannot_be_given),
	    T(test_closing_goes_all_the_way_back),
	    T(test_closing_with_guesses),
	    T(test_closing_goes_the_other_way),
	    T(test_outputs_stay),
	    T(test_getitem_of_a_tensor),
	    T(test_subgraphs_and_attributes_come_along),
	    T(test_replace),
	    T(test_effects),
	    T(test_effect_in_a_subgraph),
	    T(test_no_value_is_no_output),
	    T(test_dead),
	    T(test_random),
	    T(test_candidate_of_a_candidate),
	};
	return RUN(tests);
}
