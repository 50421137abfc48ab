#include "model/cppwrapper/opschema.h"

static void skip(struct slice *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

static void skip_space(struct slice *s)
{
	while (s->n && *s->p == ' ')
		skip(s, 1);
}

static bool take_token(struct slice *s, const char *text)
{
	skip_space(s);
	if (!slice_starts(*s, text))
		return false;
	skip(s, strlen(text));
	return true;
}

/* Letters, digits, '_', and the characters in `more`. */
static struct slice take_word(struct slice *s, const char *more)
{
	skip_space(s);
	size_t n = 0;
	while (n < s->n && (is_name_char(s->p[n]) || (s->p[n] && strchr(more, s->p[n]))))
		n++;
	struct slice w = slice_of(s->p, n);
	skip(s, n);
	return w;
}

/* Up to the matching closing bracket; all kinds of brackets count alike. */
static bool skip_group(struct slice *s)
{
	size_t depth = 0;
	char quote = 0;
	for (size_t i = 0; i < s->n; i++) {
		char c = s->p[i];
		if (quote) {
			i += c == '\\';
			quote = c == quote ? 0 : quote;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '(' || c == '[') {
			depth++;
		} else if ((c == ')' || c == ']') && !--depth) {
			skip(s, i + 1);
			return true;
		}
	}
	return false;
}

/* A default: up to the ',' or ')' that does not belong to it. */
static struct slice take_default(struct slice *s)
{
	struct slice v = *s;
	size_t depth = 0;
	char quote = 0;
	for (; s->n; skip(s, 1)) {
		char c = *s->p;
		if (quote) {
			if (c == '\\' && s->n > 1)
				skip(s, 1);
			else if (c == quote)
				quote = 0;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '(' || c == '[') {
			depth++;
		} else if (!depth && (c == ',' || c == ')')) {
			break;
		} else if ((c == ')' || c == ']') && depth) {
			depth--;
		}
	}
	return slice_trim(slice_of(v.p, v.n - s->n));
}

/* Tensor(a!)?[], int[2]?, Dict(str, Tensor) */
static bool read_type(struct slice *s, struct op_param *p)
{
	p->type = take_word(s, ".:");
	if (!p->type.n)
		return false;
	for (; s->n; p->optional = true, skip(s, 1)) {
		while (s->n && (*s->p == '(' || *s->p == '[')) {
			bool list = *s->p == '[';
			if (list && p->list)
				p->type.n = 0; /* a list of lists: unknown type */
			if (list && p->optional)
				p->items_optional = true;
			if (list)
				p->optional = false;
			p->list |= list;
			if (!skip_group(s))
				return false;
			p->aliased |= !list && slice_is(p->type, "Tensor");
		}
		if (!s->n || *s->p != '?')
			break;
	}
	return true;
}

static bool read_param(struct slice *s, struct op_param *p)
{
	*p = (struct op_param){0};
	if (!read_type(s, p))
		return false;
	p->name = take_word(s, "");
	if (take_token(s, "=")) {
		p->has_default = true;
		p->value = take_default(s);
	}
	return true;
}

static bool read_params(struct slice *s, struct op_param **v, uint32_t *n, uint32_t *cap)
{
	if (!take_token(s, "("))
		return false;
	if (take_token(s, ")"))
		return true;
	do {
		if (take_token(s, "...") || take_token(s, "*")) /* a variable number; keyword-only from here on */
			continue;
		struct op_param p;
		if (!read_param(s, &p))
			return false;
		PUSH_TO(*v, *n, *cap) = p;
	} while (take_token(s, ","));
	return take_token(s, ")");
}

static bool read_result(struct slice *s, struct op_schema *x)
{
	skip_space(s);
	if (s->n && *s->p == '(')
		return read_params(s, &x->result, &x->n_result, &x->cap_result);
	struct op_param p;
	if (!read_param(s, &p))
		return false;
	PUSH_TO(x->result, x->n_result, x->cap_result) = p;
	return true;
}

int op_schema_read(struct op_schema *x, struct slice text, struct err *err)
{
	struct slice s = text;
	*x = (struct op_schema){0};
	x->name = take_word(&s, ":");
	if (take_token(&s, "."))
		x->overload = take_word(&s, "");
	if (x->name.n && read_params(&s, &x->param, &x->n, &x->cap) && take_token(&s, "->") && read_result(&s, x))
		return 0;
	op_schema_release(x);
	return err_set(err, EXIT_INPUT, "invalid schema, at byte %zu: %.*s", text.n - s.n, SLN(text, 200));
}

void op_schema_release(struct op_schema *x)
{
	free(x->param);
	free(x->result);
	*x = (struct op_schema){0};
}
