/* facts.h - what is known of one or several runs, whatever they left behind: the model between readers and analyses.
 *
 *     struct facts f;
 *     facts_init(&f);
 *     facts_add_trace(&f, "trace.log", &o, &err);       // a structured trace (trace/trace.h)
 *     facts_add_textlog(&f, "stderr.txt", &o, &err);    // TORCH_LOGS output, stderr, debug.log (torchlog/torchlog.h)
 *     facts_add_debugdir(&f, "torch_compile_debug", &o, &err);
 *     facts_finish(&f);                                 // joins what several inputs say of one thing
 *     for (uint32_t i = 0; i < f.n_brk; i++)
 *         facts_text(&f, f.brk[i].reason) ...
 *     facts_release(&f);
 *
 * Rows say what a log says, once, in the log's order. Counting, grouping, ranking and advice are the analyses' (finding.h).
 * A text is an id of f.names, NONE where the log does not say. `src` is where it stands, so that it can be quoted.
 * Compile ids are rows of compile[]; the same text "0/0" in two logs (two ranks, two runs) is two rows.
 *
 * What is counted here equals what tlparse counts: breaks, recompiles, failures and restarts of a trace are the rows of struct
 * trace, none more. What only follows from other records is a row with `inferred` set, and is counted apart.
 *
 * Failure: -1 and err when an input cannot be read at all. All lesser damage is a row of damage[].
 */
#ifndef PT2_FACTS_H
#define PT2_FACTS_H
#include "base/hash.h"
#include "base/srcloc.h"
#include "compilation/cachekey.h"
#include "patterns/component.h"

/* Printed as [!AUTOGRAD/FRAME/COMPILE_ATTEMPT]; torch._guards.CompileId. -1 where the log does not say.
 * No padding: compared and hashed as bytes. */
struct compile_id {
	int64_t autograd, frame, compile, attempt;
	int64_t bad_line; /* 0, or the line of a record whose ids are no small numbers ("unknown_LINE" in the directory) */
};
enum { COMPILE_ID_TEXT = 96 };
/* "0/1", "!2/0/1_1", "-/-", "unknown": the way people and PyTorch write it. */
const char *compile_id_text(const struct compile_id *id, char out[COMPILE_ID_TEXT]);
/* "-_0_1_0": the folder of the directory report. */
const char *compile_id_dir(const struct compile_id *id, char out[COMPILE_ID_TEXT]);
/* The numbers of "0/1_2", "!2/0/1", of which text loses the attempt; -1: not there, as all are of a debug folder's own name. */
void compile_id_read(struct slice *text, struct compile_id *id);

/* Where a fact stands: input[] and its line, from 1 (0: the input as a whole). */
struct fact_src {
	uint32_t input;
	uint32_t attempt;      /* of attempt[]; NONE: of no compile id, or a text's */
	uint32_t artifact;     /* of a trace's artifacts: what says it; NONE */
	uint64_t line, offset; /* of the record's first byte, in the text that is compressed or not; UINT64_MAX: not known */
};
static inline struct fact_src fact_src(uint32_t input, uint64_t line) { return (struct fact_src){input, NONE, NONE, line, UINT64_MAX}; }
/* A place in the program; ids. line 0: not known. */
struct fact_loc {
	uint32_t file, line, function, code;
};

/* dynamo_config, inductor_config, functorch_config, compiler_config of compilation_metrics. */
enum fact_config_text { CONFIG_DYNAMO, CONFIG_INDUCTOR, CONFIG_FUNCTORCH, CONFIG_COMPILER, CONFIG_TEXTS };
/* Settings that matter for advice, from the first compilation_metrics (Dynamo's: the first that is no export); -1: not known, else 0 or 1
 * or the number. */
struct fact_config {
	int64_t recompile_limit, accumulated_recompile_limit, suppress_errors, fail_on_recompile_limit_hit, automatic_dynamic_shapes,
	    assume_static_by_default, capture_scalar_outputs, specialize_float; /* torch._dynamo.config */
	int64_t fx_graph_cache, force_disable_caches, compile_threads, max_autotune, cudagraphs, cpp_precompile_headers; /* _inductor */
	uint32_t text[CONFIG_TEXTS]; /* all settings as JSON objects; NONE */
};
enum fact_input_kind { FACT_TRACE, FACT_TEXTLOG, FACT_DEBUGDIR };
struct fact_input {
	enum fact_input_kind kind;
	uint32_t file;                                              /* to read it again; NONE: it was a pipe. path: what it is called */
	uint32_t path, torch_version, python_version, cuda_version; /* versions: NONE where it does not say */
	uint32_t command;                                           /* argv, where known */
	uint64_t bytes, lines, records;
	int64_t rank;                        /* -1: none */
	int64_t pid;                         /* of its first record, -1 */
	uint32_t processes, resets;          /* that wrote into it; how often compile ids began anew within one */
	uint32_t start;                      /* "11-21T07:59:23.043000" of the first record; NONE */
	double span;                         /* seconds from the first record to the last, < 0 */
	double seconds;                      /* all compilation, < 0: not known */
	bool exports, program;               /* torch.export was at work; its program is there */
	int64_t graphs;                      /* captured by Dynamo; -1: the sum of its compilations' */
	uint64_t artifacts, events, unknown; /* of a trace: files of the directory report, chromium events, records of unknown keys */
	const char *unread;                  /* a read error: why; what came before it is here. NULL */
	struct fact_config config;
};

enum fact_status { COMPILE_UNKNOWN, COMPILE_OK, COMPILE_EMPTY, COMPILE_BREAK, COMPILE_FAILED, COMPILE_SKIPPED };
struct fact_compile {
	struct fact_src src;
	uint32_t id;                      /* "0/1" without the attempt; "!2/0/1" under compiled autograd */
	uint32_t process, generation;     /* of the input: ids begin anew in each (torch._dynamo.reset()) */
	uint32_t nth;                     /* 1; the how manieth of this id in the input, of whatever generation */
	uint32_t label;                   /* the id for people: "0/1", from the second on "0/1 (2nd)" */
	int64_t frame, compile, autograd; /* -1: none */
	uint32_t attempts;                /* attempts seen, at least 1 */
	bool started;                     /* a dynamo_start tells when; false: refused, or known from elsewhere */
	struct fact_loc loc;              /* the frame: file, first line, function */
	uint32_t resume_of;               /* the function whose rest this is ("f" of torch_dynamo_resume_in_f_at_5), NONE */
	uint32_t resume_line;             /* 5 */
	enum fact_status status;
	double start;   /* seconds since the input's first record, < 0 */
	double seconds; /* the whole of it, restarts included; < 0: not known */
	/* parts, in seconds, < 0; each without the next, which is nested in it: dynamo + aot + inductor + codegen + backward = seconds */
	double dynamo, aot, inductor, codegen, backward;
	double restarts;                                        /* of it, attempts that were given up */
	int64_t ops, nodes, inputs, guards, cache_size, graphs; /* -1: not known */
	double guard_eval; /* seconds that its guards took when they were evaluated once, for the measure; < 0: not known */
	uint32_t breaks, restarted;
	uint32_t fail_type, fail_reason;
	uint32_t backend;                /* what was asked for, NONE */
	uint32_t stack;                  /* the user's frames that led here, outermost first, one a line: "app/m.py:7 in f: code" */
	uint32_t first_metric, n_metric; /* of metric[]; several metrics records of one id follow one another */
};

/* One attempt of a compile id in a structured trace, or what a log says outside of any (compile NONE). Dynamo begins a frame anew when it
 * comes to a break, with the next attempt. */
struct fact_attempt {
	struct compile_id id;
	uint32_t input, compile; /* of compile[]; NONE: it names no frame */
	uint32_t process, generation;
	uint32_t before; /* the attempt before it that has the same numbers, of another generation or process; NONE */
	uint32_t folder; /* of the trace: what the log has of these numbers */
	uint64_t line;
	uint32_t first_artifact, last_artifact, artifacts; /* of the trace, in the order of the log; NONE */
	enum fact_status status;
	struct fact_loc loc;
	double start;                                                        /* as of compile[] */
	double seconds, backend_seconds, inductor_seconds, code_gen_seconds; /* < 0: not known */
	int64_t ops, nodes, inputs, guards, cache_size;                      /* -1: not known */
	uint32_t breaks;
	uint32_t stack; /* node of the trace's stacks, NONE */
	uint32_t fail_type, fail_reason;
};

/* A value of compilation_metrics (metrics.h has all names that torch 2.13 writes). */
struct fact_metric {
	uint32_t name, value; /* as the log has it: JSON; null is left out */
	uint16_t known;       /* row of the table in metrics.h, METRIC_UNKNOWN */
	bool backward, runtime;
};

enum fact_break_kind {
	BREAK_CALL,     /* a call or an operation that is not supported */
	BREAK_JUMP,     /* a branch on data: if x.sum() > 0 */
	BREAK_ASKED,    /* torch._dynamo.graph_break(), torch.compiler.disable */
	BREAK_SKIPPED,  /* the whole frame was left to Python */
	BREAK_INFERRED, /* no record of its own: a resume function tells of it */
};
struct fact_break {
	struct fact_src src;
	uint32_t compile; /* NONE */
	struct fact_loc loc;
	enum fact_break_kind kind;
	double time;                                       /* seconds since the input's first record, < 0 */
	bool inferred;                                     /* not counted as a break by tlparse */
	bool explained;                                    /* said by torch._dynamo.explain, not by a compilation */
	uint32_t reason, explanation, hints, context, url; /* hints: one a line */
	uint32_t stack; /* the user's frames, outermost first, one a line: "FILE:LINE in f: code"; NONE */
	int32_t gb;     /* 25 of gb0025, -1 */
};

struct fact_recompile {
	struct fact_src src;
	uint32_t compile;            /* the new one; NONE */
	uint32_t reason;             /* as the log has it, with its place: the first of all */
	uint32_t against;            /* "0/0": whose guard failed */
	struct fact_loc loc;         /* the user's line that the guard stands for; else the frame's */
	uint32_t guard, old, new;    /* guard: without the source comment */
	uint32_t type_old, type_new; /* names of types where the log has them instead of ids */
	uint32_t all;                /* every reason, one a line */
	double time;                 /* seconds since the input's first record, < 0 */
};

struct fact_limit {
	struct fact_src src;
	uint32_t compile;    /* NONE */
	struct fact_loc loc; /* the function */
	uint64_t limit;
	bool accumulated;
	uint32_t reason; /* the last recompile's */
};

/* The reason of a failure of torch.export's, of which a trace has the graph until then and not the exception. */
#define FACT_EXPORT_STOPPED "torch.export stopped while it traced"
/* An exception, or an end by a signal. Also restarts (type NONE), which are no failures. */
struct fact_failure {
	struct fact_src src;
	uint32_t compile;      /* NONE */
	uint32_t type, reason; /* "torch._inductor.exc.InductorError"; the whole message */
	struct fact_loc user;  /* the user's innermost line */
	struct fact_loc torch; /* the innermost line of torch */
	uint32_t frames;       /* innermost 16, outermost first, one a line: "FILE:LINE in f: code" */
	uint32_t cause;        /* row that it was raised from, NONE */
	uint32_t stack;        /* the traceback as it stands, bounded; NONE */
	double time;           /* seconds since the input's first record, < 0 */
	bool restart, caught;  /* caught: an attempt that was given up (suppress_errors, a restart's cause) */
	bool inferred;         /* not counted by tlparse: no compilation_metrics tell of it (the job ended, a backward) */
	bool ended;            /* the last thing that a text tells: what the program ended with */
	int signal;            /* 0: an exception */
};

/* "Step 2: calling compiler function inductor", chromium events of phases: what had begun and not ended. */
struct fact_marker {
	struct fact_src src;
	enum component component;
	bool end;
	uint32_t compile, what;
};

struct fact_symbol {
	struct fact_src src;
	uint32_t compile;
	struct fact_loc loc;
	uint32_t symbol, value, range, source; /* s77, 3, "[2, int_oo]", "L['x'].size()[0]" */
	bool unbacked;
};
enum fact_bound_kind {
	BOUND_GUARD,       /* an expression that was evaluated and became a guard: Eq(s77, 16) */
	BOUND_SPECIALIZED, /* the symbol became a constant */
	BOUND_REPLACED,    /* s17 is s77 from here on */
	BOUND_ASSERT,      /* deferred to run time */
	BOUND_DATA,        /* guard on data that is not there when compiling (fails, or went on with a real value) */
	BOUND_CONSTRAINT, /* torch.export: the user's Dim does not hold; expr: the sentence, symbol: its names, reason: fixes, one a line */
};
struct fact_bound {
	struct fact_src src;
	uint32_t compile;
	struct fact_loc loc;   /* the user's line */
	struct fact_loc torch; /* torch's line that asked */
	enum fact_bound_kind kind;
	uint32_t expr, symbol, value, sources, reason; /* sources: one a line; reason: range_refined_to_singleton, a suggested fix */
};

/* An operator without a good fake kernel, as draft_export found. */
struct fact_fake_kernel {
	struct fact_src src;
	uint32_t compile;
	struct fact_loc loc;
	uint32_t op, reason; /* "pt2fix.badfake.default", "mismatch between fake value 4 and real value 2" */
	bool missing;        /* false: its result is another */
};

enum fact_cache_kind { FACT_CACHE_FX, FACT_CACHE_AOT, FACT_CACHE_BUNDLED, FACT_CACHE_OTHER, FACT_CACHES };
enum fact_cache_what { FACT_HIT, FACT_MISS, FACT_BYPASS, FACT_CACHE_WHATS };
extern const char *const cache_kind_name[FACT_CACHES];      /* "fx_graph" */
extern const char *const cache_what_name[FACT_CACHE_WHATS]; /* "hit" */
struct fact_cache {
	struct fact_src src;
	uint32_t compile;
	enum fact_cache_kind kind;
	enum fact_cache_what what;
	uint32_t name, reason;     /* the artifact's name; why bypassed or missed */
	uint32_t key;              /* what was looked up */
	uint32_t guards;           /* of the entries of that key, where a guard was what did not hold */
	uint32_t parts[KEY_TEXTS]; /* what the key is made of (cachekey.h); only with .keys */
};

struct fact_cudagraph { /* a skip */
	struct fact_src src;
	uint32_t compile;
	struct fact_loc loc;
	uint32_t reason;
};

/* A kernel of torch's own operators was asked of its DSL. torch 2.15, torch/_native/instrumentation.py (CompileEvent), an artifact
 * "native_dsl_compile" a call, where TORCH_LOGS=+native_dsl_compile:
 *
 *     {"compiled": true, "dsl": "triton", "hits": 0, "key": "(128, 64)", "misses": 1, "op": "aten::bmm", "outcome": "compiled",
 *      "wall_ms": 812.4}
 *
 * Not read from text logs. */
struct fact_native {
	struct fact_src src;
	uint32_t compile;      /* NONE: called in eager */
	uint32_t op, dsl, key; /* dsl: cutedsl, flydsl, helion, triton */
	uint32_t outcome;      /* compiled, cache_hit, error */
	double seconds;        /* of the call */
	uint64_t hits, misses; /* of the cache until then; Triton has no count of hits */
};

/* vLLM's own records, by trace_structured in its vllm/compilation/backends.py and piecewise_backend.py. A call of its backend begins with
 * an artifact vllm_compilation_config; then come a graph_dump vllm_piecewise_split_graph, and for each part of it and each range of sizes
 * an artifact vllm_piecewise_compile_start (here in two lines):
 *
 *     {"piecewise_index": 0, "submod_name": "submod_0", "total_piecewise_compiles": 2, "compile_range_start": 1,
 *      "compile_range_end": 8192, "is_single_size": false, "is_cudagraph_capture_size": false}
 *
 * Behind the first of a part stands its graph (graph_dump vllm_submod_0). A pass over it leaves a graph_dump vllm_post_grad.INDEX.PASS, the
 * graph after it; the one before the first is Inductor's artifact before_post_grad_graph. */
struct fact_vllm_call {
	struct fact_src src;
	uint32_t compile;
	uint32_t model, prefix, mode, backend, custom_ops, splitting_ops, cudagraph_mode, sizes, ranges, enabled_passes, inductor_passes,
	    shapes;
};
struct fact_vllm_piece { /* a part of the graph for a range of sizes */
	struct fact_src src;
	uint32_t compile;
	uint64_t call;                    /* line of its call, 0 */
	uint32_t name;                    /* submod_0 */
	int64_t index, total, start, end; /* start, end: of the range; -1: not known */
	bool single, cudagraph;
};
struct fact_vllm_pass {
	struct fact_src src;
	uint32_t compile;
	uint64_t piece; /* line of its part, 0 */
	uint32_t name;
	int64_t index, added, removed; /* lines of the graph against the one before it; -1: that is not there, or is too long */
	uint32_t before;               /* artifact of the graph before it, NONE */
	uint32_t diff;                 /* hunks of a unified diff; NONE: nothing changed, or too much to keep */
};

/* Processes that compile kernels (torch 2.15, torch/_inductor/compile_worker/subproc_pool.py). An artifact compile_worker_sidecar_death:
 *
 *     sidecar pid=4711 returncode=-9\n\nits last 50 lines
 *
 * and compile_worker_status, once a minute for each job that takes longer than one:
 *
 *     {"job_id": 3, "elapsed_s": 120.2, "phase": "compiling", "phase_elapsed_s": 118.9, "worker_pid": 4712, "compile_id": "0/0"}
 *
 * phase: running, querying_cache, compiling (compile_worker/watchdog.py), queued; not there where workers are not forked. */
enum fact_worker_what { WORKER_DIED, WORKER_STATUS, FACT_WORKER_WHATS };
struct fact_worker {
	struct fact_src src;
	uint32_t compile;
	enum fact_worker_what what;
	int64_t pid, code, job;        /* code: of one that died; -1: not known, or by a signal */
	int signal;                    /* that ended it, 0 */
	uint32_t phase, tail;          /* NONE; tail: its last lines */
	double time;                   /* of the record, since the input's first */
	double seconds, phase_seconds; /* < 0 */
};

/* compile_times(): seconds by the name of dynamo_timed, of a compile id or (NONE) of the run. By the clock: what ran side by side counts
 * once. self: without what is nested. each: all calls added up, more than seconds where threads ran side by side. */
struct fact_phase {
	struct fact_src src;
	uint32_t compile, name;
	double seconds, self, each;
	uint64_t calls;
};

/* A graph: what Dynamo or AOTAutograd made. Ops and guards in full only with .keep_graphs, .keep_guards. */
struct fact_graph {
	struct fact_src src;
	uint32_t compile, name; /* dynamo_output_graph, aot_forward_graph, ... */
	int64_t ops;
	uint64_t bytes;
	uint32_t text; /* NONE unless kept */
};

/* What a comparison of ranks looks at beside the other rows; a trace's, where facts_options.ranks asks for it, and bounded: texts of graphs
 * to RANK_TEXT_LOG bytes of what was captured and of what was made, each at most RANK_TEXT_ONE, steps and spans to RANK_EVENTS,
 * operators in lists to RANK_OPS. */
enum { RANK_TEXT_ONE = 256 << 10, RANK_TEXT_LOG = 1 << 20, RANK_EVENTS = 1 << 16, RANK_OPS = 1 << 18 };
enum fact_step_kind { STEP_START, STEP_GRAPH, STEP_MADE, FACT_STEPS }; /* a compilation begins; a graph is captured, is made of it */
struct fact_step {
	struct fact_src src;
	uint32_t compile;
	enum fact_step_kind kind;
	uint32_t what;        /* "step (app.py:12)"; "aot_forward_graph, 3 nodes" */
	uint32_t graph;       /* its text, at the first of this fingerprint that fits; NONE */
	uint64_t fingerprint; /* graph_fingerprint(); of a start: of what */
	bool cut;             /* the text goes on */
};
enum fact_span_kind { SPAN_COMPILE, SPAN_BACKWARD, SPAN_OPEN, FACT_SPANS }; /* open: no metrics closed it */
struct fact_span {
	struct fact_src src;
	uint32_t compile;
	enum fact_span_kind kind;
	double start, end; /* seconds since the input's first record */
};
/* inductor_collective_schedule; inductor_runtime_and_tensor_meta, twice; graph_execution, of which the last counts. */
enum fact_list_kind { LIST_SCHEDULE, LIST_TENSORS, LIST_ESTIMATES, LIST_ORDER, FACT_LISTS };
struct fact_list {
	struct fact_src src;
	uint32_t compile;
	enum fact_list_kind kind;
	uint32_t lines; /* an operator a line: its name; its name, type and outputs; nanoseconds, a blank, its name; a compile id */
	bool left_out;  /* too long, or not to be understood */
};
/* The collectives of a schedule are not those of the code that was generated. */
struct fact_parity {
	struct fact_src src;
	uint32_t compile;
	uint64_t difference, missing_waits; /* more or fewer in the code; calls without a wait */
};

/* A known message (patterns.h): which, where, with what. */
struct fact_known {
	struct fact_src src;
	uint32_t compile;
	uint32_t pattern;                             /* its id, as text */
	uint32_t quote;                               /* the line */
	uint32_t title, cause, check, fix, hint, see; /* captures filled in; fix, hint, see: one a line */
	enum component component;
	int level;      /* enum finding_level */
	uint64_t count; /* how often in this input */
	bool told;      /* a failure's finding has it already (component.c) */
};

/* A path that a log names: "debug trace", "minifier launcher", "output code", "repro". */
struct fact_path {
	struct fact_src src;
	uint32_t compile;
	uint32_t what, path;
};

/* An error of g++, nvcc or Triton's compiler. */
struct fact_compiler_error {
	struct fact_src src;
	uint32_t compile;
	struct fact_loc at; /* in the generated file; code: the line as the compiler quotes it */
	uint32_t column, severity, message, command;
};

struct fact_damage {
	uint32_t input;
	uint32_t kind, what; /* a word, a sentence */
	uint64_t count, line;
};

/* A key of a structured trace that this version does not know. */
struct fact_unknown {
	uint32_t input, key;
	uint64_t count, line;
};

/* A code object that Dynamo compiled, in one generation of a process; what a text log names only by its place has no id. */
struct fact_frame {
	uint32_t input, process, generation;
	int64_t frame; /* -1: not known */
	struct fact_loc loc;
	uint32_t first, n; /* of frame_compile[]: rows of compile[], in the order of their numbers */
	uint32_t compiles, recompiles;
	bool limited;   /* a recompile limit was reached */
	uint32_t limit; /* row of limit[], NONE */
	double seconds; /* of its recompiles, < 0 */
};

#define FACT_ROWS(type, name) \
	type *name; \
	uint32_t n_##name, cap_##name

struct facts {
	struct intern names;
	struct intern compile_ids; /* of facts_compile: {input, process, generation, id} -> compile_row[], until facts_only_function */
	uint32_t *compile_row, cap_compile_row;
	struct intern id_times; /* {input, id} -> times[]: how many rows of compile have it */
	uint32_t *times, cap_times;
	struct intern string_ids;               /* {pid, number} of the `str` records of all logs -> string_name[] */
	uint32_t *string_name, cap_string_name; /* a process tells each string once, and draft_export writes a log of its own */
	struct intern known_ids;                /* {input, pattern, title} -> row of known, the same index until facts_one_run */
	FACT_ROWS(struct fact_input, input);
	FACT_ROWS(struct fact_compile, compile);
	FACT_ROWS(struct fact_attempt, attempt);
	FACT_ROWS(struct fact_metric, metric);
	FACT_ROWS(struct fact_break, brk);
	FACT_ROWS(struct fact_recompile, recompile);
	FACT_ROWS(struct fact_limit, limit);
	FACT_ROWS(struct fact_failure, failure);
	FACT_ROWS(struct fact_marker, marker);
	FACT_ROWS(struct fact_symbol, symbol);
	FACT_ROWS(struct fact_bound, bound);
	FACT_ROWS(struct fact_fake_kernel, fake_kernel);
	FACT_ROWS(struct fact_cache, cache);
	FACT_ROWS(struct fact_cudagraph, cudagraph);
	FACT_ROWS(struct fact_native, native);
	FACT_ROWS(struct fact_worker, worker);
	FACT_ROWS(struct fact_vllm_call, vllm_call);
	FACT_ROWS(struct fact_vllm_piece, vllm_piece);
	FACT_ROWS(struct fact_vllm_pass, vllm_pass);
	FACT_ROWS(struct fact_phase, phase);
	FACT_ROWS(struct fact_graph, graph);
	FACT_ROWS(struct fact_step, step);
	FACT_ROWS(struct fact_span, span);
	FACT_ROWS(struct fact_list, list);
	FACT_ROWS(struct fact_parity, parity);
	FACT_ROWS(struct fact_known, known);
	FACT_ROWS(struct fact_path, path);
	FACT_ROWS(struct fact_compiler_error, compiler_error);
	FACT_ROWS(struct fact_damage, damage);
	FACT_ROWS(struct fact_unknown, unknown);
	FACT_ROWS(struct fact_frame, frame); /* by facts_frames */
	FACT_ROWS(uint32_t, frame_compile);
	struct buf tmp;
};

struct facts_options {
	bool keep_graphs, keep_guards;   /* their texts, for --show */
	bool keys;                       /* what keys of caches are made of: some 100 KB each, mostly the same */
	bool ranks;                      /* steps, spans, lists: what ranks are compared by */
	bool no_phases;                  /* a trace's chromium events are not added up: no phases, no markers */
	const struct patterns *patterns; /* what is looked for in texts; NULL: nothing */
};

/* What people read for a compilation; empty for NONE. */
static inline struct slice facts_label(const struct facts *f, uint32_t compile)
{
	return compile < f->n_compile ? intern_get(&f->names, f->compile[compile].label) : (struct slice){0};
}
void facts_init(struct facts *f);
void facts_release(struct facts *f);
/* Each adds one input. facts_trace.c, facts_text.c, facts_debugdir.c. */
int facts_add_trace(struct facts *f, const char *path, const struct facts_options *o, struct err *err);
int facts_add_textlog(struct facts *f, const char *path, const struct facts_options *o, struct err *err);
int facts_add_debugdir(struct facts *f, const char *path, const struct facts_options *o, struct err *err);
/* Known messages in a text that is part of an input (a failure's message, a payload): all have this src. known.c */
void facts_add_known(struct facts *f, const struct facts_options *o, struct fact_src src, uint32_t compile, struct slice text);
/* One match of a scan that the reader makes itself (of a whole log: src has the match's own line). */
struct pattern_match;
void facts_take_known(struct facts *f, struct fact_src src, uint32_t compile, const struct pattern_match *m);
/* A violated constraint of torch.export or mark_dynamic in a message: rows of bound[]. facts_trace_shapes.c */
void facts_add_constraints(struct facts *f, struct fact_src src, uint32_t compile, const struct fact_loc *loc, struct slice text);
bool facts_constraints(struct slice text); /* is there one in it? */
/* Of traces and texts of one run what a text says that a trace says as well is left out. Does nothing where they are of two: where a
 * text gives a compile id to another function. Before facts_finish. */
void facts_one_run(struct facts *f);
void facts_finish(struct facts *f);
/* frame[] anew, of the compilations, recompiles and limits that are there. */
void facts_frames(struct facts *f);
/* Only the frames of this function and of its resume functions stay: what TORCHDYNAMO_DEBUG_FUNCTION does at run time. How many. */
uint32_t facts_only_function(struct facts *f, const char *function);
/* The rows of one input, as input 0 of a model that is empty; its texts stay all's, which must outlive it. For rows that were read back
 * (document.h): those of readers lead into their logs. */
void facts_of_input(struct facts *f, const struct facts *all, uint32_t input);
/* When rows of compile[] have moved: moved[old] is the new one; an attempt whose compilation is gone (NONE) stays without. */
void facts_move_attempts(struct facts *f, const uint32_t *moved);

static inline struct slice facts_text(const struct facts *f, uint32_t id)
{
	return id == NONE ? (struct slice){0} : intern_get(&f->names, id);
}
/* For the readers: a text as an id, empty as NONE; a place. */
uint32_t facts_intern(struct facts *f, struct slice s);
struct fact_loc facts_loc(struct facts *f, const struct srcloc *at);
/* The first that an input says, NONE. */
static inline uint32_t facts_torch_version(const struct facts *f)
{
	for (uint32_t i = 0; i < f->n_input; i++)
		if (f->input[i].torch_version != NONE)
			return f->input[i].torch_version;
	return NONE;
}
static inline struct fact_loc facts_no_loc(void) { return (struct fact_loc){NONE, 0, NONE, NONE}; }
/* A new input, a new or known compilation of it. */
uint32_t facts_input(struct facts *f, enum fact_input_kind kind, const char *path);
uint32_t facts_compile(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line);
/* The same, always a new row. start: seconds since the log's first record. */
uint32_t facts_compile_anew(struct facts *f, uint32_t input, uint32_t process, uint32_t generation, struct slice id, uint64_t line,
			    double start);
uint32_t facts_attempt(struct facts *f, uint32_t input, const struct compile_id *id, uint64_t line);
/* A new row, all bytes zero but ids and locations none: facts_new_brk(f, src) ... The pointer is good until the next one. Each has
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
	X(phase, fact_phase) \
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
/* Whose phase a name of dynamo_timed is ("bytecode_tracing": Dynamo's); COMPONENT_NONE for one that is not known. */
enum component phase_component(struct slice name);
/* "torch_dynamo_resume_in_f_at_5": f and 5. */
bool facts_resume_name(struct slice co_name, struct slice *function, uint32_t *line);

#endif
