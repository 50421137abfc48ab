/* blocks.c - what repeats: equal pieces of one graph, equal graphs; and which module has how much of a graph.
 *
 * A node is a hash of its operator, its line and its result's type and sizes: what is equal in these was traced from the same line of the
 * same loop. A piece that repeats is the longest run t[i] == t[i + period]; the periods tried are the distances between equal nodes.
 */
#include "slow/slow.h"

#include "base/srcloc.h"
#include "base/text.h"
#include "graph/fxcode.h"

#include <stdlib.h>

enum {
	BLOCKS_MAX = 8,     /* in one graph */
	PERIODS_TRIED = 64, /* the most frequent distances */
	NODES_LEAST = 4,
	COPIES_LEAST = 3,
	GRAPHS_MAX = 2000,
};
#define SHARE_LEAST 0.1 /* of the graph's nodes */

struct seq {
	const struct graph *g;
	struct slice self; /* "s" of def forward(s, x): not part of a module's name */
	uint32_t *node;    /* that compute something, in order */
	uint64_t *token;
	struct slice *module; /* "h.0.ln_1"; empty */
	bool *used;           /* in a block */
	uint32_t n;
};

/* ---- nodes ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	const uint64_t word[2] = {a, b};
	return hash_bytes(word, sizeof(word));
}

static uint64_t text_hash(struct slice s) { return hash_bytes(s.p, s.n); }

static uint64_t meta_hash(const struct graph *g, uint32_t meta)
{
	if (meta == NONE || g->meta[meta].kind != GMETA_TENSOR)
		return 1;
	const struct gmeta *m = &g->meta[meta];
	uint64_t h = mix((uint64_t)m->dtype + 2, m->n_dim);
	for (uint32_t i = 0; i < m->n_dim; i++) {
		LOCAL_BUF b = {0};
		const struct symsize size = g->dim[m->dim + i];
		symsize_print(&g->tab, size, &b);
		h = mix(h, text_hash(buf_slice(&b)));
	}
	return h;
}

static struct slice stack_of(const struct graph *g, uint32_t node)
{
	return g->node[node].stack == NONE ? slice_of(NULL, 0) : graph_text(g, g->node[node].stack);
}

static uint64_t token_of(const struct graph *g, uint32_t node)
{
	return mix(mix(text_hash(graph_text(g, g->node[node].target)), text_hash(stack_of(g, node))), meta_hash(g, g->node[node].meta));
}

static const char mark[] = "_modules_";

/* "self" of L_self_modules_h...; empty: not a parameter of a module. */
static struct slice owner_of(struct slice name)
{
	const char *at = slice_find(name, mark);
	return slice_starts(name, "L_") && at && at > name.p + 2 ? slice_of(name.p + 2, (size_t)(at - name.p) - 2) : slice_of(NULL, 0);
}

/* In a forward(), the one whose modules they all are. */
static struct slice self_of(const struct graph *g, bool forward)
{
	const struct gmodule *root = &g->module[0];
	struct slice self = {0};
	for (uint32_t i = root->first; i < root->first + root->n; i++) {
		const struct slice owner = owner_of(graph_text(g, g->node[i].target));
		if (g->node[i].op != GRAPH_PLACEHOLDER || !owner.n || slice_eq(owner, self))
			continue;
		if (self.n)
			return SLICE("self");
		self = owner;
	}
	return forward && self.n ? self : SLICE("self");
}

/* "L_self_modules_h_modules_0_modules_ln_1_parameters_weight_" -> "h.0.ln_1"; empty: not a parameter of a module. */
static struct slice module_of_input(struct slow *s, const struct seq *q, struct slice name)
{
	LOCAL_BUF b = {0};
	const struct slice owner = owner_of(name);
	const char *at = owner.p + owner.n, *end = name.p + name.n;
	if (!owner.n)
		return owner;
	for (const char *leaf = NULL, *kind = "_parameters_"; kind; kind = slice_is(slice_str(kind), "_parameters_") ? "_buffers_" : NULL)
		if ((leaf = slice_find(name, kind)) && leaf < end && leaf > at)
			end = leaf;
	if (!slice_eq(owner, q->self))
		buf_addf(&b, "%.*s.", SL(owner));
	for (struct slice rest = slice_of(at + sizeof(mark) - 1, (size_t)(end - at) - sizeof(mark) + 1); rest.n;) {
		const struct slice one = slice_until(rest, mark);
		buf_add_slice(&b, one);
		rest = one.n < rest.n ? slice_of(rest.p + one.n + sizeof(mark) - 1, rest.n - one.n - sizeof(mark) + 1) : slice_of(NULL, 0);
		if (rest.n)
			buf_addc(&b, '.');
	}
	return arena_slice(&s->arena, buf_slice(&b));
}

struct finding_module {
	struct slow *s;
	const struct graph *g;
	const struct slice *of_input; /* by node */
	struct slice found;
};

static bool look_at_operand(void *user, uint32_t operand)
{
	struct finding_module *m = user;
	if (m->g->node[operand].op == GRAPH_PLACEHOLDER && m->of_input[operand].n)
		m->found = m->of_input[operand];
	return !m->found.n;
}

static void seq_make(struct slow *s, struct seq *q, const struct graph *g, bool forward)
{
	const struct gmodule *root = &g->module[0];
	FREED struct slice *of_input = xcalloc(g->n_nodes + 1, sizeof(*of_input));
	*q = (struct seq){.g = g, .self = self_of(g, forward)};
	q->node = xcalloc(root->n + 1u, sizeof(*q->node));
	q->token = xcalloc(root->n + 1u, sizeof(*q->token));
	q->module = xcalloc(root->n + 1u, sizeof(*q->module));
	q->used = xcalloc(root->n + 1u, sizeof(*q->used));
	struct slice before = {0};
	for (uint32_t i = root->first; i < root->first + root->n; i++) {
		if (g->node[i].op == GRAPH_PLACEHOLDER)
			of_input[i] = module_of_input(s, q, graph_text(g, g->node[i].target));
		if (!graph_computes(&g->node[i]))
			continue;
		struct finding_module m = {s, g, of_input, {0}};
		graph_operands(g, i, look_at_operand, &m);
		before = m.found.n ? m.found : before;
		q->node[q->n] = i;
		q->token[q->n] = token_of(g, i);
		q->module[q->n++] = before;
	}
}

static void seq_release(struct seq *q)
{
	free(q->node);
	free(q->token);
	free(q->module);
	free(q->used);
}

/* ---- equal pieces ---- */

struct run {
	uint32_t start, period, copies;
};

static uint32_t covers(struct run r) { return r.period * r.copies; }

/* The longest run with this period among what is in no block yet. */
static struct run run_of(const struct seq *q, uint32_t period)
{
	struct run best = {0, period, 0};
	uint32_t from = 0, equal = 0;
	for (uint32_t i = 0; i + period < q->n; i++) {
		if (q->token[i] != q->token[i + period] || q->used[i] || q->used[i + period]) {
			equal = 0;
			continue;
		}
		from = equal++ ? from : i;
		const uint32_t copies = equal / period + 1;
		if (equal >= period && copies > best.copies)
			best = (struct run){from, period, copies};
	}
	return best;
}

struct token_at {
	uint64_t token;
	uint32_t at;
};

static int by_token(const void *a, const void *b)
{
	const struct token_at *x = a, *y = b;
	return x->token != y->token ? (x->token > y->token) - (x->token < y->token) : (x->at > y->at) - (x->at < y->at);
}

/* How often each distance separates two equal nodes. */
static uint32_t *distances(const struct seq *q)
{
	uint32_t *count = xcalloc(q->n + 1u, sizeof(*count));
	FREED struct token_at *t = xcalloc(q->n + 1u, sizeof(*t));
	for (uint32_t i = 0; i < q->n; i++)
		t[i] = (struct token_at){q->token[i], i};
	if (q->n)
		qsort(t, q->n, sizeof(*t), by_token);
	for (uint32_t i = 0; i + 1 < q->n; i++)
		if (t[i].token == t[i + 1].token)
			count[t[i + 1].at - t[i].at]++;
	return count;
}

/* What covers most; of equals the shortest piece. */
static struct run best_run(const struct seq *q)
{
	struct run best = {0};
	FREED uint32_t *count = distances(q);
	for (unsigned tried = 0; tried < PERIODS_TRIED; tried++) {
		uint32_t most = 0;
		for (uint32_t p = NODES_LEAST; p < q->n; p++)
			most = count[p] > count[most] ? p : most;
		if (!most || !count[most])
			break;
		count[most] = 0;
		const struct run r = run_of(q, most);
		if (r.copies >= COPIES_LEAST && (covers(r) > covers(best) || (covers(r) == covers(best) && r.period < best.period)))
			best = r;
	}
	return best;
}

/* Where two paths part: "h.0.ln_1", "h.1.ln_1" -> the end of the component that differs. */
static size_t parts_at(struct slice a, struct slice b)
{
	size_t i = 0, end;
	while (i < a.n && i < b.n && a.p[i] == b.p[i])
		i++;
	while (i && a.p[i - 1] != '.')
		i--;
	for (end = i; end < a.n && a.p[end] != '.';)
		end++;
	return end;
}

/* "h.0 ... h.5": what differs in the modules of the first piece and the second. */
static struct slice block_name(struct slow *s, const struct seq *q, struct run r)
{
	for (uint32_t i = r.start; i < r.start + r.period; i++) {
		const struct slice a = q->module[i], b = q->module[i + r.period], z = q->module[i + r.period * (r.copies - 1)];
		if (!a.n || slice_eq(a, b) || slice_eq(b, z))
			continue;
		return slow_textf(s, "%.*s ... %.*s", (int)parts_at(a, b), a.p, (int)parts_at(z, a), z.p);
	}
	return slice_of(NULL, 0);
}

static struct slice first_line(struct slow *s, const struct graph *g, uint32_t node)
{
	struct slice rest = stack_of(g, node);
	struct srcloc at;
	if (!srcloc_next(&rest, &at))
		return slice_of(NULL, 0);
	const struct slice file = slice_base(at.file);
	return slow_textf(s, "%.*s:%u%s%.*s", SLN(file, 80), at.line, at.func.n ? " in " : "", SLN(at.func, 60));
}

static void find_blocks(struct slow *s, struct seq *q, uint32_t compile)
{
	for (unsigned n = 0; n < BLOCKS_MAX; n++) {
		const struct run r = best_run(q);
		if (!r.copies || covers(r) < SHARE_LEAST * q->n)
			return;
		PUSH(s, block) =
		    (struct slow_block){compile, r.period, r.copies, q->n, block_name(s, q, r), first_line(s, q->g, q->node[r.start])};
		for (uint32_t i = r.start; i < r.start + covers(r); i++)
			q->used[i] = true;
	}
}

/* ---- modules ---- */

static bool is_index(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]))
			return false;
	return s.n > 0;
}

/* "h.0.attn.c_attn" -> "h.*.attn": indices joined, without the leaf that has the parameters, unless that is asked for. */
static void put_joined(struct buf *b, struct slice path, bool leaf)
{
	const char *dot = slice_rchr(path, '.');
	if (dot && !leaf && !is_index(slice_of(dot + 1, (size_t)(path.p + path.n - dot - 1))))
		path.n = (size_t)(dot - path.p);
	while (path.n) {
		const struct slice one = slice_until(path, ".");
		if (is_index(one))
			buf_addc(b, '*');
		else
			buf_add_slice(b, one);
		path = one.n < path.n ? slice_of(path.p + one.n + 1, path.n - one.n - 1) : slice_of(NULL, 0);
		if (path.n)
			buf_addc(b, '.');
	}
}

/* The module, or the function where parameters tell none. */
static struct slice module_name(struct slow *s, const struct seq *q, uint32_t i, bool leaf)
{
	LOCAL_BUF b = {0};
	struct slice rest = stack_of(q->g, q->node[i]);
	struct srcloc at;
	if (q->module[i].n)
		put_joined(&b, q->module[i], leaf);
	else if (srcloc_next(&rest, &at))
		buf_addf(&b, "%.*s (%.*s)", SLN(at.func, 60), SLN(slice_base(at.file), 60));
	else
		buf_adds(&b, "(unknown)");
	return arena_slice(&s->arena, buf_slice(&b));
}

/* By parent and by leaf: what is shown are the parents, if there is more than one. */
struct module_table {
	struct intern names;
	ROWS(struct slow_module, row);
};

static struct slow_module *module_row(struct slow *s, struct module_table *t, const struct seq *q, uint32_t i, bool leaf)
{
	const uint32_t row = intern_add(&t->names, module_name(s, q, i, leaf));
	if (row == t->n_row)
		PUSH(t, row) = (struct slow_module){.name = arena_slice(&s->arena, intern_get(&t->names, row)),
						    .where = first_line(s, q->g, q->node[i])};
	return &t->row[row];
}

static void add_modules(struct slow *s, struct module_table table[2], const struct seq *q, uint32_t compile)
{
	const double each = q->n && compile != NONE ? s->grows[compile] / q->n : 0;
	for (uint32_t i = 0; i < q->n; i++)
		for (unsigned leaf = 0; leaf < 2; leaf++) {
			struct slow_module *m = module_row(s, &table[leaf], q, i, leaf);
			m->nodes++;
			m->seconds += each;
		}
}

static void take_modules(struct slow *s, struct module_table table[2])
{
	const unsigned take = table[0].n_row < 2;
	s->module = table[take].row;
	s->n_module = table[take].n_row;
	free(table[!take].row);
	for (unsigned i = 0; i < 2; i++)
		intern_release(&table[i].names);
}

static int longest_module(const void *a, const void *b)
{
	const struct slow_module *x = a, *y = b;
	return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds) : slice_cmp(x->name, y->name);
}

/* ---- equal graphs ---- */

struct whole {
	uint64_t hash;
	uint32_t compile, nodes;
};

static int by_hash(const void *a, const void *b)
{
	const struct whole *x = a, *y = b;
	return x->hash != y->hash ? (x->hash > y->hash) - (x->hash < y->hash) : (x->compile > y->compile) - (x->compile < y->compile);
}

static void add_twins(struct slow *s, struct whole *w, uint32_t n)
{
	if (n)
		qsort(w, n, sizeof(*w), by_hash);
	for (uint32_t i = 0, end; i < n; i = end) {
		struct slow_twins t = {s->n_twin_row, 0, w[i].nodes, 0};
		uint32_t last = NONE;
		for (end = i; end < n && w[end].hash == w[i].hash; end++) {
			if (w[end].compile == last) /* an attempt of the same */
				continue;
			last = PUSH(s, twin_row) = w[end].compile;
			const double seconds = s->x->facts->compile[last].seconds;
			t.seconds += seconds > 0 ? seconds : 0;
			t.n++;
		}
		if (t.n > 1)
			PUSH(s, twins) = t;
		else
			s->n_twin_row -= t.n;
	}
}

static int longest_twins(const void *a, const void *b)
{
	const struct slow_twins *x = a, *y = b;
	return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds)
					: (x->first > y->first) - (x->first < y->first);
}

void slow_blocks(struct slow *s)
{
	const struct facts *f = s->x->facts;
	struct module_table modules[2] = {0};
	struct whole *w = NULL;
	uint32_t n = 0, cap = 0;
	for (uint32_t i = 0; i < f->n_graph && s->graphs < GRAPHS_MAX; i++) {
		OWNED(graph_release) struct graph g = {0};
		struct seq q;
		struct err err;
		const struct fact_graph *r = &f->graph[i];
		if (!slice_is(facts_text(f, r->name), "dynamo_output_graph") || r->text == NONE || r->compile == NONE)
			continue;
		s->graphs++;
		if (fxcode_read(&g, facts_text(f, r->text), "dynamo_output_graph", &err) < 0) {
			s->unread++;
			continue;
		}
		seq_make(s, &q, &g, slice_is(facts_text(f, f->compile[r->compile].loc.function), "forward"));
		const struct fact_compile *c = &f->compile[r->compile];
		uint64_t hash = mix(mix(q.n, c->src.input), c->process);
		for (uint32_t k = 0; k < q.n; k++)
			hash = mix(hash, q.token[k]);
		if (q.n)
			PUSH_TO(w, n, cap) = (struct whole){hash, r->compile, q.n};
		add_modules(s, modules, &q, r->compile);
		find_blocks(s, &q, r->compile);
		seq_release(&q);
	}
	add_twins(s, w, n);
	free(w);
	take_modules(s, modules);
	if (s->n_module)
		qsort(s->module, s->n_module, sizeof(*s->module), longest_module);
	if (s->n_twins)
		qsort(s->twins, s->n_twins, sizeof(*s->twins), longest_twins);
}
