/* Recurrent layers, cell by cell (torch 2.13, aten/src/ATen/native/RNN.cpp): composed from linear and element-wise operators, as in
 * eager. */
#include "call.h"
#include "elem.h"
#include "ops.h"

/* The weights of a layer's direction; a step recomputes its state, h and c. */
struct cell {
	struct aten_tensor *w_ih, *w_hh, *b_ih, *b_hh, *w_hr; /* b_ih NULL: no biases; w_hr NULL: no projection */
};
typedef void cell_step(const struct cell *k, struct aten_tensor *input, struct aten_tensor **h, struct aten_tensor **c);

static struct aten_tensor *gate_part(struct aten_tensor *t, int which, int of)
{
	return aten_narrow(t, -1, which * (t->size[t->n_dim - 1] / of), t->size[t->n_dim - 1] / of);
}

static void lstm_step(const struct cell *k, struct aten_tensor *gates, struct aten_tensor **h, struct aten_tensor **c)
{
	gates = aten_add(gates, aten_linear(*h, k->w_hh, k->b_hh), 1);
	struct aten_tensor *in = aten_sigmoid(gate_part(gates, 0, 4)), *forget = aten_sigmoid(gate_part(gates, 1, 4)),
			   *new = aten_tanh(gate_part(gates, 2, 4)), *out = aten_sigmoid(gate_part(gates, 3, 4));
	*c = aten_add(aten_mul(forget, *c), aten_mul(in, new), 1);
	*h = aten_mul(out, aten_tanh(*c));
	if (k->w_hr)
		*h = aten_linear(*h, k->w_hr, NULL);
}

static void gru_step(const struct cell *k, struct aten_tensor *gates, struct aten_tensor **h, struct aten_tensor **c)
{
	struct aten_tensor *of_h = aten_linear(*h, k->w_hh, k->b_hh);
	struct aten_tensor *reset = aten_sigmoid(aten_add(gate_part(of_h, 0, 3), gate_part(gates, 0, 3), 1));
	struct aten_tensor *input = aten_sigmoid(aten_add(gate_part(of_h, 1, 3), gate_part(gates, 1, 3), 1));
	struct aten_tensor *new = aten_tanh(aten_add(aten_mul(gate_part(of_h, 2, 3), reset), gate_part(gates, 2, 3), 1));
	(void)c;
	*h = aten_add(aten_mul(aten_sub(*h, new, 1), input), new, 1);
}

static void tanh_step(const struct cell *k, struct aten_tensor *gates, struct aten_tensor **h, struct aten_tensor **c)
{
	(void)c;
	*h = aten_tanh(aten_add(gates, aten_linear(*h, k->w_hh, k->b_hh), 1));
}
static void relu_step(const struct cell *k, struct aten_tensor *gates, struct aten_tensor **h, struct aten_tensor **c)
{
	(void)c;
	*h = aten_relu(aten_add(gates, aten_linear(*h, k->w_hh, k->b_hh), 1));
}

/* Goes over [time, batch, features] in one direction; *h and *c become the last state. The input's contribution to the gates is computed
 * for all steps at once. */
static struct aten_tensor *direction(cell_step *step, const struct cell *k, struct aten_tensor *x, struct aten_tensor **h,
				     struct aten_tensor **c, bool backward)
{
	struct aten_tensor *gates = aten_linear(x, k->w_ih, k->b_ih),
			   **out = aten_scratch_values((uint64_t)x->size[0], sizeof(struct aten_tensor *));
	if (!aten_computes() && x->size[0] > 0) { /* all steps are the same */
		int64_t size[ATEN_DIMS] = {x->size[0]};
		step(k, aten_select(gates, 0, 0), h, c);
		memcpy(size + 1, (*h)->size, (size_t)(*h)->n_dim * sizeof(*size));
		return aten_new((*h)->dtype, (*h)->n_dim + 1, size, NULL);
	}
	for (int64_t i = 0; i < x->size[0]; i++) {
		int64_t t = backward ? x->size[0] - 1 - i : i;
		step(k, aten_select(gates, 0, t), h, c);
		out[t] = aten_unsqueeze(*h, 0);
	}
	return aten_cat((struct tensors){out, x->size[0]}, 0);
}

struct layers {
	cell_step *step;
	struct tensors weights;
	int64_t n_layers;
	bool biases, both_ways, cells, projected;
	struct aten_tensor *h, *c;
};

static struct aten_tensor *run_layers(const struct layers *l, struct aten_tensor *x, struct two *state)
{
	int ways = l->both_ways ? 2 : 1, each = 2 + 2 * l->biases + l->projected;
	int64_t n = size_times(l->n_layers, ways);
	if (n < 1 || l->weights.n != size_times(n, each) || !l->h->n_dim || l->h->size[0] != n)
		aten_fail("got %lld weights for %lld layers", (long long)l->weights.n, (long long)n);
	struct aten_tensor **last_h = aten_scratch((uint64_t)n, sizeof(*last_h)), **last_c = aten_scratch((uint64_t)n, sizeof(*last_c));
	for (int64_t i = 0; i < l->n_layers; i++) {
		struct aten_tensor *out[2] = {NULL, NULL};
		for (int w = 0; w < ways; w++) {
			int64_t at = i * ways + w;
			struct aten_tensor **p = l->weights.v + at * each, *ch = aten_select(l->h, 0, at),
					   *cc = l->c ? aten_select(l->c, 0, at) : NULL;
			struct cell k = {.w_ih = p[0], .w_hh = p[1]};
			if (l->biases)
				k.b_ih = p[2], k.b_hh = p[3];
			if (l->projected)
				k.w_hr = p[each - 1];
			out[w] = direction(l->step, &k, x, &ch, &cc, w == 1);
			last_h[at] = aten_unsqueeze(ch, 0);
			last_c[at] = cc ? aten_unsqueeze(cc, 0) : NULL;
		}
		x = ways == 2 ? aten_cat((struct tensors){out, 2}, -1) : out[0];
	}
	*state = (struct two){aten_cat((struct tensors){last_h, n}, 0), l->c ? aten_cat((struct tensors){last_c, n}, 0) : NULL};
	return x;
}

/* Parameter 1: a list of two (lstm), or the only one. */
static struct tensors states_of(const struct aten_call *c, bool cells)
{
	if (cells)
		return call_tensors(c, 1);
	struct tensors one = {aten_scratch(1, sizeof(*one.v)), 1};
	one.v[0] = call_tensor(c, 1);
	return one;
}

/* input, hx (lstm: a list of two), params, has_biases, num_layers, dropout, train, bidirectional, batch_first */
static void run_recurrent(struct aten_call *c, cell_step *step, bool cells)
{
	struct aten_tensor *x = call_tensor(c, 0);
	struct tensors weights = call_tensors(c, 2), states = states_of(c, cells);
	struct two last;
	bool first = call_bool(c, 8);
	if (call_float(c, 5) != 0 && call_bool(c, 6))
		aten_fail("dropout is random");
	if (x->n_dim != 3 || states.n != 1 + cells)
		aten_fail("expected an input of shape [time, batch, features], and its state");
	struct layers l = {.step = step,
			   .weights = weights,
			   .n_layers = call_int(c, 4),
			   .biases = call_bool(c, 3),
			   .both_ways = call_bool(c, 7),
			   .h = states.v[0],
			   .c = cells ? states.v[1] : NULL};
	if (l.h->n_dim != 3 || (cells && l.c->n_dim != 3))
		aten_fail("a state must have shape [layers, batch, features]");
	l.projected = cells && l.h->size[2] != l.c->size[2];
	struct aten_tensor *out = run_layers(&l, first ? aten_transpose(x, 0, 1) : x, &last);
	call_give(c, 0, first ? aten_transpose(out, 0, 1) : out);
	call_give(c, 1, last.first);
	if (cells)
		call_give(c, 2, last.second);
}
static void run_lstm(struct aten_call *c) { run_recurrent(c, lstm_step, true); }
static void run_gru(struct aten_call *c) { run_recurrent(c, gru_step, false); }
static void run_rnn_tanh(struct aten_call *c) { run_recurrent(c, tanh_step, false); }
static void run_rnn_relu(struct aten_call *c) { run_recurrent(c, relu_step, false); }

/* ---- one step: input, hx (lstm_cell: a list of two), w_ih, w_hh, b_ih, b_hh ---- */

static void run_cell(struct aten_call *c, cell_step *step, bool cells)
{
	struct aten_tensor *x = call_tensor(c, 0);
	struct tensors states = states_of(c, cells);
	struct cell k = {
	    .w_ih = call_tensor(c, 2), .w_hh = call_tensor(c, 3), .b_ih = call_tensor_or_none(c, 4), .b_hh = call_tensor_or_none(c, 5)};
	if (states.n != 1 + cells)
		aten_fail("lstm_cell expects two hidden states");
	struct aten_tensor *h = states.v[0], *state = cells ? states.v[1] : NULL;
	if (x->n_dim != 2 || h->n_dim != 2 || x->size[0] != h->size[0])
		aten_fail("expected an input and a state of shape [batch, features]");
	step(&k, aten_linear(x, k.w_ih, k.b_ih), &h, &state);
	call_give(c, 0, h);
	if (cells)
		call_give(c, 1, state);
}
static void run_lstm_cell(struct aten_call *c) { run_cell(c, lstm_step, true); }
static void run_gru_cell(struct aten_call *c) { run_cell(c, gru_step, false); }
static void run_rnn_tanh_cell(struct aten_call *c) { run_cell(c, tanh_step, false); }
static void run_rnn_relu_cell(struct aten_call *c) { run_cell(c, relu_step, false); }

const struct aten_entry aten_recurrent_entries[] = {
    {"gru_cell", run_gru_cell},           {"lstm_cell", run_lstm_cell},     {"rnn_relu_cell", run_rnn_relu_cell},
    {"rnn_tanh_cell", run_rnn_tanh_cell}, {"gru.input", run_gru},           {"lstm.input", run_lstm},
    {"rnn_relu.input", run_rnn_relu},     {"rnn_tanh.input", run_rnn_tanh}, {0},
};
