/* Guesses what produced a NaN, by rules over operators and the observed numbers. */
#include "watch/nan.h"

#include <math.h>

/* ---- what was seen ---- */

enum fact {
	NEGATIVE = 1, /* a number below zero was read */
	ZERO = 2,
	INFINITE = 4,
	MINUS_INF = 8,
	LARGE = 16,    /* above 11: its exp overflows float16; for other types see exp_limit */
	OUTSIDE = 32,  /* of -1..1 */
	EMPTY = 64,    /* a tensor without elements */
	MASK = 128,    /* a bool tensor was read */
	TO_HALF = 256, /* float16 is written */
	HUGE_IN = 512, /* a number whose square overflows the written type */
	BEYOND = 1024, /* one that overflows it itself */
	SINGLE = 2048, /* one element where more are needed for a variance */
};

static double largest(int dtype)
{
	return dtype == DTYPE_F16    ? 65504
	       : dtype == DTYPE_BF16 ? 3.3895313892515355e38
	       : dtype == DTYPE_F64  ? 1.7976931348623157e308
				     : 3.4028234663852886e38;
}

static unsigned facts_of_number(double v, int written)
{
	unsigned f = 0;
	f |= v < 0 ? NEGATIVE : 0;
	f |= v == 0 ? ZERO : 0;
	f |= isinf(v) ? INFINITE : 0;
	f |= isinf(v) && v < 0 ? MINUS_INF : 0;
	f |= v > log(largest(written)) ? LARGE : 0;
	f |= fabs(v) > 1 ? OUTSIDE : 0;
	f |= isfinite(v) && fabs(v) > sqrt(largest(written)) ? HUGE_IN : 0;
	f |= isfinite(v) && fabs(v) > largest(written) ? BEYOND : 0;
	return f;
}

static unsigned facts_of_tensor(const struct dump_value *v, int written)
{
	const struct tensor_stats *s = &v->stats;
	unsigned f = v->meta.dtype == DTYPE_BOOL ? MASK : 0;
	int64_t n;
	if (v->meta.n_dim >= 0 && tensor_numel(&v->meta, &n))
		f |= n == 0 ? EMPTY : n == 1 ? SINGLE : 0;
	if (!s->known || v->meta.dtype == DTYPE_BOOL)
		return f;
	if (!isnan(s->min))
		f |= facts_of_number(s->min, written) | facts_of_number(s->max, written);
	f |= s->zero ? ZERO : 0;
	f |= s->pos_inf || s->neg_inf ? INFINITE : 0;
	f |= s->neg_inf ? MINUS_INF : 0;
	return f;
}

/* The facts about everything that was read; *at: about the elements at the bad place. */
static unsigned facts_of(const struct nan_finding *f, unsigned *at)
{
	const struct nan_call *c = &f->call;
	int written = f->bad != NONE ? c->value[f->bad].v.meta.dtype : DTYPE_F32;
	unsigned all = written == DTYPE_F16 ? TO_HALF : 0;
	*at = 0;
	for (uint32_t i = 0; i < c->n_values; i++) {
		const struct nan_value *v = &c->value[i];
		if (!v->v.before)
			continue;
		all |= facts_of_tensor(&v->v, written);
		if (v->has_element && v->v.meta.dtype != DTYPE_BOOL)
			*at |= facts_of_number(v->element, written);
	}
	return all;
}

/* ---- which operators ---- */

/* ATen names of more than one word; others are split at underscores. */
static const char *const long_ops[] = {
    "_adaptive_avg_pool2d",
    "_log_softmax",
    "_low_memory_max_pool_with_offsets",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "_safe_softmax",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_math",
    "_softmax",
    "_to_copy",
    "_unsafe_index",
    "_unsafe_masked_index",
    "_unsafe_view",
    "adaptive_avg_pool2d",
    "as_strided",
    "avg_pool2d",
    "batch_norm",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "constant_pad_nd",
    "embedding_bag",
    "floor_divide",
    "full_like",
    "group_norm",
    "huber_loss",
    "index_add",
    "index_put",
    "index_select",
    "layer_norm",
    "leaky_relu",
    "lift_fresh_copy",
    "linalg_vector_norm",
    "log_sigmoid",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "max_pool2d_with_indices",
    "mse_loss",
    "native_batch_norm",
    "native_dropout",
    "native_group_norm",
    "native_layer_norm",
    "new_full",
    "new_ones",
    "new_zeros",
    "nll_loss_forward",
    "ones_like",
    "pixel_shuffle",
    "rms_norm",
    "scalar_tensor",
    "scaled_dot_product_attention",
    "scatter_add",
    "scatter_reduce",
    "select_scatter",
    "slice_scatter",
    "smooth_l1_loss",
    "std_mean",
    "true_divide",
    "upsample_bilinear2d",
    "upsample_nearest2d",
    "var_mean",
    "zeros_like",
};

static size_t long_op(struct slice s)
{
	size_t best = 0;
	for (size_t i = 0; i < ARRAY_LEN(long_ops); i++) {
		size_t n = strlen(long_ops[i]);
		if (n > best && slice_starts(s, long_ops[i]) && (s.n == n || s.p[n] == '_'))
			best = n;
	}
	return best;
}

static struct slice without_number(struct slice s)
{
	size_t n = s.n;
	while (n && is_digit(s.p[n - 1]))
		n--;
	return n && n < s.n && s.p[n - 1] == '_' ? slice_of(s.p, n - 1) : s;
}

static bool take_text(struct slice *s, const char *head)
{
	if (!slice_starts(*s, head))
		return false;
	*s = slice_of(s->p + strlen(head), s->n - strlen(head));
	return true;
}

size_t nan_ops_of_name(struct slice kernel, struct slice *op, size_t max)
{
	static const char *const heads[] = {"cpp_fused_",        "triton_poi_fused_", "triton_red_fused_", "triton_per_fused_",
					    "triton_tem_fused_", "triton_for_fused_", "mps_fused_"};
	static const char *const ops[] = {"aoti_torch_cpu_", "aoti_torch_cuda_", "aoti_torch_xpu_", "aoti_torch_mps_", "aoti_torch_"};
	struct slice s = kernel;
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (take_text(&s, ops[i])) {
			if (slice_ends(s, "_out"))
				s.n -= 4;
			if (max)
				op[0] = s;
			return 1;
		}
	bool fused = false;
	for (size_t i = 0; i < ARRAY_LEN(heads) && !fused; i++)
		fused = take_text(&s, heads[i]);
	if (!fused)
		return 0;
	s = without_number(s);
	while (s.n) {
		size_t len = long_op(s);
		if (!len) {
			const char *end = memchr(s.p + 1, '_', s.n - 1);
			len = end ? (size_t)(end - s.p) : s.n;
		}
		if (n < max)
			op[n] = slice_of(s.p, len);
		n++;
		s = len < s.n ? slice_of(s.p + len + 1, s.n - len - 1) : SLICE("");
	}
	return n;
}

#define MAX_OPS 128
struct ops {
	struct slice v[MAX_OPS];
	size_t n;
};

static void add_op(struct ops *o, struct slice s)
{
	s = without_number(slice_trim(s));
	take_text(&s, "aten.");
	s = slice_until(s, "."); /* overloads: div.Tensor */
	if (s.n && o->n < MAX_OPS)
		o->v[o->n++] = s;
}

static void add_list(struct ops *o, struct slice text)
{
	for (; text.n; text = slice_behind(text, ","))
		add_op(o, slice_until(text, ","));
}

static void ops_of(const struct nan_finding *f, struct ops *o)
{
	o->n = nan_ops_of_name(f->call.c.name, o->v, MAX_OPS);
	o->n = o->n < MAX_OPS ? o->n : MAX_OPS;
	/* The comment before an extern kernel call also lists everything fused before it: only the last one is the op itself. */
	if (f->call.c.kind == DUMP_KERNEL)
		add_list(o, f->call.c.aten);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		add_op(o, f->node[i]);
}

static bool has_op(const struct ops *o, const char *names)
{
	for (struct slice rest = slice_str(names); rest.n; rest = slice_behind(rest, " "))
		for (size_t i = 0; i < o->n; i++)
			if (slice_eq(o->v[i], slice_until(rest, " ")))
				return true;
	return false;
}

/* ---- rules ---- */

enum { MAKES_NAN = 1, MAKES_INF = 2, MAKES_MINUS_INF = 4, ANY_INF = 6 };

#define MATRIX_OPS \
	"mm addmm bmm baddbmm addbmm linear matmul mv addmv dot convolution mkldnn__convolution_pointwise mkldnn__linear_pointwise " \
	"mkl_linear mkldnn_convolution conv1d conv2d conv3d _mkl_linear cpp_CppMicroGemmFP32Vec"
#define SUM_OPS "add sub sum cumsum mean rsub addcmul addcdiv logcumsumexp scatter_add index_add"
#define NORM_OPS \
	"native_layer_norm layer_norm native_batch_norm batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training " \
	"native_group_norm group_norm rms_norm instance_norm"

/* From specific to general. needs: facts it requires; shows: facts that support it. In the text @ is the type
 * that is written, with its largest number. */
static const struct rule {
	const char *ops; /* any of these; NULL: any */
	unsigned makes, needs, shows;
	const char *text;
} rules[] = {
    {"mean nanmean avg_pool2d var std var_mean std_mean", MAKES_NAN, EMPTY, EMPTY, "the mean of no elements: 0 / 0"},
    {"_softmax softmax _log_softmax log_softmax _safe_softmax", MAKES_NAN, 0, MINUS_INF | MASK,
     "softmax of a row that is all -inf (fully masked)"},
    {"_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_math scaled_dot_product_attention", MAKES_NAN, 0, MINUS_INF | MASK,
     "attention over a fully masked row: softmax of all -inf"},
    {"masked_fill where full full_like scalar_tensor new_full", MAKES_MINUS_INF, 0, MASK,
     "a mask: -inf is filled in on purpose (use --ignore to skip it)"},
    {"log log2 log10", MAKES_NAN, 0, NEGATIVE, "log of a negative number"},
    {"log log2 log10 logsumexp", MAKES_MINUS_INF, 0, ZERO, "log of zero"},
    {"log1p", MAKES_NAN, 0, NEGATIVE, "log1p of a number below -1"},
    {"log1p", MAKES_MINUS_INF, 0, NEGATIVE, "log1p of -1"},
    {"logit", MAKES_NAN, 0, NEGATIVE | OUTSIDE, "logit of a number outside 0..1"},
    {"logit", ANY_INF, 0, ZERO, "logit of 0 or 1"},
    {"acos asin", MAKES_NAN, 0, OUTSIDE, "acos or asin of a number outside -1..1"},
    {"atanh", MAKES_NAN, 0, OUTSIDE, "atanh of a number outside -1..1"},
    {"atanh", ANY_INF, 0, 0, "atanh of 1 or -1"},
    {"acosh", MAKES_NAN, 0, NEGATIVE, "acosh of a number below 1"},
    {"erfinv", MAKES_NAN, 0, OUTSIDE, "erfinv of a number outside -1..1"},
    {"sqrt", MAKES_NAN, 0, NEGATIVE, "square root of a negative number"},
    {"rsqrt", MAKES_NAN, 0, NEGATIVE, "1 / square root of a negative number"},
    {"rsqrt", ANY_INF, 0, ZERO, "1 / square root of zero"},
    {"fmod remainder", MAKES_NAN, 0, ZERO, "remainder of a division by zero"},
    /* Before 0 / 0: zeros are everywhere, infinities are not. */
    {"div true_divide floor_divide", MAKES_NAN, INFINITE, INFINITE, "inf / inf"},
    {"div true_divide floor_divide", MAKES_NAN, 0, ZERO, "0 / 0"},
    {"div true_divide floor_divide reciprocal", ANY_INF, 0, ZERO, "division by zero"},
    {"pow", MAKES_NAN, 0, NEGATIVE, "a negative number raised to a non-integer power"},
    {"pow", ANY_INF, 0, ZERO | HUGE_IN, "zero raised to a negative power, or a power beyond @"},
    {NORM_OPS, MAKES_NAN, 0, NEGATIVE | ZERO, "a variance of zero with eps = 0, or a negative one: 0 / 0 or the root of a negative number"},
    {NORM_OPS, ANY_INF, 0, ZERO, "a variance of zero with eps = 0"},
    {"var std var_mean std_mean", MAKES_NAN, 0, SINGLE, "the variance of a single element: 0 / 0"},
    {"exp exp2 expm1 cosh sinh", ANY_INF, 0, LARGE, "exp of a large number: beyond @"},
    {"exp exp2 expm1 cosh sinh sigmoid", MAKES_NAN, 0, LARGE | MINUS_INF,
     "exp of a large number gives inf (exp of -inf: 0), and 0 * inf, inf - inf and inf / inf are NaN"},
    {"lgamma digamma polygamma", MAKES_NAN | ANY_INF, 0, NEGATIVE | ZERO, "a pole of the gamma function"},
    {"_to_copy to", ANY_INF, 0, BEYOND, "a number beyond @ was converted"},
    {MATRIX_OPS, MAKES_NAN, 0, INFINITE, "infinities in a product of matrices: 0 * inf, or inf - inf"},
    {MATRIX_OPS, MAKES_NAN, 0, HUGE_IN, "products beyond @, summed: inf - inf"},
    {MATRIX_OPS, ANY_INF, 0, HUGE_IN | TO_HALF, "a sum of products beyond @"},
    {"mul square", MAKES_NAN, INFINITE, INFINITE, "0 * inf"},
    {"mul square prod cumprod", ANY_INF, 0, HUGE_IN | TO_HALF, "a product beyond @"},
    {SUM_OPS, MAKES_NAN, INFINITE, INFINITE, "inf - inf"},
    {SUM_OPS, ANY_INF, 0, HUGE_IN | TO_HALF, "a sum beyond @"},
    {NULL, MAKES_NAN, INFINITE, INFINITE, "infinities in its inputs: inf - inf, inf / inf or 0 * inf"},
    {NULL, ANY_INF, TO_HALF, TO_HALF, "a number beyond @"},
    {NULL, MAKES_NAN, TO_HALF, 0, "a number beyond @, then inf - inf, inf / inf or 0 * inf"},
};

static void write_text(struct nan_guess *g, const char *text, int dtype)
{
	const char *at = strchr(text, '@');
	if (at)
		snprintf(g->text, sizeof(g->text), "%.*sthe largest %s (%.6g)%s", (int)(at - text), text,
			 dtype_info(dtype) ? dtype_name(dtype) : "number", largest(dtype), at + 1);
	else
		snprintf(g->text, sizeof(g->text), "%s", text);
}

static size_t guess_by_rules(const struct nan_finding *f, struct nan_guess *guess, size_t max)
{
	const struct nan_value *out = &f->call.value[f->bad];
	const struct tensor_stats *s = &out->v.stats;
	unsigned makes = s->nan ? MAKES_NAN : (s->pos_inf ? MAKES_INF : 0) | (s->neg_inf ? MAKES_MINUS_INF : 0);
	unsigned at, all = facts_of(f, &at);
	struct ops ops;
	size_t n = 0;
	ops_of(f, &ops);
	/* First the rules supported by the elements at the bad place, then by the tensors, then by the operators alone. */
	for (int pass = 2; pass >= 0; pass--)
		for (size_t i = 0; i < ARRAY_LEN(rules) && n < max; i++) {
			const struct rule *r = &rules[i];
			int strength = r->shows & at ? 2 : r->shows & all ? 1 : 0;
			if (strength != pass || !(r->makes & makes) || (r->needs & all) != r->needs || (r->ops && !has_op(&ops, r->ops)))
				continue;
			if (!r->ops && n)
				continue;
			write_text(&guess[n], r->text, out->v.meta.dtype);
			guess[n++].seen = pass > 0;
		}
	return n;
}

/* A package has its weights from a file; those of a torch.compile graph change between its runs. */
static void guess_weight(const struct nan_finding *f, struct slice name, const char *what, char *text, size_t room)
{
	const uint32_t run = f->call.c.run;
	if (!f->call.c.text.n)
		snprintf(text, room, "the weight %.*s was saved as %s", SL(name), what);
	else if (run && run != CALLS_NO_RUN)
		snprintf(
		    text, room,
		    "%.*s was clean in run %u, and became %s after it: in the optimizer's step, or other code outside of compiled graphs",
		    SL(name), run - 1, what);
	else
		snprintf(text, room, "%.*s was %s before the first run of this graph: as it was loaded or initialized", SL(name), what);
}

size_t nan_guess(const struct nan_finding *f, struct nan_guess *guess, size_t max)
{
	const struct nan_value *cause = f->cause != NONE ? &f->call.value[f->cause] : NULL;
	struct slice name = !cause ? SLICE("") : cause->v.path.n ? cause->v.path : cause->v.buffer;
	const char *what = f->what == NAN_INF ? "infinite" : f->what == NAN_RANGE ? "out of range" : "NaN";
	if (!max)
		return 0;
	guess[0] = (struct nan_guess){.seen = true};
	switch (f->kind) {
	case NAN_INPUT:
		snprintf(guess[0].text, sizeof(guess[0].text), "%s%.*s was already %s", slice_starts(name, "the ") ? "" : "the input ",
			 SL(name), what);
		return 1;
	case NAN_CONSTANT: guess_weight(f, name, what, guess[0].text, sizeof(guess[0].text)); return 1;
	case NAN_UNWRITTEN:
		snprintf(guess[0].text, sizeof(guess[0].text), "%.*s is read but was never written: uninitialized memory (torch.empty?)",
			 SL(name));
		return 1;
	case NAN_PASSED:
		snprintf(guess[0].text, sizeof(guess[0].text), "%.*s was already %s; the call that wrote it was not seen", SL(name), what);
		return 1;
	case NAN_CRASHED: return 0;
	case NAN_PRODUCED: break;
	}
	return f->what == NAN_RANGE ? 0 : guess_by_rules(f, guess, max);
}
