/* crash_part.h - shared by main.c, json.c and show.c: what `fxexplain crash` found, and its two emitters. */
#ifndef FXEXPLAIN_CRASH_H
#define FXEXPLAIN_CRASH_H
#include "explain/explain.h"

#include "crash/verdict.h"

struct crash_answer {
	struct crash crash;
	struct crashmap map;
	struct crash_verdict verdict;
	struct slice missing;   /* the file at which unwinding stopped */
	struct slice unwinding; /* why the stack ends here */
	struct slice operand;   /* how the faulting instruction computed its address: crash_operand() */
};

void crash_show(struct screen *s, const struct crash_answer *a, bool all);
void crash_json(struct buf *b, const struct crash_answer *a);

/* ---- words for both emitters ---- */
/* What a call does with an argument: "reads", "writes", "reads and writes", "". */
const char *crash_role(enum arg_role role);
/* "input args[1]", "constant up.weight", "buffer" */
void crash_value_kind(struct buf *b, const struct contract *c, const struct contract_value *v);
void crash_sizes(struct buf *b, const struct contract *c, const struct contract_value *v, bool strides);

#endif
