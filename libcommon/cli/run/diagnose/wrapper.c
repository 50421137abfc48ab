/* wrapper.c - breaks in DDP, FSDP2 and optimizers, as torch 2.13 and 2.15 have them on every call. */
#include "run/diagnose/wrapper.h"

static const struct wrapper wrappers[] = {
    {"torch/nn/parallel/distributed.py", "wrapper-ddp", "DDP",
     "DDP's forward logs and prepares buckets in Python around the module; only the module inside is compiled.", ""},
    {"torch/distributed/fsdp/", "wrapper-fsdp", "FSDP2",
     "FSDP2's hooks gather and free parameters in Python, and torch does not trace them: compilation of the outer module stops at the "
     "first "
     "hook.",
     "for block in model.blocks: block.compile()    # compiles the inner modules, not the hooks around them"},
    {"torch/optim/lr_scheduler.py", "wrapper-scheduler", "LRScheduler's wrapper of optimizer.step",
     "Creating an LRScheduler wraps optimizer.step, and torch does not trace the wrapper. Nothing to do: the update inside it is still "
     "compiled, as one graph.",
     ""},
    {"torch/optim/", "wrapper-optimizer", "The optimizer",
     "torch.optim breaks the graph before its update on purpose (hooks, profiling, grad mode): the update itself is one graph.", ""},
};

enum { SCHEDULER = 2 }; /* of wrappers */

/* The wrapper whose file occurs in a text. */
static const struct wrapper *wrapper_in(struct slice text)
{
	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (slice_find(text, wrappers[i].part))
			return &wrappers[i];
	return NULL;
}

const struct wrapper *wrapper_of(struct slice frames, struct slice file, struct slice explanation)
{
	const struct wrapper *found = wrapper_in(file), *in;
	struct srcloc at;
	enum srcloc_origin own = srcloc_origin(file);
	if (slice_find(explanation, ".step` in file ") && slice_find(explanation, "torch/optim/lr_scheduler.py"))
		return &wrappers[SCHEDULER]; /* the call is the program's own line */
	if (found || own == SRCLOC_USER || own == SRCLOC_PACKAGE)
		return found;
	/* "the function `Adam.step` in file `.../torch/optim/lr_scheduler.py` should not be traced" */
	if ((in = wrapper_in(explanation)))
		return in;
	while (explain_frame(&frames, &at)) {
		enum srcloc_origin o = srcloc_origin(at.file);
		if (o == SRCLOC_USER || o == SRCLOC_PACKAGE)
			found = NULL;
		found = (in = wrapper_in(at.file)) ? in : found;
	}
	return found;
}
