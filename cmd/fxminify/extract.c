/* extract.c - fxminify extract: the graph around a node, or between two values, as a standalone program with the recorded values. */
#include "session.h"

#include "base/process/child.h"
#include "base/tool/diag.h"
#include "base/text.h"

struct extract {
	struct session s;
	struct units units;
	uint64_t *keep;     /* units */
	bool *back, *forth; /* nodes reached */
	bool with_values;
};

/* ---- which nodes ---- */

/* Suggests the nodes whose names contain the text. */
static void die_unknown(const struct extract *x, const char *name)
{
	const struct graph *g = &x->s.in.repro.graph;
	struct buf near = {0};
	unsigned n = 0;
	for (int any = 0; any < 2 && !n; any++)
		for (uint32_t i = 0; i < g->module[0].n && n < 8; i++)
			if (g->node[i].op != GRAPH_OUTPUT && (any || slice_find(graph_name(g, i), name)))
				buf_addf(&near, "%s%.*s", n++ ? ", " : "", SL(graph_name(g, i)));
	die(EXIT_USAGE, "'%s' has no node '%s'; it has %s%s", x->s.in.path, name, buf_str(&near), n == 8 ? ", ..." : "");
}

static uint32_t find_node(const struct extract *x, const char *name)
{
	const struct graph *g = &x->s.in.repro.graph;
	const uint32_t node = graph_find(g, 0, slice_str(name));
	if (node == NONE || g->node[node].op == GRAPH_OUTPUT)
		die_unknown(x, name);
	return node;
}

static bool reach_operand(void *user, uint32_t operand)
{
	((bool *)user)[operand] = true;
	return true;
}

/* Nodes are in execution order: one pass is enough. */
static void reach_back(struct extract *x, uint32_t node)
{
	const struct graph *g = &x->s.in.repro.graph;
	x->back[node] = true;
	for (uint32_t i = node + 1; i-- > 0;)
		if (x->back[i])
			graph_operands(g, i, reach_operand, x->back);
}

static void reach_forth(struct extract *x, uint32_t node)
{
	const struct graph *g = &x->s.in.repro.graph;
	x->forth[node] = true;
	for (uint32_t i = node; i < g->module[0].first + g->module[0].n; i++)
		for (uint32_t k = g->user_of[i]; x->forth[i] && k < g->user_of[i + 1]; k++)
			x->forth[g->user[k]] = true;
}

static void add_unit(struct extract *x, uint32_t node)
{
	if (x->units.of[node] != NONE)
		bit_add(x->keep, x->units.of[node]);
}

/* The nodes that depend on `from` (exclusive) and lead to `to` (inclusive). */
static void take_between(struct extract *x)
{
	const struct fxminify_options *o = x->s.o;
	const struct gmodule *root = &x->s.in.repro.graph.module[0];
	const uint32_t from = o->from ? find_node(x, o->from) : NONE, to = o->to ? find_node(x, o->to) : NONE;
	if (from != NONE)
		reach_forth(x, from);
	if (to != NONE)
		reach_back(x, to);
	for (uint32_t i = root->first; i < root->first + root->n; i++)
		if ((from == NONE || x->forth[i]) && (to == NONE || x->back[i]) && i != from)
			add_unit(x, i);
	if (from != NONE && to != NONE && (!x->forth[to] || from == to))
		die(EXIT_USAGE, "'%s' does not depend on '%s': there is nothing between them", o->to, o->from);
}

struct around {
	struct extract *x;
	uint32_t *todo;
	size_t n;
};

static bool add_around(void *user, uint32_t node)
{
	struct around *a = user;
	if (!a->x->back[node]) {
		a->x->back[node] = true;
		a->todo[a->n++] = node;
	}
	return true;
}

/* Level by level. Inputs are not crossed: their other users are unrelated to the node. */
static void take_around(struct extract *x)
{
	const struct graph *g = &x->s.in.repro.graph;
	struct around a = {x, xreallocarray(NULL, g->n_nodes + 1, sizeof(uint32_t)), 0};
	const uint32_t start = find_node(x, x->s.o->node);
	size_t at = 0;
	add_around(&a, start);
	for (int level = 0; level <= x->s.o->radius && at < a.n; level++)
		for (size_t end = a.n; at < end; at++) {
			const uint32_t i = a.todo[at];
			add_unit(x, i);
			if (level == x->s.o->radius || (!graph_computes(&g->node[i]) && i != start))
				continue;
			graph_operands(g, i, add_around, &a);
			for (uint32_t k = g->user_of[i]; k < g->user_of[i + 1]; k++)
				add_around(&a, g->user[k]);
		}
	free(a.todo);
}

/* ---- values ---- */

/* Runs the whole graph once. Without a Python that can, inputs only have shapes. */
static void record(struct extract *x)
{
	struct session *s = &x->s;
	struct outcome out;
	struct err err;
	int status = torch_open(s, &err);
	if (status == 0)
		status = torch_record(s, &out, &err);
	if (child_signalled()) {
		session_close(s);
		exit(128 + child_signalled());
	}
	if (status == 1)
		x->with_values = true;
	else if (status == 0)
		warn("input values are random, not recorded: the graph %s: %.*s", outcome_words[out.kind],
		     SL(slice_first_line(out.detail)));
	else
		warn("input values are random, not recorded: %s", err.text);
}

/* ---- the program ---- */

/* The requested form, else plain if that can express it. */
static int write_extract(struct extract *x, const struct candidate *c, const struct repro_given *given, struct err *err)
{
	struct result *r = &x->s.result;
	r->form = x->s.o->form < 0 ? FORM_PLAIN : (enum form)x->s.o->form;
	r->check = x->s.in.repro.accuracy.n && !slice_is(x->s.in.repro.accuracy, "False") ? REPRO_CHECK_SAME : REPRO_CHECK_RUNS;
	int status = result_write(r, c, given, err);
	if (status < 0 && err->status == EXIT_INPUT && x->s.o->form < 0) {
		buf_addf(&r->more, "not a plain program: %s", err->text);
		report_row(&x->s.report, "form", "%s", buf_str(&r->more));
		r->form = FORM_LAUNCHER;
		status = result_write(r, c, given, err);
	}
	return status;
}

/* The note at the top of the result records how it behaves. */
static int try_it(struct extract *x, const struct candidate *c, const struct repro_given *given, struct err *err)
{
	struct session *s = &x->s;
	struct outcome out;
	struct err why;
	if (!x->with_values || s->o->no_verify || !result_is_program(s->result.path))
		return 0;
	s->runner.best.line = c->line;
	s->runner.best.n_lines = c->n_lines;
	const int status = torch_try(s, s->result.path, c, &out, &why);
	s->runner.best.line = NULL;
	s->runner.best.n_lines = 0;
	if (status < 0) {
		report_row(&s->report, "verified", "no: could not be run: %s", why.text);
		return 0;
	}
	buf_addf(&s->result.verified, "%s in a fresh process with all caches off",
		 out.kind == OUTCOME_PASSES ? "runs" : outcome_words[out.kind]);
	report_row(&s->report, "verified", "it %s%s%s", buf_str(&s->result.verified), s->result.error.len ? ": " : "",
		   buf_str(&s->result.error));
	return write_extract(x, c, given, err);
}

/* An input that the whole graph returns is not a result of the part. */
static int drop_inputs(struct candidate *c, struct err *err)
{
	struct graph *g = &c->graph;
	const uint32_t out = g->module[0].output;
	const struct gvalue all = g->value[g->node[out].args];
	FREED struct gvalue *kept = xcalloc(all.n + 1, sizeof(*kept));
	size_t n = 0;
	for (uint32_t i = 0; gvalue_has_children(all) && i < all.n; i++) {
		const struct gvalue v = g->value[all.first + i];
		if (v.kind == GV_NODE && g->node[v.node].op != GRAPH_PLACEHOLDER)
			kept[n++] = v;
	}
	if (n && n < all.n) {
		const struct gvalue tuple = graph_sequence(g, (enum gvalue_kind)all.kind, kept, n);
		graph_set_args(g, out, &tuple, 1);
	}
	return graph_finish(g, err);
}

static int extract(struct extract *x, struct err *err)
{
	struct session *s = &x->s;
	struct candidate c;
	struct repro_given *given = NULL;
	struct err ignored, why = {0};
	/* If it was run, the graph now has metadata of all values: it is known which of them can become inputs. */
	if (!x->with_values)
		session_shapes(s, &why);
	const size_t asked = bits_count(x->keep, x->units.n);
	slice_close(&s->in.repro.graph, &x->units, NULL, false, x->keep);
	const size_t more = bits_count(x->keep, x->units.n) - asked;
	if (more)
		report_row(&s->report, "note", "included %zu more operation%s, whose values cannot be inputs%s%s", more, plural(more),
			   why.text[0] ? ": " : "", why.text);
	if (candidate_cut(&c, &s->in.repro, &x->units, x->keep, NULL, err) < 0)
		return -1;
	if (drop_inputs(&c, err) < 0) {
		candidate_release(&c);
		return -1;
	}
	if (x->with_values && torch_given(s, &c, false, &given, &ignored) < 0) {
		warn("input values are random, not recorded: %s", ignored.text);
		x->with_values = false;
	}
	int status = write_extract(x, &c, given, err);
	if (status == 0)
		status = try_it(x, &c, given, err);
	if (status == 0)
		report_row(&s->report, "result", "%s: %zu of %zu operations, %zu input%s", s->result.path, c.ops,
			   graph_n_ops(&s->in.repro.graph), c.n_feeds, plural(c.n_feeds));
	free(given);
	candidate_release(&c);
	return status;
}

int extract_run(const struct fxminify_options *o, const char *path, const char *const *argv)
{
	struct extract x = {0};
	struct err err;
	session_prepare(&x.s, o, path, argv, "extract");
	const struct graph *g = &x.s.in.repro.graph;
	units_find(g, &x.units);
	x.keep = xcalloc(bits_words(x.units.n), sizeof(*x.keep));
	x.back = xcalloc(g->n_nodes + 1, sizeof(*x.back));
	x.forth = xcalloc(g->n_nodes + 1, sizeof(*x.forth));
	o->node ? take_around(&x) : take_between(&x);
	if (!bits_count(x.keep, x.units.n))
		die(EXIT_USAGE, "the requested part has no operation");
	if (!o->no_values)
		record(&x);
	int status = extract(&x, &err);
	if (status < 0)
		warn("%s", err.text);
	status = status < 0 ? (int)err.status : x.with_values || o->no_values ? EXIT_FINE : EXIT_PARTIAL;
	units_release(&x.units);
	free(x.keep);
	free(x.back);
	free(x.forth);
	session_close(&x.s);
	return status;
}
