/* oracle.h - does this candidate still fail? One interface, two implementations: torch in a persistent process (oracle_torch), and any
 * command (oracle_command).
 *
 *     struct oracle *o = oracle_command(&(struct oracle_command_spec){.argv = ..., .jobs = 4}, &err);
 *     uint64_t id = oracle_start(o, &test, &err);          // up to oracle_jobs(o) at once
 *     struct outcome out;
 *     while (oracle_wait(o, -1, &out, &err) == 1) ...      // out.id; any order
 *     oracle_cancel(o, id);                                // its process group gets TERM, then KILL; no outcome comes
 *     oracle_close(o);                                     // no process or file is left
 *
 * An outcome says what happened; a verdict compares that with the failure being reduced (verdict_of). Each test has its own process group,
 * an empty folder, a timeout and a memory limit. The timeout applies to the test's age (reduce/childage.h), not to wall time: waiting for
 * a busy machine is not hanging. A test that could not be run (no fork, no space, inputs missing, the oracle died) is OUTCOME_INFRA:
 * never a failure of the candidate.
 */
#ifndef PT2_REDUCE_ORACLE_H
#define PT2_REDUCE_ORACLE_H
#include "graph/repro/repro.h"
#include "graph/slice.h"

enum outcome_kind {
	OUTCOME_PASSES,
	OUTCOME_INVALID,  /* already fails in eager, or is not a valid graph: nothing is learned about the compiler */
	OUTCOME_RAISED,   /* the compiler or the compiled code raised */
	OUTCOME_ACCURACY, /* runs, but the values differ */
	OUTCOME_CRASHED,  /* killed by a signal */
	OUTCOME_TIMEOUT,  /* it hangs */
	OUTCOME_MEMORY,   /* needed more memory than allowed or available */
	OUTCOME_FAILED,   /* reported by --test (exit 0): nothing to compare */
	OUTCOME_INFRA,
	OUTCOMES
};
extern const char *const outcome_words[OUTCOMES];

/* The characteristics by which a failure is recognised. Unknown fields are empty. */
struct signature {
	enum outcome_kind kind;
	struct slice type; /* "torch._inductor.exc.CppCompileError", "SIGSEGV", "accuracy", "timeout", "memory" */
	/* normalised: paths, addresses, numbers and names of buffers, kernels and nodes removed; at most 500 bytes */
	struct slice message;
	/* up to three innermost frames of torch: "codegen/cpp.py:codegen_relu;..."; C++: none. For a crash, a hang, or out of memory: of
	 * any module except Python's own ("mine.py:my_pass"); "generated:call" is Inductor's code; for a hang, the innermost frame that it
	 * does not leave. */
	struct slice frames;
};
/* Copies the texts of `a` into `arena`. */
struct signature signature_copy(struct arena *arena, const struct signature *s);
/* Is it the same failure? Kind, type and message are equal, and so is the innermost frame if both have one; the class of an accuracy
 * failure may be missing, and so may the phase in which a process died or hangs. For hangs and out of memory, the innermost frame of
 * one may be any of the other's: where exactly it is seen depends on timing. check: a text that the message or type of b must contain
 * (--check-str), which replaces all of this except the kind. */
bool signature_same(const struct signature *a, const struct signature *b, struct slice check);
/* A GPU kernel error ("CUDA error: an illegal memory access was encountered", and the like) is recognised by its text alone: it is reported
 * by whatever call comes after it, so that type, place and the surrounding text vary. True if the message, or the output of a process that
 * it killed, has one; type, message and frames are then set to texts that are not owned. */
bool signature_of_kernel_error(struct slice text, struct signature *s);
/* A message without the parts that vary between runs and candidates. */
void signature_normalise(struct slice message, struct buf *out);

struct outcome {
	uint64_t id;
	enum outcome_kind kind;
	struct signature signature; /* text is valid until the next oracle call */
	struct slice detail;        /* a line or a few: the original message */
	double seconds;             /* wall time of the test */
	struct slice extra;         /* JSON from the torch oracle only (where it failed); "" */
	struct slice output;        /* the end of its output; "" if it passes */
	/* want_where: which operators of the graph tracing it again turned into others, in words; "" */
	struct slice replayed;
};

enum verdict { VERDICT_SAME, VERDICT_OTHERWISE, VERDICT_INVALID, VERDICT_PASSES, VERDICT_TIMEOUT, VERDICT_INFRA, VERDICT_FLAKY, VERDICTS };
extern const char *const verdict_words[VERDICTS];
/* want NULL: any failure counts (the first run). A timeout is a failure only if one is looked for. check is also searched in the original
 * message (detail). Never VERDICT_FLAKY: that takes several outcomes. */
enum verdict verdict_of(const struct outcome *o, const struct signature *want, struct slice check);

/* Where an input of a candidate gets its value from. */
enum feed_kind {
	FEED_RECORDED, /* the value of node `name` when the original ran (or from load_args) */
	FEED_RANDOM,   /* generated from meta with a seed: nothing was recorded, or the shape was changed */
	FEED_INT,      /* a symint's value */
};
struct feed {
	enum feed_kind kind;
	struct slice name; /* FEED_RECORDED: the node of the original. FEED_RANDOM: the same, "" if none: a recorded value of
	                      * another shape or dtype provides its corner, converted */
	uint32_t meta;     /* in the candidate's graph */
	int64_t value;     /* FEED_INT */
	/* The input of the original in whose storage it lies, at its offset, like every other feed of that storage: for inputs that share
		 * memory, or are part of it. NULL: memory of its own. */
	const struct repro_input *memory;
	bool non_leaf; /* it requires gradients and has a history */
};

/* A complete candidate. */
struct test {
	const struct graph *graph;
	const struct feed *feed; /* one for each placeholder */
	size_t n_feeds;
	const struct repro *repro; /* head lines, form, foot: of the original or an edited copy; its graph and inputs are ignored */
	bool want_where;           /* gather what locating needs (extra) */
	bool plain;                /* after AOT: compile it as a plain program does (repro.h: REPRO_PLAIN), from Dynamo on */
	bool users;                /* test the original's own user call instead, if known (oracle_torch.h) */
};

struct oracle;
unsigned oracle_jobs(const struct oracle *o);
uint64_t oracle_start(struct oracle *o, const struct test *t, struct err *err); /* 0 and err: the oracle itself died */
/* 1: an outcome; 0: timeout_ms elapsed, or nothing is running; -1: the oracle died. */
int oracle_wait(struct oracle *o, int timeout_ms, struct outcome *out, struct err *err);
void oracle_cancel(struct oracle *o, uint64_t id);
void oracle_close(struct oracle *o);

/* --test COMMAND: runs in an empty folder that contains the candidate under the input's own name, with its path as last argument; exit 0 =
 * still fails, any other = passes; 125 = cannot tell (infrastructure, as in git bisect); a signal is a crash of the test itself:
 * infrastructure. With max_memory, a command that reports a failed allocation, and exits with neither 0 nor 125, is OUTCOME_MEMORY. Once
 * one test has used all of timeout_ms, the others get ten times the age of the oldest that exited by itself, at least a second. */
struct oracle_command_spec {
	const char *const *argv;
	const char *file_name; /* "fx_graph_runnable.py" */
	unsigned jobs, timeout_ms;
	uint64_t max_memory;
	/* Writes the candidate as text in the input's form. */
	int (*write)(void *user, const struct test *t, struct buf *b, struct err *err);
	void *user;
};
struct oracle *oracle_command(const struct oracle_command_spec *spec, struct err *err);

#endif
