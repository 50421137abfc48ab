/* program.h - from a program that fails to the graph that makes it fail: `fxminify -- python app.py`.
 *
 *     program.c   runs the program under share/fxminify/catch.py, and finds out what failed
 *     prelude.c   a program that changes torch: its graph is tested in processes that ran it up to its first compile
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
	struct slice by;           /* of a failure in capture: "Dynamo", "torch.export" */
	struct slice changes;      /* what the program changes in torch (share/fxminify/changes.py): "a; b"; "" */
	uint64_t unknown;          /* inputs without values */
	double at;
};

/* Returns an exit status. o is changed: --expect, --python and the level are those of the failure. */
int program_run(struct fxminify_options *o, char *const *command, int argc, char *const *argv);
/* --resume of the journal of such a run: its graph, and what it takes of the program. */
int program_resume(struct fxminify_options *o, char *const *command, const char *graph, const char *const *argv, const char *journal);
/* The word that is the program: "python -u app.py --x": 2. 0: none, as in "python -m app". */
size_t program_word(char *const *command);
int source_run(const struct fxminify_options *o, char *const *command, const char *folder, const struct caught *c);

/* Writes the module that runs the program up to its first compile, beside the graphs. false: it is not a Python program, or err. */
bool prelude_make(struct prelude *p, const struct fxminify_options *o, char *const *command, const char *folder, struct err *err);
void prelude_release(struct prelude *p);
/* Makes one file of the result and of what it needs of the program (share/fxminify/fold.py); of NULL: of the modules beside the program
 * that it imports. 1: it is one; 0: it fails only with the program. */
int source_fold(const struct fxminify_options *o, const struct prelude *of, const char *path, const char *folder, struct err *err);
/* The delivered result, which imports p's module: folded, or with the module beside it. What is to be said of it goes into more. */
int prelude_deliver(const struct fxminify_options *o, const char *path, const char *folder, struct err *err);

#endif
