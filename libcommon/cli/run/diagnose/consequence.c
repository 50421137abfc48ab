/* consequence.c - recompiles that are there only because of a break: reported with it, and without a fix of their own.
 *
 * Dynamo compiles what follows a break as a function of its own, and where a break leaves a whole function to Python, each function that it
 * calls. These have arguments that the program's own call does not have: what the line that breaks left on the stack, and values between
 * two layers, which need a gradient in one call and none in another. Without the break they are inside one graph, and no guard reads them.
 */
#include "base/text.h"
#include "run/diagnose/finding.h"

enum { LOOKED_AT = 512, CLIP = 300 };

/* Is that line of that file (line 0: any), in that function (empty: any), in the frames? */
static bool in_frames(struct slice frames, struct slice file, uint32_t line, struct slice function)
{
	struct srcloc at;
	while (explain_frame(&frames, &at))
		if (slice_eq(at.file, file) && (!line || at.line == line) && (!function.n || slice_eq(at.func, function)))
			return true;
	return false;
}

/* Does this code exist because of that break: is it the code after it, or called by a function that it leaves to Python? */
static bool exists_by(const struct explanation *x, const struct fact_frame *row, const struct break_group *b)
{
	const struct facts *f = x->facts;
	const struct fact_break *first = &f->brk[b->first];
	struct slice of, file = explain_text(x, row->loc.file);
	uint32_t line;
	if (b->finding == NONE || first->src.input != row->input)
		return false;
	if (facts_resume_name(explain_text(x, row->loc.function), &of, &line))
		return (b->loc.file == row->loc.file && b->loc.line == line) || in_frames(explain_text(x, first->stack), file, line, of);
	const struct fact_compile *broken = first->compile == NONE ? NULL : &f->compile[first->compile];
	if (!row->n || !broken || broken->loc.file == NONE || broken->loc.function == NONE ||
	    f->compile[f->frame_compile[row->first]].stack == NONE)
		return false;
	bool itself = broken->loc.file == row->loc.file && broken->loc.function == row->loc.function && broken->loc.line == row->loc.line;
	struct slice function = explain_text(x, broken->loc.function);
	return !itself &&
	       in_frames(explain_text(x, f->compile[f->frame_compile[row->first]].stack), explain_text(x, broken->loc.file), 0, function);
}

static void follows(struct explanation *x, struct finding *g, struct finding *r)
{
	LOCAL_BUF what = {0};
	buf_add_slice(&what, r->title);
	if (r->cause.n)
		buf_addf(&what, ": %.*s", SLN(r->cause, CLIP));
	g->follows = explain_textf(x, "%.*s%s%.*s", SLN(g->follows, 4 * CLIP), g->follows.n ? "\n" : "", SL(buf_slice(&what)));
	uint32_t before = 0;
	for (struct slice rest = g->follows, line; slice_line(&rest, &line);)
		before++;
	char more[32];
	const int n = snprintf(more, sizeof(more), " and %u more", before - 2);
	if (before == 1)
		g->cost = explain_textf(x, "%.*s; causes: %.*s", SLN(g->cost, 4 * CLIP), SL(buf_slice(&what)));
	else
		g->cost = explain_textf(x, "%.*s and %u more",
					SL(slice_ends(g->cost, more) ? slice_of(g->cost.p, g->cost.n - (size_t)n) : g->cost), before - 1);
	if (r->level > g->level)
		g->level = r->level;
	g->in_python |= r->in_python;
}

void explain_consequences(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_frame && i < LOOKED_AT; i++) {
		const struct frame_view *v = &x->frame[i];
		bool any = false, all = v->finding != NONE && x->finding[v->finding].into == NONE;
		for (uint32_t k = v->first; all && k < v->first + v->n; k++) {
			const struct frame_step *s = &x->step[k];
			any |= s->change.n > 0;
			all = !s->change.n || s->crosses || s->grad;
		}
		for (uint32_t k = 0; all && any && k < x->n_group && k < LOOKED_AT; k++) {
			if (!exists_by(x, &x->facts->frame[v->row], &x->group[k]))
				continue;
			uint32_t to = explain_told_by(x, x->group[k].finding);
			if (x->finding[to].kind != FINDING_BREAK)
				continue;
			follows(x, &x->finding[to], &x->finding[v->finding]);
			x->finding[v->finding].into = to;
			break;
		}
	}
}
