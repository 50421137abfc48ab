/* rankspage_time.c - compile time by rank, drawn and in numbers. */
#include "run/ranks/rankspage_part.h"

enum { TIMELINE_SPANS = 20000 };

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

/* 50 % longer than the median, and at least half a second. */
static bool straggles(int64_t us, int64_t median) { return us - median >= 500000 && us * 2 > median * 3; }

static void settle_slowest(struct slow *s)
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
	if (total)
		raw(g, "<b>total</b>");
	else
		put(g, "<code class=\"id\">{}</code>", name(g, s->id));
	put(g, "</td><td class=\"loc\">{}", name(g, s->loc));
	buf_addf(g->b, "</td><td class=\"r\">%u</td><td class=\"r\" data-v=\"%lld\">", s->n_took, (long long)s->min);
	ranks_put_seconds(g, s->min);
	raw(g, " <small>");
	ranks_put_who(g, s->fastest);
	buf_addf(g->b, "</small></td><td class=\"r\" data-v=\"%lld\">", (long long)s->median);
	ranks_put_seconds(g, s->median);
	buf_addf(g->b, "</td><td class=\"r\" data-v=\"%lld\">", (long long)s->max);
	ranks_put_seconds(g, s->max);
	raw(g, " <small>");
	ranks_put_who(g, s->slowest);
	raw(g, "</small></td><td>");
	if (n) {
		qsort(m, n, sizeof(*m), by_index);
		ranks_put_members(g, m, n);
	}
	raw(g, "</td></tr>\n");
	free(m);
}

void ranks_put_time(struct page *g)
{
	const struct ranks *all = g->all;
	OWNED(intern_release) struct intern seen = {0};
	struct slow *row = NULL, total = {.id = NONE, .loc = NONE};
	size_t n = 0, cap = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_process *f = &all->process[p];
		PUSH(&total, took) = (struct took){f->us, p};
		for (uint32_t i = 0; i < f->n_compile; i++) {
			const struct rank_compile *c = &f->compile[i];
			if (c->us < 0 || c->unknown)
				continue;
			uint32_t key[2] = {c->id, c->loc}, k = intern_add(&seen, slice_of((const char *)key, sizeof(key)));
			if (k == n)
				PUSH_TO(row, n, cap) = (struct slow){.id = c->id, .loc = c->loc};
			PUSH(&row[k], took) = (struct took){c->us, p};
		}
	}
	for (size_t i = 0; i < n; i++)
		settle_slowest(&row[i]);
	settle_slowest(&total);
	if (n)
		qsort(row, n, sizeof(*row), by_spread);
	raw(g, "<section id=\"time\"><h2>Compile time</h2>\n<p class=\"dim\">A straggler takes at least 50 % and half a second longer than "
	       "the median of the ranks. "
	       "All others wait for it at the next collective.</p>\n"
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
		buf_addf(g->b, "<p class=\"dim\">and %zu more compile ids with smaller differences</p>\n", n - SLOW_ROWS);
	raw(g, "</section>\n");
	free(total.took);
	free(row);
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

/* The longest of all spans, in the order of processes and times; *lost: how many were dropped. */
static struct drawn *drawn_spans(const struct ranks *all, size_t *count, size_t *lost)
{
	struct drawn *d = NULL;
	size_t n = 0, cap = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_process *f = &all->process[p];
		for (uint32_t i = 0; i < f->n_span; i++) {
			const int64_t base = f->start - all->start;
			PUSH_TO(d, n, cap) = (struct drawn){base + rank_us(f->span[i].start), base + rank_us(f->span[i].end), p,
							    f->span[i].compile, f->span[i].kind};
		}
	}
	*lost = 0;
	if (n > TIMELINE_SPANS) {
		qsort(d, n, sizeof(*d), by_length);
		*lost = n - TIMELINE_SPANS;
		n = TIMELINE_SPANS;
	}
	if (n)
		qsort(d, n, sizeof(*d), by_place);
	*count = n;
	return d;
}

/* "0/1 step (app.py:12)" as a number: each text is in the page only once. */
static void put_label(struct page *g, struct json_out *o, struct intern *labels, struct buf *b, uint32_t id, uint32_t what)
{
	buf_reset(b);
	buf_addf(b, "%.*s %.*s", SL(name(g, id)), SL(name(g, what)));
	json_out_u64(o, intern_add(labels, buf_slice(b)));
}

/* Writes the data that ranks.js draws: numbers of processes and labels, in one list. */
static void put_drawing(struct page *g, const struct drawn *d, size_t n)
{
	const struct ranks *all = g->all;
	struct json_out o = {.b = g->b, .html = true};
	OWNED(intern_release) struct intern labels = {0};
	LOCAL_BUF b = {0};
	json_obj(&o);
	json_member_i64(&o, "end", all->end - all->start);
	json_member_arr(&o, "p");
	for (uint32_t p = 0; p < all->n_process; p++)
		json_out_str(&o, slice_str(all->process[p].name));
	json_close(&o);
	json_member_arr(&o, "s");
	for (size_t i = 0; i < n; i++) {
		const struct rank_compile *c = &all->process[d[i].process].compile[d[i].compile];
		json_out_u64(&o, d[i].process);
		json_out_i64(&o, d[i].start);
		json_out_i64(&o, d[i].end - d[i].start);
		put_label(g, &o, &labels, &b, c->id, c->loc);
		json_out_u64(&o, d[i].kind);
	}
	json_close(&o);
	json_member_arr(&o, "m");
	size_t put = 0;
	for (uint32_t p = 0; p < all->n_process && put < TIMELINE_SPANS; p++)
		for (uint32_t i = 0; i < all->process[p].n_event && put < TIMELINE_SPANS; i++) {
			const struct rank_event *m = &all->process[p].event[i];
			if (m->at < 0)
				continue;
			put++;
			json_out_u64(&o, p);
			json_out_i64(&o, all->process[p].start - all->start + m->at);
			json_out_u64(&o, m->kind == RANK_BREAK ? 0 : m->kind == RANK_RECOMPILE ? 1 : 2);
			put_label(g, &o, &labels, &b, all->process[p].compile[m->compile].id, m->text);
		}
	json_close(&o);
	json_member_arr(&o, "l");
	for (uint32_t i = 0; i < labels.n; i++)
		json_out_str(&o, intern_get(&labels, i));
	json_close(&o);
	json_close(&o);
}

void ranks_put_timeline(struct page *g)
{
	size_t n, lost;
	struct drawn *d = drawn_spans(g->all, &n, &lost);
	raw(g, "<section id=\"timeline\"><h2>Timeline</h2>\n<p class=\"dim\">One row per process, aligned by the logs' clock; "
	       "one color per function. ▼ graph break, ◆ recompile, ✕ failure. Wheel to zoom, drag to move, double click for "
	       "all.");
	if (g->p->folder)
		raw(g, " <a href=\"combined_trace.json.gz\">combined_trace.json.gz</a> opens in <a "
		       "href=\"https://ui.perfetto.dev\">ui.perfetto.dev</a>");
	if (g->p->folder && g->p->events)
		raw(g, ", with every phase: <a href=\"chromium_events.json\">chromium_events.json</a>");
	raw(g, g->p->folder ? ".</p>\n" : "</p>\n");
	if (lost)
		buf_addf(g->b, "<p class=\"dim\">The drawing shows the %u longest of %zu compilations.</p>\n", TIMELINE_SPANS, n + lost);
	raw(g,
	    "<div id=\"draw\"><noscript>The drawing needs JavaScript.</noscript></div>\n<script type=\"application/json\" id=\"spans\">");
	put_drawing(g, d, n);
	raw(g, "</script>\n</section>\n");
	free(d);
}

/* ---- runtime estimates ---- */

struct estimate {
	uint32_t dir;
	uint32_t n, fast, slow;
	double min, max;
};

static double estimate_sum(struct slice lines)
{
	struct rank_op op;
	double sum = 0;
	while (rank_next_op(&lines, LIST_ESTIMATES, &op)) {
		double v = rank_number(op.ns);
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

void ranks_put_estimates(struct page *g)
{
	const struct ranks *all = g->all;
	OWNED(intern_release) struct intern seen = {0};
	struct estimate *row = NULL;
	size_t n = 0, cap = 0;
	double most = 0;
	for (uint32_t p = 0; p < all->n_process; p++) {
		const struct rank_process *f = &all->process[p];
		for (uint32_t i = 0; i < f->n_list; i++) {
			if (f->list[i].kind != LIST_ESTIMATES)
				continue;
			uint32_t dir = f->compile[f->list[i].compile].dir, k = intern_add(&seen, name(g, dir));
			double sum = estimate_sum(name(g, f->list[i].lines));
			if (k == n)
				PUSH_TO(row, n, cap) = (struct estimate){dir, 0, p, p, sum, sum};
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
		raw(g,
		    "<section id=\"estimates\"><h2>Runtime estimates</h2>\n<p class=\"dim\">Inductor's estimate for each graph, by rank: "
		    "where estimates differ, some ranks wait for others.");
		if (g->p->estimates)
			raw(g, " <a href=\"runtime_estimations.json\">runtime_estimations.json</a>, for Perfetto: "
			       "<a href=\"chromium_trace_with_runtime.json\">chromium_trace_with_runtime.json</a>.");
		raw(g, "</p>\n");
		if (most <= 0) {
			buf_addf(g->b,
				 "<p>All estimates for %zu graph%s are zero: Inductor has none for these operators on this device.</p>\n",
				 n, plural(n));
		} else {
			raw(g, "<table class=\"list\"><tr><th>graph</th><th class=\"r\">ranks</th><th class=\"r\">least</th><th "
			       "class=\"r\">most</th>"
			       "<th class=\"r\">difference</th></tr>\n");
			for (size_t i = 0; i < n && i < SLOW_ROWS; i++) {
				put(g, "<tr><td><code>{}", name(g, row[i].dir));
				buf_addf(g->b, "</code></td><td class=\"r\">%u</td><td class=\"r\">%.3f ms <small>", row[i].n,
					 row[i].min / 1e6);
				ranks_put_who(g, row[i].fast);
				buf_addf(g->b, "</small></td><td class=\"r\">%.3f ms <small>", row[i].max / 1e6);
				ranks_put_who(g, row[i].slow);
				buf_addf(g->b, "</small></td><td class=\"r\">%.3f ms</td></tr>\n", (row[i].max - row[i].min) / 1e6);
			}
			raw(g, "</table>\n");
		}
		raw(g, "</section>\n");
	}
	free(row);
}
