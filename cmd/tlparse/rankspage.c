/* rankspage.c - the landing page of --all-ranks-html: do the ranks agree, where do they part, who is slow.
 *
 * Depends on struct ranks alone, so that logs and the documents made of them give the same page; only links to folders and
 * files that are not there are left out. Everything is in the page, nothing needs a network; scripts add the drawn timeline,
 * sorting and a filter.
 */
#include "base/linediff.h"
#include "html/html.h"
#include "tlparse.h"

#include <inttypes.h>

#define NIL UINT32_MAX

enum {
	SPLITS_SHOWN = 12, /* per check, the others are listed */
	DIFF_ROWS = 1200,  /* per pair of graphs */
	PAGE_ROWS = 30000, /* in all diffs together */
	CONTEXT = 3,       /* equal lines around those that differ */
	TIMELINE_SPANS = 20000,
	SLOW_ROWS = 60,
	RANGES = 40,
};

struct page {
	struct buf *b;
	const struct ranks *all;
	const struct ranks_page *p;
	struct intern shown; /* pairs of graphs that the page has already */
	uint32_t rows;
};

static void raw(struct page *g, const char *s) { buf_adds(g->b, s); }
static void text(struct page *g, struct slice s) { html_text(g->b, s); }
static void str(struct page *g, const char *s) { html_text(g->b, slice_str(s)); }
static struct slice name(const struct page *g, uint32_t n) { return n == INTERN_NONE ? SLICE("") : intern_get(&g->all->names, n); }
static const char *many(uint64_t n) { return n == 1 ? "" : "s"; }

static void id_text(struct page *g, const struct rank_facts *f, uint32_t compile)
{
	if (compile == NIL || compile >= f->n_compile)
		return;
	raw(g, "<code class=\"id\">");
	text(g, name(g, f->compile[compile].id));
	raw(g, "</code>");
}

static void seconds(struct page *g, int64_t us)
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

/* "rank 3", "rank_0_2": what a process is called in a sentence. */
static bool plain(const struct rank_facts *f) { return f->rank >= 0 && f->nth == 1; }

static void who(struct page *g, uint32_t process)
{
	const struct rank_facts *f = &g->all->process[process];
	if (plain(f))
		buf_addf(g->b, "rank %lld", (long long)f->rank);
	else
		str(g, f->name);
}

/* "ranks 0, 2-7, rank_0_2". Members are in order. */
static void members(struct page *g, const uint32_t *m, uint32_t n)
{
	uint32_t shown = 0, i = 0, ranks = 0;
	for (i = 0; i < n; i++)
		ranks += plain(&g->all->process[m[i]]);
	if (ranks)
		raw(g, ranks == 1 ? "rank " : "ranks ");
	for (i = 0; i < n; shown++) {
		const struct rank_facts *f = &g->all->process[m[i]];
		if (shown)
			raw(g, ", ");
		if (shown == RANGES) {
			buf_addf(g->b, "and %u more", n - i);
			return;
		}
		if (!plain(f)) {
			str(g, f->name);
			i++;
			continue;
		}
		uint32_t k = i + 1;
		while (k < n && plain(&g->all->process[m[k]]) && g->all->process[m[k]].rank == g->all->process[m[k - 1]].rank + 1)
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

/* ---- notes: what is missing, damaged, mixed ---- */

static void note(struct page *g, const char *class)
{
	raw(g, "<li class=\"");
	raw(g, class);
	raw(g, "\">");
}

static void base_name(struct page *g, const char *path)
{
	const char *slash = strrchr(path, '/');
	raw(g, "<code>");
	str(g, slash ? slash + 1 : path);
	raw(g, "</code>");
}

static void put_notes(struct page *g)
{
	const struct ranks *all = g->all;
	size_t start = g->b->len;
	raw(g, "<ul class=\"notes\">\n");
	size_t head = g->b->len;
	for (uint32_t i = 0; i < all->n_lost; i++) {
		note(g, "bad");
		if (all->lost[i].rank >= 0)
			buf_addf(g->b, "<b>Rank %lld could not be read.</b> ", (long long)all->lost[i].rank);
		else
			raw(g, "<b>A log could not be read.</b> ");
		base_name(g, all->lost[i].path);
		raw(g, ": ");
		str(g, all->lost[i].why);
		raw(g, "</li>\n");
	}
	if (all->absents) {
		note(g, "bad");
		buf_addf(g->b, "<b>No readable log of %" PRIu64 " rank%s</b> below the highest: ", all->absents, many(all->absents));
		uint32_t shown = 0;
		for (uint32_t i = 0; i < all->n_absent; shown++) {
			uint32_t k = i + 1;
			while (k < all->n_absent && all->absent[k] == all->absent[k - 1] + 1)
				k++;
			if (shown == RANGES) {
				raw(g, ", …");
				break;
			}
			buf_addf(g->b, k - i > 1 ? "%s%lld–%lld" : "%s%lld", shown ? ", " : "", (long long)all->absent[i],
				 (long long)all->absent[k - 1]);
			i = k;
		}
		if (all->absents > all->n_absent)
			raw(g, ", …");
		raw(g, ". They are not compared.</li>\n");
	}
	const struct rank_verdict *v = &all->check[RANK_CHECK_VERSION];
	if (!v->agree) {
		note(g, "bad");
		raw(g, "<b>Different versions of torch:</b> ");
		for (uint32_t i = 0; i < v->n_group; i++) {
			const struct rank_facts *f = &all->process[v->group[i].member[0]];
			raw(g, i ? "; <code>" : "<code>");
			text(g, f->torch_version == INTERN_NONE ? SLICE("not recorded") : name(g, f->torch_version));
			raw(g, "</code> ");
			members(g, v->group[i].member, v->group[i].n_member);
		}
		raw(g, ". What they compile may differ for that alone.</li>\n");
	}
	for (unsigned k = 0; k < DAMAGE_COUNT; k++) {
		uint32_t *m = NULL;
		size_t n = 0, cap = 0;
		for (uint32_t i = 0; i < all->n_process; i++)
			if (all->process[i].damage[k].count) {
				GROW(m, n, cap, 1);
				m[n++] = i;
			}
		if (n) {
			const struct trace_damage *d = &all->process[m[0]].damage[k];
			note(g, "warn");
			raw(g, "<b>Damaged: ");
			members(g, m, (uint32_t)n);
			raw(g, ".</b> ");
			str(g, trace_damage_text[k]);
			buf_addf(g->b,
				 n == 1 ? " (%" PRIu64 ", line %" PRIu64 ")</li>\n"
					: " (in the first of them %" PRIu64 ", line %" PRIu64 ")</li>\n",
				 d->count, d->line);
		}
		free(m);
	}
	for (uint32_t i = 0; i < all->n_process; i++) {
		const struct rank_facts *f = &all->process[i];
		if (f->rank >= 0 && f->nth == 1 && i + 1 < all->n_process && all->process[i + 1].rank == f->rank) {
			uint32_t n = 1;
			while (i + n < all->n_process && all->process[i + n].rank == f->rank)
				n++;
			note(g, "warn");
			buf_addf(
			    g->b,
			    "<b>Rank %lld has %u logs</b> (a restart, or a process it forked). They are kept apart, in the order in which "
			    "they start: ",
			    (long long)f->rank, n);
			for (uint32_t k = 0; k < n; k++) {
				raw(g, k ? ", " : "");
				str(g, all->process[i + k].name);
				buf_addf(g->b, " (pid %" PRIu64 ")", all->process[i + k].pid);
			}
			raw(g, ".</li>\n");
		}
		if (f->record_rank >= 0 && f->rank >= 0 && f->record_rank != f->rank) {
			note(g, "warn");
			base_name(g, f->path);
			buf_addf(g->b, ": the file's name says rank %lld, its records say %lld; it counts as rank %lld.</li>\n",
				 (long long)f->rank, (long long)f->record_rank, (long long)f->rank);
		}
		if (f->cut_events || f->cut_ops) {
			note(g, "warn");
			str(g, f->name);
			buf_addf(g->b,
				 ": %" PRIu64 " events and %" PRIu64
				 " lists of operators are not compared (too many, or not readable).</li>\n",
				 f->cut_events, f->cut_ops);
		}
	}
	uint32_t unranked = 0;
	for (uint32_t i = 0; i < all->n_process; i++)
		unranked += all->process[i].rank < 0;
	if (unranked) {
		note(g, "info");
		buf_addf(g->b, "%u log%s without a rank: processes, named by their pid (proc_PID).</li>\n", unranked, many(unranked));
	}
	if (g->b->len == head)
		g->b->len = start;
	else
		raw(g, "</ul>\n");
}

/* ---- checks ---- */

static const struct check {
	const char *id, *title, *what, *unit;
} checks[RANK_CHECK_COUNT] = {
    [RANK_CHECK_IDS] = {"ids", "Compile ids", "the same set of compile ids", "compile id"},
    [RANK_CHECK_CAPTURE] = {"capture", "Captured graphs", "what Dynamo started, captured, broke and recompiled, in order", "event"},
    [RANK_CHECK_CACHE] = {"cache", "Cache events", "hits, misses and bypasses, in order", "cache event"},
    [RANK_CHECK_COLLECT] = {"collectives", "Collectives", "the order of collective operators in the schedules", "operator"},
    [RANK_CHECK_TENSORS] = {"tensors", "Tensor metadata", "type, shape and stride of what operators return", "graph"},
    [RANK_CHECK_ORDER] = {"order", "Execution order", "the order in which compiled graphs ran", "graph"},
    [RANK_CHECK_MADE] = {"made", "Compiled graphs", "graphs of AOTAutograd and Inductor, where the above agrees", "graph"},
    [RANK_CHECK_VERSION] = {"version", "torch version", "the same version of torch", "version"},
};
static const enum rank_check order[] = {RANK_CHECK_CAPTURE, RANK_CHECK_IDS,   RANK_CHECK_COLLECT, RANK_CHECK_ORDER,
					RANK_CHECK_TENSORS, RANK_CHECK_CACHE, RANK_CHECK_MADE,    RANK_CHECK_VERSION};

static void put_checks(struct page *g)
{
	raw(g, "<section id=\"checks\"><h2>What was compared</h2>\n<table class=\"checks\"><tr><th>check</th><th>verdict</th>"
	       "<th>groups that agree</th></tr>\n");
	for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
		const struct check *c = &checks[order[i]];
		const struct rank_verdict *v = &g->all->check[order[i]];
		raw(g, "<tr><td><b>");
		raw(g, c->title);
		raw(g, "</b><br><small>");
		raw(g, c->what);
		raw(g, "</small></td>");
		if (!v->recorded) {
			raw(g, "<td><span class=\"tag none\">not recorded</span></td><td></td></tr>\n");
			continue;
		}
		if (v->agree) {
			raw(g, g->all->n_process > 1 ? "<td><span class=\"tag ok\">agree</span></td><td>all</td></tr>\n"
						     : "<td><span class=\"tag none\">one log</span></td><td></td></tr>\n");
			continue;
		}
		raw(g, "<td><a class=\"tag bad\" href=\"#");
		raw(g, order[i] == RANK_CHECK_VERSION ? "notes" : c->id);
		buf_addf(g->b, "\">%u groups</a></td><td>", v->n_group);
		for (uint32_t k = 0; k < v->n_group && k < SPLITS_SHOWN; k++) {
			raw(g, k ? " <span class=\"sep\">|</span> " : "");
			members(g, v->group[k].member, v->group[k].n_member);
		}
		if (v->n_group > SPLITS_SHOWN)
			buf_addf(g->b, " <span class=\"sep\">|</span> and %u more groups", v->n_group - SPLITS_SHOWN);
		raw(g, "</td></tr>\n");
	}
	raw(g, "</table></section>\n");
}

/* ---- side by side ---- */

static uint64_t line_key(void *ctx, struct slice line)
{
	(void)ctx;
	return rank_fingerprint(line);
}

static void diff_cell(struct page *g, const struct linediff *d, unsigned side, uint32_t n, const char *class)
{
	if (n == LINEDIFF_NONE) {
		raw(g, "<td class=\"n\"></td><td class=\"gap\"></td>");
		return;
	}
	buf_addf(g->b, "<td class=\"n\">%u</td><td class=\"", n + 1);
	raw(g, class);
	raw(g, "\">");
	text(g, linediff_line(d, side, n));
	raw(g, "</td>");
}

/* Two texts side by side, equal stretches folded. */
static void put_diff(struct page *g, struct slice left, struct slice right, bool cut)
{
	struct linediff d = {0};
	linediff_run(&d, left, right, line_key, NULL);
	buf_addf(g->b, "<p class=\"count\">%u line%s differ%s</p><div class=\"scroll\"><table class=\"diff\">\n",
		 d.changed + d.added + d.removed, many(d.changed + d.added + d.removed), d.changed + d.added + d.removed == 1 ? "s" : "");
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
				raw(g, "<tr>");
				diff_cell(g, &d, 0, d.row[i + k].a, "");
				diff_cell(g, &d, 1, d.row[i + k].b, "");
				raw(g, "</tr>\n");
				shown++;
				g->rows++;
			}
			i += same;
			continue;
		}
		const struct linediff_row *r = &d.row[i++];
		raw(g, r->same ? "<tr>" : "<tr class=\"d\">");
		diff_cell(g, &d, 0, r->a, r->same ? "" : "del");
		diff_cell(g, &d, 1, r->b, r->same ? "" : "add");
		raw(g, "</tr>\n");
		shown++;
		g->rows++;
	}
	raw(g, "</table></div>\n");
	if (cut)
		raw(g, "<p class=\"dim\">Only the beginning of such large graphs is kept for comparison; the whole is in the rank's own "
		       "report.</p>\n");
	linediff_release(&d);
}

/* What a split concerns on one side. */
struct side {
	const struct rank_facts *f;
	uint32_t process, compile;
	uint64_t fp; /* of the graph to show, 0 for none */
};

static void side_head(struct page *g, const struct side *s, const char *role)
{
	raw(g, "<div><b>");
	who(g, s->process);
	raw(g, "</b> <small>");
	raw(g, role);
	raw(g, "</small> ");
	id_text(g, s->f, s->compile);
	if (s->compile != NIL && s->compile < s->f->n_compile && s->f->compile[s->compile].loc != INTERN_NONE) {
		raw(g, " <span class=\"loc\">");
		text(g, name(g, s->f->compile[s->compile].loc));
		raw(g, "</span>");
	}
	raw(g, "</div>");
}

static void put_graphs(struct page *g, const struct side *l, const struct side *r)
{
	uint32_t a = l->fp ? rank_graph_by_fp(g->all, l->fp) : NIL, b = r->fp ? rank_graph_by_fp(g->all, r->fp) : NIL;
	raw(g, "<div class=\"pair\"><div class=\"heads\">");
	side_head(g, l, "reference");
	side_head(g, r, "");
	raw(g, "</div>\n");
	uint64_t key[2] = {l->fp, r->fp};
	uint32_t before = g->shown.n, seen = intern_add(&g->shown, slice_of((const char *)key, sizeof(key)));
	if (!l->fp && !r->fp) {
		raw(g, "<p class=\"dim\">No graph was captured at this point on either side.</p>\n");
	} else if (l->fp == r->fp) {
		raw(g, "<p class=\"dim\">Both have the same graph here: what differs is not what was captured.</p>\n");
	} else if (seen < before) {
		buf_addf(g->b, "<p class=\"dim\">These two graphs are <a href=\"#pair%u\">side by side above</a>.</p>\n", seen);
	} else if ((l->fp && a == NIL) || (r->fp && b == NIL)) {
		raw(g, "<p class=\"dim\">The graphs differ; the text of ");
		raw(g, a == NIL && b == NIL ? "both" : a == NIL ? "the left one" : "the right one");
		raw(g, " was too large to be kept. It is in the rank's own report.</p>\n");
	} else {
		bool one = !l->fp || !r->fp;
		buf_addf(g->b, one ? "<details id=\"pair%u\"><summary>" : "<div id=\"pair%u\">", seen);
		if (one) {
			who(g, l->fp ? r->process : l->process);
			raw(g, " has no graph here; the other side's</summary>");
		}
		put_diff(g, l->fp ? name(g, g->all->graph[a].text) : SLICE(""), r->fp ? name(g, g->all->graph[b].text) : SLICE(""),
			 (l->fp && g->all->graph[a].cut) || (r->fp && g->all->graph[b].cut));
		raw(g, one ? "</details>\n" : "</div>\n");
	}
	raw(g, "</div>\n");
}

static struct side side_of(struct page *g, uint32_t process, const struct rank_item *it)
{
	struct side s = {&g->all->process[process], process, it->compile, it->graph};
	if (!s.fp && s.compile != NIL)
		rank_graph_of(g->all, s.f, s.compile, &s.fp);
	return s;
}

/* One item in words. */
static void put_item(struct page *g, enum rank_check check, const struct rank_facts *f, const struct rank_item *it)
{
	if (check == RANK_CHECK_ORDER) {
		raw(g, "<code class=\"id\">");
		text(g, name(g, it->text));
		raw(g, "</code> ");
		if (it->compile != NIL)
			text(g, name(g, f->compile[it->compile].loc));
		return;
	}
	id_text(g, f, it->compile);
	raw(g, " ");
	if (it->kind < RANK_EVENT_COUNT && it->kind != RANK_CACHE) {
		raw(g, "<span class=\"ev ev-");
		raw(g, rank_event_name[it->kind]);
		raw(g, "\">");
		raw(g, rank_event_text[it->kind]);
		raw(g, "</span> ");
	}
	if (check == RANK_CHECK_TENSORS)
		raw(g, "tensors of this graph");
	else
		text(g, name(g, it->text));
}

/* The items around the one that differs, in two columns. */
static void put_context(struct page *g, const struct rank_split *s)
{
	const struct rank_facts *f[2] = {&g->all->process[s->ref], &g->all->process[s->member[0]]};
	struct rank_items it[2] = {0};
	uint32_t from = s->at > 2 ? s->at - 2 : 0, to = s->at + 4;
	raw(g, "<table class=\"context\"><tr><th></th><th>");
	who(g, s->ref);
	raw(g, " <small>reference</small></th><th>");
	members(g, s->member, s->n_member);
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

static bool truncated(const struct rank_facts *f) { return f->damage[DAMAGE_TRUNCATED].count || f->damage[DAMAGE_INPUT].count; }

static void put_split(struct page *g, const struct rank_split *s)
{
	const struct check *c = &checks[s->check];
	const struct rank_verdict *v = &g->all->check[s->check];
	const struct rank_facts *f = &g->all->process[s->member[0]];
	raw(g, "<article><h3>");
	members(g, s->member, s->n_member);
	buf_addf(g->b, " part%s from ", s->n_member == 1 ? "s" : "");
	who(g, s->ref);
	if (v->group[0].n_member > 1)
		buf_addf(g->b, " <small>(and %u alike)</small>", v->group[0].n_member - 1);
	buf_addf(g->b, " at %s %u", c->unit, s->at + 1);
	raw(g, "</h3>\n<p>");
	if (s->ends) {
		buf_addf(g->b, "The first %u agree, then there is nothing more%s, while the reference goes on with ", s->at,
			 truncated(f) ? " (<b>this log is not whole</b>: it may only be cut off)" : "");
		put_item(g, s->check, &g->all->process[s->ref], &s->theirs);
	} else if (s->ref_ends) {
		buf_addf(g->b, "All %u of the reference agree, but here follows ", s->at);
		put_item(g, s->check, f, &s->own);
	} else {
		raw(g, "Reference: ");
		put_item(g, s->check, &g->all->process[s->ref], &s->theirs);
		raw(g, ". Here: ");
		put_item(g, s->check, f, &s->own);
	}
	raw(g, ".</p>\n");
	if (s->check == RANK_CHECK_TENSORS) {
		if (!s->ends && !s->ref_ends) {
			raw(g, "<div class=\"pair\">");
			put_diff(g, name(g, s->theirs.text), name(g, s->own.text), false);
			raw(g, "</div>");
		}
	} else {
		put_context(g, s);
	}
	struct side l = side_of(g, s->ref, &s->theirs), r = side_of(g, s->member[0], &s->own);
	put_graphs(g, &l, &r);
	raw(g, "</article>\n");
}

/* Which compile ids only some have. */
struct id_row {
	uint32_t id;
	ROWS(uint32_t, member);
};
static void put_ids(struct page *g)
{
	const struct ranks *all = g->all;
	struct intern seen = {0};
	struct id_row *row = NULL;
	size_t n = 0, cap = 0;
	for (uint32_t p = 0; p < all->n_process; p++)
		for (uint32_t i = 0; i < all->process[p].n_compile; i++) {
			const struct rank_compile *c = &all->process[p].compile[i];
			if (c->unknown)
				continue;
			uint32_t k = intern_add(&seen, name(g, c->id));
			if (k == n) {
				GROW(row, n, cap, 1);
				row[n++] = (struct id_row){.id = c->id};
			}
			GROW(row[k].member, row[k].n_member, row[k].cap_member, 1);
			row[k].member[row[k].n_member++] = p;
		}
	raw(g, "<table class=\"list\"><tr><th>compile id</th><th>has it</th><th>does not</th></tr>\n");
	uint32_t shown = 0;
	uint32_t *without = xcalloc(all->n_process + 1u, sizeof(*without));
	for (size_t i = 0; i < n; i++) {
		if (row[i].n_member < all->n_process && ++shown <= 200) {
			uint32_t k = 0, m = 0;
			for (uint32_t p = 0; p < all->n_process; p++) {
				if (k < row[i].n_member && row[i].member[k] == p)
					k++;
				else
					without[m++] = p;
			}
			raw(g, "<tr><td><code class=\"id\">");
			text(g, name(g, row[i].id));
			raw(g, "</code></td><td>");
			members(g, row[i].member, row[i].n_member);
			raw(g, "</td><td>");
			members(g, without, m);
			raw(g, "</td></tr>\n");
		}
		free(row[i].member);
	}
	raw(g, "</table>\n");
	if (shown > 200)
		buf_addf(g->b, "<p class=\"dim\">and %u more</p>\n", shown - 200);
	free(without);
	free(row);
	intern_release(&seen);
}

/* Cache marks of a process: + hit, - miss, ? bypass, as signs that the Rust tool uses too. */
static void cache_marks(struct page *g, const struct rank_facts *f)
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
		text(g, name(g, f->compile[e->compile].id));
		raw(g, " ");
		text(g, name(g, e->text));
		raw(g, e->cache == RANK_CACHE_HIT ? "\">✓</i>" : e->cache == RANK_CACHE_MISS ? "\">✗</i>" : "\">?</i>");
	}
}

static void put_splits(struct page *g)
{
	for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
		enum rank_check c = order[i];
		const struct rank_verdict *v = &g->all->check[c];
		if (v->agree || c == RANK_CHECK_VERSION)
			continue;
		raw(g, "<section id=\"");
		raw(g, checks[c].id);
		raw(g, "\"><h2>");
		raw(g, checks[c].title);
		buf_addf(g->b, " <small>%u groups</small></h2>\n", v->n_group);
		if (c == RANK_CHECK_IDS) {
			put_ids(g);
			raw(g, "</section>\n");
			continue;
		}
		if (c == RANK_CHECK_CACHE) {
			raw(g, "<table class=\"list\">\n");
			for (uint32_t k = 0; k < v->n_group && k < SPLITS_SHOWN; k++) {
				raw(g, "<tr><td>");
				members(g, v->group[k].member, v->group[k].n_member);
				raw(g, "</td><td class=\"marks\">");
				cache_marks(g, &g->all->process[v->group[k].member[0]]);
				raw(g, "</td></tr>\n");
			}
			raw(g, "</table>\n");
		}
		for (uint32_t k = 0; k < v->splits && k < SPLITS_SHOWN; k++)
			put_split(g, &g->all->split[v->first_split + k]);
		if (v->splits > SPLITS_SHOWN) {
			buf_addf(g->b, "<details><summary>%u more places where ranks part</summary><ul>\n", v->splits - SPLITS_SHOWN);
			for (uint32_t k = SPLITS_SHOWN; k < v->splits && k < 500; k++) {
				const struct rank_split *s = &g->all->split[v->first_split + k];
				raw(g, "<li>");
				members(g, s->member, s->n_member);
				buf_addf(g->b, ": %s %u</li>\n", checks[c].unit, s->at + 1);
			}
			raw(g, "</ul></details>\n");
		}
		raw(g, "</section>\n");
	}
}

/* ---- compile time ---- */

struct took {
	int64_t us;
	uint32_t process;
};
struct slow {
	uint32_t id, loc;
	ROWS(struct took, took);
	int64_t median, min, max;
	uint32_t fastest, slowest;
};

static int by_us(const void *a, const void *b)
{
	const struct took *x = a, *y = b;
	return x->us != y->us ? (x->us > y->us) - (x->us < y->us) : (x->process > y->process) - (x->process < y->process);
}

static int by_spread(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;
	int64_t p = x->max - x->median, q = y->max - y->median;
	return p != q ? (p < q) - (p > q) : (x->id > y->id) - (x->id < y->id);
}

static int by_index(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Half as long again as the median, and at least half a second longer. */
static bool straggles(int64_t us, int64_t median) { return us - median >= 500000 && us * 2 > median * 3; }

static void settle(struct slow *s)
{
	qsort(s->took, s->n_took, sizeof(*s->took), by_us);
	s->median = s->took[(s->n_took - 1) / 2].us;
	s->min = s->took[0].us;
	s->max = s->took[s->n_took - 1].us;
	s->fastest = s->took[0].process;
	s->slowest = s->took[s->n_took - 1].process;
}

static void put_slow(struct page *g, struct slow *s, bool total)
{
	uint32_t *m = xcalloc(s->n_took, sizeof(*m)), n = 0;
	for (uint32_t k = s->n_took; k-- > 0 && straggles(s->took[k].us, s->median);)
		m[n++] = s->took[k].process;
	raw(g, n ? "<tr class=\"slow\"><td>" : "<tr><td>");
	if (total) {
		raw(g, "<b>in total</b>");
	} else {
		raw(g, "<code class=\"id\">");
		text(g, name(g, s->id));
		raw(g, "</code>");
	}
	raw(g, "</td><td class=\"loc\">");
	text(g, name(g, s->loc));
	buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"r\" data-v=\"%lld\">", s->n_took, (long long)s->min);
	seconds(g, s->min);
	raw(g, " <small>");
	who(g, s->fastest);
	buf_addf(g->b, "</small></td><td class=\"r\" data-v=\"%lld\">", (long long)s->median);
	seconds(g, s->median);
	buf_addf(g->b, "</td><td class=\"r\" data-v=\"%lld\">", (long long)s->max);
	seconds(g, s->max);
	raw(g, " <small>");
	who(g, s->slowest);
	raw(g, "</small></td><td>");
	if (n) {
		qsort(m, n, sizeof(*m), by_index);
		members(g, m, n);
	}
	raw(g, "</td></tr>\n");
	free(m);
}

static void put_time(struct page *g)
{
	const struct ranks *all = g->all;
	struct intern seen = {0};
	struct slow *row = NULL, total = {.id = INTERN_NONE, .loc = INTERN_NONE};
	size_t n = 0, cap = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_facts *f = &all->process[p];
		GROW(total.took, total.n_took, total.cap_took, 1);
		total.took[total.n_took++] = (struct took){f->us, p};
		for (uint32_t i = 0; i < f->n_compile; i++) {
			const struct rank_compile *c = &f->compile[i];
			if (c->us < 0 || c->unknown)
				continue;
			uint32_t key[2] = {c->id, c->loc}, k = intern_add(&seen, slice_of((const char *)key, sizeof(key)));
			if (k == n) {
				GROW(row, n, cap, 1);
				row[n++] = (struct slow){.id = c->id, .loc = c->loc};
			}
			GROW(row[k].took, row[k].n_took, row[k].cap_took, 1);
			row[k].took[row[k].n_took++] = (struct took){c->us, p};
		}
	}
	for (size_t i = 0; i < n; i++)
		settle(&row[i]);
	settle(&total);
	if (n)
		qsort(row, n, sizeof(*row), by_spread);
	raw(g,
	    "<section id=\"time\"><h2>Compile time</h2>\n<p class=\"dim\">A straggler takes half as long again as the median of the ranks, "
	    "and at least half a second more. All others wait for it at the next collective.</p>\n"
	    "<table class=\"list sort\"><tr><th>compile id</th><th>function</th>"
	    "<th class=\"r\">ranks</th><th class=\"r\">fastest</th><th class=\"r\">median</th>"
	    "<th class=\"r\">slowest</th><th>stragglers</th></tr>\n");
	put_slow(g, &total, true);
	for (size_t i = 0; i < n; i++) {
		if (i < SLOW_ROWS)
			put_slow(g, &row[i], false);
		free(row[i].took);
	}
	raw(g, "</table>\n");
	if (n > SLOW_ROWS)
		buf_addf(g->b, "<p class=\"dim\">and %zu more compile ids with less between them</p>\n", n - SLOW_ROWS);
	raw(g, "</section>\n");
	free(total.took);
	free(row);
	intern_release(&seen);
}

/* ---- the drawn timeline ---- */

struct drawn {
	int64_t start, end;
	uint32_t process, compile;
	uint8_t kind;
};

static int by_length(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;
	int64_t p = x->end - x->start, q = y->end - y->start;
	if (p != q)
		return p < q ? 1 : -1;
	return x->process != y->process ? (x->process > y->process) - (x->process < y->process)
					: (x->start > y->start) - (x->start < y->start);
}
static int by_place(const void *a, const void *b)
{
	const struct drawn *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->start != y->start ? (x->start > y->start) - (x->start < y->start) : (x->end < y->end) - (x->end > y->end);
}

static void put_timeline(struct page *g)
{
	const struct ranks *all = g->all;
	struct drawn *d = NULL;
	size_t n = 0, cap = 0, lost = 0;
	struct intern labels = {0};
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_facts *f = &all->process[p];
		for (uint32_t i = 0; i < f->n_span; i++) {
			GROW(d, n, cap, 1);
			d[n++] = (struct drawn){f->start - all->start + f->span[i].start, f->start - all->start + f->span[i].end, p,
						f->span[i].compile, f->span[i].kind};
		}
	}
	if (n > TIMELINE_SPANS) {
		qsort(d, n, sizeof(*d), by_length);
		lost = n - TIMELINE_SPANS;
		n = TIMELINE_SPANS;
	}
	if (n)
		qsort(d, n, sizeof(*d), by_place);
	raw(g, "<section id=\"timeline\"><h2>Timeline</h2>\n<p class=\"dim\">One row a process, aligned by the clock of the logs; "
	       "the same colour is the same function. ▼ graph break, ◆ recompile, ✕ failure. Wheel to zoom, drag to move, double click for "
	       "all.");
	if (g->p->folder)
		raw(g, " <a href=\"combined_trace.json.gz\">combined_trace.json.gz</a> opens in <a "
		       "href=\"https://ui.perfetto.dev\">ui.perfetto.dev</a>");
	if (g->p->folder && g->p->events)
		raw(g, ", with every phase: <a href=\"chromium_events.json\">chromium_events.json</a>");
	raw(g, g->p->folder ? ".</p>\n" : "</p>\n");
	if (lost)
		buf_addf(g->b, "<p class=\"dim\">Drawn are the %u longest of %zu compilations.</p>\n", TIMELINE_SPANS, n + lost);
	raw(g,
	    "<div id=\"draw\"><noscript>The drawing needs JavaScript.</noscript></div>\n<script type=\"application/json\" id=\"spans\">");
	struct json_out o = {.b = g->b, .html = true};
	json_obj(&o);
	json_key(&o, "end");
	json_out_i64(&o, all->end - all->start);
	json_key(&o, "p");
	json_arr(&o);
	for (uint32_t p = 0; p < all->n_process; p++)
		json_out_str(&o, slice_str(all->process[p].name));
	json_close(&o);
	json_key(&o, "s");
	json_arr(&o);
	struct buf b = {0};
	for (size_t i = 0; i < n; i++) {
		const struct rank_compile *c = &all->process[d[i].process].compile[d[i].compile];
		buf_reset(&b);
		buf_add_slice(&b, name(g, c->id));
		buf_addc(&b, ' ');
		buf_add_slice(&b, name(g, c->loc));
		json_out_u64(&o, d[i].process);
		json_out_i64(&o, d[i].start);
		json_out_i64(&o, d[i].end - d[i].start);
		json_out_u64(&o, intern_add(&labels, buf_slice(&b)));
		json_out_u64(&o, d[i].kind);
	}
	json_close(&o);
	json_key(&o, "m");
	json_arr(&o);
	size_t put = 0;
	for (uint32_t p = 0; p < all->n_process && put < TIMELINE_SPANS; p++)
		for (uint32_t i = 0; i < all->process[p].n_mark && put < TIMELINE_SPANS; i++, put++) {
			const struct rank_mark *m = &all->process[p].mark[i];
			buf_reset(&b);
			buf_add_slice(&b, name(g, all->process[p].compile[m->compile].id));
			buf_addc(&b, ' ');
			buf_add_slice(&b, name(g, m->text));
			json_out_u64(&o, p);
			json_out_i64(&o, all->process[p].start - all->start + m->at);
			json_out_u64(&o, m->kind == RANK_BREAK ? 0 : m->kind == RANK_RECOMPILE ? 1 : 2);
			json_out_u64(&o, intern_add(&labels, buf_slice(&b)));
		}
	json_close(&o);
	json_key(&o, "l");
	json_arr(&o);
	for (uint32_t i = 0; i < labels.n; i++)
		json_out_str(&o, intern_get(&labels, i));
	json_close(&o);
	json_close(&o);
	raw(g, "</script>\n</section>\n");
	buf_release(&b);
	intern_release(&labels);
	free(d);
}

/* ---- runtime estimates ---- */

struct estimate {
	uint32_t dir;
	uint32_t n, fast, slow;
	double min, max;
};

static double estimate_sum(const struct ranks *all, const struct rank_list *l)
{
	const struct rank_op *op = rank_ops(&all->names, l);
	double sum = 0;
	for (uint32_t i = 0; i < l->ops; i++) {
		struct slice s = intern_get(&all->names, op[i].ns);
		char tmp[64];
		size_t n = s.n < sizeof(tmp) - 1 ? s.n : sizeof(tmp) - 1;
		memcpy(tmp, s.p, n);
		tmp[n] = 0;
		double v = strtod(tmp, NULL);
		sum += v > 0 && v < 1e18 ? v : 0;
	}
	return sum;
}

static int by_delta(const void *a, const void *b)
{
	const struct estimate *x = a, *y = b;
	double p = x->max - x->min, q = y->max - y->min;
	return p < q ? 1 : p > q ? -1 : (x->dir > y->dir) - (x->dir < y->dir);
}

static void put_estimates(struct page *g)
{
	const struct ranks *all = g->all;
	struct intern seen = {0};
	struct estimate *row = NULL;
	size_t n = 0, cap = 0;
	double most = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_facts *f = &all->process[p];
		for (uint32_t i = 0; i < f->n_estimate; i++) {
			uint32_t dir = f->compile[f->estimate[i].compile].dir, k = intern_add(&seen, name(g, dir));
			double sum = estimate_sum(all, &f->estimate[i]);
			if (k == n) {
				GROW(row, n, cap, 1);
				row[n++] = (struct estimate){dir, 0, p, p, sum, sum};
			}
			struct estimate *e = &row[k];
			e->n++;
			if (sum < e->min) {
				e->min = sum;
				e->fast = p;
			}
			if (sum > e->max) {
				e->max = sum;
				e->slow = p;
			}
			most = sum > most ? sum : most;
		}
	}
	if (n) {
		qsort(row, n, sizeof(*row), by_delta);
		raw(g, "<section id=\"estimates\"><h2>Runtime estimates</h2>\n<p class=\"dim\">Inductor's estimate of each graph, by rank: "
		       "where it differs, some wait for others.");
		if (g->p->estimates)
			raw(g, " <a href=\"runtime_estimations.json\">runtime_estimations.json</a>, for Perfetto: "
			       "<a href=\"chromium_trace_with_runtime.json\">chromium_trace_with_runtime.json</a>.");
		raw(g, "</p>\n");
		if (most <= 0) {
			buf_addf(g->b,
				 "<p>All estimates of %zu graph%s are zero: Inductor has none for these operators on this device.</p>\n", n,
				 many(n));
		} else {
			raw(g, "<table class=\"list\"><tr><th>graph</th><th class=\"r\">ranks</th><th class=\"r\">least</th><th "
			       "class=\"r\">most</th>"
			       "<th class=\"r\">difference</th></tr>\n");
			for (size_t i = 0; i < n && i < SLOW_ROWS; i++) {
				raw(g, "<tr><td><code>");
				text(g, name(g, row[i].dir));
				buf_addf(g->b, "</code></td><td class=\"r\">%u</td><td class=\"r\">%.3f ms <small>", row[i].n,
					 row[i].min / 1e6);
				who(g, row[i].fast);
				buf_addf(g->b, "</small></td><td class=\"r\">%.3f ms <small>", row[i].max / 1e6);
				who(g, row[i].slow);
				buf_addf(g->b, "</small></td><td class=\"r\">%.3f ms</td></tr>\n", (row[i].max - row[i].min) / 1e6);
			}
			raw(g, "</table>\n");
		}
		raw(g, "</section>\n");
	}
	free(row);
	intern_release(&seen);
}

/* ---- collectives ---- */

static void put_schedules(struct page *g)
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
	raw(g, "<table class=\"list\"><tr><th>ranks</th><th class=\"r\">operators</th><th>in the order of the schedules</th></tr>\n");
	struct rank_items it = {0};
	for (uint32_t k = 0; v->recorded && k < v->n_group && k < SPLITS_SHOWN; k++) {
		rank_items_of(all, &all->process[v->group[k].member[0]], RANK_CHECK_COLLECT, &it);
		raw(g, "<tr><td>");
		members(g, v->group[k].member, v->group[k].n_member);
		buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"ops\">", it.n_item);
		for (uint32_t i = 0; i < it.n_item && i < 40; i++) {
			struct slice op = name(g, it.item[i].text);
			static const char *const cut[] = {"torch.ops.", "_c10d_functional."};
			for (unsigned c = 0; c < 2; c++)
				if (slice_starts(op, cut[c]))
					op = slice_of(op.p + strlen(cut[c]), op.n - strlen(cut[c]));
			if (slice_ends(op, ".default"))
				op.n -= 8;
			raw(g, i ? " <span class=\"sep\">→</span> <code>" : "<code>");
			text(g, op);
			raw(g, "</code>");
		}
		raw(g, it.n_item > 40 ? " …</td></tr>\n" : "</td></tr>\n");
	}
	free(it.item);
	raw(g, "</table>\n");
	if (parity) {
		raw(g, "<h3>Schedule and generated code do not agree</h3>\n<table class=\"list\"><tr><th>process</th><th>compile id</th>"
		       "<th class=\"r\">collectives more or less</th><th class=\"r\">waits missing</th></tr>\n");
		uint32_t shown = 0;
		for (uint32_t p = 0; p < all->n_process; p++)
			for (uint32_t i = 0; i < all->process[p].n_parity && shown < 200; i++, shown++) {
				const struct rank_parity *x = &all->process[p].parity[i];
				raw(g, "<tr><td>");
				who(g, p);
				raw(g, "</td><td>");
				id_text(g, &all->process[p], x->compile);
				buf_addf(g->b, "</td><td class=\"r\">%" PRIu64 "</td><td class=\"r\">%" PRIu64 "</td></tr>\n", x->offset,
					 x->missing_waits);
			}
		raw(g, "</table>\n");
	}
	raw(g, "</section>\n");
}

/* What the ranks run at one place of the order: where the collectives or the cache of it differ, they may wait for each other. */
static void put_places(struct page *g)
{
	enum { PLACES = 200, ROWS_SHOWN = 40 };
	const struct ranks *all = g->all;
	struct rank_items *it = xcalloc(all->n_process + 1u, sizeof(*it));
	uint64_t *value = xcalloc(all->n_process + 1u, sizeof(*value));
	uint32_t *m = xcalloc(all->n_process + 1u, sizeof(*m)), longest = 0, shown = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		rank_items_of(all, &all->process[p], RANK_CHECK_ORDER, &it[p]);
		longest = it[p].n_item > longest ? it[p].n_item : longest;
	}
	for (uint32_t i = 0; i < longest && i < PLACES; i++)
		for (unsigned what = 0; what < 2 && shown < ROWS_SHOWN; what++) {
			uint64_t first = 0;
			bool differ = false;
			for (uint32_t p = 0; p < all->n_process; p++) {
				const struct rank_facts *f = &all->process[p];
				value[p] = 0;
				if (i >= it[p].n_item || it[p].item[i].compile == NIL)
					continue;
				uint32_t c = it[p].item[i].compile;
				for (uint32_t k = 0; !what && k < f->n_schedule; k++)
					if (f->schedule[k].compile == c)
						value[p] = value[p] * 31 + f->schedule[k].text + 1;
				if (what)
					value[p] = f->compile[c].cache;
				if (!value[p])
					continue; /* nothing known: nothing to compare */
				differ |= first && value[p] != first;
				first = first ? first : value[p];
			}
			if (!differ)
				continue;
			if (!shown++)
				raw(g, "<h3>Places of the order at which ranks do different things</h3>\n<table class=\"list\"><tr><th "
				       "class=\"r\">place</th>"
				       "<th>what differs</th><th>groups</th></tr>\n");
			buf_addf(g->b, "<tr><td class=\"r\">%u</td><td>%s</td><td>", i + 1, what ? "cache" : "collectives of the graph");
			bool any = false;
			unsigned groups = 0;
			for (uint32_t p = 0; p < all->n_process; p++) {
				if (groups == SPLITS_SHOWN) {
					raw(g, " …");
					break;
				}
				uint64_t v = value[p];
				uint32_t n = 0;
				for (uint32_t q = p; v && q < all->n_process; q++)
					if (value[q] == v) {
						m[n++] = q;
						value[q] = 0;
					}
				if (!n)
					continue;
				raw(g, any ? " <span class=\"sep\">|</span> " : "");
				members(g, m, n);
				any = true;
				groups++;
			}
			raw(g, "</td></tr>\n");
		}
	if (shown)
		raw(g, "</table>\n");
	for (uint32_t p = 0; p < all->n_process; p++)
		free(it[p].item);
	free(it);
	free(value);
	free(m);
}

static void put_order(struct page *g)
{
	const struct ranks *all = g->all;
	const struct rank_verdict *v = &all->check[RANK_CHECK_ORDER];
	if (!v->recorded)
		return;
	raw(g, "<section id=\"ran\"><h2>Graphs in the order in which they ran</h2>\n<table class=\"list\"><tr><th>ranks</th>"
	       "<th>order</th></tr>\n");
	for (uint32_t k = 0; k < v->n_group && k < SPLITS_SHOWN; k++) {
		const struct rank_facts *f = &all->process[v->group[k].member[0]];
		raw(g, "<tr><td>");
		members(g, v->group[k].member, v->group[k].n_member);
		raw(g, "</td><td class=\"ops\">");
		if (!f->n_order)
			raw(g, "<span class=\"dim\">not recorded</span>");
		for (uint32_t i = 0; i < f->n_order && i < 60; i++) {
			raw(g, i ? " <span class=\"sep\">→</span> <code class=\"id\">" : "<code class=\"id\">");
			text(g, name(g, f->order[i]));
			raw(g, "</code>");
		}
		raw(g, f->n_order > 60 ? " …</td></tr>\n" : "</td></tr>\n");
	}
	raw(g, "</table>\n");
	put_places(g);
	raw(g, "</section>\n");
}

/* ---- processes ---- */

static void put_processes(struct page *g)
{
	const struct ranks *all = g->all;
	int64_t most = 1;
	for (uint32_t p = 0; p < all->n_process; p++)
		most = all->process[p].us > most ? all->process[p].us : most;
	raw(g, "<section id=\"processes\"><h2>Processes</h2>\n<p><input type=\"search\" id=\"filter\" "
	       "placeholder=\"filter: 3, proc, damaged …\" aria-label=\"filter processes\"></p>\n"
	       "<div class=\"scroll\"><table class=\"list sort\" id=\"plist\"><tr><th>process</th><th class=\"r\">pid</th>"
	       "<th class=\"r\">starts at</th><th class=\"r\">lasts</th><th class=\"r\">compile ids</th><th>compiling</th>"
	       "<th class=\"r\">breaks</th><th class=\"r\">recompiles</th>"
	       "<th class=\"r\">failures</th><th>caches</th><th>torch</th><th>log</th></tr>\n");
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_facts *f = &all->process[p];
		uint32_t count[RANK_EVENT_COUNT] = {0}, ids = 0;
		bool damaged = false;
		for (uint32_t i = 0; i < f->n_event; i++)
			count[f->event[i].kind]++;
		for (uint32_t i = 0; i < f->n_compile; i++)
			ids += !f->compile[i].unknown && !slice_is(name(g, f->compile[i].id), "-/-");
		for (unsigned k = 0; k < DAMAGE_COUNT; k++)
			damaged |= f->damage[k].count != 0;
		buf_addf(g->b, "<tr><td data-v=\"%u\">", p);
		bool link = g->p->folder ? g->p->folder[p] : f->tag != UINT32_MAX;
		if (link) {
			if (g->p->folder)
				buf_addf(g->b, "<a href=\"%s/index.html\">", f->name);
			else
				buf_addf(g->b, "<a href=\"#/L%u/\">", f->tag);
			str(g, f->name);
			raw(g, "</a>");
		} else {
			str(g, f->name);
		}
		if (damaged)
			raw(g, " <span class=\"tag warn\">damaged</span>");
		buf_addf(g->b, "</td><td class=\"r\">%" PRIu64 "</td><td class=\"r\" data-v=\"%lld\">+", f->pid,
			 (long long)(f->start - all->start));
		seconds(g, f->start - all->start);
		buf_addf(g->b, "</td><td class=\"r\" data-v=\"%lld\">", (long long)f->end);
		seconds(g, f->end);
		buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"bar\" data-v=\"%lld\"><svg width=\"%lld\" height=\"9\"></svg>", ids,
			 (long long)f->us, (long long)(f->us * 100 / most));
		seconds(g, f->us);
		buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"r\">%u</td><td class=\"r\">%u</td><td class=\"marks\">",
			 count[RANK_BREAK], count[RANK_RECOMPILE], count[RANK_FAILURE]);
		cache_marks(g, f);
		raw(g, "</td><td>");
		text(g, name(g, f->torch_version));
		raw(g, "</td><td>");
		base_name(g, f->path);
		raw(g, "</td></tr>\n");
	}
	raw(g, "</table></div></section>\n");
}

/* ---- the page ---- */

static void put_verdict(struct page *g)
{
	const struct ranks *all = g->all;
	unsigned bad = 0;
	for (unsigned i = 0; i < ARRAY_LEN(order); i++)
		bad += !all->check[order[i]].agree;
	raw(g, bad ? "<p class=\"verdict bad\">" : "<p class=\"verdict ok\">");
	if (!bad) {
		raw(g, all->n_process == 1           ? "One log only: there is nothing to compare."
		       : all->n_lost || all->absents ? "All logs that could be read agree."
						     : "All ranks agree.");
	} else {
		raw(g, "<b>The ranks do not agree</b> in: ");
		bool first = true;
		for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
			if (all->check[order[i]].agree)
				continue;
			raw(g, first ? "<a href=\"#" : ", <a href=\"#");
			raw(g, order[i] == RANK_CHECK_VERSION ? "notes" : checks[order[i]].id);
			raw(g, "\">");
			for (const char *p = checks[order[i]].title, *q = p; *p; p++)
				buf_addc(g->b, p == q && *p < 'a' && p[1] >= 'a' ? (char)(*p + 32) : *p);
			raw(g, "</a>");
			first = false;
		}
		raw(g, ".");
	}
	raw(g, "</p>\n");
}

static void put_sections(struct page *g)
{
	raw(g, "<nav><a href=\"#checks\">Checks</a><a href=\"#time\">Compile time</a><a href=\"#timeline\">Timeline</a>"
	       "<a href=\"#processes\">Processes</a></nav></header>\n<main>\n<div id=\"notes\">");
	put_notes(g);
	raw(g, "</div>\n");
	put_checks(g);
	put_splits(g);
	put_time(g);
	put_timeline(g);
	put_schedules(g);
	put_order(g);
	put_estimates(g);
	put_processes(g);
	raw(g, "</main>\n");
}

void ranks_fragment(struct buf *b, const struct ranks *all)
{
	const struct ranks_page p = {.all = all};
	struct page g = {.b = b, .all = all, .p = &p};
	raw(&g, "<style>\n");
	buf_add_slice(b, share_file("ranks/ranks.css"));
	raw(&g, "</style>\n<header>");
	put_verdict(&g);
	put_sections(&g);
	intern_release(&g.shown);
}

static void put_policy(struct buf *b)
{
	struct buf inlined = {0};
	html_raw(&inlined, "<style>\n");
	buf_add_slice(&inlined, share_file("ranks/ranks.css"));
	html_raw(&inlined, "</style><script>\n");
	buf_add_slice(&inlined, share_file("ranks/ranks.js"));
	html_raw(&inlined, "</script>");
	html_policy(b, buf_slice(&inlined), false);
	buf_release(&inlined);
}

void ranks_page(struct buf *b, const struct ranks_page *p)
{
	struct page g = {.b = b, .all = p->all, .p = p};
	const struct ranks *all = p->all;
	uint64_t ranks = 0;
	for (uint32_t i = 0; i < all->n_process; i++)
		ranks += plain(&all->process[i]);
	raw(&g, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	if (!p->opt || !p->opt->header) /* what the user puts there may be anything */
		put_policy(b);
	raw(&g, "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	buf_addf(b, "%" PRIu64 " rank%s - tlparse</title>\n<style>\n", ranks, many(ranks));
	buf_add_slice(b, share_file("ranks/ranks.css"));
	raw(&g, "</style>\n</head>\n<body>\n");
	if (p->opt && p->opt->header)
		raw(&g, p->opt->header); /* as it is: that is what the option is for */
	buf_addf(b, "<header><h1>%" PRIu64 " rank%s</h1><p class=\"dim\">%u log%s", ranks, many(ranks), all->n_process,
		 many(all->n_process));
	const struct rank_verdict *v = &all->check[RANK_CHECK_VERSION];
	if (v->recorded && v->agree) {
		raw(&g, " · torch ");
		text(&g, name(&g, all->process[0].torch_version));
	}
	raw(&g, " · ");
	seconds(&g, all->end - all->start);
	raw(&g, " from the first record to the last</p>\n");
	put_verdict(&g);
	put_sections(&g);
	raw(&g, "<footer>tlparse (pt2utils) " PT2_VERSION "</footer>\n<script>\n");
	buf_add_slice(b, share_file("ranks/ranks.js"));
	raw(&g, "</script>\n</body>\n</html>\n");
	intern_release(&g.shown);
}
