/* times_part.h - what times.c and caches.c share; nobody else includes it. */
#ifndef PT2_TIMES_PART_H
#define PT2_TIMES_PART_H
#include "run/diagnose/finding.h"

/* ---- caches.c ---- */

/* "0/0 0/1 ...": a bounded list of compile ids for finding.compiles. */
struct id_list {
	struct buf text;
	uint32_t n, last; /* last: initially NONE */
};
void times_ids(struct id_list *l, const struct facts *f, uint32_t compile);
struct slice times_ids_end(struct explanation *x, struct id_list *l); /* frees it */

void explain_caches(struct explanation *x);
void explain_cudagraphs(struct explanation *x);

#endif
