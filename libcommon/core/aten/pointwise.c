/* The engine of pointwise.h: dtypes, the result's layout, rows. */
#include "pointwise.h"

#include "elem.h"

static const int class_dtype[PW_CLASSES] = {DTYPE_I64, DTYPE_F32, DTYPE_F64, DTYPE_C128};

static enum pointwise_class class_of(int dtype)
{
	if (elem_integral(dtype))
		return PW_I64;
	if (elem_complex(dtype) || dtype == DTYPE_C32)
		return PW_C128;
	if (dtype == DTYPE_F64)
		return PW_F64;
	if (dtype != DTYPE_F32 && dtype != DTYPE_F16 && dtype != DTYPE_BF16)
		aten_fail("not implemented for %s", dtype_name(dtype));
	return PW_F32;
}

/* ---- walking ---- */

enum { SIDES = PW_OPERANDS + 1 }; /* the result is the first */

/* Dims, outermost first, in the result's memory order; dims contiguous in all operands are merged. Steps in bytes. */
struct rows {
	int n_dim, n_side;
	int64_t size[ATEN_DIMS], step[SIDES][ATEN_DIMS];
};

static void rows_add(struct rows *r, int64_t size, const int64_t *step)
{
	int at = r->n_dim - 1;
	bool joins = at >= 0;
	if (size == 1)
		return;
	for (int s = 0; s < r->n_side && joins; s++)
		joins = r->step[s][at] == step[s] * size;
	if (joins)
		r->size[at] *= size;
	else
		r->size[at = r->n_dim++] = size;
	for (int s = 0; s < r->n_side; s++)
		r->step[s][at] = step[s];
}

static void rows_make(struct rows *r, const struct aten_tensor *out, struct aten_tensor *const *in, int n)
{
	int order[ATEN_DIMS];
	for (int i = 0; i < out->n_dim; i++) {
		int at = i;
		for (; at && out->stride[order[at - 1]] < out->stride[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	r->n_dim = 0;
	r->n_side = n + 1;
	for (int k = 0; k < out->n_dim; k++) {
		int64_t step[SIDES];
		step[0] = out->stride[order[k]] * elem_bytes(out->dtype);
		for (int s = 0; s < n; s++) {
			int d = order[k] - (out->n_dim - in[s]->n_dim);
			step[s + 1] = d < 0 || in[s]->size[d] == 1 ? 0 : in[s]->stride[d] * elem_bytes(in[s]->dtype);
		}
		rows_add(r, out->size[order[k]], step);
	}
}

/* How an operand is converted for the loop. */
struct side {
	int dtype, by, to; /* by: rounded to it first, or NONE */
	char *at, *row;    /* row: as converted; NULL: in place */
	char *between;
	int64_t step;
	bool turned; /* uint64: the top bit is flipped for the loop, which treats them as signed */
};

static void turn_row(const struct side *s, int64_t n)
{
	for (int64_t i = 0; s->turned && i < n; i++)
		((uint64_t *)(void *)s->row)[i] ^= UINT64_C(1) << 63;
}

static void *side_row(const struct side *s, int64_t from, int64_t n)
{
	const char *p = s->at + from * s->step;
	int64_t m = s->step ? n : 1; /* broadcast: one is converted and copied */
	int bytes = elem_bytes(s->to);
	if (!s->row)
		return (void *)(uintptr_t)p;
	if (s->by == DTYPE_NONE) {
		aten_convert(s->to, s->row, bytes, s->dtype, p, s->step, m);
	} else {
		aten_convert(s->by, s->between, elem_bytes(s->by), s->dtype, p, s->step, m);
		aten_convert(s->to, s->row, bytes, s->by, s->between, elem_bytes(s->by), m);
	}
	if (m < n)
		aten_convert(s->to, s->row + bytes, bytes, s->to, s->row, 0, n - 1);
	turn_row(s, n);
	return s->row;
}

static void run_row(pointwise_loop *loop, struct side *side, int n_side, int64_t n, const struct pointwise_numbers *k)
{
	struct side *out = &side[0];
	for (int64_t i = 0; i < n; i += PW_CHUNK) {
		const void *in[PW_OPERANDS] = {NULL};
		int64_t m = n - i < PW_CHUNK ? n - i : PW_CHUNK;
		for (int s = 1; s < n_side; s++)
			in[s - 1] = side_row(&side[s], i, m);
		char *to = out->at + i * out->step;
		loop(m, out->row ? out->row : to, in, k);
		turn_row(out, out->row ? m : 0);
		if (out->row)
			aten_convert(out->dtype, to, out->step, out->to, out->row, elem_bytes(out->to), m);
	}
}

static void run_rows(const struct rows *r, pointwise_loop *loop, struct side *side, const struct pointwise_numbers *k)
{
	int64_t pos[ATEN_DIMS] = {0}, inner = r->n_dim ? r->size[r->n_dim - 1] : 1;
	for (;;) {
		run_row(loop, side, r->n_side, inner, k);
		int i = r->n_dim - 2;
		for (; i >= 0; i--) {
			bool more = ++pos[i] < r->size[i];
			for (int s = 0; s < r->n_side; s++)
				side[s].at += more ? r->step[s][i] : r->step[s][i] * (1 - r->size[i]);
			if (more)
				break;
			pos[i] = 0;
		}
		if (i < 0)
			return;
	}
}

static char *row_memory(void) { return aten_scratch(PW_CHUNK, sizeof(double complex)); }

/* Integers are truncated, too: gcd(uint8, -12) is that of 244. */
static int rounded_by(const struct pointwise *op, const struct aten_tensor *t, int common, int to)
{
	if (t->dtype == common || common == to || (op->exact_numbers && !t->n_dim && !elem_integral(common)))
		return DTYPE_NONE;
	return common;
}

static void compute(const struct pointwise *op, enum pointwise_class class, int common, struct aten_tensor *out,
		    struct aten_tensor *const *in, int n, const struct pointwise_numbers *k)
{
	static const struct pointwise_numbers none;
	struct rows r;
	struct side side[SIDES];
	int to = op->result == PW_BOOL                       ? DTYPE_BOOL
		 : op->result == PW_REAL && class == PW_C128 ? DTYPE_F64
		 : op->result == PW_COMPLEX                  ? DTYPE_C128
							     : class_dtype[class];
	rows_make(&r, out, in, n);
	for (int s = 0; s <= n; s++) {
		const struct aten_tensor *t = s ? in[s - 1] : out;
		int want = s == 0 ? to : s <= op->skip ? DTYPE_BOOL : class_dtype[class];
		side[s] = (struct side){.dtype = t->dtype, .by = DTYPE_NONE, .to = want, .at = aten_data(t)};
		side[s].step = r.n_dim ? r.step[s][r.n_dim - 1] : 0;
		if (s > op->skip)
			side[s].by = rounded_by(op, t, common, want);
		side[s].turned = op->orders && common == DTYPE_U64 && want == DTYPE_I64 && s != 0;
		if (!s)
			side[s].turned = op->orders && common == DTYPE_U64 && op->result == PW_SAME;
		if (side[s].turned || t->dtype != want || (side[s].step != elem_bytes(want) && r.n_dim))
			side[s].row = row_memory();
		if (side[s].by != DTYPE_NONE)
			side[s].between = row_memory();
	}
	run_rows(&r, op->loop[class], side, k ? k : &none);
}

/* ---- dtypes and layout ---- */

static int result_dtype(const struct pointwise *op, int common)
{
	switch (op->result) {
	case PW_BOOL: return DTYPE_BOOL;
	case PW_REAL: return aten_real_of(common);
	case PW_COMPLEX: return aten_complex_of(common);
	default: return common;
	}
}

/* Operands of another dtype are converted before strides are considered: the copies are dense. */
static struct aten_tensor *layout_of(struct aten_tensor *t, int common)
{
	if (t->dtype == common || !t->n_dim || aten_is_dense(t))
		return t;
	struct aten_tensor *like = aten_like(t, t->dtype);
	return like;
}

struct aten_tensor *aten_pointwise_as(const struct pointwise *op, int common, struct aten_tensor *const *in, int n,
				      const struct pointwise_numbers *k)
{
	const struct aten_tensor *layout[PW_OPERANDS];
	struct aten_tensor *out;
	enum pointwise_class class = class_of(common);
	if (!op->loop[class] || (op->no_bool && common == DTYPE_BOOL))
		aten_fail("\"%s\" not implemented for %s", op->name, dtype_name(common));
	for (int i = 0; i < n; i++)
		layout[i] = i < op->skip ? in[i] : layout_of(in[i], common);
	if (op->keeps_strides)
		out = aten_new(result_dtype(op, common), in[0]->n_dim, in[0]->size, in[0]->stride);
	else
		out = aten_elementwise(result_dtype(op, common), layout, n);
	if (aten_computes() && aten_numel(out))
		compute(op, class, common, out, in, n, k);
	return out;
}

struct aten_tensor *aten_pointwise(const struct pointwise *op, struct aten_tensor *const *in, int n, const struct pointwise_numbers *k)
{
	int common = aten_result_type_of((const struct aten_tensor *const *)in + op->skip, n - op->skip);
	if (op->to_float && elem_integral(common))
		common = aten_default_dtype();
	return aten_pointwise_as(op, common, in, n, k);
}

/* ---- by name ---- */

void pointwise_number(struct pointwise_numbers *k, int at, const struct aten_value *v)
{
	double f = v->kind == ATEN_FLOAT ? v->f : v->kind == ATEN_COMPLEX ? creal(v->z) : (double)v->i;
	k->f[at] = f;
	k->i[at] = v->kind == ATEN_FLOAT || v->kind == ATEN_COMPLEX ? elem_to_i64(f) : v->i;
	k->z[at] = v->kind == ATEN_COMPLEX ? v->z : f;
}

void run_pointwise1(struct aten_call *c)
{
	struct aten_tensor *in[] = {call_tensor(c, 0)};
	call_give(c, 0, aten_pointwise(c->entry->data, in, 1, NULL));
}

void run_pointwise2(struct aten_call *c)
{
	struct aten_tensor *in[] = {call_operand(c, 0), call_operand(c, 1)};
	call_give(c, 0, aten_pointwise(c->entry->data, in, 2, NULL));
}
