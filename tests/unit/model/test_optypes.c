/* aoti/optypes: what operators make, as torch 2.15 does on the CPU (each line was seen there). */
#include "../../lib/test.h"

#include "model/cppwrapper/optypes.h"

static const char *made(const char *function, int first, int second)
{
	static char text[200];
	text[0] = 0;
	for (const char *t = op_result_types(function); *t; t++) {
		int dtype = op_result_type(*t, first, second);
		size_t n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "", dtype == DTYPE_NONE ? "?" : dtype_info(dtype)->brief);
	}
	return text;
}

static void test_results(void **state)
{
	(void)state;
	static const struct {
		const char *function, *made;
		int first, second;
	} table[] = {
	    {"aoti_torch_cpu_sort_stable", "f32 i64", DTYPE_F32, DTYPE_NONE},
	    {"cpu_topk", "bf16 i64", DTYPE_BF16, DTYPE_NONE},
	    {"aten::median.dim", "i32 i64", DTYPE_I32, DTYPE_NONE},
	    {"aten::linalg_qr", "f32 f32", DTYPE_F32, DTYPE_NONE},
	    {"aten::linalg_qr.default", "c64 c64", DTYPE_C64, DTYPE_NONE},
	    {"aten::_linalg_svd", "c64 f32 c64", DTYPE_C64, DTYPE_NONE},
	    {"aten::_linalg_eigh", "f32 c64", DTYPE_C64, DTYPE_NONE},
	    {"aten::_linalg_slogdet", "c64 f32 c64 i32", DTYPE_C64, DTYPE_NONE},
	    {"aten::linalg_lstsq", "c64 f32 i64 f32", DTYPE_C64, DTYPE_C64},
	    {"aten::linalg_eig", "c64 c64", DTYPE_F32, DTYPE_NONE},
	    {"aoti_torch_cpu__fft_r2c", "c64", DTYPE_F32, DTYPE_NONE},
	    {"aten::_fft_c2r", "f32", DTYPE_C64, DTYPE_NONE},
	    {"aoti_torch_cpu__embedding_bag", "f32 i64 i64 i64", DTYPE_F32, DTYPE_I64},
	    {"aoti_torch_cpu__embedding_bag", "f32 ? ? ?", DTYPE_F32, DTYPE_I32}, /* int64 if the offsets are */
	    {"aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu", "bf16 f32", DTYPE_BF16, DTYPE_BF16},
	    {"aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu", "f64 f64", DTYPE_F64, DTYPE_F64},
	    {"aoti_torch_cpu_abs", "f32", DTYPE_C64, DTYPE_NONE},
	    {"aoti_torch_cpu_cumsum", "?", DTYPE_I32, DTYPE_NONE}, /* int64 */
	    {"aoti_torch_cpu_repeat_interleave_Tensor", "i32", DTYPE_I32, DTYPE_NONE},
	    {"aoti_torch_cpu_mul_Tensor", "c64", DTYPE_C64, DTYPE_I64},
	    {"aoti_torch_cpu_mul_Tensor", "c64", DTYPE_C64, DTYPE_F32},
	    {"aoti_torch_cpu_mul_Tensor", "?", DTYPE_C64, DTYPE_F64}, /* complex64 if the second has no dims */
	    {"aoti_torch_cpu_mul_Tensor", "f16", DTYPE_F16, DTYPE_I64},
	    {"aoti_torch_cpu_mul_Tensor", "?", DTYPE_NONE, DTYPE_NONE},
	    {"aten::_int_mm", "i32", DTYPE_I8, DTYPE_I8},
	    {"mkldnn::_convolution_pointwise", "f32", DTYPE_F32, DTYPE_F32},
	    {"mine::sort", "", DTYPE_F32, DTYPE_NONE}, /* somebody's own operator */
	    {"aoti_torch_cpu_nosuch", "", DTYPE_F32, DTYPE_NONE},
	};
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_string_equal(made(table[i].function, table[i].first, table[i].second), table[i].made);
	char longer[300];
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	assert_string_equal(op_result_types(longer), "");
	memcpy(longer, "aten::", 6);
	assert_string_equal(op_result_types(longer), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_results)};
	return RUN(tests);
}
