/* bisect_trial.c - the stages, and what the runs of two of them have in common. */
#include "run/bisect.h"

#include "base/tool/knobs.h"

const struct bisect_place places[PLACES] = {
    [DISABLED] = {"compilation disabled", NULL, COMPONENT_EAGER, "the program itself: it also fails without torch.compile"},
    [EAGER] = {"eager", "eager", COMPONENT_DYNAMO, "TorchDynamo: capturing graphs, guards, resume functions"},
    [AOT] = {"aot_eager", "aot_eager", COMPONENT_AOTAUTOGRAD, "AOTAutograd: tracing forward and backward"},
    [DECOMP] = {"aot_eager_decomp_partition", "aot_eager_decomp_partition", COMPONENT_AOTAUTOGRAD,
		"the decompositions or the partitioner, which AOTAutograd runs for Inductor"},
    [AS_IS] = {"as it is", "", COMPONENT_INDUCTOR, "TorchInductor: passes, lowering, scheduling, kernels"},
};

#define KNOB(name, value, since, what) {name "=" value, since, what},
const struct bisect_part parts[PARTS_TRIED] = {NUMERIC_KNOBS(KNOB) PART_KNOBS(KNOB)};

/* An operator that rejects its inputs also does so with fake tensors, but with another message: Dynamo's TorchRuntimeError
 * (torch/_dynamo/exc.py), at the line that fails in eager. */
static bool same_operator(const struct trial *a, const struct trial *b)
{
	return *a->where && !strcmp(a->where, b->where) && slice_starts(slice_str(a->key), "TorchRuntimeError");
}

bool bisect_same(const struct trial *a, const struct trial *b)
{
	if (!a->failed || !b->failed || a->stopped != b->stopped || a->r.sig != b->r.sig || a->r.status != b->r.status)
		return false;
	if (same_operator(a, b) || same_operator(b, a))
		return true;
	return !*a->key || !*b->key || !strcmp(a->key, b->key) || strstr(a->key, b->key) || strstr(b->key, a->key);
}

int bisect_expected(const struct trial *t)
{
	switch (t->component) {
	case COMPONENT_DYNAMO: return EAGER;
	case COMPONENT_AOTAUTOGRAD: return AOT;
	case COMPONENT_INDUCTOR:
	case COMPONENT_CODEGEN:
	case COMPONENT_COMPILER:
	case COMPONENT_BACKEND: return AS_IS;
	default: return DISABLED; /* not during compilation: does the program fail by itself? */
	}
}

/* The backends that the program requested, as recorded by any run that replaced them. */
const char *bisect_asked(const struct bisect *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (*b->trial[i].asked)
			return b->trial[i].asked;
	return "";
}

const char *bisect_torch(const struct bisect *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (*b->trial[i].torch)
			return b->trial[i].torch;
	return "";
}

/* While compiling, or while the compiled code ran. */
bool bisect_while_compiling(const struct trial *t) { return bisect_expected(t) != DISABLED; }
