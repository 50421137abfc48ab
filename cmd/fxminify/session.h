/* session.h - one reduction, and its two kinds of oracle.
 *
 *     command.c  --test COMMAND
 *     verified.c findings of aoti-verify
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
	struct candidate *state; /* every best so far, the original first */
	size_t n_states, cap_states;
	bool plain_passes; /* as a plain program the reduced graph does not fail this way */
	bool reseeded;     /* a second seed was tried */
	bool unverified;   /* the result was not seen to fail */
	bool had_data;     /* its folder of values was there before */
	struct journal *journal;
	struct buf output, journal_path; /* names */
	struct suspects suspects;
	struct buf through; /* accuracy: the outputs of the original through which the difference leaves, "where, sum_1" */
	size_t n_likely;    /* the first n_likely are more than bystanders; 0: unknown */
	struct arena arena;
	size_t original_ops, ops_before; /* before: the result of the run being resumed */
	struct err write_error;          /* set if the best so far could not be written */
	struct buf test_script;
	const char *test_argv[5];
	void *torch;            /* private to torch.c; NULL with --test */
	const char *const *env; /* the environment of tests; NULL if unknown */
};

/* session.c: the input and the names of the outputs (exits if there is none), and what must be released. fallback: the name of the result
 * if none is requested, without suffix. */
void session_prepare(struct session *s, const struct fxminify_options *o, const char *path, const char *const *argv, const char *fallback);
void session_close(struct session *s);
/* Adds a node to s->suspects, unless present. */
void session_suspect(struct session *s, struct slice name);
/* The nodes in aoti-verify --json's findings, followed by operations that may be fused with them, become s->suspects. */
int verified_read(struct session *s, const char *path, struct err *err);

/* deliver.c. Is a plain program wanted? Can the candidate be one? */
bool deliver_plain(const struct session *s);
bool deliver_can_be_plain(struct session *s, const struct candidate *c);
/* After the operations are reduced: if the graph fails the same way as a plain program, what follows is tested as one. */
int deliver_choose(struct session *s, struct err *err);
/* The final result, with its values: the newest state that fails the same way in a fresh process, in the best form that does. If none
 * does (unverified), the original. */
int deliver_result(struct session *s, struct err *err);

int command_open(struct session *s, struct err *err);
/* Computes shapes by the operators' rules, for the sizes of the inputs. why: for the first value without a shape. */
void session_shapes(struct session *s, struct err *why);

/* Starts Python while the file is being read. */
void torch_begin(struct session *s, const char *path);
int torch_open(struct session *s, struct err *err);
void torch_close(struct session *s);
/* Reports once which of several launchers do not work. */
void torch_tell_gone(struct session *s);
/* Gets metadata of every node from a torch process that runs the original once, in eager, and exits. With --test. */
int torch_shapes(struct session *s, struct err *err);
/* Runs the original in eager: 1, with metadata of every node in in.repro.graph; 0: out says why it does not run. */
int torch_record(struct session *s, struct outcome *out, struct err *err);
/* How many inputs got generated values. Starts again with others: 1; 0: there is nothing to generate, or it was done. */
size_t torch_generated(const struct session *s);
int torch_reseed(struct session *s, struct err *err);
/* Runs the user's own call (oracle_torch.h): 1, and out; 0: the original has none. */
int torch_users_call(struct session *s, struct outcome *out, struct err *err);
/* Puts suspected nodes, most likely first, into s->suspects; how says how they were found. */
void torch_locate(struct session *s, const struct outcome *original, struct slice *how);
/* The inputs of a candidate with the recorded values; free() *given. The values are valid until the next call.
 * interim: leaves them out if they are large. -1 also while tests run. */
int torch_given(struct session *s, const struct candidate *c, bool interim, struct repro_given **given, struct err *err);
/* Where tests find modules, as a PYTHONPATH. */
void torch_modules(const struct session *s, struct buf *b);
/* Runs a file that was written for this candidate in a fresh process; s->result.error is what it raised. */
int torch_try(struct session *s, const char *path, const struct candidate *c, struct outcome *out, struct err *err);
/* The same, compared with the failure being reduced; s->result.verified says how it went. 1: fails the same way, 0: does not. */
int torch_verify(struct session *s, const char *path, const struct candidate *c, struct err *err);

#endif
