/* explain.c - a node that turned NaN, as an expression with the numbers of one element. */
#include "aten/firstnan/firstnan.h"
#include "base/text.h"
#include "tensor/stats.h"

#include <math.h>

enum { DEPTH = 3, MOST_TERMS = 1 << 20 };

struct telling {
	const struct firstnan *f;
	bool inf; /* an infinity is explained */
	struct buf *text, *reason;
};

/* "mul" of "aten.mul.Tensor" and of "prims.mul.default". */
static struct slice base_name(const struct graph *g, uint32_t node)
{
	struct slice op = graph_op_text(g, node), name = {0};
	while (op.n) {
		size_t n = 0;
		while (n < op.n && op.p[n] != '.')
			n++;
		const struct slice part = slice_of(op.p, n);
		op = n < op.n ? slice_of(op.p + n + 1, op.n - n - 1) : SLICE("");
		if (slice_is(part, "aten") || slice_is(part, "prims") || slice_is(part, "_operator") || slice_is(part, "inductor"))
			name = SLICE("");
		else if (!name.n)
			name = part;
	}
	return name;
}

static bool is_one_of(struct slice name, const char *const *words)
{
	for (; *words; words++)
		if (slice_is(name, *words))
			return true;
	return false;
}

static const char *const reductions[] = {"sum",     "mean",         "amax",     "amin",      "prod",     "var",
					 "std",     "var_mean",     "std_mean", "logsumexp", "_softmax", "_log_softmax",
					 "softmax", "log_softmax",  "norm",     "max",       "min",      "linalg_vector_norm",
					 "cumsum",  "logcumsumexp", "cumprod",  "nansum",    NULL};
static bool is_reduction(struct slice name) { return is_one_of(name, reductions) || slice_is(name, "prepare_softmax_online"); }

static const char *const products[] = {"mm", "addmm", "bmm", "baddbmm", "matmul", "linear", "mv", "dot", "_scaled_mm", NULL};
static const char *const reshapes[] = {"view",       "reshape",         "_unsafe_view", "unsqueeze", "squeeze",
				       "clone",      "alias",           "detach",       "_to_copy",  "convert_element_type",
				       "contiguous", "lift_fresh_copy", "copy",         "to",        NULL};

/* Does it compute each element from those at the same place? */
static bool is_elementwise(struct slice name)
{
	static const char *const others[] = {"convolution",
					     "native_layer_norm",
					     "native_group_norm",
					     "_native_batch_norm_legit",
					     "_native_batch_norm_legit_functional",
					     "native_batch_norm",
					     "layer_norm",
					     "batch_norm",
					     "group_norm",
					     "embedding",
					     "index",
					     "gather",
					     "index_select",
					     "scatter",
					     "index_put",
					     "index_add",
					     "scatter_add",
					     "scatter_reduce",
					     "cat",
					     "stack",
					     "select",
					     "slice",
					     "permute",
					     "transpose",
					     "t",
					     "sort",
					     "topk",
					     "getitem",
					     "expand",
					     "as_strided",
					     "constant_pad_nd",
					     "avg_pool2d",
					     "max_pool2d",
					     "nll_loss",
					     "nll_loss_forward",
					     "cross_entropy_loss",
					     "cdist",
					     "_cdist_forward",
					     "inverse",
					     "linalg_inv_ex",
					     NULL};
	return name.n && !is_reduction(name) && !is_one_of(name, products) && !is_one_of(name, others) && !slice_has(name, "attention") &&
	       !slice_has(name, "linalg") && !slice_has(name, "backward_data");
}

/* ---- numbers ---- */

static void add_number(struct buf *b, double v)
{
	if (isnan(v))
		buf_adds(b, "nan");
	else if (isinf(v))
		buf_adds(b, v < 0 ? "-inf" : "inf");
	else
		buf_addf(b, "%.6g", v == 0 ? 0.0 : v);
}

static double element(const struct aten_tensor *t, int64_t at)
{
	struct tensor_meta m;
	firstnan_meta(t, &m);
	return tensor_at(&m, aten_data(t), at);
}

static int64_t same_place(const struct aten_tensor *in, const struct aten_tensor *out, int64_t at)
{
	struct tensor_meta a, b;
	firstnan_meta(in, &a);
	firstnan_meta(out, &b);
	return tensor_same_place(&a, &b, at);
}

static void add_place(struct buf *b, const struct aten_tensor *t, int64_t at)
{
	struct tensor_meta m;
	int64_t index[TENSOR_MAX_DIMS];
	firstnan_meta(t, &m);
	tensor_index(&m, at, index);
	buf_addc(b, '[');
	for (int d = 0; d < m.n_dim; d++)
		buf_addf(b, "%s%lld", d ? ", " : "", (long long)index[d]);
	buf_addc(b, ']');
}

/* The first bad element. */
static int64_t first_bad(const struct telling *t, const struct aten_tensor *x)
{
	const int64_t n = aten_numel(x);
	int64_t inf = -1;
	for (int64_t i = 0; i < n; i++) {
		const double v = element(x, i);
		if (isnan(v))
			return i;
		if (inf < 0 && isinf(v))
			inf = i;
	}
	return t->inf ? inf : -1;
}

/* ---- operands ---- */

static const struct gvalue *arg_of(const struct firstnan *f, uint32_t node, uint32_t i)
{
	return i < f->g->node[node].n_args ? &f->g->value[f->g->node[node].args + i] : NULL;
}

static bool literal(const struct firstnan *f, const struct gvalue *v, double *out)
{
	if (v->kind == GV_NODE) {
		const struct aten_value *x = &f->value[v->node - f->first];
		if (x->kind != ATEN_INT && x->kind != ATEN_FLOAT)
			return false;
		*out = x->kind == ATEN_INT ? (double)x->i : x->f;
		return true;
	}
	*out = v->kind == GV_FLOAT ? v->f : (double)v->i;
	return v->kind == GV_FLOAT || v->kind == GV_INT || v->kind == GV_BOOL;
}

static bool ints_of(const struct firstnan *f, const struct gvalue *v, int64_t *out, int *n)
{
	double one;
	*n = 0;
	if (v && v->kind == GV_INT) {
		out[(*n)++] = v->i;
		return true;
	}
	if (!v || (v->kind != GV_LIST && v->kind != GV_TUPLE) || v->n > TENSOR_MAX_DIMS)
		return false;
	for (uint32_t i = 0; i < v->n; i++) {
		if (!literal(f, &f->g->value[v->first + i], &one))
			return false;
		out[(*n)++] = (int64_t)one;
	}
	return true;
}

/* The operand that a view shows, and its element. False: it is not a view of that kind. */
static bool through_view(const struct firstnan *f, uint32_t node, int64_t at, uint32_t *operand, int64_t *place)
{
	const struct slice name = base_name(f->g, node);
	const struct gvalue *of = arg_of(f, node, 0);
	const struct aten_tensor *out = firstnan_tensor(f, node), *in = of && of->kind == GV_NODE ? firstnan_tensor(f, of->node) : NULL;
	int64_t dims[TENSOR_MAX_DIMS], index[TENSOR_MAX_DIMS], to[TENSOR_MAX_DIMS];
	int n;
	if (!in || !out)
		return false;
	*operand = of->node;
	*place = at;
	if (is_one_of(name, reshapes))
		return aten_numel(in) == aten_numel(out);
	if (slice_is(name, "expand"))
		return (*place = same_place(in, out, at)) >= 0;
	if (slice_is(name, "permute") && ints_of(f, arg_of(f, node, 1), dims, &n) && n == in->n_dim) {
		struct tensor_meta m;
		firstnan_meta(out, &m);
		tensor_index(&m, at, index);
		for (int d = 0; d < n; d++)
			to[(dims[d] + n) % n] = index[d];
		*place = 0;
		for (int d = 0; d < n; d++)
			*place = *place * in->size[d] + to[d];
		return true;
	}
	return false;
}

static void add_expression(const struct telling *t, uint32_t node, const struct aten_tensor *out, int64_t at, int depth);

/* Is it worth telling where a number comes from? */
static bool is_telling(double v) { return isinf(v) || isnan(v) || v == 0; }

/* " = value" of an operand, with the expression that gave it if that says something. */
static void add_operand(const struct telling *t, uint32_t node, int64_t at, double v, int depth)
{
	const struct firstnan *f = t->f;
	uint32_t of;
	int64_t place;
	for (int i = 0; i < 16 && f->state[node - f->first] == FIRSTNAN_COMPUTED && through_view(f, node, at, &of, &place); i++) {
		node = of;
		at = place;
	}
	if (depth < DEPTH && is_telling(v) && f->state[node - f->first] == FIRSTNAN_COMPUTED && graph_computes(&f->g->node[node]) &&
	    firstnan_tensor(f, node)) {
		add_expression(t, node, firstnan_tensor(f, node), at, depth + 1);
		buf_adds(t->text, " = ");
	}
	add_number(t->text, v);
}

/* "x: 2 NaN, 1 inf of 64, min 0, max 3" */
static void add_summary(struct buf *b, const struct aten_tensor *x)
{
	struct tensor_stats s;
	struct tensor_meta m;
	firstnan_meta(x, &m);
	tensor_stats(&m, aten_data(x), STATS_ALL, &s);
	buf_addf(b, "%llu number%s", (unsigned long long)s.n, plural(s.n));
	if (!s.known || !s.n)
		return;
	if (s.pos_inf)
		buf_addf(b, ", %llu inf", (unsigned long long)s.pos_inf);
	if (s.neg_inf)
		buf_addf(b, ", %llu -inf", (unsigned long long)s.neg_inf);
	if (isfinite(s.min) && isfinite(s.max)) {
		buf_adds(b, " from ");
		add_number(b, s.min);
		buf_adds(b, " to ");
		add_number(b, s.max);
	}
}

/* ---- sums and products ---- */

struct terms {
	uint64_t n, pos_inf, neg_inf, zero;
	int64_t at_pos, at_neg; /* elements of the operand */
	double min, max;
};

static void take_term(struct terms *s, double v, int64_t at)
{
	s->n++;
	if (v == INFINITY && !s->pos_inf++)
		s->at_pos = at;
	if (v == -INFINITY && !s->neg_inf++)
		s->at_neg = at;
	s->zero += v == 0;
	s->min = s->n == 1 || v < s->min ? v : s->min;
	s->max = s->n == 1 || v > s->max ? v : s->max;
}

/* The numbers that a reduction puts into the element `at` of its result. */
static bool terms_of(const struct firstnan *f, uint32_t node, const struct aten_tensor *in, const struct aten_tensor *out, int64_t at,
		     struct terms *s)
{
	int64_t dims[TENSOR_MAX_DIMS], index[TENSOR_MAX_DIMS], from[TENSOR_MAX_DIMS] = {0};
	bool reduced[TENSOR_MAX_DIMS] = {0}, any = false;
	int n = 0;
	struct tensor_meta m;
	*s = (struct terms){0};
	const struct gvalue *d = arg_of(f, node, slice_has(base_name(f->g, node), "norm") ? 2 : 1);
	if (!d)
		d = graph_kwarg(f->g, node, "dim");
	if (ints_of(f, d, dims, &n))
		for (int i = 0; i < n; i++)
			if (in->n_dim)
				reduced[(dims[i] % in->n_dim + in->n_dim) % in->n_dim] = any = true;
	for (int i = 0; i < in->n_dim && !any; i++)
		reduced[i] = true;
	firstnan_meta(out, &m);
	tensor_index(&m, at, index);
	const bool kept = out->n_dim == in->n_dim;
	int64_t total = 1;
	for (int i = 0, k = 0; i < in->n_dim; i++) {
		if (!reduced[i])
			from[i] = kept ? index[i] : k < out->n_dim ? index[k++] : 0;
		else
			total *= in->size[i];
	}
	for (int64_t i = 0; i < total && i < MOST_TERMS; i++) {
		int64_t rest = i, place = 0;
		int64_t to[TENSOR_MAX_DIMS];
		for (int k = in->n_dim; k-- > 0;) {
			to[k] = reduced[k] ? rest % in->size[k] : from[k];
			rest = reduced[k] ? rest / in->size[k] : rest;
		}
		for (int k = 0; k < in->n_dim; k++)
			place = place * in->size[k] + to[k];
		take_term(s, element(in, place), place);
	}
	return true;
}

static void add_terms(struct buf *b, const struct terms *s, const struct aten_tensor *in)
{
	buf_addf(b, "%llu number%s", (unsigned long long)s->n, plural(s->n));
	if (s->pos_inf)
		buf_addf(b, s->pos_inf == s->n ? ", all inf" : ", %llu inf", (unsigned long long)s->pos_inf);
	if (s->pos_inf && s->pos_inf < s->n && s->n > 1) {
		buf_adds(b, s->pos_inf > 1 ? ", the first at " : " at ");
		add_place(b, in, s->at_pos);
	}
	if (s->neg_inf)
		buf_addf(b, s->neg_inf == s->n ? ", all -inf" : ", %llu -inf", (unsigned long long)s->neg_inf);
	if (s->neg_inf && s->neg_inf < s->n && s->n > 1) {
		buf_adds(b, s->neg_inf > 1 ? ", the first at " : " at ");
		add_place(b, in, s->at_neg);
	}
	if (s->n && !s->pos_inf && !s->neg_inf) {
		buf_adds(b, s->zero == s->n ? ", all " : " from ");
		add_number(b, s->min);
		if (s->zero != s->n) {
			buf_adds(b, " to ");
			add_number(b, s->max);
		}
	}
}

static void reason_of_reduction(struct buf *b, struct slice name, const struct terms *s)
{
	const bool soft = slice_has(name, "softmax");
	if (soft && s->n && s->neg_inf == s->n)
		buf_addf(b, "%ssoftmax of a row that is entirely -inf", slice_has(name, "log") ? "log_" : "");
	else if (soft && s->pos_inf)
		buf_addf(b, "%ssoftmax of a row that holds inf", slice_has(name, "log") ? "log_" : "");
	else if (!s->n)
		buf_addf(b, "%.*s of no elements", SL(name));
	else if (slice_has(name, "var") || slice_has(name, "std"))
		buf_addf(b, s->n == 1 ? "%.*s of one element: 0 / 0" : s->pos_inf || s->neg_inf ? "inf - inf in a %.*s" : "%.*s", SL(name));
	else if (s->pos_inf && s->neg_inf)
		buf_addf(b, "inf - inf in a %.*s", SL(name));
	else if (slice_has(name, "prod") && s->zero && (s->pos_inf || s->neg_inf))
		buf_addf(b, "0 * inf in a %.*s", SL(name));
}

/* a[i, k] and b[k, j] of a product of matrices whose result has the element at. */
static bool explain_product(const struct telling *t, uint32_t node, const struct aten_tensor *out, int64_t at)
{
	const struct firstnan *f = t->f;
	const struct slice name = base_name(f->g, node);
	const bool added = slice_is(name, "addmm") || slice_is(name, "baddbmm");
	const struct gvalue *va = arg_of(f, node, added), *vb = arg_of(f, node, added + 1);
	const struct aten_tensor *a = va && va->kind == GV_NODE ? firstnan_tensor(f, va->node) : NULL;
	const struct aten_tensor *b = vb && vb->kind == GV_NODE ? firstnan_tensor(f, vb->node) : NULL;
	const bool batched = slice_is(name, "bmm") || slice_is(name, "baddbmm");
	if (!a || !b || (!slice_is(name, "mm") && !added && !batched) || a->n_dim != out->n_dim || b->n_dim != out->n_dim || out->n_dim < 2)
		return false;
	const int d = out->n_dim;
	const int64_t cols = out->size[d - 1], rows = out->size[d - 2], k = a->size[d - 1];
	const int64_t j = at % cols, i = at / cols % rows, batch = at / cols / rows;
	uint64_t plus = 0, minus = 0;
	for (int64_t c = 0; c < k && c < MOST_TERMS; c++) {
		const int64_t pa = (batch * rows + i) * k + c, pb = (batch * k + c) * cols + j;
		const double x = element(a, pa), y = element(b, pb), v = a->dtype == DTYPE_F64 ? x * y : (float)(x * y);
		if (isnan(v)) {
			buf_addf(t->text, "%.*s: ", SL(name));
			add_operand(t, va->node, pa, x, 0);
			buf_adds(t->text, " * ");
			add_operand(t, vb->node, pb, y, 0);
			buf_addf(t->text, " = nan, term %lld of %lld", (long long)c, (long long)k);
			buf_adds(t->reason, isinf(x) ? "inf * 0 in a product of matrices" : "0 * inf in a product of matrices");
			return true;
		}
		plus += v == INFINITY;
		minus += v == -INFINITY;
	}
	buf_addf(t->text, "%.*s: of %lld terms, %llu are inf and %llu are -inf", SL(name), (long long)k, (unsigned long long)plus,
		 (unsigned long long)minus);
	buf_adds(t->reason, plus && minus     ? "inf - inf in a product of matrices"
			    : !plus && !minus ? "overflow in a product of matrices"
					      : "");
	return true;
}

/* ---- an element-wise operator ---- */

struct operands {
	double v[4];
	int n;
};

static void reason_of_element(struct buf *b, struct slice name, const struct operands *o)
{
	const double x = o->n > 0 ? o->v[0] : 1, y = o->n > 1 ? o->v[1] : 1;
	if (slice_is(name, "mul") && ((x == 0 && isinf(y)) || (y == 0 && isinf(x)))) {
		buf_adds(b, x == 0 ? "0 * " : x < 0 ? "-inf * 0" : "inf * 0");
		if (x == 0)
			buf_adds(b, y < 0 ? "-inf" : "inf");
	} else if ((slice_is(name, "div") || slice_is(name, "true_divide")) && x == 0 && y == 0) {
		buf_adds(b, "0 / 0");
	} else if (slice_is(name, "addcdiv") && o->n > 2 && y == 0 && o->v[2] == 0) {
		buf_adds(b, "0 / 0");
	} else if (slice_is(name, "addcdiv") && o->n > 2 && isinf(y) && isinf(o->v[2])) {
		buf_adds(b, "inf / inf");
	} else if (slice_is(name, "div") && isinf(x) && isinf(y)) {
		buf_adds(b, "inf / inf");
	} else if ((slice_is(name, "sub") || slice_is(name, "add") || slice_is(name, "rsub")) && isinf(x) && isinf(y)) {
		buf_adds(b, "inf - inf");
	} else if (slice_starts(name, "log") && o->n == 1 && x < 0) {
		buf_addf(b, "%.*s of a negative number", SL(name));
	} else if ((slice_is(name, "sqrt") || slice_is(name, "rsqrt")) && x < 0) {
		buf_adds(b, "square root of a negative number");
	} else if (slice_is(name, "pow") && x < 0) {
		buf_adds(b, "a negative number to a power that is not an integer");
	} else if ((slice_is(name, "fmod") || slice_is(name, "remainder")) && y == 0) {
		buf_adds(b, "a remainder of a division by 0");
	} else if ((slice_is(name, "sin") || slice_is(name, "cos") || slice_is(name, "tan")) && isinf(x)) {
		buf_addf(b, "%.*s of infinity", SL(name));
	} else if (slice_is(name, "asin") || slice_is(name, "acos") || slice_is(name, "acosh") || slice_is(name, "atanh")) {
		buf_addf(b, "%.*s of a number outside of its domain", SL(name));
	}
}

/* "mul(0, log(0) = -inf)"; false: an operand has no element there. */
static bool add_elementwise(const struct telling *t, uint32_t node, const struct aten_tensor *out, int64_t at, int depth,
			    struct operands *o)
{
	const struct firstnan *f = t->f;
	const size_t from = t->text->len;
	*o = (struct operands){.n = 0};
	buf_addf(t->text, "%.*s(", SL(base_name(f->g, node)));
	for (uint32_t i = 0; i < f->g->node[node].n_args; i++) {
		const struct gvalue *a = arg_of(f, node, i);
		const struct aten_tensor *in = a->kind == GV_NODE ? firstnan_tensor(f, a->node) : NULL;
		double v;
		int64_t place = -1;
		if (in && (place = same_place(in, out, at)) >= 0)
			v = element(in, place);
		else if (in || !literal(f, a, &v)) {
			if (!in)
				continue;
			buf_cut(t->text, from);
			return false;
		}
		buf_adds(t->text, o->n ? ", " : "");
		if (in)
			add_operand(t, a->node, place, v, depth);
		else
			add_number(t->text, v);
		if (o->n < 4)
			o->v[o->n++] = v;
	}
	if (!o->n)
		buf_cut(t->text, from);
	else
		buf_addc(t->text, ')');
	return o->n > 0;
}

/* An empty tensor has no data. */
static bool is_empty(const struct firstnan *f, uint32_t node)
{
	const struct aten_value *v = &f->value[node - f->first];
	return f->state[node - f->first] != FIRSTNAN_FAILED && v->kind == ATEN_TENSOR && !aten_numel(v->tensor);
}

/* One node at one element of (one of) its results, without that. */
static void add_expression(const struct telling *t, uint32_t node, const struct aten_tensor *out, int64_t at, int depth)
{
	const struct firstnan *f = t->f;
	const struct slice name = base_name(f->g, node);
	const struct gvalue *first = arg_of(f, node, 0);
	const struct aten_tensor *in = first && first->kind == GV_NODE ? firstnan_tensor(f, first->node) : NULL;
	struct operands o;
	struct terms s;
	if (is_elementwise(name) && out && add_elementwise(t, node, out, at, depth, &o)) {
		if (!depth)
			reason_of_element(t->reason, name, &o);
		return;
	}
	if (!depth && out && is_one_of(name, products) && explain_product(t, node, out, at))
		return;
	if (in && out && is_reduction(name) && terms_of(f, node, in, out, at, &s)) {
		buf_addf(t->text, "%.*s(", SL(name));
		add_terms(t->text, &s, in);
		buf_addc(t->text, ')');
		if (!depth)
			reason_of_reduction(t->reason, name, &s);
		return;
	}
	if (is_reduction(name) && first && first->kind == GV_NODE && is_empty(f, first->node)) {
		buf_addf(t->text, "%.*s(no elements)", SL(name));
		if (!depth)
			buf_addf(t->reason, "%.*s of no elements", SL(name));
		return;
	}
	buf_addf(t->text, "%.*s(", SL(name));
	bool any = false;
	for (uint32_t i = 0; i < f->g->node[node].n_args; i++) {
		const struct gvalue *a = arg_of(f, node, i);
		const struct aten_tensor *x = a->kind == GV_NODE ? firstnan_tensor(f, a->node) : NULL;
		if (!x)
			continue;
		buf_adds(t->text, any ? "; " : "");
		add_summary(t->text, x);
		any = true;
	}
	buf_addc(t->text, ')');
}

static void explain(const struct telling *t, uint32_t node)
{
	const struct firstnan *f = t->f;
	const struct aten_value *v = &f->value[node - f->first];
	const struct aten_tensor *out = firstnan_tensor(f, node);
	int64_t at = out ? first_bad(t, out) : -1;
	/* Of several results, the first that is bad. */
	for (uint32_t i = 0; !out && v->kind == ATEN_LIST && i < v->n && at < 0; i++)
		if (v->item[i].kind == ATEN_TENSOR && v->item[i].tensor->storage && aten_data(v->item[i].tensor) &&
		    (at = first_bad(t, v->item[i].tensor)) >= 0)
			out = v->item[i].tensor;
	add_expression(t, node, out, at < 0 ? 0 : at, 0);
	if (at < 0) {
		buf_adds(t->text, " = nan");
		return;
	}
	buf_adds(t->text, " = ");
	add_number(t->text, element(out, at));
	if (out->n_dim) {
		buf_adds(t->text, " at ");
		add_place(t->text, out, at);
	}
}

void firstnan_explain(const struct firstnan *f, uint32_t node, struct buf *text, struct buf *reason)
{
	explain(&(struct telling){f, f->inf, text, reason}, node);
}

void firstnan_explain_infinity(const struct firstnan *f, uint32_t node, struct buf *text)
{
	struct buf reason = {0};
	explain(&(struct telling){f, true, text, &reason}, node);
	buf_release(&reason);
}

bool firstnan_pole(const struct firstnan *f, uint32_t node)
{
	static const char *const logs[] = {"log", "log2", "log10", "reciprocal", "rsqrt", NULL};
	const struct slice name = base_name(f->g, node);
	const bool divides = slice_is(name, "div") || slice_is(name, "true_divide");
	const bool power = slice_is(name, "pow");
	const struct aten_tensor *out = firstnan_tensor(f, node);
	const struct gvalue *a = arg_of(f, node, divides);
	const struct aten_tensor *in = a && a->kind == GV_NODE ? firstnan_tensor(f, a->node) : NULL;
	const int64_t at = out ? first_bad(&(struct telling){.f = f, .inf = true}, out) : -1;
	double v;
	if (at < 0 || (!divides && !power && !is_one_of(name, logs) && !slice_is(name, "log1p")))
		return false;
	if (in) {
		const int64_t place = same_place(in, out, at);
		v = place < 0 ? 1 : element(in, place);
	} else if (!a || !literal(f, a, &v)) {
		return false;
	}
	return slice_is(name, "log1p") ? v == -1 : v == 0;
}
