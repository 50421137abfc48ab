/* headline.c - the run as a whole: was anything compiled at all, and what permanently falls back to eager. */
#include "base/text.h"
#include "run/diagnose/finding.h"

enum { FRAMES = 3, CLIP = 200 };

/* torch.export ran and nothing was compiled to be called: no breaks, no variants, no code. */
bool explain_exports(const struct explanation *x)
{
	const struct facts *f = x->facts;
	bool exports = false;
	for (uint32_t i = 0; i < f->n_input; i++)
		exports |= f->input[i].exports;
	for (uint32_t i = 0; exports && i < f->n_phase; i++) {
		struct slice name = facts_text(f, f->phase[i].name);
		exports = !slice_starts(name, "compile_fx") && !slice_starts(name, "create_aot_dispatcher");
	}
	return exports && !x->sum.graph_breaks && !x->sum.recompiles;
}

/* dtrace_structured("exported_program") says that a program was exported (torch/export/_trace.py, 2.13 and 2.15); TORCH_TRACE does not
 * write it. */
static const char *whether(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].kind == FACT_TEXTLOG)
			return "standard error shows no failure";
	return "standard error says whether it succeeded, and so does TORCH_DTRACE=DIR instead of TORCH_TRACE";
}

/* "exported: 2 guards added, 1 size became constant" */
static void export_words(const struct explanation *x, struct buf *b)
{
	const struct facts *f = x->facts;
	uint64_t guards = 0;
	bool failed = x->sum.failures > 0;
	for (uint32_t i = 0; i < f->n_bound; i++) {
		guards += f->bound[i].kind == BOUND_GUARD;
		failed |= f->bound[i].kind == BOUND_CONSTRAINT || (f->bound[i].kind == BOUND_DATA && f->bound[i].value == NONE);
	}
	bool program = x->sum.graphs > 0;
	for (uint32_t i = 0; i < f->n_input; i++)
		program |= f->input[i].program;
	buf_addf(b, "%s: %llu guard%s added",
		 failed    ? "torch.export failed"
		 : program ? "exported"
			   : "torch.export traced it",
		 (unsigned long long)guards, plural(guards));
	if (x->sum.specializations)
		buf_addf(b, ", %llu size%s became constant", (unsigned long long)x->sum.specializations, plural(x->sum.specializations));
	if (!failed && !program)
		buf_addf(b, "; %s", whether(x->facts));
}

static bool is_trace(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].kind == FACT_TRACE)
			return true;
	return false;
}

/* The program ended at this break, or in the function that fell back because of it: nothing of it runs after that. */
static bool died_at(const struct explanation *x, const struct fact_break *b)
{
	const struct facts *f = x->facts;
	const struct fact_loc *at = &f->compile[b->compile].loc;
	for (uint32_t i = 0; i < x->n_component; i++) {
		const struct fact_failure *r = x->component[i].failure == NONE ? NULL : &f->failure[x->component[i].failure];
		if (!r || r->caught)
			continue;
		bool same_function = r->user.file == at->file && slice_eq(explain_text(x, r->user.function), explain_text(x, at->function));
		if (r->compile == b->compile || same_function || (r->user.file == b->loc.file && r->user.line == b->loc.line))
			return true;
	}
	return false;
}

/* Functions that fall back to eager: those whose break skipped the frame, and those that reached the recompile limit. */
static void in_python(struct explanation *x, struct buf *b)
{
	const struct facts *f = x->facts;
	OWNED(intern_release) struct intern said = {0};
	uint32_t more = 0;
	for (uint32_t i = 0; i < f->n_brk + x->n_frame; i++) {
		bool broken = i < f->n_brk;
		const struct frame_view *v = broken ? NULL : &x->frame[i - f->n_brk];
		uint32_t compile = !broken || f->brk[i].kind != BREAK_SKIPPED ? NONE : f->brk[i].compile;
		if (broken ? compile == NONE || died_at(x, &f->brk[i]) : !x->facts->frame[v->row].limited)
			continue;
		if (!broken && v->finding != NONE && !x->finding[v->finding].in_python)
			continue; /* the limit raised */
		const struct fact_loc *loc = broken ? &f->compile[compile].loc : &x->facts->frame[v->row].loc;
		struct slice name = explain_text(x, loc->function), of;
		uint32_t n = said.n, line;
		if (!name.n || facts_resume_name(name, &of, &line) || intern_add(&said, name) < n)
			continue;
		if (said.n > FRAMES || name.p[0] == '<' || srcloc_origin(explain_text(x, loc->file)) != SRCLOC_USER) {
			more++;
			continue;
		}
		buf_addf(b, "%s%.*s", b->len ? ", " : "", SLN(name, CLIP));
		if (slice_is(name, "forward") || slice_is(name, "__call__")) { /* every module has one */
			struct slice file = slice_base(explain_text(x, loc->file));
			buf_addf(b, " of %.*s:%u", SL(file), loc->line);
		}
		if (!broken)
			buf_addf(b, " (from variant %u on)", x->facts->frame[v->row].compiles);
	}
	if (more && b->len)
		buf_addf(b, " and %u more", more);
	if (b->len)
		buf_addf(b, " permanently fall%s back to eager", verb_s(said.n));
}

void explain_headline(struct explanation *x)
{
	const struct facts *f = x->facts;
	LOCAL_BUF b = {0};
	bool ended = x->n_component && x->component[0].failure != NONE && !f->failure[x->component[0].failure].caught;
	bool aot = explain_aot_compiled(f);
	if (explain_exports(x) && !aot)
		export_words(x, &b);
	else if (is_trace(f) && !f->n_compile && !f->n_failure && !aot) /* torch 2.15: not even a symbol, where all sizes are constant */
		buf_addf(&b, "no compilation started here: a trace of torch.export without strict=True has nothing more; %s", whether(f));
	else if (is_trace(f) && f->n_compile && !x->sum.graphs && !ended && !aot)
		buf_adds(&b, "nothing was compiled: everything runs in eager mode");
	else
		in_python(x, &b);
	x->headline = explain_keep(x, buf_slice(&b));
}
