/* exportdiff_part.h - for exportdiff*.c only: findings in progress, and the values used to compare expressions. */
#ifndef PT2_AGAINST_PART_H
#define PT2_AGAINST_PART_H
#include "base/text.h"
#include <inttypes.h>

#include "exportdiff/exportdiff.h"

/* Enough that two symbols with two possible values each hardly ever agree in all of them. */
#define EXPORTDIFF_TRIALS 10

struct compare {
	struct exportdiff *out;
	const struct contract *e, *c; /* exported, compiled */
	/* Forward: values of the export's symbols, and the resulting ones of the compiled symbols. */
	struct symbind fe[EXPORTDIFF_TRIALS], fc[EXPORTDIFF_TRIALS];
	/* Back: values of the compiled symbols, and the resulting ones of the export's. */
	struct symbind be[EXPORTDIFF_TRIALS];
	/* Sizes of the compiled inputs for those; of input i from first[i] on, -1 if unknown. */
	int64_t *size[EXPORTDIFF_TRIALS];
	size_t *first;
	uint32_t shared_weights, compiled_weights; /* by module path */
	uint32_t made, made_alike; /* made by the compiler, without a path; and those with as many elements as a weight of the export */
	struct intern said;        /* bounds found before: one finding for all dims of a size */
	struct symbind source, compiled_source; /* symbol -> the dim it was taken from, input * 256 + dim */
};

/* ---- exportdiff_text.c ---- */

#define exportdiff_text(k, ...) arena_textf(&(k)->out->arena, __VA_ARGS__)
/* The finding is valid until the next one is made. */
struct exportdiff_finding *exportdiff_found(struct compare *k, enum exportdiff_what what, enum exportdiff_part part, uint32_t index,
					    int dim, bool advice);
struct slice exportdiff_label(const struct compare *k, uint32_t input);
struct slice exportdiff_size(struct compare *k, const struct contract *c, struct symsize s);
/* "(s77, 8)", of sizes or strides */
struct slice exportdiff_sizes(struct compare *k, const struct contract *c, const struct contract_dim *d, int n, bool stride);

/* Does the compiled size differ from the exported one in any trial in which both have a value? */
bool exportdiff_differs(const struct compare *k, struct symsize exported, struct symsize compiled);

/* exportdiff_values.c */
void exportdiff_bind(struct compare *k);
void exportdiff_unbind(struct compare *k);

/* Are there compiled sizes that the export's expression for this dim does not allow? */
bool exportdiff_unchecked(const struct compare *k, uint32_t input, int dim);

/* Are the compiled strides, as far as they are known, those of a contiguous tensor? */
bool exportdiff_contiguous(const struct compare *k, const struct contract_dim *d, int n);

/* exportdiff_model.c: outputs, constants, and whether it is the same model */
void exportdiff_outputs(struct compare *k);
void exportdiff_constants(struct compare *k);
void exportdiff_model(struct compare *k);

#endif
