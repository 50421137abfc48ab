/* show.c - prints `fxexplain cache`. */
#include "cache/cache_view.h"

#include "base/text.h"

enum { GRAPHS_SHOWN = 20, BAD_SHOWN = 20, CHANGES_SHOWN = 8, PRUNE_SHOWN = 20 };

static void put_age(struct buf *b, int64_t seconds)
{
	if (seconds < 0)
		seconds = 0;
	if (seconds < 120)
		buf_addf(b, "%lld s", (long long)seconds);
	else if (seconds < 7200)
		buf_addf(b, "%lld min", (long long)seconds / 60);
	else if (seconds < 2 * 86400)
		buf_addf(b, "%lld h", (long long)seconds / 3600);
	else
		buf_addf(b, "%lld days", (long long)seconds / 86400);
}

/* A text of an entry, as a table cell. */
static void put_cell(struct buf *b, struct slice s, size_t most)
{
	size_t at = b->len;
	put_flat(b, s, most);
	clean_text(b->p + at, b->len - at);
}

static void put_sums(struct screen *s, const struct cachedir *d)
{
	LOCAL_BUF t = {0};
	buf_adds(&t, "what\tfiles\tbytes\tbroken\t\n");
	for (unsigned k = 0; k < CACHE_KIND_COUNT; k++) {
		const struct cache_sum *m = &d->sum[k];
		if (!m->files)
			continue;
		buf_addf(&t, "%s\t%llu\t", cache_file_kind_name[k], (unsigned long long)m->files);
		put_bytes(&t, m->bytes);
		buf_addf(&t, "\t%llu\t%s\n", (unsigned long long)m->bad, cache_file_kind_text[k]);
	}
	if (!d->n_file)
		buf_adds(&s->b, "The cache is empty.\n");
	else
		put_table(s, buf_slice(&t));
}

static void put_graphs(struct screen *s, const struct cachedir *d, bool all)
{
	LOCAL_BUF t = {0};
	uint32_t n = 0, shown = 0;
	buf_adds(&t, "graph\tentries\tbytes\tage\tkey\n");
	for (uint32_t i = 0; i < d->n_key; i++) {
		const struct cache_key *k = &d->key[i];
		if (k->kind != CACHE_FX || (n++ >= GRAPHS_SHOWN && !all))
			continue;
		shown++;
		struct slice ops = cachedir_name(d, k->ops);
		if (ops.n)
			put_cell(&t, ops, 60);
		else
			buf_adds(&t, k->entry == NONE ? "(no complete entry)" : "(unknown)");
		buf_addf(&t, "\t%u\t", k->files);
		put_bytes(&t, k->bytes);
		buf_addc(&t, '\t');
		put_age(&t, d->now - k->newest);
		buf_addf(&t, "\t%.*s\n", SLN(cachedir_name(d, k->name), 12));
	}
	if (n) {
		buf_addc(&s->b, '\n');
		put_table(s, buf_slice(&t));
	}
	if (n > shown)
		buf_addf(&s->b, "and %u more (--all)\n", n - shown);
}

static void put_bad(struct screen *s, const struct cachedir *d, bool all)
{
	uint32_t n = 0, shown = 0;
	for (uint32_t i = 0; i < d->n_file; i++) {
		const struct cache_file *f = &d->file[i];
		if (!state_is_bad(f->state) || (n++ >= BAD_SHOWN && !all))
			continue;
		if (!shown++)
			put_heading(s, "Broken");
		buf_adds(&s->b, "  ");
		put_text(s, cachedir_name(d, f->path));
		buf_addf(&s->b, ": %s: ", cache_state_name[f->state]);
		put_text_line(s, "", cachedir_name(d, f->why));
	}
	if (n > shown)
		buf_addf(&s->b, "  and %u more (--all)\n", n - shown);
}

static void put_asked_row(struct screen *s, const struct cache_view *v, const struct asked_row *r, bool all)
{
	const struct asked *a = &v->asked;
	buf_addf(&s->b, "  %-10s %s ", asked_verdict_name[r->verdict], asked_cache(r));
	if (r->label.n) {
		put_text(s, r->label);
		buf_addc(&s->b, ' ');
	}
	if (r->graph.n) {
		buf_addc(&s->b, '(');
		put_cell(&s->b, r->graph, 60);
		buf_adds(&s->b, ") ");
	}
	buf_addf(&s->b, "%.*s", SLN(r->key, 12));
	if (r->times > 1)
		buf_addf(&s->b, " (%u times)", r->times);
	buf_addc(&s->b, '\n');
	if (r->why.n) {
		buf_adds(&s->b, "             ");
		put_cell(&s->b, r->why, 500);
		buf_addc(&s->b, '\n');
	}
	uint32_t shown = all || r->told <= CHANGES_SHOWN ? r->told : CHANGES_SHOWN;
	for (uint32_t i = 0; i < shown; i++) {
		const struct key_change *c = &a->change[r->first + i];
		buf_adds(&s->b, "             ");
		put_cell(&s->b, c->name, 100);
		buf_adds(&s->b, ": ");
		put_cell(&s->b, c->before.n ? c->before : SLICE("(none)"), 160);
		buf_adds(&s->b, " -> ");
		put_cell(&s->b, c->after.n ? c->after : SLICE("(none)"), 160);
		buf_addc(&s->b, '\n');
	}
	if (r->changes > shown)
		buf_addf(&s->b, "             and %u more%s\n", r->changes - shown, all ? "" : " (--all)");
}

static void put_asked(struct screen *s, const struct cache_view *v, bool all)
{
	const struct asked *a = &v->asked;
	if (!v->has_facts && v->n < 2)
		return;
	buf_addc(&s->b, '\n');
	put_bold(s,
		 v->has_facts ? "What a new run of this program would find here" : "Entries of the second folder that the first one has");
	buf_addf(&s->b, ": %u of %u\n", a->count[ASKED_HIT], a->n_row);
	if (v->has_facts && !a->n_row)
		buf_adds(&s->b, "  The trace records no cache lookup: torch is older than 2.6, or the caches were off.\n");
	uint32_t hits = 0;
	for (uint32_t i = 0; i < a->n_row; i++) {
		if (a->row[i].verdict == ASKED_HIT && hits++ >= 10 && !all)
			continue;
		put_asked_row(s, v, &a->row[i], all);
	}
	if (hits > 10 && !all)
		buf_addf(&s->b, "  and %u more that would hit (--all)\n", hits - 10);
}

static void put_prune(struct screen *s, const struct cache_view *v, bool all)
{
	const struct prune *p = &v->prune;
	const struct cachedir *d = &v->dir[0];
	if (!v->pruned)
		return;
	buf_addc(&s->b, '\n');
	put_bold(s, v->applied ? "Removed" : "Could be removed");
	buf_addf(&s->b, ": %u file%s, ", v->applied ? p->removed : p->n_row, plural(v->applied ? p->removed : p->n_row));
	put_bytes(&s->b, p->bytes);
	buf_adds(&s->b, v->applied ? "\n" : " (--apply removes them)\n");
	for (uint32_t i = 0; i < p->n_row && (all || i < PRUNE_SHOWN); i++) {
		buf_addf(&s->b, "  %s", p->row[i].why);
		buf_adds(&s->b, ": ");
		put_text(s, cachedir_name(d, d->file[p->row[i].file].path));
		buf_adds(&s->b, v->applied && !p->row[i].gone ? " (kept: it changed, or could not be removed)\n" : "\n");
	}
	if (!all && p->n_row > PRUNE_SHOWN)
		buf_addf(&s->b, "  and %u more (--all)\n", p->n_row - PRUNE_SHOWN);
	if (p->young)
		buf_addf(&s->b, "  %u more %s younger than %d minutes: a run may still be writing\n", p->young,
			 p->young == 1 ? "is" : "are", PRUNE_QUIET / 60);
	if (p->foreign)
		buf_addf(&s->b, "  %u more %s to another user\n", p->foreign, p->foreign == 1 ? "belongs" : "belong");
}

void cache_terminal(struct screen *s, const struct cache_view *v, const struct explain_options *opt)
{
	for (unsigned i = 0; i < v->n; i++) {
		const struct cachedir *d = &v->dir[i];
		if (i)
			buf_addc(&s->b, '\n');
		put_bold(s, d->path);
		buf_addc(&s->b, '\n');
		put_sums(s, d);
		put_graphs(s, d, opt->all);
		put_bad(s, d, opt->all);
		if (d->unread)
			buf_addf(&s->b, "\n%llu entr%s not checked: too large, or unreadable.\n", (unsigned long long)d->unread,
				 d->unread == 1 ? "y was" : "ies were");
		if (d->closed)
			buf_addf(&s->b, "\n%u folder%s could not be opened.\n", d->closed, plural(d->closed));
		if (d->more)
			buf_adds(&s->b, "\nThe cache holds more than is counted here.\n");
	}
	put_asked(s, v, opt->all);
	put_prune(s, v, opt->all);
}
