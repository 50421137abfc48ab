/* graph/graph_json: graph.json read and written, graph_same and graph_hash, DOT. */
#include <math.h>
#include "graph/repro/graph_json.h"
#include "../../lib/repros.h"

static struct repro r, again;
static struct err err;
static struct guard guard;
static struct buf out;

static int teardown(void **state)
{
	(void)state;
	repro_release(&r);
	repro_release(&again);
	guard_release(&guard);
	buf_release(&out);
	return 0;
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

static void read_text(const char *text)
{
	if (graph_json_read(&r, quoted(text), "graph.json", &err) < 0)
		fail_msg("%s", err.text);
}

static void refused(const char *text, const char *why)
{
	assert_int_equal(graph_json_read(&r, quoted(text), "graph.json", &err), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_string_equal(err.text, why);
	repro_release(&r);
}

/* Written and read again it is the same, and writes the same text. */
static void round_trip(void)
{
	struct buf second = {0}, why = {0};
	buf_reset(&out);
	graph_json_write(&r, &out);
	if (graph_json_read(&again, buf_slice(&out), "again", &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&out));
	if (!graph_same(&r.graph, &again.graph, &why))
		fail_msg("%s", buf_str(&why));
	assert_true(graph_hash(&r.graph) == graph_hash(&again.graph));
	graph_json_write(&again, &second);
	assert_string_equal(buf_str(&second), buf_str(&out));
	buf_release(&second);
	buf_release(&why);
}

#define HEAD "{'graph_json': 1, 'nodes': ["
#define X "{'name': 'x', 'op': 'placeholder', 'meta': {'dtype': 'f32', 'size': [2, 8]}}"
#define OUT(n) "{'op': 'output', 'args': [{'tuple': ['" n "']}]}"

/* As a person writes one. */
static void test_by_hand(void **state)
{
	(void)state;
	read_text("{'graph_json': 1,\n"
		  " 'env': {'TORCHINDUCTOR_MAX_AUTOTUNE': '1', 'TORCHDYNAMO_REPRO_AFTER': null},\n"
		  " 'config': {'torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY': 'compile_error', 'a.b': true,"
		  " 'a.c': 1e-3},\n"
		  " 'symbols': {'s77': 6}, 'seed': 7,\n"
		  " 'nodes': [\n"
		  "  {'name': 'x', 'op': 'placeholder', 'meta': {'dtype': 'float32', 'size': ['s77', 8],"
		  " 'device': 'cpu'}},\n"
		  "  {'name': 'relu', 'target': 'torch.ops.aten.relu.default', 'args': ['x']},\n"
		  "  {'op': 'output', 'args': [{'tuple': ['relu']}]}]}");
	const struct graph *g = &r.graph;
	assert_int_equal(g->n_nodes, 3);
	assert_text(graph_op_text(g, 1), "aten.relu.default");
	assert_int_equal(g->node[1].op, GRAPH_CALL_FUNCTION);
	assert_int_equal(g->value[g->node[1].args].node, 0);
	assert_int_equal(r.form, REPRO_GRAPH);
	assert_true(r.has_seed && r.seed == 7);
	assert_int_equal(r.n_lines, 6);
	assert_text(r.line[0].text, "os.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '1'");
	assert_text(r.line[1].text, "os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)");
	assert_text(r.line[2].text, "torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = 'compile_error'");
	assert_text(r.line[3].text, "a.b = True");
	assert_text(r.line[4].value, "1e-3");
	assert_int_equal(r.line[5].kind, REPRO_SYMBOL);
	/* Inputs came from the metadata. */
	assert_int_equal(r.n_inputs, 1);
	assert_int_equal(r.n_storages, 1);
	assert_int_equal(r.storage[0].hash.n, 0);
	round_trip();
}

static void test_operands(void **state)
{
	(void)state;
	read_text(HEAD X ", {'name': 'f', 'target': 'torch.f', 'args': [null, true, false, -9223372036854775808, 1.5,"
			 " 1e300, 1.0,"
			 " {'float': 'nan'}, {'float': '-inf'}, {'float': 2}, NaN, -Infinity, 99999999999999999999, {'str': 'x'},"
			 " {'name': 'torch.float32'},"
			 " {'device': 'cuda:0'}, {'complex': '(1+2j)'}, {'text': 'foo(1)'}, {'ellipsis': true}, [], [1, ['x',"
			 " [2]]],"
			 " {'tuple': []}, {'dict': [[{'str': 'k'}, 'x'], [1, null]]}, {'slice': [null, 2, null]}, -0.0],"
			 " 'kwargs': {'alpha': 'x', 'mode': {'str': 'a\\'b\\n'}}}, " OUT("f") "]}");
	const struct graph *g = &r.graph;
	const struct gvalue *v = g->value + g->node[1].args;
	static const enum gvalue_kind kind[] = {GV_NONE,  GV_BOOL,   GV_BOOL,    GV_INT,   GV_FLOAT,    GV_FLOAT, GV_FLOAT,
						GV_FLOAT, GV_FLOAT,  GV_FLOAT,   GV_FLOAT, GV_FLOAT,    GV_TEXT,  GV_STR,
						GV_NAME,  GV_DEVICE, GV_COMPLEX, GV_TEXT,  GV_ELLIPSIS, GV_LIST,  GV_LIST,
						GV_TUPLE, GV_DICT,   GV_SLICE,   GV_FLOAT};
	assert_int_equal(g->node[1].n_args, ARRAY_LEN(kind));
	for (size_t i = 0; i < ARRAY_LEN(kind); i++)
		assert_int_equal(v[i].kind, kind[i]);
	assert_true(v[3].i == INT64_MIN && v[7].f != v[7].f && v[8].f < -1e308 && v[9].f == 2 && v[11].f < -1e308);
	assert_text(graph_text(g, v[12].text), "99999999999999999999");
	assert_text(graph_text(g, v[13].text), "x");
	assert_int_equal(v[22].n, 4);
	assert_true(signbit(v[24].f));
	assert_text(graph_text(g, graph_kwarg(g, 1, "mode")->text), "a\"b\n");
	round_trip();
}

static void test_metadata(void **state)
{
	(void)state;
	read_text(HEAD "{'name': 'x', 'op': 'placeholder', 'type': 'torch.nn.parameter.Parameter',"
		       " 'meta': {'dtype': 'bfloat16', 'size': ['s0', '2*s0 + 1'],"
		       " 'stride': ['2*s0 + 1', 1], 'device': 'cuda:0', 'requires_grad': true, 'param': true,"
		       " 'subclass': 'Parameter'}},"
		       "{'name': 'n', 'op': 'placeholder', 'meta': {'sym': 's0'}},"
		       "{'name': 't', 'target': 'torch.ops.aten.topk.default', 'args': ['x', 'n'],"
		       " 'stack': 'model.py:3 in forward', 'line': 12,"
		       " 'meta': [{'dtype': 'f32', 'size': []}, {}, {'dtype': 'i64', 'size': [0], 'stride': [1]}]},"
		       "{'name': 'u', 'op': 'call_method', 'target': 'sum', 'args': ['x'], 'meta': {}}," OUT("u") "],"
														  " 'symbols': {'s0': 4}}");
	const struct graph *g = &r.graph;
	const struct gmeta *m = &g->meta[g->node[2].meta];
	assert_int_equal(m->kind, GMETA_TUPLE);
	assert_int_equal(m->n_parts, 3);
	assert_int_equal(g->meta[m->first + 1].kind, GMETA_NONE);
	assert_int_equal(g->meta[m->first].n_dim, 0);
	assert_true(g->meta[m->first + 2].has_stride);
	m = &g->meta[g->node[0].meta];
	assert_true(m->requires_grad && m->is_param && m->dtype == DTYPE_BF16);
	assert_int_equal(g->node[2].line, 12);
	assert_int_equal(g->meta[g->node[3].meta].kind, GMETA_NONE);
	round_trip();
	m = &again.graph.meta[again.graph.node[0].meta];
	struct buf b = {0};
	symsize_print(&again.graph.tab, again.graph.dim[m->dim + 2], &b);
	assert_string_equal(buf_str(&b), "2*s0 + 1");
	assert_text(graph_text(&again.graph, m->subclass), "Parameter");
	buf_release(&b);
}

static void test_modules_and_attributes(void **state)
{
	(void)state;
	read_text("{'graph_json': 1, 'class': 'Repro', 'attributes': [{'name': 'w', 'kind': 'buffer',"
		  " 'expr': 'tensor(1)'},"
		  " {'name': 'p', 'kind': 'parameter', 'meta': {'dtype': 'f32', 'size': [2]}}],"
		  "'nodes': [" X ", {'name': 't', 'op': 'get_attr', 'target': 'true_graph_0'}, {'name': 'w',"
		  " 'op': 'get_attr'},"
		  " {'name': 'c', 'target': 'torch.ops.higher_order.cond', 'args': ['w', 't', 't', {'tuple': ['x']}]},"
		  " " OUT("c") "],"
			       "'modules': [{'name': 'true_graph_0', 'class': 'true_graph_0', 'nodes': [" X
			       ", " OUT("x") "]},"
					     " {'name': 'inner', 'parent': 1, 'nodes': [{'op': 'output', 'args': [null]}]}]}");
	const struct graph *g = &r.graph;
	assert_int_equal(g->n_modules, 3);
	assert_int_equal(graph_child(g, graph_child(g, 0, SLICE("true_graph_0")), SLICE("inner")), 2);
	assert_text(graph_text(g, graph_attr(g, 0, SLICE("w"))->expr), "tensor(1)");
	assert_int_equal(graph_attr(g, 0, SLICE("p"))->expr, NONE);
	assert_text(graph_text(g, g->node[2].target), "w");
	round_trip();
}

/* Everything that a launcher says. */
static void test_program(void **state)
{
	(void)state;
	read_text("{'graph_json': 1, 'form': 'dynamo', 'old': true, 'torch_version': '2.13.0+cpu',"
		  " 'seed': 18446744073709551615,\n"
		  "'head': [{'kind': 'import', 'text': 'import torch', 'line': 3}, {'kind': 'config', 'name': 'a.b',"
		  " 'value': '1'},"
		  " {'kind': 'triton', 'name': 'k', 'text': '@jit\\ndef k(): pass'}, {'text': 'x(1)', 'name': 'x'},"
		  " {'kind': 'comment', 'value': 'c'}],"
		  "'storages': [{'hash': 'abc', 'nbytes': '64*s0', 'device': 'cuda:0', 'dtype_hint': 'float32'}, {'nbytes': 4,"
		  " 'base64': 'AAAAAA=='}],"
		  "'inputs': [{'kind': 'tensor', 'storage': 0, 'offset': 2, 'is_leaf': true, 'requires_grad': true,"
		  " 'extra': 'conj=True', 'line': 9,"
		  " 'meta': {'dtype': 'f32', 'size': ['s0', 8], 'stride': [8, 1]}}, {'kind': 'symint', 'value': 6,"
		  " 'expr': 's0', 'meta': {'sym': 's0'}},"
		  " {'kind': 'unsupported', 'expr': '\\'foo\\'', 'block': 'doc'}, {'meta': {'dtype': 'f32', 'size': [1]},"
		  " 'storage': 1}],"
		  "'fixups': [{'repeats': 0, 'output_size': 1}],"
		  "'run': {'accuracy': '\\u0027strict_accuracy\\u0027', 'command': 'minify', 'save_dir': '/d',"
		  " 'tracing_mode': 'symbolic', 'check_str': 'c', 'autocast': 'False',"
		  " 'only_fwd': 'True', 'backend': 'inductor', 'backend_is_text': true, 'config_patches': '{}', 'setup': 'a',"
		  " 'teardown': 'b', 'foot': 'run(1)'},"
		  "'nodes': [{'name': 'a', 'op': 'placeholder'}, {'name': 'b', 'op': 'placeholder'}, {'name': 'c',"
		  " 'op': 'placeholder'}, {'name': 'd', 'op': 'placeholder'}, " OUT("a") "]}");
	assert_int_equal(r.form, REPRO_AFTER_DYNAMO);
	assert_true(r.old && r.seed == UINT64_MAX && r.backend_text);
	assert_int_equal(r.line[3].kind, REPRO_OTHER);
	assert_text(r.line[4].text, "# c");
	assert_text(r.input[1].name, "b");
	assert_int_equal(r.storage[1].bytes.n, 4);
	assert_true(r.input[0].is_leaf && r.input[0].requires_grad && r.input[0].offset.k == 2);
	assert_text(r.teardown, "b");
	round_trip();
	assert_text(again.foot, "run(1)");
	assert_text(again.line[2].text, "@jit\ndef k(): pass");
	assert_text(again.input[2].block, "doc");
	assert_int_equal(again.fixup[0].output_size, 1);
	assert_memory_equal(again.storage[1].bytes.p, "\0\0\0\0", 4);
}

static void test_deep(void **state)
{
	(void)state;
	struct buf b = {0};
	buf_adds(&b, HEAD X ", {'name': 'f', 'target': 'f', 'args': [");
	for (int i = 0; i < GRAPH_MAX_DEPTH - 1; i++)
		buf_adds(&b, i & 1 ? "{'tuple': [" : "[");
	for (int i = GRAPH_MAX_DEPTH - 1; i-- > 0;)
		buf_adds(&b, i & 1 ? "]}" : "]");
	buf_adds(&b, "]}, " OUT("f") "]}");
	read_text(buf_str(&b));
	round_trip();
	buf_release(&b);
}

static void test_refused(void **state)
{
	(void)state;
	refused("{", "'graph.json', line 1: expected a member name (byte 1)");
	refused("{'graph_json': 1, 'nodes': [], 'class': '\xff'}", "'graph.json': invalid UTF-8");
	refused("[]", "'graph.json', line 1: the document must be an object");
	refused("{'nodes': []}", "'graph.json', line 1: not a graph.json: \"graph_json\": 1 is missing");
	refused("{'graph_json': 1}", "'graph.json', line 1: \"nodes\" is missing");
	refused("{'graph_json': 1, 'node': []}", "'graph.json', line 1: the document cannot have a member 'node'");
	refused(HEAD "]}", "'graph.json': module 'the root' returns nothing (it has no output)");
	refused(HEAD "{}]}", "'graph.json', line 1: a node without a name");
	refused(HEAD "\n\n{'name': 'a', 'target': 'f', 'args': ['b']}]}",
		"'graph.json', line 3: node 'a': no earlier node 'b' (write a string as {\"str\": ...})");
	refused(HEAD "{'name': 'a', 'target': 'f', 'args': ['a']}]}",
		"'graph.json', line 1: node 'a': no earlier node 'a' (write a string as {\"str\": ...})");
	refused(HEAD "{'name': 'a', 'args': []}]}", "'graph.json', line 1: node 'a': its target is missing");
	refused(HEAD "{'name': 'a', 'op': 'call'}]}", "'graph.json', line 1: node 'a': unknown \"op\" 'call'");
	refused(HEAD X "," X "]}", "'graph.json', line 1: node 'x': an earlier node has the same name");
	refused(HEAD "{'name': 'a', 'target': 'f', 'args': [{'strr': 'x'}]}]}", "'graph.json',"
										" line 1: node 'a': unknown kind of operand \"strr\"");
	refused(HEAD "{'name': 'a', 'target': 'f', 'args': [{'slice': [1]}]}]}",
		"'graph.json', line 1: node 'a': a slice must have three parts: start, stop, step");
	refused(HEAD "{'name': 'a', 'target': 'f', 'args': [{'dict': [[1]]}]}]}",
		"'graph.json', line 1: node 'a': an item of a dict must be [key, value]");
	refused(HEAD "{'name': 'x', 'op': 'placeholder', 'meta': {'dtype': 'f31', 'size': []}}]}",
		"'graph.json', line 1: node 'x': unknown dtype 'f31'");
	refused(HEAD "{'name': 'x', 'op': 'placeholder', 'meta': {'dtype': 'f32', 'size': [1], 'stride': []}}]}",
		"'graph.json', line 1: node 'x': a tensor of 1 dims has 0 strides");
	refused(HEAD "{'name': 'x', 'op': 'placeholder', 'meta': {'dtype': 'f32'}}]}",
		"'graph.json', line 1: node 'x': a tensor's \"size\" is missing");
	refused(HEAD X "," OUT("x") "], 'inputs': []}", "'': load_args has 0 inputs, forward takes 1");
	refused(HEAD X "," OUT("x") "], 'inputs': [{'storage': 0, 'meta': {'dtype': 'f32', 'size': []}}]}",
		"'graph.json': input 0 is in storage 0, but there are only 0");
	refused(HEAD X "," OUT("x") "], 'modules': [{'name': 'm', 'parent': 1}]}",
		"'graph.json', line 1: no parent 1 (0 is the root, 1 the first of \"modules\")");
	refused(HEAD X "," OUT("x") "], 'head': [{'kind': 'import'}]}", "'graph.json',"
									" line 1: a line of this kind requires its text");
	refused(HEAD X "," OUT("x") "], 'symbols': {'s0': 'a'}}", "'graph.json',"
								  " line 1: the value of a symbol must be an integer");
}

/* ---- the same, hash ---- */

static void two(const char *a, const char *b, const char *why)
{
	struct buf text = {0};
	if (graph_json_read(&r, quoted(a), "a", &err) < 0 || graph_json_read(&again, quoted(b), "b", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(graph_same(&r.graph, &again.graph, &text), !*why);
	assert_string_equal(buf_str(&text), why);
	assert_int_equal(graph_same(&r.graph, &again.graph, NULL), !*why);
	assert_int_equal(graph_hash(&r.graph) == graph_hash(&again.graph), !*why);
	buf_release(&text);
	repro_release(&r);
	repro_release(&again);
}

#define ONE(args) \
	HEAD X \
	", {'name': 'a', 'target': 'f', 'args': [" args "]}, " OUT("a") "]}"

static void test_same(void **state)
{
	(void)state;
	two(ONE("'x', 1"),
	    HEAD "{'name': 'y', 'op': 'placeholder', 'meta': {'dtype': 'f32', 'size': [1]}},"
		 " {'name': 'b', 'target': 'f', 'args': ['y', 1]}," OUT("b") "]}",
	    "");
	two(ONE("NaN, -0.0"), ONE("NaN, -0.0"), "");
	two(ONE("0.0"), ONE("-0.0"), "node 1 'a': operand 0 is 0, not -0");
	two(ONE("'x', 1"), ONE("'x', 2"), "node 1 'a': operand 1 is 1, not 2");
	two(ONE("1"), ONE("1.0"), "node 1 'a': operand 0 is 1, not 1");
	two(ONE("[1, 'x']"), ONE("[1, {'str': 'x'}]"),
	    "node 1 'a': operand 0 is its item 1 is 'x',"
	    " not the string 'x'");
	two(ONE("[1]"), ONE("{'tuple': [1]}"), "node 1 'a': operand 0 is a list of 1, not a tuple of 1");
	two(ONE("1"), ONE("1, 2"), "node 1 'a': it has 1 operands, not 2");
	two(HEAD X ", {'name': 'a', 'target': 'f', 'kwargs': {'p': 1, 'q': 'x'}}, " OUT("a") "]}",
	    HEAD X ", {'name': 'a', 'target': 'f', 'kwargs': {'q': 'x', 'p': 1}}, " OUT("a") "]}", "");
	two(HEAD X ", {'name': 'a', 'target': 'f', 'kwargs': {'p': 1}}, " OUT("a") "]}",
	    HEAD X ", {'name': 'a', 'target': 'f', 'kwargs': {'q': 1}},"
		   " " OUT("a") "]}",
	    "node 1 'a': keyword operand 'p' is missing");
	two(ONE("1"),
	    HEAD X ", {'name': 'a', 'target': 'g', 'args': [1]},"
		   " " OUT("a") "]}",
	    "node 1 'a': its target is 'f', not 'g'");
	two(ONE("1"), HEAD X "," OUT("x") "]}", "node 1 'a': it is a call_function, not a output");
	two("{'graph_json': 1, 'attributes': [{'name': 'a', 'expr': '1'}, {'name': 'b', 'expr': '2'}],"
	    " 'nodes': [" X "," OUT("x") "]}",
	    "{'graph_json': 1, 'attributes': [{'name': 'b', 'expr': '2'}, {'name': 'a', 'expr': '1'}],"
	    " 'nodes': [" X "," OUT("x") "]}",
	    "");
	two("{'graph_json': 1, 'attributes': [{'name': 'a', 'expr': '1'}], 'nodes': [" X "," OUT("x") "]}",
	    "{'graph_json': 1, 'attributes': [{'name': 'a', 'expr': '2'}],"
	    " 'nodes': [" X "," OUT("x") "]}",
	    "attribute 'a' is another");
#define CHILD(n, v) "{'name': '" n "', 'nodes': [{'op': 'output', 'args': [" v "]}]}"
	two(HEAD X "," OUT("x") "], 'modules': [" CHILD("m", "1") "," CHILD("n", "2") "]}",
	    HEAD X "," OUT("x") "], 'modules': [" CHILD("n", "2") "," CHILD("m", "1") "]}", "");
	two(HEAD X "," OUT("x") "], 'modules': [" CHILD("m", "1") "]}",
	    HEAD X "," OUT("x") "],"
				" 'modules': [" CHILD("m", "2") "]}",
	    "node 0 'output' of 'm': operand 0 is 1, not 2");
	two(HEAD X "," OUT("x") "], 'modules': [" CHILD("m", "1") "]}",
	    HEAD X "," OUT("x") "],"
				" 'modules': [" CHILD("o", "1") "]}",
	    "module 'm' is missing");
}

/* Recorded launchers: what comes back from JSON is the same program. */
static void test_launchers(void **state)
{
	(void)state;
	static const char *const name[] = {
	    "aot_accuracy/minifier_launcher.py",
	    "aot_compile_error/minifier_launcher.py",
	    "aot_compile_error/repro.py",
	    "aot_dynamic/minifier_launcher.py",
	    "aot_nan/minifier_launcher.py",
	    "aot_runtime_error/minifier_launcher.py",
	    "dynamo_accuracy/minifier_launcher.py",
	    "dynamo_compile_error/minifier_launcher.py",
	    "runnable/forward.py",
	    "runnable/backward.py",
	};
	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		struct buf one = {0}, two = {0};
		char *file = xasprintf("minifier/%s", name[i]), *path = data_path(file);
		if (repro_open(&r, path, &err) < 0)
			fail_msg("%s", err.text);
		round_trip();
		again.dir = r.dir; /* where storages are looked for */
		add_launcher(&r, &one);
		add_launcher(&again, &two);
		assert_true(one.len > 1000);
		assert_string_equal(buf_str(&one), buf_str(&two));
		buf_release(&one);
		buf_release(&two);
		repro_release(&r);
		repro_release(&again);
		free(file);
		free(path);
	}
}

/* The examples of the document. */
static void test_document(void **state)
{
	(void)state;
	struct buf doc = {0};
	const char *root = getenv("PT2_SOURCE");
	char *path = xasprintf("%s%sdocs/formats/GRAPH.md", root ? root : "", root ? "/" : "");
	FILE *f = fopen(path, "r");
	int n = 0;
	size_t got;
	assert_non_null(f);
	while ((got = fread(buf_room(&doc, 4096), 1, 4096, f)) > 0)
		buf_wrote(&doc, got);
	fclose(f);
	for (const char *at = buf_str(&doc); (at = strstr(at, "```json\n")); n++) {
		const char *end = strstr(at += 8, "\n```");
		assert_non_null(end);
		if (graph_json_read(&r, slice_of(at, (size_t)(end - at)), "GRAPH.md", &err) < 0)
			fail_msg("%s", err.text);
		round_trip();
		repro_release(&r);
		repro_release(&again);
	}
	assert_int_equal(n, 2);
	buf_release(&doc);
	free(path);
}

static void test_dot(void **state)
{
	(void)state;
	read_text("{'graph_json': 1, 'nodes': [" X ", {'name': 't', 'op': 'get_attr', 'target': 'body'}, {'name': 'c',"
		  " 'target': 'torch.ops.higher_order.f',"
		  " 'args': ['x', 't'], 'meta': [{'dtype': 'f32', 'size': ['s0']}, {'sym': 's0'}]}, {'name': 'm',"
		  " 'op': 'call_method', 'target': 'a\\\'b', 'args': ['c']}," OUT(
		      "c") "], 'modules': [{'name': 'body', 'nodes': [{'op': 'output', 'args': [null]}]}]}");
	graph_dot(&r.graph, &out);
	const char *text = buf_str(&out);
	assert_non_null(strstr(text, "n2 [label=\"c\\nhigher_order.f\\nf32[s0] s0\"];\n"));
	assert_non_null(strstr(text, "n3 [label=\"m\\na\\\"b\"];\n"));
	assert_non_null(strstr(text, "subgraph cluster1 {\nlabel=\"body\";\nn5 [label=\"output\", style=filled,"
				     " fillcolor=gray90];\n}\n"));
	assert_non_null(strstr(text, "n0 -> n2;\nn1 -> n2;\nn1 -> n5 [style=dashed, lhead=cluster1];\n"));
	assert_true(slice_ends(buf_slice(&out), "n2 -> n4;\n}\n"));
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_by_hand),   T(test_operands), T(test_metadata), T(test_modules_and_attributes),
	    T(test_program),   T(test_deep),     T(test_refused),  T(test_same),
	    T(test_launchers), T(test_document), T(test_dot),
	};
	return RUN(tests);
}
