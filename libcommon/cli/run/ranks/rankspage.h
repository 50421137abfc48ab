/* rankspage.h - what ranks agree in and where they part, as HTML. */
#ifndef RANKSPAGE_H
#define RANKSPAGE_H
#include "run/ranks/ranks.h"

struct ranks_page {
	const struct ranks *all;
	const char *header; /* HTML of the user's, put in as it is; NULL: none */
	const bool *folder; /* per process: has it a directory of its own? NULL: in the single file, where the tag is the log */
	bool events, estimates, schedules; /* the files beside the page */
};
void ranks_page(struct buf *b, const struct ranks_page *p);
/* The same for the single file: its style, head and sections, without the files that would lie beside it. */
void ranks_fragment(struct buf *b, const struct ranks *all);

#endif
