#include "graph/graphdiff_part.h"

const char *const graphdiff_kind_name[GRAPHDIFF_KIND_COUNT] = {
#define X(id, name, words) name,
    GRAPHDIFF_KINDS(X)
#undef X
};
const char *const graphdiff_kind_words[GRAPHDIFF_KIND_COUNT] = {
#define X(id, name, words) words,
    GRAPHDIFF_KINDS(X)
#undef X
};

void graphdiff_run(struct graphdiff *d, const struct graph *a, const struct graph *b)
{
	*d = (struct graphdiff){.a = a, .b = b};
	gd_match(d);
	uint32_t last = 0;
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		uint32_t k = d->match[0][i];
		if (k == NONE)
			continue;
		d->renamed += !slice_eq(graph_name(a, i), graph_name(b, k));
		d->reordered |= k < last;
		last = k > last ? k : last;
	}
	gd_rows(d);
}

void graphdiff_release(struct graphdiff *d)
{
	free(d->match[0]);
	free(d->match[1]);
	free(d->row);
	arena_release(&d->arena);
	*d = (struct graphdiff){0};
}
