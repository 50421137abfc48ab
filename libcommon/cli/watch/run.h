/* run.h - run a compiled model once or more, in a process of its own: with our libpt2shim.so, or with an installed libtorch.
 *
 *     struct run_options o = {.model = NULL, .runs = 1};
 *     struct run_result r;
 *     if (run_model(&pkg, in, n_in, &o, &r, &err) < 0)      // what is missing, refused or crashed; r holds nothing
 *         die_err(&err);
 *     r.out.v[0].meta, r.out.v[0].data ...
 *     run_result_release(&r);
 *
 * In parts, for a command line that live_run() is to start under the probe:
 *
 *     struct run_job job;
 *     run_prepare(&job, &pkg, in, n_in, &o, &err);          // unpacks, checks, writes the inputs
 *     live_run(&live, job.argv, &result, &err);             // or child_run
 *     run_outputs(&job, &result.command, &r, &err);
 *     run_job_release(&job);                                // removes the folder
 *
 * The child is pt2-runner ($PT2_RUNNER, else ../lib/pt2utils/pt2-runner from the program's own folder; pt2-runner --help). All of the
 * model's files are unpacked into a private folder (job.folder), the library under its own name, so that wrapper.cpp
 * lies beside it.
 *
 * These are refused, by name: models for a GPU without .torch, for another machine, processors that have more instructions than this one;
 * models of other runtimes (no aoti_torch_* of torch's own: modelso.h); operators that libpt2shim.so does not have - all of them
 * listed, before anything runs: err says to use .torch then -; custom ops that are defined in Python, or (.torch) in a library
 * that .load does not name; packages without weights (aot_inductor.package_constants_in_so=False) that get none.
 *
 * Weights: .weights is read here, held against .contract, and handed over as tensors, laid out as the model was compiled to read them
 * (tensor/weights/weights.h); so are those that a package carries as files. The child opens nothing of the user's.
 *
 * Confinement (in pt2-runner, before the model is loaded; docs/user/RUN.md): limits of address space and time, no core file; a filter of
 * system calls: no network, no other program or process (threads may be), no file may be written or made but the outputs.
 * It may read files, and no more. No descriptor of the user's is open there, and while it runs the tool cannot be looked into through
 * /proc. .watched changes none of it: what the probe writes is opened before (watch/keeper.h). A model for CUDA (with .torch, that of an
 * installed libtorch for CUDA) is not confined: the driver opens devices; job.gpu is set then, for whoever has to say so.
 */
#ifndef PT2_LIVE_RUN_H
#define PT2_LIVE_RUN_H
#include "model/contract/contract.h"
#include "model/package/package.h"
#include "base/process/child.h"
#include "watch/runfile.h"

enum { RUN_MAX_LOAD = 16 };

/* Rows of struct opt_rule that every tool has which runs a model, and those that one has which watches a command, too. */
#define RUN_RULE_LOAD \
	{ \
		.of = "load", .without = "torch", .text = "--load requires --torch" \
	}
#define RUN_RULES_COMMAND \
	{.of = OPT_COMMAND, .with = OPT_OPERANDS, .text = "-- COMMAND cannot be combined with MODEL or INPUT"}, \
	{ \
		.of = OPT_COMMAND, .with = "model weights torch load repeat", \
		.text = "-- COMMAND cannot be combined with --model, --weights, --torch, --load or --repeat" \
	}

struct run_options {
	const char *model; /* of several in a package */
	const char *torch; /* NULL: libpt2shim.so ($PT2_SHIM, else beside pt2-runner); else as for run_find_torch */
	/* .torch: libraries that define operators (TORCH_LIBRARY); loaded in the confined child, before the model */
	const char *const *load;
	size_t n_load; /* at most RUN_MAX_LOAD */
	/* a file (tensor/weights/weights.h) that the model's weights are taken from; NULL: its own, or what its package carries */
	const char *weights;
	const struct contract *contract; /* of the model: names, shapes and layout of the weights; NULL: only its own functions are asked */
	unsigned runs;                   /* 0: 1; each with the inputs as given; the last one's outputs are returned */
	unsigned threads;                /* OpenMP; 0: OMP_NUM_THREADS, else one for each processor */
	uint64_t max_memory;             /* bytes of address space; 0: 16 GiB and four times the model's files */
	unsigned timeout_s;              /* 0: 600 */
	bool check_inputs;               /* AOTI_RUNTIME_CHECK_INPUTS=1 */
	bool watched;                    /* it runs under libpt2probe.so */
	const char *save_dir;            /* .watched: the folder that the probe saves tensors to; NULL */
	void (*printed)(void *user,
			struct slice text); /* what the model prints, as it comes: not fit for a terminal; NULL: it is dropped */
	void *user;
	bool unconfined; /* no filter of system calls */
};

struct run_job {
	char **argv; /* NULL-terminated */
	char *folder, *so, *outputs;
	uint64_t max_memory;
	unsigned timeout_s;
	bool gpu;         /* it runs on one, unconfined */
	struct buf notes; /* what its user may want to know, a line each: weights that were not used */
	struct arena arena;
};

struct run_result {
	struct runfile out; /* out.v[0].name is "out0"; tensor_is_none(&out.v[i]) where the model returns None */
	struct buf notes;   /* of the job: run_model's */
};

/* The path of a libtorch_cpu.so. given: itself, or a folder with it; "": $PT2_TORCH, else that of $PT2_PYTHON when that is set, else the
 * one that doctor_find_torch finds by its paths, else that of python3. NULL and err, which names the Python that was asked. */
const char *run_find_torch(struct arena *a, const char *given, struct err *err);

/* For a tool that will be sealed (base/broker/broker.h): finds the libtorch of --torch (NULL: none was asked for), and lets it and the
 * libraries of --load be given to models' processes. What is not found is an error when it is needed. */
void run_trust(const char *torch, const char *const *load, size_t n_load);

int run_prepare(struct run_job *job, struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o,
		struct err *err);
/* How the child ended becomes an error, unless it left outputs. */
int run_outputs(const struct run_job *job, const struct child_result *child, struct run_result *r, struct err *err);
void run_job_release(struct run_job *job);

int run_model(struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o, struct run_result *r,
	      struct err *err);
void run_result_release(struct run_result *r);

#endif
