/* finding.c - the rows of finding.h. */
#include "run/diagnose/finding.h"

const char *const finding_kind_name[FINDING_KINDS] = {
    [FINDING_FAILURE] = "failure",     [FINDING_KNOWN] = "known",       [FINDING_LIMIT] = "recompile-limit",
    [FINDING_RECOMPILE] = "recompile", [FINDING_BREAK] = "graph-break", [FINDING_SHAPE] = "dynamic-shape",
    [FINDING_TIME] = "compile-time",   [FINDING_CACHE] = "cache",       [FINDING_CUDAGRAPH] = "cudagraph",
    [FINDING_DAMAGE] = "damage",
};

struct finding *explain_finding(struct explanation *x, enum finding_kind kind, enum finding_level level)
{
	GROW(x->finding, x->n_finding, x->cap_finding, 1);
	x->finding[x->n_finding] = (struct finding){.kind = kind,
						    .level = level,
						    .loc = facts_no_loc(),
						    .through = facts_no_loc(),
						    .call = facts_no_loc(),
						    .seconds = -1,
						    .call_us = -1,
						    .rank = x->n_finding,
						    .compile = NONE,
						    .into = NONE};
	return &x->finding[x->n_finding++];
}

uint32_t explain_told_by(const struct explanation *x, uint32_t finding)
{
	for (uint32_t n = 0; x->finding[finding].into != NONE && n < x->n_finding; n++)
		finding = x->finding[finding].into;
	return finding;
}
