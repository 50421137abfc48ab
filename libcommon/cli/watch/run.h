/* run.h - run a compiled model once or more, in its own process: with our libpt2shim.so, or with an installed libtorch.
 *
 *     struct run_options o = {.how = {.torch = NULL, .runs = 1}};
 *     struct run_result r;
 *     if (run_model(&pkg, in, n_in, &o, &r, &err) < 0)      // something is missing, refused or crashed; r holds nothing
 *         die_err(&err);
 *     r.out.v[0].meta, r.out.v[0].data ...
 *     run_result_release(&r);
 *
 * Step by step, for a command line that live_run() starts under the probe:
 *
 *     struct run_job job;
 *     run_prepare(&job, &pkg, in, n_in, &o, &err);          // unpacks, checks, writes the inputs
 *     live_run(&live, job.argv, &result, &err);             // or child_run
 *     run_outputs(&job, &result.command, &r, &err);
 *     run_job_release(&job);                                // removes the folder
 *
 * The child is pt2-runner ($PT2_RUNNER, else ../lib/pt2utils/pt2-runner from the program's own folder; pt2-runner --help). All of the
 * model's files are unpacked into a private folder (job.folder), the library under its own name, so that wrapper.cpp
 * is beside it. If that folder is mounted noexec, the library is also in memory (memfd_create) and loaded from there: .in_memory, which the
 * child has as RUN_IN_MEMORY (child.h, .fds).
 *
 * Refused, by name: models for a GPU without .how.torch, for another machine, for a CPU with instructions that this one lacks;
 * models of other runtimes (without torch's aoti_torch_*: modelso.h); operators that libpt2shim.so does not have - all of them
 * listed before anything runs; err then suggests .torch -; custom ops defined in Python, or (.torch) in a library
 * that .load does not name; packages without weights (aot_inductor.package_constants_in_so=False), if none are given.
 *
 * Weights: .how.weights is read here, checked against .contract, and passed on as tensors, in the layout that the model was compiled for
 * (tensor/weights/weights.h); so are those that a package holds as files. The child opens no file of the user's.
 *
 * Confinement (in pt2-runner, before the model is loaded; docs/user/RUN.md): limits of address space and time, no core file; a filter of
 * system calls: no network, no other program or process (threads are allowed), no file written or created except the outputs.
 * It may only read files, and few of them where a mount namespace is available (libshim/run/view.c). None of the user's descriptors is open
 * there, and while it runs the tool cannot be inspected through /proc. .watched does not change this: what the probe writes to is opened
 * before (watch/keeper.h). A model for CUDA (with .torch, that of an installed libtorch for CUDA) is not confined: the driver opens
 * devices; job.gpu is set then, so that the caller can say so.
 */
#ifndef PT2_LIVE_RUN_H
#define PT2_LIVE_RUN_H
#include "model/contract/contract.h"
#include "model/package/package.h"
#include "base/process/child.h"
#include "watch/runfile.h"
#include "watch/runopt.h"

#include <pthread.h>

enum { RUN_MAX_LOAD = 16, RUN_IN_MEMORY = 3 };

/* The files of one model, unpacked for the first of several jobs, which may run at the same time: {.lock = PTHREAD_MUTEX_INITIALIZER}. If
 * that fails, it fails for all of them, whichever came first. */
struct run_files {
	pthread_mutex_t lock;
	char *folder;
	uint64_t size;
	bool failed;
	struct err why;
};
void run_files_release(struct run_files *f); /* after the jobs */

struct run_options {
	struct run_how how;
	struct run_files *files; /* NULL: the job has its own */
	const struct contract
	    *contract;        /* of the model: names, shapes and layout of the weights; NULL: only what its own functions report */
	unsigned threads;     /* OpenMP; 0: OMP_NUM_THREADS, else one per processor */
	uint64_t max_memory;  /* bytes of address space; 0: 16 GiB and four times the model's files */
	bool check_inputs;    /* AOTI_RUNTIME_CHECK_INPUTS=1 */
	bool watched;         /* it runs under libpt2probe.so */
	const char *save_dir; /* .watched: the folder to which the probe saves tensors; or NULL */
	void (*printed)(void *user, struct slice text); /* what the model prints, as it arrives: not safe for a terminal; NULL: dropped */
	void *user;
	bool unconfined; /* no system call filter */
};

struct run_job {
	char **argv; /* NULL-terminated */
	char *folder, *so, *outputs;
	const char *files; /* where the model's files are: the folder, or that of struct run_files */
	char *loaded;      /* what the child loads it from, as this process names it: so, or where nothing may be executed .in_memory */
	int in_memory;
	uint64_t max_memory;
	unsigned timeout_s;
	bool guarded;     /* with --bounds */
	bool gpu;         /* it runs on a GPU, unconfined */
	struct buf notes; /* what the user may want to know, one per line: weights that were not used */
	struct arena arena;
};

struct run_result {
	struct runfile out; /* out.v[0].name is "out0"; tensor_is_none(&out.v[i]) where the model returns None */
	struct buf notes;   /* of the job, for run_model() */
};

/* The path of a libtorch_cpu.so. given: itself, or a folder that has it; "": $PT2_TORCH, else that of $PT2_PYTHON if set, else the one that
 * doctor_find_torch finds by its paths, else that of python3. NULL and err, which names the Python that was tried. */
const char *run_find_torch(struct arena *a, const char *given, struct err *err);

/* For a tool that will be sealed (base/broker/broker.h): finds the libtorch of .torch (NULL: none was asked for), and lets it and the
 * libraries of .load be given to models' processes. What is not found is an error when it is needed. */
void run_trust(const struct run_how *how);

int run_prepare(struct run_job *job, struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o,
		struct err *err);
/* Turns the way the child ended into an error, unless it left outputs. */
int run_outputs(const struct run_job *job, const struct child_result *child, struct run_result *r, struct err *err);
void run_job_release(struct run_job *job);

int run_model(struct package *pkg, const struct tensor_view *in, size_t n_in, const struct run_options *o, struct run_result *r,
	      struct err *err);
void run_result_release(struct run_result *r);

#endif
