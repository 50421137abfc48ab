/* sdpa.c - wrappers for aten/sdpa.c. */
#include "aten/ops.h"
#include "shim.h"

SHIM_OP(aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu(AtenTensorHandle query, AtenTensorHandle key, AtenTensorHandle value,
								   double dropout_p, int32_t is_causal, AtenTensorHandle *attn_mask,
								   double *scale, AtenTensorHandle *ret0, AtenTensorHandle *ret1),
	SHIM_GIVE_TWO(ret0, ret1, aten_flash_attention(query, key, value, dropout_p, is_causal, shim_optional(attn_mask), scale)))
