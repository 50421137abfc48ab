/* place.c - the user's own line: the innermost frame that belongs neither to torch nor to an installed package. */
#include "run/diagnose/finding.h"

void explain_add_place(struct buf *b, const struct explanation *x, const struct fact_loc *loc)
{
	if (loc->file == NONE)
		return;
	struct slice function = explain_text(x, loc->function);
	buf_add_slice(b, srcloc_short_file(explain_text(x, loc->file)));
	if (loc->line)
		buf_addf(b, ":%u", loc->line);
	struct slice of;
	uint32_t behind;
	if (facts_resume_name(function, &of, &behind))
		buf_addf(b, " in %.*s after line %u", SL(of), behind);
	else if (function.n)
		buf_addf(b, " in %.*s", SL(function));
}

struct slice explain_place(struct explanation *x, const struct fact_loc *loc)
{
	buf_reset(&x->tmp);
	explain_add_place(&x->tmp, x, loc);
	return explain_keep(x, buf_slice(&x->tmp));
}

void explain_add_where(struct buf *b, const struct explanation *x, const struct finding *g)
{
	explain_add_place(b, x, &g->loc);
	if (g->through.file == NONE)
		return;
	buf_adds(b, ", through ");
	buf_add_slice(b, srcloc_short_file(explain_text(x, g->through.file)));
	if (g->through.line)
		buf_addf(b, ":%u", g->through.line);
}

bool explain_frame(struct slice *frames, struct srcloc *at)
{
	struct slice before = *frames;
	if (!srcloc_next(frames, at))
		return false;
	if (at->form != SRCLOC_AT || at->code.n)
		return true;
	/* "app/m.py:5 in f: y = g(x)" of facts: the code is on the line itself. */
	struct slice line = slice_first_line(slice_of(at->file.p, (size_t)(before.p + before.n - at->file.p)));
	const char *code = at->func.n ? at->func.p + at->func.n : line.p + line.n;
	if (code + 2 < line.p + line.n && !memcmp(code, ": ", 2))
		at->code = slice_trim(slice_of(code + 2, (size_t)(line.p + line.n - code - 2)));
	return true;
}

static bool is_own(struct slice file) { return file.n && srcloc_origin(file) == SRCLOC_USER; }

/* The frames of the compiled code follow "from user code:"; without it, it is the whole stack. */
static bool innermost(struct slice frames, struct srcloc *own)
{
	struct srcloc at;
	bool found = false;
	while (explain_frame(&frames, &at))
		if (at.line && is_own(at.file)) {
			*own = at;
			found = true;
		}
	return found;
}

static bool explain_own_line(struct slice frames, struct srcloc *own)
{
	const char *user = slice_find(frames, "from user code");
	if (!user)
		return innermost(frames, own);
	const size_t head = (size_t)(user - frames.p);
	return innermost(slice_of(user, frames.n - head), own) || innermost(slice_of(frames.p, head), own);
}

void explain_own_lines(struct explanation *x)
{
	for (uint32_t i = 0; i < x->n_finding; i++) {
		struct finding *g = &x->finding[i];
		struct srcloc own;
		if (g->into != NONE || is_own(explain_text(x, g->loc.file)))
			continue;
		/* All of the compiled code may be a package's: then the line that called it. */
		struct slice caller = g->compile == NONE ? slice_of(NULL, 0) : explain_text(x, x->facts->compile[g->compile].stack);
		if (!explain_own_line(g->frames, &own) && !explain_own_line(caller, &own))
			continue;
		if (g->loc.file != NONE && g->loc.line)
			g->through = g->loc;
		g->loc = facts_loc(x->facts, &own);
	}
}
