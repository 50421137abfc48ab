/* torchlog.h - text logs: what PyTorch and Python say in words, read and understood.
 *
 * Any text is read: TORCH_LOGS output on stderr, debug.log of torch_compile_debug/run_X/torchdynamo, a program's output,
 * messages pasted in; plain or .gz, a file or a pipe. One pass; memory is bounded whatever the text: rows of a table are
 * capped at TEXTLOG_ROWS_MAX (what is left out is counted), a text at TEXTLOG_TEXT_MAX bytes, a line at
 * TEXTLOG_LINE_MAX.
 *
 *     struct textlog t;
 *     textlog_init(&t);
 *     if (textlog_read(&t, "stderr.txt", &err) < 0)      // or textlog_feed in pieces of any size, then textlog_finish
 *         die_err(&err);
 *     for (uint32_t i = 0; i < t.brk.n; i++)
 *         ... textlog_text(&t, t.brk.row[i].reason), t.brk.row[i].at.line (of the log), .loc (of the program)
 *     textlog_release(&t);
 *
 * Lines. A launcher's label before a line is taken off: "[rank0]: ", "[default0]:", "0: " (srun -l), "name-1  | " (compose),
 * "(RayWorker pid=12) ", "2024-01-01T12:34:56.123Z " (docker), "Nov 21 12:34:56 host prog[1]: " (journal). Texts of
 * different labels are put together each for itself, so that two ranks may write by turns. Colours (ESC [ ... m) and a
 * carriage return at a line's end are dropped; NULs and bytes that are no UTF-8 stay as they are.
 *
 * Log records, by the prefix that each of their lines (2.2 and newer) or the first one (older) has:
 *     V1121 07:59:23.043000 1234 torch/_dynamo/x.py:915] [0/0_1] [__graph_breaks] text      2.3 to 2.13
 *     [2023-11-06 14:54:08,549] [0/0] torch._dynamo.guards.__recompiles: [DEBUG] text       2.0 to 2.2; [0/0] from 2.1
 *     torch._inductor.debug: [WARNING] text                                                 2.0, without times
 *     WARNING:torch._dynamo.convert_frame:text                                              logging.basicConfig
 *     ERROR 06-18 08:08:25 [multiproc_executor.py:522] text                                 vLLM
 * Forms of 2.13 are from its source and recorded logs (tests/data/logs); the older ones were only seen in print: in
 * PyTorch's guides, release documents and issues.
 *
 * What is read from where (torch 2.13.0 unless said otherwise):
 *     phases     "Step 1: torchdynamo start tracing f F:L"     torch/_dynamo/symbolic_convert.py, output_graph.py,
 *                torch/_inductor/compile_fx.py. Steps are numbered by module (1 Dynamo, 2 backend, 3 Inductor), in the
 *                order of first use; the words count. A frame that breaks is begun again (0/0_1) and its first attempt
 *                never done; so is every frame whose tracing ends in a break: see textlog_open_phase
 *     breaks     torch/_dynamo/symbolic_convert.py log_graph_break, convert_frame.py; ExplainOutput of
 *                torch/_dynamo/backends/debugging.py; 2.0 to 2.6 as printed in their documents
 *     recompiles, limits                                       torch/_dynamo/guards.py, convert_frame.py
 *     symbols, guards, violations                              torch/fx/experimental/symbolic_shapes.py
 *     times, counters                                          torch/_dynamo/utils.py; AUTOTUNE: _inductor/select_algorithm.py
 *     tracebacks                                               traceback.h
 *     compiler errors                                          torch/_inductor/exc.py CppCompileError
 *
 * Ownership: all is the textlog's until textlog_release. Texts are indices into t.names; NONE: not known. Rows
 * stand in the order in which they end in the log (with one label: the order of their lines).
 * Errors: textlog_read fails only when the input cannot be opened; t.lost says why it ended early.
 */
#ifndef PT2_TORCHLOG_H
#define PT2_TORCHLOG_H
#include "trace/trace.h"

enum {
	TEXTLOG_ROWS_MAX = 1 << 16,
	TEXTLOG_TEXT_MAX = 1 << 16,
	TEXTLOG_LINE_MAX = 1 << 16,
	TEXTLOG_NAMES_MAX = 64 << 20, /* bytes of all texts; then new texts are NONE (t.texts_left counts) */
};

/* Where in the log, and whose. */
struct textlog_at {
	uint64_t line;    /* from 1 */
	uint32_t compile; /* "0/0_1", as the log has it; NONE */
	int32_t rank;     /* -1: not said */
	uint32_t pid;     /* 0: not said */
};

/* Warnings, errors and worse; their first line. Lower ones are counted only (t.level). */
struct textlog_record {
	struct textlog_at at;
	char level;                /* V I W E C */
	uint32_t source, artifact; /* "torch/_dynamo/guards.py:5396" or "torch._dynamo.guards"; "graph_breaks" */
	uint32_t text;
};

enum textlog_component { TEXTLOG_DYNAMO, TEXTLOG_BACKEND, TEXTLOG_INDUCTOR };
enum textlog_step { STEP_BEGIN, STEP_END, STEP_SKIP, STEP_FAIL };
struct textlog_phase {
	struct textlog_at at;
	enum textlog_component component;
	enum textlog_step step; /* STEP_FAIL: WON'T CONVERT; STEP_SKIP: not compiled, name is the function */
	uint32_t name;          /* of the function, the backend, "FORWARDS graph 0" */
	struct trace_loc loc;
	uint32_t reason; /* STEP_SKIP: why */
};

struct textlog_traceback {
	struct textlog_at at;
	uint32_t type, message, stack;            /* stack: the whole text, as it stands */
	struct trace_loc user, torch, inner, cpp; /* user: below "from user code:" where that is, else in the stack */
	uint32_t frames;
	uint32_t cause;             /* the row of the exception before it in its chain, NONE */
	bool direct;                /* "the direct cause"; else "during handling" */
	bool last;                  /* nothing comes after it in its chain: what the program saw */
	bool group, member, logged; /* logged: in a log record, so it may have been caught */
	uint32_t parent;            /* member: the row of its group, NONE */
};

enum textlog_break_kind {
	TEXTLOG_BREAK_CALL,        /* a call that is not supported */
	TEXTLOG_BREAK_JUMP,        /* a branch on data */
	TEXTLOG_BREAK_GRAPH_BREAK, /* asked for */
	TEXTLOG_BREAK_STORE,
	TEXTLOG_BREAK_SKIP, /* the whole frame stays in eager */
	TEXTLOG_BREAK_OTHER,
};
enum textlog_said { SAID_LOG = 1, SAID_EXPLAIN = 2, SAID_ERROR = 4 /* an exception: fullgraph */, SAID_COMPILING = 8 };
struct textlog_break {
	struct textlog_at at;
	struct trace_loc loc;
	uint32_t reason, explanation, hints, context, url; /* hints: one a line */
	int32_t gb;                                        /* 25 of gb0025.html, -1 */
	enum textlog_break_kind kind;
	unsigned said;    /* enum textlog_said, or-ed: all that said it, in one row */
	bool again;       /* "user stack suppressed due to duplicate": the place broke before, in another frame */
	uint32_t explain; /* the row of textlog.explain it is listed in, NONE */
};
struct textlog_explain { /* -1: not said */
	struct textlog_at at;
	int64_t graphs, breaks, ops; /* its own counts: it calls graphs - 1 the number of breaks */
	uint32_t listed;             /* breaks in its list */
};

struct textlog_recompile {
	struct textlog_at at;
	uint32_t function;
	struct trace_loc loc;                       /* of the function */
	uint32_t rejected_by, guard, old, new, all; /* of the first reason; all: every reason, one a line */
	struct trace_loc guard_loc;
	uint32_t reasons;
};
struct textlog_limit {
	struct textlog_at at;
	uint32_t config; /* "cache_size_limit", "recompile_limit", "accumulated_cache_size_limit", ... */
	int64_t limit;   /* -1 */
	uint32_t function, reason;
	struct trace_loc loc;
};

struct textlog_symbol {
	struct textlog_at at;
	uint32_t symbol, value, source, range;
	struct trace_loc loc;
	bool unbacked;
};
enum textlog_guard_kind { GUARD_EVAL, GUARD_RUNTIME_ASSERT, GUARD_RANGE, GUARD_REPLACEMENT, GUARD_SPECIALIZED };
struct textlog_guard {
	struct textlog_at at;
	enum textlog_guard_kind kind;
	uint32_t expr;          /* "s77 > 4" */
	uint32_t symbol, value; /* GUARD_RANGE: s77, "VR[5, int_oo]"; GUARD_REPLACEMENT: s77, 6; GUARD_SPECIALIZED: source, 6 */
	uint32_t reason;        /* "range_refined_to_singleton" */
	struct trace_loc loc;
};
struct textlog_violation { /* one line of a "Constraints violated (batch)!" */
	struct textlog_at at;
	uint32_t dims;        /* "batch, other" */
	uint32_t dim, source; /* batch, L['x'].size()[0]; NONE */
	uint32_t what;        /* the line */
	uint32_t fixes;       /* "other = batch", one a line: of the whole block */
	bool specialized;     /* "Specializations unexpectedly required", or a constant was found */
};

enum textlog_time_kind { TIME_COMPILE, TIME_COUNTER, TIME_AUTOTUNE, TIME_CODEGEN };
struct textlog_time {
	struct textlog_at at;
	enum textlog_time_kind kind;
	uint32_t group; /* TIME_COUNTER: "frames"; TIME_AUTOTUNE: "mm(32x64, 64x96)" */
	uint32_t name;  /* "compile_fx_inner"; "ok"; the choice */
	double seconds; /* total; TIME_AUTOTUNE: of one call; < 0: failed. TIME_COUNTER: the count */
	uint64_t calls; /* compilations */
	bool best;      /* TIME_AUTOTUNE: the fastest */
};

enum textlog_cache_kind { TEXTLOG_CACHE_HIT, TEXTLOG_CACHE_MISS, TEXTLOG_CACHE_BYPASS };
struct textlog_cache {
	struct textlog_at at;
	enum textlog_cache_kind kind;
	uint32_t cache;  /* "FX graph", "AOTAutograd" */
	uint32_t reason; /* the bypass reason or the key */
};
struct textlog_skip { /* cudagraphs */
	struct textlog_at at;
	uint32_t reason;
	struct trace_loc loc;
};
enum textlog_path_kind { PATH_DEBUG_TRACE, PATH_OUTPUT_CODE, PATH_REPRO, PATH_CHECKPOINT, PATH_TRACE_LOG, PATH_OTHER };
struct textlog_path {
	struct textlog_at at;
	enum textlog_path_kind kind;
	uint32_t path, name; /* name: "model__0_forward_1" of a debug trace */
};

struct textlog_compiler { /* an error line of the C++ (or Triton, CUDA) compiler */
	struct textlog_at at;
	struct trace_loc loc;
	uint32_t col, severity, message;
	uint32_t quoted;          /* the source line that it quotes below */
	uint32_t command, source; /* of the CppCompileError around it; source: its .cpp */
};
struct textlog_signal {
	struct textlog_at at;
	uint32_t name; /* "Segmentation fault" */
	int number;    /* SIGSEGV; 0: not known */
	bool core_dumped, faulthandler;
	struct trace_loc inner, user;
	uint32_t frames; /* faulthandler: the innermost 16, outermost first, one a line: "x.py:5 in f" */
};
struct textlog_version {
	struct textlog_at at;
	uint32_t what, version; /* "torch", "python", "cuda", "os", "gcc", "clang", "triton", "torch git", ... */
};

#define TEXTLOG_TABLES(X) \
	X(record, record) \
	X(phase, phase) \
	X(traceback, traceback) \
	X(brk, break) \
	X(explain, explain) \
	X(recompile, recompile) \
	X(limit, limit) \
	X(symbol, symbol) \
	X(guard, guard) \
	X(violation, violation) \
	X(time, time) \
	X(cache, cache) \
	X(skip, skip) \
	X(path, path) \
	X(compiler, compiler) \
	X(signal, signal) \
	X(version, version)

struct textlog_reader;
struct textlog {
	struct intern names;
	/* t.brk.row[0 .. t.brk.n); t.brk.left: rows that did not fit */
#define X(name, type) \
	struct { \
		struct textlog_##type *row; \
		uint32_t n, cap; \
		uint64_t left; \
	} name;
	TEXTLOG_TABLES(X)
#undef X
	uint64_t lines, bytes;
	uint64_t records;     /* log records of all levels, by the prefixes above */
	uint64_t level[5];    /* of these: V I W E C */
	uint64_t long_lines;  /* lines that were cut */
	uint64_t long_blocks; /* records and messages that were cut */
	uint64_t texts_left, texts_cut;
	const char *lost; /* the input broke off: why; NULL */
	struct textlog_reader *reader;
};

void textlog_init(struct textlog *t);
void textlog_feed(struct textlog *t, const char *data, size_t n);
void textlog_finish(struct textlog *t);
int textlog_read(struct textlog *t, const char *path, struct err *err);
void textlog_release(struct textlog *t);
static inline struct slice textlog_text(const struct textlog *t, uint32_t i) { return intern_get(&t->names, i); }
/* Nothing at all was understood: no row in any table. */
bool textlog_is_empty(const struct textlog *t);
/* The most recent step that began and whose end is not logged: row of t.phase, or NONE. A tracing that is begun anew
 * (after a break) or followed by another frame's is over, and so is one whose graph was compiled, or that came to a break
 * which the log tells of. pid 0: of any process. */
uint32_t textlog_open_phase(const struct textlog *t, uint32_t pid);

#endif
