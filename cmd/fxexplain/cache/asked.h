/* asked.h - which cache entries a run would hit, and why it would miss others.
 *
 *     struct asked a = {0};
 *     asked_of_trace(&a, &d, &facts);          // each lookup of a log (facts_options.keys): what a new run of the same program would look
 *     up
 *     asked_of_dir(&a, &d, &other);            // each graph of another folder
 *     ... a.row[]
 *     asked_release(&a);
 *
 * A key is everything that torch compares; for a missing key, the entry with the closest key shows what differs. An AOTAutograd entry can
 * only be used with the fxgraph entries that it names. Whether an entry's guards hold is only known at run time: they are shown.
 */
#ifndef FXEXPLAIN_ASKED_H
#define FXEXPLAIN_ASKED_H
#include "cache/cachedir.h"
#include "run/facts.h"

enum asked_verdict {
	ASKED_HIT,     /* a complete entry has the key */
	ASKED_MISSING, /* none has it */
	ASKED_BAD,     /* entries have it, but cannot be read */
	ASKED_NEEDS,   /* there is an AOTAutograd entry, but an fxgraph entry that it needs is missing or incomplete */
	ASKED_BYPASS,  /* the run bypassed the cache */
	ASKED_UNREAD,  /* there is an entry, but it was not checked */
	ASKED_VERDICTS
};
extern const char *const asked_verdict_name[ASKED_VERDICTS];

struct asked_row {
	enum asked_verdict verdict;
	enum fact_cache_kind cache;
	struct slice key, graph, label; /* graph: "mm, relu"; label: "0/0 app.py:3 in f" of a log; empty if unknown */
	struct slice why;               /* in words; empty */
	uint32_t times;
	uint32_t entry;          /* the file concerned: the hit, the damaged one or the closest one; NONE */
	uint32_t first, changes; /* of change[]: the differences from the closest entry; their total number */
	uint32_t told;           /* how many of them are in change[] */
};
struct asked {
	struct arena arena;
	struct intern seen;
	struct asked_row *row;
	uint32_t n_row, cap_row;
	struct key_change *change;
	uint32_t n_change, cap_change;
	uint32_t count[ASKED_VERDICTS];
};
void asked_of_trace(struct asked *a, const struct cachedir *d, const struct facts *f);
void asked_of_dir(struct asked *a, const struct cachedir *d, const struct cachedir *other);
/* factors.c: the same for vLLM's folders: key is the folder's hash, label the rank and part below it. */
void asked_of_factors(struct asked *a, const struct cachedir *d, const struct cachedir *other);
static inline const char *asked_cache(const struct asked_row *r)
{
	return r->cache == FACT_CACHE_OTHER ? "vllm" : cache_kind_name[r->cache];
}
void asked_release(struct asked *a);
#endif
