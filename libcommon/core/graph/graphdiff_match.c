/* graphdiff_match.c - which node of one graph is which of the other. graphdiff.h says how. */
#include "graph/graphdiff_part.h"

enum { WHOLE = 1 << 20, CANDIDATES = 64, ROUNDS = 16 };

struct edge {
	uint32_t operand;
	uint64_t place;
};
struct side {
	const struct graph *g;
	uint32_t *first; /* edge[first[i] .. first[i + 1]) are the operands of node i */
	struct edge *edge;
	uint32_t n_edge, cap_edge;
	uint64_t *label, *alike, *meta, *place; /* of each node: with its constants, without; its metadata; where it is from (0: unknown) */
	uint64_t *down, *up, *tmp;
	uint32_t *match; /* graphdiff.match */
	uint32_t from, to;
};
struct key {
	uint64_t key, sub; /* sub: decides between nodes with the same key; 0: nothing does */
	uint32_t node;
};
struct matching {
	struct side s[2];
	struct key *key[2];
	uint32_t n_key[2], cap_key[2];
	ROWS(uint32_t, todo);
};

/* ---- operands ---- */

static void value_leaves(const struct graph *g, struct gvalue v, uint64_t place, gd_leaf *fn, void *ctx, unsigned depth)
{
	if (v.kind == GV_NODE)
		fn(ctx, v.node, place);
	else if (gvalue_has_children(v) && depth < GRAPH_MAX_DEPTH)
		for (uint32_t i = 0; i < v.n; i++)
			value_leaves(g, g->value[v.first + i], gd_mix(place, i + 1), fn, ctx, depth + 1);
}

void gd_operands(const struct graph *g, uint32_t node, gd_leaf *fn, void *ctx)
{
	const struct gnode *n = &g->node[node];
	for (uint32_t i = 0; i < n->n_args; i++)
		value_leaves(g, g->value[n->args + i], i + 1, fn, ctx, 0);
	for (uint32_t i = 0; i < n->n_kwargs; i++)
		value_leaves(g, g->value[n->kwargs + 2 * i + 1], gd_text(graph_text(g, g->value[n->kwargs + 2 * i].text)), fn, ctx, 0);
}

/* A value with holes where it uses nodes. */
static uint64_t value_hash(const struct graph *g, struct gvalue v, unsigned depth)
{
	uint64_t h = v.kind;
	if (v.kind == GV_NODE || v.kind == GV_NONE || v.kind == GV_ELLIPSIS)
		return h;
	if (gvalue_has_text(v))
		return gd_mix(h, gd_text(graph_text(g, v.text)));
	if (!gvalue_has_children(v)) /* i, or the bits of f: one union */
		return gd_mix(h, v.kind == GV_BOOL ? v.i != 0 : (uint64_t)v.i);
	h = gd_mix(h, v.n);
	for (uint32_t i = 0; i < v.n && depth < GRAPH_MAX_DEPTH; i++)
		h = gd_mix(h, value_hash(g, g->value[v.first + i], depth + 1));
	return h;
}

static uint64_t alike_hash(const struct graph *g, const struct gnode *n)
{
	uint64_t h = gd_mix(n->op, 7);
	/* The names of inputs, constants and subgraphs are numbered. */
	if (n->op == GRAPH_PLACEHOLDER && n->meta != NONE && g->meta[n->meta].kind == GMETA_SYM)
		return gd_mix(h, GMETA_SYM);
	if (n->op == GRAPH_PLACEHOLDER || n->op == GRAPH_OUTPUT || n->op == GRAPH_GET_ATTR)
		return h;
	return gd_mix(h, gd_text(graph_text(g, n->target)));
}

bool gd_alike(const struct graph *g, uint32_t x, const struct graph *h, uint32_t y)
{
	return alike_hash(g, &g->node[x]) == alike_hash(h, &h->node[y]);
}

static uint64_t label_hash(const struct graph *g, const struct gnode *n, uint64_t alike)
{
	uint64_t h = alike, sum = 0;
	if (n->op == GRAPH_OUTPUT)
		return h;
	for (uint32_t i = 0; i < n->n_args; i++)
		h = gd_mix(h, value_hash(g, g->value[n->args + i], 0));
	for (uint32_t i = 0; i < n->n_kwargs; i++) {
		const struct gvalue *kw = &g->value[n->kwargs + 2 * i];
		sum += gd_mix(gd_text(graph_text(g, kw[0].text)), value_hash(g, kw[1], 0));
	}
	const struct gattr *attr = n->op == GRAPH_GET_ATTR ? graph_attr(g, n->module, graph_text(g, n->target)) : NULL;
	if (attr && attr->expr != NONE)
		sum += gd_text(graph_text(g, attr->expr));
	return gd_mix(h, sum);
}

/* primals_1, arg0_1, tangents_2: torch's own numbering, which identifies nothing. */
static bool numbered(struct slice name)
{
	static const char *const stem[] = {"primals_", "arg", "tangents_", "fwd_rng", "bwd_rng", "getitem", "_tensor_constant", "buf"};
	for (unsigned i = 0; i < ARRAY_LEN(stem); i++)
		if (slice_starts(name, stem[i]))
			return true;
	return false;
}

static uint64_t place_hash(const struct graph *g, const struct gnode *n)
{
	bool named = n->op == GRAPH_PLACEHOLDER || n->op == GRAPH_GET_ATTR;
	struct slice name = graph_text(g, n->target);
	if (named)
		return numbered(name) ? 0 : gd_text(name) | 1;
	return n->stack == NONE ? 0 : gd_text(graph_text(g, n->stack)) | 1;
}

static void add_edge(void *ctx, uint32_t operand, uint64_t place)
{
	struct side *s = ctx;
	PUSH_TO(s->edge, s->n_edge, s->cap_edge) = (struct edge){operand, place};
}

static void side_build(struct side *s, const struct graph *g, uint32_t *match)
{
	const size_t n = g->n_nodes + 1;
	LOCAL_BUF tmp = {0};
	s->g = g;
	s->match = match;
	s->first = xcalloc(n, sizeof(*s->first));
	uint64_t **const array[] = {&s->label, &s->alike, &s->meta, &s->place, &s->down, &s->up, &s->tmp};
	for (unsigned i = 0; i < ARRAY_LEN(array); i++)
		*array[i] = xcalloc(n, sizeof(**array[i]));
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct gnode *node = &g->node[i];
		s->first[i] = s->n_edge;
		gd_operands(g, i, add_edge, s);
		s->alike[i] = alike_hash(g, node);
		s->label[i] = label_hash(g, node, s->alike[i]);
		s->meta[i] = gd_meta_hash(g, node->meta, &tmp);
		s->place[i] = place_hash(g, node);
		match[i] = NONE;
	}
	s->first[g->n_nodes] = s->n_edge;
}

static void side_release(struct side *s)
{
	uint64_t *const array[] = {s->label, s->alike, s->meta, s->place, s->down, s->up, s->tmp};
	for (unsigned i = 0; i < ARRAY_LEN(array); i++)
		free(array[i]);
	free(s->first);
	free(s->edge);
}

static void pair_nodes(struct matching *m, uint32_t a, uint32_t b)
{
	m->s[0].match[a] = b;
	m->s[1].match[b] = a;
}

/* ---- colours ---- */

/* Of a matched node: the same for both, unlike any other. */
static uint64_t anchor(const struct side *s, const struct matching *m, uint32_t node)
{
	return gd_mix(0xa7c4, (s == &m->s[0] ? node : s->match[node]) + 1ull);
}

static uint64_t down_colour(const struct side *s, uint32_t i, const uint64_t *colour)
{
	uint64_t sum = s->label[i];
	for (uint32_t e = s->first[i]; e < s->first[i + 1]; e++)
		sum += gd_mix(s->edge[e].place, colour[s->edge[e].operand]);
	return gd_mix(s->label[i], sum);
}

static void start_colours(const struct matching *m, struct side *s, uint64_t *colour)
{
	for (uint32_t i = s->from; i < s->to; i++)
		colour[i] = s->match[i] == NONE ? s->label[i] : anchor(s, m, i);
}

/* From what a node reads, `radius` operators deep. */
static void colour_down(const struct matching *m, struct side *s, unsigned radius)
{
	start_colours(m, s, s->down);
	if (radius == WHOLE) { /* operands come first: one pass */
		for (uint32_t i = s->from; i < s->to; i++)
			if (s->match[i] == NONE)
				s->down[i] = down_colour(s, i, s->down);
		return;
	}
	for (unsigned r = 0; r < radius; r++) {
		memcpy(s->tmp + s->from, s->down + s->from, (s->to - s->from) * sizeof(*s->tmp));
		for (uint32_t i = s->from; i < s->to; i++)
			if (s->match[i] == NONE)
				s->down[i] = down_colour(s, i, s->tmp);
	}
}

static void pass_up(const struct side *s, uint32_t user, uint64_t colour, uint64_t *sum)
{
	for (uint32_t e = s->first[user]; e < s->first[user + 1]; e++)
		sum[s->edge[e].operand] += gd_mix(s->edge[e].place, colour);
}

/* From what reads it. */
static void colour_up(const struct matching *m, struct side *s, unsigned radius)
{
	start_colours(m, s, s->up);
	for (unsigned r = 0; r < (radius == WHOLE ? 1 : radius); r++) {
		memset(s->tmp + s->from, 0, (s->to - s->from) * sizeof(*s->tmp));
		if (radius != WHOLE)
			for (uint32_t i = s->from; i < s->to; i++)
				pass_up(s, i, s->up[i], s->tmp);
		for (uint32_t i = s->to; i-- > s->from;) {
			if (s->match[i] == NONE)
				s->up[i] = gd_mix(s->label[i], s->tmp[i]);
			if (radius == WHOLE)
				pass_up(s, i, s->up[i], s->tmp);
		}
	}
}

/* ---- nodes with the same colours ---- */

static int by_key(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->sub != y->sub)
		return x->sub < y->sub ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static bool same_key(const struct key *x, const struct key *y, bool sub) { return x->key == y->key && (!sub || x->sub == y->sub); }

static bool same_colours(const struct matching *m, uint32_t a, uint32_t b)
{
	return m->s[0].down[a] == m->s[1].down[b] && m->s[0].up[a] == m->s[1].up[b];
}

static bool both_free(const struct matching *m, uint32_t a, uint32_t b) { return m->s[0].match[a] == NONE && m->s[1].match[b] == NONE; }

/* Do two nodes of the same colours read matched nodes alike? */
static bool reads_alike(const struct matching *m, uint32_t a, uint32_t b)
{
	const struct side *s = &m->s[0], *t = &m->s[1];
	for (uint32_t e = s->first[a], f = t->first[b]; e < s->first[a + 1] && f < t->first[b + 1]; e++, f++) {
		uint32_t x = s->match[s->edge[e].operand], y = t->match[t->edge[f].operand];
		if ((x != NONE && x != t->edge[f].operand) || (x == NONE && y != NONE))
			return false;
	}
	return s->first[a + 1] - s->first[a] == t->first[b + 1] - t->first[b];
}

/* Two twins, and what hangs on them: their choice decides for the others. */
static uint32_t pair_twins(struct matching *m, uint32_t a, uint32_t b)
{
	const struct side *s = &m->s[0], *t = &m->s[1];
	uint32_t found = 1;
	m->n_todo = 0;
	pair_nodes(m, a, b);
	PUSH(m, todo) = a;
	while (m->n_todo) {
		uint32_t x = m->todo[--m->n_todo], y = s->match[x];
		for (uint32_t e = s->first[x], f = t->first[y]; e < s->first[x + 1] && f < t->first[y + 1]; e++, f++) {
			uint32_t i = s->edge[e].operand, k = t->edge[f].operand;
			if (!both_free(m, i, k) || !same_colours(m, i, k))
				continue;
			pair_nodes(m, i, k);
			found++;
			PUSH(m, todo) = i;
		}
		for (uint32_t i = s->g->user_of[x]; i < s->g->user_of[x + 1]; i++)
			for (uint32_t k = t->g->user_of[y], n = 0; k < t->g->user_of[y + 1] && n < CANDIDATES; k++, n++) {
				uint32_t u = s->g->user[i], v = t->g->user[k];
				if (!both_free(m, u, v) || !same_colours(m, u, v) || !reads_alike(m, u, v))
					continue;
				pair_nodes(m, u, v);
				found++;
				PUSH(m, todo) = u;
				break;
			}
	}
	return found;
}

/* Matches groups of equal keys that have one node on each side; twins: also larger ones, in order. */
static uint32_t join_keys(struct matching *m, bool sub, bool twins)
{
	const struct key *a = m->key[0], *b = m->key[1];
	uint32_t found = 0;
	for (uint32_t i = 0, j = 0; i < m->n_key[0] && j < m->n_key[1];) {
		uint32_t ei = i + 1, ej = j + 1;
		if (!same_key(&a[i], &b[j], sub)) {
			*(by_key(&(struct key){a[i].key, sub ? a[i].sub : 0, 0}, &(struct key){b[j].key, sub ? b[j].sub : 0, 0}) < 0
			      ? &i
			      : &j) += 1;
			continue;
		}
		while (ei < m->n_key[0] && same_key(&a[ei], &a[i], sub))
			ei++;
		while (ej < m->n_key[1] && same_key(&b[ej], &b[j], sub))
			ej++;
		bool decided = (!sub || a[i].sub) && (twins || (ei - i == 1 && ej - j == 1));
		for (uint32_t k = i, n = j; decided && k < ei; k++) {
			while (n < ej && m->s[1].match[b[n].node] != NONE)
				n++;
			if (n == ej || m->s[0].match[a[k].node] != NONE)
				continue;
			if (twins)
				found += pair_twins(m, a[k].node, b[n].node);
			else
				pair_nodes(m, a[k].node, b[n].node);
			found += !twins;
		}
		i = ei;
		j = ej;
	}
	return found;
}

struct stage {
	unsigned down, up;
	bool meta, place; /* count, too */
};

static bool all_matched(const struct side *s)
{
	for (uint32_t i = s->from; i < s->to; i++)
		if (s->match[i] == NONE)
			return false;
	return true;
}

static uint32_t run_stage(struct matching *m, const struct stage *g, bool twins)
{
	if (all_matched(&m->s[0]) || all_matched(&m->s[1]))
		return 0;
	for (unsigned k = 0; k < 2; k++) {
		struct side *s = &m->s[k];
		colour_down(m, s, g->down);
		colour_up(m, s, g->up);
		m->n_key[k] = 0;
		for (uint32_t i = s->from; i < s->to; i++) {
			if (s->match[i] != NONE)
				continue;
			uint64_t key = gd_mix(s->down[i], s->up[i]);
			/* An input has nothing else of its own. */
			bool meta = g->meta || (s->g->node[i].op == GRAPH_PLACEHOLDER && g->down + g->up < 2 * WHOLE);
			PUSH_TO(m->key[k], m->n_key[k], m->cap_key[k]) =
			    (struct key){meta ? gd_mix(key, s->meta[i]) : key, g->place ? s->place[i] : 0, i};
		}
		qsort(m->key[k], m->n_key[k], sizeof(*m->key[k]), by_key);
	}
	return join_keys(m, g->place, twins);
}

/* ---- the rest, by its neighbours ---- */

struct score {
	uint32_t near, of, all; /* operands and users that are matched with each other; of how many; with what else agrees */
	bool operand;           /* one of them is an operand */
};

/* The operand at a place, looked for first where it is in the other node; long lists are compared in order only. NONE */
static uint32_t operand_at(const struct side *s, uint32_t node, uint64_t place, uint32_t nth)
{
	uint32_t first = s->first[node], end = s->first[node + 1];
	if (first + nth < end && s->edge[first + nth].place == place)
		return s->edge[first + nth].operand;
	for (uint32_t e = first, n = 0; e < end && n < CANDIDATES; e++, n++)
		if (s->edge[e].place == place)
			return s->edge[e].operand;
	return NONE;
}

/* Does the partner of a user of a read b where the user reads a? */
static bool user_agrees(const struct matching *m, uint32_t user, uint32_t a, uint32_t b)
{
	const struct side *s = &m->s[0];
	uint32_t theirs = s->match[user];
	for (uint32_t e = s->first[user]; theirs != NONE && e < s->first[user + 1]; e++)
		if (s->edge[e].operand == a && operand_at(&m->s[1], theirs, s->edge[e].place, e - s->first[user]) == b)
			return true;
	return false;
}

static struct score score_of(const struct matching *m, uint32_t a, uint32_t b)
{
	const struct side *s = &m->s[0], *t = &m->s[1];
	struct score r = {0};
	uint32_t open = 0; /* operands in the same place that are alike and free: they go with these two */
	for (uint32_t e = s->first[a]; e < s->first[a + 1]; e++) {
		uint32_t x = s->edge[e].operand, y = operand_at(t, b, s->edge[e].place, e - s->first[a]);
		r.near += y != NONE && s->match[x] == y;
		open += y != NONE && both_free(m, x, y) && s->alike[x] == t->alike[y] && s->meta[x] == t->meta[y];
	}
	r.operand = r.near || open;
	uint32_t first = s->g->user_of[a], users = s->g->user_of[a + 1] - first, theirs = t->g->user_of[b + 1] - t->g->user_of[b];
	for (uint32_t i = first; i < first + users && i < first + CANDIDATES; i++)
		r.near += user_agrees(m, s->g->user[i], a, b);
	uint32_t na = s->first[a + 1] - s->first[a], nb = t->first[b + 1] - t->first[b];
	r.of = (na > nb ? na : nb) - open + (users > theirs ? users : theirs);
	r.all = 4 * r.near + 3 * (s->label[a] == t->label[b]) + 2 * (s->meta[a] == t->meta[b]) +
		3 * (s->place[a] && s->place[a] == t->place[b]);
	return r;
}

struct choice {
	const struct matching *m;
	uint32_t a, b, all; /* all: the best score */
	bool retarget;
	unsigned tried;
};

/* Another operator in the same place: what it reads and what reads it is the same, but for a third. */
static bool stands_in(const struct matching *m, uint32_t a, uint32_t b, struct score r)
{
	return graph_computes(&m->s[0].g->node[a]) && graph_computes(&m->s[1].g->node[b]) && r.operand && 3 * r.near >= 2 * r.of;
}

static void consider(struct choice *c, uint32_t b)
{
	const struct side *s = &c->m->s[0], *t = &c->m->s[1];
	if (b < t->from || b >= t->to || t->match[b] != NONE || c->tried > 4 * CANDIDATES ||
	    (s->alike[c->a] == t->alike[b]) == c->retarget || b == c->b)
		return;
	c->tried++;
	struct score r = score_of(c->m, c->a, b);
	bool enough = c->retarget ? stands_in(c->m, c->a, b, r) : 2 * r.near >= r.of || (s->place[c->a] && s->place[c->a] == t->place[b]);
	if (!r.near || !enough || r.all <= c->all)
		return;
	c->b = b;
	c->all = r.all;
}

static void consider_users(struct choice *c, uint32_t b)
{
	const struct graph *g = c->m->s[1].g;
	for (uint32_t i = g->user_of[b], n = 0; i < g->user_of[b + 1] && n < CANDIDATES; i++, n++)
		consider(c, g->user[i]);
}

static void consider_operands(struct choice *c, uint32_t b)
{
	const struct side *t = &c->m->s[1];
	for (uint32_t e = t->first[b], n = 0; e < t->first[b + 1] && n < CANDIDATES; e++, n++)
		consider(c, t->edge[e].operand);
}

static uint32_t by_neighbours(struct matching *m, bool retarget)
{
	const struct side *s = &m->s[0];
	uint32_t found = 0;
	for (uint32_t a = s->from; a < s->to; a++) {
		struct choice c = {m, a, NONE, 0, retarget, 0};
		if (s->match[a] != NONE)
			continue;
		for (uint32_t e = s->first[a]; e < s->first[a + 1]; e++)
			if (s->match[s->edge[e].operand] != NONE)
				consider_users(&c, s->match[s->edge[e].operand]);
		for (uint32_t i = s->g->user_of[a], n = 0; i < s->g->user_of[a + 1] && n < CANDIDATES; i++, n++)
			if (s->match[s->g->user[i]] != NONE)
				consider_operands(&c, s->match[s->g->user[i]]);
		if (c.b != NONE) {
			pair_nodes(m, a, c.b);
			found++;
		}
	}
	return found;
}

/* ---- a graph and its subgraphs ---- */

/* The first two are repeated as long as they find something: a node is a twin only while nothing near it is matched. */
enum { REPEATED = 2, TWINS = 3 };
static const struct stage stages[] = {
    {WHOLE, WHOLE, true, true}, {WHOLE, WHOLE, false, false}, {WHOLE, 8, true, true},   {8, WHOLE, true, true},   {WHOLE, 8, true, false},
    {8, WHOLE, true, false},    {WHOLE, 8, false, false},     {8, WHOLE, false, false}, {WHOLE, 2, true, true},   {2, WHOLE, true, true},
    {WHOLE, 2, true, false},    {2, WHOLE, true, false},      {WHOLE, 2, false, false}, {2, WHOLE, false, false}, {2, 2, true, true},
    {WHOLE, 0, true, true},     {0, WHOLE, true, true},       {WHOLE, 0, true, false},  {0, WHOLE, true, false},  {WHOLE, 0, false, false},
    {0, WHOLE, false, false},   {4, 4, true, false},          {1, 1, true, true},       {2, 2, false, false},     {1, 1, false, false},
    {0, 0, true, true},
};
static const struct stage twin_stages[TWINS] = {{WHOLE, WHOLE, true, true}, {WHOLE, WHOLE, true, false}, {WHOLE, WHOLE, false, false}};

static uint32_t one_round(struct matching *m)
{
	uint32_t found = 0, n;
	for (unsigned i = 0; i < ARRAY_LEN(stages); i++) {
		do {
			n = run_stage(m, &stages[i], false);
			found += n;
		} while (n && i < REPEATED);
	}
	found += by_neighbours(m, false);
	for (unsigned i = 0; i < TWINS && !found; i++)
		found += run_stage(m, &twin_stages[i], true);
	return found ? found : by_neighbours(m, true);
}

/* Inputs that nothing reads any longer: by what they are, in order. */
static void match_inputs(struct matching *m)
{
	for (unsigned k = 0; k < 2; k++) {
		const struct side *s = &m->s[k];
		m->n_key[k] = 0;
		for (uint32_t i = s->from; i < s->to; i++)
			if (s->match[i] == NONE && s->g->node[i].op == GRAPH_PLACEHOLDER)
				PUSH_TO(m->key[k], m->n_key[k], m->cap_key[k]) = (struct key){s->meta[i], s->place[i], i};
		if (!m->n_key[k])
			return;
		qsort(m->key[k], m->n_key[k], sizeof(*m->key[k]), by_key);
	}
	join_keys(m, true, false);
	join_keys(m, false, true);
}

static void match_module(struct matching *m, uint32_t ma, uint32_t mb)
{
	const uint32_t module[2] = {ma, mb};
	for (unsigned k = 0; k < 2; k++) {
		const struct gmodule *x = &m->s[k].g->module[module[k]];
		m->s[k].from = x->first;
		m->s[k].to = x->first + x->n;
	}
	if (m->s[0].g->module[ma].output != NONE && m->s[1].g->module[mb].output != NONE)
		pair_nodes(m, m->s[0].g->module[ma].output, m->s[1].g->module[mb].output);
	for (unsigned round = 0; round < ROUNDS && one_round(m); round++)
		;
	match_inputs(m);
}

/* The child module that an attribute's node means, NONE. */
static uint32_t child_of(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	bool names = n->op == GRAPH_GET_ATTR || n->op == GRAPH_CALL_MODULE;
	return names ? graph_child(g, n->module, graph_text(g, n->target)) : NONE;
}

void gd_match(struct graphdiff *d)
{
	struct matching m = {0};
	const struct graph *g[2] = {d->a, d->b};
	for (unsigned k = 0; k < 2; k++) {
		d->match[k] = xcalloc(g[k]->n_nodes + 1, sizeof(*d->match[k]));
		side_build(&m.s[k], g[k], d->match[k]);
	}
	/* A module's nodes come before those of its children. */
	uint32_t *partner = xcalloc(d->a->n_modules + 1, sizeof(*partner));
	for (uint32_t i = 0; i < d->a->n_modules; i++)
		partner[i] = NONE;
	if (d->a->n_modules && d->b->n_modules)
		partner[0] = 0;
	for (uint32_t i = 0; i < d->a->n_modules; i++) {
		if (partner[i] == NONE)
			continue;
		match_module(&m, i, partner[i]);
		const struct gmodule *x = &d->a->module[i];
		for (uint32_t n = x->first; n < x->first + x->n; n++) {
			uint32_t mine = child_of(d->a, n), their = d->match[0][n] == NONE ? NONE : child_of(d->b, d->match[0][n]);
			if (mine != NONE && their != NONE && mine > i && partner[mine] == NONE)
				partner[mine] = their;
		}
	}
	free(partner);
	for (unsigned k = 0; k < 2; k++) {
		side_release(&m.s[k]);
		free(m.key[k]);
	}
	free(m.todo);
}
