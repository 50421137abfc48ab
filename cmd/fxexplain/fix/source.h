/* source.h - a Python file of the user as statements, and edits of it.
 *
 *     struct source s;
 *     if (source_read(&s, bytes, "app/m.py", &err) < 0) ...       // why such a file is not edited
 *     uint32_t i = source_at(&s, 5);                              // the statement that contains line 5
 *     source_replace(&s, i, i, SLICE("y = x.clone()"), &err);     // keeps its indentation and a trailing comment
 *     source_text(&s, &b);                                        // the changed file
 *     source_release(&s);
 *
 * A statement is a logical line (graph/pytext.h). All changes refer to the text as it was read: identical changes count once, overlapping
 * ones are refused.
 *
 * Refused: text that is not UTF-8, has a NUL or CR, exceeds SOURCE_MAX bytes, has no statement, or has unclosed brackets or strings.
 * The caller owns the text, which must outlive the source.
 */
#ifndef FIX_SOURCE_H
#define FIX_SOURCE_H
#include "base/arena.h"
#include "graph/pytext.h"

#define SOURCE_MAX (16u << 20)

struct statement {
	struct pyline l;
	size_t from, to; /* bytes of its lines, the last newline included */
	uint32_t last;   /* its last line */
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

/* The statement that contains a line (from 1), or NONE. */
uint32_t source_at(const struct source *s, uint32_t line);
struct slice source_line(const struct source *s, uint32_t line);
/* The end of i's block: past the last of the deeper indented statements that follow it; i + 1 if it has no block. */
uint32_t source_block_end(const struct source *s, uint32_t i);
/* The innermost statement that starts with this word ("def", "class") and has i in its block; NONE. */
uint32_t source_around(const struct source *s, uint32_t i, const char *word);
/* "f" of "def f(x):", "async def f" and "class f"; empty for another statement. */
struct slice source_name(const struct statement *st);
bool source_starts(const struct statement *st, const char *word);

/* Changes: 0, or -1 and err. Lines of text are indented as statement `first` is; comments inside replaced text are moved before it. */
int source_replace(struct source *s, uint32_t first, uint32_t last, struct slice text, struct err *err);
int source_replace_part(struct source *s, struct slice part, struct slice text, struct err *err); /* part: in s->text */
/* Removes whole lines; leaves "pass" if nothing else is in the block. */
int source_delete(struct source *s, uint32_t i, struct err *err);
int source_insert_before(struct source *s, uint32_t i, struct slice text, struct err *err);
/* Inserts at the left margin, after the imports and after the definitions of the names in text. If the file already has the same line, that
 * is an error (EXIT_FINE). */
int source_insert_on_top(struct source *s, struct slice text, struct err *err);
void source_text(const struct source *s, struct buf *b);
#endif
