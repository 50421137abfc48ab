/* interp_autocast.c - the casts of a region of torch.autocast, made where its operators are called. */
#include "aten/interp/autocast.h"
#include "aten/interp/interp_part.h"

enum { MAX_CAST = 256 }; /* float operands of one operator */

struct casting {
	struct interp *run;
	int dtype[MAX_CAST], to;
	size_t n;
	struct cast_made *made;
};

static void note_dtypes(struct casting *c, const struct aten_value *v)
{
	if (v->kind == ATEN_TENSOR && autocast_applies(v->tensor->dtype) && c->n < MAX_CAST)
		c->dtype[c->n++] = v->tensor->dtype;
	for (uint32_t i = 0; v->kind == ATEN_LIST && i < v->n; i++)
		note_dtypes(c, &v->item[i]);
}

static int cast_value(struct casting *c, struct aten_value *v)
{
	if (v->kind == ATEN_LIST && v->n) {
		struct aten_value *item = arena_alloc(&c->made->arena, v->n * sizeof(*item));
		memcpy(item, v->item, v->n * sizeof(*item));
		v->item = item;
		for (uint32_t i = 0; i < v->n; i++)
			if (cast_value(c, &item[i]) < 0)
				return -1;
	}
	if (v->kind != ATEN_TENSOR || !autocast_applies(v->tensor->dtype) || v->tensor->dtype == c->to)
		return 0;
	struct aten_tensor *made = NULL;
	ATEN_TRY("autocast")
	{
		aten_frame_.mode = c->run->mode;
		struct aten_tensor *t = aten_like(v->tensor, c->to);
		aten_copy(t, v->tensor);
		made = aten_keep(t);
	}
	if (ATEN_END)
		return -1;
	*v = aten_of(made);
	PUSH_TO(c->made->v, c->made->n, c->made->cap) = *v;
	return 0;
}

/* The device of the node's value; unknown: that of the region. */
static bool on_its_device(const struct interp *run)
{
	const struct graph *g = run->g;
	uint32_t m = g->node[run->node].meta;
	if (m != NONE && g->meta[m].kind == GMETA_TUPLE && g->meta[m].n_parts)
		m = g->meta[m].first;
	if (m == NONE || g->meta[m].kind != GMETA_TENSOR || g->meta[m].device == NONE)
		return true;
	return slice_starts(graph_text(g, g->meta[m].device), "cuda") == run->cast.gpu;
}

int interp_autocast(struct interp *run, const struct aten_op *op, struct interp_operands *o, struct cast_made *made)
{
	struct casting c = {.run = run, .made = made};
	*made = (struct cast_made){0};
	if (!run->cast.on || run->o->as_double || op->in_place || !on_its_device(run))
		return 0;
	for (size_t i = 0; i < o->n; i++)
		note_dtypes(&c, &o->arg[i]);
	for (size_t i = 0; i < o->n_named; i++)
		note_dtypes(&c, &o->named[i].value);
	c.to = autocast_dtype(slice_str(aten_op_name(op)), run->cast.gpu, run->cast.dtype, c.dtype, c.n);
	if (c.to == DTYPE_NONE)
		return 0;
	struct aten_value *arg = arena_alloc(&made->arena, (o->n + 1) * sizeof(*arg));
	struct aten_named *named = arena_alloc(&made->arena, (o->n_named + 1) * sizeof(*named));
	memcpy(arg, o->arg, o->n * sizeof(*arg));
	memcpy(named, o->named, o->n_named * sizeof(*named));
	int r = 0;
	for (size_t i = 0; i < o->n && !r; i++)
		r = cast_value(&c, &arg[i]);
	for (size_t i = 0; i < o->n_named && !r; i++)
		r = cast_value(&c, &named[i].value);
	o->arg = arg;
	o->named = named;
	if (r < 0)
		interp_autocast_end(made);
	return r;
}

void interp_autocast_end(struct cast_made *made)
{
	for (size_t i = 0; i < made->n; i++)
		aten_value_release(&made->v[i]);
	free(made->v);
	arena_release(&made->arena);
}
