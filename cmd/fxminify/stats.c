/* stats.c - --stats: a journal as tables. */
#include "fxminify.h"

#include "base/tool/diag.h"
#include "base/tool/screen.h"
#include "reduce/journal.h"
#include "base/text.h"

struct phase_row {
	struct slice name;
	uint64_t tests, same;
	double seconds;
};

static struct phase_row *row_of(struct phase_row *rows, size_t *n, struct slice name)
{
	for (size_t i = 0; i < *n; i++)
		if (slice_eq(rows[i].name, name))
			return &rows[i];
	rows[*n] = (struct phase_row){.name = name};
	return &rows[(*n)++];
}

static void show_phases(struct screen *s, const struct journal_record *r)
{
	FREED struct phase_row *rows = xcalloc(r->n_tests + 1, sizeof(*rows));
	size_t n = 0;
	for (size_t i = 0; i < r->n_tests; i++) {
		struct phase_row *row = row_of(rows, &n, r->test[i].phase);
		row->tests++;
		row->same += r->test[i].verdict == VERDICT_SAME || r->test[i].verdict == VERDICT_FLAKY;
		row->seconds += r->test[i].seconds;
	}
	LOCAL_BUF t = {0};
	buf_adds(&t, "strategy\ttests\tsuccesses\tseconds\n");
	for (size_t i = 0; i < n; i++)
		buf_addf(&t, "%.*s\t%llu\t%llu\t%.1f\n", SL(rows[i].name), (unsigned long long)rows[i].tests,
			 (unsigned long long)rows[i].same, rows[i].seconds);
	put_table(s, buf_slice(&t));
}

static void show_verdicts(struct screen *s, const struct journal_record *r)
{
	uint64_t n[VERDICT_FLAKY + 1] = {0};
	for (size_t i = 0; i < r->n_tests; i++)
		n[r->test[i].verdict]++;
	LOCAL_BUF t = {0};
	buf_adds(&t, "verdict\ttests\n");
	for (int v = 0; v <= VERDICT_FLAKY; v++)
		if (n[v])
			buf_addf(&t, "%s\t%llu\n", verdict_words[v], (unsigned long long)n[v]);
	buf_addc(&s->b, '\n');
	put_table(s, buf_slice(&t));
}

static void show_best(struct screen *s, const struct journal_record *r)
{
	LOCAL_BUF t = {0};
	buf_adds(&t, "seconds\tnodes\tfile\n");
	for (size_t i = 0; i < r->n_best; i++)
		buf_addf(&t, "%.1f\t%zu\t%.*s\n", r->best[i].at, r->best[i].ops, SL(r->best[i].file));
	if (r->n_best) {
		buf_addc(&s->b, '\n');
		put_table(s, buf_slice(&t));
	}
}

int stats_run(const char *path)
{
	struct journal_record r;
	struct err err;
	if (journal_read(&r, path, &err) < 0)
		die_err(&err);
	struct screen s = screen_make();
	double last = 0;
	for (size_t i = 0; i < r.n_tests; i++)
		last = r.test[i].at > last ? r.test[i].at : last;
	buf_addf_clean(&s.b, "%.*s: %zu tests in %.1f s", SL(r.head.input), r.n_tests, last);
	if (r.head.torch.n)
		buf_addf_clean(&s.b, ", torch %.*s", SL(r.head.torch));
	buf_addf_clean(&s.b, ", %.*s\n", SL(r.end.n ? r.end : SLICE("not finished")));
	buf_addc(&s.b, '\n');
	show_phases(&s, &r);
	show_verdicts(&s, &r);
	show_best(&s, &r);
	if (r.bad_lines)
		buf_addf(&s.b, "\n%zu line%s of the journal could not be read (a killed process leaves one)\n", r.bad_lines,
			 plural(r.bad_lines));
	screen_end(&s);
	journal_record_release(&r);
	return EXIT_FINE;
}
