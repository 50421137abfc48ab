#include "run/sums.h"

static void add_inputs(const struct facts *f, uint32_t input, struct facts_sums *s)
{
	for (uint32_t i = 0; i < f->n_input; i++) {
		const struct fact_input *in = &f->input[i];
		if (input != NONE && i != input)
			continue;
		s->bytes += in->bytes;
		s->lines += in->lines;
		s->records += in->records;
		s->processes += in->processes;
		s->resets += in->resets;
		s->graphs += in->graphs > 0 ? (uint64_t)in->graphs : 0;
		s->artifacts += in->artifacts;
		s->chromium_events += in->events;
		s->unknown_keys += in->unknown;
		if (in->seconds >= 0)
			s->compile_seconds = (s->compile_seconds < 0 ? 0 : s->compile_seconds) + in->seconds;
		if (s->torch_version == NONE)
			s->torch_version = in->torch_version;
	}
}

static void add_compiles(const struct facts *f, uint32_t input, struct facts_sums *s)
{
	for (uint32_t i = 0; i < f->n_compile; i++) {
		const struct fact_compile *c = &f->compile[i];
		if (input != NONE && c->src.input != input)
			continue;
		bool named = c->frame >= 0 && c->compile >= 0;
		s->compiles += named;
		s->attempts += named ? c->attempts : 0;
		s->graph_ops += c->ops > 0 ? (uint64_t)c->ops : 0;
		s->guards += c->guards > 0 ? (uint64_t)c->guards : 0;
		if (f->input[c->src.input].graphs < 0 && c->graphs > 0)
			s->graphs += (uint64_t)c->graphs;
	}
	for (uint32_t i = 0; i < f->n_frame; i++)
		s->frames += (input == NONE || f->frame[i].input == input) && f->frame[i].frame >= 0;
}

/* Counts the rows of a table that belong to the input and satisfy `which` (of row x). */
#define ADD(sum, table, which) \
	for (uint32_t i = 0; i < f->n_##table; i++) { \
		__typeof__(f->table[0]) *x = &f->table[i]; \
		(sum) += (input == NONE || x->src.input == input) && (which); \
	}

void facts_sums(const struct facts *f, uint32_t input, struct facts_sums *s)
{
	*s = (struct facts_sums){.compile_seconds = -1, .torch_version = NONE};
	add_inputs(f, input, s);
	add_compiles(f, input, s);
	ADD(s->recompiles, recompile, true);
	ADD(s->recompile_limits, limit, true);
	ADD(s->restarts, failure, x->restart);
	ADD(s->failures, failure, !x->restart);
	ADD(s->graph_breaks, brk, !x->inferred);
	ADD(s->inferred_graph_breaks, brk, x->inferred);
	ADD(s->symbols, symbol, true);
	ADD(s->specializations, bound, x->kind == BOUND_SPECIALIZED);
	ADD(s->cudagraph_skips, cudagraph, true);
	for (uint32_t i = 0; i < f->n_cache; i++)
		if (input == NONE || f->cache[i].src.input == input)
			s->cache[f->cache[i].kind][f->cache[i].what]++;
	for (uint32_t i = 0; i < f->n_damage; i++)
		s->damaged += input == NONE || f->damage[i].input == input;
}

void facts_sums_add(struct facts_sums *to, const struct facts_sums *s)
{
#define X(name, words) to->name += s->name;
	FACTS_SUMS(X)
#undef X
	for (unsigned i = 0; i < FACT_CACHES; i++)
		for (unsigned k = 0; k < FACT_CACHE_WHATS; k++)
			to->cache[i][k] += s->cache[i][k];
	if (s->compile_seconds >= 0)
		to->compile_seconds = (to->compile_seconds < 0 ? 0 : to->compile_seconds) + s->compile_seconds;
}

static int by_value(const void *a, const void *b)
{
	int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
	return (p > q) - (p < q);
}

uint32_t facts_ranks(const struct facts *f, uint32_t input, int64_t **rank)
{
	int64_t *all = xcalloc(f->n_input + 1u, sizeof(*all));
	uint32_t n = 0, once = 0;
	for (uint32_t i = 0; i < f->n_input; i++)
		if ((input == NONE || i == input) && f->input[i].rank >= 0)
			all[n++] = f->input[i].rank;
	qsort(all, n, sizeof(*all), by_value);
	for (uint32_t i = 0; i < n; i++)
		if (!i || all[i] != all[i - 1])
			all[once++] = all[i];
	*rank = all;
	return once;
}
