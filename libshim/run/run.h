/* run.h - pt2-runner: one model, one process. main.c reads the command line, model.c loads and calls the model, weights.c gives it weights,
 * confine.c confines the process, view.c hides most files from it, keeper.c stays outside the confinement. */
#ifndef PT2_SHIM_RUN_H
#define PT2_SHIM_RUN_H
#include "watch/runfile.h"

struct job {
	const char *name; /* the model's name in messages */
	const char *torch, *model, *inputs, *outputs, *weights, *blob, *save_dir;
	const char *extern_nodes; /* the list of operators called through the proxy executor; NULL if none */
	const char *load[16];     /* libraries that define operators */
	unsigned n_load;
	unsigned runs, threads;
	uint64_t max_memory;
	bool gpu; /* the model is for CUDA: libtorch_cuda.so beside .torch; inputs and outputs are copied */
	bool verbose, watched, guard, unconfined, quiet;
	int in_memory;                  /* a copy of .model in memory, to load it from if its folder is noexec; -1: .model itself */
	bool own_copy;                  /* .model may be modified to make it loadable (modelso_make_loadable) */
	int out_fd, own_err, model_err; /* the output file; the real stderr; where the model's output can be read, or -1 */
	int keeper, events;             /* .watched: the keeper that creates files for the probe, and its event log; -1 */
};

int run_job(struct job *j, const struct tensor_view *in, size_t n_in, struct err *err);
/* weights.c: makes the container use these tensors as its constants, by name or module path; the caller keeps ownership of the handles,
 * which must stay valid until it is deleted. none: the library has no weights of its own, so those not given are missing. */
struct opaque;
struct container;
struct constants {
	const struct tensor_view *v;
	struct opaque **handle;
	size_t n;
	bool none;
};
int constants_give(void *so, struct container *c, const char *model, const struct constants *k, struct err *err);
/* Irreversible. confine_early: the restrictions applied before a library is loaded, so that they also cover its threads; after it nothing
 * can be opened for writing. */
int confine_early(struct job *j, struct err *err);
int confine(const struct job *j, struct err *err);
/* view.c: from here on only some files are visible. False: all are, as before; why: strerror() text. */
bool view_enter(const struct job *j, const char **why);
/* keeper.c: starts a process that creates files in the folder (watch/keeper.h). Returns the socket to ask it, or -1. */
int keeper_start(const char *folder, struct err *err);

#endif
