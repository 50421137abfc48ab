/* Times and counts: compile_times(), the counters, AUTOTUNE. */
#include "torchlog/torchlog_part.h"

static struct textlog_time *time_row(struct block *b, uint32_t i, enum textlog_time_kind kind, struct slice group, struct slice name,
				     double seconds, uint64_t calls)
{
	struct textlog_time *row = LOG_ADD(b->t, time);
	if (!row)
		return NULL;
	row->at = block_at(b, i);
	row->kind = kind;
	row->group = log_text(b->t, group);
	row->name = log_text(b->t, slice_trim(name));
	row->seconds = seconds;
	row->calls = calls;
	return row;
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
		if (!gap || !(next == ' ' || (next >= '0' && next <= '9')))
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
			time_row(b, r, TIME_COMPILE, slice_of("", 0), name, sum, n);
	return k - i;
}

/* The next cell of a CSV line: up to a comma without a blank behind it. */
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
	/* All of it must fit before any of it counts. */
	for (int pass = 0; pass < 2; pass++) {
		struct slice a = names, v = values;
		for (;;) {
			bool left = tuple ? quoted(&a, &name) : cell(&a, &name), right = tuple ? quoted(&v, &value) : cell(&v, &value);
			if (!left && !right)
				break;
			if (left != right || !numbers(value, &sum, &n))
				return 0;
			if (pass)
				time_row(b, i, TIME_COMPILE, slice_of("", 0), name, sum, n);
		}
	}
	return tuple ? 1 : 2;
}

/* stats [('calls_captured', 2), ('unique_graphs', 1)]: torch._dynamo.test_case, benchmarks, 2.0 to 2.13 */
uint32_t parse_stats(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i));
	const char *open = slice_find(line, " [");
	struct slice group = slice_upto(line, open), rest = slice_from(line, open + 2);
	const char *p;
	bool any = false;
	if (rest.n && !slice_starts(rest, "(") && !slice_starts(rest, "]"))
		return 0;
	while ((p = slice_find(rest, "(")) && p + 1 < rest.p + rest.n && (p[1] == '\'' || p[1] == '"')) {
		char close[] = {p[1], ',', ' ', 0};
		struct slice name = slice_from(rest, p + 2);
		const char *end = slice_find(name, close), *last = end ? slice_find(slice_from(name, end), ")") : NULL;
		double v;
		if (!last || !slice_double(slice_of(end + 3, (size_t)(last - end - 3)), &v))
			break;
		time_row(b, i, TIME_COUNTER, group, slice_upto(name, end), v, 1);
		any = true;
		rest = slice_from(rest, last + 1);
	}
	return any;
}

/* defaultdict(<class 'collections.Counter'>, {'frames': Counter({'total': 8, 'ok': 8}), 'stats': Counter({...})}) */
uint32_t parse_counters(struct block *b, uint32_t i)
{
	struct slice rest = block_line(b, i);
	const char *p;
	bool any = false;
	while ((p = slice_find(rest, "': Counter({"))) {
		const char *open = p > rest.p ? memrchr(rest.p, '\'', (size_t)(p - rest.p)) : NULL;
		struct slice group = open ? slice_of(open + 1, (size_t)(p - open - 1)) : slice_of("", 0);
		rest = slice_from(rest, p + strlen("': Counter({"));
		while (rest.n && (rest.p[0] == '\'' || rest.p[0] == '"')) {
			char q = rest.p[0];
			size_t n = 1;
			while (n < rest.n && !(rest.p[n] == q && rest.p[n - 1] != '\\'))
				n++;
			struct slice name = slice_of(rest.p + 1, n - 1), v = slice_skip(rest, n + 1);
			size_t d = 0;
			double value;
			if (!slice_take(&v, ": "))
				break;
			while (d < v.n && ((v.p[d] >= '0' && v.p[d] <= '9') || v.p[d] == '.' || v.p[d] == '-'))
				d++;
			if (!slice_double(slice_of(v.p, d), &value))
				break;
			time_row(b, i, TIME_COUNTER, group, name, value, 1);
			any = true;
			rest = slice_skip(v, d);
			if (!slice_take(&rest, ", "))
				break;
		}
	}
	return any;
}

/* "  triton_mm_4 0.0123 ms 100.0% ACC_TYPE='tl.float32', ..." */
static bool choice(struct slice line, struct slice *name, double *ms)
{
	line = slice_trim(line);
	const char *unit = slice_find(line, " ms ");
	if (!unit && slice_ends(line, " ms"))
		unit = line.p + line.n - 3;
	const char *blank = unit && unit > line.p ? memrchr(line.p, ' ', (size_t)(unit - line.p)) : NULL;
	if (!blank)
		return false;
	*name = slice_upto(line, blank);
	struct slice number = slice_of(blank + 1, (size_t)(unit - blank - 1));
	if (slice_is(number, "inf")) {
		*ms = -1;
		return true;
	}
	return slice_double(number, ms);
}

/* AUTOTUNE mm(128x64, 64x96), strides, dtypes (2.6 and newer), then the choices, the best first */
uint32_t parse_autotune(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i)), name;
	double ms;
	slice_take(&line, "AUTOTUNE ");
	if (!slice_find(line, "("))
		return 0;
	uint32_t k = i + 1, choices = 0;
	for (; k < b->n; k++) {
		struct slice s = slice_trim(block_line(b, k));
		if (!slice_starts(s, "strides: ") && !slice_starts(s, "dtypes: ") && !choice(s, &name, &ms))
			break;
	}
	if (k == b->n && !b->final)
		return BLOCK_MORE;
	for (uint32_t r = i + 1; r < k; r++) {
		if (!choice(block_line(b, r), &name, &ms))
			continue;
		struct textlog_time *row = time_row(b, r, TIME_AUTOTUNE, line, name, ms < 0 ? -1 : ms / 1e3, 1);
		if (row)
			row->best = !choices;
		choices++;
	}
	return k - i;
}

/* "SingleProcess AUTOTUNE benchmarking takes 4.01 seconds and ..." (before 2.4: "AUTOTUNE takes"), "FX codegen ... took 14.3s" */
uint32_t parse_took(struct block *b, uint32_t i)
{
	struct slice line = slice_trim(block_line(b, i));
	const char *took = slice_find(line, " takes "), *end;
	size_t n = 7;
	if (!took) {
		took = slice_find(line, " took ");
		n = 6;
	}
	if (!took)
		return 0;
	struct slice rest = slice_from(line, took + n);
	end = slice_find(rest, " seconds");
	if (!end)
		end = slice_find(rest, "s");
	double v;
	if (!end || !slice_double(slice_upto(rest, end), &v))
		return 0;
	time_row(b, i, TIME_CODEGEN, slice_of("", 0), slice_upto(line, took), v, 1);
	return 1;
}
