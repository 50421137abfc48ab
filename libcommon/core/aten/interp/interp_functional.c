/* Support for graphs from functionalize(): operators that write to copies of their operands, and values that share memory with those. */
#include "aten/interp/functionalize.h"
#include "aten/interp/interp_part.h"

/* ---- operands that are written to ---- */

/* A handle like t, with the same offset, over its own copy of all of t's storage. */
static struct aten_tensor *private_copy(const struct aten_tensor *t)
{
	const int64_t bytes = (int64_t)t->storage->bytes;
	struct aten_tensor *whole = aten_new(DTYPE_U8, 1, &bytes, NULL);
	if (whole->storage->data && t->storage->data)
		memcpy(whole->storage->data, t->storage->data, (size_t)bytes);
	return aten_view_dtype(whole, t->dtype, t->n_dim, t->size, t->stride, t->offset);
}

static int own_operand(struct interp *run, struct aten_value *v)
{
	struct aten_tensor *mine = NULL;
	if (v->kind != ATEN_TENSOR || !v->tensor->storage)
		return interp_bad(run, "it writes to something other than a tensor");
	ATEN_TRY("interp")
	{
		aten_frame_.mode = run->mode;
		mine = aten_keep(private_copy(v->tensor));
	}
	if (ATEN_END)
		return interp_bad(run, "%s", aten_last_error());
	*v = aten_of(mine);
	return 0;
}

/* Calls op with copies of the operands at these positions; which 0: the result is op's, else that operand. */
static int call_owning(struct interp *run, uint32_t target, const uint32_t *at, uint32_t n_at, uint32_t which, struct interp_operands *o,
		       struct aten_value *out)
{
	const struct aten_op *op = interp_find(run, target);
	struct aten_value was[FUNCTIONAL_WRITTEN];
	uint32_t mine = 0;
	int r = op ? 0 : -1;
	for (; !r && mine < n_at; mine++) {
		if (at[mine] >= o->n) {
			r = interp_bad(run, "missing operands");
			break;
		}
		was[mine] = o->arg[at[mine]];
		if ((r = own_operand(run, &o->arg[at[mine]])) < 0)
			break;
	}
	if (!r)
		r = interp_call_op(run, op, o, out);
	if (!r && which) {
		aten_value_release(out);
		r = interp_share(run, o->arg[which], out);
	}
	while (mine-- > 0) { /* the operands of a node are borrowed, or their owner needs them back (a lane of torch.vmap) */
		aten_value_release(&o->arg[at[mine]]);
		o->arg[at[mine]] = was[mine];
	}
	return r;
}

/* pt2.operand("torch.ops.aten.batch_norm.default", 3, ...): the contents of its fourth operand after that operator. */
static int written_operand(struct interp *run, struct interp_operands *o, struct aten_value *out)
{
	const struct gvalue *name = &run->g->value[run->g->node[run->node].args];
	static const uint32_t statistics[] = {3, 4};
	struct interp_operands rest = *o;
	if (o->n < 2 || name->kind != GV_STR || o->arg[1].kind != ATEN_INT || (o->arg[1].i != 3 && o->arg[1].i != 4))
		return interp_bad(run, "missing operator and operand");
	const uint32_t which = (uint32_t)o->arg[1].i;
	rest.arg += 2;
	rest.n -= 2;
	return call_owning(run, name->text, statistics, 2, which, &rest, out);
}

/* ---- values that share memory with a written operand ---- */

struct write {
	struct interp *run;
	const struct aten_storage *old;
	struct aten_tensor *new; /* all of it, as bytes */
};

/* Moves v to the new memory if it is in the old, within a frame. */
static struct aten_tensor *moved(const struct write *w, struct aten_tensor *t)
{
	return t->storage == w->old ? aten_view_dtype(w->new, t->dtype, t->n_dim, t->size, t->stride, t->offset) : aten_alias(t);
}

static int move_value(const struct write *w, const struct aten_value *v, struct aten_value *out)
{
	if (v->kind == ATEN_LIST) {
		*out = (struct aten_value){.kind = ATEN_LIST, .item = xcalloc(v->n + 1, sizeof(*out->item))};
		while (out->n < v->n && move_value(w, &v->item[out->n], &out->item[out->n]) == 0)
			out->n++;
		if (out->n == v->n)
			return 0;
		aten_value_release(out);
		return -1;
	}
	if (v->kind != ATEN_TENSOR || !v->tensor->storage)
		return interp_share(w->run, *v, out);
	ATEN_TRY("interp")
	{
		aten_frame_.mode = w->run->mode;
		*out = aten_of(aten_keep(moved(w, v->tensor)));
	}
	return ATEN_END ? interp_bad(w->run, "%s", aten_last_error()) : 0;
}

static bool lies_in(const struct aten_value *v, const struct aten_storage *s)
{
	bool yes = v->kind == ATEN_TENSOR && v->tensor->storage == s;
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		yes |= lies_in(&v->item[i], s);
	return yes;
}

/* pt2.after(x, written, [others], [inputs]): x's memory with `written` in place of x; returns x, then the others, over it. The inputs of a
 * subgraph must not be in it: the caller would be affected. */
static int after(struct interp *run, const struct interp_operands *o, struct aten_value *out)
{
	struct write w = {.run = run};
	if (o->n != 4 || o->arg[0].kind != ATEN_TENSOR || o->arg[1].kind != ATEN_TENSOR || !o->arg[0].tensor->storage ||
	    o->arg[2].kind != ATEN_LIST)
		return interp_bad(run, "its operands are not those of an in-place operator");
	const struct aten_tensor *x = o->arg[0].tensor;
	w.old = x->storage;
	if (lies_in(&o->arg[3], w.old))
		return interp_bad(run, "a subgraph changes one of its inputs in place, which is not supported");
	ATEN_TRY("interp")
	{
		aten_frame_.mode = run->mode;
		w.new = aten_keep(private_copy(x));
		aten_copy(w.new, o->arg[1].tensor);
	}
	if (ATEN_END) {
		if (w.new)
			aten_release(w.new);
		return interp_bad(run, "%s", aten_last_error());
	}
	const uint32_t n = o->arg[2].n + 1;
	struct aten_value all = {.kind = ATEN_LIST, .n = n, .item = xcalloc(n, sizeof(*all.item))};
	all.item[0] = o->arg[0];
	memcpy(all.item + 1, o->arg[2].item, (n - 1) * sizeof(*all.item));
	const int r = move_value(&w, &all, out);
	free(all.item);
	aten_release(w.new);
	return r;
}

int interp_functional(struct interp *run, struct slice target, struct interp_operands *o, struct aten_value *out)
{
	uint32_t at[FUNCTIONAL_WRITTEN];
	if (slice_is(target, "pt2.after"))
		return after(run, o, out);
	if (slice_is(target, "pt2.operand"))
		return written_operand(run, o, out);
	const uint32_t n = functional_written(run->g, run->node, at);
	return n ? call_owning(run, run->g->node[run->node].target, at, n, 0, o, out) : 1;
}

bool interp_functional_has(struct slice target) { return slice_is(target, "pt2.after") || slice_is(target, "pt2.operand"); }
