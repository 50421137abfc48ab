/* repro_plain.h - shared by the files of REPRO_PLAIN. For repro_plain.c and repro_plain_inputs.c only. */
#ifndef PT2_REPRO_PLAIN_H
#define PT2_REPRO_PLAIN_H
#include "graph/repro/repro_plan.h"

struct plain_writer {
	const struct plan *p;
	const struct repro *r;
	const struct repro_program *how;
	struct graph g;             /* in everyday names (plain.h) */
	struct plain_size *size;    /* by input */
	struct slice *name;         /* by input: its name in the program; "": it has none */
	enum repro_form form;       /* never REPRO_GRAPH */
	bool dynamic;               /* sizes that were symbols are marked */
	bool random, base64, files; /* used by the inputs' text */
	struct err *err;
};

/* "x = torch.randn(8, 16)", one line per tensor. Fails if a tensor cannot be expressed. */
int plain_add_inputs(struct plain_writer *w, struct buf *b);

#endif
