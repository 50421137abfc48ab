/* symsize_parse.c - parses symbolic sizes: two stacks, of sums and of pending operators, without recursion. */
#include "base/sym/symsize_part.h"

static const struct {
	const char *name;
	enum sym_op op;
	uint32_t min, max;
} functions[] = {
    {"FloorDiv", OP_FLOORDIV, 2, 2},
    {"floordiv", OP_FLOORDIV, 2, 2},
    {"CleanDiv", OP_FLOORDIV, 2, 2},
    {"c10::div_floor_integer", OP_FLOORDIV, 2, 2},
    {"operator.floordiv", OP_FLOORDIV, 2, 2},
    {"CeilDiv", OP_CEILDIV, 2, 2},
    {"Mod", OP_MOD, 2, 2},
    {"PythonMod", OP_MOD, 2, 2},
    {"mod", OP_MOD, 2, 2},
    {"ModularIndexing", OP_MODULAR, 3, 3},
    {"IntTrueDiv", OP_TRUEDIV, 2, 2},
    {"PowByNatural", OP_POW, 2, 2},
    {"pow", OP_POW, 2, 2},
    {"Pow", OP_POW, 2, 2},
    {"LShift", OP_LSHIFT, 2, 2},
    {"RShift", OP_RSHIFT, 2, 2},
    {"Max", OP_MAX, 1, SYMSIZE_MAX_ARGS},
    {"max", OP_MAX, 1, SYMSIZE_MAX_ARGS},
    {"std::max", OP_MAX, 2, 2},
    {"torch.sym_max", OP_MAX, 2, 2},
    {"sym_max", OP_MAX, 2, 2},
    {"Min", OP_MIN, 1, SYMSIZE_MAX_ARGS},
    {"min", OP_MIN, 1, SYMSIZE_MAX_ARGS},
    {"std::min", OP_MIN, 2, 2},
    {"torch.sym_min", OP_MIN, 2, 2},
    {"sym_min", OP_MIN, 2, 2},
    {"Abs", OP_ABS, 1, 1},
    {"abs", OP_ABS, 1, 1},
    {"std::abs", OP_ABS, 1, 1},
    {"floor", OP_FLOOR, 1, 1},
    {"FloorToInt", OP_FLOOR, 1, 1},
    {"math.floor", OP_FLOOR, 1, 1},
    {"ceiling", OP_CEIL, 1, 1},
    {"CeilToInt", OP_CEIL, 1, 1},
    {"math.ceil", OP_CEIL, 1, 1},
    {"TruncToInt", OP_TRUNC, 1, 1},
    {"trunc", OP_TRUNC, 1, 1},
    {"math.trunc", OP_TRUNC, 1, 1},
    {"Eq", OP_EQ, 2, 2},
    {"Ne", OP_NE, 2, 2},
    {"Lt", OP_LT, 2, 2},
    {"Le", OP_LE, 2, 2},
    {"Gt", OP_GT, 2, 2},
    {"Ge", OP_GE, 2, 2},
    {"And", OP_AND, 1, SYMSIZE_MAX_ARGS},
    {"Or", OP_OR, 1, SYMSIZE_MAX_ARGS},
    {"Not", OP_NOT, 1, 1},
    {"Identity", OP_IDENTITY, 1, 1},
    {"Sym", OP_IDENTITY, 1, 1},
    {"static_cast", OP_IDENTITY, 1, 1},
};

enum what { W_BINARY, W_NEGATE, W_BRACKET, W_CALL };
struct pending {
	enum what what;
	enum sym_op op;
	uint8_t prec;
	uint32_t min, max; /* W_CALL */
	size_t values;     /* W_CALL: values on the stack before its arguments */
};
struct parser {
	struct symtab *t;
	struct slice s;
	size_t i;
	struct err *err;
	struct poly *v;
	size_t n_v, cap_v;
	struct pending *o;
	size_t n_o, cap_o, depth;
};

/* Python's order. */
static const struct {
	const char *text;
	enum sym_op op;
	uint8_t prec;
} operators[] = {
    /* longer ones first */
    {"**", OP_POW, 8}, {"//", OP_FLOORDIV, 6}, {"==", OP_EQ, 1}, {"!=", OP_NE, 1},     {"<=", OP_LE, 1},
    {">=", OP_GE, 1},  {"<", OP_LT, 1},        {">", OP_GT, 1},  {"|", OP_OR, 2},      {"&", OP_AND, 3},
    {"+", OP_ADD, 5},  {"-", OP_SUB, 5},       {"*", OP_MUL, 6}, {"/", OP_TRUEDIV, 6}, {"%", OP_MOD, 6},
};
enum { PREC_COMPARE = 1, PREC_NEGATE = 7, PREC_POWER = 8 };

static int bad_size(struct parser *p, const char *what)
{
	return err_set(p->err, EXIT_INPUT, "symbolic size: %s at offset %zu of '%.*s'", what, p->i, SLN(p->s, 200));
}

static void push_value(struct parser *p, struct symsize s)
{
	GROW(p->v, p->n_v, p->cap_v, 1);
	p->v[p->n_v] = (struct poly){0};
	poly_load(p->t, s, &p->v[p->n_v++]);
}

static int push_op(struct parser *p, struct pending o)
{
	if (o.what == W_BRACKET || o.what == W_CALL)
		if (++p->depth > SYMSIZE_MAX_DEPTH)
			return sym_too_large(p->err);
	PUSH_TO(p->o, p->n_o, p->cap_o) = o;
	return 0;
}

/* Apply operators that bind at least as strongly as prec. */
static int reduce(struct parser *p, uint8_t prec, bool right)
{
	while (p->n_o) {
		struct pending *o = &p->o[p->n_o - 1];
		if (o->what == W_BRACKET || o->what == W_CALL || o->prec < prec || (right && o->prec == prec))
			break;
		if (o->prec == PREC_COMPARE && prec == PREC_COMPARE)
			return bad_size(p, "chained comparisons");
		p->n_o--;
		if (o->what == W_NEGATE) {
			if (poly_negate(&p->v[p->n_v - 1], p->err) < 0)
				return -1;
			continue;
		}
		struct poly *a = &p->v[p->n_v - 2], *b = &p->v[p->n_v - 1];
		int rc = sym_binary(p->t, o->op, a, b, p->err);
		poly_release(b);
		p->n_v--;
		if (rc < 0)
			return -1;
	}
	return 0;
}

static char peek(const struct parser *p, size_t ahead) { return p->s.n - p->i > ahead ? p->s.p[p->i + ahead] : 0; }

static void skip_space(struct parser *p)
{
	while (p->i < p->s.n && (p->s.p[p->i] == ' ' || p->s.p[p->i] == '\t' || p->s.p[p->i] == '\n' || p->s.p[p->i] == '\r'))
		p->i++;
}

static int parse_number(struct parser *p)
{
	size_t start = p->i;
	while (is_digit(peek(p, 0)))
		p->i++;
	struct slice whole = slice_of(p->s.p + start, p->i - start);
	bool real = peek(p, 0) == '.' || ((peek(p, 0) | 32) == 'e' &&
					  (is_digit(peek(p, 1)) || ((peek(p, 1) == '-' || peek(p, 1) == '+') && is_digit(peek(p, 2)))));
	if (real) {
		while (is_digit(peek(p, 0)) || peek(p, 0) == '.' || (peek(p, 0) | 32) == 'e' ||
		       ((peek(p, 0) == '-' || peek(p, 0) == '+') && (p->s.p[p->i - 1] | 32) == 'e'))
			p->i++;
		push_value(p, symsize_opaque(p->t, slice_of(p->s.p + start, p->i - start)));
		return 0;
	}
	while (peek(p, 0) == 'L' || peek(p, 0) == 'U')
		p->i++; /* C++ */
	if (is_name_start(peek(p, 0)))
		return bad_size(p, "letter after a number");
	uint64_t v;
	if (!slice_u64(whole, &v))
		return sym_overflow(p->err);
	if (v <= INT64_MAX) {
		push_value(p, symsize_int((int64_t)v));
		return 0;
	}
	/* The lowest number is written as the negation of one that does not fit. */
	bool negated = p->n_o && p->o[p->n_o - 1].what == W_NEGATE;
	if (!negated || v != (uint64_t)INT64_MAX + 1)
		return sym_overflow(p->err);
	p->n_o--;
	push_value(p, symsize_int(INT64_MIN));
	return 0;
}

/* Goes past the bracket that closes the one at p->i. */
static int skip_brackets(struct parser *p)
{
	char open[SYMSIZE_MAX_DEPTH];
	size_t n = 0;
	do {
		char c = peek(p, 0);
		if (p->i >= p->s.n)
			return bad_size(p, "missing bracket");
		if (c == '(' || c == '[' || c == '{') {
			if (n == sizeof(open))
				return sym_too_large(p->err);
			open[n++] = c == '(' ? ')' : c == '[' ? ']' : '}';
		} else if (c == ')' || c == ']' || c == '}') {
			if (!n || open[--n] != c)
				return bad_size(p, "mismatched bracket");
		}
		p->i++;
	} while (n);
	return 0;
}

/* A name: a symbol, or the start of a call. */
static int parse_name(struct parser *p, bool *opened)
{
	size_t start = p->i;
	bool plain = true;
	while (is_name_start(peek(p, 0)) || is_digit(peek(p, 0)) || (peek(p, 0) == '.' && is_name_start(peek(p, 1))) ||
	       (peek(p, 0) == ':' && peek(p, 1) == ':' && is_name_start(peek(p, 2)))) {
		if (peek(p, 0) == ':')
			p->i++;
		plain &= peek(p, 0) != '.' && peek(p, 0) != ':';
		p->i++;
	}
	struct slice name = slice_of(p->s.p + start, p->i - start);
	if (slice_is(name, "static_cast") && peek(p, 0) == '<') {
		while (p->i < p->s.n && peek(p, 0) != '>')
			p->i++;
		p->i += p->i < p->s.n;
	}
	skip_space(p);
	if (peek(p, 0) != '(') {
		static const char *const infinite[] = {"int_oo", "oo", "inf", "nan", "zoo"};
		for (size_t k = 0; k < ARRAY_LEN(infinite); k++)
			if (slice_is(name, infinite[k])) {
				push_value(p, symsize_opaque(p->t, name));
				return 0;
			}
		if (slice_is(name, "True") || slice_is(name, "False"))
			push_value(p, symsize_int(name.n == 4));
		else if (plain && !slice_is(name, "static_cast"))
			push_value(p, symsize_symbol(p->t, name));
		else
			return bad_size(p, "invalid symbol name");
		return 0;
	}
	for (size_t k = 0; k < ARRAY_LEN(functions); k++)
		if (slice_is(name, functions[k].name)) {
			p->i++;
			*opened = true;
			return push_op(p, (struct pending){W_CALL, functions[k].op, 0, functions[k].min, functions[k].max, p->n_v});
		}
	if (skip_brackets(p) < 0)
		return -1;
	push_value(p, symsize_opaque(p->t, slice_of(p->s.p + start, p->i - start)));
	return 0;
}

/* Turns the top value into a node. */
static int store_top(struct parser *p, struct symsize *out) { return poly_store(p->t, &p->v[p->n_v - 1], out, p->err); }

static int close_bracket(struct parser *p)
{
	if (reduce(p, 0, false) < 0)
		return -1;
	if (!p->n_o)
		return bad_size(p, "closing bracket without an opening one");
	struct pending o = p->o[--p->n_o];
	p->depth--;
	p->i++;
	if (o.what == W_BRACKET)
		return 0;
	struct symsize args[SYMSIZE_MAX_ARGS], r;
	size_t n = p->n_v - o.values;
	if (n < o.min || n > o.max)
		return bad_size(p, "wrong number of arguments");
	for (size_t k = n; k--;) {
		if (store_top(p, &args[k]) < 0)
			return -1;
		poly_release(&p->v[--p->n_v]);
	}
	if (sym_call(p->t, o.op, args, (uint32_t)n, &r, p->err) < 0)
		return -1;
	push_value(p, r);
	return 0;
}

static int parse_operator(struct parser *p)
{
	for (size_t k = 0; k < ARRAY_LEN(operators); k++) {
		size_t n = strlen(operators[k].text);
		if (p->s.n - p->i < n || memcmp(p->s.p + p->i, operators[k].text, n))
			continue;
		if (reduce(p, operators[k].prec, operators[k].prec == PREC_POWER) < 0)
			return -1;
		p->i += n;
		return push_op(p, (struct pending){.what = W_BINARY, .op = operators[k].op, .prec = operators[k].prec});
	}
	return bad_size(p, "missing operator");
}

static int parse_all(struct parser *p, struct symsize *out)
{
	bool operand = true; /* the next token */
	for (;;) {
		skip_space(p);
		if (p->i == p->s.n)
			break;
		char c = p->s.p[p->i];
		int rc = 0;
		if (operand) {
			bool opened = false;
			if (is_digit(c)) {
				rc = parse_number(p);
			} else if (is_name_start(c)) {
				rc = parse_name(p, &opened);
			} else if (c == '(') {
				p->i++;
				opened = true;
				rc = push_op(p, (struct pending){.what = W_BRACKET});
			} else if (c == '-') {
				p->i++;
				opened = true;
				rc = push_op(p, (struct pending){.what = W_NEGATE, .prec = PREC_NEGATE});
			} else if (c == '+') {
				p->i++;
				opened = true;
			} else {
				return bad_size(p, "missing operand");
			}
			operand = opened;
		} else if (c == ')') {
			rc = close_bracket(p);
		} else if (c == ',') {
			rc = reduce(p, 0, false);
			if (!rc && (!p->n_o || p->o[p->n_o - 1].what != W_CALL))
				return bad_size(p, "comma outside a call");
			if (!rc && p->n_v - p->o[p->n_o - 1].values >= p->o[p->n_o - 1].max)
				return bad_size(p, "too many arguments");
			p->i++;
			operand = true;
		} else {
			rc = parse_operator(p);
			operand = true;
		}
		if (rc < 0)
			return -1;
	}
	if (operand)
		return bad_size(p, p->s.n ? "missing operand" : "nothing");
	if (reduce(p, 0, false) < 0)
		return -1;
	if (p->n_o)
		return bad_size(p, "missing bracket");
	return store_top(p, out);
}

int symsize_parse(struct symtab *t, struct slice text, struct symsize *out, struct err *err)
{
	if (text.n > SYMSIZE_MAX_TEXT)
		return sym_too_large(err);
	text = slice_trim(text);
	uint64_t v;
	if (text.n && is_digit(text.p[0]) && slice_u64(text, &v) && v <= INT64_MAX) {
		*out = symsize_int((int64_t)v); /* nearly all sizes */
		return 0;
	}
	struct parser p = {.t = t, .s = text, .err = err};
	int rc = parse_all(&p, out);
	while (p.n_v)
		poly_release(&p.v[--p.n_v]);
	free(p.v);
	free(p.o);
	return rc;
}

struct symsize symsize_parse_any(struct symtab *t, struct slice text)
{
	struct symsize s;
	return symsize_parse(t, text, &s, NULL) < 0 ? symsize_opaque(t, slice_trim(text)) : s;
}
