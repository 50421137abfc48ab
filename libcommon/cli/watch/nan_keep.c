/* nan_keep.c - a finding as it is kept: with copies of all texts, once for equal calls. */
#include "watch/nan.h"

static void copy_text(struct arena *a, struct slice *s) { *s = arena_slice(a, *s); }

static void copy_call(struct nan *n, struct nan_call *to, const struct nan_call *from)
{
	*to = *from;
	copy_text(&n->arena, &to->c.model);
	copy_text(&n->arena, &to->c.text);
	copy_text(&n->arena, &to->c.name);
	copy_text(&n->arena, &to->c.nodes);
	copy_text(&n->arena, &to->c.aten);
	copy_text(&n->arena, &to->ended);
	to->c.value = NULL;
	to->c.n_values = 0;
	to->value = arena_alloc(&n->arena, (from->n_values + 1) * sizeof(*to->value));
	for (uint32_t i = 0; i < from->n_values; i++) {
		to->value[i] = from->value[i];
		copy_text(&n->arena, &to->value[i].v.buffer);
		copy_text(&n->arena, &to->value[i].v.path);
		copy_text(&n->arena, &to->value[i].v.file);
	}
}

static struct slice name_of(const struct nan_finding *f, uint32_t i) { return i == NONE ? SLICE("") : f->call.value[i].v.buffer; }

bool nan_alike(const struct nan_finding *a, const struct nan_finding *b)
{
	if (a->kind != b->kind || a->call.c.model_id != b->call.c.model_id)
		return false;
	/* A NaN that was there before is one finding, no matter which calls read it. */
	if ((a->kind == NAN_INPUT || a->kind == NAN_CONSTANT) && a->cause != NONE && b->cause != NONE)
		return slice_eq(name_of(a, a->cause), name_of(b, b->cause));
	return a->call.c.call == b->call.c.call && slice_eq(a->call.c.name, b->call.c.name) &&
	       slice_eq(name_of(a, a->bad), name_of(b, b->bad));
}

void nan_keep(struct nan *n, struct nan_finding *to, const struct nan_finding *f)
{
	*to = *f;
	to->times = 1;
	copy_call(n, &to->call, &f->call);
	/* Looks at the elements at one place of this output. */
	bool placed = to->bad != NONE && to->call.value[to->bad].has_element;
	for (uint32_t i = 0; i < to->call.n_values && !placed; i++)
		to->call.value[i].has_element = false;
	copy_text(&n->arena, &to->inf_kernel);
	copy_text(&n->arena, &to->inf_buffer);
}
