/* rankspage_part.h - shared by the files of the landing page of --all-ranks-html; nobody else includes it.
 *
 *     rankspage.c          the page around its sections; the verdict, what was compared, the table of processes
 *     rankspage_put.c      what the sections have in common
 *     rankspage_notes.c    what is missing, damaged, mixed
 *     rankspage_desync.c   who keeps others waiting in a collective
 *     rankspage_splits.c   where ranks diverge: the items around it, the graphs side by side
 *     rankspage_time.c     compile time and who is slow; the drawn timeline; runtime estimates
 *     rankspage_order.c    collective schedules, the order in which graphs ran
 *
 * The page depends on struct ranks alone, so that logs and the documents made from them give the same page; only links to folders and
 * missing files are left out. Everything is in the page, nothing needs a network; scripts add the drawn timeline, sorting
 * and a filter. A section is a function ranks_put_X(g) that writes all of it, or nothing if nothing is known.
 *
 * Text from a log is written through text(), str() or a {} of put(), which escape it; raw() is for literal text of these files.
 */
#ifndef RANKSPAGE_PART_H
#define RANKSPAGE_PART_H
#include "base/html/html.h"
#include "base/text.h"
#include "run/ranks/rankspage.h"

#include <inttypes.h>

enum {
	SPLITS_SHOWN = 12, /* per check, the others are listed */
	SLOW_ROWS = 60,
	RANGES = 40, /* of ranks, in one list */
	CULPRITS_SHOWN = 20,
};

struct page {
	struct buf *b;
	const struct ranks *all;
	const struct ranks_page *p;
	struct intern shown; /* pairs of graphs already in the page */
	uint32_t rows;       /* of diffs */
};

static inline void raw(struct page *g, const char *s) { buf_adds(g->b, s); }
static inline void text(struct page *g, struct slice s) { html_text(g->b, s); }
#define put(g, form, ...) html_put((g)->b, form, __VA_ARGS__)
static inline void str(struct page *g, const char *s) { html_text(g->b, slice_str(s)); }
static inline struct slice name(const struct page *g, uint32_t n) { return rank_text(g->all, n); }

/* ---- rankspage_put.c ---- */

/* The names of the checks, in the order in which the page shows them. */
struct ranks_check {
	const char *id, *title, *what, *unit;
};
extern const struct ranks_check ranks_checks[RANK_CHECK_COUNT];
extern const enum rank_check ranks_check_order[RANK_CHECK_COUNT];

/* A compile id of a process; nothing if there is none. */
void ranks_put_id(struct page *g, const struct rank_process *f, uint32_t compile);
/* us < 0: unknown. */
void ranks_put_seconds(struct page *g, int64_t us);
/* "rank 3", "rank_0_2": a process's name in a sentence. */
void ranks_put_who(struct page *g, uint32_t process);
/* "ranks 0, 2-7, rank_0_2". Members are in order. */
void ranks_put_members(struct page *g, const uint32_t *m, uint32_t n);
/* "0, 2–7" for ascending numbers. */
void ranks_put_numbers(struct page *g, const int64_t *rank, uint32_t n);
/* A file without its folders. */
void ranks_put_file(struct page *g, const char *path);
/* Cache marks of a process: + hit, - miss, ? bypass, the same signs as in the Rust tool. */
void ranks_put_marks(struct page *g, const struct rank_process *f);

/* ---- the sections ---- */
void ranks_put_notes(struct page *g);
void ranks_put_desyncs(struct page *g);
void ranks_put_splits(struct page *g);
void ranks_put_time(struct page *g);
void ranks_put_timeline(struct page *g);
void ranks_put_estimates(struct page *g);
void ranks_put_schedules(struct page *g);
void ranks_put_order(struct page *g);

#endif
