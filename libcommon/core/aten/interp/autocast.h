/* autocast.h - torch.autocast's policy: which operators it computes in the lower precision, which in float32.
 *
 *     const int to = autocast_dtype(SLICE("linear"), false, DTYPE_BF16, dtype, n);     // of the operands that are tensors
 *     if (to != DTYPE_NONE) ...                                                        // each float operand but float64 becomes that
 *
 * A region is torch.ops.higher_order.wrap_with_autocast(device_type, dtype, enabled, cache_enabled, submodule, *operands), whose body was
 * traced above autocast: its operators have no casts (torch 2.13, torch/_higher_order_ops/wrap.py). interp_hop.c runs it with this policy
 * on, unroll.c writes the casts into the graph. The lists are those of aten/src/ATen/autocast_mode.cpp (CPU) and autocast_mode.h (CUDA);
 * tests/live/regions.t compares them with what torch has registered.
 */
#ifndef PT2_AUTOCAST_H
#define PT2_AUTOCAST_H
#include "aten/aten.h"

/* op: the overload's name without "aten." and ".default"; gpu: of a region for cuda. DTYPE_NONE: no cast. */
int autocast_dtype(struct slice op, bool gpu, int lower, const int *dtype, size_t n);
/* Is an operand of that dtype cast at all? */
static inline bool autocast_applies(int dtype) { return aten_is_float(dtype) && dtype != DTYPE_F64; }
/* The dtype of a region for which none is named; whether a region is for cuda. */
int autocast_default(struct slice device_type);

#endif
