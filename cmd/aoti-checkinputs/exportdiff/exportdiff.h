/* exportdiff.h - compares what an exported program accepts with what its compiled form accepts.
 *
 *     struct exportdiff a = {0};
 *     exportdiff_compare(&exported, &compiled, &a);     // exported.h; wrapper.h or probe.h
 *     for (size_t i = 0; i < a.n; i++)
 *         a.v[i].subject, a.v[i].exported, a.v[i].compiled, a.v[i].why, a.v[i].fix ...
 *     exportdiff_release(&a);
 *
 *     input 0 (x), dim 0: exported s77: 2..64; compiled 2..15
 *         16..64 are rejected under AOTI_RUNTIME_CHECK_INPUTS=1 and not checked otherwise
 *
 * The two may differ: while lowering, the compiler learns more about the symbols than the export did (docs/dev/FACTS.md, "A
 * convolution takes fewer batches than were exported"), it requires strides that torch.export does not know about,
 * and it checks nothing about an unused input. Or the package comes from a different export than assumed.
 *
 * Expressions are compared by value, since their symbols have different names on the two sides. A few choices of the export's
 * symbols determine the sizes of the inputs, these the compiled symbols, and every compiled size must then equal the input's;
 * otherwise the compiled code has a requirement that the export does not. The same in the other direction finds relations of
 * the export that nothing checks. What one side does not know (contract_known) is not a finding.
 *
 * Weights are compared by module path, shape and dtype; their values by the tool (aten/verify/pair.h). Constants made by the compiler
 * itself (freezing folds
 * and packs: "_frozen_param3", "constant4") have no path: they give a note, and whether the two models are the same then depends
 * on everything else, as the note says.
 *
 * A finding is bad if calls that the export allows fail, or silently go wrong; anything merely worth knowing is advice.
 * Bad ones come first, then in the order of enum exportdiff_what. Runs in time linear in the number of dims.
 */
#ifndef PT2_AGAINST_H
#define PT2_AGAINST_H
#include "model/contract/contract.h"

enum exportdiff_what {
	EXPORTDIFF_MODEL, /* these are two different models: comes first; or (advice) the evidence that they are the same */
	EXPORTDIFF_COUNT, /* inputs or outputs */
	EXPORTDIFF_DTYPE,
	EXPORTDIFF_DEVICE,
	EXPORTDIFF_RANK,
	EXPORTDIFF_STATIC,    /* dynamic as exported, one size as compiled */
	EXPORTDIFF_SIZE,      /* two sizes; or (advice) a size that the compiled code does not check */
	EXPORTDIFF_NARROWER,  /* bounds inside the exported ones */
	EXPORTDIFF_EQUAL,     /* the compiled code requires a relation between sizes that the export does not have */
	EXPORTDIFF_STRIDE,    /* other strides; or (advice) required strides that no export checks */
	EXPORTDIFF_CONSTANT,  /* another shape or dtype, not in the export; or (advice) not in the compiled code, made by the compiler */
	EXPORTDIFF_UNCHECKED, /* advice: a relation of the export's that the compiled code does not check */
	EXPORTDIFF_WIDER,     /* advice: bounds beyond the exported ones */
};
const char *exportdiff_what_name(enum exportdiff_what w); /* "model", "narrower", ...: for JSON */

enum exportdiff_part { EXPORTDIFF_WHOLE, EXPORTDIFF_INPUT, EXPORTDIFF_OUTPUT, EXPORTDIFF_WEIGHT };

struct exportdiff_finding {
	enum exportdiff_what what;
	enum exportdiff_part part;
	uint32_t index; /* of the input, output or compiled constant; NONE for all of them */
	int dim;        /* -1: about the whole */
	bool advice;
	struct slice subject;  /* "input 0 (x), dim 0" */
	struct slice exported; /* "s77: 2..64" */
	struct slice compiled; /* "2..15" */
	struct slice why;      /* the consequence */
	struct slice fix;      /* what to do; may be empty */
};

struct exportdiff {
	struct exportdiff_finding *v;
	size_t n, cap;
	size_t n_bad;    /* those that are not advice */
	bool same_model; /* false: there is an EXPORTDIFF_MODEL that is not advice */
	bool unproved;   /* only the inputs and outputs show that it is the same model: all weights were folded or packed */
	struct arena arena;
};

/* Fills *out, which must be {0}. Returns 1 if anything is bad, else 0. */
int exportdiff_compare(const struct contract *exported, const struct contract *compiled, struct exportdiff *out);
void exportdiff_release(struct exportdiff *a);

#endif
