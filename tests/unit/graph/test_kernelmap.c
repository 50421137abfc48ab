/* graph/inductor/kernelmap: kernels, nodes and lines of the recorded folders against a list made by hand; every recorded trace, package and
 * folder; compile errors; fusion; guesses are marked. */
#include "graph/inductor/kernelmaps.h"
#include "../../lib/inductor.h"

static struct err err;
static struct guard guard;
static char *models, *broken;

static struct kernelmap *map_of(struct kernelmaps *k, const char *name)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (slice_is(k->map[i]->in.name, name))
			return k->map[i];
	fail_msg("no compilation %s", name);
	return NULL;
}

static uint32_t use_of(struct kernelmap *m, const char *name)
{
	for (uint32_t u = 0; u < m->n_use; u++)
		if (slice_is(m->use[u].name, name))
			return u;
	fail_msg("no kernel %s", name);
	return 0;
}

static void nodes_of(struct kernelmap *m, struct kmlist l, struct buf *b)
{
	buf_reset(b);
	for (uint32_t i = 0; i < l.n; i++) {
		struct slice s = m->node[m->item[l.first + i]].name;
		buf_addf(b, "%s%.*s", i ? " " : "", SL(s));
	}
}

/* What the lines say that begin like this, in order, each copy: "neg" the node itself, "~mean" a step, "?mul" a guess, "-" nothing. */
static void lines_of(struct kernelmap *m, uint32_t use, const char *begin, struct buf *b)
{
	static const char *const mark[] = {"-", "", "~", "?"};
	struct slice rest = kernelmap_text(m, &m->use[use]), line;
	buf_reset(b);
	for (uint32_t n = 0; slice_line(&rest, &line); n++) {
		const struct kmline *l = &m->line[m->use[use].line + n];
		if (!slice_starts(slice_trim(line), begin))
			continue;
		struct slice s = l->node == NONE ? SLICE("") : m->node[l->node].name;
		buf_addf(b, "%s%s%.*s", b->len ? " " : "", l->node == NONE ? "-" : mark[l->how], SL(s));
	}
}

static void load_models(struct kernelmaps *k, bool log)
{
	char *path = data_path("inductor/models.txt");
	*k = (struct kernelmaps){0};
	assert_int_equal(kernelmaps_add_debugdir(k, models, &err), 0);
	if (log)
		assert_int_equal(kernelmaps_add_text(k, path, &err), 0);
	kernelmaps_build(k);
	free(path);
}

/* Read off the recorded kernels by hand. */
static void test_by_hand(void **state)
{
	(void)state;
	static const struct {
		const char *map, *kernel, *nodes, *ir, *lines;
	} kernels[] = {
	    {"model__0_inference_0.0", "cpp_fused_maximum_neg_0", "neg maximum", "op0", "10 11"},
	    {"model__1_inference_1.1", "extern_kernels.addmm", "addmm", "op0", "17"},
	    {"model__1_inference_1.1", "cpp_fused_relu_sum_0", "relu sum_1", "op1 op2", "18 19"},
	    {"model__3_inference_3.3", "cpp_fused_index_scalar_tensor_where_0", "index full_default where", "op0", "27 28"},
	    {"model__4_inference_4.4", "cpp_fused__foreach_add_0", "_foreach_add getitem getitem_1", "op0 op1", "32"},
	    {"model__5_inference_5.5", "cpp_fused_mean_sigmoid_0", "sigmoid mean", "op0 op1", "36 37"},
	    {"model__6_inference_6.6", "cpp_fused_add_exp_mul_0", "exp mul add", "op0", "41 42"},
	    {"model__7_inference_7.7", "cpp_fused_add_cos_sin_sum_0", "cos sum_1 sin add", "op0 op2 op1", "46 47 48"},
	    {"model__8_forward_9.8", "cpp_fused_native_layer_norm_sum_tanh_0", "tanh var_mean getitem_1 add rsqrt sub mul sum_1",
	     "op1 op2 op3 op4 op5 op6", "59"},
	    {"model__8_backward_11.9", "extern_kernels.mm", "mm", "op4", "58"},
	    {"model__8_backward_11.9", "cpp_fused_sum_1", "sum_4", "op5", "58"},
	};
	static const struct {
		const char *map, *kernel, *begin, *want;
	} lines[] = {
	    {"model__0_inference_0.0", "cpp_fused_maximum_neg_0", "auto tmp2 =", "neg"},
	    {"model__0_inference_0.0", "cpp_fused_maximum_neg_0", "auto tmp3 =", "maximum"},
	    {"model__0_inference_0.0", "cpp_fused_maximum_neg_0", "tmp3.store", "maximum"},
	    {"model__1_inference_1.1", "cpp_fused_relu_sum_0", "auto tmp1 =", "relu"},
	    {"model__1_inference_1.1", "cpp_fused_relu_sum_0", "tmp_acc0_vec = ", "sum_1"},
	    {"model__1_inference_1.1", "cpp_fused_relu_sum_0", "out_ptr0[", "sum_1"},
	    /* vectorised, and the tail: both copies */
	    {"model__2_inference_2.2", "cpp_fused__softmax_abs_all_amax_eq_mul_ne_sub_0",
	     "auto tmp11 =", "mul_tensor_3 mul_tensor_3 mul_tensor_2 mul_tensor_2"},
	    {"model__2_inference_2.2", "cpp_fused__softmax_abs_all_amax_eq_mul_ne_sub_0", "auto tmp17 =", "where_self where_self"},
	    {"model__2_inference_2.2", "cpp_fused__softmax_abs_all_amax_eq_mul_ne_sub_0",
	     "tmp_acc0_vec = ", "any_dims any_dims sum_1 sum_1"},
	    {"model__2_inference_2.2", "cpp_fused__softmax_abs_all_amax_eq_mul_ne_sub_0",
	     "tmp_acc2_vec = ", "amax_default_1 amax_default_1"},
	    {"model__3_inference_3.3", "cpp_fused_index_scalar_tensor_where_0", "auto tmp10 =", "index index"},
	    {"model__3_inference_3.3", "cpp_fused_index_scalar_tensor_where_0", "auto tmp6 =", "~index ~index"},
	    {"model__3_inference_3.3", "cpp_fused_index_scalar_tensor_where_0", "auto tmp11 =", "~where ~where"},
	    {"model__4_inference_4.4", "cpp_fused__foreach_add_0", "auto tmp2 =", "getitem getitem getitem_1 getitem_1"},
	    {"model__5_inference_5.5", "cpp_fused_mean_sigmoid_0", "auto tmp1 = decl", "sigmoid"},
	    {"model__5_inference_5.5", "cpp_fused_mean_sigmoid_0", "tmp_acc0_vec = ", "~mean"},
	    {"model__5_inference_5.5", "cpp_fused_mean_sigmoid_0", "auto tmp4 =", "mean"},
	    {"model__6_inference_6.6", "cpp_fused_add_exp_mul_0", "auto tmp2 =", "exp"},
	    {"model__6_inference_6.6", "cpp_fused_add_exp_mul_0", "auto tmp5 =", "mul"},
	    {"model__6_inference_6.6", "cpp_fused_add_exp_mul_0", "auto tmp8 =", "add"},
	    {"model__7_inference_7.7", "cpp_fused_add_cos_sin_sum_0", "tmp1.store", "cos"},
	    {"model__7_inference_7.7", "cpp_fused_add_cos_sin_sum_0", "tmp5.store", "add"},
	    {"model__8_forward_9.8", "cpp_fused_native_layer_norm_sum_tanh_0", "tmp_acc0_vec = ", "~var_mean ~var_mean sum_1"},
	    /* the mean; what the variance subtracts it from; the variance; what layer_norm subtracts it from */
	    {"model__8_forward_9.8", "cpp_fused_native_layer_norm_sum_tanh_0", "auto tmp3 =", "getitem_1 ~var_mean getitem sub"},
	    {"model__8_forward_9.8", "cpp_fused_native_layer_norm_sum_tanh_0", "auto tmp6 =", "add mul"},
	    {"model__8_forward_9.8", "cpp_fused_native_layer_norm_sum_tanh_0", "auto tmp7 =", "rsqrt"},
	    {"model__8_backward_11.9", "cpp_fused_expand_native_layer_norm_native_layer_norm_backward_tanh_tanh_backward_0",
	     "auto tmp24 =", "mul_7"},
	    {"model__8_backward_11.9", "cpp_fused_expand_native_layer_norm_native_layer_norm_backward_tanh_tanh_backward_0",
	     "auto tmp17 =", "sub_3"},
	    {"model__8_backward_11.9", "cpp_fused_sum_1", "auto tmp4 =", "~sum_4"},
	    {"model__8_backward_11.9", "cpp_fused_sum_1", "auto tmp6 =", "sum_4"},
	};
	struct kernelmaps k;
	struct buf b = {0};
	if (!models)
		skip();
	load_models(&k, true);
	assert_int_equal(k.n, 10);
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		struct kernelmap *m = map_of(&k, kernels[i].map);
		const struct kmuse *u = &m->use[use_of(m, kernels[i].kernel)];
		nodes_of(m, u->fx, &b);
		assert_string_equal(buf_str(&b), kernels[i].nodes);
		buf_reset(&b);
		for (uint32_t j = 0; j < u->ir.n; j++) {
			struct slice s = m->ir->node[m->item[u->ir.first + j]].name;
			buf_addf(&b, "%s%.*s", j ? " " : "", SL(s));
		}
		assert_string_equal(buf_str(&b), kernels[i].ir);
		buf_reset(&b);
		for (uint32_t j = 0; j < u->source.n; j++)
			buf_addf(&b, "%s%u", j ? " " : "", m->source[m->item[u->source.first + j]].line);
		assert_string_equal(buf_str(&b), kernels[i].lines);
	}
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct kernelmap *m = map_of(&k, lines[i].map);
		lines_of(m, use_of(m, lines[i].kernel), lines[i].begin, &b);
		if (strcmp(buf_str(&b), lines[i].want))
			fail_msg("%s: '%s' is of '%s' instead of '%s'", lines[i].kernel, lines[i].begin, buf_str(&b), lines[i].want);
	}
	buf_release(&b);
	kernelmaps_release(&k);
}

/* The operation of the IR: its line says the same. */
static void test_ir_lines(void **state)
{
	(void)state;
	struct kernelmaps k;
	if (!models)
		skip();
	load_models(&k, false);
	struct kernelmap *m = map_of(&k, "model__0_inference_0.0");
	const struct kmuse *u = &m->use[0];
	struct slice rest = kernelmap_text(m, u), line;
	bool found = false;
	for (uint32_t n = 0; slice_line(&rest, &line); n++) {
		const struct kmline *l = &m->line[u->line + n];
		if (!slice_find(line, "tmp1.neg()"))
			continue;
		struct slice ir = m->ir->text, at = {0};
		for (uint32_t i = 0; i < l->ir_line; i++)
			assert_true(slice_line(&ir, &at));
		assert_text(slice_trim(at), "neg = ops.neg(load_1)");
		assert_text(l->value, "tmp2");
		found = true;
	}
	assert_true(found);
	struct kmhit hit[8];
	assert_int_equal(kernelmap_find(m, SLICE("buf0"), hit, 8), 1);
	assert_int_equal(hit[0].what, KM_IR);
	assert_true(kernelmap_use_has(m, 0, hit[0]));
	assert_int_equal(kernelmap_find(m, SLICE("inductor.py:11"), hit, 8), 1);
	assert_int_equal(hit[0].what, KM_SOURCE);
	assert_true(kernelmap_use_has(m, 0, hit[0]));
	assert_int_equal(kernelmap_find(m, SLICE("ductor.py:11"), hit, 8), 0);
	assert_int_equal(kernelmap_find(m, SLICE("cpp_fused_maximum_neg_0:1"), hit, 8), 1);
	assert_int_equal(kernelmap_find(m, SLICE("neg"), hit, 8), 1);
	assert_int_equal(hit[0].what, KM_FX);
	kernelmaps_release(&k);
}

static void test_fusion(void **state)
{
	(void)state;
	struct kernelmaps k;
	struct kmfusion row[32];
	if (!models)
		skip();
	for (int log = 0; log < 2; log++) {
		load_models(&k, log);
		struct kernelmap *m = map_of(&k, "model__8_forward_9.8");
		uint32_t n = kernelmap_fusion(m, use_of(m, "cpp_fused_native_layer_norm_sum_tanh_0"), row, 32);
		bool said = false, derived = false, done = false;
		for (uint32_t i = 0; i < n; i++) {
			said |= slice_is(row[i].reason, "intermediate nodes between node1 & node2") && slice_is(row[i].b, "op6");
			derived |= row[i].derived;
			done |= row[i].done && slice_is(row[i].a, "op2") && slice_is(row[i].b, "op3");
		}
		assert_int_equal(said, log);
		assert_int_equal(done, log);
		assert_int_equal(derived, !log);
		kernelmaps_release(&k);
	}
}

static void test_compile_error(void **state)
{
	(void)state;
	struct kernelmaps k = {0};
	struct kmlocation at;
	struct buf text = {0};
	if (!broken || !data_load("inductor/broken.txt.xz", &text))
		skip();
	assert_int_equal(kernelmaps_add_debugdir(&k, broken, &err), 0);
	kernelmaps_build(&k);
	assert_true(kernelmap_locate(k.map, k.n, buf_slice(&text), &at));
	assert_int_equal(at.error.line, 16);
	assert_text(at.quoted, "auto tmp2 = compile error!;");
	assert_false(at.several);
	struct kernelmap *m = k.map[at.map];
	const struct kmline *l = &m->line[m->use[at.use].line + at.line - 1];
	assert_text(m->use[at.use].name, "cpp_fused_add_relu_sin_0");
	assert_text(l->value, "tmp2");
	assert_text(m->ir->node[l->ir_node].name, "op0");
	assert_text(m->node[l->node].name, "relu");
	assert_int_equal(m->source[m->node[l->node].source].line, 64);
	/* By the quoted line alone, of a message with the column left out, as the tutorial prints it. */
	assert_true(kernelmap_locate(k.map, k.n, SLICE("x/k.cpp:4:1: error: no\n4 | auto tmp1 = tmp0.sin();\n | ^\n"), &at));
	assert_int_equal(at.line, 14);
	assert_true(kernelmap_locate(k.map, k.n, SLICE("x/k.cpp:4:1: error: no\n4 | int main;\n"), &at));
	assert_int_equal(at.line, NONE);
	assert_false(kernelmap_locate(k.map, k.n, SLICE("all is well\n"), &at));
	kernelmaps_release(&k);
	buf_release(&text);
}

/* 2.0, without mappings: all by the flow of data. */
static void test_old(void **state)
{
	(void)state;
	struct buf code = {0}, ir = {0}, graph = {0}, b = {0};
	struct kernelmap m;
	assert_true(data_load("inductor/old_code.py", &code) && data_load("inductor/old_ir.txt", &ir) &&
		    data_load("inductor/old_graph.py", &graph));
	struct kernelmap_input in = {.name = SLICE("old"), .code = buf_slice(&code), .ir_post = buf_slice(&ir), .graph = buf_slice(&graph)};
	kernelmap_build(&m, &in);
	assert_int_equal(m.n_use, 1);
	nodes_of(&m, m.use[0].fx, &b);
	assert_string_equal(buf_str(&b), "neg maximum");
	assert_int_equal(m.use[0].from, KM_FROM_FLOW);
	lines_of(&m, 0, "auto tmp", &b);
	assert_string_equal(buf_str(&b), "arg1_1 arg0_1 neg maximum");
	lines_of(&m, 0, "out_ptr0[", &b);
	assert_string_equal(buf_str(&b), "maximum");
	kernelmap_release(&m);
	/* Two nodes that would both do: said so. */
	static const char two[] = "class G(torch.nn.Module):\n    def forward(self, arg0_1, arg1_1):\n"
				  "        slice_1 = torch.ops.aten.slice.Tensor(arg0_1, 0, 0, 4)\n"
				  "        slice_2 = torch.ops.aten.slice.Tensor(arg0_1, 0, 4, 8)\n"
				  "        neg = torch.ops.aten.neg.default(slice_1)\n"
				  "        neg_1 = torch.ops.aten.neg.default(slice_2)\n"
				  "        maximum = torch.ops.aten.maximum.default(arg1_1, neg)\n"
				  "        return (maximum, neg_1)\n";
	in.graph = SLICE(two);
	kernelmap_build(&m, &in);
	lines_of(&m, 0, "auto tmp2", &b);
	assert_string_equal(buf_str(&b), "?neg");
	kernelmap_release(&m);
	buf_release(&code);
	buf_release(&ir);
	buf_release(&graph);
	buf_release(&b);
}

/* A text log alone: code, IR, graph and fusion, forward and backward of one id apart. */
static void test_log(void **state)
{
	(void)state;
	struct kernelmaps k = {0};
	struct buf text = {0}, b = {0};
	if (!data_load("inductor/log.txt.xz", &text))
		skip();
	struct slice log = slice_of(guard_put(&guard, text.p, text.len), text.len);
	kernelmaps_from_log(&k, log);
	fusionlog_read(&k.fusion, log);
	kernelmaps_build(&k);
	assert_int_equal(k.n, 3);
	struct kernelmap *m = map_of(&k, "0/0");
	nodes_of(m, m->use[use_of(m, "cpp_fused_relu_sum_0")].fx, &b);
	assert_string_equal(buf_str(&b), "relu sum_1");
	assert_int_equal(m->use[use_of(m, "cpp_fused_relu_sum_0")].from, KM_FROM_LOG);
	m = map_of(&k, "1/0");
	lines_of(m, use_of(m, "cpp_fused_native_layer_norm_sum_tanh_0"), "auto tmp3 =", &b);
	assert_string_equal(buf_str(&b), "getitem_1 ~var_mean getitem sub");
	m = map_of(&k, "1/0 (2)");
	nodes_of(m, m->use[use_of(m, "cpp_fused_sum_1")].fx, &b);
	assert_string_equal(buf_str(&b), "sum_4");
	kernelmaps_release(&k);
	buf_release(&text);
	buf_release(&b);
}

/* Triton: the graph is what the comments say. */
static void test_fragments(void **state)
{
	(void)state;
	struct buf code = {0}, b = {0};
	struct kernelmap m;
	assert_true(data_load("inductor/triton.py", &code));
	struct kernelmap_input in = {.name = SLICE("triton"), .code = buf_slice(&code)};
	kernelmap_build(&m, &in);
	assert_true(m.has_graph && m.fragment);
	assert_int_equal(m.n_use, 3);
	nodes_of(&m, m.use[0].fx, &b);
	assert_string_equal(buf_str(&b), "sin add");
	assert_int_equal(m.use[0].from, KM_FROM_COMMENT);
	lines_of(&m, 0, "tmp", &b);
	assert_string_equal(buf_str(&b), "arg0_1 sin ~add add");
	lines_of(&m, 0, "tl.store", &b);
	assert_string_equal(buf_str(&b), "add");
	lines_of(&m, 1, "tmp", &b);
	assert_string_equal(buf_str(&b), "add add sum_1");
	assert_text(m.node[m.item[m.use[1].fx.first]].text, "torch.ops.aten.sum.default(add)");
	kernelmap_release(&m);
	/* a node's keywords; a result of two; a line that is none */
	in.code =
	    SLICE("# Graph fragment:\n#   %x : [num_users=1] = call_function[target=torch.ops.aten.max.dim](args = (%a, 1), "
		  "kwargs = {keepdim: True, device: cuda:0})\n#   %getitem : [num_users=1] = call_function[target=operator.getitem](args = "
		  "(%x, 0), kwargs = {})\n#   %bad : oh\n");
	kernelmap_build(&m, &in);
	if (m.note[0])
		fail_msg("%s", m.note);
	assert_true(m.fragment);
	assert_text(m.node[1].text, "torch.ops.aten.max.dim(a, 1, keepdim = True, device = device(type='cuda', index=0))");
	assert_text(m.node[2].text, "x[0]");
	kernelmap_release(&m);
	buf_release(&code);
	buf_release(&b);
}

/* Every use in everything that is recorded: where the text says which nodes, there are some. */
static void check_all(struct kernelmaps *k, const char *what, uint32_t *uses, uint32_t *joined, uint32_t *lines, uint32_t *known)
{
	kernelmaps_build(k);
	for (uint32_t i = 0; i < k->n; i++) {
		struct kernelmap *m = k->map[i];
		for (uint32_t u = 0; u < m->n_use; u++) {
			const struct kmuse *x = &m->use[u];
			bool generated = x->kernel != NONE;
			(*uses)++;
			*joined += x->fx.n || x->ir.n;
			if (generated && (m->in.mappings.n > 64 || m->in.stacks.n > 64) && m->has_graph && !x->fx.n && !x->ir.n)
				fail_msg("%s: %.*s has no node", what, SL(x->name));
			for (uint32_t j = 0; j < x->fx.n; j++)
				assert_true(m->item[x->fx.first + j] < m->n_node);
			for (uint32_t n = 0; n < x->n_lines; n++) {
				const struct kmline *l = &m->line[x->line + n];
				*lines += l->kind == OP_CALC || l->kind == OP_REDUCE || l->kind == OP_STORE;
				*known += (l->kind == OP_CALC || l->kind == OP_REDUCE || l->kind == OP_STORE) && l->node != NONE;
				if (l->node != NONE)
					assert_true(l->how != MATCH_NONE && l->node < m->n_node);
			}
		}
	}
	kernelmaps_release(k);
}

static void test_everything(void **state)
{
	(void)state;
	static const char *const traces[] = {"big",  "mix",         "models", "training", "custom_op", "provenance_jit",
					     "aoti", "caches_cold", "hop"};
	static const char *const packages[] = {"mlp", "mlp_provenance", "conv", "attn", "emb", "misc", "mixed", "cond", "multi", "halves"};
	uint32_t uses = 0, joined = 0, lines = 0, known = 0;
	struct buf b = {0};
	for (size_t i = 0; i < ARRAY_LEN(traces) + ARRAY_LEN(packages); i++) {
		bool trace = i < ARRAY_LEN(traces);
		struct kernelmaps k = {0};
		char *name = xasprintf(trace ? "traces/%s.log.xz" : "aoti/%s.pt2.xz", trace ? traces[i] : packages[i - ARRAY_LEN(traces)]);
		char file[] = "/tmp/pt2test.XXXXXX";
		int fd = mkstemp(file);
		if (!data_load(name, &b) || fd < 0 || write(fd, b.p, b.len) != (ssize_t)b.len)
			skip();
		close(fd);
		if ((trace ? kernelmaps_add_trace(&k, file, &err) : kernelmaps_add_package(&k, file, NULL, &err)) < 0)
			fail_msg("%s: %s", name, err.text);
		uint32_t mine[4] = {0};
		check_all(&k, name, &mine[0], &mine[1], &mine[2], &mine[3]);
		if (trace) { /* packages have no graph */
			uses += mine[0];
			joined += mine[1];
			lines += mine[2];
			known += mine[3];
		}
		unlink(file);
		free(name);
	}
	buf_release(&b);
	/* Without mappings in most of them: what the flow of data finds. */
	if (joined * 100 < uses * 95 || known * 100 < lines * 80)
		fail_msg("%u of %u calls joined, %u of %u lines", joined, uses, known, lines);
	print_message("# %u of %u calls have nodes, %u of %u lines\n", joined, uses, known, lines);
}

/* As torch 2.15 writes kernel_information.json (INDUCTOR_PROVENANCE=1) beside the call of a C++ wrapper. */
static void test_types(void **state)
{
	(void)state;
	static const char wrapper[] = "void AOTInductorModel::run_impl(\n) {\n"
				      "    // Topologically Sorted Source Nodes: [linear], Original ATen: [aten.addmm]\n"
				      "    // [Provenance debug handles] aoti_torch_cpu_addmm_out:1\n"
				      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf0, b, x, w, 1L, 1L));\n}\n";
	static const struct {
		const char *about, *types;
	} of[] = {
	    {"\"input_shapes\": [[16], [\"s31\", 8], []], \"input_dtypes\": [\"torch.float32\", \"torch.bfloat16\", \"torch.int64\"], "
	     "\"output_shape\": [\"s31\", 16], \"output_dtype\": \"torch.float32\"",
	     "float32[16], bfloat16[s31, 8], int64[] -> float32[s31, 16]"},
	    {"\"input_shapes\": [[4]], \"input_dtypes\": [\"torch.bool\"]", "bool[4]"},
	    {"\"input_shapes\": [], \"input_dtypes\": [], \"output_shape\": [2], \"output_dtype\": \"torch.int8\"", "-> int8[2]"},
	    {"\"input_shapes\": 3, \"input_dtypes\": {}, \"output_shape\": \"x\"", ""},
	    {"\"pre_grad_nodes\": []", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(of); i++) {
		struct kernelmap m;
		char *json = xasprintf("{\"aoti_torch_cpu_addmm_out:1\": {\"post_grad_nodes\": [\"addmm\"], %s}}", of[i].about);
		struct kernelmap_input in = {.name = SLICE("x"), .wrapper = slice_str(wrapper), .stacks = slice_str(json)};
		kernelmap_build(&m, &in);
		assert_int_equal(m.n_use, 1);
		assert_text(m.use[0].types, of[i].types);
		kernelmap_release(&m);
		free(json);
	}
}

static void test_no_input(void **state)
{
	(void)state;
	struct kernelmap m;
	struct kernelmap_input in = {.name = SLICE("x"),
				     .code = SLICE("garbage"),
				     .graph = SLICE("class"),
				     .mappings = SLICE("[1"),
				     .stacks = SLICE("{\"a:1\": 3}"),
				     .ir_post = SLICE("op0: SchedulerNode(X)")};
	kernelmap_build(&m, &in);
	assert_int_equal(m.n_use, 0);
	assert_true(m.note[0] != 0);
	kernelmap_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_ir_lines),   cmocka_unit_test(test_fusion),
	    cmocka_unit_test(test_compile_error), cmocka_unit_test(test_fragments),  cmocka_unit_test(test_log),
	    cmocka_unit_test(test_old),           cmocka_unit_test(test_everything), cmocka_unit_test(test_no_input),
	    cmocka_unit_test(test_types),
	};
	models = unpacked("inductor/models");
	broken = unpacked("inductor/broken");
	int rc = RUN(tests);
	guard_release(&guard);
	if (models)
		remove_folder(models);
	if (broken)
		remove_folder(broken);
	return rc;
}
