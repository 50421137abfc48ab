/* screen.h - text for people on standard output: tables that fit the width, colour where there is any (color.h). For tools.
 *
 *     struct screen s = screen_make();
 *     put_bold(&s, "Inputs"); buf_addc(&s.b, '\n');
 *     put_table(&s, SLICE("#\tname\tsizes\n0\tx\t[3, 8]\n"));
 *     screen_end(&s);
 */
#ifndef PT2_SCREEN_H
#define PT2_SCREEN_H
#include "base/tool/diag.h"
#include "base/buf.h"
#include "base/tool/color.h"

struct screen {
	struct buf b;
	int width;  /* columns; 0: no terminal, nothing is wrapped */
	int height; /* rows; 0: no terminal */
	bool color; /* color_on() of standard output */
	bool utf8;  /* a terminal that shows more than ASCII */
	bool whole; /* a document in pieces: who writes it asks screen_full(), and nothing is cut here */
};
struct screen screen_make(void);
/* Writes and empties it: the only way for text to reach a terminal or a file (messages: diag.h). It goes through clean_lines(), so that
 * no text from a file drives the terminal even if put_text() was forgotten. Colours of put_bold() and the like are kept; in JSON there is
 * nothing to clean (json_escape()). `what` as for write_all(). Text beyond --max-text (shown_take()) is cut after a line, with a line that
 * says so; a JSON document after an element of a list, and its last member is then "cut": true. */
int screen_write(struct screen *s, int fd, const char *what, struct err *err);
/* What becomes of a document before it is written (base/emit/format.h); false: it is not whole yet, and nothing is written. */
extern bool (*screen_convert)(struct buf *b);
/* The same to standard output; -1 with an empty text: the reader closed the pipe. */
int screen_flush(struct screen *s, struct err *err);
/* The last of it: what is left goes out, the tool ends where it cannot (EXIT_ENVIRON), the buffer is released. */
void screen_end(struct screen *s);
/* The same into a file that appears when it is whole (base/tool/output.h). */
int screen_save(struct screen *s, const char *path, struct err *err);
/* Does it hold more than may still be shown? */
bool screen_full(const struct screen *s);
#define OPT_MAX_TEXT \
	OPT_SIZE(0, "max-text", "SIZE", &shown_most, 1, UINT64_MAX, "limit the text shown from a model (default: 16M)", .rare = true)
void put_style(struct screen *s, enum style style, const char *text);
/* Text out of a file: as put_text(). */
void put_style_text(struct screen *s, enum style style, struct slice text);
void put_bold(struct screen *s, const char *text); /* STYLE_STRONG */
void put_error(struct screen *s, const char *text);
void put_dim(struct screen *s, const char *text); /* STYLE_FAINT */
/* A bold line, and a blank one before it. */
void put_heading(struct screen *s, const char *text);
/* Text out of a file: control bytes become '?', so that they do not drive the terminal. */
void put_text(struct screen *s, struct slice text);
/* The same as a line, behind words of our own. */
void put_text_line(struct screen *s, const char *before, struct slice text);
/* A bar for part (0 to 1) of `columns`, padded with blanks. In eighths of a column, or '#' if the terminal cannot. */
void put_bar(struct screen *s, double part, int columns);
/* A table: cells between tabs, rows between newlines; the first row is the heading. Columns are as wide as needed; if
 * that does not fit the terminal, the widest are wrapped. Control bytes become '?'. At most 12 columns. */
void put_table(struct screen *s, struct slice cells);
/* Lines of b from here on that are wider than the terminal are broken at blanks and continue indented by this many columns. A line
 * that ends within b ends in a newline. */
void put_wraps(struct screen *s, size_t from, int indent);

#endif
