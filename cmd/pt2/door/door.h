/* door.h - which tool answers a question about these things.
 *
 *     const struct door *d = door_find("nan", "MI", &near);      // the letters of thing.h, in their order there
 *     d->step[0]  "aoti-nanassert {M} {I}"
 *     d->next[0]  "pt2 run {M} {I}"
 *
 * A step is a command: words between single spaces. A word in braces stands for words of its own: {M} all things of that letter in the
 * order given, {T1} and {T2} the first and the second, {i} the given inputs {I}, or else inputs generated
 * from the model's contract (specs.h), {*} all things, {c} the user's command, {d} a private folder that is removed at the end.
 * `things` is a pattern over the letters: x one, x? one or none, x+ one or more, x* any number.
 *
 * The next command of a door works as printed, on the same things: tests/cli/pt2.t runs them all.
 */
#ifndef PT2_DOOR_H
#define PT2_DOOR_H
#include "base/base.h"

enum { DOOR_STEPS = 3, DOOR_NEXT = 3 };

struct door {
	const char *verb, *things;
	const char *step[DOOR_STEPS + 1]; /* one after the other; a step that ends with another status than 0 is the last. NULL: cannot */
	const char *next[DOOR_NEXT + 1];
	const char *found;  /* instead of these where the first step found something (status 1): inputs that do not fit; NULL: these */
	const char *cannot; /* why there is no answer, and what to do */
};

/* NULL: none. */
const struct door *door_find(const char *verb, const char *letters);

#endif
