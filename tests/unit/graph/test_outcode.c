/* graph/inductor/outcode, opseq, fusionlog: generated code of today and of 2.0, Triton's comments, operations of its statements. */
#include "graph/inductor/fusionlog.h"
#include "graph/inductor/opseq.h"

#include "../../lib/test.h"

#include <time.h>

static struct guard guard;
static struct buf text;

static struct slice load(const char *name)
{
	if (!data_load(name, &text))
		fail_msg("%s is not there", name);
	return slice_of(guard_put(&guard, text.p, text.len), text.len);
}

static void assert_list(const struct outcode *o, struct outlist l, const char *want)
{
	struct buf b = {0};
	for (uint32_t i = 0; i < l.n; i++)
		buf_addf(&b, "%s%.*s", i ? "|" : "", SL(o->name[l.first + i]));
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void test_triton(void **state)
{
	(void)state;
	struct outcode o;
	outcode_read(&o, load("inductor/triton.py"));
	assert_int_equal(o.n_kernel, 2);
	const struct outkernel *k = &o.kernel[0];
	assert_text(k->name, "triton_poi_fused_add_sin_0");
	assert_int_equal(k->lang, OUT_TRITON);
	assert_int_equal(k->line, 19);
	assert_text(k->notes.path, "/tmp/torchinductor_user/3x/c3xdemo.py");
	assert_list(&o, k->notes.source, "y|z");
	assert_list(&o, k->notes.aten, "aten.sin|aten.add");
	assert_list(&o, k->notes.node, "sin|add");
	assert_list(&o, k->param, "in_ptr0|out_ptr0|xnumel|XBLOCK");
	assert_true(slice_starts(k->text, "import triton\n") && slice_ends(k->text, "xmask)\n"));
	assert_int_equal(o.n_call, 3);
	assert_int_equal(o.call[0].kernel, 0);
	assert_list(&o, o.call[0].arg, "arg0_1|buf0|");
	assert_list(&o, o.call[0].notes.source, "y|z");
	assert_text(o.call[2].name, "extern_kernels.mm");
	assert_int_equal(o.call[2].kernel, NONE);
	assert_int_equal(o.call[2].last, o.call[2].line + 1);
	assert_list(&o, o.call[2].arg, "buf0|arg1_1");
	assert_list(&o, o.call[2].made, "buf2");
	assert_list(&o, o.input, "arg0_1|arg1_1");
	assert_list(&o, o.result, "buf1|buf2");
	outcode_release(&o);
}

static void test_old(void **state)
{
	(void)state;
	struct outcode o;
	outcode_read(&o, load("inductor/old_code.py"));
	assert_int_equal(o.n_kernel, 1);
	assert_text(o.kernel[0].name, "kernel_cpp_0");
	assert_int_equal(o.kernel[0].lang, OUT_CPP);
	assert_list(&o, o.kernel[0].param, "in_ptr0|in_ptr1|out_ptr0");
	assert_int_equal(o.n_call, 1);
	assert_list(&o, o.call[0].arg, "arg1_1|arg0_1|buf0");
	assert_list(&o, o.result, "buf0");
	outcode_release(&o);
}

/* torch 2.15.0, config.trace.provenance_tracking_to_timeline: functions that give torch's operators names of their own; assertions of
 * several tensors at once. */
static void test_timeline(void **state)
{
	(void)state;
	static const char code[] =
	    "def extern_kernels_extern_kernels_mm_2(*args, **kwargs):\n"
	    "    # Extra indirection is only enabled for profiler timeline provenance.\n"
	    "    return extern_kernels.mm(*args, **kwargs)\n"
	    "def extern_kernels_torch_ops_aten_sort_stable_3(*args, **kwargs):\n"
	    "    return torch.ops.aten.sort.stable(*args, **kwargs)\n"
	    "class Runner:\n"
	    "    def call(self, args):\n"
	    "        arg0_1, arg1_1, arg2_1 = args\n"
	    "        assert_size_stride_grouped((arg0_1, arg1_1), ((8, 16), (16, 16)), ((16, 1), (16, 1)), 'input')\n"
	    "        # Topologically Sorted Source Nodes: [matmul], Original ATen: [aten.mm]\n"
	    "        # [Provenance debug handles] extern_kernels.mm:1\n"
	    "        extern_kernels_extern_kernels_mm_2(arg0_1, arg1_1, out=buf0)\n"
	    "        # Topologically Sorted Source Nodes: [sort], Original ATen: [aten.sort]\n"
	    "        buf2 = extern_kernels_torch_ops_aten_sort_stable_3(buf0, stable=False, dim=1, descending=False)\n"
	    "        buf3 = buf2[0]\n"
	    "        assert_tensor_metadata(buf3, (8, 16), (16, 1), torch.float32, 'torch.ops.aten.sort.default')\n"
	    "        return (buf3, )\n";
	struct outcode o;
	outcode_read(&o, slice_of(guard_put(&guard, code, sizeof(code) - 1), sizeof(code) - 1));
	assert_int_equal(o.n_call, 2);
	assert_text(o.call[0].name, "extern_kernels.mm");
	assert_text(o.call[0].notes.handle, "extern_kernels.mm:1");
	assert_list(&o, o.call[0].arg, "arg0_1|arg1_1");
	assert_list(&o, o.call[0].made, "buf0");
	assert_text(o.call[1].name, "torch.ops.aten.sort.stable");
	assert_list(&o, o.call[1].notes.source, "sort");
	assert_list(&o, o.result, "buf3");
	outcode_release(&o);
}

/* What makes a kernel of its text, of torch 2.15 (codegen/nv_universal_gemm, codegen/cutedsl) and of a torch that is not known yet. */
static void test_languages(void **state)
{
	(void)state;
	static const char code[] =
	    "cpp_fused_a_0 = async_compile.cpp_pybinding(['float*'], r'''\n''')\n"
	    "nv_universal_gemm_fused_mm_1a2b = async_compile.nv_universal_gemm('nv_universal_gemm_fused_mm_1a2b', r'''\n"
	    "''', precompile_metadata={})\n"
	    "cutedsl_fused_flex_gemm_3c4d = async_compile.cutedsl('cutedsl_fused_flex_gemm_3c4d', r'''\n''')\n"
	    "new_0 = async_compile.of_tomorrow('new_0', '''\n''')\n";
	static const enum outlang want[] = {OUT_CPP, OUT_NVGEMM, OUT_CUTEDSL, OUT_OTHER};
	struct outcode o;
	outcode_read(&o, slice_of(guard_put(&guard, code, sizeof(code) - 1), sizeof(code) - 1));
	assert_int_equal(o.n_kernel, ARRAY_LEN(want));
	for (unsigned i = 0; i < ARRAY_LEN(want); i++)
		assert_int_equal(o.kernel[i].lang, want[i]);
	outcode_release(&o);
}

/* torch 2.15.0: streams of the program. */
static void test_streams(void **state)
{
	(void)state;
	static const char code[] = "triton_poi_fused_cos_t_1 = async_compile.triton('triton_poi_fused_cos_t_1', '''\n"
				   "''', device_str='cuda')\n"
				   "class Runner:\n"
				   "    def call(self, args):\n"
				   "        with torch.cuda._DeviceGuard(0):\n"
				   "            default_stream = torch.cuda.current_stream()\n"
				   "            stream1 = _get_stream_by_index(1)\n"
				   "            with stream1:\n"
				   "                torch.ops.streams.wait_event.default(0, 1)\n"
				   "                buf5 = empty_strided_cuda((64, 32), (1, 64), torch.float32)\n"
				   "                # Topologically Sorted Source Nodes: [cos, t], Original ATen: [aten.cos, aten.t]\n"
				   "                raw_stream = get_raw_stream(0)\n"
				   "                triton_poi_fused_cos_t_1.run(buf0, buf5, 2048, stream=raw_stream)\n"
				   "            return (buf5, )\n";
	struct outcode o;
	outcode_read(&o, slice_of(guard_put(&guard, code, sizeof(code) - 1), sizeof(code) - 1));
	assert_int_equal(o.n_call, 2);
	assert_text(o.call[0].name, "torch.ops.streams.wait_event.default");
	assert_int_equal(o.call[1].kernel, 0);
	assert_list(&o, o.call[1].arg, "buf0|buf5|");
	assert_list(&o, o.call[1].notes.source, "cos|t");
	assert_list(&o, o.result, "buf5");
	outcode_release(&o);
}

static void test_names(void **state)
{
	(void)state;
	static const char code[] = "def call(args):\n"
				   "    buf1 = buf0; del buf0  # reuse\n"
				   "    buf2 = reinterpret_tensor(buf1, (4, 1), (1, 1), 0); del buf1  # reuse\n"
				   "    buf3 = torch.ops.aten.sort.default(buf2, dim=-1, descending=True)\n"
				   "    buf4 = buf3[0]\n"
				   "    buf5 = buf3[1]\n"
				   "    return (reinterpret_tensor(buf4, (4, ), (1, ), 0), None, s0, )\n";
	struct outcode o;
	outcode_read(&o, slice_of(guard_put(&guard, code, sizeof(code) - 1), sizeof(code) - 1));
	assert_text(outcode_storage(&o, SLICE("buf2")), "buf0");
	assert_text(outcode_storage(&o, SLICE("buf4")), "buf4");
	assert_int_equal(o.n_alias, 4);
	assert_true(o.alias[3].item);
	assert_int_equal(o.alias[3].index, 1);
	assert_int_equal(o.n_call, 1);
	assert_list(&o, o.call[0].made, "buf3");
	assert_list(&o, o.call[0].arg, "buf2");
	assert_list(&o, o.result, "buf4||s0");
	outcode_release(&o);
}

/* Many different kernels, wrapped functions and reused buffers: each is found by its name, not among all. */
static void test_many(void **state)
{
	(void)state;
	enum { N = 60000 };
	struct buf b = {0};
	struct outcode o;
	for (int i = 0; i < N; i++)
		buf_addf(&b,
			 "k_%d = async_compile.triton('k_%d', '''\n''')\ndef w_%d(*args, **kwargs):\n    return k_%d(*args, **kwargs)\n", i,
			 i, i, i);
	buf_adds(&b, "def call(args):\n");
	for (int i = 0; i < N; i++)
		buf_addf(&b, "    b%d = a%d; del a%d  # reuse\n    w_%d(b%d)\n", i, i, i, i, i);
	clock_t start = clock();
	outcode_read(&o, buf_slice(&b));
	assert_int_equal(o.n_call, N);
	for (uint32_t i = 0; i < N; i++) {
		char name[16], of[16];
		snprintf(name, sizeof(name), "b%u", i);
		snprintf(of, sizeof(of), "a%u", i);
		assert_int_equal(o.call[i].kernel, i);
		assert_text(outcode_storage(&o, slice_str(name)), of);
	}
	/* 0.1 s; 20 s where each is compared with all. */
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
	outcode_release(&o);
	buf_release(&b);
}

/* What statements are read as: name of the operation, and the results it is of. */
static void test_statements(void **state)
{
	(void)state;
	static const struct {
		const char *line, *want;
	} table[] = {
	    {"auto tmp2 = tmp0 + tmp1;", "add tmp0 tmp1"},
	    {"auto tmp2 = decltype(tmp0)(tmp0 - tmp1);", "sub tmp0 tmp1"},
	    {"auto tmp2 = decltype(tmp0)(-tmp0);", "neg tmp0"},
	    {"auto tmp2 = tmp0.neg();", "neg tmp0"},
	    {"auto tmp2 = at::vec::maximum(tmp0, tmp1);", "maximum tmp0 tmp1"},
	    {"auto tmp2 = max_propagate_nan(tmp0, tmp1);", "maximum tmp0 tmp1"},
	    {"auto tmp2 = at::vec::clamp_min(tmp0, decltype(tmp0)(0));", "relu tmp0"},
	    {"auto tmp2 = std::max(tmp0, decltype(tmp0)(0));", "relu tmp0"},
	    {"auto tmp2 = tmp0 ? tmp1 : tmp0;", "where tmp0 tmp1 tmp0"},
	    {"auto tmp2 = decltype(tmp1)::blendv(tmp1, tmp0, tmp1.template cast<float,1>());", "where tmp1 tmp0 tmp1"},
	    {"auto tmp2 = at::vec::VecMask<float,1>(tmp0 == tmp1);", "eq tmp0 tmp1"},
	    {"auto tmp2 = decltype(tmp0)(1) / (decltype(tmp0)(1) + std::exp(-tmp0));", "sigmoid tmp0"},
	    {"auto tmp2 = 1 / std::sqrt(tmp0);", "rsqrt tmp0"},
	    {"auto tmp2 = std::exp(tmp0);", "exp tmp0"},
	    {"auto tmp2 = tmp0.pow(tmp1);", "pow tmp0 tmp1"},
	    {"auto tmp2 = c10::convert<float>(tmp0);", "= tmp0"},
	    {"auto tmp2 = at::vec::convert<float,2,at::BFloat16,1>(tmp0);", "= tmp0"},
	    {"auto tmp2 = at::vec::Vectorized<float>(tmp0);", "= tmp0"},
	    {"auto tmp2 = std::numeric_limits<float>::infinity();", "inf"},
	    {"auto tmp2 = static_cast<float>(-1e-05);", "-1e-05"},
	    {"auto tmp2 = tmp0 * tmp1 + tmp0;", "? tmp0 tmp1"},
	    {"auto tmp2 = ;", "?"},
	    {"auto x0 = xindex;", "none"},
	    {"auto tmp2 = in_ptr2[static_cast<int64_t>(x0 + 20L*tmp1)];", "load in_ptr2 tmp1"},
	    {"auto tmp2 = at::vec::Vectorized<float>::loadu(in_ptr2 + static_cast<int64_t>(x0), static_cast<int64_t>(8));", "load in_ptr2"},
	    {"auto tmp2 = at::vec::VecMask<float,1>::from(in_ptr2 + static_cast<int64_t>(x0), static_cast<int64_t>(8));", "load in_ptr2"},
	    {"tmp_acc0_vec = tmp_acc0_vec + tmp1;", "reduce sum tmp1"},
	    {"tmp_acc0_vec = max_masked_reduce(tmp_acc0_vec, tmp1, static_cast<int64_t>(4L));", "reduce max tmp1"},
	    {"tmp_acc0 = tmp_acc0 || tmp1;", "reduce any tmp1"},
	    {"tmp_acc0_vec = welford_combine(tmp_acc0_vec, tmp1, &wrecps0);", "reduce welford tmp1"},
	    {"tmp1.store(out_ptr0 + static_cast<int64_t>(x0));", "store out_ptr0 tmp1"},
	    {"out_ptr0[static_cast<int64_t>(x0)] = static_cast<float>(tmp1);", "store out_ptr0 tmp1"},
	    {"atomic_add(&out_ptr0[static_cast<int64_t>(x0)], tmp1);", "store out_ptr0 tmp1"},
	};
	struct opseq_param param[] = {
	    {.name = SLICE("in_ptr0")},
	    {.name = SLICE("in_ptr1")},
	    {.name = SLICE("in_ptr2")},
	    {.name = SLICE("out_ptr0")},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct opseq s = {0};
		struct buf b = {0};
		buf_addf(&b, "auto tmp0 = in_ptr0[0];\nauto tmp1 = in_ptr1[0];\n%s", table[i].line);
		opseq_add_kernel(&s, slice_of(guard_put(&guard, b.p, b.len), b.len), OUT_CPP, param, ARRAY_LEN(param));
		buf_reset(&b);
		const struct seqop *o = s.n_op > 2 ? &s.op[s.n_op - 1] : NULL;
		if (!o)
			buf_adds(&b, "none");
		else if (o->kind == OP_CONST)
			buf_addf(&b, "%g", o->number);
		else if (o->kind == OP_ALIAS)
			buf_adds(&b, "=");
		else
			buf_addf(&b, "%s%.*s", o->kind == OP_REDUCE ? "reduce " : "", SL(o->name));
		if (o && (o->kind == OP_LOAD || o->kind == OP_STORE))
			buf_addf(&b, " %.*s", SL(o->buffer));
		for (uint32_t k = 0; o && k < o->n_args; k++) {
			const struct seqop *a = &s.op[s.arg[o->arg + k]];
			if (a->kind == OP_CONST)
				buf_addf(&b, " %g", a->number);
			else
				buf_addf(&b, " %.*s", SL(a->result));
		}
		if (strcmp(buf_str(&b), table[i].want))
			fail_msg("%s\nis read as '%s' instead of '%s'", table[i].line, buf_str(&b), table[i].want);
		buf_release(&b);
		opseq_release(&s);
	}
}

static void test_numbers(void **state)
{
	(void)state;
	double v;
	assert_true(op_number(SLICE("0.7071067811865476"), &v) && v > 0.7071067811865475 && v < 0.7071067811865477);
	assert_true(op_number(SLICE("-3L"), &v) && v == -3);
	assert_true(op_number(SLICE("True"), &v) && v == 1);
	assert_true(op_number(SLICE("nan"), &v) && v != v);
	assert_false(op_number(SLICE("tmp0"), &v));
	assert_false(op_number(SLICE("1x"), &v));
	assert_false(op_number(SLICE(""), &v));
}

static void test_fusion_log(void **state)
{
	(void)state;
	struct fusionlog f = {0};
	uint32_t count[3] = {0};
	bool layer_norm = false, origins = false;
	fusionlog_read(&f, load("inductor/models.txt"));
	for (uint32_t i = 0; i < f.n; i++) {
		const struct fusion *r = &f.row[i];
		count[r->kind]++;
		layer_norm |= r->kind == FUSION_REFUSED && slice_is(r->a, "op1") && slice_is(r->b, "op6") &&
			      slice_is(r->reason, "intermediate nodes between node1 & node2") && slice_is(r->compile, "8/0") &&
			      slice_is(r->folder, "model__8_forward_9.8");
		origins |= r->kind == FUSION_ORIGINS && slice_is(r->a, "op0") && slice_is(r->reason, "where, index, full_default") &&
			   slice_is(r->folder, "model__3_inference_3.3");
	}
	assert_true(layer_norm);
	assert_true(origins);
	assert_true(count[FUSION_DONE] > 4);
	fusionlog_release(&f);
	fusionlog_read(&f, SLICE("cannot fuse buf0 with buf1: device mismatch (cpu vs cuda:0)\nfusing buf2 with buf3\ncannot fuse x\n"));
	assert_int_equal(f.n, 2);
	assert_text(f.row[0].reason, "device mismatch (cpu vs cuda:0)");
	assert_int_equal(f.row[1].kind, FUSION_DONE);
	fusionlog_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_triton),     cmocka_unit_test(test_old),        cmocka_unit_test(test_names),
	    cmocka_unit_test(test_many),       cmocka_unit_test(test_timeline),   cmocka_unit_test(test_languages),
	    cmocka_unit_test(test_streams),    cmocka_unit_test(test_statements), cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_fusion_log),
	};
	int rc = RUN(tests);
	guard_release(&guard);
	buf_release(&text);
	return rc;
}
