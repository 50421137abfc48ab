/* tried.c - in how many programs a fix was tried, and in how many it worked: at the end of its line. A setting that never worked is
 * left out.
 *
 * share/breaks/tried.txt is written by tests/live/mend.py --table from what fxexplain mend tried in the programs of tests/live/mend, in
 * each of which several problems meet: "14 3 torch._dynamo.config.capture_scalar_outputs =" is programs, in how many of them it worked,
 * and what occurs in the line of the fix.
 */
#include "base/html/html.h"
#include "base/text.h"
#include "run/diagnose/finding.h"

enum { FEW = 3, ENOUGH = 5 }; /* programs to give a figure; to leave out a setting that never worked */

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

static void count(struct explanation *x, struct finding *g, struct slice table)
{
	LOCAL_BUF b = {0};
	struct slice rest = g->fix, line;
	uint64_t programs, worked;
	bool any = false;
	while (slice_line(&rest, &line)) {
		bool row = tried_row(table, line, &programs, &worked) && programs >= FEW;
		any |= row;
		if (row && programs >= ENOUGH && !worked && slice_has(line, "torch._dynamo.config."))
			continue;
		buf_addf(&b, "%s%.*s", b.len ? "\n" : "", SL(line));
		if (row)
			buf_addf(&b, "%s tried in %llu program%s: %llu", slice_has(line, "    # ") ? ";" : "    #",
				 (unsigned long long)programs, plural(programs), (unsigned long long)worked);
	}
	if (any)
		g->fix = explain_keep(x, buf_slice(&b));
}

void explain_tried(struct explanation *x)
{
	struct slice table = share_file("breaks/tried.txt");
	for (uint32_t i = 0; i < x->n_finding; i++) {
		struct finding *g = &x->finding[i];
		if (g->into == NONE && g->fix.n && (g->kind == FINDING_BREAK || g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT))
			count(x, g, table);
	}
}
