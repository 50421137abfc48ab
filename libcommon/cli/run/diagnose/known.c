/* known.c - reports messages of the knowledge base (facts_known.c finds them). */
#include "base/chain.h"
#include "run/diagnose/data_guard.h"
#include "run/diagnose/finding.h"

#define LINE_KEY(src) CHAIN_KEY((src).input, (uint32_t)(src).line, (uint32_t)((src).line >> 32))

/* Of suppress_errors only what torch warns of counts: what it logs at level I (TORCH_LOGS=+dynamo) falls back to Python in any case:
 * generators, breaks that cannot be resumed (torch/_dynamo/convert_frame.py of 2.13 and 2.15, soft_fail). */
static bool soft_failure(const struct facts *f, const struct fact_known *k)
{
	struct slice quote = facts_text(f, k->quote);
	return slice_is(facts_text(f, k->pattern), "eager-suppressed") && quote.n > 2 && quote.p[0] == 'I' && quote.p[1] >= '0' &&
	       quote.p[1] <= '9';
}

void explain_known(struct explanation *x)
{
	const struct facts *f = x->facts;
	OWNED(chain_release) struct chain limits = {0};
	for (uint32_t i = 0; i < f->n_limit; i++)
		chain_add(&limits, i, LINE_KEY(f->limit[i].src));
	for (uint32_t i = 0; i < f->n_known; i++) {
		const struct fact_known *k = &f->known[i];
		/* A limit that was reached has its own finding (recompiles.c). */
		bool limit = slice_find(facts_text(f, k->pattern), "limit") && chain_first(&limits, LINE_KEY(k->src)) != NONE;
		if (k->told || limit || soft_failure(f, k))
			continue;
		struct finding *g = explain_finding(x, FINDING_KNOWN, (enum finding_level)k->level);
		g->id = facts_text(f, k->pattern);
		g->title = facts_text(f, k->title);
		g->why = facts_text(f, k->cause);
		g->evidence = facts_text(f, k->quote);
		g->fix = facts_text(f, k->fix);
		g->hint = facts_text(f, k->hint);
		struct data_guard guard;
		if (slice_is(g->id, "guard-on-data") && data_guard_find(x, g->evidence, slice_of(NULL, 0), &guard)) {
			g->why = guard.why;
			g->fix = guard.fix;
			g->hint = guard.hint;
		}
		g->next = facts_text(f, k->check);
		g->src = k->src;
		g->count = k->count;
		g->url = slice_first_line(facts_text(f, k->see));
		g->compile = k->compile;
		g->loc = k->loc;
		if (k->compile != NONE) {
			g->loc = f->compile[k->compile].loc;
			g->compiles = facts_text(f, f->compile[k->compile].label);
		}
	}
}
