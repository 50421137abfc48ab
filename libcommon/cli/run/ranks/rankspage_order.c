/* rankspage_order.c - collectives and graphs in the order they run. */
#include "run/ranks/rankspage_part.h"

void ranks_put_schedules(struct page *g)
{
	const struct ranks *all = g->all;
	const struct rank_verdict *v = &all->check[RANK_CHECK_COLLECT];
	bool parity = false;
	for (uint32_t p = 0; p < all->n_process; p++)
		parity |= all->process[p].n_parity > 0;
	if (!v->recorded && !parity)
		return;
	raw(g, "<section id=\"schedules\"><h2>Collective schedules</h2>\n");
	if (g->p->schedules)
		raw(g, "<p class=\"dim\"><a href=\"collective_schedules.json\">collective_schedules.json</a></p>\n");
	raw(g, "<table class=\"list\"><tr><th>ranks</th><th class=\"r\">operators</th><th>order in the schedules</th></tr>\n");
	struct rank_items it = {0};
	for (uint32_t k = 0; v->recorded && k < v->n_group && k < SPLITS_SHOWN; k++) {
		rank_items_of(all, &all->process[v->group[k].member[0]], RANK_CHECK_COLLECT, &it);
		raw(g, "<tr><td>");
		ranks_put_members(g, v->group[k].member, v->group[k].n_member);
		buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"ops\">", it.n_item);
		for (uint32_t i = 0; i < it.n_item && i < 40; i++) {
			struct slice op = it.item[i].text;
			static const char *const cut[] = {"torch.ops.", "_c10d_functional."};
			for (unsigned c = 0; c < 2; c++)
				if (slice_starts(op, cut[c]))
					op = slice_of(op.p + strlen(cut[c]), op.n - strlen(cut[c]));
			if (slice_ends(op, ".default"))
				op.n -= 8;
			raw(g, i ? " <span class=\"sep\">→</span> <code>" : "<code>");
			put(g, "{}</code>", op);
		}
		raw(g, it.n_item > 40 ? " …</td></tr>\n" : "</td></tr>\n");
	}
	free(it.item);
	raw(g, "</table>\n");
	if (parity) {
		raw(g, "<h3>Schedule and generated code differ</h3>\n<table class=\"list\"><tr><th>process</th><th>compile id</th>"
		       "<th class=\"r\">extra or missing collectives</th><th class=\"r\">waits missing</th></tr>\n");
		uint32_t shown = 0;
		for (uint32_t p = 0; p < all->n_process; p++)
			for (uint32_t i = 0; i < all->process[p].n_parity && shown < 200; i++, shown++) {
				const struct fact_parity *x = &all->process[p].parity[i];
				raw(g, "<tr><td>");
				ranks_put_who(g, p);
				raw(g, "</td><td>");
				ranks_put_id(g, &all->process[p], x->compile);
				buf_addf(g->b, "</td><td class=\"r\">%" PRIu64 "</td><td class=\"r\">%" PRIu64 "</td></tr>\n",
					 x->difference, x->missing_waits);
			}
		raw(g, "</table>\n");
	}
	raw(g, "</section>\n");
}

enum place { PLACE_COLLECTIVES, PLACE_CACHE, PLACES_OF };

/* What each process runs at place i of its order, as a number; 0: unknown. Do they differ? */
static bool place_values(const struct ranks *all, const struct rank_items *it, uint32_t i, enum place what, uint64_t *value)
{
	uint64_t first = 0;
	bool differ = false;
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_process *f = &all->process[p];
		value[p] = 0;
		if (i >= it[p].n_item || it[p].item[i].compile == NONE)
			continue;
		uint32_t c = it[p].item[i].compile;
		if (what == PLACE_CACHE)
			value[p] = f->compile[c].cache;
		else
			for (uint32_t k = 0; k < f->n_list; k++)
				if (f->list[k].kind == LIST_SCHEDULE && f->list[k].compile == c)
					value[p] = value[p] * 31 + f->list[k].lines + 1ull;
		if (!value[p])
			continue; /* unknown: nothing to compare */
		differ |= first && value[p] != first;
		first = first ? first : value[p];
	}
	return differ;
}

/* Processes with one value are a group; m: room for them. The values are consumed. */
static void put_groups(struct page *g, uint64_t *value, uint32_t *m)
{
	uint32_t all = g->all->n_process;
	unsigned groups = 0;
	for (uint32_t p = 0; p < all; p++) {
		if (groups == SPLITS_SHOWN) {
			raw(g, " …");
			break;
		}
		uint64_t v = value[p];
		uint32_t n = 0;
		for (uint32_t q = p; v && q < all; q++)
			if (value[q] == v) {
				m[n++] = q;
				value[q] = 0;
			}
		if (!n)
			continue;
		raw(g, groups++ ? " <span class=\"sep\">|</span> " : "");
		ranks_put_members(g, m, n);
	}
}

/* The code that the ranks run at one place of the order: if its collectives or cache results differ, they may wait for each other. */
static void put_places(struct page *g)
{
	enum { PLACES = 200, ROWS_SHOWN = 40 };
	const struct ranks *all = g->all;
	struct rank_items *it = xcalloc(all->n_process + 1u, sizeof(*it));
	FREED uint64_t *value = xcalloc(all->n_process + 1u, sizeof(*value));
	uint32_t *m = xcalloc(all->n_process + 1u, sizeof(*m)), longest = 0, shown = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		rank_items_of(all, &all->process[p], RANK_CHECK_ORDER, &it[p]);
		longest = it[p].n_item > longest ? it[p].n_item : longest;
	}
	for (uint32_t i = 0; i < longest && i < PLACES; i++)
		for (enum place what = 0; what < PLACES_OF && shown < ROWS_SHOWN; what++) {
			if (!place_values(all, it, i, what, value))
				continue;
			if (!shown++)
				raw(g, "<h3>Places where ranks do different things</h3>\n<table class=\"list\"><tr><th "
				       "class=\"r\">place</th>"
				       "<th>what differs</th><th>groups</th></tr>\n");
			buf_addf(g->b, "<tr><td class=\"r\">%u</td><td>%s</td><td>", i + 1,
				 what == PLACE_CACHE ? "cache" : "collectives of the graph");
			put_groups(g, value, m);
			raw(g, "</td></tr>\n");
		}
	if (shown)
		raw(g, "</table>\n");
	for (uint32_t p = 0; p < all->n_process; p++)
		free(it[p].item);
	free(it);
	free(m);
}

void ranks_put_order(struct page *g)
{
	const struct ranks *all = g->all;
	const struct rank_verdict *v = &all->check[RANK_CHECK_ORDER];
	if (!v->recorded)
		return;
	raw(g, "<section id=\"ran\"><h2>Graphs in the order they ran</h2>\n<table class=\"list\"><tr><th>ranks</th>"
	       "<th>order</th></tr>\n");
	for (uint32_t k = 0; k < v->n_group && k < SPLITS_SHOWN; k++) {
		const struct rank_process *f = &all->process[v->group[k].member[0]];
		raw(g, "<tr><td>");
		ranks_put_members(g, v->group[k].member, v->group[k].n_member);
		raw(g, "</td><td class=\"ops\">");
		if (!f->n_order)
			raw(g, "<span class=\"dim\">not recorded</span>");
		for (uint32_t i = 0; i < f->n_order && i < 60; i++) {
			raw(g, i ? " <span class=\"sep\">→</span> <code class=\"id\">" : "<code class=\"id\">");
			put(g, "{}</code>", name(g, f->order[i]));
		}
		raw(g, f->n_order > 60 ? " …</td></tr>\n" : "</td></tr>\n");
	}
	raw(g, "</table>\n");
	put_places(g);
	raw(g, "</section>\n");
}
