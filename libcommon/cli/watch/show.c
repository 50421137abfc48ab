/* A tensor's facts on the screen. */
#include "watch/show.h"

#include <inttypes.h>
#include <math.h>

void show_numbers(struct buf *b, const int64_t *v, int n)
{
	for (int d = 0; d < n; d++)
		buf_addf(b, "%s%" PRId64, d ? ", " : "", v[d]);
}

void show_exact(struct buf *b, const char *before, double v)
{
	buf_adds(b, before);
	if (isnan(v))
		buf_adds(b, "nan");
	else
		buf_addf(b, "%.9g", v);
}

static void add_list(struct buf *b, const char *name, const int64_t *v, int n, bool more)
{
	buf_addf(b, "%s: [", name);
	show_numbers(b, v, n);
	buf_adds(b, more ? ", ...]\n" : "]\n");
}

static void add_range(struct screen *s, const struct tensor_stats *t)
{
	if (!t->known || !t->n)
		return;
	buf_addf(&s->b, "Mean value: %g\n", t->mean);
	buf_addf(&s->b, "Min value: %g\n", t->min);
	buf_addf(&s->b, "Max value: %g\n", t->max);
}

static void add_counts(struct screen *s, const struct tensor_stats *t)
{
	struct buf b = {0};
	if (!t->known)
		return;
	buf_addf(&b, "NaN: %" PRIu64 ", Inf: %" PRIu64 ", -Inf: %" PRIu64 ", zeros: %" PRIu64, t->nan, t->pos_inf, t->neg_inf, t->zero);
	if (t->nan || t->pos_inf || t->neg_inf)
		put_error(s, buf_str(&b));
	else
		buf_add_slice(&s->b, buf_slice(&b));
	buf_addc(&s->b, '\n');
	buf_release(&b);
}

void show_tensor_facts(struct screen *s, const struct tensor_meta *m, bool cut, const struct tensor_stats *t)
{
	int64_t numel = 0;
	bool numbered = !cut && tensor_numel(m, &numel);
	if (t->known || numbered)
		buf_addf(&s->b, "Number of elements: %" PRIu64 "\n", t->known ? t->n : (uint64_t)numel);
	buf_addf(&s->b, "Dtype: %s\n", dtype_name(m->dtype));
	add_range(s, t);
	buf_addf(&s->b, "Device: %s", device_name(m->device));
	if (m->device != DEVICE_CPU && m->device_index >= 0)
		buf_addf(&s->b, ":%d", m->device_index);
	buf_addc(&s->b, '\n');
	add_list(&s->b, "Size", m->size, m->n_dim, cut);
	add_list(&s->b, "Stride", m->stride, m->n_dim, cut);
	buf_addf(&s->b, "Layout: Strided\nIs contiguous: %d\nRequires grad: 0\n", !cut && tensor_is_contiguous(m));
	add_counts(s, t);
	buf_addc(&s->b, '\n');
}
