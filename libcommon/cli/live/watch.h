/* watch.h - run a model here, or watch a command, and look at what its kernels and ops did: what aoti-nanassert and
 * aoti-printer share.
 *
 *     struct watch_options o = {.calls = {.want = CALLS_BAD}, .model = "model.pt2", .operand = in.v + 1, .n_operand = n};
 *     struct watch w;
 *     if (watch_run(&w, &o, &err) < 0) ...             // nothing could be run; err says what is missing and what to do
 *     struct watch_call c;
 *     while (watch_next(&w, &c))                       // in the order in which they ended; a crashed one comes last
 *         ... c.name, c.contract->call[c.index].nodes, c.value[i].rec->v.stats
 *     watch_release(&w);
 *
 * All is watched in one way: the program (pt2-runner with our libpt2shim.so, pt2-runner with an installed libtorch, or the user's
 * command) runs under libpt2probe.so (live.h), which writes the call log (calls.h); contracts come from ask/load.h. A model out of a
 * file is run in a child with limits and a filter of system calls (run.h); a command is the user's own and is not confined.
 *
 * The tool's exit status: watch_status(): findings and how the command ended, by the rule of CONVENTIONS 6.
 */
#ifndef PT2_LIVE_WATCH_H
#define PT2_LIVE_WATCH_H
#include "ask/load.h"
#include "calls/calls.h"
#include "live/live.h"
#include "live/run.h"

struct watch;
struct watch_options {
	struct calls_config calls; /* .want, filters, runs, save_dir, lo, hi; the rest is filled in */
	/* either a model with inputs ... */
	const char *model; /* a package, a library, a folder; or a bundle that CALLS_RECORD kept (then no operands) */
	const char *name;  /* one of several models */
	const char *const *operand;
	int n_operand;
	const char *torch;       /* NULL: libshim; "": find an installed libtorch; else its folder */
	const char *const *load; /* with torch: libraries that define operators (run.h) */
	size_t n_load;
	const char *weights; /* a file of weights for the model (run.h); NULL */
	unsigned runs;       /* 0: 1 */
	unsigned timeout_s;  /* 0: 600 */
	bool no_exec;        /* refused with the reason: the question cannot be answered without running it */
	/* ... or a command */
	char **command;
	/* Called about every 50 ms while it runs (calls that have ended can be read); may be NULL. */
	void (*tick)(void *user, struct watch *w);
	void *user;
	bool quiet;
};

struct watch_model {
	uint32_t id;              /* as in event.h */
	char *path;               /* the package that was given, or the library as the process knows it; "3_backward" of a graph */
	uint32_t rank;            /* of its process among those that torchrun started; NONE */
	char *text;               /* of a graph of torch.compile: its generated Python; NULL: a package */
	struct contract contract; /* n_inputs, n_calls 0 when there is none */
	bool has_contract;
	char *why;                   /* there is none, or calls could not be watched: the last reason; NULL */
	uint64_t dev, ino;           /* of the library */
	struct intern names;         /* of contract.value */
	uint32_t *value;             /* the first value of each name */
	struct slice kernels;        /* the text of kernel_information.json; empty */
	char *own_kernels;           /* where that is the model's own; NULL */
	struct nan_sources *sources; /* of .kernels: watch_sources() (nan.h) */
};

struct watch_value {
	struct call_record rec;             /* CALL_VALUE */
	const char *name;                   /* the buffer's, "" */
	const char *saved;                  /* the file it was saved to, "" */
	const struct contract_value *value; /* NULL when it could not be matched */
};

static inline uint32_t watch_rank(const struct watch_model *m) { return m ? m->rank : NONE; }

/* A finished call of a kernel or op; or a Run (begin.what CALL_RUN_BEGIN) with the model's inputs and outputs, which comes when it ends.
 * Constants are told once (CALLS_CONSTANTS), with the call that is the first to read them. */
struct watch_call {
	struct call_record begin, end; /* end.what CALL_NONE: it never returned (a crash, or it was still running) */
	const char *name;
	const struct watch_model *model;
	const struct contract_call *contract; /* NULL when it could not be matched */
	const struct watch_value *value;      /* before ones first, as the arguments stand */
	uint32_t n_values;
	const struct call_launch *launch; /* on a GPU; NULL. Of several that a function of the model has made, the first */
	uint32_t n_launches;
	const char *function;             /* the kernel that was launched, where the call is another name; "" */
	const struct call_replay *replay; /* it is no call of a model, but a replay of a CUDA graph; NULL */
	bool cut;                         /* a part of it was overwritten in the log */
};

/* A CUDA graph of a process that calls of models were captured into. */
struct watch_graph {
	uint32_t pid, number, model;
	uint64_t captured; /* calls, by what the process says of the graph; 0: its end was not seen, and replays cannot be */
	uint64_t launches; /* kernels, by the calls that were read */
	uint64_t replays;  /* exact, unless the log has lost the last of them */
	struct arena arena;
	struct slice *kernel; /* names of the first captured calls, in order */
	uint32_t n;
};

struct watch_open;
struct watch_answer;
struct watch_process;
struct watch {
	struct live_result live;
	struct calls_reader calls;
	struct watch_model *model;
	size_t n_models, cap_models;
	/* The error of the model's own process, or why there are no outputs; text is "" when it ran. Calls up to there can be read all
	 * the same. Never set for a command. */
	struct err failed;
	struct run_result outputs; /* of a model that ran here */
	struct buf asides;         /* what was not understood in the process, a line each */
	struct watch_graph *graph; /* as they were first heard of */
	size_t n_graphs, cap_graphs;
	struct buf device; /* device-fault and device-finding events (event.h), a line each; ima.h reads them */
	bool ended, opened;

	/* private */
	const struct watch_options *o;
	struct loaded *loaded;
	struct run_job *job;
	struct watch_answer *answer; /* contracts that were given, by library */
	size_t n_answers, cap_answers;
	struct watch_open **open; /* calls that have begun, in that order */
	size_t n_open, cap_open;
	struct watch_open **ready; /* that are whole, from at_ready on */
	size_t at_ready, n_ready, cap_ready;
	struct watch_open *current;
	struct watch_process *process; /* whose calls were seen */
	size_t n_process, cap_process;
};

/* o must outlive it. A crash or a failure of the model is no failure: see .failed and .live. */
int watch_run(struct watch *w, const struct watch_options *o, struct err *err);
/* False: no more (for now, while the command runs; for ever once w->ended). Pointers are valid until the next call. */
bool watch_next(struct watch *w, struct watch_call *c);
void watch_release(struct watch *w);
/* "CUDA graph 1: 3 calls captured (triton_poi_fused_add_0, ...), replayed 5 times", clean of control bytes. */
void watch_graph_text(const struct watch *w, const struct watch_graph *g, struct buf *b);
/* The last of this id; NULL. */
struct watch_model *watch_find_model(const struct watch *w, uint32_t id);
/* How a process whose calls were seen ended. */
enum watch_fate {
	WATCH_RUNS,
	WATCH_EXITED, /* how: its status */
	WATCH_KILLED, /* how: the signal; of the command itself also that its time was over */
	WATCH_GONE,   /* it has ended, and only its parent was told how */
};
enum watch_fate watch_fate(const struct watch *w, uint32_t pid, struct child_result *how);
/* The file that the lines of its calls are of: of a graph of torch.compile its generated Python; empty: wrapper.cpp. */
static inline struct slice watch_text(const struct watch_call *c) { return slice_str(c->model && c->model->text ? c->model->text : ""); }
/* The module path of a value that is a constant; else "". */
static inline struct slice watch_path(const struct watch_call *c, const struct watch_value *v)
{
	const bool constant = v->value && c->model && v->value->kind == VALUE_CONSTANT && v->value->index < c->model->contract.n_constants;
	return constant ? c->model->contract.constant[v->value->index].fqn : SLICE("");
}
/* --graph and --step (either may be NULL): only these graphs of torch.compile, only these runs of each model or graph: "3", "3..5",
 * "3..". EXIT_USAGE. */
int watch_only(struct calls_config *c, const char *graph, const char *step, struct err *err);
/* The exit status for this many findings; error_exitcode -1: not given. 128 and the signal when one has killed the command, or has
 * asked the tool to end while it ran a model. */
int watch_status(const struct watch *w, size_t findings, int error_exitcode);
/* The last thing a tool does: releases w and returns status; where that is such a signal, ends the tool by the same. */
int watch_end(struct watch *w, int status);

/* ---- parts, for tests ---- */

/* Only the joining of records: w->calls and w->model were filled in by the caller. */
void watch_release_calls(struct watch *w);
/* Ready a model's names after its contract was filled in. */
void watch_model_index(struct watch_model *m);

/* A bundle, or a folder that bundles were kept in: then the first of them counts. */
bool watch_bundle_like(const char *path);

#endif
