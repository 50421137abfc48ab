/* diff.h - comparing two runs (--diff): shared by diff*.c. */
#ifndef TLPARSE_DIFF_H
#define TLPARSE_DIFF_H
#include "tlparse.h"
#include "compare/compare.h"
#include "base/io/mapfile.h"
#include "base/rows.h"

struct diff_side {
	const char *name; /* the operand */
	struct compare_log *log;
	unsigned n, cap;
	struct fusionlog fusion; /* TORCH_LOGS=fusion, from other files of the directory */
	ROWS(struct mapfile *, file);
};
/* A log of each side, or of one side only. */
struct diff_pair {
	struct compare_log *a, *b;
	struct compare c;
	uint32_t first_block; /* the page's block of its first text */
};
struct diff_set {
	struct diff_side side[2];
	struct diff_pair *pair;
	unsigned n;
	unsigned lost;
	struct facts **document; /* the documents that logs are inputs of */
	size_t n_document, cap_document;
};

/* The places of a pair's texts in the page, then of its graphs' drawings, then of its code's. block NONE: not in the page. */
struct diff_place {
	uint32_t block, offset, size;
};
static inline uint32_t diff_places(const struct compare *c) { return c->n_text + c->n_graph + c->n_code; }
/* ---- diffjson.c ---- */
/* place: NULL for --json, which contains the texts themselves. */
void diff_document(struct json_out *o, const struct diff_set *d, const struct diff_place *place, uint32_t blocks);

bool diff_differs(const struct diff_set *d);
struct facts_sums diff_sums(const struct diff_side *side);
const char *diff_unit(const struct compare_log *l, uint32_t unit, char text[COMPILE_ID_TEXT]);
struct slice diff_name(const struct compare_log *l);

/* ---- diffgraphs.c ---- */
void diff_graphs_text(struct buf *b, const struct compare *c);

/* ---- diffpage.c ---- */
/* what: the name of fd in errors. */
int diffpage_write(const struct diff_set *d, int fd, const char *what, struct err *err);

#endif
