/* component_tell.c - the finding of a failure: title, cause and fix, best source first. */
#include "run/diagnose/component_part.h"
#include "run/diagnose/data_guard.h"

enum { LONG_TITLE = 160 };

/* What is known of the message. */
static void take_known(const struct witnesses *w, const struct fact_failure *r, struct fact_known *k, struct finding *g)
{
	struct facts *f = w->x->facts;
	k->told = true;
	component_known_in(w, r, k);
	g->id = facts_text(f, k->pattern);
	g->why = facts_text(f, k->cause);
	g->fix = facts_text(f, k->fix);
	g->hint = facts_text(f, k->hint);
	g->url = component_first_line(facts_text(f, k->see));
}

/* "Could not guard on data-dependent expression Eq(u0, 4) (unhinted: ...": of one expression. */
static bool same_guard(struct slice reason, struct slice quote)
{
	struct slice p = slice_until(slice_behind(reason, "data-dependent expression "), ").  ("),
		     q = slice_until(slice_behind(quote, "data-dependent expression "), ").  (");
	return p.n && slice_eq(p, q);
}

/* Title, cause and fix, best source first: the wrapped exception, the knowledge base, torch's own explanation. */
static void advise(const struct witnesses *w, const struct component_view *v, const struct fact_failure *r, struct finding *g)
{
	struct explanation *x = w->x;
	struct break_text text;
	struct cause cause;
	struct fact_known *k = component_known(w, r);
	break_text_parse(explain_text(x, r->reason), &text);
	/* Known refusals are fixed by changing the line: not possible where it is torch's or a package's. */
	bool foreign = break_is_foreign(explain_text(x, g->loc.file));
	bool generic =
	    k && (slice_is(facts_text(x->facts, k->pattern), "dynamo-unsupported") ||
		  (foreign && k->component == COMPONENT_DYNAMO && !slice_is(facts_text(x->facts, k->pattern), "symfloat-captured")));
	const struct compile_phase *phase = component_interrupted(x, r);
	if (phase) {
		g->title = explain_textf(x, "Interrupted while %s", phase->doing);
		g->why = slice_str(phase->why);
		g->hint = slice_str(phase->hint);
		return;
	}
	component_cause(x, r, &cause);
	if (cause.kind)
		g->title = cause.title;
	struct triton_message triton;
	if (!k && component_triton(explain_text(x, r->reason), &triton))
		g->title =
		    explain_textf(x, "Triton kernel %.*s, line %u: %.*s", SLN(triton.kernel, CLIP), triton.line, SLN(triton.why, CLIP));
	if (cause.kind == CAUSE_NO_FAKE) {
		g->id = SLICE("operator-no-fake");
		g->why = SLICE("torch traces with fake tensors, which have a shape and a dtype but no values: this operator does not say "
			       "what it returns for "
			       "them. Eager mode needs no fake kernel.");
		g->fix = cause_fake_kernel(x, cause.op);
		if (k)
			k->told = true;
	} else if (k && (!generic || text.gb < 0) && cause.kind != CAUSE_RAISED) {
		struct data_guard guard = {0};
		take_known(w, r, k, g);
		/* A command line, a long explanation: the evidence quotes it. "CompilationError: at 3:28:" is no help. */
		if (!cause.kind && (g->title.n > LONG_TITLE || slice_ends(g->title, ":") || r->native || (r->signal && r->frames == NONE)))
			g->title = facts_text(x->facts, k->title);
		bool onnx = slice_is(facts_text(x->facts, k->pattern), "onnx-export-trace");
		if ((onnx || slice_is(facts_text(x->facts, k->pattern), "guard-on-data")) &&
		    data_guard_find(x, explain_text(x, r->reason), g->loc.code == NONE ? (struct slice){0} : explain_text(x, g->loc.code),
				    &guard)) {
			g->why = onnx ? explain_textf(x, "%.*s\n%.*s", SL(g->why), SL(guard.why)) : guard.why;
			g->hint = onnx ? g->hint : guard.hint;
			g->fix = guard.fix;
			for (uint32_t i = 0; onnx && i < x->facts->n_known && i < FAILURES_LOOKED_AT; i++) {
				struct fact_known *of = &x->facts->known[i];
				of->told |= slice_is(facts_text(x->facts, of->pattern), "guard-on-data") && of->src.input == r->src.input &&
					    same_guard(explain_text(x, r->reason), facts_text(x->facts, of->quote));
			}
		}
	} else if (text.gb >= 0) { /* torch explains its own refusals best */
		const struct slice where[] = {text.reason, text.context};
		g->why = text.explanation;
		break_fix(x, text.gb, where, ARRAY_LEN(where), explain_text(x, g->loc.file), &g->fix, &g->hint);
		if (cause.kind == CAUSE_RAISED) { /* if eager raises it, too, moving the line does not help */
			g->hint = SLICE("If eager mode raises it, too, fix what is passed to this line, or check for it first.\n"
					"If eager mode does not: move the line out of the compiled function.");
			g->fix = slice_of(NULL, 0);
		}
		g->url = text.url;
		if (k)
			k->told = true;
	} else if (v->component != COMPONENT_NONE) {
		g->why = explain_textf(x, "it failed in %.*s", SLN(explain_verdict_title(v), CLIP));
	}
	if (v->why.n) {
		g->why = v->why;
		g->hint = v->hint;
		g->fix = slice_of(NULL, 0);
	}
	g->torch_hint = break_hints(x, &text);
}

void component_tell(const struct witnesses *w, const struct component_view *v, uint64_t count, bool survived)
{
	struct explanation *x = w->x;
	struct facts *f = x->facts;
	const struct fact_failure *r = &f->failure[v->failure];
	struct finding *g =
	    explain_finding(x, survived ? FINDING_BREAK : FINDING_FAILURE, r->caught || survived ? FINDING_WARNING : FINDING_ERROR);
	struct slice type = explain_text(x, r->type), reason = component_first_line(explain_text(x, r->reason));
	const char *dot = slice_rchr(type, '.');
	struct slice word = dot ? slice_of(dot + 1, type.n - (size_t)(dot + 1 - type.p)) : type;
	g->id = v->component == COMPONENT_NONE ? SLICE("failure") : explain_textf(x, "failure-%s", component_name[v->component]);
	g->loc = r->user.file != NONE || r->compile == NONE ? r->user : f->compile[r->compile].loc;
	g->src = r->src;
	g->count = count;
	if (r->compile != NONE)
		g->compiles = facts_text(f, f->compile[r->compile].label);
	g->title =
	    word.n ? explain_textf(x, "%.*s%s%.*s", SLN(word, CLIP), reason.n ? ": " : "", SLN(reason, CLIP)) : explain_keep(x, reason);
	g->evidence = v->evidence;
	g->next = v->next.n ? v->next : v->minify;
	g->frames = explain_text(x, r->stack == NONE ? r->frames : r->stack);
	g->compile = r->compile;
	g->ended = r->ended;
	advise(w, v, r, g);
	if (survived) {
		g->next = slice_of(NULL, 0);
		g->in_python = true;
		g->cost = SLICE("the whole function runs in eager mode");
	}
	if (v->component == COMPONENT_EXPORT && r->inferred) {
		g->why = SLICE("This trace has the graph up to the failure but not the exception: that is on standard error.");
		g->next = SLICE("python app.py 2>err; fxexplain TRACE err");
	}
}
