/* Text for people: tables that fit the width, colour where color.h has any. */
#include "base/tool/screen.h"
#include "base/tool/diag.h"
#include "base/tool/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

static bool is_utf8(void)
{
	static const char *const name[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		const char *v = getenv(name[i]);
		if (v && *v)
			return strcasestr(v, "utf-8") || strcasestr(v, "utf8");
	}
	return false;
}

struct screen screen_make(void)
{
	struct screen s = {0};
	struct winsize ws;
	const char *columns = getenv("COLUMNS");
	uint64_t n;
	s.color = color_on(STDOUT_FILENO);
	if (!isatty(STDOUT_FILENO))
		return s;
	s.width = 80;
	if (columns && slice_u64(slice_str(columns), &n) && n >= 20 && n <= 10000)
		s.width = (int)n;
	else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 20)
		s.width = ws.ws_col;
	s.height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row >= 5)
		s.height = ws.ws_row;
	s.utf8 = is_utf8();
	return s;
}

/* Bytes of a sequence that style_on() and style_off() write. */
static size_t own_style(struct slice t)
{
	if (!slice_starts(t, "\033["))
		return 0;
	t = slice_of(t.p + 2, t.n - 2);
	if (slice_starts(t, "m"))
		return strlen("\033[m");
	for (int i = 0; i < STYLES; i++) {
		const size_t n = strlen(style_code[i]);
		if (t.n > n && t.p[n] == 'm' && slice_starts(t, style_code[i]))
			return strlen("\033[") + n + 1;
	}
	return 0;
}

static void clean(struct screen *s)
{
	char *end = s->b.p + s->b.len;
	if (!s->b.len)
		return;
	for (char *p = s->b.p, *esc; p < end; p = esc) {
		size_t own = s->color ? own_style(slice_of(p, (size_t)(end - p))) : 0;
		p += own;
		esc = p < end ? memchr(p + !own, '\033', (size_t)(end - p) - !own) : NULL;
		esc = esc ? esc : end;
		clean_lines(p, (size_t)(esc - p));
	}
}

/* ---- --max-text ---- */

enum { DEEP = 64 };

/* Where a JSON document can end: behind the last element of a list that is whole before `most`, else behind its first member. *depth and
 * close: the brackets that are open there. 0: nowhere. */
static size_t json_end(struct slice t, size_t most, char close[DEEP], int *depth)
{
	char open[DEEP];
	size_t end = 0;
	int n = 0;
	for (size_t i = 0; i < t.n && !(i > most && end); i++) {
		if (t.p[i] == '"') {
			for (i++; i < t.n && t.p[i] != '"'; i++)
				i += t.p[i] == '\\';
		} else if (t.p[i] == '{' || t.p[i] == '[') {
			if (n == DEEP)
				break;
			open[n++] = t.p[i] == '{' ? '}' : ']';
		} else if ((t.p[i] == '}' || t.p[i] == ']') && n) {
			n--;
		} else if (t.p[i] == ',' && n && (open[n - 1] == ']' || !end)) {
			end = i;
			*depth = n;
			memcpy(close, open, (size_t)n);
		}
	}
	return end;
}

static void cut_json(struct buf *b, size_t most)
{
	char close[DEEP];
	int depth;
	const size_t end = json_end(buf_slice(b), most, close, &depth);
	if (!end)
		return;
	buf_cut(b, end);
	while (depth-- > 1)
		buf_addc(b, close[depth]);
	buf_adds(b, ", \"cut\": true}\n");
}

static bool in_line; /* what was written last ends without a newline */

/* A number that is cut would be another one: whole lines, or none. */
static void cut_text(struct buf *b, size_t most)
{
	char text[128];
	const char *line = most ? memrchr(b->p, '\n', most) : NULL;
	buf_cut(b, line ? (size_t)(line - b->p) + 1 : 0);
	shown_cut(text);
	buf_addf(b, "%s%s\n", in_line && !line ? "\n" : "", text);
}

static void keep_to_limit(struct screen *s)
{
	static bool told; /* a line says it once */
	const size_t all = s->b.len;
	if (s->whole) {
		shown_take(all < shown_room() ? all : shown_room());
		return;
	}
	const size_t most = shown_take(all);
	if (most == all)
		return;
	if (slice_starts(buf_slice(&s->b), "{\"schema\""))
		cut_json(&s->b, most);
	else if (told)
		buf_reset(&s->b);
	else
		cut_text(&s->b, most);
	told = true;
}

bool screen_full(const struct screen *s) { return s->b.len > shown_room(); }

bool (*screen_convert)(struct buf *b);

int screen_write(struct screen *s, int fd, const char *what, struct err *err)
{
	if (screen_convert && !screen_convert(&s->b))
		return 0;
	clean(s);
	keep_to_limit(s);
	if (s->b.len)
		in_line = s->b.p[s->b.len - 1] != '\n';
	int rc = write_all(fd, s->b.p, s->b.len, what, err);
	buf_reset(&s->b);
	return rc;
}

int screen_flush(struct screen *s, struct err *err) { return screen_write(s, STDOUT_FILENO, "standard output", err); }

void screen_end(struct screen *s)
{
	struct err err = {0};
	if (screen_flush(s, &err) < 0 && err.text[0])
		die_err(&err);
	buf_release(&s->b);
}

int screen_save(struct screen *s, const char *path, struct err *err)
{
	struct output *o = output_file(path, err);
	if (o && screen_write(s, output_fd(o), path, err) == 0)
		return output_commit(o, err);
	output_abort(o);
	return -1;
}

static void style_on(struct screen *s, enum style style)
{
	if (s->color)
		buf_addf(&s->b, "\033[%sm", style_code[style]);
}

static void style_off(struct screen *s)
{
	if (s->color)
		buf_adds(&s->b, "\033[m");
}

void put_style(struct screen *s, enum style style, const char *text)
{
	if (!*text)
		return;
	style_on(s, style);
	buf_adds(&s->b, text);
	style_off(s);
}

void put_style_text(struct screen *s, enum style style, struct slice text)
{
	if (!text.n)
		return;
	style_on(s, style);
	put_text(s, text);
	style_off(s);
}

void put_bold(struct screen *s, const char *text) { put_style(s, STYLE_STRONG, text); }
void put_error(struct screen *s, const char *text) { put_style(s, STYLE_ERROR, text); }
void put_dim(struct screen *s, const char *text) { put_style(s, STYLE_FAINT, text); }

void put_bar(struct screen *s, double part, int columns)
{
	static const char *const eighth[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	part = part > 0 ? part < 1 ? part : 1 : 0;
	int n = (int)(part * columns * 8 + 0.5), full = n / 8;
	if (!s->utf8)
		full = (int)(part * columns + 0.5);
	for (int i = 0; i < full; i++)
		buf_adds(&s->b, s->utf8 ? "█" : "#");
	if (s->utf8 && n % 8) {
		buf_adds(&s->b, eighth[n % 8]);
		full++;
	}
	buf_addf(&s->b, "%*s", columns - full, "");
}

/* Columns that a text takes: code points, since nothing wider occurs in names and numbers. */
static size_t columns_of(struct slice t)
{
	size_t n = 0;
	for (size_t i = 0; i < t.n; i++)
		n += ((unsigned char)t.p[i] & 0xc0) != 0x80;
	return n;
}

static struct slice take_cell(struct slice *rest, char end)
{
	const char *e = slice_chr(*rest, end);
	size_t n = e ? (size_t)(e - rest->p) : rest->n;
	struct slice cell = slice_of(rest->p, n);
	rest->p += n + !!e;
	rest->n -= n + !!e;
	return cell;
}

void put_heading(struct screen *s, const char *text)
{
	buf_addc(&s->b, '\n');
	put_bold(s, text);
	buf_addc(&s->b, '\n');
}

void put_text(struct screen *s, struct slice t) { buf_add_clean(&s->b, t); }

void put_text_line(struct screen *s, const char *before, struct slice text)
{
	buf_adds(&s->b, before);
	put_text(s, text);
	buf_addc(&s->b, '\n');
}

enum { COLUMNS = 12, INDENT = 2, GAP = 2, NARROW = 10 };

/* How much of a cell goes into one line of `room` columns: up to a space, else after a separator, else all that fits. */
static size_t fitting(struct slice t, size_t room)
{
	size_t end = 0, space = 0, soft = 0;
	for (size_t n = 0; end < t.n; end++) {
		n += ((unsigned char)t.p[end] & 0xc0) != 0x80;
		if (n > room)
			break;
		if (t.p[end] == ' ')
			space = end;
		else if (strchr("_/.,]:", t.p[end]))
			soft = end + 1;
	}
	if (end == t.n || (t.p[end] == ' ' && end))
		return end;
	return space ? space : soft > room / 2 ? soft : end;
}

/* Narrows the widest column until all fit, or none can shrink further. */
static void squeeze(size_t width[COLUMNS], int columns, size_t room)
{
	for (;;) {
		size_t sum = INDENT;
		int widest = 0;
		for (int c = 0; c < columns; c++) {
			sum += width[c] + (c + 1 < columns ? GAP : 0);
			widest = width[c] > width[widest] ? c : widest;
		}
		if (sum <= room || width[widest] <= NARROW)
			return;
		size_t over = sum - room, can = width[widest] - NARROW;
		width[widest] -= over < can ? (over + 1) / 2 : can;
	}
}

static void put_row(struct screen *s, struct slice row, const size_t width[COLUMNS], int columns)
{
	struct slice cell[COLUMNS] = {0};
	bool more = true;
	for (int c = 0; c < columns; c++)
		cell[c] = take_cell(&row, '\t');
	while (more) {
		size_t blank = INDENT; /* pending columns, so that no line ends in spaces */
		more = false;
		for (int c = 0; c < columns; c++) {
			size_t n = s->width ? fitting(cell[c], width[c]) : cell[c].n;
			struct slice part = slice_of(cell[c].p, n);
			if (n) {
				buf_addf(&s->b, "%*s", (int)blank, "");
				put_text(s, part);
				blank = 0;
			}
			blank += width[c] - (columns_of(part) < width[c] ? columns_of(part) : width[c]) + GAP;
			cell[c] = slice_of(cell[c].p + n, cell[c].n - n);
			while (cell[c].n && cell[c].p[0] == ' ')
				cell[c] = slice_of(cell[c].p + 1, cell[c].n - 1);
			more |= cell[c].n > 0;
		}
		buf_addc(&s->b, '\n');
	}
}

void put_table(struct screen *s, struct slice cells)
{
	size_t width[COLUMNS] = {0};
	int columns = 0;
	struct slice rest = cells;
	while (rest.n) {
		struct slice row = take_cell(&rest, '\n');
		for (int c = 0; row.n && c < COLUMNS; c++) {
			size_t n = columns_of(take_cell(&row, '\t'));
			width[c] = n > width[c] ? n : width[c];
			columns = c + 1 > columns ? c + 1 : columns;
		}
	}
	if (s->width)
		squeeze(width, columns, (size_t)s->width);
	style_on(s, STYLE_FAINT);
	put_row(s, take_cell(&cells, '\n'), width, columns);
	style_off(s);
	while (cells.n)
		put_row(s, take_cell(&cells, '\n'), width, columns);
}

/* Columns of a text, without color sequences. */
static int seen_columns(struct slice t)
{
	int n = 0;
	bool escape = false;
	for (size_t k = 0; k < t.n; k++) {
		escape |= t.p[k] == '\033';
		n += !escape && ((unsigned char)t.p[k] & 0xc0) != 0x80;
		escape &= t.p[k] != 'm';
	}
	return n;
}

void put_wraps(struct screen *s, size_t from, int indent)
{
	LOCAL_BUF all = {0};
	if (!s->width || s->b.len <= from)
		return;
	size_t start = from; /* something may precede it */
	while (start && s->b.p[start - 1] != '\n')
		start--;
	int column = seen_columns(slice_of(s->b.p + start, from - start));
	buf_add(&all, s->b.p + from, s->b.len - from);
	buf_cut(&s->b, from);
	struct slice rest = buf_slice(&all), line;
	for (; slice_line(&rest, &line); column = 0) {
		for (size_t i = 0, end; i < line.n; i = end) {
			const char *blank = memchr(line.p + i + 1, ' ', line.n - i - 1);
			end = blank ? (size_t)(blank - line.p) : line.n;
			struct slice word = slice_of(line.p + i, end - i); /* with the preceding blank */
			int n = seen_columns(word);
			if (column > indent && column + n > s->width) {
				buf_addf(&s->b, "\n%*s", indent - 1, "");
				column = indent - 1;
			}
			buf_add_slice(&s->b, word);
			column += n;
		}
		buf_addc(&s->b, '\n');
	}
}
