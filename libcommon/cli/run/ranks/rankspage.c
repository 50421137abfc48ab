/* rankspage.c - the landing page of --all-ranks-html: do the ranks agree, where do they diverge, who is slow. See rankspage_part.h. */
#include "run/ranks/rankspage_part.h"

/* ---- checks ---- */

/* What no log has: one row for all of them, after those that say something. */
static void put_unrecorded(struct page *g)
{
	unsigned n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(ranks_check_order); i++) {
		if (g->all->check[ranks_check_order[i]].recorded)
			continue;
		raw(g, n++ ? ", " : "<tr><td>");
		put(g, "<b>{}</b>", slice_str(ranks_checks[ranks_check_order[i]].title));
	}
	raw(g, n ? "</td><td><span class=\"tag none\">not recorded</span></td><td></td></tr>\n" : "");
}

static void put_checks(struct page *g)
{
	raw(g, "<section id=\"checks\"><h2>What was compared</h2>\n<table class=\"checks\"><tr><th>check</th><th>verdict</th>"
	       "<th>groups that agree</th></tr>\n");
	for (unsigned i = 0; i < ARRAY_LEN(ranks_check_order); i++) {
		const struct ranks_check *c = &ranks_checks[ranks_check_order[i]];
		const struct rank_verdict *v = &g->all->check[ranks_check_order[i]];
		if (!v->recorded)
			continue;
		put(g, "<tr><td><b>{}</b><br><small>{}</small></td>", slice_str(c->title), slice_str(c->what));
		if (v->agree) {
			raw(g, g->all->n_process > 1 ? "<td><span class=\"tag ok\">agree</span></td><td>all</td></tr>\n"
						     : "<td><span class=\"tag none\">one log</span></td><td></td></tr>\n");
			continue;
		}
		buf_addf(g->b, "<td><a class=\"tag bad\" href=\"#%s\">%u groups</a></td><td>",
			 ranks_check_order[i] == RANK_CHECK_VERSION ? "notes" : c->id, v->n_group);
		for (uint32_t k = 0; k < v->n_group && k < SPLITS_SHOWN; k++) {
			raw(g, k ? " <span class=\"sep\">|</span> " : "");
			ranks_put_members(g, v->group[k].member, v->group[k].n_member);
		}
		if (v->n_group > SPLITS_SHOWN)
			buf_addf(g->b, " <span class=\"sep\">|</span> and %u more groups", v->n_group - SPLITS_SHOWN);
		raw(g, "</td></tr>\n");
	}
	put_unrecorded(g);
	raw(g, "</table></section>\n");
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
		const struct rank_process *f = &all->process[p];
		uint32_t count[RANK_EVENT_COUNT] = {0}, ids = 0;
		bool damaged = false;
		for (uint32_t i = 0; i < f->n_event; i++)
			count[f->event[i].kind]++;
		for (uint32_t i = 0; i < f->n_compile; i++)
			ids += !f->compile[i].unknown && !slice_is(name(g, f->compile[i].id), "-/-");
		for (unsigned k = 0; k < DAMAGE_COUNT; k++)
			damaged |= f->damage[k].count != 0;
		buf_addf(g->b, "<tr><td data-v=\"%u\">", p);
		const bool link = g->p->folder ? g->p->folder[p] : f->tag != NONE;
		if (link && g->p->folder)
			buf_addf(g->b, "<a href=\"%s/index.html\">", f->name);
		else if (link)
			buf_addf(g->b, "<a href=\"#/L%u/\">", f->tag);
		str(g, f->name);
		raw(g, link ? "</a>" : "");
		if (damaged)
			raw(g, " <span class=\"tag warn\">damaged</span>");
		buf_addf(g->b, "</td><td class=\"r\">%" PRIu64 "</td><td class=\"r\" data-v=\"%lld\">+", f->pid,
			 (long long)(f->start - all->start));
		ranks_put_seconds(g, f->start - all->start);
		buf_addf(g->b, "</td><td class=\"r\" data-v=\"%lld\">", (long long)f->end);
		ranks_put_seconds(g, f->end);
		buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"bar\" data-v=\"%lld\"><svg width=\"%lld\" height=\"9\"></svg>", ids,
			 (long long)f->us, (long long)(f->us * 100 / most));
		ranks_put_seconds(g, f->us);
		buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"r\">%u</td><td class=\"r\">%u</td><td class=\"marks\">",
			 count[RANK_BREAK], count[RANK_RECOMPILE], count[RANK_FAILURE]);
		ranks_put_marks(g, f);
		put(g, "</td><td>{}</td><td>", name(g, f->torch_version));
		ranks_put_file(g, f->path);
		raw(g, "</td></tr>\n");
	}
	raw(g, "</table></div></section>\n");
}

/* ---- the page ---- */

/* "rank 137 of 200": those outside the largest group, if they are the fewer. */
static void put_outsiders(struct page *g, const struct rank_verdict *v)
{
	const uint32_t n = g->all->n_process;
	FREED uint32_t *out = xreallocarray(NULL, n + 1u, sizeof(*out));
	FREED bool *in = xcalloc(n + 1u, sizeof(*in));
	uint32_t k = 0, grouped = 0;
	for (uint32_t i = 0; i < v->n_group; i++)
		grouped += v->group[i].n_member;
	for (uint32_t i = 1; i < v->n_group; i++)
		for (uint32_t m = 0; m < v->group[i].n_member; m++)
			in[v->group[i].member[m]] = true;
	for (uint32_t p = 0; p < n; p++)
		if (in[p])
			out[k++] = p;
	if (!k || k * 2 >= grouped)
		return;
	raw(g, " (");
	ranks_put_members(g, out, k);
	buf_addf(g->b, " of %u)", grouped);
}

static void put_verdict(struct page *g)
{
	const struct ranks *all = g->all;
	unsigned bad = 0;
	for (unsigned i = 0; i < ARRAY_LEN(ranks_check_order); i++)
		bad += !all->check[ranks_check_order[i]].agree;
	bool first = !all->n_desync;
	bad += all->n_desync != 0;
	raw(g, bad ? "<p class=\"verdict bad\">" : "<p class=\"verdict ok\">");
	if (!bad) {
		raw(g, all->n_process == 1           ? "Only one log: nothing to compare."
		       : all->n_lost || all->absents ? "All logs that could be read agree."
						     : "All ranks agree.");
	} else {
		raw(g, first ? "<b>The ranks do not agree</b> in: "
			     : "<b>The ranks do not agree</b> in: <a href=\"#desyncs\">collectives that did not finish</a>");
		for (unsigned i = 0; i < ARRAY_LEN(ranks_check_order); i++) {
			if (all->check[ranks_check_order[i]].agree)
				continue;
			buf_addf(g->b, "%s<a href=\"#%s\">", first ? "" : ", ",
				 ranks_check_order[i] == RANK_CHECK_VERSION ? "notes" : ranks_checks[ranks_check_order[i]].id);
			for (const char *p = ranks_checks[ranks_check_order[i]].title, *q = p; *p; p++)
				buf_addc(g->b, p == q && *p < 'a' && p[1] >= 'a' ? (char)(*p + 32) : *p);
			raw(g, "</a>");
			put_outsiders(g, &all->check[ranks_check_order[i]]);
			first = false;
		}
		raw(g, ".");
	}
	raw(g, "</p>\n");
}

static void put_sections(struct page *g)
{
	raw(g, "<nav>");
	if (g->all->n_flight)
		raw(g, "<a href=\"#desyncs\">Collectives</a>");
	raw(g, "<a href=\"#checks\">Checks</a><a href=\"#time\">Compile time</a><a href=\"#timeline\">Timeline</a>"
	       "<a href=\"#processes\">Processes</a></nav></header>\n<main>\n<div id=\"notes\">");
	ranks_put_notes(g);
	raw(g, "</div>\n");
	ranks_put_desyncs(g);
	if (!g->all->n_process) { /* dumps alone */
		raw(g, "</main>\n");
		return;
	}
	put_checks(g);
	ranks_put_splits(g);
	ranks_put_time(g);
	ranks_put_timeline(g);
	ranks_put_schedules(g);
	ranks_put_order(g);
	ranks_put_estimates(g);
	put_processes(g);
	raw(g, "</main>\n");
}

void ranks_fragment(struct buf *b, const struct ranks *all)
{
	const struct ranks_page p = {.all = all};
	struct page g = {.b = b, .all = all, .p = &p};
	const struct slice css = share_file("ranks/ranks.css");
	buf_addf(b, "<style>\n%.*s</style>\n<header>", SL(css));
	put_verdict(&g);
	put_sections(&g);
	intern_release(&g.shown);
}

void ranks_page(struct buf *b, const struct ranks_page *p)
{
	static const char *const css[] = {"ranks/ranks.css", NULL}, *const js[] = {"ranks/ranks.js", NULL};
	struct page g = {.b = b, .all = p->all, .p = p};
	const struct ranks *all = p->all;
	uint64_t ranks = 0;
	for (uint32_t i = 0; i < all->n_process; i++)
		ranks += rank_is_plain(&all->process[i]);
	FREED char *title = xasprintf("%" PRIu64 " rank%s - tlparse", ranks, plural(ranks));
	const struct html_page page = {.css = css, .js = js, .own = p->header};
	html_head(b, &page, slice_str(title));
	buf_addf(b, "<header><h1>%" PRIu64 " rank%s</h1><p class=\"dim\">%u log%s", ranks, plural(ranks), all->n_process,
		 plural(all->n_process));
	const struct rank_verdict *v = &all->check[RANK_CHECK_VERSION];
	if (v->recorded && v->agree)
		put(&g, " · torch {}", name(&g, all->process[0].torch_version));
	raw(&g, " · ");
	ranks_put_seconds(&g, all->end - all->start);
	raw(&g, " from the first record to the last</p>\n");
	put_verdict(&g);
	put_sections(&g);
	raw(&g, "<footer>tlparse (pt2utils) " PT2_VERSION "</footer>\n");
	html_script(b, &page);
	html_tail(b);
	intern_release(&g.shown);
}
