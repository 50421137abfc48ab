/* graph/graph_json: graph_exported_read on recorded programs, on one with every kind of argument, and on texts that are none. */
#include "graph/graph_forms.h"
#include "graph/repro/graph_json.h"
#include "base/io/zip.h"
#include "../../lib/graph_same.h"
#include "../../lib/test.h"

static struct graph g;
static struct err err;
static struct guard guard;
static struct buf file;

static int teardown(void **state)
{
	(void)state;
	graph_release(&g);
	guard_release(&guard);
	buf_release(&file);
	return 0;
}

static bool load(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n;
	buf_reset(&file);
	while (f && (n = fread(buf_room(&file, 1 << 16), 1, 1 << 16, f)) > 0)
		buf_wrote(&file, n);
	if (f)
		fclose(f);
	return f != NULL;
}

/* Names of nodes, module by module (their order is free). */
static void names_differ(const struct graph *a, const struct graph *b, struct buf *why)
{
	uint32_t *to = xcalloc(a->n_modules, sizeof(*to));
	for (uint32_t m = 0; m < a->n_modules && !why->len; m++) {
		if (m)
			to[m] = graph_child(b, to[a->module[m].parent], graph_text(a, a->module[m].name));
		for (uint32_t i = 0; i < a->module[m].n && !why->len; i++) {
			struct slice name = graph_name(a, a->module[m].first + i);
			if (!slice_eq(name, graph_name(b, b->module[to[m]].first + i)))
				buf_addf(why, "node %u of module %u is called '%.*s'", i, m, SL(name));
		}
	}
	free(to);
}

/* NAME.pt2, and in NAME.json the graph that torch makes of it (tests/live/exported_graph.py): names of nodes count here. */
static const char *differs(const char *name, struct buf *why)
{
	struct repro r = {0};
	struct zip z = {0};
	struct slice text = {0};
	char *json = xasprintf("%s.json", name), *pt2 = xasprintf("%s.pt2", name);
	err.text[0] = 0;
	if (load(json) && graph_json_read(&r, buf_slice(&file), json, &err) == 0 && load(pt2) &&
	    zip_open(&z, buf_slice(&file), pt2, &err) == 0) {
		for (size_t i = 0; i < z.n; i++)
			if (slice_ends(z.v[i].name, "models/model.json"))
				zip_data(&z, &z.v[i], &text, &err);
		if (graph_exported_read(&g, text, pt2, &err) == 0 && graph_same(&g, &r.graph, why))
			names_differ(&g, &r.graph, why);
		zip_close(&z);
	}
	if (err.text[0])
		buf_adds(why, err.text);
	else if (!g.n_nodes)
		buf_adds(why, "cannot be opened");
	graph_release(&g);
	repro_release(&r);
	free(json);
	free(pt2);
	return why->len ? buf_str(why) : "the same";
}

static int compare(char **name)
{
	struct buf why = {0};
	for (; *name; name++) {
		buf_reset(&why);
		printf("%s: %s\n", *name, differs(*name, &why));
	}
	buf_release(&why);
	buf_release(&file);
	return 0;
}

static void read_program(const char *name)
{
	struct zip z;
	struct slice text;
	char *path = xasprintf("export/%s.pt2", name), *member = xasprintf("%s/models/model.json", name);
	assert_true(data_load(path, &file));
	if (zip_open(&z, buf_slice(&file), path, &err) < 0 || zip_data(&z, zip_find(&z, slice_str(member)), &text, &err) < 0)
		fail_msg("%s", err.text);
	text.p = guard_put(&guard, text.p, text.n);
	if (graph_exported_read(&g, text, path, &err) < 0)
		fail_msg("%s", err.text);
	zip_close(&z);
	free(path);
	free(member);
}

/* ' stands for ". */
static struct slice quoted(const char *text)
{
	size_t n = strlen(text);
	char *p = guard_put(&guard, text, n);
	for (size_t i = 0; i < n; i++)
		if (p[i] == '\'')
			p[i] = '"';
	return slice_of(p, n);
}

/* One node as our JSON has it, which the tests of graph.json hold to account. */
static void assert_node(const char *name, const char *want)
{
	struct repro r = {.form = REPRO_GRAPH, .graph = g};
	struct buf b = {0};
	char *start = xasprintf("{\"name\": \"%s\"", name);
	graph_json_write(&r, &b);
	const char *at = slice_find(buf_slice(&b), start);
	size_t n = 0, open = 0;
	assert_non_null(at);
	do { /* none of its texts holds a brace */
		open += at[n] == '{';
		open -= at[n] == '}';
	} while (n++, open);
	char *got = xstrndup(at, n);
	for (char *p = got; *p; p++)
		*p = *p == '"' ? '\'' : *p;
	assert_string_equal(got, want);
	free(got);
	free(start);
	buf_release(&b);
}

static void test_mlp(void **state)
{
	(void)state;
	read_program("mlp");
	assert_int_equal(g.n_modules, 1);
	assert_node("p_up_weight", "{'name': 'p_up_weight', 'op': 'placeholder', 'meta': {'dtype': 'float32',"
				   " 'size': [16, 8], 'stride': "
				   "[8, 1], 'device': 'cpu', 'requires_grad': true, 'param': true}}");
	assert_node("x", "{'name': 'x', 'op': 'placeholder', 'meta': {'dtype': 'float32', 'size': ['s77', 8],"
			 " 'stride': [8, 1], 'device': 'cpu'}}");
	const struct gnode *out = &g.node[g.module[0].output];
	struct gvalue ret = g.value[out->args];
	assert_int_equal(ret.kind, GV_TUPLE);
	assert_text(graph_name(&g, g.value[ret.first].node), "softmax");
}

static void test_conv(void **state)
{
	(void)state;
	read_program("conv");
	struct slice stack = graph_text(&g, g.node[graph_find(&g, 0, SLICE("conv2d"))].stack);
	assert_true(slice_ends(stack, "torch/nn/modules/conv.py:565 in forward, code: return self._conv_forward(input,"
				      " self.weight, self.bias)"));
	g.node[graph_find(&g, 0, SLICE("batch_norm"))].stack = NONE;
	assert_node("batch_norm", "{'name': 'batch_norm', 'op': 'call_function', 'target': 'torch.ops.aten.batch_norm.default',"
				  " 'args': ['conv2d', "
				  "'p_norm_weight', 'p_norm_bias', 'b_norm_running_mean', 'b_norm_running_var', false, 0.1, 1e-05, false],"
				  " 'meta': "
				  "{'dtype': 'float32', 'size': ['s77', 4, 8, 8], 'stride': [256, 64, 8, 1], 'device': 'cpu'}}");
}

static void test_mixed(void **state)
{
	(void)state;
	read_program("mixed");
	uint32_t i = graph_find(&g, 0, SLICE("_assert_tensor_metadata_default"));
	g.node[i].stack = NONE;
	assert_node("_assert_tensor_metadata_default",
		    "{'name': '_assert_tensor_metadata_default', 'op': 'call_function',"
		    " 'target': 'torch.ops.aten._assert_tensor_metadata."
		    "default', 'args': ['y'], 'kwargs': {'dtype': {'name': 'torch.bfloat16'}, 'device': {'device': 'cpu'},"
		    " 'layout': "
		    "{'name': 'torch.strided'}}}");
	assert_int_equal(g.node[i].meta, NONE);
}

/* ---- every form ---- */

#define PROGRAM(inputs, nodes, outputs, more) \
	"{'schema_version': {'major': 8, 'minor': 20}, 'graph_module': {'graph': {'inputs': [" inputs "]," \
	" 'nodes': [" nodes "], 'outputs': [" outputs "]" more "}, 'signature': {'input_specs': []}}}"
#define T(n) "{'as_tensor': {'name': '" n "'}}"
#define ARG(a) "{'name': 'a', 'arg': " a ", 'kind': 1}"
#define NODE(name, args, outputs) \
	"{'target': 'torch.ops.aten.f.default', 'name': '" name "'," \
	" 'inputs': [" args "], 'outputs': [" outputs "], 'metadata': {}}"

static void read_text(const char *text)
{
	if (graph_exported_read(&g, quoted(text), "model.json", &err) < 0)
		fail_msg("%s", err.text);
}

static void test_arguments(void **state)
{
	(void)state;
	static const struct {
		const char *arg, *want;
	} forms[] = {
	    {"{'as_none': true}", "null"},
	    {T("x"), "'x'"},
	    {"{'as_tensors': [{'name': 'x'}, {'name': 'y'}]}", "['x', 'y']"},
	    {"{'as_int': -3}", "-3"},
	    {"{'as_ints': [1, 2]}", "[1, 2]"},
	    {"{'as_float': 1}", "1.0"},
	    {"{'as_float': 'Infinity'}", "{'float': 'inf'}"},
	    {"{'as_float': '-Infinity'}", "{'float': '-inf'}"},
	    {"{'as_float': 'NaN'}", "{'float': 'nan'}"},
	    {"{'as_floats': [0.5, 2]}", "[0.5, 2.0]"},
	    {"{'as_bool': false}", "false"},
	    {"{'as_bools': [true, false]}", "[true, false]"},
	    {"{'as_string': 'sum'}", "{'str': 'sum'}"},
	    {"{'as_strings': ['a', 'b']}", "[{'str': 'a'}, {'str': 'b'}]"},
	    {"{'as_sym_int': {'as_name': 'n'}}", "'n'"},
	    {"{'as_sym_ints': [{'as_name': 'n'}, {'as_int': 3}]}", "['n', 3]"},
	    {"{'as_sym_bool': {'as_bool': true}}", "true"},
	    {"{'as_sym_bools': [{'as_name': 'n'}]}", "['n']"},
	    {"{'as_sym_float': {'as_float': 0.5}}", "0.5"},
	    {"{'as_sym_floats': [{'as_name': 'n'}, {'as_float': 2.0}]}", "['n', 2.0]"},
	    {"{'as_scalar_type': 13}", "{'name': 'torch.bfloat16'}"},
	    {"{'as_device': {'type': 'cuda', 'index': 1}}", "{'device': 'cuda:1'}"},
	    {"{'as_device': {'type': 'cpu', 'index': null}}", "{'device': 'cpu'}"},
	    {"{'as_layout': 7}", "{'name': 'torch.strided'}"},
	    {"{'as_memory_format': 2}", "{'name': 'torch.channels_last'}"},
	    {"{'as_optional_tensor': {'as_none': true}}", "null"},
	    {"{'as_optional_tensors': [{'as_tensor': {'name': 'x'}}, {'as_none': true}]}", "['x', null]"},
	    {"{'as_nested_tensors': [[{'name': 'x'}], []]}", "[['x'], []]"},
	    {"{'as_int_lists': [[1, 2], [3]]}", "[{'tuple': [1, 2]}, {'tuple': [3]}]"},
	    {"{'as_float_lists': [[1.5]]}", "[[1.5]]"},
	    {"{'as_operator': 'torch.ops.aten.add.Tensor'}", "{'name': 'torch.ops.aten.add.Tensor'}"},
	    {"{'as_complex': {'real': 1.0, 'imag': -2.0}}", "{'complex': '(1-2j)'}"},
	    {"{'as_string_to_argument': {'k': {'as_int': 1}, 'd': {'as_string_to_argument': {}}}}",
	     "{'dict': [[{'str': 'k'}, 1], [{'str': 'd'}, {'dict': []}]]}"},
	    {"{'as_int': null, 'as_none': null, 'as_bool': true}", "true"}, /* as older files have it */
	};
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		char *text =
		    xasprintf(PROGRAM(T("x") "," T("y") ", {'as_sym_int': {'as_name': 'n'}}", NODE("f", ARG("%s"), T("f")), T("f"), ""),
			      forms[i].arg);
		char *want = xasprintf("{'name': 'f', 'op': 'call_function', 'target': 'torch.ops.aten.f.default',"
				       " 'args': [%s]}",
				       forms[i].want);
		read_text(text);
		assert_node("f", want);
		graph_release(&g);
		free(text);
		free(want);
	}
}

/* The kinds of arguments, and what stands for them in files that have none. */
static void test_keywords(void **state)
{
	(void)state;
	read_text(PROGRAM(
	    T("x"),
	    "{'target': 'torch.ops.aten.f.default', 'name': 'f', 'inputs': [{'name': 'self',"
	    " 'arg': " T(
		"x") ", 'kind': 1},"
		     "{'name': 'dim', 'arg': {'as_int': 1}, 'kind': 2}, {'name': 'b', 'arg': {'as_int': 2}, 'kind': 1}],"
		     " 'outputs': []},"
		     "{'target': 'torch.ops.aten.f.default', 'name': 'g', 'inputs': [{'name': 'self',"
		     " 'arg': " T(
			 "x") "},"
			      "{'name': 'dim', 'arg': {'as_int': 1}}], 'outputs': []},"
			      "{'target': '_operator.mul', 'name': 'h', 'inputs': [{'name': 'a', 'arg': {'as_int': 1}}, {'name': 'b',"
			      " 'arg': {'as_int': 2}}], 'outputs': []}",
	    "", ""));
	assert_node("f", "{'name': 'f', 'op': 'call_function', 'target': 'torch.ops.aten.f.default', 'args': ['x', 2],"
			 " 'kwargs': {'dim': 1}}");
	assert_node("g", "{'name': 'g', 'op': 'call_function', 'target': 'torch.ops.aten.f.default', 'args': ['x'],"
			 " 'kwargs': {'dim': 1}}");
	assert_node("h", "{'name': 'h', 'op': 'call_function', 'target': '_operator.mul', 'args': [1, 2]}");
}

#define META(n) \
	"'" n "': {'dtype': 7, 'sizes': [{'as_int': 2}], 'strides': [{'as_int': 1}]," \
	" 'requires_grad': false, 'device': {'type': 'cpu'}}"

static void test_several_results(void **state)
{
	(void)state;
	read_text(PROGRAM(T("x"),
			  NODE("s", ARG(T("x")), "{'as_tensors': [{'name': 'a'}, {'name': 'b'}]}") "," NODE(
			      "t", ARG(T("b")),
			      T("v") ", {'as_none': true}, " T("i") ", {'as_tensors': [{'name': 'p'},"
								    " {'name': 'q'}]}") "," NODE("u", ARG(T("q")), "{'as_none': true}"),
			  T("i") ", {'as_int': 3}, {'as_none': true}", ", 'tensor_values': {" META("a") "," META("b") "," META("q") "}"));
	assert_node("b", "{'name': 'b', 'op': 'call_function', 'target': '_operator.getitem', 'args': ['s', 1],"
			 " 'meta': {'dtype': 'float32', 'size': "
			 "[2], 'stride': [1], 'device': 'cpu'}}");
	assert_node("i", "{'name': 'i', 'op': 'call_function', 'target': '_operator.getitem', 'args': ['t', 2]}");
	assert_node("q", "{'name': 'q', 'op': 'call_function', 'target': '_operator.getitem', 'args': ['getitem', 1],"
			 " 'meta': {'dtype': 'float32', "
			 "'size': [2], 'stride': [1], 'device': 'cpu'}}");
	assert_node("output", "{'name': 'output', 'op': 'output', 'args': [{'tuple': ['i', 3, null]}]}");
	const struct gmeta *m = &g.meta[g.node[graph_find(&g, 0, SLICE("t"))].meta];
	assert_int_equal(m->n_parts, 4);
	assert_int_equal(g.meta[m->first].kind, GMETA_NONE);
	m = &g.meta[g.node[graph_find(&g, 0, SLICE("s"))].meta];
	assert_int_equal(g.meta[m->first + 1].dtype, DTYPE_F32);
}

#define SUB(n, body) \
	"{'as_graph': {'name': '" n "', 'graph': {'inputs': [" T("x") "], 'nodes': [" body "]," \
								      " 'outputs': [" T("x") "]}}}"

/* The same names in each graph; a subgraph in a subgraph; one that is used twice is there once. */
static void test_subgraphs(void **state)
{
	(void)state;
	read_text(
	    PROGRAM(T("x"),
		    "{'target': 'torch.ops.higher_order.cond', 'name': 'c', 'is_hop_single_tensor_return': false,"
		    " 'inputs': [{'name': '', 'arg': " T("x") "}, {'name': '', 'arg': " SUB(
			"true_graph_0", NODE("g", ARG(SUB("inner", "")),
					     "")) "}, {'name': '',"
						  " 'arg': " SUB("true_graph_0",
								 "") "}, {'name': 'k', 'arg': {'as_int': 1}}], 'outputs': [" T("r") "]}",
		    T("r"), ""));
	assert_int_equal(g.n_modules, 3);
	assert_node("c", "{'name': 'c', 'op': 'call_function', 'target': 'torch.ops.higher_order.cond', 'args': ['x',"
			 " 'true_graph_0', "
			 "'true_graph_0'], 'kwargs': {'k': 1}, 'meta': [{}]}");
	assert_node("r", "{'name': 'r', 'op': 'call_function', 'target': '_operator.getitem', 'args': ['c', 0]}");
	uint32_t child = graph_child(&g, 0, SLICE("true_graph_0"));
	assert_int_equal(g.module[child].n, 4);
	assert_int_equal(graph_child(&g, child, SLICE("inner")), 2);
	assert_int_equal(g.node[graph_find(&g, child, SLICE("inner"))].op, GRAPH_GET_ATTR);
}

static void test_symbols(void **state)
{
	(void)state;
	read_text(PROGRAM("{'as_sym_int': {'as_name': 'n'}}," T("x"), "", T("x"),
			  ", 'sym_int_values': {'n': {'as_expr': {'expr_str': 'Mul(Integer(2), Symbol(\\u0027s0\\u0027,"
			  " integer=True))'}}},"
			  "'sym_bool_values': {'b': {'as_bool': true}}, 'tensor_values': {'x': {'dtype': 99,"
			  " 'sizes': [{'as_expr': {'expr_str': 's0 + 1'}}]}}"));
	assert_node("n", "{'name': 'n', 'op': 'placeholder', 'meta': {'sym': '2*s0'}}");
	assert_node("x", "{'name': 'x', 'op': 'placeholder', 'meta': {'size': ['s0 + 1']}}");
}

static void test_constant_input(void **state)
{
	(void)state;
	read_text("{'schema_version': {'major': 8}, 'graph_module': {'graph': {'inputs': [{'as_int': 3},"
		  " {'as_none': true}], 'nodes': [], 'outputs': []},"
		  "'signature': {'input_specs': [{'constant_input': {'name': 'k', 'value': {'as_int': 3}}},"
		  " {'constant_input': {'name': 'f'}}]}}}");
	assert_node("k", "{'name': 'k', 'op': 'placeholder', 'meta': {'sym': 3}}");
	assert_node("f", "{'name': 'f', 'op': 'placeholder'}");
}

static void refused(const char *text, const char *why)
{
	assert_int_equal(graph_exported_read(&g, quoted(text), "model.json", &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_string_equal(err.text, why);
	assert_int_equal(g.n_nodes, 0);
}

static void test_refused(void **state)
{
	(void)state;
	refused("", "'model.json': exported program, byte 0: expected a value");
	refused("{}", "'model.json': exported program, byte 0: 'schema_version' is missing: not an exported program");
	refused("{'schema_version': {'major': 9}}",
		"'model.json': exported program, byte 19: schema 9: only 5 to 8 are supported (PyTorch 2.3 to 2.13)");
	refused("{'schema_version': {'major': 8}}", "'model.json': exported program,"
						    " byte 0: 'graph_module' is missing");
	refused("{'schema_version': {'major': 8}, 'graph_module': {'graph': {}}}",
		"'model.json': exported program, byte 59: missing inputs, nodes or outputs of a graph");
	refused(PROGRAM("", "{}", "", ""), "'model.json': exported program, byte 97: missing target or inputs of a node");
	refused(PROGRAM("", NODE("f", ARG(T("x")), ""), "", ""),
		"'model.json': exported program, byte 205: node 'f': value 'x' is not defined before it");
	refused(PROGRAM("", NODE("f", ARG("{'as_magic': 1}"), ""), "", ""),
		"'model.json': exported program, byte 183: node 'f': unsupported kind of argument 'as_magic'");
	refused(PROGRAM("", NODE("f", ARG("{'as_scalar_type': 99}"), ""), "", ""),
		"'model.json': exported program, byte 200: node 'f': unknown dtype");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return compare(argv + 1);
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_mlp),       TEST(test_conv),     TEST(test_mixed),
	    TEST(test_arguments), TEST(test_keywords), TEST(test_several_results),
	    TEST(test_subgraphs), TEST(test_symbols),  TEST(test_constant_input),
	    TEST(test_refused),
	};
	return RUN(tests);
}
