/* asked.h - what a run would find in a cache folder, and why not.
 *
 *     struct asked a = {0};
 *     asked_of_trace(&a, &d, &facts);          // each lookup of a log (facts_options.keys): a new run of the same program asks for these
 *     asked_of_dir(&a, &d, &other);            // each graph of another folder
 *     ... a.row[]
 *     asked_release(&a);
 *
 * A key is all that torch compares; where it is not there, the entry with the nearest key tells what differs. An entry of AOTAutograd is
 * served only with the fxgraph entries that it names. Whether an entry's guards hold is seen at run time: they are told.
 */
#ifndef FXEXPLAIN_ASKED_H
#define FXEXPLAIN_ASKED_H
#include "cache/cachedir.h"
#include "run/facts.h"

enum asked_verdict {
	ASKED_HIT,     /* a whole entry has the key */
	ASKED_MISSING, /* none has it */
	ASKED_BAD,     /* those that have it cannot be read */
	ASKED_NEEDS,   /* an entry of AOTAutograd is there, an fxgraph entry that it needs is not, or not whole */
	ASKED_BYPASS,  /* the run did not ask */
	ASKED_UNREAD,  /* there is one, which was not judged */
	ASKED_VERDICTS
};
extern const char *const asked_verdict_name[ASKED_VERDICTS];

struct asked_row {
	enum asked_verdict verdict;
	enum fact_cache_kind cache;
	struct slice key, graph, label; /* graph: "mm, relu"; label: "0/0 app.py:3 in f" of a log; empty where it is not known */
	struct slice why;               /* in words; empty */
	uint32_t times;
	uint32_t entry;          /* file that is told of: that serves, that is damaged, that is nearest; NONE */
	uint32_t first, changes; /* of change[]: what differs from the nearest; how many there are in all */
	uint32_t told;           /* of them, in change[] */
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
/* factors.c: of that, vLLM's folders: key is the folder's hash, label the rank and part below it. */
void asked_of_factors(struct asked *a, const struct cachedir *d, const struct cachedir *other);
static inline const char *asked_cache(const struct asked_row *r)
{
	return r->cache == FACT_CACHE_OTHER ? "vllm" : cache_kind_name[r->cache];
}
void asked_release(struct asked *a);
#endif
