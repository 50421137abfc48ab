/* session.h - one reduction, and the two kinds of oracle it may have.
 *
 *     command.c  --test COMMAND
 *     torch.c    Python with torch: recording, locating, verifying, the values of the result's inputs
 */
#ifndef FXMINIFY_SESSION_H
#define FXMINIFY_SESSION_H
#include "fxminify.h"

struct session {
	const struct fxminify_options *o;
	struct subject in;
	struct runner runner;
	struct reduction reduction;
	struct report report;
	struct result result;
	struct journal *journal;
	struct buf output, journal_path; /* names */
	struct suspects suspects;
	struct arena arena;
	size_t original_ops;
	struct err write_error; /* of the best so far, when it could not be written */
	struct buf test_script;
	const char *test_argv[5];
	void *torch;            /* torch.c's own; NULL with --test */
	const char *const *env; /* what tests run with; NULL when nothing is known */
};

int command_open(struct session *s, struct err *err);

int torch_open(struct session *s, struct err *err);
void torch_close(struct session *s);
/* Run the original once in eager: metadata of every node into in.repro.graph. */
int torch_record(struct session *s, struct err *err);
/* Nodes that seem to be at fault, the likeliest first, into s->suspects; how says by what they were found. Finding none is no failure. */
int torch_locate(struct session *s, struct slice *how, struct err *err);
/* The inputs of a candidate with the values that were recorded; free() *given. The values live until the next call. */
int torch_given(struct session *s, const struct candidate *c, struct repro_given **given, struct err *err);
/* Run the file that was written in a fresh process; s->result.verified says how it went. 1: fails the same way, 0: does not. */
int torch_verify(struct session *s, struct err *err);

#endif
