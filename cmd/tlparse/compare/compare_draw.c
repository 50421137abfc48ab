/* compare_draw.c - two graphs as one drawing: a node of both is in it once. docs/formats/REPORT.md has the form. */
#include "compare/compare_part.h"
#include "base/json.h"
#include "graph/fxcode.h"

enum tone { TONE_SAME, TONE_ADDED, TONE_REMOVED, TONE_CHANGED, TONE_FOLLOWS };

struct drawing {
	const struct graphdiff *d;
	uint32_t *id[2]; /* of each node in the drawing */
	uint8_t *tone;
	uint32_t n;
	struct json_out *o;
	uint32_t from; /* the node whose operands are listed */
	unsigned side;
};

/* In the order of the graph after; nodes that are gone come before what followed them. */
static void number_nodes(struct drawing *w)
{
	const struct graphdiff *d = w->d;
	uint32_t next = 0;
	for (uint32_t i = 0; i < d->b->n_nodes; i++) {
		uint32_t a = d->match[1][i];
		for (; a != NONE && next < a; next++)
			if (d->match[0][next] == NONE)
				w->id[0][next] = w->n++;
		next = a != NONE && next == a ? next + 1 : next;
		w->id[1][i] = w->n;
		if (a != NONE)
			w->id[0][a] = w->n;
		w->n++;
	}
	for (; next < d->a->n_nodes; next++)
		if (d->match[0][next] == NONE)
			w->id[0][next] = w->n++;
}

static void tone_nodes(struct drawing *w)
{
	const struct graphdiff *d = w->d;
	for (uint32_t i = 0; i < d->a->n_nodes; i++)
		if (d->match[0][i] == NONE)
			w->tone[w->id[0][i]] = TONE_REMOVED;
	for (uint32_t i = 0; i < d->b->n_nodes; i++)
		if (d->match[1][i] == NONE)
			w->tone[w->id[1][i]] = TONE_ADDED;
	for (uint32_t i = 0; i < d->n_row; i++) {
		const struct graphdiff_row *r = &d->row[i];
		if (r->a == NONE || r->b == NONE)
			continue;
		uint8_t *t = &w->tone[w->id[1][r->b]];
		*t = r->cause == NONE ? TONE_CHANGED : *t == TONE_SAME ? TONE_FOLLOWS : *t;
	}
}

/* The node after, or before if it is gone. */
static unsigned side_of(const uint32_t *node, uint32_t i) { return node[2 * i + 1] == NONE; }

static bool put_edge(void *user, uint32_t operand)
{
	struct drawing *w = user;
	json_out_u64(w->o, w->id[w->side][operand]);
	json_out_u64(w->o, w->from);
	return true;
}

/* Edges of one side; those of before only from or to a node that is gone, or of a node with other inputs. */
static void put_edges(struct drawing *w, unsigned side)
{
	const struct graph *g = side ? w->d->b : w->d->a;
	w->side = side;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		w->from = w->id[side][i];
		if (side || w->tone[w->from] != TONE_SAME)
			graph_operands(g, i, put_edge, w);
	}
}

static void put_kernels(struct json_out *o, const struct compare_boxes *boxes, const uint32_t *node, uint32_t n)
{
	static const char *const names[2] = {"kernels_before", "kernels"}, *const of[2] = {"kernel_before", "kernel"};
	for (unsigned side = 0; side < 2; side++) {
		json_member_arr(o, names[side]);
		for (uint32_t i = 0; i < boxes->n[side]; i++)
			json_out_str(o, boxes->name[side][i]);
		json_close(o);
		json_member_arr(o, of[side]);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = node[2 * i + side] == NONE ? NONE : boxes->kernel[side][node[2 * i + side]];
			json_out_i64(o, k == NONE ? -1 : (int64_t)k);
		}
		json_close(o);
	}
}

struct slice compare_draw(struct compare *c, const struct graphdiff *d, const struct compare_boxes *boxes)
{
	const struct graph *g[2] = {d->a, d->b};
	size_t n = d->a->n_nodes + d->b->n_nodes;
	if (n > 2 * COMPARE_DRAWN || c->drawn > COMPARE_DRAWN_BYTES)
		return slice_of("", 0);
	LOCAL_BUF b = {0};
	LOCAL_BUF text = {0};
	struct json_out o = {.b = &b};
	struct drawing w = {.d = d, .o = &o, .tone = xcalloc(n + 1, 1)};
	OWNED(intern_release) struct intern ops = {0};
	for (unsigned s = 0; s < 2; s++)
		w.id[s] = xcalloc(g[s]->n_nodes + 1, sizeof(*w.id[s]));
	number_nodes(&w);
	tone_nodes(&w);
	uint32_t *node = xcalloc(2 * n + 2, sizeof(*node)); /* of each in the drawing: before, after */
	memset(node, 0xff, 2 * n * sizeof(*node));
	for (unsigned s = 0; s < 2; s++)
		for (uint32_t i = 0; i < g[s]->n_nodes; i++)
			node[2 * w.id[s][i] + s] = i;
	json_obj(&o);
	json_member_arr(&o, "name");
	for (uint32_t i = 0; i < w.n; i++)
		json_out_str(&o, graph_name(g[!side_of(node, i)], node[2 * i + !side_of(node, i)]));
	json_close(&o);
	json_member_arr(&o, "op");
	for (uint32_t i = 0; i < w.n; i++) {
		const struct graph *of = g[!side_of(node, i)];
		uint32_t k = node[2 * i + !side_of(node, i)];
		json_out_u64(
		    &o, intern_add(&ops, graph_computes(&of->node[k]) ? graph_op_text(of, k) : slice_str(graph_op_name(of->node[k].op))));
	}
	json_close(&o);
	json_member_arr(&o, "ops");
	for (uint32_t i = 0; i < ops.n; i++)
		json_out_str(&o, intern_get(&ops, i));
	json_close(&o);
	json_member_arr(&o, "meta");
	for (uint32_t i = 0; i < w.n; i++) {
		const struct graph *of = g[!side_of(node, i)];
		buf_reset(&text);
		fxcode_meta(of, of->node[node[2 * i + !side_of(node, i)]].meta, &text);
		json_out_str(&o, buf_slice(&text));
	}
	json_close(&o);
	json_member_arr(&o, "tone");
	for (uint32_t i = 0; i < w.n; i++)
		json_out_u64(&o, w.tone[i]);
	json_close(&o);
	json_member_arr(&o, "edges_before");
	put_edges(&w, 0);
	json_close(&o);
	json_member_arr(&o, "edges");
	put_edges(&w, 1);
	json_close(&o);
	if (boxes)
		put_kernels(&o, boxes, node, w.n);
	json_close(&o);
	for (unsigned s = 0; s < 2; s++)
		free(w.id[s]);
	free(w.tone);
	free(node);
	c->drawn += b.len;
	return arena_slice(&c->arena, buf_slice(&b));
}
