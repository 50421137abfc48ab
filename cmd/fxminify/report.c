/* The progress on standard error: a row for each step and pass with its counts; on a terminal the one that is being made moves. */
#include "fxminify.h"
#include "base/text.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1
#define LABEL_WIDTH 11

void report_init(struct report *r, const struct fxminify_options *o, const struct runner *runner)
{
	const char *term = getenv("TERM");
	bool tty = !o->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	*r = (struct report){
	    .quiet = o->quiet, .verbose = o->verbose, .tty = tty, .colour = !o->quiet && color_on(STDERR_FILENO), .runner = runner};
}

void report_clear(struct report *r)
{
	if (r->shown)
		fputs("\r\033[K", stderr);
	r->shown = false;
}

static void put_line(struct report *r, const char *label, const struct buf *text, const char *tail)
{
	struct screen s = {.color = r->colour};
	report_clear(r);
	buf_addf(&s.b, "%-*s", *label ? LABEL_WIDTH : 0, label);
	buf_add_slice(&s.b, buf_slice(text));
	if (*tail)
		put_dim(&s, tail);
	buf_addc(&s.b, '\n');
	screen_write(&s, STDERR_FILENO, "standard error", NULL); /* nothing can be done when that is gone */
	buf_release(&s.b);
	r->last = 0;
}

void report_line(struct report *r, const char *fmt, ...)
{
	if (r->quiet)
		return;
	LOCAL_BUF b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	put_line(r, "", &b, "");
}

/* "; 12 tests, 3.1 s": since the step began. */
static char *cost_of(const struct report *r)
{
	unsigned long long tests = r->runner->count.tests - r->tests;
	double seconds = runner_clock(r->runner) - r->since;
	return tests ? xasprintf("; %llu test%s, %.1f s", tests, plural(tests), seconds) : xasprintf("%s", "");
}

void report_row(struct report *r, const char *label, const char *fmt, ...)
{
	LOCAL_BUF b = {0};
	va_list ap;
	r->label = "";
	if (r->quiet)
		return;
	va_start(ap, fmt);
	buf_addvf(&b, fmt, ap);
	va_end(ap);
	put_line(r, label, &b, "");
}

static int columns(void)
{
	struct winsize w;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

static void draw_progress(struct report *r)
{
	const struct runner *run = r->runner;
	LOCAL_BUF b = {0};
	buf_addf(&b, "%-*s", LABEL_WIDTH, r->label ? r->label : "");
	if (run->has_best)
		buf_addf(&b, "%zu operation%s left, ", run->best.ops, plural(run->best.ops));
	if (run->count.tests) {
		double now = runner_clock(run);
		buf_addf(&b, "%llu tests, %zu running, %d:%02d", (unsigned long long)run->count.tests, run->in_flight, (int)now / 60,
			 (int)now % 60);
	} else {
		buf_adds(&b, "...");
	}
	if (r->file)
		buf_addf(&b, ", the best is in %s", r->file);
	int width = columns() - 1;
	clean_text(b.p, b.len);
	fprintf(stderr, "\r\033[K%.*s", (int)b.len < width ? (int)b.len : width, b.p);
	fflush(stderr);
	r->shown = true;
}

void report_step(struct report *r, const char *label)
{
	r->label = label;
	r->tests = r->runner->count.tests;
	r->since = runner_clock(r->runner);
	if (r->tty)
		draw_progress(r);
}

void report_progress(struct report *r)
{
	double now = runner_clock(r->runner);
	if (!r->tty || now - r->last < REDRAW_SECONDS)
		return;
	r->last = now;
	draw_progress(r);
}

/* A later round is told of only when it brought something. */
static bool told_before(struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_told; i++)
		if (!strcmp(r->told[i], name))
			return true;
	if (r->n_told < ARRAY_LEN(r->told))
		r->told[r->n_told++] = name;
	return false;
}

void report_pass(void *report, const struct pass_note *note)
{
	struct report *r = report;
	if (!note->ended) {
		r->ops = r->runner->best.ops;
		report_step(r, note->name);
		return;
	}
	bool again = told_before(r, note->name);
	r->label = "";
	if (r->quiet || (again && !note->done)) {
		report_clear(r);
		return;
	}
	LOCAL_BUF b = {0};
	FREED char *cost = cost_of(r);
	if (note->done)
		buf_addf(&b, "%zu %s%s", note->done, again ? "more " : "", note->did);
	else
		buf_addf(&b, "none %s", note->did);
	if (r->ops != r->runner->best.ops)
		buf_addf(&b, ", %zu left", r->runner->best.ops);
	put_line(r, note->name, &b, cost);
}

/* ---- --verbose: as torch's minifier has it ---- */

void report_strategy(void *report, const char *name, size_t granularity, const struct candidate *best)
{
	struct report *r = report;
	if (r->verbose)
		report_line(r, "Strategy: %s (G: %zu) (%zu nodes, %zu inputs)", name, granularity, best->ops, best->n_feeds);
}

void report_success(void *report, const char *name, size_t before, size_t after)
{
	struct report *r = report;
	if (!r->verbose)
		return;
	if (before != after)
		report_line(r, "SUCCESS: Went from %zu to %zu nodes", before, after);
	else
		report_line(r, "SUCCESS: %s", name);
}

static void add_verdicts(const struct report *r, struct buf *b)
{
	const struct runner_counts *c = &r->runner->count;
	const char *before = ": ";
	for (int v = 0; v <= VERDICT_FLAKY; v++)
		if (c->by_verdict[v]) {
			buf_addf(b, "%s%llu %s", before, (unsigned long long)c->by_verdict[v], verdict_words[v]);
			before = ", ";
		}
	if (!c->tests)
		buf_adds(b, ": all answers were known");
}

void report_summary(struct report *r, const struct candidate *best, size_t original_ops)
{
	const struct runner_counts *c = &r->runner->count;
	LOCAL_BUF b = {0};
	if (r->quiet)
		return;
	buf_addf(&b, "%zu of %zu operation%s, %zu input%s", best->ops, original_ops, plural(original_ops), best->n_feeds,
		 plural(best->n_feeds));
	if (r->file)
		buf_addf(&b, ", in %s", r->file);
	LOCAL_BUF tail = {0};
	buf_addf(&tail, "; %llu test%s, %.1f s", (unsigned long long)c->tests, plural(c->tests), runner_clock(r->runner));
	if (r->verbose || !c->tests)
		add_verdicts(r, &tail);
	put_line(r, "result", &b, buf_str(&tail));
}
