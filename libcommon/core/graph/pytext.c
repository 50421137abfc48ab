#include "graph/pytext.h"

static bool is_name(char c) { return is_name_char(c) || (unsigned char)c >= 0x80; }

/* The end of the string whose first quote is at p, or NULL if unterminated. A single-quoted string ends on its line. */
static const char *skip_string(const char *p, const char *end)
{
	const char q = *p;
	const bool three = end - p >= 3 && p[1] == q && p[2] == q;
	if (!three && end - p >= 2 && p[1] == q)
		return p + 2;
	for (p += three ? 3 : 1; p < end; p++) {
		if (*p == '\\' && end - p >= 2)
			p++;
		else if (*p == '\n' && !three)
			return NULL;
		else if (*p == q && !three)
			return p + 1;
		else if (*p == q && end - p >= 3 && p[1] == q && p[2] == q)
			return p + 3;
	}
	return NULL;
}

/* Takes a step through an expression. Returns the start of the next one, NULL for an unterminated string. */
static const char *step(const char *p, const char *end)
{
	if (*p == '\'' || *p == '"')
		return skip_string(p, end);
	if (*p == '#') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		return nl ? nl : end;
	}
	return p + 1;
}

static uint32_t count_lines(const char *p, const char *end)
{
	uint32_t n = 0;
	for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	return n;
}

static char closing(char c) { return c == '(' ? ')' : c == '[' ? ']' : '}'; }

static int bad_program(const struct pytext *t, const char *at, const char *what, struct err *err)
{
	return err_set(err, EXIT_INPUT, "'%s' line %u: %s", t->name ? t->name : "program", t->line + 1 + count_lines(t->text.p + t->at, at),
		       what);
}

/* ---- lines ---- */

/* The end of the logical line at p; *code_end: the start of its comment. */
static const char *line_end(const struct pytext *t, const char *p, const char **code_end, struct err *err)
{
	const char *end = t->text.p + t->text.n, *open[PYTEXT_MAX_DEPTH];
	size_t depth = 0;
	*code_end = NULL;
	while (p < end && (*p != '\n' || depth)) {
		if (*p == '(' || *p == '[' || *p == '{') {
			if (depth == PYTEXT_MAX_DEPTH)
				return bad_program(t, p, "more than 256 nested brackets", err), NULL;
			open[depth++] = p;
		} else if (*p == ')' || *p == ']' || *p == '}') {
			if (!depth)
				return bad_program(t, p, "closing bracket without an opening one", err), NULL;
			if (closing(*open[--depth]) != *p)
				return bad_program(t, p, "mismatched brackets", err), NULL;
		} else if (*p == '#' && !depth) {
			*code_end = p;
		} else if (*p == '\\' && end - p >= 2 && p[1] == '\n') {
			p++;
		}
		const char *next = step(p, end);
		if (!next)
			return bad_program(t, p, "unterminated string", err), NULL;
		p = next;
	}
	if (depth)
		return bad_program(t, open[depth - 1], "unclosed bracket: the file is truncated", err), NULL;
	if (!*code_end)
		*code_end = p;
	return p;
}

int pytext_next(struct pytext *t, struct pyline *l, struct err *err)
{
	const char *end = t->text.p + t->text.n, *p = t->text.p + t->at;
	for (const char *first = p; p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n' || *p == '\f'); p++) {
		if (*p != '\n')
			continue;
		t->line++;
		t->at += (size_t)(p + 1 - first);
		first = p + 1;
	}
	const char *start = t->text.p + t->at, *code_end, *stop;
	if (p >= end)
		return 0;
	stop = line_end(t, p, &code_end, err);
	if (!stop)
		return -1;
	*l = (struct pyline){.line = t->line + 1, .indent = (uint32_t)(p - start)};
	l->whole = slice_of(start, (size_t)(stop - start));
	while (l->whole.n && l->whole.p[l->whole.n - 1] == '\r')
		l->whole.n--;
	l->code = slice_trim(slice_of(p, (size_t)(code_end - p)));
	if (code_end < stop)
		l->comment = slice_trim(slice_of(code_end + 1, (size_t)(stop - code_end - 1)));
	t->line += count_lines(start, stop);
	t->at += (size_t)(stop - start);
	return 1;
}

bool pytext_opens(const struct pyline *l) { return slice_ends(l->code, ":"); }

/* ---- expressions ---- */

bool pytext_dotted(struct slice s)
{
	if (!s.n || s.p[0] == '.' || s.p[s.n - 1] == '.' || is_digit(s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_name(s.p[i]) && !(s.p[i] == '.' && s.p[i - 1] != '.'))
			return false;
	return true;
}

/* The position after the bracket that closes the one at p, or NULL. */
static const char *skip_bracket(const char *p, const char *end)
{
	char open[PYTEXT_MAX_DEPTH];
	size_t depth = 0;
	while (p && p < end) {
		if (*p == '(' || *p == '[' || *p == '{') {
			if (depth == PYTEXT_MAX_DEPTH)
				return NULL;
			open[depth++] = *p;
		} else if (*p == ')' || *p == ']' || *p == '}') {
			if (!depth || closing(open[--depth]) != *p)
				return NULL;
			if (!depth)
				return p + 1;
		}
		p = step(p, end);
	}
	return NULL;
}

bool pytext_inside(struct slice expr, char open, struct slice *inside)
{
	expr = slice_trim(expr);
	if (expr.n < 2 || expr.p[0] != open || skip_bracket(expr.p, expr.p + expr.n) != expr.p + expr.n)
		return false;
	*inside = slice_of(expr.p + 1, expr.n - 2);
	return true;
}

bool pytext_call(struct slice expr, struct slice *callee, struct slice *inside)
{
	expr = slice_trim(expr);
	const char *open = slice_chr(expr, '(');
	if (!open)
		return false;
	*callee = slice_trim(slice_of(expr.p, (size_t)(open - expr.p)));
	return pytext_dotted(*callee) && pytext_inside(slice_of(open, (size_t)(expr.p + expr.n - open)), '(', inside);
}

/* The first c outside brackets and strings at or after p, or NULL. "==", "<=" etc. are not "=". */
static const char *find_outside(const char *p, const char *end, char c)
{
	while (p && p < end) {
		if (*p == '(' || *p == '[' || *p == '{') {
			p = skip_bracket(p, end);
			continue;
		}
		if (*p == ')' || *p == ']' || *p == '}')
			return NULL;
		if (*p == c && c == '=' && end - p >= 2 && p[1] == '=')
			p++;
		else if (*p == c)
			return p;
		p = step(p, end);
	}
	return NULL;
}

bool pytext_assign(struct slice code, struct slice *name, struct slice *value)
{
	const char *end = code.p + code.n, *eq = find_outside(code.p, end, '=');
	if (!eq || eq == code.p || strchr("+-*/%&|^<>!:@", eq[-1]))
		return false;
	*name = slice_trim(slice_of(code.p, (size_t)(eq - code.p)));
	*value = slice_trim(slice_of(eq + 1, (size_t)(end - eq - 1)));
	const char *sub = slice_chr(*name, '[');
	struct slice left = sub ? slice_of(name->p, (size_t)(sub - name->p)) : *name;
	return pytext_dotted(left) && value->n;
}

int pytext_arg(struct slice *rest, struct pyarg *arg)
{
	*rest = slice_trim(*rest);
	if (!rest->n)
		return 0;
	const char *end = rest->p + rest->n, *p = rest->p;
	for (; p && p < end && *p != ','; p = *p == '(' || *p == '[' || *p == '{' ? skip_bracket(p, end) : step(p, end))
		if (*p == ')' || *p == ']' || *p == '}')
			return -1;
	if (!p)
		return -1;
	struct slice one = slice_trim(slice_of(rest->p, (size_t)(p - rest->p)));
	*rest = p < end ? slice_of(p + 1, (size_t)(end - p - 1)) : slice_of(end, 0);
	*arg = (struct pyarg){.value = one};
	const char *q = one.p;
	while (q < one.p + one.n && is_name(*q))
		q++;
	const char *name_end = q;
	while (q < one.p + one.n && *q == ' ')
		q++;
	if (q > one.p && q < one.p + one.n && *q == '=' && !(q + 1 < one.p + one.n && q[1] == '=')) {
		arg->name = slice_of(one.p, (size_t)(name_end - one.p));
		arg->value = slice_trim(slice_of(q + 1, (size_t)(one.p + one.n - q - 1)));
	}
	return arg->value.n ? 1 : -1;
}

int pytext_args(struct slice inside, struct pyarg *arg, size_t max)
{
	int n = 0, r;
	struct pyarg a;
	while ((r = pytext_arg(&inside, &a)) == 1) {
		if ((size_t)n < max)
			arg[n] = a;
		if (n++ == INT32_MAX - 1)
			return -1;
	}
	return r < 0 ? -1 : n;
}

/* ---- strings ---- */

/* An escape, with p after the backslash; NULL if it is not one of Python's (\N{...} is not read). */
static const char *add_escape(struct buf *b, const char *p, const char *end)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	const char *at = strchr(from, *p);
	if (at && *p) {
		buf_addc(b, to[at - from]);
		return p + 1;
	}
	if (*p == '\n')
		return p + 1;
	uint32_t c = 0;
	if (*p >= '0' && *p <= '7') {
		for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++)
			c = c * 8 + (uint32_t)(*p++ - '0');
		buf_add_utf8(b, c);
		return p;
	}
	const int n = *p == 'x' ? 2 : *p == 'u' ? 4 : *p == 'U' ? 8 : 0;
	if (!n) { /* Python keeps unknown escapes, with the backslash */
		buf_addc(b, '\\');
		return p;
	}
	if (end - ++p < n)
		return NULL;
	for (int i = 0; i < n; i++) {
		int d = hex_digit(*p++);
		if (d < 0)
			return NULL;
		c = c << 4 | (uint32_t)d;
	}
	if (c > 0x10ffff)
		return NULL;
	buf_add_utf8(b, c);
	return p;
}

bool pytext_string(struct slice s, struct buf *b)
{
	s = slice_trim(s);
	bool raw = false;
	while (s.n && (s.p[0] == 'r' || s.p[0] == 'R' || s.p[0] == 'u' || s.p[0] == 'U')) {
		raw |= (s.p[0] | 32) == 'r';
		s = slice_of(s.p + 1, s.n - 1);
	}
	if (s.n < 2 || (s.p[0] != '\'' && s.p[0] != '"') || skip_string(s.p, s.p + s.n) != s.p + s.n)
		return false;
	const size_t q = s.n >= 6 && s.p[1] == s.p[0] && s.p[2] == s.p[0] ? 3 : 1;
	const char *p = s.p + q, *end = s.p + s.n - q;
	while (p && p < end) {
		const char *slash = raw ? NULL : memchr(p, '\\', (size_t)(end - p));
		buf_add(b, p, (size_t)((slash ? slash : end) - p));
		if (!slash)
			break;
		p = slash + 1 < end ? add_escape(b, slash + 1, end) : NULL;
		if (!p)
			return false;
	}
	return true;
}

void pytext_quote(struct buf *b, struct slice s)
{
	const bool single = s.n && slice_chr(s, '\''), twice = s.n && slice_chr(s, '"');
	const char q = single && !twice ? '"' : '\'';
	buf_addc(b, q);
	for (size_t i = 0, n; i < s.n; i += n) {
		const char c = s.p[i];
		const size_t drives = text_drives(s.p + i, s.n - i), whole = utf8_len(s.p + i, s.n - i);
		n = drives ? drives : whole ? whole : 1;
		if (c == '\\' || c == q) {
			buf_addc(b, '\\');
			buf_addc(b, c);
		} else if (c == '\n' || c == '\r' || c == '\t') {
			buf_addc(b, '\\');
			buf_addc(b, c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
		} else if (drives == 1) {
			buf_addf(b, "\\x%02x", (unsigned char)c);
		} else if (drives) {
			buf_add_u(b, s.p + i, n);
		} else {
			buf_add(b, s.p + i, n);
		}
	}
	buf_addc(b, q);
}
