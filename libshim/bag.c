/* bag.c - wrappers for aten/bag.c. */
#include "aten/ops.h"
#include "shim.h"

#define BAG \
	AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets, int32_t scale_grad_by_freq, int64_t mode, \
	    int32_t sparse, AtenTensorHandle *per_sample_weights, int32_t include_last_offset, int64_t padding_idx, \
	    AtenTensorHandle *ret0, AtenTensorHandle *ret1, AtenTensorHandle *ret2, AtenTensorHandle *ret3

static AOTITorchError bag_op(const char *op, bool forward_only, BAG)
{
	AtenTensorHandle *ret[4] = {ret0, ret1, ret2, ret3};
	struct bag_args a = {.weight = weight,
			     .indices = indices,
			     .offsets = offsets,
			     .per_sample_weights = shim_optional(per_sample_weights),
			     .mode = mode,
			     .padding_idx = padding_idx,
			     .include_last_offset = include_last_offset,
			     .forward_only = forward_only};
	(void)scale_grad_by_freq, (void)sparse; /* only for the gradient */
	SHIM_TRY_AS(op) {
		struct aten_tensor *out[4];
		aten_embedding_bag(&a, out);
		for (int i = 0; i < 4; i++)
			SHIM_GIVE(ret[i], out[i]);
	}
	SHIM_END
}

AOTITorchError aoti_torch_cpu__embedding_bag(BAG)
{
	return bag_op(__func__, false, weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
		      padding_idx, ret0, ret1, ret2, ret3);
}

AOTITorchError aoti_torch_cpu__embedding_bag_forward_only(BAG)
{
	return bag_op(__func__, true, weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
		      padding_idx, ret0, ret1, ret2, ret3);
}

/* Its name until torch 2.4. */
AOTITorchError aoti_torch__embedding_bag(AtenTensorHandle weight, AtenTensorHandle indices, AtenTensorHandle offsets,
					 int32_t scale_grad_by_freq, int32_t mode, int32_t sparse, AtenTensorHandle per_sample_weights,
					 int32_t include_last_offset, int32_t padding_idx, AtenTensorHandle *ret0, AtenTensorHandle *ret1,
					 AtenTensorHandle *ret2, AtenTensorHandle *ret3)
{
	return bag_op(__func__, false, weight, indices, offsets, scale_grad_by_freq, mode, sparse, &per_sample_weights, include_last_offset,
		      padding_idx, ret0, ret1, ret2, ret3);
}

SHIM_OP(aoti_torch_cpu_segment_reduce(AtenTensorHandle data, const char *reduce, AtenTensorHandle *lengths, AtenTensorHandle *indices,
				      AtenTensorHandle *offsets, int64_t axis, int32_t unsafe, double *initial, AtenTensorHandle *ret0),
	(void)unsafe;
	SHIM_GIVE(ret0,
		  aten_segment_reduce(data, reduce, shim_optional(lengths), shim_optional(indices), shim_optional(offsets), axis, initial)))

SHIM_OP(aoti_torch_cpu__cdist_forward(AtenTensorHandle x1, AtenTensorHandle x2, double p, int64_t *compute_mode, AtenTensorHandle *ret0),
	(void)compute_mode;
	SHIM_GIVE(ret0, aten_cdist(x1, x2, p)))

SHIM_OP(aoti_torch_cpu__pdist_forward(AtenTensorHandle self, double p, AtenTensorHandle *ret0), SHIM_GIVE(ret0, aten_pdist(self, p)))
