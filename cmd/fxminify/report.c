/* Lines for people, on standard error: as torch's minifier writes them, and one that shows how far it is. */
#include "fxminify.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1

void report_init(struct report *r, const struct fxminify_options *o, const struct runner *runner)
{
	const char *term = getenv("TERM");
	*r = (struct report){.quiet = o->quiet, .tty = !o->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0, .runner = runner};
}

void report_clear(struct report *r)
{
	if (r->shown)
		fputs("\r\033[K", stderr);
	r->shown = false;
}

void report_line(struct report *r, const char *fmt, ...)
{
	if (r->quiet)
		return;
	struct screen s = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&s.b, fmt, ap);
	va_end(ap);
	report_clear(r);
	buf_addc(&s.b, '\n');
	screen_write(&s, STDERR_FILENO, "standard error", NULL); /* nothing can be done when that is gone */
	buf_release(&s.b);
	r->last = 0;
}

static int columns(void)
{
	struct winsize w;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

void report_progress(struct report *r)
{
	const struct runner *run = r->runner;
	double now = runner_clock(run);
	if (!r->tty || now - r->last < REDRAW_SECONDS)
		return;
	r->last = now;
	struct buf b = {0};
	if (run->has_best)
		buf_addf(&b, "%zu nodes, ", run->best.ops);
	buf_addf(&b, "%llu tests, %zu in flight, %d:%02d", (unsigned long long)run->count.tests, run->in_flight, (int)now / 60, (int)now % 60);
	if (r->strategy)
		buf_addf(&b, ", %s", r->strategy);
	if (r->file)
		buf_addf(&b, ", best in %s", r->file);
	clean_text(b.p, b.len);
	int width = columns() - 1;
	fprintf(stderr, "\r\033[K%.*s", (int)b.len < width ? (int)b.len : width, b.p);
	fflush(stderr);
	r->shown = true;
	buf_release(&b);
}

void report_strategy(void *report, const char *name, size_t granularity, const struct candidate *best)
{
	struct report *r = report;
	r->strategy = name;
	report_line(r, "Strategy: %s (G: %zu) (%zu nodes, %zu inputs)", name, granularity, best->ops, best->n_feeds);
}

void report_success(void *report, const char *name, size_t before, size_t after)
{
	if (before != after)
		report_line(report, "SUCCESS: Went from %zu to %zu nodes", before, after);
	else
		report_line(report, "SUCCESS: %s", name);
}

void report_summary(struct report *r, const struct candidate *best, size_t original_ops)
{
	const struct runner_counts *c = &r->runner->count;
	struct buf b = {0};
	for (int v = 0; v <= VERDICT_FLAKY; v++)
		if (c->by_verdict[v])
			buf_addf(&b, "%s%llu %s", b.len ? ", " : "", (unsigned long long)c->by_verdict[v], verdict_name((enum verdict)v));
	report_line(r, "Made %llu queries in %.1f s (%s)%s", (unsigned long long)c->tests, runner_clock(r->runner), buf_str(&b),
		    c->tests ? "" : "; all answers were known");
	report_line(r, "Went from %zu to %zu nodes, %zu input%s", original_ops, best->ops, best->n_feeds, best->n_feeds == 1 ? "" : "s");
	buf_release(&b);
}
