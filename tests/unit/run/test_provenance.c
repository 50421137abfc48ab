/* run/trace/provenance: node mappings into line links; and the sets that the model makes of them. */
#include "../../lib/log.h"

#include "run/trace/provenance.h"
#include "run/trace/reduce.h"

static struct guard guard[PROV_TEXTS];
static struct provenance p;

static bool build(const char *pre, const char *post, const char *code, const char *aot, const char *map, const char *stacks)
{
	const char *const in[PROV_TEXTS] = {pre, post, code, aot, map, stacks};
	struct slice text[PROV_TEXTS];
	for (unsigned i = 0; i < PROV_TEXTS; i++)
		text[i] = slice_of(guard_put(&guard[i], in[i] ? in[i] : "", in[i] ? strlen(in[i]) : 0), in[i] ? strlen(in[i]) : 0);
	provenance_release(&p);
	return provenance_build(&p, text);
}

/* All links of a way as "1>2,3 4>5". */
static void assert_links(enum prov_way way, const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < p.n_link[way]; i++) {
		const struct prov_link *l = &p.link[way][i];
		if (i && l[-1].from == l->from)
			buf_addf(&b, ",%u", l->to);
		else
			buf_addf(&b, "%s%u>%u", i ? " " : "", l->from, l->to);
	}
	assert_text(buf_slice(&b), want);
	buf_release(&b);
}

/* Calls as "kernel@first-last". */
static void assert_calls(unsigned which, const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < p.n_call[which]; i++)
		buf_addf(&b, "%s%u@%u-%u", i ? " " : "", p.call[which][i].kernel, p.call[which][i].first, p.call[which][i].last);
	assert_text(buf_slice(&b), want);
	buf_release(&b);
}

static const char pre[] = "class GraphModule(torch.nn.Module):\n"
			  "    def forward(self, L_x_: \"f32[2, 8]\"):\n"
			  "        l_x_ = L_x_\n"
			  "\n"
			  "        # File: app/m.py:12 in forward, code: return x.mul(2).relu()\n"
			  "        mul: \"f32[2, 8]\" = l_x_.mul(2);  l_x_ = None\n"
			  "        relu: \"f32[2, 8]\" = mul.relu();  mul = None\n"
			  "        return (relu,)\n";
static const char post[] = "class GraphModule(torch.nn.Module):\n"
			   "    def forward(self, arg0_1: \"f32[2, 8]\"):\n"
			   "        # File: app/m.py:12 in forward, code: return x.mul(2).relu()\n"
			   "        mul: \"f32[2, 8]\" = torch.ops.aten.mul.Tensor(arg0_1, 2);  arg0_1 = None\n"
			   "        relu: \"f32[2, 8]\" = torch.ops.aten.relu.default(mul);  mul = None\n"
			   "        mm: \"f32[2, 2]\" = torch.ops.aten.mm.default(relu, relu)\n"
			   "        return (mm,)\n";
static const char code[] = "# AOT ID: ['0_inference']\n"
			   "triton_poi_fused_mul_0 = async_compile.triton('triton_poi_fused_mul_0', '''\n"
			   "def triton_poi_fused_mul_0(in_ptr0, xnumel):\n"
			   "    pass\n"
			   "''', device_str='cuda')\n"
			   "\n"
			   "def call(args):\n"
			   "    # Topologically Sorted Source Nodes: [mul, relu]\n"
			   "    # [Provenance debug handles] triton_poi_fused_mul_0:1\n"
			   "    stream0 = get_raw_stream(0)\n"
			   "    triton_poi_fused_mul_0.run(arg0_1, buf0, 16, stream=stream0)\n"
			   "    # [Provenance debug handles] extern_kernels.mm:2\n"
			   "    extern_kernels.mm(buf0,\n"
			   "        reinterpret_tensor(buf0, (8, 2), (1, 8), 0),\n"
			   "        out=buf1)\n"
			   "    # [Provenance debug handles] triton_poi_fused_mul_0:3\n"
			   "    triton_poi_fused_mul_0.run(buf1, buf2, 4, stream=stream0)\n"
			   "    return (buf2, )\n";
static const char map[] = "{\"preToPost\": {\"mul\": [\"mul\"], \"relu\": [\"relu\", \"mm\"]},"
			  " \"postToPre\": {\"mul\": [\"mul\"], \"relu\": [\"relu\"], \"mm\": [\"relu\"]},"
			  " \"cppCodeToPost\": {\"triton_poi_fused_mul_0:1\": [\"relu\", \"mul\"], \"extern_kernels.mm:2\": [\"mm\"],"
			  " \"triton_poi_fused_mul_0:3\": [\"mm\"]},"
			  " \"postToCppCode\": {\"mul\": [\"triton_poi_fused_mul_0:1\"], \"relu\": [\"triton_poi_fused_mul_0:1\"],"
			  " \"mm\": [\"extern_kernels.mm:2\", \"triton_poi_fused_mul_0:3\"]}, \"version\": 2.0}";

static void python(void **state)
{
	(void)state;
	assert_true(build(pre, post, code, NULL, map, NULL));
	assert_links(PRE_TO_POST, "6>4 7>5,6");
	assert_links(POST_TO_PRE, "4>6 5>7 6>7");
	assert_links(CODE_TO_POST, "11>4,5 13>6 17>6");
	assert_links(POST_TO_CODE, "4>11 5>11 6>13,17");
	assert_links(AOT_TO_POST, "");
	assert_calls(0, "0@11-11 1@13-15 2@17-17");
	assert_int_equal(p.kernel[0].def_first, 2);
	assert_int_equal(p.kernel[0].def_last, 5);
	assert_int_equal(p.kernel[2].def_first, 2);
	assert_int_equal(p.kernel[1].def_first, 0);
}

static void sources(void **state)
{
	(void)state;
	assert_true(build(pre, post, NULL, NULL, map, NULL));
	assert_null(provenance_source(&p, 0, 3));
	const struct srcloc *at = provenance_source(&p, 0, 7), *again = provenance_source(&p, 1, 4);
	assert_non_null(at);
	assert_text(at->file, "app/m.py");
	assert_text(at->func, "forward");
	assert_text(at->code, "return x.mul(2).relu()");
	assert_int_equal(at->line, 12);
	assert_ptr_equal(at, again);
	assert_true(build("# Annotation: {'x': 1} File: a.py:3 in f, code: y\na = 1\n# No stacktrace found for following nodes\nb = 1\n",
			  NULL, NULL, NULL, "{}", NULL));
	assert_int_equal(provenance_source(&p, 0, 2)->line, 3);
	assert_null(provenance_source(&p, 0, 4));
	assert_null(provenance_source(&p, 1, 1));
}

static void cpp(void **state)
{
	(void)state;
	static const char aot[] = "\n"
				  "static inline void call_triton_poi_fused_relu_1(\n"
				  "    const AtenTensorHandle arg,\n"
				  "    int32_t device_idx\n"
				  ") {\n"
				  "    launchKernel(triton_poi_fused_relu_1_result);\n"
				  "}\n"
				  "void AOTInductorModel::_const_run_impl(\n"
				  "void AOTInductorModel::run_impl(\n"
				  "    // [Provenance debug handles] triton_poi_fused_relu_1:1\n"
				  "    int64_t triton_poi_fused_relu_1_xnumel = 3L;\n"
				  "    call_triton_poi_fused_relu_1(buf0, this->device_idx_);\n"
				  "    // [Provenance debug handles] aoti_torch_cpu_addmm_out:2\n"
				  "    static constexpr int64_t int_array_2[] = {8L, 16L};\n"
				  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf0, up, arg));\n"
				  "    // [Provenance debug handles] torch::ops::aten::sort:3\n"
				  "    // [Provenance debug handles] custom_op:4\n"
				  "    aoti_torch_proxy_executor_call_function(proxy_executor, 0, 1,\n"
				  "        std::vector<int64_t>{}.data());\n"
				  "} // run_impl\n";
	assert_true(build(NULL, post, NULL, aot,
			  "{\"cppCodeToPost\": {\"triton_poi_fused_relu_1:1\": [\"relu\"], \"aoti_torch_cpu_addmm_out:2\": [\"mm\"],"
			  " \"torch::ops::aten::sort:3\": [\"mul\"], \"custom_op:4\": [\"mul\", \"nowhere\"]}}",
			  NULL));
	assert_calls(1, "0@12-12 1@15-15 2@18-18 3@18-18"); /* 2, 3: called by another name */
	assert_links(AOT_TO_POST, "12>5 15>6 18>4");
	assert_links(POST_TO_AOT, "4>18 5>12 6>15"); /* the log has no postToCppCode: turned round */
	assert_int_equal(p.kernel[0].def_first, 2);
	assert_int_equal(p.kernel[0].def_last, 7);
}

static void no_handles(void **state)
{
	(void)state;
	static const char old[] = "triton_a = async_compile.triton('''\n"
				  "''')\n"
				  "def call(args):\n"
				  "    # triton_a\n"
				  "    triton_a.run(x)\n"
				  "    triton_a_1.run(x)\n"
				  "    my_triton_a(x)\n"
				  "    triton_a.run(y)\n";
	assert_true(build(NULL, "a = 1\n", old, NULL, "{\"cppCodeToPost\": {\"triton_a\": [\"a\"]}}", NULL));
	assert_links(CODE_TO_POST, "5>1 8>1");
	/* A handle that is not in the code: by name, too. */
	assert_true(build(NULL, "a = 1\n", old, NULL, "{\"cppCodeToPost\": {\"triton_a:7\": [\"a\"]}}", NULL));
	assert_links(CODE_TO_POST, "5>1 8>1");
	/* No body to be seen: all of the text. */
	assert_true(build(NULL, "a = 1\n", "triton_a(x)\n", NULL, "{\"postToCppCode\": {\"a\": [\"triton_a\"]}}", NULL));
	assert_links(POST_TO_CODE, "1>1");
	assert_links(CODE_TO_POST, "1>1");
}

static void nodes(void **state)
{
	(void)state;
	static const char graph[] = "class <lambda>(torch.nn.Module):\n"
				    "    def forward(self, x: \"Sym(s0)\", y: \"f32[s0, a: b]\", z):\n"
				    "        w: \"f32[3]\"; \n"
				    "\n"
				    "        w, v, = fx_pytree.tree_flatten_spec([], self._in_spec)\n"
				    "        if_ == 3\n"
				    "        return (w,)\n"
				    "    class true_graph_0(torch.nn.Module):\n"
				    "        def forward(self, x, inner):\n"
				    "            w: \"f32[3]\" = x + 1\n";
	static const char names[] =
	    "{\"preToPost\": {\"x\": [\"n\"], \"y\": [\"n\"], \"z\": [\"n\"], \"w\": [\"n\"], \"v\": [\"n\"], \"inner\": [\"n\"],"
	    " \"a\": [\"n\"], \"self\": [\"n\"], \"if_\": [\"n\"], \"Sym\": [\"n\"], \"return\": [\"n\"]}}";
	assert_true(build(graph, "n = 1", NULL, NULL, names, NULL));
	assert_links(PRE_TO_POST, "2>1 3>1 5>1 9>1");
}

static void junk(void **state)
{
	(void)state;
	static const char *const maps[] = {"", "null", "[]", "3", "{\"preToPost\"", "\"x\""};
	for (unsigned i = 0; i < ARRAY_LEN(maps); i++)
		assert_false(build(pre, post, code, code, maps[i], maps[i]));
	assert_true(build(
	    pre, post, code, code,
	    "{\"preToPost\": [], \"postToPre\": {\"mul\": \"mul\", \"relu\": [1, null, {}, [\"mul\"], \"relu\"]},"
	    " \"cppCodeToPost\": {\"\": [\"mul\"], \":\": [\"mul\"], \"::\": [], \":1\": [\"mm\"], \"x\": 1}, \"postToCppCode\": null}",
	    "{\"\\u0000\": [1], \"triton_poi_fused_mul_0:1\": 7}"));
	assert_links(POST_TO_PRE, "5>7");
	assert_links(PRE_TO_POST, "7>5");
	/* Stacks name kernels, too, so that their calls are found without a mapping of them. */
	assert_true(build(NULL, NULL, code, NULL, "{\"version\": 2.0}", "{\"extern_kernels.mm:2\": []}"));
	assert_calls(0, "0@13-15");
	assert_links(CODE_TO_POST, "");
}

static void json(void **state)
{
	(void)state;
	struct buf b = {0};
	struct json_out o = {.b = &b, .html = true};
	struct json_tape t = {0};
	uint32_t root;
	assert_true(build(pre, post, code, NULL, map, "{\"</script>:9\": []}"));
	provenance_json(&p, &o);
	assert_null(slice_find(buf_slice(&b), "<"));
	json_tape_text(&t, b.p, b.len);
	assert_int_equal(json_parse(&t, 0, b.len, &root), 0);
	for (unsigned w = 0; w < PROV_WAYS; w++)
		assert_true(json_is(&t, json_get(&t, root, prov_way_name[w]), JSON_OBJECT));
	assert_text(json_raw(&t, json_get(&t, json_get(&t, root, "postToCode"), "6")), "[13,17]");
	json_tape_release(&t);
	buf_release(&b);
}

static void first(void **state)
{
	(void)state;
	assert_true(build(pre, post, code, NULL, map, NULL));
	assert_int_equal(provenance_first(&p, POST_TO_CODE, 6), 2);
	assert_int_equal(provenance_first(&p, POST_TO_CODE, 5), 1);
	assert_int_equal(provenance_first(&p, POST_TO_CODE, 0), 0);
	assert_int_equal(provenance_first(&p, POST_TO_CODE, 7), p.n_link[POST_TO_CODE]);
	assert_int_equal(provenance_first(&p, AOT_TO_POST, 1), 0);
}

/* One kernel, many calls and many nodes: links are bounded. */
static void many(void **state)
{
	(void)state;
	struct buf graph = {0}, text = {0}, names = {0};
	buf_adds(&text, "def call(args):\n");
	buf_adds(&names, "{\"cppCodeToPost\": {\"k\": [\"n0\"");
	for (int i = 0; i < 3000; i++) {
		buf_addf(&graph, "n%d = 1\n", i);
		buf_adds(&text, "k(x)\n");
		buf_addf(&names, ", \"n%d\"", i);
	}
	buf_adds(&names, "]}}");
	assert_true(build(NULL, buf_str(&graph), buf_str(&text), NULL, buf_str(&names), NULL));
	assert_int_equal(p.n_call[0], 3000);
	assert_true(p.n_link[CODE_TO_POST] > 1000000 && p.n_link[CODE_TO_POST] <= PROV_LINKS_MAX);
	buf_release(&graph);
	buf_release(&text);
	buf_release(&names);
}

/* ---- sets ---- */

static void add(struct buf *b, const char *id, const char *name, const char *payload)
{
	struct buf m = {0};
	if (!strcmp(name, "inductor_output_code"))
		buf_addf(&m, "\"inductor_output_code\": {\"filename\": \"x.py\"}");
	else if (!strcmp(name, "compilation_metrics") || !strcmp(name, "bwd_compilation_metrics"))
		buf_addf(&m, "\"%s\": {}", name);
	else
		buf_addf(&m, "\"artifact\": {\"name\": \"%s\", \"encoding\": \"%s\"}", name,
			 payload && *payload == '{' ? "json" : "string");
	buf_addf(&m, ", %s", id);
	add_record(b, "", buf_str(&m), payload);
	buf_release(&m);
}

static const char id0[] = "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0";
static const char id1[] = "\"frame_id\": 1, \"frame_compile_id\": 0, \"attempt\": 0";
static const char node_map[] = "inductor_provenance_tracking_node_mappings";
static const char stack_map[] = "inductor_provenance_tracking_kernel_stack_traces";

static void sets(void **state)
{
	(void)state;
	struct reader r;
	struct buf b = {0};
	reader_init(&r);
	add(&b, id0, "before_pre_grad_graph", pre);
	add(&b, id1, "before_pre_grad_graph", pre);
	add(&b, id0, "inductor_post_grad_graph", post);
	add(&b, id1, "inductor_post_grad_graph", post);
	add(&b, id0, "inductor_output_code", code);
	add(&b, id0, node_map, map);
	add(&b, id0, stack_map, "{}");
	add(&b, id0, "compilation_metrics", NULL);
	add(&b, id0, "inductor_post_grad_graph", "mul = 2\n"); /* the backward, with the same graph before */
	add(&b, id0, "inductor_output_code", code);
	add(&b, id0, node_map, map);
	add(&b, id0, "bwd_compilation_metrics", NULL);
	add(&b, id1, "compilation_metrics", NULL); /* no mapping: no set */
	reader_window(&r, buf_slice(&b), true);
	provset_end(&r.t);
	assert_int_equal(r.t.n_provenance, 2);
	const struct trace_provenance *s = r.t.provenance;
	assert_int_equal(s[0].attempt, s[1].attempt);
	assert_int_equal(s[0].artifact[PROV_PRE], s[1].artifact[PROV_PRE]);
	assert_int_not_equal(s[0].artifact[PROV_POST], s[1].artifact[PROV_POST]);
	assert_int_not_equal(s[0].artifact[PROV_STACKS], UINT32_MAX);
	assert_int_equal(s[1].artifact[PROV_STACKS], UINT32_MAX);
	assert_int_equal(s[0].artifact[PROV_AOT], UINT32_MAX);
	assert_non_null(slice_find(s[0].links, "\"preToPost\":{\"6\":[4],\"7\":[5,6]}"));
	assert_non_null(slice_find(s[1].links, "\"preToPost\":{\"6\":[1]}"));
	assert_int_equal(r.t.n_prov_set, 0);
	assert_int_equal(r.t.prov_bytes, 0);
	reader_release(&r);
	buf_release(&b);
}

/* Texts that nothing completes do not pile up. */
static void bounded(void **state)
{
	(void)state;
	struct reader r;
	struct buf b = {0}, large = {0};
	char id[128];
	reader_init(&r);
	for (int i = 0; i < 1 << 18; i++)
		buf_adds(&large, "n = 1\n");
	for (int i = 0; i < 40; i++) {
		buf_reset(&b);
		snprintf(id, sizeof(id), "\"frame_id\": %d, \"frame_compile_id\": 0, \"attempt\": 0", i);
		add(&b, id, "before_pre_grad_graph", buf_str(&large));
		add(&b, id, node_map, map);
		reader_window(&r, buf_slice(&b), false);
		assert_true(r.t.prov_bytes <= TRACE_TEXTS_MAX + 2 * large.len);
	}
	provset_end(&r.t);
	assert_int_equal(r.t.n_provenance, 40);
	assert_int_equal(r.t.prov_bytes, 0);
	reader_release(&r);
	buf_release(&b);
	buf_release(&large);
}

static void recorded(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		uint32_t sets;
		const char *links;
	} log[] = {
	    {"traces/provenance_jit.log.xz", 2, "\"codeToPost\":{\"191\":[4,7,8,9,10,11,12],\"199\":[14],\"203\":[15,16,17,18,19,20]}"},
	    {"traces/aoti.log.xz", 1, "\"aotToPost\":{\"862\":[14],\"871\":[10,17],\"881\":[21],\"891\":[24,25,26,27,28]}"},
	};
	for (unsigned i = 0; i < ARRAY_LEN(log); i++) {
		struct reader r;
		struct buf b = {0};
		if (!data_load(log[i].file, &b))
			skip();
		reader_init(&r);
		reader_window(&r, buf_slice(&b), true);
		provset_end(&r.t);
		assert_int_equal(r.t.n_provenance, log[i].sets);
		assert_non_null(slice_find(r.t.provenance[0].links, log[i].links));
		reader_release(&r);
		buf_release(&b);
	}
}

static int release(void **state)
{
	(void)state;
	provenance_release(&p);
	for (unsigned i = 0; i < PROV_TEXTS; i++)
		guard_release(&guard[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(python), cmocka_unit_test(sources), cmocka_unit_test(cpp),     cmocka_unit_test(no_handles),
	    cmocka_unit_test(nodes),  cmocka_unit_test(junk),    cmocka_unit_test(json),    cmocka_unit_test(first),
	    cmocka_unit_test(many),   cmocka_unit_test(sets),    cmocka_unit_test(bounded), cmocka_unit_test_teardown(recorded, release),
	};
	return RUN(tests);
}
