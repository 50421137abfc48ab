/* rankspage.h - where ranks agree and where they diverge, as HTML. */
#ifndef RANKSPAGE_H
#define RANKSPAGE_H
#include "run/ranks/ranks.h"

struct ranks_page {
	const struct ranks *all;
	const char *header; /* the user's HTML, inserted unescaped; NULL: none */
	const bool *folder; /* per process: does it have its own directory? NULL: in the single file, where the tag is the log */
	bool events, estimates, schedules; /* the files beside the page */
};
void ranks_page(struct buf *b, const struct ranks_page *p);
/* The same for the single file: its style, head and sections, without the files beside a page. */
void ranks_fragment(struct buf *b, const struct ranks *all);

#endif
