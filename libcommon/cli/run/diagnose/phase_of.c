/* phase_of.c - the phases by their frames; the innermost frame that is known decides. */
#include "run/diagnose/phase_of.h"

#define REGIONS \
	"Compile one block and reuse it: torch.compile each layer (model.layers[i].compile()), or torch.compiler.nested_compile_region.\n" \
	"Where the time went in the end: TORCH_TRACE=traces python app.py; fxexplain traces"

static const struct compile_phase phases[] = {
    {"torch/_inductor/scheduler.py", "fuse_nodes", COMPONENT_INDUCTOR, "Inductor was choosing which kernels to fuse",
     "The scheduler compares pairs of kernels: the time grows with the square of the size of the graph.",
     "Compare fewer: torch._inductor.config.max_fusion_size = 16 (default 64)\n" REGIONS},
    {"torch/_inductor/runtime/triton_heuristics.py", "benchmark_all_configs", COMPONENT_RUNTIME,
     "Inductor was timing configurations of a kernel", "Each configuration is compiled and run at the first call of a kernel.",
     "Use mode=\"default\" instead of \"max-autotune\", and without coordinate_descent_tuning.\n"
     "Keep the results: TORCHINDUCTOR_CACHE_DIR on a disk that survives the job."},
    {"torch/_inductor/select_algorithm.py", NULL, COMPONENT_INDUCTOR, "Inductor was timing the variants of a matrix product or convolution",
     "mode=\"max-autotune\" compiles and times many templates for each size.",
     "Use mode=\"default\", or TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_SEARCH_SPACE=DEFAULT.\n"
     "Keep the results: TORCHINDUCTOR_CACHE_DIR on a disk that survives the job."},
    {"torch/_inductor/async_compile.py", "wait", COMPONENT_COMPILER, "torch was waiting for kernels that are being compiled",
     "g++ or Triton compiles the kernels in worker processes; the main process waits for the last one.",
     "More workers: TORCHINDUCTOR_COMPILE_THREADS=16. In a container check that it may use more than one CPU: nproc\n"
     "Keep the results: TORCHINDUCTOR_CACHE_DIR on a disk that survives the job."},
    {"torch/_inductor/cpp_builder.py", NULL, COMPONENT_COMPILER, "the C++ compiler was running",
     "Inductor compiles its C++ kernels and wrappers with g++ or clang.",
     "Keep the results: TORCHINDUCTOR_CACHE_DIR on a disk that survives the job.\n" REGIONS},
    {"triton/compiler/", NULL, COMPONENT_COMPILER, "Triton was compiling a kernel", "Triton compiles each kernel and configuration once.",
     "Keep the results: TRITON_CACHE_DIR and TORCHINDUCTOR_CACHE_DIR on a disk that survives the job.\n"
     "More workers: TORCHINDUCTOR_COMPILE_THREADS=16"},
    {"/sympy/", NULL, COMPONENT_INDUCTOR, "torch was computing with symbolic sizes",
     "Sizes are dynamic, and their expressions are simplified again and again.",
     "Compile with static sizes: torch.compile(model, dynamic=False), or mark only the dimension that varies: "
     "torch._dynamo.mark_dynamic\n" REGIONS},
    {"torch/_inductor/pattern_matcher.py", NULL, COMPONENT_INDUCTOR, "Inductor was looking for patterns to replace in the graph",
     "Its passes go over the whole graph, some of them several times.", REGIONS},
    {"torch/_inductor/fx_passes/", NULL, COMPONENT_INDUCTOR, "Inductor was running its passes on the graph",
     "Its passes go over the whole graph, some of them several times.", REGIONS},
    {"torch/_inductor/graph.py", "run_node", COMPONENT_INDUCTOR, "Inductor was lowering the graph",
     "Each operation becomes a loop nest, one after the other.", REGIONS},
    {"torch/_inductor/codegen/", NULL, COMPONENT_CODEGEN, "Inductor was writing kernels",
     "One kernel after the other is written as source code.", REGIONS},
    {"torch/_inductor/scheduler.py", NULL, COMPONENT_INDUCTOR, "Inductor was scheduling kernels",
     "The scheduler orders the kernels and finds their dependencies.", REGIONS},
    {"torch/_functorch/partitioners.py", NULL, COMPONENT_AOTAUTOGRAD, "AOTAutograd was splitting forward and backward",
     "It solves a minimum cut over the whole graph, to decide what is saved and what is recomputed.", REGIONS},
    {"torch/_functorch/_aot_autograd/", NULL, COMPONENT_AOTAUTOGRAD, "AOTAutograd was tracing forward and backward",
     "Each operation is run on fake tensors, some of them several times.", REGIONS},
    {"torch/_dynamo/guards.py", NULL, COMPONENT_DYNAMO, "Dynamo was building guards", "Each value that the traced code read gets a guard.",
     REGIONS},
    {"torch/_dynamo/symbolic_convert.py", NULL, COMPONENT_DYNAMO, "Dynamo was tracing your code",
     "Dynamo runs the code symbolically and unrolls its loops: the time grows with the number of operations.",
     "Compile the body of a long loop instead of the loop.\n" REGIONS},
};

static const struct compile_phase *phase_of_line(struct slice line)
{
	for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
		if (!slice_has(line, phases[i].file))
			continue;
		const char *in = phases[i].function ? slice_find(line, phases[i].function) : NULL;
		if (!phases[i].function || (in && in > line.p + 2 && !strncmp(in - 3, "in ", 3)))
			return &phases[i];
	}
	return NULL;
}

const struct compile_phase *phase_of(struct slice stack)
{
	const struct compile_phase *found = NULL;
	struct slice line;
	while (slice_line(&stack, &line)) {
		const struct compile_phase *p = phase_of_line(line);
		/* What a phase calls is not another phase: Dynamo's code runs below Inductor's, too, but not the other way round. */
		if (p && (!found || p->component >= found->component || p->component == COMPONENT_INDUCTOR))
			found = p;
	}
	return found;
}
