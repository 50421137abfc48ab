/* Before step 1 of verify.h: matrix products and convolutions that were computed in less than float32, as torch's settings allow.
 *
 * TF32 keeps 10 bits of each operand's mantissa. cuDNN's convolutions use it unless the program says otherwise
 * (torch.backends.cudnn.allow_tf32), cuBLAS's products after torch.set_float32_matmul_precision("high"). Such a result is off by up to 2^-9
 * of |a| |b| at its place (each operand is rounded or cut off), far beyond float32's rounding, and so is everything computed from it.
 * oneDNN's products on a CPU use bfloat16 after "medium": 2^-7. With allow_fp16_accumulation products of float16 are off by more than their
 * own rounding: 2^-6.
 *
 * Dumps of torch.compile record the settings of each run; a Triton kernel's text has its own ALLOW_TF32, which wins. Without a record the
 * values tell, for TF32 only: a float32 tensor on a GPU that is not the node's value, but within that bound of it everywhere, is taken as
 * the node's value, and what depends on the node is computed again. All else is then compared as strictly as ever. */
#include "aten/verify/verify.h"
#include "base/io/mapfile.h"
#include "graph/graph_forms.h"

#include <math.h>

static const double FLOAT32 = 0x1p-18; /* of |a| |b|: what float32 stays below, however it sums */

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
static enum nearness nearness(const double *got, const double *want, const double *size, int64_t n, double bound, double exact)
{
	enum nearness how = IN_FLOAT32;
	for (int64_t i = 0; i < n; i++) {
		const double off = fabs(got[i] - want[i]);
		if (!(off <= bound * size[i])) /* also NaN */
			return FAR;
		if (off > exact * size[i])
			how = IN_TF32;
	}
	return how;
}

/* Of |a| |b|. */
static const double bound[] = {[REDUCED_TF32] = 0x1p-9, [REDUCED_BF16] = 0x1p-7, [REDUCED_FP16] = 0x1p-6};

/* Is the write this product in less than float32, with its bias or, from an operator, before the bias is added? Then it becomes the node's
 * value. */
static bool take(struct verify *v, uint32_t write, uint32_t node, uint32_t bias, enum verify_reduced how_far)
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
		how = want ? nearness(got, want, size, n->n, bound[how_far], how_far == REDUCED_FP16 ? 0x1p-10 : FLOAT32) : FAR;
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
		v->row[w->call].reduced = how_far;
	}
	return how != FAR;
}

/* So far off that no rounding is it: most pairs of tensors of one size. */
static bool unlike(const struct numbers *b, const struct numbers *n)
{
	return b->class != n->class || b->nan || n->nan || b->inf || n->inf;
}

/* ---- what was allowed? ---- */

enum allowed { ALLOWED_UNKNOWN, ALLOWED, NOT_ALLOWED };

static enum allowed setting(const struct observed *o, const char *name, const char *yes, const char *no)
{
	struct slice rest = o->run ? o->run->precision : SLICE("");
	while (rest.n) {
		const struct slice word = slice_until(rest, " ");
		if (slice_eq(slice_until(word, "="), slice_str(name))) {
			const struct slice value = slice_behind(word, "=");
			return slice_is(value, yes) ? ALLOWED : slice_is(value, no) ? NOT_ALLOWED : ALLOWED_UNKNOWN;
		}
		rest = slice_behind(rest, " ");
	}
	return ALLOWED_UNKNOWN;
}

/* "NAME = async_compile.triton('NAME', ''' ... ALLOW_TF32 : tl.constexpr = True": torch/_inductor/kernel/mm.py. */
static enum allowed by_text(const struct observed_call *c)
{
	struct mapfile f;
	struct err ignored;
	enum allowed a = ALLOWED_UNKNOWN;
	char *path = c->compiled && c->d->text.n ? xstrndup(c->d->text.p, c->d->text.n) : NULL;
	if (path && mapfile_open(&f, path, &ignored) == 0) {
		char *head = xasprintf("async_compile.triton('%.*s'", SL(c->d->name));
		const struct slice value =
		    slice_behind(slice_until(slice_behind(f.bytes, head), "async_compile."), "ALLOW_TF32 : tl.constexpr = ");
		a = slice_starts(value, "True") ? ALLOWED : slice_starts(value, "False") ? NOT_ALLOWED : ALLOWED_UNKNOWN;
		free(head);
		mapfile_close(&f);
	}
	free(path);
	return a;
}

static enum allowed first_known(enum allowed a, enum allowed b) { return a != ALLOWED_UNKNOWN ? a : b; }

static enum allowed tf32_allowed(const struct observed *o, const struct observed_call *c, bool conv)
{
	const enum allowed medium = setting(o, "float32_matmul", "medium", "highest");
	const enum allowed text = by_text(c);
	if (text != ALLOWED_UNKNOWN)
		return text;
	if (conv)
		return first_known(setting(o, "cudnn.conv.fp32", "tf32", "ieee"), setting(o, "cudnn.allow_tf32", "1", "0"));
	return first_known(first_known(setting(o, "cuda.matmul.fp32", "tf32", "ieee"), setting(o, "cuda.matmul.allow_tf32", "1", "0")),
			   first_known(setting(o, "float32_matmul", "high", "highest"), medium));
}

static enum allowed bf16_allowed(const struct observed *o, bool conv)
{
	return first_known(setting(o, conv ? "mkldnn.conv.fp32" : "mkldnn.matmul.fp32", "bf16", "ieee"),
			   conv ? NOT_ALLOWED : setting(o, "float32_matmul", "medium", "highest"));
}

/* REDUCED_NO: not in less than its own type. */
static enum verify_reduced may_be(const struct observed *o, const struct observed_tensor *w, bool conv)
{
	const struct observed_call *c = &o->call[w->call];
	const struct tensor_meta *m = &w->v->meta;
	if (m->dtype == DTYPE_F32 && m->device == DEVICE_CUDA)
		return tf32_allowed(o, c, conv) == NOT_ALLOWED ? REDUCED_NO : REDUCED_TF32;
	if (m->dtype == DTYPE_F32 && m->device == DEVICE_CPU && !c->compiled)
		return bf16_allowed(o, conv) == ALLOWED ? REDUCED_BF16 : REDUCED_NO;
	if (m->dtype == DTYPE_F16 && m->device == DEVICE_CUDA && !c->compiled)
		return setting(o, "fp16_accumulation", "1", "0") == ALLOWED ? REDUCED_FP16 : REDUCED_NO;
	return REDUCED_NO;
}

static bool is_conv(const struct graph *g, uint32_t node) { return slice_find(graph_op_text(g, node), "conv") != NULL; }

void verify_tf32(struct verify *v)
{
	const struct observed *o = v->o;
	for (uint32_t i = o->n_inputs; i < o->n_writes; i++) {
		const struct observed_tensor *w = &o->write[i];
		uint32_t n;
		if (w->call == NONE || !w->x.v || (may_be(o, w, false) == REDUCED_NO && may_be(o, w, true) == REDUCED_NO))
			continue;
		const uint32_t *node = verify_nodes(v, w->x.n, &n);
		for (uint32_t k = 0; k < n; k++) {
			struct numbers *x = reference_numbers(v->ref, node[k]);
			struct layout l;
			int at;
			if (!x || v->taken[node[k]] || !is_product(v->ref->g, v->ref->first + node[k], &at) || unlike(&w->x, x))
				continue;
			const enum verify_reduced how = may_be(o, w, is_conv(v->ref->g, v->ref->first + node[k]));
			if (how == REDUCED_NO)
				continue;
			if (!v->ref->has_wide)
				reference_errors(v->ref); /* float32's own, before any value is taken */
			if (verify_is(v, &w->x, node[k], NULL, &l))
				break;
			const struct gnode *g = &v->ref->g->node[v->ref->first + node[k]];
			if (take(v, i, node[k], at < 0 ? NONE : v->ref->g->value[g->args + (uint32_t)at].node - v->ref->first, how))
				break;
		}
	}
}

bool verify_tf32_known(const struct observed *o)
{
	return setting(o, "cudnn.allow_tf32", "1", "0") != ALLOWED_UNKNOWN ||
	       setting(o, "cuda.matmul.allow_tf32", "1", "0") != ALLOWED_UNKNOWN ||
	       setting(o, "cuda.matmul.fp32", "tf32", "ieee") != ALLOWED_UNKNOWN ||
	       setting(o, "cudnn.conv.fp32", "tf32", "ieee") != ALLOWED_UNKNOWN;
}
