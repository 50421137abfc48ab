/* generation.h - whether a compilation is one that its process has had: then compile ids have begun anew.
 *
 * A compile id is no name: torch._dynamo.reset() begins at 0/0 again and writes nothing of it. But frames get their numbers in order
 * when they are compiled first, and so do the compilations of a frame (torch 2.13.0 and 2.15.0: torch/_dynamo/convert_frame.py
 * get_compile_id). So a frame that begins though it is not new, or a compilation that is not, is the first of a generation. What tells
 * that one begins, the reader knows (run/trace/identity.c, run/textlog/identity.c).
 *
 *     struct generations all = {0};
 *     struct generation now = GENERATION_FIRST;                   // one for each process
 *     if (generation_has(&all, process, &now, frame, compile))
 *         generation_next(&now);
 *     generation_add(&all, process, &now, frame, compile);
 *     generations_release(&all);
 */
#ifndef PT2_GENERATION_H
#define PT2_GENERATION_H
#include "base/hash.h"

struct generation {
	uint32_t number; /* how often ids began anew in this process */
	int64_t frames;  /* the highest frame of it, -1 */
};
#define GENERATION_FIRST ((struct generation){0, -1})
struct generations { /* the highest compilation of each frame */
	struct intern keys;
	int64_t *last;
	size_t cap;
};
bool generation_has(struct generations *all, uint32_t process, const struct generation *now, int64_t frame, int64_t compile);
void generation_add(struct generations *all, uint32_t process, struct generation *now, int64_t frame, int64_t compile);
static inline void generation_next(struct generation *now) { *now = (struct generation){now->number + 1, -1}; }
void generations_release(struct generations *all);

#endif
