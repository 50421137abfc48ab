/* vllm.c - vllm.html: what vLLM's backend compiled, by range of sizes and part of the graph, and what each pass changed.
 * The single page shows the same rows (share/report/vllm.js). */
#include "outdir.h"

#include <inttypes.h>

static void put_setting(struct buf *b, const struct trace *t, const char *what, uint32_t text)
{
	if (text == NONE)
		return;
	buf_addf(b, "<tr><th>%s</th><td><code>", what);
	html_put(b, "{}</code></td></tr>\n", name(t, text));
}

static void put_settings(struct buf *b, const struct trace *t, const struct fact_vllm_call *c)
{
	html_raw(b, "<table><tbody>\n");
	put_setting(b, t, "event", c->event);
	put_setting(b, t, "model", c->model);
	put_setting(b, t, "prefix", c->prefix);
	put_setting(b, t, "mode", c->mode);
	put_setting(b, t, "backend", c->backend);
	put_setting(b, t, "cudagraph mode", c->cudagraph_mode);
	put_setting(b, t, "sizes", c->sizes);
	put_setting(b, t, "ranges", c->ranges);
	put_setting(b, t, "splitting ops", c->splitting_ops);
	put_setting(b, t, "custom ops", c->custom_ops);
	put_setting(b, t, "enabled passes", c->enabled_passes);
	put_setting(b, t, "inductor passes", c->inductor_passes);
	put_setting(b, t, "shapes", c->shapes);
	html_raw(b, "</tbody></table>\n");
}

static void put_hunks(struct buf *b, struct slice rest)
{
	struct slice line;
	html_raw(b, "<pre class=\"hunks\">");
	while (slice_line(&rest, &line)) {
		const char sign = line.n ? line.p[0] : ' ';
		html_raw(b, sign == '+'   ? "<span class=\"add\">"
			    : sign == '-' ? "<span class=\"del\">"
			    : sign == '@' ? "<span class=\"at\">"
					  : "<span>");
		html_put(b, "{}\n</span>", line);
	}
	html_raw(b, "</pre>\n");
}

/* A name as a link to the artifact's page, if it has one. */
static void put_artifact(struct buf *b, const struct trace *t, uint32_t number, struct slice text)
{
	const struct trace_artifact *a = number == NONE ? NULL : trace_numbered(t, number);
	if (!a) {
		html_text(b, text);
		return;
	}
	LOCAL_BUF path = {0};
	trace_artifact_path(t, a, false, &path);
	html_link(b, buf_slice(&path), text);
}

/* What else belongs to the call on this line. */
static void put_texts(struct buf *b, const struct trace *t, uint64_t call)
{
	bool any = false;
	for (uint32_t i = 0; i < t->f->n_vllm_text; i++) {
		const struct fact_vllm_text *x = &t->f->vllm_text[i];
		if (x->src.input != t->input || x->call != call)
			continue;
		html_raw(b, any ? ", " : "<p>");
		put_artifact(b, t, x->src.artifact, name(t, x->name));
		any = true;
	}
	html_raw(b, any ? "</p>\n" : "");
}

static void put_pass(struct buf *b, const struct trace *t, const struct fact_vllm_pass *p)
{
	html_raw(b, p->diff == NONE ? "<li>" : "<li><details><summary>");
	if (p->index >= 0)
		buf_addf(b, "%" PRId64 " ", p->index);
	put_artifact(b, t, p->src.artifact, name(t, p->name));
	if (p->added < 0)
		html_raw(b, " <small>nothing to compare with</small>");
	else if (p->added || p->removed)
		buf_addf(b, " <small>+%" PRId64 " \xe2\x88\x92%" PRId64 "</small>", p->added, p->removed);
	else
		html_raw(b, " <small>changes nothing</small>");
	if (p->diff != NONE) {
		html_raw(b, "</summary>\n");
		put_hunks(b, name(t, p->diff));
		html_raw(b, "</details>");
	}
	html_raw(b, "</li>\n");
}

static void put_piece(struct buf *b, const struct trace *t, const struct fact_vllm_piece *p)
{
	html_put(b, "<h4><code>{}", name(t, p->name));
	html_raw(b, p->cudagraph ? "</code> <small>captured as a CUDA graph</small></h4>\n<ul>\n" : "</code></h4>\n<ul>\n");
	for (uint32_t i = 0; i < t->f->n_vllm_pass; i++) /* only a few: parts times passes */
		if (t->f->vllm_pass[i].src.input == t->input && t->f->vllm_pass[i].piece == p->src.line)
			put_pass(b, t, &t->f->vllm_pass[i]);
	html_raw(b, "</ul>\n");
}

static bool same_range(const struct fact_vllm_piece *a, const struct fact_vllm_piece *b)
{
	return a->call == b->call && a->start == b->start && a->end == b->end && a->single == b->single;
}

/* The parts of a call (line; 0: none), by range in order of first appearance. */
static void put_ranges(struct buf *b, const struct trace *t, uint64_t call)
{
	const struct fact_vllm_piece *piece = t->f->vllm_piece;
	const uint32_t n = t->f->n_vllm_piece;
	bool *told = xcalloc(n + 1u, sizeof(*told));
	for (uint32_t i = 0; i < n; i++) {
		if (told[i] || piece[i].src.input != t->input || piece[i].call != call)
			continue;
		if (piece[i].start < 0)
			html_raw(b, "<h3>no range</h3>\n");
		else if (piece[i].single)
			buf_addf(b, "<h3>size %" PRId64 "</h3>\n", piece[i].start);
		else
			buf_addf(b, "<h3>sizes %" PRId64 " to %" PRId64 "</h3>\n", piece[i].start, piece[i].end);
		for (uint32_t k = i; k < n; k++)
			if (!told[k] && piece[k].src.input == t->input && same_range(&piece[i], &piece[k])) {
				told[k] = true;
				put_piece(b, t, &piece[k]);
			}
	}
	free(told);
}

void page_vllm(struct buf *b, const struct trace *t)
{
	page_head(b, SLICE("vLLM"), 0);
	html_raw(
	    b, "<h1>What vLLM compiled</h1>\n<p class=\"note\">By size range and part of the graph, with the changes of each pass.</p>\n");
	put_texts(b, t, 0);
	put_ranges(b, t, 0);
	for (uint32_t i = 0; i < t->f->n_vllm_call; i++) {
		const struct fact_vllm_call *c = &t->f->vllm_call[i];
		if (c->src.input != t->input)
			continue;
		html_put(b, "<h2>{}</h2>\n", c->prefix == NONE ? SLICE("A call") : name(t, c->prefix));
		put_settings(b, t, c);
		put_texts(b, t, c->src.line);
		put_ranges(b, t, c->src.line);
	}
	html_tail(b);
}
