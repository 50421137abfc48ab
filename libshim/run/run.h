/* run.h - pt2-runner: one model, one process. main.c reads the command line, model.c loads and calls, weights.c gives it weights,
 * confine.c locks the door, view.c leaves few files behind it, keeper.c stays outside. */
#ifndef PT2_SHIM_RUN_H
#define PT2_SHIM_RUN_H
#include "live/runfile.h"

struct job {
	const char *name; /* of the model, for messages */
	const char *torch, *model, *inputs, *outputs, *weights, *blob, *save_dir;
	const char *extern_nodes; /* the list of what it calls through the proxy executor; NULL: it has none */
	const char *load[16];     /* libraries that define operators */
	unsigned n_load;
	unsigned runs, threads;
	uint64_t max_memory;
	bool gpu; /* the model is for CUDA: libtorch_cuda.so beside .torch; inputs and outputs are copied */
	bool verbose, watched, unconfined, quiet;
	int in_memory; /* a copy of .model to load it from, where nothing may be executed (live/run.h); -1: .model itself */
	bool own_copy; /* .model may be changed, so that it can be loaded (modelso_make_loadable) */
	int out_fd, own_err, model_err; /* where it writes; the real stderr; what the model printed can be read here, or -1 */
	int keeper, events;             /* .watched: who makes files for the probe, and its log of events; -1 */
};

int run_job(struct job *j, const struct tensor_view *in, size_t n_in, struct err *err);
/* weights.c: the container takes these tensors as its constants, by their names or module paths; the handles stay the caller's, and must
 * stay until it is deleted. none: the library has none of its own, so that what is not given is missing. */
struct opaque;
struct container;
struct constants {
	const struct tensor_view *v;
	struct opaque **handle;
	size_t n;
	bool none;
};
int constants_give(void *so, struct container *c, const char *model, const struct constants *k, struct err *err);
/* No way back. confine_early: what is laid on before a library is loaded, whose threads it then holds for, too; after it nothing is
 * opened for writing. */
int confine_early(struct job *j, struct err *err);
int confine(const struct job *j, struct err *err);
/* view.c: from here on only some files are there to be seen. False: all are, as before; why: of strerror(). */
bool view_enter(const struct job *j, const char **why);
/* keeper.c: a process that makes files in the folder, as calls/keeper.h says. The socket to ask it, or -1. */
int keeper_start(const char *folder, struct err *err);

#endif
