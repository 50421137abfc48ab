/* Losses (torch 2.13 and 2.15, aten/src/ATen/native/Loss.cpp, LossNLL.cpp, LossNLL2d.cpp, BinaryOps.cpp). Losses that are one loop over
 * elements in torch (mse_loss, smooth_l1_loss, huber_loss, binary_cross_entropy) are rounded once; the others are composed operator by
 * operator. */
#include "call.h"
#include "elem.h"
#include "ops.h"

#include <math.h>

enum { REDUCE_NONE, REDUCE_MEAN, REDUCE_SUM }; /* ATen/core/Reduction.h */

static struct aten_tensor *reduced(struct aten_tensor *t, int64_t reduction)
{
	return reduction == REDUCE_MEAN ? APPLIED("mean", aten_of(t)) : reduction == REDUCE_SUM ? APPLIED("sum", aten_of(t)) : t;
}

static struct aten_tensor *negated(struct aten_tensor *t) { return APPLIED("neg", aten_of(t)); }
static struct aten_tensor *at_least_0(struct aten_tensor *t) { return APPLIED("clamp_min", aten_of(t), aten_int(0)); }
static struct aten_tensor *logarithm(struct aten_tensor *t) { return APPLIED("log", aten_of(t)); }
static struct aten_tensor *over(struct aten_tensor *a, struct aten_tensor *b) { return APPLIED("div.Tensor", aten_of(a), aten_of(b)); }
static struct aten_tensor *plus(struct aten_tensor *a, double b) { return aten_add(a, aten_number(b), 1); }
static struct aten_tensor *times(struct aten_tensor *a, double b) { return aten_mul(a, aten_number(b)); }

/* ---- of two tensors, element by element ---- */

/* The loss of a single element; how is beta or delta. */
struct pair_loss {
	double (*of)(double x, double y, double how);
	int how; /* the parameter that is; 0: none */
};
static double squared(double x, double y, double how)
{
	(void)how;
	return (x - y) * (x - y);
}
static double smooth_l1(double x, double y, double beta)
{
	double z = fabs(x - y);
	return z < beta ? 0.5 * z * z / beta : z - 0.5 * beta;
}
static double huber(double x, double y, double delta)
{
	double z = fabs(x - y);
	return z <= delta ? 0.5 * z * z : delta * (z - 0.5 * delta);
}
/* Logarithms not below -100. */
static double cross_entropy(double x, double y, double how)
{
	(void)how;
	if (!(x >= 0 && x <= 1))
		aten_fail("all elements of input should be between 0 and 1");
	return (y - 1) * fmax(log1p(-x), -100) - y * fmax(log(x), -100);
}
static const struct pair_loss mse = {squared, 0}, smooth = {smooth_l1, 3}, hubers = {huber, 3}, entropy = {cross_entropy, 0};

/* In double, each element rounded once. */
static struct aten_tensor *each_loss(const struct pair_loss *l, struct aten_tensor *a, struct aten_tensor *b, double how, int dtype)
{
	struct aten_tensor *out = aten_elementwise(dtype, (const struct aten_tensor *[]){a, b}, 2);
	if (!aten_is_float(aten_promote(a->dtype, b->dtype)))
		aten_fail("not implemented for %s", dtype_name(aten_promote(a->dtype, b->dtype)));
	struct walk w = WALK(out, a, b);
	for (bool more = walk_first(&w); more; more = walk_next(&w))
		elem_set_f64(dtype, w.p[0], l->of(elem_f64(a->dtype, w.p[1]), elem_f64(b->dtype, w.p[2]), how));
	return out;
}

/* self, target, (weight,) reduction, (beta or delta) */
static void run_pair_loss(struct aten_call *c)
{
	const struct pair_loss *l = c->entry->data;
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1);
	call_give(
	    c, 0,
	    reduced(each_loss(l, a, b, l->how ? call_float(c, (uint32_t)l->how) : 0, aten_promote(a->dtype, b->dtype)), call_int(c, 2)));
}

static void run_binary_cross_entropy(struct aten_call *c) /* self, target, weight, reduction */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1), *weight = call_tensor_or_none(c, 2);
	struct aten_tensor *loss = each_loss(&entropy, a, b, 0, a->dtype);
	call_give(c, 0, reduced(weight ? aten_mul(loss, weight) : loss, call_int(c, 3)));
}

static void run_binary_cross_entropy_with_logits(struct aten_call *c) /* self, target, weight, pos_weight, reduction */
{
	struct aten_tensor *x = call_tensor(c, 0), *y = call_tensor(c, 1), *weight = call_tensor_or_none(c, 2),
			   *positive = call_tensor_or_none(c, 3);
	struct aten_tensor *log_sigmoid = APPLIED("log_sigmoid", aten_of(x)), *rest = aten_mul(aten_sub(aten_number(1), y, 1), x);
	if (positive)
		log_sigmoid = aten_mul(plus(aten_mul(plus(positive, -1), y), 1), log_sigmoid);
	struct aten_tensor *loss = aten_sub(rest, log_sigmoid, 1);
	call_give(c, 0, reduced(weight ? aten_mul(loss, weight) : loss, call_int(c, 4)));
}

static void run_l1_loss(struct aten_call *c)
{
	call_give(c, 0, reduced(aten_abs(aten_sub(call_tensor(c, 0), call_tensor(c, 1), 1)), call_int(c, 2)));
}

static void run_soft_margin_loss(struct aten_call *c) /* self, target, reduction */
{
	struct aten_tensor *grown = APPLIED("exp", aten_of(aten_mul(negated(call_tensor(c, 0)), call_tensor(c, 1))));
	call_give(c, 0, reduced(APPLIED("log1p", aten_of(grown)), call_int(c, 2)));
}

static void run_kl_div(struct aten_call *c) /* self, target, reduction, log_target */
{
	struct aten_tensor *x = call_tensor(c, 0), *y = call_tensor(c, 1);
	struct aten_tensor *loss = call_bool(c, 3) ? aten_mul(APPLIED("exp", aten_of(y)), aten_sub(y, x, 1))
						   : aten_sub(APPLIED("xlogy.Tensor", aten_of(y), aten_of(y)), aten_mul(y, x), 1);
	call_give(c, 0, reduced(loss, call_int(c, 2)));
}

static void run_poisson_nll_loss(struct aten_call *c) /* input, target, log_input, full, eps, reduction */
{
	struct aten_tensor *x = call_tensor(c, 0), *y = call_tensor(c, 1);
	struct aten_tensor *loss = call_bool(c, 2) ? aten_sub(APPLIED("exp", aten_of(x)), aten_mul(y, x), 1)
						   : aten_sub(x, aten_mul(y, logarithm(plus(x, call_float(c, 4)))), 1);
	if (call_bool(c, 3)) { /* Stirling's */
		struct aten_tensor *term =
		    aten_add(aten_sub(aten_mul(y, logarithm(y)), y, 1), times(logarithm(times(y, 2 * M_PI)), 0.5), 1);
		loss = aten_add(loss, aten_masked_fill(term, APPLIED("le.Scalar", aten_of(y), aten_int(1)), aten_number(0)), 1);
	}
	call_give(c, 0, reduced(loss, call_int(c, 5)));
}

/* ---- margins ---- */

static void run_margin_ranking_loss(struct aten_call *c) /* input1, input2, target, margin, reduction */
{
	struct aten_tensor *off = aten_sub(call_tensor(c, 0), call_tensor(c, 1), 1);
	call_give(c, 0, reduced(at_least_0(plus(aten_mul(negated(call_tensor(c, 2)), off), call_float(c, 3))), call_int(c, 4)));
}

static struct aten_tensor *where_target(struct aten_tensor *target, int64_t is, struct aten_tensor *then)
{
	return APPLIED("where.ScalarOther", aten_of(APPLIED("eq.Scalar", aten_of(target), aten_int(is))), aten_of(then), aten_int(0));
}

static struct aten_tensor *unless_target(struct aten_tensor *target, int64_t is, struct aten_tensor *then)
{
	return APPLIED("where.ScalarOther", aten_of(APPLIED("ne.Scalar", aten_of(target), aten_int(is))), aten_of(then), aten_int(0));
}

/* A target that is neither 1 nor -1 takes both, as in torch. */
static void run_hinge_embedding_loss(struct aten_call *c) /* self, target, margin, reduction */
{
	struct aten_tensor *x = call_tensor(c, 0), *target = call_tensor(c, 1);
	struct aten_tensor *far = at_least_0(aten_sub(aten_number(call_float(c, 2)), x, 1));
	call_give(c, 0, reduced(aten_add(unless_target(target, 1, far), unless_target(target, -1, x), 1), call_int(c, 3)));
}

static void run_cosine_embedding_loss(struct aten_call *c) /* input1, input2, target, margin, reduction */
{
	struct aten_tensor *a = call_tensor(c, 0), *b = call_tensor(c, 1), *target = call_tensor(c, 2);
	int64_t dim = target->n_dim;
	struct aten_value by = aten_ints(&dim, 1);
	if (dim > 1 || a->n_dim != dim + 1 || b->n_dim != dim + 1)
		aten_fail("a target with %d dimensions does not match inputs with %d and %d", target->n_dim, a->n_dim, b->n_dim);
	struct aten_tensor *ab = APPLIED("sum.dim_IntList", aten_of(aten_mul(a, b)), by);
	struct aten_tensor *aa = plus(APPLIED("sum.dim_IntList", aten_of(aten_mul(a, a)), by), 1e-12);
	struct aten_tensor *bb = plus(APPLIED("sum.dim_IntList", aten_of(aten_mul(b, b)), by), 1e-12);
	struct aten_tensor *cosine = over(ab, APPLIED("sqrt", aten_of(aten_mul(aa, bb))));
	struct aten_tensor *near = aten_sub(aten_number(1), cosine, 1), *far = at_least_0(plus(cosine, -call_float(c, 3)));
	call_give(c, 0, reduced(aten_add(where_target(target, 1, near), where_target(target, -1, far), 1), call_int(c, 4)));
}

static void run_triplet_margin_loss(struct aten_call *c) /* anchor, positive, negative, margin, p, eps, swap, reduction */
{
	struct aten_value anchor = GIVEN(c, 0), p = GIVEN(c, 4), eps = GIVEN(c, 5);
	struct aten_tensor *near = APPLIED("pairwise_distance", anchor, GIVEN(c, 1), p, eps),
			   *far = APPLIED("pairwise_distance", anchor, GIVEN(c, 2), p, eps);
	if (call_bool(c, 6))
		far = APPLIED("minimum", aten_of(far), aten_of(APPLIED("pairwise_distance", GIVEN(c, 1), GIVEN(c, 2), p, eps)));
	call_give(c, 0, reduced(at_least_0(aten_sub(plus(near, call_float(c, 3)), far, 1)), call_int(c, 7)));
}

/* ---- classes ---- */

static void need_class_weights(const struct aten_tensor *weight, int64_t n_class)
{
	if (weight && (weight->n_dim != 1 || weight->size[0] != n_class))
		aten_fail("weight tensor should be defined either for all %lld classes or no classes", (long long)n_class);
}

/* Scores [N, C, ...] or [C], classes [N, ...]: minus the score of each one's class times its weight. *total is the sum of weights. */
static struct aten_tensor *nll(struct aten_tensor *self, struct aten_tensor *target, const struct aten_tensor *weight, int64_t reduction,
			       int64_t ignored, struct aten_tensor **total)
{
	int dim = self->n_dim == 1 ? 0 : 1;
	int64_t n_class = self->n_dim ? self->size[dim] : 0;
	if (!self->n_dim || target->n_dim != self->n_dim - 1 || (dim && self->size[0] != target->size[0]))
		aten_fail("size mismatch (got input of %d dimensions, target of %d)", self->n_dim, target->n_dim);
	for (int d = 2; d < self->n_dim; d++)
		if (self->size[d] != target->size[d - 1])
			aten_fail("size mismatch at dimension %d", d);
	if (!aten_is_float(self->dtype) || (target->dtype != DTYPE_I64 && target->dtype != DTYPE_U8))
		aten_fail("expected floating scores and int64 classes, got %s and %s", dtype_name(self->dtype), dtype_name(target->dtype));
	need_class_weights(weight, n_class);
	if (weight && weight->dtype != self->dtype)
		aten_fail("expected scalar type %s but found %s", dtype_name(self->dtype), dtype_name(weight->dtype));
	bool whole = reduction == REDUCE_NONE;
	struct aten_tensor *out = aten_new(self->dtype, whole ? target->n_dim : 0, target->size, NULL);
	*total = aten_new(self->dtype, 0, NULL, NULL);
	if (!aten_computes())
		return out;
	double sum = 0, weights = 0;
	int64_t step[ATEN_DIMS], bytes = elem_bytes(self->dtype);
	for (int d = 0; d < target->n_dim; d++)
		step[d] = self->stride[d ? d + 1 : 0] * bytes;
	struct walk w = WALK(target);
	walk_add_steps(&w, aten_data(self), step);
	walk_add(&w, aten_data(out), out);
	for (bool more = walk_first(&w); more; more = walk_next(&w)) {
		int64_t class = elem_i64(target->dtype, w.p[0]);
		double loss = 0;
		if (class != ignored) {
			if (class < 0 || class >= n_class)
				aten_fail("Target %lld is out of bounds.", (long long)class);
			double by = weight ? elem_f64(weight->dtype, (const char *)aten_data(weight) + class * line_step(weight, 0)) : 1;
			loss = -by * elem_f64(self->dtype, w.p[1] + class * self->stride[dim] * bytes);
			weights += by;
		}
		sum += loss;
		if (whole)
			elem_set_f64(out->dtype, w.p[2], loss);
	}
	if (!whole)
		elem_set_f64(out->dtype, aten_data(out), reduction == REDUCE_MEAN ? sum / weights : sum);
	elem_set_f64((*total)->dtype, aten_data(*total), whole && dim ? 0 : weights);
	return out;
}

static void run_nll(struct aten_call *c) /* self, target, weight, reduction, ignore_index: the loss, or it and the sum of weights */
{
	struct aten_tensor *total;
	call_give(c, 0, nll(call_tensor(c, 0), call_tensor(c, 1), call_tensor_or_none(c, 2), call_int(c, 3), call_int(c, 4), &total));
	if (c->schema->n_result > 1)
		call_give(c, 1, total);
}

/* A weight for each class as a factor of scores. */
static struct aten_tensor *weighted(struct aten_tensor *scores, struct aten_tensor *weight, int dim)
{
	int64_t size[ATEN_DIMS];
	for (int d = 0; d < scores->n_dim; d++)
		size[d] = d == dim ? weight->size[0] : 1;
	return aten_mul(scores, aten_reshape(weight, size, scores->n_dim));
}

/* Targets that are probabilities. */
static struct aten_tensor *entropy_of_probabilities(struct aten_tensor *scores, struct aten_tensor *target, struct aten_tensor *weight,
						    int dim, int64_t reduction, double smoothing)
{
	int64_t n_class = scores->size[dim], by = dim;
	need_class_weights(weight, n_class);
	if (smoothing > 0)
		target = plus(times(target, 1 - smoothing), smoothing / (double)n_class);
	struct aten_tensor *each = aten_mul(scores, target);
	each = weight ? weighted(each, weight, dim) : each;
	if (reduction == REDUCE_NONE)
		return negated(APPLIED("sum.dim_IntList", aten_of(each), aten_ints(&by, 1)));
	struct aten_tensor *sum = negated(APPLIED("sum", aten_of(each)));
	return reduction == REDUCE_MEAN ? over(sum, aten_number((double)aten_numel(scores) / (double)n_class)) : sum;
}

static struct aten_tensor *smoothed(struct aten_tensor *scores, struct aten_tensor *target, struct aten_tensor *weight, int dim,
				    int64_t reduction, int64_t ignored, double smoothing)
{
	struct aten_tensor *total, *loss = nll(scores, target, weight, reduction, ignored, &total);
	int64_t by = dim;
	struct aten_tensor *each =
	    negated(APPLIED("sum.dim_IntList", aten_of(weight ? weighted(scores, weight, dim) : scores), aten_ints(&by, 1)));
	struct aten_tensor *out = APPLIED("eq.Scalar", aten_of(target), aten_int(ignored));
	each = aten_masked_fill(each, out, aten_number(0));
	if (reduction != REDUCE_NONE)
		each = APPLIED("sum", aten_of(each));
	if (reduction == REDUCE_MEAN)
		each = over(each, total);
	return aten_add(times(loss, 1 - smoothing), times(each, smoothing / (double)scores->size[dim]), 1);
}

static void run_cross_entropy_loss(struct aten_call *c) /* self, target, weight, reduction, ignore_index, label_smoothing */
{
	struct aten_tensor *self = call_tensor(c, 0), *target = call_tensor(c, 1), *weight = call_tensor_or_none(c, 2), *total;
	int dim = self->n_dim == 1 ? 0 : 1;
	int64_t reduction = call_int(c, 3), ignored = call_int(c, 4);
	double smoothing = call_float(c, 5);
	bool same = self->n_dim == target->n_dim && !memcmp(self->size, target->size, sizeof(*self->size) * (size_t)self->n_dim);
	struct aten_tensor *scores = aten_softmax(self, dim, true);
	if (same && !aten_is_float(target->dtype))
		aten_fail("Expected floating point type for target with class probabilities, got %s", dtype_name(target->dtype));
	call_give(c, 0,
		  same              ? entropy_of_probabilities(scores, target, weight, dim, reduction, smoothing)
		  : smoothing > 0.0 ? smoothed(scores, target, weight, dim, reduction, ignored, smoothing)
				    : nll(scores, target, weight, reduction, ignored, &total));
}

const struct aten_entry aten_loss_entries[] = {
    {"binary_cross_entropy", run_binary_cross_entropy},
    {"binary_cross_entropy_with_logits", run_binary_cross_entropy_with_logits},
    {"cosine_embedding_loss", run_cosine_embedding_loss},
    {"cross_entropy_loss", run_cross_entropy_loss},
    {"hinge_embedding_loss", run_hinge_embedding_loss},
    {"huber_loss", run_pair_loss, &hubers},
    {"kl_div", run_kl_div},
    {"l1_loss", run_l1_loss},
    {"margin_ranking_loss", run_margin_ranking_loss},
    {"mse_loss", run_pair_loss, &mse},
    {"nll_loss", run_nll},
    {"nll_loss2d", run_nll},
    {"nll_loss2d_forward", run_nll},
    {"nll_loss_forward", run_nll},
    {"nll_loss_nd", run_nll},
    {"poisson_nll_loss", run_poisson_nll_loss},
    {"smooth_l1_loss", run_pair_loss, &smooth},
    {"soft_margin_loss", run_soft_margin_loss},
    {"triplet_margin_loss", run_triplet_margin_loss},
    {0},
};
