/* wrapper: shapes of statements that no recorded package has. */
#include "../../lib/wrapped.h"

/* ---- texts by hand ---- */

/* n_in inputs f32[s0, 4] from 2 on, called arg0_1..., a constant w of 4 floats, and run_impl with this body. */
static void compose(struct buf *b, int n_in, int n_out, const char *before, const char *body)
{
	buf_reset(b);
	buf_addf(b,
		 "#include <torch/csrc/inductor/aoti_include/cpu.h>\n%s"
		 "AOTInductorModel::AOTInductorModel(std::shared_ptr<ConstantMap> constants_map)\n"
		 "    : AOTInductorModelBase(%d,\n                           %d,\n                           1,\n"
		 "                           device_str) {\n",
		 before, n_in, n_out);
	for (int i = 0; i < n_in; i++)
		buf_addf(b, "    inputs_info_[%d].name = \"arg%d_1\";\n", i, i);
	buf_adds(b, "    constants_info_[0].name = \"w\";\n    constants_info_[0].dtype = cached_torch_dtype_float32;\n"
		    "    constants_info_[0].device_type = cached_torch_device_type_cpu;\n"
		    "    constants_info_[0].data_size = 64;\n    constants_info_[0].shape = {4};\n"
		    "    constants_info_[0].stride = {1};\n");
	for (int i = 0; i < n_out; i++)
		buf_addf(b, "    outputs_info_[%d].name = \"output%d\";\n", i, i);
	buf_adds(b, "}\n");
	for (int i = 0; i < n_in; i++)
		buf_addf(b,
			 "AOTI_NOINLINE static void check_input_%d(\n    AtenTensorHandle* input_handles\n) {\n"
			 "    ConstantHandle arg%d_1 = ConstantHandle(input_handles[%d]);\n"
			 "    int32_t arg%d_1_expected_dtype = aoti_torch_dtype_float32();\n"
			 "    if (arg%d_1_size[0] < 2) {\n        std::stringstream ss;\n    }\n"
			 "    if (4 != arg%d_1_size[1]) {\n        std::stringstream ss;\n    }\n}\n",
			 i, i, i, i, i, i);
	buf_adds(b, "void AOTInductorModel::run_impl(\n    AtenTensorHandle*\n        input_handles, // handles (\n"
		    "    DeviceStreamType stream\n) {\n    __check_inputs_outputs(input_handles, output_handles);\n"
		    "    auto inputs = steal_from_raw_handles_to_raii_handles(input_handles, 1);\n");
	for (int i = 0; i < n_in; i++)
		buf_addf(b, "    auto arg%d_1 = std::move(inputs[%d]);\n", i, i);
	buf_adds(b, "    [[maybe_unused]] auto& w = constants_->at(0);\n    inputs.clear();\n");
	buf_adds(b, body);
	buf_adds(b, "} // AOTInductorModel::run_impl\n} // namespace torch::aot_inductor\n");
}

static void read_text(int n_in, int n_out, const char *before, const char *body)
{
	struct buf b = {0};
	struct guard g = {0};
	compose(&b, n_in, n_out, before, body);
	contract_release(&c);
	if (wrapper_read(&c, slice_of(guard_put(&g, b.p, b.len), b.len), (struct slice){0}, &err) < 0)
		fail_msg("%s", err.text);
	guard_release(&g);
	buf_release(&b);
}

#define EMPTY(buf, dims, size, stride) \
	"    AtenTensorHandle " buf "_handle;\n    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(" dims ", " size ", " stride \
	", cached_torch_dtype_float32, cached_torch_device_type_cpu, this->device_idx_, &" buf "_handle));\n" \
	"    RAIIAtenTensorHandle " buf "(" buf "_handle);\n"
#define KERNEL(name) "extern \"C\"  void  " name "(const float* in_ptr0,\n                       float* out_ptr0);\n"
#define ENV "    if (_check_aoti_runtime_check_inputs_env()) { "

/* torch 2.13, cpp_wrapper_gpu.py: DeferredTritonCallWrapper, codegen_inputs, _generate_kernel_call_helper. */
static void test_gpu(void **state)
{
	(void)state;
	read_text(2, 1,
		  "#include <torch/csrc/inductor/aoti_include/cuda.h>\n"
		  "template <typename in_ptr0_type_, typename in_out_ptr0_type_, typename kernels_type_>\n"
		  "static __attribute__((noinline)) void call_triton_poi_fused_add_0(\n"
		  "    const in_out_ptr0_type_& in_out_ptr0,\n    const in_ptr0_type_& in_ptr0,\n    int64_t xnumel,\n"
		  "    int32_t device_idx_,\n    cudaStream_t stream_,\n    kernels_type_& kernels_,\n"
		  "    const std::optional<std::string>& cubin_dir_ = std::nullopt\n){\n    /*\n"
		  "    async_compile.triton('triton_poi_fused_add_0', '''\n    void AOTInductorModel::run_impl(\n    */\n"
		  "    CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(in_ptr0.data_ptr());\n}\n"
		  "static __attribute__((noinline)) void call_scale_kernel_1(\n    const x_ptr_type_& x_ptr,\n"
		  "    const y_ptr_type_& y_ptr,\n    int32_t device_idx_,\n    cudaStream_t stream_\n){\n}\n"
		  "extern \"C\" int cuda_fused_mm_2(const half* X, const half* W, half* Y, const int M, cudaStream_t "
		  "stream);\n",
		  "    if ((reinterpret_cast<std::uintptr_t>(arg0_1.data_ptr()) & (16 -1)) != 0) {\n"
		  "        AOTI_TORCH_WARN(\"Input 0 was compiled as 16-bytes aligned, but it is not aligned at run "
		  "time.\");\n"
		  "        AtenTensorHandle arg0_1_aligned;\n"
		  "        aoti_torch_clone_preserve_strides(arg0_1, &arg0_1_aligned);\n"
		  "        arg0_1 = std::move(RAIIAtenTensorHandle(arg0_1_aligned));\n    }\n"
		  "    auto arg0_1_size = arg0_1.sizes();\n    int64_t s0 = arg0_1_size[0];\n"
		  "    AOTICudaStreamGuard stream_guard(stream, this->device_idx_);\n"
		  "    const int64_t int_array_0[] = {s0, 4L};\n    static constexpr int64_t int_array_1[] = {4L, 1L};\n"
		  "    AtenTensorHandle buf0_handle;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, "
		  "cached_torch_dtype_float16, "
		  "cached_torch_device_type_cuda, this->device_idx_, &buf0_handle));\n"
		  "    RAIIAtenTensorHandle buf0(buf0_handle);\n"
		  "    // Topologically Sorted Source Nodes: [add], Original ATen: [aten.add]\n"
		  "    int64_t triton_poi_fused_add_0_xnumel = 4L*s0;\n"
		  "    call_triton_poi_fused_add_0(buf0, arg0_1, triton_poi_fused_add_0_xnumel, this->device_idx_, stream, "
		  "kernels, "
		  "this->cubin_dir_);\n"
		  "    call_scale_kernel_1(arg1_1, buf0, this->device_idx_, stream, kernels, this->cubin_dir_);\n"
		  "    kernels.cuda_fused_mm_2((const half*)(arg0_1.data_ptr()), (const half*)(arg1_1.data_ptr()), "
		  "(half*)(buf0.data_ptr()), 4L, stream);\n"
		  "    output_handles[0] = buf0.release();\n");
	assert_int_equal(c.device, DEVICE_CUDA);
	is(inputs(), "arg0_1 f32@?[s0:2..,4!]/(?,?) rank? #0 align 16\narg1_1 f32@?[?:2..,4!]/(?,?) rank? #0\n");
	is(calls(), "triton_poi_fused_add_0(=buf0, <arg0_1, triton_poi_fused_add_0_xnumel)\n"
		    "scale_kernel_1(=arg1_1, =buf0)\n"
		    "cuda_fused_mm_2(<arg0_1, <arg1_1, =buf0, 4L)\n");
	assert_text(c.call[0].aten, "aten.add");
	is(outputs(), "output0 = buf0 f16@cuda[s0,4]/(4,1)\n");
	assert_int_equal(c.n_notes, 1);
	assert_non_null(strstr(notes(), "scale_kernel_1: the text does not show which arguments it writes"));
}

/* torch 2.7 to 2.12 */
static void test_gpu_inline(void **state)
{
	(void)state;
	read_text(1, 1,
		  "#include <torch/csrc/inductor/aoti_include/cuda.h>\n"
		  "template <typename in_ptr0_type_, typename out_ptr0_type_, typename kernels_type_>\n"
		  "static inline void call_triton_poi_fused_cos_0(\n"
		  "    const in_ptr0_type_& in_ptr0,\n    const out_ptr0_type_& out_ptr0,\n    int64_t xnumel,\n"
		  "    int32_t device_idx_,\n    cudaStream_t stream_,\n    kernels_type_& kernels_,\n"
		  "    const std::optional<std::string>& cubin_dir_ = std::nullopt\n){\n"
		  "    CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(in_ptr0.data_ptr());\n}\n"
		  "static inline void helper(int a, int b) {\n}\n",
		  EMPTY("buf0", "1", "int_array_0",
			"int_array_0") "    call_triton_poi_fused_cos_0(arg0_1, buf0, 12L, this->device_idx_, stream, "
				       "kernels, this->cubin_dir_);\n"
				       "    output_handles[0] = buf0.release();\n");
	is(calls(), "triton_poi_fused_cos_0(<arg0_1, >buf0, 12L)\n");
	assert_int_equal(c.n_notes, 0);
}

/* torch 2.5 and 2.6: kernels are launched from run_impl, views are made by a call of their own. */
static void test_gpu_before_2_7(void **state)
{
	(void)state;
	read_text(1, 1, "",
		  EMPTY("buf0", "1", "int_array_0",
			"int_array_0") "    if (kernels.triton_poi_fused_0 == nullptr) {\n"
				       "        kernels.triton_poi_fused_0 = loadKernel(\"/tmp/x.cubin\", \"triton_\", 0, "
				       "this->cubin_dir_);\n    }\n"
				       "    CUdeviceptr var_0 = reinterpret_cast<CUdeviceptr>(arg0_1.data_ptr());\n"
				       "    CUdeviceptr var_1 = reinterpret_cast<CUdeviceptr>(buf0.data_ptr());\n    int "
				       "var_2 = 12;\n"
				       "    void* kernel_args_var_0[] = {&var_0, &var_1, &var_2};\n"
				       "    Grid triton_poi_fused_0_grid_0 = Grid(1L, 1L, 1L);\n"
				       "    if (triton_poi_fused_0_grid_0.is_non_zero()) {\n"
				       "    launchKernel(kernels.triton_poi_fused_0, triton_poi_fused_0_grid_0.grid_x, 1, 1, "
				       "4, 0, kernel_args_var_0, "
				       "stream);\n    }\n"
				       "    AtenTensorHandle tmp_tensor_handle_0;\n"
				       "    static constexpr int64_t int_array_1[] = {2L, };\n    static constexpr int64_t "
				       "int_array_2[] = {1L, };\n"
				       "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch__reinterpret_tensor(buf0, 1, int_array_1, "
				       "int_array_2, 0L, "
				       "&tmp_tensor_handle_0));\n"
				       "    auto buf1 = RAIIAtenTensorHandle(tmp_tensor_handle_0); buf0.reset();  // reuse\n"
				       "    output_handles[0] = buf1.release();\n");
	is(calls(), "triton_poi_fused_0(=arg0_1, =buf0, &var_2)\n");
	is(outputs(), "output0 = buf1 f32@cpu[2]/(1)\n");
	assert_int_equal(c.n_notes, 1);
	assert_int_equal(c.value[c.output[0].value].storage, 0);
}

/* config.memory_planning: one allocation, parts of it. align() rounds up to 64. */
static void test_pool(void **state)
{
	(void)state;
	read_text(1, 1, "",
		  "    auto arg0_1_size = arg0_1.sizes();\n    int64_t s0 = arg0_1_size[0];\n"
		  "    const int64_t int_array_0[] = {std::max(static_cast<int64_t>(64L*s0), static_cast<int64_t>(16L + "
		  "align(16L*s0))), };\n    static constexpr int64_t int_array_1[] = {1L, };\n"
		  "    AtenTensorHandle pool0_handle;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, int_array_0, int_array_1, "
		  "cached_torch_dtype_uint8, "
		  "cached_torch_device_type_cpu, this->device_idx_, &pool0_handle));\n"
		  "    RAIIAtenTensorHandle pool0(pool0_handle);\n    AtenTensorHandle tmp_tensor_handle_0;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch__alloc_from_pool(pool0, align(16L*s0), "
		  "cached_torch_dtype_float32, 1, "
		  "int_array_1, int_array_1, &tmp_tensor_handle_0));\n    auto buf0 = "
		  "RAIIAtenTensorHandle(tmp_tensor_handle_0);\n"
		  "    cpp_fused_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()));\n"
		  "    pool0.reset(); buf0.reset();\n    cpp_fused_0((const float*)(arg0_1.data_ptr()));\n");
	is(storages(), "pool0 buf0 Max(64*s0, 64*((16*s0 + 63)//64) + 16) 0-0\n");
	is(outputs(), "output0 = None\n");
	assert_int_equal(c.value[c.arg[1].value].dtype, DTYPE_F32);
}

/* aot_inductor.allow_stack_allocation, cpp_wrapper_cpu_array_ref.py */
static void test_stack(void **state)
{
	(void)state;
	read_text(1, 2, "extern \"C\"  void  cpp_fused_0(const float* in_ptr0,\n                       float* out_ptr0);\n",
		  "    static constexpr int64_t int_array_0[] = {3L, 4L};\n    static constexpr int64_t int_array_1[] = {4L, "
		  "1L};\n"
		  "    float buf0_storage[12];\n"
		  "    ArrayRefTensor<float> buf0(buf0_storage, int_array_0, int_array_1, cached_torch_device_type_cpu, "
		  "this->device_idx_);\n"
		  "    auto* var_0 = get_data_ptr_wrapper(arg0_1);\n    auto* var_1 = get_data_ptr_wrapper(buf0);\n"
		  "    cpp_fused_0((const float*)(var_0), (float*)(var_1));\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(borrow_arrayref_tensor_as_tensor(buf0), "
		  "copy_arrayref_tensor_to_tensor(arg0_1), w));\n"
		  "    if constexpr (std::is_same_v<std::decay_t<decltype(buf0)>,RAIIAtenTensorHandle>) {\n"
		  "    output_handles[0] = buf0.release();\n    } else {\n"
		  "    thread_local ThreadLocalCachedOutputArray<std::decay_t<decltype(buf0)>> cached_output_0{buf0};\n"
		  "    cached_output_0.copy_data_from(buf0);\n    }\n");
	is(calls(), "cpp_fused_0(<var_0, >var_1)\naoti_torch_cpu_mm_out(>buf0, <arg0_1, <w)\n");
	is(outputs(), "output0 = buf0 f32@cpu[3,4]/(4,1)\noutput1 = None\n");
	is(storages(), "buf0 var_1 48 0-2\n");
	is(notes(), "");
}

/* cpp.enable_kernel_profile, debug_intermediate_value_printer, nan_asserts, provenance */
static void test_debugging(void **state)
{
	(void)state;
	read_text(1, 1, "",
		  "    aoti_torch_print_tensor_handle(arg0_1, \"aoti_model_inputs - arg0_1\");\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_check_inf_and_nan(\"arg0_1\", arg0_1));\n" EMPTY(
		      "buf0", "1", "int_array_0",
		      "int_array_0") "    // [Provenance debug handles] aoti_torch_cpu_addmm_out:1\n"
				     "    RAIIAtenRecordFunctionHandle "
				     "record_inductor_wrapper_call_(\"inductor_wrapper_call\", nullptr);\n    {\n"
				     "    KernelContextGuard _ctx(\"aoti_torch_cpu_mm_out\", R\"(\nFile \"a{.py\", "
				     "line 3, in f\n    return v@v.t(); }\n)\");\n"
				     "    RAIIAtenRecordFunctionHandle "
				     "record_aoti_torch_cpu_mm_out_(\"aoti_torch_cpu_mm_out\", nullptr);\n"
				     "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(buf0, arg0_1, w));\n    }\n"
				     "    printf(\"[ after_launch: x ]\\n\");\n"
				     "    aoti_torch_save_tensor_handle(buf0, \"buf0\", \"after_launch\", \"x\");\n"
				     "    output_handles[0] = buf0.release();\n");
	is(calls(), "aoti_torch_cpu_mm_out(>buf0, <arg0_1, <w)\n");
	is(notes(), "");
	/* int_array_0 is never declared. */
	is(outputs(), "output0 = buf0 f32@cpu[?]\n");
}

static void test_outputs(void **state)
{
	(void)state;
	read_text(2, 8, "",
		  "    auto arg0_1_size = arg0_1.sizes();\n    int64_t s0 = arg0_1_size[0];\n" ENV
		  "assert_size_stride(arg0_1, {s0, 4L}, {4L, 1L}, \"input\"); }\n"
		  "    const int64_t int_array_0[] = {(-1L) + s0, 4L};\n    static constexpr int64_t int_array_1[] = "
		  "{4L, 1L};\n"
		  "    auto var_0 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(arg0_1, 2, int_array_0, "
		  "int_array_1, "
		  "4L));\n    auto var_1 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(w, 1, {2L, }, "
		  "{1L, }, 0L));\n"
		  "    output_handles[0] = arg0_1.release();\n"
		  "    aoti_torch_clone(w, &output_handles[1]);\n"
		  "    output_handles[2] = var_0.release();\n"
		  "    aoti_torch_clone(var_1, &output_handles[3]);\n"
		  "    RAIIAtenTensorHandle scalar_to_tensor_0 = scalar_to_tensor_handle(2L*s0);\n"
		  "    output_handles[4] = scalar_to_tensor_0.release();\n"
		  "    output_handles[6] = output_handles[0];\n"
		  "    aoti_torch_clone(arg1_1, &output_handles[7]);\n");
	is(outputs(), "output0 = arg0_1 f32@cpu[s0:2..,4!]/(4,1)\noutput1 = output1 f32@cpu[4]/(1)\n"
		      "output2 = var_0 f32@cpu[s0 - 1,4]/(4,1)\noutput3 = output3 f32@cpu[2]/(1)\n"
		      "output4 = scalar_to_tensor_0 i64@cpu[]/()\noutput5 = None\n"
		      "output6 = arg0_1 f32@cpu[s0:2..,4!]/(4,1)\noutput7 = output7 f32@cpu[?]\n");
	/* A view of an input is the input's memory. */
	assert_int_equal(c.value[c.output[2].value].kind, VALUE_INPUT);
	assert_int_equal(c.value[c.output[1].value].kind, VALUE_BUFFER);
	assert_true(c.input[0].used && c.input[1].used);
	is(calls(), "aoti_torch_clone(<w, >output1)\naoti_torch_clone(<var_1, >output3)\naoti_torch_clone(<arg1_1, >output7)\n");
	is(notes(), "");
}

static void test_symbols(void **state)
{
	(void)state;
	read_text(3, 1, "",
		  "    auto arg0_1_size = arg0_1.sizes();\n    int64_t arg0_1_size_0 = arg0_1_size[0];\n"
		  "    int64_t s17 = (1.0/2.0)*arg0_1_size_0;\n    int64_t s18 = s17;\n"
		  "    auto arg1_1_stride = arg1_1.strides();\n    int64_t s5 = arg1_1_stride[0];\n" ENV
		  "assert_size_stride(arg0_1, {2L*s18, c10::div_floor_integer(static_cast<int64_t>(8L*s17), "
		  "static_cast<int64_t>(2L))}, {std::max<int64_t>({1L, s17, 3L}), c10::div_mod(s17, 4L)}, \"input\"); }\n" ENV
		  "assert_size_stride(arg2_1, {s99, 4L}, {4L, 1L}, \"input\"); }\n"
		  "    int64_t ps0 = 3L*s17 + 1L;\n    int64_t u1_raw;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg1_1, &u1_raw));\n    auto u1 = u1_raw;\n"
		  "    if (!(u1 >= 1L)) { throw std::runtime_error(\"Expected u1 >= 1 but received \" + std::to_string(u1)); "
		  "}\n"
		  "    if (!(u1 < 4L)) { throw std::runtime_error(\"Expected u1 < 4 but received \" + std::to_string(u1)); "
		  "}\n"
		  "    if (!(0L <= u1)) { throw std::runtime_error(\"Expected 0 <= u1\"); }\n"
		  "    if (!(2L*s17 <= 25L)) { throw std::runtime_error(\"Expected\"); }\n"
		  "    if (!((-2L)*s17 <= (-5L))) { throw std::runtime_error(\"Expected\"); }\n"
		  "    if (!(u1 == u1 || u1 < 0L)) { throw std::runtime_error(\"Expected\"); }\n"
		  "    AOTI_TORCH_CHECK(s17 != 0, \"Integer modulo by zero\");\n"
		  "    auto u2_index = u1 < 0 ? u1 + 5L: u1;\n    int64_t u2 = u2_index < 0 ? 0 : u2_index;\n"
		  "    const int64_t int_array_0[] = {ps0, u2};\n    static constexpr int64_t int_array_1[] = {4L, "
		  "1L};\n" EMPTY("buf0", "2", "int_array_0", "int_array_1") "    output_handles[0] = buf0.release();\n");
	is(inputs(), "arg0_1 f32@?[2*s17:2..,4!]/(Max(3, s17),Mod(s17, 4)) #1\narg1_1 f32@?[?:2..,4!]/(s5,?) rank? #0\n"
		     "arg2_1 f32@?[?:2..,4!]/(4,1) #2\n");
	is(outputs(), "output0 = buf0 f32@cpu[3*s17 + 1,u2]/(4,1)\n");
	/* From arg0_1: 2*s17 >= 2 and its own asserts, 2*s17 <= 25 and 2*s17 >= 5. */
	is(symbols(), "u1 [1, 3] data\ns17 [3, 12] 0.0\nu2 [-int_oo, int_oo] data\n");
	assert_non_null(strstr(notes(), "not understood: assert_size_stride(arg2_1, {s99, 4L}"));
	assert_non_null(strstr(notes(), "input 0, dim 1: check_input and assert_size_stride disagree about its size"));
	assert_int_equal(c.n_notes, 2);
	/* 2.15, bind_input_symbol: no name for the array. */
	read_text(
	    1, 1, "",
	    "    int64_t s7 = arg0_1.sizes()[0];\n    int64_t s8 = arg0_1.strides()[0];\n    output_handles[0] = arg0_1.release();\n");
	is(inputs(), "arg0_1 f32@?[s7:2..,4!]/(s8,?) rank? #0\n");
	is(symbols(), "s7 [2, int_oo] 0.0\n");
	is(notes(), "");
}

/* cond and while_loop: cpp_wrapper_cpu.py, codegen_conditional and codegen_while_loop. */
static void test_branches(void **state)
{
	(void)state;
	read_text(2, 2, KERNEL("cpp_a_0") KERNEL("cpp_b_0"),
		  "    static constexpr int64_t int_array_0[] = {2L, };\n    static constexpr int64_t int_array_1[] = "
		  "{1L, };\n"
		  "    static constexpr int64_t int_array_2[] = {3L, };\n"
		  "    RAIIAtenTensorHandle buf1;\n    RAIIAtenTensorHandle buf2;\n    bool arg1_1_scalar;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_bool(arg1_1, &arg1_1_scalar));\n    if "
		  "(arg1_1_scalar) {\n" EMPTY("t0", "1", "int_array_0", "int_array_1")
		      EMPTY("t1", "1", "int_array_0",
			    "int_array_1") "    cpp_a_0((const float*)(arg0_1.data_ptr()), (float*)(t0.data_ptr()));\n"
					   "    buf1.reset();\n    buf1 = std::move(t0);\n    buf2.reset();\n    buf2 = "
					   "std::move(t1);\n    } else {\n" EMPTY("f0", "1", "int_array_0", "int_array_1")
					       EMPTY("f1", "1", "int_array_2", "int_array_1") ENV
		  "assert_size_stride(arg0_1, {9L, 9L}, {9L, 9L}, \"input\"); }\n"
		  "    cpp_b_0((const float*)(arg0_1.data_ptr()), (float*)(f0.data_ptr()));\n"
		  "    buf1.reset();\n    buf1 = std::move(f0);\n    buf2.reset();\n    buf2 = std::move(f1);\n    }\n"
		  "    output_handles[0] = buf1.release();\n    output_handles[1] = buf2.release();\n");
	/* The branches agree about the first, not about the second. */
	is(outputs(), "output0 = buf1 f32@cpu[2]/(1)\noutput1 = buf2 f32@cpu[?]\n");
	is(storages(), "t0 buf1 8 1-1\nt1 buf2 8 1-1\nf0 buf1 8 2-3\nf1 buf2 12 2-3\n");
	assert_int_equal(c.input[0].asserted, 0);
	assert_int_equal(c.n_notes, 1);

	read_text(1, 1, KERNEL("cpp_b_0") KERNEL("cpp_c_0") KERNEL("cpp_d_0"),
		  "    static constexpr int64_t int_array_0[] = {2L, };\n    static constexpr int64_t int_array_1[] = {1L, "
		  "};\n" EMPTY("buf0", "1", "int_array_0",
			       "int_array_1") "    RAIIAtenTensorHandle buf1_cond_result;\n    AtenTensorHandle buf2_handle;\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(buf0, &buf2_handle));\n"
					      "    RAIIAtenTensorHandle buf2(buf2_handle);\n    while (1) {\n" EMPTY(
						  "c0", "1", "int_array_0",
						  "int_array_1") "    cpp_c_0((const float*)(buf2.data_ptr()), "
								 "(float*)(c0.data_ptr()));\n"
								 "    buf1_cond_result.reset();\n    buf1_cond_result = "
								 "std::move(c0);\n    bool buf1_cond_result_scalar;\n"
								 "    "
								 "AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_bool(buf1_cond_result, "
								 "&buf1_cond_result_scalar));\n"
								 "    if (!buf1_cond_result_scalar) break;\n" EMPTY(
								     "b0", "1", "int_array_0",
								     "int_array_1") "    cpp_b_0((const float*)(buf2.data_ptr()), "
										    "(float*)(b0.data_ptr()));\n"
										    "    buf2.reset();\n    buf2 = std::move(b0);\n   "
										    " }\n    buf0.reset();\n"
										    "    cpp_d_0((const float*)(buf2.data_ptr()));\n  "
										    "  output_handles[0] = buf2.release();\n");
	is(outputs(), "output0 = buf2 f32@cpu[2]/(1)\n");
	is(storages(), "buf0 buf2 8 0-2\nc0 buf1_cond_result 8 0-4\nb0 buf2 8 2-4\n");
	assert_int_equal(c.n_notes, 1);
}

static void test_operators(void **state)
{
	(void)state;
	read_text(2, 2, "",
		  "    static constexpr int64_t int_array_0[] = {2L, };\n    static constexpr int64_t int_array_1[] = {1L, "
		  "};\n" EMPTY("buf0", "1", "int_array_0",
			       "int_array_1") "    aoti_torch_cpu_scatter_reduce_two_out(buf0, "
					      "buf0,0,wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper("
					      "arg0_1, 1, int_array_0, int_array_1, 0L)),arg1_1, \"a,(max\",1);\n"
					      "    aoti_torch_index_put_out(buf0, buf0, std::array<AtenTensorHandle, 2>{arg0_1, "
					      "RAIIAtenTensorHandle(arg1_1)}"
					      ".cbegin(), 2, w, false);\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_copy_(buf0, arg0_1, 0));\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_fill__Scalar(buf0, 0.0));\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_zero_(buf0.get()));\n"
					      "    AtenTensorHandle buf3_handle;\n    int64_t buf2_1 = 3;\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_view_as_real(buf0, &buf3_handle, "
					      "&buf2_1));\n"
					      "    RAIIAtenTensorHandle buf3(buf3_handle);\n    buf0.reset();\n"
					      "    AtenTensorHandle buf4_handle;\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(my_shim(arg0_1, &temporary_reference(arg1_1.get()), "
					      "nullptr, &buf4_handle));\n"
					      "    RAIIAtenTensorHandle buf4(buf4_handle);\n" ENV
					      "assert_size_stride(buf4, {2L, }, {1L, }, \"torch.ops.my.op\"); }\n"
					      "    cpp_fused_0((int64_t*)(buf4.data_ptr()));\n"
					      "    auto buf5 = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(buf4, 1, "
					      "int_array_1, int_array_1, 0L)); "
					      "buf4.reset();  // reuse\n"
					      "    AtenTensorHandle buf6_handle;\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_cumsum(buf5, 0L, &var_0, "
					      "&buf6_handle));\n"
					      "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_delete_tensor_object(buf6_handle));\n"
					      "    output_handles[0] = buf3.release();\n    output_handles[1] = buf5.release();\n");
	is(calls(), "aoti_torch_cpu_scatter_reduce_two_out(>buf0, <buf0, 0, <arg0_1, <arg1_1, \"a,(max\", 1)\n"
		    "aoti_torch_index_put_out(>buf0, <buf0, <arg0_1, <arg1_1, 2, <w, false)\n"
		    "aoti_torch_copy_(=buf0, <arg0_1, 0)\naoti_torch_cpu_fill__Scalar(=buf0, 0.0)\naoti_torch_zero_(=buf0)\n"
		    "aoti_torch_cpu_view_as_real(<buf0, >buf3, &buf2_1)\nmy_shim(<arg0_1, <arg1_1, nullptr, >buf4)\n"
		    "cpp_fused_0(=buf4)\naoti_torch_cpu_cumsum(<buf5, 0L, &var_0, >buf6)\n");
	/* A view keeps the memory of what it is a view of. */
	is(storages(), "buf0 buf3 8 0-9\nbuf4 buf5 16 6-9\nbuf6 ? 8-8\n");
	is(outputs(), "output0 = buf3 f32@cpu[?]\noutput1 = buf5 i64@cpu[1]/(1)\n");
	is(notes(), "line 72: cpp_fused_0: the text does not show which arguments it writes; they are shown as in and out\n");
}

/* What torch 2.15 writes (cpp_wrapper_cpu.py) of sort, median through the proxy executor, and a None among the results. */
static void test_asserted(void **state)
{
	(void)state;
	read_text(1, 6, "",
		  "    int32_t var_0 = 0;\n    AtenTensorHandle buf1_handle;\n    AtenTensorHandle buf2_handle;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_sort_stable(arg0_1, &var_0, 0L, 0, &buf1_handle, &buf2_handle));\n"
		  "    RAIIAtenTensorHandle buf1(buf1_handle);\n    RAIIAtenTensorHandle buf2(buf2_handle);\n" ENV
		  "assert_size_stride(buf1, {6L, 8L}, {8L, 1L}, \"torch.ops.aten.sort.default\", cached_torch_dtype_float32, "
		  "\"torch.float32\"); }\n" ENV "assert_alignment(buf1, 16, \"torch.ops.aten.sort.default\"); }\n" ENV
		  "assert_size_stride(buf2, {6L, 8L}, {8L, 1L}, \"torch.ops.aten.sort.default\", cached_torch_dtype_int64, "
		  "\"torch.int64\"); }\n    // buffer buf2 (op: torch.ops.aten.sort.default) is assumed to be not aligned\n"
		  "    AtenTensorHandle buf4_handle;  // output buffer\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_new_uninitialized_tensor(&buf4_handle));\n"
		  "    RAIIAtenTensorHandle buf4(buf4_handle);\n    AtenTensorHandle buf5_handle;  // output buffer\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_new_uninitialized_tensor(&buf5_handle));\n"
		  "    RAIIAtenTensorHandle buf5(buf5_handle);\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_proxy_executor_call_function(proxy_executor, 0, 1, "
		  "std::array<int64_t, 1>{1L}.data(), 3, std::array<AtenTensorHandle, 3>{arg0_1, buf4, buf5}.data()));\n" ENV
		  "assert_size_stride(buf5, {4L, }, {1L, }, \"torch.ops.aten.median.dim\", cached_torch_dtype_int64, \"torch.int64\"); }\n"
		  "    output_handles[0] = buf1.release();\n    output_handles[1] = buf2.release();\n"
		  "    output_handles[3] = buf4.release();\n    output_handles[4] = buf5.release();\n"
		  "    output_handles[5] = output_handles[3];\n");
	is(outputs(), "output0 = buf1 f32@cpu[6,8]/(8,1)\noutput1 = buf2 i64@cpu[6,8]/(8,1)\noutput2 = None\n"
		      "output3 = buf4 ?@cpu[?]\noutput4 = buf5 i64@cpu[4]/(1)\noutput5 = buf4 ?@cpu[?]\n");
	is(notes(), "");
	assert_int_equal(c.value[c.output[0].value].alignment, 16);
	assert_int_equal(c.value[c.output[1].value].alignment, 0);
	/* What the text does not say, the operator's own rule does: 2.13 has no types there. */
	assert_int_equal(wrapper_name_proxies(&c, SLICE("{\"nodes\": [{\"node\": {\"target\": \"aten::median.dim\"}}]}"), &err), 0);
	assert_int_equal(c.output[3].dtype, DTYPE_F32);
	assert_int_equal(c.output[5].dtype, DTYPE_F32);
	/* Both ways through JSON. */
	struct contract again;
	struct buf b = {0};
	struct json_out o = {.b = &b};
	contract_to_json(&c, &o);
	assert_int_equal(contract_from_json(&again, buf_slice(&b), &err), 0);
	assert_true(again.output[2].none && !again.output[1].none);
	assert_int_equal(again.value[again.output[0].value].alignment, 16);
	assert_int_equal(again.value[again.output[1].value].alignment, 0);
	contract_release(&again);
	buf_release(&b);
	/* A text that is cut off may have had more to say about its outputs. */
	contract_release(&c);
	buf_adds(&b, "    : AOTInductorModelBase(0,\n                           1,\n{}\n"
		     "void AOTInductorModel::run_impl(\n) {\n    inputs.clear();\n");
	assert_int_equal(wrapper_read(&c, buf_slice(&b), (struct slice){0}, &err), 0);
	is(outputs(), " = nothing ?@?[?]\n");
	buf_release(&b);
}

/* torch.switch of three (2.15, codegen_switch), and the arguments that cpp.enable_kernel_profile records before an operator. */
static void test_switch(void **state)
{
	(void)state;
	read_text(
	    2, 1, KERNEL("cpp_a_0") KERNEL("cpp_b_0"),
	    "    static constexpr int64_t int_array_0[] = {2L, };\n    static constexpr int64_t int_array_1[] = {1L, };\n"
	    "    RAIIAtenTensorHandle buf1;\n    int64_t arg1_1_scalar;\n"
	    "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_item_int64(arg1_1, &arg1_1_scalar));\n"
	    "    if (arg1_1_scalar == 0) {\n        // subgraph: branch0\n" EMPTY(
		"t0", "1", "int_array_0",
		"int_array_1") "    cpp_a_0((const float*)(arg0_1.data_ptr()), (float*)(t0.data_ptr()));\n    buf1.reset();\n    buf1 = "
			       "std::move(t0);\n"
			       "    } else if (arg1_1_scalar == 1) {\n" EMPTY(
				   "t1", "1", "int_array_0",
				   "int_array_1") "    {\n"
						  "    RAIIAtenRecordFunctionHandle "
						  "record_aoti_torch_cpu_mm_out_(\"aoti_torch_cpu_mm_out\", nullptr);\n"
						  "    C10IValueHandle tmp_aoti_torch_cpu_mm_out_input_0 = nullptr;\n"
						  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_tensor_to_ivalue(arg0_1, "
						  "&tmp_aoti_torch_cpu_mm_out_input_0));\n"
						  "    RAIIC10IValueHandle "
						  "RAII_tmp_aoti_torch_cpu_mm_out_input_0(tmp_aoti_torch_cpu_mm_out_input_0);\n"
						  "    C10IValueHandle tmp_aoti_torch_cpu_mm_out_scalar_0 = nullptr;\n"
						  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_int64_to_ivalue(0, "
						  "&tmp_aoti_torch_cpu_mm_out_scalar_0));\n"
						  "    std::vector<C10IValueHandle> "
						  "aoti_torch_cpu_mm_out_inputs_({tmp_aoti_torch_cpu_mm_out_input_0});\n"
						  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_mm_out(t1, arg0_1, w));\n    }\n"
						  "    buf1.reset();\n    buf1 = std::move(t1);\n"
						  "    } else {\n" EMPTY("t2", "1", "int_array_0",
									 "int_array_1") "    cpp_b_0((const float*)(arg0_1.data_ptr()), "
											"(float*)(t2.data_ptr()));\n    buf1.reset();\n    "
											"buf1 = std::move(t2);\n"
											"    }\n    output_handles[0] = buf1.release();\n");
	is(calls(), "aoti_torch_item_int64(<arg1_1, &arg1_1_scalar)\ncpp_a_0(<arg0_1, >t0)\naoti_torch_cpu_mm_out(>t1, <arg0_1, <w)\n"
		    "cpp_b_0(<arg0_1, >t2)\n");
	is(outputs(), "output0 = buf1 f32@cpu[2]/(1)\n");
	is(storages(), "t0 buf1 8 1-1\nt1 buf1 8 2-2\nt2 buf1 8 3-4\n");
	assert_int_equal(c.n_notes, 1);
}

/* invoke_subgraph (2.15): the region's text in a block of its own; lists of tensors and integers as pointers. */
static void test_region(void **state)
{
	(void)state;
	read_text(1, 1, "",
		  "    RAIIAtenTensorHandle buf1;\n    {\n    // subgraph: subgraph_0\n    AtenTensorHandle subgraph_0_arg0_1_handle;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_assign_tensors_out(arg0_1, &subgraph_0_arg0_1_handle));\n"
		  "    RAIIAtenTensorHandle subgraph_0_arg0_1(subgraph_0_arg0_1_handle);\n    AtenTensorHandle subgraph_0_buf0_handle;\n"
		  "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_index_Tensor(subgraph_0_arg0_1, static_cast<const AtenTensorHandle*>("
		  "std::array<AtenTensorHandle, 1>{w}.data()), 1, &subgraph_0_buf0_handle));\n"
		  "    RAIIAtenTensorHandle subgraph_0_buf0(subgraph_0_buf0_handle);\n    subgraph_0_arg0_1.reset();\n"
		  "    buf1.reset();\n    buf1 = std::move(subgraph_0_buf0);\n    }\n" ENV
		  "assert_size_stride(buf1, {4L, 4L}, {4L, 1L}, \"torch.ops.invoke_subgraph\", cached_torch_dtype_float8_e8m0fnu, "
		  "\"torch.float8_e8m0fnu\"); }\n    output_handles[0] = buf1.release();\n");
	is(calls(), "aoti_torch_cpu_index_Tensor(<subgraph_0_arg0_1, <w, 1, >subgraph_0_buf0)\n");
	is(outputs(), "output0 = buf1 f8e8m0fnu@cpu[4,4]/(4,1)\n");
	is(notes(), "");
}

static void test_not_understood(void **state)
{
	(void)state;
	read_text(1, 2, "",
		  "    somebody(arg0_1);\n    auto [a, b] = pair();\n    for (int i = 0; i < 3; i++) {\n        "
		  "cpp_x_0(i);\n    }\n"
		  "    cpp_fused_0((const float*)(buf77.data_ptr()), buf78);\n"
		  "    output_handles[9] = arg0_1.release();\n    output_handles[0] = buf9.release();\n");
	is(outputs(), "output0 = nothing ?@?[?]\noutput1 = None\n");
	is(calls(), "cpp_fused_0((const float*)(buf77.data_ptr()), buf78)\n");
	const char *all = notes();
	assert_non_null(strstr(all, "not understood: somebody(arg0_1)\n"));
	assert_non_null(strstr(all, "not understood: for (int i = 0; i < 3; i++)\n"));
	assert_non_null(strstr(all, "does not show where buf78 comes from\n"));
	assert_non_null(strstr(all, "not understood: output_handles[9] = arg0_1.release()\n"));
	assert_non_null(strstr(all, "not understood: output_handles[0] = buf9.release()\n"));
	/* Not a page for every line of a text of another kind. */
	struct buf b = {0};
	for (int i = 0; i < 1000; i++)
		buf_adds(&b, "    what(is, this);\n");
	read_text(1, 1, "", buf_str(&b));
	assert_true(c.n_notes < 30);
	assert_non_null(strstr(notes(), "980 more statements were not understood"));
	/* Braces without end. */
	buf_reset(&b);
	for (int i = 0; i < 100; i++)
		buf_adds(&b, "{ if (x) {");
	read_text(1, 1, "", buf_str(&b));
	assert_non_null(strstr(notes(), "blocks are nested more than 64 deep"));
	buf_release(&b);
}

static void test_specs(void **state)
{
	(void)state;
	/* For MSVC long strings are cut; until 2.6 they were quoted. */
	assert_int_equal(read_raw("    : AOTInductorModelBase(1, 1, 0, device_str) {\n    in_spec_ =\n"
				  "R\"([1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": [{\"type\": "
				  "\"builtins.tuple\", \"context\": \"null\", \"children_sp)\"\n"
				  "R\"(ec\": [{\"type\": null, \"context\": null, \"children_spec\": []}]}, {\"type\": "
				  "\"builtins.dict\", "
				  "\"context\": \"[]\", \"children_spec\": []}]}])\"\n;\n"
				  "    out_spec_ = \"[1, {\\\"type\\\": null, \\\"context\\\": null, \\\"children_spec\\\": []}]\";\n"),
			 0);
	assert_text(c.input[0].path, "args[0]");
	assert_text(c.out_spec, "[1, {\"type\": null, \"context\": null, \"children_spec\": []}]");
	assert_int_equal(c.n_outputs, 1);
	assert_int_equal(c.output[0].n_dim, -1);
	is(notes(), "the text has no run_impl: it is truncated, or of an unknown kind of model\n");
	assert_int_equal(read_raw(""), -1);
	assert_int_equal(err.status, EXIT_INPUT);
	assert_int_equal(read_raw("int main(void)\n{\n}\n"), -1);
	/* An index without its bracket. */
	assert_int_equal(read_raw("    : AOTInductorModelBase(1, 1, 0) {\n    inputs_info_].name = \"x\";\n    in_spec_ =\n"), 0);
	assert_non_null(strstr(notes(), "line 2: not understood: inputs_info_]"));
}

/* Up to torch 2.6 one function checks all inputs, and assert_size_stride is not called. */
static void test_old_checks(void **state)
{
	(void)state;
	assert_int_equal(read_raw("    : AOTInductorModelBase(2, 1, 0, device_str, cubin_dir, true) {\n    inputs_info_[0].name = "
				  "\"arg0_1\";\n"
				  "    inputs_info_[1].name = \"arg1_1\";\n}\nAOTI_NOINLINE static void __check_inputs_outputs(\n) {\n"
				  "    ConstantHandle arg0_1 = ConstantHandle(input_handles[0]);\n"
				  "    int32_t arg0_1_expected_dtype = aoti_torch_dtype_bfloat16();\n"
				  "    if (arg0_1_expected_dtype != arg0_1_dtype) {\n    }\n"
				  "    if (arg0_1_size[0] > 9223372036854775807) {\n    }\n    if (7 != arg0_1_stride[1]) {\n    }\n"
				  "    ConstantHandle arg1_1 = ConstantHandle(input_handles[1]);\n"
				  "    int32_t arg1_1_expected_device_type = 1;\n    if (8 != arg1_1_size[0]) {\n    }\n"
				  "    ConstantHandle output0 = ConstantHandle(output_handles[0]);\n    if (9 != output0_size[0]) {\n    "
				  "}\n}\n"
				  "void AOTInductorModel::run_impl(\n) {\n    auto inputs = steal_from_raw_handles_to_raii_handles(i, "
				  "2);\n"
				  "    auto arg0_1 = std::move(inputs[0]);\n    auto arg1_1 = std::move(inputs[1]);\n"
				  "    auto arg0_1_size = arg0_1.sizes();\n    auto s0 = arg0_1_size[0];\n"
				  "    cpp_fused_0((const float*)(arg0_1.data_ptr()), s0);\n}\n"),
			 0);
	is(inputs(), "arg0_1 bf16@?[s0,?]/(?,7!) rank? #0\narg1_1 ?@cuda[8!]/(?) rank? #0 unused\n");
	is(symbols(), "s0 [-int_oo, int_oo] 0.0\n");
	is(notes(), "");
}

/* Checks in forms that this reader does not know, as a newer torch may write them: each counts, and is counted once. */
static void test_new_checks(void **state)
{
	(void)state;
	static const char head[] =
	    "    : AOTInductorModelBase(2, 0, 0, device_str, cubin_dir, true) {\n}\nAOTI_NOINLINE static void check_input_0(\n"
	    "    AtenTensorHandle* input_handles\n) {\n    ConstantHandle arg0_1 = ConstantHandle(input_handles[0]);\n"
	    "    int32_t arg0_1_dtype;\n    int32_t arg0_1_expected_dtype = aoti_torch_dtype_float32();\n";
	static const char tail[] =
	    "}\nAOTI_NOINLINE static void check_input_1(\n) {\n    ConstantHandle arg1_1 = ConstantHandle(input_handles[1]);\n"
	    "    int32_t arg1_1_expected_device_type = 0;\n}\nvoid AOTInductorModel::run_impl(\n) {\n}\n";
	static const struct {
		const char *lines;
		uint32_t unread;
	} cases[] = {
	    {"    if (arg0_1_size[0] < 2) {\n        throw std::runtime_error(std::move(ss).str());\n    }\n", 0},
	    {"    if (below(arg0_1_size[0], 2)) {\n    }\n", 1},
	    {"    AOTI_CHECK(arg0_1_size[0] >= 2, \"small\");\n", 1},
	    {"    AOTI_CHECK(arg0_1_size[0] >= 2,\n        \"small\"\n    );\n    if (8 != arg0_1_size[1]) {\n    }\n", 1},
	    {"    int32_t arg0_1_rank = 3;\n    auto arg0_1_most = least(arg0_1);\n", 2},
	    {"    std::array<int64_t, 2> most = {64, 8};\n    within(arg0_1.sizes(), most);\n", 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *made = xasprintf("%s%s%s", head, cases[i].lines, tail);
		assert_int_equal(read_raw(made), 0);
		assert_int_equal(c.n_unread_checks, cases[i].unread);
		assert_int_equal(c.n_unread, cases[i].unread);
		free(made);
	}
	/* Of an input that is checked in a way that leaves nothing to see. */
	char *made = xasprintf("%s}\nAOTI_NOINLINE static void check_input_1(\n) {\n    ConstantHandle arg1_1(input_handles, 1);\n    "
			       "arg1_1.check();\n}\nvoid AOTInductorModel::run_impl(\n) {\n}\n",
			       head);
	assert_int_equal(read_raw(made), 0);
	assert_int_equal(c.n_unread_checks, 3);
	free(made);
}

/* Kernels that only the text beside it declares. */
static void test_kernel_text(void **state)
{
	(void)state;
	struct buf b = {0};
	compose(&b, 1, 1, "",
		EMPTY("buf0", "1", "int_array_0",
		      "int_array_0") "    cpp_fused_0((const float*)(arg0_1.data_ptr()), (float*)(buf0.data_ptr()), 3L);\n");
	contract_release(&c);
	assert_int_equal(wrapper_read(&c, buf_slice(&b),
				      SLICE("#include <x>\nextern \"C\"  void  cpp_fused_0(const float* in_ptr0,\n     float* "
					    "in_out_ptr0,\n    const int64_t ks0)\n{\n}\n"),
				      &err),
			 0);
	is(calls(), "cpp_fused_0(<arg0_1, =buf0, 3L)\n");
	is(notes(), "");
	/* As a template writes it (cpp_gemm_template.py): the declaration stands in the next line. */
	contract_release(&c);
	assert_int_equal(wrapper_read(&c, buf_slice(&b),
				      SLICE("extern \"C\" \nvoid cpp_fused_0(const float* X, float* Y, const int64_t ks0)\n{\n}\n"), &err),
			 0);
	is(calls(), "cpp_fused_0(<arg0_1, =buf0, 3L)\n");
	is(notes(), "");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_gpu),        cmocka_unit_test(test_gpu_inline),     cmocka_unit_test(test_gpu_before_2_7),
	    cmocka_unit_test(test_pool),       cmocka_unit_test(test_stack),          cmocka_unit_test(test_debugging),
	    cmocka_unit_test(test_outputs),    cmocka_unit_test(test_symbols),        cmocka_unit_test(test_branches),
	    cmocka_unit_test(test_operators),  cmocka_unit_test(test_asserted),       cmocka_unit_test(test_switch),
	    cmocka_unit_test(test_region),     cmocka_unit_test(test_not_understood), cmocka_unit_test(test_specs),
	    cmocka_unit_test(test_old_checks), cmocka_unit_test(test_new_checks),     cmocka_unit_test(test_kernel_text),
	};
	return RUN(tests);
}
