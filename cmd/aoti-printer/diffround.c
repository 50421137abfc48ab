/* diffround.c - two builds of one model in two floating-point types, say float32 and bfloat16: every tensor differs, by rounding. What a
 * call writes may have the error of what it reads (measured between the two dumps, so that nothing accumulates unseen), times GAIN, plus
 * what torch.testing allows for the coarser type, once (tensor/close.h). Anything beyond that is not explained by the types.
 *
 * Errors are root mean squares: of the difference, divided by that of the expected values. A kernel that subtracts makes small numbers out
 * of large ones, and a norm removes a mean, so there the error counts absolutely or relative to the spread; exp turns an absolute error
 * into a relative one. A single element may be off by PEAK times as much. The consequences of a number rounded to the other side of a
 * threshold (an index, a comparison) have no bound: they are accepted.
 *
 * The same for a CPU and a GPU: sums have another order, and a GPU may compute matrix products and convolutions of float32 in TF32. */
#include "diff.h"

#include <math.h>

enum { GAIN = 2, PEAK = 8 };
static const double TF32 = 0x1p-10, ROUGH = 16 * 0x1p-10;

struct error {
	double relative, absolute, greatest; /* errors of what a call reads */
	double elements;
	bool free; /* integers that differ, or numbers missing on one side: no bound */
};

static bool is_float(int dtype)
{
	double rtol, atol;
	close_tolerance(dtype, dtype, &rtol, &atol);
	return rtol > 0 || (dtype >= DTYPE_F8E5M2 && dtype <= DTYPE_F8E4M3FNUZ);
}

/* The largest error of one rounding step. */
static double step_of(int dtype)
{
	double rtol, atol;
	close_tolerance(dtype, dtype, &rtol, &atol);
	return rtol > 0 || !is_float(dtype) ? rtol : dtype == DTYPE_F8E5M2 || dtype == DTYPE_F8E5M2FNUZ ? 0.25 : 0.125;
}

static int commonest(const struct dump *d)
{
	uint64_t n[DTYPE_BC32 + 1] = {0};
	int best = DTYPE_NONE;
	for (size_t i = 0; i < d->n; i++)
		for (uint32_t k = 0; k < d->call[i].n_values; k++) {
			int dtype = d->call[i].value[k].meta.dtype;
			if (dtype >= 0 && (size_t)dtype < ARRAY_LEN(n) && is_float(dtype))
				n[dtype]++;
		}
	for (size_t i = 0; i < ARRAY_LEN(n); i++)
		if (n[i] && (best == DTYPE_NONE || n[i] > n[best]))
			best = (int)i;
	return best;
}

bool diff_two_types(struct diff *d)
{
	for (int side = 0; side < 2; side++)
		d->type[side] = commonest(side ? &d->b : &d->a);
	return d->type[0] != DTYPE_NONE && d->type[1] != DTYPE_NONE && d->type[0] != d->type[1];
}

static bool has_word(struct slice name, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (slice_find(name, words[i]))
			return true;
	return false;
}

static bool on_gpu(const struct dump_call *c) { return c->n_values && c->value[0].meta.device == DEVICE_CUDA; }

bool diff_two_devices(const struct diff *d)
{
	bool gpu[2] = {false, false}, cpu[2] = {false, false};
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < (side ? &d->b : &d->a)->n; i++) {
			const struct dump_call *c = &(side ? &d->b : &d->a)->call[i];
			*(on_gpu(c) ? &gpu[side] : &cpu[side]) |= c->n_values > 0;
		}
	return (gpu[0] && !gpu[1] && cpu[1]) || (gpu[1] && !gpu[0] && cpu[0]);
}

/* Of a product that may have been computed in TF32, which keeps 10 bits; else 0. */
static double tf32_step(const struct dump_call *c)
{
	static const char *const products[] = {"mm", "conv", "linear", "matmul", "einsum"};
	return c && on_gpu(c) && c->value[0].meta.dtype == DTYPE_F32 && has_word(c->name, products, ARRAY_LEN(products)) ? TF32 : 0;
}

bool diff_is_product(const struct diff_row *r) { return tf32_step(r->a) > 0 || tf32_step(r->b) > 0; }

/* The coarsest type that either call touches. */
static double step_of_row(const struct diff *d, const struct diff_row *r)
{
	double step = d->two_devices ? fmax(tf32_step(r->a), tf32_step(r->b)) : 0;
	for (int side = 0; side < 2; side++) {
		const struct dump_call *c = side ? r->b : r->a;
		for (uint32_t i = 0; i < c->n_values; i++)
			step = fmax(step, step_of(c->value[i].meta.dtype));
	}
	return step;
}

static bool measured(const struct diff_value *v)
{
	return v->a && v->b && v->what != DIFF_UNSAVED && v->what != DIFF_OTHER && !v->close.sizes_differ && v->close.n;
}

static bool floats(const struct diff_value *v) { return is_float(v->a->meta.dtype) && is_float(v->b->meta.dtype); }

static double absolute(const struct tensor_close *c) { return c->scale > 0 ? c->rms * c->scale : c->max_abs; }

/* For a kernel compared with a node: does it read something that matches no node's result? */
static bool reads_more(const struct diff *d, const struct diff_row *r)
{
	const struct dump_call *c = diff_is_nodes(r->a) ? r->b : r->a;
	int32_t n = 0;
	for (uint32_t i = 0; r->nodes && i < c->n_values; i++)
		n += c->value[i].before && c->value[i].role != CALL_ROLE_CONSTANT;
	for (size_t k = r->value; k < r->value + r->n_values; k++)
		n -= diff_any(&d->value[k])->before && measured(&d->value[k]);
	return n > 0;
}

/* The error of what the row reads, as far as saved; for the rest, the largest error of its run so far. */
static struct error read_error(const struct diff *d, const struct diff_row *r, double so_far)
{
	static const char *const centred[] = {"norm", "var", "std", "softmax"}, *const exps[] = {"softmax", "exp", "attention", "pow"};
	struct slice name = r->a->name;
	const bool spread = has_word(name, centred, ARRAY_LEN(centred)), exps_of = has_word(name, exps, ARRAY_LEN(exps));
	struct error e = {0};
	bool any = false;
	for (size_t k = r->value; k < r->value + r->n_values; k++) {
		const struct diff_value *v = &d->value[k];
		const struct tensor_close *c = &v->close;
		if (!diff_any(v)->before || !measured(v))
			continue;
		if (!floats(v)) {
			e.free |= c->bad != 0;
			continue;
		}
		e.free |= c->not_finite != 0;
		double far = absolute(c), by = c->rms;
		if (spread && c->spread < c->scale)
			by = c->spread > 0 ? far / c->spread : by;
		if (exps_of)
			by = fmax(by, fmax(far, c->rms * c->scale * c->scale)); /* logits are products of two inexact factors */
		e.relative = fmax(e.relative, by);
		if (v->a->role == CALL_ROLE_CONSTANT)
			continue;
		any = true;
		e.absolute = fmax(e.absolute, far);
		e.greatest = fmax(e.greatest, c->max_abs);
		e.elements = fmax(e.elements, (double)c->n);
	}
	if (!any || r->a->kind == DUMP_RUN || reads_more(d, r))
		e.relative = fmax(e.relative, so_far);
	e.free |= isinf(e.relative);
	return e;
}

/* Is v within this tolerance of the first? Compares its elements again. */
static int judge_value(struct diff *d, struct diff_value *v, double relative, double absolute_, double greatest, struct err *err)
{
	struct tensor_close c = v->close;
	double far = absolute(&c), limit = fmax(relative * c.scale, absolute_);
	struct close_options how = {.given = true, .any_dtype = true, .rtol = relative, .atol = fmax(PEAK * limit, greatest)};
	if (diff_compare(d, v, how, err) < 0)
		return -1;
	v->allowed = c.scale > 0 ? limit / c.scale : relative;
	if (far > 0) /* no single one may be far off, but all of them are */
		v->close.worst = fmax(v->close.worst, limit > 0 ? far / limit : INFINITY);
	v->what = v->close.bad || far > limit ? DIFF_VALUES : DIFF_SAME;
	return 0;
}

static void let_pass(struct diff_value *v)
{
	v->what = DIFF_SAME;
	v->close.bad = 0;
	v->close.worst = 0;
}

/* Did a call on both sides write it earlier in this run? Then it was compared. */
static bool known_buffer(const struct diff *d, size_t from, size_t row, const struct diff_value *v)
{
	for (size_t i = row; i-- > from;)
		for (size_t k = d->row[i].value; d->row[i].a && d->row[i].b && k < d->row[i].value + d->row[i].n_values; k++)
			if (dump_written(diff_any(&d->value[k])) && measured(&d->value[k]) && slice_eq(d->value[k].a->buffer, v->a->buffer))
				return true;
	return false;
}

static bool given(const struct dump_value *v) { return v->role == CALL_ROLE_MODEL_INPUT || v->role == CALL_ROLE_CONSTANT; }

/* A weight may only have been rounded; the result of a one-sided call may be as far off as others. */
static int judge_read(struct diff *d, size_t from, size_t row, struct diff_value *v, double step, double so_far, struct err *err)
{
	if (given(v->a))
		return floats(v) ? judge_value(d, v, step, 0, 0, err) : 0;
	if (!floats(v) || isinf(so_far) || known_buffer(d, from, row, v)) {
		let_pass(v);
		return 0;
	}
	return judge_value(d, v, GAIN * so_far + step, 0, 0, err);
}

static int judge_written(struct diff *d, const struct diff_row *r, struct diff_value *v, const struct error *e, double step,
			 struct err *err)
{
	double absolute_ = 0, greatest = 0;
	if (!d->two_types && !d->nodes && e->relative > ROUGH) /* what it reads is wrong, and so is this */
		return 0;
	if (e->free || (!floats(v) && e->relative > 0))
		let_pass(v);
	if (e->free || !floats(v))
		return 0;
	if (r->a->kind == DUMP_KERNEL) {
		double many = e->elements > (double)v->close.n ? sqrt(e->elements / (double)v->close.n) : 1; /* their sum */
		absolute_ = GAIN * e->absolute * many;
		greatest = PEAK * GAIN * e->greatest * many;
	}
	return judge_value(d, v, GAIN * e->relative + step, absolute_, greatest, err);
}

static int judge_row(struct diff *d, size_t from, size_t row, double *so_far, struct err *err)
{
	const struct diff_row *r = &d->row[row];
	const double step = step_of_row(d, r), before = *so_far;
	for (int written = 0; written < 2; written++) {
		const struct error e = read_error(d, r, before);
		for (size_t k = r->value; k < r->value + r->n_values; k++) {
			struct diff_value *v = &d->value[k];
			if (!measured(v) || (diff_any(v)->before || given(diff_any(v))) == written)
				continue;
			if ((written ? judge_written(d, r, v, &e, step, err) : judge_read(d, from, row, v, step, before, err)) < 0)
				return -1;
			if (!given(v->a))
				*so_far = fmax(*so_far, v->close.not_finite ? INFINITY : v->close.rms);
		}
	}
	return 0;
}

int diff_judge_rounding(struct diff *d, struct err *err)
{
	for (size_t i = 0, n; i < d->n_rows; i += n) {
		double so_far = 0;
		n = diff_run_rows(d, i);
		/* A product that has no partner (another's bias is added elsewhere) is compared by what reads it. */
		for (size_t k = i; d->two_devices && k < i + n; k++)
			if (!d->row[k].a || !d->row[k].b || d->row[k].parted)
				so_far = fmax(so_far, fmax(tf32_step(d->row[k].a), tf32_step(d->row[k].b)));
		/* A run's outputs follow from its calls. */
		for (int runs = 0; runs < 2; runs++)
			for (size_t k = i; k < i + n; k++)
				if (d->row[k].a && d->row[k].b && (d->row[k].a->kind == DUMP_RUN) == runs &&
				    judge_row(d, i, k, &so_far, err) < 0)
					return -1;
	}
	return 0;
}
