/* program.h - from a program that fails to the graph that makes it fail: `fxminify -- python app.py`.
 *
 *     program.c   runs the program under share/fxminify/catch.py, and finds out what failed
 *     source.c    a failure in capture itself: there is no graph, so the program's source is reduced (share/fxminify/source.py)
 *
 * Everything goes into the folder of a kept run (run/kept/kept.h): the launcher of the graph that failed, with its real inputs, which is
 * then reduced as if it had been the operand; a journal names it, so that it can be continued. */
#ifndef FXMINIFY_PROGRAM_H
#define FXMINIFY_PROGRAM_H
#include "fxminify.h"

/* What catch.py saw. Texts are in arena. */
struct caught {
	struct slice
	    stage; /* "inductor", "dynamo": graph is a launcher; "capture": graph is a line of the program; "program"; "": nothing */
	struct slice kind; /* "raised", "accuracy", "crashed", "timeout" */
	struct slice type, message, graph;
	struct slice after_dynamo; /* a launcher of what graph was made of; "" */
	uint64_t unknown;          /* inputs without values */
	double at;
};

/* Returns an exit status. o is changed: --expect, --python and the level are those of the failure. */
int program_run(struct fxminify_options *o, char *const *command, int argc, char *const *argv);
int source_run(const struct fxminify_options *o, char *const *command, const char *folder, const struct caught *c);

#endif
