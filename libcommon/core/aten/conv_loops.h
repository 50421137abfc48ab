/* conv_loops.h - the loops of conv.c for one type: `#define T float`, `#define NAME(x) x##_f32`, `#define GEMM aten_gemm_f32`. */

/* Copies a channel of the large grid to rows of the matrix: tap by tap, the positions p0..p1 of the small grid. */
ATEN_WIDE static void NAME(gather_planes)(const struct conv *c, const T *x, int64_t channels, int64_t p0, int64_t p1, T *col)
{
	for (int64_t ch = 0; ch < channels; ch++, x += c->large_n)
		for (int64_t tap = 0; tap < c->taps; tap++)
			for (int64_t p = p0; p < p1;) {
				struct segment s;
				int64_t n = segment(c, tap, p, p1, &s);
				for (int64_t i = 0; i < s.skip; i++)
					*col++ = 0;
				const T *from = x + s.at;
				if (s.step == 1 && s.n)
					memcpy(col, from, (size_t)s.n * sizeof(T));
				else
					for (int64_t i = 0; i < s.n; i++)
						col[i] = from[i * s.step];
				col += s.n;
				for (int64_t i = s.skip + s.n; i < n; i++)
					*col++ = 0;
				p += n;
			}
}

/* The reverse: sums. */
ATEN_WIDE static void NAME(scatter_planes)(const struct conv *c, T *y, int64_t channels, int64_t p0, int64_t p1, const T *col)
{
	for (int64_t ch = 0; ch < channels; ch++, y += c->large_n)
		for (int64_t tap = 0; tap < c->taps; tap++)
			for (int64_t p = p0; p < p1;) {
				struct segment s;
				int64_t n = segment(c, tap, p, p1, &s);
				T *to = y + s.at;
				for (int64_t i = 0; i < s.n; i++)
					to[i * s.step] += col[s.skip + i];
				col += n;
				p += n;
			}
}

/* channels_last: a row for each position, `channels` numbers for each tap; pixels are `wide` apart. */
static void NAME(gather_pixels)(const struct conv *c, const T *x, int64_t channels, int64_t wide, int64_t p0, int64_t p1, T *col)
{
	int64_t row = c->taps * channels;
	for (int64_t tap = 0; tap < c->taps; tap++)
		for (int64_t p = p0; p < p1;) {
			struct segment s;
			int64_t n = segment(c, tap, p, p1, &s);
			T *to = col + (p - p0) * row + tap * channels;
			for (int64_t i = 0; i < n; i++, to += row)
				if (i < s.skip || i >= s.skip + s.n)
					memset(to, 0, (size_t)channels * sizeof(T));
				else
					memcpy(to, x + (s.at + (i - s.skip) * s.step) * wide, (size_t)channels * sizeof(T));
			p += n;
		}
}

ATEN_WIDE static void NAME(scatter_pixels)(const struct conv *c, T *y, int64_t channels, int64_t wide, int64_t p0, int64_t p1, const T *col)
{
	int64_t row = c->taps * channels;
	for (int64_t tap = 0; tap < c->taps; tap++)
		for (int64_t p = p0; p < p1;) {
			struct segment s;
			int64_t n = segment(c, tap, p, p1, &s);
			const T *from = col + (p - p0 + s.skip) * row + tap * channels;
			for (int64_t i = 0; i < s.n; i++, from += row) {
				T *to = y + (s.at + i * s.step) * wide;
				for (int64_t k = 0; k < channels; k++)
					to[k] += from[k];
			}
			p += n;
		}
}

/* Depthwise, one input channel per group: sums of shifted planes. */
ATEN_WIDE static void NAME(depthwise_planes)(const struct conv *c, const T *x, const T *w, T *y)
{
	int64_t each = c->co / c->groups;
	for (int64_t o = 0; o < c->co; o++, y += c->small_n)
		for (int64_t tap = 0; tap < c->taps; tap++) {
			const T *plane = x + o / each * c->large_n, v = w[o * c->taps + tap];
			for (int64_t p = 0; p < c->small_n;) {
				struct segment s;
				int64_t n = segment(c, tap, p, c->small_n, &s);
				const T *from = plane + s.at;
				T *to = y + p + s.skip;
				if (s.step == 1)
					for (int64_t i = 0; i < s.n; i++)
						to[i] += v * from[i];
				else
					for (int64_t i = 0; i < s.n; i++)
						to[i] += v * from[i * s.step];
				p += n;
			}
		}
}

/* The weight is [taps, channels]. */
ATEN_WIDE static void NAME(depthwise_pixels)(const struct conv *c, const T *x, const T *w, T *y)
{
	int64_t n_ch = c->co;
	for (int64_t tap = 0; tap < c->taps; tap++, w += n_ch)
		for (int64_t p = 0; p < c->small_n;) {
			struct segment s;
			int64_t n = segment(c, tap, p, c->small_n, &s);
			for (int64_t i = 0; i < s.n; i++) {
				const T *from = x + (s.at + i * s.step) * n_ch;
				T *to = y + (p + s.skip + i) * n_ch;
				for (int64_t k = 0; k < n_ch; k++)
					to[k] += w[k] * from[k];
			}
			p += n;
		}
}

/* plain: both grids are the same and no tap shifts a position, so the input itself is the matrix. */
static void NAME(forward_group)(const struct conv *c, const T *x, const T *w, T *y, T *col)
{
	int64_t in = c->ci / c->groups, out = c->co / c->groups, k = in * c->taps;

	for (int64_t p = 0; p < c->small_n; p += c->chunk) {
		int64_t n = c->small_n - p < c->chunk ? c->small_n - p : c->chunk;
		if (!c->last) {
			if (!c->plain)
				NAME(gather_planes)(c, x, in, p, p + n, col);
			GEMM(false, false, out, n, k, 1, w, k, c->plain ? x + p : col, c->plain ? c->large_n : n, 1, y + p, c->small_n);
		} else {
			if (!c->plain)
				NAME(gather_pixels)(c, x, in, c->ci, p, p + n, col);
			GEMM(false, true, n, out, k, 1, c->plain ? x + p * c->ci : col, c->plain ? c->ci : k, w, k, 1, y + p * c->co,
			     c->co);
		}
	}
}

/* w: [in, out of the group * taps], channels_last: [in, taps * out of the group] */
static void NAME(transposed_group)(const struct conv *c, const T *x, const T *w, T *y, T *col)
{
	int64_t in = c->ci / c->groups, out = c->co / c->groups, k = out * c->taps;

	for (int64_t p = 0; p < c->small_n; p += c->chunk) {
		int64_t n = c->small_n - p < c->chunk ? c->small_n - p : c->chunk;
		if (!c->last) {
			GEMM(true, false, k, n, in, 1, w, k, x + p, c->small_n, 0, col, n);
			NAME(scatter_planes)(c, y, out, p, p + n, col);
		} else {
			GEMM(false, false, n, k, in, 1, x + p * c->ci, c->ci, w, k, 0, col, k);
			NAME(scatter_pixels)(c, y, out, c->co, p, p + n, col);
		}
	}
}

static void NAME(run)(const struct conv *c, const T *x, const T *w, const T *bias, T *y)
{
	int64_t in_n = c->transposed ? c->small_n : c->large_n, out_n = c->transposed ? c->large_n : c->small_n;
	int64_t in = c->ci / c->groups, out = c->co / c->groups, per_group = in * out * c->taps;
	T *col = aten_scratch((uint64_t)(c->chunk * c->taps * (c->transposed ? out : in)), sizeof(T));

	for (int64_t i = 0; i < c->n; i++, x += c->ci * in_n, y += c->co * out_n) {
		for (int64_t o = 0; o < c->co * out_n; o++)
			y[o] = !bias ? 0 : bias[c->last ? o % c->co : o / out_n];
		if (c->depthwise) {
			(c->last ? NAME(depthwise_pixels) : NAME(depthwise_planes))(c, x, w, y);
			continue;
		}
		for (int64_t g = 0; g < c->groups; g++) {
			const T *xg = x + g * in * (c->last ? 1 : in_n), *wg = w + g * per_group;
			T *yg = y + g * out * (c->last ? 1 : out_n);
			(c->transposed ? NAME(transposed_group) : NAME(forward_group))(c, xg, wg, yg, col);
		}
	}
}

#undef T
#undef NAME
#undef GEMM
