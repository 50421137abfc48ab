/* oracle.h - does this candidate still fail? One interface, two answers: torch in a process that stays (oracle_torch), and any
 * command (oracle_command).
 *
 *     struct oracle *o = oracle_command(&(struct oracle_command_spec){.argv = ..., .jobs = 4}, &err);
 *     uint64_t id = oracle_start(o, &test, &err);          // up to oracle_jobs(o) at once
 *     struct outcome out;
 *     while (oracle_wait(o, -1, &out, &err) == 1) ...      // out.id; any order
 *     oracle_cancel(o, id);                                // its process group gets TERM, then KILL; no outcome comes
 *     oracle_close(o);                                     // nothing runs on, no file is left
 *
 * An outcome says what happened; a verdict what that means against the failure that is looked for (verdict_of). Each test has its
 * own process group, an empty folder, a timeout and a memory limit. The timeout is of the test's age (reduce/childage.h), not of the
 * clock: what a busy machine keeps waiting does not hang. A test that could not be made (no fork, no space, inputs missing,
 * the oracle died) is OUTCOME_INFRA: never a failure of the candidate.
 */
#ifndef PT2_REDUCE_ORACLE_H
#define PT2_REDUCE_ORACLE_H
#include "graph/repro/repro.h"
#include "graph/slice.h"

enum outcome_kind {
	OUTCOME_PASSES,
	OUTCOME_INVALID,  /* fails in eager already, or is no graph: says nothing about the compiler */
	OUTCOME_RAISED,   /* the compiler or the compiled code raised */
	OUTCOME_ACCURACY, /* runs, but the values differ */
	OUTCOME_CRASHED,  /* died of a signal */
	OUTCOME_TIMEOUT,  /* it hangs */
	OUTCOME_MEMORY,   /* wanted more memory than it may have, or than there is */
	OUTCOME_FAILED,   /* --test said so (exit 0): there is nothing to compare */
	OUTCOME_INFRA,
	OUTCOMES
};
extern const char *const outcome_words[OUTCOMES];

/* By these a failure is recognised. A field that could not be found out is empty. */
struct signature {
	enum outcome_kind kind;
	struct slice type; /* "torch._inductor.exc.CppCompileError", "SIGSEGV", "accuracy", "timeout", "memory" */
	/* normalised: paths, addresses, numbers and names of buffers, kernels and nodes taken out; at most 500 bytes */
	struct slice message;
	/* up to three innermost frames of torch: "codegen/cpp.py:codegen_relu;..."; C++: none. Of a crash, a hang, or one that wanted too
	 * much memory: of any module but Python's own ("mine.py:my_pass"); "generated:call" is code of Inductor's; of a hang, the
	 * innermost that it does not leave. */
	struct slice frames;
};
/* Texts in `a` are taken over into `arena`. */
struct signature signature_copy(struct arena *arena, const struct signature *s);
/* Is it the same failure? Kind, type and message are equal, and so is the innermost frame where both have one; the class of an
 * accuracy failure may be missing, and the phase in which a process died or hangs. Of hangs and of memory that ran out, the innermost frame
 * of one may be any of the other's: where exactly it is seen depends on the moment. check: a text that the message or type of b must hold
 * (--check-str), which replaces all of this but the kind. */
bool signature_same(const struct signature *a, const struct signature *b, struct slice check);
/* An error of a GPU's kernel ("CUDA error: an illegal memory access was encountered", and the like) is known by itself alone: it is
 * reported by whatever call comes after it, so that type, place and the words around it differ. True when the message, or the output of a
 * process that died of it, has one; type, message and frames are then filled with texts that are not owned. */
bool signature_of_kernel_error(struct slice text, struct signature *s);
/* A message without what differs from run to run and from candidate to candidate. */
void signature_normalise(struct slice message, struct buf *out);

struct outcome {
	uint64_t id;
	enum outcome_kind kind;
	struct signature signature; /* text lives until the next oracle call */
	struct slice detail;        /* a line or a few: the message as it was */
	double seconds;             /* wall time of the test */
	struct slice extra;         /* JSON that only the torch oracle gives (where it failed); "" */
	struct slice output;        /* the end of what it printed; "" when it passes */
};

enum verdict { VERDICT_SAME, VERDICT_OTHERWISE, VERDICT_INVALID, VERDICT_PASSES, VERDICT_TIMEOUT, VERDICT_INFRA, VERDICT_FLAKY, VERDICTS };
extern const char *const verdict_words[VERDICTS];
/* want NULL: any failure is the one (the first run). A timeout is a failure only when one is looked for. check is looked for in
 * the message as it was (detail), too. Never VERDICT_FLAKY: that takes several outcomes. */
enum verdict verdict_of(const struct outcome *o, const struct signature *want, struct slice check);

/* Where an input of a candidate takes its value from. */
enum feed_kind {
	FEED_RECORDED, /* the value that node `name` had when the original ran (or that load_args gave) */
	FEED_RANDOM,   /* made of meta with a seed: nothing was recorded, or the shape was changed */
	FEED_INT,      /* a symint's value */
};
struct feed {
	enum feed_kind kind;
	struct slice name; /* FEED_RECORDED: the node of the original. FEED_RANDOM: the same, "" when none: a recorded value of
	                      * another shape or dtype gives its corner, converted */
	uint32_t meta;     /* in the candidate's graph */
	int64_t value;     /* FEED_INT */
	/* The input of the original in whose storage it lies, at its offset, as every other feed of that storage does: where inputs share
	 * memory, or are a part of it. NULL: memory of its own. */
	const struct repro_input *memory;
	bool non_leaf; /* it requires gradients and has a history */
};

/* A candidate, whole. */
struct test {
	const struct graph *graph;
	const struct feed *feed; /* one for each placeholder */
	size_t n_feeds;
	const struct repro *repro; /* head lines, form, foot: of the original or an edited copy; its graph and inputs do not count */
	bool want_where;           /* gather what locating needs (extra) */
	bool users;                /* instead of it what the user of the original does, where that is known (oracle_torch.h) */
};

struct oracle;
unsigned oracle_jobs(const struct oracle *o);
uint64_t oracle_start(struct oracle *o, const struct test *t, struct err *err); /* 0 and err: the oracle itself is gone */
/* 1: an outcome; 0: timeout_ms went by, or nothing is running; -1: the oracle is gone. */
int oracle_wait(struct oracle *o, int timeout_ms, struct outcome *out, struct err *err);
void oracle_cancel(struct oracle *o, uint64_t id);
void oracle_close(struct oracle *o);

/* --test COMMAND: run in an empty folder that holds the candidate under the input's own name, its path as last argument; exit 0 = still
 * fails, any other = passes; 125 = cannot tell (infrastructure, as git bisect has it); a signal is a crash of the test itself:
 * infrastructure. With max_memory a command that says that it got none, and ends with neither 0 nor 125, is OUTCOME_MEMORY. Once one has
 * taken all of timeout_ms, the others get ten times the age of the oldest that ended by itself, a second at least. */
struct oracle_command_spec {
	const char *const *argv;
	const char *file_name; /* "fx_graph_runnable.py" */
	unsigned jobs, timeout_ms;
	uint64_t max_memory;
	/* The candidate as the text of the input's form. */
	int (*write)(void *user, const struct test *t, struct buf *b, struct err *err);
	void *user;
};
struct oracle *oracle_command(const struct oracle_command_spec *spec, struct err *err);

#endif
