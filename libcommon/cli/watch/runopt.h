/* runopt.h - how to run a compiled model: the options of every tool that does, and their rules.
 *
 *     static struct { struct run_how how; ... } opt;
 *     static const struct opt options[] = {
 *         OPT_HEADING("How to run"),
 *         RUN_OPT_MODEL(opt.how), RUN_OPT_WEIGHTS(opt.how, "", false), RUN_OPT_TORCH(opt.how), RUN_OPT_LOAD(opt.how), ...
 *     };
 *     static const struct opt_rule rules[] = {RUN_RULE_LOAD, ...};
 *     run_trust(&opt.how);                                          // run.h
 *     struct watch_options o = {.how = opt.how, ...};               // watch.h; or struct run_options, run.h
 *     run_how_release(&opt.how);
 *
 * Their order in -h is the tool's.
 */
#ifndef PT2_LIVE_RUNOPT_H
#define PT2_LIVE_RUNOPT_H
#include "base/tool/opt.h"

struct run_how {
	const char *model;   /* which model, when the package holds several */
	const char *names;   /* an exported program, whose forward() names the inputs (watch/names.h); NULL: found beside it */
	const char *torch;   /* NULL: libpt2shim.so ($PT2_SHIM, else beside pt2-runner); else as for run_find_torch */
	const char *weights; /* a file (tensor/weights/weights.h) with the model's weights; NULL: its own, or its package's */
	/* .torch: libraries that define operators (TORCH_LIBRARY); loaded in the confined child, before the model; at most RUN_MAX_LOAD */
	struct opt_list load;
	/* Kernels get guarded copies of their tensors (watch/guard.h), or (bounds_alloc) memory itself is guarded. */
	bool bounds, bounds_alloc;
	int runs;      /* 0: 1; each with the same inputs; the last one's outputs are returned */
	int timeout_s; /* 0: 600 */
};

/* clang-format off */
#define RUN_OPT_MODEL(how) OPT_STRING('m', "model", "NAME", &(how).model, "choose the model, if the package holds several")
#define RUN_OPT_REPEAT(s_, l_, n_, how, tail_, more_) \
	OPT_INT(s_, l_, n_, &(how).runs, 1, 1000000, "run the model " n_ " times" tail_, .more = (more_))
#define RUN_OPT_WEIGHTS(how, of_, rare_) \
	OPT_STRING(0, "weights", "FILE", &(how).weights, "load the weights" of_ " from FILE", .rare = (rare_), \
		   .more = ".safetensors, .pt, .npz or an exported .pt2.")
#define RUN_OPT_TORCH(how) OPT_STRING(0, "torch", "[=DIR]", &(how).torch, "run with an installed libtorch")
#define RUN_OPT_LOAD(how) \
	OPT_LIST(0, "load", "LIB", &(how).load, "load a library of custom operators (TORCH_LIBRARY)", .rare = true, \
		 .more = "Requires --torch; may be given again.")
#define RUN_OPT_BOUNDS(how) \
	OPT_CALL(0, "bounds", "[=alloc]", run_take_bounds, &(how), "find reads and writes outside of tensors", \
		 .more = "CPU only. Kernels get guarded copies of their tensors; alloc: guard memory itself, for operators, too.")
#define RUN_OPT_TIMEOUT(how) OPT_INT(0, "timeout", "SECONDS", &(how).timeout_s, 1, 1000000, "stop the model after SECONDS (default: 600)")
/* Of a tool that watches a command, too: which graphs, and which of their runs. */
#define RUN_OPT_GRAPH(t_) OPT_STRING(0, "graph", "GLOB", &(t_), "watch only these torch.compile graphs: 3_backward")
#define RUN_OPT_STEP(t_, rare_) \
	OPT_STRING(0, "step", "RANGE", &(t_), "watch only these runs or optimizer steps: 3..5", .rare = (rare_), \
		   .more = "Counted from 0, for each model or graph: 3, 3..5, 3..")
#define RUN_RULE_LOAD {.of = "load", .without = "torch", .text = "--load requires --torch"}
#define RUN_RULES_COMMAND \
	{.of = OPT_COMMAND, .with = OPT_OPERANDS, .text = "-- COMMAND cannot be combined with MODEL or INPUT"}, \
	{.of = OPT_COMMAND, .with = "model weights torch load repeat timeout", \
	 .text = "-- COMMAND cannot be combined with --model, --weights, --torch, --load, --repeat or --timeout"}
#define RUN_RULE_GRAPH(example) {.of = "graph", .without = OPT_COMMAND, .text = "--graph requires a command: " example}
/* clang-format on */
#define RUN_INPUT_TEXT "INPUT: a file (.npy .npz .safetensors .pt), FILE:KEY, or a spec: f32[8,10]."

/* --bounds[=alloc]; how: a struct run_how. */
int run_take_bounds(void *how, const char *value, struct err *err);

static inline void run_how_release(struct run_how *how) { opt_list_release(&how->load); }

#endif
