#include "model/cppwrapper/optypes.h"
#include "model/contract/opsig.h"

static const struct {
	const char *name, *types;
} result_types[] = {
    {"_adaptive_avg_pool2d", "s"},
    {"_adaptive_avg_pool3d", "s"},
    {"_addmm_activation", "s"},
    {"_cdist_forward", "s"},
    {"_conj", "s"},
    {"_convolution_pointwise", "s"},
    {"_embedding_bag", "sLLL"},
    {"_embedding_bag_forward_only", "sLLL"},
    {"_fft_c2c", "s"},
    {"_fft_c2r", "r"},
    {"_fft_r2c", "c"},
    {"_int_mm", "n"},
    {"_linalg_det", "ssn"},
    {"_linalg_eigh", "rs"},
    {"_linalg_eigvals", "c"},
    {"_linalg_slogdet", "srsn"},
    {"_linalg_solve_ex", "ssnn"},
    {"_linalg_svd", "srs"},
    {"_linear_pointwise", "s"},
    {"_mkl_linear", "s"},
    {"_pdist_forward", "s"},
    {"_scaled_dot_product_cudnn_attention", "s"},
    {"_scaled_dot_product_efficient_attention", "s"},
    {"_scaled_dot_product_flash_attention", "s"},
    {"_scaled_dot_product_flash_attention_for_cpu", "so"},
    {"_thnn_fused_lstm_cell", "sss"},
    {"_unique2", "sll"},
    {"_weight_int8pack_mm", "s"},
    {"abs", "r"},
    {"add_Tensor", "p"},
    {"adaptive_max_pool2d", "si"},
    {"adaptive_max_pool3d", "si"},
    {"addbmm", "s"},
    {"addmm", "s"},
    {"addmv", "s"},
    {"angle", "r"},
    {"argmax", "l"},
    {"argmin", "l"},
    {"argsort", "l"},
    {"aten_amax", "s"},
    {"aten_narrow", "s"},
    {"aten_pad", "s"},
    {"avg_pool2d", "s"},
    {"avg_pool3d", "s"},
    {"baddbmm", "s"},
    {"bmm", "s"},
    {"cholesky_inverse", "s"},
    {"cholesky_solve", "s"},
    {"clone", "s"},
    {"complex", "c"},
    {"convolution", "s"},
    {"cummax", "si"},
    {"cummin", "si"},
    {"cumprod", "d"},
    {"cumsum", "d"},
    {"exponential", "s"},
    {"fractional_max_pool2d", "si"},
    {"fractional_max_pool3d", "si"},
    {"gather", "s"},
    {"geqrf", "ss"},
    {"grid_sampler_2d", "s"},
    {"grid_sampler_2d_backward", "SS"},
    {"grid_sampler_3d", "s"},
    {"histc", "s"},
    {"index_Tensor", "s"},
    {"index_put", "s"},
    {"index_reduce", "s"},
    {"index_select", "s"},
    {"kthvalue", "si"},
    {"linalg_cholesky_ex", "sn"},
    {"linalg_eig", "cc"},
    {"linalg_householder_product", "s"},
    {"linalg_inv_ex", "sn"},
    {"linalg_lstsq", "srlr"},
    {"linalg_lu", "sss"},
    {"linalg_lu_factor_ex", "snn"},
    {"linalg_matrix_exp", "s"},
    {"linalg_qr", "ss"},
    {"linalg_solve_triangular", "s"},
    {"linear", "s"},
    {"logcumsumexp", "f"},
    {"lu_unpack", "sss"},
    {"masked_scatter", "s"},
    {"masked_select", "s"},
    {"max_pool2d_with_indices", "si"},
    {"max_pool3d_with_indices", "si"},
    {"max_unpool2d", "s"},
    {"max_unpool3d", "s"},
    {"median", "s"},
    {"median_dim", "si"},
    {"mkldnn__convolution_pointwise", "s"},
    {"mkldnn__convolution_pointwise_binary", "s"},
    {"mkldnn__convolution_pointwise_binary_", "s"},
    {"mkldnn__convolution_transpose_pointwise", "s"},
    {"mkldnn_rnn_layer", "sss"},
    {"mm", "s"},
    {"mode", "si"},
    {"mul_Tensor", "p"},
    {"multinomial", "l"},
    {"nanmedian", "s"},
    {"nanmedian_dim", "si"},
    {"native_dropout", "sb"},
    {"nonzero", "l"},
    {"nonzero_static", "l"},
    {"normal_functional", "s"},
    {"ormqr", "s"},
    {"polar", "c"},
    {"pow_Tensor_Scalar", "f"},
    {"renorm", "s"},
    {"repeat_interleave_Tensor", "s"},
    {"reshape", "s"},
    {"resize_", "s"},
    {"slice_Tensor", "s"},
    {"sort", "si"},
    {"sort_stable", "si"},
    {"topk", "si"},
    {"triangular_solve", "ss"},
    {"uniform", "s"},
    {"unique2", "sll"},
    {"unique_consecutive", "sll"},
    {"unique_dim", "sll"},
    {"upsample_bicubic2d_backward", "s"},
    {"upsample_trilinear3d_backward", "s"},
    {"view_as_complex", "c"},
    {"view_as_real", "r"},
};

/* aten::median.dim as median_dim; nothing is known about custom libraries. */
static bool plain_name(const char *function, char *name, size_t room)
{
	const char *colons = strstr(function, "::");
	if (!colons)
		return snprintf(name, room, "%s", opsig_stem(function)) < (int)room;
	if (strncmp(function, "aten::", 6) && strncmp(function, "mkldnn::", 8))
		return false;
	if (snprintf(name, room, "%s", colons + 2) >= (int)room)
		return false;
	char *dot = strchr(name, '.');
	if (dot)
		*dot = strcmp(dot, ".default") ? '_' : 0;
	return true;
}

const char *op_result_types(const char *function)
{
	char name[96];
	if (plain_name(function, name, sizeof(name)))
		for (size_t i = 0; i < ARRAY_LEN(result_types); i++)
			if (!strcmp(result_types[i].name, name))
				return result_types[i].types;
	return "";
}

static int real_of(int t)
{
	switch (t) {
	case DTYPE_C32: return DTYPE_F16;
	case DTYPE_BC32: return DTYPE_BF16;
	case DTYPE_C64: return DTYPE_F32;
	case DTYPE_C128: return DTYPE_F64;
	case DTYPE_F16:
	case DTYPE_BF16:
	case DTYPE_F32:
	case DTYPE_F64: return t;
	default: return DTYPE_NONE;
	}
}

static int complex_of(int t)
{
	switch (t) {
	case DTYPE_F16: return DTYPE_C32;
	case DTYPE_F32: return DTYPE_C64;
	case DTYPE_F64: return DTYPE_C128;
	case DTYPE_C32:
	case DTYPE_C64:
	case DTYPE_C128: return t;
	default: return DTYPE_NONE;
	}
}

/* Only if their ranks do not matter: a tensor without dims counts less, so complex64 with bfloat16 may be one of three. */
static int promoted(int a, int b)
{
	bool integer = b == DTYPE_U8 || b == DTYPE_BOOL || (b >= DTYPE_I8 && b <= DTYPE_I64);
	bool wins = a == b || (real_of(a) != DTYPE_NONE && integer) || (a != DTYPE_NONE && a == complex_of(b));
	return wins ? a : DTYPE_NONE;
}

int op_result_type(char letter, int first, int second)
{
	switch (letter) {
	case 's': return first;
	case 'S': return second;
	case 'f':
	case 'd': return real_of(first) == DTYPE_NONE ? DTYPE_NONE : first;
	case 'o': return first == DTYPE_F16 || first == DTYPE_BF16 ? DTYPE_F32 : first;
	case 'p': return promoted(first, second);
	case 'r': return real_of(first);
	case 'c': return complex_of(first);
	case 'L': return second == DTYPE_I64 ? DTYPE_I64 : DTYPE_NONE;
	case 'l':
	case 'i': return DTYPE_I64;
	case 'n': return DTYPE_I32;
	case 'b': return DTYPE_BOOL;
	default: return DTYPE_NONE;
	}
}
