/* mkldnn_rnn_layer: one direction of one layer of an LSTM, what nn.LSTM is exported as (torch/_decomp/decompositions.py,
 * mkldnn_one_layer_lstm). */
#include "aten/elem.h"
#include "shim.h"
#include "aten/mat.h"
#include "onednn.h"

#include <math.h>

enum { MODE_LSTM = 2 };

static void need_shape(const struct aten_tensor *t, int64_t a, int64_t b, const char *what)
{
	if (t->n_dim < 2 || t->size[t->n_dim - 2] != a || t->size[t->n_dim - 1] != b)
		aten_fail("%s must be %lld x %lld", what, (long long)a, (long long)b);
}

/* gates [n, 4h] (i, f, g, o) and the old c -> new c and h, one after the other row. */
static void cell(const float *gates, int64_t n, int64_t hidden, float *c, float *h)
{
	for (int64_t r = 0; r < n; r++, gates += 4 * hidden, c += hidden, h += hidden)
		for (int64_t j = 0; j < hidden; j++) {
			float in = aten_sigmoid(gates[j]), forget = aten_sigmoid(gates[hidden + j]), add = tanhf(gates[2 * hidden + j]);
			c[j] = forget * c[j] + in * add;
			h[j] = aten_sigmoid(gates[3 * hidden + j]) * tanhf(c[j]);
		}
}

/* A [1, n, h] state as n x h of float32, and back as a new tensor of its own shape. */
static float *state(const struct aten_tensor *t, int64_t n, int64_t hidden)
{
	float *v = aten_scratch((uint64_t)(n * hidden), sizeof(*v));
	need_shape(t, n, hidden, "a state");
	mat_copy((struct mat){(char *)v, DTYPE_F32, n, hidden, hidden, 1}, mat_of(t, -1));
	return v;
}

static struct aten_tensor *given_back(const struct aten_tensor *like, const float *v, int64_t n, int64_t hidden)
{
	struct aten_tensor *t = aten_new(like->dtype, like->n_dim, like->size, NULL);
	mat_from_f32((struct mat){aten_data(t), t->dtype, n, hidden, hidden, 1}, v, hidden);
	return t;
}

struct lstm {
	struct aten_tensor *input, *w_ih, *w_hh, *b_ih, *b_hh;
	int64_t steps, n, hidden;
	bool reverse, biases;
};

/* Gates of all steps from the input at once, those from the state step by step. */
static struct aten_tensor *run(const struct lstm *l, float *h, float *c)
{
	int64_t wide = 4 * l->hidden, in = l->input->size[2], rows = l->steps * l->n;
	int64_t size[3] = {l->steps, l->n, l->hidden};
	struct aten_tensor *out = aten_new(l->input->dtype, 3, size, NULL), *x = aten_contiguous(l->input);
	float *gates = aten_scratch((uint64_t)(rows * wide), sizeof(*gates));
	struct mat state_h = {(char *)h, DTYPE_F32, l->n, l->hidden, l->hidden, 1}, w = mat_t(mat_of(l->w_hh, -1));
	struct mat all = {(char *)gates, DTYPE_F32, rows, wide, wide, 1}, a = {aten_data(x), x->dtype, rows, in, in, 1};

	if (l->biases) {
		int64_t ld;
		const float *b1 = mat_f32(mat_of(l->b_ih, -1), &ld), *b2 = mat_f32(mat_of(l->b_hh, -1), &ld);
		for (int64_t i = 0; i < rows * wide; i++)
			gates[i] = b1[i % wide] + b2[i % wide];
	}
	mat_mul(all, l->biases ? all : (struct mat){0}, a, mat_t(mat_of(l->w_ih, -1)), 1, 1);
	for (int64_t i = 0; i < l->steps; i++) {
		int64_t t = l->reverse ? l->steps - 1 - i : i;
		struct mat g = all, y = {aten_data(out), out->dtype, l->n, l->hidden, l->hidden, 1};
		g.data += t * l->n * wide * (int64_t)sizeof(float);
		g.rows = l->n;
		mat_mul(g, g, state_h, w, 1, 1);
		cell((float *)g.data, l->n, l->hidden, c, h);
		y.data += t * l->n * l->hidden * elem_bytes(out->dtype);
		mat_from_f32(y, h, l->hidden);
	}
	return out;
}

AOTITorchError aoti_torch_cpu_mkldnn_rnn_layer(AtenTensorHandle input, AtenTensorHandle weight0, AtenTensorHandle weight1,
					       AtenTensorHandle weight2, AtenTensorHandle weight3, AtenTensorHandle hx_,
					       AtenTensorHandle cx_, int32_t reverse, const int64_t *batch_sizes, int64_t n_batch_sizes,
					       int64_t mode, int64_t hidden_size, int64_t num_layers, int32_t has_biases,
					       int32_t bidirectional, int32_t batch_first, int32_t train, AtenTensorHandle *ret0,
					       AtenTensorHandle *ret1, AtenTensorHandle *ret2, AtenTensorHandle *ret3)
{
	(void)batch_sizes;
	SHIM_TRY {
		/* batch_first is the caller's affair: the input comes with the steps first. */
		if (mode != MODE_LSTM || num_layers != 1 || bidirectional || train || n_batch_sizes || batch_first || input->n_dim != 3)
			aten_fail(
			    "only one direction of one layer of an LSTM, for inference, is here (mode %lld, %lld layers); use libtorch",
			    (long long)mode, (long long)num_layers);
		struct lstm l = {input,          weight0,        weight1,     weight2,      weight3,
				 input->size[0], input->size[1], hidden_size, reverse != 0, has_biases != 0};
		need_shape(weight0, 4 * hidden_size, input->size[2], "weight_ih");
		need_shape(weight1, 4 * hidden_size, hidden_size, "weight_hh");
		if (l.biases && (aten_numel(weight2) != 4 * hidden_size || aten_numel(weight3) != 4 * hidden_size))
			aten_fail("biases must have %lld elements", (long long)(4 * hidden_size));
		/* 16 bits: the state is kept in float32; new float32 matrices in each step would pile up */
		l.w_hh = weight1;
		if (weight1->dtype != DTYPE_F32) {
			l.w_hh = aten_like(weight1, DTYPE_F32);
			aten_copy(l.w_hh, weight1);
		}
		float *h = state(hx_, l.n, hidden_size), *c = state(cx_, l.n, hidden_size);
		struct aten_tensor *out = run(&l, h, c), *hy = given_back(hx_, h, l.n, hidden_size),
				   *cy = given_back(cx_, c, l.n, hidden_size);
		int64_t none = 0;
		SHIM_GIVE(ret3, aten_new(DTYPE_U8, 1, &none, NULL));
		SHIM_GIVE(ret2, cy);
		SHIM_GIVE(ret1, hy);
		SHIM_GIVE(ret0, out);
	}
	SHIM_END
}
