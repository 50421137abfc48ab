/* graph/graphdiff: recorded graphs against renamed and reordered copies of them, without and with one planted change. */
#include "graph/graphdiff.h"

#include "graph/fxcode.h"

#include "../../lib/test.h"

/* ---- recorded graphs ---- */

enum { GRAPHS = 600, SMALL = 3 };
static struct graph recorded[GRAPHS];
static uint32_t n_recorded;

static void keep_graph(struct slice text)
{
	struct graph g = {0};
	struct err err;
	if (n_recorded == GRAPHS || !slice_starts(text, "class ") || !slice_find(text, "def forward(") ||
	    fxcode_read(&g, text, "log", &err) < 0)
		return;
	if (graph_n_ops(&g) < SMALL)
		graph_release(&g);
	else
		recorded[n_recorded++] = g;
}

/* Payloads of a log: its lines that begin with a tab. */
static void read_log(const char *name)
{
	LOCAL_BUF log = {0};
	LOCAL_BUF payload = {0};
	struct slice line;
	assert_true(data_load(name, &log));
	for (struct slice rest = buf_slice(&log); slice_line(&rest, &line);) {
		if (line.n && line.p[0] == '\t') {
			buf_add(&payload, line.p + 1, line.n - 1);
			buf_addc(&payload, '\n');
			continue;
		}
		keep_graph(buf_slice(&payload));
		buf_reset(&payload);
	}
	keep_graph(buf_slice(&payload));
}

static int setup(void **state)
{
	static const char *const log[] = {
	    "models", "big", "mix", "hop", "training", "dynamic", "custom_op", "v215_hop", "compiled_autograd", "aoti"};
	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(log); i++) {
		FREED char *name = xasprintf("traces/%s.log.xz", log[i]);
		read_log(name);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < n_recorded; i++)
		graph_release(&recorded[i]);
	n_recorded = 0;
	return 0;
}

/* ---- copies ---- */

enum plant {
	PLANT_NONE,
	PLANT_REMOVE,
	PLANT_ADD,
	PLANT_TARGET,
	PLANT_INPUT,
	PLANT_CONSTANT,
	PLANT_DTYPE,
	PLANT_STRIDE,
	PLANT_SHAPE,
	PLANTS
};
static const char *const plant_name[PLANTS] = {"nothing",          "removed",       "added",         "retargeted",   "another input",
					       "another argument", "another dtype", "other strides", "another shape"};

struct copy {
	const struct graph *from;
	struct graph g;
	uint32_t *map; /* node of from -> node of g */
	enum plant plant;
	uint32_t at; /* node of from that is changed, NONE */
	uint32_t added;
	uint64_t seed;
};

static bool is_ready(void *user, uint32_t operand) { return ((const uint32_t *)user)[operand] != NONE; }

/* Every change also to the operands of the copy's own: a node that was removed is its first operand. */
static void copy_node(struct copy *c, uint32_t m, uint32_t node, uint32_t number)
{
	char name[32];
	c->map[node] = graph_copy_node(&c->g, m, c->from, node, c->map);
	struct gnode *n = &c->g.node[c->map[node]];
	snprintf(name, sizeof(name), "v%u", number);
	if (n->op != GRAPH_OUTPUT)
		n->name = graph_intern(&c->g, slice_str(name));
	if (n->op == GRAPH_PLACEHOLDER)
		n->target = n->name;
	n->stack = NONE;
}

static uint32_t first_operand(const struct graph *g, uint32_t node)
{
	const struct gnode *n = &g->node[node];
	return n->n_args && g->value[n->args].kind == GV_NODE ? g->value[n->args].node : NONE;
}

static void plant_after(struct copy *c, uint32_t m)
{
	uint32_t id = c->map[c->at];
	struct gnode *n = &c->g.node[id];
	struct gmeta *meta = n->meta == NONE ? NULL : &c->g.meta[n->meta];
	switch (c->plant) {
	case PLANT_TARGET: n->target = graph_intern(&c->g, SLICE("torch.ops.aten.planted.default")); break;
	case PLANT_INPUT: {
		/* Any node before it, but not the same. */
		uint32_t first = c->g.module[m].first, was = c->g.value[n->args].node, to = was;
		for (uint32_t i = first; i < id; i++)
			if (i != was && c->g.node[i].op != GRAPH_GET_ATTR && pick(&c->seed, 3) == 0)
				to = i;
		c->g.value[n->args].node = to;
		if (to == was)
			c->plant = PLANT_NONE;
		break;
	}
	case PLANT_CONSTANT: {
		struct gvalue v[16];
		uint32_t args = n->n_args < ARRAY_LEN(v) - 1 ? n->n_args : ARRAY_LEN(v) - 1;
		memcpy(v, &c->g.value[n->args], args * sizeof(*v));
		v[args] = graph_int_value(12345);
		n->n_args = 0;
		graph_set_args(&c->g, id, v, args + 1);
		break;
	}
	case PLANT_DTYPE: meta->dtype = meta->dtype == DTYPE_F64 ? DTYPE_F16 : DTYPE_F64; break;
	case PLANT_STRIDE:
	case PLANT_SHAPE: {
		uint32_t k = meta->dim + (c->plant == PLANT_STRIDE ? meta->n_dim : 0);
		c->g.dim[k] = symsize_int(4242);
		break;
	}
	case PLANT_ADD: {
		c->added = graph_add_node(&c->g, m, GRAPH_CALL_FUNCTION, SLICE("planted"), SLICE("torch.ops.aten.planted.default"));
		graph_set_args(&c->g, c->added, (struct gvalue[]){graph_node_value(id)}, 1);
		c->map[c->at] = c->added; /* for what reads it from here on */
		break;
	}
	default: break;
	}
}

static void copy_module(struct copy *c, uint32_t module)
{
	const struct gmodule *o = &c->from->module[module];
	uint32_t m = graph_add_module(&c->g, o->parent, graph_text(c->from, o->name), graph_text(c->from, o->class_name));
	graph_copy_attrs(&c->g, m, c->from, module);
	uint32_t *left = xcalloc(o->n + 1, sizeof(*left)), n = 0, number = 0;
	for (uint32_t i = o->first; i < o->first + o->n; i++)
		if (i != o->output)
			left[n++] = i;
	while (n) {
		/* One whose operands are there. */
		uint32_t k = pick(&c->seed, n);
		while (!graph_operands(c->from, left[k], is_ready, c->map))
			k = (k + 1) % n;
		uint32_t node = left[k];
		memmove(left + k, left + k + 1, (--n - k) * sizeof(*left));
		if (node == c->at && c->plant == PLANT_REMOVE) {
			c->map[node] = c->map[first_operand(c->from, node)];
			continue;
		}
		copy_node(c, m, node, number++);
		if (node == c->at)
			plant_after(c, m);
	}
	copy_node(c, m, o->output, number);
	free(left);
}

static void make_copy(struct copy *c, const struct graph *from, enum plant plant, uint32_t at, uint64_t seed)
{
	struct err err;
	*c = (struct copy){.from = from, .plant = plant, .at = at, .added = NONE, .seed = seed};
	c->map = xcalloc(from->n_nodes + 1, sizeof(*c->map));
	for (uint32_t i = 0; i < from->n_nodes; i++)
		c->map[i] = NONE;
	for (uint32_t i = 0; i < from->n_modules; i++)
		copy_module(c, i);
	if (graph_finish(&c->g, &err) < 0)
		fail_msg("%s", err.text);
}

static void release_copy(struct copy *c)
{
	graph_release(&c->g);
	free(c->map);
}

/* ---- tests ---- */

static void test_copies(void **state)
{
	uint32_t empty = 0, exact = 0, nodes = 0, big = 0;
	(void)state;
	for (uint32_t i = 0; i < n_recorded; i++) {
		struct copy c;
		struct graphdiff d;
		make_copy(&c, &recorded[i], PLANT_NONE, NONE, i + 1);
		graphdiff_run(&d, &recorded[i], &c.g);
		empty += d.n_row == 0;
		big = recorded[i].n_nodes > big ? (uint32_t)recorded[i].n_nodes : big;
		if (d.n_row)
			print_message("# graph %u, %zu nodes: %u rows, first: %s '%.*s'\n", i, recorded[i].n_nodes, d.n_row,
				      graphdiff_kind_name[d.row[0].kind], SL(d.row[0].a == NONE ? SLICE("") : graph_name(d.a, d.row[0].a)));
		for (uint32_t k = 0; k < recorded[i].n_nodes; k++, nodes++)
			exact += d.match[0][k] == c.map[k];
		graphdiff_release(&d);
		release_copy(&c);
	}
	print_message(
	    "# %u graphs of up to %u nodes: %u of their copies without a difference; %u of %u nodes matched with their own copy\n",
	    n_recorded, big, empty, exact, nodes);
	assert_true(n_recorded >= 20);
	assert_int_equal(empty, n_recorded);
}

static bool can_plant(const struct graph *g, uint32_t node, enum plant plant)
{
	const struct gnode *n = &g->node[node];
	const struct gmeta *m = n->meta == NONE ? NULL : &g->meta[n->meta];
	if (!graph_computes(n) || first_operand(g, node) == NONE)
		return false;
	/* Nothing reads it: it can be anything. */
	if (g->user_of[node] == g->user_of[node + 1] && plant != PLANT_REMOVE)
		return false;
	if (plant >= PLANT_DTYPE)
		return m && m->kind == GMETA_TENSOR && m->n_dim && (plant != PLANT_STRIDE || m->has_stride);
	return plant != PLANT_TARGET || n->op == GRAPH_CALL_FUNCTION;
}

static enum graphdiff_kind wanted(enum plant plant)
{
	static const enum graphdiff_kind kind[PLANTS] = {
	    [PLANT_REMOVE] = GRAPHDIFF_REMOVED, [PLANT_ADD] = GRAPHDIFF_ADDED,          [PLANT_TARGET] = GRAPHDIFF_TARGET,
	    [PLANT_INPUT] = GRAPHDIFF_INPUTS,   [PLANT_CONSTANT] = GRAPHDIFF_CONSTANTS, [PLANT_DTYPE] = GRAPHDIFF_DTYPE,
	    [PLANT_STRIDE] = GRAPHDIFF_STRIDE,  [PLANT_SHAPE] = GRAPHDIFF_SHAPE};
	return kind[plant];
}

/* 2: the change, and the very node; 1: one change of that kind, at another node of the same operator; 0: anything else. */
static int named(const struct graphdiff *d, const struct copy *c)
{
	const struct graphdiff_row *own = NULL;
	for (uint32_t i = 0; i < d->n_row && !own; i++)
		own = d->row[i].cause == NONE ? &d->row[i] : NULL;
	if (d->own != 1 || own->kind != wanted(c->plant))
		return 0;
	if (c->plant == PLANT_ADD ? own->b == c->added : own->a == c->at)
		return 2;
	if (c->plant == PLANT_ADD)
		return 0;
	return d->a->node[own->a].op == d->a->node[c->at].op && graph_op_text(d->a, own->a).n == graph_op_text(d->a, c->at).n;
}

static void test_plants(void **state)
{
	const bool every = getenv("PT2_LONG") != NULL;
	uint32_t all[PLANTS] = {0}, exact[PLANTS] = {0}, alike[PLANTS] = {0};
	(void)state;
	for (uint32_t i = 0; i < n_recorded; i++)
		for (uint32_t node = 0; node < recorded[i].n_nodes; node++)
			for (enum plant plant = PLANT_REMOVE; plant < PLANTS; plant++) {
				uint64_t seed = i * 1000003ull + node * 17 + plant;
				struct copy c;
				struct graphdiff d;
				if (!can_plant(&recorded[i], node, plant) || (!every && pick(&seed, (uint32_t)recorded[i].n_nodes / 2 + 1)))
					continue;
				make_copy(&c, &recorded[i], plant, node, seed);
				if (c.plant == PLANT_NONE) {
					release_copy(&c);
					continue;
				}
				graphdiff_run(&d, &recorded[i], &c.g);
				int how = named(&d, &c);
				all[plant]++;
				exact[plant] += how == 2;
				alike[plant] += how == 1;
				if (how < 2 && getenv("PT2_SHOW")) {
					print_message("# graph %u: %s: %.*s (%.*s), %u rows, %u own:\n", i, plant_name[plant],
						      SL(graph_name(&recorded[i], node)), SL(graph_op_text(&recorded[i], node)), d.n_row,
						      d.own);
					for (uint32_t r = 0; r < d.n_row && r < 8; r++)
						if (d.row[r].cause == NONE)
							print_message("#     %s %.*s %.*s: %.*s -> %.*s\n",
								      graphdiff_kind_name[d.row[r].kind],
								      SL(d.row[r].a == NONE ? SLICE("-") : graph_name(d.a, d.row[r].a)),
								      SL(d.row[r].b == NONE ? SLICE("-") : graph_name(d.b, d.row[r].b)),
								      SL(d.row[r].before), SL(d.row[r].after));
				}
				graphdiff_release(&d);
				release_copy(&c);
			}
	for (enum plant plant = PLANT_REMOVE; plant < PLANTS; plant++) {
		print_message("# %s: %u of %u named exactly, %u more at another node of the same operator\n", plant_name[plant],
			      exact[plant], all[plant], alike[plant]);
		assert_true(all[plant] > 0);
	}
	/* Of two nodes that nothing tells apart, and of detach(detach(x)), either may be the one that is gone. */
	for (enum plant plant = PLANT_REMOVE; plant < PLANTS; plant++) {
		assert_true(100 * (exact[plant] + alike[plant]) >= 98 * all[plant]);
		assert_true(plant < PLANT_DTYPE || exact[plant] == all[plant]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_plants)};
	return (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests_name(__FILE__, tests, setup, teardown));
}
