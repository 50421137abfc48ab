#include "exportdiff/exportdiff_part.h"

static const char *const names[] = {
    [EXPORTDIFF_MODEL] = "model", [EXPORTDIFF_COUNT] = "count",   [EXPORTDIFF_DTYPE] = "dtype",       [EXPORTDIFF_DEVICE] = "device",
    [EXPORTDIFF_RANK] = "rank",   [EXPORTDIFF_STATIC] = "static", [EXPORTDIFF_SIZE] = "size",         [EXPORTDIFF_NARROWER] = "narrower",
    [EXPORTDIFF_EQUAL] = "equal", [EXPORTDIFF_STRIDE] = "stride", [EXPORTDIFF_CONSTANT] = "constant", [EXPORTDIFF_UNCHECKED] = "unchecked",
    [EXPORTDIFF_WIDER] = "wider",
};

const char *exportdiff_what_name(enum exportdiff_what w) { return names[w]; }

static const char recompile[] = "recompile this exported program";
/* If the compiler added the requirement, compiling again adds it again. */
static const char look[] = "compile this exported program with TORCH_LOGS=+dynamic: it shows which line of the program causes it";

/* ---- texts ---- */

/* "16", "2..64", "16 or more" */
static struct slice span(struct compare *k, int64_t lo, int64_t hi, bool hi_inf)
{
	if (hi_inf)
		return lo <= 0 ? SLICE("any size") : exportdiff_text(k, "%" PRId64 " or more", lo);
	return lo == hi ? exportdiff_text(k, "%" PRId64, lo) : exportdiff_text(k, "%" PRId64 "..%" PRId64, lo, hi);
}

static int64_t low(struct symrange r) { return r.lo_inf || r.lo < 0 ? 0 : r.lo; }
static bool single(struct symrange r, int64_t v) { return !r.lo_inf && !r.hi_inf && r.lo == v && r.hi == v; }

static struct slice range_text(struct compare *k, struct symrange r) { return span(k, low(r), r.hi, r.hi_inf); }

/* "s77: 2..64" */
static struct slice bounded(struct compare *k, const struct contract *c, const struct contract_dim *d)
{
	struct slice size = exportdiff_size(k, c, d->size), range = range_text(k, d->range);
	return contract_known(c, d->size) ? exportdiff_text(k, "%.*s: %.*s", SL(size), SL(range)) : range;
}

/* "2*s22, where s22 is dim 0 of x" */
static struct slice relation_text(struct compare *k, const struct contract *c, uint32_t input, int dim)
{
	uint32_t ids[3];
	struct symsize s = c->input[input].dim[dim].size;
	struct slice text = exportdiff_size(k, c, s);
	size_t n = symsize_symbols(&c->tab, s, ids, ARRAY_LEN(ids));
	for (size_t i = 0; i < n && i < ARRAY_LEN(ids); i++) {
		int64_t at;
		if (!symbind_get(c == k->e ? &k->source : &k->compiled_source, ids[i], &at) || at == (int64_t)input * 256 + dim)
			continue;
		struct slice name = symtab_name(&c->tab, ids[i]), of = exportdiff_label(k, (uint32_t)(at / 256));
		text = exportdiff_text(k, "%.*s, where %.*s is dim %d of %.*s", SL(text), SL(name), (int)(at % 256), SL(of));
	}
	return text;
}

/* ---- bounds ---- */

/* The same symbol is in many inputs; report it once. */
static bool already_said(struct compare *k, const struct contract_dim *e, const struct contract_dim *c, enum exportdiff_what what)
{
	struct {
		struct symsize size;
		int64_t lo, hi;
		uint32_t hi_inf, what;
	} key = {e->size, low(c->range), c->range.hi_inf ? 0 : c->range.hi, c->range.hi_inf, what};
	uint32_t before = k->said.n;
	intern_add(&k->said, slice_of((const char *)&key, sizeof(key)));
	return k->said.n == before;
}

static void narrower(struct compare *k, uint32_t i, int dim, const struct contract_dim *e, const struct contract_dim *c)
{
	int64_t lo = low(c->range);
	bool below = low(e->range) < lo;
	bool above = !c->range.hi_inf && (e->range.hi_inf || e->range.hi > c->range.hi);
	if ((!below && !above) || already_said(k, e, c, EXPORTDIFF_NARROWER))
		return;
	struct slice first = SLICE(""), last = SLICE("");
	int64_t from = c->range.hi < INT64_MAX ? c->range.hi + 1 : INT64_MAX;
	if (below)
		first = span(k, low(e->range), e->range.hi_inf || e->range.hi >= lo ? lo - 1 : e->range.hi, false);
	if (above)
		last = span(k, from > low(e->range) ? from : low(e->range), e->range.hi, e->range.hi_inf);
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_NARROWER, EXPORTDIFF_INPUT, i, dim, false);
	f->exported = bounded(k, k->e, e);
	f->compiled = range_text(k, c->range);
	f->why = exportdiff_text(k, "%.*s%s%.*s are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise", SL(first),
				 below && above ? " and " : "", SL(last));
	if (below && !above && lo == 2)
		f->fix = SLICE("sizes 0 and 1 are specialized: export with min=2, or compile a separate model for them");
	else
		f->fix = SLICE("the compiler narrowed them based on the example input: export from an example inside the required "
			       "bounds, or compile under torch.fx.experimental._config.patch(backed_size_oblivious=True)");
}

static void wider(struct compare *k, uint32_t i, int dim, const struct contract_dim *e, const struct contract_dim *c)
{
	bool below = low(e->range) > low(c->range);
	bool above = !e->range.hi_inf && (c->range.hi_inf || e->range.hi < c->range.hi);
	if ((!below && !above) || already_said(k, e, c, EXPORTDIFF_WIDER))
		return;
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_WIDER, EXPORTDIFF_INPUT, i, dim, true);
	f->exported = bounded(k, k->e, e);
	f->compiled = range_text(k, c->range);
	f->why = SLICE("the compiled code accepts sizes that the export rejects and does not guarantee");
}

static void compare_bounds(struct compare *k, uint32_t i, int dim, const struct contract_dim *e, const struct contract_dim *c)
{
	uint32_t id;
	int64_t mul, add;
	/* The bounds of any other expression are unknown, which is different from unbounded. */
	if (e->range.lo_inf && e->range.hi_inf && !symsize_linear(&k->e->tab, e->size, &id, &mul, &add))
		return;
	narrower(k, i, dim, e, c);
	wider(k, i, dim, e, c);
}

/* ---- sizes ---- */

static const char refused[] = "calls that fit the export are rejected under AOTI_RUNTIME_CHECK_INPUTS=1, and run with wrong "
			      "sizes otherwise";

static void demands(struct compare *k, uint32_t i, int dim, enum exportdiff_what what)
{
	struct exportdiff_finding *f = exportdiff_found(k, what, EXPORTDIFF_INPUT, i, dim, false);
	f->exported = relation_text(k, k->e, i, dim);
	f->compiled = relation_text(k, k->c, i, dim);
	f->why = slice_str(refused);
	f->fix = slice_str(what == EXPORTDIFF_EQUAL ? look : recompile);
}

static void fixed_in_compiled(struct compare *k, uint32_t i, int dim, const struct contract_dim *e, const struct contract_dim *c)
{
	if (symsize_is_int(e->size)) {
		if (e->size.k != c->size.k)
			demands(k, i, dim, EXPORTDIFF_SIZE);
		return;
	}
	if (single(e->range, c->size.k))
		return;
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_STATIC, EXPORTDIFF_INPUT, i, dim, false);
	f->exported = bounded(k, k->e, e);
	f->compiled = exportdiff_size(k, k->c, c->size);
	f->why = exportdiff_text(
	    k, "every size except %" PRId64 " is rejected under AOTI_RUNTIME_CHECK_INPUTS=1, and treated as %" PRId64 " otherwise",
	    c->size.k, c->size.k);
	f->fix = slice_str(look);
}

static void fixed_in_export(struct compare *k, uint32_t i, int dim, const struct contract_dim *e, const struct contract_dim *c, bool known)
{
	if (!symrange_contains(c->range, e->size.k)) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_SIZE, EXPORTDIFF_INPUT, i, dim, false);
		f->exported = exportdiff_size(k, k->e, e->size);
		f->compiled = known ? bounded(k, k->c, c) : range_text(k, c->range);
		f->why = slice_str(refused);
		f->fix = slice_str(recompile);
	} else if (known && exportdiff_differs(k, e->size, c->size)) {
		demands(k, i, dim, EXPORTDIFF_EQUAL);
	} else if (!single(c->range, e->size.k)) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_SIZE, EXPORTDIFF_INPUT, i, dim, true);
		f->exported = exportdiff_size(k, k->e, e->size);
		f->compiled = known ? bounded(k, k->c, c) : range_text(k, c->range);
		f->why = known ? SLICE("the compiled code accepts sizes that the export rejects")
			       : SLICE("a different size goes unnoticed: the compiled code does not check it");
	}
}

static void compare_dim(struct compare *k, uint32_t i, int dim)
{
	const struct contract_input *in = &k->c->input[i];
	static const struct contract_dim none = {.range = SYMRANGE_ALL}; /* its size is not checked */
	const struct contract_dim *e = &k->e->input[i].dim[dim], *c = dim < in->n_dim ? &in->dim[dim] : &none;
	bool known = dim < in->n_dim && contract_known(k->c, c->size);
	/* Inductor asserts all sizes of an input or none: this one was not understood. */
	if (!contract_known(k->e, e->size) || (!known && in->asserted))
		return;
	if (known && symsize_is_int(c->size)) {
		fixed_in_compiled(k, i, dim, e, c);
	} else if (symsize_is_int(e->size)) {
		fixed_in_export(k, i, dim, e, c, known);
	} else {
		compare_bounds(k, i, dim, e, c);
		if (known && exportdiff_differs(k, e->size, c->size)) {
			demands(k, i, dim, EXPORTDIFF_EQUAL);
		} else if (exportdiff_unchecked(k, i, dim)) {
			struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_UNCHECKED, EXPORTDIFF_INPUT, i, dim, true);
			f->exported = relation_text(k, k->e, i, dim);
			f->compiled = known ? relation_text(k, k->c, i, dim) : SLICE("not checked");
			f->why = SLICE("a call that violates this relation is rejected by the export, but not by any check in "
				       "the compiled code");
		}
	}
}

/* ---- strides ---- */

static bool demanded(const struct compare *k, const struct contract_dim *d)
{
	return contract_known(k->c, d->stride) && (d->stride_checked || !symsize_is_int(d->size) || d->size.k > 1);
}

static void compare_strides(struct compare *k, uint32_t i)
{
	const struct contract_input *e = &k->e->input[i], *c = &k->c->input[i];
	bool other = false, silent = false, any = false;
	for (int d = 0; d < e->n_dim && d < c->n_dim; d++) {
		if (!demanded(k, &c->dim[d]))
			continue;
		any = true;
		if (!contract_known(k->e, e->dim[d].stride))
			silent = true;
		else if (exportdiff_differs(k, e->dim[d].stride, c->dim[d].stride))
			other = true;
	}
	if (!any || (!other && !silent && exportdiff_contiguous(k, c->dim, c->n_dim)))
		return;
	struct slice of = exportdiff_label(k, i);
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_STRIDE, EXPORTDIFF_INPUT, i, -1, !other);
	struct slice strides = exportdiff_sizes(k, k->e, e->dim, e->n_dim, true);
	f->exported = exportdiff_text(k, "%.*s in the example (not checked by the export)", SL(strides));
	f->compiled = exportdiff_sizes(k, k->c, c->dim, c->n_dim, true);
	f->why = SLICE("other strides are rejected under AOTI_RUNTIME_CHECK_INPUTS=1, and read as if they were these otherwise");
	if (other)
		f->fix = slice_str(recompile);
	else if (exportdiff_contiguous(k, c->dim, c->n_dim))
		f->fix = exportdiff_text(k, "pass %.*s.contiguous()", SL(of));
	else
		f->fix = exportdiff_text(k, "pass %.*s in this layout, or export from a contiguous example", SL(of));
}

/* ---- inputs ---- */

static void compare_rank(struct compare *k, uint32_t i)
{
	const struct contract_input *e = &k->e->input[i], *c = &k->c->input[i];
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_RANK, EXPORTDIFF_INPUT, i, -1, false);
	f->exported = exportdiff_text(k, "%d dims", e->n_dim);
	f->compiled = exportdiff_text(k, c->rank_known ? "%d dims" : "at least %d dims", c->n_dim);
	f->why = SLICE("no call that fits the export fits the compiled code");
	f->fix = slice_str(recompile);
}

static void compare_input(struct compare *k, uint32_t i)
{
	const struct contract_input *e = &k->e->input[i], *c = &k->c->input[i];
	if (e->dtype != DTYPE_NONE && c->dtype != DTYPE_NONE && e->dtype != c->dtype) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_DTYPE, EXPORTDIFF_INPUT, i, -1, false);
		f->exported = exportdiff_text(k, "%s", dtype_name(e->dtype));
		f->compiled = exportdiff_text(k, "%s", dtype_name(c->dtype));
		f->why = SLICE("inputs of the exported dtype are rejected under AOTI_RUNTIME_CHECK_INPUTS=1, and their bytes are "
			       "read as the other dtype otherwise");
		f->fix = exportdiff_text(k, "pass .to(torch.%.*s), or %s", SL(f->compiled), recompile);
	}
	if (e->device != DEVICE_NONE && c->device != DEVICE_NONE && e->device != c->device) {
		struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_DEVICE, EXPORTDIFF_INPUT, i, -1, false);
		f->exported = exportdiff_text(k, "%s", device_name(e->device));
		f->compiled = exportdiff_text(k, "%s", device_name(c->device));
		f->why = SLICE("the compiled code dereferences addresses of the wrong device");
		f->fix = exportdiff_text(k, "pass .to(\"%.*s\")", SL(f->compiled));
	}
	if (c->rank_known ? c->n_dim != e->n_dim : c->n_dim > e->n_dim) {
		compare_rank(k, i);
		return;
	}
	for (int d = 0; d < e->n_dim; d++)
		compare_dim(k, i, d);
	compare_strides(k, i);
}

static void compare_count(struct compare *k)
{
	if (k->e->n_inputs == k->c->n_inputs)
		return;
	struct exportdiff_finding *f = exportdiff_found(k, EXPORTDIFF_COUNT, EXPORTDIFF_WHOLE, NONE, -1, false);
	f->exported = exportdiff_text(k, "%u input%s", k->e->n_inputs, plural(k->e->n_inputs));
	f->compiled = exportdiff_text(k, "%u input%s", k->c->n_inputs, plural(k->c->n_inputs));
	f->why = SLICE("no call that fits the export fits the compiled code");
	f->fix = slice_str(recompile);
}

static int by_severity(const void *x, const void *y)
{
	const struct exportdiff_finding *a = x, *b = y;
	if (a->advice != b->advice)
		return a->advice - b->advice;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	return (a->dim > b->dim) - (a->dim < b->dim);
}

/* If the export is of another model, the wrong one was given: compiling it is not a fix. */
static void no_recompiles(struct exportdiff *out)
{
	for (uint32_t i = 0; i < out->n; i++)
		if (slice_is(out->v[i].fix, recompile))
			out->v[i].fix = slice_of(NULL, 0);
}

int exportdiff_compare(const struct contract *exported, const struct contract *compiled, struct exportdiff *out)
{
	struct compare k = {.out = out, .e = exported, .c = compiled};
	out->same_model = true;
	exportdiff_bind(&k);
	compare_count(&k);
	for (uint32_t i = 0; i < exported->n_inputs && i < compiled->n_inputs; i++)
		compare_input(&k, i);
	exportdiff_outputs(&k);
	exportdiff_constants(&k);
	exportdiff_model(&k);
	if (!out->same_model)
		no_recompiles(out);
	exportdiff_unbind(&k);
	intern_release(&k.said);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_severity);
	return out->n_bad > 0;
}

void exportdiff_release(struct exportdiff *a)
{
	free(a->v);
	arena_release(&a->arena);
	*a = (struct exportdiff){0};
}
