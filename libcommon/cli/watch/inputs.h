/* inputs.h - a model out of a file, and what it is to be called with.
 *
 *     struct loaded l;
 *     struct inputs in;
 *     if (inputs_load(&l, &in, "model.pt2", NULL, operands, n, &err) < 0) ...      // EXIT_USAGE: unknown names, none given for one
 *     run_model(&l.pkg, in.v, in.n, &o, &r, &err);
 *     inputs_release(&in);
 *     loaded_release(&l);
 *
 * Operands as model/cppwrapper/operands.h has them. A spec stands for a tensor that is made up: floats between -1 and 1 (the same in every
 * run), integers 0. A bundle that aoti-printer --record kept (bundle.h) is a model with its inputs.
 */
#ifndef PT2_LIVE_INPUTS_H
#define PT2_LIVE_INPUTS_H
#include "model/binprobe/load.h"
#include "model/cppwrapper/operands.h"
#include "tensor/write.h"

struct inputs {
	struct given given;
	struct tensor_view *v; /* one per input of the model */
	size_t n;
	struct arena arena;
};

/* The model at `path` (one of several: `name`) and its inputs. On failure nothing needs a release. */
int inputs_load(struct loaded *l, struct inputs *in, const char *path, const char *name, const char *const *operand, int n,
		struct err *err);
/* The same for a contract that is at hand. */
int inputs_read(struct inputs *in, const struct contract *c, const char *const *operand, int n, struct err *err);
void inputs_release(struct inputs *in);
/* Do tensors of these metas fit, as far as the model must have it? Bounds of sizes are let pass but for an exported program's: compiled
 * code often runs beyond them, and whether it does is its own business. EXIT_INPUT: the first that does not. */
int inputs_check(const struct contract *c, const struct tensor_meta *meta, size_t n, struct err *err);

#endif
