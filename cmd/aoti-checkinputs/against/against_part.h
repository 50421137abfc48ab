/* against_part.h - for against*.c only: findings in progress, and the values used to compare expressions. */
#ifndef PT2_AGAINST_PART_H
#define PT2_AGAINST_PART_H
#include "base/text.h"
#include <inttypes.h>

#include "against/against.h"

/* Enough that two symbols with two possible values each hardly ever agree in all of them. */
#define AGAINST_TRIALS 10

struct compare {
	struct against *out;
	const struct contract *e, *c; /* exported, compiled */
	/* Forward: values of the export's symbols, and the resulting ones of the compiled symbols. */
	struct symbind fe[AGAINST_TRIALS], fc[AGAINST_TRIALS];
	/* Back: values of the compiled symbols, and the resulting ones of the export's. */
	struct symbind be[AGAINST_TRIALS];
	/* Sizes of the compiled inputs for those; of input i from first[i] on, -1 if unknown. */
	int64_t *size[AGAINST_TRIALS];
	size_t *first;
	uint32_t shared_weights, compiled_weights; /* by module path */
	uint32_t made, made_alike; /* made by the compiler, without a path; and those with as many elements as a weight of the export */
	struct intern said;        /* bounds found before: one finding for all dims of a size */
	struct symbind source, compiled_source; /* symbol -> the dim it was taken from, input * 256 + dim */
};

struct slice against_text(struct compare *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The finding is valid until the next one is made. */
struct against_finding *against_found(struct compare *k, enum against_what what, enum against_part part, uint32_t index, int dim,
				      bool advice);
/* "(s77, 8)", of sizes or strides */
struct slice against_sizes(struct compare *k, const struct contract *c, const struct contract_dim *d, int n, bool stride);
/* Does the compiled size differ from the exported one in any trial in which both have a value? */
bool against_differs(const struct compare *k, struct symsize exported, struct symsize compiled);

/* against_values.c */
void against_bind(struct compare *k);
void against_unbind(struct compare *k);

/* Are there compiled sizes that the export's expression for this dim does not allow? */
bool against_unchecked(const struct compare *k, uint32_t input, int dim);

/* Are the compiled strides, as far as they are known, those of a contiguous tensor? */
bool against_contiguous(const struct compare *k, const struct contract_dim *d, int n);

/* against_model.c: outputs, constants, and whether it is the same model */
void against_outputs(struct compare *k);
void against_constants(struct compare *k);
void against_model(struct compare *k);

#endif
