/* interp_flex.c - flex_attention, as eager computes it (torch 2.13, torch/_higher_order_ops/flex_attention.py, math_attention):
 *
 *     flex_attention(query, key, value, score_mod, (..., mask_mod), scale, kernel_options, score_mod's tensors, mask_mod's tensors)
 *
 * score_mod(score, b, h, q, kv, ...) and mask_mod(b, h, q, kv, ...) are subgraphs for one element. They run once, with the elements of all
 * four dims as lanes (interp_vmap.c): the block mask, which only skips work, is not read. Results: the output, logsumexp and the greatest
 * score in base 2. */
#include "aten/interp/interp_part.h"

#include <math.h>

enum { FLEX_LEVELS = 4, FLEX_INPUTS = 4096 };

/* The operand that is a subgraph; of a list, its last item. NONE: there is none. */
static uint32_t subgraph_of(const struct graph *g, uint32_t node, uint32_t at)
{
	const struct gnode *n = &g->node[node];
	struct gvalue v = at < n->n_args ? g->value[n->args + at] : (struct gvalue){0};
	if ((v.kind == GV_LIST || v.kind == GV_TUPLE) && v.n)
		v = g->value[v.first + v.n - 1];
	return v.kind == GV_NODE && g->node[v.node].op == GRAPH_GET_ATTR ? graph_child(g, n->module, graph_text(g, g->node[v.node].target))
									 : NONE;
}

/* All four for the score, one for each index. */
static void levels_of_inputs(const struct graph *g, uint32_t module, bool score, uint32_t *of)
{
	const uint32_t each[] = {(1 << FLEX_LEVELS) - 1, 1, 2, 4, 8};
	for (uint32_t i = 0; module != NONE && i < g->module[module].n && i + !score < ARRAY_LEN(each); i++)
		if (g->node[g->module[module].first + i].op == GRAPH_PLACEHOLDER)
			of[g->module[module].first + i] = each[i + !score];
}

bool interp_is_flex(const struct graph *g, uint32_t node)
{
	return g->node[node].op == GRAPH_CALL_FUNCTION &&
	       slice_is(graph_text(g, g->node[node].target), "torch.ops.higher_order.flex_attention");
}

void interp_flex_levels(const struct graph *g, uint32_t node, uint32_t *of)
{
	levels_of_inputs(g, subgraph_of(g, node, 3), true, of);
	levels_of_inputs(g, subgraph_of(g, node, 4), false, of);
}

/* ---- one after the other: each replaces *x ---- */

struct flex {
	struct activation *a;
	struct interp *run;
	struct aten_value arg[9];
};

static int step(struct flex *f, const char *op, struct aten_value *x, const struct aten_value *more, size_t n)
{
	struct aten_value arg[5] = {*x}, out;
	memcpy(arg + 1, more, n * sizeof(*more));
	if (interp_aten(f->run, slice_str(op), arg, n + 1, &out) < 0)
		return -1;
	aten_value_release(x);
	*x = out;
	return 0;
}
#define STEP(f, op, x, ...) \
	step(f, op, x, (const struct aten_value[]){__VA_ARGS__}, \
	     sizeof((const struct aten_value[]){__VA_ARGS__}) / sizeof(struct aten_value))

/* The value of a module's only output, with all four levels: broadcast to the scores. */
static int run_module(struct flex *f, uint32_t module, const struct aten_value *first, size_t n, const struct aten_value *more,
		      const struct aten_tensor *scores, struct aten_value *out)
{
	const struct graph *g = f->run->g;
	struct aten_value *in = xcalloc(FLEX_INPUTS, sizeof(*in)), list;
	const size_t n_more = more->kind == ATEN_LIST ? more->n : 0;
	int r = n + n_more > FLEX_INPUTS ? interp_bad(f->run, "too many operands") : 0;
	memcpy(in, first, n * sizeof(*in));
	for (size_t i = 0; !r && i < n_more; i++)
		in[n + i] = more->item[i];
	if (!r)
		r = interp_call(f->run, module, in, n + n_more, &list);
	free(in);
	if (r)
		return r;
	const struct gnode *o = &g->node[g->module[module].output];
	struct gvalue v = g->value[o->args];
	if ((v.kind == GV_TUPLE || v.kind == GV_LIST) && v.n == 1)
		v = g->value[v.first];
	const uint32_t has = v.kind == GV_NODE ? f->run->levels[v.node] : 0;
	struct aten_tensor *t = NULL;
	if (list.n != 1 || list.item[0].kind != ATEN_TENSOR || list.item[0].tensor->n_dim != __builtin_popcount(has)) {
		r = interp_bad(f->run, "its subgraph does not return one element");
	} else {
		ATEN_TRY("flex_attention")
		{
			const struct aten_tensor *from = list.item[0].tensor;
			int64_t size[FLEX_LEVELS], stride[FLEX_LEVELS];
			for (int d = 0, k = 0; d < FLEX_LEVELS; d++) {
				stride[d] = has & (1u << d) ? from->stride[k++] : 0;
				size[d] = scores->size[d];
			}
			t = aten_keep(aten_view(from, FLEX_LEVELS, size, stride, from->offset));
		}
		r = ATEN_END ? interp_bad(f->run, "%s", aten_last_error()) : 0;
	}
	aten_value_release(&list);
	return r ? r : (*out = aten_of(t), 0);
}

/* query @ key^T * scale in float32 (float64: in that), with the heads of the query. */
static int raw_scores(struct flex *f, struct aten_value *key, struct aten_value *value, struct aten_value *scores)
{
	struct aten_tensor *q = f->arg[0].tensor, *k = f->arg[1].tensor;
	const struct aten_value wide = aten_dtype(q->dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32);
	if (q->n_dim != 4 || k->n_dim != 4 || f->arg[2].tensor->n_dim != 4 || !k->size[1] || q->size[1] % k->size[1])
		return interp_bad(f->run, "query, key and value do not have 4 dims and matching heads");
	const int64_t times = q->size[1] / k->size[1];
	struct aten_value *const both[] = {key, value};
	for (size_t i = 0; i < 2; i++) {
		if (interp_share(f->run, f->arg[1 + i], both[i]) < 0 ||
		    (times > 1 && STEP(f, "aten.repeat_interleave.self_int", both[i], aten_int(times), aten_int(1)) < 0))
			return -1;
		struct aten_value size[4] = {aten_int(q->size[0]), aten_int(-1), aten_int(-1), aten_int(-1)};
		if (STEP(f, "aten.expand.default", both[i], ((struct aten_value){.kind = ATEN_LIST, .n = 4, .item = size})) < 0)
			return -1;
	}
	struct aten_value turned = {.kind = ATEN_NONE};
	int r = interp_share(f->run, *key, &turned);
	if (!r)
		r = STEP(f, "aten.to.dtype", &turned, wide);
	if (!r)
		r = STEP(f, "aten.transpose.int", &turned, aten_int(-2), aten_int(-1));
	if (!r)
		r = interp_share(f->run, f->arg[0], scores);
	if (!r)
		r = STEP(f, "aten.to.dtype", scores, wide);
	if (!r)
		r = STEP(f, "aten.matmul.default", scores, turned);
	if (!r)
		r = STEP(f, "aten.mul.Tensor", scores, f->arg[5]);
	if (!r)
		r = STEP(f, "aten.to.dtype", scores, wide);
	aten_value_release(&turned);
	return r;
}

static int modified(struct flex *f, uint32_t score_mod, uint32_t mask_mod, struct aten_value *scores)
{
	struct aten_value in[5] = {*scores}, mask = {0}, made = {0};
	int r = 0;
	for (int d = 0; d < FLEX_LEVELS && !r; d++) {
		struct aten_value n = aten_int(scores->tensor->size[d]);
		r = interp_aten(f->run, SLICE("aten.arange.default"), &n, 1, &in[1 + d]);
	}
	if (!r)
		r = run_module(f, score_mod, in, 5, &f->arg[7], scores->tensor, &made);
	if (!r)
		r = run_module(f, mask_mod, in + 1, 4, &f->arg[8], scores->tensor, &mask);
	for (int d = 0; d < FLEX_LEVELS; d++)
		aten_value_release(&in[1 + d]);
	if (!r)
		r = STEP(f, "aten.where.ScalarOther", &mask, made, aten_float(-(double)INFINITY));
	aten_value_release(&made);
	aten_value_release(scores);
	*scores = mask;
	return r;
}

/* The three results of the scores. */
static int attend(struct flex *f, const struct aten_value *scores, const struct aten_value *value, struct aten_value *out)
{
	struct aten_value last = aten_int(-1), dims = {.kind = ATEN_LIST, .n = 1, .item = &last}, v = {0};
	const struct aten_value dtype = aten_dtype(f->arg[0].tensor->dtype);
	int r = 0;
	*out = (struct aten_value){.kind = ATEN_LIST, .n = 3, .item = xcalloc(3, sizeof(*out->item))};
	for (uint32_t i = 0; i < 3 && !r; i++)
		r = interp_share(f->run, *scores, &out->item[i]);
	if (!r)
		r = STEP(f, "aten._safe_softmax.default", &out->item[0], last);
	if (!r)
		r = STEP(f, "aten.to.dtype", &out->item[0], dtype);
	if (!r)
		r = interp_share(f->run, *value, &v);
	if (!r)
		r = STEP(f, "aten.to.dtype", &v, dtype);
	if (!r)
		r = STEP(f, "aten.matmul.default", &out->item[0], v);
	if (!r)
		r = STEP(f, "aten.logsumexp.default", &out->item[1], dims);
	if (!r)
		r = STEP(f, "aten.amax.default", &out->item[2], dims);
	for (uint32_t i = 1; i < 3 && !r; i++)
		r = STEP(f, "aten.div.Tensor", &out->item[i], aten_float(M_LN2));
	aten_value_release(&v);
	if (r)
		aten_value_release(out);
	return r;
}

int interp_flex(struct activation *a, struct aten_value *out)
{
	struct interp *run = a->run;
	const struct gnode *n = &run->g->node[run->node];
	struct flex f = {.a = a, .run = run};
	struct aten_value key = {0}, value = {0}, scores = {0};
	const uint32_t score_mod = subgraph_of(run->g, run->node, 3), mask_mod = subgraph_of(run->g, run->node, 4);
	for (uint32_t i = 0; i < 9 && i < n->n_args; i++)
		if (i != 3 && i != 4 && i != 6 && interp_operand(a, run->g->value[n->args + i], &f.arg[i]) < 0)
			return -1;
	if (f.arg[0].kind != ATEN_TENSOR || f.arg[1].kind != ATEN_TENSOR || f.arg[2].kind != ATEN_TENSOR || score_mod == NONE ||
	    mask_mod == NONE || !run->levels)
		return interp_bad(run, "unsupported operands");
	int r = raw_scores(&f, &key, &value, &scores);
	if (!r)
		r = modified(&f, score_mod, mask_mod, &scores);
	if (!r)
		r = attend(&f, &scores, &value, out);
	aten_value_release(&key);
	aten_value_release(&value);
	aten_value_release(&scores);
	return r;
}
