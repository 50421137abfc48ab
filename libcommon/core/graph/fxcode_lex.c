#include "graph/fxcode_part.h"

const uint8_t fx_class[256] = {
    [' '] = FXC_SPACE,        ['\t'] = FXC_SPACE,       ['\r'] = FXC_SPACE, ['\f'] = FXC_SPACE,         ['0' ... '9'] = FXC_DIGIT,
    ['a' ... 'z'] = FXC_NAME, ['A' ... 'Z'] = FXC_NAME, ['_'] = FXC_NAME,   [0x80 ... 0xff] = FXC_NAME,
};

bool fx_keyword(struct slice s)
{
	static const char *const words[] = {"and",    "as",   "assert", "async",  "await",    "break", "class", "continue", "def",
					    "del",    "elif", "else",   "except", "finally",  "for",   "from",  "global",   "if",
					    "import", "in",   "is",     "lambda", "nonlocal", "not",   "or",    "pass",     "raise",
					    "return", "try",  "while",  "with",   "yield",    "False", "None",  "True"};
	/* Lengths of the keywords with this first letter, a to z: this rules out nearly every name. */
	static const uint16_t lengths[26] = {
	    ['a' - 'a'] = 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6,
	    ['b' - 'a'] = 1 << 5,
	    ['c' - 'a'] = 1 << 5 | 1 << 8,
	    ['d' - 'a'] = 1 << 3,
	    ['e' - 'a'] = 1 << 4 | 1 << 6,
	    ['f' - 'a'] = 1 << 3 | 1 << 4 | 1 << 7,
	    ['g' - 'a'] = 1 << 6,
	    ['i' - 'a'] = 1 << 2 | 1 << 6,
	    ['l' - 'a'] = 1 << 6,
	    ['n' - 'a'] = 1 << 3 | 1 << 8,
	    ['o' - 'a'] = 1 << 2,
	    ['p' - 'a'] = 1 << 4,
	    ['r' - 'a'] = 1 << 5 | 1 << 6,
	    ['t' - 'a'] = 1 << 3,
	    ['w' - 'a'] = 1 << 4 | 1 << 5,
	    ['y' - 'a'] = 1 << 5,
	};
	if (s.n < 2 || s.n > 8)
		return false;
	const char c = *s.p;
	if (c >= 'a' && c <= 'z' ? !(lengths[c - 'a'] >> s.n & 1) : c != 'F' && c != 'N' && c != 'T')
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (*words[i] == c && slice_is(s, words[i]))
			return true;
	return false;
}

bool fx_identifier(struct slice s)
{
	if (!s.n || !fx_name_start((unsigned char)s.p[0]))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!fx_name_part((unsigned char)s.p[i]))
			return false;
	return !fx_keyword(s);
}

int fx_error(const struct fxlex *x, const char *at, struct err *err, const char *fmt, ...)
{
	char what[512];
	uint32_t line = 1;
	const char *from = x->start, *nl;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	for (; (nl = at > from ? memchr(from, '\n', (size_t)(at - from)) : NULL); from = nl + 1)
		line++;
	return err_set(err, EXIT_INPUT, "%.200s:%u:%zu: %s", x->name, line, (size_t)(at - from) + 1, what);
}

/* White space and comments; inside brackets newlines, too. */
static const char *skip_space(struct fxlex *x)
{
	const char *p = x->p, *end = x->end;
	for (; p < end; p++) {
		if (fx_class[(unsigned char)*p] & FXC_SPACE)
			continue;
		if (*p == '\n' && x->depth) {
			x->line++;
		} else if (*p == '#') {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			p = (nl ? nl : end) - 1;
		} else if (*p == '\\' && end - p >= 2 && p[1] == '\n') {
			x->line++;
			p++;
		} else if (*p == '\\' && end - p >= 3 && p[1] == '\r' && p[2] == '\n') {
			x->line++;
			p += 2;
		} else {
			break;
		}
	}
	return x->p = p;
}

char fxlex_peek(struct fxlex *x)
{
	const char *p = skip_space(x);
	return p < x->end ? *p : 0;
}

static const char *digits(const char *p, const char *end)
{
	while (p < end &&
	       ((fx_class[(unsigned char)*p] & FXC_DIGIT) || (*p == '_' && end - p >= 2 && (fx_class[(unsigned char)p[1]] & FXC_DIGIT))))
		p++;
	return p;
}

/* A number at p: sets the kind. */
static const char *number(struct fxlex *x, const char *p)
{
	const char *end = x->end, *q;
	x->kind = FXT_INT;
	if (*p == '0' && end - p >= 2 && strchr("xXoObB", p[1]) && p[1]) {
		for (p += 2; p < end && fx_name_part((unsigned char)*p); p++)
			;
		return p;
	}
	p = digits(p, end);
	if (p < end && *p == '.') {
		x->kind = FXT_FLOAT;
		p = digits(p + 1, end);
	}
	if (p < end && (*p | 32) == 'e') {
		q = p + 1;
		if (q < end && (*q == '+' || *q == '-'))
			q++;
		if (q < end && (fx_class[(unsigned char)*q] & FXC_DIGIT)) {
			x->kind = FXT_FLOAT;
			p = digits(q, end);
		}
	}
	if (p < end && (*p | 32) == 'j') {
		x->kind = FXT_IMAG;
		p++;
	}
	return p;
}

/* The end of the string whose first quote is at p; NULL: unterminated. *lines counts its newlines. */
static const char *string_end(const char *p, const char *end, uint32_t *lines)
{
	const char q = *p;
	const bool three = end - p >= 3 && p[1] == q && p[2] == q;
	for (p += three ? 3 : 1; p < end; p++) {
		if (*p == q && !three)
			return p + 1;
		if (*p == q && end - p >= 3 && p[1] == q && p[2] == q)
			return p + 3;
		if (*p == '\\' && end - p >= 2)
			p++;
		else if (*p == '\n' && !three)
			return NULL;
		*lines += *p == '\n';
	}
	return NULL;
}

/* Letters before a quote: r, b, u, f, rb ... */
static bool string_prefix(struct slice s)
{
	if (!s.n || s.n > 2)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!strchr("rRbBuUfF", s.p[i]))
			return false;
	return true;
}

static const char *operator_end(struct fxlex *x, const char *p)
{
	const size_t left = (size_t)(x->end - p);
	const char a = p[0], b = left > 1 ? p[1] : 0, c = left > 2 ? p[2] : 0;
	size_t n = 1;
	if ((a == b && strchr("*/<>", a)) && c == '=')
		n = 3;
	else if (a == '.' && b == '.' && c == '.')
		n = 3;
	else if ((a == b && strchr("*/<>", a)) || (b == '=' && strchr("=!<>+-*/%&|^@:", a)) || (a == '-' && b == '>'))
		n = 2;
	x->op = (unsigned char)a | (n > 1 ? (unsigned)(unsigned char)b << 8 : 0) | (n > 2 ? (unsigned)(unsigned char)c << 16 : 0);
	x->kind = FXT_OP;
	if (a == '(' || a == '[' || a == '{')
		x->depth++;
	else if ((a == ')' || a == ']' || a == '}') && x->depth)
		x->depth--;
	return p + n;
}

void fxlex_next(struct fxlex *x)
{
	const char *p = skip_space(x), *q = p, *end = x->end;
	x->tok_line = x->line;
	x->op = 0;
	if (p == end) {
		x->kind = FXT_END;
	} else if (*p == '\n') {
		x->kind = FXT_NEWLINE;
		x->line++;
		q = p + 1;
	} else if (fx_class[(unsigned char)*p] & FXC_NAME) {
		for (q = p + 1; q < end && fx_name_part((unsigned char)*q); q++)
			;
		x->kind = FXT_NAME;
		if (q < end && (*q == '\'' || *q == '"') && string_prefix(slice_of(p, (size_t)(q - p)))) {
			q = string_end(q, end, &x->line);
			x->kind = q ? FXT_STRING : FXT_BAD;
		}
	} else if ((fx_class[(unsigned char)*p] & FXC_DIGIT) ||
		   (*p == '.' && end - p >= 2 && (fx_class[(unsigned char)p[1]] & FXC_DIGIT))) {
		q = number(x, p);
	} else if (*p == '\'' || *p == '"') {
		q = string_end(p, end, &x->line);
		x->kind = q ? FXT_STRING : FXT_BAD;
	} else if (strchr("()[]{}.,:;=+-*/%&|^~@<>!", *p) && *p) {
		q = operator_end(x, p);
	} else {
		x->kind = FXT_BAD;
		q = p + 1;
	}
	if (!q) /* an unterminated string: it ends the text */
		q = end;
	x->text = slice_of(p, (size_t)(q - p));
	x->p = q;
}

int fxlex_line_start(struct fxlex *x, void (*comment)(void *user, struct slice text), void *user)
{
	x->depth = 0;
	while (x->p < x->end) {
		int column = 0;
		const char *p = x->p;
		for (; p < x->end && (fx_class[(unsigned char)*p] & FXC_SPACE); p++)
			column = *p == '\t' ? (column | 7) + 1 : column + (column < INT32_MAX / 2 ? 1 : 0);
		const char *nl = p < x->end && (*p == '\n' || *p == '#') ? memchr(p, '\n', (size_t)(x->end - p)) : NULL;
		if (p == x->end || (*p == '#' && !nl))
			nl = x->end;
		if (!nl) {
			x->p = p;
			return column;
		}
		if (p < x->end && *p == '#' && comment)
			comment(user, slice_trim(slice_of(p + 1, (size_t)(nl - p - 1))));
		x->p = nl < x->end ? nl + 1 : nl;
		x->line++;
	}
	return -1;
}

const char *fxlex_skip_line(const char *p, const char *end, const char **open)
{
	const char *bracket = NULL, *q;
	size_t depth = 0;
	uint32_t lines = 0;
	for (; p < end; p++) {
		switch (*p) {
		case '\n':
			if (!depth)
				return p + 1;
			break;
		case '(':
		case '[':
		case '{':
			if (!depth++)
				bracket = p;
			break;
		case ')':
		case ']':
		case '}': depth -= depth > 0; break;
		case '\\': p += end - p >= 2; break;
		case '#':
			q = memchr(p, '\n', (size_t)(end - p));
			p = (q ? q : end) - 1;
			break;
		case '\'':
		case '"':
			q = string_end(p, end, &lines);
			if (!q) {
				*open = *open ? *open : p;
				return end;
			}
			p = q - 1;
			break;
		default: break;
		}
	}
	if (depth && !*open)
		*open = bracket;
	return end;
}
