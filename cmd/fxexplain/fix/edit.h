/* edit.h - a fix as it is printed becomes changes of the user's file: the rules of share/breaks/edits.txt, whose head has their form.
 *
 *     struct edit_rules r;
 *     edit_rules_read(&r, share_file("breaks/edits.txt"), &err);
 *     switch (edit_make(&r, &source, 7, SLICE("forward"), SLICE("x.clone() instead of copy.deepcopy(x)"), &why)) { ... }
 *     edit_rules_release(&r);
 *
 * What is made is whole: all changes of an entry or none, and blocks are not left empty. The table belongs to the caller and lives as long.
 */
#ifndef FIX_EDIT_H
#define FIX_EDIT_H
#include "source.h"

struct edit_step {
	uint32_t place;
	bool optional;
	struct slice from, to; /* lines; without the indentation of the table */
};
struct edit_rule {
	struct slice fix, computed, alike;
	uint32_t first, n; /* steps */
};
struct edit_rules {
	struct edit_rule *rule;
	uint32_t n, cap;
	struct edit_step *step;
	uint32_t n_step, cap_step;
	struct arena arena;
};
/* -1 and err: with the line of what is wrong in the table. */
int edit_rules_read(struct edit_rules *r, struct slice table, struct err *err);
void edit_rules_release(struct edit_rules *r);

enum edit_result {
	EDIT_MADE,    /* noted in the source, or noted before */
	EDIT_NO_RULE, /* no change of a line */
	EDIT_REFUSED, /* why says what was not as the rules have it; its status is EXIT_FINE where the change is there already */
};
/* A fix of a finding at this line (from 1) of the source, in this function (empty: not known). */
enum edit_result edit_make(const struct edit_rules *r, struct source *s, uint32_t line, struct slice function, struct slice fix,
			   struct err *why);
#endif
