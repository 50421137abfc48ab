/* edit_part.h - shared by edit.c (rules, places in the file) and compiled.c (what was compiled and where it is called). */
#ifndef FIX_EDIT_PART_H
#define FIX_EDIT_PART_H
#include "edit.h"
#include "template.h"

struct editing {
	struct source *s;
	uint32_t at;           /* the statement of the finding */
	struct slice function; /* that it is in */
	struct captures c;     /* of the fix */
	struct slice alike;    /* of the rule */
};
/* Each returns the number of changes noted, or -1 and err. */
int edit_compile(struct editing *e, const struct edit_step *st, struct err *err);
int edit_call(struct editing *e, const struct edit_step *st, struct err *err);
int edit_calls(struct editing *e, const struct edit_step *st, struct err *err);

/* Does the code contain this name? */
bool edit_names(struct slice code, const char *name);
#endif
