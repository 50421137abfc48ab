/* rerun.c - the package once more, with the inputs of a run and numbers around its calls. */
#include "verifier.h"

char *source_inputs(const struct source *s) { return s->kind == INPUTS_GIVEN ? NULL : xasprintf("%s/inputs.pt", s->folder); }

struct watch_options source_watch(struct verifier *v, const struct operands *in, const char *const *made)
{
	return (struct watch_options){.model = v->pair.package,
				      .operand = *made ? made : in->v + 2,
				      .n_operand = *made ? v->pair.program.contract.n_inputs != 0 : in->n - 2,
				      .how = v->o->how,
				      .files = &v->files,
				      .quiet = true};
}

int verifier_run_given(struct verifier *v, const struct source *s, const struct operands *in, uint32_t runs, struct slice given,
		       struct buf *taken, struct err *err)
{
	FREED char *path = source_inputs(s);
	const char *const made[] = {path};
	struct watch_options wo = source_watch(v, in, made);
	wo.given = given;
	wo.how.runs = (int)runs;
	return given_run(&wo, taken, err);
}
