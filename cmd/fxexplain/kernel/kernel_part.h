/* kernel_part.h - shared by kernel*.c. */
#ifndef FXEXPLAIN_KERNEL_PART_H
#define FXEXPLAIN_KERNEL_PART_H
#include "explain/explain.h"
#include "graph/inductor/kernelmaps.h"

#define KERNEL_HITS 4096

/* A place in one of the maps. */
struct kernel_hit {
	uint32_t map;
	struct kmhit at;
};

/* ---- show.c: text output ---- */
void show_table(struct screen *s, const struct kernelmaps *k);
void show_hit(struct screen *s, const struct kernelmaps *k, struct kernel_hit hit);
void show_error(struct screen *s, const struct kernelmaps *k, const struct kmlocation *at);
/* "C++", "Triton", ... of a kernel (OUTLANGS); "torch" of an operator. */
const char *language_of(const struct kernelmap *m, const struct kmuse *u);

/* ---- json.c ---- */
void kernel_json(struct buf *b, const struct kernelmaps *k, const struct kernel_hit *hit, uint32_t n, const struct kmlocation *error,
		 uint32_t n_errors);

#endif
