/* wrapper: what the generated text says of every recorded package; texts that end anywhere. */
#include "../../lib/wrapped.h"
#include "base/io/zip.h"

/* ---- recorded packages ---- */

/* A member of a package: its text, kept in `out`. */
static bool member(const char *package, const char *model, const char *tail, struct buf *out)
{
	struct buf file = {0};
	struct zip z;
	struct slice data;
	char *name = xasprintf("aoti/%s.pt2.xz", package), *folder = xasprintf("/aotinductor/%s/", model);
	bool found = false;
	if (!data_load(name, &file))
		fail_msg("%s: cannot be unpacked", name);
	assert_int_equal(zip_open(&z, buf_slice(&file), name, &err), 0);
	buf_reset(out);
	for (size_t i = 0; i < z.n && !found; i++) {
		found = slice_find(z.v[i].name, folder) && slice_ends(z.v[i].name, tail);
		if (found && zip_data(&z, &z.v[i], &data, &err) == 0)
			buf_add_slice(out, data);
	}
	zip_close(&z);
	buf_release(&file);
	free(name);
	free(folder);
	return found;
}

static void read_package(const char *package, const char *model)
{
	struct buf wrapper = {0}, kernel = {0};
	contract_release(&c);
	if (!member(package, model, ".wrapper.cpp", &wrapper))
		fail_msg("%s has no wrapper.cpp", package);
	member(package, model, ".kernel.cpp", &kernel);
	if (wrapper_read(&c, buf_slice(&wrapper), buf_slice(&kernel), &err) < 0)
		fail_msg("%s: %s", package, err.text);
	buf_release(&wrapper);
	buf_release(&kernel);
}

static const struct {
	const char *package, *model, *inputs, *outputs;
} packages[] = {
    {"mlp", "model", "arg4_1 f32@cpu[s77:2..64,8!]/(8!,1!) #1\n", "output0 = buf5 f32@cpu[s77,4]/(4,1)\n"},
    {"mlp_provenance", "model", "arg4_1 f32@cpu[3!,8!]/(8!,1!) #1\n", "output0 = buf5 f32@cpu[3,4]/(4,1)\n"},
    {"conv", "model", "arg7_1 f32@cpu[s77:2..15,3!,8!,8!]/(192!,64!,8!,1!) #1\n", "output0 = buf4 f32@cpu[s77,4,4,4]/(64,16,4,1)\n"},
    {"attn", "model", "arg4_1 f32@cpu[2!,6!,16!]/(96!,16!,1!) #1\n", "output0 = buf5 f32@cpu[2,6,16]/(96,16,1)\n"},
    {"emb", "model", "arg3_1 i64@cpu[2!,5!]/(5!,1!) #1\n", "output0 = buf3 f32@cpu[2,5,8]/(40,8,1)\n"},
    {"misc", "model", "arg0_1 f32@cpu[6!,8!]/(8!,1!) #1\narg1_1 i64@cpu[4!]/(1!) #2\narg2_1 f32@cpu[4!,8!]/(8!,1!) #3\n",
     "output0 = buf1 f32@cpu[6,8]/(8,1)\noutput1 = buf2 i64@cpu[6,8]/(8,1)\noutput2 = buf4 f32@cpu[6,3]/(3,1)\n"
     "output3 = buf14 f32@cpu[6,8]/(8,1)\noutput4 = buf8 i64@cpu[u0,2]/(1,u0)\noutput5 = buf15 f32@cpu[6,8]/(8,1)\n"},
    {"mixed", "model",
     "arg0_1 f32@cpu[s17:2..64,s27:3..50,12!]/(12*s27,12!,1!) #1\narg1_1 b8@cpu[s17:2..64,s27:3..50]/(s27,1!) #4\n"
     "arg2_1 i32@cpu[]/() #2\narg3_1 bf16@cpu[s17:2..64,s27:3..50,12!]/(12!,12*s17,1!) #3\n",
     "output0 = buf0 f32@cpu[s17,s27,12]/(12*s27,12,1)\n"},
    {"derived", "model",
     "arg0_1 f32@cpu[s22:2..64,4!]/(4!,1!) #2\narg1_1 f32@cpu[?:2..64,2!]/(2!,1!) rank? #0 unused\n"
     "arg2_1 f32@cpu[2*s22:4..128,4!]/(4!,1!) #1\n",
     "output0 = buf0 f32@cpu[s22,4]/(4,1)\n"},
    {"nested", "model",
     "arg0_1 f32@cpu[2!,3!]/(3!,1!) #1\narg1_1 f32@cpu[2!,3!]/(3!,1!) #2\narg2_1 f32@cpu[2!,3!]/(3!,1!) #4\n"
     "arg3_1 f32@cpu[]/() #3\n",
     "output0 = buf0 f32@cpu[2,3]/(3,1)\noutput1 = buf1 f32@cpu[2,3]/(3,1)\noutput2 = buf2 f32@cpu[]/()\n"},
    {"weights_appended", "model", "arg4_1 f32@cpu[2!,64!]/(64!,1!) #1\n", "output0 = buf2 f32@cpu[2,64]/(64,1)\n"},
    {"weights_blob", "model", "arg4_1 f32@cpu[2!,64!]/(64!,1!) #1\n", "output0 = buf2 f32@cpu[2,64]/(64,1)\n"},
    {"multi", "first", "arg0_1 f32@cpu[4!]/(1!) #1\n", "output0 = buf0 f32@cpu[4]/(1)\n"},
    {"multi", "second", "arg0_1 f32@cpu[4!]/(1!) #1\narg1_1 f32@cpu[4!]/(1!) #2\n", "output0 = buf0 f32@cpu[4]/(1)\n"},
};

static void test_packages(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
		read_package(packages[i].package, packages[i].model);
		is(inputs(), packages[i].inputs);
		is(outputs(), packages[i].outputs);
		is(notes(), "");
		assert_int_equal(c.source, CONTRACT_FROM_TEXT);
		assert_int_equal(c.device, DEVICE_CPU);
	}
	contract_release(&c);
}

static void test_constants(void **state)
{
	(void)state;
	read_package("attn", "model");
	assert_int_equal(c.n_constants, 4);
	const struct contract_constant *k = &c.constant[0];
	assert_text(k->name, "qkv_weight");
	assert_text(k->fqn, "qkv.weight");
	assert_int_equal(k->type, CONSTANT_PARAMETER);
	assert_int_equal(k->dtype, DTYPE_F32);
	assert_int_equal(k->device, DEVICE_CPU);
	assert_int_equal(k->bytes, 3072);
	assert_int_equal(k->offset, 0);
	assert_false(k->from_folded);
	assert_int_equal(k->n_dim, 2);
	assert_true(symsize_eq(k->dim[0].size, symsize_int(48)) && symsize_eq(k->dim[0].stride, symsize_int(16)));
	assert_text(c.constant[3].name, "out_bias");
	assert_int_equal(c.constant[3].n_dim, 1);
	assert_int_equal(c.weight_bytes, 3072 + 192 + 1024 + 64);
	read_package("weights_blob", "model");
	assert_int_equal(c.n_constants, 4);
	assert_text(c.constant[1].fqn, "0.bias");
	assert_int_equal(c.constant[1].type, CONSTANT_UNKNOWN);
	read_package("folded", "model");
	assert_int_equal(c.n_constants, 3);
	assert_text(c.constant[2].name, "_FOLDED_CONST_div");
	assert_true(c.constant[2].from_folded);
	assert_int_equal(c.constant[2].type, CONSTANT_FOLDED);
	/* What computes it is no part of a run. */
	for (uint32_t i = 0; i < c.n_calls; i++)
		assert_false(slice_find(c.call[i].name, "clone"));
	is(notes(), "");
}

static void test_calls(void **state)
{
	(void)state;
	read_package("mlp", "model");
	is(calls(), "aoti_torch_cpu_addmm_out(>buf0, <up_bias, <arg4_1, <up_weight, 1L, 1L)\n"
		    "cpp_fused_relu_0(=buf1, >buf2, s77)\n"
		    "aoti_torch_cpu_addmm_out(>buf3, <buf2, <buf1, <down_weight, 1L, 1L)\n"
		    "cpp_fused__softmax_1(<buf3, >buf4, >buf5, s77)\n");
	assert_text(c.call[2].nodes, "relu, linear_1");
	assert_text(c.call[2].aten, "aten.relu, aten.t, aten.addmm");
	assert_text(c.call[1].nodes, "");
	assert_int_equal(c.call[1].line, 881);
	is(storages(), "buf0 buf1 64*s77 0-2\nbuf2 16 1-2\nbuf3 16*s77 2-4\nbuf4 16*s77 3-4\nbuf5 16*s77 3-4\n");
	is(symbols(), "s77 [2, 64] 0.0\n");
	read_package("attn", "model");
	is(storages(), "buf0 2304 0-1\nbuf2 768 1-2\nbuf3 ? 1-4\nbuf4 buf5 768 2-4\n");
	read_package("misc", "model");
	is(calls(), "aoti_torch_cpu_sort_stable(<arg0_1, &var_0, 1L, 0, >buf1, >buf2)\n"
		    "aoti_torch_cpu_topk(<arg0_1, 3L, -1L, 1, 1, >buf4, >buf5)\n"
		    "cpp_fused_gt_index_put_0(<arg0_1, >buf6, >buf15)\n"
		    "aoti_torch_cpu_nonzero(<buf6, >buf8)\n"
		    "aoti_torch_cpu_cumsum(<arg0_1, 0L, nullptr, >buf14)\n"
		    "cpp_fused_index_put_1(<arg1_1, <arg2_1, >buf15)\n");
	is(symbols(), "u0 [0, 48] data\n");
	/* Unused, and of no known shape in the text but that of the values beside it. */
	is(storages(), "buf1 192 0-6\nbuf2 384 0-6\nbuf4 72 1-6\nbuf5 144 1-6\nbuf6 48 2-3\nbuf15 192 2-6\nbuf8 16*u0 3-6\n"
		       "buf14 192 4-6\n");
	read_package("conv", "model");
	is(calls(), "cpp_fused_convolution_0(<arg7_1, <conv_weight, >buf0, >buf1, >buf2, s77)\n"
		    "aoti_torch_cpu_convolution(<buf0, <buf1, <buf2, std::array<int64_t, 2>{1L, 1L}.cbegin(), 2, "
		    "std::array<int64_t, 2>{1L, 1L}.cbegin(), 2, std::array<int64_t, 2>{1L, 1L}.cbegin(), 2, 0, "
		    "std::array<int64_t, 2>{0L, 0L}.cbegin(), 2, 1L, >buf3)\n"
		    "cpp_fused__native_batch_norm_legit_no_training_max_pool2d_with_indices_relu_1(<buf3, >buf4, s77)\n");
	contract_release(&c);
}

static void test_proxy(void **state)
{
	(void)state;
	struct buf nodes = {0};
	read_package("custom_op", "model");
	is(calls(), "cpp_fused_mul_sin_soft_clip_0(<arg1_1, >buf0, s17)\n"
		    "proxy proxy_executor[0](1, s17, <buf0, >buf2)\n"
		    "proxy proxy_executor[1](<buf2, <arg2_1)\n"
		    "cpp_fused_add_1(<buf2, >buf5, s17)\n");
	is(storages(), "buf0 buf5 16*s17 0-4\nbuf2 16*s17 1-4\n");
	assert_true(member("custom_op", "model", ".wrapper.json", &nodes));
	assert_int_equal(wrapper_name_proxies(&c, buf_slice(&nodes), &err), 0);
	assert_text(c.call[1].name, "pt2fix::soft_clip");
	assert_text(c.call[2].name, "pt2fix::add_");
	is(notes(), "");
	assert_non_null(strstr(calls(), "proxy pt2fix::add_(=buf2, <arg2_1)\n"));
	read_package("custom_op", "model");
	assert_int_equal(wrapper_name_proxies(&c, SLICE("{\"nodes\": [{\"node\": {\"target\": \"a::b_.Tensor\"}}]}"), &err), 0);
	assert_text(c.call[1].name, "a::b_.Tensor");
	assert_int_equal(c.arg[c.call[1].arg + 2].role, ARG_INOUT);
	assert_text(c.call[2].name, "proxy_executor[1]");
	is(notes(), "extern nodes: node 1, which the text calls, is missing\n");
	static const char *const bad[] = {"", "[", "[]", "{}", "{\"nodes\": 3}"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(wrapper_name_proxies(&c, slice_str(bad[i]), &err), -1);
		assert_int_equal(err.status, EXIT_INPUT);
	}
	buf_release(&nodes);
	contract_release(&c);
}

static void test_later_packages(void **state)
{
	(void)state;
	read_package("halves", "model");
	is(inputs(), "arg0_1 f16@cpu[4!]/(1!) #1\narg1_1 u8@cpu[4!]/(1!) #2\narg2_1 i8@cpu[4!]/(1!) #3\n"
		     "arg3_1 i16@cpu[4!]/(1!) #4\narg4_1 f64@cpu[4!]/(1!) #5\narg5_1 c64@cpu[4!]/(1!) #6\n");
	is(notes(), "");
	read_package("strided", "model");
	is(inputs(), "arg2_1 f32@cpu[2!,4!,6!,6!]/(144!,1!,24!,4!) #1\narg3_1 f32@cpu[3!,4!]/(1!,3!) #2\n"
		     "arg4_1 f32@cpu[4!,5!]/(16!,1!) #3\n");
	is(notes(), "");
	read_package("unbounded", "model");
	assert_int_equal(c.n_inputs, 3);
	assert_true(c.input[0].dim[0].range.lo == 2 && c.input[0].dim[0].range.hi_inf);
	assert_true(c.input[2].dim[0].range.lo == 2 && c.input[2].dim[0].range.hi == 3);
	is(notes(), "");
	read_package("kwargs", "model");
	assert_int_equal(c.n_inputs, 7);
	assert_text(c.input[3].name, "arg5_1");
	read_package("cond", "model");
	assert_int_equal(c.n_notes, 1);
	assert_non_null(strstr(notes(), "a condition or a loop"));
	is(outputs(), "output0 = buf3 f32@cpu[3,4]/(4,1)\n");
	/* One branch's memory does not outlive it. */
	is(storages(), "buf0 4 0-0\nbuf1 1 0-3\ntrue_graph_0_buf0 buf3 48 2-2\nfalse_graph_0_buf0 buf3 48 3-4\n");
	contract_release(&c);
}

/* What torch 2.13 writes with cpp_wrapper: no model around it. */
static void test_inductor_entry(void **state)
{
	(void)state;
	static const char entry_text[] =
	    "#include <torch/csrc/inductor/cpp_wrapper/cpu.h>\n"
	    "extern \"C\"  void  cpp_fused_log_0(const float* in_ptr0,\n                       float* out_ptr0);\n"
	    "void inductor_entry_impl(\n    AtenTensorHandle*\n        input_handles, // array of input AtenTensorHandle; handles\n"
	    "    AtenTensorHandle*\n        output_handles  // array for writing output AtenTensorHandle\n) {\n"
	    "    py::gil_scoped_release_simple release;\n"
	    "    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 2);\n"
	    "    auto arg0_1 = std::move(inputs[0]);\n    auto arg1_1 = std::move(inputs[1]);\n"
	    "    static constexpr int64_t int_array_0[] = {8L, 16L};\n    static constexpr int64_t int_array_1[] = {16L, 1L};\n"
	    "    AtenTensorHandle buf0_handle;\n"
	    "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float32, "
	    "cached_torch_device_type_cpu, 0, &buf0_handle));\n"
	    "    RAIIAtenTensorHandle buf0(buf0_handle);\n"
	    "    // Topologically Sorted Source Nodes: [matmul], Original ATen: [aten.mm]\n"
	    "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, arg1_1));\n"
	    "    static constexpr int64_t int_array_2[] = {8L, };\n    static constexpr int64_t int_array_3[] = {1L, };\n"
	    "    AtenTensorHandle buf1_handle;\n"
	    "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, int_array_2, int_array_3, cached_torch_dtype_float32, "
	    "cached_torch_device_type_cpu, 0, &buf1_handle));\n"
	    "    RAIIAtenTensorHandle buf1(buf1_handle);\n"
	    "    cpp_fused_log_0((const float*)(buf0.data_ptr()), (float*)(buf1.data_ptr()));\n"
	    "    output_handles[0] = buf1.release();\n} // inductor_entry_impl\n";
	contract_release(&c);
	assert_int_equal(wrapper_read(&c, SLICE(entry_text), SLICE(entry_text), &err), 0);
	assert_int_equal(c.n_inputs, 2);
	assert_int_equal(c.n_outputs, 1);
	assert_int_equal(c.device, DEVICE_CPU);
	assert_int_equal(c.n_calls, 2);
	assert_true(slice_is(c.call[0].aten, "aten.mm"));
	assert_true(slice_is(c.call[1].name, "cpp_fused_log_0"));
	assert_int_equal(c.call[1].n_args, 2);
	assert_int_equal(c.arg[c.call[1].arg + 1].role, ARG_OUT);
	is(outputs(), " = buf1 f32@cpu[8]/(1)\n"); /* the text has no names of outputs */
	contract_release(&c);
}

/* What torch 2.11 writes with cpp_wrapper for CUDA: softmax(log(sin(x) - x) @ w, 0). */
static void test_inductor_entry_cuda(void **state)
{
	(void)state;
	struct buf b = {0};
	assert_true(data_load("aoti/cuda/v211/jit.wrapper.cpp", &b));
	contract_release(&c);
	assert_int_equal(wrapper_read(&c, buf_slice(&b), buf_slice(&b), &err), 0);
	assert_int_equal(c.device, DEVICE_CUDA);
	is(notes(), "");
	assert_int_equal(c.n_unread, 0);
	assert_int_equal(c.n_calls, 3);
	assert_true(slice_is(c.call[0].name, "triton_poi_fused_log_sin_sub_0"));
	assert_int_equal(c.arg[c.call[0].arg].role, ARG_IN);
	assert_int_equal(c.arg[c.call[0].arg + 1].role, ARG_OUT);
	assert_int_equal(c.arg[c.call[2].arg].role, ARG_INOUT);
	is(outputs(), " = buf4 f32@cuda[64,16]/(16,1)\n");
	contract_release(&c);
	buf_release(&b);
}

/* ---- texts that end anywhere ---- */

static void cut_everywhere(const char *package, size_t step)
{
	struct buf b = {0}, line = {0};
	struct guard g = {0};
	assert_true(member(package, "model", ".wrapper.cpp", &b));
	for (size_t n = 0; n < b.len; n += step) {
		contract_release(&c);
		if (wrapper_read(&c, slice_of(guard_put(&g, b.p, n), n), (struct slice){0}, &err) < 0)
			assert_int_equal(err.status, EXIT_INPUT);
		else if (n + 3000 < b.len)
			assert_true(c.n_notes > 0); /* the end is missing, and said to be */
	}
	guard_release(&g);
	buf_release(&b);
	buf_release(&line);
}

static void test_cut(void **state)
{
	(void)state;
	static const char *const names[] = {"misc", "mixed", "custom_op", "cond", "attn", "v215/switch", "v215/proxied"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		cut_everywhere(names[i], 100);
	contract_release(&c);
}

/* Lines that begin something that never ends, many times: work stays in proportion to the length. */
static void test_never_ending(void **state)
{
	(void)state;
	static const char *const lines[] = {
	    "    in_spec_ =\n",
	    "    out_spec_ = R\"(\n",
	    "    : AOTInductorModelBase(1\n",
	    "extern \"C\"  void  f(\n",
	    "static __attribute__((noinline)) void call_x(\n",
	    "void A::run_impl(\n",
	    "    int64_t s1 = std::max<int64_t>({static_cast<int64_t>(\n",
	    "    const int64_t int_array_0[] = {{{((\n",
	};
	struct buf b = {0};
	alarm(120);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		for (int body = 0; body < 2; body++) {
			buf_reset(&b);
			buf_adds(&b, "    : AOTInductorModelBase(1, 1, 0) {\n");
			if (body)
				buf_adds(&b, "void AOTInductorModel::run_impl(\n) {\n");
			for (int k = 0; k < 100000; k++)
				buf_adds(&b, lines[i]);
			for (int k = 0; k < 100000; k++)
				buf_addc(&b, ')');
			assert_int_equal(read_raw(buf_str(&b)), 0);
			assert_true(c.n_notes > 0);
		}
	}
	alarm(0);
	contract_release(&c);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_packages),     cmocka_unit_test(test_constants),      cmocka_unit_test(test_calls),
	    cmocka_unit_test(test_proxy),        cmocka_unit_test(test_later_packages), cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_never_ending), cmocka_unit_test(test_inductor_entry), cmocka_unit_test(test_inductor_entry_cuda),
	};
	return RUN(tests);
}
