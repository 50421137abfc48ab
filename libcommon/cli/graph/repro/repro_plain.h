/* repro_plain.h - what the files of REPRO_PLAIN share. For repro_plain.c and repro_plain_inputs.c only. */
#ifndef PT2_REPRO_PLAIN_H
#define PT2_REPRO_PLAIN_H
#include "graph/repro/repro_plan.h"

struct plain_writer {
	const struct plan *p;
	const struct repro *r;
	const struct repro_program *how;
	struct graph g;             /* as a person has it (plain.h) */
	struct plain_size *size;    /* by input */
	struct slice *name;         /* by input: in the program; "": it is none there */
	enum repro_form form;       /* never REPRO_GRAPH */
	bool dynamic;               /* sizes that were symbols are marked */
	bool random, base64, files; /* what the inputs' text uses */
	struct err *err;
};

/* "x = torch.randn(8, 16)", a line for each tensor. Fails where a tensor cannot be said so. */
int plain_add_inputs(struct plain_writer *w, struct buf *b);

#endif
