#include "run/phases.h"

const char *const time_part_name[TIME_PART_COUNT] = {
#define X(id, name, component) name,
    TIME_PARTS(X)
#undef X
};
static const enum component part_component[TIME_PART_COUNT] = {
#define X(id, name, component) component,
    TIME_PARTS(X)
#undef X
};

/* The first entry that the name starts with (or, with a leading '*', contains) applies. */
static const struct {
	const char *start;
	enum time_part_kind part;
} known[] = {
#define P(start, id) {start, PART_##id##_TIME},
    P("dynamo", DYNAMO) P("entire_frame_compile", DYNAMO) P("_compile.compile_inner", DYNAMO) P("compile_attempt_", DYNAMO) P(
	"bytecode_", DYNAMO) P("insert_deferred_runtime_asserts", DYNAMO) P("fullgraph_capture", DYNAMO)
	P("OutputGraph.call_user_compiler", AOT) P("backend_compile", AOT) P("invoke_subgraph_", DYNAMO) P("pgo.dynamic_whitelist", DYNAMO)
	    P("compiler_collective", DYNAMO) P("automatic_dynamic", DYNAMO) P("after_deserialization", DYNAMO) P("build_guards", GUARDS)
		P("precompile_", GUARDS) P("guard_collective", GUARDS) P("TranslationValidator", GUARDS) P("*autotun", AUTOTUNE) P(
		    "*benchmark", AUTOTUNE) P("*_do_bench", AUTOTUNE) P("*_template_precompiling", AUTOTUNE)
		    P("*coordinate_descent_tuning", AUTOTUNE) P("CachingAutotuner.slow_precompile_config", COMPILER) P(
			"PyCodeCache.", COMPILER) P("StaticAutotunerFuture.", COMPILER) P("CUDAGraph", CUDAGRAPH) P("*cudagraph", CUDAGRAPH)
			P("AOTAutogradCache", CACHE) P("FxGraphCache", CACHE) P("CacheBase", CACHE) P("*codecache", CACHE)
			    P("*_cache_", CACHE) P("pgo.", CACHE) P("TritonBundler", CACHE) P("GraphPickler", CACHE)
				P("CompiledArtifact", CACHE) P("create_aot_", AOT) P("aot_", AOT) P("min_cut_", AOT)
				    P("entire_backward_compile", BACKWARD) P("backward.", BACKWARD) P("compiled_autograd", BACKWARD)
					P("compile_fx.<locals>.bw_compiler", BACKWARD) P("_recursive_", PASSES) P("pass.", PASSES)
					    P("fx.bucketing", PASSES) P("additional_fake_tensor_prop", PASSES) P("compile_fx", PASSES)
						P("inductor_compile", PASSES) P("fx_codegen_and_compile", PASSES)
						    P("convert_conv_weights", PASSES) P("inductor_import", IMPORT)
							P("GraphLowering.run", LOWERING) P("Scheduler.codegen", CODEGEN)
							    P("Scheduler.", SCHEDULING) P("GraphLowering.", CODEGEN) P("code_gen", CODEGEN)
								P("PythonWrapperCodegen", CODEGEN) P("CppWrapper", CODEGEN)
								    P("generate_kernel_code", CODEGEN) P("cutlass_utils", CODEGEN) P(
									"CUTLASS", CODEGEN) P("aoti_serialize_constants", CODEGEN)
									P("offload_constants_", AUTOTUNE) P("cpp_wrapper_compile", COMPILER)
									    P("compile_file", COMPILER) P("async_compile", COMPILER)
										P("reload_kernel_in_parent", COMPILER) P("aoti_", COMPILER)
										    P("AotCodeCompiler", COMPILER) P("gc", GC)
#undef P
};

enum time_part_kind phase_part(struct slice name)
{
	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].start[0] == '*' ? slice_find(name, known[i].start + 1) != NULL : slice_starts(name, known[i].start))
			return known[i].part;
	return PART_OTHER_TIME;
}

enum component phase_component(struct slice name) { return part_component[phase_part(name)]; }
