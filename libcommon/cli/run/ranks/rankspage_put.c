/* rankspage_put.c - what the sections of the page have in common: ids, ranks, times, marks. */
#include "run/ranks/rankspage_part.h"

void ranks_put_id(struct page *g, const struct rank_process *f, uint32_t compile)
{
	if (compile == NONE || compile >= f->n_compile)
		return;
	put(g, "<code class=\"id\">{}</code>", name(g, f->compile[compile].id));
}

void ranks_put_seconds(struct page *g, int64_t us)
{
	if (us < 0)
		raw(g, "–");
	else if (us < 100000)
		buf_addf(g->b, "%lld.%lld ms", (long long)(us / 1000), (long long)(us % 1000 / 100));
	else if (us < 600000000)
		buf_addf(g->b, "%lld.%02lld s", (long long)(us / 1000000), (long long)(us % 1000000 / 10000));
	else
		buf_addf(g->b, "%lld min %lld s", (long long)(us / 60000000), (long long)(us / 1000000 % 60));
}

void ranks_put_who(struct page *g, uint32_t process)
{
	const struct rank_process *f = &g->all->process[process];
	if (rank_is_plain(f))
		buf_addf(g->b, "rank %lld", (long long)f->rank);
	else
		str(g, f->name);
}

void ranks_put_members(struct page *g, const uint32_t *m, uint32_t n)
{
	uint32_t shown = 0, i = 0, ranks = 0;
	for (i = 0; i < n; i++)
		ranks += rank_is_plain(&g->all->process[m[i]]);
	if (ranks)
		raw(g, ranks == 1 ? "rank " : "ranks ");
	for (i = 0; i < n; shown++) {
		const struct rank_process *f = &g->all->process[m[i]];
		if (shown)
			raw(g, ", ");
		if (shown == RANGES) {
			buf_addf(g->b, "and %u more", n - i);
			return;
		}
		if (!rank_is_plain(f)) {
			str(g, f->name);
			i++;
			continue;
		}
		uint32_t k = i + 1;
		while (k < n && rank_is_plain(&g->all->process[m[k]]) && g->all->process[m[k]].rank == g->all->process[m[k - 1]].rank + 1)
			k++;
		if (k - i > 2)
			buf_addf(g->b, "%lld–%lld", (long long)f->rank, (long long)g->all->process[m[k - 1]].rank);
		else {
			buf_addf(g->b, "%lld", (long long)f->rank);
			k = i + 1;
		}
		i = k;
	}
}

void ranks_put_file(struct page *g, const char *path) { put(g, "<code>{}</code>", slice_str(path_base(path))); }

const struct ranks_check ranks_checks[RANK_CHECK_COUNT] = {
    [RANK_CHECK_IDS] = {"ids", "Compile ids", "the same set of compile ids", "compile id"},
    [RANK_CHECK_CAPTURE] = {"capture", "Captured graphs", "what Dynamo started, captured, broke and recompiled, in order", "event"},
    [RANK_CHECK_CACHE] = {"cache", "Cache events", "hits, misses and bypasses, in order", "cache event"},
    [RANK_CHECK_COLLECT] = {"collectives", "Collectives", "the order of collective operators in the schedules", "operator"},
    [RANK_CHECK_TENSORS] = {"tensors", "Tensor metadata", "type, shape and stride of operators' results", "graph"},
    [RANK_CHECK_ORDER] = {"order", "Execution order", "the order in which compiled graphs ran", "graph"},
    [RANK_CHECK_MADE] = {"made", "Compiled graphs", "graphs of AOTAutograd and Inductor, if the above agrees", "graph"},
    [RANK_CHECK_VERSION] = {"version", "torch version", "the same version of torch", "version"},
};

const enum rank_check ranks_check_order[RANK_CHECK_COUNT] = {RANK_CHECK_CAPTURE, RANK_CHECK_IDS,   RANK_CHECK_COLLECT, RANK_CHECK_ORDER,
							     RANK_CHECK_TENSORS, RANK_CHECK_CACHE, RANK_CHECK_MADE,    RANK_CHECK_VERSION};

void ranks_put_marks(struct page *g, const struct rank_process *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n_event; i++) {
		const struct rank_event *e = &f->event[i];
		if (e->kind != RANK_CACHE)
			continue;
		if (++n > 60) {
			raw(g, " …");
			return;
		}
		static const char *const class[] = {"bypass", "bypass", "hit", "miss"};
		buf_addf(g->b, "<i class=\"%s\" title=\"", class[e->cache]);
		put(g, "{} {}", name(g, f->compile[e->compile].id), name(g, e->text));
		raw(g, e->cache == RANK_CACHE_HIT ? "\">✓</i>" : e->cache == RANK_CACHE_MISS ? "\">✗</i>" : "\">?</i>");
	}
}
