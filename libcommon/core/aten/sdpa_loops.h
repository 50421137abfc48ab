/* sdpa_loops.h - one head of attention for one type: T, NAME, GEMM and EXP_ROW (softmax's exponentials) as sdpa.c defines them. */

/* scores of a row -> exp(score - largest); returns their sum. A row of only -inf: no weights, sum 0. */
static T NAME(weights)(T *s, int64_t n, int64_t padded, T *largest)
{
	T max = -(T)INFINITY;
	for (int64_t i = 0; i < n; i++)
		max = s[i] > max ? s[i] : max;
	*largest = max;
	if (max == -(T)INFINITY) {
		bool nan = false;
		for (int64_t i = 0; i < n; i++)
			nan = nan || s[i] != s[i];
		memset(s, 0, (size_t)padded * sizeof(T));
		return nan ? (T)NAN : 0;
	}
	for (int64_t i = n; i < padded; i++)
		s[i] = -(T)INFINITY;
	return EXP_ROW(s, padded, max);
}

/* rows [from, from + rows) of one head: q, k, v with ld's, scores [rows, padded], out [rows, d]. */
static void NAME(attend)(const struct head *h, const T *q, int64_t ldq, const T *k, int64_t ldk, const T *v, int64_t ldv, T *scores, T *out,
			 int64_t ldo, T *lse)
{
	int64_t keys = h->causal && h->from + h->rows < h->keys ? h->from + h->rows : h->keys, ld = h->padded;

	GEMM(false, true, h->rows, keys, h->d, (T)h->scale, q, ldq, k, ldk, 0, scores, ld);
	if (h->mask.data)
		add_mask(h, keys, (char *)scores, sizeof(T) == 8 ? DTYPE_F64 : DTYPE_F32);
	for (int64_t i = 0; i < h->rows; i++) {
		int64_t n = h->causal && h->from + i + 1 < keys ? h->from + i + 1 : keys;
		T max, sum = NAME(weights)(scores + i * ld, n, (keys + LANES - 1) / LANES * LANES, &max);
		lse[i] = sum == 0 ? 0 : max + (T)log((double)sum);
		if (sum != sum)
			lse[i] = (T)NAN;
		h->sums[i] = sum == 0 ? 0 : (double)(1 / sum);
	}
	GEMM(false, false, h->rows, h->d, keys, 1, scores, ld, v, ldv, 0, out, ldo);
	for (int64_t i = 0; i < h->rows; i++)
		for (int64_t j = 0; j < h->d; j++)
			out[i * ldo + j] *= (T)h->sums[i];
}

#undef T
#undef NAME
#undef GEMM
#undef EXP_ROW
