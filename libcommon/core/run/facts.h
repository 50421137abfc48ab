/* facts.h - the model of one or more runs, between readers and analyses, whatever kind of output they were read from.
 *
 *     struct facts f;
 *     facts_init(&f);
 *     facts_add_trace(&f, "trace.log", &o, &err);       // a structured trace (run/trace/trace.h)
 *     facts_add_textlog(&f, "stderr.txt", &o, &err);    // TORCH_LOGS output, stderr, debug.log (run/textlog/textlog.h)
 *     facts_add_debugdir(&f, "torch_compile_debug", &o, &err); // run/debugdir/debugdir.h
 *     facts_finish(&f);                                 // joins what several inputs report about one thing
 *     for (uint32_t i = 0; i < f.n_brk; i++)
 *         facts_text(&f, f.brk[i].reason) ...
 *     facts_release(&f);
 *
 * A row holds what a log reports, once, in the log's order. Counting, grouping, ranking and advice are the analyses' (finding.h).
 * A text is an id of f.names, NONE if the log does not have it. `src` is its location, so that it can be quoted.
 * Compile ids are rows of compile[]; the same text "0/0" in two logs (two ranks, two runs) is two rows.
 *
 * What is counted here equals what tlparse counts: breaks, recompiles, failures and restarts of a trace are exactly the rows of struct
 * trace. Anything only deduced from other records is a row with `inferred` set, counted separately.
 *
 * Failure: -1 and err if an input cannot be read at all. Lesser damage is a row of damage[].
 */
#ifndef PT2_FACTS_H
#define PT2_FACTS_H
#include "base/hash.h"
#include "base/rowindex.h"
#include "base/rows.h"
#include "base/srcloc.h"
#include "run/cachekey.h"
#include "run/patterns/component.h"

/* Printed as [!AUTOGRAD/FRAME/COMPILE_ATTEMPT]; torch._guards.CompileId. -1 if the log does not have it.
 * No padding: compared and hashed as bytes. */
struct compile_id {
	int64_t autograd, frame, compile, attempt;
	int64_t bad_line; /* 0, or the line of a record whose ids are not small numbers ("unknown_LINE" in the directory) */
};
enum { COMPILE_ID_TEXT = 96 };
/* "0/1", "!2/0/1_1", "-/-", "unknown": the way people and PyTorch write it. */
const char *compile_id_text(const struct compile_id *id, char out[COMPILE_ID_TEXT]);
/* "-_0_1_0": the folder of the directory report. */
const char *compile_id_dir(const struct compile_id *id, char out[COMPILE_ID_TEXT]);
/* The numbers of "0/1_2", "!2/0/1", and removes the attempt from text; -1 if missing, as all are for a debug directory's own name. */
void compile_id_read(struct slice *text, struct compile_id *id);

/* Location of a fact: input[] and its line, from 1 (0: the input as a whole). */
struct fact_src {
	uint32_t input;
	uint32_t attempt;      /* of attempt[]; NONE: without a compile id, or from a text log */
	uint32_t artifact;     /* index into a trace's artifacts: its source; or NONE */
	uint64_t line, offset; /* of the record's first byte, in the uncompressed text; UINT64_MAX: unknown */
};
static inline struct fact_src fact_src(uint32_t input, uint64_t line) { return (struct fact_src){input, NONE, NONE, line, UINT64_MAX}; }
/* A location in the program; ids. line 0: unknown. */
struct fact_loc {
	uint32_t file, line, function, code;
};

/* A row is described once, as a list of X(of, KIND, member, "name", "meaning"): from it, FACT() makes the struct, facts_new_X() an empty
 * row, and document.c what --json writes and reads back and what docs/formats/COMPILATION.md documents ("name" NULL: none of these). So
 * adding a fact takes two places: its line here, and the reader that fills it. Set members by name, never by order.
 *
 * Each kind of member: its type, and its value when unknown. */
#define FACT_TEXT(take) take(uint32_t, NONE)  /* an id of names */
#define FACT_LINES(take) take(uint32_t, NONE) /* the same, for a multi-line text */
#define FACT_INDEX(take) take(uint32_t, NONE) /* a row of another table */
#define FACT_U32(take) take(uint32_t, 0)
#define FACT_U64(take) take(uint64_t, 0)
#define FACT_HEX(take) take(uint64_t, 0) /* a hash */
#define FACT_POSITIVE(take) take(uint32_t, 0)
#define FACT_SIGNAL(take) take(int, 0)
#define FACT_COUNT(take) take(int64_t, -1)
#define FACT_SECONDS(take) take(double, -1)
#define FACT_SUM(take) take(double, 0) /* seconds that are added up */
#define FACT_BOOL(take) take(bool, false)
#define FACT_GB(take) take(int32_t, -1) /* 25 of gb0025 */
#define FACT_SRC(take) take(struct fact_src, {0})
#define FACT_LOC(take) take(struct fact_loc, {NONE, 0, NONE, NONE})
#define FACT_DIR(take) take(struct compile_id, {0})
#define FACT_KEY_PARTS(take) take(fact_key_parts, {NONE, NONE})
#define FACT_COMPONENT(take) take(enum component, 0)
#define FACT_LEVEL(take) take(int, 0)
#define FACT_INPUT_KIND(take) take(enum fact_input_kind, 0)
#define FACT_STATUS(take) take(enum fact_status, 0)
#define FACT_BREAK_KIND(take) take(enum fact_break_kind, 0)
#define FACT_BOUND_KIND(take) take(enum fact_bound_kind, 0)
#define FACT_CACHE_KIND(take) take(enum fact_cache_kind, 0)
#define FACT_CACHE_WHAT(take) take(enum fact_cache_what, 0)
#define FACT_WORKER_WHAT(take) take(enum fact_worker_what, 0)
#define FACT_STEP_KIND(take) take(enum fact_step_kind, 0)
#define FACT_SPAN_KIND(take) take(enum fact_span_kind, 0)
#define FACT_LIST_KIND(take) take(enum fact_list_kind, 0)
#define FACT_TYPE_OF(type, ...) type
#define FACT_NONE_OF(type, ...) __VA_ARGS__
#define FACT_MEMBER(of, kind, member, name, meaning) FACT_##kind(FACT_TYPE_OF) member;
#define FACT_UNKNOWN(of, kind, member, name, meaning) .member = FACT_##kind(FACT_NONE_OF),
#define FACT(row) \
	struct row { \
		ROW_##row(FACT_MEMBER, row) \
	}
/* An empty row of that type. */
#define FACT_NEW(row) \
	(struct row) { ROW_##row(FACT_UNKNOWN, row) }

/* dynamo_config, inductor_config, functorch_config, compiler_config of compilation_metrics. */
enum fact_config_text { CONFIG_DYNAMO, CONFIG_INDUCTOR, CONFIG_FUNCTORCH, CONFIG_COMPILER, CONFIG_TEXTS };
/* Settings that matter for advice, from the first compilation_metrics (Dynamo's: the first that is not an export); -1: unknown, else 0, 1
 * or the number. */
struct fact_config {
	int64_t recompile_limit, accumulated_recompile_limit, suppress_errors, fail_on_recompile_limit_hit, automatic_dynamic_shapes,
	    assume_static_by_default, capture_scalar_outputs, specialize_float; /* torch._dynamo.config */
	int64_t fx_graph_cache, force_disable_caches, compile_threads, max_autotune, cudagraphs, cpp_precompile_headers; /* _inductor */
	uint32_t text[CONFIG_TEXTS]; /* all settings as JSON objects; or NONE */
};
enum fact_input_kind { FACT_TRACE, FACT_TEXTLOG, FACT_DEBUGDIR };
#define ROW_fact_input(X, of) \
	X(of, TEXT, path, "path", NULL) \
	X(of, INPUT_KIND, kind, "kind", "trace, text or debug-folder") \
	X(of, COUNT, rank, "rank", NULL) \
	X(of, COUNT, pid, "pid", "of its first record") \
	X(of, U32, processes, "processes", "that wrote to it") \
	X(of, U32, resets, "resets", "how many times compile ids restarted within a process: torch._dynamo.reset()") \
	X(of, TEXT, start, "start", "\"11-21T07:59:23.043000\" of the first record: a log has no year") \
	X(of, SECONDS, span, "seconds", "from the first record to the last") \
	X(of, U64, bytes, "bytes", NULL) \
	X(of, U64, lines, "lines", NULL) \
	X(of, U64, records, "records", NULL) \
	X(of, TEXT, torch_version, "torch_version", NULL) \
	X(of, TEXT, python_version, "python_version", NULL) \
	X(of, TEXT, cuda_version, "cuda_version", NULL) \
	X(of, TEXT, command, "command", "argv") \
	X(of, SECONDS, seconds, "compile_seconds", "all compilations") \
	X(of, BOOL, exports, "exports", "this process used torch.export") \
	X(of, TEXT, file, NULL, "to reread it; NONE: it was a pipe") \
	X(of, POSITIVE, writer, NULL, "a process that has it open for writing; 0: none was seen") \
	X(of, SECONDS, age, NULL, "from its last write until it was read") \
	X(of, BOOL, program, NULL, "it contains its exported program") \
	X(of, COUNT, graphs, NULL, "captured by Dynamo; -1: the sum of its compilations'") \
	X(of, U64, artifacts, NULL, "of a trace: files of the directory report") \
	X(of, U64, events, NULL, "of a trace: chromium events") \
	X(of, U64, unknown, NULL, "of a trace: records with unknown keys")
struct fact_input {
	const char *unread; /* reason for a read error; everything before it was read. Or NULL */
	struct fact_config config;
	ROW_fact_input(FACT_MEMBER, fact_input)
};

enum fact_status { COMPILE_UNKNOWN, COMPILE_OK, COMPILE_EMPTY, COMPILE_BREAK, COMPILE_FAILED, COMPILE_SKIPPED };
#define ROW_fact_compile(X, of) \
	X(of, TEXT, id, "id", "\"0/1\", \"!2/0/1\" in compiled autograd: as torch writes it, without the attempt") \
	X(of, TEXT, label, "label", "the displayed id: \"0/1\", from the second on \"0/1 (2nd)\"") \
	X(of, U32, nth, "nth", "ordinal among the compilations with this id in its input, from 1") \
	X(of, U32, process, "process", "index within its input, in order of first records") \
	X(of, U32, generation, "generation", "number of earlier restarts of ids in its process") \
	X(of, SRC, src, "src", NULL) \
	X(of, COUNT, autograd, "compiled_autograd_id", NULL) \
	X(of, COUNT, frame, "frame_id", NULL) \
	X(of, COUNT, compile, "frame_compile_id", NULL) \
	X(of, U32, attempts, "attempts", "number in the input") \
	X(of, STATUS, status, "status", \
	  "ok, empty (no operation), break (ended in a graph break, or restarted), error, skipped (left to Python), missing (no " \
	  "metrics)") \
	X(of, LOC, loc, "location", "of the frame: file, first line, function") \
	X(of, TEXT, resume_of, "resume_of", "the function that this resumes, after resume_line") \
	X(of, POSITIVE, resume_line, "resume_line", NULL) \
	X(of, TEXT, backend, "backend", NULL) \
	X(of, SECONDS, start, "start", "since the input's first record") \
	X(of, SECONDS, seconds, "seconds", "total, including restarts and backward; the sum of the next five") \
	X(of, SECONDS, dynamo, "dynamo_seconds", NULL) \
	X(of, SECONDS, aot, "aot_seconds", NULL) \
	X(of, SECONDS, inductor, "inductor_seconds", NULL) \
	X(of, SECONDS, codegen, "code_gen_seconds", NULL) \
	X(of, SECONDS, backward, "backward_seconds", NULL) \
	X(of, SECONDS, restarts, "restart_seconds", "of it, abandoned attempts") \
	X(of, COUNT, ops, "graph_ops", NULL) \
	X(of, COUNT, nodes, "graph_nodes", NULL) \
	X(of, COUNT, inputs, "graph_inputs", NULL) \
	X(of, COUNT, guards, "guards", NULL) \
	X(of, SECONDS, guard_eval, "guard_seconds", "one evaluation of the guards: overhead of each call") \
	X(of, COUNT, cache_size, "cache_size", NULL) \
	X(of, COUNT, graphs, "graphs", NULL) \
	X(of, U32, breaks, "graph_breaks", NULL) \
	X(of, U32, restarted, "restarts", NULL) \
	X(of, TEXT, fail_type, "fail_type", NULL) \
	X(of, TEXT, fail_reason, "fail_reason", NULL) \
	X(of, LINES, stack, "stack", "the user's frames that lead here, outermost first: \"app/m.py:7 in f: code\"") \
	X(of, U32, kernels, NULL, "defined in the code that Inductor generated so far") \
	X(of, BOOL, started, NULL, "a dynamo_start has the time; false: refused, or known from elsewhere") \
	X(of, U32, first_metric, NULL, "into metric[]; several metrics records of one id are adjacent") \
	X(of, U32, n_metric, NULL, NULL)
FACT(fact_compile);

/* One attempt of a compile id in a structured trace, or everything in a log outside of any attempt (compile NONE). At a break, Dynamo
 * restarts the frame with the next attempt. */
#define ROW_fact_attempt(X, of) \
	X(of, U32, input, "input", "index of inputs") \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, U32, process, "process", NULL) \
	X(of, U32, generation, "generation", NULL) \
	X(of, DIR, id, "dir", "\"-_0_1_0\": its directory in the report") \
	X(of, U64, line, "line", "of its first record") \
	X(of, STATUS, status, "status", "as in compiles") \
	X(of, LOC, loc, "location", NULL) \
	X(of, SECONDS, seconds, "seconds", "entire_frame_compile_time_s of its metrics, else duration_us") \
	X(of, SECONDS, backend_seconds, "backend_seconds", "backend_compile_time_s") \
	X(of, SECONDS, inductor_seconds, "inductor_seconds", "inductor_compile_time_s") \
	X(of, SECONDS, code_gen_seconds, "code_gen_seconds", "code_gen_time_s") \
	X(of, COUNT, ops, "graph_ops", NULL) \
	X(of, COUNT, nodes, "graph_nodes", NULL) \
	X(of, COUNT, inputs, "graph_inputs", NULL) \
	X(of, COUNT, guards, "guards", NULL) \
	X(of, U32, breaks, "graph_breaks", NULL) \
	X(of, COUNT, cache_size, "cache_size", NULL) \
	X(of, U32, artifacts, "artifacts", "number of artifacts") \
	X(of, TEXT, fail_type, "fail_type", NULL) \
	X(of, TEXT, fail_reason, "fail_reason", NULL) \
	X(of, INDEX, before, NULL, "the previous attempt with the same numbers, from another generation or process") \
	X(of, U32, folder, NULL, "of the trace: its artifacts with these numbers") \
	X(of, INDEX, first_artifact, NULL, "of the trace, in the order of the log") \
	X(of, INDEX, last_artifact, NULL, NULL) \
	X(of, SECONDS, start, NULL, "as in compiles") \
	X(of, INDEX, stack, NULL, "node of the trace's stacks")
FACT(fact_attempt);

/* A value of compilation_metrics (metrics.h has all names that torch 2.13 writes). */
struct fact_metric {
	uint32_t name, value; /* as in the log: JSON; null is omitted */
	uint16_t known;       /* row of the table in metrics.h, METRIC_UNKNOWN */
	bool backward, runtime;
};

enum fact_break_kind {
	BREAK_CALL,     /* a call or an operation that is unsupported */
	BREAK_JUMP,     /* a branch on data: if x.sum() > 0 */
	BREAK_ASKED,    /* torch._dynamo.graph_break(), torch.compiler.disable */
	BREAK_SKIPPED,  /* the whole frame falls back to Python */
	BREAK_INFERRED, /* no record of its own: deduced from a resume function */
};
#define ROW_fact_break(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, BREAK_KIND, kind, "kind", \
	  "call (unsupported), jump (a branch on data), asked, skipped (the whole frame falls back to Python), inferred") \
	X(of, SECONDS, time, "time", "since the input's first record") \
	X(of, LOC, loc, "location", "the user's line") \
	X(of, GB, gb, "gb", "torch's number for it") \
	X(of, TEXT, reason, "reason", NULL) \
	X(of, TEXT, explanation, "explanation", NULL) \
	X(of, LINES, hints, "hints", "torch's own hints") \
	X(of, TEXT, context, "context", NULL) \
	X(of, TEXT, url, "url", NULL) \
	X(of, BOOL, inferred, "inferred", "no record of its own, not counted: deduced from a resume function") \
	X(of, BOOL, explained, "explained", "reported by torch._dynamo.explain, not by a compilation") \
	X(of, LINES, stack, NULL, "the user's frames, outermost first: \"FILE:LINE in f: code\"")
FACT(fact_break);

#define ROW_fact_recompile(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, SECONDS, time, "time", "since the input's first record") \
	X(of, TEXT, against, "against", "the id of the code whose guard failed") \
	X(of, LOC, loc, "location", "the user's line that the guard refers to, else the frame's") \
	X(of, TEXT, reason, "reason", "the first of `all`, as in the log") \
	X(of, TEXT, guard, "guard", NULL) \
	X(of, TEXT, old, "old", NULL) \
	X(of, TEXT, new, "new", NULL) \
	X(of, TEXT, type_old, "type_old", "type names, if the guard only has type numbers") \
	X(of, TEXT, type_new, "type_new", NULL) \
	X(of, LINES, all, "all", "the reasons of all compiled versions that rejected the call")
FACT(fact_recompile);

#define ROW_fact_limit(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, LOC, loc, "location", "the function") \
	X(of, U64, limit, "limit", NULL) \
	X(of, BOOL, accumulated, "accumulated", NULL) \
	X(of, TEXT, reason, "reason", "the last recompile's")
FACT(fact_limit);

/* The reason for a torch.export failure of which a trace has the graph up to then but not the exception. */
#define FACT_EXPORT_STOPPED "torch.export stopped while tracing"
/* An exception, or death by a signal. Also restarts (type NONE), which are not failures. */
#define ROW_fact_failure(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, SECONDS, time, "time", "since the input's first record") \
	X(of, BOOL, restart, "restart", "the analysis restarted: not a failure") \
	X(of, BOOL, caught, "caught", "the program went on") \
	X(of, BOOL, inferred, "inferred", "not in any metrics: the job ended, or it was in a backward") \
	X(of, SIGNAL, signal, "signal", NULL) \
	X(of, TEXT, type, "type", NULL) \
	X(of, TEXT, reason, "reason", "the whole message") \
	X(of, LOC, user, "location", "the user's innermost line") \
	X(of, LOC, torch, "torch", "torch's innermost line") \
	X(of, INDEX, cause, "cause", "index of failures: the exception it was raised from") \
	X(of, LINES, frames, "frames", "the innermost 16, outermost first") \
	X(of, TEXT, stack, NULL, "the traceback as printed, bounded") \
	X(of, BOOL, ended, NULL, "the last event of a text log: how the program ended") \
	X(of, BOOL, native, NULL, "C++'s own words: std::terminate, malloc, gdb")
FACT(fact_failure);

/* "Step 2: calling compiler function inductor", chromium events of phases: phases that started and did not end. */
#define ROW_fact_marker(X, of) \
	X(of, SRC, src, NULL, NULL) \
	X(of, INDEX, compile, NULL, NULL) \
	X(of, COMPONENT, component, NULL, NULL) \
	X(of, BOOL, end, NULL, NULL) \
	X(of, SECONDS, open, NULL, "until the last event of the log") \
	X(of, TEXT, what, NULL, NULL)
FACT(fact_marker);

/* What happened when the command of this run was run again with TORCH_COMPILE_DISABLE=1 (`fxexplain run --recheck`). */
enum facts_eager {
	EAGER_NOT_RUN,
	EAGER_PASSES,
	EAGER_SAME,  /* it failed in the same way: type, place and message */
	EAGER_OTHER, /* it failed in another way */
};

#define ROW_fact_symbol(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, TEXT, symbol, "symbol", NULL) \
	X(of, TEXT, value, "value", "of the example input") \
	X(of, TEXT, range, "range", "when it was created") \
	X(of, TEXT, source, "source", NULL) \
	X(of, LOC, loc, "location", NULL) \
	X(of, BOOL, unbacked, "unbacked", NULL)
FACT(fact_symbol);
enum fact_bound_kind {
	BOUND_GUARD,       /* an expression that was evaluated and became a guard: Eq(s77, 16) */
	BOUND_SPECIALIZED, /* the symbol became a constant */
	BOUND_REPLACED,    /* s17 is s77 from here on */
	BOUND_ASSERT,      /* deferred to run time */
	BOUND_DATA,        /* guard on data unknown at compile time (fails, or went on with a real value) */
	BOUND_CONSTRAINT, /* torch.export: the user's Dim does not hold; expr: the sentence, symbol: its names, reason: fixes, one per line */
};
#define ROW_fact_bound(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, BOUND_KIND, kind, "kind", \
	  "guard, specialized (the symbol became a constant), replaced (by another), assert (at run time), data-dependent, constraint " \
	  "(torch.export)") \
	X(of, TEXT, expr, "expr", NULL) \
	X(of, TEXT, symbol, "symbol", NULL) \
	X(of, TEXT, value, "value", NULL) \
	X(of, LOC, loc, "location", "the user's line") \
	X(of, LOC, torch, "torch", "torch's line that evaluated it") \
	X(of, LINES, sources, "sources", NULL) \
	X(of, TEXT, reason, "reason", NULL)
FACT(fact_bound);

/* An operator without a good fake kernel, as found by draft_export. */
#define ROW_fact_fake_kernel(X, of) \
	X(of, SRC, src, NULL, NULL) \
	X(of, INDEX, compile, NULL, NULL) \
	X(of, LOC, loc, NULL, NULL) \
	X(of, TEXT, op, NULL, "\"pt2fix.badfake.default\"") \
	X(of, TEXT, reason, NULL, "\"mismatch between fake value 4 and real value 2\"") \
	X(of, BOOL, missing, NULL, "false: its result differs")
FACT(fact_fake_kernel);

typedef uint32_t fact_key_parts[KEY_TEXTS]; /* names */
enum fact_cache_kind { FACT_CACHE_FX, FACT_CACHE_AOT, FACT_CACHE_BUNDLED, FACT_CACHE_OTHER, FACT_CACHES };
enum fact_cache_what { FACT_HIT, FACT_MISS, FACT_BYPASS, FACT_CACHE_WHATS };
extern const char *const cache_kind_name[FACT_CACHES];      /* "fx_graph" */
extern const char *const cache_what_name[FACT_CACHE_WHATS]; /* "hit" */
#define ROW_fact_cache(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, CACHE_KIND, kind, "cache", "fx_graph, aotautograd, fx_graph_bundled, other") \
	X(of, CACHE_WHAT, what, "what", "hit, miss, bypass") \
	X(of, TEXT, name, "name", NULL) \
	X(of, TEXT, reason, "reason", NULL) \
	X(of, TEXT, key, "key", "the key looked up") \
	X(of, TEXT, guards, "guards", "guards that did not hold, of an entry with this key") \
	X(of, KEY_PARTS, parts, NULL, "the key's components (cachekey.h); only with .keys")
FACT(fact_cache);

/* a skipped CUDA graph */
#define ROW_fact_cudagraph(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, TEXT, reason, "reason", NULL) \
	X(of, LOC, loc, "location", NULL)
FACT(fact_cudagraph);

/* A request to a DSL for a kernel of torch's own operators. torch 2.15, torch/_native/instrumentation.py (CompileEvent): one artifact
 * "native_dsl_compile" per call, with TORCH_LOGS=+native_dsl_compile:
 *
 *     {"compiled": true, "dsl": "triton", "hits": 0, "key": "(128, 64)", "misses": 1, "op": "aten::bmm", "outcome": "compiled",
 *      "wall_ms": 812.4}
 *
 * Not read from text logs. */
#define ROW_fact_native(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, TEXT, op, "op", "aten::bmm") \
	X(of, TEXT, dsl, "dsl", "cutedsl, flydsl, helion, triton") \
	X(of, TEXT, outcome, "outcome", "compiled, cache_hit, error") \
	X(of, TEXT, key, "key", "shapes and types it is compiled for") \
	X(of, SECONDS, seconds, "seconds", "duration of the call") \
	X(of, U64, hits, "hits", "of its cache so far") \
	X(of, U64, misses, "misses", NULL)
FACT(fact_native);

/* vLLM's own records, by trace_structured in its vllm/compilation/backends.py and piecewise_backend.py. A call of its backend begins with
 * an artifact vllm_compilation_config; then come a graph_dump vllm_piecewise_split_graph, and for each piece of it and each range of sizes
 * an artifact vllm_piecewise_compile_start (here in two lines):
 *
 *     {"piecewise_index": 0, "submod_name": "submod_0", "total_piecewise_compiles": 2, "compile_range_start": 1,
 *      "compile_range_end": 8192, "is_single_size": false, "is_cudagraph_capture_size": false}
 *
 * The first one of a piece is followed by its graph (graph_dump vllm_submod_0). A pass over it leaves a graph_dump
 * vllm_post_grad.INDEX.PASS, the graph after it; the one before the first is Inductor's artifact before_post_grad_graph.
 *
 * Newer ones: an artifact vllm_compile_event {"type": "fresh_compile" or "aot_cache_hit"} before the configuration; graph_dumps
 * vllm_patterns.PASS, what a pass's pattern matcher looks for, as Python (vllm_inductor_pass.py); an artifact vllm_execution_code, the
 * Python that calls the pieces (codegen.py). A process compiles its pieces one after the other; where several write to one log at the
 * same time, each has its own current piece. */
#define ROW_fact_vllm_call(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, TEXT, model, "model", NULL) \
	X(of, TEXT, prefix, "prefix", "of this part of the model") \
	X(of, TEXT, event, "event", "fresh_compile, aot_cache_hit") \
	X(of, TEXT, mode, "mode", NULL) \
	X(of, TEXT, backend, "backend", NULL) \
	X(of, TEXT, custom_ops, "custom_ops", NULL) \
	X(of, TEXT, splitting_ops, "splitting_ops", "where the graph is split") \
	X(of, TEXT, cudagraph_mode, "cudagraph_mode", NULL) \
	X(of, TEXT, sizes, "sizes", "compile_sizes: sizes compiled individually") \
	X(of, TEXT, ranges, "ranges", "end points of the ranges of sizes") \
	X(of, TEXT, enabled_passes, "enabled_passes", NULL) \
	X(of, TEXT, inductor_passes, "inductor_passes", NULL) \
	X(of, TEXT, shapes, "dynamic_shapes", NULL)
FACT(fact_vllm_call);
/* a piece of the graph for a range of sizes */
#define ROW_fact_vllm_piece(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, U64, call, "call", "line of its row in vllm_calls, 0 if there is none") \
	X(of, TEXT, name, "name", "submod_0") \
	X(of, COUNT, index, "index", NULL) \
	X(of, COUNT, total, "total", "number of compiled pieces") \
	X(of, COUNT, start, "start", "start of the range of sizes") \
	X(of, COUNT, end, "end", NULL) \
	X(of, BOOL, single, "single", "a single size") \
	X(of, BOOL, cudagraph, "cudagraph", "CUDA graphs are captured for this size")
FACT(fact_vllm_piece);
#define ROW_fact_vllm_pass(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, U64, piece, "piece", "line of its row in vllm_pieces, 0 if there is none") \
	X(of, TEXT, name, "name", NULL) \
	X(of, COUNT, index, "index", "its position among the passes") \
	X(of, COUNT, added, "added", "lines of its graph that the previous one lacks") \
	X(of, COUNT, removed, "removed", "lines of the previous graph that this one lacks") \
	X(of, INDEX, before, "before", "number of the previous artifact in the directory") \
	X(of, TEXT, diff, "diff", "hunks of a unified diff against the previous one; null if there is none, or it exceeds 256 KiB")
FACT(fact_vllm_pass);
#define ROW_fact_vllm_text(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, U64, call, "call", "line of its row in vllm_calls, 0 if there is none") \
	X(of, TEXT, name, "name", "execution code, split graph, patterns of PASS")
FACT(fact_vllm_text);

/* Processes that compile kernels (torch 2.15, torch/_inductor/compile_worker/subproc_pool.py). An artifact compile_worker_sidecar_death:
 *
 *     sidecar pid=4711 returncode=-9\n\nits last 50 lines
 *
 * and compile_worker_status, once a minute for each job that takes longer than one:
 *
 *     {"job_id": 3, "elapsed_s": 120.2, "phase": "compiling", "phase_elapsed_s": 118.9, "worker_pid": 4712, "compile_id": "0/0"}
 *
 * phase: running, querying_cache, compiling (compile_worker/watchdog.py), queued; absent if workers are not forked. */
enum fact_worker_what { WORKER_DIED, WORKER_STATUS, FACT_WORKER_WHATS };
#define ROW_fact_worker(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, WORKER_WHAT, what, "what", "died, status (once a minute for each job that takes longer than one)") \
	X(of, SECONDS, time, "time", "since the input's first record") \
	X(of, COUNT, pid, "pid", NULL) \
	X(of, COUNT, code, "code", "exit code of one that died") \
	X(of, SIGNAL, signal, "signal", "or the signal that ended it") \
	X(of, COUNT, job, "job", NULL) \
	X(of, TEXT, phase, "phase", "queued, running, querying_cache, compiling") \
	X(of, SECONDS, seconds, "seconds", "the job has taken so far") \
	X(of, SECONDS, phase_seconds, "phase_seconds", "spent in this phase so far") \
	X(of, LINES, tail, "tail", "the last lines of one that died")
FACT(fact_worker);

/* compile_times(): seconds by the name of dynamo_timed, of a compile id or (NONE) of the run. Wall time: what ran in parallel counts once.
 * self: without nested phases. each: the sum of all calls, more than seconds if threads ran in parallel. */
#define ROW_fact_phase(X, of) \
	X(of, SRC, src, NULL, NULL) \
	X(of, INDEX, compile, NULL, NULL) \
	X(of, TEXT, name, NULL, NULL) \
	X(of, SUM, seconds, NULL, NULL) \
	X(of, SUM, self, NULL, NULL) \
	X(of, SUM, each, NULL, NULL) \
	X(of, U64, calls, NULL, NULL)
FACT(fact_phase);

/* A run of the C++ compiler ("compile_file": torch/_inductor/cpp_builder.py, run_compile_cmd), in the order in which they ended. Kernels
 * are built by threads that have no compile id, one run for each; an end belongs to the run that began first, which is right as long as
 * they take about equally long. */
#define ROW_fact_build(X, of) \
	X(of, SRC, src, NULL, NULL) \
	X(of, INDEX, compile, NULL, "that waits for it; or NONE") \
	X(of, BOOL, threaded, NULL, "in a thread of the pool: a kernel") \
	X(of, TEXT, within, NULL, "the block around it: async_compile.wait, PyCodeCache.load_by_key_path, Scheduler.codegen, ...") \
	X(of, SECONDS, start, NULL, "since the log's first event") \
	X(of, SECONDS, seconds, NULL, NULL)
FACT(fact_build);

/* A graph from Dynamo or AOTAutograd. Ops and guards are complete only with .keep_graphs, .keep_guards. */
#define ROW_fact_graph(X, of) \
	X(of, SRC, src, NULL, NULL) \
	X(of, INDEX, compile, NULL, NULL) \
	X(of, TEXT, name, NULL, "dynamo_output_graph, aot_forward_graph, ...") \
	X(of, TEXT, subgraph, NULL, "the region that is compiled by itself (torch 2.15)") \
	X(of, COUNT, ops, NULL, NULL) \
	X(of, U64, bytes, NULL, NULL) \
	X(of, TEXT, text, NULL, "only if kept")
FACT(fact_graph);

/* What a comparison of ranks uses beside the other rows; from a trace, if facts_options.ranks is set, and bounded: graph texts to
 * RANK_TEXT_LOG bytes each of captured and of generated graphs, a single one to RANK_TEXT_ONE, steps and spans to RANK_EVENTS, operators in
 * lists to RANK_OPS. */
enum { RANK_TEXT_ONE = 256 << 10, RANK_TEXT_LOG = 1 << 20, RANK_EVENTS = 1 << 16, RANK_OPS = 1 << 18 };
enum fact_step_kind { STEP_START, STEP_GRAPH, STEP_MADE, FACT_STEPS }; /* a compilation starts; a graph is captured, generated from it */
#define ROW_fact_step(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, STEP_KIND, kind, "kind", "start of a compilation, graph captured by Dynamo, graph made from it by the backend") \
	X(of, TEXT, what, "what", "\"step (app.py:12)\"; \"aot_forward_graph, 3 nodes\"") \
	X(of, HEX, fingerprint, "fingerprint", "of the graph's text; device indices (cuda:3) are ignored") \
	X(of, TEXT, graph, "graph", "the text, once per fingerprint") \
	X(of, BOOL, cut, "cut", "the text was cut here")
FACT(fact_step);
enum fact_span_kind { SPAN_COMPILE, SPAN_BACKWARD, SPAN_OPEN, FACT_SPANS }; /* open: no metrics ended it */
#define ROW_fact_span(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, SPAN_KIND, kind, "kind", "compile, backward, open (not finished in this log)") \
	X(of, SECONDS, start, "start", "since the input's first record") \
	X(of, SECONDS, end, "end", NULL)
FACT(fact_span);
/* inductor_collective_schedule; inductor_runtime_and_tensor_meta, twice; graph_execution, whose last one counts. */
enum fact_list_kind { LIST_SCHEDULE, LIST_TENSORS, LIST_ESTIMATES, LIST_ORDER, FACT_LISTS };
#define ROW_fact_list(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, LIST_KIND, kind, "kind", \
	  "schedule (inductor_collective_schedule), tensors, estimates (inductor_runtime_and_tensor_meta), order (graph_execution: the " \
	  "last counts)") \
	X(of, LINES, lines, "lines", \
	  "operators: names; name, type, shape/stride of outputs; nanoseconds and name; compile ids in the order in which graphs ran") \
	X(of, BOOL, left_out, "left_out", "too long, or unreadable")
FACT(fact_list);
/* The collectives in a schedule differ from those in the generated code. */
#define ROW_fact_parity(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, U64, difference, "difference", "difference in the number of collectives between the code and the schedule") \
	X(of, U64, missing_waits, "missing_waits", NULL)
FACT(fact_parity);

/* A known message (patterns.h): which, where, with which captures. */
#define ROW_fact_known(X, of) \
	X(of, SRC, src, NULL, NULL) \
	X(of, INDEX, compile, NULL, NULL) \
	X(of, TEXT, pattern, NULL, "its id") \
	X(of, TEXT, quote, NULL, "the line") \
	X(of, TEXT, title, NULL, "with captures filled in, here and below") \
	X(of, TEXT, cause, NULL, NULL) \
	X(of, TEXT, check, NULL, NULL) \
	X(of, LINES, fix, NULL, NULL) \
	X(of, LINES, hint, NULL, NULL) \
	X(of, LINES, see, NULL, NULL) \
	X(of, COMPONENT, component, NULL, NULL) \
	X(of, LEVEL, level, NULL, "enum finding_level") \
	X(of, U64, count, NULL, "number of times in this input") \
	X(of, LOC, loc, NULL, "the user's line, where a stack around it shows one") \
	X(of, BOOL, told, NULL, "already part of a failure's finding (component.c)")
FACT(fact_known);

/* A path mentioned in a log: "debug trace", "minifier launcher", "output code", "repro". */
#define ROW_fact_path(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, TEXT, what, "what", NULL) \
	X(of, TEXT, path, "path", NULL)
FACT(fact_path);

/* An error of g++, nvcc or Triton's compiler. */
#define ROW_fact_compiler_error(X, of) \
	X(of, SRC, src, "src", NULL) \
	X(of, INDEX, compile, "compile", "index of compiles") \
	X(of, LOC, at, "at", "in the generated file; code: the line as quoted by the compiler") \
	X(of, POSITIVE, column, "column", NULL) \
	X(of, TEXT, severity, "severity", NULL) \
	X(of, TEXT, message, "message", NULL) \
	X(of, TEXT, command, "command", NULL)
FACT(fact_compiler_error);

#define ROW_fact_damage(X, of) \
	X(of, U32, input, "input", "index of inputs") \
	X(of, TEXT, kind, "kind", "a word") \
	X(of, U64, line, "line", "of the first") \
	X(of, U64, count, "count", NULL) \
	X(of, TEXT, what, "text", "what was lost")
FACT(fact_damage);

/* A key in a structured trace unknown to this version. */
#define ROW_fact_unknown(X, of) \
	X(of, U32, input, "input", "index of inputs") \
	X(of, TEXT, key, "key", NULL) \
	X(of, U64, count, "count", NULL) \
	X(of, U64, line, "line", "of the first")
FACT(fact_unknown);

/* A code object that Dynamo compiled, in one generation of a process; one that a text log gives only by location has no id. */
#define ROW_fact_frame(X, of) \
	X(of, U32, input, "input", "index of inputs") \
	X(of, U32, process, "process", NULL) \
	X(of, U32, generation, "generation", NULL) \
	X(of, COUNT, frame, "frame_id", "null: a text log has only the location") \
	X(of, LOC, loc, "location", NULL) \
	X(of, U32, compiles, "compiles", "number of compilations") \
	X(of, U32, recompiles, "recompiles", "number of recompiles with a reason in the input") \
	X(of, BOOL, limited, "limited", "a recompile limit was reached") \
	X(of, SECONDS, seconds, "seconds", "of its recompiles") \
	X(of, U32, first, NULL, "of frame_compile[]: rows of compile[], in the order of their numbers") \
	X(of, U32, n, NULL, NULL) \
	X(of, INDEX, limit, NULL, "row of limit[]")
FACT(fact_frame);

struct fact_id_times {
	uint32_t input, id, n;
};
struct facts {
	struct intern names;
	struct intern
	    compile_ids; /* of facts_compile: {input, process, generation, id} -> compile_row[], valid until facts_only_function */
	uint32_t *compile_row, cap_compile_row;
	struct row_index id_times;
	ROWS(struct fact_id_times, times);      /* how many rows of compile[] have an id in their input */
	struct intern string_ids;               /* {pid, number} of the `str` records of all logs -> string_name[] */
	uint32_t *string_name, cap_string_name; /* a process writes each string once, and draft_export writes a log of its own */
	struct intern known_ids;                /* {input, pattern, title} -> row of known, the same index, until facts_one_run */
	ROWS(struct fact_input, input);
	ROWS(struct fact_compile, compile);
	ROWS(struct fact_attempt, attempt);
	ROWS(struct fact_metric, metric);
	ROWS(struct fact_break, brk);
	ROWS(struct fact_recompile, recompile);
	ROWS(struct fact_limit, limit);
	ROWS(struct fact_failure, failure);
	ROWS(struct fact_marker, marker);
	ROWS(struct fact_symbol, symbol);
	ROWS(struct fact_bound, bound);
	ROWS(struct fact_fake_kernel, fake_kernel);
	ROWS(struct fact_cache, cache);
	ROWS(struct fact_cudagraph, cudagraph);
	ROWS(struct fact_native, native);
	ROWS(struct fact_worker, worker);
	ROWS(struct fact_vllm_call, vllm_call);
	ROWS(struct fact_vllm_piece, vllm_piece);
	ROWS(struct fact_vllm_pass, vllm_pass);
	ROWS(struct fact_vllm_text, vllm_text);
	ROWS(struct fact_phase, phase);
	ROWS(struct fact_build, build);
	ROWS(struct fact_graph, graph);
	ROWS(struct fact_step, step);
	ROWS(struct fact_span, span);
	ROWS(struct fact_list, list);
	ROWS(struct fact_parity, parity);
	ROWS(struct fact_known, known);
	ROWS(struct fact_path, path);
	ROWS(struct fact_compiler_error, compiler_error);
	ROWS(struct fact_damage, damage);
	ROWS(struct fact_unknown, unknown);
	ROWS(struct fact_frame, frame); /* filled by facts_frames */
	ROWS(uint32_t, frame_compile);
	/* Not from the inputs, but from who ran the command. */
	enum facts_eager eager;
	uint32_t eager_error; /* how it failed in eager mode, one line; NONE */
	struct buf tmp;
};

struct facts_options {
	bool keep_graphs, keep_guards;   /* their texts, for --show */
	bool keys;                       /* the components of cache keys: about 100 KB each, mostly the same */
	bool ranks;                      /* steps, spans, lists: for comparing ranks */
	bool few_metrics;                /* of compilation metrics only what findings are made of: a compilation has 60, 20 bytes each */
	bool no_graphs;                  /* no rows of graphs: nobody explains failures */
	bool no_phases;                  /* a trace's chromium events are not added up: no phases, no markers */
	const struct patterns *patterns; /* known messages to look for in texts; NULL: none */
};

/* The displayed name of a compilation; empty for NONE. */
static inline struct slice facts_label(const struct facts *f, uint32_t compile)
{
	return compile < f->n_compile ? intern_get(&f->names, f->compile[compile].label) : (struct slice){0};
}
void facts_init(struct facts *f);
void facts_release(struct facts *f);
/* Known messages in a text that is part of an input (a failure's message, a payload): they all get this src. facts_known.c */
void facts_add_known(struct facts *f, const struct facts_options *o, struct fact_src src, uint32_t compile, struct slice text);
/* One match from a scan made by the reader itself (of a whole log: src has the match's own line). */
struct pattern_match;
void facts_take_known(struct facts *f, struct fact_src src, uint32_t compile, const struct pattern_match *m);
/* Violated constraints of torch.export or mark_dynamic in a message: rows of bound[]. */
FOR_TESTS void facts_add_constraints(struct facts *f, struct fact_src src, uint32_t compile, const struct fact_loc *loc, struct slice text);
/* For traces and texts of one run: removes from the texts what a trace reports as well. Does nothing if they are from different runs: if a
 * text gives a compile id to another function. Before facts_finish. */
void facts_one_run(struct facts *f);
void facts_finish(struct facts *f);
/* Rebuilds frame[] from the current compilations, recompiles and limits. */
void facts_frames(struct facts *f);
/* Keeps only the frames of this function and its resume functions, as TORCHDYNAMO_DEBUG_FUNCTION does at run time. Returns how many. */
uint32_t facts_only_function(struct facts *f, const char *function);
/* Copies the rows of one input, as input 0, into an empty model; its texts stay in `all`, which must outlive it. For rows read back from a
 * document (document.h): rows from readers refer to their logs. */
void facts_of_input(struct facts *f, const struct facts *all, uint32_t input);
/* Call it when rows of compile[] have moved: moved[old] is the new index; an attempt whose compilation was removed (NONE) stays without
 * one. */
void facts_move_attempts(struct facts *f, const uint32_t *moved);

static inline struct slice facts_text(const struct facts *f, uint32_t id)
{
	return id == NONE ? (struct slice){0} : intern_get(&f->names, id);
}
/* For the readers: interns a text (empty: NONE); a location. */
uint32_t facts_intern(struct facts *f, struct slice s);
struct fact_loc facts_loc(struct facts *f, const struct srcloc *at);
/* torch cuts the beginning of a file's name off, also within a folder's name ("mp/app/m.py"): becomes the frame's file, if that is its
 * end. */
void facts_whole_file(const struct facts *f, struct fact_loc *loc, const struct fact_loc *frame);
/* The first version found in an input, or NONE. */
static inline uint32_t facts_torch_version(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].torch_version != NONE)
			return f->input[i].torch_version;
	return NONE;
}
static inline struct fact_loc facts_no_loc(void) { return (struct fact_loc){NONE, 0, NONE, NONE}; }
/* Adds an input; adds or finds a compilation in it. */
uint32_t facts_input(struct facts *f, enum fact_input_kind kind, const char *path);
uint32_t facts_compile(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line);
/* The same, always a new row. start: seconds since the log's first record. */
uint32_t facts_compile_anew(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line,
			    double start);
uint32_t facts_attempt(struct facts *f, uint32_t input, const struct compile_id *id, uint64_t line);
/* A new row, all zero except that ids and locations are NONE: facts_new_brk(f, src) ... The pointer is valid until the next one. Each has
 * src and compile. */
#define FACT_TABLES(X) \
	X(brk, fact_break) \
	X(recompile, fact_recompile) \
	X(limit, fact_limit) \
	X(failure, fact_failure) \
	X(marker, fact_marker) \
	X(symbol, fact_symbol) \
	X(bound, fact_bound) \
	X(fake_kernel, fact_fake_kernel) \
	X(cache, fact_cache) \
	X(cudagraph, fact_cudagraph) \
	X(native, fact_native) \
	X(worker, fact_worker) \
	X(vllm_call, fact_vllm_call) \
	X(vllm_piece, fact_vllm_piece) \
	X(vllm_pass, fact_vllm_pass) \
	X(vllm_text, fact_vllm_text) \
	X(phase, fact_phase) \
	X(build, fact_build) \
	X(graph, fact_graph) \
	X(step, fact_step) \
	X(span, fact_span) \
	X(list, fact_list) \
	X(parity, fact_parity) \
	X(known, fact_known) \
	X(path, fact_path) \
	X(compiler_error, fact_compiler_error)
#define X(name, type) struct type *facts_new_##name(struct facts *f, struct fact_src src);
FACT_TABLES(X)
#undef X
/* How many rows there are. */
struct fact_rows {
	uint32_t input, compile, attempt;
#define X(name, type) uint32_t name;
	FACT_TABLES(X)
#undef X
};
struct fact_rows facts_rows(const struct facts *f);
/* The component that a dynamo_timed name belongs to ("bytecode_tracing": Dynamo); COMPONENT_NONE if unknown. */
enum component phase_component(struct slice name);
/* "torch_dynamo_resume_in_f_at_5": f and 5. */
bool facts_resume_name(struct slice co_name, struct slice *function, uint32_t *line);

#endif
