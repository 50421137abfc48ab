/* source.h - a Python file of the user's as statements, and changes of it.
 *
 *     struct source s;
 *     if (source_read(&s, bytes, "app/m.py", &err) < 0) ...       // why nothing is changed in such a file
 *     uint32_t i = source_at(&s, 5);                              // the statement that line 5 is part of
 *     source_replace(&s, i, i, SLICE("y = x.clone()"), &err);     // its indentation, and a comment behind it, stay
 *     source_text(&s, &b);                                        // the file as it is then
 *     source_release(&s);
 *
 * A statement is a logical line (graph/pytext.h). All changes are noted against the text as it was read: the same one again is one, two
 * that are about the same bytes are refused.
 *
 * Refused: what is not UTF-8, has a NUL or CR, is over SOURCE_MAX bytes, has no statement, or brackets and strings that do not close.
 * The text belongs to the caller and lives as long.
 */
#ifndef FIX_SOURCE_H
#define FIX_SOURCE_H
#include "base/arena.h"
#include "graph/pytext.h"

#define SOURCE_MAX (16u << 20)

struct statement {
	struct pyline l;
	size_t from, to; /* bytes of its lines, the last newline included */
	uint32_t last;   /* line that it ends in */
};
struct change {
	size_t from, to;
	struct slice text;
};
struct source {
	struct slice text;
	struct statement *v;
	uint32_t n, cap;
	struct change *change; /* in the order of their places */
	uint32_t n_change, cap_change;
	struct arena arena;
};
int source_read(struct source *s, struct slice text, const char *name, struct err *err);
void source_release(struct source *s);

/* The statement that a line (from 1) is part of; NONE. */
uint32_t source_at(const struct source *s, uint32_t line);
struct slice source_line(const struct source *s, uint32_t line);
/* Behind the last statement that is indented deeper than i, directly after it: i + 1 where it has no block. */
uint32_t source_block_end(const struct source *s, uint32_t i);
/* The innermost statement that begins with this word ("def", "class") and has i in its block; NONE. */
uint32_t source_around(const struct source *s, uint32_t i, const char *word);
/* "f" of "def f(x):", "async def f" and "class f"; empty for another statement. */
struct slice source_name(const struct statement *st);
bool source_starts(const struct statement *st, const char *word);

/* Changes: 0, or -1 and err. Lines of text are indented as statement `first` is; comments inside of what is replaced stand before it. */
int source_replace(struct source *s, uint32_t first, uint32_t last, struct slice text, struct err *err);
int source_replace_part(struct source *s, struct slice part, struct slice text, struct err *err); /* part: in s->text */
/* Whole lines; "pass" where nothing else is in its block. */
int source_delete(struct source *s, uint32_t i, struct err *err);
int source_insert_before(struct source *s, uint32_t i, struct slice text, struct err *err);
/* At the left margin, behind the imports and behind what defines the names in text. The same text in a line of the file is an error
 * (EXIT_FINE). */
int source_insert_on_top(struct source *s, struct slice text, struct err *err);
void source_text(const struct source *s, struct buf *b);
#endif
