/* phases.h - maps the names of dynamo_timed blocks to the parts of a compilation that people know.
 *
 *     phase_part(SLICE("Scheduler.codegen"))        // PART_CODEGEN_TIME
 *     time_part_name[PART_CODEGEN_TIME]             // "code generation"
 *
 * Names are those of torch 2.13.0: the first argument of dynamo_timed, or its phase_name (torch/_dynamo, torch/_functorch,
 * torch/_inductor, torch/fx/passes/graph_transform_observer.py). Older versions have most of them.
 */
#ifndef PT2_PHASES_H
#define PT2_PHASES_H
#include "run/facts.h"

#define TIME_PARTS(X) \
	X(DYNAMO, "Dynamo tracing", COMPONENT_DYNAMO) \
	X(GUARDS, "guards", COMPONENT_DYNAMO) \
	X(AOT, "AOTAutograd", COMPONENT_AOTAUTOGRAD) \
	X(PASSES, "Inductor passes", COMPONENT_INDUCTOR) \
	X(LOWERING, "lowering", COMPONENT_INDUCTOR) \
	X(SCHEDULING, "scheduling", COMPONENT_INDUCTOR) \
	X(CODEGEN, "code generation", COMPONENT_CODEGEN) \
	X(COMPILER, "kernel compile, load", COMPONENT_COMPILER) /* g++, Triton; loading their output */ \
	X(AUTOTUNE, "autotune", COMPONENT_COMPILER) \
	X(CACHE, "cache lookup", COMPONENT_INDUCTOR) \
	X(BACKWARD, "backward", COMPONENT_INDUCTOR) /* around the backward's own passes, lowering, ... */ \
	X(CUDAGRAPH, "CUDA graphs", COMPONENT_RUNTIME) \
	X(GC, "garbage collection", COMPONENT_DYNAMO) \
	X(IMPORT, "imports", COMPONENT_INDUCTOR) \
	X(OTHER, "other", COMPONENT_NONE) /* everything without a known name */
enum time_part_kind {
#define X(id, name, component) PART_##id##_TIME,
	TIME_PARTS(X)
#undef X
	    TIME_PART_COUNT,
};
extern const char *const time_part_name[TIME_PART_COUNT];
enum time_part_kind phase_part(struct slice name);

#endif
