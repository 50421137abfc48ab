/* pytext.h - Python programs as logical lines and calls: as much of the language as the files of repro.h need.
 *
 *     struct pytext t = {.text = program};
 *     struct pyline l;
 *     while (pytext_next(&t, &l, &err) == 1)                 // "    reader.symint(6, expr='s77')  # arg0_1"
 *         if (pytext_call(l.code, &callee, &inside))         // l.indent 4, callee "reader.symint", l.comment "arg0_1"
 *             n = pytext_args(inside, arg, ARRAY_LEN(arg));  // {"", "6"}, {"expr", "'s77'"}
 *
 * A logical line ends where no bracket and no string is open and no backslash precedes the newline (Python 3's language
 * reference, 2.1); comments inside brackets are allowed. Blank lines are passed over. Tabs count as one column: torch
 * writes spaces.
 *
 * Nothing is copied: all slices point into the text. No recursion; the work is linear in the text. Failure: -1 and err
 * (EXIT_INPUT) with the line of a bracket or string that is never closed, or a bracket that was never opened; texts of a
 * bracket depth over PYTEXT_MAX_DEPTH.
 */
#ifndef PT2_GRAPH_PYTEXT_H
#define PT2_GRAPH_PYTEXT_H
#include "base/buf.h"

#define PYTEXT_MAX_DEPTH 256

struct pytext {
	struct slice text;
	const char *name; /* for messages */
	size_t at;
	uint32_t line; /* of `at`, 0 is the first */
};

struct pyline {
	struct slice whole;   /* from the first column to before the newline that ends it */
	struct slice code;    /* without indentation, and without the comment after it; "" for a line that is only a comment */
	struct slice comment; /* after "# " at its end, trimmed; "" */
	uint32_t line;        /* of its beginning, 1 is the first */
	uint32_t indent;
};

/* 1: a line; 0: the end. */
int pytext_next(struct pytext *t, struct pyline *l, struct err *err);
/* Is this line the first of a block (ends in a colon)? */
bool pytext_opens(const struct pyline *l);

/* "a.b.c(...)", nothing after the bracket. */
bool pytext_call(struct slice expr, struct slice *callee, struct slice *inside);
/* "name = expr", a dotted or subscripted name, one "=" outside of brackets and strings. */
bool pytext_assign(struct slice code, struct slice *name, struct slice *value);
/* "a.b.c" and nothing else. */
bool pytext_dotted(struct slice s);

struct pyarg {
	struct slice name, value; /* name "": positional */
};
/* Splits what stands between brackets at its commas: arguments, or the items of a tuple or list. A comma at the end is allowed. How many
 * there are (at most max are stored), or -1: an empty one, or brackets that do not fit. */
int pytext_args(struct slice inside, struct pyarg *arg, size_t max);
/* The next of them off *rest; 0 at the end, -1 as above. */
int pytext_arg(struct slice *rest, struct pyarg *arg);
/* The inside of "(...)" or "[...]" when that is all of it. */
bool pytext_inside(struct slice expr, char open, struct slice *inside);

/* 'text' or "text" (also r, u, and three quotes), its characters as UTF-8 behind b. False: it is no string literal. */
bool pytext_string(struct slice literal, struct buf *b);
/* As repr() writes a str: 'it\'s', control characters as escapes; bytes over 0x7f as they are. */
void pytext_quote(struct buf *b, struct slice s);

#endif
