/* mkldnn_rnn_layer: one direction of one layer of an LSTM, the exported form of nn.LSTM (torch/_decomp/decompositions.py,
 * mkldnn_one_layer_lstm). */
#include "mat.h"
#include "onednn.h"
#include "ops.h"

#include <math.h>

enum { MODE_LSTM = 2 };

static void need_shape(const struct aten_tensor *t, int64_t a, int64_t b, const char *what)
{
	if (t->n_dim < 2 || t->size[t->n_dim - 2] != a || t->size[t->n_dim - 1] != b)
		aten_fail("%s must be %lld x %lld", what, (long long)a, (long long)b);
}

static float sigmoid(float x) { return 1 / (1 + expf(-x)); }

/* gates [n, 4h] (i, f, g, o) and the old c -> new c and h, row by row. */
static void cell(const float *gates, int64_t n, int64_t hidden, float *c, float *h)
{
	for (int64_t r = 0; r < n; r++, gates += 4 * hidden, c += hidden, h += hidden)
		for (int64_t j = 0; j < hidden; j++) {
			float in = sigmoid(gates[j]), forget = sigmoid(gates[hidden + j]), add = tanhf(gates[2 * hidden + j]);
			c[j] = forget * c[j] + in * add;
			h[j] = sigmoid(gates[3 * hidden + j]) * tanhf(c[j]);
		}
}

/* A [1, n, h] state as n x h of float32. */
static float *state(const struct aten_tensor *t, int64_t n, int64_t hidden)
{
	float *v = aten_scratch((uint64_t)(n * hidden), sizeof(*v));
	mat_copy((struct mat){(char *)v, DTYPE_F32, n, hidden, hidden, 1}, mat_of(t, -1));
	return v;
}

/* Gates of all steps from the input at once, those from the state step by step. */
static void run_steps(const struct rnn_layer *l, int64_t n, float *h, float *c, struct aten_tensor *out)
{
	const int64_t wide = 4 * l->hidden, in = l->input->size[2], steps = l->input->size[0], rows = steps * n;
	struct aten_tensor *x = aten_contiguous(l->input);
	float *gates = aten_scratch((uint64_t)(rows * wide), sizeof(*gates));
	struct mat state_h = {(char *)h, DTYPE_F32, n, l->hidden, l->hidden, 1}, w = mat_t(mat_of(l->w_hh, -1));
	struct mat all = {(char *)gates, DTYPE_F32, rows, wide, wide, 1}, a = {aten_data(x), x->dtype, rows, in, in, 1};

	if (l->biases) {
		int64_t ld;
		const float *b1 = mat_f32(mat_of(l->b_ih, -1), &ld), *b2 = mat_f32(mat_of(l->b_hh, -1), &ld);
		for (int64_t i = 0; i < rows * wide; i++)
			gates[i] = b1[i % wide] + b2[i % wide];
	}
	mat_mul(all, l->biases ? all : (struct mat){0}, a, mat_t(mat_of(l->w_ih, -1)), 1, 1);
	for (int64_t i = 0; i < steps; i++) {
		int64_t t = l->reverse ? steps - 1 - i : i;
		struct mat g = all, y = {aten_data(out), out->dtype, n, l->hidden, l->hidden, 1};
		g.data += t * n * wide * (int64_t)sizeof(float);
		g.rows = n;
		mat_mul(g, g, state_h, w, 1, 1);
		cell((float *)g.data, n, l->hidden, c, h);
		y.data += t * n * l->hidden * elem_bytes(out->dtype);
		mat_from_f32(y, h, l->hidden);
	}
}

/* batch_first is handled by the caller: the input has the steps first. */
void aten_rnn_layer(const struct rnn_layer *l, struct aten_tensor **ret)
{
	const int64_t n = l->input->n_dim == 3 ? l->input->size[1] : 0;
	struct rnn_layer wide = *l;
	if (l->mode != MODE_LSTM || l->layers != 1 || l->bidirectional || l->train || l->n_batch_sizes || l->batch_first ||
	    l->input->n_dim != 3 || l->hidden < 0 || l->hidden > INT64_MAX / 4)
		aten_fail(
		    "only inference with one direction of a single-layer LSTM is supported here (mode %lld, %lld layers); use libtorch",
		    (long long)l->mode, (long long)l->layers);
	need_shape(l->w_ih, 4 * l->hidden, l->input->size[2], "weight_ih");
	need_shape(l->w_hh, 4 * l->hidden, l->hidden, "weight_hh");
	need_shape(l->hx, n, l->hidden, "a state");
	need_shape(l->cx, n, l->hidden, "a state");
	if (l->biases && (aten_numel(l->b_ih) != 4 * l->hidden || aten_numel(l->b_hh) != 4 * l->hidden))
		aten_fail("biases must have %lld elements", (long long)(4 * l->hidden));
	ret[0] = aten_new(l->input->dtype, 3, (int64_t[]){l->input->size[0], n, l->hidden}, NULL);
	ret[1] = aten_new(l->hx->dtype, l->hx->n_dim, l->hx->size, NULL);
	ret[2] = aten_new(l->cx->dtype, l->cx->n_dim, l->cx->size, NULL);
	if (!aten_computes())
		return;
	/* 16 bits: the state is kept in float32; new float32 matrices in each step would pile up */
	wide.w_hh = l->w_hh->dtype == DTYPE_F32 ? l->w_hh : aten_to_copy(l->w_hh, DTYPE_F32, ATEN_PRESERVE);
	float *h = state(l->hx, n, l->hidden), *c = state(l->cx, n, l->hidden);
	run_steps(&wide, n, h, c, ret[0]);
	mat_from_f32((struct mat){aten_data(ret[1]), ret[1]->dtype, n, l->hidden, l->hidden, 1}, h, l->hidden);
	mat_from_f32((struct mat){aten_data(ret[2]), ret[2]->dtype, n, l->hidden, l->hidden, 1}, c, l->hidden);
}
