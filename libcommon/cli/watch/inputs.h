/* inputs.h - a model from a file, and the inputs to call it with.
 *
 *     struct loaded l;
 *     struct inputs in;
 *     if (inputs_load(&l, &in, "model.pt2", &how, operands, n, &err) < 0) ...      // EXIT_USAGE: unknown names, missing inputs
 *     run_model(&l.pkg, in.v, in.n, &o, &r, &err);
 *     inputs_release(&in);
 *     loaded_release(&l);
 *
 * Operands are those of model/cppwrapper/operands.h. A spec stands for a generated tensor: floats between -1 and 1 (the same in every run),
 * integers 0. A bundle that aoti-printer --record kept (bundle.h) is a model with its inputs.
 */
#ifndef PT2_LIVE_INPUTS_H
#define PT2_LIVE_INPUTS_H
#include "model/binprobe/load.h"
#include "model/cppwrapper/operands.h"
#include "tensor/write.h"
#include "watch/runopt.h"

struct inputs {
	struct given given;
	struct tensor_view *v; /* one per input of the model */
	size_t n;
	struct arena arena;
};

/* The model at `path` and its inputs, which may have forward()'s names (watch/names.h); of `how`, .model and .names count. Nothing
 * to release after a failure. */
int inputs_load(struct loaded *l, struct inputs *in, const char *path, const struct run_how *how, const char *const *operand, int n,
		struct err *err);
/* The same for an already loaded contract. */
int inputs_read(struct inputs *in, const struct contract *c, const char *const *operand, int n, struct err *err);
void inputs_release(struct inputs *in);
/* Do tensors of these metas match what the model requires? Bounds of sizes are checked only for exported programs: compiled
 * code often runs beyond them, or checks them itself. EXIT_INPUT: the first mismatch. */
int inputs_check(const struct contract *c, const struct tensor_meta *meta, size_t n, struct err *err);

#endif
