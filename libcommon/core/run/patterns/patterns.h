/* patterns.h - the knowledge base: messages that people meet, what they mean, and what to do.
 *
 *     struct patterns *k = patterns_load("my-patterns", &err); // share/patterns, part of the program, and a folder's
 *
 *     struct pattern_scan s;
 *     pattern_scan_init(&s, k, take, ctx);              // take(ctx, match) for each message that is known
 *     while (window_next(...))
 *         pattern_scan_feed(&s, window, last);
 *     pattern_scan_release(&s);
 *     patterns_free(k);
 *
 *     void take(void *ctx, const struct pattern_match *m)
 *     {
 *         pattern_expand(&buf, m->pattern->cause, m);   // {name} becomes what the message has there
 *     }
 *
 * A pattern is a file ID.pattern. "key: value" at the left margin, further lines of the value indented, # for remarks:
 *
 *     id: cpp-header-missing
 *     title: a C++ header is missing: {header}
 *     component: compiler                               (component_name of facts.h)
 *     level: error                                      (error, warning, note)
 *     match: fatal error: {header}: No such file or directory
 *     cause: The C++ compiler does not find {header}.
 *     check: echo '#include <{header}>' | g++ -xc++ -fsyntax-only -
 *     hint: apt-get install python3-dev
 *     see: https://...
 *     versions: 2.0-
 *     example:
 *         /tmp/main.cpp:2:10: fatal error: omp.h: No such file or directory
 *
 *   match     the message. {name} stands for one character or more, * for none or more, as few as can be, never beyond the line
 *             or PATTERN_WILD bytes; \{ \* \\ are the characters themselves. Begins with text, has 8 characters of text in a
 *             row somewhere. Of several match lines any will do; if several match at one place, the longest gives the values. A
 *             decimal point does not end a value ({size}. is "2.50 GiB"). A value at the end of a line leaves out a colon, a full
 *             stop, a remark "(see https://...)" and the end of an exception's repr.
 *   and, not  as match: must also stand, must not stand in the message's line or within PATTERN_NEAR lines of it. All of them.
 *   over      ids of patterns that say less: not reported within PATTERN_OVER lines of this one.
 *   title, cause, check, fix, hint, see
 *             what to tell. Several fix and hint lines, best first, and several see lines. A {name} in title, cause, check, fix or
 *             hint must be one that every match line, or an `and` line, has. `see` is an https address: documentation, an issue,
 *             the source file with its version.
 *   fix       what was tried: a program of tests/live/fixes has it as FIX (`make lint` looks for it there), before and after
 *   hint      what was not, or cannot be tried there: packages, drivers, GPUs, folders. Printed as such. A pattern has a fix or a hint
 *   versions  in which torch the message is written: "2.0-", "2.0-2.5". Left out: not known, or not torch's.
 *   example   a message as it was really printed; at least one. tests/unit/run/test_patterns.c holds the pattern against all of them.
 *   no-example  a text that must not match.
 *
 * All but over, and, not, versions and no-example must be there.
 *
 * One place, one answer: of patterns that match on the same line within PATTERN_WILD bytes of one another, the one that is
 * `over` the others is reported, else the one with the most text in its match and `and` lines. One pattern matches once a line.
 *
 * Speed: all match lines are looked for at once, by the rarest 8 bytes of each, in one pass that skips what cannot be part of
 * any (as Wu and Manber do; about 0.8 GB/s on logs that have no message). Memory: what is quoted of the last 3 * PATTERN_NEAR
 * lines, at most PATTERN_PENDING matches, and PATTERN_REACH bytes of a line that is not whole yet. Any bytes, lines of any
 * length; how the text is cut into pieces makes no difference to what is found.
 *
 * Failure: -1 and err {file and line, what is wrong, what to do}. A struct patterns that is compiled does not change and may serve
 * several scans and threads. Texts of patterns live as long as it does; those of a match until the callback returns.
 */
#ifndef PT2_PATTERNS_H
#define PT2_PATTERNS_H
#include "base/buf.h"
#include "run/patterns/component.h"

#define PATTERN_NEAR 60      /* lines */
#define PATTERN_OVER 20      /* lines: about one message, its neighbours not */
#define PATTERN_WILD 1000    /* bytes that one wildcard may stand for */
#define PATTERN_REACH 8192   /* more than one match line can span */
#define PATTERN_QUOTE 400    /* bytes of a line that are quoted */
#define PATTERN_VALUE 200    /* bytes of a capture that are kept */
#define PATTERN_CAPTURES 8   /* captures of a pattern: of the match line and all `and` lines */
#define PATTERN_PENDING 1024 /* matches that wait for the lines after them */
#define PATTERN_FILE_MAX (64 << 10)
#define PATTERN_MAX 4096

struct patterns;
struct slices {
	struct slice *item;
	uint32_t n, cap;
};

struct pattern {
	struct slice id, title, cause, check, versions;
	enum component component;
	enum finding_level level;
	struct slices fix, hint, see;
	struct slices example, counter; /* counter: no-example */
	struct slices over;             /* ids */
	struct pattern_private *own;
};

struct pattern_capture {
	struct slice name, value;
};
struct pattern_match {
	const struct pattern *pattern;
	uint64_t line;      /* of the text, from 1 */
	uint64_t offset;    /* of the match's first byte in the text, from 0 */
	struct slice quote; /* the line, or what is around the match where it is long */
	uint32_t captures;
	struct pattern_capture capture[PATTERN_CAPTURES];
};
typedef void pattern_fn(void *ctx, const struct pattern_match *m);

struct patterns *patterns_new(void);
void patterns_free(struct patterns *k);
/* Those that are part of the program and those of a folder (dir may be NULL), compiled. NULL and err where one is malformed.
 * run/diagnose/patterns_builtin.c: for tools, which have share/ in them. */
struct patterns *patterns_load(const char *dir, struct err *err);
/* *.pattern of a folder; the same id replaces. */
int patterns_add_dir(struct patterns *k, const char *dir, struct err *err);
/* Adds the patterns of a file's text; `name` is the file's name, for messages and for the id. */
int patterns_add_text(struct patterns *k, const char *name, struct slice text, struct err *err);
/* After the last pattern was added; before it, and when one was added since, nothing is found. */
int patterns_compile(struct patterns *k, struct err *err);

FOR_TESTS uint32_t patterns_count(const struct patterns *k);
FOR_TESTS const struct pattern *patterns_get(const struct patterns *k, uint32_t i);
const struct pattern *patterns_find(const struct patterns *k, struct slice id); /* NULL: there is none */

struct pattern_scan {
	const struct patterns *patterns;
	pattern_fn *fn;
	void *ctx;
	struct pattern_seen *seen;    /* of each match, and, not line: where it was seen last */
	struct pattern_pending *ring; /* matches that wait */
	uint32_t head, n, cap, undecided;
	struct buf carry;       /* the end of what was fed: a line that is not whole, and what a match may reach back to */
	size_t done;            /* bytes of carry that were looked at */
	uint64_t offset;        /* of the first byte that was not looked at, in the text */
	uint64_t line, counted; /* the line of the byte at offset `counted` */
};

void pattern_scan_init(struct pattern_scan *s, const struct patterns *k, pattern_fn *fn, void *ctx);
/* The next piece of the text; `last` says that none follows. After that the scan begins anew, with line 1. Pieces that end at line
 * ends are not copied. Matches come in the order of their lines, later than their piece: when the lines after them are known. */
void pattern_scan_feed(struct pattern_scan *s, struct slice piece, bool last);
void pattern_scan_release(struct pattern_scan *s);

/* Append `text` (a title, cause, check, fix or hint) with {name} replaced by the match's captures. */
void pattern_expand(struct buf *b, struct slice text, const struct pattern_match *m);
/* If a {name} stands at the beginning of `text`, the name; else n is 0. */
struct slice pattern_placeholder(struct slice text);

#endif
