/* nodes.c - reduces the operations (nodes.h). */
#include "reduce/nodes.h"

struct nodes {
	struct reduction *red;
	const struct repro *original;
	struct units units;
	uint32_t *replace; /* node -> its replacement; NONE */
	/* While dropped units are bypassed: the units present when that started (else NULL), which operand bypasses each, and both together
	 * as the replacements of a candidate. */
	const uint64_t *base;
	uint32_t *way, *replace_now;
	struct search search;
	struct err *err;
	/* The current question. */
	search_set_fn *set;
	void *ctx;
	uint64_t *scratch;
	const char *phase;
	bool likely; /* struct proposals */
};

static size_t words(const struct nodes *n) { return bits_words(n->units.n); }

/* ---- a set of units as a candidate ---- */

static void fill_candidate(struct nodes *n, size_t i, uint64_t *keep)
{
	memset(keep, 0, words(n) * sizeof(*keep));
	n->set(n->ctx, i, keep);
}

/* Units of the base that are not in keep and can be bypassed: their users take the bypass. */
static void bypassed(const struct nodes *n, const uint64_t *keep, uint32_t *replace)
{
	if (replace != n->replace)
		memcpy(replace, n->replace, n->original->graph.n_nodes * sizeof(*replace));
	for (size_t u = 0; n->base && u < n->units.n; u++) {
		uint32_t node = n->units.node[n->units.first[u]];
		if (bit_in(n->base, u) && !bit_in(keep, u) && n->way[node] != NONE)
			replace[node] = n->way[node];
	}
}

static uint64_t key_of(struct nodes *n, const uint64_t *set)
{
	size_t nodes = n->original->graph.n_nodes;
	bypassed(n, set, n->replace_now);
	uint64_t h = hash_bytes(set, words(n) * sizeof(*set)) ^ hash_bytes(n->replace_now, nodes * sizeof(*n->replace_now));
	return h ? h : 1;
}

static uint64_t set_key(void *ctx, size_t i)
{
	struct nodes *n = ctx;
	fill_candidate(n, i, n->scratch);
	return bits_count(n->scratch, n->units.n) ? key_of(n, n->scratch) : 0;
}

static void close_over(const struct nodes *n, const uint32_t *replace, uint64_t *set)
{
	slice_close(&n->original->graph, &n->units, replace, n->red->guess, set);
}

/* A value that a subgraph closes over is not bypassed: its user needs exactly that value. */
static void close_set(void *user, uint64_t *set)
{
	struct nodes *n = user;
	bypassed(n, set, n->replace_now);
	close_over(n, n->replace_now, set);
}

static int set_make(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	struct nodes *n = ctx;
	fill_candidate(n, i, n->scratch);
	if (!bits_count(n->scratch, n->units.n))
		return 0;
	bypassed(n, n->scratch, n->replace_now);
	return candidate_cut(c, n->original, &n->units, n->scratch, n->replace_now, err) < 0 ? -1 : 1;
}

static bool fewer(void *ctx, const struct candidate *c, const struct candidate *best)
{
	(void)ctx;
	return c->ops < best->ops || (c->ops == best->ops && c->n_feeds < best->n_feeds);
}

static int ask_for(struct nodes *n, size_t count, search_set_fn *set, void *ctx, bool any, size_t *winner)
{
	struct runner *r = n->red->runner;
	struct proposals p = {.n = count, .make = set_make, .key = set_key, .better = any ? NULL : fewer, .ctx = n, .likely = n->likely};
	size_t before = r->best.ops;
	n->set = set;
	n->ctx = ctx;
	r->phase = n->phase;
	int status = runner_ask(r, &p, winner, n->err);
	if (r->best.ops < before && n->red->success)
		n->red->success(n->red->user, n->phase, before, r->best.ops);
	return status;
}

static int ask_smaller(void *user, size_t count, search_set_fn *set, void *ctx, size_t *winner)
{
	return ask_for(user, count, set, ctx, false, winner);
}

static void phase(void *user, const char *name, size_t granularity, size_t left)
{
	struct nodes *n = user;
	(void)left;
	n->phase = n->base ? "Bypass" : name;
	if (n->red->strategy)
		n->red->strategy(n->red->user, n->phase, granularity, &n->red->runner->best);
}

/* ---- suspects ---- */

#define GUESSES_MAX 12
#define TOGETHER 8

struct guess {
	struct nodes *n;
	const struct suspects *s;
	uint32_t *unit;  /* of each suspect; NONE */
	uint64_t **part; /* closed sets that passed: what is a part of one is not asked */
	size_t n_parts;
	size_t first[GUESSES_MAX], n_firsts; /* how many of the first suspects are asked together */
};

static bool is_part(const struct guess *g, const uint64_t *set)
{
	for (size_t k = 0; k < g->n_parts; k++) {
		bool in = true;
		for (size_t w = 0; w < words(g->n) && in; w++)
			in = !(set[w] & ~g->part[k][w]);
		if (in)
			return true;
	}
	return false;
}

/* Suspects at .. end - 1. */
static void suspect_set(const struct guess *g, size_t at, size_t end, uint64_t *set)
{
	for (; at < end; at++)
		if (g->unit[at] != NONE)
			bit_add(set, g->unit[at]);
	close_set(g->n, set);
	if (is_part(g, set))
		memset(set, 0, words(g->n) * sizeof(*set));
}

static void first_set(void *ctx, size_t i, uint64_t *set)
{
	const struct guess *g = ctx;
	suspect_set(g, 0, g->first[i], set);
}

static void single_set(void *ctx, size_t i, uint64_t *set) { suspect_set(ctx, i + 1, i + 2, set); }

static void keep_passed(struct guess *g)
{
	struct nodes *n = g->n;
	for (size_t i = 0; i < g->n_firsts; i++) {
		uint64_t *set = xcalloc(words(n), sizeof(*set));
		first_set(g, i, set);
		if (runner_passed(n->red->runner, key_of(n, set)))
			g->part[g->n_parts++] = set;
		else
			free(set);
	}
}

static void add_first(struct guess *g, size_t k)
{
	if (g->n_firsts < GUESSES_MAX && (!g->n_firsts || g->first[g->n_firsts - 1] != k))
		g->first[g->n_firsts++] = k;
}

static int ask_firsts(struct guess *g)
{
	size_t before = g->n->search.left;
	int status = search_suspects(&g->n->search, first_set, g, g->n_firsts);
	return status < 0 ? -1 : g->n->search.left < before;
}

/* The most likely one alone. Then several together, more and more, up to all of them: the first smaller program should not be long in
 * coming; of several that fail, fewer. If none does, each of the others alone. */
static int guess(struct guess *g)
{
	const size_t n = g->s->n, likely = g->s->n_likely > 1 ? g->s->n_likely : TOGETHER;
	const size_t together = likely < n ? likely : n;
	int found;
	add_first(g, 1);
	for (size_t k = together; k < n; k *= 2)
		add_first(g, k);
	add_first(g, n);
	if ((found = ask_firsts(g)) < 0)
		return -1;
	keep_passed(g);
	if (!found)
		return search_suspects(&g->n->search, single_set, g, n - 1 < GUESSES_MAX ? n - 1 : GUESSES_MAX);
	g->n_firsts = 0;
	for (size_t k = 2; k < together; k *= 2)
		add_first(g, k);
	return ask_firsts(g) < 0 ? -1 : 0;
}

static int try_suspects(struct nodes *n, const struct suspects *s)
{
	struct guess g = {
	    .n = n, .s = s, .unit = xreallocarray(NULL, s->n, sizeof(*g.unit)), .part = xcalloc(GUESSES_MAX, sizeof(*g.part))};
	for (size_t i = 0; i < s->n; i++) {
		uint32_t node = graph_find(&n->original->graph, 0, s->name[i]);
		g.unit[i] = node == NONE ? NONE : n->units.of[node];
	}
	n->likely = true;
	int status = guess(&g);
	n->likely = false;
	for (size_t i = 0; i < g.n_parts; i++)
		free(g.part[i]);
	free(g.part);
	free(g.unit);
	return status;
}

/* ---- bypassing ---- */

static bool same_value_type(const struct graph *g, uint32_t a, uint32_t b)
{
	if (g->node[a].meta == NONE || g->node[b].meta == NONE)
		return false;
	const struct gmeta *x = &g->meta[g->node[a].meta], *y = &g->meta[g->node[b].meta];
	return x->kind != GMETA_NONE && x->kind != GMETA_TUPLE && graph_same_meta(g, x, y);
}

struct bypass {
	struct nodes *n;
	struct way {
		uint32_t node, by, unit;
	} * way;
	size_t n_ways, cap_ways;
	uint32_t node; /* while looking at its operands */
	size_t start;  /* the bypass that is tried first */
};

static uint32_t resolved(const uint32_t *replace, uint32_t node)
{
	while (replace[node] != NONE)
		node = replace[node];
	return node;
}

static bool add_way(void *user, uint32_t operand)
{
	struct bypass *b = user;
	struct nodes *n = b->n;
	uint32_t by = resolved(n->replace, operand);
	if (!same_value_type(&n->original->graph, b->node, operand))
		return true;
	for (size_t i = b->n_ways; i-- > 0 && b->way[i].node == b->node;)
		if (b->way[i].by == by)
			return true;
	PUSH_TO(b->way, b->n_ways, b->cap_ways) = (struct way){b->node, by, n->units.of[b->node]};
	return true;
}

/* Lists the remaining units, in order. */
static void find_ways(struct bypass *b)
{
	struct nodes *n = b->n;
	b->n_ways = 0;
	for (size_t u = 0; u < n->units.n; u++) {
		if (!bit_in(n->search.keep, u) || n->units.first[u + 1] - n->units.first[u] != 1)
			continue;
		b->node = n->units.node[n->units.first[u]];
		graph_operands(&n->original->graph, b->node, add_way, b);
	}
}

/* Chooses a bypass for each unit: preferring remaining units to inputs, and among them the latest, which is the main path when the others
 * join it. */
static void choose_ways(struct nodes *n, const struct bypass *b)
{
	memset(n->way, 0xff, n->original->graph.n_nodes * sizeof(*n->way));
	for (size_t i = 0; i < b->n_ways; i++) {
		const struct way *w = &b->way[i];
		uint32_t *to = &n->way[w->node], unit = n->units.of[w->by];
		bool left = unit != NONE && bit_in(n->search.keep, unit);
		if (*to == NONE || (left && w->by > *to))
			*to = w->by;
	}
}

static void kept_set(void *ctx, size_t i, uint64_t *set)
{
	struct nodes *n = ctx;
	(void)i;
	memcpy(set, n->search.keep, words(n) * sizeof(*set));
	close_set(n, set);
}

/* The tested set is what remains. */
static void adopt(struct nodes *n, search_set_fn *fn, void *ctx)
{
	memset(n->scratch, 0, words(n) * sizeof(*n->scratch));
	fn(ctx, 0, n->scratch);
	memcpy(n->search.keep, n->scratch, words(n) * sizeof(*n->scratch));
	n->search.left = bits_count(n->scratch, n->units.n);
}

/* Are the connections needed at all? Without them inputs keep their values, and fewer questions follow. */
static int try_unconnected(struct nodes *n)
{
	size_t bytes = n->original->graph.n_nodes * sizeof(*n->replace), winner = RUNNER_NONE;
	FREED uint32_t *connected = xreallocarray(NULL, 1, bytes);
	memcpy(connected, n->replace, bytes);
	memset(n->replace, 0xff, bytes);
	int status = ask_for(n, 1, kept_set, n, true, &winner);
	if (winner == RUNNER_NONE)
		memcpy(n->replace, connected, bytes);
	else
		adopt(n, kept_set, n);
	return status;
}

#define FEW 3 /* too few to ask whether they need each other */

/* The same search, but dropped units are bypassed where possible: what they connect stays connected. If a bug needs a value to get from one
 * operation to another, it needs the operations between them only for that. */
static int minimise_bypassing(struct nodes *n)
{
	struct bypass b = {.n = n};
	size_t before = n->search.left;
	if (before < 3)
		return 0;
	find_ways(&b);
	choose_ways(n, &b);
	uint64_t *base = xcalloc(words(n), sizeof(*base));
	memcpy(base, n->search.keep, words(n) * sizeof(*base));
	n->base = base;
	int status = search_quickxplain(&n->search);
	bypassed(n, n->search.keep, n->replace);
	n->base = NULL;
	free(base);
	if (status == 0 && b.n_ways && n->search.left < before && n->search.left > FEW)
		status = try_unconnected(n);
	free(b.way);
	return status;
}

static const struct way *bypass_way(const struct bypass *b, size_t i) { return &b->way[(b->start + i) % b->n_ways]; }

/* The remaining set without the unit of the chosen bypass (in n->replace). */
static void bypass_set(void *ctx, size_t i, uint64_t *set)
{
	const struct bypass *b = ctx;
	const struct nodes *n = b->n;
	memcpy(set, n->search.keep, words(n) * sizeof(*set));
	bit_del(set, bypass_way(b, i)->unit);
	close_over(n, n->replace, set);
}

static int bypass_make(void *ctx, size_t i, struct candidate *c, struct err *err)
{
	struct bypass *b = ctx;
	struct nodes *n = b->n;
	const struct way *w = bypass_way(b, i);
	int status = 0;
	n->replace[w->node] = w->by;
	bypass_set(b, i, n->scratch);
	size_t left = bits_count(n->scratch, n->units.n);
	if (left && left < n->search.left)
		status = candidate_cut(c, n->original, &n->units, n->scratch, n->replace, err) < 0 ? -1 : 1;
	n->replace[w->node] = NONE;
	return status;
}

/* Tries every bypass of every remaining unit, until one works. */
static int bypass_round(struct nodes *n, struct bypass *b, uint32_t *last, bool *over)
{
	struct runner *r = n->red->runner;
	struct proposals p = {.make = bypass_make, .better = fewer, .ctx = b};
	size_t winner = RUNNER_NONE, before = r->best.ops;
	find_ways(b);
	/* After a success, continue after it, as search_one_minimal does. */
	for (b->start = 0; b->start < b->n_ways && b->way[b->start].node < *last;)
		b->start++;
	p.n = b->n_ways;
	if (p.n)
		phase(n, "Bypass", b->n_ways, n->search.left);
	r->phase = n->phase;
	int status = p.n ? runner_ask(r, &p, &winner, n->err) : 0;
	*over = winner == RUNNER_NONE;
	if (*over)
		return status;
	const struct way *w = bypass_way(b, winner);
	*last = w->node;
	n->replace[w->node] = w->by;
	b->start = (b->start + winner) % b->n_ways;
	adopt(n, bypass_set, b);
	if (n->red->success && r->best.ops < before)
		n->red->success(n->red->user, n->phase, before, r->best.ops);
	return status;
}

static int bypass_each(struct nodes *n)
{
	struct bypass b = {.n = n};
	uint32_t last = 0;
	bool over = n->search.left < 2;
	int status = 0;
	while (status == 0 && !over)
		status = bypass_round(n, &b, &last, &over);
	free(b.way);
	return status;
}

/* Repeats until no unit can be dropped or bypassed: a unit's neighbours may only have been there because of it. */
static int minimise_each(struct nodes *n)
{
	size_t before;
	do {
		if (search_one_minimal(&n->search) < 0)
			return -1;
		before = n->search.left;
		if (bypass_each(n) < 0)
			return -1;
	} while (n->search.left < before);
	return 0;
}

/* ---- the whole pass ---- */

/* First removes unused nodes, with one question: a graph read from a file may have many. */
struct dead {
	struct nodes *n;
	uint64_t *dead;
};

static void alive_set(void *ctx, size_t i, uint64_t *set)
{
	const struct dead *d = ctx;
	(void)i;
	for (size_t w = 0; w < words(d->n); w++)
		set[w] = d->n->search.keep[w] & ~d->dead[w];
	close_set(d->n, set);
}

static int eliminate_dead(struct nodes *n)
{
	struct dead d = {n, xcalloc(words(n), sizeof(uint64_t))};
	int status = 0;
	if (slice_dead(&n->original->graph, &n->units, d.dead)) {
		size_t winner;
		phase(n, "Eliminate dead code", 1, n->search.left);
		status = ask_smaller(n, 1, alive_set, &d, &winner);
		if (status == 0 && winner == 0)
			adopt(n, alive_set, &d);
	}
	free(d.dead);
	return status;
}

#define MANY 8 /* enough to justify a search before trying them one by one */

static int minimise(struct nodes *n)
{
	struct search *s = &n->search;
	if (search_halve(s) < 0 || search_probdd(s, search_until(s)) < 0 || minimise_bypassing(n) < 0)
		return -1;
	if (s->left > MANY && search_quickxplain(s) < 0)
		return -1;
	return minimise_each(n);
}

int reduce_nodes(struct reduction *red, const struct suspects *suspects, struct err *err)
{
	struct nodes n = {.red = red, .original = red->runner->original, .err = err, .phase = "Truncate suffix"};
	units_find(&n.original->graph, &n.units);
	if (!n.units.n) {
		units_release(&n.units);
		return 0;
	}
	n.scratch = xcalloc(words(&n), sizeof(*n.scratch));
	n.replace = xreallocarray(NULL, n.original->graph.n_nodes, sizeof(*n.replace));
	memset(n.replace, 0xff, n.original->graph.n_nodes * sizeof(*n.replace));
	n.way = xreallocarray(NULL, n.original->graph.n_nodes, sizeof(*n.way));
	n.replace_now = xreallocarray(NULL, n.original->graph.n_nodes, sizeof(*n.replace_now));
	n.search = (struct search){.n = n.units.n,
				   .jobs = oracle_jobs(red->runner->oracle),
				   .qx_limit = red->qx_limit,
				   .max_block = red->max_block,
				   .close = close_set,
				   .ask = ask_smaller,
				   .phase = phase,
				   .user = &n};
	search_start(&n.search);
	size_t before = red->runner->best.ops;
	struct pass_note note = {.name = "nodes", .did = "dropped"};
	if (red->pass)
		red->pass(red->user, &note);
	int status = suspects && suspects->n ? try_suspects(&n, suspects) : 0;
	if (status == 0 && n.search.left == n.units.n)
		status = eliminate_dead(&n);
	if (status == 0)
		status = minimise(&n);
	note.ended = true;
	note.done = before - red->runner->best.ops;
	if (red->pass)
		red->pass(red->user, &note);
	search_release(&n.search);
	units_release(&n.units);
	free(n.scratch);
	free(n.replace);
	free(n.way);
	free(n.replace_now);
	return status;
}
