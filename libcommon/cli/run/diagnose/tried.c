/* tried.c - in how many programs a fix was tried, and in how many it worked: at the end of its line. Of fixes with a figure the better
 * one comes first. What worked in no program is not printed as a fix: it is named among the hints, so that nobody tries it again, and
 * no tool makes an edit of it.
 *
 * share/breaks/tried.txt is written by tests/live/mend.py --table from what fxexplain mend tried in the programs of tests/live/mend, in
 * each of which several problems meet: "14 3 torch._dynamo.config.capture_scalar_outputs =" is programs for which the fix was advised and
 * tried, in how many of them it worked, and what occurs in its line.
 */
#include "base/html/html.h"
#include "base/text.h"
#include "run/diagnose/finding.h"

enum { FEW = 3, MOST = 32 }; /* programs to give a figure; fixes of a finding */

static bool take_number(struct slice *line, uint64_t *v)
{
	const char *blank = slice_chr(*line, ' ');
	if (!blank || !slice_u64(slice_of(line->p, (size_t)(blank - line->p)), v))
		return false;
	*line = slice_of(blank + 1, (size_t)(line->p + line->n - blank) - 1);
	return true;
}

/* The row of the table that a fix has; false: none. */
static bool tried_row(struct slice table, struct slice fix, uint64_t *programs, uint64_t *worked)
{
	struct slice line;
	while (slice_line(&table, &line))
		if (take_number(&line, programs) && take_number(&line, worked) && line.n && memmem(fix.p, fix.n, line.p, line.n))
			return true;
	return false;
}

/* "torch._dynamo.mark_dynamic(x, 1)    # before the first call" without its remark */
static struct slice without_remark(struct slice line)
{
	const char *remark = slice_find(line, "    #");
	return slice_trim(remark ? slice_of(line.p, (size_t)(remark - line.p)) : line);
}

/* Fixes that have a figure, best first in the places that these have: nothing is known of the others. */
struct counted {
	struct slice line;
	uint64_t programs, worked; /* programs 0: no figure */
};

static void best_first(struct counted *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			if (v[i].programs && v[k].programs && v[k].worked * v[i].programs > v[i].worked * v[k].programs) {
				struct counted c = v[i];
				v[i] = v[k];
				v[k] = c;
			}
}

static void count(struct explanation *x, struct finding *g, struct slice table)
{
	LOCAL_BUF fix = {0};
	LOCAL_BUF hint = {0};
	struct slice rest = g->fix, line;
	struct counted v[MOST];
	uint32_t n = 0;
	bool any = false;
	while (n < MOST && slice_line(&rest, &line)) {
		struct counted c = {.line = line};
		if (!tried_row(table, line, &c.programs, &c.worked) || c.programs < FEW)
			c.programs = 0;
		any |= c.programs > 0;
		if (c.programs && !c.worked)
			buf_addf(&hint, "%sNot %.*s: it was tried in %llu programs, and helped in none", hint.len ? "\n" : "",
				 SL(without_remark(line)), (unsigned long long)c.programs);
		else
			v[n++] = c;
	}
	if (!any)
		return;
	best_first(v, n);
	for (uint32_t i = 0; i < n; i++) {
		buf_addf(&fix, "%s%.*s", fix.len ? "\n" : "", SL(v[i].line));
		if (v[i].programs)
			buf_addf(&fix, "%s tried in %llu programs: %llu", slice_has(v[i].line, "    # ") ? ";" : "    #",
				 (unsigned long long)v[i].programs, (unsigned long long)v[i].worked);
	}
	g->fix = explain_keep(x, buf_slice(&fix));
	if (!hint.len)
		return;
	if (!fix.len && !g->hint.n)
		buf_addf(&hint, "\nfxexplain mend -- python app.py searches for an edit that helps in your program");
	LOCAL_BUF all = {0};
	buf_addf(&all, "%.*s%s%.*s", SL(g->hint), g->hint.n ? "\n" : "", SL(buf_slice(&hint)));
	g->hint = explain_keep(x, buf_slice(&all));
}

/* Each step of a frame that recompiles has fixes of its own, which `fix` makes: without those that worked nowhere. */
static void of_step(struct explanation *x, struct frame_step *s, struct slice table)
{
	LOCAL_BUF fix = {0};
	struct slice rest = s->fix, line;
	uint64_t programs, worked;
	while (slice_line(&rest, &line))
		if (!tried_row(table, line, &programs, &worked) || programs < FEW || worked)
			buf_addf(&fix, "%s%.*s", fix.len ? "\n" : "", SL(line));
	if (fix.len < s->fix.n)
		s->fix = explain_keep(x, buf_slice(&fix));
}

void explain_tried_in(struct explanation *x, struct slice table)
{
	for (uint32_t i = 0; i < x->n_step; i++)
		of_step(x, &x->step[i], table);
	for (uint32_t i = 0; i < x->n_finding; i++) {
		struct finding *g = &x->finding[i];
		if (g->into == NONE && g->fix.n && (g->kind == FINDING_BREAK || g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT))
			count(x, g, table);
	}
}

void explain_tried(struct explanation *x) { explain_tried_in(x, share_file("breaks/tried.txt")); }
