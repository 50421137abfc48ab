/* patterns.h - the knowledge base: messages that people see, what they mean, and what to do.
 *
 *     struct patterns *k = patterns_load("my-patterns", &err); // the built-in share/patterns, and those of a directory
 *
 *     struct pattern_scan s;
 *     pattern_scan_init(&s, k, take, ctx);              // take(ctx, match) for each known message
 *     while (window_next(...))
 *         pattern_scan_feed(&s, window, last);
 *     pattern_scan_release(&s);
 *     patterns_free(k);
 *
 *     void take(void *ctx, const struct pattern_match *m)
 *     {
 *         pattern_expand(&buf, m->pattern->cause, m);   // replaces {name} by the text captured from the message
 *     }
 *
 * A pattern is a file ID.pattern. "key: value" at the left margin, further lines of the value indented, # for comments:
 *
 *     id: cpp-header-missing
 *     title: A C++ header is missing: {header}
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
 *   and, not  as match: must also appear, must not appear in the message's line or within PATTERN_NEAR lines of it. All of them.
 *   over      ids of patterns that say less: not reported within PATTERN_OVER lines of this one.
 *   title, cause, check, fix, hint, see
 *             the explanation. Several fix and hint lines, best first, and several see lines. A {name} in title, cause, check, fix or hint
 *             must occur in every match line or in an `and` line. `see` is an https address: documentation, an issue, the source file with
 *             its version.
 *   fix       a tested fix: a program in tests/live/fixes has it as FIX (`make lint` checks), before and after
 *   hint      advice that was not, or cannot be, tested there: packages, drivers, GPUs, directories. Printed as such. A pattern has a fix
 *             or a hint
 *   versions  the torch versions that print the message: "2.0-", "2.0-2.5". Omitted: unknown, or not from torch.
 *   example   a message as actually printed; at least one. tests/unit/run/test_patterns.c checks the pattern against all of them.
 *   no-example  a text that must not match.
 *
 * All but over, and, not, versions and no-example are required.
 *
 * One place, one answer: of patterns that match on the same line within PATTERN_WILD bytes of one another, the one that is
 * `over` the others is reported, else the one with the most text in its match and `and` lines. A pattern matches at most once per line.
 *
 * Speed: all match lines are searched for at once, by the rarest 8 bytes of each, in one pass that skips bytes that cannot be part of any
 * (as Wu and Manber do; about 0.8 GB/s on logs without a known message). Memory: quotes from the last 3 * PATTERN_NEAR lines, at most
 * PATTERN_PENDING matches, and PATTERN_REACH bytes of an incomplete line. Any bytes, lines of any length; the result does not depend on how
 * the text is cut into pieces.
 *
 * Failure: -1 and err {file and line, what is wrong, what to do}. A compiled struct patterns does not change and may be used by several
 * scans and threads. Texts of patterns live as long as it does; those of a match until the callback returns.
 */
#ifndef PT2_PATTERNS_H
#define PT2_PATTERNS_H
#include "base/buf.h"
#include "run/patterns/component.h"

#define PATTERN_NEAR 60      /* lines */
#define PATTERN_OVER 20      /* lines: roughly one message, without its neighbours */
#define PATTERN_WILD 1000    /* bytes that one wildcard may match */
#define PATTERN_REACH 8192   /* more than one match line can span */
#define PATTERN_QUOTE 400    /* bytes quoted from a line */
#define PATTERN_VALUE 200    /* bytes kept of a capture */
#define PATTERN_CAPTURES 8   /* captures of a pattern: of the match line and all `and` lines */
#define PATTERN_PENDING 1024 /* matches waiting for the lines after them */
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
	struct slice quote; /* the line, or the part around the match if it is long */
	uint32_t captures;
	struct pattern_capture capture[PATTERN_CAPTURES];
};
typedef void pattern_fn(void *ctx, const struct pattern_match *m);

struct patterns *patterns_new(void);
void patterns_free(struct patterns *k);
/* Loads the built-in patterns and those of a directory (dir may be NULL), compiled. NULL and err if one is malformed.
 * run/diagnose/patterns_builtin.c: for tools, which embed share/. */
struct patterns *patterns_load(const char *dir, struct err *err);
/* Adds *.pattern from a directory; a pattern with the same id is replaced. */
int patterns_add_dir(struct patterns *k, const char *dir, struct err *err);
/* Adds the patterns of a file's text; `name` is the file's name, for messages and for the id. */
int patterns_add_text(struct patterns *k, const char *name, struct slice text, struct err *err);
/* Call it after adding the last pattern; before that, or if one was added since, nothing is found. */
int patterns_compile(struct patterns *k, struct err *err);

FOR_TESTS uint32_t patterns_count(const struct patterns *k);
FOR_TESTS const struct pattern *patterns_get(const struct patterns *k, uint32_t i);
const struct pattern *patterns_find(const struct patterns *k, struct slice id); /* NULL: there is none */

struct pattern_scan {
	const struct patterns *patterns;
	pattern_fn *fn;
	void *ctx;
	struct pattern_seen *seen;    /* for each match, and, not line: where it was last seen */
	struct pattern_pending *ring; /* waiting matches */
	uint32_t head, n, cap, undecided;
	struct buf carry;       /* the end of the input so far: an incomplete line, and what a match may reach back to */
	size_t done;            /* bytes of carry already scanned */
	uint64_t offset;        /* of the first unscanned byte in the text */
	uint64_t line, counted; /* the line of the byte at offset `counted` */
};

void pattern_scan_init(struct pattern_scan *s, const struct patterns *k, pattern_fn *fn, void *ctx);
/* The next piece of the text; `last`: it is the last one. After that the scan restarts at line 1. Pieces that end at line ends are not
 * copied. Matches come in line order, possibly after their piece: once the lines after them are known. */
void pattern_scan_feed(struct pattern_scan *s, struct slice piece, bool last);
void pattern_scan_release(struct pattern_scan *s);

/* Append `text` (a title, cause, check, fix or hint) with {name} replaced by the match's captures. */
void pattern_expand(struct buf *b, struct slice text, const struct pattern_match *m);
/* The name if `text` begins with a {name}; else n is 0. */
struct slice pattern_placeholder(struct slice text);

#endif
