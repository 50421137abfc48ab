/* asked.c - see asked.h. */
#include "cache/asked.h"
#include "base/text.h"

const char *const asked_verdict_name[ASKED_VERDICTS] = {"hit", "missing", "damaged", "incomplete", "bypass", "not read"};

static struct slice keep(struct asked *a, struct slice s) { return s.n ? arena_slice(&a->arena, s) : slice_of("", 0); }
static struct slice keep_buf(struct asked *a, struct buf *b)
{
	struct slice s = keep(a, buf_slice(b));
	buf_release(b);
	return s;
}

/* The row of a lookup: one for all identical lookups. False: it exists already. */
static bool new_row(struct asked *a, enum fact_cache_kind cache, struct slice key, struct asked_row **row)
{
	LOCAL_BUF b = {0};
	buf_addf(&b, "%d ", (int)cache);
	buf_add_slice(&b, key);
	uint32_t k = intern_add(&a->seen, buf_slice(&b));
	bool fresh = k == a->n_row;
	if (fresh)
		PUSH(a, row) = (struct asked_row){.cache = cache, .key = keep(a, key), .entry = NONE};
	*row = &a->row[k];
	(*row)->times++;
	return fresh;
}

static void differs(struct asked *a, struct asked_row *r, const struct cachedir *d, const struct slice text[KEY_TEXTS])
{
	struct key_change change[KEY_CHANGES];
	struct slice near[KEY_TEXTS];
	if (!text[KEY_GRAPH].n)
		return;
	r->entry = cachedir_nearest(d, text, &a->arena);
	if (r->entry == NONE)
		return;
	cachedir_texts(d, d->file[r->entry].text, near);
	r->changes = key_compare(near, text, change, KEY_CHANGES, &a->arena);
	r->told = r->changes < KEY_CHANGES ? r->changes : KEY_CHANGES;
	r->first = a->n_change;
	for (uint32_t i = 0; i < r->told; i++)
		PUSH(a, change) = change[i];
}

static uint32_t bad_file(const struct cachedir *d, uint32_t key)
{
	for (uint32_t i = 0; i < d->n_file; i++)
		if (d->file[i].key == key && state_is_bad(d->file[i].state))
			return i;
	return NONE;
}

static void missing(struct asked *a, struct asked_row *r, const struct cachedir *d, const struct slice text[KEY_TEXTS])
{
	struct buf b = {0};
	r->verdict = ASKED_MISSING;
	differs(a, r, d, text);
	if (r->entry != NONE)
		buf_adds(&b, "no entry has this key; differences from the closest one:");
	else if (!text[KEY_GRAPH].n)
		buf_adds(&b, "no entry has this key, and its components are unknown");
	else
		buf_adds(&b, "no entry has this key, and there is none to compare with");
	r->why = keep_buf(a, &b);
}

/* An AOTAutograd entry is usable only if the fxgraph entries that it names exist, too. */
static void needs(struct asked *a, struct asked_row *r, const struct cachedir *d, const struct cache_file *f)
{
	for (uint32_t i = 0; i < f->n_need && r->verdict == ASKED_HIT; i++) {
		struct slice name = cachedir_name(d, d->need[f->first_need + i].key);
		uint32_t k = cachedir_key(d, CACHE_FX, name);
		if (k != NONE && d->key[k].whole)
			continue;
		struct buf b = {0};
		r->verdict = ASKED_NEEDS;
		buf_addf(&b, "its entry needs the fx_graph entry %.*s, which is %s", SL(name), k == NONE ? "missing" : "damaged");
		r->why = keep_buf(a, &b);
	}
}

static void ask(struct asked *a, struct asked_row *r, const struct cachedir *d, const struct slice text[KEY_TEXTS])
{
	uint32_t k = cachedir_key(d, r->cache == FACT_CACHE_AOT ? CACHE_AOT : CACHE_FX, r->key);
	struct buf b = {0};
	if (k == NONE) {
		missing(a, r, d, text);
	} else if (d->key[k].whole) {
		const struct cache_file *f = &d->file[d->key[k].entry];
		r->verdict = ASKED_HIT;
		r->entry = d->key[k].entry;
		if (f->guards != NONE && d->key[k].whole == 1)
			buf_addf(&b, "if its guards hold: %.*s", SLN(cachedir_name(d, f->guards), 300));
		else if (f->guards != NONE)
			buf_addf(&b, "if the guards of one of its %u entries hold", d->key[k].whole);
		r->why = keep_buf(a, &b);
		needs(a, r, d, f);
	} else if (d->key[k].bad) {
		r->verdict = ASKED_BAD;
		r->entry = bad_file(d, k);
		const struct cache_file *f = &d->file[r->entry];
		buf_addf(&b, "its entry is %s: %.*s", cache_state_name[f->state], SL(cachedir_name(d, f->why)));
		r->why = keep_buf(a, &b);
	} else {
		r->verdict = ASKED_UNREAD;
	}
}

static void label_of(struct asked *a, struct asked_row *r, const struct facts *f, const struct fact_cache *c)
{
	struct buf b = {0};
	struct slice label = facts_label(f, c->compile);
	buf_add_slice(&b, label);
	if (c->compile != NONE && f->compile[c->compile].loc.file != NONE) {
		const struct fact_loc *loc = &f->compile[c->compile].loc;
		buf_addf(&b, "%s%.*s:%u", b.len ? " " : "", SL(facts_text(f, loc->file)), loc->line);
		if (loc->function != NONE)
			buf_addf(&b, " in %.*s", SL(facts_text(f, loc->function)));
	}
	r->label = keep_buf(a, &b);
}

static void name_graph(struct asked *a, struct asked_row *r, struct slice graph)
{
	struct buf b = {0};
	key_graph_ops(graph, &b);
	r->graph = keep_buf(a, &b);
}

static void count(struct asked *a)
{
	memset(a->count, 0, sizeof(a->count));
	for (uint32_t i = 0; i < a->n_row; i++)
		a->count[a->row[i].verdict]++;
}

/* AOTAutograd's key has no components of its own: those of the Inductor key of the same compilation explain both. */
static void explain_aot(struct asked *a, const struct facts *f, const uint32_t *of)
{
	for (uint32_t i = 0; i < a->n_row; i++) {
		struct asked_row *r = &a->row[i];
		uint32_t compile = of[i] == NONE ? NONE : f->cache[of[i]].compile;
		if (r->verdict != ASKED_MISSING || r->cache != FACT_CACHE_AOT || r->entry != NONE || compile == NONE)
			continue;
		bool all_hit = false;
		for (uint32_t k = 0; k < a->n_row; k++) {
			const struct asked_row *o = &a->row[k];
			if (o->cache != FACT_CACHE_FX || of[k] == NONE || f->cache[of[k]].compile != compile)
				continue;
			if (o->verdict != ASKED_HIT) {
				all_hit = false;
				r->why = SLICE("no entry has this key: same cause as for the fx_graph key of this compilation");
				break;
			}
			all_hit = true;
		}
		if (all_hit)
			r->why = SLICE("no entry has this key, although the resulting graph is cached: the captured graph, its metadata "
				       "or torch._functorch.config differs");
	}
}

void asked_of_trace(struct asked *a, const struct cachedir *d, const struct facts *f)
{
	uint32_t *of = NULL, n = 0, cap = 0;
	for (uint32_t i = 0; i < f->n_cache; i++) {
		const struct fact_cache *c = &f->cache[i];
		struct asked_row *r;
		struct slice text[KEY_TEXTS], reason = facts_text(f, c->reason);
		bool bypass = c->what == FACT_BYPASS;
		if ((c->kind != FACT_CACHE_FX && c->kind != FACT_CACHE_AOT) || (!bypass && c->key == NONE) ||
		    !new_row(a, c->kind, bypass ? reason : facts_text(f, c->key), &r))
			continue;
		GROW(of, n, cap, a->n_row - n);
		while (n < a->n_row)
			of[n++] = i;
		label_of(a, r, f, c);
		if (bypass) {
			r->verdict = ASKED_BYPASS;
			r->key = slice_of("", 0);
			r->why = reason.n ? keep(a, reason) : SLICE("reason not logged");
			continue;
		}
		for (unsigned k = 0; k < KEY_TEXTS; k++)
			text[k] = facts_text(f, c->parts[k]);
		name_graph(a, r, text[KEY_GRAPH]);
		ask(a, r, d, text);
	}
	explain_aot(a, f, of);
	free(of);
	count(a);
}

void asked_of_dir(struct asked *a, const struct cachedir *d, const struct cachedir *other)
{
	for (uint32_t i = 0; i < other->n_key; i++) {
		const struct cache_key *k = &other->key[i];
		struct asked_row *r;
		struct slice text[KEY_TEXTS] = {{0}};
		if (k->entry == NONE || k->kind != CACHE_FX || !new_row(a, FACT_CACHE_FX, cachedir_name(other, k->name), &r))
			continue;
		cachedir_texts(other, other->file[k->entry].text, text);
		name_graph(a, r, text[KEY_GRAPH]);
		ask(a, r, d, text);
	}
	asked_of_factors(a, d, other);
	count(a);
}

void asked_release(struct asked *a)
{
	arena_release(&a->arena);
	intern_release(&a->seen);
	free(a->row);
	free(a->change);
	*a = (struct asked){.n_row = 0};
}
