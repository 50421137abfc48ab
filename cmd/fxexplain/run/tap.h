/* tap.h - a command's standard error: passed on at once, and a copy kept.
 *
 * Through a pseudo terminal if the tool's own standard error is a terminal, so that the command still sees one; else through a pipe.
 *
 *     tap_open(&t, "FOLDER/stderr.txt");       // the command writes to t.theirs
 *     while (...) tap_pump(&t);                // whenever t.ours is readable
 *     tap_close(&t, &set);
 */
#ifndef RUN_TAP_H
#define RUN_TAP_H
#include "base/process/child.h"

struct tap {
	int ours, theirs, copy;
	bool terminal, end;
	uint64_t kept; /* bytes */
};
/* Exits if it cannot be made. */
void tap_open(struct tap *t, const char *copy);
/* Reads all that is available. */
void tap_pump(struct tap *t);
/* What the command left running may still write: it is passed on as long as that lives. */
void tap_close(struct tap *t, struct childset *set);

#endif
