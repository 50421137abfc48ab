/* generation.h - detects compile ids that restart: a compilation that its process has already had.
 *
 * A compile id is not unique: torch._dynamo.reset() starts at 0/0 again without writing any record. But frames are numbered in the order in
 * which they are first compiled, and so are the compilations of a frame (torch 2.13.0 and 2.15.0: torch/_dynamo/convert_frame.py
 * get_compile_id). So a start of a frame or compilation whose number is not new begins a generation. Each reader knows what marks a start
 * (run/trace/identity.c, run/textlog/identity.c).
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
#include "base/rowindex.h"
#include "base/rows.h"

struct generation {
	uint32_t number; /* how many times ids restarted in this process */
	int64_t frames;  /* its highest frame, or -1 */
};
#define GENERATION_FIRST ((struct generation){0, -1})
struct generation_frame {
	uint32_t process, number; /* of the generation */
	int64_t frame, last;
};
struct generations { /* the highest compilation of each frame */
	struct row_index index;
	ROWS(struct generation_frame, frame);
};
bool generation_has(struct generations *all, uint32_t process, const struct generation *now, int64_t frame, int64_t compile);
void generation_add(struct generations *all, uint32_t process, struct generation *now, int64_t frame, int64_t compile);
static inline void generation_next(struct generation *now) { *now = (struct generation){now->number + 1, -1}; }
void generations_release(struct generations *all);

#endif
