/* pytext.h - splits Python programs into logical lines and calls: the subset of the language that the files of repro.h need.
 *
 *     struct pytext t = {.text = program};
 *     struct pyline l;
 *     while (pytext_next(&t, &l, &err) == 1)                 // "    reader.symint(6, expr='s77')  # arg0_1"
 *         if (pytext_call(l.code, &callee, &inside))         // l.indent 4, callee "reader.symint", l.comment "arg0_1"
 *             n = pytext_args(inside, arg, ARRAY_LEN(arg));  // {"", "6"}, {"expr", "'s77'"}
 *
 * A logical line ends at a newline outside brackets and strings that no backslash precedes (Python 3's language
 * reference, 2.1); comments inside brackets are allowed. Blank lines are skipped. Tabs count as one column: torch
 * writes spaces.
 *
 * Nothing is copied: all slices point into the text. No recursion; the work is linear in the text. Failure: -1 and err
 * (EXIT_INPUT) with the line of a bracket or string that is never closed, or a bracket that was never opened; or of brackets nested deeper
 * than PYTEXT_MAX_DEPTH.
 */
#ifndef PT2_GRAPH_PYTEXT_H
#define PT2_GRAPH_PYTEXT_H
#include "base/buf.h"

#define PYTEXT_MAX_DEPTH 256

struct pytext {
	struct slice text;
	const char *name; /* for messages */
	size_t at;
	uint32_t line; /* of `at`, from 0 */
};

struct pyline {
	struct slice whole;   /* from the first column to before the newline that ends it */
	struct slice code;    /* without indentation, and without the comment after it; "" for a line that is only a comment */
	struct slice comment; /* after "# " at its end, trimmed; "" */
	uint32_t line;        /* of its start, from 1 */
	uint32_t indent;
};

/* 1: a line; 0: the end. */
int pytext_next(struct pytext *t, struct pyline *l, struct err *err);
/* Is this line the first of a block (ends in a colon)? */
bool pytext_opens(const struct pyline *l);

/* "a.b.c(...)", with nothing after the bracket. */
bool pytext_call(struct slice expr, struct slice *callee, struct slice *inside);
/* "name = expr", a dotted or subscripted name, one "=" outside of brackets and strings. */
bool pytext_assign(struct slice code, struct slice *name, struct slice *value);
/* "a.b.c" and nothing else. */
bool pytext_dotted(struct slice s);

struct pyarg {
	struct slice name, value; /* name "": positional */
};
/* Splits the text between brackets at its commas: arguments, or the items of a tuple or list. A trailing comma is allowed. Returns how many
 * there are (at most max are stored), or -1 for an empty item or mismatched brackets. */
int pytext_args(struct slice inside, struct pyarg *arg, size_t max);
/* Cuts the next one off *rest; 0 at the end, -1 as above. */
int pytext_arg(struct slice *rest, struct pyarg *arg);
/* The inside of "(...)" or "[...]", if that is the whole expression. */
bool pytext_inside(struct slice expr, char open, struct slice *inside);

/* 'text' or "text" (also r, u, and three quotes), its characters appended to b as UTF-8. False: not a string literal. */
bool pytext_string(struct slice literal, struct buf *b);
/* Like repr() of a str: 'it\'s', control characters as escapes; bytes over 0x7f unchanged. */
void pytext_quote(struct buf *b, struct slice s);

#endif
