/* cut.h - what nodes are, computed from the tensors that a call read: the part of the graph behind a cut.
 *
 *     struct cut k;
 *     cut_begin(&k, v, call);
 *     cut_put(&k, n, read, &layout);                  // node n has the numbers of that tensor
 *     struct numbers e;
 *     cut_compute(&k, node, AS_TYPED, &e);            // -1: it depends on something unknown, or an operator refuses
 *     cut_end(&k);
 */
#ifndef PT2_VERIFY_CUT_H
#define PT2_VERIFY_CUT_H
#include "aten/verify/verify.h"

/* In the node's own types; in float64; in float64 with what is computed on the way perturbed as rounding could have done it, what was read
 * being exact; with what was read perturbed, too. */
enum precision { AS_TYPED, WIDE, ROUNDED, PERTURBED };

/* The nodes known at the start of a kernel, with the values that were read. */
struct cut {
	struct verify *v;
	const struct observed_tensor **by_node; /* NULL: not cut here */
	const struct layout **layout;
	uint64_t *put;  /* bits: of whose by_node is not NULL */
	uint32_t first; /* the earliest call whose reads are included */
	uint32_t n_calls;
	bool open;     /* something unknown was read */
	bool inputs;   /* the last computation began at an input of the graph that is not cut */
	uint64_t seed; /* of ROUNDED and PERTURBED: another rounding */
	/* A run from there: values by node, in the node's types or in float64. */
	struct aten_value *value;
	uint8_t *state;    /* 1: needed; 2: computed by this run; 3: the reference's */
	uint64_t *touched; /* bits: of whose state is not 0 */
	bool lent;         /* the tables are v->room's, which calls use one after the other */
};

void cut_begin(struct cut *k, struct verify *v, uint32_t call);
void cut_end(struct cut *k);
void cut_put(struct cut *k, uint32_t node, const struct observed_tensor *x, const struct layout *l);
void cut_clear(struct cut *k);
void cut_room_release(struct verify *v);
/* How far off a node may be to count as the tensor's node: a tensor is within tolerance of many, so only those as close as
 * the closest, except for rounding, are used. */
double cut_nearest(const struct verify *v, const struct verify_tensor *t, const struct observed_tensor *x);
/* That tensor's nodes, but those that are cut already, have its numbers. */
void cut_read(struct cut *k, uint32_t read);
/* Compares a write with that node of what was read: its verdict, and a finding if it is wrong. False: it cannot be computed. */
bool verify_check(struct verify *v, struct cut *k, uint32_t call, uint32_t write, const struct verify_match *m);
int cut_compute(struct cut *k, uint32_t node, enum precision p, struct numbers *out);

#endif
