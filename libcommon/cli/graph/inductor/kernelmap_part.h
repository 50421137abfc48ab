/* kernelmap_part.h - what kernelmap*.c share. */
#ifndef PT2_INDUCTOR_KERNELMAP_PART_H
#define PT2_INDUCTOR_KERNELMAP_PART_H
#include "graph/inductor/kernelmap.h"

/* Rows of each name, in the order in which they were added: for (e = km_rows_first(r, name); e != NONE; e = r->entry[e].next). */
struct km_rows {
	struct intern name;
	struct {
		uint32_t row, next;
	} * entry;
	uint32_t *first, *last; /* of each name */
	uint32_t n, cap, n_name, cap_first, cap_last;
};
void km_rows_add(struct km_rows *r, struct slice name, uint32_t row);
uint32_t km_rows_first(const struct km_rows *r, struct slice name);
void km_rows_release(struct km_rows *r);

/* Facts that every use of a kernel needs, found once: a wrapper may have 200,000. */
struct km_index {
	struct km_rows writers;    /* buffer: outermost nodes of the IR that write it */
	struct km_rows origins;    /* IR node: rows of the fusion log with origins */
	struct km_rows operations; /* "relu": nodes of the graph; once has_operations */
	bool has_operations;
	struct km_rows items;       /* buffer: aliases that are items of it */
	uint32_t *leaf, *leaf_next; /* of an outermost IR node, of a leaf: the next one in the order of the text */
	uint32_t *mark;             /* IR nodes of this use */
	uint32_t n_mark, cap_mark;
	uint8_t *allowed; /* km_allowed */
};
void km_index_ir(struct kernelmap *m);
void km_index_release(struct km_index *x);
/* The nodes of the IR that are a use's, and what the fusion log says of them. */
void km_join_ir(struct kernelmap *m, struct kmuse *u);
void km_from_log(struct kernelmap *m, struct kmuse *u);

/* Rows, each once. */
uint32_t km_add_node(struct kernelmap *m, struct slice name);
uint32_t km_row(struct kernelmap *m, uint32_t fx); /* of node, for one of the graph; NONE for NONE */
/* A list grows at the end of item[], where it is moved to when another one is there. No row twice. */
void km_list_begin(struct kernelmap *m, struct kmlist *l);
void km_list_add(struct kernelmap *m, struct kmlist *l, uint32_t row);

/* Is a row of the fusion log about this compilation, as far as it says? */
bool km_row_is_mine(const struct kernelmap *m, const struct fusion *row);

/* kernelmap_operator.c */
void km_operator(struct kernelmap *m, struct kmuse *u, struct fxindex *x);
void km_bind_results(struct kernelmap *m, struct fxindex *x);
void km_bind_inputs(struct kernelmap *m, struct fxindex *x);

#endif
