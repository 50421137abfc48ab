/* narrow.h - a choice of calls, any of which can be the wrong one, made smaller by running the package again.
 *
 *     struct narrow n;
 *     if (narrow_plan(&n, &held.verify, run)) {            // findings and outputs with a choice of calls
 *         narrow_give(&n, &dump, &file, &err);             // what is put around the calls (watch/given.h)
 *         given_run(..., &taken, &err);                    // the package, `run` + NARROW_RUNS times
 *         narrow_judge(&n, buf_slice(&file), buf_slice(&taken));
 *         if (narrow_suppose(&n, &dump, &file2, &err) > 0) // more runs: with values of the graph in front of a call
 *             given_run(..., &taken2, &err), narrow_supposed(&n, ...);
 *         narrow_apply(&n);                                // the verify's findings, rows and outputs
 *     }
 *     narrow_release(&n);
 *
 * 1. Which elements does a call write? Each call of a choice is called twice more, alone: it reads what it read in the given run, and the
 *    tensors that it only writes hold one pattern of bytes, then another. What is the same afterwards is what it wrote. A loop writes its
 *    result row by row: so each element has the call that wrote it last, and is compared with the graph's, computed from what these calls
 *    read. A call all of whose reads are known, and that writes a wrong element, is wrong; one that writes only right elements is not.
 * 2. A call that read a tensor which is not a value of the graph is called with values of the graph in its place, those closest to the
 *    result first. If its result is then the graph's, it is right, and the tensor's writer is wrong.
 */
#ifndef PT2_VERIFY_NARROW_H
#define PT2_VERIFY_NARROW_H
#include "aten/verify/cut.h"

enum { NARROW_RUNS = 2 };

struct narrow_call {
	uint32_t call;
	enum { NARROW_OPEN, NARROW_RIGHT, NARROW_WRONG } what;
	uint32_t write;           /* its tensor in the target's memory; NONE */
	struct verify_finding at; /* of the elements that it wrote: .n, .wrong, .at, .got, .want */
};
struct narrow_choice {
	bool is_output;
	uint32_t at;                          /* in .output or .finding of the verify */
	const struct observed_tensor *target; /* the tensor that is wrong, as it is in the end */
	uint32_t node;                        /* what it should be */
	struct layout l;
	uint32_t ends;            /* the call that ended a loop after another number of turns than in the graph; NONE: none did */
	bool apart;               /* what it should be does not follow from what these calls read */
	bool unrun;               /* ... but from a turn of the graph's that the loop did not run */
	struct narrow_call *call; /* in order */
	uint32_t n, cap;
	/* Of the second step: this call, with one of these nodes in place of what it read, in consecutive runs. */
	uint32_t supposed, read, first_run, n_runs, node_of[8];
	uint32_t found; /* the node that made its result right; NONE */
};
struct narrow {
	struct verify *v;
	uint32_t run;
	struct narrow_choice *choice;
	uint32_t n, cap;
	uint32_t *call; /* those of all choices, in order */
	uint32_t n_calls;
	uint64_t bytes; /* about what the file takes */
};

bool narrow_plan(struct narrow *n, struct verify *v, uint32_t run);
int narrow_give(const struct narrow *n, const struct dump *d, struct buf *file, struct err *err);
void narrow_judge(struct narrow *n, struct slice given, struct slice taken);
/* How many runs more; 0: none would tell; -1. */
int narrow_suppose(struct narrow *n, const struct dump *d, struct buf *file, struct err *err);
void narrow_supposed(struct narrow *n, struct slice given, struct slice taken);
void narrow_apply(struct narrow *n);
void narrow_release(struct narrow *n);

#endif
