/* conv_direct_x86_64.h - the innermost loops of a convolution whose input has its channels last: `#define V`, floats of a register, `ROWS`,
 * output pixels at once, `TARGET`, the processor's features, `NAME(x)`. Sums of 2 V output channels for ROWS pixels stay in registers;
 * 2 V weights and one number per pixel are loaded from memory. About SUM_TERMS products are added up before they join the total, since long
 * sums lose more precision. It is C with gcc's vectors, which compile to fused multiply-adds. */
typedef float NAME(vec) __attribute__((vector_size(V * 4), aligned(4), may_alias));

/* x[tap * ROWS + r]: the channels of pixel r of the tile for that tap. w: [taps][in][2 V]. to: [ROWS][2 V], n of them are needed; a few
 * more may be written. */
__attribute__((target(TARGET), always_inline)) static inline void NAME(tile)(const float *const *x, const float *w, int64_t taps,
									     int64_t in, const float *bias, float *to, const int n)
{
	NAME(vec) low[ROWS], high[ROWS], *sum = (NAME(vec) *)to;
	int64_t terms = 0;
	for (int r = 0; r < n; r++) {
		sum[2 * r] = *(const NAME(vec) *)bias;
		sum[2 * r + 1] = *(const NAME(vec) *)(bias + V);
		low[r] = high[r] = (NAME(vec)){0};
	}
	for (int64_t k = 0, i = 0; k < taps; k += i == in, i = i == in ? 0 : i) {
		int64_t end = in - i < SUM_TERMS ? in : i + SUM_TERMS;
		for (terms += end - i; i < end; i++, w += 2 * V) {
			NAME(vec) a = *(const NAME(vec) *)w, b = *(const NAME(vec) *)(w + V);
			__asm__("" : "+v"(a), "+v"(b)); /* in registers: gcc would reload them for each pixel */
#pragma GCC unroll 16
			for (int r = 0; r < n; r++) {
				low[r] += x[k * ROWS + r][i] * a;
				high[r] += x[k * ROWS + r][i] * b;
			}
		}
		if (terms < SUM_TERMS / 2 && (k + 1 < taps || i < in))
			continue;
		terms = 0;
#pragma GCC unroll 16
		for (int r = 0; r < n; r++) {
			sum[2 * r] += low[r];
			sum[2 * r + 1] += high[r];
			low[r] = high[r] = (NAME(vec)){0};
		}
	}
}

__attribute__((target(TARGET), noinline)) static void NAME(tiles)(const float *const *x, const float *w, int64_t taps, int64_t in,
								  const float *bias, float *to, int n)
{
	if (n <= 2)
		NAME(tile)(x, w, taps, in, bias, to, 2);
	else if (n <= 4)
		NAME(tile)(x, w, taps, in, bias, to, 4);
	else if (n <= 8 && ROWS > 8)
		NAME(tile)(x, w, taps, in, bias, to, ROWS > 8 ? 8 : ROWS);
	else
		NAME(tile)(x, w, taps, in, bias, to, ROWS);
}

#undef V
#undef ROWS
#undef TARGET
#undef NAME
