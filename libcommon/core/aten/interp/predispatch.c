/* predispatch.c - which of torch.vmap's calls a node is (torch 2.13, torch/_functorch/predispatch.py). */
#include "aten/interp/interp_part.h"

enum { MAX_LEVEL = 31 };
#define PREDISPATCH "torch._functorch.predispatch."

enum vmap_call interp_vmap_call(struct slice target)
{
	static const struct {
		const char *name;
		enum vmap_call call;
	} calls[] = {{"_add_batch_dim", VMAP_ADD},
		     {"_remove_batch_dim", VMAP_REMOVE},
		     {"_vmap_increment_nesting", VMAP_NOTHING},
		     {"_vmap_decrement_nesting", VMAP_NOTHING},
		     {"lazy_load_decompositions", VMAP_NOTHING}};
	const struct slice name = interp_without(target, PREDISPATCH);
	for (size_t i = 0; name.p && i < ARRAY_LEN(calls); i++)
		if (slice_is(name, calls[i].name))
			return calls[i].call;
	return VMAP_NONE;
}

bool interp_vmap_has(struct slice target) { return interp_vmap_call(target) != VMAP_NONE; }

/* An integer operand that is written in the graph; 0: another. */
uint32_t interp_level_bit(const struct graph *g, const struct gnode *n, uint32_t at)
{
	const struct gvalue v = at < n->n_args ? g->value[n->args + at] : (struct gvalue){0};
	return v.kind == GV_INT && v.i > 0 && v.i <= MAX_LEVEL ? UINT32_C(1) << (v.i - 1) : 0;
}
