/* fixing.c - applies the findings' fixes to the user's files (fix/edit.h). */
#include "fix/fix_part.h"

#include "base/html/html.h"
#include "base/tool/diag.h"
#include "base/unified.h"

/* ---- is the line unchanged since the trace? ---- */

/* Inside the function of the trace, or its definition line. */
static bool in_function(const struct source *s, uint32_t at, struct slice function)
{
	uint32_t def = at;
	while (def < s->n && s->v[def].l.code.p[0] == '@')
		def++;
	if (def < s->n && slice_eq(source_name(&s->v[def]), function))
		return true;
	def = source_around(s, at, "def");
	return def != NONE && slice_eq(source_name(&s->v[def]), function);
}

/* The function itself, for a function that resumes after a graph break. */
static struct slice function_of(const struct fixing *fix, const struct fact_loc *loc)
{
	struct slice function = explain_text(&fix->x, loc->function), of;
	uint32_t line;
	return facts_resume_name(function, &of, &line) ? of : function;
}

bool fixing_holds(const struct fixing *fix, const struct source *s, const struct fact_loc *loc)
{
	uint32_t at = source_at(s, loc->line);
	struct slice code = slice_trim(slice_first_line(explain_text(&fix->x, loc->code)));
	if (at == NONE)
		return false;
	return code.n ? slice_eq(code, slice_trim(source_line(s, loc->line))) : in_function(s, at, function_of(fix, loc));
}

/* ---- findings ---- */

static struct fix_row *add_row(struct fixing *fix, const struct finding *g, struct slice what)
{
	GROW(fix->row, fix->n_row, fix->cap_row, 1);
	fix->row[fix->n_row] = (struct fix_row){.finding = g, .what = what};
	return &fix->row[fix->n_row++];
}

static void refuse(struct fixing *fix, const struct finding *g, struct slice what, const char *why)
{
	LOCAL_BUF b = {0};
	fix->refused++;
	add_row(fix, g, what)->why = arena_strndup(&fix->arena, why, strlen(why));
	explain_add_where(&b, &fix->x, g);
	if (!fix->opt->quiet)
		note("no edit: %s%s%.*s: %s", buf_str(&b), b.len ? ": " : "", SLN(what, 200), why);
}

/* The changes of f that are new. */
static void made(struct fixing *fix, const struct finding *g, struct slice what, struct slice line, const struct fix_file *f,
		 const struct change *before, uint32_t n)
{
	struct fix_row *row = add_row(fix, g, what);
	struct change *own = arena_alloc(&fix->arena, (f->source.n_change - n + 1) * sizeof(*own));
	row->file = f;
	row->fix = line;
	row->change = own;
	for (uint32_t i = 0, k = 0; i < f->source.n_change; i++) {
		const struct change *c = &f->source.change[i];
		if (k < n && before[k].from == c->from && before[k].to == c->to && before[k].text.p == c->text.p)
			k++; /* both are in the order of their places */
		else
			own[row->n_change++] = *c;
	}
	fix->made++;
}

static bool wanted(const struct fixing *fix, struct slice line) { return !fix->only || slice_find(line, fix->only); }

/* Is any of the lines selected? */
static bool any_wanted(const struct fixing *fix, struct slice fixes)
{
	struct slice line;
	while (slice_line(&fixes, &line))
		if (wanted(fix, line))
			return true;
	return false;
}

/* Makes the first of these fixes that is a one-line edit and applies here; false: why says why not. */
static bool fix_at(struct fixing *fix, const struct finding *g, const struct fact_loc *loc, struct slice what, struct slice fixes,
		   struct err *why)
{
	struct err one;
	struct slice line;
	bool known = false;
	if (loc->file == NONE || !loc->line)
		return err_set(why, EXIT_INPUT, "it is not about a line of the program") == 0;
	struct fix_file *f = fix_file(&fix->files, loc->file, explain_text(&fix->x, loc->file));
	if (!f->path)
		return err_set(why, EXIT_INPUT, "%s", f->why) == 0;
	if (!fixing_holds(fix, &f->source, loc))
		return err_set(why, EXIT_INPUT, "the line has changed, or the log does not show it") == 0;
	uint32_t had = f->source.n_change;
	struct change *before = arena_alloc(&fix->arena, (had + 1) * sizeof(*before));
	if (had)
		memcpy(before, f->source.change, had * sizeof(*before));
	while (slice_line(&fixes, &line)) {
		if (!wanted(fix, line))
			continue;
		enum edit_result r = edit_make(&fix->rules, &f->source, loc->line, function_of(fix, loc), line, &one);
		if (r == EDIT_REFUSED && !known) { /* the reason of the best fix */
			*why = one;
			known = true;
		}
		if (r == EDIT_REFUSED && one.status == EXIT_FINE)
			return false; /* already made: make no other instead */
		if (r != EDIT_MADE)
			continue;
		made(fix, g, what, line, f, before, had);
		if (f->source.n_change > had)
			buf_addf_clean(&f->said, "# %s:%u: %.*s: %.*s\n", f->name, loc->line, SLN(what, 200), SLN(line, 200));
		return true;
	}
	return false;
}

/* Makes the fix at the problem, or at the call of torch.export. */
static void fix_one_of(struct fixing *fix, const struct finding *g, struct slice what, struct slice fixes)
{
	struct err why = {.text = "no automatic fix"}, other = why;
	if (!any_wanted(fix, fixes) || fix_at(fix, g, &g->loc, what, fixes, &why))
		return;
	if (g->call.file == NONE || !fix_at(fix, g, &g->call, what, fixes, &other))
		refuse(fix, g, what, why.text);
}

/* A recompile that is there only because of a break (consequence.c) has no edit of its own. */
static bool is_consequence(const struct explanation *x, const struct finding *g)
{
	return g->into != NONE && (g->kind == FINDING_RECOMPILE || g->kind == FINDING_LIMIT) && x->finding[g->into].kind == FINDING_BREAK;
}

/* Each step of a recompiling frame is a problem with fixes of its own; the fixes of any other finding belong to one problem. */
static void fix_finding(struct fixing *fix, uint32_t k)
{
	const struct finding *g = &fix->x.finding[k];
	bool frame = false;
	if (is_consequence(&fix->x, g))
		return;
	for (uint32_t i = 0; i < fix->x.n_frame; i++) {
		const struct frame_view *v = &fix->x.frame[i];
		for (uint32_t s = v->first; v->finding == k && s < v->first + v->n; s++) {
			uint32_t n = fix->said.n;
			struct slice one = fix->x.step[s].fix;
			frame |= one.n > 0;
			if (one.n && intern_add(&fix->said, one) == n)
				fix_one_of(fix, g, fix->x.step[s].change, one);
		}
		intern_release(&fix->said);
	}
	if (!frame && g->fix.n)
		fix_one_of(fix, g, g->title, g->fix);
}

/* ---- the result ---- */

int fixing_begin(struct fixing *fix, const struct fixing *how, const char *const *path, int n, unsigned *lost, struct err *err)
{
	struct err table;
	*fix = (struct fixing){.opt = how->opt, .only = how->only, .files.root = how->files.root};
	if (edit_rules_read(&fix->rules, share_file("breaks/edits.txt"), &table) < 0)
		return err_set(err, EXIT_INPUT, "breaks/edits.txt: %s", table.text);
	facts_init(&fix->facts);
	if (load_operands(&fix->facts, NULL, fix->opt, path, n, lost, err) < 0) {
		edit_rules_release(&fix->rules);
		facts_release(&fix->facts);
		return -1;
	}
	explain(&fix->x, &fix->facts);
	return 0;
}

void fixing_make(struct fixing *fix)
{
	for (uint32_t k = 0; k < fix->x.n_finding; k++)
		fix_finding(fix, k);
}

void fixing_undo(struct fixing *fix)
{
	const struct fix_files none = {.root = fix->files.root, .text = fix->files.text, .of = fix->files.of};
	fix_files_release(&fix->files);
	fix->files = none;
	arena_release(&fix->arena);
	fix->n_row = fix->made = fix->refused = 0;
}

void fixing_end(struct fixing *fix)
{
	free(fix->row);
	fix_files_release(&fix->files);
	edit_rules_release(&fix->rules);
	explanation_release(&fix->x);
	facts_release(&fix->facts);
	arena_release(&fix->arena);
}
