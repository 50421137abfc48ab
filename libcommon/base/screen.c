/* Text for people: tables that fit the width, colour on a terminal only. */
#include "base/screen.h"
#include "io/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

struct screen screen_make(void)
{
	struct screen s = {0};
	struct winsize ws;
	const char *columns = getenv("COLUMNS");
	uint64_t n;
	if (!isatty(STDOUT_FILENO))
		return s;
	s.width = 80;
	if (columns && slice_u64(slice_str(columns), &n) && n >= 20 && n <= 10000)
		s.width = (int)n;
	else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 20)
		s.width = ws.ws_col;
	const char *term = getenv("TERM");
	s.color = !getenv("NO_COLOR") && term && strcmp(term, "dumb");
	return s;
}

int screen_flush(struct screen *s, struct err *err)
{
	int rc = write_all(STDOUT_FILENO, s->b.p, s->b.len, "standard output", err);
	buf_reset(&s->b);
	return rc;
}

static void styled(struct screen *s, const char *code, const char *text)
{
	if (s->color)
		buf_addf(&s->b, "\033[%sm%s\033[m", code, text);
	else
		buf_adds(&s->b, text);
}

void put_bold(struct screen *s, const char *text) { styled(s, "1", text); }
void put_red(struct screen *s, const char *text) { styled(s, "31", text); }
void put_dim(struct screen *s, const char *text) { styled(s, "2", text); }

/* Columns that a text takes: code points, as nothing wider occurs in names and numbers. */
static size_t columns_of(struct slice t)
{
	size_t n = 0;
	for (size_t i = 0; i < t.n; i++)
		n += ((unsigned char)t.p[i] & 0xc0) != 0x80;
	return n;
}

static struct slice cut(struct slice *rest, char end)
{
	const char *e = rest->n ? memchr(rest->p, end, rest->n) : NULL;
	size_t n = e ? (size_t)(e - rest->p) : rest->n;
	struct slice cell = slice_of(rest->p, n);
	rest->p += n + !!e;
	rest->n -= n + !!e;
	return cell;
}

/* Control bytes from a file do not reach the terminal. */
static void put_text(struct screen *s, struct slice t)
{
	for (size_t i = 0; i < t.n; i++)
		buf_addc(&s->b, (unsigned char)t.p[i] < ' ' || t.p[i] == 0x7f ? '?' : t.p[i]);
}

/* The last cell of a row, over several lines if need be. */
static void put_wrapped(struct screen *s, struct slice t, size_t at)
{
	size_t room = s->width && (size_t)s->width > at + 20 ? (size_t)s->width - at : SIZE_MAX;
	while (columns_of(t) > room) {
		size_t end = 0, brk = 0;
		for (size_t n = 0; end < t.n && n <= room; end++) {
			n += ((unsigned char)t.p[end] & 0xc0) != 0x80;
			if (t.p[end] == ' ' && n <= room)
				brk = end;
		}
		if (!brk)
			break;
		put_text(s, slice_of(t.p, brk));
		buf_addf(&s->b, "\n%*s", (int)at, "");
		t = slice_of(t.p + brk + 1, t.n - brk - 1);
	}
	put_text(s, t);
}

void put_table(struct screen *s, struct slice cells)
{
	enum { COLUMNS = 12, INDENT = 2 };
	size_t width[COLUMNS] = {0};
	struct slice rest = cells;
	while (rest.n) {
		struct slice row = cut(&rest, '\n');
		for (int c = 0; row.n && c < COLUMNS; c++) {
			size_t n = columns_of(cut(&row, '\t'));
			width[c] = n > width[c] ? n : width[c];
		}
	}
	bool heading = true;
	while (cells.n) {
		struct slice row = cut(&cells, '\n');
		size_t at = INDENT;
		buf_addf(&s->b, "%*s", INDENT, "");
		if (heading && s->color)
			buf_adds(&s->b, "\033[2m");
		for (int c = 0; row.n && c < COLUMNS; c++) {
			struct slice cell = cut(&row, '\t');
			if (!row.n) {
				put_wrapped(s, cell, at);
				break;
			}
			put_text(s, cell);
			buf_addf(&s->b, "%*s", (int)(width[c] - columns_of(cell) + 2), "");
			at += width[c] + 2;
		}
		while (s->b.len && s->b.p[s->b.len - 1] == ' ')
			s->b.len--;
		if (heading && s->color)
			buf_adds(&s->b, "\033[m");
		buf_addc(&s->b, '\n');
		heading = false;
	}
}

void add_bytes(struct buf *b, uint64_t bytes)
{
	static const char *const unit[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)bytes;
	int u = -1;
	while (v >= 1000 && u < 5) {
		v /= 1000;
		u++;
	}
	if (u < 0)
		buf_addf(b, "%llu bytes", (unsigned long long)bytes);
	else
		buf_addf(b, "%.*f %s", v < 10 ? 2 : v < 100 ? 1 : 0, v, unit[u]);
}
