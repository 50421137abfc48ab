#include "model/check/check_part.h"
#include "base/text.h"

#include <inttypes.h>

static const char *const names[] = {
    [CHECK_COUNT] = "count",     [CHECK_DTYPE] = "dtype",     [CHECK_RANK] = "rank",   [CHECK_SIZE] = "size",
    [CHECK_SMALL] = "too-small", [CHECK_LARGE] = "too-large", [CHECK_EQUAL] = "equal", [CHECK_STRIDE] = "stride",
    [CHECK_DEVICE] = "device",   [CHECK_ALIGN] = "alignment", [CHECK_CUT] = "cut",     [CHECK_VALUE] = "value",
};

const char *check_what_name(enum check_what w) { return names[w]; }

/* The input that is being checked. */
struct look {
	struct check *k;
	const struct contract *c;
	const struct contract_input *want;
	const struct tensor_meta *got;
	uint32_t i;
	bool rank_bad, rank_told; /* the rank is wrong, with a finding */
	bool size_bad;
	bool dim_bad[TENSOR_MAX_DIMS]; /* and for this dim */
};

struct check_finding *check_found(struct check *k, enum check_what what, uint32_t input, int dim)
{
	struct check_finding *f = &PUSH_TO(k->v, k->n, k->cap);
	*f = (struct check_finding){.what = what, .input = input, .dim = dim};
	if (what == CHECK_ALIGN || what == CHECK_CUT)
		f->advice = true;
	else
		k->n_bad++;
	return f;
}

static struct slice size_text(struct look *l, struct symsize s)
{
	struct buf b = {0};
	symsize_print(&l->c->tab, s, &b);
	return arena_take(&l->k->arena, &b);
}

static struct slice list_text(struct check *k, const int64_t *v, int n)
{
	struct buf b = {0};
	buf_addc(&b, '(');
	for (int i = 0; i < n; i++)
		buf_addf(&b, "%s%" PRId64, i ? ", " : "", v[i]);
	buf_adds(&b, n == 1 ? ",)" : ")");
	return arena_take(&k->arena, &b);
}

/* "2..64", "at least 2", "at most 64" */
static struct slice range_text(struct check *k, struct symrange r)
{
	if (r.lo_inf && r.hi_inf)
		return SLICE("any");
	if (r.hi_inf)
		return check_keep(k, "at least %" PRId64, r.lo);
	if (r.lo_inf)
		return check_keep(k, "at most %" PRId64, r.hi);
	return check_keep(k, "%" PRId64 "..%" PRId64, r.lo, r.hi);
}

/* ---- what to do about it ---- */

static struct slice permute_fix(struct look *l, const int64_t *want)
{
	/* The order of dims by stride, outermost first: in that order the expected tensor must be dense. */
	int n = l->got->n_dim, order[TENSOR_MAX_DIMS], inverse[TENSOR_MAX_DIMS];
	for (int i = 0; i < n; i++) {
		int j = i;
		for (; j > 0 && want[order[j - 1]] < want[i]; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
	int64_t step = 1;
	for (int i = n - 1; i >= 0; i--) {
		if (want[order[i]] != step || __builtin_mul_overflow(step, l->got->size[order[i]], &step))
			return (struct slice){0};
		inverse[order[i]] = i;
	}
	struct buf b = {0};
	buf_adds(&b, ".permute(");
	for (int i = 0; i < n; i++)
		buf_addf(&b, "%s%d", i ? ", " : "", order[i]);
	buf_adds(&b, ").contiguous().permute(");
	for (int i = 0; i < n; i++)
		buf_addf(&b, "%s%d", i ? ", " : "", inverse[i]);
	buf_addc(&b, ')');
	return arena_take(&l->k->arena, &b);
}

/* The strides that this input should have at its own sizes; false if some are unknown. */
static bool wanted_strides(struct look *l, const struct symbind *env, int64_t *want)
{
	for (int d = 0; d < l->got->n_dim; d++)
		if (d >= l->want->n_dim || symsize_eval(&l->c->tab, l->want->dim[d].stride, env, &want[d], NULL) < 0)
			return false;
	return true;
}

static bool same_strides(const struct tensor_meta *m, const int64_t *want)
{
	for (int d = 0; d < m->n_dim; d++)
		if (want[d] != m->stride[d] && m->size[d] != 1)
			return false;
	return true;
}

static struct slice stride_fix(struct look *l, const struct symbind *env)
{
	int64_t want[TENSOR_MAX_DIMS];
	struct tensor_meta m = *l->got;
	if (l->rank_bad || !wanted_strides(l, env, want))
		return SLICE("pass a tensor with the strides of the example input used for export");
	tensor_contiguous(&m);
	if (same_strides(&m, want)) {
		if (same_strides(l->got, m.stride)) /* only dims of one element differ; .contiguous() would change nothing */
			return SLICE(".clone(memory_format=torch.contiguous_format)");
		return SLICE(".contiguous()");
	}
	if (m.n_dim == 4 || m.n_dim == 5) {
		int64_t step = m.size[1];
		m.stride[1] = 1;
		for (int d = m.n_dim - 1; d >= 2; d--) {
			m.stride[d] = step;
			step *= m.size[d] > 0 ? m.size[d] : 1;
		}
		m.stride[0] = step;
		if (same_strides(&m, want))
			return m.n_dim == 4 ? SLICE(".contiguous(memory_format=torch.channels_last)")
					    : SLICE(".contiguous(memory_format=torch.channels_last_3d)");
	}
	struct slice s = permute_fix(l, want);
	if (s.n)
		return s;
	s = list_text(l->k, want, m.n_dim);
	return check_keep(l->k, "torch.empty_strided(x.size(), %.*s, dtype=x.dtype).copy_(x)", SL(s));
}

static struct slice rank_fix(struct look *l)
{
	const struct tensor_meta *m = l->got;
	int n = l->want->n_dim;
	for (int skip = 0; m->n_dim == n + 1 && skip < m->n_dim; skip++)
		if (m->size[skip] == 1)
			return check_keep(l->k, ".squeeze(%d)", skip);
	if (m->n_dim == n - 1 && !(symsize_is_int(l->want->dim[0].size) && l->want->dim[0].size.k != 1))
		return l->want->dim[0].range.lo_inf || l->want->dim[0].range.lo <= 1
			   ? SLICE(".unsqueeze(0)")
			   : check_keep(l->k, ".unsqueeze(0), and dim 0 must be at least %" PRId64, l->want->dim[0].range.lo);
	return SLICE(".reshape(...) to the expected sizes");
}

/* ---- check_input_N ---- */

/* The check in check_input that a dim fails, with the violated bound; CHECK_COUNT if it passes. */
static enum check_what dim_fails(const struct contract_dim *w, int64_t got, int64_t *bound)
{
	*bound = w->size.k;
	if (w->size_checked && got != *bound)
		return CHECK_SIZE;
	*bound = w->range.lo;
	if (!w->range.lo_inf && got < *bound)
		return CHECK_SMALL;
	*bound = w->range.hi;
	return !w->range.hi_inf && got > *bound ? CHECK_LARGE : CHECK_COUNT;
}

static struct slice dim_message(struct look *l, enum check_what what, int d, int64_t bound, int64_t got)
{
	static const char *const wrong[][2] = {
	    [CHECK_SIZE] = {"unmatched dim value", ":"},
	    [CHECK_SMALL] = {"dim value is too small", " it to be >="},
	    [CHECK_LARGE] = {"dim value is too large", " to be <="},
	    [CHECK_STRIDE] = {"unmatched stride value", ":"},
	};
	return check_keep(l->k, "input_handles[%u]: %s at %d, expected%s %" PRId64 ", but got: %" PRId64, l->i, wrong[what][0], d,
			  wrong[what][1], bound, got);
}

/* check_input's first message about the existing dims; empty if there is none. */
static struct slice first_dim_message(struct look *l)
{
	const struct tensor_meta *m = l->got;
	for (int d = 0; d < l->want->n_dim && d < m->n_dim; d++) {
		int64_t bound;
		enum check_what what = dim_fails(&l->want->dim[d], m->size[d], &bound);
		if (what != CHECK_COUNT)
			return dim_message(l, what, d, bound, m->size[d]);
	}
	for (int d = 0; m->n_dim >= l->want->n_dim && d < l->want->n_dim; d++) {
		const struct contract_dim *w = &l->want->dim[d];
		if (w->stride_checked && w->stride.k != m->stride[d])
			return dim_message(l, CHECK_STRIDE, d, w->stride.k, m->stride[d]);
	}
	return (struct slice){0};
}

static bool aten_float(int dtype) { return dtype == DTYPE_F32 || dtype == DTYPE_F64 || dtype == DTYPE_F16 || dtype == DTYPE_BF16; }

static void look_dtype(struct look *l)
{
	int want = l->want->dtype, got = l->got->dtype;
	if (want == DTYPE_NONE || want == got)
		return;
	const struct dtype_info *w = dtype_info(want);
	struct check_finding *f = check_found(l->k, CHECK_DTYPE, l->i, -1);
	f->aoti = check_keep(l->k, "input_handles[%u]: unmatched dtype, expected: %d(%s), but got: %d", l->i, want, w ? w->aten : "?", got);
	f->expected = check_keep(l->k, "%s", dtype_name(want));
	f->given = check_keep(l->k, "%s", dtype_name(got));
	if ((aten_float(got) && want == DTYPE_U8))
		f->fix = SLICE(".mul(255).round().to(torch.uint8) if its values are in 0..1: .to(torch.uint8) alone would make them 0");
	else
		f->fix = check_keep(l->k, ".to(torch.%s)", dtype_name(want));
}

static bool rank_fits(const struct contract_input *w, const struct tensor_meta *m)
{
	return m->n_dim == w->n_dim || (!w->rank_known && m->n_dim > w->n_dim);
}

static void look_rank(struct look *l, bool in_assert)
{
	const struct contract_input *w = l->want;
	int got = l->got->n_dim;
	if (rank_fits(w, l->got))
		return;
	struct slice aoti =
	    in_assert ? check_keep(l->k, "expected ndim %d but got %d\nError in op: input", w->n_dim, got) : first_dim_message(l);
	/* If dims are missing, check_input reads past the tensor's own sizes and strides: its message cannot be predicted. */
	bool loose = got < w->n_dim;
	l->rank_bad = true;
	if (!aoti.n && w->asserted && !loose)
		return; /* nothing for check_input: assert_size_stride will report it */
	struct check_finding *f = check_found(l->k, CHECK_RANK, l->i, -1);
	l->rank_told = true;
	f->aoti = aoti;
	f->aoti_loose = loose;
	f->expected = w->rank_known ? check_keep(l->k, "%d dims", w->n_dim) : check_keep(l->k, "at least %d dims", w->n_dim);
	f->given = check_keep(l->k, "%d dim%s", got, plural(got));
	f->fix = rank_fix(l);
}

/* NHWC for NCHW, and the like: ".permute(0, 3, 1, 2)" if the sizes fit then, and do not without; empty: no. */
static struct slice layout_fix(struct look *l)
{
	static const int8_t orders[][5] = {{0, 3, 1, 2, -1}, {0, 2, 3, 1, -1}, {2, 0, 1, -1}, {1, 2, 0, -1},
					   {0, 4, 1, 2, 3},  {0, 2, 3, 4, 1},  {1, 0, -1}};
	for (size_t k = 0; k < ARRAY_LEN(orders); k++) {
		int n = 0, fits = 0;
		int64_t bound;
		while (n < 5 && orders[k][n] >= 0)
			n++;
		if (n != l->got->n_dim || n != l->want->n_dim)
			continue;
		for (int d = 0; d < n; d++)
			fits += dim_fails(&l->want->dim[d], l->got->size[orders[k][d]], &bound) == CHECK_COUNT;
		if (fits < n)
			continue;
		struct buf b = {0};
		buf_adds(&b, ".permute(");
		for (int d = 0; d < n; d++)
			buf_addf(&b, "%s%d", d ? ", " : "", orders[k][d]);
		buf_addc(&b, ')');
		const struct symsize last = l->want->dim[n - 1].stride;
		if (symsize_is_int(last) && last.k == 1)
			buf_adds(&b, ".contiguous()");
		return arena_take(&l->k->arena, &b);
	}
	return (struct slice){0};
}

static void look_size(struct look *l, int d)
{
	const struct contract_dim *w = &l->want->dim[d];
	int64_t bound, got = l->got->size[d];
	enum check_what what = dim_fails(w, got, &bound);
	if (what == CHECK_COUNT)
		return;
	struct check_finding *f = check_found(l->k, what, l->i, d);
	f->aoti = dim_message(l, what, d, bound, got);
	f->given = check_keep(l->k, "%" PRId64, got);
	l->size_bad = l->dim_bad[d] = true;
	const struct slice turned = layout_fix(l);
	if (what == CHECK_SIZE) {
		f->expected = check_keep(l->k, "%" PRId64, bound);
		f->fix = turned;
	}
	if (what == CHECK_SIZE && !turned.n) {
		f->fix = check_keep(l->k,
				    "dim %d is %" PRId64 ", compiled for exactly %" PRId64
				    ": pass that size, or export with dynamic_shapes that make dim %d dynamic",
				    d, got, bound, d);
	}
	if (what == CHECK_SIZE)
		return;
	f->expected = range_text(l->k, w->range);
	if (turned.n || (what == CHECK_SMALL && bound == 2)) { /* exportdiff.c says the same */
		f->fix = turned.n ? turned
				  : check_keep(l->k,
					       "dim %d is %" PRId64
					       ": sizes 0 and 1 are specialized: pad it to 2, or compile a separate model for them",
					       d, got);
		return;
	}
	f->fix = check_keep(l->k, "dim %d is %" PRId64 ", compiled for %.*s: %s it, or export with dynamic_shapes %s=%" PRId64, d, got,
			    SL(f->expected), what == CHECK_SMALL ? "pad" : "split", what == CHECK_SMALL ? "min" : "max", got);
}

/* Strides that are wrong only because a contiguous tensor's sizes are need no separate finding: correct sizes give correct strides. */
static bool strides_follow(struct look *l, const struct symbind *env)
{
	int64_t want[TENSOR_MAX_DIMS];
	if (!l->size_bad || !tensor_is_contiguous(l->got) || !wanted_strides(l, env, want))
		return false;
	struct tensor_meta m = *l->got;
	for (int d = 0; d < m.n_dim; d++)
		if (symsize_eval(&l->c->tab, l->want->dim[d].size, env, &m.size[d], NULL) < 0)
			return false;
	tensor_contiguous(&m);
	return same_strides(&m, want);
}

static void look_strides(struct look *l, const struct symbind *env)
{
	struct check_finding *f = NULL;
	if (l->rank_bad || strides_follow(l, env))
		return;
	for (int d = 0; d < l->want->n_dim; d++) {
		const struct contract_dim *w = &l->want->dim[d];
		if (!w->stride_checked || w->stride.k == l->got->stride[d])
			continue;
		f = check_found(l->k, CHECK_STRIDE, l->i, d);
		f->aoti = dim_message(l, CHECK_STRIDE, d, w->stride.k, l->got->stride[d]);
		f->expected = check_keep(l->k, "%" PRId64, w->stride.k);
		f->given = check_keep(l->k, "%" PRId64, l->got->stride[d]);
		f->fix = stride_fix(l, env);
		l->dim_bad[d] = true;
	}
}

static void look_device(struct look *l)
{
	int want = l->want->device, got = l->got->device;
	if (want == DEVICE_NONE || want == got)
		return;
	struct check_finding *f = check_found(l->k, CHECK_DEVICE, l->i, -1);
	/* "expected: 00(cpu)": torch prints the number twice (cpp_wrapper_cpu.py, gen_check). */
	f->aoti = check_keep(l->k, "input_handles[%u]: unmatched device type, expected: %d%d(%s), but got: %d", l->i, want, want,
			     device_name(want), got);
	f->expected = check_keep(l->k, "%s", device_name(want));
	f->given = check_keep(l->k, "%s", device_name(got));
	f->fix = check_keep(l->k, ".to(\"%s\")", device_name(want));
}

/* A model runs on one device of its type, and torch's checks ignore which: its kernels would get an address on another device. Plain "cuda"
 * is any. */
static void look_device_index(struct look *l, const struct look *first)
{
	if (l->got->device != first->got->device || l->got->device_index == first->got->device_index)
		return;
	struct slice name = first->want->path.n ? first->want->path : first->want->name;
	struct check_finding *f = check_found(l->k, CHECK_DEVICE, l->i, -1);
	f->expected = check_keep(l->k, "%s:%d (device of %.*s)", device_name(first->got->device), first->got->device_index, SL(name));
	f->given = check_keep(l->k, "%s:%d", device_name(l->got->device), l->got->device_index);
	f->fix = check_keep(l->k, ".to(\"%s:%d\")", device_name(first->got->device), first->got->device_index);
}

static void look_alignment(struct look *l)
{
	if (!l->want->alignment || !l->got->has_address || l->got->address % (uint64_t)l->want->alignment == 0)
		return;
	struct check_finding *f = check_found(l->k, CHECK_ALIGN, l->i, -1);
	f->expected = check_keep(l->k, "an address divisible by %d", l->want->alignment);
	f->given = check_keep(l->k, "0x%" PRIx64, l->got->address);
	f->fix = SLICE("it is copied on every call: .clone() it once, or do not slice it at an odd offset");
}

/* ---- assert_size_stride ---- */

/* "s77 = 3 (dim 0 of input 0)" for the symbols of a size. */
static struct slice why(struct look *l, struct symsize s, const struct symbind *env)
{
	uint32_t ids[8];
	struct buf b = {0};
	size_t n = symsize_symbols(&l->c->tab, s, ids, ARRAY_LEN(ids));
	for (size_t i = 0; i < n && i < ARRAY_LEN(ids); i++) {
		int64_t v;
		struct slice name = symtab_name(&l->c->tab, ids[i]);
		if (!symbind_get(env, ids[i], &v))
			continue;
		buf_addf(&b, "%s%.*s = %" PRId64, b.len ? ", " : "", SL(name), v);
		for (uint32_t k = 0; k < l->c->n_symbols; k++)
			if (l->c->symbol[k].symbol == ids[i] && l->c->symbol[k].input != NONE) {
				const struct contract_input *src = &l->c->input[l->c->symbol[k].input];
				struct slice shown = src->path.n ? src->path : src->name;
				buf_addf(&b, ", from dim %u of %.*s", l->c->symbol[k].dim, SL(shown));
			}
	}
	return arena_take(&l->k->arena, &b);
}

/* The text of all dims that assert_size_stride would put into its single message; empty if all match. */
static struct slice assert_message(struct look *l, const struct symbind *env, bool *bad_size, bool *bad_stride)
{
	const struct tensor_meta *m = l->got;
	struct buf b = {0};
	for (int d = 0; d < m->n_dim; d++) {
		int64_t size = m->size[d], stride = m->stride[d];
		bool known = symsize_eval(&l->c->tab, l->want->dim[d].size, env, &size, NULL) == 0;
		bad_size[d] = known && size != m->size[d];
		known = symsize_eval(&l->c->tab, l->want->dim[d].stride, env, &stride, NULL) == 0;
		bad_stride[d] = known && stride != m->stride[d] && m->size[d] > 1;
		if (bad_size[d] || bad_stride[d])
			buf_addf(&b, "%sexpected size %" PRId64 "==%" PRId64 ", stride %" PRId64 "==%" PRId64 " at dim=%d",
				 b.len ? "; " : "", m->size[d], size, m->stride[d], stride, d);
	}
	if (b.len)
		buf_adds(&b, "\nError in op: input");
	return arena_take(&l->k->arena, &b);
}

static void look_assert(struct look *l, const struct symbind *env)
{
	const struct tensor_meta *m = l->got;
	bool bad_size[TENSOR_MAX_DIMS], bad_stride[TENSOR_MAX_DIMS];
	int64_t numel;
	if (l->rank_bad && !l->rank_told)
		look_rank(l, true);
	if (m->n_dim != l->want->n_dim || (tensor_numel(m, &numel) && numel == 0))
		return;
	struct slice aoti = assert_message(l, env, bad_size, bad_stride);
	for (int d = 0; d < m->n_dim; d++) {
		const struct contract_dim *w = &l->want->dim[d];
		if (!bad_size[d] || l->dim_bad[d])
			continue;
		int64_t want = 0;
		symsize_eval(&l->c->tab, w->size, env, &want, NULL);
		struct slice because = why(l, w->size, env), text = size_text(l, w->size);
		struct check_finding *f = check_found(l->k, CHECK_EQUAL, l->i, d);
		f->aoti = aoti;
		aoti.n = 0;
		f->expected = because.n ? check_keep(l->k, "%.*s = %" PRId64 " (%.*s)", SL(text), want, SL(because))
					: check_keep(l->k, "%" PRId64, want);
		f->given = check_keep(l->k, "%" PRId64, m->size[d]);
		f->fix = check_keep(l->k, "sizes that must match differ: make dim %d %" PRId64 ", or change the size it is computed from",
				    d, want);
		l->size_bad = l->dim_bad[d] = true;
	}
	if (strides_follow(l, env))
		return;
	for (int d = 0; d < m->n_dim; d++) {
		if (!bad_stride[d] || l->dim_bad[d])
			continue;
		int64_t want = 0;
		symsize_eval(&l->c->tab, l->want->dim[d].stride, env, &want, NULL);
		struct check_finding *f = check_found(l->k, CHECK_STRIDE, l->i, d);
		f->aoti = aoti;
		aoti.n = 0;
		f->expected = check_keep(l->k, "%" PRId64, want);
		f->given = check_keep(l->k, "%" PRId64, m->stride[d]);
		f->fix = stride_fix(l, env);
	}
}

/* ---- all of it ---- */

static bool is_given(const struct tensor_meta *m) { return m->n_dim >= 0; }

static void look_count(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n)
{
	size_t given = 0;
	for (size_t i = 0; i < n; i++)
		given += is_given(&in[i]);
	if (given == c->n_inputs)
		return;
	struct check_finding *f = check_found(k, CHECK_COUNT, NONE, -1);
	f->aoti = check_keep(k, "expected inputs vector size to be %u, but got %zu", c->n_inputs, given);
	f->expected = check_keep(k, "%u input%s", c->n_inputs, plural(c->n_inputs));
	f->given = check_keep(k, "%zu", given);
	struct buf b = {0};
	for (uint32_t i = 0; i < c->n_inputs; i++)
		if (i >= n || !is_given(&in[i])) {
			struct slice name = c->input[i].path.n ? c->input[i].path : c->input[i].name;
			buf_addf(&b, "%s%.*s", b.len ? ", " : "pass ", SL(name));
		}
	if (!b.len)
		buf_adds(&b, "drop the extra inputs");
	f->fix = arena_take(&k->arena, &b);
}

struct turn {
	uint32_t asserted, input;
};

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	return x->asserted < y->asserted ? -1 : x->asserted > y->asserted;
}

void check_inputs(struct check *k, const struct contract *c, const struct tensor_meta *in, size_t n)
{
	look_count(k, c, in, n);
	size_t both = n < c->n_inputs ? n : c->n_inputs;
	OWNED(symbind_release) struct symbind env = {0};
	contract_bind(c, in, both, &env);
	/* The value that a tensor of the wrong rank gives a symbol does not apply to the inputs that share it. */
	for (uint32_t i = 0; i < c->n_symbols; i++) {
		const struct contract_symbol *s = &c->symbol[i];
		if (s->input < both && s->symbol < env.n && !rank_fits(&c->input[s->input], &in[s->input]))
			env.bound[s->symbol] = false;
	}
	struct look *look = xcalloc(both + 1, sizeof(*look));
	FREED struct turn *turns = xcalloc(both + 1, sizeof(*turns));
	size_t n_turns = 0;
	const struct look *on_device = NULL;
	for (uint32_t i = 0; i < both; i++) {
		struct look *l = &look[i];
		*l = (struct look){.k = k, .c = c, .want = &c->input[i], .got = &in[i], .i = i};
		if (!is_given(&in[i]))
			continue;
		look_dtype(l);
		look_rank(l, false);
		for (int d = 0; !l->rank_bad && d < l->want->n_dim; d++)
			look_size(l, d);
		look_strides(l, &env);
		look_device(l);
		if (l->got->device == c->input[i].device && l->got->device != DEVICE_CPU && l->got->device_index >= 0) {
			on_device = on_device ? on_device : l;
			look_device_index(l, on_device);
		}
		look_alignment(l);
		if (c->input[i].asserted)
			turns[n_turns++] = (struct turn){c->input[i].asserted, i};
	}
	qsort(turns, n_turns, sizeof(*turns), by_turn);
	for (size_t t = 0; t < n_turns; t++)
		look_assert(&look[turns[t].input], &env);
	free(look);
}

void check_release(struct check *k)
{
	free(k->v);
	arena_release(&k->arena);
	*k = (struct check){0};
}
