/* kernelmap_part.h - what kernelmap*.c share. */
#ifndef PT2_INDUCTOR_KERNELMAP_PART_H
#define PT2_INDUCTOR_KERNELMAP_PART_H
#include "inductor/kernelmap.h"

/* Rows, each once. */
uint32_t km_add_source(struct kernelmap *m, const struct srcloc *at);
uint32_t km_add_node(struct kernelmap *m, struct slice name);
uint32_t km_row(struct kernelmap *m, uint32_t fx); /* of node, for one of the graph; KM_NONE for GRAPH_NONE */
/* A list grows at the end of item[], where it is moved to when another one is there. No row twice. */
void km_list_begin(struct kernelmap *m, struct kmlist *l);
void km_list_add(struct kernelmap *m, struct kmlist *l, uint32_t row);
/* A bit for each node of the graph that the use is known to come from; NULL: nobody said. free() it. */
uint8_t *km_allowed(const struct kernelmap *m, const struct kmuse *u);

/* Is a row of the fusion log about this compilation, as far as it says? */
bool km_row_is_mine(const struct kernelmap *m, const struct fusion *row);

/* kernelmap_operator.c */
void km_operator(struct kernelmap *m, struct kmuse *u, struct fxindex *x);
void km_bind_results(struct kernelmap *m, struct fxindex *x);
void km_bind_inputs(struct kernelmap *m, struct fxindex *x);

#endif
