/* show.c - a line for each candidate while the search runs; the result, what is left and what to do next at the end. */
#include "mend/mend_part.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/tool/diag.h"

#include <limits.h>
#include <unistd.h>

enum {
	WIDE = 140,    /* columns for an edit, why it was refused, and its figures in one line */
	MOST_WITH = 6, /* of what went with an edit; --json has all */
};

static void flush(struct screen *s)
{
	struct err err = {.text = ""};
	if (screen_flush(s, &err) < 0 && err.text[0])
		die_err(&err);
}

void show_promise(const struct mend_about *a)
{
	const char *name = a->program->module ? a->program->module : path_base(a->program->main);
	note("fxexplain mend: runs %s up to %d times, for at most %d steps each,", name, a->runs, a->steps);
	note("  and the result to its end (--runs, --steps; --budget ends the search)");
	if (a->confined) {
		note("  kept from it: what it writes goes to a copy of your files that is removed;");
		note("  no network but loopback; Hugging Face offline, experiment trackers off;");
		note("  4 GiB a file");
		note("  not covered: a GPU's memory, services that it reaches through a socket file");
	} else {
		note("  --unconfined: what it writes and sends is real, each time; only Hugging Face is");
		note("  offline and experiment trackers are off");
	}
}

/* "app.py:10 in step": a file below the working directory without that. */
static struct slice shown_place(struct slice place)
{
	char cwd[PATH_MAX];
	const size_t n = getcwd(cwd, sizeof(cwd)) ? strlen(cwd) : 0;
	return n && place.n > n + 1 && slice_starts(place, cwd) && place.p[n] == '/' ? slice_of(place.p + n + 1, place.n - n - 1) : place;
}

static void add_clock(struct buf *b, double compile, double step)
{
	buf_addf(b, "%.2f s until compiled, %.2f ms a step", compile, step * 1e3);
}

/* What it is; behind it, or below it where that does not fit, why it was refused and its figures. */
static void line_of_try(struct screen *out, const struct mend_search *s, const struct search_try *t)
{
	LOCAL_BUF n = {0};
	const size_t from = out->b.len;
	put_flat(&n, t->verdict, 100);
	if (s->goal != MEND_BREAKS || t->n.compiles || t->accepted)
		buf_adds(&n, n.len ? "; " : "");
	if (s->goal != MEND_BREAKS)
		add_clock(&n, t->compile_seconds, t->step_seconds);
	else if (t->n.compiles || t->accepted)
		trial_figures(&n, &t->n);
	put_style(out, t->accepted ? STYLE_STRONG : STYLE_FAINT, t->accepted ? "    ok    " : "    no    ");
	if (out->width && out->width < WIDE)
		buf_addf_clean(&out->b, "%-9.*s %.*s", SLN(t->kind, 9), SLN(t->title, 100));
	else
		buf_addf_clean(&out->b, "%-9.*s %-46.*s  %.*s", SLN(t->kind, 9), SLN(t->title, 100), SL(buf_slice(&n)));
	buf_addc(&out->b, '\n');
	if (out->width && out->width < WIDE && n.len)
		put_text_line(out, "                    ", buf_slice(&n));
	put_wraps(out, from, 20);
}

static void with_it(struct screen *out, const struct search_step *step)
{
	struct slice rest = step->with, line;
	const size_t from = out->b.len;
	unsigned n = 0;
	while (slice_line(&rest, &line))
		if (line.n && n++ < MOST_WITH)
			put_text_line(out, "              with it went: ", line);
	if (n > MOST_WITH)
		buf_addf(&out->b, "              ... and %u more\n", n - MOST_WITH);
	if (step->price.n)
		put_text_line(out, "              its price: ", step->price);
	put_wraps(out, from, 18);
}

static void line_of_eager(struct screen *out, const struct mend_search *s)
{
	buf_addf_clean(&out->b, "eager     %.*s, ", SL(s->eager->status));
	put_count(&out->b, s->eager->n.steps, "step");
	buf_addf(&out->b, ", %.1f s", s->eager->seconds);
	if (s->volatile_names.n)
		buf_addf_clean(&out->b, "; not compared, since two eager runs differ: %.*s", SLN(s->volatile_names, 200));
	buf_addc(&out->b, '\n');
}

void show_event(void *arg, const struct mend_search *s, enum search_event e, const struct search_try *t)
{
	struct screen *out = arg;
	switch (e) {
	case SEARCH_READY: return;
	case SEARCH_EAGER: line_of_eager(out, s); break;
	case SEARCH_BASE: {
		const bool crashes = s->crashes && s->goal != MEND_WRONG; /* there its own check fails, as was asked */
		LOCAL_BUF n = {0};
		trial_figures(&n, &s->base->n);
		buf_addf(&out->b, "compiled  %.*s", SL(buf_slice(&n)));
		if (s->goal != MEND_BREAKS) {
			buf_adds(&out->b, "  ");
			add_clock(&out->b, s->base->compile_seconds, s->base->step_seconds);
		}
		if (!s->base->equal)
			buf_addf_clean(&out->b, "; %s%.*s", crashes ? "compiled crashes, eager does not: " : "differs from eager: ",
				       SLN(crashes ? s->crash : s->base->differs, 200));
		buf_addc(&out->b, '\n');
		break;
	}
	case SEARCH_FINDING: {
		const size_t from = out->b.len;
		buf_addc(&out->b, '\n');
		put_bold(out, "  ");
		put_style_text(out, STYLE_STRONG, shown_place(t->place));
		buf_adds(&out->b, t->place.n ? "  " : "");
		put_text(out, t->finding);
		buf_addc(&out->b, '\n');
		put_wraps(out, from, 4);
		break;
	}
	case SEARCH_TRY: line_of_try(out, s, t); break;
	case SEARCH_ACCEPTED: with_it(out, &s->step[s->n_step - 1]); break;
	case SEARCH_NONE:
		buf_adds(&out->b, s->goal == MEND_BREAKS ? "    nothing that was tried makes it go with equal results\n" : "");
		break;
	case SEARCH_PROVING: buf_addf(&out->b, "\n  the whole program%s ...\n", s->no_as_is ? "" : ", with its own backend"); break;
	}
	flush(out);
}

/* ---- the end ---- */

static void change(struct buf *b, const char *what, uint64_t before, uint64_t after)
{
	buf_addf(b, "%llu %s%s -> %llu", (unsigned long long)before, what, plural(before), (unsigned long long)after);
}

static void proof(struct buf *b, const struct mend_search *s)
{
	const struct mend_trial *w = s->whole_best;
	buf_addf(b, "equal to eager over ");
	put_count(b, w && w->equal ? w->n.steps : mend_search_best(s)->n.steps, "step");
	buf_adds(b, ": parameters, results, state and output\nproven with aot_eager");
	if (s->as_is && s->as_is->equal)
		buf_adds(b, " and as it is");
	else if (s->as_is && s->base_as_is_differs)
		buf_addf_clean(b, "; as it is: %.*s, and so it does without the edits", SLN(s->as_is_verdict, 120));
	else if (s->as_is)
		buf_addf_clean(b, "; NOT as it is: %.*s", SLN(s->as_is_verdict, 120));
}

/* What changed, first what it is about. */
static void result(struct screen *out, const struct mend_search *s, double seconds)
{
	const struct mend_trial *best = mend_search_best(s);
	const struct trial_figures *a = s->whole_base ? &s->whole_base->n : &s->base->n, *z = s->whole_best ? &s->whole_best->n : &best->n;
	LOCAL_BUF b = {0};
	buf_adds(&b, s->whole_best ? "The whole program: " : "");
	change(&b, "break", a->breaks, z->breaks);
	buf_adds(&b, ", ");
	change(&b, "recompile", a->recompiles + a->limits, z->recompiles + z->limits);
	buf_adds(&b, ", ");
	change(&b, "graph call", a->calls, z->calls);
	put_style_text(out, STYLE_STRONG, buf_slice(&b));
	buf_addc(&out->b, '\n');
	buf_cut(&b, 0);
	if (a->skipped)
		buf_addf(&b, "%llu function%s in Python -> %llu", (unsigned long long)a->skipped, plural(a->skipped),
			 (unsigned long long)z->skipped);
	if (z->ops != a->ops && !s->crashes)
		buf_addf(&b, "%s%llu operations in graphs -> %llu", b.len ? ", " : "", (unsigned long long)a->ops,
			 (unsigned long long)z->ops);
	buf_adds(&b, b.len ? "\n" : "");
	proof(&b, s);
	buf_addf(&b, "; %llu runs, %.0f s\n", (unsigned long long)s->used, seconds);
	struct slice rest = buf_slice(&b), line;
	while (slice_line(&rest, &line))
		put_text_line(out, "  ", line);
}

static void what_is_left(struct screen *out, const struct mend_search *s)
{
	const struct mend_trial *best = mend_search_best(s);
	bool any = false;
	for (uint32_t i = 0; i < best->x.n_finding; i++) {
		const struct finding *g = &best->x.finding[i];
		LOCAL_BUF place = {0};
		if (!trial_counts(g))
			continue;
		if (!any)
			put_heading(out, "Left");
		any = true;
		explain_add_where(&place, &best->x, g);
		const size_t start = out->b.len;
		buf_adds(&out->b, "  ");
		put_text(out, shown_place(buf_slice(&place)));
		buf_adds(&out->b, "  ");
		put_text(out, g->title);
		if (g->kind == FINDING_RECOMPILE && g->count <= 1)
			buf_adds(&out->b, ": once, which is right where the program changes once (another size, train and eval)");
		buf_addc(&out->b, '\n');
		struct slice why = mend_search_why(s, best, g);
		if (why.n)
			put_text_line(out, "      ", why);
		put_wraps(out, start, 6);
	}
}

static void end_of_goal(struct screen *out, const struct mend_search *s, double seconds)
{
	const struct mend_trial *best = mend_search_best(s);
	if (s->goal == MEND_WRONG && s->base->equal)
		buf_adds(&out->b, "The numbers are right: as close to eager in float64 as eager itself is");
	else if (!s->best)
		buf_adds(&out->b, s->goal == MEND_SLOW ? "Nothing that was tried makes it faster"
						       : "Nothing that was tried makes the numbers right");
	else if (s->goal == MEND_SLOW)
		buf_addf(&out->b, "%.2f s -> %.2f s until compiled, %.2f ms -> %.2f ms a step", s->base->compile_seconds,
			 best->compile_seconds, s->base->step_seconds * 1e3, best->step_seconds * 1e3);
	else
		buf_addf_clean(&out->b, "%.*s -> right: as close to eager in float64 as eager itself is", SLN(s->base->differs, 120));
	if (s->as_is && s->as_is->equal)
		buf_adds(&out->b, "; proven on the whole program");
	else if (s->as_is)
		buf_addf_clean(&out->b, "; NOT on the whole program: %.*s", SLN(s->as_is_verdict, 120));
	buf_addf(&out->b, "; %llu runs, %.0f s\n", (unsigned long long)s->used, seconds);
}

/* The command once more, as it can be pasted; the search is made again, whose tries the patch is worth. */
static void again(struct screen *out, const struct mend_about *about)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	LOCAL_BUF b = {0};
	bool all = true;
	for (char *const *a = about->command; *a; a++) {
		all &= **a && (*a)[strspn(*a, plain)] == '\0';
		buf_addf(&b, " %s", *a);
	}
	buf_addf_clean(&out->b, "  fxexplain mend -o mend.patch --%s", all ? buf_str(&b) : " ...");
	buf_adds(&out->b, "\n  patch -p1 < mend.patch\n  or, in one: fxexplain mend --apply ...; either searches again\n");
}

void show_end(struct screen *out, const struct mend_search *s, const struct mend_about *about, const char *patch, bool applied)
{
	const struct mend_trial *best = mend_search_best(s);
	double seconds = (double)(clock_ns() - s->began) / 1e9 + about->start_seconds;
	const size_t from = out->b.len;
	buf_addc(&out->b, '\n');
	if (s->goal != MEND_BREAKS) {
		end_of_goal(out, s, seconds);
	} else if (s->best) {
		result(out, s, seconds);
	} else {
		buf_addf(&out->b, "Nothing that was tried helps; %llu runs, %.0f s\n", (unsigned long long)s->used, seconds);
	}
	put_wraps(out, from, 2);
	if (s->crashes && s->goal == MEND_BREAKS) {
		const size_t start = out->b.len;
		buf_addf_clean(&out->b, "Verdict: compiled crashes, eager does not: %.*s%s\n", SL(s->crash),
			       best->as_eager_ends ? "; not with these edits" : "");
		put_wraps(out, start, 2);
	}
	if (s->ended)
		buf_addf(&out->b, "It stopped early: %s.\n", s->ended);
	if (s->best)
		put_heading(out, "Edits");
	for (uint32_t i = 0; i < s->best; i++) {
		const struct search_step *p = &s->step[i];
		const size_t start = out->b.len;
		buf_addf_clean(&out->b, "  %s%.*s%s%.*s: %.*s\n", p->dropped ? "(not needed in the end) " : "", SL(shown_place(p->place)),
			       p->place.n ? ": " : "", SLN(slice_until(p->finding, ": "), 100), SL(p->title));
		put_wraps(out, start, 4);
		if (!p->dropped)
			with_it(out, p);
	}
	if (s->goal == MEND_BREAKS)
		what_is_left(out, s);
	if (s->best) {
		put_heading(out, "Next");
		if (applied)
			buf_adds(&out->b, "  run the program; the originals are beside the files as FILE.orig\n");
		else if (patch && *patch)
			buf_addf_clean(&out->b, "  patch -p1 < %s\n", patch);
		else
			again(out, about);
	}
	flush(out);
}
