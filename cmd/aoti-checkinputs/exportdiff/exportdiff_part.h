/* exportdiff_part.h - for exportdiff*.c only: findings being made, and the values that expressions are compared by. */
#ifndef PT2_AGAINST_PART_H
#define PT2_AGAINST_PART_H
#include <inttypes.h>

#include "exportdiff/exportdiff.h"

/* So many that two symbols of two possible values are hardly ever the same in all of them. */
#define EXPORTDIFF_TRIALS 10

struct compare {
	struct exportdiff *out;
	const struct contract *e, *c; /* exported, compiled */
	/* Forward: values of the export's symbols, and what follows for the compiled ones. */
	struct symbind fe[EXPORTDIFF_TRIALS], fc[EXPORTDIFF_TRIALS];
	/* Back: values of the compiled symbols, and what follows for the export's. */
	struct symbind be[EXPORTDIFF_TRIALS];
	/* Sizes of the compiled inputs in those; of input i from first[i] on, -1 where not known. */
	int64_t *size[EXPORTDIFF_TRIALS];
	size_t *first;
	uint32_t shared_weights, compiled_weights; /* by module path */
	uint32_t made, made_alike; /* without one, by the compiler; and those with as many numbers as a weight of the export's */
	struct intern said;        /* bounds that were found before: one finding for all dims of a size */
	struct symbind source, compiled_source; /* symbol -> the dim it was taken from, input * 256 + dim */
};

struct slice exportdiff_text(struct compare *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The finding is valid until the next one is made. */
struct exportdiff_finding *exportdiff_found(struct compare *k, enum exportdiff_what what, enum exportdiff_part part, uint32_t index,
					    int dim, bool advice);
/* "(s77, 8)", of sizes or strides */
struct slice exportdiff_sizes(struct compare *k, const struct contract *c, const struct contract_dim *d, int n, bool stride);
/* Has the compiled size another value than the exported one, in any trial where both have one? */
bool exportdiff_differs(const struct compare *k, struct symsize exported, struct symsize compiled);

/* exportdiff_values.c */
void exportdiff_bind(struct compare *k);
void exportdiff_unbind(struct compare *k);

/* Do compiled sizes exist that the export's expression for this dim does not allow? */
bool exportdiff_unchecked(const struct compare *k, uint32_t input, int dim);

/* Are the compiled strides, as far as they are known, those of a contiguous tensor? */
bool exportdiff_contiguous(const struct compare *k, const struct contract_dim *d, int n);

/* exportdiff_model.c: outputs, constants, and whether it is the same model at all */
void exportdiff_outputs(struct compare *k);
void exportdiff_constants(struct compare *k);
void exportdiff_model(struct compare *k);

#endif
