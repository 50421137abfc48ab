/* graphdiff_part.h - shared by the files of graphdiff.h; not included elsewhere.
 *
 *     graphdiff.c         the steps in order
 *     graphdiff_match.c   which node is which
 *     graphdiff_meta.c    sizes of both graphs compared, with the symbols of one put in for those of the other
 *     graphdiff_rows.c    what changed, and what follows from what
 */
#ifndef PT2_GRAPHDIFF_PART_H
#define PT2_GRAPHDIFF_PART_H
#include "graph/graphdiff.h"

static inline uint64_t gd_mix(uint64_t a, uint64_t b)
{
	__uint128_t r = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xa0761d6478bd642full);
	return (uint64_t)r ^ (uint64_t)(r >> 64);
}
static inline uint64_t gd_text(struct slice s) { return hash_bytes(s.p, s.n); }
/* The same operator, or the same kind of a node that is none. */
bool gd_alike(const struct graph *g, uint32_t x, const struct graph *h, uint32_t y);

/* ---- graphdiff_match.c ---- */
void gd_match(struct graphdiff *d);
/* Calls fn for each node among the operands, with a hash of its place among them. */
typedef void gd_leaf(void *ctx, uint32_t operand, uint64_t place);
void gd_operands(const struct graph *g, uint32_t node, gd_leaf *fn, void *ctx);

/* ---- graphdiff_meta.c ---- */
struct gd_symbols {
	struct intern a, b; /* symbols; partner[i]: of a's i, in b's */
	uint32_t *partner;
	uint32_t cap;
	struct buf text[2];
};
void gd_symbols_release(struct gd_symbols *s);
/* Which symbols of a are which of b, from the sizes of matched nodes. */
void gd_symbols_match(struct gd_symbols *s, const struct graphdiff *d);
/* A bit for each kind of row. text: of each kind, in gd_meta_text. */
unsigned gd_meta_differs(struct gd_symbols *s, const struct graphdiff *d, uint32_t a, uint32_t b);
void gd_meta_text(const struct graph *g, uint32_t meta, enum graphdiff_kind kind, struct buf *b);
/* Metadata without the names of symbols. */
uint64_t gd_meta_hash(const struct graph *g, uint32_t meta, struct buf *tmp);

/* ---- graphdiff_rows.c ---- */
void gd_rows(struct graphdiff *d);

#endif
