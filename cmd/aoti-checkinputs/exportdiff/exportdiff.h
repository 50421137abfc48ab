/* exportdiff.h - what an exported program promised, held against what its compiled form takes.
 *
 *     struct exportdiff a = {0};
 *     exportdiff_compare(&exported, &compiled, &a);     // exported.h; wrapper.h or probe.h
 *     for (size_t i = 0; i < a.n; i++)
 *         a.v[i].subject, a.v[i].exported, a.v[i].compiled, a.v[i].why, a.v[i].fix ...
 *     exportdiff_release(&a);
 *
 *     input 0 (x), dim 0: exported s77: 2..64; compiled 2..15
 *         16..64 are refused under AOTI_RUNTIME_CHECK_INPUTS=1 and unchecked otherwise
 *
 * The two may differ: while lowering, the compiler learns more of the symbols than the export did (docs/dev/FACTS.md, "A
 * convolution takes fewer batches than were exported"), it makes demands of strides that torch.export does not know,
 * and it checks nothing of an input that is not used. Or the package is from another export than one thinks.
 *
 * Expressions are compared by value: their symbols have other names on the two sides. For a few choices of the export's
 * symbols the sizes of the inputs follow, from these the compiled symbols, and every compiled size must then be the
 * input's; what is not is a demand that the export does not make. The same the other way round finds relations of the
 * export that nothing checks. What one side does not know (contract_known) is no finding.
 *
 * Weights are compared by module path, shape and dtype, never by value. What the compiler made of them itself (freezing folds
 * and packs: "_frozen_param3", "constant4") has no path: a note, and that two models are the same then rests on the
 * rest, which the note says.
 *
 * A finding is bad when calls that the export allows fail, or go wrong unseen; what is worth knowing only is advice.
 * Bad ones come first, then in the order of enum exportdiff_what. Work is linear in the number of dims.
 */
#ifndef PT2_AGAINST_H
#define PT2_AGAINST_H
#include "model/contract/contract.h"

enum exportdiff_what {
	EXPORTDIFF_MODEL, /* these are two different models; says so before everything else; or (advice) what says that they are one */
	EXPORTDIFF_COUNT, /* inputs or outputs */
	EXPORTDIFF_DTYPE,
	EXPORTDIFF_DEVICE,
	EXPORTDIFF_RANK,
	EXPORTDIFF_STATIC,    /* dynamic as exported, one size as compiled */
	EXPORTDIFF_SIZE,      /* two sizes; or (advice) a size that the compiled code does not check */
	EXPORTDIFF_NARROWER,  /* bounds inside the exported ones */
	EXPORTDIFF_EQUAL,     /* the compiled code demands a relation between sizes that the export does not have */
	EXPORTDIFF_STRIDE,    /* other strides; or (advice) strides that no export checks are demanded */
	EXPORTDIFF_CONSTANT,  /* of another shape or dtype, not in the export; or (advice) not in the compiled code, made by the compiler */
	EXPORTDIFF_UNCHECKED, /* advice: a relation of the export's that the compiled code does not check */
	EXPORTDIFF_WIDER,     /* advice: bounds beyond the exported ones */
};
const char *exportdiff_what_name(enum exportdiff_what w); /* "model", "narrower", ...: for JSON */

enum exportdiff_part { EXPORTDIFF_WHOLE, EXPORTDIFF_INPUT, EXPORTDIFF_OUTPUT, EXPORTDIFF_WEIGHT };

struct exportdiff_finding {
	enum exportdiff_what what;
	enum exportdiff_part part;
	uint32_t index; /* of the input, output or compiled constant; NONE for all of them */
	int dim;        /* -1 when it is about all of it */
	bool advice;
	struct slice subject;  /* "input 0 (x), dim 0" */
	struct slice exported; /* "s77: 2..64" */
	struct slice compiled; /* "2..15" */
	struct slice why;      /* what happens because of it */
	struct slice fix;      /* what to do; may be empty */
};

struct exportdiff {
	struct exportdiff_finding *v;
	size_t n, cap;
	size_t n_bad;    /* those that are no advice */
	bool same_model; /* false: there is an EXPORTDIFF_MODEL that is no advice */
	bool unproved;   /* nothing but the inputs and outputs says that it is the same model: all weights were folded or packed */
	struct arena arena;
};

/* Fills *out, which was {0}. Returns 1 when anything is bad, else 0. */
int exportdiff_compare(const struct contract *exported, const struct contract *compiled, struct exportdiff *out);
void exportdiff_release(struct exportdiff *a);

#endif
