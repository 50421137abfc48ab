/* narrow.c - where a finding leaves a choice of calls, they are run again, one at a time (aten/verify/narrow.h). */
#include "aten/verify/narrow.h"
#include "base/process/child.h"
#include "verifier.h"

static const uint64_t MOST_BYTES = 256u << 20; /* of what is put around the calls */

static int narrow(struct verifier *v, const struct operands *in, struct trial *t, struct narrow *n, struct err *err)
{
	LOCAL_BUF given = {0};
	LOCAL_BUF taken = {0};
	LOCAL_BUF more = {0};
	LOCAL_BUF taken_more = {0};
	const struct dump *d = &t->source->dump;
	if (narrow_give(n, d, &given, err) < 0 ||
	    verifier_run_given(v, t->source, in, t->run + NARROW_RUNS, buf_slice(&given), &taken, err) < 0)
		return -1;
	narrow_judge(n, buf_slice(&given), buf_slice(&taken));
	const int runs = narrow_suppose(n, d, &more, err);
	if (runs < 0 || (runs && verifier_run_given(v, t->source, in, t->run + (uint32_t)runs, buf_slice(&more), &taken_more, err) < 0))
		return -1;
	if (runs)
		narrow_supposed(n, buf_slice(&more), buf_slice(&taken_more));
	narrow_apply(n);
	return 0;
}

void verifier_narrow(struct verifier *v, const struct operands *in)
{
	for (uint32_t i = 0; i < v->n_trials && !child_signalled(); i++) {
		struct trial *t = v->trial[i];
		struct narrow n;
		struct err err = {0};
		if (trial_is_alone(t) || !trial_counts(t) || !trial_found(t))
			continue;
		if (narrow_plan(&n, &t->h.verify, t->run) && n.bytes <= MOST_BYTES && narrow(v, in, t, &n, &err) < 0 && !child_signalled())
			buf_addf(&v->notes, "the calls could not be run again: %s\n", err.text);
		narrow_release(&n);
	}
}
