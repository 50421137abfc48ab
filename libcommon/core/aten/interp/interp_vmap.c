/* interp_vmap.c - the calls that torch.vmap leaves in a graph exported before dispatch (torch 2.13, torch/_functorch/predispatch.py):
 *
 *     _vmap_increment_nesting(4, "error")
 *     a = _add_batch_dim(x, 0, 1)              # x's dim 0 is the lanes of level 1: a has one dim less
 *     y = torch.ops.aten.mul.Tensor(a, 2)      # for each lane
 *     z = _remove_batch_dim(y, 1, 4, 0)
 *     _vmap_decrement_nesting()
 *
 * A value with lanes is held as one tensor, with a dim for each of its levels, in their order, before its own dims, as torch's own batching
 * has it. Which levels a node has follows from the graph (interp_levels.c), so that any of its nodes can be evaluated by itself.
 * Element-wise operators are computed at once, with the operands' own dims aligned; every other one lane by lane, and the results stacked:
 * views of one tensor as a view of it, since a later operator may write to them. */
#include "aten/interp/interp_part.h"

#include "aten/interp/functionalize.h"
#include "aten/ops.h"

enum { MAX_LANES = 1 << 20 };

/* Where the dim of a level (one bit) is, among the dims of these levels. */
static int level_dim(uint32_t levels, uint32_t level) { return __builtin_popcount(levels & (level - 1)); }

/* ---- entering and leaving ---- */

static int add_batch_dim(struct interp *run, const struct gnode *node, const struct interp_operands *o, struct aten_value *out)
{
	const uint32_t level = interp_level_bit(run->g, node, 2);
	const struct gvalue *x = &run->g->value[node->args];
	const uint32_t has = x->kind == GV_NODE ? run->levels[x->node] : 0;
	struct aten_tensor *t = NULL;
	if (o->n != 3 || o->arg[0].kind != ATEN_TENSOR || o->arg[1].kind != ATEN_INT || !level || has & level)
		return interp_bad(run, "unsupported operands");
	ATEN_TRY("_add_batch_dim")
	{
		struct aten_tensor *self = o->arg[0].tensor;
		const int outer = __builtin_popcount(has), own = self->n_dim - outer;
		const int64_t dim = o->arg[1].i < 0 ? o->arg[1].i + own : o->arg[1].i;
		if (dim < 0 || dim >= own)
			aten_fail("dimension %lld is out of range for a %dD tensor", (long long)o->arg[1].i, own);
		t = aten_keep(aten_movedim(self, outer + (int)dim, level_dim(has, level)));
	}
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	return *out = aten_of(t), 0;
}

/* A value without that level is the same in all lanes. */
static int remove_batch_dim(struct interp *run, const struct gnode *node, const struct interp_operands *o, struct aten_value *out)
{
	const uint32_t level = interp_level_bit(run->g, node, 1);
	const struct gvalue *x = &run->g->value[node->args];
	const uint32_t has = x->kind == GV_NODE ? run->levels[x->node] : 0;
	struct aten_tensor *t = NULL;
	if (o->n != 4 || o->arg[0].kind != ATEN_TENSOR || o->arg[2].kind != ATEN_INT || o->arg[3].kind != ATEN_INT || !level)
		return interp_bad(run, "unsupported operands");
	ATEN_TRY("_remove_batch_dim")
	{
		struct aten_tensor *self = o->arg[0].tensor;
		const int outer = __builtin_popcount(has & ~level), own = self->n_dim - __builtin_popcount(has);
		const int64_t dim = o->arg[3].i < 0 ? o->arg[3].i + own + 1 : o->arg[3].i;
		if (dim < 0 || dim > own)
			aten_fail("dimension %lld is out of range for a %dD tensor", (long long)o->arg[3].i, own + 1);
		if (has & level) {
			t = aten_movedim(self, level_dim(has, level), outer + (int)dim);
		} else {
			struct aten_tensor *wide = aten_unsqueeze(self, outer + dim);
			int64_t size[ATEN_DIMS];
			memcpy(size, wide->size, sizeof(size));
			size[outer + dim] = o->arg[2].i;
			t = aten_expand(wide, size, wide->n_dim);
		}
		t = aten_keep(t);
	}
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	return *out = aten_of(t), 0;
}

/* ---- operands with lanes ---- */

enum { MAX_SLOTS = 256 };

/* The operands that have lanes: places in the node's operands, which may be written to. */
struct lanes {
	struct interp *run;
	const struct gnode *node;
	struct interp_operands *o;
	struct slot {
		struct aten_value *at;
		uint32_t levels;
	} slot[MAX_SLOTS];
	size_t n;
};

static bool find_slots(struct lanes *l, struct gvalue v, struct aten_value *at)
{
	const struct graph *g = l->run->g;
	if (v.kind == GV_NODE && l->run->levels[v.node]) {
		const bool list = at->kind == ATEN_LIST; /* all its tensors have those lanes */
		for (uint32_t i = 0; i < (list ? at->n : 1); i++) {
			struct aten_value *one = list ? &at->item[i] : at;
			if (one->kind != ATEN_TENSOR)
				continue;
			if (list || l->n == MAX_SLOTS)
				return false;
			l->slot[l->n++] = (struct slot){one, l->run->levels[v.node]};
		}
	}
	for (uint32_t i = 0; (v.kind == GV_LIST || v.kind == GV_TUPLE) && at->kind == ATEN_LIST && i < v.n && i < at->n; i++)
		if (!find_slots(l, g->value[v.first + i], &at->item[i]))
			return false;
	return true;
}

static uint32_t all_levels(const struct lanes *l)
{
	uint32_t all = 0;
	for (size_t i = 0; i < l->n; i++)
		all |= l->slot[i].levels;
	return all;
}

/* ---- element-wise: all lanes at once ---- */

static int own_dims(const struct slot *s) { return s->at->tensor->n_dim - __builtin_popcount(s->levels); }

/* Promotion looks at dims: a number in a lane must stay one. */
static bool aligns(const struct lanes *l, const struct aten_op *op, int *rank)
{
	bool zero = false, more = false, same = true;
	int dtype = DTYPE_NONE;
	*rank = 0;
	if (!aten_is_elementwise(op) || op->in_place)
		return false;
	for (size_t k = 0; k < l->n; k++)
		if (l->slot[k].at < l->o->arg || l->slot[k].at >= l->o->arg + l->o->n)
			return false;
	for (size_t i = 0; i < l->o->n; i++) {
		const struct aten_value *v = &l->o->arg[i];
		int own = v->kind == ATEN_TENSOR ? v->tensor->n_dim : -1;
		for (size_t k = 0; k < l->n; k++)
			if (l->slot[k].at == v)
				own = own_dims(&l->slot[k]);
		if (own < 0)
			continue;
		zero |= own == 0;
		more |= own > 0;
		same &= dtype == DTYPE_NONE || dtype == v->tensor->dtype;
		dtype = v->tensor->dtype;
		*rank = own > *rank ? own : *rank;
	}
	return same || !zero || !more;
}

/* An operand with all levels, 1 where it has none, and with the rank of the result. */
static struct aten_tensor *aligned(struct aten_tensor *t, uint32_t levels, uint32_t all, int rank)
{
	int own = t->n_dim - __builtin_popcount(levels);
	for (; own < rank; own++)
		t = aten_unsqueeze(t, __builtin_popcount(levels));
	for (uint32_t bit = 1; bit && bit <= all; bit <<= 1)
		if (all & ~levels & bit)
			t = aten_unsqueeze(t, level_dim(all, bit));
	return t;
}

static int call_aligned(struct lanes *l, const struct aten_op *op, int rank, struct aten_value *out)
{
	const uint32_t all = all_levels(l);
	struct aten_value *arg = xcalloc(l->o->n + 1, sizeof(*arg));
	struct interp_operands o = *l->o;
	memcpy(arg, l->o->arg, o.n * sizeof(*arg));
	o.arg = arg;
	ATEN_TRY("vmap")
	{
		for (size_t k = 0; k < l->n; k++) {
			const size_t at = (size_t)(l->slot[k].at - l->o->arg);
			arg[at] = aten_of(aten_keep(aligned(l->slot[k].at->tensor, l->slot[k].levels, all, rank)));
		}
	}
	int r = ATEN_END ? interp_bad(l->run, "%s", aten_last_error()) : interp_call_op(l->run, op, &o, out);
	for (size_t k = 0; k < l->n; k++) {
		const size_t at = (size_t)(l->slot[k].at - l->o->arg);
		if (arg[at].tensor != l->slot[k].at->tensor)
			aten_value_release(&arg[at]);
	}
	free(arg);
	return r;
}

/* ---- everything else: lane by lane ---- */

static int pick_lane(struct interp *run, const struct slot *s, uint32_t level, int64_t lane, struct aten_value *out)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("vmap") { t = aten_keep(aten_select(s->at->tensor, level_dim(s->levels, level), lane)); }
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	return *out = aten_of(t), 0;
}

/* Lanes that lie in one tensor at equal distances: a view of it. NULL: they do not. */
static struct aten_tensor *common_view(const struct aten_value *lane, uint32_t n, int dim)
{
	struct aten_tensor *first = lane[0].tensor;
	const int64_t step = n > 1 && lane[1].kind == ATEN_TENSOR ? lane[1].tensor->offset - first->offset : aten_numel(first);
	if (!first->storage || step <= 0 || first->n_dim + 1 > ATEN_DIMS || dim > first->n_dim)
		return NULL;
	for (uint32_t i = 1; i < n; i++) {
		const struct aten_tensor *t = lane[i].kind == ATEN_TENSOR ? lane[i].tensor : NULL;
		if (!t || t->storage != first->storage || t->dtype != first->dtype || t->n_dim != first->n_dim ||
		    t->offset != first->offset + (int64_t)i * step ||
		    memcmp(t->size, first->size, (size_t)t->n_dim * sizeof(*t->size)) != 0 ||
		    memcmp(t->stride, first->stride, (size_t)t->n_dim * sizeof(*t->stride)) != 0)
			return NULL;
	}
	int64_t size[ATEN_DIMS], stride[ATEN_DIMS];
	for (int d = 0; d <= first->n_dim; d++) {
		size[d] = d == dim ? n : first->size[d - (d > dim)];
		stride[d] = d == dim ? step : first->stride[d - (d > dim)];
	}
	return aten_view(first, first->n_dim + 1, size, stride, first->offset);
}

static int as_one_view(struct interp *run, const struct aten_value *lane, uint32_t n, int dim, struct aten_value *out)
{
	struct aten_tensor *t = NULL;
	ATEN_TRY("vmap")
	{
		t = common_view(lane, n, dim);
		t = t ? aten_keep(t) : NULL;
	}
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	*out = t ? aten_of(t) : (struct aten_value){.kind = ATEN_NONE};
	return 0;
}

/* The lanes' results as one: tensors are stacked, numbers have to be equal. */
static int stack_lanes(struct interp *run, struct aten_value *lane, uint32_t n, int dim, struct aten_value *out)
{
	*out = (struct aten_value){.kind = ATEN_NONE};
	if (lane[0].kind == ATEN_TENSOR) {
		if (as_one_view(run, lane, n, dim, out) < 0)
			return -1;
		if (out->kind != ATEN_NONE)
			return 0;
		const struct aten_value list = {.kind = ATEN_LIST, .n = n, .item = lane};
		return interp_aten(run, SLICE("aten.stack.default"), (struct aten_value[]){list, aten_int(dim)}, 2, out);
	}
	for (uint32_t i = 1; i < n; i++)
		if (lane[i].kind != lane[0].kind || (lane[i].kind == ATEN_LIST ? lane[i].n != lane[0].n : lane[i].i != lane[0].i))
			return interp_bad(run, "vmap: a number that differs between lanes");
	if (lane[0].kind != ATEN_LIST)
		return *out = lane[0], 0;
	FREED struct aten_value *part = xcalloc(n, sizeof(*part));
	*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(lane[0].n + 1, sizeof(*out->item))};
	for (; out->n < lane[0].n; out->n++) {
		for (uint32_t i = 0; i < n; i++)
			part[i] = lane[i].item[out->n];
		if (stack_lanes(run, part, n, dim, &out->item[out->n]) < 0) {
			aten_value_release(out);
			return -1;
		}
	}
	return 0;
}

static int call_lanes(struct lanes *l, struct aten_value *out);

/* The innermost level, one lane after the other. */
static int each_lane(struct lanes *l, struct aten_value *out)
{
	const uint32_t all = all_levels(l), level = UINT32_C(1) << (31 - __builtin_clz(all));
	struct aten_value whole[MAX_SLOTS];
	int64_t n = -1;
	int r = 0;
	for (size_t k = 0; k < l->n; k++)
		if (l->slot[k].levels & level)
			n = l->slot[k].at->tensor->size[level_dim(l->slot[k].levels, level)];
	if (n <= 0 || n > MAX_LANES)
		return interp_bad(l->run, "vmap over %lld lanes", (long long)n);
	struct aten_value *result = xcalloc((size_t)n, sizeof(*result));
	uint32_t done = 0;
	for (; done < n && !r; done++) {
		size_t k = 0;
		for (; k < l->n && !r; k++) {
			struct slot *s = &l->slot[k];
			whole[k] = *s->at;
			if (s->levels & level && (r = pick_lane(l->run, s, level, done, s->at)) == 0)
				s->levels &= ~level;
			else if (s->levels & level)
				*s->at = whole[k];
			else
				whole[k].kind = ATEN_NONE;
		}
		if (!r)
			r = call_lanes(l, &result[done]);
		while (k-- > 0) {
			struct slot *s = &l->slot[k];
			if (whole[k].kind == ATEN_NONE || s->levels & level)
				continue;
			aten_value_release(s->at);
			*s->at = whole[k];
			s->levels |= level;
		}
		if (r)
			break;
	}
	if (!r)
		r = stack_lanes(l->run, result, (uint32_t)n, level_dim(all, level), out);
	while (done-- > 0)
		aten_value_release(&result[done]);
	free(result);
	return r;
}

static int call_lanes(struct lanes *l, struct aten_value *out)
{
	const uint32_t all = all_levels(l);
	const bool functional = l->run->g->functional;
	int rank;
	if (!all)
		return interp_call_node(l->run, l->node, l->o, out);
	uint32_t written[FUNCTIONAL_WRITTEN];
	const struct slice target = graph_text(l->run->g, l->node->target);
	const struct aten_op *op = slice_starts(target, "torch.ops.") && !interp_check_has(graph_op_text(l->run->g, l->run->node))
				       ? interp_find(l->run, l->node->target)
				       : NULL;
	if (op && aligns(l, op, &rank))
		return call_aligned(l, op, rank, out);
	const bool in_place = !functional && functional_written(l->run->g, l->run->node, written);
	if (each_lane(l, out) < 0)
		return -1;
	if (!in_place)
		return 0;
	/* The lanes were views of self, which has changed. */
	aten_value_release(out);
	return interp_share(l->run, l->o->arg[written[0]], out);
}

int interp_vmap(struct activation *a, const struct gnode *node, struct interp_operands *o, struct aten_value *out)
{
	struct interp *run = a->run;
	const struct graph *g = run->g;
	const enum vmap_call call = interp_vmap_call(graph_text(g, node->target));
	*out = (struct aten_value){.kind = ATEN_NONE};
	if (call == VMAP_NOTHING)
		return 0;
	if (call == VMAP_ADD)
		return add_batch_dim(run, node, o, out);
	if (call == VMAP_REMOVE)
		return remove_batch_dim(run, node, o, out);
	if (!run->levels || !run->levels[run->node])
		return 1;
	if (graph_is_getitem(g, run->node) || slice_is(graph_text(g, node->target), "pt2.after")) /* on memory, with all its lanes */
		return 1;
	struct lanes *l = xcalloc(1, sizeof(*l));
	*l = (struct lanes){.run = run, .node = node, .o = o};
	bool found = true;
	for (uint32_t i = 0; i < o->n && found; i++)
		found = find_slots(l, g->value[node->args + i], &o->arg[i]);
	for (uint32_t i = 0; i < o->n_named && found; i++)
		found = find_slots(l, g->value[node->kwargs + 2 * i + 1], &o->named[i].value);
	const int r = !found ? interp_bad(run, "vmap: unsupported operands") : l->n ? call_lanes(l, out) : 1;
	free(l);
	return r;
}
