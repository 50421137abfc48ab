/* diffdevices.c - two dumps of one model that was compiled for two devices, or in two floating-point types: different code, different
 * fusion. Calls are first matched by name and order (compare.c); here, calls with similar names, if they wrote the same numbers; and the
 * rest is not a difference if both end with the same result. If they do not, names must suffice. */
#include "diff.h"

enum { MAX_WORDS = 64, NEAR = 32 };
#define ROUGHLY 0.1 /* for two types: the same numbers, precise enough to recognise the tensor */

static uint32_t split_words(struct slice s, struct slice *word)
{
	uint32_t n = 0;
	const char *end = s.p + s.n;
	for (const char *p = s.p; p < end && n < MAX_WORDS;) {
		const char *to = memchr(p, '_', (size_t)(end - p));
		to = to ? to : end;
		struct slice one = slice_of(p, (size_t)(to - p));
		if (one.n && !slice_is(one, "fused"))
			word[n++] = one;
		p = to + 1;
	}
	return n;
}

/* "sort" of torch.ops.aten.sort.stable, extern_kernels.sort and aten.sort.default, as in torch.compile graphs. */
static struct slice operator_of(struct slice name)
{
	size_t device;
	const char *end = name.p + name.n, *p = NULL;
	if (slice_starts(name, "extern_kernels.") || slice_starts(name, "aten."))
		p = slice_chr(name, '.') + 1;
	else if (slice_starts(name, "torch.ops.") && (p = slice_chr(slice_of(name.p + 10, name.n - 10), '.')))
		p++;
	if (!p)
		return diff_computes(name, &device);
	const char *to = slice_chr(slice_of(p, (size_t)(end - p)), '.');
	return slice_of(p, (size_t)((to ? to : end) - p));
}

static bool covers(struct slice a, struct slice b)
{
	struct slice x[MAX_WORDS], y[MAX_WORDS];
	uint32_t nx = split_words(operator_of(a), x), ny = split_words(operator_of(b), y), found = 0;
	for (uint32_t i = 0; i < nx; i++)
		for (uint32_t k = 0; k < ny; k++)
			if (y[k].n && slice_eq(x[i], y[k])) {
				y[k].n = 0;
				found++;
				break;
			}
	return nx && found == nx;
}

bool diff_covers(const struct dump_call *a, const struct dump_call *b)
{
	return covers(a->name, b->name) || (diff_is_nodes(a) && covers(a->aten, b->name));
}

bool diff_same_numbers(const struct diff *d, const struct dump_value *a, const struct dump_value *b)
{
	struct dump_tensor x, y;
	struct tensor_close c;
	struct err err;
	bool same = false;
	if (!a->file.n || !b->file.n || dump_tensor_open(&x, &d->a, a, &err) < 0)
		return false;
	if (dump_tensor_open(&y, &d->b, b, &err) == 0) {
		tensor_close(&x.meta, x.data, &y.meta, y.data, d->how, &c);
		same = !c.sizes_differ && (d->two_types ? c.rms < ROUGHLY : !c.bad);
		dump_tensor_close(&y);
	}
	dump_tensor_close(&x);
	return same;
}

bool diff_same_sizes(const struct dump_value *a, const struct dump_value *b)
{
	return a->meta.n_dim == b->meta.n_dim && !memcmp(a->meta.size, b->meta.size, (size_t)a->meta.n_dim * sizeof(a->meta.size[0]));
}

bool diff_wrote_alike(const struct diff *d, enum diff_alike how, const struct dump_value *a, const struct dump_value *b)
{
	return dump_written(a) && dump_written(b) && (how == ALIKE_NUMBERS ? diff_same_numbers(d, a, b) : diff_same_sizes(a, b));
}

static bool calls_alike(const struct diff *d, enum diff_alike how, const struct dump_call *a, const struct dump_call *b)
{
	if (a->kind != DUMP_KERNEL || b->kind != DUMP_KERNEL || (!diff_covers(a, b) && !diff_covers(b, a)))
		return false;
	for (uint32_t i = 0; i < a->n_values; i++)
		for (uint32_t k = 0; k < b->n_values; k++)
			if (diff_wrote_alike(d, how, &a->value[i], &b->value[k]))
				return true;
	return false;
}

static void drop_row(struct diff *d, size_t i)
{
	memmove(&d->row[i], &d->row[i + 1], (d->n_rows - i - 1) * sizeof(*d->row));
	d->n_rows--;
}

/* Row i is one-sided. Finds the first of the next rows (up to end), before any two-sided one, that has the other side and is similar. */
static bool pair_row(struct diff *d, size_t i, size_t end, enum diff_alike how)
{
	for (size_t k = i + 1; k < end && k < i + NEAR; k++) {
		struct diff_row *r = &d->row[i], *s = &d->row[k];
		if (s->a && s->b)
			return false;
		if (!r->a == !s->a || !calls_alike(d, how, r->a ? r->a : s->a, r->b ? r->b : s->b))
			continue;
		r->a = r->a ? r->a : s->a;
		r->b = r->b ? r->b : s->b;
		d->both++;
		d->only[0]--;
		d->only[1]--;
		drop_row(d, k);
		d->row[i].alike = how;
		return true;
	}
	return false;
}

void diff_pair_devices(struct diff *d, size_t from)
{
	for (size_t i = from; i < d->n_rows; i++) {
		d->row[i].devices = true;
		if (!d->row[i].a || !d->row[i].b)
			pair_row(d, i, d->n_rows, ALIKE_NUMBERS);
	}
}

/* Do both sides of a run end with the same result? Compares the last call of each, or the model's outputs, if requested. */
static bool end_alike(const struct diff_row *r, size_t n)
{
	const struct diff_row *last = NULL;
	bool agree = false;
	for (size_t i = 0; i < n; i++) {
		if (r[i].in_differs || r[i].out_differs)
			return false;
		if (diff_call(&r[i])->kind == DUMP_RUN)
			agree |= r[i].a && r[i].b && r[i].outputs;
		else
			last = &r[i];
	}
	return agree || (last && last->a && last->b && last->compared);
}

/* What one side names buf2, and the other buf3, is something else: so it is for all that read it. */
static void set_others(struct diff *d, const struct diff_row *r, const struct diff_value *w, const struct diff_row *end)
{
	for (; r < end; r++)
		for (size_t k = r->value; k < r->value + r->n_values; k++) {
			struct diff_value *v = &d->value[k];
			if (v->a && v->b && v->what == DIFF_VALUES && slice_eq(v->a->buffer, w->a->buffer) &&
			    slice_eq(v->b->buffer, w->b->buffer))
				v->what = DIFF_OTHER;
		}
}

enum diff_what *diff_try_others(struct diff *d)
{
	enum diff_what *was = xcalloc(d->n_values + 1, sizeof(*was));
	bool any = false;
	for (size_t k = 0; k < d->n_values; k++)
		was[k] = d->value[k].what;
	for (size_t i = 0, n; i < d->n_rows; i += n) {
		n = diff_run_rows(d, i);
		for (size_t k = i; k < i + n; k++) {
			const struct diff_row *r = &d->row[k];
			if (!r->origin || diff_call(r)->kind != DUMP_OP || !diff_is_product(r))
				continue;
			for (size_t v = r->value; v < r->value + r->n_values; v++)
				if (d->value[v].what == DIFF_VALUES && !diff_any(&d->value[v])->before) {
					set_others(d, r, &d->value[v], &d->row[i + n]);
					any = true;
				}
		}
	}
	if (any)
		return was;
	free(was);
	return NULL;
}

void diff_keep_others(struct diff *d, enum diff_what *was)
{
	for (size_t i = 0, n; i < d->n_rows; i += n) {
		n = diff_run_rows(d, i);
		if (end_alike(&d->row[i], n))
			continue;
		for (size_t r = i; r < i + n; r++)
			for (size_t k = d->row[r].value; k < d->row[r].value + d->row[r].n_values; k++)
				d->value[k].what = was[k];
	}
	free(was);
}

void diff_settle_devices(struct diff *d)
{
	for (size_t i = 0, n; i < d->n_rows; i += n) {
		n = diff_run_rows(d, i);
		bool agree = d->row[i].devices && end_alike(&d->row[i], n);
		for (size_t k = i; k < i + n; k++) {
			const struct diff_row *r = &d->row[k];
			if (!r->devices || (r->a && r->b && !r->parted))
				continue;
			d->row[k].elsewhere = agree;
			if (!agree && (!r->a || !r->b) && pair_row(d, k, i + n, ALIKE_SIZES))
				n--;
		}
	}
}
