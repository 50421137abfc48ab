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

/* Where a fact stands: input[] and its line, from 1 (0: the input as a whole). */
struct fact_src {
	uint32_t input;
	uint64_t line;
};
/* A place in the program; ids. line 0: not known. */
struct fact_loc {
	uint32_t file, line, function, code;
};

/* dynamo_config, inductor_config, functorch_config, compiler_config of compilation_metrics. */
enum fact_config_text { CONFIG_DYNAMO, CONFIG_INDUCTOR, CONFIG_FUNCTORCH, CONFIG_COMPILER, CONFIG_TEXTS };
/* Settings that matter for advice, from the first compilation_metrics; -1: not known, else 0 or 1 or the number. */
struct fact_config {
	int64_t recompile_limit, accumulated_recompile_limit, suppress_errors, fail_on_recompile_limit_hit, automatic_dynamic_shapes,
	    assume_static_by_default, capture_scalar_outputs, specialize_float; /* torch._dynamo.config */
	int64_t fx_graph_cache, force_disable_caches, compile_threads, max_autotune, cudagraphs, cpp_precompile_headers; /* _inductor */
	uint32_t text[CONFIG_TEXTS]; /* all settings as JSON objects; NONE */
};
enum fact_input_kind { FACT_TRACE, FACT_TEXTLOG, FACT_DEBUGDIR };
struct fact_input {
	enum fact_input_kind kind;
	uint32_t path, torch_version, python_version, cuda_version; /* versions: NONE where it does not say */
	uint32_t command;                                           /* argv, where known */
	uint64_t bytes, lines, records;
	int64_t rank;       /* -1: none */
	double seconds;     /* all compilation, < 0: not known */
	const char *unread; /* a read error: why; what came before it is here. NULL */
	struct fact_config config;
};

/* The parts of the compiler, in the order in which a program meets them. */
enum component {
	COMPONENT_NONE,
	COMPONENT_DYNAMO,      /* capturing the frame */
	COMPONENT_AOTAUTOGRAD, /* tracing forward and backward */
	COMPONENT_INDUCTOR,    /* passes, lowering, scheduling */
	COMPONENT_CODEGEN,     /* writing the kernels */
	COMPONENT_COMPILER,    /* g++, Triton, nvcc, linking, loading what they made */
	COMPONENT_RUNTIME,     /* running compiled code, guards included */
	COMPONENT_BACKEND,     /* a backend that is not Inductor */
	COMPONENT_EXPORT,      /* torch.export, draft export */
	COMPONENT_LOAD,        /* loading a package */
	COMPONENT_EAGER,       /* the program's own error: eager fails too */
	COMPONENT_ENVIRONMENT, /* disk, memory, missing programs, versions */
	COMPONENTS,
};
extern const char *const component_name[COMPONENTS];  /* "dynamo" */
extern const char *const component_title[COMPONENTS]; /* "TorchDynamo (capturing the graph)" */

enum fact_status { COMPILE_UNKNOWN, COMPILE_OK, COMPILE_EMPTY, COMPILE_BREAK, COMPILE_FAILED, COMPILE_SKIPPED };
struct fact_compile {
	struct fact_src src;
	uint32_t id;                      /* "0/1" without the attempt; "!2/0/1" under compiled autograd */
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
	uint32_t breaks, restarted;
	uint32_t fail_type, fail_reason;
	uint32_t backend;                /* what was asked for, NONE */
	uint32_t stack;                  /* the user's frames that led here, outermost first, one a line: "app/m.py:7 in f: code" */
	uint32_t first_metric, n_metric; /* of metric[]; several metrics records of one id follow one another */
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
	bool inferred;                                     /* not counted as a break by tlparse */
	bool explained;                                    /* said by torch._dynamo.explain, not by a compilation */
	uint32_t reason, explanation, hints, context, url; /* hints: one a line */
	int32_t gb;                                        /* 25 of gb0025, -1 */
};

struct fact_recompile {
	struct fact_src src;
	uint32_t compile;            /* the new one; NONE */
	uint32_t against;            /* "0/0": whose guard failed */
	struct fact_loc loc;         /* the user's line that the guard stands for; else the frame's */
	uint32_t guard, old, new;    /* guard: without the source comment */
	uint32_t type_old, type_new; /* names of types where the log has them instead of ids */
	uint32_t all;                /* every reason, one a line */
};

struct fact_limit {
	struct fact_src src;
	uint32_t compile;    /* NONE */
	struct fact_loc loc; /* the function */
	uint64_t limit;
	bool accumulated;
	uint32_t reason; /* the last recompile's */
};

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
	bool restart, caught;  /* caught: an attempt that was given up (suppress_errors, a restart's cause) */
	bool inferred;         /* not counted by tlparse: no compilation_metrics tell of it (the job ended, a backward) */
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

enum fact_cache_kind { FACT_CACHE_FX, FACT_CACHE_AOT, FACT_CACHE_BUNDLED, FACT_CACHE_OTHER };
enum fact_cache_what { FACT_HIT, FACT_MISS, FACT_BYPASS };
struct fact_cache {
	struct fact_src src;
	uint32_t compile;
	enum fact_cache_kind kind;
	enum fact_cache_what what;
	uint32_t name, reason; /* the artifact's name; why bypassed or missed */
};

struct fact_cudagraph { /* a skip */
	struct fact_src src;
	uint32_t compile;
	struct fact_loc loc;
	uint32_t reason;
};

/* compile_times(): seconds by the name of dynamo_timed, of a compile id or (NONE) of the run. self: without what is nested. */
struct fact_phase {
	struct fact_src src;
	uint32_t compile, name;
	double seconds, self;
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

/* A known message (patterns.h): which, where, with what. */
struct fact_known {
	struct fact_src src;
	uint32_t compile;
	uint32_t pattern;                       /* its id, as text */
	uint32_t quote;                         /* the line */
	uint32_t title, cause, check, fix, see; /* captures filled in; fix, see: one a line */
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
	uint32_t input, what; /* a sentence */
	uint64_t count, line;
};

#define FACT_ROWS(type, name) \
	type *name; \
	uint32_t n_##name, cap_##name

struct facts {
	struct intern names;
	struct intern compile_ids; /* {input, id} -> row of compile, the same index until facts_only_function */
	struct intern known_ids;   /* {input, pattern, title} -> row of known, the same index until facts_one_run */
	FACT_ROWS(struct fact_input, input);
	FACT_ROWS(struct fact_compile, compile);
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
	FACT_ROWS(struct fact_phase, phase);
	FACT_ROWS(struct fact_graph, graph);
	FACT_ROWS(struct fact_known, known);
	FACT_ROWS(struct fact_path, path);
	FACT_ROWS(struct fact_compiler_error, compiler_error);
	FACT_ROWS(struct fact_damage, damage);
	struct buf tmp;
};

struct facts_options {
	bool keep_graphs, keep_guards;   /* their texts, for --show */
	const struct patterns *patterns; /* what is looked for in texts; NULL: nothing */
};

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
/* Only the frames of this function and of its resume functions stay: what TORCHDYNAMO_DEBUG_FUNCTION does at run time. How many. */
uint32_t facts_only_function(struct facts *f, const char *function);

static inline struct slice facts_text(const struct facts *f, uint32_t id)
{
	return id == NONE ? (struct slice){0} : intern_get(&f->names, id);
}
/* For the readers: a text as an id, empty as NONE; a place. */
uint32_t facts_intern(struct facts *f, struct slice s);
struct fact_loc facts_loc(struct facts *f, const struct srcloc *at);
static inline struct fact_loc facts_no_loc(void) { return (struct fact_loc){NONE, 0, NONE, NONE}; }
/* A new input, a new or known compile id of it. */
uint32_t facts_input(struct facts *f, enum fact_input_kind kind, const char *path);
uint32_t facts_compile(struct facts *f, uint32_t input, struct slice id, uint64_t line);
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
	X(phase, fact_phase) \
	X(graph, fact_graph) \
	X(known, fact_known) \
	X(path, fact_path) \
	X(compiler_error, fact_compiler_error)
#define X(name, type) struct type *facts_new_##name(struct facts *f, struct fact_src src);
FACT_TABLES(X)
#undef X
/* Whose phase a name of dynamo_timed is ("bytecode_tracing": Dynamo's); COMPONENT_NONE for one that is not known. */
enum component phase_component(struct slice name);
/* "torch_dynamo_resume_in_f_at_5": f and 5. */
bool facts_resume_name(struct slice co_name, struct slice *function, uint32_t *line);

#endif
