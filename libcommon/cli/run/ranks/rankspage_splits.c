/* rankspage_splits.c - where ranks diverge, and what they captured there, side by side. */
#include "run/ranks/rankspage_part.h"
#include "run/text.h"
#include "base/linediff.h"

enum {
	DIFF_ROWS = 1200,  /* per pair of graphs */
	PAGE_ROWS = 30000, /* in all diffs together */
	CONTEXT = 3,       /* equal lines around differing ones */
};

static uint64_t line_key(void *tmp, struct slice line) { return graph_fingerprint(line, tmp); }

static void diff_cell(struct page *g, const struct linediff *d, unsigned side, uint32_t n, const char *class)
{
	if (n == NONE) {
		raw(g, "<td class=\"n\"></td><td class=\"gap\"></td>");
		return;
	}
	buf_addf(g->b, "<td class=\"n\">%u</td><td class=\"%s\">", n + 1, class);
	put(g, "{}</td>", linediff_line(d, side, n));
}

static void diff_row(struct page *g, const struct linediff *d, uint32_t i)
{
	const struct linediff_row *r = &d->row[i];
	raw(g, r->same ? "<tr>" : "<tr class=\"d\">");
	diff_cell(g, d, 0, r->a, r->same ? "" : "del");
	diff_cell(g, d, 1, r->b, r->same ? "" : "add");
	raw(g, "</tr>\n");
	g->rows++;
}

/* Two texts side by side, with equal stretches folded. */
static void put_diff(struct page *g, struct slice left, struct slice right, bool cut)
{
	struct linediff d = {0};
	LOCAL_BUF tmp = {0};
	linediff_run(&d, left, right, line_key, &tmp);
	buf_addf(g->b, "<p class=\"count\">%u line%s differ%s</p><div class=\"scroll\"><table class=\"diff\">\n",
		 d.changed + d.added + d.removed, plural(d.changed + d.added + d.removed), verb_s(d.changed + d.added + d.removed));
	uint32_t shown = 0;
	for (uint32_t i = 0; i < d.n;) {
		if (shown >= DIFF_ROWS || g->rows >= PAGE_ROWS) {
			buf_addf(g->b, "<tr class=\"fold\"><td colspan=\"4\">… %u more lines</td></tr>\n", d.n - i);
			break;
		}
		uint32_t same = 0;
		while (i + same < d.n && d.row[i + same].same)
			same++;
		uint32_t before = i ? CONTEXT : 0, after = i + same < d.n ? CONTEXT : 0;
		if (same > before + after + 2 && (d.changed || d.added || d.removed)) {
			for (uint32_t k = 0; k < same; k++) {
				if (k == before) {
					buf_addf(g->b, "<tr class=\"fold\"><td colspan=\"4\">⋯ %u equal lines</td></tr>\n",
						 same - before - after);
					k = same - after;
					if (!after)
						break;
				}
				diff_row(g, &d, i + k);
				shown++;
			}
			i += same;
			continue;
		}
		diff_row(g, &d, i++);
		shown++;
	}
	raw(g, "</table></div>\n");
	if (cut)
		raw(g,
		    "<p class=\"dim\">Only the beginning of such large graphs is kept for comparison; the full graph is in the rank's own "
		    "report.</p>\n");
	linediff_release(&d);
}

/* One side of a split: a process, the compilation and the graph to show. */
struct side {
	const struct rank_process *f;
	uint32_t process, compile;
	uint64_t fp; /* of the graph to show, 0 for none */
};

static void side_head(struct page *g, const struct side *s, const char *role)
{
	raw(g, "<div><b>");
	ranks_put_who(g, s->process);
	put(g, "</b> <small>{}</small> ", slice_str(role));
	ranks_put_id(g, s->f, s->compile);
	if (s->compile != NONE && s->compile < s->f->n_compile && s->f->compile[s->compile].loc != NONE)
		put(g, " <span class=\"loc\">{}</span>", name(g, s->f->compile[s->compile].loc));
	raw(g, "</div>");
}

static void put_graphs(struct page *g, const struct side *l, const struct side *r)
{
	uint32_t a = l->fp ? rank_graph_by_fp(g->all, l->fp) : NONE, b = r->fp ? rank_graph_by_fp(g->all, r->fp) : NONE;
	raw(g, "<div class=\"pair\"><div class=\"heads\">");
	side_head(g, l, "reference");
	side_head(g, r, "");
	raw(g, "</div>\n");
	uint64_t key[2] = {l->fp, r->fp};
	uint32_t before = g->shown.n, seen = intern_add(&g->shown, slice_of((const char *)key, sizeof(key)));
	if (!l->fp && !r->fp) {
		raw(g, "<p class=\"dim\">No graph was captured at this point on either side.</p>\n");
	} else if (l->fp == r->fp) {
		raw(g, "<p class=\"dim\">Both captured the same graph here: the difference is elsewhere.</p>\n");
	} else if (seen < before) {
		buf_addf(g->b, "<p class=\"dim\">These two graphs are <a href=\"#pair%u\">side by side above</a>.</p>\n", seen);
	} else if ((l->fp && a == NONE) || (r->fp && b == NONE)) {
		buf_addf(g->b,
			 "<p class=\"dim\">The graphs differ; the text of %s was too large to keep. It is in the rank's own report.</p>\n",
			 a == NONE && b == NONE ? "both"
			 : a == NONE            ? "the left one"
						: "the right one");
	} else {
		bool one = !l->fp || !r->fp;
		buf_addf(g->b, one ? "<details id=\"pair%u\"><summary>" : "<div id=\"pair%u\">", seen);
		if (one) {
			ranks_put_who(g, l->fp ? r->process : l->process);
			raw(g, " has no graph here; this is the other side's</summary>");
		}
		put_diff(g, l->fp ? name(g, g->all->graph[a].graph) : SLICE(""), r->fp ? name(g, g->all->graph[b].graph) : SLICE(""),
			 (l->fp && g->all->graph[a].cut) || (r->fp && g->all->graph[b].cut));
		raw(g, one ? "</details>\n" : "</div>\n");
	}
	raw(g, "</div>\n");
}

static struct side side_of(struct page *g, uint32_t process, const struct rank_item *it)
{
	struct side s = {&g->all->process[process], process, it->compile, it->graph};
	if (!s.fp && s.compile != NONE)
		rank_graph_of(g->all, s.f, s.compile, &s.fp);
	return s;
}

/* An item in words. */
static void put_item(struct page *g, enum rank_check check, const struct rank_process *f, const struct rank_item *it)
{
	if (check == RANK_CHECK_ORDER) {
		put(g, "<code class=\"id\">{}</code> ", it->text);
		if (it->compile != NONE)
			text(g, name(g, f->compile[it->compile].loc));
		return;
	}
	ranks_put_id(g, f, it->compile);
	raw(g, " ");
	if (it->kind < RANK_EVENT_COUNT && it->kind != RANK_CACHE)
		buf_addf(g->b, "<span class=\"ev ev-%s\">%s</span> ", rank_event_name[it->kind], rank_event_text[it->kind]);
	if (check == RANK_CHECK_TENSORS)
		raw(g, "tensors of this graph");
	else
		text(g, it->text);
}

/* The items around the differing one, in two columns. */
static void put_context(struct page *g, const struct rank_split *s)
{
	const struct rank_process *f[2] = {&g->all->process[s->ref], &g->all->process[s->member[0]]};
	struct rank_items it[2] = {0};
	uint32_t from = s->at > 2 ? s->at - 2 : 0, to = s->at + 4;
	raw(g, "<table class=\"context\"><tr><th></th><th>");
	ranks_put_who(g, s->ref);
	raw(g, " <small>reference</small></th><th>");
	ranks_put_members(g, s->member, s->n_member);
	raw(g, "</th></tr>\n");
	for (unsigned k = 0; k < 2; k++)
		rank_items_of(g->all, f[k], s->check, &it[k]);
	for (uint32_t i = from; i < to && (i < it[0].n_item || i < it[1].n_item); i++) {
		raw(g, i == s->at ? "<tr class=\"first\">" : i < s->at ? "<tr class=\"same\">" : "<tr>");
		buf_addf(g->b, "<td class=\"n\">%u</td>", i + 1);
		for (unsigned k = 0; k < 2; k++) {
			raw(g, "<td>");
			if (i < it[k].n_item)
				put_item(g, s->check, f[k], &it[k].item[i]);
			else if (i == it[k].n_item)
				raw(g, "<span class=\"dim\">nothing more</span>");
			raw(g, "</td>");
		}
		raw(g, "</tr>\n");
	}
	raw(g, "</table>\n");
	free(it[0].item);
	free(it[1].item);
}

static bool truncated(const struct rank_process *f) { return f->damage[DAMAGE_TRUNCATED].count || f->damage[DAMAGE_INPUT].count; }

/* Why the cache was missed: what differs in the keys. */
static void put_keys(struct page *g, const struct rank_split *s)
{
	if (!s->n_key)
		return;
	raw(g, "<p>Differences in the cache keys, or other reasons of a miss:</p>\n"
	       "<table class=\"list\"><tr><th>cache</th><th>component</th><th>");
	ranks_put_who(g, s->ref);
	raw(g, "</th><th>");
	ranks_put_members(g, s->member, s->n_member);
	raw(g, "</th></tr>\n");
	for (uint32_t i = 0; i < s->n_key && i < KEY_CHANGES; i++) {
		const struct key_change *c = &s->key[i].of;
		put(g, "<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n", slice_str(cache_kind_name[s->key[i].kind]),
		    c->name, s->swapped ? c->after : c->before, s->swapped ? c->before : c->after);
	}
	raw(g, "</table>\n");
	if (s->n_key > KEY_CHANGES)
		buf_addf(g->b, "<p class=\"dim\">and %u more</p>\n", s->n_key - KEY_CHANGES);
}

static void put_split(struct page *g, const struct rank_split *s)
{
	const struct ranks_check *c = &ranks_checks[s->check];
	const struct rank_verdict *v = &g->all->check[s->check];
	const struct rank_process *f = &g->all->process[s->member[0]];
	raw(g, "<article><h3>");
	ranks_put_members(g, s->member, s->n_member);
	buf_addf(g->b, " diverge%s from ", verb_s(s->n_member));
	ranks_put_who(g, s->ref);
	if (v->group[0].n_member > 1)
		buf_addf(g->b, " <small>(and %u like it)</small>", v->group[0].n_member - 1);
	buf_addf(g->b, " at %s %u", c->unit, s->at + 1);
	raw(g, "</h3>\n<p>");
	if (s->ends) {
		buf_addf(g->b, "The first %u agree, then this log ends%s, while the reference continues with ", s->at,
			 truncated(f) ? " (<b>it is incomplete</b>: it may just be cut off)" : "");
		put_item(g, s->check, &g->all->process[s->ref], &s->theirs);
	} else if (s->ref_ends) {
		buf_addf(g->b, "All %u of the reference agree, but here it continues with ", s->at);
		put_item(g, s->check, f, &s->own);
	} else {
		raw(g, "Reference: ");
		put_item(g, s->check, &g->all->process[s->ref], &s->theirs);
		raw(g, ". Here: ");
		put_item(g, s->check, f, &s->own);
	}
	raw(g, ".</p>\n");
	put_keys(g, s);
	if (s->check == RANK_CHECK_TENSORS) {
		if (!s->ends && !s->ref_ends) {
			raw(g, "<div class=\"pair\">");
			put_diff(g, s->theirs.text, s->own.text, false);
			raw(g, "</div>");
		}
	} else {
		put_context(g, s);
	}
	struct side l = side_of(g, s->ref, &s->theirs), r = side_of(g, s->member[0], &s->own);
	put_graphs(g, &l, &r);
	raw(g, "</article>\n");
}

/* Compile ids that only some have. */
struct id_row {
	uint32_t id;
	ROWS(uint32_t, member);
};
static void put_ids(struct page *g)
{
	const struct ranks *all = g->all;
	OWNED(intern_release) struct intern seen = {0};
	struct id_row *row = NULL;
	size_t n = 0, cap = 0;
	for (uint32_t p = 0; p < all->n_process; p++)
		for (uint32_t i = 0; i < all->process[p].n_compile; i++) {
			const struct rank_compile *c = &all->process[p].compile[i];
			if (c->unknown)
				continue;
			uint32_t k = intern_add(&seen, name(g, c->id));
			if (k == n)
				PUSH_TO(row, n, cap) = (struct id_row){.id = c->id};
			PUSH(&row[k], member) = p;
		}
	raw(g, "<table class=\"list\"><tr><th>compile id</th><th>has it</th><th>does not</th></tr>\n");
	uint32_t shown = 0;
	FREED uint32_t *without = xcalloc(all->n_process + 1u, sizeof(*without));
	for (size_t i = 0; i < n; i++) {
		if (row[i].n_member < all->n_process && ++shown <= 200) {
			uint32_t k = 0, m = 0;
			for (uint32_t p = 0; p < all->n_process; p++) {
				if (k < row[i].n_member && row[i].member[k] == p)
					k++;
				else
					without[m++] = p;
			}
			put(g, "<tr><td><code class=\"id\">{}</code></td><td>", name(g, row[i].id));
			ranks_put_members(g, row[i].member, row[i].n_member);
			raw(g, "</td><td>");
			ranks_put_members(g, without, m);
			raw(g, "</td></tr>\n");
		}
		free(row[i].member);
	}
	raw(g, "</table>\n");
	if (shown > 200)
		buf_addf(g->b, "<p class=\"dim\">and %u more</p>\n", shown - 200);
	free(row);
}

void ranks_put_splits(struct page *g)
{
	for (unsigned i = 0; i < ARRAY_LEN(ranks_check_order); i++) {
		enum rank_check c = ranks_check_order[i];
		const struct rank_verdict *v = &g->all->check[c];
		if (v->agree || c == RANK_CHECK_VERSION)
			continue;
		buf_addf(g->b, "<section id=\"%s\"><h2>%s <small>%u groups</small></h2>\n", ranks_checks[c].id, ranks_checks[c].title,
			 v->n_group);
		if (c == RANK_CHECK_IDS) {
			put_ids(g);
			raw(g, "</section>\n");
			continue;
		}
		if (c == RANK_CHECK_CACHE) {
			raw(g, "<table class=\"list\">\n");
			for (uint32_t k = 0; k < v->n_group && k < SPLITS_SHOWN; k++) {
				raw(g, "<tr><td>");
				ranks_put_members(g, v->group[k].member, v->group[k].n_member);
				raw(g, "</td><td class=\"marks\">");
				ranks_put_marks(g, &g->all->process[v->group[k].member[0]]);
				raw(g, "</td></tr>\n");
			}
			raw(g, "</table>\n");
		}
		for (uint32_t k = 0; k < v->splits && k < SPLITS_SHOWN; k++)
			put_split(g, &g->all->split[v->first_split + k]);
		if (v->splits > SPLITS_SHOWN) {
			buf_addf(g->b, "<details><summary>%u more places where ranks diverge</summary><ul>\n", v->splits - SPLITS_SHOWN);
			for (uint32_t k = SPLITS_SHOWN; k < v->splits && k < 500; k++) {
				const struct rank_split *s = &g->all->split[v->first_split + k];
				raw(g, "<li>");
				ranks_put_members(g, s->member, s->n_member);
				buf_addf(g->b, ": %s %u</li>\n", ranks_checks[c].unit, s->at + 1);
			}
			raw(g, "</ul></details>\n");
		}
		raw(g, "</section>\n");
	}
}
