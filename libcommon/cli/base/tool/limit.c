#include "base/tool/limit.h"

#include <math.h>

/* The row, or -1. */
static int limit_find(const struct limit *table, size_t n, struct slice name)
{
	for (size_t i = 0; i < n; i++)
		if (slice_is(name, table[i].name))
			return (int)i;
	return -1;
}

static bool limit_is_seconds(const struct limit *l) { return slice_ends(slice_str(l->name), "-seconds"); }

static bool parse_number(const char *text, bool fraction, double *out)
{
	char *end;
	uint64_t n;
	if (!fraction) {
		bool ok = slice_u64(slice_str(text), &n);
		*out = (double)n;
		return ok;
	}
	if (*text < '0' || *text > '9')
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

int limits_wrong(const struct limit *table, size_t n, const struct opt_pairs *max, struct err *err)
{
	for (size_t i = 0; i < max->n; i++) {
		int k = limit_find(table, n, max->v[i].name);
		double want;
		if (k < 0) {
			LOCAL_BUF b = {0};
			struct opt_guess g = {.word = max->v[i].name};
			for (size_t j = 0; j < n; j++) {
				buf_addf(&b, "%s%s", j ? ", " : "", table[j].name);
				opt_guess(&g, table[j].name);
			}
			FREED char *meant = opt_guess_text(&g);
			return err_set(err, EXIT_USAGE, "--max: unknown name '%.*s'%s; known: %s", SL(max->v[i].name), meant, buf_str(&b));
		}
		if (!parse_number(max->v[i].value, limit_is_seconds(&table[k]), &want))
			return err_set(err, EXIT_USAGE, "--max %s: not a number: '%s'", table[k].name, max->v[i].value);
	}
	return 0;
}

static bool limit_passed(const struct limit *l, double got, const char *want)
{
	double v;
	return parse_number(want, limit_is_seconds(l), &v) && got > v;
}

void limit_place(struct limit_places *p)
{
	struct slice text = buf_slice(&p->tmp);
	uint32_t k = intern_find(&p->text, text);
	p->n++;
	if (k == NONE && p->text.n < LIMIT_PLACES) {
		k = intern_add(&p->text, text);
		p->times[k] = 0;
	}
	if (k != NONE) {
		p->times[k]++;
		p->shown++;
	}
	buf_reset(&p->tmp);
}

static void limit_text(struct buf *b, const struct limit *l, double got, const char *want, const struct limit_places *p)
{
	bool seconds = limit_is_seconds(l);
	buf_addf(b, "%s: %.*f, at most %s wanted", l->words, seconds ? 1 : 0, got, want);
	for (uint32_t n = 0; n < p->text.n; n++) {
		buf_adds(b, n ? ", " : ": ");
		buf_add_slice(b, intern_get(&p->text, n));
		if (p->times[n] > 1)
			buf_addf(b, " (%u times)", p->times[n]);
	}
	if (p->n > p->shown && !seconds)
		buf_addf(b, " and %llu more", (unsigned long long)(p->n - p->shown));
}

unsigned limits_over(const struct limit *table, size_t n, const struct opt_pairs *max, const double *count,
		     void (*places)(void *ctx, int k, struct limit_places *p), void *ctx, struct buf *lines)
{
	unsigned over = 0;
	for (size_t i = 0; i < max->n; i++) {
		int k = limit_find(table, n, max->v[i].name);
		if (k < 0 || !limit_passed(&table[k], count[k], max->v[i].value))
			continue;
		struct limit_places p = {0};
		places(ctx, k, &p);
		limit_text(lines, &table[k], count[k], max->v[i].value, &p);
		buf_addc(lines, '\n');
		intern_release(&p.text);
		buf_release(&p.tmp);
		over++;
	}
	return over;
}
