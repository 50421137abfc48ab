/* metrics.h - all of torch's compilation metrics: what each value means.
 *
 *     unsigned k = metric_find(SLICE("duration_us"));
 *     if (k != METRIC_UNKNOWN)
 *         ... metric_info[k].unit, .group, .text
 *
 * The names are the fields of class CompilationMetrics of torch 2.13.0 (torch/_dynamo/utils.py), 99 of them, in the order of the class and
 * of the records compilation_metrics and bwd_compilation_metrics. The descriptions follow the code that sets them: torch/_dynamo/utils.py,
 * torch/_dynamo/convert_frame.py, torch/_inductor/compile_fx.py, torch/_functorch/_aot_autograd/. A *_cumulative_* time includes nested
 * ones. Fields filled only by Meta's own caches and services say so ("remote").
 *
 * X(name, unit, group, description)
 */
#ifndef PT2_METRICS_H
#define PT2_METRICS_H
#include "base/base.h"

#define METRICS(X) \
	X(compile_id, TEXT, IDENTITY, "the compile id, frame/compile") \
	X(frame_key, TEXT, IDENTITY, "number of the code object") \
	X(co_name, TEXT, IDENTITY, "the function") \
	X(co_filename, TEXT, IDENTITY, "its file") \
	X(co_firstlineno, COUNT, IDENTITY, "its first line") \
	X(cache_size, COUNT, GUARD, "compiled versions this code object already had") \
	X(accumulated_cache_size, COUNT, GUARD, "compiled versions of this code object over all of its functions") \
	X(guard_count, COUNT, GUARD, "guards checked on each call") \
	X(shape_env_guard_count, COUNT, GUARD, "guards on symbolic sizes") \
	X(graph_op_count, COUNT, GRAPH, "operations in the graph") \
	X(graph_node_count, COUNT, GRAPH, "nodes of the graph, including inputs and output") \
	X(graph_input_count, COUNT, GRAPH, "inputs of the graph") \
	X(start_time, POINT_S, TIME, "when it started, seconds since 1970") \
	X(entire_frame_compile_time_s, S, TIME, "the whole compilation of the frame") \
	X(backend_compile_time_s, S, TIME, "the backend: AOTAutograd and Inductor") \
	X(inductor_compile_time_s, S, TIME, "Inductor, including code generation") \
	X(code_gen_time_s, S, TIME, "Inductor's code generation, including compiling and loading the kernels") \
	X(fail_type, TEXT, FAILURE, "the exception's type; null: it did not fail") \
	X(fail_reason, TEXT, FAILURE, "the exception's message") \
	X(fail_user_frame_filename, TEXT, FAILURE, "the user's file where it failed") \
	X(fail_user_frame_lineno, COUNT, FAILURE, "the user's line where it failed") \
	X(non_compliant_ops, LIST, GRAPH, "custom operators without a correct schema or fake kernel") \
	X(compliant_custom_ops, LIST, GRAPH, "custom operators marked as compliant") \
	X(restart_reasons, LIST, FAILURE, "why the analysis restarted (graph breaks, sizes that became dynamic)") \
	X(dynamo_time_before_restart_s, S, TIME, "time spent in abandoned attempts") \
	X(stack_trace, LIST, IDENTITY, "the user's stack at the start of the frame") \
	X(exception_stack_trace, LIST, FAILURE, "the traceback of the failure") \
	X(graph_node_shapes, JSON, GRAPH, "sizes of the graph's inputs and outputs") \
	X(has_guarded_code, BOOL, IDENTITY, "compiled code was installed; false: the frame falls back to eager") \
	X(remote_cache_time_saved_s, S, CACHE, "compile time saved by hits of the FX graph cache") \
	X(structured_logging_overhead_s, S, TIME, "time spent writing this log") \
	X(config_suppress_errors, BOOL, CONFIG, "suppress_errors: failures fall back to Python") \
	X(config_inline_inbuilt_nn_modules, BOOL, CONFIG, "inline_inbuilt_nn_modules") \
	X(specialize_float, BOOL, CONFIG, "floats are specialized as constants of the graph") \
	X(dynamo_config, JSON, CONFIG, "torch._dynamo.config") \
	X(compiler_config, JSON, CONFIG, "torch.compiler.config") \
	X(is_forward, BOOL, IDENTITY, "false: a backward graph") \
	X(num_triton_bundles, COUNT, CACHE, "bundles of Triton kernels stored in or loaded from a cache") \
	X(remote_fx_graph_cache_get_time_ms, MS, CACHE, "querying the remote FX graph cache") \
	X(remote_fx_graph_cache_put_time_ms, MS, CACHE, "filling the remote FX graph cache") \
	X(start_time_us, POINT_US, TIME, "when it started, microseconds since 1970") \
	X(duration_us, US, TIME, "total duration") \
	X(dynamo_cumulative_compile_time_us, US, TIME, "Dynamo and everything it called") \
	X(aot_autograd_cumulative_compile_time_us, US, TIME, "AOTAutograd and everything it called") \
	X(inductor_cumulative_compile_time_us, US, TIME, "Inductor and everything it called") \
	X(inductor_code_gen_cumulative_compile_time_us, US, TIME, "Inductor's code generation, compiling and loading the kernels") \
	X(triton_compile_time_us, US, TIME, "compiling Triton kernels, in this process or waiting for others") \
	X(runtime_cudagraphify_time_us, US, TIME, "recording CUDA graphs at run time") \
	X(runtime_triton_autotune_time_us, US, TIME, "autotuning Triton kernels at run time") \
	X(dynamo_compile_time_before_restart_us, US, TIME, "time spent in abandoned attempts") \
	X(distributed_ephemeral_timeout_us, US, TIME, "by how much a cache hit extended the timeouts of process groups") \
	X(structured_logging_overhead_us, US, TIME, "time spent writing this log") \
	X(remote_fx_graph_cache_get_time_us, US, CACHE, "querying the remote FX graph cache") \
	X(remote_fx_graph_cache_put_time_us, US, CACHE, "filling the remote FX graph cache") \
	X(backward_cumulative_compile_time_us, US, TIME, "compiling the backward graph when backward is first called") \
	X(end_time_us, POINT_US, TIME, "when it ended, microseconds since 1970") \
	X(pre_grad_pass_time_us, US, TIME, "Inductor's passes over the graph before autograd") \
	X(post_grad_pass_time_us, US, TIME, "Inductor's passes over the forward or backward graph") \
	X(joint_graph_pass_time_us, US, TIME, "Inductor's passes over the joint graph") \
	X(log_format_version, COUNT, ENVIRONMENT, "version of this record") \
	X(inductor_config, JSON, CONFIG, "torch._inductor.config") \
	X(remote_cache_version, COUNT, CACHE, "version of the remote cache") \
	X(inductor_fx_remote_cache_hit_count, COUNT, CACHE, "hits of the remote FX graph cache") \
	X(inductor_fx_remote_cache_miss_count, COUNT, CACHE, "misses of the remote FX graph cache") \
	X(inductor_fx_remote_cache_backend_type, TEXT, CACHE, "kind of the remote FX graph cache") \
	X(inductor_fx_remote_cache_hit_keys, LIST, CACHE, "keys found in the remote FX graph cache") \
	X(inductor_fx_remote_cache_miss_keys, LIST, CACHE, "keys missing from the remote FX graph cache") \
	X(inductor_fx_local_cache_hit_count, COUNT, CACHE, "hits of the FX graph cache on disk") \
	X(inductor_fx_local_cache_miss_count, COUNT, CACHE, "misses of the FX graph cache on disk") \
	X(aotautograd_remote_cache_hit_count, COUNT, CACHE, "hits of the remote AOTAutograd cache") \
	X(aotautograd_remote_cache_miss_count, COUNT, CACHE, "misses of the remote AOTAutograd cache") \
	X(aotautograd_local_cache_hit_count, COUNT, CACHE, "hits of the AOTAutograd cache on disk") \
	X(aotautograd_local_cache_miss_count, COUNT, CACHE, "misses of the AOTAutograd cache on disk") \
	X(cuda_version, TEXT, ENVIRONMENT, "CUDA version that torch was built with") \
	X(triton_version, TEXT, ENVIRONMENT, "Triton's version") \
	X(feature_usage, JSON, CONFIG, "features, and whether they were used") \
	X(compile_time_autotune_time_us, US, TIME, "autotuning at compile time") \
	X(is_runtime, BOOL, IDENTITY, "measured at run time, not at compile time") \
	X(gc_time_us, US, TIME, "garbage collection after compiling") \
	X(tensorify_float_attempt, BOOL, GRAPH, "a float input was tried as a tensor") \
	X(tensorify_float_success, BOOL, GRAPH, "and it worked") \
	X(tensorify_float_failure, LIST, GRAPH, "why it did not work") \
	X(guard_latency_us, US, GUARD, "one evaluation of the guards") \
	X(recompile_reason, TEXT, GUARD, "the first guard that failed") \
	X(num_graph_breaks, COUNT, GRAPH, "graph breaks of the process so far") \
	X(triton_kernel_compile_times_us, JSON, TIME, "compile time of each Triton kernel") \
	X(ir_count, COUNT, GRAPH, "IR nodes that Inductor made from the graph") \
	X(cudagraph_skip_reason, TEXT, FAILURE, "why CUDA graphs were skipped") \
	X(python_version, TEXT, ENVIRONMENT, "Python's version") \
	X(pgo_put_remote_code_state_time_us, US, CACHE, "saving the learned dynamic sizes, remotely") \
	X(pgo_get_remote_code_state_time_us, US, CACHE, "loading the learned dynamic sizes, remotely") \
	X(param_numel, COUNT, GRAPH, "number of elements in the parameters") \
	X(param_bytes, BYTES, GRAPH, "size of the parameters in bytes") \
	X(param_count, COUNT, GRAPH, "parameters") \
	X(recompile_user_contexts, LIST, GUARD, "the user's own text about the recompile (register_hook_for_recompile_user_context)") \
	X(inline_inbuilt_nn_modules_candidate, BOOL, CONFIG, "inlining its modules would make a difference") \
	X(pytorch_version, TEXT, ENVIRONMENT, "torch's version") \
	X(inductor_provenance, LIST, GRAPH, "kernels and the nodes they were made from") \
	X(functorch_config, JSON, CONFIG, "torch._functorch.config")

enum metric_id {
#define X(name, unit, group, text) METRIC_##name,
	METRICS(X)
#undef X
	    METRIC_COUNT,
	METRIC_UNKNOWN = METRIC_COUNT,
};

/* POINT_S, POINT_US: a point in time. */
enum metric_unit {
	METRIC_TEXT,
	METRIC_COUNT_OF,
	METRIC_S,
	METRIC_MS,
	METRIC_US,
	METRIC_POINT_S,
	METRIC_POINT_US,
	METRIC_BOOL,
	METRIC_BYTES,
	METRIC_LIST,
	METRIC_JSON,
	METRIC_UNITS
};
FOR_TESTS extern const char *const metric_unit_name[METRIC_UNITS]; /* "text", "count", "s", "ms", "us", ... */

#define METRIC_GROUPS(X) \
	X(IDENTITY, "identity") \
	X(GRAPH, "graph") \
	X(GUARD, "guards") \
	X(TIME, "time") \
	X(CACHE, "cache") \
	X(FAILURE, "failure") \
	X(CONFIG, "config") \
	X(ENVIRONMENT, "environment")
enum metric_group {
#define X(id, name) METRIC_GROUP_##id,
	METRIC_GROUPS(X)
#undef X
	    METRIC_GROUP_COUNT,
};
FOR_TESTS extern const char *const metric_group_name[METRIC_GROUP_COUNT];

struct metric_info {
	struct slice name;
	enum metric_unit unit;
	enum metric_group group;
	const char *text;
};
extern const struct metric_info metric_info[METRIC_COUNT];
/* METRIC_UNKNOWN: not a metric of torch 2.13. */
FOR_TESTS enum metric_id metric_find(struct slice name);
/* The same, trying `guess` first: names come in the table's order. */
enum metric_id metric_find_from(struct slice name, enum metric_id guess);

#endif
