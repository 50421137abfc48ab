/* session.h - one reduction, and the two kinds of oracle it may have.
 *
 *     knobs.c    numeric settings, at the end
 *     command.c  --test COMMAND
 *     verified.c what aoti-verify has found
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
	struct buf through; /* accuracy: the outputs of the original by which the difference leaves, "where, sum_1" */
	size_t n_likely;    /* so many of them, the first, are more than bystanders; 0: not known */
	struct arena arena;
	size_t original_ops, ops_before; /* before: what the run that is resumed came to */
	struct err write_error;          /* of the best so far, when it could not be written */
	struct buf test_script;
	const char *test_argv[5];
	void *torch;            /* torch.c's own; NULL with --test */
	const char *const *env; /* what tests run with; NULL when nothing is known */
};

/* knobs.c: a difference of values that goes with a setting is said, and written into the result. */
int try_knobs(struct session *s, struct err *err);
/* session.c: the input and the names of the outputs (dies where there is none), and what has to be released. fallback: of the result
 * when none is asked for, without ending. */
void session_prepare(struct session *s, const struct fxminify_options *o, const char *path, const char *const *argv, const char *fallback);
void session_close(struct session *s);
/* One more node into s->suspects, unless it is there. */
void session_suspect(struct session *s, struct slice name);
/* The nodes of what aoti-verify --json has found, and behind them operations that may be fused with them, become s->suspects. */
int verified_read(struct session *s, const char *path, struct err *err);

int command_open(struct session *s, struct err *err);

/* Starts Python while the file is read. */
void torch_begin(struct session *s, const char *path);
int torch_open(struct session *s, struct err *err);
void torch_close(struct session *s);
/* Says, once, which of several launchers do not work. */
void torch_tell_gone(struct session *s);
/* Metadata of every node, from a process with torch that runs the original once, in eager, and ends. With --test. */
int torch_shapes(struct session *s, struct err *err);
/* The original in eager: 1, and metadata of every node is in in.repro.graph; 0: out says why it does not run. */
int torch_record(struct session *s, struct outcome *out, struct err *err);
/* Runs the user's own call (oracle_torch.h): 1, and out; 0: the original is no such thing. */
int torch_users_call(struct session *s, struct outcome *out, struct err *err);
/* Nodes that seem to be at fault, the likeliest first, into s->suspects; how says by what they were found. */
void torch_locate(struct session *s, const struct outcome *original, struct slice *how);
/* The inputs of a candidate with the values that were recorded; free() *given. The values live until the next call.
 * interim: not when they are many bytes. -1 also while tests run. */
int torch_given(struct session *s, const struct candidate *c, bool interim, struct repro_given **given, struct err *err);
/* Run the file that was written in a fresh process; s->result.error is what it raised. */
int torch_try(struct session *s, struct outcome *out, struct err *err);
/* The same, and compared with the failure that is looked for; s->result.verified says how it went. 1: fails the same way, 0: does not. */
int torch_verify(struct session *s, struct err *err);

#endif
