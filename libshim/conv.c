/* conv.c - wrappers for aten/conv.c. */
#include "aten/conv.h"
#include "shim.h"

SHIM_OP(
    aoti_torch_cpu_convolution(AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle *bias, const int64_t *stride,
			       int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation, int64_t n_dilation,
			       int32_t transposed, const int64_t *output_padding, int64_t n_output_padding, int64_t groups,
			       AtenTensorHandle *ret0),
    const struct conv_params p =
	{{stride, n_stride}, {padding, n_padding}, {dilation, n_dilation}, {output_padding, n_output_padding}, groups, transposed != 0, -1};
    SHIM_GIVE(ret0, aten_convolution(input, weight, shim_optional(bias), &p)))

AOTITorchError aoti_torch_convolution(AtenTensorHandle input, AtenTensorHandle weight, AtenTensorHandle bias, const int64_t *stride,
				      int64_t n_stride, const int64_t *padding, int64_t n_padding, const int64_t *dilation,
				      int64_t n_dilation, int transposed, const int64_t *output_padding, int64_t n_output_padding,
				      int64_t groups, AtenTensorHandle *ret)
{
	return aoti_torch_cpu_convolution(input, weight, &bias, stride, n_stride, padding, n_padding, dilation, n_dilation, transposed,
					  output_padding, n_output_padding, groups, ret);
}
