/* filter.c - globs on kernels and buffers, ranges of calls and runs; and PyTorch's own environment variables. */
#include "printer.h"

#include <fnmatch.h>

static void add_glob(struct filter *f, struct opt_list *l, struct slice text)
{
	char *glob = xstrndup(text.p, text.n);
	PUSH_TO(f->owned, f->n_owned, f->cap_owned) = glob;
	PUSH_TO(l->v, l->n, l->cap) = glob;
}

/* Cuts the next comma-separated item off *rest. */
static bool cut_item(struct slice *rest, struct slice *item)
{
	if (!rest->n)
		return false;
	*item = slice_trim(slice_until(*rest, ","));
	*rest = slice_behind(*rest, ",");
	return true;
}

/* An option may have several, separated by commas. */
static void add_globs(struct filter *f, struct opt_list *to, const char *text)
{
	struct slice rest = slice_str(text), one;
	while (cut_item(&rest, &one))
		if (one.n)
			add_glob(f, to, one);
}

/* "3", "3-5", "3-", "-5", several with commas. */
static int add_ranges(struct filter_range **v, size_t *n, size_t *cap, const char *option, const char *text, struct err *err)
{
	struct slice rest = slice_str(text ? text : ""), one;
	while (cut_item(&rest, &one)) {
		const char *dash = slice_chr(one, '-');
		struct slice lo = dash ? slice_of(one.p, (size_t)(dash - one.p)) : one;
		struct slice hi = dash ? slice_of(dash + 1, one.n - lo.n - 1) : one;
		uint64_t first = 0, last = UINT32_MAX;
		if (!one.n || (!lo.n && !hi.n) || (lo.n && !slice_u64(lo, &first)) || (hi.n && !slice_u64(hi, &last)) || first > last ||
		    last > UINT32_MAX)
			return err_set(err, EXIT_USAGE, "%s: '%.*s' is not a range such as 3, 3-5, 3- or -5", option, SL(one));
		PUSH_TO(*v, *n, *cap) = (struct filter_range){(uint32_t)first, (uint32_t)last};
	}
	return 0;
}

int filter_make(struct filter *f, const struct printer_options *o, struct err *err)
{
	*f = (struct filter){.inputs = o->inputs, .constants = o->constants};
	for (size_t i = 0; i < o->kernels.n; i++)
		add_globs(f, &f->kernel, o->kernels.v[i]);
	for (size_t i = 0; i < o->buffers.n; i++)
		add_globs(f, &f->buffer, o->buffers.v[i]);
	/* As in PyTorch it is for printing values only (torch/_inductor/config.py, aot_inductor.filtered_kernel_names). */
	const char *torchs = getenv("AOT_INDUCTOR_FILTERED_KERNELS_TO_PRINT");
	if (!o->kernels.n && torchs && o->level == LEVEL_PRINT) {
		add_globs(f, &f->kernel, torchs);
		f->fold = true; /* it compares in lower case */
	}
	if (add_ranges(&f->calls, &f->n_calls, &f->cap_calls, "--calls", o->calls, err) < 0 ||
	    add_ranges(&f->runs, &f->n_runs, &f->cap_runs, "--runs", o->runs, err) < 0) {
		filter_release(f);
		return -1;
	}
	return 0;
}

void filter_release(struct filter *f)
{
	for (size_t i = 0; i < f->n_owned; i++)
		free(f->owned[i]);
	free(f->owned);
	opt_list_release(&f->kernel);
	opt_list_release(&f->buffer);
	free(f->calls);
	free(f->runs);
	*f = (struct filter){0};
}

static bool matches(const struct opt_list *l, struct slice name, bool fold)
{
	char *text = l->n ? xstrndup(slice_text(name.p), name.n) : NULL;
	bool yes = !l->n;
	for (size_t i = 0; i < l->n && !yes; i++)
		yes = !fnmatch(l->v[i], text, fold ? FNM_CASEFOLD : 0);
	free(text);
	return yes;
}

static bool within(const struct filter_range *v, size_t n, uint32_t x)
{
	for (size_t i = 0; i < n; i++)
		if (x >= v[i].first && x <= v[i].last)
			return true;
	return !n;
}

bool filter_call(const struct filter *f, struct slice kernel, uint32_t run, uint32_t call)
{
	return matches(&f->kernel, kernel, f->fold) && within(f->runs, f->n_runs, run) && within(f->calls, f->n_calls, call);
}

bool filter_buffer(const struct filter *f, enum call_role role, struct slice name, struct slice path)
{
	if (role == CALL_ROLE_CONSTANT && !f->constants)
		return false;
	if ((role == CALL_ROLE_MODEL_INPUT || role == CALL_ROLE_MODEL_OUTPUT) && !f->inputs)
		return false;
	return matches(&f->buffer, name, false) || (path.n && matches(&f->buffer, path, false));
}

bool filter_value(const struct filter *f, const struct watch_call *c, uint32_t i)
{
	const struct watch_value *v = &c->value[i];
	return filter_buffer(f, (enum call_role)v->rec.v.role, slice_str(v->name), watch_path(c, v));
}
