/* search_part.h - shared by search.c and goal.c. */
#ifndef MEND_SEARCH_PART_H
#define MEND_SEARCH_PART_H
#include "mend/search.h"

/* The first eager run. 1: go on, 0: it fails, -1: an error. */
int mend_search_start(struct mend_search *s, struct err *err);
/* Is the budget, or the number of runs, used up? Says so in ended. */
bool mend_search_spent(struct mend_search *s);
/* The compiled program has run as it is: tells its figures, and whether it crashes. */
void mend_search_base(struct mend_search *s);
void mend_search_tell(struct mend_search *s, enum search_event e, const struct search_try *t);
/* The reference; whole: of the whole program, which is then what whole runs are compared with. */
int mend_search_eager(struct mend_search *s, bool whole, struct mend_trial **out, struct err *err);
struct mend_trial *mend_search_trial(struct mend_search *s, struct trial_spec spec, struct err *err);
/* Asks for candidates; answer holds the text of the tape. */
int mend_search_candidates(struct mend_search *s, struct slice question, struct json_tape *own, struct buf *answer, uint32_t *root,
			   struct err *err);
#endif
