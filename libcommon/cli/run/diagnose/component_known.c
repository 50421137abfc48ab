/* component_known.c - what the knowledge base has of a failure. */
#include "run/diagnose/component_part.h"

bool component_quoted(struct slice reason, struct slice quote)
{
	struct slice first = slice_first_line(reason);
	first.n = first.n > CLIP / 2 ? CLIP / 2 : first.n; /* a quote holds only the start of a long line */
	return quote.n && first.n && (memmem(reason.p, reason.n, quote.p, quote.n) || memmem(quote.p, quote.n, first.p, first.n));
}

/* The knowledge base gives the cause and the fix of this failure. */
static void better(struct fact_known **best, struct fact_known *k)
{
	if (!k->told && k->level >= FINDING_WARNING && (!*best || k->level > (*best)->level))
		*best = k;
}

struct fact_known *component_known_in(const struct witnesses *w, const struct fact_failure *r, const struct fact_known *same)
{
	struct facts *f = w->x->facts;
	struct fact_known *best = NULL;
	struct slice reason = facts_text(f, r->reason);
	uint64_t from = r->src.line;
	uint32_t cause = r->cause, low = 0, high = f->n_known;
	for (int n = 0; cause != NONE && n < 8; n++, cause = f->failure[cause].cause)
		if (f->failure[cause].src.input == r->src.input && f->failure[cause].src.line < from)
			from = f->failure[cause].src.line;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct fact_src *at = &f->known[w->known_line[mid]].src;
		if (at->input < r->src.input || (at->input == r->src.input && at->line < from))
			low = mid + 1;
		else
			high = mid;
	}
	for (uint32_t i = low, n = 0; i < f->n_known && n < 16; i++, n++) {
		struct fact_known *k = &f->known[w->known_line[i]];
		if (k->src.input != r->src.input)
			break;
		if (!component_quoted(reason, facts_text(f, k->quote)))
			continue;
		if (same)
			k->told |= k->pattern == same->pattern;
		else
			better(&best, k);
	}
	return best;
}

struct fact_known *component_known(const struct witnesses *w, const struct fact_failure *r)
{
	struct facts *f = w->x->facts;
	struct fact_known *best = NULL;
	uint32_t i = chain_first(&w->known_at, CHAIN_KEY(r->src.input, (uint32_t)r->src.line, (uint32_t)(r->src.line >> 32)));
	for (; i != NONE; i = w->known_at.next[i])
		better(&best, &f->known[i]);
	for (i = r->compile == NONE ? NONE : chain_first(&w->known, CHAIN_KEY(r->compile)); i != NONE; i = w->known.next[i])
		better(&best, &f->known[i]);
	best = best ? best : component_known_in(w, r, NULL);
	/* A repeated failure is known at its first place. */
	for (i = 0; !best && r->reason != NONE && i < f->n_failure && &f->failure[i] != r; i++)
		if (f->failure[i].reason == r->reason && f->failure[i].src.input == r->src.input && f->failure[i].type == r->type)
			best = component_known_in(w, &f->failure[i], NULL);
	/* A shell's "Aborted" has no words of its own: those of the error before it. */
	for (i = 0; !best && r->signal && r->frames == NONE && !r->native && i < f->n_known; i++) {
		struct fact_known *k = &f->known[w->known_line[i]];
		if (k->src.input == r->src.input && k->src.line <= r->src.line && !k->told && k->level >= FINDING_ERROR)
			best = k;
	}
	return best;
}
