/* kinds.h - the records of a structured trace: one X-macro, one table.
 *
 * A record's envelope names its kind by a key: {"artifact": {...}, "frame_id": 0, ...}. Sources: the calls of
 * trace_structured() in the wheel of torch 2.13.0 (and in torch/_logging/_internal.py the context keys), older logs, and
 * the fields that the Rust tlparse 0.4.3 declares.
 *
 * The order matters: when one envelope names several kinds, their outputs are numbered in this order.
 *
 * X(name, form, fields, flags)
 *   form     its form in the directory report (enum trace_form)
 *   fields   the typed fields of its value (schema.c); a value of another type makes the record malformed
 *   flags    K_GRAPH: the payload is an FX graph, nodes are counted
 *            K_NEW: unknown to the Rust tool (an unknown field there)
 */
#ifndef PT2_TRACE_KINDS_H
#define PT2_TRACE_KINDS_H

enum trace_form {
	FORM_NONE,       /* no artifact */
	FORM_PAYLOAD,    /* payload as KEY_N.txt */
	FORM_GRAPH_DUMP, /* payload as NAME_N.txt */
	FORM_GUARDS,     /* payload is a JSON list of guards: dynamo_guards_N.html */
	FORM_CODE,       /* payload is Python: inductor_output_code_STEM_N.html or .txt */
	FORM_DDP_CHILD,  /* payload as optimize_ddp_split_child_NAME_N.txt */
	FORM_BWD_PAGE,   /* KEY_N.html from the envelope */
	FORM_LINK,       /* a link, no file */
	FORM_ARTIFACT,   /* payload as NAME_N.txt or .json */
	FORM_DUMP_FILE,  /* payload as dump_file/NAME.html, lines anchored, no number in the name */
	FORM_METRICS,    /* compilation_metrics_N.html from the envelope and earlier records */
};

enum { K_GRAPH = 1, K_NEW = 2 };

#define TRACE_KINDS(X) \
	X(optimize_ddp_split_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(compiled_autograd_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(aot_forward_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(aot_backward_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(aot_inference_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(aot_joint_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(inductor_post_grad_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(inductor_pre_grad_graph, FORM_PAYLOAD, empty, K_GRAPH) \
	X(dynamo_cpp_guards_str, FORM_PAYLOAD, empty, 0) \
	X(graph_dump, FORM_GRAPH_DUMP, named, 0) \
	X(dynamo_output_graph, FORM_PAYLOAD, output_graph, K_GRAPH) \
	X(dynamo_guards, FORM_GUARDS, empty, 0) \
	X(inductor_output_code, FORM_CODE, output_code, 0) \
	X(optimize_ddp_split_child, FORM_DDP_CHILD, named, K_GRAPH) \
	X(aot_autograd_backward_compilation_metrics, FORM_BWD_PAGE, aot_bwd_metrics, 0) \
	X(bwd_compilation_metrics, FORM_BWD_PAGE, bwd_metrics, 0) \
	X(link, FORM_LINK, link, 0) \
	X(artifact, FORM_ARTIFACT, artifact, 0) \
	X(dump_file, FORM_DUMP_FILE, named, 0) \
	X(compilation_metrics, FORM_METRICS, metrics, 0) \
	X(str, FORM_NONE, any, 0) \
	X(dynamo_start, FORM_NONE, dynamo_start, 0) \
	X(chromium_event, FORM_NONE, empty, 0) \
	X(symbolic_shape_specialization, FORM_NONE, specialization, 0) \
	X(guard_added_fast, FORM_NONE, guard_fast, 0) \
	X(propagate_real_tensors_provenance, FORM_NONE, real_tensors, 0) \
	X(guard_added, FORM_NONE, real_tensors, 0) \
	X(create_unbacked_symbol, FORM_NONE, unbacked, 0) \
	X(expression_created, FORM_NONE, sym_expr, 0) \
	X(missing_fake_kernel, FORM_NONE, fake_kernel, 0) \
	X(mismatched_fake_kernel, FORM_NONE, fake_kernel, 0) \
	X(exported_program, FORM_NONE, empty, 0) \
	X(describe_storage, FORM_NONE, storage, 0) \
	X(describe_tensor, FORM_NONE, tensor, 0) \
	X(describe_source, FORM_NONE, source, 0) \
	X(create_symbol, FORM_NONE, any, K_NEW) \
	X(propagate_real_tensors, FORM_NONE, any, K_NEW) \
	X(guard_on_data_dependent_error, FORM_NONE, any, K_NEW) \
	X(export, FORM_NONE, any, K_NEW) \
	X(compilation_metrics_runtime, FORM_NONE, any, K_NEW) \
	X(bwd_compilation_metrics_runtime, FORM_NONE, any, K_NEW) \
	X(inductor_input_graph, FORM_NONE, any, K_NEW | K_GRAPH) \
	X(memoizer_artifacts, FORM_PAYLOAD, any, K_NEW) /* torch's main branch: what a run remembered for the next one */

enum trace_kind {
#define X(name, form, fields, flags) KIND_##name,
	TRACE_KINDS(X)
#undef X
	    KIND_COUNT
};
_Static_assert(KIND_COUNT <= 64, "kinds are bits of a uint64_t");

#endif
