/* rerun.c - the package once more, with the inputs of a run and numbers around its calls. */
#include "verifier.h"

char *source_inputs(const struct source *s) { return s->kind == INPUTS_GIVEN ? NULL : xasprintf("%s/inputs.pt", s->folder); }

int verifier_run_given(struct verifier *v, const struct source *s, const struct operands *in, uint32_t runs, struct slice given,
		       struct buf *taken, struct err *err)
{
	FREED char *path = source_inputs(s);
	const char *const made[] = {path};
	struct watch_options wo = {.model = v->pair.package,
				   .operand = path ? made : in->v + 2,
				   .n_operand = path ? v->pair.program.contract.n_inputs != 0 : in->n - 2,
				   .how = v->o->how,
				   .files = &v->files,
				   .given = given,
				   .quiet = true};
	wo.how.runs = (int)runs;
	return given_run(&wo, taken, err);
}
