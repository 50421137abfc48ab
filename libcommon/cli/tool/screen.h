/* screen.h - text for people on standard output: tables that fit the width, colour on a terminal only. For tools.
 *
 *     struct screen s = screen_make();
 *     put_bold(&s, "Inputs"); buf_addc(&s.b, '\n');
 *     put_table(&s, SLICE("#\tname\tsizes\n0\tx\t[3, 8]\n"));
 *     screen_end(&s);
 */
#ifndef PT2_SCREEN_H
#define PT2_SCREEN_H
#include "tool/diag.h"
#include "base/buf.h"

struct screen {
	struct buf b;
	int width;  /* columns; 0: no terminal, nothing is wrapped */
	int height; /* rows; 0: no terminal */
	bool color; /* NO_COLOR and TERM=dumb turn it off */
	bool utf8;  /* a terminal that shows more than ASCII */
	bool whole; /* a document in pieces: who writes it asks screen_full(), and nothing is cut here */
};
struct screen screen_make(void);
/* Write and empty it: the one way out for text, to a terminal or into a file (messages: diag.h). It goes through clean_lines(), so that
 * no text out of a file drives the terminal though somebody forgot put_text(). The colours of put_bold() and the like stay where there
 * are any; nothing is to be found in JSON (json_escape()). `what` as for write_all(). More than --max-text allows (shown_take()) is cut
 * behind a line, which a line says; a JSON document behind an element of a list, and its last member is then "cut": true. */
int screen_write(struct screen *s, int fd, const char *what, struct err *err);
/* The same to standard output; -1 with an empty text: the reader had enough. */
int screen_flush(struct screen *s, struct err *err);
/* The last of it: what is left goes out, the tool ends where it cannot (EXIT_ENVIRON), the buffer is released. */
void screen_end(struct screen *s);
/* The same into a file that appears when it is whole (tool/output.h). */
int screen_save(struct screen *s, const char *path, struct err *err);
/* Is more in it than may still be shown? */
bool screen_full(const struct screen *s);
#define OPT_MAX_TEXT OPT_SIZE(0, "max-text", "SIZE", &shown_most, 1, UINT64_MAX, "show at most this much text (default: 16M)")
void put_bold(struct screen *s, const char *text);
void put_red(struct screen *s, const char *text);
void put_dim(struct screen *s, const char *text);
/* A bold line, and a blank one before it. */
void put_heading(struct screen *s, const char *text);
/* Text out of a file: control bytes become '?', so that they do not drive the terminal. */
void put_text(struct screen *s, struct slice text);
/* The same as a line, behind words of our own. */
void put_text_line(struct screen *s, const char *before, struct slice text);
/* A bar for part (0 to 1) of `columns`, and blanks up to them. In eighths of a column, or '#' where the terminal cannot. */
void put_bar(struct screen *s, double part, int columns);
/* A table: cells between tabs, rows between newlines; the first row is the heading. Columns are as wide as they need be; where
 * that does not fit the terminal, the widest are wrapped. Control bytes become '?'. At most 12 columns. */
void put_table(struct screen *s, struct slice cells);
/* Lines of b from here on that are wider than the terminal are broken at blanks, and go on below behind this many columns. A line
 * that ends within b ends in a newline. */
void put_wraps(struct screen *s, size_t from, int indent);

#endif
