/* watch.h - run a model here, or watch a command, and look at what its kernels and ops did: shared by aoti-nanassert and
 * aoti-printer.
 *
 *     struct watch_options o = {.calls = {.want = CALLS_BAD}, .model = "model.pt2", .operand = in.v + 1, .n_operand = n};
 *     struct watch w;
 *     if (watch_run(&w, &o, &err) < 0) ...             // nothing could be run; err says what is missing and what to do
 *     struct watch_call c;
 *     while (watch_next(&w, &c))                       // in the order they ended; a crashed one comes last
 *         ... c.name, c.contract->call[c.index].nodes, c.value[i].rec->v.stats
 *     watch_release(&w);
 *
 * Everything is watched the same way: the program (pt2-runner with our libpt2shim.so, pt2-runner with an installed libtorch, or the user's
 * command) runs under libpt2probe.so (live.h), which writes the call log (calls.h); contracts come from model/binprobe/load.h. A model from
 * a file is run in a child with limits and a filter of system calls (run.h); a command is the user's own and is not confined.
 *
 * The tool's exit status: watch_status(): it combines the findings with how the command ended.
 */
#ifndef PT2_LIVE_WATCH_H
#define PT2_LIVE_WATCH_H
#include "model/binprobe/load.h"
#include "watch/calls.h"
#include "watch/live.h"
#include "watch/run.h"

struct watch;
struct watch_options {
	struct calls_config calls; /* .want, filters, runs, save_dir, lo, hi; the rest is filled in */
	/* either a model with inputs ... */
	const char *model; /* a package, a library, a folder; or a bundle that CALLS_RECORD kept (then no operands) */
	const char *const *operand;
	int n_operand;
	struct run_how how;
	struct run_files *files; /* unpacked once for several runs; or NULL */
	struct slice given;      /* with CALLS_GIVE (given.h): a private copy is made */
	bool no_exec;            /* fails with a reason: the question cannot be answered without running the model */
	/* ... or a command */
	char **command;
	const struct watch_recorded *recorded; /* it runs a bundle's graph again; or NULL */
	/* Called about every 50 ms while it runs (finished calls can be read); may be NULL. */
	void (*tick)(void *user, struct watch *w);
	void *user;
	/* Called with a model's inputs before its process starts; they are gone afterwards. May be NULL. */
	void (*starts)(void *user, const struct tensor_view *in, size_t n);
	void *starts_user;
	bool quiet;
	bool scalers; /* fill in w.scaler */
};

/* The graph of a bundle (kept.h) as its own process knew it: what a rerun shows. Paths; table and text may be NULL. */
struct watch_recorded {
	const char *bundle; /* as the user named it */
	char *graph, *table, *text;
};

struct watch_model {
	uint32_t id;              /* as in event.h */
	char *path;               /* the given package, or the library's path in the process; "3_backward" for a graph */
	uint32_t rank;            /* of its process among those that torchrun started; NONE */
	char *text;               /* of a torch.compile graph: its generated Python; NULL: a package */
	bool renamed;             /* of a bundle run again: the contract is the one from there, calls have its names */
	struct contract contract; /* n_inputs and n_calls are 0 if there is none */
	/* lent: the contract is that of watch.loaded */
	bool has_contract, lent;
	char *why;                   /* why there is none, or calls could not be watched: the last reason; or NULL */
	uint64_t dev, ino;           /* of the library */
	struct intern names;         /* of contract.value */
	uint32_t *value;             /* the first value of each name */
	struct slice kernels;        /* the text of kernel_information.json; empty */
	char *own_kernels;           /* if that is the model's own; else NULL */
	struct nan_sources *sources; /* of .kernels: watch_sources() (nan.h) */
	char *
	    fx; /* of a graph watched with CALLS_KEEP, as JSON (share/jit/rewrite.py, _fx_of): its FX graph, and the nodes of buffers; or NULL */
};

struct watch_value {
	struct call_record rec;             /* CALL_VALUE */
	const char *name;                   /* the buffer's, "" */
	const char *saved;                  /* the file that it was saved to, a name in the folder (calls_file_name); "" */
	const struct contract_value *value; /* NULL when it could not be matched */
};

static inline uint32_t watch_rank(const struct watch_model *m) { return m ? m->rank : NONE; }

/* A finished call of a kernel or op; or a Run (begin.what CALL_RUN_BEGIN) with the model's inputs and outputs, which comes when it ends.
 * Constants are reported once (CALLS_CONSTANTS), with the first call that reads them. */
struct watch_call {
	struct call_record begin, end; /* end.what CALL_NONE: it never returned (it crashed, or was still running) */
	const char *name;
	const char *precision; /* of a Run: torch's settings, "NAME=VALUE ..."; else "" */
	const struct watch_model *model;
	const struct contract_call *contract; /* NULL if it could not be matched */
	const struct watch_value *value;      /* those from before the call first, in argument order */
	uint32_t n_values;
	const struct call_launch *launch; /* on a GPU, else NULL. The first, if a function of the model made several */
	uint32_t n_launches;
	const char *function;             /* the launched kernel, if the call has another name; else "" */
	const struct call_replay *replay; /* not a call of a model but a replay of a CUDA graph; else NULL */
	bool cut;                         /* part of it was overwritten in the log */
};

/* A CUDA graph of a process into which calls of models were captured. */
struct watch_graph {
	uint32_t pid, number, model;
	uint64_t captured; /* calls, as the process reports; 0: the end of the capture was not seen, so replays cannot be seen either */
	uint64_t launches; /* kernels, counted from the calls */
	uint64_t replays;  /* exact, unless the log lost the last of them */
	struct arena arena;
	struct slice *kernel; /* names of the first captured calls, in order */
	uint32_t n;
};

/* A torch.amp.GradScaler was made, or has updated its scale (event.h). */
struct watch_scaler {
	uint32_t pid;
	bool made, skipped;
	uint64_t seq;    /* of the last call before that */
	uint64_t scaled; /* of the first call after it had scaled a loss in that step; 0: none */
	double scale;    /* of that step */
};

struct watch_open;
struct guard;
struct watch_answer;
struct watch_process;
struct watch {
	struct live_result live;
	struct calls_reader calls;
	struct watch_model *model;
	size_t n_models, cap_models;
	/* The error of the model's own process, or why there are no outputs; text is "" if it ran. Calls up to there can still be
	 * read. Never set for a command. */
	struct err failed;
	struct run_result outputs; /* of a model that ran here */
	struct buf asides;         /* what was not understood in the process, one per line */
	struct watch_graph *graph; /* in the order they first appeared */
	size_t n_graphs, cap_graphs;
	struct buf device;           /* device-fault and device-finding events (event.h), one per line; read by ima.h */
	struct guard *guard;         /* of bounds events (guard.h); NULL: none came */
	struct watch_scaler *scaler; /* in order; who reads them sets n_scalers to 0 */
	size_t n_scalers, cap_scalers;
	bool ended, opened;

	/* private */
	const struct watch_options *o;
	struct loaded *loaded;
	struct run_job *job;
	struct watch_answer *answer; /* contracts that were sent, by library */
	size_t n_answers, cap_answers;
	struct watch_open **open; /* calls that have started, in that order */
	size_t n_open, cap_open;
	struct watch_open **ready; /* complete ones, from at_ready on */
	size_t at_ready, n_ready, cap_ready;
	struct watch_open *current;
	struct watch_process *process; /* whose calls were seen */
	size_t n_process, cap_process;
};

/* o must outlive it. A crash or an error of the model is not a failure of this function: see .failed and .live. */
int watch_run(struct watch *w, const struct watch_options *o, struct err *err);
/* False: no more (for now while the command runs, for good once w->ended). Pointers are valid until the next call. */
bool watch_next(struct watch *w, struct watch_call *c);
void watch_release(struct watch *w);
/* "CUDA graph 1: 3 calls captured (triton_poi_fused_add_0, ...), replayed 5 times", without control bytes. */
void watch_graph_text(const struct watch *w, const struct watch_graph *g, struct buf *b);
/* The last of this id; NULL. */
struct watch_model *watch_find_model(const struct watch *w, uint32_t id);
/* How a process ended whose calls were seen. */
enum watch_fate {
	WATCH_RUNS,
	WATCH_EXITED, /* how: its status */
	WATCH_KILLED, /* how: the signal; for the command itself also a time-out */
	WATCH_GONE,   /* it ended, and only its parent knows how */
};
enum watch_fate watch_fate(const struct watch *w, uint32_t pid, struct child_result *how);
/* The file that the line numbers of its calls refer to: the generated Python of a torch.compile graph; empty: wrapper.cpp. */
static inline struct slice watch_text(const struct watch_call *c) { return slice_str(c->model && c->model->text ? c->model->text : ""); }
/* The module path of a value that is a constant; else "". */
static inline struct slice watch_path(const struct watch_call *c, const struct watch_value *v)
{
	const bool constant = v->value && c->model && v->value->kind == VALUE_CONSTANT && v->value->index < c->model->contract.n_constants;
	return constant ? c->model->contract.constant[v->value->index].fqn : SLICE("");
}
/* --graph and --step (either may be NULL): only these torch.compile graphs, only these runs of each model or graph: "3", "3..5",
 * "3..". EXIT_USAGE. */
int watch_only(struct calls_config *c, const char *graph, const char *step, struct err *err);
/* The exit status for this many findings; error_exitcode -1: not given. 128 + the signal if one killed the command, or
 * asked the tool to end while it ran a model. */
int watch_status(const struct watch *w, size_t findings, int error_exitcode);
/* The last thing a tool does: releases w and returns status; if that is such a signal, ends the tool by the same signal. */
int watch_end(struct watch *w, int status);

/* ---- parts, for tests ---- */

/* Only the joining of records: w->calls and w->model are filled in by the caller. */
void watch_release_calls(struct watch *w);
/* Indexes a model's names after its contract is filled in. */
void watch_model_index(struct watch_model *m);

/* A bundle, or a folder with bundles: then the first one counts. */
bool watch_bundle_like(const char *path);

#endif
