/* ranks_part.h - what the files of ranks.h share; nobody else includes it.
 *
 *     ranks.c        the facts of one log out of its records: events, graphs, spans, marks
 *     ranks_lists.c  what artifacts list: schedules, tensors, execution order; the collectives of generated code
 *     ranks_json.c   facts -> JSON; ranks_json_read.c: and back
 *     rankcmp.c      the facts of all logs together, compared
 *
 * While a log is read, f->work holds what facts are made with; rank_facts_finish() and rank_facts_in() take it away. Names are those
 * of f->names. tmp and tmp2 hold the text at hand: whoever makes a name or a fingerprint may write over tmp.
 */
#ifndef PT2_RANKS_PART_H
#define PT2_RANKS_PART_H
#include "ranks/ranks.h"

enum { RANK_COLLECTIVES = 6 }; /* kinds that are counted */

/* What one compile id has been seen to do: for spans, and for the count of collectives in schedule and code. */
struct work_compile {
	int64_t first, last;
	bool seen, closed, schedule, code, no_attempt;
	uint64_t in_schedule[RANK_COLLECTIVES], in_code[RANK_COLLECTIVES], waits;
};
struct rank_work {
	struct buf tmp, tmp2;
	struct json_tape tape; /* of payloads */
	ROWS(struct work_compile, compile);
	uint32_t seen_brk, seen_recompile, seen_failure;
	size_t text[2]; /* bytes of graphs kept: captured, made */
	uint64_t ops;
	struct intern graphs; /* fingerprints of graphs kept */
};

/* ---- ranks.c ---- */
void rank_work_free(struct rank_facts *f);
/* Good until the next one. */
struct work_compile *rank_work_of(struct rank_facts *f, uint32_t compile);
static inline uint32_t rank_name(struct rank_facts *f, struct slice s) { return intern_add(&f->names, s); }
/* One line, no control bytes, not too long. */
void rank_add_flat(struct buf *b, struct slice s, size_t most);

/* ---- ranks_lists.c ---- */
void rank_take_schedule(struct rank_facts *f, const struct trace *t, uint32_t artifact, struct slice payload, uint32_t compile);
void rank_take_tensors(struct rank_facts *f, const struct trace *t, uint32_t artifact, struct slice payload, uint32_t compile);
void rank_take_order(struct rank_facts *f, struct slice payload);
void rank_take_code(struct rank_facts *f, struct slice code, uint32_t compile);
/* After the last record: where schedule and code count otherwise. */
void rank_take_parity(struct rank_facts *f);

#endif
