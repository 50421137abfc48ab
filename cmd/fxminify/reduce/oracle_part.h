/* oracle_part.h - the interface of an oracle implementation (oracle.h is the manual; only oracle_*.c include this).
 *
 *     struct oracle_mine {
 *             struct oracle oracle;              // first, so that a pointer to one is a pointer to the other
 *             ...
 *     };
 *     static const struct oracle_ops ops = {.jobs = mine_jobs, .start = mine_start, ...};
 *     o->oracle.ops = &ops;
 *     return &o->oracle;
 *
 * The functions of oracle.h call these directly; each must do what oracle.h says. close frees the oracle itself.
 */
#ifndef PT2_REDUCE_ORACLE_PART_H
#define PT2_REDUCE_ORACLE_PART_H
#include "reduce/oracle.h"

struct oracle_ops {
	unsigned (*jobs)(const struct oracle *o);
	uint64_t (*start)(struct oracle *o, const struct test *t, struct err *err);
	int (*wait)(struct oracle *o, int timeout_ms, struct outcome *out, struct err *err);
	void (*cancel)(struct oracle *o, uint64_t id);
	void (*close)(struct oracle *o);
};
struct oracle {
	const struct oracle_ops *ops;
};

#endif
