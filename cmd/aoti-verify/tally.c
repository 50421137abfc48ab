/* tally.c - the counts of one trial. */
#include "verifier.h"

struct tally tally(const struct trial *t)
{
	struct tally n = {0};
	for (uint32_t c = 0; c < t->h.observed.n_calls; c++) {
		const struct verify_row *row = &t->h.verify.row[c];
		switch (row->what) {
		case VERIFY_EQUAL: n.equal++; break;
		case VERIFY_ROUNDING: n.rounding++; break;
		case VERIFY_EFFECT: n.effect++; break;
		case VERIFY_WRONG: n.wrong++; break;
		case VERIFY_OPEN: n.open += !trial_is_alone(t); break;
		case VERIFY_OPERATOR: n.operators++; break;
		}
		n.tf32 += row->reduced == REDUCED_TF32;
		n.bf16 += row->reduced == REDUCED_BF16;
		n.fp16 += row->reduced == REDUCED_FP16;
		if (row->what == VERIFY_EQUAL || row->what == VERIFY_OPEN)
			continue;
		n.compiled_ulp = row->compiled_ulp > n.compiled_ulp ? row->compiled_ulp : n.compiled_ulp;
		n.eager_ulp = row->eager_ulp > n.eager_ulp ? row->eager_ulp : n.eager_ulp;
	}
	for (uint32_t i = 0; i < t->h.verify.n_findings; i++)
		*(t->h.verify.finding[i].less_exact ? &n.less_exact : &n.findings) += 1;
	n.outputs = t->h.verify.n_outputs;
	n.outputs_differ = t->h.verify.n_differ;
	n.outputs_open = t->h.verify.n_unknown;
	return n;
}
