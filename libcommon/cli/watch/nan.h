/* nan.h - which call produced a NaN, and why: what aoti-nanassert learns from calls and the statistics of their tensors.
 *
 *     struct nan n = {.o = {.inf = true}};
 *     nan_take(&n, &call);                      // each call, in the order they ended (watch/watch.h, watch/dump.h)
 *     n.finding[0].kind, n.finding[0].call.name, n.finding[0].value[n.finding[0].bad] ...
 *     nan_guess(&n.finding[0], guess, NAN_GUESSES);
 *     nan_release(&n);
 *
 * A call has produced a NaN if something it wrote holds one afterwards and nothing that it read held one before. What it only writes
 * is not examined before: fresh memory holds anything. So the first link of a chain is named, and the others, which only propagated
 * it, are counted (.passed_on). A NaN that was there before any call is reported where it is first used: a model's input, a constant, or
 * memory that nothing has written. One in a buffer that nobody else reads, while everything else that the call wrote is clean, has no
 * effect and is not a finding: kernels leave the padding of such buffers as they found it.
 *
 * Nothing is printed and nothing is run. Equal calls (same model, kernel, place in the program, buffer) are one
 * finding, that of the first; .times counts them.
 */
#ifndef PT2_LIVE_NAN_H
#define PT2_LIVE_NAN_H
#include "model/contract/contract.h"
#include "base/hash.h"
#include "watch/dump.h"
#include "watch/watch.h"

enum nan_kind {
	NAN_PRODUCED,  /* inputs clean, output not */
	NAN_INPUT,     /* the caller's input was bad */
	NAN_CONSTANT,  /* a weight is bad */
	NAN_UNWRITTEN, /* it read memory that nothing has written */
	NAN_PASSED,    /* a buffer was bad, and the call that wrote it was not seen */
	NAN_CRASHED,   /* the call never returned */
};
const char *nan_kind_name(enum nan_kind k); /* "produced", ...: for JSON */

enum nan_what { NAN_NONE, NAN_NAN, NAN_INF, NAN_RANGE };
const char *nan_what_name(enum nan_what w); /* "nan", "inf", "range" */

struct nan_options {
	bool inf;       /* infinities count, too */
	bool range;     /* and numbers outside lo..hi */
	bool constants; /* constants count on their own */
	bool skipped;   /* what GradScaler skips, too */
	double lo, hi;
	const char *const *ignore; /* globs on kernels, buffers and module paths */
	size_t n_ignore;
};

/* Why, by evaluation: which node of the graph turns NaN first, with what the call had read (cmd/aoti-nanassert/evaluate.c). */
struct nan_cause {
	bool found;          /* else see .clean and .unknown */
	bool finite;         /* found, and no infinity led to it, or one that is not an overflow: log(0), 1 / 0 */
	bool clean;          /* node by node there is no NaN: the compiled kernel computes something else */
	struct slice text;   /* "mul(0, log(0) = -inf) = nan at [3, 1]" */
	struct slice reason; /* "0 * -inf"; may be empty */
	struct slice node, op;
	struct slice place;    /* "loss.py:19"; may be empty, as the next */
	struct slice line;     /* "app/loss.py:19 in f: e = p * torch.log(p)" */
	struct slice other;    /* of a package: the program's own line that called it; of an optimizer: torch's; may be empty */
	struct slice infinity; /* where the infinities that it met began: "log(0) = -inf at [3, 1], loss.py:19"; may be empty */
	struct slice unknown;  /* why it could not be evaluated */
};

/* A tensor of a call. */
struct nan_value {
	struct dump_value v;
	double bad_value; /* the first bad element */
	bool has_bad_value;
	bool is_input;    /* of the model */
	bool unwritten;   /* no call before this one writes it */
	bool unread;      /* scratch: no other call reads it, and it is not an output of the model */
	uint32_t storage; /* buffers with the same storage share memory; NONE: only its name is known */
	/* The first bad element of the output; for inputs the one at the same place. */
	double element;
	bool has_element;
	int64_t at; /* linear */
};

struct nan_call {
	struct dump_call c; /* .value is not used */
	struct nan_value *value;
	uint32_t n_values;
	bool crashed;
	struct slice ended;     /* of a crash: "killed by SIGILL (Illegal instruction)"; empty: unknown */
	bool scanned;           /* found on a GPU without waiting (CALLS_SCAN), and counted before */
	uint32_t graph, replay; /* of those: which CUDA graph it is captured in, and which replay it was, from 1; 0: none, unknown */
	uint32_t nth;           /* ordinal among the program's calls of this kernel, from 0; NONE: unknown */
};

struct nan_finding {
	enum nan_kind kind;
	enum nan_what what;
	struct nan_call call;
	uint32_t bad;   /* value[bad] is the bad output; NONE for NAN_CRASHED and constants on their own */
	uint32_t cause; /* value[cause] was bad before; NONE */
	/* The call that produced the infinities that became NaN. */
	struct slice inf_kernel, inf_buffer;
	uint32_t inf_call;
	uint64_t times, passed_on; /* how many times; how many later calls only propagated it */
	/* Before that, in another run or graph: the first call that produced infinities although it did not in its graph's first run (as a
	 * mask does). .model empty: there was none, or the finding has nothing to do with infinities or an earlier run. */
	struct nan_since {
		struct slice model, kernel, buffer;
		uint32_t run, call;
	} since;
	/* nan_sources_apply: nodes of the graph before and after the compiler's passes, lines of Python ("app/m.py:28 in forward:
	 * return torch.log(x)"), the innermost last. Owned by the struct nan_sources. */
	const struct slice *pre, *node, *line;
	uint32_t n_pre, n_nodes, n_lines;
	const struct nan_cause *why; /* NULL: not evaluated. Owned by who evaluates */
	/* Its process has a torch.amp.GradScaler, which did not skip the step (skipped 0) or skipped this many in a row that had it, with
	 * these scales. */
	bool scaled;
	uint32_t skipped;
	double scale_from, scale_to;
};

#define NAN_FINDINGS 256 /* distinct ones that are kept */

/* Found in a process with a torch.amp.GradScaler: no finding unless its step is not skipped, or it stays. */
struct nan_held {
	struct nan_finding f, now; /* the first and the last of the row */
	uint64_t times, passed_on;
	uint32_t finding; /* as which it is reported; NONE */
	uint32_t row;     /* skipped steps in a row that had it */
	size_t last;      /* the number of the last */
	bool overflows;   /* it came after the loss was scaled: a smaller scale may end it */
	bool judged;      /* for who evaluates it: done */
	double from, to;  /* the scale in the first and the last of the row */
};

struct nan {
	struct nan_options o;
	struct nan_finding *finding;
	size_t n, cap;
	uint64_t calls, more; /* processed; findings beyond NAN_FINDINGS */
	struct arena arena;   /* what findings point to */
	/* For each place in memory whose last content was bad, its finding. */
	struct intern places, texts;
	struct intern usual; /* calls that produce infinities in the first run */
	struct nan_since since;
	struct nan_place *place;
	size_t cap_place;
	/* nan_scaler.c */
	struct nan_scaler *scaler;
	struct nan_held *held;
	struct nan_seen *seen;
	size_t n_scalers, cap_scalers, n_held, cap_held, n_seen, cap_seen;
	uint64_t skipped_steps; /* by GradScalers, and nothing in them is reported */
	uint64_t since_seq;
	uint32_t since_pid;
};

/* Everything is copied. */
void nan_take(struct nan *n, const struct nan_call *c);
void nan_release(struct nan *n);

/* ---- nan_scaler.c: what torch.amp.GradScaler skips ---- */

/* Each event of a scaler, in order; before the calls of its process that came after its first one are taken. */
struct watch_scaler;
void nan_scaler(struct nan *n, const struct watch_scaler *w);
/* Decides what was found in steps that have ended: it stays .held, or becomes a finding. ended: no more comes, and a step without an
 * update was not skipped. */
void nan_settle(struct nan *n, bool ended);
/* What is held becomes a finding: it is not the scaler's. */
void nan_alarm(struct nan *n, uint32_t held);
/* For nan.c. False: its process has no scaler. */
bool nan_hold(struct nan *n, const struct nan_finding *f, uint32_t *held);
void nan_scaler_release(struct nan *n);

/* ---- nan_keep.c, for the other two ---- */

/* Equal calls? */
bool nan_alike(const struct nan_finding *a, const struct nan_finding *b);
void nan_keep(struct nan *n, struct nan_finding *to, const struct nan_finding *f);

/* ---- nan_source.c: where a kernel comes from ---- */

struct nan_kernel {
	struct slice name;
	uint64_t handle; /* counts the calls of a program; in order for calls of the same name */
	struct slice *pre, *node, *line;
	uint32_t n_pre, n_nodes, n_lines;
};
struct nan_sources {
	struct nan_kernel *kernel;
	uint32_t n, cap;
	struct arena arena;
	bool asked; /* of a watched model: already read */
};
/* Those of a watched model's own .kernels, which live as long as the model. */
struct watch_model;
const struct nan_sources *watch_sources(const struct watch_model *m);
/* From the kernel_information.json of a package (torch 2.13, torch/_inductor/debug.py, create_kernel_information_json):
 *     {"cpp_fused_relu_0:2": {"stack_traces": [...], "post_grad_nodes": [...], "pre_grad_nodes": [...]}}
 * what: used in messages. EXIT_INPUT if it is not one. */
int nan_sources_json(struct nan_sources *s, struct slice text, const char *what, struct err *err);
/* From a file: such a JSON, or a structured trace (run/trace/trace.h) with the artifacts of run/trace/provenance.h. If several
 * compilations in it have a kernel of the same name and handle, the first one counts. */
int nan_sources_file(struct nan_sources *s, const char *path, struct err *err);
/* The kernel of that call of the contract, valid as long as s; or NULL. */
const struct nan_kernel *nan_sources_of(const struct nan_sources *s, const struct contract *c, uint32_t call);
/* f->pre, f->node, f->line, if the kernel is known. */
void nan_sources_apply(const struct nan_sources *s, struct nan_finding *f);
void nan_sources_release(struct nan_sources *s);

/* ---- nan_guess.c ---- */

#define NAN_GUESSES 3
struct nan_guess {
	char text[256];
	bool seen; /* supported by the numbers that were read; otherwise only by an operator in the call */
};
/* Lists possible causes, most likely first. Returns how many. */
size_t nan_guess(const struct nan_finding *f, struct nan_guess *guess, size_t max);
/* The ATen operators in the name of a generated kernel: "cpp_fused__to_copy_log_1" -> "_to_copy", "log". Returns how many there
 * are; slices of the name. */
size_t nan_ops_of_name(struct slice kernel, struct slice *op, size_t max);

#endif
