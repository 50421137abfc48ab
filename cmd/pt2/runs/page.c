/* page.c - pt2 runs --html: the trend of each frame over the runs of one command, as one page without a script. */
#include "runs/runs.h"

#include "base/html/html.h"
#include "base/text.h"

#include <time.h>

enum { BAR = 11, GAP = 3, TALL = 28 };
enum measure { SECONDS, BREAKS, RECOMPILES, MEASURES };
static const char *const class_of[] = {[SECONDS] = "seconds", [BREAKS] = "breaks", [RECOMPILES] = "recompiles"};

static double value_of(const struct frame_at *f, enum measure m)
{
	return m == SECONDS ? f->seconds : m == BREAKS ? f->breaks : f->recompiles;
}

static void put_value(struct buf *b, enum measure m, double v)
{
	if (m == SECONDS)
		put_seconds(b, v);
	else
		buf_addf(b, "%.0f", v);
}

/* A change worth a colour: a count that differs, a time by a tenth and 50 ms. */
static const char *change_of(enum measure m, double before, double now)
{
	const double by = now - before, least = m == SECONDS ? (before * 0.1 > 0.05 ? before * 0.1 : 0.05) : 0.5;
	return by > least ? "worse" : by < -least ? "better" : "dim";
}

static void put_change(struct buf *b, enum measure m, double before, double now)
{
	const char *how = change_of(m, before, now);
	if (before == now || !strcmp(how, "dim"))
		return;
	buf_addf(b, " <span class=\"%s\">%c", how, now > before ? '+' : '-');
	put_value(b, m, now > before ? now - before : before - now);
	html_raw(b, "</span>");
}

/* "last~2, 2026-11-26 22:10" */
static void put_run_name(struct buf *b, const struct runs *r, size_t k)
{
	const size_t back = (size_t)(r->of[k] - r->v);
	const time_t at = (time_t)r->of[k]->kept->started;
	struct tm tm;
	char text[32] = "";
	buf_addf(b, back ? "last~%zu" : "last", back);
	if (at > 0 && localtime_r(&at, &tm) && strftime(text, sizeof(text), ", %Y-%m-%d %H:%M", &tm))
		buf_adds(b, text);
}

/* A bar for each run, oldest first; a line at the bottom where there is nothing. Each row has its own scale: it shows a trend. */
static void put_bars(struct buf *b, const struct runs *r, const struct frame_row *f, enum measure m)
{
	double most = 0;
	for (size_t k = 0; k < r->n_of; k++)
		most = value_of(&f->at[k], m) > most ? value_of(&f->at[k], m) : most;
	buf_addf(b, "<svg class=\"%s\" width=\"%zu\" height=\"%d\" role=\"img\">", class_of[m], r->n_of * (BAR + GAP), TALL);
	for (size_t k = 0; k < r->n_of; k++) {
		const double v = value_of(&f->at[k], m);
		const double tall = f->at[k].compiles && v > 0 ? (v / most * (TALL - 2) > 2 ? v / most * (TALL - 2) : 2) : 1;
		LOCAL_BUF text = {0};
		put_run_name(&text, r, k);
		buf_adds(&text, ": ");
		if (f->at[k].compiles)
			put_value(&text, m, v);
		else
			buf_adds(&text, "not compiled");
		buf_addf(b, "<rect%s x=\"%zu\" y=\"%.1f\" width=\"%d\" height=\"%.1f\">",
			 f->at[k].compiles && v > 0 ? "" : " class=\"none\"", k * (BAR + GAP), TALL - tall, BAR, tall);
		html_put(b, "<title>{}</title></rect>", buf_slice(&text));
	}
	html_raw(b, "</svg>");
}

/* The newest run's value, and its change; "-": that run did not compile the frame. */
static void put_cell(struct buf *b, const struct runs *r, const struct frame_row *f, enum measure m)
{
	const struct frame_at *now = &f->at[r->n_of - 1], *before = r->n_of > 1 ? &f->at[r->n_of - 2] : NULL;
	html_raw(b, "<td>");
	put_bars(b, r, f, m);
	html_raw(b, "</td><td class=\"num\">");
	if (!now->compiles)
		html_raw(b, "-");
	else
		put_value(b, m, value_of(now, m));
	if (now->compiles && before && before->compiles)
		put_change(b, m, value_of(before, m), value_of(now, m));
	html_raw(b, "</td>");
}

static double total_of(const struct runs *r, size_t k, enum measure m)
{
	const struct run_row *row = r->of[k];
	const double v = m == SECONDS ? row->compile_seconds : m == BREAKS ? (double)row->breaks : (double)row->recompiles;
	return v > 0 ? v : 0;
}

static void put_tiles(struct buf *b, const struct runs *r)
{
	static const char *const what[] = {[SECONDS] = "compile time", [BREAKS] = "graph breaks", [RECOMPILES] = "recompiles"};
	html_raw(b, "<div class=\"tiles\">");
	for (enum measure m = SECONDS; m < MEASURES; m++) {
		html_put(b, "<div class=\"tile\"><div class=\"what\">{}</div><b>", slice_str(what[m]));
		put_value(b, m, total_of(r, r->n_of - 1, m));
		html_raw(b, "</b>");
		if (r->n_of > 1)
			put_change(b, m, total_of(r, r->n_of - 2, m), total_of(r, r->n_of - 1, m));
		html_raw(b, "</div>");
	}
	html_raw(b, "</div>\n");
}

static void put_frames(struct buf *b, const struct runs *r)
{
	html_raw(
	    b,
	    "<h2>Frames <small>slowest in the newest run first; each row has its own scale</small></h2>\n<div class=\"panel\"><table><tr>"
	    "<th>frame</th><th colspan=\"2\">compile time</th><th colspan=\"2\">graph breaks</th><th colspan=\"2\">recompiles</th></tr>\n");
	for (size_t i = 0; i < r->n_frame; i++) {
		html_put(b, "<tr><td class=\"name\">{}</td>", r->frame[i].place);
		for (enum measure m = SECONDS; m < MEASURES; m++)
			put_cell(b, r, &r->frame[i], m);
		html_raw(b, "</tr>\n");
	}
	html_raw(b, "</table></div>\n");
}

static void put_runs(struct buf *b, const struct runs *r)
{
	html_raw(b, "<h2>Runs <small>newest first</small></h2>\n<div class=\"panel\"><table><tr><th>run</th><th>name</th><th "
		    "class=\"num\">compile time</th><th class=\"num\">compilations</th><th class=\"num\">graph breaks</th><th "
		    "class=\"num\">recompiles</th><th class=\"num\">failures</th></tr>\n");
	for (size_t k = r->n_of; k-- > 0;) {
		const struct run_row *row = r->of[k];
		LOCAL_BUF run = {0};
		put_run_name(&run, r, k);
		html_put(b, "<tr><td>{}</td><td class=\"name\">{}</td><td class=\"num\">", buf_slice(&run), slice_str(row->kept->name));
		put_seconds(b, total_of(r, k, SECONDS));
		buf_addf(b,
			 "</td><td class=\"num\">%lld</td><td class=\"num\">%.0f</td><td class=\"num\">%.0f</td><td "
			 "class=\"num\">%lld</td></tr>\n",
			 (long long)row->compiles, total_of(r, k, BREAKS), total_of(r, k, RECOMPILES), (long long)row->failures);
	}
	html_raw(b, "</table></div>\n");
}

void runs_page(const struct runs *r, struct buf *b)
{
	static const char *const css[] = {"page/theme.css", "page/common.css", "runs/runs.css", NULL}, *const js[] = {NULL};
	static const struct html_page page = {.css = css, .js = js};
	const char *command = r->n_of ? r->of[0]->kept->command : NULL;
	html_head(b, &page, SLICE("Runs - pt2"));
	html_put(b, "<main>\n<h1>{}</h1>\n", slice_str(command ? command : "No runs yet"));
	buf_addf(b, "<p class=\"lead\">%zu run%s, %zu frame%s</p>\n", r->n_of, plural(r->n_of), r->n_frame, plural(r->n_frame));
	if (r->n_of) {
		put_tiles(b, r);
		put_frames(b, r);
		put_runs(b, r);
	}
	html_raw(b, "<p class=\"dim\">pt2 (pt2utils) " PT2_VERSION "</p>\n</main>\n");
	html_tail(b);
}
