/* edit.h - turns a printed fix into edits of the user's file, by the rules of share/breaks/edits.txt (their form is described there).
 *
 *     struct edit_rules r;
 *     edit_rules_read(&r, share_file("breaks/edits.txt"), &err);
 *     switch (edit_make(&r, &source, 7, SLICE("forward"), SLICE("x.clone() instead of copy.deepcopy(x)"), &why)) { ... }
 *     edit_rules_release(&r);
 *
 * All changes of a rule are made or none, and no block is left empty. The caller owns the table, which must outlive the rules.
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
/* -1 and err: with the line of the mistake in the table. */
int edit_rules_read(struct edit_rules *r, struct slice table, struct err *err);
void edit_rules_release(struct edit_rules *r);

enum edit_result {
	EDIT_MADE,    /* noted in the source, or noted before */
	EDIT_NO_RULE, /* no automatic fix */
	EDIT_REFUSED, /* why says what did not match the rules; its status is EXIT_FINE if the change was already made */
};
/* A fix of a finding at this line (from 1) of the source, in this function (empty if unknown). */
enum edit_result edit_make(const struct edit_rules *r, struct source *s, uint32_t line, struct slice function, struct slice fix,
			   struct err *why);
#endif
