/* debugdir.h - the output of TORCH_COMPILE_DEBUG=1: runs, compilations, and how far each got.
 *
 *     struct debugdir d;
 *     if (debugdir_open(&d, "torch_compile_debug", &err) < 0) ...
 *     for (uint32_t i = 0; i < d.n_comp; i++)
 *         d.comp[i].name, debugdir_phase(&d.comp[i])
 *     struct mapfile f;
 *     if (debugdir_file(&d, i, DEBUG_OUTPUT_CODE, &f, &err) == 0) ... mapfile_close(&f);
 *     debugdir_close(&d);
 *
 * Accepts the directory itself, its parent, or any directory below it (torch 2.13, torch/_inductor/debug.py; 2.0 to 2.12 the same but for
 * HASH.debug):
 *
 *     torch_compile_debug/run_2026_11_21_10_26_22_225703-pid_16333/torchinductor/model__0_forward_1.0/output_code.py
 *     torch_compile_debug/run_.../torchinductor/aot_model___0_debug.log
 *     torch_compile_debug/run_.../torchdynamo/debug.log
 *     torch_compile_debug/tlparse/dedicated_log_torch_trace_HASH.log       a structured trace
 *     /tmp/torchinductor_user/rx/crxfi2...jc2.debug/output_code.py         2.0: the directory of a single compilation
 *
 * A compilation is a directory with one of the files below. Links are not followed. Files are read on demand. Bounds: DEBUGDIR_DEPTH
 * levels, DEBUGDIR_MAX entries. Failure: EXIT_INPUT if it is not a directory or contains none of these.
 */
#ifndef PT2_INDUCTOR_DEBUGDIR_H
#define PT2_INDUCTOR_DEBUGDIR_H
#include "base/arena.h"
#include "base/io/mapfile.h"
#include "run/facts.h"

#define DEBUGDIR_DEPTH 6
#define DEBUGDIR_MAX 100000

#define DEBUG_FILES(X) \
	X(RUNNABLE, "fx_graph_runnable.py") \
	X(READABLE, "fx_graph_readable.py") \
	X(TRANSFORMED, "fx_graph_transformed.py") \
	X(IR_PRE, "ir_pre_fusion.txt") \
	X(IR_POST, "ir_post_fusion.txt") \
	X(OUTPUT_CODE, "output_code.py") \
	X(OUTPUT_CPP, "output_code.cpp") \
	X(MAPPINGS, "inductor_provenance_tracking_node_mappings.json") \
	X(STACKS, "inductor_provenance_tracking_kernel_stack_traces.json") \
	X(LOG, "debug.log")
enum debug_file {
#define X(id, name) DEBUG_##id,
	DEBUG_FILES(X)
#undef X
	    DEBUG_FILE_COUNT,
};
extern const char *const debug_file_name[DEBUG_FILE_COUNT];

enum debug_kind { DEBUG_UNKNOWN, DEBUG_FORWARD, DEBUG_BACKWARD, DEBUG_INFERENCE };

/* The phase shown by the last file written: where it stopped, if it failed. */
enum debug_phase {
	DEBUG_IN_LOWERING,  /* only graphs */
	DEBUG_IN_SCHEDULER, /* ir_pre_fusion, no ir_post_fusion */
	DEBUG_IN_CODEGEN,   /* ir_post_fusion, no code */
	DEBUG_HAS_CODE,     /* the C++ or Triton compiler, or run time */
};
const char *debug_phase_name(enum debug_phase p); /* "lowering", "scheduler", "code generation", "compiler or run time" */

struct debug_run {
	struct slice name; /* "run_2026_11_21_10_26_22_225703-pid_16333" */
	struct slice time; /* "2026-11-21 10:26:22" */
	uint64_t pid;
};
struct debug_comp {
	struct slice name; /* of its folder: "model__0_forward_1.0" */
	struct slice path;
	uint32_t run; /* NONE: no run */
	enum debug_kind kind;
	uint64_t graph; /* 0 of model__0_; UINT64_MAX: unknown */
	uint64_t nth;   /* 0 of _1.0: it is the run's nth compilation; UINT64_MAX */
	uint64_t size[DEBUG_FILE_COUNT];
	bool has[DEBUG_FILE_COUNT];
};

struct debugdir {
	const char *path;
	struct debug_run *run;
	struct debug_comp *comp;   /* by run, then nth */
	struct slice *log, *trace; /* paths: aot_*_debug.log and torchdynamo/debug.log; tlparse/... */
	uint32_t n_run, n_comp, n_log, n_trace, cap_run, cap_comp, cap_log, cap_trace;
	struct arena arena;
};

int debugdir_open(struct debugdir *d, const char *path, struct err *err);
void debugdir_close(struct debugdir *d);
/* Is it a directory that contains any of these? */
bool debugdir_probe(const char *path);
/* The caller closes it. EXIT_INPUT if it is missing. */
int debugdir_file(const struct debugdir *d, uint32_t comp, enum debug_file which, struct mapfile *f, struct err *err);
enum debug_phase debugdir_phase(const struct debug_comp *c);

/* A folder, with its traces and texts, as one more input of f. */
int facts_add_debugdir(struct facts *f, const char *path, const struct facts_options *o, struct err *err);

#endif
