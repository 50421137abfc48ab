#include "model/cppwrapper/wrapper_read.h"

/* Characters that end a run of insignificant ones, for a statement, a group, an argument. */
enum { END_STMT = 1, END_GROUP = 2, END_ARG = 4 };
#define ALL (END_STMT | END_GROUP | END_ARG)
static const uint8_t meaning[256] = {
    ['"'] = ALL, ['\''] = ALL,     ['('] = ALL,      [')'] = ALL,     ['['] = ALL,     [']'] = ALL,     ['{'] = ALL,
    ['}'] = ALL, ['/'] = END_STMT, [';'] = END_STMT, [','] = END_ARG, ['<'] = END_ARG, ['>'] = END_ARG,
};

static const char *skip_plain(const char *p, const char *end, uint8_t ends)
{
	while (p < end && !(meaning[(unsigned char)*p] & ends))
		p++;
	return p;
}

static bool space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* p is at a quote: returns the position after the literal, or end. raw: a raw string R"X(...)X". */
static const char *skip_quoted(const char *p, const char *end, bool raw)
{
	char q = *p++;
	if (q == '"' && raw) {
		const char *open = memchr(p, '(', (size_t)(end - p));
		size_t n = open ? (size_t)(open - p) : 0;
		if (open && n <= 16) {
			for (const char *c = open; (c = memchr(c, ')', (size_t)(end - c))); c++)
				if ((size_t)(end - c) >= n + 2 && !memcmp(c + 1, p, n) && c[n + 1] == '"')
					return c + n + 2;
			return end;
		}
	}
	for (; p < end && *p != q; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* A < right after one of these opens a template's arguments; the generator puts a space before the operator. */
static bool opens_template(const char *from, const char *p) { return p > from && is_name_char(p[-1]); }

static const char *skip_line(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));
	return nl ? nl : end;
}

static void count_lines(struct stmts *s, const char *to)
{
	for (const char *p = s->p; (p = memchr(p, '\n', (size_t)(to - p))); p++)
		s->line++;
	s->p = to;
}

/* Goes to the next statement; comments are statements of their own. */
static void skip_blank(struct stmts *s)
{
	for (;;) {
		while (s->p < s->end && (space(*s->p) || *s->p == ';')) {
			s->line += *s->p == '\n';
			s->p++;
		}
		if (s->p == s->end)
			return;
		if (*s->p == '#') {
			s->p = skip_line(s->p, s->end);
		} else if (s->end - s->p >= 2 && s->p[0] == '/' && s->p[1] == '*') {
			const char *q = s->p + 2;
			while ((q = memchr(q, '*', (size_t)(s->end - q))) && q + 1 < s->end && q[1] != '/')
				q++;
			count_lines(s, q && q + 1 < s->end ? q + 2 : s->end);
		} else {
			return;
		}
	}
}

/* A brace outside brackets: a block, or a value as in = {1, 2} or std::array<...>{1, 2}? */
static bool opens_block(const char *from, const char *p)
{
	while (p > from && space(p[-1]))
		p--;
	size_t n = (size_t)(p - from);
	return !n || p[-1] == ')' || (n == 4 && !memcmp(from, "else", 4)) || (n == 3 && !memcmp(from, "try", 3)) ||
	       (n == 2 && !memcmp(from, "do", 2));
}

struct stmt stmt_next(struct stmts *s)
{
	skip_blank(s);
	struct stmt r = {.kind = STMT_END, .line = s->line};
	if (s->p == s->end)
		return r;
	const char *from = s->p, *p = from;
	if (*p == '}') {
		s->p++;
		r.kind = STMT_CLOSE;
		return r;
	}
	if (*p == '/' && s->end - p >= 2 && p[1] == '/') {
		s->p = skip_line(p, s->end);
		r.kind = STMT_COMMENT;
		r.text = slice_trim(slice_of(p + 2, (size_t)(s->p - p - 2)));
		return r;
	}
	for (size_t depth = 0; (p = skip_plain(p, s->end, END_STMT)) < s->end;) {
		switch (*p) {
		case '"':
		case '\'': p = skip_quoted(p, s->end, p > from && p[-1] == 'R'); continue;
		case '/':
			if (s->end - p >= 2 && p[1] == '/') {
				p = skip_line(p, s->end);
				continue;
			}
			break;
		case '(':
		case '[': depth++; break;
		case ')':
		case ']': depth -= depth > 0; break;
		case '{':
			if (!depth && opens_block(from, p))
				r.kind = STMT_OPEN;
			else
				depth++;
			break;
		case '}':
			if (!depth)
				r.kind = STMT_PLAIN;
			else
				depth--;
			break;
		case ';':
			if (!depth)
				r.kind = STMT_PLAIN;
			break;
		default: break;
		}
		if (r.kind != STMT_END) {
			r.text = slice_trim(slice_of(from, (size_t)(p - from)));
			count_lines(s, *p == '}' ? p : p + 1);
			return r;
		}
		p++;
	}
	count_lines(s, s->end);
	return r;
}

static void trim_front(struct slice *s)
{
	while (s->n && space(*s->p)) {
		s->p++;
		s->n--;
	}
}

bool text_take(struct slice *s, const char *prefix)
{
	if (!slice_starts(*s, prefix))
		return false;
	size_t n = strlen(prefix);
	s->p += n;
	s->n -= n;
	trim_front(s);
	return true;
}

struct slice text_name(struct slice *s)
{
	size_t n = 0;
	while (n < s->n && (is_name_char(s->p[n]) || (s->p[n] == ':' && n + 1 < s->n && s->p[n + 1] == ':')))
		n += s->p[n] == ':' ? 2 : 1;
	struct slice name = slice_of(s->p, n);
	if (n) {
		s->p += n;
		s->n -= n;
	}
	return name;
}

size_t text_group(struct slice s, size_t i)
{
	if (i >= s.n || !strchr("([{<", s.p[i]) || !s.p[i])
		return 0;
	const char *p = s.p + i, *end = s.p + s.n;
	if (*p == '<') {
		size_t depth = 0;
		for (; p < end; p++) {
			if (*p == '<')
				depth++;
			else if (*p == '>' && !--depth)
				return (size_t)(p - s.p) + 1;
		}
		return 0;
	}
	for (size_t depth = 0; (p = skip_plain(p, end, END_GROUP)) < end;) {
		switch (*p) {
		case '"':
		case '\'': p = skip_quoted(p, end, p > s.p && p[-1] == 'R'); continue;
		case '(':
		case '[':
		case '{': depth++; break;
		case ')':
		case ']':
		case '}':
			if (depth)
				depth--;
			if (!depth)
				return (size_t)(p - s.p) + 1;
			break;
		default: break;
		}
		p++;
	}
	return 0;
}

bool text_arg(struct slice *rest, struct slice *arg)
{
	trim_front(rest);
	if (!rest->n)
		return false;
	const char *from = rest->p, *p = from, *end = from + rest->n;
	size_t depth = 0, angle = 0;
	while ((p = skip_plain(p, end, END_ARG)) < end) {
		if (*p == ',' && !depth && !angle)
			break;
		switch (*p) {
		case '"':
		case '\'': p = skip_quoted(p, end, p > from && p[-1] == 'R'); continue;
		case '(':
		case '[':
		case '{': depth++; break;
		case ')':
		case ']':
		case '}': depth -= depth > 0; break;
		case '<': angle += !depth && opens_template(from, p); break;
		case '>': angle -= !depth && angle && p[-1] != '-'; break;
		default: break;
		}
		p++;
	}
	*arg = slice_trim(slice_of(from, (size_t)(p - from)));
	size_t used = (size_t)(p - from) + (p < end);
	rest->p += used;
	rest->n -= used;
	return true;
}

bool text_call(struct slice s, struct slice *name, struct slice *args)
{
	struct slice rest = s;
	*name = text_name(&rest);
	if (!name->n || !rest.n || *rest.p != '(' || text_group(rest, 0) != rest.n)
		return false;
	*args = slice_of(rest.p + 1, rest.n - 2);
	return true;
}

bool text_braces(struct slice s, struct slice *inner)
{
	s = slice_trim(s);
	if (s.n < 2 || s.p[0] != '{' || s.p[s.n - 1] != '}')
		return false;
	*inner = slice_of(s.p + 1, s.n - 2);
	return true;
}

bool text_i64(struct slice s, int64_t *v)
{
	s = slice_trim(s);
	bool minus = s.n && *s.p == '-';
	if (minus) {
		s.p++;
		s.n--;
	}
	while (s.n && s.p[s.n - 1] == 'L')
		s.n--;
	uint64_t u;
	if (!slice_u64(s, &u) || u > (uint64_t)INT64_MAX)
		return false;
	*v = minus ? -(int64_t)u : (int64_t)u;
	return true;
}

struct slice text_last_name(struct slice s)
{
	s = slice_trim(s);
	size_t n = s.n;
	while (n && is_name_char(s.p[n - 1]))
		n--;
	return n ? slice_of(s.p + n, s.n - n) : s;
}
