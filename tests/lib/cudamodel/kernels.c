/* What the Triton kernels of the model do (its wrapper text has their source), element for element. The last has no mask: unless
 * 8*s0 is a multiple of 256, its last block goes on behind the ends of its tensors.
 */
#include "../fakecuda.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void fake_triton_poi_fused_add_0(const struct fakecuda_kernel *k)
{
	int64_t xnumel = FAKECUDA_ARG(k, 3, int32_t);
	for (int64_t x = 0; x < (int64_t)k->grid[0] * 128 && x < xnumel; x++)
		FAKECUDA_EL(k, 2, float, x) = FAKECUDA_EL(k, 0, float, x) + FAKECUDA_EL(k, 1, float, x);
}

void fake_triton_per_fused_relu_sum_1(const struct fakecuda_kernel *k)
{
	int64_t xnumel = FAKECUDA_ARG(k, 2, int32_t), r0_numel = FAKECUDA_ARG(k, 3, int32_t);
	for (int64_t x = 0; x < (int64_t)k->grid[0] * 8 && x < xnumel; x++) {
		float sum = 0;
		for (int64_t r = 0; r < r0_numel; r++) {
			float v = FAKECUDA_EL(k, 0, float, r + 8 * x);
			sum += v < 0 ? 0 : v; /* NaN stays, as in triton_helpers.maximum */
		}
		FAKECUDA_EL(k, 1, float, x) = sum;
	}
}

void fake_triton_poi_fused_mul_2(const struct fakecuda_kernel *k)
{
	for (int64_t x = 0; x < (int64_t)k->grid[0] * 256; x++)
		FAKECUDA_EL(k, 2, float, x) = FAKECUDA_EL(k, 0, float, x) * FAKECUDA_EL(k, 1, float, x / 8);
}
