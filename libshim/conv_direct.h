/* conv_direct.h - the innermost loops of a convolution whose input has its channels last: `#define V`, floats of a register, `ROWS`,
 * output pixels at once, `TARGET`, the processor's features, `NAME(x)`. Sums of 2 V output channels for ROWS pixels stay in registers;
 * from memory come 2 V weights and a number for each pixel. It is C with gcc's vectors: they become fused multiply-adds. */
typedef float NAME(vec) __attribute__((vector_size(V * 4), aligned(4), may_alias));

/* x[tap * ROWS + r]: where pixel r of the tile finds its channels for that tap. w: [taps][in][2 V]. to: [ROWS][2 V], n of them are
 * wanted; some more may be written. */
__attribute__((target(TARGET), always_inline)) static inline void NAME(tile)(const float *const *x, const float *w, int64_t taps, int64_t in,
									 const float *bias, float *to, const int n)
{
	NAME(vec) low[ROWS], high[ROWS];
	for (int r = 0; r < n; r++) {
		low[r] = *(const NAME(vec) *)bias;
		high[r] = *(const NAME(vec) *)(bias + V);
	}
	for (int64_t tap = 0; tap < taps; tap++, x += ROWS)
		for (int64_t i = 0; i < in; i++, w += 2 * V) {
			NAME(vec) a = *(const NAME(vec) *)w, b = *(const NAME(vec) *)(w + V);
			__asm__("" : "+v"(a), "+v"(b)); /* in registers: gcc would load them anew for each pixel */
#pragma GCC unroll 16
			for (int r = 0; r < n; r++) {
				low[r] += x[r][i] * a;
				high[r] += x[r][i] * b;
			}
		}
#pragma GCC unroll 16
	for (int r = 0; r < n; r++, to += 2 * V) {
		*(NAME(vec) *)to = low[r];
		*(NAME(vec) *)(to + V) = high[r];
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
