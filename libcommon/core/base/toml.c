#include "base/toml.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"

struct reader {
	const char *p, *end;
	uint32_t line;
	struct slice key[TOML_KEYS];
	unsigned n_key, n_table; /* parts in force, of them those of the [table] */
	struct arena arena;
	int (*take)(void *ctx, const struct toml_value *v, struct err *err);
	void *ctx;
	struct err *err;
};

static int wrong(struct reader *r, const char *what) { return err_set(r->err, EXIT_INPUT, "%s", what); }

/* ---- white space ---- */

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
		r->p++;
}

static bool cut_newline(struct reader *r)
{
	if (r->p + 1 < r->end && *r->p == '\r' && r->p[1] == '\n')
		r->p++;
	if (r->p == r->end || *r->p != '\n')
		return false;
	r->p++;
	r->line++;
	return true;
}

static void skip_comment(struct reader *r)
{
	while (r->p < r->end && *r->p == '#')
		while (r->p < r->end && *r->p != '\n')
			r->p++;
}

/* The rest of a line that holds nothing more. */
static int end_line(struct reader *r)
{
	skip_blanks(r);
	skip_comment(r);
	return r->p == r->end || cut_newline(r) ? 0 : wrong(r, "expected the end of the line");
}

/* Between the elements of an array lines may end, too. */
static void skip_lines(struct reader *r)
{
	do {
		skip_blanks(r);
		skip_comment(r);
	} while (cut_newline(r));
}

static bool cut(struct reader *r, const char *word)
{
	const size_t n = strlen(word);
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* ---- strings ---- */

static int read_unicode(struct reader *r, unsigned digits, struct buf *b)
{
	uint32_t c = 0;
	for (unsigned i = 0; i < digits; i++, r->p++) {
		const int d = r->p < r->end ? hex_digit(*r->p) : -1;
		if (d < 0)
			return wrong(r, "expected hexadecimal digits after \\u");
		c = c << 4 | (uint32_t)d;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return wrong(r, "not a Unicode character");
	buf_add_utf8(b, c);
	return 0;
}

static int read_escape(struct reader *r, bool lines, struct buf *b)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	if (r->p == r->end)
		return wrong(r, "unfinished string");
	const char c = *r->p;
	const char *known = c ? strchr(from, c) : NULL;
	if (known) {
		r->p++;
		buf_addc(b, to[known - from]);
		return 0;
	}
	if (c == 'u' || c == 'U') {
		r->p++;
		return read_unicode(r, c == 'u' ? 4 : 8, b);
	}
	/* A backslash at the end of a line joins it with the next text. */
	skip_blanks(r);
	if (!lines || !cut_newline(r))
		return wrong(r, "unknown escape in a string");
	do
		skip_blanks(r);
	while (cut_newline(r));
	return 0;
}

static bool is_control(char c) { return ((unsigned char)c < ' ' && c != '\t') || c == 127; }

/* quote: " or '; three of them: several lines, in which one or two quotes are text, also before the end. */
static int read_string(struct reader *r, struct slice *out)
{
	const char quote = *r->p, three[] = {quote, quote, quote, 0};
	LOCAL_BUF b = {0};
	const bool lines = cut(r, three);
	r->p += !lines;
	if (lines)
		cut_newline(r);
	for (;;) {
		if (r->p == r->end)
			return wrong(r, "unfinished string");
		if (lines ? cut(r, three) : *r->p == quote)
			break;
		if (lines && cut_newline(r)) {
			buf_addc(&b, '\n');
		} else if (is_control(*r->p)) {
			return wrong(r, *r->p == '\n' ? "unfinished string" : "control character in a string");
		} else if (*r->p == '\\' && quote == '"') {
			r->p++;
			if (read_escape(r, lines, &b) < 0)
				return -1;
		} else {
			buf_addc(&b, *r->p++);
		}
	}
	r->p += !lines;
	for (int i = 0; lines && i < 2 && r->p < r->end && *r->p == quote; i++)
		buf_addc(&b, *r->p++);
	if (!utf8_valid(buf_slice(&b)))
		return wrong(r, "invalid UTF-8 in a string");
	*out = arena_slice(&r->arena, buf_slice(&b));
	return 0;
}

/* ---- keys ---- */

static bool is_bare(char c) { return is_name_char(c) || c == '-'; }

static int read_key(struct reader *r)
{
	for (;;) {
		skip_blanks(r);
		if (r->n_key == TOML_KEYS)
			return wrong(r, "key of too many parts");
		struct slice *part = &r->key[r->n_key];
		if (r->p < r->end && (*r->p == '"' || *r->p == '\'')) {
			if (read_string(r, part) < 0)
				return -1;
		} else {
			const char *from = r->p;
			while (r->p < r->end && is_bare(*r->p))
				r->p++;
			if (r->p == from)
				return wrong(r, "expected a key");
			*part = slice_of(from, (size_t)(r->p - from));
		}
		r->n_key++;
		skip_blanks(r);
		if (!cut(r, "."))
			return 0;
	}
}

/* ---- values ---- */

static int give(struct reader *r, enum toml_type type, struct slice text, bool in_array, uint32_t line)
{
	const struct toml_value v = {r->key, r->n_key, type, in_array, text, line};
	return r->take(r->ctx, &v, r->err);
}

static bool is_number(struct slice s)
{
	const bool sign = s.n && (*s.p == '+' || *s.p == '-');
	const struct slice d = slice_of(s.p + sign, s.n - sign);
	const bool based = d.n > 2 && *d.p == '0' && strchr("xob", d.p[1]);
	for (size_t i = based ? 2 : 0; i < d.n; i++)
		if (d.p[i] == '_' ? i == 0 || i + 1 == d.n : based ? hex_digit(d.p[i]) < 0 : !is_digit(d.p[i]))
			return false;
	return d.n > 0;
}

static bool is_float(struct slice s)
{
	const bool sign = s.n && (*s.p == '+' || *s.p == '-');
	const struct slice d = slice_of(s.p + sign, s.n - sign);
	if (slice_is(d, "inf") || slice_is(d, "nan"))
		return true;
	for (size_t i = 0; i < d.n; i++) {
		if (!is_digit(d.p[i]) && !strchr("._eE+-", d.p[i]))
			return false;
	}
	return d.n && is_digit(*d.p);
}

/* "1979-05-27", "07:32:00", "1979-05-27T07:32:00.5+02:00" */
static bool is_date(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_digit(s.p[i]) && !strchr("-:.TtZz+ ", s.p[i]))
			return false;
	return s.n >= 8 && is_digit(*s.p) && (slice_chr(s, ':') || (s.p[4] == '-' && s.p[7] == '-'));
}

static int read_plain(struct reader *r, bool in_array)
{
	const char *from = r->p;
	while (r->p < r->end && !strchr(" \t\r\n,]}#", *r->p))
		r->p++;
	/* A date and a time may be separated by one blank. */
	if (r->p - from == 10 && from[4] == '-' && r->end - r->p > 3 && *r->p == ' ' && is_digit(r->p[1]) && is_digit(r->p[2]) &&
	    r->p[3] == ':')
		for (r->p++; r->p < r->end && !strchr(" \t\r\n,]}#", *r->p);)
			r->p++;
	const struct slice s = slice_of(from, (size_t)(r->p - from));
	if (slice_is(s, "true") || slice_is(s, "false"))
		return give(r, TOML_BOOL, s, in_array, r->line);
	if (memchr(s.p, 0, s.n))
		return wrong(r, "expected a value");
	if (is_number(s))
		return give(r, TOML_INTEGER, s, in_array, r->line);
	if (is_date(s))
		return give(r, TOML_DATE, s, in_array, r->line);
	return is_float(s) ? give(r, TOML_FLOAT, s, in_array, r->line) : wrong(r, "expected a value");
}

static int read_value(struct reader *r, bool in_array, unsigned depth);

static int read_array(struct reader *r, unsigned depth)
{
	const uint32_t line = r->line;
	skip_lines(r);
	if (cut(r, "]"))
		return give(r, TOML_EMPTY, slice_of("", 0), false, line);
	for (;;) {
		skip_lines(r);
		if (cut(r, "]"))
			return 0;
		if (r->p == r->end)
			return wrong(r, "unfinished array");
		if (read_value(r, true, depth + 1) < 0)
			return -1;
		skip_lines(r);
		if (!cut(r, ",") && !(r->p < r->end && *r->p == ']'))
			return wrong(r, "expected ',' or ']' in an array");
	}
}

static int read_pair(struct reader *r, unsigned depth)
{
	if (read_key(r) < 0)
		return -1;
	if (!cut(r, "="))
		return wrong(r, "expected '=' after a key");
	skip_blanks(r);
	return read_value(r, false, depth);
}

static int read_inline(struct reader *r, unsigned depth)
{
	const unsigned n = r->n_key;
	skip_blanks(r);
	if (cut(r, "}"))
		return 0;
	for (;;) {
		if (read_pair(r, depth + 1) < 0)
			return -1;
		r->n_key = n;
		skip_blanks(r);
		if (cut(r, "}"))
			return 0;
		if (!cut(r, ","))
			return wrong(r, "expected ',' or '}' in an inline table");
	}
}

/* At most TOML_DEPTH deep. */
static int read_value(struct reader *r, bool in_array, unsigned depth)
{
	const uint32_t line = r->line;
	struct slice text;
	if (depth == TOML_DEPTH)
		return wrong(r, "nested too deeply");
	if (r->p < r->end && (*r->p == '"' || *r->p == '\''))
		return read_string(r, &text) < 0 ? -1 : give(r, TOML_STRING, text, in_array, line);
	if (cut(r, "["))
		return read_array(r, depth);
	return cut(r, "{") ? read_inline(r, depth) : read_plain(r, in_array);
}

static int read_table(struct reader *r)
{
	const bool many = cut(r, "[");
	r->n_key = 0;
	if (read_key(r) < 0)
		return -1;
	if (!cut(r, many ? "]]" : "]"))
		return wrong(r, "expected ']' after the name of a table");
	r->n_table = r->n_key;
	return end_line(r);
}

static int read_line(struct reader *r)
{
	if (cut(r, "["))
		return read_table(r);
	r->n_key = r->n_table;
	return read_pair(r, 0) < 0 ? -1 : end_line(r);
}

int toml_read(struct slice text, int (*take)(void *ctx, const struct toml_value *v, struct err *err), void *ctx, uint32_t *line,
	      struct err *err)
{
	struct reader r = {.p = text.p, .end = text.p + text.n, .line = 1, .take = take, .ctx = ctx, .err = err};
	int status = 0;
	cut(&r, "\xef\xbb\xbf");
	while (!status) {
		skip_lines(&r);
		if (r.p == r.end)
			break;
		status = read_line(&r);
	}
	*line = r.line;
	arena_release(&r.arena);
	return status;
}
