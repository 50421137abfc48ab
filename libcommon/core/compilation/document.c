/* document.c - rows as JSON, by tables of their members. See document.h. */
#include "compilation/document.h"
#include "base/text.h"
#include "io/mapfile.h"
#include "io/window.h"

#include <inttypes.h>

/* ---- what a member is ---- */

enum field_type {
	FIELD_TEXT,     /* uint32_t: a name; null for NONE */
	FIELD_LINES,    /* the same, as a list of its lines */
	FIELD_LOC,      /* struct fact_loc: {file, line, function, code}, null where the file is not known */
	FIELD_SRC,      /* struct fact_src: the members input, attempt, line, offset, artifact */
	FIELD_INDEX,    /* uint32_t: a row of another list; null for NONE */
	FIELD_U32,      /* uint32_t */
	FIELD_U64,      /* uint64_t */
	FIELD_POSITIVE, /* uint32_t; null for 0 */
	FIELD_COUNT,    /* int64_t; null below 0 */
	FIELD_SECONDS,  /* double; null below 0 */
	FIELD_BOOL,     /* bool */
	FIELD_WORD,     /* an enum: its word of `words` */
	FIELD_GB,       /* int32_t: "GB0025"; null below 0 */
	FIELD_SIGNAL,   /* int; null for 0 */
	FIELD_DIR,      /* struct compile_id: "-_0_1_0", the folder of the directory report */
	FIELD_ATTEMPT,  /* the same: its attempt */
	FIELD_HEX,      /* uint64_t: "00f3..." of 16 digits */
};
struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	const char *const *words;
	const char *meaning;
	uint32_t n_words;
};
struct table {
	const char *name, *of, *meaning;
	size_t size, rows, count; /* of a row; of struct facts: the pointer, the number of rows */
	const struct field *field;
	unsigned fields;
};

static const char *const status_word[] = {"missing", "ok", "empty", "break", "error", "skipped"};
static const char *const input_word[] = {"trace", "text", "debug-folder"};
static const char *const break_word[] = {"call", "jump", "asked", "skipped", "inferred"};
static const char *const step_word[FACT_STEPS] = {"start", "graph", "made"};
static const char *const span_word[FACT_SPANS] = {"compile", "backward", "open"};
static const char *const list_word[FACT_LISTS] = {"schedule", "tensors", "estimates", "order"};
static const char *const worker_word[FACT_WORKER_WHATS] = {"died", "status"};
static const char *const bound_word[] = {"guard", "specialized", "replaced", "assert", "data-dependent", "constraint"};

#define AT(type, member) offsetof(struct type, member)
#define SRC(type) \
	{ \
		"src", FIELD_SRC, AT(type, src), NULL, NULL \
	}
#define COMPILE(type) \
	{ \
		"compile", FIELD_INDEX, AT(type, compile), NULL, "index of compiles" \
	}

static const struct field input_fields[] = {
    {"path", FIELD_TEXT, AT(fact_input, path), NULL, NULL},
    {"kind", FIELD_WORD, AT(fact_input, kind), input_word, "trace, text or debug-folder", ARRAY_LEN(input_word)},
    {"rank", FIELD_COUNT, AT(fact_input, rank), NULL, NULL},
    {"pid", FIELD_COUNT, AT(fact_input, pid), NULL, "of its first record"},
    {"processes", FIELD_U32, AT(fact_input, processes), NULL, "that wrote into it"},
    {"resets", FIELD_U32, AT(fact_input, resets), NULL, "how often compile ids began anew within a process: torch._dynamo.reset()"},
    {"start", FIELD_TEXT, AT(fact_input, start), NULL, "\"11-21T07:59:23.043000\" of the first record: a log names no year"},
    {"seconds", FIELD_SECONDS, AT(fact_input, span), NULL, "from the first record to the last"},
    {"bytes", FIELD_U64, AT(fact_input, bytes), NULL, NULL},
    {"lines", FIELD_U64, AT(fact_input, lines), NULL, NULL},
    {"records", FIELD_U64, AT(fact_input, records), NULL, NULL},
    {"torch_version", FIELD_TEXT, AT(fact_input, torch_version), NULL, NULL},
    {"python_version", FIELD_TEXT, AT(fact_input, python_version), NULL, NULL},
    {"cuda_version", FIELD_TEXT, AT(fact_input, cuda_version), NULL, NULL},
    {"command", FIELD_TEXT, AT(fact_input, command), NULL, "argv"},
    {"compile_seconds", FIELD_SECONDS, AT(fact_input, seconds), NULL, "all compilations"},
    {"exports", FIELD_BOOL, AT(fact_input, exports), NULL, "torch.export was at work in this process"},
};
static const struct field compile_fields[] = {
    {"id", FIELD_TEXT, AT(fact_compile, id), NULL, "\"0/1\", \"!2/0/1\" in compiled autograd: as torch writes it, without the attempt"},
    {"label", FIELD_TEXT, AT(fact_compile, label), NULL, "the id for people: \"0/1\", from the second on \"0/1 (2nd)\""},
    {"nth", FIELD_U32, AT(fact_compile, nth), NULL, "the how manieth of this id in its input, from 1"},
    {"process", FIELD_U32, AT(fact_compile, process), NULL, "of its input, in the order of their first records"},
    {"generation", FIELD_U32, AT(fact_compile, generation), NULL, "of its process: how often ids had begun anew"},
    SRC(fact_compile),
    {"compiled_autograd_id", FIELD_COUNT, AT(fact_compile, autograd), NULL, NULL},
    {"frame_id", FIELD_COUNT, AT(fact_compile, frame), NULL, NULL},
    {"frame_compile_id", FIELD_COUNT, AT(fact_compile, compile), NULL, NULL},
    {"attempts", FIELD_U32, AT(fact_compile, attempts), NULL, "that are in the input"},
    {"status", FIELD_WORD, AT(fact_compile, status), status_word,
     "ok, empty (no operation), break (ended in a graph break, or begun anew), error, skipped (left to Python), missing (no metrics)",
     ARRAY_LEN(status_word)},
    {"location", FIELD_LOC, AT(fact_compile, loc), NULL, "the frame: file, first line, function"},
    {"resume_of", FIELD_TEXT, AT(fact_compile, resume_of), NULL, "the function whose rest this is, behind resume_line"},
    {"resume_line", FIELD_POSITIVE, AT(fact_compile, resume_line), NULL, NULL},
    {"backend", FIELD_TEXT, AT(fact_compile, backend), NULL, NULL},
    {"start", FIELD_SECONDS, AT(fact_compile, start), NULL, "since the input's first record"},
    {"seconds", FIELD_SECONDS, AT(fact_compile, seconds), NULL,
     "the whole, restarts and backward included; it is the sum of the next five"},
    {"dynamo_seconds", FIELD_SECONDS, AT(fact_compile, dynamo), NULL, NULL},
    {"aot_seconds", FIELD_SECONDS, AT(fact_compile, aot), NULL, NULL},
    {"inductor_seconds", FIELD_SECONDS, AT(fact_compile, inductor), NULL, NULL},
    {"code_gen_seconds", FIELD_SECONDS, AT(fact_compile, codegen), NULL, NULL},
    {"backward_seconds", FIELD_SECONDS, AT(fact_compile, backward), NULL, NULL},
    {"restart_seconds", FIELD_SECONDS, AT(fact_compile, restarts), NULL, "of it, attempts that were given up"},
    {"graph_ops", FIELD_COUNT, AT(fact_compile, ops), NULL, NULL},
    {"graph_nodes", FIELD_COUNT, AT(fact_compile, nodes), NULL, NULL},
    {"graph_inputs", FIELD_COUNT, AT(fact_compile, inputs), NULL, NULL},
    {"guards", FIELD_COUNT, AT(fact_compile, guards), NULL, NULL},
    {"guard_seconds", FIELD_SECONDS, AT(fact_compile, guard_eval), NULL, "one evaluation of them: what each call pays before it runs"},
    {"cache_size", FIELD_COUNT, AT(fact_compile, cache_size), NULL, NULL},
    {"graphs", FIELD_COUNT, AT(fact_compile, graphs), NULL, NULL},
    {"graph_breaks", FIELD_U32, AT(fact_compile, breaks), NULL, NULL},
    {"restarts", FIELD_U32, AT(fact_compile, restarted), NULL, NULL},
    {"fail_type", FIELD_TEXT, AT(fact_compile, fail_type), NULL, NULL},
    {"fail_reason", FIELD_TEXT, AT(fact_compile, fail_reason), NULL, NULL},
    {"stack", FIELD_LINES, AT(fact_compile, stack), NULL, "the user's frames that led here, outermost first: \"app/m.py:7 in f: code\""},
};
static const struct field attempt_fields[] = {
    {"input", FIELD_U32, AT(fact_attempt, input), NULL, "index of inputs"},
    COMPILE(fact_attempt),
    {"process", FIELD_U32, AT(fact_attempt, process), NULL, NULL},
    {"generation", FIELD_U32, AT(fact_attempt, generation), NULL, NULL},
    {"dir", FIELD_DIR, AT(fact_attempt, id), NULL, "\"-_0_1_0\": its folder in the directory report"},
    {"attempt", FIELD_ATTEMPT, AT(fact_attempt, id), NULL, "0 of the first"},
    {"line", FIELD_U64, AT(fact_attempt, line), NULL, "of its first record"},
    {"status", FIELD_WORD, AT(fact_attempt, status), status_word, "as of compiles", ARRAY_LEN(status_word)},
    {"location", FIELD_LOC, AT(fact_attempt, loc), NULL, NULL},
    {"seconds", FIELD_SECONDS, AT(fact_attempt, seconds), NULL, "entire_frame_compile_time_s of its metrics, else duration_us"},
    {"backend_seconds", FIELD_SECONDS, AT(fact_attempt, backend_seconds), NULL, "backend_compile_time_s"},
    {"inductor_seconds", FIELD_SECONDS, AT(fact_attempt, inductor_seconds), NULL, "inductor_compile_time_s"},
    {"code_gen_seconds", FIELD_SECONDS, AT(fact_attempt, code_gen_seconds), NULL, "code_gen_time_s"},
    {"graph_ops", FIELD_COUNT, AT(fact_attempt, ops), NULL, NULL},
    {"graph_nodes", FIELD_COUNT, AT(fact_attempt, nodes), NULL, NULL},
    {"graph_inputs", FIELD_COUNT, AT(fact_attempt, inputs), NULL, NULL},
    {"guards", FIELD_COUNT, AT(fact_attempt, guards), NULL, NULL},
    {"graph_breaks", FIELD_U32, AT(fact_attempt, breaks), NULL, NULL},
    {"cache_size", FIELD_COUNT, AT(fact_attempt, cache_size), NULL, NULL},
    {"artifacts", FIELD_U32, AT(fact_attempt, artifacts), NULL, "how many"},
    {"fail_type", FIELD_TEXT, AT(fact_attempt, fail_type), NULL, NULL},
    {"fail_reason", FIELD_TEXT, AT(fact_attempt, fail_reason), NULL, NULL},
};
static const struct field frame_fields[] = {
    {"input", FIELD_U32, AT(fact_frame, input), NULL, "index of inputs"},
    {"process", FIELD_U32, AT(fact_frame, process), NULL, NULL},
    {"generation", FIELD_U32, AT(fact_frame, generation), NULL, NULL},
    {"frame_id", FIELD_COUNT, AT(fact_frame, frame), NULL, "null: a text log names only the place"},
    {"location", FIELD_LOC, AT(fact_frame, loc), NULL, NULL},
    {"compiles", FIELD_U32, AT(fact_frame, compiles), NULL, "how many"},
    {"recompiles", FIELD_U32, AT(fact_frame, recompiles), NULL, "of them, for which the input gives a reason"},
    {"limited", FIELD_BOOL, AT(fact_frame, limited), NULL, "a recompile limit was reached"},
    {"seconds", FIELD_SECONDS, AT(fact_frame, seconds), NULL, "of its recompiles"},
};
static const struct field break_fields[] = {
    SRC(fact_break),
    COMPILE(fact_break),
    {"kind", FIELD_WORD, AT(fact_break, kind), break_word,
     "call (not supported), jump (a branch on data), asked, skipped (the whole frame was left to Python), inferred", ARRAY_LEN(break_word)},
    {"time", FIELD_SECONDS, AT(fact_break, time), NULL, "since the input's first record"},
    {"location", FIELD_LOC, AT(fact_break, loc), NULL, "the user's line"},
    {"gb", FIELD_GB, AT(fact_break, gb), NULL, "torch's number of it"},
    {"reason", FIELD_TEXT, AT(fact_break, reason), NULL, NULL},
    {"explanation", FIELD_TEXT, AT(fact_break, explanation), NULL, NULL},
    {"hints", FIELD_LINES, AT(fact_break, hints), NULL, "torch's own"},
    {"context", FIELD_TEXT, AT(fact_break, context), NULL, NULL},
    {"url", FIELD_TEXT, AT(fact_break, url), NULL, NULL},
    {"inferred", FIELD_BOOL, AT(fact_break, inferred), NULL, "no record of its own, and not counted: a resume function tells of it"},
    {"explained", FIELD_BOOL, AT(fact_break, explained), NULL, "said by torch._dynamo.explain, not by a compilation"},
};
static const struct field recompile_fields[] = {
    SRC(fact_recompile),
    COMPILE(fact_recompile),
    {"time", FIELD_SECONDS, AT(fact_recompile, time), NULL, "since the input's first record"},
    {"against", FIELD_TEXT, AT(fact_recompile, against), NULL, "the id of the code whose guard failed"},
    {"location", FIELD_LOC, AT(fact_recompile, loc), NULL, "the user's line that the guard stands for, else the frame's"},
    {"reason", FIELD_TEXT, AT(fact_recompile, reason), NULL, "the first of all, as the log has it"},
    {"guard", FIELD_TEXT, AT(fact_recompile, guard), NULL, NULL},
    {"old", FIELD_TEXT, AT(fact_recompile, old), NULL, NULL},
    {"new", FIELD_TEXT, AT(fact_recompile, new), NULL, NULL},
    {"type_old", FIELD_TEXT, AT(fact_recompile, type_old), NULL, "names of types, where the guard has their numbers"},
    {"type_new", FIELD_TEXT, AT(fact_recompile, type_new), NULL, NULL},
    {"all", FIELD_LINES, AT(fact_recompile, all), NULL, "the reasons of all compiled versions that rejected the call"},
};
static const struct field limit_fields[] = {
    SRC(fact_limit),
    COMPILE(fact_limit),
    {"location", FIELD_LOC, AT(fact_limit, loc), NULL, "the function"},
    {"limit", FIELD_U64, AT(fact_limit, limit), NULL, NULL},
    {"accumulated", FIELD_BOOL, AT(fact_limit, accumulated), NULL, NULL},
    {"reason", FIELD_TEXT, AT(fact_limit, reason), NULL, "the last recompile's"},
};
static const struct field failure_fields[] = {
    SRC(fact_failure),
    COMPILE(fact_failure),
    {"time", FIELD_SECONDS, AT(fact_failure, time), NULL, "since the input's first record"},
    {"restart", FIELD_BOOL, AT(fact_failure, restart), NULL, "the analysis was begun anew: no failure"},
    {"caught", FIELD_BOOL, AT(fact_failure, caught), NULL, "the program went on"},
    {"inferred", FIELD_BOOL, AT(fact_failure, inferred), NULL, "no metrics tell of it: the job ended, or it was a backward's"},
    {"signal", FIELD_SIGNAL, AT(fact_failure, signal), NULL, NULL},
    {"type", FIELD_TEXT, AT(fact_failure, type), NULL, NULL},
    {"reason", FIELD_TEXT, AT(fact_failure, reason), NULL, "the whole message"},
    {"location", FIELD_LOC, AT(fact_failure, user), NULL, "the user's innermost line"},
    {"torch", FIELD_LOC, AT(fact_failure, torch), NULL, "torch's innermost line"},
    {"cause", FIELD_INDEX, AT(fact_failure, cause), NULL, "index of failures: what it was raised from"},
    {"frames", FIELD_LINES, AT(fact_failure, frames), NULL, "the innermost 16, outermost first"},
};
static const struct field symbol_fields[] = {
    SRC(fact_symbol),
    COMPILE(fact_symbol),
    {"symbol", FIELD_TEXT, AT(fact_symbol, symbol), NULL, NULL},
    {"value", FIELD_TEXT, AT(fact_symbol, value), NULL, "the example's"},
    {"range", FIELD_TEXT, AT(fact_symbol, range), NULL, "when it was made"},
    {"source", FIELD_TEXT, AT(fact_symbol, source), NULL, NULL},
    {"location", FIELD_LOC, AT(fact_symbol, loc), NULL, NULL},
    {"unbacked", FIELD_BOOL, AT(fact_symbol, unbacked), NULL, NULL},
};
static const struct field bound_fields[] = {
    SRC(fact_bound),
    COMPILE(fact_bound),
    {"kind", FIELD_WORD, AT(fact_bound, kind), bound_word,
     "guard, specialized (the symbol became a constant), replaced (by another), assert (at run time), data-dependent, constraint "
     "(torch.export)",
     ARRAY_LEN(bound_word)},
    {"expr", FIELD_TEXT, AT(fact_bound, expr), NULL, NULL},
    {"symbol", FIELD_TEXT, AT(fact_bound, symbol), NULL, NULL},
    {"value", FIELD_TEXT, AT(fact_bound, value), NULL, NULL},
    {"location", FIELD_LOC, AT(fact_bound, loc), NULL, "the user's line"},
    {"torch", FIELD_LOC, AT(fact_bound, torch), NULL, "torch's line that asked"},
    {"sources", FIELD_LINES, AT(fact_bound, sources), NULL, NULL},
    {"reason", FIELD_TEXT, AT(fact_bound, reason), NULL, NULL},
};
static const struct field cache_fields[] = {
    SRC(fact_cache),
    COMPILE(fact_cache),
    {"cache", FIELD_WORD, AT(fact_cache, kind), cache_kind_name, "fx_graph, aotautograd, fx_graph_bundled, other",
     ARRAY_LEN(cache_kind_name)},
    {"what", FIELD_WORD, AT(fact_cache, what), cache_what_name, "hit, miss, bypass", ARRAY_LEN(cache_what_name)},
    {"name", FIELD_TEXT, AT(fact_cache, name), NULL, NULL},
    {"reason", FIELD_TEXT, AT(fact_cache, reason), NULL, NULL},
    {"key", FIELD_TEXT, AT(fact_cache, key), NULL, "what was looked up"},
    {"guards", FIELD_TEXT, AT(fact_cache, guards), NULL, "of an entry that has the key, and did not hold"},
};
static const struct field cudagraph_fields[] = {
    SRC(fact_cudagraph),
    COMPILE(fact_cudagraph),
    {"reason", FIELD_TEXT, AT(fact_cudagraph, reason), NULL, NULL},
    {"location", FIELD_LOC, AT(fact_cudagraph, loc), NULL, NULL},
};
static const struct field native_fields[] = {
    SRC(fact_native),
    COMPILE(fact_native),
    {"op", FIELD_TEXT, AT(fact_native, op), NULL, "aten::bmm"},
    {"dsl", FIELD_TEXT, AT(fact_native, dsl), NULL, "cutedsl, flydsl, helion, triton"},
    {"outcome", FIELD_TEXT, AT(fact_native, outcome), NULL, "compiled, cache_hit, error"},
    {"key", FIELD_TEXT, AT(fact_native, key), NULL, "shapes and types that it is made for"},
    {"seconds", FIELD_SECONDS, AT(fact_native, seconds), NULL, "of the call"},
    {"hits", FIELD_U64, AT(fact_native, hits), NULL, "of its cache until then"},
    {"misses", FIELD_U64, AT(fact_native, misses), NULL, NULL},
};
static const struct field vllm_call_fields[] = {
    SRC(fact_vllm_call),
    COMPILE(fact_vllm_call),
    {"model", FIELD_TEXT, AT(fact_vllm_call, model), NULL, NULL},
    {"prefix", FIELD_TEXT, AT(fact_vllm_call, prefix), NULL, "of the part of the model"},
    {"mode", FIELD_TEXT, AT(fact_vllm_call, mode), NULL, NULL},
    {"backend", FIELD_TEXT, AT(fact_vllm_call, backend), NULL, NULL},
    {"custom_ops", FIELD_TEXT, AT(fact_vllm_call, custom_ops), NULL, NULL},
    {"splitting_ops", FIELD_TEXT, AT(fact_vllm_call, splitting_ops), NULL, "where the graph is split"},
    {"cudagraph_mode", FIELD_TEXT, AT(fact_vllm_call, cudagraph_mode), NULL, NULL},
    {"sizes", FIELD_TEXT, AT(fact_vllm_call, sizes), NULL, "compile_sizes: sizes that are compiled for themselves"},
    {"ranges", FIELD_TEXT, AT(fact_vllm_call, ranges), NULL, "where ranges of sizes end"},
    {"enabled_passes", FIELD_TEXT, AT(fact_vllm_call, enabled_passes), NULL, NULL},
    {"inductor_passes", FIELD_TEXT, AT(fact_vllm_call, inductor_passes), NULL, NULL},
    {"dynamic_shapes", FIELD_TEXT, AT(fact_vllm_call, shapes), NULL, NULL},
};
static const struct field vllm_piece_fields[] = {
    SRC(fact_vllm_piece),
    COMPILE(fact_vllm_piece),
    {"call", FIELD_U64, AT(fact_vllm_piece, call), NULL, "line of its row of vllm_calls, 0 where there is none"},
    {"name", FIELD_TEXT, AT(fact_vllm_piece, name), NULL, "submod_0"},
    {"index", FIELD_COUNT, AT(fact_vllm_piece, index), NULL, NULL},
    {"total", FIELD_COUNT, AT(fact_vllm_piece, total), NULL, "parts that are compiled"},
    {"start", FIELD_COUNT, AT(fact_vllm_piece, start), NULL, "of the range of sizes"},
    {"end", FIELD_COUNT, AT(fact_vllm_piece, end), NULL, NULL},
    {"single", FIELD_BOOL, AT(fact_vllm_piece, single), NULL, "one size"},
    {"cudagraph", FIELD_BOOL, AT(fact_vllm_piece, cudagraph), NULL, "a size that CUDA graphs are captured for"},
};
static const struct field vllm_pass_fields[] = {
    SRC(fact_vllm_pass),
    COMPILE(fact_vllm_pass),
    {"piece", FIELD_U64, AT(fact_vllm_pass, piece), NULL, "line of its row of vllm_pieces, 0 where there is none"},
    {"name", FIELD_TEXT, AT(fact_vllm_pass, name), NULL, NULL},
    {"index", FIELD_COUNT, AT(fact_vllm_pass, index), NULL, "its place among the passes"},
    {"added", FIELD_COUNT, AT(fact_vllm_pass, added), NULL, "lines of that graph that the one before it does not have"},
    {"removed", FIELD_COUNT, AT(fact_vllm_pass, removed), NULL, "and the other way round"},
    {"before", FIELD_INDEX, AT(fact_vllm_pass, before), NULL, "number of the artifact before it in the directory"},
    {"diff", FIELD_TEXT, AT(fact_vllm_pass, diff), NULL,
     "the hunks of a unified diff against it; null where there is none, or more than 256 KiB"},
};
static const struct field worker_fields[] = {
    SRC(fact_worker),
    COMPILE(fact_worker),
    {"what", FIELD_WORD, AT(fact_worker, what), worker_word, "died, status (once a minute for each job that takes longer)",
     FACT_WORKER_WHATS},
    {"time", FIELD_SECONDS, AT(fact_worker, time), NULL, "since the input's first record"},
    {"pid", FIELD_COUNT, AT(fact_worker, pid), NULL, NULL},
    {"code", FIELD_COUNT, AT(fact_worker, code), NULL, "that one that died ended with"},
    {"signal", FIELD_SIGNAL, AT(fact_worker, signal), NULL, "or the signal that ended it"},
    {"job", FIELD_COUNT, AT(fact_worker, job), NULL, NULL},
    {"phase", FIELD_TEXT, AT(fact_worker, phase), NULL, "queued, running, querying_cache, compiling"},
    {"seconds", FIELD_SECONDS, AT(fact_worker, seconds), NULL, "that the job takes until now"},
    {"phase_seconds", FIELD_SECONDS, AT(fact_worker, phase_seconds), NULL, "of them in this phase"},
    {"tail", FIELD_LINES, AT(fact_worker, tail), NULL, "the last lines of one that died"},
};
static const struct field path_fields[] = {
    SRC(fact_path),
    COMPILE(fact_path),
    {"what", FIELD_TEXT, AT(fact_path, what), NULL, NULL},
    {"path", FIELD_TEXT, AT(fact_path, path), NULL, NULL},
};
static const struct field compiler_error_fields[] = {
    SRC(fact_compiler_error),
    COMPILE(fact_compiler_error),
    {"at", FIELD_LOC, AT(fact_compiler_error, at), NULL, "in the generated file; code: the line as the compiler quotes it"},
    {"column", FIELD_POSITIVE, AT(fact_compiler_error, column), NULL, NULL},
    {"severity", FIELD_TEXT, AT(fact_compiler_error, severity), NULL, NULL},
    {"message", FIELD_TEXT, AT(fact_compiler_error, message), NULL, NULL},
    {"command", FIELD_TEXT, AT(fact_compiler_error, command), NULL, NULL},
};
static const struct field step_fields[] = {
    SRC(fact_step),
    COMPILE(fact_step),
    {"kind", FIELD_WORD, AT(fact_step, kind), step_word,
     "start of a compilation, graph that Dynamo captured, graph made of it by the backend", FACT_STEPS},
    {"what", FIELD_TEXT, AT(fact_step, what), NULL, "\"step (app.py:12)\"; \"aot_forward_graph, 3 nodes\""},
    {"fingerprint", FIELD_HEX, AT(fact_step, fingerprint), NULL, "of the graph's text; the numbers of devices (cuda:3) count as one"},
    {"graph", FIELD_TEXT, AT(fact_step, graph), NULL, "the text, once for each fingerprint"},
    {"cut", FIELD_BOOL, AT(fact_step, cut), NULL, "the text goes on"},
};
static const struct field span_fields[] = {
    SRC(fact_span),
    COMPILE(fact_span),
    {"kind", FIELD_WORD, AT(fact_span, kind), span_word, "compile, backward, open (not finished in this log)", FACT_SPANS},
    {"start", FIELD_SECONDS, AT(fact_span, start), NULL, "since the input's first record"},
    {"end", FIELD_SECONDS, AT(fact_span, end), NULL, NULL},
};
static const struct field list_fields[] = {
    SRC(fact_list),
    COMPILE(fact_list),
    {"kind", FIELD_WORD, AT(fact_list, kind), list_word,
     "schedule (inductor_collective_schedule), tensors, estimates (inductor_runtime_and_tensor_meta), order (graph_execution: the last "
     "counts)",
     FACT_LISTS},
    {"lines", FIELD_LINES, AT(fact_list, lines), NULL,
     "operators: names; name, type, shape/stride of outputs; nanoseconds and name; compile ids in the order in which graphs ran"},
    {"left_out", FIELD_BOOL, AT(fact_list, left_out), NULL, "too long, or not to be understood"},
};
static const struct field parity_fields[] = {
    SRC(fact_parity),
    COMPILE(fact_parity),
    {"difference", FIELD_U64, AT(fact_parity, difference), NULL, "collectives more or fewer in the code than in the schedule"},
    {"missing_waits", FIELD_U64, AT(fact_parity, missing_waits), NULL, NULL},
};
static const struct field unknown_fields[] = {
    {"input", FIELD_U32, AT(fact_unknown, input), NULL, "index of inputs"},
    {"key", FIELD_TEXT, AT(fact_unknown, key), NULL, NULL},
    {"count", FIELD_U64, AT(fact_unknown, count), NULL, NULL},
    {"line", FIELD_U64, AT(fact_unknown, line), NULL, "of the first"},
};
static const struct field damage_fields[] = {
    {"input", FIELD_U32, AT(fact_damage, input), NULL, "index of inputs"}, {"kind", FIELD_TEXT, AT(fact_damage, kind), NULL, "a word"},
    {"line", FIELD_U64, AT(fact_damage, line), NULL, "of the first"},      {"count", FIELD_U64, AT(fact_damage, count), NULL, NULL},
    {"text", FIELD_TEXT, AT(fact_damage, what), NULL, "what was lost"},
};

#define ROWS_OF(name, type, member, fields, meaning) \
	{ \
		name, #type, meaning, sizeof(struct type), offsetof(struct facts, member), offsetof(struct facts, n_##member), fields, \
		    ARRAY_LEN(fields) \
	}
static const struct table inputs_table = ROWS_OF("inputs", fact_input, input, input_fields, "what was read");
static const struct table tables[] = {
    ROWS_OF("compiles", fact_compile, compile, compile_fields, "what Dynamo compiled: a frame's n-th compilation; attempts together"),
    ROWS_OF("attempts", fact_attempt, attempt, attempt_fields,
	    "of a structured trace: how often a compilation was begun; and what is of none"),
    ROWS_OF("frames", fact_frame, frame, frame_fields, "code objects of one generation, with their compilations"),
    ROWS_OF("graph_breaks", fact_break, brk, break_fields, NULL),
    ROWS_OF("recompiles", fact_recompile, recompile, recompile_fields, "why a frame was compiled again"),
    ROWS_OF("recompile_limits", fact_limit, limit, limit_fields, NULL),
    ROWS_OF("failures", fact_failure, failure, failure_fields, "exceptions and signals; and restarts"),
    ROWS_OF("symbols", fact_symbol, symbol, symbol_fields, "of shapes"),
    ROWS_OF("bounds", fact_bound, bound, bound_fields, "what symbols were held to"),
    ROWS_OF("caches", fact_cache, cache, cache_fields, NULL),
    ROWS_OF("cudagraph_skips", fact_cudagraph, cudagraph, cudagraph_fields, NULL),
    ROWS_OF("native_kernels", fact_native, native, native_fields,
	    "kernels of torch's own operators, asked of their DSL (torch 2.15, TORCH_LOGS=+native_dsl_compile)"),
    ROWS_OF("vllm_calls", fact_vllm_call, vllm_call, vllm_call_fields, "of vLLM's backend, with its configuration"),
    ROWS_OF("vllm_pieces", fact_vllm_piece, vllm_piece, vllm_piece_fields, "what they compile: a part of the graph for a range of sizes"),
    ROWS_OF("vllm_passes", fact_vllm_pass, vllm_pass, vllm_pass_fields, "over a part, with what they changed"),
    ROWS_OF("workers", fact_worker, worker, worker_fields,
	    "processes that compile kernels: those that died, jobs that take long (torch 2.15)"),
    ROWS_OF("compiler_errors", fact_compiler_error, compiler_error, compiler_error_fields, "of g++, nvcc or Triton's compiler"),
    ROWS_OF("paths", fact_path, path, path_fields, "that a log names: debug traces, output code, launchers"),
    ROWS_OF("unknown_keys", fact_unknown, unknown, unknown_fields, "of a structured trace, that this version does not know"),
    ROWS_OF("damage", fact_damage, damage, damage_fields, "what could not be read"),
};

/* What ranks are compared by: tlparse --json has them. */
static const struct table rank_tables[] = {
    ROWS_OF("steps", fact_step, step, step_fields, "what is done, in the order of the log, beside the rows above"),
    ROWS_OF("spans", fact_span, span, span_fields, "when something compiled"),
    ROWS_OF("lists", fact_list, list, list_fields, "what artifacts list"),
    ROWS_OF("parities", fact_parity, parity, parity_fields, "schedules of collectives that are not what the generated code does"),
};

/* ---- written ---- */

void document_loc(struct json_out *o, const char *key, const struct facts *f, const struct fact_loc *loc)
{
	json_key(o, key);
	if (loc->file == NONE) {
		json_out_null(o);
		return;
	}
	json_obj(o);
	json_member_name(o, "file", &f->names, loc->file);
	json_member_count(o, "line", loc->line ? (int64_t)loc->line : -1);
	json_member_name(o, "function", &f->names, loc->function);
	json_member_name(o, "code", &f->names, loc->code);
	json_close(o);
}

static void put_src(struct json_out *o, const struct fact_src *src)
{
	json_member_u64(o, "input", src->input);
	json_member_index(o, "attempt", src->attempt);
	json_member_count(o, "line", src->line ? (int64_t)src->line : -1);
	json_member_count(o, "offset", src->offset == UINT64_MAX ? -1 : (int64_t)src->offset);
	json_member_index(o, "artifact", src->artifact);
}

void document_src(struct json_out *o, const struct fact_src *src, uint32_t compile)
{
	put_src(o, src);
	json_member_index(o, "compile", compile);
}

static void put_dir(struct json_out *o, const char *key, const struct compile_id *id)
{
	char text[COMPILE_ID_TEXT];
	json_member(o, key, slice_str(id->bad_line ? "unknown" : compile_id_dir(id, text)));
}

static void put_gb(struct json_out *o, const char *key, int32_t gb)
{
	char text[16];
	snprintf(text, sizeof(text), "GB%04d", gb);
	json_member(o, key, gb < 0 ? slice_of(NULL, 0) : slice_str(text));
}

static void put_hex(struct json_out *o, const char *key, uint64_t v)
{
	char text[17];
	snprintf(text, sizeof(text), "%016" PRIx64, v);
	json_member(o, key, slice_str(text));
}

static uint32_t u32_at(const void *at) { return *(const uint32_t *)at; }

static void put_field(struct json_out *o, const struct facts *f, const struct field *x, const char *row)
{
	const void *at = row + x->offset;
	switch (x->type) {
	case FIELD_TEXT: json_member_name(o, x->name, &f->names, u32_at(at)); return;
	case FIELD_LINES: json_member_lines(o, x->name, facts_text(f, u32_at(at))); return;
	case FIELD_LOC: document_loc(o, x->name, f, at); return;
	case FIELD_SRC: put_src(o, at); return;
	case FIELD_INDEX: json_member_index(o, x->name, u32_at(at)); return;
	case FIELD_U32: json_member_u64(o, x->name, u32_at(at)); return;
	case FIELD_U64: json_member_u64(o, x->name, *(const uint64_t *)at); return;
	case FIELD_POSITIVE: json_member_count(o, x->name, u32_at(at) ? (int64_t)u32_at(at) : -1); return;
	case FIELD_COUNT: json_member_count(o, x->name, *(const int64_t *)at); return;
	case FIELD_SECONDS: json_member_seconds(o, x->name, *(const double *)at); return;
	case FIELD_BOOL: json_member_bool(o, x->name, *(const bool *)at); return;
	case FIELD_WORD: json_member(o, x->name, slice_str(x->words[u32_at(at)])); return;
	case FIELD_GB: put_gb(o, x->name, (int32_t)u32_at(at)); return;
	case FIELD_DIR: put_dir(o, x->name, at); return;
	case FIELD_ATTEMPT: json_member_count(o, x->name, ((const struct compile_id *)at)->attempt); return;
	case FIELD_SIGNAL: json_member_count(o, x->name, u32_at(at) ? (int64_t)u32_at(at) : -1); return;
	case FIELD_HEX: put_hex(o, x->name, *(const uint64_t *)at); return;
	}
}

static void put_table(struct json_out *o, const struct facts *f, const struct table *t)
{
	const char *row = *(const char *const *)(const void *)((const char *)f + t->rows);
	uint32_t n = *(const uint32_t *)(const void *)((const char *)f + t->count);
	json_member_arr(o, t->name);
	for (uint32_t i = 0; i < n; i++, row += t->size) {
		json_obj(o);
		for (unsigned k = 0; k < t->fields; k++)
			put_field(o, f, &t->field[k], row);
		json_close(o);
	}
	json_close(o);
}

void document_rows(struct json_out *o, const struct facts *f)
{
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		put_table(o, f, &tables[i]);
}

void document_ranks(struct json_out *o, const struct facts *f)
{
	for (unsigned i = 0; i < ARRAY_LEN(rank_tables); i++)
		put_table(o, f, &rank_tables[i]);
}

/* ---- the head ---- */

static void put_ranks(struct json_out *o, const struct facts *f, uint32_t input)
{
	int64_t *rank;
	uint32_t n = facts_ranks(f, input, &rank);
	json_member_arr(o, "ranks");
	for (uint32_t i = 0; i < n; i++)
		json_out_i64(o, rank[i]);
	json_close(o);
	free(rank);
}

void document_sums(struct json_out *o, const struct facts_sums *s)
{
#define X(name, words) json_member_u64(o, #name, s->name);
	FACTS_SUMS(X)
#undef X
	json_member_obj(o, "cache");
	for (unsigned i = 0; i < FACT_CACHES; i++) {
		json_member_obj(o, cache_kind_name[i]);
		for (unsigned k = 0; k < FACT_CACHE_WHATS; k++)
			json_member_u64(o, cache_what_name[k], s->cache[i][k]);
		json_close(o);
	}
	json_close(o);
	json_member_seconds(o, "compile_seconds", s->compile_seconds);
}

void document_summary(struct json_out *o, const struct facts *f, uint32_t input)
{
	struct facts_sums s;
	facts_sums(f, input, &s);
	json_member_obj(o, "summary");
	json_member_name(o, "torch_version", &f->names, s.torch_version);
	json_member_u64(o, "logs", input == NONE ? f->n_input : 1);
	put_ranks(o, f, input);
	document_sums(o, &s);
}

void document_head(struct json_out *o, const char *tool, const struct facts *f)
{
	json_member(o, "tool", slice_str(tool));
	json_member(o, "version", slice_str(PT2_VERSION));
	json_member_u64(o, "schema", DOCUMENT_SCHEMA);
	put_table(o, f, &inputs_table);
}

/* ---- in words ---- */

static const char *type_words(enum field_type type)
{
	static const char *const words[] = {
	    [FIELD_TEXT] = "text or null",
	    [FIELD_LINES] = "list of texts",
	    [FIELD_LOC] = "LOCATION or null",
	    [FIELD_INDEX] = "index or null",
	    [FIELD_U32] = "number",
	    [FIELD_U64] = "number",
	    [FIELD_POSITIVE] = "number or null",
	    [FIELD_COUNT] = "number or null",
	    [FIELD_SECONDS] = "seconds or null",
	    [FIELD_BOOL] = "bool",
	    [FIELD_WORD] = "word",
	    [FIELD_GB] = "\"GB0025\" or null",
	    [FIELD_SIGNAL] = "number or null",
	    [FIELD_SRC] = "",
	    [FIELD_DIR] = "text",
	    [FIELD_ATTEMPT] = "number or null",
	    [FIELD_HEX] = "16 hex digits",
	};
	return words[type];
}

static void table_manual(struct buf *b, const struct table *t)
{
	buf_addf(b, "### %s\n\n", t->name);
	if (t->meaning)
		buf_addf(b, "%c%s.\n\n", t->meaning[0] >= 'a' && t->meaning[0] <= 'z' ? t->meaning[0] - 32 : t->meaning[0], t->meaning + 1);
	buf_adds(b, "| member | is | meaning |\n|---|---|---|\n");
	for (unsigned k = 0; k < t->fields; k++) {
		const struct field *x = &t->field[k];
		if (x->type == FIELD_SRC)
			buf_adds(b, "| input, attempt, line, offset, artifact | SOURCE | where it is said |\n");
		else
			buf_addf(b, "| %s | %s | %s |\n", x->name, type_words(x->type), x->meaning ? x->meaning : "");
	}
	buf_addc(b, '\n');
}

void document_manual(struct buf *b)
{
	table_manual(b, &inputs_table);
	buf_adds(b, "### summary\n\n| member | is |\n|---|---|\n| torch_version | text or null: the first that an input names |\n"
		    "| logs | number of inputs |\n| ranks | list of numbers |\n");
#define X(name, words) buf_adds(b, "| " #name " | " words " |\n");
	FACTS_SUMS(X)
#undef X
	buf_adds(b, "| cache | {\"fx_graph\": {\"hit\": 0, \"miss\": 7, \"bypass\": 0}, \"aotautograd\": ..., \"fx_graph_bundled\": ..., "
		    "\"other\": ...} |\n| compile_seconds | seconds or null |\n\n");
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		table_manual(b, &tables[i]);
	for (unsigned i = 0; i < ARRAY_LEN(rank_tables); i++)
		table_manual(b, &rank_tables[i]);
}

/* ---- read back ---- */

int document_open(struct json_tape *t, struct slice text, const char *name, const char *tool, uint32_t *root, struct err *err)
{
	const char *by = tool ? tool : "tlparse or fxexplain";
	if (text.n >= UINT32_MAX)
		return err_set(err, EXIT_INPUT, "'%s' is no document of %s --json: too large", name, by);
	json_tape_text(t, text.p, text.n);
	if (json_parse(t, 0, text.n, root) < 0)
		return err_set(err, EXIT_INPUT, "'%s' is no document of %s --json: %s at byte %zu", name, by, t->error, t->error_at);
	struct buf tmp = {0};
	struct slice said = json_text(t, *root, "tool", &tmp);
	bool fits = tool ? slice_is(said, tool) : slice_is(said, "tlparse") || slice_is(said, "fxexplain");
	buf_release(&tmp);
	if (!fits)
		return err_set(err, EXIT_INPUT, "'%s' is no document of %s --json", name, by);
	if (json_count(t, *root, "schema", 0) != DOCUMENT_SCHEMA)
		return err_set(err, EXIT_INPUT, "'%s' is of another version: write it anew with --json of this release", name);
	return 0;
}

/* "-_0_1_0" */
static void read_dir(struct slice dir, struct compile_id *id)
{
	int64_t *part[] = {&id->autograd, &id->frame, &id->compile, &id->attempt};
	id->bad_line = !dir.n || slice_is(dir, "unknown");
	for (unsigned i = 0; i < ARRAY_LEN(part); i++) {
		const char *end = slice_chr(dir, '_');
		struct slice number = slice_of(dir.p, end ? (size_t)(end - dir.p) : dir.n);
		uint64_t v;
		*part[i] = slice_u64(number, &v) && v <= INT64_MAX ? (int64_t)v : -1;
		dir = end ? slice_of(end + 1, dir.n - number.n - 1) : slice_of(NULL, 0);
	}
}

static struct fact_loc read_loc(struct facts *f, const struct json_tape *t, uint32_t k)
{
	struct fact_loc loc = facts_no_loc();
	loc.file = facts_intern(f, json_text(t, k, "file", &f->tmp));
	loc.line = json_index(t, k, "line", 0);
	loc.function = facts_intern(f, json_text(t, k, "function", &f->tmp));
	loc.code = facts_intern(f, json_text(t, k, "code", &f->tmp));
	return loc;
}

static uint32_t read_lines(struct facts *f, const struct json_tape *t, uint32_t list)
{
	struct buf all = {0};
	json_each(t, list, k) {
		if (all.len)
			buf_addc(&all, '\n');
		buf_add_slice(&all, json_text_at(t, k, &f->tmp));
	}
	uint32_t id = facts_intern(f, buf_slice(&all));
	buf_release(&all);
	return id;
}

static uint32_t read_word(const struct json_tape *t, uint32_t row, const struct field *x)
{
	struct slice word = json_word(t, row, x->name);
	for (uint32_t i = 0; i < x->n_words; i++)
		if (slice_is(word, x->words[i]))
			return i;
	return 0;
}

static uint64_t read_hex(struct slice s)
{
	uint64_t v = 0;
	for (size_t i = 0; i < s.n && i < 16; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, s.p[i]);
		v = v << 4 | (at && *at ? (uint64_t)(at - digits) : 0);
	}
	return v;
}

static void read_field(struct facts *f, const struct json_tape *t, uint32_t row, const struct field *x, char *to)
{
	void *at = to + x->offset;
	uint32_t *u32 = at;
	switch (x->type) {
	case FIELD_TEXT: *u32 = facts_intern(f, json_text(t, row, x->name, &f->tmp)); return;
	case FIELD_LINES: *u32 = read_lines(f, t, json_get(t, row, x->name)); return;
	case FIELD_LOC: *(struct fact_loc *)at = read_loc(f, t, json_get(t, row, x->name)); return;
	case FIELD_SRC:
		*(struct fact_src *)at = (struct fact_src){
		    json_index(t, row, "input", 0), json_index(t, row, "attempt", NONE),      json_index(t, row, "artifact", NONE),
		    json_count(t, row, "line", 0),  json_count(t, row, "offset", UINT64_MAX),
		};
		return;
	case FIELD_INDEX: *u32 = json_index(t, row, x->name, NONE); return;
	case FIELD_U32:
	case FIELD_SIGNAL:
	case FIELD_POSITIVE: *u32 = json_index(t, row, x->name, 0); return;
	case FIELD_U64: *(uint64_t *)at = json_count(t, row, x->name, 0); return;
	case FIELD_COUNT: *(int64_t *)at = json_int(t, row, x->name, -1); return;
	case FIELD_SECONDS: *(double *)at = json_number(t, row, x->name, -1); return;
	case FIELD_BOOL: *(bool *)at = json_flag(t, row, x->name); return;
	case FIELD_WORD: *u32 = read_word(t, row, x); return;
	case FIELD_GB: {
		struct slice gb = json_word(t, row, x->name);
		uint64_t v;
		*(int32_t *)at = gb.n > 2 && slice_u64(slice_of(gb.p + 2, gb.n - 2), &v) && v < 1000000 ? (int32_t)v : -1;
		return;
	}
	case FIELD_DIR: read_dir(json_word(t, row, x->name), at); return;
	case FIELD_ATTEMPT: return; /* the folder says it */
	case FIELD_HEX: *(uint64_t *)at = read_hex(json_word(t, row, x->name)); return;
	}
}

/* Rows of a table that is empty; members that the document does not have are none. */
static void read_table(struct facts *f, const struct json_tape *t, uint32_t root, const struct table *x)
{
	uint32_t list = json_get(t, root, x->name), n = json_length(t, list), *count = (uint32_t *)(void *)((char *)f + x->count);
	char **rows = (char **)(void *)((char *)f + x->rows), *to = xcalloc(n + 1u, x->size);
	free(*rows);
	*rows = to;
	count[0] = n;
	count[1] = n + 1; /* the table's cap stands behind its n */
	json_each(t, list, k) {
		for (unsigned i = 0; i < x->fields; i++)
			read_field(f, t, k, &x->field[i], to);
		to += x->size;
	}
}

/* Whatever a row names must be there. */
static bool leads_somewhere(const struct facts *f)
{
	bool good = true;
#define X(table, type) \
	for (uint32_t i = 0; i < f->n_##table; i++) { \
		const struct type *x = &f->table[i]; \
		good &= x->src.input < f->n_input && (x->src.attempt == NONE || x->src.attempt < f->n_attempt) && \
			(x->compile == NONE || x->compile < f->n_compile); \
	}
	FACT_TABLES(X)
#undef X
	for (uint32_t i = 0; i < f->n_failure; i++)
		good &= f->failure[i].cause == NONE || f->failure[i].cause < f->n_failure;
	for (uint32_t i = 0; i < f->n_compile; i++)
		good &= f->compile[i].src.input < f->n_input;
	for (uint32_t i = 0; i < f->n_attempt; i++)
		good &= f->attempt[i].input < f->n_input && (f->attempt[i].compile == NONE || f->attempt[i].compile < f->n_compile);
	for (uint32_t i = 0; i < f->n_damage; i++)
		good &= f->damage[i].input < f->n_input;
	for (uint32_t i = 0; i < f->n_unknown; i++)
		good &= f->unknown[i].input < f->n_input;
	return good;
}

int document_read(struct facts *f, const struct json_tape *t, uint32_t root, const char *name, struct err *err)
{
	read_table(f, t, root, &inputs_table);
	for (unsigned i = 0; i < ARRAY_LEN(tables); i++)
		read_table(f, t, root, &tables[i]);
	for (unsigned i = 0; i < ARRAY_LEN(rank_tables); i++)
		read_table(f, t, root, &rank_tables[i]);
	uint32_t summary = json_get(t, root, "summary");
	for (uint32_t i = 0; i < f->n_input; i++) {
		f->input[i].graphs = -1; /* as its compilations say */
		f->input[i].unread = NULL;
		f->input[i].file = NONE;
	}
	if (f->n_input == 1) {
		f->input[0].graphs = json_int(t, summary, "graphs", -1);
		f->input[0].artifacts = json_count(t, summary, "artifacts", 0);
		f->input[0].events = json_count(t, summary, "chromium_events", 0);
		f->input[0].unknown = json_count(t, summary, "unknown_keys", 0);
	}
	/* What the document leaves out is none. */
	for (uint32_t i = 0; i < f->n_brk; i++)
		f->brk[i].stack = NONE;
	for (uint32_t i = 0; i < f->n_failure; i++)
		f->failure[i].stack = NONE;
	for (uint32_t i = 0; i < f->n_attempt; i++)
		f->attempt[i].before = f->attempt[i].first_artifact = f->attempt[i].last_artifact = f->attempt[i].stack = NONE;
	if (!leads_somewhere(f))
		return err_set(err, EXIT_INPUT, "'%s' is not as --json writes it: a row names another that is not there", name);
	facts_frames(f);
	return 0;
}

int document_load(struct facts *f, const char *path, const char *tool, const char *list, struct err *err)
{
	struct json_tape t = {0};
	struct mapfile m;
	uint32_t root;
	facts_init(f);
	if (mapfile_open(&m, path, err) < 0)
		return -1;
	int status = document_open(&t, m.bytes, path, tool, &root, err);
	if (status == 0 && (t.loose || !utf8_valid(m.bytes)))
		status = err_set(err, EXIT_INPUT, "'%s' is no strict JSON in UTF-8", path);
	if (status == 0 && list && !json_is(&t, json_get(&t, root, list), JSON_ARRAY))
		status = err_set(err, EXIT_INPUT, "'%s' is of another version, without \"%s\": write it anew with --json of this release",
				 path, list);
	if (status == 0)
		status = document_read(f, &t, root, path, err);
	if (status == 0 && !f->n_input)
		status = err_set(err, EXIT_INPUT, "'%s' is of no input", path);
	if (status < 0)
		facts_release(f);
	json_tape_release(&t);
	mapfile_close(&m);
	return status;
}

bool document_is_there(const char *path)
{
	char head[64];
	struct slice s = strcmp(path, "-") ? slice_trim(slice_of(head, input_head(path, head, sizeof(head)))) : slice_of(NULL, 0);
	return slice_starts(s, "{") && slice_find(s, "\"schema\"");
}
