/* kernelmap_part.h - shared by kernelmap*.c. */
#ifndef PT2_INDUCTOR_KERNELMAP_PART_H
#define PT2_INDUCTOR_KERNELMAP_PART_H
#include "graph/inductor/kernelmap.h"

/* Rows of each name, in the order they were added: for (e = km_rows_first(r, name); e != NONE; e = r->entry[e].next). */
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

/* Facts that every use of a kernel needs, computed once: a wrapper may have 200,000 uses. */
struct km_index {
	struct km_rows writers;    /* buffer: outermost nodes of the IR that write it */
	struct km_rows origins;    /* IR node: rows of the fusion log with origins */
	struct km_rows operations; /* "relu": nodes of the graph; valid if has_operations */
	bool has_operations;
	struct km_rows items;       /* buffer: aliases that are its items */
	uint32_t *leaf, *leaf_next; /* of an outermost IR node; of a leaf the next one in text order */
	uint32_t *mark;             /* IR nodes of this use */
	uint32_t n_mark, cap_mark;
	uint8_t *allowed; /* km_allowed */
};
void km_index_ir(struct kernelmap *m);
void km_index_release(struct km_index *x);
/* The IR nodes of a use, and what the fusion log says about them. */
void km_join_ir(struct kernelmap *m, struct kmuse *u);
void km_from_log(struct kernelmap *m, struct kmuse *u);

/* Rows without duplicates. */
uint32_t km_add_node(struct kernelmap *m, struct slice name);
uint32_t km_row(struct kernelmap *m, uint32_t fx); /* row of node[] for a graph node; NONE for NONE */
/* A list grows at the end of item[], and is moved there if another one follows it. No row occurs twice. */
void km_list_begin(struct kernelmap *m, struct kmlist *l);
void km_list_add(struct kernelmap *m, struct kmlist *l, uint32_t row);

/* Is a row of the fusion log about this compilation, as far as known? */
bool km_row_is_mine(const struct kernelmap *m, const struct fusion *row);

/* kernelmap_operator.c */
void km_operator(struct kernelmap *m, struct kmuse *u, struct fxindex *x);
void km_bind_results(struct kernelmap *m, struct fxindex *x);
void km_bind_inputs(struct kernelmap *m, struct fxindex *x);

#endif
