#include "template.h"

/* ---- tokens ---- */

static bool is_word(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80); }

/* The end of the string whose quote is at i (after its prefix); i if it is not closed. */
static size_t string_end(struct slice s, size_t i)
{
	const char q = s.p[i];
	const bool three = s.n - i >= 3 && s.p[i + 1] == q && s.p[i + 2] == q;
	size_t k = i + (three ? 3 : 1);
	for (; k < s.n; k++) {
		if (s.p[k] == '\\')
			k++;
		else if (s.p[k] == '\n' && !three)
			return i;
		else if (s.p[k] == q && !three)
			return k + 1;
		else if (s.p[k] == q && s.n - k >= 3 && s.p[k + 1] == q && s.p[k + 2] == q)
			return k + 3;
	}
	return i;
}

static size_t operator_end(struct slice s, size_t i)
{
	static const char *const known[] = {"**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", "->", ":=", "+=",
					    "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@=", "**", "//", "<<", ">>"};
	for (size_t k = 0; k < ARRAY_LEN(known); k++)
		if (slice_starts(slice_of(s.p + i, s.n - i), known[k]))
			return i + strlen(known[k]);
	return i + 1;
}

static size_t token_end(struct slice s, size_t i)
{
	size_t k = i, end;
	while (k < s.n && is_word(s.p[k]))
		k++;
	bool prefix = k - i <= 2 && k < s.n && (s.p[k] == '"' || s.p[k] == '\'') && strspn(s.p + i, "rRbBfFuU") >= k - i;
	if (prefix && (end = string_end(s, k)) > k)
		return end;
	if (k > i && s.p[i] >= '0' && s.p[i] <= '9' && k < s.n && s.p[k] == '.') /* 0.5, 1.e */
		while (k < s.n && (is_word(s.p[k]) || s.p[k] == '.'))
			k++;
	return k > i ? k : operator_end(s, i);
}

void tokens_read(struct tokens *t, struct slice code)
{
	t->n = 0;
	for (size_t i = 0; i < code.n;) {
		const char c = code.p[i];
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' ||
		    (c == '\\' && i + 1 < code.n && (code.p[i + 1] == '\n' || code.p[i + 1] == '\r'))) {
			i++;
		} else if (c == '#') {
			while (i < code.n && code.p[i] != '\n')
				i++;
		} else {
			size_t end = token_end(code, i);
			PUSH_TO(t->v, t->n, t->cap) = slice_of(code.p + i, end - i);
			i = end;
		}
	}
}

void tokens_release(struct tokens *t)
{
	free(t->v);
	*t = (struct tokens){0};
}

/* ---- captures ---- */

void captures_set(struct captures *c, struct slice name, struct slice text)
{
	if (c->n < TEMPLATE_NAMES) {
		c->name[c->n] = name;
		c->text[c->n++] = text;
	}
}

static const struct slice *capture_of(const struct captures *c, struct slice name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (slice_eq(c->name[i], name))
			return &c->text[i];
	return NULL;
}

struct slice captures_get(const struct captures *c, const char *name)
{
	const struct slice *s = capture_of(c, slice_str(name));
	return s ? *s : slice_of(NULL, 0);
}

/* ---- templates ---- */

enum part_kind { PART_TEXT, PART_EXPR, PART_VALUE, PART_ONE, PART_NAME, PART_ANY };
struct part {
	enum part_kind kind;
	struct slice text; /* the token, or the name of the placeholder */
};
struct parts {
	struct part v[64];
	uint32_t n;
};

/* "{e}" at p: its length, 0 if it is not a placeholder ("{0: 1}"). */
static size_t placeholder(struct slice s, size_t i, struct part *out)
{
	static const struct {
		char sign;
		enum part_kind kind;
	} kinds[] = {{'.', PART_NAME}, {'*', PART_ANY}, {'+', PART_VALUE}, {'=', PART_ONE}};
	size_t k = i + 1;
	while (k < s.n && ((s.p[k] >= 'a' && s.p[k] <= 'z') || s.p[k] == '_'))
		k++;
	out->text = slice_of(s.p + i + 1, k - i - 1);
	out->kind = PART_EXPR;
	for (size_t j = 0; k < s.n && j < ARRAY_LEN(kinds); j++)
		if (s.p[k] == kinds[j].sign) {
			out->kind = kinds[j].kind;
			k++;
			break;
		}
	return s.p[i] == '{' && out->text.n && k < s.n && s.p[k] == '}' ? k + 1 - i : 0;
}

static void add_part(struct parts *p, struct part part)
{
	if (p->n < ARRAY_LEN(p->v))
		p->v[p->n++] = part;
}

/* A bound name is matched by its tokens. */
static void parts_read(struct parts *p, struct slice template, const struct captures *c, struct tokens *tmp)
{
	p->n = 0;
	for (size_t i = 0, from = 0; i <= template.n; i++) {
		struct part hole = {0};
		size_t n = i < template.n ? placeholder(template, i, &hole) : 0;
		if (!n && i < template.n)
			continue;
		tokens_read(tmp, slice_of(template.p + from, i - from));
		for (uint32_t k = 0; k < tmp->n; k++)
			add_part(p, (struct part){PART_TEXT, tmp->v[k]});
		const struct slice *bound = n ? capture_of(c, hole.text) : NULL;
		if (bound) {
			tokens_read(tmp, *bound);
			for (uint32_t k = 0; k < tmp->n; k++)
				add_part(p, (struct part){PART_TEXT, tmp->v[k]});
		} else if (n) {
			add_part(p, hole);
		}
		from = i + n;
		i += n ? n - 1 : 0;
	}
}

struct matching {
	const struct parts *p;
	const struct tokens *t;
	struct captures *c;
	uint32_t end;   /* of the match */
	uint32_t steps; /* remaining */
	bool whole;
};

static char closes(char c) { return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : 0; }

/* The position after the token at i, or after the matching bracket if it opens one; 0: it closes one, or has no match. */
static uint32_t behind(const struct tokens *t, uint32_t i)
{
	char open[64];
	uint32_t depth = 0;
	for (; i < t->n; i++) {
		const char c = t->v[i].n == 1 ? t->v[i].p[0] : 0;
		if (closes(c)) {
			if (depth == ARRAY_LEN(open))
				return 0;
			open[depth++] = c;
		} else if (c == ')' || c == ']' || c == '}') {
			if (!depth || closes(open[--depth]) != c)
				return 0;
		}
		if (!depth)
			return i + 1;
	}
	return 0;
}

/* Can the tokens from `from` to `i` be followed by the one at i? */
static bool goes_on(enum part_kind kind, const struct tokens *t, uint32_t from, uint32_t i)
{
	const struct slice s = t->v[i];
	if (slice_is(s, ";"))
		return false;
	if (kind == PART_ANY)
		return true;
	if (kind == PART_ONE)
		return i == from && token_is_name(s);
	if (kind == PART_EXPR || kind == PART_VALUE)
		return !slice_is(s, ",") && !slice_is(s, ":") && !slice_is(s, ":=") &&
		       (s.n < 1 || s.p[s.n - 1] != '=' || slice_is(s, "==") || slice_is(s, "!=") || slice_is(s, "<=") || slice_is(s, ">="));
	if (i == from)
		return token_is_name(s);
	const bool dot = slice_is(t->v[i - 1], ".");
	return dot ? token_is_name(s) : slice_is(s, ".") || slice_is(s, "(") || slice_is(s, "[");
}

/* "lr" is 'lr'. */
static bool same_token(struct slice a, struct slice b)
{
	if (slice_eq(a, b))
		return true;
	bool strings = a.n == b.n && a.n >= 2 && (a.p[0] == '"' || a.p[0] == '\'') && (b.p[0] == '"' || b.p[0] == '\'');
	return strings && !memcmp(a.p + 1, b.p + 1, a.n - 2) && !memchr(a.p + 1, '\\', a.n - 2) && !memchr(a.p + 1, '"', a.n - 2) &&
	       !memchr(a.p + 1, '\'', a.n - 2);
}

static bool match_from(struct matching *m, uint32_t p, uint32_t t);

/* Is it computed from names? */
static bool is_value(const struct tokens *t, uint32_t from, uint32_t end)
{
	static const char *const words[] = {"and", "or",     "not",   "is",    "in",   "if",   "else",
					    "for", "lambda", "await", "yield", "None", "True", "False"};
	bool name = false;
	for (uint32_t i = from; i < end; i++) {
		const struct slice s = t->v[i];
		if (slice_any(s, words, slice_is))
			return false;
		if (s.p[s.n - 1] == '"' || s.p[s.n - 1] == '\'')
			return false;
		name |= token_is_name(s);
	}
	return name;
}

static bool match_hole(struct matching *m, uint32_t p, uint32_t t)
{
	const struct part *hole = &m->p->v[p];
	const uint32_t known = m->c->n;
	const struct slice *before = capture_of(m->c, hole->text);
	const bool longest = !m->whole && p + 1 == m->p->n; /* nothing else limits its end */
	for (uint32_t end = t;;) {
		bool dot = end > t && hole->kind == PART_NAME && slice_is(m->t->v[end - 1], ".");
		bool more = end < m->t->n && goes_on(hole->kind, m->t, t, end) && behind(m->t, end);
		if ((end > t || hole->kind == PART_ANY) && !dot && !(longest && more) &&
		    (hole->kind != PART_VALUE || is_value(m->t, t, end))) {
			const struct slice first = end > t ? m->t->v[t] : slice_of("", 0), last = end > t ? m->t->v[end - 1] : first;
			const struct slice text = slice_of(first.p, (size_t)(last.p + last.n - first.p));
			m->c->n = known;
			if (!before)
				captures_set(m->c, hole->text, text);
			if ((!before || slice_eq(*before, text)) && match_from(m, p + 1, end))
				return true;
		}
		if (!more)
			break;
		end = behind(m->t, end);
	}
	m->c->n = known;
	return false;
}

static bool match_from(struct matching *m, uint32_t p, uint32_t t)
{
	for (; p < m->p->n; p++, t++) {
		if (!m->steps || !--m->steps)
			return false;
		if (m->p->v[p].kind != PART_TEXT)
			return match_hole(m, p, t);
		if (t == m->t->n || !same_token(m->p->v[p].text, m->t->v[t]))
			return false;
	}
	m->end = t;
	return !m->whole || t == m->t->n;
}

bool template_match(struct slice template, struct slice code, struct captures *c)
{
	struct tokens t = {0}, tmp = {0};
	struct parts p;
	const uint32_t known = c->n;
	tokens_read(&t, code);
	parts_read(&p, template, c, &tmp);
	struct matching m = {.p = &p, .t = &t, .c = c, .steps = TEMPLATE_STEPS, .whole = true};
	bool yes = t.n <= TEMPLATE_TOKENS && match_from(&m, 0, 0);
	if (!yes)
		c->n = known;
	tokens_release(&t);
	tokens_release(&tmp);
	return yes;
}

bool template_find(struct slice template, const struct tokens *code, uint32_t *from, struct captures *c, struct slice *part)
{
	OWNED(tokens_release) struct tokens tmp = {0};
	struct parts p;
	const uint32_t known = c->n;
	bool yes = false;
	parts_read(&p, template, c, &tmp);
	struct matching m = {.p = &p, .t = code, .c = c, .steps = TEMPLATE_STEPS};
	for (uint32_t i = *from; !yes && i < code->n && code->n <= TEMPLATE_TOKENS; i++) {
		bool inside = i && slice_is(code->v[i - 1], ".");
		c->n = known;
		if (inside || !(yes = match_from(&m, 0, i) && m.end > i))
			continue;
		const struct slice last = code->v[m.end - 1];
		*part = slice_of(code->v[i].p, (size_t)(last.p + last.n - code->v[i].p));
		*from = m.end;
	}
	if (!yes)
		c->n = known;
	return yes;
}

/* Something that . can follow directly: a name, a literal, a call, a bracketed expression. */
static bool is_primary(struct slice expr)
{
	OWNED(tokens_release) struct tokens t = {0};
	tokens_read(&t, expr);
	uint32_t i = t.n ? behind(&t, 0) : 0;
	while (i && i < t.n) {
		const struct slice s = t.v[i];
		bool attribute = slice_is(s, ".") && i + 1 < t.n && token_is_name(t.v[i + 1]);
		if (!attribute && !slice_is(s, "(") && !slice_is(s, "["))
			break;
		i = attribute ? i + 2 : behind(&t, i);
	}
	bool number = t.n && t.v[0].p[0] >= '0' && t.v[0].p[0] <= '9';
	return t.n && i == t.n && !number;
}

void template_put(struct buf *b, struct slice template, const struct captures *c)
{
	for (size_t i = 0; i < template.n; i++) {
		struct part hole;
		size_t n = placeholder(template, i, &hole);
		const struct slice *text = n ? capture_of(c, hole.text) : NULL;
		if (!text) {
			buf_addc(b, template.p[i]);
			continue;
		}
		const char next = i + n < template.n ? template.p[i + n] : 0;
		bool brackets = (next == '.' || next == '[') && text->n && !is_primary(*text);
		if (brackets)
			buf_addc(b, '(');
		buf_add_slice(b, *text);
		if (brackets)
			buf_addc(b, ')');
		i += n - 1;
	}
}
