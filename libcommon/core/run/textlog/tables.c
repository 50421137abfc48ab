/* compile_times(), as a table and as CSV. */
#include "run/textlog/textlog_part.h"

/* It may occur twice, as text and CSV: the last one counts. */
static void time_row(struct block *b, uint32_t i, struct slice name, double seconds, uint64_t calls)
{
	struct textlog *t = b->t;
	uint32_t text = log_text(t, slice_trim(name)), row = t->from.phase + intern_add(&t->times, slice_of((char *)&text, sizeof(text)));
	struct fact_phase *to = row < t->f->n_phase ? &t->f->phase[row] : facts_new_phase(t->f, block_src(b, i));
	to->name = text;
	to->seconds = seconds;
	to->calls = calls;
}

/* "0.2375, 0.7786" */
static bool numbers(struct slice s, double *sum, uint64_t *n)
{
	*sum = 0;
	*n = 0;
	s = slice_trim(s);
	while (s.n) {
		const char *comma = slice_chr(s, ',');
		double v;
		if (!slice_double(slice_trim(slice_upto(s, comma)), &v))
			return false;
		*sum += v;
		++*n;
		s = comma ? slice_unindent(slice_from(s, comma + 1)) : slice_of("", 0);
	}
	return *n > 0;
}

/* "name, 0.1, 0.2" (without tabulate) or "name      0.1, 0.2" */
static bool metrics_line(struct slice line, struct slice *name, double *sum, uint64_t *n)
{
	line = slice_trim(line);
	for (size_t i = 1; i + 2 < line.n && i < 200; i++) {
		size_t gap = line.p[i] == ',' && line.p[i + 1] == ' ' ? 2 : line.p[i] == ' ' ? 1 : 0;
		char next = line.p[i + gap];
		if (!gap || !(next == ' ' || is_digit(next)))
			continue;
		*name = slice_of(line.p, i);
		if (next != ' ' && numbers(slice_skip(line, i + gap), sum, n))
			return true;
	}
	return false;
}

uint32_t parse_metrics(struct block *b, uint32_t i)
{
	struct slice line = slice_unindent(block_line(b, i)), name;
	if (slice_starts(line, "TorchDynamo compilation metrics:"))
		return 1;
	if (!slice_find(line, "Runtimes (s)"))
		return 0;
	uint32_t k = i + 1;
	double sum;
	uint64_t n;
	for (; k < b->n; k++) {
		line = block_line(b, k);
		if (!slice_starts(slice_trim(line), "---") && !metrics_line(line, &name, &sum, &n))
			break;
	}
	if (k == b->n && !b->final)
		return BLOCK_MORE;
	for (uint32_t r = i + 1; r < k; r++)
		if (metrics_line(block_line(b, r), &name, &sum, &n))
			time_row(b, r, name, sum, n);
	return k - i;
}

/* The next cell of a CSV line: up to a comma without a space after it. */
static bool cell(struct slice *rest, struct slice *out)
{
	if (!rest->p)
		return false;
	const char *p = rest->p, *end = rest->p + rest->n;
	bool quoted = p < end && *p == '"';
	while (p < end && !(*p == ',' && !(p + 1 < end && p[1] == ' ') && (!quoted || p[-1] == '"')))
		p++;
	*out = slice_of(rest->p, (size_t)(p - rest->p));
	if (quoted && out->n > 1 && slice_ends(*out, "\""))
		*out = slice_of(out->p + 1, out->n - 2);
	*rest = p < end ? slice_of(p + 1, (size_t)(end - p - 1)) : slice_of(NULL, 0);
	return true;
}

/* The next 'text' of a list that Python printed. */
static bool quoted(struct slice *rest, struct slice *out)
{
	const char *open = slice_find(*rest, "'");
	const char *close = open ? slice_find(slice_from(*rest, open + 1), "'") : NULL;
	if (!close)
		return false;
	*out = slice_of(open + 1, (size_t)(close - open - 1));
	*rest = slice_from(*rest, close + 1);
	return true;
}

/* Two lines, or the tuple that compile_times(repr="csv") returns. */
uint32_t parse_metrics_csv(struct block *b, uint32_t i)
{
	struct slice names = slice_trim(block_line(b, i)), values, name, value;
	bool tuple = slice_starts(names, "([");
	if (!tuple && !slice_find(names, ","))
		return 0;
	if (!tuple && !b->final && i + 2 > b->n)
		return BLOCK_MORE;
	if (tuple) {
		const char *mid = slice_find(names, "], [");
		if (!mid)
			return 0;
		values = slice_from(names, mid + 3);
		names = slice_upto(names, mid);
	} else {
		values = slice_trim(block_line(b, i + 1));
	}
	if (!values.n)
		return 0;
	double sum;
	uint64_t n;
	/* All of it must be valid for any of it to count. */
	for (int pass = 0; pass < 2; pass++) {
		struct slice a = names, v = values;
		for (;;) {
			bool left = tuple ? quoted(&a, &name) : cell(&a, &name), right = tuple ? quoted(&v, &value) : cell(&v, &value);
			if (!left && !right)
				break;
			if (left != right || !numbers(value, &sum, &n))
				return 0;
			if (pass)
				time_row(b, i, name, sum, n);
		}
	}
	return tuple ? 1 : 2;
}
