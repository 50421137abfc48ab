/* Before step 1 of verify.h: matrix products and convolutions that a GPU computed in TF32.
 *
 * TF32 keeps 10 bits of each operand's mantissa. cuDNN's convolutions use it unless the program says otherwise
 * (torch.backends.cudnn.allow_tf32), cuBLAS's products after torch.set_float32_matmul_precision("high"). Such a result is off by up to 2^-9
 * of |a| |b| at its place (each operand is rounded or cut off), far beyond float32's rounding, and so is everything computed from it.
 * Nothing records what a run used, so the values tell: a float32 tensor on a GPU that is not the node's value, but within that bound of it
 * everywhere, is taken as the node's value, and what depends on the node is computed again. All else is then compared as strictly as
 * ever. */
#include "aten/verify/verify.h"
#include "graph/graph_forms.h"

#include <math.h>

static const double BOUND = 0x1p-9, FLOAT32 = 0x1p-18; /* of |a| |b|: TF32; what float32 stays below, however it sums */

/* The place of the bias among the arguments; -1: none. False: not a product. */
static bool is_product(const struct graph *g, uint32_t node, int *bias)
{
	static const struct {
		const char *name;
		int bias;
	} ops[] = {{"mm", -1},     {"bmm", -1},   {"matmul", -1}, {"addmm", 0},        {"baddbmm", 0},
		   {"linear", 2},  {"conv1d", 2}, {"conv2d", 2},  {"conv3d", 2},       {"convolution", 2},
		   {"einsum", -1}, {"addmv", 0},  {"mv", -1},     {"_convolution", 2}, {"conv_transpose2d", 2}};
	const struct slice op = slice_until(slice_behind(graph_op_text(g, node), "aten."), ".");
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (slice_is(op, ops[i].name)) {
			const struct gnode *n = &g->node[node];
			const bool has = ops[i].bias >= 0 && (uint32_t)ops[i].bias < n->n_args &&
					 g->value[n->args + (uint32_t)ops[i].bias].kind == GV_NODE;
			*bias = has ? ops[i].bias : -1;
			return true;
		}
	return false;
}

/* An evaluation of one node in float64 from operands that are changed first. */
struct product {
	struct verify *v;
	uint32_t node, bias; /* bias: a node; NONE */
	bool absolute, without;
	struct aten_value *value; /* by node; operands' and the result's own */
	bool failed;
};

static bool take_operand(void *user, uint32_t operand)
{
	struct product *p = user;
	struct reference *ref = p->v->ref;
	const uint32_t i = operand - ref->first;
	const struct numbers *x = reference_numbers(ref, i);
	if (p->value[i].kind != ATEN_NONE)
		return true;
	if (!x || x->class != NUMBERS_FLOAT) { /* sizes, strides: as they are */
		p->failed |= x != NULL;
		p->value[i] = ref->v[i];
		return !p->failed;
	}
	double *own = xcalloc((size_t)x->n + 1, sizeof(*own));
	for (int64_t k = 0; k < x->n; k++)
		own[k] = p->without && i == p->bias ? 0 : p->absolute ? fabs(x->v[k]) : x->v[k];
	const struct aten_tensor *like = ref->v[i].tensor;
	ATEN_TRY("operand")
	{
		int64_t stride[ATEN_DIMS];
		aten_contiguous_strides(like->n_dim, like->size, stride);
		struct aten_tensor *t = aten_like(like, DTYPE_F64);
		aten_copy(t, aten_of_blob(own, DTYPE_F64, like->n_dim, like->size, stride, 0));
		p->value[i] = aten_of(aten_keep(t));
	}
	p->failed |= ATEN_END;
	free(own);
	return !p->failed;
}

/* Its elements; NULL: could not be computed. */
static double *compute(struct verify *v, uint32_t node, uint32_t bias, bool absolute, bool without)
{
	struct reference *ref = v->ref;
	struct product p = {v, node, bias, absolute, without, xcalloc(ref->n + 1, sizeof(*p.value)), false};
	struct numbers x = {0};
	struct err ignored;
	double *out = NULL;
	reference_wide(ref);
	graph_operands(ref->g, ref->first + node, take_operand, &p);
	if (!p.failed && interp_eval(ref->run_wide, ref->first + node, p.value, &ignored) == 0 && p.value[node].kind == ATEN_TENSOR &&
	    numbers_of(&x, p.value[node].tensor, &ignored) == 0 && x.class == NUMBERS_FLOAT) {
		out = x.v;
		x.v = NULL;
	}
	numbers_release(&x);
	for (uint32_t i = 0; i <= node; i++)
		if (p.value[i].kind == ATEN_TENSOR && p.value[i].tensor != (ref->v[i].kind == ATEN_TENSOR ? ref->v[i].tensor : NULL))
			aten_value_release(&p.value[i]);
	free(p.value);
	return out;
}

enum nearness { FAR, IN_TF32, IN_FLOAT32 };
static enum nearness nearness(const double *got, const double *want, const double *size, int64_t n)
{
	enum nearness how = IN_FLOAT32;
	for (int64_t i = 0; i < n; i++) {
		const double off = fabs(got[i] - want[i]);
		if (!(off <= BOUND * size[i])) /* also NaN */
			return FAR;
		if (off > FLOAT32 * size[i])
			how = IN_TF32;
	}
	return how;
}

/* Is the write this product in TF32, with its bias or, from an operator, before the bias is added? Then it becomes the node's value. */
static bool take(struct verify *v, uint32_t write, uint32_t node, uint32_t bias)
{
	const struct observed_tensor *w = &v->o->write[write];
	const struct numbers *n = reference_numbers(v->ref, node);
	double *size = compute(v, node, bias, true, true), *got = xcalloc((size_t)n->n + 1, sizeof(*got));
	enum nearness how = FAR;
	struct layout l;
	numbers_nearest(&w->x, n, &l);
	numbers_lay(&w->x, n, &l, got);
	for (int without = 0; size && how == FAR && without <= (bias != NONE && !v->o->call[w->call].compiled); without++) {
		double *want = compute(v, node, bias, false, without);
		how = want ? nearness(got, want, size, n->n) : FAR;
		for (int64_t i = 0; how == IN_TF32 && without && i < n->n; i++)
			got[i] = n->v[i] + (got[i] - want[i]);
		free(want);
	}
	struct err ignored;
	struct aten_tensor *t = how == IN_TF32 ? reference_tensor(v->ref, node, got, &ignored) : NULL;
	free(size);
	free(got);
	if (t) {
		struct what_if what;
		what_if_begin(&what, v->ref, node, t);
		what_if_keep(&what);
		v->taken[node] = true;
		v->row[w->call].tf32 = true;
	}
	return how != FAR;
}

/* So far off that no rounding is it: most pairs of tensors of one size. */
static bool unlike(const struct numbers *b, const struct numbers *n)
{
	return b->class != n->class || b->nan || n->nan || b->inf || n->inf;
}

void verify_tf32(struct verify *v)
{
	const struct observed *o = v->o;
	for (uint32_t i = o->n_inputs; i < o->n_writes; i++) {
		const struct observed_tensor *w = &o->write[i];
		const struct tensor_meta *meta = &w->v->meta;
		uint32_t n;
		if (w->call == NONE || !w->x.v || meta->device != DEVICE_CUDA || meta->dtype != DTYPE_F32)
			continue;
		const uint32_t *node = verify_nodes(v, w->x.n, &n);
		for (uint32_t k = 0; k < n; k++) {
			struct numbers *x = reference_numbers(v->ref, node[k]);
			struct layout l;
			int at;
			if (!x || v->taken[node[k]] || !is_product(v->ref->g, v->ref->first + node[k], &at) || unlike(&w->x, x))
				continue;
			if (!v->ref->has_wide)
				reference_errors(v->ref); /* float32's own, before any value is taken */
			if (verify_is(v, &w->x, node[k], NULL, &l))
				break;
			const struct gnode *g = &v->ref->g->node[v->ref->first + node[k]];
			if (take(v, i, node[k], at < 0 ? NONE : v->ref->g->value[g->args + (uint32_t)at].node - v->ref->first))
				break;
		}
	}
}
