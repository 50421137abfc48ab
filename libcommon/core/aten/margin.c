/* Losses with margins, and CTC (torch 2.13 and 2.15, aten/src/ATen/native/LossMultiMargin.cpp, LossMultiLabelMargin.cpp, LossCTC.cpp). */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM }; /* ATen/core/Reduction.h */

/* Scores [C] or [N, C] as rows; their number. */
struct rows {
	const struct aten_tensor *t;
	int64_t n, cols;
};

static struct rows rows_of(const struct aten_tensor *t)
{
	if (t->n_dim > 2 || (t->n_dim && !t->size[t->n_dim - 1]))
		aten_fail("Expected non-empty vector or matrix with optional 0-dim batch size");
	return (struct rows){t, t->n_dim == 2 ? t->size[0] : 1, t->n_dim ? t->size[t->n_dim - 1] : 1};
}

static const char *at(const struct rows *r, int64_t i, int64_t k)
{
	const struct aten_tensor *t = r->t;
	return aten_data(t) +
	       (i * (t->n_dim == 2 ? t->stride[0] : 0) + k * (t->n_dim ? t->stride[t->n_dim - 1] : 0)) * elem_bytes(t->dtype);
}

/* The loss of each row, or their mean or sum: rounded after each operation as in the type it is computed in. */
static struct aten_tensor *total_of(const struct rows *x, const double *loss, int64_t reduction, bool batched)
{
	struct aten_tensor *out = aten_new(x->t->dtype, reduction == REDUCE_NONE && batched, &x->n, NULL);
	double sum = 0;
	if (!aten_computes())
		return out;
	for (int64_t i = 0; i < x->n; i++)
		if (reduction == REDUCE_NONE)
			elem_set_f64(out->dtype, aten_data(out) + i * elem_bytes(out->dtype), loss[i]);
		else
			sum += loss[i];
	if (reduction != REDUCE_NONE)
		elem_set_f64(out->dtype, aten_data(out), reduction == REDUCE_MEAN ? sum / (double)x->n : sum);
	return out;
}

static void run_multi_margin(struct aten_call *c) /* self, target, p, margin, weight, reduction */
{
	struct aten_tensor *self = call_tensor(c, 0), *target = call_tensor(c, 1), *weight = call_tensor_or_none(c, 4);
	const double p = call_float(c, 2), margin = call_float(c, 3);
	const struct rows x = rows_of(self);
	if (p != 1 && p != 2)
		aten_fail("only p == 1 and p == 2 supported");
	if (aten_numel(target) != x.n || target->n_dim > 1)
		aten_fail("inconsistent target size, expected %lld but got %lld", (long long)x.n, (long long)aten_numel(target));
	if (weight && aten_numel(weight) != x.cols)
		aten_fail("inconsistent weight size, expected %lld but got %lld", (long long)x.cols, (long long)aten_numel(weight));
	double *loss = aten_scratch_values((uint64_t)x.n + 1, sizeof(*loss));
	for (int64_t i = 0; aten_computes() && i < x.n; i++) {
		const int64_t class = elem_i64(target->dtype, (char *)aten_data(target) + i * line_step(target, 0));
		if (class < 0 || class >= x.cols)
			aten_fail("target out of range");
		const double own = elem_f64(self->dtype, at(&x, i, class));
		loss[i] = 0;
		for (int64_t k = 0; k < x.cols; k++) {
			const double z = margin - own + elem_f64(self->dtype, at(&x, i, k));
			if (k == class || !(z > 0))
				continue;
			loss[i] += (p == 1 ? z : z * z) *
				   (weight ? elem_f64(weight->dtype, (char *)aten_data(weight) + class * line_step(weight, 0)) : 1);
		}
		loss[i] /= (double)x.cols;
	}
	call_give(c, 0, total_of(&x, loss, call_int(c, 5), target->n_dim > 0));
}

static void run_multilabel_margin(struct aten_call *c) /* self, target, reduction: the loss, and which classes are targets */
{
	struct aten_tensor *self = call_tensor(c, 0), *target = call_tensor(c, 1);
	const struct rows x = rows_of(self), y = rows_of(target);
	struct aten_tensor *chosen = aten_new(self->dtype, target->n_dim, target->size, NULL);
	if (!aten_same_sizes(self, target))
		aten_fail("inconsistent target size");
	aten_fill_zero(chosen);
	const struct rows is = rows_of(chosen);
	double *loss = aten_scratch_values((uint64_t)x.n + 1, sizeof(*loss));
	for (int64_t i = 0; aten_computes() && i < x.n; i++) {
		loss[i] = 0;
		int64_t n = 0;
		for (; n < x.cols && elem_i64(target->dtype, at(&y, i, n)) >= 0; n++) {
			const int64_t class = elem_i64(target->dtype, at(&y, i, n));
			if (class >= x.cols)
				aten_fail("target out of range");
			elem_set_f64(chosen->dtype, (char *)(uintptr_t)at(&is, i, class), 1);
		}
		for (int64_t t = 0; t < n; t++) {
			const double own = elem_f64(self->dtype, at(&x, i, elem_i64(target->dtype, at(&y, i, t))));
			for (int64_t k = 0; k < x.cols; k++) {
				const double z = 1 - own + elem_f64(self->dtype, at(&x, i, k));
				if (elem_f64(chosen->dtype, at(&is, i, k)) == 0 && z > 0)
					loss[i] += z;
			}
		}
		loss[i] /= (double)x.cols;
	}
	call_give(c, 0, total_of(&x, loss, call_int(c, 2), self->n_dim == 2));
	if (c->schema->n_result > 1)
		call_give(c, 1, chosen);
}

/* ---- CTC ---- */

/* Lengths as a list or a tensor, one for each of the batch. */
static int64_t *lengths(const struct aten_call *c, uint32_t i, int64_t n)
{
	int64_t *v = aten_scratch((uint64_t)n + 1, sizeof(*v));
	if (GIVEN(c, i).kind != ATEN_TENSOR) {
		const struct ints list = call_ints(c, i);
		if (list.n != n)
			aten_fail("lengths must be of size batch_size");
		memcpy(v, list.v, (size_t)n * sizeof(*v));
		return v;
	}
	struct aten_tensor *t = call_tensor(c, i);
	if (aten_numel(t) != n)
		aten_fail("lengths must be of size batch_size");
	for (int64_t k = 0; k < n; k++)
		v[k] = aten_computes() ? elem_i64(t->dtype, (char *)aten_data(t) + k * line_step(t, 0)) : 0;
	return v;
}

static double log_sum(double a, double b)
{
	const double m = fmax(a, b);
	return m == -(double)INFINITY ? m : m + log(exp(a - m) + exp(b - m));
}

/* Minus the logarithm of the probability of a target: the forward variable over the target with blanks between. */
static double ctc_of(const struct aten_tensor *p, int64_t batch, int64_t steps, const int64_t *label, int64_t n, int64_t blank)
{
	const int64_t states = 2 * n + 1;
	double *alpha = aten_scratch((uint64_t)states, sizeof(*alpha)), *next = aten_scratch((uint64_t)states, sizeof(*next));
	if (!steps)
		return n ? (double)INFINITY : 0;
	for (int64_t t = 0; t < steps; t++) {
		for (int64_t s = 0; s < states; s++) {
			const int64_t at = s % 2 ? label[s / 2] : blank;
			double sum = -(double)INFINITY;
			if (t == 0) {
				sum = s < 2 ? 0 : sum;
			} else {
				sum = alpha[s];
				if (s > 0)
					sum = log_sum(sum, alpha[s - 1]);
				if (s > 1 && s % 2 && label[s / 2] != label[s / 2 - 1])
					sum = log_sum(sum, alpha[s - 2]);
			}
			next[s] = sum + elem_f64(p->dtype, aten_data(p) + (t * p->stride[0] + batch * p->stride[1] + at * p->stride[2]) *
									      elem_bytes(p->dtype));
		}
		double *swap = alpha;
		alpha = next;
		next = swap;
	}
	return -(states > 1 ? log_sum(alpha[states - 1], alpha[states - 2]) : alpha[0]);
}

/* log_probs [T, N, C] or [T, C], targets [N, S] or all in a row, input_lengths, target_lengths, blank, reduction, zero_infinity */
static void run_ctc_loss(struct aten_call *c)
{
	struct aten_tensor *p = call_tensor(c, 0), *targets = call_tensor(c, 1);
	const bool batched = p->n_dim == 3;
	const int64_t blank = call_int(c, 4), reduction = call_int(c, 5);
	p = batched ? p : p->n_dim == 2 ? aten_unsqueeze(p, 1) : NULL;
	if (!p)
		aten_fail("log_probs must be a tensor of 2 or 3 dimensions");
	const int64_t n = p->size[1], n_class = p->size[2];
	const int64_t *steps = lengths(c, 2, n), *size = lengths(c, 3, n);
	struct aten_tensor *out = aten_new(p->dtype, reduction == REDUCE_NONE && batched, &n, NULL);
	call_give(c, 0, out);
	if (blank < 0 || blank >= n_class)
		aten_fail("blank must be in label range");
	if (!aten_computes())
		return;
	double sum = 0;
	for (int64_t i = 0, from = 0; i < n; from += size[i++]) {
		int64_t *label = aten_scratch((uint64_t)(size[i] > 0 ? size[i] : 0) + 1, sizeof(*label));
		const bool matrix = targets->n_dim == 2;
		if (steps[i] < 0 || steps[i] > p->size[0] || size[i] < 0 || size[i] > targets->size[matrix] - (matrix ? 0 : from))
			aten_fail("input_lengths and target_lengths must fit log_probs and targets");
		for (int64_t k = 0; k < size[i]; k++) {
			const int64_t place = matrix ? i * targets->stride[0] + k * targets->stride[1] : (from + k) * targets->stride[0];
			label[k] = elem_i64(targets->dtype, (char *)aten_data(targets) + place * elem_bytes(targets->dtype));
			if (label[k] < 0 || label[k] >= n_class)
				aten_fail("targets must be in label range");
		}
		double loss = ctc_of(p, i, steps[i], label, size[i], blank);
		if (call_bool(c, 6) && isinf(loss))
			loss = 0;
		if (reduction == REDUCE_NONE)
			elem_set_f64(out->dtype, aten_data(out) + i * elem_bytes(out->dtype), loss);
		sum += reduction == REDUCE_MEAN ? loss / (double)(size[i] > 0 ? size[i] : 1) : loss;
	}
	if (reduction != REDUCE_NONE)
		elem_set_f64(out->dtype, aten_data(out), reduction == REDUCE_MEAN ? sum / (double)n : sum);
}

const struct aten_entry aten_margin_entries[] = {
    {"ctc_loss.IntList", run_ctc_loss},
    {"ctc_loss.Tensor", run_ctc_loss},
    {"multi_margin_loss", run_multi_margin},
    {"multilabel_margin_loss", run_multilabel_margin},
    {"multilabel_margin_loss_forward", run_multilabel_margin},
    {0},
};
