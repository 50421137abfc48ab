#include "base/sym/srepr.h"

enum { MAX_TEXT = 16 * SYMSIZE_MAX_TEXT, MAX_NAME = 128 };

/* A call whose arguments are being read. */
struct frame {
	const char *between; /* its arguments */
	uint32_t args;
	bool pow, mul;
	struct slice divisor; /* for a product that begins with Rational(1, 2): printed last, as in s0/2 */
};

struct convert {
	struct slice s;
	size_t i;
	struct buf *out;
	size_t before; /* its length */
	struct err *err;
	struct frame frame[SYMSIZE_MAX_DEPTH];
	size_t n;
};

static int srepr_fail(struct convert *c, const char *what)
{
	return err_set(c->err, EXIT_INPUT, "byte %zu of the expression: %s", c->i, what);
}

static int peek(const struct convert *c) { return c->i < c->s.n ? (unsigned char)c->s.p[c->i] : -1; }

static void skip_space(struct convert *c)
{
	while (peek(c) == ' ')
		c->i++;
}

static bool take_char(struct convert *c, int ch)
{
	skip_space(c);
	if (peek(c) != ch)
		return false;
	c->i++;
	return true;
}

/* An identifier; of a.b.c the last one. */
static struct slice take_name(struct convert *c)
{
	skip_space(c);
	size_t from = c->i;
	while (is_name_start(peek(c)) || (c->i > from && (is_digit(peek(c)) || peek(c) == '.'))) {
		if (peek(c) == '.')
			from = c->i + 1;
		c->i++;
	}
	return slice_of(c->s.p + from, c->i - from);
}

/* Name=value arguments, of which Symbol and Float have some, and the bracket after them. */
static int skip_keywords(struct convert *c)
{
	while (take_char(c, ',')) {
		if (!take_name(c).n || !take_char(c, '='))
			return srepr_fail(c, "argument without a name");
		skip_space(c);
		size_t from = c->i;
		while (is_name_start(peek(c)) || is_digit(peek(c)))
			c->i++;
		if (c->i == from)
			return srepr_fail(c, "argument without a value");
	}
	return take_char(c, ')') ? 0 : srepr_fail(c, "missing bracket");
}

/* 'text', consisting of characters accepted by `good`. */
static int take_quoted(struct convert *c, bool (*good)(int), struct slice *text)
{
	skip_space(c);
	int quote = peek(c);
	if (quote != '\'' && quote != '"')
		return srepr_fail(c, "missing quote");
	size_t from = ++c->i;
	while (good(peek(c)))
		c->i++;
	*text = slice_of(c->s.p + from, c->i - from);
	if (!text->n || text->n > MAX_NAME || peek(c) != quote)
		return srepr_fail(c, "not a plain name");
	c->i++;
	return 0;
}

static int take_digits(struct convert *c, struct slice *s)
{
	skip_space(c);
	size_t from = c->i;
	c->i += peek(c) == '-';
	while (is_digit(peek(c)))
		c->i++;
	*s = slice_of(c->s.p + from, c->i - from);
	return s->n == slice_starts(*s, "-") || s->n > 32 ? srepr_fail(c, "not an integer") : 0;
}

static int take_integer(struct convert *c)
{
	struct slice s;
	if (take_digits(c, &s) < 0)
		return -1;
	if (*s.p == '-')
		buf_addc(c->out, '(');
	buf_add_slice(c->out, s);
	if (*s.p == '-')
		buf_addc(c->out, ')');
	return 0;
}

static bool good_symbol(int ch) { return is_name_start(ch) || is_digit(ch); }
static bool good_float(int ch) { return is_digit(ch) || ch == '.' || ch == 'e' || ch == '-' || ch == '+'; }

static int rational(struct convert *c)
{
	struct frame *f = c->n ? &c->frame[c->n - 1] : NULL;
	bool apart = f && f->mul && !f->args;
	struct slice divisor;
	buf_addc(c->out, '(');
	if (take_integer(c) < 0)
		return -1;
	if (!take_char(c, ','))
		return srepr_fail(c, "missing comma");
	if (take_digits(c, &divisor) < 0)
		return -1;
	if (*divisor.p == '-')
		return srepr_fail(c, "negative divisor");
	if (apart)
		f->divisor = divisor;
	else
		buf_addf(c->out, "/%.*s", SL(divisor));
	buf_addc(c->out, ')');
	return take_char(c, ')') ? 1 : srepr_fail(c, "missing bracket");
}

/* Reads an expression without subexpressions. 1: it was one. */
static int leaf(struct convert *c, struct slice name)
{
	struct slice text;
	if (slice_is(name, "Symbol") || slice_is(name, "Dummy")) {
		if (take_quoted(c, good_symbol, &text) < 0)
			return -1;
		if (is_digit(*text.p))
			return srepr_fail(c, "not a plain name");
		buf_add_slice(c->out, text);
		return skip_keywords(c) < 0 ? -1 : 1;
	}
	if (slice_is(name, "Float")) {
		if (take_quoted(c, good_float, &text) < 0)
			return -1;
		buf_add_slice(c->out, text);
		return skip_keywords(c) < 0 ? -1 : 1;
	}
	if (slice_is(name, "Integer")) {
		if (take_integer(c) < 0)
			return -1;
		return take_char(c, ')') ? 1 : srepr_fail(c, "missing bracket");
	}
	return slice_is(name, "Rational") ? rational(c) : 0;
}

static int open_call(struct convert *c, struct slice name)
{
	static const char *const relation[][2] = {{"Equality", "Eq"}, {"Unequality", "Ne"},  {"StrictLessThan", "Lt"},
						  {"LessThan", "Le"}, {"GreaterThan", "Ge"}, {"StrictGreaterThan", "Gt"}};
	if (c->n == SYMSIZE_MAX_DEPTH)
		return srepr_fail(c, "nested too deeply");
	struct frame *f = &c->frame[c->n++];
	*f = (struct frame){.between = ", "};
	if (slice_is(name, "Add")) {
		f->between = " + ";
	} else if (slice_is(name, "Mul")) {
		f->between = "*";
		f->mul = true;
	} else if (slice_is(name, "Pow")) {
		f->between = "**";
		f->pow = true;
	} else {
		for (size_t i = 0; i < ARRAY_LEN(relation); i++)
			if (slice_is(name, relation[i][0]))
				name = slice_str(relation[i][1]);
		buf_add_slice(c->out, name);
	}
	buf_addc(c->out, '(');
	return 0;
}

/* Close calls and go to the next argument: 1 if another one follows, 0 at the end. */
static int after_value(struct convert *c)
{
	while (c->n) {
		struct frame *f = &c->frame[c->n - 1];
		f->args++;
		if (take_char(c, ',')) {
			buf_adds(c->out, f->between);
			return 1;
		}
		if (!take_char(c, ')'))
			return srepr_fail(c, "missing bracket");
		if (f->pow && f->args != 2)
			return srepr_fail(c, "power without two operands");
		if (f->divisor.n)
			buf_addf(c->out, "/%.*s", SL(f->divisor));
		buf_addc(c->out, ')');
		c->n--;
	}
	skip_space(c);
	return c->i == c->s.n ? 0 : srepr_fail(c, "extra text after the end");
}

/* Names without a call: only these. */
static int bare(struct convert *c, struct slice name)
{
	static const char *const known[][2] = {{"true", "1"}, {"false", "0"}, {"int_oo", "int_oo"},
					       {"oo", "oo"},  {"nan", "nan"}, {"zoo", "zoo"}};
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (slice_is(name, known[i][0])) {
			buf_adds(c->out, known[i][1]);
			return 0;
		}
	return srepr_fail(c, "missing bracket");
}

static int convert_value(struct convert *c)
{
	for (;;) {
		struct slice name = take_name(c);
		if (!name.n || name.n > MAX_NAME)
			return srepr_fail(c, "missing name");
		if (c->out->len - c->before > SYMSIZE_MAX_TEXT)
			return srepr_fail(c, "too long");
		if (!take_char(c, '(')) {
			return bare(c, name);
		}
		int rc = leaf(c, name);
		if (rc)
			return rc < 0 ? -1 : 0;
		if (open_call(c, name) < 0)
			return -1;
	}
}

bool srepr_like(struct slice text) { return slice_find(text, "Symbol(") || slice_find(text, "Integer("); }

int srepr_to_infix(struct slice text, struct buf *out, struct err *err)
{
	struct convert c = {.s = text, .out = out, .before = out->len, .err = err};
	int rc = text.n > MAX_TEXT ? srepr_fail(&c, "too long") : 1;
	while (rc > 0 && (rc = convert_value(&c)) == 0)
		rc = after_value(&c);
	if (rc == 0 && out->len - c.before > SYMSIZE_MAX_TEXT)
		rc = srepr_fail(&c, "too long");
	if (rc < 0)
		buf_cut(out, c.before);
	return rc;
}
