/* textlog.h - reads text logs: the human-readable output of PyTorch and Python.
 *
 * It reads any text: TORCH_LOGS output on stderr, debug.log of torch_compile_debug/run_X/torchdynamo, a program's output,
 * messages pasted in; plain or compressed, a file or a pipe. One pass; memory is bounded whatever the text: rows of a table are
 * capped at TEXTLOG_ROWS_MAX (the rest is counted), a text at TEXTLOG_TEXT_MAX bytes, a line at
 * TEXTLOG_LINE_MAX.
 *
 *     struct textlog t;
 *     textlog_init(&t, &facts, facts_input(&facts, FACT_TEXTLOG, path));
 *     textlog_feed(&t, data, n);                         // in pieces of any size
 *     textlog_finish(&t);                                // facts that need the whole text: facts_text.c
 *     textlog_release(&t);
 *
 * The results are rows of the model (run/facts.h) for this input; facts_add_textlog does all of that for a file.
 *
 * Lines. A launcher's label before a line is removed: "[rank0]: ", "[default0]:", "0: " (srun -l), "name-1  | " (compose),
 * "(RayWorker pid=12) ", "2024-01-01T12:34:56.123Z " (docker), "Nov 21 12:34:56 host prog[1]: " (journal). Texts with different labels are
 * assembled separately, so that two ranks may alternate. Colours (ESC [ ... m) and a carriage return at a line's end are dropped; NULs and
 * invalid UTF-8 are kept.
 *
 * Log records, recognized by a prefix on each of their lines (2.2 and newer) or on the first one (older):
 *     V1121 07:59:23.043000 1234 torch/_dynamo/x.py:915] [0/0_1] [__graph_breaks] text      2.3 to 2.13
 *     [2023-11-06 14:54:08,549] [0/0] torch._dynamo.guards.__recompiles: [DEBUG] text       2.0 to 2.2; [0/0] from 2.1
 *     torch._inductor.debug: [WARNING] text                                                 2.0, without times
 *     WARNING:torch._dynamo.convert_frame:text                                              logging.basicConfig
 *     ERROR 06-18 08:08:25 [multiproc_executor.py:522] text                                 vLLM
 * The forms of 2.13 are from its source and recorded logs (tests/data/logs); the older ones are only from PyTorch's guides, release
 * documents and issues.
 *
 * Sources of what is read (torch 2.13.0 unless noted):
 *     phases     "Step 1: torchdynamo start tracing f F:L"     torch/_dynamo/symbolic_convert.py, output_graph.py,
 *                torch/_inductor/compile_fx.py. Steps are numbered by module (1 Dynamo, 2 backend, 3 Inductor), in the order of first use;
 *                the words count. A frame that breaks is restarted (0/0_1) and its first attempt never finishes; likewise every frame whose
 *                tracing ends in a break: see textlog_open_phase
 *     breaks     torch/_dynamo/symbolic_convert.py log_graph_break, convert_frame.py; ExplainOutput of
 *                torch/_dynamo/backends/debugging.py; 2.0 to 2.6 as printed in their documents
 *     recompiles, limits                                       torch/_dynamo/guards.py, convert_frame.py
 *     symbols, guards, violations                              torch/fx/experimental/symbolic_shapes.py
 *     times                                                    torch/_dynamo/utils.py compile_times
 *     tracebacks                                               traceback.h
 *     compiler errors                                          torch/_inductor/exc.py CppCompileError
 *
 * Rows are in the order in which they end in the log (with one label: the order of their lines).
 */
#ifndef PT2_TORCHLOG_H
#define PT2_TORCHLOG_H
#include "run/facts.h"
#include "run/generation.h"

enum {
	TEXTLOG_ROWS_MAX = 1 << 16,
	TEXTLOG_TEXT_MAX = 1 << 16,
	TEXTLOG_LINE_MAX = 1 << 16,
	TEXTLOG_NAMES_MAX = 64 << 20, /* bytes of all texts; beyond that, new texts are NONE (counted in t.texts_left) */
};

enum textlog_component { TEXTLOG_DYNAMO, TEXTLOG_BACKEND, TEXTLOG_INDUCTOR };
enum textlog_step { STEP_BEGIN, STEP_END, STEP_FAIL /* WON'T CONVERT */ };
struct textlog_phase {
	uint64_t line;
	uint32_t pid, compile; /* pid 0: unknown; compile: row of facts.compile, or NONE */
	enum textlog_component component;
	enum textlog_step step;
	uint32_t name; /* of the function, the backend, "FORWARDS graph 0" */
};

/* The sources that report a break, or-ed in one row. */
enum textlog_said { SAID_LOG = 1, SAID_EXPLAIN = 2, SAID_ERROR = 4 /* an exception: fullgraph */, SAID_COMPILING = 8, SAID_WARNING = 16 };
struct textlog_break { /* for the row of facts.brk with the same index, minus from.brk */
	unsigned said;
	int32_t rank;
};

/* {rank, pid} of a compile id; run/textlog/identity.c */
struct textlog_process {
	struct generation generation;
	uint32_t awaited; /* the id of a recompilation whose tracing comes next; or NONE */
};

/* A stack that py-spy printed: its lines, and the user's innermost one. */
struct textlog_stack {
	uint64_t from, to;
	struct fact_loc loc;
};
enum { TEXTLOG_STACKS = 256 };

struct textlog_reader;
struct textlog {
	struct facts *f;
	uint32_t input;
	struct fact_rows from; /* rows already in f before this text */
	ROWS(struct textlog_phase, phase);
	ROWS(struct textlog_break, said);
	ROWS(struct textlog_stack, stack); /* at most TEXTLOG_STACKS */
	struct intern processes;           /* the same index as process */
	ROWS(struct textlog_process, process);
	struct generations generations;
	struct intern times;             /* names of facts.phase, the same index, minus from.phase */
	uint32_t last_failure, last_end; /* of facts.failure: the last uncaught exception, the last signal; or NONE */
	int fault;                       /* the signal reported by faulthandler: the shell reports it, too */
	uint32_t fault_row;              /* of facts.failure: a death that native.c read, which others report, too; or NONE */
	bool killed;
	int64_t rank;        /* of all lines with a rank: -2 none yet, -1 several or unknown */
	size_t names_before; /* bytes */
	uint64_t lines, bytes;
	uint64_t records;     /* log records of all levels, by the prefixes above */
	uint64_t long_lines;  /* lines that were cut */
	uint64_t long_blocks; /* records and messages that were cut */
	uint64_t texts_left, texts_cut, rows_left;
	uint64_t cut, cut_line; /* tracebacks without their exception, the first */
	const char *lost;       /* why the input broke off; or NULL */
	struct textlog_reader *reader;
};

/* A text as one more input of f. */
int facts_add_textlog(struct facts *f, const char *path, const struct facts_options *o, struct err *err);

FOR_TESTS void textlog_init(struct textlog *t, struct facts *f, uint32_t input);
FOR_TESTS void textlog_feed(struct textlog *t, const char *data, size_t n);
FOR_TESTS void textlog_finish(struct textlog *t);
FOR_TESTS void textlog_release(struct textlog *t);
/* The most recent step that started and whose end is not logged: row of t.phase, or NONE. A tracing that is restarted (after a break) or
 * followed by another frame's is over, as is one whose graph was compiled, or that reached a break in the log. */
uint32_t textlog_open_phase(const struct textlog *t);

#endif
