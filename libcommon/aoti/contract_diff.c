/* Two contracts of one binary, from its text and from the probe. Their symbols have other names (s77 here, s0 there), so
 * expressions are compared by their values: for a few choices of the text's symbols the inputs' sizes follow, from them
 * the probe's symbols, and then everything else must agree. */
#include "aoti/contract.h"

enum { TRIALS = 3 };

struct side {
	const struct contract *c;
	struct symbind env[TRIALS];
	bool bound[TRIALS];
};

struct diff {
	struct side text, binary;
	struct buf *lines;
	size_t n;
};

static void line(struct diff *d, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(d->lines, fmt, ap);
	va_end(ap);
	buf_addc(d->lines, '\n');
	d->n++;
}

/* Does a differ from b, in any trial where both have a value? */
static bool differs(const struct diff *d, struct symsize a, struct symsize b)
{
	if (symsize_is_int(a) && symsize_is_int(b))
		return a.k != b.k;
	for (int t = 0; t < TRIALS; t++) {
		int64_t x, y;
		if (d->text.bound[t] && d->binary.bound[t] &&
		    symsize_eval(&d->text.c->tab, a, &d->text.env[t], &x, NULL) == 0 &&
		    symsize_eval(&d->binary.c->tab, b, &d->binary.env[t], &y, NULL) == 0 && x != y)
			return true;
	}
	return false;
}

static void sizes_line(struct diff *d, const char *what, uint32_t i, struct slice name, int dim, const char *which,
		       struct symsize a, struct symsize b)
{
	if (!differs(d, a, b))
		return;
	struct buf x = {0}, y = {0};
	symsize_print(&d->text.c->tab, a, &x);
	symsize_print(&d->binary.c->tab, b, &y);
	line(d, "%s %u (%.*s), dim %d: %s %s in the text, %s in the binary", what, i, (int)name.n, name.p, dim, which, buf_str(&x),
	     buf_str(&y));
	buf_release(&x);
	buf_release(&y);
}

static void shapes(struct diff *d, const char *what, uint32_t i, struct slice name, int n, const struct contract_dim *a, int m,
		   const struct contract_dim *b)
{
	if (n < 0 || m < 0)
		return;
	if (n != m)
		line(d, "%s %u (%.*s): rank %d in the text, %d in the binary", what, i, (int)name.n, name.p, n, m);
	for (int k = 0; k < n && k < m; k++) {
		sizes_line(d, what, i, name, k, "size", a[k].size, b[k].size);
		/* The probe cannot see strides of dims of one element. */
		if (!(symsize_is_int(a[k].size) && a[k].size.k <= 1))
			sizes_line(d, what, i, name, k, "stride", a[k].stride, b[k].stride);
	}
}

static void types(struct diff *d, const char *what, uint32_t i, struct slice name, int ta, int tb, int da, int db)
{
	if (ta != DTYPE_NONE && tb != DTYPE_NONE && ta != tb) {
		char first[32];
		snprintf(first, sizeof first, "%s", dtype_name(ta));
		line(d, "%s %u (%.*s): %s in the text, %s in the binary", what, i, (int)name.n, name.p, first, dtype_name(tb));
	}
	if (da != DEVICE_NONE && db != DEVICE_NONE && da != db) {
		char first[32];
		snprintf(first, sizeof first, "%s", device_name(da));
		line(d, "%s %u (%.*s): on %s in the text, on %s in the binary", what, i, (int)name.n, name.p, first,
		     device_name(db));
	}
}

static void ranges(struct diff *d, uint32_t i)
{
	const struct contract_input *a = &d->text.c->input[i], *b = &d->binary.c->input[i];
	for (int k = 0; k < a->n_dim && k < b->n_dim; k++) {
		if (symrange_eq(a->dim[k].range, b->dim[k].range) || symsize_is_int(a->dim[k].size) ||
		    symsize_is_int(b->dim[k].size))
			continue;
		struct buf x = {0}, y = {0};
		symrange_print(a->dim[k].range, &x);
		symrange_print(b->dim[k].range, &y);
		line(d, "input %u (%.*s), dim %d: bounds %s in the text, %s in the binary", i, (int)a->name.n, a->name.p, k,
		     buf_str(&x), buf_str(&y));
		buf_release(&x);
		buf_release(&y);
	}
}

/* Values for the text's symbols, and what follows for the binary's. Unknown sizes are left at 1: what depends on them has
 * no value on that side either. */
static void bind(struct diff *d)
{
	static const int64_t step[TRIALS] = {5, 11, 23};
	const struct contract *a = d->text.c, *b = d->binary.c;
	struct tensor_meta *in = xcalloc((size_t)a->n_inputs + 1, sizeof(*in));
	for (int t = 0; t < TRIALS; t++) {
		for (uint32_t i = 0; i < a->n_symbols; i++) {
			const struct contract_symbol *s = &a->symbol[i];
			int64_t v = step[t] + i, lo = s->range.lo_inf ? 0 : s->range.lo;
			if (v < lo)
				v = lo + t;
			if (!s->range.hi_inf && v > s->range.hi)
				v = s->range.hi;
			symbind_set(&d->text.env[t], s->symbol, v);
		}
		for (uint32_t i = 0; i < a->n_inputs; i++) {
			in[i].n_dim = a->input[i].n_dim;
			for (int k = 0; k < in[i].n_dim; k++)
				if (symsize_eval(&a->tab, a->input[i].dim[k].size, &d->text.env[t], &in[i].size[k], NULL) < 0)
					in[i].size[k] = 1;
		}
		d->text.bound[t] = true;
		d->binary.bound[t] = contract_bind(b, in, a->n_inputs, &d->binary.env[t]);
	}
	free(in);
}

static void constants(struct diff *d)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	if (a->n_constants != b->n_constants)
		line(d, "%u constants in the text, %u in the binary", a->n_constants, b->n_constants);
	for (uint32_t i = 0; i < a->n_constants && i < b->n_constants; i++) {
		const struct contract_constant *x = &a->constant[i], *y = &b->constant[i];
		if (!slice_eq(x->name, y->name))
			line(d, "constant %u: '%.*s' in the text, '%.*s' in the binary", i, (int)x->name.n, x->name.p, (int)y->name.n,
			     y->name.p);
		types(d, "constant", i, x->name, x->dtype, y->dtype, x->device, y->device);
		shapes(d, "constant", i, x->name, x->n_dim, x->dim, y->n_dim, y->dim);
		if (x->bytes != y->bytes)
			line(d, "constant %u (%.*s): %llu bytes in the text, %llu in the binary", i, (int)x->name.n, x->name.p,
			     (unsigned long long)x->bytes, (unsigned long long)y->bytes);
	}
}

/* The binary knows a kernel of a GPU by the name that it has in its module. */
static bool calls_it(const struct contract_call *text, struct slice name)
{
	return slice_eq(text->function.n ? text->function : text->name, name);
}

static bool has_call(const struct contract *c, struct slice name)
{
	for (uint32_t i = 0; i < c->n_calls; i++)
		if (calls_it(&c->call[i], name))
			return true;
	return false;
}

/* A program that branches on data: the text has all branches, the binary showed one, and loops as they went. */
static void branching_calls(struct diff *d)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	for (uint32_t i = 0; i < b->n_calls; i++)
		if (b->call[i].kind != CALL_PROXY && !has_call(a, b->call[i].name))
			line(d, "call %u: %.*s in the binary, nowhere in the text", i, (int)b->call[i].name.n, b->call[i].name.p);
}

static void calls(struct diff *d)
{
	const struct contract *a = d->text.c, *b = d->binary.c;
	if (has_call(b, SLICE("aoti_torch_item_bool"))) {
		branching_calls(d);
		return;
	}
	if (a->n_calls != b->n_calls)
		line(d, "%u kernel and op calls in the text, %u in the binary", a->n_calls, b->n_calls);
	for (uint32_t i = 0; i < a->n_calls && i < b->n_calls; i++)
		/* Custom ops have their names from a file beside the text; the binary knows only a number. */
		if (a->call[i].kind != CALL_PROXY && !calls_it(&a->call[i], b->call[i].name)) {
			line(d, "call %u: %.*s in the text, %.*s in the binary", i, (int)a->call[i].name.n, a->call[i].name.p,
			     (int)b->call[i].name.n, b->call[i].name.p);
			break; /* what follows is likely shifted */
		}
}

size_t contract_diff(const struct contract *text, const struct contract *binary, struct buf *lines)
{
	struct diff d = {.text.c = text, .binary.c = binary, .lines = lines};
	if (text->n_inputs != binary->n_inputs)
		line(&d, "%u inputs in the text, %u in the binary", text->n_inputs, binary->n_inputs);
	else
		bind(&d);
	for (uint32_t i = 0; i < text->n_inputs && i < binary->n_inputs; i++) {
		const struct contract_input *a = &text->input[i], *b = &binary->input[i];
		types(&d, "input", i, a->name, a->dtype, b->dtype, a->device, b->device);
		bool rank = a->rank_known && b->rank_known;
		int n = a->n_dim < b->n_dim ? a->n_dim : b->n_dim;
		shapes(&d, "input", i, a->name, rank ? a->n_dim : n, a->dim, rank ? b->n_dim : n, b->dim);
		ranges(&d, i);
	}
	if (text->n_outputs != binary->n_outputs)
		line(&d, "%u outputs in the text, %u in the binary", text->n_outputs, binary->n_outputs);
	for (uint32_t i = 0; i < text->n_outputs && i < binary->n_outputs; i++) {
		const struct contract_output *a = &text->output[i], *b = &binary->output[i];
		types(&d, "output", i, a->name, a->dtype, b->dtype, a->device, b->device);
		shapes(&d, "output", i, a->name, a->n_dim, a->dim, b->n_dim, b->dim);
	}
	constants(&d);
	calls(&d);
	for (int t = 0; t < TRIALS; t++) {
		symbind_release(&d.text.env[t]);
		symbind_release(&d.binary.env[t]);
	}
	return d.n;
}
