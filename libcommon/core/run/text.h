/* text.h - parses the human-readable texts in traces: graph breaks and recompile reasons.
 *
 * Formats (torch 2.13.0: torch/_dynamo/exc.py format_graph_break_message, torch/_dynamo/symbolic_convert.py,
 * torch/_dynamo/guards.py get_guard_fail_reason). All slices point into the given text.
 */
#ifndef PT2_TRACE_TEXT_H
#define PT2_TRACE_TEXT_H
#include "base/srcloc.h"

/* A dynamo_graph_break_reason artifact, or one of compilation_metrics' restart_reasons (which starts at the reason):
 *
 *     Graph break in user code at app/m.py:5
 *     Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):
 *
 *     Call to `torch._dynamo.graph_break()`
 *       Explanation: User-inserted graph break. Message: None
 *       Hint: Remove the `torch._dynamo.graph_break()` call.
 *
 *       Developer debug context: Called `torch._dynamo.graph_break()` with args `[]`, kwargs `{}`
 *
 *      For more details about this graph break, please visit: https://.../gb/gb0025.html
 *
 *     User code traceback:
 *       File "app/m.py", line 5, in f
 *         torch._dynamo.graph_break()
 */
struct break_text {
	struct srcloc at; /* the user's line; file.n == 0: unknown */
	struct slice reason, explanation, context, url;
	struct slice stack; /* below "User code traceback:" */
	struct slice hint[16];
	unsigned hints;
	int gb; /* 25 of gb0025.html; -1 */
};
void break_text_parse(struct slice text, struct break_text *out);
/* The innermost frames of a traceback as the model keeps them: outermost first, one per line: "FILE:LINE in f: code". */
enum { BREAK_FRAMES = 32, FAILURE_FRAMES = 16 };
void traceback_frames(struct slice traceback, uint32_t most, struct buf *out);
/* Is a restart reason a graph break, rather than another cause (a tensor's size became dynamic, ...)? */
bool break_text_is_break(const struct break_text *b);

/* One recompile reason: "0/1: n == 2    # y = x * n  # app/m.py:21 in step (HINT: type int)\nUser stack trace:\n  File ..." */
struct recompile_text {
	struct slice rejected_by; /* "0/1": the compiled code whose guard failed */
	struct slice guard;       /* "n == 2" */
	struct slice old, new;    /* n == 0: not in the text */
	struct srcloc at;
};
void recompile_text_parse(struct slice text, struct recompile_text *out);

/* "step (app.py:12)": a function, with its file and line if known. */
void put_function(struct buf *b, struct slice file, int64_t line, struct slice function);

/* What glibc's malloc prints when it finds its own data damaged (glibc 2.19 to 2.41: malloc/malloc.c, malloc_printerr and its assertions),
 * without the program's name before it: "free(): invalid next size (normal)"; empty: another line. */
struct slice text_heap_message(struct slice line);

/* A hash of a graph's text for comparing ranks, with cuda:3 and index=3 as cuda:* and index=*, since every rank has its own device. Never
 * 0. */
uint64_t graph_fingerprint(struct slice text, struct buf *tmp);

#endif
