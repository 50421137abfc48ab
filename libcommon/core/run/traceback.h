/* traceback.h - extracts one Python traceback from a text, with everything printed about its exception.
 *
 *     struct traceback tb;
 *     size_t used = traceback_parse(text, TRACEBACK_ALL, &tb);
 *     if (used)
 *         ... tb.type "torch._dynamo.exc.Unsupported", tb.message (whole), tb.user (innermost frame of the user's code)
 *     // tb.next says how the next traceback (at text + used) relates to this one; parse it the same way
 *
 * The forms (traceback.py of CPython 3.8 to 3.14; torch 2.13.0: torch/_dynamo/exc.py augment_exc_message):
 *
 *     Traceback (most recent call last):              also "Exception Group Traceback ..." behind "  + "
 *       File "app/m.py", line 5, in f
 *         y = g(x)
 *             ^^^^                                    3.11 and newer; also ~~~^^^
 *       [Previous line repeated 12 more times]
 *     torch._dynamo.exc.Unsupported: Call to ...      the type, and the first line of the message
 *       Explanation: ...                              the rest of the message, blank lines included; notes end it
 *
 *     from user code:                                 added to the message by torch: the user's frames
 *        File "app/m.py", line 104, in asked
 *     Exception raised from meta at /x.cpp:204 (most recent call first):       the C++ stack (TORCH_SHOW_CPP_STACKTRACES=1)
 *     frame #0: c10::Error::Error(...) + 0x6c (0x7f.. in libc10.so)            #4 name from file, since about 2.3
 *
 *     The above exception was the direct cause of the following exception:     raise ... from: TRACEBACK_CAUSE
 *     During handling of the above exception, another exception occurred:      TRACEBACK_CONTEXT
 *
 * Nothing marks the end of a Python message. Inside a log record it ends with the record (TRACEBACK_ALL). In a bare text
 * (TRACEBACK_BARE) it ends before a blank line that is not followed by something known to belong to it (an indented
 * line, torch's own additions, a chain line), before another traceback, and before a line that starts like a log's.
 *
 * All slices point into the text; nothing is allocated. In exception groups the bars are at the start of each line of
 * the message. Any bytes; the work is linear. The only failure is "no traceback at the start of the text" (0).
 */
#ifndef PT2_TRACEBACK_H
#define PT2_TRACEBACK_H
#include "base/srcloc.h"

enum traceback_end { TRACEBACK_ALL, TRACEBACK_BARE };
enum traceback_next { TRACEBACK_LAST, TRACEBACK_CAUSE, TRACEBACK_CONTEXT, TRACEBACK_MEMBER };

struct traceback {
	struct slice whole;               /* from its first line to the end of the message */
	struct slice type;                /* "KeyError", "torch._dynamo.exc.Unsupported"; empty: the text ends before it */
	struct slice message;             /* after "type: ", complete; may be empty */
	struct srcloc user, torch, inner; /* innermost frame of the user's code, of torch, of all; line 0: none */
	struct srcloc from_user; /* innermost frame below "from user code:"; without it, below "Original traceback:", "The following call
					   * raised this error", "User Stack", or of "Caused by: (app/m.py:12 in f)" */
	struct slice cpp;        /* from "Exception raised from" on; empty: none */
	struct srcloc cpp_at;    /* the C++ file and line it names */
	uint32_t frames;
	uint32_t depth;           /* bars before it: of an exception group's member */
	bool group;               /* an exception group: members follow */
	bool ended;               /* followed by something that cannot belong to it: more text would change nothing */
	enum traceback_next next; /* how the next traceback relates to this one */
};

/* Its length, including the chain line and blank lines after it; 0: no traceback starts on the text's first line. */
size_t traceback_parse(struct slice text, enum traceback_end end, struct traceback *out);
/* The same for a traceback whose first lines were cut: the text starts with a frame or with the exception's own line. 0 also if that
 * line is missing. */
size_t traceback_parse_cut(struct slice text, enum traceback_end end, struct traceback *out);
/* The first traceback in the text, wherever it starts; false: none. For payloads of dynamo_error and the like, whose last traceback (chains
 * are followed) is the one the program saw. */
bool traceback_last(struct slice text, struct traceback *out);
/* The user's line that a message alone names ("from user code", "User Stack", "Caused by: ..."); false: none. */
bool traceback_user(struct slice message, struct srcloc *out);
/* Its frames without the exception message, which may quote other frames. */
static inline struct slice traceback_head(const struct traceback *tb)
{
	return slice_of(tb->whole.p, tb->type.n && tb->type.p > tb->whole.p ? (size_t)(tb->type.p - tb->whole.p) : tb->whole.n);
}

#endif
