/* github.c - --github: workflow commands of GitHub Actions, ::error file=app/m.py,line=5,title=...::message
 * (docs.github.com, "Workflow commands for GitHub Actions": % CR LF are escaped in messages, : and , in properties, too). The findings
 * also become a table in the job summary, appended to the file named by GITHUB_STEP_SUMMARY. With --baseline both show only what got
 * worse: GitHub shows ten annotations of each level per step, and new ones would be lost behind old ones. */
#include "explain/emit.h"
#include "base/emit/format.h"
#include "base/emit/markdown.h"

#include "base/tool/diag.h"
#include "base/text.h"
#include "run/diagnose/ignore.h"

#include <fcntl.h>
#include <unistd.h>

enum { ROWS = 50 }; /* of the summary: the limit is 1 MiB per step */

static bool is_shown(const struct finding *g) { return g->change != CHANGE_NONE; }

static void annotation(struct buf *b, const struct explanation *x, const struct finding *g)
{
	static const char *const command[] = {"notice", "warning", "error"};
	LOCAL_BUF text = {0}, path = {0}, title = {0};
	buf_addf(b, "::%s ", command[g->level]);
	if (emit_source(x, g->loc.file, &path)) {
		buf_adds(b, "file=");
		format_github_escape(b, buf_slice(&path), true);
		if (g->loc.line)
			buf_addf(b, ",line=%u", g->loc.line);
		buf_addc(b, ',');
	}
	buf_adds(b, "title=");
	buf_addf(&title, "%s", finding_kind_name[g->kind]);
	if (g->id.n && !slice_is(g->id, finding_kind_name[g->kind])) {
		buf_addc(&title, ' ');
		buf_add_slice(&title, g->id);
	}
	format_github_escape(b, buf_slice(&title), true);
	buf_adds(b, "::");
	buf_add_slice(&text, g->title);
	if (!path.len && g->loc.file != NONE) {
		buf_adds(&text, " at ");
		explain_add_where(&text, x, g);
	}
	emit_details(x, g, &text);
	format_github_escape(b, buf_slice(&text), false);
	buf_addc(b, '\n');
}

/* ---- the job's summary ---- */

static void summary_row(struct buf *b, const struct explanation *x, const struct finding *g)
{
	struct slice rest = g->fix.n ? g->fix : g->hint.n ? g->hint : g->torch_hint, fix;
	LOCAL_BUF place = {0}, path = {0};
	explain_add_where(&place, x, g);
	struct slice where = buf_slice(&place), file = explain_text(x, g->loc.file);
	if (file.n && where.n > file.n && !memcmp(where.p, file.p, file.n) &&
	    emit_source(x, g->loc.file, &path)) { /* as in the annotations */
		buf_add(&path, where.p + file.n, where.n - file.n);
		where = buf_slice(&path);
	}
	buf_addf(b, "| %s | ", finding_level_name[g->level]);
	md_text(b, g->title, 300);
	buf_adds(b, " | ");
	if (where.n)
		md_code(b, where, 200);
	buf_adds(b, " | ");
	md_text(b, g->cost, 200);
	buf_adds(b, " | ");
	if (slice_line(&rest, &fix))
		md_code(b, fix, 300);
	buf_adds(b, " |\n");
}

static void summary(struct buf *b, const struct explanation *x)
{
	buf_adds(b, "### fxexplain\n\n");
	if (x->n_component && explain_verdict_title(&x->component[0]).n) {
		buf_adds(b, explain_verdict_label(&x->component[0]));
		md_text(b, explain_verdict_title(&x->component[0]), 0);
		buf_adds(b, ".\n\n");
	}
	buf_addf(b, "%llu graph breaks, %llu recompiles, %llu failures, %llu graphs", (unsigned long long)x->sum.graph_breaks,
		 (unsigned long long)x->sum.recompiles, (unsigned long long)x->sum.failures, (unsigned long long)x->sum.graphs);
	if (x->sum.compile_seconds >= 0) {
		buf_adds(b, ", ");
		put_seconds(b, x->sum.compile_seconds);
		buf_adds(b, " of compile time");
	}
	buf_adds(b, ".\n\n");
	uint32_t rows = 0;
	for (uint32_t i = 0; i < x->n_finding; i++) {
		if (!is_shown(&x->finding[i]) || rows++ >= ROWS)
			continue;
		if (rows == 1)
			buf_adds(b, "| | what | where | cost | fix |\n|---|---|---|---|---|\n");
		summary_row(b, x, &x->finding[i]);
	}
	if (rows > ROWS)
		buf_addf(b, "\n... and %u more.\n", rows - ROWS);
	if (rows)
		buf_addc(b, '\n');
	if (x->n_ignored) {
		LOCAL_BUF ignored = {0};
		ignore_text(&ignored, x, ROWS);
		md_text(b, buf_slice(&ignored), 0);
		buf_adds(b, ".\n\n");
	}
}

static void append_summary(const struct explanation *x)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	struct err err = {.text = ""};
	struct screen s = {0};
	if (!path || !*path)
		return;
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	summary(&s.b, x);
	if (fd < 0)
		err_errno(&err, EXIT_ENVIRON, "cannot write the job summary to '%s'", path);
	if (fd >= 0)
		screen_write(&s, fd, path, &err);
	if (err.text[0])
		warn("%s", err.text);
	if (fd >= 0)
		close(fd);
	buf_release(&s.b);
}

void emit_github(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	(void)opt;
	for (uint32_t i = 0; i < x->n_finding; i++)
		if (is_shown(&x->finding[i]))
			annotation(b, x, &x->finding[i]);
	append_summary(x);
}

void emit_markdown(struct buf *b, const struct explanation *x, const struct explain_options *opt)
{
	(void)opt;
	summary(b, x);
}
